//! All that is known of one function before its objects are followed: control flow, points-to sets, memory SSA and the
//! value of every SSA name as a term. Built once, then read by every exploration.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use drip_base::{Graph, IdSet, IndexVec};
use drip_memssa::{Annotations, Def, MemSsa, RegionId, VersionId};
use drip_models::{Atom, GlobalSet, Offset, Outcome, Root, Subject, Value, ValuePath};
use drip_pointer::local::{CallTable, LocSet, Sources};
use drip_pointer::{CellId, Loc, LocalMemory, Memory, ObjId, ObjKind};
use drip_program::{
    BlockId, Body, Cfg, FuncId, GlobalId, InstId, Op, Operand, Program, Type, TypeId, ValueId,
};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::handlers::Handlers;
use crate::interface::path_term;
use crate::named::NamedCells;
use crate::plan::{CallPlan, SwitchPlan};
use crate::sources::Finder;
use crate::touches::Touches;
use crate::values::{Context, Values};

/// What the rest of the program says of a function.
#[derive(Clone, Copy)]
pub struct WholeProgram<'a> {
    /// Variables that keep their initial value.
    pub constants: &'a IdSet<GlobalId>,
    /// Parameters that are never null, whoever calls.
    pub granted: Option<&'a IdSet<ValueId>>,
}

/// One function, ready to be explored.
pub struct Frame<'a> {
    pub program: &'a Program,
    pub func: FuncId,
    pub body: &'a Body,
    pub cfg: Cfg,
    pub calls: CallTable,
    pub local: LocalMemory,
    pub memssa: MemSsa,
    /// Objects that each call's arguments lead to; sorted.
    pub reach: Reach,
    /// Its calls change more than can be written down: nothing here says all.
    pub is_too_large: bool,
    pub handlers: Handlers,
    known: WholeProgram<'a>,
    /// Block of each instruction.
    block_of: Vec<BlockId>,
    pub(crate) uses: OnceCell<Graph<u32>>,
    pub(crate) touches: OnceCell<Touches>,
    /// Cells that are only ever accessed as integers.
    pub(crate) numbers: OnceCell<IdSet<CellId>>,
    /// Answers to [`Frame::resolve`] and [`Frame::reached_by`].
    resolved: Answers<LocSet>,
    reached: Answers<Vec<ObjId>>,
    /// Answers to [`Frame::cells_named`].
    pub(crate) named: RefCell<FxHashMap<(InstId, ValuePath, Offset), Rc<NamedCells>>>,
    /// Answers to [`Frame::plan`], [`Frame::switch_plan`], [`Frame::is_live_in`] and [`Frame::leads_to`].
    pub(crate) plans: RefCell<FxHashMap<InstId, Rc<CallPlan>>>,
    pub(crate) switches: RefCell<FxHashMap<InstId, Rc<SwitchPlan>>>,
    pub(crate) live: RefCell<IndexVec<ValueId, Option<IdSet<BlockId>>>>,
    pub(crate) leading: RefCell<FxHashMap<BlockId, Rc<IdSet<BlockId>>>>,
}

/// What was asked of a callee's path at a call, with the answer.
type Answers<T> = RefCell<FxHashMap<(InstId, ValuePath), Rc<T>>>;

/// Changes of cells by calls that are written down. A function with more of them (thousands of calls, each of which may change
/// thousands of variables) is not analysed.
const MAX_CHANGES: usize = 2_000_000;

/// Depth of entry objects whose numbers callers are told of.
const MAX_TOLD_DEPTH: u8 = 2;

/// The memory region of a cell: one to one.
pub fn region(cell: CellId) -> RegionId {
    RegionId::from_u32(cell.as_u32())
}

/// The cell of a region.
pub fn cell_of(region: RegionId) -> CellId {
    CellId::from_u32(region.as_u32())
}

impl<'a> Frame<'a> {
    pub fn build(
        program: &'a Program,
        func: FuncId,
        body: &'a Body,
        calls: CallTable,
        known: WholeProgram<'a>,
    ) -> (Frame<'a>, Values) {
        let cfg = Cfg::build(body);
        let mut block_of = vec![BlockId::new(0); body.insts.len()];
        for block in body.blocks.ids() {
            for inst in body.block_insts(block) {
                block_of[inst.index()] = block;
            }
        }
        let maker = MemoryMaker {
            program,
            body,
            cfg: &cfg,
            calls: &calls,
        };
        let mut made = maker.make(&Sources::default());
        let finder = Finder {
            body,
            cfg: &cfg,
            block_of: &block_of,
            local: &made.local,
            memssa: &made.memssa,
        };
        let sources = finder.sources();
        // Where sets have grown beyond their limit, what is left out matters more than what could be told apart.
        if !sources.is_empty() && !made.local.limited {
            made = maker.make(&sources);
        }
        let Made {
            local,
            reach,
            memssa,
            is_too_large,
        } = made;
        let handlers = Handlers::build(program, func, body, &cfg, &calls);
        let context = Context {
            program,
            body,
            local: &local,
            memssa: &memssa,
            block_of: &block_of,
            known,
            cfg: &cfg,
            calls: &calls,
            handlers: &handlers,
        };
        let mut values = Values::build(context);
        let frame = Frame {
            program,
            func,
            body,
            cfg,
            calls,
            local,
            memssa,
            reach,
            is_too_large,
            handlers,
            known,
            block_of,
            uses: OnceCell::new(),
            touches: OnceCell::new(),
            numbers: OnceCell::new(),
            resolved: RefCell::default(),
            reached: RefCell::default(),
            named: RefCell::default(),
            plans: RefCell::default(),
            switches: RefCell::default(),
            live: RefCell::new(IndexVec::from_elem(None, body.value_count())),
            leading: RefCell::default(),
        };
        frame.name_what_calls_read(&mut values);
        values.name_origins(&frame.context());
        (frame, values)
    }

    /// Symbols for what the outcomes of calls ask of memory.
    fn name_what_calls_read(&self, values: &mut Values) {
        let mut calls: Vec<InstId> = self.calls.keys().copied().collect();
        calls.sort_unstable();
        for call in calls {
            for outcome in &self.calls[&call].outcomes {
                for atom in &outcome.when {
                    if let Subject::Entry(path) = &atom.subject {
                        path_term(self, values, call, path);
                    }
                }
            }
        }
    }

    pub(crate) fn context(&self) -> Context<'_> {
        Context {
            program: self.program,
            body: self.body,
            local: &self.local,
            memssa: &self.memssa,
            block_of: &self.block_of,
            known: self.known,
            cfg: &self.cfg,
            calls: &self.calls,
            handlers: &self.handlers,
        }
    }

    /// Targets of a path of a callee's summary, at a call.
    pub fn resolve(&self, call: InstId, path: &ValuePath) -> Rc<LocSet> {
        let key = (call, path.clone());
        if let Some(known) = self.resolved.borrow().get(&key) {
            return Rc::clone(known);
        }
        let targets = match path.loads.split_last() {
            None => self.local.resolve(call, self.args(call), path),
            Some((&last, front)) => {
                let front = ValuePath {
                    root: path.root,
                    loads: front.into(),
                };
                self.load_at(call, &self.resolve(call, &front), last)
            }
        };
        let targets = Rc::new(targets);
        self.resolved.borrow_mut().insert(key, Rc::clone(&targets));
        targets
    }

    /// What the cells at `offset` of `base` point to when a call is made: what the last store put there, where that is one.
    fn load_at(&self, call: InstId, base: &LocSet, offset: drip_models::Offset) -> LocSet {
        let memory = &self.local.memory;
        let mut found = LocSet::new();
        for loc in base {
            let place = Loc {
                obj: loc.obj,
                off: loc.off.plus(offset),
            };
            let cell = memory
                .find_cell(place)
                .filter(|&cell| memory.is_strong(cell));
            let version = cell.and_then(|cell| self.memssa.used(call, region(cell)));
            let stored = version.and_then(|version| self.stored_operand(version));
            match stored.filter(|_| base.len() == 1) {
                Some(value) => found.extend_from_slice(self.local.targets(value)),
                None => found.extend(self.local.load(place)),
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The operand that a store has put into exactly the cell of a version, if that is what the version is.
    pub fn stored_operand(&self, version: VersionId) -> Option<Operand> {
        let Def::Chi {
            inst, strong: true, ..
        } = self.memssa.versions[version].def
        else {
            return None;
        };
        let place = self.local.memory.cells[cell_of(self.memssa.versions[version].region)];
        match self.body.insts[inst].op {
            Op::Store { addr, value } => {
                let is_whole = matches!(self.local.targets(addr), [loc]
                    if loc.obj == place.obj && loc.off == place.off);
                is_whole.then_some(value)
            }
            _ => None,
        }
    }

    /// Objects that can be reached from what a path denotes; sorted.
    pub fn reached_by(&self, call: InstId, path: &ValuePath) -> Rc<Vec<ObjId>> {
        let key = (call, path.clone());
        if let Some(known) = self.reached.borrow().get(&key) {
            return Rc::clone(known);
        }
        let objects = Rc::new(self.local.reachable(&self.resolve(call, path)));
        self.reached.borrow_mut().insert(key, Rc::clone(&objects));
        objects
    }

    /// The pointer that an access goes through: the address without the way to the field.
    pub fn accessed(&self, addr: Operand) -> Operand {
        let mut base = addr;
        while let Some(inst) = base.as_value().and_then(|v| self.body.def(v)) {
            match self.body.insts[inst].op {
                Op::PtrAdd { base: below, .. } => base = below,
                _ => break,
            }
        }
        base
    }

    /// What an outcome's condition is about: an argument, or what was stored where the callee reads.
    pub fn asked_of(&self, call: InstId, atom: &Atom) -> Option<Operand> {
        let Subject::Entry(path) = &atom.subject else {
            return None;
        };
        if !path.loads.is_empty() {
            return self.stored_operand(self.read_version(call, path)?);
        }
        match path.root {
            Root::Arg(n) => self.args(call).get(usize::from(n)).copied(),
            _ => None,
        }
    }

    /// The memory version that a callee reads at the end of a path, if that is one exact cell.
    pub fn read_version(&self, call: InstId, path: &ValuePath) -> Option<VersionId> {
        let (&last, front) = path.loads.split_last()?;
        let base = ValuePath {
            root: path.root,
            loads: front.into(),
        };
        let targets = self.resolve(call, &base);
        let [loc] = targets[..] else { return None };
        let cell = self.local.memory.find_cell(Loc {
            obj: loc.obj,
            off: loc.off.plus(last),
        })?;
        if !self.local.memory.is_strong(cell) {
            return None;
        }
        self.memssa.used(call, region(cell))
    }

    /// Is the operand the sum of a pointer and something? Arithmetic on a null pointer has no meaning in C: it is not null.
    pub fn is_pointer_sum(&self, operand: Operand) -> bool {
        operand
            .as_value()
            .and_then(|v| self.body.def(v))
            .is_some_and(|inst| {
                matches!(self.body.insts[inst].op, Op::PtrAdd { offset, indices, .. }
                    if offset != 0 || indices.len > 0)
            })
    }

    pub fn args(&self, call: InstId) -> &[Operand] {
        args_of(self.body, call)
    }

    pub fn block_of(&self, inst: InstId) -> BlockId {
        self.block_of[inst.index()]
    }

    /// Bytes of a type, and whether a value of it can hide several pointers.
    pub fn is_aggregate(&self, ty: TypeId) -> bool {
        matches!(
            self.program.types.get(ty),
            Type::Struct(_) | Type::Array { .. }
        )
    }

    pub fn size_of(&self, ty: TypeId) -> u64 {
        self.program.types.size_of(ty)
    }

    /// Byte offset of a field path inside a struct value.
    pub fn field_offset(&self, mut ty: TypeId, path: &[u32]) -> u32 {
        let mut offset = 0u64;
        for &index in path {
            match self.program.types.get(ty) {
                Type::Struct(s) => match s.fields.get(index as usize) {
                    Some(&(field, at)) => {
                        offset += at;
                        ty = field;
                    }
                    None => return 0,
                },
                Type::Array { elem, .. } => {
                    offset = offset.saturating_add(
                        self.program
                            .types
                            .size_of(*elem)
                            .saturating_mul(u64::from(index)),
                    );
                    ty = *elem;
                }
                _ => return 0,
            }
        }
        u32::try_from(offset).unwrap_or(u32::MAX)
    }
}

pub fn args_of(body: &Body, call: InstId) -> &[Operand] {
    match body.insts[call].op {
        Op::Call { args, .. } | Op::Invoke { args, .. } => body.list(args),
        _ => &[],
    }
}

/// Objects that each call's arguments lead to; sorted.
type Reach = FxHashMap<InstId, Vec<ObjId>>;

/// What is known of a function's memory.
struct Made {
    local: LocalMemory,
    reach: Reach,
    memssa: MemSsa,
    is_too_large: bool,
}

/// What a function's memory is made from.
struct MemoryMaker<'m> {
    program: &'m Program,
    body: &'m Body,
    cfg: &'m Cfg,
    calls: &'m CallTable,
}

impl MemoryMaker<'_> {
    /// Points-to sets, and memory SSA on top of them.
    fn make(&self, sources: &Sources) -> Made {
        let mut local = LocalMemory::build(self.program, self.body, self.calls, sources);
        // The world is one region too, so that reads through unknown pointers are ordered with unknown writes.
        local.memory.cell(Loc {
            obj: Memory::WORLD,
            off: drip_models::Offset::ANY,
        });
        while local.contents.len() < local.memory.cells.len() {
            local.contents.push(LocSet::new());
        }
        let reach = call_reach(self.body, self.calls, &local);
        let (marks, is_too_large) = annotate(
            self.program,
            self.body,
            self.cfg,
            self.calls,
            &local,
            &reach,
        );
        let memssa = drip_memssa::build(
            self.cfg.graph(),
            self.cfg.reversed_graph(),
            self.cfg.dominators(),
            &marks,
        );
        Made {
            local,
            reach,
            memssa,
            is_too_large,
        }
    }
}

fn call_reach(body: &Body, calls: &CallTable, local: &LocalMemory) -> Reach {
    let mut reach = Reach::default();
    for &call in calls.keys() {
        let targets: Vec<Loc> = args_of(body, call)
            .iter()
            .flat_map(|&arg| local.targets(arg))
            .copied()
            .collect();
        reach.insert(call, local.reachable(&targets));
    }
    reach
}

/// Cells of those objects that no caller sees: variables and new blocks of the function itself.
pub(crate) fn own_cells<'l>(
    local: &'l LocalMemory,
    objects: &'l [ObjId],
) -> impl Iterator<Item = CellId> + 'l {
    let memory = &local.memory;
    let own = objects.iter().filter(|&&obj| !memory.kind(obj).survives());
    own.flat_map(|&obj| memory.objects[obj].cells.iter().copied())
}

/// μ and χ of every instruction: loads, stores, calls and returns as in SABER fig. 4, over the function's cells.
fn annotate(
    program: &Program,
    body: &Body,
    cfg: &Cfg,
    calls: &CallTable,
    local: &LocalMemory,
    reach: &Reach,
) -> (Annotations, bool) {
    let mut marker = Marker {
        changes: 0,
        marks: Annotations::new(body.blocks.len(), local.memory.cells.len()),
        local,
        world: local.memory.find_cell(Loc {
            obj: Memory::WORLD,
            off: drip_models::Offset::ANY,
        }),
        block: BlockId::new(0),
    };
    for block in body.blocks.ids() {
        if !cfg.is_reachable(block) {
            continue;
        }
        marker.block = block;
        for inst in body.block_insts(block) {
            let data = &body.insts[inst];
            match data.op {
                Op::Load { addr } => marker.read(inst, addr, program.types.size_of(data.ty)),
                Op::Store { addr, value } => {
                    let ty = match value.kind() {
                        drip_program::OperandKind::Value(v) => body.value_ty(v),
                        drip_program::OperandKind::Const(_) => data.ty,
                    };
                    let size = match body.const_of(value) {
                        Some(constant) => const_size(program, constant),
                        None => program.types.size_of(ty),
                    };
                    marker.write(inst, addr, size);
                }
                Op::AtomicRmw { addr, .. } | Op::CmpXchg { addr, .. } => {
                    marker.read(inst, addr, 8);
                    marker.write(inst, addr, 0);
                }
                Op::MemCopy { dst, src, len } => {
                    let len = const_len(body, len);
                    marker.read(inst, src, len);
                    marker.write_range(inst, dst, len);
                }
                Op::MemSet { dst, len, .. } => marker.write_range(inst, dst, const_len(body, len)),
                Op::Call { .. } | Op::Invoke { .. } => {
                    if let Some(summary) = calls.get(&inst) {
                        let reached = reach.get(&inst).map_or(&[][..], Vec::as_slice);
                        for outcome in &summary.outcomes {
                            marker.call(inst, args_of(body, inst), outcome, reached);
                            marker.clear(inst, &outcome.zeroed);
                        }
                        marker.touch_globals(inst, &summary.touched);
                        if summary.pure {
                            marker.see_all(inst, reached);
                        }
                    }
                }
                Op::Ret { .. } => marker.leave(inst),
                _ => {}
            }
        }
    }
    (marker.marks, marker.changes > MAX_CHANGES)
}

fn const_len(body: &Body, len: Operand) -> u64 {
    match body.const_of(len) {
        Some(drip_program::Const::Int { bits, .. }) => *bits,
        _ => u64::MAX,
    }
}

fn const_size(program: &Program, constant: &drip_program::Const) -> u64 {
    use drip_program::Const;
    match constant {
        Const::Int { ty, .. }
        | Const::Float { ty, .. }
        | Const::Zero(ty)
        | Const::Undef(ty)
        | Const::Aggregate { ty, .. }
        | Const::Opaque(ty) => program.types.size_of(*ty),
        Const::Null | Const::Global { .. } | Const::Func(_) => program.types.layout.pointer_bytes,
    }
}

struct Marker<'l> {
    /// Changes by calls so far.
    changes: usize,
    marks: Annotations,
    local: &'l LocalMemory,
    world: Option<CellId>,
    block: BlockId,
}

impl Marker<'_> {
    fn see_world(&mut self, inst: InstId) {
        if let Some(world) = self.world {
            self.marks.mu(self.block, inst, region(world));
        }
    }

    /// What a pure function may look at: all that its arguments lead to. What callers see as well counts as the world.
    fn see_all(&mut self, inst: InstId, reached: &[ObjId]) {
        self.see_world(inst);
        for cell in own_cells(self.local, reached) {
            self.marks.mu(self.block, inst, region(cell));
        }
    }

    fn touch_world(&mut self, inst: InstId) {
        if let Some(world) = self.world {
            self.marks.chi(self.block, inst, region(world), false);
        }
    }

    fn touch_globals(&mut self, inst: InstId, touched: &GlobalSet) {
        if *touched == GlobalSet::default() || self.changes > MAX_CHANGES {
            return;
        }
        for (cell, place) in self.local.memory.cells.iter_enumerated() {
            if let ObjKind::Global(global) = self.local.memory.kind(place.obj)
                && touched.contains(global)
            {
                self.changes += 1;
                self.marks.chi(self.block, inst, region(cell), false);
            }
        }
    }

    fn read(&mut self, inst: InstId, addr: Operand, size: u64) {
        for loc in LocSet::from(self.local.targets(addr)) {
            if loc.obj == Memory::WORLD {
                self.see_world(inst);
            }
            for cell in self.cells_in(loc, size) {
                self.marks.mu(self.block, inst, region(cell));
            }
        }
        if self.local.targets(addr).is_empty() {
            self.see_world(inst);
        }
    }

    /// Cells that an access of `size` bytes at `loc` may touch.
    fn cells_in(&self, loc: Loc, size: u64) -> SmallVec<[CellId; 4]> {
        let memory = &self.local.memory;
        memory.objects[loc.obj]
            .cells
            .iter()
            .copied()
            .filter(|&cell| {
                let off = memory.cells[cell].off;
                if off.is_exact() && loc.off.is_exact() {
                    let end = loc
                        .off
                        .base
                        .saturating_add(i64::try_from(size.max(1)).unwrap_or(i64::MAX));
                    (loc.off.base..end).contains(&off.base)
                } else {
                    size > 8 || off.may_equal(loc.off)
                }
            })
            .collect()
    }

    fn write(&mut self, inst: InstId, addr: Operand, size: u64) {
        self.write_range(inst, addr, size);
    }

    fn write_range(&mut self, inst: InstId, addr: Operand, size: u64) {
        let targets = LocSet::from(self.local.targets(addr));
        let single = targets.len() == 1;
        let mut seen_outside = targets.is_empty();
        for loc in targets {
            let kind = self.local.memory.kind(loc.obj);
            seen_outside |= kind.survives();
            for cell in self.cells_in(loc, size) {
                let strong = single && loc.off.is_exact() && self.local.memory.is_strong(cell);
                self.marks.chi(self.block, inst, region(cell), strong);
            }
        }
        if seen_outside {
            self.touch_world(inst);
        }
    }

    /// Blocks that a call makes full of zeros.
    fn clear(&mut self, inst: InstId, zeroed: &[u16]) {
        let memory = &self.local.memory;
        for &index in zeroed {
            let made = memory.find_object(ObjKind::Fresh { call: inst, index });
            for &cell in made.map_or(&[][..], |obj| &memory.objects[obj].cells) {
                self.marks.chi(self.block, inst, region(cell), false);
            }
        }
    }

    fn call(&mut self, inst: InstId, args: &[Operand], outcome: &Outcome, reached: &[ObjId]) {
        if let Value::Entry { path, .. } = &outcome.ret {
            self.read_path(inst, args, path);
        }
        for write in &outcome.writes {
            if write.cell.base.root == Root::Ret {
                continue;
            }
            self.read_path(inst, args, &write.cell.base);
            if let Value::Entry { path, .. } = &write.value {
                self.read_path(inst, args, path);
            }
            for loc in self.local.resolve(inst, args, &write.cell.base) {
                let place = Loc {
                    obj: loc.obj,
                    off: loc.off.plus(write.cell.offset),
                };
                for cell in self.cells_in(place, 1) {
                    self.marks.chi(self.block, inst, region(cell), false);
                }
                if self.local.memory.kind(loc.obj).survives() {
                    self.touch_world(inst);
                }
            }
        }
        for free in &outcome.frees {
            self.read_path(inst, args, &free.path);
        }
        for atom in &outcome.when {
            if let Subject::Entry(path) = &atom.subject {
                self.read_path(inst, args, path);
            }
        }
        if outcome.escapes.is_empty() || self.changes > MAX_CHANGES {
            return;
        }
        self.touch_world(inst);
        for escape in &outcome.escapes {
            let targets = self.local.resolve(inst, args, &escape.path);
            let objects = self.local.reachable(&targets);
            for obj in objects
                .into_iter()
                .filter(|obj| reached.binary_search(obj).is_ok())
            {
                for &cell in &self.local.memory.objects[obj].cells {
                    self.changes += 1;
                    self.marks.chi(self.block, inst, region(cell), false);
                }
            }
        }
    }

    /// The cells that a path is read through.
    fn read_path(&mut self, inst: InstId, args: &[Operand], path: &ValuePath) {
        let mut prefix = ValuePath::root(path.root);
        for &offset in &path.loads {
            for loc in self.local.resolve(inst, args, &prefix) {
                let place = Loc {
                    obj: loc.obj,
                    off: loc.off.plus(offset),
                };
                for cell in self.cells_in(place, 1) {
                    self.marks.mu(self.block, inst, region(cell));
                }
            }
            prefix = prefix.load(offset);
        }
    }

    /// A return reads what outlives the function: the caller sees it. Numbers deep inside a structure are not told.
    fn leave(&mut self, inst: InstId) {
        for (cell, place) in self.local.memory.cells.iter_enumerated() {
            let object = &self.local.memory.objects[place.obj];
            let told = object.depth <= MAX_TOLD_DEPTH || !self.local.contents[cell].is_empty();
            let seen =
                object.kind.has_entry_state() || matches!(object.kind, ObjKind::Fresh { .. });
            if seen && told {
                self.marks.mu(self.block, inst, region(cell));
            }
        }
    }
}
