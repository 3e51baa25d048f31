//! What an outcome tells, kept small and true to itself: effects that others imply, effects on what is not there, and more
//! writes than a caller should have to look at.

use drip_models::{
    CellPath, Certainty, Class, Escape, EscapeTo, Offset, Outcome, Root, Subject, Value, ValuePath,
    Write,
};
use drip_pointer::local::MAX_ENTRY_DEPTH;
use smallvec::SmallVec;

/// Writes per outcome. Beyond it numbers and repeated pointers are told by object instead of by cell; pointers that still do
/// not fit are left out, what they lead to counts as escaped or not handed out, and the summary is marked limited.
pub(super) const MAX_WRITES: usize = 48;

/// Cells of one object that perhaps hold the same pointer, before they become "somewhere in this object".
const MAX_PERHAPS: usize = 2;

/// Brings the writes within their bound; true if pointers had to be left out.
pub(super) fn bound_writes(outcome: &mut Outcome) -> bool {
    if outcome.writes.len() <= MAX_WRITES {
        return false;
    }
    let is_pointer = |w: &Write| !matches!(w.value, Value::Unknown(_) | Value::Int(_));
    let all = std::mem::take(&mut outcome.writes);
    let (pointers, numbers): (Vec<Write>, Vec<Write>) = all.into_iter().partition(is_pointer);
    let mut kept: Vec<Write> = Vec::new();
    for write in &pointers {
        let alike = |w: &&Write| {
            w.certainty == Certainty::May
                && w.cell.base == write.cell.base
                && w.value == write.value
        };
        let many = write.certainty == Certainty::May
            && pointers.iter().filter(alike).count() > MAX_PERHAPS;
        let write = if many {
            somewhere(&write.cell.base, write.value.clone())
        } else {
            write.clone()
        };
        if !kept.contains(&write) {
            kept.push(write);
        }
    }
    let limited = kept.len() > MAX_WRITES;
    for write in kept.split_off(kept.len().min(MAX_WRITES)) {
        if let Value::Entry { path, .. } = write.value {
            let to = EscapeTo::Unknown;
            outcome.escapes.push(Escape { path, to });
        }
    }
    for number in numbers {
        let anywhere = somewhere(&number.cell.base, Value::Unknown(Class::Any));
        if !kept.contains(&anywhere) {
            kept.push(anywhere);
        }
    }
    kept.sort();
    outcome.writes = kept;
    if limited {
        let handed = handed_out(outcome);
        outcome.fresh.retain(|k| handed.contains(k));
        outcome
            .writes
            .retain(|w| !matches!(w.cell.base.root, Root::Fresh(k) if !handed.contains(&k)));
        reduce_escapes(&mut outcome.escapes);
    }
    limited
}

fn somewhere(base: &ValuePath, value: Value) -> Write {
    Write {
        cell: CellPath {
            base: base.clone(),
            offset: Offset::ANY,
        },
        value,
        certainty: Certainty::May,
    }
}

/// Fresh objects that a caller finds: returned, in cells of what is its own or in the returned struct, and through other
/// fresh objects.
pub(super) fn handed_out(outcome: &Outcome) -> SmallVec<[u16; 2]> {
    let mut handed: SmallVec<[u16; 2]> = SmallVec::new();
    if let Value::Fresh { index, .. } = outcome.ret {
        handed.push(index);
    }
    loop {
        let mut grown = false;
        for write in &outcome.writes {
            let Value::Fresh { index, .. } = write.value else {
                continue;
            };
            let reached = match write.cell.base.root {
                Root::Fresh(owner) => handed.contains(&owner),
                // What only a global leads to is the program's, not the caller's.
                Root::Global(_) => false,
                // Nor is what lies so deep that a later free of it could not be told.
                _ => write.cell.base.loads.len() < MAX_ENTRY_DEPTH as usize - 1,
            };
            if reached && !handed.contains(&index) {
                handed.push(index);
                grown = true;
            }
        }
        if !grown {
            break;
        }
    }
    handed.sort_unstable();
    handed
}

/// Leaves out what the escapes of an outcome imply: unknown code may have written anything into what escaped.
pub(super) fn reduce_effects(outcome: &mut Outcome) {
    reduce_escapes(&mut outcome.escapes);
    let escapes = &outcome.escapes;
    // Sorted, and none leads to another: only the last one that is not behind a path can lead to it.
    let has_escaped = |path: &ValuePath| {
        let behind = escapes.partition_point(|e| e.path <= *path);
        behind > 0 && escapes[behind - 1].path.leads_to(path)
    };
    outcome
        .writes
        .retain(|w| !matches!(w.value, Value::Unknown(_)) || !has_escaped(&w.cell.base));
}

/// Blocks that an outcome takes out of global variables to where nobody follows them; of more than these it says nothing, and whoever
/// overwrites the variables next is taken to lose them.
const MAX_TAKEN_FROM_GLOBALS: usize = 4;

/// What escapes takes all along that it leads to, and what lies deeper behind a global is everybody's already: neither need be said. What
/// the variable itself holds is said: its next value may come.
fn reduce_escapes(escapes: &mut Vec<Escape>) {
    escapes.sort();
    escapes.dedup();
    let mut taken = 0;
    escapes.retain(|e| {
        if !matches!(e.path.root, Root::Global(_)) {
            return true;
        }
        let is_variable = matches!(&e.path.loads[..], [one] if one.is_exact());
        taken += usize::from(is_variable);
        is_variable && taken <= MAX_TAKEN_FROM_GLOBALS
    });
    // Sorted, what a path leads to comes right behind it.
    escapes
        .dedup_by(|deeper, wider| wider.path != deeper.path && wider.path.leads_to(&deeper.path));
}

/// A part that takes an object to exist says nothing where another part knows that there is none.
pub(super) fn drop_behind_null(outcome: &mut Outcome) {
    let nulls: Vec<ValuePath> = outcome
        .when
        .iter()
        .filter(|atom| atom.class == Class::Eq(0))
        .filter_map(|atom| match &atom.subject {
            Subject::Entry(path) => Some(path.clone()),
            Subject::Ret => None,
        })
        .collect();
    let behind = |path: &ValuePath| nulls.iter().any(|null| null.leads_to(path));
    outcome.frees.retain(|f| !behind(&f.path));
    outcome.escapes.retain(|e| !behind(&e.path));
    outcome.writes.retain(|w| {
        let value = match &w.value {
            Value::Entry { path, .. } => behind(path) && !nulls.contains(path),
            _ => false,
        };
        !behind(&w.cell.base) && !value
    });
}

#[cfg(test)]
mod tests {
    use drip_models::text::parse_outcome;

    use super::{Escape, reduce_effects, reduce_escapes};

    /// All sets of some paths, with the definition itself: whatever another one leads to goes.
    #[test]
    fn what_an_escape_leads_to_need_not_be_said() {
        let paths = [
            "arg0",
            "arg0[0]",
            "arg0[0][8]",
            "arg0[0][16]",
            "arg0[8]",
            "arg0[8][0]",
            "arg1[0]",
            "arg1[0][0]",
            "arg1[8]",
        ];
        let escape = |path: &&str| -> Escape {
            let outcome = parse_outcome(&format!("ret = 0; escape {path} to unknown"));
            outcome.expect("an outcome").escapes[0].clone()
        };
        let all: Vec<Escape> = paths.iter().map(escape).collect();
        for set in 0..1_u32 << all.len() {
            let chosen = |n: &usize| set >> n & 1 == 1;
            let some: Vec<Escape> = (0..all.len())
                .filter(chosen)
                .rev()
                .map(|n| all[n].clone())
                .collect();
            let is_implied = |e: &Escape| {
                let mut others = some.iter().filter(|o| o.path != e.path);
                others.any(|wider| wider.path.leads_to(&e.path))
            };
            let mut expected: Vec<Escape> =
                some.iter().filter(|e| !is_implied(e)).cloned().collect();
            expected.sort();
            let mut reduced = some.clone();
            reduce_escapes(&mut reduced);
            assert_eq!(reduced, expected);
            for path in &paths {
                let text = format!("ret = 0; {path}[24] := any");
                let mut outcome = parse_outcome(&text).expect("an outcome");
                outcome.escapes.clone_from(&some);
                let base = outcome.writes[0].cell.base.clone();
                reduce_effects(&mut outcome);
                let is_implied = some.iter().any(|e| e.path.leads_to(&base));
                assert_eq!(outcome.writes.is_empty(), is_implied, "{path} in {some:?}");
            }
        }
    }
}
