//! Question: does a path take a number for a failure, or a block for nothing, that the block itself speaks against?
//!
//! `text = read(file, &length); if (length < 0) return length;`: whoever makes the block tells failures by negative numbers, and makes
//! none where it does; that the lengths it computes are not negative is rarely to be seen (Engler's belief: callers and callee mean the
//! same). And a block of no bytes (`calloc(count, size)` on a path where the count is zero) is nothing that anybody would mend.

use drip_cond::Sort;
use drip_flow::{End, Frame, UseFlow, Values, args_of};
use drip_models::{Certainty, Class, Outcome, Value, ValuePath};
use drip_program::{BlockId, CmpPred, InstId, Op, Operand};

use super::causes::defined_callee;
use super::feasible::SmallQuestions;
use super::interface::constant;
use super::known::{Comparison, Known, comparison};
use super::paths::Path;

/// Where a call leaves a number.
enum Told {
    Result,
    /// In the variable whose address is this argument.
    Variable(u16),
}

/// Does the path go where the call that made the block is taken to have failed?
pub fn contradicts_code(frame: &Frame<'_>, flow: &UseFlow, path: &Path) -> bool {
    let Some((call, _)) = flow.birth(frame) else {
        return false;
    };
    let Some(summary) = frame.calls.get(&call) else {
        return false;
    };
    let blocks: Vec<BlockId> = path.blocks_from(flow, frame.block_of(call)).collect();
    let mut edges = blocks.windows(2);
    edges.any(|edge| {
        let number = taken_as_negative(frame, edge[0], edge[1]);
        let told = number.and_then(|number| told_by(frame, call, number));
        told.is_some_and(|told| tells_failure(&summary.outcomes, &told))
    })
}

/// Is the block one of no bytes on this path?
pub fn is_empty_block(
    frame: &Frame<'_>,
    values: &mut Values,
    flow: &UseFlow,
    path: &Path,
    end: &End,
) -> bool {
    let birth = flow.birth(frame);
    let Some((call, _)) = birth.filter(|&(call, _)| defined_callee(frame, call).is_none()) else {
        return false;
    };
    let is_number = |arg: &Operand| frame.local.targets(*arg).is_empty();
    let sizes: Vec<Operand> = args_of(frame.body, call)
        .iter()
        .filter(|arg| arg.as_value().is_some() && is_number(arg))
        .copied()
        .collect();
    if sizes.is_empty() {
        return false;
    }
    let known = Known::on(frame, values, flow, path, end);
    sizes.into_iter().any(|size| {
        let term = values.term(size);
        let term = values.replaced(term, |sym| end.state.lookup(sym));
        let Sort::Bits(width) = values.terms.sort(term) else {
            return false;
        };
        let zero = values.terms.int(width, 0);
        let is_zero = values.terms.eq(term, zero);
        let some = values.terms.not(is_zero);
        let mut facts = known.state.facts.to_vec();
        facts.push(some);
        !SmallQuestions::default().can_be(values, &facts)
    })
}

/// The number that is negative if a branch goes this way.
fn taken_as_negative(frame: &Frame<'_>, from: BlockId, to: BlockId) -> Option<Operand> {
    let Comparison { pred, a, b, holds } = comparison(frame, from, to)?;
    let bound = constant(frame.program, frame.body, b)?;
    let is_negative = match (pred, holds) {
        (CmpPred::Slt, true) | (CmpPred::Sge, false) => bound <= 0,
        (CmpPred::Sle, true) | (CmpPred::Sgt, false) => bound < 0,
        (CmpPred::Eq, true) | (CmpPred::Ne, false) => bound < 0,
        _ => false,
    };
    is_negative.then_some(a)
}

/// Has the call left this number?
fn told_by(frame: &Frame<'_>, call: InstId, number: Operand) -> Option<Told> {
    let body = frame.body;
    let mut inst = body.def(number.as_value()?)?;
    while let Op::Cast { value, .. } = body.insts[inst].op {
        inst = body.def(value.as_value()?)?;
    }
    match body.insts[inst].op {
        _ if inst == call => Some(Told::Result),
        Op::Load { addr } => {
            let mut args = (0u16..).zip(args_of(body, call));
            let is_variable = matches!(
                body.insts[body.def(addr.as_value()?)?].op,
                Op::Alloca { .. }
            );
            let (n, _) = args.find(|(_, arg)| **arg == addr)?;
            is_variable.then_some(Told::Variable(n))
        }
        _ => None,
    }
}

/// Does a negative number there always come without a block?
fn tells_failure(outcomes: &[Outcome], told: &Told) -> bool {
    let is_negative = |outcome: &Outcome| match number(outcome, told) {
        Some(Value::Int(number)) => *number < 0,
        Some(Value::Unknown(class)) => *class == Class::Negative,
        _ => false,
    };
    let (with, without): (Vec<&Outcome>, Vec<&Outcome>) =
        outcomes.iter().partition(|o| !o.fresh.is_empty());
    without.into_iter().any(is_negative) && !with.into_iter().any(is_negative)
}

fn number<'o>(outcome: &'o Outcome, told: &Told) -> Option<&'o Value> {
    let n = match told {
        Told::Result => return Some(&outcome.ret),
        Told::Variable(n) => *n,
    };
    let variable = ValuePath::arg(n);
    let mut writes = outcome.writes.iter();
    let write = writes.find(|write| {
        let is_there = write.cell.offset.is_exact() && write.cell.offset.base == 0;
        is_there && write.cell.base == variable && write.certainty == Certainty::Must
    });
    write.map(|write| &write.value)
}
