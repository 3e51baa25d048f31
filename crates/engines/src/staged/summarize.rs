//! Question: what does a caller need to know of this function? Its effects, by outcome.
//!
//! Objects that callers have a part in (fresh ones that some path hands out; what parameters lead to, if it may be freed or
//! kept) are followed to the exits, in clusters of those that may hold each other. First without remembering any
//! condition: if every exit agrees on what becomes of a cluster, that is said once, for all outcomes. Only clusters on
//! which exits disagree are followed again, with the conditions that decide between them; together if that ends within
//! its fuel, else each for itself (the outcomes are then combined by what they return and by their conditions).
//! Without such clusters a function has one outcome, read off without following paths, unless it may not return or
//! leaves pointers behind. Split by outcome: Saturn §4.5.3, by more than the returned value.
//! Fuel: a cluster that exceeds it counts as freed or escaped on every path, and what it would hand out is no allocation
//! (silence over noise; `limited`).

use std::cell::OnceCell;
use std::collections::VecDeque;

use drip_base::IdSet;
use drip_flow::{
    Decisions, EndKind, Following, Frame, Goal, Relevance, Scope, Share, State, UseFlow, Values,
    alike, explore, explore_naively, explore_sparsely,
};
use drip_models::{
    Certainty, Class, Free, MAX_OUTCOMES, MAX_PATH_LOADS, Offset, Outcome, Root, Summary,
    TextResult, Value, ValuePath,
};
use drip_pointer::{ObjId, ObjKind};
use drip_program::{BlockId, Op};
use smallvec::SmallVec;

use super::births::tell_births;
use super::borrowed::{borrowed_results, counted_releases, returned_and_kept};
use super::effects::{bound_writes, reduce_effects};
use super::exits::{ExitReader, others_alike};
use super::feasible::SmallQuestions;
use super::grown::tell_new_results;
use super::hooks::{keep_with_hook, only_with_hook, tests_hooks};
use super::interface::{is_atomic, is_pure, optional, returns, touched};
use super::merge::{
    blend, class_of, combine, drop_uncertain_births, merge_alike, merge_equal_returns,
    merge_outcomes,
};
use super::objects::{
    clusters, copied_out, escaping_objects, has_outcomes, is_behind_global, moved_objects,
};
use super::possible::{possible_values, reached_blocks};
use super::unify::unify_fresh;
use super::varargs::{MAX_VARARGS, hands_on_varargs, named_parameters};

/// Objects followed together to tell outcomes apart; more are followed cluster by cluster.
const MAX_JOINT: usize = 6;

/// Clusters that are told apart by conditions, each for itself. Of more only those with new blocks are, the others by what is returned.
const MAX_SPLIT: usize = 4;

/// Objects that are followed together at the first look. Each state knows of all of them: larger clusters take long and end beyond the limit.
const MAX_CLUSTER: usize = 32;

/// Clusters that are told apart by what is returned. Of more than these that make no new block is told what may become of them, whatever
/// is returned.
const MAX_SPLIT_BY_RESULT: usize = 12;

/// Clusters followed for one summary, those that callers have in hand before those behind globals; further ones count as escaped
/// on every path.
const MAX_CLUSTERS: usize = 64;

/// Ends of an exploration that become outcomes one by one; beyond it those with equal effects are merged at once.
const MAX_ENDS: usize = 24;

/// Blocks executed to tell the outcomes of one function apart: a base and a multiple of its blocks. What may become of the
/// clusters that are left then is told without the condition.
const SPLIT_FUEL: (usize, usize) = (300, 4);

/// Blocks executed to look at the clusters of one function, each by itself; beyond it the others get little: only what is quickly seen is told of
/// them.
const MAX_LOOKED: usize = 25_000;

/// Blocks of a function whose outcomes are told apart by conditions. In larger ones (interpreters, parsers of options) that never ends within
/// its fuel; what happens is told by the result alone.
const MAX_SPLIT_BLOCKS: usize = 1_000;

/// The summary of a function that nobody calls: whether it returns is all that anybody could ask.
pub fn uncalled(frame: &Frame<'_>) -> Summary {
    let outcome = Outcome::returning(Value::Unknown(Class::Any));
    Summary {
        outcomes: if returns(frame) {
            vec![outcome]
        } else {
            Vec::new()
        },
        may_throw: frame.handlers.may_throw,
        thrown: frame.handlers.thrown.clone(),
        ..Summary::default()
    }
}

/// What is told of a function, and how.
pub struct Told {
    pub summary: Summary,
    /// To stay within the fuel, conditions were left out or objects told apart that belong together: every path is covered, but some
    /// of what happens is told as "may".
    pub is_coarse: bool,
}

/// Makes the summary of a function. `handed` are the fresh objects that some path hands to the caller.
pub fn summarize(
    frame: &Frame<'_>,
    values: &mut Values,
    decisions: &Decisions,
    handed: &[ObjId],
) -> Told {
    let mut maker = Maker {
        frame,
        values,
        decisions,
        questions: SmallQuestions::default(),
        fresh: handed.to_vec(),
        alike: Vec::new(),
        parts: Vec::new(),
        open: Vec::new(),
        steps: 0,
        deciding: IdSet::with_capacity(frame.body.blocks.len()),
        endless: 0,
        endless_splits: 0,
        looked: 0,
        limited: false,
        is_coarse: false,
        keeps_result: false,
    };
    maker.settle_clusters();
    maker.explore_open();
    let mut outcomes = combine(std::mem::take(&mut maker.parts), MAX_ENDS);
    let mut gone = escaping_objects(frame);
    gone.extend(moved_objects(frame));
    let mut escapes = maker.escapes(&gone);
    escapes.extend(handed_on(frame));
    escapes.extend(maker.copied(&copied_out(frame, handed)));
    for outcome in &mut outcomes {
        let freed = |e: &drip_models::Escape| outcome.frees.iter().any(|f| f.path == e.path);
        outcome
            .escapes
            .extend(escapes.iter().filter(|e| !freed(e)).cloned());
        reduce_effects(outcome);
        outcome.copies = maker.reader(&[]).copies(outcome);
        maker.reader(&[]).zeroed(outcome);
    }
    for outcome in &mut outcomes {
        let alive = &outcome.fresh;
        outcome
            .writes
            .retain(|w| !matches!(w.cell.base.root, Root::Fresh(k) if !alive.contains(&k)));
    }
    let fresh = maker.reader(&[]).fresh_list();
    let keeps_result = maker.keeps_result;
    let mut summary = Summary {
        outcomes,
        fresh,
        may_throw: frame.handlers.may_throw,
        thrown: frame.handlers.thrown.clone(),
        pure: is_pure(frame),
        touched: touched(frame),
        atomic: is_atomic(frame),
        text: TextResult::Nothing,
        optional: optional(frame),
        limited: maker.limited,
    };
    counted_releases(&mut summary);
    tell_births(frame, handed, &mut summary.outcomes);
    tell_new_results(frame, handed, &mut summary.outcomes);
    unify_fresh(&mut summary);
    let may_keep_result = summary
        .outcomes
        .iter()
        .any(|o| returned_and_kept(o).is_some());
    if keeps_result || may_keep_result || summary.limited {
        borrowed_results(&mut summary);
    }
    merge_outcomes(&mut summary.outcomes);
    summary.outcomes.sort();
    summary.outcomes.dedup();
    Told {
        summary,
        is_coarse: maker.is_coarse,
    }
}

/// What is known of a number that is one or the other.
fn either_result(a: &Value, b: &Value) -> Value {
    let class = |value| class_of(value).unwrap_or(Class::Any);
    Value::Unknown(class(a).join(class(b)))
}

/// Arguments behind the named ones, if the function takes them.
fn handed_on(frame: &Frame<'_>) -> Vec<drip_models::Escape> {
    let named = named_parameters(frame.program, frame.func);
    let Some(named) = named.filter(|_| hands_on_varargs(frame)) else {
        return Vec::new();
    };
    let escape = |index: usize| escaping(ValuePath::arg(index as u16));
    (named..named + MAX_VARARGS).map(escape).collect()
}

pub(super) fn escaping(path: ValuePath) -> drip_models::Escape {
    drip_models::Escape {
        path,
        to: drip_models::EscapeTo::Unknown,
    }
}

fn following<'q>(relevant: &'q Relevance, objects: &[ObjId], share: Share) -> Following<'q> {
    Following {
        objects: objects.to_vec(),
        relevant,
        goal: Goal::Exits,
        tells_ways: false,
        is_main: false,
        all_or_nothing: true,
        share,
    }
}

/// A cluster on which exits disagree.
struct Open {
    objects: Vec<ObjId>,
    /// Blocks that decide what becomes of it.
    deciding: IdSet<BlockId>,
    /// What may become of it.
    kinds: Vec<Outcome>,
}

struct Maker<'m, 'a> {
    frame: &'m Frame<'a>,
    values: &'m mut Values,
    decisions: &'m Decisions,
    questions: SmallQuestions,
    fresh: Vec<ObjId>,
    /// Objects that are not followed because they meet the fate of the first.
    alike: Vec<(ObjId, Vec<ObjId>)>,
    /// Alternatives that are independent of one another: an outcome is one of each.
    parts: Vec<Vec<Outcome>>,
    open: Vec<Open>,
    /// Blocks executed to tell outcomes apart.
    steps: usize,
    /// Blocks that decide whether the function returns.
    deciding: IdSet<BlockId>,
    /// First looks that came to no end, and explorations that were to tell outcomes apart.
    endless: usize,
    endless_splits: usize,
    /// Blocks executed to look at clusters one by one.
    looked: usize,
    limited: bool,
    is_coarse: bool,
    /// Some exit returns a new block that is somebody else's already.
    keeps_result: bool,
}

impl<'a> Maker<'_, 'a> {
    fn reader<'r>(&'r mut self, objects: &'r [ObjId]) -> ExitReader<'r, 'a> {
        ExitReader {
            frame: self.frame,
            values: self.values,
            questions: &mut self.questions,
            objects,
            alike: &self.alike,
            fresh: &self.fresh,
            concerned: OnceCell::new(),
            limited: false,
            keeps_result: false,
        }
    }

    /// Escapes of these objects, as far as callers can name them.
    fn escapes(&mut self, objects: &[ObjId]) -> Vec<drip_models::Escape> {
        let reader = self.reader(&[]);
        objects
            .iter()
            .filter_map(|&obj| reader.object_path(obj))
            .map(escaping)
            .collect()
    }

    /// Escapes of all that these objects hold.
    fn copied(&mut self, objects: &[ObjId]) -> Vec<drip_models::Escape> {
        let reader = self.reader(&[]);
        let paths = objects.iter().filter_map(|&obj| reader.object_path(obj));
        paths
            .filter(|path| path.loads.len() < MAX_PATH_LOADS)
            .map(|path| escaping(path.load(Offset::ANY)))
            .collect()
    }

    /// First look at every cluster: those on which all exits agree are done.
    fn settle_clusters(&mut self) {
        let frame = self.frame;
        let mut all = clusters(frame, &self.fresh);
        self.leave_out_alike(&mut all);
        let is_callers = |c: &Vec<ObjId>| c.iter().any(|&obj| !is_behind_global(frame, obj));
        all.sort_by_key(|cluster| !is_callers(cluster));
        for (number, cluster) in all.into_iter().enumerate() {
            let is_callers = is_callers(&cluster);
            if number >= MAX_CLUSTERS {
                if is_callers {
                    self.blur(&cluster, &[], "too many clusters");
                } else {
                    self.undecided(&cluster, &[]);
                }
                continue;
            }
            self.settle_cluster(cluster, is_callers);
        }
    }

    /// Of objects that stand alone and can't be told apart one is followed.
    fn leave_out_alike(&mut self, all: &mut Vec<Vec<ObjId>>) {
        let single: Vec<ObjId> = all
            .iter()
            .filter_map(|cluster| match cluster[..] {
                [only] => Some(only),
                _ => None,
            })
            .collect();
        let followed = self.without_alike(&single);
        all.retain(|cluster| match cluster[..] {
            [only] => followed.contains(&only),
            _ => true,
        });
    }

    /// Of objects that can't be told apart the first.
    fn without_alike(&mut self, objects: &[ObjId]) -> Vec<ObjId> {
        let mut firsts = Vec::new();
        for group in alike(self.frame, self.values, objects) {
            let mut group = group.into_iter();
            let Some(first) = group.next() else {
                continue;
            };
            firsts.push(first);
            if group.len() > 0 {
                self.alike.push((first, group.collect()));
            }
        }
        firsts
    }

    /// First look at one cluster. One with too many states is taken object by object: what its objects hold of each other then counts as
    /// kept.
    fn settle_cluster(&mut self, cluster: Vec<ObjId>, is_callers: bool) {
        if cluster.len() > MAX_CLUSTER {
            self.settle_one_by_one(&cluster, is_callers);
            return;
        }
        let nothing = Relevance::of_nothing_but(self.frame, &cluster);
        let (flow, is_sparse) = self.follow(&nothing, &cluster, self.share());
        self.looked(&flow);
        if flow.limited && cluster.len() > 1 {
            self.settle_one_by_one(&cluster, is_callers);
            return;
        }
        if flow.limited {
            self.blur(&cluster, &[], "too many states at the first look");
            return;
        }
        if cfg!(debug_assertions) {
            self.check_alike(&cluster, &flow);
        }
        let (kinds, class_of) = self.kinds(&cluster, &flow);
        match (&kinds[..], is_callers) {
            ([], _) => {}
            ([_], _) => self.parts.push(kinds),
            (_, false) => self.undecided(&cluster, &kinds),
            (_, true) if is_sparse && self.may_split() => self.leave_open(cluster),
            (_, true) => self.open.push(Open {
                deciding: self.deciding_blocks(&flow, &class_of),
                objects: cluster,
                kinds,
            }),
        }
    }

    /// What an exploration that looks at one cluster may use.
    fn share(&self) -> Share {
        match self.looked > MAX_LOOKED {
            true => Share::Sixteenth,
            false => Share::after(self.endless),
        }
    }

    fn looked(&mut self, flow: &UseFlow) {
        self.looked += flow.steps;
        self.endless += usize::from(flow.limited);
    }

    fn settle_one_by_one(&mut self, cluster: &[ObjId], is_callers: bool) {
        self.is_coarse = true;
        for object in self.without_alike(cluster) {
            self.settle_cluster(vec![object], is_callers);
        }
    }

    /// The twin: whatever counts as alike is followed, and has to meet the same fates.
    fn check_alike(&mut self, cluster: &[ObjId], flow: &UseFlow) {
        let alike = std::mem::take(&mut self.alike);
        for other in cluster.iter().flat_map(|&obj| others_alike(&alike, obj)) {
            let (its, _) = self.follow(&Relevance::nothing(), &[other], Share::All);
            let fates = |flow: &UseFlow| {
                let ends = flow
                    .ends
                    .iter()
                    .map(|end| (end.kind, end.state.objects[0].machine));
                ends.collect::<std::collections::HashSet<_>>()
            };
            assert_eq!(
                fates(flow),
                fates(&its),
                "{cluster:?} and {other:?} are not alike in {}",
                self.frame.program.func_name(self.frame.func)
            );
        }
        self.alike = alike;
    }

    /// What may become of a cluster, and which of that each end says.
    fn kinds(&mut self, cluster: &[ObjId], flow: &UseFlow) -> (Vec<Outcome>, Vec<u32>) {
        let mut kinds: Vec<Outcome> = Vec::new();
        let mut class_of: Vec<u32> = Vec::new();
        let mut reader = self.reader(cluster);
        for end in &flow.ends {
            let effects = reader.effects(end);
            let class = match kinds.iter().position(|k| *k == effects) {
                Some(known) => known,
                None => {
                    kinds.push(effects);
                    kinds.len() - 1
                }
            };
            class_of.push(class as u32);
        }
        let keeps_result = reader.keeps_result;
        self.keeps_result |= keeps_result;
        (kinds, class_of)
    }

    /// Exits disagree on a cluster: which blocks decide?
    fn leave_open(&mut self, cluster: Vec<ObjId>) {
        let nothing = Relevance::of_nothing_but(self.frame, &cluster);
        let flow = self.explore(&nothing, &cluster, self.share());
        self.looked(&flow);
        if flow.limited {
            self.blur(&cluster, &[], "too many states over all blocks");
            return;
        }
        let (kinds, class_of) = self.kinds(&cluster, &flow);
        self.open.push(Open {
            deciding: self.deciding_blocks(&flow, &class_of),
            objects: cluster,
            kinds,
        });
    }

    fn deciding_blocks(&self, flow: &UseFlow, class_of: &[u32]) -> IdSet<BlockId> {
        let frame = self.frame;
        let number = |end: &drip_flow::End| {
            flow.ends
                .iter()
                .position(|known| std::ptr::eq(known, end))
                .map_or(0, |at| class_of[at])
        };
        flow.deciding_blocks(frame.body.blocks.len(), number, |block| {
            frame.cfg.succs(block).len()
        })
    }

    fn explore(&mut self, relevance: &Relevance, objects: &[ObjId], share: Share) -> UseFlow {
        let following = following(relevance, objects, share);
        let flow = explore(self.frame, self.values, following);
        self.is_coarse |= flow.crowded;
        self.trace(&flow);
        flow
    }

    /// The same, over the blocks that can concern the objects; false beside it if that are most of them.
    fn follow(
        &mut self,
        relevance: &Relevance,
        objects: &[ObjId],
        share: Share,
    ) -> (UseFlow, bool) {
        let following = following(relevance, objects, share);
        let (flow, is_sparse) = explore_sparsely(self.frame, self.values, following.clone());
        // The twin: all blocks, one by one.
        if cfg!(debug_assertions) && is_sparse {
            let difference = flow.difference(&explore_naively(self.frame, self.values, following));
            assert!(
                difference.is_empty(),
                "jumping over quiet blocks changes what {} does to {objects:?}: {difference:?}",
                self.frame.program.func_name(self.frame.func)
            );
        }
        self.is_coarse |= flow.crowded;
        self.trace(&flow);
        (flow, is_sparse)
    }

    fn trace(&self, flow: &UseFlow) {
        tracing::trace!(
            function = self.frame.program.func_name(self.frame.func),
            "use-flow graph to the exits:\n{flow}"
        );
    }

    /// Explorations that tell outcomes apart.
    fn explore_open(&mut self) {
        if self.open.is_empty() {
            if has_outcomes(self.frame) {
                let flow = self.explore(&Relevance::nothing(), &[], Share::All);
                let same = vec![0; flow.ends.len()];
                self.deciding = self.deciding_blocks(&flow, &same);
                if !flow.limited && self.split(&[]) {
                    return;
                }
                self.is_coarse = true;
            }
            self.plain();
            return;
        }
        let open = std::mem::take(&mut self.open);
        let objects: Vec<ObjId> = open
            .iter()
            .flat_map(|cluster| cluster.objects.iter().copied())
            .collect();
        let is_one = open.len() == 1;
        if is_one || objects.len() <= MAX_JOINT {
            for cluster in &open {
                self.deciding.union_with(&cluster.deciding);
            }
            if self.split(&objects) {
                return;
            }
        }
        let mut split = false;
        let are_few = open.len() <= MAX_SPLIT;
        let mut rest = VecDeque::from(open);
        let mut number = 0;
        while let Some(cluster) = rest.pop_front() {
            number += 1;
            let makes_any = self.makes_any(&cluster.objects);
            if number > MAX_SPLIT_BY_RESULT && !makes_any {
                self.is_coarse = true;
                self.undecided(&cluster.objects, &cluster.kinds);
                continue;
            }
            self.deciding.clone_from(&cluster.deciding);
            let is_worth_it = !is_one && (are_few || makes_any);
            let is_split = is_worth_it && self.split(&cluster.objects)
                || self.split_by_result(&cluster.objects);
            if is_split {
                split = true;
            } else if self.is_told_by_return(&cluster) {
                self.limited = true;
                self.parts.push(cluster.kinds);
            } else if cluster.objects.len() > 1 {
                // What one object meets is told more easily than what all of them do together.
                self.settle_one_by_one(&cluster.objects, true);
                rest.extend(std::mem::take(&mut self.open));
            } else {
                self.blur(
                    &cluster.objects,
                    &cluster.kinds,
                    "not told apart within the fuel",
                );
            }
        }
        if !split {
            self.plain();
        }
    }

    /// Is there fuel left to tell outcomes apart by conditions?
    fn may_split(&self) -> bool {
        let (base, factor) = SPLIT_FUEL;
        let blocks = self.frame.body.blocks.len();
        blocks <= MAX_SPLIT_BLOCKS && self.steps <= base + factor * blocks
    }

    /// Adds the outcomes of these objects, told apart by the deciding blocks; false if that exceeds the fuel.
    fn split(&mut self, objects: &[ObjId]) -> bool {
        if !self.may_split() {
            return false;
        }
        let scope = Scope::Exits(&self.deciding, objects);
        let relevance = Relevance::compute(self.frame, self.values, self.decisions, scope);
        let (flow, _) = self.follow(&relevance, objects, Share::after(self.endless_splits));
        self.endless_splits += usize::from(flow.limited);
        let Some(outcomes) = self.told(&flow, objects) else {
            return false;
        };
        self.parts.push(outcomes);
        true
    }

    /// Is one of the objects new? When callers get it has to be told exactly.
    fn makes_any(&self, objects: &[ObjId]) -> bool {
        let kind = |obj: &ObjId| self.frame.local.memory.kind(*obj);
        objects
            .iter()
            .any(|obj| matches!(kind(obj), ObjKind::Fresh { .. }))
    }

    /// Adds the outcomes of these objects, told apart by what is returned: what happens to them where the function returns the same becomes
    /// "may". False if even that exceeds the fuel.
    fn split_by_result(&mut self, objects: &[ObjId]) -> bool {
        self.is_coarse = true;
        let relevance = Relevance::compute(self.frame, self.values, self.decisions, Scope::Result);
        // Tests of callbacks do not concern the objects and would be jumped over.
        let flow = match tests_hooks(self.frame, self.values) {
            true => self.explore(&relevance, objects, Share::All),
            false => self.follow(&relevance, objects, Share::All).0,
        };
        let Some(mut outcomes) = self.told(&flow, objects) else {
            return false;
        };
        merge_equal_returns(&mut outcomes);
        drop_uncertain_births(&mut outcomes);
        self.parts.push(outcomes);
        true
    }

    /// The outcomes that an exploration of these objects tells; none if it exceeded the fuel.
    fn told(&mut self, flow: &UseFlow, objects: &[ObjId]) -> Option<Vec<Outcome>> {
        self.steps += flow.steps;
        if flow.limited {
            tracing::debug!(
                function = self.frame.program.func_name(self.frame.func),
                ?objects,
                steps = flow.steps,
                crowded = flow.crowded,
                "no outcomes"
            );
            return None;
        }
        let with_hook = only_with_hook(self.frame, self.values, flow);
        let exits: Vec<(&drip_flow::End, bool)> = flow
            .ends
            .iter()
            .zip(with_hook)
            .filter(|(end, _)| {
                let facts = &end.state.facts;
                end.kind == EndKind::Exit && self.questions.can_hold(self.values, facts)
            })
            .collect();
        let mut reader = self.reader(objects);
        let mut told: Vec<(Outcome, bool)> = Vec::new();
        for (end, with_hook) in exits {
            let outcome = (reader.outcome(end), with_hook);
            if !told.contains(&outcome) {
                told.push(outcome);
            }
        }
        let paths: Vec<ValuePath> = objects
            .iter()
            .filter(|obj| !reader.fresh.contains(obj))
            .filter_map(|&obj| reader.object_path(obj))
            .collect();
        keep_with_hook(&mut told, &paths);
        let mut outcomes: Vec<Outcome> = Vec::new();
        for (outcome, _) in told {
            if !outcomes.contains(&outcome) {
                outcomes.push(outcome);
            }
            if outcomes.len() > MAX_ENDS {
                merge_alike(&mut outcomes);
                if outcomes.len() > MAX_ENDS {
                    merge_outcomes(&mut outcomes);
                }
            }
        }
        let (limited, keeps_result) = (reader.limited, reader.keeps_result);
        self.limited |= limited;
        self.keeps_result |= keeps_result;
        Some(outcomes)
    }

    /// New blocks of which each is returned where it is handed out at all (the second may be the first one, grown): callers need no
    /// condition to know whether they have got one.
    fn is_told_by_return(&self, cluster: &Open) -> bool {
        let is_new = |&object: &ObjId| {
            let kind = self.frame.local.memory.kind(object);
            matches!(kind, ObjKind::Fresh { .. })
        };
        let returned = |kind: &Outcome| {
            let is_returned = matches!(kind.ret, Value::Fresh { .. }) && kind.writes.is_empty();
            kind.fresh.is_empty() || is_returned && kind.fresh.len() == 1
        };
        cluster.objects.iter().all(is_new)
            && cluster.kinds.len() <= MAX_OUTCOMES
            && cluster.kinds.iter().all(returned)
    }

    /// A cluster whose exits could not all be told apart.
    fn blur(&mut self, cluster: &[ObjId], kinds: &[Outcome], reason: &str) {
        self.limited = true;
        tracing::debug!(
            function = self.frame.program.func_name(self.frame.func),
            ?cluster,
            "limit: exits not explored, {} steps: {reason}",
            self.steps
        );
        self.undecided(cluster, kinds);
    }

    /// A cluster of which only is told what may become of it: what some path frees is perhaps freed on every path, all else
    /// counts as escaped, and what it may hand out is no allocation (silence over noise).
    fn undecided(&mut self, cluster: &[ObjId], kinds: &[Outcome]) {
        let all = cluster
            .iter()
            .flat_map(|&obj| std::iter::once(obj).chain(others_alike(&self.alike, obj)));
        let gone: Vec<ObjId> = all
            .filter(|&obj| !matches!(self.frame.local.memory.kind(obj), ObjKind::Fresh { .. }))
            .collect();
        let mut outcome = Outcome::returning(Value::Unknown(Class::Any));
        outcome.escapes = self.escapes(&gone);
        for free in kinds.iter().flat_map(|kind| &kind.frees) {
            outcome.escapes.retain(|e| e.path != free.path);
            if !outcome.frees.iter().any(|f| f.path == free.path) {
                outcome.frees.push(Free {
                    certainty: Certainty::May,
                    ..free.clone()
                });
            }
        }
        outcome.frees.sort();
        self.parts.push(vec![outcome]);
    }

    /// What can be read off without following paths: one outcome.
    fn plain(&mut self) {
        let state = State {
            objects: SmallVec::new(),
            facts: SmallVec::new(),
            env: SmallVec::new(),
        };
        let frame = self.frame;
        let reached = reached_blocks(frame, self.values);
        let mut reader = self.reader(&[]);
        let mut outcome: Option<Outcome> = None;
        for block in frame.body.blocks.ids() {
            let inst = frame.body.terminator(block);
            let Op::Ret { value } = frame.body.insts[inst].op else {
                continue;
            };
            if !reached.contains(block) {
                continue;
            }
            let possible = value.map_or_else(SmallVec::new, |value| {
                possible_values(frame, &reached, value)
            });
            let mut results = possible
                .iter()
                .map(|&value| reader.returned_value(&state, Some(value)));
            let first = results.next().unwrap_or(Value::Unknown(Class::Any));
            let ret = results.fold(first, |known, value| match known == value {
                true => known,
                false => either_result(&known, &value),
            });
            let mut here = Outcome::returning(ret);
            reader.written_cells(&state, inst, &mut here);
            here.writes.sort();
            reader.limited |= bound_writes(&mut here);
            match &mut outcome {
                None => outcome = Some(here),
                Some(known) => {
                    if known.ret != here.ret {
                        known.ret = either_result(&known.ret, &here.ret);
                    }
                    blend(known, &here);
                }
            }
        }
        let limited = reader.limited;
        self.limited |= limited;
        // Without a reachable return the function never returns; nor does one whose every way to it passes a call that does not.
        self.parts.push(
            outcome
                .filter(|_| returns(frame))
                .map_or_else(Vec::new, |outcome| vec![outcome]),
        );
    }
}
