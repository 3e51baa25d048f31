//! The stages together decide correctly: against exhaustive search where that is possible, by models elsewhere.

mod common;

use common::{Expr, Shape, Tape, all_worlds};
use drip_cond::{Budget, Terms, Verdict, check};
use proptest::collection::vec;
use proptest::prelude::*;

fn conjuncts(shape: &Shape, bytes: &[u8]) -> Vec<Expr> {
    let mut tape = Tape::new(bytes);
    let count = 1 + tape.below(6);
    (0..count)
        .map(|_| shape.boolean(&mut tape, shape.depth))
        .collect()
}

proptest! {
    #![proptest_config(common::config(1500))]

    #[test]
    fn agrees_with_exhaustive_search(bytes in vec(any::<u8>(), 0..120)) {
        let shape = Shape { widths: vec![3, 2], depth: 3, ..Shape::small() };
        let exprs = conjuncts(&shape, &bytes);
        let mut terms = Terms::new();
        let list: Vec<_> = exprs.iter().map(|e| e.build(&mut terms)).collect();
        let possible = all_worlds(&shape).iter().any(|world| exprs.iter().all(|e| e.eval(world) != 0));
        let answer = check(&mut terms, &list, &Budget::default());
        let expected = if possible { Verdict::Feasible } else { Verdict::Infeasible };
        prop_assert_eq!(answer.verdict, expected, "{:?} by {:?}", exprs, answer.stage);
        if let Some(model) = answer.model {
            prop_assert!(list.iter().all(|&t| model.holds(&terms, t)));
        }
    }

    #[test]
    fn models_of_wide_queries_hold(bytes in vec(any::<u8>(), 0..200)) {
        let shape = Shape { depth: 3, ..Shape::wide() };
        let exprs = conjuncts(&shape, &bytes);
        let mut terms = Terms::new();
        let list: Vec<_> = exprs.iter().map(|e| e.build(&mut terms)).collect();
        let answer = check(&mut terms, &list, &Budget::default());
        prop_assert_eq!(answer.model.is_some(), answer.verdict == Verdict::Feasible);
        if let Some(model) = answer.model {
            prop_assert!(list.iter().all(|&t| model.holds(&terms, t)));
        }
    }
}
