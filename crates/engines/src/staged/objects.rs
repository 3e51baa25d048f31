//! Question: which objects of a function have to be followed, and which others along with them?
//!
//! Fresh objects: for leaks. Entry objects that a call may free or let escape: for callers. Holders: fresh objects whose
//! cells may hold the object in question; their fate is its fate (Saturn §4.6: a component that escapes takes the whole
//! structure along).

use drip_flow::Frame;
use drip_models::{Offset, Outcome, Root, Value, ValuePath};
use drip_pointer::local::MAX_ASKED_BYTES;
use drip_pointer::{CellId, Loc, Memory, ObjId, ObjKind};
use drip_program::{Const, DiType, Op, Operand};
use rustc_hash::FxHashMap;

/// Holders followed along with one object; what is stored into further ones counts as escaped (ledger: untracked).
pub const MAX_HOLDERS: usize = 4;

/// Objects of one structure that a loop walks along and frees; larger ones are followed object by object, where it is not known
/// which of them the loop is at.
const MAX_WALKED: usize = 8;

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

/// Objects whose fate callers want to know, in clusters of those that have to be followed together: the fresh ones in
/// `handed`, and entry objects that may be freed or kept.
pub fn clusters(frame: &Frame<'_>, handed: &[ObjId]) -> Vec<Vec<ObjId>> {
    let mut objects: Vec<ObjId> = handed.to_vec();
    for obj in freed_objects(frame).into_iter().chain(kept_objects(frame)) {
        if !objects.contains(&obj) {
            objects.push(obj);
        }
    }
    let walked = walked_structures(frame);
    for &obj in walked.iter().flatten() {
        if !objects.contains(&obj) {
            objects.push(obj);
        }
    }
    let mut groups = Groups::new(objects);
    let memory = &frame.local.memory;
    for (cell, targets) in frame.local.contents.iter_enumerated() {
        // What callers own holds whatever it is given; only fresh holders have a fate of their own.
        let owner = memory.cells[cell].obj;
        if matches!(memory.kind(owner), ObjKind::Fresh { .. }) {
            for loc in targets {
                groups.join(owner, loc.obj);
            }
        }
    }
    for structure in &walked {
        for pair in structure.windows(2) {
            groups.join(pair[0], pair[1]);
        }
    }
    // Where one call frees a block and makes another, the two fates are one decision.
    for (&call, summary) in &frame.calls {
        for outcome in &summary.outcomes {
            for &index in &outcome.fresh {
                let Some(made) = memory.find_object(ObjKind::Fresh { call, index }) else {
                    continue;
                };
                for free in &outcome.frees {
                    for freed in frame.resolve(call, &free.path).iter() {
                        groups.join(made, freed.obj);
                    }
                }
            }
        }
    }
    groups.into_clusters()
}

/// Disjoint sets of objects, in the order in which the objects were found.
struct Groups {
    objects: Vec<ObjId>,
    position: FxHashMap<ObjId, usize>,
    group: Vec<usize>,
}

impl Groups {
    fn new(objects: Vec<ObjId>) -> Groups {
        let position = objects.iter().enumerate().map(|(at, &obj)| (obj, at));
        Groups {
            position: position.collect(),
            group: (0..objects.len()).collect(),
            objects,
        }
    }

    /// Objects that are not in any set stay outside.
    fn join(&mut self, a: ObjId, b: ObjId) {
        let (Some(&a), Some(&b)) = (self.position.get(&a), self.position.get(&b)) else {
            return;
        };
        let (to, from) = (self.group[a], self.group[b]);
        if to == from {
            return;
        }
        for group in self.group.iter_mut().filter(|g| **g == from) {
            *group = to;
        }
    }

    fn into_clusters(self) -> Vec<Vec<ObjId>> {
        let mut found: Vec<(usize, Vec<ObjId>)> = Vec::new();
        for (&obj, group) in self.objects.iter().zip(self.group) {
            match found.iter_mut().find(|(known, _)| *known == group) {
                Some((_, cluster)) => cluster.push(obj),
                None => found.push((group, vec![obj])),
            }
        }
        found.into_iter().map(|(_, cluster)| cluster).collect()
    }
}

/// Is it a global variable that leads to this object on entry? A caller's block that is stored there is out of the caller's
/// hands when the caller returns: that it may be freed is of interest, but not when.
pub fn is_behind_global(frame: &Frame<'_>, object: ObjId) -> bool {
    frame.local.memory.global_above(object).is_some()
}

/// Entry objects that one call frees in turn, as a loop over a list does, each with the objects that lead to it: only where
/// these are followed too is it known which of them the loop is at.
fn walked_structures(frame: &Frame<'_>) -> Vec<Vec<ObjId>> {
    let memory = &frame.local.memory;
    let is_entry = |obj: ObjId| matches!(memory.kind(obj), ObjKind::Param(_) | ObjKind::Entry(_));
    let mut calls: Vec<_> = frame.calls.iter().collect();
    calls.sort_unstable_by_key(|(inst, _)| **inst);
    let mut found: Vec<Vec<ObjId>> = Vec::new();
    for (&inst, summary) in calls {
        for free in summary.outcomes.iter().flat_map(|o| &o.frees) {
            let mut structure: Vec<ObjId> = Vec::new();
            for loc in frame.resolve(inst, &free.path).iter() {
                let mut next = Some(loc.obj).filter(|&obj| is_entry(obj));
                while let Some(obj) = next.filter(|obj| !structure.contains(obj)) {
                    structure.push(obj);
                    next = match memory.kind(obj) {
                        ObjKind::Entry(home) => {
                            Some(memory.cells[home].obj).filter(|&o| is_entry(o))
                        }
                        _ => None,
                    };
                }
            }
            let freed = frame
                .resolve(inst, &free.path)
                .iter()
                .filter(|l| is_entry(l.obj))
                .count();
            if freed > 1 && structure.len() <= MAX_WALKED && !found.contains(&structure) {
                found.push(structure);
            }
        }
    }
    found
}

/// Entry objects that some call may free.
pub fn freed_objects(frame: &Frame<'_>) -> Vec<ObjId> {
    entry_objects(frame, |outcome| {
        outcome.frees.iter().map(|f| &f.path).collect()
    })
}

/// Is it what a parameter points to, or what such an object holds (a pointer that is passed by reference)?
fn is_passed(memory: &Memory, kind: ObjKind) -> bool {
    match kind {
        ObjKind::Param(_) => true,
        ObjKind::Entry(home) => matches!(memory.kind(memory.cells[home].obj), ObjKind::Param(_)),
        _ => false,
    }
}

/// Passed objects that the function may store where they are still held after it: takers keep their argument. What lies deeper
/// is only moved within or between the caller's structures, which the written cells tell.
pub fn kept_objects(frame: &Frame<'_>) -> Vec<ObjId> {
    let memory = &frame.local.memory;
    let wanted = |kind: ObjKind| is_passed(memory, kind);
    let mut found: Vec<ObjId> = Vec::new();
    for (cell, targets) in frame.local.contents.iter_enumerated() {
        let owner = memory.kind(memory.cells[cell].obj);
        if !owner.survives() && !matches!(owner, ObjKind::Fresh { .. }) {
            continue;
        }
        for loc in targets {
            let kind = memory.kind(loc.obj);
            let is_moved = match kind {
                ObjKind::Entry(home) => home != cell && !is_told(memory, cell),
                _ => true,
            };
            if is_moved && wanted(kind) && !found.contains(&loc.obj) {
                found.push(loc.obj);
            }
        }
    }
    found.extend(stored_out_of_sight(frame, wanted));
    found.extend(returned_in_structs(frame).filter(|&obj| wanted(memory.kind(obj))));
    found.sort_unstable();
    found.dedup();
    found
}

/// What a struct may hold that the function returns by value.
fn returned_in_structs<'f>(frame: &'f Frame<'_>) -> impl Iterator<Item = ObjId> + 'f {
    let is_struct = |operand: Operand| {
        let value = operand.as_value();
        value.is_some_and(|value| frame.is_aggregate(frame.body.value_ty(value)))
    };
    let returned = frame.body.insts.iter().filter_map(|data| match data.op {
        Op::Ret { value } => value,
        _ => None,
    });
    let structs = returned.filter(move |&operand| is_struct(operand));
    structs.flat_map(|operand| frame.local.targets(operand).iter().map(|l| l.obj))
}

/// Do the written cells of the summary tell exactly what this cell holds?
fn is_told(memory: &Memory, cell: CellId) -> bool {
    memory.kind(memory.cells[cell].obj).has_entry_state() && memory.is_strong(cell)
}

/// Fresh blocks that get the whole contents of another block by a plain copy: where to, where from.
pub fn whole_copies<'f>(frame: &'f Frame<'_>) -> impl Iterator<Item = (ObjId, ObjId)> + 'f {
    let local = &frame.local;
    frame.body.insts.iter().filter_map(move |data| {
        let Op::MemCopy { dst, src, .. } = data.op else {
            return None;
        };
        let ([to], [from]) = (local.targets(dst), local.targets(src)) else {
            return None;
        };
        let is_fresh = matches!(local.memory.kind(to.obj), ObjKind::Fresh { .. });
        let is_whole = to.off == Offset::ZERO && from.off == Offset::ZERO;
        (is_fresh && is_whole).then_some((to.obj, from.obj))
    })
}

/// Is it a `void *` of the caller's? What lies behind it may be pointers: elements that an array of any type gets (`append(a, &item, 1)`).
/// Bytes and texts hold none.
fn is_untyped(frame: &Frame<'_>, operand: Operand) -> bool {
    let program = frame.program;
    let param = operand
        .as_value()
        .and_then(|value| frame.body.as_param(value));
    let types = program.funcs[frame.func].di_type;
    let Some(DiType::Func { params, .. }) = types.map(|ty| &program.di_types[ty]) else {
        return false;
    };
    let mut ty = param.and_then(|n| *params.get(n)?);
    let mut is_behind = false;
    while let Some(of) = ty {
        ty = match program.di_types[of] {
            DiType::Pointer { to } if !is_behind => {
                is_behind = true;
                to
            }
            DiType::Typedef { of, .. } | DiType::Const(of) | DiType::Qualified(of) => of,
            _ => return false,
        };
    }
    is_behind
}

/// Structures of the caller's that are copied as a whole to where others see them: all that they hold goes along. Of small ones, copied to a
/// known place, every pointer is followed; so much as is asked for may be anything behind a `void *`. A new block in `handed` is no such
/// place: the summary tells the copy.
pub fn copied_out(frame: &Frame<'_>, handed: &[ObjId]) -> Vec<ObjId> {
    let memory = &frame.local.memory;
    let mut found: Vec<ObjId> = Vec::new();
    for data in frame.body.insts.iter() {
        let Op::MemCopy { dst, src, len } = data.op else {
            continue;
        };
        let is_small = match frame.body.const_of(len) {
            Some(&Const::Int { bits, .. }) => bits <= MAX_ASKED_BYTES,
            _ if is_untyped(frame, src) => false,
            _ => continue,
        };
        let is_outside = |loc: &drip_pointer::Loc| match memory.kind(loc.obj) {
            ObjKind::Fresh { .. } => !handed.contains(&loc.obj),
            kind => kind.survives(),
        };
        let targets = frame.local.targets(dst);
        // Nothing is followed into places that nobody knows.
        let is_anywhere = targets.iter().any(|loc| loc.obj == Memory::WORLD);
        let is_followed = is_small && !is_anywhere;
        if is_followed || !targets.iter().any(is_outside) {
            continue;
        }
        let sources = frame.local.targets(src).iter().map(|loc| loc.obj);
        let entries = sources
            .filter(|&obj| matches!(memory.kind(obj), ObjKind::Param(_) | ObjKind::Entry(_)));
        found.extend(entries);
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// What lies deeper behind parameters and may be moved to where no written cell can tell: it counts as escaped.
pub fn moved_objects(frame: &Frame<'_>) -> Vec<ObjId> {
    let memory = &frame.local.memory;
    let is_deep = |kind: ObjKind| matches!(kind, ObjKind::Entry(_)) && !is_passed(memory, kind);
    let copies: Vec<(ObjId, ObjId)> = whole_copies(frame).collect();
    // What lies in a block because the whole block it lay in was copied (a buffer that grows): the summary tells the copy.
    let is_copied = |cell: CellId, home: CellId| {
        copies.contains(&(memory.cells[cell].obj, memory.cells[home].obj))
    };
    let mut found: Vec<ObjId> = Vec::new();
    for (cell, targets) in frame.local.contents.iter_enumerated() {
        let owner = memory.kind(memory.cells[cell].obj);
        if is_told(memory, cell) || matches!(owner, ObjKind::Stack(_)) {
            continue;
        }
        for loc in targets {
            let kind = memory.kind(loc.obj);
            let is_moved =
                matches!(kind, ObjKind::Entry(home) if home != cell && !is_copied(cell, home));
            if is_moved && is_deep(kind) && !found.contains(&loc.obj) {
                found.push(loc.obj);
            }
        }
    }
    found.extend(stored_out_of_sight(frame, is_deep));
    found.sort_unstable();
    found.dedup();
    found
}

/// Objects that are stored, here or by a callee, through a pointer which may lead anywhere.
fn stored_out_of_sight(frame: &Frame<'_>, wanted: impl Fn(ObjKind) -> bool) -> Vec<ObjId> {
    let mut found: Vec<ObjId> = Vec::new();
    let is_anywhere =
        |targets: &[Loc]| targets.is_empty() || targets.iter().any(|l| l.obj == Memory::WORLD);
    for (&inst, summary) in &frame.calls {
        for write in summary.outcomes.iter().flat_map(|outcome| &outcome.writes) {
            let Value::Entry { path, .. } = &write.value else {
                continue;
            };
            if write.cell.base.root != Root::Ret
                && is_anywhere(&frame.resolve(inst, &write.cell.base))
            {
                let stored = frame.resolve(inst, path);
                found.extend(stored.iter().map(|loc| loc.obj));
            }
        }
    }
    let memory = &frame.local.memory;
    for data in frame.body.insts.iter() {
        match data.op {
            Op::Store { addr, value } if is_anywhere(frame.local.targets(addr)) => {
                found.extend(frame.local.targets(value).iter().map(|loc| loc.obj));
            }
            // A structure that is passed by value and copied there (`*find(table, key) = value;`).
            Op::MemCopy { dst, src, .. } if is_anywhere(frame.local.targets(dst)) => {
                let sources = frame.local.targets(src).iter();
                let own = sources.filter(|loc| matches!(memory.kind(loc.obj), ObjKind::Stack(_)));
                let cells = own.flat_map(|loc| &memory.objects[loc.obj].cells);
                let held = cells.flat_map(|&cell| frame.local.contents[cell].iter());
                found.extend(held.map(|loc| loc.obj));
            }
            _ => {}
        }
    }
    found.retain(|&obj| wanted(memory.kind(obj)));
    found
}

/// Entry objects that some call may let escape to code out of sight. They are not followed path by path: an escape on one
/// path counts for all (silence over noise).
pub fn escaping_objects(frame: &Frame<'_>) -> Vec<ObjId> {
    entry_objects(frame, |outcome| {
        outcome.escapes.iter().map(|e| &e.path).collect()
    })
}

/// Entry objects that some way through the function may do something to: free, keep, move, hand on or return.
pub fn concerned_objects(frame: &Frame<'_>) -> Vec<ObjId> {
    let mut found = freed_objects(frame);
    found.extend(kept_objects(frame));
    found.extend(moved_objects(frame));
    found.extend(escaping_objects(frame));
    for data in frame.body.insts.iter() {
        match data.op {
            Op::Ret { value: Some(value) } => {
                found.extend(frame.local.targets(value).iter().map(|loc| loc.obj));
            }
            // What it holds goes along.
            Op::MemCopy { src, .. } => {
                let held = frame.local.targets(src).iter();
                let held = held.flat_map(|loc| &frame.local.memory.objects[loc.obj].cells);
                let held = held.flat_map(|&cell| frame.local.contents[cell].iter());
                found.extend(held.map(|loc| loc.obj));
            }
            _ => {}
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn entry_objects(frame: &Frame<'_>, paths: impl Fn(&Outcome) -> Vec<&ValuePath>) -> Vec<ObjId> {
    let mut found: Vec<ObjId> = Vec::new();
    let mut calls: Vec<_> = frame.calls.iter().collect();
    calls.sort_unstable_by_key(|(inst, _)| **inst);
    for (&inst, summary) in calls {
        for path in summary.outcomes.iter().flat_map(&paths) {
            for &loc in frame.resolve(inst, path).iter() {
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
    let pointer = |operand: Operand| match operand.as_value() {
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
