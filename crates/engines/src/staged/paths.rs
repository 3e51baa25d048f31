//! Question: along which concrete paths of the use-flow graph does a candidate run, shortest first?
//!
//! Best-first search backwards from the losing end, guided by the distance from the root (A*): complete paths come out in
//! the order of their length. A path passes a node at most twice, which is once round a loop. Fuel:
//! [`MAX_EXPANSIONS`] per end.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use drip_flow::{Choices, End, NodeId, UseFlow};
use drip_program::BlockId;

/// Partial paths taken from the queue per candidate; beyond it no further path is tried.
pub const MAX_EXPANSIONS: usize = 4_000;

/// How often one path may pass one node.
const MAX_VISITS: usize = 2;

/// One run through a block: its node and the decisions taken inside.
#[derive(Clone, Debug)]
pub struct Hop {
    pub node: NodeId,
    pub choices: Choices,
}

/// A path from the entry to the end.
#[derive(Clone, Debug)]
pub struct Path {
    pub hops: Vec<Hop>,
}

impl Path {
    pub fn blocks<'p>(&'p self, flow: &'p UseFlow) -> impl Iterator<Item = BlockId> + 'p {
        self.hops.iter().map(|hop| flow.nodes[hop.node].block)
    }

    /// The path from a block on.
    pub fn blocks_from<'p>(
        &'p self,
        flow: &'p UseFlow,
        block: BlockId,
    ) -> impl Iterator<Item = BlockId> + 'p {
        self.blocks(flow).skip_while(move |&at| at != block)
    }

    /// Are these the first blocks of the path?
    pub fn begins_with(&self, flow: &UseFlow, blocks: &[BlockId]) -> bool {
        self.hops.len() >= blocks.len() && self.blocks(flow).zip(blocks).all(|(a, b)| a == *b)
    }
}

struct Partial {
    node: NodeId,
    choices: Choices,
    length: usize,
    /// Index of the continuation towards the end.
    next: Option<usize>,
}

/// Enumerates paths of one end.
pub struct Paths<'u> {
    flow: &'u UseFlow,
    distance: Vec<Option<usize>>,
    pool: Vec<Partial>,
    /// By estimated length; of equally good ones the newest, which is closest to the root, comes first.
    queue: BinaryHeap<(Reverse<usize>, usize)>,
    expansions: usize,
}

impl<'u> Paths<'u> {
    pub fn new(flow: &'u UseFlow, end: &End) -> Paths<'u> {
        let distance = distances(flow);
        let mut paths = Paths {
            flow,
            distance,
            pool: Vec::new(),
            queue: BinaryHeap::new(),
            expansions: 0,
        };
        paths.push(end.node, end.choices.clone(), 0, None);
        paths
    }

    /// Did the search end before all paths were found?
    pub fn gave_up(&self) -> bool {
        self.expansions > MAX_EXPANSIONS
    }

    fn push(&mut self, node: NodeId, choices: Choices, length: usize, next: Option<usize>) {
        let Some(distance) = self.distance[node.index()] else {
            return;
        };
        let mut visits = 0;
        let mut at = next;
        while let Some(index) = at {
            visits += usize::from(self.pool[index].node == node);
            at = self.pool[index].next;
        }
        if visits >= MAX_VISITS {
            return;
        }
        self.pool.push(Partial {
            node,
            choices,
            length,
            next,
        });
        self.queue
            .push((Reverse(length + distance), self.pool.len() - 1));
    }
}

impl Iterator for Paths<'_> {
    type Item = Path;

    fn next(&mut self) -> Option<Path> {
        while let Some((_, index)) = self.queue.pop() {
            self.expansions += 1;
            if self.expansions > MAX_EXPANSIONS {
                return None;
            }
            let (node, length) = (self.pool[index].node, self.pool[index].length);
            for edge in &self.flow.nodes[node].preds {
                self.push(edge.from, edge.choices.clone(), length + 1, Some(index));
            }
            if node == UseFlow::ROOT {
                let mut hops = Vec::new();
                let mut at = Some(index);
                while let Some(index) = at {
                    let partial = &self.pool[index];
                    hops.push(Hop {
                        node: partial.node,
                        choices: partial.choices.clone(),
                    });
                    at = partial.next;
                }
                return Some(Path { hops });
            }
        }
        None
    }
}

/// Distance of each node from the root; `None` where no path leads.
fn distances(flow: &UseFlow) -> Vec<Option<usize>> {
    let mut succs: Vec<Vec<NodeId>> = vec![Vec::new(); flow.nodes.len()];
    for (id, node) in flow.nodes.iter_enumerated() {
        for edge in &node.preds {
            succs[edge.from.index()].push(id);
        }
    }
    let mut distance = vec![None; flow.nodes.len()];
    let mut queue = std::collections::VecDeque::from([UseFlow::ROOT]);
    distance[UseFlow::ROOT.index()] = Some(0);
    while let Some(node) = queue.pop_front() {
        let next = distance[node.index()].map(|d| d + 1);
        for &succ in &succs[node.index()] {
            if distance[succ.index()].is_none() {
                distance[succ.index()] = next;
                queue.push_back(succ);
            }
        }
    }
    distance
}
