//! Conditions in Z3's language: the oracle that the tests compare the stages with.
//!
//! Only with the Cargo feature `z3`, which needs libz3 to build; nothing in drip depends on it. The translation is as
//! literal as possible, address axioms included, so that a disagreement points at our own stages.

use rustc_hash::FxHashMap;
use z3::ast::{Ast, BV, Bool, Dynamic};
use z3::{FuncDecl, Params, SatResult, Solver, Sort as Z3Sort};

use crate::Terms;
use crate::address::{LOW_BITS, LOW_MAX, LOW_MIN};
use crate::answer::Verdict;
use crate::term::{BinOp, Sort, TermId, TermKind};

/// Terms that have been translated.
#[derive(Default)]
struct Translation {
    known: FxHashMap<TermId, Dynamic>,
    addresses: Vec<BV>,
}

/// Decides a conjunction by Z3. `effort` is Z3's resource limit, 0 for none; beyond it the verdict is unknown.
pub fn check_by_z3(terms: &Terms, conjunction: &[TermId], effort: u32) -> Verdict {
    let mut translation = Translation::default();
    for t in terms.subterms(conjunction) {
        let translated = translation.translate(terms, t);
        translation.known.insert(t, translated);
    }
    let solver = Solver::new();
    if effort > 0 {
        let mut params = Params::new();
        params.set_u32("rlimit", effort);
        solver.set_params(&params);
    }
    for &t in conjunction {
        solver.assert(translation.bool(t));
    }
    translation.state_axioms(&solver);
    match solver.check() {
        SatResult::Sat => Verdict::Feasible,
        SatResult::Unsat => Verdict::Infeasible,
        SatResult::Unknown => Verdict::Unknown,
    }
}

/// Panics if Z3 disagrees with the answer: a run of any test suite with the feature `z3-check` checks all its queries.
#[cfg(feature = "z3-check")]
pub(crate) fn assert_agreement(terms: &Terms, conjunction: &[TermId], verdict: Verdict) {
    /// Z3's resource limit for one comparison.
    const EFFORT: u32 = 4_000_000;
    let expected = check_by_z3(terms, conjunction, EFFORT);
    let text = || {
        let names = |sym: crate::term::SymId| sym.to_string();
        let list: Vec<String> = conjunction
            .iter()
            .map(|&t| terms.display(t, &names))
            .collect();
        list.join("\n")
    };
    if verdict != Verdict::Unknown && expected != Verdict::Unknown {
        assert_eq!(verdict, expected, "Z3 disagrees on\n{}", text());
    }
}

impl Translation {
    fn get(&self, t: TermId) -> Dynamic {
        self.known
            .get(&t)
            .cloned()
            .unwrap_or_else(|| Bool::from_bool(false).into())
    }

    fn bool(&self, t: TermId) -> Bool {
        self.get(t)
            .as_bool()
            .unwrap_or_else(|| Bool::from_bool(false))
    }

    fn word(&self, t: TermId) -> BV {
        self.get(t).as_bv().unwrap_or_else(|| BV::from_u64(0, 1))
    }

    fn state_axioms(&self, solver: &Solver) {
        let mut highs = Vec::new();
        for address in &self.addresses {
            let low = address.extract(LOW_BITS - 1, 0);
            solver.assert(low.bvuge(BV::from_u64(LOW_MIN, LOW_BITS)));
            solver.assert(low.bvule(BV::from_u64(LOW_MAX, LOW_BITS)));
            highs.push(address.extract(63, LOW_BITS));
        }
        for (i, high) in highs.iter().enumerate() {
            for other in highs.iter().skip(i + 1) {
                solver.assert(high.eq(other).not());
            }
        }
    }

    fn translate(&mut self, terms: &Terms, t: TermId) -> Dynamic {
        let sort = terms.sort(t);
        let width = sort.width();
        match terms.kind(t) {
            TermKind::Bool(value) => Bool::from_bool(*value).into(),
            TermKind::Int(value) => BV::from_u64(*value, width).into(),
            TermKind::Sym(sym) => match sort {
                Sort::Bool => Bool::new_const(format!("b{}", sym.0)).into(),
                Sort::Bits(_) => BV::new_const(format!("s{}", sym.0), width).into(),
            },
            TermKind::Addr(object) => {
                let address = BV::new_const(format!("addr{}", object.0), width);
                self.addresses.push(address.clone());
                address.into()
            }
            TermKind::App(function, args) => {
                let domain: Vec<Z3Sort> =
                    args.iter().map(|&arg| z3_sort(terms.sort(arg))).collect();
                let domain: Vec<&Z3Sort> = domain.iter().collect();
                let declaration =
                    FuncDecl::new(format!("f{}_{width}", function.0), &domain, &z3_sort(sort));
                let args: Vec<Dynamic> = args.iter().map(|&arg| self.get(arg)).collect();
                let args: Vec<&dyn Ast> = args.iter().map(|arg| arg as &dyn Ast).collect();
                declaration.apply(&args)
            }
            TermKind::Not(a) => self.bool(*a).not().into(),
            TermKind::And(list) => {
                let parts: Vec<Bool> = list.iter().map(|&part| self.bool(part)).collect();
                Bool::and(&parts).into()
            }
            TermKind::Or(list) => {
                let parts: Vec<Bool> = list.iter().map(|&part| self.bool(part)).collect();
                Bool::or(&parts).into()
            }
            TermKind::Ite(c, a, b) => self.bool(*c).ite(&self.get(*a), &self.get(*b)),
            TermKind::Eq(a, b) => self.get(*a).eq(self.get(*b)).into(),
            TermKind::Ult(a, b) => self.word(*a).bvult(self.word(*b)).into(),
            TermKind::Slt(a, b) => self.word(*a).bvslt(self.word(*b)).into(),
            TermKind::Linear(sum) => {
                let constant = BV::from_u64(sum.constant, width);
                let total = sum.terms.iter().fold(constant, |total, &(x, coefficient)| {
                    total.bvadd(self.word(x).bvmul(BV::from_u64(coefficient, width)))
                });
                total.into()
            }
            TermKind::Binary(op, a, b) => binary(*op, &self.word(*a), &self.word(*b)).into(),
            TermKind::Zext(a) => self.word(*a).zero_ext(width - terms.width(*a)).into(),
            TermKind::Sext(a) => self.word(*a).sign_ext(width - terms.width(*a)).into(),
            TermKind::Trunc(a) => self.word(*a).extract(width - 1, 0).into(),
        }
    }
}

fn z3_sort(sort: Sort) -> Z3Sort {
    match sort {
        Sort::Bool => Z3Sort::bool(),
        Sort::Bits(width) => Z3Sort::bitvector(width),
    }
}

fn binary(op: BinOp, a: &BV, b: &BV) -> BV {
    match op {
        BinOp::Mul => a.bvmul(b),
        BinOp::UDiv => a.bvudiv(b),
        BinOp::SDiv => a.bvsdiv(b),
        BinOp::URem => a.bvurem(b),
        BinOp::SRem => a.bvsrem(b),
        BinOp::Shl => a.bvshl(b),
        BinOp::LShr => a.bvlshr(b),
        BinOp::AShr => a.bvashr(b),
        BinOp::And => a.bvand(b),
        BinOp::Or => a.bvor(b),
        BinOp::Xor => a.bvxor(b),
    }
}
