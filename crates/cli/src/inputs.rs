//! From the command line to bitcode: which way of capture, with which options.

use crate::args::InputArgs;
use crate::config::Config;
use crate::stop::INTERRUPTED;
use crate::ui::Ui;
use anyhow::{Context, bail};
use drip_capture::{Captured, Options, Progress, WatchOptions};
use std::path::{Path, PathBuf};

/// How much of a compiler's complaint is shown without `-v`.
const SHOWN_ERROR_LINES: usize = 6;

pub fn read_config(input: &InputArgs) -> anyhow::Result<Config> {
    Config::find(input.config.as_deref(), input.no_config)
}

/// One thread pool for everything, with stacks for deeply nested programs.
pub fn start_threads(input: &InputArgs, config: &Config) {
    const STACK_BYTES: usize = 64 << 20;
    let jobs = input.jobs.or(config.jobs).unwrap_or(0);
    // It fails only if the pool exists already, and then that one is used.
    let _ = rayon::ThreadPoolBuilder::new()
        .num_threads(jobs)
        .stack_size(STACK_BYTES)
        .build_global();
}

/// What the user named, as bitcode.
pub struct Collected {
    pub captured: Captured,
    /// There was a build, and it failed: files may be missing that nobody knows of.
    pub build_failed: bool,
}

impl From<Captured> for Collected {
    fn from(captured: Captured) -> Self {
        Collected {
            captured,
            build_failed: false,
        }
    }
}

/// Turns what the user named into bitcode, and tells what could not be had.
pub fn capture(input: &InputArgs, config: &Config, ui: &Ui) -> anyhow::Result<Collected> {
    let progress = ui.progress("compiling");
    let report = |step: Progress<'_>| {
        let name = step.source.file_name().unwrap_or_default();
        progress.at(step.done, step.total, &name.to_string_lossy());
    };
    let options = Options {
        clang: input.clang.clone(),
        config_clang: config.clang.clone(),
        extra_args: [config.extra_args.as_slice(), &input.extra_args].concat(),
        jobs: input.jobs.or(config.jobs).unwrap_or(0),
        cache_dir: None,
        cancel: Some(&INTERRUPTED),
        progress: Some(&report),
    };
    let collected = run(input, &options, ui)?;
    drop(progress);
    tell(&collected.captured, ui);
    Ok(collected)
}

fn run(input: &InputArgs, options: &Options<'_>, ui: &Ui) -> anyhow::Result<Collected> {
    if !input.build.is_empty() {
        if !input.paths.is_empty() || input.build_dir.is_some() {
            bail!("a build command after `--` can't be combined with paths or -p");
        }
        let watched = drip_capture::capture_build(&input.build, &WatchOptions::default(), options)?;
        ui.note(&format!("compile commands found by {}", watched.watcher));
        if watched.captured.units.is_empty()
            && watched.build_failed()
            && !watched.captured.cancelled
        {
            bail!("the build failed before anything was compiled");
        }
        return Ok(Collected {
            build_failed: watched.build_failed(),
            captured: watched.captured,
        });
    }
    if let Some(dir) = &input.build_dir {
        if !input.paths.is_empty() {
            bail!("-p can't be combined with paths");
        }
        return Ok(drip_capture::capture_database(&database_in(dir)?, options)?.into());
    }
    if !input.paths.is_empty() {
        return Ok(drip_capture::capture_paths(&input.paths, options)?.into());
    }
    let here = std::env::current_dir().context("cannot find the current directory")?;
    if let Some(file) = drip_capture::find_database(&here) {
        ui.note(&format!("using {}", file.display()));
        return Ok(drip_capture::capture_database(&file, options)?.into());
    }
    Ok(drip_capture::capture_paths(&[PathBuf::from(".")], options)?.into())
}

fn database_in(dir: &Path) -> anyhow::Result<PathBuf> {
    if dir.is_file() {
        return Ok(dir.to_owned());
    }
    let file = dir.join(drip_capture::database::DATABASE_NAME);
    if !file.is_file() {
        bail!(
            "there is no {} in {}",
            drip_capture::database::DATABASE_NAME,
            dir.display()
        );
    }
    Ok(file)
}

fn tell(captured: &Captured, ui: &Ui) {
    for note in &captured.notes {
        ui.note(note);
    }
    for failure in &captured.failures {
        let mut lines: Vec<&str> = failure.stderr_excerpt.lines().collect();
        if !ui.verbose && lines.len() > SHOWN_ERROR_LINES {
            lines.truncate(SHOWN_ERROR_LINES);
            lines.push("…");
        }
        ui.warn(&format!(
            "{} is left out: {}",
            failure.source.display(),
            lines.join("\n  ")
        ));
        if !failure.command.is_empty() {
            ui.detail(&format!("the command was: {}", failure.command));
        }
    }
    for skipped in &captured.skipped {
        ui.detail(&format!(
            "{} is left out: {}",
            skipped.path.display(),
            skipped.reason
        ));
    }
    for (flag, count) in captured.dropped_flags() {
        ui.detail(&format!(
            "{flag}: dropped from {count} commands, unknown to clang or of no use here"
        ));
    }
    let counts = &captured.statistics;
    ui.detail(&format!(
        "{} files compiled, {} from the cache, {} failed",
        counts.compiled, counts.from_cache, counts.failed
    ));
}
