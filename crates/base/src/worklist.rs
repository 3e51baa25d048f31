//! What is still to be visited: a FIFO worklist, and one ordered by rank.
//!
//! Both hold each id at most once at a time; an id that was popped may be pushed again. With the rank
//! of a reverse postorder, the ranked list visits a node after its forward predecessors, which is what
//! makes data-flow fixpoints converge in few rounds.

use crate::{EntityId, FrozenIndexVec, IdSet};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// First in, first out; an id that waits already isn't queued twice.
pub struct Worklist<I> {
    queue: VecDeque<I>,
    waiting: IdSet<I>,
}

impl<I: EntityId> Worklist<I> {
    pub const fn new() -> Self {
        Self {
            queue: VecDeque::new(),
            waiting: IdSet::new(),
        }
    }

    /// Room for the ids below `n`.
    pub fn with_capacity(n: usize) -> Self {
        Self {
            queue: VecDeque::with_capacity(n),
            waiting: IdSet::with_capacity(n),
        }
    }

    /// Queues `id`; false if it waits already.
    pub fn push(&mut self, id: I) -> bool {
        let fresh = self.waiting.insert(id);
        if fresh {
            self.queue.push_back(id);
        }
        fresh
    }

    pub fn pop(&mut self) -> Option<I> {
        let id = self.queue.pop_front()?;
        self.waiting.remove(id);
        Some(id)
    }

    pub fn len(&self) -> usize {
        self.queue.len()
    }

    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }
}

impl<I: EntityId> Default for Worklist<I> {
    fn default() -> Self {
        Self::new()
    }
}

impl<I: EntityId> Extend<I> for Worklist<I> {
    fn extend<Iter: IntoIterator<Item = I>>(&mut self, iter: Iter) {
        for id in iter {
            self.push(id);
        }
    }
}

impl<I: EntityId> FromIterator<I> for Worklist<I> {
    fn from_iter<Iter: IntoIterator<Item = I>>(iter: Iter) -> Self {
        let mut list = Self::new();
        list.extend(iter);
        list
    }
}

/// Lowest rank first; ties by id. Ids without a rank come last.
pub struct RankedWorklist<'r, I> {
    rank: &'r FrozenIndexVec<I, u32>,
    heap: BinaryHeap<Reverse<(u32, I)>>,
    waiting: IdSet<I>,
}

impl<'r, I: EntityId> RankedWorklist<'r, I> {
    /// `rank` is typically [`Rpo::rank`](crate::Rpo::rank).
    pub fn new(rank: &'r FrozenIndexVec<I, u32>) -> Self {
        Self {
            rank,
            heap: BinaryHeap::new(),
            waiting: IdSet::with_capacity(rank.len()),
        }
    }

    /// Queues `id`; false if it waits already.
    pub fn push(&mut self, id: I) -> bool {
        let fresh = self.waiting.insert(id);
        if fresh {
            let rank = self.rank.get(id).copied().unwrap_or(u32::MAX);
            self.heap.push(Reverse((rank, id)));
        }
        fresh
    }

    pub fn pop(&mut self) -> Option<I> {
        let Reverse((_, id)) = self.heap.pop()?;
        self.waiting.remove(id);
        Some(id)
    }

    pub fn len(&self) -> usize {
        self.heap.len()
    }

    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }
}

impl<I: EntityId> Extend<I> for RankedWorklist<'_, I> {
    fn extend<Iter: IntoIterator<Item = I>>(&mut self, iter: Iter) {
        for id in iter {
            self.push(id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fifo_holds_each_id_once_and_takes_it_again_after_a_pop() {
        let mut list: Worklist<u32> = [3, 1, 3].into_iter().collect();
        assert_eq!(list.len(), 2);
        assert_eq!(list.pop(), Some(3));
        assert!(list.push(3));
        assert!(!list.push(1));
        assert_eq!(
            std::iter::from_fn(|| list.pop()).collect::<Vec<_>>(),
            [1, 3]
        );
    }

    #[test]
    fn ranked_pops_by_rank_then_id() {
        let rank = FrozenIndexVec::from(vec![2, 0, 1, 0]);
        let mut list = RankedWorklist::<u32>::new(&rank);
        list.extend([0, 1, 2, 3, 0, 9]);
        assert_eq!(list.len(), 5);
        assert_eq!(
            std::iter::from_fn(|| list.pop()).collect::<Vec<_>>(),
            [1, 3, 2, 0, 9]
        );
    }
}
