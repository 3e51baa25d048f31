//! The terminal report: per finding a headline, source excerpts with the events of the path, the condition, and what to type next.
//!
//! Excerpts are made by `annotate-snippets`, one per file, the file of the finding first. Where a source cannot be had, or has
//! changed so that the line is gone, its events are plain notes; a report never fails for want of a source.

use crate::spans::span;
use crate::{Paths, Report, Sources};
use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use drip_engines::{Confidence, Finding, Rule, SourcePos, StepKind};
use std::ops::Range;
use std::sync::Arc;

/// Events in one excerpt; a longer path is told in full by `drip explain ID`.
const MAX_EVENTS: usize = 12;

/// Links of the allocation chain that are shown in the source, the call in the losing function included; the others are
/// one note.
const EXCERPTED_LINKS: usize = 2;

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
    if !matches!(excerpts.first(), Some(Excerpt::Source(_))) {
        let at = &finding.primary;
        let mut origin = Origin::path(paths.show(&at.file));
        if at.line > 0 {
            origin = origin
                .line(at.line as usize)
                .char_column(at.column.max(1) as usize);
        }
        group = group.element(origin);
    }
    for excerpt in &excerpts {
        group = match excerpt {
            Excerpt::Source(shown) => group.element(shown.snippet()),
            Excerpt::Note(text) => group.element(Level::NOTE.message(text.as_str())),
        };
    }
    for note in notes(finding, left_out, paths) {
        group = group.element(Level::NOTE.message(note));
    }
    if !options.all_events {
        group = group.element(Level::HELP.message(next_step(finding)));
    }
    let renderer = if options.color {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    let mut text = renderer.render(&[group]);
    text.push('\n');
    text
}

fn notes(finding: &Finding, left_out: usize, paths: &Paths) -> Vec<String> {
    let mut notes = Vec::new();
    if left_out > 0 {
        notes.push(format!("{left_out} more steps are not shown"));
    }
    notes.extend(deeper_chain(finding, paths));
    if let Some(condition) = &finding.condition {
        notes.push(format!("happens {condition}"));
    }
    if finding.confidence != Confidence::High {
        let name = crate::confidence_name(finding.confidence);
        notes.push(format!("confidence: {name}"));
    }
    notes
}

/// The allocation chain below the first callee, which has an excerpt: "the block comes from `calloc` at mem.c:10, through
/// `mem_alloc`".
fn deeper_chain(finding: &Finding, paths: &Paths) -> Option<String> {
    let (last, above) = finding.allocation.split_last()?;
    if above.len() < EXCERPTED_LINKS {
        return None;
    }
    let through: Vec<String> = above
        .iter()
        .skip(EXCERPTED_LINKS - 1)
        .map(|link| quoted(&link.callee))
        .collect();
    Some(format!(
        "the block itself comes from {} at {}:{}, through {}",
        quoted(&last.callee),
        paths.show(&last.at.file),
        last.at.line,
        through.join(", ")
    ))
}

fn next_step(finding: &Finding) -> String {
    let id = &finding.id;
    format!("{}`drip explain {id}` tells more", release(finding))
}

fn release(finding: &Finding) -> String {
    deallocator(finding).map_or(String::new(), |name| {
        format!("memory of this kind is released by `{name}`; ")
    })
}

/// Which function or operator frees the memory, where that is certain: what a function of the project made on top of
/// `malloc` may need a counterpart of its own. Families of projects are named by their deallocator.
pub(crate) fn deallocator(finding: &Finding) -> Option<&str> {
    if finding.rule == Rule::D005 {
        return None;
    }
    match finding.family.as_str() {
        "malloc" | "" => (finding.allocation.len() <= 1).then_some("free"),
        "new" => Some("delete"),
        "new[]" => Some("delete[]"),
        other => Some(other),
    }
}

/// A callee is code, unless the engine has no name for it and says "a function pointer".
pub(crate) fn quoted(callee: &str) -> String {
    if callee.starts_with("a ") {
        return callee.to_owned();
    }
    format!("`{callee}`")
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
    let steps = &finding.path;
    // Two steps are read in their order without numbers.
    let numbered = |index: usize, text: &str| match steps.len() {
        0..=2 => text.to_owned(),
        _ => format!("{}. {text}", index + 1),
    };
    let birth = steps
        .iter()
        .position(|step| step.kind == StepKind::Allocation);
    let allocated = match (birth, finding.allocation.first()) {
        (Some(index), _) => numbered(index, &steps[index].text),
        (None, Some(link)) => format!("allocated here by {}", quoted(&link.callee)),
        (None, None) => "allocated here".to_owned(),
    };
    push(&finding.primary, allocated, true);
    for pair in finding.allocation.windows(2).take(EXCERPTED_LINKS - 1) {
        let from = quoted(&pair[1].callee);
        let text = format!("{} gets it here from {from}", quoted(&pair[0].callee));
        push(&pair[1].at, text, false);
    }
    for (index, step) in steps.iter().enumerate() {
        if step.kind != StepKind::Allocation {
            push(&step.at, numbered(index, &step.text), false);
        }
    }
    let shown_losses = steps.iter().filter(|step| step.kind == StepKind::Lost);
    let shown_losses: Vec<_> = shown_losses.map(|step| (&step.at, &step.text)).collect();
    for point in &finding.lost {
        if !shown_losses.contains(&(&point.at, &point.text)) {
            push(&point.at, point.text.clone(), false);
        }
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
