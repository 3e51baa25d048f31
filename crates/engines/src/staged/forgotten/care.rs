//! Who takes care of a field for a function that releases its structure?

use std::hash::Hash;

use drip_base::{EntityId, Graph};
use drip_flow::args_of;
use drip_models::Qualified;
use drip_pointer::Callees;
use drip_program::{BlockId, Cfg, FuncAttrs, FuncId, InstId, Op, Operand, Program};
use rustc_hash::FxHashSet;

use super::super::callers::Callers;
use super::super::calls::CallContext;
use super::facts::Made;

/// Calls down from a destructor that may free the field for it.
const MAX_DEPTH: usize = 6;

/// The same from those who call it.
const MAX_DEPTH_OF_CALLERS: usize = 3;

/// Calls down from one that has a field filled to those that empty it again.
const MAX_DEPTH_OF_BRACKETS: usize = 2;

/// Does the function free the field, or one that it calls, or one that calls it? Who replaces the block leaves another one there, and
/// does not take care of the field for others; nor does who `sets` the field to one or the other, unless the function calls it itself.
pub fn is_cared_for(
    context: &CallContext<'_>,
    func: FuncId,
    freeing: &FxHashSet<FuncId>,
    replaces: impl Fn(FuncId) -> bool,
    sets: impl Fn(FuncId) -> bool,
) -> bool {
    let graph = &context.graph.graph;
    let mut callers = (0..graph.len())
        .map(FuncId::new)
        .filter(|&caller| graph.succs(caller).contains(&func))
        .peekable();
    // Handed to code that nobody sees, which calls it later: whoever hands it over may have emptied the structure before.
    let attributes = context.program.funcs[func].attrs;
    if callers.peek().is_none() && attributes.has(FuncAttrs::ADDRESS_TAKEN) {
        return true;
    }
    // Somebody who does one after the other counts as well.
    let own = below(graph, &[func], MAX_DEPTH);
    let mut emptying = freeing.clone();
    emptying.retain(|&func| !replaces(func));
    if emptying.iter().any(|func| own.contains(func)) {
        return true;
    }
    emptying.retain(|&func| !sets(func));
    callers.any(|caller| emptying.contains(&caller) || does_both(context, caller, func, &emptying))
}

/// Does a function hand the structure that it frees to code that nobody sees (`s->ops->release(s)`)? That may have emptied it.
pub fn asks_somebody(context: &CallContext<'_>, func: FuncId, release: InstId) -> bool {
    let Some(body) = &context.program.funcs[func].body else {
        return false;
    };
    let released = args_of(body, release);
    let is_it = |arg: &Operand| arg.as_value().is_some() && released.contains(arg);
    body.insts
        .iter_enumerated()
        .any(|(inst, data)| match data.op {
            Op::Call { callee, .. } | Op::Invoke { callee, .. } => {
                callee.as_value().is_some()
                    && matches!(context.graph.callees(func, inst), Callees::Unknown)
                    && args_of(body, inst).iter().any(is_it)
            }
            _ => false,
        })
}

/// Is a field filled for a while only (`fill(all); show(all); clear(all);`)? Everybody who calls a function that fills it also calls one
/// that frees it, and that one does not fill it.
pub fn is_brief(context: &CallContext<'_>, made: &[Made], freeing: &FxHashSet<FuncId>) -> bool {
    let graph = &context.graph.graph;
    made.iter().all(|made| {
        let callers = (0..graph.len()).map(FuncId::new);
        let mut callers = callers
            .filter(|&caller| graph.succs(caller).contains(&made.0))
            .peekable();
        let frees = |caller: FuncId| {
            let others = graph.succs(caller).iter().copied();
            let others: Vec<FuncId> = others.filter(|&callee| callee != made.0).collect();
            let reached = below(graph, &others, MAX_DEPTH_OF_BRACKETS);
            freeing.iter().any(|func| reached.contains(func))
        };
        callers.peek().is_some() && !freeing.contains(&made.0) && callers.all(frees)
    })
}

/// Does a function call one that frees the field before or after the destructor, and not instead of it?
fn does_both(
    context: &CallContext<'_>,
    caller: FuncId,
    destructor: FuncId,
    emptying: &FxHashSet<FuncId>,
) -> bool {
    let Some(body) = &context.program.funcs[caller].body else {
        return false;
    };
    let (mut releases, mut frees) = (Vec::new(), Vec::new());
    for block in body.blocks.ids() {
        for inst in body.block_insts(block) {
            let Callees::Known(callees) = context.graph.callees(caller, inst) else {
                continue;
            };
            // Of several functions that a pointer may mean, one is called, and not the others after it.
            if callees.contains(&destructor) {
                releases.push(block);
                continue;
            }
            let reached = below(&context.graph.graph, callees, MAX_DEPTH_OF_CALLERS);
            if emptying.iter().any(|func| reached.contains(func)) {
                frees.push(block);
            }
        }
    }
    let cfg = Cfg::build(body);
    let behind = |block: BlockId| below(cfg.graph(), &[block], usize::MAX);
    let follows = |from: &[BlockId], to: &[BlockId]| {
        let mut reached = from.iter().map(|&block| behind(block));
        reached.any(|reached| to.iter().any(|block| reached.contains(block)))
    };
    follows(&releases, &frees) || follows(&frees, &releases)
}

/// Does the program end whenever the function is done (`clear_secrets(); exit(1);`)? Then nobody misses what it forgets.
pub fn is_last_act(program: &Program, callers: &Callers<'_>, func: FuncId) -> bool {
    let calls = callers.of(func);
    let ends = |&(caller, call): &(FuncId, InstId)| {
        let Some(body) = &program.funcs[caller].body else {
            return false;
        };
        let last = body.block_of(call).map(|block| body.terminator(block));
        last.is_some_and(|last| matches!(body.insts[last].op, Op::Unreachable))
    };
    !calls.is_empty() && !callers.is_hidden(func) && calls.iter().all(ends)
}

/// Is the structure's memory given back apart from what it holds? So it is where C++ classes are destroyed first and their memory is freed by
/// somebody else, who needn't be told: if a destructor frees the field, or if the memory is freed by a container's own code.
pub fn is_destroyed_apart(program: &Program, func: FuncId, freeing: &FxHashSet<FuncId>) -> bool {
    let name = |func: FuncId| Qualified::of(program.func_name(func));
    let is_destructor = |&func: &FuncId| name(func).is_some_and(|name| name.is_destructor());
    name(func).is_some_and(|name| name.is_of_library()) || freeing.iter().any(is_destructor)
}

/// What can be reached in so many steps.
pub fn below<I: EntityId + Hash>(graph: &Graph<I>, from: &[I], depth: usize) -> FxHashSet<I> {
    let mut seen: FxHashSet<I> = from.iter().copied().collect();
    let mut level = from.to_vec();
    let mut steps = 0;
    while steps < depth && !level.is_empty() {
        steps += 1;
        let next = level.iter().flat_map(|&node| graph.succs(node));
        level = next.copied().filter(|&node| seen.insert(node)).collect();
    }
    seen
}
