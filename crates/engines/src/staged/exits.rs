//! Question: what does a caller see of one way through a function? The state at an exit in the caller's language.
//!
//! Reads off, never decides: what it returns, frees, writes, lets escape, and which conditions on parameters and entry
//! cells the path has taken (Saturn fig. 5 and 7 say what counts as handed out).

use std::cell::OnceCell;

use drip_cond::{Sort, SymId, TermId, TermKind};
use drip_flow::{End, Escape, Frame, Holds, Machine, State, Symbol, Values, Where, region};
use drip_memssa::{Def, VersionId};
use drip_models::{
    Atom, CellPath, Certainty, ChainLink, Class, ContentCopy, Escape as SummaryEscape, EscapeTo,
    Family, Free, FreshObject, MAX_PATH_LOADS, Offset, Outcome, Root, Subject, Value, ValuePath,
    Write,
};
use drip_pointer::local::MAX_ENTRY_DEPTH;
use drip_pointer::{CellId, ObjId, ObjKind};
use drip_program::{InstId, Op, Operand, Type};
use smallvec::SmallVec;

use super::effects::bound_writes;
use super::feasible::SmallQuestions;
use super::interface::{atoms_of, is_worth_telling};
use super::merge::{bounded, without_weaker};
use super::objects::whole_copies;
use super::zeroed::{is_stored_at_birth, is_zeroed};

/// Those that meet the same fate as an object that is followed.
pub(super) fn others_alike(
    alike: &[(ObjId, Vec<ObjId>)],
    obj: ObjId,
) -> impl Iterator<Item = ObjId> + '_ {
    let group = alike.iter().find(|group| group.0 == obj);
    group.into_iter().flat_map(|group| &group.1).copied()
}

/// Reads exits of one function.
pub(super) struct ExitReader<'m, 'a> {
    pub frame: &'m Frame<'a>,
    pub values: &'m mut Values,
    pub questions: &'m mut SmallQuestions,
    /// Objects followed by the exploration whose ends are read, in the order of its states.
    pub objects: &'m [ObjId],
    /// Further objects that meet the fate of one of these.
    pub alike: &'m [(ObjId, Vec<ObjId>)],
    /// Fresh objects that callers may get, in the order of their numbers.
    pub fresh: &'m [ObjId],
    /// What the function may do something to, once that has been asked.
    pub concerned: OnceCell<Vec<ObjId>>,
    pub limited: bool,
    /// Some exit returns a new block that is somebody else's already.
    pub keeps_result: bool,
}

impl ExitReader<'_, '_> {
    pub(super) fn fresh_list(&self) -> Vec<FreshObject> {
        self.fresh
            .iter()
            .map(|&obj| {
                let ObjKind::Fresh { call, index } = self.frame.local.memory.kind(obj) else {
                    return FreshObject {
                        chain: SmallVec::new(),
                        family: Family::default(),
                        many: false,
                    };
                };
                let inner = self
                    .frame
                    .calls
                    .get(&call)
                    .and_then(|s| s.fresh.get(usize::from(index)));
                let mut chain: SmallVec<[ChainLink; 2]> = SmallVec::from_slice(&[ChainLink {
                    func: self.frame.func,
                    inst: call,
                    index,
                }]);
                chain.extend(inner.into_iter().flat_map(|f| f.chain.iter().copied()));
                chain.truncate(8);
                let in_loop = self
                    .frame
                    .cfg
                    .loops()
                    .innermost(self.frame.block_of(call))
                    .is_some();
                FreshObject {
                    chain,
                    family: inner.map(|f| f.family).unwrap_or_default(),
                    many: in_loop || inner.is_some_and(|f| f.many),
                }
            })
            .collect()
    }

    pub(super) fn fresh_number(&self, obj: ObjId) -> Option<u16> {
        self.fresh.iter().position(|&o| o == obj).map(|p| p as u16)
    }

    /// The path by which a caller names the value that points to an object.
    pub(super) fn object_path(&self, obj: ObjId) -> Option<ValuePath> {
        match self.frame.local.memory.kind(obj) {
            ObjKind::Param(n) => Some(ValuePath::arg(n)),
            ObjKind::Global(g) => Some(ValuePath::root(Root::Global(g))),
            ObjKind::Fresh { .. } => self
                .fresh_number(obj)
                .map(|k| ValuePath::root(Root::Fresh(k))),
            ObjKind::Entry(cell) => {
                let place = self.frame.local.memory.cells[cell];
                let path = self.object_path(place.obj)?;
                (path.loads.len() < MAX_PATH_LOADS).then(|| path.load(place.off))
            }
            _ => None,
        }
    }

    fn cell_path(&self, cell: CellId) -> Option<CellPath> {
        let place = self.frame.local.memory.cells[cell];
        Some(CellPath {
            base: self.object_path(place.obj)?,
            offset: place.off,
        })
    }

    /// Everything that a caller sees of this exit.
    pub(super) fn outcome(&mut self, end: &End) -> Outcome {
        let mut outcome = self.effects(end);
        if matches!(outcome.ret, Value::Unknown(_)) {
            outcome.ret = self.returned_value(&end.state, self.returned(end));
        }
        outcome.when = self.atoms(&end.state);
        self.other_pointers(&end.state, &mut outcome);
        self.written_cells(&end.state, end.at, &mut outcome);
        outcome.writes.sort();
        outcome.writes.dedup();
        self.limited |= bound_writes(&mut outcome);
        outcome
    }

    fn returned(&self, end: &End) -> Option<Operand> {
        match self.frame.body.insts[end.at].op {
            Op::Ret { value } => value,
            _ => None,
        }
    }

    /// What has become of the followed objects, and nothing else.
    pub(super) fn effects(&mut self, end: &End) -> Outcome {
        let returned = self.returned(end);
        let ret = self
            .returned_object(&end.state, returned)
            .unwrap_or(Value::Unknown(Class::Any));
        let mut outcome = Outcome::returning(ret);
        self.fates(&end.state, &mut outcome);
        self.held_cells(&end.state, returned, &mut outcome);
        outcome.fresh = self.alive(&end.state, &outcome);
        let is_kept = |k: &u16| !outcome.fresh.contains(k);
        self.keeps_result |= matches!(&outcome.ret, Value::Fresh { index, .. } if is_kept(index))
            || self.returns_escaped(&end.state, returned);
        // What is kept in an object that callers never see is kept out of their sight.
        let alive = &outcome.fresh;
        let escapes = &mut outcome.escapes;
        outcome.writes.retain(|w| {
            let told = !matches!(w.cell.base.root, Root::Fresh(k) if !alive.contains(&k));
            if let (false, Value::Entry { path, .. }) = (told, &w.value) {
                escapes.push(SummaryEscape {
                    path: path.clone(),
                    to: EscapeTo::Unknown,
                });
            }
            told
        });
        outcome.escapes.sort();
        outcome.escapes.dedup();
        let values = outcome.writes.iter_mut().map(|w| &mut w.value);
        for value in values.chain([&mut outcome.ret]) {
            if matches!(*value, Value::Fresh { index, .. } if !alive.contains(&index)) {
                *value = Value::Unknown(Class::NonZero);
            }
        }
        outcome.writes.sort();
        outcome.writes.dedup();
        outcome
    }

    /// A wrapper of realloc, or one made by hand from malloc, memcpy and free: what the old block held, the new one holds.
    pub(super) fn copies(&self, outcome: &Outcome) -> Vec<ContentCopy> {
        let mut copies = self.copied_by_hand(outcome);
        for &k in &outcome.fresh {
            let kind = self.frame.local.memory.kind(self.fresh[usize::from(k)]);
            let ObjKind::Fresh { call, index } = kind else {
                continue;
            };
            let inner = self.frame.calls.get(&call).into_iter();
            for copy in inner
                .flat_map(|s| &s.outcomes)
                .flat_map(|o| &o.copies)
                .filter(|c| c.to == index)
            {
                let from = self.frame.resolve(call, &copy.from);
                let [loc] = from[..] else { continue };
                let freed = |path: &ValuePath| outcome.frees.iter().any(|f| f.path == *path);
                if let Some(path) = self.object_path(loc.obj).filter(freed) {
                    copies.push(ContentCopy { from: path, to: k });
                }
            }
        }
        copies.sort();
        copies.dedup();
        copies
    }

    /// Whole blocks of the caller's that are copied into blocks that it gets.
    fn copied_by_hand(&self, outcome: &Outcome) -> Vec<ContentCopy> {
        let memory = &self.frame.local.memory;
        let is_entry =
            |obj: ObjId| matches!(memory.kind(obj), ObjKind::Param(_) | ObjKind::Entry(_));
        whole_copies(self.frame)
            .filter(|&(_, from)| is_entry(from))
            .filter_map(|(to, from)| {
                let to = self
                    .fresh_number(to)
                    .filter(|k| outcome.fresh.contains(k))?;
                let from = self.object_path(from)?;
                Some(ContentCopy { from, to })
            })
            .collect()
    }

    /// What became of entry objects.
    pub(super) fn fates(&self, state: &State, outcome: &mut Outcome) {
        for (followed, &obj) in state.objects.iter().zip(self.objects) {
            if self.fresh.contains(&obj) {
                continue;
            }
            self.fate(followed.machine, obj, outcome);
            for other in others_alike(self.alike, obj) {
                self.fate(followed.machine, other, outcome);
            }
        }
        outcome.frees.sort();
        outcome.escapes.sort();
    }

    fn fate(&self, machine: Machine, obj: ObjId, outcome: &mut Outcome) {
        let Some(path) = self.object_path(obj) else {
            return;
        };
        match machine {
            Machine::Freed { sure, .. } => outcome.frees.push(Free {
                // What an object held that lies as deep as can be told goes with it or is freed before: nobody can say.
                certainty: if sure && path.loads.len() + 1 < MAX_ENTRY_DEPTH as usize {
                    Certainty::Must
                } else {
                    Certainty::May
                },
                family: Family::default(),
                path,
            }),
            Machine::Escaped { to, .. } => outcome.escapes.push(SummaryEscape {
                path,
                to: match to {
                    Escape::Global(g) => EscapeTo::Global(g),
                    Escape::Thread => EscapeTo::Thread,
                    Escape::Unknown(_) | Escape::Untracked => EscapeTo::Unknown,
                },
            }),
            _ => {}
        }
    }

    /// Cells outside that hold a followed object now.
    pub(super) fn held_cells(
        &self,
        state: &State,
        returned: Option<Operand>,
        outcome: &mut Outcome,
    ) {
        let returned = returned.and_then(Operand::as_value);
        for (index, followed) in state.objects.iter().enumerate() {
            if !followed.is_live() {
                continue;
            }
            let obj = self.objects[index];
            let (new, path) = (self.fresh_number(obj), self.object_path(obj));
            if new.is_none() && path.is_none() {
                continue;
            }
            let value_at = |offset: Offset| match (new, &path) {
                (Some(index), _) => Value::Fresh { index, offset },
                // What leads into a block of the caller's counts as leading to it.
                (None, Some(path)) => Value::Entry {
                    path: path.clone(),
                    plus: Offset::ZERO,
                },
                (None, None) => Value::Unknown(Class::NonZero),
            };
            for place in &followed.places {
                let certainty = if place.weak {
                    Certainty::May
                } else {
                    Certainty::Must
                };
                match place.at {
                    Where::Cell(at) if self.home_cell(obj) != Some(at) => {
                        if let Some(cell) = self.cell_path(at) {
                            outcome.writes.push(Write {
                                cell,
                                value: value_at(self.held_at(at, obj)),
                                certainty,
                            });
                        }
                    }
                    Where::Value(v, offset) if Some(v) == returned && self.returns_struct() => {
                        let cell = CellPath {
                            base: ValuePath::root(Root::Ret),
                            offset: Offset::exact(i64::from(offset)),
                        };
                        outcome.writes.push(Write {
                            cell,
                            value: value_at(Offset::ZERO),
                            certainty,
                        });
                    }
                    _ => {}
                }
            }
        }
    }

    /// Where a cell points into a new block, if that is certain: allocators that keep a header before the block hand out what is behind it.
    fn held_at(&self, cell: CellId, obj: ObjId) -> Offset {
        let locs = self.frame.local.contents[cell].iter();
        let mut offsets = locs.filter(|loc| loc.obj == obj).map(|loc| loc.off);
        match (offsets.next(), offsets.next()) {
            (Some(only), None) if only.is_exact() => only,
            _ => Offset::ZERO,
        }
    }

    /// The cell that an entry object was found in.
    fn home_cell(&self, obj: ObjId) -> Option<CellId> {
        match self.frame.local.memory.kind(obj) {
            ObjKind::Entry(cell) => Some(cell),
            _ => None,
        }
    }

    fn returns_struct(&self) -> bool {
        match self
            .frame
            .program
            .types
            .get(self.frame.program.funcs[self.frame.func].ty)
        {
            drip_program::Type::Func { ret, .. } => self.frame.is_aggregate(*ret),
            _ => false,
        }
    }

    /// Cells outside that hold something else than on entry.
    pub(super) fn written_cells(&mut self, state: &State, ret: InstId, outcome: &mut Outcome) {
        let frame = self.frame;
        for (cell, place) in frame.local.memory.cells.iter_enumerated() {
            // What this exploration does not follow may still be handed out: another part of the summary says so.
            let handed = self.fresh_number(place.obj).is_some()
                && self
                    .objects
                    .iter()
                    .position(|&o| o == place.obj)
                    .is_none_or(|at| state.objects[at].is_live());
            if !frame.local.memory.kind(place.obj).has_entry_state() && !handed {
                continue;
            }
            let Some(version) = frame.memssa.used(ret, region(cell)) else {
                continue;
            };
            let is_as_made = match (
                &frame.memssa.versions[version].def,
                frame.local.memory.kind(place.obj),
            ) {
                (Def::Entry, _) => true,
                // Zero, which is told of the whole block.
                (Def::Chi { inst, .. }, ObjKind::Fresh { call, .. }) => {
                    *inst == call && is_zeroed(frame, place.obj) && !is_stored_at_birth(frame, cell)
                }
                _ => false,
            };
            if is_as_made {
                continue;
            }
            let holds_followed = state.objects.iter().enumerate().any(|(index, o)| {
                o.is_live()
                    && o.places.iter().any(|p| p.at == Where::Cell(cell))
                    && self.home_cell(self.objects[index]) != Some(cell)
            });
            if holds_followed {
                continue;
            }
            let Some(path) = self.cell_path(cell) else {
                continue;
            };
            if let Some((value, certainty)) = self.final_value(state, cell, version)
                && is_worth_telling(&path, &value, certainty)
            {
                outcome.writes.push(Write {
                    cell: path,
                    value,
                    certainty,
                });
            }
        }
    }

    /// What a cell holds at the exit; `None` if that is what it held on entry.
    fn final_value(
        &mut self,
        state: &State,
        cell: CellId,
        version: VersionId,
    ) -> Option<(Value, Certainty)> {
        let strong = self.frame.local.memory.is_strong(cell);
        let term = match self.values.stored_term(self.frame, version) {
            Some(term) => Some(term),
            None => self
                .known_phi(state, version)
                .or_else(|| self.values.copied_term(self.frame, version)),
        };
        let Some(term) = term else {
            // Of a number its class says all, whoever wrote it; a pointer may still be there.
            let is_number = strong
                && (self.frame.local.contents[cell].is_empty() || self.frame.holds_number(cell));
            return Some(match self.class_of_version(state, version) {
                class if is_number && class != Class::Any => {
                    (Value::Unknown(class), Certainty::Must)
                }
                _ => (Value::Unknown(Class::Any), Certainty::May),
            });
        };
        let term = self.in_path(state, term);
        let term = self.decided(state, term);
        let value = match self.value_of(term) {
            Value::Unknown(_) => match self.constant_in(state, term) {
                Some(constant) => Value::Int(constant),
                None => Value::Unknown(self.class_in(state, term)),
            },
            known => known,
        };
        if let Value::Entry { path, plus } = &value
            && *plus == Offset::ZERO
            && self
                .cell_path(cell)
                .is_some_and(|c| c.base.load(c.offset) == *path)
        {
            return None;
        }
        let sure = strong && !(matches!(value, Value::Unknown(_)) && self.may_restore(cell, term));
        Some((
            value,
            if sure {
                Certainty::Must
            } else {
                Certainty::May
            },
        ))
    }

    /// May this value, of which nothing is known, be the pointer that the cell held on entry?
    fn may_restore(&self, cell: CellId, term: TermId) -> bool {
        let frame = self.frame;
        if frame.holds_number(cell) {
            return false;
        }
        let TermKind::Sym(sym) = *self.values.terms.kind(term) else {
            return false;
        };
        let own = |l: &drip_pointer::Loc| frame.local.memory.kind(l.obj) == ObjKind::Entry(cell);
        match self.values.symbol(sym) {
            Some(Symbol::Value(value)) if value.index() < frame.body.value_count() => {
                frame.local.values[value].iter().any(own)
            }
            _ => frame.local.contents[cell].iter().any(own),
        }
    }

    /// What the path knows of a number that a callee left in a cell.
    fn class_of_version(&mut self, state: &State, version: VersionId) -> Class {
        for width in [64u32, 32, 8, 16] {
            if let Some(sym) = self.values.find(Symbol::Version(version, width)) {
                let leaf = self.values.terms.sym(sym, Sort::Bits(width));
                return self.class_in(state, leaf);
            }
        }
        Class::Any
    }

    /// A memory φ that the path has resolved.
    fn known_phi(&mut self, state: &State, version: VersionId) -> Option<TermId> {
        [64u32, 32, 8, 16].into_iter().find_map(|width| {
            let sym = self.values.find(Symbol::Version(version, width))?;
            state.lookup(sym)
        })
    }

    fn in_path(&mut self, state: &State, term: TermId) -> TermId {
        self.values.replaced(term, |sym| state.lookup(sym))
    }

    /// An if-then-else whose condition the path knows is the side it takes.
    fn decided(&mut self, state: &State, mut term: TermId) -> TermId {
        while let TermKind::Ite(cond, a, b) = *self.values.terms.kind(term) {
            let negation = self.values.terms.not(cond);
            term = if state.knows(cond) {
                a
            } else if state.knows(negation) {
                b
            } else {
                break;
            };
        }
        term
    }

    /// A term in the caller's language.
    fn value_of(&mut self, term: TermId) -> Value {
        if let Some(value) = self.values.terms.as_int(term) {
            let width = self.values.terms.width(term);
            return Value::Int(drip_cond::to_signed(value, width));
        }
        if let Some(value) = self.values.terms.as_bool(term) {
            return Value::Int(i64::from(value));
        }
        let (base, plus) = match self.values.terms.kind(term) {
            TermKind::Linear(sum) if sum.terms.len() == 1 && sum.terms[0].1 == 1 => {
                let width = self.values.terms.width(term);
                (sum.terms[0].0, drip_cond::to_signed(sum.constant, width))
            }
            _ => (term, 0),
        };
        match *self.values.terms.kind(base) {
            TermKind::Sym(sym) => match self.symbol_path(sym) {
                Some(path) => Value::Entry {
                    path,
                    plus: Offset::exact(plus),
                },
                None => Value::Unknown(Class::Any),
            },
            TermKind::Addr(key) => {
                let obj = ObjId::from_u32(key.0);
                match self.frame.local.memory.kind(obj) {
                    ObjKind::Global(g) => Value::Entry {
                        path: ValuePath::root(Root::Global(g)),
                        plus: Offset::exact(plus),
                    },
                    ObjKind::Func(func) => Value::Func(func),
                    _ => Value::Unknown(Class::NonZero),
                }
            }
            _ => Value::Unknown(Class::Any),
        }
    }

    /// The path of a symbol that the caller can name.
    fn symbol_path(&self, sym: SymId) -> Option<ValuePath> {
        match self.values.symbol(sym)? {
            Symbol::Value(value) => self
                .frame
                .body
                .as_param(value)
                .map(|n| ValuePath::arg(n as u16)),
            Symbol::Version(version, width) if width > 0 => {
                let version = &self.frame.memssa.versions[version];
                if version.def != Def::Entry {
                    return None;
                }
                let place = self.frame.local.memory.cells[drip_flow::cell_of(version.region)];
                let path = self.object_path(place.obj)?;
                (path.loads.len() < MAX_PATH_LOADS).then(|| path.load(place.off))
            }
            Symbol::Version(..) => None,
        }
    }

    /// A followed object that is returned.
    fn returned_object(&self, state: &State, returned: Option<Operand>) -> Option<Value> {
        let operand = returned?;
        let value = operand.as_value()?;
        if self.returns_struct() {
            return None;
        }
        for (index, followed) in state.objects.iter().enumerate() {
            let obj = self.objects[index];
            let is_returned = match followed.holds_value(value) {
                Holds::Yes => true,
                Holds::Perhaps => self.is_all(operand, obj),
                Holds::No => false,
            };
            if !followed.is_live() || !is_returned {
                continue;
            }
            let offset = self.offset_into(operand, obj);
            if let Some(number) = self.fresh_number(obj) {
                return Some(Value::Fresh {
                    index: number,
                    offset,
                });
            }
            if let Some(path) = self.object_path(obj) {
                return Some(Value::Entry { path, plus: offset });
            }
        }
        None
    }

    /// Is a new block, perhaps an older one of the same loop, all that the pointer can point to? (The first of a list that was made from its
    /// beginning to its end: it leads to all others.)
    fn is_all(&self, operand: Operand, obj: ObjId) -> bool {
        let targets = self.frame.local.targets(operand);
        let is_new = matches!(self.frame.local.memory.kind(obj), ObjKind::Fresh { .. });
        is_new
            && targets
                .iter()
                .all(|loc| loc.obj == obj && loc.off.is_exact())
    }

    /// The returned value, as far as the path knows it.
    pub(super) fn returned_value(&mut self, state: &State, returned: Option<Operand>) -> Value {
        let Some(operand) = returned else {
            return Value::Unknown(Class::Any);
        };
        let term = self.values.term(operand);
        let term = self.in_path(state, term);
        let term = self.decided(state, term);
        match self.value_of(term) {
            Value::Unknown(_) => match self.constant_in(state, term) {
                Some(value) => Value::Int(value),
                None if self.is_address_sum(operand, term) || self.is_found_by_call(operand) => {
                    self.element(operand)
                        .unwrap_or(Value::Unknown(Class::NonZero))
                }
                None => Value::Unknown(self.class_in(state, term)),
            },
            known => known,
        }
    }

    /// Is it a pointer that was moved on? Then it is not null.
    fn is_address_sum(&self, operand: Operand, term: TermId) -> bool {
        let ty = operand.as_value().map(|v| self.frame.body.value_ty(v));
        let is_pointer = ty.is_some_and(|ty| matches!(self.frame.program.types.get(ty), Type::Ptr));
        is_pointer && matches!(self.values.terms.kind(term), TermKind::Linear(_))
    }

    /// Does a call always return the address of an element of what it is given?
    fn is_found_by_call(&self, operand: Operand) -> bool {
        let call = operand.as_value().and_then(|v| self.frame.body.def(v));
        let summary = call.and_then(|inst| self.frame.calls.get(&inst));
        summary.is_some_and(|summary| {
            let is_element =
                |o: &Outcome| matches!(&o.ret, Value::Entry { plus, .. } if !plus.is_exact());
            summary.returns() && summary.outcomes.iter().all(is_element)
        })
    }

    /// The address of an element of something that the caller knows, whatever its index.
    fn element(&self, operand: Operand) -> Option<Value> {
        let [target] = *self.frame.local.targets(operand) else {
            return None;
        };
        let path = self.object_path(target.obj)?;
        let is_fresh = matches!(path.root, Root::Fresh(_));
        (!is_fresh).then_some(Value::Entry {
            path,
            plus: target.off,
        })
    }

    /// The constant that the path knows a value to be.
    fn constant_in(&self, state: &State, term: TermId) -> Option<i64> {
        state.facts.iter().find_map(|&fact| {
            let TermKind::Eq(a, b) = *self.values.terms.kind(fact) else {
                return None;
            };
            let constant = self.values.terms.as_int(b).filter(|_| a == term)?;
            Some(drip_cond::to_signed(
                constant,
                self.values.terms.width(term),
            ))
        })
    }

    fn offset_into(&self, operand: Operand, obj: ObjId) -> Offset {
        let mut offsets = self
            .frame
            .local
            .targets(operand)
            .iter()
            .filter(|l| l.obj == obj)
            .map(|l| l.off);
        let first = offsets.next().unwrap_or(Offset::ZERO);
        offsets.fold(first, Offset::join)
    }

    /// Conditions on the interface that the path has taken.
    pub(super) fn atoms(&mut self, state: &State) -> Vec<Atom> {
        let mut atoms: Vec<Atom> = Vec::new();
        for &fact in &state.facts {
            let (classes, depth) = atoms_of(self.values, fact);
            for (sym, class) in classes {
                if let Some(path) = self.symbol_path(sym).filter(|p| p.loads.len() <= depth) {
                    let subject = Subject::Entry(path);
                    atoms.push(Atom { subject, class });
                }
            }
        }
        for (&obj, followed) in self.objects.iter().zip(&state.objects) {
            if followed.machine == Machine::Null
                && let Some(path) = self.object_path(obj)
                && path.loads.len() <= 2
            {
                atoms.push(Atom {
                    subject: Subject::Entry(path),
                    class: Class::Eq(0),
                });
            }
        }
        bounded(without_weaker(atoms))
    }
}
