//! Question: what does a load read that a store right before it has put there? Asked where the address leads to no cell of
//! its own: `tail->next = node; tail = tail->next;`.

use drip_program::{BlockId, Body, InstId, Op, Operand};

/// The value that a store in the same block has put where the load reads, with nothing written in between.
pub fn stored_just_before(
    body: &Body,
    block: BlockId,
    load: InstId,
    addr: Operand,
) -> Option<Operand> {
    let before = body.blocks[block].insts.start..load.as_u32();
    for inst in before.rev().map(InstId::from_u32) {
        match body.insts[inst].op {
            Op::Store { addr: to, value } => {
                return (place(body, to) == place(body, addr)).then_some(value);
            }
            Op::Call { .. }
            | Op::Invoke { .. }
            | Op::MemCopy { .. }
            | Op::MemSet { .. }
            | Op::AtomicRmw { .. }
            | Op::CmpXchg { .. } => return None,
            _ => {}
        }
    }
    None
}

/// Base and offset of an address.
fn place(body: &Body, addr: Operand) -> (Operand, i64) {
    let def = addr.as_value().and_then(|value| body.def(value));
    match def.map(|inst| body.insts[inst].op) {
        Some(Op::PtrAdd {
            base,
            offset,
            indices,
        }) if indices.len == 0 => (base, offset),
        _ => (addr, 0),
    }
}
