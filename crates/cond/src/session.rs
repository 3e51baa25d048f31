//! Many similar queries over one arena: what can be answered from earlier ones?
//!
//! The conditions of neighbouring paths share most of their conjuncts, so they share whole parts (groups of conjuncts
//! without common unknowns). A session remembers
//!
//! - models of parts, by part, and the last few models: one that satisfies a new part answers it (evaluation is much
//!   cheaper than solving);
//! - contradictory sets of conjuncts: a query that contains one is infeasible. Whole refuted parts are remembered, and
//!   the small cores that the client asks for.
//!
//! Deterministic: the answers depend on the sequence of queries, so a session belongs to one worker and one function.
//! Invariant: verdicts are those of [`crate::check`], except that an unknown may be settled by what is remembered.

use std::collections::VecDeque;
use std::time::Instant;

use rustc_hash::FxHashMap;

use crate::Terms;
use crate::answer::{Answer, Budget, Cost, Model, Stage, Verdict};
use crate::check::{PartResult, Prepared, Query, booleans, check_counted, satisfies};
use crate::components::partition;
use crate::eval::Assignment;
use crate::statistics::Statistics;
use crate::term::TermId;

/// Models that are tried on a new query. More would cost more time than solving.
const MAX_MODELS: usize = 6;

/// Contradictory sets that are compared with a new query; the oldest are forgotten.
const MAX_CORES: usize = 128;

/// Models that are remembered by part; after that the table starts again.
const MAX_PARTS: usize = 4096;

/// Conjuncts up to which a core is minimised; a larger one is returned as it is.
const MAX_CORE_CANDIDATES: usize = 96;

/// The memory of a sequence of queries.
#[derive(Debug)]
pub struct Session {
    budget: Budget,
    statistics: Statistics,
    memory: Memory,
}

impl Session {
    /// A session without memories.
    pub fn new(budget: Budget) -> Self {
        Session {
            budget,
            statistics: Statistics::new(),
            memory: Memory::default(),
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
        let (parts, model) = match self.recall(terms, &conjuncts) {
            Recalled::Whole(answer) => {
                self.statistics.reuse(answer.verdict, start.elapsed());
                return answer;
            }
            Recalled::Partly { open, model } => (open, model),
        };
        let mut query = Query {
            terms,
            budget: &self.budget,
            statistics: &mut self.statistics,
            cost: Cost::default(),
        };
        let memory = &mut self.memory;
        let answer = query.decide(&parts, model, &mut |part, result| {
            memory.remember(part, result)
        });
        self.statistics.settle(&answer);
        answer
    }

    fn recall(&self, terms: &Terms, conjuncts: &[TermId]) -> Recalled {
        let whole = |verdict, stage, model: Option<Assignment>| {
            let model = model.map(Model::new);
            Recalled::Whole(Answer {
                verdict,
                stage,
                model,
                cost: Cost::default(),
                reused: true,
            })
        };
        if let Some(stage) = self.memory.contradiction(conjuncts) {
            return whole(Verdict::Infeasible, stage, None);
        }
        let (mut open, mut model) = (Vec::new(), Assignment::new());
        for part in partition(terms, conjuncts) {
            match self.memory.model(terms, &part) {
                Some(known) => model.extend(known.restricted(terms, &part)),
                None => open.push(part),
            }
        }
        if open.is_empty() {
            return whole(Verdict::Feasible, Stage::Intervals, Some(model));
        }
        Recalled::Partly { open, model }
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
        self.memory.remember_core(&core, whole.stage);
        core
    }
}

enum Recalled {
    Whole(Answer),
    /// The parts that have to be decided, and values for the others.
    Partly {
        open: Vec<Vec<TermId>>,
        model: Assignment,
    },
}

#[derive(Debug, Default)]
struct Memory {
    parts: FxHashMap<Box<[TermId]>, Assignment>,
    models: VecDeque<Assignment>,
    cores: VecDeque<(Box<[TermId]>, Stage)>,
}

impl Memory {
    /// The stage that refuted a part of these conjuncts.
    fn contradiction(&self, conjuncts: &[TermId]) -> Option<Stage> {
        let contained = |core: &[TermId]| core.iter().all(|t| conjuncts.binary_search(t).is_ok());
        self.cores
            .iter()
            .find(|(core, _)| contained(core))
            .map(|&(_, stage)| stage)
    }

    fn model(&self, terms: &Terms, part: &[TermId]) -> Option<&Assignment> {
        self.parts.get(part).or_else(|| {
            self.models
                .iter()
                .find(|model| satisfies(terms, part, model))
        })
    }

    fn remember(&mut self, part: &[TermId], result: &PartResult<'_>) {
        match result {
            PartResult::Infeasible(stage) => self.remember_core(part, *stage),
            PartResult::Feasible(model) => {
                if self.parts.len() >= MAX_PARTS {
                    self.parts.clear();
                }
                self.parts.insert(part.into(), (*model).clone());
                self.models.push_front((*model).clone());
                self.models.truncate(MAX_MODELS);
            }
        }
    }

    fn remember_core(&mut self, core: &[TermId], stage: Stage) {
        self.cores.push_front((core.into(), stage));
        self.cores.truncate(MAX_CORES);
    }
}
