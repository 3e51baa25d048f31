//! Question: which path of a losing end convinces, and how much?
//!
//! What the trials say can be taken is executed ([`second_look`]) and doubted (`doubts`); a path that execution refutes is given up for the
//! next one. What no path takes care of is lost on whichever path is taken: where the trials or the execution come to no end there, nothing
//! hangs on what they have not found out.

use std::cell::LazyCell;

use drip_flow::{End, EndKind, Frame, UseFlow};
use drip_program::{BlockId, Const, Op};

use super::beliefs::{is_forgotten_at_exit, is_held_on_the_way};
use super::calls::CallContext;
use super::doubts::{
    ignored_refusal, is_changed_by_chance, is_doubtful, is_untold, is_unwanted, may_be_taken,
    refused,
};
use super::execute::{Fuel, Second, second_look};
use super::inevitable::{
    is_inevitable, is_only_in_variables, is_only_looked_at, is_only_looked_at_on,
};
use super::paths::{Path, Paths};
use super::refusals::may_want_memory;
use super::told::{is_told_after_birth, is_told_by_calls};
use super::trials::Trials;
use crate::finding::Confidence;

/// Calls down from a function that refuses a block to those that can't have memory for it.
const MAX_DEPTH_OF_REFUSAL: usize = 2;

/// Paths of one losing end that are executed before it counts as undecided.
const MAX_SECOND_LOOKS: usize = 8;

/// A path of the end that can be taken, and on which the block is still lost when calls are executed.
pub fn convincing_path(
    context: &CallContext<'_>,
    trials: &mut Trials<'_, '_>,
    flow: &UseFlow,
    end: &End,
    fuel: &mut Fuel,
) -> Option<(Path, Confidence)> {
    let frame = trials.frame;
    let mut excluded: Vec<Vec<BlockId>> = Vec::new();
    let mut suspicion: Option<(Path, Confidence)> = None;
    // For want of memory everybody is refused.
    let is_by_choice = |func| !may_want_memory(context, func, MAX_DEPTH_OF_REFUSAL);
    for _ in 0..MAX_SECOND_LOOKS {
        let Some((path, confidence)) = trials.feasible_path(flow, end, &excluded) else {
            break;
        };
        let believed = LazyCell::new(|| is_forgotten_at_exit(frame, flow, &path));
        if is_unwanted(frame, trials.values, flow, &path, end)
            || is_untold(frame, flow, &path) && !*believed
        {
            return Some((path, Confidence::Low));
        }
        let doubtful = is_doubtful(frame, trials.values, flow, &path)
            || may_be_taken(frame, trials.values, flow, &path, end) && !*believed;
        if is_thrown(frame, flow, &path, end) {
            let confidence = match doubtful {
                true => Confidence::Low,
                false => confidence,
            };
            return Some((path, confidence));
        }
        // Of a doubtful loss only a run that is certain would convince, and that is found soon or not at all.
        let mut lent = match doubtful {
            true => fuel.take(Fuel::SMALL),
            false => std::mem::replace(fuel, Fuel::EMPTY),
        };
        let look = second_look(context, frame, flow, &path, &mut lent);
        fuel.give_back(lent);
        tracing::debug!(
            function = context.program.func_name(frame.func),
            object = ?flow.objects.first(),
            second = ?look.second,
            doubtful,
            refuted = excluded.len(),
            ?confidence,
            "second look"
        );
        match look.second {
            Second::Lost if ignored_refusal(frame, flow, &path).is_some_and(is_by_choice) => {
                return Some((path, Confidence::Low));
            }
            Second::Lost if is_changed_by_chance(frame, trials.values, flow, &path) => {
                return Some((path, Confidence::Low));
            }
            Second::Lost => return Some((path, confidence)),
            // The block may be lost before it is handed to whoever refuses it, too.
            Second::LostPerhaps if refused(frame, flow, &path).is_some() => {
                let is_low = doubtful || is_doubted_twice(frame, flow, &path, end, confidence);
                let confidence = match is_low {
                    true => Confidence::Low,
                    false => confidence.min(Confidence::Medium),
                };
                excluded.push(path.blocks(flow).collect());
                suspicion.get_or_insert((path, confidence));
            }
            Second::LostPerhaps
                if !doubtful && !is_doubted_twice(frame, flow, &path, end, confidence) =>
            {
                return Some((path, confidence.min(Confidence::Medium)));
            }
            // Where execution has refuted other paths, what callees do matters.
            Second::Briefly
                if !doubtful
                    && excluded.is_empty()
                    && !is_doubted_twice(frame, flow, &path, end, confidence)
                    && is_told_by_calls(frame, flow, &path) =>
            {
                return Some((path, confidence.min(Confidence::Medium)));
            }
            Second::LostPerhaps | Second::Briefly | Second::Open | Second::Roughly
                if !doubtful && *believed =>
            {
                return Some((path, confidence.min(Confidence::Medium)));
            }
            Second::LostPerhaps
                if !doubtful
                    && excluded.is_empty()
                    && end.leaves
                    && is_held_on_the_way(frame, flow, &path) =>
            {
                return Some((path, confidence.min(Confidence::Medium)));
            }
            // Whatever way a callee went.
            Second::Roughly if flow.ends.iter().all(|end| end.kind == EndKind::Lost) => {
                return Some((path, confidence.min(Confidence::Medium)));
            }
            Second::LostPerhaps | Second::Briefly | Second::Open | Second::Roughly
                if !doubtful
                    && excluded.is_empty()
                    && (is_inevitable(frame, flow)
                        || is_simple(frame, flow, &path, end)
                        || is_lost_at_once(frame, flow, &path, end)) =>
            {
                return Some((path, confidence.min(Confidence::Medium)));
            }
            Second::LostPerhaps | Second::Briefly | Second::Open | Second::Roughly => {
                return Some((path, Confidence::Low));
            }
            Second::Refuted => excluded.push(path.blocks(flow).take(look.passed + 1).collect()),
        }
        trials.exhausted |= excluded.len() == MAX_SECOND_LOOKS;
    }
    if suspicion.is_none() && excluded.is_empty() && trials.exhausted {
        return untried(trials, flow, end);
    }
    suspicion
}

/// Is what decides on a loss at the function's end told by calls, and the block in variables alone and handed to nobody who could keep
/// it? Then nothing that callees do matters.
fn is_simple(frame: &Frame<'_>, flow: &UseFlow, path: &Path, end: &End) -> bool {
    end.leaves
        && is_told_by_calls(frame, flow, path)
        && is_only_in_variables(frame, flow)
        && is_only_looked_at(frame, flow)
}

/// Is everything that matters seen between the block's birth and the function's end: what the library says there, and calls that only look at
/// the block?
fn is_lost_at_once(frame: &Frame<'_>, flow: &UseFlow, path: &Path, end: &End) -> bool {
    end.leaves
        && end.kind == EndKind::Lost
        && is_told_after_birth(frame, flow, path)
        && is_only_looked_at_on(frame, flow, path)
}

/// A path of an end whose paths were too many to be tried, if it does not matter which of them is taken, or by which way the block's birth
/// is come to.
fn untried(trials: &mut Trials<'_, '_>, flow: &UseFlow, end: &End) -> Option<(Path, Confidence)> {
    let frame = trials.frame;
    let path = Paths::new(flow, end).next().filter(|path| {
        is_inevitable(frame, flow)
            || is_lost_at_once(frame, flow, path, end)
            || end.leaves && is_forgotten_at_exit(frame, flow, path)
    })?;
    let is_doubted = is_unwanted(frame, trials.values, flow, &path, end)
        || is_untold(frame, flow, &path)
        || is_doubtful(frame, trials.values, flow, &path)
        || may_be_taken(frame, trials.values, flow, &path, end);
    Some((
        path,
        if is_doubted {
            Confidence::Low
        } else {
            Confidence::Medium
        },
    ))
}

/// Two doubts are too many: the plainer paths can't be taken, a callee has to find in memory what it takes, and on other paths the function
/// does take care of the block.
fn is_doubted_twice(
    frame: &Frame<'_>,
    flow: &UseFlow,
    path: &Path,
    end: &End,
    confidence: Confidence,
) -> bool {
    let mut others = flow.ends.iter();
    let is_cared_for = others.any(|other| other.kind == EndKind::Settled);
    confidence < Confidence::High
        && end.leaves
        && is_cared_for
        && path.blocks(flow).any(|block| calls_own_code(frame, block))
}

/// Does a block call a function of the program itself, or one that nobody can tell?
fn calls_own_code(frame: &Frame<'_>, block: BlockId) -> bool {
    let body = frame.body;
    body.block_insts(block)
        .any(|inst| match body.insts[inst].op {
            Op::Call { callee, .. } | Op::Invoke { callee, .. } => match body.const_of(callee) {
                Some(&Const::Func(callee)) => frame.program.funcs[callee].body.is_some(),
                _ => true,
            },
            _ => false,
        })
}

/// Does the path follow an exception? Those are not executed.
fn is_thrown(frame: &Frame<'_>, flow: &UseFlow, path: &Path, end: &End) -> bool {
    let body = frame.body;
    let unwinds = path.hops.windows(2).any(|pair| {
        let [from, to] = [&pair[0], &pair[1]].map(|hop| flow.nodes[hop.node].block);
        matches!(body.insts[body.terminator(from)].op, Op::Invoke { unwind, .. } if unwind == to)
    });
    unwinds || end.leaves && !matches!(body.insts[end.at].op, Op::Ret { .. })
}
