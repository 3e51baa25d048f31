//! Operands of instruction records: relative numbers, forward references with explicit types, type
//! numbers, block numbers.

use super::BodyReader;
use crate::bitstream::{Record, Res, fail};
use crate::constant::RawConst;
use crate::constant_reader::unrotate;
use crate::error::ErrorKind;
use crate::ids::{BlockId, PoolRange, TypeId, ValueId};
use crate::inst::RawOperand;
use crate::raw::RawType;

/// The operands of one record, taken one after the other.
pub(super) struct Ops<'r> {
    ops: &'r [u64],
    pub at: usize,
    pub bit: u64,
    what: &'static str,
}

impl<'r> Ops<'r> {
    pub fn new(record: &'r Record, what: &'static str) -> Self {
        Self {
            ops: &record.ops,
            at: 0,
            bit: record.bit,
            what,
        }
    }

    /// The record does not have the shape that it should have.
    #[cold]
    pub fn bad<T>(&self) -> Res<T> {
        fail(self.bit, ErrorKind::InvalidRecord(self.what))
    }

    #[cold]
    pub fn mismatch<T>(&self) -> Res<T> {
        fail(self.bit, ErrorKind::TypeMismatch(self.what))
    }

    /// A result type that the table lacks.
    pub fn result<T>(&self, ty: Option<T>) -> Res<T> {
        match ty {
            Some(ty) => Ok(ty),
            None => fail(self.bit, ErrorKind::NoResultType(self.what)),
        }
    }

    #[inline]
    pub fn next(&mut self) -> Res<u64> {
        match self.ops.get(self.at) {
            Some(op) => {
                self.at += 1;
                Ok(*op)
            }
            None => self.bad(),
        }
    }

    /// The next operand, without taking it.
    pub fn peek(&self) -> Option<u64> {
        self.ops.get(self.at).copied()
    }

    pub fn left(&self) -> usize {
        self.ops.len() - self.at
    }
}

impl BodyReader<'_> {
    pub(super) fn ty(&self, id: TypeId) -> &RawType {
        // Type numbers are checked when they are read.
        &self.module.types[id.index()]
    }

    pub(super) fn type_op(&self, ops: &mut Ops<'_>) -> Res<TypeId> {
        let op = ops.next()?;
        if op >= self.module.types.len() as u64 {
            return fail(ops.bit, ErrorKind::NoSuchType(op));
        }
        Ok(TypeId(op as u32))
    }

    pub(super) fn block_op(&self, ops: &mut Ops<'_>) -> Res<BlockId> {
        let op = ops.next()?;
        if op >= self.declared_blocks || op > u64::from(RawOperand::MAX_NUMBER) {
            return fail(ops.bit, ErrorKind::NoSuchBlock(op));
        }
        Ok(BlockId(op as u32))
    }

    /// Type of a value that is already defined.
    fn type_of(&self, id: u32) -> Option<TypeId> {
        match id.checked_sub(self.body.first_value) {
            Some(index) => self.body.value_types.get(index as usize).copied(),
            None => self.module.value_types.get(id as usize).copied(),
        }
    }

    #[inline]
    fn absolute(&self, op: u64) -> u32 {
        if self.relative {
            self.next_value().wrapping_sub(op as u32)
        } else {
            op as u32
        }
    }

    fn use_value(&mut self, ops: &Ops<'_>, id: u32, ty: TypeId) -> Res<ValueId> {
        if id < self.next_value() {
            if self.type_of(id) != Some(ty) {
                return ops.mismatch();
            }
        } else if id > RawOperand::MAX_NUMBER {
            return fail(ops.bit, ErrorKind::NoSuchValue(u64::from(id)));
        } else {
            self.forward.push((id, ty));
        }
        Ok(ValueId(id))
    }

    /// A value whose type follows from its definition, or is stated when that comes later.
    #[inline]
    pub(super) fn typed_value(&mut self, ops: &mut Ops<'_>) -> Res<(ValueId, TypeId)> {
        let op = ops.next()?;
        let id = self.absolute(op);
        if id < self.next_value() {
            return match self.type_of(id) {
                Some(ty) => Ok((ValueId(id), ty)),
                None => fail(ops.bit, ErrorKind::NoSuchValue(u64::from(id))),
            };
        }
        let ty = self.type_op(ops)?;
        Ok((self.use_value(ops, id, ty)?, ty))
    }

    /// A value of a type that the record implies.
    #[inline]
    pub(super) fn value_of(&mut self, ops: &mut Ops<'_>, ty: TypeId) -> Res<ValueId> {
        let op = ops.next()?;
        let id = self.absolute(op);
        self.use_value(ops, id, ty)
    }

    /// A value by its absolute number.
    pub(super) fn absolute_value(&mut self, ops: &mut Ops<'_>, ty: TypeId) -> Res<ValueId> {
        let op = ops.next()?;
        let id = u32::try_from(op).unwrap_or(u32::MAX);
        self.use_value(ops, id, ty)
    }

    /// A phi's operand: relative with a sign.
    pub(super) fn phi_value(&mut self, ops: &mut Ops<'_>, ty: TypeId) -> Res<ValueId> {
        let op = ops.next()?;
        let id = if self.relative {
            self.next_value().wrapping_sub(unrotate(op) as u32)
        } else {
            op as u32
        };
        self.use_value(ops, id, ty)
    }

    /// An argument of a parameter type; metadata and labels are not values.
    pub(super) fn argument(&mut self, ops: &mut Ops<'_>, ty: TypeId) -> Res<RawOperand> {
        match self.ty(ty) {
            RawType::Metadata => {
                let op = ops.next()?;
                let id = self.absolute(op);
                if id > RawOperand::MAX_NUMBER {
                    return ops.bad();
                }
                Ok(RawOperand::metadata(crate::ids::MetadataId(id)))
            }
            RawType::Label => Ok(RawOperand::block(self.block_op(ops)?)),
            _ => Ok(RawOperand::value(self.value_of(ops, ty)?)),
        }
    }

    pub(super) fn pool(&self) -> usize {
        self.body.operands.len()
    }

    pub(super) fn push_operand(&mut self, operand: RawOperand) {
        self.body.operands.push(operand);
    }

    /// The operands added since the pool had this length.
    pub(super) fn pool_since(&self, start: usize) -> PoolRange {
        PoolRange {
            start: start as u32,
            len: (self.body.operands.len() - start) as u32,
        }
    }

    /// Element type of a vector, else the type itself.
    pub(super) fn scalar(&self, ty: TypeId) -> TypeId {
        match self.ty(ty) {
            RawType::Vector { elem, .. } => *elem,
            _ => ty,
        }
    }

    pub(super) fn is_float(&self, ty: TypeId) -> bool {
        matches!(self.ty(self.scalar(ty)), RawType::Float(_))
    }

    pub(super) fn is_pointer(&self, ty: TypeId) -> bool {
        matches!(self.ty(ty), RawType::Pointer { .. })
    }

    /// What a typed pointer points to.
    pub(super) fn pointee(&self, ops: &Ops<'_>, ty: TypeId) -> Res<TypeId> {
        match self.ty(ty) {
            RawType::Pointer {
                pointee: Some(pointee),
                ..
            } => Ok(*pointee),
            _ => ops.mismatch(),
        }
    }

    /// The integer that a constant operand stands for (of a vector: its first element).
    pub(super) fn const_int(&self, id: ValueId) -> Option<i64> {
        // Nested once at most: a vector of integers.
        self.const_int_at(id, 2)
    }

    fn const_int_at(&self, id: ValueId, depth: u32) -> Option<i64> {
        let (constant, table) = self.body.constant(self.module, id)?;
        match constant.kind {
            RawConst::Int(number) => Some(number),
            RawConst::Null => Some(0),
            RawConst::Data(range) => range.of(&table.words).first().map(|word| *word as i64),
            RawConst::Aggregate(range) => {
                let first = *range.of(&table.operands).first()?;
                self.const_int_at(first, depth.checked_sub(1)?)
            }
            _ => None,
        }
    }
}
