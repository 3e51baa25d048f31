//! Where do phis stand, and which parts are read before they are written?
//!
//! Pruned SSA: a phi stands in the iterated dominance frontier of the blocks that store to a part, where the part is
//! live on entry. Most parts need no search: written before each read in the same block, or written in one block that
//! dominates all others that read.

use drip_base::{Dominators, Frontiers, IdSet};

use super::{AccessKind, NONE, Promotion};
use crate::ids::{BlockId, ValueId};
use crate::lower::flow::Flow;

/// How one block accesses one part.
pub(crate) struct BlockUse {
    block: BlockId,
    next: u32,
    /// Read before any write of the same block.
    exposed: bool,
    defines: bool,
}

/// A phi that was placed.
pub(crate) struct Phi {
    pub block: BlockId,
    pub part: u32,
    /// Its value and its run of [`crate::Body::incoming`]; filled when it is emitted.
    pub value: ValueId,
    pub incoming: u32,
}

/// Phis sorted by block, then by part.
#[derive(Default)]
pub(crate) struct Phis {
    list: Vec<Phi>,
    /// By block: start in `list`; one more than blocks. Empty when there are no phis.
    starts: Vec<u32>,
}

impl Phis {
    pub fn clear(&mut self) {
        self.list.clear();
        self.starts.clear();
    }

    pub fn of(&self, block: BlockId) -> &[Phi] {
        &self.list[self.range(block)]
    }

    pub fn of_mut(&mut self, block: BlockId) -> &mut [Phi] {
        let range = self.range(block);
        &mut self.list[range]
    }

    fn range(&self, block: BlockId) -> std::ops::Range<usize> {
        match (
            self.starts.get(block.index()),
            self.starts.get(block.index() + 1),
        ) {
            (Some(&start), Some(&end)) => start as usize..end as usize,
            _ => 0..0,
        }
    }

    fn finish(&mut self, blocks: usize) {
        if self.list.is_empty() {
            return;
        }
        self.list.sort_unstable_by_key(|phi| (phi.block, phi.part));
        self.starts.resize(blocks + 1, 0);
        for phi in &self.list {
            self.starts[phi.block.index() + 1] += 1;
        }
        for block in 0..blocks {
            self.starts[block + 1] += self.starts[block];
        }
    }
}

/// Places phis for all promoted parts. `None` instead of dominators is for a body of one block.
pub(crate) fn place(promotion: &mut Promotion, flow: &Flow, dom: Option<&Dominators<BlockId>>) {
    summarise(promotion, flow);
    let entry = BlockId::from_u32(0);
    let mut search: Option<Search<'_>> = None;
    for part in 0..promotion.parts.len() {
        let first = promotion.parts[part].uses;
        let uses = Uses {
            all: &promotion.uses,
            first,
        };
        if !uses.iter().any(|u| u.exposed) {
            continue;
        }
        let mut definers = uses.iter().filter(|u| u.defines).map(|u| u.block);
        let only = match (definers.next(), definers.next()) {
            (None, _) => {
                promotion.parts[part].read_uninit = true;
                continue;
            }
            (Some(only), None) => Some(only),
            _ => None,
        };
        let Some(dom) = dom else {
            promotion.parts[part].read_uninit = true;
            continue;
        };
        if only.is_some_and(|d| {
            uses.iter()
                .filter(|u| u.exposed)
                .all(|u| dom.strictly_dominates(d, u.block))
        }) {
            continue;
        }
        let search = search.get_or_insert_with(|| Search::new(flow, dom));
        search.live_blocks(&uses, flow);
        promotion.parts[part].read_uninit = search.live.contains(entry);
        let definers = uses.iter().filter(|u| u.defines).map(|u| u.block);
        for block in search.frontiers.iterated_live(definers, &search.live) {
            let (value, incoming) = (ValueId::from_u32(NONE), NONE);
            promotion.phis.list.push(Phi {
                block,
                part: part as u32,
                value,
                incoming,
            });
        }
    }
    promotion.phis.finish(flow.raw_of.len());
}

struct Search<'a> {
    frontiers: Frontiers<'a, BlockId>,
    /// Blocks where the part is live on entry.
    live: IdSet<BlockId>,
    defines: IdSet<BlockId>,
    work: Vec<BlockId>,
}

impl<'a> Search<'a> {
    fn new(flow: &'a Flow, dom: &'a Dominators<BlockId>) -> Self {
        let blocks = flow.raw_of.len();
        Search {
            frontiers: Frontiers::new(&flow.graph, dom),
            live: IdSet::with_capacity(blocks),
            defines: IdSet::with_capacity(blocks),
            work: Vec::new(),
        }
    }

    fn live_blocks(&mut self, uses: &Uses<'_>, flow: &Flow) {
        self.live.clear();
        self.defines.clear();
        for block_use in uses.iter() {
            if block_use.defines {
                self.defines.insert(block_use.block);
            }
            if block_use.exposed && self.live.insert(block_use.block) {
                self.work.push(block_use.block);
            }
        }
        while let Some(block) = self.work.pop() {
            for &pred in flow.preds.succs(block) {
                if !self.defines.contains(pred) && self.live.insert(pred) {
                    self.work.push(pred);
                }
            }
        }
    }
}

struct Uses<'a> {
    all: &'a [BlockUse],
    first: u32,
}

impl<'a> Uses<'a> {
    fn iter(&self) -> impl Iterator<Item = &'a BlockUse> + use<'a> {
        let (all, mut at) = (self.all, self.first);
        std::iter::from_fn(move || {
            let found = all.get(at as usize)?;
            at = found.next;
            Some(found)
        })
    }
}

/// Reduces the accesses to one entry per part and block.
fn summarise(promotion: &mut Promotion, flow: &Flow) {
    for &block in &flow.rpo {
        for at in promotion.access_range(block) {
            let (slot, part, kind) = {
                let access = &promotion.accesses[at];
                (access.slot, access.part, access.kind)
            };
            if !promotion.slots[slot as usize].alive {
                continue;
            }
            match kind {
                AccessKind::Load => note(promotion, part, block, false),
                AccessKind::Store => note(promotion, part, block, true),
                AccessKind::Set { start, end, .. } => {
                    let mut part = promotion.slots[slot as usize].first;
                    while part != NONE {
                        let found = &promotion.parts[part as usize];
                        let (inside, next) =
                            (found.offset >= start && found.end() <= end, found.next);
                        if inside {
                            note(promotion, part, block, true);
                        }
                        part = next;
                    }
                }
            }
        }
    }
}

fn note(promotion: &mut Promotion, part: u32, block: BlockId, defines: bool) {
    let head = &mut promotion.parts[part as usize].uses;
    if let Some(last) = promotion.uses.get_mut(*head as usize)
        && last.block == block
    {
        last.defines |= defines;
        return;
    }
    let next = std::mem::replace(head, promotion.uses.len() as u32);
    promotion.uses.push(BlockUse {
        block,
        next,
        exposed: !defines,
        defines,
    });
}
