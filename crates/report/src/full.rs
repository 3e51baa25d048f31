//! The terminal report: per finding a headline, source excerpts with the events of the path, the condition, and what to type next.
//!
//! Excerpts are made by `annotate-snippets`, one per file, the file of the finding first. Where a source cannot be had, or has
//! changed so that the line is gone, its events are plain notes; a report never fails for want of a source.

use crate::{Paths, Report, Sources};
use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};
use drip_engines::{Confidence, Finding, Rule, SourcePos, StepKind};
use std::ops::Range;
use std::sync::Arc;

/// Events in one excerpt; a longer path is told in full by `drip explain ID`.
const MAX_EVENTS: usize = 12;

/// Lines between the first and the last event of an excerpt; files with events further apart are shown in several.
const MAX_SPREAD: u32 = 2_000;

/// How the report looks.
#[derive(Clone, Copy, Debug, Default)]
pub struct FullOptions {
    pub color: bool,
    /// Every event, however many.
    pub all_events: bool,
}

pub fn full(report: &Report<'_>, options: FullOptions) -> String {
    let mut out = String::new();
    for finding in &report.analysis.findings {
        out.push_str(&full_one(finding, report.paths, report.sources, options));
        out.push('\n');
    }
    out
}

/// One finding.
pub fn full_one(
    finding: &Finding,
    paths: &Paths,
    sources: &dyn Sources,
    options: FullOptions,
) -> String {
    let (events, left_out) = events(finding, options.all_events);
    let excerpts = excerpts(&events, paths, sources);
    let level = match finding.confidence {
        Confidence::High => Level::ERROR,
        Confidence::Medium | Confidence::Low => Level::WARNING,
    };
    let function = &finding.primary.function;
    let headline = if function.is_empty() {
        finding.message.clone()
    } else {
        format!("{}, in `{function}`", finding.message)
    };
    let mut group = Group::with_title(level.primary_title(headline).id(finding.rule.code()));
    for excerpt in &excerpts {
        group = match excerpt {
            Excerpt::Source(shown) => group.element(shown.snippet()),
            Excerpt::Note(text) => group.element(Level::NOTE.message(text.as_str())),
        };
    }
    for note in notes(finding, left_out) {
        group = group.element(Level::NOTE.message(note));
    }
    group = group.element(Level::HELP.message(next_step(finding)));
    let renderer = if options.color {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    let mut text = renderer.render(&[group]);
    text.push('\n');
    text
}

fn notes(finding: &Finding, left_out: usize) -> Vec<String> {
    let mut notes = Vec::new();
    if left_out > 0 {
        notes.push(format!("{left_out} more steps are not shown"));
    }
    if let Some(condition) = &finding.condition {
        notes.push(format!("happens {condition}"));
    }
    if finding.confidence != Confidence::High {
        let name = crate::confidence_name(finding.confidence);
        notes.push(format!("confidence: {name}"));
    }
    notes
}

fn next_step(finding: &Finding) -> String {
    let id = &finding.id;
    let how = match (finding.rule, deallocator(&finding.family)) {
        (Rule::D005, _) => String::new(),
        (_, name) => format!("memory of this kind is released by `{name}`; "),
    };
    format!("{how}more: drip explain {id}")
}

/// The function or operator that belongs to a family. Families of projects are named by their deallocator.
pub(crate) fn deallocator(family: &str) -> &str {
    match family {
        "malloc" | "" => "free",
        "new" => "delete",
        "new[]" => "delete[]",
        other => other,
    }
}

/// Something that happens at a place.
struct Event {
    at: SourcePos,
    text: String,
    primary: bool,
}

/// Events in the order of the path, then what else belongs to the finding; places told twice are told once.
fn events(finding: &Finding, all: bool) -> (Vec<Event>, usize) {
    let mut events: Vec<Event> = Vec::new();
    let mut push = |at: &SourcePos, text: String, primary: bool| {
        let known = events
            .iter_mut()
            .find(|e| e.at.file == at.file && (e.at.line, e.at.column) == (at.line, at.column));
        match known {
            Some(event) if event.text.split("; ").any(|known| known == text) => {}
            Some(event) => event.text = format!("{}; {text}", event.text),
            None => events.push(Event {
                at: at.clone(),
                text,
                primary,
            }),
        }
    };
    let callee = finding.allocation.first().map(|link| &link.callee);
    let allocated = callee.map_or("allocated here".to_owned(), |callee| {
        format!("allocated here by `{callee}`")
    });
    push(&finding.primary, allocated, true);
    for pair in finding.allocation.windows(2) {
        let text = format!(
            "`{}` allocates it here by `{}`",
            pair[0].callee, pair[1].callee
        );
        push(&pair[1].at, text, false);
    }
    for step in &finding.path {
        if step.kind != StepKind::Allocation {
            push(&step.at, step.text.clone(), false);
        }
    }
    for point in &finding.lost {
        push(&point.at, point.text.clone(), false);
    }
    let left_out = if all {
        0
    } else {
        events.len().saturating_sub(MAX_EVENTS)
    };
    if left_out > 0 {
        // The ends of a path tell more than its middle.
        let half = MAX_EVENTS / 2;
        events.drain(half..half + left_out);
    }
    (events, left_out)
}

enum Excerpt {
    Source(Shown),
    Note(String),
}

/// A part of a file with marked places, owned so that the renderer can borrow it.
struct Shown {
    path: String,
    text: String,
    line_start: usize,
    marks: Vec<(Range<usize>, String, bool)>,
}

impl Shown {
    fn snippet(&self) -> Snippet<'_, Annotation<'_>> {
        let marks = self.marks.iter().map(|(span, text, primary)| {
            let kind = if *primary {
                AnnotationKind::Primary
            } else {
                AnnotationKind::Context
            };
            kind.span(span.clone()).label(text.as_str())
        });
        Snippet::source(self.text.as_str())
            .line_start(self.line_start)
            .path(self.path.as_str())
            .fold(true)
            .annotations(marks)
    }
}

fn excerpts(events: &[Event], paths: &Paths, sources: &dyn Sources) -> Vec<Excerpt> {
    let mut clusters: Vec<Vec<&Event>> = Vec::new();
    for event in events {
        let near = |other: &&Event| {
            other.at.file == event.at.file && other.at.line.abs_diff(event.at.line) <= MAX_SPREAD
        };
        match clusters
            .iter_mut()
            .find(|cluster| cluster.first().is_some_and(near))
        {
            Some(cluster) => cluster.push(event),
            None => clusters.push(vec![event]),
        }
    }
    let mut found = Vec::new();
    for cluster in clusters {
        let text = cluster.first().and_then(|e| sources.text(&e.at.file));
        let (inside, outside): (Vec<&Event>, Vec<&Event>) = cluster
            .into_iter()
            .partition(|event| line_of(text.as_ref(), event.at.line).is_some());
        if let Some(text) = text
            && let Some(shown) = excerpt(&inside, &text, paths)
        {
            found.push(Excerpt::Source(shown));
        }
        found.extend(outside.into_iter().map(|event| {
            let file = paths.show(&event.at.file);
            Excerpt::Note(format!("{file}:{}: {}", event.at.line, event.text))
        }));
    }
    found
}

fn line_of(text: Option<&Arc<str>>, line: u32) -> Option<&str> {
    let index = usize::try_from(line.checked_sub(1)?).ok()?;
    text?.lines().nth(index)
}

/// The lines from the first to the last event.
fn excerpt(events: &[&Event], text: &str, paths: &Paths) -> Option<Shown> {
    let first = events.iter().map(|e| e.at.line).min()?;
    let last = events.iter().map(|e| e.at.line).max()?;
    let mut shown = Shown {
        path: paths.show(&events.first()?.at.file),
        text: String::new(),
        line_start: first as usize,
        marks: Vec::new(),
    };
    let count = (last - first + 1) as usize;
    for (line, content) in (first..).zip(text.lines().skip(first as usize - 1).take(count)) {
        for event in events.iter().filter(|e| e.at.line == line) {
            let span = span(content, event.at.column);
            let base = shown.text.len();
            shown.marks.push((
                base + span.start..base + span.end,
                event.text.clone(),
                event.primary,
            ));
        }
        shown.text.push_str(content);
        shown.text.push('\n');
    }
    Some(shown)
}

/// Bytes of a line to mark, given the column that the debug information has (bytes from 1; 0 is unknown).
fn span(line: &str, column: u32) -> Range<usize> {
    let statement = statement(line);
    let start = match usize::try_from(column) {
        Ok(column) if column > 0 && line.is_char_boundary(column - 1) && column <= line.len() => {
            column - 1
        }
        _ => return statement,
    };
    let rest = &line[start..];
    let word = rest
        .find(|c: char| !(c.is_alphanumeric() || c == '_'))
        .unwrap_or(rest.len());
    if word == 0 {
        // An operator or a brace: `p = NULL` has its place at the `=`.
        let is_brace = rest.starts_with(['{', '}']);
        return if is_brace {
            start..start + 1
        } else {
            statement
        };
    }
    if rest.starts_with("return") {
        return start..statement.end.max(start + word);
    }
    let after = rest[word..].trim_start();
    let mut end = start + word;
    if after.starts_with('(') {
        let open = line.len() - after.len();
        end = closing(line, open).unwrap_or(end);
    }
    start..end
}

/// Byte after the parenthesis that closes the one at `open`, if it is on the same line.
fn closing(line: &str, open: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (at, c) in line[open..].char_indices() {
        match c {
            '(' => depth += 1,
            ')' => {
                depth -= 1;
                if depth == 0 {
                    return Some(open + at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// The line without indentation, trailing comment, semicolon and opening brace.
fn statement(line: &str) -> Range<usize> {
    let start = line.len() - line.trim_start().len();
    let code = line[start..].find("//").map_or(line.len(), |at| start + at);
    let end = line[..code]
        .trim_end()
        .trim_end_matches([';', '{', ' '])
        .len();
    start..end.max(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(line: &str, column: u32) -> &str {
        &line[span(line, column)]
    }

    #[test]
    fn spans_cover_calls_and_statements() {
        assert_eq!(marked("    p = malloc(f(1), 2);", 9), "malloc(f(1), 2)");
        assert_eq!(marked("    p = NULL; // gone", 7), "p = NULL");
        assert_eq!(marked("    if (x > 3)", 5), "if (x > 3)");
        assert_eq!(marked("  return -1;", 3), "return -1");
        assert_eq!(marked("}", 1), "}");
        assert_eq!(marked("    if (!ok) {", 9), "if (!ok)");
        assert_eq!(marked("  f(a,", 3), "f");
        assert_eq!(marked("  x = y;", 0), "x = y");
    }

    #[test]
    fn columns_that_do_not_fit_are_harmless() {
        assert_eq!(marked("", 1), "");
        assert_eq!(marked("ab", 99), "ab");
        assert_eq!(marked("é = 1;", 2), "é = 1");
        assert_eq!(marked("   ", 2), "");
    }
}
