//! Control flow of a raw body: which blocks are reached, in which order do they keep their source place, who precedes
//! whom?
//!
//! INVARIANT: final block ids count the reachable blocks in source order; the entry is 0 and has no predecessors.
//! `graph` and `preds` name final ids; parallel edges (two switch cases to one block) are kept.

use drip_base::{Graph, GraphBuilder};
use drip_bitcode as bc;

use super::LowerError;
use crate::ids::BlockId;

/// Marks a raw block that nothing reaches.
const UNREACHED: u32 = u32::MAX;

/// Reachable part of a body's control-flow graph.
pub(crate) struct Flow {
    /// Final block → raw block.
    pub raw_of: Vec<u32>,
    /// Raw block → final block, or `UNREACHED`.
    final_of: Vec<u32>,
    pub graph: Graph<BlockId>,
    pub preds: Graph<BlockId>,
    /// Reverse postorder: every block after all its dominators.
    pub rpo: Vec<BlockId>,
}

impl Flow {
    pub fn build(body: &bc::RawBody) -> Result<Flow, LowerError> {
        let raw_rpo = raw_reverse_postorder(body)?;
        let mut final_of = vec![UNREACHED; body.blocks.len()];
        for &raw in &raw_rpo {
            final_of[raw as usize] = 0;
        }
        let mut raw_of = Vec::with_capacity(raw_rpo.len());
        for (raw, slot) in final_of.iter_mut().enumerate() {
            if *slot != UNREACHED {
                *slot = raw_of.len() as u32;
                raw_of.push(raw as u32);
            }
        }
        let mut builder = GraphBuilder::with_capacity(raw_of.len(), raw_of.len() * 2);
        let mut row = Vec::new();
        for &raw in &raw_of {
            row.clear();
            for_each_succ(body, raw, |succ| {
                row.push(BlockId::from_u32(final_of[succ as usize]))
            });
            builder.push_node(row.iter().copied());
        }
        let graph = builder.build();
        let preds = graph.reversed();
        if !preds.succs(BlockId::from_u32(0)).is_empty() {
            return Err(LowerError::EntryHasPredecessors);
        }
        let rpo = raw_rpo
            .iter()
            .map(|&raw| BlockId::from_u32(final_of[raw as usize]))
            .collect();
        Ok(Flow {
            raw_of,
            final_of,
            graph,
            preds,
            rpo,
        })
    }

    /// Final id of a raw block; `None` when nothing reaches it.
    pub fn reached(&self, raw: bc::BlockId) -> Option<BlockId> {
        let id = *self.final_of.get(raw.index())?;
        (id != UNREACHED).then(|| BlockId::from_u32(id))
    }
}

/// Reverse postorder of the raw blocks that the entry reaches.
fn raw_reverse_postorder(body: &bc::RawBody) -> Result<Vec<u32>, LowerError> {
    let count = body.blocks.len();
    if count == 0 {
        return Err(LowerError::NoBlocks);
    }
    let mut seen = vec![false; count];
    let mut order = Vec::with_capacity(count);
    // A block is on the stack twice: to enter it, and (tagged) to leave it once its successors are done.
    const LEAVE: u32 = 1 << 31;
    let mut stack = vec![0u32];
    let mut broken = None;
    while let Some(top) = stack.pop() {
        if top & LEAVE != 0 {
            order.push(top & !LEAVE);
            continue;
        }
        if std::mem::replace(&mut seen[top as usize], true) {
            continue;
        }
        stack.push(top | LEAVE);
        if !ends_in_terminator(body, top) {
            broken = Some(top);
        }
        for_each_succ(body, top, |succ| match seen.get(succ as usize) {
            Some(true) => {}
            Some(false) => stack.push(succ),
            None => broken = Some(top),
        });
    }
    if let Some(block) = broken {
        return Err(LowerError::BrokenBlock(block));
    }
    order.reverse();
    Ok(order)
}

/// Exactly one terminator, at the end.
fn ends_in_terminator(body: &bc::RawBody, block: u32) -> bool {
    let insts = body.block(bc::BlockId(block));
    insts
        .iter()
        .position(|inst| inst.kind.is_terminator())
        .is_some_and(|at| at + 1 == insts.len())
}

/// Successors of a raw block in the terminator's order.
fn for_each_succ(body: &bc::RawBody, block: u32, mut visit: impl FnMut(u32)) {
    use bc::RawInstKind as K;
    let Some(last) = body.block(bc::BlockId(block)).last() else {
        return;
    };
    let pool = |range: bc::PoolRange, visit: &mut dyn FnMut(u32)| {
        body.operands(range)
            .iter()
            .filter_map(|o| o.as_block())
            .for_each(|b| visit(b.0));
    };
    match last.kind {
        K::Br { target } | K::CatchRet { target, .. } => visit(target.0),
        K::CondBr {
            then_block,
            else_block,
            ..
        } => {
            visit(then_block.0);
            visit(else_block.0);
        }
        K::Switch { default, cases, .. } => {
            visit(default.0);
            pool(cases, &mut visit);
        }
        K::IndirectBr { targets, .. } => pool(targets, &mut visit),
        K::Invoke { normal, unwind, .. } => {
            visit(normal.0);
            visit(unwind.0);
        }
        K::CallBr {
            default, indirect, ..
        } => {
            visit(default.0);
            pool(indirect, &mut visit);
        }
        K::CatchSwitch {
            handlers, unwind, ..
        } => {
            pool(handlers, &mut visit);
            unwind.into_iter().for_each(|b| visit(b.0));
        }
        K::CleanupRet { unwind, .. } => unwind.into_iter().for_each(|b| visit(b.0)),
        _ => {}
    }
}
