//! Where and with what is measured: processor, memory, system, versions, commit, date.

use super::results::Machine;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Commands that tell a version; the first line of their output counts.
const VERSIONS: &[(&str, &[&str])] = &[
    ("clang analyzer", &["clang-19", "--version"]),
    ("gcc analyzer", &["gcc", "--version"]),
    ("cppcheck", &["cppcheck", "--version"]),
];

pub fn describe(root: &Path, drip: &Path) -> Machine {
    let mut versions = BTreeMap::new();
    for (tool, words) in VERSIONS {
        let mut command = Command::new(words[0]);
        let version = first_line(command.args(&words[1..]));
        versions.insert(
            (*tool).to_owned(),
            version.unwrap_or_else(|| "not installed".to_owned()),
        );
    }
    let version = first_line(Command::new(drip).arg("--version"));
    versions.insert("drip".to_owned(), version.unwrap_or_default());
    let git = |words: &[&str]| first_line(Command::new("git").current_dir(root).args(words));
    Machine {
        date: first_line(Command::new("date").args(["-u", "+%Y-%m-%d"])).unwrap_or_default(),
        commit: git(&["rev-parse", "--short", "HEAD"]).unwrap_or_default(),
        processor: field("/proc/cpuinfo", "model name").unwrap_or_default(),
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        memory_gb: memory_gb(),
        system: field_with('=', "/etc/os-release", "PRETTY_NAME")
            .map(|name| name.trim_matches('"').to_owned())
            .unwrap_or_default(),
        versions,
    }
}

fn first_line(command: &mut Command) -> Option<String> {
    let output = command.output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().next().map(|line| line.trim().to_owned())
}

fn field(path: &str, name: &str) -> Option<String> {
    field_with(':', path, name)
}

fn field_with(separator: char, path: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(separator)?;
        (key.trim() == name).then(|| value.trim().to_owned())
    })
}

fn memory_gb() -> f64 {
    const KILOBYTES_PER_GB: f64 = 1024.0 * 1024.0;
    let text = field("/proc/meminfo", "MemTotal").unwrap_or_default();
    let kilobytes = text
        .split_whitespace()
        .next()
        .and_then(|n| n.parse::<f64>().ok());
    kilobytes.unwrap_or_default() / KILOBYTES_PER_GB
}
