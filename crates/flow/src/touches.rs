//! Question: which instructions of a function can have anything to do with an object?
//!
//! Indices over the function that are built once: values by the objects they may point to, cells by what they may hold, calls by what they
//! can reach, and what matters whatever is followed: calls that do not return or that tell something of what is asked in their own
//! block, reads through pointers that may be null there. `sparse.rs` walks them from an object along its uses. Cost: linear in the function and
//! in the sets of `pointer::local`.

use drip_base::{IdSet, IndexVec};
use drip_cond::{SymId, TermId, TermKind};
use drip_memssa::Def;
use drip_models::{Certainty, Class, Summary, Value};
use drip_pointer::{CellId, Memory, ObjId, ObjKind};
use drip_program::{BlockId, CmpPred, InstId, Op, Operand, ValueId, VarId};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::call::handles_global;
use crate::explore::Goal;
use crate::frame::Frame;
use crate::plan::{CallPlan, ResultPlan};
use crate::values::{Symbol, Values};

/// Where the memory of a function is touched; built once.
pub(crate) struct Touches {
    /// Values that may point to an object.
    pub(crate) values: IndexVec<ObjId, Vec<ValueId>>,
    /// Cells that may hold a pointer to an object.
    pub(crate) cells: IndexVec<ObjId, Vec<CellId>>,
    /// Values that are read from a cell and of which the points-to set does not tell all.
    pub(crate) readers: FxHashMap<CellId, Vec<ValueId>>,
    /// Instructions that may write a cell, or copy what it holds.
    pub(crate) writers: IndexVec<CellId, Vec<InstId>>,
    /// Calls that can reach an object, or whose callee handles it as a global variable.
    pub(crate) calls: IndexVec<ObjId, Vec<InstId>>,
    /// Of those, the calls that may put what they are given where no points-to set says so: sets of a value or cell that may point to
    /// too much are cut off.
    pub(crate) blurring: IndexVec<ObjId, Vec<InstId>>,
    pub(crate) blurred: FxHashMap<InstId, Blur>,
    /// Cells of an object that may hold more than their points-to sets tell.
    pub(crate) crowded: FxHashMap<ObjId, Vec<CellId>>,
    /// Cells of an object at no certain offset.
    pub(crate) inexact: FxHashMap<ObjId, Vec<CellId>>,
    /// Objects with crowded cells that an object's bytes are copied to.
    pub(crate) copied: FxHashMap<ObjId, Vec<ObjId>>,
    /// Binding markers of a variable, and the variables that are bound to a value.
    pub(crate) binds: FxHashMap<VarId, Vec<InstId>>,
    pub(crate) bound: FxHashMap<ValueId, Vec<VarId>>,
    /// Blocks that are never quiet.
    pub(crate) always: IdSet<BlockId>,
    /// Blocks that no path leaves: a call in them never returns.
    pub(crate) final_blocks: IdSet<BlockId>,
    /// Calls that tell something of what is asked behind them in their own block; at a return callers ask for everything.
    pub(crate) telling: IdSet<InstId>,
    /// Reads and writes through a symbol.
    pub(crate) accesses: FxHashMap<SymId, Vec<InstId>>,
    /// Reads and writes through null, or through what a call in the same block has returned or written.
    risky: Vec<InstId>,
    /// Calls that matter to whoever asks for fates, or for the ends of all paths, whatever objects are followed and though nothing is
    /// remembered.
    of_fates: Vec<InstId>,
    of_exits: Vec<InstId>,
    /// All calls of which something is known.
    all_calls: Vec<InstId>,
}

/// Where a call may put what it is given, out of sight of points-to sets.
pub(crate) struct Blur {
    /// Its result, if that may be anything.
    pub(crate) result: Option<ValueId>,
    /// Objects that it reaches and of which a cell may hold more than its points-to set tells.
    pub(crate) crowded: Vec<ObjId>,
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
    pub(crate) fn build(frame: &Frame<'_>, values: &mut Values) -> Touches {
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
            telling: IdSet::with_capacity(frame.body.insts.len()),
            accesses: FxHashMap::default(),
            risky: Vec::new(),
            of_fates: Vec::new(),
            of_exits: Vec::new(),
            all_calls: Vec::new(),
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
                    touches.all_calls.push(inst);
                }
            }
        }
        for calls in touches.calls.iter_mut() {
            calls.sort_unstable();
        }
        touches.add_accesses(frame, values);
        touches.add_telling(frame, values);
        touches.add_lasting(frame, values);
        touches
    }

    /// Can a call reach an object, or does its callee handle it as a global variable?
    pub(crate) fn is_reached(&self, obj: ObjId, call: InstId) -> bool {
        self.calls[obj].binary_search(&call).is_ok()
    }

    /// Instructions that matter whatever objects are followed.
    pub(crate) fn lasting(&self, goal: Goal, remembers: bool) -> impl Iterator<Item = InstId> + '_ {
        let calls = match (remembers, goal) {
            (true, _) => &self.all_calls,
            (false, Goal::Fate) => &self.of_fates,
            (false, Goal::Exits) => &self.of_exits,
        };
        calls.iter().chain(&self.risky).copied()
    }

    fn add_accesses(&mut self, frame: &Frame<'_>, values: &Values) {
        for (inst, data) in frame.body.insts.iter_enumerated() {
            let (Op::Load { addr } | Op::Store { addr, .. }) = data.op else {
                continue;
            };
            let term = values.term(frame.accessed(addr));
            if let TermKind::Sym(sym) = *values.terms.kind(term) {
                self.accesses.entry(sym).or_default().push(inst);
                if told_by(frame, values, sym)
                    .is_some_and(|call| frame.block_of(call) == frame.block_of(inst))
                {
                    self.risky.push(inst);
                }
            } else if values.terms.as_int(term) == Some(0) {
                self.risky.push(inst);
            }
        }
    }

    /// Where nothing is remembered, what a call says still holds until the end of its block.
    fn add_telling(&mut self, frame: &Frame<'_>, values: &mut Values) {
        let mut asked: FxHashSet<(BlockId, SymId)> = FxHashSet::default();
        for (&sym, accesses) in &self.accesses {
            asked.extend(accesses.iter().map(|&inst| (frame.block_of(inst), sym)));
        }
        for (inst, data) in frame.body.insts.iter_enumerated() {
            let block = frame.block_of(inst);
            let mut ask = |values: &mut Values, term| {
                let symbols = values.symbols_in(term);
                asked.extend(symbols.iter().map(|&sym| (block, sym)));
            };
            match data.op {
                Op::CondBr { cond, .. } | Op::Select { cond, .. } => {
                    ask(values, values.term(cond));
                }
                Op::Switch { value, .. } => ask(values, values.term(value)),
                Op::Call { .. } | Op::Invoke { .. } => {
                    let plan = frame.plan(values, inst);
                    for term in plan.iter().flat_map(|plan| asked_by(plan)) {
                        ask(values, term);
                    }
                }
                _ => {}
            }
        }
        for &call in &self.all_calls {
            let last = frame.body.terminator(frame.block_of(call));
            if matches!(frame.body.insts[last].op, Op::Ret { .. }) {
                self.telling.insert(call);
            }
        }
        for number in 0..values.symbols.len() {
            let sym = SymId(number as u32);
            if let Some(call) = told_by(frame, values, sym)
                && asked.contains(&(frame.block_of(call), sym))
            {
                self.telling.insert(call);
            }
        }
    }

    fn add_lasting(&mut self, frame: &Frame<'_>, values: &mut Values) {
        for &call in &self.all_calls {
            let (Some(summary), Some(plan)) = (frame.calls.get(&call), frame.plan(values, call))
            else {
                continue;
            };
            let is_fatal = !summary.returns() || summary.may_throw;
            if is_fatal {
                self.of_fates.push(call);
            }
            // A result that is no symbol of its own may be asked for anywhere.
            let is_shared = matches!(&plan.outcomes[..], [only]
                if matches!(only.result, ResultPlan::Fact(_)))
                && !matches!(
                    values.terms.kind(values.of(frame.body.result(call))),
                    TermKind::Sym(_)
                );
            let is_telling = is_shared || self.telling.contains(call);
            if is_fatal || is_telling || !plan.may_return(values) {
                self.of_exits.push(call);
            }
        }
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
                        note(&mut self.writers[cell], inst);
                    }
                }
                // A struct covers more cells than the one at its address.
                if let Op::Store { value, .. } = frame.body.insts[inst].op
                    && let Some(value) = value.as_value()
                    && frame.is_aggregate(frame.body.value_ty(value))
                {
                    self.writes_object(frame, inst, addr);
                }
            }
            Op::MemCopy { dst, src, .. } => {
                self.writes_object(frame, inst, dst);
                self.writes_object(frame, inst, src);
                let written = frame.local.targets(dst).iter().map(|loc| loc.obj);
                let crowded = written.filter(|obj| self.crowded.contains_key(obj));
                let crowded: SmallVec<[ObjId; 4]> = crowded.collect();
                for loc in frame.local.targets(src) {
                    self.copied.entry(loc.obj).or_default().extend(&crowded);
                }
            }
            Op::MemSet { dst, .. } => self.writes_object(frame, inst, dst),
            Op::Bind { var, value } => {
                note(self.binds.entry(var).or_default(), inst);
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

    fn writes_object(&mut self, frame: &Frame<'_>, inst: InstId, addr: Operand) {
        for loc in frame.local.targets(addr) {
            for &cell in &frame.local.memory.objects[loc.obj].cells {
                note(&mut self.writers[cell], inst);
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
        let is_crowded = |obj: &ObjId| self.crowded.contains_key(obj);
        let crowded: Vec<ObjId> = reached.iter().copied().filter(is_crowded).collect();
        let is_blurring = result.is_some() || !crowded.is_empty();
        for &obj in reached {
            note(&mut self.calls[obj], inst);
            if is_blurring {
                self.blurring[obj].push(inst);
            }
        }
        if is_blurring {
            self.blurred.insert(inst, Blur { result, crowded });
        }
        for &(obj, global) in globals {
            if handles_global(summary, global) {
                note(&mut self.calls[obj], inst);
            }
        }
    }
}

/// The call that defines a symbol: its result, or what it may leave in a cell.
fn told_by(frame: &Frame<'_>, values: &Values, sym: SymId) -> Option<InstId> {
    let inst = match values.symbol(sym)? {
        Symbol::Value(value) if value.index() < frame.body.value_count() => {
            frame.body.def(value)?
        }
        Symbol::Version(version, _) => match frame.memssa.versions[version].def {
            Def::Chi { inst, .. } => inst,
            _ => return None,
        },
        Symbol::Value(_) => return None,
    };
    let is_call = matches!(
        frame.body.insts[inst].op,
        Op::Call { .. } | Op::Invoke { .. }
    );
    is_call.then_some(inst)
}

/// What the conditions of a call's outcomes ask for, and what they give back.
fn asked_by(plan: &CallPlan) -> impl Iterator<Item = TermId> + '_ {
    plan.outcomes.iter().flat_map(|outcome| {
        let returned = match outcome.result {
            ResultPlan::Bound(_, value) => Some(value),
            _ => None,
        };
        let asked = outcome.atoms.iter().filter_map(|atom| atom.fact);
        asked.chain(returned)
    })
}

/// Adds an entry to a list that is filled in order of instructions.
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
