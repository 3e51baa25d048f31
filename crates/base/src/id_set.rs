//! A dense set of ids, one bit each: membership of blocks, functions, objects of one function.
//!
//! The set grows on insert; ids beyond its end are simply absent. Iteration is in ascending order.

use crate::EntityId;
use std::fmt;
use std::marker::PhantomData;

const BITS: usize = u64::BITS as usize;

/// A bit set over ids `I`.
pub struct IdSet<I> {
    words: Vec<u64>,
    marker: PhantomData<fn(I) -> I>,
}

impl<I: EntityId> IdSet<I> {
    pub const fn new() -> Self {
        Self {
            words: Vec::new(),
            marker: PhantomData,
        }
    }

    /// Room for the ids below `n` without growing.
    pub fn with_capacity(n: usize) -> Self {
        Self {
            words: vec![0; n.div_ceil(BITS)],
            marker: PhantomData,
        }
    }

    /// The set of all ids below `n`.
    pub fn full(n: usize) -> Self {
        let mut set = Self::with_capacity(n);
        set.words.fill(u64::MAX);
        if !n.is_multiple_of(BITS)
            && let Some(last) = set.words.last_mut()
        {
            *last = (1 << (n % BITS)) - 1;
        }
        set
    }

    /// Adds `id`; true if it was not there.
    pub fn insert(&mut self, id: I) -> bool {
        let (word, bit) = split(id);
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        let fresh = self.words[word] & bit == 0;
        self.words[word] |= bit;
        fresh
    }

    /// Takes `id` out; true if it was there.
    pub fn remove(&mut self, id: I) -> bool {
        let (word, bit) = split(id);
        match self.words.get_mut(word) {
            Some(w) => {
                let present = *w & bit != 0;
                *w &= !bit;
                present
            }
            None => false,
        }
    }

    pub fn contains(&self, id: I) -> bool {
        let (word, bit) = split(id);
        self.words.get(word).is_some_and(|w| w & bit != 0)
    }

    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&w| w == 0)
    }

    /// Number of members; counts bits, so linear in the capacity.
    pub fn len(&self) -> usize {
        self.words.iter().map(|w| w.count_ones() as usize).sum()
    }

    /// Removes all members and keeps the memory.
    pub fn clear(&mut self) {
        self.words.fill(0);
    }

    /// Membership bits, 64 ids each.
    pub(crate) fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }

    /// Adds all members of `other`; true if that changed the set.
    pub fn union_with(&mut self, other: &Self) -> bool {
        if self.words.len() < other.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        let mut changed = false;
        for (mine, theirs) in self.words.iter_mut().zip(&other.words) {
            let joined = *mine | theirs;
            changed |= joined != *mine;
            *mine = joined;
        }
        changed
    }

    /// Keeps only members of `other`; true if that changed the set.
    pub fn intersect_with(&mut self, other: &Self) -> bool {
        self.combine(other, |mine, theirs| mine & theirs)
    }

    /// Removes all members of `other`; true if that changed the set.
    pub fn subtract(&mut self, other: &Self) -> bool {
        self.combine(other, |mine, theirs| mine & !theirs)
    }

    fn combine(&mut self, other: &Self, op: impl Fn(u64, u64) -> u64) -> bool {
        let mut changed = false;
        let theirs = other.words.iter().copied().chain(std::iter::repeat(0));
        for (mine, theirs) in self.words.iter_mut().zip(theirs) {
            let result = op(*mine, theirs);
            changed |= result != *mine;
            *mine = result;
        }
        changed
    }

    pub fn is_subset(&self, other: &Self) -> bool {
        let theirs = other.words.iter().copied().chain(std::iter::repeat(0));
        self.words.iter().zip(theirs).all(|(m, t)| m & !t == 0)
    }

    pub fn intersects(&self, other: &Self) -> bool {
        self.words.iter().zip(&other.words).any(|(m, t)| m & t != 0)
    }

    /// Members in ascending order.
    pub fn iter(&self) -> Iter<'_, I> {
        Iter {
            words: &self.words,
            next_word: 0,
            current: 0,
            marker: PhantomData,
        }
    }

    pub fn first(&self) -> Option<I> {
        self.iter().next()
    }
}

fn split<I: EntityId>(id: I) -> (usize, u64) {
    (id.index() / BITS, 1 << (id.index() % BITS))
}

/// Members of an [`IdSet`] in ascending order.
pub struct Iter<'a, I> {
    words: &'a [u64],
    next_word: usize,
    current: u64,
    marker: PhantomData<fn(I) -> I>,
}

impl<I: EntityId> Iterator for Iter<'_, I> {
    type Item = I;

    fn next(&mut self) -> Option<I> {
        while self.current == 0 {
            self.current = *self.words.get(self.next_word)?;
            self.next_word += 1;
        }
        let bit = self.current.trailing_zeros() as usize;
        self.current &= self.current - 1;
        Some(I::new((self.next_word - 1) * BITS + bit))
    }
}

impl<'a, I: EntityId> IntoIterator for &'a IdSet<I> {
    type Item = I;
    type IntoIter = Iter<'a, I>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<I: EntityId> FromIterator<I> for IdSet<I> {
    fn from_iter<Iter: IntoIterator<Item = I>>(iter: Iter) -> Self {
        let mut set = Self::new();
        set.extend(iter);
        set
    }
}

impl<I: EntityId> Extend<I> for IdSet<I> {
    fn extend<Iter: IntoIterator<Item = I>>(&mut self, iter: Iter) {
        for id in iter {
            self.insert(id);
        }
    }
}

impl<I> Clone for IdSet<I> {
    fn clone(&self) -> Self {
        Self {
            words: self.words.clone(),
            marker: PhantomData,
        }
    }
}

impl<I> Default for IdSet<I> {
    fn default() -> Self {
        Self {
            words: Vec::new(),
            marker: PhantomData,
        }
    }
}

/// Equality is of members, whatever the capacities.
impl<I: EntityId> PartialEq for IdSet<I> {
    fn eq(&self, other: &Self) -> bool {
        self.is_subset(other) && other.is_subset(self)
    }
}

impl<I: EntityId> Eq for IdSet<I> {}

impl<I: EntityId> fmt::Debug for IdSet<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}
