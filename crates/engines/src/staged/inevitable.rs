//! Question: is a block lost whichever path is taken, so that nothing hangs on what the trials and the second look have not found out?
//!
//! They come to no end where a function is large, its loops are many, or its callees are too large to be executed. That costs nothing if
//! no path takes care of the block: it need not be known then which of them can be taken. What has to be known is that there is
//! a block, and that the summaries of the functions which get it have overlooked nothing:
//!
//! - every path that makes it and returns loses it;
//! - it is what a call returns, and that is never anything but a new block or null (what a callee puts somewhere, or makes under a condition,
//!   may never be made here);
//! - the function does something with it (what nobody looks at may never be made: `skip(text, NO_RESULT)`);
//! - whoever gets it only looks at it, as far as stores and calls tell, down to [`MAX_DEPTH`] calls.
//!
//! A call that returns a larger block in its place (`buffer = grow(buffer)`) does not take care of it: what it returns is lost then.

use drip_flow::{End, EndKind, Frame, Machine, UseFlow};
use drip_models::{Outcome, Summary, Value, ValuePath};
use drip_program::{
    BinaryOp, BlockId, Body, CastOp, Const, FuncId, InstId, Op, Operand, Program, ValueId,
};
use rustc_hash::FxHashSet;

use super::causes::defined_callee;
use super::paths::Path;
use super::varargs::named_parameters;

/// Calls down from the function that a block is handed to; it may be kept by whoever is further down.
const MAX_DEPTH: usize = 4;

/// Parameters that were asked for: each once, for one that does more than look ends the question.
type Asked = FxHashSet<(FuncId, usize)>;

/// Is the block lost on every path that makes it and returns, whatever the conditions on them are?
pub fn is_inevitable(frame: &Frame<'_>, flow: &UseFlow) -> bool {
    let is_made = |end: &&End| {
        let object = end.state.objects.first();
        object.is_some_and(|object| !matches!(object.machine, Machine::Unborn | Machine::Null))
    };
    let is_lost = |end: &End| match end.kind {
        EndKind::Lost => true,
        EndKind::Settled => {
            let machine = end.state.objects.first().map(|object| object.machine);
            matches!(machine, Some(Machine::Freed { .. })) && is_grown_by(frame, flow, end.at)
        }
        _ => false,
    };
    let mut ends = flow.ends.iter().filter(is_made);
    !flow.limited
        && ends.all(is_lost)
        && is_only_given_to(frame, flow, |call, n, asked| {
            only_looks(frame, call, n, asked) || grows(frame, call, n)
        })
}

/// Does a call free the block and return another one in its place?
fn is_grown_by(frame: &Frame<'_>, flow: &UseFlow, call: InstId) -> bool {
    let mut args = (0..).zip(frame.args(call));
    args.any(|(n, arg)| is_followed(frame, flow, *arg) && grows(frame, call, n))
}

/// Does a call return a new block whenever it frees this argument?
fn grows(frame: &Frame<'_>, call: InstId, n: usize) -> bool {
    let Some(summary) = frame.calls.get(&call) else {
        return false;
    };
    let arg = ValuePath::arg(n as u16);
    let mut frees = summary.outcomes.iter().filter(|outcome| {
        let mut freed = outcome.frees.iter();
        freed.any(|free| free.path == arg)
    });
    let mut taken = summary.outcomes.iter().flat_map(|o| &o.escapes);
    let returns_another = |o: &Outcome| matches!(o.ret, Value::Fresh { .. });
    frees.clone().next().is_some()
        && frees.all(returns_another)
        && !taken.any(|escape| escape.path.leads_to(&arg))
}

/// Does the function read or write the block, or hand it to somebody, who only looks at it?
pub fn is_only_looked_at(frame: &Frame<'_>, flow: &UseFlow) -> bool {
    is_only_given_to(frame, flow, |call, n, asked| {
        only_looks(frame, call, n, asked)
    })
}

/// Does the function read or write the block, or hand it to nobody but such calls?
fn is_only_given_to(
    frame: &Frame<'_>,
    flow: &UseFlow,
    is_harmless: impl Fn(InstId, usize, &mut Asked) -> bool,
) -> bool {
    let Some(birth) = sure_birth(frame, flow) else {
        return false;
    };
    let is_it = |operand| is_followed(frame, flow, operand);
    let mut is_used = false;
    let mut asked = Asked::default();
    for (inst, data) in frame.body.insts.iter_enumerated() {
        match data.op {
            Op::Load { addr } | Op::Store { addr, .. } => is_used |= is_it(addr),
            Op::MemCopy { dst, src, .. } => is_used |= is_it(dst) || is_it(src),
            Op::Call { .. } | Op::Invoke { .. } if inst != birth => {
                let args = (0..).zip(frame.args(inst));
                for (n, _) in args.filter(|(_, arg)| is_it(**arg)) {
                    is_used = true;
                    if !is_harmless(inst, n, &mut asked) {
                        return false;
                    }
                }
            }
            _ => {}
        }
    }
    is_used
}

/// Does nothing between the block's birth and the end of the path do more than look at it?
pub fn is_only_looked_at_on(frame: &Frame<'_>, flow: &UseFlow, path: &Path) -> bool {
    let Some(birth) = sure_birth(frame, flow) else {
        return false;
    };
    let blocks = path.blocks_from(flow, frame.block_of(birth));
    is_left_in_peace(frame, flow, blocks, |_, _| false)
}

/// Does nothing in these blocks do more than look at the block in question? What it is given to behind the named arguments only shows it, as
/// far as the paths tell (`varargs`).
pub fn is_only_looked_at_in(
    frame: &Frame<'_>,
    flow: &UseFlow,
    blocks: impl Iterator<Item = BlockId>,
) -> bool {
    is_left_in_peace(frame, flow, blocks, |call, n| {
        let callee = defined_callee(frame, call);
        let named = callee.and_then(|callee| named_parameters(frame.program, callee));
        named.is_some_and(|named| n >= named)
    })
}

fn is_left_in_peace(
    frame: &Frame<'_>,
    flow: &UseFlow,
    blocks: impl Iterator<Item = BlockId>,
    is_shown: impl Fn(InstId, usize) -> bool,
) -> bool {
    let is_it = |operand| is_followed(frame, flow, operand);
    let birth = flow.birth(frame).map(|(birth, _)| birth);
    let mut asked = Asked::default();
    let mut insts = blocks.flat_map(|block| frame.body.block_insts(block));
    insts.all(|inst| match frame.body.insts[inst].op {
        Op::Store { value, .. } => !is_it(value),
        Op::Call { .. } | Op::Invoke { .. } if Some(inst) != birth => {
            let mut given = (0..).zip(frame.args(inst)).filter(|(_, arg)| is_it(**arg));
            given.all(|(n, _)| is_shown(inst, n) || only_looks(frame, inst, n, &mut asked))
        }
        _ => true,
    })
}

/// Is the block in the function's variables alone, and never put into memory?
pub fn is_only_in_variables(frame: &Frame<'_>, flow: &UseFlow) -> bool {
    let is_it = |operand| is_followed(frame, flow, operand);
    let mut insts = frame.body.insts.iter();
    !insts.any(|data| matches!(data.op, Op::Store { value, .. } if is_it(value)))
}

/// Can the operand point to the block in question?
fn is_followed(frame: &Frame<'_>, flow: &UseFlow, operand: Operand) -> bool {
    let mut targets = frame.local.targets(operand).iter();
    targets.any(|loc| flow.objects.first() == Some(&loc.obj))
}

/// The call that makes the block, if that is its result whenever the result is not null.
fn sure_birth(frame: &Frame<'_>, flow: &UseFlow) -> Option<InstId> {
    let (birth, index) = flow.birth(frame)?;
    let summary = frame.calls.get(&birth)?;
    always_returns(summary, index).then_some(birth)
}

/// Is a call's result this new block or null, whatever happens?
fn always_returns(summary: &Summary, block: u16) -> bool {
    let mut outcomes = summary.outcomes.iter();
    outcomes.all(|outcome| match outcome.ret {
        Value::Fresh { index, .. } => index == block,
        Value::Int(0) => true,
        _ => false,
    })
}

/// Does a call do nothing with an argument but look at it?
fn only_looks(frame: &Frame<'_>, call: InstId, n: usize, asked: &mut Asked) -> bool {
    let (Op::Call { callee, .. } | Op::Invoke { callee, .. }) = frame.body.insts[call].op else {
        return false;
    };
    match frame.body.const_of(callee) {
        Some(&Const::Func(func)) => reads_parameter(frame.program, (func, n), MAX_DEPTH, asked),
        _ => false,
    }
}

/// Does a function neither keep nor free its parameter? What the library does to it the paths know.
fn reads_parameter(
    program: &Program,
    parameter: (FuncId, usize),
    depth: usize,
    asked: &mut Asked,
) -> bool {
    let (func, n) = parameter;
    let Some(body) = &program.funcs[func].body else {
        return true;
    };
    if !asked.insert(parameter) {
        return true;
    }
    let Some(depth) = depth.checked_sub(1) else {
        return false;
    };
    n < body.param_count() && follow(program, body, body.param(n), depth, asked)
}

fn follow(
    program: &Program,
    body: &Body,
    parameter: ValueId,
    depth: usize,
    asked: &mut Asked,
) -> bool {
    let mut same: FxHashSet<ValueId> = FxHashSet::from_iter([parameter]);
    // Values are defined before they are used, but for what comes round a loop.
    loop {
        let known = same.len();
        for (inst, data) in body.insts.iter_enumerated() {
            let is_it = |operand: Operand| operand.as_value().is_some_and(|v| same.contains(&v));
            let is_same = match data.op {
                Op::PtrAdd { base, .. } => is_it(base),
                Op::Cast {
                    op: CastOp::Bitcast,
                    value,
                } => is_it(value),
                Op::Phi { incoming } => body.incoming(incoming).iter().any(|i| is_it(i.value)),
                Op::Select { then, els, .. } => is_it(then) || is_it(els),
                Op::Cast { value, .. } if is_it(value) && !is_distance(body, inst) => return false,
                Op::Store { value, .. } if is_it(value) => return false,
                Op::Call { callee, args, .. } | Op::Invoke { callee, args, .. } => {
                    let args = (0..).zip(body.list(args));
                    let mut given = args.filter(|(_, arg)| is_it(**arg)).map(|(n, _)| n);
                    let is_read = |n: usize| match body.const_of(callee) {
                        Some(&Const::Func(func)) => {
                            reads_parameter(program, (func, n), depth, asked)
                        }
                        _ => false,
                    };
                    if !given.all(is_read) {
                        return false;
                    }
                    false
                }
                _ => false,
            };
            if is_same {
                same.insert(body.result(inst));
            }
        }
        if same.len() == known {
            return true;
        }
    }
}

/// Is a pointer made a number only to be compared with another one (`end - text`)?
fn is_distance(body: &Body, cast: InstId) -> bool {
    let number = body.result(cast);
    let is_it = |operand: Operand| operand.as_value() == Some(number);
    body.insts.iter_enumerated().all(|(inst, data)| {
        let mut is_used = false;
        body.for_each_operand(inst, |operand| is_used |= is_it(operand));
        let is_compared = matches!(
            data.op,
            Op::Cmp { .. }
                | Op::Binary {
                    op: BinaryOp::Sub,
                    ..
                }
        );
        !is_used || is_compared
    })
}
