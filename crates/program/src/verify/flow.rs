//! Do control flow, phis and definitions fit together? Relies on `shape`.

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
            block_dominance(check, &cfg, block, &scratch.block_of);
        }
    }
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
fn block_dominance(check: &mut Check<'_>, cfg: &Cfg, block: BlockId, block_of: &[BlockId]) {
    let body = check.body;
    let dominators = cfg.dominators();
    let start = body.blocks[block].insts.start as usize;
    for inst in body.block_insts(block) {
        let mut holds = true;
        if let Op::Phi { incoming } = body.insts[inst].op {
            for entry in body.incoming(incoming) {
                let def = entry.value.as_value().and_then(|value| body.def(value));
                if let Some(def) = def
                    && cfg.is_reachable(entry.block)
                {
                    holds &= dominators.dominates(block_of[def.index()], entry.block);
                }
            }
        } else {
            body.for_each_operand(inst, |operand| {
                if let Some(def) = operand.as_value().and_then(|value| body.def(value)) {
                    let here = def < inst && def.index() >= start;
                    holds &= here || dominators.strictly_dominates(block_of[def.index()], block);
                }
            });
        }
        if !holds {
            check.inst = Some(inst);
            check.error("uses a value that its definition does not dominate");
        }
    }
}
