//! What comes out of a query, and what may it cost?

use crate::Terms;
use crate::eval::{Assignment, Values};
use crate::term::TermId;

/// The result of a query.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Verdict {
    /// Some assignment satisfies all conjuncts; it is in the answer's model.
    Feasible,
    /// No assignment does.
    Infeasible,
    /// The fuel ran out.
    Unknown,
}

/// The stage that settled a query, or the last one that tried.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Stage {
    /// The conjunction is empty or contains `false`.
    Trivial,
    /// An atom and its negation.
    Filter,
    /// Congruence and intervals.
    Intervals,
    /// Bit-blasting.
    Sat,
}

/// Fuel of one query. Counted in steps, not seconds, so that verdicts are the same on every machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    /// Propagation steps of the interval stage, case splits included. Beyond it the query goes on to SAT.
    pub interval_steps: u64,
    /// Case splits of the interval stage. Beyond it the query goes on to SAT.
    pub splits: u32,
    /// Assignments that the interval stage tries to guess. Beyond it the query goes on to SAT.
    pub guesses: u32,
    /// Clauses that bit-blasting may make. Beyond it the verdict is unknown.
    pub sat_clauses: u64,
    /// Conflicts of the SAT solver. Beyond it the verdict is unknown.
    pub sat_conflicts: u64,
    /// Rounds of adding what the model got wrong about functions and addresses. Beyond it the verdict is unknown.
    pub lemma_rounds: u32,
}

impl Budget {
    /// The fuel that is left after a part of the query.
    pub(crate) fn left_after(&self, used: &Cost) -> Budget {
        Budget {
            interval_steps: self.interval_steps.saturating_sub(used.interval_steps),
            splits: self.splits.saturating_sub(used.splits),
            guesses: self.guesses.saturating_sub(used.guesses),
            sat_clauses: self.sat_clauses.saturating_sub(used.clauses),
            sat_conflicts: self.sat_conflicts.saturating_sub(used.conflicts),
            lemma_rounds: self.lemma_rounds,
        }
    }
}

impl Default for Budget {
    fn default() -> Self {
        Budget {
            interval_steps: 20_000,
            splits: 64,
            guesses: 48,
            sat_clauses: 400_000,
            sat_conflicts: 20_000,
            lemma_rounds: 64,
        }
    }
}

/// What a query used up.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Cost {
    /// Conjuncts that the filter looked at.
    pub filter_steps: u64,
    /// Propagation steps of the interval stage.
    pub interval_steps: u64,
    /// Case splits.
    pub splits: u32,
    /// Guessed assignments.
    pub guesses: u32,
    /// Clauses made.
    pub clauses: u64,
    /// Conflicts in the SAT solver.
    pub conflicts: u64,
}

/// The answer to a query.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The result.
    pub verdict: Verdict,
    /// Who found it.
    pub stage: Stage,
    /// A satisfying assignment; present exactly if the verdict is feasible.
    pub model: Option<Model>,
    /// What it took.
    pub cost: Cost,
    /// Whether an earlier query of the session gave the answer; `stage` is then the one that settled the earlier query.
    pub reused: bool,
}

impl Answer {
    /// Whether the conjunction can hold.
    pub fn is_feasible(&self) -> bool {
        self.verdict == Verdict::Feasible
    }

    /// Whether the conjunction can't hold.
    pub fn is_infeasible(&self) -> bool {
        self.verdict == Verdict::Infeasible
    }
}

/// A satisfying assignment that can be asked for the value of any term.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Model {
    assignment: Assignment,
}

impl Model {
    pub(crate) fn new(assignment: Assignment) -> Self {
        Model { assignment }
    }

    /// The values of the unknowns.
    pub fn assignment(&self) -> &Assignment {
        &self.assignment
    }

    /// The value of a term; booleans are 0 or 1. Terms that share nothing with the query have arbitrary, fixed values.
    pub fn value(&self, terms: &Terms, t: TermId) -> u64 {
        terms.eval(t, &self.assignment)
    }

    /// Whether a boolean term holds.
    pub fn holds(&self, terms: &Terms, t: TermId) -> bool {
        self.value(terms, t) != 0
    }

    /// For questions about many terms: shared parts are evaluated once.
    pub fn evaluator<'m>(&'m self, terms: &'m Terms) -> Evaluator<'m> {
        Evaluator {
            terms,
            assignment: &self.assignment,
            values: Values::default(),
        }
    }
}

/// Values of terms under a model, remembered.
#[derive(Debug)]
pub struct Evaluator<'m> {
    terms: &'m Terms,
    assignment: &'m Assignment,
    values: Values,
}

impl Evaluator<'_> {
    /// The value of a term; booleans are 0 or 1.
    pub fn value(&mut self, t: TermId) -> u64 {
        self.values.value(self.terms, t, self.assignment)
    }

    /// Whether a boolean term holds.
    pub fn holds(&mut self, t: TermId) -> bool {
        self.value(t) != 0
    }
}
