//! Question: which of the caller's objects meet the same fate on every path, so that following one of them tells it of all?
//!
//! Most of what lies deep behind a parameter (`p->input->buf->raw`) is never looked at by the function itself; callees free it or let it
//! escape, all of it in the same outcomes of the same calls. Domain: per object its *signature*, the set of what calls do to the cell that
//! holds it and to the owner of that cell, by call and outcome. Order: none, sets are compared. Invariant: objects with one
//! signature, to which nothing but a call has access, can't be told apart by any exploration. A condition on the pointer itself would, and so
//! would another place that gets it: an object that an outcome asks for or moves is alone. Cost: every effect of every call is resolved once, which explorations need in any case.

use drip_models::{Certainty, EscapeTo, Outcome, Root, Subject, Value, ValuePath};
use drip_pointer::{CellId, ObjId, ObjKind};
use drip_program::{BlockId, InstId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::frame::Frame;
use crate::touches::Touches;
use crate::values::Values;

/// What an outcome of a call does to an object, or to the owner of the cell that holds it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Effect {
    Freed { is_certain: bool, is_sure: bool },
    OwnerFreed { is_certain: bool },
    Escapes(EscapeTo),
    OwnerEscapes(EscapeTo),
    Emptied,
}

/// Where something happens: at a call, in one of its outcomes, after so many other effects of it.
type At = (InstId, usize, usize);

/// What happens, in its order.
type Event = (InstId, usize, Effect);

#[derive(PartialEq, Eq, Hash)]
struct Signature {
    events: Vec<Event>,
    /// Blocks with calls that can reach the owner.
    reaching: Vec<BlockId>,
    is_strong: bool,
    /// Loads that lead to it: how deep it lies says how much callers are told.
    depth: usize,
    is_behind_global: bool,
}

/// The objects in groups of those that meet the same fate, in their order.
pub fn alike(frame: &Frame<'_>, values: &mut Values, objects: &[ObjId]) -> Vec<Vec<ObjId>> {
    let touches = frame.touches(values);
    let memory = &frame.local.memory;
    let home = |obj: ObjId| match memory.kind(obj) {
        ObjKind::Entry(cell) => Some(cell).filter(|_| touches.is_left_to_calls(frame, obj, cell)),
        _ => None,
    };
    let homes: FxHashSet<CellId> = objects.iter().filter_map(|&obj| home(obj)).collect();
    if homes.len() < 2 {
        return objects.iter().map(|&obj| vec![obj]).collect();
    }
    let events = Events::collect(frame, homes);
    let mut groups: Vec<Vec<ObjId>> = Vec::new();
    let mut known: FxHashMap<Signature, usize> = FxHashMap::default();
    for &obj in objects {
        let cell = home(obj).filter(|cell| !events.told_apart.contains(cell));
        let Some(cell) = cell else {
            groups.push(vec![obj]);
            continue;
        };
        let signature = Signature {
            events: events.of(frame, cell),
            reaching: touches.reaching(frame, memory.cells[cell].obj),
            is_strong: memory.is_strong(cell),
            depth: depth(frame, obj),
            is_behind_global: memory.global_above(obj).is_some(),
        };
        let group = *known.entry(signature).or_insert(groups.len());
        match groups.get_mut(group) {
            Some(group) => group.push(obj),
            None => groups.push(vec![obj]),
        }
    }
    groups
}

/// Loads from the caller's root to the object.
fn depth(frame: &Frame<'_>, mut obj: ObjId) -> usize {
    let memory = &frame.local.memory;
    let mut depth = 0;
    while let ObjKind::Entry(home) = memory.kind(obj) {
        obj = memory.cells[home].obj;
        depth += 1;
    }
    depth
}

impl Touches {
    /// Is the cell all that ever holds the object, and does nothing but calls read or write it?
    fn is_left_to_calls(&self, frame: &Frame<'_>, obj: ObjId, home: CellId) -> bool {
        let owner = frame.local.memory.cells[home].obj;
        let mut inexact = self.inexact.get(&owner).into_iter().flatten();
        self.values[obj].is_empty()
            && self.cells[obj] == [home]
            && self.writers[home].is_empty()
            && !self.readers.contains_key(&home)
            && !inexact.any(|&cell| self.is_accessed(cell))
    }

    /// Does the function itself read or write a cell at no certain offset?
    fn is_accessed(&self, cell: CellId) -> bool {
        self.readers.contains_key(&cell) || !self.writers[cell].is_empty()
    }

    /// Blocks with calls that can reach an object.
    fn reaching(&self, frame: &Frame<'_>, obj: ObjId) -> Vec<BlockId> {
        let calls = self.calls[obj].iter();
        let mut blocks: Vec<BlockId> = calls.map(|&call| frame.block_of(call)).collect();
        blocks.dedup();
        blocks
    }
}

/// What calls do to some cells and to their owners.
struct Events {
    homes: FxHashSet<CellId>,
    owners: Vec<ObjId>,
    of_cells: FxHashMap<CellId, Vec<(At, Effect)>>,
    of_owners: FxHashMap<ObjId, Vec<(At, Effect)>>,
    /// Effects that were noted, to tell in which order they come.
    count: usize,
    /// Cells that some outcome's condition asks for, or whose contents it moves.
    told_apart: FxHashSet<CellId>,
}

impl Events {
    fn collect(frame: &Frame<'_>, homes: FxHashSet<CellId>) -> Events {
        let owner = |&cell: &CellId| frame.local.memory.cells[cell].obj;
        let mut owners: Vec<ObjId> = homes.iter().map(owner).collect();
        owners.sort_unstable();
        owners.dedup();
        let mut events = Events {
            homes,
            owners,
            of_cells: FxHashMap::default(),
            of_owners: FxHashMap::default(),
            count: 0,
            told_apart: FxHashSet::default(),
        };
        for (&call, summary) in &frame.calls {
            for (number, outcome) in summary.outcomes.iter().enumerate() {
                events.outcome(frame, call, number, outcome);
            }
        }
        events
    }

    /// All that is known of an object in this cell, in order.
    fn of(&self, frame: &Frame<'_>, home: CellId) -> Vec<Event> {
        let owner = frame.local.memory.cells[home].obj;
        let of_cell = self.of_cells.get(&home).into_iter().flatten();
        let of_owner = self.of_owners.get(&owner).into_iter().flatten();
        let mut all: Vec<(At, Effect)> = of_cell.chain(of_owner).copied().collect();
        all.sort_unstable();
        let mut events: Vec<Event> = all
            .into_iter()
            .map(|((call, outcome, _), effect)| (call, outcome, effect))
            .collect();
        events.dedup();
        events
    }

    fn outcome(&mut self, frame: &Frame<'_>, call: InstId, number: usize, outcome: &Outcome) {
        let asked = outcome.when.iter().filter_map(|atom| match &atom.subject {
            Subject::Entry(path) => Some(path),
            Subject::Ret => None,
        });
        let written = outcome.writes.iter().map(|write| &write.value);
        let moved = written
            .chain([&outcome.ret])
            .filter_map(|value| match value {
                Value::Entry { path, .. } => Some(path),
                _ => None,
            });
        for path in asked.chain(moved) {
            let (cells, _) = self.named(frame, call, path);
            self.told_apart.extend(cells);
        }
        for copy in &outcome.copies {
            let from = frame.resolve(call, &copy.from);
            let is_copied = |cell: &&CellId| {
                let owner = frame.local.memory.cells[**cell].obj;
                from.iter().any(|loc| loc.obj == owner)
            };
            self.told_apart.extend(self.homes.iter().filter(is_copied));
        }
        for free in &outcome.frees {
            let is_certain = free.certainty == Certainty::Must;
            let (cells, is_sure) = self.named(frame, call, &free.path);
            let effect = Effect::Freed {
                is_certain,
                is_sure,
            };
            let at = self.at(call, number);
            self.note(&cells, (at, effect));
            let targets = frame.resolve(call, &free.path);
            if let [loc] = targets[..]
                && self.owners.binary_search(&loc.obj).is_ok()
            {
                let effect = Effect::OwnerFreed { is_certain };
                let events = self.of_owners.entry(loc.obj).or_default();
                events.push((at, effect));
            }
        }
        for escape in &outcome.escapes {
            let (cells, _) = self.named(frame, call, &escape.path);
            let at = self.at(call, number);
            self.note(&cells, (at, Effect::Escapes(escape.to)));
            let reached = frame.reached_by(call, &escape.path);
            for owner in &self.owners {
                if reached.binary_search(owner).is_ok() {
                    let events = self.of_owners.entry(*owner).or_default();
                    events.push((at, Effect::OwnerEscapes(escape.to)));
                }
            }
        }
        for write in &outcome.writes {
            if write.certainty == Certainty::May || write.cell.base.root == Root::Ret {
                continue;
            }
            let named = frame.cells_named(call, &write.cell.base, write.cell.offset);
            if named.certain {
                let at = self.at(call, number);
                self.note(&named.cells, (at, Effect::Emptied));
            }
        }
    }

    /// Those of the cells in question that a path of the callee's reads last, and whether it is exactly one for certain.
    fn named(&self, frame: &Frame<'_>, call: InstId, path: &ValuePath) -> (Vec<CellId>, bool) {
        let Some((&last, front)) = path.loads.split_last() else {
            return (Vec::new(), false);
        };
        let base = ValuePath {
            root: path.root,
            loads: front.into(),
        };
        let named = frame.cells_named(call, &base, last);
        let cells = named.cells.iter().copied();
        let cells = cells.filter(|cell| self.homes.contains(cell)).collect();
        (cells, named.certain)
    }

    /// The next effect of an outcome.
    fn at(&mut self, call: InstId, outcome: usize) -> At {
        self.count += 1;
        (call, outcome, self.count)
    }

    fn note(&mut self, cells: &[CellId], event: (At, Effect)) {
        for &cell in cells {
            if self.homes.contains(&cell) {
                self.of_cells.entry(cell).or_default().push(event);
            }
        }
    }
}
