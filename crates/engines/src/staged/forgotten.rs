//! Question: is there a field that gets new blocks, and that nobody ever frees, although the structure around it is freed?
//!
//! A destructor that forgets a field is seen by no path: the block is made in one function, kept in a structure that its callers own,
//! and lost in another function, which knows the structure only as its parameter. What can be seen is the whole program: every
//! load and store of the field, by the structure's name and the offset in it (debug info, `drip_pointer::owners`).
//!
//! Domain: fields. A field is *made* where a new block is stored in it, *freed* where what it holds is given to somebody who frees it,
//! and *moved* where that is stored elsewhere, kept by somebody, or returned by a function that empties the field (a getter moves
//! nothing); its structure is *released* where some function frees a
//! pointer to it, or to a structure that contains it. Two rules (Heapcheck's rule 7, over all functions at once):
//!
//! 1. Made, never freed and never moved, and the structure is released: each such block is lost with its owner.
//! 2. Made, freed somewhere and never moved: whoever replaces the block knows that it is the structure's own. A function that gets
//!    the structure as its parameter and releases it, and neither frees the field nor calls anybody who does, nor is called by one,
//!    has forgotten it.
//!
//! Order: one pass over all functions, when all summaries are known. Cost: linear in the program.
//!
//! Structures that are copied, walked as bytes, or seen through other types are left out. Known false positives: a field that is
//! only ever freed through a structure of another name without a cast that the debug info shows; a function that releases only
//! structures whose field is known to be empty. Known false negatives: a destructor that forgets the field on one path.

use std::collections::BTreeMap;

use drip_base::IdSet;
use drip_models::{Certainty, Class, Offset, Outcome, Root, Subject, Summary, Value, ValuePath};
use drip_pointer::owners::{Field, Owners, member_name, structures_in};
use drip_program::{Body, DiTypeId, FuncId, InstId, Op, Operand, Program, StrId, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::calls::{CallContext, Open, call_summary, callee_name};
use super::names::{callee_elsewhere, position_in};
use super::report::{hashed, linked};
use crate::finding::{AllocationLink, Confidence, Finding, LostPoint, Rule, Step, StepKind};

/// Steps from a stored value back to the call that made it.
const MAX_STEPS: usize = 4;

/// A new block that is stored in a field: the function, the call, and which of its blocks.
type Made = (FuncId, InstId, u16);

/// Calls down from a destructor that may free the field for it.
const MAX_DEPTH: usize = 3;

/// The same from those who call it.
const MAX_DEPTH_OF_CALLERS: usize = 2;

/// A place where a structure is freed.
#[derive(Clone, Copy)]
struct Release {
    func: FuncId,
    call: InstId,
    /// The structure is a parameter of the function.
    is_parameter: bool,
}

/// What happens to what a field holds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Taking {
    /// Only looked at by the caller, unless the field is emptied at the same time.
    Returned,
    Freed,
    Moved,
}

/// What the program does with fields.
#[derive(Default)]
struct Fields {
    made: BTreeMap<Field, Vec<Made>>,
    /// Functions that free what a field holds.
    freed: FxHashMap<Field, FxHashSet<FuncId>>,
    moved: FxHashSet<Field>,
    /// Structures that are copied or walked as bytes.
    opaque: FxHashSet<StrId>,
    /// Where structures are freed, the first place of each function.
    released: FxHashMap<StrId, Vec<Release>>,
}

impl Fields {
    fn take(&mut self, field: Field, taking: Taking, func: FuncId) {
        match taking {
            Taking::Freed => {
                self.freed.entry(field).or_default().insert(func);
            }
            Taking::Moved | Taking::Returned => {
                self.moved.insert(field);
            }
        }
    }

    /// The place that forgets the field.
    fn forgetting(
        &self,
        context: &CallContext<'_>,
        field: Field,
        made: &[Made],
    ) -> Option<Release> {
        if self.moved.contains(&field) || self.opaque.contains(&field.0) {
            return None;
        }
        // What becomes of a structure in the function that makes its parts is seen there, path by path.
        let is_maker = |func: FuncId| made.iter().any(|made| made.0 == func);
        let places = self.released.get(&field.0).into_iter().flatten();
        let mut places = places.filter(|place| !is_maker(place.func));
        match self.freed.get(&field) {
            None => places.next().copied(),
            Some(freeing) => places
                .find(|place| {
                    place.is_parameter && !is_cared_for(context, place.func, freeing, is_maker)
                })
                .copied(),
        }
    }
}

/// Does the function free the field, or one that it calls, or one that calls it? Who replaces the block leaves another one there, and
/// does not take care of the field for others.
fn is_cared_for(
    context: &CallContext<'_>,
    func: FuncId,
    freeing: &FxHashSet<FuncId>,
    replaces: impl Fn(FuncId) -> bool,
) -> bool {
    let graph = &context.graph.graph;
    let below = |from: FuncId, depth: usize| {
        let mut seen: FxHashSet<FuncId> = FxHashSet::from_iter([from]);
        let mut level = vec![from];
        for _ in 0..depth {
            let callees = level.iter().flat_map(|&func| graph.succs(func));
            level = callees
                .copied()
                .filter(|&callee| seen.insert(callee))
                .collect();
        }
        seen
    };
    // Somebody who does one after the other counts as well.
    let mut callers = (0..graph.len())
        .map(FuncId::new)
        .filter(|&caller| graph.succs(caller).contains(&func));
    let own = below(func, MAX_DEPTH);
    freeing.iter().any(|func| own.contains(func))
        || callers.any(|caller| {
            let others = below(caller, MAX_DEPTH_OF_CALLERS);
            let mut emptying = freeing.iter().filter(|func| !replaces(**func));
            emptying.any(|func| others.contains(func))
        })
}

/// Findings for fields that nobody frees.
pub fn forgotten_fields(context: &CallContext<'_>) -> Vec<Finding> {
    let mut fields = Fields::default();
    let funcs = &context.program.funcs;
    let mut called = IdSet::with_capacity(funcs.len());
    for (func, _) in funcs.iter_enumerated() {
        called.extend(context.graph.graph.succs(func).iter().copied());
    }
    for (func, function) in funcs.iter_enumerated() {
        if let Some(body) = &function.body {
            let is_called = called.contains(func);
            Scan::new(context, func, body, &mut fields, is_called).run();
        }
    }
    let found = fields.made.iter().filter_map(|(&field, made)| {
        let place = fields.forgetting(context, field, made)?;
        finding(context, field, made, place)
    });
    found.collect()
}

/// One function.
struct Scan<'s, 'c> {
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
    fn new(
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

    fn run(&mut self) {
        for (inst, data) in self.body.insts.iter_enumerated() {
            match data.op {
                Op::Store { addr, value } => {
                    if let Some(field) = self.owners.field(addr)
                        && let Some(made) = self.maker(value, MAX_STEPS)
                        && self.taking(self.body.result(made.1), Some(inst)).is_none()
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
        match self.taking(self.body.result(inst), None) {
            Some(Taking::Returned) if self.is_called && !self.stores_to(field) => {}
            Some(taking) => self.fields.take(field, taking, self.func),
            None => {}
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

    /// What happens to a value besides being looked at, apart from one store.
    fn taking(&self, value: ValueId, except: Option<InstId>) -> Option<Taking> {
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
                    Some(field) => self.fields.take(field, Taking::Freed, self.func),
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

/// One finding for all blocks of a field, at the first of them.
fn finding(
    context: &CallContext<'_>,
    field: Field,
    made: &[Made],
    place: Release,
) -> Option<Finding> {
    let program: &Program = context.program;
    let body_of = |func: FuncId| program.funcs[func].body.as_ref();
    let &(func, call, index) = made.iter().min_by_key(|&&(func, call, _)| {
        let body = body_of(func);
        body.map(|body| position_in(program, func, body, call))
    })?;
    let body = body_of(func)?;
    let at = position_in(program, func, body, call);
    let summary = call_summary(context, func, body, call, &mut Open::default())?;
    let fresh = summary.fresh.get(usize::from(index))?;
    let first = AllocationLink {
        at: at.clone(),
        callee: callee_elsewhere(program, body, call),
    };
    let inner = fresh.chain.iter().filter_map(|&link| linked(program, link));
    let allocation: Vec<AllocationLink> = std::iter::once(first).chain(inner).collect();
    let structure = program.strings.get(field.0);
    let name = member_name(program, field).unwrap_or_else(|| format!("offset {}", field.1));
    let variable = format!("{structure}.{name}");
    let freeing = body_of(place.func)?;
    let lost_at = position_in(program, place.func, freeing, place.call);
    let callee = callee_name(program, freeing, place.call);
    let text =
        format!("lost: `{callee}` frees a `{structure}`, and nobody frees what its `{name}` holds");
    let shown = &allocation[0].callee;
    Some(Finding {
        id: hashed(&format!("field|{variable}|{}", program.func_name(func))),
        rule: Rule::D004,
        confidence: Confidence::Medium,
        message: format!("`{variable}` allocated by `{shown}` is lost: its owner is freed"),
        path: vec![
            Step {
                kind: StepKind::Allocation,
                at: at.clone(),
                text: format!("allocated here by `{shown}`"),
            },
            Step {
                kind: StepKind::Lost,
                at: lost_at.clone(),
                text: text.clone(),
            },
        ],
        lost: vec![LostPoint { at: lost_at, text }],
        primary: at,
        variable: Some(variable),
        condition: None,
        family: context.library.families.name(fresh.family).to_owned(),
        allocation,
    })
}
