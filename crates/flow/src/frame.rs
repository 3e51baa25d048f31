//! All that is known of one function before its objects are followed: control flow, points-to sets, memory SSA and the
//! value of every SSA name as a term. Built once, then read by every exploration.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use drip_base::{Graph, IdSet, IndexVec};
use drip_memssa::{Def, MemSsa, RegionId, VersionId};
use drip_models::{Atom, Offset, Root, Subject, ValuePath};
use drip_pointer::local::{CallTable, LocSet};
use drip_pointer::{CellId, Loc, LocalMemory, ObjId};
use drip_program::{
    BlockId, Body, Cfg, FuncId, GlobalId, InstId, Op, Operand, Program, Type, TypeId, ValueId,
};
use rustc_hash::FxHashMap;

use crate::handlers::Handlers;
use crate::interface::path_term;
use crate::memory::{MemoryMaker, Reach};
use crate::named::NamedCells;
use crate::plan::{CallPlan, SwitchPlan};
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
        let (local, reach, memssa, is_too_large) = maker.make(&block_of);
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
