//! Question: is a path's loss plain, although its callees could not be executed to their end?
//!
//! `p = malloc(n); fill(p); if (is_excluded(p)) continue;` loses `p` in the next turn, whatever `fill` does inside: up to the loss the block is
//! in variables alone, whoever gets it only looks at it, and what sends the path to its loss is told by calls, or by a variable of the
//! program that the path looks at only once (one that is asked for twice may say the same where the block is made and where it is freed).
//!
//! Cost: linear in the path.

use drip_flow::{Frame, UseFlow, Where};
use drip_program::{BlockId, Const, GlobalId, Op, Operand};
use rustc_hash::FxHashSet;

use super::inevitable::is_only_looked_at_in;
use super::paths::Path;
use super::told::{deciding_on, is_told};

/// Steps from a branch back to the variable that it looks at.
const MAX_STEPS: usize = 6;

/// Does nothing that callees do inside matter to the loss?
pub fn is_plain(frame: &Frame<'_>, flow: &UseFlow, path: &Path) -> bool {
    let Some((call, _)) = flow.birth(frame) else {
        return false;
    };
    let passed: Vec<BlockId> = path.blocks_from(flow, frame.block_of(call)).collect();
    let blocks: FxHashSet<BlockId> = passed.iter().copied().collect();
    let in_variables = path.hops.iter().all(|hop| {
        let object = flow.nodes[hop.node].state.objects.first();
        let mut places = object.into_iter().flat_map(|object| object.places.iter());
        !places.any(|place| matches!(place.at, Where::Cell(_)))
    });
    let asked: Vec<GlobalId> = path
        .blocks(flow)
        .filter_map(|block| asked_variable(frame, block))
        .collect();
    let is_asked_once = |block: BlockId| {
        asked_variable(frame, block)
            .is_some_and(|global| asked.iter().filter(|&&other| other == global).count() == 1)
    };
    let deciding = deciding_on(frame, flow);
    let is_said =
        |block: BlockId| !deciding.contains(block) || is_told(frame, block) || is_asked_once(block);
    in_variables
        && passed.iter().all(|&block| is_said(block))
        && is_only_looked_at_in(frame, flow, |block| blocks.contains(&block))
}

/// The variable of the program that a branch looks at, compared with constants.
fn asked_variable(frame: &Frame<'_>, block: BlockId) -> Option<GlobalId> {
    let body = frame.body;
    let Op::CondBr { cond, .. } = body.insts[body.terminator(block)].op else {
        return None;
    };
    let mut at = cond;
    for _ in 0..MAX_STEPS {
        at = match body.insts[body.def(at.as_value()?)?].op {
            Op::Cast { value, .. } => value,
            Op::Cmp { a, b, .. } if is_constant(frame, b) => a,
            Op::Load { addr } => {
                return match body.const_of(addr) {
                    Some(&Const::Global { global, .. }) => Some(global),
                    _ => None,
                };
            }
            _ => return None,
        };
    }
    None
}

fn is_constant(frame: &Frame<'_>, operand: Operand) -> bool {
    frame.body.const_of(operand).is_some()
}
