//! Several units by one process: how it is started, what is made of its output, and when it is better left alone.
//!
//! A start of clang costs some twenty milliseconds before anything is read, as much as a small unit. What one process has compiled goes into
//! the cache as if each unit had been compiled for itself, under the same keys.
//!
//! Invariant: a batch either gives a unit its bitcode or says nothing of it. When anything about it is not as expected (an exit code, a signal, a
//! message of the driver, output that is not one module per source), its units are compiled one by one, which is where messages, retries
//! and dropped flags come from. Batches that fail more often than not are given up on for the rest of the run.
//!
//! Known limits: a header that units of a batch include under several names (`src/../x.h` and `x.h`, or by way of links) goes by the one under
//! which the batch has read it first; findings name the same file, but the order of what is listed by file may differ.

use crate::cache::Cache;
use crate::cc1::Cc1;
use crate::child::{self, Outcome};
use crate::compile::{Waiting, Workshop};
use crate::concat::{self, Piece};
use std::io::Write;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;
use tempfile::NamedTempFile;

/// What one batch may write. One that writes more is not kept, and its units are compiled one by one.
const MAX_OUTPUT: usize = 512 * 1024 * 1024;

/// Batches that may fail in a run, if not more have succeeded. After that a run tries no more: each failure compiles units twice.
const MAX_FAILURES: usize = 3;

/// The compiler's command line for the units of a group; none if they cannot be compiled together.
pub(crate) type Pattern = OnceLock<Option<Cc1>>;

/// How batches have gone so far.
#[derive(Default)]
pub(crate) struct Record {
    failed: AtomicUsize,
    succeeded: AtomicUsize,
}

impl Record {
    fn add(&self, is_success: bool) {
        let count = if is_success {
            &self.succeeded
        } else {
            &self.failed
        };
        count.fetch_add(1, Ordering::Relaxed);
    }

    fn is_bad(&self) -> bool {
        let failed = self.failed.load(Ordering::Relaxed);
        failed >= MAX_FAILURES && failed > self.succeeded.load(Ordering::Relaxed)
    }
}

impl Workshop<'_> {
    /// Compiles units of one group; the bitcode of each that could be had in this way, in their order.
    pub(crate) fn together(
        &self,
        units: &[&Waiting<'_>],
        pattern: &Pattern,
    ) -> Vec<Option<PathBuf>> {
        let nothing = vec![None; units.len()];
        let refused = self.refused().clone();
        let is_refused = units.iter().any(|u| u.invocation.has_refused(&refused));
        if is_refused || self.batches.is_bad() {
            return nothing;
        }
        let cc1 = pattern.get_or_init(|| self.ask_driver(units.first()?));
        let (Some(cc1), Some(cache)) = (cc1, self.working_cache()) else {
            return nothing;
        };
        let started = SystemTime::now();
        let stored = self.run_together(cc1, units).and_then(|output| {
            let pieces = split(&output, units)?;
            let store = |(unit, piece)| store(cache, unit, piece, started).ok();
            Some(units.iter().copied().zip(pieces).map(store).collect())
        });
        if !self.options.cancelled() {
            self.batches.add(stored.is_some());
        }
        stored.unwrap_or(nothing)
    }

    /// Has the driver show what it starts for units like this one.
    fn ask_driver(&self, unit: &Waiting<'_>) -> Option<Cc1> {
        let place = self.working_cache()?.tmp();
        // The driver wants the source to exist.
        let source = tempfile::Builder::new()
            .prefix("drip-any-unit-")
            .suffix(".src")
            .tempfile_in(place)
            .ok()?;
        self.clang_runs.fetch_add(1, Ordering::Relaxed);
        let command = unit.invocation.show_command(source.path());
        match child::run(command, &|| self.options.cancelled()) {
            Ok(Outcome::Ended { status, stderr, .. }) if status.success() => {
                Cc1::of_driver(&stderr, source.path())
            }
            _ => None,
        }
    }

    fn run_together(&self, cc1: &Cc1, units: &[&Waiting<'_>]) -> Option<Vec<u8>> {
        let mut arguments = cc1.arguments.clone();
        arguments.extend(units.iter().map(|unit| unit.invocation.source()));
        let command = units.first()?.invocation.process(&cc1.program, arguments);
        self.clang_runs.fetch_add(1, Ordering::Relaxed);
        match child::run_for_output(command, MAX_OUTPUT, &|| self.options.cancelled()) {
            Ok(Outcome::Ended { status, stdout, .. }) if status.success() => Some(stdout),
            _ => None,
        }
    }

    /// Where bitcode goes; none after the fallback has failed too.
    fn working_cache(&self) -> Option<&Cache> {
        match self.fallback.get() {
            None => Some(&self.cache),
            Some(Ok((cache, _, _))) => Some(cache),
            Some(Err(_)) => None,
        }
    }
}

fn split<'o>(output: &'o [u8], units: &[&Waiting<'_>]) -> Option<Vec<Piece<'o>>> {
    let sources: Vec<_> = units.iter().map(|unit| unit.invocation.source()).collect();
    let names: Option<Vec<&str>> = sources.iter().map(|source| source.to_str()).collect();
    concat::split(output, &names?)
}

fn store(
    cache: &Cache,
    unit: &Waiting<'_>,
    piece: Piece<'_>,
    started: SystemTime,
) -> std::io::Result<PathBuf> {
    let mut file = NamedTempFile::with_suffix_in(".bc", cache.tmp())?;
    file.write_all(piece.bitcode)?;
    let directory = &unit.invocation.job.directory;
    cache.store(
        &unit.key,
        file,
        piece.dependencies,
        directory,
        started,
        &unit.invocation.dropped,
    )
}
