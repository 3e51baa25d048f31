//! Question: is a branch the guard of an overflow?
//!
//! `if (size > INT_MAX - length) return NULL;` gives up for texts of gigabytes. Such a way through a callee can be taken, and still
//! nobody would call the caller wrong who does not expect it. A second look leaves it out in callees; in the function that loses the block
//! it is a path like any other.

use drip_program::{BinaryOp, Body, CmpPred, Const, Op, Operand, Program, Type};

/// What counts as huge: a quarter of what a signed word of 32 bits can count.
const HUGE: u64 = 1 << 30;

/// Is `cond == taken` only possible beyond a bound that is as good as never reached?
pub fn is_overflow(program: &Program, body: &Body, cond: Operand, taken: bool) -> bool {
    let def = cond.as_value().and_then(|value| body.def(value));
    let Some(Op::Cmp { pred, a, b }) = def.map(|inst| body.insts[inst].op) else {
        return false;
    };
    let is_above = match pred {
        CmpPred::Sgt | CmpPred::Ugt | CmpPred::Sge | CmpPred::Uge => true,
        CmpPred::Slt | CmpPred::Ult | CmpPred::Sle | CmpPred::Ule => false,
        _ => return false,
    };
    let is_signed = matches!(
        pred,
        CmpPred::Sgt | CmpPred::Sge | CmpPred::Slt | CmpPred::Sle
    );
    match (
        is_huge(program, body, a, is_signed),
        is_huge(program, body, b, is_signed),
    ) {
        // `x > HUGE`
        (false, true) => is_above == taken,
        // `HUGE > x`
        (true, false) => is_above != taken,
        _ => false,
    }
}

/// A huge number, such a number less something, or divided by something.
fn is_huge(program: &Program, body: &Body, operand: Operand, is_signed: bool) -> bool {
    if let Some(&Const::Int { bits, ty }) = body.const_of(operand) {
        let is_negative = match program.types.get(ty) {
            Type::Int(width) => bits >> (width - 1) & 1 == 1,
            _ => return false,
        };
        return bits >= HUGE && !(is_signed && is_negative);
    }
    let def = operand.as_value().and_then(|value| body.def(value));
    match def.map(|inst| body.insts[inst].op) {
        Some(Op::Binary {
            op: BinaryOp::Sub | BinaryOp::UDiv,
            a,
            ..
        }) => body.const_of(a).is_some() && is_huge(program, body, a, is_signed),
        _ => false,
    }
}
