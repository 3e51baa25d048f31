//! From the user's sources or build to bitcode files.
//!
//! Question answered: *which translation units make up the program, and where is the bitcode of each?*
//! Everything that can be handed to drip ends here as a list of [`Unit`]s: source files, a compilation
//! database, a watched build, bitcode that already exists. What could not be had is listed beside them
//! ([`Captured::failures`], [`Captured::skipped`]), never lost silently.
//!
//! The way through the crate: an input ([`capture_files`], …) becomes a list of [`Job`]s (one
//! source file with the flags that matter), [`compile`] turns jobs into bitcode with the clang that
//! [`clang`] found (several units by one process where they differ by nothing but the source), and [`cache`] remembers what has not changed.
//!
//! Invariants: the user's build and its files are never written to; the order of the units is the order of
//! the input, whatever the number of threads; a bitcode file named in a [`Unit`] is complete.

mod batch;
mod build_env;
pub mod cache;
mod cc1;
mod child;
pub mod clang;
pub mod command;
pub mod compile;
mod compiler;
mod concat;
pub mod database;
mod depfile;
pub mod doctor;
mod embedded;
mod error;
mod fallback;
mod flags;
mod history;
pub mod inputs;
mod invocation;
mod job;
mod record;
mod response;
mod retry;
mod together;
pub mod watch;
mod wrapper;

pub use cache::{Cache, CacheUse, clean};
pub use clang::ClangInfo;
pub use command::CommandLine;
pub use database::{capture_database, find_database};
pub use error::Error;
pub use flags::Mode;
pub use history::LastCapture;
pub use inputs::{capture_paths, capture_tree};
pub use invocation::CAPTURE_FLAGS;
pub use job::{Job, Language};
pub use watch::{BuildCapture, BuildOutput, WatchOptions, Watcher, capture_build};
pub use wrapper::{LOG_VARIABLE, is_wrapper_invocation, wrapper_main};

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::TempDir;

/// What the caller may choose about a capture. `Options::default()` works in most trees.
#[derive(Clone, Default)]
pub struct Options<'a> {
    /// `--clang`: must work, nothing else is tried.
    pub clang: Option<PathBuf>,
    /// The clang named in the configuration file; comes after `DRIP_CLANG`.
    pub config_clang: Option<PathBuf>,
    /// `--extra-arg`: appended to every compile command.
    pub extra_args: Vec<String>,
    /// Number of clang processes at a time; 0 means one per core.
    pub jobs: usize,
    /// Where the cache is; `None` means the default place (see [`cache::default_dir`]).
    pub cache_dir: Option<PathBuf>,
    /// Set to true by the caller to stop: running compilers are killed, what is done is returned.
    pub cancel: Option<&'a AtomicBool>,
    /// Called from the worker threads after each unit.
    pub progress: Option<&'a (dyn Fn(Progress<'_>) + Sync)>,
}

impl Options<'_> {
    pub(crate) fn cancelled(&self) -> bool {
        self.cancel.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}

/// One step of a capture, for a progress bar.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    pub done: usize,
    pub total: usize,
    pub source: &'a std::path::Path,
    pub from_cache: bool,
    pub failed: bool,
}

/// One translation unit as bitcode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The source file, absolute; for bitcode that the user brought, that file.
    pub source: PathBuf,
    /// A complete bitcode file. It lives as long as the cache is not emptied, or as long as the [`Captured`].
    pub bitcode: PathBuf,
    /// The object file that the build made of it, where there was a build.
    pub object: Option<PathBuf>,
    /// 0 for the first compile of this source; 1, 2, … for further ones with other flags (a debug variant, a
    /// second program), which hold much the same functions again.
    pub variant: usize,
    pub from_cache: bool,
    /// Flags of the build's command that clang did not take, sorted.
    pub dropped_flags: Vec<String>,
}

/// A source file that could not be turned into bitcode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub source: PathBuf,
    /// The command line that failed, quoted for a shell; empty if none was run.
    pub command: String,
    pub stderr_excerpt: String,
}

/// An input that is not a translation unit of the program, and why it was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    pub path: PathBuf,
    pub reason: SkipReason,
}

/// Why an input was left out. None of these makes a run incomplete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SkipReason {
    /// Assembler source: no bitcode can be made of it.
    Assembler,
    /// A language other than C and C++.
    OtherLanguage,
    /// A compiler call made by a configure script to try something out, or whose source is gone.
    Probe,
    /// The same source with the same flags had been seen before.
    Duplicate,
    /// A header compiled for its own sake.
    Header,
}

impl std::fmt::Display for SkipReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            SkipReason::Assembler => "assembler source",
            SkipReason::OtherLanguage => "neither C nor C++",
            SkipReason::Probe => "a probe of the build, or gone since",
            SkipReason::Duplicate => "compiled with the same flags before",
            SkipReason::Header => "a header compiled for its own sake",
        })
    }
}

/// Counts of one capture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    pub compiled: usize,
    pub from_cache: usize,
    pub failed: usize,
    /// Runs of clang beyond the first of a unit, made because a flag had to be dropped.
    pub retries: usize,
    /// Clang processes started for units, all told; 0 when everything came from the cache.
    pub clang_runs: usize,
}

/// The result of a capture.
#[derive(Debug, Default)]
pub struct Captured {
    pub units: Vec<Unit>,
    pub failures: Vec<Failure>,
    pub skipped: Vec<Skipped>,
    pub statistics: Statistics,
    /// What the user should be told: the cache could not be used, which watcher was used, …
    pub notes: Vec<String>,
    /// The run was cancelled; units are missing.
    pub cancelled: bool,
    /// Keeps bitcode files alive that could not be put into the cache.
    pub(crate) scratch: Vec<TempDir>,
}

impl Captured {
    /// Adds a note once, however often it comes up.
    pub(crate) fn note(&mut self, text: String) {
        if !self.notes.contains(&text) {
            self.notes.push(text);
        }
    }

    /// Every dropped flag with the number of units it was dropped from.
    pub fn dropped_flags(&self) -> BTreeMap<&str, usize> {
        let mut counts = BTreeMap::new();
        for flag in self.units.iter().flat_map(|unit| &unit.dropped_flags) {
            *counts.entry(flag.as_str()).or_insert(0) += 1;
        }
        counts
    }
}

/// Compiles C and C++ files with default flags and `options.extra_args`.
pub fn capture_files(sources: &[PathBuf], options: &Options<'_>) -> Result<Captured, Error> {
    let directory = error::current_dir()?;
    let mut captured = Captured::default();
    let mut jobs = Vec::new();
    for source in sources {
        match job::plain_job(source, &directory) {
            Ok(job) => jobs.push(job),
            Err(reason) => captured.skipped.push(Skipped {
                path: source.clone(),
                reason,
            }),
        }
    }
    compile::run(jobs, options, captured)
}
