//! `drip check`: look for leaks and report them.

use crate::args::{CheckArgs, Format, Output, StatisticsFormat};
use crate::config::Config;
use crate::exit::Exit;
use crate::hidden::{Hiding, read_baseline};
use crate::pipeline::{self, Run};
use crate::sources::FileSources;
use crate::ui::Ui;
use crate::{git, inputs, last_run, output};
use anyhow::anyhow;
use drip_engines::{Rule, Verdict};
use drip_report::select::Selection;
use drip_report::{FullOptions, Paths, Report};
use std::io::Write;

pub fn run(args: &CheckArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let config = inputs::read_config(&args.input)?;
    // What can fail is asked before the long work.
    let hiding = hiding(args, &config)?;
    let mut engine = args.engine.clone();
    engine.held_at_end = hiding.selection.rules.contains(&Rule::D005);
    let mut run = pipeline::analyse_by(&engine, &args.input, &args.limits, &config, ui)?;
    // A run that was stopped knows less than the one before it.
    if run.coverage.stopped.is_none()
        && let Err(error) = last_run::save(&run)
    {
        ui.detail(&format!(
            "the result is not kept for `drip explain`: {error:#}"
        ));
    }
    let sources = FileSources::default();
    hiding.apply(&mut run, &sources, ui);
    let paths = shown_paths();
    run.coverage.seconds_tenths = run.timing.tenths_of_seconds();
    let report = Report {
        analysis: &run.analysis,
        coverage: &run.coverage,
        paths: &paths,
        sources: &sources,
    };
    write_outputs(args, &report, engine.held_at_end, ui)?;
    tell_counts(args, &run);
    Ok(exit_code(args, &run))
}

fn hiding<'c>(args: &CheckArgs, config: &'c Config) -> anyhow::Result<Hiding<'c>> {
    let select = if args.select.is_empty() {
        &config.select
    } else {
        &args.select
    };
    let ignore = [config.ignore.as_slice(), &args.ignore].concat();
    let confidence = args.min_confidence.or(config.min_confidence);
    let baseline = args.baseline.as_deref().or(config.baseline.as_deref());
    Ok(Hiding {
        selection: Selection::new(select, &ignore, confidence).map_err(|e| anyhow!(e))?,
        baseline: baseline.map(read_baseline).transpose()?,
        changes: args.since.as_deref().map(git::changes_since).transpose()?,
        config,
    })
}

/// Paths are shown relative to the current directory; without one they stay absolute.
pub fn shown_paths() -> Paths {
    match std::env::current_dir() {
        Ok(dir) => Paths::relative_to(dir.to_string_lossy()),
        Err(_) => Paths::default(),
    }
}

fn write_outputs(
    args: &CheckArgs,
    report: &Report<'_>,
    tells_held: bool,
    ui: &Ui,
) -> anyhow::Result<()> {
    let default = [Output {
        format: Format::Full,
        file: None,
    }];
    let outputs = if args.outputs.is_empty() {
        &default[..]
    } else {
        &args.outputs[..]
    };
    let mut machine_reads_stdout = false;
    let mut excerpts_shown = false;
    for wanted in outputs {
        let color = wanted.file.is_none() && ui.color_on_stdout();
        let text = render(wanted.format, report, color);
        match &wanted.file {
            Some(file) => output::write_file(file, &text)?,
            None => {
                machine_reads_stdout |= wanted.format.is_for_machines();
                excerpts_shown |= wanted.format == Format::Full;
                output::print(&text)?;
            }
        }
    }
    if ui.is_quiet() {
        return Ok(());
    }
    let mut last = drip_report::coverage_line(report.analysis, report.coverage);
    last.push('\n');
    // A stopped run is not kept, so its findings can't be explained.
    if let Some(first) = report.analysis.findings.first()
        && excerpts_shown
        && report.coverage.stopped.is_none()
    {
        last.push_str(&format!("next: drip explain {}\n", first.id));
    }
    let is_held = report
        .analysis
        .ledger
        .iter()
        .any(|e| e.verdict == Verdict::HeldAtEnd);
    if report.analysis.findings.is_empty() && excerpts_shown && is_held && !tells_held {
        last.push_str("next: drip check --select ALL tells what `main` still holds when it ends\n");
    }
    if machine_reads_stdout {
        let _ = std::io::stderr().write_all(last.as_bytes());
        return Ok(());
    }
    output::print(&last)
}

fn render(format: Format, report: &Report<'_>, color: bool) -> String {
    match format {
        Format::Full => {
            let options = FullOptions {
                color,
                all_events: false,
            };
            drip_report::full(report, options)
        }
        Format::Concise => drip_report::concise(report),
        Format::Json => drip_report::json(report),
        Format::Sarif => drip_report::sarif(report),
        Format::Github => drip_report::github(report),
        Format::Html => drip_report::html(report),
    }
}

fn tell_counts(args: &CheckArgs, run: &Run) {
    let mut text = String::new();
    match (args.statistics, &run.saber) {
        (Some(StatisticsFormat::Text), Some(saber)) => text.push_str(&saber.text()),
        (Some(StatisticsFormat::Json), Some(saber)) => text.push_str(&saber.json()),
        (Some(StatisticsFormat::Text), None) => {
            text.push_str(&drip_report::statistics_text(&run.analysis.statistics));
        }
        (Some(StatisticsFormat::Json), None) => {
            text.push_str(&drip_report::statistics_json(&run.analysis.statistics));
        }
        (None, _) => {}
    }
    if args.time_passes {
        text.push_str(&run.timing.table());
    }
    // Nobody is left to tell if standard error is closed.
    let _ = std::io::stderr().write_all(text.as_bytes());
}

fn exit_code(args: &CheckArgs, run: &Run) -> Exit {
    if run.coverage.stopped.is_some() {
        return Exit::Incomplete;
    }
    if !run.analysis.findings.is_empty() && !args.exit_zero {
        return Exit::Findings;
    }
    if run.coverage.is_incomplete() {
        return Exit::Incomplete;
    }
    Exit::Clean
}
