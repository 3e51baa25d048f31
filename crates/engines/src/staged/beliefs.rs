//! Question: does the function itself say that the losing path should have freed the block?
//!
//! Engler et al., "Bugs as deviant behavior" (SOSP 2001): code tells what its author believes. A branch of which one way always loses the
//! block and the other one always frees it says that the author holds the block there. If what decides on that branch is news
//! (what a call has said since the block is there), nothing that came before can have decided it already: both ways can be taken whenever the
//! branch is come to with the block. So a loss on such a way does not hang on what callees did with the block before.
//!
//! Who hands the block to a function that frees it in some outcome (a reference of several) gives it up as well.
//!
//! False positives: the two ways differ because somebody has taken the block whose result the branch looks at; asked for is that no outcome of
//! that call takes it. False negatives: branches on what a variable says.

use drip_flow::{EndKind, Frame, Machine, NodeId, Place, UseFlow, Where};
use drip_models::Root;
use drip_program::{BlockId, InstId, Op, Operand};
use smallvec::SmallVec;

use super::alternatives::Called;
use super::inevitable::is_only_looked_at_in;
use super::paths::Path;
use super::told::is_made_of;

/// Casts and comparisons between a call and the branch that looks at its result.
const MAX_STEPS: usize = 6;

/// Kinds of ends that a node leads to.
const LOST: u8 = 1;
const FREED: u8 = 2;
const OTHERWISE: u8 = 4;

/// Does the path lose the block because of news, and does everything on the other side of that branch free it?
pub fn is_forgotten_at_exit(frame: &Frame<'_>, flow: &UseFlow, path: &Path) -> bool {
    is_forgotten(frame, flow, path, &ends_reached(flow, OTHERWISE))
}

/// The same, of a block that is lost only perhaps on all ways that lose it, because it lies where only "perhaps" can be said on others.
pub fn is_forgotten_at_vague_exit(frame: &Frame<'_>, flow: &UseFlow, path: &Path) -> bool {
    is_forgotten(frame, flow, path, &ends_reached(flow, LOST))
}

fn is_forgotten(frame: &Frame<'_>, flow: &UseFlow, path: &Path, leads_to: &[u8]) -> bool {
    let Some(turn) = turn(frame, flow, path, leads_to) else {
        return false;
    };
    let block = flow.nodes[path.hops[turn].node].block;
    let decided = match frame.body.insts[frame.body.terminator(block)].op {
        Op::CondBr { cond, .. } => cond,
        Op::Switch { value, .. } => value,
        _ => return false,
    };
    let mut calls = SmallVec::new();
    let is_said = said_by(frame, decided, MAX_STEPS, &mut calls) && !calls.is_empty();
    let rest = path.blocks(flow).skip(turn + 1);
    is_said
        && !comes_round(frame, flow, path, turn)
        && calls.iter().all(|&call| is_news(frame, flow, path, call))
        && is_only_looked_at_in(frame, flow, rest)
}

/// Where on the path is the last branch that could still have kept the block from being lost, if its other ways all free it?
fn turn(frame: &Frame<'_>, flow: &UseFlow, path: &Path, leads_to: &[u8]) -> Option<usize> {
    let mut hops = path.hops.iter();
    let at = hops.rposition(|hop| leads_to[hop.node.index()] != LOST)?;
    frees_otherwise(frame, flow, path, at, leads_to).then_some(at)
}

/// Do all other ways out of this node of the path free the block, where it is there?
fn frees_otherwise(
    frame: &Frame<'_>,
    flow: &UseFlow,
    path: &Path,
    at: usize,
    leads_to: &[u8],
) -> bool {
    let [from, to] = match path.hops.get(at..at + 2) {
        Some([from, to]) => [from.node, to.node],
        _ => return false,
    };
    let taken = flow.nodes[to].block;
    let mut others = 0;
    for (id, node) in flow.nodes.iter_enumerated() {
        let is_other = node.block != taken && node.preds.iter().any(|edge| edge.from == from);
        let machine = node.state.objects.first().map(|object| object.machine);
        if is_other && machine == Some(Machine::Allocated) {
            others |= match leads_to[id.index()] {
                _ if is_given_back(frame, flow, node.block) => FREED,
                0 => OTHERWISE,
                kinds => kinds,
            };
        }
    }
    others == FREED
}

/// Does a block hand the object to a function that frees it in some outcome (the last reference to it)? Whoever calls that gives up what he has.
fn is_given_back(frame: &Frame<'_>, flow: &UseFlow, block: BlockId) -> bool {
    let object = flow.objects.first();
    let mut insts = frame.body.block_insts(block);
    insts.any(|inst| {
        let Some(summary) = frame.calls.get(&inst) else {
            return false;
        };
        let is_handed = |n: u16| {
            let arg = frame.args(inst).get(usize::from(n));
            let mut targets = arg.map_or(&[][..], |&arg| frame.local.targets(arg)).iter();
            targets.any(|loc| Some(&loc.obj) == object)
        };
        let mut frees = summary.outcomes.iter().flat_map(|outcome| &outcome.frees);
        frees.any(|free| match free.path.root {
            Root::Arg(n) => free.path.loads.is_empty() && is_handed(n),
            _ => false,
        })
    })
}

/// Does the path begin another turn of a loop in which the block is made, before it comes to this node? What is freed there may be what another call
/// has made.
fn comes_round(frame: &Frame<'_>, flow: &UseFlow, path: &Path, at: usize) -> bool {
    let Some((birth, _)) = flow.birth(frame) else {
        return true;
    };
    let made = frame.block_of(birth);
    let loops = frame.cfg.loops();
    let begins_turn = |block: BlockId| {
        let innermost = loops.innermost(block);
        innermost.is_some_and(|id| loops.header(id) == block && loops.contains(id, made))
    };
    let blocks = path.blocks(flow).take(at + 1);
    let mut since = blocks.skip_while(|&block| block != made).skip(1);
    since.any(begins_turn)
}

/// Does a branch of the path free the block on all its other ways, and is the block in variables alone and only looked at past that branch? Then it
/// was the function's own there, and nobody has taken it since.
pub fn is_held_on_the_way(frame: &Frame<'_>, flow: &UseFlow, path: &Path) -> bool {
    let leads_to = ends_reached(flow, OTHERWISE);
    let is_held = |at: usize| {
        let mut kinds = path.hops[at..].iter();
        let is_open = kinds.any(|hop| leads_to[hop.node.index()] != LOST);
        is_open && frees_otherwise(frame, flow, path, at, &leads_to)
    };
    let held = (0..path.hops.len()).rev().find(|&at| is_held(at));
    held.is_some_and(|at| {
        let held = flow.nodes[path.hops[at + 1].node].state.objects.first();
        let is_variable = |place: &Place| !matches!(place.at, Where::Cell(_));
        let rest = path.blocks(flow).skip(at + 1);
        !comes_round(frame, flow, path, at)
            && held.is_some_and(|held| held.places.iter().all(is_variable))
            && is_only_looked_at_in(frame, flow, rest)
    })
}

/// For each node what ends it leads to; `perhaps` is what a loss that is only perhaps one counts as.
fn ends_reached(flow: &UseFlow, perhaps: u8) -> Vec<u8> {
    let mut reached = vec![0; flow.nodes.len()];
    let mut stack: Vec<NodeId> = Vec::new();
    for end in &flow.ends {
        let machine = end.state.objects.first().map(|object| object.machine);
        reached[end.node.index()] |= match (end.kind, machine) {
            (EndKind::Lost, _) => LOST,
            (EndKind::LostPerhaps, _) => perhaps,
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
    is_made_of(frame, operand, steps, &mut |value, steps| {
        let Some(inst) = frame.body.def(value) else {
            return false;
        };
        match frame.body.insts[inst].op {
            Op::Binary { a, b, .. } => {
                said_by(frame, a, steps, calls) && said_by(frame, b, steps, calls)
            }
            Op::Call { .. } | Op::Invoke { .. } => {
                calls.push(inst);
                true
            }
            _ => false,
        }
    })
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
