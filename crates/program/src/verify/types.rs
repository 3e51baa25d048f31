//! Do operands have the types that their operation asks for? Relies on `shape`: every id exists.
//!
//! Operations on vectors are checked element by element: a rule on `i1` also admits `<4 x i1>`.

use crate::body::*;
use crate::ids::*;
use crate::types::{Type, Types};

use super::{Check, Scratch};

/// A type by what operations care for; of a vector, its element.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Void,
    Int(u32),
    Float(u32),
    Ptr,
    Other,
}

/// Length of a vector, 0 for all else, and the kind.
fn shape(types: &Types, id: TypeId) -> (u64, Kind) {
    match types.get(id) {
        Type::Vector { elem, len } => (*len, kind(types.get(*elem))),
        ty => (0, kind(ty)),
    }
}

fn kind(ty: &Type) -> Kind {
    match ty {
        Type::Void => Kind::Void,
        Type::Int(width) => Kind::Int(*width),
        Type::Float(width) => Kind::Float(*width),
        Type::Ptr => Kind::Ptr,
        _ => Kind::Other,
    }
}

pub fn check_insts(check: &mut Check<'_>, scratch: &mut Scratch) {
    for (id, inst) in check.body.insts.iter_enumerated() {
        check.block = scratch.block_of.get(id.index()).copied();
        check.inst = Some(id);
        let mut rules = Rules {
            check,
            inst,
            const_types: &scratch.const_types,
        };
        rules.operands_have_values(id);
        rules.inst();
    }
}

struct Rules<'r, 'c> {
    check: &'r mut Check<'c>,
    inst: &'r Inst,
    const_types: &'r [TypeId],
}

impl Rules<'_, '_> {
    fn ty(&self, operand: Operand) -> TypeId {
        self.check.operand_type(operand, self.const_types)
    }

    fn kind(&self, operand: Operand) -> Kind {
        shape(self.check.types, self.ty(operand)).1
    }

    fn result(&self) -> (u64, Kind) {
        shape(self.check.types, self.inst.ty)
    }

    fn require(&mut self, holds: bool, message: &str) {
        self.check.require(holds, message);
    }

    fn operands_have_values(&mut self, id: InstId) {
        let mut all = true;
        let body = self.check.body;
        let void = self.check.facts.void;
        body.for_each_operand(id, |operand| {
            if let Some(value) = operand.as_value() {
                all &= Some(body.value_ty(value)) != void;
            }
        });
        self.require(all, "uses an instruction that has no result");
    }

    fn pointer(&mut self, operand: Operand) {
        let holds = self.kind(operand) == Kind::Ptr;
        self.require(holds, "expects a pointer");
    }

    fn integer(&mut self, operand: Operand) {
        let holds = matches!(self.kind(operand), Kind::Int(_));
        self.require(holds, "expects an integer");
    }

    fn same(&mut self, types: &[TypeId]) {
        let holds = types.windows(2).all(|pair| pair[0] == pair[1]);
        self.require(holds, "operands and result must have the same type");
    }

    fn no_result(&mut self) {
        let holds = self.result().1 == Kind::Void;
        self.require(holds, "must have no result");
    }

    fn some_result(&mut self) {
        let holds = self.result().1 != Kind::Void;
        self.require(holds, "must have a result");
    }

    fn inst(&mut self) {
        let ty = self.inst.ty;
        match self.inst.op {
            Op::Alloca { elem, count, .. } => {
                self.integer(count);
                let sized = !matches!(self.check.types.get(elem), Type::Void | Type::Func { .. });
                self.require(sized, "allocates a type that can have no value");
                self.require(self.result().1 == Kind::Ptr, "must be a pointer");
            }
            Op::Load { addr } | Op::VaArg { list: addr } => {
                self.pointer(addr);
                self.some_result();
            }
            Op::Store { addr, .. } => {
                self.pointer(addr);
                self.no_result();
            }
            Op::PtrAdd { base, indices, .. } => {
                self.pointer(base);
                for scaled in self.check.body.scaled(indices) {
                    self.integer(scaled.index);
                }
                self.require(self.result().1 == Kind::Ptr, "must be a pointer");
            }
            Op::MemCopy { dst, src, len } => {
                self.pointer(src);
                self.memory_operation(dst, len);
            }
            Op::MemSet { dst, byte, len } => {
                self.integer(byte);
                self.memory_operation(dst, len);
            }
            Op::AtomicRmw { addr, value, .. } => {
                self.pointer(addr);
                self.same(&[self.ty(value), ty]);
                self.some_result();
            }
            Op::CmpXchg {
                addr,
                expected,
                new,
            } => {
                self.pointer(addr);
                self.same(&[self.ty(expected), self.ty(new)]);
                let holds = self.is_pair_of(self.ty(new));
                self.require(holds, "must be a pair of old value and i1");
            }
            _ => self.value(),
        }
    }

    /// What computes values without touching memory.
    fn value(&mut self) {
        let ty = self.inst.ty;
        match self.inst.op {
            Op::Cast { op, value } => self.cast(op, value),
            Op::Binary { op, a, b } => self.binary(op, a, b),
            Op::Cmp { pred, a, b } => self.cmp(pred, a, b),
            Op::Select { cond, then, els } => {
                self.same(&[self.ty(then), self.ty(els), ty]);
                self.some_result();
                let holds = self.kind(cond) == Kind::Int(1);
                self.require(holds, "expects an i1 as condition");
            }
            Op::Phi { incoming } => {
                let mut values = self.check.body.incoming(incoming).iter();
                let holds = values.all(|i| self.ty(i.value) == ty);
                self.require(holds, "operands and result must have the same type");
                self.some_result();
            }
            Op::Call { callee, .. } => self.pointer(callee),
            Op::ExtractValue { agg, path } => {
                let field = self.field(self.ty(agg), path);
                self.require(
                    field == Some(ty),
                    "extracts no field, or one of another type",
                );
            }
            Op::InsertValue { agg, value, path } => {
                self.same(&[self.ty(agg), ty]);
                let field = self.field(ty, path);
                let holds = field == Some(self.ty(value));
                self.require(holds, "replaces no field, or one of another type");
            }
            Op::Opaque { .. } => {}
            Op::LandingPad { .. } => self.some_result(),
            Op::Uninit { .. } => {
                self.some_result();
                let in_entry = self.check.block.is_none_or(|block| block.index() == 0);
                self.require(in_entry, "stands outside of the entry block");
            }
            Op::Bind { .. } => self.no_result(),
            _ => self.terminator(),
        }
    }

    fn terminator(&mut self) {
        match self.inst.op {
            // These may have a result.
            Op::Invoke { callee, .. } => return self.pointer(callee),
            Op::CallBr { .. } => return,
            Op::Ret { value } => {
                let Type::Func { ret, .. } = self.check.types.get(self.check.function.ty) else {
                    return;
                };
                let holds = match value {
                    Some(value) => self.ty(value) == *ret,
                    None => *self.check.types.get(*ret) == Type::Void,
                };
                self.require(holds, "returns another type than the function's");
            }
            Op::CondBr { cond, .. } => {
                let holds = *self.check.types.get(self.ty(cond)) == Type::Int(1);
                self.require(holds, "expects an i1 as condition");
            }
            Op::Switch { value, cases, .. } => {
                let Type::Int(width) = *self.check.types.get(self.ty(value)) else {
                    return self.require(false, "expects an integer");
                };
                let spare = 64u32.saturating_sub(width);
                let mut cases = self.check.body.cases(cases).iter();
                let fits = cases.all(|case| case.value.leading_zeros() >= spare);
                self.require(fits, "has a case wider than its value");
            }
            Op::IndirectBr { addr, .. } => self.pointer(addr),
            _ => {}
        }
        self.no_result();
    }

    fn memory_operation(&mut self, dst: Operand, len: Operand) {
        self.pointer(dst);
        self.integer(len);
        // The library functions return their first argument.
        let holds = matches!(self.result().1, Kind::Void | Kind::Ptr);
        self.require(holds, "must have no result but a pointer");
    }

    fn binary(&mut self, op: BinaryOp, a: Operand, b: Operand) {
        self.same(&[self.ty(a), self.ty(b), self.inst.ty]);
        let float = matches!(
            op,
            BinaryOp::FAdd | BinaryOp::FSub | BinaryOp::FMul | BinaryOp::FDiv | BinaryOp::FRem
        );
        let holds = match self.result().1 {
            Kind::Int(_) => !float,
            Kind::Float(_) => float,
            _ => false,
        };
        self.require(holds, "has operands of the wrong kind");
    }

    fn cmp(&mut self, pred: CmpPred, a: Operand, b: Operand) {
        self.same(&[self.ty(a), self.ty(b)]);
        let operand = shape(self.check.types, self.ty(a));
        let holds = match pred {
            CmpPred::Float(number) => number < 16 && matches!(operand.1, Kind::Float(_)),
            _ => matches!(operand.1, Kind::Int(_) | Kind::Ptr),
        };
        self.require(holds, "has operands or a predicate of the wrong kind");
        self.require(self.result() == (operand.0, Kind::Int(1)), "must be an i1");
    }

    fn cast(&mut self, op: CastOp, value: Operand) {
        let from = shape(self.check.types, self.ty(value));
        let to = self.result();
        let holds = match (op, from.1, to.1) {
            (CastOp::Trunc, Kind::Int(a), Kind::Int(b)) => a > b,
            (CastOp::ZExt | CastOp::SExt, Kind::Int(a), Kind::Int(b)) => a < b,
            (CastOp::PtrToInt, Kind::Ptr, Kind::Int(_))
            | (CastOp::IntToPtr, Kind::Int(_), Kind::Ptr)
            | (CastOp::FpTrunc | CastOp::FpExt, Kind::Float(_), Kind::Float(_))
            | (CastOp::FpToUi | CastOp::FpToSi, Kind::Float(_), Kind::Int(_))
            | (CastOp::UiToFp | CastOp::SiToFp, Kind::Int(_), Kind::Float(_)) => true,
            // Reinterprets the bits, also between vectors and scalars.
            (CastOp::Bitcast, a, b) => {
                let types = self.check.types;
                let (a_ty, b_ty) = (self.ty(value), self.inst.ty);
                return self.require(
                    a != Kind::Void && b != Kind::Void && bits(types, a_ty) == bits(types, b_ty),
                    "reinterprets a value of another size",
                );
            }
            _ => false,
        };
        self.require(
            holds && from.0 == to.0,
            "has a value or result of the wrong kind",
        );
    }

    /// The type that a path of indices leads to.
    fn field(&self, mut ty: TypeId, path: PoolRange) -> Option<TypeId> {
        let path = self.check.body.indices(path);
        for &index in path {
            ty = match self.check.types.get(ty) {
                Type::Struct(layout) => layout.fields.get(index as usize)?.0,
                Type::Array { elem, len } if u64::from(index) < *len => *elem,
                _ => return None,
            };
        }
        (!path.is_empty()).then_some(ty)
    }

    fn is_pair_of(&self, first: TypeId) -> bool {
        match self.check.types.get(self.inst.ty) {
            Type::Struct(layout) => match *layout.fields {
                [(old, _), (success, _)] => {
                    old == first && *self.check.types.get(success) == Type::Int(1)
                }
                _ => false,
            },
            _ => false,
        }
    }
}

/// Width in bits of what a value holds.
fn bits(types: &Types, id: TypeId) -> u64 {
    match types.get(id) {
        Type::Int(width) | Type::Float(width) => u64::from(*width),
        Type::Vector { elem, len } => bits(types, *elem).saturating_mul(*len),
        _ => types.size_of(id).saturating_mul(8),
    }
}
