//! Question: what does a function do that calls what it is given, where the caller names it?
//!
//! `each(list, free_item)` and `each(list, print_item)` are two different things, though `each` has one summary: what only some callbacks free
//! or make counts as kept there. Where a call passes functions by name, and the callee calls those parameters or passes them on to somebody
//! who does, the callee is summarised once more with them put in. What is known of such a pair is kept for the next call
//! ([`Bindings`]). Asked for is that all of them are summarised already, so that the order of work decides nothing.
//!
//! Lost beyond the bounds, and for recursive callees: the general summary stands.

use std::sync::{Arc, Mutex, PoisonError};

use drip_models::Summary;
use drip_pointer::Callees;
use drip_program::{Body, Const, FuncId, Op, Operand};
use rustc_hash::FxHashMap;

use super::calls::{CallContext, is_modelled};
use super::function::{Wanted, analyse};

/// Instructions of a function that is summarised for single calls.
const MAX_INSTRUCTIONS: usize = 200;

/// Functions that pass a function on, one inside of the other.
const MAX_DEPTH: usize = 3;

type Params = Vec<(usize, FuncId)>;

/// Functions that are put in for parameters of one function.
pub struct Bound {
    func: FuncId,
    params: Params,
    depth: usize,
}

/// What functions do with certain functions put in.
#[derive(Default)]
pub struct Bindings {
    known: Mutex<FxHashMap<(FuncId, Params), Arc<Summary>>>,
}

impl Bound {
    /// The function that an operand of `func` stands for.
    pub fn function(&self, func: FuncId, body: &Body, operand: Operand) -> Option<FuncId> {
        if func != self.func {
            return None;
        }
        let n = parameter(body, operand)?;
        let param = self.params.iter().find(|(param, _)| *param == n)?;
        Some(param.1)
    }
}

/// What a call does that names functions which its callee calls; `None` if there is no more to say than for any call.
pub fn bound_call(
    context: &CallContext<'_>,
    func: FuncId,
    body: &Body,
    callee: FuncId,
    args: &[Operand],
) -> Option<Arc<Summary>> {
    let depth = context.bound.map_or(0, |bound| bound.depth);
    let passed = |arg: Operand| match body.const_of(bare(body, arg)) {
        Some(&Const::Func(passed)) => Some(passed),
        _ => context.bound?.function(func, body, arg),
    };
    let inner = context.program.funcs[callee].body.as_ref()?;
    if inner.insts.len() > MAX_INSTRUCTIONS || depth == MAX_DEPTH {
        return None;
    }
    let mut params: Params = Vec::new();
    for (n, &arg) in args.iter().enumerate().take(inner.param_count()) {
        if let Some(passed) = passed(arg)
            && is_called(context, callee, inner, n, passed, MAX_DEPTH - depth)
        {
            params.push((n, passed));
        }
    }
    let is_final = |func: FuncId| context.computed.is_final(func, context.program);
    let sccs = &context.graph.sccs;
    if params.is_empty()
        || sccs.is_cyclic(sccs.component_of(callee))
        || is_modelled(context, callee)
        || !is_final(callee)
        || !params.iter().all(|&(_, passed)| is_final(passed))
    {
        return None;
    }
    let key = (callee, params);
    let known = &context.bindings.known;
    let found = known
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .get(&key)
        .cloned();
    if found.is_some() {
        return found;
    }
    let bound = Bound {
        func: callee,
        params: key.1.clone(),
        depth: depth + 1,
    };
    let wanted = Wanted {
        summary: true,
        findings: false,
    };
    let summary = analyse(&context.with(&bound), callee, inner, wanted).summary;
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    known.insert(key, Arc::clone(&summary));
    Some(summary)
}

/// Does the function call its parameter, as somebody else than the one that it is known to be, or pass it on to a function that does?
fn is_called(
    context: &CallContext<'_>,
    func: FuncId,
    body: &Body,
    n: usize,
    passed: FuncId,
    depth: usize,
) -> bool {
    let is_it = |operand: Operand| parameter(body, operand) == Some(n);
    body.insts.iter_enumerated().any(|(inst, data)| {
        let (Op::Call { callee, args, .. } | Op::Invoke { callee, args, .. }) = data.op else {
            return false;
        };
        if is_it(callee) {
            let known = context.graph.callees(func, inst);
            return !matches!(known, Callees::Known(targets) if targets[..] == [passed]);
        }
        let (Some(&Const::Func(next)), Some(depth)) = (body.const_of(callee), depth.checked_sub(1))
        else {
            return false;
        };
        let Some(inner) = &context.program.funcs[next].body else {
            return false;
        };
        let mut args = body.list(args).iter().enumerate();
        args.any(|(m, &arg)| is_it(arg) && is_called(context, next, inner, m, passed, depth))
    })
}

/// Which parameter it is, under whatever type.
fn parameter(body: &Body, operand: Operand) -> Option<usize> {
    let value = bare(body, operand).as_value()?;
    body.def(value).is_none().then(|| body.as_param(value))?
}

fn bare(body: &Body, mut operand: Operand) -> Operand {
    while let Some(inst) = operand.as_value().and_then(|value| body.def(value))
        && let Op::Cast { value, .. } = body.insts[inst].op
    {
        operand = value;
    }
    operand
}
