//! Each stage settles what it is there for, and nothing is said without proof.

use drip_cond::{
    Budget, FnKey, ObjKey, Session, Sort, Stage, SymId, TermId, Terms, Verdict, check,
};

struct Query {
    terms: Terms,
    list: Vec<TermId>,
}

impl Query {
    fn new() -> Self {
        Query {
            terms: Terms::new(),
            list: Vec::new(),
        }
    }

    fn int(&mut self, sym: u32) -> TermId {
        self.terms.sym(SymId(sym), Sort::Bits(32))
    }

    fn pointer(&mut self, sym: u32) -> TermId {
        self.terms.sym(SymId(sym), Sort::Bits(64))
    }

    fn k(&mut self, value: i64) -> TermId {
        self.terms.int(32, value as u64)
    }

    fn add(&mut self, t: TermId) -> &mut Self {
        self.list.push(t);
        self
    }

    fn assert_settled(&mut self, verdict: Verdict, stage: Stage) {
        let answer = check(&mut self.terms, &self.list, &Budget::default());
        assert_eq!(
            (answer.verdict, answer.stage),
            (verdict, stage),
            "{:?}",
            answer.cost
        );
        assert_eq!(answer.model.is_some(), verdict == Verdict::Feasible);
        if let Some(model) = &answer.model {
            assert!(self.list.iter().all(|&t| model.holds(&self.terms, t)));
        }
    }
}

#[test]
fn the_empty_conjunction_is_trivially_feasible() {
    Query::new().assert_settled(Verdict::Feasible, Stage::Trivial);
    let mut query = Query::new();
    query
        .add(Terms::TRUE)
        .add(Terms::FALSE)
        .assert_settled(Verdict::Infeasible, Stage::Trivial);
}

/// `if (c) p = malloc(4); … if (c) free(p);`
#[test]
fn an_atom_and_its_negation_meet_the_filter() {
    let mut q = Query::new();
    let c = q.int(0);
    let zero = q.k(0);
    let (yes, no) = (q.terms.ne(c, zero), q.terms.eq(c, zero));
    q.add(yes)
        .add(no)
        .assert_settled(Verdict::Infeasible, Stage::Filter);
}

#[test]
fn the_filter_sees_through_nested_conjunctions() {
    let mut q = Query::new();
    let (x, y) = (q.int(0), q.int(1));
    let less = q.terms.slt(x, y);
    let not_less = q.terms.sge(x, y);
    let b = q.terms.sym(SymId(9), Sort::Bool);
    let nested = q.terms.and(&[b, not_less]);
    q.add(less)
        .add(nested)
        .assert_settled(Verdict::Infeasible, Stage::Filter);
}

/// `if (n > 10) p = malloc(n); … if (n > 5 && n != 7 && p) free(p);`
#[test]
fn intervals_settle_correlated_bounds() {
    let mut q = Query::new();
    let (n, p, object) = (q.int(0), q.pointer(1), q.terms.addr(ObjKey(0)));
    let (five, seven, ten, null) = (q.k(5), q.k(7), q.k(10), q.terms.int(64, 0));
    let allocated = q.terms.sgt(n, ten);
    let assigned = q.terms.eq(p, object);
    let parts = [
        q.terms.sgt(n, five),
        q.terms.ne(n, seven),
        q.terms.ne(p, null),
    ];
    let freed = q.terms.and(&parts);
    let kept = q.terms.not(freed);
    q.add(allocated)
        .add(assigned)
        .add(kept)
        .assert_settled(Verdict::Infeasible, Stage::Intervals);
}

/// `if (n & 1) p = malloc(4); if ((n * n) & 1) free(p);`
#[test]
fn products_are_left_to_sat() {
    let mut q = Query::new();
    let n = q.int(0);
    let (one, square) = (q.k(1), q.terms.mul(n, n));
    let (low, low_square) = (q.terms.band(n, one), q.terms.band(square, one));
    let (odd, odd_square) = (q.terms.truthy(low), q.terms.truthy(low_square));
    let even_square = q.terms.not(odd_square);
    q.add(odd)
        .add(even_square)
        .assert_settled(Verdict::Infeasible, Stage::Sat);
}

#[test]
fn two_values_of_one_symbol() {
    let mut q = Query::new();
    let x = q.int(0);
    let (one, two) = (q.k(1), q.k(2));
    let (first, second) = (q.terms.eq(x, one), q.terms.eq(x, two));
    q.add(first)
        .add(second)
        .assert_settled(Verdict::Infeasible, Stage::Intervals);
}

#[test]
fn bounds_that_leave_nothing() {
    let mut q = Query::new();
    let x = q.int(0);
    let (three, four) = (q.k(3), q.k(4));
    let (low, high, hole) = (
        q.terms.sge(x, three),
        q.terms.slt(x, four),
        q.terms.ne(x, three),
    );
    q.add(low)
        .add(high)
        .add(hole)
        .assert_settled(Verdict::Infeasible, Stage::Intervals);
}

#[test]
fn equal_pointers_to_different_objects() {
    let mut q = Query::new();
    let (p, r) = (q.pointer(0), q.pointer(1));
    let (first, second) = (q.terms.addr(ObjKey(0)), q.terms.addr(ObjKey(1)));
    let facts = [
        q.terms.eq(p, first),
        q.terms.eq(r, second),
        q.terms.eq(p, r),
    ];
    q.list.extend(facts);
    q.assert_settled(Verdict::Infeasible, Stage::Intervals);
}

#[test]
fn a_place_inside_an_object_is_not_null() {
    let mut q = Query::new();
    let p = q.pointer(0);
    let (object, eight, null) = (
        q.terms.addr(ObjKey(0)),
        q.terms.int(64, 8),
        q.terms.int(64, 0),
    );
    let field = q.terms.add(p, eight);
    let facts = [q.terms.eq(p, object), q.terms.eq(field, null)];
    q.list.extend(facts);
    q.assert_settled(Verdict::Infeasible, Stage::Intervals);
}

#[test]
fn cycles_of_orders() {
    for signed in [false, true] {
        let mut q = Query::new();
        let (x, y, z) = (q.int(0), q.int(1), q.int(2));
        let facts = if signed {
            [q.terms.slt(x, y), q.terms.sle(y, z), q.terms.sle(z, x)]
        } else {
            [q.terms.ult(x, y), q.terms.ule(y, z), q.terms.ule(z, x)]
        };
        q.list.extend(facts);
        q.assert_settled(Verdict::Infeasible, Stage::Intervals);
        q.list.clear();
        let facts = [
            q.terms.sle(x, y),
            q.terms.sle(y, z),
            q.terms.sle(z, x),
            q.terms.ne(x, z),
        ];
        q.list.extend(facts);
        q.assert_settled(Verdict::Infeasible, Stage::Intervals);
    }
}

#[test]
fn congruence_of_functions() {
    let mut q = Query::new();
    let (x, y) = (q.int(0), q.int(1));
    let (fx, fy) = (
        q.terms.app(FnKey(0), &[x], Sort::Bits(32)),
        q.terms.app(FnKey(0), &[y], Sort::Bits(32)),
    );
    let facts = [q.terms.eq(x, y), q.terms.ne(fx, fy)];
    q.list.extend(facts);
    q.assert_settled(Verdict::Infeasible, Stage::Intervals);
    // Different arguments may give different results.
    let apart = [q.terms.ne(x, y), q.terms.ne(fx, fy)];
    q.list = apart.to_vec();
    q.assert_settled(Verdict::Feasible, Stage::Intervals);
}

#[test]
fn congruence_that_only_sat_sees() {
    let mut q = Query::new();
    let (x, y) = (q.int(0), q.int(1));
    let (fx, fy) = (
        q.terms.app(FnKey(0), &[x], Sort::Bits(32)),
        q.terms.app(FnKey(0), &[y], Sort::Bits(32)),
    );
    // x and y agree bit by bit, but nothing says that they are equal.
    let different = q.terms.bxor(x, y);
    let one = q.k(1);
    let bounded = q.terms.ult(different, one);
    let scaled = q.terms.mul(x, y);
    let square = q.terms.mul(y, y);
    let same_product = q.terms.eq(scaled, square);
    let facts = [bounded, same_product, q.terms.ne(fx, fy)];
    q.list.extend(facts);
    let answer = check(&mut q.terms, &q.list, &Budget::default());
    assert_eq!(answer.verdict, Verdict::Infeasible);
}

#[test]
fn bounds_pass_through_casts_masks_and_sums() {
    let mut q = Query::new();
    let narrow = q.terms.sym(SymId(0), Sort::Bits(8));
    let wide = q.terms.zext(narrow, 32);
    let (hundred, x) = (q.k(300), q.int(1));
    let sum = q.terms.add(wide, x);
    let ten = q.k(10);
    // narrow + x > 300 with x < 10: narrow is at most 255.
    let facts = [q.terms.ult(x, ten), q.terms.ugt(sum, hundred)];
    q.list.extend(facts);
    q.assert_settled(Verdict::Infeasible, Stage::Intervals);
    let mut q = Query::new();
    let x = q.int(0);
    let (mask, seven, four) = (q.k(6), q.k(7), q.k(4));
    let masked = q.terms.band(x, mask);
    let facts = [
        q.terms.eq(masked, four),
        q.terms.slt(x, four),
        q.terms.sge(x, four),
    ];
    q.list.extend(facts);
    q.assert_settled(Verdict::Infeasible, Stage::Filter);
    q.list.pop();
    let zero = q.k(0);
    let positive = q.terms.sge(x, zero);
    q.add(positive)
        .assert_settled(Verdict::Infeasible, Stage::Intervals);
    let below = q.terms.slt(x, seven);
    q.list[1] = below;
    q.assert_settled(Verdict::Feasible, Stage::Intervals);
}

#[test]
fn choices_are_decided_by_their_value() {
    let mut q = Query::new();
    let (b, x, y) = (q.terms.sym(SymId(9), Sort::Bool), q.int(0), q.int(1));
    let (ten, twenty) = (q.k(10), q.k(20));
    let chosen = q.terms.ite(b, x, y);
    let facts = [q.terms.slt(x, ten), q.terms.sgt(chosen, twenty), b];
    q.list.extend(facts);
    q.assert_settled(Verdict::Infeasible, Stage::Intervals);
    q.list.pop();
    q.assert_settled(Verdict::Feasible, Stage::Intervals);
}

#[test]
fn addresses_in_any_order() {
    let mut q = Query::new();
    let (a, b) = (q.terms.addr(ObjKey(0)), q.terms.addr(ObjKey(1)));
    for (low, high) in [(a, b), (b, a)] {
        let ordered = q.terms.ult(low, high);
        q.list = vec![ordered];
        let answer = check(&mut q.terms, &q.list, &Budget::default());
        assert_eq!(answer.verdict, Verdict::Feasible);
    }
    // An address may have any alignment.
    let fifteen = q.terms.int(64, 15);
    let low_bits = q.terms.band(a, fifteen);
    let five = q.terms.int(64, 5);
    let odd = q.terms.eq(low_bits, five);
    q.list = vec![odd];
    q.assert_settled(Verdict::Feasible, Stage::Sat);
}

#[test]
fn fuel_runs_out_as_unknown() {
    let mut q = Query::new();
    let (x, y) = (q.pointer(0), q.pointer(1));
    let product = q.terms.mul(x, y);
    let (target, one) = (
        q.terms.int(64, 0xdead_beef_1234_567b),
        q.terms.int(64, 1 << 20),
    );
    let facts = [
        q.terms.eq(product, target),
        q.terms.ugt(x, one),
        q.terms.ugt(y, one),
        q.terms.ult(x, y),
    ];
    q.list.extend(facts);
    let tight = Budget {
        sat_conflicts: 10,
        ..Budget::default()
    };
    let answer = check(&mut q.terms, &q.list, &tight);
    assert_eq!(
        (answer.verdict, answer.stage),
        (Verdict::Unknown, Stage::Sat)
    );
    let tight = Budget {
        sat_clauses: 1000,
        ..Budget::default()
    };
    let answer = check(&mut q.terms, &q.list, &tight);
    assert_eq!(
        (answer.verdict, answer.stage),
        (Verdict::Unknown, Stage::Sat)
    );
    assert!(answer.cost.clauses <= 1000);
}

#[test]
fn answers_are_deterministic() {
    let run = || {
        let mut q = Query::new();
        let (x, y, z) = (q.int(0), q.int(1), q.int(2));
        let sum = q.terms.add(x, y);
        let product = q.terms.mul(sum, z);
        let k = q.k(1234);
        let facts = [q.terms.eq(product, k), q.terms.slt(x, y), q.terms.slt(y, z)];
        q.list.extend(facts);
        let answer = check(&mut q.terms, &q.list, &Budget::default());
        (
            answer.verdict,
            answer.stage,
            answer.cost,
            answer.model.map(|model| model.assignment().clone()),
        )
    };
    let first = run();
    assert_eq!(first.0, Verdict::Feasible);
    assert_eq!(first, run());
}

#[test]
fn sessions_reuse_models_and_contradictions() {
    let mut terms = Terms::new();
    let mut session = Session::new(Budget::default());
    let x = terms.sym(SymId(0), Sort::Bits(32));
    let y = terms.sym(SymId(1), Sort::Bits(32));
    let (five, nine) = (terms.int(32, 5), terms.int(32, 9));
    let (low, high, other) = (terms.slt(x, five), terms.sgt(x, nine), terms.slt(y, nine));
    let first = session.check(&mut terms, &[low]);
    assert!(first.is_feasible() && !first.reused);
    let again = session.check(&mut terms, &[low]);
    assert!(again.is_feasible() && again.reused);
    let wider = session.check(&mut terms, &[low, other]);
    assert!(wider.is_feasible() && wider.reused);
    assert!(wider.model.is_some_and(|model| model.holds(&terms, other)));
    let refuted = session.check(&mut terms, &[low, high]);
    assert!(refuted.is_infeasible() && !refuted.reused);
    let superset = session.check(&mut terms, &[low, other, high]);
    assert!(superset.is_infeasible() && superset.reused);
    assert_eq!(superset.stage, Stage::Intervals);
    let statistics = session.statistics();
    assert_eq!(statistics.reused.queries, 3);
    assert_eq!(statistics.intervals.queries, 2);
    assert_eq!(
        (
            statistics.intervals.infeasible,
            statistics.intervals.feasible
        ),
        (1, 1)
    );
}

#[test]
fn cores_are_small_and_remembered() {
    let mut terms = Terms::new();
    let mut session = Session::new(Budget::default());
    let mut list = Vec::new();
    for i in 0..10 {
        let x = terms.sym(SymId(i), Sort::Bits(32));
        let k = terms.int(32, 7 + u64::from(i));
        list.push(terms.slt(x, k));
    }
    let x = terms.sym(SymId(3), Sort::Bits(32));
    let k = terms.int(32, 100);
    let above = terms.sgt(x, k);
    list.push(above);
    let core = session.core(&mut terms, &list);
    assert_eq!(core.len(), 2);
    assert!(core.contains(&above));
    let mut wider = core.clone();
    let y = terms.sym(SymId(77), Sort::Bool);
    wider.push(y);
    let answer = session.check(&mut terms, &wider);
    assert!(answer.is_infeasible() && answer.reused);
    // A feasible conjunction is its own core.
    assert_eq!(session.core(&mut terms, &[y]), vec![y]);
}

#[test]
fn statistics_merge() {
    let mut terms = Terms::new();
    let mut session = Session::new(Budget::default());
    let b = terms.sym(SymId(0), Sort::Bool);
    let not_b = terms.not(b);
    session.check(&mut terms, &[b, not_b]);
    session.check(&mut terms, &[b]);
    session.check(&mut terms, &[]);
    let mut total = *session.statistics();
    total.merge(session.statistics());
    assert_eq!(total.queries(), 6);
    assert_eq!(
        (
            total.trivial.feasible,
            total.filter.infeasible,
            total.intervals.feasible
        ),
        (2, 2, 2)
    );
    assert_eq!(total.to_string().lines().count(), 6);
}

#[test]
fn words_among_the_conjuncts_are_compared_with_zero() {
    let mut q = Query::new();
    let x = q.int(0);
    let seven = q.k(7);
    let is_seven = q.terms.eq(x, seven);
    q.add(x)
        .add(is_seven)
        .assert_settled(Verdict::Feasible, Stage::Intervals);
    let zero = q.k(0);
    let is_zero = q.terms.eq(x, zero);
    q.list[1] = is_zero;
    q.assert_settled(Verdict::Infeasible, Stage::Filter);
    assert!(q.terms.ill_sorted() > 0);
}
