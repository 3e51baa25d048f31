//! Emits the instructions of a body in source order.
//!
//! Folded away: freezes, casts between pointers, address computations of offset 0, fences, accesses to promoted slots.
//! A store to a promoted slot leaves a binding marker. Operands may be pending (see [`super::values`]).

use drip_base::Dominators;
use drip_bitcode as bc;

use super::Scratch;
use super::context::Context;
use super::flow::Flow;
use super::fold::{Folder, walk_indices_with};
use super::values::ValueMap;
use crate::body::*;
use crate::debug_info::BodyNames;
use crate::ids::*;
use crate::promote::{Access, AccessKind};
use crate::types::Type;

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
        self.scratch.clear_out();
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

    /// A value record becomes a binding marker.
    fn debug_record(&mut self, at: usize, block: BlockId) {
        let record = self.raw.debug_records[at];
        let bc::DebugValue::Value(value) = record.value else {
            return;
        };
        if record.kind != bc::DebugRecordKind::Value
            || self.is_gone(value)
            || self.is_unknown(value)
        {
            return;
        }
        if !self.is_known_at(value, record.before, block) {
            return;
        }
        let raw_loc = record.loc.and_then(|l| self.raw.loc(l));
        let has_line = raw_loc.is_some_and(|l| l.line != 0);
        // LLVM's promotion binds variables to the phis that it places; no statement of the source does that.
        if !has_line && self.is_phi_of(value, block) {
            return;
        }
        let Some(var) = self.names.bound_var(&self.cx, self.raw, &record) else {
            return;
        };
        let value = self.operand(value);
        let mut loc = self.names.loc(&self.cx, self.raw, record.loc);
        if loc.is_none() {
            // The store is gone, and its position with it; what it stored was computed just before.
            let last = self.scratch.out.insts.last();
            let defined_last =
                value.as_value().map(|v| v.index() + 1) == Some(self.scratch.out.value_count());
            loc = last.filter(|_| defined_last).and_then(|inst| inst.loc);
        }
        self.push(Op::Bind { var, value }, self.cx.common.void, loc);
    }

    /// Is the value defined on every path to this place? Optimised code has records for which it isn't.
    fn is_known_at(&self, value: bc::ValueId, before: u32, block: BlockId) -> bool {
        let Some(bc::LocalValue::Inst(index)) = self.raw.local(value) else {
            return true;
        };
        let home = self
            .raw
            .blocks
            .partition_point(|range| range.start <= index);
        let Some(mut home) = home.checked_sub(1).map(|at| bc::BlockId(at as u32)) else {
            return false;
        };
        // What an invoke returns exists where it went well.
        let kind = self.raw.insts.get(index as usize).map(|inst| inst.kind);
        if let Some(bc::RawInstKind::Invoke { normal, .. }) = kind {
            home = normal;
        } else if self.flow.reached(home) == Some(block) {
            return index < before;
        }
        match (self.flow.reached(home), self.dom) {
            (Some(home), Some(dom)) => dom.dominates(home, block),
            _ => false,
        }
    }

    fn is_phi_of(&self, value: bc::ValueId, block: BlockId) -> bool {
        let Some(bc::LocalValue::Inst(index)) = self.raw.local(value) else {
            return false;
        };
        let range = self.raw.blocks[self.flow.raw_of[block.index()] as usize];
        let kind = self.raw.insts.get(index as usize).map(|inst| inst.kind);
        matches!(kind, Some(bc::RawInstKind::Phi { .. }))
            && (range.start..range.start.saturating_add(range.len)).contains(&index)
    }

    /// Undef and poison: the debug info has lost the variable.
    fn is_unknown(&self, value: bc::ValueId) -> bool {
        let kind = self
            .folder
            .constant(value)
            .map(|(constant, _)| constant.kind);
        matches!(kind, Some(bc::RawConst::Undef | bc::RawConst::Poison))
    }

    fn is_gone(&self, value: bc::ValueId) -> bool {
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

    fn opaque(&mut self, inst: &bc::RawInst, values: &[bc::ValueId]) {
        let args = self.list(values.iter().copied());
        self.emit(inst, Op::Opaque { args });
    }

    /// A branch target. Successors of a reached block are reached.
    pub fn target(&self, block: bc::BlockId) -> BlockId {
        self.flow.reached(block).unwrap_or(BlockId::from_u32(0))
    }

    fn targets(&mut self, range: bc::PoolRange, last: Option<bc::BlockId>) -> PoolRange {
        let start = self.scratch.out.targets.len() as u32;
        let listed = self.raw.operands(range).iter().filter_map(|o| o.as_block());
        for block in listed.chain(last) {
            let target = self.target(block);
            self.scratch.out.targets.push(target);
        }
        PoolRange {
            start,
            len: self.scratch.out.targets.len() as u32 - start,
        }
    }

    fn inst(&mut self, inst: &bc::RawInst) {
        use bc::RawInstKind as K;
        if inst.result.is_some_and(|r| self.is_gone(r)) {
            return;
        }
        match inst.kind {
            K::Unop { value, .. } => self.opaque(inst, &[value]),
            K::Binop { op, lhs, rhs, .. } => {
                let (a, b) = (self.operand(lhs), self.operand(rhs));
                self.emit(
                    inst,
                    Op::Binary {
                        op: binary_op(op),
                        a,
                        b,
                    },
                );
            }
            K::Cmp {
                predicate,
                lhs,
                rhs,
            } => {
                let (a, b) = (self.operand(lhs), self.operand(rhs));
                self.emit(
                    inst,
                    Op::Cmp {
                        pred: cmp_pred(predicate),
                        a,
                        b,
                    },
                );
            }
            K::Cast { op, value } => self.cast(inst, op, value),
            K::Freeze { value } => {
                let operand = self.operand(value);
                self.define(inst, operand);
            }
            K::Gep {
                source_ty,
                operands,
                ..
            } => self.gep(inst, source_ty, operands),
            K::Select {
                cond,
                then_value,
                else_value,
            } => {
                let op = Op::Select {
                    cond: self.operand(cond),
                    then: self.operand(then_value),
                    els: self.operand(else_value),
                };
                self.emit(inst, op);
            }
            K::Phi { incoming } => self.phi(inst, incoming),
            K::ExtractElement { vector, index } => self.opaque(inst, &[vector, index]),
            K::InsertElement {
                vector,
                element,
                index,
            } => self.opaque(inst, &[vector, element, index]),
            K::ShuffleVector { a, b, mask } => self.opaque(inst, &[a, b, mask]),
            K::ExtractValue { aggregate, indices } => {
                let (agg, path) = (self.operand(aggregate), self.path(indices));
                self.emit(inst, Op::ExtractValue { agg, path });
            }
            K::InsertValue {
                aggregate,
                element,
                indices,
            } => {
                let (agg, value, path) = (
                    self.operand(aggregate),
                    self.operand(element),
                    self.path(indices),
                );
                self.emit(inst, Op::InsertValue { agg, value, path });
            }
            K::LandingPad { cleanup, .. } => {
                self.emit(inst, Op::LandingPad { cleanup });
            }
            K::CleanupPad { .. } => {
                self.emit(inst, Op::LandingPad { cleanup: true });
            }
            K::CatchPad { .. } => {
                self.emit(inst, Op::LandingPad { cleanup: false });
            }
            K::Fence { .. } => {}
            K::Call(call) => self.call(inst, call),
            _ if inst.kind.is_terminator() => self.terminator(inst),
            _ => self.memory(inst),
        }
    }

    fn memory(&mut self, inst: &bc::RawInst) {
        use bc::RawInstKind as K;
        let op = match inst.kind {
            K::Alloca {
                allocated, count, ..
            } => {
                let var = self
                    .names
                    .var_of_slot(inst.result.and_then(|r| self.local(r)));
                Op::Alloca {
                    elem: self.cx.ty(allocated),
                    count: self.operand(count),
                    var,
                }
            }
            K::Load { address, .. } => Op::Load {
                addr: self.operand(address),
            },
            K::Store { address, value, .. } => Op::Store {
                addr: self.operand(address),
                value: self.operand(value),
            },
            K::CmpXchg {
                address,
                expected,
                new,
                ..
            } => Op::CmpXchg {
                addr: self.operand(address),
                expected: self.operand(expected),
                new: self.operand(new),
            },
            K::AtomicRmw {
                op, address, value, ..
            } => Op::AtomicRmw {
                addr: self.operand(address),
                value: self.operand(value),
                op: rmw_op(op),
            },
            K::VaArg { list } => Op::VaArg {
                list: self.operand(list),
            },
            _ => return,
        };
        self.emit(inst, op);
    }

    fn cast(&mut self, inst: &bc::RawInst, op: bc::CastOp, value: bc::ValueId) {
        use bc::CastOp as C;
        let from = self
            .raw
            .value_type(self.cx.module, value)
            .map(|t| self.cx.ty(t));
        let operand = self.operand(value);
        let op = match op {
            C::BitCast | C::AddrSpaceCast if from == Some(self.cx.ty(inst.ty)) => {
                return self.define(inst, operand);
            }
            C::BitCast | C::AddrSpaceCast => CastOp::Bitcast,
            C::Trunc => CastOp::Trunc,
            C::ZExt => CastOp::ZExt,
            C::SExt => CastOp::SExt,
            C::FpToUi => CastOp::FpToUi,
            C::FpToSi => CastOp::FpToSi,
            C::UiToFp => CastOp::UiToFp,
            C::SiToFp => CastOp::SiToFp,
            C::FpTrunc => CastOp::FpTrunc,
            C::FpExt => CastOp::FpExt,
            C::PtrToInt | C::PtrToAddr => CastOp::PtrToInt,
            C::IntToPtr => CastOp::IntToPtr,
        };
        self.emit(inst, Op::Cast { op, value: operand });
    }

    fn gep(&mut self, inst: &bc::RawInst, source_ty: bc::TypeId, operands: bc::PoolRange) {
        let raw = self.raw;
        let values = || raw.operands(operands).iter().filter_map(|o| o.as_value());
        let Some(base) = values().next() else { return };
        let start = self.scratch.out.scaled.len() as u32;
        let mut variable = smallvec::SmallVec::<[(bc::ValueId, i64); 4]>::new();
        let folder = self.folder;
        let walked = walk_indices_with(
            &self.cx,
            source_ty,
            values().skip(1),
            |id| folder.int(id),
            |index, scale| variable.push((index, scale)),
        );
        let is_pointer = matches!(self.cx.types.get(self.cx.ty(inst.ty)), Type::Ptr);
        let (true, Some(walked)) = (is_pointer, walked) else {
            // Vectors of pointers, or indices that do not fit: nobody interprets these.
            let args = self.list(values());
            self.emit(inst, Op::Opaque { args });
            return;
        };
        for (index, scale) in variable {
            let index = self.operand(index);
            self.scratch.out.scaled.push(Scaled { index, scale });
        }
        let base = self.operand(base);
        let indices = PoolRange {
            start,
            len: self.scratch.out.scaled.len() as u32 - start,
        };
        if indices.len == 0 && walked.offset == 0 {
            return self.define(inst, base);
        }
        self.emit(
            inst,
            Op::PtrAdd {
                base,
                offset: walked.offset,
                indices,
            },
        );
    }

    fn phi(&mut self, inst: &bc::RawInst, incoming: bc::PoolRange) {
        let start = self.scratch.out.incoming.len() as u32;
        for pair in self.raw.operands(incoming).chunks_exact(2) {
            let (Some(value), Some(block)) = (pair[0].as_value(), pair[1].as_block()) else {
                continue;
            };
            if let Some(block) = self.flow.reached(block) {
                let value = self.operand(value);
                self.scratch.out.incoming.push(Incoming { block, value });
            }
        }
        // In the order of predecessors, as the phis of promoted slots have it.
        let entries = &mut self.scratch.out.incoming[start as usize..];
        entries.sort_by_key(|entry| entry.block);
        let len = entries.len() as u32;
        let incoming = PoolRange { start, len };
        self.emit(inst, Op::Phi { incoming });
    }

    fn path(&mut self, indices: bc::PoolRange) -> PoolRange {
        let start = self.scratch.out.indices.len() as u32;
        let raw = self.raw;
        self.scratch
            .out
            .indices
            .extend(raw.operands(indices).iter().map(|o| o.raw()));
        PoolRange {
            start,
            len: indices.len,
        }
    }

    fn terminator(&mut self, inst: &bc::RawInst) {
        use bc::RawInstKind as K;
        let op = match inst.kind {
            K::Ret { value } => Op::Ret {
                value: value.map(|v| self.operand(v)),
            },
            K::Br { target } | K::CatchRet { target, .. } => Op::Br {
                target: self.target(target),
            },
            K::CondBr {
                cond,
                then_block,
                else_block,
            } => Op::CondBr {
                cond: self.operand(cond),
                then: self.target(then_block),
                els: self.target(else_block),
            },
            K::Switch {
                cond,
                default,
                cases,
            } => {
                let value = self.operand(cond);
                Op::Switch {
                    value,
                    default: self.target(default),
                    cases: self.cases(cases),
                }
            }
            K::IndirectBr { address, targets } => Op::IndirectBr {
                addr: self.operand(address),
                targets: self.targets(targets, None),
            },
            K::Invoke {
                call,
                normal,
                unwind,
            } => return self.invoke(inst, call, normal, unwind),
            K::CallBr {
                call,
                default,
                indirect,
            } => {
                let args = self.raw.call(call).map(|c| c.args).unwrap_or_default();
                let args = self.list(self.raw.operands(args).iter().filter_map(|o| o.as_value()));
                let normal = self.target(default);
                Op::CallBr {
                    args,
                    normal,
                    targets: self.targets(indirect, None),
                }
            }
            K::Resume { value } => Op::Resume {
                value: self.operand(value),
            },
            K::CleanupRet {
                unwind: Some(target),
                ..
            } => Op::Br {
                target: self.target(target),
            },
            // Which handler takes the exception is unknown.
            K::CatchSwitch {
                handlers, unwind, ..
            } => {
                let addr =
                    Operand::constant(self.scratch.consts.add(Const::Opaque(self.cx.common.ptr)));
                let targets = self.targets(handlers, unwind);
                let loc = self.loc(inst);
                self.push(Op::IndirectBr { addr, targets }, self.cx.common.void, loc);
                return;
            }
            _ => Op::Unreachable,
        };
        self.emit(inst, op);
    }

    fn cases(&mut self, cases: bc::PoolRange) -> PoolRange {
        let start = self.scratch.out.cases.len() as u32;
        for pair in self.raw.operands(cases).chunks_exact(2) {
            let (Some(value), Some(block)) = (pair[0].as_value(), pair[1].as_block()) else {
                continue;
            };
            let value = match self.folder.fold(value) {
                super::fold::Folded::Int(bits) => bits,
                _ => 0,
            };
            let target = self.target(block);
            self.scratch.out.cases.push(SwitchCase { value, target });
        }
        PoolRange {
            start,
            len: self.scratch.out.cases.len() as u32 - start,
        }
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

fn binary_op(op: bc::BinaryOp) -> BinaryOp {
    use bc::BinaryOp as B;
    match op {
        B::Add => BinaryOp::Add,
        B::Sub => BinaryOp::Sub,
        B::Mul => BinaryOp::Mul,
        B::UDiv => BinaryOp::UDiv,
        B::SDiv => BinaryOp::SDiv,
        B::URem => BinaryOp::URem,
        B::SRem => BinaryOp::SRem,
        B::Shl => BinaryOp::Shl,
        B::LShr => BinaryOp::LShr,
        B::AShr => BinaryOp::AShr,
        B::And => BinaryOp::And,
        B::Or => BinaryOp::Or,
        B::Xor => BinaryOp::Xor,
        B::FAdd => BinaryOp::FAdd,
        B::FSub => BinaryOp::FSub,
        B::FMul => BinaryOp::FMul,
        B::FDiv => BinaryOp::FDiv,
        B::FRem => BinaryOp::FRem,
    }
}

fn cmp_pred(predicate: bc::CmpPredicate) -> CmpPred {
    use bc::CmpPredicate as P;
    match predicate {
        P::Eq => CmpPred::Eq,
        P::Ne => CmpPred::Ne,
        P::Ugt => CmpPred::Ugt,
        P::Uge => CmpPred::Uge,
        P::Ult => CmpPred::Ult,
        P::Ule => CmpPred::Ule,
        P::Sgt => CmpPred::Sgt,
        P::Sge => CmpPred::Sge,
        P::Slt => CmpPred::Slt,
        P::Sle => CmpPred::Sle,
        // The floating point predicates come first, in LLVM's order.
        float => CmpPred::Float(float as u8),
    }
}

fn rmw_op(op: bc::RmwOp) -> RmwOp {
    use bc::RmwOp as R;
    match op {
        R::Xchg => RmwOp::Xchg,
        R::Add => RmwOp::Add,
        R::Sub => RmwOp::Sub,
        R::And => RmwOp::And,
        R::Nand => RmwOp::Nand,
        R::Or => RmwOp::Or,
        R::Xor => RmwOp::Xor,
        R::Max => RmwOp::Max,
        R::Min => RmwOp::Min,
        R::UMax => RmwOp::UMax,
        R::UMin => RmwOp::UMin,
        R::Other(_) => RmwOp::Other,
    }
}
