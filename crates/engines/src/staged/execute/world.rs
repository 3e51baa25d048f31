//! Memory while functions are executed: objects, cells, what became of heap blocks, and what has to hold.
//!
//! Objects are named by what made them, not by when: two runs that do the same make the same objects, and their worlds can be
//! compared. A world is cheap to copy: its parts are shared until they are changed.

use std::rc::Rc;

use drip_base::{IdSet, SortedMap, entity_id};
use drip_cond::TermId;
use drip_program::{FuncId, GlobalId, InstId};

entity_id! {
    /// An object in memory.
    pub struct Obj = "m";
}

/// What made an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Global(GlobalId),
    Func(FuncId),
    /// A variable of one activation.
    Stack {
        activation: u32,
        inst: InstId,
    },
    /// A block: the call that made it, and which of its blocks and turns it is.
    Heap {
        activation: u32,
        inst: InstId,
        index: u16,
        turn: u32,
    },
    /// Whatever an unknown pointer points to.
    Behind(TermId),
}

/// A place in an object; `off` is a term of 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    pub obj: Obj,
    pub off: TermId,
}

/// A number or an address. An address that is computed from another one knows its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Word {
    pub term: TermId,
    pub at: Option<Place>,
}

/// A value: a word, or a structure of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    Word(Word),
    Fields(Rc<[Word]>),
    None,
}

/// What became of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    Alive,
    Freed,
    /// Out of sight: somebody may free it.
    Escaped,
    /// Perhaps freed, perhaps kept: no statement about it holds.
    Unclear,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    pub word: Word,
    pub bytes: u32,
}

/// What places at constant offsets hold.
pub type Cells = SortedMap<(Obj, i64), Cell>;

#[derive(Clone, Debug, Default)]
pub struct World {
    pub cells: Rc<Cells>,
    /// What was stored at offsets that are no constants.
    pub loose: Rc<SortedMap<(Obj, TermId), Cell>>,
    /// Ranges that hold zeros where no cell says otherwise.
    zeroed: Rc<SortedMap<Obj, Vec<(i64, i64)>>>,
    /// How often an object's unknown contents have become others.
    epochs: Rc<SortedMap<Obj, u32>>,
    /// The same for all global variables.
    pub global_epoch: u32,
    pub fates: Rc<SortedMap<Obj, Fate>>,
    /// Conjunction of what the run has assumed.
    pub facts: Rc<Vec<TermId>>,
    /// The run passes a function that does one thing or another to the block in question, and that was not executed.
    pub is_rough: bool,
    /// A callee went this way because of what memory held before the run, which its caller does not look at.
    pub hangs: bool,
    /// The run has left the path that a finding would show.
    pub is_elsewhere: bool,
    /// Turns of a loop were left out: what they change is unknown.
    pub is_widened: bool,
    /// A function of the program was not executed but taken by its summary.
    pub is_told: bool,
}

impl World {
    /// Equal but for the facts?
    pub fn looks_like(&self, other: &World) -> bool {
        self.cells == other.cells
            && self.fates == other.fates
            && self.loose == other.loose
            && self.zeroed == other.zeroed
            && self.epochs == other.epochs
            && self.global_epoch == other.global_epoch
            && self.is_rough == other.is_rough
    }

    /// May the run be one that the program never makes, or that the path does not show?
    pub fn is_doubtful(&self) -> bool {
        self.hangs || self.is_elsewhere
    }

    pub fn epoch(&self, obj: Obj) -> u32 {
        self.epochs.get(obj).copied().unwrap_or(0)
    }

    pub fn is_zeroed(&self, obj: Obj, off: i64, bytes: u32) -> bool {
        let end = off + i64::from(bytes);
        let ranges = self.zeroed.get(obj);
        ranges.is_some_and(|r| r.iter().any(|&(from, to)| from <= off && end <= to))
    }

    pub fn set_zero(&mut self, obj: Obj, from: i64, to: i64) {
        self.clear(obj, from, to);
        Rc::make_mut(&mut self.zeroed)
            .get_or_insert_with(obj, Vec::new)
            .push((from, to));
    }

    /// Forgets the cells in a range.
    pub fn clear(&mut self, obj: Obj, from: i64, to: i64) {
        // No cell is wider than a word.
        let first = from.saturating_sub(8);
        let near = self.cells.range((obj, first), (obj, to.max(first)));
        let reaches = |((_, at), cell): &((Obj, i64), Cell)| at + i64::from(cell.bytes) > from;
        let Some(start) = near.iter().find(|entry| reaches(entry)).map(|e| e.0) else {
            return;
        };
        if near.iter().skip_while(|entry| !reaches(entry)).all(reaches) {
            Rc::make_mut(&mut self.cells).remove_range(start, (obj, to));
        } else {
            let reaches = |at: i64, cell: &Cell| at + i64::from(cell.bytes) > from;
            Rc::make_mut(&mut self.cells).retain(|(owner, at), cell| {
                owner != obj || !(first..to).contains(&at) || !reaches(at, cell)
            });
        }
    }

    /// Cells that share a byte with a range.
    pub fn overlapping(&self, obj: Obj, from: i64, to: i64) -> impl Iterator<Item = (i64, Cell)> {
        // No cell is wider than a word.
        let first = from.saturating_sub(8);
        let cells = self.cells.range((obj, first), (obj, to.max(first))).iter();
        cells
            .filter(move |((_, at), cell)| at + i64::from(cell.bytes) > from)
            .map(|&((_, at), cell)| (at, cell))
    }

    /// All cells of an object.
    pub fn cells_of(&self, obj: Obj) -> &[((Obj, i64), Cell)] {
        self.cells.range((obj, i64::MIN), (obj, i64::MAX))
    }

    /// What was stored into the object at offsets that are no constants.
    fn loose_of(&self, obj: Obj) -> impl Iterator<Item = &Cell> {
        let entries = self.loose.iter().filter(move |(key, _)| key.0 == obj);
        entries.map(|entry| entry.1)
    }

    /// Everything in the object may be something else now.
    pub fn forget(&mut self, obj: Obj) {
        if !self.cells_of(obj).is_empty() {
            Rc::make_mut(&mut self.cells).remove_range((obj, i64::MIN), (obj, i64::MAX));
        }
        if self.zeroed.contains_key(obj) {
            Rc::make_mut(&mut self.zeroed).remove(obj);
        }
        if self.loose_of(obj).next().is_some() {
            Rc::make_mut(&mut self.loose).retain(|key, _| key.0 != obj);
        }
        *Rc::make_mut(&mut self.epochs).get_or_insert_with(obj, || 0) += 1;
    }

    pub fn put(&mut self, obj: Obj, off: i64, word: Word, bytes: u32) {
        self.clear(obj, off, off + i64::from(bytes));
        Rc::make_mut(&mut self.cells).insert((obj, off), Cell { word, bytes });
    }

    /// Objects that the object's cells point to.
    pub fn held_by(&self, obj: Obj) -> impl Iterator<Item = Obj> {
        let cells = self.cells_of(obj).iter().map(|entry| &entry.1);
        let held = cells.chain(self.loose_of(obj));
        held.filter_map(|cell| Some(cell.word.at?.obj))
    }

    /// Cells that point to an object.
    pub fn holders(&self, obj: Obj) -> usize {
        let cells = self.cells.values().chain(self.loose.values());
        cells
            .filter(|cell| cell.word.at.is_some_and(|place| place.obj == obj))
            .count()
    }

    pub fn fate(&self, obj: Obj) -> Option<Fate> {
        self.fates.get(obj).copied()
    }

    /// Notes what becomes of a block; what is freed stays freed.
    pub fn set_fate(&mut self, obj: Obj, fate: Fate) {
        match self.fate(obj) {
            Some(Fate::Freed) | None => {}
            Some(old) if old == fate => {}
            Some(_) => {
                Rc::make_mut(&mut self.fates).insert(obj, fate);
            }
        }
    }

    /// The object and all behind it are known to others, who may change them.
    pub fn escape(&mut self, obj: Obj) {
        let mut open = vec![obj];
        let mut seen = IdSet::new();
        while let Some(obj) = open.pop() {
            if seen.insert(obj) {
                open.extend(self.held_by(obj));
                self.set_fate(obj, Fate::Escaped);
                self.forget(obj);
            }
        }
    }

    /// Nobody knows any more what becomes of the block that a word points to.
    pub fn blur(&mut self, word: Word) {
        if let Some(place) = word.at {
            self.set_fate(place.obj, Fate::Unclear);
        }
    }

    /// Nobody knows any more what becomes of the blocks that the object holds; that it holds itself counts for nothing.
    pub fn blur_held(&mut self, obj: Obj) {
        let held: Vec<Obj> = self.held_by(obj).filter(|&held| held != obj).collect();
        for held in held {
            self.set_fate(held, Fate::Unclear);
        }
    }

    /// Numbers in the object may be something else now; what is known to be a pointer stays.
    pub fn forget_numbers(&mut self, obj: Obj) {
        let cells = self.cells_of(obj).iter();
        let pointers: Vec<((Obj, i64), Cell)> = cells
            .filter(|(_, cell)| cell.word.at.is_some())
            .copied()
            .collect();
        self.forget(obj);
        if !pointers.is_empty() {
            Rc::make_mut(&mut self.cells).extend(pointers);
        }
    }

    /// Variables of an activation that has ended.
    pub fn drop_stack(&mut self, is_gone: impl Fn(Obj) -> bool) {
        if self.cells.keys().any(|key| is_gone(key.0)) {
            Rc::make_mut(&mut self.cells).retain(|key, _| !is_gone(key.0));
        }
        if self.loose.keys().any(|key| is_gone(key.0)) {
            Rc::make_mut(&mut self.loose).retain(|key, _| !is_gone(key.0));
        }
        if self.zeroed.keys().any(&is_gone) {
            Rc::make_mut(&mut self.zeroed).retain(|obj, _| !is_gone(obj));
        }
        if self.epochs.keys().any(&is_gone) {
            Rc::make_mut(&mut self.epochs).retain(|obj, _| !is_gone(obj));
        }
    }
}
