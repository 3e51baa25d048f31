//! Question: what does a call do to this function's memory and conditions, as far as no path has a say in it?
//!
//! Every state that comes to a call asks for the terms of its outcomes' conditions and for the cells that their effects name. The answers
//! are the same each time, so they are looked up once per call (conditions) and once per outcome that is applied (effects). What
//! depends on the path (is it this instance? what is a φ here?) is added in `call.rs` and `apply.rs`.
//!
//! INVARIANT: lists of a plan stand in the order of the summary's own lists.

use std::cell::RefCell;
use std::rc::Rc;

use drip_cond::{Sort, SymId, TermId, TermKind};
use drip_models::{
    Atom, Certainty, Class, Offset, Outcome, Root, Subject, Summary, Value, ValuePath,
};
use drip_pointer::local::LocSet;
use drip_pointer::{CellId, ObjId, ObjKind};
use drip_program::{BlockId, InstId, Op, Operand};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::arithmetic::sort_of;
use crate::frame::{Frame, region};
use crate::interface::{class_term, fitted, path_term};
use crate::named::NamedCells;
use crate::values::{Symbol, Values};

/// A call with its outcomes.
pub(crate) struct CallPlan {
    pub outcomes: Vec<OutcomePlan>,
}

pub(crate) struct OutcomePlan {
    pub atoms: SmallVec<[AtomPlan; 2]>,
    pub result: ResultPlan,
    /// Pointers that the callee writes through for certain: symbols that are not null afterwards.
    pub used: SmallVec<[(SymId, TermId); 2]>,
    /// New blocks, one of each list, without which the callee would write through null.
    pub needed: Vec<SmallVec<[ObjId; 2]>>,
    /// What it does, with the number of memory versions that had a name when that was looked up.
    effects: RefCell<Option<(usize, Rc<Effects>)>>,
}

/// One conjunct of an outcome's condition.
pub(crate) struct AtomPlan {
    pub fact: Option<TermId>,
    /// It asks for a null pointer.
    pub says_null: bool,
    /// It does so of a pointer that is never null.
    pub is_refuted: bool,
    /// The pointer that it asks for.
    pub subject: Denoted,
}

/// What an outcome says of the call's result.
pub(crate) enum ResultPlan {
    Nothing,
    /// A symbol is this term.
    Bound(SymId, TermId),
    Fact(TermId),
}

/// A pointer of the callee's summary.
pub(crate) enum Denoted {
    /// Nothing that a followed object could be.
    Nothing,
    Operand(Operand),
    Loaded(Box<CellPlan>),
}

/// Cells that the callee's summary names.
pub(crate) struct CellPlan {
    /// What points to them.
    pub base: Denoted,
    /// They belong to a block that the call makes.
    pub is_made_here: bool,
    pub offset: Offset,
    pub named: Rc<NamedCells>,
    /// New blocks among those that they may belong to.
    pub fresh: SmallVec<[ObjId; 2]>,
}

/// What one outcome does.
pub(crate) struct Effects {
    pub frees: Vec<FreePlan>,
    pub writes: Vec<WritePlan>,
    pub escapes: Vec<Denoted>,
    pub ret: ValuePlan,
}

pub(crate) struct FreePlan {
    pub freed: Denoted,
    /// The one object that is not followed and dies with all it holds.
    pub dies: Option<ObjId>,
}

pub(crate) struct WritePlan {
    /// `None`: a field of the returned structure.
    pub cell: Option<CellPlan>,
    pub value: ValuePlan,
    /// What the cell holds afterwards, if it is one cell and is written for certain.
    pub learnt: AllLearnt,
}

pub(crate) enum ValuePlan {
    /// No pointer to a followed object.
    Other,
    Denoted(Denoted),
    /// A block that the call makes.
    Made(ObjId),
}

/// What is known of a symbol afterwards.
#[derive(Clone, Copy)]
pub(crate) enum Learnt {
    /// It is this term, as the path had it before the call.
    Value(TermId),
    Fact(TermId),
}

pub(crate) type AllLearnt = SmallVec<[(SymId, Learnt); 1]>;

impl CallPlan {
    fn new(frame: &Frame<'_>, values: &mut Values, call: InstId, summary: &Summary) -> CallPlan {
        let mut planner = Planner {
            frame,
            values,
            call,
        };
        let outcomes = summary.outcomes.iter();
        CallPlan {
            outcomes: outcomes.map(|outcome| planner.outcome(outcome)).collect(),
        }
    }

    /// Can the call return, as far as constants decide on that?
    pub fn may_return(&self, values: &Values) -> bool {
        let holds = |atom: &AtomPlan| {
            !atom.is_refuted
                && atom
                    .fact
                    .is_none_or(|f| values.terms.as_bool(f) != Some(false))
        };
        let mut outcomes = self.outcomes.iter();
        outcomes.any(|outcome| outcome.atoms.iter().all(holds))
    }
}

impl Frame<'_> {
    /// What a call does, whatever path comes to it; `None` if nothing is known of it.
    pub(crate) fn plan(&self, values: &mut Values, call: InstId) -> Option<Rc<CallPlan>> {
        if let Some(known) = self.plans.borrow().get(&call) {
            return Some(Rc::clone(known));
        }
        let summary = self.calls.get(&call)?;
        let plan = Rc::new(CallPlan::new(self, values, call, summary));
        self.plans.borrow_mut().insert(call, Rc::clone(&plan));
        Some(plan)
    }

    /// The ways out of a switch.
    pub(crate) fn switch_plan(&self, values: &mut Values, switch: InstId) -> Rc<SwitchPlan> {
        if let Some(known) = self.switches.borrow().get(&switch) {
            return Rc::clone(known);
        }
        let plan = Rc::new(SwitchPlan::new(self, values, switch));
        self.switches.borrow_mut().insert(switch, Rc::clone(&plan));
        plan
    }

    /// What a cell holds after a call that writes it for certain.
    pub(crate) fn learnt(
        &self,
        values: &mut Values,
        call: InstId,
        cell: CellId,
        value: &Value,
    ) -> AllLearnt {
        let mut planner = Planner {
            frame: self,
            values,
            call,
        };
        planner.learnt(cell, value)
    }
}

impl OutcomePlan {
    /// What the outcome does. Memory versions that have got a name since the last time may be asked for now.
    pub fn effects(
        &self,
        frame: &Frame<'_>,
        values: &mut Values,
        call: InstId,
        outcome: &Outcome,
    ) -> Rc<Effects> {
        let named = values.named_versions();
        match &*self.effects.borrow() {
            Some((known, effects)) if *known == named => return Rc::clone(effects),
            _ => {}
        }
        let mut planner = Planner {
            frame,
            values,
            call,
        };
        let effects = Rc::new(planner.effects(outcome));
        let named = values.named_versions();
        *self.effects.borrow_mut() = Some((named, Rc::clone(&effects)));
        effects
    }
}

struct Planner<'p, 'a> {
    frame: &'p Frame<'a>,
    values: &'p mut Values,
    call: InstId,
}

impl Planner<'_, '_> {
    fn outcome(&mut self, outcome: &Outcome) -> OutcomePlan {
        OutcomePlan {
            atoms: outcome.when.iter().map(|atom| self.atom(atom)).collect(),
            result: self.result(outcome),
            used: self.used(outcome),
            needed: self.needed(outcome),
            effects: RefCell::new(None),
        }
    }

    fn atom(&mut self, atom: &Atom) -> AtomPlan {
        let (frame, call) = (self.frame, self.call);
        let (term, subject) = match &atom.subject {
            Subject::Ret => (
                Some(self.values.of(frame.body.result(call))),
                Denoted::Nothing,
            ),
            Subject::Entry(path) => (
                path_term(frame, self.values, call, path),
                self.denoted(path),
            ),
        };
        let says_null = atom.class.implies(Class::Eq(0));
        let asked = frame.asked_of(call, atom).filter(|_| says_null);
        AtomPlan {
            fact: term.and_then(|term| class_term(self.values, term, atom.class)),
            says_null,
            is_refuted: asked.is_some_and(|arg| frame.is_pointer_sum(arg)),
            subject,
        }
    }

    /// What the outcome returns says more than its class.
    fn result(&mut self, outcome: &Outcome) -> ResultPlan {
        let frame = self.frame;
        let result = frame.body.result(self.call);
        let sort = sort_of(frame.program, frame.body.insts[self.call].ty);
        let term = self.values.of(result);
        if self.values.terms.sort(term) != sort {
            return ResultPlan::Nothing;
        }
        if let Some(value) = self.returned(&outcome.ret, sort) {
            return match *self.values.terms.kind(term) {
                TermKind::Sym(sym) => ResultPlan::Bound(sym, value),
                _ => ResultPlan::Fact(self.values.terms.eq(term, value)),
            };
        }
        let class = match &outcome.ret {
            Value::Fresh { .. } | Value::Func(_) => Class::NonZero,
            // The address of an element.
            Value::Entry { plus, .. } if !plus.is_exact() => Class::NonZero,
            Value::Unknown(class) => *class,
            _ => Class::Any,
        };
        match class_term(self.values, term, class) {
            Some(fact) => ResultPlan::Fact(fact),
            None => ResultPlan::Nothing,
        }
    }

    /// The returned value as a term of the caller, if the outcome says which it is.
    fn returned(&mut self, ret: &Value, sort: Sort) -> Option<TermId> {
        let width = match (sort, ret) {
            (Sort::Bits(width), _) => width,
            (Sort::Bool, Value::Int(value)) => return Some(self.values.terms.bool(*value != 0)),
            (Sort::Bool, _) => return None,
        };
        match ret {
            Value::Int(value) => Some(self.values.terms.int(width, *value as u64)),
            Value::Entry { path, plus } if plus.is_exact() => {
                let entry = path_term(self.frame, self.values, self.call, path)
                    .filter(|&entry| self.values.terms.sort(entry) == sort)?;
                let delta = self.values.terms.int(width, plus.base as u64);
                Some(self.values.terms.add(entry, delta))
            }
            _ => None,
        }
    }

    fn used(&mut self, outcome: &Outcome) -> SmallVec<[(SymId, TermId); 2]> {
        let frame = self.frame;
        let mut used = SmallVec::new();
        for write in certain_writes(outcome) {
            let Root::Arg(n) = write.cell.base.root else {
                continue;
            };
            if self.is_optional(n) || !write.cell.base.loads.is_empty() {
                continue;
            }
            let Some(&arg) = frame.args(self.call).get(usize::from(n)) else {
                continue;
            };
            if let Some(known) = not_null(frame, self.values, arg)
                && !used.contains(&known)
            {
                used.push(known);
            }
        }
        used
    }

    /// May the call do without this argument? Then an outcome that writes through it does not say that it is there.
    fn is_optional(&self, n: u16) -> bool {
        let summary = self.frame.calls.get(&self.call);
        summary.is_some_and(|summary| summary.optional.contains(&n))
    }

    fn needed(&mut self, outcome: &Outcome) -> Vec<SmallVec<[ObjId; 2]>> {
        let frame = self.frame;
        let mut needed: Vec<SmallVec<[ObjId; 2]>> = Vec::new();
        for write in certain_writes(outcome) {
            match write.cell.base.root {
                Root::Arg(n) if !self.is_optional(n) => {}
                _ => continue,
            }
            let targets = frame.resolve(self.call, &write.cell.base);
            let is_once = |obj| match frame.local.memory.kind(obj) {
                ObjKind::Fresh { call, .. } => !frame.is_in_loop(call),
                _ => false,
            };
            if !targets.is_empty() && targets.iter().all(|loc| is_once(loc.obj)) {
                let objects = targets.iter().map(|loc| loc.obj).collect();
                if !needed.contains(&objects) {
                    needed.push(objects);
                }
            }
        }
        needed
    }

    fn denoted(&self, path: &ValuePath) -> Denoted {
        match path.loads.split_last() {
            None => match path.root {
                Root::Arg(n) => {
                    let arg = self.frame.args(self.call).get(usize::from(n));
                    arg.map_or(Denoted::Nothing, |&arg| Denoted::Operand(arg))
                }
                _ => Denoted::Nothing,
            },
            Some((&last, front)) => {
                let base = ValuePath {
                    root: path.root,
                    loads: front.into(),
                };
                Denoted::Loaded(Box::new(self.cell(&base, last)))
            }
        }
    }

    fn cell(&self, base: &ValuePath, offset: Offset) -> CellPlan {
        let named = self.frame.cells_named(self.call, base, offset);
        let memory = &self.frame.local.memory;
        let objects = named.targets.iter().map(|loc| loc.obj);
        let mut fresh: SmallVec<[ObjId; 2]> = objects
            .filter(|&obj| matches!(memory.kind(obj), ObjKind::Fresh { .. }))
            .collect();
        fresh.sort_unstable();
        fresh.dedup();
        CellPlan {
            base: self.denoted(base),
            is_made_here: matches!(base.root, Root::Fresh(_)) && base.loads.is_empty(),
            offset,
            named,
            fresh,
        }
    }

    fn effects(&mut self, outcome: &Outcome) -> Effects {
        let frees = outcome.frees.iter().map(|free| FreePlan {
            freed: self.denoted(&free.path),
            dies: self.dying(&self.frame.resolve(self.call, &free.path)),
        });
        let frees = frees.collect();
        let escapes = outcome.escapes.iter();
        let escapes = escapes.map(|escape| self.denoted(&escape.path)).collect();
        let mut writes = Vec::with_capacity(outcome.writes.len());
        for write in &outcome.writes {
            let is_field = write.cell.base.root == Root::Ret;
            let cell = (!is_field).then(|| self.cell(&write.cell.base, write.cell.offset));
            let learnt = match &cell {
                Some(cell) if cell.named.certain && write.certainty == Certainty::Must => {
                    self.learnt(cell.named.cells[0], &write.value)
                }
                _ => AllLearnt::new(),
            };
            writes.push(WritePlan {
                value: self.value(&write.value),
                cell,
                learnt,
            });
        }
        Effects {
            frees,
            writes,
            escapes,
            ret: self.value(&outcome.ret),
        }
    }

    /// An object dies with all it holds, if it is certain which.
    fn dying(&self, targets: &LocSet) -> Option<ObjId> {
        let [loc] = targets[..] else {
            return None;
        };
        let memory = &self.frame.local.memory;
        let is_new = matches!(memory.kind(loc.obj), ObjKind::Fresh { .. });
        (memory.is_single(loc.obj) && !is_new).then_some(loc.obj)
    }

    fn value(&self, value: &Value) -> ValuePlan {
        match value {
            Value::Entry { path, .. } => match self.denoted(path) {
                Denoted::Nothing => ValuePlan::Other,
                denoted => ValuePlan::Denoted(denoted),
            },
            Value::Fresh { index, .. } => {
                let made = ObjKind::Fresh {
                    call: self.call,
                    index: *index,
                };
                let made = self.frame.local.memory.find_object(made);
                made.map_or(ValuePlan::Other, ValuePlan::Made)
            }
            Value::Int(_) | Value::Func(_) | Value::Unknown(_) => ValuePlan::Other,
        }
    }

    /// What a cell holds after a certain write.
    fn learnt(&mut self, cell: CellId, value: &Value) -> AllLearnt {
        let mut learnt = AllLearnt::new();
        let Some(version) = self.frame.memssa.defined(self.call, region(cell)) else {
            return learnt;
        };
        for width in [8u32, 16, 32, 64] {
            if let Some(sym) = self.values.find(Symbol::Version(version, width)) {
                let known = self.learnt_of(sym, width, value);
                learnt.extend(known.map(|known| (sym, known)));
            }
        }
        learnt
    }

    fn learnt_of(&mut self, sym: SymId, width: u32, value: &Value) -> Option<Learnt> {
        let class = match value {
            Value::Int(value) => {
                let constant = self.values.terms.int(width, *value as u64);
                return Some(Learnt::Value(constant));
            }
            Value::Entry { path, plus } if plus.is_exact() => {
                let term = path_term(self.frame, self.values, self.call, path)?;
                let term = fitted(self.values, term, width)?;
                let delta = self.values.terms.int(width, plus.base as u64);
                return Some(Learnt::Value(self.values.terms.add(term, delta)));
            }
            Value::Fresh { .. } if width == 64 => Class::NonZero,
            Value::Unknown(class) => *class,
            _ => return None,
        };
        let leaf = self.values.terms.sym(sym, Sort::Bits(width));
        Some(Learnt::Fact(class_term(self.values, leaf, class)?))
    }
}

/// A switch: what has to hold for each target but the default one, in the order of their first cases, and for that one.
pub(crate) struct SwitchPlan {
    pub targets: Vec<(BlockId, TermId)>,
    pub others: SmallVec<[TermId; 4]>,
}

/// Cases of a switch whose negation is remembered on the default edge.
const MAX_DEFAULT_FACTS: usize = 8;

impl SwitchPlan {
    fn new(frame: &Frame<'_>, values: &mut Values, switch: InstId) -> SwitchPlan {
        let mut plan = SwitchPlan {
            targets: Vec::new(),
            others: SmallVec::new(),
        };
        let Op::Switch {
            value,
            default,
            cases,
        } = frame.body.insts[switch].op
        else {
            return plan;
        };
        let term = values.term(value);
        let width = values.terms.width(term);
        let cases = frame.body.cases(cases).iter();
        let mut tests: Vec<(BlockId, SmallVec<[TermId; 2]>)> = Vec::new();
        let mut test_of: FxHashMap<BlockId, usize> = FxHashMap::default();
        for case in cases.filter(|case| case.target != default) {
            let constant = values.terms.int(width, case.value);
            let equal = values.terms.eq(term, constant);
            if plan.others.len() < MAX_DEFAULT_FACTS {
                plan.others.push(values.terms.not(equal));
            }
            let test = *test_of.entry(case.target).or_insert(tests.len());
            match tests.get_mut(test) {
                Some((_, test)) => test.push(equal),
                None => tests.push((case.target, SmallVec::from_slice(&[equal]))),
            }
        }
        let any =
            |(target, tests): (BlockId, SmallVec<[TermId; 2]>)| (target, values.terms.or(&tests));
        plan.targets = tests.into_iter().map(any).collect();
        plan
    }
}

fn certain_writes(outcome: &Outcome) -> impl Iterator<Item = &drip_models::Write> {
    let writes = outcome.writes.iter();
    writes.filter(|write| write.certainty == Certainty::Must)
}

/// The symbol that an access goes through, and that it is not null; `None` if that is known or no symbol.
pub(crate) fn not_null(
    frame: &Frame<'_>,
    values: &mut Values,
    addr: Operand,
) -> Option<(SymId, TermId)> {
    let term = values.term(frame.accessed(addr));
    let TermKind::Sym(sym) = *values.terms.kind(term) else {
        return None;
    };
    Some((sym, class_term(values, term, Class::NonZero)?))
}
