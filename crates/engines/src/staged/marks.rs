//! Question: what does a function that reallocates its argument do with a mark that is passed instead of a block?
//!
//! `alloc(ZEROED, n)`, where `alloc` moves a block and `ZEROED` is some address that asks for a new one: in the summary such a mark is as
//! good as null ([`super::kept`]). So a call that passes one, the address of a variable or the value of a variable that keeps its
//! initial one, has the outcomes of null, and none that moves the argument.

use std::sync::Arc;

use drip_models::{Atom, Class, Outcome, Subject, Summary, ValuePath};
use drip_program::{Body, Const, Op, Operand};

use super::calls::CallContext;

/// The summary as it holds for a call with these arguments.
pub fn with_marks(
    context: &CallContext<'_>,
    body: &Body,
    args: &[Operand],
    mut summary: Arc<Summary>,
) -> Arc<Summary> {
    for (n, &arg) in (0u16..).zip(args) {
        let path = ValuePath::arg(n);
        let moves = |outcome: &Outcome| outcome.copies.iter().any(|copy| copy.from == path);
        if !is_mark(context, body, arg) || !summary.outcomes.iter().any(moves) {
            continue;
        }
        let none = Atom {
            subject: Subject::Entry(path.clone()),
            class: Class::Eq(0),
        };
        if summary.outcomes.iter().any(|o| o.when.contains(&none)) {
            let outcomes = &mut Arc::make_mut(&mut summary).outcomes;
            outcomes.retain(|outcome| !outcome.frees.iter().any(|free| free.path == path));
            for outcome in outcomes {
                outcome.when.retain(|atom| atom.subject != none.subject);
            }
        }
    }
    summary
}

/// Is it an address that is no block, whenever the call is made?
fn is_mark(context: &CallContext<'_>, body: &Body, arg: Operand) -> bool {
    let def = arg.as_value().and_then(|value| body.def(value));
    let addr = match def.map(|inst| body.insts[inst].op) {
        Some(Op::Load { addr }) => addr,
        Some(_) => return false,
        None => return matches!(body.const_of(arg), Some(Const::Global { .. })),
    };
    matches!(body.const_of(addr), Some(Const::Global { global, .. }) if context.constants.contains(*global))
}
