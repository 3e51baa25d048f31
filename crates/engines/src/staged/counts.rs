//! Question: does a loss hang on a count of references that holds a particular number?
//!
//! `if (o->refs != PINNED && --o->refs == 0) destroy(o);` leaves alone what is meant to stay for ever. A field that the other way counts
//! down is such a count; nobody in sight has put the particular number there, or the path would be one of its own. Whoever pins a block
//! holds it elsewhere: what the count says is no loss, in the function itself and in a callee's outcome alike.
//! Known false negatives: a count that a callee has really pinned, of a block that nobody else holds.

use drip_flow::{Frame, UseFlow, Values, region};
use drip_models::{Atom, Class, Outcome, Subject, Value};
use drip_pointer::{CellId, ObjId, ObjKind};
use drip_program::{BinaryOp, BlockId, InstId, Op, Operand};

use super::alternatives::Called;
use super::doubts::writers;
use super::interface::constant;
use super::known::comparison;
use super::paths::Path;

/// Branches from the test of a count to the statement that counts it down (an assertion that it is not zero).
const MAX_BRANCHES: usize = 3;

/// Does the path take a count for a particular number, on which the block is not counted down?
pub(super) fn is_pinned(frame: &Frame<'_>, values: &Values, flow: &UseFlow, path: &Path) -> bool {
    let Some((call, _)) = flow.birth(frame) else {
        return false;
    };
    if !flow.is_freed_somewhere() {
        return false;
    }
    let blocks: Vec<BlockId> = path.blocks_from(flow, frame.block_of(call)).collect();
    let mut edges = blocks.windows(2);
    edges.any(|edge| skips_count(frame, values, flow, edge[0], edge[1]))
        || path.hops.iter().flat_map(|hop| &hop.choices).any(|choice| {
            let called = Called::new(frame, flow, choice.inst);
            called.is_some_and(|called| {
                let chosen = called.outcomes.get(usize::from(choice.alternative));
                chosen.is_some_and(|chosen| skips_count_inside(&called, chosen))
            })
        })
}

/// Does a branch test a field of the block or of its owner, which calls have left there, and does its other way count that field down?
fn skips_count(
    frame: &Frame<'_>,
    values: &Values,
    flow: &UseFlow,
    block: BlockId,
    next: BlockId,
) -> bool {
    let Some(test) = comparison(frame, block, next) else {
        return false;
    };
    let load = test.a.as_value().and_then(|value| frame.body.def(value));
    let Some((load, Op::Load { addr })) = load.map(|inst| (inst, frame.body.insts[inst].op)) else {
        return false;
    };
    let is_number = constant(frame.program, frame.body, test.b).is_some();
    let is_own = frame
        .local
        .targets(addr)
        .iter()
        .any(|loc| is_made_with(frame, loc.obj, flow.objects[0]));
    if !is_number || !is_own || !is_left_by_calls(frame, load, addr) {
        return false;
    }
    let others = frame.cfg.succs(block).iter().filter(|&&to| to != next);
    let mut open: Vec<BlockId> = others.copied().collect();
    for _ in 0..MAX_BRANCHES {
        if open
            .iter()
            .any(|&block| counts_down(frame, values, block, addr))
        {
            return true;
        }
        let further = open.iter().flat_map(|&block| frame.cfg.succs(block));
        open = further.copied().filter(|&to| to != next).collect();
    }
    false
}

/// Is it the followed object, or another one that the same call has made: its owner?
fn is_made_with(frame: &Frame<'_>, obj: ObjId, followed: ObjId) -> bool {
    let maker = |obj| match frame.local.memory.kind(obj) {
        ObjKind::Fresh { call, .. } => Some(call),
        _ => None,
    };
    obj == followed || maker(obj).is_some_and(|call| maker(followed) == Some(call))
}

/// Is what a load finds left there by calls alone, such as the one that made the block?
fn is_left_by_calls(frame: &Frame<'_>, load: InstId, addr: Operand) -> bool {
    let is_store = |inst: InstId| matches!(frame.body.insts[inst].op, Op::Store { .. });
    let cells = frame.local.targets(addr).iter();
    let mut cells = cells.filter_map(|loc| frame.local.memory.find_cell(*loc));
    cells.any(|cell: CellId| {
        let version = frame.memssa.used(load, region(cell));
        version.is_some_and(|version| !writers(frame, version).into_iter().any(is_store))
    })
}

/// Does a block store one less than what an address holds there?
fn counts_down(frame: &Frame<'_>, values: &Values, block: BlockId, addr: Operand) -> bool {
    let body = frame.body;
    let op = |operand: Operand| {
        body.def(operand.as_value()?)
            .map(|inst| body.insts[inst].op)
    };
    let is_same = |other: Operand| values.term(other) == values.term(addr);
    let number = |operand| constant(frame.program, body, operand);
    body.block_insts(block).any(|inst| {
        let Op::Store { addr: to, value } = body.insts[inst].op else {
            return false;
        };
        let less = match op(value) {
            Some(Op::Binary {
                op: BinaryOp::Add,
                a,
                b,
            }) if number(b) == Some(-1) => a,
            Some(Op::Binary {
                op: BinaryOp::Sub,
                a,
                b,
            }) if number(b) == Some(1) => a,
            _ => return false,
        };
        is_same(to) && matches!(op(less), Some(Op::Load { addr: from }) if is_same(from))
    })
}

/// Does an outcome ask for a particular number in a field that another outcome counts down, one that takes care of the block?
fn skips_count_inside(called: &Called<'_, '_>, chosen: &Outcome) -> bool {
    let is_particular = |atom: &&Atom| matches!(atom.class, Class::Eq(number) if number != 0);
    let mut asked = chosen.when.iter().filter(is_particular);
    let cares = called
        .outcomes
        .iter()
        .any(|other| called.takes_more(other, chosen));
    cares
        && asked.any(|atom| {
            let Subject::Entry(path) = &atom.subject else {
                return false;
            };
            let mut writes = called.outcomes.iter().flat_map(|outcome| &outcome.writes);
            writes.any(|write| {
                matches!(&write.value, Value::Entry { path: from, plus }
                if from == path && plus.is_exact() && plus.base == -1)
            })
        })
}
