//! Circuits on words, least significant bit first.
//!
//! Operands have equal widths unless said otherwise. Constant bits fold away in the gates, so a mask, a shift by a
//! constant or an addition of a constant costs what it should.

use super::gates::{Bit, Gates};
use crate::term::BinOp;

/// The bits of a word, least significant first.
pub(crate) type Word = Vec<Bit>;

impl Gates {
    pub(crate) fn word_constant(value: u64, width: u32) -> Word {
        (0..width)
            .map(|i| Bit::constant(value >> i & 1 == 1))
            .collect()
    }

    fn zip(
        &mut self,
        a: &[Bit],
        b: &[Bit],
        mut gate: impl FnMut(&mut Gates, Bit, Bit) -> Bit,
    ) -> Word {
        a.iter().zip(b).map(|(&x, &y)| gate(self, x, y)).collect()
    }

    /// Sum with a carry into the lowest bit.
    pub(crate) fn word_add(&mut self, a: &[Bit], b: &[Bit], carry: Bit) -> Word {
        let mut carry = carry;
        let mut out = Vec::with_capacity(a.len());
        for (i, (&x, &y)) in a.iter().zip(b).enumerate() {
            let half = self.xor(x, y);
            out.push(self.xor(half, carry));
            if i + 1 < a.len() {
                carry = self.majority(x, y, carry);
            }
        }
        out
    }

    pub(crate) fn word_not(a: &[Bit]) -> Word {
        a.iter().map(|&bit| !bit).collect()
    }

    pub(crate) fn word_sub(&mut self, a: &[Bit], b: &[Bit]) -> Word {
        self.word_add(a, &Gates::word_not(b), Bit::TRUE)
    }

    pub(crate) fn word_neg(&mut self, a: &[Bit]) -> Word {
        let zero = vec![Bit::FALSE; a.len()];
        self.word_sub(&zero, a)
    }

    pub(crate) fn word_choose(&mut self, c: Bit, a: &[Bit], b: &[Bit]) -> Word {
        self.zip(a, b, |gates, x, y| gates.choose(c, x, y))
    }

    pub(crate) fn word_equal(&mut self, a: &[Bit], b: &[Bit]) -> Bit {
        let same = self.zip(a, b, Gates::same);
        self.and_all(&same)
    }

    /// Unsigned less-than: the borrow of `a - b`.
    pub(crate) fn word_ult(&mut self, a: &[Bit], b: &[Bit]) -> Bit {
        let mut less = Bit::FALSE;
        for (&x, &y) in a.iter().zip(b) {
            less = self.majority(!x, y, less);
        }
        less
    }

    /// Signed less-than: unsigned with the sign bits exchanged.
    pub(crate) fn word_slt(&mut self, a: &[Bit], b: &[Bit]) -> Bit {
        let (mut a, mut b) = (a.to_vec(), b.to_vec());
        if let (Some(x), Some(y)) = (a.last_mut(), b.last_mut()) {
            std::mem::swap(x, y);
        }
        self.word_ult(&a, &b)
    }

    /// The word moved up by a constant number of bits.
    pub(crate) fn word_shifted(a: &[Bit], by: usize) -> Word {
        std::iter::repeat_n(Bit::FALSE, by)
            .chain(a.iter().copied())
            .take(a.len())
            .collect()
    }

    /// Product with a constant, by its signed digits: runs of ones cost one addition and one subtraction.
    pub(crate) fn word_scale(&mut self, a: &[Bit], factor: u64) -> Word {
        let mut total = vec![Bit::FALSE; a.len()];
        let mut rest = u128::from(factor);
        for i in 0..a.len() {
            if rest & 1 == 1 {
                let part = Gates::word_shifted(a, i);
                if rest & 3 == 3 {
                    total = self.word_sub(&total, &part);
                    rest += 1;
                } else {
                    total = self.word_add(&total, &part, Bit::FALSE);
                    rest -= 1;
                }
            }
            rest >>= 1;
        }
        total
    }

    pub(crate) fn word_mul(&mut self, a: &[Bit], b: &[Bit]) -> Word {
        let mut total = vec![Bit::FALSE; a.len()];
        for (i, &bit) in b.iter().enumerate() {
            let part: Word = Gates::word_shifted(a, i)
                .iter()
                .map(|&x| self.and(x, bit))
                .collect();
            // The bits below i are finished.
            let high = self.word_add(
                total.get(i..).unwrap_or(&[]),
                part.get(i..).unwrap_or(&[]),
                Bit::FALSE,
            );
            total.truncate(i);
            total.extend(high);
        }
        total
    }

    /// Quotient and remainder by restoring division; a zero divisor gives all ones and the dividend by itself.
    pub(crate) fn word_divide(&mut self, a: &[Bit], b: &[Bit]) -> (Word, Word) {
        let width = a.len();
        // One bit more than the operands: the shifted remainder may overflow.
        let wide: Word = b.iter().copied().chain([Bit::FALSE]).collect();
        let mut remainder = vec![Bit::FALSE; width + 1];
        let mut quotient = vec![Bit::FALSE; width];
        for (i, slot) in quotient.iter_mut().enumerate().rev() {
            remainder = Gates::word_shifted(&remainder, 1);
            if let (Some(low), Some(&next)) = (remainder.first_mut(), a.get(i)) {
                *low = next;
            }
            let fits = !self.word_ult(&remainder, &wide);
            let reduced = self.word_sub(&remainder, &wide);
            remainder = self.word_choose(fits, &reduced, &remainder);
            *slot = fits;
        }
        remainder.truncate(width);
        (quotient, remainder)
    }

    fn word_sign(a: &[Bit]) -> Bit {
        a.last().copied().unwrap_or(Bit::FALSE)
    }

    fn word_abs(&mut self, a: &[Bit]) -> Word {
        let negated = self.word_neg(a);
        self.word_choose(Gates::word_sign(a), &negated, a)
    }

    fn word_sdivide(&mut self, a: &[Bit], b: &[Bit], want_quotient: bool) -> Word {
        let (x, y) = (self.word_abs(a), self.word_abs(b));
        let (quotient, remainder) = self.word_divide(&x, &y);
        let (result, negative) = if want_quotient {
            (quotient, self.xor(Gates::word_sign(a), Gates::word_sign(b)))
        } else {
            (remainder, Gates::word_sign(a))
        };
        let negated = self.word_neg(&result);
        self.word_choose(negative, &negated, &result)
    }

    /// Shift by an unknown amount: one layer of choices per bit of the amount that matters.
    fn word_shift(&mut self, op: BinOp, a: &[Bit], by: &[Bit]) -> Word {
        let width = a.len();
        let fill = if op == BinOp::AShr {
            Gates::word_sign(a)
        } else {
            Bit::FALSE
        };
        let layers = usize::BITS as usize - (width - 1).leading_zeros() as usize;
        let mut out = a.to_vec();
        for (layer, &bit) in by.iter().enumerate().take(layers) {
            let moved: Word = (0..width)
                .map(|i| match op {
                    BinOp::Shl => i
                        .checked_sub(1 << layer)
                        .and_then(|j| out.get(j))
                        .copied()
                        .unwrap_or(fill),
                    _ => out.get(i + (1 << layer)).copied().unwrap_or(fill),
                })
                .collect();
            out = self.word_choose(bit, &moved, &out);
        }
        // Amounts of the width or more: a high bit of the amount, or the low ones past a width that is no power of 2.
        let limit = Gates::word_constant(width as u64, by.len() as u32);
        let too_far = if by.len() < 64 && width as u64 >= 1u64 << by.len() {
            Bit::FALSE
        } else {
            !self.word_ult(by, &limit)
        };
        let filled = vec![fill; width];
        self.word_choose(too_far, &filled, &out)
    }

    /// Any binary operator.
    pub(crate) fn word_binary(&mut self, op: BinOp, a: &[Bit], b: &[Bit]) -> Word {
        match op {
            BinOp::Mul => self.word_mul(a, b),
            BinOp::UDiv => self.word_divide(a, b).0,
            BinOp::URem => self.word_divide(a, b).1,
            BinOp::SDiv => self.word_sdivide(a, b, true),
            BinOp::SRem => self.word_sdivide(a, b, false),
            BinOp::Shl | BinOp::LShr | BinOp::AShr => self.word_shift(op, a, b),
            BinOp::And => self.zip(a, b, Gates::and),
            BinOp::Or => self.zip(a, b, Gates::or),
            BinOp::Xor => self.zip(a, b, Gates::xor),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::{mask, to_signed};

    const OPS: [BinOp; 11] = [
        BinOp::Mul,
        BinOp::UDiv,
        BinOp::SDiv,
        BinOp::URem,
        BinOp::SRem,
        BinOp::Shl,
        BinOp::LShr,
        BinOp::AShr,
        BinOp::And,
        BinOp::Or,
        BinOp::Xor,
    ];

    fn value(word: &[Bit]) -> u64 {
        word.iter().enumerate().fold(0, |sum, (i, bit)| {
            sum | u64::from(bit.as_constant() == Some(true)) << i
        })
    }

    /// Circuits on constants fold to constants, so every circuit can be compared with arithmetic.
    #[test]
    fn circuits_compute_their_operators() {
        for width in 1..=4u32 {
            for a in 0..=mask(width) {
                for b in 0..=mask(width) {
                    let mut gates = Gates::new(0);
                    let (x, y) = (
                        Gates::word_constant(a, width),
                        Gates::word_constant(b, width),
                    );
                    for op in OPS {
                        let out = gates.word_binary(op, &x, &y);
                        assert_eq!(
                            value(&out),
                            op.apply(a, b, width),
                            "{a} {op:?} {b} at {width}"
                        );
                    }
                    assert_eq!(
                        value(&gates.word_sub(&x, &y)),
                        a.wrapping_sub(b) & mask(width)
                    );
                    assert_eq!(
                        value(&gates.word_scale(&x, b)),
                        a.wrapping_mul(b) & mask(width)
                    );
                    assert_eq!(gates.word_ult(&x, &y), Bit::constant(a < b));
                    let less = to_signed(a, width) < to_signed(b, width);
                    assert_eq!(gates.word_slt(&x, &y), Bit::constant(less));
                    assert_eq!(gates.word_equal(&x, &y), Bit::constant(a == b));
                    assert_eq!(gates.clause_count(), 0);
                }
            }
        }
    }

    #[test]
    fn wide_factors_wrap() {
        let mut gates = Gates::new(0);
        let word = Gates::word_constant(0x1234_5678_9abc_def1, 64);
        for factor in [u64::MAX, 1 << 63, 0xffff_0000_ffff_0001, 3] {
            let expected = 0x1234_5678_9abc_def1u64.wrapping_mul(factor);
            assert_eq!(value(&gates.word_scale(&word, factor)), expected);
        }
    }
}
