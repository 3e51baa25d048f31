//! Record forms of LLVM 20 and later, which no compiler of the test machines writes yet, on hand-made
//! modules.

use crate::codes::{attr, block, cst, func, md, module, ty};
use crate::testing::BitWriter;
use crate::{
    AttrKind, DebugRecordKind, DebugValue, MetadataId, ModRef, RawConst, RawInstKind, RawModule,
    ValueId,
};

const VOID: u64 = 0;
const PTR: u64 = 1;
const FN: u64 = 2;
const I64: u64 = 3;

/// Values: 0 the function, 1 the constant 64, 2 an unknown constant, 3 the argument.
/// Metadata: 0 the constant 64, 1 a member of that size, 2 a location, 3 a struct of that member.
fn newer_module(body: impl FnOnce(&mut BitWriter)) -> RawModule {
    let bytes = BitWriter::bitcode()
        .block(block::MODULE, 3, |w| {
            w.record(module::VERSION, &[1]);
            attributes(w);
            w.block(block::TYPE_NEW, 4, |w| {
                w.record(ty::VOID, &[]);
                w.record(ty::OPAQUE_POINTER, &[0]);
                w.record(ty::FUNCTION, &[0, VOID, PTR]);
                w.record(ty::INTEGER, &[64]);
            });
            w.record(module::FUNCTION, &[FN, 0, 0, 0, 1, 0, 0, 0]);
            w.block(block::CONSTANTS, 4, |w| {
                w.record(cst::SETTYPE, &[I64]);
                w.record(cst::INTEGER, &[64 << 1]);
                w.record(999, &[1, 2, 3]);
            });
            w.block(block::METADATA, 4, |w| {
                w.record(md::VALUE, &[I64, 1]);
                // Size and offset are nodes when bit 1 of the head is set.
                w.record(md::DERIVED_TYPE, &[2, 0x0d, 0, 0, 7, 0, 0, 1, 0, 1, 0, 0]);
                // Key instructions add group and rank.
                w.record(md::LOCATION, &[0, 12, 34, 1, 0, 1, 5, 6]);
                w.record(
                    md::COMPOSITE_TYPE,
                    &[4, 0x13, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0],
                );
            });
            w.block(block::FUNCTION, 4, body);
        })
        .finish();
    RawModule::parse(bytes, "newer.bc").expect("a valid module")
}

fn attributes(w: &mut BitWriter) {
    const CAPTURES: u64 = AttrKind::Captures as u64;
    const MEMORY: u64 = AttrKind::Memory as u64;
    const INITIALIZES: u64 = 94;
    w.block(block::PARAMATTR_GROUP, 3, |w| {
        // Parameter 1: captures(address), initializes((0, 8)), then one of an unknown encoding.
        let first = [
            1,
            1,
            1,
            CAPTURES,
            0x33,
            8,
            INITIALIZES,
            1,
            64,
            0,
            16,
            99,
            1,
            2,
        ];
        w.record(attr::GROUP_ENTRY, &first);
        // The function: memory(argmem: read), range of 128 bits.
        let wide = 1 | 1 << 32;
        let second = [2, 0xFFFF_FFFF, 1, MEMORY, 1, 7, 92, 128, wide, 0, 2, 0, 17];
        w.record(attr::GROUP_ENTRY, &second);
    });
    w.block(block::PARAMATTR, 3, |w| {
        w.record(attr::ENTRY, &[1, 2]);
    });
}

fn plain_body(w: &mut BitWriter) {
    w.record(func::DECLARE_BLOCKS, &[1]).record(func::RET, &[]);
}

#[test]
fn captures_and_ranges() {
    let module = newer_module(plain_body);
    let attrs = module.attrs_or_empty(module.functions[0].attrs);
    let captures = attrs.param(0).captures().expect("captures");
    assert!(captures.address && !captures.provenance);
    assert!(attrs.param(0).no_capture());
    let effects = attrs.function().memory();
    assert_eq!((effects.args, effects.other), (ModRef::Ref, ModRef::None));
    assert!(effects.only_reads());
    // What follows a range of several words is still read.
    assert!(attrs.function().has(AttrKind::NoReturn));
}

#[test]
fn sizes_as_metadata() {
    let module = newer_module(plain_body);
    let md = module.metadata();
    let member = md.derived_type(MetadataId(1)).expect("a member");
    assert_eq!(
        (member.size_bits, member.offset_bits, member.line),
        (64, 64, 7)
    );
    let structure = md.composite_type(MetadataId(3)).expect("a struct");
    assert_eq!(structure.size_bits, 64);
    let location = md.location(MetadataId(2)).expect("a location");
    assert_eq!(
        (location.line, location.col, location.implicit),
        (12, 34, true)
    );
}

#[test]
fn unknown_constants_of_the_module_survive() {
    let module = newer_module(plain_body);
    let constant = module.constant(ValueId(2)).expect("a constant");
    assert_eq!(constant.kind, RawConst::Unknown { code: 999 });
    assert!(module.decode_body(0).is_ok());
    // In a function, only that body is lost.
    let module = newer_module(|w| {
        w.record(func::DECLARE_BLOCKS, &[1]);
        w.block(block::CONSTANTS, 4, |w| {
            w.record(999, &[]);
        });
        w.record(func::RET, &[]);
    });
    assert!(module.decode_body(0).is_err());
}

#[test]
fn locations_with_atoms_and_declared_values() {
    let module = newer_module(|w| {
        w.record(func::DECLARE_BLOCKS, &[1]);
        w.record(func::LOAD, &[1, I64, 4, 0]);
        w.record(func::DEBUG_LOC, &[5, 6, 3, 0, 0, 7, 1]);
        w.record(func::DEBUG_RECORD_DECLARE_VALUE, &[2, 3, 3, 0]);
        w.record(func::RET, &[]);
        w.record(func::DEBUG_LOC_AGAIN, &[]);
        // A label stands before the return.
        w.record(func::DEBUG_RECORD_LABEL, &[2, 3]);
    });
    let body = module.decode_body(0).expect("a valid body");
    assert!(matches!(body.insts[0].kind, RawInstKind::Load { .. }));
    let loc = body
        .loc(body.insts[0].loc.expect("a location"))
        .expect("a location");
    assert_eq!((loc.line, loc.col, loc.scope), (5, 6, Some(MetadataId(2))));
    assert_eq!(body.insts[0].loc, body.insts[1].loc);
    let [value, label] = &body.debug_records[..] else {
        panic!("{:?}", body.debug_records);
    };
    assert_eq!((value.kind, value.before), (DebugRecordKind::Value, 0));
    assert_eq!(value.value, DebugValue::Value(ValueId(1)));
    let loc = body
        .loc(value.loc.expect("a location"))
        .expect("a location");
    assert_eq!((loc.line, loc.col), (12, 34));
    assert_eq!((label.kind, label.before), (DebugRecordKind::Label, 1));
    assert_eq!(label.expression, None);
}
