//! Transfer of one outcome of a call: what it makes, frees, copies, writes, lets escape and returns, for the followed objects.
//!
//! Order: birth, frees, copies, writes, escapes, result; then the objects that lost a holder are checked. What paths of the
//! summary denote is asked in the state before the call. Of a site in a loop an older instance may be the followed one: what
//! the call makes now is then another object, and its cells are not the followed one's.

use std::rc::Rc;

use drip_cond::Sort;
use drip_models::{Certainty, Class, EscapeTo, Offset, Outcome, Root, Value, ValuePath};
use drip_pointer::{CellId, Loc, ObjId, ObjKind};
use drip_program::{InstId, Op};
use smallvec::SmallVec;

use crate::explore::{Explorer, Goal};
use crate::frame::region;
use crate::interface::{class_term, fitted, path_term};
use crate::named::NamedCells;
use crate::state::{Escape, Followed, Holds, Machine, State, Where};
use crate::transfer::holds_operand;

/// A cell that a path of the callee's summary names.
pub(crate) struct Named {
    named: Rc<NamedCells>,
    /// Exactly one concrete cell of the followed instance.
    pub certain: bool,
}

impl Named {
    pub fn cells(&self) -> &[CellId] {
        &self.named.cells
    }

    fn outside(&self) -> Option<Escape> {
        self.named.is_outside.then_some(Escape::Unknown(None))
    }
}

impl Explorer<'_, '_> {
    /// Applies an outcome's effects. `follow`: an object made here becomes the followed instance.
    pub(crate) fn apply(
        &mut self,
        state: &mut State,
        inst: InstId,
        (number, outcome): (usize, &Outcome),
        follow: bool,
    ) {
        let result = self.frame.body.result(inst);
        // What paths denote is asked in the state before the call.
        let before = state.clone();
        for object in &mut state.objects {
            object.forget_value(result);
        }
        let mut born = self.give_birth(state, inst, outcome, follow);
        self.pass_unchanged(state, inst, Some(number));
        let mut affected: SmallVec<[usize; 4]> = SmallVec::new();
        for free in &outcome.frees {
            self.free(state, &before, inst, free, &mut affected);
        }
        for copy in &outcome.copies {
            born.extend(self.rebirth(state, &before, inst, copy));
            self.copy_object(state, &before, inst, copy, &born);
        }
        for write in &outcome.writes {
            self.write(state, &before, inst, write, &born, &mut affected);
        }
        for escape in &outcome.escapes {
            self.escape(state, &before, inst, escape);
        }
        self.put_in_result(state, &before, inst, (&outcome.ret, 0), &born);
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
        if !follow {
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

    /// Does a callee's path denote followed object `index` in this state?
    pub(crate) fn denotes(
        &self,
        state: &State,
        inst: InstId,
        path: &ValuePath,
        index: usize,
    ) -> Holds {
        let object = &state.objects[index];
        if !object.is_live() {
            return Holds::No;
        }
        let Some((&last, front)) = path.loads.split_last() else {
            return match path.root {
                Root::Arg(n) => self
                    .frame
                    .args(inst)
                    .get(usize::from(n))
                    .map_or(Holds::No, |&arg| holds_operand(object, arg)),
                _ => Holds::No,
            };
        };
        if !object.is_in_memory() {
            return Holds::No;
        }
        let base = ValuePath {
            root: path.root,
            loads: front.into(),
        };
        let named = self.cells_of(state, inst, &base, last, &[]);
        let held = named
            .cells()
            .iter()
            .map(|&c| object.holds(Where::Cell(c)))
            .max()
            .unwrap_or(Holds::No);
        if held == Holds::Yes && !named.certain {
            Holds::Perhaps
        } else {
            held
        }
    }

    /// The cells at `offset` of what `base` points to. `born`: followed objects that the call makes on this path; of others
    /// from this call an older instance is followed, which the call does not touch.
    pub(crate) fn cells_of(
        &self,
        state: &State,
        inst: InstId,
        base: &ValuePath,
        offset: Offset,
        born: &[usize],
    ) -> Named {
        let memory = &self.frame.local.memory;
        let mut named = self.frame.cells_named(inst, base, offset);
        // A followed object that the base denotes is the only target; one that it does not denote is another instance.
        let mut this_instance = true;
        for (index, &obj) in self.objects.iter().enumerate() {
            if !matches!(memory.kind(obj), ObjKind::Fresh { .. })
                || !named.targets.iter().any(|l| l.obj == obj)
            {
                continue;
            }
            let is_made_here = matches!(base.root, Root::Fresh(_)) && base.loads.is_empty();
            match self.denotes(state, inst, base, index) {
                Holds::Yes if named.targets.iter().all(|l| l.obj == obj) => {}
                Holds::Yes => {
                    let own = named.targets.iter().copied().filter(|l| l.obj == obj);
                    let own = Rc::new(own.collect());
                    named = Rc::new(self.frame.cells_among(own, offset));
                }
                _ if is_made_here && born.contains(&index) => {}
                _ => this_instance = false,
            }
        }
        Named {
            certain: named.certain && this_instance,
            named,
        }
    }

    fn free(
        &mut self,
        state: &mut State,
        before: &State,
        inst: InstId,
        free: &drip_models::Free,
        affected: &mut SmallVec<[usize; 4]>,
    ) {
        let frame = self.frame;
        let mut settled = false;
        for index in 0..state.objects.len() {
            let held = self.denotes(before, inst, &free.path, index);
            if held == Holds::No || !state.objects[index].is_live() {
                continue;
            }
            let sure = held == Holds::Yes && free.certainty == Certainty::Must;
            self.settle(state, index, Machine::Freed { at: inst, sure });
            if sure {
                self.release_contents(state, self.objects[index], affected);
            } else {
                self.give_away_contents(state, inst, self.objects[index]);
            }
            settled |= held == Holds::Yes;
        }
        if settled {
            return;
        }
        // An object that is not followed dies with all it holds, if it is certain which.
        let targets = frame.resolve(inst, &free.path);
        if let [loc] = targets[..] {
            let kind = frame.local.memory.kind(loc.obj);
            if !self.objects.contains(&loc.obj)
                && frame.local.memory.is_single(loc.obj)
                && !matches!(kind, ObjKind::Fresh { .. })
            {
                match free.certainty {
                    Certainty::Must => self.release_contents(state, loc.obj, affected),
                    Certainty::May => self.give_away_contents(state, inst, loc.obj),
                }
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
        before: &State,
        inst: InstId,
        copy: &drip_models::ContentCopy,
        born: &[usize],
    ) {
        let frame = self.frame;
        let memory = &frame.local.memory;
        let Some(to) = memory.find_object(ObjKind::Fresh {
            call: inst,
            index: copy.to,
        }) else {
            return;
        };
        let followed = self.objects.iter().position(|&o| o == to);
        let this_instance = followed.is_none_or(|index| born.contains(&index));
        let from = frame.resolve(inst, &copy.from);
        for index in 0..before.objects.len() {
            for place in &before.objects[index].places {
                let Where::Cell(cell) = place.at else {
                    continue;
                };
                let at = memory.cells[cell];
                if !from.iter().any(|l| l.obj == at.obj) || !before.objects[index].is_live() {
                    continue;
                }
                let cells: SmallVec<[CellId; 4]> = memory
                    .overlapping(Loc {
                        obj: to,
                        off: at.off,
                    })
                    .collect();
                if state.objects[index].is_live() {
                    self.keep_in(
                        state,
                        inst,
                        index,
                        &cells,
                        this_instance && !place.weak && cells.len() == 1,
                        None,
                    );
                }
            }
        }
    }

    fn write(
        &mut self,
        state: &mut State,
        before: &State,
        inst: InstId,
        write: &drip_models::Write,
        born: &[usize],
        affected: &mut SmallVec<[usize; 4]>,
    ) {
        if write.cell.base.root == Root::Ret {
            let offset = u32::try_from(write.cell.offset.base).unwrap_or(0);
            self.put_in_result(state, before, inst, (&write.value, offset), born);
            return;
        }
        let named = self.cells_of(before, inst, &write.cell.base, write.cell.offset, born);
        let is_certain = named.certain && write.certainty == Certainty::Must;
        if is_certain {
            self.learn_written(state, before, inst, named.cells()[0], &write.value);
        }
        for index in 0..state.objects.len() {
            if !state.objects[index].is_live() {
                continue;
            }
            let held = self.value_is(before, inst, &write.value, index, born);
            if is_certain && self.empty_cell(state, index, named.cells()[0]) && held == Holds::No {
                affected.push(index);
            }
            if held != Holds::No {
                let certain = is_certain && held == Holds::Yes;
                // What is perhaps put behind a pointer that points to nothing is put somewhere else.
                let is_nowhere =
                    write.certainty == Certainty::May && named.named.targets.is_empty();
                let outside = named.outside().filter(|_| !is_nowhere);
                self.keep_in(state, inst, index, named.cells(), certain, outside);
            }
        }
    }

    /// The result of the call, or the field at an offset of the structure that it returns.
    fn put_in_result(
        &mut self,
        state: &mut State,
        before: &State,
        inst: InstId,
        (value, offset): (&Value, u32),
        born: &[usize],
    ) {
        let result = self.frame.body.result(inst);
        for index in 0..state.objects.len() {
            if !state.objects[index].is_live() {
                continue;
            }
            match self.value_is(before, inst, value, index, born) {
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
        for passed in relevant.passed.get(&inst).map_or(&[][..], Vec::as_slice) {
            if passed.is_unchanged(outcome) {
                let term = self.in_path(passed.before, state);
                state.bind(passed.sym, Some(term));
            }
        }
    }

    /// What a cell holds after a certain write, for the conditions that ask for it.
    pub(crate) fn learn_written(
        &mut self,
        state: &mut State,
        before: &State,
        inst: InstId,
        cell: CellId,
        value: &Value,
    ) {
        let frame = self.frame;
        let Some(version) = frame.memssa.defined(inst, region(cell)) else {
            return;
        };
        for width in [8u32, 16, 32, 64] {
            let Some(sym) = self
                .values
                .find(crate::values::Symbol::Version(version, width))
            else {
                continue;
            };
            let leaf = self.values.terms.sym(sym, Sort::Bits(width));
            match value {
                Value::Int(value) => {
                    let constant = self.values.terms.int(width, *value as u64);
                    state.bind(sym, Some(constant));
                }
                Value::Entry { path, plus } if plus.is_exact() => {
                    let term = path_term(frame, self.values, inst, path);
                    if let Some(term) = term.and_then(|term| fitted(self.values, term, width)) {
                        let term = self.in_path(term, before);
                        let delta = self.values.terms.int(width, plus.base as u64);
                        let term = self.values.terms.add(term, delta);
                        state.bind(sym, Some(term));
                    }
                }
                Value::Fresh { .. } if width == 64 => {
                    if let Some(fact) = class_term(self.values, leaf, Class::NonZero) {
                        state.learn(fact);
                    }
                }
                Value::Unknown(class) => {
                    if let Some(fact) = class_term(self.values, leaf, *class) {
                        state.learn(fact);
                    }
                }
                _ => {}
            }
        }
    }

    /// Is a value of the callee's summary a pointer to followed object `index`?
    fn value_is(
        &self,
        before: &State,
        inst: InstId,
        value: &Value,
        index: usize,
        born: &[usize],
    ) -> Holds {
        match value {
            Value::Entry { path, .. } => self.denotes(before, inst, path, index),
            Value::Fresh { index: number, .. } => {
                let made = ObjKind::Fresh {
                    call: inst,
                    index: *number,
                };
                if born.contains(&index)
                    && self.frame.local.memory.kind(self.objects[index]) == made
                {
                    Holds::Yes
                } else {
                    Holds::No
                }
            }
            Value::Int(_) | Value::Func(_) | Value::Unknown(_) => Holds::No,
        }
    }

    fn escape(
        &mut self,
        state: &mut State,
        before: &State,
        inst: InstId,
        escape: &drip_models::Escape,
    ) {
        let frame = self.frame;
        let to = match escape.to {
            EscapeTo::Global(global) => Escape::Global(global),
            EscapeTo::Thread => Escape::Thread,
            EscapeTo::Unknown => Escape::Unknown(self.callee(inst)),
        };
        for index in 0..state.objects.len() {
            if !state.objects[index].is_live() {
                continue;
            }
            let direct = self.denotes(before, inst, &escape.path, index) != Holds::No;
            // All that is reachable from what escapes goes along, also what the call itself put there.
            let states = [&before.objects[index], &state.objects[index]];
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
