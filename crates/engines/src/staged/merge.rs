//! Question: which outcomes of a function can be one? Fewer outcomes are fewer pseudo-branches for every caller.
//!
//! Order: complementary conditions first (nothing is lost), then, beyond [`MAX_OUTCOMES`], equal effects (conditions are
//! lost), then equal returned values (effects become "may").

use drip_models::{
    Atom, CellPath, Certainty, Class, Escape, Free, MAX_OUTCOMES, Offset, Outcome, Root, Subject,
    Value, ValuePath, Write,
};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::effects::{bound_writes, drop_behind_null, handed_out, reduce_effects};

/// Conditions of one outcome: on parameters, and in all where some are on what parameters lead to. Further ones are forgotten: callers see
/// the outcome where it can't be.
const MAX_ATOMS_ON_PARAMETERS: usize = 6;
const MAX_ATOMS: usize = 4;

/// Outcomes up to which even those that differ in numbers only are kept apart.
const FEW_OUTCOMES: usize = 4;

fn same_effects(a: &Outcome, b: &Outcome) -> bool {
    a.ret == b.ret
        && a.fresh == b.fresh
        && a.writes == b.writes
        && a.frees == b.frees
        && a.escapes == b.escapes
        && a.copies == b.copies
        && a.zeroed == b.zeroed
}

/// What some outcome frees. Whether there is anything behind such a pointer says who owns what.
fn owned_paths(outcomes: &[Outcome]) -> FxHashSet<ValuePath> {
    let frees = outcomes.iter().flat_map(|o| &o.frees);
    frees.map(|f| f.path.clone()).collect()
}

fn is_about(atom: &Atom, paths: &FxHashSet<ValuePath>) -> bool {
    matches!(&atom.subject, Subject::Entry(path) if paths.contains(path))
}

/// `c => E` and `!c => E` are `E`; conditions on what is owned last, so that they are not hidden by others.
fn join_complements(outcomes: &mut Vec<Outcome>) {
    let owned = owned_paths(outcomes);
    join_pairs(outcomes, |a, b| {
        join_equal(a, b, |x, y| complementary(x, y) && !is_about(x, &owned))
    });
    join_pairs(outcomes, |a, b| {
        join_null(a, b).or_else(|| join_equal(a, b, complementary))
    });
}

fn complementary(a: &Atom, b: &Atom) -> bool {
    let opposite = match (a.class, b.class) {
        (Class::Eq(0), Class::NonZero) | (Class::NonZero, Class::Eq(0)) => true,
        (Class::Negative, Class::NonNegative) | (Class::NonNegative, Class::Negative) => true,
        (Class::Positive, Class::NonPositive) | (Class::NonPositive, Class::Positive) => true,
        (Class::Eq(x), Class::Ne(y)) | (Class::Ne(x), Class::Eq(y)) => x == y,
        (Class::Lt(x), Class::Ge(y)) | (Class::Ge(x), Class::Lt(y)) => x == y,
        (Class::Has(x), Class::Lacks(y)) | (Class::Lacks(x), Class::Has(y)) => x == y,
        _ => false,
    };
    a.subject == b.subject && opposite
}

fn join_pairs(outcomes: &mut Vec<Outcome>, join: impl Fn(&Outcome, &Outcome) -> Option<Outcome>) {
    let mut i = 0;
    while i < outcomes.len() {
        let joined = (i + 1..outcomes.len()).find_map(|j| {
            let (a, b) = (&outcomes[i], &outcomes[j]);
            if a.fresh != b.fresh || a.copies != b.copies || a.zeroed != b.zeroed {
                return None;
            }
            Some((j, join(a, b)?))
        });
        match joined {
            Some((j, joined)) => {
                outcomes.remove(j);
                outcomes[i] = joined;
                // What it could not be joined with before may fit now.
                i = 0;
            }
            None => i += 1,
        }
    }
}

/// What holds under either of two conditions: of `x < 0` and `x > 0` it is `x != 0`, and of the parameters `mode == 3` and `mode == 4` it
/// is that it lies between them: callers pass constants, and a mode says who owns the result.
fn either(a: &[Atom], b: &[Atom]) -> Vec<Atom> {
    let mut shared: Vec<Atom> = Vec::new();
    for x in a {
        for y in b.iter().filter(|y| y.subject == x.subject) {
            let class = x.class.join(y.class);
            let between = match is_on_parameter(x) {
                true => x.class.bounds(y.class),
                false => [None, None],
            };
            let classes = between.into_iter().flatten().chain([class]);
            shared.extend(
                classes
                    .filter(|&class| class != Class::Any)
                    .map(|class| Atom {
                        subject: x.subject.clone(),
                        class,
                    }),
            );
        }
    }
    without_weaker(shared)
}

fn is_on_parameter(atom: &Atom) -> bool {
    matches!(&atom.subject, Subject::Entry(path) if path.loads.is_empty())
}

/// `x == 3` says all that `x != 0` says, and `x <= 0` and `x != 0` together are `x < 0`.
pub(super) fn without_weaker(atoms: Vec<Atom>) -> Vec<Atom> {
    let mut strongest: Vec<Atom> = Vec::new();
    for mut atom in atoms {
        let mut at = 0;
        while let Some(known) = strongest.get(at) {
            match known
                .class
                .meet(atom.class)
                .filter(|_| known.subject == atom.subject)
            {
                Some(both) => {
                    atom.class = both;
                    strongest.remove(at);
                    at = 0;
                }
                None => at += 1,
            }
        }
        strongest.push(atom);
    }
    strongest.sort();
    strongest
}

/// As many conditions as an outcome may have. Those on parameters come first: callers pass constants.
pub(super) fn bounded(atoms: Vec<Atom>) -> Vec<Atom> {
    let (mut kept, deeper): (Vec<Atom>, Vec<Atom>) = atoms.into_iter().partition(is_on_parameter);
    kept.truncate(MAX_ATOMS_ON_PARAMETERS);
    let left = MAX_ATOMS.saturating_sub(kept.len());
    kept.extend(deeper.into_iter().take(left));
    kept.sort();
    kept
}

/// Outcomes with equal effects whose conditions complement or include each other.
fn join_equal(
    a: &Outcome,
    b: &Outcome,
    complementary: impl Fn(&Atom, &Atom) -> bool,
) -> Option<Outcome> {
    if !same_effects(a, b) {
        return None;
    }
    let mut left = a.when.iter().filter(|x| !b.when.contains(x));
    let mut right = b.when.iter().filter(|x| !a.when.contains(x));
    let fits = match (left.next(), right.next()) {
        (Some(x), Some(y)) => {
            left.next().is_none() && right.next().is_none() && complementary(x, y)
        }
        _ => true,
    };
    fits.then(|| {
        let mut joined = a.clone();
        joined.when.retain(|x| b.when.contains(x));
        joined
    })
}

/// `p != 0 => E` and `p == 0 => E'` are `E`, if `E'` is what `E` does where there is nothing behind `p`. So are `E` and
/// `p == 0 => E'`.
fn join_null(a: &Outcome, b: &Outcome) -> Option<Outcome> {
    absorb_null(a, b).or_else(|| absorb_null(b, a))
}

fn absorb_null(null: &Outcome, other: &Outcome) -> Option<Outcome> {
    let new: Vec<&Atom> = null
        .when
        .iter()
        .filter(|a| !other.when.contains(a))
        .collect();
    let mut paths: Vec<&ValuePath> = Vec::new();
    for atom in &new {
        match (&atom.subject, atom.class) {
            (Subject::Entry(path), Class::Eq(0)) => paths.push(path),
            _ => return None,
        }
    }
    let opposite = |a: &Atom| {
        let about = |n: &&Atom| n.subject == a.subject;
        a.class == Class::NonZero && new.iter().any(about)
    };
    let shared = |a: &Atom| null.when.contains(a);
    if paths.is_empty() || !other.when.iter().all(|a| opposite(a) || shared(a)) {
        return None;
    }
    // `p == 0 and q == 0` and `q != 0` leave out where only q is null.
    if new.len() > 1 && other.when.iter().any(opposite) {
        return None;
    }
    same_effects_without(null, other, &paths).then(|| {
        let mut joined = other.clone();
        joined.when.retain(shared);
        joined
    })
}

/// Do two outcomes do the same where these pointers are null?
fn same_effects_without(a: &Outcome, b: &Outcome, paths: &[&ValuePath]) -> bool {
    let behind = |path: &ValuePath| paths.iter().any(|p| p.leads_to(path));
    let is_null = |value: &Value| matches!(value, Value::Entry { path, plus } if *plus == Offset::ZERO && paths.contains(&path));
    // Effects behind a null pointer are nothing, on both sides.
    let ret = |outcome: &Outcome| match is_null(&outcome.ret) {
        true => Value::Int(0),
        false => outcome.ret.clone(),
    };
    let writes = |outcome: &Outcome| {
        let writes = outcome.writes.iter().filter(|w| !behind(&w.cell.base));
        let mut writes: Vec<Write> = writes.cloned().collect();
        for write in writes.iter_mut().filter(|w| is_null(&w.value)) {
            write.value = Value::Int(0);
        }
        writes.sort();
        writes
    };
    let frees = |free: &&Free| !behind(&free.path);
    let escapes = |escape: &&Escape| !behind(&escape.path);
    ret(a) == ret(b)
        && (&a.fresh, &a.copies, &a.zeroed) == (&b.fresh, &b.copies, &b.zeroed)
        && a.frees
            .iter()
            .filter(frees)
            .eq(b.frees.iter().filter(frees))
        && a.escapes
            .iter()
            .filter(escapes)
            .eq(b.escapes.iter().filter(escapes))
        && writes(a) == writes(b)
}

/// Too many outcomes: those with equal effects keep only the conditions they share. First where these are not about what is
/// owned.
fn merge_equal_effects(outcomes: &mut Vec<Outcome>) {
    let owned = owned_paths(outcomes);
    for respected in [&owned, &FxHashSet::default()] {
        if outcomes.len() <= MAX_OUTCOMES {
            return;
        }
        let decides = |a: &&Atom| is_about(a, respected);
        let mut merged: Vec<Outcome> = Vec::new();
        for outcome in outcomes.drain(..) {
            let same = |m: &&mut Outcome| {
                let (a, b) = (m.when.iter(), outcome.when.iter());
                same_effects(m, &outcome) && a.filter(decides).eq(b.filter(decides))
            };
            match merged.iter_mut().find(same) {
                Some(known) => known.when = either(&known.when, &outcome.when),
                None => merged.push(outcome),
            }
        }
        *outcomes = merged;
    }
}

/// Does the outcome put a pointer where the caller may have had another one, without freeing that? When it does so says whether
/// there was one (`if (!s->alloc) s->buf = NULL;`).
fn replaces_pointer(outcome: &Outcome) -> bool {
    outcome.writes.iter().any(|write| {
        let is_pointer = matches!(write.value, Value::Fresh { .. });
        let old = write.cell.base.clone().load(write.cell.offset);
        let is_callers = matches!(old.root, Root::Arg(_) | Root::Global(_));
        is_pointer && is_callers && !outcome.frees.iter().any(|free| free.path == old)
    })
}

/// More than a few: outcomes that agree on all that has to do with ownership become one, and what differs in numbers
/// becomes "may".
fn merge_equal_ownership(outcomes: &mut Vec<Outcome>) {
    if outcomes.len() <= FEW_OUTCOMES {
        return;
    }
    // Cells that some outcome leaves a pointer in: a null there says who owns.
    let owning: FxHashSet<CellPath> = outcomes
        .iter()
        .flat_map(|o| &o.writes)
        .filter(|w| !matches!(w.value, Value::Unknown(_) | Value::Int(_)))
        .map(|w| w.cell.clone())
        .collect();
    let matters = |w: &&Write| owning.contains(&w.cell);
    let owned = owned_paths(outcomes);
    let decides = |a: &&Atom| is_about(a, &owned);
    let same = |a: &Outcome, b: &Outcome| {
        if replaces_pointer(a) && a.when != b.when {
            return false;
        }
        if !a
            .when
            .iter()
            .filter(decides)
            .eq(b.when.iter().filter(decides))
        {
            return false;
        }
        a.ret == b.ret
            && a.fresh == b.fresh
            && a.frees == b.frees
            && a.escapes == b.escapes
            && a.copies == b.copies
            && a.zeroed == b.zeroed
            && a.writes
                .iter()
                .filter(matters)
                .eq(b.writes.iter().filter(matters))
    };
    let mut merged: Vec<Outcome> = Vec::new();
    for outcome in outcomes.drain(..) {
        match merged.iter_mut().find(|m| same(m, &outcome)) {
            Some(known) => blend(known, &outcome),
            None => merged.push(outcome),
        }
    }
    *outcomes = merged;
}

/// Merges what loses next to nothing.
pub(super) fn merge_alike(outcomes: &mut Vec<Outcome>) {
    join_complements(outcomes);
    merge_equal_ownership(outcomes);
}

/// Merges until there are few enough, first what loses least.
pub(super) fn merge_outcomes(outcomes: &mut Vec<Outcome>) {
    join_complements(outcomes);
    merge_equal_ownership(outcomes);
    join_complements(outcomes);
    if outcomes.len() > MAX_OUTCOMES {
        drop_failures_unseen(outcomes);
    }
    merge_equal_effects(outcomes);
    merge_equal_returns(outcomes);
}

/// Too many: of several allocations that nobody checks each may fail or not, which multiplies. Where another outcome is the same but for a
/// block in the place of a null pointer, the failure is left out: callers could not tell it by the result anyway.
fn drop_failures_unseen(outcomes: &mut Vec<Outcome>) {
    let all = outcomes.clone();
    outcomes.retain(|outcome| !all.iter().any(|other| is_failure_of(outcome, other)));
}

/// Is the first what the second would be, had some of its allocations failed?
fn is_failure_of(failed: &Outcome, full: &Outcome) -> bool {
    let is_new = |k: &u16| full.fresh.contains(k) && !failed.fresh.contains(k);
    let is_subset = failed.fresh.iter().all(|k| full.fresh.contains(k));
    if !is_subset || failed.fresh.len() == full.fresh.len() {
        return false;
    }
    let is_same = failed.ret == full.ret
        && failed.when == full.when
        && failed.frees == full.frees
        && failed.escapes == full.escapes;
    let is_in_new = |w: &&Write| matches!(w.cell.base.root, Root::Fresh(k) if is_new(&k));
    let would_be = full.writes.iter().filter(|w| !is_in_new(w)).map(|write| {
        let is_new = matches!(&write.value, Value::Fresh { index, .. } if is_new(index));
        match is_new {
            true => Write {
                value: Value::Int(0),
                ..write.clone()
            },
            false => write.clone(),
        }
    });
    let mut would_be: Vec<Write> = would_be.collect();
    would_be.sort();
    is_same && would_be == failed.writes
}

/// Still too many: outcomes that return the same become one, and what differs becomes "may". Those that make the same blocks come
/// first, and are enough if callers can still tell them from those that make others (`if (out) *out = malloc(n); return 0;`).
pub(super) fn merge_equal_returns(outcomes: &mut Vec<Outcome>) {
    if outcomes.len() <= MAX_OUTCOMES {
        return;
    }
    let apart = blend_alike(outcomes, |a, b| a.ret == b.ret && a.fresh == b.fresh);
    let is_unclear =
        |a: &Outcome, b: &Outcome| a.ret == b.ret && a.fresh != b.fresh && is_compatible(a, b);
    let is_clear = |a: &Outcome| !apart.iter().any(|b| is_unclear(a, b));
    if apart.len() <= MAX_OUTCOMES && apart.iter().all(is_clear) {
        *outcomes = apart;
        return;
    }
    let mut merged = blend_alike(outcomes, |a, b| a.ret == b.ret);
    while merged.len() > MAX_OUTCOMES {
        let last = merged.pop();
        if let (Some(last), Some(known)) = (last, merged.last_mut()) {
            known.ret = Value::Unknown(Class::Any);
            blend(known, &last);
        }
    }
    *outcomes = merged;
}

/// Those that are alike become one.
fn blend_alike(outcomes: &[Outcome], alike: impl Fn(&Outcome, &Outcome) -> bool) -> Vec<Outcome> {
    let mut merged: Vec<Outcome> = Vec::new();
    for outcome in outcomes {
        match merged.iter_mut().find(|known| alike(known, outcome)) {
            Some(known) => blend(known, outcome),
            None => merged.push(outcome.clone()),
        }
    }
    merged
}

/// Outcomes that are not told apart by all of their conditions: a block that one of them makes and another one, which callers can't
/// tell from it, does not is no allocation that a caller can count on (Saturn fig. 7).
pub(super) fn drop_uncertain_births(outcomes: &mut [Outcome]) {
    let all = outcomes.to_vec();
    for outcome in outcomes {
        let is_uncertain = |k: &u16| {
            let mut others = all.iter().filter(|other| !other.fresh.contains(k));
            others.any(|other| is_compatible(outcome, other))
        };
        let uncertain: Vec<u16> = outcome.fresh.iter().copied().filter(is_uncertain).collect();
        forget_births(outcome, &uncertain);
    }
}

/// Makes these new blocks somebody else's.
fn forget_births(outcome: &mut Outcome, births: &[u16]) {
    if births.is_empty() {
        return;
    }
    outcome.fresh.retain(|k| !births.contains(k));
    outcome.zeroed.retain(|k| !births.contains(k));
    outcome.copies.retain(|copy| !births.contains(&copy.to));
    outcome
        .writes
        .retain(|w| !matches!(w.cell.base.root, Root::Fresh(k) if births.contains(&k)));
    let values = outcome.writes.iter_mut().map(|w| &mut w.value);
    for value in values.chain([&mut outcome.ret]) {
        if matches!(*value, Value::Fresh { index, .. } if births.contains(&index)) {
            *value = Value::Unknown(Class::NonZero);
        }
    }
}

pub(super) fn blend(known: &mut Outcome, other: &Outcome) {
    known.when = either(&known.when, &other.when);
    blend_frees(known, other);
    blend_writes(known, other);
    known.escapes.extend_from_slice(&other.escapes);
    reduce_effects(known);
    // An object that only one of the two makes is no allocation that a caller can count on (Saturn fig. 7).
    let made = known.fresh.len();
    known.fresh.retain(|k| other.fresh.contains(k));
    let is_less = known.fresh.len() < made;
    forget_dead(known);
    if is_less {
        // What only such an object holds (the item of a new node) is out of the caller's reach as well.
        let handed = handed_out(known);
        known.fresh.retain(|k| handed.contains(k));
        forget_dead(known);
    }
    bound_writes(known);
}

/// What only one of two outcomes frees is perhaps freed.
fn blend_frees(known: &mut Outcome, other: &Outcome) {
    let others: FxHashSet<&Free> = other.frees.iter().collect();
    for free in &mut known.frees {
        if !others.contains(free) {
            free.certainty = Certainty::May;
        }
    }
    let mut freed: FxHashSet<ValuePath> = known.frees.iter().map(|f| f.path.clone()).collect();
    for free in &other.frees {
        if freed.insert(free.path.clone()) {
            known.frees.push(Free {
                certainty: Certainty::May,
                ..free.clone()
            });
        }
    }
}

/// What only one of two outcomes writes is perhaps written; of different numbers that both write is told what is known of either.
fn blend_writes(known: &mut Outcome, other: &Outcome) {
    let others = by_cell(&other.writes);
    for write in &mut known.writes {
        let same = others.get(&write.cell).map_or(&[][..], |same| same);
        if same.contains(&&*write) {
            continue;
        }
        match same.iter().find_map(|w| either_number(write, w)) {
            Some(class) => write.value = Value::Unknown(class),
            None => write.certainty = Certainty::May,
        }
    }
    let added = only_of_other(&known.writes, &other.writes);
    known.writes.extend(added);
}

/// What the other outcome alone writes: perhaps.
fn only_of_other(known: &[Write], other: &[Write]) -> Vec<Write> {
    let own = by_cell(known);
    let is_new = |write: &&Write| {
        let mut same = own.get(&write.cell).into_iter().flatten();
        !same.any(|k| k == write || either_number(k, write).is_some())
    };
    let added = other.iter().filter(is_new).map(|write| Write {
        certainty: Certainty::May,
        ..write.clone()
    });
    let mut added: Vec<Write> = added.collect();
    added.dedup();
    added
}

/// Writes by the cell that they are about; an outcome may have hundreds.
fn by_cell(writes: &[Write]) -> FxHashMap<&CellPath, SmallVec<[&Write; 1]>> {
    let mut cells: FxHashMap<&CellPath, SmallVec<[&Write; 1]>> = FxHashMap::default();
    for write in writes {
        cells.entry(&write.cell).or_default().push(write);
    }
    cells
}

/// Takes out what is said of new objects that callers don't get, as values.
fn forget_dead(outcome: &mut Outcome) {
    let alive = &outcome.fresh;
    outcome
        .writes
        .retain(|w| !matches!(w.value, Value::Fresh { index, .. } if !alive.contains(&index)));
}

/// What is known of a number.
pub(super) fn class_of(value: &Value) -> Option<Class> {
    match value {
        Value::Int(constant) => Some(Class::Eq(*constant)),
        Value::Unknown(class) => Some(*class),
        _ => None,
    }
}

/// Both write a number into the same cell: what is known of either.
fn either_number(a: &Write, b: &Write) -> Option<Class> {
    let both_sure = a.certainty == Certainty::Must && b.certainty == Certainty::Must;
    let joined = class_of(&a.value)?.join(class_of(&b.value)?);
    (both_sure && a.cell == b.cell).then_some(joined)
}

/// One outcome of each part, where they can go together: parts are explorations of different objects along the same paths.
/// Beyond `bound` combinations those that agree are merged.
pub(super) fn combine(parts: Vec<Vec<Outcome>>, bound: usize) -> Vec<Outcome> {
    // What is the same in all outcomes first: nothing multiplies there.
    let (same, mut others): (Vec<_>, Vec<_>) = parts.into_iter().partition(|part| part.len() == 1);
    let mut all = all_together(same.iter().flatten());
    others.sort_by_key(Vec::len);
    for mut part in others {
        merge_outcomes(&mut part);
        let Some(known) = all.take() else {
            all = Some(part);
            continue;
        };
        let mut joined: Vec<Outcome> = Vec::new();
        for a in &known {
            for b in &part {
                if let Some(outcome) = together(a, b)
                    && !joined.contains(&outcome)
                {
                    joined.push(outcome);
                }
            }
            if joined.len() > bound {
                merge_alike(&mut joined);
                if joined.len() > bound {
                    merge_outcomes(&mut joined);
                }
            }
        }
        all = Some(joined);
    }
    all.unwrap_or_default()
}

/// The outcome that is all of these, if there are any: none where they exclude each other.
fn all_together<'o>(mut outcomes: impl Iterator<Item = &'o Outcome>) -> Option<Vec<Outcome>> {
    let mut all = outcomes.next()?.clone();
    if !outcomes.all(|other| include(&mut all, other)) {
        return Some(Vec::new());
    }
    tidy(&mut all);
    Some(vec![all])
}

/// Can the conditions of two outcomes hold together, and their results be one?
fn is_compatible(a: &Outcome, b: &Outcome) -> bool {
    let contradict = |x: &Atom, y: &Atom| x.subject == y.subject && x.class.disjoint(y.class);
    let contradicted = |x: &Atom| b.when.iter().any(|y| contradict(x, y));
    !a.when.iter().any(contradicted) && same_result(&a.ret, &b.ret).is_some()
}

/// The outcome that is both; `None` if their conditions or results exclude each other.
fn together(a: &Outcome, b: &Outcome) -> Option<Outcome> {
    let mut both = a.clone();
    include(&mut both, b).then(|| {
        tidy(&mut both);
        both
    })
}

/// Adds what another outcome says; false if their conditions or results exclude each other.
fn include(both: &mut Outcome, other: &Outcome) -> bool {
    if !is_compatible(both, other) {
        return false;
    }
    if let Some(ret) = same_result(&both.ret, &other.ret) {
        both.ret = ret;
    }
    // Made by one of them only, or zeroed by both.
    let by_one = |k: &u16, by: &Outcome| !by.fresh.contains(k) || by.zeroed.contains(k);
    let zeroed: Vec<u16> = (both.zeroed.iter().filter(|k| by_one(k, other)))
        .chain(other.zeroed.iter().filter(|k| by_one(k, both)))
        .copied()
        .collect();
    both.zeroed = zeroed.into_iter().collect();
    both.when.extend(other.when.iter().cloned());
    both.fresh.extend(other.fresh.iter().copied());
    both.frees.extend(other.frees.iter().cloned());
    both.escapes.extend(other.escapes.iter().cloned());
    both.copies.extend(other.copies.iter().cloned());
    for write in &other.writes {
        let same = |w: &&mut Write| w.cell == write.cell && says(w).min(says(write)) < 2;
        match both.writes.iter_mut().find(same) {
            Some(known) if says(known) < says(write) => *known = write.clone(),
            Some(_) => {}
            None => both.writes.push(write.clone()),
        }
    }
    true
}

/// Brings what several outcomes say together into order.
fn tidy(both: &mut Outcome) {
    both.when.sort();
    both.when.dedup();
    both.when = bounded(std::mem::take(&mut both.when));
    both.fresh.sort_unstable();
    both.fresh.dedup();
    both.frees.sort();
    both.frees.dedup_by(|later, first| later.path == first.path);
    both.zeroed.sort_unstable();
    both.zeroed.dedup();
    both.writes.sort();
    both.writes.dedup();
    drop_behind_null(both);
    reduce_effects(both);
    bound_writes(both);
}

/// How much a write says: a part that does not follow an object only knows that something was written.
fn says(write: &Write) -> u8 {
    match (&write.value, write.certainty) {
        (Value::Unknown(_), Certainty::May) => 0,
        (Value::Unknown(_), Certainty::Must) => 1,
        _ => 2,
    }
}

/// One result that is both, if there is one.
fn same_result(a: &Value, b: &Value) -> Option<Value> {
    match (a, b) {
        (Value::Unknown(x), Value::Unknown(y)) => {
            (!x.disjoint(*y)).then(|| if x.implies(*y) { a.clone() } else { b.clone() })
        }
        (Value::Unknown(class), known) | (known, Value::Unknown(class)) => {
            let possible = match known {
                Value::Int(value) => class.contains(*value),
                Value::Fresh { .. } | Value::Func(_) => !class.disjoint(Class::NonZero),
                _ => true,
            };
            possible.then(|| known.clone())
        }
        _ => (a == b).then(|| a.clone()),
    }
}

#[cfg(test)]
mod tests {
    use drip_models::text::parse_outcome;

    use super::{Outcome, blend};

    #[track_caller]
    fn blended(one: &str, other: &str) -> Outcome {
        let mut known = parse_outcome(one).expect("an outcome");
        let other = parse_outcome(other).expect("an outcome");
        blend(&mut known, &other);
        known
    }

    #[test]
    fn items_go_with_their_nodes() {
        let known = blended(
            "ret = 0; make fresh0; make fresh1; arg0[0] := fresh1; fresh1[16] := fresh0",
            "ret = 0; make fresh0; make fresh2; arg0[8] := fresh2; fresh2[16] := fresh0",
        );
        assert!(known.fresh.is_empty(), "{known:?}");
    }

    #[test]
    fn what_callers_still_find_stays() {
        let known = blended(
            "ret = 0; make fresh0; make fresh1; arg0[0] := fresh1; arg0[16] := fresh0",
            "ret = 0; make fresh0; arg0[16] := fresh0",
        );
        assert_eq!(known.fresh.as_slice(), [0]);
    }
}
