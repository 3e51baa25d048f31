//! Question: is what sends a path to its loss something that a call says, and nothing that has to be worked out?
//!
//! `if (glob(name, …) != 0) goto out;` loses the block if the call fails, whatever else holds. `if (length) release(block);` does only if
//! the length can be zero where there is a block, and that may be known to those alone who made both. Where callees could not be
//! executed only losses of the first kind are shown.

use drip_base::IdSet;
use drip_flow::{EndKind, Frame, UseFlow};
use drip_program::{BlockId, Const, InstId, Op, Operand, ValueId};

use super::paths::Path;

/// Casts and comparisons between a call and the branch that looks at its result.
const MAX_STEPS: usize = 6;

/// Does every branch between the block's birth and its loss, of those that make a difference to it, look at a parameter or a call's result?
pub fn is_told_by_calls(frame: &Frame<'_>, flow: &UseFlow, path: &Path) -> bool {
    let Some((call, _)) = flow.birth(frame) else {
        return false;
    };
    let deciding = flow.deciding_blocks(
        frame.body.blocks.len(),
        // Ways that end the program take care of nothing.
        |end| u32::from(end.kind == EndKind::Settled),
        |_| 0,
    );
    let mut blocks = path.blocks_from(flow, frame.block_of(call));
    blocks.all(|block| !deciding.contains(block) || is_told(frame, block))
}

/// Blocks whose branches decide whether the object is lost.
pub fn losing_decisions(frame: &Frame<'_>, flow: &UseFlow) -> IdSet<BlockId> {
    flow.deciding_blocks(
        frame.body.blocks.len(),
        |end| u32::from(matches!(end.kind, EndKind::Lost | EndKind::LostPerhaps)),
        |block| frame.cfg.succs(block).len(),
    )
}

/// Is every branch between the birth and the loss decided by what calls of the library say there? Then nothing that came before the birth
/// matters.
pub fn is_told_after_birth(frame: &Frame<'_>, flow: &UseFlow, path: &Path) -> bool {
    let Some((call, _)) = flow.birth(frame) else {
        return false;
    };
    let blocks: Vec<BlockId> = path.blocks_from(flow, frame.block_of(call)).collect();
    let is_news = |operand: Operand| is_news(frame, &blocks, operand);
    let is_told = |&block| match frame.body.insts[frame.body.terminator(block)].op {
        Op::CondBr { cond, .. } => is_news(cond),
        Op::Switch { value, .. } => is_news(value),
        _ => true,
    };
    blocks.iter().all(is_told)
}

/// Is it what a call of the library in one of these blocks has returned, perhaps compared with a constant?
fn is_news(frame: &Frame<'_>, blocks: &[BlockId], operand: Operand) -> bool {
    let body = frame.body;
    is_made_of(frame, operand, MAX_STEPS, &mut |value, _| {
        let def = body.def(value);
        def.is_some_and(|inst| blocks.contains(&frame.block_of(inst)) && is_library(frame, inst))
    })
}

/// Is all that a value is made of, by casts and comparisons, constant or such a value? The number beside it are the steps that are left.
pub fn is_made_of(
    frame: &Frame<'_>,
    operand: Operand,
    steps: usize,
    is_such: &mut dyn FnMut(ValueId, usize) -> bool,
) -> bool {
    let body = frame.body;
    let Some(value) = operand.as_value() else {
        return true;
    };
    let Some(steps) = steps.checked_sub(1) else {
        return false;
    };
    match body.def(value).map(|inst| body.insts[inst].op) {
        Some(Op::Cmp { a, b, .. }) => {
            is_made_of(frame, a, steps, is_such) && is_made_of(frame, b, steps, is_such)
        }
        Some(Op::Cast { value, .. }) => is_made_of(frame, value, steps, is_such),
        _ => is_such(value, steps),
    }
}

fn is_library(frame: &Frame<'_>, call: InstId) -> bool {
    let (Op::Call { callee, .. } | Op::Invoke { callee, .. }) = frame.body.insts[call].op else {
        return false;
    };
    matches!(frame.body.const_of(callee), Some(&Const::Func(func)) if frame.program.funcs[func].body.is_none())
}

fn is_told(frame: &Frame<'_>, block: BlockId) -> bool {
    match frame.body.insts[frame.body.terminator(block)].op {
        Op::CondBr { cond, .. } => is_said(frame, cond),
        Op::Switch { value, .. } => is_said(frame, value),
        _ => true,
    }
}

/// Is it a parameter, a constant, or what a call has returned or put into a variable, perhaps compared with one of these?
fn is_said(frame: &Frame<'_>, operand: Operand) -> bool {
    let body = frame.body;
    is_made_of(frame, operand, MAX_STEPS, &mut |value, _| {
        let Some(inst) = body.def(value) else {
            return body.as_param(value).is_some();
        };
        match body.insts[inst].op {
            Op::Call { .. } | Op::Invoke { .. } => true,
            Op::Load { addr } => {
                let def = addr.as_value().and_then(|value| body.def(value));
                def.is_some_and(|inst| matches!(body.insts[inst].op, Op::Alloca { .. }))
            }
            _ => false,
        }
    })
}
