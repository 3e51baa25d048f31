//! Calls that are not executed: the worlds that the outcomes of a summary leave behind.

use std::rc::Rc;

use drip_cond::{Sort, TermId};
use drip_flow::arithmetic::{sort_of, widened};
use drip_models::{
    Atom, Certainty, Class, GlobalSet, Offset, Outcome, Root, Subject, Summary, Value as Told,
    ValuePath, Write,
};
use drip_pointer::Callees;
use drip_program::{FuncId, InstId, TypeId};

use super::elements::bag_at;
use super::machine::Machine;
use super::world::{Fate, Kind, Obj, Place, Value, Word, World};

/// One call that is taken by its summary.
pub struct Call<'s> {
    pub func: FuncId,
    pub activation: u32,
    pub inst: InstId,
    pub args: &'s [Value],
    pub ty: TypeId,
    pub summary: &'s Summary,
    pub turn: u32,
    pub target: Option<FuncId>,
}

impl Machine<'_, '_> {
    /// What the summary says. Where its outcomes treat the block in question differently, nobody knows which of them belongs to
    /// what else the run does.
    pub fn summarised(
        &mut self,
        world: &World,
        call: &Call<'_>,
        is_own: bool,
    ) -> Vec<(World, Value)> {
        let mut results = Vec::new();
        for outcome in &call.summary.outcomes {
            let mut world = world.clone();
            if let Some(value) = self.apply(&mut world, call, outcome) {
                results.push((world, value));
            }
        }
        if !is_own || results.len() < 2 {
            return results;
        }
        let treated = |(world, value): &(World, Value)| {
            let returned = match value {
                Value::Word(word) => word.at.map(|place| place.obj),
                _ => None,
            };
            let fates = world.fates.iter().filter(|(obj, _)| self.is_target(*obj));
            // A function that gives the block back, or nothing at all, says itself what it did.
            let fates: Vec<_> = fates
                .filter(|(obj, _)| returned != Some(*obj))
                .map(|(obj, &fate)| (obj, fate, world.holders(obj)))
                .collect();
            fates
        };
        let first = treated(&results[0]);
        if results[1..].iter().any(|result| treated(result) != first) {
            for (world, _) in &mut results {
                world.is_rough = true;
            }
        }
        results
    }

    /// The world after one outcome, and its result; `None` if it can't be.
    fn apply(&mut self, world: &mut World, call: &Call<'_>, outcome: &Outcome) -> Option<Value> {
        for atom in &outcome.when {
            if !self.holds(world, call, atom) {
                return None;
            }
        }
        world.is_told |= self.is_program(call);
        // All values are those of the entry.
        let (elements, writes): (Vec<_>, Vec<_>) = outcome
            .writes
            .iter()
            .partition(|write| write.cell.offset == Offset::ELEMENTS);
        let added: Vec<(Place, Vec<Word>)> = elements
            .iter()
            .filter_map(|write| self.added(world, call, write))
            .collect();
        let writes: Vec<(Option<Place>, &Write, Word)> = writes
            .into_iter()
            .map(|write| {
                let base = self.follow(world, call, &write.cell.base);
                let place = base.and_then(|word| self.place(word));
                let bytes_sort = place
                    .filter(|_| write.cell.offset.is_exact())
                    .map(|place| self.shifted(place, write.cell.offset.base))
                    .and_then(|place| self.known_sort(world, place));
                let sort = bytes_sort.map_or(Sort::Bits(64), |known| known.1);
                let word = self.told(world, call, &write.value, sort);
                (place, write, word)
            })
            .collect();
        let freed: Vec<(Vec<Obj>, Certainty)> = outcome
            .frees
            .iter()
            .map(|free| (self.pointed_to(world, call, &free.path), free.certainty))
            .collect();
        let escaped: Vec<Obj> = outcome
            .escapes
            .iter()
            .flat_map(|escape| self.pointed_to(world, call, &escape.path))
            .collect();
        let sort = sort_of(self.context.program, call.ty);
        let ret = self.told(world, call, &outcome.ret, sort);
        self.make(world, call, outcome);
        for (objs, certainty) in freed {
            for obj in objs {
                let fate = match certainty {
                    Certainty::Must => Fate::Freed,
                    Certainty::May => Fate::Unclear,
                };
                world.set_fate(obj, fate);
            }
        }
        for (place, write, word) in writes {
            let Some(place) = place else { continue };
            self.put_told(world, place, write.cell.offset, word, write.certainty);
        }
        for (bag, words) in added {
            for word in words {
                self.store(world, bag, word, 8);
            }
        }
        for obj in escaped {
            world.escape(obj);
        }
        self.touch(world, &call.summary.touched);
        for atom in &outcome.when {
            if atom.subject == Subject::Ret && !self.assume_class(world, ret.term, atom.class) {
                return None;
            }
        }
        if let Told::Unknown(class) = outcome.ret
            && !self.assume_class(world, ret.term, class)
        {
            return None;
        }
        Some(Value::Word(ret))
    }

    /// The elements that a container gets.
    fn added(
        &mut self,
        world: &mut World,
        call: &Call<'_>,
        write: &Write,
    ) -> Option<(Place, Vec<Word>)> {
        let container = self.follow(world, call, &write.cell.base)?;
        let place = self.place(container)?;
        let bag = self.bag(place)?;
        let words = match &write.value {
            Told::Entry { path, plus } if *plus == Offset::ZERO => {
                match path.loads.last().is_none_or(|last| last.is_exact()) {
                    true => self.follow(world, call, path).into_iter().collect(),
                    false => self.all_at(world, call, path),
                }
            }
            value => vec![self.told(world, call, value, Sort::Bits(64))],
        };
        Some((bag, words))
    }

    /// Assumes what an outcome asks for; what it asks of memory that nobody in sight has written is noted.
    fn holds(&mut self, world: &mut World, call: &Call<'_>, atom: &Atom) -> bool {
        let before = world.facts.len();
        let holds = self.assume_atom(world, call, atom);
        let is_new = |machine: &mut Self, fact: &TermId| machine.speaks_of_memory(*fact);
        let facts = Rc::clone(&world.facts);
        let depends = facts[before..].iter().any(|fact| is_new(self, fact));
        world.hangs |= depends && self.is_program(call);
        holds
    }

    fn assume_atom(&mut self, world: &mut World, call: &Call<'_>, atom: &Atom) -> bool {
        let Subject::Entry(path) = &atom.subject else {
            return true;
        };
        if path.loads.is_empty() {
            return match self.follow(world, call, path) {
                Some(word) => self.assume_class(world, word.term, atom.class),
                None => true,
            };
        }
        let mut base = path.clone();
        let last = base.loads.pop();
        let (Some(last), Some(word)) = (last, self.follow(world, call, &base)) else {
            return true;
        };
        let place = self.used_place(world, word);
        let (Some(place), true) = (place, last.is_exact()) else {
            return true;
        };
        let place = self.shifted(place, last.base);
        match self.known_sort(world, place) {
            Some((bytes, sort)) => {
                let word = self.load(world, place, bytes, sort);
                self.assume_class(world, word.term, atom.class)
            }
            // The callee's width is not told: what is said of a word holds for its lower half as well.
            None => {
                let word = self.load(world, place, 8, Sort::Bits(64));
                match atom.class {
                    Class::Eq(0) => self.assume_class(world, word.term, atom.class),
                    _ => {
                        let half = widened(&mut self.terms, word.term, 32, false);
                        self.assume_class(world, half, atom.class)
                    }
                }
            }
        }
    }

    /// The value at the end of a path; `None` where it can't be told.
    pub fn follow(&mut self, world: &mut World, call: &Call<'_>, path: &ValuePath) -> Option<Word> {
        let mut word = match path.root {
            Root::Arg(n) => match call.args.get(usize::from(n))? {
                Value::Word(word) => *word,
                _ => return None,
            },
            Root::Global(global) => {
                let obj = self.object(Kind::Global(global));
                self.address(obj, 0)
            }
            Root::Fresh(index) => {
                let obj = self.block(call, index);
                self.address(obj, 0)
            }
            Root::Ret => return None,
        };
        for load in &path.loads {
            let place = self.place(word)?;
            if !load.is_exact() {
                return None;
            }
            let place = self.shifted(place, load.base);
            word = self.load(world, place, 8, Sort::Bits(64));
        }
        Some(word)
    }

    /// Objects that a path may lead to: one, or all that an array holds. Those that no run has come to are nothing that anybody could free
    /// or know of.
    fn pointed_to(&mut self, world: &mut World, call: &Call<'_>, path: &ValuePath) -> Vec<Obj> {
        let (front, last) = match path.loads.split_last() {
            Some((last, front)) if !last.is_exact() => (front, Some(*last)),
            _ => (&path.loads[..], None),
        };
        let Some(word) = self.seen(world, call, path.root, front) else {
            return Vec::new();
        };
        let Some(last) = last else {
            return self.found(word).into_iter().collect();
        };
        let (obj, start) = match word.at {
            Some(place) => (Some(place.obj), self.offset(place.off).unwrap_or(0)),
            None => (self.found(word), 0),
        };
        let cells = obj.map_or(&[][..], |obj| world.cells_of(obj)).iter();
        cells
            .filter(|((_, at), _)| last.may_equal(Offset::exact(at - start)))
            .filter_map(|(_, cell)| Some(cell.word.at?.obj))
            .collect()
    }

    /// [`Machine::follow`], as long as the run has read or written what the path leads through.
    fn seen(
        &mut self,
        world: &mut World,
        call: &Call<'_>,
        root: Root,
        loads: &[Offset],
    ) -> Option<Word> {
        let mut word = self.follow(world, call, &ValuePath::root(root))?;
        for load in loads {
            let (obj, off) = match word.at {
                Some(place) => (place.obj, self.offset(place.off)?),
                None => (self.found(word)?, 0),
            };
            if !load.is_exact() {
                return None;
            }
            let off = off + load.base;
            let is_read = || {
                let key = (obj, off, self.epoch(world, obj));
                self.initial.contains_key(&key)
            };
            let is_written = world.overlapping(obj, off, off + 8).next().is_some();
            let is_variable = matches!(self.objects[obj], Kind::Global(_)) || bag_at(off).is_some();
            if !is_written && !is_variable && !is_read() {
                return None;
            }
            let place = self.place(word)?;
            let place = self.shifted(place, load.base);
            word = self.load(world, place, 8, Sort::Bits(64));
        }
        Some(word)
    }

    fn block(&mut self, call: &Call<'_>, index: u16) -> Obj {
        let kind = Kind::Heap {
            activation: call.activation,
            inst: call.inst,
            index,
            turn: call.turn,
        };
        self.object(kind)
    }

    /// The blocks that an outcome makes.
    fn make(&mut self, world: &mut World, call: &Call<'_>, outcome: &Outcome) {
        for &index in &outcome.fresh {
            let obj = self.block(call, index);
            let mut trace: Vec<(FuncId, InstId)> = self.stack.clone();
            trace.push((call.func, call.inst));
            if let Some(made) = call.summary.fresh.get(usize::from(index)) {
                trace.extend(made.chain.iter().map(|link| (link.func, link.inst)));
            }
            self.note_birth(obj, trace);
            Rc::make_mut(&mut world.fates).insert(obj, Fate::Alive);
            if outcome.zeroed.contains(&index) {
                world.set_zero(obj, i64::MIN / 2, i64::MAX / 2);
            }
        }
        for copy in &outcome.copies {
            let Some(from) = self
                .follow(world, call, &copy.from)
                .and_then(|word| self.place(word))
            else {
                continue;
            };
            let obj = self.block(call, copy.to);
            let off = self.terms.int(64, 0);
            let to = Place { obj, off };
            self.copy(world, to, from, Some(1 << 20));
        }
    }

    /// A value that a summary tells.
    fn told(&mut self, world: &mut World, call: &Call<'_>, value: &Told, sort: Sort) -> Word {
        match value {
            Told::Int(number) => self.number(sort, *number as u64),
            Told::Fresh { index, offset } => {
                let obj = self.block(call, *index);
                let exact = offset.is_exact().then_some(offset.base);
                match exact {
                    Some(offset) => self.address(obj, offset),
                    None => {
                        let base = self.address(obj, 0);
                        let delta = self.unknown(Sort::Bits(64));
                        self.moved(base, delta)
                    }
                }
            }
            Told::Func(func) => {
                let obj = self.object(Kind::Func(*func));
                self.address(obj, 0)
            }
            Told::Entry { path, plus } => match self.entry(world, call, path, sort) {
                Some(word)
                    if *plus == Offset::ELEMENTS || !plus.is_exact() && self.is_in_bag(word) =>
                {
                    let place = self.place(word);
                    match place.and_then(|place| self.bag(place)) {
                        Some(bag) => {
                            let off = self.offset(bag.off).unwrap_or(0);
                            self.address(bag.obj, off)
                        }
                        None => self.unknown_word(sort),
                    }
                }
                Some(word) => {
                    let delta = match plus.is_exact() {
                        true => self.terms.int(sort.width(), plus.base as u64),
                        false => self.unknown(sort),
                    };
                    match sort {
                        Sort::Bits(64) => self.moved(word, delta),
                        _ => {
                            let term = self.terms.add(word.term, delta);
                            Word { term, at: None }
                        }
                    }
                }
                None => self.unknown_word(sort),
            },
            Told::Unknown(_) => {
                let word = self.unknown_result(world, call, sort);
                self.assume_text(world, call, word);
                word
            }
        }
    }

    /// A value of the entry state, with the width that is asked for.
    fn entry(
        &mut self,
        world: &mut World,
        call: &Call<'_>,
        path: &ValuePath,
        sort: Sort,
    ) -> Option<Word> {
        let Sort::Bits(width) = sort else {
            return None;
        };
        if width == 64 || path.loads.is_empty() {
            let word = self.follow(world, call, path)?;
            if self.terms.sort(word.term) == sort {
                return Some(word);
            }
            let term = widened(&mut self.terms, word.term, width, true);
            return Some(Word { term, at: None });
        }
        let mut base = path.clone();
        let last = base.loads.pop().filter(|last| last.is_exact())?;
        let word = self.follow(world, call, &base)?;
        let place = self.place(word)?;
        let place = self.shifted(place, last.base);
        Some(self.load(world, place, width.div_ceil(8), sort))
    }

    /// Pure functions give the same for the same. What a function of the program returns that was not executed may hang on memory.
    fn unknown_result(&mut self, world: &World, call: &Call<'_>, sort: Sort) -> Word {
        let key = self.named(call).filter(|_| call.summary.pure).map(|func| {
            let words = self.words(call.args);
            let objects = words.iter().filter_map(|word| self.found(*word));
            let reached = self.reachable(world, objects);
            let cells = world
                .cells
                .iter()
                .filter(|(key, _)| reached.contains(key.0));
            let memory = cells.map(|(_, cell)| cell.word.term);
            let words = words.iter().map(|word| word.term);
            (func, words.chain(memory).collect(), world.global_epoch)
        });
        if let Some(&term) = key.as_ref().and_then(|key| self.pure.get(key)) {
            return Word { term, at: None };
        }
        let word = self.unknown_word(sort);
        if self.is_program(call) {
            self.remember_as_memory();
        }
        if let Some(key) = key {
            self.pure.insert(key, word.term);
        }
        word
    }

    fn words(&self, args: &[Value]) -> Vec<Word> {
        let words = args.iter().filter_map(|arg| match arg {
            Value::Word(word) => Some(*word),
            _ => None,
        });
        words.collect()
    }

    /// Is a function of the program called, and not one of the library?
    fn is_program(&self, call: &Call<'_>) -> bool {
        self.named(call)
            .is_none_or(|func| self.context.program.funcs[func].body.is_some())
    }

    fn named(&self, call: &Call<'_>) -> Option<FuncId> {
        if call.target.is_some() {
            return call.target;
        }
        match self.context.graph.callees(call.func, call.inst) {
            Callees::Known(targets) => targets.first().copied(),
            _ => None,
        }
    }

    fn put_told(
        &mut self,
        world: &mut World,
        place: Place,
        offset: Offset,
        word: Word,
        certainty: Certainty,
    ) {
        let bytes = self.terms.sort(word.term).width().div_ceil(8);
        if !offset.is_exact() {
            let any = self.unknown(Sort::Bits(64));
            let at = Place {
                obj: place.obj,
                off: self.terms.add(place.off, any),
            };
            self.store(world, at, word, bytes);
            return;
        }
        let at = self.shifted(place, offset.base);
        if certainty == Certainty::Must {
            self.store(world, at, word, bytes);
            return;
        }
        // Perhaps the old value, perhaps the new one.
        let sort = self.terms.sort(word.term);
        let old = self.load(world, at, bytes, sort);
        for either in [old, word] {
            if let Some(place) = either.at {
                world.set_fate(place.obj, Fate::Unclear);
            }
        }
        let unknown = self.unknown_word(sort);
        self.store(world, at, unknown, bytes);
    }

    /// Globals that may hold something else now.
    fn touch(&mut self, world: &mut World, touched: &GlobalSet) {
        let globals: Vec<Obj> = match touched {
            // Of one that no run has come to nothing is known.
            GlobalSet::Some(some) => some
                .iter()
                .filter_map(|&global| self.known(Kind::Global(global)))
                .collect(),
            GlobalSet::All => {
                world.global_epoch += 1;
                let cells = world.cells.keys().map(|key| key.0);
                let mut all: Vec<Obj> = cells
                    .filter(|&obj| matches!(self.objects[obj], Kind::Global(_)))
                    .collect();
                all.dedup();
                all
            }
        };
        for obj in globals {
            world.blur_held(obj);
            world.forget(obj);
        }
    }
}
