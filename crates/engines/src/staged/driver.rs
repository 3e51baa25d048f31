//! Order of work: bottom-up over the components of the call graph, level by level, each level in parallel.
//!
//! A component's level is one above its callees'; all components of a level are independent. Small recursive components start
//! from "never returns", which grows until it holds for every depth (at most [`MAX_ROUNDS_OF_SMALL`] times); large ones start
//! from "may do anything", which is true at any time and gets better [`ROUNDS_OF_LARGE`] times. Findings come from the last round
//! only. Results are collected by function id: the number of threads changes nothing. A run that is
//! stopped early ([`Watch`]) knows what the components analysed until then have shown; summaries of their callees are complete,
//! so each finding is one of the whole run.

use std::sync::Arc;

use drip_base::{IdSet, Watch};
use drip_models::{Certainty, GlobalSet, Library, Summary};
use drip_pointer::{CallGraph, constant_globals};
use drip_program::{FuncId, GlobalId, Program};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::bound::Bindings;
use super::callers::Callers;
use super::calls::{CallContext, Computed};
use super::causes::{
    Caused, one_per_cause, one_per_loop, one_per_place, one_per_release, without_repetitions,
};
use super::delegates::{Delegates, delegates};
use super::fates::{Ending, Fates};
use super::forgotten::{Forgotten, forgotten};
use super::function::{Result, Wanted, analyse};
use super::granted::Granted;
use super::narrow::narrowed;
use super::refusals::Refusals;
use super::repeated::Repeated;
use super::settings::{Setting, freed_settings};
use super::several::Several;
use super::shown::Shown;
use crate::finding::{Analysis, Confidence, LedgerEntry, Rule, SourcePos, Verdict};
use crate::statistics::Statistics;

/// Rounds over a recursive component of at most [`SMALL_COMPONENT`] functions: a structure that is freed recursively takes a round
/// per level until its summary says what holds for all levels. If summaries still change then, they are taken as they are and
/// marked limited.
const MAX_ROUNDS_OF_SMALL: usize = 6;
const SMALL_COMPONENT: usize = 4;

/// Rounds over a larger one.
const ROUNDS_OF_LARGE: usize = 2;

/// Summaries of all functions with a body.
pub type Summaries = Vec<Option<Arc<Summary>>>;

/// What is asked for.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Findings of what `main` still holds at its end. The ledger has them in any case.
    pub held_at_end: bool,
}

/// Analyses the whole program.
pub fn run(program: &Program, library: &Library) -> Analysis {
    run_watched(program, library, &Options::default(), &Watch::default())
}

/// [`run`] that tells how many functions are done and can be stopped.
pub fn run_watched(
    program: &Program,
    library: &Library,
    options: &Options,
    watch: &Watch,
) -> Analysis {
    let mut facts = Facts::collect(program, library, false);
    facts.options = options.clone();
    let (results, computed) = facts.analyse_all(watch);
    let mut analysis = Analysis::default();
    let mut findings: Vec<Caused> = Vec::new();
    for result in results.into_iter().flatten() {
        analysis.statistics.merge(&result.statistics);
        findings.extend(result.findings);
        analysis.ledger.extend(result.ledger);
    }
    findings.retain(|f| !is_system_header(&f.finding.primary.file));
    let settings = findings.iter().filter_map(|f| f.settings.as_ref());
    let wanted = settings.flatten().copied().collect();
    let freed = freed_settings(&facts.context(&computed), &wanted);
    let callers = &facts.callers;
    let fates = Fates::new(program, callers);
    let repeated = Repeated::new(program);
    let context = facts.context(&computed);
    let refusals = Refusals {
        context: &context,
        callers,
    };
    for caused in &mut findings {
        let is_impossible = caused.asked.as_ref().is_some_and(|(func, asked)| {
            let mut losses = asked.iter();
            losses.all(|asked| callers.none_passes(&facts.granted, *func, asked))
        });
        // Whoever frees the owner is tidying up, and wants to hear of what is left over.
        let ending = match caused.finding.rule {
            Rule::D004 => Ending::Exit,
            Rule::D002 => Ending::Failure,
            _ => Ending::Main,
        };
        let ends = |returns| fates.ends_after(returns, ending);
        let is_kept = |settings: &Vec<Setting>| settings.iter().all(|s| !freed.contains(s));
        let is_setting = caused.settings.as_ref().is_some_and(is_kept);
        let is_never_freed = |&(func, arg): &(FuncId, usize)| !refusals.is_minded(func, arg);
        let is_refused =
            |refused: &Vec<_>| !refused.is_empty() && refused.iter().all(is_never_freed);
        let is_refused = caused.refused.as_ref().is_some_and(is_refused);
        let is_end = caused.after.as_ref().is_some_and(ends);
        if is_impossible || is_setting || is_refused || is_end {
            tracing::trace!(at = ?caused.finding.primary, is_impossible, is_setting, is_refused, is_end, was = ?caused.finding.confidence, "lowered");
            caused.finding.confidence = Confidence::Low;
        }
        // A program of some size does not grow by what it loses once.
        let runs_once = |(func, _): &(FuncId, _)| repeated.runs_once(callers, fates.mains(), *func);
        if caused.asked.as_ref().is_some_and(runs_once) {
            caused.finding.confidence = caused.finding.confidence.min(Confidence::Medium);
        }
    }
    // A run that was stopped does not know all who free: nothing can be said of the whole program.
    if !watch.is_stopped() {
        let forgotten = forgotten(&context, callers, &fates, &repeated, watch);
        add_forgotten(forgotten, &mut findings, &mut analysis.ledger);
    }
    let order = |f: &Caused| {
        let finding = &f.finding;
        let likely_first = std::cmp::Reverse(finding.confidence);
        (finding.primary.clone(), finding.id.clone(), likely_first)
    };
    findings.sort_by_cached_key(order);
    // A source that is compiled for two programs is one place to mend.
    findings.dedup_by(|a, b| {
        (&a.finding.primary, &a.finding.id) == (&b.finding.primary, &b.finding.id)
    });
    let findings = one_per_cause(one_per_loop(findings), |func| {
        program.func_name(func).to_owned()
    });
    analysis.findings = one_per_release(one_per_place(without_repetitions(findings)));
    analysis
        .ledger
        .sort_by(|a, b| (&a.at, &a.callee, &a.reason).cmp(&(&b.at, &b.callee, &b.reason)));
    analysis
}

/// Adds what destructors forget. Blocks that a path is known to lose need no second finding.
fn add_forgotten(forgotten: Forgotten, findings: &mut Vec<Caused>, ledger: &mut [LedgerEntry]) {
    let suspected = findings.iter().flat_map(|f| &f.finding.allocation);
    let suspected: FxHashSet<SourcePos> = suspected.map(|link| link.at.clone()).collect();
    // What the paths have followed to its end they know better.
    let escaped = ledger.iter().filter(|e| e.verdict == Verdict::Escaped);
    let escaped: FxHashSet<SourcePos> = escaped.map(|entry| entry.at.clone()).collect();
    let unkept = forgotten.unkept.into_iter();
    let unkept = unkept.filter(|finding| {
        escaped.contains(&finding.primary) && !suspected.contains(&finding.primary)
    });
    // A suspicion that is not shown by default is no reason to be silent.
    let shown = findings.iter().map(|f| &f.finding);
    let shown = shown.filter(|finding| finding.confidence > Confidence::Low);
    let chains = shown.flat_map(|finding| &finding.allocation);
    let known: FxHashSet<SourcePos> = chains.map(|link| link.at.clone()).collect();
    // Nor does a block need one that every path frees where it was made.
    let (freed, others): (Vec<_>, Vec<_>) =
        ledger.iter().partition(|e| e.verdict == Verdict::Freed);
    let others: FxHashSet<&SourcePos> = others.into_iter().map(|entry| &entry.at).collect();
    let freed: FxHashSet<SourcePos> = freed
        .into_iter()
        .filter(|entry| !others.contains(&entry.at))
        .map(|entry| entry.at.clone())
        .collect();
    for finding in forgotten.places.into_iter().chain(unkept) {
        let is_known = known.contains(&finding.primary) || freed.contains(&finding.primary);
        if is_known || is_system_header(&finding.primary.file) {
            continue;
        }
        for entry in ledger
            .iter_mut()
            .filter(|entry| entry.at == finding.primary)
        {
            entry.verdict = Verdict::Leak;
            entry.reason = "reported: its owner is freed without it".to_owned();
        }
        findings.push(Caused::plain(finding));
    }
}

/// Code of the system's headers is not the user's to fix; what it hands to the user's code is still followed.
fn is_system_header(file: &str) -> bool {
    [
        "/usr/include/",
        "/usr/lib/",
        "/usr/local/include/",
        "/Library/",
        "/Applications/",
    ]
    .iter()
    .any(|prefix| file.starts_with(prefix))
}

/// Only the summaries, for dumps and tests.
pub fn summaries(program: &Program, library: &Library) -> Summaries {
    Facts::collect(program, library, true)
        .analyse_all(&Watch::default())
        .1
}

/// Functions whose summary somebody needs.
fn called_functions(graph: &CallGraph, functions: usize, all: bool) -> IdSet<FuncId> {
    let mut called = IdSet::with_capacity(functions);
    for index in 0..functions {
        let func = FuncId::new(index);
        if all {
            called.insert(func);
        }
        for &callee in graph.graph.succs(func) {
            called.insert(callee);
        }
    }
    called
}

fn functions_with_body(program: &Program) -> usize {
    program.funcs.iter().filter(|f| f.body.is_some()).count()
}

/// Components by level, callees first.
fn levels(graph: &CallGraph) -> Vec<Vec<Vec<FuncId>>> {
    let condensed = graph.sccs.condensation(&graph.graph);
    let mut level_of = vec![0usize; graph.sccs.len()];
    let mut levels: Vec<Vec<Vec<FuncId>>> = Vec::new();
    for scc in graph.sccs.bottom_up().iter() {
        let level = condensed
            .succs(scc)
            .iter()
            .filter(|&&callee| callee != scc)
            .map(|callee| level_of[callee.index()] + 1)
            .max()
            .unwrap_or(0);
        level_of[scc.index()] = level;
        if levels.len() <= level {
            levels.resize_with(level + 1, Vec::new);
        }
        levels[level].push(graph.sccs.members(scc).to_vec());
    }
    levels
}

/// What is known of the whole program before its functions are analysed.
pub(super) struct Facts<'a> {
    program: &'a Program,
    library: &'a Library,
    graph: CallGraph,
    callers: Callers<'a>,
    /// Parameters that are never null.
    granted: Granted,
    delegates: Delegates,
    /// Parameters that are only looked at.
    shown: Shown,
    /// Functions whose summary somebody needs.
    called: IdSet<FuncId>,
    /// Variables that keep their initial value.
    constants: IdSet<GlobalId>,
    several: Several,
    bindings: Bindings,
    options: Options,
}

impl<'a> Facts<'a> {
    /// `all`: also summarise what nobody calls.
    pub(super) fn collect(program: &'a Program, library: &'a Library, all: bool) -> Facts<'a> {
        let graph = CallGraph::build(program);
        let callers = Callers::new(program, &graph);
        let delegates = delegates(program, library);
        Facts {
            shown: Shown::new(program, library, &graph, &delegates, &callers),
            program,
            library,
            granted: Granted::new(program, &callers),
            callers,
            called: called_functions(&graph, program.funcs.len(), all),
            constants: constant_globals(program),
            delegates,
            several: Several::default(),
            bindings: Bindings::default(),
            options: Options::default(),
            graph,
        }
    }

    pub(super) fn analyse_all(&self, watch: &Watch) -> (Vec<Option<Result>>, Summaries) {
        let functions = self.program.funcs.len();
        watch.begin(functions_with_body(self.program));
        let mut computed: Summaries = vec![None; functions];
        let mut results: Vec<Option<Result>> = Vec::new();
        results.resize_with(functions, || None);
        for level in levels(&self.graph) {
            let done: Vec<Vec<(FuncId, Result)>> = level
                .par_iter()
                .map(|members| {
                    let results = self.component(&computed, members, watch);
                    watch.advance(results.len());
                    results
                })
                .collect();
            for (func, result) in done.into_iter().flatten() {
                computed[func.index()] = Some(Arc::clone(&result.summary));
                results[func.index()] = Some(result);
            }
        }
        (results, computed)
    }

    pub(super) fn context<'c>(&'c self, done: &'c [Option<Arc<Summary>>]) -> CallContext<'c> {
        self.context_of(Computed { done, inside: None })
    }

    fn context_of<'c>(&'c self, computed: Computed<'c>) -> CallContext<'c> {
        CallContext {
            program: self.program,
            library: self.library,
            graph: &self.graph,
            delegates: &self.delegates,
            constants: &self.constants,
            granted: &self.granted,
            computed,
            several: &self.several,
            bindings: &self.bindings,
            bound: None,
            options: &self.options,
        }
    }

    /// Analyses one component; nothing comes of it when the work is to end.
    fn component(
        &self,
        computed: &[Option<Arc<Summary>>],
        members: &[FuncId],
        watch: &Watch,
    ) -> Vec<(FuncId, Result)> {
        let (graph, called) = (&self.graph, &self.called);
        if watch.is_stopped() {
            return Vec::new();
        }
        let cyclic = members
            .first()
            .is_some_and(|&f| graph.sccs.is_cyclic(graph.sccs.component_of(f)));
        if !cyclic {
            let context = self.context(computed);
            let wanted = |func| Wanted {
                summary: called.contains(func),
                findings: true,
            };
            return members
                .iter()
                .filter_map(|&func| self.one(&context, func, wanted(func)))
                .collect();
        }
        self.recursive(computed, members, watch)
    }

    /// Analyses a recursive component: a function again whenever the summary of one that it calls has changed. Inside the
    /// component summaries are used in a narrow form ([`narrowed`]) that can't grow from round to round; what callers outside
    /// see is the whole.
    fn recursive(
        &self,
        computed: &[Option<Arc<Summary>>],
        members: &[FuncId],
        watch: &Watch,
    ) -> Vec<(FuncId, Result)> {
        let (graph, called) = (&self.graph, &self.called);
        let mut known: FxHashMap<FuncId, Arc<Summary>> = FxHashMap::default();
        let mut results: Vec<Option<Result>> = Vec::new();
        results.resize_with(members.len(), || None);
        let order = callees_first(graph, members);
        let mut given_up: FxHashSet<FuncId> = FxHashSet::default();
        let mut stale: FxHashSet<FuncId> = members.iter().copied().collect();
        let mut callers: FxHashMap<FuncId, Vec<FuncId>> = FxHashMap::default();
        for &caller in members {
            for &callee in graph.graph.succs(caller) {
                if stale.contains(&callee) {
                    callers.entry(callee).or_default().push(caller);
                }
            }
        }
        let is_small = members.len() <= SMALL_COMPONENT;
        let rounds = if is_small {
            MAX_ROUNDS_OF_SMALL
        } else {
            for &func in members {
                known.insert(func, Arc::new(self.shown.anything(self.program, func)));
            }
            ROUNDS_OF_LARGE
        };
        for round in 0..rounds {
            for &at in &order {
                // Findings come from the last round: an unfinished component has none.
                if watch.is_stopped() {
                    return Vec::new();
                }
                let func = members[at];
                if !stale.remove(&func) {
                    continue;
                }
                let context = self.context_of(Computed {
                    done: computed,
                    inside: Some(&known),
                });
                let wanted = Wanted {
                    summary: called.contains(func),
                    findings: false,
                };
                let Some((_, mut result)) = self.one(&context, func, wanted) else {
                    continue;
                };
                let mut inside = narrowed(&result.summary);
                self.shown.settle(self.program, func, &mut inside);
                let inside = Arc::new(inside);
                let same = |known: &Arc<Summary>| {
                    known.outcomes == inside.outcomes
                        && known.fresh == inside.fresh
                        && known.may_throw == inside.may_throw
                        && known.thrown == inside.thrown
                };
                if !known.get(&func).is_some_and(same) {
                    let again = callers.get(&func).into_iter().flatten();
                    stale.extend(again.filter(|&m| !given_up.contains(m)));
                    if is_small && round + 1 == rounds {
                        unfinished(Arc::make_mut(&mut result.summary));
                        result.statistics.functions_limited = 1;
                        result.exhausted = true;
                    }
                    known.insert(func, inside);
                }
                // What hits its limits once will do so again.
                if result.exhausted {
                    given_up.insert(func);
                    stale.remove(&func);
                }
                results[at] = Some(result);
            }
            if stale.is_empty() {
                break;
            }
        }
        let known = Computed {
            done: computed,
            inside: Some(&known),
        };
        self.find_again(known, members, &mut results);
        // Whoever is called in a cycle touches what all of the cycle touch.
        let mut touched = GlobalSet::default();
        for result in results.iter().flatten() {
            touched.extend(&result.summary.touched);
        }
        for result in results.iter_mut().flatten() {
            Arc::make_mut(&mut result.summary).touched = touched.clone();
        }
        members
            .iter()
            .copied()
            .zip(results)
            .filter_map(|(func, result)| Some((func, result?)))
            .collect()
    }
}

impl Facts<'_> {
    /// One function, with what is known of its parameters.
    fn one(
        &self,
        context: &CallContext<'_>,
        func: FuncId,
        wanted: Wanted,
    ) -> Option<(FuncId, Result)> {
        let body = context.program.funcs[func].body.as_ref()?;
        let mut result = analyse(context, func, body, wanted);
        self.shown
            .settle(self.program, func, Arc::make_mut(&mut result.summary));
        Some((func, result))
    }

    /// Findings of a recursive component, now that its summaries are final.
    fn find_again(&self, known: Computed<'_>, members: &[FuncId], results: &mut [Option<Result>]) {
        let context = self.context_of(known);
        for (&func, result) in members.iter().zip(results) {
            let Some(result) = result.as_mut().filter(|r| r.is_suspect) else {
                continue;
            };
            let wanted = Wanted {
                summary: false,
                findings: true,
            };
            if let Some((_, last)) = self.one(&context, func, wanted) {
                result.findings = last.findings;
                result.ledger = last.ledger;
                // What the summary had to leave out counts as well.
                let first = &result.statistics;
                let limited = first
                    .functions_limited
                    .max(last.statistics.functions_limited);
                let coarse = first.functions_coarse.max(last.statistics.functions_coarse);
                result.statistics = Statistics {
                    functions_limited: limited,
                    functions_coarse: coarse.min(1 - limited),
                    ..last.statistics
                };
            }
        }
    }
}

/// The summary of a recursive function that would change in a further round: what it does to structures is not all told.
fn unfinished(summary: &mut Summary) {
    summary.limited = true;
    let frees = summary.outcomes.iter_mut().flat_map(|o| &mut o.frees);
    for free in frees.filter(|f| !f.path.loads.is_empty()) {
        free.certainty = Certainty::May;
    }
}

/// Positions of the members, depth first, so that most calls are seen before their callers.
fn callees_first(graph: &CallGraph, members: &[FuncId]) -> Vec<usize> {
    let place: FxHashMap<FuncId, usize> = members
        .iter()
        .enumerate()
        .map(|(at, &func)| (func, at))
        .collect();
    let mut order = Vec::with_capacity(members.len());
    let mut seen = vec![false; members.len()];
    for start in 0..members.len() {
        let mut stack = vec![(start, 0)];
        while let Some((at, next)) = stack.pop() {
            if next == 0 && std::mem::replace(&mut seen[at], true) {
                continue;
            }
            match graph.graph.succs(members[at]).get(next) {
                Some(callee) => {
                    stack.push((at, next + 1));
                    if let Some(&inner) = place.get(callee).filter(|&&inner| !seen[inner]) {
                        stack.push((inner, 0));
                    }
                }
                None => order.push(at),
            }
        }
    }
    order
}
