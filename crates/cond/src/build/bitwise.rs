//! Products, quotients, bitwise operators and shifts.
//!
//! Constants fold; neutral and absorbing operands vanish; a commutative operator has its constant on the right and its
//! other operands ascending; division, remainder and left shift by powers of two become shifts, masks and sums.

use crate::Terms;
use crate::term::{BinOp, Sort, TermId, TermKind, mask};

impl Terms {
    /// Product.
    pub fn mul(&mut self, a: TermId, b: TermId) -> TermId {
        let (a, b) = self.operands(a, b);
        match (self.as_int(a), self.as_int(b)) {
            (_, Some(factor)) => self.scale(a, factor),
            (Some(factor), _) => self.scale(b, factor),
            _ => self.binary(BinOp::Mul, a, b),
        }
    }

    /// Unsigned quotient; all ones if the divisor is 0.
    pub fn udiv(&mut self, a: TermId, b: TermId) -> TermId {
        let (a, b) = self.operands(a, b);
        match self.as_int(b) {
            Some(divisor) if divisor.is_power_of_two() => {
                let by = self.int(self.width(a), u64::from(divisor.trailing_zeros()));
                self.lshr(a, by)
            }
            _ => self.binary(BinOp::UDiv, a, b),
        }
    }

    /// Signed quotient, rounded towards zero.
    pub fn sdiv(&mut self, a: TermId, b: TermId) -> TermId {
        let (a, b) = self.operands(a, b);
        match self.as_int(b) {
            Some(1) if self.width(a) > 1 => a,
            Some(divisor) if divisor == mask(self.width(a)) && self.width(a) > 1 => self.neg(a),
            _ if self.is_non_negative(a) && self.is_non_negative(b) => self.udiv(a, b),
            _ => self.binary(BinOp::SDiv, a, b),
        }
    }

    /// Unsigned remainder; the dividend if the divisor is 0.
    pub fn urem(&mut self, a: TermId, b: TermId) -> TermId {
        let (a, b) = self.operands(a, b);
        match self.as_int(b) {
            Some(divisor) if divisor.is_power_of_two() => {
                let low = self.int(self.width(a), divisor - 1);
                self.band(a, low)
            }
            _ if a == b => self.int(self.width(a), 0),
            _ => self.binary(BinOp::URem, a, b),
        }
    }

    /// Signed remainder, with the sign of the dividend.
    pub fn srem(&mut self, a: TermId, b: TermId) -> TermId {
        let (a, b) = self.operands(a, b);
        match self.as_int(b) {
            Some(1) => self.int(self.width(a), 0),
            Some(divisor) if divisor == mask(self.width(a)) => self.int(self.width(a), 0),
            _ if a == b => self.int(self.width(a), 0),
            _ if self.is_non_negative(a) && self.is_non_negative(b) => self.urem(a, b),
            _ => self.binary(BinOp::SRem, a, b),
        }
    }

    /// Left shift; 0 if shifted by the width or more.
    pub fn shl(&mut self, a: TermId, b: TermId) -> TermId {
        let (a, b) = self.operands(a, b);
        match self.as_int(b) {
            Some(by) if by >= u64::from(self.width(a)) => self.int(self.width(a), 0),
            Some(by) => self.scale(a, 1u64 << by),
            None => self.binary(BinOp::Shl, a, b),
        }
    }

    /// Logical right shift; 0 if shifted by the width or more.
    pub fn lshr(&mut self, a: TermId, b: TermId) -> TermId {
        let (a, b) = self.operands(a, b);
        let width = self.width(a);
        match self.as_int(b) {
            Some(0) => a,
            Some(by) if by >= u64::from(width) => self.int(width, 0),
            Some(by) => {
                let (base, inner) = match *self.kind(a) {
                    TermKind::Binary(BinOp::LShr, x, k) => match self.as_int(k) {
                        Some(inner) => (x, inner),
                        None => (a, 0),
                    },
                    _ => (a, 0),
                };
                let total = by.saturating_add(inner);
                if total >= u64::from(width) {
                    return self.int(width, 0);
                }
                let total = self.int(width, total);
                self.binary(BinOp::LShr, base, total)
            }
            None => self.binary(BinOp::LShr, a, b),
        }
    }

    /// Arithmetic right shift; copies of the sign if shifted by the width or more.
    pub fn ashr(&mut self, a: TermId, b: TermId) -> TermId {
        let (a, b) = self.operands(a, b);
        match self.as_int(b) {
            Some(0) => a,
            Some(_) if self.is_non_negative(a) => self.lshr(a, b),
            _ => self.binary(BinOp::AShr, a, b),
        }
    }

    /// Bitwise and.
    pub fn band(&mut self, a: TermId, b: TermId) -> TermId {
        if self.both_bool(a, b) {
            return self.and(&[a, b]);
        }
        let (a, b) = self.constant_right(a, b);
        let (width, ones) = (self.width(a), mask(self.width(a)));
        if a == b {
            return a;
        }
        let Some(m) = self.as_int(b) else {
            return if self.are_bit_complements(a, b) {
                self.int(width, 0)
            } else {
                self.binary(BinOp::And, a, b)
            };
        };
        if m == 0 || m == ones {
            return if m == 0 { b } else { a };
        }
        match *self.kind(a) {
            TermKind::Binary(BinOp::And, x, k) if self.as_int(k).is_some() => {
                let both = self.int(width, m & self.as_int(k).unwrap_or(ones));
                self.band(x, both)
            }
            // Bits that are added to others: the mask asks for those, or not.
            TermKind::Binary(BinOp::Or, x, y) if self.masked(y, m) == Some(0) => self.band(x, b),
            TermKind::Binary(BinOp::Or, _, y) if self.masked(y, m) == Some(m) => b,
            TermKind::Zext(x) => {
                let inner_width = self.width(x);
                let inner = self.int(inner_width, m);
                let masked = self.band(x, inner);
                self.zext(masked, width)
            }
            TermKind::Binary(BinOp::LShr, _, k)
                if self.as_int(k).is_some_and(|k| ones >> k & !m == 0) =>
            {
                a
            }
            _ => self.binary(BinOp::And, a, b),
        }
    }

    /// The bits under a mask, of a constant or a choice between two that do not differ there.
    fn masked(&self, t: TermId, m: u64) -> Option<u64> {
        match *self.kind(t) {
            TermKind::Int(k) => Some(k & m),
            TermKind::Ite(_, a, b) => {
                let (a, b) = (self.as_int(a)? & m, self.as_int(b)? & m);
                (a == b).then_some(a)
            }
            _ => None,
        }
    }

    /// Bitwise or.
    pub fn bor(&mut self, a: TermId, b: TermId) -> TermId {
        if self.both_bool(a, b) {
            return self.or(&[a, b]);
        }
        let (a, b) = self.constant_right(a, b);
        let ones = mask(self.width(a));
        if a == b {
            return a;
        }
        let Some(m) = self.as_int(b) else {
            return if self.are_bit_complements(a, b) {
                self.int(self.width(a), ones)
            } else {
                self.binary(BinOp::Or, a, b)
            };
        };
        if m == 0 || m == ones {
            return if m == 0 { a } else { b };
        }
        match *self.kind(a) {
            TermKind::Binary(BinOp::Or, x, k) if self.as_int(k).is_some() => {
                let both = self.int(self.width(a), m | self.as_int(k).unwrap_or(0));
                self.bor(x, both)
            }
            _ => self.binary(BinOp::Or, a, b),
        }
    }

    /// Bitwise exclusive or.
    pub fn bxor(&mut self, a: TermId, b: TermId) -> TermId {
        if self.both_bool(a, b) {
            return self.xor(a, b);
        }
        let (a, b) = self.constant_right(a, b);
        let width = self.width(a);
        if a == b {
            return self.int(width, 0);
        }
        let Some(m) = self.as_int(b) else {
            return if self.are_bit_complements(a, b) {
                self.int(width, u64::MAX)
            } else {
                self.binary(BinOp::Xor, a, b)
            };
        };
        if m == 0 {
            return a;
        }
        if m == mask(width) {
            // ~x as a sum, so that it meets -x - 1.
            let minus_one = self.int(width, u64::MAX);
            return self.sub(minus_one, a);
        }
        match *self.kind(a) {
            TermKind::Binary(BinOp::Xor, x, k) if self.as_int(k).is_some() => {
                let both = self.int(width, m ^ self.as_int(k).unwrap_or(0));
                self.bxor(x, both)
            }
            _ => self.binary(BinOp::Xor, a, b),
        }
    }

    /// Whether the term's sign bit is known to be 0 from its shape.
    pub(crate) fn is_non_negative(&self, t: TermId) -> bool {
        let width = self.width(t);
        match *self.kind(t) {
            TermKind::Int(value) => value >> (width - 1) == 0,
            TermKind::Zext(x) => self.width(x) < width,
            TermKind::Binary(BinOp::And, _, m) => {
                self.as_int(m).is_some_and(|m| m >> (width - 1) == 0)
            }
            TermKind::Binary(BinOp::LShr, _, k) => self.as_int(k).is_some_and(|k| k > 0),
            TermKind::Binary(BinOp::URem, _, k) => self
                .as_int(k)
                .is_some_and(|k| k != 0 && (k - 1) >> (width - 1) == 0),
            TermKind::Ite(_, a, b) => [a, b]
                .iter()
                .all(|&x| self.as_int(x).is_some_and(|v| v >> (width - 1) == 0)),
            _ => false,
        }
    }

    fn are_bit_complements(&self, a: TermId, b: TermId) -> bool {
        let complement_of = |x: TermId, y: TermId| match *self.kind(x) {
            TermKind::Binary(BinOp::Xor, inner, k) => {
                inner == y && self.as_int(k) == Some(mask(self.width(x)))
            }
            _ => false,
        };
        complement_of(a, b) || complement_of(b, a)
    }

    fn both_bool(&self, a: TermId, b: TermId) -> bool {
        self.sort(a) == Sort::Bool && self.sort(b) == Sort::Bool
    }

    fn operands(&mut self, a: TermId, b: TermId) -> (TermId, TermId) {
        let (a, b) = self.same_sort(a, b);
        (self.bits(a), self.bits(b))
    }

    fn constant_right(&mut self, a: TermId, b: TermId) -> (TermId, TermId) {
        let (a, b) = self.operands(a, b);
        if self.as_int(a).is_some() {
            (b, a)
        } else {
            (a, b)
        }
    }

    /// Folds constants, pushes the operator into a choice between constants, orders commuting operands.
    fn binary(&mut self, op: BinOp, a: TermId, b: TermId) -> TermId {
        let width = self.width(a);
        match (self.as_int(a), self.as_int(b)) {
            (Some(x), Some(y)) => return self.int(width, op.apply(x, y, width)),
            (None, Some(y)) => {
                if let Some(t) = self.map_constant_branches(a, width, &|x| op.apply(x, y, width)) {
                    return t;
                }
            }
            (Some(x), None) => {
                if let Some(t) = self.map_constant_branches(b, width, &|y| op.apply(x, y, width)) {
                    return t;
                }
            }
            (None, None) => {}
        }
        let (a, b) = if op.commutes() && a > b && self.as_int(b).is_none() {
            (b, a)
        } else {
            (a, b)
        };
        self.intern(Sort::Bits(width), TermKind::Binary(op, a, b))
    }
}
