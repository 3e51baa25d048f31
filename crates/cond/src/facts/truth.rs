//! Rules for booleans: negation, junctions, choices and equalities.

use super::graph::Node;
use super::propagate::Propagator;
use super::state::{Conflict, State};

/// `n = ¬a`: each side decides the other.
pub(crate) fn not(p: &mut Propagator<'_>, state: &mut State, node: Node) -> Result<(), Conflict> {
    let inner = p.graph.operand(node, 0);
    if let Some(value) = state.range(inner).as_bool() {
        p.set_truth(state, node, !value)?;
    }
    if let Some(value) = state.range(node).as_bool() {
        p.set_truth(state, inner, !value)?;
    }
    Ok(())
}

/// `n = ∧ aᵢ` (or dually): one false operand makes it false; it is true exactly if all are; if it is false and all
/// operands but one are true, the last one is false.
pub(crate) fn junction(
    p: &mut Propagator<'_>,
    state: &mut State,
    node: Node,
    conjunction: bool,
) -> Result<(), Conflict> {
    let graph = p.graph;
    let own = state.range(node).as_bool();
    if own == Some(conjunction) {
        for &operand in graph.operands(node) {
            p.set_truth(state, operand, conjunction)?;
        }
        return Ok(());
    }
    let mut open = None;
    for &operand in graph.operands(node) {
        match state.range(operand).as_bool() {
            Some(value) if value == conjunction => {}
            Some(_) => return p.set_truth(state, node, !conjunction),
            None if open.is_none() => open = Some(operand),
            None => return Ok(()),
        }
    }
    match open {
        None => p.set_truth(state, node, conjunction),
        Some(last) if own.is_some() => p.set_truth(state, last, !conjunction),
        Some(_) => Ok(()),
    }
}

/// `n = c ? a : b`: a known condition makes the node equal to its branch; a branch that can't be the node's value decides
/// the condition; otherwise the node lies in the union of the branches.
pub(crate) fn choice(
    p: &mut Propagator<'_>,
    state: &mut State,
    node: Node,
) -> Result<(), Conflict> {
    let graph = p.graph;
    let (c, a, b) = (
        graph.operand(node, 0),
        graph.operand(node, 1),
        graph.operand(node, 2),
    );
    let taken = match state.range(c).as_bool() {
        Some(true) => Some(a),
        Some(false) => Some(b),
        None if state.same(a, b) => Some(a),
        None => None,
    };
    if let Some(branch) = taken {
        return p.merge(state, node, branch);
    }
    if state.disjoint(node, a) {
        p.set_truth(state, c, false)?;
        return p.merge(state, node, b);
    }
    if state.disjoint(node, b) {
        p.set_truth(state, c, true)?;
        return p.merge(state, node, a);
    }
    let either = state.range(a).join(&state.range(b));
    p.refine(state, node, &either)
}

/// `n = (a == b)`.
pub(crate) fn equality(
    p: &mut Propagator<'_>,
    state: &mut State,
    node: Node,
) -> Result<(), Conflict> {
    let (a, b) = (p.graph.operand(node, 0), p.graph.operand(node, 1));
    if state.same(a, b) {
        return p.set_truth(state, node, true);
    }
    let (x, y) = (state.range(a), state.range(b));
    if x.single().is_some() && x.single() == y.single() {
        return p.set_truth(state, node, true);
    }
    if let (Some(i), Some(j)) = (state.place(a), state.place(b))
        && i.differs(j) == Some(false)
    {
        p.set_truth(state, node, true)?;
    }
    if state.disjoint(a, b) {
        return p.set_truth(state, node, false);
    }
    match state.range(node).as_bool() {
        Some(true) => p.merge(state, a, b),
        Some(false) => {
            exclude(p, state, a, y.single())?;
            exclude(p, state, b, x.single())
        }
        None => Ok(()),
    }
}

/// A value that the node certainly doesn't have.
fn exclude(
    p: &mut Propagator<'_>,
    state: &mut State,
    node: Node,
    value: Option<u64>,
) -> Result<(), Conflict> {
    let Some(value) = value else { return Ok(()) };
    let left = state.range(node).without(value).ok_or(Conflict)?;
    p.refine(state, node, &left)
}
