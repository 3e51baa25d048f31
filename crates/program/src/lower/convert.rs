//! Operations of a raw body in the program's terms.

use drip_bitcode as bc;

use crate::body::{BinaryOp, CmpPred, RmwOp};

pub(super) fn binary_op(op: bc::BinaryOp) -> BinaryOp {
    use bc::BinaryOp as B;
    match op {
        B::Add => BinaryOp::Add,
        B::Sub => BinaryOp::Sub,
        B::Mul => BinaryOp::Mul,
        B::UDiv => BinaryOp::UDiv,
        B::SDiv => BinaryOp::SDiv,
        B::URem => BinaryOp::URem,
        B::SRem => BinaryOp::SRem,
        B::Shl => BinaryOp::Shl,
        B::LShr => BinaryOp::LShr,
        B::AShr => BinaryOp::AShr,
        B::And => BinaryOp::And,
        B::Or => BinaryOp::Or,
        B::Xor => BinaryOp::Xor,
        B::FAdd => BinaryOp::FAdd,
        B::FSub => BinaryOp::FSub,
        B::FMul => BinaryOp::FMul,
        B::FDiv => BinaryOp::FDiv,
        B::FRem => BinaryOp::FRem,
    }
}

pub(super) fn cmp_pred(predicate: bc::CmpPredicate) -> CmpPred {
    use bc::CmpPredicate as P;
    match predicate {
        P::Eq => CmpPred::Eq,
        P::Ne => CmpPred::Ne,
        P::Ugt => CmpPred::Ugt,
        P::Uge => CmpPred::Uge,
        P::Ult => CmpPred::Ult,
        P::Ule => CmpPred::Ule,
        P::Sgt => CmpPred::Sgt,
        P::Sge => CmpPred::Sge,
        P::Slt => CmpPred::Slt,
        P::Sle => CmpPred::Sle,
        // The floating point predicates come first, in LLVM's order.
        float => CmpPred::Float(float as u8),
    }
}

pub(super) fn rmw_op(op: bc::RmwOp) -> RmwOp {
    use bc::RmwOp as R;
    match op {
        R::Xchg => RmwOp::Xchg,
        R::Add => RmwOp::Add,
        R::Sub => RmwOp::Sub,
        R::And => RmwOp::And,
        R::Nand => RmwOp::Nand,
        R::Or => RmwOp::Or,
        R::Xor => RmwOp::Xor,
        R::Max => RmwOp::Max,
        R::Min => RmwOp::Min,
        R::UMax => RmwOp::UMax,
        R::UMin => RmwOp::UMin,
        R::Other(_) => RmwOp::Other,
    }
}
