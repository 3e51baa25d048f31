//! Question: what can each pointer of a function point to, and which version of a cell does each instruction see?
//!
//! Points-to sets (`pointer::local`) and, on top of them, memory SSA: μ and χ of every instruction as in SABER fig. 4, over the function's
//! cells; those of calls come from the callees' summaries. Where memory SSA shows that a load sees less than its cell ever holds
//! (`sources.rs`) the sets are made once more with that. What shows it are versions of the cells that such loads read: the first time no
//! others are made, and nothing but those loads reads them.
//! INVARIANT: a version chain behind a load of an asked cell is the same whether only asked cells have versions or all. Cost: linear in the
//! marks, of which calls make most; what several outcomes of a call say is marked once.

use drip_base::IdSet;
use drip_memssa::{Annotations, MemSsa};
use drip_models::{CellPath, GlobalSet, Offset, Outcome, Root, Subject, Summary, Value, ValuePath};
use drip_pointer::local::{CallTable, LocSet, Sources};
use drip_pointer::{CellId, Loc, LocalMemory, Memory, ObjId, ObjKind};
use drip_program::{BlockId, Body, Cfg, GlobalId, InstId, Op, Operand, Program};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::frame::{args_of, region};
use crate::sources::Finder;

/// Changes of cells by calls that are written down. A function with more of them (thousands of calls, each of which may change
/// thousands of variables) is not analysed.
const MAX_CHANGES: usize = 2_000_000;

/// Depth of entry objects whose numbers callers are told of.
const MAX_TOLD_DEPTH: u8 = 2;

/// Objects that each call's arguments lead to; sorted.
pub type Reach = FxHashMap<InstId, Vec<ObjId>>;

/// What a function's memory is made from.
pub(crate) struct MemoryMaker<'m> {
    pub program: &'m Program,
    pub body: &'m Body,
    pub cfg: &'m Cfg,
    pub calls: &'m CallTable,
}

impl MemoryMaker<'_> {
    /// Points-to sets, and memory SSA on top of them. The sets are made twice where memory SSA shows that a load sees less than all that its
    /// cell ever holds; what shows it are versions of the cells that such loads read, and no others are made for that. True if calls
    /// change too much to be written down.
    pub(crate) fn make(&self, block_of: &[BlockId]) -> (LocalMemory, Reach, MemSsa, bool) {
        let (mut local, mut reach) = self.points_to(&Sources::default());
        // Where sets have grown beyond their limit, what is left out matters more than what could be told apart.
        if !local.limited {
            let sources = self.sources(block_of, &local, &reach);
            if !sources.is_empty() {
                (local, reach) = self.points_to(&sources);
            }
        }
        let (memssa, is_too_large) = self.versions(&local, &reach, None);
        (local, reach, memssa, is_too_large)
    }

    fn points_to(&self, sources: &Sources) -> (LocalMemory, Reach) {
        let mut local = LocalMemory::build(self.program, self.body, self.calls, sources);
        // The world is one region too, so that reads through unknown pointers are ordered with unknown writes.
        local.memory.cell(Loc {
            obj: Memory::WORLD,
            off: Offset::ANY,
        });
        while local.contents.len() < local.memory.cells.len() {
            local.contents.push(LocSet::new());
        }
        let reach = call_reach(self.body, self.calls, &local);
        (local, reach)
    }

    /// Loads that see less than all that their cell ever holds.
    fn sources(&self, block_of: &[BlockId], local: &LocalMemory, reach: &Reach) -> Sources {
        let finder = Finder {
            body: self.body,
            cfg: self.cfg,
            block_of,
            local,
        };
        let loads = finder.loads();
        if loads.is_empty() {
            return Sources::default();
        }
        let mut asked = IdSet::with_capacity(local.memory.cells.len());
        asked.extend(loads.iter().map(|&(_, cell)| cell));
        let (memssa, _) = self.versions(local, reach, Some(&asked));
        finder.sources(&loads, &memssa)
    }

    /// Memory SSA: of all cells, or as far as loads of the asked ones see it.
    fn versions(
        &self,
        local: &LocalMemory,
        reach: &Reach,
        asked: Option<&IdSet<CellId>>,
    ) -> (MemSsa, bool) {
        let marker = Marker::new(self, local, asked);
        let (marks, is_too_large) = marker.annotate(self, reach);
        let memssa = drip_memssa::build(
            self.cfg.graph(),
            self.cfg.reversed_graph(),
            self.cfg.dominators(),
            &marks,
        );
        (memssa, is_too_large)
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
struct Marker<'l> {
    /// Changes by calls so far.
    changes: usize,
    marks: Annotations,
    local: &'l LocalMemory,
    /// Only these cells get versions, and only loads read them.
    asked: Option<&'l IdSet<CellId>>,
    /// Cells of global variables that get versions.
    of_globals: Vec<(CellId, GlobalId)>,
    world: Option<CellId>,
    block: BlockId,
}

/// What a call was said to do already, by another of its outcomes.
#[derive(Default)]
struct Said<'s> {
    written: FxHashSet<&'s CellPath>,
    read: FxHashSet<&'s ValuePath>,
    escaped: FxHashSet<&'s ValuePath>,
}

impl<'l> Marker<'l> {
    fn new(
        maker: &MemoryMaker<'_>,
        local: &'l LocalMemory,
        asked: Option<&'l IdSet<CellId>>,
    ) -> Marker<'l> {
        let memory = &local.memory;
        let is_asked = |cell: &CellId| asked.is_none_or(|asked| asked.contains(*cell));
        let cells = memory.cells.ids().into_iter().filter(is_asked);
        let of_globals = cells.filter_map(|cell| match memory.kind(memory.cells[cell].obj) {
            ObjKind::Global(global) => Some((cell, global)),
            _ => None,
        });
        let world = memory.find_cell(Loc {
            obj: Memory::WORLD,
            off: Offset::ANY,
        });
        Marker {
            changes: 0,
            marks: Annotations::new(maker.body.blocks.len(), memory.cells.len()),
            local,
            asked,
            of_globals: of_globals.collect(),
            world: world.filter(is_asked),
            block: BlockId::new(0),
        }
    }

    /// Marks all instructions; true if calls change too much.
    fn annotate(mut self, maker: &MemoryMaker<'_>, reach: &Reach) -> (Annotations, bool) {
        for block in maker.body.blocks.ids() {
            if !maker.cfg.is_reachable(block) {
                continue;
            }
            self.block = block;
            for inst in maker.body.block_insts(block) {
                self.instruction(maker, reach, inst);
            }
        }
        (self.marks, self.changes > MAX_CHANGES)
    }

    fn instruction(&mut self, maker: &MemoryMaker<'_>, reach: &Reach, inst: InstId) {
        let (program, body) = (maker.program, maker.body);
        let data = &body.insts[inst];
        match data.op {
            Op::Load { addr } => self.read(inst, addr, program.types.size_of(data.ty)),
            Op::Store { addr, value } => {
                let ty = match value.kind() {
                    drip_program::OperandKind::Value(v) => body.value_ty(v),
                    drip_program::OperandKind::Const(_) => data.ty,
                };
                let size = match body.const_of(value) {
                    Some(constant) => const_size(program, constant),
                    None => program.types.size_of(ty),
                };
                self.write(inst, addr, size);
            }
            Op::AtomicRmw { addr, .. } | Op::CmpXchg { addr, .. } => {
                self.read(inst, addr, 8);
                self.write(inst, addr, 0);
            }
            Op::MemCopy { dst, src, len } => {
                let len = const_len(body, len);
                self.read(inst, src, len);
                self.write_range(inst, dst, len);
            }
            Op::MemSet { dst, len, .. } => self.write_range(inst, dst, const_len(body, len)),
            Op::Call { .. } | Op::Invoke { .. } => {
                if let Some(summary) = maker.calls.get(&inst) {
                    let reached = reach.get(&inst).map_or(&[][..], Vec::as_slice);
                    self.call(inst, args_of(body, inst), summary, reached);
                }
            }
            Op::Ret { .. } if self.asked.is_none() => self.leave(inst),
            _ => {}
        }
    }

    fn mu(&mut self, inst: InstId, cell: CellId) {
        if self.asked.is_none_or(|asked| asked.contains(cell)) {
            self.marks.mu(self.block, inst, region(cell));
        }
    }

    fn chi(&mut self, inst: InstId, cell: CellId, strong: bool) {
        if self.asked.is_none_or(|asked| asked.contains(cell)) {
            self.marks.chi(self.block, inst, region(cell), strong);
        }
    }

    fn see_world(&mut self, inst: InstId) {
        if let Some(world) = self.world {
            self.marks.mu(self.block, inst, region(world));
        }
    }

    /// What a pure function may look at: all that its arguments lead to. What callers see as well counts as the world.
    fn see_all(&mut self, inst: InstId, reached: &[ObjId]) {
        self.see_world(inst);
        for cell in own_cells(self.local, reached) {
            self.mu(inst, cell);
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
        for &(cell, global) in &self.of_globals {
            if touched.contains(global) {
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
                self.mu(inst, cell);
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
                self.chi(inst, cell, strong);
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
                self.chi(inst, cell, false);
            }
        }
    }

    fn call(&mut self, inst: InstId, args: &[Operand], summary: &Summary, reached: &[ObjId]) {
        let mut said = Said::default();
        for outcome in &summary.outcomes {
            if self.asked.is_none() {
                self.looks(inst, args, outcome, &mut said);
            }
            self.changes(inst, args, outcome, reached, &mut said);
            self.clear(inst, &outcome.zeroed);
        }
        self.touch_globals(inst, &summary.touched);
        if summary.pure && self.asked.is_none() {
            self.see_all(inst, reached);
        }
    }

    /// What an outcome of a call looks at.
    fn looks<'s>(
        &mut self,
        inst: InstId,
        args: &[Operand],
        outcome: &'s Outcome,
        said: &mut Said<'s>,
    ) {
        let entry = |value: &'s Value| match value {
            Value::Entry { path, .. } => Some(path),
            _ => None,
        };
        let writes = outcome.writes.iter();
        let writes = writes.filter(|write| write.cell.base.root != Root::Ret);
        let written =
            writes.flat_map(|write| std::iter::once(&write.cell.base).chain(entry(&write.value)));
        let asked = outcome.when.iter().filter_map(|atom| match &atom.subject {
            Subject::Entry(path) => Some(path),
            _ => None,
        });
        let freed = outcome.frees.iter().map(|free| &free.path);
        let paths = entry(&outcome.ret).into_iter();
        for path in paths.chain(written).chain(freed).chain(asked) {
            if said.read.insert(path) {
                self.read_path(inst, args, path);
            }
        }
    }

    /// What an outcome of a call may change.
    fn changes<'s>(
        &mut self,
        inst: InstId,
        args: &[Operand],
        outcome: &'s Outcome,
        reached: &[ObjId],
        said: &mut Said<'s>,
    ) {
        for write in &outcome.writes {
            if write.cell.base.root == Root::Ret || !said.written.insert(&write.cell) {
                continue;
            }
            for loc in self.local.resolve(inst, args, &write.cell.base) {
                let place = Loc {
                    obj: loc.obj,
                    off: loc.off.plus(write.cell.offset),
                };
                for cell in self.cells_in(place, 1) {
                    self.chi(inst, cell, false);
                }
                if self.local.memory.kind(loc.obj).survives() {
                    self.touch_world(inst);
                }
            }
        }
        if outcome.escapes.is_empty() || self.changes > MAX_CHANGES {
            return;
        }
        self.touch_world(inst);
        for escape in &outcome.escapes {
            if !said.escaped.insert(&escape.path) {
                continue;
            }
            let targets = self.local.resolve(inst, args, &escape.path);
            let objects = self.local.reachable(&targets);
            for obj in objects
                .into_iter()
                .filter(|obj| reached.binary_search(obj).is_ok())
            {
                for &cell in &self.local.memory.objects[obj].cells {
                    self.changes += 1;
                    self.chi(inst, cell, false);
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
                    self.mu(inst, cell);
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
                self.mu(inst, cell);
            }
        }
    }
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
