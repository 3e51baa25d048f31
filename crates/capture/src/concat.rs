//! Where does one unit end in what a clang for several sources has written?
//!
//! For each source in turn clang writes its bitcode and then, behind it, the Make rules of its dependencies. Bitcode is walked by its
//! top-level blocks; the rules end where the next bitcode begins, which a byte shows that UTF-8 never has. A clang that keeps several
//! lists of dependencies at once writes those of earlier sources again: the rule that starts with the source is the one of its unit.
//!
//! Invariant: what is given back is all that was written, in the order of the sources; anything else is no answer. Names
//! of files that are not UTF-8 are no answer either.

use crate::{depfile, embedded};

/// Ids of the blocks that bitcode consists of: identification, module, string table, symbol table.
const IDENTIFICATION: u32 = 13;
const MODULE: u32 = 8;
const STRING_TABLE: u32 = 23;
const SYMBOL_TABLE: u32 = 25;

/// In both magic numbers of bitcode, and in no text.
const NOT_TEXT: u8 = 0xC0;

/// What clang wrote for one source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece<'a> {
    pub bitcode: &'a [u8],
    /// The Make rule of what the unit has read.
    pub dependencies: &'a str,
}

/// Takes `output` apart into the pieces of `sources`. `None`: it is not that.
pub(crate) fn split<'a>(output: &'a [u8], sources: &[&str]) -> Option<Vec<Piece<'a>>> {
    let mut rest = output;
    let mut pieces = Vec::with_capacity(sources.len());
    for source in sources {
        let (bitcode, behind) = rest.split_at_checked(module_size(rest)?)?;
        let (rules, next) = behind.split_at_checked(text_size(behind)?)?;
        let dependencies = depfile::rule_of(std::str::from_utf8(rules).ok()?, source)?;
        pieces.push(Piece {
            bitcode,
            dependencies,
        });
        rest = next;
    }
    rest.is_empty().then_some(pieces)
}

/// How far the text at the start of `bytes` reaches: to the next magic number or to the end.
fn text_size(bytes: &[u8]) -> Option<usize> {
    let Some(at) = bytes.iter().position(|byte| *byte == NOT_TEXT) else {
        return Some(bytes.len());
    };
    // It is the third byte of the one and the second one of the other.
    let starts = [at.checked_sub(2), at.checked_sub(1)];
    let is_magic = |start: &usize| bytes.get(*start..).is_some_and(embedded::is_raw);
    starts.into_iter().flatten().find(is_magic)
}

/// The size of the bitcode at the start of `bytes`, which holds one module.
fn module_size(bytes: &[u8]) -> Option<usize> {
    if let Some(size) = embedded::wrapped_size(bytes) {
        return Some(size);
    }
    if !embedded::is_raw(bytes) {
        return None;
    }
    let mut size = 4;
    let mut modules = 0;
    while let Some(rest) = bytes.get(size..)
        && let Some((id, length)) = embedded::block(rest)
        && matches!(id, IDENTIFICATION | MODULE | STRING_TABLE | SYMBOL_TABLE)
    {
        modules += u32::from(id == MODULE);
        size = size.checked_add(length)?;
    }
    (modules == 1 && size <= bytes.len()).then_some(size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn block(id: u32, words: u32) -> Vec<u8> {
        let mut bytes = (1 | (id << 2) | (3 << 10)).to_le_bytes().to_vec();
        bytes.extend(words.to_le_bytes());
        // The content may look like anything, a magic number too.
        bytes.extend(b"BC\xC0\xDE".repeat(words as usize));
        bytes
    }

    fn bitcode(words: u32) -> Vec<u8> {
        let blocks = [
            (IDENTIFICATION, 1),
            (MODULE, words),
            (STRING_TABLE, 2),
            (SYMBOL_TABLE, 0),
        ];
        let mut bytes = b"BC\xC0\xDE".to_vec();
        bytes.extend(blocks.iter().flat_map(|(id, words)| block(*id, *words)));
        bytes
    }

    fn wrapped(words: u32) -> Vec<u8> {
        let inner = bitcode(words);
        let mut bytes = vec![0xDE, 0xC0, 0x17, 0x0B, 0, 0, 0, 0, 20, 0, 0, 0];
        bytes.extend((inner.len() as u32).to_le_bytes());
        bytes.extend([7, 0, 0, 1]);
        bytes.extend(inner);
        bytes.resize(bytes.len().next_multiple_of(16), 0);
        bytes
    }

    /// What clang writes for units of these sizes; the rules of earlier units come again, as it does it.
    fn written(units: &[(u32, bool)]) -> (Vec<u8>, Vec<String>, Vec<Vec<u8>>) {
        let (mut all, mut names, mut modules) = (Vec::new(), Vec::<String>::new(), Vec::new());
        for (number, (words, is_wrapped)) in units.iter().enumerate() {
            let module = if *is_wrapped {
                wrapped(*words)
            } else {
                bitcode(*words)
            };
            names.push(format!("dir/{number}.c"));
            all.extend_from_slice(&module);
            for name in names.iter().rev() {
                all.extend(format!("drip: {name} x.h \\\n  y{number}.h\n").into_bytes());
            }
            modules.push(module);
        }
        (all, names, modules)
    }

    fn split_named<'a>(output: &'a [u8], names: &[String]) -> Option<Vec<Piece<'a>>> {
        split(
            output,
            &names.iter().map(String::as_str).collect::<Vec<_>>(),
        )
    }

    #[test]
    fn what_is_not_exactly_the_sources_is_no_answer() {
        let (all, names, _) = written(&[(3, false), (4, true), (1, false)]);
        assert!(split_named(&all, &names).is_some());
        assert!(split_named(&all, &names[..2]).is_none(), "one too many");
        let swapped = [names[1].clone(), names[0].clone(), names[2].clone()];
        assert!(split_named(&all, &swapped).is_none(), "another order");
        assert!(
            split_named(&bitcode(3), &names[..1]).is_none(),
            "no dependencies"
        );
        let two_modules = [bitcode(3), block(MODULE, 1), b"drip: dir/0.c\n".to_vec()].concat();
        assert!(split_named(&two_modules, &names[..1]).is_none());
        assert!(
            split_named(b"drip: dir/0.c\n", &names[..1]).is_none(),
            "no bitcode"
        );
        assert_eq!(split_named(b"", &[]), Some(Vec::new()));
    }

    proptest! {
        #[test]
        fn what_was_put_together_is_taken_apart_again(
            units in prop::collection::vec((0_u32..40, any::<bool>()), 1..9),
        ) {
            let (all, names, modules) = written(&units);
            let pieces = split_named(&all, &names);
            prop_assert!(pieces.is_some());
            for (number, piece) in pieces.into_iter().flatten().enumerate() {
                prop_assert_eq!(piece.bitcode, &modules[number][..]);
                let rule = format!("drip: dir/{number}.c x.h \\\n  y{number}.h\n");
                prop_assert_eq!(piece.dependencies, rule);
            }
        }

        #[test]
        fn what_is_cut_never_passes_for_the_whole(cut in 1_usize..300) {
            let (all, names, _) = written(&[(3, false), (4, true), (1, false)]);
            let (whole, part) = (split_named(&all, &names), split_named(&all[..all.len().saturating_sub(cut)], &names));
            // Rules of earlier units stand behind those of the last one, and nobody asks for them.
            prop_assert!(part.is_none() || part == whole);
        }

        #[test]
        fn garbage_never_panics(
            garbage in prop::collection::vec(prop_oneof![any::<u8>(), Just(0xC0), Just(0xDE), Just(b'\n')], 0..200),
            at in 0_usize..400,
        ) {
            let _ = split(&garbage, &["a.c"]);
            let (mut all, names, _) = written(&[(3, true), (4, false)]);
            for (offset, byte) in garbage.iter().enumerate() {
                if let Some(slot) = all.get_mut(at + offset) {
                    *slot = *byte;
                }
            }
            let _ = split_named(&all, &names);
        }
    }
}
