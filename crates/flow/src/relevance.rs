//! Question: which conditions are worth remembering along a path?
//!
//! A condition whose symbols occur in no other decision can't contradict anything: remembering it would only keep apart
//! states that are equal for all that follows. Decisions are branch and switch conditions, the conditions of callees'
//! outcomes and (for summaries) the returned value.

use drip_base::IdSet;
use drip_cond::{SymId, TermId};
use drip_memssa::{Def, RegionId};
use drip_models::Subject;
use drip_pointer::{CellId, ObjId, ObjKind};
use drip_program::{BlockId, InstId, Op};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::frame::{Frame, cell_of, region};
use crate::interface::{leaves_alone, path_term};
use crate::values::{Symbol, Values};

/// Blocks whose φs are told apart for what they leave in cells without a followed object; if there are more, none. All φs
/// of one block go together: they have as many values as the block has predecessors.
const MAX_LEFT_BLOCKS: usize = 4;

/// Entry objects of one exploration that may all be null.
const MAX_NULLABLE: usize = 3;

/// Which conditions are worth remembering in one exploration.
#[derive(Default)]
pub struct Relevance {
    /// Symbols on which at least two decisions depend.
    pub correlated: FxHashSet<SymId>,
    /// Symbols that decisions depend on: φs among them are remembered by their value.
    pub decisive: FxHashSet<SymId>,
    /// Symbols that a caller can name.
    pub interface: FxHashSet<SymId>,
    /// Blocks in which a decision (or a φ that one depends on) asks for the symbol.
    pub uses: FxHashMap<SymId, Vec<BlockId>>,
    /// φs of each block whose value is remembered, of SSA values and of memory, in order of their symbols.
    pub phis: FxHashMap<BlockId, Vec<PhiInputs>>,
    /// Memory versions that a call makes, in order of their symbols: what they are if the call leaves the cell alone.
    pub passed: FxHashMap<InstId, Vec<Passed>>,
    /// Entry objects whose pointer may be null, so that both cases are followed. Others are taken to exist: where they are
    /// null, there is nothing whose fate could be asked for.
    pub nullable: FxHashSet<ObjId>,
    /// Begin where the first followed object can exist: without conditions, nothing before that matters.
    pub from_birth: bool,
}

/// A cell before and after a call.
pub struct Passed {
    pub sym: SymId,
    /// What the cell held before.
    pub before: TermId,
    /// Does the call leave the cell alone? By outcome.
    alone: SmallVec<[bool; 8]>,
}

impl Passed {
    /// Is the cell what it was, after this outcome of the call or after any?
    pub(crate) fn is_unchanged(&self, outcome: Option<usize>) -> bool {
        match outcome {
            Some(number) => self.alone[number],
            None => self.alone.iter().all(|&alone| alone),
        }
    }
}

/// What a φ is, by the edge that is taken.
pub struct PhiInputs {
    pub sym: SymId,
    /// Term and predecessor.
    pub inputs: Vec<(TermId, BlockId)>,
}

/// Everything in a function that a path depends on, with the block it is asked in: collected once, then narrowed to the
/// decisions that matter for one object.
pub struct Decisions {
    terms: Vec<(TermId, BlockId)>,
    returned: Vec<(TermId, BlockId)>,
    /// What callers find in cells afterwards.
    left: Vec<(CellId, TermId, BlockId)>,
}

/// Whose decisions count.
#[derive(Clone, Copy)]
pub enum Scope<'s> {
    /// The fate of an object: only what these blocks decide.
    Fate(&'s IdSet<BlockId>),
    /// The same, and what the caller gets to see of these objects.
    Exits(&'s IdSet<BlockId>, &'s [ObjId]),
    /// Only what is returned.
    Result,
}

pub fn decisions(frame: &Frame<'_>, values: &mut Values) -> Decisions {
    let mut found = Decisions {
        terms: Vec::new(),
        returned: Vec::new(),
        left: Vec::new(),
    };
    let widths = widths(frame, values);
    for (inst, data) in frame.body.insts.iter_enumerated() {
        let block = frame.block_of(inst);
        match data.op {
            Op::CondBr { cond, .. } | Op::Select { cond, .. } => {
                found.terms.push((values.term(cond), block))
            }
            Op::Switch { value, .. } => found.terms.push((values.term(value), block)),
            Op::Ret { value } => {
                found
                    .returned
                    .extend(value.map(|value| (values.term(value), block)));
                left_behind(frame, values, &widths, (inst, block), &mut found.left);
            }
            Op::Call { .. } | Op::Invoke { .. } => {
                let Some(summary) = frame.calls.get(&inst) else {
                    continue;
                };
                for atom in summary.outcomes.iter().flat_map(|o| &o.when) {
                    match &atom.subject {
                        Subject::Ret => found
                            .terms
                            .push((values.of(frame.body.result(inst)), block)),
                        // Makes the symbol of the tested memory version, so that earlier writes can say what it is.
                        Subject::Entry(path) => {
                            found.terms.extend(
                                path_term(frame, values, inst, path).map(|term| (term, block)),
                            );
                        }
                    }
                }
            }
            _ => {}
        }
    }
    found
}

/// What a caller will find in memory, where it is not simply what one store put there.
fn left_behind(
    frame: &Frame<'_>,
    values: &mut Values,
    widths: &FxHashMap<RegionId, u32>,
    (ret, block): (InstId, BlockId),
    found: &mut Vec<(CellId, TermId, BlockId)>,
) {
    for (cell, place) in frame.local.memory.cells.iter_enumerated() {
        let object = &frame.local.memory.objects[place.obj];
        let is_seen = object.kind.has_entry_state() || matches!(object.kind, ObjKind::Fresh { .. });
        if !is_seen || object.depth > 2 || !frame.local.memory.is_strong(cell) {
            continue;
        }
        let Some(version) = frame.memssa.used(ret, region(cell)) else {
            continue;
        };
        let def = &frame.memssa.versions[version].def;
        if *def == Def::Entry || values.stored_term(frame, version).is_some() {
            continue;
        }
        let width = widths.get(&region(cell)).copied().unwrap_or(64);
        if let Some(term) = values.version_term(frame, version, width) {
            found.push((cell, term, block));
        }
    }
}

impl Decisions {
    /// What callers of a function that handles `objects` will want to tell apart: what it returns, and what it leaves in
    /// cells that may hold one of the objects; in others only if few blocks decide that, since each can double the states at
    /// the exit.
    fn seen_by_callers(
        &self,
        frame: &Frame<'_>,
        values: &mut Values,
        objects: &[ObjId],
    ) -> Vec<(TermId, BlockId)> {
        let holds = |cell: CellId| {
            frame.local.contents[cell]
                .iter()
                .any(|l| objects.contains(&l.obj))
        };
        let mut seen = self.returned.clone();
        let memory = &frame.local.memory;
        let is_handed = |cell: CellId| {
            let owner = memory.cells[cell].obj;
            memory.kind(owner).has_entry_state() || objects.contains(&owner)
        };
        let (held, others): (Vec<_>, Vec<_>) = self
            .left
            .iter()
            .filter(|(cell, ..)| is_handed(*cell))
            .partition(|(cell, ..)| holds(*cell));
        seen.extend(held.iter().map(|(_, term, block)| (*term, *block)));
        let mut deciding: Vec<BlockId> = Vec::new();
        for (_, term, _) in &others {
            let symbols = values.symbols_in(*term);
            deciding.extend(symbols.iter().filter_map(|&sym| values.home(sym)));
        }
        deciding.sort_unstable();
        deciding.dedup();
        if deciding.len() <= MAX_LEFT_BLOCKS {
            seen.extend(others.iter().map(|(_, term, block)| (*term, *block)));
        }
        seen
    }
}

/// Width in bits with which each region is read or written.
fn widths(frame: &Frame<'_>, values: &Values) -> FxHashMap<RegionId, u32> {
    let mut widths = FxHashMap::default();
    for symbol in &values.symbols {
        if let Symbol::Version(version, width) = *symbol
            && width > 0
        {
            widths.insert(frame.memssa.versions[version].region, width);
        }
    }
    for version in frame.memssa.versions.ids() {
        if let Some(term) = values.stored_term(frame, version) {
            widths.insert(
                frame.memssa.versions[version].region,
                values.terms.width(term),
            );
        }
    }
    widths
}

impl Relevance {
    /// Nothing is remembered from block to block: the state analysis of SMOKE's first stage.
    pub fn nothing() -> Relevance {
        Relevance {
            from_birth: true,
            ..Relevance::default()
        }
    }

    /// No condition is remembered. Where the caller's objects are followed beside new ones, what becomes of those on the paths where there
    /// is no such object counts, too (`if (l->tail) l->tail->next = e; else l->head = e;`).
    pub fn of_nothing_but(frame: &Frame<'_>, objects: &[ObjId]) -> Relevance {
        let is_new = |&obj: &ObjId| matches!(frame.local.memory.kind(obj), ObjKind::Fresh { .. });
        let mut nothing = Relevance::nothing();
        if objects.iter().any(is_new) {
            nothing.nullable = nullable(frame, objects);
        }
        nothing
    }

    /// Where callers decide themselves which of a φ's values they find (`init(s, 0)`), the outcomes have to say so.
    fn add_choices_of_callers(&mut self, frame: &Frame<'_>, values: &mut Values) {
        let mut blocks: Vec<BlockId> = self.phis.keys().copied().collect();
        blocks.sort_unstable();
        for block in blocks {
            let Some(above) = frame.cfg.dominators().idom(block) else {
                continue;
            };
            let Op::CondBr { cond, .. } = frame.body.insts[frame.body.terminator(above)].op else {
                continue;
            };
            let symbols = values.symbols_in(values.term(cond));
            if symbols.iter().all(|&sym| is_interface(frame, values, sym)) {
                for &sym in symbols.iter() {
                    self.uses.entry(sym).or_default().push(above);
                    self.decisive.insert(sym);
                }
            }
        }
    }

    /// What the decisions in scope depend on.
    pub fn compute(
        frame: &Frame<'_>,
        values: &mut Values,
        found: &Decisions,
        scope: Scope<'_>,
    ) -> Relevance {
        let none = IdSet::new();
        let (blocks, returned) = match scope {
            Scope::Fate(blocks) => (blocks, Vec::new()),
            Scope::Exits(blocks, objects) => {
                (blocks, found.seen_by_callers(frame, values, objects))
            }
            Scope::Result => (&none, found.returned.clone()),
        };
        let mut out = Relevance::default();
        let mut counts: FxHashMap<SymId, u32> = FxHashMap::default();
        let mut stack: Vec<SymId> = Vec::new();
        for &(term, block) in &found.terms {
            for &sym in values.symbols_in(term).iter() {
                *counts.entry(sym).or_default() += 1;
                if blocks.contains(block) {
                    out.uses.entry(sym).or_default().push(block);
                    stack.push(sym);
                }
            }
        }
        for &(term, block) in &returned {
            for &sym in values.symbols_in(term).iter() {
                out.uses.entry(sym).or_default().push(block);
                stack.push(sym);
            }
        }
        // A φ's inputs decide what the φ decides.
        while let Some(sym) = stack.pop() {
            if !out.decisive.insert(sym) {
                continue;
            }
            if let Some((inst, passed)) = passed_by(frame, values, sym) {
                let block = frame.block_of(inst);
                for &inner in values.symbols_in(passed.before).iter() {
                    *counts.entry(inner).or_default() += 1;
                    out.uses.entry(inner).or_default().push(block);
                    stack.push(inner);
                }
                out.passed.entry(inst).or_default().push(passed);
            }
            let inputs = phi_inputs(frame, values, sym);
            for &(term, block) in &inputs {
                for &inner in values.symbols_in(term).iter() {
                    *counts.entry(inner).or_default() += 1;
                    out.uses.entry(inner).or_default().push(block);
                    stack.push(inner);
                }
            }
            if let Some(block) = values.home(sym).filter(|_| !inputs.is_empty()) {
                let phi = PhiInputs { sym, inputs };
                out.phis.entry(block).or_default().push(phi);
            }
        }
        for passed in out.passed.values_mut() {
            passed.sort_unstable_by_key(|passed| passed.sym);
        }
        for phis in out.phis.values_mut() {
            phis.sort_unstable_by_key(|phi| phi.sym);
        }
        if let Scope::Exits(..) = scope {
            out.add_choices_of_callers(frame, values);
        }
        out.correlated = out
            .decisive
            .iter()
            .copied()
            .filter(|sym| counts.get(sym).is_some_and(|&count| count > 1))
            .collect();
        if let Scope::Exits(_, objects) = scope {
            out.nullable = nullable(frame, objects);
            // What callers can test becomes an outcome's condition.
            out.interface = out
                .decisive
                .iter()
                .copied()
                .filter(|&sym| is_interface(frame, values, sym))
                .collect();
            out.correlated.extend(&out.interface);
        }
        for &(term, _) in &returned {
            out.correlated.extend(values.symbols_in(term).iter());
        }
        out
    }
}

/// A version that a call makes, with what the cell held before it.
fn passed_by(frame: &Frame<'_>, values: &mut Values, sym: SymId) -> Option<(InstId, Passed)> {
    let Some(Symbol::Version(version, width)) = values.symbol(sym) else {
        return None;
    };
    let Def::Chi { inst, old, .. } = frame.memssa.versions[version].def else {
        return None;
    };
    let is_call = matches!(
        frame.body.insts[inst].op,
        Op::Call { .. } | Op::Invoke { .. }
    );
    if !is_call || width == 0 {
        return None;
    }
    let cell = cell_of(frame.memssa.versions[version].region);
    let before = values.version_term(frame, old, width)?;
    if !frame.local.memory.is_strong(cell) {
        return None;
    }
    let outcomes = frame.calls.get(&inst).map_or(&[][..], |s| &s.outcomes);
    let passed = Passed {
        sym,
        before,
        alone: outcomes
            .iter()
            .map(|outcome| leaves_alone(frame, inst, outcome, cell))
            .collect(),
    };
    Some((inst, passed))
}

/// Few entry objects may all be null; of many only the parameters' own, because each doubles the states at the exit.
fn nullable(frame: &Frame<'_>, objects: &[ObjId]) -> FxHashSet<ObjId> {
    let kind = |obj: &ObjId| frame.local.memory.kind(*obj);
    let entries = objects
        .iter()
        .copied()
        .filter(|obj| !matches!(kind(obj), ObjKind::Fresh { .. }));
    let few = entries.clone().count() <= MAX_NULLABLE;
    entries
        .filter(|obj| few || matches!(kind(obj), ObjKind::Param(_)))
        .collect()
}

/// Terms that a φ symbol can be, with the block each comes from.
fn phi_inputs(frame: &Frame<'_>, values: &mut Values, sym: SymId) -> Vec<(TermId, BlockId)> {
    match values.symbol(sym) {
        Some(Symbol::Value(value)) if value.index() < frame.body.value_count() => {
            let Some(inst) = frame.body.def(value) else {
                return Vec::new();
            };
            match frame.body.insts[inst].op {
                Op::Phi { incoming } => frame
                    .body
                    .incoming(incoming)
                    .iter()
                    .map(|e| (values.term(e.value), e.block))
                    .collect(),
                _ => Vec::new(),
            }
        }
        Some(Symbol::Version(version, width)) if width > 0 => {
            match &frame.memssa.versions[version].def {
                Def::Phi { operands, block } => operands
                    .iter()
                    .zip(frame.cfg.preds(*block))
                    .filter_map(|(&operand, &from)| {
                        Some((values.version_term(frame, operand, width)?, from))
                    })
                    .collect(),
                _ => Vec::new(),
            }
        }
        _ => Vec::new(),
    }
}

/// Parameters and what entry cells hold on entry.
fn is_interface(frame: &Frame<'_>, values: &Values, sym: SymId) -> bool {
    match values.symbol(sym) {
        Some(Symbol::Value(value)) => frame.body.as_param(value).is_some(),
        Some(Symbol::Version(version, _)) => {
            let version = &frame.memssa.versions[version];
            let place = frame.local.memory.cells[cell_of(version.region)];
            version.def == Def::Entry
                && matches!(
                    frame.local.memory.kind(place.obj),
                    ObjKind::Param(_) | ObjKind::Entry(_) | ObjKind::Global(_)
                )
        }
        None => false,
    }
}
