//! Question: may a function outside of the program keep the block, although it promises not to change it?
//!
//! What is passed as a pointer to constant memory counts as looked at. Of texts that is the rule: whoever keeps a `const char *` copies it.
//! Data (`const void *`, `const struct s *`) that is handed over with a structure which may be changed can as well be kept
//! in there: `set(expression, INFO, info, size)`. A function that never frees such a block on any way may have been right; one that frees it on
//! some way knows that it is still its own.

use drip_flow::{Frame, UseFlow};
use drip_program::{Const, DiType, DiTypeId, FuncId, InstId, Op, ParamAttrs, Program};

use super::calls::CallContext;

/// Is the block handed to such a function?
pub(super) fn may_be_kept_outside(
    context: &CallContext<'_>,
    frame: &Frame<'_>,
    flow: &UseFlow,
) -> bool {
    let Some(&object) = flow.objects.first() else {
        return false;
    };
    let body = frame.body;
    let gets_it = |call: InstId, callee: FuncId| {
        let mut args = frame.args(call).iter().enumerate();
        args.any(|(n, &arg)| {
            frame.local.targets(arg).iter().any(|loc| loc.obj == object)
                && is_constant_data(context.program, callee, n)
        })
    };
    body.insts.iter_enumerated().any(|(call, data)| {
        let (Op::Call { callee, .. } | Op::Invoke { callee, .. }) = data.op else {
            return false;
        };
        let Some(&Const::Func(callee)) = body.const_of(callee) else {
            return false;
        };
        let function = &context.program.funcs[callee];
        let is_described = context.library.find(context.program.func_name(callee));
        function.body.is_none()
            && is_described.is_none()
            && has_keeper(context.program, callee)
            && gets_it(call, callee)
    })
}

/// Does the function get a pointer to something that it may change?
fn has_keeper(program: &Program, func: FuncId) -> bool {
    let params = program.funcs[func].params.iter().enumerate();
    let mut changed = params.filter(|(_, attrs)| !attrs.has(ParamAttrs::POINTEE_CONST));
    changed.any(|(n, _)| {
        let to = parameter(program, func, n).and_then(|ty| pointee(program, ty));
        to.is_some()
    })
}

/// Is the parameter a pointer to constant memory that is no text?
fn is_constant_data(program: &Program, func: FuncId, n: usize) -> bool {
    let attrs = program.funcs[func].params.get(n);
    let to = parameter(program, func, n).and_then(|ty| pointee(program, ty));
    let is_text = |to: Option<DiTypeId>| {
        let to = to.and_then(|ty| plain(program, ty));
        matches!(
            to.map(|ty| &program.di_types[ty]),
            Some(DiType::Base { bytes: 1, .. })
        )
    };
    attrs.is_some_and(|attrs| attrs.has(ParamAttrs::POINTEE_CONST))
        && to.is_some_and(|to| !is_text(to))
}

/// The source's type of a parameter.
fn parameter(program: &Program, func: FuncId, n: usize) -> Option<DiTypeId> {
    match &program.di_types[program.funcs[func].di_type?] {
        DiType::Func { params, .. } => *params.get(n)?,
        _ => None,
    }
}

/// What a pointer points to (`void` is nothing that is known); none if it is no pointer.
fn pointee(program: &Program, ty: DiTypeId) -> Option<Option<DiTypeId>> {
    match &program.di_types[plain(program, ty)?] {
        DiType::Pointer { to } => Some(*to),
        _ => None,
    }
}

/// The type without names and qualifiers; none for `void`.
fn plain(program: &Program, ty: DiTypeId) -> Option<DiTypeId> {
    let mut ty = ty;
    while let DiType::Typedef { of, .. } | DiType::Const(of) | DiType::Qualified(of) =
        &program.di_types[ty]
    {
        ty = (*of)?;
    }
    Some(ty)
}
