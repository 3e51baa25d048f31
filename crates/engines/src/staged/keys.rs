//! Question: does a loop do in each turn what a key tells it to?
//!
//! Options, attributes and lines of a configuration are read in a loop, and a `switch` or a comparison of texts says what a turn is about. What is
//! made in a turn may be made again when the same key comes twice.

use drip_flow::{End, Frame, UseFlow};
use drip_program::{BinaryOp, BlockId, FuncId, Op, Operand, Type};

use super::causes::defined_callee;
use super::interface::constant;

/// A loop that meets a key in each turn, by its header.
pub type Keys = (FuncId, BlockId);

/// The loop that loses the block when its key comes twice: the block is made and overwritten in turns of one loop, and a key says in which.
pub(super) fn loop_of_keys(frame: &Frame<'_>, flow: &UseFlow, end: &End) -> Option<Keys> {
    let (call, _) = flow.birth(frame)?;
    let header = key_loop(frame, frame.block_of(call))?;
    let around = frame.cfg.loops().headed_by(header)?;
    let is_inside = frame.cfg.loops().contains(around, frame.block_of(end.at));
    (is_inside && !end.leaves).then_some((frame.func, header))
}

/// The loop around a block to which a `switch` or a comparison of texts leads in one of its turns, by its header.
pub(super) fn key_loop(frame: &Frame<'_>, birth: BlockId) -> Option<BlockId> {
    let header = frame
        .cfg
        .loops()
        .header(frame.cfg.loops().innermost(birth)?);
    let mut block = birth;
    while let Some(above) = frame
        .cfg
        .dominators()
        .idom(block)
        .filter(|_| block != header)
    {
        let is_key = match frame.body.insts[frame.body.terminator(above)].op {
            Op::Switch { .. } => true,
            Op::CondBr { cond, .. } => compares_texts(frame, cond),
            _ => false,
        };
        if is_key {
            return Some(header);
        }
        block = above;
    }
    None
}

/// Is what decides last on the way from the loop's header to this block a `switch`, or a comparison of texts? Whether a text is empty and
/// what was counted up (`!strcmp(key, "name") && ++count`) decides nothing.
pub(super) fn has_key(frame: &Frame<'_>, birth: BlockId, header: BlockId) -> bool {
    let dominators = frame.cfg.dominators();
    let mut block = birth;
    while let Some(above) = dominators.idom(block).filter(|_| block != header) {
        match frame.body.insts[frame.body.terminator(above)].op {
            Op::Switch { .. } => return true,
            Op::CondBr { cond, .. } if is_formal(frame, cond) => block = above,
            Op::CondBr { cond, .. } => return compares_texts(frame, cond),
            _ => block = above,
        }
    }
    false
}

/// `*text != '\0'`, `++count`.
fn is_formal(frame: &Frame<'_>, cond: Operand) -> bool {
    let body = frame.body;
    let def = |operand: Operand| Some(body.insts[body.def(operand.as_value()?)?]);
    let is_zero = |operand| constant(frame.program, body, operand) == Some(0);
    let Some(Op::Cmp { a, b, .. }) = def(cond).map(|data| data.op) else {
        return false;
    };
    is_zero(b)
        && def(a).is_some_and(|data| match data.op {
            Op::Load { .. } => matches!(frame.program.types.get(data.ty), Type::Int(8)),
            Op::Cast { value, .. } => def(value).is_some_and(|data| {
                let is_byte = matches!(frame.program.types.get(data.ty), Type::Int(8));
                is_byte && matches!(data.op, Op::Load { .. })
            }),
            Op::Binary { op, b, .. } => {
                op == BinaryOp::Add && constant(frame.program, body, b) == Some(1)
            }
            _ => false,
        })
}

/// `strcmp(a, b) == 0`: what a pure function of the library says of two pointers, as a number.
fn compares_texts(frame: &Frame<'_>, cond: Operand) -> bool {
    let body = frame.body;
    let def = |operand: Operand| body.def(operand.as_value()?);
    let Some(Op::Cmp { a, .. }) = def(cond).map(|inst| body.insts[inst].op) else {
        return false;
    };
    let Some(call) = def(a) else {
        return false;
    };
    let (Op::Call { args, .. } | Op::Invoke { args, .. }) = body.insts[call].op else {
        return false;
    };
    let is_number = matches!(frame.program.types.get(body.insts[call].ty), Type::Int(_));
    let is_pure = frame.calls.get(&call).is_some_and(|s| s.pure);
    is_number && is_pure && defined_callee(frame, call).is_none() && body.list(args).len() >= 2
}
