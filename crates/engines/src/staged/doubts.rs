//! Question: is a losing path one that nothing speaks against, and still no reason to call the program wrong?
//!
//! Either the loss hangs on something that the summaries leave open and that the caller takes for granted, or nobody would mend
//! it. Such findings have low confidence. Every rule asks for a shape of the path and the outcomes on it, never for a name but
//! `main`'s.

use drip_flow::{Choice, End, Frame, Symbol, UseFlow, Values, cell_of};
use drip_memssa::{Def, RegionId, VersionId};
use drip_models::{Atom, Class, Outcome, Root, Subject, Summary, Value, ValuePath};
use drip_pointer::{CellId, ObjKind};
use drip_program::{BlockId, CmpPred, Const, FuncId, InstId, Op, Operand, Type};

use super::afterwards::afterwards;
use super::alternatives::{Called, could_be_otherwise};
use super::causes::defined_callee;
use super::codes::{contradicts_code, is_empty_block};
use super::counts::is_pinned;
use super::hooks::is_given_to_hook;
use super::interface::{atom_of, constant};
use super::keys::has_key;
use super::known::{Comparison, branch_fact, comparison};
use super::once::is_done_once;
use super::paths::Path;
use super::told::losing_decisions;
use super::varargs::named_parameters;
use crate::finding::Rule;

/// Versions of a number that are looked through for the call that wrote it; it counts as written by another one beyond.
const MAX_VERSIONS: usize = 16;

/// φs that are looked through, one behind the other, for what a condition is made of. A loop leads back to one of them.
const MAX_PHIS: usize = 3;

/// Does the loss hang on numbers that the summaries leave open and that the caller takes for granted?
pub fn is_doubtful(frame: &Frame<'_>, values: &mut Values, flow: &UseFlow, path: &Path) -> bool {
    let doubt = if is_empty_after_birth(frame, values, flow, path) {
        "empty after birth"
    } else if is_changed_by_callee(frame, values, flow, path) {
        "changed by a callee"
    } else {
        return false;
    };
    let function = frame.program.func_name(frame.func);
    tracing::trace!(function, doubt, "doubtful");
    true
}

/// Does it hang on what callees may have done with the block, which the summaries leave open and the caller takes for granted?
pub fn may_be_taken(
    frame: &Frame<'_>,
    values: &mut Values,
    flow: &UseFlow,
    path: &Path,
    end: &End,
) -> bool {
    let doubt = if is_unseen(frame, flow, path) {
        "unseen"
    } else if is_given_to_hook(frame, values, flow, path) {
        "given to an optional callback"
    } else if is_owned_by_chance(frame, flow, path) {
        "owned by chance"
    } else if could_be_otherwise(frame, values, flow, path, end) {
        "otherwise"
    } else {
        return false;
    };
    let function = frame.program.func_name(frame.func);
    tracing::trace!(function, doubt, "doubtful");
    true
}

/// Is it a loss that nobody would mend?
pub fn is_unwanted(
    frame: &Frame<'_>,
    values: &mut Values,
    flow: &UseFlow,
    path: &Path,
    end: &End,
) -> bool {
    let reason = if is_replaced_option(frame, flow, end) {
        "an option given twice"
    } else if afterwards(frame, values, flow, path, end)
        .is_some_and(|after| after.values.is_empty())
    {
        "the program ends"
    } else if is_done_once(frame, values, flow, path, end) {
        "done once"
    } else if is_made_by_mistake(frame, flow, path) {
        "made by mistake"
    } else if contradicts_code(frame, flow, path) {
        "contradicts a code"
    } else if is_pinned(frame, values, flow, path) {
        "pinned"
    } else if is_empty_block(frame, values, flow, path, end) {
        "empty block"
    } else if is_printed(frame, flow) && is_empty_after_birth(frame, values, flow, path) {
        "empty after birth"
    } else {
        return false;
    };
    let function = frame.program.func_name(frame.func);
    tracing::trace!(function, reason, "unwanted");
    true
}

/// Is the block made by a function that takes any number of arguments? Those print them, and what they do is not executed.
fn is_printed(frame: &Frame<'_>, flow: &UseFlow) -> bool {
    let Some((call, _)) = flow.birth(frame) else {
        return false;
    };
    let callee = defined_callee(frame, call);
    callee.is_some_and(|callee| named_parameters(frame.program, callee).is_some())
}

/// Does the path take a number to be zero that the call which made the block has written beside it, into the same variable, or into one of
/// the function's own while it returned the block? A buffer and its length belong together, and so do what was found and how much:
/// who makes the one to put something into it does not leave the other empty.
fn is_empty_after_birth(
    frame: &Frame<'_>,
    values: &mut Values,
    flow: &UseFlow,
    path: &Path,
) -> bool {
    let Some((call, _)) = flow.birth(frame) else {
        return false;
    };
    let (object, memory) = (flow.objects[0], &frame.local.memory);
    let holds = |cell: CellId| {
        let mut targets = frame.local.contents[cell].iter();
        targets.any(|loc| loc.obj == object)
    };
    let holds_beside = |number: CellId| {
        let mut cells = frame.local.contents.ids().into_iter();
        let owner = memory.cells[number].obj;
        cells.any(|cell| memory.cells[cell].obj == owner && holds(cell))
    };
    let is_result = || {
        birth(frame, flow, path).is_some_and(|(_, _, made)| matches!(made.ret, Value::Fresh { .. }))
    };
    let is_own = |number: CellId| {
        matches!(memory.kind(memory.cells[number].obj), ObjKind::Stack(_)) && is_result()
    };
    let decides = |block: BlockId| losing_decisions(frame, flow).contains(block);
    let blocks: Vec<BlockId> = path.blocks_from(flow, frame.block_of(call)).collect();
    for pair in blocks.windows(2) {
        let [block, next] = [pair[0], pair[1]];
        let fact = branch_fact(frame, values, block, next);
        let Some((sym, Class::Eq(0))) = fact.and_then(|fact| atom_of(values, fact)) else {
            continue;
        };
        let Some(Symbol::Version(version, 1..)) = values.symbol(sym) else {
            continue;
        };
        let cell = cell_of(frame.memssa.versions[version].region);
        if is_written_by(frame, version, call)
            && !holds(cell)
            && (holds_beside(cell) || is_own(cell) && decides(block))
        {
            return true;
        }
    }
    false
}

/// Does the block come out of a call through a function pointer, or does such a call take care of it in another outcome? Which function is
/// meant there nobody knows for sure.
pub fn hangs_on_pointer(frame: &Frame<'_>, flow: &UseFlow, path: &Path) -> bool {
    let is_direct = |inst: InstId| match frame.body.insts[inst].op {
        Op::Call { callee, .. } | Op::Invoke { callee, .. } => {
            matches!(frame.body.const_of(callee), Some(Const::Func(_)))
        }
        _ => true,
    };
    let is_born = flow.birth(frame).is_some_and(|(call, _)| !is_direct(call));
    let mut choices = path.hops.iter().flat_map(|hop| &hop.choices);
    is_born
        || choices.any(|choice| {
            let call = Called::new(frame, flow, choice.inst).filter(|_| !is_direct(choice.inst));
            call.is_some_and(|call| call.outcomes.iter().any(|outcome| call.takes(outcome)))
        })
}

/// Would a maintainer expect the path in a run without failures of the system?
pub fn is_ordinary(frame: &Frame<'_>, flow: &UseFlow, path: &Path, rule: Rule) -> bool {
    let is_possible = match rule {
        Rule::D002 => is_plainly_possible(frame, flow, path, None),
        // What one turn of a loop makes and the next one overwrites is lost by counting.
        Rule::D003 => is_plainly_possible(frame, flow, path, Some(MAX_PHIS)),
        _ => true,
    };
    is_possible && !is_for_want_of_memory(frame, flow, path)
}

/// Does everything that is decided on the path, once the block is there, hang on the function's parameters and on what the library
/// says of them? Whether a path can be taken that asks for something in memory, or for what another function of the program returns,
/// only those know who put it there.
fn is_plainly_possible(
    frame: &Frame<'_>,
    flow: &UseFlow,
    path: &Path,
    phis: Option<usize>,
) -> bool {
    let Some((call, _)) = flow.birth(frame) else {
        return false;
    };
    let mut blocks = path.blocks_from(flow, frame.block_of(call));
    blocks.all(
        |block| match frame.body.insts[frame.body.terminator(block)].op {
            Op::CondBr { cond, .. } => is_plain(frame, call, cond, phis),
            Op::Switch { value, .. } => is_plain(frame, call, value, phis),
            _ => true,
        },
    )
}

/// Is the value made of parameters, constants, and what library functions say of such, perhaps by counting? At most so many φs are looked
/// through, if any.
fn is_plain(frame: &Frame<'_>, birth: InstId, operand: Operand, phis: Option<usize>) -> bool {
    let body = frame.body;
    let Some(value) = operand.as_value() else {
        return true;
    };
    let Some(inst) = body.def(value) else {
        return body.as_param(value).is_some();
    };
    let is_plain = |operand| is_plain(frame, birth, operand, phis);
    match body.insts[inst].op {
        Op::Cmp { a, b, .. } | Op::Binary { a, b, .. } => is_plain(a) && is_plain(b),
        Op::Cast { value, .. } => is_plain(value),
        Op::Phi { incoming } => phis.is_some_and(|phis| {
            let mut values = body.incoming(incoming).iter().map(|from| from.value);
            phis == 0 || values.all(|value| self::is_plain(frame, birth, value, Some(phis - 1)))
        }),
        Op::Call { args, .. } | Op::Invoke { args, .. } => {
            let is_library = defined_callee(frame, inst).is_none();
            // Somewhere to write to is no input.
            let is_buffer = |value| {
                let def = body.def(value).map(|inst| body.insts[inst].op);
                matches!(def, Some(Op::Alloca { .. }))
            };
            let mut inputs = body.list(args).iter().filter_map(|arg| arg.as_value());
            let has_input = inputs.any(|value| !is_buffer(value));
            inst == birth || is_library && has_input
        }
        _ => false,
    }
}

/// Is the path taken only because some other block could not be allocated? It loses memory where there is none left, and most programs
/// end then, somewhere.
fn is_for_want_of_memory(frame: &Frame<'_>, flow: &UseFlow, path: &Path) -> bool {
    let blocks: Vec<BlockId> = path.blocks(flow).collect();
    blocks
        .windows(2)
        .any(|edge| refused_call(frame, edge[0], edge[1]).is_some())
}

/// The allocation that has failed if a branch goes this way.
fn refused_call(frame: &Frame<'_>, from: BlockId, to: BlockId) -> Option<InstId> {
    let Comparison { pred, a, b, holds } = comparison(frame, from, to)?;
    let is_equal = match pred {
        CmpPred::Eq => holds,
        CmpPred::Ne => !holds,
        _ => false,
    };
    let is_null = is_equal && constant(frame.program, frame.body, b) == Some(0);
    let call = frame.body.def(a.as_value()?).filter(|_| is_null)?;
    let makes = |outcome: &Outcome| matches!(outcome.ret, Value::Fresh { .. });
    let outcomes = &frame.calls.get(&call)?.outcomes;
    outcomes.iter().any(makes).then_some(call)
}

/// Does the loss hang on what a callee does out of everybody's sight? It frees or keeps the object in another outcome, and neither
/// a condition nor a result that the caller looks at tells the two apart: callers mean the usual outcome (a sanity check that
/// never fails, an insertion of a key that is known to be new).
fn is_unseen(frame: &Frame<'_>, flow: &UseFlow, path: &Path) -> bool {
    let mut choices = path.hops.iter().flat_map(|hop| &hop.choices);
    choices.any(|choice| is_unseen_choice(frame, flow, choice))
}

fn is_unseen_choice(frame: &Frame<'_>, flow: &UseFlow, choice: &Choice) -> bool {
    takes_otherwise(frame, flow, choice, |call, chosen, outcome| {
        // A constant is what a caller is told by: an error code.
        let is_told = matches!(chosen.ret, Value::Int(_));
        let same_result = outcome.ret == chosen.ret && !is_told;
        !call.is_looked_at() || same_result
    })
}

/// Was the block refused by a callee that keeps such blocks otherwise, because of what it found in memory (a key that is there already, a
/// parent that is set)? What there is the caller knows better than its callee, and who hands a new block over as a rule knows that it
/// will be taken.
pub fn refused(frame: &Frame<'_>, flow: &UseFlow, path: &Path) -> Option<(FuncId, usize)> {
    let object = *flow.objects.first()?;
    let mut choices = path.hops.iter().flat_map(|hop| &hop.choices);
    choices.find_map(|choice| {
        let callee = defined_callee(frame, choice.inst)?;
        let call = Called::new(frame, flow, choice.inst)?;
        let chosen = call.outcomes.get(usize::from(choice.alternative))?;
        let mut others = call.outcomes.iter();
        let is_refused = !call.takes(chosen) && others.any(|other| call.is_kept_by(other));
        let holds = |&arg: &Operand| frame.local.targets(arg).iter().any(|loc| loc.obj == object);
        let handed = frame.args(choice.inst).iter().position(holds)?;
        is_refused.then_some((callee, handed))
    })
}

/// The callee that has refused the block it was handed, whatever the other arguments were, and keeps such blocks otherwise, where the function
/// does not look at the number that says so. Who hands a block over without asking knows that it will be taken: an archive of the
/// right kind, a key that is new.
pub fn ignored_refusal(frame: &Frame<'_>, flow: &UseFlow, path: &Path) -> Option<FuncId> {
    let object = *flow.objects.first()?;
    let is_found =
        |atom: &Atom| matches!(&atom.subject, Subject::Entry(path) if !path.loads.is_empty());
    let is_handed = |inst: InstId| {
        let mut targets = frame
            .args(inst)
            .iter()
            .flat_map(|&arg| frame.local.targets(arg));
        targets.any(|loc| loc.obj == object)
    };
    let is_number = |inst: InstId| {
        let ty = frame.body.insts[inst].ty;
        matches!(frame.program.types.get(ty), Type::Int(_))
    };
    let choices = path.hops.iter().flat_map(|hop| &hop.choices);
    let mut choices = choices.filter(|c| is_handed(c.inst) && is_number(c.inst));
    choices.find_map(|choice| {
        let callee = defined_callee(frame, choice.inst)?;
        let call = Called::new(frame, flow, choice.inst).filter(|call| !call.is_looked_at())?;
        let chosen = call.outcomes.get(usize::from(choice.alternative))?;
        let mut others = call.outcomes.iter();
        let is_as_possible = |other: &Outcome| {
            let mut asked = chosen.when.iter();
            asked.all(|atom| is_found(atom) || other.when.contains(atom))
        };
        let is_refused = others.any(|other| {
            is_as_possible(other) && call.is_kept_by(other) && call.takes_more(other, chosen)
        });
        is_refused.then_some(callee)
    })
}

/// The same, and no caller could ever know: the callee's result does not tell which of the two happened.
pub fn is_untold(frame: &Frame<'_>, flow: &UseFlow, path: &Path) -> bool {
    let mut choices = path.hops.iter().flat_map(|hop| &hop.choices);
    choices.any(|choice| {
        takes_otherwise(frame, flow, choice, |_, chosen, outcome| {
            outcome.ret == chosen.ret && !matches!(chosen.ret, Value::Int(_))
        })
    })
}

/// Does another outcome of the call, under no other conditions, take care of the object, which the chosen one does not?
fn takes_otherwise(
    frame: &Frame<'_>,
    flow: &UseFlow,
    choice: &Choice,
    is_like: impl Fn(&Called<'_, '_>, &Outcome, &Outcome) -> bool,
) -> bool {
    if defined_callee(frame, choice.inst).is_none() {
        return false;
    }
    let Some(call) = Called::new(frame, flow, choice.inst) else {
        return false;
    };
    let Some(chosen) = call.outcomes.get(usize::from(choice.alternative)) else {
        return false;
    };
    let like_chosen = |outcome: &Outcome| {
        // Whenever the one can happen the other can.
        let as_possible = outcome.when.iter().all(|atom| chosen.when.contains(atom));
        let same_condition = chosen.when.is_empty() || as_possible;
        is_like(&call, chosen, outcome) && same_condition
    };
    let mut others = call.outcomes.iter();
    !call.takes(chosen) && others.any(|o| call.takes(o) && like_chosen(o))
}

/// Does the path take a test one way and later the same test of the same variable the other way, where nothing but a callee can have
/// changed the variable? What the callee leaves there is not known well enough to speak of more than a suspicion.
fn is_changed_by_callee(
    frame: &Frame<'_>,
    values: &mut Values,
    flow: &UseFlow,
    path: &Path,
) -> bool {
    turned_tests(frame, values, flow, path, comes_from_call)
}

/// The same, where no callee that may have changed the variable puts a certain number there (`s->open = 0`): whoever tests it again to free what
/// it has allocated under that condition knows that it is the same.
pub fn is_changed_by_chance(
    frame: &Frame<'_>,
    values: &mut Values,
    flow: &UseFlow,
    path: &Path,
) -> bool {
    turned_tests(frame, values, flow, path, |frame, version| {
        let cell = cell_of(frame.memssa.versions[version].region);
        comes_from_call(frame, version)
            && !writers(frame, version)
                .into_iter()
                .any(|inst| puts_number(frame, inst, cell))
    })
}

/// Does an instruction put a certain number into this cell?
fn puts_number(frame: &Frame<'_>, inst: InstId, cell: CellId) -> bool {
    let place = frame.local.memory.cells[cell];
    let Some(summary) = frame.calls.get(&inst) else {
        return true;
    };
    let mut writes = summary.outcomes.iter().flat_map(|o| &o.writes);
    writes.any(|write| {
        let mut targets = frame.resolve(inst, &write.cell.base).to_vec().into_iter();
        matches!(write.value, Value::Int(_))
            && targets
                .any(|loc| loc.obj == place.obj && loc.off.plus(write.cell.offset) == place.off)
    })
}

/// Does the path take a test one way and later the same test of the same variable the other way, where the variable was changed so?
fn turned_tests(
    frame: &Frame<'_>,
    values: &mut Values,
    flow: &UseFlow,
    path: &Path,
    is_changed_so: impl Fn(&Frame<'_>, VersionId) -> bool,
) -> bool {
    let mut tested: Vec<(RegionId, VersionId, Class)> = Vec::new();
    for pair in path.hops.windows(2) {
        let [block, next] = [&pair[0], &pair[1]].map(|hop| flow.nodes[hop.node].block);
        let Some(fact) = branch_fact(frame, values, block, next) else {
            continue;
        };
        let Some((sym, class)) = atom_of(values, fact) else {
            continue;
        };
        let Some(Symbol::Version(version, 1..)) = values.symbol(sym) else {
            continue;
        };
        let region = frame.memssa.versions[version].region;
        let is_opposite = |old: Class| {
            matches!(
                (old, class),
                (Class::NonZero, Class::Eq(0)) | (Class::Eq(0), Class::NonZero)
            ) || matches!((old, class), (Class::Eq(a), Class::Ne(b)) | (Class::Ne(a), Class::Eq(b)) if a == b)
                || matches!((old, class), (Class::Has(a), Class::Lacks(b)) | (Class::Lacks(a), Class::Has(b)) if a == b)
        };
        let before = tested.iter().filter(|t| t.0 == region && t.1 != version);
        if before.into_iter().any(|t| is_opposite(t.2)) && is_changed_so(frame, version) {
            return true;
        }
        tested.push((region, version, class));
    }
    false
}

/// The outcome that made the followed block on this path, with its call.
fn birth<'f>(
    frame: &'f Frame<'_>,
    flow: &UseFlow,
    path: &Path,
) -> Option<(InstId, &'f Summary, &'f Outcome)> {
    let (call, _) = flow.birth(frame)?;
    let mut choices = path.hops.iter().flat_map(|hop| &hop.choices);
    let choice = choices.find(|choice| choice.inst == call)?;
    let summary = frame.calls.get(&call)?;
    let made = summary.outcomes.get(usize::from(choice.alternative))?;
    Some((call, summary, made))
}

/// Was the block made because an argument was null that the caller takes not to be (`convert(number, x)` returns `x`, or a new block
/// where there is none)? The caller only tests the result.
fn is_made_by_mistake(frame: &Frame<'_>, flow: &UseFlow, path: &Path) -> bool {
    let Some((call, summary, made)) = birth(frame, flow, path) else {
        return false;
    };
    let returns_argument = |n: u16| {
        let mut outcomes = summary.outcomes.iter();
        outcomes.any(|o| matches!(&o.ret, Value::Entry { path, .. } if *path == ValuePath::arg(n)))
    };
    let is_missing = |atom: &Atom| {
        let n = match &atom.subject {
            Subject::Entry(path) if path.loads.is_empty() => match path.root {
                Root::Arg(n) => n,
                _ => return false,
            },
            _ => return false,
        };
        let arg = frame.args(call).get(usize::from(n));
        let is_variable = arg.is_some_and(|arg| arg.as_value().is_some());
        atom.class == Class::Eq(0) && is_variable && returns_argument(n)
    };
    let mut uses = frame.uses(frame.body.result(call));
    made.when.iter().any(is_missing)
        && uses.all(|user| matches!(frame.body.insts[user].op, Op::Cmp { .. }))
}

/// Does it depend on a field that only the callee looks at whether the result is the caller's or is kept (a reply that is put into its
/// parent, if it has one)?
fn is_owned_by_chance(frame: &Frame<'_>, flow: &UseFlow, path: &Path) -> bool {
    let Some((_, summary, made)) = birth(frame, flow, path) else {
        return false;
    };
    let field = |atom: &Atom| match &atom.subject {
        Subject::Entry(path) if !path.loads.is_empty() => Some(path.clone()),
        _ => None,
    };
    let fields: Vec<ValuePath> = made.when.iter().filter_map(field).collect();
    summary.outcomes.iter().any(|kept| {
        let is_kept = matches!(kept.ret, Value::Unknown(Class::NonZero));
        let told_apart = kept.when.iter().find(|atom| !made.when.contains(atom));
        let by_field = told_apart
            .and_then(field)
            .is_some_and(|f| fields.contains(&f));
        is_kept && by_field
    })
}

/// Is the block a setting that a later one replaces: made in a loop where a key says so, freed nowhere, and overwritten when the same key
/// comes again? That an option or a column is given twice costs a few bytes; nobody wants to hear of it. In `main` any condition
/// counts as a key.
fn is_replaced_option(frame: &Frame<'_>, flow: &UseFlow, end: &End) -> bool {
    let Some((call, _)) = flow.birth(frame) else {
        return false;
    };
    let is_same_site = is_made_anew(frame, flow, end, call);
    let birth = frame.block_of(call);
    let Some(id) = frame.cfg.loops().innermost(birth) else {
        return false;
    };
    let header = frame.cfg.loops().header(id);
    let mut jumps = frame.cfg.preds(header).iter();
    let is_conditional = jumps
        .any(|&from| frame.cfg.loops().contains(id, from) && !frame.cfg.dominates(birth, from));
    let is_keyed =
        || frame.program.func_name(frame.func) == "main" || has_key(frame, birth, header);
    is_same_site && is_conditional && !flow.is_freed_somewhere() && is_keyed()
}

/// Is the block replaced by one that the same call has made later?
pub(super) fn is_made_anew(frame: &Frame<'_>, flow: &UseFlow, end: &End, call: InstId) -> bool {
    let object = flow.objects[0];
    match frame.body.insts[end.at].op {
        Op::Bind { value, .. } | Op::Store { value, .. } => frame
            .local
            .targets(value)
            .iter()
            .any(|loc| loc.obj == object),
        // A callee makes the block and puts it where the last one was.
        Op::Call { .. } | Op::Invoke { .. } => end.at == call,
        _ => false,
    }
}

/// Was the version made by this call, or is it one of several of which one was?
fn is_written_by(frame: &Frame<'_>, version: VersionId, call: InstId) -> bool {
    writers(frame, version).contains(&call)
}

/// Was the version made by a call, or is it one of several of which one was?
fn comes_from_call(frame: &Frame<'_>, version: VersionId) -> bool {
    writers(frame, version).iter().any(|&inst| {
        matches!(
            frame.body.insts[inst].op,
            Op::Call { .. } | Op::Invoke { .. }
        )
    })
}

/// What may have written a version last, by way of φs.
pub(super) fn writers(frame: &Frame<'_>, version: VersionId) -> Vec<InstId> {
    let mut found = Vec::new();
    let mut seen = vec![version];
    let mut next = 0;
    while let Some(&version) = seen.get(next) {
        next += 1;
        match &frame.memssa.versions[version].def {
            Def::Chi { inst, .. } => found.push(*inst),
            Def::Phi { operands, .. } => {
                for &operand in operands {
                    if seen.len() < MAX_VERSIONS && !seen.contains(&operand) {
                        seen.push(operand);
                    }
                }
            }
            Def::Entry => {}
        }
    }
    found
}
