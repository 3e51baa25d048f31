//! One wave: copy edges without cycles, nodes in topological order, and deltas along copies and moves, each node once.
//!
//! Order: components of the graph of copies and moves, sources first. A component of copies alone has one set in every
//! solution and becomes one node; moves may be on cycles too, then what goes against the order waits for the next wave.
//! Cost per wave: linear in the graph (only if it has changed), plus one union per edge out of a node with a delta.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use drip_base::{Graph, Sccs};

use super::cycles::components_among;
use super::solve::Solver;
use super::{LocSet, NodeId};

/// Nodes are ordered again when one of so many edges is new; until then what goes against the order waits for the next wave.
const REORDER_SHARE: usize = 32;

/// Which nodes come next.
#[derive(Default)]
pub(super) struct Wave {
    /// Position of each node in the order; nodes that are new have none and come last.
    rank: Vec<u32>,
    heap: BinaryHeap<Reverse<(u32, NodeId)>>,
    /// Position of the node at work; `None` between waves.
    at: Option<u32>,
    /// Nodes of the next wave.
    next: Vec<NodeId>,
    /// Edges that came, and nodes that were merged, since the nodes were ordered.
    pub new_edges: usize,
}

impl Wave {
    pub fn has_work(&self) -> bool {
        !self.next.is_empty()
    }

    fn rank(&self, node: NodeId) -> u32 {
        self.rank.get(node.index()).copied().unwrap_or(u32::MAX)
    }

    /// A node has something to pass on: in this wave if its turn is still to come.
    pub fn schedule(&mut self, node: NodeId) {
        let rank = self.rank(node);
        match self.at {
            Some(at) if rank > at => self.heap.push(Reverse((rank, node))),
            _ => self.next.push(node),
        }
    }
}

impl Solver<'_> {
    /// Makes cycles of copies one node, and orders the nodes.
    pub(super) fn collapse_and_order(&mut self) {
        if self.wave.new_edges * REORDER_SHARE <= self.edges.len() {
            return;
        }
        let nodes = self.system.node_count();
        self.tidy_edges();
        let (uses, merged) = (&self.uses, &mut self.merged);
        let graph = Graph::from_fn(nodes, |node: NodeId, out| {
            let uses = &uses[node.index()];
            out.extend(&uses.copies);
            out.extend(uses.fields.iter().map(|&(dst, ..)| merged.find(dst)));
        });
        let sccs = Sccs::compute(&graph);
        self.wave.rank.clear();
        self.wave.rank.resize(nodes, u32::MAX);
        let mut cycles: Vec<Vec<NodeId>> = Vec::new();
        for (at, members) in sccs.iter().rev().enumerate() {
            for member in members {
                self.wave.rank[member.index()] = at as u32;
            }
            if members.len() > 1 {
                let inside = |node: NodeId, out: &mut Vec<NodeId>| {
                    let scc = sccs.component_of(node);
                    let copies = self.uses[node.index()].copies.iter().copied();
                    out.extend(copies.filter(|&n| sccs.component_of(n) == scc));
                };
                cycles.extend(components_among(members, inside, &mut self.marks));
            }
        }
        for cycle in &cycles {
            let Some((&first, rest)) = cycle.split_first() else {
                continue;
            };
            self.collapsed += rest.len();
            rest.iter().for_each(|&node| self.merge(node, first));
        }
        // Merging keeps the order true: all of a cycle were in one place.
        self.wave.new_edges = 0;
    }

    /// Copy edges between roots, each once.
    fn tidy_edges(&mut self) {
        for index in 0..self.uses.len() {
            let mut copies = std::mem::take(&mut self.uses[index].copies);
            if copies.is_empty() {
                continue;
            }
            let node = NodeId::new(index);
            copies.iter_mut().for_each(|n| *n = self.merged.find(*n));
            copies.sort_unstable();
            copies.dedup();
            copies.retain(|&n| n != node);
            self.uses[index].copies = copies;
        }
    }

    /// Passes on all deltas, sources first.
    pub(super) fn propagate(&mut self) {
        for node in std::mem::take(&mut self.wave.next) {
            let rank = self.wave.rank(node);
            self.wave.heap.push(Reverse((rank, node)));
        }
        while let Some(Reverse((rank, node))) = self.wave.heap.pop() {
            self.wave.at = Some(rank);
            if self.dirty.remove(node) {
                self.pass_on(node);
            }
        }
        self.wave.at = None;
    }

    fn pass_on(&mut self, node: NodeId) {
        let node = self.find(node);
        let delta = std::mem::take(&mut self.deltas[node.index()]);
        let delta = self.current(delta);
        if delta.is_empty() {
            return;
        }
        if self.uses[node.index()].looks_through() {
            if self.unseen[node.index()].is_empty() {
                self.waiting.push(node);
            }
            self.unseen[node.index()].union_with(&delta);
        }
        let copies = std::mem::take(&mut self.uses[node.index()].copies);
        for &dst in &copies {
            let dst = self.find(dst);
            if dst != node {
                self.add_all(dst, &delta);
            }
        }
        // Nothing was merged meanwhile.
        self.uses[node.index()].copies = copies;
        self.move_all(node, &delta);
    }

    fn move_all(&mut self, node: NodeId, delta: &LocSet) {
        // Not taken out: a move can make this node one with another, which asks for all that it passes on.
        let fields = self.uses[node.index()].fields.clone();
        for (dst, offset, stride) in fields {
            let moved = self.moved(delta, offset, stride);
            let root = self.find(dst);
            self.add_all(root, &moved);
        }
    }
}
