//! Question: which conditions are worth remembering along a path?
//!
//! A condition whose symbols occur in no other decision can't contradict anything: remembering it would only keep apart
//! states that are equal for all that follows. Decisions are branch and switch conditions, the conditions of callees'
//! outcomes and (for summaries) the returned value.

use drip_cond::{SymId, TermId};
use drip_memssa::{Def, RegionId};
use drip_models::Subject;
use drip_pointer::ObjKind;
use drip_program::{BlockId, InstId, Op};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::explore::Relevance;
use crate::frame::{Frame, cell_of, region};
use crate::interface::path_term;
use crate::values::{Symbol, Values};

/// Collects decisions with the block they are taken in.
struct Decisions {
    terms: Vec<(TermId, BlockId)>,
    returned: Vec<(TermId, BlockId)>,
}

fn decisions(frame: &Frame<'_>, values: &mut Values) -> Decisions {
    let mut found = Decisions {
        terms: Vec::new(),
        returned: Vec::new(),
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
                left_behind(frame, values, &widths, (inst, block), &mut found.returned);
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
    found: &mut Vec<(TermId, BlockId)>,
) {
    for (cell, place) in frame.local.memory.cells.iter_enumerated() {
        if !frame.local.memory.kind(place.obj).has_entry_state()
            || !frame.local.memory.is_strong(cell)
        {
            continue;
        }
        let Some(version) = frame.memssa.used(ret, region(cell)) else {
            continue;
        };
        if frame.memssa.versions[version].def == Def::Entry
            || values.stored_term(frame, version).is_some()
        {
            continue;
        }
        let width = widths.get(&region(cell)).copied().unwrap_or(64);
        if let Some(term) = values.version_term(frame, version, width) {
            found.push((term, block));
        }
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
    pub fn compute(frame: &Frame<'_>, values: &mut Values) -> Relevance {
        let found = decisions(frame, values);
        let mut counts: FxHashMap<SymId, u32> = FxHashMap::default();
        let mut uses: FxHashMap<SymId, Vec<BlockId>> = FxHashMap::default();
        let mut decisive: FxHashSet<SymId> = FxHashSet::default();
        let mut stack: Vec<SymId> = Vec::new();
        for &(term, block) in &found.terms {
            for sym in values.symbols_in(term) {
                *counts.entry(sym).or_default() += 1;
                uses.entry(sym).or_default().push(block);
                stack.push(sym);
            }
        }
        for &(term, block) in &found.returned {
            for sym in values.symbols_in(term) {
                uses.entry(sym).or_default().push(block);
                stack.push(sym);
            }
        }
        // A φ's inputs decide what the φ decides.
        while let Some(sym) = stack.pop() {
            if decisive.insert(sym) {
                for (term, block) in phi_inputs(frame, values, sym) {
                    for inner in values.symbols_in(term) {
                        *counts.entry(inner).or_default() += 1;
                        uses.entry(inner).or_default().push(block);
                        stack.push(inner);
                    }
                }
            }
        }
        let mut correlated: FxHashSet<SymId> = counts
            .iter()
            .filter(|(_, count)| **count > 1)
            .map(|(&sym, _)| sym)
            .collect();
        // What callers can test is always worth knowing: it becomes an outcome's condition.
        let interface: FxHashSet<SymId> = counts
            .keys()
            .copied()
            .filter(|&sym| is_interface(frame, values, sym))
            .collect();
        correlated.extend(&interface);
        for (term, _) in found.returned {
            correlated.extend(values.symbols_in(term));
        }
        Relevance {
            correlated,
            decisive,
            interface,
            uses,
        }
    }
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
                    ObjKind::Param(_) | ObjKind::Entry(_)
                )
        }
        None => false,
    }
}
