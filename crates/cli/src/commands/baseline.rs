//! `drip baseline create|update`: accept the findings of the last run, or of a program named now.

use crate::args::{BaselineAction, BaselineArgs, BaselineWrite};
use crate::commands::check::shown_paths;
use crate::config::Config;
use crate::exit::Exit;
use crate::hidden::{read_baseline, without_silenced};
use crate::sources::FileSources;
use crate::ui::Ui;
use crate::{inputs, last_run, output, pipeline};
use anyhow::{anyhow, bail};
use drip_engines::Finding;
use drip_report::baseline;
use drip_report::select::Selection;
use std::path::PathBuf;

const DEFAULT_FILE: &str = "drip-baseline.txt";

pub fn run(args: &BaselineArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let (args, update) = match &args.action {
        BaselineAction::Create(args) => (args, false),
        BaselineAction::Update(args) => (args, true),
    };
    let config = inputs::read_config(&args.input)?;
    let file = file(args, &config);
    if !update && file.exists() {
        bail!(
            "{} exists; `drip baseline update` replaces it",
            file.display()
        );
    }
    let mut old = if update {
        Some(read_baseline(&file)?)
    } else {
        None
    };
    let findings = findings(args, &config, ui)?;
    output::write_file(&file, &baseline::render(&findings, &shown_paths()))?;
    let mut text = format!("{}: {} findings accepted", file.display(), findings.len());
    if let Some(old) = &mut old {
        let before = old.len();
        let kept = findings.iter().filter(|f| old.take(&f.id)).count();
        text.push_str(&format!(
            ", {} new, {} gone",
            findings.len() - kept,
            before - kept
        ));
    }
    if !ui.is_quiet() {
        output::print(&format!("{text}\n"))?;
    }
    Ok(Exit::Clean)
}

fn file(args: &BaselineWrite, config: &Config) -> PathBuf {
    let named = args.baseline.clone().or_else(|| config.baseline.clone());
    named.unwrap_or_else(|| PathBuf::from(DEFAULT_FILE))
}

fn findings(args: &BaselineWrite, config: &Config, ui: &Ui) -> anyhow::Result<Vec<Finding>> {
    let (analysis, incomplete) = if args.input.names_a_program() {
        let run = pipeline::analyse(&args.input, &args.limits, config, ui)?;
        (run.analysis, run.coverage.is_incomplete())
    } else {
        ui.note("accepting the findings of the last run in this directory");
        let document = last_run::load()?;
        let incomplete = document.coverage.incomplete;
        (document.into_analysis()?, incomplete)
    };
    if incomplete {
        ui.warn("not everything was read; findings in the rest are not accepted");
    }
    let selection = Selection::new(&config.select, &config.ignore, config.min_confidence)
        .map_err(|e| anyhow!(e))?;
    let mut findings = analysis.findings;
    findings.retain(|f| selection.accepts(f) && !config.excludes(&f.primary.file));
    Ok(without_silenced(findings, &FileSources::default()))
}
