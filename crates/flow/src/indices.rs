//! What is asked of a function again and again: who reads a value, where memory is touched, which cells hold numbers. Built on first use.

use std::rc::Rc;

use drip_base::{Graph, IdSet};
use drip_pointer::CellId;
use drip_program::{BlockId, InstId, Op, Type, ValueId};

use crate::frame::Frame;
use crate::touches::Touches;
use crate::values::Values;

impl Frame<'_> {
    /// Instructions that read a value; binding markers do not count.
    pub fn uses(&self, value: ValueId) -> impl Iterator<Item = InstId> + '_ {
        let graph = self.uses.get_or_init(|| {
            let mut edges: Vec<(u32, u32)> = Vec::new();
            for (inst, data) in self.body.insts.iter_enumerated() {
                if !matches!(data.op, Op::Bind { .. }) {
                    self.body.for_each_operand(inst, |operand| {
                        if let Some(value) = operand.as_value() {
                            edges.push((value.as_u32(), inst.as_u32()));
                        }
                    });
                }
            }
            Graph::from_edges(self.body.value_count().max(self.body.insts.len()), edges)
        });
        graph
            .succs(value.as_u32())
            .iter()
            .map(|&inst| InstId::from_u32(inst))
    }

    /// Is the value read in `block` or later, before it is defined again?
    pub(crate) fn is_live_in(&self, value: ValueId, block: BlockId) -> bool {
        if let Some(live) = &self.live.borrow()[value] {
            return live.contains(block);
        }
        let live = self.live_blocks(value);
        let is_live = live.contains(block);
        self.live.borrow_mut()[value] = Some(live);
        is_live
    }

    /// Blocks on entry to which a value will still be read.
    fn live_blocks(&self, value: ValueId) -> IdSet<BlockId> {
        let mut live = IdSet::with_capacity(self.body.blocks.len());
        let home = self.body.def(value).map(|inst| self.block_of(inst));
        let mut stack: Vec<BlockId> = Vec::new();
        for inst in self.uses(value) {
            match self.body.insts[inst].op {
                // A φ reads its input at the end of the predecessor.
                Op::Phi { incoming } => stack.extend(
                    self.body
                        .incoming(incoming)
                        .iter()
                        .filter(|entry| entry.value.as_value() == Some(value))
                        .map(|entry| entry.block)
                        .filter(|&block| Some(block) != home),
                ),
                _ => stack.extend(Some(self.block_of(inst)).filter(|&block| Some(block) != home)),
            }
        }
        while let Some(block) = stack.pop() {
            if live.insert(block) {
                stack.extend(
                    self.cfg
                        .preds(block)
                        .iter()
                        .copied()
                        .filter(|&pred| Some(pred) != home),
                );
            }
        }
        live
    }

    /// The blocks from which a block can be reached, itself included.
    pub(crate) fn leads_to(&self, target: BlockId) -> Rc<IdSet<BlockId>> {
        if let Some(known) = self.leading.borrow().get(&target) {
            return Rc::clone(known);
        }
        let mut found = IdSet::with_capacity(self.body.blocks.len());
        let mut stack = vec![target];
        while let Some(block) = stack.pop() {
            if found.insert(block) {
                stack.extend(self.cfg.preds(block));
            }
        }
        let found = Rc::new(found);
        self.leading.borrow_mut().insert(target, Rc::clone(&found));
        found
    }

    pub(crate) fn is_in_loop(&self, inst: InstId) -> bool {
        let innermost = self.cfg.loops().innermost(self.block_of(inst));
        innermost.is_some()
    }

    /// Where memory is touched, for explorations that pass over the rest.
    pub(crate) fn touches(&self, values: &mut Values) -> &Touches {
        self.touches.get_or_init(|| Touches::build(self, values))
    }

    /// Is the cell accessed here as an integer, and never as a pointer? What it holds is no pointer then.
    pub fn holds_number(&self, cell: CellId) -> bool {
        let numbers = self.numbers.get_or_init(|| {
            let (mut numbers, mut pointers) = (IdSet::new(), IdSet::new());
            for data in self.body.insts.iter() {
                let (addr, ty) = match data.op {
                    Op::Load { addr } => (addr, Some(data.ty)),
                    Op::Store { addr, value } => {
                        (addr, value.as_value().map(|v| self.body.value_ty(v)))
                    }
                    _ => continue,
                };
                let is_number = match ty {
                    Some(ty) => matches!(self.program.types.get(ty), Type::Int(_)),
                    // A constant says nothing of the type.
                    None => continue,
                };
                for &loc in self.local.targets(addr) {
                    let into = if is_number {
                        &mut numbers
                    } else {
                        &mut pointers
                    };
                    into.extend(self.local.memory.find_cell(loc));
                }
            }
            numbers.subtract(&pointers);
            numbers
        });
        numbers.contains(cell)
    }
}
