//! `drip ledger`: every allocation site and what becomes of it, of the last run or of a program named now.

use crate::args::LedgerArgs;
use crate::commands::check::shown_paths;
use crate::exit::Exit;
use crate::ui::Ui;
use crate::{inputs, last_run, output, pipeline};
use drip_report::LedgerFilter;

pub fn run(args: &LedgerArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let (analysis, incomplete) = if args.input.names_a_program() {
        let config = inputs::read_config(&args.input)?;
        let run = pipeline::analyse(&args.input, &args.limits, &config, ui)?;
        (run.analysis, run.coverage.is_incomplete())
    } else {
        let document = last_run::load()?;
        let incomplete = document.coverage.incomplete;
        (document.into_analysis()?, incomplete)
    };
    let filter = LedgerFilter {
        function: args.function.clone(),
        verdict: args.verdict,
    };
    let paths = shown_paths();
    let text = if args.json {
        drip_report::ledger_json(&analysis, &filter, &paths)
    } else {
        drip_report::ledger_text(&analysis, &filter, &paths)
    };
    output::print(&text)?;
    Ok(if incomplete {
        Exit::Incomplete
    } else {
        Exit::Clean
    })
}
