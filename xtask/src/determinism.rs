//! `cargo xtask determinism`: does the same program give the same report, byte by byte, in every run and with any number of
//! threads?
//!
//! Each run is a process of its own, so that addresses, hash seeds and the scheduling of threads differ.

use anyhow::{Context, ensure};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

#[derive(clap::Args)]
pub struct Options {
    /// Bitcode or object files of one program
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Runs, spread over the numbers of threads
    #[arg(long, default_value_t = 20)]
    runs: usize,
    /// Numbers of threads
    #[arg(long, value_delimiter = ',', default_value = "1,2,4")]
    threads: Vec<usize>,
    /// Run this binary instead of building one
    #[arg(long)]
    drip: Option<PathBuf>,
}

pub fn run(root: &Path, options: &Options) -> anyhow::Result<bool> {
    let drip = match &options.drip {
        Some(given) => given.clone(),
        None => crate::bench::build_drip(root)?,
    };
    ensure!(!options.threads.is_empty(), "no number of threads is given");
    let mut first: Option<Vec<u8>> = None;
    for number in 0..options.runs.max(2) {
        let threads = options.threads[number % options.threads.len()];
        let report = report(&drip, threads, &options.files)?;
        match &first {
            None => {
                println!("{} bytes of JSON in the first run", report.len());
                first = Some(report);
            }
            Some(expected) => {
                if let Some(line) = first_difference(expected, &report) {
                    println!("run {} with {threads} threads differs: {line}", number + 1);
                    return Ok(false);
                }
            }
        }
    }
    println!(
        "{} runs with {:?} threads: all the same",
        options.runs.max(2),
        options.threads
    );
    Ok(true)
}

/// The report of one run.
fn report(drip: &Path, threads: usize, files: &[PathBuf]) -> anyhow::Result<Vec<u8>> {
    let mut command = Command::new(drip);
    command
        .args(["check", "-q", "--exit-zero", "--no-config"])
        .args(["--output-format", "json", "--jobs", &threads.to_string()])
        .args(files)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit());
    let shown = drip.display();
    let output = command
        .output()
        .with_context(|| format!("cannot run {shown}"))?;
    ensure!(output.status.success(), "{shown} failed: {}", output.status);
    ensure!(!output.stdout.is_empty(), "{shown} wrote no report");
    Ok(output.stdout)
}

/// The first line that differs, as the second report has it.
fn first_difference(expected: &[u8], got: &[u8]) -> Option<String> {
    if expected == got {
        return None;
    }
    let lines = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (expected, got) = (lines(expected), lines(got));
    let differing = expected
        .lines()
        .zip(got.lines())
        .enumerate()
        .find(|(_, (a, b))| a != b);
    Some(match differing {
        Some((number, (_, line))) => format!("line {}: {line}", number + 1),
        None => "one report is longer".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_told_by_line() {
        assert_eq!(first_difference(b"a\nb\n", b"a\nb\n"), None);
        let told = first_difference(b"a\nb\n", b"a\nc\n");
        assert_eq!(told.as_deref(), Some("line 2: c"));
        let told = first_difference(b"a\n", b"a\nb\n");
        assert_eq!(told.as_deref(), Some("one report is longer"));
    }

    #[test]
    fn a_missing_or_silent_binary_is_an_error() {
        let files = [PathBuf::from("none.bc")];
        assert!(report(Path::new("no-such-command-here"), 1, &files).is_err());
        assert!(report(Path::new("false"), 1, &files).is_err());
        assert!(report(Path::new("true"), 1, &files).is_err());
    }
}
