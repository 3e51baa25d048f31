//! Reads the PARAMATTR_GROUP and PARAMATTR blocks into an [`AttrTable`].
//!
//! A group is the set of attributes of one place; a list names groups. Lists are referred to by
//! functions and calls as number + 1, 0 meaning none. A group that ends in an attribute of an unknown
//! encoding keeps what came before it: attributes are hints, losing one is safe.

use rustc_hash::FxHashMap;

use crate::attrs::{AttrList, AttrSet};
use crate::bitstream::{Block, BlockHeader, BlockInfo, Item, Record, Res, text};
use crate::codes::attr;
use crate::ids::{AttrListId, TypeId};

/// All attribute lists of a module.
#[derive(Debug, Default)]
pub(crate) struct AttrTable {
    sets: Vec<AttrSet>,
    /// Per list: its range in `entries`.
    lists: Vec<(u32, u32)>,
    /// (place, set) pairs of all lists.
    entries: Vec<(u32, u32)>,
    /// Group number → (place, set).
    groups: FxHashMap<u64, (u32, u32)>,
}

impl AttrTable {
    /// The list with this number.
    pub fn list(&self, id: AttrListId) -> AttrList<'_> {
        let entries = self
            .lists
            .get(id.index())
            .and_then(|(start, end)| self.entries.get(*start as usize..*end as usize))
            .unwrap_or(&[]);
        AttrList {
            entries,
            sets: &self.sets,
        }
    }

    /// The list that a record's operand (number + 1) names.
    pub fn list_of_operand(&self, operand: u64) -> Option<AttrListId> {
        let index = operand.checked_sub(1)?;
        (index < self.lists.len() as u64).then_some(AttrListId(index as u32))
    }

    /// Forgets types that do not exist, so that clients need not check.
    pub fn drop_unknown_types(&mut self, type_count: usize) {
        for set in &mut self.sets {
            set.types.retain(|(_, ty)| ty.index() < type_count);
        }
    }

    /// Reads PARAMATTR_GROUP.
    pub fn read_groups(&mut self, data: &[u8], header: BlockHeader, info: &BlockInfo) -> Res<()> {
        let mut block = Block::new(data, header, info);
        let mut record = Record::default();
        loop {
            match block.next(&mut record)? {
                Item::End => return Ok(()),
                Item::Record if record.code == attr::GROUP_ENTRY => {
                    if let [group, place, rest @ ..] = &record.ops[..] {
                        let set = self.sets.len() as u32;
                        self.sets.push(read_set(rest));
                        self.groups.insert(*group, (*place as u32, set));
                    }
                }
                _ => {}
            }
        }
    }

    /// Reads PARAMATTR.
    pub fn read_lists(&mut self, data: &[u8], header: BlockHeader, info: &BlockInfo) -> Res<()> {
        let mut block = Block::new(data, header, info);
        let mut record = Record::default();
        loop {
            match block.next(&mut record)? {
                Item::End => return Ok(()),
                Item::Record => {
                    let start = self.entries.len() as u32;
                    // Lists of LLVM < 3.3 hold bit masks instead of groups: they read as empty.
                    if record.code == attr::ENTRY {
                        let groups = &self.groups;
                        let found = record.ops.iter().filter_map(|group| groups.get(group));
                        self.entries.extend(found.copied());
                    }
                    self.lists.push((start, self.entries.len() as u32));
                }
                Item::Block(_) => {}
            }
        }
    }
}

/// Encodings of one attribute inside a group.
mod encoding {
    pub const ENUM: u64 = 0;
    pub const INT: u64 = 1;
    pub const STRING: u64 = 3;
    pub const STRING_WITH_VALUE: u64 = 4;
    pub const TYPE_ABSENT: u64 = 5;
    pub const TYPE: u64 = 6;
    pub const RANGE: u64 = 7;
    pub const RANGE_LIST: u64 = 8;
}

fn read_set(ops: &[u64]) -> AttrSet {
    let mut set = AttrSet::default();
    let mut ops = ops.iter().copied();
    while read_attr(&mut ops, &mut set).is_some() {}
    set
}

fn add_kind(set: &mut AttrSet, kind: u64) {
    if kind < u64::from(u128::BITS) {
        set.kinds |= 1 << kind;
    }
}

/// Reads one attribute; `None` at the end, or where the encoding is unknown.
fn read_attr(ops: &mut impl Iterator<Item = u64>, set: &mut AttrSet) -> Option<()> {
    match ops.next()? {
        encoding::ENUM | encoding::TYPE_ABSENT => add_kind(set, ops.next()?),
        encoding::INT => {
            let (kind, value) = (ops.next()?, ops.next()?);
            add_kind(set, kind);
            set.ints.push((kind as u32, value));
        }
        encoding::STRING => {
            let key = read_string(ops);
            set.strings.push((key, "".into()));
        }
        encoding::STRING_WITH_VALUE => {
            let key = read_string(ops);
            let value = read_string(ops);
            set.strings.push((key, value));
        }
        encoding::TYPE => {
            let (kind, ty) = (ops.next()?, ops.next()?);
            add_kind(set, kind);
            let ty = u32::try_from(ty).ok()?;
            set.types.push((kind as u32, TypeId(ty)));
        }
        encoding::RANGE => {
            let kind = ops.next()?;
            let width = ops.next()?;
            skip_range(ops, width)?;
            add_kind(set, kind);
        }
        encoding::RANGE_LIST => {
            let kind = ops.next()?;
            let count = ops.next()?;
            let width = ops.next()?;
            for _ in 0..count {
                skip_range(ops, width)?;
            }
            add_kind(set, kind);
        }
        _ => return None,
    }
    Some(())
}

fn read_string(ops: &mut impl Iterator<Item = u64>) -> Box<str> {
    let bytes: Vec<u8> = ops.take_while(|c| *c != 0).map(|c| c as u8).collect();
    text(&bytes)
}

/// Skips the two ends of a constant range.
fn skip_range(ops: &mut impl Iterator<Item = u64>, width: u64) -> Option<()> {
    let words = if width > 64 {
        let counts = ops.next()?;
        (counts & 0xffff_ffff) + (counts >> 32)
    } else {
        2
    };
    for _ in 0..words {
        ops.next()?;
    }
    Some(())
}
