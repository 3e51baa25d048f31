//! The fast solver: a worklist of nodes with difference propagation, variable substitution before ([`super::substitute`]) and
//! lazy and hybrid cycle detection meanwhile ([`super::cycles`]).
//!
//! State per root node: its set, the part of it that was not propagated yet (the delta), copy edges and the constraints that
//! the node is the address of. A location brings its edges when it first appears in a delta. Objects that code out of sight
//! can reach need no constraints of their own: all they hold is one node with `outside`.
//! Order: nodes in the order of a topological sort of the first graph, round by round. The result does not depend on it.

use drip_base::{Graph, IdSet, IndexVec, Sccs};
use rustc_hash::{FxHashMap, FxHashSet};

use super::call::Callee;
use super::constraint::{Constraint, System};
use super::cycles::{Marks, Merged, components_from};
use super::effect::{
    Moved, copied_fields, copied_stride, copied_to, moved, needs_array, overflows,
};
use super::objects::ObjectKind;
use super::points_to::{PointsTo, SolverStatistics};
use super::substitute::prepare;
use super::{CallId, LocId, LocSet, NodeId, ObjectId};

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

/// A move out of a block: `dst` gets the location if the block becomes an array.
struct Parked {
    dst: NodeId,
    at: i64,
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
    parked: FxHashMap<ObjectId, Vec<Parked>>,
    escaped: IdSet<ObjectId>,
    callees: IndexVec<CallId, Vec<Callee>>,
    reached: FxHashSet<(CallId, drip_program::FuncId)>,
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
            parked: FxHashMap::default(),
            escaped: IdSet::new(),
            callees: IndexVec::from_elem(Vec::new(), calls),
            reached: FxHashSet::default(),
            taken: 0,
            collapsed: 0,
        };
        solver.grow();
        solver
    }

    fn find(&mut self, node: NodeId) -> NodeId {
        self.merged.find(node)
    }

    /// Room for nodes that were added; contents of escaped objects are `outside` from the start.
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
                let mut round = std::mem::take(&mut self.pending);
                let rank = |n: &NodeId| (self.rank.get(n.index()).copied().unwrap_or(u32::MAX), *n);
                round.sort_unstable_by_key(rank);
                for node in round {
                    if self.dirty.remove(node) {
                        self.visit(node);
                    }
                }
                let blocks: Vec<usize> = self.dirty_blocks.iter().collect();
                self.dirty_blocks.clear();
                for block in blocks {
                    self.copy_block(block);
                }
                self.take_constraints();
            }
            // Only when all else is stable: see `effect::overflows`.
            let mut beyond: Vec<ObjectId> = self
                .parked
                .iter()
                .filter(|(object, list)| {
                    self.system.objects.list[**object].stride == 0
                        && list.iter().any(|p| overflows(p.at))
                })
                .map(|(&object, _)| object)
                .collect();
            if beyond.is_empty() {
                return;
            }
            beyond.sort_unstable();
            for object in beyond {
                let stride = self.system.pointer_bytes() as u32;
                self.make_array(object, stride);
            }
        }
    }

    fn visit(&mut self, node: NodeId) {
        let node = self.find(node);
        let delta = std::mem::take(&mut self.deltas[node.index()]);
        if delta.is_empty() {
            return;
        }
        let delta = self.current(delta);
        if node == self.find(self.system.outside) {
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
        for loc in delta.iter() {
            let content = self.system.content(loc);
            if let Some(ring) = ring {
                self.merge(content, ring);
            }
            for &dst in &loads {
                self.add_edge(content, dst);
            }
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
            for loc in delta.iter() {
                self.move_one(dst, loc, offset, stride);
            }
        }
        let root = self.find(node);
        self.uses[root.index()].fields.extend(fields);
    }

    fn move_one(&mut self, dst: NodeId, loc: LocId, offset: i64, stride: u32) {
        let types = &self.system.program.types;
        let loc = self.system.objects.find(loc);
        match moved(&mut self.system.objects, types, loc, offset, stride) {
            Moved::At(to) => {
                if to.index() >= self.system.contents.len() {
                    self.grow();
                }
                self.add(dst, to);
            }
            Moved::NeedsArray(object, stride) => {
                self.make_array(object, stride);
                let loc = self.system.objects.find(loc);
                if let Moved::At(to) = moved(&mut self.system.objects, types, loc, offset, 0) {
                    self.grow();
                    self.add(dst, to);
                }
            }
            Moved::Parked(object, at) => {
                self.parked
                    .entry(object)
                    .or_default()
                    .push(Parked { dst, at });
            }
        }
    }

    /// Merges the locations that are one now, and moves what was parked.
    fn make_array(&mut self, object: ObjectId, stride: u32) {
        for (gone, kept) in self.system.objects.make_array(object, stride) {
            let (a, b) = (self.system.contents[gone], self.system.contents[kept]);
            self.merge(a, b);
        }
        self.touch_watched(object);
        let types = &self.system.program.types;
        for Parked { dst, at } in self.parked.remove(&object).unwrap_or_default() {
            if let Some(to) = self.system.objects.loc(types, object, at) {
                self.grow();
                self.add(dst, to);
            }
        }
    }

    fn calls(&mut self, node: NodeId, delta: &LocSet) {
        let node = self.find(node);
        let calls = self.uses[node.index()].calls.clone();
        if calls.is_empty() {
            return;
        }
        for loc in delta.iter() {
            let ObjectKind::Function(func) = self.system.objects.kind_of(loc) else {
                continue;
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
        self.deltas[gone.index()] = LocSet::new();
        self.dirty.remove(gone);
        self.merged.link(gone, kept);
        // What only one of them has was not seen by the other's constraints.
        let mut unseen = set.difference(&self.sets[kept.index()]);
        unseen.union_with(&self.sets[kept.index()].difference(&set));
        self.sets[kept.index()].union_with(&set);
        let has_uses = !uses.loads.is_empty()
            || !uses.stores.is_empty()
            || !uses.fields.is_empty()
            || !uses.calls.is_empty()
            || !uses.blocks.is_empty()
            || !uses.copies.is_empty()
            || uses.ring.is_some();
        if has_uses {
            // Deltas of either were not seen by all.
            unseen = self.sets[kept.index()].clone();
        }
        let into = &mut self.uses[kept.index()];
        into.copies.extend(uses.copies);
        into.fields.extend(uses.fields);
        into.loads.extend(uses.loads);
        into.stores.extend(uses.stores);
        into.calls.extend(uses.calls);
        into.blocks.extend(uses.blocks);
        let rings = (into.ring, uses.ring);
        into.ring = rings.0.or(rings.1);
        self.deltas[kept.index()].union_with(&unseen);
        if !self.deltas[kept.index()].is_empty() {
            self.mark(kept);
        }
        if let (Some(x), Some(y)) = rings {
            self.merge(x, y);
        }
    }

    /// Code out of sight reads and writes all that it can reach, and calls the functions it knows.
    fn escape(&mut self, delta: &LocSet) {
        let outside = self.system.outside;
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
                        self.add_edge(ret, outside);
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
        let content = self.system.content(loc);
        self.merge(content, self.system.outside);
        self.add(self.system.outside, loc);
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
                let through = match self.blocks[id].distances.get(&distance) {
                    Some(&known) => known,
                    None => {
                        let node = self.system.fresh_node();
                        self.blocks[id].distances.insert(distance, node);
                        self.grow();
                        node
                    }
                };
                let content = self.system.content(field);
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
                    let content = self.system.content(place);
                    self.add_edge(through, content);
                }
            }
        }
    }
}
