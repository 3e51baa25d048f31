//! Before solving: variables that must have equal points-to sets become one (offline variable substitution by hash-based value
//! numbering, Hardekopf and Lin, SAS 2007), and cycles through memory are prepared (hybrid cycle detection, PLDI 2007).
//!
//! Value numbering: a node whose set is known from its constraints alone (*direct*) gets a label from the labels that flow
//! into it; equal labels, equal sets; no labels, empty set. A node that loads, calls or memory can change (*indirect*) has a
//! label of its own. Positive-weight cycles: a move by an offset on a cycle of copies and moves walks an array, so it becomes
//! an index ([`collapse_walks`], Pearce et al. 2007, §4.1).
//! Cost: linear in the constraints, plus hashing.

use drip_base::{Graph, IdSet, Sccs};
use rustc_hash::FxHashMap;

use super::NodeId;
use super::constraint::{Constraint, System};
use super::objects::{ObjectKind, gcd};

/// What is known before the first set is computed.
pub struct Offline {
    /// The node that each node is one with.
    pub same: Vec<NodeId>,
    pub merged: usize,
    /// `*p` is on a cycle with this node: all that p's locations hold is one with it.
    pub ref_cycles: FxHashMap<NodeId, NodeId>,
}

/// Turns constant moves on cycles into array walks. Part of the system that both solvers get.
pub fn collapse_walks(system: &mut System<'_>) {
    let edges = system.constraints.iter().filter_map(|c| match *c {
        Constraint::Copy { dst, src } | Constraint::Field { dst, src, .. } => Some((src, dst)),
        _ => None,
    });
    let graph = Graph::from_edges(system.node_count(), edges);
    let sccs = Sccs::compute(&graph);
    for constraint in &mut system.constraints {
        if let Constraint::Field {
            dst,
            src,
            offset,
            stride,
        } = constraint
            && *offset != 0
            && sccs.component_of(*src) == sccs.component_of(*dst)
        {
            *stride = gcd(
                *stride,
                u32::try_from(offset.unsigned_abs()).unwrap_or(1).max(1),
            );
        }
    }
}

pub fn prepare(system: &System<'_>) -> Offline {
    let nodes = system.node_count();
    let mut same = merge_equal(system, nodes);
    let ref_cycles = find_ref_cycles(system, nodes, &mut same);
    let merged = same
        .iter()
        .enumerate()
        .filter(|&(at, rep)| rep.index() != at)
        .count();
    Offline {
        same,
        merged,
        ref_cycles,
    }
}

/// Nodes whose set can change for other reasons than copies, moves and addresses.
fn indirect(system: &System<'_>, nodes: usize) -> IdSet<NodeId> {
    let mut indirect = IdSet::with_capacity(nodes);
    indirect.insert(system.handed);
    indirect.extend(system.contents.iter().copied());
    for constraint in &system.constraints {
        if let Constraint::Load { dst, .. } = *constraint {
            indirect.insert(dst);
        }
    }
    indirect.extend(system.calls.iter().filter_map(|call| call.ret));
    // Indirect calls and code out of sight bind the functions whose address is known somewhere.
    for object in system.objects.list.iter() {
        if let ObjectKind::Function(func) = object.kind
            && let Some(base) = system.instances.base(func)
        {
            indirect.extend(system.params[base].iter().flatten().copied());
            indirect.extend(system.varargs[base]);
        }
    }
    indirect
}

type Label = u32;
const NO_LABEL: Label = 0;

/// A label's meaning; equal keys, equal sets.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Address(super::LocId),
    Moved(Label, i64, u32),
    Union(Box<[Label]>),
}

fn merge_equal(system: &System<'_>, nodes: usize) -> Vec<NodeId> {
    let indirect = indirect(system, nodes);
    let mut copies: Vec<(NodeId, NodeId)> = Vec::new();
    let mut order_edges: Vec<(NodeId, NodeId)> = Vec::new();
    let mut moves: FxHashMap<NodeId, Vec<(NodeId, i64, u32)>> = FxHashMap::default();
    let mut addresses: FxHashMap<NodeId, Vec<super::LocId>> = FxHashMap::default();
    for constraint in &system.constraints {
        match *constraint {
            Constraint::Copy { dst, src } => copies.push((dst, src)),
            Constraint::Field {
                dst,
                src,
                offset,
                stride,
            } => {
                moves.entry(dst).or_default().push((src, offset, stride));
                order_edges.push((dst, src));
            }
            Constraint::Addr { dst, loc } => addresses.entry(dst).or_default().push(loc),
            _ => {}
        }
    }
    // Predecessors first: edges point from a node to what flows into it.
    let flow = Graph::from_edges(nodes, copies.iter().copied());
    let order = Graph::from_edges(nodes, copies.iter().copied().chain(order_edges));
    let rings = Sccs::compute(&flow);
    let mut numbers = Numbers::default();
    let mut labels: Vec<Label> = vec![NO_LABEL; nodes];
    for component in Sccs::compute(&order).iter() {
        // Moves inside a component are cycles: such nodes are told apart.
        for &node in component {
            let ring = rings.members(rings.component_of(node));
            let walks = component.len() > ring.len();
            if ring.iter().any(|&n| indirect.contains(n)) || walks {
                labels[node.index()] = numbers.fresh();
            }
        }
        let mut done: Vec<NodeId> = component.to_vec();
        done.retain(|n| labels[n.index()] == NO_LABEL);
        if done.is_empty() {
            continue;
        }
        let mut incoming: Vec<Label> = Vec::new();
        for &node in &done {
            incoming.extend(flow.succs(node).iter().map(|src| labels[src.index()]));
            for &(src, offset, stride) in moves.get(&node).into_iter().flatten() {
                match labels[src.index()] {
                    NO_LABEL => {}
                    label => incoming.push(numbers.of(Key::Moved(label, offset, stride))),
                }
            }
            let addresses = addresses.get(&node).into_iter().flatten();
            incoming.extend(addresses.map(|&loc| numbers.of(Key::Address(loc))));
        }
        incoming.retain(|&label| label != NO_LABEL);
        incoming.sort_unstable();
        incoming.dedup();
        let label = match incoming[..] {
            [] => NO_LABEL,
            [one] => one,
            _ => numbers.of(Key::Union(incoming.into_boxed_slice())),
        };
        for node in done {
            labels[node.index()] = label;
        }
    }
    let mut first: FxHashMap<Label, NodeId> = FxHashMap::default();
    (0..nodes)
        .map(NodeId::new)
        .map(|node| *first.entry(labels[node.index()]).or_insert(node))
        .collect()
}

#[derive(Default)]
struct Numbers {
    known: FxHashMap<Key, Label>,
    next: Label,
}

impl Numbers {
    fn fresh(&mut self) -> Label {
        self.next += 1;
        self.next
    }

    fn of(&mut self, key: Key) -> Label {
        if let Some(&label) = self.known.get(&key) {
            return label;
        }
        let label = self.fresh();
        self.known.insert(key, label);
        label
    }
}

/// Hybrid cycle detection, the offline half: a graph of nodes and of what they point to.
fn find_ref_cycles(
    system: &System<'_>,
    nodes: usize,
    same: &mut [NodeId],
) -> FxHashMap<NodeId, NodeId> {
    let rep = |node: NodeId| same[node.index()];
    let deref = |node: NodeId| NodeId::new(nodes + rep(node).index());
    let edges = system.constraints.iter().filter_map(|c| match *c {
        Constraint::Copy { dst, src } => Some((rep(src), rep(dst))),
        Constraint::Load { dst, addr } => Some((deref(addr), rep(dst))),
        Constraint::Store { addr, src } => Some((rep(src), deref(addr))),
        _ => None,
    });
    let graph = Graph::from_edges(2 * nodes, edges);
    let sccs = Sccs::compute(&graph);
    let mut found = FxHashMap::default();
    let mut unions: Vec<(NodeId, NodeId)> = Vec::new();
    for members in sccs.iter().filter(|members| members.len() > 1) {
        let plain: Vec<NodeId> = members
            .iter()
            .copied()
            .filter(|n| n.index() < nodes)
            .collect();
        let Some(&first) = plain.iter().min() else {
            continue;
        };
        let has_deref = plain.len() < members.len();
        if !has_deref {
            unions.extend(plain.iter().map(|&n| (n, first)));
        }
        for member in members.iter().filter(|m| m.index() >= nodes) {
            found.insert(NodeId::new(member.index() - nodes), first);
        }
    }
    for (node, first) in unions {
        same[node.index()] = first;
    }
    // Two steps at most: a node's representative may itself have been merged.
    for at in 0..same.len() {
        same[at] = same[same[at].index()];
    }
    found
}
