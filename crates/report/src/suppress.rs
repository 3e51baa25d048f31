//! Comments that silence findings: `// drip: ignore[D001] reason`.
//!
//! A comment counts for its own line and, if it stands alone on its line, for the next line that is not such a comment. It
//! silences findings whose allocation (or handing-out call) or losing point lies on that line. Without brackets it
//! means every rule. Comments that silence nothing are told, so that they don't outlive their reason.
//!
//! Known limit: the text is searched, not parsed; the marker inside a string literal counts, too.

use drip_engines::{Finding, Rule, SourcePos};
use std::collections::BTreeMap;

const MARKER: &str = "drip: ignore";

/// One comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suppression {
    /// Where it is written.
    pub line: u32,
    /// The code line it speaks of.
    pub target: u32,
    /// Empty: all rules.
    pub rules: Vec<Rule>,
    /// Names in the brackets that are no rules.
    pub unknown: Vec<String>,
    pub reason: String,
}

/// All comments of one file.
pub fn parse(text: &str) -> Vec<Suppression> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let Some((before, rest)) = comment(line) else {
            continue;
        };
        let alone = before.trim().is_empty();
        let target = if alone {
            let next = (index + 1..lines.len()).find(|&i| !is_comment_line(lines[i]));
            next.unwrap_or(index)
        } else {
            index
        };
        let (names, reason) = brackets(rest);
        let (mut rules, mut unknown) = (Vec::new(), Vec::new());
        for name in names {
            match crate::parse_rule(name) {
                Some(rule) => rules.push(rule),
                None => unknown.push(name.to_owned()),
            }
        }
        found.push(Suppression {
            line: number(index),
            target: number(target),
            rules,
            unknown,
            reason: reason.trim_end_matches("*/").trim().to_owned(),
        });
    }
    found
}

fn number(index: usize) -> u32 {
    u32::try_from(index + 1).unwrap_or(u32::MAX)
}

/// What stands before the comment's opening and after the marker.
fn comment(line: &str) -> Option<(&str, &str)> {
    let at = line.find(MARKER)?;
    let before = line[..at].trim_end();
    let opened = before
        .strip_suffix("//")
        .or_else(|| before.strip_suffix("/*"))?;
    Some((opened, &line[at + MARKER.len()..]))
}

fn is_comment_line(line: &str) -> bool {
    comment(line).is_some_and(|(before, _)| before.trim().is_empty())
}

fn brackets(rest: &str) -> (Vec<&str>, &str) {
    let inside = rest.strip_prefix('[').and_then(|r| r.split_once(']'));
    match inside {
        Some((names, reason)) => (
            names
                .split(',')
                .map(str::trim)
                .filter(|n| !n.is_empty())
                .collect(),
            reason,
        ),
        None => (Vec::new(), rest),
    }
}

/// A comment that silenced nothing, or that names something that is no rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Complaint {
    pub file: String,
    pub line: u32,
    pub text: String,
}

/// The comments of all files, and which of them were of use.
#[derive(Debug, Default)]
pub struct Suppressions {
    files: BTreeMap<String, Vec<(Suppression, bool)>>,
}

impl Suppressions {
    /// Adds the comments of one file, once.
    pub fn add_file(&mut self, file: &str, text: &str) {
        if !self.files.contains_key(file) {
            let parsed = parse(text).into_iter().map(|s| (s, false)).collect();
            self.files.insert(file.to_owned(), parsed);
        }
    }

    /// Is the finding silenced? Marks the comments that do it as used.
    pub fn silences(&mut self, finding: &Finding) -> bool {
        let mut silenced = false;
        let links = finding.allocation.iter().map(|link| &link.at);
        let lost = finding.lost.iter().map(|point| &point.at);
        for at in std::iter::once(&finding.primary).chain(links).chain(lost) {
            silenced |= self.silences_at(at, finding.rule);
        }
        silenced
    }

    fn silences_at(&mut self, at: &SourcePos, rule: Rule) -> bool {
        let mut silenced = false;
        for (comment, used) in self.files.get_mut(&at.file).into_iter().flatten() {
            let names_rule = comment.rules.contains(&rule)
                || (comment.rules.is_empty() && comment.unknown.is_empty());
            if names_rule && (comment.target == at.line || comment.line == at.line) {
                *used = true;
                silenced = true;
            }
        }
        silenced
    }

    /// Unused comments and unknown rule names. Comments on rules that are `not_run` are not judged.
    pub fn complaints(&self, run: &[Rule]) -> Vec<Complaint> {
        let mut found = Vec::new();
        for (file, comments) in &self.files {
            for (comment, used) in comments {
                let mut complain = |text: String| {
                    found.push(Complaint {
                        file: file.clone(),
                        line: comment.line,
                        text,
                    });
                };
                for name in &comment.unknown {
                    complain(format!("`{name}` is no rule"));
                }
                let judged = comment.rules.iter().all(|rule| run.contains(rule));
                if !used && judged && comment.unknown.is_empty() {
                    complain("this comment silences nothing".to_owned());
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "int f(void) {\n\
        // drip: ignore[D001] kept for the debugger\n\
        char *p = malloc(1);\n\
        q = malloc(2); /* drip: ignore */\n\
        \"drip: ignore\";\n\
        // drip: ignore[D002, D9]\n\
        // drip: ignore[D003]\n\
        return 0;\n}\n";

    #[test]
    fn comments_find_their_lines() {
        let found = parse(TEXT);
        let targets: Vec<_> = found.iter().map(|s| (s.line, s.target)).collect();
        assert_eq!(targets, [(2, 3), (4, 4), (6, 8), (7, 8)]);
        assert_eq!(found[0].rules, [Rule::D001]);
        assert_eq!(found[0].reason, "kept for the debugger");
        assert_eq!(found[1].reason, "");
        assert!(found[1].rules.is_empty());
        assert_eq!(found[2].unknown, ["D9"]);
    }

    #[test]
    fn the_last_line_may_be_a_comment() {
        assert_eq!(parse("// drip: ignore[D001]")[0].target, 1);
    }
}
