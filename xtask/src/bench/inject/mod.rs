//! Injected leaks: how many of the leaks that are put into real programs does drip report?
//!
//! The mutated thing is the linked [`Program`], before the analysis: one free call is taken out, together with the loads that only
//! served it (as if the statement were not in the source), or an early return under an unknown condition comes before it. Calls are drawn by a fixed seed over all free calls of the program; what the
//! [rule](equivalent) leaves out is counted and the next one is drawn. The unchanged program is analysed once: a mutant is
//! *reported* if it has a finding that the unchanged one has not, or one that says of a further place that memory is lost there
//! (the analysis is deterministic, so the change made it).
//! The other way round, the object of a finding is freed where the finding says that it is lost: the finding must vanish.
//! Findings of rule D005 (held when `main` ends; off by default) don't count.
//!
//! Cost: one analysis of the whole program per mutant.

mod causes;
mod equivalent;
mod mutate;
mod repair;
mod sites;
#[cfg(test)]
mod tests;

use super::programs::ProgramSpec;
use super::results::{Injection, Mutant, Repair};
use super::sources::Prepared;
use anyhow::Context;
use drip_engines::{Analysis, Confidence, Finding, LostPoint, Rule as LeakRule, staged};
use drip_models::Library;
use drip_program::{Body, Input, LoadConfig, Program, load};
use equivalent::{Change, Rule};
use sites::FreeCall;
use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

/// How large a sample of which seed.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    pub seed: u64,
    pub mutants: usize,
}

/// What was learnt of one program.
#[derive(Debug, Default)]
pub struct Report {
    pub mutants: Vec<Mutant>,
    pub excluded: BTreeMap<String, usize>,
    pub repairs: Vec<Repair>,
}

/// One of this many mutants is an early return.
const RETURNS_ONE_IN: u64 = 3;

/// Stacks of the threads of the analysis, as the command line has them.
const STACK_BYTES: usize = 64 << 20;

/// Injects leaks into the program of these bitcode files. Mutants that are `known` are not analysed again.
pub fn run(
    prepared: &Prepared,
    files: &[PathBuf],
    wanted: Wanted,
    known: Vec<Mutant>,
) -> anyhow::Result<Report> {
    // It fails only if the pool exists already, and then that one is used.
    let _ = rayon::ThreadPoolBuilder::new()
        .stack_size(STACK_BYTES)
        .build_global();
    let mut inputs = Vec::new();
    for file in files {
        inputs.push(Input {
            path: file.display().to_string(),
            bytes: std::fs::read(file).with_context(|| format!("cannot read {file:?}"))?,
        });
    }
    let program = load(inputs, &LoadConfig::default()).program;
    let library = Library::builtin()?;
    let spec = &prepared.spec;
    // A pool's thread has the stack that the analysis wants.
    let (sender, receiver) = std::sync::mpsc::channel();
    let name = spec.name.clone();
    let frees = spec.frees.clone();
    let source = prepared.source.display().to_string();
    rayon::spawn(move || {
        let mut session = Session::new(name, source, program, library);
        session.known = known;
        // The receiver waits for this one message.
        let _ = sender.send(session.report(&frees, wanted));
    });
    receiver
        .recv()
        .context("the analysis ended without a result")
}

/// Puts one program's mutants in place of older ones.
pub fn put(injection: &mut Injection, spec: &ProgramSpec, report: Report, wanted: Wanted) {
    injection.seed = wanted.seed;
    injection.mutants.retain(|old| old.program != spec.name);
    injection.mutants.extend(report.mutants);
    injection.repairs.retain(|old| old.program != spec.name);
    injection.repairs.extend(report.repairs);
    injection
        .excluded
        .retain(|key, _| !key.starts_with(&format!("{}: ", spec.name)));
    for (rule, count) in report.excluded {
        injection
            .excluded
            .insert(format!("{}: {rule}", spec.name), count);
    }
}

/// A program, its unchanged result, and the changes to it one by one.
struct Session {
    name: String,
    source: String,
    program: Program,
    library: Library,
    unchanged: Analysis,
    limited: HashSet<drip_program::FuncId>,
    known: Vec<Mutant>,
}

impl Session {
    fn new(name: String, source: String, program: Program, library: Library) -> Session {
        let unchanged = staged::run(&program, &library);
        let summaries = staged::summaries(&program, &library);
        let is_limited = |func: &drip_program::FuncId| {
            let summary = summaries.get(func.index()).and_then(Option::as_ref);
            summary.is_some_and(|summary| summary.limited)
        };
        Session {
            limited: program.funcs.ids().iter().filter(is_limited).collect(),
            name,
            source,
            program,
            library,
            unchanged,
            known: Vec::new(),
        }
    }

    fn report(&mut self, frees: &[String], wanted: Wanted) -> Report {
        let mut report = Report::default();
        let calls = sites::free_calls(&self.program, frees);
        let mut random = Random(wanted.seed);
        let near = |call: &FreeCall| -> Vec<FreeCall> {
            let same = |other: &&FreeCall| other.func == call.func;
            calls.iter().filter(same).copied().collect()
        };
        let mut drawn = Vec::new();
        let rule = Rule::new(&self.program);
        for call in random.shuffled(&calls) {
            let change = match random.next() % RETURNS_ONE_IN {
                0 => Change::ReturnBefore,
                _ => Change::Remove,
            };
            drawn.push((call, change, rule.excludes(&call, change, &near(&call))));
        }
        for (call, change, excluded) in drawn {
            if report.mutants.len() >= wanted.mutants {
                break;
            }
            let mutant = match excluded {
                Some(why) => Err(why),
                None => self
                    .mutant(&call, change, &near(&call))
                    .ok_or("not applicable"),
            };
            match mutant {
                Ok(mutant) => {
                    eprintln!("bench:   {}", line_of(&mutant));
                    report.mutants.push(mutant);
                }
                Err(why) => *report.excluded.entry(why.to_owned()).or_default() += 1,
            }
        }
        report.repairs = self.repairs(wanted.mutants);
        report
    }

    /// Analyses one mutant; nothing if the change can't be made.
    fn mutant(&mut self, call: &FreeCall, change: Change, near: &[FreeCall]) -> Option<Mutant> {
        let body = self.program.funcs[call.func].body.clone()?;
        let from = sites::origins(&body, call.pointer);
        let at = causes::position(&self.program, call.func, &body, call.inst);
        let kind = kind(&body, call, change, near);
        let file = relative(&at.file, &self.source);
        let is_it = |old: &&Mutant| {
            (&old.program, old.kind.as_str(), &old.file) == (&self.name, kind, &file)
                && (old.line, old.column) == (at.line, at.column)
        };
        if let Some(old) = self.known.iter().find(is_it) {
            return Some(old.clone());
        }
        let changed = match change {
            Change::Remove => mutate::without_call(&body, call.inst),
            Change::ReturnBefore => {
                mutate::with_return_before(&mut self.program, call.func, &body, call.inst)?
            }
        };
        let after = self.analyse_with(call.func, changed);
        let new = self.new_finding(&after);
        let made_at = causes::made_at(&self.program, call.func, call.pointer);
        let limits = causes::Limits {
            limited: &self.limited,
            changed: call.func,
        };
        let cause = || causes::cause(&self.unchanged, &after, &limits, &from, &made_at);
        Some(Mutant {
            program: self.name.clone(),
            kind: kind.to_owned(),
            file,
            line: at.line,
            column: at.column,
            function: at.function,
            callee: self.program.shown_name(call.callee).to_owned(),
            origin: from.first().map_or("unknown", |o| o.text()).to_owned(),
            reported: new.map(|finding| finding.rule.code().to_owned()),
            cause: new.is_none().then(cause),
            sanitizer: None,
            peers: BTreeMap::new(),
        })
    }

    /// Analyses the program with another body for one function, then puts the old one back.
    fn analyse_with(&mut self, func: drip_program::FuncId, body: Body) -> Analysis {
        let original = self.program.funcs[func].body.replace(body);
        let analysis = staged::run(&self.program, &self.library);
        self.program.funcs[func].body = original;
        analysis
    }

    fn new_finding<'a>(&self, after: &'a Analysis) -> Option<&'a Finding> {
        let shown = self.unchanged.findings.iter().filter(|f| counts(f));
        let known: HashSet<(&str, &LostPoint)> = shown
            .flat_map(|f| f.lost.iter().map(|lost| (f.id.as_str(), lost)))
            .collect();
        let is_known = |f: &Finding| {
            f.lost
                .iter()
                .all(|lost| known.contains(&(f.id.as_str(), lost)))
        };
        after.findings.iter().find(|f| counts(f) && !is_known(f))
    }
}

/// Is it shown to a user who has set nothing?
fn counts(finding: &Finding) -> bool {
    finding.rule != LeakRule::D005 && finding.confidence > Confidence::Low
}

fn kind(body: &Body, call: &FreeCall, change: Change, near: &[FreeCall]) -> &'static str {
    let what = sites::expression(body, call.pointer);
    let same = |other: &&FreeCall| sites::expression(body, other.pointer) == what;
    match (change, near.iter().filter(same).count()) {
        (Change::ReturnBefore, _) => "early return",
        (Change::Remove, 0 | 1) => "only free removed",
        (Change::Remove, _) => "one of several frees removed",
    }
}

fn relative(file: &str, source: &str) -> String {
    let short = file.strip_prefix(source).unwrap_or(file);
    short.trim_start_matches('/').to_owned()
}

fn line_of(mutant: &Mutant) -> String {
    let result = match (&mutant.reported, &mutant.cause) {
        (Some(rule), _) => rule.clone(),
        (None, Some(cause)) => format!("missed, {cause}"),
        (None, None) => "missed".to_owned(),
    };
    format!(
        "{}:{} in {}: {} of {}: {result}",
        mutant.file, mutant.line, mutant.function, mutant.kind, mutant.origin
    )
}

/// SplitMix64 (Steele, Lea, Flood 2014): small, and the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// All items in random order (Fisher and Yates).
    fn shuffled<T: Copy>(&mut self, items: &[T]) -> Vec<T> {
        let mut items = items.to_vec();
        for end in (1..items.len()).rev() {
            let at = (self.next() % (end as u64 + 1)) as usize;
            items.swap(end, at);
        }
        items
    }
}
