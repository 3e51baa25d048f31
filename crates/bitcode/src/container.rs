//! Where in a file the modules lie: plain bitcode, wrapper header, or a section of an object file.
//!
//! A linker concatenates bitcode sections, so one section may hold several streams, each with its own
//! magic number; and one stream may hold several modules that share a string table.

use object::{Object, ObjectSection};

use crate::bitstream::{
    Block, BlockHeader, BlockInfo, Cursor, Fail, Item, Record, Res, fail, read_header, text,
};
use crate::codes::{block, identification};
use crate::error::ErrorKind;

/// `BC` 0xC0DE.
const MAGIC: [u8; 4] = [0x42, 0x43, 0xC0, 0xDE];
/// 0x0B17C0DE, little-endian.
const WRAPPER_MAGIC: [u8; 4] = [0xDE, 0xC0, 0x17, 0x0B];
/// Names of sections that hold bitcode: ELF and COFF, Mach-O.
const SECTION_NAMES: [&str; 2] = [".llvmbc", "__bitcode"];
/// Highest bitcode epoch that this reader knows.
const MAX_EPOCH: u64 = 0;

/// One module of a file. Positions are relative to the stream, which is `file[base..base + len]`.
#[derive(Debug, Clone)]
pub(crate) struct ModuleSpan {
    /// First byte of the stream (its magic number) in the file.
    pub base: usize,
    /// Length of the stream in bytes.
    pub len: usize,
    /// The MODULE block.
    pub module: BlockHeader,
    /// Producer from the IDENTIFICATION block.
    pub producer: Box<str>,
    /// Epoch from the IDENTIFICATION block.
    pub epoch: u64,
    /// The string table's bytes.
    pub strtab: Option<(usize, usize)>,
}

fn starts_with(bytes: &[u8], at: usize, magic: [u8; 4]) -> bool {
    bytes.get(at..).is_some_and(|rest| rest.starts_with(&magic))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<usize> {
    let field = bytes.get(at..at + 4)?;
    Some(u32::from_le_bytes(field.try_into().ok()?) as usize)
}

/// The range that a wrapper header at `at` describes.
fn unwrap_header(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let (offset, size) = (u32_at(bytes, at + 8)?, u32_at(bytes, at + 12)?);
    let start = at.checked_add(offset)?;
    let end = start.checked_add(size)?;
    (end <= bytes.len()).then_some((start, end))
}

/// Finds all modules of a file. The failure's bit is relative to the file.
pub(crate) fn find_modules(file: &[u8]) -> Res<Vec<ModuleSpan>> {
    let mut modules = Vec::new();
    if starts_with(file, 0, MAGIC) || starts_with(file, 0, WRAPPER_MAGIC) {
        scan(file, 0, file.len(), &mut modules)?;
    } else {
        for (start, end) in bitcode_sections(file)? {
            scan(file, start, end, &mut modules)?;
        }
    }
    if modules.is_empty() {
        return fail(0, ErrorKind::Bitstream("no module in the file"));
    }
    Ok(modules)
}

fn bitcode_sections(file: &[u8]) -> Res<Vec<(usize, usize)>> {
    let Ok(object) = object::File::parse(file) else {
        return fail(0, ErrorKind::NotBitcode);
    };
    let mut ranges = Vec::new();
    for section in object.sections() {
        let named = section.name().is_ok_and(|n| SECTION_NAMES.contains(&n));
        if let (true, Some((start, size))) = (named, section.file_range()) {
            let end = start.saturating_add(size).min(file.len() as u64) as usize;
            let start = (start as usize).min(end);
            if end - start > MAGIC.len() {
                ranges.push((start, end));
            }
        }
    }
    if ranges.is_empty() {
        let format = format!("{:?}, {:?}", object.format(), object.architecture());
        return fail(0, ErrorKind::NoBitcodeSection(format));
    }
    Ok(ranges)
}

/// Walks streams that follow one another in `file[start..end]`.
fn scan(file: &[u8], mut start: usize, end: usize, out: &mut Vec<ModuleSpan>) -> Res<()> {
    while start < end {
        if starts_with(file, start, WRAPPER_MAGIC) {
            let Some((inner, inner_end)) = unwrap_header(file, start) else {
                return fail(start as u64 * 8, ErrorKind::Bitstream("wrapper header"));
            };
            if !starts_with(file, inner, MAGIC)
                || inner_end > end
                || inner_end <= inner + MAGIC.len()
            {
                return fail(start as u64 * 8, ErrorKind::Bitstream("wrapper header"));
            }
            scan_stream(file, inner, inner_end, out)?;
            start = inner_end;
        } else if starts_with(file, start, MAGIC) {
            start = scan_stream(file, start, end, out)?;
        } else if file.get(start) == Some(&0) {
            start += 1;
        } else if out.is_empty() {
            return fail(start as u64 * 8, ErrorKind::NotBitcode);
        } else {
            return fail(
                start as u64 * 8,
                ErrorKind::Bitstream("bytes after bitcode"),
            );
        }
    }
    Ok(())
}

fn rebase(base: usize) -> impl Fn(Box<Fail>) -> Box<Fail> {
    move |mut error| {
        error.bit += base as u64 * 8;
        error
    }
}

/// Walks the top-level blocks of the stream at `base`; returns where it ends.
fn scan_stream(file: &[u8], base: usize, end: usize, out: &mut Vec<ModuleSpan>) -> Res<usize> {
    let Some(stream) = file.get(base..end) else {
        return fail(base as u64 * 8, ErrorKind::UnexpectedEnd);
    };
    let first = out.len();
    let mut identity = (Box::<str>::from(""), 0);
    let mut pos = MAGIC.len();
    while pos + 4 <= stream.len() {
        if starts_with(stream, pos, MAGIC) || starts_with(stream, pos, WRAPPER_MAGIC) {
            break;
        }
        if u32_at(stream, pos) == Some(0) {
            pos += 4;
            continue;
        }
        let mut cursor = Cursor::new(stream, pos as u64 * 8, stream.len() as u64 * 8);
        if cursor.fixed(2) != 1 {
            let bit = (base + pos) as u64 * 8;
            return fail(bit, ErrorKind::Bitstream("top-level block expected"));
        }
        let header = read_header(&mut cursor).map_err(rebase(base))?;
        match header.id {
            block::IDENTIFICATION => {
                identity = read_identification(stream, header).map_err(rebase(base))?;
            }
            block::MODULE => out.push(ModuleSpan {
                base,
                len: stream.len(),
                module: header,
                producer: identity.0.clone(),
                epoch: identity.1,
                strtab: None,
            }),
            block::STRTAB => {
                let blob = read_blob(stream, header).map_err(rebase(base))?;
                for module in out.iter_mut().skip(first) {
                    module.strtab = module.strtab.or(blob);
                }
            }
            _ => {}
        }
        pos = (header.end / 8) as usize;
    }
    let used = pos.min(stream.len());
    // Fewer than four bytes after the last block are padding.
    let stop = if stream.len() - used < 4 {
        stream.len()
    } else {
        used
    };
    for module in out.iter_mut().skip(first) {
        module.len = stop;
    }
    Ok(base + stop)
}

fn read_identification(stream: &[u8], header: BlockHeader) -> Res<(Box<str>, u64)> {
    let info = BlockInfo::default();
    let mut block = Block::new(stream, header, &info);
    let mut record = Record::default();
    let (mut producer, mut epoch) = (Box::<str>::from(""), 0);
    loop {
        match block.next(&mut record)? {
            Item::End => break,
            Item::Record if record.code == identification::STRING => producer = record.text(0),
            Item::Record if record.code == identification::EPOCH => epoch = record.get(0),
            _ => {}
        }
    }
    if epoch > MAX_EPOCH {
        let what = ErrorKind::Unsupported {
            what: "epoch",
            number: epoch,
        };
        return fail(header.start, what);
    }
    Ok((producer, epoch))
}

/// The first blob of a block (STRTAB).
fn read_blob(stream: &[u8], header: BlockHeader) -> Res<Option<(usize, usize)>> {
    let info = BlockInfo::default();
    let mut block = Block::new(stream, header, &info);
    let mut record = Record::default();
    let mut blob = None;
    loop {
        match block.next(&mut record)? {
            Item::End => return Ok(blob),
            Item::Record => blob = blob.or(record.blob),
            Item::Block(_) => {}
        }
    }
}

/// A name of the string table.
pub(crate) fn strtab_name(strtab: &[u8], offset: u64, size: u64) -> Option<Box<str>> {
    let start = usize::try_from(offset).ok()?;
    let end = start.checked_add(usize::try_from(size).ok()?)?;
    strtab.get(start..end).map(text)
}
