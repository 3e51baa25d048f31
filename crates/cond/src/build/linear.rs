//! Sums with constant coefficients, the normal form of add, sub, neg, multiplication and left shift by constants.
//!
//! All arithmetic is modulo 2^width, where these operators are exactly the linear ones; so `x + y - x` is `y` and
//! `(x << 1) + x` is `3 * x` without further rules. A negated sum `-x - 1` is kept as the bitwise complement of `x`.

use crate::Terms;
use crate::term::{BinOp, Linear, Sort, TermId, TermKind, mask};

/// Summands beyond which two sums are not merged but added as opaque operands. Beyond it, equal sums built in a different
/// order may be different terms.
const MAX_SUMMANDS: usize = 24;

/// A sum under construction.
pub(crate) struct Sum {
    pub(crate) width: u32,
    /// Ascending by term, no zero coefficients.
    pub(crate) terms: Vec<(TermId, u64)>,
    pub(crate) constant: u64,
}

impl Sum {
    fn scale(&mut self, factor: u64) {
        let m = mask(self.width);
        self.constant = self.constant.wrapping_mul(factor) & m;
        for (_, coefficient) in &mut self.terms {
            *coefficient = coefficient.wrapping_mul(factor) & m;
        }
        self.terms.retain(|&(_, coefficient)| coefficient != 0);
    }

    fn merge(&mut self, other: &Sum) {
        let m = mask(self.width);
        self.constant = self.constant.wrapping_add(other.constant) & m;
        for &(t, coefficient) in &other.terms {
            match self.terms.binary_search_by_key(&t, |&(t, _)| t) {
                Ok(at) => {
                    if let Some((_, mine)) = self.terms.get_mut(at) {
                        *mine = mine.wrapping_add(coefficient) & m;
                    }
                }
                Err(at) => self.terms.insert(at, (t, coefficient & m)),
            }
        }
        self.terms.retain(|&(_, coefficient)| coefficient != 0);
    }
}

impl Terms {
    /// Reads a bit-vector as a sum.
    pub(crate) fn sum_of(&self, t: TermId) -> Sum {
        let width = self.width(t);
        match self.kind(t) {
            TermKind::Int(value) => Sum {
                width,
                terms: Vec::new(),
                constant: *value,
            },
            TermKind::Linear(sum) => Sum {
                width,
                terms: sum.terms.to_vec(),
                constant: sum.constant,
            },
            // ~x is -x - 1; read as a sum only where the complement is of all bits.
            TermKind::Binary(BinOp::Xor, x, ones) if self.as_int(*ones) == Some(mask(width)) => {
                let mut sum = self.sum_of(*x);
                sum.scale(mask(width));
                sum.constant = sum.constant.wrapping_sub(1) & mask(width);
                sum
            }
            _ => Sum {
                width,
                terms: vec![(t, 1)],
                constant: 0,
            },
        }
    }

    /// The difference of two bit-vectors of one width, as a sum.
    pub(crate) fn difference(&self, a: TermId, b: TermId) -> Sum {
        let mut sum = self.sum_of(a);
        let mut other = self.sum_of(b);
        other.scale(u64::MAX);
        sum.merge(&other);
        sum
    }

    /// The term of a sum.
    pub(crate) fn term_of_sum(&mut self, sum: Sum) -> TermId {
        let m = mask(sum.width);
        match sum.terms[..] {
            [] => self.int(sum.width, sum.constant),
            [(t, 1)] if sum.constant == 0 => t,
            [(t, c)] => {
                let (constant, width) = (sum.constant, sum.width);
                let apply = move |x: u64| x.wrapping_mul(c).wrapping_add(constant) & mask(width);
                if let Some(mapped) = self.map_constant_branches(t, width, &apply) {
                    mapped
                } else if c == m && constant == m && width > 1 {
                    let ones = self.int(width, m);
                    self.intern(Sort::Bits(width), TermKind::Binary(BinOp::Xor, t, ones))
                } else {
                    self.intern_sum(sum)
                }
            }
            _ => self.intern_sum(sum),
        }
    }

    fn intern_sum(&mut self, sum: Sum) -> TermId {
        let kind = TermKind::Linear(Linear {
            terms: sum.terms.into(),
            constant: sum.constant,
        });
        self.intern(Sort::Bits(sum.width), kind)
    }

    /// `f(c ? K1 : K2)` is `c ? f(K1) : f(K2)`; `None` if the term is not a choice between constants.
    pub(crate) fn map_constant_branches(
        &mut self,
        t: TermId,
        width: u32,
        f: &dyn Fn(u64) -> u64,
    ) -> Option<TermId> {
        let TermKind::Ite(c, a, b) = *self.kind(t) else {
            return None;
        };
        let (x, y) = (self.as_int(a)?, self.as_int(b)?);
        let (a, b) = (self.int(width, f(x)), self.int(width, f(y)));
        Some(self.ite(c, a, b))
    }

    fn add_scaled(&mut self, a: TermId, b: TermId, factor: u64) -> TermId {
        let (a, b) = self.same_sort(a, b);
        let (a, b) = (self.bits(a), self.bits(b));
        let (mut sum, mut other) = (self.sum_of(a), self.sum_of(b));
        if sum.terms.len() + other.terms.len() > MAX_SUMMANDS {
            let opaque = |t: TermId, long: bool, sum: Sum| {
                if long {
                    Sum {
                        width: sum.width,
                        terms: vec![(t, 1)],
                        constant: 0,
                    }
                } else {
                    sum
                }
            };
            let (long_a, long_b) = (
                sum.terms.len() > MAX_SUMMANDS / 2,
                other.terms.len() > MAX_SUMMANDS / 2,
            );
            sum = opaque(a, long_a, sum);
            other = opaque(b, long_b, other);
        }
        other.scale(factor);
        sum.merge(&other);
        self.term_of_sum(sum)
    }

    /// Sum.
    pub fn add(&mut self, a: TermId, b: TermId) -> TermId {
        self.add_scaled(a, b, 1)
    }

    /// Difference.
    pub fn sub(&mut self, a: TermId, b: TermId) -> TermId {
        self.add_scaled(a, b, u64::MAX)
    }

    /// Additive inverse.
    pub fn neg(&mut self, a: TermId) -> TermId {
        self.scale(a, u64::MAX)
    }

    /// Bitwise complement.
    pub fn bnot(&mut self, a: TermId) -> TermId {
        if self.sort(a) == Sort::Bool {
            return self.not(a);
        }
        let ones = self.int(self.width(a), u64::MAX);
        self.bxor(a, ones)
    }

    /// The term times a constant.
    pub(crate) fn scale(&mut self, a: TermId, factor: u64) -> TermId {
        let a = self.bits(a);
        let mut sum = self.sum_of(a);
        sum.scale(factor);
        self.term_of_sum(sum)
    }
}
