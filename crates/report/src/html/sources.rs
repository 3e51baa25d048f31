//! Which lines of which files does the page need? Those around every place of a finding, joined where they meet.

use crate::Sources;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Lines kept before and after each place; the page shows as many.
const CONTEXT_LINES: u32 = 12;

/// Lines kept in all. Beyond it places are shown without their source, and the page says so.
const MAX_LINES: usize = 300_000;

/// Characters of a line; the rest is cut, which only concerns generated code.
const MAX_LINE_CHARS: usize = 400;

/// First line, whether it starts inside of a block comment (1 or 0), lines.
#[derive(Debug, Serialize)]
pub struct Part(u32, u8, Vec<String>);

/// A file that was asked for.
struct Text {
    text: Arc<str>,
    /// Byte offsets of the lines' starts.
    starts: Vec<usize>,
    wanted: BTreeSet<u32>,
}

pub struct Excerpts<'s> {
    sources: &'s dyn Sources,
    files: BTreeMap<String, Option<Text>>,
    left_out: usize,
    kept: usize,
}

pub struct Finished {
    pub parts: BTreeMap<String, Vec<Part>>,
    /// Places without source because of the limit.
    pub left_out: usize,
}

impl<'s> Excerpts<'s> {
    pub fn new(sources: &'s dyn Sources) -> Self {
        Excerpts {
            sources,
            files: BTreeMap::new(),
            left_out: 0,
            kept: 0,
        }
    }

    fn file(&mut self, file: &str) -> Option<&mut Text> {
        if !self.files.contains_key(file) {
            let text = self.sources.text(file).map(|text| Text {
                starts: line_starts(&text),
                text,
                wanted: BTreeSet::new(),
            });
            self.files.insert(file.to_owned(), text);
        }
        self.files.get_mut(file)?.as_mut()
    }

    /// The text of a line.
    pub fn line(&mut self, file: &str, line: u32) -> Option<String> {
        self.file(file)?.line(line).map(cut)
    }

    /// Keeps the lines around this one, and returns it.
    pub fn keep(&mut self, file: &str, line: u32) -> Option<String> {
        let is_full = self.kept >= MAX_LINES;
        let text = self.file(file)?;
        let found = text.line(line).map(cut)?;
        if is_full {
            self.left_out += 1;
            return Some(found);
        }
        let last = u32::try_from(text.starts.len()).unwrap_or(u32::MAX);
        let from = line.saturating_sub(CONTEXT_LINES).max(1);
        let to = line.saturating_add(CONTEXT_LINES).min(last);
        let before = text.wanted.len();
        text.wanted.extend(from..=to);
        let added = text.wanted.len() - before;
        self.kept += added;
        Some(found)
    }

    pub fn finish(self) -> Finished {
        let parts = self.files.into_iter().filter_map(|(name, text)| {
            let parts = text?.parts();
            (!parts.is_empty()).then_some((name, parts))
        });
        Finished {
            parts: parts.collect(),
            left_out: self.left_out,
        }
    }
}

impl Text {
    fn line(&self, line: u32) -> Option<&str> {
        let index = usize::try_from(line.checked_sub(1)?).ok()?;
        let start = *self.starts.get(index)?;
        self.text.get(start..)?.lines().next().or(Some(""))
    }

    fn parts(&self) -> Vec<Part> {
        let mut parts: Vec<Part> = Vec::new();
        let mut comment = Comments::default();
        let mut next = 1;
        for &line in &self.wanted {
            let text = cut(self.line(line).unwrap_or_default());
            match parts.last_mut() {
                Some(Part(first, _, lines)) if *first as usize + lines.len() == line as usize => {
                    lines.push(text);
                }
                _ => {
                    let skipped = (next..line).filter_map(|line| self.line(line));
                    skipped.for_each(|line| comment.pass(line));
                    next = line;
                    parts.push(Part(line, u8::from(comment.is_open), vec![text]));
                }
            }
        }
        parts
    }
}

fn line_starts(text: &str) -> Vec<usize> {
    let ends = text.match_indices('\n').map(|(at, _)| at + 1);
    let mut starts: Vec<usize> = std::iter::once(0).chain(ends).collect();
    // What follows the last line break is no line if it is empty.
    if starts.last() == Some(&text.len()) {
        starts.pop();
    }
    starts
}

fn cut(line: &str) -> String {
    match line.char_indices().nth(MAX_LINE_CHARS) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    }
}

/// Follows block comments from line to line.
#[derive(Default)]
struct Comments {
    is_open: bool,
}

impl Comments {
    fn pass(&mut self, line: &str) {
        let mut rest = line;
        loop {
            if self.is_open {
                let Some((_, after)) = rest.split_once("*/") else {
                    return;
                };
                rest = after;
                self.is_open = false;
            }
            let Some(at) = rest.find(['/', '"', '\'']) else {
                return;
            };
            let found = &rest[at..];
            if found.starts_with("//") {
                return;
            }
            if let Some(inside) = found.strip_prefix("/*") {
                self.is_open = true;
                rest = inside;
                continue;
            }
            rest = match found.chars().next() {
                Some(quote @ ('"' | '\'')) => after_literal(&found[1..], quote),
                _ => &found[1..],
            };
        }
    }
}

/// What follows the closing quote.
fn after_literal(text: &str, quote: char) -> &str {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return &text[at + 1..],
            _ => {}
        }
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::*;

    struct One(String);

    impl Sources for One {
        fn text(&self, file: &str) -> Option<Arc<str>> {
            (file == "a.c").then(|| self.0.as_str().into())
        }
    }

    #[test]
    fn parts_that_meet_are_one() {
        let source = One((1..=100).map(|n| format!("line {n}\n")).collect());
        let mut excerpts = Excerpts::new(&source);
        assert_eq!(excerpts.keep("a.c", 20).as_deref(), Some("line 20"));
        assert_eq!(excerpts.keep("a.c", 40).as_deref(), Some("line 40"));
        assert_eq!(excerpts.keep("a.c", 99).as_deref(), Some("line 99"));
        assert_eq!(excerpts.keep("a.c", 101), None);
        assert_eq!(excerpts.keep("a.c", 0), None);
        assert_eq!(excerpts.keep("b.c", 1), None);
        let finished = excerpts.finish();
        let ranges: Vec<(u32, usize)> = finished.parts["a.c"]
            .iter()
            .map(|Part(first, _, lines)| (*first, lines.len()))
            .collect();
        assert_eq!(ranges, [(8, 45), (87, 14)]);
    }

    #[test]
    fn comments_are_followed_past_literals() {
        let open_after = |text: &str| {
            let mut comments = Comments::default();
            text.lines().for_each(|line| comments.pass(line));
            comments.is_open
        };
        assert!(open_after("a /* b\n c"));
        assert!(!open_after("a /* b\n c */ d"));
        assert!(!open_after("char *s = \"/*\"; // /*"));
        assert!(!open_after("'\"' '/*'"));
        assert!(open_after("\"a\\\"\" /*"));
        assert!(!open_after("a / b"));
    }
}
