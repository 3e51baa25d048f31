//! Question: which of a candidate's losing paths can be taken? (SMOKE stage 2, and its budget.)
//!
//! Paths of one losing end are tried from the shortest on. After [`REFUTED_BEFORE_REGION`] refuted paths of the object one
//! query asks for all paths of the end at once (`region.rs`): it settles the end, or hands back a path that can be taken.
//! Where it can't tell, further paths are tried one by one.
//!
//! Cost: at most [`OBJECT_FUEL`] steps for all paths and regions of one object, whatever the machine. Invariant: what is said to be
//! feasible is one concrete path whose own condition has been decided. Known limit: an end whose paths are used up without
//! a verdict is undecided (ledger), and not reported.

use std::time::Instant;

use drip_cond::{Answer, Budget, Cost, TermId, Verdict, check_counted};
use drip_flow::{End, Frame, UseFlow, Values};
use drip_program::BlockId;

use super::feasible::{SymbolIndex, path_condition};
use super::paths::{Path, Paths};
use super::region::{Region, Way};
use crate::finding::Confidence;
use crate::statistics::{SettledBy, Statistics};

/// Paths of one losing end that go to the solver before the end counts as undecided.
pub const MAX_PATHS: usize = 12;

/// Paths of one losing end that the linear filter may refute before that.
pub const MAX_FILTERED: usize = 12;

/// Refuted paths of one object after which whole regions are asked for.
pub const REFUTED_BEFORE_REGION: usize = 4;

/// Regions of one object that are asked for in vain: where the first ones can't be settled or are refuted, further ends get single paths.
pub const MAX_REGIONS: usize = 2;

/// Steps for all paths and regions of one object: instructions executed symbolically and steps of the solvers. An object beyond
/// it is undecided.
pub const OBJECT_FUEL: u64 = 2_000_000;

/// Clauses and conflicts of the SAT solver for one region; beyond them single paths are tried. Most of what a region can show is
/// shown far below them.
const REGION_CLAUSES: u64 = 40_000;
const REGION_CONFLICTS: u64 = 1_000;

/// What one instruction of a path costs when the path's condition is made, in executed instructions.
const CONDITION_COST: usize = 4;

/// The trials of one object.
pub struct Trials<'w, 'a> {
    pub frame: &'w Frame<'a>,
    pub values: &'w mut Values,
    symbols: SymbolIndex,
    pub statistics: &'w mut Statistics,
    refuted: usize,
    regions: usize,
    used: u64,
    /// Instructions executed, in the function's currency.
    pub steps: usize,
    /// The dearest means that was needed.
    pub means: SettledBy,
    /// Not everything could be tried.
    pub exhausted: bool,
    out_of_fuel: bool,
}

impl<'w, 'a> Trials<'w, 'a> {
    pub fn new(
        frame: &'w Frame<'a>,
        values: &'w mut Values,
        statistics: &'w mut Statistics,
    ) -> Self {
        Trials {
            frame,
            values,
            symbols: SymbolIndex::default(),
            statistics,
            refuted: 0,
            regions: 0,
            used: 0,
            steps: 0,
            means: SettledBy::Filter,
            exhausted: false,
            out_of_fuel: false,
        }
    }

    /// A path of the end that can be taken, or that nothing speaks against. `excluded`: beginnings of paths that are known to
    /// lead nowhere.
    pub fn feasible_path(
        &mut self,
        flow: &UseFlow,
        end: &End,
        excluded: &[Vec<BlockId>],
    ) -> Option<(Path, Confidence)> {
        let mut paths = Paths::new(flow, end);
        let (mut solved, mut filtered) = (0, 0);
        let mut region_asked = !excluded.is_empty();
        while solved < MAX_PATHS && filtered < MAX_FILTERED {
            let Some(path) = paths.next() else {
                // All paths are refuted, unless the search itself gave up.
                self.exhausted |= paths.gave_up();
                return None;
            };
            if excluded.iter().any(|blocks| path.begins_with(flow, blocks)) {
                continue;
            }
            match self.try_path(flow, &path, end)? {
                Tried::Taken(confidence) => return Some((path, confidence)),
                Tried::Refuted(SettledBy::Filter) => filtered += 1,
                Tried::Refuted(_) => solved += 1,
            }
            if self.refuted >= REFUTED_BEFORE_REGION && !region_asked && self.regions < MAX_REGIONS
            {
                region_asked = true;
                self.regions += 1;
                match self.try_region(flow, end) {
                    Settlement::Refuted => return None,
                    // Shorter paths could not be taken: what the summaries leave out may rule this one out, too.
                    Settlement::Taken(path) => return Some((path, Confidence::Medium)),
                    Settlement::Open => {}
                }
            }
        }
        self.exhausted = true;
        None
    }

    /// Decides one path; `None` if the object's fuel is used up.
    fn try_path(&mut self, flow: &UseFlow, path: &Path, end: &End) -> Option<Tried> {
        let blocks = path.hops.iter().map(|hop| flow.nodes[hop.node].block);
        let length: usize = blocks.map(|b| self.frame.body.block_insts(b).count()).sum();
        if !self.spend(length) {
            return None;
        }
        let start = Instant::now();
        let condition = path_condition(self.frame, self.values, flow, &mut self.symbols, path, end);
        self.statistics.times.conditions += start.elapsed();
        let answer = self.decide(&condition, Budget::default());
        let means = SettledBy::from(answer.stage);
        self.means = self.means.max(means);
        Some(match answer.verdict {
            Verdict::Feasible => Tried::Taken(Confidence::High),
            Verdict::Unknown => Tried::Taken(Confidence::Medium),
            Verdict::Infeasible => {
                self.refuted += 1;
                Tried::Refuted(means)
            }
        })
    }

    /// Asks for all paths of the end at once.
    fn try_region(&mut self, flow: &UseFlow, end: &End) -> Settlement {
        let Some(region) = Region::of(flow, end) else {
            self.statistics.regions.undecided += 1;
            return Settlement::Open;
        };
        if !self.spend(region.instructions(self.frame)) {
            return Settlement::Open;
        }
        let start = Instant::now();
        let query = region.query(self.frame, self.values, &mut self.symbols);
        self.statistics.times.conditions += start.elapsed();
        self.statistics.regions.queries += 1;
        self.means = SettledBy::Region;
        let budget = Budget {
            sat_clauses: REGION_CLAUSES,
            sat_conflicts: REGION_CONFLICTS,
            ..Budget::default()
        };
        let start = Instant::now();
        let answer = self.decide(&query.conjuncts, budget);
        tracing::debug!(
            function = self.frame.program.func_name(self.frame.func),
            edges = query.edges(),
            conjuncts = query.conjuncts.len(),
            cost = ?answer.cost,
            verdict = ?answer.verdict,
            "region asked for in {} µs",
            start.elapsed().as_micros()
        );
        let settlement = match (answer.verdict, &answer.model) {
            (Verdict::Infeasible, _) if region.is_complete() => Settlement::Refuted,
            (Verdict::Feasible, Some(model)) => {
                let taken = |way: Way| model.holds(&self.values.terms, query.taken(way));
                let found = region.paths(taken);
                let mut settlement = Settlement::Open;
                for path in found {
                    if let Some(Tried::Taken(Confidence::High)) = self.try_path(flow, &path, end) {
                        settlement = Settlement::Taken(path);
                        break;
                    }
                }
                settlement
            }
            _ => Settlement::Open,
        };
        self.means = SettledBy::Region;
        let counts = &mut self.statistics.regions;
        match settlement {
            Settlement::Refuted => counts.refuted += 1,
            Settlement::Taken(_) => counts.confirmed += 1,
            Settlement::Open => counts.undecided += 1,
        }
        settlement
    }

    fn decide(&mut self, condition: &[TermId], usual: Budget) -> Answer {
        let mut counted = drip_cond::Statistics::new();
        let budget = within(usual, OBJECT_FUEL.saturating_sub(self.used));
        let answer = check_counted(&mut self.values.terms, condition, &budget, &mut counted);
        self.used += steps(&answer.cost);
        self.statistics.queries += 1;
        self.statistics.stages.add(&counted);
        self.statistics.times.add_queries(&counted);
        answer
    }

    /// Takes the fuel for executing so many instructions symbolically; false if there is not enough.
    fn spend(&mut self, instructions: usize) -> bool {
        let cost = CONDITION_COST * instructions;
        if self.used + cost as u64 > OBJECT_FUEL {
            self.exhausted = true;
            self.out_of_fuel = true;
            return false;
        }
        self.used += cost as u64;
        self.steps += cost;
        true
    }

    /// Counts what became of the object and what it took.
    pub fn finish(&mut self, leaks: bool, refused: bool) {
        let settled = &mut self.statistics.settled;
        match (leaks, refused, self.exhausted) {
            (true, ..) => settled.by(self.means).confirmed += 1,
            (false, true, _) => settled.not_replayed += 1,
            (false, false, true) => settled.undecided += 1,
            (false, false, false) => settled.by(self.means).refuted += 1,
        }
        let percent = self.used * 100 / OBJECT_FUEL;
        let dearest = &mut self.statistics.dearest_object_percent;
        *dearest = percent.max(*dearest);
        self.statistics.objects_out_of_fuel += usize::from(self.out_of_fuel);
    }
}

enum Tried {
    Taken(Confidence),
    Refuted(SettledBy),
}

enum Settlement {
    Refuted,
    Taken(Path),
    Open,
}

/// What a query cost, in the object's currency.
fn steps(cost: &Cost) -> u64 {
    cost.filter_steps
        + cost.interval_steps
        + u64::from(cost.splits)
        + u64::from(cost.guesses)
        + cost.clauses
        + cost.conflicts
}

/// A query's usual fuel, or what is left of the object's.
fn within(usual: Budget, left: u64) -> Budget {
    Budget {
        interval_steps: usual.interval_steps.min(left),
        sat_clauses: usual.sat_clauses.min(left),
        sat_conflicts: usual.sat_conflicts.min(left),
        ..usual
    }
}
