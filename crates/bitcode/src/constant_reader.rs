//! Reads CONSTANTS blocks (of a module or a function) into a [`ConstTable`].
//!
//! Invariants after reading: every operand is a number that the caller can check with
//! [`check_constants`] once all values are known; no constant contains itself.

use crate::bitstream::{Block, BlockHeader, BlockInfo, Item, Record, Res, fail};
use crate::codes::cst;
use crate::constant::{ConstTable, RawConst, RawConstant};
use crate::error::ErrorKind;
use crate::ids::{BlockId, PoolRange, TypeId, ValueId};
use crate::inst::{BinaryOp, CastOp, CmpPredicate, UnaryOp};
use crate::raw::{FloatKind, RawType};
use crate::types::check_nesting;

/// What to do with a constant of an unknown kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unknown {
    /// Fail: in a function, where only that body is lost.
    Refuse,
    /// Keep it as [`RawConst::Unknown`]: in the module, which has to survive.
    Keep,
}

/// Reader of one CONSTANTS block.
pub(crate) struct ConstantReader<'a> {
    pub types: &'a [RawType],
    pub default_ty: TypeId,
    pub unknown: Unknown,
    pub table: &'a mut ConstTable,
}

/// A number stored with its sign in the lowest bit.
pub(crate) fn unrotate(value: u64) -> i64 {
    match value {
        // "-0" stands for the smallest number.
        1 => i64::MIN,
        v if v & 1 == 0 => (v >> 1) as i64,
        v => ((v >> 1) as i64).wrapping_neg(),
    }
}

fn value(op: u64) -> ValueId {
    ValueId(u32::try_from(op).unwrap_or(u32::MAX))
}

fn push<T>(pool: &mut Vec<T>, items: impl Iterator<Item = T>) -> PoolRange {
    let start = pool.len() as u32;
    pool.extend(items);
    PoolRange {
        start,
        len: pool.len() as u32 - start,
    }
}

impl ConstantReader<'_> {
    /// Reads the block; returns how many constants it has.
    pub fn read(&mut self, data: &[u8], header: BlockHeader, info: &BlockInfo) -> Res<usize> {
        let first = self.table.constants.len();
        let mut block = Block::new(data, header, info);
        let mut record = Record::default();
        let mut ty = self.default_ty;
        loop {
            match block.next(&mut record)? {
                Item::End => break,
                Item::Block(_) => {}
                Item::Record if record.code == cst::SETTYPE => {
                    ty = self.type_id(&record, record.get(0))?;
                    if matches!(self.types[ty.index()], RawType::Void) {
                        return fail(record.bit, ErrorKind::TypeMismatch("a constant"));
                    }
                }
                Item::Record => {
                    let kind = self.constant(&record, ty)?;
                    self.table.constants.push(RawConstant { ty, kind });
                }
            }
        }
        Ok(self.table.constants.len() - first)
    }

    fn type_id(&self, record: &Record, op: u64) -> Res<TypeId> {
        if op >= self.types.len() as u64 {
            return fail(record.bit, ErrorKind::NoSuchType(op));
        }
        Ok(TypeId(op as u32))
    }

    /// Element type of a vector, else the type itself.
    fn scalar(&self, ty: TypeId) -> &RawType {
        let this = &self.types[ty.index()];
        match this {
            RawType::Vector { elem, .. } => self.types.get(elem.index()).unwrap_or(this),
            _ => this,
        }
    }

    fn constant(&mut self, record: &Record, ty: TypeId) -> Res<RawConst> {
        let ops = &record.ops[..];
        Ok(match (record.code, ops) {
            (cst::NULL, _) => RawConst::Null,
            (cst::UNDEF, _) => RawConst::Undef,
            (cst::POISON, _) => RawConst::Poison,
            (cst::INTEGER | cst::BYTE, &[number, ..]) => RawConst::Int(unrotate(number)),
            (cst::WIDE_INTEGER | cst::WIDE_BYTE, [_, ..]) => {
                let words = ops.iter().map(|w| unrotate(*w) as u64);
                RawConst::WideInt(push(&mut self.table.words, words))
            }
            (cst::FLOAT, [_, ..]) => self.float(record, ty)?,
            (cst::AGGREGATE, [_, ..]) => {
                let elements = ops.iter().map(|v| value(*v));
                RawConst::Aggregate(push(&mut self.table.operands, elements))
            }
            (cst::STRING, _) => RawConst::String(self.bytes(ops, false)),
            (cst::CSTRING, _) => RawConst::String(self.bytes(ops, true)),
            (cst::DATA, [_, ..]) => {
                RawConst::Data(push(&mut self.table.words, ops.iter().copied()))
            }
            (cst::BLOCKADDRESS, &[_, function, block, ..]) => RawConst::BlockAddress {
                function: value(function),
                block: BlockId(u32::try_from(block).unwrap_or(u32::MAX)),
            },
            (cst::DSO_LOCAL_EQUIVALENT, &[_, global, ..]) => {
                RawConst::DsoLocalEquivalent(value(global))
            }
            (cst::NO_CFI, &[_, function, ..]) => RawConst::NoCfi(value(function)),
            (cst::PTRAUTH | cst::PTRAUTH2, &[pointer, ..]) => RawConst::PtrAuth(value(pointer)),
            (cst::INLINEASM_OLD | cst::INLINEASM_OLD2 | cst::INLINEASM_OLD3, _) => {
                self.inline_asm(record, 0, None)?
            }
            (cst::INLINEASM, &[function_ty, ..]) => {
                let function_ty = self.type_id(record, function_ty)?;
                self.inline_asm(record, 1, Some(function_ty))?
            }
            _ => return self.expression(record, ty),
        })
    }

    fn bytes(&mut self, ops: &[u64], terminated: bool) -> PoolRange {
        let nul = terminated.then_some(0);
        let bytes = ops.iter().map(|c| *c as u8).chain(nul);
        push(&mut self.table.bytes, bytes)
    }

    fn float(&mut self, record: &Record, ty: TypeId) -> Res<RawConst> {
        let (a, b) = (record.get(0), record.get(1));
        let words = match self.scalar(ty) {
            RawType::Float(FloatKind::Half | FloatKind::BFloat) => {
                return Ok(RawConst::Float(a & 0xffff));
            }
            RawType::Float(FloatKind::Float) => return Ok(RawConst::Float(a & 0xffff_ffff)),
            RawType::Float(FloatKind::Double) => return Ok(RawConst::Float(a)),
            // The first word holds the upper 64 of the 80 bits.
            RawType::Float(FloatKind::X86Fp80) => [(b & 0xffff) | a << 16, a >> 48],
            RawType::Float(FloatKind::Fp128 | FloatKind::PpcFp128) => [a, b],
            _ => {
                return fail(
                    record.bit,
                    ErrorKind::TypeMismatch("a floating-point constant"),
                );
            }
        };
        let range = push(&mut self.table.words, words.into_iter());
        Ok(RawConst::WideFloat(range))
    }

    fn inline_asm(
        &mut self,
        record: &Record,
        at: usize,
        function_ty: Option<TypeId>,
    ) -> Res<RawConst> {
        let parts = || -> Option<(u64, &[u64], &[u64])> {
            let (flags, rest) = record.ops.get(at..)?.split_first()?;
            let (len, rest) = rest.split_first()?;
            let (text, rest) = rest.split_at_checked(usize::try_from(*len).ok()?)?;
            let (len, rest) = rest.split_first()?;
            let constraints = rest.get(..usize::try_from(*len).ok()?)?;
            Some((*flags, text, constraints))
        };
        let Some((flags, text, constraints)) = parts() else {
            return fail(record.bit, ErrorKind::InvalidRecord("inline assembly"));
        };
        Ok(RawConst::InlineAsm {
            text: self.bytes(text, false),
            constraints: self.bytes(constraints, false),
            side_effects: flags & 1 != 0,
            function_ty,
        })
    }

    fn expression(&mut self, record: &Record, ty: TypeId) -> Res<RawConst> {
        let ops = &record.ops[..];
        let kind = match (record.code, ops) {
            (cst::CE_UNOP, &[0, operand, ..]) => Some(RawConst::Unop {
                op: UnaryOp::FNeg,
                value: value(operand),
            }),
            (cst::CE_BINOP, &[op, lhs, rhs, ..]) => {
                let is_float = matches!(self.scalar(ty), RawType::Float(_));
                binary_op(op, is_float).map(|op| RawConst::Binop {
                    op,
                    flags: if is_float { 0 } else { record.get(3) as u8 },
                    lhs: value(lhs),
                    rhs: value(rhs),
                })
            }
            (cst::CE_CAST, &[op, from, operand, ..]) => {
                let from = self.type_id(record, from)?;
                cast_op(op).map(|op| RawConst::Cast {
                    op,
                    from,
                    value: value(operand),
                })
            }
            (cst::CE_SELECT, &[cond, then_value, else_value, ..]) => Some(RawConst::Select {
                cond: value(cond),
                then_value: value(then_value),
                else_value: value(else_value),
            }),
            (cst::CE_CMP, &[_, lhs, rhs, predicate, ..]) => {
                cmp_predicate(predicate).map(|predicate| RawConst::Cmp {
                    predicate,
                    lhs: value(lhs),
                    rhs: value(rhs),
                })
            }
            (
                cst::CE_GEP_OLD
                | cst::CE_INBOUNDS_GEP
                | cst::CE_GEP_INRANGE_INDEX_OLD
                | cst::CE_GEP_INRANGE
                | cst::CE_GEP,
                _,
            ) => return self.gep(record),
            _ => vector_expression(record),
        };
        match kind {
            Some(kind) => Ok(kind),
            None if self.unknown == Unknown::Keep => Ok(RawConst::Unknown { code: record.code }),
            None => {
                let (block, code) = ("constant", u64::from(record.code));
                fail(record.bit, ErrorKind::UnknownRecord { block, code })
            }
        }
    }

    /// Address computation, in all forms: with or without source type, flags, and `inrange`.
    fn gep(&mut self, record: &Record) -> Res<RawConst> {
        let bad = || {
            fail(
                record.bit,
                ErrorKind::InvalidRecord("constant getelementptr"),
            )
        };
        let code = record.code;
        let has_flags = matches!(
            code,
            cst::CE_GEP_INRANGE_INDEX_OLD | cst::CE_GEP_INRANGE | cst::CE_GEP
        );
        let mut at = 0;
        let mut source_ty = None;
        if has_flags || record.ops.len() % 2 == 1 {
            source_ty = Some(self.type_id(record, record.get(0))?);
            at = 1;
        }
        let mut inbounds = code == cst::CE_INBOUNDS_GEP;
        if has_flags {
            inbounds = record.get(at) & 1 != 0;
            at += 1;
        }
        if code == cst::CE_GEP_INRANGE {
            at += match record.get(at) {
                width if width <= 64 => 3,
                _ => {
                    let counts = record.get(at + 1);
                    2 + (counts & 0xffff_ffff) as usize + (counts >> 32) as usize
                }
            };
        }
        let pairs = record.ops.get(at..).unwrap_or(&[]);
        if pairs.is_empty() || pairs.len() % 2 != 0 {
            return bad();
        }
        if source_ty.is_none() {
            let base = self.type_id(record, pairs[0])?;
            source_ty = match self.scalar(base) {
                RawType::Pointer { pointee, .. } => *pointee,
                _ => None,
            };
        }
        let Some(source_ty) = source_ty else {
            return bad();
        };
        let operands = pairs.chunks_exact(2).map(|pair| value(pair[1]));
        Ok(RawConst::Gep {
            source_ty,
            operands: push(&mut self.table.operands, operands),
            inbounds,
        })
    }
}

/// Constant expressions on vectors.
fn vector_expression(record: &Record) -> Option<RawConst> {
    Some(match (record.code, &record.ops[..]) {
        (cst::CE_EXTRACTELT, &[_, vector, _, index] | &[_, vector, index]) => {
            RawConst::ExtractElement {
                vector: value(vector),
                index: value(index),
            }
        }
        (cst::CE_INSERTELT, &[vector, element, _, index] | &[vector, element, index]) => {
            RawConst::InsertElement {
                vector: value(vector),
                element: value(element),
                index: value(index),
            }
        }
        (cst::CE_SHUFFLEVEC, &[a, b, mask, ..]) | (cst::CE_SHUFVEC_EX, &[_, a, b, mask, ..]) => {
            RawConst::ShuffleVector {
                a: value(a),
                b: value(b),
                mask: value(mask),
            }
        }
        _ => return None,
    })
}

/// Binary operator by bitcode's number.
pub(crate) fn binary_op(op: u64, is_float: bool) -> Option<BinaryOp> {
    use BinaryOp::*;
    const INT: [BinaryOp; 13] = [
        Add, Sub, Mul, UDiv, SDiv, URem, SRem, Shl, LShr, AShr, And, Or, Xor,
    ];
    if !is_float {
        return INT.get(usize::try_from(op).ok()?).copied();
    }
    Some(match op {
        0 => FAdd,
        1 => FSub,
        2 => FMul,
        4 => FDiv,
        6 => FRem,
        _ => return None,
    })
}

/// Cast by bitcode's number.
pub(crate) fn cast_op(op: u64) -> Option<CastOp> {
    use CastOp::*;
    const CASTS: [CastOp; 14] = [
        Trunc,
        ZExt,
        SExt,
        FpToUi,
        FpToSi,
        UiToFp,
        SiToFp,
        FpTrunc,
        FpExt,
        PtrToInt,
        IntToPtr,
        BitCast,
        AddrSpaceCast,
        PtrToAddr,
    ];
    CASTS.get(usize::try_from(op).ok()?).copied()
}

/// Comparison predicate by LLVM's number.
pub(crate) fn cmp_predicate(predicate: u64) -> Option<CmpPredicate> {
    use CmpPredicate::*;
    const FLOAT: [CmpPredicate; 16] = [
        FFalse, FOeq, FOgt, FOge, FOlt, FOle, FOne, FOrd, FUno, FUeq, FUgt, FUge, FUlt, FUle, FUne,
        FTrue,
    ];
    const FIRST_INT: u64 = 32;
    const INT: [CmpPredicate; 10] = [Eq, Ne, Ugt, Uge, Ult, Ule, Sgt, Sge, Slt, Sle];
    match predicate.checked_sub(FIRST_INT) {
        Some(index) => INT.get(usize::try_from(index).ok()?).copied(),
        None => FLOAT.get(predicate as usize).copied(),
    }
}

/// The operands of a constant: at most three of its own, or a range of the pool.
fn operands<'t>(
    table: &'t ConstTable,
    kind: &'t RawConst,
) -> ([Option<ValueId>; 3], &'t [ValueId]) {
    let own = |a, b, c| ([a, b, c], &[][..]);
    match *kind {
        RawConst::Aggregate(range) => ([None; 3], range.of(&table.operands)),
        RawConst::Gep { operands, .. } => ([None; 3], operands.of(&table.operands)),
        RawConst::Unop { value, .. }
        | RawConst::Cast { value, .. }
        | RawConst::DsoLocalEquivalent(value)
        | RawConst::NoCfi(value)
        | RawConst::PtrAuth(value)
        | RawConst::BlockAddress {
            function: value, ..
        } => own(Some(value), None, None),
        RawConst::Binop { lhs, rhs, .. } | RawConst::Cmp { lhs, rhs, .. } => {
            own(Some(lhs), Some(rhs), None)
        }
        RawConst::Select {
            cond,
            then_value,
            else_value,
        } => own(Some(cond), Some(then_value), Some(else_value)),
        RawConst::ExtractElement { vector, index } => own(Some(vector), Some(index), None),
        RawConst::InsertElement {
            vector,
            element,
            index,
        } => own(Some(vector), Some(element), Some(index)),
        RawConst::ShuffleVector { a, b, mask } => own(Some(a), Some(b), Some(mask)),
        _ => own(None, None, None),
    }
}

/// What [`check_constants`] has to know about the values that constants refer to.
pub(crate) struct Checks<'t, I, T> {
    pub types: &'t [RawType],
    /// Where in the table the constant with this number stands, if it is one of the table's.
    pub index_of: I,
    /// Type of any value; `None` when it does not exist.
    pub type_of: T,
    /// Position for errors.
    pub bit: u64,
}

/// Checks that all operands exist, that aggregates fit their types, and that no constant contains
/// itself.
pub(crate) fn check_constants<I, T>(table: &ConstTable, checks: &Checks<'_, I, T>) -> Res<()>
where
    I: Fn(ValueId) -> Option<usize>,
    T: Fn(ValueId) -> Option<TypeId>,
{
    // Flattened, because a constant has its operands in one of two places.
    let mut flat: Vec<ValueId> = Vec::new();
    let mut ranges: Vec<PoolRange> = Vec::new();
    for (index, constant) in table.constants.iter().enumerate() {
        check_shape(table, constant, checks)?;
        let (own, list) = operands(table, &constant.kind);
        if own[0].is_none() && list.is_empty() {
            continue;
        }
        ranges.resize(index, PoolRange::default());
        let all = own.into_iter().flatten().chain(list.iter().copied());
        ranges.push(push(&mut flat, all));
    }
    for id in &flat {
        if (checks.type_of)(*id).is_none() {
            return fail(checks.bit, ErrorKind::NoSuchValue(u64::from(id.0)));
        }
    }
    let children = |index: usize| ranges[index].of(&flat);
    check_nesting(ranges.len(), children, &checks.index_of, checks.bit)
}

/// Checks number and types of an aggregate's elements, and the length of strings and data.
fn check_shape<I, T>(
    table: &ConstTable,
    constant: &RawConstant,
    checks: &Checks<'_, I, T>,
) -> Res<()>
where
    T: Fn(ValueId) -> Option<TypeId>,
{
    let (count, elements) = match constant.kind {
        RawConst::Aggregate(range) => (range.len(), range.of(&table.operands)),
        RawConst::String(range) | RawConst::Data(range) => (range.len(), &[][..]),
        _ => return Ok(()),
    };
    let has_type = |id: &ValueId, ty: TypeId| (checks.type_of)(*id) == Some(ty);
    let fits = match &checks.types[constant.ty.index()] {
        RawType::Struct { elems, .. } => {
            elems.len() == count && elements.iter().zip(elems).all(|(id, ty)| has_type(id, *ty))
        }
        RawType::Array { len, elem } => {
            *len == count as u64 && elements.iter().all(|id| has_type(id, *elem))
        }
        RawType::Vector { len, elem, .. } => {
            *len as usize == count && elements.iter().all(|id| has_type(id, *elem))
        }
        _ => false,
    };
    if !fits {
        return fail(checks.bit, ErrorKind::TypeMismatch("an aggregate constant"));
    }
    Ok(())
}
