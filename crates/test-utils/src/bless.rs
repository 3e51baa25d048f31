//! Rewriting marks that became better: a known miss that is found now, a known false alarm that is
//! gone. Only whole marks are rewritten; `LEAK[missed] x2` of which one is found is left to a person.

use crate::compare::{MarkedFile, Mismatch, SourceLine};
use crate::marks::{Kind, Mark};
use std::io;
use std::path::Path;

/// Rewrites the files; returns the mismatches that are left.
pub(crate) fn bless(files: &[MarkedFile], mismatches: Vec<Mismatch>) -> io::Result<Vec<Mismatch>> {
    let mut left = mismatches.clone();
    for file in files {
        let solved = |mark: &Mark| {
            let at = SourceLine {
                file: file.path.clone(),
                line: mark.line,
            };
            let gone = match mark.kind {
                Kind::KnownMiss => Mismatch::KnownMissFound { at },
                Kind::KnownFalseAlarm => Mismatch::KnownFalseAlarmGone { at },
                Kind::Leak | Kind::Lost => return None,
            };
            let seen = mismatches.iter().filter(|m| **m == gone).count();
            (seen == mark.count as usize).then_some(gone)
        };
        let solved: Vec<(&Mark, Mismatch)> = file
            .marks
            .iter()
            .filter_map(|mark| solved(mark).map(|mismatch| (mark, mismatch)))
            .collect();
        if !solved.is_empty() {
            rewrite(&file.path, solved.iter().map(|(mark, _)| *mark))?;
            left.retain(|m| !solved.iter().any(|(_, gone)| gone == m));
        }
    }
    Ok(left)
}

fn rewrite<'a>(path: &Path, marks: impl Iterator<Item = &'a Mark>) -> io::Result<()> {
    let text = std::fs::read_to_string(path)?;
    let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    // Later marks of a line first, so that earlier places stay true.
    let mut marks: Vec<&Mark> = marks.collect();
    marks.sort_by_key(|m| std::cmp::Reverse((m.line, m.span.start)));
    for mark in marks {
        if let Some(line) = lines.get_mut(mark.line as usize - 1) {
            *line = rewritten(line, mark);
        }
    }
    std::fs::write(path, lines.join("\n"))
}

fn rewritten(line: &str, mark: &Mark) -> String {
    let (before, after) = (&line[..mark.span.start], &line[mark.span.end..]);
    if mark.kind == Kind::KnownMiss {
        let count = match mark.count {
            1 => String::new(),
            n => format!(" x{n}"),
        };
        let rule = mark
            .rule
            .as_ref()
            .map_or(String::new(), |r| format!(" {r}"));
        return format!("{before}LEAK{count}{rule}{after}");
    }
    let before = before.trim_end();
    let kept = before
        .strip_suffix(',')
        .or_else(|| before.strip_suffix("//"))
        .or_else(|| before.strip_suffix("/*"));
    let after = match before.ends_with("/*") {
        true => after.trim_start().trim_start_matches("*/"),
        false => after,
    };
    format!("{}{after}", kept.unwrap_or(before).trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marks;

    fn blessed(source: &str, make: fn(SourceLine) -> Mismatch) -> (String, usize) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.c");
        std::fs::write(&path, source).unwrap();
        let files = [MarkedFile {
            path: path.clone(),
            marks: marks::parse(source).unwrap(),
        }];
        let at = SourceLine {
            file: path.clone(),
            line: 2,
        };
        let left = bless(&files, vec![make(at)]).unwrap();
        (std::fs::read_to_string(&path).unwrap(), left.len())
    }

    #[test]
    fn found_misses_become_leaks() {
        let found = |at| Mismatch::KnownMissFound { at };
        let (text, left) = blessed("a;\nf(); // LEAK[missed] D003: deep, deep\nb;\n", found);
        assert_eq!((text.as_str(), left), ("a;\nf(); // LEAK D003\nb;\n", 0));
    }

    #[test]
    fn gone_false_alarms_lose_their_mark() {
        let gone = |at| Mismatch::KnownFalseAlarmGone { at };
        let (text, left) = blessed("a;\nf(); // OK[false-alarm]: why\n", gone);
        assert_eq!((text.as_str(), left), ("a;\nf();\n", 0));
        let (text, _) = blessed("a;\nf(); // LEAK, OK[false-alarm]: why\n", gone);
        assert_eq!(text, "a;\nf(); // LEAK\n");
        let (text, _) = blessed("a;\nf(); /* OK[false-alarm]: why */ \\\n", gone);
        assert_eq!(text, "a;\nf(); \\\n");
    }

    #[test]
    fn what_got_worse_or_is_half_solved_stays() {
        let source = "a;\nf(); // LEAK[missed] x2: why\n";
        let (text, left) = blessed(source, |at| Mismatch::KnownMissFound { at });
        assert_eq!((text.as_str(), left), (source, 1));
        let source = "a;\nf(); // LEAK\n";
        let (text, left) = blessed(source, |at| Mismatch::Missing { at, rule: None });
        assert_eq!((text.as_str(), left), (source, 1));
    }
}
