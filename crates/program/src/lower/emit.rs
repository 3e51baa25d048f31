//! Emits a body block by block in source order; [`super::insts`], [`super::calls`] and [`super::markers`] know the instructions.
//!
//! Folded away: freezes, casts between pointers, address computations of offset 0, fences, accesses to promoted slots.
//! A store to a promoted slot leaves a binding marker. Operands may be pending (see [`super::values`]).

use drip_base::Dominators;
use drip_bitcode as bc;

use super::Scratch;
use super::context::Context;
use super::flow::Flow;
use super::fold::Folder;
use super::values::ValueMap;
use crate::body::*;
use crate::debug_info::BodyNames;
use crate::ids::*;
use crate::promote::{Access, AccessKind};

pub(crate) struct Emitter<'a, 's> {
    pub cx: Context<'a>,
    pub raw: &'a bc::RawBody,
    pub flow: &'a Flow,
    /// `None` for a body of one block.
    pub dom: Option<&'a Dominators<BlockId>>,
    pub folder: Folder<'a>,
    pub scratch: &'s mut Scratch,
    pub names: &'s mut BodyNames,
}

impl<'a> Emitter<'a, '_> {
    pub fn run(mut self) {
        for arg in 0..self.raw.arg_count {
            let ty = self
                .raw
                .local_type(self.raw.arg(arg))
                .map_or(self.cx.common.other, |t| self.cx.ty(t));
            self.scratch.out.params.push(ty);
            self.scratch
                .values
                .set(arg, Operand::value(ValueId::from_u32(arg)));
        }
        let parts = self.scratch.promotion.parts.len();
        self.scratch.rename.current.clear();
        self.scratch
            .rename
            .current
            .resize(parts, Operand::default());
        let mut records = 0;
        for block in 0..self.flow.raw_of.len() {
            self.block(BlockId::new(block), &mut records);
        }
    }

    fn block(&mut self, block: BlockId, next_record: &mut usize) {
        let start = self.scratch.out.insts.len() as u32;
        self.part_phis(block);
        let range = self.raw.blocks[self.flow.raw_of[block.index()] as usize];
        let mut accesses = self.scratch.promotion.access_range(block);
        let mut in_head = true;
        // Records of blocks that nothing reaches are passed over.
        let records = &self.raw.debug_records;
        while records
            .get(*next_record)
            .is_some_and(|r| r.before < range.start)
        {
            *next_record += 1;
        }
        for index in range.start..range.start.saturating_add(range.len) {
            let Some(inst) = self.raw.insts.get(index as usize) else {
                break;
            };
            if in_head && !matches!(inst.kind, bc::RawInstKind::Phi { .. }) {
                in_head = false;
                if block.index() == 0 {
                    self.uninitialised_parts();
                }
            }
            while !in_head && records.get(*next_record).is_some_and(|r| r.before <= index) {
                self.debug_record(*next_record, block);
                *next_record += 1;
            }
            match accesses.next_if_inst(&self.scratch.promotion.accesses, index) {
                Some(access)
                    if self
                        .scratch
                        .promotion
                        .is_promoted(&self.scratch.promotion.accesses[access]) =>
                {
                    self.promoted_access(access, inst);
                }
                _ => self.inst(inst),
            }
        }
        let end = self.scratch.out.insts.len() as u32;
        self.scratch.out.blocks.push(Block { insts: start..end });
    }

    /// Phis of promoted parts, with room for one input per predecessor edge.
    fn part_phis(&mut self, block: BlockId) {
        let params = self.scratch.out.params.len();
        let preds = self.flow.preds.succs(block);
        for phi in self.scratch.promotion.phis.of_mut(block) {
            let out = &mut self.scratch.out;
            let start = out.incoming.len() as u32;
            let unknown = Operand::default();
            out.incoming.extend(preds.iter().map(|&block| Incoming {
                block,
                value: unknown,
            }));
            let incoming = PoolRange {
                start,
                len: preds.len() as u32,
            };
            let ty = self.scratch.promotion.parts[phi.part as usize].ty;
            let inst = out.insts.push(Inst {
                op: Op::Phi { incoming },
                ty,
                loc: None,
            });
            phi.value = ValueId::new(params + inst.index());
            phi.incoming = start;
        }
    }

    fn uninitialised_parts(&mut self) {
        for id in 0..self.scratch.promotion.parts.len() {
            let part = &self.scratch.promotion.parts[id];
            if part.read_uninit && self.scratch.promotion.slots[part.slot as usize].alive {
                let (op, ty) = (Op::Uninit { var: part.var }, part.ty);
                let value = self.push(op, ty, None);
                self.scratch.rename.current[id] = Operand::value(value);
            }
        }
    }

    /// Is it the address of a promoted slot?
    pub fn is_gone(&self, value: bc::ValueId) -> bool {
        self.local(value)
            .is_some_and(|local| self.scratch.promotion.is_gone(local))
    }

    fn promoted_access(&mut self, at: usize, inst: &bc::RawInst) {
        let Access {
            part, slot, kind, ..
        } = self.scratch.promotion.accesses[at];
        match (kind, inst.kind) {
            (AccessKind::Store, bc::RawInstKind::Store { value, .. }) => {
                let value = self.operand(value);
                self.scratch.promotion.accesses[at].value = value;
                if let Some(var) = self.scratch.promotion.parts[part as usize].var {
                    let loc = self.names.loc(&self.cx, self.raw, inst.loc);
                    self.push(Op::Bind { var, value }, self.cx.common.void, loc);
                }
            }
            (AccessKind::Set { start, end, byte }, _) => {
                let mut parts: Vec<u32> =
                    self.scratch.promotion.parts_in(slot, start, end).collect();
                parts.sort_unstable_by_key(|&p| self.scratch.promotion.parts[p as usize].offset);
                let loc = self.names.loc(&self.cx, self.raw, inst.loc);
                for part in parts {
                    let (ty, var) = {
                        let part = &self.scratch.promotion.parts[part as usize];
                        (part.ty, part.var)
                    };
                    if let Some(var) = var {
                        let value = self.scratch.consts.filled(self.cx.types, ty, byte);
                        self.push(Op::Bind { var, value }, self.cx.common.void, loc);
                    }
                }
            }
            _ => {}
        }
    }

    // Helpers shared with `calls`.

    pub fn local(&self, value: bc::ValueId) -> Option<u32> {
        let local = value.0.checked_sub(self.raw.first_value)?;
        (local < self.raw.local_count()).then_some(local)
    }

    /// The operand for a raw value; pending when it is not known yet.
    pub fn operand(&mut self, value: bc::ValueId) -> Operand {
        match self.local(value) {
            Some(local) => {
                if let Some(known) = self.scratch.values.get(local) {
                    return known;
                }
                if !matches!(self.raw.local(value), Some(bc::LocalValue::Constant(_))) {
                    return ValueMap::pending(local);
                }
                let operand = Operand::constant(self.scratch.consts.of_value(&self.folder, value));
                self.scratch.values.set(local, operand);
                operand
            }
            None => {
                if let Some(known) = self.scratch.memo.get(value) {
                    return known;
                }
                let operand = Operand::constant(self.scratch.consts.of_value(&self.folder, value));
                self.scratch.memo.set(value, operand);
                operand
            }
        }
    }

    pub fn push(&mut self, op: Op, ty: TypeId, loc: Option<LocId>) -> ValueId {
        let inst = self.scratch.push(Inst { op, ty, loc });
        ValueId::new(self.scratch.out.params.len() + inst.index())
    }

    pub fn loc(&mut self, inst: &bc::RawInst) -> Option<LocId> {
        self.names.loc(&self.cx, self.raw, inst.loc)
    }

    /// Emits the one instruction that a raw instruction becomes.
    pub fn emit(&mut self, inst: &bc::RawInst, op: Op) -> ValueId {
        let loc = self.loc(inst);
        let value = self.push(op, self.cx.ty(inst.ty), loc);
        self.define(inst, Operand::value(value));
        value
    }

    pub fn define(&mut self, inst: &bc::RawInst, operand: Operand) {
        if let Some(local) = inst.result.and_then(|r| self.local(r)) {
            self.scratch.values.set(local, operand);
        }
    }

    pub fn list(&mut self, values: impl Iterator<Item = bc::ValueId>) -> OperandList {
        let start = self.scratch.out.operands.len() as u32;
        for value in values {
            let operand = self.operand(value);
            self.scratch.out.operands.push(operand);
        }
        OperandList {
            start,
            len: self.scratch.out.operands.len() as u32 - start,
        }
    }

    /// A branch target. Successors of a reached block are reached.
    pub fn target(&self, block: bc::BlockId) -> BlockId {
        self.flow.reached(block).unwrap_or(BlockId::from_u32(0))
    }
}

/// Walks a block's accesses along with its instructions.
trait NextIfInst {
    fn next_if_inst(&mut self, accesses: &[Access], inst: u32) -> Option<usize>;
}

impl NextIfInst for std::ops::Range<usize> {
    fn next_if_inst(&mut self, accesses: &[Access], inst: u32) -> Option<usize> {
        let at = self.start;
        (at < self.end && accesses.get(at)?.inst == inst).then(|| {
            self.start += 1;
            at
        })
    }
}
