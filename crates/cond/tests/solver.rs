//! The stages together decide correctly: against exhaustive search where that is possible, by models elsewhere.

mod common;

use common::{Expr, Shape, Tape, all_worlds};
use drip_cond::{Budget, ObjKey, Session, Sort, SymId, Terms, Verdict, check};
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
    #![proptest_config(common::config(1200))]

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
}

proptest! {
    #![proptest_config(common::config(300))]

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

    /// Whatever the fuel, the stages don't panic, and what they say doesn't depend on it.
    #[test]
    fn any_fuel_gives_the_same_verdict_or_none(
        bytes in vec(any::<u8>(), 0..160),
        interval_steps in 0u64..400,
        splits in 0u32..6,
        guesses in 0u32..4,
        sat_clauses in 0u64..6000,
        sat_conflicts in 0u64..60,
        lemma_rounds in 0u32..4,
    ) {
        let shape = Shape { widths: vec![32, 8, 64], depth: 3, operators: 9, ..Shape::wide() };
        let exprs = conjuncts(&shape, &bytes);
        let mut terms = Terms::new();
        let list: Vec<_> = exprs.iter().map(|e| e.build(&mut terms)).collect();
        let budget =
            Budget { interval_steps, splits, guesses, sat_clauses, sat_conflicts, lemma_rounds };
        let tight = check(&mut terms, &list, &budget);
        let free = check(&mut terms, &list, &Budget::default());
        prop_assert!(tight.cost.clauses <= sat_clauses);
        prop_assert!(tight.cost.splits <= splits && tight.cost.guesses <= guesses);
        if tight.verdict != Verdict::Unknown && free.verdict != Verdict::Unknown {
            prop_assert_eq!(tight.verdict, free.verdict, "{:?}", exprs);
        }
    }

    /// A session says what single queries say, over a sequence of overlapping queries.
    #[test]
    fn sessions_agree_with_single_queries(
        bytes in vec(any::<u8>(), 0..200),
        picks in vec(any::<u16>(), 1..24),
    ) {
        let shape = Shape { widths: vec![8, 32], objects: 2, functions: 1, depth: 2, operators: 8, ..Shape::wide() };
        let mut tape = Tape::new(&bytes);
        let mut terms = Terms::new();
        let pool: Vec<_> = (0..12).map(|_| shape.boolean(&mut tape, shape.depth).build(&mut terms)).collect();
        let mut session = Session::new(Budget::default());
        for pick in picks {
            let list: Vec<_> =
                pool.iter().enumerate().filter(|(i, _)| pick >> i & 1 == 1).map(|(_, &t)| t).collect();
            let answer = session.check(&mut terms, &list);
            let single = check(&mut terms, &list, &Budget::default());
            prop_assert_eq!(answer.verdict, single.verdict);
            if let Some(model) = answer.model {
                prop_assert!(list.iter().all(|&t| model.holds(&terms, t)));
            }
            if pick % 5 == 0 && answer.verdict == Verdict::Infeasible {
                let core = session.core(&mut terms, &list);
                prop_assert!(core.iter().all(|t| list.contains(t)));
                prop_assert!(check(&mut terms, &core, &Budget::default()).is_infeasible());
            }
        }
    }
}

#[test]
fn deep_conditions_need_no_deep_stack() {
    let mut terms = Terms::new();
    let mut value = terms.sym(SymId(0), Sort::Bits(32));
    let mut condition = terms.sym(SymId(1), Sort::Bool);
    for i in 0..20_000u32 {
        let b = terms.sym(SymId(1000 + i), Sort::Bool);
        let other = terms.sym(SymId(50_000 + i), Sort::Bits(32));
        value = terms.ite(b, other, value);
        condition = if i % 2 == 0 {
            terms.or(&[condition, b])
        } else {
            terms.and(&[condition, b])
        };
    }
    let seven = terms.int(32, 7);
    let list = [terms.eq(value, seven), condition];
    let answer = check(&mut terms, &list, &Budget::default());
    assert_ne!(answer.verdict, Verdict::Infeasible);
    let generous = Budget {
        sat_clauses: 10_000_000,
        ..Budget::default()
    };
    assert_eq!(
        check(&mut terms, &list, &generous).verdict,
        Verdict::Feasible
    );
}

/// Two objects below the second stretch of addresses would have to share the first one.
#[test]
fn addresses_that_are_known_to_be_close_contradict_each_other() {
    let mut terms = Terms::new();
    let [a, b] = [0, 1].map(|n| terms.addr(ObjKey(n)));
    let bound = terms.int(64, 1_048_577);
    let above = terms.ult(b, a);
    let beyond = terms.ult(bound, a);
    let below = terms.not(beyond);
    let answer = check(&mut terms, &[above, below], &Budget::default());
    assert_eq!(answer.verdict, Verdict::Infeasible);
}
