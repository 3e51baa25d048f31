//! Which functions have their address used other than as a callee: stored, passed, compared, or put into the initialiser
//! of a global? Only those can be called through a pointer.

use drip_base::IdSet;

use crate::body::{Body, Const, Op, Operand};
use crate::ids::FuncId;
use crate::model::{FuncAttrs, Init, Program, Scalar};

/// The functions whose address the program takes.
pub fn address_taken(program: &Program) -> IdSet<FuncId> {
    let mut taken = IdSet::with_capacity(program.funcs.len());
    for global in &program.globals {
        if let Init::Slots { slots, .. } = &global.init {
            for (_, scalar) in slots {
                if let Scalar::Func(func) = scalar {
                    taken.insert(*func);
                }
            }
        }
    }
    for body in program.funcs.iter().filter_map(|f| f.body.as_ref()) {
        for_each_address_taken(body, |func| {
            taken.insert(func);
        });
    }
    taken
}

/// Sets [`FuncAttrs::ADDRESS_TAKEN`] on all of them.
pub fn mark_address_taken(program: &mut Program) {
    for func in &address_taken(program) {
        if let Some(function) = program.funcs.get_mut(func) {
            function.attrs.0 |= FuncAttrs::ADDRESS_TAKEN;
        }
    }
}

/// Calls `visit` for each use of a function's address in the body that is not a call of it.
pub fn for_each_address_taken(body: &Body, mut visit: impl FnMut(FuncId)) {
    let mut has_funcs = false;
    for constant in &body.consts {
        match constant {
            Const::Func(_) => has_funcs = true,
            Const::Aggregate { elems, .. } => {
                for &elem in elems {
                    if let Some(&Const::Func(func)) = body.consts.get(elem) {
                        visit(func);
                    }
                }
            }
            _ => {}
        }
    }
    if !has_funcs {
        return;
    }
    let func_of = |operand: Operand| match operand.as_const().and_then(|id| body.consts.get(id)) {
        Some(&Const::Func(func)) => Some(func),
        _ => None,
    };
    for (id, inst) in body.insts.iter_enumerated() {
        // A binding marker names a value for the reader; it is no use.
        if matches!(inst.op, Op::Bind { .. }) {
            continue;
        }
        let callee = match inst.op {
            Op::Call { callee, .. } | Op::Invoke { callee, .. } => func_of(callee),
            _ => None,
        };
        // The callee is the first operand.
        let mut skip = usize::from(callee.is_some());
        body.for_each_operand(id, |operand| {
            if skip > 0 {
                skip -= 1;
            } else if let Some(func) = func_of(operand) {
                visit(func);
            }
        });
    }
}
