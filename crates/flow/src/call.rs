//! Transfer of a call: one pseudo-branch per outcome of the callee's summary (Saturn §4.5.3, by outcome).
//!
//! An outcome's condition is assumed first; its effects are in `apply.rs`. A call that touches no followed object is one step
//! without a split; a call without outcomes ends the path (it never returns).

use std::rc::Rc;

use drip_cond::{TermId, TermKind};
use drip_models::{Outcome, Root, Summary};
use drip_pointer::{CellId, ObjId, ObjKind};
use drip_program::{GlobalId, InstId, Operand};
use smallvec::SmallVec;

use crate::apply::{Applied, Before};
use crate::explore::{Explorer, Goal, Run};
use crate::graph::Choice;
use crate::plan::{AtomPlan, CallPlan, Denoted, OutcomePlan, ResultPlan};
use crate::state::{Followed, Holds, Machine, Place, State, Where};
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
            run.forget_value(result);
            out.push(run);
            return;
        };
        let Some(plan) = frame.plan(self.values, inst) else {
            return;
        };
        if !self.concerns(&run.state, inst, summary) {
            let mut run = run;
            if self.pass_by(&mut run.state, inst, summary, &plan) {
                run.forget_value(result);
                out.push(run);
            }
            return;
        }
        for (number, outcome) in summary.outcomes.iter().enumerate() {
            let planned = &plan.outcomes[number];
            let mut state = Rc::clone(&run.state);
            if self.writes_nowhere(&state, planned)
                || !self.assume_outcome(&mut state, inst, planned)
            {
                continue;
            }
            self.learn_used(&mut state, planned);
            let applied = Applied {
                inst,
                number,
                outcome,
                effects: &planned.effects(frame, self.values, inst, outcome),
            };
            let mut choices = run.choices.clone();
            choices.push(Choice {
                inst,
                alternative: number as u16,
            });
            if frame.is_in_loop(inst) && self.makes_unborn(&state, inst, outcome) {
                // The followed instance may be one of a later round.
                let mut skipped = Run {
                    state: Rc::clone(&state),
                    choices: choices.clone(),
                };
                self.apply(&mut skipped.state, &applied, false);
                out.push(skipped);
            }
            self.apply(&mut state, &applied, true);
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
        for run in runs {
            run.forget_value(result);
        }
        true
    }

    /// A call that concerns no followed object is one step, but its conditions count: does it return at all on this path,
    /// and what does it leave behind if there is only one way?
    fn pass_by(
        &mut self,
        state: &mut Rc<State>,
        inst: InstId,
        summary: &Summary,
        plan: &CallPlan,
    ) -> bool {
        match &plan.outcomes[..] {
            [] => false,
            [only] => {
                if !self.assume_outcome(state, inst, only) {
                    return false;
                }
                self.learn_used(state, only);
                self.pass_all_unchanged(state, inst);
                self.learn_left_behind(state, inst, summary, only);
                true
            }
            several => {
                self.pass_all_unchanged(state, inst);
                let conditional = several.iter().all(|o| !o.atoms.is_empty());
                !conditional
                    || several.iter().any(|outcome| {
                        let mut trial = Rc::clone(state);
                        let mut atoms = outcome.atoms.iter();
                        atoms.all(|atom| self.assume_atom(&mut trial, atom))
                    })
            }
        }
    }

    /// Cells that the call leaves alone whatever it does hold what they held.
    fn pass_all_unchanged(&mut self, state: &mut Rc<State>, inst: InstId) {
        if self.relevant.passed.contains_key(&inst) {
            self.pass_unchanged(Rc::make_mut(state), inst, None);
        }
    }

    /// What the only outcome of a call leaves in memory.
    fn learn_left_behind(
        &mut self,
        state: &mut Rc<State>,
        inst: InstId,
        summary: &Summary,
        only: &OutcomePlan,
    ) {
        let effects = only.effects(self.frame, self.values, inst, &summary.outcomes[0]);
        let mut writes = effects.writes.iter().filter(|w| !w.learnt.is_empty());
        let Some(first) = writes.next() else {
            return;
        };
        let old = Rc::clone(state);
        let before = Before {
            inst,
            state: &old,
            born: SmallVec::new(),
        };
        for write in std::iter::once(first).chain(writes) {
            let is_certain = |cell| self.cells_of(&old, cell, &[]).certain;
            if write.cell.as_ref().is_some_and(is_certain) {
                self.learn_written(Rc::make_mut(state), &before, &write.learnt);
            }
        }
    }

    /// What the callee has written through is not null.
    fn learn_used(&mut self, state: &mut Rc<State>, outcome: &OutcomePlan) {
        for &(sym, fact) in &outcome.used {
            if self.relevant.correlated.contains(&sym) {
                self.learn_not_null(Rc::make_mut(state), sym, fact);
            }
        }
    }

    /// The callee would write through a null pointer.
    fn writes_nowhere(&self, state: &State, outcome: &OutcomePlan) -> bool {
        let is_missing = |obj: &ObjId| {
            let followed = self.objects.iter().position(|o| o == obj);
            followed.is_some_and(|index| state.objects[index].machine == Machine::Unborn)
        };
        let mut needed = outcome.needed.iter();
        needed.any(|objects| objects.iter().all(is_missing))
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
        self.is_loud(inst) && self.touches_object(state, inst)
            // A summary's own result may be inherited from this call.
            || self.goal == Goal::Exits
                && summary.outcomes.len() > 1
                && self.relevant_result(inst)
    }

    fn touches_object(&self, state: &State, inst: InstId) -> bool {
        let frame = self.frame;
        let args = frame.args(inst);
        let touches = frame.touches.get();
        let in_reach = |cell: CellId| {
            let owner = frame.local.memory.cells[cell].obj;
            touches.is_none_or(|touches| touches.is_reached(owner, inst))
        };
        let mut objects = self.objects.iter().zip(&state.objects);
        objects.any(|(&obj, object)| {
            let is_made_here = matches!(frame.local.memory.kind(obj),
                ObjKind::Fresh { call, .. } if call == inst);
            let is_passed = |arg: &Operand| holds_operand(object, *arg) != Holds::No;
            let is_reached =
                |place: &Place| matches!(place.at, Where::Cell(cell) if in_reach(cell));
            is_made_here
                || object.is_live()
                    && (args.iter().any(is_passed) || object.places.iter().any(is_reached))
        })
    }

    fn relevant_result(&self, inst: InstId) -> bool {
        let term = self.values.of(self.frame.body.result(inst));
        match self.values.terms.kind(term) {
            TermKind::Sym(sym) => self.relevant.decisive.contains(sym),
            _ => false,
        }
    }

    /// The outcome's condition, in terms of the caller; false if the path knows better.
    fn assume_outcome(
        &mut self,
        state: &mut Rc<State>,
        call: InstId,
        outcome: &OutcomePlan,
    ) -> bool {
        for atom in &outcome.atoms {
            if !self.assume_atom(state, atom) {
                return false;
            }
        }
        match outcome.result {
            ResultPlan::Nothing => true,
            ResultPlan::Bound(sym, _) if !self.learns(call, sym) => true,
            ResultPlan::Bound(sym, value) => {
                let value = self.in_path(value, state);
                Rc::make_mut(state).bind(sym, Some(value));
                true
            }
            ResultPlan::Fact(fact) => self.assume_certain(state, fact),
        }
    }

    /// Adds a fact whether or not another decision depends on it; false if the path knows better.
    fn assume_certain(&mut self, state: &mut Rc<State>, fact: TermId) -> bool {
        let fact = self.in_path(fact, state);
        if let Some(known) = self.values.terms.as_bool(fact) {
            return known;
        }
        let negation = self.values.terms.not(fact);
        if state.knows(negation) {
            return false;
        }
        if !state.knows(fact) {
            Rc::make_mut(state).learn(fact);
        }
        true
    }

    fn assume_atom(&mut self, state: &mut Rc<State>, atom: &AtomPlan) -> bool {
        if atom.is_refuted {
            return false;
        }
        let followed = self.followed_by(state, &atom.subject);
        if followed.is_some_and(|index| !self.is_nullable(index)) {
            // A pointer to a followed object is not null.
            return !atom.says_null;
        }
        if let Some(fact) = atom.fact {
            let fact = self.in_path(fact, state);
            if !self.assume_term(state, fact) {
                return false;
            }
        }
        if let Some(index) = followed.filter(|_| atom.says_null) {
            Rc::make_mut(state).objects[index] = Followed::null();
        }
        true
    }

    /// The followed object that a pointer of the callee's denotes for certain.
    fn followed_by(&self, state: &State, pointer: &Denoted) -> Option<usize> {
        (0..state.objects.len()).find(|&i| self.denotes(state, pointer, i) == Holds::Yes)
    }
}
