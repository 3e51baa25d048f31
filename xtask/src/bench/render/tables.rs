//! Tables of real and generated programs: tools side by side, drip's own counts, exponents.

use super::super::growth::slope;
use super::super::results::{GrowthPoint, ProgramRow, Results, ToolRow};
use super::line;
use std::collections::BTreeSet;
use std::fmt::Write;

/// All tools of the results, drip first, in the order of the rows.
pub fn tool_names(results: &Results) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for tool in results.programs.iter().flat_map(|p| &p.tools) {
        if !names.contains(&tool.tool) {
            names.push(tool.tool.clone());
        }
    }
    names
}

pub fn machine(results: &Results) -> String {
    let machine = &results.machine;
    let mut out = format!(
        "{}, commit {}; {} × {}, {:.0} GB, {}.\n\n",
        machine.date,
        machine.commit,
        machine.cores,
        machine.processor,
        machine.memory_gb,
        machine.system
    );
    line!(out, "| tool | version |\n|---|---|");
    for (tool, version) in &machine.versions {
        line!(out, "| {tool} | {version} |");
    }
    out
}

/// User CPU including capture, where the tool has one.
fn total_seconds(tool: &ToolRow) -> f64 {
    tool.figures.user_s + tool.drip.as_ref().map_or(0.0, |d| d.capture.user_s)
}

pub fn side_by_side(results: &Results) -> String {
    let mut out = String::new();
    line!(
        out,
        "| program | kLOC | tool | user s | × compile | wall s | peak MB | kLOC/s | findings | |"
    );
    line!(out, "|---|---:|---|---:|---:|---:|---:|---:|---:|---|");
    for program in &results.programs {
        line!(
            out,
            "| **{}** {} | {:.1} | clang -g -O0 -c | {:.2} | 1.00 | {:.2} | {:.0} | {:.1} | | {} units |",
            program.name,
            shown_version(&program.version),
            program.kloc,
            program.compile.user_s,
            program.compile.wall_s,
            program.compile.peak_mb,
            program.kloc / program.compile.user_s.max(f64::MIN_POSITIVE),
            program.units
        );
        let least = fastest(program);
        for tool in &program.tools {
            let capture = tool.drip.as_ref().map(|d| d.capture).unwrap_or_default();
            let figures = tool.figures.then(capture);
            let ratio = tool
                .drip
                .as_ref()
                .map_or(tool.ratio, |d| d.ratio_with_capture);
            let user = match least == Some(tool.tool.as_str()) {
                true => format!("**{:.2}**", figures.user_s),
                false => format!("{:.2}", figures.user_s),
            };
            line!(
                out,
                "| | | {} | {user} | {ratio:.2} | {:.2} | {:.0} | {:.1} | {} | {} |",
                tool.tool,
                figures.wall_s,
                figures.peak_mb,
                program.kloc / figures.user_s.max(f64::MIN_POSITIVE),
                tool.findings,
                remark(tool)
            );
        }
    }
    out
}

/// The tool with the least user CPU among those that got through.
fn fastest(program: &ProgramRow) -> Option<&str> {
    let complete = program.tools.iter().filter(|t| t.is_complete());
    complete
        .min_by(|a, b| total_seconds(a).total_cmp(&total_seconds(b)))
        .map(|t| t.tool.as_str())
}

fn remark(tool: &ToolRow) -> String {
    match (tool.is_complete(), tool.failed_units) {
        (true, 0) => String::new(),
        (true, failed) => format!("{failed} units failed"),
        (false, _) => tool.end.clone(),
    }
}

/// Upstream's version: without Debian's epoch and revision.
fn shown_version(version: &str) -> &str {
    let version = version.split_once(':').map_or(version, |(_, rest)| rest);
    version
        .rsplit_once('-')
        .map_or(version, |(upstream, _)| upstream)
}

pub fn drip(results: &Results) -> String {
    let mut out = String::new();
    line!(
        out,
        "| program | kLOC | compile s | capture s | analysis s | × compile | with capture | peak MB | functions | limited | sites | candidates | by structure | by filter | by solver | undecided | queries | findings |"
    );
    line!(out, "|---|{}", "---:|".repeat(17));
    for program in &results.programs {
        let row = program.tools.iter().find(|t| t.tool == "drip");
        let Some((tool, details)) = row.and_then(|t| t.drip.as_ref().map(|d| (t, d))) else {
            continue;
        };
        let number = |path: &str| {
            let mut names = path.split('/');
            let first = names.next().and_then(|name| details.statistics.get(name));
            let found = names.fold(first, |value, name| value?.get(name));
            found.and_then(serde_json::Value::as_u64)
        };
        let shown = |count: Option<u64>| count.map_or("–".to_owned(), |count| count.to_string());
        let count = |path: &str| shown(number(path));
        let by_solver = ["intervals", "sat", "region"]
            .iter()
            .map(|means| number(&format!("settled/{means}/refuted")))
            .sum();
        line!(
            out,
            "| {} | {:.1} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {:.0} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            program.name,
            program.kloc,
            program.compile.user_s,
            details.capture.user_s,
            tool.figures.user_s,
            tool.ratio,
            details.ratio_with_capture,
            tool.figures.peak_mb,
            count("functions"),
            count("functions_limited"),
            count("sites"),
            count("candidates"),
            count("settled/structure"),
            count("settled/filter/refuted"),
            shown(by_solver),
            count("settled/undecided"),
            count("queries"),
            tool.findings
        );
    }
    out
}

/// Wall clock by phase and sites by verdict.
pub fn phases(results: &Results) -> String {
    let rows = || {
        let staged = |p: &ProgramRow| p.tools.iter().position(|t| t.tool == "drip");
        results.programs.iter().filter_map(move |p| {
            staged(p)
                .and_then(|at| p.tools[at].drip.as_ref())
                .map(|d| (p, d))
        })
    };
    let verdicts: BTreeSet<&String> = rows().flat_map(|(_, d)| d.ledger.keys()).collect();
    let phases: BTreeSet<&String> = rows().flat_map(|(_, d)| d.phases.keys()).collect();
    let names = |set: &BTreeSet<&String>| set.iter().map(|n| format!(" {n} |")).collect::<String>();
    let mut out = String::new();
    line!(out, "| program |{}{}", names(&phases), names(&verdicts));
    line!(
        out,
        "|---|{}",
        "---:|".repeat(phases.len() + verdicts.len())
    );
    for (program, details) in rows() {
        let times = phases.iter().map(|&p| {
            details
                .phases
                .get(p)
                .map_or(" |".to_owned(), |s| format!(" {s:.2} |"))
        });
        let counts = verdicts
            .iter()
            .map(|&v| format!(" {} |", details.ledger.get(v).copied().unwrap_or_default()));
        line!(
            out,
            "| {} |{}",
            program.name,
            times.chain(counts).collect::<String>()
        );
    }
    out
}

/// Exponents over the real programs: cost against kLOC.
pub fn exponents(results: &Results) -> String {
    let mut out = String::new();
    line!(
        out,
        "| tool | programs | time | memory |\n|---|---:|---:|---:|"
    );
    let mut add = |name: &str, points: &[(f64, f64, f64)]| {
        let fit = |of: fn(&(f64, f64, f64)) -> f64| {
            let points: Vec<(f64, f64)> = points
                .iter()
                .map(|p| (p.0, of(p)))
                .filter(|p| p.1 > 0.0)
                .collect();
            slope(&points).map_or("–".to_owned(), |s| format!("{s:.2}"))
        };
        line!(
            out,
            "| {name} | {} | {} | {} |",
            points.len(),
            fit(|p| p.1),
            fit(|p| p.2)
        );
    };
    let compile = |p: &ProgramRow| (p.kloc, p.compile.user_s, p.compile.peak_mb);
    add(
        "clang -g -O0 -c",
        &results.programs.iter().map(compile).collect::<Vec<_>>(),
    );
    for name in tool_names(results) {
        let row = |p: &ProgramRow| {
            let tool = p.tools.iter().find(|t| t.tool == name && t.is_complete())?;
            Some((p.kloc, tool.figures.user_s, tool.figures.peak_mb))
        };
        add(
            &name,
            &results.programs.iter().filter_map(row).collect::<Vec<_>>(),
        );
    }
    out
}

pub fn growth(results: &Results) -> String {
    let mut out = String::new();
    line!(
        out,
        "| parameter | values | user s | peak MB | time exponent | memory exponent |"
    );
    line!(out, "|---|---|---|---|---:|---:|");
    let exponent = |e: Option<f64>| e.map_or("too small to fit".to_owned(), |e| format!("{e:.2}"));
    for curve in &results.growth {
        let all = |text: &dyn Fn(&GrowthPoint) -> String| {
            curve.points.iter().map(text).collect::<Vec<_>>().join(", ")
        };
        let no_end = || "no end".to_owned();
        line!(
            out,
            "| {} | {} | {} | {} | {} | {} |",
            curve.parameter,
            all(&|p| p.n.to_string()),
            all(&|p| p
                .figures
                .map_or_else(no_end, |f| format!("{:.2}", f.user_s))),
            all(&|p| p
                .figures
                .map_or_else(no_end, |f| format!("{:.0}", f.peak_mb))),
            exponent(curve.time_exponent),
            exponent(curve.memory_exponent)
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_upstream_s() {
        assert_eq!(shown_version("1:9.2p1-2+deb12u10"), "9.2p1");
        assert_eq!(shown_version("590"), "590");
    }
}
