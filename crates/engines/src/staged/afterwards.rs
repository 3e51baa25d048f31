//! Question: what comes after a loss in its own function: the program's end, a return of what, or more of the program?
//!
//! `p = realloc(p, n); if (!p) exit(1);` loses a block that nobody misses. All ways from the loss on are walked (`ways`), with what
//! the losing path knows deciding what it can; where they return, what the function returns then is noted, for those who know its callers
//! (`fates`).

use drip_cond::Sort;
use drip_flow::{End, Frame, State, UseFlow, Values};
use drip_models::{Class, Value};
use drip_program::{FuncId, InstId, Op, Operand};

use super::feasible::SmallQuestions;
use super::known::{Known, reader};
use super::merge::class_of;
use super::paths::Path;
use super::ways::{Asker, Way, Ways, Work};

/// Returns of a function after which the question is up to its callers.
#[derive(Clone)]
pub(super) struct Returns {
    pub func: FuncId,
    pub values: Vec<Class>,
    pub work: Work,
}

impl Returns {
    /// These and those.
    pub fn join(&mut self, other: Returns) {
        for class in other.values {
            if !self.values.contains(&class) {
                self.values.push(class);
            }
        }
        self.work.join(other.work);
    }
}

/// What comes after the loss; none if the program goes on. Without any return the program ends.
pub(super) fn afterwards(
    frame: &Frame<'_>,
    values: &mut Values,
    flow: &UseFlow,
    path: &Path,
    end: &End,
) -> Option<Returns> {
    let Known { way, state } = Known::on(frame, values, flow, path, end);
    let mut after = Returns {
        func: frame.func,
        values: Vec::new(),
        work: Work::default(),
    };
    if let Op::Ret { value } = frame.body.insts[end.at].op {
        let value = value.map(|value| way.taken(frame.body, value));
        let class = returned(frame, values, &state, value);
        after.values.push(class);
        return Some(after);
    }
    if end.leaves {
        return None;
    }
    let asker = InFrame {
        frame,
        values,
        state: &state,
        returned: &mut after.values,
    };
    let block = frame.block_of(end.at);
    Ways::new(frame.program, frame.body, asker, &mut after.work)
        .all_end(block, end.at)
        .then_some(after)
}

/// What is known of a returned value.
fn returned(
    frame: &Frame<'_>,
    values: &mut Values,
    state: &State,
    value: Option<Operand>,
) -> Class {
    let questions = &mut SmallQuestions::default();
    let value = reader(frame, values, questions).returned_value(state, value);
    class_of(&value).unwrap_or(match value {
        Value::Fresh { .. } | Value::Func(_) => Class::NonZero,
        _ => Class::Any,
    })
}

struct InFrame<'w, 'a> {
    frame: &'w Frame<'a>,
    values: &'w mut Values,
    state: &'w State,
    returned: &'w mut Vec<Class>,
}

impl Asker for InFrame<'_, '_> {
    /// Given what the path knows of its arguments (`check_memory(p)`, where p is null).
    fn never_passes(&mut self, inst: InstId) -> bool {
        let Some(summary) = self.frame.calls.get(&inst).filter(|s| !s.may_throw) else {
            return false;
        };
        summary.outcomes.iter().all(|outcome| {
            outcome.when.iter().any(|atom| {
                let Some(operand) = self.frame.asked_of(inst, atom) else {
                    return false;
                };
                let term = self.values.term(operand);
                let term = self.values.replaced(term, |sym| self.state.lookup(sym));
                let known = self.values.terms.as_int(term);
                known.is_some_and(|known| {
                    let number = drip_cond::to_signed(known, self.values.terms.width(term));
                    !atom.class.contains(number)
                })
            })
        })
    }

    fn decides(&mut self, way: &Way, cond: Operand) -> Option<bool> {
        let term = self.values.term(way.taken(self.frame.body, cond));
        if self.values.terms.sort(term) != Sort::Bool {
            return None;
        }
        let term = self.values.replaced(term, |sym| self.state.lookup(sym));
        let negation = self.values.terms.not(term);
        match self.values.terms.as_bool(term) {
            None if self.state.knows(term) => Some(true),
            None if self.state.knows(negation) => Some(false),
            known => known,
        }
    }

    fn accepts(&mut self, way: &Way, value: Option<Operand>, _: &mut Work) -> bool {
        let value = value.map(|value| way.taken(self.frame.body, value));
        let class = returned(self.frame, self.values, self.state, value);
        if !self.returned.contains(&class) {
            self.returned.push(class);
        }
        true
    }
}
