//! Question: which nonlocal locations may a function, with all that it calls, read and modify? (SABER §4.2.1, fig. 3)
//!
//! Domain: a pair 𝒰, 𝒟 of location sets per instance, ordered by inclusion; bottom-up over the components of the call graph,
//! to a fixpoint inside recursive ones.
//!
//! Which locations take part ([`Tracking`]): the paper leaves global variables out (assumption 1). In a run for leaks two more
//! kinds are left out, which cannot change a verdict or are handled without call sites: locations that never hold a heap
//! block, and locations that global variables lead to (*shared*): those can be reached from anywhere, so one node per location
//! stands for them in the value-flow graph, flow- and context-insensitively (deviation; in exchange 𝒰 and 𝒟 stay small).

use drip_base::{Graph, IdSet, IndexVec, Sccs, SparseSet, Watch};
use drip_program::{Body, InstId, Op, Operand};

use crate::andersen::{
    Callee, End, Flow, InstanceId, LocId, LocSet, Memory, ObjectId, ObjectKind, PointsTo,
};

/// Part of a location in the analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A global variable's memory: the one GLOBAL region.
    Global,
    /// Code out of sight can reach it.
    Outside,
    /// Global variables lead to it.
    Shared,
    /// Local or nonlocal, as definition 3 has it: takes part in mod/ref, regions and memory SSA.
    Tracked,
    /// Never holds what is looked for.
    Ignored,
}

/// Which locations take part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tracking {
    /// All stack and heap locations, as the paper has it.
    All,
    /// Only those that hold heap blocks and that no global variable leads to.
    HeapHolders,
}

/// Classes of all locations.
pub struct Classes {
    classes: IndexVec<LocId, Class>,
}

impl Classes {
    pub fn of(&self, loc: LocId) -> Class {
        self.classes.get(loc).copied().unwrap_or(Class::Ignored)
    }

    pub fn is_tracked(&self, loc: LocId) -> bool {
        self.of(loc) == Class::Tracked
    }

    pub fn build(points_to: &PointsTo<'_>, tracking: Tracking) -> Classes {
        let objects = points_to.objects();
        let mut classes = IndexVec::from_elem(Class::Ignored, objects.loc_count());
        let shared = match tracking {
            Tracking::All => IdSet::new(),
            Tracking::HeapHolders => shared_objects(points_to),
        };
        let outside: IdSet<ObjectId> = points_to
            .outside()
            .iter()
            .map(|loc| objects.object_of(loc))
            .collect();
        for (object, _, loc) in points_to.locations() {
            let holds_heap = || points_to.holds_heap(loc);
            classes[loc] = match objects.list[object].kind {
                ObjectKind::Global(_) => Class::Global,
                ObjectKind::Outside | ObjectKind::Library => Class::Outside,
                ObjectKind::Function(_) | ObjectKind::VarArgs(_) => Class::Ignored,
                ObjectKind::Stack { .. } | ObjectKind::Heap { .. } => {
                    if tracking == Tracking::All {
                        Class::Tracked
                    } else if outside.contains(object) {
                        Class::Outside
                    } else if !holds_heap() {
                        Class::Ignored
                    } else if shared.contains(object) {
                        Class::Shared
                    } else {
                        Class::Tracked
                    }
                }
            };
        }
        Classes { classes }
    }
}

/// Objects that global variables lead to, over any number of steps.
fn shared_objects(points_to: &PointsTo<'_>) -> IdSet<ObjectId> {
    let objects = points_to.objects();
    let mut shared: IdSet<ObjectId> = IdSet::with_capacity(objects.list.len());
    let mut stack: Vec<ObjectId> = Vec::new();
    for (id, object) in objects.list.iter_enumerated() {
        if matches!(object.kind, ObjectKind::Global(_)) {
            stack.push(id);
        }
    }
    while let Some(object) = stack.pop() {
        if !shared.insert(object) {
            continue;
        }
        for &(_, loc) in objects.list[object].locs() {
            let held = points_to.content(loc).iter();
            stack.extend(
                held.map(|l| objects.object_of(l))
                    .filter(|&o| !shared.contains(o)),
            );
        }
    }
    shared
}

/// Side effects of one instance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// 𝒰: may be read.
    pub uses: LocSet,
    /// 𝒟: may be modified.
    pub defs: LocSet,
}

impl Effects {
    fn union_with(&mut self, other: &Effects) -> bool {
        let uses = self.uses.union_with(&other.uses);
        self.defs.union_with(&other.defs) || uses
    }

    fn retain(&self, keep: impl Fn(LocId) -> bool) -> Effects {
        Effects {
            uses: self.uses.iter().filter(|&loc| keep(loc)).collect(),
            defs: self.defs.iter().filter(|&loc| keep(loc)).collect(),
        }
    }
}

/// Mod/ref of the whole program.
pub struct ModRef {
    effects: IndexVec<InstanceId, Effects>,
    pub sccs: Sccs<InstanceId>,
    pub graph: Graph<InstanceId>,
    /// Tracked objects that each object leads to, itself included.
    reach: Reach,
}

impl ModRef {
    /// `None` if the watch was stopped meanwhile.
    pub fn build(points_to: &PointsTo<'_>, classes: &Classes, watch: &Watch) -> Option<ModRef> {
        let instances = points_to.instances().list.len();
        let graph = call_graph(points_to);
        let sccs = Sccs::compute(&graph);
        let mut out = ModRef {
            effects: IndexVec::from_elem(Effects::default(), instances),
            sccs,
            graph,
            reach: Reach::build(points_to, classes),
        };
        let order: Vec<Vec<InstanceId>> = out.sccs.iter().map(<[_]>::to_vec).collect();
        for members in order {
            let cyclic = members
                .first()
                .is_some_and(|&first| out.sccs.is_cyclic(out.sccs.component_of(first)));
            loop {
                let mut changed = false;
                for &instance in &members {
                    if watch.is_stopped() {
                        return None;
                    }
                    let effects = out.procedure(points_to, classes, instance);
                    changed |= out.effects[instance].union_with(&effects);
                }
                // In the presence of recursion, [I-CALL] and [I-PROC] are applied until a fixed point is reached.
                if !changed || !cyclic {
                    break;
                }
            }
        }
        Some(out)
    }

    pub fn effects(&self, instance: InstanceId) -> &Effects {
        &self.effects[instance]
    }

    /// Definition 3: is the instance on a cycle of calls? Then its own variables are nonlocal.
    pub fn is_recursive(&self, instance: InstanceId) -> bool {
        self.sccs.is_cyclic(self.sccs.component_of(instance))
    }

    /// Definition 3: is the location local to the instance?
    pub fn is_local(&self, points_to: &PointsTo<'_>, instance: InstanceId, loc: LocId) -> bool {
        match points_to.objects().kind_of(loc) {
            ObjectKind::Stack {
                instance: owner, ..
            } => owner == instance && !self.is_recursive(instance),
            _ => false,
        }
    }

    // [I-PROC] (SABER fig. 3): ⊢ f ↓ sᵢ : 𝒰ᵢ, 𝒟ᵢ for all statements of f  ⊢  f : (∪𝒰ᵢ) \ Local_f, (∪𝒟ᵢ) \ Local_f
    fn procedure(
        &self,
        points_to: &PointsTo<'_>,
        classes: &Classes,
        instance: InstanceId,
    ) -> Effects {
        let func = points_to.instances().list[instance].func;
        let Some(body) = &points_to.system.program.funcs[func].body else {
            return Effects::default();
        };
        let mut all = Effects::default();
        for (inst, _) in body.insts.iter_enumerated() {
            let statement = self.statement(points_to, classes, instance, body, inst);
            all.union_with(&statement);
        }
        all.retain(|loc| !self.is_local(points_to, instance, loc))
    }

    /// Side effects of one statement on tracked locations, local ones included.
    ///
    /// Address, copy and return statements have none.
    // [I-ADD] (SABER fig. 3): ⊢ f ↓ p = &v : ∅, ∅
    // [I-COPY] (SABER fig. 3): ⊢ f ↓ p = q : ∅, ∅
    // [I-RET] (SABER fig. 3): ⊢ f ↓ return p : ∅, ∅
    pub fn statement(
        &self,
        points_to: &PointsTo<'_>,
        classes: &Classes,
        instance: InstanceId,
        body: &Body,
        inst: InstId,
    ) -> Effects {
        let mut out = Effects::default();
        match body.insts[inst].op {
            Op::Load { .. }
            | Op::Store { .. }
            | Op::MemCopy { .. }
            | Op::AtomicRmw { .. }
            | Op::CmpXchg { .. } => {}
            Op::Call { .. } | Op::Invoke { .. } => {
                out = self.callees_effects(points_to, instance, body, inst);
            }
            _ => return out,
        }
        let memory = Memory {
            points_to,
            refined: None,
        };
        for Flow { from, to } in memory.flows(instance, body, inst) {
            // [I-LD] (SABER fig. 3): 𝒰 = ps(q) ∩ NonLocal_f  ⊢  f ↓ p = *q : 𝒰, ∅
            if let End::Memory(locs) = from {
                out.uses
                    .extend(locs.iter().filter(|&loc| classes.is_tracked(loc)));
            }
            // [I-ST] (SABER fig. 3): 𝒟 = ps(p) ∩ NonLocal_f  ⊢  f ↓ *p = q : ∅, 𝒟
            if let End::Memory(locs) = to {
                out.defs
                    .extend(locs.iter().filter(|&loc| classes.is_tracked(loc)));
            }
        }
        out
    }

    // [I-CALL] (SABER fig. 3): callees(F_k) = {gᵢ}, ⊢ gᵢ : 𝒰ᵢ, 𝒟ᵢ  ⊢  f ↓ _ = F_k(_) : N ∩ ∪𝒰ᵢ, N ∩ ∪𝒟ᵢ
    pub fn callees_effects(
        &self,
        points_to: &PointsTo<'_>,
        instance: InstanceId,
        body: &Body,
        inst: InstId,
    ) -> Effects {
        let mut out = Effects::default();
        let (Op::Call { args, .. } | Op::Invoke { args, .. }) = body.insts[inst].op else {
            return out;
        };
        let args = body.list(args);
        let mut visible: Option<SparseSet<ObjectId>> = None;
        for &callee in points_to.callees(instance, inst) {
            let Callee::Instance(callee) = callee else {
                continue;
            };
            let effects = &self.effects[callee];
            if effects.uses.is_empty() && effects.defs.is_empty() {
                continue;
            }
            let visible =
                visible.get_or_insert_with(|| self.visible(points_to, instance, body, inst, args));
            let objects = points_to.objects();
            let seen = effects.retain(|loc| visible.contains(objects.object_of(loc)));
            out.union_with(&seen);
        }
        out
    }

    /// N: the objects that a call passes or gets, over any number of steps.
    fn visible(
        &self,
        points_to: &PointsTo<'_>,
        instance: InstanceId,
        body: &Body,
        inst: InstId,
        args: &[Operand],
    ) -> SparseSet<ObjectId> {
        let mut out = SparseSet::new();
        let mut add = |set: &LocSet| {
            let mut last = None;
            for loc in set.iter() {
                let object = points_to.objects().object_of(loc);
                if last != Some(object) {
                    out.union_with(self.reach.from(object));
                    last = Some(object);
                }
            }
        };
        for &arg in args {
            add(&points_to.operand(instance, body, arg));
        }
        add(points_to.value(instance, body.result(inst)));
        out
    }
}

fn call_graph(points_to: &PointsTo<'_>) -> Graph<InstanceId> {
    let instances = &points_to.instances().list;
    Graph::from_fn(instances.len(), |instance: InstanceId, out| {
        let func = instances[instance].func;
        let Some(body) = &points_to.system.program.funcs[func].body else {
            return;
        };
        for (inst, data) in body.insts.iter_enumerated() {
            if matches!(data.op, Op::Call { .. } | Op::Invoke { .. }) {
                for &callee in points_to.callees(instance, inst) {
                    if let Callee::Instance(callee) = callee {
                        out.push(callee);
                    }
                }
            }
        }
        out.sort_unstable();
        out.dedup();
    })
}

/// Which tracked objects each object leads to.
struct Reach {
    sccs: Sccs<ObjectId>,
    sets: Vec<SparseSet<ObjectId>>,
}

impl Reach {
    fn build(points_to: &PointsTo<'_>, classes: &Classes) -> Reach {
        let objects = points_to.objects();
        let tracked = |object: ObjectId| {
            let locs = objects.list[object].locs();
            locs.iter().any(|&(_, loc)| classes.is_tracked(loc))
        };
        let graph = Graph::from_fn(objects.list.len(), |object: ObjectId, out| {
            if !tracked(object) {
                return;
            }
            for &(_, loc) in objects.list[object].locs() {
                let held = points_to.content(loc).iter();
                out.extend(held.map(|l| objects.object_of(l)));
            }
            out.sort_unstable();
            out.dedup();
        });
        let sccs = Sccs::compute(&graph);
        let mut sets: Vec<SparseSet<ObjectId>> = Vec::with_capacity(sccs.len());
        for scc in sccs.bottom_up().iter() {
            let mut set = SparseSet::new();
            for &object in sccs.members(scc) {
                if tracked(object) {
                    set.insert(object);
                }
                for &next in graph.succs(object) {
                    let other = sccs.component_of(next);
                    if other != scc {
                        set.union_with(&sets[other.index()]);
                    }
                }
            }
            sets.push(set);
        }
        Reach { sccs, sets }
    }

    fn from(&self, object: ObjectId) -> &SparseSet<ObjectId> {
        &self.sets[self.sccs.component_of(object).index()]
    }
}
