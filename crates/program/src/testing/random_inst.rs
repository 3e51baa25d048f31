//! Random operands and instructions.

use crate::body::*;
use crate::ids::*;
use crate::syntax::{BINARY, RMW};
use crate::types::Type;

use super::random_body::Generator;
use super::random_items::Universe;

/// Where the floating point operations start in [`BINARY`].
const FIRST_FLOAT_OP: usize = 13;

impl Generator<'_, '_> {
    /// A value of the type that is available at the end of the block as far as it is made.
    pub(super) fn value(&mut self, block: BlockId, ty: TypeId) -> Operand {
        let mut found = Vec::new();
        let mut at = Some(block);
        while let Some(here) = at {
            found.extend(
                self.defs[here.index()]
                    .iter()
                    .filter(|(_, t)| *t == ty)
                    .map(|(v, _)| *v),
            );
            at = self.dominators.idom(here);
        }
        for (index, &param) in self.params().iter().enumerate() {
            if param == ty {
                found.push(self.b.param(index));
            }
        }
        if found.is_empty() || self.c.chance(20) {
            return self.constant(ty);
        }
        self.c.pick(&found)
    }

    fn params(&self) -> Vec<TypeId> {
        self.b.param_types().to_vec()
    }

    fn constant(&mut self, ty: TypeId) -> Operand {
        let constant = match self.program.types.get(ty) {
            Type::Int(width) => {
                let bits = [0, 1, 2, 16, u64::MAX, 1 << 31];
                Const::Int {
                    ty,
                    bits: self.c.pick(&bits) & (u64::MAX >> (64 - width.clamp(&1, &64))),
                }
            }
            Type::Float(_) => Const::Float {
                ty,
                bits: f64::from(self.c.byte()).to_bits(),
            },
            Type::Ptr => self.address(),
            _ => self.aggregate(ty),
        };
        match self.shape.exotic && self.c.chance(10) {
            true => self.b.constant(Const::Opaque(ty)),
            false => self.b.constant(constant),
        }
    }

    fn address(&mut self) -> Const {
        let globals = self.program.globals.len();
        match self.c.below(4) {
            1 if globals > 0 => Const::Global {
                global: GlobalId::new(self.c.below(globals)),
                offset: self.c.below(3) as i64 * 8 - 8,
            },
            2 => Const::Func(FuncId::new(self.c.below(self.program.funcs.len()))),
            _ => Const::Null,
        }
    }

    fn aggregate(&mut self, ty: TypeId) -> Const {
        let elems: Vec<TypeId> = match self.program.types.get(ty) {
            Type::Struct(layout) => layout.fields.iter().map(|&(field, _)| field).collect(),
            Type::Array { elem, len } | Type::Vector { elem, len } => vec![*elem; *len as usize],
            _ => return Const::Undef(ty),
        };
        match self.c.below(3) {
            0 => Const::Zero(ty),
            1 => Const::Undef(ty),
            _ => Const::Aggregate {
                ty,
                elems: elems
                    .iter()
                    .filter_map(|&elem| self.constant(elem).as_const())
                    .collect(),
            },
        }
    }

    pub(super) fn inst(&mut self, block: BlockId) {
        let kinds = if self.shape.exotic { 6 } else { 4 };
        match self.c.below(kinds) {
            // The first is what bytes that run out choose.
            0 => self.call(block),
            1 => self.memory(block),
            2 => self.computation(block),
            3 => self.access(block),
            4 => self.exotic_memory(block),
            _ => self.exotic_computation(block),
        }
    }

    fn access(&mut self, block: BlockId) {
        let ty = self.any_type();
        let addr = self.value(block, self.universe.ptr);
        if self.c.chance(50) {
            self.def(block, Op::Load { addr }, ty);
        } else {
            let value = self.value(block, ty);
            self.effect(block, Op::Store { addr, value });
        }
    }

    fn memory(&mut self, block: BlockId) {
        let Universe {
            i8, i32, i64, ptr, ..
        } = *self.universe;
        match self.c.below(4) {
            0 => {
                let (elem, bits) = (self.any_type(), self.c.pick(&[1, 1, 8]));
                let count = self.b.constant(Const::Int { ty: i32, bits });
                let var = self.random_var();
                self.def(block, Op::Alloca { elem, count, var }, ptr);
            }
            1 => {
                let base = self.value(block, ptr);
                let offset = self.c.below(5) as i64 * 8 - 8;
                let scaled = |this: &mut Self| Scaled {
                    index: this.value(block, i32),
                    scale: this.c.below(4) as i64 * 4 - 4,
                };
                let scaled: Vec<_> = (0..self.c.below(3)).map(|_| scaled(self)).collect();
                let indices = self.b.scaled(&scaled);
                let op = Op::PtrAdd {
                    base,
                    offset,
                    indices,
                };
                self.def(block, op, ptr);
            }
            2 => {
                let dst = self.value(block, ptr);
                let byte = self.value(block, i8);
                let len = self.value(block, i64);
                self.effect(block, Op::MemSet { dst, byte, len });
            }
            _ => {
                let (dst, src) = (self.value(block, ptr), self.value(block, ptr));
                let len = self.value(block, i64);
                let op = Op::MemCopy { dst, src, len };
                if self.c.chance(20) {
                    self.def(block, op, ptr);
                } else {
                    self.effect(block, op);
                }
            }
        }
    }

    fn computation(&mut self, block: BlockId) {
        let Universe {
            i1,
            i8,
            i32,
            i64,
            ptr,
            ..
        } = *self.universe;
        match self.c.below(5) {
            0 => {
                let preds = [
                    (i32, CmpPred::Eq),
                    (ptr, CmpPred::Ne),
                    (i64, CmpPred::Slt),
                    (i8, CmpPred::Uge),
                ];
                let (ty, pred) = self.c.pick(&preds);
                let (a, b) = (self.value(block, ty), self.value(block, ty));
                self.def(block, Op::Cmp { pred, a, b }, i1);
            }
            1 => {
                let ty = self.c.pick(&[i32, i64, i8]);
                let (a, b) = (self.value(block, ty), self.value(block, ty));
                let op = self.c.pick(&BINARY[..FIRST_FLOAT_OP]).1;
                self.def(block, Op::Binary { op, a, b }, ty);
            }
            2 => {
                let ty = self.any_type();
                let cond = self.value(block, i1);
                let (then, els) = (self.value(block, ty), self.value(block, ty));
                self.def(block, Op::Select { cond, then, els }, ty);
            }
            3 => self.cast(block),
            _ => {
                if let Some(var) = self.random_var() {
                    let ty = self.any_type();
                    let value = self.value(block, ty);
                    self.effect(block, Op::Bind { var, value });
                }
            }
        }
    }

    fn exotic_memory(&mut self, block: BlockId) {
        let Universe {
            i32,
            ptr,
            array,
            old_and_success,
            ..
        } = *self.universe;
        let addr = self.value(block, ptr);
        match self.c.below(4) {
            0 => {
                let value = self.value(block, i32);
                let op = self.c.pick(RMW).1;
                self.def(block, Op::AtomicRmw { addr, value, op }, i32);
            }
            1 => {
                let (expected, new) = (self.value(block, i32), self.value(block, i32));
                let op = Op::CmpXchg {
                    addr,
                    expected,
                    new,
                };
                self.def(block, op, old_and_success);
            }
            2 => {
                let ty = self.any_type();
                self.def(block, Op::VaArg { list: addr }, ty);
            }
            _ => {
                let value = self.value(block, array);
                self.effect(block, Op::Store { addr, value });
            }
        }
    }

    fn exotic_computation(&mut self, block: BlockId) {
        let Universe {
            i1,
            i32,
            f64,
            node,
            vector,
            ..
        } = *self.universe;
        match self.c.below(7) {
            0 => {
                let args = [self.value(block, vector), self.value(block, i32)];
                let args = self.b.operands(&args);
                self.def(block, Op::Opaque { args }, vector);
            }
            1 => {
                let (agg, index, ty) = self.field();
                let agg = self.value(block, agg);
                let path = self.b.indices(&[index]);
                self.def(block, Op::ExtractValue { agg, path }, ty);
            }
            2 => {
                let (ty, index, field) = self.field();
                let (agg, value) = (self.value(block, ty), self.value(block, field));
                let path = self.b.indices(&[index]);
                self.def(block, Op::InsertValue { agg, value, path }, ty);
            }
            3 => {
                let (a, b) = (self.value(block, f64), self.value(block, f64));
                let op = self.c.pick(&BINARY[FIRST_FLOAT_OP..]).1;
                self.def(block, Op::Binary { op, a, b }, f64);
            }
            4 => {
                let (a, b) = (self.value(block, f64), self.value(block, f64));
                let pred = CmpPred::Float(self.c.byte() % 16);
                self.def(block, Op::Cmp { pred, a, b }, i1);
            }
            5 => {
                let cleanup = self.c.chance(50);
                self.def(block, Op::LandingPad { cleanup }, node);
            }
            _ => {
                let (a, b) = (self.value(block, vector), self.value(block, vector));
                let op = BinaryOp::Xor;
                self.def(block, Op::Binary { op, a, b }, vector);
            }
        }
    }

    /// Aggregate, index of a field, type of the field.
    fn field(&mut self) -> (TypeId, u32, TypeId) {
        let u = self.universe;
        self.c.pick(&[
            (u.node, 0, u.ptr),
            (u.node, 1, u.i32),
            (u.array, 3, u.i32),
            (u.old_and_success, 1, u.i1),
        ])
    }

    pub(super) fn random_var(&mut self) -> Option<VarId> {
        (self.vars > 0 && self.c.chance(80)).then(|| VarId::new(self.c.below(self.vars)))
    }

    fn cast(&mut self, block: BlockId) {
        let u = self.universe;
        let mut casts = vec![
            (CastOp::ZExt, u.i32, u.i64),
            (CastOp::SExt, u.i32, u.i64),
            (CastOp::Trunc, u.i64, u.i8),
            (CastOp::PtrToInt, u.ptr, u.i64),
            (CastOp::IntToPtr, u.i64, u.ptr),
            (CastOp::Bitcast, u.ptr, u.ptr),
        ];
        if self.shape.exotic {
            casts.extend([
                (CastOp::SiToFp, u.i32, u.f64),
                (CastOp::FpToUi, u.f64, u.i32),
                (CastOp::Bitcast, u.i64, u.vector),
            ]);
        }
        let (op, from, to) = self.c.pick(&casts);
        let value = self.value(block, from);
        self.def(block, Op::Cast { op, value }, to);
    }

    /// Callee, arguments and type of a call.
    pub(super) fn call_parts(&mut self, block: BlockId) -> (Operand, OperandList, TypeId) {
        if self.c.chance(15) {
            let ty = self.any_type();
            let callee = self.value(block, self.universe.ptr);
            let arg = self.value(block, ty);
            return (callee, self.b.operands(&[arg]), ty);
        }
        let index = self.c.below(self.callees.len());
        let callee = &self.callees[index];
        let (id, ret, params) = (callee.id, callee.ret, callee.params.clone());
        let args: Vec<Operand> = params
            .iter()
            .map(|&param| self.value(block, param))
            .collect();
        let callee = self.b.constant(Const::Func(id));
        (callee, self.b.operands(&args), ret)
    }

    pub(super) fn flags(&mut self) -> CallFlags {
        CallFlags(match self.shape.exotic && self.c.chance(20) {
            true => self.c.byte() & 31,
            false => 0,
        })
    }

    fn call(&mut self, block: BlockId) {
        let (callee, args, ty) = self.call_parts(block);
        let flags = self.flags();
        let op = Op::Call {
            callee,
            args,
            flags,
        };
        match ty == self.universe.void {
            true => self.effect(block, op),
            false => drop(self.def(block, op, ty)),
        }
    }
}
