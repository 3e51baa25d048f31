//! Moves of whole sets by an offset and a stride.
//!
//! The same locations are moved by the same few offsets again and again, so where each one leads is remembered per offset and
//! stride, until its object changes its shape (becomes an array, or gets a tail).

use drip_base::IdSet;
use rustc_hash::FxHashMap;

use super::effect::overflows;
use super::solve::Solver;
use super::{LocId, LocSet, ObjectId};

/// Where one location leads, and what its object's shape was then; [`UNKNOWN`] before.
#[derive(Clone, Copy)]
struct Remembered {
    to: Option<LocId>,
    shape: u32,
}

const UNKNOWN: Remembered = Remembered {
    to: None,
    shape: u32::MAX,
};

/// What is known of moves.
#[derive(Default)]
pub(super) struct Moves {
    by_offset: FxHashMap<(i64, u32), Vec<Remembered>>,
    /// How often each object has changed its shape.
    shapes: Vec<u32>,
    /// Where the members of the set at work lead.
    found: IdSet<LocId>,
}

impl Moves {
    fn shape(&self, object: ObjectId) -> u32 {
        self.shapes.get(object.index()).copied().unwrap_or(0)
    }

    /// What is remembered of the object's locations is void.
    fn forget(&mut self, object: ObjectId) {
        if self.shapes.len() <= object.index() {
            self.shapes.resize(object.index() + 1, 0);
        }
        self.shapes[object.index()] += 1;
    }
}

impl Solver<'_> {
    /// All locations of a set, moved.
    pub(super) fn moved(&mut self, set: &LocSet, offset: i64, stride: u32) -> LocSet {
        let mut known = self
            .moves
            .by_offset
            .remove(&(offset, stride))
            .unwrap_or_default();
        known.resize(self.system.objects.loc_count(), UNKNOWN);
        let mut found = std::mem::take(&mut self.moves.found);
        for loc in set.iter() {
            let object = self.system.objects.object_of(loc);
            let mut entry = known[loc.index()];
            if entry.shape != self.moves.shape(object) {
                let to = self.move_to(object, loc, offset, stride);
                let shape = self.moves.shape(object);
                entry = Remembered { to, shape };
                known[loc.index()] = entry;
            }
            found.extend(entry.to);
        }
        if self.has_new_locs() {
            self.grow();
        }
        self.moves.by_offset.insert((offset, stride), known);
        // A later member may have made an array of an earlier one's object.
        let moved = self.current(LocSet::drain_from(&mut found));
        self.moves.found = found;
        moved
    }

    /// Where a location leads; an index can make an array of its object.
    fn move_to(&mut self, object: ObjectId, loc: LocId, offset: i64, stride: u32) -> Option<LocId> {
        let types = &self.system.program.types;
        let from = self.system.objects.offset_of(loc);
        let at = i64::from(from).saturating_add(offset);
        if stride > 0 && self.system.objects.becomes_array(types, object, at, stride) {
            self.make_array(object, stride);
        }
        let to = self.system.objects.loc(types, object, at);
        if to.is_none() && overflows(&self.system.objects, object, at) {
            self.overflowing.insert(object);
        }
        to
    }

    /// Merges the locations that are one now.
    pub(super) fn make_array(&mut self, object: ObjectId, stride: u32) {
        let types = &self.system.program.types;
        for (gone, kept) in self.system.objects.make_array(types, object, stride) {
            let (a, b) = (self.system.contents[gone], self.system.contents[kept]);
            self.gone.insert(gone);
            self.merge(a, b);
        }
        self.reshape(object);
    }

    /// Moves out of the object, and copies of it, lead elsewhere now.
    pub(super) fn reshape(&mut self, object: ObjectId) {
        self.copies.touch(object);
        self.reshaped.push(object);
        self.moves.forget(object);
    }
}
