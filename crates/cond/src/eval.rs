//! What is the value of a term under an assignment?
//!
//! Assignments are total: a symbol that isn't mentioned is 0, an object has its default address, a function gives 0.
//! So a model found for a query also answers for terms outside of it, with arbitrary but fixed values.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::Terms;
use crate::address::default_address;
use crate::term::{FnKey, Linear, ObjKey, SymId, TermId, TermKind, mask, to_signed};

/// Values for the unknowns of terms.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Assignment {
    syms: BTreeMap<SymId, u64>,
    addresses: BTreeMap<ObjKey, u64>,
    functions: BTreeMap<(FnKey, Vec<u64>), u64>,
}

impl Assignment {
    /// The assignment that mentions nothing.
    pub fn new() -> Self {
        Assignment::default()
    }

    /// Sets a symbol; booleans are 0 or 1.
    pub fn set_sym(&mut self, sym: SymId, value: u64) {
        self.syms.insert(sym, value);
    }

    /// Sets the address of an object. The caller keeps the axioms of [`crate::address`].
    pub fn set_address(&mut self, object: ObjKey, value: u64) {
        self.addresses.insert(object, value);
    }

    /// Sets a function's result for given arguments.
    pub fn set_result(&mut self, function: FnKey, args: Vec<u64>, value: u64) {
        self.functions.insert((function, args), value);
    }

    /// Takes over what another assignment mentions.
    pub(crate) fn extend(&mut self, other: Assignment) {
        self.syms.extend(other.syms);
        self.addresses.extend(other.addresses);
        self.functions.extend(other.functions);
    }

    /// The part that matters for the given terms, with the defaults written out.
    pub(crate) fn restricted(&self, terms: &Terms, roots: &[TermId]) -> Assignment {
        let mut part = Assignment::new();
        let mut values = Values::default();
        for t in terms.subterms(roots) {
            match terms.kind(t) {
                TermKind::Sym(sym) => part.set_sym(*sym, self.sym(*sym)),
                TermKind::Addr(object) => part.set_address(*object, self.address(*object)),
                TermKind::App(function, args) => {
                    let args = args
                        .iter()
                        .map(|&arg| values.value(terms, arg, self))
                        .collect();
                    part.set_result(*function, args, values.value(terms, t, self));
                }
                _ => {}
            }
        }
        part
    }

    /// The symbol's value.
    pub fn sym(&self, sym: SymId) -> u64 {
        self.syms.get(&sym).copied().unwrap_or(0)
    }

    /// The object's address.
    pub fn address(&self, object: ObjKey) -> u64 {
        self.addresses
            .get(&object)
            .copied()
            .unwrap_or_else(|| default_address(object))
    }

    /// The function's result.
    pub fn result(&self, function: FnKey, args: &[u64]) -> u64 {
        self.functions
            .get(&(function, args.to_vec()))
            .copied()
            .unwrap_or(0)
    }

    /// All mentioned symbols, ascending.
    pub fn syms(&self) -> impl Iterator<Item = (SymId, u64)> + '_ {
        self.syms.iter().map(|(&sym, &value)| (sym, value))
    }
}

/// Values of the terms evaluated so far, for questions about many terms under one assignment.
#[derive(Clone, Default, Debug)]
pub struct Values {
    known: FxHashMap<TermId, u64>,
}

impl Values {
    /// The value of a term, evaluating what isn't known yet.
    pub fn value(&mut self, terms: &Terms, t: TermId, assignment: &Assignment) -> u64 {
        let mut stack = vec![t];
        while let Some(&top) = stack.last() {
            if self.known.contains_key(&top) {
                stack.pop();
                continue;
            }
            let depth = stack.len();
            terms.kind(top).for_each_child(|child| {
                if !self.known.contains_key(&child) {
                    stack.push(child);
                }
            });
            if stack.len() == depth {
                let value = self.apply(terms, top, assignment);
                self.known.insert(top, value);
                stack.pop();
            }
        }
        self.get(t)
    }

    fn get(&self, t: TermId) -> u64 {
        self.known.get(&t).copied().unwrap_or(0)
    }

    fn apply(&self, terms: &Terms, t: TermId, assignment: &Assignment) -> u64 {
        let get = |t: TermId| self.get(t);
        let m = terms.sort(t).mask();
        match terms.kind(t) {
            TermKind::Bool(value) => u64::from(*value),
            TermKind::Int(value) => *value,
            TermKind::Sym(sym) => assignment.sym(*sym) & m,
            TermKind::Addr(object) => assignment.address(*object),
            TermKind::App(function, args) => {
                let args: Vec<u64> = args.iter().map(|&arg| get(arg)).collect();
                assignment.result(*function, &args) & m
            }
            kind => {
                let mut operands: Vec<u64> = Vec::with_capacity(3);
                kind.for_each_child(|child| operands.push(get(child)));
                apply_operator(terms, t, |i| operands.get(i).copied().unwrap_or(0))
            }
        }
    }
}

/// The value of an operator on the values of its operands, given by position; unknowns give 0.
pub(crate) fn apply_operator(terms: &Terms, t: TermId, operand: impl Fn(usize) -> u64) -> u64 {
    let m = terms.sort(t).mask();
    match terms.kind(t) {
        TermKind::Bool(value) => u64::from(*value),
        TermKind::Int(value) => *value,
        TermKind::Sym(_) | TermKind::Addr(_) | TermKind::App(..) => 0,
        TermKind::Not(_) => u64::from(operand(0) == 0),
        TermKind::And(list) => u64::from((0..list.len()).all(|i| operand(i) != 0)),
        TermKind::Or(list) => u64::from((0..list.len()).any(|i| operand(i) != 0)),
        TermKind::Ite(..) => operand(if operand(0) != 0 { 1 } else { 2 }),
        TermKind::Eq(..) => u64::from(operand(0) == operand(1)),
        TermKind::Ult(..) => u64::from(operand(0) < operand(1)),
        TermKind::Slt(a, _) => {
            let width = terms.width(*a);
            u64::from(to_signed(operand(0), width) < to_signed(operand(1), width))
        }
        TermKind::Linear(Linear {
            terms: summands,
            constant,
        }) => {
            let products = summands
                .iter()
                .enumerate()
                .map(|(i, &(_, c))| operand(i).wrapping_mul(c));
            products.fold(*constant, u64::wrapping_add) & m
        }
        TermKind::Binary(op, _, _) => op.apply(operand(0), operand(1), terms.width(t)),
        TermKind::Zext(_) => operand(0),
        TermKind::Sext(a) => (to_signed(operand(0), terms.width(*a)) as u64) & m,
        TermKind::Trunc(_) => operand(0) & mask(terms.width(t)),
    }
}

impl Terms {
    /// The value of a term; booleans are 0 or 1.
    pub fn eval(&self, t: TermId, assignment: &Assignment) -> u64 {
        Values::default().value(self, t, assignment)
    }

    /// The value of a boolean term.
    pub fn eval_bool(&self, t: TermId, assignment: &Assignment) -> bool {
        self.eval(t, assignment) != 0
    }
}
