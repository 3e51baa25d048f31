//! Boolean constructors.
//!
//! Negations are pushed to the atoms, so a junction and its complement are found by comparing literals. Junctions are
//! flat, ascending and free of doubles; a literal and its complement collapse the junction; inside a conjunction, a
//! disjunction loses the literals that the other conjuncts refute and vanishes when they imply it (and dually).

use crate::Terms;
use crate::term::{Sort, TermId, TermKind};

/// Operands beyond which a nested junction is not merged into its parent: without a limit, a chain of `and` with one
/// more operand each would take quadratic space. Beyond it the stages still see the nested list.
const MAX_FLAT: usize = 512;

/// Rounds of resolving units against the dual junctions inside one junction; further rounds are left to the solver.
const MAX_UNIT_ROUNDS: usize = 4;

impl Terms {
    /// Negation.
    pub fn not(&mut self, t: TermId) -> TermId {
        let t = self.boolean(t);
        let mut stack = vec![t];
        while let Some(&top) = stack.last() {
            if self.known_complement(top).is_some() {
                stack.pop();
                continue;
            }
            let depth = stack.len();
            self.push_unnegated_children(top, &mut stack);
            if stack.len() == depth {
                self.negate_node(top);
                stack.pop();
            }
        }
        self.known_complement(t).unwrap_or(Terms::FALSE)
    }

    fn push_unnegated_children(&self, t: TermId, stack: &mut Vec<TermId>) {
        let mut push = |child: TermId| {
            if self.known_complement(child).is_none() {
                stack.push(child);
            }
        };
        match self.kind(t) {
            TermKind::And(list) | TermKind::Or(list) => list.iter().copied().for_each(push),
            TermKind::Ite(_, a, b) => {
                push(*a);
                push(*b);
            }
            _ => {}
        }
    }

    /// Builds the complement of a term whose boolean operands have theirs already.
    fn negate_node(&mut self, t: TermId) {
        let complements = |terms: &Terms, list: &[TermId]| -> Vec<TermId> {
            list.iter()
                .filter_map(|&child| terms.known_complement(child))
                .collect()
        };
        let negated = match self.kind(t).clone() {
            TermKind::And(list) => {
                let parts = complements(self, &list);
                self.or(&parts)
            }
            TermKind::Or(list) => {
                let parts = complements(self, &list);
                self.and(&parts)
            }
            TermKind::Ite(c, a, b) => match complements(self, &[a, b])[..] {
                [not_a, not_b] => self.ite(c, not_a, not_b),
                _ => self.intern(Sort::Bool, TermKind::Not(t)),
            },
            _ => self.intern(Sort::Bool, TermKind::Not(t)),
        };
        self.link_complements(t, negated);
    }

    /// Conjunction; true if the list is empty.
    pub fn and(&mut self, list: &[TermId]) -> TermId {
        self.junction(list, true)
    }

    /// Disjunction; false if the list is empty.
    pub fn or(&mut self, list: &[TermId]) -> TermId {
        self.junction(list, false)
    }

    /// `a` implies `b`.
    pub fn implies(&mut self, a: TermId, b: TermId) -> TermId {
        let not_a = self.not(a);
        self.or(&[not_a, b])
    }

    /// Both or neither.
    pub fn iff(&mut self, a: TermId, b: TermId) -> TermId {
        let (a, b) = (self.boolean(a), self.boolean(b));
        let ((a, flip_a), (b, flip_b)) = (self.strip_not(a), self.strip_not(b));
        let flip = flip_a != flip_b;
        if a == b {
            return self.bool(!flip);
        }
        let equal = match (self.as_bool(a), self.as_bool(b)) {
            (Some(true), _) => b,
            (_, Some(true)) => a,
            (Some(false), _) => self.not(b),
            (_, Some(false)) => self.not(a),
            _ if self.known_complement(a) == Some(b) => Terms::FALSE,
            _ => self.intern(Sort::Bool, TermKind::Eq(a.min(b), a.max(b))),
        };
        if flip { self.not(equal) } else { equal }
    }

    /// One or the other.
    pub fn xor(&mut self, a: TermId, b: TermId) -> TermId {
        let equal = self.iff(a, b);
        self.not(equal)
    }

    fn strip_not(&self, t: TermId) -> (TermId, bool) {
        match self.kind(t) {
            TermKind::Not(inner) => (*inner, true),
            _ => (t, false),
        }
    }

    fn junction(&mut self, list: &[TermId], conjunction: bool) -> TermId {
        let absorbing = self.bool(!conjunction);
        let mut parts: Vec<TermId> = Vec::with_capacity(list.len());
        for &t in list {
            let t = self.boolean(t);
            if self.flatten_into(t, conjunction, &mut parts) {
                return absorbing;
            }
        }
        for _ in 0..MAX_UNIT_ROUNDS {
            parts.sort_unstable();
            parts.dedup();
            if self.has_complements(&parts) {
                return absorbing;
            }
            match self.resolve_units(&parts, conjunction) {
                UnitRound::Absorbed => return absorbing,
                UnitRound::Same => break,
                UnitRound::Changed(next) => parts = next,
            }
        }
        parts.sort_unstable();
        parts.dedup();
        if self.has_complements(&parts) {
            return absorbing;
        }
        match parts[..] {
            [] => self.bool(conjunction),
            [only] => only,
            _ if conjunction => self.intern(Sort::Bool, TermKind::And(parts.into())),
            _ => self.intern(Sort::Bool, TermKind::Or(parts.into())),
        }
    }

    /// Adds `t` or its operands to the list; true if it is the absorbing constant.
    fn flatten_into(&self, t: TermId, conjunction: bool, parts: &mut Vec<TermId>) -> bool {
        match (self.kind(t), conjunction) {
            (TermKind::Bool(value), _) => return *value != conjunction,
            (TermKind::And(inner), true) | (TermKind::Or(inner), false)
                if inner.len() <= MAX_FLAT =>
            {
                parts.extend_from_slice(inner);
            }
            _ => parts.push(t),
        }
        false
    }

    fn has_complements(&self, sorted: &[TermId]) -> bool {
        sorted.iter().any(|&t| {
            self.known_complement(t)
                .is_some_and(|c| sorted.binary_search(&c).is_ok())
        })
    }

    /// `a ∧ (¬a ∨ b)` is `a ∧ b`, `a ∧ (a ∨ b)` is `a`; and dually.
    fn resolve_units(&mut self, sorted: &[TermId], conjunction: bool) -> UnitRound {
        let mut next: Vec<TermId> = Vec::with_capacity(sorted.len());
        let mut changed = false;
        for &t in sorted {
            let inner = match (self.kind(t), conjunction) {
                (TermKind::Or(inner), true) | (TermKind::And(inner), false) => inner,
                _ => {
                    next.push(t);
                    continue;
                }
            };
            let holds = |l: &TermId| *l != t && sorted.binary_search(l).is_ok();
            if inner.iter().any(holds) {
                changed = true;
                continue;
            }
            let fails = |l: &TermId| {
                self.known_complement(*l)
                    .is_some_and(|c| sorted.binary_search(&c).is_ok())
            };
            let kept: Vec<TermId> = inner.iter().copied().filter(|l| !fails(l)).collect();
            if kept.len() == inner.len() {
                next.push(t);
                continue;
            }
            changed = true;
            let rest = self.junction(&kept, !conjunction);
            if self.flatten_into(rest, conjunction, &mut next) {
                return UnitRound::Absorbed;
            }
        }
        if changed {
            UnitRound::Changed(next)
        } else {
            UnitRound::Same
        }
    }

    /// `a` where the condition holds, else `b`; of any sort.
    pub fn ite(&mut self, c: TermId, a: TermId, b: TermId) -> TermId {
        let c = self.boolean(c);
        let (a, b) = self.same_sort(a, b);
        let (c, flipped) = self.strip_not(c);
        let (a, b) = if flipped { (b, a) } else { (a, b) };
        if let Some(value) = self.as_bool(c) {
            return if value { a } else { b };
        }
        let (a, b) = (
            self.branch_under(a, c, true),
            self.branch_under(b, c, false),
        );
        if a == b {
            return a;
        }
        if self.sort(a) == Sort::Bool {
            return self.ite_bool(c, a, b);
        }
        if let TermKind::Eq(x, k) = *self.kind(c)
            && ((a, b) == (k, x) || (a, b) == (x, k))
        {
            return b;
        }
        let sort = self.sort(a);
        self.intern(sort, TermKind::Ite(c, a, b))
    }

    /// A branch that asks the same condition again knows the answer.
    fn branch_under(&self, t: TermId, c: TermId, holds: bool) -> TermId {
        match *self.kind(t) {
            TermKind::Ite(inner, a, b) if inner == c => {
                if holds {
                    a
                } else {
                    b
                }
            }
            _ if t == c => {
                if holds {
                    Terms::TRUE
                } else {
                    Terms::FALSE
                }
            }
            _ if self.known_complement(c) == Some(t) => {
                if holds {
                    Terms::FALSE
                } else {
                    Terms::TRUE
                }
            }
            _ => t,
        }
    }

    fn ite_bool(&mut self, c: TermId, a: TermId, b: TermId) -> TermId {
        match (self.as_bool(a), self.as_bool(b)) {
            (Some(true), _) => self.or(&[c, b]),
            (_, Some(false)) => self.and(&[c, a]),
            (Some(false), _) => {
                let not_c = self.not(c);
                self.and(&[not_c, b])
            }
            (_, Some(true)) => {
                let not_c = self.not(c);
                self.or(&[not_c, a])
            }
            _ if self.known_complement(a) == Some(b) => self.iff(c, a),
            _ => self.intern(Sort::Bool, TermKind::Ite(c, a, b)),
        }
    }
}

enum UnitRound {
    Absorbed,
    Same,
    Changed(Vec<TermId>),
}
