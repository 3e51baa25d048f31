//! Iterated dominance frontiers on demand: where do definitions of a variable meet?
//!
//! Sreedhar and Gao, "A Linear Time Algorithm for Placing φ-Nodes" (POPL 1995): definitions are taken
//! from the deepest dominator level upwards; from each, the dominator subtree is walked once, and an
//! edge out of it that lands no deeper than the definition is a join. No frontier sets are stored.
//! One finder serves many variables of a function: its marks are stamps, not cleared in between.

use crate::{Dominators, EntityId, Graph, IdSet, IndexVec};
use std::collections::BinaryHeap;

/// Finds φ-blocks for sets of definitions in one graph.
pub struct Frontiers<'a, I> {
    graph: &'a Graph<I>,
    dom: &'a Dominators<I>,
    /// Last query that put the node into the result / walked it / counted it as a definition.
    joined: IndexVec<I, u32>,
    walked: IndexVec<I, u32>,
    defines: IndexVec<I, u32>,
    query: u32,
    heap: BinaryHeap<(u32, u32, I)>,
    subtree: Vec<I>,
}

impl<'a, I: EntityId> Frontiers<'a, I> {
    /// `dom` must be the dominators of `graph`.
    pub fn new(graph: &'a Graph<I>, dom: &'a Dominators<I>) -> Self {
        let unseen = || IndexVec::from_elem(0, graph.len());
        Self {
            graph,
            dom,
            joined: unseen(),
            walked: unseen(),
            defines: unseen(),
            query: 0,
            heap: BinaryHeap::new(),
            subtree: Vec::new(),
        }
    }

    /// The iterated dominance frontier of `defs`, ascending. Unreachable definitions are ignored.
    pub fn iterated(&mut self, defs: impl IntoIterator<Item = I>) -> Vec<I> {
        self.search(defs, |_| true)
    }

    /// As [`iterated`](Self::iterated), restricted to blocks where the variable is live on entry
    /// (pruned SSA). Dead joins are not passed through either: a value that is dead there can't reach
    /// a live join beyond without being defined again.
    pub fn iterated_live(
        &mut self,
        defs: impl IntoIterator<Item = I>,
        live_in: &IdSet<I>,
    ) -> Vec<I> {
        self.search(defs, |block| live_in.contains(block))
    }

    fn search(&mut self, defs: impl IntoIterator<Item = I>, keep: impl Fn(I) -> bool) -> Vec<I> {
        self.next_query();
        for def in defs {
            if self.dom.is_reachable(def) && self.defines[def] != self.query {
                self.defines[def] = self.query;
                self.push(def);
            }
        }
        let mut result = Vec::new();
        while let Some((level, _, root)) = self.heap.pop() {
            self.walk_subtree(root, level, &keep, &mut result);
        }
        result.sort_unstable();
        result
    }

    /// Stamps are 32 bits; after four billion queries they start over.
    fn next_query(&mut self) {
        if self.query == u32::MAX {
            for marks in [&mut self.joined, &mut self.walked, &mut self.defines] {
                marks.as_mut_slice().fill(0);
            }
            self.query = 0;
        }
        self.query += 1;
    }

    fn push(&mut self, node: I) {
        let level = self.dom.depth(node).unwrap_or(0);
        // The second key only makes the order of the heap independent of its history.
        self.heap
            .push((level, u32::MAX - u32::new(node.index()), node));
    }

    fn walk_subtree(
        &mut self,
        root: I,
        level: u32,
        keep: &impl Fn(I) -> bool,
        result: &mut Vec<I>,
    ) {
        let query = self.query;
        if self.walked[root] == query {
            return;
        }
        self.walked[root] = query;
        self.subtree.push(root);
        while let Some(node) = self.subtree.pop() {
            for &succ in self.graph.succs(node) {
                let is_join = self.dom.depth(succ).is_some_and(|d| d <= level);
                if !is_join || self.joined[succ] == query {
                    continue;
                }
                self.joined[succ] = query;
                if !keep(succ) {
                    continue;
                }
                result.push(succ);
                if self.defines[succ] != query {
                    self.push(succ);
                }
            }
            for &child in self.dom.children(node) {
                if self.walked[child] != query {
                    self.walked[child] = query;
                    self.subtree.push(child);
                }
            }
        }
    }
}
