//! Transfer of one outcome of a call: what it makes, frees, copies, writes, lets escape and returns, for the followed objects.
//!
//! Order: birth, frees, copies, writes, escapes, result; then the objects that lost a holder are checked. What paths of the
//! summary denote is asked in the state before the call. Of a site in a loop an older instance may be the followed one: what
//! the call makes now is then another object, and its cells are not the followed one's.

use std::rc::Rc;

use drip_cond::{SymId, TermId};
use drip_models::{Certainty, EscapeTo, Free, Outcome, Write};
use drip_pointer::local::LocSet;
use drip_pointer::{CellId, Loc, ObjId, ObjKind};
use drip_program::{InstId, Op};
use smallvec::SmallVec;

use crate::explore::{Explorer, Goal};
use crate::named::NamedCells;
use crate::plan::{CellPlan, Denoted, Effects, FreePlan, Learnt, ValuePlan, WritePlan};
use crate::state::{Escape, Followed, Holds, Machine, State, Where};
use crate::transfer::holds_operand;

/// One outcome of a call.
pub(crate) struct Applied<'p> {
    pub inst: InstId,
    pub number: usize,
    pub outcome: &'p Outcome,
    pub effects: &'p Effects,
}

/// A call in the state before it, and the followed objects that it makes on this path.
pub(crate) struct Before<'b> {
    pub inst: InstId,
    pub state: &'b State,
    pub born: SmallVec<[usize; 2]>,
}

/// The cells that a path of the callee's summary names on a path of the caller.
pub(crate) struct Named<'n> {
    named: Cells<'n>,
    /// Exactly one concrete cell of the followed instance.
    pub certain: bool,
}

enum Cells<'n> {
    Planned(&'n NamedCells),
    /// Only those of the followed object.
    Own(NamedCells),
}

impl Named<'_> {
    fn named(&self) -> &NamedCells {
        match &self.named {
            Cells::Planned(named) => named,
            Cells::Own(named) => named,
        }
    }

    fn cells(&self) -> &[CellId] {
        &self.named().cells
    }

    fn outside(&self) -> Option<Escape> {
        self.named().is_outside.then_some(Escape::Unknown(None))
    }
}

impl Explorer<'_, '_> {
    /// Applies an outcome's effects. `follow`: an object made here becomes the followed instance.
    pub(crate) fn apply(&mut self, state: &mut Rc<State>, applied: &Applied<'_>, follow: bool) {
        let &Applied {
            inst,
            number,
            outcome,
            effects,
        } = applied;
        let result = self.frame.body.result(inst);
        // What paths denote is asked in the state before the call.
        let old = Rc::clone(state);
        let state = Rc::make_mut(state);
        state.forget_value(result);
        let mut before = Before {
            inst,
            state: &old,
            born: self.give_birth(state, inst, outcome, follow),
        };
        self.pass_unchanged(state, inst, Some(number));
        let mut affected: SmallVec<[usize; 4]> = SmallVec::new();
        for (free, planned) in outcome.frees.iter().zip(&effects.frees) {
            self.free(state, &before, (free, planned), &mut affected);
        }
        for copy in &outcome.copies {
            let reborn = self.rebirth(state, &old, inst, copy);
            before.born.extend(reborn);
            self.copy_object(state, &before, copy);
        }
        for (write, planned) in outcome.writes.iter().zip(&effects.writes) {
            self.write(state, &before, (write, planned), &mut affected);
        }
        for (escape, planned) in outcome.escapes.iter().zip(&effects.escapes) {
            self.escape(state, &before, escape, planned);
        }
        self.put_in_result(state, &before, &effects.ret, 0);
        self.check_roots(state, &affected, Some(inst));
    }

    /// Objects among the followed that this outcome makes.
    fn give_birth(
        &mut self,
        state: &mut State,
        inst: InstId,
        outcome: &Outcome,
        follow: bool,
    ) -> SmallVec<[usize; 2]> {
        let mut born = SmallVec::new();
        if !follow || outcome.fresh.is_empty() {
            return born;
        }
        for (index, &obj) in self.objects.iter().enumerate() {
            if let ObjKind::Fresh {
                call,
                index: number,
            } = self.frame.local.memory.kind(obj)
                && call == inst
                && outcome.fresh.contains(&number)
                && state.objects[index].machine == Machine::Unborn
            {
                state.objects[index] = Followed {
                    machine: Machine::Allocated,
                    ..Followed::unborn()
                };
                born.push(index);
            }
        }
        born
    }

    /// A block that grows in a loop: the same call has freed the older block and made the one that holds its contents now. As a
    /// holder the new one takes the place of the old one; the object in question stays the one that it was.
    fn rebirth(
        &self,
        state: &mut State,
        before: &State,
        inst: InstId,
        copy: &drip_models::ContentCopy,
    ) -> Option<usize> {
        let made = ObjKind::Fresh {
            call: inst,
            index: copy.to,
        };
        let made = self.frame.local.memory.find_object(made)?;
        let index = self.objects.iter().position(|&o| o == made)?;
        let is_freed = matches!(
            state.objects[index].machine,
            Machine::Freed { sure: true, .. }
        );
        let grown = before.objects[index].is_live() && is_freed;
        if index == 0 || self.goal == Goal::Exits || !grown {
            return None;
        }
        state.objects[index] = Followed {
            machine: Machine::Allocated,
            ..Followed::unborn()
        };
        Some(index)
    }

    /// Does a pointer of the callee's denote followed object `index` in this state?
    pub(crate) fn denotes(&self, state: &State, pointer: &Denoted, index: usize) -> Holds {
        let object = &state.objects[index];
        match pointer {
            Denoted::Nothing => Holds::No,
            Denoted::Operand(operand) => holds_operand(object, *operand),
            Denoted::Loaded(_) if !object.is_live() || !object.is_in_memory() => Holds::No,
            Denoted::Loaded(plan) => {
                let named = self.cells_of(state, plan, &[]);
                match object.holds_any(named.cells()) {
                    Holds::Yes if !named.certain => Holds::Perhaps,
                    held => held,
                }
            }
        }
    }

    /// The cells that the callee names. `born`: followed objects that the call makes on this path; of others from this call an older
    /// instance is followed, which the call does not touch.
    pub(crate) fn cells_of<'n>(
        &self,
        state: &State,
        plan: &'n CellPlan,
        born: &[usize],
    ) -> Named<'n> {
        let planned = Named {
            named: Cells::Planned(&plan.named),
            certain: plan.named.certain,
        };
        if plan.fresh.is_empty() {
            return planned;
        }
        // A followed object that the base denotes is the only target; one that it does not denote is another instance.
        let mut own: Option<ObjId> = None;
        let mut is_this = true;
        for (index, &obj) in self.objects.iter().enumerate() {
            if !plan.fresh.contains(&obj) || own.is_some() {
                continue;
            }
            match self.denotes(state, &plan.base, index) {
                Holds::Yes => own = Some(obj),
                _ if plan.is_made_here && born.contains(&index) => {}
                _ => is_this = false,
            }
        }
        let targets = &plan.named.targets;
        let mut named = match own {
            Some(own) if targets.iter().any(|loc| loc.obj != own) => {
                let targets = targets.iter().copied();
                let targets: LocSet = targets.filter(|loc| loc.obj == own).collect();
                let named = self.frame.cells_among(Rc::new(targets), plan.offset);
                Named {
                    certain: named.certain,
                    named: Cells::Own(named),
                }
            }
            _ => planned,
        };
        named.certain &= is_this;
        named
    }

    fn free(
        &mut self,
        state: &mut State,
        before: &Before<'_>,
        (free, planned): (&Free, &FreePlan),
        affected: &mut SmallVec<[usize; 4]>,
    ) {
        let mut settled = false;
        for index in 0..state.objects.len() {
            if !state.objects[index].is_live() {
                continue;
            }
            let held = self.denotes(before.state, &planned.freed, index);
            if held == Holds::No {
                continue;
            }
            let sure = held == Holds::Yes && free.certainty == Certainty::Must;
            let at = before.inst;
            self.settle(state, index, Machine::Freed { at, sure });
            if sure {
                self.release_contents(state, self.objects[index], affected);
            } else {
                self.give_away_contents(state, at, self.objects[index]);
            }
            settled |= held == Holds::Yes;
        }
        // An object that is not followed dies with all it holds, if it is certain which.
        let dies = planned.dies.filter(|obj| !self.objects.contains(obj));
        if let Some(obj) = dies.filter(|_| !settled) {
            match free.certainty {
                Certainty::Must => self.release_contents(state, obj, affected),
                Certainty::May => self.give_away_contents(state, before.inst, obj),
            }
        }
    }

    /// The cells of a dead object hold nothing any more (Heapcheck: free of the parent).
    fn release_contents(
        &self,
        state: &mut State,
        dead: ObjId,
        affected: &mut SmallVec<[usize; 4]>,
    ) {
        let memory = &self.frame.local.memory;
        for (index, object) in state.objects.iter_mut().enumerate() {
            let before = object.places.len();
            object
                .places
                .retain(|p| !matches!(p.at, Where::Cell(cell) if memory.cells[cell].obj == dead));
            if object.places.len() != before {
                affected.push(index);
            }
        }
    }

    /// Of an object that is perhaps freed nobody can say whether it still holds what it held.
    fn give_away_contents(&self, state: &mut State, inst: InstId, perhaps_dead: ObjId) {
        let memory = &self.frame.local.memory;
        let mut gone: SmallVec<[ObjId; 4]> = SmallVec::from_slice(&[perhaps_dead]);
        while let Some(dead) = gone.pop() {
            for index in 0..state.objects.len() {
                let held = state.objects[index]
                    .places
                    .iter()
                    .any(|p| matches!(p.at, Where::Cell(cell) if memory.cells[cell].obj == dead));
                if held && state.objects[index].is_live() {
                    let to = Escape::Untracked;
                    self.settle(state, index, Machine::Escaped { at: inst, to });
                    gone.push(self.objects[index]);
                }
            }
        }
    }

    /// realloc: what the old block held, the new one holds.
    fn copy_object(
        &mut self,
        state: &mut State,
        before: &Before<'_>,
        copy: &drip_models::ContentCopy,
    ) {
        let frame = self.frame;
        let memory = &frame.local.memory;
        let Some(to) = memory.find_object(ObjKind::Fresh {
            call: before.inst,
            index: copy.to,
        }) else {
            return;
        };
        let followed = self.objects.iter().position(|&o| o == to);
        let this_instance = followed.is_none_or(|index| before.born.contains(&index));
        let from = frame.resolve(before.inst, &copy.from);
        for (index, object) in before.state.objects.iter().enumerate() {
            for place in &object.places {
                let Where::Cell(cell) = place.at else {
                    continue;
                };
                let at = memory.cells[cell];
                if !from.iter().any(|l| l.obj == at.obj) || !object.is_live() {
                    continue;
                }
                let cells: SmallVec<[CellId; 4]> = memory
                    .overlapping(Loc {
                        obj: to,
                        off: at.off,
                    })
                    .collect();
                if state.objects[index].is_live() {
                    let certain = this_instance && !place.weak && cells.len() == 1;
                    self.keep_in(state, before.inst, index, &cells, certain, None);
                }
            }
        }
    }

    fn write(
        &mut self,
        state: &mut State,
        before: &Before<'_>,
        (write, planned): (&Write, &WritePlan),
        affected: &mut SmallVec<[usize; 4]>,
    ) {
        let Some(cell) = &planned.cell else {
            let offset = u32::try_from(write.cell.offset.base).unwrap_or(0);
            self.put_in_result(state, before, &planned.value, offset);
            return;
        };
        if !self.matters(state, planned, cell) {
            return;
        }
        let named = self.cells_of(before.state, cell, &before.born);
        let is_certain = named.certain && write.certainty == Certainty::Must;
        match &named.named {
            Cells::Planned(_) if is_certain => {
                self.learn_written(state, before, &planned.learnt);
            }
            Cells::Own(own) if is_certain => {
                let call = before.inst;
                let learnt = self
                    .frame
                    .learnt(self.values, call, own.cells[0], &write.value);
                self.learn_written(state, before, &learnt);
            }
            _ => {}
        }
        for index in 0..state.objects.len() {
            if !state.objects[index].is_live() {
                continue;
            }
            let held = self.value_is(before, &planned.value, index);
            if is_certain && self.empty_cell(state, index, named.cells()[0]) && held == Holds::No {
                affected.push(index);
            }
            if held != Holds::No {
                let certain = is_certain && held == Holds::Yes;
                // What is perhaps put behind a pointer that points to nothing is put somewhere else.
                let is_nowhere =
                    write.certainty == Certainty::May && named.named().targets.is_empty();
                let outside = named.outside().filter(|_| !is_nowhere);
                self.keep_in(state, before.inst, index, named.cells(), certain, outside);
            }
        }
    }

    /// Can a write concern a followed object, or something that is remembered?
    fn matters(&self, state: &State, planned: &WritePlan, cell: &CellPlan) -> bool {
        let is_known = |place: &crate::state::Place| matches!(place.at, Where::Cell(held) if cell.named.cells.contains(&held));
        !planned.learnt.is_empty()
            || !matches!(planned.value, ValuePlan::Other)
            || state.objects.iter().any(|o| o.places.iter().any(is_known))
    }

    /// The result of the call, or the field at an offset of the structure that it returns.
    fn put_in_result(
        &mut self,
        state: &mut State,
        before: &Before<'_>,
        value: &ValuePlan,
        offset: u32,
    ) {
        if matches!(value, ValuePlan::Other) {
            return;
        }
        let result = self.frame.body.result(before.inst);
        for index in 0..state.objects.len() {
            if !state.objects[index].is_live() {
                continue;
            }
            match self.value_is(before, value, index) {
                Holds::No => {}
                held => {
                    state.objects[index].add(Where::Value(result, offset), held == Holds::Perhaps)
                }
            }
        }
    }

    /// Cells that the call leaves alone in this outcome, or in all of them, hold what they held.
    pub(crate) fn pass_unchanged(
        &mut self,
        state: &mut State,
        inst: InstId,
        outcome: Option<usize>,
    ) {
        let relevant = self.relevant;
        let passed = relevant.passed.get(&inst).map_or(&[][..], Vec::as_slice);
        let mut bindings: SmallVec<[(SymId, TermId); 16]> = SmallVec::new();
        for passed in passed.iter().filter(|p| p.is_unchanged(outcome)) {
            bindings.push((passed.sym, self.in_path(passed.before, state)));
        }
        state.bind_all(&bindings);
    }

    /// What a cell holds after a certain write, for the conditions that ask for it.
    pub(crate) fn learn_written(
        &mut self,
        state: &mut State,
        before: &Before<'_>,
        learnt: &[(SymId, Learnt)],
    ) {
        for &(sym, known) in learnt {
            if !self.learns(before.inst, sym) {
                continue;
            }
            match known {
                Learnt::Value(term) => {
                    let term = self.in_path(term, before.state);
                    state.bind(sym, Some(term));
                }
                Learnt::Fact(fact) => state.learn(fact),
            }
        }
    }

    /// Will anybody ask for what a call says of a symbol?
    pub(crate) fn learns(&self, call: InstId, sym: SymId) -> bool {
        let keeps_all = !self.relevant.from_birth || self.tells_ways;
        keeps_all || self.relevant.decisive.contains(&sym) || self.tells(call)
    }

    /// Is a value of the callee's summary a pointer to followed object `index`?
    fn value_is(&self, before: &Before<'_>, value: &ValuePlan, index: usize) -> Holds {
        match value {
            ValuePlan::Denoted(pointer) => self.denotes(before.state, pointer, index),
            ValuePlan::Made(obj) if self.objects[index] == *obj && before.born.contains(&index) => {
                Holds::Yes
            }
            ValuePlan::Made(_) | ValuePlan::Other => Holds::No,
        }
    }

    fn escape(
        &mut self,
        state: &mut State,
        before: &Before<'_>,
        escape: &drip_models::Escape,
        planned: &Denoted,
    ) {
        let frame = self.frame;
        let inst = before.inst;
        let to = match escape.to {
            EscapeTo::Global(global) => Escape::Global(global),
            EscapeTo::Thread => Escape::Thread,
            EscapeTo::Unknown => Escape::Unknown(self.callee(inst)),
        };
        for index in 0..state.objects.len() {
            if !state.objects[index].is_live() {
                continue;
            }
            let direct = self.denotes(before.state, planned, index) != Holds::No;
            // All that is reachable from what escapes goes along, also what the call itself put there.
            let states = [&before.state.objects[index], &state.objects[index]];
            let is_inside = || {
                let reached = frame.reached_by(inst, &escape.path);
                let owner = |cell: CellId| frame.local.memory.cells[cell].obj;
                let mut places = states.iter().flat_map(|object| &object.places);
                places.any(|p| matches!(p.at, Where::Cell(cell) if reached.binary_search(&owner(cell)).is_ok()))
            };
            let is_in_memory = states.iter().any(|object| object.is_in_memory());
            if direct || is_in_memory && is_inside() {
                self.settle(state, index, Machine::Escaped { at: inst, to });
            }
        }
    }

    fn callee(&self, inst: InstId) -> Option<drip_program::FuncId> {
        let (Op::Call { callee, .. } | Op::Invoke { callee, .. }) = self.frame.body.insts[inst].op
        else {
            return None;
        };
        match self.frame.body.const_of(callee) {
            Some(drip_program::Const::Func(func)) => Some(*func),
            _ => None,
        }
    }
}
