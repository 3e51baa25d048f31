//! The constraints of a program, and the nodes they speak of.

use drip_base::IndexVec;
use drip_models::Library;
use drip_program::{Program, TypeId, ValueId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::call::{CallSite, Callee};
use super::instances::{CloneLimits, Instances};
use super::objects::{ObjectKind, Objects};
use super::substitute::collapse_walks;
use super::{CallId, InstanceId, LocId, NodeId};

/// One inclusion. `*p` stands for what all locations in p's set hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Constraint {
    /// p ⊇ { loc }
    Addr { dst: NodeId, loc: LocId },
    /// p ⊇ q
    Copy { dst: NodeId, src: NodeId },
    /// p ⊇ q + offset + any multiple of `stride` (0: none)
    Field {
        dst: NodeId,
        src: NodeId,
        offset: i64,
        stride: u32,
    },
    /// p ⊇ *q
    Load { dst: NodeId, addr: NodeId },
    /// *p ⊇ q
    Store { addr: NodeId, src: NodeId },
    /// Field by field, for `len` bytes: *(p + i) ⊇ *(q + i)
    MemCopy { dst: NodeId, src: NodeId, len: u64 },
    /// Calls every function in the callee's set.
    Call(CallId),
}

/// Constraints of all instances. Solvers take it, add what indirect calls bring, and hand it on frozen.
#[derive(Clone)]
pub struct System<'p> {
    pub program: &'p Program,
    pub library: &'p Library,
    pub instances: Instances,
    pub objects: Objects,
    pub constraints: Vec<Constraint>,
    pub calls: IndexVec<CallId, CallSite>,
    /// What direct calls reach, by caller and instruction; indirect ones are in the solution.
    pub direct: FxHashMap<(InstanceId, drip_program::InstId), Callee>,
    nodes: usize,
    /// Node of each value of each instance; [`NO_NODE`] for values that carry no pointer.
    values: IndexVec<InstanceId, Box<[NodeId]>>,
    pub(super) params: IndexVec<InstanceId, SmallVec<[Option<NodeId>; 4]>>,
    pub(super) returns: IndexVec<InstanceId, Option<NodeId>>,
    pub(super) varargs: IndexVec<InstanceId, Option<NodeId>>,
    /// Collects what code out of sight is given, and everything reachable from that.
    pub handed: NodeId,
    /// Holds one location that stands for everything that code out of sight can reach: nothing of what was handed over comes
    /// back by name, so the sets of those who deal with such code stay small.
    pub outside: NodeId,
    /// The location in `outside`.
    pub unseen: LocId,
    addresses: FxHashMap<LocId, NodeId>,
    /// What each location holds; grows with the locations.
    pub contents: IndexVec<LocId, NodeId>,
}

pub const NO_NODE: NodeId = NodeId::from_u32(u32::MAX);

impl<'p> System<'p> {
    pub fn build(program: &'p Program, library: &'p Library, limits: &CloneLimits) -> System<'p> {
        let instances = Instances::build(program, library, limits);
        let mut system = System {
            program,
            library,
            objects: Objects::default(),
            constraints: Vec::new(),
            calls: IndexVec::new(),
            direct: FxHashMap::default(),
            nodes: 0,
            values: IndexVec::new(),
            params: IndexVec::new(),
            returns: IndexVec::new(),
            varargs: IndexVec::new(),
            handed: NodeId::from_u32(0),
            outside: NodeId::from_u32(0),
            unseen: LocId::from_u32(0),
            addresses: FxHashMap::default(),
            contents: IndexVec::new(),
            instances,
        };
        system.handed = system.fresh_node();
        system.outside = system.address(ObjectKind::Outside, None, 0);
        let library_memory = system.address(ObjectKind::Library, None, 0);
        system.unseen = LocId::from_u32(0);
        let (dst, src) = (system.handed, system.outside);
        system.push(Constraint::Copy { dst, src });
        // Memory out of sight leads to memory out of sight, memory of the library to both.
        let outside = system.contents[LocId::from_u32(0)];
        let library = system.contents[LocId::from_u32(1)];
        system.push(Constraint::Copy { dst: outside, src });
        system.push(Constraint::Copy { dst: library, src });
        let (dst, src) = (library, library_memory);
        system.push(Constraint::Copy { dst, src });
        system.generate();
        collapse_walks(&mut system);
        system
    }

    pub(super) fn add_values(&mut self, nodes: Box<[NodeId]>) {
        self.values.push(nodes);
    }

    pub fn node_count(&self) -> usize {
        self.nodes
    }

    pub(super) fn fresh_node(&mut self) -> NodeId {
        let node = NodeId::new(self.nodes);
        self.nodes += 1;
        node
    }

    pub(super) fn push(&mut self, constraint: Constraint) {
        match constraint {
            Constraint::Copy { dst, src } if dst == src => {}
            other => self.constraints.push(other),
        }
    }

    pub(super) fn pointer_bytes(&self) -> u64 {
        self.program.types.layout.pointer_bytes
    }

    /// Node of a value; `None` if it carries no pointer.
    pub fn value(&self, instance: InstanceId, value: ValueId) -> Option<NodeId> {
        let node = *self.values.get(instance)?.get(value.index())?;
        (node != NO_NODE).then_some(node)
    }

    /// Makes sure that every location has a node for what it holds.
    pub(super) fn sync_contents(&mut self) {
        while self.contents.len() < self.objects.loc_count() {
            let node = self.fresh_node();
            self.contents.push(node);
        }
    }

    /// What a location holds.
    pub fn content(&self, loc: LocId) -> NodeId {
        self.contents[self.objects.find(loc)]
    }

    /// What is read from a location.
    pub fn read(&self, loc: LocId) -> Option<NodeId> {
        self.objects.is_readable(loc).then(|| self.content(loc))
    }

    /// Where a store to a location goes. What is put into memory out of sight is handed over and does not come back by name.
    pub fn written(&self, loc: LocId) -> Option<NodeId> {
        match self.objects.kind_of(loc) {
            ObjectKind::Outside | ObjectKind::Library => Some(self.handed),
            _ => self.objects.is_writable(loc).then(|| self.content(loc)),
        }
    }

    /// A node that holds nothing but one address.
    pub(super) fn address(&mut self, kind: ObjectKind, ty: Option<TypeId>, offset: i64) -> NodeId {
        let object = self.objects.object(kind, ty);
        let types = &self.program.types;
        if let ObjectKind::Global(global) = kind {
            self.objects.list[object].is_const = self.program.globals[global].is_const;
        }
        // An address beyond any block is none that the program can use.
        let loc = self.objects.loc(types, object, offset);
        let loc = loc.or_else(|| self.objects.loc(types, object, 0));
        let node = match loc.and_then(|loc| self.addresses.get(&loc)) {
            Some(&known) => return known,
            None => self.fresh_node(),
        };
        if let Some(loc) = loc {
            self.sync_contents();
            self.addresses.insert(loc, node);
            self.push(Constraint::Addr { dst: node, loc });
        }
        node
    }

    /// `node + offset + i·stride`.
    pub(super) fn moved(&mut self, node: NodeId, offset: i64, stride: u32) -> NodeId {
        if offset == 0 && stride == 0 {
            return node;
        }
        let dst = self.fresh_node();
        self.push(Constraint::Field {
            dst,
            src: node,
            offset,
            stride,
        });
        dst
    }
}
