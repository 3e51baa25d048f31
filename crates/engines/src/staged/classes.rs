//! Question: of which class (zero, negative, not null …) is a value at an exit, after all that the path knows?

use drip_cond::{Sort, TermId, TermKind};
use drip_flow::{State, Symbol};
use drip_models::Class;
use drip_program::{BlockId, Op};

use super::exits::ExitReader;

impl ExitReader<'_, '_> {
    /// What the path knows of a value.
    pub(super) fn class_in(&mut self, state: &State, term: TermId) -> Class {
        if self.values.terms.sort(term) == Sort::Bool {
            return Class::Any;
        }
        if let Some(class) = self.sign_of(term) {
            return class;
        }
        // Of an unknown that no fact speaks of nothing is known.
        if matches!(self.values.terms.kind(term), TermKind::Sym(_))
            && !self.is_spoken_of(state, term)
        {
            return match self.is_read_through(term) {
                true => Class::NonZero,
                false => Class::Any,
            };
        }
        let candidates = [
            Class::Negative,
            Class::Positive,
            Class::NonZero,
            Class::NonNegative,
            Class::NonPositive,
        ];
        for class in candidates {
            if let Some(fact) = drip_flow::class_term(self.values, term, class)
                && (state.knows(fact) || self.values.terms.as_bool(fact) == Some(true))
            {
                return match class {
                    Class::NonNegative if self.excludes_zero(state, term) => Class::Positive,
                    _ => class,
                };
            }
        }
        if self.is_read_through(term) {
            return Class::NonZero;
        }
        // Greater than something, unsigned: not zero.
        let above = |fact: &TermId| matches!(*self.values.terms.kind(*fact), TermKind::Ult(_, b) if b == term);
        if state.facts.iter().any(above) || self.excludes_zero(state, term) {
            Class::NonZero
        } else if self.excludes(state, term, Class::Negative) {
            Class::NonNegative
        } else {
            Class::Any
        }
    }

    /// Does the path know anything of the symbols in a term?
    fn is_spoken_of(&mut self, state: &State, term: TermId) -> bool {
        let about = self.values.symbols_in(term);
        state.facts.iter().any(|&fact| {
            let symbols = self.values.symbols_in(fact);
            symbols.iter().any(|sym| about.contains(sym))
        })
    }

    /// The sign that a number has whatever it is made of (`-errno`).
    fn sign_of(&mut self, term: TermId) -> Option<Class> {
        if !matches!(
            self.values.terms.kind(term),
            TermKind::Linear(_) | TermKind::Binary(..)
        ) {
            return None;
        }
        let mut never = |class: Class| {
            let fact = drip_flow::class_term(self.values, term, class);
            fact.is_some_and(|fact| !self.questions.can_be(self.values, &[fact]))
        };
        match never(Class::NonNegative) {
            true => Some(Class::Negative),
            false => never(Class::NonPositive).then_some(Class::Positive),
        }
    }

    /// Is memory read or written through a pointer right where it is made (`for (p = s; *p; p++)`)?
    fn is_read_through(&self, term: TermId) -> bool {
        let TermKind::Sym(sym) = *self.values.terms.kind(term) else {
            return false;
        };
        let Some(Symbol::Value(value)) = self.values.symbol(sym) else {
            return false;
        };
        let body = self.frame.body;
        if value.index() >= body.value_count() {
            return false;
        }
        let block = body
            .def(value)
            .map_or(BlockId::new(0), |inst| self.frame.block_of(inst));
        body.block_insts(block)
            .any(|inst| match body.insts[inst].op {
                Op::Load { addr } | Op::Store { addr, .. } => {
                    self.frame.accessed(addr).as_value() == Some(value)
                }
                _ => false,
            })
    }

    /// Does what the path knows leave no way for a number to be zero (the new size of a buffer that has grown)?
    fn excludes_zero(&mut self, state: &State, term: TermId) -> bool {
        self.excludes(state, term, Class::Eq(0))
    }

    /// Can a number not be of this class, after all that the path knows?
    fn excludes(&mut self, state: &State, term: TermId, class: Class) -> bool {
        let about = self.values.symbols_in(term);
        let mut known: Vec<TermId> = Vec::new();
        for &fact in &state.facts {
            if self
                .values
                .symbols_in(fact)
                .iter()
                .any(|sym| about.contains(sym))
            {
                known.push(fact);
            }
        }
        if known.is_empty() {
            return false;
        }
        let Some(fact) = drip_flow::class_term(self.values, term, class) else {
            return false;
        };
        known.push(fact);
        !self.questions.can_hold(self.values, &known)
    }
}
