//! The way that a run is to take: what a finding's path says, and how far from it a run may go.
//!
//! A path that a summary finds possible may be impossible in a detail that does not matter. So a run may leave it and come back further
//! on, a few times; it has to pass the block where the object is made and the one where the path ends. Runs that leave it less often
//! come first (limited discrepancy search).

use std::collections::VecDeque;

use drip_base::IdSet;
use drip_flow::{Frame, UseFlow};
use drip_models::Value as Told;
use drip_program::{BlockId, InstId};
use rustc_hash::FxHashMap;

use super::super::paths::Path;
use super::run::Run;

/// How often a run may leave the guide.
pub const MAX_DEVIATIONS: u8 = 4;

/// Of how many runs one is the oldest, which differs most from those before.
const OLDEST_OF_GUIDED: u32 = 6;
const OLDEST_OF_FREE: u32 = 2;

/// The blocks of a path in their order from the entry; behind them a run is free.
pub struct Guide<'b> {
    pub blocks: Vec<BlockId>,
    /// What calls on the way are taken to return: runs that agree come first.
    pub results: FxHashMap<InstId, Told>,
    pub frame: &'b Frame<'b>,
    /// Blocks that can't be left out, as positions in `blocks`, with the blocks from which each can be reached.
    keys: Vec<(usize, IdSet<BlockId>)>,
}

/// Where a step leads to, as seen from the guide.
#[derive(Clone, Copy)]
pub struct Course {
    pub passed: usize,
    pub is_off: bool,
    pub deviations: u8,
    /// Not what the guide says: turns count.
    pub is_free: bool,
}

impl<'b> Guide<'b> {
    /// The way of `path`, on which the object is made by `birth`.
    pub fn new(frame: &'b Frame<'b>, flow: &UseFlow, path: &Path, birth: InstId) -> Self {
        let choices = path.hops.iter().flat_map(|hop| &hop.choices);
        let told = choices.filter_map(|choice| {
            let outcomes = &frame.calls.get(&choice.inst)?.outcomes;
            let outcome = outcomes.get(usize::from(choice.alternative))?;
            Some((choice.inst, outcome.ret.clone()))
        });
        let blocks: Vec<BlockId> = path.blocks(flow).collect();
        let home = frame.block_of(birth);
        let made = blocks.iter().position(|&block| block == home);
        let last = blocks.len().saturating_sub(1);
        let keys = made.into_iter().chain([last]);
        Guide {
            results: told.collect(),
            keys: keys
                .map(|key| (key, sources_of(frame, blocks[key])))
                .collect(),
            blocks,
            frame,
        }
    }

    /// Where a run comes to by going to `target`; `None` if that leads nowhere.
    pub fn course(&self, run: &Run, target: BlockId) -> Option<Course> {
        let passed = run.passed;
        let on_the_way = |passed: usize, is_free: bool| Course {
            passed,
            is_off: false,
            deviations: run.deviations,
            is_free,
        };
        let Some(&wanted) = self.blocks.get(passed) else {
            return Some(on_the_way(passed, true));
        };
        if wanted == target {
            return Some(on_the_way(passed + 1, run.is_off));
        }
        let (key, sources) = self.keys.iter().find(|key| key.0 >= passed)?;
        let deviations = run.deviations + u8::from(!run.is_off);
        let mut ahead = passed..=*key;
        if let Some(position) = ahead.find(|&n| self.blocks[n] == target) {
            return Some(Course {
                deviations,
                ..on_the_way(position + 1, true)
            });
        }
        sources.contains(target).then_some(Course {
            passed,
            is_off: true,
            deviations,
            is_free: true,
        })
    }
}

/// The blocks from which `target` can be reached.
fn sources_of(frame: &Frame<'_>, target: BlockId) -> IdSet<BlockId> {
    let mut sources = IdSet::with_capacity(frame.body.blocks.len());
    let mut open = vec![target];
    while let Some(block) = open.pop() {
        for &from in frame.cfg.preds(block) {
            if sources.insert(from) {
                open.push(from);
            }
        }
    }
    sources
}

/// Runs that are still to be followed.
pub struct Runs {
    /// By how often they have left the guide.
    levels: Vec<VecDeque<Run>>,
    taken: u32,
    oldest_of: u32,
}

impl Runs {
    pub fn new(first: Run, is_guided: bool) -> Self {
        let mut runs = Runs {
            levels: Vec::new(),
            taken: 0,
            oldest_of: match is_guided {
                true => OLDEST_OF_GUIDED,
                false => OLDEST_OF_FREE,
            },
        };
        runs.push(first);
        runs
    }

    pub fn push(&mut self, run: Run) {
        let level = usize::from(run.deviations);
        if self.levels.len() <= level {
            self.levels.resize_with(level + 1, VecDeque::new);
        }
        self.levels[level].push_back(run);
    }

    /// Half of the time a run of the lowest level, a quarter of the time one of the next, and so on. Within a level the newest, which
    /// comes to its end soon, and now and then the oldest.
    pub fn next(&mut self) -> Option<Run> {
        self.taken += 1;
        let rank = self.taken.trailing_zeros() as usize;
        let mut filled = (0..self.levels.len()).filter(|&n| !self.levels[n].is_empty());
        let lowest = filled.next()?;
        let level = filled.take(rank).last().unwrap_or(lowest);
        match self.taken % self.oldest_of {
            0 => self.levels[level].pop_front(),
            _ => self.levels[level].pop_back(),
        }
    }
}
