//! Which Boolean variable is a branch's condition? Comparisons of the same SSA values share one (SABER §5: "the number of BDD
//! variables used is kept to a minimum"); casts, negations and tests against zero of a truth value are seen through.

use drip_pointer::andersen::InstanceId;
use drip_program::{BinaryOp, BlockId, Body, CastOp, CmpPred, Const, Op, Operand, Types};

/// Steps from a branch back to its comparison.
const MAX_STEPS: usize = 8;

/// What decides a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Test {
    Compare {
        pred: CmpPred,
        a: Operand,
        b: Operand,
    },
    Truth(Operand),
    /// The `way`-th target of a branch with many.
    Way {
        block: BlockId,
        way: usize,
    },
}

/// A variable's meaning: a test in an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Condition {
    pub instance: InstanceId,
    pub test: Test,
    /// A block that branches on it.
    pub block: BlockId,
}

/// The test of a two-way branch, and whether the branch is taken when it holds.
pub fn test(types: &Types, body: &Body, cond: Operand) -> (Test, bool) {
    let mut at = cond;
    let mut holds = true;
    for _ in 0..MAX_STEPS {
        let Some(inst) = at.as_value().and_then(|v| body.def(v)) else {
            break;
        };
        match body.insts[inst].op {
            Op::Cast {
                op: CastOp::Trunc | CastOp::ZExt | CastOp::SExt,
                value,
            } if is_truth(types, body, value) || is_truth(types, body, at) => at = value,
            Op::Binary {
                op: BinaryOp::Xor,
                a,
                b,
            } if is_truth(types, body, at) && is_int(body, b, 1) => {
                holds = !holds;
                at = a;
            }
            Op::Cmp { pred, a, b } => {
                if is_int(body, b, 0) && widened_truth(types, body, a) {
                    match pred {
                        CmpPred::Ne => {}
                        CmpPred::Eq => holds = !holds,
                        _ => return (Test::Compare { pred, a, b }, holds),
                    }
                    at = a;
                    continue;
                }
                let (pred, negated) = positive(pred);
                return (Test::Compare { pred, a, b }, holds != negated);
            }
            _ => break,
        }
    }
    (Test::Truth(at), holds)
}

/// A comparison and its opposite are one test.
fn positive(pred: CmpPred) -> (CmpPred, bool) {
    match pred {
        CmpPred::Ne => (CmpPred::Eq, true),
        CmpPred::Uge => (CmpPred::Ult, true),
        CmpPred::Ugt => (CmpPred::Ule, true),
        CmpPred::Sge => (CmpPred::Slt, true),
        CmpPred::Sgt => (CmpPred::Sle, true),
        other => (other, false),
    }
}

fn is_truth(types: &Types, body: &Body, operand: Operand) -> bool {
    let ty = operand.as_value().map(|v| body.value_ty(v));
    ty.and_then(|ty| types.int_width(ty)) == Some(1)
}

/// Is the operand a truth value as an integer?
fn widened_truth(types: &Types, body: &Body, operand: Operand) -> bool {
    let def = operand.as_value().and_then(|v| body.def(v));
    match def.map(|inst| body.insts[inst].op) {
        Some(Op::Cast {
            op: CastOp::ZExt | CastOp::SExt,
            value,
        }) => is_truth(types, body, value) || widened_truth(types, body, value),
        _ => false,
    }
}

pub fn is_int(body: &Body, operand: Operand, number: u64) -> bool {
    match body.const_of(operand) {
        Some(&Const::Int { bits, .. }) => bits == number,
        Some(Const::Null) => number == 0,
        _ => false,
    }
}
