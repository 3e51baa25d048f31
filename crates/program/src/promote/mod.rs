//! Which stack slots become SSA values?
//!
//! A slot (alloca) is promoted when its address goes nowhere: it is only loaded from and stored to at constant offsets,
//! and these accesses agree on one partition into (offset, type). A scalar variable is the case of one part. A `memset`
//! with a constant byte counts as stores to the parts that it covers. Everything else keeps the slot in memory: calls,
//! copies, address arithmetic with a variable index, volatile and atomic accesses, accesses that overlap or differ in
//! type (unions).

pub(crate) mod place;
pub(crate) mod rename;
pub(crate) mod scan;

use crate::body::Operand;
use crate::ids::{BlockId, TypeId, VarId};

pub(crate) const NONE: u32 = u32::MAX;

/// A candidate for promotion.
pub(crate) struct Slot {
    pub size: u64,
    /// Promoted, unless something spoke against it.
    pub alive: bool,
    /// First of its parts, linked by [`Part::next`]; `NONE` if it is never accessed.
    first: u32,
    parts: u32,
    /// Source variable that a debug declare names.
    pub var: Option<VarId>,
}

/// One scalar inside a candidate: a variable of the SSA construction.
pub(crate) struct Part {
    pub slot: u32,
    pub offset: i64,
    pub size: u64,
    pub ty: TypeId,
    next: u32,
    /// Source variable (or its field) that stores to the part bind.
    pub var: Option<VarId>,
    /// Some path from the entry reads the part before it is written.
    pub read_uninit: bool,
    /// First of the blocks that access the part, linked by `BlockUse::next`.
    uses: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AccessKind {
    Load,
    Store,
    /// memset: all parts of the slot in a range of bytes get the same byte.
    Set {
        start: i64,
        end: i64,
        byte: u8,
    },
}

/// A load from or store to a candidate.
pub(crate) struct Access {
    /// Raw instruction.
    pub inst: u32,
    /// Of a load: its result, as local value.
    pub local: u32,
    pub slot: u32,
    /// `NONE` for `Set`.
    pub part: u32,
    pub kind: AccessKind,
    /// Of a store: what is stored. Filled when the instruction is emitted.
    pub value: Operand,
}

/// The address of a candidate plus an offset.
#[derive(Clone, Copy)]
struct Derived {
    slot: u32,
    offset: i64,
}

/// What the scan and the phi placement found; memory is reused from body to body.
#[derive(Default)]
pub(crate) struct Promotion {
    derived: Vec<Derived>,
    pub slots: Vec<Slot>,
    pub parts: Vec<Part>,
    pub accesses: Vec<Access>,
    /// By final block: its accesses, in order.
    ranges: Vec<(u32, u32)>,
    pub phis: place::Phis,
    pub uses: Vec<place::BlockUse>,
}

impl Promotion {
    pub fn reset(&mut self, locals: usize, blocks: usize) {
        self.derived.clear();
        self.derived.resize(
            locals,
            Derived {
                slot: NONE,
                offset: 0,
            },
        );
        self.slots.clear();
        self.parts.clear();
        self.accesses.clear();
        self.ranges.clear();
        self.ranges.resize(blocks, (0, 0));
        self.phis.clear();
        self.uses.clear();
    }

    pub fn access_range(&self, block: BlockId) -> std::ops::Range<usize> {
        let (start, end) = self.ranges.get(block.index()).copied().unwrap_or((0, 0));
        start as usize..end as usize
    }

    /// Is the access to a slot that was promoted?
    pub fn is_promoted(&self, access: &Access) -> bool {
        self.slots[access.slot as usize].alive
    }

    /// The candidate that a local value is the address of.
    pub fn slot_of(&self, local: u32) -> Option<u32> {
        let derived = self.derived.get(local as usize)?;
        (derived.slot != NONE).then_some(derived.slot)
    }

    /// The candidate that starts at the address which a local value is.
    pub fn slot_at(&self, local: u32) -> Option<u32> {
        let derived = self.derived.get(local as usize)?;
        (derived.slot != NONE && derived.offset == 0).then_some(derived.slot)
    }

    /// Is this local value the address of (a part of) a promoted slot?
    pub fn is_gone(&self, local: u32) -> bool {
        self.slot_of(local)
            .is_some_and(|slot| self.slots[slot as usize].alive)
    }

    /// Parts of a slot whose bytes lie in a range.
    pub fn parts_in(&self, slot: u32, start: i64, end: i64) -> impl Iterator<Item = u32> + '_ {
        let mut at = self.slots[slot as usize].first;
        std::iter::from_fn(move || {
            while at != NONE {
                let id = at;
                let part = &self.parts[id as usize];
                at = part.next;
                if part.offset >= start && part.end() <= end {
                    return Some(id);
                }
            }
            None
        })
    }
}

impl Part {
    fn end(&self) -> i64 {
        self.offset.saturating_add_unsigned(self.size)
    }
}
