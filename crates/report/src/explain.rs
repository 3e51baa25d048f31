//! `drip explain`: what a rule means, and one finding told at length.

use crate::full::deallocator;
use crate::{FullOptions, Paths, Sources, full_one, rule_text};
use drip_engines::{Finding, Rule, StepKind};

pub fn explain_rule(rule: Rule) -> String {
    let text = rule_text(rule);
    let default = if text.on_by_default { "on" } else { "off" };
    format!(
        "{}: {} (CWE-401, {default} by default)\n\n{}\n\nLeaks:\n\n{}\n\nDoes not leak:\n\n{}\n\n{}\n\n\
         To silence one finding, write on or above the allocation or the losing line:\n\n    // drip: ignore[{}] reason\n",
        rule.code(),
        text.short,
        text.full,
        indented(text.bad),
        indented(text.good),
        text.advice,
        rule.code(),
    )
}

fn indented(code: &str) -> String {
    let lines: Vec<String> = code.lines().map(|line| format!("    {line}")).collect();
    lines.join("\n")
}

/// The report of one finding with every step, numbered.
pub fn explain_finding(
    finding: &Finding,
    paths: &Paths,
    sources: &dyn Sources,
    color: bool,
) -> String {
    let options = FullOptions {
        color,
        all_events: true,
    };
    let mut out = full_one(finding, paths, sources, options);
    out.push_str("\nThe path:\n");
    for (index, step) in finding.path.iter().enumerate() {
        out.push_str(&format!(
            "{:>4}. {}:{}: {}\n",
            index + 1,
            paths.show(&step.at.file),
            step.at.line,
            step.text
        ));
    }
    if finding.allocation.len() > 1 {
        out.push_str("\nWhere the memory comes from:\n");
        for link in &finding.allocation {
            out.push_str(&format!(
                "      {}:{}: `{}` calls `{}`\n",
                paths.show(&link.at.file),
                link.at.line,
                link.at.function,
                link.callee
            ));
        }
    }
    out.push_str("\nWhere it is lost:\n");
    for point in &finding.lost {
        out.push_str(&format!(
            "      {}:{}: in `{}`: {}\n",
            paths.show(&point.at.file),
            point.at.line,
            point.at.function,
            point.text.trim_start_matches("lost: ")
        ));
    }
    out.push_str(&summary(finding));
    out
}

/// When, how sure, and what to do.
fn summary(finding: &Finding) -> String {
    let has_branches = finding
        .path
        .iter()
        .any(|step| step.kind == StepKind::Branch);
    let when = match &finding.condition {
        Some(condition) => condition.as_str(),
        None if has_branches => "on the path above",
        None => "whenever the allocation succeeds",
    };
    let text = rule_text(finding.rule);
    let code = finding.rule.code();
    let released = match deallocator(finding) {
        Some(name) => format!(" Memory of this kind is released by `{name}`."),
        None => String::new(),
    };
    format!(
        "\nIt happens {when}. Confidence: {}.{released}\n\n{code}: {}. {}\n\n\
         To silence it, write above one of these lines:  // drip: ignore[{code}] reason\n",
        crate::confidence_name(finding.confidence),
        text.short,
        text.advice,
    )
}
