//! Case splits: a depth-first search over what propagation leaves open, with fuel.

use std::cell::OnceCell;

use super::graph::{Graph, Node};
use super::guess::{STRATEGIES, guess};
use super::propagate::Propagator;
use super::state::{Conflict, State};
use crate::Terms;
use crate::answer::{Budget, Cost};
use crate::blast::LeafFacts;
use crate::eval::Assignment;
use crate::term::{Sort, TermId, TermKind};

/// Nested case splits. Deeper combinations of cases are left to SAT, which is made for them.
const MAX_SPLIT_DEPTH: u32 = 6;

/// Open disjunctions up to which cases are tried. A query with more is mostly structure of booleans (a whole region of
/// the program), which SAT decides faster.
const MAX_OPEN_DISJUNCTIONS: usize = 8;

/// Strategies of guessing inside a case; at the top all are tried.
const STRATEGIES_PER_CASE: usize = 2;

/// What the interval stage found out about a part of the query.
pub(crate) enum Settled {
    Feasible(Assignment),
    Infeasible,
    /// Not settled; what is certain about the unknowns.
    Open(LeafFacts),
}

enum Explored {
    Refuted,
    Found(Assignment),
    Open,
}

/// One part of the query: a conjunction that shares no unknowns with the others.
struct Search<'g> {
    propagator: Propagator<'g>,
    goals: Vec<Node>,
    splits_left: u32,
    guesses_left: u32,
}

/// Tries to settle the parts of a query. The results are in the order of the parts and end with the first infeasible
/// one; facts are propagated in all parts before cases and guesses are tried in any.
pub(crate) fn settle(
    terms: &Terms,
    parts: &[Vec<TermId>],
    budget: &Budget,
    cost: &mut Cost,
) -> Vec<(usize, Settled)> {
    // Made one by one: a conflict in an early part saves the graphs of the others.
    let graphs: Vec<OnceCell<Graph<'_>>> = parts.iter().map(|_| OnceCell::new()).collect();
    let mut started = Vec::with_capacity(parts.len());
    for (index, (cell, part)) in graphs.iter().zip(parts).enumerate() {
        let graph = cell.get_or_init(|| Graph::new(terms, part));
        let mut search = Search::new(graph, part);
        let mut state = State::new(graph);
        let explored = search.metered(budget, cost, |search| search.start(&mut state));
        if explored.is_err() {
            return vec![(index, Settled::Infeasible)];
        }
        started.push((search, state));
    }
    let mut results = Vec::with_capacity(parts.len());
    for (index, (search, state)) in started.iter_mut().enumerate() {
        let explored = search.metered(budget, cost, |search| search.explore(state, 0));
        let settled = match explored {
            Explored::Refuted => Settled::Infeasible,
            Explored::Found(model) => Settled::Feasible(model),
            Explored::Open => Settled::Open(leaf_facts(search.propagator.graph, state)),
        };
        let refuted = matches!(settled, Settled::Infeasible);
        results.push((index, settled));
        if refuted {
            break;
        }
    }
    results
}

impl<'g> Search<'g> {
    fn new(graph: &'g Graph<'g>, conjuncts: &[TermId]) -> Self {
        Search {
            propagator: Propagator::new(graph),
            goals: conjuncts.iter().filter_map(|&t| graph.number(t)).collect(),
            splits_left: 0,
            guesses_left: 0,
        }
    }

    /// Runs with what is left of the query's fuel, and accounts for it.
    fn metered<R>(
        &mut self,
        budget: &Budget,
        cost: &mut Cost,
        run: impl FnOnce(&mut Self) -> R,
    ) -> R {
        let left = budget.left_after(cost);
        let before = self.propagator.steps;
        self.propagator.limit = before + left.interval_steps;
        self.splits_left = left.splits;
        self.guesses_left = left.guesses;
        let result = run(self);
        cost.interval_steps += self.propagator.steps - before;
        cost.splits += left.splits - self.splits_left;
        cost.guesses += left.guesses - self.guesses_left;
        result
    }

    /// States the conjuncts and propagates.
    fn start(&mut self, state: &mut State) -> Result<(), Conflict> {
        let graph = self.propagator.graph;
        (0..graph.len()).for_each(|node| self.propagator.enqueue(node));
        for goal in self.goals.clone() {
            self.propagator.set_truth(state, goal, true)?;
        }
        self.propagator.run(state)
    }

    /// Propagates, guesses, splits. Facts learnt from refuted cases stay in the state.
    fn explore(&mut self, state: &mut State, depth: u32) -> Explored {
        if self.propagator.run(state).is_err() {
            return Explored::Refuted;
        }
        if self.propagator.out_of_fuel() {
            return Explored::Open;
        }
        if let Some(model) = self.guess_model(state, depth) {
            return Explored::Found(model);
        }
        if depth >= MAX_SPLIT_DEPTH {
            return Explored::Open;
        }
        let Some(cases) = self.choose_split(state) else {
            return Explored::Open;
        };
        let mut all_refuted = true;
        for (node, value) in cases {
            if self.splits_left == 0 || self.propagator.out_of_fuel() {
                return Explored::Open;
            }
            self.splits_left -= 1;
            let mut case = state.clone();
            match self.explore_case(&mut case, node, value, depth) {
                Explored::Found(model) => return Explored::Found(model),
                Explored::Open => all_refuted = false,
                Explored::Refuted => {
                    if self.learn(state, node, !value).is_err() {
                        return if all_refuted {
                            Explored::Refuted
                        } else {
                            Explored::Open
                        };
                    }
                }
            }
        }
        if all_refuted {
            Explored::Refuted
        } else {
            Explored::Open
        }
    }

    fn explore_case(&mut self, state: &mut State, node: Node, value: bool, depth: u32) -> Explored {
        match self.propagator.set_truth(state, node, value) {
            Ok(()) => self.explore(state, depth + 1),
            Err(Conflict) => Explored::Refuted,
        }
    }

    fn learn(&mut self, state: &mut State, node: Node, value: bool) -> Result<(), Conflict> {
        self.propagator.set_truth(state, node, value)?;
        self.propagator.run(state)
    }

    fn guess_model(&mut self, state: &State, depth: u32) -> Option<Assignment> {
        let count = if depth == 0 {
            STRATEGIES.len()
        } else {
            STRATEGIES_PER_CASE
        };
        for &strategy in STRATEGIES.iter().take(count) {
            if self.guesses_left == 0 {
                return None;
            }
            self.guesses_left -= 1;
            let model = guess(self.propagator.graph, state, &self.goals, strategy);
            if model.is_some() {
                return model;
            }
        }
        None
    }

    /// The cases of the open disjunction that has the fewest, or else of the condition of an open choice; none if
    /// there is nothing to split, or too much.
    fn choose_split(&self, state: &State) -> Option<Vec<(Node, bool)>> {
        let graph = self.propagator.graph;
        let mut best: Option<Vec<(Node, bool)>> = None;
        let mut condition = None;
        let mut open_disjunctions = 0;
        for node in 0..graph.len() {
            let wanted = match graph.kind(node) {
                TermKind::Or(_) => true,
                TermKind::And(_) => false,
                TermKind::Ite(..) if condition.is_none() => {
                    let c = graph.operand(node, 0);
                    condition = state.range(c).as_bool().is_none().then_some(c);
                    continue;
                }
                _ => continue,
            };
            let Some(cases) = open_cases(graph, state, node, wanted) else {
                continue;
            };
            open_disjunctions += 1;
            if best.as_ref().is_none_or(|known| cases.len() < known.len()) {
                best = Some(cases);
            }
        }
        if open_disjunctions > MAX_OPEN_DISJUNCTIONS {
            return None;
        }
        best.or_else(|| condition.map(|c| vec![(c, true), (c, false)]))
    }
}

/// The operands that could make a disjunction true (or, dually, a conjunction false), if it has to be and no operand
/// does so yet.
fn open_cases(
    graph: &Graph<'_>,
    state: &State,
    node: Node,
    wanted: bool,
) -> Option<Vec<(Node, bool)>> {
    if state.range(node).as_bool() != Some(wanted) {
        return None;
    }
    let operands = graph.operands(node);
    let known = |operand: Node| state.range(operand).as_bool();
    if operands
        .iter()
        .any(|&operand| known(operand) == Some(wanted))
    {
        return None;
    }
    let open = operands.iter().filter(|&&operand| known(operand).is_none());
    Some(open.map(|&operand| (operand, wanted)).collect())
}

/// What is certain about the unknowns, for bit-blasting.
fn leaf_facts(graph: &Graph<'_>, state: &State) -> LeafFacts {
    let mut facts = LeafFacts::default();
    for node in (0..graph.len()).filter(|&node| graph.is_leaf(node)) {
        let range = state.range(node);
        let t = graph.term(node);
        facts.known_bits.insert(t, (range.zeros, range.ones));
        let twins = state.members(node).filter(|&other| {
            other < node && graph.is_leaf(other) && graph.sort(other) == graph.sort(node)
        });
        if let Some(twin) = twins.min() {
            facts.same.insert(t, graph.term(twin));
        }
        debug_assert!(graph.sort(node) == Sort::Bool || range.width == graph.width(node));
    }
    facts
}
