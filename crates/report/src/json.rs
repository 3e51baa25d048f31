//! `--output-format json`: the [`Document`] without its ledger (`drip ledger --json` has that).

use crate::{Document, Report};

pub fn json(report: &Report<'_>) -> String {
    let show = |file: &str| report.paths.show(file);
    Document::new(report.analysis, report.coverage, false, &show).to_json()
}
