//! Question: how is what `main` still holds at its end told?
//!
//! For the exploration of `main` its variables hold what they hold when it returns: nothing is lost there. Whoever asks for it (rule D005) wants
//! to know all the same, of paths that can be taken; so such objects are followed a second time, as in any other function, and what
//! is lost by a return then was held until the end. What comes after it does not matter: nothing does.

use crate::finding::{Finding, Rule};

use super::causes::Caused;

/// What was lost because `main` returns.
pub(super) fn held_at_end(caused: Caused) -> Caused {
    let mut finding = caused.finding;
    finding.rule = Rule::D005;
    reword(&mut finding);
    Caused::plain(finding)
}

/// What the reporter says of losses.
fn reword(finding: &mut Finding) {
    let returns = |text: &str| {
        let gone = text.strip_prefix("lost: the function returns and ")?;
        let name = gone.split('`').nth(1)?;
        Some(format!("`main` returns while `{name}` still holds it"))
    };
    for point in &mut finding.lost {
        point.text = returns(&point.text).unwrap_or(std::mem::take(&mut point.text));
    }
    for step in &mut finding.path {
        step.text = returns(&step.text).unwrap_or(std::mem::take(&mut step.text));
    }
    for how in ["never freed", "not freed on some path"] {
        let now = "still held when the program ends";
        finding.message = finding
            .message
            .replace(&format!(" is {how}"), &format!(" is {now}"));
    }
}
