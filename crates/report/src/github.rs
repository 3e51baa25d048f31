//! Workflow commands that GitHub Actions turns into annotations on the changed files.

use crate::Report;
use drip_engines::Confidence;

pub fn github(report: &Report<'_>) -> String {
    let mut out = String::new();
    for finding in &report.analysis.findings {
        let level = match finding.confidence {
            Confidence::High => "error",
            Confidence::Medium | Confidence::Low => "warning",
        };
        let mut text = finding.message.clone();
        for lost in &finding.lost {
            let file = report.paths.show(&lost.at.file);
            text.push_str(&format!("\n{file}:{}: {}", lost.at.line, lost.text));
        }
        if let Some(condition) = &finding.condition {
            text.push_str(&format!("\n{condition}"));
        }
        out.push_str(&format!(
            "::{level} file={},line={},col={},title={}::{}\n",
            property(&report.paths.show(&finding.primary.file)),
            finding.primary.line.max(1),
            finding.primary.column.max(1),
            property(&format!("{} {}", finding.rule.code(), finding.rule.title())),
            data(&text),
        ));
    }
    out
}

fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_with_a_meaning_are_escaped() {
        assert_eq!(data("100%\na"), "100%25%0Aa");
        assert_eq!(property("a,b:c"), "a%2Cb%3Ac");
    }
}
