//! Question: is the lost block a setting of the program, given twice?
//!
//! `else if (!strcmp(argv[i], "-s")) config.socket = strdup(argv[++i]);` loses the first socket if there are two of them. A program that
//! frees its settings in the end means to lose none; where nobody ever frees what this variable holds, it is the program's for as
//! long as it runs, and the few bytes are nobody's concern. Whether somebody frees it only the whole program knows.

use drip_flow::{End, Frame, UseFlow};
use drip_models::{Root, ValuePath};
use drip_program::{Body, Const, GlobalId, InstId, Op, Operand, Type};
use rustc_hash::FxHashSet;

use super::calls::{CallContext, Open, call_summary};
use super::keys::key_loop;

/// A global variable, or a field of one.
pub type Setting = (GlobalId, i64);

/// The variable that a later block of the same allocation replaces the lost one in, where a key in a loop says so.
pub(super) fn replaced_setting(frame: &Frame<'_>, flow: &UseFlow, end: &End) -> Option<Setting> {
    let (call, _) = flow.birth(frame)?;
    let object = flow.objects[0];
    let Op::Store { addr, value } = frame.body.insts[end.at].op else {
        return None;
    };
    let is_same_site = frame
        .local
        .targets(value)
        .iter()
        .any(|loc| loc.obj == object);
    // A value that was given is copied from somewhere; a buffer is not.
    let is_copy = frame.args(call).iter().any(|arg| is_pointer(frame, *arg));
    if !is_same_site
        || !is_copy
        || flow.is_freed_somewhere()
        || key_loop(frame, frame.block_of(call)).is_none()
    {
        return None;
    }
    variable(frame.body, addr)
}

fn is_pointer(frame: &Frame<'_>, arg: Operand) -> bool {
    let ty = arg.as_value().map(|value| frame.body.value_ty(value));
    ty.is_some_and(|ty| matches!(frame.program.types.get(ty), Type::Ptr))
}

fn variable(body: &Body, addr: Operand) -> Option<Setting> {
    match body.const_of(addr) {
        Some(&Const::Global { global, offset }) => Some((global, offset)),
        _ => None,
    }
}

/// Those of the variables whose contents some call may free.
pub(super) fn freed_settings(
    context: &CallContext<'_>,
    wanted: &FxHashSet<Setting>,
) -> FxHashSet<Setting> {
    let mut freed = FxHashSet::default();
    if wanted.is_empty() {
        return freed;
    }
    for (func, function) in context.program.funcs.iter_enumerated() {
        let Some(body) = &function.body else { continue };
        for inst in body.insts.ids() {
            let (Op::Call { args, .. } | Op::Invoke { args, .. }) = body.insts[inst].op else {
                continue;
            };
            for (n, &arg) in body.list(args).iter().enumerate() {
                let Some(setting) = held(body, arg).filter(|s| wanted.contains(s)) else {
                    continue;
                };
                let summary = call_summary(context, func, body, inst, &mut Open::default());
                let path = u16::try_from(n).map(ValuePath::arg);
                let frees = summary.is_none_or(|summary| {
                    let mut all = summary.outcomes.iter().flat_map(|outcome| &outcome.frees);
                    all.any(|free| path.as_ref().is_ok_and(|path| free.path == *path))
                });
                if frees {
                    freed.insert(setting);
                }
            }
        }
        // Functions that do so through pointers of their own.
        let summary = context.computed.of(func);
        let outcomes = summary.into_iter().flat_map(|s| &s.outcomes);
        for free in outcomes.flat_map(|outcome| &outcome.frees) {
            if let Root::Global(global) = free.path.root {
                let mut wanted = wanted.iter().copied();
                let at = free.path.loads.first();
                freed.extend(
                    wanted.find(|(g, offset)| {
                        *g == global && at.is_some_and(|at| at.base == *offset)
                    }),
                );
            }
        }
    }
    freed
}

/// The variable that a value was loaded from.
fn held(body: &Body, arg: Operand) -> Option<Setting> {
    let inst: InstId = body.def(arg.as_value()?)?;
    match body.insts[inst].op {
        Op::Load { addr } => variable(body, addr),
        _ => None,
    }
}
