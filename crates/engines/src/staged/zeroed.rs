//! Question: is a fresh block full of zeros when it is made, and what of it may have been stored to since? `calloc` and the
//! wrappers of it, and wrappers that clear what they allocate: a flag in such a block that nobody has set is not set.

use drip_flow::{Frame, cell_of};
use drip_memssa::Def;
use drip_models::Offset;
use drip_pointer::{CellId, ObjId, ObjKind};
use drip_program::{CmpPred, Const, InstId, Op, Operand};

/// Blocks between an allocation and the call that clears it.
const MAX_STEPS: usize = 8;

/// Does the block hold zeros wherever no exact cell of it was stored to?
pub(super) fn is_zeroed(frame: &Frame<'_>, obj: ObjId) -> bool {
    let ObjKind::Fresh { call, index } = frame.local.memory.kind(obj) else {
        return false;
    };
    let summary = frame.calls.get(&call);
    let mut makers = summary
        .into_iter()
        .flat_map(|s| &s.outcomes)
        .filter(|o| o.fresh.contains(&index))
        .peekable();
    let by_callee = makers.peek().is_some() && makers.all(|o| o.zeroed.contains(&index));
    (by_callee || is_cleared(frame, obj, call)) && !is_stored_somewhere(frame, obj)
}

/// Cells that something else than the allocation and its clearing may have stored to.
pub(super) fn stored_cells(frame: &Frame<'_>, obj: ObjId) -> Vec<CellId> {
    let memory = &frame.local.memory;
    let mut found: Vec<CellId> = Vec::new();
    for version in frame.memssa.versions.iter() {
        let Def::Chi { inst, .. } = version.def else {
            continue;
        };
        let cell = cell_of(version.region);
        let is_birth = matches!(memory.kind(obj), ObjKind::Fresh { call, .. } if call == inst)
            && !is_stored_at_birth(frame, cell);
        if memory.cells[cell].obj == obj && !is_birth && !clears(frame, inst, obj) {
            found.push(cell);
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Does the call that makes the block tell what it has stored in this cell of it?
pub(super) fn is_stored_at_birth(frame: &Frame<'_>, cell: CellId) -> bool {
    let place = frame.local.memory.cells[cell];
    let ObjKind::Fresh { call, index } = frame.local.memory.kind(place.obj) else {
        return false;
    };
    let mut outcomes = frame.calls.get(&call).into_iter().flat_map(|s| &s.outcomes);
    outcomes.any(|outcome| outcome.stores_in_fresh(index, place.off))
}

/// Is the block cleared as a whole right after it was made, before anything else than a test for null?
fn is_cleared(frame: &Frame<'_>, obj: ObjId, call: InstId) -> bool {
    let sizes = frame.args(call);
    let is_size = |len: Operand| {
        let same = |size: &Operand| match (frame.body.const_of(*size), frame.body.const_of(len)) {
            (Some(Const::Int { bits: a, .. }), Some(Const::Int { bits: b, .. })) => a == b,
            _ => *size == len,
        };
        sizes.iter().any(same)
    };
    let mut block = frame.block_of(call);
    for _ in 0..MAX_STEPS {
        let mut insts = frame.body.block_insts(block);
        let clearing = insts.find(|&inst| {
            let whole = matches!(frame.body.insts[inst].op, Op::MemSet { len, .. } if is_size(len));
            whole && clears(frame, inst, obj)
        });
        if clearing.is_some() {
            return true;
        }
        let next = match frame.body.insts[frame.body.terminator(block)].op {
            Op::Br { target } => target,
            Op::CondBr { cond, then, els } => match is_null_test(frame, cond, obj) {
                Some(true) => els,
                Some(false) => then,
                None => return false,
            },
            _ => return false,
        };
        block = next;
    }
    false
}

/// Does the condition compare the block's address with null: true if it holds for null?
fn is_null_test(frame: &Frame<'_>, cond: Operand, obj: ObjId) -> Option<bool> {
    let inst = frame.body.def(cond.as_value()?)?;
    let Op::Cmp { pred, a, b } = frame.body.insts[inst].op else {
        return None;
    };
    let is_block = |o: Operand| matches!(frame.local.targets(o), [loc] if loc.obj == obj);
    let is_null = |o: Operand| matches!(frame.body.const_of(o), Some(Const::Null));
    if !(is_block(a) && is_null(b)) {
        return None;
    }
    match pred {
        CmpPred::Eq => Some(true),
        CmpPred::Ne => Some(false),
        _ => None,
    }
}

/// Does the instruction set memory from the block's start to zero?
fn clears(frame: &Frame<'_>, inst: InstId, obj: ObjId) -> bool {
    let Op::MemSet { dst, byte, .. } = frame.body.insts[inst].op else {
        return false;
    };
    let zero = matches!(frame.body.const_of(byte), Some(Const::Int { bits: 0, .. }));
    let from_start =
        matches!(frame.local.targets(dst), [loc] if loc.obj == obj && loc.off == Offset::ZERO);
    zero && from_start
}

/// May anything be stored to the block at a place that is no exact cell?
fn is_stored_somewhere(frame: &Frame<'_>, obj: ObjId) -> bool {
    let local = &frame.local;
    let hits = |addr: Operand, exact_is_fine: bool| {
        let mut targets = local.targets(addr).iter();
        targets.any(|loc| loc.obj == obj && !(exact_is_fine && loc.off.is_exact()))
    };
    frame
        .body
        .insts
        .iter_enumerated()
        .any(|(inst, data)| match data.op {
            Op::Store { addr, .. } | Op::AtomicRmw { addr, .. } | Op::CmpXchg { addr, .. } => {
                hits(addr, true)
            }
            Op::MemCopy { dst, .. } => hits(dst, false),
            Op::MemSet { dst, .. } => hits(dst, false) && !clears(frame, inst, obj),
            Op::Call { .. } | Op::Invoke { .. } => {
                let outcomes = frame.calls.get(&inst).into_iter().flat_map(|s| &s.outcomes);
                outcomes.into_iter().any(|outcome| {
                    let stored = outcome.writes.iter().any(|write| {
                        let base = frame.resolve(inst, &write.cell.base);
                        base.iter().any(|loc| {
                            loc.obj == obj && !loc.off.plus(write.cell.offset).is_exact()
                        })
                    });
                    let copied = outcome.copies.iter().any(|copy| {
                        local.memory.kind(obj)
                            == ObjKind::Fresh {
                                call: inst,
                                index: copy.to,
                            }
                    });
                    let escaped = outcome.escapes.iter().any(|escape| {
                        frame
                            .reached_by(inst, &escape.path)
                            .binary_search(&obj)
                            .is_ok()
                    });
                    stored || copied || escaped
                })
            }
            _ => false,
        })
}
