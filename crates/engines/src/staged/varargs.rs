//! Question: does a function free or keep what it is given behind its named parameters (`char *join(int n, ...)`)?
//!
//! What follows `va_start` is not followed value by value. It is enough to know whether some pointer that comes from the list is
//! handed on: stored, returned, or given to a callee that frees or keeps it, or what it leads to. Then everything behind the named
//! parameters is the function's; otherwise (a list that goes to `vfprintf`, strings that are only read) it stays the caller's. A callee
//! that gets the whole list (`push_new(n, args)`) is judged by what its summary says of what the list leads to.
//! Targets lower `va_arg` to loads: from the list the areas where arguments are, from these the arguments. Domain: values that
//! may be a pointer into the list's memory, or come out of it; order: until nothing is new; cost: linear in the uses.

use drip_flow::{Frame, args_of};
use drip_models::{Outcome, Root, Value, ValuePath};
use drip_program::{Const, FuncId, InstId, Op, Program, Type, ValueId};
use rustc_hash::FxHashSet;

/// From a list to an argument: the area where arguments are, and the argument in it.
const LOADS_TO_ARGUMENT: usize = 2;

/// Arguments behind the named ones that are told apart.
pub(super) const MAX_VARARGS: usize = 16;

/// How many named parameters a function has that takes others behind them.
pub(super) fn named_parameters(program: &Program, func: FuncId) -> Option<usize> {
    match program.types.get(program.funcs[func].ty) {
        Type::Func { params, vararg, .. } if *vararg => Some(params.len()),
        _ => None,
    }
}

/// Does the function hand on a pointer out of its argument list?
pub(super) fn hands_on_varargs(frame: &Frame<'_>) -> bool {
    let lists = lists(frame);
    let mut open = lists.clone();
    let mut from_list: FxHashSet<ValueId> = open.iter().copied().collect();
    while let Some(value) = open.pop() {
        let is_argument = is_argument(frame, &lists, value);
        for user in frame.uses(value) {
            let is_next = match frame.body.insts[user].op {
                Op::PtrAdd { base, .. } => base.as_value() == Some(value),
                Op::Load { .. } | Op::VaArg { .. } => is_pointer(frame, user),
                Op::Phi { .. } | Op::Select { .. } | Op::Cast { .. } => true,
                Op::Store { value: stored, .. } => {
                    if is_argument && stored.as_value() == Some(value) {
                        return true;
                    }
                    false
                }
                Op::Call { .. } | Op::Invoke { .. } => {
                    // Who gets the list itself takes the arguments out of it: two loads away.
                    let depth = if is_argument { 0 } else { LOADS_TO_ARGUMENT };
                    if is_taken(frame, user, value, depth) {
                        return true;
                    }
                    false
                }
                Op::Ret { .. } => return true,
                _ => false,
            };
            let result = frame.body.result(user);
            if is_next && from_list.insert(result) {
                open.push(result);
            }
        }
    }
    false
}

/// The lists that `va_start` begins, and copies of such.
fn lists(frame: &Frame<'_>) -> Vec<ValueId> {
    let mut found = Vec::new();
    for inst in frame.body.insts.ids() {
        let Op::Call { callee, .. } = frame.body.insts[inst].op else {
            continue;
        };
        let Some(Const::Func(func)) = frame.body.const_of(callee) else {
            continue;
        };
        let name = frame.program.func_name(*func);
        let is_begun = name.starts_with("llvm.va_start") || name.starts_with("llvm.va_copy");
        if is_begun && let Some(&list) = args_of(frame.body, inst).first() {
            found.extend(frame.accessed(list).as_value());
        }
    }
    found
}

fn is_pointer(frame: &Frame<'_>, inst: InstId) -> bool {
    let ty = frame.body.insts[inst].ty;
    matches!(frame.program.types.get(ty), Type::Ptr)
}

/// Is it what was read, and not a step on the way to it? Areas are only moved along and read from.
fn is_argument(frame: &Frame<'_>, lists: &[ValueId], value: ValueId) -> bool {
    let def = frame.body.def(value).map(|inst| frame.body.insts[inst].op);
    match def {
        Some(Op::Alloca { .. } | Op::PtrAdd { .. }) => false,
        // Not a field of the list itself.
        Some(Op::Load { addr }) => {
            let base = frame.accessed(addr).as_value();
            !base.is_some_and(|base| lists.contains(&base))
        }
        _ => true,
    }
}

/// Does some outcome of the call free or keep this argument, or what it leads to (`clear_all(&a, &b, NULL)`)? Only what is at least so many
/// loads away counts.
fn is_taken(frame: &Frame<'_>, call: InstId, value: ValueId, depth: usize) -> bool {
    let args = args_of(frame.body, call);
    let Some(summary) = frame.calls.get(&call) else {
        return depth == 0;
    };
    let is_it = |path: &ValuePath| match path.root {
        Root::Arg(n) => {
            let arg = args.get(usize::from(n)).and_then(|arg| arg.as_value());
            arg == Some(value) && path.loads.len() >= depth
        }
        _ => false,
    };
    let takes = |outcome: &Outcome| {
        outcome.frees.iter().any(|f| is_it(&f.path))
            || outcome.escapes.iter().any(|e| is_it(&e.path))
            || outcome
                .writes
                .iter()
                .any(|w| matches!(&w.value, Value::Entry { path, .. } if is_it(path)))
    };
    summary.outcomes.iter().any(takes)
}
