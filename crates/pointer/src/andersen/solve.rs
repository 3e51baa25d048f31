//! The fast solver: wave propagation (Pereira and Berlin, CGO 2009) with difference propagation, variable substitution before
//! ([`super::substitute`]) and hybrid cycle detection meanwhile.
//!
//! State per root node: its set, the part of it that was not passed on yet (the delta), the part that the constraints through
//! memory have not seen yet (the unseen part), copy edges, and the constraints that the node is the address of.
//! One round: cycles of copy edges become one node and nodes are ordered, sources first ([`super::wave`]); deltas go along
//! copies and moves in that order; then loads, stores, calls and what code out of sight can reach see what is new and add
//! edges ([`super::memory_edges`]). Copies of memory are looked at when nothing else is left ([`super::blocks`]).
//! Objects that code out of sight can reach need no constraints of their own: they are marked, and what they hold is handed
//! over as well. The result does not depend on the order.

use drip_base::{IdSet, IndexVec, Watch};
use rustc_hash::FxHashSet;

use super::blocks::Copies;
use super::call::Callee;
use super::constraint::{Constraint, System};
use super::cycles::{Marks, Merged};
use super::moves::Moves;
use super::points_to::{PointsTo, SolverStatistics};
use super::substitute::prepare;
use super::wave::Wave;
use super::{CallId, LocId, LocSet, NodeId, ObjectId};

/// What one node is the address, the source or the callee of.
#[derive(Clone, Default)]
pub(super) struct Uses {
    pub copies: Vec<NodeId>,
    pub fields: Vec<(NodeId, i64, u32)>,
    pub loads: Vec<NodeId>,
    pub stores: Vec<NodeId>,
    pub calls: Vec<CallId>,
    /// Halves of copies of memory that read or write through this node.
    pub gathers: Vec<usize>,
    pub scatters: Vec<usize>,
    /// What its locations hold is one with this node (hybrid cycle detection).
    pub ring: Option<NodeId>,
    /// Code out of sight is given what is in its set.
    pub is_handed: bool,
}

impl Uses {
    /// Is there anything besides copies and moves?
    pub fn looks_through(&self) -> bool {
        !self.loads.is_empty()
            || !self.stores.is_empty()
            || !self.calls.is_empty()
            || !self.gathers.is_empty()
            || !self.scatters.is_empty()
            || self.ring.is_some()
            || self.is_handed
    }

    fn passes_on(&self) -> bool {
        !self.copies.is_empty() || !self.fields.is_empty()
    }

    fn take_over(&mut self, other: Uses) {
        self.copies.extend(other.copies);
        self.fields.extend(other.fields);
        self.loads.extend(other.loads);
        self.stores.extend(other.stores);
        self.calls.extend(other.calls);
        self.gathers.extend(other.gathers);
        self.scatters.extend(other.scatters);
        self.ring = self.ring.or(other.ring);
        self.is_handed |= other.is_handed;
    }
}

pub(super) struct Solver<'p> {
    pub system: System<'p>,
    pub merged: Merged,
    pub sets: Vec<LocSet>,
    /// Not yet passed on along copies and moves.
    pub deltas: Vec<LocSet>,
    /// Passed on, but not yet seen by loads, stores and calls.
    pub unseen: Vec<LocSet>,
    pub uses: Vec<Uses>,
    pub edges: FxHashSet<(NodeId, NodeId)>,
    pub marks: Marks,
    /// Nodes with a delta.
    pub dirty: IdSet<NodeId>,
    pub wave: Wave,
    /// Nodes that became addresses after they had a set.
    pub to_bound: Vec<NodeId>,
    /// Nodes with an unseen part.
    pub waiting: Vec<NodeId>,
    pub copies: Copies,
    /// Blocks that were moved far into: they have a tail once all else is stable.
    pub overflowing: IdSet<ObjectId>,
    pub moves: Moves,
    /// Nodes whose sets were given up.
    pub wide: IdSet<NodeId>,
    /// Locations that were merged into others.
    pub gone: LocSet,
    /// Blocks that became arrays or got a tail: moves out of them lead elsewhere now.
    pub reshaped: Vec<ObjectId>,
    pub escaped: IdSet<ObjectId>,
    pub callees: IndexVec<CallId, Vec<Callee>>,
    pub reached: FxHashSet<(CallId, drip_program::FuncId)>,
    /// Calls through pointers from out of sight.
    pub unseen_calls: IdSet<CallId>,
    /// Constraints before this one are in the graph.
    taken: usize,
    /// Locations before this one have a node, and are handed over if their object is.
    known_locs: usize,
    pub collapsed: usize,
    pub rounds: usize,
}

/// `None` if the watch was stopped: half a solution is none.
pub fn solve<'p>(system: System<'p>, watch: &Watch) -> Option<PointsTo<'p>> {
    let offline = prepare(&system);
    let mut statistics = SolverStatistics {
        nodes: system.node_count(),
        substituted: offline.merged,
        ..SolverStatistics::default()
    };
    let mut solver = Solver::new(system, offline.same);
    let handed = solver.find(solver.system.handed);
    solver.uses[handed.index()].is_handed = true;
    for (&node, &ring) in &offline.ref_cycles {
        let root = solver.find(node);
        solver.uses[root.index()].ring = Some(ring);
    }
    solver.take_constraints();
    solver.run(watch)?;
    statistics.collapsed = solver.collapsed;
    statistics.rounds = solver.rounds;
    statistics.wide = solver.wide.iter().count();
    statistics.constraints = solver.system.constraints.len();
    statistics.edges = solver.uses.iter().map(|uses| uses.copies.len()).sum();
    statistics.locations = solver.system.objects.loc_count();
    solver.merged.grow(solver.system.node_count());
    let roots = solver.merged.into_roots();
    Some(PointsTo::new(
        solver.system,
        roots,
        solver.sets,
        solver.wide,
        solver.callees,
        statistics,
    ))
}

impl<'p> Solver<'p> {
    fn new(system: System<'p>, same: Vec<NodeId>) -> Solver<'p> {
        let calls = system.calls.len();
        let mut solver = Solver {
            system,
            merged: Merged::new(same),
            sets: Vec::new(),
            deltas: Vec::new(),
            unseen: Vec::new(),
            uses: Vec::new(),
            edges: FxHashSet::default(),
            marks: Marks::default(),
            dirty: IdSet::new(),
            wave: Wave::default(),
            to_bound: Vec::new(),
            waiting: Vec::new(),
            copies: Copies::default(),
            overflowing: IdSet::new(),
            moves: Moves::default(),
            wide: IdSet::new(),
            gone: LocSet::new(),
            reshaped: Vec::new(),
            escaped: IdSet::new(),
            callees: IndexVec::from_elem(Vec::new(), calls),
            reached: FxHashSet::default(),
            unseen_calls: IdSet::new(),
            taken: 0,
            known_locs: 0,
            collapsed: 0,
            rounds: 0,
        };
        solver.grow();
        solver
    }

    pub(super) fn find(&mut self, node: NodeId) -> NodeId {
        self.merged.find(node)
    }

    /// Room for nodes that were added; what escaped objects hold is handed over from the start.
    pub(super) fn grow(&mut self) {
        let known = std::mem::replace(&mut self.known_locs, self.system.objects.loc_count());
        self.system.sync_contents();
        let nodes = self.system.node_count();
        self.merged.grow(nodes);
        self.sets.resize(nodes, LocSet::new());
        self.deltas.resize(nodes, LocSet::new());
        self.unseen.resize(nodes, LocSet::new());
        self.uses.resize_with(nodes, Uses::default);
        for index in known..self.system.contents.len() {
            let loc = LocId::new(index);
            let object = self.system.objects.object_of(loc);
            if self.escaped.contains(object) {
                self.hand_out(loc);
            }
            self.copies.touch(object);
        }
    }

    pub(super) fn has_new_locs(&self) -> bool {
        self.known_locs < self.system.objects.loc_count()
    }

    /// Puts constraints that are new in the system into the graph.
    pub(super) fn take_constraints(&mut self) {
        self.grow();
        while self.taken < self.system.constraints.len() {
            let constraint = self.system.constraints[self.taken];
            self.taken += 1;
            match constraint {
                Constraint::Addr { dst, loc } => self.add(dst, loc),
                Constraint::Copy { dst, src } => self.add_edge(src, dst),
                Constraint::Field {
                    dst,
                    src,
                    offset,
                    stride,
                } => self.add_move(src, dst, offset, stride),
                Constraint::Load { dst, addr } => {
                    let root = self.use_by(addr);
                    self.uses[root].loads.push(dst);
                }
                Constraint::Store { addr, src } => {
                    let root = self.use_by(addr);
                    self.uses[root].stores.push(src);
                }
                Constraint::MemCopy { dst, src, len } => self.add_block(dst, src, len),
                Constraint::Call(call) => {
                    if let Some(callee) = self.system.calls[call].callee {
                        let root = self.use_by(callee);
                        self.uses[root].calls.push(call);
                    }
                }
            }
        }
        for node in std::mem::take(&mut self.to_bound) {
            self.bound_again(node);
        }
    }

    /// The node has become an address.
    fn bound_again(&mut self, node: NodeId) {
        let root = self.find(node);
        if !self.wide.contains(root) {
            self.bound(root);
        }
    }

    /// A new constraint has to see the node's whole set.
    pub(super) fn use_by(&mut self, node: NodeId) -> usize {
        let root = self.find(node);
        let at = root.index();
        if !self.sets[at].is_empty() {
            self.unseen[at] = self.sets[at].clone();
            self.waiting.push(root);
            self.to_bound.push(root);
        }
        at
    }

    pub(super) fn mark(&mut self, root: NodeId) {
        if self.dirty.insert(root) {
            self.wave.schedule(root);
        }
    }

    pub(super) fn add(&mut self, node: NodeId, loc: LocId) {
        let root = self.find(node);
        let loc = self.system.objects.find(loc);
        if self.wide.contains(root) {
            if loc != self.system.unseen {
                self.hand_over(&std::iter::once(loc).collect());
            }
        } else if self.sets[root.index()].insert(loc) {
            self.deltas[root.index()].insert(loc);
            self.mark(root);
            self.bound(root);
        }
    }

    pub(super) fn add_all(&mut self, root: NodeId, locs: &LocSet) {
        if self.wide.contains(root) {
            return self.hand_over(locs);
        }
        let new = self.sets[root.index()].union_diff(locs);
        if !new.is_empty() {
            self.deltas[root.index()].union_with(&new);
            self.mark(root);
            self.bound(root);
        }
    }

    pub(super) fn add_edge(&mut self, src: NodeId, dst: NodeId) {
        let (src, dst) = (self.find(src), self.find(dst));
        if src == dst || !self.edges.insert((src, dst)) {
            return;
        }
        self.wave.new_edges += 1;
        self.uses[src.index()].copies.push(dst);
        let set = std::mem::take(&mut self.sets[src.index()]);
        self.add_all(dst, &set);
        self.sets[src.index()] = set;
    }

    fn add_move(&mut self, src: NodeId, dst: NodeId, offset: i64, stride: u32) {
        let src = self.find(src);
        self.wave.new_edges += 1;
        self.uses[src.index()].fields.push((dst, offset, stride));
        self.bound_again(src);
        if !self.sets[src.index()].is_empty() {
            let set = self.sets[src.index()].clone();
            let moved = self.moved(&set, offset, stride);
            let dst = self.find(dst);
            self.add_all(dst, &moved);
        }
    }

    /// `None`: stopped.
    fn run(&mut self, watch: &Watch) -> Option<()> {
        loop {
            while self.has_work() || !self.copies.is_settled() {
                while self.has_work() {
                    if watch.is_stopped() {
                        return None;
                    }
                    self.rounds += 1;
                    self.collapse_and_order();
                    self.propagate();
                    self.look_through();
                    self.take_constraints();
                }
                // Copies of memory are looked at as a whole: only when nothing else is left.
                self.collapse_and_order();
                self.copy_memory();
            }
            if self.move_again() {
                continue;
            }
            // Only when all else is stable: then the result does not depend on the order.
            let overflowing = std::mem::take(&mut self.overflowing);
            for object in overflowing.iter() {
                let entry = &mut self.system.objects.list[object];
                if entry.stride == 0 && !entry.has_tail {
                    entry.has_tail = true;
                    self.reshape(object);
                }
            }
            if !self.move_again() && self.copies.is_settled() {
                return Some(());
            }
        }
    }

    fn has_work(&self) -> bool {
        self.wave.has_work() || !self.waiting.is_empty()
    }

    /// Moves out of reshaped blocks are done again. True if there are any.
    fn move_again(&mut self) -> bool {
        let objects = &self.system.objects;
        let reshaped: IdSet<ObjectId> = self.reshaped.drain(..).collect();
        if reshaped.is_empty() {
            return false;
        }
        let locs: LocSet = (0..objects.loc_count())
            .map(LocId::new)
            .filter(|&loc| reshaped.contains(objects.object_of(loc)))
            .collect();
        for index in 0..self.uses.len() {
            if !self.uses[index].fields.is_empty() {
                let again = self.sets[index].intersection(&locs);
                if !again.is_empty() {
                    self.deltas[index].union_with(&again);
                    self.mark(NodeId::new(index));
                }
            }
        }
        self.has_work()
    }

    /// The set without merged locations.
    pub(super) fn current(&self, set: LocSet) -> LocSet {
        if !set.intersects(&self.gone) {
            return set;
        }
        let objects = &self.system.objects;
        let mut members: Vec<LocId> = set.iter().map(|loc| objects.find(loc)).collect();
        members.sort_unstable();
        members.into_iter().collect()
    }

    /// Two nodes are one from now on.
    pub(super) fn merge(&mut self, a: NodeId, b: NodeId) {
        let (a, b) = (self.find(a), self.find(b));
        if a == b {
            return;
        }
        let wide = (self.wide.contains(a), self.wide.contains(b));
        let first = match wide {
            (true, _) => true,
            (_, true) => false,
            _ => self.sets[a.index()].len() >= self.sets[b.index()].len(),
        };
        let (kept, gone) = if first { (a, b) } else { (b, a) };
        let (to, from) = (kept.index(), gone.index());
        let uses = std::mem::take(&mut self.uses[from]);
        let set = std::mem::take(&mut self.sets[from]);
        let delta = std::mem::take(&mut self.deltas[from]);
        let unseen = std::mem::take(&mut self.unseen[from]);
        self.dirty.remove(gone);
        self.merged.link(gone, kept);
        self.wide.remove(gone);
        self.wave.new_edges += 1;
        // What one of them has not passed on, or has passed on to its own successors only, is passed on again.
        let only_here = self.sets[to].difference(&set);
        let only_there = set.difference(&self.sets[to]);
        let mut to_pass = delta;
        let mut to_see = unseen;
        if uses.passes_on() {
            to_pass.union_with(&only_here);
        }
        if uses.looks_through() {
            to_see.union_with(&only_here);
        }
        if self.uses[to].passes_on() {
            to_pass.union_with(&only_there);
        }
        if self.uses[to].looks_through() {
            to_see.union_with(&only_there);
        }
        if self.wide.contains(kept) {
            self.hand_over(&only_there);
            to_pass = self.sets[to].clone();
            to_see = to_pass.clone();
        } else {
            self.sets[to].union_with(&only_there);
        }
        let rings = (self.uses[to].ring, uses.ring);
        self.uses[to].take_over(uses);
        self.deltas[to].union_with(&to_pass);
        self.unseen[to].union_with(&to_see);
        if !self.deltas[to].is_empty() {
            self.mark(kept);
        }
        if !self.unseen[to].is_empty() {
            self.waiting.push(kept);
        }
        self.bound_again(kept);
        if let (Some(x), Some(y)) = rings {
            self.merge(x, y);
        }
    }
}
