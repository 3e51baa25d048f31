//! A thousand damaged files: each ends in a clear error, or in a module whose bodies decode or fail
//! alone. Nothing panics, hangs, or reads out of bounds.

mod common;

use common::{CAPTURE_FLAGS, clang_versions, compile, run_clang, source};
use drip_bitcode::{MetadataId, RawModule, ValueId};

/// Files per run; each seed file gets its share.
const DAMAGED_FILES: usize = 1000;

/// A small generator of random numbers (xorshift), so that every run makes the same files.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }
}

/// Flips bits, overwrites words, cuts off, duplicates or removes ranges.
fn damage(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut out = bytes.to_vec();
    for _ in 0..1 + random.below(4) {
        let at = random.below(out.len());
        match random.below(6) {
            0 | 1 => out[at] ^= 1 << random.below(8),
            2 => out[at] = random.next() as u8,
            3 => {
                let end = (at + 4).min(out.len());
                let word = [0, u32::MAX, 1 << 31, random.next() as u32][random.below(4)];
                out[at..end].copy_from_slice(&word.to_le_bytes()[..end - at]);
            }
            4 => {
                let end = (at + random.below(64)).min(out.len());
                out.drain(at..end);
            }
            _ => {
                let end = (at + random.below(64)).min(out.len());
                let copy = out[at..end].to_vec();
                let to = random.below(out.len());
                out.splice(to..to, copy);
            }
        }
        if out.is_empty() {
            return out;
        }
    }
    if random.below(8) == 0 {
        let len = random.below(out.len());
        out.truncate(len);
    }
    out
}

/// Reads everything that a client could ask for.
fn read_all(bytes: &[u8]) -> (usize, usize) {
    let modules = match RawModule::parse_all(bytes, "damaged.bc") {
        Ok(modules) => modules,
        Err(error) => {
            assert!(error.offset() <= bytes.len() as u64, "{error}");
            assert!(!error.to_string().is_empty());
            return (0, 1);
        }
    };
    let mut errors = 0;
    for module in &modules {
        for index in 0..module.functions.len() {
            match module.decode_body(index) {
                Ok(body) => check_body(module, &body),
                Err(error) if module.has_body(index) => {
                    assert!(error.offset() <= bytes.len() as u64, "{error}");
                    errors += 1;
                }
                Err(_) => {}
            }
            let _ = module.value_names(index);
            let attrs = module.attrs_or_empty(module.functions[index].attrs);
            let _ = (attrs.function().memory(), attrs.param(0).no_capture());
        }
        let md = module.metadata();
        for id in (0..5000).map(MetadataId) {
            let _ = (md.node(id), md.member_at(id, 8), md.is_pointer_to_const(id));
        }
    }
    (modules.len(), errors)
}

/// The invariants that clients rely on.
fn check_body(module: &RawModule, body: &drip_bitcode::RawBody) {
    let md = body.metadata(module);
    let exists = |id: ValueId| body.value_type(module, id).is_some();
    let mut in_blocks = 0;
    for (block, range) in body.blocks.iter().enumerate() {
        let insts = range.of(&body.insts);
        in_blocks += insts.len();
        let (last, rest) = insts.split_last().expect("a block is never empty");
        assert!(last.kind.is_terminator(), "block {block}");
        assert!(
            !rest.iter().any(|inst| inst.kind.is_terminator()),
            "block {block}"
        );
    }
    assert_eq!(in_blocks, body.insts.len());
    for inst in &body.insts {
        assert!(module.ty(inst.ty).is_some());
        assert!(inst.result.is_none_or(exists));
        body.visit_operands(inst, |operand| match operand {
            drip_bitcode::OperandKind::Value(id) => assert!(exists(id), "{id} in {inst:?}"),
            drip_bitcode::OperandKind::Block(id) => assert!(id.index() < body.blocks.len()),
            drip_bitcode::OperandKind::Metadata(id) => {
                let _ = md.node(id);
            }
        });
        if let Some(loc) = inst.loc.and_then(|id| body.loc(id)) {
            let _ = (md.source_loc(loc), md.inlined_at(loc));
        }
    }
    for record in &body.debug_records {
        let _ = (md.local_variable(record.variable), record.value);
    }
}

#[test]
fn damaged_files_end_in_errors_or_modules() {
    let mut seeds = Vec::new();
    for version in clang_versions() {
        for flags in [CAPTURE_FLAGS, &["-g", "-O2"]] {
            seeds.push(compile(version, &source("statements.c"), flags));
        }
    }
    seeds.push(compile(19, &source("funclets.cpp"), &["-g", "-O0"]));
    seeds.push(run_clang(
        14,
        &source("funclets.cpp"),
        &["-O0", "-fembed-bitcode=all"],
    ));
    let seeds: Vec<Vec<u8>> = seeds
        .into_iter()
        .map(|path| {
            let bytes = std::fs::read(&path).expect("read seed");
            std::fs::remove_file(path).expect("remove seed");
            bytes
        })
        .collect();
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let (mut survived, mut refused) = (0, 0);
    for number in 0..DAMAGED_FILES {
        let damaged = damage(&seeds[number % seeds.len()], &mut random);
        let (modules, errors) = read_all(&damaged);
        survived += usize::from(modules > 0);
        refused += usize::from(errors > 0);
    }
    // Both happen often, else the damage is too mild or too wild to test anything.
    assert!(
        survived > DAMAGED_FILES / 10,
        "{survived} of {DAMAGED_FILES}"
    );
    assert!(refused > DAMAGED_FILES / 10, "{refused} of {DAMAGED_FILES}");
}
