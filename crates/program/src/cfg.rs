//! The control-flow graph of one body: who follows whom, in which order, who dominates whom, which blocks form loops?
//!
//! Every target of a terminator is an edge of its own with an [`EdgeId`], parallel ones included (`switch` with two cases to
//! one block, `br c, b1, b1`): phis have one entry per edge, and conditions hang on edges. Edges are numbered by source
//! block, then by position in the terminator. For reachability, dominance and loops parallel edges are one.
//!
//! Successors and predecessors are built at once; orders, trees and loops when first asked for, and kept. All algorithms
//! are iterative and (nearly) linear.
//!
//! INVARIANT: the body satisfies the shape rules of [`verify`](crate::verify) (each block ends in its one terminator,
//! targets exist).

use std::sync::OnceLock;

use drip_base::{
    Dominators, Graph, GraphBuilder, IdRange, LoopForest, PostDominators, Rpo, entity_id,
};

use crate::body::{Body, Op};
use crate::ids::{BlockId, InstId};

entity_id! {
    /// A control-flow edge of one body.
    pub struct EdgeId = "e";
}

const ENTRY: BlockId = BlockId::from_u32(0);

/// The control-flow graph of one body.
pub struct Cfg {
    succs: Graph<BlockId>,
    preds: Graph<BlockId>,
    /// First outgoing edge of each block, and one past the last edge.
    first_out: Box<[EdgeId]>,
    sources: Box<[BlockId]>,
    /// Incoming edges of each block, in the order of `preds`.
    in_edges: Box<[EdgeId]>,
    first_in: Box<[u32]>,
    rpo: OnceLock<Rpo<BlockId>>,
    dominators: OnceLock<Dominators<BlockId>>,
    post_dominators: OnceLock<PostDominators<BlockId>>,
    loops: OnceLock<LoopForest<BlockId>>,
}

impl Cfg {
    /// The graph as the terminators have it.
    pub fn build(body: &Body) -> Cfg {
        Cfg::from_rows(body, |block, row| {
            body.for_each_succ(block, |succ| row.push(succ))
        })
    }

    /// The graph without what follows an instruction that control never gets past (a call that does not return, see
    /// [`NoReturn`](crate::noreturn::NoReturn)): its block has no successors, or if it is an `invoke`, only the unwind edge.
    pub fn build_cut(body: &Body, never_passes: impl Fn(InstId) -> bool) -> Cfg {
        Cfg::from_rows(body, |block, row| {
            let mut insts = body.block_insts(block);
            let terminator = insts.next_back();
            if insts.any(&never_passes) {
                return;
            }
            if let Some(id) = terminator
                && never_passes(id)
            {
                if let Op::Invoke { unwind, .. } = body.insts[id].op {
                    row.push(unwind);
                }
                return;
            }
            body.for_each_succ(block, |succ| row.push(succ));
        })
    }

    fn from_rows(body: &Body, mut succs: impl FnMut(BlockId, &mut Vec<BlockId>)) -> Cfg {
        let blocks = body.blocks.len();
        let mut builder = GraphBuilder::with_capacity(blocks, 2 * blocks);
        let mut first_out = Vec::with_capacity(blocks + 1);
        let mut sources = Vec::with_capacity(2 * blocks);
        let mut row = Vec::new();
        for block in body.blocks.ids() {
            row.clear();
            succs(block, &mut row);
            row.retain(|succ| succ.index() < blocks);
            first_out.push(EdgeId::new(sources.len()));
            sources.resize(sources.len() + row.len(), block);
            builder.push_node(row.iter().copied());
        }
        first_out.push(EdgeId::new(sources.len()));
        let succs = builder.build();
        let preds = succs.reversed();
        let (first_in, in_edges) = incoming(&succs, &preds);
        Cfg {
            succs,
            preds,
            first_out: first_out.into(),
            sources: sources.into(),
            in_edges,
            first_in,
            rpo: OnceLock::new(),
            dominators: OnceLock::new(),
            post_dominators: OnceLock::new(),
            loops: OnceLock::new(),
        }
    }

    pub fn entry(&self) -> BlockId {
        ENTRY
    }

    /// Number of blocks, reachable or not.
    pub fn len(&self) -> usize {
        self.succs.len()
    }

    pub fn is_empty(&self) -> bool {
        self.succs.is_empty()
    }

    /// Successors, one per edge, in the terminator's order.
    pub fn succs(&self, block: BlockId) -> &[BlockId] {
        self.succs.succs(block)
    }

    /// Predecessors, one per edge, ascending.
    pub fn preds(&self, block: BlockId) -> &[BlockId] {
        self.preds.succs(block)
    }

    pub fn graph(&self) -> &Graph<BlockId> {
        &self.succs
    }

    pub fn reversed_graph(&self) -> &Graph<BlockId> {
        &self.preds
    }

    // Edges.

    pub fn num_edges(&self) -> usize {
        self.sources.len()
    }

    /// Edges out of a block, in the terminator's order: the k-th goes to `succs(block)[k]`.
    pub fn out_edges(&self, block: BlockId) -> IdRange<EdgeId> {
        IdRange::new(
            self.first_out[block.index()],
            self.first_out[block.index() + 1],
        )
    }

    /// Edges into a block: the k-th comes from `preds(block)[k]`.
    pub fn in_edges(&self, block: BlockId) -> &[EdgeId] {
        let row = block.index();
        &self.in_edges[self.first_in[row] as usize..self.first_in[row + 1] as usize]
    }

    pub fn source(&self, edge: EdgeId) -> BlockId {
        self.sources[edge.index()]
    }

    pub fn target(&self, edge: EdgeId) -> BlockId {
        self.succs(self.source(edge))[self.position(edge)]
    }

    /// Position of the edge among the targets of its terminator. In a graph that was cut, the only edge of an `invoke`
    /// has position 0.
    pub fn position(&self, edge: EdgeId) -> usize {
        edge.index() - self.first_out[self.source(edge).index()].index()
    }

    /// The first edge between two blocks.
    pub fn edge(&self, from: BlockId, to: BlockId) -> Option<EdgeId> {
        self.edges_between(from, to).next()
    }

    /// All edges between two blocks.
    pub fn edges_between(&self, from: BlockId, to: BlockId) -> impl Iterator<Item = EdgeId> + '_ {
        let targets = self.succs(from).iter();
        let edges = self.out_edges(from).into_iter().zip(targets);
        edges
            .filter(move |&(_, &target)| target == to)
            .map(|(edge, _)| edge)
    }

    /// Does the edge go back to the header of a loop (its target dominates its source)?
    pub fn is_back_edge(&self, edge: EdgeId) -> bool {
        self.dominates(self.target(edge), self.source(edge))
    }

    // What is computed on demand.

    /// Reverse postorder of the reachable blocks, with ranks.
    pub fn rpo(&self) -> &Rpo<BlockId> {
        self.rpo.get_or_init(|| Rpo::compute(&self.succs, ENTRY))
    }

    pub fn is_reachable(&self, block: BlockId) -> bool {
        match self.dominators.get() {
            Some(dominators) => dominators.is_reachable(block),
            None => self.rpo().is_reachable(block),
        }
    }

    pub fn dominators(&self) -> &Dominators<BlockId> {
        self.dominators
            .get_or_init(|| Dominators::compute(&self.succs, &self.preds, ENTRY))
    }

    /// Is `a` on every path from the entry to `b`? Reflexive; otherwise false where one of them is unreachable.
    pub fn dominates(&self, a: BlockId, b: BlockId) -> bool {
        self.dominators().dominates(a, b)
    }

    /// Blocks without successors (returns, `unreachable`, cut ones) all lead to one virtual exit.
    pub fn post_dominators(&self) -> &PostDominators<BlockId> {
        self.post_dominators
            .get_or_init(|| PostDominators::compute(&self.succs, ENTRY))
    }

    pub fn loops(&self) -> &LoopForest<BlockId> {
        self.loops
            .get_or_init(|| LoopForest::compute(&self.succs, &self.preds, ENTRY))
    }
}

/// Edge ids by target block: first place of each block's edges, and the edges. Within a block they ascend, which is the
/// order of its predecessors, too.
fn incoming(succs: &Graph<BlockId>, preds: &Graph<BlockId>) -> (Box<[u32]>, Box<[EdgeId]>) {
    let mut first_in = Vec::with_capacity(preds.len() + 1);
    let mut total = 0u32;
    for block in preds.nodes() {
        first_in.push(total);
        total += u32::try_from(preds.succs(block).len()).unwrap_or(u32::MAX);
    }
    first_in.push(total);
    let mut next = first_in.clone();
    let mut in_edges = vec![EdgeId::from_u32(0); total as usize];
    for (number, (_, to)) in succs.edges().enumerate() {
        let place = &mut next[to.index()];
        in_edges[*place as usize] = EdgeId::new(number);
        *place += 1;
    }
    (first_in.into(), in_edges.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::parse_program;

    fn body(text: &str) -> Body {
        let program =
            parse_program(&format!("func @f(i32 %n, i1 %c, ptr %p) {{\n{text}\n}}")).unwrap();
        program.funcs[crate::FuncId::new(0)].body.clone().unwrap()
    }

    fn b(n: usize) -> BlockId {
        BlockId::new(n)
    }

    const LOOP: &str =
        "br b1\nb1:\nswitch %n, b2 [1: b3, 2: b3, 3: b1]\nb2:\nbr b1\nb3:\nret\nb4:\nbr b3";

    #[test]
    fn parallel_edges_have_ids_of_their_own() {
        let cfg = Cfg::build(&body(LOOP));
        assert_eq!(cfg.succs(b(1)), [b(2), b(3), b(3), b(1)]);
        assert_eq!(cfg.preds(b(3)), [b(1), b(1), b(4)]);
        assert_eq!(cfg.num_edges(), 7);
        let edges: Vec<_> = cfg.edges_between(b(1), b(3)).collect();
        assert_eq!(edges, [EdgeId::new(2), EdgeId::new(3)]);
        assert_eq!(
            cfg.in_edges(b(3)),
            [EdgeId::new(2), EdgeId::new(3), EdgeId::new(6)]
        );
        assert_eq!(cfg.edge(b(1), b(3)), Some(EdgeId::new(2)));
        assert_eq!(cfg.edge(b(3), b(1)), None);
        assert_eq!(
            (
                cfg.position(edges[1]),
                cfg.source(edges[1]),
                cfg.target(edges[1])
            ),
            (2, b(1), b(3))
        );
    }

    #[test]
    fn orders_trees_and_loops() {
        let cfg = Cfg::build(&body(LOOP));
        assert_eq!(cfg.rpo().order()[..2], [b(0), b(1)]);
        assert!(cfg.is_reachable(b(3)) && !cfg.is_reachable(b(4)));
        assert!(cfg.dominates(b(1), b(3)) && !cfg.dominates(b(2), b(3)));
        assert!(cfg.is_reachable(b(3)) && !cfg.is_reachable(b(4)));
        assert!(cfg.post_dominators().post_dominates(b(3), b(0)));
        assert_eq!(cfg.loops().len(), 1);
        assert_eq!(cfg.loops().depth_of(b(2)), 1);
        let back: Vec<_> = (0..7)
            .map(EdgeId::new)
            .filter(|&e| cfg.is_back_edge(e))
            .collect();
        assert_eq!(back, [EdgeId::new(4), EdgeId::new(5)]);
    }

    #[test]
    fn cut_graphs_end_at_calls_that_do_not_return() {
        let body = body(
            "br %c, b1, b2\nb1:\ncall void %p()\nbr b3\nb2:\ninvoke void %p() to b3 unwind b4\nb3:\nret\nb4:\nunreachable",
        );
        let cut = Cfg::build_cut(&body, |inst| {
            matches!(body.insts[inst].op, Op::Call { .. } | Op::Invoke { .. })
        });
        assert!(cut.succs(b(1)).is_empty());
        assert_eq!(cut.succs(b(2)), [b(4)]);
        assert!(!cut.is_reachable(b(3)));
        assert!(Cfg::build_cut(&body, |_| false).is_reachable(b(3)));
    }

    /// No recursion, no quadratic behaviour: a ladder of 200,000 blocks.
    #[test]
    fn large_functions() {
        let mut text = String::from("br b1\nb1:\n");
        for i in 1..200_000 {
            let (left, right) = (i + 1, (i + 7) % 200_000 + 1);
            text.push_str(&format!("br %c, b{left}, b{right}\nb{left}:\n"));
        }
        text.push_str("ret");
        let cfg = Cfg::build(&body(&text));
        assert_eq!(cfg.rpo().order().len(), 200_001);
        assert!(cfg.dominates(b(1), b(200_000)));
        assert!(!cfg.loops().is_empty());
        assert!(cfg.post_dominators().post_dominates(b(200_000), b(5)));
    }
}
