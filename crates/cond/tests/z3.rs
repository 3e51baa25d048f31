//! The stages agree with Z3. Needs the Cargo feature `z3`.
//!
//! The oracle sees the expressions before our constructors simplify them, so a wrong simplification shows as well; the
//! translation of terms is checked on the same queries.
#![cfg(feature = "z3")]

mod common;

use common::{Expr, Shape, Tape, random_bytes, symbol_id};
use drip_cond::address::{LOW_MAX, LOW_MIN};
use drip_cond::oracle::check_by_z3;
use drip_cond::{Budget, Sort, Stage, Terms, Verdict, check};
use z3::ast::{Ast, BV, Bool, Dynamic};

/// Queries that have to agree; `DRIP_Z3_QUERIES` asks for another number.
const QUERIES: u64 = 20_000;

/// Z3's resource limit per query; beyond it the query counts as unknown.
const EFFORT: u32 = 4_000_000;

fn to_bool(expr: &Expr) -> Bool {
    to_z3(expr).as_bool().expect("boolean expression")
}

fn to_word(expr: &Expr) -> BV {
    to_z3(expr).as_bv().expect("word expression")
}

fn to_z3(expr: &Expr) -> Dynamic {
    match expr {
        Expr::Bool(value) => Bool::from_bool(*value).into(),
        Expr::Int(width, value) => BV::from_u64(*value, *width).into(),
        Expr::Sym(index, Sort::Bool) => {
            Bool::new_const(format!("b{}", symbol_id(*index, Sort::Bool))).into()
        }
        Expr::Sym(index, sort) => {
            BV::new_const(format!("{}", symbol_id(*index, *sort)), sort.width()).into()
        }
        Expr::Addr(object) => BV::new_const(format!("addr{object}"), 64).into(),
        Expr::App(function, arg, sort) => {
            let domain = z3::Sort::bitvector(arg.width());
            let name = format!("f{function}");
            let declaration =
                z3::FuncDecl::new(name, &[&domain], &z3::Sort::bitvector(sort.width()));
            declaration.apply(&[&to_word(arg) as &dyn Ast])
        }
        Expr::Not(a) => to_bool(a).not().into(),
        Expr::And(list) => Bool::and(&list.iter().map(to_bool).collect::<Vec<_>>()).into(),
        Expr::Or(list) => Bool::or(&list.iter().map(to_bool).collect::<Vec<_>>()).into(),
        Expr::Implies(a, b) => to_bool(a).implies(to_bool(b)).into(),
        Expr::Iff(a, b) => to_bool(a).iff(to_bool(b)).into(),
        Expr::Ite(c, a, b) => to_bool(c).ite(&to_z3(a), &to_z3(b)),
        Expr::Compare(op, a, b) => compare(op, &to_word(a), &to_word(b)).into(),
        Expr::Binary(op, a, b) => binary(op, &to_word(a), &to_word(b)).into(),
        Expr::Neg(a) => to_word(a).bvneg().into(),
        Expr::Bnot(a) => to_word(a).bvnot().into(),
        Expr::Zext(width, a) => to_word(a).zero_ext(width - a.width()).into(),
        Expr::Sext(width, a) => to_word(a).sign_ext(width - a.width()).into(),
        Expr::Trunc(width, a) => to_word(a).extract(width - 1, 0).into(),
    }
}

fn compare(op: &str, a: &BV, b: &BV) -> Bool {
    match op {
        "eq" => a.eq(b),
        "ne" => a.eq(b).not(),
        "ult" => a.bvult(b),
        "ule" => a.bvule(b),
        "ugt" => a.bvugt(b),
        "uge" => a.bvuge(b),
        "slt" => a.bvslt(b),
        "sle" => a.bvsle(b),
        "sgt" => a.bvsgt(b),
        _ => a.bvsge(b),
    }
}

fn binary(op: &str, a: &BV, b: &BV) -> BV {
    match op {
        "add" => a.bvadd(b),
        "sub" => a.bvsub(b),
        "mul" => a.bvmul(b),
        "and" => a.bvand(b),
        "or" => a.bvor(b),
        "xor" => a.bvxor(b),
        "shl" => a.bvshl(b),
        "lshr" => a.bvlshr(b),
        "ashr" => a.bvashr(b),
        "udiv" => a.bvudiv(b),
        "urem" => a.bvurem(b),
        "sdiv" => a.bvsdiv(b),
        _ => a.bvsrem(b),
    }
}

fn oracle(exprs: &[Expr], objects: u32) -> Verdict {
    let solver = z3::Solver::new();
    let mut params = z3::Params::new();
    params.set_u32("rlimit", EFFORT);
    solver.set_params(&params);
    exprs.iter().for_each(|expr| solver.assert(to_bool(expr)));
    let addresses: Vec<BV> = (0..objects)
        .map(|object| BV::new_const(format!("addr{object}"), 64))
        .collect();
    for (i, address) in addresses.iter().enumerate() {
        let low = address.extract(31, 0);
        solver.assert(low.bvuge(BV::from_u64(LOW_MIN, 32)));
        solver.assert(low.bvule(BV::from_u64(LOW_MAX, 32)));
        for other in addresses.iter().skip(i + 1) {
            solver.assert(address.extract(63, 32).eq(other.extract(63, 32)).not());
        }
    }
    match solver.check() {
        z3::SatResult::Sat => Verdict::Feasible,
        z3::SatResult::Unsat => Verdict::Infeasible,
        z3::SatResult::Unknown => Verdict::Unknown,
    }
}

/// Shapes from small words, where contradictions are frequent, to the words and operators of real code.
fn shapes() -> Vec<Shape> {
    vec![
        Shape {
            depth: 3,
            ..Shape::small()
        },
        Shape {
            widths: vec![8, 4],
            depth: 3,
            ..Shape::small()
        },
        Shape {
            depth: 2,
            operators: 8,
            ..Shape::wide()
        },
        Shape {
            widths: vec![64, 32],
            objects: 4,
            functions: 1,
            depth: 2,
            operators: 8,
            ..Shape::wide()
        },
        Shape {
            widths: vec![32],
            symbols_per_sort: 2,
            booleans: 1,
            objects: 0,
            depth: 2,
            operators: 9,
            ..Shape::wide()
        },
        Shape {
            widths: vec![16, 8],
            objects: 0,
            depth: 3,
            ..Shape::wide()
        },
    ]
}

fn conjuncts(shape: &Shape, bytes: &[u8]) -> Vec<Expr> {
    let mut tape = Tape::new(bytes);
    let count = 1 + tape.below(8);
    (0..count)
        .map(|_| shape.boolean(&mut tape, shape.depth))
        .collect()
}

/// Seeds tried for each query that is counted: those that the constructors decide alone are not.
const SEEDS_PER_QUERY: u64 = 6;

#[derive(Default)]
struct Tally {
    queries: u64,
    infeasible: u64,
    unknown_to_us: u64,
    unknown_to_z3: u64,
    stages: [u64; 4],
}

impl Tally {
    /// Compares one query; trivial ones are compared but not counted.
    fn compare(&mut self, seed: u64, shape: &Shape) {
        let exprs = conjuncts(shape, &random_bytes(seed, 240));
        let mut terms = Terms::new();
        let list: Vec<_> = exprs.iter().map(|expr| expr.build(&mut terms)).collect();
        let answer = check(&mut terms, &list, &Budget::default());
        self.stages[answer.stage as usize] += 1;
        if answer.stage == Stage::Trivial && !seed.is_multiple_of(16) {
            return;
        }
        let expected = oracle(&exprs, shape.objects);
        if answer.verdict != Verdict::Unknown && expected != Verdict::Unknown {
            assert_eq!(
                answer.verdict, expected,
                "query {seed} by {:?}: {exprs:#?}",
                answer.stage
            );
        }
        // The translation of terms, on a part of the queries to save time.
        if seed % 16 == 1 && expected != Verdict::Unknown {
            let translated = check_by_z3(&terms, &list, EFFORT);
            assert!(
                translated == Verdict::Unknown || translated == expected,
                "query {seed} as terms: {exprs:#?}"
            );
        }
        if answer.stage != Stage::Trivial {
            self.queries += 1;
            self.infeasible += u64::from(expected == Verdict::Infeasible);
            self.unknown_to_us += u64::from(answer.verdict == Verdict::Unknown);
            self.unknown_to_z3 += u64::from(expected == Verdict::Unknown);
        }
    }
}

#[test]
fn agrees_on_generated_queries() {
    let wanted = std::env::var("DRIP_Z3_QUERIES")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(QUERIES);
    let shapes = shapes();
    let mut tally = Tally::default();
    for seed in 0..wanted * SEEDS_PER_QUERY {
        if tally.queries >= wanted {
            break;
        }
        tally.compare(seed, &shapes[seed as usize % shapes.len()]);
    }
    let Tally {
        queries,
        infeasible,
        unknown_to_us,
        unknown_to_z3,
        stages,
    } = tally;
    println!(
        "{queries} queries, {infeasible} infeasible; unknown to us {unknown_to_us}, to Z3 {unknown_to_z3}; \
         trivial {}, filter {}, intervals {}, SAT {}",
        stages[Stage::Trivial as usize],
        stages[Stage::Filter as usize],
        stages[Stage::Intervals as usize],
        stages[Stage::Sat as usize],
    );
    assert!(
        queries >= wanted,
        "only {queries} queries of {wanted} were not trivial"
    );
    assert!(
        unknown_to_us * 100 <= queries,
        "{unknown_to_us} of {queries} unknown"
    );
    assert!(
        unknown_to_z3 * 100 <= queries,
        "Z3 gave up on {unknown_to_z3} of {queries}"
    );
    assert!(
        infeasible * 10 >= queries,
        "only {infeasible} infeasible queries: the generator is too kind"
    );
}
