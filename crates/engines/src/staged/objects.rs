//! Question: which objects of a function have to be followed, and which others along with them?
//!
//! Fresh objects: for leaks. Entry objects that a call may free or let escape: for callers. Holders: fresh objects whose
//! cells may hold the object in question; their fate is its fate (Saturn §4.6: a component that escapes takes the whole
//! structure along).

use drip_flow::Frame;
use drip_models::{Outcome, Value, ValuePath};
use drip_pointer::{Memory, ObjId, ObjKind};
use drip_program::Op;

/// Holders followed along with one object; what is stored into further ones counts as escaped (ledger: untracked).
pub const MAX_HOLDERS: usize = 4;

/// Entry objects followed for one summary; further ones count as freed or escaped on every path (silence over noise).
pub const MAX_INTERFACE: usize = 6;

/// Fresh objects of the function, in the order of their calls.
pub fn fresh_objects(frame: &Frame<'_>) -> Vec<ObjId> {
    let mut found: Vec<(ObjKind, ObjId)> = frame
        .local
        .memory
        .objects
        .iter_enumerated()
        .filter(|(_, o)| matches!(o.kind, ObjKind::Fresh { .. }))
        .map(|(id, o)| (o.kind, id))
        .collect();
    found.sort_unstable();
    found.into_iter().map(|(_, id)| id).collect()
}

/// Fresh objects whose cells may hold `object`, and their holders in turn.
pub fn holders(frame: &Frame<'_>, object: ObjId) -> Vec<ObjId> {
    let mut followed = vec![object];
    let mut next = 0;
    while next < followed.len() && followed.len() <= MAX_HOLDERS {
        let held = followed[next];
        next += 1;
        for (cell, targets) in frame.local.contents.iter_enumerated() {
            let owner = frame.local.memory.cells[cell].obj;
            let is_fresh = matches!(frame.local.memory.kind(owner), ObjKind::Fresh { .. });
            if is_fresh && !followed.contains(&owner) && targets.iter().any(|l| l.obj == held) {
                followed.push(owner);
            }
        }
    }
    followed.truncate(MAX_HOLDERS + 1);
    followed
}

/// Entry objects that some call may free.
pub fn freed_objects(frame: &Frame<'_>) -> Vec<ObjId> {
    entry_objects(frame, |outcome| {
        outcome.frees.iter().map(|f| &f.path).collect()
    })
}

/// Entry objects that the function may store where they are still held after it: takers keep their argument.
pub fn kept_objects(frame: &Frame<'_>) -> Vec<ObjId> {
    let memory = &frame.local.memory;
    let is_entry = |obj: ObjId| matches!(memory.kind(obj), ObjKind::Param(_) | ObjKind::Entry(_));
    let mut found: Vec<ObjId> = Vec::new();
    for (cell, targets) in frame.local.contents.iter_enumerated() {
        let owner = memory.kind(memory.cells[cell].obj);
        if !owner.survives() && !matches!(owner, ObjKind::Fresh { .. }) {
            continue;
        }
        for loc in targets {
            let at_home = memory.kind(loc.obj) == ObjKind::Entry(cell);
            if is_entry(loc.obj) && !at_home && !found.contains(&loc.obj) {
                found.push(loc.obj);
            }
        }
    }
    for data in frame.body.insts.iter() {
        let Op::Store { addr, value } = data.op else {
            continue;
        };
        let targets = frame.local.targets(addr);
        if targets.is_empty() || targets.iter().any(|l| l.obj == Memory::WORLD) {
            for loc in frame.local.targets(value) {
                if is_entry(loc.obj) && !found.contains(&loc.obj) {
                    found.push(loc.obj);
                }
            }
        }
    }
    found.sort_unstable();
    found
}

/// Entry objects that some call may let escape to code out of sight. They are not followed path by path: an escape on one
/// path counts for all (silence over noise).
pub fn escaping_objects(frame: &Frame<'_>) -> Vec<ObjId> {
    entry_objects(frame, |outcome| {
        outcome.escapes.iter().map(|e| &e.path).collect()
    })
}

fn entry_objects(frame: &Frame<'_>, paths: impl Fn(&Outcome) -> Vec<&ValuePath>) -> Vec<ObjId> {
    let mut found: Vec<ObjId> = Vec::new();
    let mut calls: Vec<_> = frame.calls.iter().collect();
    calls.sort_unstable_by_key(|(inst, _)| **inst);
    for (&inst, summary) in calls {
        let args = frame.args(inst);
        for path in summary.outcomes.iter().flat_map(&paths) {
            for loc in frame.local.resolve(inst, args, path) {
                let kind = frame.local.memory.kind(loc.obj);
                if matches!(kind, ObjKind::Param(_) | ObjKind::Entry(_))
                    && !found.contains(&loc.obj)
                {
                    found.push(loc.obj);
                }
            }
        }
    }
    found
}

/// Does the function do anything that a caller has to tell apart by outcome? Only then are its exits explored: pointers
/// written where others see them, or a returned pointer that is one of its arguments.
pub fn has_outcomes(frame: &Frame<'_>) -> bool {
    let memory = &frame.local.memory;
    let outside =
        |targets: &[drip_pointer::Loc]| targets.iter().any(|l| memory.kind(l.obj).survives());
    let pointer = |operand: drip_program::Operand| match operand.as_value() {
        Some(value) => {
            !frame.local.targets(operand).is_empty()
                && frame.program.types.size_of(frame.body.value_ty(value)) >= 8
        }
        None => matches!(
            frame.body.const_of(operand),
            Some(drip_program::Const::Null)
        ),
    };
    // A path that ends the program tells callers something about the paths that return.
    if frame.calls.values().any(|summary| !summary.returns()) {
        return true;
    }
    frame
        .body
        .insts
        .iter_enumerated()
        .any(|(inst, data)| match data.op {
            Op::Store { addr, value } => pointer(value) && outside(frame.local.targets(addr)),
            Op::MemCopy { dst, .. } => outside(frame.local.targets(dst)),
            Op::Ret { value: Some(value) } => frame
                .local
                .targets(value)
                .iter()
                .any(|l| matches!(memory.kind(l.obj), ObjKind::Param(_) | ObjKind::Entry(_))),
            Op::Call { .. } | Op::Invoke { .. } => frame.calls.get(&inst).is_some_and(|summary| {
                summary
                    .outcomes
                    .iter()
                    .flat_map(|o| &o.writes)
                    .any(|write| {
                        let points = matches!(
                            write.value,
                            Value::Entry { .. } | Value::Fresh { .. } | Value::Int(0)
                        );
                        points
                            && outside(&frame.local.resolve(
                                inst,
                                frame.args(inst),
                                &write.cell.base,
                            ))
                    })
            }),
            _ => false,
        })
}
