//! A directory of annotated programs, and running an analysis on all of them.
//!
//! Each C or C++ file directly in the directory is one program; each sub-directory is one program made
//! of all its C and C++ files (those of its own sub-directories included). Marks are read from the
//! sources and, in sub-directories, from the headers too. Programs run in parallel threads; failures
//! come in the order of the programs.

use crate::bless::bless;
use crate::compare::{MarkedFile, Mismatch, Reported, compare};
use crate::marks::{self, Kind};
use anyhow::{Context, ensure};
use std::any::Any;
use std::fmt;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Set to 1, improvements are written into the marks (`cargo xtask bless`).
const BLESS: &str = "DRIP_BLESS";
/// Set to a text, only programs whose name contains it run.
const FILTER: &str = "DRIP_CORPUS_FILTER";

const SOURCE_ENDINGS: &[&str] = &["c", "cc", "cpp", "cxx"];
const HEADER_ENDINGS: &[&str] = &["h", "hh", "hpp"];

/// One annotated program.
#[derive(Clone, Debug)]
pub struct Case {
    /// Path of the file or directory, relative to the corpus directory.
    pub name: String,
    /// Absolute paths of what is compiled, sorted.
    pub sources: Vec<PathBuf>,
    headers: Vec<PathBuf>,
}

/// Annotated programs to run.
pub struct Corpus {
    cases: Vec<Case>,
    check_lost: bool,
    bless: bool,
}

impl Corpus {
    /// All programs of `dir`. A directory without any is an error: a test on nothing proves nothing.
    pub fn load(dir: impl AsRef<Path>) -> anyhow::Result<Self> {
        let dir = dir.as_ref();
        let dir = fs::canonicalize(dir).with_context(|| format!("no corpus at {dir:?}"))?;
        let mut cases = Vec::new();
        for path in entries(&dir)? {
            let mut case = Case {
                name: path
                    .file_name()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into(),
                sources: Vec::new(),
                headers: Vec::new(),
            };
            if path.is_dir() {
                collect(&path, &mut case)?;
            } else if has_ending(&path, SOURCE_ENDINGS) {
                case.sources.push(path);
            }
            if !case.sources.is_empty() {
                cases.push(case);
            }
        }
        ensure!(!cases.is_empty(), "no programs in {dir:?}");
        if let Ok(filter) = std::env::var(FILTER) {
            cases.retain(|case| case.name.contains(&filter));
        }
        Ok(Self {
            cases,
            check_lost: true,
            bless: std::env::var(BLESS).is_ok_and(|value| value == "1"),
        })
    }

    /// Adds the programs of another corpus.
    pub fn and(mut self, other: Self) -> Self {
        self.cases.extend(other.cases);
        self
    }

    /// Don't look at `LOST` marks: for bitcode that lost the statements, as LLVM's mem2reg makes it.
    pub fn ignoring_lost(mut self) -> Self {
        self.check_lost = false;
        self
    }

    /// Rewrite marks that became better, whatever the environment says.
    pub fn blessing(mut self, bless: bool) -> Self {
        self.bless = bless;
        self
    }

    /// Only programs that `keep` accepts.
    pub fn filter(mut self, keep: impl Fn(&Case) -> bool) -> Self {
        self.cases.retain(keep);
        self
    }

    pub fn cases(&self) -> &[Case] {
        &self.cases
    }

    /// Runs `analyse` on the sources of each program, in parallel, and compares with the marks. An
    /// error or a panic of `analyse` is a failure of that program.
    pub fn run<F>(&self, analyse: F) -> Verdict
    where
        F: Fn(&[PathBuf]) -> anyhow::Result<Vec<Reported>> + Sync,
    {
        let next = AtomicUsize::new(0);
        let done: Mutex<Vec<(usize, CaseResult)>> = Mutex::new(Vec::new());
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|scope| {
            for _ in 0..threads.min(self.cases.len()) {
                scope.spawn(|| {
                    while let Some((index, case)) = take(&next, &self.cases) {
                        let result = self.run_case(case, &analyse);
                        let mut done = done.lock().unwrap_or_else(|e| e.into_inner());
                        done.push((index, result));
                    }
                });
            }
        });
        let mut done = done.into_inner().unwrap_or_else(|e| e.into_inner());
        done.sort_by_key(|(index, _)| *index);
        let mut verdict = Verdict::default();
        for ((_, result), case) in done.into_iter().zip(&self.cases) {
            verdict.add(case, result);
        }
        verdict
    }

    fn run_case<F>(&self, case: &Case, analyse: &F) -> CaseResult
    where
        F: Fn(&[PathBuf]) -> anyhow::Result<Vec<Reported>> + Sync,
    {
        let mut result = CaseResult::default();
        let files = match marked_files(case) {
            Ok(files) => files,
            Err(error) => {
                result.problems.push(format!("{error:#}"));
                return result;
            }
        };
        result.count_marks(&files);
        let reports = match catch_unwind(AssertUnwindSafe(|| analyse(&case.sources))) {
            Ok(Ok(reports)) => reports,
            Ok(Err(error)) => {
                result.problems.push(format!("{error:#}"));
                return result;
            }
            Err(panic) => {
                result
                    .problems
                    .push(format!("panicked: {}", text_of(&*panic)));
                return result;
            }
        };
        let mut mismatches = compare(&files, &reports, self.check_lost);
        if self.bless {
            mismatches = bless(&files, mismatches).unwrap_or_else(|error| {
                result.problems.push(format!("cannot bless: {error}"));
                Vec::new()
            });
        }
        result.mismatches = mismatches;
        result
    }
}

fn take<'a>(next: &AtomicUsize, cases: &'a [Case]) -> Option<(usize, &'a Case)> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    cases.get(index).map(|case| (index, case))
}

fn text_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("with something that is no text")
}

fn marked_files(case: &Case) -> anyhow::Result<Vec<MarkedFile>> {
    case.sources
        .iter()
        .chain(&case.headers)
        .map(|path| {
            let text = fs::read_to_string(path).with_context(|| format!("cannot read {path:?}"))?;
            Ok(MarkedFile {
                path: path.clone(),
                marks: marks::parse(&text).with_context(|| path.display().to_string())?,
            })
        })
        .collect()
}

fn entries(dir: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let listing = fs::read_dir(dir).with_context(|| format!("cannot list {dir:?}"))?;
    let mut paths = listing
        .map(|entry| Ok(entry?.path()))
        .collect::<anyhow::Result<Vec<PathBuf>>>()?;
    paths.sort();
    Ok(paths)
}

fn collect(dir: &Path, case: &mut Case) -> anyhow::Result<()> {
    for path in entries(dir)? {
        if path.is_dir() {
            collect(&path, case)?;
        } else if has_ending(&path, SOURCE_ENDINGS) {
            case.sources.push(path);
        } else if has_ending(&path, HEADER_ENDINGS) {
            case.headers.push(path);
        }
    }
    Ok(())
}

fn has_ending(path: &Path, endings: &[&str]) -> bool {
    let ending = path.extension().and_then(|e| e.to_str());
    ending.is_some_and(|e| endings.contains(&e))
}

#[derive(Default)]
struct CaseResult {
    leaks: usize,
    known_misses: usize,
    known_false_alarms: usize,
    problems: Vec<String>,
    mismatches: Vec<Mismatch>,
}

impl CaseResult {
    fn count_marks(&mut self, files: &[MarkedFile]) {
        for mark in files.iter().flat_map(|f| &f.marks) {
            let counter = match mark.kind {
                Kind::Leak => &mut self.leaks,
                Kind::KnownMiss => &mut self.known_misses,
                Kind::KnownFalseAlarm => &mut self.known_false_alarms,
                Kind::Lost => continue,
            };
            *counter += mark.count as usize;
        }
    }
}

/// Why a program failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// It could not be run, or its marks could not be read.
    Broken { case: String, why: String },
    /// What it reports isn't what its marks say.
    Mismatch { case: String, mismatch: Mismatch },
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Broken { case, why } => write!(f, "{case}: {why}"),
            Self::Mismatch { mismatch, .. } => mismatch.fmt(f),
        }
    }
}

/// The result of a corpus.
#[derive(Clone, Debug, Default)]
#[must_use = "a corpus that nobody asserts on can't fail"]
pub struct Verdict {
    pub cases: usize,
    /// Leaks that are marked, known defects not counted.
    pub leaks: usize,
    pub known_misses: usize,
    pub known_false_alarms: usize,
    pub failures: Vec<Failure>,
}

impl Verdict {
    fn add(&mut self, case: &Case, result: CaseResult) {
        self.cases += 1;
        self.leaks += result.leaks;
        self.known_misses += result.known_misses;
        self.known_false_alarms += result.known_false_alarms;
        let name = || case.name.clone();
        let broken = |why| Failure::Broken { case: name(), why };
        let wrong = |mismatch| Failure::Mismatch {
            case: name(),
            mismatch,
        };
        self.failures
            .extend(result.problems.into_iter().map(broken));
        self.failures
            .extend(result.mismatches.into_iter().map(wrong));
    }

    pub fn is_ok(&self) -> bool {
        self.failures.is_empty()
    }

    /// Panics with all failures if there is one.
    #[track_caller]
    pub fn assert_ok(&self) {
        assert!(self.is_ok(), "{self}");
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for failure in &self.failures {
            writeln!(f, "{failure}")?;
        }
        write!(
            f,
            "{} programs, {} leaks, {} known misses, {} known false alarms; {} failures",
            self.cases,
            self.leaks,
            self.known_misses,
            self.known_false_alarms,
            self.failures.len()
        )
    }
}
