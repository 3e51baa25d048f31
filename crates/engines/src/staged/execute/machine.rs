//! The machine that executes: names of objects and unknowns, reading and writing memory, what has to hold.

use drip_base::IndexVec;
use drip_cond::{Budget, ObjKey, Session, Sort, SymId, TermId, TermKind, Terms};
use drip_flow::arithmetic::{class_of_term, widened};
use drip_models::Class;
use drip_program::{FuncId, GlobalId, Init, InstId, Scalar};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::rc::Rc;

use super::super::calls::CallContext;
use super::elements::bag_at;
use super::world::{Fate, Kind, Obj, Place, Word, World};

/// Bytes of unknown contents that a copy has in common with its source; beyond them the copy is unknown by itself.
const MAX_COPIED: i64 = 512;

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
}

pub struct Machine<'c, 'a> {
    pub context: &'c CallContext<'a>,
    pub terms: Terms,
    session: Session,
    pub objects: IndexVec<Obj, Kind>,
    known: FxHashMap<Kind, Obj>,
    /// Calls that led to each block, outermost first.
    pub births: FxHashMap<Obj, Rc<[(FuncId, InstId)]>>,
    /// What unknown memory holds: by object, offset and epoch.
    initial: FxHashMap<(Obj, i64, u32), TermId>,
    /// The object in whose unknown contents a pointer was found, and the objects behind such pointers.
    origins: FxHashMap<TermId, Obj>,
    inner: FxHashMap<Obj, Vec<Obj>>,
    /// Unknowns that stand for what memory held before the run.
    held_before: FxHashSet<SymId>,
    /// Symbols that stand for what callers pass.
    inputs: FxHashSet<SymId>,
    /// The same at offsets that are no constants.
    indexed: FxHashMap<(Obj, TermId, u32, Sort), TermId>,
    pub pure: FxHashMap<(FuncId, Vec<TermId>, u32), TermId>,
    symbols: u32,
    pub activations: u32,
    pub fuel: Fuel,
    /// Unknowns that a term speaks of.
    inside: FxHashMap<TermId, Rc<[SymId]>>,
    /// The calls that are being executed.
    pub stack: Vec<(FuncId, InstId)>,
    /// The calls that lead to the block in question, outermost first.
    pub target: Vec<(FuncId, InstId)>,
    /// Callees are what their summaries say.
    pub is_brief: bool,
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
            births: FxHashMap::default(),
            initial: FxHashMap::default(),
            origins: FxHashMap::default(),
            inner: FxHashMap::default(),
            held_before: FxHashSet::default(),
            inputs: FxHashSet::default(),
            indexed: FxHashMap::default(),
            pure: FxHashMap::default(),
            symbols: 0,
            activations: 0,
            fuel,
            inside: FxHashMap::default(),
            stack: Vec::new(),
            target,
            is_brief: false,
            is_cut: false,
            rounds: Vec::new(),
            furthest: 1,
        }
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
    pub fn reachable(&self, world: &World, roots: impl IntoIterator<Item = Obj>) -> BTreeSet<Obj> {
        let mut open: Vec<Obj> = roots.into_iter().collect();
        let mut seen = BTreeSet::new();
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

    /// Does the run take place whatever callers pass and memory holds? What the library returns may be anything.
    pub fn asks_for_nothing(&mut self, world: &World) -> bool {
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
        let term = match self.terms.sort(term) {
            Sort::Bool => widened(&mut self.terms, term, 32, false),
            Sort::Bits(_) => term,
        };
        match class_of_term(&mut self.terms, term, class) {
            Some(fact) => self.assume(world, fact),
            None => true,
        }
    }

    /// What a place holds.
    pub fn load(&mut self, world: &mut World, place: Place, bytes: u32, sort: Sort) -> Word {
        let Some(off) = self.offset(place.off) else {
            return self.load_indexed(world, place, bytes, sort);
        };
        if let Some(bag) = bag_at(off) {
            return self.load_element(world, place.obj, bag, sort);
        }
        let end = off + i64::from(bytes);
        let mut cells = world.overlapping(place.obj, off, end);
        let (first, more) = (cells.next(), cells.next().is_some());
        drop(cells);
        if let Some((at, cell)) = first {
            if at == off && cell.bytes == bytes && self.terms.sort(cell.word.term) == sort {
                return cell.word;
            }
            let is_inside = at <= off && end <= at + i64::from(cell.bytes) && !more;
            if let (true, Sort::Bits(width), Sort::Bits(whole)) =
                (is_inside, sort, self.terms.sort(cell.word.term))
                && width <= whole
            {
                let shift = self.terms.int(whole, ((off - at) * 8) as u64);
                let shifted = self.terms.lshr(cell.word.term, shift);
                let term = widened(&mut self.terms, shifted, width, false);
                return Word { term, at: None };
            }
            return self.unknown_word(sort);
        }
        self.initial(world, place.obj, off, bytes, sort)
    }

    fn load_indexed(&mut self, world: &mut World, place: Place, bytes: u32, sort: Sort) -> Word {
        let stored = world.loose.get(&(place.obj, place.off)).copied();
        if let Some(cell) = stored
            && cell.bytes == bytes
            && self.terms.sort(cell.word.term) == sort
        {
            return cell.word;
        }
        if sort == Sort::Bits(64) {
            world.blur_held(place.obj);
        }
        let key = (place.obj, place.off, self.epoch(world, place.obj), sort);
        let term = match self.indexed.get(&key) {
            Some(&term) => term,
            None => {
                let term = self.unknown(sort);
                self.indexed.insert(key, term);
                term
            }
        };
        Word { term, at: None }
    }

    fn epoch(&self, world: &World, obj: Obj) -> u32 {
        match self.objects[obj] {
            Kind::Global(_) => world.epoch(obj) + world.global_epoch,
            _ => world.epoch(obj),
        }
    }

    /// What a place holds that nobody has written here.
    fn initial(&mut self, world: &World, obj: Obj, off: i64, bytes: u32, sort: Sort) -> Word {
        if world.is_zeroed(obj, off, bytes) {
            return self.number(sort, 0);
        }
        if let Kind::Global(global) = self.objects[obj]
            && self.context.constants.contains(global)
            && let Some(word) = self.initialiser(global, off, bytes, sort)
        {
            return word;
        }
        let key = (obj, off, self.epoch(world, obj));
        let Some(&known) = self.initial.get(&key) else {
            let term = self.unknown(sort);
            // A single byte is most often a character of some text: input, and no invariant of the program.
            if bytes > 1 && !self.is_own(obj) {
                self.remember_as_memory();
            }
            self.initial.insert(key, term);
            self.origins.insert(term, obj);
            return Word { term, at: None };
        };
        match (self.terms.sort(known), sort) {
            (a, b) if a == b => Word {
                term: known,
                at: None,
            },
            (Sort::Bits(whole), Sort::Bits(width)) if width < whole => {
                let term = self.terms.trunc(known, width);
                Word { term, at: None }
            }
            _ => self.unknown_word(sort),
        }
    }

    /// The width that a cell has been read or written with.
    pub fn known_sort(&self, world: &World, place: Place) -> Option<(u32, Sort)> {
        let off = self.offset(place.off)?;
        if let Some(cell) = world.cells.get(&(place.obj, off)) {
            return Some((cell.bytes, self.terms.sort(cell.word.term)));
        }
        let key = (place.obj, off, self.epoch(world, place.obj));
        let sort = self.terms.sort(*self.initial.get(&key)?);
        Some((sort.width().div_ceil(8), sort))
    }

    fn initialiser(&mut self, global: GlobalId, off: i64, bytes: u32, sort: Sort) -> Option<Word> {
        let program = self.context.program;
        let at = u64::try_from(off).ok()?;
        match &program.globals[global].init {
            Init::Extern => None,
            Init::Zero => Some(self.number(sort, 0)),
            Init::Bytes(text) => {
                let from = usize::try_from(at).ok()?;
                let part = text.get(from..from + bytes as usize)?;
                let value = part.iter().rev().fold(0u64, |n, &b| n << 8 | u64::from(b));
                (bytes <= 8).then(|| self.number(sort, value))
            }
            Init::Slots { slots, complete } => match slots.iter().find(|slot| slot.0 == at) {
                Some((_, Scalar::Int { bits, bytes: size })) if u32::from(*size) == bytes => {
                    Some(self.number(sort, *bits))
                }
                Some(&(_, Scalar::Global { global, offset })) => {
                    let obj = self.object(Kind::Global(global));
                    Some(self.address(obj, offset))
                }
                Some(&(_, Scalar::Func(func))) => {
                    let obj = self.object(Kind::Func(func));
                    Some(self.address(obj, 0))
                }
                Some(_) => None,
                None => complete.then(|| self.number(sort, 0)),
            },
        }
    }

    pub fn store(&mut self, world: &mut World, place: Place, word: Word, bytes: u32) {
        if let Some(off) = self.offset(place.off) {
            match bag_at(off) {
                Some(bag) => self.add_element(world, place.obj, bag, word),
                None => world.put(place.obj, off, word, bytes),
            }
            return;
        }
        // Anything in the object may be overwritten; what its cells held is perhaps held no more.
        let loose: Vec<_> = world
            .loose
            .iter()
            .filter(|(key, _)| key.0 == place.obj && key.1 != place.off)
            .map(|(&key, &cell)| (key, cell))
            .collect();
        // A number that is narrower than a pointer is no part of one.
        if bytes < 8 {
            world.forget_numbers(place.obj);
        } else {
            world.blur_held(place.obj);
            world.forget(place.obj);
        }
        let kept = Rc::make_mut(&mut world.loose);
        kept.extend(loose);
        kept.insert((place.obj, place.off), super::world::Cell { word, bytes });
    }

    /// Copies all that one range holds into another; a length that is no constant blurs what is copied.
    pub fn copy(&mut self, world: &mut World, dst: Place, src: Place, len: Option<i64>) {
        let places = (self.offset(dst.off), self.offset(src.off), len);
        let (Some(to), Some(from), Some(len)) = places else {
            world.blur_held(src.obj);
            world.blur_held(dst.obj);
            world.forget(dst.obj);
            return;
        };
        let inside: Vec<(i64, super::world::Cell)> = world
            .overlapping(src.obj, from, from + len)
            .filter(|(at, cell)| *at >= from && at + i64::from(cell.bytes) <= from + len)
            .collect();
        world.clear(dst.obj, to, to + len);
        let width = u32::try_from(len).unwrap_or(u32::MAX);
        if world.is_zeroed(src.obj, from, width) {
            world.set_zero(dst.obj, to, to + len);
        } else {
            self.copy_unknown(world, (dst.obj, to), (src.obj, from), len);
        }
        for (at, cell) in inside {
            world.put(dst.obj, to + at - from, cell.word, cell.bytes);
        }
    }

    /// What nobody has written in the source and somebody has read is the same in the copy; the rest of the copy is unknown.
    fn copy_unknown(&mut self, world: &mut World, to: (Obj, i64), from: (Obj, i64), len: i64) {
        if let Kind::Global(global) = self.objects[from.0]
            && self.context.constants.contains(global)
        {
            self.copy_constant(world, to, (global, from.1), len);
            return;
        }
        let epoch = self.epoch(world, from.0);
        let mut words: Vec<(i64, TermId)> = Vec::new();
        for word in (0..len.min(MAX_COPIED)).step_by(4) {
            let at = from.1 + word;
            if let Some(&term) = self.initial.get(&(from.0, at, epoch)) {
                words.push((word, term));
            } else if word % 8 == 0 && len - word >= 8 && from.1 % 8 == 0 {
                let term = self.unknown(Sort::Bits(64));
                self.initial.insert((from.0, at, epoch), term);
                words.push((word, term));
            }
        }
        for (word, term) in words {
            let bytes = self.terms.sort(term).width().div_ceil(8);
            if word + i64::from(bytes) <= len {
                world.put(to.0, to.1 + word, Word { term, at: None }, bytes);
            }
        }
    }

    /// `struct s x = { … }`: words as the initialiser has them.
    fn copy_constant(
        &mut self,
        world: &mut World,
        to: (Obj, i64),
        from: (GlobalId, i64),
        len: i64,
    ) {
        let mut at = 0;
        while at < len.min(MAX_COPIED) {
            let widths = [8u32, 4, 2, 1].into_iter();
            let fits =
                widths.filter(|&bytes| at % i64::from(bytes) == 0 && at + i64::from(bytes) <= len);
            let mut known = fits.filter_map(|bytes| {
                let sort = Sort::Bits(bytes * 8);
                Some((bytes, self.initialiser(from.0, from.1 + at, bytes, sort)?))
            });
            let found = known.next();
            drop(known);
            at += match found {
                Some((bytes, word)) => {
                    world.put(to.0, to.1 + at, word, bytes);
                    i64::from(bytes)
                }
                None => 1,
            };
        }
    }

    /// Is it the block in question, as far as its history is known?
    pub fn is_target(&self, obj: Obj) -> bool {
        let history = self.births.get(&obj);
        history.is_some_and(|calls| calls.iter().zip(&self.target).all(|(a, b)| a == b))
    }

    /// The blocks in question that are alive.
    pub fn targets(&self, world: &World) -> Vec<Obj> {
        let alive = world.fates.iter().filter(|(_, fate)| **fate == Fate::Alive);
        alive
            .map(|(&obj, _)| obj)
            .filter(|&obj| self.is_target(obj))
            .collect()
    }

    /// Is the object one that this run has made itself, so that no pointer from outside points to it?
    pub fn is_own(&self, obj: Obj) -> bool {
        matches!(self.objects[obj], Kind::Stack { .. } | Kind::Heap { .. })
    }
}
