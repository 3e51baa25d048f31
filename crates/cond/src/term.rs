//! What is a condition made of?
//!
//! The public vocabulary: ids, sorts and the kinds of terms. Terms are fixed-width bit-vectors (1 to 64 bits, wrapping
//! arithmetic, no poison) and booleans. Everything a client can build is expressed in the few kinds below; what is
//! missing (`<=`, `>`, `-`, `~`, `<<` by a constant …) is rewritten by the constructors in `build`.
//!
//! Division and shifts are total as in SMT-LIB: `x udiv 0` is all ones, `x urem 0` is `x`, shifting by the width or
//! more gives 0 (or copies of the sign bit).
//!
//! Invariant: a term's children have smaller ids than the term, so ascending ids are a children-first order.

use std::fmt;

/// Widest bit-vector that terms can express; clients make opaque symbols of wider values.
pub const MAX_WIDTH: u32 = 64;

/// One term in the arena [`crate::Terms`]; equal terms have equal ids.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct TermId(pub(crate) u32);

impl TermId {
    /// Position in the arena, for side tables.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The client's name for an unknown value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct SymId(pub u32);

/// The client's name for an object with an address of its own.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ObjKey(pub u32);

/// The client's name for an uninterpreted function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct FnKey(pub u32);

impl fmt::Display for TermId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "t{}", self.0)
    }
}

impl fmt::Display for SymId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s{}", self.0)
    }
}

impl fmt::Display for ObjKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "o{}", self.0)
    }
}

impl fmt::Display for FnKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "f{}", self.0)
    }
}

/// The type of a term.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Sort {
    /// True or false.
    Bool,
    /// A bit-vector of the given width, 1 to [`MAX_WIDTH`].
    Bits(u32),
}

impl Sort {
    /// The width; a boolean counts as one bit.
    pub fn width(self) -> u32 {
        match self {
            Sort::Bool => 1,
            Sort::Bits(width) => width,
        }
    }

    /// Mask of the bits that a value of this sort may have.
    pub fn mask(self) -> u64 {
        mask(self.width())
    }
}

/// Operators with two bit-vector operands that have no normal form of their own.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum BinOp {
    /// Product of two non-constants.
    Mul,
    /// Unsigned quotient.
    UDiv,
    /// Signed quotient, rounding towards zero.
    SDiv,
    /// Unsigned remainder.
    URem,
    /// Signed remainder, with the sign of the dividend.
    SRem,
    /// Left shift by a non-constant.
    Shl,
    /// Logical right shift.
    LShr,
    /// Arithmetic right shift.
    AShr,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
}

impl BinOp {
    /// Whether the operands may be exchanged.
    pub fn commutes(self) -> bool {
        matches!(self, BinOp::Mul | BinOp::And | BinOp::Or | BinOp::Xor)
    }

    /// The operation on concrete words of the given width.
    pub fn apply(self, a: u64, b: u64, width: u32) -> u64 {
        let m = mask(width);
        let (sa, sb) = (to_signed(a, width), to_signed(b, width));
        let value = match self {
            BinOp::Mul => a.wrapping_mul(b),
            BinOp::UDiv => a.checked_div(b).unwrap_or(m),
            BinOp::URem => a.checked_rem(b).unwrap_or(a),
            BinOp::SDiv if b == 0 => {
                if sa < 0 {
                    1
                } else {
                    m
                }
            }
            BinOp::SDiv => sa.wrapping_div(sb) as u64,
            BinOp::SRem if b == 0 => a,
            BinOp::SRem => sa.wrapping_rem(sb) as u64,
            BinOp::Shl if b >= u64::from(width) => 0,
            BinOp::Shl => a << b,
            BinOp::LShr if b >= u64::from(width) => 0,
            BinOp::LShr => a >> b,
            BinOp::AShr => (sa >> b.min(63)) as u64,
            BinOp::And => a & b,
            BinOp::Or => a | b,
            BinOp::Xor => a ^ b,
        };
        value & m
    }
}

/// A sum `Σ coefficient · term + constant`, modulo 2^width.
///
/// Invariant: terms ascend by id, no coefficient is 0, and there are at least two summands or one whose coefficient is
/// not 1. A summand is itself a sum only where the size limit stopped the flattening.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Linear {
    /// Summands with their coefficients.
    pub terms: Box<[(TermId, u64)]>,
    /// The constant part.
    pub constant: u64,
}

/// The shape of a term.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum TermKind {
    /// A boolean constant.
    Bool(bool),
    /// A bit-vector constant, reduced to the width.
    Int(u64),
    /// An unknown value.
    Sym(SymId),
    /// The 64-bit address of an object; see [`crate::Terms::addr`] for its axioms.
    Addr(ObjKey),
    /// An uninterpreted function: equal arguments give equal results, nothing else is known.
    App(FnKey, Box<[TermId]>),
    /// Negation of an atom (negations of junctions are pushed inwards).
    Not(TermId),
    /// Conjunction of at least two operands, ascending and without doubles.
    And(Box<[TermId]>),
    /// Disjunction of at least two operands, ascending and without doubles.
    Or(Box<[TermId]>),
    /// If-then-else of any sort; the condition is never a negation.
    Ite(TermId, TermId, TermId),
    /// Equality of two terms of the same sort; a constant stands on the right.
    Eq(TermId, TermId),
    /// Unsigned less-than; a constant stands on the right.
    Ult(TermId, TermId),
    /// Signed less-than; a constant stands on the right.
    Slt(TermId, TermId),
    /// A sum with constant coefficients.
    Linear(Linear),
    /// Other operators; a constant operand of a commutative one stands on the right.
    Binary(BinOp, TermId, TermId),
    /// Extension by zeros to the term's own width.
    Zext(TermId),
    /// Extension by the sign to the term's own width.
    Sext(TermId),
    /// The low bits, as many as the term's own width.
    Trunc(TermId),
}

impl TermKind {
    /// Calls `visit` on each child, in order.
    pub fn for_each_child(&self, mut visit: impl FnMut(TermId)) {
        match self {
            TermKind::Bool(_) | TermKind::Int(_) | TermKind::Sym(_) | TermKind::Addr(_) => {}
            TermKind::App(_, list) | TermKind::And(list) | TermKind::Or(list) => {
                list.iter().copied().for_each(visit);
            }
            TermKind::Linear(sum) => sum.terms.iter().for_each(|&(t, _)| visit(t)),
            TermKind::Ite(c, a, b) => {
                visit(*c);
                visit(*a);
                visit(*b);
            }
            TermKind::Eq(a, b)
            | TermKind::Ult(a, b)
            | TermKind::Slt(a, b)
            | TermKind::Binary(_, a, b) => {
                visit(*a);
                visit(*b);
            }
            TermKind::Not(a) | TermKind::Zext(a) | TermKind::Sext(a) | TermKind::Trunc(a) => {
                visit(*a)
            }
        }
    }
}

/// The low `width` bits set.
pub fn mask(width: u32) -> u64 {
    if width >= 64 {
        u64::MAX
    } else {
        (1u64 << width) - 1
    }
}

/// The word read as a signed number.
pub fn to_signed(value: u64, width: u32) -> i64 {
    let shift = 64 - width.clamp(1, 64);
    ((value << shift) as i64) >> shift
}

/// The most negative word of the width, which is also its sign bit.
pub fn sign_bit(width: u32) -> u64 {
    1u64 << (width.clamp(1, 64) - 1)
}
