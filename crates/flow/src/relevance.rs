//! Question: which conditions are worth remembering along a path?
//!
//! A condition whose symbols occur in no other decision can't contradict anything: remembering it would only keep apart
//! states that are equal for all that follows. Decisions are branch and switch conditions, the conditions of callees'
//! outcomes and (for summaries) the returned value.

use drip_cond::{SymId, TermId};
use drip_models::Subject;
use drip_pointer::ObjKind;
use drip_program::Op;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::explore::Relevance;
use crate::frame::{Frame, cell_of};
use crate::values::{Symbol, Values};

impl Relevance {
    pub fn compute(frame: &Frame<'_>, values: &mut Values) -> Relevance {
        let mut decisions: Vec<TermId> = Vec::new();
        let mut returned: Vec<TermId> = Vec::new();
        for (inst, data) in frame.body.insts.iter_enumerated() {
            match data.op {
                Op::CondBr { cond, .. } => decisions.push(values.term(cond)),
                Op::Select { cond, .. } => decisions.push(values.term(cond)),
                Op::Switch { value, .. } => decisions.push(values.term(value)),
                Op::Ret { value: Some(value) } => returned.push(values.term(value)),
                Op::Call { .. } | Op::Invoke { .. } => {
                    if let Some(summary) = frame.calls.get(&inst) {
                        for atom in summary.outcomes.iter().flat_map(|o| &o.when) {
                            match &atom.subject {
                                Subject::Ret => decisions.push(values.of(frame.body.result(inst))),
                                Subject::Entry(path) => {
                                    if let (drip_models::Root::Arg(n), true) = (path.root, path.loads.is_empty())
                                        && let Some(&arg) = frame.args(inst).get(usize::from(n))
                                    {
                                        decisions.push(values.term(arg));
                                    }
                                }
                            }
                        }
                    }
                }
                _ => {}
            }
        }
        let mut counts: FxHashMap<SymId, u32> = FxHashMap::default();
        let mut decisive: FxHashSet<SymId> = FxHashSet::default();
        let mut stack: Vec<SymId> = Vec::new();
        for &term in &decisions {
            for sym in values.symbols_in(term) {
                *counts.entry(sym).or_default() += 1;
                stack.push(sym);
            }
        }
        for &term in &returned {
            stack.extend(values.symbols_in(term));
        }
        // A φ's inputs decide what the φ decides.
        while let Some(sym) = stack.pop() {
            if decisive.insert(sym) {
                for term in phi_inputs(frame, values, sym) {
                    for inner in values.symbols_in(term) {
                        *counts.entry(inner).or_default() += 1;
                        stack.push(inner);
                    }
                }
            }
        }
        let mut correlated: FxHashSet<SymId> =
            counts.iter().filter(|(_, count)| **count > 1).map(|(&sym, _)| sym).collect();
        // What callers can test is always worth knowing: it becomes an outcome's condition.
        correlated.extend(counts.keys().copied().filter(|&sym| is_interface(frame, values, sym)));
        correlated.extend(returned.iter().flat_map(|&term| values.symbols_in(term)));
        Relevance { correlated, decisive }
    }
}

/// Terms that a φ symbol can be.
fn phi_inputs(frame: &Frame<'_>, values: &mut Values, sym: SymId) -> Vec<TermId> {
    match values.symbol(sym) {
        Some(Symbol::Value(value)) if value.index() < frame.body.value_count() => {
            let Some(inst) = frame.body.def(value) else { return Vec::new() };
            match frame.body.insts[inst].op {
                Op::Phi { incoming } => frame.body.incoming(incoming).iter().map(|e| values.term(e.value)).collect(),
                _ => Vec::new(),
            }
        }
        Some(Symbol::Version(version, width)) if width > 0 => match &frame.memssa.versions[version].def {
            drip_memssa::Def::Phi { operands, .. } => {
                operands.iter().filter_map(|&operand| values.version_term(frame, operand, width)).collect()
            }
            _ => Vec::new(),
        },
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
            version.def == drip_memssa::Def::Entry
                && matches!(frame.local.memory.kind(place.obj), ObjKind::Param(_) | ObjKind::Entry(_))
        }
        None => false,
    }
}
