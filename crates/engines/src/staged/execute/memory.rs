//! Reading and writing memory while functions are executed.
//!
//! A cell is what one store put there. Reads that are narrower take a part of it; wider ones put it together from several, and a number
//! that was put together becomes such cells again where it is stored: small structures travel as words.

use std::rc::Rc;

use drip_cond::{Sort, TermId};
use drip_flow::arithmetic::widened;
use drip_program::{GlobalId, Init, Scalar};

use super::elements::bag_at;
use super::machine::Machine;
use super::world::{Cell, Kind, Obj, Place, Word, World};

/// Bytes of unknown contents that a copy has in common with its source; beyond them the copy is unknown by itself.
const MAX_COPIED: i64 = 512;

impl Machine<'_, '_> {
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
            return self
                .composed(world, (place.obj, off), bytes, sort)
                .unwrap_or_else(|| self.unknown_word(sort));
        }
        self.initial(world, place.obj, off, bytes, sort)
    }

    /// A number that is wider than the cells that it is read from: small structures are passed and returned as words.
    fn composed(
        &mut self,
        world: &World,
        (obj, off): (Obj, i64),
        bytes: u32,
        sort: Sort,
    ) -> Option<Word> {
        let end = off + i64::from(bytes);
        let cells: Vec<(i64, Cell)> = world.overlapping(obj, off, end).collect();
        let is_inside = |(at, cell): &(i64, Cell)| *at >= off && at + i64::from(cell.bytes) <= end;
        if sort != Sort::Bits(bytes * 8) || !cells.iter().all(is_inside) {
            return None;
        }
        let mut parts: Vec<(i64, Cell)> = Vec::new();
        let mut next = off;
        for (at, cell) in cells {
            self.fill_gap(world, obj, off, (next, at), &mut parts);
            parts.push((at - off, cell));
            next = at + i64::from(cell.bytes);
        }
        self.fill_gap(world, obj, off, (next, end), &mut parts);
        let mut whole = self.terms.int(bytes * 8, 0);
        for (at, cell) in &parts {
            let part = widened(&mut self.terms, cell.word.term, cell.bytes * 8, false);
            let part = widened(&mut self.terms, part, bytes * 8, false);
            let shift = self.terms.int(bytes * 8, (at * 8) as u64);
            let part = self.terms.shl(part, shift);
            whole = self.terms.bor(whole, part);
        }
        if self.terms.as_int(whole).is_none() {
            self.parts.insert(whole, parts.into());
        }
        Some(Word {
            term: whole,
            at: None,
        })
    }

    /// The bytes between two parts of a number: nobody has written them here.
    fn fill_gap(
        &mut self,
        world: &World,
        obj: Obj,
        off: i64,
        (from, to): (i64, i64),
        parts: &mut Vec<(i64, Cell)>,
    ) {
        if from < to {
            let bytes = (to - from) as u32;
            let word = self.initial(world, obj, from, bytes, Sort::Bits(bytes * 8));
            parts.push((from - off, Cell { word, bytes }));
        }
    }

    fn load_indexed(&mut self, world: &mut World, place: Place, bytes: u32, sort: Sort) -> Word {
        let stored = world.loose.get((place.obj, place.off)).copied();
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

    pub fn epoch(&self, world: &World, obj: Obj) -> u32 {
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
        if let Some(cell) = world.cells.get((place.obj, off)) {
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
                None => self.put(world, (place.obj, off), word, bytes),
            }
            return;
        }
        // Anything in the object may be overwritten; what its cells held is perhaps held no more.
        let loose: Vec<_> = world
            .loose
            .iter()
            .filter(|(key, _)| key.0 == place.obj && key.1 != place.off)
            .map(|(key, &cell)| (key, cell))
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
        kept.insert((place.obj, place.off), Cell { word, bytes });
    }

    /// Stores a number; one that was put together from several cells becomes such cells again.
    fn put(&mut self, world: &mut World, (obj, off): (Obj, i64), word: Word, bytes: u32) {
        match self.parts.get(&word.term) {
            Some(parts) if self.terms.width(word.term) == bytes * 8 => {
                world.clear(obj, off, off + i64::from(bytes));
                for (at, cell) in parts.iter() {
                    world.put(obj, off + at, cell.word, cell.bytes);
                }
            }
            _ => world.put(obj, off, word, bytes),
        }
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
        let inside: Vec<(i64, Cell)> = world
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
}
