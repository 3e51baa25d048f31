//! Jobs to bitcode: in parallel, from the cache where possible, with flags dropped that clang does not take.
//!
//! Each job is looked up in the cache. What is missing is compiled in batches (see `together`) or, where that cannot be or has failed, unit by unit:
//! clang writes into the cache's `tmp/` and the result is renamed into place. A source that does not compile becomes a [`Failure`] and stops nobody else. A cache that fails
//! half-way (disk full) is replaced by a temporary directory once, for all units after it.
//!
//! Invariant: results stand in job order. Flags that a first unit had to drop are dropped beforehand in later
//! units of the run, which saves clang runs but never changes a result: clang refuses such a flag always.

use crate::batch;
use crate::cache::Cache;
use crate::child::{self, Outcome};
use crate::invocation::Invocation;
use crate::together::{Pattern, Record};
use crate::{
    Captured, ClangInfo, Error, Failure, Job, Options, Progress, SkipReason, Skipped, Unit, clang,
};
use crate::{error, history};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::SystemTime;
use tempfile::{NamedTempFile, TempDir};

/// Runs of clang per unit. Each drops at least one flag; clang names most of them at once, so more than this many
/// means that dropping leads nowhere, and the unit fails with clang's last words.
const MAX_RUNS_PER_UNIT: usize = 8;

/// Lines of clang's messages that a failure keeps, and the length of each.
const EXCERPT_LINES: usize = 12;
const EXCERPT_LINE_LENGTH: usize = 400;

/// Compiles `jobs` and adds the results to `captured`.
pub(crate) fn run(
    jobs: Vec<Job>,
    options: &Options<'_>,
    captured: Captured,
) -> Result<Captured, Error> {
    run_in(jobs, options, captured, &error::current_dir()?)
}

/// [`run`] for a project at `directory`, under which the outcome is remembered for `drip doctor`.
pub(crate) fn run_in(
    jobs: Vec<Job>,
    options: &Options<'_>,
    mut captured: Captured,
    directory: &Path,
) -> Result<Captured, Error> {
    if jobs.is_empty() {
        return Ok(captured);
    }
    let clang = clang::find(options.clang.as_deref(), options.config_clang.as_deref())?;
    let (cache, replaced) = Cache::open_or_temporary(options.cache_dir.as_deref())?;
    if let Some((scratch, note)) = replaced {
        captured.scratch.push(scratch);
        captured.note(note);
    }
    let workshop = Workshop {
        clang,
        cache,
        fallback: OnceLock::new(),
        refused: Mutex::new(BTreeSet::new()),
        clang_runs: AtomicUsize::new(0),
        batches: Record::default(),
        options,
    };
    let results = workshop.all(&jobs);
    let cache_root = workshop.cache.root().to_owned();
    let captured = workshop.collect(jobs, results, captured)?;
    history::save_last(&cache_root, directory, &captured);
    Ok(captured)
}

/// What the worker threads share.
pub(crate) struct Workshop<'a> {
    clang: ClangInfo,
    pub(crate) cache: Cache,
    /// Used once `cache` has failed to take a file; with the reason. An error text if there is no fallback either.
    pub(crate) fallback: OnceLock<Result<(Cache, TempDir, String), Error>>,
    /// Flags that clang has called unknown in this run.
    refused: Mutex<BTreeSet<String>>,
    pub(crate) clang_runs: AtomicUsize,
    pub(crate) batches: Record,
    pub(crate) options: &'a Options<'a>,
}

/// What became of one job.
enum Done {
    Unit { unit: Unit, runs: usize },
    Failed { failure: Failure, runs: usize },
    Skipped(SkipReason),
    Cancelled,
}

/// Why one run of clang did not give a file.
enum Trouble {
    /// Clang's messages.
    Compiler(String),
    /// The output could not be written.
    Disk(String),
    Cancelled,
}

/// A job that is not in the cache.
pub(crate) struct Waiting<'a> {
    pub job: &'a Job,
    pub invocation: Invocation<'a>,
    pub key: String,
}

/// The results, by job, and how many there are.
struct Board<'a> {
    jobs: &'a [Job],
    slots: Vec<Mutex<Option<Done>>>,
    finished: AtomicUsize,
}

impl Workshop<'_> {
    fn all(&self, jobs: &[Job]) -> Vec<Option<Done>> {
        let board = Board {
            jobs,
            slots: jobs.iter().map(|_| Mutex::new(None)).collect(),
            finished: AtomicUsize::new(0),
        };
        let misses: Vec<Mutex<Option<Waiting<'_>>>> =
            jobs.iter().map(|_| Mutex::new(None)).collect();
        let workers = worker_count(self.options.jobs, jobs.len());
        self.in_parallel(jobs, |number, job| match self.look_up(job) {
            Ok(waiting) => put(misses.get(number), waiting),
            Err(done) => self.put_up(&board, number, done),
        });
        let misses: Vec<(usize, Waiting<'_>)> = misses
            .into_iter()
            .enumerate()
            .filter_map(|(number, slot)| Some((number, take(slot)?)))
            .collect();
        self.compile(&misses, workers, &board);
        board.slots.into_iter().map(take).collect()
    }

    /// Compiles what the cache did not have, together where possible.
    fn compile(&self, misses: &[(usize, Waiting<'_>)], workers: usize, board: &Board<'_>) {
        let groups = misses.iter().map(|(_, unit)| {
            let group = unit.invocation.group()?;
            Some((group, unit.invocation.source()))
        });
        let (tasks, groups) = batch::plan(groups.collect(), workers);
        let patterns: Vec<Pattern> = (0..groups).map(|_| Pattern::new()).collect();
        self.in_parallel(&tasks, |_, task| {
            let units = task.units.iter().filter_map(|unit| misses.get(*unit));
            let (numbers, units): (Vec<usize>, Vec<&Waiting<'_>>) =
                units.map(|(number, unit)| (*number, unit)).unzip();
            let bitcode = match task.group.and_then(|group| patterns.get(group)) {
                Some(pattern) => self.together(&units, pattern),
                None => vec![None; units.len()],
            };
            for ((number, unit), bitcode) in numbers.into_iter().zip(units).zip(bitcode) {
                let done = match bitcode {
                    Some(bitcode) => Done::Unit {
                        unit: unit_of(unit.job, bitcode, false, &unit.invocation.dropped),
                        runs: 1,
                    },
                    None if self.options.cancelled() => return,
                    None => self.one(unit),
                };
                self.put_up(board, number, done);
            }
        });
    }

    /// Calls `work` for every item, in several threads, until there are no more or the run is cancelled.
    fn in_parallel<'t, T: Sync>(&self, items: &'t [T], work: impl Fn(usize, &'t T) + Sync) {
        let next = AtomicUsize::new(0);
        let run = || {
            while let (number, false) = (
                next.fetch_add(1, Ordering::Relaxed),
                self.options.cancelled(),
            ) {
                match items.get(number) {
                    Some(item) => work(number, item),
                    None => return,
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..worker_count(self.options.jobs, items.len()) {
                scope.spawn(run);
            }
            run();
        });
    }

    fn put_up(&self, board: &Board<'_>, number: usize, done: Done) {
        let count = board.finished.fetch_add(1, Ordering::Relaxed) + 1;
        if let (Some(progress), Some(job)) = (self.options.progress, board.jobs.get(number)) {
            progress(Progress {
                done: count,
                total: board.jobs.len(),
                source: &job.source,
                from_cache: matches!(&done, Done::Unit { unit, .. } if unit.from_cache),
                failed: matches!(done, Done::Failed { .. }),
            });
        }
        put(board.slots.get(number), done);
    }

    /// The result where none has to be made, else what is to be compiled.
    fn look_up<'j>(&'j self, job: &'j Job) -> Result<Waiting<'j>, Done> {
        let invocation =
            Invocation::new(&self.clang, job, &self.options.extra_args).map_err(Done::Skipped)?;
        let key = invocation.key();
        if let Some(hit) = self.cache.lookup(&key) {
            return Err(Done::Unit {
                unit: unit_of(job, hit.bitcode, true, &hit.dropped),
                runs: 0,
            });
        }
        if let Err(error) = std::fs::File::open(job.saved_source.as_ref().unwrap_or(&job.source)) {
            let text = format!("cannot read {}: {error}", job.source.display());
            return Err(failed(job, String::new(), text, 0));
        }
        Ok(Waiting {
            job,
            invocation,
            key,
        })
    }

    /// Compiles a unit for itself.
    fn one(&self, waiting: &Waiting<'_>) -> Done {
        let Waiting { job, key, .. } = waiting;
        let mut invocation = waiting.invocation.clone();
        invocation.drop_refused(&self.refused());
        let mut runs = 0;
        loop {
            runs += 1;
            match self.run_clang(&invocation, key) {
                Ok(bitcode) => {
                    return Done::Unit {
                        unit: unit_of(job, bitcode, false, &invocation.dropped),
                        runs,
                    };
                }
                Err(Trouble::Cancelled) => return Done::Cancelled,
                Err(Trouble::Compiler(text) | Trouble::Disk(text)) => {
                    let changed = invocation.change_flags(&text);
                    match changed.filter(|_| runs < MAX_RUNS_PER_UNIT) {
                        Some(unknown) => self.refused().extend(unknown),
                        None => {
                            if let Some(unit) = self.newer(&invocation, key, &text) {
                                return Done::Unit { unit, runs };
                            }
                            return failed(job, invocation.shell_text(), excerpt(&text), runs);
                        }
                    }
                }
            }
        }
    }

    /// Compiles what clang's standard of the day does not take by the newest one.
    fn newer(&self, invocation: &Invocation<'_>, key: &str, stderr: &str) -> Option<Unit> {
        // No standard brings a header.
        if stderr.contains("file not found") {
            return None;
        }
        let newer = invocation.newer()?;
        let bitcode = self.run_clang(&newer, key).ok()?;
        Some(unit_of(invocation.job, bitcode, false, &newer.dropped))
    }

    pub(crate) fn refused(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One run of clang, into the cache or, when that fails, into the fallback.
    fn run_clang(&self, invocation: &Invocation<'_>, key: &str) -> Result<PathBuf, Trouble> {
        let reason = match self.fallback.get() {
            Some(_) => String::new(),
            None => match self.run_clang_into(&self.cache, invocation, key) {
                Err(Trouble::Disk(reason)) => reason,
                result => return result,
            },
        };
        let fallback = self.fallback.get_or_init(|| {
            let (cache, scratch) = Cache::temporary(self.cache.root(), &reason)?;
            Ok((cache, scratch, reason))
        });
        match fallback {
            Ok((cache, _, _)) => self.run_clang_into(cache, invocation, key),
            Err(error) => Err(Trouble::Disk(error.to_string())),
        }
    }

    fn run_clang_into(
        &self,
        cache: &Cache,
        invocation: &Invocation<'_>,
        key: &str,
    ) -> Result<PathBuf, Trouble> {
        let disk = |error: std::io::Error| Trouble::Disk(error.to_string());
        let output = NamedTempFile::with_suffix_in(".bc", cache.tmp()).map_err(disk)?;
        let depfile = NamedTempFile::with_suffix_in(".d", cache.tmp()).map_err(disk)?;
        let directory = &invocation.job.directory;
        let started = SystemTime::now();
        self.clang_runs.fetch_add(1, Ordering::Relaxed);
        let command = invocation.command(output.path(), depfile.path());
        let (status, stderr) = match child::run(command, &|| self.options.cancelled()) {
            Ok(Outcome::Ended { status, stderr, .. }) => (status, stderr),
            Ok(Outcome::Cancelled) => return Err(Trouble::Cancelled),
            Err(error) => {
                let clang = self.clang.path.display();
                let text = format!("cannot run {clang} in {}: {error}", directory.display());
                return Err(Trouble::Compiler(text));
            }
        };
        if !status.success() {
            if speaks_of_full_disk(&stderr, output.path()) {
                return Err(Trouble::Disk(excerpt(&stderr)));
            }
            let text = if stderr.is_empty() {
                format!("clang ended with {status}")
            } else {
                stderr
            };
            return Err(Trouble::Compiler(text));
        }
        let dependencies = std::fs::read_to_string(depfile.path()).unwrap_or_default();
        // Clang replaces its output by a rename of its own, so the open handle may be an empty orphan.
        let written = reopen(output).map_err(disk)?;
        cache
            .store(
                key,
                written,
                &dependencies,
                directory,
                started,
                &invocation.dropped,
            )
            .map_err(disk)
    }

    fn collect(
        self,
        jobs: Vec<Job>,
        results: Vec<Option<Done>>,
        mut captured: Captured,
    ) -> Result<Captured, Error> {
        let mut retries = 0;
        let mut times_seen: BTreeMap<PathBuf, usize> = BTreeMap::new();
        for (job, done) in jobs.into_iter().zip(results) {
            match done {
                Some(Done::Unit { mut unit, runs }) => {
                    let seen = times_seen.entry(unit.source.clone()).or_insert(0);
                    unit.variant = *seen;
                    *seen += 1;
                    retries += runs.saturating_sub(1);
                    if unit.from_cache {
                        captured.statistics.from_cache += 1;
                    } else {
                        captured.statistics.compiled += 1;
                    }
                    captured.units.push(unit);
                }
                Some(Done::Failed { failure, runs }) => {
                    retries += runs.saturating_sub(1);
                    captured.statistics.failed += 1;
                    captured.failures.push(failure);
                }
                Some(Done::Skipped(reason)) => captured.skipped.push(Skipped {
                    path: job.source,
                    reason,
                }),
                Some(Done::Cancelled) | None => captured.cancelled = true,
            }
        }
        captured.statistics.retries += retries;
        captured.statistics.clang_runs += self.clang_runs.into_inner();
        match self.fallback.into_inner() {
            None => {}
            Some(Ok((_, scratch, reason))) => {
                captured.note(format!(
                    "the cache {} failed ({reason}); the rest was compiled into a temporary directory",
                    self.cache.root().display()
                ));
                captured.scratch.push(scratch);
            }
            Some(Err(error)) => return Err(error),
        }
        Ok(captured)
    }
}

fn put<T>(slot: Option<&Mutex<Option<T>>>, value: T) {
    if let Some(slot) = slot {
        *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
    }
}

fn take<T>(slot: Mutex<Option<T>>) -> Option<T> {
    slot.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn failed(job: &Job, command: String, stderr_excerpt: String, runs: usize) -> Done {
    Done::Failed {
        failure: Failure {
            source: job.source.clone(),
            command,
            stderr_excerpt,
        },
        runs,
    }
}

fn reopen(output: NamedTempFile) -> std::io::Result<NamedTempFile> {
    let path = output.into_temp_path();
    let file = std::fs::File::open(&path)?;
    Ok(NamedTempFile::from_parts(file, path))
}

fn unit_of(job: &Job, bitcode: PathBuf, from_cache: bool, dropped: &[String]) -> Unit {
    let mut dropped_flags = job.dropped.clone();
    dropped_flags.extend_from_slice(dropped);
    // Which unit met a flag first is a matter of chance; the list is not.
    dropped_flags.sort();
    dropped_flags.dedup();
    Unit {
        source: job.source.clone(),
        bitcode,
        object: job.object.clone(),
        variant: 0,
        from_cache,
        dropped_flags,
    }
}

fn worker_count(asked: usize, jobs: usize) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let wanted = if asked == 0 { cores } else { asked };
    wanted.min(jobs).max(1)
}

/// Is the failure about our output file rather than about the source?
fn speaks_of_full_disk(stderr: &str, output: &Path) -> bool {
    let named = output
        .file_name()
        .and_then(|n| n.to_str())
        .unwrap_or_default();
    stderr.contains("No space left on device")
        || stderr.contains("IO failure on output stream")
        || (stderr.contains("unable to open output file") && stderr.contains(named))
}

/// The first error and what follows it, cut to a readable size.
fn excerpt(stderr: &str) -> String {
    let lines: Vec<&str> = stderr.lines().collect();
    let first = lines.iter().position(|l| l.contains("error:")).unwrap_or(0);
    let shown = lines.iter().skip(first).take(EXCERPT_LINES);
    let mut text: Vec<String> = shown
        .map(|l| l.chars().take(EXCERPT_LINE_LENGTH).collect())
        .collect();
    if lines.len() > first + EXCERPT_LINES {
        text.push("…".to_owned());
    }
    text.join("\n")
}
