//! Instructions without callee or control flow: arithmetic, casts, vectors, aggregates, memory.

use super::BodyReader;
use super::operands::Ops;
use crate::bitstream::{Record, Res, fail};
use crate::codes::func;
use crate::constant_reader::{binary_op, cast_op, cmp_predicate};
use crate::error::ErrorKind;
use crate::ids::TypeId;
use crate::inst::{Ordering, RawInstKind, RawOperand, RmwOp, UnaryOp};
use crate::raw::RawType;

impl BodyReader<'_> {
    pub(super) fn instruction(&mut self, record: &Record) -> Res<()> {
        match record.code {
            func::UNOP => self.unop(record),
            func::BINOP => self.binop(record),
            func::CAST => self.cast(record),
            func::GEP | func::GEP_OLD | func::INBOUNDS_GEP_OLD => self.gep(record),
            func::SELECT | func::VSELECT => self.select(record),
            func::EXTRACTELT | func::INSERTELT | func::SHUFFLEVEC => self.vector(record),
            func::CMP | func::CMP2 => self.cmp(record),
            func::EXTRACTVAL | func::INSERTVAL => self.aggregate(record),
            func::FREEZE => self.freeze(record),
            func::PHI => self.phi(record),
            func::ALLOCA => self.alloca(record),
            func::LOAD | func::LOAD_ATOMIC => self.load(record),
            func::STORE | func::STORE_OLD | func::STORE_ATOMIC | func::STORE_ATOMIC_OLD => {
                self.store(record)
            }
            func::CMPXCHG | func::CMPXCHG_OLD => self.cmpxchg(record),
            func::ATOMICRMW | func::ATOMICRMW_OLD => self.atomic_rmw(record),
            func::FENCE => self.fence(record),
            func::VAARG => self.va_arg(record),
            _ => self.control_flow(record),
        }
    }

    fn unop(&mut self, record: &Record) -> Res<()> {
        let mut ops = Ops::new(record, "unary operator");
        let (value, ty) = self.typed_value(&mut ops)?;
        if ops.next()? != 0 {
            return ops.bad();
        }
        let op = UnaryOp::FNeg;
        self.push_value(record, RawInstKind::Unop { op, value }, ty)
    }

    fn binop(&mut self, record: &Record) -> Res<()> {
        let mut ops = Ops::new(record, "binary operator");
        let (lhs, ty) = self.typed_value(&mut ops)?;
        let rhs = self.value_of(&mut ops, ty)?;
        let is_float = self.is_float(ty);
        let Some(op) = binary_op(ops.next()?, is_float) else {
            return ops.bad();
        };
        let flags = if is_float {
            0
        } else {
            ops.peek().unwrap_or(0) as u8
        };
        let kind = RawInstKind::Binop {
            op,
            flags,
            lhs,
            rhs,
        };
        self.push_value(record, kind, ty)
    }

    fn cast(&mut self, record: &Record) -> Res<()> {
        let mut ops = Ops::new(record, "cast");
        let (value, _) = self.typed_value(&mut ops)?;
        let ty = self.type_op(&mut ops)?;
        let Some(op) = cast_op(ops.next()?) else {
            return ops.bad();
        };
        self.push_value(record, RawInstKind::Cast { op, value }, ty)
    }

    fn gep(&mut self, record: &Record) -> Res<()> {
        let mut ops = Ops::new(record, "getelementptr");
        let mut inbounds = record.code == func::INBOUNDS_GEP_OLD;
        let mut source_ty = None;
        if record.code == func::GEP {
            inbounds = ops.next()? & 1 != 0;
            source_ty = Some(self.type_op(&mut ops)?);
        }
        let start = self.pool();
        let (base, base_ty) = self.typed_value(&mut ops)?;
        self.push_operand(RawOperand::value(base));
        let source_ty = match source_ty {
            Some(ty) => ty,
            None => self.pointee(&ops, self.scalar(base_ty))?,
        };
        let mut element = source_ty;
        let mut vector = self.vector_shape(base_ty);
        let mut is_first = true;
        while ops.left() > 0 {
            let (index, index_ty) = self.typed_value(&mut ops)?;
            self.push_operand(RawOperand::value(index));
            vector = vector.or(self.vector_shape(index_ty));
            if !is_first {
                element = match self.ty(element) {
                    RawType::Array { elem, .. } | RawType::Vector { elem, .. } => *elem,
                    RawType::Struct { elems, .. } => {
                        let field = self.const_int(index).and_then(|i| usize::try_from(i).ok());
                        match field.and_then(|i| elems.get(i)) {
                            Some(ty) => *ty,
                            None => return ops.bad(),
                        }
                    }
                    _ => return ops.bad(),
                };
            }
            is_first = false;
        }
        let pointer = match *self.ty(self.scalar(base_ty)) {
            RawType::Pointer { pointee: None, .. } => self.scalar(base_ty),
            RawType::Pointer { addrspace, .. } => {
                ops.result(self.module.lookup.pointer_to(element, addrspace))?
            }
            _ => return ops.mismatch(),
        };
        let ty = match vector {
            Some((len, scalable)) => {
                ops.result(self.module.lookup.vector_of(pointer, len, scalable))?
            }
            None => pointer,
        };
        let kind = RawInstKind::Gep {
            source_ty,
            operands: self.pool_since(start),
            inbounds,
        };
        self.push_value(record, kind, ty)
    }

    fn vector_shape(&self, ty: TypeId) -> Option<(u32, bool)> {
        match self.ty(ty) {
            RawType::Vector { len, scalable, .. } => Some((*len, *scalable)),
            _ => None,
        }
    }

    fn select(&mut self, record: &Record) -> Res<()> {
        let mut ops = Ops::new(record, "select");
        let (then_value, ty) = self.typed_value(&mut ops)?;
        let else_value = self.value_of(&mut ops, ty)?;
        let cond = if record.code == func::VSELECT {
            self.typed_value(&mut ops)?.0
        } else {
            self.value_of(&mut ops, self.module.lookup.bool)?
        };
        let kind = RawInstKind::Select {
            cond,
            then_value,
            else_value,
        };
        self.push_value(record, kind, ty)
    }

    fn vector(&mut self, record: &Record) -> Res<()> {
        let mut ops = Ops::new(record, "vector operation");
        let (vector, ty) = self.typed_value(&mut ops)?;
        let &RawType::Vector { elem, scalable, .. } = self.ty(ty) else {
            return ops.mismatch();
        };
        let (kind, ty) = match record.code {
            func::EXTRACTELT => {
                let (index, _) = self.typed_value(&mut ops)?;
                (RawInstKind::ExtractElement { vector, index }, elem)
            }
            func::INSERTELT => {
                let element = self.value_of(&mut ops, elem)?;
                let (index, _) = self.typed_value(&mut ops)?;
                let kind = RawInstKind::InsertElement {
                    vector,
                    element,
                    index,
                };
                (kind, ty)
            }
            _ => {
                let b = self.value_of(&mut ops, ty)?;
                let (mask, mask_ty) = self.typed_value(&mut ops)?;
                let Some((len, _)) = self.vector_shape(mask_ty) else {
                    return ops.mismatch();
                };
                let result = self.module.lookup.vector_of(elem, len, scalable);
                let kind = RawInstKind::ShuffleVector { a: vector, b, mask };
                (kind, ops.result(result)?)
            }
        };
        self.push_value(record, kind, ty)
    }

    fn cmp(&mut self, record: &Record) -> Res<()> {
        let mut ops = Ops::new(record, "comparison");
        let (lhs, operand_ty) = self.typed_value(&mut ops)?;
        let rhs = self.value_of(&mut ops, operand_ty)?;
        let Some(predicate) = cmp_predicate(ops.next()?) else {
            return ops.bad();
        };
        let bool_ty = self.module.lookup.bool;
        let ty = match self.vector_shape(operand_ty) {
            Some((len, scalable)) => {
                ops.result(self.module.lookup.vector_of(bool_ty, len, scalable))?
            }
            None => bool_ty,
        };
        let kind = RawInstKind::Cmp {
            predicate,
            lhs,
            rhs,
        };
        self.push_value(record, kind, ty)
    }

    /// `extractvalue` and `insertvalue`.
    fn aggregate(&mut self, record: &Record) -> Res<()> {
        let mut ops = Ops::new(record, "aggregate operation");
        let (aggregate, aggregate_ty) = self.typed_value(&mut ops)?;
        let inserted = match record.code {
            func::INSERTVAL => Some(self.typed_value(&mut ops)?),
            _ => None,
        };
        let start = self.pool();
        let mut ty = aggregate_ty;
        if ops.left() == 0 {
            return ops.bad();
        }
        while ops.left() > 0 {
            let index = ops.next()?;
            let (elem, fits) = match self.ty(ty) {
                RawType::Array { elem, len } => (Some(*elem), index < *len),
                RawType::Struct { elems, .. } => (elems.get(index as usize).copied(), true),
                _ => (None, false),
            };
            ty = match elem {
                Some(elem) if fits && index <= u64::from(RawOperand::MAX_NUMBER) => elem,
                _ => return ops.mismatch(),
            };
            self.push_operand(RawOperand::plain(index as u32));
        }
        let indices = self.pool_since(start);
        let Some((element, element_ty)) = inserted else {
            let kind = RawInstKind::ExtractValue { aggregate, indices };
            return self.push_value(record, kind, ty);
        };
        if element_ty != ty {
            return ops.mismatch();
        }
        let kind = RawInstKind::InsertValue {
            aggregate,
            element,
            indices,
        };
        self.push_value(record, kind, aggregate_ty)
    }

    fn freeze(&mut self, record: &Record) -> Res<()> {
        let mut ops = Ops::new(record, "freeze");
        let (value, ty) = self.typed_value(&mut ops)?;
        self.push_value(record, RawInstKind::Freeze { value }, ty)
    }

    fn phi(&mut self, record: &Record) -> Res<()> {
        let mut ops = Ops::new(record, "phi");
        let ty = self.type_op(&mut ops)?;
        let start = self.pool();
        // One operand more than pairs are fast-math flags.
        while ops.left() > 1 {
            let value = self.phi_value(&mut ops, ty)?;
            let block = self.block_op(&mut ops)?;
            self.push_operand(RawOperand::value(value));
            self.push_operand(RawOperand::block(block));
        }
        let incoming = self.pool_since(start);
        self.push_value(record, RawInstKind::Phi { incoming }, ty)
    }

    fn alloca(&mut self, record: &Record) -> Res<()> {
        const INALLOCA: u64 = 1 << 5;
        const EXPLICIT_TYPE: u64 = 1 << 6;
        let mut ops = Ops::new(record, "alloca");
        let stated = self.type_op(&mut ops)?;
        let count_ty = self.type_op(&mut ops)?;
        let count = self.absolute_value(&mut ops, count_ty)?;
        let flags = ops.next()?;
        let (allocated, ty) = if flags & EXPLICIT_TYPE != 0 {
            let addrspace = match ops.peek() {
                Some(addrspace) => addrspace as u32,
                None => self.module.alloca_addrspace,
            };
            let pointer = self.module.lookup.pointer_to(stated, addrspace);
            (stated, ops.result(pointer)?)
        } else {
            (self.pointee(&ops, stated)?, stated)
        };
        if !matches!(self.ty(count_ty), RawType::Integer(_)) {
            return ops.mismatch();
        }
        let kind = RawInstKind::Alloca {
            allocated,
            count,
            inalloca: flags & INALLOCA != 0,
        };
        self.push_value(record, kind, ty)
    }

    /// A pointer operand.
    fn address(&mut self, ops: &mut Ops<'_>) -> Res<(crate::ids::ValueId, TypeId)> {
        let (address, ty) = self.typed_value(ops)?;
        if !self.is_pointer(ty) {
            return ops.mismatch();
        }
        Ok((address, ty))
    }

    fn load(&mut self, record: &Record) -> Res<()> {
        let mut ops = Ops::new(record, "load");
        let (address, address_ty) = self.address(&mut ops)?;
        let is_atomic = record.code == func::LOAD_ATOMIC;
        // [align, volatile] or, atomic, [align, volatile, ordering, scope, elementwise?], with the
        // type before it unless the bitcode is very old.
        let without_type = if is_atomic { 4 } else { 2 };
        let ty = if ops.left() > without_type {
            self.type_op(&mut ops)?
        } else {
            self.pointee(&ops, address_ty)?
        };
        ops.next()?;
        let volatile = ops.next()? != 0;
        let ordering = if is_atomic {
            ordering(ops.next()?)
        } else {
            Ordering::NotAtomic
        };
        let kind = RawInstKind::Load {
            address,
            volatile,
            ordering,
        };
        self.push_value(record, kind, ty)
    }

    fn store(&mut self, record: &Record) -> Res<()> {
        let mut ops = Ops::new(record, "store");
        let (address, address_ty) = self.address(&mut ops)?;
        let value = match record.code {
            func::STORE | func::STORE_ATOMIC => self.typed_value(&mut ops)?.0,
            _ => {
                let ty = self.pointee(&ops, address_ty)?;
                self.value_of(&mut ops, ty)?
            }
        };
        ops.next()?;
        let volatile = ops.next()? != 0;
        let ordering = match record.code {
            func::STORE_ATOMIC | func::STORE_ATOMIC_OLD => ordering(ops.next()?),
            _ => Ordering::NotAtomic,
        };
        self.push_void(RawInstKind::Store {
            address,
            value,
            volatile,
            ordering,
        });
        Ok(())
    }

    fn cmpxchg(&mut self, record: &Record) -> Res<()> {
        let mut ops = Ops::new(record, "cmpxchg");
        let (address, address_ty) = self.address(&mut ops)?;
        let (expected, ty) = if record.code == func::CMPXCHG {
            self.typed_value(&mut ops)?
        } else {
            let ty = self.pointee(&ops, address_ty)?;
            (self.value_of(&mut ops, ty)?, ty)
        };
        let new = self.value_of(&mut ops, ty)?;
        let volatile = ops.next()? != 0;
        // Success ordering, scope, failure ordering, weak. Without the last one (LLVM ≤ 3.4) the
        // instruction returned the plain value.
        let has_weak = ops.left() >= 4;
        let weak = has_weak && record.get(ops.at + 3) != 0;
        let result = if has_weak || record.code == func::CMPXCHG {
            ops.result(self.module.lookup.with_flag(ty))?
        } else {
            ty
        };
        let kind = RawInstKind::CmpXchg {
            address,
            expected,
            new,
            weak,
            volatile,
        };
        self.push_value(record, kind, result)
    }

    fn atomic_rmw(&mut self, record: &Record) -> Res<()> {
        let mut ops = Ops::new(record, "atomicrmw");
        let (address, address_ty) = self.address(&mut ops)?;
        let (value, ty) = if record.code == func::ATOMICRMW {
            self.typed_value(&mut ops)?
        } else {
            let ty = self.pointee(&ops, address_ty)?;
            (self.value_of(&mut ops, ty)?, ty)
        };
        let op = rmw_op(ops.next()?);
        let volatile = ops.next()? != 0;
        let kind = RawInstKind::AtomicRmw {
            op,
            address,
            value,
            volatile,
        };
        self.push_value(record, kind, ty)
    }

    fn fence(&mut self, record: &Record) -> Res<()> {
        let mut ops = Ops::new(record, "fence");
        let ordering = ordering(ops.next()?);
        self.push_void(RawInstKind::Fence { ordering });
        Ok(())
    }

    fn va_arg(&mut self, record: &Record) -> Res<()> {
        let mut ops = Ops::new(record, "va_arg");
        let list_ty = self.type_op(&mut ops)?;
        let list = self.value_of(&mut ops, list_ty)?;
        let ty = self.type_op(&mut ops)?;
        self.push_value(record, RawInstKind::VaArg { list }, ty)
    }

    pub(super) fn unknown(&self, record: &Record) -> Res<()> {
        let (block, code) = ("instruction", u64::from(record.code));
        fail(record.bit, ErrorKind::UnknownRecord { block, code })
    }
}

fn ordering(code: u64) -> Ordering {
    match code {
        0 => Ordering::NotAtomic,
        1 => Ordering::Unordered,
        2 => Ordering::Monotonic,
        3 => Ordering::Acquire,
        4 => Ordering::Release,
        5 => Ordering::AcqRel,
        // As LLVM: what is unknown is the strongest one.
        _ => Ordering::SeqCst,
    }
}

fn rmw_op(code: u64) -> RmwOp {
    match code {
        0 => RmwOp::Xchg,
        1 => RmwOp::Add,
        2 => RmwOp::Sub,
        3 => RmwOp::And,
        4 => RmwOp::Nand,
        5 => RmwOp::Or,
        6 => RmwOp::Xor,
        7 => RmwOp::Max,
        8 => RmwOp::Min,
        9 => RmwOp::UMax,
        10 => RmwOp::UMin,
        other => RmwOp::Other(other as u8),
    }
}
