//! Question: in which blocks of a function can anything happen to some objects, and where does a path come next?
//!
//! SMOKE's use-flow graph has vertices only where the machine may move, where the object is passed on, where paths meet and where
//! they end (definition 2). A block that touches none of the followed objects, and nothing that is remembered of the path, changes
//! nothing: a path enters it and leaves it in the same state. Such *quiet* blocks are jumped over. (Where most conditions are remembered
//! hardly any block is quiet.)
//! Domain: blocks that are not quiet, from three indices over the function that are built once (`Touches`): values by the objects
//! they may point to, cells by what they may hold, calls by what they can reach. From there along uses, so that the cost is that of
//! the object's own uses. Invariant: what the exploration does in a quiet block is nothing; a jump ends at the first block on each
//! way that is not quiet. Loop headers, returns, and calls that may not return or throw are never quiet.

use std::rc::Rc;

use drip_base::{IdSet, IndexVec};
use drip_cond::TermKind;
use drip_memssa::Def;
use drip_models::{Certainty, Class, Summary, Value};
use drip_pointer::{CellId, Memory, ObjId, ObjKind};
use drip_program::{BlockId, CmpPred, InstId, Op, Operand, ValueId, VarId};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::call::handles_global;
use crate::frame::Frame;
use crate::relevance::Relevance;
use crate::values::{Symbol, Values};

/// Ways on from a quiet block; one with more of them is stopped at all the same, so that ways to it and from it do not multiply.
const MAX_LANDINGS: usize = 4;

/// Where the memory of a function is touched; built once.
pub(crate) struct Touches {
    /// Values that may point to an object.
    pub(crate) values: IndexVec<ObjId, Vec<ValueId>>,
    /// Cells that may hold a pointer to an object.
    pub(crate) cells: IndexVec<ObjId, Vec<CellId>>,
    /// Values that are read from a cell and of which the points-to set does not tell all.
    pub(crate) readers: FxHashMap<CellId, Vec<ValueId>>,
    /// Blocks that may write a cell, or copy what it holds.
    pub(crate) writers: IndexVec<CellId, Vec<BlockId>>,
    /// Blocks with calls that can reach an object, or whose callee handles it as a global variable.
    pub(crate) calls: IndexVec<ObjId, Vec<BlockId>>,
    /// Of those, the calls that may put what they are given where no points-to set says so: sets of a value or cell that may point to
    /// too much are cut off.
    blurring: IndexVec<ObjId, Vec<InstId>>,
    /// Their results, where those may be anything.
    blurred: FxHashMap<InstId, Option<ValueId>>,
    /// Cells of an object that may hold more than their points-to sets tell.
    crowded: FxHashMap<ObjId, Vec<CellId>>,
    /// Cells of an object at no certain offset.
    pub(crate) inexact: FxHashMap<ObjId, Vec<CellId>>,
    /// Objects with crowded cells that an object's bytes are copied to.
    copied: FxHashMap<ObjId, Vec<ObjId>>,
    /// Blocks with binding markers of a variable, and the variables that are bound to a value.
    binds: FxHashMap<VarId, Vec<BlockId>>,
    bound: FxHashMap<ValueId, Vec<VarId>>,
    /// Blocks that are never quiet.
    always: IdSet<BlockId>,
    /// Blocks that no path leaves: a call in them never returns.
    final_blocks: IdSet<BlockId>,
}

/// May the cell hold more than its points-to set tells?
fn is_crowded(frame: &Frame<'_>, cell: CellId) -> bool {
    let mut contents = frame.local.contents[cell].iter();
    contents.any(|loc| loc.obj == Memory::WORLD)
}

/// May the value be more than its points-to set tells?
fn is_anything(frame: &Frame<'_>, value: ValueId) -> bool {
    let mut targets = frame.local.values[value].iter();
    targets.any(|loc| loc.obj == Memory::WORLD)
}

impl Touches {
    pub(crate) fn build(frame: &Frame<'_>, values: &Values) -> Touches {
        let memory = &frame.local.memory;
        let mut touches = Touches {
            values: IndexVec::from_elem(Vec::new(), memory.objects.len()),
            cells: IndexVec::from_elem(Vec::new(), memory.objects.len()),
            readers: FxHashMap::default(),
            writers: IndexVec::from_elem(Vec::new(), memory.cells.len()),
            calls: IndexVec::from_elem(Vec::new(), memory.objects.len()),
            blurring: IndexVec::from_elem(Vec::new(), memory.objects.len()),
            blurred: FxHashMap::default(),
            crowded: FxHashMap::default(),
            inexact: FxHashMap::default(),
            copied: FxHashMap::default(),
            binds: FxHashMap::default(),
            bound: FxHashMap::default(),
            always: IdSet::with_capacity(frame.body.blocks.len()),
            final_blocks: IdSet::with_capacity(frame.body.blocks.len()),
        };
        for (value, targets) in frame.local.values.iter_enumerated() {
            for loc in targets {
                touches.values[loc.obj].push(value);
            }
        }
        for (cell, targets) in frame.local.contents.iter_enumerated() {
            for loc in targets {
                touches.cells[loc.obj].push(cell);
            }
        }
        for (cell, place) in memory.cells.iter_enumerated() {
            if !place.off.is_exact() {
                touches.inexact.entry(place.obj).or_default().push(cell);
            }
            if is_crowded(frame, cell) {
                touches.crowded.entry(place.obj).or_default().push(cell);
            }
        }
        let holding: Vec<(ObjId, drip_program::GlobalId)> = memory
            .objects
            .iter_enumerated()
            .filter_map(|(obj, data)| match data.kind {
                ObjKind::Global(global) => Some((obj, global)),
                _ => None,
            })
            .collect();
        for block in frame.body.blocks.ids() {
            if frame.cfg.loops().headed_by(block).is_some() {
                touches.always.insert(block);
            }
            for inst in frame.body.block_insts(block) {
                touches.instruction(frame, values, block, inst);
                if let Some(summary) = frame.calls.get(&inst) {
                    touches.call(frame, summary, &holding, block, inst);
                }
            }
        }
        touches
    }

    fn instruction(&mut self, frame: &Frame<'_>, values: &Values, block: BlockId, inst: InstId) {
        match frame.body.insts[inst].op {
            Op::Load { addr } => {
                let memory = &frame.local.memory;
                let result = frame.body.result(inst);
                let is_anything = is_anything(frame, result);
                let cells = frame.local.targets(addr).iter();
                for cell in cells.flat_map(|&loc| memory.overlapping(loc)) {
                    // A cell at no certain offset may hold what is stored beside it, whatever its points-to set says.
                    if is_anything || !memory.cells[cell].off.is_exact() {
                        self.readers.entry(cell).or_default().push(result);
                    }
                }
            }
            Op::Store { addr, .. } | Op::AtomicRmw { addr, .. } | Op::CmpXchg { addr, .. } => {
                for &loc in frame.local.targets(addr) {
                    for cell in frame.local.memory.overlapping(loc) {
                        note(&mut self.writers[cell], block);
                    }
                }
                // A struct covers more cells than the one at its address.
                if let Op::Store { value, .. } = frame.body.insts[inst].op
                    && let Some(value) = value.as_value()
                    && frame.is_aggregate(frame.body.value_ty(value))
                {
                    self.writes_object(frame, block, addr);
                }
            }
            Op::MemCopy { dst, src, .. } => {
                self.writes_object(frame, block, dst);
                self.writes_object(frame, block, src);
                let written = frame.local.targets(dst).iter().map(|loc| loc.obj);
                let crowded = written.filter(|obj| self.crowded.contains_key(obj));
                let crowded: SmallVec<[ObjId; 4]> = crowded.collect();
                for loc in frame.local.targets(src) {
                    self.copied.entry(loc.obj).or_default().extend(&crowded);
                }
            }
            Op::MemSet { dst, .. } => self.writes_object(frame, block, dst),
            Op::Bind { var, value } => {
                note(self.binds.entry(var).or_default(), block);
                if let Some(value) = value.as_value() {
                    note(self.bound.entry(value).or_default(), var);
                }
            }
            Op::Ret { .. } | Op::Resume { .. } | Op::CallBr { .. } => {
                self.always.insert(block);
            }
            Op::CondBr { cond, .. }
                if is_decided(frame, values, cond) || is_told(frame, values, block, cond) =>
            {
                self.always.insert(block);
            }
            Op::Switch { value, .. }
                if values.terms.as_int(values.term(value)).is_some()
                    || is_told(frame, values, block, value) =>
            {
                self.always.insert(block);
            }
            _ => {}
        }
    }

    fn writes_object(&mut self, frame: &Frame<'_>, block: BlockId, addr: Operand) {
        for loc in frame.local.targets(addr) {
            for &cell in &frame.local.memory.objects[loc.obj].cells {
                note(&mut self.writers[cell], block);
            }
        }
    }

    fn call(
        &mut self,
        frame: &Frame<'_>,
        summary: &Summary,
        globals: &[(ObjId, drip_program::GlobalId)],
        block: BlockId,
        inst: InstId,
    ) {
        if !summary.returns() {
            self.final_blocks.insert(block);
        }
        if summary.may_throw {
            self.always.insert(block);
        }
        let reached = frame.reach.get(&inst).map_or(&[][..], Vec::as_slice);
        let result = Some(frame.body.result(inst)).filter(|&value| is_anything(frame, value));
        let is_blurring =
            result.is_some() || reached.iter().any(|obj| self.crowded.contains_key(obj));
        for &obj in reached {
            note(&mut self.calls[obj], block);
            if is_blurring {
                self.blurring[obj].push(inst);
            }
        }
        if is_blurring {
            self.blurred.insert(inst, result);
        }
        for &(obj, global) in globals {
            if handles_global(summary, global) {
                note(&mut self.calls[obj], block);
            }
        }
    }
}

/// Adds an entry to a list that is filled in order of blocks.
fn note<T: PartialEq>(list: &mut Vec<T>, entry: T) {
    if list.last() != Some(&entry) {
        list.push(entry);
    }
}

/// Does the same way out of a block hold in every run?
fn is_decided(frame: &Frame<'_>, values: &Values, cond: Operand) -> bool {
    let is_sum = |operand: Operand| frame.is_pointer_sum(operand);
    let compares_sum = match compared(frame, cond) {
        Some((a, b)) => is_sum(a) || is_sum(b),
        None => false,
    };
    compares_sum || values.terms.as_bool(values.term(cond)).is_some()
}

/// Does a call in the block tell something of what its end asks for, whatever path comes there? What it tells holds until the end of the
/// block although nothing is remembered.
fn is_told(frame: &Frame<'_>, values: &Values, block: BlockId, asked: Operand) -> bool {
    let only = |call: InstId| match frame.calls.get(&call).map(|s| &s.outcomes[..]) {
        Some([only]) if frame.block_of(call) == block => Some(only),
        _ => None,
    };
    let terms = values.terms.subterms(&[values.term(asked)]);
    let mut symbols = terms
        .iter()
        .filter_map(|&term| match values.terms.kind(term) {
            TermKind::Sym(sym) => values.symbol(*sym),
            _ => None,
        });
    symbols.any(|symbol| match symbol {
        Symbol::Value(value) if value.index() < frame.body.value_count() => {
            let told = frame.body.def(value).and_then(only);
            told.is_some_and(|only| only.ret != Value::Unknown(Class::Any))
        }
        Symbol::Version(version, _) => match frame.memssa.versions[version].def {
            Def::Chi { inst, .. } => only(inst)
                .is_some_and(|only| only.writes.iter().any(|w| w.certainty == Certainty::Must)),
            _ => false,
        },
        Symbol::Value(_) => false,
    })
}

/// The operands of a condition that asks whether two values are equal.
fn compared(frame: &Frame<'_>, cond: Operand) -> Option<(Operand, Operand)> {
    let inst = cond.as_value().and_then(|v| frame.body.def(v))?;
    match frame.body.insts[inst].op {
        Op::Cmp {
            pred: CmpPred::Eq | CmpPred::Ne,
            a,
            b,
        } => Some((a, b)),
        _ => None,
    }
}

/// Where a jump over quiet blocks enters a block that is not: by which edge.
type Landings = Rc<[(BlockId, BlockId)]>;

/// The blocks that matter for some objects, and the jumps between them.
pub(crate) struct Jumps {
    loud: IdSet<BlockId>,
    /// Paths that come here without meeting one of the objects end here without one.
    final_blocks: IdSet<BlockId>,
    /// Values that may be a pointer to one of the objects, or made of one.
    related: FxHashSet<ValueId>,
    known: FxHashMap<BlockId, Landings>,
}

/// Values and cells that may hold one of the objects and are to be looked at, with what is behind already.
#[derive(Default)]
struct Open {
    values: Vec<ValueId>,
    cells: Vec<CellId>,
    /// Cells, their owners, calls, and objects whose crowded cells count.
    holding: FxHashSet<CellId>,
    owners: FxHashSet<ObjId>,
    calls: FxHashSet<InstId>,
    crowded: FxHashSet<ObjId>,
}

impl Open {
    /// A call gets or makes one of the objects: wherever it may put it out of sight.
    fn blur(&mut self, frame: &Frame<'_>, touches: &Touches, call: InstId) {
        let Some(result) = touches.blurred.get(&call) else {
            return;
        };
        if self.calls.insert(call) {
            self.values.extend(result);
            for &obj in frame.reach.get(&call).into_iter().flatten() {
                self.crowd(touches, obj);
            }
        }
    }

    /// The crowded cells of an object may hold one of the objects.
    fn crowd(&mut self, touches: &Touches, obj: ObjId) {
        if self.crowded.insert(obj) {
            let cells = touches.crowded.get(&obj).into_iter().flatten();
            self.cells.extend(cells);
        }
    }
}

impl Jumps {
    pub(crate) fn new(
        frame: &Frame<'_>,
        values: &Values,
        relevant: &Relevance,
        objects: &[ObjId],
    ) -> Jumps {
        let touches = frame.touches(values);
        let mut jumps = Jumps {
            loud: touches.always.clone(),
            final_blocks: touches.final_blocks.clone(),
            related: FxHashSet::default(),
            known: FxHashMap::default(),
        };
        let mut open = Open::default();
        for &obj in objects {
            if let ObjKind::Fresh { call, .. } = frame.local.memory.kind(obj) {
                jumps.loud.insert(frame.block_of(call));
                open.blur(frame, touches, call);
            }
            open.values.extend(&touches.values[obj]);
            open.cells.extend(&touches.cells[obj]);
        }
        jumps.follow(frame, touches, open);
        jumps.add_binds(touches);
        jumps.add_remembered(frame, values, relevant);
        jumps
    }

    /// Blocks where something that is remembered is made or asked for.
    fn add_remembered(&mut self, frame: &Frame<'_>, values: &Values, relevant: &Relevance) {
        for blocks in relevant.uses.values() {
            self.add(blocks);
        }
        let calls = relevant.passed.keys().map(|&inst| frame.block_of(inst));
        let homes = relevant.decisive.iter().filter_map(|&sym| values.home(sym));
        for block in relevant.phis.keys().copied().chain(calls).chain(homes) {
            self.loud.insert(block);
        }
    }

    /// Is there anything to jump over?
    pub(crate) fn are_worth_it(&self, frame: &Frame<'_>) -> bool {
        2 * self.loud.len() < frame.body.blocks.len()
    }

    fn add(&mut self, blocks: &[BlockId]) {
        for &block in blocks {
            self.loud.insert(block);
        }
    }

    /// Every use of a pointer to one of the objects, of what is made of it, and of the cells that may hold it.
    fn follow(&mut self, frame: &Frame<'_>, touches: &Touches, mut open: Open) {
        loop {
            if let Some(value) = open.values.pop() {
                if self.related.insert(value) {
                    self.follow_uses(frame, touches, value, &mut open);
                }
            } else if let Some(cell) = open.cells.pop() {
                if open.holding.insert(cell) {
                    self.follow_cell(frame, touches, cell, &mut open);
                }
            } else {
                break;
            }
        }
    }

    /// Whoever writes, reads or copies a cell that may hold one of the objects.
    fn follow_cell(&mut self, frame: &Frame<'_>, touches: &Touches, cell: CellId, open: &mut Open) {
        let place = frame.local.memory.cells[cell];
        let owner = place.obj;
        let inexact = touches.inexact.get(&owner).into_iter().flatten();
        open.cells.extend(inexact.filter(|&&other| {
            let other = frame.local.memory.cells[other];
            other.off.may_equal(place.off)
        }));
        self.add(&touches.writers[cell]);
        open.values
            .extend(touches.readers.get(&cell).into_iter().flatten());
        if !open.owners.insert(owner) {
            return;
        }
        self.add(&touches.calls[owner]);
        for &to in touches.copied.get(&owner).into_iter().flatten() {
            open.crowd(touches, to);
        }
        for &call in &touches.blurring[owner] {
            open.blur(frame, touches, call);
        }
    }

    fn follow_uses(
        &mut self,
        frame: &Frame<'_>,
        touches: &Touches,
        value: ValueId,
        open: &mut Open,
    ) {
        if let Some(inst) = frame.body.def(value) {
            self.loud.insert(frame.block_of(inst));
        }
        for user in frame.uses(value) {
            self.loud.insert(frame.block_of(user));
            match frame.body.insts[user].op {
                Op::Phi { .. }
                | Op::Select { .. }
                | Op::PtrAdd { .. }
                | Op::Cast { .. }
                | Op::Binary { .. }
                | Op::Opaque { .. }
                | Op::InsertValue { .. }
                | Op::ExtractValue { .. } => open.values.push(frame.body.result(user)),
                // What equals the pointer is another name of it; whoever branches on that decides.
                Op::Cmp { a, b, .. } => {
                    let compared = [a, b].into_iter().filter_map(Operand::as_value);
                    open.values.extend(compared);
                    for decided in frame.uses(frame.body.result(user)) {
                        self.loud.insert(frame.block_of(decided));
                    }
                }
                Op::Store {
                    addr,
                    value: stored,
                } if stored.as_value() == Some(value) => {
                    let targets = frame.local.targets(addr).iter();
                    let cells = targets.flat_map(|&loc| frame.local.memory.overlapping(loc));
                    open.cells.extend(cells);
                }
                Op::Call { .. } | Op::Invoke { .. } => open.blur(frame, touches, user),
                _ => {}
            }
        }
    }

    /// Variables that are ever bound to one of the values: each of their bindings counts.
    fn add_binds(&mut self, touches: &Touches) {
        let bound = |value: &ValueId| touches.bound.get(value).into_iter().flatten();
        let vars: FxHashSet<VarId> = self.related.iter().flat_map(bound).copied().collect();
        for blocks in vars.iter().filter_map(|var| touches.binds.get(var)) {
            self.add(blocks);
        }
    }

    /// The edges by which paths that take `from → to` reach the next blocks that are not quiet.
    pub(crate) fn landings(&mut self, frame: &Frame<'_>, from: BlockId, to: BlockId) -> Landings {
        if self.loud.contains(to) {
            return Rc::new([(from, to)]);
        }
        if let Some(known) = self.known.get(&to) {
            return Rc::clone(known);
        }
        let mut found: Vec<(BlockId, BlockId)> = Vec::new();
        let mut ways: FxHashSet<(BlockId, bool, SmallVec<[Operand; 2]>)> = FxHashSet::default();
        let mut seen = IdSet::with_capacity(frame.body.blocks.len());
        seen.insert(to);
        let mut open = vec![to];
        while let Some(block) = open.pop() {
            if self.final_blocks.contains(block) {
                continue;
            }
            let last = frame.body.terminator(block);
            let normal = match frame.body.insts[last].op {
                Op::Invoke { normal, .. } => Some(normal),
                _ => None,
            };
            let succs = frame.cfg.succs(block).iter().copied();
            for next in succs.filter(|next| normal.is_none_or(|normal| normal == *next)) {
                if !self.loud.contains(next) {
                    if seen.insert(next) {
                        open.push(next);
                    }
                    continue;
                }
                let is_back = frame.cfg.rpo().is_retreating(block, next);
                if ways.insert((next, is_back, self.brought(frame, block, next))) {
                    found.push((block, next));
                }
            }
            if found.len() > MAX_LANDINGS {
                self.loud.insert(to);
                return Rc::new([(from, to)]);
            }
        }
        found.sort_unstable();
        let landings: Landings = found.into();
        self.known.insert(to, Rc::clone(&landings));
        landings
    }

    /// What the edge makes of the φs that concern the objects.
    fn brought(&self, frame: &Frame<'_>, from: BlockId, to: BlockId) -> SmallVec<[Operand; 2]> {
        let mut brought = SmallVec::new();
        for inst in frame.body.block_insts(to) {
            let Op::Phi { incoming } = frame.body.insts[inst].op else {
                break;
            };
            if self.related.contains(&frame.body.result(inst)) {
                let entries = frame.body.incoming(incoming).iter();
                brought.extend(entries.filter(|e| e.block == from).map(|e| e.value));
            }
        }
        brought
    }
}
