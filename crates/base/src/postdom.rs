//! Post-dominators and control dependence: which blocks lie on every path from a block to the end?
//!
//! All nodes without successors are joined to one virtual exit. A part of the graph that never reaches
//! such a node (an endless loop) gets one edge to the virtual exit from its first node in reverse
//! postorder, i.e. the loop's header, as if the loop could be left there: every node then reaches the
//! exit, and the tree is total over reachable and unreachable nodes alike.
//!
//! Control dependence is Ferrante, Ottenstein and Warren's (1987): a block depends on edge a → b iff it
//! post-dominates b but not strictly a.

use crate::{Dominators, EntityId, Graph, Rpo, Sccs};

/// The post-dominator tree, rooted at a virtual exit.
pub struct PostDominators<I> {
    tree: Dominators<u32>,
    /// Nodes of endless parts that were joined to the virtual exit.
    endless: Vec<I>,
}

impl<I: EntityId> PostDominators<I> {
    pub fn compute(graph: &Graph<I>, entry: I) -> Self {
        let n = graph.len();
        let exit = u32::new(n);
        let endless = endless_headers(graph, entry);
        let ends = graph
            .nodes()
            .iter()
            .filter(|&node| graph.succs(node).is_empty())
            .chain(endless.iter().copied())
            .map(|node| (exit, u32::new(node.index())));
        let turned = graph
            .edges()
            .map(|(from, to)| (u32::new(to.index()), u32::new(from.index())));
        let backward = Graph::from_edges(n + 1, ends.chain(turned));
        let forward = backward.reversed();
        Self {
            tree: Dominators::compute(&backward, &forward, exit),
            endless,
        }
    }

    /// The closest strict post-dominator; none if that is the virtual exit.
    pub fn ipdom(&self, node: I) -> Option<I> {
        let exit = self.tree.entry();
        self.tree
            .idom(u32::new(node.index()))
            .filter(|&d| d != exit)
            .map(|d| I::new(d.index()))
    }

    /// Is `a` on every path from `b` to the end? Reflexive.
    pub fn post_dominates(&self, a: I, b: I) -> bool {
        self.tree
            .dominates(u32::new(a.index()), u32::new(b.index()))
    }

    /// Distance from the virtual exit, at least 1.
    pub fn depth(&self, node: I) -> u32 {
        self.tree.depth(u32::new(node.index())).unwrap_or(1)
    }

    /// Nodes of endless parts that were treated as if the program could end there.
    pub fn endless_headers(&self) -> &[I] {
        &self.endless
    }

    /// Blocks that are executed if the edge `from → to` is taken but might not be otherwise: from `to`
    /// up the tree to, without, the immediate post-dominator of `from`.
    pub fn dependents_of_edge(&self, from: I, to: I) -> impl Iterator<Item = I> + '_ {
        let stop = self.ipdom(from);
        let start = (Some(to) != stop).then_some(to);
        std::iter::successors(start, move |&node| {
            self.ipdom(node).filter(|&next| Some(next) != stop)
        })
    }

    /// For each block the branching blocks that it depends on, ascending and without duplicates. Its
    /// size is that of the relation, which nested loops can make larger than the graph.
    pub fn control_dependence(&self, graph: &Graph<I>) -> Graph<I> {
        let mut pairs = Vec::new();
        for from in graph.nodes() {
            let succs = graph.succs(from);
            // An endless loop's header has an invisible second successor.
            if succs.len() < 2 && !self.endless.contains(&from) {
                continue;
            }
            for &to in succs {
                pairs.extend(self.dependents_of_edge(from, to).map(|block| (block, from)));
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        Graph::from_edges(graph.len(), pairs)
    }
}

/// One node for each component that has no way out and no end: the earliest in reverse postorder from
/// `entry`, or the lowest id where `entry` doesn't reach.
fn endless_headers<I: EntityId>(graph: &Graph<I>, entry: I) -> Vec<I> {
    let rpo = Rpo::compute(graph, entry);
    let sccs = Sccs::compute(graph);
    let mut headers = Vec::new();
    for scc in sccs.bottom_up() {
        let members = sccs.members(scc);
        let leaves = members
            .iter()
            .flat_map(|&m| graph.succs(m))
            .any(|&succ| sccs.component_of(succ) != scc);
        if sccs.is_cyclic(scc) && !leaves {
            headers.extend(members.iter().min_by_key(|&&m| rpo.rank()[m]));
        }
    }
    headers.sort_unstable();
    headers
}
