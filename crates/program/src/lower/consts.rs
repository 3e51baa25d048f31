//! The constants of one body: each raw constant that an instruction uses becomes one [`Const`], equal ones share an id.

use drip_bitcode as bc;
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

use super::fold::{Base, Folded, Folder, truncate};
use crate::body::{Const, Operand};
use crate::ids::{ConstId, TypeId};
use crate::types::{Type, Types};

/// Aggregates with more elements than this are opaque when used as a value in a body; initialisers of globals are not
/// affected.
const MAX_AGGREGATE: usize = 256;

/// Elements that all aggregates nested in one constant may have together; the rest is opaque.
const MAX_NESTED: u32 = 4096;

/// Aggregates nested deeper than this are opaque; only malformed input, where one contains itself, has such.
const MAX_DEPTH: u32 = 64;

/// Hash-consing table that is emptied by taking a new stamp instead of being cleared.
#[derive(Default)]
pub(crate) struct Interner {
    /// (stamp, id); a slot with another stamp is free. Length is a power of two.
    slots: Vec<(u32, u32)>,
    stamp: u32,
    used: usize,
}

impl Interner {
    /// Forgets all entries.
    pub fn reset(&mut self) {
        match self.stamp.checked_add(1) {
            Some(next) => self.stamp = next,
            None => {
                self.slots.fill((0, 0));
                self.stamp = 1;
            }
        }
        self.used = 0;
        if self.slots.is_empty() {
            self.slots = vec![(0, 0); 64];
        }
    }

    /// The id of `item` in `items`; pushed when it is new.
    pub fn intern<T: Hash + Eq>(&mut self, items: &mut Vec<T>, item: T) -> u32 {
        if self.used * 2 >= self.slots.len() {
            self.grow(items);
        }
        let mask = self.slots.len() - 1;
        let mut at = hash(&item) & mask;
        loop {
            let (stamp, id) = self.slots[at];
            if stamp != self.stamp {
                let id = items.len() as u32;
                items.push(item);
                self.slots[at] = (self.stamp, id);
                self.used += 1;
                return id;
            }
            if items[id as usize] == item {
                return id;
            }
            at = (at + 1) & mask;
        }
    }

    fn grow<T: Hash>(&mut self, items: &[T]) {
        let size = (self.slots.len() * 2).max(64);
        let live: Vec<u32> = self
            .slots
            .iter()
            .filter(|(stamp, _)| *stamp == self.stamp)
            .map(|(_, id)| *id)
            .collect();
        self.slots = vec![(0, 0); size];
        self.stamp = 1;
        for id in live {
            let mut at = hash(&items[id as usize]) & (size - 1);
            while self.slots[at].0 == self.stamp {
                at = (at + 1) & (size - 1);
            }
            self.slots[at] = (self.stamp, id);
        }
    }
}

fn hash(item: &impl Hash) -> usize {
    let mut hasher = FxHasher::default();
    item.hash(&mut hasher);
    hasher.finish() as usize
}

/// The constants of the body under construction.
#[derive(Default)]
pub(crate) struct Consts {
    pub table: Vec<Const>,
    known: Interner,
    /// Elements that the constant under construction may still have.
    fuel: u32,
    /// How deep the element under construction is nested.
    depth: u32,
}

impl Consts {
    pub fn reset(&mut self) {
        self.table.clear();
        self.known.reset();
    }

    pub fn add(&mut self, value: Const) -> ConstId {
        ConstId::from_u32(self.known.intern(&mut self.table, value))
    }

    /// The constant with this value number.
    pub fn of_value(&mut self, folder: &Folder<'_>, id: bc::ValueId) -> ConstId {
        self.fuel = MAX_NESTED;
        self.depth = 0;
        self.nested(folder, id)
    }

    /// The constant whose bytes are all `byte`; a byte other than 0 asks for an integer type.
    pub fn filled(&mut self, types: &Types, ty: TypeId, byte: u8) -> Operand {
        let value = match types.get(ty) {
            Type::Int(width) if *width <= 64 => Const::Int {
                ty,
                bits: truncate(u64::from_ne_bytes([byte; 8]), *width),
            },
            Type::Ptr if byte == 0 => Const::Null,
            Type::Float(_) if byte == 0 => Const::Float { ty, bits: 0 },
            Type::Struct(_) | Type::Array { .. } | Type::Vector { .. } if byte == 0 => {
                Const::Zero(ty)
            }
            _ => Const::Opaque(ty),
        };
        Operand::constant(self.add(value))
    }

    fn nested(&mut self, folder: &Folder<'_>, id: bc::ValueId) -> ConstId {
        let ty = match folder.constant(id) {
            Some((constant, _)) => folder.cx.ty(constant.ty),
            None => folder.cx.common.ptr,
        };
        let value = match folder.fold(id) {
            Folded::Aggregate => self.aggregate(folder, id, ty),
            other => scalar(folder, ty, other),
        };
        self.add(value)
    }

    fn element(&mut self, folder: &Folder<'_>, id: bc::ValueId) -> ConstId {
        if self.fuel == 0 || self.depth >= MAX_DEPTH {
            let constant = folder.constant(id);
            let ty = constant.map_or(folder.cx.common.ptr, |(c, _)| folder.cx.ty(c.ty));
            return self.add(Const::Opaque(ty));
        }
        self.fuel -= 1;
        self.depth += 1;
        let found = self.nested(folder, id);
        self.depth -= 1;
        found
    }

    fn aggregate(&mut self, folder: &Folder<'_>, id: bc::ValueId, ty: TypeId) -> Const {
        let Some((constant, table)) = folder.constant(id) else {
            return Const::Opaque(ty);
        };
        let Some(fuel) = self.fuel.checked_sub(1) else {
            return Const::Opaque(ty);
        };
        self.fuel = fuel;
        let elems: Vec<ConstId> = match constant.kind {
            bc::RawConst::Aggregate(range) if range.len() <= MAX_AGGREGATE => range
                .of(&table.operands)
                .iter()
                .map(|&elem| self.element(folder, elem))
                .collect(),
            bc::RawConst::String(range) if range.len() <= MAX_AGGREGATE => {
                let ty = folder.cx.common.i8;
                range
                    .of(&table.bytes)
                    .iter()
                    .map(|&b| {
                        self.add(Const::Int {
                            ty,
                            bits: u64::from(b),
                        })
                    })
                    .collect()
            }
            bc::RawConst::Data(range) if range.len() <= MAX_AGGREGATE => {
                let elem = element_type(folder, constant.ty);
                range
                    .of(&table.words)
                    .iter()
                    .map(|&word| self.add(number(folder, elem, word)))
                    .collect()
            }
            _ => return Const::Opaque(ty),
        };
        Const::Aggregate {
            ty,
            elems: elems.into(),
        }
    }
}

fn element_type(folder: &Folder<'_>, ty: bc::TypeId) -> Option<bc::TypeId> {
    match folder.cx.module.ty(ty)? {
        bc::RawType::Array { elem, .. } | bc::RawType::Vector { elem, .. } => Some(*elem),
        _ => None,
    }
}

/// An element of a table of plain numbers.
fn number(folder: &Folder<'_>, elem: Option<bc::TypeId>, word: u64) -> Const {
    let ty = elem.map_or(folder.cx.common.other, |t| folder.cx.ty(t));
    match folder.cx.types.int_width(ty) {
        Some(_) => Const::Int { ty, bits: word },
        None => match elem.map(|elem| folder.float(elem, word)) {
            Some(Folded::Float(bits)) => Const::Float { ty, bits },
            _ => Const::Opaque(ty),
        },
    }
}

/// A folded constant that is no aggregate.
pub(crate) fn scalar(folder: &Folder<'_>, ty: TypeId, folded: Folded) -> Const {
    match folded {
        Folded::Int(bits) => Const::Int { ty, bits },
        Folded::Addr {
            base: Base::Null,
            offset: 0,
        } => Const::Null,
        Folded::Addr {
            base: Base::Null,
            offset,
        } => Const::Int {
            ty,
            bits: offset as u64,
        },
        Folded::Addr {
            base: Base::Global(global),
            offset,
        } => Const::Global { global, offset },
        Folded::Addr {
            base: Base::Func(func),
            offset: 0,
        } => Const::Func(func),
        Folded::Addr {
            base: Base::Func(func),
            ..
        }
        | Folded::AddrInt {
            base: Base::Func(func),
            ..
        } => {
            folder.cx.mark_taken(func);
            Const::Opaque(ty)
        }
        Folded::Float(bits) => Const::Float { ty, bits },
        Folded::Zero => Const::Zero(ty),
        Folded::Undef => Const::Undef(ty),
        Folded::AddrInt { .. } | Folded::Aggregate | Folded::Opaque => Const::Opaque(ty),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interner_finds_equal_items_across_growth_and_forgets_on_reset() {
        let mut interner = Interner::default();
        let mut items = Vec::new();
        interner.reset();
        for round in 0..2 {
            for n in 0..1000u64 {
                assert_eq!(interner.intern(&mut items, n), n as u32, "round {round}");
            }
        }
        items.clear();
        interner.reset();
        assert_eq!(interner.intern(&mut items, 999), 0);
    }
}
