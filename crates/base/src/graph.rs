//! Directed graphs in compressed rows: the successors of a node are one slice.
//!
//! The input type of every graph algorithm of this crate. Nodes are the ids below `len()`; parallel
//! edges and self-loops are kept; a node's successors keep the order in which they were added, so
//! that block terminators and call sites can be found again by position.

use crate::{EntityId, IdRange};
use std::fmt;
use std::marker::PhantomData;

/// A frozen directed graph over ids `I`.
#[derive(Clone, PartialEq, Eq)]
pub struct Graph<I> {
    // INVARIANT: ascending; first is 0, last is edges.len(); one more than there are nodes.
    offsets: Box<[u32]>,
    edges: Box<[I]>,
}

impl<I: EntityId> Graph<I> {
    /// `n` nodes; `succs` appends each node's successors. Edges to nodes outside `0..n` are dropped.
    pub fn from_fn(n: usize, mut succs: impl FnMut(I, &mut Vec<I>)) -> Self {
        let mut builder = GraphBuilder::with_capacity(n, 2 * n);
        let mut row = Vec::new();
        for node in (0..n).map(I::new) {
            row.clear();
            succs(node, &mut row);
            builder.push_node(row.iter().copied().filter(|s| s.index() < n));
        }
        builder.build()
    }

    /// `n` nodes and the given edges in any order; the edges of one node keep their order. Edges that
    /// touch nodes outside `0..n` are dropped.
    pub fn from_edges(n: usize, edges: impl IntoIterator<Item = (I, I)>) -> Self {
        let edges: Vec<(I, I)> = edges
            .into_iter()
            .filter(|(from, to)| from.index() < n && to.index() < n)
            .collect();
        Self::by_counting(n, &edges)
    }

    /// Counting sort by source node. `edges` only names nodes below `n`.
    fn by_counting(n: usize, edges: &[(I, I)]) -> Self {
        let mut offsets = vec![0u32; n + 1];
        for (from, _) in edges {
            offsets[from.index() + 1] += 1;
        }
        for node in 0..n {
            offsets[node + 1] += offsets[node];
        }
        let mut next = offsets.clone();
        let mut targets = vec![I::new(0); edges.len()];
        for &(from, to) in edges {
            let slot = &mut next[from.index()];
            targets[*slot as usize] = to;
            *slot += 1;
        }
        Self {
            offsets: offsets.into(),
            edges: targets.into(),
        }
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn num_edges(&self) -> usize {
        self.edges.len()
    }

    pub fn nodes(&self) -> IdRange<I> {
        IdRange::from_indices(0, self.len())
    }

    /// Successors of `node` in the order in which they were added.
    #[track_caller]
    pub fn succs(&self, node: I) -> &[I] {
        let row = node.index();
        &self.edges[self.offsets[row] as usize..self.offsets[row + 1] as usize]
    }

    /// All edges, by source and then by position.
    pub fn edges(&self) -> impl Iterator<Item = (I, I)> + '_ {
        self.nodes()
            .iter()
            .flat_map(|from| self.succs(from).iter().map(move |&to| (from, to)))
    }

    /// The same graph with every edge turned round: its `succs` are the predecessors here, in
    /// ascending order.
    pub fn reversed(&self) -> Self {
        let turned: Vec<(I, I)> = self.edges().map(|(from, to)| (to, from)).collect();
        Self::by_counting(self.len(), &turned)
    }
}

impl<I: EntityId> fmt::Debug for Graph<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map()
            .entries(self.nodes().iter().map(|n| (n, self.succs(n))))
            .finish()
    }
}

/// Builds a [`Graph`] row by row, for products that know the successors of node n when they reach it.
pub struct GraphBuilder<I> {
    offsets: Vec<u32>,
    edges: Vec<I>,
    marker: PhantomData<fn(I) -> I>,
}

impl<I: EntityId> GraphBuilder<I> {
    pub fn with_capacity(nodes: usize, edges: usize) -> Self {
        let mut offsets = Vec::with_capacity(nodes + 1);
        offsets.push(0);
        Self {
            offsets,
            edges: Vec::with_capacity(edges),
            marker: PhantomData,
        }
    }

    /// Adds the next node with its successors and returns its id. Successors may lie ahead.
    pub fn push_node(&mut self, succs: impl IntoIterator<Item = I>) -> I {
        let node = I::new(self.offsets.len() - 1);
        self.edges.extend(succs);
        self.offsets.push(u32::new(self.edges.len()));
        node
    }

    /// Publishes the graph. Edges to nodes that were never pushed are dropped.
    pub fn build(self) -> Graph<I> {
        let n = self.offsets.len() - 1;
        let graph = Graph {
            offsets: self.offsets.into(),
            edges: self.edges.into(),
        };
        if graph.edges.iter().all(|to| to.index() < n) {
            return graph;
        }
        let kept: Vec<(I, I)> = graph.edges().filter(|(_, to)| to.index() < n).collect();
        Graph::by_counting(n, &kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_keep_order_and_parallel_edges() {
        let g = Graph::<u32>::from_edges(3, [(1, 2), (0, 2), (0, 1), (0, 2), (1, 9), (9, 1)]);
        assert_eq!(g.succs(0), [2, 1, 2]);
        assert_eq!(g.succs(1), [2]);
        assert!(g.succs(2).is_empty());
        assert_eq!(g.num_edges(), 4);
        assert_eq!(format!("{g:?}"), "{0: [2, 1, 2], 1: [2], 2: []}");
    }

    #[test]
    fn reversing_gives_predecessors_in_ascending_order() {
        let g = Graph::<u32>::from_edges(3, [(2, 0), (0, 1), (2, 1), (1, 1)]);
        assert_eq!(g.reversed().succs(1), [0, 1, 2]);
        assert_eq!(g.reversed().reversed(), g);
    }

    #[test]
    fn builder_drops_edges_that_lead_nowhere() {
        let mut b = GraphBuilder::<u32>::with_capacity(2, 2);
        b.push_node([1, 5]);
        b.push_node([0]);
        let g = b.build();
        assert_eq!(g, Graph::from_fn(2, |n, out| out.push(1 - n)));
    }

    #[test]
    fn empty_graph() {
        let g = Graph::<u32>::from_edges(0, []);
        assert!(g.is_empty() && g.reversed().is_empty());
    }
}
