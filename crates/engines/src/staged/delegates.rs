//! Question: which functions are the program's own `malloc`, `realloc` and `free` made of?
//!
//! A program that brings its own allocator calls the inner functions under other names, too (with file and line, for
//! instance). Where `malloc` does nothing but pass its arguments on, the function that gets them means what `malloc` means:
//! its body, with free lists in static memory, would not tell. C++ functions that are known by their names in the source are
//! among them: symbols are told apart once, here.

use std::sync::Arc;

use drip_models::{Library, Summary, Value};
use drip_program::{Body, Const, FuncId, Function, Linkage, Op, Operand, Program};
use rustc_hash::FxHashMap;

use super::calls::manages_memory;

/// Summaries of functions that stand in for a modelled one, and of C++ functions with a model.
pub type Delegates = FxHashMap<FuncId, Arc<Summary>>;

pub fn delegates(program: &Program, library: &Library) -> Delegates {
    let mut found = Delegates::default();
    for (func, function) in program.funcs.iter_enumerated() {
        let name = program.func_name(func);
        let counts = function.linkage != Linkage::Internal && !library.yields_to_body(name);
        let model = library.find(name).filter(|m| manages_memory(m) && counts);
        if let (Some(model), Some(body)) = (model, &function.body)
            && let Some(inner) = passes_on(program, function, body, model)
        {
            found.insert(inner, Arc::clone(model));
        }
        if let Some((model, replaces)) = library.find_qualified(program.func_name(func))
            && (function.body.is_none() || replaces || manages_memory(model))
        {
            found.insert(func, Arc::clone(model));
        }
    }
    found
}

/// The only function of the program that is called, if it gets all arguments in their order and its result is returned.
fn passes_on(
    program: &Program,
    function: &Function,
    body: &Body,
    model: &Summary,
) -> Option<FuncId> {
    let mut only = None;
    for (inst, data) in body.insts.iter_enumerated() {
        let Op::Call { callee, args, .. } = data.op else {
            continue;
        };
        let Some(&Const::Func(inner)) = body.const_of(callee) else {
            return None;
        };
        if program.funcs[inner].body.is_none() {
            continue;
        }
        if only.replace((inst, inner, args)).is_some() {
            return None;
        }
    }
    let (inst, inner, args) = only?;
    let args = body.list(args);
    let in_order = (0..function.params.len())
        .all(|n| args.get(n).and_then(|a| a.as_value()) == Some(body.param(n)));
    let result = Some(body.result(inst));
    let returned =
        |op: &Op| matches!(op, Op::Ret { value } if value.and_then(Operand::as_value) == result);
    let makes = |o: &drip_models::Outcome| matches!(o.ret, Value::Fresh { .. });
    let returns_it =
        !model.outcomes.iter().any(makes) || body.insts.iter().any(|data| returned(&data.op));
    (in_order && returns_it).then_some(inner)
}
