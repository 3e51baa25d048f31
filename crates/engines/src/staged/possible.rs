//! Question: what can a function return, as far as no path has to be followed for it?

use drip_base::IdSet;
use drip_flow::{Frame, Values};
use drip_program::{BlockId, Op, Operand};
use smallvec::SmallVec;

/// Values that a returned φ may stand for, with the φs on the way to them; with more, nothing is told of the result.
const MAX_POSSIBLE: usize = 12;

/// Blocks that can be reached at all: a branch on what is the same in every run goes one way (`if (lock() != 0)`).
pub(super) fn reached_blocks(frame: &Frame<'_>, values: &mut Values) -> IdSet<BlockId> {
    let mut reached = IdSet::with_capacity(frame.body.blocks.len());
    let mut open = vec![BlockId::new(0)];
    while let Some(block) = open.pop() {
        if !reached.insert(block) {
            continue;
        }
        match frame.body.insts[frame.body.terminator(block)].op {
            Op::CondBr { cond, then, els } => {
                let term = values.term(cond);
                match values.terms.as_bool(term) {
                    Some(true) => open.push(then),
                    Some(false) => open.push(els),
                    None => open.extend([then, els]),
                }
            }
            _ => open.extend(frame.cfg.succs(block)),
        }
    }
    reached
}

/// What a returned φ can be; itself, if that is more than a few values.
pub(super) fn possible_values(
    frame: &Frame<'_>,
    reached: &IdSet<BlockId>,
    operand: Operand,
) -> SmallVec<[Operand; 4]> {
    let mut possible: SmallVec<[Operand; 4]> = SmallVec::new();
    let mut seen: SmallVec<[Operand; 8]> = SmallVec::from_slice(&[operand]);
    let mut next = 0;
    while let Some(&value) = seen.get(next) {
        next += 1;
        let def = value.as_value().and_then(|value| frame.body.def(value));
        let Some(Op::Phi { incoming }) = def.map(|inst| frame.body.insts[inst].op) else {
            possible.push(value);
            continue;
        };
        let entries = frame.body.incoming(incoming).iter();
        for entry in entries.filter(|entry| reached.contains(entry.block)) {
            if !seen.contains(&entry.value) {
                seen.push(entry.value);
            }
        }
        if seen.len() > MAX_POSSIBLE {
            return SmallVec::from_slice(&[operand]);
        }
    }
    possible
}
