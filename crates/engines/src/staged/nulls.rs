//! Question: does a statement read or write through a pointer that is null on the way to it?
//!
//! `s->list = realloc(s->list, n); s->list[i] = x;` loses the old list where a new one could not be had, and ends the program in its next
//! statement; a test of the list before it would have been answered. What the pointer is follows from the way alone: φs, of values
//! and of memory, are what its edges make them, and a load finds what the last store on the way has put there.

use drip_flow::{Frame, region};
use drip_memssa::Def;
use drip_program::{CmpPred, InstId, Op, Operand};

use super::interface::constant;
use super::ways::Way;

/// Loads and φs from an access back to where its pointer comes from; beyond it the pointer counts as any.
const MAX_STEPS: usize = 4;

/// The pointer that a statement reads or writes through, as this way brings it there.
pub(super) fn accessed_on(frame: &Frame<'_>, way: &Way, inst: InstId) -> Option<Operand> {
    let (Op::Load { addr } | Op::Store { addr, .. }) = frame.body.insts[inst].op else {
        return None;
    };
    // Whatever is added to a null pointer, it leads nowhere.
    let pointer = brought(frame, way, frame.accessed(addr));
    let base = frame.accessed(pointer);
    Some(brought(frame, way, base))
}

/// The pointer that a condition compares with null, as this way brings it there, and whether the condition asks if it is null.
pub(super) fn compared_on(frame: &Frame<'_>, way: &Way, cond: Operand) -> Option<(Operand, bool)> {
    let Op::Cmp { pred, a, b } = frame.body.insts[frame.body.def(cond.as_value()?)?].op else {
        return None;
    };
    let is_equal = match pred {
        CmpPred::Eq => true,
        CmpPred::Ne => false,
        _ => return None,
    };
    let is_null = constant(frame.program, frame.body, b) == Some(0);
    is_null.then(|| (brought(frame, way, a), is_equal))
}

fn brought(frame: &Frame<'_>, way: &Way, pointer: Operand) -> Operand {
    let mut pointer = way.taken(frame.body, pointer);
    for _ in 0..MAX_STEPS {
        match stored_on(frame, way, pointer) {
            Some(stored) => pointer = way.taken(frame.body, stored),
            None => break,
        }
    }
    pointer
}

/// What a load finds, where the way says which store has put it there.
fn stored_on(frame: &Frame<'_>, way: &Way, loaded: Operand) -> Option<Operand> {
    let load = frame.body.def(loaded.as_value()?)?;
    let Op::Load { addr } = frame.body.insts[load].op else {
        return None;
    };
    let &[place] = frame.local.targets(addr) else {
        return None;
    };
    let memory = &frame.local.memory;
    let cell = memory
        .find_cell(place)
        .filter(|&cell| memory.is_strong(cell))?;
    let mut version = frame.memssa.used(load, region(cell))?;
    let mut edges = way.edges().iter().rev();
    while let Def::Phi { block, operands } = &frame.memssa.versions[version].def {
        let &(from, _) = edges.find(|edge| edge.1 == *block)?;
        let mut preds = frame.cfg.preds(*block).iter();
        version = *operands.get(preds.position(|&pred| pred == from)?)?;
    }
    frame.stored_operand(version)
}
