//! What was reported against what the marks say, for one program.
//!
//! Reports are matched to marks by file and line of their first location. At each line: every `LEAK`
//! must be met by a report (of its rule, if it names one); what is left over may be a known false alarm
//! or a known miss that is found now; anything else is an unannotated report.

use crate::marks::{Kind, Mark};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Component, Path, PathBuf};

/// One finding, as far as marks are concerned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reported {
    /// Of the first location. Any spelling that ends in the source's path or that it ends in.
    pub file: PathBuf,
    pub line: u32,
    /// `D001` …
    pub rule: String,
    /// Where memory is lost.
    pub lost_lines: Vec<SourceLine>,
}

/// A line of a source file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceLine {
    pub file: PathBuf,
    pub line: u32,
}

impl fmt::Display for SourceLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file.display(), self.line)
    }
}

/// A difference between marks and reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// A `LEAK` that was not reported.
    Missing {
        at: SourceLine,
        rule: Option<String>,
    },
    /// Reported where no mark allows it.
    Unexpected { at: SourceLine, rule: String },
    /// Reported where it must be, but as something else.
    WrongRule {
        at: SourceLine,
        expected: String,
        reported: String,
    },
    /// A `LEAK[missed]` that is found now: make it a `LEAK`.
    KnownMissFound { at: SourceLine },
    /// An `OK[false-alarm]` that is not reported any more: take the mark out.
    KnownFalseAlarmGone { at: SourceLine },
    /// A `LOST` line that no finding names.
    LostElsewhere { at: SourceLine },
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { at, rule: None } => write!(f, "{at}: leak not reported"),
            Self::Missing {
                at,
                rule: Some(rule),
            } => write!(f, "{at}: leak {rule} not reported"),
            Self::Unexpected { at, rule } => write!(f, "{at}: reported as {rule} without a mark"),
            Self::WrongRule {
                at,
                expected,
                reported,
            } => write!(f, "{at}: reported as {reported}, marked {expected}"),
            Self::KnownMissFound { at } => write!(
                f,
                "{at}: known miss is found now; make LEAK[missed] a LEAK (cargo xtask bless does it)"
            ),
            Self::KnownFalseAlarmGone { at } => write!(
                f,
                "{at}: known false alarm is gone; take OK[false-alarm] out (cargo xtask bless does it)"
            ),
            Self::LostElsewhere { at } => {
                write!(
                    f,
                    "{at}: no finding names this line as where memory is lost"
                )
            }
        }
    }
}

/// A source file with its marks.
pub(crate) struct MarkedFile {
    pub path: PathBuf,
    pub marks: Vec<Mark>,
}

/// All differences, by place.
pub(crate) fn compare(
    files: &[MarkedFile],
    reports: &[Reported],
    check_lost: bool,
) -> Vec<Mismatch> {
    let mut marks: BTreeMap<SourceLine, Vec<&Mark>> = BTreeMap::new();
    for file in files {
        for mark in &file.marks {
            let at = SourceLine {
                file: file.path.clone(),
                line: mark.line,
            };
            marks.entry(at).or_default().push(mark);
        }
    }
    let mut rules: BTreeMap<SourceLine, Vec<&str>> = BTreeMap::new();
    let mut lost = BTreeSet::new();
    for report in reports {
        let at = resolve(files, &report.file, report.line);
        rules.entry(at).or_default().push(&report.rule);
        let lines = report.lost_lines.iter();
        lost.extend(lines.map(|l| resolve(files, &l.file, l.line)));
    }
    let places: BTreeSet<SourceLine> = marks.keys().chain(rules.keys()).cloned().collect();
    let mut mismatches = Vec::new();
    for at in places {
        let here = marks.get(&at).map_or(&[][..], Vec::as_slice);
        let reported = rules.remove(&at).unwrap_or_default();
        compare_line(&at, here, reported, &mut mismatches);
        let is_lost = here.iter().any(|m| m.kind == Kind::Lost);
        if check_lost && is_lost && !lost.contains(&at) {
            mismatches.push(Mismatch::LostElsewhere { at });
        }
    }
    mismatches
}

/// The program's own name for a reported file; the reported one if it is none of the program's.
fn resolve(files: &[MarkedFile], reported: &Path, line: u32) -> SourceLine {
    let named = reported.components().filter(|&c| c != Component::CurDir);
    let plain: PathBuf = named.collect();
    let own = files
        .iter()
        .find(|f| f.path.ends_with(&plain) || plain.ends_with(&f.path));
    SourceLine {
        file: own.map_or(plain, |f| f.path.clone()),
        line,
    }
}

fn compare_line(at: &SourceLine, marks: &[&Mark], reported: Vec<&str>, out: &mut Vec<Mismatch>) {
    let of_kind = |kind: Kind| {
        let marks = marks.iter().filter(move |m| m.kind == kind);
        marks.flat_map(|m| std::iter::repeat_n(m.rule.as_deref(), m.count as usize))
    };
    let mut left = reported;
    // Marks that name a rule choose first.
    let mut unmet = Vec::new();
    let (named, plain): (Vec<_>, Vec<_>) = of_kind(Kind::Leak).partition(|rule| rule.is_some());
    for wanted in named.into_iter().flatten() {
        match left.iter().position(|&rule| rule == wanted) {
            Some(found) => drop(left.remove(found)),
            None => unmet.push(wanted),
        }
    }
    let met = plain.len().min(left.len());
    left.drain(..met);
    for _ in met..plain.len() {
        let (at, rule) = (at.clone(), None);
        out.push(Mismatch::Missing { at, rule });
    }
    for wanted in unmet {
        let (at, expected) = (at.clone(), wanted.to_owned());
        out.push(if left.is_empty() {
            let rule = Some(expected);
            Mismatch::Missing { at, rule }
        } else {
            let reported = left.remove(0).to_owned();
            Mismatch::WrongRule {
                at,
                expected,
                reported,
            }
        });
    }
    let known = |kind, left: &mut Vec<&str>| {
        let total = of_kind(kind).count();
        let seen = total.min(left.len());
        left.drain(..seen);
        (seen, total)
    };
    let (seen, total) = known(Kind::KnownFalseAlarm, &mut left);
    for _ in seen..total {
        out.push(Mismatch::KnownFalseAlarmGone { at: at.clone() });
    }
    let (found, _) = known(Kind::KnownMiss, &mut left);
    for _ in 0..found {
        out.push(Mismatch::KnownMissFound { at: at.clone() });
    }
    for rule in left {
        let (at, rule) = (at.clone(), rule.to_owned());
        out.push(Mismatch::Unexpected { at, rule });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marks;

    /// Compares a source with reports (line, rule, lost line or 0).
    fn differences(source: &str, reports: &[(u32, &str, u32)]) -> Vec<String> {
        let files = [MarkedFile {
            path: "/corpus/a.c".into(),
            marks: marks::parse(source).unwrap(),
        }];
        let reports: Vec<Reported> = reports
            .iter()
            .map(|&(line, rule, lost)| Reported {
                file: "./a.c".into(),
                line,
                rule: rule.to_owned(),
                lost_lines: vec![SourceLine {
                    file: "corpus/a.c".into(),
                    line: lost,
                }],
            })
            .collect();
        let found = compare(&files, &reports, true);
        let text = found.iter().map(|m| format!("{m:?}"));
        text.map(|t| t.split(' ').next().unwrap_or_default().to_owned())
            .collect()
    }

    const NONE: [&str; 0] = [];

    #[test]
    fn leaks_must_be_reported() {
        assert_eq!(differences("p(); // LEAK", &[(1, "D001", 0)]), NONE);
        assert_eq!(differences("p(); // LEAK", &[]), ["Missing"]);
        assert_eq!(
            differences("p(); // LEAK x2", &[(1, "D001", 0)]),
            ["Missing"]
        );
        assert_eq!(
            differences("p(); // LEAK\nq();", &[(2, "D001", 0)]),
            ["Missing", "Unexpected"]
        );
    }

    #[test]
    fn nothing_else_may_be_reported() {
        assert_eq!(differences("p();", &[(1, "D001", 0)]), ["Unexpected"]);
        let twice = [(1, "D001", 0), (1, "D001", 0)];
        assert_eq!(differences("p(); // LEAK", &twice), ["Unexpected"]);
        assert_eq!(differences("p(); // LEAK x2", &twice), NONE);
        assert_eq!(
            differences("p(); // LOST", &[(1, "D001", 1)]),
            ["Unexpected"]
        );
    }

    #[test]
    fn reports_in_other_files_are_unexpected() {
        let files = [MarkedFile {
            path: "/corpus/a.c".into(),
            marks: marks::parse("p(); // LEAK").unwrap(),
        }];
        let report = |file: &str| Reported {
            file: file.into(),
            line: 1,
            rule: "D001".into(),
            lost_lines: vec![],
        };
        assert_eq!(compare(&files, &[report("a.c")], true), []);
        assert_eq!(compare(&files, &[report("ba.c")], true).len(), 2);
        assert_eq!(compare(&files, &[report("other/a.c")], true).len(), 2);
    }

    #[test]
    fn rules_count_where_they_are_named() {
        let marked = "p(); // LEAK D003";
        assert_eq!(differences(marked, &[(1, "D003", 0)]), NONE);
        assert_eq!(differences(marked, &[(1, "D001", 0)]), ["WrongRule"]);
        assert_eq!(differences(marked, &[]), ["Missing"]);
        let both = "p(); // LEAK, LEAK D003";
        assert_eq!(differences(both, &[(1, "D003", 0), (1, "D001", 0)]), NONE);
        assert_eq!(
            differences(both, &[(1, "D002", 0), (1, "D001", 0)]),
            ["WrongRule"]
        );
    }

    #[test]
    fn known_defects_that_are_fixed_fail() {
        let miss = "p(); // LEAK[missed]: why";
        assert_eq!(differences(miss, &[]), NONE);
        assert_eq!(differences(miss, &[(1, "D001", 0)]), ["KnownMissFound"]);
        let alarm = "p(); // OK[false-alarm]: why";
        assert_eq!(differences(alarm, &[(1, "D001", 0)]), NONE);
        assert_eq!(differences(alarm, &[]), ["KnownFalseAlarmGone"]);
        assert_eq!(
            differences(alarm, &[(1, "D001", 0), (1, "D001", 0)]),
            ["Unexpected"]
        );
    }

    #[test]
    fn losing_lines_must_be_named_by_a_finding() {
        let source = "p(); // LEAK\np = 0; // LOST";
        assert_eq!(differences(source, &[(1, "D001", 2)]), NONE);
        assert_eq!(differences(source, &[(1, "D001", 1)]), ["LostElsewhere"]);
    }
}
