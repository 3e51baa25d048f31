//! Which value does each load of a promoted slot read?
//!
//! A walk over the dominator tree keeps, for every part, the operand that reaches the current point; leaving a subtree
//! restores what reached its root.

use drip_base::Dominators;

use super::{AccessKind, NONE, Promotion};
use crate::body::{Incoming, Operand};
use crate::ids::BlockId;
use crate::lower::consts::Consts;
use crate::lower::flow::Flow;
use crate::lower::values::ValueMap;
use crate::types::Types;

/// What the walk reads.
pub(crate) struct Inputs<'a> {
    pub promotion: &'a Promotion,
    pub flow: &'a Flow,
    /// `None` for a body of one block.
    pub dom: Option<&'a Dominators<BlockId>>,
    pub types: &'a Types,
}

/// What the walk fills.
pub(crate) struct Outputs<'a> {
    pub values: &'a mut ValueMap,
    pub incoming: &'a mut [Incoming],
    pub consts: &'a mut Consts,
}

/// Working memory, reused from body to body.
#[derive(Default)]
pub(crate) struct Rename {
    /// By part: the operand that reaches the current point. The caller fills in what holds at the entry.
    pub current: Vec<Operand>,
    /// Overwritten entries of `current`, to restore.
    undo: Vec<(u32, Operand)>,
    /// Open subtrees: block, and length of `undo` when it was entered.
    path: Vec<(BlockId, usize)>,
    /// By block: the predecessor that fed its phis last.
    fed: Vec<u32>,
}

impl Rename {
    pub fn run(&mut self, inputs: &Inputs<'_>, out: &mut Outputs<'_>) {
        self.undo.clear();
        self.path.clear();
        self.fed.clear();
        self.fed.resize(inputs.flow.raw_of.len(), NONE);
        let only = [BlockId::from_u32(0)];
        for &block in inputs.dom.map_or(&only[..], |d| d.preorder()) {
            while let Some(&(open, mark)) = self.path.last() {
                if inputs.dom.is_some_and(|d| d.dominates(open, block)) {
                    break;
                }
                self.path.pop();
                for (part, old) in self.undo.drain(mark..).rev() {
                    self.current[part as usize] = old;
                }
            }
            self.path.push((block, self.undo.len()));
            self.block(block, inputs, out);
            self.feed_successors(block, inputs, out.incoming);
        }
    }

    fn set(&mut self, part: u32, value: Operand) {
        let old = std::mem::replace(&mut self.current[part as usize], value);
        self.undo.push((part, old));
    }

    fn block(&mut self, block: BlockId, inputs: &Inputs<'_>, out: &mut Outputs<'_>) {
        let promotion = inputs.promotion;
        for phi in promotion.phis.of(block) {
            self.set(phi.part, Operand::value(phi.value));
        }
        for access in &promotion.accesses[promotion.access_range(block)] {
            if !promotion.is_promoted(access) {
                continue;
            }
            match access.kind {
                AccessKind::Load => out
                    .values
                    .set(access.local, self.current[access.part as usize]),
                AccessKind::Store => {
                    // Unresolved only in malformed bodies; the reference is looked at again at the end.
                    let value = out.values.resolve(access.value).unwrap_or(access.value);
                    self.set(access.part, value);
                }
                AccessKind::Set { start, end, byte } => {
                    for part in promotion.parts_in(access.slot, start, end) {
                        let ty = promotion.parts[part as usize].ty;
                        self.set(part, out.consts.filled(inputs.types, ty, byte));
                    }
                }
            }
        }
    }

    fn feed_successors(&mut self, block: BlockId, inputs: &Inputs<'_>, incoming: &mut [Incoming]) {
        for &succ in inputs.flow.graph.succs(block) {
            let phis = inputs.promotion.phis.of(succ);
            if phis.is_empty() || self.fed[succ.index()] == block.as_u32() {
                continue;
            }
            self.fed[succ.index()] = block.as_u32();
            let preds = inputs.flow.preds.succs(succ);
            let first = preds.partition_point(|&p| p < block);
            let edges = preds[first..].iter().take_while(|&&p| p == block).count();
            for phi in phis {
                let start = phi.incoming as usize + first;
                for entry in incoming.iter_mut().skip(start).take(edges) {
                    entry.value = self.current[phi.part as usize];
                }
            }
        }
    }
}
