//! Stage 1: does a path condition contradict itself on its face?
//!
//! SMOKE, section III-B: the conjunction is walked once, collecting the atoms that stand in it positively and those that
//! stand in it negatively; an atom in both sets makes the condition unsatisfiable. Linear in the number of conjuncts,
//! and complete for nothing else: disjunctions are atoms here.
//!
//! The normal forms of the constructors do the rest of the work: `x <= 4` and `x > 4` are one atom and its negation.

use rustc_hash::FxHashSet;

use crate::Terms;
use crate::term::{TermId, TermKind};

/// The conjunction after flattening.
pub(crate) struct Flat {
    /// The conjuncts, ascending, without doubles and without `true`.
    pub(crate) conjuncts: Vec<TermId>,
    /// Conjuncts looked at.
    pub(crate) steps: u64,
    /// Whether the constant `false` was among them.
    pub(crate) is_false: bool,
}

/// Flattens nested conjunctions.
pub(crate) fn flatten(terms: &Terms, conjunction: &[TermId]) -> Flat {
    let mut flat = Flat {
        conjuncts: Vec::with_capacity(conjunction.len()),
        steps: 0,
        is_false: false,
    };
    let mut stack: Vec<TermId> = conjunction.to_vec();
    while let Some(t) = stack.pop() {
        flat.steps += 1;
        match terms.kind(t) {
            TermKind::And(list) => stack.extend_from_slice(list),
            TermKind::Bool(true) => {}
            TermKind::Bool(false) => flat.is_false = true,
            _ => flat.conjuncts.push(t),
        }
    }
    flat.conjuncts.sort_unstable();
    flat.conjuncts.dedup();
    flat
}

/// Whether an atom and its negation are both among the conjuncts.
pub(crate) fn contradicts(terms: &Terms, conjuncts: &[TermId]) -> bool {
    let (mut positive, mut negative) = (FxHashSet::default(), FxHashSet::default());
    for &t in conjuncts {
        let contradiction = match terms.kind(t) {
            TermKind::Not(atom) => {
                negative.insert(*atom);
                positive.contains(atom)
            }
            _ => {
                positive.insert(t);
                negative.contains(&t)
                    || terms
                        .known_complement(t)
                        .is_some_and(|c| positive.contains(&c))
            }
        };
        if contradiction {
            return true;
        }
    }
    false
}
