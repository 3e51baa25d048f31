//! The twin of the fast solver: every constraint, again and again, until nothing changes. For tests.

use drip_base::{IdSet, IndexVec};

use super::call::Callee;
use super::constraint::{Constraint, System};
use super::effect::{
    Moved, copied_fields, copied_stride, copied_to, moved, needs_array, overflows,
};
use super::objects::ObjectKind;
use super::points_to::{PointsTo, SolverStatistics};
use super::{CallId, LocId, LocSet, NodeId, ObjectId};

struct Naive<'p> {
    system: System<'p>,
    sets: Vec<LocSet>,
    callees: IndexVec<CallId, Vec<Callee>>,
    changed: bool,
    /// Locations that there were at the end of the last round.
    locations: usize,
    /// Calls through pointers from out of sight.
    unseen_calls: Vec<CallId>,
    /// Objects that were moved far into; they have a tail once the rest is stable.
    overflowing: Vec<ObjectId>,
}

pub fn solve(system: System<'_>) -> PointsTo<'_> {
    let calls = system.calls.len();
    let mut naive = Naive {
        system,
        sets: Vec::new(),
        callees: IndexVec::from_elem(Vec::new(), calls),
        changed: true,
        locations: 0,
        unseen_calls: Vec::new(),
        overflowing: Vec::new(),
    };
    loop {
        while naive.changed {
            naive.round();
        }
        for object in std::mem::take(&mut naive.overflowing) {
            let object = &mut naive.system.objects.list[object];
            if object.stride == 0 && !object.has_tail {
                object.has_tail = true;
                naive.changed = true;
            }
        }
        if !naive.changed {
            break;
        }
    }
    let nodes = naive.system.node_count();
    let reps = (0..nodes).map(NodeId::new).collect();
    PointsTo::new(
        naive.system,
        reps,
        naive.sets,
        IdSet::new(),
        naive.callees,
        SolverStatistics::default(),
    )
}

impl Naive<'_> {
    fn round(&mut self) {
        self.changed = false;
        self.overflowing.clear();
        let mut at = 0;
        while at < self.system.constraints.len() {
            let constraint = self.system.constraints[at];
            self.constraint(constraint);
            at += 1;
        }
        self.outside();
        // A location that is new may have to be copied from, even if it holds nothing yet.
        let locations = self.system.objects.loc_count();
        self.changed |= locations != self.locations;
        self.locations = locations;
    }

    fn set(&mut self, node: NodeId) -> &mut LocSet {
        if self.sets.len() <= node.index() {
            self.sets.resize(self.system.node_count(), LocSet::new());
        }
        &mut self.sets[node.index()]
    }

    /// Members of a set, merged ones as what they are now.
    fn members(&mut self, node: NodeId) -> Vec<LocId> {
        let members: Vec<LocId> = self.set(node).iter().collect();
        let mut members: Vec<LocId> = members
            .iter()
            .map(|&loc| self.system.objects.find(loc))
            .collect();
        members.sort_unstable();
        members.dedup();
        members
    }

    fn add(&mut self, node: NodeId, loc: LocId) {
        let loc = self.system.objects.find(loc);
        let new = self.set(node).insert(loc);
        self.changed |= new;
    }

    fn include(&mut self, dst: NodeId, src: NodeId) {
        for loc in self.members(src) {
            self.add(dst, loc);
        }
    }

    fn make_array(&mut self, object: ObjectId, stride: u32) {
        let before = self.system.objects.list[object].stride;
        let types = &self.system.program.types;
        let merges = self.system.objects.make_array(types, object, stride);
        self.changed |= self.system.objects.list[object].stride != before;
        for (gone, kept) in merges {
            let (from, to) = (self.system.contents[gone], self.system.contents[kept]);
            self.include(to, from);
        }
    }

    fn constraint(&mut self, constraint: Constraint) {
        let types = &self.system.program.types;
        match constraint {
            Constraint::Addr { dst, loc } => self.add(dst, loc),
            Constraint::Copy { dst, src } => self.include(dst, src),
            Constraint::Field {
                dst,
                src,
                offset,
                stride,
            } => {
                for loc in self.members(src) {
                    match moved(&mut self.system.objects, types, loc, offset, stride) {
                        Moved::At(to) => {
                            self.system.sync_contents();
                            self.add(dst, to);
                        }
                        // The next round moves it.
                        Moved::NeedsArray(object, stride) => self.make_array(object, stride),
                        Moved::Parked(object, at) => {
                            if overflows(&self.system.objects, object, at) {
                                self.overflowing.push(object);
                            }
                        }
                    }
                }
            }
            Constraint::Load { dst, addr } => {
                for loc in self.members(addr) {
                    if let Some(content) = self.system.read(loc) {
                        self.include(dst, content);
                    }
                }
            }
            Constraint::Store { addr, src } => {
                for loc in self.members(addr) {
                    if let Some(content) = self.system.written(loc) {
                        self.include(content, src);
                    }
                }
            }
            Constraint::MemCopy { dst, src, len } => {
                for from in self.members(src) {
                    for to in self.members(dst) {
                        self.copy(to, from, len);
                    }
                }
            }
            Constraint::Call(call) => self.call(call),
        }
    }

    fn copy(&mut self, to: LocId, from: LocId, len: u64) {
        let types = &self.system.program.types;
        let stride = copied_stride(&self.system.objects, from, len);
        if needs_array(&self.system.objects, types, to, stride) {
            let object = self.system.objects.object_of(to);
            return self.make_array(object, stride);
        }
        for (distance, field) in copied_fields(&self.system.objects, from, len) {
            let Some(field) = self.system.read(field) else {
                continue;
            };
            let place = copied_to(&mut self.system.objects, types, to, distance);
            self.system.sync_contents();
            if let Some(place) = place.and_then(|place| self.system.written(place)) {
                self.include(place, field);
            }
        }
    }

    fn call(&mut self, call: CallId) {
        let site = self.system.calls[call].clone();
        let Some(callee) = site.callee else { return };
        for loc in self.members(callee) {
            let func = match self.system.objects.kind_of(loc) {
                ObjectKind::Function(func) => func,
                ObjectKind::Outside if !self.unseen_calls.contains(&call) => {
                    self.unseen_calls.push(call);
                    self.system.reach_outside(&site);
                    self.changed = true;
                    continue;
                }
                _ => continue,
            };
            if self.callees[call].iter().any(|&known| self.is(known, func)) {
                continue;
            }
            if let Some(reached) = self.system.reach(&site, func) {
                self.callees[call].push(reached);
                self.changed = true;
            }
        }
    }

    fn is(&self, callee: Callee, func: drip_program::FuncId) -> bool {
        match callee {
            Callee::External(known) => known == func,
            Callee::Instance(instance) => self.system.instances.list[instance].func == func,
        }
    }

    /// Code out of sight reads and writes all that it was handed, and calls the functions it knows.
    fn outside(&mut self) {
        let System {
            handed,
            outside,
            unseen,
            ..
        } = self.system;
        for loc in self.members(handed) {
            match self.system.objects.kind_of(loc) {
                ObjectKind::Function(func) => {
                    let Some(base) = self.system.instances.base(func) else {
                        continue;
                    };
                    let params = self.system.params[base].clone();
                    for param in params
                        .into_iter()
                        .flatten()
                        .chain(self.system.varargs[base])
                    {
                        self.include(param, outside);
                    }
                    if let Some(ret) = self.system.returns[base] {
                        self.include(handed, ret);
                    }
                }
                ObjectKind::Library => {}
                _ => {
                    let object = self.system.objects.object_of(loc);
                    for (_, field) in self.system.objects.list[object].locs().to_vec() {
                        if let Some(content) = self.system.written(field) {
                            self.add(content, unseen);
                        }
                        if let Some(content) = self.system.read(field) {
                            self.include(handed, content);
                        }
                        self.add(handed, field);
                    }
                }
            }
        }
    }
}
