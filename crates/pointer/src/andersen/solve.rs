//! The fast solver: a worklist of nodes with difference propagation, variable substitution before ([`super::substitute`]) and
//! lazy and hybrid cycle detection meanwhile ([`super::cycles`]).
//!
//! State per root node: its set, the part of it that was not propagated yet (the delta), copy edges and the constraints that
//! the node is the address of. A location brings its edges when it first appears in a delta. Objects that code out of sight
//! can reach need no constraints of their own: they are marked, and what they hold is handed over as well.
//! Order: nodes in the order of a topological sort of the first graph, round by round. The result does not depend on it.

use drip_base::{Graph, IdSet, IndexVec, Sccs};
use rustc_hash::{FxHashMap, FxHashSet};

use super::call::Callee;
use super::constraint::{Constraint, System};
use super::cycles::{Marks, Merged, components_from};
use super::effect::{copied_fields, copied_stride, copied_to, needs_array, overflows};
use super::objects::ObjectKind;
use super::points_to::{PointsTo, SolverStatistics};
use super::substitute::prepare;
use super::{CallId, LocId, LocSet, NodeId, ObjectId};

/// Sets of at least this many locations are worth remembering where they were moved to.
const MIN_REMEMBERED: usize = 32;

/// What one node is the address, the source or the callee of.
#[derive(Clone, Default)]
struct Uses {
    copies: Vec<NodeId>,
    fields: Vec<(NodeId, i64, u32)>,
    loads: Vec<NodeId>,
    stores: Vec<NodeId>,
    calls: Vec<CallId>,
    /// Copies of memory that read or write through this node.
    blocks: Vec<usize>,
    /// What its locations hold is one with this node (hybrid cycle detection).
    ring: Option<NodeId>,
}

/// A copy of memory: one node per distance connects all sources with all targets.
#[derive(Clone)]
struct BlockCopy {
    dst: NodeId,
    src: NodeId,
    len: u64,
    distances: FxHashMap<u64, NodeId>,
}

struct Solver<'p> {
    system: System<'p>,
    merged: Merged,
    sets: Vec<LocSet>,
    deltas: Vec<LocSet>,
    uses: Vec<Uses>,
    edges: FxHashSet<(NodeId, NodeId)>,
    /// Edges that a cycle was looked for already.
    tried: FxHashSet<(NodeId, NodeId)>,
    marks: Marks,
    /// Nodes with a delta.
    dirty: IdSet<NodeId>,
    pending: Vec<NodeId>,
    rank: Vec<u32>,
    blocks: Vec<BlockCopy>,
    dirty_blocks: IdSet<usize>,
    /// Copies of memory that an object takes part in.
    watched: FxHashMap<ObjectId, Vec<usize>>,
    /// Blocks that were moved far into: they have a tail once all else is stable.
    overflowing: IdSet<ObjectId>,
    /// Large sets that were moved, by offset and stride.
    moves: FxHashMap<(i64, u32), FxHashMap<LocSet, LocSet>>,
    /// Blocks that became arrays or got a tail: moves out of them lead elsewhere now.
    reshaped: Vec<ObjectId>,
    escaped: IdSet<ObjectId>,
    callees: IndexVec<CallId, Vec<Callee>>,
    reached: FxHashSet<(CallId, drip_program::FuncId)>,
    /// Calls through pointers from out of sight.
    unseen_calls: IdSet<CallId>,
    /// Constraints before this one are in the graph.
    taken: usize,
    collapsed: usize,
}

pub fn solve(system: System<'_>) -> PointsTo<'_> {
    let offline = prepare(&system);
    let mut statistics = SolverStatistics {
        nodes: system.node_count(),
        substituted: offline.merged,
        ..SolverStatistics::default()
    };
    let mut solver = Solver::new(system, offline.same);
    for (&node, &ring) in &offline.ref_cycles {
        let root = solver.find(node);
        solver.uses[root.index()].ring = Some(ring);
    }
    solver.take_constraints();
    solver.order();
    solver.run();
    statistics.collapsed = solver.collapsed;
    statistics.constraints = solver.system.constraints.len();
    statistics.edges = solver.edges.len();
    statistics.locations = solver.system.objects.loc_count();
    solver.merged.grow(solver.system.node_count());
    let roots = solver.merged.into_roots();
    PointsTo::new(
        solver.system,
        roots,
        solver.sets,
        solver.callees,
        statistics,
    )
}

impl<'p> Solver<'p> {
    fn new(system: System<'p>, same: Vec<NodeId>) -> Solver<'p> {
        let calls = system.calls.len();
        let mut solver = Solver {
            system,
            merged: Merged::new(same),
            sets: Vec::new(),
            deltas: Vec::new(),
            uses: Vec::new(),
            edges: FxHashSet::default(),
            tried: FxHashSet::default(),
            marks: Marks::default(),
            dirty: IdSet::new(),
            pending: Vec::new(),
            rank: Vec::new(),
            blocks: Vec::new(),
            dirty_blocks: IdSet::new(),
            watched: FxHashMap::default(),
            overflowing: IdSet::new(),
            moves: FxHashMap::default(),
            reshaped: Vec::new(),
            escaped: IdSet::new(),
            callees: IndexVec::from_elem(Vec::new(), calls),
            reached: FxHashSet::default(),
            unseen_calls: IdSet::new(),
            taken: 0,
            collapsed: 0,
        };
        solver.grow();
        solver
    }

    fn find(&mut self, node: NodeId) -> NodeId {
        self.merged.find(node)
    }

    /// Room for nodes that were added; what escaped objects hold is handed over from the start.
    fn grow(&mut self) {
        let known = self.system.contents.len();
        self.system.sync_contents();
        let nodes = self.system.node_count();
        self.merged.grow(nodes);
        self.sets.resize(nodes, LocSet::new());
        self.deltas.resize(nodes, LocSet::new());
        self.uses.resize_with(nodes, Uses::default);
        for index in known..self.system.contents.len() {
            let loc = LocId::new(index);
            let object = self.system.objects.object_of(loc);
            if self.escaped.contains(object) {
                self.hand_out(loc);
            }
            self.touch_watched(object);
        }
    }

    fn touch_watched(&mut self, object: ObjectId) {
        if let Some(blocks) = self.watched.get(&object) {
            self.dirty_blocks.extend(blocks.iter().copied());
        }
    }

    /// Puts constraints that are new in the system into the graph.
    fn take_constraints(&mut self) {
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
                } => {
                    let root = self.use_by(src);
                    self.uses[root].fields.push((dst, offset, stride));
                }
                Constraint::Load { dst, addr } => {
                    let root = self.use_by(addr);
                    self.uses[root].loads.push(dst);
                }
                Constraint::Store { addr, src } => {
                    let root = self.use_by(addr);
                    self.uses[root].stores.push(src);
                }
                Constraint::MemCopy { dst, src, len } => {
                    let id = self.blocks.len();
                    self.blocks.push(BlockCopy {
                        dst,
                        src,
                        len,
                        distances: FxHashMap::default(),
                    });
                    for node in [dst, src] {
                        let root = self.use_by(node);
                        self.uses[root].blocks.push(id);
                    }
                    self.dirty_blocks.insert(id);
                }
                Constraint::Call(call) => {
                    if let Some(callee) = self.system.calls[call].callee {
                        let root = self.use_by(callee);
                        self.uses[root].calls.push(call);
                    }
                }
            }
        }
    }

    /// A new constraint has to see the node's whole set.
    fn use_by(&mut self, node: NodeId) -> usize {
        let root = self.find(node);
        if !self.sets[root.index()].is_empty() {
            self.deltas[root.index()] = self.sets[root.index()].clone();
            self.mark(root);
        }
        root.index()
    }

    fn mark(&mut self, root: NodeId) {
        if self.dirty.insert(root) {
            self.pending.push(root);
        }
    }

    fn add(&mut self, node: NodeId, loc: LocId) {
        let root = self.find(node);
        let loc = self.system.objects.find(loc);
        if self.sets[root.index()].insert(loc) {
            self.deltas[root.index()].insert(loc);
            self.mark(root);
        }
    }

    fn add_all(&mut self, root: NodeId, locs: &LocSet) {
        let new = self.sets[root.index()].union_diff(locs);
        if !new.is_empty() {
            self.deltas[root.index()].union_with(&new);
            self.mark(root);
        }
    }

    fn add_edge(&mut self, src: NodeId, dst: NodeId) {
        let (src, dst) = (self.find(src), self.find(dst));
        if src == dst || !self.edges.insert((src, dst)) {
            return;
        }
        self.uses[src.index()].copies.push(dst);
        let set = std::mem::take(&mut self.sets[src.index()]);
        self.add_all(dst, &set);
        self.sets[src.index()] = set;
    }

    /// Topological ranks of the first graph: sources first.
    fn order(&mut self) {
        let nodes = self.system.node_count();
        let edges: Vec<(NodeId, NodeId)> = self.edges.iter().map(|&(a, b)| (b, a)).collect();
        let graph = Graph::from_edges(nodes, edges);
        let mut rank = vec![0; nodes];
        for (at, members) in Sccs::compute(&graph).iter().enumerate() {
            for member in members {
                rank[member.index()] = at as u32;
            }
        }
        self.rank = rank;
    }

    fn run(&mut self) {
        loop {
            while !self.pending.is_empty() || !self.dirty_blocks.is_empty() {
                while !self.pending.is_empty() {
                    self.round();
                }
                // Copies of memory are looked at as a whole: only when nothing else is left.
                let blocks: Vec<usize> = self.dirty_blocks.iter().collect();
                self.dirty_blocks.clear();
                for block in blocks {
                    self.copy_block(block);
                }
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
                    self.reshaped.push(object);
                    self.moves.clear();
                }
            }
            if !self.move_again() {
                return;
            }
        }
    }

    /// All nodes with a delta, sources first.
    fn round(&mut self) {
        let mut round = std::mem::take(&mut self.pending);
        let rank = |n: &NodeId| (self.rank.get(n.index()).copied().unwrap_or(u32::MAX), *n);
        round.sort_unstable_by_key(rank);
        for node in round {
            if self.dirty.remove(node) {
                self.visit(node);
            }
        }
        self.take_constraints();
    }

    /// Moves out of reshaped blocks are done again. True if there are any.
    fn move_again(&mut self) -> bool {
        let objects = &self.system.objects;
        let reshaped: IdSet<ObjectId> = self.reshaped.drain(..).collect();
        if reshaped.is_empty() {
            return false;
        }
        let mut locs: Vec<LocId> = (0..objects.loc_count())
            .map(LocId::new)
            .filter(|&loc| reshaped.contains(objects.object_of(loc)))
            .collect();
        locs.sort_unstable();
        let locs: LocSet = locs.into_iter().collect();
        for index in 0..self.uses.len() {
            if !self.uses[index].fields.is_empty() {
                let again = self.sets[index].intersection(&locs);
                if !again.is_empty() {
                    self.deltas[index].union_with(&again);
                    self.mark(NodeId::new(index));
                }
            }
        }
        !self.pending.is_empty()
    }

    fn visit(&mut self, node: NodeId) {
        let node = self.find(node);
        let delta = std::mem::take(&mut self.deltas[node.index()]);
        if delta.is_empty() {
            return;
        }
        let delta = self.current(delta);
        if node == self.find(self.system.handed) {
            self.escape(&delta);
        }
        self.through_memory(node, &delta);
        self.moves(node, &delta);
        self.calls(node, &delta);
        let blocks = &self.uses[node.index()].blocks;
        self.dirty_blocks.extend(blocks.iter().copied());
        self.propagate(node, &delta);
    }

    /// The set without merged locations.
    fn current(&self, set: LocSet) -> LocSet {
        let objects = &self.system.objects;
        if set.iter().all(|loc| objects.find(loc) == loc) {
            return set;
        }
        let mut members: Vec<LocId> = set.iter().map(|loc| objects.find(loc)).collect();
        members.sort_unstable();
        members.into_iter().collect()
    }

    fn through_memory(&mut self, node: NodeId, delta: &LocSet) {
        let uses = &mut self.uses[node.index()];
        let loads = std::mem::take(&mut uses.loads);
        let stores = std::mem::take(&mut uses.stores);
        let ring = uses.ring;
        if loads.is_empty() && stores.is_empty() && ring.is_none() {
            return;
        }
        if let Some(ring) = ring {
            for loc in delta.iter() {
                let (read, written) = (self.system.read(loc), self.system.written(loc));
                if let (Some(content), true) = (written, read == written) {
                    self.merge(content, ring);
                }
            }
        }
        // What many locations hold is often one node.
        let mut read: Vec<NodeId> = Vec::new();
        let mut written: Vec<NodeId> = Vec::new();
        for loc in delta.iter() {
            if let (Some(content), false) = (self.system.read(loc), loads.is_empty()) {
                read.push(self.merged.find(content));
            }
            if let (Some(content), false) = (self.system.written(loc), stores.is_empty()) {
                written.push(self.merged.find(content));
            }
        }
        for list in [&mut read, &mut written] {
            list.sort_unstable();
            list.dedup();
        }
        for content in read {
            for &dst in &loads {
                self.add_edge(content, dst);
            }
        }
        for content in written {
            for &src in &stores {
                self.add_edge(src, content);
            }
        }
        // The node itself may have been merged meanwhile.
        let root = self.find(node);
        self.uses[root.index()].loads.extend(loads);
        self.uses[root.index()].stores.extend(stores);
    }

    fn moves(&mut self, node: NodeId, delta: &LocSet) {
        let node = self.find(node);
        let fields = std::mem::take(&mut self.uses[node.index()].fields);
        for &(dst, offset, stride) in &fields {
            let moved = self.moved(delta, offset, stride);
            let root = self.find(dst);
            self.add_all(root, &moved);
        }
        let root = self.find(node);
        self.uses[root.index()].fields.extend(fields);
    }

    /// Where an offset of an object is.
    fn move_to(&mut self, object: ObjectId, at: i64, stride: u32) -> Option<LocId> {
        let types = &self.system.program.types;
        if stride > 0 && self.system.objects.becomes_array(types, object, at, stride) {
            self.make_array(object, stride);
        }
        let to = self.system.objects.loc(types, object, at);
        if to.is_none() && overflows(at) {
            self.overflowing.insert(object);
        }
        to
    }

    /// All locations of a set, moved. Nodes that get the same pointers move them by the same few offsets: large sets are
    /// remembered until some block is reshaped.
    fn moved(&mut self, set: &LocSet, offset: i64, stride: u32) -> LocSet {
        let remember = set.len() >= MIN_REMEMBERED;
        if remember && let Some(known) = self.moves.get(&(offset, stride)).and_then(|m| m.get(set))
        {
            return known.clone();
        }
        let mut moved: Vec<LocId> = Vec::with_capacity(set.len());
        for loc in set.iter() {
            let objects = &self.system.objects;
            let loc = objects.find(loc);
            let object = objects.object_of(loc);
            let at = i64::from(objects.offset_of(loc)).saturating_add(offset);
            moved.extend(self.move_to(object, at, stride));
        }
        if self.system.contents.len() < self.system.objects.loc_count() {
            self.grow();
        }
        moved
            .iter_mut()
            .for_each(|loc| *loc = self.system.objects.find(*loc));
        moved.sort_unstable();
        let moved: LocSet = moved.into_iter().collect();
        if remember && self.reshaped.is_empty() {
            let by_set = self.moves.entry((offset, stride)).or_default();
            by_set.insert(set.clone(), moved.clone());
        }
        moved
    }

    /// Merges the locations that are one now.
    fn make_array(&mut self, object: ObjectId, stride: u32) {
        let types = &self.system.program.types;
        for (gone, kept) in self.system.objects.make_array(types, object, stride) {
            let (a, b) = (self.system.contents[gone], self.system.contents[kept]);
            self.merge(a, b);
        }
        self.touch_watched(object);
        self.reshaped.push(object);
        self.moves.clear();
    }

    fn calls(&mut self, node: NodeId, delta: &LocSet) {
        let node = self.find(node);
        let calls = self.uses[node.index()].calls.clone();
        if calls.is_empty() {
            return;
        }
        for loc in delta.iter() {
            let func = match self.system.objects.kind_of(loc) {
                ObjectKind::Function(func) => func,
                ObjectKind::Outside => {
                    for &call in &calls {
                        if self.unseen_calls.insert(call) {
                            let site = self.system.calls[call].clone();
                            self.system.reach_outside(&site);
                        }
                    }
                    continue;
                }
                _ => continue,
            };
            for &call in &calls {
                if !self.reached.insert((call, func)) {
                    continue;
                }
                let site = self.system.calls[call].clone();
                if let Some(callee) = self.system.reach(&site, func) {
                    self.callees[call].push(callee);
                }
            }
        }
        self.take_constraints();
    }

    fn propagate(&mut self, node: NodeId, delta: &LocSet) {
        let node = self.find(node);
        let copies = std::mem::take(&mut self.uses[node.index()].copies);
        let mut targets: Vec<NodeId> = copies.iter().map(|&n| self.find(n)).collect();
        targets.sort_unstable();
        targets.dedup();
        targets.retain(|&n| n != node);
        let mut suspects = Vec::new();
        for &dst in &targets {
            self.add_all(dst, delta);
            // Lazy cycle detection: equal sets on both ends of an edge hint at a cycle.
            if self.sets[dst.index()] == self.sets[node.index()] && self.tried.insert((node, dst)) {
                suspects.push(dst);
            }
        }
        self.uses[node.index()].copies = targets;
        for suspect in suspects {
            let suspect = self.find(suspect);
            self.collapse_cycles(suspect);
        }
    }

    fn collapse_cycles(&mut self, start: NodeId) {
        let (uses, merged) = (&self.uses, &mut self.merged);
        let succs = |node: NodeId, out: &mut Vec<NodeId>| {
            out.extend(uses[node.index()].copies.iter().map(|&n| merged.find(n)));
        };
        for component in components_from(start, succs, &mut self.marks) {
            let Some((&first, rest)) = component.split_first() else {
                continue;
            };
            self.collapsed += rest.len();
            for &node in rest {
                self.merge(node, first);
            }
        }
    }

    /// Two nodes are one from now on.
    fn merge(&mut self, a: NodeId, b: NodeId) {
        let (a, b) = (self.find(a), self.find(b));
        if a == b {
            return;
        }
        let (kept, gone) = if self.sets[a.index()].len() >= self.sets[b.index()].len() {
            (a, b)
        } else {
            (b, a)
        };
        let uses = std::mem::take(&mut self.uses[gone.index()]);
        let set = std::mem::take(&mut self.sets[gone.index()]);
        let delta = std::mem::take(&mut self.deltas[gone.index()]);
        self.dirty.remove(gone);
        self.merged.link(gone, kept);
        // Only what both have passed on already is done with.
        let passed_on = set
            .difference(&delta)
            .intersection(&self.sets[kept.index()].difference(&self.deltas[kept.index()]));
        self.sets[kept.index()].union_with(&set);
        self.deltas[kept.index()] = self.sets[kept.index()].difference(&passed_on);
        let into = &mut self.uses[kept.index()];
        into.copies.extend(uses.copies);
        into.fields.extend(uses.fields);
        into.loads.extend(uses.loads);
        into.stores.extend(uses.stores);
        into.calls.extend(uses.calls);
        into.blocks.extend(uses.blocks);
        let rings = (into.ring, uses.ring);
        into.ring = rings.0.or(rings.1);
        if !self.deltas[kept.index()].is_empty() {
            self.mark(kept);
        }
        if let (Some(x), Some(y)) = rings {
            self.merge(x, y);
        }
    }

    /// Code out of sight reads and writes all that it was handed, and calls the functions it knows.
    fn escape(&mut self, delta: &LocSet) {
        let (handed, outside) = (self.system.handed, self.system.outside);
        for loc in delta.iter() {
            match self.system.objects.kind_of(loc) {
                ObjectKind::Library => {}
                ObjectKind::Function(func) => {
                    let Some(base) = self.system.instances.base(func) else {
                        continue;
                    };
                    let params = self.system.params[base].clone();
                    for param in params
                        .into_iter()
                        .flatten()
                        .chain(self.system.varargs[base])
                    {
                        self.add_edge(outside, param);
                    }
                    if let Some(ret) = self.system.returns[base] {
                        self.add_edge(ret, handed);
                    }
                }
                _ => {
                    let object = self.system.objects.object_of(loc);
                    if self.escaped.insert(object) {
                        for (_, field) in self.system.objects.list[object].locs().to_vec() {
                            self.hand_out(field);
                        }
                    }
                }
            }
        }
    }

    fn hand_out(&mut self, loc: LocId) {
        if let Some(content) = self.system.read(loc) {
            self.add_edge(content, self.system.handed);
        }
        if let Some(content) = self.system.written(loc) {
            self.add(content, self.system.unseen);
        }
        self.add(self.system.handed, loc);
    }

    fn copy_block(&mut self, id: usize) {
        let BlockCopy { dst, src, len, .. } = self.blocks[id];
        let (from, to) = (self.find(src), self.find(dst));
        let sources = self.current(self.sets[from.index()].clone());
        let targets = self.current(self.sets[to.index()].clone());
        if sources.is_empty() || targets.is_empty() {
            return;
        }
        let types = &self.system.program.types;
        for loc in sources.iter().chain(targets.iter()) {
            let object = self.system.objects.object_of(loc);
            let watchers = self.watched.entry(object).or_default();
            if watchers.last() != Some(&id) && !watchers.contains(&id) {
                watchers.push(id);
            }
        }
        let mut strides: Vec<u32> = sources
            .iter()
            .map(|loc| copied_stride(&self.system.objects, loc, len))
            .filter(|&stride| stride > 0)
            .collect();
        strides.sort_unstable();
        strides.dedup();
        for stride in strides {
            for target in targets.iter() {
                let target = self.system.objects.find(target);
                if needs_array(&self.system.objects, types, target, stride) {
                    let object = self.system.objects.object_of(target);
                    self.make_array(object, stride);
                }
            }
        }
        for source in sources.iter() {
            let source = self.system.objects.find(source);
            for (distance, field) in copied_fields(&self.system.objects, source, len) {
                let Some(content) = self.system.read(field) else {
                    continue;
                };
                let through = match self.blocks[id].distances.get(&distance) {
                    Some(&known) => known,
                    None => {
                        let node = self.system.fresh_node();
                        self.blocks[id].distances.insert(distance, node);
                        self.grow();
                        node
                    }
                };
                self.add_edge(content, through);
            }
        }
        let mut distances: Vec<(u64, NodeId)> = self.blocks[id]
            .distances
            .iter()
            .map(|(&d, &n)| (d, n))
            .collect();
        distances.sort_unstable();
        for target in targets.iter() {
            let target = self.system.objects.find(target);
            for &(distance, through) in &distances {
                let place = copied_to(&mut self.system.objects, types, target, distance);
                if let Some(place) = place {
                    self.grow();
                    if let Some(content) = self.system.written(place) {
                        self.add_edge(through, content);
                    }
                }
            }
        }
    }
}
