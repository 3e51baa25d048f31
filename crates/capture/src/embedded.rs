//! Bitcode inside other files: raw, in a wrapper, in a section of an object, in the members of an archive.
//!
//! - raw: `BC C0 DE`, what `clang -emit-llvm -c` and `-flto` write; a wrapper (`0B 17 C0 DE`) may stand around it;
//! - ELF section `.llvmbc` (`-fembed-bitcode`) or `.llvm.lto` (`-ffat-lto-objects`), Mach-O `__LLVM,__bitcode`. A
//!   linker puts the sections of several objects one after the other: they are taken apart again here by walking
//!   the top-level blocks of the bit stream;
//! - `ar` archives: each member is one of these.
//!
//! Known limits: thin archives name their members by path and are refused with that reason.

use object::read::archive::ArchiveFile;
use object::{Object, ObjectSection};

const RAW_MAGIC: [u8; 4] = *b"BC\xC0\xDE";
const WRAPPER_MAGIC: [u8; 4] = [0xDE, 0xC0, 0x17, 0x0B];
const SECTION_NAMES: [&str; 4] = [".llvmbc", ".llvm.lto", "__bitcode", "__llvmbc"];

/// Does this start like bitcode itself?
pub(crate) fn is_raw(bytes: &[u8]) -> bool {
    bytes.starts_with(&RAW_MAGIC) || bytes.starts_with(&WRAPPER_MAGIC)
}

/// All bitcode modules in `bytes`; the error says why there is none.
pub(crate) fn modules(bytes: &[u8]) -> Result<Vec<Vec<u8>>, String> {
    if bytes.is_empty() {
        return Err("the file is empty".into());
    }
    if is_raw(bytes) {
        return Ok(vec![bytes.to_vec()]);
    }
    if bytes.starts_with(b"!<thin>\n") {
        return Err("it is a thin archive; name its members instead".into());
    }
    if bytes.starts_with(b"!<arch>\n") {
        return archive_modules(bytes);
    }
    object_modules(bytes)
}

fn archive_modules(bytes: &[u8]) -> Result<Vec<Vec<u8>>, String> {
    let archive = ArchiveFile::parse(bytes).map_err(|e| format!("the archive is damaged: {e}"))?;
    let mut found = Vec::new();
    for member in archive.members() {
        let data = member
            .and_then(|m| m.data(bytes))
            .map_err(|e| format!("the archive is damaged: {e}"))?;
        // Members without bitcode (assembler objects) are normal; an archive without any is not.
        found.extend(modules(data).unwrap_or_default());
    }
    if found.is_empty() {
        return Err(
            "no member of the archive has bitcode; compile with -flto or -fembed-bitcode".into(),
        );
    }
    Ok(found)
}

fn object_modules(bytes: &[u8]) -> Result<Vec<Vec<u8>>, String> {
    let file = object::File::parse(bytes)
        .map_err(|_| "it is neither a C or C++ source nor bitcode nor an object file".to_owned())?;
    let mut found = Vec::new();
    for section in file.sections() {
        if section
            .name()
            .is_ok_and(|name| SECTION_NAMES.contains(&name))
        {
            let data = section
                .data()
                .map_err(|e| format!("the object file is damaged: {e}"))?;
            found.extend(split(data));
        }
    }
    if found.is_empty() {
        return Err(
            "the object has no embedded bitcode; compile with -flto or -fembed-bitcode".into(),
        );
    }
    Ok(found)
}

/// Takes concatenated bitcode apart at each magic number that stands where a top-level block would begin.
fn split(data: &[u8]) -> Vec<Vec<u8>> {
    let mut starts = Vec::new();
    let mut position = 0;
    while position + 4 <= data.len() {
        let rest = data.get(position..).unwrap_or_default();
        if rest.starts_with(&RAW_MAGIC) {
            starts.push(position);
            position += 4;
        } else if rest.starts_with(&[0; 4]) {
            position += 4; // padding of the linker
        } else if let Some((_, size)) = block(rest).filter(|_| !starts.is_empty()) {
            position += size;
        } else {
            break;
        }
    }
    let ends = starts
        .iter()
        .skip(1)
        .copied()
        .chain([position.min(data.len())]);
    let piece = |(start, end): (&usize, usize)| data.get(*start..end).map(<[u8]>::to_vec);
    starts.iter().zip(ends).filter_map(piece).collect()
}

/// Id and size in bytes of the block that begins at `bytes`: ENTER_SUBBLOCK (2 bits, value 1), block id (vbr8), width of
/// abbreviations (vbr4), then at the next 32-bit boundary the number of words. Ids below 128 and widths below 8 fit
/// their first chunk, and the header one word.
pub(crate) fn block(bytes: &[u8]) -> Option<(u32, usize)> {
    let header = word(bytes, 0)?;
    let enters_block = header & 0b11 == 1;
    let short_id = header & (1 << 9) == 0;
    let short_width = header & (1 << 13) == 0;
    if !(enters_block && short_id && short_width) {
        return None;
    }
    let words = usize::try_from(word(bytes, 4)?).ok()?;
    Some(((header >> 2) & 0x7F, words.checked_mul(4)?.checked_add(8)?))
}

/// The size of the wrapper at the start of `bytes` with the bitcode in it: magic number, version, where the bitcode lies, its size, processor;
/// clang fills it up to a multiple of 16 bytes.
pub(crate) fn wrapped_size(bytes: &[u8]) -> Option<usize> {
    if !bytes.starts_with(&WRAPPER_MAGIC) {
        return None;
    }
    let end = word(bytes, 8)?.checked_add(word(bytes, 12)?)?;
    let size = usize::try_from(end).ok()?.checked_next_multiple_of(16)?;
    (size <= bytes.len()).then_some(size)
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(four.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A module of one empty block with the given id.
    fn module(id: u32) -> Vec<u8> {
        let mut bytes = RAW_MAGIC.to_vec();
        bytes.extend((1 | (id << 2) | (3 << 10)).to_le_bytes());
        bytes.extend(2_u32.to_le_bytes());
        bytes.extend([7; 8]);
        bytes
    }

    #[test]
    fn concatenated_modules_are_taken_apart() {
        let mut both = module(8);
        both.extend(module(13));
        assert_eq!(split(&both), [module(8), module(13)]);
        assert_eq!(split(&module(8)), [module(8)]);
    }

    #[test]
    fn damage_ends_the_walk_without_panic() {
        let mut cut = module(8);
        cut.truncate(10);
        assert!(split(&cut).len() <= 1);
        assert!(split(b"xxxxyyyy").is_empty());
        assert!(modules(b"").unwrap_err().contains("empty"));
        assert!(
            modules(b"hello world, this is text")
                .unwrap_err()
                .contains("neither")
        );
        assert!(modules(b"!<arch>\nbroken").is_err());
        assert!(modules(b"!<thin>\n").unwrap_err().contains("thin"));
    }

    #[test]
    fn huge_block_length_does_not_overflow() {
        let mut bytes = RAW_MAGIC.to_vec();
        bytes.extend((1_u32 | (8 << 2) | (3 << 10)).to_le_bytes());
        bytes.extend(u32::MAX.to_le_bytes());
        assert_eq!(split(&bytes).len(), 1);
    }
}
