//! What may the value of a word be?
//!
//! Domain: a reduced product of an unsigned interval, a signed interval and known bits (the strides that pay: powers
//! of two). Booleans are words of one bit.
//! Order: fewer values is smaller; [`Range::meet`] is intersection of all parts, then reduction between them; an empty
//! range is [`None`] everywhere, so that no contradictory range ever lives in a state.
//! Invariant after reduction: the ends of the unsigned interval agree with the known bits, and the parts don't
//! contradict each other at the ends.

use crate::term::{mask, sign_bit, to_signed};

/// A set of words, over-approximated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Range {
    pub(crate) width: u32,
    pub(crate) umin: u64,
    pub(crate) umax: u64,
    pub(crate) smin: i64,
    pub(crate) smax: i64,
    /// Bits that are 0 in every value.
    pub(crate) zeros: u64,
    /// Bits that are 1 in every value.
    pub(crate) ones: u64,
}

/// Reduction is repeated while it gains something, at most this often; more rounds hardly ever change anything.
const REDUCTION_ROUNDS: usize = 3;

impl Range {
    /// All words of the width.
    pub(crate) fn full(width: u32) -> Range {
        let (smin, smax) = (to_signed(sign_bit(width), width), (mask(width) >> 1) as i64);
        Range {
            width,
            umin: 0,
            umax: mask(width),
            smin,
            smax,
            zeros: 0,
            ones: 0,
        }
    }

    /// One word.
    pub(crate) fn exactly(width: u32, value: u64) -> Range {
        let value = value & mask(width);
        let signed = to_signed(value, width);
        Range {
            width,
            umin: value,
            umax: value,
            smin: signed,
            smax: signed,
            zeros: !value & mask(width),
            ones: value,
        }
    }

    /// The boolean's range.
    pub(crate) fn truth(value: bool) -> Range {
        Range::exactly(1, u64::from(value))
    }

    /// Words between two bounds, unsigned.
    pub(crate) fn unsigned(width: u32, umin: u64, umax: u64) -> Option<Range> {
        Range {
            umin,
            umax: umax.min(mask(width)),
            ..Range::full(width)
        }
        .reduced()
    }

    /// Words between two bounds, signed.
    pub(crate) fn signed(width: u32, smin: i64, smax: i64) -> Option<Range> {
        let full = Range::full(width);
        Range {
            smin: smin.max(full.smin),
            smax: smax.min(full.smax),
            ..full
        }
        .reduced()
    }

    /// Words with known bits.
    pub(crate) fn bits(width: u32, zeros: u64, ones: u64) -> Option<Range> {
        let m = mask(width);
        Range {
            zeros: zeros & m,
            ones: ones & m,
            ..Range::full(width)
        }
        .reduced()
    }

    /// Residues of the integers `low..=high` modulo 2^width.
    pub(crate) fn residues(width: u32, low: i128, high: i128) -> Range {
        let full = Range::full(width);
        let modulus = 1i128 << width;
        if high.saturating_sub(low) >= modulus {
            return full;
        }
        let mut range = full;
        if low.div_euclid(modulus) == high.div_euclid(modulus) {
            range.umin = low.rem_euclid(modulus) as u64;
            range.umax = high.rem_euclid(modulus) as u64;
        }
        let half = modulus >> 1;
        let (low, high) = (low.saturating_add(half), high.saturating_add(half));
        if low.div_euclid(modulus) == high.div_euclid(modulus) {
            range.smin = (low.rem_euclid(modulus) - half) as i64;
            range.smax = (high.rem_euclid(modulus) - half) as i64;
        }
        range.reduced().unwrap_or(full)
    }

    /// The only value, if there is one.
    pub(crate) fn single(&self) -> Option<u64> {
        (self.umin == self.umax).then_some(self.umin)
    }

    /// The boolean's value, if known.
    pub(crate) fn as_bool(&self) -> Option<bool> {
        self.single().map(|value| value != 0)
    }

    /// Whether the value is in the set.
    pub(crate) fn contains(&self, value: u64) -> bool {
        let signed = to_signed(value, self.width);
        (self.umin..=self.umax).contains(&value)
            && (self.smin..=self.smax).contains(&signed)
            && value & self.zeros == 0
            && value & self.ones == self.ones
    }

    /// Values in both sets; `None` if there are none.
    pub(crate) fn meet(&self, other: &Range) -> Option<Range> {
        Range {
            width: self.width,
            umin: self.umin.max(other.umin),
            umax: self.umax.min(other.umax),
            smin: self.smin.max(other.smin),
            smax: self.smax.min(other.smax),
            zeros: self.zeros | other.zeros,
            ones: self.ones | other.ones,
        }
        .reduced()
    }

    /// Values in either set, and perhaps more.
    pub(crate) fn join(&self, other: &Range) -> Range {
        Range {
            width: self.width,
            umin: self.umin.min(other.umin),
            umax: self.umax.max(other.umax),
            smin: self.smin.min(other.smin),
            smax: self.smax.max(other.smax),
            zeros: self.zeros & other.zeros,
            ones: self.ones & other.ones,
        }
    }

    /// The set without one value, as far as the value is an end.
    pub(crate) fn without(&self, value: u64) -> Option<Range> {
        let mut range = *self;
        let signed = to_signed(value, self.width);
        if range.umin == value {
            if range.umax == value {
                return None;
            }
            range.umin += 1;
        } else if range.umax == value {
            range.umax -= 1;
        }
        if range.smin == signed {
            if range.smax == signed {
                return None;
            }
            range.smin += 1;
        } else if range.smax == signed {
            range.smax -= 1;
        }
        range.reduced()
    }

    /// Lets the parts sharpen one another.
    pub(crate) fn reduced(self) -> Option<Range> {
        let mut range = self;
        for _ in 0..REDUCTION_ROUNDS {
            let before = range;
            range = range.reduce_once()?;
            if range == before {
                break;
            }
        }
        Some(range)
    }

    fn reduce_once(mut self) -> Option<Range> {
        let m = mask(self.width);
        if self.zeros & self.ones != 0 || self.umin > self.umax || self.smin > self.smax {
            return None;
        }
        // Known bits move the unsigned ends to the next words that have them.
        self.umin = next_with_bits(self.umin, self.zeros, self.ones, m)?;
        self.umax = !next_with_bits(!self.umax & m, self.ones, self.zeros, m)? & m;
        if self.umin > self.umax {
            return None;
        }
        self.exchange_signs();
        if self.umin > self.umax || self.smin > self.smax {
            return None;
        }
        // Leading bits that both ends share are known.
        let differing = self.umin ^ self.umax;
        let low = if differing == 0 {
            0
        } else {
            u64::MAX >> differing.leading_zeros()
        };
        self.ones |= self.umin & !low & m;
        self.zeros |= !self.umin & !low & m;
        (self.zeros & self.ones == 0).then_some(self)
    }

    /// An interval that doesn't cross the sign is the same for both readings.
    fn exchange_signs(&mut self) {
        let sign = sign_bit(self.width);
        if (self.umin ^ self.umax) & sign == 0 {
            self.smin = self.smin.max(to_signed(self.umin, self.width));
            self.smax = self.smax.min(to_signed(self.umax, self.width));
        }
        if self.smin >= 0 || self.smax < 0 {
            let m = mask(self.width);
            self.umin = self.umin.max(self.smin as u64 & m);
            self.umax = self.umax.min(self.smax as u64 & m);
        }
    }
}

/// The smallest word from `value` on that has the known bits.
fn next_with_bits(value: u64, zeros: u64, ones: u64, m: u64) -> Option<u64> {
    let wrong = (value & zeros) | (!value & ones);
    if wrong == 0 {
        return Some(value);
    }
    let top = 63 - wrong.leading_zeros();
    let below = (1u64 << top) - 1;
    if ones >> top & 1 == 1 {
        return Some((value & !below) | 1 << top | (ones & below));
    }
    // The bit must go from 1 to 0: carry into the lowest free 0 above it.
    let free = !value & !zeros & m & !below & !(1 << top);
    if free == 0 {
        return None;
    }
    let carry = free.trailing_zeros();
    let below = (1u64 << carry) - 1;
    Some((value & !below) | 1 << carry | (ones & below))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDTH: u32 = 4;

    fn all_ranges() -> Vec<Range> {
        let mut ranges = Vec::new();
        for umin in [0, 1, 5, 8] {
            for umax in [3, 7, 9, 15] {
                for (smin, smax) in [(-8, 7), (-3, 2), (0, 7), (-8, -1), (1, 1)] {
                    for (zeros, ones) in
                        [(0, 0), (1, 0), (0, 1), (0b0110, 0b1000), (0b1000, 0b0010)]
                    {
                        let range = Range {
                            width: WIDTH,
                            umin,
                            umax,
                            smin,
                            smax,
                            zeros,
                            ones,
                        };
                        ranges.push(range);
                    }
                }
            }
        }
        ranges
    }

    fn members(range: &Range) -> Vec<u64> {
        (0..16).filter(|&v| range.contains(v)).collect()
    }

    #[test]
    fn reduction_keeps_exactly_the_members() {
        for range in all_ranges() {
            match range.reduced() {
                None => assert!(members(&range).is_empty(), "{range:?}"),
                Some(reduced) => {
                    assert_eq!(members(&range), members(&reduced), "{range:?}");
                }
            }
        }
    }

    #[test]
    fn meet_join_and_without_are_sound() {
        let ranges: Vec<Range> = all_ranges()
            .into_iter()
            .filter_map(Range::reduced)
            .collect();
        for a in ranges.iter().step_by(3) {
            for b in ranges.iter().step_by(5) {
                let both: Vec<u64> = members(a).into_iter().filter(|&v| b.contains(v)).collect();
                assert_eq!(a.meet(b).map(|m| members(&m)).unwrap_or_default(), both);
                let join = a.join(b);
                assert!(
                    members(a)
                        .iter()
                        .chain(&members(b))
                        .all(|&v| join.contains(v))
                );
            }
            for value in 0..16 {
                let left = a.without(value).map(|r| members(&r)).unwrap_or_default();
                assert!(members(a).iter().all(|&v| v == value || left.contains(&v)));
            }
        }
    }

    #[test]
    fn residues_contain_the_residues() {
        for low in -20..20i128 {
            for high in low..low + 20 {
                let range = Range::residues(WIDTH, low, high);
                for v in low..=high {
                    assert!(range.contains(v.rem_euclid(16) as u64), "{low}..{high}");
                }
            }
        }
    }

    #[test]
    fn bits_move_the_ends() {
        let odd = Range::unsigned(8, 10, 20)
            .and_then(|r| {
                r.meet(&Range {
                    ones: 1,
                    ..Range::full(8)
                })
            })
            .unwrap();
        assert_eq!((odd.umin, odd.umax), (11, 19));
        let aligned = Range::unsigned(8, 1, 7).and_then(|r| {
            r.meet(&Range {
                zeros: 7,
                ..Range::full(8)
            })
        });
        assert_eq!(aligned, None);
    }
}
