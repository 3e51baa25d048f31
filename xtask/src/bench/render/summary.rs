//! The short comparison: one line per tool.

use super::super::results::{Mutant, Results, ToolRow};
use super::{line, tool_names};
use std::fmt::Write;

pub fn summary(results: &Results) -> String {
    let mut out = String::new();
    line!(
        out,
        "| tool | programs finished | user CPU / compile time, median | largest | findings | injected leaks reported |"
    );
    line!(out, "|---|---:|---:|---:|---:|---:|");
    for name in tool_names(results) {
        let rows: Vec<&ToolRow> = results
            .programs
            .iter()
            .filter_map(|program| program.tools.iter().find(|tool| tool.tool == name))
            .collect();
        let finished = rows.iter().filter(|row| row.is_complete()).count();
        let mut ratios: Vec<f64> = rows.iter().map(|row| ratio(row)).collect();
        ratios.sort_by(f64::total_cmp);
        let at_least = if finished < rows.len() { "≥ " } else { "" };
        let median = ratios.get(ratios.len() / 2).copied().unwrap_or_default();
        let largest = ratios.last().copied().unwrap_or_default();
        line!(
            out,
            "| {name} | {finished} of {} | {median:.2} | {at_least}{largest:.2} | {} | {} |",
            rows.len(),
            rows.iter().map(|row| row.findings).sum::<usize>(),
            recall(&name, &results.injection.mutants)
        );
    }
    out
}

/// User CPU relative to compiling, capture included.
fn ratio(row: &ToolRow) -> f64 {
    let with_capture = row.drip.as_ref().map(|drip| drip.ratio_with_capture);
    with_capture.unwrap_or(row.ratio)
}

/// Share of the mutants that could be made in the source, so that all tools saw the same ones.
fn recall(tool: &str, mutants: &[Mutant]) -> String {
    let tried: Vec<&Mutant> = mutants.iter().filter(|m| !m.peers.is_empty()).collect();
    let found = match tool {
        "drip" => tried.iter().filter(|m| m.reported.is_some()).count(),
        _ if tried.iter().all(|m| !m.peers.contains_key(tool)) => return "–".to_owned(),
        _ => tried
            .iter()
            .filter(|m| m.peers.get(tool) == Some(&true))
            .count(),
    };
    match tried.len() {
        0 => "–".to_owned(),
        all => format!("{found} of {all}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::results::{COMPLETE, ProgramRow};
    use super::*;

    #[test]
    fn tools_that_were_stopped_are_told_apart() {
        let row = |end: &str, ratio: f64| ProgramRow {
            tools: vec![ToolRow {
                tool: "peer".to_owned(),
                end: end.to_owned(),
                ratio,
                findings: 2,
                ..ToolRow::default()
            }],
            ..ProgramRow::default()
        };
        let results = Results {
            programs: vec![row(COMPLETE, 1.0), row("stopped", 3.0)],
            ..Results::default()
        };
        let text = summary(&results);
        assert!(
            text.contains("| peer | 1 of 2 | 3.00 | ≥ 3.00 | 4 | – |"),
            "{text}"
        );
    }
}
