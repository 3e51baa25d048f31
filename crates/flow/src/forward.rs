//! Question: where does what a load reads come from, if not from a store to its cell? From a store right before it through the same
//! address, which need not lead to a cell of its own (`tail->next = node; tail = tail->next;`), from a copy, or from a call that
//! makes a block full of zeros.

use drip_memssa::{Def, VersionId};
use drip_models::{Offset, Outcome};
use drip_pointer::{Loc, ObjKind};
use drip_program::{BlockId, Body, InstId, Op, Operand};

use crate::frame::{cell_of, region};
use crate::values::Context;

/// The value that a store in the same block has put where the load reads, with nothing written in between.
pub fn stored_just_before(
    body: &Body,
    block: BlockId,
    load: InstId,
    addr: Operand,
) -> Option<Operand> {
    let before = body.blocks[block].insts.start..load.as_u32();
    for inst in before.rev().map(InstId::from_u32) {
        match body.insts[inst].op {
            Op::Store { addr: to, value } => {
                return (place(body, to) == place(body, addr)).then_some(value);
            }
            Op::Call { .. }
            | Op::Invoke { .. }
            | Op::MemCopy { .. }
            | Op::MemSet { .. }
            | Op::AtomicRmw { .. }
            | Op::CmpXchg { .. } => return None,
            _ => {}
        }
    }
    None
}

/// Base and offset of an address.
fn place(body: &Body, addr: Operand) -> (Operand, i64) {
    let def = addr.as_value().and_then(|value| body.def(value));
    match def.map(|inst| body.insts[inst].op) {
        Some(Op::PtrAdd {
            base,
            offset,
            indices,
        }) if indices.len == 0 => (base, offset),
        _ => (addr, 0),
    }
}

/// Is this what a call that makes a block full of zeros has left in a cell of it? Not in loops, where the cell may be that of
/// an older block.
pub(crate) fn is_zeroed(context: &Context<'_>, version: VersionId) -> bool {
    let Def::Chi { inst, .. } = context.memssa.versions[version].def else {
        return false;
    };
    let place = context.local.memory.cells[cell_of(context.memssa.versions[version].region)];
    let ObjKind::Fresh { call, index } = context.local.memory.kind(place.obj) else {
        return false;
    };
    let Some(summary) = context.calls.get(&inst).filter(|_| call == inst) else {
        return false;
    };
    let block = context.block_of[inst.index()];
    let makers = summary.outcomes.iter().filter(|o| o.fresh.contains(&index));
    let is_untouched = |outcome: &Outcome| {
        outcome.zeroed.contains(&index) && !outcome.stores_in_fresh(index, place.off)
    };
    context.cfg.loops().innermost(block).is_none() && makers.into_iter().all(is_untouched)
}

/// The version of the cell that a copy has put into the cell of `version`.
pub(crate) fn copied_version(
    context: &Context<'_>,
    version: VersionId,
    dst: Operand,
    src: Operand,
    inst: InstId,
) -> Option<VersionId> {
    let cell = cell_of(context.memssa.versions[version].region);
    let place = context.local.memory.cells[cell];
    let ([to], [from]) = (context.local.targets(dst), context.local.targets(src)) else {
        return None;
    };
    if to.obj != place.obj || !to.off.is_exact() || !from.off.is_exact() {
        return None;
    }
    let distance = place.off.base.wrapping_sub(to.off.base);
    let source = context.local.memory.find_cell(Loc {
        obj: from.obj,
        off: from.off.plus(Offset::exact(distance)),
    })?;
    if !context.local.memory.is_strong(source) {
        return None;
    }
    context.memssa.used(inst, region(source))
}
