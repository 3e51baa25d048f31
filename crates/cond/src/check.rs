//! Can all these conditions hold at once?
//!
//! The stages in order of price: trivial, contradiction filter, congruence and intervals, bit-blasted SAT. Each either
//! settles the query or hands it on; "feasible" is only ever said with a model under which every conjunct evaluates to
//! true, whichever stage found it.

use crate::Terms;
use crate::answer::{Answer, Budget, Cost, Model, Stage, Verdict};
use crate::blast::{self, LeafFacts, Outcome};
use crate::eval::{Assignment, Values};
use crate::facts::{self, Settled};
use crate::filter;
use crate::term::TermId;

/// Decides a conjunction.
pub fn check(terms: &mut Terms, conjunction: &[TermId], budget: &Budget) -> Answer {
    let mut cost = Cost::default();
    let flat = filter::flatten(terms, conjunction);
    cost.filter_steps = flat.steps;
    if flat.is_false {
        return settled(Verdict::Infeasible, Stage::Trivial, None, cost);
    }
    if flat.conjuncts.is_empty() {
        return settled(
            Verdict::Feasible,
            Stage::Trivial,
            Some(Assignment::new()),
            cost,
        );
    }
    if filter::contradicts(terms, &flat.conjuncts) {
        return settled(Verdict::Infeasible, Stage::Filter, None, cost);
    }
    match facts::settle(terms, &flat.conjuncts, budget, &mut cost) {
        Settled::Feasible(model) => settled(Verdict::Feasible, Stage::Intervals, Some(model), cost),
        Settled::Infeasible => settled(Verdict::Infeasible, Stage::Intervals, None, cost),
        Settled::Open(facts) => by_sat(terms, &flat.conjuncts, &facts, budget, cost),
    }
}

fn by_sat(
    terms: &Terms,
    conjuncts: &[TermId],
    facts: &LeafFacts,
    budget: &Budget,
    mut cost: Cost,
) -> Answer {
    match blast::solve(terms, conjuncts, facts, budget, &mut cost) {
        Outcome::Infeasible => settled(Verdict::Infeasible, Stage::Sat, None, cost),
        Outcome::Feasible(model) if satisfies(terms, conjuncts, &model) => {
            settled(Verdict::Feasible, Stage::Sat, Some(model), cost)
        }
        // A model that doesn't hold would be the client's doing: one symbol or function with two sorts.
        Outcome::Feasible(_) | Outcome::OutOfFuel => {
            settled(Verdict::Unknown, Stage::Sat, None, cost)
        }
    }
}

fn settled(verdict: Verdict, stage: Stage, model: Option<Assignment>, cost: Cost) -> Answer {
    Answer {
        verdict,
        stage,
        model: model.map(Model::new),
        cost,
    }
}

/// Whether every conjunct evaluates to true.
pub(crate) fn satisfies(terms: &Terms, conjuncts: &[TermId], assignment: &Assignment) -> bool {
    let mut values = Values::default();
    conjuncts
        .iter()
        .all(|&t| values.value(terms, t, assignment) != 0)
}
