//! Which number, address or unknown is a constant?
//!
//! Constant expressions over addresses reduce to object + byte offset; integer arithmetic on such addresses is followed
//! as long as it stays an address (`inttoptr (add (ptrtoint @g), 8)`). What does not reduce is opaque: one unknown
//! value. Functions inside an opaque expression count as address-taken.

use drip_bitcode as bc;

use super::context::{Context, Linked};
use crate::ids::{FuncId, GlobalId};
use crate::types::Type;

/// Steps that folding one constant may take; beyond it the constant is opaque. Real expressions need fewer than ten; the
/// bound stops expressions that share operands to an exponential size.
const FOLD_FUEL: u32 = 4096;

/// Expressions nested deeper than this are opaque; clang nests three or four.
const FOLD_DEPTH: u32 = 64;

/// What an address is relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    /// A bare number as pointer.
    Null,
    Global(GlobalId),
    Func(FuncId),
}

/// A constant, as far as it reduces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Folded {
    /// At most 64 bits, zero-extended from the type's width.
    Int(u64),
    Addr {
        base: Base,
        offset: i64,
    },
    /// An address as integer of pointer width.
    AddrInt {
        base: Base,
        offset: i64,
    },
    /// As the bits of a double.
    Float(u64),
    /// All-zero struct, array or vector.
    Zero,
    Undef,
    /// Struct, array or vector: its elements stand in the raw constant.
    Aggregate,
    Opaque,
}

/// Where constants are looked up: the module's, and those of one body.
#[derive(Clone, Copy)]
pub(crate) struct Folder<'a> {
    pub cx: Context<'a>,
    pub body: Option<&'a bc::RawBody>,
}

impl<'a> Folder<'a> {
    /// The raw constant behind a value number, with the table that holds its pools.
    pub fn constant(&self, id: bc::ValueId) -> Option<(bc::RawConstant, &'a bc::ConstTable)> {
        if let Some(body) = self.body
            && let Some(local) = body.local(id)
        {
            return match local {
                bc::LocalValue::Constant(i) => {
                    Some((*body.constants.constants.get(i as usize)?, &body.constants))
                }
                _ => None,
            };
        }
        Some((*self.cx.module.constant(id)?, &self.cx.module.constants))
    }

    pub fn fold(&self, id: bc::ValueId) -> Folded {
        let mut fuel = FOLD_FUEL;
        self.go(id, &mut fuel, 0)
    }

    /// An integer constant of at most 64 bits, sign-extended.
    pub fn int(&self, id: bc::ValueId) -> Option<i64> {
        match self.constant(id)?.0.kind {
            bc::RawConst::Int(value) => Some(value),
            bc::RawConst::Null => Some(0),
            _ => None,
        }
    }

    fn go(&self, id: bc::ValueId, fuel: &mut u32, depth: u32) -> Folded {
        if *fuel == 0 || depth > FOLD_DEPTH {
            return Folded::Opaque;
        }
        *fuel -= 1;
        let linked = match self.body.is_some_and(|b| b.local(id).is_some()) {
            true => None,
            false => self
                .cx
                .module
                .value(id)
                .and_then(|value| self.cx.linked(value)),
        };
        match linked {
            Some(Linked::Func(func)) => {
                return Folded::Addr {
                    base: Base::Func(func),
                    offset: 0,
                };
            }
            Some(Linked::Global { global, offset }) => {
                return Folded::Addr {
                    base: Base::Global(global),
                    offset,
                };
            }
            Some(Linked::Nothing) => return Folded::Opaque,
            None => {}
        }
        let Some((constant, table)) = self.constant(id) else {
            return Folded::Opaque;
        };
        self.raw(constant, table, fuel, depth + 1)
    }

    fn raw(
        &self,
        constant: bc::RawConstant,
        table: &bc::ConstTable,
        fuel: &mut u32,
        depth: u32,
    ) -> Folded {
        use bc::RawConst as C;
        match constant.kind {
            C::Null => self.null_of(constant.ty),
            C::Undef | C::Poison => Folded::Undef,
            C::Int(value) => Folded::Int(self.mask(constant.ty, value as u64)),
            C::Float(bits) => self.float(constant.ty, bits),
            C::Aggregate(_) | C::String(_) | C::Data(_) => Folded::Aggregate,
            C::Cast { op, value, from } => {
                let inner = self.go(value, fuel, depth);
                self.cast(op, from, constant.ty, inner)
            }
            C::Gep {
                source_ty,
                operands,
                ..
            } => self.gep(source_ty, operands.of(&table.operands), fuel, depth),
            C::Binop { op, lhs, rhs, .. } => {
                let (a, b) = (self.go(lhs, fuel, depth), self.go(rhs, fuel, depth));
                self.binary(op, constant.ty, a, b)
            }
            C::DsoLocalEquivalent(value) | C::NoCfi(value) | C::PtrAuth(value) => {
                self.go(value, fuel, depth)
            }
            C::Select {
                then_value,
                else_value,
                ..
            } => self.give_up(&[
                self.go(then_value, fuel, depth),
                self.go(else_value, fuel, depth),
            ]),
            C::WideInt(_)
            | C::WideFloat(_)
            | C::Unop { .. }
            | C::ExtractElement { .. }
            | C::InsertElement { .. }
            | C::ShuffleVector { .. }
            | C::Cmp { .. }
            | C::BlockAddress { .. }
            | C::InlineAsm { .. }
            | C::Unknown { .. } => Folded::Opaque,
        }
    }

    /// An expression that does not reduce: the functions in it may be called by whoever gets the value.
    fn give_up(&self, operands: &[Folded]) -> Folded {
        for operand in operands {
            if let Folded::Addr {
                base: Base::Func(f),
                ..
            }
            | Folded::AddrInt {
                base: Base::Func(f),
                ..
            } = operand
            {
                self.cx.mark_taken(*f);
            }
        }
        Folded::Opaque
    }

    fn null_of(&self, ty: bc::TypeId) -> Folded {
        match self.cx.types.get(self.cx.ty(ty)) {
            Type::Ptr => Folded::Addr {
                base: Base::Null,
                offset: 0,
            },
            Type::Int(width) if *width <= 64 => Folded::Int(0),
            Type::Float(_) => Folded::Float(0),
            Type::Struct(_) | Type::Array { .. } | Type::Vector { .. } => Folded::Zero,
            _ => Folded::Opaque,
        }
    }

    fn width(&self, ty: bc::TypeId) -> Option<u32> {
        self.cx.types.int_width(self.cx.ty(ty)).filter(|w| *w <= 64)
    }

    fn mask(&self, ty: bc::TypeId, value: u64) -> u64 {
        match self.width(ty) {
            Some(width) => truncate(value, width),
            None => value,
        }
    }

    pub fn float(&self, ty: bc::TypeId, bits: u64) -> Folded {
        match self.cx.module.ty(ty) {
            Some(bc::RawType::Float(bc::FloatKind::Double)) => Folded::Float(bits),
            Some(bc::RawType::Float(bc::FloatKind::Float)) => {
                Folded::Float(f64::from(f32::from_bits(bits as u32)).to_bits())
            }
            Some(bc::RawType::Float(bc::FloatKind::BFloat)) => {
                Folded::Float(f64::from(f32::from_bits((bits as u32) << 16)).to_bits())
            }
            _ => Folded::Opaque,
        }
    }

    fn cast(&self, op: bc::CastOp, from: bc::TypeId, to: bc::TypeId, inner: Folded) -> Folded {
        use bc::CastOp as C;
        let pointer_bits = self.cx.types.layout.pointer_bytes * 8;
        match (op, inner) {
            (_, Folded::Undef) => Folded::Undef,
            (C::BitCast | C::AddrSpaceCast, same) if self.cx.ty(from) == self.cx.ty(to) => same,
            (
                C::PtrToInt | C::PtrToAddr,
                Folded::Addr {
                    base: Base::Null,
                    offset,
                },
            ) => match self.width(to) {
                Some(width) => Folded::Int(truncate(offset as u64, width)),
                None => Folded::Opaque,
            },
            (C::PtrToInt | C::PtrToAddr, Folded::Addr { base, offset })
                if self.width(to).is_some_and(|w| u64::from(w) == pointer_bits) =>
            {
                Folded::AddrInt { base, offset }
            }
            (C::IntToPtr, Folded::AddrInt { base, offset }) => Folded::Addr { base, offset },
            (C::IntToPtr, Folded::Int(bits)) => Folded::Addr {
                base: Base::Null,
                offset: bits as i64,
            },
            (C::Trunc | C::ZExt, Folded::Int(bits)) => Folded::Int(self.mask(to, bits)),
            (C::SExt, Folded::Int(bits)) => match self.width(from) {
                Some(width) => Folded::Int(self.mask(to, sign_extend(bits, width) as u64)),
                None => Folded::Opaque,
            },
            (_, other) => self.give_up(&[other]),
        }
    }

    fn binary(&self, op: bc::BinaryOp, ty: bc::TypeId, a: Folded, b: Folded) -> Folded {
        use bc::BinaryOp as B;
        match (op, a, b) {
            (B::Add, Folded::AddrInt { base, offset }, Folded::Int(n))
            | (B::Add, Folded::Int(n), Folded::AddrInt { base, offset }) => Folded::AddrInt {
                base,
                offset: offset.wrapping_add(n as i64),
            },
            (B::Sub, Folded::AddrInt { base, offset }, Folded::Int(n)) => Folded::AddrInt {
                base,
                offset: offset.wrapping_sub(n as i64),
            },
            (
                B::Sub,
                Folded::AddrInt { base, offset },
                Folded::AddrInt {
                    base: other,
                    offset: minus,
                },
            ) if base == other => Folded::Int(self.mask(ty, offset.wrapping_sub(minus) as u64)),
            (_, Folded::Int(a), Folded::Int(b)) => {
                let value = match op {
                    B::Add => a.wrapping_add(b),
                    B::Sub => a.wrapping_sub(b),
                    B::Mul => a.wrapping_mul(b),
                    B::And => a & b,
                    B::Or => a | b,
                    B::Xor => a ^ b,
                    B::Shl if b < 64 => a << b,
                    B::LShr if b < 64 => a >> b,
                    _ => return Folded::Opaque,
                };
                Folded::Int(self.mask(ty, value))
            }
            _ => self.give_up(&[a, b]),
        }
    }

    fn gep(
        &self,
        source_ty: bc::TypeId,
        operands: &[bc::ValueId],
        fuel: &mut u32,
        depth: u32,
    ) -> Folded {
        let Some((base, indices)) = operands.split_first() else {
            return Folded::Opaque;
        };
        let inner = self.go(*base, fuel, depth);
        let walked = walk_indices(
            &self.cx,
            source_ty,
            indices.iter().copied(),
            |id| match self.go(id, fuel, depth) {
                Folded::Int(bits) => {
                    let ty = self.constant(id).and_then(|(c, _)| self.width(c.ty));
                    Some(sign_extend(bits, ty.unwrap_or(64)))
                }
                _ => None,
            },
        );
        match (inner, walked) {
            (
                Folded::Addr { base, offset },
                Some(Walked {
                    offset: more,
                    variable: false,
                }),
            ) => Folded::Addr {
                base,
                offset: offset.wrapping_add(more),
            },
            (Folded::Undef, _) => Folded::Undef,
            (other, _) => self.give_up(&[other]),
        }
    }
}

/// Byte offset of the constant indices of an address computation; `variable`: there were others.
pub(crate) struct Walked {
    pub offset: i64,
    pub variable: bool,
}

/// Walks the indices of an address computation over `source_ty`. `constant` tells the number of an index, if it is one.
/// `None`: the indices do not fit the type.
pub(crate) fn walk_indices(
    cx: &Context<'_>,
    source_ty: bc::TypeId,
    indices: impl Iterator<Item = bc::ValueId>,
    constant: impl FnMut(bc::ValueId) -> Option<i64>,
) -> Option<Walked> {
    walk_indices_with(cx, source_ty, indices, constant, |_, _| {})
}

/// As [`walk_indices`]; `scaled` gets each index that is no constant, with the size of what it steps over.
pub(crate) fn walk_indices_with(
    cx: &Context<'_>,
    source_ty: bc::TypeId,
    indices: impl Iterator<Item = bc::ValueId>,
    mut constant: impl FnMut(bc::ValueId) -> Option<i64>,
    mut scaled: impl FnMut(bc::ValueId, i64),
) -> Option<Walked> {
    let mut at = cx.ty(source_ty);
    let mut walked = Walked {
        offset: 0,
        variable: false,
    };
    for (position, index) in indices.enumerate() {
        if position > 0 {
            match cx.types.get(at) {
                Type::Struct(layout) => {
                    let field = usize::try_from(constant(index)?).ok()?;
                    let (ty, offset) = *layout.fields.get(field)?;
                    walked.offset = walked.offset.wrapping_add(offset as i64);
                    at = ty;
                    continue;
                }
                Type::Array { elem, .. } | Type::Vector { elem, .. } => at = *elem,
                _ => return None,
            }
        }
        let size = cx.types.size_of(at) as i64;
        match constant(index) {
            Some(number) => walked.offset = walked.offset.wrapping_add(number.wrapping_mul(size)),
            None => {
                walked.variable = true;
                scaled(index, size);
            }
        }
    }
    Some(walked)
}

pub(crate) fn truncate(value: u64, width: u32) -> u64 {
    match width {
        0 => 0,
        1..=63 => value & ((1 << width) - 1),
        _ => value,
    }
}

pub(crate) fn sign_extend(value: u64, width: u32) -> i64 {
    match width {
        1..=63 => ((value << (64 - width)) as i64) >> (64 - width),
        _ => value as i64,
    }
}
