//! What the page shows, as JSON: texts that occur often are kept once and referred to by number.

use super::sources::{Excerpts, Part};
use crate::full::{deallocator, quoted};
use crate::spans::span;
use crate::{Report, Tally, confidence_name, coverage_line, rule_text, verdict_name};
use drip_engines::{Finding, LedgerEntry, Rule, SourcePos, StepKind};
use serde::Serialize;
use std::collections::BTreeMap;

/// Characters of a code line in the ledger; the rest is cut.
const MAX_LEDGER_CODE: usize = 120;

#[derive(Serialize)]
pub struct Page {
    project: String,
    version: &'static str,
    line: String,
    rules: Vec<RuleRecord>,
    tiles: Tiles,
    findings: Vec<FindingRecord>,
    ledger: Ledger,
    files: Vec<String>,
    /// By file, in the order of `files`; null where the source could not be had or nothing of it is shown.
    sources: Vec<Option<Vec<Part>>>,
}

#[derive(Serialize)]
struct RuleRecord {
    code: &'static str,
    short: &'static str,
    full: &'static str,
    advice: &'static str,
    bad: &'static str,
    good: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tiles {
    sites: usize,
    settled: usize,
    undecided: usize,
    functions: usize,
    limited: usize,
    files_read: usize,
    files_total: usize,
    suppressed: usize,
    baseline: usize,
    untouched: usize,
    deselected: usize,
}

#[derive(Serialize)]
struct FindingRecord {
    id: String,
    rule: &'static str,
    confidence: &'static str,
    message: String,
    function: String,
    file: usize,
    line: u32,
    column: u32,
    variable: Option<String>,
    condition: Option<String>,
    release: Option<String>,
    steps: Vec<Place>,
    /// Losing points that are not on the shown path.
    lost: Vec<Place>,
    /// The allocation chain below the call in the losing function.
    chain: Vec<Place>,
}

/// Kind, file, line, marked columns from and to (UTF-16 code units from 0; equal: none), function, text.
#[derive(Serialize)]
struct Place(&'static str, usize, u32, usize, usize, String, String);

#[derive(Serialize)]
struct Ledger {
    functions: Vec<String>,
    callees: Vec<String>,
    reasons: Vec<String>,
    verdicts: Vec<String>,
    rows: Vec<Row>,
}

/// File, line, column, function, callee, verdict, reason, code.
#[derive(Serialize)]
struct Row(usize, u32, u32, usize, usize, usize, usize, String);

/// Texts and their numbers, in the order of their first use.
#[derive(Default)]
struct Table {
    texts: Vec<String>,
    numbers: BTreeMap<String, usize>,
}

impl Table {
    fn number(&mut self, text: &str) -> usize {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        let number = self.texts.len();
        self.texts.push(text.to_owned());
        self.numbers.insert(text.to_owned(), number);
        number
    }
}

/// Collects files and excerpts while the records are made.
struct Builder<'r> {
    /// Names as the engine has them.
    files: Table,
    excerpts: Excerpts<'r>,
}

impl Page {
    pub fn new(report: &Report<'_>) -> Page {
        let mut builder = Builder {
            files: Table::default(),
            excerpts: Excerpts::new(report.sources),
        };
        let findings = report.analysis.findings.iter();
        let findings = findings.map(|f| builder.finding(f)).collect();
        let ledger = builder.ledger(&report.analysis.ledger);
        let excerpts = builder.excerpts.finish();
        let mut line = coverage_line(report.analysis, report.coverage);
        if excerpts.left_out > 0 {
            let count = excerpts.left_out;
            line.push_str(&format!("; the source of {count} places is left out"));
        }
        let mut parts = excerpts.parts;
        let texts = &builder.files.texts;
        Page {
            project: report.paths.project().to_owned(),
            version: env!("CARGO_PKG_VERSION"),
            line,
            rules: Rule::ALL.into_iter().map(rule).collect(),
            tiles: tiles(report),
            findings,
            ledger,
            files: texts.iter().map(|file| report.paths.show(file)).collect(),
            sources: texts.iter().map(|file| parts.remove(file)).collect(),
        }
    }
}

impl Builder<'_> {
    fn finding(&mut self, finding: &Finding) -> FindingRecord {
        let steps: Vec<Place> = finding
            .path
            .iter()
            .map(|step| self.place(kind(step.kind), &step.at, step.text.clone()))
            .collect();
        let on_path = |at: &SourcePos| finding.path.iter().any(|step| step.at == *at);
        let others = finding.lost.iter().filter(|point| !on_path(&point.at));
        let lost = others
            .map(|point| self.place("lost", &point.at, point.text.clone()))
            .collect();
        let chain = finding.allocation.windows(2).map(|pair| {
            let text = format!(
                "{} gets it from {}",
                quoted(&pair[0].callee),
                quoted(&pair[1].callee)
            );
            self.place("from", &pair[1].at, text)
        });
        FindingRecord {
            chain: chain.collect(),
            id: finding.id.clone(),
            rule: finding.rule.code(),
            confidence: confidence_name(finding.confidence),
            message: finding.message.clone(),
            function: finding.primary.function.clone(),
            file: self.files.number(&finding.primary.file),
            line: finding.primary.line,
            column: finding.primary.column,
            variable: finding.variable.clone(),
            condition: finding.condition.clone(),
            release: deallocator(finding).map(str::to_owned),
            steps,
            lost,
        }
    }

    fn place(&mut self, kind: &'static str, at: &SourcePos, text: String) -> Place {
        let file = self.files.number(&at.file);
        let line = self.excerpts.keep(&at.file, at.line);
        let (from, to) = line.map_or((0, 0), |line| {
            let marked = span(&line, at.column);
            let units = |end: usize| line[..end].encode_utf16().count();
            (units(marked.start), units(marked.end))
        });
        Place(kind, file, at.line, from, to, at.function.clone(), text)
    }

    fn ledger(&mut self, entries: &[LedgerEntry]) -> Ledger {
        let [mut functions, mut callees, mut reasons, mut verdicts] =
            std::array::from_fn(|_| Table::default());
        let mut rows = Vec::with_capacity(entries.len());
        for entry in entries {
            let line = self.excerpts.line(&entry.at.file, entry.at.line);
            let code: String = line
                .unwrap_or_default()
                .trim()
                .chars()
                .take(MAX_LEDGER_CODE)
                .collect();
            rows.push(Row(
                self.files.number(&entry.at.file),
                entry.at.line,
                entry.at.column,
                functions.number(&entry.at.function),
                callees.number(&entry.callee),
                verdicts.number(verdict_name(entry.verdict)),
                reasons.number(&entry.reason),
                code,
            ));
        }
        Ledger {
            functions: functions.texts,
            callees: callees.texts,
            reasons: reasons.texts,
            verdicts: verdicts.texts,
            rows,
        }
    }
}

fn kind(kind: StepKind) -> &'static str {
    match kind {
        StepKind::Allocation => "allocation",
        StepKind::Branch => "branch",
        StepKind::Call => "call",
        StepKind::Lost => "lost",
    }
}

fn rule(rule: Rule) -> RuleRecord {
    let text = rule_text(rule);
    RuleRecord {
        code: rule.code(),
        short: text.short,
        full: text.full,
        advice: text.advice,
        bad: text.bad,
        good: text.good,
    }
}

fn tiles(report: &Report<'_>) -> Tiles {
    let tally = Tally::of(report.analysis);
    let coverage = report.coverage;
    Tiles {
        sites: tally.sites,
        settled: tally.settled,
        undecided: tally.undecided,
        functions: coverage.functions,
        limited: coverage.functions_limited,
        files_read: coverage.files_read,
        files_total: coverage.files_total,
        suppressed: coverage.suppressed,
        baseline: coverage.in_baseline,
        untouched: coverage.untouched,
        deselected: coverage.deselected,
    }
}
