//! The graph itself, frozen once built.

use drip_base::{IndexVec, entity_id};
use drip_memssa::VersionId;
use drip_pointer::andersen::{InstanceId, LocId};
use drip_program::{BlockId, InstId, ValueId};
use rustc_hash::FxHashMap;

entity_id! {
    /// A node of the value-flow graph.
    pub struct NodeId = "n";
    /// A call site: an instruction of an instance.
    pub struct SiteId = "s";
}

/// What is defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Node {
    /// p̂: an SSA value.
    Value {
        instance: InstanceId,
        value: ValueId,
    },
    /// R̂ᵢ: a version of a region.
    Version {
        instance: InstanceId,
        version: VersionId,
    },
    /// μ̂(R): a pseudo-parameter of a call.
    Mu {
        instance: InstanceId,
        call: InstId,
        version: VersionId,
    },
    /// A block that a call allocates.
    Source {
        instance: InstanceId,
        call: InstId,
        index: u16,
    },
    /// A deallocation.
    Sink { instance: InstanceId, at: InstId },
    /// Memory that global variables lead to.
    Shared(LocId),
    /// The GLOBAL region, and everything out of sight.
    Global,
}

/// Where in a function a definition stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    Entry,
    Start(BlockId),
    After(InstId),
}

/// Where in the function of its definition a value is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Use {
    At(InstId),
    /// By a φ: on the way from one block to the other.
    OnEdge(BlockId, BlockId),
    /// Anywhere: no condition is known.
    Anywhere,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EdgeKind {
    Intra,
    /// `(k`
    Call(SiteId),
    /// `)k`
    Return(SiteId),
    /// Out of shared memory, into any context.
    Jump,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Edge {
    pub to: NodeId,
    pub kind: EdgeKind,
    pub used: Use,
}

/// The graph.
#[derive(Default)]
pub struct Svfg {
    pub nodes: IndexVec<NodeId, Node>,
    pub edges: IndexVec<NodeId, Vec<Edge>>,
    pub places: IndexVec<NodeId, Place>,
    pub sites: IndexVec<SiteId, (InstanceId, InstId)>,
    /// All sources, in order of instances.
    pub sources: Vec<NodeId>,
    ids: FxHashMap<Node, NodeId>,
    site_ids: FxHashMap<(InstanceId, InstId), SiteId>,
}

impl Svfg {
    pub fn find(&self, node: Node) -> Option<NodeId> {
        self.ids.get(&node).copied()
    }

    pub fn edge_count(&self) -> usize {
        self.edges.iter().map(Vec::len).sum()
    }

    pub(super) fn node(&mut self, node: Node, place: Place) -> NodeId {
        if let Some(&known) = self.ids.get(&node) {
            return known;
        }
        let id = self.nodes.push(node);
        self.edges.push(Vec::new());
        self.places.push(place);
        self.ids.insert(node, id);
        id
    }

    pub(super) fn site(&mut self, instance: InstanceId, call: InstId) -> SiteId {
        if let Some(&known) = self.site_ids.get(&(instance, call)) {
            return known;
        }
        let id = self.sites.push((instance, call));
        self.site_ids.insert((instance, call), id);
        id
    }

    pub(super) fn edge(&mut self, from: NodeId, to: NodeId, kind: EdgeKind, used: Use) {
        self.edges[from].push(Edge { to, kind, used });
    }

    pub(super) fn freeze(&mut self) {
        for edges in self.edges.iter_mut() {
            edges.sort_unstable();
            edges.dedup();
            edges.shrink_to_fit();
        }
    }
}

impl Node {
    /// The instance that the node belongs to.
    pub fn instance(self) -> Option<InstanceId> {
        match self {
            Node::Value { instance, .. }
            | Node::Version { instance, .. }
            | Node::Mu { instance, .. }
            | Node::Source { instance, .. }
            | Node::Sink { instance, .. } => Some(instance),
            Node::Shared(_) | Node::Global => None,
        }
    }
}
