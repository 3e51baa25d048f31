//! Transfer of a call: one pseudo-branch per outcome of the callee's summary (Saturn §4.5.3, by outcome).
//!
//! An outcome's condition is assumed first; its effects are in `apply.rs`. A call that touches no followed object is one step
//! without a split; a call without outcomes ends the path (it never returns).

use drip_cond::{Sort, TermId};
use drip_models::{Atom, Certainty, Class, Outcome, Root, Subject, Summary, Value, ValuePath};
use drip_pointer::ObjKind;
use drip_program::{GlobalId, InstId};

use crate::arithmetic::sort_of;
use crate::explore::{Explorer, Goal, Run};
use crate::graph::Choice;
use crate::interface::{class_term, path_term};
use crate::state::{Followed, Holds, Machine, State, Where};
use crate::transfer::holds_operand;

/// Can the call change what a global leads to?
pub(crate) fn handles_global(summary: &Summary, global: GlobalId) -> bool {
    let root = Root::Global(global);
    summary.touched.contains(global)
        || summary.outcomes.iter().any(|o| {
            o.frees.iter().any(|f| f.path.root == root)
                || o.writes.iter().any(|w| w.cell.base.root == root)
        })
}

impl Explorer<'_, '_> {
    pub(crate) fn call(&mut self, inst: InstId, run: Run, out: &mut Vec<Run>) {
        let frame = self.frame;
        let result = frame.body.result(inst);
        let Some(summary) = frame.calls.get(&inst) else {
            let mut run = run;
            for object in &mut run.state.objects {
                object.forget_value(result);
            }
            out.push(run);
            return;
        };
        if !self.concerns(&run.state, inst, summary) {
            let mut run = run;
            if self.pass_by(&mut run.state, inst, summary) {
                for object in &mut run.state.objects {
                    object.forget_value(result);
                }
                out.push(run);
            }
            return;
        }
        for (number, outcome) in summary.outcomes.iter().enumerate() {
            let mut state = run.state.clone();
            if self.writes_nowhere(&state, inst, outcome)
                || !self.assume_outcome(&mut state, inst, outcome)
            {
                continue;
            }
            self.learn_used(&mut state, inst, outcome);
            let again = self.is_in_loop(inst) && self.makes_unborn(&state, inst, outcome);
            if again {
                // The followed instance may be one of a later round.
                let mut skipped = Run {
                    state: state.clone(),
                    choices: run.choices.clone(),
                };
                self.apply(&mut skipped.state, inst, (number, outcome), false);
                skipped.choices.push(Choice {
                    inst,
                    alternative: number as u16,
                });
                out.push(skipped);
            }
            self.apply(&mut state, inst, (number, outcome), true);
            let mut choices = run.choices.clone();
            choices.push(Choice {
                inst,
                alternative: number as u16,
            });
            out.push(Run { state, choices });
        }
    }

    /// While nothing is remembered, a call that returns and concerns no followed object is no step at all.
    pub(crate) fn skips_call(&self, inst: InstId, runs: &mut [Run]) -> bool {
        let frame = self.frame;
        if !self.relevant.from_birth || self.goal == Goal::Exits {
            return false;
        }
        let Some(summary) = frame.calls.get(&inst) else {
            return false;
        };
        if !summary.returns() || runs.iter().any(|r| self.concerns(&r.state, inst, summary)) {
            return false;
        }
        let result = frame.body.result(inst);
        for object in runs.iter_mut().flat_map(|r| &mut r.state.objects) {
            object.forget_value(result);
        }
        true
    }

    /// A call that concerns no followed object is one step, but its conditions count: does it return at all on this path,
    /// and what does it leave behind if there is only one way?
    fn pass_by(&mut self, state: &mut State, inst: InstId, summary: &Summary) -> bool {
        match &summary.outcomes[..] {
            [] => false,
            [only] => {
                if !self.assume_outcome(state, inst, only) {
                    return false;
                }
                self.learn_used(state, inst, only);
                self.pass_unchanged(state, inst, None);
                let before = state.clone();
                for write in only
                    .writes
                    .iter()
                    .filter(|w| w.certainty == Certainty::Must)
                {
                    if write.cell.base.root == Root::Ret {
                        continue;
                    }
                    let cell = &write.cell;
                    let named = self.cells_of(&before, inst, &cell.base, cell.offset, &[]);
                    if named.certain {
                        self.learn_written(state, &before, inst, named.cells()[0], &write.value);
                    }
                }
                true
            }
            several => {
                self.pass_unchanged(state, inst, None);
                let conditional = several.iter().all(|o| !o.when.is_empty());
                !conditional
                    || several.iter().any(|outcome| {
                        let mut trial = state.clone();
                        outcome
                            .when
                            .iter()
                            .all(|atom| self.assume_atom(&mut trial, inst, atom))
                    })
            }
        }
    }

    /// What the callee has written through is not null.
    fn learn_used(&mut self, state: &mut State, inst: InstId, outcome: &Outcome) {
        let frame = self.frame;
        for write in &outcome.writes {
            if write.certainty == Certainty::Must
                && let Root::Arg(n) = write.cell.base.root
                && write.cell.base.loads.is_empty()
                && let Some(&arg) = frame.args(inst).get(usize::from(n))
            {
                self.learn_access(state, arg);
            }
        }
    }

    /// The callee would write through a null pointer.
    fn writes_nowhere(&self, state: &State, inst: InstId, outcome: &Outcome) -> bool {
        outcome.writes.iter().any(|w| {
            w.certainty == Certainty::Must
                && matches!(w.cell.base.root, Root::Arg(_))
                && self.is_missing(state, &self.frame.resolve(inst, &w.cell.base))
        })
    }

    pub(crate) fn is_in_loop(&self, inst: InstId) -> bool {
        self.frame
            .cfg
            .loops()
            .innermost(self.frame.block_of(inst))
            .is_some()
    }

    fn makes_unborn(&self, state: &State, inst: InstId, outcome: &Outcome) -> bool {
        self.objects
            .iter()
            .zip(&state.objects)
            .any(|(&obj, followed)| {
                followed.machine == Machine::Unborn
                    && matches!(self.frame.local.memory.kind(obj), ObjKind::Fresh { call, index }
                    if call == inst && outcome.fresh.contains(&index))
            })
    }

    /// Can the call do anything to a followed object?
    pub(crate) fn concerns(&self, state: &State, inst: InstId, summary: &Summary) -> bool {
        let frame = self.frame;
        let args = frame.args(inst);
        let reach = frame.reach.get(&inst).map_or(&[][..], Vec::as_slice);
        for (index, object) in state.objects.iter().enumerate() {
            let obj = self.objects[index];
            if let ObjKind::Fresh { call, .. } = frame.local.memory.kind(obj)
                && call == inst
            {
                return true;
            }
            if !object.is_live() {
                continue;
            }
            if args
                .iter()
                .any(|&arg| holds_operand(object, arg) != Holds::No)
            {
                return true;
            }
            let in_reach = object.places.iter().any(|p| match p.at {
                Where::Cell(cell) => {
                    let owner = frame.local.memory.cells[cell].obj;
                    reach.binary_search(&owner).is_ok()
                        || matches!(frame.local.memory.kind(owner), ObjKind::Global(global)
                            if handles_global(summary, global))
                }
                _ => false,
            });
            if in_reach {
                return true;
            }
        }
        // A summary's own result may be inherited from this call.
        self.goal == Goal::Exits && summary.outcomes.len() > 1 && self.relevant_result(inst)
    }

    fn relevant_result(&self, inst: InstId) -> bool {
        let term = self.values.of(self.frame.body.result(inst));
        match self.values.terms.kind(term) {
            drip_cond::TermKind::Sym(sym) => self.relevant.decisive.contains(sym),
            _ => false,
        }
    }

    /// The outcome's condition, in terms of the caller; false if the path knows better.
    fn assume_outcome(&mut self, state: &mut State, inst: InstId, outcome: &Outcome) -> bool {
        for atom in &outcome.when {
            if !self.assume_atom(state, inst, atom) {
                return false;
            }
        }
        // What the outcome returns says more than its class.
        let result = self.frame.body.result(inst);
        let sort = sort_of(self.frame.program, self.frame.body.insts[inst].ty);
        let term = self.values.of(result);
        if self.values.terms.sort(term) != sort {
            return true;
        }
        if let Some(value) = self.returned_term(inst, &outcome.ret, sort) {
            let value = self.in_path(value, state);
            if let drip_cond::TermKind::Sym(sym) = *self.values.terms.kind(term) {
                state.bind(sym, Some(value));
                return true;
            }
            let fact = self.values.terms.eq(term, value);
            return self.assume_certain(state, fact);
        }
        let class = match &outcome.ret {
            Value::Fresh { .. } | Value::Func(_) => Class::NonZero,
            // The address of an element.
            Value::Entry { plus, .. } if !plus.is_exact() => Class::NonZero,
            Value::Unknown(class) => *class,
            _ => Class::Any,
        };
        match class_term(self.values, term, class) {
            Some(fact) => self.assume_certain(state, fact),
            None => true,
        }
    }

    /// The returned value as a term of the caller, if the outcome says which it is.
    fn returned_term(&mut self, inst: InstId, ret: &Value, sort: Sort) -> Option<TermId> {
        let width = match (sort, ret) {
            (Sort::Bits(width), _) => width,
            (Sort::Bool, Value::Int(value)) => return Some(self.values.terms.bool(*value != 0)),
            (Sort::Bool, _) => return None,
        };
        match ret {
            Value::Int(value) => Some(self.values.terms.int(width, *value as u64)),
            Value::Entry { path, plus } if plus.is_exact() => {
                let entry = path_term(self.frame, self.values, inst, path)
                    .filter(|&entry| self.values.terms.sort(entry) == sort)?;
                let delta = self.values.terms.int(width, plus.base as u64);
                Some(self.values.terms.add(entry, delta))
            }
            _ => None,
        }
    }

    /// Adds a fact whether or not another decision depends on it; false if the path knows better.
    fn assume_certain(&mut self, state: &mut State, fact: TermId) -> bool {
        let fact = self.in_path(fact, state);
        if let Some(known) = self.values.terms.as_bool(fact) {
            return known;
        }
        let negation = self.values.terms.not(fact);
        if state.knows(negation) {
            return false;
        }
        state.learn(fact);
        true
    }

    fn assume_atom(&mut self, state: &mut State, inst: InstId, atom: &Atom) -> bool {
        let (term, followed) = match &atom.subject {
            Subject::Ret => (Some(self.values.of(self.frame.body.result(inst))), None),
            Subject::Entry(path) => (
                path_term(self.frame, self.values, inst, path),
                self.followed_by(state, inst, path),
            ),
        };
        let says_null = atom.class.implies(Class::Eq(0));
        if says_null
            && self
                .frame
                .asked_of(inst, atom)
                .is_some_and(|arg| self.frame.is_pointer_sum(arg))
        {
            return false;
        }
        if followed.is_some_and(|index| !self.is_nullable(index)) {
            // A pointer to a followed object is not null.
            return !says_null;
        }
        if let Some(term) = term
            && let Some(fact) = class_term(self.values, term, atom.class)
        {
            let fact = self.in_path(fact, state);
            if !self.assume_term(state, fact) {
                return false;
            }
        }
        if let Some(index) = followed.filter(|_| says_null) {
            state.objects[index] = Followed::null();
        }
        true
    }

    /// The followed object that a path denotes for certain.
    fn followed_by(&self, state: &State, inst: InstId, path: &ValuePath) -> Option<usize> {
        (0..state.objects.len()).find(|&i| self.denotes(state, inst, path, i) == Holds::Yes)
    }
}
