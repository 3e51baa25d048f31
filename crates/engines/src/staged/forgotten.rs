//! Question: is there a field that gets new blocks, and that nobody ever frees, although the structure around it is freed?
//!
//! A destructor that forgets a field is seen by no path: the block is made in one function, kept in a structure that its callers own,
//! and lost in another function, which knows the structure only as its parameter. What can be seen is the whole program: every
//! load and store of the field, by the structure's name and the offset in it (debug info, `drip_pointer::owners`).
//!
//! Domain: fields. A field is *made* where a new block is stored in it, *taken* where what it holds is freed, returned, stored
//! elsewhere or given to somebody who frees or keeps it, and its structure is *freed* where some function frees a pointer to it, or to a
//! structure that contains it. Made, never taken, structure freed: each such block is lost with its owner (Heapcheck's rule 7, over
//! all functions at once). Order: one pass over all functions, when all summaries are known. Cost: linear in the program.
//!
//! Structures that are copied, walked as bytes, or seen through other types are left out. Known false positives: a field that is
//! only ever freed through a structure of another name without a cast that the debug info shows. Known false negatives: a
//! destructor that forgets what some other function frees.

use std::collections::BTreeMap;

use drip_models::{Root, Summary, Value, ValuePath};
use drip_pointer::owners::{Field, Owners, member_name, structures_in};
use drip_program::{Body, FuncId, InstId, Op, Operand, Program, StrId, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::calls::{CallContext, Open, call_summary, callee_name};
use super::names::{callee_elsewhere, position_in};
use super::report::{hashed, linked};
use crate::finding::{AllocationLink, Confidence, Finding, LostPoint, Rule, Step, StepKind};

/// Steps from a stored value back to the call that made it.
const MAX_STEPS: usize = 4;

/// A new block that is stored in a field: the function, the call, and which of its blocks.
type Made = (FuncId, InstId, u16);

/// What the program does with fields.
#[derive(Default)]
struct Fields {
    made: BTreeMap<Field, Vec<Made>>,
    taken: FxHashSet<Field>,
    /// Structures that are copied or walked as bytes.
    opaque: FxHashSet<StrId>,
    /// Where structures are freed, the first place of each function.
    freed: FxHashMap<StrId, Vec<(FuncId, InstId)>>,
}

/// Findings for fields that nobody frees.
pub fn forgotten_fields(context: &CallContext<'_>) -> Vec<Finding> {
    let mut fields = Fields::default();
    for (func, function) in context.program.funcs.iter_enumerated() {
        if let Some(body) = &function.body {
            Scan::new(context, func, body, &mut fields).run();
        }
    }
    let mut findings = Vec::new();
    for (field, made) in &fields.made {
        if fields.taken.contains(field) || fields.opaque.contains(&field.0) {
            continue;
        }
        // What becomes of a structure in the function that makes its parts is seen there, path by path.
        let is_maker = |func: FuncId| made.iter().any(|made| made.0 == func);
        let mut freed = fields.freed.get(&field.0).into_iter().flatten();
        if let Some(&freed) = freed.find(|freed| !is_maker(freed.0)) {
            findings.extend(finding(context, *field, made, freed));
        }
    }
    findings
}

/// One function.
struct Scan<'s, 'c> {
    context: &'s CallContext<'c>,
    func: FuncId,
    body: &'s Body,
    owners: Owners<'s>,
    users: FxHashMap<ValueId, Vec<InstId>>,
    fields: &'s mut Fields,
}

impl<'s, 'c> Scan<'s, 'c> {
    fn new(
        context: &'s CallContext<'c>,
        func: FuncId,
        body: &'s Body,
        fields: &'s mut Fields,
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
        }
    }

    fn run(&mut self) {
        for (inst, data) in self.body.insts.iter_enumerated() {
            match data.op {
                Op::Store { addr, value } => {
                    if let Some(field) = self.owners.field(addr)
                        && let Some(made) = self.maker(value, MAX_STEPS)
                        && !self.is_taken(self.body.result(made.1), Some(inst))
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
                Op::PtrAdd { base, indices, .. } => {
                    if self.body.scaled(indices).iter().any(|s| s.scale == 1) {
                        self.hide(base);
                    }
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
        let Some(field) = self.owners.field(addr) else {
            return;
        };
        if !self.fields.taken.contains(&field) && self.is_taken(self.body.result(inst), None) {
            self.fields.taken.insert(field);
        }
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

    /// Does anything but looking happen to a value, apart from one store?
    fn is_taken(&self, value: ValueId, except: Option<InstId>) -> bool {
        let mut seen = FxHashSet::default();
        let mut open = vec![value];
        while let Some(value) = open.pop() {
            if !seen.insert(value) {
                continue;
            }
            let users = self.users.get(&value).into_iter().flatten();
            for &user in users.filter(|&&user| Some(user) != except) {
                match self.body.insts[user].op {
                    Op::Cmp { .. } | Op::Load { .. } | Op::Bind { .. } => {}
                    Op::Store { value: stored, .. } if stored.as_value() != Some(value) => {}
                    Op::MemCopy { .. } | Op::MemSet { .. } => {}
                    Op::PtrAdd { .. } | Op::Phi { .. } | Op::Select { .. } => {
                        open.push(self.body.result(user));
                    }
                    Op::Call { args, .. } | Op::Invoke { args, .. } => {
                        if self.takes(user, self.body.list(args), value) {
                            return true;
                        }
                    }
                    _ => return true,
                }
            }
        }
        false
    }

    /// Does a call free the argument, keep it, give it back, or is it given to somebody who is not known?
    fn takes(&self, call: InstId, args: &[Operand], value: ValueId) -> bool {
        let positions = (0u16..)
            .zip(args)
            .filter(|(_, arg)| arg.as_value() == Some(value));
        let Some(summary) = self.summary(call) else {
            return true;
        };
        let mut is_argument = false;
        for (n, _) in positions {
            is_argument = true;
            if speaks_of(&summary, |path| {
                path.root == Root::Arg(n) && path.loads.is_empty()
            }) {
                return true;
            }
        }
        // The called function itself.
        !is_argument
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
            let program = self.context.program;
            let is_it = |path: &ValuePath| path.root == Root::Arg(n);
            // What is moved to a new place lives on there.
            let ends = summary
                .outcomes
                .iter()
                .filter(|outcome| outcome.copies.is_empty());
            for free in ends
                .flat_map(|outcome| &outcome.frees)
                .filter(|f| is_it(&f.path))
            {
                match &free.path.loads[..] {
                    [] => {
                        for name in structures_in(program, ty) {
                            let places = self.fields.freed.entry(name).or_default();
                            if places.last().is_none_or(|last| last.0 != self.func) {
                                places.push((self.func, call));
                            }
                        }
                    }
                    // Freed by somebody who sees the structure as something else.
                    [load, ..] => {
                        let field = self.owners.field_at(ty, load.base);
                        self.fields.taken.extend(field.filter(|_| load.is_exact()));
                        if !load.is_exact() {
                            self.fields.opaque.extend(structures_in(program, ty));
                        }
                    }
                }
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
        if speaks_of(summary, is_inside) {
            self.fields.taken.insert(field);
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

/// Does the function free, keep or return what one of these paths leads to?
fn speaks_of(summary: &Summary, is_it: impl Fn(&ValuePath) -> bool) -> bool {
    let is_value = |value: &Value| matches!(value, Value::Entry { path, .. } if is_it(path));
    summary.limited
        || summary.outcomes.iter().any(|outcome| {
            outcome.frees.iter().any(|free| is_it(&free.path))
                || outcome.escapes.iter().any(|escape| is_it(&escape.path))
                || outcome.writes.iter().any(|write| is_value(&write.value))
                || is_value(&outcome.ret)
        })
}

/// One finding for all blocks of a field, at the first of them.
fn finding(
    context: &CallContext<'_>,
    field: Field,
    made: &[Made],
    (owner, freed_at): (FuncId, InstId),
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
    let freeing = body_of(owner)?;
    let lost_at = position_in(program, owner, freeing, freed_at);
    let callee = callee_name(program, freeing, freed_at);
    let text = format!(
        "lost: `{callee}` frees a `{structure}`, and nothing in the program frees what its `{name}` holds"
    );
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
