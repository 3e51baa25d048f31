//! Question: which objects of a function have to be followed, and which others along with them?
//!
//! Fresh objects: for leaks. Entry objects that a call may free or let escape: for callers. Holders: fresh objects whose
//! cells may hold the object in question; their fate is its fate (Saturn §4.6: a component that escapes takes the whole
//! structure along).

use drip_flow::Frame;
use drip_pointer::{ObjId, ObjKind};

/// Holders followed along with one object; what is stored into further ones counts as escaped (ledger: untracked).
pub const MAX_HOLDERS: usize = 4;

/// Interface objects followed for one summary; effects on further ones are stated as "may".
pub const MAX_INTERFACE: usize = 10;

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

/// Entry objects that some call may free or let escape.
pub fn interface_objects(frame: &Frame<'_>) -> Vec<ObjId> {
    let mut found: Vec<ObjId> = Vec::new();
    let mut calls: Vec<_> = frame.calls.iter().collect();
    calls.sort_unstable_by_key(|(inst, _)| **inst);
    for (&inst, summary) in calls {
        let args = frame.args(inst);
        for outcome in &summary.outcomes {
            let paths = outcome.frees.iter().map(|f| &f.path).chain(outcome.escapes.iter().map(|e| &e.path));
            for path in paths {
                for loc in frame.local.resolve(inst, args, path) {
                    let kind = frame.local.memory.kind(loc.obj);
                    if matches!(kind, ObjKind::Param(_) | ObjKind::Entry(_)) && !found.contains(&loc.obj) {
                        found.push(loc.obj);
                    }
                }
            }
        }
    }
    found
}
