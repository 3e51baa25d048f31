//! Elements of containers ([`Offset::ELEMENTS`]): a bag, behind an address of its own for each container.
//!
//! INVARIANTS: the address of a bag lies further than any object is large, and pointers into it stay in it: iterators of all kinds
//! add a few bytes to it. An address that has been computed there points to any of the elements; which one is known where all are
//! the same.

use drip_cond::Sort;
use drip_models::{Offset, ValuePath};

use super::machine::Machine;
use super::summaries::Call;
use super::world::{Obj, Place, Word, World};

/// No object is larger.
const FIRST_BAG: i64 = 1 << 40;

/// Distance of the bags of two containers in one object, per byte between the containers.
const BAG_BYTES: i64 = 1 << 20;

/// The bag that an offset lies in.
pub fn bag_at(off: i64) -> Option<i64> {
    (off >= FIRST_BAG).then(|| off - off.rem_euclid(BAG_BYTES))
}

impl Machine<'_, '_> {
    /// Is it an address of elements?
    pub fn is_in_bag(&self, word: Word) -> bool {
        let off = word.at.and_then(|place| self.offset(place.off));
        off.is_some_and(|off| bag_at(off).is_some())
    }

    /// Where the elements of the container at a place are; an iterator's are where it points.
    pub fn bag(&mut self, container: Place) -> Option<Place> {
        let off = self.offset(container.off)?;
        let bag = match bag_at(off) {
            Some(bag) => bag,
            None => FIRST_BAG.checked_add(off.checked_mul(BAG_BYTES)?)?,
        };
        let off = self.terms.int(64, bag as u64);
        Some(Place {
            obj: container.obj,
            off,
        })
    }

    /// What somebody finds in a bag.
    pub fn load_element(&mut self, world: &mut World, obj: Obj, bag: i64, sort: Sort) -> Word {
        let words = elements(world, obj, bag);
        let block = |word: &Word| word.at.map(|place| place.obj);
        if let [first, rest @ ..] = &words[..]
            && sort == Sort::Bits(64)
            && rest.iter().all(|word| block(word) == block(first))
        {
            return *first;
        }
        if sort == Sort::Bits(64) {
            for word in words {
                world.blur(word);
            }
        }
        self.unknown_word(sort)
    }

    /// One more element. Numbers, and pointers to what is not known here, are of no interest: nobody waits for them.
    pub fn add_element(&mut self, world: &mut World, obj: Obj, bag: i64, word: Word) {
        if word.at.is_some() {
            let count = elements(world, obj, bag).len() as i64;
            world.put(obj, bag + 8 * count, word, 8);
        }
    }

    /// All that a path may lead to whose last step is to any of several cells.
    pub fn all_at(&mut self, world: &mut World, call: &Call<'_>, path: &ValuePath) -> Vec<Word> {
        let mut base = path.clone();
        let Some(last) = base.loads.pop() else {
            return Vec::new();
        };
        let base = self.follow(world, call, &base);
        let Some(place) = base.and_then(|word| self.place(word)) else {
            return Vec::new();
        };
        let Some(start) = self.offset(place.off) else {
            return Vec::new();
        };
        let bag = match (bag_at(start), last == Offset::ELEMENTS) {
            (Some(bag), _) => Some(bag),
            (None, true) => self.bag(place).and_then(|bag| self.offset(bag.off)),
            (None, false) => None,
        };
        if let Some(bag) = bag {
            return elements(world, place.obj, bag);
        }
        let cells = world.overlapping(place.obj, start, FIRST_BAG);
        let named = cells.filter(|(at, _)| last.may_equal(Offset::exact(at - start)));
        named.map(|(_, cell)| cell.word).collect()
    }
}

fn elements(world: &World, obj: Obj, bag: i64) -> Vec<Word> {
    let cells = world.overlapping(obj, bag, bag + BAG_BYTES);
    cells.map(|(_, cell)| cell.word).collect()
}
