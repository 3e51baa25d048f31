//! Changes of width.
//!
//! Casts of casts merge; truncation moves into sums and masks (the low bits depend on low bits only), so that C's
//! promotions to `int` and back cancel out; `(wide)(narrow)x` at the width of `x` is a mask.

use crate::Terms;
use crate::build::{CHAIN, FORK};
use crate::term::{BinOp, Linear, Sort, TermId, TermKind, mask, to_signed};

impl Terms {
    /// Extends by zeros to `width`; a boolean becomes 1 or 0.
    pub fn zext(&mut self, t: TermId, width: u32) -> TermId {
        let width = self.checked_width(width);
        let Some(from) = self.narrower(t, width) else {
            return self.recast(t, width);
        };
        match *self.kind(t) {
            TermKind::Int(value) => self.int(width, value),
            TermKind::Zext(inner) => self.zext(inner, width),
            TermKind::Trunc(inner) if self.width(inner) == width => {
                let low = self.int(width, mask(from));
                self.band(inner, low)
            }
            TermKind::Ite(c, a, b) if self.has_constant(a, b) => {
                let pushed = self.pushing(CHAIN, |terms| {
                    let (a, b) = (terms.zext(a, width), terms.zext(b, width));
                    terms.ite(c, a, b)
                });
                pushed.unwrap_or_else(|| self.intern(Sort::Bits(width), TermKind::Zext(t)))
            }
            _ => self.intern(Sort::Bits(width), TermKind::Zext(t)),
        }
    }

    /// Extends by the sign to `width`; a boolean becomes -1 or 0.
    pub fn sext(&mut self, t: TermId, width: u32) -> TermId {
        let width = self.checked_width(width);
        if self.sort(t) == Sort::Bool {
            let (ones, zero) = (self.int(width, u64::MAX), self.int(width, 0));
            return self.ite(t, ones, zero);
        }
        let Some(from) = self.narrower(t, width) else {
            return self.recast(t, width);
        };
        match *self.kind(t) {
            TermKind::Int(value) => self.int(width, to_signed(value, from) as u64),
            TermKind::Sext(inner) => self.sext(inner, width),
            _ if self.is_non_negative(t) => self.zext(t, width),
            TermKind::Ite(c, a, b) if self.has_constant(a, b) => {
                let pushed = self.pushing(CHAIN, |terms| {
                    let (a, b) = (terms.sext(a, width), terms.sext(b, width));
                    terms.ite(c, a, b)
                });
                pushed.unwrap_or_else(|| self.intern(Sort::Bits(width), TermKind::Sext(t)))
            }
            _ => self.intern(Sort::Bits(width), TermKind::Sext(t)),
        }
    }

    /// The low `width` bits.
    pub fn trunc(&mut self, t: TermId, width: u32) -> TermId {
        let width = self.checked_width(width);
        let from = self.width(t);
        if self.sort(t) == Sort::Bool || from <= width {
            return self.recast(t, width);
        }
        let pushed = match self.kind(t).clone() {
            TermKind::Int(value) => Some(self.int(width, value)),
            TermKind::Trunc(inner) => Some(self.trunc(inner, width)),
            TermKind::Zext(inner) if self.width(inner) >= width => Some(self.trunc(inner, width)),
            TermKind::Zext(inner) => Some(self.zext(inner, width)),
            TermKind::Sext(inner) if self.width(inner) >= width => Some(self.trunc(inner, width)),
            TermKind::Sext(inner) => Some(self.sext(inner, width)),
            TermKind::Linear(sum) => {
                let steps = if sum.terms.len() > 1 { FORK } else { CHAIN };
                self.pushing(steps, |terms| terms.trunc_sum(&sum, width))
            }
            TermKind::Binary(op @ (BinOp::And | BinOp::Or | BinOp::Xor), x, m)
                if self.as_int(m).is_some() =>
            {
                self.pushing(CHAIN, |terms| {
                    let (x, m) = (terms.trunc(x, width), terms.trunc(m, width));
                    match op {
                        BinOp::And => terms.band(x, m),
                        BinOp::Or => terms.bor(x, m),
                        _ => terms.bxor(x, m),
                    }
                })
            }
            TermKind::Ite(c, a, b) if self.has_constant(a, b) => self.pushing(CHAIN, |terms| {
                let (a, b) = (terms.trunc(a, width), terms.trunc(b, width));
                terms.ite(c, a, b)
            }),
            _ => None,
        };
        pushed.unwrap_or_else(|| self.intern(Sort::Bits(width), TermKind::Trunc(t)))
    }

    fn trunc_sum(&mut self, sum: &Linear, width: u32) -> TermId {
        let mut total = self.int(width, sum.constant);
        for &(x, coefficient) in &sum.terms {
            let low = self.trunc(x, width);
            let scaled = self.scale(low, coefficient);
            total = self.add(total, scaled);
        }
        total
    }

    fn has_constant(&self, a: TermId, b: TermId) -> bool {
        self.as_int(a).is_some() || self.as_int(b).is_some()
    }

    /// The width of a bit-vector that is really extended.
    fn narrower(&self, t: TermId, width: u32) -> Option<u32> {
        match self.sort(t) {
            Sort::Bits(from) if from < width => Some(from),
            _ => None,
        }
    }

    /// A cast that doesn't go the way its name says: to the same width, of a boolean, or ill-sorted.
    fn recast(&mut self, t: TermId, width: u32) -> TermId {
        match self.sort(t) {
            Sort::Bits(from) if from == width => t,
            Sort::Bool => self.as_bits(t, width),
            Sort::Bits(_) => {
                self.count_ill_sorted();
                self.as_bits(t, width)
            }
        }
    }
}
