//! Question: which blocks that a summary hands out or lets alone are somebody else's?
//!
//! Read off the finished outcomes: a result of which callers can't know whether it is new is no allocation, and what is only counted down is
//! left to the holders of the other references.

use drip_models::{Atom, Class, Outcome, Root, Summary, Value, ValuePath, Write};
use rustc_hash::FxHashSet;

use super::effects::handed_out;
use super::summarize::escaping;

/// A result that may be new or somebody else's memory, without a condition that tells callers which, is no allocation (Saturn
/// fig. 7): they can't be meant to free it. (An insertion whose failure nobody looks at, and that returns what it keeps.) Of a
/// function that hit its limits, the result that nothing is known of is such memory, too.
pub(super) fn borrowed_results(summary: &mut Summary) {
    let limited = summary.limited;
    let borrowed: Vec<Vec<Atom>> = summary
        .outcomes
        .iter()
        .filter(|o| match o.ret {
            Value::Unknown(Class::NonZero) => true,
            Value::Unknown(Class::Any) => limited,
            _ => false,
        })
        .map(|o| o.when.clone())
        .collect();
    let kept: Vec<(u16, Vec<Atom>)> = summary
        .outcomes
        .iter()
        .filter_map(|o| Some((returned_and_kept(o)?, o.when.clone())))
        .collect();
    for outcome in &mut summary.outcomes {
        let Value::Fresh { index, .. } = outcome.ret else {
            continue;
        };
        let is_held = |w: &Write| matches!(w.value, Value::Fresh { index: k, .. } if k == index);
        let is_possible = |when: &Vec<Atom>| when.iter().all(|atom| outcome.when.contains(atom));
        let is_kept = |(k, when): &(u16, Vec<Atom>)| *k == index && is_possible(when);
        let is_borrowed = borrowed.iter().any(is_possible) || kept.iter().any(is_kept);
        if !outcome.writes.iter().any(is_held) && is_borrowed {
            outcome.ret = Value::Unknown(Class::NonZero);
            let handed = handed_out(outcome);
            outcome.fresh.retain(|k| handed.contains(k));
            outcome.zeroed.retain(|k| handed.contains(k));
            outcome.copies.retain(|copy| handed.contains(&copy.to));
            outcome
                .writes
                .retain(|w| !matches!(w.cell.base.root, Root::Fresh(k) if !handed.contains(&k)));
        }
    }
}

/// The new block that an outcome returns after it has been put where the caller's own memory leads to.
pub(super) fn returned_and_kept(outcome: &Outcome) -> Option<u16> {
    let Value::Fresh { index, .. } = outcome.ret else {
        return None;
    };
    let is_kept = |write: &Write| {
        let is_callers = !matches!(write.cell.base.root, Root::Fresh(_));
        is_callers && matches!(write.value, Value::Fresh { index: k, .. } if k == index)
    };
    outcome.writes.iter().any(is_kept).then_some(index)
}

/// Reference counts: an outcome that only counts down what another outcome frees has left it to the holders of the other
/// references. A count is a number in the object that decreases by one, or that is changed atomically.
pub(super) fn counted_releases(summary: &mut Summary) {
    let frees = summary.outcomes.iter().flat_map(|o| &o.frees);
    let mut freed: Vec<ValuePath> = frees.map(|f| f.path.clone()).collect();
    freed.sort();
    freed.dedup();
    let atomic = summary.atomic;
    for outcome in &mut summary.outcomes {
        let counts_down = |w: &&Write| match &w.value {
            Value::Entry { path: old, plus } => {
                plus.base < 0 && *old == w.cell.base.clone().load(w.cell.offset)
            }
            Value::Unknown(_) => atomic,
            _ => false,
        };
        let counted = outcome.writes.iter().filter(counts_down);
        let counted: FxHashSet<&ValuePath> = counted.map(|w| &w.cell.base).collect();
        let is_freed = |path: &ValuePath| outcome.frees.iter().any(|f| f.path == *path);
        let kept = |path: &&ValuePath| counted.contains(path) && !is_freed(path);
        let escapes: Vec<_> = freed.iter().filter(kept).cloned().map(escaping).collect();
        if !escapes.is_empty() {
            outcome.escapes.extend(escapes);
            outcome.escapes.sort();
            outcome.escapes.dedup();
        }
    }
}
