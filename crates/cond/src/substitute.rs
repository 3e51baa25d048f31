//! How does a term look with some of its parts replaced?
//!
//! The term is rebuilt bottom-up through the constructors, so the result is simplified again. Replaced parts are not
//! looked into a second time: the substitution is simultaneous.

use rustc_hash::FxHashMap;

use crate::Terms;
use crate::term::{BinOp, TermId, TermKind};

impl Terms {
    /// The term with every occurrence of a key replaced by its value.
    pub fn substitute(&mut self, t: TermId, map: &FxHashMap<TermId, TermId>) -> TermId {
        self.substitute_all(&[t], map).first().copied().unwrap_or(t)
    }

    /// Several terms at once, sharing the work on common parts.
    pub fn substitute_all(
        &mut self,
        roots: &[TermId],
        map: &FxHashMap<TermId, TermId>,
    ) -> Vec<TermId> {
        let mut done: FxHashMap<TermId, TermId> = FxHashMap::default();
        for t in self.subterms(roots) {
            let new = match map.get(&t) {
                Some(&replacement) => replacement,
                None => self.rebuild(t, &done),
            };
            if new != t {
                done.insert(t, new);
            }
        }
        roots
            .iter()
            .map(|t| done.get(t).copied().unwrap_or(*t))
            .collect()
    }

    /// The term over new operands; `done` holds only the operands that changed.
    pub(crate) fn rebuild(&mut self, t: TermId, done: &FxHashMap<TermId, TermId>) -> TermId {
        let mut changed = false;
        self.kind(t)
            .for_each_child(|child| changed |= done.contains_key(&child));
        if !changed {
            return t;
        }
        let new = |t: TermId| done.get(&t).copied().unwrap_or(t);
        let all = |list: &[TermId]| -> Vec<TermId> { list.iter().map(|&t| new(t)).collect() };
        let sort = self.sort(t);
        match self.kind(t).clone() {
            TermKind::Bool(_) | TermKind::Int(_) | TermKind::Sym(_) | TermKind::Addr(_) => t,
            TermKind::App(function, args) => self.app(function, &all(&args), sort),
            TermKind::Not(a) => self.not(new(a)),
            TermKind::And(list) => self.and(&all(&list)),
            TermKind::Or(list) => self.or(&all(&list)),
            TermKind::Ite(c, a, b) => self.ite(new(c), new(a), new(b)),
            TermKind::Eq(a, b) => self.eq(new(a), new(b)),
            TermKind::Ult(a, b) => self.ult(new(a), new(b)),
            TermKind::Slt(a, b) => self.slt(new(a), new(b)),
            TermKind::Linear(sum) => {
                let mut total = self.int(sort.width(), sum.constant);
                for &(x, coefficient) in &sum.terms {
                    let part = self.scale(new(x), coefficient);
                    total = self.add(total, part);
                }
                total
            }
            TermKind::Binary(op, a, b) => self.apply_op(op, new(a), new(b)),
            TermKind::Zext(a) => self.zext(new(a), sort.width()),
            TermKind::Sext(a) => self.sext(new(a), sort.width()),
            TermKind::Trunc(a) => self.trunc(new(a), sort.width()),
        }
    }

    /// The constructor of an operator.
    pub fn apply_op(&mut self, op: BinOp, a: TermId, b: TermId) -> TermId {
        match op {
            BinOp::Mul => self.mul(a, b),
            BinOp::UDiv => self.udiv(a, b),
            BinOp::SDiv => self.sdiv(a, b),
            BinOp::URem => self.urem(a, b),
            BinOp::SRem => self.srem(a, b),
            BinOp::Shl => self.shl(a, b),
            BinOp::LShr => self.lshr(a, b),
            BinOp::AShr => self.ashr(a, b),
            BinOp::And => self.band(a, b),
            BinOp::Or => self.bor(a, b),
            BinOp::Xor => self.bxor(a, b),
        }
    }
}
