//! Transfer of one instruction: where pointers to the followed objects go.
//!
//! Rules in the order of the code; the statement that removes the last holder of a cell is the one that leaks it
//! (Heapcheck, rules 1–7): assignment `p = …` (binding marker), store `p->f = …`, `free(p)` of what held it.

use std::rc::Rc;

use drip_cond::{SymId, TermId, TermKind};
use drip_models::Class;
use drip_pointer::{CellId, Loc, Memory, ObjKind};
use drip_program::{CastOp, InstId, Op, Operand, ValueId};
use smallvec::SmallVec;

use crate::explore::{Explorer, Goal, MAX_STATES, MAX_WAYS, Run, take_in};
use crate::graph::{Choice, NodeId};
use crate::interface::class_term;
use crate::state::{Escape, Followed, Holds, Machine, Place, State, Where};

/// Alternatives of a select.
const SELECT_THEN: u16 = 0;
const SELECT_ELSE: u16 = 1;

impl Explorer<'_, '_> {
    /// Executes one instruction in every run of the block so far.
    pub(crate) fn step(&mut self, node: NodeId, inst: InstId, runs: &mut Vec<Run>) {
        match self.frame.body.insts[inst].op {
            Op::Phi { .. } => return,
            Op::Call { .. } | Op::Select { .. } => self.split(inst, runs),
            _ => runs.retain_mut(|run| {
                let is_left = self.leaves(inst, &run.state);
                // The twin: the instruction is executed.
                if cfg!(debug_assertions) && is_left {
                    let mut state = State::clone(&run.state);
                    let goes_on = self.advance(inst, &mut state);
                    assert!(goes_on && state == *run.state, "{inst} changes the state");
                }
                is_left || self.advance(inst, Rc::make_mut(&mut run.state))
            }),
        }
        if self.goal == Goal::Fate {
            let settled = runs.extract_if(.., |run| self.settled(&run.state));
            for run in settled.collect::<SmallVec<[Run; 2]>>() {
                self.end(node, inst, self.end_kind(&run.state), run);
            }
        }
    }

    /// Instructions that have more than one result.
    fn split(&mut self, inst: InstId, runs: &mut Vec<Run>) {
        let splits = runs.len();
        let mut out = std::mem::take(&mut self.results);
        for run in runs.drain(..) {
            match self.frame.body.insts[inst].op {
                Op::Select { cond, then, els } => {
                    self.select(inst, run, [cond, then, els], &mut out)
                }
                _ => self.call(inst, run, &mut out),
            }
        }
        if out.len() > splits.max(1) {
            self.merge_runs(&mut out);
        }
        self.results = std::mem::replace(runs, out);
    }

    /// Several calls in one block multiply their outcomes: runs that agree are one, and beyond [`MAX_STATES`] those that
    /// agree on the objects keep only what they both know.
    fn merge_runs(&mut self, runs: &mut Vec<Run>) {
        let mut kept: Vec<Run> = Vec::with_capacity(runs.len());
        for run in runs.drain(..) {
            let mut same = kept.iter().filter(|k| k.state == run.state).peekable();
            if same.peek().is_some() {
                let is_room = kept.len() < MAX_STATES / 2 && same.clone().count() < MAX_WAYS;
                let is_another_way =
                    self.tells_ways && same.all(|k| self.asks_otherwise(&k.choices, &run.choices));
                match (is_another_way, is_room) {
                    (true, true) => kept.push(run),
                    (true, false) => self.out.lacks_ways = true,
                    (false, _) => {}
                }
                continue;
            }
            if kept.len() < MAX_STATES {
                kept.push(run);
                continue;
            }
            let agreeing = |k: &Run| {
                let pairs = k.state.objects.iter().zip(&run.state.objects);
                pairs.filter(|(a, b)| a.machine == b.machine).count()
            };
            let apart = self.told_apart();
            let is_alike = |k: &Run| {
                let mut pairs = k.state.objects.iter().zip(&run.state.objects).take(apart);
                pairs.all(|(a, b)| a.machine == b.machine)
            };
            let candidates = kept.iter_mut().rev().filter(|k| is_alike(k));
            match candidates.max_by_key(|k| agreeing(k)) {
                Some(known) => {
                    self.out.crowded = true;
                    take_in(Rc::make_mut(&mut known.state), &run.state);
                }
                None => self.out.limited = true,
            }
        }
        *runs = kept;
    }

    /// Do two ways through a block ask for different conditions? Where they lead to the same state, only one of the two may
    /// be possible.
    pub(crate) fn asks_otherwise(&self, a: &[Choice], b: &[Choice]) -> bool {
        let condition = |choice: &Choice| {
            let summary = self.frame.calls.get(&choice.inst)?;
            let outcome = summary.outcomes.get(usize::from(choice.alternative))?;
            Some((choice.inst, &outcome.when))
        };
        !a.iter().map(condition).eq(b.iter().map(condition))
    }

    /// Does the instruction leave a state as it is, so that it need not be copied? Only what is quickly seen.
    fn leaves(&self, inst: InstId, state: &State) -> bool {
        let frame = self.frame;
        let result = frame.body.result(inst);
        let is_held = |value: ValueId| {
            let mut places = state.objects.iter().flat_map(|object| &object.places);
            places.any(|place| matches!(place.at, Where::Value(v, _) if v == value))
        };
        let is_operand_held = |operand: Operand| operand.as_value().is_some_and(is_held);
        match frame.body.insts[inst].op {
            Op::PtrAdd { base, .. } => !is_held(result) && !is_operand_held(base),
            Op::Cast { value, .. } => !is_held(result) && !is_operand_held(value),
            Op::Cmp { .. } => !is_held(result),
            Op::Load { addr } => {
                let targets = frame.local.targets(addr);
                let accessed = self.values.term(frame.accessed(addr));
                let tells = match *self.values.terms.kind(accessed) {
                    TermKind::Sym(sym) => self.relevant.correlated.contains(&sym),
                    _ => false,
                };
                let memory = &frame.local.memory;
                let is_read = |place: &Place| match place.at {
                    Where::Cell(cell) => {
                        targets.iter().any(|loc| loc.obj == memory.cells[cell].obj)
                    }
                    _ => false,
                };
                let mut places = state.objects.iter().flat_map(|object| &object.places);
                !tells
                    && !is_held(result)
                    && !places.any(is_read)
                    && !self.is_missing(state, targets)
                    && !self.is_null(state, addr)
            }
            _ => false,
        }
    }

    /// One instruction with one result; false if the path ends there.
    fn advance(&mut self, inst: InstId, state: &mut State) -> bool {
        let frame = self.frame;
        let data = &frame.body.insts[inst];
        let result = frame.body.result(inst);
        match data.op {
            Op::PtrAdd { base, .. } => copy_holders(state, base, result),
            Op::Cast {
                op: CastOp::Bitcast | CastOp::IntToPtr | CastOp::PtrToInt,
                value,
            } => {
                copy_holders(state, value, result);
            }
            Op::Binary { a, b, .. } => {
                // A pointer taken apart: perhaps still one.
                for operand in [a, b] {
                    blur_holders(state, operand, result);
                }
            }
            Op::Opaque { args } => {
                for &operand in frame.body.list(args) {
                    blur_holders(state, operand, result);
                }
            }
            Op::Load { addr } | Op::Store { addr, .. }
                if self.is_missing(state, frame.local.targets(addr))
                    || self.is_null(state, addr) =>
            {
                return false;
            }
            Op::Load { addr } => {
                self.load(state, addr, result, data.ty);
                self.learn_access(state, addr);
            }
            Op::Store { addr, value } => {
                self.store(state, inst, addr, value);
                self.learn_access(state, addr);
            }
            Op::MemCopy { dst, src, len } => self.copy_memory(state, inst, dst, src, len),
            Op::MemSet { dst, len, .. } => self.overwrite(state, inst, dst, self.length(len)),
            Op::InsertValue { agg, value, path } => {
                self.insert_value(state, result, agg, value, path)
            }
            Op::ExtractValue { agg, path } => self.extract_value(state, result, agg, path),
            Op::AtomicRmw { addr, value, .. } => {
                self.load(state, addr, result, data.ty);
                self.store_weakly(state, inst, addr, value);
            }
            Op::CmpXchg { addr, new, .. } => {
                state.forget_value(result);
                self.store_weakly(state, inst, addr, new);
            }
            Op::Bind { var, value } => self.bind_variable(state, inst, var, value),
            _ => state.forget_value(result),
        }
        true
    }

    /// Only objects that this path has not made: the allocation failed, the pointer is null, and whoever uses it ends the program.
    /// In a loop an earlier round may have made them.
    pub(crate) fn is_missing(&self, state: &State, targets: &[Loc]) -> bool {
        let memory = &self.frame.local.memory;
        let is_missing = |loc: &Loc| match memory.kind(loc.obj) {
            ObjKind::Fresh { call, .. } if !self.frame.is_in_loop(call) => self
                .objects
                .iter()
                .position(|&o| o == loc.obj)
                .is_some_and(|index| state.objects[index].machine == Machine::Unborn),
            _ => false,
        };
        !targets.is_empty() && targets.iter().all(is_missing)
    }

    /// Does the path know that the address is null?
    fn is_null(&self, state: &State, addr: Operand) -> bool {
        let terms = &self.values.terms;
        let term = self.values.term(self.frame.accessed(addr));
        let known = match *terms.kind(term) {
            TermKind::Sym(sym) => state.lookup(sym).unwrap_or(term),
            _ => term,
        };
        terms.as_int(known) == Some(0)
    }

    /// What was read or written through is not null.
    pub(crate) fn learn_access(&mut self, state: &mut State, addr: Operand) {
        let term = self.values.term(self.frame.accessed(addr));
        if let TermKind::Sym(sym) = *self.values.terms.kind(term)
            && self.relevant.correlated.contains(&sym)
            && let Some(fact) = class_term(self.values, term, Class::NonZero)
        {
            self.learn_not_null(state, sym, fact);
        }
    }

    pub(crate) fn learn_not_null(&mut self, state: &mut State, sym: SymId, fact: TermId) {
        if self.relevant.correlated.contains(&sym) {
            let fact = self.in_path(fact, state);
            if self.values.terms.as_bool(fact).is_none() {
                state.learn(fact);
            }
        }
    }

    fn length(&self, len: Operand) -> u64 {
        self.values
            .terms
            .as_int(self.values.term(len))
            .unwrap_or(u64::MAX)
    }

    /// `p = …`: the variable no longer holds what it held.
    fn bind_variable(
        &mut self,
        state: &mut State,
        inst: InstId,
        var: drip_program::VarId,
        value: Operand,
    ) {
        if self.goal == Goal::Exits {
            return;
        }
        let mut affected: SmallVec<[usize; 4]> = SmallVec::new();
        let (memory, objects) = (&self.frame.local.memory, &self.objects);
        for (index, object) in state.objects.iter_mut().enumerate() {
            // Variables matter for what this function can lose: its own objects.
            if !object.is_live() || !matches!(memory.kind(objects[index]), ObjKind::Fresh { .. }) {
                continue;
            }
            match value
                .as_value()
                .map_or(Holds::No, |v| object.holds_value(v))
            {
                Holds::No => {
                    if object.remove(Where::Var(var)) {
                        affected.push(index);
                    }
                }
                Holds::Perhaps => object.add(Where::Var(var), true),
                Holds::Yes => object.add(Where::Var(var), false),
            }
        }
        self.check_roots(state, &affected, Some(inst));
    }

    /// Splits on a select whose inputs differ for a followed object.
    fn select(
        &mut self,
        inst: InstId,
        run: Run,
        [cond, then, els]: [Operand; 3],
        out: &mut Vec<Run>,
    ) {
        let result = self.frame.body.result(inst);
        let matters = run
            .state
            .objects
            .iter()
            .any(|o| holds_operand(o, then) != holds_operand(o, els));
        if !matters {
            let mut run = run;
            copy_holders(Rc::make_mut(&mut run.state), then, result);
            out.push(run);
            return;
        }
        for (alternative, taken, value) in [(SELECT_THEN, true, then), (SELECT_ELSE, false, els)] {
            let mut state = Rc::clone(&run.state);
            if self.assume(&mut state, cond, taken) {
                copy_holders(Rc::make_mut(&mut state), value, result);
                let mut choices = run.choices.clone();
                choices.push(Choice { inst, alternative });
                out.push(Run { state, choices });
            }
        }
    }

    // ----- memory -----

    /// The one cell that an access at `addr` touches on this path, if it is certain; else all it may touch.
    pub(crate) fn cells_at(&self, state: &State, addr: Operand) -> (SmallVec<[CellId; 4]>, bool) {
        let memory = &self.frame.local.memory;
        let targets = self.path_targets(state, addr);
        let mut cells: SmallVec<[CellId; 4]> = SmallVec::new();
        let mut certain = targets.len() == 1;
        for loc in &targets {
            if loc.obj == Memory::WORLD {
                certain = false;
                continue;
            }
            certain &= loc.off.is_exact() && self.is_this_instance(state, addr, loc.obj);
            cells.extend(memory.overlapping(*loc));
        }
        certain &= cells.len() == 1 && memory.is_strong(cells[0]);
        (cells, certain)
    }

    /// Targets of an address on this path: a followed object that the address does not hold is not among them.
    fn path_targets(&self, state: &State, addr: Operand) -> SmallVec<[Loc; 4]> {
        let targets = self.frame.local.targets(addr);
        let Some(value) = addr.as_value() else {
            return targets.iter().copied().collect();
        };
        let held: SmallVec<[usize; 2]> = (0..state.objects.len())
            .filter(|&i| {
                state.objects[i].is_live() && state.objects[i].holds_value(value) == Holds::Yes
            })
            .collect();
        if let Some(&index) = held.first() {
            let obj = self.objects[index];
            return targets.iter().copied().filter(|l| l.obj == obj).collect();
        }
        targets.iter().copied().collect()
    }

    /// Is `obj`, reached through `addr`, the very instance that is followed (or an object with one instance)?
    fn is_this_instance(&self, state: &State, addr: Operand, obj: drip_pointer::ObjId) -> bool {
        match self.objects.iter().position(|&o| o == obj) {
            Some(index) if matches!(self.frame.local.memory.kind(obj), ObjKind::Fresh { .. }) => {
                addr.as_value()
                    .is_some_and(|v| state.objects[index].holds_value(v) == Holds::Yes)
            }
            _ => true,
        }
    }

    fn load(
        &mut self,
        state: &mut State,
        addr: Operand,
        result: ValueId,
        ty: drip_program::TypeId,
    ) {
        let frame = self.frame;
        if frame.is_aggregate(ty) {
            self.load_struct(state, addr, result, ty);
            return;
        }
        if state.objects.iter().all(|o| o.places.is_empty()) {
            return;
        }
        let (cells, certain) = self.cells_at(state, addr);
        for object in &mut state.objects {
            object.forget_value(result);
            if !object.is_live() {
                continue;
            }
            let held = cells
                .iter()
                .map(|&c| object.holds(Where::Cell(c)))
                .max()
                .unwrap_or(Holds::No);
            if held != Holds::No {
                object.add(Where::Value(result, 0), !(certain && held == Holds::Yes));
            }
        }
    }

    /// A struct read as one value: its fields keep their offsets.
    fn load_struct(
        &mut self,
        state: &mut State,
        addr: Operand,
        result: ValueId,
        ty: drip_program::TypeId,
    ) {
        let size = i64::try_from(self.frame.size_of(ty)).unwrap_or(i64::MAX);
        let targets = self.path_targets(state, addr);
        let memory = &self.frame.local.memory;
        for object in &mut state.objects {
            object.forget_value(result);
            for loc in &targets {
                for &cell in &memory.objects[loc.obj].cells {
                    let held = object.holds(Where::Cell(cell));
                    let distance = memory.cells[cell].off.base - loc.off.base;
                    if held != Holds::No && (0..size).contains(&distance) {
                        let exact =
                            targets.len() == 1 && loc.off.is_exact() && memory.is_strong(cell);
                        object.add(
                            Where::Value(result, distance as u32),
                            !(exact && held == Holds::Yes),
                        );
                    }
                }
            }
        }
    }

    fn store(&mut self, state: &mut State, inst: InstId, addr: Operand, value: Operand) {
        if state.objects.iter().all(|o| !o.is_live()) {
            return;
        }
        let aggregate = match value.as_value() {
            Some(v) => self.frame.is_aggregate(self.frame.body.value_ty(v)),
            None => false,
        };
        if aggregate {
            self.store_struct(state, inst, addr, value);
            return;
        }
        let (cells, certain) = self.cells_at(state, addr);
        let outside = self.leads_outside(state, addr);
        let mut affected: SmallVec<[usize; 4]> = SmallVec::new();
        for index in 0..state.objects.len() {
            if !state.objects[index].is_live() {
                continue;
            }
            let held = holds_operand(&state.objects[index], value);
            if certain && self.empty_cell(state, index, cells[0]) && held == Holds::No {
                affected.push(index);
            }
            if held != Holds::No {
                self.keep_in(
                    state,
                    inst,
                    index,
                    &cells,
                    certain && held == Holds::Yes,
                    outside,
                );
            }
        }
        self.check_roots(state, &affected, Some(inst));
    }

    /// The cell of the followed instance no longer holds object `index`; true if it did. A cell of the object's own site that
    /// perhaps holds it belongs to another instance, which is not written here.
    pub(crate) fn empty_cell(&self, state: &mut State, index: usize, cell: CellId) -> bool {
        let is_own = self.frame.local.memory.cells[cell].obj == self.objects[index];
        let at = Where::Cell(cell);
        if is_own && state.objects[index].holds(at) == Holds::Perhaps {
            return false;
        }
        state.objects[index].remove(at)
    }

    /// Object `index` is now also held by one of `cells`.
    pub(crate) fn keep_in(
        &mut self,
        state: &mut State,
        inst: InstId,
        index: usize,
        cells: &[CellId],
        certain: bool,
        outside: Option<Escape>,
    ) {
        if cells.is_empty() {
            if let Some(to) = outside {
                self.settle(state, index, Machine::Escaped { at: inst, to });
            }
            return;
        }
        let memory = &self.frame.local.memory;
        // Somewhere behind a global variable: which of its cells it is makes no difference any more.
        let kept_by = |&cell: &CellId| memory.global_above(memory.cells[cell].obj);
        if !certain && let Some(global) = cells.iter().find_map(kept_by) {
            let to = Escape::Global(global);
            self.settle(state, index, Machine::Escaped { at: inst, to });
            return;
        }
        for &cell in cells {
            let owner = memory.cells[cell].obj;
            let kind = memory.kind(owner);
            if owner == self.objects[index] {
                // Its own cell leads to it but is no root; another instance's cell (weak) may be one.
                state.objects[index].add(Where::Cell(cell), !certain);
                continue;
            }
            let untracked = matches!(kind, ObjKind::Fresh { .. }) && !self.objects.contains(&owner);
            if untracked || kind == ObjKind::World {
                self.settle(
                    state,
                    index,
                    Machine::Escaped {
                        at: inst,
                        to: Escape::Untracked,
                    },
                );
                return;
            }
            state.objects[index].add(Where::Cell(cell), !certain);
        }
        if let Some(to) = outside
            && !certain
        {
            self.settle(state, index, Machine::Escaped { at: inst, to });
        }
    }

    /// Does the address perhaps lead out of what can be named?
    pub(crate) fn leads_outside(&self, state: &State, addr: Operand) -> Option<Escape> {
        let targets = self.path_targets(state, addr);
        (targets.is_empty() || targets.iter().any(|l| l.obj == Memory::WORLD))
            .then_some(Escape::Unknown(None))
    }

    fn store_weakly(&mut self, state: &mut State, inst: InstId, addr: Operand, value: Operand) {
        let (cells, _) = self.cells_at(state, addr);
        let outside = self.leads_outside(state, addr);
        for index in 0..state.objects.len() {
            if state.objects[index].is_live()
                && holds_operand(&state.objects[index], value) != Holds::No
            {
                self.keep_in(state, inst, index, &cells, false, outside);
            }
        }
    }

    fn store_struct(&mut self, state: &mut State, inst: InstId, addr: Operand, value: Operand) {
        let Some(source) = value.as_value() else {
            return;
        };
        let size = self.frame.size_of(self.frame.body.value_ty(source));
        let fields: SmallVec<[(usize, u32, bool); 4]> = state
            .objects
            .iter()
            .enumerate()
            .flat_map(|(index, object)| {
                object.places.iter().filter_map(move |p| match p.at {
                    Where::Value(v, off) if v == source => Some((index, off, p.weak)),
                    _ => None,
                })
            })
            .collect();
        self.overwrite(state, inst, addr, size);
        let targets = self.path_targets(state, addr);
        let outside = self.leads_outside(state, addr);
        for (index, off, weak) in fields {
            let single = targets.len() == 1 && targets[0].off.is_exact();
            let cells: SmallVec<[CellId; 4]> = targets
                .iter()
                .flat_map(|l| {
                    let at = Loc {
                        obj: l.obj,
                        off: l.off.plus(drip_models::Offset::exact(i64::from(off))),
                    };
                    self.frame.local.memory.overlapping(at)
                })
                .collect();
            let certain =
                single && !weak && cells.len() == 1 && self.frame.local.memory.is_strong(cells[0]);
            self.keep_in(state, inst, index, &cells, certain, outside);
        }
    }

    /// `len` bytes at `addr` are written with something that is no pointer to a followed object.
    fn overwrite(&mut self, state: &mut State, inst: InstId, addr: Operand, len: u64) {
        let targets = self.path_targets(state, addr);
        let [loc] = targets[..] else { return };
        if !loc.off.is_exact() || !self.is_this_instance(state, addr, loc.obj) {
            return;
        }
        let end = loc
            .off
            .base
            .saturating_add(i64::try_from(len).unwrap_or(i64::MAX));
        let memory = &self.frame.local.memory;
        let mut affected: SmallVec<[usize; 4]> = SmallVec::new();
        for &cell in &memory.objects[loc.obj].cells {
            if !memory.is_strong(cell)
                || !(loc.off.base..end).contains(&memory.cells[cell].off.base)
            {
                continue;
            }
            for index in 0..state.objects.len() {
                if self.empty_cell(state, index, cell) {
                    affected.push(index);
                }
            }
        }
        self.check_roots(state, &affected, Some(inst));
    }

    /// memcpy: what the source's cells hold, the destination's hold too.
    fn copy_memory(
        &mut self,
        state: &mut State,
        inst: InstId,
        dst: Operand,
        src: Operand,
        len: Operand,
    ) {
        let len = self.length(len);
        let from = self.path_targets(state, src);
        let memory = &self.frame.local.memory;
        let end = i64::try_from(len).unwrap_or(i64::MAX);
        let mut moved: SmallVec<[(usize, i64, bool); 4]> = SmallVec::new();
        for (index, object) in state.objects.iter().enumerate() {
            for place in &object.places {
                let Where::Cell(cell) = place.at else {
                    continue;
                };
                let at = memory.cells[cell];
                for loc in from.iter().filter(|l| l.obj == at.obj) {
                    let distance = at.off.base.saturating_sub(loc.off.base);
                    if (0..end).contains(&distance) || !at.off.is_exact() {
                        let exact = from.len() == 1
                            && loc.off.is_exact()
                            && at.off.is_exact()
                            && !place.weak;
                        moved.push((index, distance, exact));
                    }
                }
            }
        }
        self.overwrite(state, inst, dst, len);
        let targets = self.path_targets(state, dst);
        let outside = self.leads_outside(state, dst);
        for (index, distance, exact) in moved {
            let cells: SmallVec<[CellId; 4]> = targets
                .iter()
                .flat_map(|l| {
                    let at = Loc {
                        obj: l.obj,
                        off: l.off.plus(drip_models::Offset::exact(distance)),
                    };
                    self.frame.local.memory.overlapping(at)
                })
                .collect();
            let certain = exact
                && targets.len() == 1
                && cells.len() == 1
                && self.frame.local.memory.is_strong(cells[0]);
            if state.objects[index].is_live() {
                self.keep_in(state, inst, index, &cells, certain, outside);
            }
        }
    }

    fn insert_value(
        &mut self,
        state: &mut State,
        result: ValueId,
        agg: Operand,
        value: Operand,
        path: drip_program::PoolRange,
    ) {
        let frame = self.frame;
        let offset = frame.field_offset(frame.body.value_ty(result), frame.body.indices(path));
        copy_holders(state, agg, result);
        for object in &mut state.objects {
            object.remove(Where::Value(result, offset));
            match holds_operand(object, value) {
                Holds::No => {}
                held => object.add(Where::Value(result, offset), held == Holds::Perhaps),
            }
        }
    }

    fn extract_value(
        &mut self,
        state: &mut State,
        result: ValueId,
        agg: Operand,
        path: drip_program::PoolRange,
    ) {
        let frame = self.frame;
        let Some(source) = agg.as_value() else { return };
        let offset = frame.field_offset(frame.body.value_ty(source), frame.body.indices(path));
        for object in &mut state.objects {
            object.forget_value(result);
            match object.holds(Where::Value(source, offset)) {
                Holds::No => {}
                held => object.add(Where::Value(result, 0), held == Holds::Perhaps),
            }
        }
    }
}

pub(crate) fn holds_operand(object: &Followed, operand: Operand) -> Holds {
    if !object.is_live() {
        return Holds::No;
    }
    operand
        .as_value()
        .map_or(Holds::No, |v| object.holds_value(v))
}

/// `result` holds whatever `source` holds, field by field.
pub(crate) fn copy_holders(state: &mut State, source: Operand, result: ValueId) {
    for object in &mut state.objects {
        let held: SmallVec<[(u32, bool); 2]> = match source.as_value() {
            Some(value) => object
                .places
                .iter()
                .filter_map(|p| match p.at {
                    Where::Value(v, off) if v == value => Some((off, p.weak)),
                    _ => None,
                })
                .collect(),
            None => SmallVec::new(),
        };
        object.forget_value(result);
        for (off, weak) in held {
            object.add(Where::Value(result, off), weak);
        }
    }
}

fn blur_holders(state: &mut State, source: Operand, result: ValueId) {
    for object in &mut state.objects {
        if holds_operand(object, source) != Holds::No {
            object.add(Where::Value(result, 0), true);
        }
    }
}
