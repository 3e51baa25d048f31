//! Many similar queries over one arena: what can be answered from earlier ones?
//!
//! The conditions of neighbouring paths share most of their conjuncts. A session remembers
//!
//! - answers to whole queries;
//! - the last few models: one that satisfies a new query answers it (evaluation is much cheaper than solving);
//! - contradictory sets of conjuncts: a query that contains one is infeasible. Whole refuted queries are remembered, and
//!   the small cores that the client asks for.
//!
//! Deterministic: the answers depend on the sequence of queries, so a session belongs to one worker and one function.
//! Invariant: verdicts are those of [`crate::check`], except that an unknown may be settled by what is remembered.

use std::collections::VecDeque;
use std::time::Instant;

use rustc_hash::FxHashMap;

use crate::Terms;
use crate::answer::{Answer, Budget, Cost, Model, Stage, Verdict};
use crate::check::{Prepared, Query, booleans, check_counted, satisfies};
use crate::eval::Assignment;
use crate::statistics::Statistics;
use crate::term::TermId;

/// Models that are tried on a new query. More would cost more time than solving.
const MAX_MODELS: usize = 6;

/// Contradictory sets that are compared with a new query; the oldest are forgotten.
const MAX_CORES: usize = 128;

/// Whole answers that are remembered; after that the table starts again.
const MAX_ANSWERS: usize = 4096;

/// Conjuncts up to which a core is minimised; a larger one is returned as it is.
const MAX_CORE_CANDIDATES: usize = 96;

/// The memory of a sequence of queries.
#[derive(Debug)]
pub struct Session {
    budget: Budget,
    statistics: Statistics,
    answers: FxHashMap<Box<[TermId]>, Answer>,
    models: VecDeque<Assignment>,
    cores: VecDeque<(Box<[TermId]>, Stage)>,
}

impl Session {
    /// A session without memories.
    pub fn new(budget: Budget) -> Self {
        Session {
            budget,
            statistics: Statistics::new(),
            answers: FxHashMap::default(),
            models: VecDeque::new(),
            cores: VecDeque::new(),
        }
    }

    /// The fuel of each query.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// The figures so far.
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// Decides a conjunction.
    pub fn check(&mut self, terms: &mut Terms, conjunction: &[TermId]) -> Answer {
        let conjunction = &*booleans(terms, conjunction);
        let answer = self.answer(terms, conjunction);
        #[cfg(feature = "z3-check")]
        crate::oracle::assert_agreement(terms, conjunction, answer.verdict);
        answer
    }

    fn answer(&mut self, terms: &Terms, conjunction: &[TermId]) -> Answer {
        let mut query = Query {
            terms,
            budget: &self.budget,
            statistics: &mut self.statistics,
            cost: Cost::default(),
        };
        let conjuncts = match query.prepare(conjunction) {
            Prepared::Settled(answer) => {
                self.statistics.settle(&answer);
                return answer;
            }
            Prepared::Open(conjuncts) => conjuncts,
        };
        let start = Instant::now();
        if let Some(answer) = self.recall(terms, &conjuncts) {
            self.statistics.reuse(answer.verdict, start.elapsed());
            return answer;
        }
        let mut query = Query {
            terms,
            budget: &self.budget,
            statistics: &mut self.statistics,
            cost: Cost::default(),
        };
        let answer = query.decide(&conjuncts);
        self.statistics.settle(&answer);
        self.remember(&conjuncts, &answer);
        answer
    }

    fn recall(&self, terms: &Terms, conjuncts: &[TermId]) -> Option<Answer> {
        if let Some(known) = self.answers.get(conjuncts) {
            return Some(Answer {
                reused: true,
                cost: Cost::default(),
                ..known.clone()
            });
        }
        let recalled = |verdict, stage, model: Option<Assignment>| Answer {
            verdict,
            stage,
            model: model.map(Model::new),
            cost: Cost::default(),
            reused: true,
        };
        let contains = |core: &[TermId]| core.iter().all(|t| conjuncts.binary_search(t).is_ok());
        if let Some((_, stage)) = self.cores.iter().find(|(core, _)| contains(core)) {
            return Some(recalled(Verdict::Infeasible, *stage, None));
        }
        let model = self
            .models
            .iter()
            .find(|model| satisfies(terms, conjuncts, model))?;
        Some(recalled(
            Verdict::Feasible,
            Stage::Intervals,
            Some(model.clone()),
        ))
    }

    fn remember(&mut self, conjuncts: &[TermId], answer: &Answer) {
        if self.answers.len() >= MAX_ANSWERS {
            self.answers.clear();
        }
        self.answers.insert(conjuncts.into(), answer.clone());
        match (&answer.model, answer.verdict) {
            (Some(model), _) => {
                self.models.push_front(model.assignment().clone());
                self.models.truncate(MAX_MODELS);
            }
            (None, Verdict::Infeasible) => self.remember_core(conjuncts, answer.stage),
            _ => {}
        }
    }

    fn remember_core(&mut self, core: &[TermId], stage: Stage) {
        self.cores.push_front((core.into(), stage));
        self.cores.truncate(MAX_CORES);
    }

    /// A small contradictory part of an infeasible conjunction, by leaving out conjuncts one by one; the whole
    /// conjunction if it isn't infeasible. Further queries that contain the part are refuted at once.
    pub fn core(&mut self, terms: &mut Terms, conjunction: &[TermId]) -> Vec<TermId> {
        let mut scratch = Statistics::new();
        let mut core = conjunction.to_vec();
        core.sort_unstable();
        core.dedup();
        let whole = check_counted(terms, &core, &self.budget, &mut scratch);
        if !whole.is_infeasible() || core.len() > MAX_CORE_CANDIDATES {
            return core;
        }
        let mut at = 0;
        while at < core.len() {
            let mut without = core.clone();
            without.remove(at);
            if check_counted(terms, &without, &self.budget, &mut scratch).is_infeasible() {
                core = without;
            } else {
                at += 1;
            }
        }
        self.remember_core(&core, whole.stage);
        core
    }
}
