//! Which findings are shown? Selection, excluded files, comments, baseline, changed lines, in this order; each finding that
//! is not shown is counted under the first reason.

use crate::commands::check::shown_paths;
use crate::config::Config;
use crate::pipeline::Run;
use crate::sources::FileSources;
use crate::ui::Ui;
use anyhow::Context;
use drip_engines::Finding;
use drip_report::Sources;
use drip_report::baseline::Baseline;
use drip_report::select::Selection;
use drip_report::since::Changes;
use drip_report::suppress::Suppressions;
use std::path::Path;

/// Files of the system have no comments for drip; not reading them saves time.
const SYSTEM_DIRECTORIES: [&str; 2] = ["/usr/", "/opt/"];

pub struct Hiding<'a> {
    pub selection: Selection,
    pub baseline: Option<Baseline>,
    pub changes: Option<Changes>,
    pub config: &'a Config,
}

impl Hiding<'_> {
    /// Takes the findings that are not wanted out of the run.
    pub fn apply(mut self, run: &mut Run, sources: &FileSources, ui: &Ui) {
        let mut comments = Suppressions::default();
        for file in run.files.iter().filter(|f| !is_system_file(f)) {
            if let Some(text) = sources.text(file) {
                comments.add_file(file, &text);
            }
        }
        let coverage = &mut run.coverage;
        run.analysis.findings.retain(|finding| {
            let counter = if !self.selection.accepts(finding)
                || self.config.excludes(&finding.primary.file)
            {
                &mut coverage.deselected
            } else if comments.silences(finding) {
                &mut coverage.suppressed
            } else if self.baseline.as_mut().is_some_and(|b| b.take(&finding.id)) {
                &mut coverage.in_baseline
            } else if self.changes.as_ref().is_some_and(|c| !c.touches(finding)) {
                &mut coverage.untouched
            } else {
                return true;
            };
            *counter += 1;
            false
        });
        let paths = shown_paths();
        for complaint in comments.complaints(&self.selection.rules) {
            let file = paths.show(&complaint.file);
            ui.warn(&format!("{file}:{}: {}", complaint.line, complaint.text));
        }
    }
}

/// Without what comments silence.
pub fn without_silenced(findings: Vec<Finding>, sources: &FileSources) -> Vec<Finding> {
    let mut comments = Suppressions::default();
    let silenced = |finding: &Finding| {
        let links = finding.allocation.iter().map(|link| &link.at);
        let lost = finding.lost.iter().map(|point| &point.at);
        for at in links.chain(lost).chain([&finding.primary]) {
            if let Some(text) = sources.text(&at.file) {
                comments.add_file(&at.file, &text);
            }
        }
        comments.silences(finding)
    };
    let (_, kept) = findings.into_iter().partition(silenced);
    kept
}

fn is_system_file(file: &str) -> bool {
    SYSTEM_DIRECTORIES.iter().any(|dir| file.starts_with(dir))
}

pub fn read_baseline(file: &Path) -> anyhow::Result<Baseline> {
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("cannot read the baseline {}", file.display()))?;
    Baseline::parse(&text).with_context(|| format!("in the baseline {}", file.display()))
}
