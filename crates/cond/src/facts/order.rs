//! Rules for orders: bounds that pass through one comparison, and cycles of comparisons.

use rustc_hash::FxHashMap;

use super::domain::Range;
use super::graph::Node;
use super::propagate::Propagator;
use super::state::{Conflict, State};
use crate::term::{TermKind, mask};

/// `n = (a < b)`.
pub(crate) fn less(
    p: &mut Propagator<'_>,
    state: &mut State,
    node: Node,
    signed: bool,
) -> Result<(), Conflict> {
    let (a, b) = (p.graph.operand(node, 0), p.graph.operand(node, 1));
    if state.same(a, b) {
        return p.set_truth(state, node, false);
    }
    let (x, y) = (state.range(a), state.range(b));
    let (always, never) = if signed {
        (x.smax < y.smin, x.smin >= y.smax)
    } else {
        (x.umax < y.umin, x.umin >= y.umax)
    };
    if always || never {
        return p.set_truth(state, node, always);
    }
    match state.range(node).as_bool() {
        Some(true) => {
            let (below, above) = strictly_ordered(&x, &y, signed).ok_or(Conflict)?;
            p.refine(state, a, &below)?;
            p.refine(state, b, &above)
        }
        Some(false) => {
            let (below, above) = ordered(&y, &x, signed).ok_or(Conflict)?;
            p.refine(state, b, &below)?;
            p.refine(state, a, &above)
        }
        None => Ok(()),
    }
}

/// What `x < y` says about `x` and about `y`.
fn strictly_ordered(x: &Range, y: &Range, signed: bool) -> Option<(Range, Range)> {
    let width = x.width;
    if signed {
        let full = Range::full(width);
        let below = Range::signed(width, full.smin, y.smax.checked_sub(1)?)?;
        let above = Range::signed(width, x.smin.checked_add(1)?, full.smax)?;
        Some((below, above))
    } else {
        let below = Range::unsigned(width, 0, y.umax.checked_sub(1)?)?;
        let above = Range::unsigned(width, x.umin.checked_add(1)?, mask(width))?;
        Some((below, above))
    }
}

/// What `x <= y` says about `x` and about `y`.
fn ordered(x: &Range, y: &Range, signed: bool) -> Option<(Range, Range)> {
    let width = x.width;
    let full = Range::full(width);
    if signed {
        Some((
            Range::signed(width, full.smin, y.smax)?,
            Range::signed(width, x.smin, full.smax)?,
        ))
    } else {
        Some((
            Range::unsigned(width, 0, y.umax)?,
            Range::unsigned(width, x.umin, mask(width))?,
        ))
    }
}

struct Edge {
    from: Node,
    to: Node,
    strict: bool,
}

/// A cycle of `<=` makes its members equal; with one `<` in it, it is a contradiction.
pub(crate) fn collapse_cycles(p: &mut Propagator<'_>, state: &mut State) -> Result<(), Conflict> {
    for signed in [false, true] {
        let edges = order_edges(p, state, signed);
        if edges.len() < 2 {
            continue;
        }
        p.steps += edges.len() as u64;
        let component = components(&edges);
        for edge in &edges {
            if component.get(&edge.from) != component.get(&edge.to) {
                continue;
            }
            if edge.strict {
                return Err(Conflict);
            }
            p.merge(state, edge.from, edge.to)?;
        }
    }
    Ok(())
}

fn order_edges(p: &Propagator<'_>, state: &State, signed: bool) -> Vec<Edge> {
    let mut edges = Vec::new();
    for node in 0..p.graph.len() {
        let matches = match p.graph.kind(node) {
            TermKind::Ult(..) => !signed,
            TermKind::Slt(..) => signed,
            _ => false,
        };
        if !matches {
            continue;
        }
        let (a, b) = (
            state.find(p.graph.operand(node, 0)),
            state.find(p.graph.operand(node, 1)),
        );
        // Constants have no place in a cycle that the bounds don't see already.
        if state.range(a).single().is_some() || state.range(b).single().is_some() {
            continue;
        }
        match state.range(node).as_bool() {
            Some(true) => edges.push(Edge {
                from: a,
                to: b,
                strict: true,
            }),
            Some(false) => edges.push(Edge {
                from: b,
                to: a,
                strict: false,
            }),
            None => {}
        }
    }
    edges
}

/// The strongly connected component of each node, by Kosaraju's two searches with explicit stacks.
fn components(edges: &[Edge]) -> FxHashMap<Node, usize> {
    let mut forward: FxHashMap<Node, Vec<Node>> = FxHashMap::default();
    let mut backward: FxHashMap<Node, Vec<Node>> = FxHashMap::default();
    let mut nodes: Vec<Node> = Vec::new();
    for edge in edges {
        forward.entry(edge.from).or_default().push(edge.to);
        backward.entry(edge.to).or_default().push(edge.from);
        nodes.extend([edge.from, edge.to]);
    }
    nodes.sort_unstable();
    nodes.dedup();
    let mut finished = Vec::with_capacity(nodes.len());
    let mut seen: FxHashMap<Node, usize> = FxHashMap::default();
    for &node in &nodes {
        search(node, 0, &forward, &mut seen, &mut finished);
    }
    let mut component = FxHashMap::default();
    for (label, &node) in finished.iter().rev().enumerate() {
        search(node, label, &backward, &mut component, &mut Vec::new());
    }
    component
}

/// Labels all unseen nodes reachable from the start, and lists them in post-order.
fn search(
    start: Node,
    label: usize,
    edges: &FxHashMap<Node, Vec<Node>>,
    seen: &mut FxHashMap<Node, usize>,
    finished: &mut Vec<Node>,
) {
    if seen.contains_key(&start) {
        return;
    }
    seen.insert(start, label);
    let mut stack = vec![(start, 0)];
    while let Some((node, next)) = stack.last_mut() {
        match edges.get(node).and_then(|targets| targets.get(*next)) {
            Some(&target) => {
                *next += 1;
                if let std::collections::hash_map::Entry::Vacant(entry) = seen.entry(target) {
                    entry.insert(label);
                    stack.push((target, 0));
                }
            }
            None => {
                finished.push(*node);
                stack.pop();
            }
        }
    }
}
