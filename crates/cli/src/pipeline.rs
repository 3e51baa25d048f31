//! Capture → load → engine, with times, limits and counts. One [`Run`] is what all commands that analyse work on.

use crate::args::{InputArgs, LimitArgs};
use crate::config::Config;
use crate::engine::{EngineArgs, Outcome};
use crate::inputs::{self, Collected};
use crate::stop::{self, Limits, Waited};
use crate::timing::Timing;
use crate::ui::{Progress, Ui};
use anyhow::{Context, bail};
use drip_base::Watch;
use drip_capture::Captured;
use drip_engines::{Analysis, saber};
use drip_models::Library;
use drip_program::{Input, LoadConfig, Loaded, Problem, ProblemKind, Program, Statistics};
use drip_report::Coverage;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Instant;

/// Stack of the thread that the analysis starts on.
const STACK_BYTES: usize = 256 << 20;

/// A finished (or stopped) analysis.
#[derive(Debug, Default)]
pub struct Run {
    pub analysis: Analysis,
    pub coverage: Coverage,
    pub timing: Timing,
    /// Absolute names of the program's source files, normalised and sorted.
    pub files: Vec<String>,
    /// Counts of the whole-program engine, if it ran.
    pub saber: Option<saber::Statistics>,
}

/// A program that was read, and what of it could not be.
pub struct Read {
    pub program: Program,
    pub statistics: Statistics,
    pub coverage: Coverage,
}

/// Everything from the command line to the analysis, by the default engine.
pub fn analyse(
    input: &InputArgs,
    limits: &LimitArgs,
    config: &Config,
    ui: &Ui,
) -> anyhow::Result<Run> {
    analyse_by(&EngineArgs::default(), input, limits, config, ui)
}

/// Everything from the command line to the analysis.
pub fn analyse_by(
    engine: &EngineArgs,
    input: &InputArgs,
    limits: &LimitArgs,
    config: &Config,
    ui: &Ui,
) -> anyhow::Result<Run> {
    let mut timing = Timing::default();
    stop::watch_for_interrupts();
    inputs::start_threads(input, config);
    let library = config.library()?;
    let collected = timing.measure("capture", || inputs::capture(input, config, ui))?;
    let captured = &collected.captured;
    let limits = Limits::new(
        limits.timeout.or(config.timeout),
        limits.max_memory.or(config.max_memory),
    );
    let bitcode = read_bitcode(captured)?;
    let total = captured.units.len() + captured.failures.len();
    if captured.cancelled || stop::interrupted() {
        return Ok(stopped_run("interrupted".to_owned(), total, timing));
    }
    let progress = ui.progress("reading");
    let files = bitcode.len();
    let watch = Arc::new(Watch::default());
    let work = {
        let (engine, watch) = (engine.clone(), Arc::clone(&watch));
        move || load_and_run(&engine, bitcode, &library, &watch)
    };
    let (finished, stopped) =
        on_own_thread(&limits, &watch, || show(&progress, &watch, files), work)?;
    drop(progress);
    let stopped = stopped.map(|reason| match watch.counts() {
        (_, 0) => reason,
        (done, all) => format!("{reason} after {done} of {all} functions"),
    });
    let Some((loaded, outcome, run_time)) = finished else {
        return Ok(stopped_run(stopped.unwrap_or_default(), total, timing));
    };
    note_times(&mut timing, &loaded.statistics);
    timing.add("analyse", run_time);
    let mut run = finish(&collected, loaded, outcome.analysis, timing, ui)?;
    run.coverage.stopped = stopped;
    run.saber = outcome.saber;
    Ok(run)
}

/// A run that was stopped before anything was known.
fn stopped_run(reason: String, files_total: usize, timing: Timing) -> Run {
    Run {
        coverage: Coverage {
            files_total,
            stopped: Some(reason),
            ..Coverage::default()
        },
        timing,
        ..Run::default()
    }
}

/// Reading has no counts but the number of files; the analysis tells how many functions are done.
fn show(progress: &Progress, watch: &Watch, files: usize) {
    match watch.counts() {
        (_, 0) => progress.phase("reading", &format!("{files} files")),
        (done, all) => progress.phase("analysing", &format!("{done}/{all} functions")),
    }
}

/// Capture and load only, for dumps.
pub fn read(input: &InputArgs, config: &Config, ui: &Ui) -> anyhow::Result<Read> {
    stop::watch_for_interrupts();
    inputs::start_threads(input, config);
    let collected = inputs::capture(input, config, ui)?;
    let bitcode = read_bitcode(&collected.captured)?;
    let work = move || drip_program::load(bitcode, &LoadConfig::default());
    let (Some(loaded), None) = on_own_thread(&Limits::default(), &Watch::default(), || (), work)?
    else {
        bail!("interrupted");
    };
    tell(&loaded.problems, ui);
    let coverage = coverage(&collected, &loaded)?;
    Ok(Read {
        program: loaded.program,
        statistics: loaded.statistics,
        coverage,
    })
}

type Finished = (Loaded, Outcome, std::time::Duration);

fn load_and_run(
    engine: &EngineArgs,
    bitcode: Vec<Input>,
    library: &Library,
    watch: &Watch,
) -> Finished {
    tracing::info!(files = bitcode.len(), "reading");
    let loaded = drip_program::load(bitcode, &LoadConfig::default());
    tracing::info!(functions = loaded.statistics.bodies, "analysing");
    let start = Instant::now();
    let outcome = engine.run(&loaded.program, library, watch);
    (loaded, outcome, start.elapsed())
}

/// Runs `work` on a thread with a deep stack. The second part says why it ended early; then the first one is what is known
/// so far, if anything is. Without the second part the first one is there.
fn on_own_thread<T: Send + 'static>(
    limits: &Limits,
    watch: &Watch,
    tick: impl Fn(),
    work: impl FnOnce() -> T + Send + 'static,
) -> anyhow::Result<(Option<T>, Option<String>)> {
    let (sender, receiver) = channel();
    let thread = std::thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(move || {
            // The receiver is gone only if the run was stopped.
            let _ = sender.send(work());
        })
        .context("cannot start a thread")?;
    match stop::wait(&receiver, limits, watch, tick) {
        Waited::Done(value) => Ok((Some(value), None)),
        Waited::Stopped(reason, so_far) => Ok((so_far, Some(reason))),
        Waited::Gone => match thread.join() {
            Err(panic) => std::panic::resume_unwind(panic),
            Ok(()) => bail!("the analysis ended without a result"),
        },
    }
}

fn read_bitcode(captured: &Captured) -> anyhow::Result<Vec<Input>> {
    let mut inputs = Vec::with_capacity(captured.units.len());
    for unit in &captured.units {
        let bytes = std::fs::read(&unit.bitcode)
            .with_context(|| format!("cannot read {}", unit.bitcode.display()))?;
        inputs.push(Input {
            path: unit.source.display().to_string(),
            bytes,
        });
    }
    Ok(inputs)
}

fn finish(
    collected: &Collected,
    loaded: Loaded,
    mut analysis: Analysis,
    timing: Timing,
    ui: &Ui,
) -> anyhow::Result<Run> {
    tell(&loaded.problems, ui);
    let mut coverage = coverage(collected, &loaded)?;
    coverage.functions = analysis.statistics.functions;
    coverage.functions_limited = analysis.statistics.functions_limited;
    coverage.functions_coarse = analysis.statistics.functions_coarse;
    drip_report::normalise_files(&mut analysis);
    Ok(Run {
        analysis,
        coverage,
        timing,
        files: source_files(&loaded.program),
        saber: None,
    })
}

fn source_files(program: &Program) -> Vec<String> {
    let files: BTreeSet<String> = program
        .files
        .ids()
        .iter()
        .map(|file| drip_report::normalise(&program.file_path(file).to_string_lossy()))
        .collect();
    files.into_iter().collect()
}

/// How many files and functions were read. No file at all is a failure of the run.
fn coverage(collected: &Collected, loaded: &Loaded) -> anyhow::Result<Coverage> {
    let captured = &collected.captured;
    let units = captured.units.len();
    let total = units + captured.failures.len();
    let in_functions = loaded.problems.iter().filter(|p| p.function.is_some());
    let unread = loaded
        .problems
        .iter()
        .filter(|p| p.kind == ProblemKind::Unreadable && p.function.is_none());
    let read = units.saturating_sub(unread.count());
    if total == 0 && !captured.cancelled {
        bail!("there is nothing to check: no C or C++ file was compiled");
    }
    if read == 0 && !captured.cancelled {
        bail!("nothing could be read: {total} of {total} files failed");
    }
    Ok(Coverage {
        files_read: read,
        files_total: total,
        build_failed: collected.build_failed,
        functions: loaded.statistics.bodies,
        functions_unreadable: in_functions.count(),
        ..Coverage::default()
    })
}

/// Of the problems of whole files and of single functions the first few are told, the others with `-v`. Symbols with several
/// definitions are of interest to the curious only.
fn tell(problems: &[Problem], ui: &Ui) {
    let (duplicates, others): (Vec<&Problem>, Vec<&Problem>) = problems
        .iter()
        .partition(|p| p.kind == ProblemKind::Duplicate);
    for duplicate in duplicates {
        ui.detail(&duplicate.to_string());
    }
    let (inside, whole): (Vec<&Problem>, Vec<&Problem>) =
        others.into_iter().partition(|p| p.function.is_some());
    tell_some(&whole, "problems with files", ui);
    tell_some(&inside, "functions that could not be read", ui);
}

/// Problems of one kind that are told without `-v`.
const MAX_TOLD_PROBLEMS: usize = 3;

fn tell_some(problems: &[&Problem], what: &str, ui: &Ui) {
    let (shown, rest) = problems.split_at(problems.len().min(MAX_TOLD_PROBLEMS));
    for problem in shown {
        ui.warn(&problem.to_string());
    }
    for problem in rest {
        ui.detail(&problem.to_string());
    }
    if !rest.is_empty() && !ui.verbose {
        ui.warn(&format!("{} more {what}; -v names them", rest.len()));
    }
}

fn note_times(timing: &mut Timing, statistics: &Statistics) {
    timing.add("read", statistics.parse);
    timing.add("link", statistics.link);
    timing.add("lower", statistics.lower);
    timing.add("name", statistics.names);
    timing.add("verify", statistics.verify);
}
