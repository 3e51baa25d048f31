//! The use-flow graph of one object (SMOKE definition 2), exploded by state.
//!
//! A node is a block together with the state that a path has on entering it; an edge is the run through the block that
//! leads to the next. States that agree on the followed objects are merged (SMOKE's union at dominance frontiers): what
//! merges is what two paths *know*, never what became of the object. Where paths differ only in things that have nothing to
//! do with the object or with a later condition there is one node, which makes the graph as sparse as the paper's.

use drip_base::{IndexVec, entity_id};
use drip_pointer::ObjId;
use drip_program::{BlockId, InstId};
use smallvec::SmallVec;

use crate::state::State;

entity_id! {
    /// A block with a state.
    pub struct NodeId = "u";
}

/// A decision inside a block: which outcome a call had, or which side a select took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Choice {
    pub inst: InstId,
    pub alternative: u16,
}

pub type Choices = SmallVec<[Choice; 2]>;

/// A way into a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InEdge {
    pub from: NodeId,
    pub choices: Choices,
}

#[derive(Clone, Debug)]
pub struct Node {
    pub block: BlockId,
    /// On entry, after the block's φs.
    pub state: State,
    pub preds: Vec<InEdge>,
    /// Entered by a jump backwards: stands for all iterations but the first.
    pub later: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EndKind {
    /// The object in question has lost its last holder.
    Lost,
    /// The same, but it was held where only "perhaps" can be said.
    LostPerhaps,
    /// It is freed, escaped, or handed to the caller: this path is safe.
    Settled,
    /// The function returns here (explorations for summaries).
    Exit,
    /// Held by a variable of `main` when the program ends.
    HeldAtEnd,
}

/// The end of a path.
#[derive(Clone, Debug)]
pub struct End {
    pub node: NodeId,
    pub choices: Choices,
    /// The instruction that ends it.
    pub at: InstId,
    pub kind: EndKind,
    pub state: State,
}

/// All paths of one object.
#[derive(Clone, Debug)]
pub struct UseFlow {
    /// Index 0: the object in question.
    pub objects: Vec<ObjId>,
    pub nodes: IndexVec<NodeId, Node>,
    pub ends: Vec<End>,
    /// Fuel or a state bound was hit: some paths are missing.
    pub limited: bool,
    /// Branches that the known facts decided (SMOKE's filter, applied on the way).
    pub filtered: u32,
    /// Blocks executed.
    pub steps: usize,
}

impl UseFlow {
    pub const ROOT: NodeId = NodeId::from_u32(0);

    /// Drops ends and edges that belong to no path from the root: what a node led to before it was weakened.
    pub(crate) fn drop_dead(&mut self) {
        let live = self.live_nodes();
        self.ends.retain(|end| live[end.node.index()]);
        for (id, node) in self.nodes.iter_enumerated_mut() {
            if live[id.index()] {
                node.preds.retain(|edge| live[edge.from.index()]);
            } else {
                node.preds.clear();
            }
        }
    }

    /// Which nodes a path from the root leads to.
    pub fn live_nodes(&self) -> Vec<bool> {
        let mut succs: Vec<Vec<NodeId>> = vec![Vec::new(); self.nodes.len()];
        for (id, node) in self.nodes.iter_enumerated() {
            for edge in &node.preds {
                succs[edge.from.index()].push(id);
            }
        }
        let mut live = vec![false; self.nodes.len()];
        let mut stack = vec![UseFlow::ROOT];
        while let Some(node) = stack.pop() {
            if !std::mem::replace(&mut live[node.index()], true) {
                stack.extend(&succs[node.index()]);
            }
        }
        live
    }
}
