//! What becomes of every allocation site, also of those that are not reported.

use crate::{Paths, thousands};
use drip_engines::{Analysis, LedgerEntry, Verdict};
use serde_json::json;

const VERDICTS: [Verdict; 8] = [
    Verdict::Freed,
    Verdict::HandedOver,
    Verdict::Escaped,
    Verdict::Leak,
    Verdict::Undecided,
    Verdict::GivenUp,
    Verdict::HeldAtEnd,
    Verdict::Unreachable,
];

pub fn verdict_name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Freed => "freed",
        Verdict::HandedOver => "handed-over",
        Verdict::Escaped => "escaped",
        Verdict::Leak => "leak",
        Verdict::Undecided => "undecided",
        Verdict::GivenUp => "given-up",
        Verdict::HeldAtEnd => "held-at-end",
        Verdict::Unreachable => "unreachable",
    }
}

pub fn parse_verdict(text: &str) -> Option<Verdict> {
    VERDICTS.into_iter().find(|&v| verdict_name(v) == text)
}

/// Which entries are shown; `None` means all.
#[derive(Clone, Debug, Default)]
pub struct LedgerFilter {
    pub function: Option<String>,
    pub verdict: Option<Verdict>,
}

impl LedgerFilter {
    fn accepts(&self, entry: &LedgerEntry) -> bool {
        let function = self.function.as_ref();
        function.is_none_or(|name| *name == entry.at.function)
            && self.verdict.is_none_or(|verdict| verdict == entry.verdict)
    }
}

/// One line per site, and the sums at the end.
pub fn ledger_text(analysis: &Analysis, filter: &LedgerFilter, paths: &Paths) -> String {
    let mut out = String::new();
    let mut counts = [0usize; VERDICTS.len()];
    for entry in analysis.ledger.iter().filter(|e| filter.accepts(e)) {
        if let Some(at) = VERDICTS.iter().position(|v| *v == entry.verdict) {
            counts[at] += 1;
        }
        let reason = match entry.reason.as_str() {
            "" => String::new(),
            reason => format!(": {reason}"),
        };
        out.push_str(&format!(
            "{}:{}:{}: {} `{}` in `{}`{reason}\n",
            paths.show(&entry.at.file),
            entry.at.line,
            entry.at.column,
            verdict_name(entry.verdict),
            entry.callee,
            entry.at.function,
        ));
    }
    let sums: Vec<String> = VERDICTS
        .iter()
        .zip(counts)
        .filter(|(_, count)| *count > 0)
        .map(|(verdict, count)| format!("{} {}", thousands(count), verdict_name(*verdict)))
        .collect();
    let sums = if sums.is_empty() {
        "no allocation sites".to_owned()
    } else {
        sums.join(", ")
    };
    out.push_str(&format!("{sums}\n"));
    out
}

pub fn ledger_json(analysis: &Analysis, filter: &LedgerFilter, paths: &Paths) -> String {
    let entries: Vec<_> = analysis
        .ledger
        .iter()
        .filter(|e| filter.accepts(e))
        .map(|entry| {
            json!({
                "verdict": verdict_name(entry.verdict),
                "callee": entry.callee,
                "reason": entry.reason,
                "location": {
                    "file": paths.show(&entry.at.file),
                    "line": entry.at.line,
                    "column": entry.at.column,
                    "function": entry.at.function,
                },
            })
        })
        .collect();
    let document = json!({ "version": crate::FORMAT_VERSION, "ledger": entries });
    let mut text = serde_json::to_string_pretty(&document).unwrap_or_default();
    text.push('\n');
    text
}
