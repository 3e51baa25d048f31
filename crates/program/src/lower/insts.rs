//! Instructions other than calls.

use drip_bitcode as bc;

use super::convert::{binary_op, cmp_pred, rmw_op};
use super::emit::Emitter;
use super::fold::{Folded, walk_indices_with};
use crate::body::*;
use crate::ids::InstId;
use crate::types::Type;

impl Emitter<'_, '_> {
    pub fn inst(&mut self, inst: &bc::RawInst) {
        use bc::RawInstKind as K;
        if inst.result.is_some_and(|r| self.is_gone(r)) {
            return;
        }
        match inst.kind {
            K::Unop { value, .. } => self.opaque(inst, &[value]),
            K::ExtractElement { vector, index } => self.opaque(inst, &[vector, index]),
            K::InsertElement {
                vector,
                element,
                index,
            } => {
                self.opaque(inst, &[vector, element, index]);
            }
            K::ShuffleVector { a, b, mask } => self.opaque(inst, &[a, b, mask]),
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
            K::Phi { incoming } => self.phi(inst, incoming),
            K::ExtractValue { aggregate, indices } => self.extract(inst, aggregate, indices),
            K::Call(call) => self.call(inst, call),
            K::Fence { .. } => {}
            _ if inst.kind.is_terminator() => self.terminator(inst),
            _ => {
                if let Some(op) = self.computation(inst).or_else(|| self.memory(inst)) {
                    self.emit(inst, op);
                }
            }
        }
    }

    fn computation(&mut self, inst: &bc::RawInst) -> Option<Op> {
        use bc::RawInstKind as K;
        Some(match inst.kind {
            K::Binop { op, lhs, rhs, .. } => Op::Binary {
                op: binary_op(op),
                a: self.operand(lhs),
                b: self.operand(rhs),
            },
            K::Cmp {
                predicate,
                lhs,
                rhs,
            } => Op::Cmp {
                pred: cmp_pred(predicate),
                a: self.operand(lhs),
                b: self.operand(rhs),
            },
            K::Select {
                cond,
                then_value,
                else_value,
            } => Op::Select {
                cond: self.operand(cond),
                then: self.operand(then_value),
                els: self.operand(else_value),
            },
            K::InsertValue {
                aggregate,
                element,
                indices,
            } => Op::InsertValue {
                agg: self.operand(aggregate),
                value: self.operand(element),
                path: self.path(indices),
            },
            K::LandingPad { cleanup, .. } => Op::LandingPad { cleanup },
            K::CleanupPad { .. } => Op::LandingPad { cleanup: true },
            K::CatchPad { .. } => Op::LandingPad { cleanup: false },
            _ => return None,
        })
    }

    fn memory(&mut self, inst: &bc::RawInst) -> Option<Op> {
        use bc::RawInstKind as K;
        Some(match inst.kind {
            K::Alloca {
                allocated, count, ..
            } => {
                let local = inst.result.and_then(|r| self.local(r));
                Op::Alloca {
                    elem: self.cx.ty(allocated),
                    count: self.operand(count),
                    var: self.names.var_of_slot(local),
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
            _ => return None,
        })
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

    /// What is taken out of the place where it was just put is that value: sums with a check for overflow are plain sums.
    fn extract(&mut self, inst: &bc::RawInst, aggregate: bc::ValueId, indices: bc::PoolRange) {
        let agg = self.operand(aggregate);
        let path = self.path(indices);
        let (out, first) = (&self.scratch.out, self.scratch.out.params.len());
        let def = agg.as_value().and_then(|v| v.index().checked_sub(first));
        let def = def.and_then(|index| out.insts.get(InstId::new(index)));
        match def.map(|inst| inst.op) {
            Some(Op::InsertValue {
                value, path: put, ..
            }) if out.indices(put) == out.indices(path) => self.define(inst, value),
            _ => {
                self.emit(inst, Op::ExtractValue { agg, path });
            }
        }
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
            } => Op::Switch {
                value: self.operand(cond),
                default: self.target(default),
                cases: self.cases(cases),
            },
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
            } => self.call_br(call, default, indirect),
            K::Resume { value } => Op::Resume {
                value: self.operand(value),
            },
            K::CleanupRet {
                unwind: Some(target),
                ..
            } => Op::Br {
                target: self.target(target),
            },
            K::CatchSwitch {
                handlers, unwind, ..
            } => {
                return self.catch_switch(inst, handlers, unwind);
            }
            _ => Op::Unreachable,
        };
        self.emit(inst, op);
    }

    fn call_br(&mut self, call: bc::CallId, default: bc::BlockId, indirect: bc::PoolRange) -> Op {
        let raw = self.raw;
        let args = raw.call(call).map(|c| c.args).unwrap_or_default();
        Op::CallBr {
            args: self.list(raw.operands(args).iter().filter_map(|o| o.as_value())),
            normal: self.target(default),
            targets: self.targets(indirect, None),
        }
    }

    /// Which handler takes the exception is unknown.
    fn catch_switch(
        &mut self,
        inst: &bc::RawInst,
        handlers: bc::PoolRange,
        unwind: Option<bc::BlockId>,
    ) {
        let unknown = Const::Opaque(self.cx.common.ptr);
        let addr = Operand::constant(self.scratch.consts.add(unknown));
        let targets = self.targets(handlers, unwind);
        let loc = self.loc(inst);
        self.push(Op::IndirectBr { addr, targets }, self.cx.common.void, loc);
    }

    fn cases(&mut self, cases: bc::PoolRange) -> PoolRange {
        let start = self.scratch.out.cases.len() as u32;
        for pair in self.raw.operands(cases).chunks_exact(2) {
            let (Some(value), Some(block)) = (pair[0].as_value(), pair[1].as_block()) else {
                continue;
            };
            let value = match self.folder.fold(value) {
                Folded::Int(bits) => bits,
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

    fn opaque(&mut self, inst: &bc::RawInst, values: &[bc::ValueId]) {
        let args = self.list(values.iter().copied());
        self.emit(inst, Op::Opaque { args });
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
}
