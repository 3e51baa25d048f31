//! A query as a DIMACS file: to look at it, or to give it to another SAT solver.

use std::fmt::Write as _;

use super::encode::{Encoder, LeafFacts};
use crate::Terms;
use crate::term::TermId;

/// The clauses of a conjunction in DIMACS format, without the axioms that are added on demand (functions, distinct
/// addresses). `None` if there are more than `clause_limit` clauses.
pub fn to_dimacs(terms: &Terms, conjunction: &[TermId], clause_limit: u64) -> Option<String> {
    let mut conjuncts = conjunction.to_vec();
    conjuncts.sort_unstable();
    conjuncts.dedup();
    let facts = LeafFacts::default();
    let mut encoder = Encoder::new(terms, &facts, clause_limit);
    encoder.assert_all(&conjuncts);
    let gates = &encoder.gates;
    if gates.exhausted {
        return None;
    }
    let mut text = format!(
        "p cnf {} {}\n",
        gates.variable_count(),
        gates.clause_count()
    );
    if gates.contradictory {
        text = format!(
            "p cnf {} {}\n0\n",
            gates.variable_count(),
            gates.clause_count() + 1
        );
    }
    for clause in gates.clauses_from(0) {
        for bit in clause {
            let sign = if bit.is_negated() { "-" } else { "" };
            // Writing to a string can't fail.
            let _ = write!(text, "{sign}{} ", bit.variable() + 1);
        }
        text.push_str("0\n");
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::{Sort, SymId};

    #[test]
    fn clauses_are_numbered_from_one() {
        let mut terms = Terms::new();
        let (a, b) = (
            terms.sym(SymId(0), Sort::Bool),
            terms.sym(SymId(1), Sort::Bool),
        );
        let either = terms.or(&[a, b]);
        assert_eq!(
            to_dimacs(&terms, &[either], 10).as_deref(),
            Some("p cnf 3 1\n2 3 0\n")
        );
        assert_eq!(to_dimacs(&terms, &[either], 0), None);
        assert_eq!(
            to_dimacs(&terms, &[Terms::FALSE], 10).as_deref(),
            Some("p cnf 1 1\n0\n")
        );
    }
}
