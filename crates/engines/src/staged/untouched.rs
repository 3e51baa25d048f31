//! Question: on which paths does nothing take care of a block that lies where only "perhaps" can be said?
//!
//! What is kept in an element with unknown index, or in an older node of a list, is freed by some loop: perhaps this one, perhaps another.
//! A way round such a loop that frees nothing can be one that the program never takes (as many turns free as fill), so a loss behind it counts
//! for nothing. But a path that never comes to the loop, or to the call that takes care, leaves all of them where they are (`return`
//! between the loop that fills an array and the one that frees it).
//! Domain: the nodes of the use-flow graph, without those where care is taken. Invariant: a path through what is left passes no instruction
//! that frees, keeps or hands on the block even perhaps. Cost: linear in the graph.

use drip_base::IdSet;
use drip_flow::{End, EndKind, Frame, Machine, UseFlow};
use drip_program::BlockId;

use super::delegates::Delegates;
use super::questions::Containers;

/// Objects that are held where only "perhaps" can be said (elements with unknown index, older objects of a loop) count as lost
/// only where nothing on any path takes care of such. Freeing one that is still held for certain takes care of that one only;
/// but whoever keeps it may keep what it leads to.
pub(super) fn takes_care_of_blurred(end: &End) -> bool {
    let Some(object) = end
        .state
        .objects
        .first()
        .filter(|_| end.kind == EndKind::Settled)
    else {
        return false;
    };
    object.blurred || !matches!(object.machine, Machine::Freed { sure: true, .. })
}

/// The graph without the nodes where care is taken, and the ends that lose the object perhaps and can be reached in what is left.
pub(super) fn without_care(
    frame: &Frame<'_>,
    delegates: &Delegates,
    flow: &UseFlow,
) -> (UseFlow, Vec<usize>) {
    let caring = caring_blocks(frame, delegates, flow);
    let mut rest = flow.clone();
    let is_caring: Vec<bool> = flow
        .nodes
        .iter()
        .map(|node| {
            let is_born = node.state.objects[0].machine != Machine::Unborn;
            is_born && caring.contains(node.block)
        })
        .collect();
    for (id, node) in rest.nodes.iter_enumerated_mut() {
        match is_caring[id.index()] {
            true => node.preds.clear(),
            false => node.preds.retain(|edge| !is_caring[edge.from.index()]),
        }
    }
    let live = rest.live_nodes();
    // What a later turn of the same loop does, it may do to the block of that turn.
    let loops = frame.cfg.loops();
    let birth = rest.birth(frame).map(|(call, _)| frame.block_of(call));
    let filling = birth.and_then(|birth| loops.innermost(birth));
    let is_left = |end: &End| {
        let node = end.node.index();
        let is_later = filling.is_some_and(|id| loops.contains(id, rest.nodes[end.node].block));
        end.kind == EndKind::LostPerhaps && live[node] && !is_caring[node] && !is_later
    };
    let ends = (0..rest.ends.len()).filter(|&i| is_left(&rest.ends[i]));
    let ends = ends.collect();
    (rest, ends)
}

/// Blocks where something takes care of such objects, the headers of the loops that do so turn by turn, and the branches that ask the
/// container for the object first.
fn caring_blocks(frame: &Frame<'_>, delegates: &Delegates, flow: &UseFlow) -> IdSet<BlockId> {
    let mut caring = IdSet::with_capacity(frame.body.blocks.len());
    let birth = flow.birth(frame).map(|(call, _)| frame.block_of(call));
    let containers = Containers::of(frame, delegates, flow.objects[0]);
    // No path goes on behind the end of the function.
    let settled = |end: &&End| takes_care_of_blurred(end) && !end.leaves;
    for end in flow.ends.iter().filter(settled) {
        let block = flow.nodes[end.node].block;
        caring.insert(block);
        caring.extend(containers.asked_before(block));
        let loops = frame.cfg.loops();
        let enclosing = std::iter::successors(loops.innermost(block), |&id| loops.parent(id));
        let holds_birth = |id| birth.is_some_and(|birth| loops.contains(id, birth));
        for id in enclosing.take_while(|&id| !holds_birth(id)) {
            caring.insert(loops.header(id));
        }
    }
    caring
}
