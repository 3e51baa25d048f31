//! Which findings does the user want to see? By rule and by confidence.

use crate::rule_text;
use drip_engines::{Confidence, Finding, Rule};

/// Chosen rules and the least confidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    pub rules: Vec<Rule>,
    pub min_confidence: Confidence,
}

impl Selection {
    /// `select` replaces the rules that are on by default (`ALL`: every one), `ignore` takes away from either.
    pub fn new(
        select: &[String],
        ignore: &[String],
        min: Option<Confidence>,
    ) -> Result<Self, String> {
        let chosen = named(select)?;
        let refused = named(ignore)?;
        let on = |rule: &Rule| {
            if select.is_empty() {
                rule_text(*rule).on_by_default
            } else {
                chosen.contains(rule)
            }
        };
        let rules = Rule::ALL
            .into_iter()
            .filter(on)
            .filter(|rule| !refused.contains(rule))
            .collect();
        Ok(Selection {
            rules,
            min_confidence: min.unwrap_or(Confidence::Medium),
        })
    }

    pub fn accepts(&self, finding: &Finding) -> bool {
        self.rules.contains(&finding.rule) && finding.confidence >= self.min_confidence
    }
}

fn named(names: &[String]) -> Result<Vec<Rule>, String> {
    let mut rules = Vec::new();
    for name in names {
        if name.eq_ignore_ascii_case("all") {
            rules.extend(Rule::ALL);
            continue;
        }
        let rule = crate::parse_rule(name)
            .ok_or_else(|| format!("unknown rule `{name}`; the rules are D001 to D005 and ALL"))?;
        rules.push(rule);
    }
    Ok(rules)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn select(select: &[&str], ignore: &[&str]) -> Vec<&'static str> {
        let owned = |names: &[&str]| names.iter().map(|s| s.to_string()).collect::<Vec<_>>();
        let selection = Selection::new(&owned(select), &owned(ignore), None).unwrap();
        selection.rules.iter().map(|r| r.code()).collect()
    }

    #[test]
    fn the_fifth_rule_has_to_be_asked_for() {
        assert_eq!(select(&[], &[]), ["D001", "D002", "D003", "D004"]);
        assert_eq!(select(&["D005"], &["D001"]), ["D005"]);
        assert_eq!(
            select(&["all"], &["d005"]),
            ["D001", "D002", "D003", "D004"]
        );
    }

    #[test]
    fn unknown_rules_are_refused() {
        let error = Selection::new(&["D01".to_owned()], &[], None).unwrap_err();
        assert!(error.contains("`D01`"));
    }
}
