//! One function: its calls, its memory, its objects' fates, its findings, its summary.

mod fate;

use std::sync::Arc;

use drip_flow::{
    Decisions, End, EndKind, Followed, Following, Frame, Goal, Machine, Relevance, Scope, Share,
    UseFlow, Values, Where, WholeProgram, decisions, explore, explore_naively, explore_sparsely,
};
use drip_models::{Library, Summary};
use drip_pointer::{ObjId, ObjKind};
use drip_program::{BlockId, Body, FuncId};

use super::beliefs::is_forgotten_at_vague_exit;
use super::calls::{CallContext, Open, call_table, callee_name, narrowed, unknown_function};
use super::causes::{Caused, after_all, cause};
use super::convincing::convincing_path;
use super::doubts::{hangs_on_pointer, is_ordinary, refused};
use super::execute::{Fuel, is_certainly_lost};
use super::filling::fails_while_filling;
use super::held::held_at_end;
use super::inspect::Inspection;
use super::keys::loop_of_keys;
use super::known::{Known, asked_by_callees};
use super::objects::{fresh_objects, holders};
use super::outside::may_be_kept_outside;
use super::paths::Path;
use super::replay::replay;
use super::report::{Loss, Reporter};
use super::settings::replaced_setting;
use super::summarize::{summarize, uncalled};
use super::told::losing_decisions;
use super::trials::Trials;
use super::untouched::{takes_care_of_blurred, without_care};
use crate::finding::{Confidence, LedgerEntry, Rule};
use crate::statistics::Statistics;

/// Instructions executed for all fresh objects of one function: a base and a multiple of its instructions (more, if it has more objects
/// than that: each may pass every instruction). Objects beyond it get a first look; those that some path may lose are given up.
pub const FUNCTION_FUEL: (usize, usize) = (40_000, 150);

/// Nodes of the use-flow graphs of all fresh objects of one function, with the same beyond it. Only parsers that a generator
/// made, with thousands of objects and blocks, have as many.
pub const MAX_FUNCTION_NODES: usize = 300_000;

/// The same for first looks at the objects for which no fuel is left; beyond it nobody looks at them.
const MAX_LATE_NODES: usize = 2 * MAX_FUNCTION_NODES;

/// Ends of one object that lose it perhaps, and that are executed to know for sure.
const MAX_SURE_ENDS: usize = 2;

/// Objects of one function whose second looks may use up all of their fuel; further ones get little, and the function counts as followed
/// coarsely.
const MAX_LOOKS: usize = 8;

/// Losing ends of one object that are looked at; further ones only until one can be reached.
pub const MAX_LOSSES: usize = 3;

/// Losing ends that are tried at all. An object with more, none of which can be reached, is undecided.
pub const MAX_TRIED_ENDS: usize = 16;

/// What one function yields.
pub struct Result {
    pub summary: Arc<Summary>,
    pub findings: Vec<Caused>,
    pub ledger: Vec<LedgerEntry>,
    pub statistics: Statistics,
    /// Fuel or a bound was used up: it will be the next time, too.
    pub exhausted: bool,
    /// Some path loses an object, as long as nobody asks whether it can be taken.
    pub is_suspect: bool,
}

/// What is wanted of a function.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// Somebody needs its summary.
    pub summary: bool,
    /// What is found will be reported. Otherwise the callees' summaries are not final yet, and nobody asks which losing paths can be taken.
    pub findings: bool,
}

/// Analyses one function with what is known of its callees.
pub fn analyse(context: &CallContext<'_>, func: FuncId, body: &Body, wanted: Wanted) -> Result {
    let start = std::time::Instant::now();
    tracing::trace!(function = context.program.func_name(func), "begins");
    let (frame, mut values, open) = framed(context, func, body);
    let frame_time = start.elapsed();
    let decisions = decisions(&frame, &mut values);
    let mut statistics = Statistics {
        functions: 1,
        unknown_calls: open.unknown,
        ..Statistics::default()
    };
    let mut work = Work::new(context, &frame, &mut values, &decisions, &mut statistics);
    work.is_final = wanted.findings;
    let objects = fresh_objects(&frame);
    work.fuel = FUNCTION_FUEL.0 + FUNCTION_FUEL.1.max(objects.len()) * body.insts.len();
    for object in objects {
        work.statistics.sites += 1;
        if frame.is_too_large {
            work.give_up(object, "limit: its calls change too many variables");
        } else {
            work.object(object);
        }
    }
    let (findings, ledger, handed) = (work.findings, work.ledger, work.handed);
    let (limited, steps, mut is_coarse) = (work.limited, work.steps, work.is_coarse);
    let is_suspect = work.is_suspect;
    let summarized = std::time::Instant::now();
    let summary = if frame.is_too_large {
        Summary {
            limited: true,
            ..unknown_function(context.program, func)
        }
    } else if wanted.summary {
        let told = summarize(&frame, &mut values, &decisions, &handed);
        is_coarse |= told.is_coarse;
        told.summary
    } else {
        uncalled(&frame)
    };
    tracing::debug!(
        function = context.program.func_name(func),
        blocks = body.blocks.len(),
        objects = frame.local.memory.objects.len(),
        cells = frame.local.memory.cells.len(),
        versions = frame.memssa.versions.len(),
        steps,
        limited,
        summary_limited = summary.limited,
        memory_limited = frame.local.limited,
        "analysed in {} µs, {} of them for the frame, {} for the summary",
        start.elapsed().as_micros(),
        frame_time.as_micros(),
        summarized.elapsed().as_micros()
    );
    statistics.times.functions = start.elapsed();
    let exhausted = limited || summary.limited || frame.local.limited;
    statistics.functions_limited = usize::from(exhausted);
    statistics.functions_coarse = usize::from((is_coarse || open.is_coarse) && !exhausted);
    Result {
        summary: Arc::new(summary),
        findings,
        ledger,
        statistics,
        exhausted,
        is_suspect,
    }
}

/// The function with what its calls do, the values of its names, and what its calls leave open.
fn framed<'a>(
    context: &CallContext<'a>,
    func: FuncId,
    body: &'a Body,
) -> (Frame<'a>, Values, Open) {
    let known = WholeProgram {
        constants: context.constants,
        granted: context.granted.of(func),
    };
    let build = |calls| Frame::build(context.program, func, body, calls, known);
    let (mut calls, open) = call_table(context, func, body);
    let (frame, values) = build(calls);
    let fewer = narrowed(context, &frame);
    if fewer.is_empty() {
        return (frame, values, open);
    }
    calls = frame.calls;
    calls.extend(fewer);
    let (frame, values) = build(calls);
    (frame, values, open)
}

/// Follows every fresh object of a function, for dumps.
pub fn inspected(context: &CallContext<'_>, func: FuncId, body: &Body) -> Inspection {
    let (frame, mut values, _) = framed(context, func, body);
    let decisions = decisions(&frame, &mut values);
    let mut statistics = Statistics::default();
    let mut work = Work::new(context, &frame, &mut values, &decisions, &mut statistics);
    let mut flows = Vec::new();
    for object in fresh_objects(&frame) {
        let ObjKind::Fresh { call, .. } = frame.local.memory.kind(object) else {
            continue;
        };
        let at = super::names::position(context.program, &frame, call);
        let callee = callee_name(context.program, body, call);
        let title = format!("{}:{} {callee} {object}", at.file, at.line);
        flows.push((title, work.explore_object(holders(&frame, object))));
    }
    Inspection {
        cells: frame.local.to_string(),
        memory_ssa: frame.memssa.to_string(),
        flows,
    }
}

/// Does some path lose the object, perhaps?
fn loses(flow: &UseFlow) -> bool {
    let mut kinds = flow.ends.iter().map(|end| end.kind);
    kinds.any(|kind| matches!(kind, EndKind::Lost | EndKind::LostPerhaps))
}

struct Work<'w, 'a> {
    context: &'w CallContext<'w>,
    frame: &'w Frame<'a>,
    values: &'w mut Values,
    library: &'w Library,
    decisions: &'w Decisions,
    is_main: bool,
    /// Findings are wanted.
    is_final: bool,
    statistics: &'w mut Statistics,
    findings: Vec<Caused>,
    ledger: Vec<LedgerEntry>,
    /// Objects that some path hands to the caller.
    handed: Vec<ObjId>,
    limited: bool,
    /// Some paths were followed together, or without the other blocks that hold an object.
    is_coarse: bool,
    steps: usize,
    nodes: usize,
    fuel: usize,
    /// Objects whose second looks came to no end.
    looks: usize,
    /// Objects that could not be followed to the end by themselves, even without conditions.
    endless: usize,
    /// The same, of objects that were followed together with others.
    endless_together: usize,
    /// Some path loses the object in hand as long as no condition is looked at.
    is_candidate: bool,
    /// So it is with some object.
    is_suspect: bool,
    /// Not all paths of the object in hand could be tried.
    exhausted: bool,
}

impl<'w, 'a> Work<'w, 'a> {
    fn new(
        context: &'w CallContext<'w>,
        frame: &'w Frame<'a>,
        values: &'w mut Values,
        decisions: &'w Decisions,
        statistics: &'w mut Statistics,
    ) -> Self {
        Work {
            context,
            frame,
            values,
            library: context.library,
            decisions,
            is_main: context.program.func_name(frame.func) == "main",
            is_final: true,
            statistics,
            findings: Vec::new(),
            ledger: Vec::new(),
            handed: Vec::new(),
            limited: false,
            is_coarse: false,
            steps: 0,
            nodes: 0,
            fuel: usize::MAX,
            looks: 0,
            endless: 0,
            endless_together: 0,
            is_candidate: false,
            is_suspect: false,
            exhausted: false,
        }
    }

    /// Follows one fresh object and judges it.
    fn object(&mut self, object: ObjId) {
        if self.steps > self.fuel || self.nodes > MAX_FUNCTION_NODES {
            self.object_late(object);
            return;
        }
        self.exhausted = false;
        let followed = holders(self.frame, object);
        let mut flow = self.explore_object(followed);
        let mut verdict = self.judged(&flow);
        // Too many ways to hold it, of which none is known to lose it: what is stored in other new blocks then counts as kept.
        if flow.limited && flow.objects.len() > 1 && !verdict {
            self.is_coarse = true;
            flow = self.explore_object(vec![object]);
            verdict = self.judged(&flow);
        }
        self.limited |= flow.limited;
        self.note_handed(object, &flow);
        self.is_suspect |= self.is_candidate;
        self.statistics.candidates += usize::from(self.is_final && self.is_candidate);
        // By a way that is not told apart it may be lost.
        if self.is_final && !verdict && flow.lacks_ways && self.is_candidate && loses(&flow) {
            self.exhausted = true;
            self.limited = true;
        }
        self.record(object, &flow, verdict);
        let is_held = flow.ends.iter().any(|e| e.kind == EndKind::HeldAtEnd);
        let is_asked_for = self.is_final && self.context.options.held_at_end;
        if is_asked_for && self.is_main && !verdict && is_held {
            self.held_by_main(object);
        }
    }

    /// Looks at the object as if `main` were any other function.
    fn held_by_main(&mut self, object: ObjId) {
        let known = self.findings.len();
        self.is_main = false;
        let flow = self.explore_object(holders(self.frame, object));
        self.judge(&flow);
        self.is_main = true;
        let held: Vec<Caused> = self.findings.drain(known..).map(held_at_end).collect();
        self.findings.extend(held);
    }

    /// The function's fuel is used up: an object that nobody loses, whatever is decided, is still told from others.
    fn object_late(&mut self, object: ObjId) {
        self.is_coarse = true;
        if self.nodes <= MAX_LATE_NODES {
            let (flow, _) = self.look_sparsely(vec![object]);
            if !flow.limited && !loses(&flow) {
                self.note_handed(object, &flow);
                self.record(object, &flow, false);
                return;
            }
        }
        self.limited = true;
        self.give_up(object, "limit: the function's fuel is used up");
    }

    /// Notes the object if some path hands it to the caller.
    fn note_handed(&mut self, object: ObjId, flow: &UseFlow) {
        let is_allocated = |o: &Followed| o.machine == Machine::Allocated;
        let is_handed = |e: &End| {
            e.kind == EndKind::Settled && e.state.objects.first().is_some_and(is_allocated)
        };
        if flow.ends.iter().any(is_handed) {
            self.handed.push(object);
        }
    }

    /// Is the object of a use-flow graph lost, as far as that is asked for?
    fn judged(&mut self, flow: &UseFlow) -> bool {
        tracing::trace!(
            function = self.frame.program.func_name(self.frame.func),
            "use-flow graph:\n{flow}"
        );
        self.is_coarse |= flow.crowded;
        self.statistics.filtered_branches += u64::from(flow.filtered);
        self.is_final && self.judge(flow)
    }

    /// The use-flow graph of one object, with others that hold it: without conditions, and with those that decide if it may be lost.
    fn explore_object(&mut self, mut followed: Vec<ObjId>) -> UseFlow {
        let (mut flow, mut is_sparse) = self.look_sparsely(followed.clone());
        // Too many ways to hold it: what is stored in other new blocks then counts as kept.
        if flow.limited && followed.len() > 1 {
            followed.truncate(1);
            self.is_coarse = true;
            (flow, is_sparse) = self.look_sparsely(followed.clone());
        }
        self.is_candidate = loses(&flow);
        if !self.is_candidate {
            return flow;
        }
        let nothing = Relevance::nothing();
        if is_sparse {
            flow = self.explore(self.following(&nothing, followed.clone()));
            self.is_candidate = loses(&flow);
        }
        if self.is_candidate {
            let deciding = losing_decisions(self.frame, &flow);
            // Whatever is decided, it is lost, and nothing comes before it: there is no condition to remember.
            let root = flow.nodes[UseFlow::ROOT].block;
            if deciding.is_empty() && root == BlockId::new(0) {
                return self.explore(self.following(&nothing, followed).telling_ways());
            }
            let relevance = Relevance::compute(
                self.frame,
                self.values,
                self.decisions,
                Scope::Fate(&deciding),
            );
            flow = self.explore(self.following(&relevance, followed).telling_ways());
        }
        flow
    }

    fn following<'q>(&self, relevant: &'q Relevance, objects: Vec<ObjId>) -> Following<'q> {
        Following {
            objects,
            relevant,
            goal: Goal::Fate,
            tells_ways: false,
            is_main: self.is_main,
            all_or_nothing: false,
            share: Share::after(self.endless),
        }
    }

    /// The first look at an object, over the blocks that can concern it: most objects end here.
    fn look_sparsely(&mut self, followed: Vec<ObjId>) -> (UseFlow, bool) {
        let nothing = Relevance::nothing();
        let mut following = self.following(&nothing, followed);
        if following.objects.len() > 1 {
            // Else the object is followed again, alone.
            following.all_or_nothing = true;
            following.share = Share::after(self.endless_together);
        }
        let (flow, is_sparse) = explore_sparsely(self.frame, self.values, following.clone());
        self.steps += flow.executed;
        self.nodes += flow.steps;
        match following.all_or_nothing {
            true => self.endless_together += usize::from(flow.limited),
            false => self.endless += usize::from(flow.limited),
        }
        // The twin: all blocks, one by one.
        if cfg!(debug_assertions) && is_sparse {
            let difference = flow.difference(&explore_naively(self.frame, self.values, following));
            assert!(
                difference.is_empty(),
                "jumping over quiet blocks changes what becomes of {:?} in {}: {difference:?}",
                flow.objects,
                self.context.program.func_name(self.frame.func)
            );
        }
        (flow, is_sparse)
    }

    fn explore(&mut self, following: Following<'_>) -> UseFlow {
        let flow = explore(self.frame, self.values, following);
        self.steps += flow.executed;
        self.nodes += flow.steps;
        flow
    }

    /// Looks for feasible losing paths.
    fn judge(&mut self, flow: &UseFlow) -> bool {
        if !self.is_candidate {
            return false;
        }
        let perhaps_counts = !flow.ends.iter().any(takes_care_of_blurred);
        let lost = |kind: EndKind| matches!(kind, EndKind::Lost | EndKind::LostPerhaps);
        let ends: Vec<usize> = (0..flow.ends.len())
            .filter(|&i| match flow.ends[i].kind {
                EndKind::LostPerhaps => perhaps_counts,
                kind => lost(kind),
            })
            .collect();
        let is_perhaps = |&i: &usize| flow.ends[i].kind == EndKind::LostPerhaps;
        let perhaps: Vec<usize> = (0..flow.ends.len()).filter(is_perhaps).collect();
        if ends.is_empty() && perhaps.is_empty() {
            self.statistics.settled.filter.refuted += 1;
            return false;
        }
        let rest: UseFlow;
        let (flow, losses) = match ends.is_empty() {
            true => match self.sure_loss(flow, &perhaps) {
                sure if sure.is_empty() => {
                    let (untouched, left) = without_care(self.frame, self.context.delegates, flow);
                    rest = untouched;
                    (&rest, self.losses_untouched(flow, &rest, &left))
                }
                sure => (flow, sure),
            },
            false if self.goes_with_parent(flow, &ends) => (flow, Vec::new()),
            false => (flow, self.losses(flow, &ends)),
        };
        !losses.is_empty() && self.report(flow, &losses)
    }

    /// Makes a finding of losses that can happen, with all that the rest of the program may say against it.
    fn report(&mut self, flow: &UseFlow, losses: &[(usize, Path, Confidence)]) -> bool {
        let reporter = Reporter::new(self.frame, self.library);
        let shown: Vec<Loss<'_>> = losses
            .iter()
            .map(|(index, path, confidence)| Loss {
                end: &flow.ends[*index],
                path,
                confidence: *confidence,
            })
            .collect();
        let Some(mut finding) = reporter.finding(flow, &shown) else {
            return false;
        };
        let by = losses
            .first()
            .and_then(|(_, path, _)| cause(self.frame, flow, path));
        let most = self.most_confidence(flow, losses, finding.rule, by.is_some());
        finding.confidence = finding.confidence.min(most);
        let mut asked_by = |(index, path, _): &(usize, Path, Confidence)| {
            let end = &flow.ends[*index];
            let mut asked = Known::on(self.frame, self.values, flow, path, end)
                .asked_of_arguments(self.frame, self.values);
            asked.extend(asked_by_callees(self.frame, path));
            asked
        };
        let asked = losses.iter().map(&mut asked_by).collect();
        let setting = |(index, ..): &(usize, Path, Confidence)| {
            replaced_setting(self.frame, flow, &flow.ends[*index])
        };
        let settings = losses.iter().map(setting).collect();
        let mut loops = losses
            .iter()
            .map(|(index, ..)| loop_of_keys(self.frame, flow, &flow.ends[*index]));
        let keys = loops.next().flatten();
        let shown = losses.iter().filter(|loss| loss.2 > Confidence::Low);
        // What a run loses that asks nothing of memory is refused for want of memory.
        let is_plain = |confidence| confidence == Confidence::High;
        let refusals = shown.map(|(_, path, confidence)| {
            refused(self.frame, flow, path).filter(|_| !is_plain(*confidence))
        });
        self.findings.push(Caused {
            finding,
            refused: refusals.collect(),
            by,
            after: after_all(self.frame, self.values, flow, losses),
            asked: Some((self.frame.func, asked)),
            settings,
            keys: keys.filter(|keys| loops.all(|other| other == Some(*keys))),
        });
        true
    }

    /// How certain a finding can be at most. What makes a callee take care, this time or another, only the callee knows.
    fn most_confidence(
        &self,
        flow: &UseFlow,
        losses: &[(usize, Path, Confidence)],
        rule: Rule,
        is_caused: bool,
    ) -> Confidence {
        if rule == Rule::D001 && may_be_kept_outside(self.context, self.frame, flow) {
            return Confidence::Low;
        }
        let mut likely = losses.iter().filter(|l| l.2 == Confidence::High);
        let mut paths = losses.iter().map(|loss| &loss.1);
        let is_likely = !is_caused
            && likely.any(|l| is_ordinary(self.frame, flow, &l.1, rule))
            && !paths.any(|path| hangs_on_pointer(self.frame, flow, path));
        match is_likely {
            true => Confidence::High,
            false => Confidence::Medium,
        }
    }

    /// A loop frees elements with unknown indices: most often all of them. Where neither callers nor memory have a say in it (loops with
    /// constant bounds), execution knows which: an element that is left over there is lost.
    fn sure_loss(&mut self, flow: &UseFlow, ends: &[usize]) -> Vec<(usize, Path, Confidence)> {
        let mut found = Vec::new();
        let mut fuel = Fuel::SMALL;
        let mut trials = Trials::new(self.frame, self.values, self.statistics);
        for &index in ends.iter().take(MAX_SURE_ENDS) {
            let end = &flow.ends[index];
            let Some((path, _)) = trials.feasible_path(flow, end, &[]) else {
                continue;
            };
            let is_lost = is_certainly_lost(self.context, self.frame, flow, &path, &mut fuel);
            if is_lost && replay(self.frame, flow, &path, end).is_ok() {
                found.push((index, path, Confidence::Medium));
                break;
            }
        }
        trials.finish(!found.is_empty(), false);
        self.steps += trials.steps;
        if found.is_empty() {
            self.statistics.settled.structure += 1;
        }
        found
    }

    /// Losses on paths that come to nothing that takes care of the object, even perhaps.
    fn losses_untouched(
        &mut self,
        flow: &UseFlow,
        rest: &UseFlow,
        left: &[usize],
    ) -> Vec<(usize, Path, Confidence)> {
        if left.is_empty() || self.goes_with_parent(rest, left) {
            return Vec::new();
        }
        let mut losses = self.losses(rest, left);
        // That it was put there, and that what takes care is passed by, may hang on one number: a run has to show that both can be, or the
        // function itself that it holds the block where it forgets it.
        let (frame, fills) = (self.frame, |path: &Path| {
            fails_while_filling(self.frame, rest, path)
        });
        for (_, path, confidence) in &mut losses {
            *confidence = match *confidence {
                Confidence::High => Confidence::Medium,
                Confidence::Medium
                    if fills(path) || is_forgotten_at_vague_exit(frame, flow, path) =>
                {
                    Confidence::Medium
                }
                _ => Confidence::Low,
            };
        }
        losses
    }

    /// The ends that can be reached, each with a path that the independent check accepts.
    fn losses(&mut self, flow: &UseFlow, ends: &[usize]) -> Vec<(usize, Path, Confidence)> {
        let mut trials = Trials::new(self.frame, self.values, self.statistics);
        let mut losses: Vec<(usize, Path, Confidence)> = Vec::new();
        let mut refused = false;
        let mut fuel = match self.looks < MAX_LOOKS {
            true => Fuel::default(),
            false => {
                self.is_coarse = true;
                Fuel::SMALL
            }
        };
        for (number, &index) in ends.iter().enumerate() {
            if number >= MAX_LOSSES && !losses.is_empty() {
                break;
            }
            if number >= MAX_TRIED_ENDS {
                trials.exhausted = true;
                break;
            }
            // Whatever comes now could only be a further suspicion.
            if fuel.is_empty() && !losses.is_empty() {
                break;
            }
            let end = &flow.ends[index];
            let is_same = |other: &End| other.node == end.node && other.at == end.at;
            // Another outcome of a callee may be plainer than one that is only a suspicion.
            let is_told =
                |l: &(usize, Path, Confidence)| l.2 > Confidence::Low && is_same(&flow.ends[l.0]);
            if losses.iter().any(is_told) {
                continue;
            }
            let found = convincing_path(self.context, &mut trials, flow, end, &mut fuel);
            let Some((path, confidence)) = found else {
                continue;
            };
            match replay(self.frame, flow, &path, end) {
                Ok(()) => losses.push((index, path, confidence)),
                Err(refusal) => {
                    refused = true;
                    trials.statistics.not_replayed += 1;
                    tracing::warn!(
                        function = self.frame.program.func_name(self.frame.func),
                        ?refusal,
                        "a path of this function could not be replayed: not reported"
                    );
                }
            }
        }
        trials.finish(!losses.is_empty(), refused);
        self.steps += trials.steps;
        self.looks += usize::from(fuel.is_empty());
        self.exhausted = trials.exhausted || (refused && losses.is_empty());
        losses
    }

    /// Lost only together with the object that holds it, and nobody frees it separately: the parent's finding says it all.
    fn goes_with_parent(&self, flow: &UseFlow, ends: &[usize]) -> bool {
        if flow.is_freed_somewhere() {
            return false;
        }
        let memory = &self.frame.local.memory;
        ends.iter().all(|&index| {
            let state = &flow.ends[index].state;
            state.objects[0].places.iter().any(|p| {
                let Where::Cell(cell) = p.at else {
                    return false;
                };
                let owner = memory.cells[cell].obj;
                let Some(holder) = flow.objects.iter().position(|&o| o == owner) else {
                    return false;
                };
                let holder = &state.objects[holder];
                let cyclic = holder.places.iter().any(
                    |p| matches!(p.at, Where::Cell(c) if memory.cells[c].obj == flow.objects[0]),
                );
                let parent_lost = matches!(holder.machine, Machine::Allocated | Machine::Lost);
                parent_lost && !cyclic && matches!(memory.kind(owner), ObjKind::Fresh { .. })
            })
        })
    }
}
