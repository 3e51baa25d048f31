//! The use-flow graph of one object (SMOKE definition 2), exploded by state.
//!
//! A node is a block together with the state that a path has on entering it; an edge is the run through the block that
//! leads to the next. States that agree on the followed objects are merged (SMOKE's union at dominance frontiers): what
//! merges is what two paths *know*, never what became of the object. Where paths differ only in things that have nothing to
//! do with the object or with a later condition there is one node, which makes the graph as sparse as the paper's.

use std::collections::BTreeSet;
use std::rc::Rc;

use drip_base::{IdSet, IndexVec, entity_id};
use drip_pointer::{ObjId, ObjKind};
use drip_program::{BlockId, InstId};
use smallvec::SmallVec;

use crate::frame::Frame;
use crate::state::{Escape, Machine, State};

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
    /// On entry, after the block's φs; shared by blocks in which nothing happens.
    pub state: Rc<State>,
    pub preds: Vec<InEdge>,
    /// Entered by a jump backwards: stands for all iterations but the first.
    pub later: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
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
    /// The function ends there: it returns, or an exception leaves it.
    pub leaves: bool,
    pub kind: EndKind,
    pub state: Rc<State>,
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
    /// States were joined that differ in what holds the objects: what is known of them depends on which ones met.
    pub crowded: bool,
    /// Some state is reached by more ways than are told apart: all states are there, but not every condition under which they are reached.
    pub lacks_ways: bool,
    /// States with equal objects were joined and have forgotten conditions: which of them depends on where they meet.
    pub forgetful: bool,
    /// Branches that the known facts decided (SMOKE's filter, applied on the way).
    pub filtered: u32,
    /// Blocks executed.
    pub steps: usize,
    /// Instructions executed that could concern a followed object.
    pub executed: usize,
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

    /// Blocks whose decisions make a difference: from one way out of them other kinds of ends can be reached than from
    /// another. `class` sorts the ends into at most 64 kinds; `ways` is the number of ways out of a block, of which those
    /// that are missing here end without an end (hopeless, or never returning).
    pub fn deciding_blocks(
        &self,
        blocks: usize,
        class: impl Fn(&End) -> u32,
        ways: impl Fn(BlockId) -> usize,
    ) -> IdSet<BlockId> {
        let bit = |end: &End| 1u64 << class(end).min(63);
        let mut reached = vec![0u64; self.nodes.len()];
        let mut stack: Vec<NodeId> = Vec::new();
        for end in &self.ends {
            reached[end.node.index()] |= bit(end);
            stack.push(end.node);
        }
        while let Some(node) = stack.pop() {
            let mask = reached[node.index()];
            for edge in &self.nodes[node].preds {
                let known = &mut reached[edge.from.index()];
                if *known | mask != *known {
                    *known |= mask;
                    stack.push(edge.from);
                }
            }
        }
        // Per node: what its ways out have in common, and their number.
        let mut out: Vec<(Option<u64>, usize, bool)> = vec![(None, 0, false); self.nodes.len()];
        let mut leaves = |node: NodeId, mask: u64| {
            let (common, count, differs) = &mut out[node.index()];
            *count += 1;
            *differs |= common.is_some_and(|known| known != mask);
            *common = Some(mask);
        };
        for end in &self.ends {
            leaves(end.node, bit(end));
        }
        for (id, node) in self.nodes.iter_enumerated() {
            for edge in &node.preds {
                leaves(edge.from, reached[id.index()]);
            }
        }
        let mut deciding = IdSet::with_capacity(blocks);
        for (id, node) in self.nodes.iter_enumerated() {
            let (common, count, differs) = out[id.index()];
            if differs || (common.is_some_and(|mask| mask != 0) && count < ways(node.block)) {
                deciding.insert(node.block);
            }
        }
        deciding
    }

    /// What becomes of the object in question, and where.
    pub fn fates(&self) -> BTreeSet<(EndKind, InstId, Option<Machine>)> {
        let machine = |end: &End| end.state.objects.first().map(|o| o.machine);
        let fates = self.ends.iter().map(|end| (end.kind, end.at, machine(end)));
        fates.collect()
    }

    /// For twins: the fates that only one of two explorations of the same objects tells. Where states were joined, conditions forgotten, paths
    /// are missing, or an object went to more places than are remembered, both may be right.
    pub fn difference(&self, other: &UseFlow) -> Vec<(EndKind, InstId, Option<Machine>)> {
        let is_untracked = |end: &End| {
            let machine = end.state.objects.first().map(|object| object.machine);
            matches!(
                machine,
                Some(Machine::Escaped {
                    to: Escape::Untracked,
                    ..
                })
            )
        };
        let is_exact = |flow: &UseFlow| {
            let is_joined = flow.limited || flow.crowded || flow.forgetful;
            !is_joined && !flow.ends.iter().any(is_untracked)
        };
        if !is_exact(self) || !is_exact(other) {
            return Vec::new();
        }
        let (mine, others) = (self.fates(), other.fates());
        mine.symmetric_difference(&others).copied().collect()
    }

    /// The call that makes the object in question, if it is a new one, and its number among those that the call makes.
    pub fn birth(&self, frame: &Frame<'_>) -> Option<(InstId, u16)> {
        match frame.local.memory.kind(*self.objects.first()?) {
            ObjKind::Fresh { call, index } => Some((call, index)),
            _ => None,
        }
    }

    /// Does some path free the object in question?
    pub fn is_freed_somewhere(&self) -> bool {
        let mut objects = self.ends.iter().filter_map(|e| e.state.objects.first());
        objects.any(|object| matches!(object.machine, Machine::Freed { .. }))
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
