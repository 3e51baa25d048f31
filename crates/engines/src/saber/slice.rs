//! Some-path analysis (SABER §4.4): where can a block go?
//!
//! The forward slice ℱ of a source is what its value reaches along paths with matched call and return edges: a state is a
//! node and the calls that were entered and not left (innermost last). Leaving a function that was not entered goes to all its
//! callers. A call site that is open already is not entered again ("recursive callsites are invoked at most once").
//! The backward slice ℬ is what of ℱ lies on a path to a sink.
//! Limits: [`MAX_STATES`], [`MAX_OPEN_CALLS`].

use drip_base::IdSet;
use drip_flow::svfg::{Edge, EdgeKind, Node, NodeId, SiteId, Svfg};
use rustc_hash::{FxHashMap, FxHashSet};

/// States of one forward slice; a source with more is given up, which is counted.
pub const MAX_STATES: usize = 20_000;

/// Calls that are open at once; deeper ones are not entered.
const MAX_OPEN_CALLS: u32 = 32;

/// What became of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// GLOBAL was reached: the source is taken not to leak (assumption 1).
    Global,
    /// No sink was reached: the source definitely leaks.
    NoSink,
    Sinks,
    TooLarge,
}

/// An edge between two states, with the graph's edge behind it.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub from: usize,
    pub to: usize,
    pub edge: Edge,
}

/// Forward slice of one source.
pub struct Slice {
    pub fate: Fate,
    /// Nodes of the states; the first is the source.
    pub states: Vec<NodeId>,
    pub steps: Vec<Step>,
    /// States that are sinks.
    pub sinks: Vec<usize>,
}

/// Open calls, shared between states: a stack as a tree.
#[derive(Default)]
struct Contexts {
    list: Vec<(u32, SiteId, u32)>,
    known: FxHashMap<(u32, SiteId), u32>,
}

/// No call is open.
const UNBOUND: u32 = 0;

impl Contexts {
    fn enter(&mut self, context: u32, site: SiteId) -> Option<u32> {
        let mut at = context;
        while let Some((parent, open, _)) = self.get(at) {
            if open == site {
                return None;
            }
            at = parent;
        }
        let depth = self.get(context).map_or(0, |(_, _, depth)| depth) + 1;
        if depth > MAX_OPEN_CALLS {
            return None;
        }
        if let Some(&known) = self.known.get(&(context, site)) {
            return Some(known);
        }
        self.list.push((context, site, depth));
        let id = self.list.len() as u32;
        self.known.insert((context, site), id);
        Some(id)
    }

    fn get(&self, context: u32) -> Option<(u32, SiteId, u32)> {
        let at = (context as usize).checked_sub(1)?;
        self.list.get(at).copied()
    }

    /// `None`: the call that is open is another one.
    fn leave(&self, context: u32, site: SiteId) -> Option<u32> {
        match self.get(context) {
            None => Some(UNBOUND),
            Some((parent, open, _)) if open == site => Some(parent),
            Some(_) => None,
        }
    }
}

impl Slice {
    pub fn forward(svfg: &Svfg, source: NodeId) -> Slice {
        let mut out = Slice {
            fate: Fate::NoSink,
            states: vec![source],
            steps: Vec::new(),
            sinks: Vec::new(),
        };
        let mut contexts = Contexts::default();
        let mut open: Vec<u32> = vec![UNBOUND];
        let mut known: FxHashMap<(NodeId, u32), usize> = FxHashMap::default();
        known.insert((source, UNBOUND), 0);
        let mut at = 0;
        while at < out.states.len() {
            for &edge in &svfg.edges[out.states[at]] {
                let context = match edge.kind {
                    EdgeKind::Intra => Some(open[at]),
                    EdgeKind::Jump => Some(UNBOUND),
                    EdgeKind::Call(site) => contexts.enter(open[at], site),
                    EdgeKind::Return(site) => contexts.leave(open[at], site),
                };
                let Some(mut context) = context else { continue };
                match svfg.nodes[edge.to] {
                    Node::Global => {
                        out.fate = Fate::Global;
                        return out;
                    }
                    // Memory that all can reach has no context.
                    Node::Shared(_) => context = UNBOUND,
                    _ => {}
                }
                let to = *known.entry((edge.to, context)).or_insert_with(|| {
                    out.states.push(edge.to);
                    open.push(context);
                    if matches!(svfg.nodes[edge.to], Node::Sink { .. }) {
                        out.sinks.push(out.states.len() - 1);
                    }
                    out.states.len() - 1
                });
                out.steps.push(Step { from: at, to, edge });
            }
            if out.states.len() > MAX_STATES {
                out.fate = Fate::TooLarge;
                return out;
            }
            at += 1;
        }
        if !out.sinks.is_empty() {
            out.fate = Fate::Sinks;
        }
        out
    }

    /// States from which a sink can be reached.
    pub fn backward(&self) -> IdSet<usize> {
        let mut into: Vec<Vec<usize>> = vec![Vec::new(); self.states.len()];
        for step in &self.steps {
            into[step.to].push(step.from);
        }
        let mut found = IdSet::with_capacity(self.states.len());
        let mut stack = self.sinks.clone();
        while let Some(state) = stack.pop() {
            if found.insert(state) {
                stack.extend(&into[state]);
            }
        }
        found
    }

    /// Number of nodes of some states.
    pub fn node_count(&self, states: impl Iterator<Item = usize>) -> usize {
        let nodes: FxHashSet<NodeId> = states.map(|state| self.states[state]).collect();
        nodes.len()
    }
}
