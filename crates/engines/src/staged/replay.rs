//! Question: does a finding's path really show a leak? An independent check of every finding before it is reported.
//!
//! Shares nothing with the exploration but the path it claims: no points-to sets, no states, no conditions. It walks the
//! path over the control flow graph, follows the pointer through SSA names and plain stack slots only, and refuses the
//! path if it is not connected, if it never makes the object, or if it passes a call that certainly frees the pointer or
//! lets it escape, or a return of it. A pointer that goes out of its sight (a field, an out-parameter) is not checked
//! further: the check has no opinion of its own there.

use drip_flow::{End, Frame, UseFlow};
use drip_models::{Certainty, Outcome, Root, Value, ValuePath};
use drip_program::{BlockId, CastOp, InstId, Op, Operand, ValueId};
use rustc_hash::FxHashSet;

use super::paths::{Hop, Path};

/// Why a path shows no leak.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    NotFromTheEntry,
    NotConnected(BlockId, BlockId),
    NeverAllocates,
    Frees(InstId),
    Escapes(InstId),
    Returns(InstId),
    NeverEnds,
}

/// Walks the path of `flow.objects[0]` to `end`.
pub fn replay(frame: &Frame<'_>, flow: &UseFlow, path: &Path, end: &End) -> Result<(), Refusal> {
    let block_of = |hop: &Hop| flow.nodes[hop.node].block;
    if path.hops.first().map(block_of) != Some(BlockId::new(0)) {
        return Err(Refusal::NotFromTheEntry);
    }
    let mut walk = Walk {
        frame,
        made: false,
        names: FxHashSet::default(),
        slots: FxHashSet::default(),
    };
    let mut previous: Option<BlockId> = None;
    for (position, hop) in path.hops.iter().enumerate() {
        let block = block_of(hop);
        if let Some(from) = previous {
            if !frame.cfg.succs(from).contains(&block) {
                return Err(Refusal::NotConnected(from, block));
            }
            walk.enter(from, block);
        }
        let last = position + 1 == path.hops.len();
        for inst in frame.body.block_insts(block) {
            if last && inst == end.at {
                return walk.finish(inst);
            }
            walk.step(flow, hop, inst)?;
        }
        previous = Some(block);
    }
    Err(Refusal::NeverEnds)
}

struct Walk<'w, 'a> {
    frame: &'w Frame<'a>,
    /// The object exists.
    made: bool,
    /// SSA names that point to it.
    names: FxHashSet<ValueId>,
    /// Stack slots that hold a pointer to it.
    slots: FxHashSet<ValueId>,
}

impl Walk<'_, '_> {
    fn finish(&self, at: InstId) -> Result<(), Refusal> {
        if !self.made {
            return Err(Refusal::NeverAllocates);
        }
        match self.frame.body.insts[at].op {
            Op::Ret { value: Some(value) } if self.is_it(value) => Err(Refusal::Returns(at)),
            _ => Ok(()),
        }
    }

    fn is_it(&self, operand: Operand) -> bool {
        operand.as_value().is_some_and(|v| self.names.contains(&v))
    }

    fn name(&mut self, value: ValueId, is_it: bool) {
        if is_it {
            self.names.insert(value);
        } else {
            self.names.remove(&value);
        }
    }

    /// φs read their inputs all at once.
    fn enter(&mut self, from: BlockId, to: BlockId) {
        let body = self.frame.body;
        let mut results: Vec<(ValueId, bool)> = Vec::new();
        for inst in body.block_insts(to) {
            let Op::Phi { incoming } = body.insts[inst].op else {
                break;
            };
            let taken = body.incoming(incoming).iter().find(|e| e.block == from);
            results.push((
                body.result(inst),
                taken.is_some_and(|e| self.is_it(e.value)),
            ));
        }
        for (value, is_it) in results {
            self.name(value, is_it);
        }
    }

    fn step(&mut self, flow: &UseFlow, hop: &Hop, inst: InstId) -> Result<(), Refusal> {
        let body = self.frame.body;
        let result = body.result(inst);
        match body.insts[inst].op {
            Op::PtrAdd { base, .. } => {
                let is_it = self.is_it(base);
                self.name(result, is_it);
            }
            Op::Cast {
                op: CastOp::Bitcast,
                value,
            } => {
                let is_it = self.is_it(value);
                self.name(result, is_it);
            }
            Op::Store { addr, value } => {
                if let Some(slot) = self.slot(addr) {
                    if self.is_it(value) {
                        self.slots.insert(slot);
                    } else {
                        self.slots.remove(&slot);
                    }
                }
            }
            Op::Load { addr } => {
                let is_it = self
                    .slot(addr)
                    .is_some_and(|slot| self.slots.contains(&slot));
                self.name(result, is_it);
            }
            Op::Call { .. } | Op::Invoke { .. } => return self.call(flow, hop, inst),
            Op::Phi { .. } => {}
            _ => self.name(result, false),
        }
        Ok(())
    }

    /// The stack slot that an address is, exactly.
    fn slot(&self, addr: Operand) -> Option<ValueId> {
        let value = addr.as_value()?;
        let inst = self.frame.body.def(value)?;
        matches!(self.frame.body.insts[inst].op, Op::Alloca { .. }).then_some(value)
    }

    fn call(&mut self, flow: &UseFlow, hop: &Hop, inst: InstId) -> Result<(), Refusal> {
        let result = self.frame.body.result(inst);
        self.name(result, false);
        let Some(summary) = self.frame.calls.get(&inst) else {
            return Ok(());
        };
        let chosen = hop.choices.iter().find(|c| c.inst == inst);
        let outcome = match (chosen, &summary.outcomes[..]) {
            (Some(choice), outcomes) => outcomes.get(usize::from(choice.alternative)),
            (None, [only]) => Some(only),
            _ => None,
        };
        let Some(outcome) = outcome else {
            return Ok(());
        };
        self.effects(inst, outcome)?;
        self.birth(flow, inst, outcome);
        Ok(())
    }

    fn effects(&self, inst: InstId, outcome: &Outcome) -> Result<(), Refusal> {
        let args = self.frame.args(inst);
        let passed = |path: &ValuePath| match path.root {
            Root::Arg(n) if path.loads.is_empty() => {
                args.get(usize::from(n)).is_some_and(|&arg| self.is_it(arg))
            }
            _ => false,
        };
        let certain = |f: &drip_models::Free| f.certainty == Certainty::Must && passed(&f.path);
        if outcome.frees.iter().any(certain) {
            return Err(Refusal::Frees(inst));
        }
        if outcome.escapes.iter().any(|e| passed(&e.path)) {
            return Err(Refusal::Escapes(inst));
        }
        Ok(())
    }

    /// The site makes an object. In a loop the finding may be about a later one than the first: then the path has shown
    /// that the site is reached, and names of the earlier one are not followed.
    fn birth(&mut self, flow: &UseFlow, inst: InstId, outcome: &Outcome) {
        let Some((call, index)) = flow.birth(self.frame) else {
            return;
        };
        if call != inst || !outcome.fresh.contains(&index) {
            return;
        }
        let again = std::mem::replace(&mut self.made, true);
        self.names.clear();
        self.slots.clear();
        if !again && matches!(outcome.ret, Value::Fresh { index: k, .. } if k == index) {
            self.names.insert(self.frame.body.result(inst));
        }
    }
}
