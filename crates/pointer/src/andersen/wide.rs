//! Pointers that can point almost anywhere.
//!
//! A `void *` field that everything goes through has a set of thousands of locations, and so has every pointer that is read
//! from there: such sets cost much and tell nothing. If a pointer that is used as an address has a set of more than
//! [`MAX_POINTEES`] locations, the set is given up: the node is *wide*. All it could point to is handed over as to code out of
//! sight, and its set is the one location that stands for what such code can reach. Whatever is stored in, read from or called
//! through that location is treated so already; the objects count as out of sight from then on, so a block that is stored in
//! one of them is never reported. Wide nodes are counted ([`super::SolverStatistics::wide`]).
//! A program without wide nodes has one solution. Where there are some, what flowed on before a node became wide stays where
//! it is: the solution satisfies all constraints, and is the same in every run, but it is not the least one.

use super::solve::Solver;
use super::{LocSet, NodeId};

/// Locations in the set of one address. Beyond that, leaks of blocks that are stored in what it points to are not found.
const MAX_POINTEES: usize = 500;

impl Solver<'_> {
    /// Gives up the node's set if it is too large. Nodes that only pass pointers on keep theirs: they cost little, and what
    /// goes through them, to a deallocator perhaps, is not out of sight.
    pub(super) fn bound(&mut self, root: NodeId) {
        let at = root.index();
        let uses = &self.uses[at];
        let is_address = uses.looks_through() || !uses.fields.is_empty();
        if is_address && !uses.is_handed && self.sets[at].len_exceeds(MAX_POINTEES) {
            self.widen(root);
        }
    }

    fn widen(&mut self, root: NodeId) {
        let at = root.index();
        let unseen: LocSet = std::iter::once(self.system.unseen).collect();
        let all = std::mem::replace(&mut self.sets[at], unseen.clone());
        self.deltas[at] = unseen;
        self.unseen[at] = LocSet::new();
        self.wide.insert(root);
        self.mark(root);
        self.copies.wake(&self.uses[at].gathers, &[]);
        self.hand_over(&all);
    }

    /// Code out of sight is given all of these.
    pub(super) fn hand_over(&mut self, locs: &LocSet) {
        let handed = self.find(self.system.handed);
        self.add_all(handed, locs);
    }
}
