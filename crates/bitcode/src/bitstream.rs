//! The bitstream container: abbreviations, blocks and records. Bits are read by `cursor`.
//!
//! Why not the `llvm-bitcode` crate: its cursor hides the bit position (errors need it, and so does
//! `METADATA_INDEX`), its iterators borrow one mutable reader (bodies decode in parallel from `&self`),
//! it recurses once per abbreviation definition and reserves memory from a length field (both break
//! on hostile input), and it clones a shared abbreviation per record.
//!
//! Invariants: reading past the end yields zero bits and is noticed once per record, so no read in the
//! hot path can fail or panic; no count from the input is trusted beyond the bits that are left.

pub(crate) use crate::cursor::{Cursor, Fail, Res, fail};
use crate::error::ErrorKind;

/// Widest fixed or VBR field that the format allows.
const MAX_FIELD_WIDTH: u64 = 32;
/// Most operands of one abbreviation; LLVM's largest has about 20.
const MAX_ABBREV_OPS: u64 = 4096;
/// Most abbreviations of one block.
const MAX_ABBREVS: usize = 4096;

/// Encoding of one scalar field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scalar {
    Literal(u64),
    Fixed(u8),
    Vbr(u8),
    Char6,
}

/// How a record ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tail {
    None,
    Array(Scalar),
    Blob,
}

/// The definition of an abbreviated record. The first field is the record's code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Abbrev {
    fields: Box<[Scalar]>,
    tail: Tail,
}

fn char6(index: u64) -> u64 {
    const TABLE: &[u8; 64] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._";
    u64::from(TABLE[(index & 63) as usize])
}

#[inline(always)]
fn read_scalar(cursor: &mut Cursor<'_>, scalar: Scalar) -> u64 {
    match scalar {
        Scalar::Literal(value) => value,
        Scalar::Fixed(width) => cursor.fixed(u32::from(width)),
        Scalar::Vbr(width) => cursor.vbr(u32::from(width)),
        Scalar::Char6 => char6(cursor.fixed(6)),
    }
}

/// Reads one operand of an abbreviation definition, without arrays and blobs; those come back as
/// their encoding number.
fn read_abbrev_op(cursor: &mut Cursor<'_>) -> Res<Result<Scalar, u64>> {
    if cursor.fixed(1) == 1 {
        return Ok(Ok(Scalar::Literal(cursor.vbr(8))));
    }
    let encoding = cursor.fixed(3);
    Ok(match encoding {
        1 | 2 => {
            let width = cursor.vbr(5);
            if width > MAX_FIELD_WIDTH || (encoding == 2 && width == 1) {
                return fail(cursor.pos(), ErrorKind::Bitstream("field width"));
            }
            match (encoding, width) {
                // LLVM writes a field of no bits for a value that is always zero.
                (_, 0) => Ok(Scalar::Literal(0)),
                (1, _) => Ok(Scalar::Fixed(width as u8)),
                _ => Ok(Scalar::Vbr(width as u8)),
            }
        }
        4 => Ok(Scalar::Char6),
        3 | 5 => Err(encoding),
        _ => return fail(cursor.pos(), ErrorKind::Bitstream("abbreviation encoding")),
    })
}

fn read_abbrev(cursor: &mut Cursor<'_>) -> Res<Abbrev> {
    let count = cursor.vbr(5);
    if count == 0 || count > MAX_ABBREV_OPS.min(cursor.remaining()) {
        return fail(cursor.pos(), ErrorKind::Bitstream("abbreviation length"));
    }
    let mut fields = Vec::new();
    let mut tail = Tail::None;
    let mut left = count;
    while left > 0 {
        left -= 1;
        match read_abbrev_op(cursor)? {
            Ok(scalar) => fields.push(scalar),
            Err(3) if left == 1 => {
                left = 0;
                match read_abbrev_op(cursor)? {
                    // An element must take bits, or a length field alone could fill the memory.
                    Ok(element) if !matches!(element, Scalar::Literal(_)) => {
                        tail = Tail::Array(element);
                    }
                    _ => return fail(cursor.pos(), ErrorKind::Bitstream("array element")),
                }
            }
            Err(5) if left == 0 => tail = Tail::Blob,
            Err(_) => return fail(cursor.pos(), ErrorKind::Bitstream("array or blob position")),
        }
    }
    cursor.check()?;
    if fields.is_empty() {
        return fail(
            cursor.pos(),
            ErrorKind::Bitstream("abbreviation without code"),
        );
    }
    Ok(Abbrev {
        fields: fields.into_boxed_slice(),
        tail,
    })
}

/// Abbreviations that BLOCKINFO defines, by block id.
#[derive(Debug, Clone, Default)]
pub(crate) struct BlockInfo {
    blocks: Vec<(u32, Vec<Abbrev>)>,
}

impl BlockInfo {
    fn of(&self, block: u32) -> &[Abbrev] {
        self.blocks
            .iter()
            .find(|(id, _)| *id == block)
            .map_or(&[], |(_, abbrevs)| abbrevs)
    }

    /// Reads a BLOCKINFO block.
    pub fn read(&mut self, data: &[u8], header: BlockHeader) -> Res<()> {
        const SET_BID: u32 = 1;
        let none = BlockInfo::default();
        let mut block = Block::new(data, header, &none);
        let mut record = Record::default();
        let mut current = None;
        loop {
            match block.next_keeping_abbrevs(&mut record)? {
                RawItem::End => return Ok(()),
                RawItem::Block(_) => {}
                RawItem::Abbrev(abbrev) => {
                    let Some(id) = current else {
                        return fail(block.pos(), ErrorKind::Bitstream("BLOCKINFO without id"));
                    };
                    let index = match self.blocks.iter().position(|(b, _)| *b == id) {
                        Some(index) => index,
                        None => {
                            self.blocks.push((id, Vec::new()));
                            self.blocks.len() - 1
                        }
                    };
                    let abbrevs = &mut self.blocks[index].1;
                    if abbrevs.len() >= MAX_ABBREVS {
                        return fail(block.pos(), ErrorKind::Limit("abbreviations"));
                    }
                    abbrevs.push(abbrev);
                }
                RawItem::Record if record.code == SET_BID => {
                    current = record.ops.first().map(|id| *id as u32);
                }
                RawItem::Record => {}
            }
        }
    }
}

/// A record: its code, its operands, and where its blob lies.
#[derive(Debug, Clone, Default)]
pub(crate) struct Record {
    /// Code of the record.
    pub code: u32,
    /// Operands, array elements included.
    pub ops: Vec<u64>,
    /// Byte range of the blob inside the stream.
    pub blob: Option<(usize, usize)>,
    /// Bit position at which the record starts (its abbreviation id).
    pub bit: u64,
}

impl Record {
    /// The operand with this number, 0 when absent.
    pub fn get(&self, index: usize) -> u64 {
        self.ops.get(index).copied().unwrap_or(0)
    }

    /// The operands from `start` on as text.
    pub fn text(&self, start: usize) -> Box<str> {
        let bytes: Vec<u8> = self.ops.iter().skip(start).map(|c| *c as u8).collect();
        text(&bytes)
    }
}

/// Bytes as text; what is not UTF-8 becomes `\xNN`, so that different names stay different.
pub(crate) fn text(bytes: &[u8]) -> Box<str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return text.into();
    }
    let mut out = String::with_capacity(bytes.len() + 8);
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        for byte in chunk.invalid() {
            out.push_str(&format!("\\x{byte:02x}"));
        }
    }
    out.into_boxed_str()
}

/// Where a block lies, without its contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlockHeader {
    /// Block id.
    pub id: u32,
    /// Bits of an abbreviation id.
    pub width: u32,
    /// First bit of the contents.
    pub start: u64,
    /// Bit after the last one.
    pub end: u64,
}

/// What comes next in a block.
pub(crate) enum Item {
    /// End of the block.
    End,
    /// A nested block, already skipped over.
    Block(BlockHeader),
    /// A record, now in the buffer.
    Record,
}

enum RawItem {
    End,
    Block(BlockHeader),
    Record,
    Abbrev(Abbrev),
}

/// A reader of one block's items.
#[derive(Debug)]
pub(crate) struct Block<'a> {
    cursor: Cursor<'a>,
    width: u32,
    shared: &'a [Abbrev],
    local: Vec<Abbrev>,
}

const END_BLOCK: u64 = 0;
const ENTER_SUBBLOCK: u64 = 1;
const DEFINE_ABBREV: u64 = 2;
const UNABBREV_RECORD: u64 = 3;
const FIRST_ABBREV: u64 = 4;

/// Reads the header that follows an ENTER_SUBBLOCK id.
pub(crate) fn read_header(cursor: &mut Cursor<'_>) -> Res<BlockHeader> {
    let at = cursor.pos();
    let id = cursor.vbr(8);
    let width = cursor.vbr(4);
    cursor.align32();
    let words = cursor.fixed(32);
    cursor.check()?;
    let start = cursor.pos();
    let end = start + words * 32;
    if !(2..=32).contains(&width) {
        return fail(at, ErrorKind::Bitstream("abbreviation id width"));
    }
    if end > cursor.end() {
        return fail(at, ErrorKind::UnexpectedEnd);
    }
    Ok(BlockHeader {
        id: id as u32,
        width: width as u32,
        start,
        end,
    })
}

impl<'a> Block<'a> {
    /// A reader for the block with this header.
    pub fn new(data: &'a [u8], header: BlockHeader, info: &'a BlockInfo) -> Self {
        Self {
            cursor: Cursor::new(data, header.start, header.end),
            width: header.width,
            shared: info.of(header.id),
            local: Vec::new(),
        }
    }

    /// A reader that continues with abbreviations defined earlier, for records read on demand.
    pub fn resume(data: &'a [u8], header: BlockHeader, info: &'a BlockInfo, bit: u64) -> Self {
        let mut block = Self::new(data, header, info);
        block.cursor.seek(bit);
        block
    }

    /// Current bit position.
    pub fn pos(&self) -> u64 {
        self.cursor.pos()
    }

    /// Jumps to a bit position; what lies outside the block is noticed by the next read.
    pub fn seek(&mut self, bit: u64) {
        self.cursor.seek(bit);
    }

    /// The abbreviations defined inside this block so far.
    pub fn take_local_abbrevs(&mut self) -> Vec<Abbrev> {
        std::mem::take(&mut self.local)
    }

    /// Reads the next item; records go to `record`.
    #[inline]
    pub fn next(&mut self, record: &mut Record) -> Res<Item> {
        loop {
            match self.next_keeping_abbrevs(record)? {
                RawItem::End => return Ok(Item::End),
                RawItem::Block(header) => return Ok(Item::Block(header)),
                RawItem::Record => return Ok(Item::Record),
                RawItem::Abbrev(abbrev) => {
                    if self.local.len() >= MAX_ABBREVS {
                        return fail(self.pos(), ErrorKind::Limit("abbreviations"));
                    }
                    self.local.push(abbrev);
                }
            }
        }
    }

    #[inline]
    fn next_keeping_abbrevs(&mut self, record: &mut Record) -> Res<RawItem> {
        record.bit = self.cursor.pos();
        let id = self.cursor.fixed(self.width);
        match id {
            UNABBREV_RECORD => self.read_unabbreviated(record)?,
            END_BLOCK => {
                self.cursor.check()?;
                return Ok(RawItem::End);
            }
            ENTER_SUBBLOCK => {
                let header = read_header(&mut self.cursor)?;
                self.cursor.seek(header.end);
                return Ok(RawItem::Block(header));
            }
            DEFINE_ABBREV => return Ok(RawItem::Abbrev(read_abbrev(&mut self.cursor)?)),
            _ => {
                let index = (id - FIRST_ABBREV) as usize;
                let abbrev = match self.shared.get(index) {
                    Some(abbrev) => abbrev,
                    None => match self.local.get(index - self.shared.len()) {
                        Some(abbrev) => abbrev,
                        None => {
                            return fail(record.bit, ErrorKind::Bitstream("abbreviation number"));
                        }
                    },
                };
                read_abbreviated(&mut self.cursor, abbrev, record)?;
            }
        }
        self.cursor.check()?;
        Ok(RawItem::Record)
    }

    /// Reads one record at the current position with the given local abbreviations.
    pub fn record_with(&mut self, local: &[Abbrev], record: &mut Record) -> Res<()> {
        record.bit = self.cursor.pos();
        let id = self.cursor.fixed(self.width);
        if id == UNABBREV_RECORD {
            self.read_unabbreviated(record)?;
        } else {
            let shared = self.shared;
            let abbrev = id
                .checked_sub(FIRST_ABBREV)
                .map(|index| index as usize)
                .and_then(|index| {
                    let local_index = index.wrapping_sub(shared.len());
                    shared.get(index).or_else(|| local.get(local_index))
                });
            match abbrev {
                Some(abbrev) => read_abbreviated(&mut self.cursor, abbrev, record)?,
                None => return fail(record.bit, ErrorKind::Bitstream("not a record")),
            }
        }
        self.cursor.check()
    }

    fn read_unabbreviated(&mut self, record: &mut Record) -> Res<()> {
        let cursor = &mut self.cursor;
        record.code = cursor.vbr(6) as u32;
        let count = cursor.vbr(6);
        if count > cursor.remaining() / 6 {
            return fail(record.bit, ErrorKind::UnexpectedEnd);
        }
        record.blob = None;
        record.ops.clear();
        record.ops.extend((0..count).map(|_| cursor.vbr(6)));
        Ok(())
    }
}

fn read_abbreviated(cursor: &mut Cursor<'_>, abbrev: &Abbrev, record: &mut Record) -> Res<()> {
    record.blob = None;
    record.ops.clear();
    let Some((code, fields)) = abbrev.fields.split_first() else {
        return fail(
            record.bit,
            ErrorKind::Bitstream("abbreviation without code"),
        );
    };
    record.code = read_scalar(cursor, *code) as u32;
    for field in fields {
        let value = read_scalar(cursor, *field);
        record.ops.push(value);
    }
    match abbrev.tail {
        Tail::None => {}
        Tail::Array(element) => {
            let count = cursor.vbr(6);
            let width = match element {
                Scalar::Fixed(width) | Scalar::Vbr(width) => u64::from(width),
                _ => 6,
            };
            if count > cursor.remaining() / width.max(1) {
                return fail(record.bit, ErrorKind::UnexpectedEnd);
            }
            record
                .ops
                .extend((0..count).map(|_| read_scalar(cursor, element)));
        }
        Tail::Blob => {
            let len = cursor.vbr(6);
            cursor.align32();
            if len > cursor.remaining() / 8 {
                return fail(record.bit, ErrorKind::UnexpectedEnd);
            }
            let start = (cursor.pos() / 8) as usize;
            cursor.seek(cursor.pos() + len * 8);
            cursor.align32();
            record.blob = Some((start, start + len as usize));
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "bitstream_tests.rs"]
mod tests;
