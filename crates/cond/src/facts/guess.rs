//! Is there an assignment at hand?
//!
//! A state without contradiction often has an obvious solution: each class takes an end of its range. The guess is
//! evaluated on the whole query, so a wrong one costs a little time and nothing else. Taking the low ends satisfies
//! every chain of comparisons that propagation has closed; other strategies serve signed orders and disequalities.

use std::collections::BTreeMap;

use super::domain::Range;
use super::graph::{Graph, Node};
use super::state::State;
use crate::address::default_address;
use crate::eval::Assignment;
use crate::term::{FnKey, SymId, TermKind, mask};

/// Which value of its range a class takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Strategy {
    UnsignedLow,
    SignedLow,
    Scattered,
    UnsignedHigh,
    SignedHigh,
}

/// All strategies, the most successful first.
pub(crate) const STRATEGIES: [Strategy; 5] = [
    Strategy::UnsignedLow,
    Strategy::SignedLow,
    Strategy::Scattered,
    Strategy::UnsignedHigh,
    Strategy::SignedHigh,
];

/// Rounds in which classes take the values of their compound members; longer chains of definitions are left to SAT.
const DEFINITION_ROUNDS: usize = 3;

/// Values tried next to one that a disequality forbids.
const MAX_BUMPS: u64 = 16;

struct Guess<'s> {
    graph: &'s Graph<'s>,
    state: &'s State,
    strategy: Strategy,
    /// The value of each class, at its representative.
    chosen: Vec<Option<u64>>,
}

/// Tries one strategy; the result satisfies the query.
pub(crate) fn guess(
    graph: &Graph<'_>,
    state: &State,
    goals: &[Node],
    strategy: Strategy,
) -> Option<Assignment> {
    let mut guess = Guess {
        graph,
        state,
        strategy,
        chosen: vec![None; graph.len() as usize],
    };
    guess.choose_free_classes();
    for _ in 0..DEFINITION_ROUNDS {
        if !guess.follow_definitions() {
            break;
        }
    }
    guess.choose_rest();
    guess.evaluate(goals)
}

impl Guess<'_> {
    fn leaves(&self) -> impl Iterator<Item = Node> + use<'_> {
        (0..self.graph.len()).filter(|&node| self.graph.is_leaf(node))
    }

    fn class_value(&self, node: Node) -> Option<u64> {
        self.chosen
            .get(self.state.find(node) as usize)
            .copied()
            .flatten()
    }

    fn set(&mut self, node: Node, value: u64) {
        let rep = self.state.find(node);
        if let Some(slot) = self.chosen.get_mut(rep as usize) {
            *slot = Some(value);
        }
    }

    /// Classes whose value is certain, and classes of unknowns only.
    fn choose_free_classes(&mut self) {
        let leaves: Vec<Node> = self.leaves().collect();
        for &leaf in &leaves {
            if self.class_value(leaf).is_some() {
                continue;
            }
            if let Some(value) = self.state.range(leaf).single() {
                self.set(leaf, value);
            } else if let Some(place) = self.state.place(leaf) {
                self.set(
                    leaf,
                    default_address(place.object).wrapping_add(place.offset),
                );
            }
        }
        for &leaf in &leaves {
            let defined = self
                .state
                .members(leaf)
                .any(|member| !self.graph.is_leaf(member));
            if self.class_value(leaf).is_none() && !defined {
                let value = self.pick(leaf);
                self.set(leaf, value);
            }
        }
    }

    /// Gives classes the value of a compound member whose operands are known; true if some class is still without.
    fn follow_definitions(&mut self) -> bool {
        let mut values: Vec<Option<u64>> = vec![None; self.graph.len() as usize];
        let mut missing = false;
        for node in 0..self.graph.len() {
            let value = if self.graph.is_leaf(node) {
                missing |= self.class_value(node).is_none();
                self.class_value(node)
            } else {
                let value = |operand: Node| values.get(operand as usize).copied().flatten();
                let ready = self
                    .graph
                    .operands(node)
                    .iter()
                    .all(|&operand| value(operand).is_some());
                ready.then(|| {
                    self.graph
                        .apply(node, |operand| value(operand).unwrap_or(0))
                })
            };
            if let (Some(value), None) = (value, self.class_value(node)) {
                self.set(node, value);
            }
            if let Some(slot) = values.get_mut(node as usize) {
                *slot = value;
            }
        }
        missing
    }

    fn choose_rest(&mut self) {
        let open: Vec<Node> = self
            .leaves()
            .filter(|&leaf| self.class_value(leaf).is_none())
            .collect();
        for leaf in open {
            if self.class_value(leaf).is_none() {
                let value = self.pick(leaf);
                self.set(leaf, value);
            }
        }
    }

    /// A value of the range that no disequality with a chosen class forbids.
    fn pick(&self, node: Node) -> u64 {
        let range = self.state.range(node);
        let first = first_choice(&range, self.strategy, self.state.find(node));
        let forbidden = self.forbidden(node);
        let m = mask(range.width);
        (0..MAX_BUMPS)
            .flat_map(|by| [first.wrapping_add(by) & m, first.wrapping_sub(by) & m])
            .find(|&value| range.contains(value) && !forbidden.contains(&value))
            .unwrap_or(first)
    }

    fn forbidden(&self, node: Node) -> Vec<u64> {
        let mut values = Vec::new();
        for member in self.state.members(node) {
            for &user in self.graph.users(member) {
                let TermKind::Eq(..) = self.graph.kind(user) else {
                    continue;
                };
                if self.state.range(user).as_bool() != Some(false) {
                    continue;
                }
                let (a, b) = (self.graph.operand(user, 0), self.graph.operand(user, 1));
                let other = if self.state.same(a, node) { b } else { a };
                values.extend(self.state.range(other).single().or(self.class_value(other)));
            }
        }
        values
    }

    /// Evaluates the query on the chosen unknowns.
    fn evaluate(&self, goals: &[Node]) -> Option<Assignment> {
        let mut values = vec![0u64; self.graph.len() as usize];
        let mut syms: BTreeMap<SymId, u64> = BTreeMap::new();
        let mut results: BTreeMap<(FnKey, Vec<u64>), u64> = BTreeMap::new();
        for node in 0..self.graph.len() {
            let get = |operand: Node| values.get(operand as usize).copied().unwrap_or(0);
            let own = || self.class_value(node).unwrap_or(0) & self.graph.sort(node).mask();
            let value = match self.graph.kind(node) {
                TermKind::Sym(sym) => {
                    // One symbol with two sorts has one value only.
                    let value = own();
                    if *syms.entry(*sym).or_insert(value) != value {
                        return None;
                    }
                    value
                }
                TermKind::Addr(object) => default_address(*object),
                TermKind::App(function, _) => {
                    let args = self
                        .graph
                        .operands(node)
                        .iter()
                        .map(|&operand| get(operand))
                        .collect();
                    *results.entry((*function, args)).or_insert_with(own)
                        & self.graph.sort(node).mask()
                }
                _ => self.graph.apply(node, get),
            };
            if let Some(slot) = values.get_mut(node as usize) {
                *slot = value;
            }
        }
        if goals
            .iter()
            .any(|&goal| values.get(goal as usize).copied() != Some(1))
        {
            return None;
        }
        let mut assignment = Assignment::new();
        syms.into_iter()
            .for_each(|(sym, value)| assignment.set_sym(sym, value));
        results
            .into_iter()
            .for_each(|((function, args), value)| assignment.set_result(function, args, value));
        Some(assignment)
    }
}

fn first_choice(range: &Range, strategy: Strategy, seed: Node) -> u64 {
    let m = mask(range.width);
    let value = match strategy {
        Strategy::UnsignedLow => range.umin,
        Strategy::SignedLow => range.smin as u64 & m,
        Strategy::UnsignedHigh => range.umax,
        Strategy::SignedHigh => range.smax as u64 & m,
        Strategy::Scattered => {
            let hash = (u64::from(seed) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let span = range.umax - range.umin;
            let step = if span == u64::MAX {
                hash
            } else {
                hash % (span + 1)
            };
            ((range.umin + step) & !range.zeros) | range.ones
        }
    };
    if range.contains(value) {
        value
    } else {
        range.umin
    }
}
