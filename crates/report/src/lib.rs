//! How is a result told? Findings, ledger and coverage as text, HTML, SARIF, JSON and annotations; and which findings are told
//! at all: selection, suppressing comments, baselines, changed lines.
//!
//! Architecture invariant: no input or output here. Sources come through [`Sources`], every renderer returns a string, and
//! the same result gives the same bytes on every machine.

pub mod baseline;
mod concise;
mod coverage;
mod document;
mod explain;
mod full;
mod github;
mod html;
mod json;
mod ledger;
mod paths;
mod rules;
mod sarif;
pub mod select;
pub mod since;
mod spans;
mod statistics;
pub mod suppress;

pub use concise::concise;
pub use coverage::{Coverage, Tally, coverage_line, thousands};
pub use document::{Document, DocumentError, FORMAT_VERSION};
pub use explain::{explain_finding, explain_rule};
pub use full::{FullOptions, full, full_one};
pub use github::github;
pub use html::html;
pub use json::json;
pub use ledger::{LedgerFilter, ledger_json, ledger_text, parse_verdict, verdict_name};
pub use paths::{Paths, normalise, normalise_files};
pub use rules::{RuleText, confidence_name, parse_confidence, parse_rule, rule_text};
pub use sarif::sarif;
pub use statistics::{statistics_json, statistics_text};

use drip_engines::Analysis;
use std::sync::Arc;

/// Where the text of a source file comes from. `None`: there is no excerpt, the report is made without it.
pub trait Sources {
    fn text(&self, file: &str) -> Option<Arc<str>>;
}

/// No sources at all.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSources;

impl Sources for NoSources {
    fn text(&self, _file: &str) -> Option<Arc<str>> {
        None
    }
}

/// Everything that a renderer needs.
#[derive(Clone, Copy)]
pub struct Report<'a> {
    pub analysis: &'a Analysis,
    pub coverage: &'a Coverage,
    pub paths: &'a Paths,
    pub sources: &'a dyn Sources,
}
