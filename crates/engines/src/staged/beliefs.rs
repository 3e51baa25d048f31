//! Question: does the function itself say that the losing path should have freed the block?
//!
//! Engler et al., "Bugs as deviant behavior" (SOSP 2001): code tells what its author believes. A branch of which one way always loses the
//! block and the other one always frees it says that the author holds the block there. If what decides on that branch is news
//! (what a call has said since the block is there), nothing that came before can have decided it already: both ways can be taken whenever the
//! branch is come to with the block. So a loss on such a way does not hang on what callees did with the block before.
//!
//! False positives: the two ways differ because somebody has taken the block whose result the branch looks at; asked for is that no outcome of
//! that call takes it. False negatives: branches on what a variable says.

use drip_flow::{EndKind, Frame, Machine, NodeId, UseFlow};
use drip_program::{InstId, Op, Operand};
use smallvec::SmallVec;

use super::alternatives::Called;
use super::inevitable::is_only_looked_at_in;
use super::paths::Path;

/// Casts and comparisons between a call and the branch that looks at its result.
const MAX_STEPS: usize = 6;

/// Kinds of ends that a node leads to.
const LOST: u8 = 1;
const FREED: u8 = 2;
const OTHERWISE: u8 = 4;

/// The branch from which on a path can't but lose the block.
struct Turn {
    /// The node that ends with the branch.
    from: NodeId,
    /// Its place on the path.
    at: usize,
}

/// Does the path lose the block because of news, and does everything on the other side of that branch free it?
pub fn is_forgotten_at_exit(frame: &Frame<'_>, flow: &UseFlow, path: &Path) -> bool {
    let Some(turn) = turn(flow, path) else {
        return false;
    };
    let block = flow.nodes[turn.from].block;
    let decided = match frame.body.insts[frame.body.terminator(block)].op {
        Op::CondBr { cond, .. } => cond,
        Op::Switch { value, .. } => value,
        _ => return false,
    };
    let mut calls = SmallVec::new();
    let is_said = said_by(frame, decided, MAX_STEPS, &mut calls) && !calls.is_empty();
    let rest = path.blocks(flow).skip(turn.at + 1);
    is_said
        && calls.iter().all(|&call| is_news(frame, flow, path, call))
        && is_only_looked_at_in(frame, flow, rest)
}

/// The last branch of the path that could still have kept the block from being lost, if its other ways all free it.
fn turn(flow: &UseFlow, path: &Path) -> Option<Turn> {
    let leads_to = ends_reached(flow);
    let hops = &path.hops;
    let at = (0..hops.len())
        .rev()
        .find(|&at| leads_to[hops[at].node.index()] != LOST)?;
    let (from, to) = (hops[at].node, hops.get(at + 1)?.node);
    let taken = flow.nodes[to].block;
    let mut others = 0;
    for (id, node) in flow.nodes.iter_enumerated() {
        let is_other = node.block != taken && node.preds.iter().any(|edge| edge.from == from);
        let machine = node.state.objects.first().map(|object| object.machine);
        if is_other && machine == Some(Machine::Allocated) {
            others |= leads_to[id.index()];
            if leads_to[id.index()] == 0 {
                others |= OTHERWISE;
            }
        }
    }
    (others == FREED).then_some(Turn { from, at })
}

/// For each node what ends it leads to.
fn ends_reached(flow: &UseFlow) -> Vec<u8> {
    let mut reached = vec![0; flow.nodes.len()];
    let mut stack: Vec<NodeId> = Vec::new();
    for end in &flow.ends {
        let machine = end.state.objects.first().map(|object| object.machine);
        reached[end.node.index()] |= match (end.kind, machine) {
            (EndKind::Lost, _) => LOST,
            (EndKind::Settled, Some(Machine::Freed { .. })) => FREED,
            _ => OTHERWISE,
        };
        stack.push(end.node);
    }
    while let Some(node) = stack.pop() {
        let mask = reached[node.index()];
        for edge in &flow.nodes[node].preds {
            let known: &mut u8 = &mut reached[edge.from.index()];
            if *known | mask != *known {
                *known |= mask;
                stack.push(edge.from);
            }
        }
    }
    reached
}

/// The calls whose results a value is made of, and constants; false if there is anything else in it.
fn said_by(
    frame: &Frame<'_>,
    operand: Operand,
    steps: usize,
    calls: &mut SmallVec<[InstId; 2]>,
) -> bool {
    let body = frame.body;
    let Some(value) = operand.as_value() else {
        return true;
    };
    let def = body.def(value);
    let Some((inst, steps)) = def.zip(steps.checked_sub(1)) else {
        return false;
    };
    match body.insts[inst].op {
        Op::Cmp { a, b, .. } | Op::Binary { a, b, .. } => {
            said_by(frame, a, steps, calls) && said_by(frame, b, steps, calls)
        }
        Op::Cast { value, .. } => said_by(frame, value, steps, calls),
        Op::Call { .. } | Op::Invoke { .. } => {
            calls.push(inst);
            true
        }
        _ => false,
    }
}

/// Is a call made once the block is there, is its result not worked out of what was known before, and does it leave the block alone whatever it
/// says?
fn is_news(frame: &Frame<'_>, flow: &UseFlow, path: &Path, call: InstId) -> bool {
    let Some((birth, _)) = flow.birth(frame) else {
        return false;
    };
    let block = frame.block_of(call);
    let mut since = path.blocks_from(flow, frame.block_of(birth));
    let is_since = since.any(|at| at == block) && (block != frame.block_of(birth) || call > birth);
    let mut args = frame.args(call).iter();
    let is_worked_out = frame.calls.get(&call).is_some_and(|summary| summary.pure)
        && args.any(|arg| arg.as_value().is_some());
    let is_taken = Called::new(frame, flow, call)
        .is_some_and(|called| called.outcomes.iter().any(|o| called.takes(o)));
    is_since && !is_worked_out && !is_taken
}
