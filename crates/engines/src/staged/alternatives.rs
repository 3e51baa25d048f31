//! Question: does a loss hang on what a callee finds in memory, where its caller can't see it?
//!
//! A summary's condition on a field (`arg0[8] == 0`) is what the path assumes of memory that nobody has written in sight. Often
//! an invariant of the program says otherwise: a flag, a count or a magic number that the constructor has set, and that the
//! destructor looks at. So every outcome on the path is exchanged for the others of its call: if one of them takes care of the
//! object, or lets it be where the chosen one drops it, and the rest of the path can be taken all the same, the loss is a
//! suspicion. Conditions that the caller can see do not count: the arguments that it passes, but for a pointer that it has found in memory
//! itself and never looked at, and results that tell the outcomes apart.
//! Cost: one query per such outcome, for paths that would be reported.

use drip_cond::{Budget, check};
use drip_flow::{End, Frame, UseFlow, Values};
use drip_models::{Atom, Certainty, Class, Outcome, Root, Subject, Value, ValuePath, Write};
use drip_pointer::{CellId, Memory, ObjId, ObjKind};
use drip_program::{Const, InstId, Op, Operand};

use super::callers::accessed;
use super::feasible::{SymbolIndex, path_condition};
use super::paths::Path;

/// Could a call on the path have had another outcome that does not lose the object, for all that the caller sees?
pub fn could_be_otherwise(
    frame: &Frame<'_>,
    values: &mut Values,
    flow: &UseFlow,
    path: &Path,
    end: &End,
) -> bool {
    let mut symbols = SymbolIndex::default();
    for (position, hop) in path.hops.iter().enumerate() {
        for (number, choice) in hop.choices.iter().enumerate() {
            let Some(call) = Called::new(frame, flow, choice.inst) else {
                continue;
            };
            let Some(chosen) = call.outcomes.get(usize::from(choice.alternative)) else {
                continue;
            };
            let is_loss = choice.inst == end.at;
            let may_borrow = is_birth(frame, flow, choice.inst) && !flow.is_freed_somewhere();
            for (alternative, outcome) in call.outcomes.iter().enumerate() {
                if alternative == usize::from(choice.alternative)
                    || !(call.is_better(outcome, chosen, is_loss)
                        || may_borrow && lends(outcome, chosen))
                {
                    continue;
                }
                let mut other = path.clone();
                other.hops[position].choices[number].alternative = alternative as u16;
                leave_open(frame, flow, &mut other, (position, choice.inst));
                let condition = path_condition(frame, values, flow, &mut symbols, &other, end);
                if !check(&mut values.terms, &condition, &Budget::default()).is_infeasible() {
                    return true;
                }
            }
        }
    }
    false
}

/// What else on a path is decided by memory may be otherwise, too: only one call, the object's birth and the library keep what was
/// chosen for them.
fn leave_open(
    frame: &Frame<'_>,
    flow: &UseFlow,
    path: &mut Path,
    (position, kept): (usize, InstId),
) {
    for (at, hop) in path.hops.iter_mut().enumerate() {
        hop.choices.retain(|choice| {
            let is_kept = at == position && choice.inst == kept;
            is_kept || is_birth(frame, flow, choice.inst) || !is_analysed(frame, choice.inst)
        });
    }
}

/// A call of the program's own functions; what the library does is in its models.
fn is_analysed(frame: &Frame<'_>, inst: InstId) -> bool {
    let (Op::Call { callee, .. } | Op::Invoke { callee, .. }) = frame.body.insts[inst].op else {
        return false;
    };
    match frame.body.const_of(callee) {
        Some(Const::Func(func)) => frame.program.funcs[*func].body.is_some(),
        _ => true,
    }
}

/// Does the instruction make the followed object?
fn is_birth(frame: &Frame<'_>, flow: &UseFlow, inst: InstId) -> bool {
    let object = flow.objects.first();
    object.is_some_and(|&object| match frame.local.memory.kind(object) {
        ObjKind::Fresh { call, .. } => call == inst,
        _ => false,
    })
}

/// Does one outcome return memory that is somebody else's, and the other one a new block for one particular value of an argument? A
/// caller that never frees the result means the first (messages, of which all but one are constant strings).
fn lends(outcome: &Outcome, made: &Outcome) -> bool {
    let is_borrowed = match &outcome.ret {
        Value::Unknown(Class::Any | Class::NonZero) => true,
        Value::Entry { path, .. } => matches!(path.root, Root::Global(_)),
        _ => false,
    };
    let is_particular = |atom: &Atom| {
        matches!(atom.class, Class::Eq(number) if number != 0) && !outcome.when.contains(atom)
    };
    let is_made = matches!(made.ret, Value::Fresh { .. });
    is_borrowed && is_made && made.when.iter().any(is_particular)
}

/// A call on a path, as the followed object sees it.
pub(super) struct Called<'c, 'a> {
    frame: &'c Frame<'a>,
    inst: InstId,
    pub outcomes: &'c [Outcome],
    object: ObjId,
    /// Where the object, and those that hold it, may be held.
    held_in: Vec<CellId>,
}

impl<'c, 'a> Called<'c, 'a> {
    /// `None` for calls of the library.
    pub fn new(frame: &'c Frame<'a>, flow: &UseFlow, inst: InstId) -> Option<Self> {
        if !is_analysed(frame, inst) {
            return None;
        }
        let holds = |cell: CellId| {
            let mut contents = frame.local.contents[cell].iter();
            contents.any(|loc| flow.objects.contains(&loc.obj))
        };
        let cells = frame.local.contents.ids().into_iter();
        let held_in = cells.filter(|&c| holds(c)).collect();
        Some(Called {
            frame,
            inst,
            outcomes: &frame.calls.get(&inst)?.outcomes,
            object: *flow.objects.first()?,
            held_in,
        })
    }

    /// Does `outcome` keep the object from being lost as it is after `chosen`, and does nothing that a caller sees tell the two
    /// apart?
    fn is_better(&self, outcome: &Outcome, chosen: &Outcome, is_loss: bool) -> bool {
        let is_spared = is_loss
            && self.drops(chosen)
            && (!self.drops(outcome) || self.takes(outcome) || self.leaves(outcome, chosen));
        let is_cared_for = !self.takes(chosen) && self.takes(outcome);
        // Nobody looks at what a destructor returns.
        let is_ignored = self.frees(outcome) && !self.keeps(outcome) && !self.is_looked_at();
        let is_told = !is_ignored && are_told_apart(&chosen.ret, &outcome.ret);
        if is_told || self.are_asked_apart(chosen, outcome) {
            return false;
        }
        let by_memory = |atom: &Atom| !self.is_visible(atom) && !outcome.when.contains(atom);
        is_spared || is_cared_for && chosen.when.iter().any(by_memory)
    }

    /// Does an argument, which the caller sees, decide between two outcomes?
    fn are_asked_apart(&self, a: &Outcome, b: &Outcome) -> bool {
        let mut visible = a.when.iter().filter(|atom| self.is_visible(atom));
        visible.any(|x| {
            let mut others = b.when.iter().filter(|y| y.subject == x.subject);
            others.any(|y| x.class.disjoint(y.class))
        })
    }

    /// Does the caller see what a condition is about? Not where it only hands on a pointer that it has found in memory (`add(list->head, …)`,
    /// where `add` asks for null): whether that is null nobody says but who put it there.
    fn is_visible(&self, atom: &Atom) -> bool {
        match &atom.subject {
            Subject::Ret => true,
            Subject::Entry(path) if !path.loads.is_empty() => false,
            Subject::Entry(path) => match path.root {
                Root::Arg(n) if matches!(atom.class, Class::Eq(0) | Class::NonZero) => {
                    let passed = self.frame.args(self.inst).get(usize::from(n)).copied();
                    !passed.is_some_and(|arg| is_found_untested(self.frame, arg))
                }
                _ => true,
            },
        }
    }

    fn is_object(&self, path: &ValuePath) -> bool {
        let targets = self.frame.resolve(self.inst, path);
        targets.iter().any(|loc| loc.obj == self.object)
    }

    pub fn is_looked_at(&self) -> bool {
        let result = self.frame.body.result(self.inst);
        self.frame.uses(result).next().is_some()
    }

    pub fn frees(&self, outcome: &Outcome) -> bool {
        outcome.frees.iter().any(|f| self.is_object(&f.path))
    }

    /// Does the outcome free the object, or keep it somewhere?
    pub fn takes(&self, outcome: &Outcome) -> bool {
        self.frees(outcome)
            || outcome.escapes.iter().any(|e| self.is_object(&e.path))
            || self.keeps(outcome)
    }

    /// Does the outcome free or keep the object by a path that `other` leaves alone? (Paths that lead to several blocks say little by
    /// themselves: both outcomes may do something to one of those.)
    pub fn takes_more(&self, outcome: &Outcome, other: &Outcome) -> bool {
        let taken = self.taken_by(outcome);
        let others = self.taken_by(other);
        taken.iter().any(|path| !others.contains(path))
    }

    fn taken_by<'o>(&self, outcome: &'o Outcome) -> Vec<&'o ValuePath> {
        let freed = outcome.frees.iter().map(|free| &free.path);
        let escaped = outcome.escapes.iter().map(|escape| &escape.path);
        let kept = outcome
            .writes
            .iter()
            .filter_map(|write| match &write.value {
                Value::Entry { path, .. } if self.is_keeping(write) => Some(path),
                _ => None,
            });
        let paths = freed.chain(escaped).chain(kept);
        paths.filter(|path| self.may_be_object(path)).collect()
    }

    /// The same for an argument that may point anywhere: a variable that holds many blocks, one after the other.
    fn may_be_object(&self, path: &ValuePath) -> bool {
        let is_anywhere = || {
            let targets = self.frame.resolve(self.inst, path);
            targets.iter().any(|loc| loc.obj == Memory::WORLD)
        };
        self.is_object(path) || path.loads.is_empty() && is_anywhere()
    }

    /// Does the outcome keep the object, without freeing it, and not only in a variable of the caller's?
    pub fn is_kept_by(&self, outcome: &Outcome) -> bool {
        let escapes = outcome.escapes.iter().any(|e| self.is_object(&e.path));
        let memory = &self.frame.local.memory;
        let is_variable = |write: &Write| {
            let places = self.frame.resolve(self.inst, &write.cell.base);
            let is_local = |obj: ObjId| matches!(memory.kind(obj), ObjKind::Stack(_));
            !places.is_empty() && places.iter().all(|loc| is_local(loc.obj))
        };
        let mut writes = outcome.writes.iter();
        let keeps = writes.any(|write| self.is_keeping(write) && !is_variable(write));
        !self.frees(outcome) && (escapes || keeps)
    }

    fn keeps(&self, outcome: &Outcome) -> bool {
        outcome.writes.iter().any(|write| self.is_keeping(write))
    }

    fn is_keeping(&self, write: &Write) -> bool {
        match &write.value {
            Value::Entry { path, .. } => self.is_object(path),
            Value::Fresh { index, .. } => {
                let made = ObjKind::Fresh {
                    call: self.inst,
                    index: *index,
                };
                let is_callers = matches!(write.cell.base.root, Root::Arg(_) | Root::Global(_));
                is_callers && self.frame.local.memory.kind(self.object) == made
            }
            _ => false,
        }
    }

    /// Cells that hold the object at some time, and that the outcome overwrites, perhaps or with this certainty.
    fn overwritten(&self, outcome: &Outcome, certainty: Option<Certainty>) -> Vec<CellId> {
        let memory = &self.frame.local.memory;
        let mut writes: Vec<&Write> = outcome.writes.iter().collect();
        writes.retain(|write| {
            let is_so = certainty.is_none_or(|certainty| write.certainty == certainty);
            is_so && write.cell.base.root != Root::Ret
        });
        let is_written = |cell: &CellId| {
            let place = memory.cells[*cell];
            writes.iter().any(|write| {
                let targets = self.frame.resolve(self.inst, &write.cell.base);
                targets.iter().any(|loc| {
                    loc.obj == place.obj && loc.off.plus(write.cell.offset).may_equal(place.off)
                })
            })
        };
        self.held_in.iter().copied().filter(is_written).collect()
    }

    /// Does one outcome leave alone, for all that is certain, what the other one puts a new block over (the first of a list, where something is
    /// put at its end)?
    fn leaves(&self, outcome: &Outcome, other: &Outcome) -> bool {
        let certain = self.overwritten(outcome, Some(Certainty::Must));
        let mut all = self.overwritten(other, Some(Certainty::Must)).into_iter();
        all.any(|cell| !certain.contains(&cell))
    }

    /// Does the outcome overwrite what holds the object, or free the owner of that?
    fn drops(&self, outcome: &Outcome) -> bool {
        let memory = &self.frame.local.memory;
        let overwritten = !self.overwritten(outcome, None).is_empty();
        let owner_freed = outcome.frees.iter().any(|free| {
            let targets = self.frame.resolve(self.inst, &free.path);
            targets.iter().any(|loc| {
                let is_owner = |&cell: &CellId| memory.cells[cell].obj == loc.obj;
                self.held_in.iter().any(is_owner)
            })
        });
        overwritten || owner_freed
    }
}

/// Can no value be both results? Then callers can tell which of the two outcomes a call had.
fn are_told_apart(a: &Value, b: &Value) -> bool {
    class_of(a).disjoint(class_of(b))
}

fn class_of(value: &Value) -> Class {
    match value {
        Value::Int(number) => Class::Eq(*number),
        Value::Unknown(class) => *class,
        Value::Fresh { .. } | Value::Func(_) => Class::NonZero,
        _ => Class::Any,
    }
}

/// Is a pointer read out of memory that is not the function's own, and compared with nothing?
fn is_found_untested(frame: &Frame<'_>, mut operand: Operand) -> bool {
    let body = frame.body;
    while let Some(value) = operand.as_value() {
        let mut users = frame.uses(value);
        if users.any(|user| matches!(body.insts[user].op, Op::Cmp { .. })) {
            return false;
        }
        match body.def(value).map(|inst| body.insts[inst].op) {
            Some(Op::Cast { value, .. }) => operand = value,
            Some(Op::Load { addr }) => {
                let base = accessed(body, addr).and_then(|base| body.def(base));
                return !base.is_some_and(|def| matches!(body.insts[def].op, Op::Alloca { .. }));
            }
            _ => return false,
        }
    }
    false
}
