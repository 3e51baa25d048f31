//! Can all these conditions hold at once?
//!
//! The stages in order of price: trivial, contradiction filter, congruence and intervals, bit-blasted SAT. Each either
//! settles the query or hands it on; "feasible" is only ever said with a model under which every conjunct evaluates to
//! true, whichever stage found it.

use std::borrow::Cow;
use std::time::Instant;

use crate::Terms;
use crate::answer::{Answer, Budget, Cost, Model, Stage, Verdict};
use crate::blast::{self, LeafFacts, Outcome};
use crate::components::partition;
use crate::eval::{Assignment, Values};
use crate::facts::{self, Settled};
use crate::filter;
use crate::statistics::Statistics;
use crate::term::{Sort, TermId};

/// Decides a conjunction.
pub fn check(terms: &mut Terms, conjunction: &[TermId], budget: &Budget) -> Answer {
    check_counted(terms, conjunction, budget, &mut Statistics::new())
}

/// Decides a conjunction and counts it.
pub fn check_counted(
    terms: &mut Terms,
    conjunction: &[TermId],
    budget: &Budget,
    statistics: &mut Statistics,
) -> Answer {
    let conjunction = &*booleans(terms, conjunction);
    let mut query = Query {
        terms,
        budget,
        statistics,
        cost: Cost::default(),
    };
    let answer = match query.prepare(conjunction) {
        Prepared::Settled(answer) => answer,
        Prepared::Open(conjuncts) => {
            let parts = partition(query.terms, &conjuncts);
            query.decide(&parts, Assignment::new(), &mut |_, _| {})
        }
    };
    statistics.settle(&answer);
    #[cfg(feature = "z3-check")]
    crate::oracle::assert_agreement(terms, conjunction, answer.verdict);
    answer
}

/// The conjuncts as booleans: words that slipped in are compared with 0.
pub(crate) fn booleans<'c>(terms: &mut Terms, conjunction: &'c [TermId]) -> Cow<'c, [TermId]> {
    if conjunction.iter().all(|&t| terms.sort(t) == Sort::Bool) {
        return Cow::Borrowed(conjunction);
    }
    Cow::Owned(conjunction.iter().map(|&t| terms.boolean(t)).collect())
}

/// A query after the cheap stages.
pub(crate) enum Prepared {
    Settled(Answer),
    /// The flat conjunction, ascending.
    Open(Vec<TermId>),
}

/// What was found out about a part of a query.
pub(crate) enum PartResult<'r> {
    Feasible(&'r Assignment),
    Infeasible(Stage),
}

/// One run through the stages.
pub(crate) struct Query<'q> {
    pub(crate) terms: &'q Terms,
    pub(crate) budget: &'q Budget,
    pub(crate) statistics: &'q mut Statistics,
    pub(crate) cost: Cost,
}

impl Query<'_> {
    /// The trivial stage and the filter.
    pub(crate) fn prepare(&mut self, conjunction: &[TermId]) -> Prepared {
        let start = Instant::now();
        let flat = filter::flatten(self.terms, conjunction);
        self.cost.filter_steps = flat.steps;
        let trivial = match (flat.is_false, flat.conjuncts.is_empty()) {
            (true, _) => Some(self.answer(Verdict::Infeasible, Stage::Trivial, None)),
            (false, true) => {
                Some(self.answer(Verdict::Feasible, Stage::Trivial, Some(Assignment::new())))
            }
            (false, false) => None,
        };
        self.statistics.enter(Stage::Trivial, start.elapsed());
        if let Some(answer) = trivial {
            return Prepared::Settled(answer);
        }
        let start = Instant::now();
        let contradiction = filter::contradicts(self.terms, &flat.conjuncts);
        self.statistics.enter(Stage::Filter, start.elapsed());
        if contradiction {
            return Prepared::Settled(self.answer(Verdict::Infeasible, Stage::Filter, None));
        }
        Prepared::Open(flat.conjuncts)
    }

    /// Intervals, then SAT, for parts that share no unknowns: all of them by intervals before any goes on to SAT.
    /// `model` has the values of parts that were decided before; `log` hears what is decided here.
    pub(crate) fn decide(
        &mut self,
        parts: &[Vec<TermId>],
        mut model: Assignment,
        log: &mut dyn FnMut(&[TermId], &PartResult),
    ) -> Answer {
        let start = Instant::now();
        let mut open = Vec::new();
        let mut refuted = false;
        for (index, settled) in facts::settle(self.terms, parts, self.budget, &mut self.cost) {
            let Some(part) = parts.get(index) else {
                continue;
            };
            match settled {
                Settled::Feasible(values) => {
                    log(part, &PartResult::Feasible(&values));
                    model.extend(values);
                }
                Settled::Infeasible => {
                    log(part, &PartResult::Infeasible(Stage::Intervals));
                    refuted = true;
                }
                Settled::Open(facts) => open.push((part.as_slice(), facts)),
            }
        }
        self.statistics.enter(Stage::Intervals, start.elapsed());
        if refuted {
            self.answer(Verdict::Infeasible, Stage::Intervals, None)
        } else if open.is_empty() {
            self.answer(Verdict::Feasible, Stage::Intervals, Some(model))
        } else {
            self.by_sat(&open, model, log)
        }
    }

    fn by_sat(
        &mut self,
        open: &[(&[TermId], LeafFacts)],
        mut model: Assignment,
        log: &mut dyn FnMut(&[TermId], &PartResult),
    ) -> Answer {
        let start = Instant::now();
        let mut verdict = Verdict::Feasible;
        for (part, facts) in open {
            let budget = self.budget.left_after(&self.cost);
            match blast::solve(self.terms, part, facts, &budget, &mut self.cost) {
                Outcome::Infeasible => {
                    log(part, &PartResult::Infeasible(Stage::Sat));
                    verdict = Verdict::Infeasible;
                    break;
                }
                Outcome::Feasible(values) if satisfies(self.terms, part, &values) => {
                    log(part, &PartResult::Feasible(&values));
                    model.extend(values);
                }
                // A model that doesn't hold would be the client's doing: one symbol or function with two sorts.
                Outcome::Feasible(_) | Outcome::OutOfFuel => verdict = Verdict::Unknown,
            }
        }
        self.statistics.enter(Stage::Sat, start.elapsed());
        let model = (verdict == Verdict::Feasible).then_some(model);
        self.answer(verdict, Stage::Sat, model)
    }

    fn answer(&self, verdict: Verdict, stage: Stage, model: Option<Assignment>) -> Answer {
        Answer {
            verdict,
            stage,
            model: model.map(Model::new),
            cost: self.cost,
            reused: false,
        }
    }
}

/// Whether every conjunct evaluates to true.
pub(crate) fn satisfies(terms: &Terms, conjuncts: &[TermId], assignment: &Assignment) -> bool {
    let mut values = Values::default();
    conjuncts
        .iter()
        .all(|&t| values.value(terms, t, assignment) != 0)
}
