//! All-path analysis (SABER §4.4): under which conditions does a block reach a sink?
//!
//! Equations 2–5: FREED is the disjunction over sinks and value-flow paths of the conjunction of the guards of their edges; an
//! edge's guard is the disjunction over the control-flow paths from the definition to the use of the conjunction of the
//! branches on them. Both disjunctions of conjunctions are computed by passing guards along the graph, not path by path.
//!
//! Loops are turned at most once; after the turn the exit condition is dropped (fig. 8). A test of the block itself against
//! null, or against anything that is not the block, has a known outcome (§5). Deviations, both towards silence: a branch whose
//! other targets all end the program is no condition; a use on every way from its definition to the function's end is
//! unconditional.

use std::collections::VecDeque;

use drip_base::{IdSet, IndexVec};
use drip_flow::svfg::{Node, Place, Svfg, Use};
use drip_pointer::andersen::{InstanceId, PointsTo};
use drip_program::{BlockId, Body, Cfg, CmpPred, FuncId, InstId, Op, Operand};
use rustc_hash::{FxHashMap, FxHashSet};

use super::bdd::{Bdd, Bdds, TooLarge};
use super::condition::{Condition, Test, test};
use super::slice::Slice;

/// Control flow of a function, with what guards need.
pub struct Flow {
    pub cfg: Cfg,
    pub block_of: IndexVec<InstId, BlockId>,
    /// Blocks from which the function's end can be reached.
    pub returns: IdSet<BlockId>,
}

impl Flow {
    pub fn build(body: &Body, never_passes: impl Fn(InstId) -> bool) -> Flow {
        let cfg = Cfg::build_cut(body, &never_passes);
        let mut block_of = IndexVec::from_elem(cfg.entry(), body.insts.len());
        let mut stack = Vec::new();
        for block in body.blocks.ids() {
            for inst in body.block_insts(block) {
                block_of[inst] = block;
            }
            let end = body.insts[body.terminator(block)].op;
            let ends = matches!(end, Op::Ret { .. } | Op::Resume { .. });
            // A call before it that does not return cuts the block off from its end.
            let cut = || body.block_insts(block).any(&never_passes);
            if ends && cfg.is_reachable(block) && !cut() {
                stack.push(block);
            }
        }
        let mut returns = IdSet::with_capacity(cfg.len());
        while let Some(block) = stack.pop() {
            if returns.insert(block) {
                stack.extend(cfg.preds(block));
            }
        }
        Flow {
            cfg,
            block_of,
            returns,
        }
    }
}

/// Guards of one source's slice.
pub struct Guards<'g, 'p> {
    bdds: &'g Bdds,
    points_to: &'g PointsTo<'p>,
    flows: &'g IndexVec<FuncId, Option<Flow>>,
    /// Values that hold the block.
    holders: FxHashSet<(InstanceId, Operand)>,
    numbers: FxHashMap<(InstanceId, Test), u32>,
    /// What each variable means.
    pub conditions: Vec<Condition>,
    known: FxHashMap<(InstanceId, Place, Use), Bdd>,
}

impl<'g, 'p> Guards<'g, 'p> {
    pub fn new(
        bdds: &'g Bdds,
        points_to: &'g PointsTo<'p>,
        flows: &'g IndexVec<FuncId, Option<Flow>>,
    ) -> Guards<'g, 'p> {
        Guards {
            bdds,
            points_to,
            flows,
            holders: FxHashSet::default(),
            numbers: FxHashMap::default(),
            conditions: Vec::new(),
            known: FxHashMap::default(),
        }
    }

    /// The values of a slice hold the block: tests of them are known.
    pub fn hold(&mut self, svfg: &Svfg, slice: &Slice) {
        for &node in &slice.states {
            if let Node::Value { instance, value } = svfg.nodes[node] {
                self.holders.insert((instance, Operand::value(value)));
            }
        }
    }

    fn body(&self, instance: InstanceId) -> Option<(&'g Body, &'g Flow)> {
        let points_to = self.points_to;
        let func = points_to.instances().list[instance].func;
        let body = points_to.system.program.funcs[func].body.as_ref()?;
        Some((body, self.flows[func].as_ref()?))
    }

    // [EQ-2] (SABER equation 2): FREED(src) = ∨ over sinks ∨ over value-flow paths P of vfguard(P)
    // [EQ-3] (SABER equation 3): vfguard(P) = ∧ over the edges of P of cfguard
    pub fn freed(
        &mut self,
        svfg: &Svfg,
        slice: &Slice,
        backward: &IdSet<usize>,
    ) -> Result<Bdd, TooLarge> {
        let mut out: Vec<Vec<usize>> = vec![Vec::new(); slice.states.len()];
        for (at, step) in slice.steps.iter().enumerate() {
            if backward.contains(step.from) && backward.contains(step.to) {
                out[step.from].push(at);
            }
        }
        let mut reached: Vec<Bdd> = vec![self.bdds.no(); slice.states.len()];
        reached[0] = self.bdds.yes();
        let mut queue = VecDeque::from([0usize]);
        let mut queued = IdSet::with_capacity(slice.states.len());
        queued.insert(0usize);
        while let Some(state) = queue.pop_front() {
            queued.remove(state);
            for &at in &out[state] {
                let step = slice.steps[at];
                let from = slice.states[step.from];
                let guard = match svfg.nodes[from].instance() {
                    Some(instance) => self.edge(instance, svfg.places[from], step.edge.used)?,
                    None => self.bdds.yes(),
                };
                let through = reached[state].and(&guard)?;
                let joined = reached[step.to].or(&through)?;
                if joined != reached[step.to] {
                    reached[step.to] = joined;
                    if queued.insert(step.to) {
                        queue.push_back(step.to);
                    }
                }
            }
        }
        let mut freed = self.bdds.no();
        for &sink in &slice.sinks {
            freed = freed.or(&reached[sink])?;
        }
        Ok(freed)
    }

    // [EQ-4] (SABER equation 4): cfguard(p̂, q̂) = ∨ over control-flow paths Q from p̂ to q̂ of pguard(Q)
    pub fn edge(&mut self, instance: InstanceId, from: Place, used: Use) -> Result<Bdd, TooLarge> {
        if let Some(known) = self.known.get(&(instance, from, used)) {
            return Ok(known.clone());
        }
        let Some((body, flow)) = self.body(instance) else {
            return Ok(self.bdds.yes());
        };
        let start = match from {
            Place::Entry => flow.cfg.entry(),
            Place::Start(block) => block,
            Place::After(inst) => flow.block_of[inst],
        };
        let guard = match used {
            Use::Anywhere => self.bdds.yes(),
            Use::At(inst) => self.blocks(instance, body, flow, start, flow.block_of[inst])?,
            Use::OnEdge(pred, block) => {
                let to_end = self.blocks(instance, body, flow, start, pred)?;
                let branch = self.branch(instance, body, flow, pred, block)?;
                to_end.and(&branch)?
            }
        };
        self.known.insert((instance, from, used), guard.clone());
        Ok(guard)
    }

    // [EQ-5] (SABER equation 5): pguard(Q) = ∧ over the edges e of Q of eguard(e)
    fn blocks(
        &mut self,
        instance: InstanceId,
        body: &Body,
        flow: &Flow,
        from: BlockId,
        to: BlockId,
    ) -> Result<Bdd, TooLarge> {
        if from == to || flow.cfg.post_dominators().post_dominates(to, from) {
            return Ok(self.bdds.yes());
        }
        let order = turns_once(flow, from);
        let mut reached: FxHashMap<BlockId, Bdd> = FxHashMap::default();
        reached.insert(from, self.bdds.yes());
        for block in order {
            let Some(here) = reached.get(&block).cloned() else {
                continue;
            };
            if block == to {
                return Ok(here);
            }
            for (target, next) in moves(flow, block) {
                let branch = self.branch(instance, body, flow, block, target)?;
                let through = here.and(&branch)?;
                let joined = match reached.get(&next) {
                    Some(known) => known.or(&through)?,
                    None => through,
                };
                reached.insert(next, joined);
            }
        }
        Ok(self.bdds.no())
    }

    /// eguard: the condition under which a branch goes to a target.
    fn branch(
        &mut self,
        instance: InstanceId,
        body: &Body,
        flow: &Flow,
        block: BlockId,
        target: BlockId,
    ) -> Result<Bdd, TooLarge> {
        let mut targets: Vec<BlockId> = flow.cfg.succs(block).to_vec();
        targets.sort_unstable();
        targets.dedup();
        if flow.returns.contains(target) {
            targets.retain(|&t| t == target || flow.returns.contains(t));
        }
        if targets.len() <= 1 {
            return Ok(self.bdds.yes());
        }
        match body.insts[body.terminator(block)].op {
            Op::CondBr { cond, then, .. } => {
                let types = &self.points_to.system.program.types;
                let (test, holds) = test(types, body, cond);
                let holds = holds == (target == then);
                match self.known_outcome(instance, test) {
                    Some(outcome) if outcome == holds => Ok(self.bdds.yes()),
                    Some(_) => Ok(self.bdds.no()),
                    None => self.literal(instance, block, test, holds),
                }
            }
            // The exception's way is not the usual one.
            Op::Invoke { normal, .. } if normal == target => Ok(self.bdds.yes()),
            // One variable per target but the last: the first that holds is taken.
            _ => {
                let mut guard = self.bdds.yes();
                for (way, &other) in targets.iter().enumerate() {
                    let last = way + 1 == targets.len();
                    let test = Test::Way { block, way };
                    if other == target {
                        if !last {
                            let taken = self.literal(instance, block, test, true)?;
                            guard = guard.and(&taken)?;
                        }
                        break;
                    }
                    let passed = self.literal(instance, block, test, false)?;
                    guard = guard.and(&passed)?;
                }
                Ok(guard)
            }
        }
    }

    /// SABER §5: only successful allocations count, and the block is nothing but itself.
    fn known_outcome(&self, instance: InstanceId, test: Test) -> Option<bool> {
        let holds = |operand: Operand| self.holders.contains(&(instance, operand));
        match test {
            Test::Compare {
                pred: CmpPred::Eq,
                a,
                b,
            } => (holds(a) != holds(b)).then_some(false),
            Test::Truth(value) => holds(value).then_some(true),
            _ => None,
        }
    }

    fn literal(
        &mut self,
        instance: InstanceId,
        block: BlockId,
        test: Test,
        holds: bool,
    ) -> Result<Bdd, TooLarge> {
        let next = self.conditions.len() as u32;
        let number = *self.numbers.entry((instance, test)).or_insert(next);
        if number == next {
            self.conditions.push(Condition {
                instance,
                test,
                block,
            });
        }
        let variable = self.bdds.variable(number)?;
        if holds { Ok(variable) } else { variable.not() }
    }
}

/// Where control goes from a block when every loop is turned at most once: (target of the branch, block that comes next).
/// A back edge leads to what follows its loop, without the exit's condition (fig. 8): to the header's own exits, or where it
/// has none, to all exits of the loop.
fn moves(flow: &Flow, block: BlockId) -> Vec<(BlockId, BlockId)> {
    let cfg = &flow.cfg;
    let mut out = Vec::new();
    for edge in cfg.out_edges(block).iter() {
        let target = cfg.target(edge);
        if !cfg.rpo().is_retreating(block, target) {
            out.push((target, target));
            continue;
        }
        let Some(turned) = cfg.loops().headed_by(target) else {
            continue;
        };
        let exits: Vec<(BlockId, BlockId)> = cfg.loops().exits(turned, cfg.graph()).collect();
        let own: Vec<(BlockId, BlockId)> = exits
            .iter()
            .copied()
            .filter(|&(from, _)| from == target)
            .collect();
        let after = if own.is_empty() { exits } else { own };
        out.extend(after.into_iter().map(|(_, exit)| (target, exit)));
    }
    out.sort_unstable();
    out.dedup();
    out
}

/// Blocks reachable from `start` by [`moves`], each before those that come after it.
fn turns_once(flow: &Flow, start: BlockId) -> Vec<BlockId> {
    let mut order = Vec::new();
    let mut seen: FxHashSet<BlockId> = FxHashSet::default();
    let mut stack: Vec<(BlockId, Vec<BlockId>)> = Vec::new();
    let nexts = |block| {
        let mut nexts: Vec<BlockId> = moves(flow, block).iter().map(|&(_, next)| next).collect();
        nexts.sort_unstable();
        nexts.dedup();
        nexts
    };
    seen.insert(start);
    stack.push((start, nexts(start)));
    while let Some((block, rest)) = stack.last_mut() {
        match rest.pop() {
            Some(next) => {
                if seen.insert(next) {
                    stack.push((next, nexts(next)));
                }
            }
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}
