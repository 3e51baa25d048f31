//! What does a call to an `llvm.*` function become?
//!
//! By name only, with one look at the declaration's memory attribute: an intrinsic that is not listed and touches no
//! memory is an opaque function of its operands, any other stays a call to its declaration.

use drip_bitcode as bc;

use crate::body::{BinaryOp, CmpPred};

/// The meaning of a function name to the lowering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Intrinsic {
    /// An ordinary function, or an intrinsic that stays a call.
    Call,
    /// As `Call`, and control does not come back.
    Trap,
    /// No instruction at all; a result, if any, is unknown.
    Drop,
    MemCopy,
    MemSet,
    /// The result is this operand.
    Operand(u8),
    /// An unknown function of the operands.
    Opaque,
    /// The operand for which the comparison with the other holds.
    Pick(CmpPred),
    /// `{ a op b, did it overflow? }`
    Overflow(BinaryOp),
}

impl Intrinsic {
    /// Functions that no instruction of the program mentions after lowering need no entry in it.
    pub fn has_function(self) -> bool {
        matches!(self, Intrinsic::Call | Intrinsic::Trap)
    }

    pub fn classify(name: &str, touches_memory: bool) -> Intrinsic {
        let Some(name) = name.strip_prefix("llvm.") else {
            return Intrinsic::Call;
        };
        let starts = |prefix: &str| {
            name.strip_prefix(prefix)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let found = RULES.iter().find(|(prefix, _)| starts(prefix));
        match found {
            Some((_, meaning)) => *meaning,
            None if touches_memory => Intrinsic::Call,
            None => Intrinsic::Opaque,
        }
    }
}

/// The intrinsic that a raw function is.
pub(crate) fn of_function(module: &bc::RawModule, function: &bc::RawFunction) -> Intrinsic {
    if !function.name.starts_with("llvm.") || !function.is_declaration {
        return Intrinsic::Call;
    }
    let touches_memory = match function.attrs {
        Some(attrs) => !module.attrs(attrs).function().memory().is_none(),
        None => true,
    };
    Intrinsic::classify(&function.name, touches_memory)
}

/// Name after `llvm.`, up to a dot or the end; the first match counts.
const RULES: &[(&str, Intrinsic)] = &[
    ("memcpy", Intrinsic::MemCopy),
    ("memmove", Intrinsic::MemCopy),
    ("memset", Intrinsic::MemSet),
    ("dbg", Intrinsic::Drop),
    ("lifetime", Intrinsic::Drop),
    ("invariant", Intrinsic::Drop),
    ("assume", Intrinsic::Drop),
    ("experimental.noalias.scope.decl", Intrinsic::Drop),
    ("var.annotation", Intrinsic::Drop),
    ("codeview.annotation", Intrinsic::Drop),
    ("donothing", Intrinsic::Drop),
    ("sideeffect", Intrinsic::Drop),
    ("pseudoprobe", Intrinsic::Drop),
    ("stacksave", Intrinsic::Drop),
    ("stackrestore", Intrinsic::Drop),
    ("prefetch", Intrinsic::Drop),
    ("fake.use", Intrinsic::Drop),
    ("expect", Intrinsic::Operand(0)),
    ("annotation", Intrinsic::Operand(0)),
    ("ptr.annotation", Intrinsic::Operand(0)),
    ("launder.invariant.group", Intrinsic::Operand(0)),
    ("strip.invariant.group", Intrinsic::Operand(0)),
    ("ssa.copy", Intrinsic::Operand(0)),
    ("threadlocal.address", Intrinsic::Operand(0)),
    ("arithmetic.fence", Intrinsic::Operand(0)),
    // The result points into the same object.
    ("ptrmask", Intrinsic::Operand(0)),
    // A coroutine's frame is the memory that was allocated for it.
    ("coro.begin", Intrinsic::Operand(1)),
    ("coro.free", Intrinsic::Operand(1)),
    ("va_start", Intrinsic::Call),
    ("va_end", Intrinsic::Call),
    ("va_copy", Intrinsic::Call),
    ("trap", Intrinsic::Trap),
    ("ubsantrap", Intrinsic::Trap),
    ("debugtrap", Intrinsic::Call),
    ("objectsize", Intrinsic::Opaque),
    ("is.constant", Intrinsic::Opaque),
    ("returnaddress", Intrinsic::Opaque),
    ("frameaddress", Intrinsic::Opaque),
    ("addressofreturnaddress", Intrinsic::Opaque),
    ("readcyclecounter", Intrinsic::Opaque),
    ("get.dynamic.area.offset", Intrinsic::Opaque),
    ("eh", Intrinsic::Opaque),
    ("umin", Intrinsic::Pick(CmpPred::Ult)),
    ("umax", Intrinsic::Pick(CmpPred::Ugt)),
    ("smin", Intrinsic::Pick(CmpPred::Slt)),
    ("smax", Intrinsic::Pick(CmpPred::Sgt)),
    ("uadd.with.overflow", Intrinsic::Overflow(BinaryOp::Add)),
    ("sadd.with.overflow", Intrinsic::Overflow(BinaryOp::Add)),
    ("usub.with.overflow", Intrinsic::Overflow(BinaryOp::Sub)),
    ("ssub.with.overflow", Intrinsic::Overflow(BinaryOp::Sub)),
    ("umul.with.overflow", Intrinsic::Overflow(BinaryOp::Mul)),
    ("smul.with.overflow", Intrinsic::Overflow(BinaryOp::Mul)),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_matched_up_to_a_dot() {
        assert_eq!(
            Intrinsic::classify("llvm.memcpy.p0.p0.i64", true),
            Intrinsic::MemCopy
        );
        assert_eq!(
            Intrinsic::classify("llvm.memset.inline.p0.i64", true),
            Intrinsic::MemSet
        );
        assert_eq!(
            Intrinsic::classify("llvm.expect.i64", false),
            Intrinsic::Operand(0)
        );
        assert_eq!(Intrinsic::classify("llvm.trap", true), Intrinsic::Trap);
        assert_eq!(
            Intrinsic::classify("llvm.invariant.start.p0", true),
            Intrinsic::Drop
        );
        assert_eq!(
            Intrinsic::classify("llvm.strip.invariant.group.p0", false),
            Intrinsic::Operand(0)
        );
    }

    #[test]
    fn the_rest_goes_by_its_memory_attribute() {
        assert_eq!(
            Intrinsic::classify("llvm.fmuladd.f64", false),
            Intrinsic::Opaque
        );
        assert_eq!(
            Intrinsic::classify("llvm.masked.load.v4i32.p0", true),
            Intrinsic::Call
        );
        assert_eq!(Intrinsic::classify("llvmlike", false), Intrinsic::Call);
        assert_eq!(Intrinsic::classify("llvm.ehx", true), Intrinsic::Call);
    }
}
