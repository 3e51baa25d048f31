//! Dominators by semi-NCA (Georgiadis, "Linear-Time Algorithms for Dominators and Related Problems",
//! 2005, §2.3): which blocks lie on every path from the entry to a block?
//!
//! Chosen over Cooper–Harvey–Kennedy because C functions with hundreds of `goto fail` into one block
//! make the latter quadratic; semi-NCA walks the long chain once. Queries are O(1) by pre- and
//! postorder numbers of the dominator tree.
//!
//! Unreachable nodes are outside the tree: they have no immediate dominator, no depth, and neither
//! dominate nor are dominated by any other node.

use crate::{EntityId, FrozenIndexVec, Graph, IndexVec};

const NONE: u32 = u32::MAX;

/// The dominator tree of the nodes reachable from one entry.
pub struct Dominators<I> {
    entry: I,
    idom: FrozenIndexVec<I, Option<I>>,
    children: Graph<I>,
    /// Entry and exit times of a walk over the tree; `NONE` for unreachable nodes.
    span: FrozenIndexVec<I, (u32, u32)>,
    depth: FrozenIndexVec<I, u32>,
    preorder: Box<[I]>,
}

impl<I: EntityId> Dominators<I> {
    /// `preds` is `graph.reversed()`, which callers usually have already.
    pub fn compute(graph: &Graph<I>, preds: &Graph<I>, entry: I) -> Self {
        let idom = SemiNca::new(graph, entry).run(preds);
        Self::from_idoms(entry, idom)
    }

    fn from_idoms(entry: I, idom: IndexVec<I, Option<I>>) -> Self {
        let n = idom.len();
        let tree_edges = idom
            .iter_enumerated()
            .filter_map(|(node, parent)| parent.map(|p| (p, node)));
        let children = Graph::from_edges(n, tree_edges);
        let mut span = IndexVec::from_elem((NONE, NONE), n);
        let mut depth = IndexVec::from_elem(NONE, n);
        let mut preorder = Vec::new();
        let mut clock = 0;
        let mut path: Vec<(I, usize)> = Vec::new();
        if entry.index() < n {
            path.push((entry, 0));
        }
        while let Some(&mut (node, ref mut next)) = path.last_mut() {
            if *next == 0 {
                span[node].0 = clock;
                clock += 1;
                preorder.push(node);
            }
            let child = children.succs(node).get(*next).copied();
            *next += 1;
            let level = u32::new(path.len() - 1);
            depth[node] = level;
            match child {
                Some(child) => path.push((child, 0)),
                None => {
                    span[node].1 = clock;
                    path.pop();
                }
            }
        }
        Self {
            entry,
            idom: idom.freeze(),
            children,
            span: span.freeze(),
            depth: depth.freeze(),
            preorder: preorder.into(),
        }
    }

    pub fn entry(&self) -> I {
        self.entry
    }

    /// The closest strict dominator; none for the entry and for unreachable nodes.
    pub fn idom(&self, node: I) -> Option<I> {
        self.idom[node]
    }

    pub fn is_reachable(&self, node: I) -> bool {
        self.depth.get(node).is_some_and(|&d| d != NONE)
    }

    /// Is `a` on every path from the entry to `b`? Reflexive.
    pub fn dominates(&self, a: I, b: I) -> bool {
        let ((a_in, a_out), (b_in, b_out)) = (self.span[a], self.span[b]);
        a == b || (b_in != NONE && a_in <= b_in && b_out <= a_out)
    }

    pub fn strictly_dominates(&self, a: I, b: I) -> bool {
        a != b && self.dominates(a, b)
    }

    /// Nodes whose immediate dominator is `node`, ascending.
    pub fn children(&self, node: I) -> &[I] {
        self.children.succs(node)
    }

    /// Distance from the entry in the tree; none if unreachable.
    pub fn depth(&self, node: I) -> Option<u32> {
        Some(self.depth[node]).filter(|&d| d != NONE)
    }

    /// Reachable nodes, each before all it dominates.
    pub fn preorder(&self) -> &[I] {
        &self.preorder
    }

    /// The closest node that dominates both; none if one is unreachable.
    pub fn common(&self, a: I, b: I) -> Option<I> {
        if !self.is_reachable(a) || !self.is_reachable(b) {
            return None;
        }
        let mut node = a;
        while !self.dominates(node, b) {
            node = self.idom[node]?;
        }
        Some(node)
    }

    /// Number of nodes of the underlying graph, reachable or not.
    pub fn num_nodes(&self) -> usize {
        self.idom.len()
    }

    /// Dominator tree as a graph, parents to children.
    pub fn tree(&self) -> &Graph<I> {
        &self.children
    }

    /// Dump text: one line `node: idom depth` for each reachable node, in preorder.
    pub fn dump(&self) -> String {
        let mut out = String::new();
        for &node in &self.preorder {
            let idom = self.idom[node].map_or("-".to_owned(), |d| format!("{d:?}"));
            out += &format!("{node:?}: idom {idom} depth {}\n", self.depth[node]);
        }
        out
    }
}

/// Working state; nodes are numbered by depth-first preorder, 0 = entry.
struct SemiNca<I> {
    /// Preorder number of each node, `NONE` if unreachable.
    number: IndexVec<I, u32>,
    /// Node of each preorder number.
    vertex: Vec<I>,
    /// Depth-first tree parent, by number; becomes the path-compressed ancestor.
    ancestor: Vec<u32>,
    /// Depth-first tree parent, then immediate dominator.
    idom: Vec<u32>,
    semi: Vec<u32>,
    /// Number with the lowest `semi` on the compressed path.
    label: Vec<u32>,
}

impl<I: EntityId> SemiNca<I> {
    fn new(graph: &Graph<I>, entry: I) -> Self {
        let mut number = IndexVec::from_elem(NONE, graph.len());
        let mut vertex = Vec::new();
        let mut parent = Vec::new();
        let mut path: Vec<(I, usize)> = Vec::new();
        if entry.index() < graph.len() {
            number[entry] = 0;
            vertex.push(entry);
            parent.push(0);
            path.push((entry, 0));
        }
        while let Some((node, next)) = path.last_mut() {
            let node = *node;
            match graph.succs(node).get(*next) {
                Some(&succ) => {
                    *next += 1;
                    if number[succ] == NONE {
                        number[succ] = u32::new(vertex.len());
                        vertex.push(succ);
                        parent.push(number[node]);
                        path.push((succ, 0));
                    }
                }
                None => {
                    path.pop();
                }
            }
        }
        let identity: Vec<u32> = (0..u32::new(vertex.len())).collect();
        Self {
            number,
            vertex,
            ancestor: parent.clone(),
            idom: parent,
            semi: identity.clone(),
            label: identity,
        }
    }

    fn run(mut self, preds: &Graph<I>) -> IndexVec<I, Option<I>> {
        let mut stack = Vec::new();
        for w in (1..u32::new(self.vertex.len().max(1))).rev() {
            let mut semi = self.idom[w as usize];
            for &pred in preds.succs(self.vertex[w as usize]) {
                let v = self.number[pred];
                if v != NONE {
                    let best = self.eval(v, w + 1, &mut stack);
                    semi = semi.min(self.semi[best as usize]);
                }
            }
            self.semi[w as usize] = semi;
        }
        for w in 1..self.vertex.len() {
            let mut candidate = self.idom[w];
            while candidate > self.semi[w] {
                candidate = self.idom[candidate as usize];
            }
            self.idom[w] = candidate;
        }
        let mut idom = IndexVec::from_elem(None, self.number.len());
        for w in 1..self.vertex.len() {
            idom[self.vertex[w]] = Some(self.vertex[self.idom[w] as usize]);
        }
        idom
    }

    /// The number with the lowest semidominator on the tree path from `v` up to, without, the first
    /// node that isn't linked yet. Nodes from `last_linked` on are linked. Compresses the path.
    fn eval(&mut self, v: u32, last_linked: u32, stack: &mut Vec<u32>) -> u32 {
        if self.ancestor[v as usize] < last_linked {
            return self.label[v as usize];
        }
        let mut at = v;
        while self.ancestor[at as usize] >= last_linked {
            stack.push(at);
            at = self.ancestor[at as usize];
        }
        let mut top = at;
        while let Some(below) = stack.pop() {
            let (top_label, label) = (self.label[top as usize], self.label[below as usize]);
            if self.semi[top_label as usize] < self.semi[label as usize] {
                self.label[below as usize] = top_label;
            }
            self.ancestor[below as usize] = self.ancestor[top as usize];
            top = below;
        }
        self.label[v as usize]
    }
}
