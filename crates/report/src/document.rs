//! drip's own JSON, versioned: what `--output-format json` prints and what is kept of the last run.
//!
//! The types here are a copy of the engine's on purpose: the format is promised to users (docs/json.md) and must not
//! change when the engine's types do. Raise [`FORMAT_VERSION`] when a field is removed or changes its meaning.

use crate::{Coverage, Tally, parse_confidence, parse_rule, parse_verdict, verdict_name};
use drip_engines::{
    AllocationLink, Analysis, Finding, LedgerEntry, LostPoint, SourcePos, Statistics, Step,
    StepKind,
};
use serde::{Deserialize, Serialize};

/// Version of the format.
pub const FORMAT_VERSION: u32 = 1;

/// Why a document cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    #[error("not a drip result: {0}")]
    Json(#[from] serde_json::Error),
    #[error("written by another version of drip (format {0}, this one reads {FORMAT_VERSION})")]
    Version(u32),
    #[error("unknown {what} `{value}`")]
    Unknown { what: &'static str, value: String },
}

/// A whole result.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Document {
    pub version: u32,
    pub tool: Tool,
    pub findings: Vec<FindingRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ledger: Option<Vec<LedgerRecord>>,
    pub coverage: CoverageRecord,
    pub statistics: serde_json::Value,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Tool {
    pub name: String,
    pub version: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Place {
    pub file: String,
    pub line: u32,
    pub column: u32,
    pub function: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FindingRecord {
    pub id: String,
    pub rule: String,
    pub confidence: String,
    pub message: String,
    pub location: Place,
    pub variable: Option<String>,
    pub condition: Option<String>,
    pub family: String,
    pub allocation: Vec<AllocationRecord>,
    pub lost: Vec<LostRecord>,
    pub path: Vec<StepRecord>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AllocationRecord {
    pub callee: String,
    pub location: Place,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LostRecord {
    pub text: String,
    pub location: Place,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StepRecord {
    pub kind: String,
    pub text: String,
    pub location: Place,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LedgerRecord {
    pub verdict: String,
    pub callee: String,
    pub reason: String,
    pub location: Place,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct CoverageRecord {
    pub files_read: usize,
    pub files_total: usize,
    pub functions: usize,
    pub functions_limited: usize,
    #[serde(default)]
    pub functions_coarse: usize,
    pub functions_unreadable: usize,
    pub allocation_sites: usize,
    pub settled: usize,
    pub undecided: usize,
    pub suppressed: usize,
    pub in_baseline: usize,
    pub untouched: usize,
    pub deselected: usize,
    pub incomplete: bool,
    pub stopped: Option<String>,
}

impl Document {
    /// `show` turns the engine's file names into those of the document.
    pub fn new(
        analysis: &Analysis,
        coverage: &Coverage,
        with_ledger: bool,
        show: &dyn Fn(&str) -> String,
    ) -> Self {
        let entries = || analysis.ledger.iter().map(|e| ledger_record(e, show));
        Document {
            version: FORMAT_VERSION,
            tool: Tool {
                name: "drip".to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
            },
            findings: analysis
                .findings
                .iter()
                .map(|f| finding_record(f, show))
                .collect(),
            ledger: with_ledger.then(|| entries().collect()),
            coverage: coverage_record(analysis, coverage),
            statistics: serde_json::to_value(&analysis.statistics).unwrap_or_default(),
        }
    }

    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    pub fn parse(text: &str) -> Result<Self, DocumentError> {
        #[derive(Deserialize)]
        struct Head {
            version: u32,
        }
        let head: Head = serde_json::from_str(text)?;
        if head.version != FORMAT_VERSION {
            return Err(DocumentError::Version(head.version));
        }
        Ok(serde_json::from_str(text)?)
    }

    /// Back to the engine's types; the statistics stay behind, they are for reading only.
    pub fn into_analysis(self) -> Result<Analysis, DocumentError> {
        let findings = self.findings.into_iter().map(finding);
        let ledger = self.ledger.unwrap_or_default().into_iter().map(entry);
        Ok(Analysis {
            findings: findings.collect::<Result<_, _>>()?,
            ledger: ledger.collect::<Result<_, _>>()?,
            statistics: Statistics::default(),
        })
    }
}

fn place(at: &SourcePos, show: &dyn Fn(&str) -> String) -> Place {
    Place {
        file: show(&at.file),
        line: at.line,
        column: at.column,
        function: at.function.clone(),
    }
}

fn position(place: Place) -> SourcePos {
    SourcePos {
        file: place.file,
        line: place.line,
        column: place.column,
        function: place.function,
    }
}

fn finding_record(finding: &Finding, show: &dyn Fn(&str) -> String) -> FindingRecord {
    let allocation = finding.allocation.iter().map(|link| AllocationRecord {
        callee: link.callee.clone(),
        location: place(&link.at, show),
    });
    let lost = finding.lost.iter().map(|point| LostRecord {
        text: point.text.clone(),
        location: place(&point.at, show),
    });
    let path = finding.path.iter().map(|step| StepRecord {
        kind: step_name(step.kind).to_owned(),
        text: step.text.clone(),
        location: place(&step.at, show),
    });
    FindingRecord {
        id: finding.id.clone(),
        rule: finding.rule.code().to_owned(),
        confidence: crate::confidence_name(finding.confidence).to_owned(),
        message: finding.message.clone(),
        location: place(&finding.primary, show),
        variable: finding.variable.clone(),
        condition: finding.condition.clone(),
        family: finding.family.clone(),
        allocation: allocation.collect(),
        lost: lost.collect(),
        path: path.collect(),
    }
}

fn finding(record: FindingRecord) -> Result<Finding, DocumentError> {
    let rule = parse_rule(&record.rule).ok_or_else(|| unknown("rule", &record.rule))?;
    let confidence = parse_confidence(&record.confidence)
        .ok_or_else(|| unknown("confidence", &record.confidence))?;
    let allocation = record.allocation.into_iter().map(|link| AllocationLink {
        at: position(link.location),
        callee: link.callee,
    });
    let lost = record.lost.into_iter().map(|point| LostPoint {
        at: position(point.location),
        text: point.text,
    });
    let path = record.path.into_iter().map(|step| {
        let kind = STEP_KINDS.into_iter().find(|k| step_name(*k) == step.kind);
        Ok(Step {
            kind: kind.ok_or_else(|| unknown("step", &step.kind))?,
            at: position(step.location),
            text: step.text,
        })
    });
    Ok(Finding {
        id: record.id,
        rule,
        confidence,
        primary: position(record.location),
        variable: record.variable,
        message: record.message,
        allocation: allocation.collect(),
        lost: lost.collect(),
        path: path.collect::<Result<_, DocumentError>>()?,
        condition: record.condition,
        family: record.family,
    })
}

fn ledger_record(entry: &LedgerEntry, show: &dyn Fn(&str) -> String) -> LedgerRecord {
    LedgerRecord {
        verdict: verdict_name(entry.verdict).to_owned(),
        callee: entry.callee.clone(),
        reason: entry.reason.clone(),
        location: place(&entry.at, show),
    }
}

fn entry(record: LedgerRecord) -> Result<LedgerEntry, DocumentError> {
    Ok(LedgerEntry {
        at: position(record.location),
        callee: record.callee,
        verdict: parse_verdict(&record.verdict)
            .ok_or_else(|| unknown("verdict", &record.verdict))?,
        reason: record.reason,
    })
}

fn coverage_record(analysis: &Analysis, coverage: &Coverage) -> CoverageRecord {
    let tally = Tally::of(analysis);
    CoverageRecord {
        files_read: coverage.files_read,
        files_total: coverage.files_total,
        functions: coverage.functions,
        functions_limited: coverage.functions_limited,
        functions_coarse: coverage.functions_coarse,
        functions_unreadable: coverage.functions_unreadable,
        allocation_sites: tally.sites,
        settled: tally.settled,
        undecided: tally.undecided,
        suppressed: coverage.suppressed,
        in_baseline: coverage.in_baseline,
        untouched: coverage.untouched,
        deselected: coverage.deselected,
        incomplete: coverage.is_incomplete(),
        stopped: coverage.stopped.clone(),
    }
}

const STEP_KINDS: [StepKind; 4] = [
    StepKind::Allocation,
    StepKind::Branch,
    StepKind::Call,
    StepKind::Lost,
];

fn step_name(kind: StepKind) -> &'static str {
    match kind {
        StepKind::Allocation => "allocation",
        StepKind::Branch => "branch",
        StepKind::Call => "call",
        StepKind::Lost => "lost",
    }
}

fn unknown(what: &'static str, value: &str) -> DocumentError {
    DocumentError::Unknown {
        what,
        value: value.to_owned(),
    }
}
