//! Question: what does a call of a function without a body do? Model, attributes, or unknown: in that order.

use std::sync::Arc;

use drip_models::{
    Certainty, Class, Escape, EscapeTo, Family, Free, FreshObject, Library, Offset, Outcome,
    Summary, Value, ValuePath,
};
use drip_program::{FuncAttrs, FuncId, Linkage, ParamAttrs, Program, Type};
use smallvec::SmallVec;

/// Variable arguments of an unknown function that are taken to be handed over; further ones are overlooked.
const MAX_VARARGS: usize = 16;

/// What an external function does.
#[derive(Clone, Debug)]
pub struct ExternalCall {
    pub summary: Arc<Summary>,
    /// Nobody knows the function: its result may be anything that code out of sight was given.
    pub unknown: bool,
}

impl ExternalCall {
    fn known(summary: Summary) -> ExternalCall {
        ExternalCall {
            summary: Arc::new(summary),
            unknown: false,
        }
    }

    /// A call that nobody can see into: inline assembly, or a pointer that leads nowhere.
    pub fn opaque(args: usize) -> ExternalCall {
        let mut outcome = Outcome::returning(Value::Unknown(Class::Any));
        outcome.escapes = (0..args.min(MAX_VARARGS)).map(hand_over).collect();
        ExternalCall {
            summary: Arc::new(Summary {
                outcomes: vec![outcome],
                ..Summary::default()
            }),
            unknown: true,
        }
    }
}

fn hand_over(arg: usize) -> Escape {
    Escape {
        path: ValuePath::arg(arg as u16),
        to: EscapeTo::Unknown,
    }
}

/// `None`: the function's own body tells what it does. A program that brings its own malloc still means malloc.
pub fn external_call(program: &Program, library: &Library, func: FuncId) -> Option<ExternalCall> {
    let function = &program.funcs[func];
    let name = program.func_name(func);
    let model = library
        .find(name)
        .filter(|_| function.linkage != Linkage::Internal);
    let manages_memory =
        |s: &Summary| !s.fresh.is_empty() || s.outcomes.iter().any(|o| !o.frees.is_empty());
    if let Some(model) = model.filter(|m| function.body.is_none() || manages_memory(m)) {
        return Some(ExternalCall {
            summary: Arc::clone(model),
            unknown: false,
        });
    }
    if function.body.is_some() {
        return None;
    }
    if function.attrs.has(FuncAttrs::NORETURN) {
        return Some(ExternalCall::known(Summary::never_returns()));
    }
    if name.starts_with("llvm.") {
        return Some(ExternalCall::known(Summary {
            outcomes: vec![Outcome::returning(Value::Unknown(Class::Any))],
            ..Summary::default()
        }));
    }
    if let Some(summary) = by_attributes(program, func) {
        return Some(ExternalCall::known(summary));
    }
    Some(unknown_function(program, func))
}

/// `allockind` attributes of the declaration.
fn by_attributes(program: &Program, func: FuncId) -> Option<Summary> {
    let function = &program.funcs[func];
    if function.attrs.has(FuncAttrs::ALLOC) {
        let fresh = Outcome {
            fresh: SmallVec::from_slice(&[0]),
            ..Outcome::returning(Value::Fresh {
                index: 0,
                offset: Offset::ZERO,
            })
        };
        return Some(Summary {
            outcomes: vec![fresh],
            fresh: vec![FreshObject {
                chain: SmallVec::new(),
                family: Family::default(),
                many: false,
            }],
            ..Summary::default()
        });
    }
    if !function.attrs.has(FuncAttrs::FREE) {
        return None;
    }
    let mut params = function.params.iter();
    let freed = params.position(|p| p.has(ParamAttrs::ALLOCPTR));
    let mut outcome = Outcome::returning(Value::Unknown(Class::Any));
    outcome.frees.push(Free {
        path: ValuePath::arg(freed.unwrap_or(0) as u16),
        family: Family::default(),
        certainty: Certainty::Must,
    });
    Some(Summary {
        outcomes: vec![outcome],
        ..Summary::default()
    })
}

/// A declared function that nobody knows is handed what its non-const parameters point to.
fn unknown_function(program: &Program, func: FuncId) -> ExternalCall {
    const HARMLESS: u16 = ParamAttrs::POINTEE_CONST
        | ParamAttrs::NOCAPTURE
        | ParamAttrs::READONLY
        | ParamAttrs::READNONE;
    let function = &program.funcs[func];
    let Type::Func { params, vararg, .. } = program.types.get(function.ty) else {
        return ExternalCall::opaque(MAX_VARARGS);
    };
    let attrs_of = |index: usize| function.params.get(index).copied().unwrap_or_default();
    let mut outcome = Outcome::returning(Value::Unknown(Class::Any));
    let reads_only =
        function.attrs.has(FuncAttrs::READONLY) || function.attrs.has(FuncAttrs::READNONE);
    for (index, &ty) in params.iter().enumerate() {
        if !program.types.is_ptr(ty) {
            continue;
        }
        if attrs_of(index).has(ParamAttrs::RETURNED) {
            outcome.ret = Value::Entry {
                path: ValuePath::arg(index as u16),
                plus: Offset::ZERO,
            };
        }
        if !reads_only && attrs_of(index).0 & HARMLESS == 0 {
            outcome.escapes.push(hand_over(index));
        }
    }
    // printf's relatives: what follows a constant format string is read, not kept.
    let last = function.params.last();
    let formats = *vararg && last.is_some_and(|p| p.has(ParamAttrs::POINTEE_CONST));
    if (*vararg && !formats) || function.attrs.has(FuncAttrs::NO_PROTOTYPE) {
        let further = params.len()..params.len() + MAX_VARARGS;
        outcome.escapes.extend(further.map(hand_over));
    }
    ExternalCall {
        summary: Arc::new(Summary {
            outcomes: vec![outcome],
            ..Summary::default()
        }),
        unknown: true,
    }
}
