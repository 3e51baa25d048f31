//! How many queries did each stage see and settle, and how long did it take?
//!
//! The figures behind SMOKE's table IV. Mergeable, so that each worker counts for itself. Times are wall-clock and the
//! only part of this crate that differs between runs; nothing decides by them.

use std::fmt;
use std::time::Duration;

use crate::answer::{Answer, Stage, Verdict};

/// The figures of one stage.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct StageFigures {
    /// Queries that reached the stage.
    pub queries: u64,
    /// Queries that it found infeasible.
    pub infeasible: u64,
    /// Queries that it found feasible.
    pub feasible: u64,
    /// Queries that ended here without a verdict.
    pub unknown: u64,
    /// Time spent in it.
    pub time: Duration,
}

impl StageFigures {
    fn merge(&mut self, other: &StageFigures) {
        self.queries += other.queries;
        self.infeasible += other.infeasible;
        self.feasible += other.feasible;
        self.unknown += other.unknown;
        self.time += other.time;
    }
}

/// The figures of all stages.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Statistics {
    /// Empty or constant conjunctions.
    pub trivial: StageFigures,
    /// The contradiction filter.
    pub filter: StageFigures,
    /// Congruence and intervals.
    pub intervals: StageFigures,
    /// Bit-blasting.
    pub sat: StageFigures,
    /// Queries answered from earlier ones; they are in no other row.
    pub reused: StageFigures,
    /// Clauses given to the SAT solver.
    pub clauses: u64,
    /// Conflicts in the SAT solver.
    pub conflicts: u64,
}

impl Statistics {
    /// Figures of nothing.
    pub fn new() -> Self {
        Statistics::default()
    }

    /// Adds another worker's figures.
    pub fn merge(&mut self, other: &Statistics) {
        self.trivial.merge(&other.trivial);
        self.filter.merge(&other.filter);
        self.intervals.merge(&other.intervals);
        self.sat.merge(&other.sat);
        self.reused.merge(&other.reused);
        self.clauses += other.clauses;
        self.conflicts += other.conflicts;
    }

    /// The figures of a stage.
    pub fn stage(&self, stage: Stage) -> &StageFigures {
        match stage {
            Stage::Trivial => &self.trivial,
            Stage::Filter => &self.filter,
            Stage::Intervals => &self.intervals,
            Stage::Sat => &self.sat,
        }
    }

    fn stage_mut(&mut self, stage: Stage) -> &mut StageFigures {
        match stage {
            Stage::Trivial => &mut self.trivial,
            Stage::Filter => &mut self.filter,
            Stage::Intervals => &mut self.intervals,
            Stage::Sat => &mut self.sat,
        }
    }

    /// All queries.
    pub fn queries(&self) -> u64 {
        self.trivial.queries + self.reused.queries
    }

    /// Time of all stages.
    pub fn time(&self) -> Duration {
        self.rows().iter().map(|(_, figures)| figures.time).sum()
    }

    /// The rows of a table, in the order of the stages.
    pub fn rows(&self) -> [(&'static str, StageFigures); 5] {
        [
            ("trivial", self.trivial),
            ("reused", self.reused),
            ("filter", self.filter),
            ("intervals", self.intervals),
            ("sat", self.sat),
        ]
    }

    /// Counts time spent in a stage by one query.
    pub(crate) fn enter(&mut self, stage: Stage, time: Duration) {
        let figures = self.stage_mut(stage);
        figures.queries += 1;
        figures.time += time;
    }

    /// Counts the end of a query.
    pub(crate) fn settle(&mut self, answer: &Answer) {
        self.clauses += answer.cost.clauses;
        self.conflicts += answer.cost.conflicts;
        count(self.stage_mut(answer.stage), answer.verdict);
    }

    /// Counts a query answered from an earlier one.
    pub(crate) fn reuse(&mut self, verdict: Verdict, time: Duration) {
        self.reused.queries += 1;
        self.reused.time += time;
        count(&mut self.reused, verdict);
    }
}

fn count(figures: &mut StageFigures, verdict: Verdict) {
    match verdict {
        Verdict::Feasible => figures.feasible += 1,
        Verdict::Infeasible => figures.infeasible += 1,
        Verdict::Unknown => figures.unknown += 1,
    }
}

impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<10} {:>9} {:>11} {:>9} {:>8} {:>10}",
            "stage", "queries", "infeasible", "feasible", "unknown", "time"
        )?;
        for (name, row) in self.rows() {
            let time = format!("{:.3} s", row.time.as_secs_f64());
            writeln!(
                f,
                "{name:<10} {:>9} {:>11} {:>9} {:>8} {time:>10}",
                row.queries, row.infeasible, row.feasible, row.unknown
            )?;
        }
        Ok(())
    }
}
