//! Question: what does a caller need to know of this function? Its effects, by outcome.
//!
//! One exploration follows all interface objects together to the exits: entry objects that may be freed, and fresh objects
//! that may be handed out. Functions without such objects, and without pointers written outside, have one outcome and are
//! not explored. Every exit state is an outcome: what it returns, frees, writes, lets escape, and
//! which conditions on parameters and entry cells the path has taken (Saturn fig. 5 and 7 decide what counts as handed
//! out; the split by outcome is drip's own). Outcomes with equal effects that differ in one complementary condition are one;
//! more than [`MAX_OUTCOMES`] are merged, first those with equal effects, then all that return the same.

use drip_cond::{Sort, SymId, TermId, TermKind};
use drip_flow::{
    End, EndKind, Frame, Goal, Machine, Relevance, State, Symbol, UseFlow, Values, Where, explore,
    region,
};
use drip_memssa::{Def, VersionId};
use drip_models::{
    Atom, CellPath, Certainty, ChainLink, Class, Escape as SummaryEscape, EscapeTo, Family, Free,
    FreshObject, MAX_PATH_LOADS, Offset, Outcome, Root, Subject, Summary, Value, ValuePath, Write,
};
use drip_pointer::{CellId, ObjId, ObjKind};
use drip_program::{InstId, Op, Operand};
use smallvec::SmallVec;

use super::interface::{atom_of, is_pure, is_worth_telling, returns};
use super::merge::{blend, join_complements, merge_equal_effects, merge_equal_returns};
use super::objects::{MAX_INTERFACE, escaping_objects, freed_objects, has_outcomes, kept_objects};

/// Writes per outcome; further ones are left out and the summary is marked limited.
pub(super) const MAX_WRITES: usize = 16;

/// Ends of an exploration that become outcomes one by one; beyond it those with equal effects are merged at once.
const MAX_ENDS: usize = 48;

/// Conditions per outcome.
const MAX_ATOMS: usize = 4;

/// Makes the summary of a function. `handed` are the fresh objects that some path hands to the caller.
pub fn summarize(
    frame: &Frame<'_>,
    values: &mut Values,
    relevance: &Relevance,
    handed: &[ObjId],
    may_throw: bool,
) -> Summary {
    let mut objects: Vec<ObjId> = handed.to_vec();
    let mut interface = freed_objects(frame);
    for kept in kept_objects(frame) {
        if !interface.contains(&kept) {
            interface.push(kept);
        }
    }
    let dropped = interface.split_off(interface.len().min(MAX_INTERFACE));
    objects.extend(interface);
    if objects.is_empty() && !has_outcomes(frame) {
        return plain(frame, values, may_throw);
    }
    let flow = explore(frame, values, relevance, objects, Goal::Exits, false);
    let mut maker = Maker {
        frame,
        values,
        flow: &flow,
        fresh: Vec::new(),
        limited: flow.limited || !dropped.is_empty(),
    };
    if flow.limited {
        return maker.blurred(may_throw);
    }
    maker.number_fresh();
    let mut escapes = maker.escapes();
    escapes.extend(maker.paths(&dropped));
    let mut outcomes: Vec<Outcome> = Vec::new();
    for end in flow.ends.iter().filter(|e| e.kind == EndKind::Exit) {
        let mut outcome = maker.outcome(end);
        for escape in &escapes {
            if !outcome.frees.iter().any(|f| f.path == escape.path) {
                outcome.escapes.push(escape.clone());
            }
        }
        outcome.escapes.sort();
        outcome.escapes.dedup();
        if !outcomes.contains(&outcome) {
            outcomes.push(outcome);
        }
        if outcomes.len() > MAX_ENDS {
            merge_equal_effects(&mut outcomes);
            merge_equal_returns(&mut outcomes);
        }
    }
    let limited = maker.limited;
    let fresh = maker.fresh_list();
    join_complements(&mut outcomes);
    merge_equal_effects(&mut outcomes);
    merge_equal_returns(&mut outcomes);
    outcomes.sort();
    Summary {
        outcomes,
        fresh,
        may_throw,
        pure: is_pure(frame),
        limited,
    }
}

/// A function that changes nothing which a caller has to tell apart: one outcome, read off without following paths.
fn plain(frame: &Frame<'_>, values: &mut Values, may_throw: bool) -> Summary {
    let flow = UseFlow {
        objects: Vec::new(),
        nodes: Default::default(),
        ends: Vec::new(),
        limited: false,
        filtered: 0,
        steps: 0,
    };
    let mut maker = Maker {
        frame,
        values,
        flow: &flow,
        fresh: Vec::new(),
        limited: false,
    };
    let state = State {
        objects: SmallVec::new(),
        facts: SmallVec::new(),
        env: SmallVec::new(),
    };
    let mut outcome: Option<Outcome> = None;
    for block in frame.body.blocks.ids() {
        let inst = frame.body.terminator(block);
        let Op::Ret { value } = frame.body.insts[inst].op else {
            continue;
        };
        if !frame.cfg.is_reachable(block) {
            continue;
        }
        let mut here = Outcome::returning(maker.returned_value(&state, value));
        maker.written_cells(&state, inst, &mut here);
        here.writes.sort();
        match &mut outcome {
            None => outcome = Some(here),
            Some(known) => {
                if known.ret != here.ret {
                    known.ret = Value::Unknown(Class::Any);
                }
                blend(known, &here);
            }
        }
    }
    let escapes = maker.escapes();
    let limited = maker.limited;
    // Without a reachable return the function never returns; nor does one whose every way to it passes a call that does not.
    let outcomes = match outcome {
        Some(mut outcome) if returns(frame) => {
            outcome.escapes = escapes;
            vec![outcome]
        }
        _ => Vec::new(),
    };
    Summary {
        outcomes,
        fresh: Vec::new(),
        may_throw,
        pure: is_pure(frame),
        limited,
    }
}

struct Maker<'m, 'a> {
    frame: &'m Frame<'a>,
    values: &'m mut Values,
    flow: &'m UseFlow,
    /// Fresh objects in the order of their numbers.
    fresh: Vec<ObjId>,
    limited: bool,
}

impl Maker<'_, '_> {
    fn number_fresh(&mut self) {
        for &obj in &self.flow.objects {
            if matches!(self.frame.local.memory.kind(obj), ObjKind::Fresh { .. }) {
                self.fresh.push(obj);
            }
        }
    }

    /// Entry objects that code out of sight may have got hold of.
    fn escapes(&self) -> Vec<SummaryEscape> {
        self.paths(&escaping_objects(self.frame))
    }

    /// Escapes of these objects.
    fn paths(&self, objects: &[ObjId]) -> Vec<SummaryEscape> {
        let mut found: Vec<SummaryEscape> = objects
            .iter()
            .filter_map(|&obj| self.object_path(obj))
            .map(|path| SummaryEscape {
                path,
                to: EscapeTo::Unknown,
            })
            .collect();
        found.sort();
        found
    }

    /// A function whose exits could not all be explored: whatever may be freed or kept on some path counts as freed or
    /// escaped on every path, and what it may hand out is no allocation (silence over noise).
    fn blurred(&mut self, may_throw: bool) -> Summary {
        let mut outcome = Outcome::returning(Value::Unknown(Class::Any));
        for obj in freed_objects(self.frame) {
            if let Some(path) = self.object_path(obj) {
                outcome.frees.push(Free {
                    path,
                    family: Family::default(),
                    certainty: Certainty::May,
                });
            }
        }
        outcome.escapes = self.escapes();
        outcome
            .escapes
            .extend(self.paths(&kept_objects(self.frame)));
        outcome.escapes.sort();
        outcome.escapes.dedup();
        Summary {
            outcomes: vec![outcome],
            fresh: Vec::new(),
            may_throw,
            pure: false,
            limited: true,
        }
    }

    fn fresh_list(&self) -> Vec<FreshObject> {
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

    fn fresh_number(&self, obj: ObjId) -> Option<u16> {
        self.fresh.iter().position(|&o| o == obj).map(|p| p as u16)
    }

    /// The path by which a caller names the value that points to an object.
    fn object_path(&self, obj: ObjId) -> Option<ValuePath> {
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

    fn outcome(&mut self, end: &End) -> Outcome {
        let returned = match self.frame.body.insts[end.at].op {
            Op::Ret { value } => value,
            _ => None,
        };
        let mut outcome = Outcome::returning(self.returned_value(&end.state, returned));
        outcome.when = self.atoms(&end.state);
        self.fates(&end.state, &mut outcome);
        self.held_cells(&end.state, returned, &mut outcome);
        self.written_cells(&end.state, end.at, &mut outcome);
        outcome.fresh = self.alive(&end.state, &outcome);
        outcome.writes.sort();
        outcome.writes.dedup();
        if outcome.writes.len() > MAX_WRITES {
            outcome.writes.truncate(MAX_WRITES);
            self.limited = true;
        }
        outcome
    }

    /// What became of entry objects.
    fn fates(&self, state: &State, outcome: &mut Outcome) {
        for (index, followed) in state.objects.iter().enumerate() {
            let obj = self.flow.objects[index];
            if self.fresh.contains(&obj) {
                continue;
            }
            let Some(path) = self.object_path(obj) else {
                continue;
            };
            match followed.machine {
                Machine::Freed { sure, .. } => outcome.frees.push(Free {
                    path,
                    family: Family::default(),
                    certainty: if sure {
                        Certainty::Must
                    } else {
                        Certainty::May
                    },
                }),
                Machine::Escaped { to, .. } => outcome.escapes.push(SummaryEscape {
                    path,
                    to: match to {
                        drip_flow::Escape::Global(g) => EscapeTo::Global(g),
                        drip_flow::Escape::Thread => EscapeTo::Thread,
                        drip_flow::Escape::Unknown(_) | drip_flow::Escape::Untracked => {
                            EscapeTo::Unknown
                        }
                    },
                }),
                _ => {}
            }
        }
        outcome.frees.sort();
        outcome.escapes.sort();
    }

    /// Cells outside that hold a followed object now.
    fn held_cells(&self, state: &State, returned: Option<Operand>, outcome: &mut Outcome) {
        let returned = returned.and_then(Operand::as_value);
        for (index, followed) in state.objects.iter().enumerate() {
            if !followed.is_live() {
                continue;
            }
            let obj = self.flow.objects[index];
            let value = match self.fresh_number(obj) {
                Some(k) => Value::Fresh {
                    index: k,
                    offset: Offset::ZERO,
                },
                None => match self.object_path(obj) {
                    Some(path) => Value::Entry {
                        path,
                        plus: Offset::ZERO,
                    },
                    None => continue,
                },
            };
            for place in &followed.places {
                let certainty = if place.weak {
                    Certainty::May
                } else {
                    Certainty::Must
                };
                match place.at {
                    Where::Cell(cell) if self.home_cell(obj) != Some(cell) => {
                        if let Some(cell) = self.cell_path(cell) {
                            outcome.writes.push(Write {
                                cell,
                                value: value.clone(),
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
                            value: value.clone(),
                            certainty,
                        });
                    }
                    _ => {}
                }
            }
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
    fn written_cells(&mut self, state: &State, ret: InstId, outcome: &mut Outcome) {
        let frame = self.frame;
        for (cell, place) in frame.local.memory.cells.iter_enumerated() {
            let handed = self.fresh_number(place.obj).is_some_and(|k| {
                let at = self
                    .flow
                    .objects
                    .iter()
                    .position(|&o| self.fresh_number(o) == Some(k));
                at.is_some_and(|at| state.objects[at].is_live())
            });
            if !frame.local.memory.kind(place.obj).has_entry_state() && !handed {
                continue;
            }
            let Some(version) = frame.memssa.used(ret, region(cell)) else {
                continue;
            };
            if frame.memssa.versions[version].def == Def::Entry {
                continue;
            }
            let holds_followed = state.objects.iter().enumerate().any(|(index, o)| {
                o.is_live()
                    && o.places.iter().any(|p| p.at == Where::Cell(cell))
                    && self.home_cell(self.flow.objects[index]) != Some(cell)
            });
            if holds_followed {
                continue;
            }
            let Some(path) = self.cell_path(cell) else {
                continue;
            };
            if outcome.writes.len() > MAX_WRITES {
                self.limited = true;
                return;
            }
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
            None => self.known_phi(state, version),
        };
        let may = (Value::Unknown(Class::Any), Certainty::May);
        let Some(term) = term else { return Some(may) };
        let term = self.in_path(state, term);
        let term = self.decided(state, term);
        let value = match self.value_of(term) {
            Value::Unknown(_) => Value::Unknown(self.class_in(state, term)),
            known => known,
        };
        if let Value::Entry { path, plus } = &value
            && *plus == Offset::ZERO
            && self
                .frame
                .local
                .memory
                .find_object(ObjKind::Entry(cell))
                .and_then(|o| self.object_path(o))
                .as_ref()
                == Some(path)
        {
            return None;
        }
        Some((
            value,
            if strong {
                Certainty::Must
            } else {
                Certainty::May
            },
        ))
    }

    /// A memory φ that the path has resolved.
    fn known_phi(&mut self, state: &State, version: VersionId) -> Option<TermId> {
        [64u32, 32, 8, 16].into_iter().find_map(|width| {
            let sym = self.values.find(Symbol::Version(version, width))?;
            state.lookup(sym)
        })
    }

    fn in_path(&mut self, state: &State, term: TermId) -> TermId {
        let mut map = rustc_hash::FxHashMap::default();
        for sym in self.values.symbols_in(term) {
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

    fn returned_value(&mut self, state: &State, returned: Option<Operand>) -> Value {
        let Some(operand) = returned else {
            return Value::Unknown(Class::Any);
        };
        if let Some(value) = operand.as_value() {
            for (index, followed) in state.objects.iter().enumerate() {
                if !followed.is_live()
                    || followed.holds_value(value) != drip_flow::Holds::Yes
                    || self.returns_struct()
                {
                    continue;
                }
                let obj = self.flow.objects[index];
                let offset = self.offset_into(operand, obj);
                if let Some(number) = self.fresh_number(obj) {
                    return Value::Fresh {
                        index: number,
                        offset,
                    };
                }
                if let Some(path) = self.object_path(obj) {
                    return Value::Entry { path, plus: offset };
                }
            }
        }
        let term = self.values.term(operand);
        let term = self.in_path(state, term);
        let term = self.decided(state, term);
        match self.value_of(term) {
            Value::Unknown(_) => Value::Unknown(self.class_in(state, term)),
            known => known,
        }
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

    /// What the path knows of a value.
    fn class_in(&mut self, state: &State, term: TermId) -> Class {
        if self.values.terms.sort(term) == Sort::Bool {
            return Class::Any;
        }
        let candidates = [
            Class::Negative,
            Class::Positive,
            Class::NonZero,
            Class::NonNegative,
            Class::NonPositive,
        ];
        for class in candidates {
            if let Some(fact) = drip_flow::class_term(self.values, term, class)
                && (state.knows(fact) || self.values.terms.as_bool(fact) == Some(true))
            {
                return class;
            }
        }
        // Greater than something, unsigned: not zero.
        let above = |fact: &TermId| matches!(*self.values.terms.kind(*fact), TermKind::Ult(_, b) if b == term);
        if state.facts.iter().any(above) {
            Class::NonZero
        } else {
            Class::Any
        }
    }

    /// Conditions on the interface that the path has taken.
    fn atoms(&mut self, state: &State) -> Vec<Atom> {
        let mut atoms: Vec<Atom> = Vec::new();
        for &fact in &state.facts {
            if let Some((sym, class)) = atom_of(self.values, fact)
                && let Some(path) = self.symbol_path(sym)
                && path.loads.len() <= 2
            {
                atoms.push(Atom {
                    subject: Subject::Entry(path),
                    class,
                });
            }
        }
        atoms.sort();
        atoms.dedup();
        // `x == 3` says all that `x != 0` says.
        let strongest = atoms.clone();
        atoms.retain(|a| {
            !strongest
                .iter()
                .any(|b| a != b && a.subject == b.subject && b.class.implies(a.class))
        });
        atoms.truncate(MAX_ATOMS);
        atoms
    }

    /// Fresh objects that something outside leads to after this outcome.
    fn alive(&self, state: &State, outcome: &Outcome) -> SmallVec<[u16; 2]> {
        let mut alive: SmallVec<[u16; 2]> = SmallVec::new();
        if let Value::Fresh { index, .. } = outcome.ret {
            alive.push(index);
        }
        // Through cells of entry objects, globals and the returned struct, then through other fresh objects.
        loop {
            let mut grown = false;
            for write in &outcome.writes {
                let Value::Fresh { index, .. } = write.value else {
                    continue;
                };
                let reached = match write.cell.base.root {
                    Root::Fresh(owner) => alive.contains(&owner),
                    _ => true,
                };
                if reached && !alive.contains(&index) {
                    alive.push(index);
                    grown = true;
                }
            }
            if !grown {
                break;
            }
        }
        alive.sort_unstable();
        alive.retain(|k| {
            self.flow
                .objects
                .iter()
                .position(|&o| self.fresh_number(o) == Some(*k))
                .is_some_and(|at| state.objects[at].is_live())
        });
        alive
    }
}
