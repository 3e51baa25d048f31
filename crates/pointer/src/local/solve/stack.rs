//! Question: does a piece of stack memory exist once, or once per turn of a loop?
//!
//! Variables have one place, whatever loop they are declared in: the next turn uses it again. What `alloca` returns in a loop is a further
//! block each time, and the blocks of earlier turns are still there (nodes of a list on the stack). Cost: one walk over the blocks for
//! each such call outside of the first block.

use drip_program::{BlockId, Body, InstId, Op};
use rustc_hash::FxHashSet;

pub(super) fn is_made_again(body: &Body, inst: InstId) -> bool {
    let Op::Alloca { var: None, .. } = body.insts[inst].op else {
        return false;
    };
    match body.block_of(inst) {
        Some(block) if block != BlockId::from_u32(0) => is_in_loop(body, block),
        _ => false,
    }
}

fn is_in_loop(body: &Body, block: BlockId) -> bool {
    let mut seen: FxHashSet<BlockId> = FxHashSet::default();
    let mut open = vec![block];
    while let Some(from) = open.pop() {
        body.for_each_succ(from, |to| {
            if seen.insert(to) {
                open.push(to);
            }
        });
    }
    seen.contains(&block)
}
