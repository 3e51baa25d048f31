//! Where metadata lies: numbers → strings and records, without decoding the records.
//!
//! Debug info is more than half of a `-g` module, and a run asks for a small part of it. So a table only
//! knows where each string and each record starts. In a module's table LLVM's own METADATA_INDEX tells
//! that without walking the records; function tables are small and get walked.
//!
//! Known limits: `METADATA_STRING_OLD` (LLVM ≤ 3.8) counts but reads as absent.

use crate::bitstream::{Abbrev, Block, BlockHeader, BlockInfo, Cursor, Item, Record, Res, fail};
use crate::codes::md;
use crate::error::ErrorKind;
use crate::ids::MetadataId;

/// A block whose records are read on demand.
#[derive(Debug, Clone)]
struct Source {
    header: BlockHeader,
    abbrevs: Vec<Abbrev>,
}

/// One entry, packed: bit 63 set for a string (length, start byte), else source (16 bits) and bit
/// position (47 bits).
#[derive(Debug, Clone, Copy)]
struct Entry(u64);

/// Most METADATA blocks of one table; LLVM writes one.
const MAX_SOURCES: usize = 1 << 15;
const SOURCE_SHIFT: u32 = 47;
const STRING_TAG: u64 = 1 << 63;

/// The metadata of a module or of one function.
#[derive(Debug, Clone, Default)]
pub(crate) struct MdTable {
    /// Number of the first entry.
    first: u32,
    entries: Vec<Entry>,
    sources: Vec<Source>,
}

/// What a module's metadata says besides its nodes.
#[derive(Debug, Default)]
pub(crate) struct MdExtras {
    /// `!dbg` of globals and declarations: value number, node.
    pub dbg: Vec<(u64, MetadataId)>,
    /// Named metadata.
    pub named: Vec<(Box<str>, Vec<MetadataId>)>,
}

pub(crate) fn md_id(op: u64) -> MetadataId {
    MetadataId(u32::try_from(op).unwrap_or(u32::MAX))
}

impl MdTable {
    /// An empty table whose first entry will have this number.
    pub fn starting_at(first: u32) -> Self {
        Self {
            first,
            ..Self::default()
        }
    }

    /// The number after the last entry.
    pub fn end(&self) -> u32 {
        self.first + self.entries.len() as u32
    }

    /// Reads a METADATA block.
    pub fn read(
        &mut self,
        data: &[u8],
        header: BlockHeader,
        info: &BlockInfo,
        record: &mut Record,
        extras: &mut MdExtras,
    ) -> Res<()> {
        let mut block = Block::new(data, header, info);
        let mut name = None;
        if self.sources.len() >= MAX_SOURCES {
            return fail(header.start, ErrorKind::Limit("metadata blocks"));
        }
        loop {
            match block.next(record)? {
                Item::End => break,
                Item::Block(_) => continue,
                Item::Record => {}
            }
            match record.code {
                md::STRINGS => self.read_strings(data, record)?,
                md::INDEX_OFFSET => self.read_index(&mut block, record, header)?,
                md::NAME => name = Some(record.text(0)),
                md::NAMED_NODE => {
                    let nodes = record.ops.iter().map(|id| md_id(*id)).collect();
                    extras.named.push((name.take().unwrap_or_default(), nodes));
                }
                md::GLOBAL_DECL_ATTACHMENT => {
                    if let [value, pairs @ ..] = &record.ops[..] {
                        let dbg = pairs.chunks_exact(2).filter(|p| p[0] == md::KIND_DBG);
                        extras.dbg.extend(dbg.map(|p| (*value, md_id(p[1]))));
                    }
                }
                md::INDEX | md::KIND => {}
                _ => self.push_record(record.bit),
            }
        }
        self.sources.push(Source {
            header,
            abbrevs: block.take_local_abbrevs(),
        });
        Ok(())
    }

    fn push_record(&mut self, bit: u64) {
        let source = (self.sources.len() as u64) << SOURCE_SHIFT;
        self.entries.push(Entry(source | bit));
    }

    /// METADATA_STRINGS: count, offset of the characters, and a blob of lengths and characters.
    fn read_strings(&mut self, data: &[u8], record: &Record) -> Res<()> {
        let bad = || fail(record.bit, ErrorKind::InvalidRecord("metadata strings"));
        let (&[count, offset, ..], Some((start, end))) = (&record.ops[..], record.blob) else {
            return bad();
        };
        let size = (end - start) as u64;
        if offset > size || count > offset * 8 / 6 {
            return bad();
        }
        let mut lengths = Cursor::new(data, start as u64 * 8, (start as u64 + offset) * 8);
        let mut at = start as u64 + offset;
        self.entries.reserve(count as usize);
        for _ in 0..count {
            let len = lengths.vbr(6);
            if lengths.overrun() || len > end as u64 - at || len >= 1 << 31 {
                return bad();
            }
            self.entries.push(Entry(STRING_TAG | len << 32 | at));
            at += len;
        }
        Ok(())
    }

    /// METADATA_INDEX_OFFSET: jumps to the index, takes the positions from it, and leaves the block
    /// behind the index. Without a usable index the records get walked.
    fn read_index(
        &mut self,
        block: &mut Block<'_>,
        record: &mut Record,
        at: BlockHeader,
    ) -> Res<()> {
        let begin = block.pos();
        let offset = record.get(0) | record.get(1) << 32;
        let target = begin.saturating_add(offset);
        if target >= at.end {
            return Ok(());
        }
        block.seek(target);
        let found = matches!(block.next(record), Ok(Item::Record)) && record.code == md::INDEX;
        let mut bit = begin;
        let valid = found
            && record.ops.iter().all(|delta| {
                bit = bit.saturating_add(*delta);
                bit < target
            });
        if !valid {
            block.seek(begin);
            return Ok(());
        }
        let mut bit = begin;
        self.entries.reserve(record.ops.len());
        for delta in &record.ops {
            bit += delta;
            self.push_record(bit);
        }
        Ok(())
    }

    fn entry(&self, id: MetadataId) -> Option<Entry> {
        let index = id.0.checked_sub(self.first)?;
        self.entries.get(index as usize).copied()
    }

    /// The bytes of a string.
    pub fn string<'d>(&self, data: &'d [u8], id: MetadataId) -> Option<&'d [u8]> {
        let entry = self.entry(id)?.0;
        if entry & STRING_TAG == 0 {
            return None;
        }
        let start = (entry & 0xffff_ffff) as usize;
        let len = (entry >> 32 & 0x7fff_ffff) as usize;
        data.get(start..start + len)
    }

    /// Reads the record of a node into `record`.
    pub fn read_node(
        &self,
        data: &[u8],
        info: &BlockInfo,
        id: MetadataId,
        record: &mut Record,
    ) -> bool {
        let Some(Entry(entry)) = self.entry(id) else {
            return false;
        };
        if entry & STRING_TAG != 0 {
            return false;
        }
        let bit = entry & ((1 << SOURCE_SHIFT) - 1);
        let Some(source) = self.sources.get((entry >> SOURCE_SHIFT) as usize) else {
            return false;
        };
        let mut block = Block::resume(data, source.header, info, bit);
        block.record_with(&source.abbrevs, record).is_ok()
    }
}
