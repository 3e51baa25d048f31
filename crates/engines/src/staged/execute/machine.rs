//! The machine that executes: names of objects and unknowns, reading and writing memory, what has to hold.

use drip_base::{IdSet, IndexVec};
use drip_cond::{Budget, ObjKey, Session, Sort, SymId, TermId, TermKind, Terms};
use drip_flow::arithmetic::{class_of_term, widened};
use drip_models::{Class, Summary};
use drip_program::{FuncId, InstId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use std::sync::Arc;

use super::super::calls::CallContext;
use super::world::{Cell, Fate, Kind, Obj, Place, Word, World};

/// Fuel of one question: instructions, and queries to the solver.
pub struct Fuel {
    pub steps: usize,
    pub queries: usize,
}

impl Fuel {
    pub const EMPTY: Fuel = Fuel {
        steps: 0,
        queries: 0,
    };

    /// For a look at what is most likely in order.
    pub const SMALL: Fuel = Fuel {
        steps: 3_000,
        queries: 60,
    };

    pub fn is_empty(&self) -> bool {
        self.steps == 0
    }

    /// Takes at most this much out of it.
    pub fn take(&mut self, most: Fuel) -> Fuel {
        let taken = Fuel {
            steps: self.steps.min(most.steps),
            queries: self.queries.min(most.queries),
        };
        self.steps -= taken.steps;
        self.queries -= taken.queries;
        taken
    }

    /// Puts back what is left of what was taken.
    pub fn give_back(&mut self, rest: Fuel) {
        self.steps += rest.steps;
        self.queries += rest.queries;
    }
}

pub struct Machine<'c, 'a> {
    pub context: &'c CallContext<'a>,
    pub terms: Terms,
    session: Session,
    pub objects: IndexVec<Obj, Kind>,
    known: FxHashMap<Kind, Obj>,
    /// Blocks that are the one in question, as far as their history is known, and those that come out of the same call.
    own_births: IdSet<Obj>,
    own_calls: IdSet<Obj>,
    /// What calls do, for those that were asked for.
    pub(super) summaries: FxHashMap<(FuncId, InstId), Option<Arc<Summary>>>,
    /// What unknown memory holds: by object, offset and epoch.
    pub(super) initial: FxHashMap<(Obj, i64, u32), TermId>,
    /// The object in whose unknown contents a pointer was found, and the objects behind such pointers.
    pub(super) origins: FxHashMap<TermId, Obj>,
    inner: FxHashMap<Obj, Vec<Obj>>,
    /// Unknowns that stand for what memory held before the run.
    held_before: FxHashSet<SymId>,
    /// Symbols that stand for what callers pass.
    inputs: FxHashSet<SymId>,
    /// Those of them that are never null, whoever calls.
    pub(super) granted: FxHashSet<TermId>,
    /// The same at offsets that are no constants.
    pub(super) indexed: FxHashMap<(Obj, TermId, u32, Sort), TermId>,
    pub pure: FxHashMap<(FuncId, Vec<TermId>, u32), TermId>,
    symbols: u32,
    pub activations: u32,
    pub fuel: Fuel,
    /// Numbers that were read from several cells: at which offset which.
    pub(super) parts: FxHashMap<TermId, Rc<[(i64, Cell)]>>,
    /// Unknowns that a term speaks of.
    inside: FxHashMap<TermId, Rc<[SymId]>>,
    /// The calls that are being executed.
    pub stack: Vec<(FuncId, InstId)>,
    /// The calls that lead to the block in question, outermost first.
    pub target: Vec<(FuncId, InstId)>,
    /// Callees are what their summaries say.
    pub is_brief: bool,
    /// Only runs that lose the block whatever callers pass and memory holds are of interest.
    pub only_certain: bool,
    /// Some run was given up before its end.
    pub is_cut: bool,
    /// Runs that were cut on their way round a loop, behind the guide, with what their variables hold.
    pub rounds: Vec<(World, Vec<Word>)>,
    /// Blocks of the guide that some run has passed.
    pub furthest: usize,
}

impl<'c, 'a> Machine<'c, 'a> {
    pub fn new(context: &'c CallContext<'a>, target: Vec<(FuncId, InstId)>, fuel: Fuel) -> Self {
        // At a branch: what intervals show at once.
        let budget = Budget {
            interval_steps: 1_000,
            splits: 4,
            guesses: 2,
            sat_clauses: 0,
            sat_conflicts: 0,
            lemma_rounds: 0,
        };
        Machine {
            context,
            terms: Terms::new(),
            session: Session::new(budget),
            objects: IndexVec::new(),
            known: FxHashMap::default(),
            own_births: IdSet::new(),
            own_calls: IdSet::new(),
            summaries: FxHashMap::default(),
            initial: FxHashMap::default(),
            origins: FxHashMap::default(),
            inner: FxHashMap::default(),
            held_before: FxHashSet::default(),
            inputs: FxHashSet::default(),
            granted: FxHashSet::default(),
            indexed: FxHashMap::default(),
            pure: FxHashMap::default(),
            symbols: 0,
            activations: 0,
            fuel,
            parts: FxHashMap::default(),
            inside: FxHashMap::default(),
            stack: Vec::new(),
            target,
            is_brief: false,
            only_certain: false,
            is_cut: false,
            rounds: Vec::new(),
            furthest: 1,
        }
    }

    /// The object of this kind, if some run has come to it.
    pub fn known(&self, kind: Kind) -> Option<Obj> {
        self.known.get(&kind).copied()
    }

    pub fn object(&mut self, kind: Kind) -> Obj {
        if let Some(&obj) = self.known.get(&kind) {
            return obj;
        }
        let obj = self.objects.push(kind);
        self.known.insert(kind, obj);
        if let Kind::Behind(term) = kind
            && let Some(&holder) = self.origins.get(&term)
        {
            self.inner.entry(holder).or_default().push(obj);
        }
        obj
    }

    /// The objects and all that can be reached from them, also by pointers that were there before.
    pub fn reachable(&self, world: &World, roots: impl IntoIterator<Item = Obj>) -> IdSet<Obj> {
        let mut open: Vec<Obj> = roots.into_iter().collect();
        let mut seen = IdSet::with_capacity(self.objects.len());
        while let Some(obj) = open.pop() {
            if seen.insert(obj) {
                open.extend(world.held_by(obj));
                open.extend(self.inner.get(&obj).into_iter().flatten());
            }
        }
        seen
    }

    pub fn unknown(&mut self, sort: Sort) -> TermId {
        self.symbols += 1;
        self.terms.sym(SymId(self.symbols), sort)
    }

    pub fn unknown_word(&mut self, sort: Sort) -> Word {
        Word {
            term: self.unknown(sort),
            at: None,
        }
    }

    pub fn number(&mut self, sort: Sort, value: u64) -> Word {
        let term = match sort {
            Sort::Bool => self.terms.bool(value & 1 == 1),
            Sort::Bits(width) => self.terms.int(width, value),
        };
        Word { term, at: None }
    }

    /// The address of a place in an object that has one.
    pub fn address(&mut self, obj: Obj, off: i64) -> Word {
        let base = self.base(obj);
        let off = self.terms.int(64, off as u64);
        Word {
            term: self.terms.add(base, off),
            at: Some(Place { obj, off }),
        }
    }

    fn base(&mut self, obj: Obj) -> TermId {
        match self.objects[obj] {
            Kind::Behind(term) => term,
            _ => self.terms.addr(ObjKey(obj.as_u32())),
        }
    }

    /// Where a pointer points to; `None` for null and other numbers.
    pub fn place(&mut self, word: Word) -> Option<Place> {
        if let Some(place) = word.at {
            return Some(place);
        }
        if self.terms.as_int(word.term).is_some() || self.terms.sort(word.term) != Sort::Bits(64) {
            return None;
        }
        let obj = self.object(Kind::Behind(word.term));
        let off = self.terms.int(64, 0);
        Some(Place { obj, off })
    }

    /// The object that a pointer points to, if the run has seen it.
    pub fn found(&self, word: Word) -> Option<Obj> {
        match word.at {
            Some(place) => Some(place.obj),
            None => self.known.get(&Kind::Behind(word.term)).copied(),
        }
    }

    /// The place behind a pointer that is used: it can't be null.
    pub fn used_place(&mut self, world: &mut World, word: Word) -> Option<Place> {
        let place = self.place(word)?;
        if let Kind::Behind(base) = self.objects[place.obj] {
            let zero = self.terms.int(64, 0);
            let null = self.terms.eq(base, zero);
            if world.facts.contains(&null) {
                return None;
            }
            let fact = self.terms.not(null);
            if self.terms.as_bool(fact).is_none() && !world.facts.contains(&fact) {
                Rc::make_mut(&mut world.facts).push(fact);
            }
        }
        Some(place)
    }

    pub fn offset(&self, off: TermId) -> Option<i64> {
        self.terms.as_int(off).map(|bits| bits as i64)
    }

    /// Adds a fact; `false` if it contradicts what the run has assumed.
    pub fn assume(&mut self, world: &mut World, fact: TermId) -> bool {
        if let Some(known) = self.terms.as_bool(fact) {
            return known;
        }
        if world.facts.contains(&fact) {
            return true;
        }
        let negation = self.terms.not(fact);
        if world.facts.contains(&negation) {
            return false;
        }
        let mut question = self.related(&world.facts, fact);
        Rc::make_mut(&mut world.facts).push(fact);
        // A fact about something new can hold.
        if question.is_empty() || self.fuel.queries == 0 {
            return true;
        }
        self.fuel.queries -= 1;
        question.push(fact);
        let answer = self.session.check(&mut self.terms, &question);
        !answer.is_infeasible()
    }

    /// The facts that say something about what `fact` speaks of, or about what those speak of.
    fn related(&mut self, facts: &[TermId], fact: TermId) -> Vec<TermId> {
        let mut known: FxHashSet<SymId> = self.symbols_of(fact).iter().copied().collect();
        let mut related = Vec::new();
        let mut rest: Vec<(TermId, Rc<[SymId]>)> = Vec::new();
        for &other in facts {
            rest.push((other, self.symbols_of(other)));
        }
        loop {
            let before = related.len();
            rest.retain(|(other, symbols)| {
                let is_related = symbols.iter().any(|sym| known.contains(sym));
                if is_related {
                    known.extend(symbols.iter());
                    related.push(*other);
                }
                !is_related
            });
            if related.len() == before {
                return related;
            }
        }
    }

    /// The newest unknown stands for what memory held before the run.
    pub fn remember_as_memory(&mut self) {
        self.held_before.insert(SymId(self.symbols));
    }

    /// The symbol that was made last is a parameter of the function in question.
    pub fn remember_as_input(&mut self) {
        self.inputs.insert(SymId(self.symbols));
    }

    /// Is the run one that the program makes, as far as nothing is asked of callers or memory?
    pub fn is_certain(&mut self, world: &World) -> bool {
        let is_exact = !(world.is_told || world.hangs || world.is_widened);
        is_exact && self.asks_for_nothing(world)
    }

    /// Does the run take place whatever callers pass and memory holds? What the library returns may be anything.
    fn asks_for_nothing(&mut self, world: &World) -> bool {
        let facts = Rc::clone(&world.facts);
        facts.iter().all(|&fact| {
            let symbols = self.symbols_of(fact);
            let mut symbols = symbols.iter();
            !symbols.any(|sym| self.held_before.contains(sym) || self.inputs.contains(sym))
        })
    }

    /// Does a fact depend on what memory held before the run?
    pub fn speaks_of_memory(&mut self, fact: TermId) -> bool {
        let symbols = self.symbols_of(fact);
        symbols.iter().any(|sym| self.held_before.contains(sym))
    }

    fn symbols_of(&mut self, term: TermId) -> Rc<[SymId]> {
        if let Some(known) = self.inside.get(&term) {
            return Rc::clone(known);
        }
        let terms = &self.terms;
        let symbols: Rc<[SymId]> = terms
            .subterms(&[term])
            .into_iter()
            .filter_map(|sub| match terms.kind(sub) {
                TermKind::Sym(sym) => Some(*sym),
                _ => None,
            })
            .collect();
        self.inside.insert(term, Rc::clone(&symbols));
        symbols
    }

    /// Can all that the run has assumed hold?
    pub fn is_possible(&mut self, world: &World) -> bool {
        let budget = Budget {
            sat_clauses: 60_000,
            sat_conflicts: 1_000,
            ..Budget::default()
        };
        let answer = drip_cond::check(&mut self.terms, &world.facts, &budget);
        !answer.is_infeasible()
    }

    pub fn assume_class(&mut self, world: &mut World, term: TermId, class: Class) -> bool {
        if class == Class::Eq(0) && self.granted.contains(&term) {
            return false;
        }
        let term = match self.terms.sort(term) {
            Sort::Bool => widened(&mut self.terms, term, 32, false),
            Sort::Bits(_) => term,
        };
        match class_of_term(&mut self.terms, term, class) {
            Some(fact) => self.assume(world, fact),
            None => true,
        }
    }

    /// Is it the block in question, as far as its history is known?
    pub fn is_target(&self, obj: Obj) -> bool {
        self.own_births.contains(obj)
    }

    /// Notes the calls that have made a block, outermost first.
    pub fn note_birth(&mut self, obj: Obj, calls: Vec<(FuncId, InstId)>) {
        if calls.iter().zip(&self.target).all(|(a, b)| a == b) {
            self.own_births.insert(obj);
        } else {
            self.own_births.remove(obj);
        }
        if calls.first() == self.target.first() {
            self.own_calls.insert(obj);
        } else {
            self.own_calls.remove(obj);
        }
    }

    /// Does it come out of the call that makes the block in question?
    pub fn is_from_same_call(&self, obj: Obj) -> bool {
        self.own_calls.contains(obj)
    }

    /// The blocks in question that are alive.
    pub fn targets(&self, world: &World) -> Vec<Obj> {
        let alive = world.fates.iter().filter(|(_, fate)| **fate == Fate::Alive);
        alive
            .map(|(obj, _)| obj)
            .filter(|&obj| self.is_target(obj))
            .collect()
    }

    /// Is the object one that this run has made itself, so that no pointer from outside points to it?
    pub fn is_own(&self, obj: Obj) -> bool {
        matches!(self.objects[obj], Kind::Stack { .. } | Kind::Heap { .. })
    }
}
