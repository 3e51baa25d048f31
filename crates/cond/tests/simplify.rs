//! The constructors change the shape of a term, never its value.

mod common;

use common::{Shape, Tape, World, all_worlds};
use drip_cond::Terms;
use proptest::collection::vec;
use proptest::prelude::*;

proptest! {
    #![proptest_config(common::config(600))]

    #[test]
    fn agrees_with_the_truth_table(bytes in vec(any::<u8>(), 0..96)) {
        let mut shape = Shape::small();
        shape.widths = vec![3, 2];
        shape.symbols_per_sort = 1;
        let mut terms = Terms::new();
        let expr = shape.boolean(&mut Tape::new(&bytes), shape.depth);
        let t = expr.build(&mut terms);
        for world in all_worlds(&shape) {
            prop_assert_eq!(terms.eval(t, &world.assignment()), expr.eval(&world), "{:?} under {:?}", expr, world);
        }
        prop_assert_eq!(terms.ill_sorted(), 0);
    }

    #[test]
    fn one_bit_words_agree_with_the_truth_table(bytes in vec(any::<u8>(), 0..64)) {
        let shape = Shape { widths: vec![1, 2], ..Shape::small() };
        let mut terms = Terms::new();
        let expr = shape.boolean(&mut Tape::new(&bytes), shape.depth);
        let t = expr.build(&mut terms);
        for world in all_worlds(&shape) {
            prop_assert_eq!(terms.eval(t, &world.assignment()), expr.eval(&world), "{:?} under {:?}", expr, world);
        }
    }

    #[test]
    fn wide_words_agree_on_samples(bytes in vec(any::<u8>(), 0..160), values in vec(any::<u8>(), 400)) {
        let shape = Shape::wide();
        let mut terms = Terms::new();
        let mut tape = Tape::new(&bytes);
        let exprs = [shape.boolean(&mut tape, shape.depth), shape.bits(&mut tape, 32, 4), shape.bits(&mut tape, 64, 4)];
        let mut samples = Tape::new(&values);
        for _ in 0..4 {
            let world = World::random(&mut samples, &shape);
            for expr in &exprs {
                let t = expr.build(&mut terms);
                prop_assert_eq!(terms.eval(t, &world.assignment()), expr.eval(&world), "{:?} under {:?}", expr, world);
            }
        }
        prop_assert_eq!(terms.ill_sorted(), 0);
    }

    #[test]
    fn negation_is_an_involution(bytes in vec(any::<u8>(), 0..160)) {
        let shape = Shape::wide();
        let mut terms = Terms::new();
        let t = shape.boolean(&mut Tape::new(&bytes), shape.depth).build(&mut terms);
        let negated = terms.not(t);
        prop_assert_eq!(terms.not(negated), t);
        prop_assert_eq!(terms.and(&[t, negated]), Terms::FALSE);
        prop_assert_eq!(terms.or(&[t, negated]), Terms::TRUE);
    }

    #[test]
    fn rollback_leaves_earlier_terms_alone(first in vec(any::<u8>(), 0..100), second in vec(any::<u8>(), 0..100)) {
        let shape = Shape::wide();
        let mut terms = Terms::new();
        let t = shape.boolean(&mut Tape::new(&first), shape.depth).build(&mut terms);
        let len = terms.len();
        let scratch = shape.boolean(&mut Tape::new(&second), shape.depth);
        let once = scratch.build(&mut terms);
        terms.truncate(len);
        prop_assert_eq!(terms.len(), len);
        prop_assert_eq!(scratch.build(&mut terms), once);
        prop_assert_eq!(shape.boolean(&mut Tape::new(&first), shape.depth).build(&mut terms), t);
    }
}
