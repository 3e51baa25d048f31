//! What does one function do with fields?

use drip_models::{Certainty, Class, Offset, Outcome, Root, Subject, Summary, Value, ValuePath};
use drip_pointer::owners::{Field, Owners, structures_in};
use drip_program::{Body, DiTypeId, FuncId, InstId, Op, Operand, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::calls::{CallContext, Open, call_summary};
use super::{Fields, Made, Release, Taking};

/// Steps from a stored value back to the call that made it.
const MAX_STEPS: usize = 4;

/// One function.
pub struct Scan<'s, 'c> {
    context: &'s CallContext<'c>,
    func: FuncId,
    body: &'s Body,
    owners: Owners<'s>,
    users: FxHashMap<ValueId, Vec<InstId>>,
    fields: &'s mut Fields,
    /// Somebody in sight calls the function.
    is_called: bool,
}

impl<'s, 'c> Scan<'s, 'c> {
    pub fn new(
        context: &'s CallContext<'c>,
        func: FuncId,
        body: &'s Body,
        fields: &'s mut Fields,
        is_called: bool,
    ) -> Self {
        let mut users: FxHashMap<ValueId, Vec<InstId>> = FxHashMap::default();
        for inst in body.insts.ids() {
            body.for_each_operand(inst, |operand| {
                if let Some(value) = operand.as_value() {
                    users.entry(value).or_default().push(inst);
                }
            });
        }
        Scan {
            context,
            func,
            body,
            owners: Owners::new(context.program, body),
            users,
            fields,
            is_called,
        }
    }

    pub fn run(&mut self) {
        for (inst, data) in self.body.insts.iter_enumerated() {
            match data.op {
                Op::Store { addr, value } => {
                    if let Some(field) = self.owners.field(addr)
                        && let Some(made) = self.maker(value, MAX_STEPS)
                        && self.stays(made.1, inst)
                    {
                        self.fields.made.entry(field).or_default().push(made);
                    }
                }
                Op::Load { addr } => self.load(addr, inst),
                Op::MemCopy { dst, src, .. } => {
                    self.hide(dst);
                    self.hide(src);
                }
                // Bytes of a structure by number: whatever is there.
                Op::PtrAdd { base, indices, .. }
                    if self.body.scaled(indices).iter().any(|s| s.scale == 1) =>
                {
                    self.hide(base);
                }
                Op::Call { args, .. } | Op::Invoke { args, .. } => {
                    let args = self.body.list(args).to_vec();
                    self.call(inst, &args);
                }
                _ => {}
            }
        }
    }

    fn load(&mut self, addr: Operand, inst: InstId) {
        let types = &self.context.program.types;
        if types.size_of(self.body.insts[inst].ty) > types.layout.pointer_bytes {
            self.hide(addr);
            return;
        }
        if let Some(field) = self.owners.field(addr) {
            self.read(field, inst);
        }
    }

    /// What becomes of what an instruction has read out of a field. A getter moves nothing: its callers, if they are in sight, read the
    /// field by calling it.
    fn read(&mut self, field: Field, inst: InstId) {
        let mut aliases = FxHashSet::default();
        match self.taking(self.body.result(inst), None, &mut aliases) {
            Some(Taking::Returned) if self.is_called && !self.stores_to(field) => {}
            Some(taking) => self.fields.take(field, taking, self.func),
            None => {}
        }
        aliases.remove(&field);
        if !aliases.is_empty() {
            let known = self.fields.aliases.entry(field).or_default();
            known.extend(aliases);
        }
    }

    /// Does the function put something into the field?
    fn stores_to(&self, field: Field) -> bool {
        let mut insts = self.body.insts.iter();
        insts.any(|data| {
            matches!(data.op, Op::Store { addr, .. } if self.owners.field(addr) == Some(field))
        })
    }

    /// The structure behind a pointer is not told field by field.
    fn hide(&mut self, pointer: Operand) {
        if let Some(ty) = self.owners.structure(pointer) {
            self.fields
                .opaque
                .extend(structures_in(self.context.program, ty));
        }
    }

    /// The call that makes a value, if it is a new block.
    fn maker(&self, value: Operand, steps: usize) -> Option<Made> {
        let steps = steps.checked_sub(1)?;
        let inst = self.body.def(value.as_value()?)?;
        match self.body.insts[inst].op {
            Op::Call { .. } | Op::Invoke { .. } => {
                let summary = self.summary(inst)?;
                let fresh = summary
                    .outcomes
                    .iter()
                    .find_map(|outcome| match outcome.ret {
                        Value::Fresh { index, .. } => Some(index),
                        _ => None,
                    });
                // A result that may be somebody else's says nothing.
                let mut others = summary.outcomes.iter().map(|outcome| &outcome.ret);
                let is_new = others.all(|ret| matches!(ret, Value::Fresh { .. } | Value::Int(0)));
                fresh
                    .filter(|_| is_new)
                    .map(|index| (self.func, inst, index))
            }
            Op::Cast { value, .. } => self.maker(value, steps),
            Op::Phi { incoming } => {
                let mut inputs = self.body.incoming(incoming).iter();
                inputs.find_map(|input| self.maker(input.value, steps))
            }
            Op::Select { then, els, .. } => {
                self.maker(then, steps).or_else(|| self.maker(els, steps))
            }
            _ => None,
        }
    }

    fn summary(&self, call: InstId) -> Option<std::sync::Arc<Summary>> {
        call_summary(
            self.context,
            self.func,
            self.body,
            call,
            &mut Open::default(),
        )
    }

    /// Is a new block given to nobody but by this one store?
    fn stays(&self, made: InstId, store: InstId) -> bool {
        let mut aliases = FxHashSet::default();
        let value = self.body.result(made);
        self.taking(value, Some(store), &mut aliases).is_none() && aliases.is_empty()
    }

    /// What happens to a value besides being looked at, apart from one store; and the fields that it is stored in.
    fn taking(
        &self,
        value: ValueId,
        except: Option<InstId>,
        aliases: &mut FxHashSet<Field>,
    ) -> Option<Taking> {
        let mut seen = FxHashSet::default();
        let mut open = vec![value];
        let mut taking = None;
        while let Some(value) = open.pop() {
            if !seen.insert(value) {
                continue;
            }
            let users = self.users.get(&value).into_iter().flatten();
            for &user in users.filter(|&&user| Some(user) != except) {
                let now = match self.body.insts[user].op {
                    Op::Cmp { .. } | Op::Load { .. } | Op::Bind { .. } => None,
                    Op::Store { value: stored, .. } if stored.as_value() != Some(value) => None,
                    Op::Store { addr, .. } => match self.owners.field(addr) {
                        Some(other) => {
                            aliases.insert(other);
                            None
                        }
                        None => Some(Taking::Moved),
                    },
                    Op::MemCopy { .. } | Op::MemSet { .. } => None,
                    Op::PtrAdd { .. } | Op::Phi { .. } | Op::Select { .. } | Op::Cast { .. } => {
                        open.push(self.body.result(user));
                        None
                    }
                    Op::Call { args, .. } | Op::Invoke { args, .. } => {
                        let (taking, is_returned) =
                            self.taken_by(user, self.body.list(args), value);
                        if is_returned {
                            open.push(self.body.result(user));
                        }
                        taking
                    }
                    Op::Ret { .. } => Some(Taking::Returned),
                    _ => Some(Taking::Moved),
                };
                taking = taking.max(now);
            }
        }
        taking
    }

    /// Does a call free the argument or keep it, or is it given to somebody who is not known? And does it give it back?
    fn taken_by(&self, call: InstId, args: &[Operand], value: ValueId) -> (Option<Taking>, bool) {
        let Some(summary) = self.summary(call) else {
            return (Some(Taking::Moved), false);
        };
        let positions = (0u16..)
            .zip(args)
            .filter(|(_, arg)| arg.as_value() == Some(value));
        let mut taken = (None, false);
        let mut is_argument = false;
        for (n, _) in positions {
            is_argument = true;
            let is_it = |path: &ValuePath| path.root == Root::Arg(n) && path.loads.is_empty();
            taken.0 = taken.0.max(taking_of(&summary, is_it));
            taken.1 |= returns(&summary, is_it);
        }
        match is_argument {
            true => taken,
            // The called function itself.
            false => (Some(Taking::Moved), false),
        }
    }

    /// Is it a parameter of the function, under whatever name?
    fn is_parameter(&self, operand: Operand) -> bool {
        let value = operand.as_value();
        value.is_some_and(|value| self.body.as_param(value).is_some())
    }

    /// Structures that a call frees; fields whose address it gets; fields that its summary says it frees.
    fn call(&mut self, call: InstId, args: &[Operand]) {
        let Some(summary) = self.summary(call) else {
            return;
        };
        for (n, &arg) in (0u16..).zip(args) {
            self.field_by_address(call, &summary, n, arg);
            let Some(ty) = self.owners.structure(arg) else {
                continue;
            };
            for outcome in &summary.outcomes {
                if let Value::Entry { path, plus } = &outcome.ret
                    && let (Root::Arg(m), [load]) = (path.root, &path.loads[..])
                    && (m, *plus, load.is_exact()) == (n, Offset::ZERO, true)
                    && let Some(field) = self.owners.field_at(ty, load.base)
                {
                    self.read(field, call);
                }
            }
            let is_it = |path: &ValuePath| path.root == Root::Arg(n);
            if releases(&summary, n) {
                self.release(call, arg, ty);
            }
            // Freed by somebody who sees the structure as something else.
            let frees = summary.outcomes.iter().flat_map(|outcome| &outcome.frees);
            for free in frees.filter(|f| is_it(&f.path)) {
                let Some(load) = free.path.loads.first() else {
                    continue;
                };
                let field = self.owners.field_at(ty, load.base);
                match field.filter(|_| load.is_exact()) {
                    Some(field) => {
                        let calls = self.fields.freed_by_calls.entry(field).or_default();
                        calls.push((self.func, call));
                    }
                    None => {
                        let hidden = structures_in(self.context.program, ty);
                        self.fields.opaque.extend(hidden);
                    }
                }
            }
        }
    }

    fn release(&mut self, call: InstId, arg: Operand, ty: DiTypeId) {
        let place = Release {
            func: self.func,
            call,
            is_parameter: self.is_parameter(arg),
        };
        for name in structures_in(self.context.program, ty) {
            let places = self.fields.released.entry(name).or_default();
            if places.last().is_none_or(|last| last.func != self.func) {
                places.push(place);
            }
        }
    }

    /// `make(&s->name)`, `clear(&s->name)`.
    fn field_by_address(&mut self, call: InstId, summary: &Summary, n: u16, arg: Operand) {
        let Some(field) = self
            .owners
            .field(arg)
            .filter(|_| !self.owners.is_pointer_itself(arg))
        else {
            return;
        };
        let is_inside = |path: &ValuePath| path.root == Root::Arg(n);
        let taking = match returns(summary, is_inside) {
            true => Some(Taking::Moved),
            false => taking_of(summary, is_inside),
        };
        if let Some(taking) = taking {
            self.fields.take(field, taking, self.func);
        }
        for write in summary.outcomes.iter().flat_map(|outcome| &outcome.writes) {
            if let Value::Fresh { index, .. } = write.value
                && write.cell.base == ValuePath::arg(n)
                && write.cell.offset.is_exact()
                && write.cell.offset.base == 0
            {
                let made = (self.func, call, index);
                self.fields.made.entry(field).or_default().push(made);
            }
        }
    }
}

/// Does the function free its argument, whatever happens? What is moved to a new place lives on there.
fn releases(summary: &Summary, n: u16) -> bool {
    let argument = ValuePath::arg(n);
    let frees = |outcome: &Outcome| {
        let mut frees = outcome.frees.iter();
        frees.any(|free| free.path == argument && free.certainty == Certainty::Must)
            && outcome.copies.is_empty()
    };
    let is_null = |outcome: &Outcome| {
        let mut atoms = outcome.when.iter();
        atoms.any(|atom| {
            atom.subject == Subject::Entry(argument.clone()) && atom.class == Class::Eq(0)
        })
    };
    let mut outcomes = summary.outcomes.iter();
    outcomes.clone().any(frees) && outcomes.all(|outcome| frees(outcome) || is_null(outcome))
}

/// Does the function return one of these paths?
fn returns(summary: &Summary, is_it: impl Fn(&ValuePath) -> bool) -> bool {
    let mut outcomes = summary.outcomes.iter();
    outcomes.any(|o| matches!(&o.ret, Value::Entry { path, .. } if is_it(path)))
}

/// Does the function free or keep what one of these paths leads to?
fn taking_of(summary: &Summary, is_it: impl Fn(&ValuePath) -> bool) -> Option<Taking> {
    let is_value = |value: &Value| matches!(value, Value::Entry { path, .. } if is_it(path));
    let mut outcomes = summary.outcomes.iter();
    let is_moved = outcomes.any(|outcome| {
        outcome.escapes.iter().any(|escape| is_it(&escape.path))
            || outcome.writes.iter().any(|write| is_value(&write.value))
    });
    if summary.limited || is_moved {
        return Some(Taking::Moved);
    }
    let mut frees = summary.outcomes.iter().flat_map(|outcome| &outcome.frees);
    frees.any(|free| is_it(&free.path)).then_some(Taking::Freed)
}
