//! Equalities.
//!
//! `a == b` is read as `a - b == 0`, a sum. A constant sum decides; one unknown is solved for where its coefficient is
//! odd; otherwise the positive summands stay left, the others and the constant go right, with the sign fixed by the
//! first summand: so `x + 1 == y` and `y - 1 == x` are one atom. A single unknown against a constant is then pushed
//! through casts, masks, exclusive ors, shifts and if-then-else.

use crate::Terms;
use crate::address::{can_be_address, too_close};
use crate::build::linear::Sum;
use crate::build::{CHAIN, FORK};
use crate::term::{BinOp, Sort, TermId, TermKind, mask, to_signed};

impl Terms {
    /// Equality, of any sort.
    pub fn eq(&mut self, a: TermId, b: TermId) -> TermId {
        let (a, b) = self.same_sort(a, b);
        if a == b {
            return Terms::TRUE;
        }
        if self.sort(a) == Sort::Bool {
            return self.iff(a, b);
        }
        let sum = self.difference(a, b);
        self.sum_is_zero(sum)
    }

    /// Disequality.
    pub fn ne(&mut self, a: TermId, b: TermId) -> TermId {
        let equal = self.eq(a, b);
        self.not(equal)
    }

    fn sum_is_zero(&mut self, mut sum: Sum) -> TermId {
        let (width, m) = (sum.width, mask(sum.width));
        match sum.terms[..] {
            [] => return self.bool(sum.constant == 0),
            [(x, coefficient)] => return self.solve_for(x, coefficient, sum.constant, width),
            [(a, p), (b, q)]
                if self.are_addresses(a, b)
                    && p.wrapping_add(q) & m == 0
                    && (p == 1 || q == 1)
                    && too_close(sum.constant) =>
            {
                return Terms::FALSE;
            }
            _ => {}
        }
        let common_zeros = sum
            .terms
            .iter()
            .map(|&(_, c)| c.trailing_zeros())
            .min()
            .unwrap_or(0);
        if sum.constant.trailing_zeros() < common_zeros {
            return Terms::FALSE;
        }
        let half = 1u64 << (width - 1);
        if sum.terms.first().is_some_and(|&(_, c)| c > half) {
            for (_, c) in &mut sum.terms {
                *c = c.wrapping_neg() & m;
            }
            sum.constant = sum.constant.wrapping_neg() & m;
        }
        self.split_equality(sum)
    }

    /// Positive summands left, the rest right.
    fn split_equality(&mut self, sum: Sum) -> TermId {
        let (width, m) = (sum.width, mask(sum.width));
        let half = 1u64 << (width - 1);
        let (mut left, mut right) = (Vec::new(), Vec::new());
        for &(t, c) in &sum.terms {
            if left.is_empty() || c < half {
                left.push((t, c));
            } else {
                right.push((t, c.wrapping_neg() & m));
            }
        }
        let left = self.term_of_sum(Sum {
            width,
            terms: left,
            constant: 0,
        });
        let constant = sum.constant.wrapping_neg() & m;
        let right = self.term_of_sum(Sum {
            width,
            terms: right,
            constant,
        });
        match self.equal_shapes(left, right) {
            Some(simpler) => simpler,
            None => self.intern(Sort::Bool, TermKind::Eq(left, right)),
        }
    }

    fn are_addresses(&self, a: TermId, b: TermId) -> bool {
        matches!(self.kind(a), TermKind::Addr(_)) && matches!(self.kind(b), TermKind::Addr(_))
    }

    /// `coefficient * x + constant == 0`.
    fn solve_for(&mut self, x: TermId, coefficient: u64, constant: u64, width: u32) -> TermId {
        let zeros = coefficient.trailing_zeros();
        if constant.trailing_zeros() < zeros {
            return Terms::FALSE;
        }
        let odd = coefficient >> zeros;
        let target = constant.wrapping_neg().wrapping_mul(inverse_of_odd(odd)) & mask(width);
        if zeros == 0 {
            return self.eq_const(x, target);
        }
        // 2^zeros * x fixes only the low bits of x.
        let kept = self.int(width, mask(width - zeros));
        let low = self.band(x, kept);
        self.eq_const(low, target >> zeros)
    }

    /// `x == value`, pushed into `x`.
    fn eq_const(&mut self, x: TermId, value: u64) -> TermId {
        let width = self.width(x);
        match *self.kind(x) {
            TermKind::Int(k) => self.bool(k == value),
            TermKind::Linear(_) => {
                let k = self.int(width, value);
                let sum = self.difference(x, k);
                // Only a sum of one unknown gets simpler by solving it again; others are split once.
                self.sum_is_zero(sum)
            }
            TermKind::Addr(_) if !can_be_address(value) => Terms::FALSE,
            TermKind::Zext(inner) => {
                if value > mask(self.width(inner)) {
                    return Terms::FALSE;
                }
                self.eq_const(inner, value)
            }
            TermKind::Sext(inner) => {
                let narrow = self.width(inner);
                if to_signed(value, narrow) != to_signed(value, width) {
                    return Terms::FALSE;
                }
                self.eq_const(inner, value & mask(narrow))
            }
            TermKind::Trunc(inner) => {
                let wide = self.width(inner);
                let low = self.int(wide, mask(width));
                let masked = self.band(inner, low);
                self.eq_const(masked, value)
            }
            TermKind::Ite(c, a, b) => {
                match self.lift_comparison(c, a, b, |terms, t| terms.eq_const(t, value)) {
                    Some(lifted) => lifted,
                    None => self.eq_atom(x, value),
                }
            }
            TermKind::Binary(op, a, b) => match self.eq_const_binary(op, a, b, x, value) {
                Some(simpler) => simpler,
                None => self.eq_atom(x, value),
            },
            _ => self.eq_atom(x, value),
        }
    }

    fn eq_atom(&mut self, x: TermId, value: u64) -> TermId {
        let k = self.int(self.width(x), value);
        self.intern(Sort::Bool, TermKind::Eq(x, k))
    }

    fn eq_const_binary(
        &mut self,
        op: BinOp,
        a: TermId,
        b: TermId,
        x: TermId,
        value: u64,
    ) -> Option<TermId> {
        let width = self.width(x);
        let ones = mask(width);
        let constant = self.as_int(b);
        match (op, constant) {
            (BinOp::Xor, Some(k)) => Some(self.eq_const(a, value ^ k)),
            (BinOp::Xor, None) if value == 0 => Some(self.eq(a, b)),
            (BinOp::And, Some(m)) if value & !m != 0 => Some(Terms::FALSE),
            // One bit is either set or not: `(x & 4) == 4` is `(x & 4) != 0`.
            (BinOp::And, Some(m)) if m.is_power_of_two() && value == m => {
                let zero = self.eq_atom(x, 0);
                Some(self.not(zero))
            }
            (BinOp::Or, Some(m)) if value & m != m => Some(Terms::FALSE),
            (BinOp::Or, Some(m)) => {
                let rest = self.int(width, !m);
                let masked = self.band(a, rest);
                Some(self.eq_const(masked, value & !m))
            }
            (BinOp::Or, None) if value == 0 => self.both_equal(a, b, 0),
            (BinOp::And, None) if value == ones => self.both_equal(a, b, ones),
            (BinOp::LShr, Some(k)) if k < u64::from(width) => {
                if value > ones >> k {
                    return Some(Terms::FALSE);
                }
                let high = self.int(width, ones << k);
                let masked = self.band(a, high);
                Some(self.eq_const(masked, (value << k) & ones))
            }
            (BinOp::URem, Some(k)) if k != 0 && value >= k => Some(Terms::FALSE),
            _ => None,
        }
    }

    fn both_equal(&mut self, a: TermId, b: TermId, value: u64) -> Option<TermId> {
        self.pushing(FORK, |terms| {
            let (a, b) = (terms.eq_const(a, value), terms.eq_const(b, value));
            terms.and(&[a, b])
        })
    }

    /// A comparison of `c ? a : b` with a constant, where one branch is decided by it.
    pub(crate) fn lift_comparison(
        &mut self,
        c: TermId,
        a: TermId,
        b: TermId,
        mut compare: impl FnMut(&mut Terms, TermId) -> TermId,
    ) -> Option<TermId> {
        if !self.is_fixed(a) && !self.is_fixed(b) {
            return None;
        }
        self.pushing(CHAIN, |terms| {
            let (then, other) = (compare(terms, a), compare(terms, b));
            terms.ite(c, then, other)
        })
    }

    /// Equality of two unknowns whose shapes decide or reduce it.
    fn equal_shapes(&mut self, a: TermId, b: TermId) -> Option<TermId> {
        match (self.kind(a).clone(), self.kind(b).clone()) {
            (_, TermKind::Int(value)) if !matches!(self.kind(a), TermKind::Linear(_)) => {
                Some(self.eq_const(a, value))
            }
            (TermKind::Zext(x), TermKind::Zext(y)) | (TermKind::Sext(x), TermKind::Sext(y))
                if self.width(x) == self.width(y) =>
            {
                Some(self.eq(x, y))
            }
            (TermKind::Ite(c, x, y), TermKind::Ite(d, z, w)) if c == d => {
                self.pushing(FORK, |terms| {
                    let (then, other) = (terms.eq(x, z), terms.eq(y, w));
                    terms.ite(c, then, other)
                })
            }
            (TermKind::Ite(c, x, y), _) if self.branch_decides(x, y, b) => {
                self.branch_equals(c, x, y, b)
            }
            (_, TermKind::Ite(c, x, y)) if self.branch_decides(x, y, a) => {
                self.branch_equals(c, x, y, a)
            }
            _ => None,
        }
    }

    /// Whether one of the branches is the term itself, or a place that is compared with another place.
    fn branch_decides(&self, x: TermId, y: TermId, t: TermId) -> bool {
        x == t || y == t || self.is_fixed(t) && (self.is_fixed(x) || self.is_fixed(y))
    }

    /// Whether the term is a constant or a place at a constant offset from an object: comparisons of such terms with
    /// one another nearly always fold.
    fn is_fixed(&self, t: TermId) -> bool {
        match self.kind(t) {
            TermKind::Int(_) | TermKind::Addr(_) => true,
            TermKind::Linear(sum) => match sum.terms[..] {
                [(x, 1)] => matches!(self.kind(x), TermKind::Addr(_)),
                _ => false,
            },
            _ => false,
        }
    }

    /// `(c ? x : y) == t`, where a branch decides it.
    fn branch_equals(&mut self, c: TermId, x: TermId, y: TermId, t: TermId) -> Option<TermId> {
        self.pushing(CHAIN, |terms| {
            let (then, other) = (terms.eq(x, t), terms.eq(y, t));
            terms.ite(c, then, other)
        })
    }
}

/// The inverse of an odd number modulo 2^64, by Newton's iteration.
fn inverse_of_odd(odd: u64) -> u64 {
    let mut inverse = odd;
    for _ in 0..5 {
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(inverse)));
    }
    inverse
}
