//! A set of few ids out of very many: points-to sets, escaped objects, reverse edges.
//!
//! Members are kept as a sorted vector of (block number, 64 membership bits). Neighbouring ids share a
//! block, so the sets of field-sensitive analyses stay small; union, intersection and difference are
//! merges of two sorted runs. Insertion in the middle moves the tail: for building a large set in
//! random order, collect into it with `extend` after sorting, or use [`crate::IdSet`].

use crate::{EntityId, IdSet};
use std::cmp::Ordering;
use std::fmt;
use std::marker::PhantomData;

const BITS: usize = u64::BITS as usize;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Block {
    number: u32,
    bits: u64,
}

/// A sorted, block-compressed set of ids. `Eq` and `Hash` are by members, so sets can be interned.
pub struct SparseSet<I> {
    // INVARIANT: strictly ascending by `number`; no block has `bits == 0`.
    blocks: Vec<Block>,
    marker: PhantomData<fn(I) -> I>,
}

impl<I: EntityId> SparseSet<I> {
    pub const fn new() -> Self {
        Self {
            blocks: Vec::new(),
            marker: PhantomData,
        }
    }

    /// All members of a dense set, which is empty afterwards.
    pub fn drain_from(dense: &mut IdSet<I>) -> Self {
        let words = dense.words_mut().iter_mut().enumerate();
        let blocks = words
            .filter(|(_, bits)| **bits != 0)
            .map(|(at, bits)| Block {
                number: u32::new(at),
                bits: std::mem::take(bits),
            })
            .collect();
        Self {
            blocks,
            marker: PhantomData,
        }
    }

    /// Adds `id`; true if it was not there.
    pub fn insert(&mut self, id: I) -> bool {
        let (number, bit) = split(id);
        match self.find(number) {
            Ok(at) => {
                let block = &mut self.blocks[at];
                let fresh = block.bits & bit == 0;
                block.bits |= bit;
                fresh
            }
            Err(at) => {
                self.blocks.insert(at, Block { number, bits: bit });
                true
            }
        }
    }

    /// Takes `id` out; true if it was there.
    pub fn remove(&mut self, id: I) -> bool {
        let (number, bit) = split(id);
        let Ok(at) = self.find(number) else {
            return false;
        };
        let block = &mut self.blocks[at];
        let present = block.bits & bit != 0;
        block.bits &= !bit;
        if block.bits == 0 {
            self.blocks.remove(at);
        }
        present
    }

    pub fn contains(&self, id: I) -> bool {
        let (number, bit) = split(id);
        self.find(number)
            .is_ok_and(|at| self.blocks[at].bits & bit != 0)
    }

    fn find(&self, number: u32) -> Result<usize, usize> {
        // Ascending insertion is the common case; spare it the search.
        match self.blocks.last() {
            Some(last) if last.number < number => Err(self.blocks.len()),
            Some(last) if last.number == number => Ok(self.blocks.len() - 1),
            _ => self.blocks.binary_search_by_key(&number, |b| b.number),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    pub fn len(&self) -> usize {
        self.blocks
            .iter()
            .map(|b| b.bits.count_ones() as usize)
            .sum()
    }

    /// Are there more members than that? Without counting all of a large set.
    pub fn len_exceeds(&self, most: usize) -> bool {
        if self.blocks.len() * BITS <= most {
            return false;
        }
        self.blocks.len() > most || self.len() > most
    }

    pub fn clear(&mut self) {
        self.blocks.clear();
    }

    /// Adds all members of `other`; true if that changed the set.
    pub fn union_with(&mut self, other: &Self) -> bool {
        if other.is_subset(self) {
            return false;
        }
        if self.is_empty() {
            self.blocks.clone_from(&other.blocks);
            return true;
        }
        let joined = merge(&self.blocks, &other.blocks, |a, b| a | b);
        self.blocks = joined;
        true
    }

    /// Adds all members of `other` and returns those that were new (difference propagation).
    pub fn union_diff(&mut self, other: &Self) -> Self {
        if other.is_subset(self) {
            return Self::new();
        }
        let new = other.difference(self);
        if self.is_empty() {
            self.blocks.clone_from(&new.blocks);
        } else {
            self.blocks = merge(&self.blocks, &new.blocks, |a, b| a | b);
        }
        new
    }

    /// The members of `self` that are not in `other`.
    pub fn difference(&self, other: &Self) -> Self {
        Self {
            blocks: merge(&self.blocks, &other.blocks, |a, b| a & !b),
            marker: PhantomData,
        }
    }

    /// The members of both.
    pub fn intersection(&self, other: &Self) -> Self {
        Self {
            blocks: merge(&self.blocks, &other.blocks, |a, b| a & b),
            marker: PhantomData,
        }
    }

    pub fn is_subset(&self, other: &Self) -> bool {
        let mut theirs = other.blocks.iter();
        self.blocks.iter().all(|mine| {
            theirs
                .find(|b| b.number >= mine.number)
                .is_some_and(|b| b.number == mine.number && mine.bits & !b.bits == 0)
        })
    }

    pub fn intersects(&self, other: &Self) -> bool {
        let (mut a, mut b) = (self.blocks.as_slice(), other.blocks.as_slice());
        while let ([x, a_rest @ ..], [y, b_rest @ ..]) = (a, b) {
            match x.number.cmp(&y.number) {
                Ordering::Less => a = a_rest,
                Ordering::Greater => b = b_rest,
                Ordering::Equal if x.bits & y.bits != 0 => return true,
                Ordering::Equal => (a, b) = (a_rest, b_rest),
            }
        }
        false
    }

    /// Members in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = I> + '_ {
        self.blocks.iter().flat_map(|block| {
            let base = block.number as usize * BITS;
            let mut bits = block.bits;
            std::iter::from_fn(move || {
                (bits != 0).then(|| {
                    let bit = bits.trailing_zeros() as usize;
                    bits &= bits - 1;
                    I::new(base + bit)
                })
            })
        })
    }

    pub fn first(&self) -> Option<I> {
        self.iter().next()
    }

    /// The only member, if there is exactly one.
    pub fn single(&self) -> Option<I> {
        match self.blocks.as_slice() {
            [block] if block.bits.is_power_of_two() => self.first(),
            _ => None,
        }
    }
}

fn split<I: EntityId>(id: I) -> (u32, u64) {
    (u32::new(id.index() / BITS), 1 << (id.index() % BITS))
}

/// Merges two sorted runs of blocks; a block missing on one side counts as no bits there.
fn merge(a: &[Block], b: &[Block], op: impl Fn(u64, u64) -> u64) -> Vec<Block> {
    let mut out = Vec::with_capacity(a.len().max(b.len()));
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        let left = a.get(i).map_or(u32::MAX, |block| block.number);
        let right = b.get(j).map_or(u32::MAX, |block| block.number);
        let number = left.min(right);
        let take = |run: &[Block], at: &mut usize, head: u32| {
            if head != number {
                return 0;
            }
            *at += 1;
            run[*at - 1].bits
        };
        let bits = op(take(a, &mut i, left), take(b, &mut j, right));
        if bits != 0 {
            out.push(Block { number, bits });
        }
    }
    out
}

impl<I: EntityId> FromIterator<I> for SparseSet<I> {
    fn from_iter<Iter: IntoIterator<Item = I>>(iter: Iter) -> Self {
        let mut set = Self::new();
        set.extend(iter);
        set
    }
}

impl<I: EntityId> Extend<I> for SparseSet<I> {
    fn extend<Iter: IntoIterator<Item = I>>(&mut self, iter: Iter) {
        for id in iter {
            self.insert(id);
        }
    }
}

impl<I> Clone for SparseSet<I> {
    fn clone(&self) -> Self {
        Self {
            blocks: self.blocks.clone(),
            marker: PhantomData,
        }
    }
}

impl<I> Default for SparseSet<I> {
    fn default() -> Self {
        Self {
            blocks: Vec::new(),
            marker: PhantomData,
        }
    }
}

impl<I> PartialEq for SparseSet<I> {
    fn eq(&self, other: &Self) -> bool {
        self.blocks == other.blocks
    }
}

impl<I> Eq for SparseSet<I> {}

impl<I> std::hash::Hash for SparseSet<I> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.blocks.hash(state);
    }
}

impl<I: EntityId> fmt::Debug for SparseSet<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}
