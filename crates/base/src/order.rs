//! Depth-first orders: postorder and reverse postorder from an entry.
//!
//! In reverse postorder every node comes after all its predecessors except those over retreating
//! edges, so forward data-flow problems and SSA construction walk it. Successors are visited in edge
//! order; unreachable nodes are not in the order.

use crate::{EntityId, FrozenIndexVec, Graph, IdSet, IndexVec};

/// Nodes reachable from `entry`, each after all nodes first reached through it.
pub fn postorder<I: EntityId>(graph: &Graph<I>, entry: I) -> Vec<I> {
    let mut seen = IdSet::with_capacity(graph.len());
    let mut order = Vec::with_capacity(graph.len());
    let mut stack: Vec<(I, usize)> = Vec::new();
    if entry.index() < graph.len() {
        seen.insert(entry);
        stack.push((entry, 0));
    }
    while let Some((node, next)) = stack.last_mut() {
        let node = *node;
        match graph.succs(node).get(*next) {
            Some(&succ) => {
                *next += 1;
                if seen.insert(succ) {
                    stack.push((succ, 0));
                }
            }
            None => {
                order.push(node);
                stack.pop();
            }
        }
    }
    order
}

/// A reverse postorder and each node's place in it.
pub struct Rpo<I> {
    order: Box<[I]>,
    rank: FrozenIndexVec<I, u32>,
}

impl<I: EntityId> Rpo<I> {
    /// Rank of a node that the entry doesn't reach.
    pub const UNREACHABLE: u32 = u32::MAX;

    pub fn compute(graph: &Graph<I>, entry: I) -> Self {
        let mut order = postorder(graph, entry);
        order.reverse();
        let mut rank = IndexVec::from_elem(Self::UNREACHABLE, graph.len());
        for (place, &node) in order.iter().enumerate() {
            rank[node] = u32::new(place);
        }
        Self {
            order: order.into(),
            rank: rank.freeze(),
        }
    }

    /// The reachable nodes, entry first.
    pub fn order(&self) -> &[I] {
        &self.order
    }

    /// Place of each node in the order; [`Self::UNREACHABLE`] for the others.
    pub fn rank(&self) -> &FrozenIndexVec<I, u32> {
        &self.rank
    }

    pub fn is_reachable(&self, node: I) -> bool {
        self.rank.get(node).is_some_and(|&r| r != Self::UNREACHABLE)
    }

    /// Does the edge go backwards (or stay) in this order? Every cycle has such an edge.
    pub fn is_retreating(&self, from: I, to: I) -> bool {
        self.rank[to] <= self.rank[from]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diamond_with_back_edge_and_unreachable_node() {
        let g = Graph::<u32>::from_edges(5, [(0, 1), (0, 2), (1, 3), (2, 3), (3, 0), (4, 3)]);
        let rpo = Rpo::compute(&g, 0);
        assert_eq!(rpo.order(), [0, 2, 1, 3]);
        assert_eq!(rpo.rank()[3], 3);
        assert!(!rpo.is_reachable(4));
        assert!(rpo.is_retreating(3, 0) && !rpo.is_retreating(1, 3));
    }

    #[test]
    fn entry_outside_the_graph_reaches_nothing() {
        let g = Graph::<u32>::from_edges(0, []);
        assert!(Rpo::compute(&g, 0).order().is_empty());
    }
}
