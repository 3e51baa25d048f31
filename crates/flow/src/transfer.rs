//! Transfer of one instruction: where pointers to the followed objects go.
//!
//! Rules in the order of the code; the statement that removes the last holder of a cell is the one that leaks it
//! (Heapcheck, rules 1–7): assignment `p = …` (binding marker), store `p->f = …`, `free(p)` of what held it.

use drip_cond::{Sort, TermId, TermKind};
use drip_pointer::{CellId, Loc, Memory, ObjKind};
use drip_program::{BlockId, CastOp, CmpPred, InstId, Op, Operand, ValueId};
use smallvec::SmallVec;

use crate::explore::{Explorer, Goal, Run, end_kind};
use crate::graph::{Choice, EndKind, NodeId};
use crate::state::{Escape, Followed, Holds, Machine, State, Where};

/// Alternatives of a select.
const SELECT_THEN: u16 = 0;
const SELECT_ELSE: u16 = 1;

/// Cases of a switch whose negation is remembered on the default edge.
const MAX_DEFAULT_FACTS: usize = 8;

impl Explorer<'_, '_> {
    /// Executes one instruction in every run of the block so far.
    pub(crate) fn step(&mut self, node: NodeId, inst: InstId, runs: Vec<Run>) -> Vec<Run> {
        let mut out = Vec::with_capacity(runs.len());
        for run in runs {
            self.step_one(inst, run, &mut out);
        }
        if self.goal == Goal::Exits {
            return out;
        }
        let mut going = Vec::with_capacity(out.len());
        for run in out {
            if self.settled(&run.state) {
                self.end(node, inst, end_kind(&run.state), run);
            } else {
                going.push(run);
            }
        }
        going
    }

    fn step_one(&mut self, inst: InstId, mut run: Run, out: &mut Vec<Run>) {
        let frame = self.frame;
        let data = &frame.body.insts[inst];
        let result = frame.body.result(inst);
        match data.op {
            Op::Phi { .. } => {}
            Op::Call { .. } => {
                self.call(inst, run, out);
                return;
            }
            Op::Select { cond, then, els } => {
                self.select(inst, run, [cond, then, els], out);
                return;
            }
            Op::PtrAdd { base, .. } => copy_holders(&mut run.state, base, result),
            Op::Cast {
                op: CastOp::Bitcast | CastOp::IntToPtr | CastOp::PtrToInt,
                value,
            } => {
                copy_holders(&mut run.state, value, result);
            }
            Op::Binary { a, b, .. } => {
                // A pointer taken apart: perhaps still one.
                for operand in [a, b] {
                    blur_holders(&mut run.state, operand, result);
                }
            }
            Op::Opaque { args } => {
                for &operand in frame.body.list(args) {
                    blur_holders(&mut run.state, operand, result);
                }
            }
            Op::Load { addr } => self.load(&mut run.state, addr, result, data.ty),
            Op::Store { addr, value } => self.store(&mut run.state, inst, addr, value),
            Op::MemCopy { dst, src, len } => self.copy_memory(&mut run.state, inst, dst, src, len),
            Op::MemSet { dst, len, .. } => {
                self.overwrite(&mut run.state, inst, dst, self.length(len))
            }
            Op::InsertValue { agg, value, path } => {
                self.insert_value(&mut run.state, result, agg, value, path)
            }
            Op::ExtractValue { agg, path } => self.extract_value(&mut run.state, result, agg, path),
            Op::AtomicRmw { addr, value, .. } => {
                self.load(&mut run.state, addr, result, data.ty);
                self.store_weakly(&mut run.state, inst, addr, value);
            }
            Op::CmpXchg { addr, new, .. } => {
                for object in &mut run.state.objects {
                    object.forget_value(result);
                }
                self.store_weakly(&mut run.state, inst, addr, new);
            }
            Op::Bind { var, value } => self.bind_variable(&mut run.state, inst, var, value),
            _ => {
                for object in &mut run.state.objects {
                    object.forget_value(result);
                }
            }
        }
        out.push(run);
    }

    fn length(&self, len: Operand) -> u64 {
        match self.values.terms.as_int(self.values.term(len)) {
            Some(bytes) => bytes,
            None => u64::MAX,
        }
    }

    /// `p = …`: the variable no longer holds what it held.
    fn bind_variable(
        &mut self,
        state: &mut State,
        inst: InstId,
        var: drip_program::VarId,
        value: Operand,
    ) {
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
            copy_holders(&mut run.state, then, result);
            out.push(run);
            return;
        }
        for (alternative, taken, value) in [(SELECT_THEN, true, then), (SELECT_ELSE, false, els)] {
            let mut state = run.state.clone();
            if self.assume(&mut state, cond, taken) {
                copy_holders(&mut state, value, result);
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
            if certain && state.objects[index].remove(Where::Cell(cells[0])) && held == Holds::No {
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
                state.objects[index].settle(Machine::Escaped { at: inst, to });
            }
            return;
        }
        for &cell in cells {
            let owner = self.frame.local.memory.cells[cell].obj;
            let kind = self.frame.local.memory.kind(owner);
            if owner == self.objects[index] {
                // Its own cell leads to it but is no root; another instance's cell (weak) may be one.
                state.objects[index].add(Where::Cell(cell), !certain);
                continue;
            }
            let untracked = matches!(kind, ObjKind::Fresh { .. }) && !self.objects.contains(&owner);
            if untracked || kind == ObjKind::World {
                state.objects[index].settle(Machine::Escaped {
                    at: inst,
                    to: Escape::Untracked,
                });
                return;
            }
            state.objects[index].add(Where::Cell(cell), !certain);
        }
        if let Some(to) = outside
            && !certain
        {
            state.objects[index].settle(Machine::Escaped { at: inst, to });
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
            for (index, object) in state.objects.iter_mut().enumerate() {
                if object.remove(Where::Cell(cell)) {
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

    // ----- control -----

    /// The end of a block.
    pub(crate) fn leave(
        &mut self,
        node: NodeId,
        block: BlockId,
        inst: InstId,
        run: Run,
        next: &mut Vec<NodeId>,
    ) {
        let frame = self.frame;
        match frame.body.insts[inst].op {
            Op::Br { target } => self.flow(node, block, target, inst, run, next),
            Op::CondBr { cond, then, els } => {
                if then == els {
                    self.flow(node, block, then, inst, run, next);
                    return;
                }
                let mut other = run.state.clone();
                let choices = run.choices.clone();
                let mut run = run;
                if self.assume(&mut run.state, cond, true) {
                    self.flow(node, block, then, inst, run, next);
                } else {
                    self.out.filtered += 1;
                }
                if self.assume(&mut other, cond, false) {
                    self.flow(
                        node,
                        block,
                        els,
                        inst,
                        Run {
                            state: other,
                            choices,
                        },
                        next,
                    );
                } else {
                    self.out.filtered += 1;
                }
            }
            Op::Switch {
                value,
                default,
                cases,
            } => self.switch(node, block, inst, run, (value, default, cases), next),
            Op::IndirectBr { targets, .. } => {
                for &target in frame.body.targets(targets) {
                    let copy = Run {
                        state: run.state.clone(),
                        choices: run.choices.clone(),
                    };
                    self.flow(node, block, target, inst, copy, next);
                }
            }
            Op::CallBr {
                normal, targets, ..
            } => {
                for &target in frame.body.targets(targets) {
                    let copy = Run {
                        state: run.state.clone(),
                        choices: run.choices.clone(),
                    };
                    self.flow(node, block, target, inst, copy, next);
                }
                self.flow(node, block, normal, inst, run, next);
            }
            Op::Invoke { normal, unwind, .. } => {
                let throws = frame.calls.get(&inst).is_some_and(|s| s.may_throw);
                if throws {
                    let copy = Run {
                        state: run.state.clone(),
                        choices: run.choices.clone(),
                    };
                    self.flow(node, block, unwind, inst, copy, next);
                }
                let mut runs = Vec::new();
                self.call(inst, run, &mut runs);
                for run in runs {
                    if self.settled(&run.state) {
                        self.end(node, inst, end_kind(&run.state), run);
                    } else {
                        self.flow(node, block, normal, inst, run, next);
                    }
                }
            }
            Op::Ret { value } => self.exit(node, inst, value, run),
            Op::Resume { .. } => self.exit(node, inst, None, run),
            _ => {}
        }
    }

    fn switch(
        &mut self,
        node: NodeId,
        block: BlockId,
        inst: InstId,
        run: Run,
        (value, default, cases): (Operand, BlockId, drip_program::PoolRange),
        next: &mut Vec<NodeId>,
    ) {
        let cases = self.frame.body.cases(cases);
        let term = self.in_path(self.values.term(value), &run.state);
        let Sort::Bits(width) = self.values.terms.sort(term) else {
            return;
        };
        if let Some(known) = self.values.terms.as_int(term) {
            let target = cases
                .iter()
                .find(|c| c.value == known)
                .map_or(default, |c| c.target);
            self.flow(node, block, target, inst, run, next);
            return;
        }
        let mut targets: SmallVec<[BlockId; 8]> = SmallVec::new();
        for case in cases {
            if !targets.contains(&case.target) && case.target != default {
                targets.push(case.target);
            }
        }
        for &target in &targets {
            let mut state = run.state.clone();
            let tests: SmallVec<[TermId; 8]> = cases
                .iter()
                .filter(|c| c.target == target)
                .map(|c| self.equals(term, width, c.value))
                .collect();
            let fact = self.values.terms.or(&tests);
            if self.assume_term(&mut state, fact) {
                let copy = Run {
                    state,
                    choices: run.choices.clone(),
                };
                self.flow(node, block, target, inst, copy, next);
            }
        }
        let mut run = run;
        let mut possible = true;
        for case in cases
            .iter()
            .filter(|c| c.target != default)
            .take(MAX_DEFAULT_FACTS)
        {
            let test = self.equals(term, width, case.value);
            let fact = self.values.terms.not(test);
            possible = possible && self.assume_term(&mut run.state, fact);
        }
        if possible {
            self.flow(node, block, default, inst, run, next);
        }
    }

    fn equals(&mut self, term: TermId, width: u32, value: u64) -> TermId {
        let constant = self.values.terms.int(width, value);
        self.values.terms.eq(term, constant)
    }

    /// A term as this path has it: φs replaced by what they are here.
    pub(crate) fn in_path(&mut self, term: TermId, state: &State) -> TermId {
        if state.env.is_empty() {
            return term;
        }
        let symbols = self.values.symbols_in(term);
        let mut map = rustc_hash::FxHashMap::default();
        for sym in symbols {
            if let Some(value) = state.lookup(sym) {
                let sort = self.values.terms.sort(value);
                let leaf = self.values.terms.sym(sym, sort);
                map.insert(leaf, value);
            }
        }
        if map.is_empty() {
            term
        } else {
            self.values.terms.substitute(term, &map)
        }
    }

    /// Adds `cond == taken` to what the path knows; false if that contradicts it.
    pub(crate) fn assume(&mut self, state: &mut State, cond: Operand, taken: bool) -> bool {
        if let Some(decided) = self.decided_by_holders(state, cond) {
            return decided == taken;
        }
        let term = self.values.term(cond);
        if self.values.terms.sort(term) != Sort::Bool {
            return true;
        }
        let term = self.in_path(term, state);
        let fact = if taken {
            term
        } else {
            self.values.terms.not(term)
        };
        self.assume_term(state, fact)
    }

    /// [`Explorer::assume`] for a term: SMOKE's linear filter, one step at a time.
    pub(crate) fn assume_term(&mut self, state: &mut State, fact: TermId) -> bool {
        if let Some(value) = self.values.terms.as_bool(fact) {
            return value;
        }
        if state.knows(fact) {
            return true;
        }
        let negation = self.values.terms.not(fact);
        if state.knows(negation) {
            return false;
        }
        if let TermKind::And(parts) = self.values.terms.kind(fact).clone() {
            return parts.iter().all(|&part| self.assume_term(state, part));
        }
        let symbols = self.values.symbols_in(fact);
        if symbols
            .iter()
            .any(|sym| self.relevant.correlated.contains(sym))
        {
            state.learn(fact);
            // `x == 3` decides every later question about x.
            if let TermKind::Eq(a, b) = *self.values.terms.kind(fact)
                && let TermKind::Sym(sym) = *self.values.terms.kind(a)
                && self.values.terms.as_int(b).is_some()
            {
                state.bind(sym, Some(b));
            }
        }
        true
    }

    /// Comparisons of a pointer to a followed object: it is not null, and not the address of anything else.
    fn decided_by_holders(&self, state: &State, cond: Operand) -> Option<bool> {
        let inst = self.frame.body.def(cond.as_value()?)?;
        let Op::Cmp { pred, a, b } = self.frame.body.insts[inst].op else {
            return None;
        };
        let equal = match pred {
            CmpPred::Eq => true,
            CmpPred::Ne => false,
            _ => return None,
        };
        for (index, object) in state.objects.iter().enumerate() {
            if !object.is_live() {
                continue;
            }
            for (x, y) in [(a, b), (b, a)] {
                if holds_operand(object, x) == Holds::Yes && self.is_elsewhere(object, index, y) {
                    return Some(!equal);
                }
            }
        }
        None
    }

    /// Is the operand null or a pointer to something that is not object `index`?
    fn is_elsewhere(&self, object: &Followed, index: usize, operand: Operand) -> bool {
        if self.values.terms.as_int(self.values.term(operand)) == Some(0) {
            return true;
        }
        if holds_operand(object, operand) != Holds::No {
            return false;
        }
        let targets = self.frame.local.targets(operand);
        !targets.is_empty()
            && targets
                .iter()
                .all(|l| l.obj != Memory::WORLD && l.obj != self.objects[index])
    }

    /// The function returns (or unwinds): what nobody outside holds is lost.
    fn exit(&mut self, node: NodeId, inst: InstId, value: Option<Operand>, mut run: Run) {
        if self.goal == Goal::Exits {
            self.end(node, inst, EndKind::Exit, run);
            return;
        }
        let Some(object) = run.state.objects.first() else {
            return;
        };
        if !object.is_live() {
            return;
        }
        if self.is_held_outside(&run.state, 0, value) {
            self.end(node, inst, EndKind::Settled, run);
            return;
        }
        if self.is_main && self.held_by_main(&run.state) {
            self.end(node, inst, EndKind::HeldAtEnd, run);
            return;
        }
        let perhaps = object.blurred;
        run.state.objects[0].machine = Machine::Lost;
        self.end(
            node,
            inst,
            if perhaps {
                EndKind::LostPerhaps
            } else {
                EndKind::Lost
            },
            run,
        );
    }

    fn held_by_main(&self, state: &State) -> bool {
        self.frame.body.vars.is_empty() || !state.objects[0].places.is_empty()
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
