//! Record forms that no installed compiler writes any more, on hand-made modules.

use crate::codes::{block, func, module, ty, vst};
use crate::testing::BitWriter;
use crate::{ErrorKind, RawBody, RawInstKind, RawModule, RawType, Result, TypeId, ValueId};

const VOID: u64 = 0;
const I32: u64 = 1;
const I32_PTR: u64 = 2;
const FN: u64 = 3;
const FN_PTR: u64 = 4;
const I1: u64 = 5;
const PAIR: u64 = 6;
const PAIR_PTR: u64 = 7;

fn types(w: &mut BitWriter) {
    w.block(block::TYPE_NEW, 4, |w| {
        w.record(ty::NUM_ENTRY, &[8]);
        w.record(ty::VOID, &[]);
        w.record(ty::INTEGER, &[32]);
        w.record(ty::POINTER, &[I32, 0]);
        // void (i32*, i32, i1, { i32, i32 }*)
        w.record(ty::FUNCTION, &[0, VOID, I32_PTR, I32, I1, PAIR_PTR]);
        w.record(ty::POINTER, &[FN, 0]);
        w.record(ty::INTEGER, &[1]);
        w.record(ty::STRUCT_ANON, &[0, I32, I32]);
        w.record(ty::POINTER, &[PAIR, 0]);
    });
}

/// A module of one global, one function with the given body, and (before version 2) a symbol table.
/// Values: 0 the global, 1 the function, 2 to 5 the arguments.
fn module(version: u64, body: impl FnOnce(&mut BitWriter)) -> Result<RawModule> {
    let bytes = BitWriter::bitcode()
        .block(block::MODULE, 3, |w| {
            w.record(module::VERSION, &[version]);
            types(w);
            // Old global: pointer type, no explicit-type flag.
            w.record(module::GLOBAL_VAR, &[I32_PTR, 0, 0, 3, 0, 0]);
            w.record(module::FUNCTION, &[FN_PTR, 0, 0, 0, 0, 0, 0, 0]);
            w.record(module::ALIAS_OLD, &[FN_PTR, 1, 0]);
            w.block(block::VALUE_SYMTAB, 4, |w| {
                w.record(vst::ENTRY, &[0, 103]);
                w.record(vst::ENTRY, &[1, 102, 110]);
                w.record(vst::ENTRY, &[2, 97]);
            });
            w.block(block::FUNCTION, 4, body);
        })
        .finish();
    RawModule::parse(bytes, "legacy.bc")
}

/// Arguments start after the global, the function and the alias.
const FIRST: u32 = 3;
const PTR: u64 = 3;
const INT: u64 = 4;
const FLAG: u64 = 5;
const PAIRS: u64 = 6;

fn body(version: u64, write: impl FnOnce(&mut BitWriter)) -> (RawModule, RawBody) {
    let module = module(version, write).expect("a valid module");
    let body = module.decode_body(0).expect("a valid body");
    (module, body)
}

#[test]
fn names_come_from_the_symbol_table() {
    let (module, _) = body(0, |w| {
        w.record(func::DECLARE_BLOCKS, &[1]).record(func::RET, &[]);
    });
    assert_eq!(&*module.globals[0].name, "g");
    assert_eq!(&*module.functions[0].name, "fn");
    assert_eq!(&*module.aliases[0].name, "a");
    assert_eq!(module.globals[0].ty, TypeId(I32 as u32));
    assert_eq!(module.functions[0].ty, TypeId(FN as u32));
    assert_eq!(module.aliases[0].target, ValueId(1));
    let global_ty = module.value_type(ValueId(0)).expect("a type");
    assert_eq!(global_ty, TypeId(I32_PTR as u32));
}

#[test]
fn absolute_operands_and_untyped_memory_records() {
    // Version 0: operands are absolute. Loads, stores and address computations without types.
    let (_, body) = body(0, |w| {
        w.record(func::DECLARE_BLOCKS, &[2]);
        w.record(func::LOAD, &[PTR, 0, 0]);
        w.record(func::STORE_OLD, &[PTR, INT, 0, 1]);
        w.record(func::GEP_OLD, &[PTR, INT]);
        w.record(func::SELECT, &[INT, 7, FLAG]);
        w.record(func::ATOMICRMW_OLD, &[PTR, INT, 1, 0, 6, 1]);
        w.record(func::CMPXCHG_OLD, &[PTR, INT, 7, 0, 6, 1]);
        w.record(func::CMP, &[INT, 7, 32]);
        w.record(func::BR, &[1]);
        w.record(func::RET, &[]);
    });
    let kinds: Vec<_> = body.insts.iter().map(|inst| inst.kind).collect();
    let (address, value) = (ValueId(PTR as u32), ValueId(INT as u32));
    assert!(
        matches!(kinds[0], RawInstKind::Load { address: a, volatile: false, .. } if a == address)
    );
    assert!(matches!(
        kinds[1],
        RawInstKind::Store { address: a, value: v, volatile: true, .. } if (a, v) == (address, value)
    ));
    assert!(matches!(
        kinds[2],
        RawInstKind::Gep {
            inbounds: false,
            ..
        }
    ));
    assert!(matches!(kinds[3], RawInstKind::Select { cond, .. } if cond == ValueId(FLAG as u32)));
    assert!(matches!(kinds[4], RawInstKind::AtomicRmw { .. }));
    // Without the weak flag, the result is the plain value.
    assert!(matches!(kinds[5], RawInstKind::CmpXchg { weak: false, .. }));
    let types: Vec<_> = body.insts.iter().map(|inst| u64::from(inst.ty.0)).collect();
    assert_eq!(types, [I32, VOID, I32_PTR, I32, I32, I32, I1, VOID, VOID]);
    assert_eq!(body.blocks.len(), 2);
}

#[test]
fn relative_operands_and_inbounds_gep() {
    let (_, body) = body(1, |w| {
        w.record(func::DECLARE_BLOCKS, &[1]);
        // Next value is 7; the pair pointer is 1 back, the int 3 back.
        w.record(func::INBOUNDS_GEP_OLD, &[1, 3]);
        w.record(func::RET, &[]);
    });
    let RawInstKind::Gep {
        operands,
        inbounds,
        source_ty,
    } = body.insts[0].kind
    else {
        panic!("{:?}", body.insts[0]);
    };
    assert!(inbounds);
    assert_eq!(source_ty, TypeId(PAIR as u32));
    let operands: Vec<_> = body.operands(operands).iter().map(|o| o.raw()).collect();
    assert_eq!(operands, [PAIRS as u32, INT as u32]);
    assert_eq!(body.insts[0].result, Some(ValueId(FIRST + 4)));
    assert_eq!(body.insts[0].ty, TypeId(PAIR_PTR as u32));
}

#[test]
fn forward_references_state_their_type() {
    let (_, body) = body(1, |w| {
        w.record(func::DECLARE_BLOCKS, &[3]);
        w.record(func::BR, &[2]);
        // add %next, …: the operand is defined by the instruction after (relative -1).
        w.record(func::BINOP, &[u64::from(u32::MAX), I32, 3, 0]);
        w.record(func::RET, &[]);
        w.record(func::BINOP, &[4, 4, 1]);
        w.record(func::BR, &[1]);
    });
    let RawInstKind::Binop { lhs, rhs, .. } = body.insts[1].kind else {
        panic!("{:?}", body.insts[1]);
    };
    assert_eq!(Some(lhs), body.insts[3].result);
    assert_eq!(rhs, ValueId(INT as u32));
}

fn body_error(write: impl FnOnce(&mut BitWriter)) -> ErrorKind {
    let module = module(1, write).expect("the module itself is valid");
    module.decode_body(0).expect_err("malformed").what
}

#[test]
fn malformed_bodies_fail_alone() {
    let unknown = body_error(|w| {
        w.record(func::DECLARE_BLOCKS, &[1]).record(99, &[]);
    });
    let (block, code) = ("instruction", 99);
    assert_eq!(unknown, ErrorKind::UnknownRecord { block, code });
    let no_block = body_error(|w| {
        w.record(func::DECLARE_BLOCKS, &[1]).record(func::BR, &[7]);
    });
    assert_eq!(no_block, ErrorKind::NoSuchBlock(7));
    let open = body_error(|w| {
        w.record(func::DECLARE_BLOCKS, &[1])
            .record(func::FENCE, &[6, 1]);
    });
    assert_eq!(open, ErrorKind::InvalidRecord("block without terminator"));
    let too_few = body_error(|w| {
        w.record(func::DECLARE_BLOCKS, &[2]).record(func::RET, &[]);
    });
    assert_eq!(too_few, ErrorKind::InvalidRecord("number of blocks"));
    let dangling = body_error(|w| {
        w.record(func::DECLARE_BLOCKS, &[1]);
        w.record(func::RESUME, &[u64::from(u32::MAX), I32]);
    });
    assert_eq!(dangling, ErrorKind::NoSuchValue(u64::from(FIRST) + 5));
    let wrong_type = body_error(|w| {
        w.record(func::DECLARE_BLOCKS, &[1]);
        w.record(func::BINOP, &[3, 4, 0]);
        w.record(func::RET, &[]);
    });
    assert_eq!(wrong_type, ErrorKind::TypeMismatch("binary operator"));
    let no_type = body_error(|w| {
        w.record(func::DECLARE_BLOCKS, &[1])
            .record(func::PHI, &[1000]);
    });
    assert_eq!(no_type, ErrorKind::NoSuchType(1000));
}

#[test]
fn types_that_contain_themselves_are_refused() {
    let bytes = BitWriter::bitcode()
        .block(block::MODULE, 3, |w| {
            w.block(block::TYPE_NEW, 4, |w| {
                w.record(ty::STRUCT_ANON, &[0, 1]);
                w.record(ty::ARRAY, &[2, 0]);
            });
        })
        .finish();
    let error = RawModule::parse(bytes, "cycle.bc").expect_err("a cycle");
    assert!(matches!(error.what, ErrorKind::Limit(_)), "{error}");
    assert!(error.to_string().starts_with("cycle.bc: byte "), "{error}");
}

#[test]
fn version_and_epoch_of_the_future_are_refused() {
    let bytes = BitWriter::bitcode()
        .block(block::MODULE, 3, |w| {
            w.record(module::VERSION, &[3]);
        })
        .finish();
    let error = RawModule::parse(bytes, "new.bc").expect_err("too new");
    let (what, number) = ("module version", 3);
    assert_eq!(error.what, ErrorKind::Unsupported { what, number });
    let bytes = BitWriter::bitcode()
        .block(block::IDENTIFICATION, 5, |w| {
            w.record(2, &[1]);
        })
        .finish();
    let error = RawModule::parse(bytes, "new.bc").expect_err("too new");
    assert!(matches!(
        error.what,
        ErrorKind::Unsupported { what: "epoch", .. }
    ));
}

#[test]
fn modules_without_types_still_have_basic_ones() {
    let bytes = BitWriter::bitcode()
        .block(block::MODULE, 3, |_| {})
        .finish();
    let module = RawModule::parse(bytes, "empty.bc").expect("an empty module");
    assert!(module.types.contains(&RawType::Integer(1)));
}
