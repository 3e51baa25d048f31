//! Question: what of a summary do the functions of its own recursive component see?
//!
//! Each round of a recursion reaches one load deeper into a structure and nests new blocks one deeper: without a bound no two rounds would tell
//! the same. Only what happens within one load is kept; what lies deeper escapes, and what a new block holds is not new.
//! Cost: linear in the summary but for pairs of escapes.

use drip_models::{
    Certainty, Class, Escape, Free, Outcome, Root, Subject, Summary, Value, ValuePath, Write,
};

use super::effects::{handed_out, reduce_effects};
use super::unify::rename;

/// Fields of one root that escape one by one inside a recursive component.
const MAX_ESCAPES_PER_ROOT: usize = 3;

/// A summary for use inside its own recursive component. Each round of a recursion reaches one load deeper into a
/// structure: only what happens within one load is kept, what lies deeper escapes.
pub(super) fn narrowed(summary: &Summary) -> Summary {
    let mut narrow = summary.clone();
    for fresh in &mut narrow.fresh {
        fresh.chain.truncate(1);
    }
    for outcome in &mut narrow.outcomes {
        without_nested(outcome);
    }
    drop_unmade(&mut narrow);
    for outcome in &mut narrow.outcomes {
        let mut gone: Vec<ValuePath> = Vec::new();
        outcome.writes.retain(|write| {
            let near = write.cell.base.loads.is_empty() && write.cell.offset.is_exact();
            match &write.value {
                Value::Entry { path, .. } if !near || !path.loads.is_empty() => {
                    gone.push(path.clone());
                    false
                }
                Value::Fresh { .. } => true,
                _ => near,
            }
        });
        let (near, deep): (Vec<Free>, Vec<Free>) = outcome.frees.drain(..).partition(|free| {
            free.path.loads.len() <= 1 && free.path.loads.iter().all(|o| o.is_exact())
        });
        outcome.frees = near;
        for Free { path, .. } in deep {
            // With the parent gone nobody can say any more what became of its contents.
            match outcome
                .frees
                .iter_mut()
                .find(|f| !f.path.loads.is_empty() && f.path.leads_to(&path))
            {
                Some(parent) => parent.certainty = Certainty::May,
                None => gone.push(path),
            }
        }
        outcome
            .when
            .retain(|atom| matches!(&atom.subject, Subject::Entry(path) if path.loads.len() <= 1));
        gone.extend(outcome.escapes.drain(..).map(|e| e.path));
        for mut path in gone {
            // What a block held that is gone itself is told apart from it.
            let is_freed = |free: &Free| free.path.loads.len() == 1 && free.path.leads_to(&path);
            let depth = if outcome.frees.iter().any(is_freed) {
                2
            } else {
                1
            };
            path.loads.truncate(depth);
            let to = drip_models::EscapeTo::Unknown;
            if !outcome.escapes.iter().any(|e| e.path == path) {
                outcome.escapes.push(Escape { path, to });
            }
        }
        collapse_escapes(&mut outcome.escapes);
        reduce_effects(outcome);
    }
    narrow.outcomes.sort();
    narrow.outcomes.dedup();
    narrow
}

/// Forgets the new blocks that only new blocks lead to: a recursion would nest them one deeper in each round. Pointers back to those that
/// callers find stay.
fn without_nested(outcome: &mut Outcome) {
    let is_nested = |write: &Write| {
        let is_in_new = matches!(write.cell.base.root, Root::Fresh(_));
        is_in_new && matches!(write.value, Value::Fresh { .. })
    };
    let mut shallow = outcome.clone();
    shallow.writes.retain(|write| !is_nested(write));
    let handed = handed_out(&shallow);
    for write in &mut outcome.writes {
        let is_found = matches!(write.value, Value::Fresh { index, .. } if handed.contains(&index));
        if is_nested(write) && !is_found {
            write.value = Value::Unknown(Class::NonZero);
        }
    }
    outcome.fresh.retain(|k| handed.contains(k));
    outcome.zeroed.retain(|k| handed.contains(k));
    outcome.copies.retain(|copy| handed.contains(&copy.to));
    let is_made = |root: Root| !matches!(root, Root::Fresh(k) if !handed.contains(&k));
    outcome.writes.retain(|write| is_made(write.cell.base.root));
    outcome.frees.retain(|free| is_made(free.path.root));
    outcome.escapes.retain(|escape| is_made(escape.path.root));
    outcome.writes.sort();
    outcome.writes.dedup();
}

/// Drops the objects that no outcome makes any more; later ones move up.
fn drop_unmade(summary: &mut Summary) {
    let count = summary.fresh.len();
    let is_made =
        |k: usize| (summary.outcomes.iter()).any(|o| o.fresh.iter().any(|&f| usize::from(f) == k));
    let kept: Vec<usize> = (0..count).filter(|&k| is_made(k)).collect();
    if kept.len() == count {
        return;
    }
    let renamed = |k: u16| match kept.binary_search(&usize::from(k)) {
        Ok(at) | Err(at) => at as u16,
    };
    for outcome in &mut summary.outcomes {
        rename(outcome, renamed);
    }
    summary.fresh = kept.into_iter().map(|k| summary.fresh[k].clone()).collect();
}

/// Many fields of one structure escape: all of it.
fn collapse_escapes(escapes: &mut [Escape]) {
    let count = |root: Root, all: &[Escape]| all.iter().filter(|e| e.path.root == root).count();
    let roots: Vec<Root> = escapes.iter().map(|e| e.path.root).collect();
    for root in roots {
        if count(root, escapes) > MAX_ESCAPES_PER_ROOT {
            for escape in escapes.iter_mut().filter(|e| e.path.root == root) {
                escape.path.loads.clear();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use drip_models::Family;
    use drip_models::text::parse_summary;

    use super::narrowed;

    #[test]
    fn new_blocks_in_new_blocks_are_not_told() {
        let text = "ret = fresh1; make fresh0; make fresh1; fresh1[0] := 7; fresh1[16] := fresh0";
        let whole = parse_summary(text, Family::default()).expect("a summary");
        let flat = "ret = fresh0; make fresh0; fresh0[0] := 7; fresh0[16] := any != 0";
        let flat = parse_summary(flat, Family::default()).expect("a summary");
        assert_eq!(narrowed(&whole).outcomes, flat.outcomes);
        assert_eq!(narrowed(&whole).fresh.len(), 1);
    }

    #[test]
    fn pointers_back_to_a_block_that_is_found_stay() {
        let text =
            "ret = fresh0; make fresh0; make fresh1; fresh0[8] := fresh1; fresh0[48] := fresh0";
        let whole = parse_summary(text, Family::default()).expect("a summary");
        let flat = "ret = fresh0; make fresh0; fresh0[8] := any != 0; fresh0[48] := fresh0";
        let flat = parse_summary(flat, Family::default()).expect("a summary");
        assert_eq!(narrowed(&whole).outcomes, flat.outcomes);
    }

    #[test]
    fn new_blocks_in_the_callers_memory_are() {
        let text = "ret = fresh0; make fresh0; make fresh1; arg0[8] := fresh1";
        let whole = parse_summary(text, Family::default()).expect("a summary");
        assert_eq!(narrowed(&whole).outcomes, whole.outcomes);
    }
}
