//! Question: what does each call of a function do? Model, computed summary, attributes, or unknown: in that order.

use std::sync::Arc;

use drip_base::IdSet;
use drip_flow::Frame;
use drip_models::{
    Atom, Certainty, Class, Escape, EscapeTo, Family, Free, FreshObject, GlobalSet, Library,
    Outcome, Root, Subject, Summary, Value, ValuePath,
};
use drip_pointer::local::CallTable;
use drip_pointer::{CallGraph, Callees, ObjKind};
use drip_program::{
    Body, CallFlags, CastOp, Const, FuncAttrs, FuncId, GlobalId, InstId, Linkage, Op, Operand,
    ParamAttrs, Program, Type,
};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::bound::{Bindings, Bound, bound_call};
use super::delegates::Delegates;
use super::driver::Options;
use super::granted::Granted;
use super::interface::constant;
use super::marks::with_marks;
use super::several::{Several, merged};
use super::threads::with_routine;
use super::varargs::{MAX_VARARGS, named_parameters};

/// Where the summaries of all functions come from.
pub struct CallContext<'a> {
    pub program: &'a Program,
    pub library: &'a Library,
    pub graph: &'a CallGraph,
    pub delegates: &'a Delegates,
    /// Variables that keep their initial value.
    pub constants: &'a IdSet<GlobalId>,
    /// Parameters that are never null.
    pub granted: &'a Granted,
    pub computed: Computed<'a>,
    /// What is told already of calls of several functions.
    pub several: &'a Several,
    /// And of functions with others put in.
    pub bindings: &'a Bindings,
    /// The functions that are put in for parameters of the function in hand.
    pub bound: Option<&'a Bound>,
    pub options: &'a Options,
}

impl CallContext<'_> {
    /// The same, with functions put in.
    pub fn with<'c>(&'c self, bound: &'c Bound) -> CallContext<'c> {
        CallContext {
            program: self.program,
            library: self.library,
            graph: self.graph,
            delegates: self.delegates,
            constants: self.constants,
            granted: self.granted,
            computed: self.computed,
            several: self.several,
            bindings: self.bindings,
            bound: Some(bound),
            options: self.options,
        }
    }
}

/// The summaries that are computed so far.
#[derive(Clone, Copy)]
pub struct Computed<'a> {
    /// Of the components that are done.
    pub done: &'a [Option<Arc<Summary>>],
    /// Of the component that is being worked on.
    pub inside: Option<&'a FxHashMap<FuncId, Arc<Summary>>>,
}

impl<'a> Computed<'a> {
    /// `None` while the function is being worked on for the first time.
    pub fn of(&self, func: FuncId) -> Option<&'a Arc<Summary>> {
        let inside = self.inside.and_then(|inside| inside.get(&func));
        inside.or_else(|| self.done[func.index()].as_ref())
    }

    /// Will the function's summary stay what it is?
    pub fn is_final(&self, func: FuncId, program: &Program) -> bool {
        let is_changing = self.inside.is_some_and(|inside| inside.contains_key(&func));
        let is_done = self.done[func.index()].is_some() || program.funcs[func].body.is_none();
        is_done && !is_changing
    }
}

/// What the calls of a function leave open.
#[derive(Clone, Copy, Debug, Default)]
pub struct Open {
    /// Calls that nobody knows.
    pub unknown: usize,
    /// A call through a pointer has more alternatives than are told apart: what differs between them is told as "may".
    pub is_coarse: bool,
}

impl Open {
    pub fn add(&mut self, other: Open) {
        self.unknown += other.unknown;
        self.is_coarse |= other.is_coarse;
    }
}

/// The calls of one function.
pub fn call_table(context: &CallContext<'_>, func: FuncId, body: &Body) -> (CallTable, Open) {
    let mut open = Open::default();
    let calls = body.insts.iter_enumerated().filter_map(|(inst, _)| {
        let summary = call_summary(context, func, body, inst, &mut open)?;
        Some((inst, summary))
    });
    (calls.collect(), open)
}

/// What one call does; `None` for other instructions.
pub fn call_summary(
    context: &CallContext<'_>,
    func: FuncId,
    body: &Body,
    inst: InstId,
    open: &mut Open,
) -> Option<Arc<Summary>> {
    let (callee, flags, args) = match body.insts[inst].op {
        Op::Call {
            callee,
            flags,
            args,
        }
        | Op::Invoke {
            callee,
            flags,
            args,
            ..
        } => (callee, flags, args),
        _ => return None,
    };
    if flags.has(CallFlags::ASM) {
        return Some(Arc::new(opaque_call(args.len as usize)));
    }
    if flags.has(CallFlags::NORETURN) {
        let mut never = Summary::never_returns();
        if let Callees::Known(targets) = context.graph.callees(func, inst) {
            let known = merged(context, targets, &mut Open::default());
            never.may_throw = known.may_throw;
            never.thrown = known.thrown.clone();
        }
        return Some(Arc::new(never));
    }
    let put_in = context
        .bound
        .and_then(|bound| bound.function(func, body, callee));
    let put_in = put_in.map(|function| Callees::Known(smallvec::smallvec![function]));
    let callees = match &put_in {
        Some(one) => one,
        None => context.graph.callees(func, inst),
    };
    let summary = match callees {
        Callees::Known(targets) => {
            let bound = match targets[..] {
                [one] => bound_call(context, func, body, one, body.list(args)),
                _ => None,
            };
            bound.unwrap_or_else(|| merged(context, targets, open))
        }
        Callees::Ends => Arc::new(Summary::never_returns()),
        Callees::Aside(_) => Arc::new(Summary {
            outcomes: vec![Outcome::returning(Value::Unknown(Class::Any))],
            touched: GlobalSet::All,
            ..Summary::default()
        }),
        Callees::Unknown => {
            open.unknown += 1;
            Arc::new(opaque_call(args.len as usize))
        }
    };
    let summary = match context.graph.thread(func, inst) {
        Some((argument, routine)) => {
            let routine = summary_of(context, routine, &mut Open::default());
            with_routine(summary, argument as u16, &routine)
        }
        None => summary,
    };
    let args = body.list(args);
    let summary = with_marks(context, body, args, summary);
    let summary = possible(context, func, body, args, summary);
    // Numbers behind the named parameters are printed.
    let named = match body.const_of(callee) {
        Some(&Const::Func(callee)) => named_parameters(context.program, callee),
        _ => None,
    };
    let kept = named.map_or(args.len(), |named| named.min(args.len()));
    Some(keeping_numbers(body, &args[..kept], summary))
}

/// A pointer that is passed as a number (`tree_insert(t, (uintptr_t)key)`) is out of sight in whoever can keep it: numbers are not
/// followed as pointers from there on.
fn keeping_numbers(body: &Body, args: &[Operand], mut summary: Arc<Summary>) -> Arc<Summary> {
    let is_pointer = |arg: &Operand| {
        let def = arg.as_value().and_then(|value| body.def(value));
        let op = def.map(|inst| body.insts[inst].op);
        matches!(
            op,
            Some(Op::Cast {
                op: CastOp::PtrToInt,
                ..
            })
        )
    };
    let numbers: Vec<u16> = (0..)
        .zip(args)
        .filter(|(_, arg)| is_pointer(arg))
        .map(|(n, _)| n)
        .collect();
    if summary.pure || numbers.is_empty() {
        return summary;
    }
    for outcome in &mut Arc::make_mut(&mut summary).outcomes {
        for &n in &numbers {
            outcome.escapes.push(Escape {
                path: ValuePath::arg(n),
                to: EscapeTo::Unknown,
            });
        }
        outcome.escapes.sort();
        outcome.escapes.dedup();
    }
    summary
}

/// Calls of several functions that turn out to be calls of fewer: the function's own memory says which table or pointer it is
/// (the object was made here, its virtual table is known).
pub fn narrowed(context: &CallContext<'_>, frame: &Frame<'_>) -> CallTable {
    let mut table = CallTable::default();
    for (inst, data) in frame.body.insts.iter_enumerated() {
        let (Op::Call { callee, .. } | Op::Invoke { callee, .. }) = data.op else {
            continue;
        };
        let Callees::Known(all) = context.graph.callees(frame.func, inst) else {
            continue;
        };
        if all.len() < 2 {
            continue;
        }
        let local: Option<Vec<FuncId>> = frame
            .local
            .targets(callee)
            .iter()
            .map(|loc| match frame.local.memory.kind(loc.obj) {
                ObjKind::Func(func) if all.contains(&func) => Some(func),
                _ => None,
            })
            .collect();
        if let Some(fewer) = local.filter(|l| !l.is_empty() && l.len() < all.len()) {
            table.insert(inst, merged(context, &fewer, &mut Open::default()));
        }
    }
    table
}

/// Without the outcomes that constant arguments rule out: `init(&s, 0)`, `load(f, LOAD_PLAIN)`. Parameters that are never null
/// (`granted`) are none where they are handed on.
fn possible(
    context: &CallContext<'_>,
    func: FuncId,
    body: &Body,
    args: &[Operand],
    summary: Arc<Summary>,
) -> Arc<Summary> {
    let can_hold = |atom: &Atom| {
        let Subject::Entry(path) = &atom.subject else {
            return true;
        };
        let arg = match path.root {
            Root::Arg(n) if path.loads.is_empty() => args.get(usize::from(n)),
            _ => None,
        };
        let is_granted = |arg: &Operand| {
            let value = arg.as_value();
            value.is_some_and(|value| context.granted.has(func, value))
        };
        arg.is_none_or(|arg| {
            may_be(context.program, body, *arg, atom.class)
                && !(atom.class == Class::Eq(0) && is_granted(arg))
        })
    };
    let is_possible = |outcome: &Outcome| outcome.when.iter().all(can_hold);
    if summary.outcomes.iter().all(is_possible) {
        return summary;
    }
    let mut fewer = Summary::clone(&summary);
    fewer.outcomes.retain(is_possible);
    Arc::new(fewer)
}

/// Can an argument be of this class, as far as the call itself shows?
fn may_be(program: &Program, body: &Body, arg: Operand, class: Class) -> bool {
    if let Some(inst) = arg.as_value().and_then(|value| body.def(value)) {
        return !matches!(body.insts[inst].op, Op::Alloca { .. }) || class != Class::Eq(0);
    }
    match body.const_of(arg) {
        Some(Const::Global { .. } | Const::Func(_)) => class != Class::Eq(0),
        _ => constant(program, body, arg).is_none_or(|value| class.contains(value)),
    }
}

/// What a function does, by the best source there is.
pub fn summary_of(context: &CallContext<'_>, func: FuncId, open: &mut Open) -> Arc<Summary> {
    let CallContext {
        program,
        library,
        delegates,
        ..
    } = *context;
    if program.funcs[func].body.is_some() {
        if let Some(model) = stands_for(program, library, delegates, func) {
            return Arc::clone(model);
        }
        return match context.computed.of(func) {
            Some(summary) => Arc::clone(summary),
            None => Arc::new(Summary::never_returns()),
        };
    }
    let (summary, is_known) = function_outside(program, library, delegates, func);
    open.unknown += usize::from(!is_known);
    summary
}

/// What a function without a body does, and whether anybody has said so.
pub(super) fn function_outside(
    program: &Program,
    library: &Library,
    delegates: &Delegates,
    func: FuncId,
) -> (Arc<Summary>, bool) {
    let function = &program.funcs[func];
    let name = program.func_name(func);
    let model = library
        .find(name)
        .filter(|_| function.linkage != Linkage::Internal);
    if let Some(model) = model.or_else(|| delegates.get(&func)) {
        return (Arc::clone(model), true);
    }
    if function.attrs.has(FuncAttrs::NORETURN) {
        return (Arc::new(Summary::never_returns()), true);
    }
    if name.starts_with("llvm.") {
        let harmless = Summary {
            outcomes: vec![Outcome::returning(Value::Unknown(Class::Any))],
            ..Summary::default()
        };
        return (Arc::new(harmless), true);
    }
    if let Some(summary) = by_attributes(program, func) {
        return (Arc::new(summary), true);
    }
    (Arc::new(unknown_function(program, func)), false)
}

/// The model that is taken instead of a function's body. A program that brings its own malloc still means malloc; any other name
/// means what its body does, and so do names that only some other library has (`g_free` for a graph).
pub(super) fn stands_for<'c>(
    program: &Program,
    library: &'c Library,
    delegates: &'c Delegates,
    func: FuncId,
) -> Option<&'c Arc<Summary>> {
    let name = program.func_name(func);
    let counts = program.funcs[func].linkage != Linkage::Internal && !library.yields_to_body(name);
    let model = library.find(name);
    let model = model.filter(|m| counts && manages_memory(m));
    model.or_else(|| delegates.get(&func))
}

/// Is the function known by other means than its body?
pub(super) fn is_modelled(context: &CallContext<'_>, func: FuncId) -> bool {
    stands_for(context.program, context.library, context.delegates, func).is_some()
}

pub(super) fn manages_memory(summary: &Summary) -> bool {
    !summary.fresh.is_empty() || summary.outcomes.iter().any(|o| !o.frees.is_empty())
}

/// `allockind` and `alloc-family` attributes.
fn by_attributes(program: &Program, func: FuncId) -> Option<Summary> {
    let function = &program.funcs[func];
    let attrs = function.attrs;
    let family = Family::default();
    if attrs.has(FuncAttrs::ALLOC) {
        let fresh = Outcome {
            fresh: SmallVec::from_slice(&[0]),
            ..Outcome::returning(Value::Fresh {
                index: 0,
                offset: drip_models::Offset::ZERO,
            })
        };
        let mut outcomes = vec![fresh];
        if !attrs.has(FuncAttrs::NONNULL_RETURN) {
            outcomes.push(Outcome::returning(Value::Int(0)));
        }
        return Some(Summary {
            outcomes,
            fresh: vec![FreshObject {
                chain: SmallVec::new(),
                family,
                many: false,
            }],
            ..Summary::default()
        });
    }
    if attrs.has(FuncAttrs::FREE) {
        let freed = function
            .params
            .iter()
            .position(|p| p.has(ParamAttrs::ALLOCPTR))
            .unwrap_or(0);
        let mut outcome = Outcome::returning(Value::Unknown(Class::Any));
        outcome.frees.push(Free {
            path: ValuePath::arg(freed as u16),
            family,
            certainty: Certainty::Must,
        });
        return Some(Summary {
            outcomes: vec![outcome],
            ..Summary::default()
        });
    }
    None
}

/// A declared function that nobody knows: what it can reach through non-const parameters escapes.
pub(super) fn unknown_function(program: &Program, func: FuncId) -> Summary {
    let function = &program.funcs[func];
    let mut outcome = Outcome::returning(Value::Unknown(Class::Any));
    let Type::Func { params, vararg, .. } = program.types.get(function.ty) else {
        return Summary::default();
    };
    let readonly =
        function.attrs.has(FuncAttrs::READONLY) || function.attrs.has(FuncAttrs::READNONE);
    let mut scalar_only = true;
    for (index, &ty) in params.iter().enumerate() {
        let attrs = function.params.get(index).copied().unwrap_or_default();
        if !program.types.is_ptr(ty) {
            continue;
        }
        scalar_only = false;
        let harmless = ParamAttrs::POINTEE_CONST
            | ParamAttrs::NOCAPTURE
            | ParamAttrs::READONLY
            | ParamAttrs::READNONE;
        if attrs.has(ParamAttrs::RETURNED) {
            outcome.ret = Value::Entry {
                path: ValuePath::arg(index as u16),
                plus: drip_models::Offset::ZERO,
            };
        }
        if !readonly && attrs.0 & harmless == 0 {
            outcome.escapes.push(Escape {
                path: ValuePath::arg(index as u16),
                to: EscapeTo::Unknown,
            });
        }
    }
    // printf's relatives: what follows a constant format string is read, not kept.
    let formats = *vararg
        && function
            .params
            .last()
            .is_some_and(|p| p.has(ParamAttrs::POINTEE_CONST));
    if *vararg {
        scalar_only = false;
    }
    if (*vararg && !formats) || function.attrs.has(FuncAttrs::NO_PROTOTYPE) {
        scalar_only = false;
        for index in params.len()..params.len() + MAX_VARARGS {
            outcome.escapes.push(Escape {
                path: ValuePath::arg(index as u16),
                to: EscapeTo::Unknown,
            });
        }
    }
    Summary {
        outcomes: vec![outcome],
        pure: scalar_only || readonly,
        ..Summary::default()
    }
}

/// A call through a pointer that could not be resolved, or inline assembly: all arguments escape.
fn opaque_call(args: usize) -> Summary {
    let mut outcome = Outcome::returning(Value::Unknown(Class::Any));
    for index in 0..args {
        outcome.escapes.push(Escape {
            path: ValuePath::arg(index as u16),
            to: EscapeTo::Unknown,
        });
    }
    Summary {
        outcomes: vec![outcome],
        ..Summary::default()
    }
}

/// The function that a call names, for reports.
pub fn callee_name(program: &Program, body: &Body, call: drip_program::InstId) -> String {
    let (Op::Call { callee, .. } | Op::Invoke { callee, .. }) = body.insts[call].op else {
        return String::new();
    };
    match body.const_of(callee) {
        Some(&Const::Func(func)) => operator(program.shown_name(func)).to_owned(),
        _ => "a function pointer".to_owned(),
    }
}

/// What the source says for an allocation operator of C++.
fn operator(symbol: &str) -> &str {
    let forms = [
        ("_Znw", "new"),
        ("_Zna", "new[]"),
        ("_Zdl", "delete"),
        ("_Zda", "delete[]"),
    ];
    forms
        .iter()
        .find(|(prefix, _)| symbol.starts_with(prefix))
        .map_or(symbol, |(_, name)| name)
}
