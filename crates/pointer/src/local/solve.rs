//! Question: which objects can each value of a function, and each cell of its memory, point to?
//!
//! Inclusion constraints over SSA values and cells, field-sensitive by byte offset, flow-insensitive for memory;
//! top-level values are in SSA, so that most of the flow is in the names already (SABER §4.1 does the same for the
//! whole program; memory SSA afterwards adds the rest). Callees act through their summaries only.
//! Domain: sets of (object, offset), at most [`MAX_TARGETS`], then [`Memory::WORLD`]. Order: inclusion. Transfer: one
//! function per instruction. All instructions are visited in rounds until nothing changes; at most [`MAX_ROUNDS`], after
//! which every set that still grows points to the world (`limited` is then set). Cost: rounds × instructions.
//! INVARIANT: sets are sorted and free of duplicates; null adds nothing.

mod access;
mod stack;

use std::sync::Arc;

use drip_base::{IdSet, IndexVec};
use drip_models::{Offset, Summary};
use drip_program::{
    Body, CastOp, Const, ConstId, Init, InstId, Op, Operand, Program, Scalar, Type, TypeId, ValueId,
};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use self::stack::is_made_again;
use super::aggregates::scalars;
use super::object::{CellId, Loc, MAX_ENTRY_DEPTH, Memory, ObjId, ObjKind};

/// Targets of one pointer; beyond it the pointer may point anywhere.
pub const MAX_TARGETS: usize = 16;
/// Offsets into one object in one set; beyond it they join to a strided one.
pub const MAX_OFFSETS: usize = 4;
/// Objects of one function; what further entry cells point to is unknown.
pub const MAX_OBJECTS: usize = 512;
/// Bytes of a copied structure whose cells are all made.
pub const MAX_ASKED_BYTES: u64 = 64;
/// Rounds over the function; beyond it growing sets become unknown.
pub const MAX_ROUNDS: usize = 96;
/// Locations looked at per function, a base and a multiple of its instructions; beyond it growing sets become unknown.
pub const SOLVER_FUEL: (usize, usize) = (200_000, 100);
/// Rounds after which a new offset into an object joins those already known (widening: `p++` in a loop).
pub const WIDEN_AFTER: usize = 3;

/// Sorted set of targets.
pub type LocSet = SmallVec<[Loc; 2]>;

/// What each call of the function does. Calls without an entry have no effect on memory (intrinsics).
pub type CallTable = FxHashMap<InstId, Arc<Summary>>;

/// Where the value of a load comes from, if memory SSA knows: what its cell held on entry, or what these stores put there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    pub entry: bool,
    pub stored: SmallVec<[Operand; 2]>,
}

/// Loads whose source is known.
pub type Sources = FxHashMap<InstId, Source>;

/// Points-to sets of one function. Frozen once built.
#[derive(Clone, Debug)]
pub struct LocalMemory {
    pub memory: Memory,
    pub values: IndexVec<ValueId, LocSet>,
    pub consts: IndexVec<ConstId, LocSet>,
    pub contents: IndexVec<CellId, LocSet>,
    pub limited: bool,
}

impl LocalMemory {
    /// `sources` makes the loads that it names flow-sensitive: a strong update kills what was there before. Each of them reads
    /// one exact cell, by an earlier solution of the same function.
    pub fn build(
        program: &Program,
        body: &Body,
        calls: &CallTable,
        sources: &Sources,
    ) -> LocalMemory {
        let mut solver = Solver::new(program, body, calls, sources);
        solver.run();
        solver.out
    }
}

pub(super) fn world() -> Loc {
    Loc {
        obj: Memory::WORLD,
        off: Offset::ANY,
    }
}

/// Adds to a sorted set; true if that says more than the set did.
pub(super) fn insert(set: &mut LocSet, loc: Loc) -> bool {
    let Err(at) = set.binary_search(&loc) else {
        return false;
    };
    // Offsets into the same object stand together.
    let before = set[..at].iter().rev().take_while(|l| l.obj == loc.obj);
    let start = at - before.count();
    let after = set[at..].iter().take_while(|l| l.obj == loc.obj);
    let end = at + after.count();
    if set[start..end].iter().any(|l| l.off.covers(loc.off)) {
        return false;
    }
    set.insert(at, loc);
    if !loc.off.is_exact() && end > start {
        set.retain(|l| l.obj != loc.obj || *l == loc || !loc.off.covers(l.off));
    }
    true
}

/// Keeps a set within its bounds: joins offsets per object, then gives up to the world. True if it gave up.
fn bound(set: &mut LocSet, offsets: usize) -> bool {
    if set.len() > offsets {
        let mut joined = LocSet::new();
        let mut start = 0;
        while start < set.len() {
            let obj = set[start].obj;
            let end = start + set[start..].iter().take_while(|l| l.obj == obj).count();
            if end - start > offsets {
                let off = set[start..end]
                    .iter()
                    .map(|l| l.off)
                    .reduce(Offset::join)
                    .unwrap_or(Offset::ANY);
                joined.push(Loc { obj, off });
            } else {
                joined.extend_from_slice(&set[start..end]);
            }
            start = end;
        }
        *set = joined;
    }
    let is_full = set.len() > MAX_TARGETS;
    if is_full {
        set.clear();
        set.push(world());
    }
    is_full
}

pub(super) struct Solver<'a> {
    program: &'a Program,
    pub(super) body: &'a Body,
    calls: &'a CallTable,
    sources: &'a Sources,
    pub(super) out: LocalMemory,
    changed: bool,
    /// Last rounds: whatever still grows becomes unknown.
    give_up: bool,
    /// Locations looked at so far.
    steps: usize,
    /// Offsets into one object that a set may have in this round.
    offsets: usize,
    /// Counts changes; an instruction is visited again only if something it reads has changed since.
    clock: u32,
    value_changed: IndexVec<ValueId, u32>,
    object_changed: IndexVec<ObjId, u32>,
    visited: Vec<u32>,
    /// Objects that each instruction looked into when it was visited.
    looked: Vec<SmallVec<[ObjId; 4]>>,
    looking: SmallVec<[ObjId; 4]>,
    /// Cells whose entry contents exist.
    asked: FxHashSet<CellId>,
    /// Cells that are read as pointers although nothing aligns them: fields of packed structures.
    packed: FxHashSet<CellId>,
    /// Sets that had too many targets: they point anywhere from then on. (Filled again and again they would never come to rest.)
    full_values: IdSet<ValueId>,
    full_cells: IdSet<CellId>,
}

impl<'a> Solver<'a> {
    fn new(
        program: &'a Program,
        body: &'a Body,
        calls: &'a CallTable,
        sources: &'a Sources,
    ) -> Self {
        let out = LocalMemory {
            memory: Memory::default(),
            values: IndexVec::from_elem(LocSet::new(), body.value_count()),
            consts: IndexVec::from_elem(LocSet::new(), body.consts.len()),
            contents: IndexVec::new(),
            limited: false,
        };
        let mut solver = Solver {
            program,
            body,
            calls,
            sources,
            out,
            changed: false,
            give_up: false,
            steps: 0,
            offsets: MAX_OFFSETS,
            clock: 1,
            value_changed: IndexVec::from_elem(1, body.value_count()),
            object_changed: IndexVec::new(),
            visited: vec![0; body.insts.len()],
            looked: vec![SmallVec::new(); body.insts.len()],
            looking: SmallVec::new(),
            asked: FxHashSet::default(),
            packed: FxHashSet::default(),
            full_values: IdSet::new(),
            full_cells: IdSet::new(),
        };
        solver.roots();
        solver
    }

    fn roots(&mut self) {
        for index in 0..self.body.param_count() {
            // A number that is passed in is no pointer, wide as it may be.
            let ty = self.body.params[index];
            if self.pointer_like(ty) && !matches!(self.program.types.get(ty), Type::Int(_)) {
                let obj = self.out.memory.object(ObjKind::Param(index as u16), 1);
                self.out.values[self.body.param(index)].push(Loc {
                    obj,
                    off: Offset::ZERO,
                });
            }
        }
        for (id, constant) in self.body.consts.iter_enumerated() {
            match *constant {
                Const::Global { global, offset } => {
                    let obj = self.out.memory.object(ObjKind::Global(global), 0);
                    self.out.consts[id].push(Loc {
                        obj,
                        off: Offset::exact(offset),
                    });
                }
                Const::Func(func) => {
                    let obj = self.out.memory.object(ObjKind::Func(func), 0);
                    self.out.consts[id].push(Loc {
                        obj,
                        off: Offset::ZERO,
                    });
                }
                Const::Opaque(ty) if self.program.types.is_ptr(ty) => {
                    self.out.consts[id].push(world())
                }
                Const::Aggregate { ref elems, .. } => {
                    // Elements come before their aggregate or after it; nested address constants are rare enough to
                    // resolve by one pass over direct elements.
                    let found: LocSet = elems
                        .iter()
                        .filter_map(|&e| match self.body.consts[e] {
                            Const::Global { global, offset } => {
                                Some((ObjKind::Global(global), offset))
                            }
                            Const::Func(func) => Some((ObjKind::Func(func), 0)),
                            _ => None,
                        })
                        .map(|(kind, off)| Loc {
                            obj: self.out.memory.object(kind, 0),
                            off: Offset::exact(off),
                        })
                        .collect();
                    for loc in found {
                        insert(&mut self.out.consts[id], loc);
                    }
                }
                _ => {}
            }
        }
    }

    fn is_aggregate(&self, ty: TypeId) -> bool {
        matches!(
            self.program.types.get(ty),
            Type::Struct(_) | Type::Array { .. }
        )
    }

    /// Pointers, integers wide enough to carry one, and aggregates of such.
    pub(super) fn pointer_like(&self, ty: TypeId) -> bool {
        match self.program.types.get(ty) {
            Type::Ptr => true,
            Type::Int(width) => u64::from(*width) == self.program.types.layout.pointer_bytes * 8,
            Type::Struct(s) => s.fields.iter().any(|f| self.pointer_like(f.0)),
            Type::Array { elem, .. } => self.pointer_like(*elem),
            _ => false,
        }
    }

    fn run(&mut self) {
        let fuel = SOLVER_FUEL.0 + SOLVER_FUEL.1 * self.body.insts.len();
        let mut last = MAX_ROUNDS + 2;
        for round in 0.. {
            self.changed = false;
            self.give_up = round >= MAX_ROUNDS || self.steps > fuel;
            self.offsets = if round > WIDEN_AFTER { 1 } else { MAX_OFFSETS };
            for (inst, _) in self.body.insts.iter_enumerated() {
                if self.is_stale(inst) {
                    self.visited[inst.index()] = self.clock;
                    self.looking.clear();
                    self.visit(inst);
                    self.looking.sort_unstable();
                    self.looking.dedup();
                    self.looked[inst.index()] = self.looking.clone();
                }
            }
            self.spread_havoc();
            if !self.changed {
                break;
            }
            self.out.limited |= self.give_up;
            // Two more rounds let the unknowns flow; sets can only shrink to the world after that.
            if self.give_up {
                last = last.min(round + 2);
            }
            if round >= last {
                break;
            }
        }
    }

    /// Has something that the instruction reads changed since it was visited?
    fn is_stale(&self, inst: InstId) -> bool {
        let last = self.visited[inst.index()];
        let changed = |obj: &ObjId| {
            self.object_changed
                .get(*obj)
                .is_some_and(|&when| when > last)
        };
        if last == 0 || self.looked[inst.index()].iter().any(changed) {
            return true;
        }
        let mut stale = false;
        self.body.for_each_operand(inst, |operand| {
            stale |= operand
                .as_value()
                .is_some_and(|value| self.value_changed[value] > last);
        });
        stale
    }

    fn value_grew(&mut self, value: ValueId) {
        self.changed = true;
        self.clock += 1;
        self.value_changed[value] = self.clock;
    }

    pub(super) fn object_grew(&mut self, obj: ObjId) {
        self.changed = true;
        self.clock += 1;
        while self.object_changed.len() <= obj.index() {
            self.object_changed.push(0);
        }
        self.object_changed[obj] = self.clock;
    }

    fn visit(&mut self, inst: InstId) {
        let body = self.body;
        let result = body.result(inst);
        match body.insts[inst].op {
            Op::Alloca { .. } => {
                // Each turn of a loop makes one more, and what the last one holds is still held.
                let kind = match is_made_again(body, inst) {
                    true => ObjKind::World,
                    false => ObjKind::Stack(inst),
                };
                let obj = self.out.memory.object(kind, 0);
                self.add(
                    result,
                    Loc {
                        obj,
                        off: Offset::ZERO,
                    },
                );
            }
            Op::Load { addr } => match self.sources.get(&inst) {
                // The source of a struct is that of its first scalar only.
                Some(source) if !self.is_aggregate(body.insts[inst].ty) => {
                    self.load_from(result, addr, source)
                }
                _ => self.load_into(result, addr, body.insts[inst].ty),
            },
            Op::Store { addr, value } => {
                let targets: LocSet = self.out.targets(value).into();
                let ty = value.as_value().map(|value| body.value_ty(value));
                let parts = ty.and_then(|ty| scalars(self.program, ty));
                for (at, _) in
                    parts.unwrap_or_else(|| SmallVec::from_slice(&[(0, body.insts[inst].ty)]))
                {
                    self.store(addr, Offset::exact(at), &targets);
                }
            }
            Op::PtrAdd {
                base,
                offset,
                indices,
            } => {
                let delta = self.delta(offset, indices);
                for loc in LocSet::from(self.out.targets(base)) {
                    self.add(
                        result,
                        Loc {
                            obj: loc.obj,
                            off: loc.off.plus(delta),
                        },
                    );
                }
                self.add_indices(result, indices);
            }
            Op::MemCopy { dst, src, len } => {
                self.ask_for_copied(src, len);
                self.copy_contents(dst, src);
            }
            Op::Cast {
                op: CastOp::PtrToInt | CastOp::IntToPtr | CastOp::Bitcast,
                value,
            } => {
                self.copy(result, value);
            }
            Op::Binary { a, b, .. } if self.pointer_like(body.insts[inst].ty) => {
                self.take_apart(result, &[a, b]);
            }
            Op::Select { then, els, .. } => {
                self.copy(result, then);
                self.copy(result, els);
            }
            Op::Phi { incoming } => {
                for entry in body.incoming(incoming) {
                    self.copy(result, entry.value);
                }
            }
            Op::ExtractValue { agg, path } if self.pointer_like(body.insts[inst].ty) => {
                self.take_out(result, agg, body.indices(path));
            }
            Op::InsertValue { agg, value, .. } => {
                self.copy(result, agg);
                self.copy(result, value);
            }
            Op::AtomicRmw { addr, value, .. } => {
                self.load_into(result, addr, body.insts[inst].ty);
                let targets: LocSet = self.out.targets(value).into();
                self.store(addr, Offset::ZERO, &targets);
            }
            Op::CmpXchg { addr, new, .. } => {
                self.load_into(result, addr, body.insts[inst].ty);
                let targets: LocSet = self.out.targets(new).into();
                self.store(addr, Offset::ZERO, &targets);
            }
            Op::VaArg { .. } | Op::LandingPad { .. } => self.add(result, world()),
            Op::Opaque { args } if self.pointer_like(body.insts[inst].ty) => {
                self.take_apart(result, body.list(args));
            }
            Op::Uninit { .. } => {}
            Op::Call { args, .. } | Op::Invoke { args, .. } => {
                if let Some(summary) = self.calls.get(&inst).cloned() {
                    self.call(inst, &summary, body.list(args));
                }
            }
            _ => {}
        }
    }

    /// Pointers taken apart as integers: the result still leads to their objects, somewhere.
    fn take_apart(&mut self, result: ValueId, operands: &[Operand]) {
        for &operand in operands {
            for loc in LocSet::from(self.out.targets(operand)) {
                let off = Offset::ANY;
                self.add(result, Loc { obj: loc.obj, off });
            }
        }
    }

    /// `base + (long)table[i].address`: the pointer may as well be the one that is added as a number. Distances of pointers are none.
    fn add_indices(&mut self, result: ValueId, indices: drip_program::PoolRange) {
        for scaled in self.body.scaled(indices) {
            let def = scaled
                .index
                .as_value()
                .and_then(|value| self.body.def(value));
            let is_address = def.is_some_and(|inst| {
                let op = CastOp::PtrToInt;
                matches!(self.body.insts[inst].op, Op::Cast { op: cast, .. } if cast == op)
            });
            if scaled.scale != 1 || !is_address {
                continue;
            }
            for loc in LocSet::from(self.out.targets(scaled.index)) {
                let off = Offset::ANY;
                self.add(result, Loc { obj: loc.obj, off });
            }
        }
    }

    fn delta(&self, offset: i64, indices: drip_program::PoolRange) -> Offset {
        let mut delta = Offset::exact(offset);
        for scaled in self.body.scaled(indices) {
            let scale = u32::try_from(scaled.scale.unsigned_abs())
                .unwrap_or(1)
                .max(1);
            delta = delta.plus(Offset {
                base: 0,
                stride: scale,
            });
        }
        delta
    }

    pub(super) fn add(&mut self, value: ValueId, loc: Loc) {
        let set = &mut self.out.values[value];
        let is_unknown = self.give_up && set.contains(&world());
        if is_unknown || self.full_values.contains(value) {
            return;
        }
        if insert(set, loc) {
            if self.give_up {
                insert(set, world());
            }
            if bound(set, self.offsets) {
                self.full_values.insert(value);
            }
            self.value_grew(value);
        }
    }

    fn copy(&mut self, into: ValueId, from: Operand) {
        for loc in LocSet::from(self.out.targets(from)) {
            self.add(into, loc);
        }
    }

    fn cell(&mut self, loc: Loc) -> CellId {
        let cell = self.out.memory.cell(loc);
        if cell.index() >= self.out.contents.len() {
            self.out.contents.push(LocSet::new());
            // A copy of the object it belongs to has to take it along.
            self.object_grew(loc.obj);
        }
        cell
    }

    /// Compilers align pointers: a cell elsewhere is part of a number, or of a string; or it is what a container holds.
    fn may_hold_pointer(&self, off: Offset) -> bool {
        let bytes = self.program.types.layout.pointer_bytes.max(1) as i64;
        let stride = i64::from(off.stride);
        if stride == 1 {
            return true;
        }
        off == Offset::ELEMENTS || off.base.rem_euclid(bytes) == 0 && stride.rem_euclid(bytes) == 0
    }

    /// The program reads a pointer here, wherever that is.
    pub(super) fn holds_pointer(&mut self, loc: Loc) {
        let is_memory =
            loc.obj != Memory::WORLD && !matches!(self.out.memory.kind(loc.obj), ObjKind::Func(_));
        if loc.off.is_exact() && !self.may_hold_pointer(loc.off) && is_memory {
            let cell = self.cell(loc);
            if self.packed.insert(cell) {
                self.asked.remove(&cell);
            }
        }
    }

    /// What a cell holds before the function touches it; asked for only when it is read as a pointer.
    fn entry_targets(&mut self, cell: CellId) -> LocSet {
        let place = self.out.memory.cells[cell];
        if !self.may_hold_pointer(place.off) && !self.packed.contains(&cell) {
            return LocSet::new();
        }
        let object = &self.out.memory.objects[place.obj];
        let (kind, depth) = (object.kind, object.depth);
        let target = match kind {
            ObjKind::World => world(),
            ObjKind::Deep(_) => Loc {
                obj: place.obj,
                off: Offset::ANY,
            },
            ObjKind::Global(global) if self.program.globals[global].is_const => {
                return self.initial_targets(cell, &self.program.globals[global].init);
            }
            ObjKind::Global(_) | ObjKind::Param(_) | ObjKind::Entry(_) => {
                let kind = if depth >= MAX_ENTRY_DEPTH {
                    (ObjKind::Deep(place.obj), depth)
                } else {
                    (ObjKind::Entry(cell), depth + 1)
                };
                let is_known = self.out.memory.find_object(kind.0).is_some();
                if !is_known && self.out.memory.objects.len() > MAX_OBJECTS {
                    self.out.limited = true;
                    world()
                } else {
                    Loc {
                        obj: self.out.memory.object(kind.0, kind.1),
                        off: Offset::ZERO,
                    }
                }
            }
            ObjKind::Stack(_) | ObjKind::Fresh { .. } | ObjKind::Func(_) => return LocSet::new(),
        };
        LocSet::from_slice(&[target])
    }

    /// A constant table: addresses in its initialiser.
    fn initial_targets(&mut self, cell: CellId, init: &Init) -> LocSet {
        let mut targets = LocSet::new();
        let off = self.out.memory.cells[cell].off;
        let Init::Slots { slots, .. } = init else {
            return targets;
        };
        for &(at, scalar) in slots.iter() {
            if !off.may_equal(Offset::exact(at as i64)) {
                continue;
            }
            let (kind, offset) = match scalar {
                Scalar::Global { global, offset } => (ObjKind::Global(global), offset),
                Scalar::Func(func) => (ObjKind::Func(func), 0),
                _ => continue,
            };
            let obj = self.out.memory.object(kind, 0);
            let off = Offset::exact(offset);
            insert(&mut targets, Loc { obj, off });
        }
        targets
    }

    fn add_content(&mut self, cell: CellId, loc: Loc) {
        let set = &mut self.out.contents[cell];
        if !self.full_cells.contains(cell) && insert(set, loc) {
            if self.give_up {
                insert(set, world());
            }
            if bound(set, self.offsets) {
                self.full_cells.insert(cell);
            }
            self.object_grew(self.out.memory.cells[cell].obj);
        }
    }

    /// Everything that a read at `loc` may see; makes the cell.
    pub(super) fn read(&mut self, loc: Loc, wanted: bool) -> LocSet {
        if loc.obj == Memory::WORLD {
            return LocSet::from_slice(&[world()]);
        }
        if matches!(self.out.memory.kind(loc.obj), ObjKind::Func(_)) {
            return LocSet::new();
        }
        let cell = self.cell(loc);
        if !wanted {
            return LocSet::new();
        }
        self.looking.push(loc.obj);
        if self.asked.insert(cell) {
            for target in self.entry_targets(cell) {
                self.add_content(cell, target);
            }
        }
        let mut set = self.out.load(loc);
        self.steps += 1 + set.len();
        if self.out.memory.objects[loc.obj].havoc {
            insert(&mut set, world());
        }
        set
    }
}
