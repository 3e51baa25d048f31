//! The bitcode reader never panics, hangs or fills the memory, whatever the bytes.
//!
//! Reads everything that a client could ask for, and checks the invariants that clients rely on.

#![no_main]

use drip_bitcode::{MetadataId, OperandKind, RawBody, RawModule};
use libfuzzer_sys::fuzz_target;

/// How many metadata nodes of a module are looked at.
const MAX_NODES: u32 = 2000;

fuzz_target!(|bytes: &[u8]| {
    let Ok(modules) = RawModule::parse_all(bytes, "fuzz.bc") else {
        return;
    };
    for module in &modules {
        for index in 0..module.functions.len() {
            if let Ok(body) = module.decode_body(index) {
                check(module, &body);
            }
            let _ = module.value_names(index);
            let attrs = module.attrs_or_empty(module.functions[index].attrs);
            let _ = (attrs.function().memory(), attrs.param(0).no_capture());
        }
        let md = module.metadata();
        for id in (0..MAX_NODES).map(MetadataId) {
            let _ = (md.node(id), md.member_at(id, 8), md.is_pointer_to_const(id));
        }
    }
});

fn check(module: &RawModule, body: &RawBody) {
    let md = body.metadata(module);
    for range in &body.blocks {
        let insts = range.of(&body.insts);
        let (last, rest) = insts.split_last().expect("a block is never empty");
        assert!(last.kind.is_terminator());
        assert!(!rest.iter().any(|inst| inst.kind.is_terminator()));
    }
    for inst in &body.insts {
        assert!(module.ty(inst.ty).is_some());
        body.visit_operands(inst, |operand| match operand {
            OperandKind::Value(id) => assert!(body.value_type(module, id).is_some()),
            OperandKind::Block(id) => assert!(id.index() < body.blocks.len()),
            OperandKind::Metadata(id) => {
                let _ = md.node(id);
            }
        });
        if let Some(loc) = inst.loc.and_then(|id| body.loc(id)) {
            let _ = (md.source_loc(loc), md.inlined_at(loc));
        }
    }
}
