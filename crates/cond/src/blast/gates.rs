//! Gates over bits, and the clauses that define them (Tseitin's transformation).
//!
//! Gates fold constants and are hashed by structure, so equal circuits share their variables. Exclusive ors carry
//! their negations outwards; if-then-else and majority have their own clauses, which propagate better than the same
//! function made of ands.
//!
//! Fuel: when the number of clauses passes the limit, `exhausted` is set and gates are no longer defined; the caller
//! must then give up on the whole encoding.

use rustc_hash::FxHashMap;

/// A bit: a variable or its negation. Variable 0 is the constant true.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct Bit(u32);

impl Bit {
    pub(crate) const TRUE: Bit = Bit(0);
    pub(crate) const FALSE: Bit = Bit(1);

    pub(crate) fn constant(value: bool) -> Bit {
        if value { Bit::TRUE } else { Bit::FALSE }
    }

    pub(crate) fn as_constant(self) -> Option<bool> {
        match self {
            Bit::TRUE => Some(true),
            Bit::FALSE => Some(false),
            _ => None,
        }
    }

    pub(crate) fn variable(self) -> u32 {
        self.0 >> 1
    }

    pub(crate) fn is_negated(self) -> bool {
        self.0 & 1 == 1
    }
}

impl std::ops::Not for Bit {
    type Output = Bit;
    fn not(self) -> Bit {
        Bit(self.0 ^ 1)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Gate {
    And(Bit, Bit),
    Xor(Bit, Bit),
    Choose(Bit, Bit, Bit),
    Majority(Bit, Bit, Bit),
}

/// The circuit built so far and its clauses.
pub(crate) struct Gates {
    variables: u32,
    known: FxHashMap<Gate, Bit>,
    literals: Vec<Bit>,
    ends: Vec<usize>,
    limit: u64,
    pub(crate) exhausted: bool,
    /// Whether the clauses contain the empty one.
    pub(crate) contradictory: bool,
}

impl Gates {
    pub(crate) fn new(clause_limit: u64) -> Self {
        Gates {
            variables: 1,
            known: FxHashMap::default(),
            literals: Vec::new(),
            ends: Vec::new(),
            limit: clause_limit,
            exhausted: false,
            contradictory: false,
        }
    }

    /// A new unknown bit.
    pub(crate) fn fresh(&mut self) -> Bit {
        let bit = Bit(self.variables << 1);
        self.variables += 1;
        bit
    }

    pub(crate) fn variable_count(&self) -> u32 {
        self.variables
    }

    pub(crate) fn clause_count(&self) -> usize {
        self.ends.len()
    }

    /// The clauses from the given index on.
    pub(crate) fn clauses_from(&self, first: usize) -> impl Iterator<Item = &[Bit]> + '_ {
        (first..self.ends.len()).filter_map(|index| {
            let start = if index == 0 {
                0
            } else {
                *self.ends.get(index - 1)?
            };
            self.literals.get(start..*self.ends.get(index)?)
        })
    }

    /// States that one of the bits holds.
    pub(crate) fn clause(&mut self, bits: &[Bit]) {
        if self.ends.len() as u64 >= self.limit {
            self.exhausted = true;
            return;
        }
        if bits.contains(&Bit::TRUE) {
            return;
        }
        let start = self.literals.len();
        self.literals
            .extend(bits.iter().filter(|&&bit| bit != Bit::FALSE));
        if self.literals.len() == start {
            self.contradictory = true;
        } else {
            self.ends.push(self.literals.len());
        }
    }

    pub(crate) fn and(&mut self, a: Bit, b: Bit) -> Bit {
        let (a, b) = (a.min(b), a.max(b));
        if a == Bit::TRUE || a == b {
            return b;
        }
        if a == Bit::FALSE || a == !b {
            return Bit::FALSE;
        }
        if let Some(&out) = self.known.get(&Gate::And(a, b)) {
            return out;
        }
        let out = self.fresh();
        self.clause(&[!out, a]);
        self.clause(&[!out, b]);
        self.clause(&[out, !a, !b]);
        self.known.insert(Gate::And(a, b), out);
        out
    }

    pub(crate) fn or(&mut self, a: Bit, b: Bit) -> Bit {
        !self.and(!a, !b)
    }

    pub(crate) fn and_all(&mut self, bits: &[Bit]) -> Bit {
        let mut parts: Vec<Bit> = bits
            .iter()
            .copied()
            .filter(|&bit| bit != Bit::TRUE)
            .collect();
        parts.sort_unstable();
        parts.dedup();
        if parts.contains(&Bit::FALSE)
            || parts
                .windows(2)
                .any(|pair| matches!(pair, &[a, b] if a == !b))
        {
            return Bit::FALSE;
        }
        match parts[..] {
            [] => Bit::TRUE,
            [a] => a,
            [a, b] => self.and(a, b),
            _ => {
                let out = self.fresh();
                for &bit in &parts {
                    self.clause(&[!out, bit]);
                }
                let mut long: Vec<Bit> = parts.iter().map(|&bit| !bit).collect();
                long.push(out);
                self.clause(&long);
                out
            }
        }
    }

    pub(crate) fn or_all(&mut self, bits: &[Bit]) -> Bit {
        let negated: Vec<Bit> = bits.iter().map(|&bit| !bit).collect();
        !self.and_all(&negated)
    }

    pub(crate) fn xor(&mut self, a: Bit, b: Bit) -> Bit {
        let flip = a.is_negated() != b.is_negated();
        let (a, b) = (Bit(a.0 & !1), Bit(b.0 & !1));
        let (a, b) = (a.min(b), a.max(b));
        // Without negations the constant is true.
        let plain = if a == b {
            Bit::FALSE
        } else if a == Bit::TRUE {
            !b
        } else if let Some(&out) = self.known.get(&Gate::Xor(a, b)) {
            out
        } else {
            let out = self.fresh();
            self.clause(&[!out, a, b]);
            self.clause(&[!out, !a, !b]);
            self.clause(&[out, !a, b]);
            self.clause(&[out, a, !b]);
            self.known.insert(Gate::Xor(a, b), out);
            out
        };
        if flip { !plain } else { plain }
    }

    pub(crate) fn same(&mut self, a: Bit, b: Bit) -> Bit {
        !self.xor(a, b)
    }

    /// `a` if `c` holds, else `b`.
    pub(crate) fn choose(&mut self, c: Bit, a: Bit, b: Bit) -> Bit {
        if c.is_negated() {
            return self.choose(!c, b, a);
        }
        match (c, a, b) {
            (Bit::TRUE, _, _) => return a,
            _ if a == b => return a,
            _ if a == !b => return self.same(c, a),
            (_, Bit::TRUE, _) => return self.or(c, b),
            (_, Bit::FALSE, _) => return self.and(!c, b),
            (_, _, Bit::TRUE) => return self.or(!c, a),
            (_, _, Bit::FALSE) => return self.and(c, a),
            _ if a == c => return self.or(c, b),
            _ if a == !c => return self.and(!c, b),
            _ if b == c => return self.and(c, a),
            _ if b == !c => return self.or(!c, a),
            _ => {}
        }
        if let Some(&out) = self.known.get(&Gate::Choose(c, a, b)) {
            return out;
        }
        let out = self.fresh();
        self.clause(&[!c, !a, out]);
        self.clause(&[!c, a, !out]);
        self.clause(&[c, !b, out]);
        self.clause(&[c, b, !out]);
        self.clause(&[!a, !b, out]);
        self.clause(&[a, b, !out]);
        self.known.insert(Gate::Choose(c, a, b), out);
        out
    }

    /// At least two of three: the carry of an adder.
    pub(crate) fn majority(&mut self, a: Bit, b: Bit, c: Bit) -> Bit {
        let mut bits = [a, b, c];
        bits.sort_unstable();
        let [a, b, c] = bits;
        if a == b {
            return a;
        }
        if b == c {
            return b;
        }
        if a == !b {
            return c;
        }
        if b == !c {
            return a;
        }
        match a {
            Bit::TRUE => return self.or(b, c),
            Bit::FALSE => return self.and(b, c),
            _ => {}
        }
        if let Some(&out) = self.known.get(&Gate::Majority(a, b, c)) {
            return out;
        }
        let out = self.fresh();
        for (x, y) in [(a, b), (a, c), (b, c)] {
            self.clause(&[!x, !y, out]);
            self.clause(&[x, y, !out]);
        }
        self.known.insert(Gate::Majority(a, b, c), out);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks a gate against its function, by the clauses alone, for all values of three inputs.
    fn assert_gate(
        build: impl Fn(&mut Gates, Bit, Bit, Bit) -> Bit,
        expected: impl Fn(bool, bool, bool) -> bool,
    ) {
        let inputs = [Bit::TRUE, Bit::FALSE];
        let mut gates = Gates::new(1000);
        let (x, y, z) = (gates.fresh(), gates.fresh(), gates.fresh());
        let choices = [x, !x, y, !y, z, !z, inputs[0], inputs[1]];
        for &a in &choices {
            for &b in &choices {
                for &c in &choices {
                    let mut gates = Gates::new(1000);
                    (0..3).for_each(|_| {
                        gates.fresh();
                    });
                    let out = build(&mut gates, a, b, c);
                    assert_defined(&gates, out, [a, b, c], &expected);
                }
            }
        }
    }

    fn assert_defined(
        gates: &Gates,
        out: Bit,
        inputs: [Bit; 3],
        expected: &impl Fn(bool, bool, bool) -> bool,
    ) {
        let count = gates.variable_count();
        let value = |bit: Bit, world: u32| {
            (bit.variable() == 0 || world >> (bit.variable() - 1) & 1 == 1) != bit.is_negated()
        };
        for world in 0..1u32 << (count - 1) {
            let consistent = gates
                .clauses_from(0)
                .all(|clause| clause.iter().any(|&bit| value(bit, world)));
            let [a, b, c] = inputs.map(|bit| value(bit, world));
            if consistent {
                assert_eq!(value(out, world), expected(a, b, c));
            }
        }
    }

    #[test]
    fn gates_are_their_functions() {
        assert_gate(|g, a, b, _| g.and(a, b), |a, b, _| a && b);
        assert_gate(|g, a, b, _| g.or(a, b), |a, b, _| a || b);
        assert_gate(|g, a, b, _| g.xor(a, b), |a, b, _| a != b);
        assert_gate(
            |g, a, b, c| g.choose(a, b, c),
            |a, b, c| if a { b } else { c },
        );
        assert_gate(
            |g, a, b, c| g.majority(a, b, c),
            |a, b, c| u8::from(a) + u8::from(b) + u8::from(c) >= 2,
        );
        assert_gate(|g, a, b, c| g.and_all(&[a, b, c]), |a, b, c| a && b && c);
        assert_gate(|g, a, b, c| g.or_all(&[a, b, c]), |a, b, c| a || b || c);
    }

    #[test]
    fn equal_gates_share_their_variable() {
        let mut gates = Gates::new(1000);
        let (a, b) = (gates.fresh(), gates.fresh());
        assert_eq!(gates.and(a, b), gates.and(b, a));
        assert_eq!(gates.xor(!a, b), !gates.xor(a, b));
        let clauses = gates.clause_count();
        gates.or(!a, !b);
        assert_eq!(gates.clause_count(), clauses);
    }

    #[test]
    fn the_clause_limit_is_noticed() {
        let mut gates = Gates::new(4);
        let bits: Vec<Bit> = (0..4).map(|_| gates.fresh()).collect();
        gates.and(bits[0], bits[1]);
        assert!(!gates.exhausted);
        gates.and(bits[2], bits[3]);
        assert!(gates.exhausted);
    }
}
