//! What did a run of the default engine count? SMOKE's table IV: sites → candidates → what each stage settled, and its time.
//!
//! Counts are the same in every run of the same program; times are not, so they are no part of the serialized counts and
//! nothing decides by them.

use std::time::Duration;

use drip_cond::Stage;
use serde::Serialize;

/// Counts of one run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Statistics {
    pub functions: usize,
    pub functions_limited: usize,
    /// Others that kept within their fuel by following paths together or by leaving conditions out.
    pub functions_coarse: usize,
    /// Calls of functions that nothing is known of.
    pub unknown_calls: usize,
    pub sites: usize,
    /// Objects that some path loses as long as no condition is looked at.
    pub candidates: usize,
    /// What became of the candidates.
    pub settled: Settled,
    /// Branches decided on the way by the linear filter.
    pub filtered_branches: u64,
    /// Conditions of paths and of regions that were asked for.
    pub queries: u64,
    /// What the stages answered.
    pub stages: Stages,
    /// Questions for a whole region, after several paths of an object were refuted.
    pub regions: Regions,
    /// The most fuel that one object used, in percent of what an object may use.
    pub dearest_object_percent: u64,
    /// Objects that could not be followed to the end within their fuel.
    pub objects_out_of_fuel: usize,
    /// Paths that the independent check refused: none of them is reported.
    pub not_replayed: u64,
    #[serde(skip)]
    pub times: Times,
}

/// The candidates by the dearest stage that one of their paths needed; the counts sum up to all candidates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Settled {
    /// Lost only along with an object that holds it, or held where only "perhaps" can be said.
    pub structure: usize,
    /// The contradiction filter, on the way or on a whole path.
    pub filter: Counts,
    pub intervals: Counts,
    pub sat: Counts,
    /// One question for a whole region.
    pub region: Counts,
    /// All that was tried is refuted, but not everything could be tried.
    pub undecided: usize,
    /// A feasible path that the independent check refused.
    pub not_replayed: usize,
}

/// Candidates that a stage settled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// No path can be taken.
    pub refuted: usize,
    /// A path can be taken, or nothing speaks against it.
    pub confirmed: usize,
}

/// Queries by the stage that answered them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Stages {
    /// Nothing to decide: no condition is left, or a false one.
    pub trivial: Answers,
    pub filter: Answers,
    pub intervals: Answers,
    pub sat: Answers,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Answers {
    pub infeasible: u64,
    pub feasible: u64,
    pub unknown: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Regions {
    pub queries: u64,
    pub refuted: u64,
    /// The model's path can be taken.
    pub confirmed: u64,
    /// No verdict, a path that can't be taken after all, or a region beyond its limits.
    pub undecided: u64,
}

/// The dearest means that were needed for one object's paths, in order of price.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SettledBy {
    Filter,
    Intervals,
    Sat,
    Region,
}

impl From<Stage> for SettledBy {
    fn from(stage: Stage) -> Self {
        match stage {
            Stage::Trivial | Stage::Filter => SettledBy::Filter,
            Stage::Intervals => SettledBy::Intervals,
            Stage::Sat => SettledBy::Sat,
        }
    }
}

/// Time on the clock, summed over threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// All functions, from their calls to their summaries.
    pub functions: Duration,
    /// Making the conditions of paths and regions.
    pub conditions: Duration,
    pub filter: Duration,
    pub intervals: Duration,
    pub sat: Duration,
}

impl Times {
    /// The second stage as a whole: conditions and their solvers.
    pub fn feasibility(&self) -> Duration {
        self.conditions + self.filter + self.intervals + self.sat
    }

    pub fn add_queries(&mut self, queries: &drip_cond::Statistics) {
        self.filter += queries.trivial.time + queries.filter.time;
        self.intervals += queries.intervals.time;
        self.sat += queries.sat.time;
    }

    /// Names and times, in the order of the work.
    pub fn rows(&self) -> [(&'static str, Duration); 6] {
        [
            ("functions", self.functions),
            ("feasibility", self.feasibility()),
            ("conditions", self.conditions),
            ("filter", self.filter),
            ("intervals", self.intervals),
            ("sat", self.sat),
        ]
    }

    fn merge(&mut self, other: &Times) {
        self.functions += other.functions;
        self.conditions += other.conditions;
        self.filter += other.filter;
        self.intervals += other.intervals;
        self.sat += other.sat;
    }
}

impl Settled {
    pub fn by(&mut self, means: SettledBy) -> &mut Counts {
        match means {
            SettledBy::Filter => &mut self.filter,
            SettledBy::Intervals => &mut self.intervals,
            SettledBy::Sat => &mut self.sat,
            SettledBy::Region => &mut self.region,
        }
    }

    /// All candidates.
    pub fn total(&self) -> usize {
        let stages = [self.filter, self.intervals, self.sat, self.region];
        let staged: usize = stages.iter().map(|c| c.refuted + c.confirmed).sum();
        staged + self.structure + self.undecided + self.not_replayed
    }

    fn merge(&mut self, other: &Settled) {
        self.structure += other.structure;
        for (mine, its) in [
            (&mut self.filter, other.filter),
            (&mut self.intervals, other.intervals),
            (&mut self.sat, other.sat),
            (&mut self.region, other.region),
        ] {
            mine.refuted += its.refuted;
            mine.confirmed += its.confirmed;
        }
        self.undecided += other.undecided;
        self.not_replayed += other.not_replayed;
    }
}

impl Stages {
    /// Counts answered queries.
    pub fn add(&mut self, queries: &drip_cond::Statistics) {
        for (mine, its) in [
            (&mut self.trivial, queries.trivial),
            (&mut self.filter, queries.filter),
            (&mut self.intervals, queries.intervals),
            (&mut self.sat, queries.sat),
        ] {
            mine.infeasible += its.infeasible;
            mine.feasible += its.feasible;
            mine.unknown += its.unknown;
        }
    }

    fn merge(&mut self, other: &Stages) {
        for (mine, its) in [
            (&mut self.trivial, other.trivial),
            (&mut self.filter, other.filter),
            (&mut self.intervals, other.intervals),
            (&mut self.sat, other.sat),
        ] {
            mine.infeasible += its.infeasible;
            mine.feasible += its.feasible;
            mine.unknown += its.unknown;
        }
    }
}

impl Statistics {
    pub fn merge(&mut self, other: &Statistics) {
        self.functions += other.functions;
        self.functions_limited += other.functions_limited;
        self.functions_coarse += other.functions_coarse;
        self.unknown_calls += other.unknown_calls;
        self.sites += other.sites;
        self.candidates += other.candidates;
        self.settled.merge(&other.settled);
        self.filtered_branches += other.filtered_branches;
        self.queries += other.queries;
        self.stages.merge(&other.stages);
        self.regions.queries += other.regions.queries;
        self.regions.refuted += other.regions.refuted;
        self.regions.confirmed += other.regions.confirmed;
        self.regions.undecided += other.regions.undecided;
        self.dearest_object_percent = self
            .dearest_object_percent
            .max(other.dearest_object_percent);
        self.objects_out_of_fuel += other.objects_out_of_fuel;
        self.not_replayed += other.not_replayed;
        self.times.merge(&other.times);
    }
}
