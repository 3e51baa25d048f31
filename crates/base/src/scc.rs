//! Strongly connected components (Tarjan 1972, iterative), in bottom-up order.
//!
//! Which functions call each other in a circle, and in which order must functions be summarised so
//! that callees come before callers? Components are numbered in the order in which Tarjan's algorithm
//! closes them: every edge between two components goes from the higher number to the lower. Members of
//! a component are in ascending order. Roots are tried in ascending order, so the numbering depends on
//! the graph alone.

use crate::{EntityId, FrozenIndexVec, Graph, GraphBuilder, IdRange, IndexVec};

crate::entity_id! {
    /// A strongly connected component; lower numbers never reach higher ones.
    pub struct SccId = "scc";
}

/// The components of a graph.
pub struct Sccs<I> {
    component_of: FrozenIndexVec<I, SccId>,
    offsets: Box<[u32]>,
    members: Box<[I]>,
    cyclic: FrozenIndexVec<SccId, bool>,
}

impl<I: EntityId> Sccs<I> {
    pub fn compute(graph: &Graph<I>) -> Self {
        let (component_of, count) = Tarjan::new(graph).run();
        let mut offsets = vec![0u32; count + 1];
        for scc in &component_of {
            offsets[scc.index() + 1] += 1;
        }
        for scc in 0..count {
            offsets[scc + 1] += offsets[scc];
        }
        let mut next = offsets.clone();
        let mut members = vec![I::new(0); graph.len()];
        for (node, scc) in component_of.iter_enumerated() {
            let slot = &mut next[scc.index()];
            members[*slot as usize] = node;
            *slot += 1;
        }
        let mut cyclic: IndexVec<SccId, bool> = IndexVec::from_fn(count, |s: SccId| {
            offsets[s.index() + 1] - offsets[s.index()] > 1
        });
        for (from, to) in graph.edges() {
            if from == to {
                cyclic[component_of[from]] = true;
            }
        }
        Self {
            component_of,
            offsets: offsets.into(),
            members: members.into(),
            cyclic: cyclic.freeze(),
        }
    }

    /// Number of components.
    pub fn len(&self) -> usize {
        self.cyclic.len()
    }

    pub fn is_empty(&self) -> bool {
        self.cyclic.is_empty()
    }

    /// All components, callees before callers (reverse topological order).
    pub fn bottom_up(&self) -> IdRange<SccId> {
        self.cyclic.ids()
    }

    /// Nodes of a component, ascending.
    pub fn members(&self, scc: SccId) -> &[I] {
        let row = scc.index();
        &self.members[self.offsets[row] as usize..self.offsets[row + 1] as usize]
    }

    pub fn component_of(&self, node: I) -> SccId {
        self.component_of[node]
    }

    /// More than one member, or a member with an edge to itself.
    pub fn is_cyclic(&self, scc: SccId) -> bool {
        self.cyclic[scc]
    }

    /// Member lists in bottom-up order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[I]> + DoubleEndedIterator {
        self.bottom_up().iter().map(|scc| self.members(scc))
    }

    /// The acyclic graph of components: an edge for each edge between different components of `graph`,
    /// without duplicates, targets ascending. `graph` must be the one the components were made of.
    pub fn condensation(&self, graph: &Graph<I>) -> Graph<SccId> {
        let mut builder = GraphBuilder::with_capacity(self.len(), graph.num_edges());
        let mut row = Vec::new();
        for scc in self.bottom_up() {
            row.clear();
            for &member in self.members(scc) {
                row.extend(graph.succs(member).iter().map(|&s| self.component_of[s]));
            }
            row.sort_unstable();
            row.dedup();
            builder.push_node(row.iter().copied().filter(|&s| s != scc));
        }
        builder.build()
    }
}

/// Components of a graph given by a successor function, as member lists in bottom-up order.
pub fn scc<I: EntityId>(n: usize, succs: impl FnMut(I, &mut Vec<I>)) -> Vec<Vec<I>> {
    let graph = Graph::from_fn(n, succs);
    Sccs::compute(&graph).iter().map(<[I]>::to_vec).collect()
}

const UNVISITED: u32 = u32::MAX;

struct Tarjan<'g, I> {
    graph: &'g Graph<I>,
    /// Discovery number; `UNVISITED` before.
    number: IndexVec<I, u32>,
    /// Lowest discovery number known to be reachable within the open part.
    low: IndexVec<I, u32>,
    /// The component once closed. `SccId::from_u32(UNVISITED)` before.
    component: IndexVec<I, SccId>,
    /// Visited nodes whose component is still open.
    open: Vec<I>,
    /// The depth-first path: node, and position of its next successor.
    path: Vec<(I, usize)>,
    next_number: u32,
    closed: usize,
}

impl<'g, I: EntityId> Tarjan<'g, I> {
    fn new(graph: &'g Graph<I>) -> Self {
        let n = graph.len();
        Self {
            graph,
            number: IndexVec::from_elem(UNVISITED, n),
            low: IndexVec::from_elem(UNVISITED, n),
            component: IndexVec::from_elem(SccId::from_u32(UNVISITED), n),
            open: Vec::new(),
            path: Vec::new(),
            next_number: 0,
            closed: 0,
        }
    }

    fn run(mut self) -> (FrozenIndexVec<I, SccId>, usize) {
        for root in self.graph.nodes() {
            if self.number[root] == UNVISITED {
                self.enter(root);
                self.search();
            }
        }
        (self.component.freeze(), self.closed)
    }

    fn enter(&mut self, node: I) {
        self.number[node] = self.next_number;
        self.low[node] = self.next_number;
        self.next_number += 1;
        self.open.push(node);
        self.path.push((node, 0));
    }

    fn search(&mut self) {
        while let Some((node, next)) = self.path.last_mut() {
            let node = *node;
            match self.graph.succs(node).get(*next) {
                Some(&succ) => {
                    *next += 1;
                    if self.number[succ] == UNVISITED {
                        self.enter(succ);
                    } else if self.component[succ].as_u32() == UNVISITED {
                        self.low[node] = self.low[node].min(self.number[succ]);
                    }
                }
                None => {
                    self.path.pop();
                    self.leave(node);
                }
            }
        }
    }

    fn leave(&mut self, node: I) {
        if let Some(&(parent, _)) = self.path.last() {
            self.low[parent] = self.low[parent].min(self.low[node]);
        }
        if self.low[node] != self.number[node] {
            return;
        }
        let scc = SccId::new(self.closed);
        self.closed += 1;
        while let Some(member) = self.open.pop() {
            self.component[member] = scc;
            if member == node {
                break;
            }
        }
    }
}
