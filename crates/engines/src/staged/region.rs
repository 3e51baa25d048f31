//! Question: can *any* path lose the object here, if one by one takes too long?
//!
//! "Reach the loss, avoid every free and escape, within the acyclic region", as one query. The use-flow graph is exploded by the
//! object's state, so the paths that avoid every free and escape are those of its nodes from which the losing end can be
//! reached. Every edge gets a boolean: it is taken. A taken edge implies that its source is reached, that its branch
//! condition holds, and what the calls on it say; a node is reached if one of its edges is taken. Where edges meet, a symbol is the
//! if-then-else of what it is along each (the path conditions of Saturn §3.3, for a region instead of a function). The edges that a
//! model takes are the path that is shown.
//!
//! Loops: edges that jump back in the region are cut. A node that they lead to may be reached "again": then the symbols of
//! its loop have any value, so that one turn stands for any number of turns, as in `feasible.rs`. That only adds paths:
//! if the query can't hold, no path can be taken, provided that every cut edge jumps back to a node that lies on all ways to it
//! ([`Region::is_complete`]). If it holds, the path found is decided by itself (`trials.rs`).
//!
//! Cost: every edge's block is executed symbolically once; terms grow with the symbols that differ where edges meet.
//! Known limit: regions of more than [`MAX_EDGES`] edges are not asked for.

use drip_cond::{Sort, SymId, TermId, Terms};
use drip_flow::{End, Frame, InEdge, NodeId, UseFlow, Values};
use drip_program::BlockId;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, VecDeque};

use super::feasible::{Env, SymbolIndex, Walker};
use super::paths::{Hop, Path};

/// Edges of a region; larger ones are left to single paths.
pub const MAX_EDGES: usize = 400;

/// A decision of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Way {
    /// The edge into a node, by its position among the node's edges.
    Edge(NodeId, usize),
    /// The node is reached once more, by turns of its loop.
    Again(NodeId),
}

/// All nodes on paths from the root to one end.
pub struct Region<'u> {
    flow: &'u UseFlow,
    end: &'u End,
    /// Sources of kept edges come before their targets.
    order: Vec<NodeId>,
    /// Edges into each node, by position: those that are kept, and those that jump back.
    kept: FxHashMap<NodeId, Vec<usize>>,
    cut: FxHashMap<NodeId, Vec<usize>>,
}

/// The question about a region.
pub struct RegionQuery {
    pub conjuncts: Vec<TermId>,
    ways: FxHashMap<Way, TermId>,
}

impl RegionQuery {
    /// Edges that can be taken, and loops that can be gone round.
    pub fn edges(&self) -> usize {
        self.ways.len()
    }

    /// The boolean of a decision.
    pub fn taken(&self, way: Way) -> TermId {
        self.ways.get(&way).copied().unwrap_or(Terms::FALSE)
    }
}

impl<'u> Region<'u> {
    /// The region of an end; `None` if it is too large.
    pub fn of(flow: &'u UseFlow, end: &'u End) -> Option<Self> {
        let members = members(flow, end)?;
        let mut region = Region {
            flow,
            end,
            order: Vec::new(),
            kept: FxHashMap::default(),
            cut: FxHashMap::default(),
        };
        region.sort(&members);
        Some(region)
    }

    /// Depth first from the root: an edge to a node that is still open jumps back.
    fn sort(&mut self, members: &BTreeSet<NodeId>) {
        let mut leaving: FxHashMap<NodeId, Vec<(NodeId, usize)>> = FxHashMap::default();
        for &to in members {
            for (index, edge) in self.flow.nodes[to].preds.iter().enumerate() {
                if members.contains(&edge.from) {
                    leaving.entry(edge.from).or_default().push((to, index));
                }
            }
        }
        let mut open: FxHashSet<NodeId> = FxHashSet::from_iter([UseFlow::ROOT]);
        let mut seen = open.clone();
        let mut stack = vec![(UseFlow::ROOT, 0)];
        while let Some((node, next)) = stack.pop() {
            let Some(&(to, index)) = leaving.get(&node).and_then(|edges| edges.get(next)) else {
                open.remove(&node);
                self.order.push(node);
                continue;
            };
            stack.push((node, next + 1));
            if open.contains(&to) {
                self.cut.entry(to).or_default().push(index);
                continue;
            }
            self.kept.entry(to).or_default().push(index);
            if seen.insert(to) {
                open.insert(to);
                stack.push((to, 0));
            }
        }
        self.order.reverse();
    }

    fn edge(&self, to: NodeId, index: usize) -> Option<&'u InEdge> {
        self.flow.nodes[to].preds.get(index)
    }

    fn edges<'r>(
        &'r self,
        table: &'r FxHashMap<NodeId, Vec<usize>>,
        to: NodeId,
    ) -> impl Iterator<Item = (usize, &'u InEdge)> + 'r {
        let indices = table.get(&to).map_or(&[][..], Vec::as_slice);
        indices
            .iter()
            .filter_map(move |&index| Some((index, self.edge(to, index)?)))
    }

    fn block(&self, node: NodeId) -> BlockId {
        self.flow.nodes[node].block
    }

    /// Instructions that have to be executed for the query.
    pub fn instructions(&self, frame: &Frame<'_>) -> usize {
        let size = |node: NodeId| frame.body.block_insts(self.block(node)).count();
        let edges = self.order.iter().flat_map(|&to| self.edges(&self.kept, to));
        edges.map(|(_, edge)| size(edge.from)).sum::<usize>() + size(self.end.node)
    }

    /// Does the query cover all paths? It does if whoever jumps back has come by where it jumps to.
    pub fn is_complete(&self) -> bool {
        self.cut.keys().all(|&head| {
            let mut reached: FxHashSet<NodeId> = FxHashSet::default();
            for &node in &self.order {
                let entered = node == UseFlow::ROOT
                    || self
                        .edges(&self.kept, node)
                        .any(|(_, edge)| reached.contains(&edge.from));
                if entered && node != head {
                    reached.insert(node);
                }
            }
            self.edges(&self.cut, head)
                .all(|(_, edge)| !reached.contains(&edge.from))
        })
    }

    /// Nodes of the loop that the cut edges of `head` close.
    fn turn(&self, head: NodeId) -> FxHashSet<NodeId> {
        let mut inside = FxHashSet::from_iter([head]);
        let mut stack: Vec<NodeId> = self.edges(&self.cut, head).map(|(_, e)| e.from).collect();
        while let Some(node) = stack.pop() {
            if inside.insert(node) {
                for table in [&self.kept, &self.cut] {
                    stack.extend(self.edges(table, node).map(|(_, e)| e.from));
                }
            }
        }
        inside
    }

    /// The query.
    pub fn query(
        &self,
        frame: &Frame<'_>,
        values: &mut Values,
        symbols: &mut SymbolIndex,
    ) -> RegionQuery {
        let mut encoder = Encoder {
            region: self,
            walker: Walker::new(frame, values, symbols),
            points: FxHashMap::default(),
            out: RegionQuery {
                conjuncts: Vec::new(),
                ways: FxHashMap::default(),
            },
        };
        for &node in &self.order {
            encoder.node(node);
        }
        encoder.finish()
    }

    /// The path that a model takes: with one turn of each loop that it goes round, and without any.
    pub fn paths(&self, taken: impl Fn(Way) -> bool) -> Vec<Path> {
        let mut straight = vec![Hop {
            node: self.end.node,
            choices: self.end.choices.clone(),
        }];
        let mut node = self.end.node;
        while node != UseFlow::ROOT {
            let next = self
                .edges(&self.kept, node)
                .find(|&(index, _)| taken(Way::Edge(node, index)));
            let Some((_, edge)) = next else {
                return Vec::new();
            };
            node = edge.from;
            straight.push(Hop {
                node,
                choices: edge.choices.clone(),
            });
        }
        straight.reverse();
        let mut turning: Vec<Hop> = Vec::new();
        for hop in &straight {
            if taken(Way::Again(hop.node)) {
                turning.extend(self.one_turn(hop.node));
            }
            turning.push(hop.clone());
        }
        let mut found = Vec::new();
        if turning.len() > straight.len() {
            found.push(Path { hops: turning });
        }
        found.push(Path { hops: straight });
        found
    }

    /// The shortest way from a node round its loop, back to it.
    fn one_turn(&self, head: NodeId) -> Vec<Hop> {
        let inside = self.turn(head);
        // Backwards from the jumps; a hop knows the one after it.
        let mut after: FxHashMap<NodeId, (Hop, NodeId)> = FxHashMap::default();
        let mut queue: VecDeque<NodeId> = VecDeque::new();
        let reach = |edge: &InEdge, to: NodeId| {
            let hop = Hop {
                node: edge.from,
                choices: edge.choices.clone(),
            };
            (hop, to)
        };
        for (_, edge) in self.edges(&self.cut, head) {
            if let Entry::Vacant(place) = after.entry(edge.from) {
                place.insert(reach(edge, head));
                queue.push_back(edge.from);
            }
        }
        while let Some(node) = queue.pop_front().filter(|_| !after.contains_key(&head)) {
            for (_, edge) in self.edges(&self.kept, node) {
                if inside.contains(&edge.from) && !after.contains_key(&edge.from) {
                    after.insert(edge.from, reach(edge, node));
                    queue.push_back(edge.from);
                }
            }
        }
        let mut hops = Vec::new();
        let mut at = head;
        while let Some((hop, next)) = after.get(&at) {
            hops.push(hop.clone());
            at = *next;
            if at == head {
                return hops;
            }
        }
        Vec::new()
    }
}

/// Nodes from which the end can be reached; `None` if they have too many edges, or the root is not among them.
fn members(flow: &UseFlow, end: &End) -> Option<BTreeSet<NodeId>> {
    let mut members = BTreeSet::new();
    let mut stack = vec![end.node];
    let mut edges = 0;
    while let Some(node) = stack.pop() {
        if members.insert(node) {
            edges += flow.nodes[node].preds.len();
            if edges > MAX_EDGES {
                return None;
            }
            stack.extend(flow.nodes[node].preds.iter().map(|edge| edge.from));
        }
    }
    members.contains(&UseFlow::ROOT).then_some(members)
}

/// What is known on entry to a node, whichever way it was reached.
#[derive(Default)]
struct Point {
    reached: Option<TermId>,
    env: Env,
    seen: FxHashSet<BlockId>,
}

struct Encoder<'r, 'u, 'w, 'a> {
    region: &'r Region<'u>,
    walker: Walker<'w, 'a>,
    points: FxHashMap<NodeId, Point>,
    out: RegionQuery,
}

impl Encoder<'_, '_, '_, '_> {
    fn decision(&mut self, way: Way) -> TermId {
        let term = self.walker.values.fresh_symbol(Sort::Bool);
        self.out.ways.insert(way, term);
        term
    }

    fn node(&mut self, node: NodeId) {
        let region = self.region;
        let block = region.block(node);
        let mut point = if node == UseFlow::ROOT {
            Point {
                reached: Some(Terms::TRUE),
                env: Env::default(),
                seen: FxHashSet::from_iter([block]),
            }
        } else {
            let arrivals: Vec<(TermId, Point)> = region
                .edges(&region.kept, node)
                .filter_map(|(index, edge)| self.arrive(node, index, edge))
                .collect();
            self.meet(arrivals)
        };
        if region.cut.contains_key(&node) {
            self.turn_again(node, &mut point);
        }
        self.points.insert(node, point);
    }

    /// Executes one edge: what its being taken implies, and what is known after it.
    fn arrive(&mut self, to: NodeId, index: usize, edge: &InEdge) -> Option<(TermId, Point)> {
        let (from, target) = (self.region.block(edge.from), self.region.block(to));
        let source = self.points.get(&edge.from)?;
        let reached = source.reached?;
        self.walker.env = source.env.clone();
        self.walker.seen = source.seen.clone();
        self.walker.run(from, &edge.choices, None);
        self.walker.branch(from, target);
        self.walker.enter(Some(from), target);
        let mut implied = std::mem::take(&mut self.walker.conjuncts);
        implied.push(reached);
        let taken = self.decision(Way::Edge(to, index));
        let terms = &mut self.walker.values.terms;
        for fact in implied {
            self.out.conjuncts.push(terms.implies(taken, fact));
        }
        let point = Point {
            reached: None,
            env: std::mem::take(&mut self.walker.env),
            seen: std::mem::take(&mut self.walker.seen),
        };
        Some((taken, point))
    }

    /// Joins what is known on all edges into a node.
    fn meet(&mut self, mut arrivals: Vec<(TermId, Point)>) -> Point {
        let taken: Vec<TermId> = arrivals.iter().map(|(taken, _)| *taken).collect();
        let reached = Some(self.walker.values.terms.or(&taken));
        if arrivals.len() == 1
            && let Some((_, point)) = arrivals.pop()
        {
            return Point { reached, ..point };
        }
        let mut met = Point {
            reached,
            ..Point::default()
        };
        let mut symbols: Vec<SymId> = arrivals
            .iter()
            .flat_map(|(_, point)| point.env.keys().copied())
            .collect();
        symbols.sort_unstable();
        symbols.dedup();
        for sym in symbols {
            let known = arrivals
                .iter()
                .find_map(|(_, point)| point.env.get(&sym).copied());
            let Some(sort) = known.map(|term| self.walker.values.terms.sort(term)) else {
                continue;
            };
            let terms = &mut self.walker.values.terms;
            let own = terms.sym(sym, sort);
            let value = |point: &Point| point.env.get(&sym).copied().unwrap_or(own);
            let mut joined: Option<TermId> = None;
            for (taken, point) in arrivals.iter().rev() {
                let here = value(point);
                joined = Some(match joined {
                    Some(other) if other != here => terms.ite(*taken, here, other),
                    _ => here,
                });
            }
            met.env.extend(joined.map(|term| (sym, term)));
        }
        for (_, point) in &arrivals {
            met.seen.extend(&point.seen);
        }
        met
    }

    /// A node that its loop may have come back to: then nothing is known of what the loop defines.
    fn turn_again(&mut self, head: NodeId, point: &mut Point) {
        let again = self.decision(Way::Again(head));
        let blocks: BTreeSet<BlockId> = self
            .region
            .turn(head)
            .into_iter()
            .map(|node| self.region.block(node))
            .collect();
        for &block in &blocks {
            for &sym in self.walker.defined_in(block) {
                let Some(sort) = self.walker.sort_of_symbol(sym) else {
                    continue;
                };
                let values = &mut *self.walker.values;
                let any = values.fresh_symbol(sort);
                let own = values.terms.sym(sym, sort);
                let first = point.env.get(&sym).copied().unwrap_or(own);
                point.env.insert(sym, values.terms.ite(again, any, first));
                if block == self.region.block(head) {
                    let gone_on = self.walker.gone_on(sym, first, any, true);
                    self.out.conjuncts.extend(gone_on);
                    let left = self.walker.left_by_turns(sym, first, any);
                    self.out.conjuncts.extend(left);
                }
            }
        }
        point.seen.extend(blocks);
    }

    /// The end itself: it is reached, and what happens in its block up to the loss.
    fn finish(mut self) -> RegionQuery {
        let end = self.region.end;
        if let Some(point) = self.points.remove(&end.node) {
            self.walker.env = point.env;
            self.walker.seen = point.seen;
            let block = self.region.block(end.node);
            self.walker.run(block, &end.choices, Some(end.at));
            self.out.conjuncts.append(&mut self.walker.conjuncts);
            self.out.conjuncts.extend(point.reached);
        }
        self.out
    }
}
