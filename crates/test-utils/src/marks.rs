//! Marks in C and C++ sources: what does a comment say about its line?
//!
//! A mark is a comment that starts with one of these words, at the end of a line of code (`// …`) or
//! inside it (`/* … */`, for macro bodies):
//!
//! | mark | meaning |
//! |---|---|
//! | `LEAK` | a finding's first location must be here |
//! | `LEAK x2` | two findings here |
//! | `LEAK D003` | a finding here, of rule D003 |
//! | `LEAK[missed]: why` | a leak that is known not to be found; it fails when it is found |
//! | `OK[false-alarm]: why` | a report that is known to be wrong; it fails when it is gone |
//! | `LOST` | a finding must name this line as the place where memory is lost |
//!
//! `x2` and `D003` may follow any of the first four. Several marks of one line are separated by commas
//! or stand in comments of their own: `// LEAK, LOST`, `// LEAK // LOST`. A `:` starts an explanation
//! that goes to the end of the comment; known defects must have one. A comment that starts like a mark but isn't one is an error, so that a
//! misspelt mark can't go unnoticed.

use std::ops::Range;

/// What a mark says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Must be reported.
    Leak,
    /// Is a leak, known not to be reported.
    KnownMiss,
    /// Is no leak, known to be reported.
    KnownFalseAlarm,
    /// Memory is lost here.
    Lost,
}

/// One mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    pub kind: Kind,
    /// From 1.
    pub line: u32,
    /// Number of findings, 1 unless `xN` says otherwise.
    pub count: u32,
    pub rule: Option<String>,
    /// Bytes of the mark within its line, explanation included.
    pub span: Range<usize>,
}

/// A comment that starts like a mark but can't be read as one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: `{text}` is no mark: {why}")]
pub struct BadMark {
    pub line: u32,
    pub text: String,
    pub why: &'static str,
}

/// More findings than this at one line are taken for a misprint.
const MAX_COUNT: u32 = 99;

/// All marks of a source text, in order.
pub fn parse(text: &str) -> Result<Vec<Mark>, BadMark> {
    let mut marks = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        for comment in comments_with_marks(line) {
            parse_comment(line, number, comment, &mut marks)?;
        }
    }
    Ok(marks)
}

/// The insides of those comments of a line that start like a mark. A comment ends where the next such
/// comment begins.
fn comments_with_marks(line: &str) -> Vec<Range<usize>> {
    let mut comments: Vec<Range<usize>> = Vec::new();
    for (at, _) in line.match_indices('/') {
        let inside = at + 2;
        let end = match line.get(at..inside) {
            Some("//") => line.len(),
            Some("/*") => line[inside..].find("*/").map_or(line.len(), |n| inside + n),
            _ => continue,
        };
        let text = line[inside..end].trim_start();
        if starts_like_a_mark(text) {
            if let Some(previous) = comments.last_mut() {
                previous.end = previous.end.min(at);
            }
            comments.push(end - text.len()..end);
        }
    }
    comments
}

fn starts_like_a_mark(text: &str) -> bool {
    ["LEAK", "LOST", "OK["]
        .iter()
        .any(|word| text.starts_with(word))
}

fn parse_comment(
    line: &str,
    number: u32,
    comment: Range<usize>,
    marks: &mut Vec<Mark>,
) -> Result<(), BadMark> {
    let mut start = comment.start;
    while start < comment.end {
        let rest = &line[start..comment.end];
        let mark_end = rest.find([',', ':']).unwrap_or(rest.len());
        let has_why = rest[mark_end..].starts_with(':');
        let length = if has_why { rest.len() } else { mark_end };
        let bad = |why| BadMark {
            line: number,
            text: rest[..length].trim().to_owned(),
            why,
        };
        let (kind, count, rule) = parse_words(rest[..mark_end].trim()).map_err(bad)?;
        let why = rest[mark_end..length].trim_start_matches(':').trim();
        let is_known_defect = matches!(kind, Kind::KnownMiss | Kind::KnownFalseAlarm);
        if is_known_defect && why.is_empty() {
            return Err(bad("a known defect needs `: why`"));
        }
        let leading = rest.len() - rest.trim_start().len();
        let trailing = rest[..length].len() - rest[..length].trim_end().len();
        marks.push(Mark {
            kind,
            line: number,
            count,
            rule,
            span: start + leading..start + length - trailing,
        });
        start += length + 1;
    }
    Ok(())
}

type Words = (Kind, u32, Option<String>);

/// Reads `LEAK[missed] x2 D003`.
fn parse_words(text: &str) -> Result<Words, &'static str> {
    let mut words = text.split_whitespace();
    let kind = match words.next() {
        Some("LEAK") => Kind::Leak,
        Some("LEAK[missed]") => Kind::KnownMiss,
        Some("OK[false-alarm]") => Kind::KnownFalseAlarm,
        Some("LOST") => Kind::Lost,
        _ => return Err("expected LEAK, LEAK[missed], OK[false-alarm] or LOST"),
    };
    let (mut count, mut rule) = (1, None);
    for word in words {
        if kind == Kind::Lost {
            return Err("nothing but `: text` may follow LOST");
        } else if let Some(number) = word.strip_prefix('x') {
            let number = number.parse().ok();
            count = number
                .filter(|n| (2..=MAX_COUNT).contains(n))
                .ok_or("the count after x must be between 2 and 99")?;
        } else if is_rule(word) {
            rule = Some(word.to_owned());
        } else {
            return Err("expected xN, a rule such as D003, or `: text`");
        }
    }
    Ok((kind, count, rule))
}

fn is_rule(word: &str) -> bool {
    word.len() == 4 && word.starts_with('D') && word[1..].chars().all(|c| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(line: &str) -> (Kind, u32, Option<String>) {
        let marks = parse(line).unwrap();
        assert_eq!(marks.len(), 1, "{line}: {marks:?}");
        let mark = marks.into_iter().next().unwrap();
        (mark.kind, mark.count, mark.rule)
    }

    #[test]
    fn every_form_is_read() {
        let d3 = Some("D003".to_owned());
        assert_eq!(one("p = malloc(4); // LEAK"), (Kind::Leak, 1, None));
        assert_eq!(one("f(); // LEAK x2"), (Kind::Leak, 2, None));
        assert_eq!(one("f(); //LEAK D003"), (Kind::Leak, 1, d3.clone()));
        assert_eq!(
            one("f(); // LEAK x3 D003: both, and more"),
            (Kind::Leak, 3, d3)
        );
        assert_eq!(
            one("f(); // LEAK[missed]: loops, deep"),
            (Kind::KnownMiss, 1, None)
        );
        assert_eq!(
            one("f(); // OK[false-alarm]: why"),
            (Kind::KnownFalseAlarm, 1, None)
        );
        assert_eq!(one("p = 0; /* LOST */ \\"), (Kind::Lost, 1, None));
    }

    #[test]
    fn several_marks_share_a_comment_and_know_their_place() {
        let line = "p = q; // LEAK D001, LOST: here";
        let marks = parse(&format!("\n{line}\n")).unwrap();
        assert_eq!(marks.len(), 2);
        assert_eq!(&line[marks[0].span.clone()], "LEAK D001");
        assert_eq!(&line[marks[1].span.clone()], "LOST: here");
        assert_eq!((marks[0].line, marks[1].line), (2, 2));
    }

    #[test]
    fn several_comments_of_a_line_are_read() {
        let line = "p(); // LEAK[missed]: a // b // LOST";
        let marks = parse(line).unwrap();
        let texts: Vec<&str> = marks.iter().map(|m| &line[m.span.clone()]).collect();
        assert_eq!(texts, ["LEAK[missed]: a // b", "LOST"]);
        let kinds = parse("p(); /* LEAK */ q(); // LOST").unwrap();
        assert_eq!(kinds.len(), 2);
    }

    #[test]
    fn other_comments_are_no_marks() {
        for line in [
            "x = a / b; // fine",
            "/* a LEAK is marked elsewhere */",
            "// OK here",
            "char *LEAK = \"LEAK\";",
            "url = \"http://x\"; /",
        ] {
            assert_eq!(parse(line), Ok(vec![]), "{line}");
        }
    }

    #[test]
    fn misspelt_marks_are_errors() {
        for line in [
            "// LEAKS",
            "// LEAK[mised]: x",
            "// LEAK[missed]",
            "// LEAK[missed]: ",
            "// OK[false-alarm]",
            "// LEAK x1",
            "// LEAK xx",
            "// LEAK D3",
            "// LEAK here",
            "// LOST x2",
            "// LEAK, nothing",
        ] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
