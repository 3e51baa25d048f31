//! Question: which values does an instruction move, from where to where? In terms of locations, after the points-to sets are
//! known: what mod/ref, μ and χ, and value-flow graphs are made of.

use std::borrow::Cow;

use drip_models::{CellPath, Offset, Root, Summary, Value, ValuePath};
use drip_program::{Body, CallFlags, InstId, Op, Operand, RmwOp, ValueId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::call::Callee;
use super::effect::copied_fields;
use super::external::{ExternalCall, external_call};
use super::generate::{copied_bytes, operand_type, pointer_leaves};
use super::objects::ObjectKind;
use super::points_to::PointsTo;
use super::{InstanceId, LocSet};

/// One end of a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    Operand(Operand),
    /// The instruction's own result.
    Result,
    /// The `index`-th block that the instruction allocates.
    Fresh(u16),
    Memory(LocSet),
    /// A deallocator takes it.
    Freed,
    /// Code out of sight gets it.
    Outside,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    pub from: End,
    pub to: End,
}

/// Sets of an instance's values that are smaller than the solution has them.
pub type Refined = FxHashMap<ValueId, LocSet>;

/// What instructions do to memory.
pub struct Memory<'m, 'p> {
    pub points_to: &'m PointsTo<'p>,
    /// What is known better about the values of the instance at work.
    pub refined: Option<&'m Refined>,
}

impl<'m> Memory<'m, '_> {
    /// What an operand points to.
    pub fn operand(&self, instance: InstanceId, body: &Body, operand: Operand) -> Cow<'m, LocSet> {
        let value = operand.as_value();
        match value.and_then(|value| self.refined?.get(&value)) {
            Some(set) => Cow::Borrowed(set),
            None => self.points_to.operand(instance, body, operand),
        }
    }

    /// Flows of an instruction through memory, and those of external calls. Plain copies of SSA values, calls of instances
    /// and returns are not among them.
    pub fn flows(&self, instance: InstanceId, body: &Body, inst: InstId) -> Vec<Flow> {
        let mut out = Vec::new();
        let data = body.insts[inst];
        let types = &self.points_to.system.program.types;
        match data.op {
            Op::Load { addr } => {
                let leaves = pointer_leaves(types, data.ty);
                self.read(instance, body, addr, &leaves, &mut out);
            }
            Op::Store { addr, value } => self.write(instance, body, addr, value, &mut out),
            Op::AtomicRmw { addr, value, op } => {
                let leaves = pointer_leaves(types, data.ty);
                self.read(instance, body, addr, &leaves, &mut out);
                if op == RmwOp::Xchg {
                    self.write(instance, body, addr, value, &mut out);
                }
            }
            Op::CmpXchg { addr, new, .. } => {
                self.read(instance, body, addr, &[0], &mut out);
                self.write(instance, body, addr, new, &mut out);
            }
            Op::MemCopy { dst, src, len } => {
                let from = self.operand(instance, body, src);
                let to = self.operand(instance, body, dst);
                self.copy(&from, &to, copied_bytes(body, len), &mut out);
            }
            Op::Call { args, flags, .. } | Op::Invoke { args, flags, .. } => {
                let call = Call {
                    memory: self,
                    instance,
                    body,
                    inst,
                    args: body.list(args),
                };
                if flags.has(CallFlags::ASM) {
                    call.effects(&ExternalCall::opaque(args.len as usize), &mut out);
                }
                let callees = self.points_to.callees(instance, inst);
                for &callee in callees {
                    if let Callee::External(func) = callee {
                        let system = &self.points_to.system;
                        if let Some(external) = external_call(system.program, system.library, func)
                        {
                            call.effects(&external, &mut out);
                        }
                    }
                }
                if callees.is_empty() && !flags.has(CallFlags::ASM) {
                    call.effects(&ExternalCall::opaque(args.len as usize), &mut out);
                }
            }
            _ => {}
        }
        out.retain_mut(|flow| self.is_possible(flow));
        out
    }

    /// Leaves out locations that hold nothing; false if nothing is left.
    fn is_possible(&self, flow: &mut Flow) -> bool {
        let objects = self.points_to.objects();
        let keep = |set: &mut LocSet, can: &dyn Fn(super::LocId) -> bool| {
            if set.iter().any(|loc| !can(loc)) {
                *set = set.iter().filter(|&loc| can(loc)).collect();
            }
            !set.is_empty()
        };
        let from = match &mut flow.from {
            End::Memory(set) => keep(set, &|loc| objects.is_readable(loc)),
            _ => true,
        };
        let to = match &mut flow.to {
            End::Memory(set) => keep(set, &|loc| objects.is_writable(loc)),
            _ => true,
        };
        from && to
    }

    fn read(
        &self,
        instance: InstanceId,
        body: &Body,
        addr: Operand,
        leaves: &[u64],
        out: &mut Vec<Flow>,
    ) {
        let set = self.operand(instance, body, addr);
        let locs = self.shifted_by_all(&set, leaves);
        if !locs.is_empty() {
            out.push(Flow {
                from: End::Memory(locs),
                to: End::Result,
            });
        }
    }

    fn write(
        &self,
        instance: InstanceId,
        body: &Body,
        addr: Operand,
        value: Operand,
        out: &mut Vec<Flow>,
    ) {
        let leaves = match operand_type(body, value) {
            Some(ty) => pointer_leaves(&self.points_to.system.program.types, ty),
            None => SmallVec::from_slice(&[0]),
        };
        let set = self.operand(instance, body, addr);
        let locs = self.shifted_by_all(&set, &leaves);
        if !locs.is_empty() {
            out.push(Flow {
                from: End::Operand(value),
                to: End::Memory(locs),
            });
        }
    }

    fn shifted_by_all(&self, set: &LocSet, leaves: &[u64]) -> LocSet {
        match leaves {
            [0] => set.clone(),
            _ => {
                let mut out = LocSet::new();
                for &leaf in leaves {
                    out.union_with(&self.shifted(set, leaf as i64));
                }
                out
            }
        }
    }

    /// The locations `offset` bytes further, those that exist.
    pub fn shifted(&self, set: &LocSet, offset: i64) -> LocSet {
        if offset == 0 {
            return set.clone();
        }
        let objects = self.points_to.objects();
        let types = &self.points_to.system.program.types;
        let mut found: Vec<_> = set
            .iter()
            .filter_map(|loc| {
                let at = i64::from(objects.offset_of(loc)).saturating_add(offset);
                objects.existing(types, objects.object_of(loc), at)
            })
            .collect();
        found.sort_unstable();
        found.into_iter().collect()
    }

    /// Field by field.
    fn copy(&self, from: &LocSet, to: &LocSet, len: u64, out: &mut Vec<Flow>) {
        let objects = self.points_to.objects();
        let mut by_distance: std::collections::BTreeMap<u64, LocSet> = Default::default();
        for loc in from.iter() {
            for (distance, field) in copied_fields(objects, loc, len) {
                by_distance.entry(distance).or_default().insert(field);
            }
        }
        for (distance, fields) in by_distance {
            let places = self.shifted(to, i64::try_from(distance).unwrap_or(i64::MAX));
            if !places.is_empty() {
                out.push(Flow {
                    from: End::Memory(fields),
                    to: End::Memory(places),
                });
            }
        }
    }
}

/// One call of an external function.
struct Call<'c, 'p> {
    memory: &'c Memory<'c, 'p>,
    instance: InstanceId,
    body: &'c Body,
    inst: InstId,
    args: &'c [Operand],
}

impl Call<'_, '_> {
    fn effects(&self, external: &ExternalCall, out: &mut Vec<Flow>) {
        let summary: &Summary = &external.summary;
        let mut push = |flow: Flow| {
            if !out.contains(&flow) {
                out.push(flow);
            }
        };
        for outcome in &summary.outcomes {
            if let Some(from) = self.source(&outcome.ret) {
                push(Flow {
                    from,
                    to: End::Result,
                });
            }
            for write in &outcome.writes {
                let cells = self.cells(&write.cell);
                if let (Some(from), false) = (self.source(&write.value), cells.is_empty()) {
                    push(Flow {
                        from,
                        to: End::Memory(cells),
                    });
                }
            }
            for free in &outcome.frees {
                if let Some(from) = self.entry(&free.path) {
                    push(Flow {
                        from,
                        to: End::Freed,
                    });
                }
            }
            for escape in &outcome.escapes {
                if let Some(from) = self.entry(&escape.path) {
                    push(Flow {
                        from,
                        to: End::Outside,
                    });
                }
            }
            let mut copied = Vec::new();
            for copy in &outcome.copies {
                let from = self.value(&copy.from);
                let to = self.value(&ValuePath::root(Root::Fresh(copy.to)));
                self.memory.copy(&from, &to, u64::MAX, &mut copied);
            }
            copied.into_iter().for_each(&mut push);
        }
    }

    /// Where a value at the end of the call comes from.
    fn source(&self, value: &Value) -> Option<End> {
        match value {
            Value::Fresh { index, .. } => Some(End::Fresh(*index)),
            Value::Entry { path, .. } => self.entry(path),
            Value::Int(_) | Value::Func(_) | Value::Unknown(_) => None,
        }
    }

    /// A value of the entry state: an argument, or what a cell holds.
    fn entry(&self, path: &ValuePath) -> Option<End> {
        match (path.root, path.loads.split_last()) {
            (Root::Arg(index), None) => self
                .args
                .get(usize::from(index))
                .map(|&arg| End::Operand(arg)),
            (Root::Fresh(index), None) => Some(End::Fresh(index)),
            (_, None) => None,
            (root, Some((&last, loads))) => {
                let base = ValuePath {
                    root,
                    loads: SmallVec::from_slice(loads),
                };
                let cells = self.offset_by(&self.value(&base), last);
                (!cells.is_empty()).then_some(End::Memory(cells))
            }
        }
    }

    fn cells(&self, cell: &CellPath) -> LocSet {
        self.offset_by(&self.value(&cell.base), cell.offset)
    }

    fn offset_by(&self, set: &LocSet, offset: Offset) -> LocSet {
        self.memory.shifted(set, offset.base)
    }

    /// What a path's value points to.
    fn value(&self, path: &ValuePath) -> LocSet {
        let points_to = self.memory.points_to;
        let mut set = match path.root {
            Root::Arg(index) => match self.args.get(usize::from(index)) {
                Some(&arg) => self
                    .memory
                    .operand(self.instance, self.body, arg)
                    .into_owned(),
                None => LocSet::new(),
            },
            Root::Fresh(index) => {
                let kind = ObjectKind::Heap {
                    instance: self.instance,
                    call: self.inst,
                    index,
                };
                let types = &points_to.system.program.types;
                let objects = points_to.objects();
                let object = objects.find_object(kind);
                let loc = object.and_then(|object| objects.existing(types, object, 0));
                loc.into_iter().collect()
            }
            Root::Global(_) | Root::Ret => LocSet::new(),
        };
        for &load in &path.loads {
            let mut next = LocSet::new();
            for loc in self.offset_by(&set, load).iter() {
                next.union_with(points_to.content(loc));
            }
            set = next;
        }
        set
    }
}
