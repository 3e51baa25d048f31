//! `drip explain RULE|ID`.

use crate::args::ExplainArgs;
use crate::commands::check::shown_paths;
use crate::exit::Exit;
use crate::sources::FileSources;
use crate::ui::Ui;
use crate::{last_run, output};
use anyhow::bail;

pub fn run(args: &ExplainArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let subject = args.subject.trim();
    if let Some(rule) = drip_report::parse_rule(subject) {
        output::print(&drip_report::explain_rule(rule))?;
        return Ok(Exit::Clean);
    }
    let is_id = subject.len() >= 4 && subject.bytes().all(|b| b.is_ascii_hexdigit());
    if !is_id {
        bail!("`{subject}` is neither a rule (D001 to D005) nor the id of a finding");
    }
    let analysis = last_run::load()?.into_analysis()?;
    // The first digits will do as long as they are unique.
    let named: Vec<_> = analysis
        .findings
        .iter()
        .filter(|f| f.id.starts_with(&subject.to_ascii_lowercase()))
        .collect();
    if named.is_empty() {
        bail!("the last run in this directory has no finding `{subject}`");
    }
    let sources = FileSources::default();
    let mut text = String::new();
    for finding in named {
        let color = ui.color_on_stdout();
        text.push_str(&drip_report::explain_finding(
            finding,
            &shown_paths(),
            &sources,
            color,
        ));
    }
    output::print(&text)?;
    Ok(Exit::Clean)
}
