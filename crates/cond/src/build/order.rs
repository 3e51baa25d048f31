//! Orders, unsigned and signed.
//!
//! Only the strict orders are kept: `a <= b` is the negation of `b < a`. A constant stands on the right: `5 < x` is
//! the negation of `x < 6`. Orders that mean an equality become one, `x <u half` becomes a sign test, and a comparison
//! with a constant moves through casts, masks, shifts, divisions and if-then-else.

use crate::Terms;
use crate::term::{BinOp, Sort, TermId, TermKind, mask, sign_bit, to_signed};

impl Terms {
    /// Unsigned less-than.
    pub fn ult(&mut self, a: TermId, b: TermId) -> TermId {
        self.less(a, b, false)
    }

    /// Unsigned less-or-equal.
    pub fn ule(&mut self, a: TermId, b: TermId) -> TermId {
        let greater = self.less(b, a, false);
        self.not(greater)
    }

    /// Unsigned greater-than.
    pub fn ugt(&mut self, a: TermId, b: TermId) -> TermId {
        self.ult(b, a)
    }

    /// Unsigned greater-or-equal.
    pub fn uge(&mut self, a: TermId, b: TermId) -> TermId {
        self.ule(b, a)
    }

    /// Signed less-than.
    pub fn slt(&mut self, a: TermId, b: TermId) -> TermId {
        self.less(a, b, true)
    }

    /// Signed less-or-equal.
    pub fn sle(&mut self, a: TermId, b: TermId) -> TermId {
        let greater = self.less(b, a, true);
        self.not(greater)
    }

    /// Signed greater-than.
    pub fn sgt(&mut self, a: TermId, b: TermId) -> TermId {
        self.slt(b, a)
    }

    /// Signed greater-or-equal.
    pub fn sge(&mut self, a: TermId, b: TermId) -> TermId {
        self.sle(b, a)
    }

    fn less(&mut self, a: TermId, b: TermId, signed: bool) -> TermId {
        let (a, b) = self.same_sort(a, b);
        let (a, b) = (self.bits(a), self.bits(b));
        if a == b {
            return Terms::FALSE;
        }
        let width = self.width(a);
        match (self.as_int(a), self.as_int(b)) {
            (Some(x), Some(y)) if signed => self.bool(to_signed(x, width) < to_signed(y, width)),
            (Some(x), Some(y)) => self.bool(x < y),
            (None, Some(k)) => self.less_const(a, k, signed),
            (Some(k), None) => {
                let largest = if signed {
                    mask(width) >> 1
                } else {
                    mask(width)
                };
                if k == largest {
                    return Terms::FALSE;
                }
                let at_most = self.less_const(b, k.wrapping_add(1) & mask(width), signed);
                self.not(at_most)
            }
            (None, None) => self.less_unknown(a, b, signed),
        }
    }

    fn less_unknown(&mut self, a: TermId, b: TermId, signed: bool) -> TermId {
        match (self.kind(a), self.kind(b)) {
            (&TermKind::Zext(x), &TermKind::Zext(y)) if self.width(x) == self.width(y) => {
                self.less(x, y, false)
            }
            (&TermKind::Sext(x), &TermKind::Sext(y)) if self.width(x) == self.width(y) => {
                self.less(x, y, signed)
            }
            _ if signed && self.is_non_negative(a) && self.is_non_negative(b) => {
                self.less_atom(a, b, false)
            }
            _ => self.less_atom(a, b, signed),
        }
    }

    fn less_atom(&mut self, a: TermId, b: TermId, signed: bool) -> TermId {
        let kind = if signed {
            TermKind::Slt(a, b)
        } else {
            TermKind::Ult(a, b)
        };
        self.intern(Sort::Bool, kind)
    }

    /// `x < k`, pushed into `x`.
    fn less_const(&mut self, x: TermId, k: u64, signed: bool) -> TermId {
        let width = self.width(x);
        let (m, half) = (mask(width), sign_bit(width));
        let (least, most) = if signed { (half, m >> 1) } else { (0, m) };
        if let Some(value) = self.as_int(x) {
            return self.bool(if signed {
                to_signed(value, width) < to_signed(k, width)
            } else {
                value < k
            });
        }
        if k == least {
            return Terms::FALSE;
        }
        if k == least.wrapping_add(1) & m {
            let bound = self.int(width, least);
            return self.eq(x, bound);
        }
        if k == most {
            let bound = self.int(width, most);
            return self.ne(x, bound);
        }
        if let Some(simpler) = self.less_const_shape(x, k, signed) {
            return simpler;
        }
        if !signed && k == half {
            let negative = self.less_const(x, 0, true);
            return self.not(negative);
        }
        if signed && self.is_non_negative(x) {
            return if to_signed(k, width) <= 0 {
                Terms::FALSE
            } else {
                self.less_const(x, k, false)
            };
        }
        let k = self.int(width, k);
        self.less_atom(x, k, signed)
    }

    fn less_const_shape(&mut self, x: TermId, k: u64, signed: bool) -> Option<TermId> {
        let width = self.width(x);
        match *self.kind(x) {
            TermKind::Zext(inner) => Some(self.less_const_zext(inner, k, width, signed)),
            TermKind::Sext(inner) => Some(self.less_const_sext(inner, k, width, signed)),
            TermKind::Ite(c, a, b) => {
                self.lift_comparison(c, a, b, |terms, t| terms.less_const(t, k, signed))
            }
            TermKind::Binary(op, a, b) if !signed => {
                let operand = self.as_int(b)?;
                self.less_const_binary(op, a, operand, k, width)
            }
            _ => None,
        }
    }

    fn less_const_zext(&mut self, inner: TermId, k: u64, width: u32, signed: bool) -> TermId {
        if signed && to_signed(k, width) <= 0 {
            Terms::FALSE
        } else if k > mask(self.width(inner)) {
            Terms::TRUE
        } else {
            self.less_const(inner, k, false)
        }
    }

    fn less_const_sext(&mut self, inner: TermId, k: u64, width: u32, signed: bool) -> TermId {
        let narrow = self.width(inner);
        let (value, low) = (to_signed(k, width), to_signed(sign_bit(narrow), narrow));
        let high = -(low + 1);
        if signed && value > high {
            Terms::TRUE
        } else if signed && value <= low {
            Terms::FALSE
        } else if (low..=high).contains(&value) {
            self.less_const(inner, k & mask(narrow), signed)
        } else {
            // Unsigned, with the bound in the gap between the non-negative and the negative values.
            let negative = self.less_const(inner, 0, true);
            self.not(negative)
        }
    }

    fn less_const_binary(
        &mut self,
        op: BinOp,
        a: TermId,
        operand: u64,
        k: u64,
        width: u32,
    ) -> Option<TermId> {
        let m = mask(width);
        match op {
            BinOp::And if k > operand => Some(Terms::TRUE),
            BinOp::LShr if operand < u64::from(width) => {
                if k > m >> operand {
                    Some(Terms::TRUE)
                } else {
                    Some(self.less_const(a, (k << operand) & m, false))
                }
            }
            BinOp::UDiv if operand != 0 => match k.checked_mul(operand) {
                Some(bound) if bound <= m => Some(self.less_const(a, bound, false)),
                _ => Some(Terms::TRUE),
            },
            BinOp::URem if operand != 0 && k >= operand => Some(Terms::TRUE),
            _ => None,
        }
    }
}
