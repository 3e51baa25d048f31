//! What instructions compute, as terms: shared by all who execute them, in one function or across calls.
//!
//! Floating point is nobody's business here: `None`, and the caller takes an unknown value.

use drip_cond::{Sort, TermId, Terms};
use drip_models::Class;
use drip_program::{BinaryOp, CastOp, CmpPred, Program, Type, TypeId};

/// The sort of values of a type; what is no number of at most 64 bits is an unknown word.
pub fn sort_of(program: &Program, ty: TypeId) -> Sort {
    match program.types.get(ty) {
        Type::Int(1) => Sort::Bool,
        Type::Int(width) if *width <= 64 => Sort::Bits(*width),
        _ => Sort::Bits(64),
    }
}

/// A term of exactly `width` bits.
pub fn widened(terms: &mut Terms, term: TermId, width: u32, signed: bool) -> TermId {
    match terms.sort(term) {
        Sort::Bool => {
            let one = terms.int(width, if signed { u64::MAX } else { 1 });
            let zero = terms.int(width, 0);
            terms.ite(term, one, zero)
        }
        Sort::Bits(from) if from == width => term,
        Sort::Bits(from) if from > width => terms.trunc(term, width),
        Sort::Bits(_) if signed => terms.sext(term, width),
        Sort::Bits(_) => terms.zext(term, width),
    }
}

pub fn cast(terms: &mut Terms, op: CastOp, term: TermId, sort: Sort) -> Option<TermId> {
    Some(match (op, sort) {
        // A C bool is a byte that is zero or one.
        (CastOp::Trunc, Sort::Bool) if terms.width(term) == 8 => {
            let zero = terms.int(8, 0);
            let is_zero = terms.eq(term, zero);
            terms.not(is_zero)
        }
        (CastOp::Trunc, Sort::Bool) => {
            let one = terms.int(terms.width(term), 1);
            let bit = terms.band(term, one);
            terms.eq(bit, one)
        }
        (CastOp::ZExt | CastOp::PtrToInt | CastOp::IntToPtr | CastOp::Trunc, Sort::Bits(width)) => {
            widened(terms, term, width, false)
        }
        (CastOp::SExt, Sort::Bits(width)) => widened(terms, term, width, true),
        (CastOp::Bitcast, _) if terms.sort(term) == sort => term,
        _ => return None,
    })
}

pub fn binary(terms: &mut Terms, op: BinaryOp, x: TermId, y: TermId) -> Option<TermId> {
    if terms.sort(x) != terms.sort(y) {
        return None;
    }
    if terms.sort(x) == Sort::Bool {
        return match op {
            BinaryOp::And => Some(terms.and(&[x, y])),
            BinaryOp::Or => Some(terms.or(&[x, y])),
            BinaryOp::Xor | BinaryOp::Add | BinaryOp::Sub => Some(terms.xor(x, y)),
            _ => None,
        };
    }
    Some(match op {
        BinaryOp::Add => terms.add(x, y),
        BinaryOp::Sub => terms.sub(x, y),
        BinaryOp::Mul => terms.mul(x, y),
        BinaryOp::UDiv => terms.udiv(x, y),
        BinaryOp::SDiv => terms.sdiv(x, y),
        BinaryOp::URem => terms.urem(x, y),
        BinaryOp::SRem => terms.srem(x, y),
        BinaryOp::Shl => terms.shl(x, y),
        BinaryOp::LShr => terms.lshr(x, y),
        BinaryOp::AShr => terms.ashr(x, y),
        BinaryOp::And => terms.band(x, y),
        BinaryOp::Or => terms.bor(x, y),
        BinaryOp::Xor => terms.bxor(x, y),
        BinaryOp::FAdd | BinaryOp::FSub | BinaryOp::FMul | BinaryOp::FDiv | BinaryOp::FRem => {
            return None;
        }
    })
}

pub fn compare(terms: &mut Terms, pred: CmpPred, x: TermId, y: TermId) -> Option<TermId> {
    if terms.sort(x) != terms.sort(y) {
        return None;
    }
    let (mut x, mut y) = (x, y);
    if terms.sort(x) == Sort::Bool {
        // i1 compared as a number.
        (x, y) = (widened(terms, x, 1, false), widened(terms, y, 1, false));
    }
    Some(match pred {
        CmpPred::Eq => terms.eq(x, y),
        CmpPred::Ne => terms.ne(x, y),
        CmpPred::Ult => terms.ult(x, y),
        CmpPred::Ule => terms.ule(x, y),
        CmpPred::Ugt => terms.ult(y, x),
        CmpPred::Uge => terms.ule(y, x),
        CmpPred::Slt => terms.slt(x, y),
        CmpPred::Sle => terms.sle(x, y),
        CmpPred::Sgt => terms.slt(y, x),
        CmpPred::Sge => terms.sle(y, x),
        CmpPred::Float(_) => return None,
    })
}

/// A truth value lies in `class`: it is 0 or 1, and where it was taken for a signed number of one bit, -1.
fn class_of_truth(terms: &mut Terms, term: TermId, class: Class) -> Option<TermId> {
    match (class.contains(0), class.contains(1) || class.contains(-1)) {
        (true, true) => None,
        (true, false) => Some(terms.not(term)),
        (false, true) => Some(term),
        (false, false) => Some(terms.bool(false)),
    }
}

/// `term` lies in `class`; nothing to say for any value.
pub fn class_of_term(terms: &mut Terms, term: TermId, class: Class) -> Option<TermId> {
    let Sort::Bits(width) = terms.sort(term) else {
        return class_of_truth(terms, term, class);
    };
    let zero = terms.int(width, 0);
    Some(match class {
        Class::Any => return None,
        Class::Eq(value) | Class::Ne(value) | Class::Lt(value) | Class::Ge(value) => {
            let constant = terms.int(width, value as u64);
            match class {
                Class::Eq(_) => terms.eq(term, constant),
                Class::Ne(_) => terms.ne(term, constant),
                Class::Lt(_) => terms.slt(term, constant),
                _ => terms.sle(constant, term),
            }
        }
        Class::NonZero => terms.ne(term, zero),
        Class::Negative => terms.slt(term, zero),
        Class::Positive => terms.slt(zero, term),
        Class::NonNegative => terms.sle(zero, term),
        Class::NonPositive => terms.sle(term, zero),
        Class::Has(bits) | Class::Lacks(bits) => {
            let bits = terms.int(width, bits);
            let common = terms.band(term, bits);
            match class {
                Class::Has(_) => terms.ne(common, zero),
                _ => terms.eq(common, zero),
            }
        }
    })
}
