//! Question: what becomes of a pointer that a function keeps in a variable of its own, in memory?
//!
//! `union arg a; a.text = s->name; show("%s", &a);` leaves `s->name` where it is, and `char *name; asprintf(&name, …); s->name = name;` puts a
//! new block there: neither is seen by following values alone, because the variable's address is given to somebody. What is asked for:
//! all uses of the variable are loads, stores, and calls whose summaries say what they do with what is in it.
//!
//! Order of stores and loads is not looked at: what is put into the variable once may be in it at any time.

use drip_flow::args_of;
use drip_models::{Offset, Root, Value, ValuePath};
use drip_program::{InstId, Op, Operand, ValueId};

use super::facts::{Made, Taking};
use super::view::{View, new_block, releases, returns, taking_of};

/// What is done with a variable of the function's own.
#[derive(Default)]
struct Handling {
    /// The pointers that are read from it.
    loads: Vec<ValueId>,
    /// What is put into it.
    stored: Vec<Operand>,
    /// The calls that get its address, and as which argument.
    handed: Vec<(InstId, u16)>,
    /// It is a structure or an array.
    is_divided: bool,
}

impl View<'_, '_> {
    /// What happens to a pointer that is stored at this address? Nothing if that is in a variable of the function's own and nobody takes
    /// what is in it.
    pub fn taken_by_variable(&self, addr: Operand) -> Option<Taking> {
        let Some(variable) = self.variable(addr) else {
            return Some(Taking::Moved);
        };
        let known = self.lending.borrow().get(&variable).copied();
        known.unwrap_or_else(|| {
            // What goes round through the variable itself is not followed.
            let moved = Some(Taking::Moved);
            self.lending.borrow_mut().insert(variable, moved);
            let taking = self.taking_by(variable);
            self.lending.borrow_mut().insert(variable, taking);
            taking
        })
    }

    /// What happens to what is in the variable? Freed by its address it is freed (`clear(&p)`), if there is nothing else in the variable.
    fn taking_by(&self, variable: ValueId) -> Option<Taking> {
        let Some(handling) = self.handling(variable) else {
            return Some(Taking::Moved);
        };
        let mut taking = None;
        for &(call, n) in &handling.handed {
            let Some(summary) = self.summary(call) else {
                return Some(Taking::Moved);
            };
            let is_it = |path: &ValuePath| path.root == Root::Arg(n);
            let held = ValuePath::arg(n).load(Offset::ZERO);
            let now = match taking_of(&summary, is_it) {
                _ if returns(&summary, is_it) => Some(Taking::Moved),
                Some(Taking::Freed) if !handling.is_divided && releases(&summary, &held) => {
                    Some(Taking::Freed)
                }
                Some(_) => Some(Taking::Moved),
                None => None,
            };
            taking = taking.max(now);
        }
        for &load in &handling.loads {
            let uses = self.uses(load, None);
            let is_put_elsewhere = !uses.aliases.is_empty();
            taking = taking.max(uses.taking.map(|now| match now {
                Taking::Freed if !handling.is_divided => Taking::Freed,
                _ => Taking::Moved,
            }));
            taking = taking.max(is_put_elsewhere.then_some(Taking::Moved));
        }
        taking
    }

    /// What the function puts into a variable of its own by stores; nothing if calls put something there.
    pub fn put_into_variable(&self, addr: Operand) -> Option<Vec<Operand>> {
        let variable = addr
            .as_value()
            .filter(|&v| self.variable(addr) == Some(v))?;
        let handling = self.handling(variable)?;
        let is_filled = |&(call, n): &(InstId, u16)| {
            let summary = self.summary(call);
            summary.is_none_or(|summary| {
                let mut writes = summary.outcomes.iter().flat_map(|outcome| &outcome.writes);
                writes.any(|write| {
                    write.cell.base == ValuePath::arg(n) && write.value != Value::Int(0)
                })
            })
        };
        let is_plain = !handling.is_divided && !handling.handed.iter().any(is_filled);
        let stored = handling.stored.into_iter();
        is_plain.then(|| stored.filter(|&value| !self.is_null(value)).collect())
    }

    /// The calls that put new blocks into the variable which this pointer is read from, and all pointers that are read from it; nothing if
    /// anything else but null is put there.
    pub fn filled_variable(&self, pointer: Operand) -> Option<(Vec<Made>, Vec<ValueId>)> {
        let inst = self.body.def(pointer.as_value()?)?;
        let Op::Load { addr } = self.body.insts[inst].op else {
            return None;
        };
        let variable = addr.as_value()?;
        let def = self.body.insts[self.body.def(variable)?].op;
        let handling = self
            .handling(variable)
            .filter(|_| matches!(def, Op::Alloca { .. }))?;
        let is_plain = |&value: &Operand| self.is_null(value);
        if !handling.stored.iter().all(is_plain) {
            return None;
        }
        let mut made = Vec::new();
        for &(call, n) in &handling.handed {
            made.push(self.put_there(call, n)?);
        }
        (!made.is_empty()).then_some((made, handling.loads))
    }

    /// The new block that a call puts where its argument points to, if it puts nothing else there and takes nothing.
    fn put_there(&self, call: InstId, n: u16) -> Option<Made> {
        let summary = self.summary(call)?;
        let is_it = |path: &ValuePath| path.root == Root::Arg(n);
        if new_block(&summary).is_some() || taking_of(&summary, is_it).is_some() {
            return None;
        }
        let mut made = None;
        for write in summary.outcomes.iter().flat_map(|outcome| &outcome.writes) {
            if !is_it(&write.cell.base) {
                continue;
            }
            let is_variable = write.cell.base == ValuePath::arg(n)
                && write.cell.offset.is_exact()
                && write.cell.offset.base == 0;
            match write.value {
                Value::Fresh { index, .. } if is_variable => made = Some(index),
                Value::Int(0) | Value::Unknown(_) if is_variable => {}
                _ => return None,
            }
        }
        made.map(|index| (self.func, call, index))
    }

    /// The variable of the function's own that an address lies in.
    fn variable(&self, addr: Operand) -> Option<ValueId> {
        let base = self.base(addr)?;
        let def = self.body.insts[self.body.def(base)?].op;
        matches!(def, Op::Alloca { .. }).then_some(base)
    }

    /// All that is done with a variable; nothing if its address goes where nobody follows it, or if it is copied as a whole.
    fn handling(&self, variable: ValueId) -> Option<Handling> {
        let body = self.body;
        let mut handling = Handling::default();
        let mut open = vec![variable];
        while let Some(address) = open.pop() {
            for &user in self.users(address) {
                match body.insts[user].op {
                    Op::Bind { .. } | Op::Cmp { .. } | Op::MemSet { .. } => {}
                    Op::PtrAdd { base, .. } if base.as_value() == Some(address) => {
                        handling.is_divided = true;
                        open.push(body.result(user));
                    }
                    Op::Cast { .. } => open.push(body.result(user)),
                    Op::Load { .. } => handling.loads.push(body.result(user)),
                    Op::Store { value, .. } if value.as_value() != Some(address) => {
                        handling.stored.push(value);
                    }
                    Op::Call { .. } | Op::Invoke { .. } => {
                        let args = (0u16..).zip(args_of(body, user));
                        let same = args.filter(|(_, arg)| arg.as_value() == Some(address));
                        let before = handling.handed.len();
                        handling.handed.extend(same.map(|(n, _)| (user, n)));
                        // The called function itself is no argument.
                        if handling.handed.len() == before {
                            return None;
                        }
                    }
                    _ => return None,
                }
            }
        }
        Some(handling)
    }
}
