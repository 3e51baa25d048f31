//! Question: is what a function returns always a new block, although nobody can tell which one?
//!
//! A buffer that is grown in a loop is a new block each time, and the one that is returned is none of those that were followed. But
//! as long as the returned pointer can be nothing but blocks that the function has made, and these are held nowhere else, its
//! callers get a block of their own.

use drip_flow::Frame;
use drip_models::{Class, Offset, Outcome, Value};
use drip_pointer::{ObjId, ObjKind};
use drip_program::{Op, Operand};
use smallvec::smallvec;

/// Outcomes that return something that is not null return a new block, if it can be nothing else. `handed`: the blocks that the function
/// may hand out.
pub fn tell_new_results(frame: &Frame<'_>, handed: &[ObjId], outcomes: &mut [Outcome]) {
    let is_open = |o: &Outcome| o.ret == Value::Unknown(Class::NonZero) && o.fresh.is_empty();
    if !outcomes.iter().any(is_open) {
        return;
    }
    let Some(index) = always_new(frame, handed) else {
        return;
    };
    for outcome in outcomes.iter_mut().filter(|outcome| is_open(outcome)) {
        let offset = Offset::ZERO;
        outcome.ret = Value::Fresh { index, offset };
        outcome.fresh = smallvec![index];
    }
}

/// One of the blocks that every return may return, if all that it may return are such blocks and nobody else holds them.
fn always_new(frame: &Frame<'_>, handed: &[ObjId]) -> Option<u16> {
    let body = frame.body;
    let returned = body.insts.iter().filter_map(|data| match data.op {
        Op::Ret { value } => value,
        _ => None,
    });
    let mut blocks: Vec<ObjId> = Vec::new();
    for value in returned {
        let targets = frame.local.targets(value);
        let is_new = !targets.is_empty()
            && targets
                .iter()
                .all(|loc| handed.contains(&loc.obj) && loc.off == Offset::ZERO);
        if !is_new || may_be_null(frame, value) {
            return None;
        }
        blocks.extend(targets.iter().map(|loc| loc.obj));
    }
    let first = blocks.first()?;
    if is_held(frame, &blocks) || is_given_away(frame, &blocks) {
        return None;
    }
    let index = handed.iter().position(|obj| obj == first)?;
    u16::try_from(index).ok()
}

fn may_be_null(frame: &Frame<'_>, value: Operand) -> bool {
    let def = value.as_value().and_then(|value| frame.body.def(value));
    match def.map(|inst| frame.body.insts[inst].op) {
        Some(Op::Phi { incoming }) => {
            let mut inputs = frame.body.incoming(incoming).iter();
            inputs.any(|input| frame.local.targets(input.value).is_empty())
        }
        _ => false,
    }
}

/// Does something that outlives the function hold one of the blocks?
fn is_held(frame: &Frame<'_>, blocks: &[ObjId]) -> bool {
    let memory = &frame.local.memory;
    let mut cells = frame.local.contents.iter_enumerated();
    cells.any(|(cell, contents)| {
        let kind = memory.kind(memory.cells[cell].obj);
        let outlives = kind.survives() && !matches!(kind, ObjKind::Fresh { .. });
        outlives && contents.iter().any(|loc| blocks.contains(&loc.obj))
    })
}

/// Does a call keep one of them?
fn is_given_away(frame: &Frame<'_>, blocks: &[ObjId]) -> bool {
    frame.calls.iter().any(|(&inst, summary)| {
        let mut escapes = summary.outcomes.iter().flat_map(|o| &o.escapes);
        escapes.any(|escape| {
            let targets = frame.resolve(inst, &escape.path);
            targets.iter().any(|loc| blocks.contains(&loc.obj))
        })
    })
}
