//! Question: does a path give up in the middle of filling an array?
//!
//! `for (i = 0; i < n; i++) { rows[i] = malloc(m); if (!rows[i]) { free(rows); return NULL; } }` loses the rows of the turns before. Which element
//! holds which row nobody can say, but that a later turn fails where earlier ones did not hangs on the allocation alone: on a path that
//! never comes to anything that takes care of rows the loss is no matter of chance.

use drip_flow::{Frame, UseFlow};
use drip_program::{BlockId, Body, CmpPred, Const, InstId, Op, Operand, ValueId};

use super::known::comparison;
use super::paths::Path;

/// Operations that two addresses are compared through.
const MAX_DEPTH: usize = 8;

/// Does the path leave the loop that makes the block because that very call has failed, in some other turn?
pub(super) fn fails_while_filling(frame: &Frame<'_>, flow: &UseFlow, path: &Path) -> bool {
    let Some((call, _)) = flow.birth(frame) else {
        return false;
    };
    let (home, loops) = (frame.block_of(call), frame.cfg.loops());
    let Some(filling) = loops.innermost(home) else {
        return false;
    };
    let blocks: Vec<BlockId> = path.blocks_from(flow, home).collect();
    blocks.windows(2).any(|pair| {
        let [from, to] = [pair[0], pair[1]];
        if !loops.contains(filling, from) || loops.contains(filling, to) {
            return false;
        }
        let body = frame.body;
        comparison(frame, from, to).is_some_and(|test| {
            matches!(body.const_of(test.b), Some(Const::Null))
                && matches!(test.pred, CmpPred::Eq | CmpPred::Ne)
                && (test.pred == CmpPred::Eq) == test.holds
                && is_result(body, test.a, body.result(call))
        })
    })
}

/// Is it what the call returned, itself or read from where it has just been stored?
fn is_result(body: &Body, operand: Operand, result: ValueId) -> bool {
    let operand = bare(body, operand);
    if operand.as_value() == Some(result) {
        return true;
    }
    let Some(load) = operand.as_value().and_then(|value| body.def(value)) else {
        return false;
    };
    let (Op::Load { addr }, Some(block)) = (body.insts[load].op, body.block_of(load)) else {
        return false;
    };
    let before = body.blocks[block].insts.start..load.as_u32();
    let stored = before
        .rev()
        .map(InstId::from_u32)
        .find_map(|inst| match body.insts[inst].op {
            Op::Store { addr: to, value } => Some((to, value)),
            _ => None,
        });
    stored.is_some_and(|(to, value)| {
        bare(body, value).as_value() == Some(result) && is_same(body, to, addr, MAX_DEPTH)
    })
}

/// Are two addresses worked out in the same way? What they are read from is taken not to have changed in between.
fn is_same(body: &Body, a: Operand, b: Operand, depth: usize) -> bool {
    if a == b {
        return true;
    }
    let def = |operand: Operand| operand.as_value().and_then(|value| body.def(value));
    let (Some(a), Some(b), Some(depth)) = (def(a), def(b), depth.checked_sub(1)) else {
        return false;
    };
    let same = |a, b| is_same(body, a, b, depth);
    match (body.insts[a].op, body.insts[b].op) {
        (Op::Load { addr: a }, Op::Load { addr: b }) => same(a, b),
        (
            Op::Cast { op, value },
            Op::Cast {
                op: other,
                value: b,
            },
        ) => op == other && same(value, b),
        (
            Op::PtrAdd {
                base,
                offset,
                indices,
            },
            Op::PtrAdd {
                base: other,
                offset: by,
                indices: others,
            },
        ) => {
            let (indices, others) = (body.scaled(indices), body.scaled(others));
            let mut pairs = indices.iter().zip(others);
            offset == by
                && indices.len() == others.len()
                && same(base, other)
                && pairs.all(|(x, y)| x.scale == y.scale && same(x.index, y.index))
        }
        _ => false,
    }
}

fn bare(body: &Body, mut operand: Operand) -> Operand {
    while let Some(inst) = operand.as_value().and_then(|value| body.def(value))
        && let Op::Cast { value, .. } = body.insts[inst].op
    {
        operand = value;
    }
    operand
}
