//! Question: which fresh objects of a summary are one for every caller?
//!
//! A function that allocates at several places and hands out one block gives its callers *one* object, whichever place it
//! came from: `grow` that reallocates or allocates anew. Two objects are one if no outcome makes both and if callers find
//! them at the same places in all outcomes. Fewer objects are fewer explorations for every caller, and one finding instead
//! of one per place.

use drip_models::{CellPath, Outcome, Root, Summary, Value, ValuePath};

/// Where a caller finds an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Found {
    Returned,
    In(CellPath),
}

/// Makes one of the objects that no caller can tell apart.
pub(super) fn unify_fresh(summary: &mut Summary) {
    let mut first = 0;
    while first < summary.fresh.len() {
        let same = (first + 1..summary.fresh.len())
            .find(|&other| is_same(summary, first as u16, other as u16));
        match same {
            Some(other) => {
                unite(summary, first as u16, other as u16);
                // Objects inside the two may be the same now.
                first = 0;
            }
            None => first += 1,
        }
    }
}

fn is_same(summary: &Summary, a: u16, b: u16) -> bool {
    let together = |o: &Outcome| o.fresh.contains(&a) && o.fresh.contains(&b);
    let (left, right) = (
        &summary.fresh[usize::from(a)],
        &summary.fresh[usize::from(b)],
    );
    if left.family != right.family || summary.outcomes.iter().any(together) {
        return false;
    }
    let places = found(summary, a);
    !places.is_empty() && places == found(summary, b)
}

fn found(summary: &Summary, index: u16) -> Vec<Found> {
    let is_it = |value: &Value| matches!(value, Value::Fresh { index: k, .. } if *k == index);
    let mut places: Vec<Found> = Vec::new();
    for outcome in &summary.outcomes {
        if is_it(&outcome.ret) {
            places.push(Found::Returned);
        }
        for write in outcome.writes.iter().filter(|w| is_it(&w.value)) {
            places.push(Found::In(write.cell.clone()));
        }
    }
    places.sort();
    places.dedup();
    places
}

/// Object `gone` becomes object `kept`; later ones move up.
fn unite(summary: &mut Summary, kept: u16, gone: u16) {
    let renamed = |k: u16| match k {
        k if k == gone => kept,
        k if k > gone => k - 1,
        k => k,
    };
    for outcome in &mut summary.outcomes {
        rename(outcome, renamed);
    }
    let many = summary.fresh.remove(usize::from(gone)).many;
    summary.fresh[usize::from(kept)].many |= many;
}

/// Renumbers the fresh objects of an outcome.
pub(super) fn rename(outcome: &mut Outcome, renamed: impl Fn(u16) -> u16) {
    let path = |path: &mut ValuePath| {
        if let Root::Fresh(k) = &mut path.root {
            *k = renamed(*k);
        }
    };
    let value = |value: &mut Value| match value {
        Value::Fresh { index, .. } => *index = renamed(*index),
        Value::Entry { path: entry, .. } => path(entry),
        _ => {}
    };
    value(&mut outcome.ret);
    outcome.fresh.iter_mut().for_each(|k| *k = renamed(*k));
    outcome.fresh.sort_unstable();
    for write in &mut outcome.writes {
        path(&mut write.cell.base);
        value(&mut write.value);
    }
    outcome.zeroed.iter_mut().for_each(|k| *k = renamed(*k));
    outcome.zeroed.sort_unstable();
    outcome.zeroed.dedup();
    outcome.writes.sort();
    outcome.writes.dedup();
    outcome.frees.iter_mut().for_each(|f| path(&mut f.path));
    outcome.escapes.iter_mut().for_each(|e| path(&mut e.path));
    for copy in &mut outcome.copies {
        path(&mut copy.from);
        copy.to = renamed(copy.to);
    }
}
