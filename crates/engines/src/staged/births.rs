//! Question: what has to hold of a function's numbers wherever it makes a block?
//!
//! `case COPY: text = malloc(n);`: every way to the allocation takes that branch, so callers that pass another mode get no new block, even
//! where outcomes were merged or told without conditions. What is asked for: parameters that are numbers; a branch or `switch` on
//! one of them whose edge leads to the allocation on every way; or a callee that makes the block for certain arguments only, and gets the
//! parameter. Several numbers are told by their bounds. Cost: the blocks above each allocation.

use drip_flow::{Frame, args_of};
use drip_models::{Atom, Class, Outcome, Root, Subject, ValuePath};
use drip_pointer::{ObjId, ObjKind};
use drip_program::{BlockId, CmpPred, InstId, Op, Operand, Type};

use super::interface::constant;
use super::merge::{bounded, without_weaker};

/// Values that a φ may stand for, with the φs on the way to them; with more, nothing is asked of it.
const MAX_VALUES: usize = 16;

/// A number that is one of several: its parameter, and the constants that it may be instead (`cmd = -1;` on other ways).
struct Number {
    param: u16,
    others: Vec<i64>,
}

/// Adds what the births of an outcome's blocks ask for. `handed`: the blocks by their numbers.
pub(super) fn tell_births(frame: &Frame<'_>, handed: &[ObjId], outcomes: &mut [Outcome]) {
    if !has_numbers(frame) {
        return;
    }
    let asked: Vec<Vec<Atom>> = handed.iter().map(|&obj| asked_for(frame, obj)).collect();
    for outcome in outcomes {
        let fresh = outcome.fresh.iter();
        let new = fresh.filter_map(|&k| asked.get(usize::from(k))).flatten();
        let new: Vec<Atom> = new.cloned().collect();
        if !new.is_empty() {
            let mut when = std::mem::take(&mut outcome.when);
            when.extend(new);
            outcome.when = bounded(without_weaker(when));
        }
    }
}

fn has_numbers(frame: &Frame<'_>) -> bool {
    (0..frame.body.param_count()).any(|n| is_number(frame, n))
}

fn is_number(frame: &Frame<'_>, param: usize) -> bool {
    let ty = frame.body.value_ty(frame.body.param(param));
    matches!(frame.program.types.get(ty), Type::Int(width) if *width > 1)
}

/// What every way to the block's allocation asks of parameters.
fn asked_for(frame: &Frame<'_>, obj: ObjId) -> Vec<Atom> {
    let ObjKind::Fresh { call, index, .. } = frame.local.memory.kind(obj) else {
        return Vec::new();
    };
    let mut atoms = asked_by_callee(frame, call, index);
    let mut block = frame.block_of(call);
    while let Some(above) = frame.cfg.dominators().idom(block) {
        if frame.cfg.preds(block).iter().all(|&pred| pred == above) {
            atoms.extend(asked_by_edge(frame, above, block));
        }
        block = above;
    }
    atoms
}

/// What the edge between two blocks asks of a parameter.
fn asked_by_edge(frame: &Frame<'_>, from: BlockId, to: BlockId) -> Vec<Atom> {
    let body = frame.body;
    let (value, numbers) = match body.insts[body.terminator(from)].op {
        Op::Switch {
            value,
            default,
            cases,
        } if to != default => {
            let cases = body.cases(cases).iter().filter(|case| case.target == to);
            let ty = value.as_value().map(|value| body.value_ty(value));
            let Some(&Type::Int(width)) = ty.map(|ty| frame.program.types.get(ty)) else {
                return Vec::new();
            };
            let numbers = cases.map(|case| drip_cond::to_signed(case.value, width));
            (value, numbers.collect::<Vec<i64>>())
        }
        Op::CondBr { cond, then, els } if then != els => {
            let comparison = cond.as_value().and_then(|value| body.def(value));
            let Some(Op::Cmp { pred, a, b }) = comparison.map(|inst| body.insts[inst].op) else {
                return Vec::new();
            };
            let is_equal = matches!(pred, CmpPred::Eq) && to == then
                || matches!(pred, CmpPred::Ne) && to == els;
            match constant(frame.program, body, b).filter(|_| is_equal) {
                Some(number) => (a, vec![number]),
                None => return Vec::new(),
            }
        }
        _ => return Vec::new(),
    };
    match number(frame, value) {
        Some(number) if !number.others.iter().any(|n| numbers.contains(n)) => {
            between(number.param, numbers.into_iter().map(Class::Eq))
        }
        _ => Vec::new(),
    }
}

/// The parameter that a value is, or may be besides constants, by way of φs.
fn number(frame: &Frame<'_>, operand: Operand) -> Option<Number> {
    let body = frame.body;
    let mut found = None;
    let mut others = Vec::new();
    let mut seen = vec![operand];
    let mut next = 0;
    while let Some(&operand) = seen.get(next) {
        next += 1;
        if let Some(number) = constant(frame.program, body, operand) {
            others.push(number);
            continue;
        }
        let value = operand.as_value()?;
        if let Some(param) = body.as_param(value) {
            if found.is_some_and(|known| known != param) {
                return None;
            }
            found = Some(param);
            continue;
        }
        let Op::Phi { incoming } = body.insts[body.def(value)?].op else {
            return None;
        };
        for entry in body.incoming(incoming) {
            if !seen.contains(&entry.value) {
                seen.push(entry.value);
            }
        }
        if seen.len() > MAX_VALUES {
            return None;
        }
    }
    let param = found.filter(|&param| is_number(frame, param))?;
    Some(Number {
        param: u16::try_from(param).ok()?,
        others,
    })
}

/// What the callee that makes the block asks of arguments that are the function's own parameters.
fn asked_by_callee(frame: &Frame<'_>, call: InstId, index: u16) -> Vec<Atom> {
    let mut atoms = Vec::new();
    let Some(summary) = frame.calls.get(&call) else {
        return atoms;
    };
    for (n, &arg) in args_of(frame.body, call).iter().enumerate() {
        let own = arg.as_value().and_then(|value| frame.body.as_param(value));
        let Some(own) = own.filter(|&own| is_number(frame, own)) else {
            continue;
        };
        let is_it = |atom: &&Atom| matches!(&atom.subject, Subject::Entry(path) if path.loads.is_empty() && path.root == Root::Arg(n as u16));
        let making = summary.outcomes.iter().filter(|o| o.fresh.contains(&index));
        // Exactly one number each, or nothing is known.
        let classes = making.map(|o| o.when.iter().find(is_it).map_or(Class::Any, |a| a.class));
        atoms.extend(between(own as u16, classes));
    }
    atoms
}

/// What is known of a parameter that is in one of these classes.
fn between(param: u16, classes: impl Iterator<Item = Class>) -> Vec<Atom> {
    let mut hull: Option<(i64, i64)> = None;
    for class in classes {
        let Class::Eq(number) = class else {
            return Vec::new();
        };
        let (min, max) = hull.unwrap_or((number, number));
        hull = Some((number.min(min), number.max(max)));
    }
    let classes = match hull {
        Some((min, max)) if min == max => [Some(Class::Eq(min)), None],
        Some((min, max)) => Class::Eq(min).bounds(Class::Eq(max)),
        None => [None, None],
    };
    let atom = |class: Class| Atom {
        subject: Subject::Entry(ValuePath::arg(param)),
        class,
    };
    classes.into_iter().flatten().map(atom).collect()
}
