//! Question: which outcomes of a function can be one? Fewer outcomes are fewer pseudo-branches for every caller.
//!
//! Order: complementary conditions first (nothing is lost), then, beyond [`MAX_OUTCOMES`], equal effects (conditions are
//! lost), then equal returned values (effects become "may").

use drip_models::{Atom, Certainty, Class, Free, MAX_OUTCOMES, Outcome, Value, Write};

use super::summarize::MAX_WRITES;

fn same_effects(a: &Outcome, b: &Outcome) -> bool {
    a.ret == b.ret
        && a.fresh == b.fresh
        && a.writes == b.writes
        && a.frees == b.frees
        && a.escapes == b.escapes
        && a.copies == b.copies
}

/// `c => E` and `!c => E` are `E`.
pub(super) fn join_complements(outcomes: &mut Vec<Outcome>) {
    let complementary = |a: &Atom, b: &Atom| {
        let opposite = match (a.class, b.class) {
            (Class::Eq(0), Class::NonZero) | (Class::NonZero, Class::Eq(0)) => true,
            (Class::Negative, Class::NonNegative) | (Class::NonNegative, Class::Negative) => true,
            (Class::Positive, Class::NonPositive) | (Class::NonPositive, Class::Positive) => true,
            (Class::Eq(x), Class::Ne(y)) | (Class::Ne(x), Class::Eq(y)) => x == y,
            _ => false,
        };
        a.subject == b.subject && opposite
    };
    let mut changed = true;
    while changed {
        changed = false;
        'search: for i in 0..outcomes.len() {
            for j in i + 1..outcomes.len() {
                if !same_effects(&outcomes[i], &outcomes[j]) {
                    continue;
                }
                let only = |x: &Outcome, y: &Outcome| -> Vec<Atom> {
                    x.when
                        .iter()
                        .filter(|a| !y.when.contains(a))
                        .cloned()
                        .collect()
                };
                let (left, right) = (
                    only(&outcomes[i], &outcomes[j]),
                    only(&outcomes[j], &outcomes[i]),
                );
                let subsumed = left.is_empty() || right.is_empty();
                let joined = matches!((&left[..], &right[..]), ([a], [b]) if complementary(a, b));
                if subsumed || joined {
                    let keep: Vec<Atom> = outcomes[i]
                        .when
                        .iter()
                        .filter(|a| outcomes[j].when.contains(a))
                        .cloned()
                        .collect();
                    outcomes[i].when = keep;
                    outcomes.remove(j);
                    changed = true;
                    break 'search;
                }
            }
        }
    }
}

/// Too many outcomes: those with equal effects keep only the conditions they share.
pub(super) fn merge_equal_effects(outcomes: &mut Vec<Outcome>) {
    if outcomes.len() <= MAX_OUTCOMES {
        return;
    }
    let mut merged: Vec<Outcome> = Vec::new();
    for outcome in outcomes.drain(..) {
        match merged.iter_mut().find(|m| same_effects(m, &outcome)) {
            Some(known) => known.when.retain(|a| outcome.when.contains(a)),
            None => merged.push(outcome),
        }
    }
    *outcomes = merged;
}

/// Still too many: outcomes that return the same become one, and what differs becomes "may".
pub(super) fn merge_equal_returns(outcomes: &mut Vec<Outcome>) {
    if outcomes.len() <= MAX_OUTCOMES {
        return;
    }
    let mut merged: Vec<Outcome> = Vec::new();
    for outcome in outcomes.drain(..) {
        let ret = outcome.ret.clone();
        match merged.iter_mut().find(|m| m.ret == ret) {
            Some(known) => blend(known, &outcome),
            None => merged.push(outcome),
        }
    }
    while merged.len() > MAX_OUTCOMES {
        let last = merged.pop();
        if let (Some(last), Some(known)) = (last, merged.last_mut()) {
            known.ret = Value::Unknown(Class::Any);
            blend(known, &last);
        }
    }
    *outcomes = merged;
}

pub(super) fn blend(known: &mut Outcome, other: &Outcome) {
    known.when.retain(|a| other.when.contains(a));
    for free in &mut known.frees {
        if !other.frees.contains(free) {
            free.certainty = Certainty::May;
        }
    }
    for free in &other.frees {
        if !known.frees.iter().any(|f| f.path == free.path) {
            known.frees.push(Free {
                certainty: Certainty::May,
                ..free.clone()
            });
        }
    }
    for write in &mut known.writes {
        if !other.writes.contains(write) {
            write.certainty = Certainty::May;
        }
    }
    for write in &other.writes {
        if !known.writes.contains(write) {
            known.writes.push(Write {
                certainty: Certainty::May,
                ..write.clone()
            });
        }
    }
    for escape in &other.escapes {
        if !known.escapes.contains(escape) {
            known.escapes.push(escape.clone());
        }
    }
    // An object that only one of the two makes is no allocation that a caller can count on (Saturn fig. 7).
    known.fresh.retain(|k| other.fresh.contains(k));
    let alive = known.fresh.clone();
    known
        .writes
        .retain(|w| !matches!(w.value, Value::Fresh { index, .. } if !alive.contains(&index)));
    known.writes.truncate(MAX_WRITES);
}
