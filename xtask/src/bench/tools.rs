//! The compiler as yardstick, drip's capture and engines, and what running any tool on a program has in common.
//!
//! Every tool has a budget of time per program and a limit of memory; what it had found until then counts, and the row says
//! how it ended.

use super::measure::{End, Figures, Limits, limited, once};
use super::results::{COMPLETE, DripDetails, ToolRow};
use super::sources::Prepared;
use super::units::Unit;
use anyhow::Context;
use clap::ValueEnum;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    Staged,
    Saber,
}

impl Engine {
    pub const ALL: [Engine; 2] = [Engine::Staged, Engine::Saber];

    fn name(self) -> &'static str {
        match self {
            Engine::Staged => "staged",
            Engine::Saber => "saber",
        }
    }

    /// Name of its rows.
    pub fn tool(self) -> &'static str {
        match self {
            Engine::Staged => "drip",
            Engine::Saber => "drip --engine saber",
        }
    }
}

/// Old C that clang 19 would refuse.
pub const LENIENT: &[&str] = &[
    "-w",
    "-Wno-error=implicit-function-declaration",
    "-Wno-error=int-conversion",
];

/// Compiles all units as the yardstick: `clang-19 -g -O0 -c`.
pub fn compile(program: &Prepared, limits: Limits) -> anyhow::Result<Figures> {
    let outcome = by_unit(program, limits, |unit| {
        let mut command = limited(clang_for(unit), limits);
        command.args(LENIENT).args(&unit.flags);
        command.args(["-g", "-O0", "-c", "-o", "/dev/null"]);
        command
    })?;
    Ok(outcome.figures)
}

pub fn clang_for(unit: &Unit) -> &'static str {
    if unit.cxx { "clang++-19" } else { "clang-19" }
}

/// What a tool did on all units.
pub struct Outcome {
    pub figures: Figures,
    pub end: String,
    pub failed_units: usize,
    /// Lines of output of all units, each once: headers are compiled many times.
    pub lines: BTreeSet<String>,
}

/// Runs a command on each unit in turn.
pub fn by_unit(
    program: &Prepared,
    limits: Limits,
    command_of: impl Fn(&Unit) -> Command,
) -> anyhow::Result<Outcome> {
    let (out, err) = (program.work.join("tool.out"), program.work.join("tool.err"));
    let mut outcome = Outcome {
        figures: Figures::default(),
        end: COMPLETE.to_owned(),
        failed_units: 0,
        lines: BTreeSet::new(),
    };
    for unit in &program.units {
        if outcome.figures.user_s >= limits.cpu.as_secs_f64() {
            outcome.end = timed_out(limits);
            break;
        }
        let mut command = command_of(unit);
        command.arg(&unit.file).current_dir(&unit.directory);
        let (figures, end) = once(&mut command, &out, &err)?;
        outcome.figures = outcome.figures.then(figures);
        outcome.failed_units += usize::from(end != End::Code(0));
        if end == End::TimedOut {
            outcome.end = timed_out(limits);
        }
        for text in [read_lossy(&out), read_lossy(&err)] {
            outcome.lines.extend(text.lines().map(str::to_owned));
        }
    }
    if outcome.failed_units == program.units.len() && outcome.end == COMPLETE {
        outcome.end = "failed on all units".to_owned();
    }
    Ok(outcome)
}

pub fn timed_out(limits: Limits) -> String {
    format!("stopped after {} s of CPU", limits.cpu.as_secs())
}

pub fn read_lossy(path: &Path) -> String {
    String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned()
}

/// Makes the bitcode of all units with an empty cache; returns the files.
pub fn capture(
    drip: &Path,
    program: &Prepared,
    limits: Limits,
) -> anyhow::Result<(Figures, Vec<PathBuf>)> {
    let bitcode = program.work.join("bitcode");
    let cache = program.work.join("cache");
    for old in [&bitcode, &cache] {
        // The first time there is nothing to remove.
        let _ = fs::remove_dir_all(old);
    }
    let mut command = limited(drip, limits);
    command
        .args([
            "--quiet",
            "capture",
            "--no-config",
            "--clang",
            "clang-19",
            "-o",
        ])
        .arg(&bitcode)
        .arg("-p")
        .arg(&program.work)
        .current_dir(&program.work)
        .env("XDG_CACHE_HOME", &cache);
    let err = program.work.join("capture.err");
    let (figures, _) = once(&mut command, &program.work.join("tool.out"), &err)?;
    let _ = fs::remove_dir_all(&cache);
    let entries = fs::read_dir(&bitcode).with_context(|| {
        format!(
            "drip captured nothing of {}; see {err:?}",
            program.spec.name
        )
    })?;
    let mut files: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| path.extension() == Some(OsStr::new("bc")))
        .collect();
    files.sort();
    Ok((figures, files))
}

/// Runs one of drip's engines on captured bitcode.
pub fn run_drip(
    drip: &Path,
    engine: Engine,
    program: &Prepared,
    captured: &(Figures, Vec<PathBuf>),
    limits: Limits,
) -> anyhow::Result<ToolRow> {
    let (capture, files) = captured;
    let report = program.work.join(format!("{}.json", engine.name()));
    let _ = fs::remove_file(&report);
    let err = program.work.join(format!("{}.err", engine.name()));
    let mut command = limited(drip, limits);
    command
        .args([
            "--quiet",
            "check",
            "--no-config",
            "--exit-zero",
            "--time-passes",
        ])
        .args(["--engine", engine.name(), "--output-format"])
        .arg(format!("json={}", report.display()))
        .args(files)
        .current_dir(&program.work)
        .env("XDG_CACHE_HOME", program.work.join("cache"));
    let (figures, end) = once(&mut command, &program.work.join("tool.out"), &err)?;
    let document: serde_json::Value = fs::read_to_string(&report)
        .ok()
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default();
    let mut details = DripDetails {
        capture: *capture,
        phases: phases(&read_lossy(&err)),
        ..DripDetails::default()
    };
    if let Some(counts) = document["statistics"].as_object() {
        details.statistics = counts.clone().into_iter().collect();
    }
    if engine == Engine::Staged && end == End::Code(0) {
        details.ledger = ledger(drip, program, files, limits)?;
    }
    Ok(ToolRow {
        tool: engine.tool().to_owned(),
        end: match end {
            End::Code(0 | 3) => COMPLETE.to_owned(),
            End::TimedOut => timed_out(limits),
            other => format!("failed: {other:?}"),
        },
        figures,
        findings: document["findings"].as_array().map_or(0, Vec::len),
        failed_units: program.units.len().saturating_sub(files.len()),
        drip: Some(details),
        ..ToolRow::default()
    })
}

/// Seconds by phase out of `--time-passes`: lines such as `0.660 s  analyse`.
fn phases(text: &str) -> BTreeMap<String, f64> {
    let phase = |line: &str| {
        let (seconds, name) = line.split_once(" s  ")?;
        Some((name.trim().to_owned(), seconds.trim().parse().ok()?))
    };
    text.lines().filter_map(phase).collect()
}

/// Allocation sites by verdict. A run of its own, which is not measured.
fn ledger(
    drip: &Path,
    program: &Prepared,
    files: &[PathBuf],
    limits: Limits,
) -> anyhow::Result<BTreeMap<String, usize>> {
    let out = program.work.join("ledger.json");
    let mut command = limited(drip, limits);
    command.args(["--quiet", "ledger", "--no-config", "--json"]);
    command.args(files).current_dir(&program.work);
    command.env("XDG_CACHE_HOME", program.work.join("cache"));
    once(&mut command, &out, &program.work.join("tool.err"))?;
    let document: serde_json::Value = serde_json::from_str(&read_lossy(&out)).unwrap_or_default();
    let mut verdicts = BTreeMap::new();
    for entry in document["ledger"].as_array().into_iter().flatten() {
        if let Some(verdict) = entry["verdict"].as_str() {
            *verdicts.entry(verdict.to_owned()).or_default() += 1;
        }
    }
    Ok(verdicts)
}

/// Budget of time and memory per tool and program.
pub fn limits(seconds: u64, memory_mb: u64) -> Limits {
    Limits {
        cpu: Duration::from_secs(seconds),
        memory_mb,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_are_read() {
        let text = "warning: x\n    0.660 s  analyse\n    0.723 s  total\n";
        let read = phases(text);
        assert_eq!(read.get("analyse"), Some(&0.66));
        assert_eq!(read.len(), 2);
    }
}
