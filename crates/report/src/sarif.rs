//! SARIF 2.1.0, in the shape that GitHub code scanning takes.
//!
//! `locations[0]` is the allocation or handing-out call in the function that loses the memory; `relatedLocations` are
//! the allocation chain (messages start with "allocated") and the losing points (messages start with "lost"); `codeFlows` is the
//! path. The fingerprint comes from the finding's id, so it survives line shifts; a second finding of the same id in one run gets
//! another number after the colon.

use crate::{Coverage, Paths, Report, rule_text};
use drip_engines::{Confidence, Finding, LostPoint, Rule, SourcePos, Step};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
const ROOT_ID: &str = "%SRCROOT%";

/// GitHub reads at most this many results of a run; further ones are left out, the coverage notification says so.
const MAX_RESULTS: usize = 25_000;

/// Steps of one path; GitHub shows fewer. Of longer paths the middle is left out.
const MAX_STEPS: usize = 500;

/// Related locations of one result; GitHub reads at most 1,000.
const MAX_RELATED: usize = 500;

pub fn sarif(report: &Report<'_>) -> String {
    let findings = &report.analysis.findings;
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut results = Vec::new();
    for finding in findings.iter().take(MAX_RESULTS) {
        let count = seen.entry(&finding.id).or_insert(0);
        *count += 1;
        results.push(result(report.paths, finding, *count));
    }
    let mut run = json!({
        "tool": { "driver": driver() },
        "columnKind": "utf16CodeUnits",
        "results": results,
        "invocations": [invocation(report.coverage, findings.len())],
    });
    if let Some(root) = report.paths.root_uri() {
        run["originalUriBaseIds"] = json!({ ROOT_ID: { "uri": root } });
    }
    let log = json!({ "$schema": SCHEMA, "version": "2.1.0", "runs": [run] });
    let mut text = serde_json::to_string_pretty(&log).unwrap_or_default();
    text.push('\n');
    text
}

fn driver() -> Value {
    let rules: Vec<Value> = Rule::ALL.into_iter().map(rule).collect();
    json!({
        "name": "drip",
        "version": env!("CARGO_PKG_VERSION"),
        "semanticVersion": env!("CARGO_PKG_VERSION"),
        "rules": rules,
    })
}

fn rule(rule: Rule) -> Value {
    let text = rule_text(rule);
    let example = format!(
        "{}\n\n{}\n\nLeaks:\n\n{}\n\nDoes not leak:\n\n{}",
        text.full, text.advice, text.bad, text.good
    );
    let markdown = format!(
        "{}\n\n{}\n\nLeaks:\n\n```c\n{}\n```\n\nDoes not leak:\n\n```c\n{}\n```\n",
        text.full, text.advice, text.bad, text.good
    );
    json!({
        "id": rule.code(),
        "name": text.name,
        "shortDescription": { "text": text.short },
        "fullDescription": { "text": text.full },
        "help": { "text": example, "markdown": markdown },
        "defaultConfiguration": { "level": "warning", "enabled": text.on_by_default },
        "properties": {
            "tags": ["security", "reliability", "external/cwe/cwe-401"],
            "precision": "high",
            "security-severity": text.security_severity,
        },
    })
}

fn invocation(coverage: &Coverage, findings: usize) -> Value {
    let mut notes = Vec::new();
    if coverage.files_read < coverage.files_total {
        notes.push(format!(
            "{} of {} files could not be read",
            coverage.files_total - coverage.files_read,
            coverage.files_total
        ));
    }
    if let Some(reason) = &coverage.stopped {
        notes.push(format!("stopped early: {reason}"));
    }
    if findings > MAX_RESULTS {
        notes.push(format!("{} findings are left out", findings - MAX_RESULTS));
    }
    let notes: Vec<Value> = notes
        .into_iter()
        .map(|text| json!({ "level": "warning", "message": { "text": text } }))
        .collect();
    json!({
        "executionSuccessful": coverage.stopped.is_none(),
        "toolExecutionNotifications": notes,
    })
}

fn result(paths: &Paths, finding: &Finding, count: usize) -> Value {
    let level = match finding.confidence {
        Confidence::High => "error",
        Confidence::Medium => "warning",
        Confidence::Low => "note",
    };
    let rule_index = Rule::ALL.iter().position(|&r| r == finding.rule);
    let mut message = finding.message.clone();
    if let Some(condition) = &finding.condition {
        message.push_str(&format!(", {condition}"));
    }
    let mut result = json!({
        "ruleId": finding.rule.code(),
        "ruleIndex": rule_index,
        "level": level,
        "message": { "text": message },
        "locations": [location(paths, &finding.primary, None)],
        "relatedLocations": related(paths, finding),
        "partialFingerprints": {
            "primaryLocationLineHash": format!("{}:{count}", finding.id),
        },
        "properties": {
            "id": finding.id,
            "confidence": finding.confidence,
            "family": finding.family,
        },
    });
    if !finding.path.is_empty() {
        result["codeFlows"] = json!([code_flow(paths, &finding.path)]);
    }
    if let Some(variable) = &finding.variable {
        result["properties"]["variable"] = json!(variable);
    }
    if let Some(condition) = &finding.condition {
        result["properties"]["condition"] = json!(condition);
    }
    result
}

fn related(paths: &Paths, finding: &Finding) -> Vec<Value> {
    let allocated = finding.allocation.iter().map(|link| {
        let text = format!("allocated by `{}`", link.callee);
        (&link.at, text)
    });
    let lost = finding
        .lost
        .iter()
        .map(|point| (&point.at, lost_text(point)));
    allocated
        .chain(lost)
        .take(MAX_RELATED)
        .enumerate()
        .map(|(id, (at, text))| {
            let mut value = location(paths, at, Some(text));
            value["id"] = json!(id);
            value
        })
        .collect()
}

fn lost_text(point: &LostPoint) -> String {
    if point.text.starts_with("lost") {
        point.text.clone()
    } else {
        format!("lost: {}", point.text)
    }
}

fn location(paths: &Paths, at: &SourcePos, message: Option<String>) -> Value {
    let (uri, below_root) = paths.uri(&at.file);
    let mut artifact = json!({ "uri": uri });
    if below_root {
        artifact["uriBaseId"] = json!(ROOT_ID);
    }
    // Code without line information is put at the top of its file: GitHub wants a line.
    let mut region = json!({ "startLine": at.line.max(1) });
    if at.column > 0 {
        region["startColumn"] = json!(at.column);
    }
    let mut value = json!({
        "physicalLocation": { "artifactLocation": artifact, "region": region },
    });
    if !at.function.is_empty() {
        value["logicalLocations"] = json!([{ "name": at.function, "kind": "function" }]);
    }
    if let Some(text) = message {
        value["message"] = json!({ "text": text });
    }
    value
}

fn code_flow(paths: &Paths, path: &[Step]) -> Value {
    let half = MAX_STEPS / 2;
    let kept = path.iter().enumerate().filter(|(index, _)| {
        path.len() <= MAX_STEPS || *index < half || *index >= path.len() - half
    });
    let locations: Vec<Value> = kept
        .map(|(index, step)| {
            json!({
                "executionOrder": index + 1,
                "location": location(paths, &step.at, Some(step.text.clone())),
            })
        })
        .collect();
    json!({ "threadFlows": [{ "locations": locations }] })
}
