//! One line per finding, as compilers print them: `file:line:column: D002 message [id]`.

use crate::Report;

pub fn concise(report: &Report<'_>) -> String {
    let mut out = String::new();
    for finding in &report.analysis.findings {
        let at = &finding.primary;
        out.push_str(&format!(
            "{}:{}:{}: {} {} in `{}` [{}]\n",
            report.paths.show(&at.file),
            at.line,
            at.column.max(1),
            finding.rule.code(),
            finding.message,
            at.function,
            finding.id,
        ));
    }
    out
}
