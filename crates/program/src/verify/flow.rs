//! Do control flow, phis and definitions fit together? Relies on `shape`.

use drip_base::Dominators;

use crate::body::*;
use crate::cfg::Cfg;
use crate::ids::*;

use super::{Check, Scratch};

pub fn check_flow(check: &mut Check<'_>, scratch: &mut Scratch) {
    let body = check.body;
    if body.blocks.len() == 1 && straight_line(check) {
        return;
    }
    let cfg = Cfg::build(body);
    let entry = cfg.entry();
    check.block = Some(entry);
    check.require(
        cfg.preds(entry).is_empty(),
        "the entry block has predecessors",
    );
    scratch.counts.clear();
    scratch.counts.resize(body.blocks.len(), 0);
    scratch.values.clear();
    scratch.values.resize(body.blocks.len(), None);
    let block_of = std::mem::take(&mut scratch.block_of);
    let flow = Flow {
        body,
        cfg: &cfg,
        dominators: cfg.dominators(),
        block_of: &block_of,
        has_invokes: has_invokes(body),
    };
    for block in body.blocks.ids() {
        check.block = Some(block);
        check.inst = None;
        let preds = cfg.preds(block);
        for inst in body.block_insts(block) {
            let Op::Phi { incoming } = body.insts[inst].op else {
                break;
            };
            check.inst = Some(inst);
            phi_entries(check, preds, body.incoming(incoming), scratch);
        }
        if cfg.is_reachable(block) {
            block_dominance(check, &flow, block);
        }
    }
    scratch.block_of = block_of;
}

fn has_invokes(body: &Body) -> bool {
    let mut blocks = body.blocks.ids().iter();
    blocks.any(|block| matches!(body.insts[body.terminator(block)].op, Op::Invoke { .. }))
}

/// The only block has no edges, no phis, and uses only what stands before.
fn straight_line(check: &Check<'_>) -> bool {
    let body = check.body;
    let params = body.param_count();
    let mut holds = true;
    for (id, inst) in body.insts.iter_enumerated() {
        holds &= !matches!(inst.op, Op::Phi { .. });
        body.for_each_operand(id, |operand| {
            holds &= operand
                .as_value()
                .is_none_or(|value| value.index() < params + id.index());
        });
    }
    body.for_each_succ(BlockId::from_u32(0), |_| holds = false);
    holds
}

/// One entry per incoming edge, the same value on parallel edges. `counts` and `values` are clear before and after.
fn phi_entries(
    check: &mut Check<'_>,
    preds: &[BlockId],
    entries: &[Incoming],
    scratch: &mut Scratch,
) {
    let counts = &mut scratch.counts;
    for entry in entries {
        counts[entry.block.index()] += 1;
    }
    let mut agree = preds.len() == entries.len();
    for pred in preds {
        match counts[pred.index()].checked_sub(1) {
            Some(left) => counts[pred.index()] = left,
            None => agree = false,
        }
    }
    if !agree {
        entries.iter().for_each(|e| counts[e.block.index()] = 0);
        return check.error("a phi must have one entry per incoming edge");
    }
    // Predecessors ascend, so parallel edges are neighbours.
    if preds.windows(2).any(|pair| pair[0] == pair[1]) {
        let values = &mut scratch.values;
        let mut equal = true;
        for entry in entries {
            let first = values[entry.block.index()].get_or_insert(entry.value);
            equal &= *first == entry.value;
        }
        entries.iter().for_each(|e| values[e.block.index()] = None);
        check.require(equal, "a phi has different values on parallel edges");
    }
}

/// Every definition dominates its uses in a reachable block.
fn block_dominance(check: &mut Check<'_>, flow: &Flow<'_>, block: BlockId) {
    let body = check.body;
    let start = body.blocks[block].insts.start as usize;
    for inst in body.block_insts(block) {
        let mut holds = true;
        if let Op::Phi { incoming } = body.insts[inst].op {
            for entry in body.incoming(incoming) {
                let def = entry.value.as_value().and_then(|value| body.def(value));
                if let Some(def) = def
                    && flow.cfg.is_reachable(entry.block)
                {
                    holds &= flow.reaches_phi(def, entry.block, block);
                }
            }
        } else {
            body.for_each_operand(inst, |operand| {
                if let Some(def) = operand.as_value().and_then(|value| body.def(value)) {
                    let here = def < inst && def.index() >= start;
                    holds &= here || flow.reaches_block(def, block);
                }
            });
        }
        if !holds {
            check.inst = Some(inst);
            check.error("uses a value that its definition does not dominate");
        }
    }
}

struct Flow<'f> {
    body: &'f Body,
    cfg: &'f Cfg,
    dominators: &'f Dominators<BlockId>,
    block_of: &'f [BlockId],
    has_invokes: bool,
}

impl Flow<'_> {
    /// Is the definition, in another block, available at the start of this one?
    fn reaches_block(&self, def: InstId, block: BlockId) -> bool {
        let def_block = self.block_of[def.index()];
        match self.invoke_targets(def) {
            Some((normal, _)) => {
                self.is_only_entry(def_block, normal) && self.dominators.dominates(normal, block)
            }
            None => self.dominators.strictly_dominates(def_block, block),
        }
    }

    /// Is the definition available at the end of `from`, on the way to the phi's block?
    fn reaches_phi(&self, def: InstId, from: BlockId, phi: BlockId) -> bool {
        if self.block_of[def.index()] != from {
            return self.reaches_block(def, from);
        }
        match self.invoke_targets(def) {
            Some((normal, unwind)) => phi == normal && phi != unwind,
            None => true,
        }
    }

    /// The result of an `invoke` exists behind its normal edge only.
    fn invoke_targets(&self, def: InstId) -> Option<(BlockId, BlockId)> {
        match self.body.insts[def].op {
            Op::Invoke { normal, unwind, .. } if self.has_invokes => Some((normal, unwind)),
            _ => None,
        }
    }

    /// Is one edge from `from` the only way into `to`, but for edges back from what `to` dominates?
    fn is_only_entry(&self, from: BlockId, to: BlockId) -> bool {
        let mut edges = 0;
        self.cfg.preds(to).iter().all(|&pred| {
            edges += usize::from(pred == from);
            pred == from || !self.cfg.is_reachable(pred) || self.dominators.dominates(to, pred)
        }) && edges == 1
    }
}
