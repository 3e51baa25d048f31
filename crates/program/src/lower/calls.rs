//! Calls, invokes and intrinsics.

use drip_bitcode as bc;

use super::emit::Emitter;
use super::intrinsics::Intrinsic;
use crate::body::*;
use crate::types::Type;

impl Emitter<'_, '_> {
    fn args(&mut self, call: &bc::RawCall) -> OperandList {
        let raw = self.raw;
        let start = self.scratch.out.operands.len() as u32;
        for arg in raw.operands(call.args) {
            let operand = match arg.kind() {
                bc::OperandKind::Value(value) => self.operand(value),
                // Metadata as argument: register names and the like.
                _ => {
                    Operand::constant(self.scratch.consts.add(Const::Opaque(self.cx.common.other)))
                }
            };
            self.scratch.out.operands.push(operand);
        }
        OperandList {
            start,
            len: call.args.len,
        }
    }

    fn arg(&mut self, call: &bc::RawCall, n: usize) -> Option<Operand> {
        let value = self.raw.operands(call.args).get(n)?.as_value()?;
        Some(self.operand(value))
    }

    fn flags(&self, call: &bc::RawCall) -> CallFlags {
        let mut flags = 0;
        if let Some(attrs) = call.attrs {
            let set = self.cx.module.attrs(attrs).function();
            let mut add = |on: bool, flag: u8| flags |= if on { flag } else { 0 };
            add(set.has(bc::AttrKind::NoReturn), CallFlags::NORETURN);
            add(set.has(bc::AttrKind::NoUnwind), CallFlags::NOUNWIND);
            let memory = set.memory();
            add(memory.is_none(), CallFlags::READNONE);
            add(
                memory.only_reads() && !memory.is_none(),
                CallFlags::READONLY,
            );
        }
        let callee = self.folder.constant(call.callee).map(|(c, _)| c.kind);
        if matches!(callee, Some(bc::RawConst::InlineAsm { .. })) {
            flags |= CallFlags::ASM;
        }
        CallFlags(flags)
    }

    pub fn invoke(
        &mut self,
        inst: &bc::RawInst,
        id: bc::CallId,
        normal: bc::BlockId,
        unwind: bc::BlockId,
    ) {
        let (normal, unwind) = (self.target(normal), self.target(unwind));
        let op = match self.raw.call(id).copied() {
            Some(call) => {
                let callee = self.operand(call.callee);
                Op::Invoke {
                    callee,
                    args: self.args(&call),
                    flags: self.flags(&call),
                    normal,
                    unwind,
                }
            }
            None => Op::Unreachable,
        };
        self.emit(inst, op);
    }

    pub fn call(&mut self, inst: &bc::RawInst, id: bc::CallId) {
        let Some(call) = self.raw.call(id).copied() else {
            return;
        };
        let intrinsic = self.cx.intrinsic(call.callee);
        if !self.intrinsic(inst, &call, intrinsic) {
            let callee = self.operand(call.callee);
            let mut flags = self.flags(&call);
            if intrinsic == Intrinsic::Trap {
                flags.0 |= CallFlags::NORETURN;
            }
            let args = self.args(&call);
            self.emit(
                inst,
                Op::Call {
                    callee,
                    args,
                    flags,
                },
            );
        }
    }

    /// Emits what an intrinsic becomes; false when it stays a call.
    fn intrinsic(&mut self, inst: &bc::RawInst, call: &bc::RawCall, intrinsic: Intrinsic) -> bool {
        match intrinsic {
            Intrinsic::Call | Intrinsic::Trap => return false,
            Intrinsic::Drop => {}
            Intrinsic::Operand(n) => match self.arg(call, n.into()) {
                Some(operand) => self.define(inst, operand),
                None => return false,
            },
            Intrinsic::MemCopy | Intrinsic::MemSet => {
                let (Some(dst), Some(second), Some(len)) =
                    (self.arg(call, 0), self.arg(call, 1), self.arg(call, 2))
                else {
                    return false;
                };
                let op = match intrinsic {
                    Intrinsic::MemSet => Op::MemSet {
                        dst,
                        byte: second,
                        len,
                    },
                    _ => Op::MemCopy {
                        dst,
                        src: second,
                        len,
                    },
                };
                self.emit(inst, op);
            }
            Intrinsic::Opaque => {
                let args = self.args(call);
                self.emit(inst, Op::Opaque { args });
            }
            Intrinsic::Pick(pred) => self.pick(inst, call, pred),
            Intrinsic::Overflow(op) => self.overflow(inst, call, op),
        }
        true
    }

    /// `llvm.umax` and the like.
    fn pick(&mut self, inst: &bc::RawInst, call: &bc::RawCall, pred: CmpPred) {
        let scalar = matches!(self.cx.types.get(self.cx.ty(inst.ty)), Type::Int(_));
        match (scalar, self.arg(call, 0), self.arg(call, 1)) {
            (true, Some(a), Some(b)) => {
                let loc = self.loc(inst);
                let cond = self.push(Op::Cmp { pred, a, b }, self.cx.common.i1, loc);
                self.emit(
                    inst,
                    Op::Select {
                        cond: Operand::value(cond),
                        then: a,
                        els: b,
                    },
                );
            }
            _ => {
                let args = self.args(call);
                self.emit(inst, Op::Opaque { args });
            }
        }
    }

    /// The number is exact, the overflow bit unknown.
    fn overflow(&mut self, inst: &bc::RawInst, call: &bc::RawCall, op: BinaryOp) {
        let args = self.args(call);
        let ty = self.cx.ty(inst.ty);
        let number = match self.cx.types.get(ty) {
            Type::Struct(s) => s.fields.first().map(|field| field.0),
            _ => None,
        };
        let (Some(number), Some(a), Some(b)) = (number, self.arg(call, 0), self.arg(call, 1))
        else {
            self.emit(inst, Op::Opaque { args });
            return;
        };
        let loc = self.loc(inst);
        let both = self.push(Op::Opaque { args }, ty, loc);
        let exact = self.push(Op::Binary { op, a, b }, number, loc);
        let start = self.scratch.out.indices.len() as u32;
        self.scratch.out.indices.push(0);
        let path = PoolRange { start, len: 1 };
        let (agg, value) = (Operand::value(both), Operand::value(exact));
        self.emit(inst, Op::InsertValue { agg, value, path });
    }
}
