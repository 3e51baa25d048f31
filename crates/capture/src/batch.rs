//! Which units does one process compile together?
//!
//! Units that differ by nothing but the source make a group; a group is cut into batches of even size. So many batches are made that each worker
//! gets several, or the last one would keep the others waiting; with few units that makes small batches, and with very few none.

use rustc_hash::{FxHashMap, FxHashSet};
use std::hash::Hash;

/// Units per process. Larger batches save little (a start is then a fiftieth of the work), and when one unit does not compile, all of
/// its batch are compiled again.
const MAX_UNITS: usize = 16;

/// Groups below this are compiled one by one: asking the driver costs as much as a start.
const MIN_UNITS: usize = 3;

/// Batches per worker, as long as they are not larger than [`MAX_UNITS`].
const BATCHES_PER_WORKER: usize = 2;

/// What one worker does at a time: units by number, and the group they are of where they are compiled together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Task {
    pub units: Vec<usize>,
    pub group: Option<usize>,
}

/// Divides units among `workers`. Each unit comes with its group and its source, or with nothing if it has to stay alone.
/// Second: the number of groups.
pub(crate) fn plan<G: Hash + Eq, S: Hash + Eq>(
    units: Vec<Option<(G, S)>>,
    workers: usize,
) -> (Vec<Task>, usize) {
    let mut alone = Vec::new();
    let mut groups: Vec<(Vec<usize>, FxHashSet<S>)> = Vec::new();
    let mut known: FxHashMap<G, usize> = FxHashMap::default();
    for (number, unit) in units.into_iter().enumerate() {
        let Some((group, source)) = unit else {
            alone.push(number);
            continue;
        };
        let index = *known.entry(group).or_insert(groups.len());
        if index == groups.len() {
            groups.push(Default::default());
        }
        // What is written for a source is found by its name.
        match groups.get_mut(index) {
            Some((members, sources)) => {
                if sources.insert(source) {
                    members.push(number);
                } else {
                    alone.push(number);
                }
            }
            None => alone.push(number),
        }
    }
    let groups: Vec<Vec<usize>> = groups.into_iter().map(|(members, _)| members).collect();
    let (large, small): (Vec<_>, Vec<_>) = groups.into_iter().partition(|g| g.len() >= MIN_UNITS);
    alone.extend(small.into_iter().flatten());
    alone.sort_unstable();
    let mut tasks = batches(&large, workers);
    // Behind the batches, so that what is left at the end is small.
    tasks.extend(alone.into_iter().map(|unit| Task {
        units: vec![unit],
        group: None,
    }));
    (tasks, large.len())
}

fn batches(groups: &[Vec<usize>], workers: usize) -> Vec<Task> {
    let all: usize = groups.iter().map(Vec::len).sum();
    let size = all
        .div_ceil(workers.max(1).saturating_mul(BATCHES_PER_WORKER))
        .clamp(1, MAX_UNITS);
    let mut tasks = Vec::new();
    for (group, members) in groups.iter().enumerate() {
        let even = members.len().div_ceil(members.len().div_ceil(size));
        for units in members.chunks(even) {
            tasks.push(Task {
                units: units.to_vec(),
                group: (units.len() > 1).then_some(group),
            });
        }
    }
    tasks
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sizes(counts: &[usize], workers: usize) -> Vec<usize> {
        let units = counts
            .iter()
            .enumerate()
            .flat_map(|(group, count)| (0..*count).map(move |source| Some((group, source))));
        let (tasks, _) = plan(units.collect(), workers);
        tasks.iter().map(|task| task.units.len()).collect()
    }

    #[test]
    fn batches_are_even_and_no_worker_goes_idle() {
        assert_eq!(sizes(&[240], 2), [16; 15]);
        assert_eq!(sizes(&[19], 2), [5, 5, 5, 4]);
        assert_eq!(sizes(&[100], 1), [15, 15, 15, 15, 15, 15, 10]);
        assert_eq!(sizes(&[8], 16), [1; 8]);
        assert_eq!(sizes(&[6, 5], 1), [6, 5]);
    }

    #[test]
    fn small_groups_and_sources_that_come_twice_stay_alone() {
        assert_eq!(sizes(&[2, 1, 4], 1), [2, 2, 1, 1, 1]);
        let units = vec![
            Some(("g", "a")),
            None,
            Some(("g", "b")),
            Some(("g", "a")),
            Some(("g", "c")),
        ];
        let (tasks, groups) = plan(units, 1);
        let units: Vec<_> = tasks
            .iter()
            .map(|task| (task.group, &*task.units))
            .collect();
        assert_eq!(groups, 1);
        let expected: [(Option<usize>, &[usize]); 4] =
            [(Some(0), &[0, 2]), (None, &[4]), (None, &[1]), (None, &[3])];
        assert_eq!(units, expected);
    }

    proptest! {
        #[test]
        fn every_unit_is_compiled_once_and_only_with_its_like(
            units in prop::collection::vec(prop::option::of((0_u8..4, 0_u8..30)), 0..80),
            workers in 0_usize..20,
        ) {
            let (tasks, groups) = plan(units.clone(), workers);
            let mut seen: Vec<usize> = tasks.iter().flat_map(|task| task.units.clone()).collect();
            seen.sort_unstable();
            prop_assert_eq!(seen, (0..units.len()).collect::<Vec<_>>());
            for task in &tasks {
                prop_assert!(!task.units.is_empty() && task.units.len() <= MAX_UNITS);
                prop_assert!(task.group.is_none_or(|group| group < groups));
                if task.group.is_some() {
                    let first = units[task.units[0]].map(|(group, _)| group);
                    let sources: FxHashSet<_> = task.units.iter().map(|unit| units[*unit]).collect();
                    prop_assert!(task.units.iter().all(|unit| units[*unit].map(|(g, _)| g) == first));
                    prop_assert!(first.is_some() && sources.len() == task.units.len());
                } else {
                    prop_assert_eq!(task.units.len(), 1);
                }
            }
        }
    }
}
