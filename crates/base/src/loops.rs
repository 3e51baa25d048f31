//! The loop forest: which blocks form a loop, and which loops nest in which?
//!
//! Havlak, "Nesting of Reducible and Irreducible Loops" (TOPLAS 1997): nodes are taken in reverse
//! depth-first preorder; the body of the loop with header w is what reaches a back edge to w without
//! leaving w's depth-first subtree, inner loops being collapsed by union-find. A loop entered elsewhere
//! than at its header is marked irreducible; its header is the first of its nodes that the depth-first
//! search reached.
//!
//! Loops are numbered outer before inner (preorder of the forest), siblings by their header's place in
//! the depth-first search; the blocks of a loop, inner loops included, are one slice with the header
//! first. Unreachable blocks are in no loop.

use crate::{EntityId, FrozenIndexVec, Graph, IdRange, IndexVec};

crate::entity_id! {
    /// A loop; an outer loop's number is lower than that of the loops inside it.
    pub struct LoopId = "loop";
}

struct LoopData<I> {
    header: I,
    parent: Option<LoopId>,
    depth: u32,
    irreducible: bool,
    /// Place of its blocks in `LoopForest::blocks`.
    first_block: u32,
    end_block: u32,
}

/// All loops of one control-flow graph.
pub struct LoopForest<I> {
    loops: FrozenIndexVec<LoopId, LoopData<I>>,
    innermost: FrozenIndexVec<I, Option<LoopId>>,
    blocks: Box<[I]>,
}

impl<I: EntityId> LoopForest<I> {
    /// `preds` is `graph.reversed()`.
    pub fn compute(graph: &Graph<I>, preds: &Graph<I>, entry: I) -> Self {
        let search = DepthFirst::new(graph, entry);
        let nest = Nest::find(&search, preds);
        nest.publish(&search, graph.len())
    }

    /// Number of loops.
    pub fn len(&self) -> usize {
        self.loops.len()
    }

    pub fn is_empty(&self) -> bool {
        self.loops.is_empty()
    }

    /// All loops, outer before inner.
    pub fn ids(&self) -> IdRange<LoopId> {
        self.loops.ids()
    }

    pub fn header(&self, id: LoopId) -> I {
        self.loops[id].header
    }

    /// The loop directly around `id`.
    pub fn parent(&self, id: LoopId) -> Option<LoopId> {
        self.loops[id].parent
    }

    /// 1 for an outermost loop.
    pub fn depth(&self, id: LoopId) -> u32 {
        self.loops[id].depth
    }

    /// Can the loop be entered other than through its header?
    pub fn is_irreducible(&self, id: LoopId) -> bool {
        self.loops[id].irreducible
    }

    /// Blocks of the loop, those of inner loops included; the header comes first.
    pub fn blocks(&self, id: LoopId) -> &[I] {
        let data = &self.loops[id];
        &self.blocks[data.first_block as usize..data.end_block as usize]
    }

    /// The innermost loop that contains `block`.
    pub fn innermost(&self, block: I) -> Option<LoopId> {
        self.innermost[block]
    }

    /// The loop whose header `block` is.
    pub fn headed_by(&self, block: I) -> Option<LoopId> {
        self.innermost[block].filter(|&id| self.loops[id].header == block)
    }

    /// Nesting depth of a block, 0 outside all loops.
    pub fn depth_of(&self, block: I) -> u32 {
        self.innermost[block].map_or(0, |id| self.loops[id].depth)
    }

    /// Is `block` in the loop or in a loop inside it?
    pub fn contains(&self, id: LoopId, block: I) -> bool {
        let enclosing = std::iter::successors(self.innermost[block], |&l| self.parent(l));
        enclosing.take_while(|&l| l >= id).any(|l| l == id)
    }

    /// Edges that leave the loop, in the order of its blocks.
    pub fn exits<'a>(
        &'a self,
        id: LoopId,
        graph: &'a Graph<I>,
    ) -> impl Iterator<Item = (I, I)> + 'a {
        self.blocks(id).iter().flat_map(move |&from| {
            let succs = graph.succs(from).iter().map(move |&to| (from, to));
            succs.filter(move |&(_, to)| !self.contains(id, to))
        })
    }

    /// Edges from the loop back to its header, in the order of its blocks.
    pub fn back_edges<'a>(
        &'a self,
        id: LoopId,
        graph: &'a Graph<I>,
    ) -> impl Iterator<Item = (I, I)> + 'a {
        let header = self.header(id);
        self.blocks(id).iter().flat_map(move |&from| {
            let succs = graph.succs(from).iter().map(move |&to| (from, to));
            succs.filter(move |&(_, to)| to == header)
        })
    }
}

const NONE: u32 = u32::MAX;

/// Depth-first preorder numbers, and the last number in each node's subtree.
struct DepthFirst<I> {
    number: IndexVec<I, u32>,
    vertex: Vec<I>,
    last: Vec<u32>,
}

impl<I: EntityId> DepthFirst<I> {
    fn new(graph: &Graph<I>, entry: I) -> Self {
        let mut number = IndexVec::from_elem(NONE, graph.len());
        let mut vertex = Vec::new();
        let mut last = Vec::new();
        let mut path: Vec<(I, usize)> = Vec::new();
        if entry.index() < graph.len() {
            number[entry] = 0;
            vertex.push(entry);
            last.push(0);
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
                        last.push(0);
                        path.push((succ, 0));
                    }
                }
                None => {
                    last[number[node].index()] = u32::new(vertex.len() - 1);
                    path.pop();
                }
            }
        }
        Self {
            number,
            vertex,
            last,
        }
    }

    fn is_ancestor(&self, above: u32, below: u32) -> bool {
        above <= below && below <= self.last[above.index()]
    }
}

/// Havlak's result, by depth-first number.
struct Nest {
    /// Header of the innermost loop around each node that isn't the node itself.
    around: Vec<u32>,
    is_header: Vec<bool>,
    irreducible: Vec<bool>,
}

impl Nest {
    fn find<I: EntityId>(search: &DepthFirst<I>, preds: &Graph<I>) -> Self {
        let n = search.vertex.len();
        let mut nest = Self {
            around: vec![NONE; n],
            is_header: vec![false; n],
            irreducible: vec![false; n],
        };
        let mut sets = UnionFind::new(n);
        // Entries into an irreducible loop count, for the loops around it, as edges into its header.
        let mut inherited: Vec<Vec<u32>> = vec![Vec::new(); n];
        for w in (0..u32::new(n)).rev() {
            nest.loop_at(w, search, preds, &mut sets, &mut inherited);
        }
        nest
    }

    fn loop_at<I: EntityId>(
        &mut self,
        w: u32,
        search: &DepthFirst<I>,
        preds: &Graph<I>,
        sets: &mut UnionFind,
        inherited: &mut [Vec<u32>],
    ) {
        let numbers = |node: u32| {
            let preds = preds.succs(search.vertex[node.index()]).iter();
            preds.map(|&p| search.number[p]).filter(|&p| p != NONE)
        };
        let mut body = Vec::new();
        for v in numbers(w).filter(|&v| search.is_ancestor(w, v)) {
            self.is_header[w.index()] = true;
            add_to_body(sets.find(v), w, &mut body, &mut self.around);
        }
        let mut at = 0;
        while let Some(&x) = body.get(at) {
            at += 1;
            let entering = numbers(x).filter(|&y| !search.is_ancestor(x, y));
            let entering: Vec<u32> = entering
                .chain(inherited[x.index()].iter().copied())
                .collect();
            for y in entering {
                let inner = sets.find(y);
                if search.is_ancestor(w, inner) {
                    add_to_body(inner, w, &mut body, &mut self.around);
                } else {
                    self.irreducible[w.index()] = true;
                    inherited[w.index()].push(inner);
                }
            }
        }
        inherited[w.index()].sort_unstable();
        inherited[w.index()].dedup();
        for &x in &body {
            sets.join_into(x, w);
        }
    }

    fn publish<I: EntityId>(self, search: &DepthFirst<I>, num_nodes: usize) -> LoopForest<I> {
        let n = search.vertex.len();
        // Depth-first numbers of headers are a preorder of depths but not of the forest: a child loop
        // may come after a sibling of its parent. Number loops by a walk over the forest instead.
        let (mut tops, mut inner) = (Vec::new(), vec![Vec::new(); n]);
        for w in (0..n).filter(|&w| self.is_header[w]) {
            match self.around[w] {
                NONE => tops.push(w),
                outer => inner[outer.index()].push(w),
            }
        }
        let mut loops: IndexVec<LoopId, LoopData<I>> = IndexVec::new();
        let mut id_of = vec![None; n];
        let mut todo: Vec<usize> = tops.into_iter().rev().collect();
        while let Some(w) = todo.pop() {
            let parent = id_of.get(self.around[w].index()).copied().flatten();
            let depth = parent.map_or(1, |p: LoopId| loops[p].depth + 1);
            id_of[w] = Some(loops.push(LoopData {
                header: search.vertex[w],
                parent,
                depth,
                irreducible: self.irreducible[w],
                first_block: 0,
                end_block: 0,
            }));
            todo.extend(inner[w].iter().rev());
        }
        let mut innermost = IndexVec::from_elem(None, num_nodes);
        for w in 0..n {
            let outer = id_of.get(self.around[w].index()).copied().flatten();
            innermost[search.vertex[w]] = id_of[w].or(outer);
        }
        let blocks = lay_out(&mut loops, &innermost, &search.vertex);
        LoopForest {
            loops: loops.freeze(),
            innermost: innermost.freeze(),
            blocks,
        }
    }
}

fn add_to_body(x: u32, header: u32, body: &mut Vec<u32>, around: &mut [u32]) {
    if x != header && around[x.index()] == NONE {
        around[x.index()] = header;
        body.push(x);
    }
}

/// Sorts blocks by innermost loop (stable, so headers stay first) and notes each loop's slice: since
/// loops are numbered in preorder, a loop's blocks and those of the loops inside it are adjacent.
fn lay_out<I: EntityId>(
    loops: &mut IndexVec<LoopId, LoopData<I>>,
    innermost: &IndexVec<I, Option<LoopId>>,
    preorder: &[I],
) -> Box<[I]> {
    let mut blocks: Vec<I> = preorder.to_vec();
    blocks.retain(|&b| innermost[b].is_some());
    blocks.sort_by_key(|&b| innermost[b]);
    let mut next = 0;
    for id in loops.ids() {
        loops[id].first_block = u32::new(next);
        while blocks.get(next).is_some_and(|&b| innermost[b] == Some(id)) {
            next += 1;
        }
        loops[id].end_block = u32::new(next);
    }
    for id in loops.ids().iter().rev() {
        let end = loops[id].end_block;
        if let Some(parent) = loops[id].parent {
            loops[parent].end_block = loops[parent].end_block.max(end);
        }
    }
    blocks.into()
}

/// Disjoint sets with path halving; the caller decides which root survives.
struct UnionFind {
    parent: Vec<u32>,
}

impl UnionFind {
    fn new(n: usize) -> Self {
        Self {
            parent: (0..u32::new(n)).collect(),
        }
    }

    fn find(&mut self, mut x: u32) -> u32 {
        while self.parent[x.index()] != x {
            let grandparent = self.parent[self.parent[x.index()].index()];
            self.parent[x.index()] = grandparent;
            x = grandparent;
        }
        x
    }

    fn join_into(&mut self, x: u32, root: u32) {
        let x = self.find(x);
        self.parent[x.index()] = root;
    }
}
