//! The peers: clang's and gcc's analyzers and cppcheck, each restricted to leaks of heap memory.
//!
//! Those that work on one unit at a time are run unit after unit, one process each; their figures add up. A finding is one
//! line of output: a place with one kind of message.

use super::measure::{End, Limits, limited, once};
use super::results::{COMPLETE, ToolRow};
use super::sources::Prepared;
use super::tools::{LENIENT, Outcome, by_unit, clang_for, read_lossy, timed_out};
use super::units::{Unit, write_shell_database};
use clap::ValueEnum;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Peer {
    /// clang's static analyzer
    Clang,
    /// gcc -fanalyzer
    Gcc,
    Cppcheck,
}

impl Peer {
    pub const ALL: [Peer; 3] = [Peer::Clang, Peer::Gcc, Peer::Cppcheck];

    pub fn name(self) -> &'static str {
        match self {
            Peer::Clang => "clang analyzer",
            Peer::Gcc => "gcc analyzer",
            Peer::Cppcheck => "cppcheck",
        }
    }
}

/// clang's checkers for leaks; `--analyze` alone would run many more.
const CLANG_CHECKERS: &str = "unix.Malloc,cplusplus.NewDeleteLeaks";
const GCC_WARNING: &str = "[-Wanalyzer-malloc-leak]";
/// cppcheck's ids for leaks of memory.
const CPPCHECK_LEAKS: &[&str] = &[
    "memleak",
    "memleakOnRealloc",
    "leakNoVarFunctionCall",
    "leakReturnValNotUsed",
    "leakUnsafeArgAlloc",
];
/// cppcheck's ids for a unit that it could not read.
const CPPCHECK_UNREAD: &[&str] = &[
    "preprocessorErrorDirective",
    "syntaxError",
    "internalAstError",
    "cppcheckError",
];
/// What every compiler of standard C defines and headers ask for.
const STANDARD_C: &str = "-D__STDC__=1";
/// One line per finding, the id last.
const CPPCHECK_TEMPLATE: &str = "--template={file}:{line}:{column}:{id}";

/// Runs a peer on a program.
pub fn run_peer(peer: Peer, program: &Prepared, limits: Limits) -> anyhow::Result<ToolRow> {
    let outcome = match peer {
        Peer::Cppcheck => cppcheck(program, limits)?,
        _ => by_unit(program, limits, |unit| on_unit(peer, unit, limits))?,
    };
    let findings = outcome
        .lines
        .iter()
        .filter(|line| is_leak(peer, line))
        .count();
    Ok(ToolRow {
        tool: peer.name().to_owned(),
        end: outcome.end,
        figures: outcome.figures,
        findings,
        failed_units: outcome.failed_units,
        ..ToolRow::default()
    })
}

/// The command of a peer on one unit, but for the file.
fn on_unit(peer: Peer, unit: &Unit, limits: Limits) -> Command {
    match peer {
        Peer::Clang => {
            let mut command = limited(clang_for(unit), limits);
            command.args(&LENIENT[1..]).args(&unit.flags);
            command.args(["--analyze", "--analyzer-no-default-checks"]);
            command.args(["-Xclang", &format!("-analyzer-checker={CLANG_CHECKERS}")]);
            command.args(["--analyzer-output", "text", "-o", "/dev/null"]);
            command
        }
        Peer::Gcc => {
            let mut command = limited(if unit.cxx { "g++" } else { "gcc" }, limits);
            command.args(&unit.flags);
            command.args(["-fanalyzer", "-fanalyzer-checker=malloc"]);
            command.args([
                "-fdiagnostics-path-format=none",
                "-fdiagnostics-plain-output",
            ]);
            command.args(["-O0", "-c", "-o", "/dev/null"]);
            command
        }
        Peer::Cppcheck => {
            let mut command = limited("cppcheck", limits);
            command.args(["--quiet", CPPCHECK_TEMPLATE]);
            let is_kept =
                |flag: &&String| ["-I", "-D", "-U"].iter().any(|kind| flag.starts_with(kind));
            command.args(unit.flags.iter().filter(is_kept));
            command.arg(STANDARD_C).args(forced_includes(unit));
            command
        }
    }
}

/// Findings of leaks in one file that is compiled as `unit` is.
pub fn leaks_in(
    peer: Peer,
    unit: &Unit,
    file: &Path,
    scratch: &Path,
    limits: Limits,
) -> anyhow::Result<BTreeSet<String>> {
    let (out, err) = (scratch.join("peer.out"), scratch.join("peer.err"));
    let mut command = on_unit(peer, unit, limits);
    command.arg(file).current_dir(&unit.directory);
    once(&mut command, &out, &err)?;
    let text = read_lossy(&out) + &read_lossy(&err);
    Ok(text
        .lines()
        .filter(|line| is_leak(peer, line))
        .map(str::to_owned)
        .collect())
}

/// Is this line of a peer's output a finding of a leak?
fn is_leak(peer: Peer, line: &str) -> bool {
    match peer {
        Peer::Clang => {
            let checker = CLANG_CHECKERS
                .split(',')
                .any(|c| line.ends_with(&format!("[{c}]")));
            checker && line.contains("leak") && line.contains(": warning: ")
        }
        Peer::Gcc => line.ends_with(GCC_WARNING),
        Peer::Cppcheck => has_id(line, CPPCHECK_LEAKS),
    }
}

/// Does a line of cppcheck's output have one of these ids?
fn has_id(line: &str, ids: &[&str]) -> bool {
    line.rsplit(':').next().is_some_and(|id| ids.contains(&id))
}

/// Headers that the command line puts before the file (`-include config.h`), as cppcheck wants them: it reads most flags of a
/// compilation database, but not this one.
fn forced_includes(unit: &Unit) -> BTreeSet<String> {
    let named = unit.flags.windows(2).filter(|pair| pair[0] == "-include");
    let found = named.filter_map(|pair| {
        let include_dirs = unit.flags.iter().filter_map(|flag| flag.strip_prefix("-I"));
        let mut candidates = std::iter::once(".")
            .chain(include_dirs)
            .map(|dir| unit.directory.join(dir).join(&pair[1]));
        candidates.find(|path| path.is_file())
    });
    found
        .map(|path| format!("--include={}", path.display()))
        .collect()
}

fn cppcheck(program: &Prepared, limits: Limits) -> anyhow::Result<Outcome> {
    let (out, err) = (program.work.join("tool.out"), program.work.join("tool.err"));
    let database = write_shell_database(&program.units, &program.work.join("cppcheck"))?;
    let mut command = limited("cppcheck", limits);
    command
        .arg(format!("--project={}", database.display()))
        .args(["--quiet", CPPCHECK_TEMPLATE, STANDARD_C])
        .args(&program.spec.cppcheck)
        .args(
            program
                .units
                .iter()
                .flat_map(forced_includes)
                .collect::<BTreeSet<_>>(),
        )
        .current_dir(&program.work);
    let (figures, end) = once(&mut command, &out, &err)?;
    let lines: BTreeSet<String> = read_lossy(&err).lines().map(str::to_owned).collect();
    let unread = lines.iter().filter(|line| has_id(line, CPPCHECK_UNREAD));
    Ok(Outcome {
        figures,
        end: match end {
            End::Code(0) => COMPLETE.to_owned(),
            End::TimedOut => timed_out(limits),
            other => format!("failed: {other:?}"),
        },
        failed_units: unread.count(),
        lines,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_leaks_are_counted() {
        let clang = "a.c:3:1: warning: Potential leak of memory pointed to by 'p' [unix.Malloc]";
        assert!(is_leak(Peer::Clang, clang));
        let other = "a.c:3:1: warning: Use of memory after it is freed [unix.Malloc]";
        assert!(!is_leak(Peer::Clang, other));
        let gcc = "a.c:3:1: warning: leak of 'p' [CWE-401] [-Wanalyzer-malloc-leak]";
        assert!(is_leak(Peer::Gcc, gcc));
        assert!(!is_leak(
            Peer::Gcc,
            "a.c:3:1: warning: x [-Wanalyzer-double-free]"
        ));
        assert!(is_leak(Peer::Cppcheck, "a.c:3:1:memleak"));
        assert!(!is_leak(Peer::Cppcheck, "a.c:3:1:resourceLeak"));
    }

    #[test]
    fn headers_of_the_command_line_are_handed_on() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("include")).unwrap();
        std::fs::write(directory.path().join("include/config.h"), "").unwrap();
        let flags = ["-DX", "-Iinclude", "-include", "config.h"];
        let unit = Unit {
            directory: directory.path().to_owned(),
            file: "a.c".into(),
            cxx: false,
            flags: flags.map(str::to_owned).to_vec(),
        };
        let header = directory.path().join("include/config.h");
        let expected = BTreeSet::from([format!("--include={}", header.display())]);
        assert_eq!(forced_includes(&unit), expected);
    }
}
