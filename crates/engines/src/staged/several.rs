//! Question: what does a call of one of several functions do, where nobody knows of which?
//!
//! All outcomes of all of them, but for what only some free or make (silence over noise). Tables of functions are called from many
//! places: what several functions do together is told once ([`Several`]), as soon as nothing of it can change any more.

use std::sync::{Arc, Mutex, PoisonError};

use drip_models::{
    Class, Escape, EscapeTo, MAX_OUTCOMES, Outcome, Root, Summary, Value, ValuePath,
};
use drip_program::FuncId;
use rustc_hash::FxHashMap;

use super::calls::{CallContext, Open, summary_of};
use super::merge::merge_outcomes;
use super::unify::{rename, unify_fresh};

/// What several functions do together, with what that leaves open.
type Told = (Arc<Summary>, Open);

/// What is told already, by the functions.
#[derive(Default)]
pub struct Several {
    known: Mutex<FxHashMap<Vec<FuncId>, Told>>,
}

impl Several {
    fn get(&self, targets: &[FuncId]) -> Option<Told> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(targets).cloned()
    }

    fn insert(&self, targets: &[FuncId], told: Told) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(targets.to_vec(), told);
    }
}

/// What a call of one of these functions does.
pub fn merged(context: &CallContext<'_>, targets: &[FuncId], open: &mut Open) -> Arc<Summary> {
    if let [one] = targets {
        return summary_of(context, *one, open);
    }
    let is_final = targets
        .iter()
        .all(|&target| context.computed.is_final(target, context.program));
    if let Some((summary, its)) = context.several.get(targets).filter(|_| is_final) {
        open.add(its);
        return summary;
    }
    let mut its = Open::default();
    let summary = Arc::new(merge(context, targets, &mut its));
    open.add(its);
    if is_final {
        let told = (Arc::clone(&summary), its);
        context.several.insert(targets, told);
    }
    summary
}

fn merge(context: &CallContext<'_>, targets: &[FuncId], open: &mut Open) -> Summary {
    let mut all = Summary {
        pure: true,
        ..Summary::default()
    };
    let summaries: Vec<Arc<Summary>> = targets
        .iter()
        .map(|&target| summary_of(context, target, open))
        .collect();
    for summary in &summaries {
        append(&mut all, summary);
    }
    let returning: Vec<Arc<Summary>> = summaries.into_iter().filter(|s| s.returns()).collect();
    agree(&mut all, &returning);
    unify_fresh(&mut all);
    if all.outcomes.len() > 2 * MAX_OUTCOMES {
        // Too many alternatives to keep apart: what differs becomes "may".
        all.outcomes.sort();
        all.outcomes.dedup();
        open.is_coarse |= all.outcomes.len() > MAX_OUTCOMES;
        merge_outcomes(&mut all.outcomes);
    }
    all
}

/// One of several functions is called, and nobody knows which. What only some of them free or make is no loss and no
/// allocation to count on (silence over noise): it escapes, or comes from somewhere.
fn agree(all: &mut Summary, summaries: &[Arc<Summary>]) {
    let all_make = summaries.iter().all(|s| !s.fresh.is_empty());
    let all_free = |path: &ValuePath| {
        summaries.iter().all(|s| {
            s.outcomes
                .iter()
                .any(|o| o.frees.iter().any(|f| f.path == *path))
        })
    };
    let mut unsure: Vec<ValuePath> = Vec::new();
    for free in all.outcomes.iter().flat_map(|o| &o.frees) {
        if !unsure.contains(&free.path) && !all_free(&free.path) {
            unsure.push(free.path.clone());
        }
    }
    for outcome in &mut all.outcomes {
        outcome.frees.retain(|f| !unsure.contains(&f.path));
        outcome.escapes.extend(unsure.iter().map(|path| Escape {
            path: path.clone(),
            to: EscapeTo::Unknown,
        }));
        if !all_make {
            forget_fresh(outcome);
        }
    }
    if !all_make {
        all.fresh.clear();
    }
    let mut seen: Vec<Outcome> = Vec::new();
    all.outcomes.retain(|o| {
        let new = !seen.contains(o);
        if new {
            seen.push(o.clone());
        }
        new
    });
}

/// Takes what an outcome makes for memory that belongs to somebody else.
fn forget_fresh(outcome: &mut Outcome) {
    outcome.fresh.clear();
    outcome.copies.clear();
    outcome.zeroed.clear();
    outcome
        .writes
        .retain(|w| !matches!(w.cell.base.root, Root::Fresh(_)));
    for write in &mut outcome.writes {
        if matches!(write.value, Value::Fresh { .. }) {
            write.value = Value::Unknown(Class::NonZero);
        }
    }
    if matches!(outcome.ret, Value::Fresh { .. }) {
        outcome.ret = Value::Unknown(Class::NonZero);
    }
}

/// Adds another callee's outcomes; its fresh objects are renumbered.
fn append(all: &mut Summary, summary: &Summary) {
    let base = all.fresh.len() as u16;
    all.fresh.extend(summary.fresh.iter().cloned());
    for outcome in &summary.outcomes {
        let mut outcome = outcome.clone();
        rename(&mut outcome, |k| k + base);
        if !all.outcomes.contains(&outcome) {
            all.outcomes.push(outcome);
        }
    }
    all.may_throw |= summary.may_throw;
    all.thrown.extend(&summary.thrown);
    all.pure &= summary.pure;
    all.atomic |= summary.atomic;
    all.touched.extend(&summary.touched);
    all.optional.extend_from_slice(&summary.optional);
    all.limited |= summary.limited;
}
