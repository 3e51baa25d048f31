//! The frozen result: points-to sets of all nodes, and what every call reaches.

use std::borrow::Cow;

use drip_base::{IdSet, IndexVec};
use drip_program::{Body, Const, FuncId, InstId, Operand, OperandKind, ValueId};
use rustc_hash::FxHashMap;

use super::call::Callee;
use super::constraint::System;
use super::objects::{ObjectKind, Objects};
use super::{CallId, InstanceId, Instances, LocId, LocSet, NodeId, ObjectId};

/// What the solver did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SolverStatistics {
    pub nodes: usize,
    /// Nodes that were one with another before solving (variable substitution, copy cycles).
    pub substituted: usize,
    /// Nodes on cycles found while solving.
    pub collapsed: usize,
    pub rounds: usize,
    /// Nodes whose sets were given up because they were too large.
    pub wide: usize,
    pub constraints: usize,
    pub edges: usize,
    pub locations: usize,
}

/// Points-to sets of the whole program.
pub struct PointsTo<'p> {
    pub system: System<'p>,
    /// Where the set of each node is.
    reps: Vec<NodeId>,
    sets: Vec<LocSet>,
    /// Nodes that point to anything that code out of sight can reach: their sets were too large.
    wide: IdSet<NodeId>,
    /// Nodes that some heap block is in the set of.
    on_heap: IdSet<NodeId>,
    callees: FxHashMap<(InstanceId, InstId), Vec<Callee>>,
    pub statistics: SolverStatistics,
}

static NOTHING: LocSet = LocSet::new();

impl<'p> PointsTo<'p> {
    pub(super) fn new(
        system: System<'p>,
        reps: Vec<NodeId>,
        mut sets: Vec<LocSet>,
        wide: IdSet<NodeId>,
        indirect: IndexVec<CallId, Vec<Callee>>,
        statistics: SolverStatistics,
    ) -> PointsTo<'p> {
        let locs = || (0..system.objects.loc_count()).map(LocId::new);
        let gone: LocSet = locs().filter(|&l| system.objects.find(l) != l).collect();
        for set in sets.iter_mut().filter(|set| set.intersects(&gone)) {
            let mut members: Vec<LocId> = set.iter().map(|loc| system.objects.find(loc)).collect();
            members.sort_unstable();
            *set = members.into_iter().collect();
        }
        let is_heap = |loc: LocId| matches!(system.objects.kind_of(loc), ObjectKind::Heap { .. });
        let mut heap: LocSet = locs().filter(|&loc| is_heap(loc)).collect();
        if !wide.is_empty() {
            // It stands for blocks too that only wide pointers lead to.
            heap.insert(system.unseen);
        }
        let on_heap = (0..sets.len())
            .filter(|&node| sets[node].intersects(&heap))
            .map(NodeId::new)
            .collect();
        let mut callees: FxHashMap<(InstanceId, InstId), Vec<Callee>> = FxHashMap::default();
        for (&site, &callee) in &system.direct {
            callees.insert(site, vec![callee]);
        }
        for (call, mut reached) in indirect.into_iter_enumerated() {
            reached.sort_unstable();
            reached.dedup();
            let site = &system.calls[call];
            callees.insert((site.instance, site.inst), reached);
        }
        PointsTo {
            system,
            reps,
            sets,
            wide,
            on_heap,
            callees,
            statistics,
        }
    }

    pub fn instances(&self) -> &Instances {
        &self.system.instances
    }

    pub fn objects(&self) -> &Objects {
        &self.system.objects
    }

    pub fn node(&self, node: NodeId) -> &LocSet {
        let rep = self.reps.get(node.index());
        rep.and_then(|rep| self.sets.get(rep.index()))
            .unwrap_or(&NOTHING)
    }

    /// Was the node's set given up? Then it points to anything that code out of sight can reach.
    pub fn is_wide(&self, node: NodeId) -> bool {
        let rep = self.reps.get(node.index());
        rep.is_some_and(|&rep| self.wide.contains(rep))
    }

    /// Functions with a pointer whose set was given up.
    pub fn functions_with_wide_pointers(&self) -> usize {
        let instances = self.instances().list.iter_enumerated();
        let has_wide = |instance: InstanceId, func: FuncId| {
            let body = self.system.program.funcs[func].body.as_ref();
            let values = body.map_or(0, Body::value_count);
            (0..values).any(|value| {
                let node = self.system.value(instance, ValueId::new(value));
                node.is_some_and(|node| self.is_wide(node))
            })
        };
        let mut found: Vec<FuncId> = instances
            .filter(|(instance, data)| has_wide(*instance, data.func))
            .map(|(_, data)| data.func)
            .collect();
        found.sort_unstable();
        found.dedup();
        found.len()
    }

    /// What a value points to.
    pub fn value(&self, instance: InstanceId, value: ValueId) -> &LocSet {
        match self.system.value(instance, value) {
            Some(node) => self.node(node),
            None => &NOTHING,
        }
    }

    /// Can a value point to a heap block?
    pub fn is_on_heap(&self, instance: InstanceId, value: ValueId) -> bool {
        let node = self.system.value(instance, value);
        let rep = node.and_then(|node| self.reps.get(node.index()));
        rep.is_some_and(|&rep| self.on_heap.contains(rep))
    }

    /// Is the location one of a heap block, or one that stands for such blocks too?
    pub fn can_be_heap(&self, loc: LocId) -> bool {
        let is_heap = matches!(self.objects().kind_of(loc), ObjectKind::Heap { .. });
        is_heap || (loc == self.system.unseen && !self.wide.is_empty())
    }

    /// What an operand points to.
    pub fn operand(&self, instance: InstanceId, body: &Body, operand: Operand) -> Cow<'_, LocSet> {
        let constant = match operand.kind() {
            OperandKind::Value(value) => return Cow::Borrowed(self.value(instance, value)),
            OperandKind::Const(constant) => constant,
        };
        let types = &self.system.program.types;
        let loc = match &body.consts[constant] {
            Const::Global { global, offset } => {
                let object = self.objects().find_object(ObjectKind::Global(*global));
                let at = |offset| self.objects().existing(types, object?, offset);
                // As the constraints have it: an address beyond the variable is the variable's.
                at(*offset).or_else(|| at(0))
            }
            Const::Func(func) => {
                let object = self.objects().find_object(ObjectKind::Function(*func));
                object.and_then(|o| self.objects().existing(types, o, 0))
            }
            _ => None,
        };
        Cow::Owned(loc.into_iter().collect())
    }

    /// What a location holds.
    pub fn content(&self, loc: LocId) -> &LocSet {
        self.node(self.system.content(loc))
    }

    /// Can a location hold the address of a heap block?
    pub fn holds_heap(&self, loc: LocId) -> bool {
        let rep = self.reps.get(self.system.content(loc).index());
        rep.is_some_and(|&rep| self.on_heap.contains(rep))
    }

    /// What code out of sight can reach.
    pub fn outside(&self) -> &LocSet {
        self.node(self.system.handed)
    }

    /// What a call reaches in sight; nothing if its pointer leads nowhere or out of sight.
    pub fn callees(&self, instance: InstanceId, call: InstId) -> &[Callee] {
        self.callees
            .get(&(instance, call))
            .map_or(&[], Vec::as_slice)
    }

    /// All live locations.
    pub fn locations(&self) -> impl Iterator<Item = (ObjectId, u32, LocId)> + '_ {
        let objects = self.objects().list.iter_enumerated();
        objects.flat_map(|(id, object)| {
            object
                .locs()
                .iter()
                .map(move |&(offset, loc)| (id, offset, loc))
        })
    }
}
