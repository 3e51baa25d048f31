//! Typed ids: which number names what.
//!
//! An id is a `u32` in a newtype of its own, so that a block's number can't be used as a function's.
//! `Display` and `Debug` print the dump syntax (`fn12`), so a dump, a log line and a failing assertion
//! all name a thing in the same way.
//!
//! Invariant: ids are dense; `new(i).index() == i`. Known limit: 2³² − 1 entities of a kind per
//! program; `new` panics beyond it, which no input reaches before memory is exhausted.

use std::fmt::Debug;
use std::hash::Hash;
use std::iter::FusedIterator;
use std::marker::PhantomData;

/// A dense, copyable name for an entity. Implemented by [`entity_id!`](crate::entity_id) and for
/// `u32` and `usize`, so that graph algorithms also run on plain numbers.
pub trait EntityId: Copy + Ord + Hash + Debug + 'static {
    /// The id of the `index`-th entity.
    fn new(index: usize) -> Self;
    /// The number behind the id.
    fn index(self) -> usize;
}

impl EntityId for u32 {
    fn new(index: usize) -> Self {
        u32::try_from(index).expect("more than u32::MAX entities")
    }
    fn index(self) -> usize {
        self as usize
    }
}

impl EntityId for usize {
    fn new(index: usize) -> Self {
        index
    }
    fn index(self) -> usize {
        self
    }
}

/// Declares typed ids: `entity_id! { /// A function. pub struct FuncId = "fn"; }`.
///
/// The string is the prefix that `Display` and `Debug` print before the number. Several ids may be
/// declared in one invocation. Each gets `new(usize)`, `index()`, `from_u32`, `as_u32` (the last two
/// are `const`) and implements [`EntityId`](crate::EntityId).
#[macro_export]
macro_rules! entity_id {
    ($($(#[$meta:meta])* $vis:vis struct $name:ident = $prefix:literal;)+) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis struct $name(u32);

        #[allow(dead_code)]
        impl $name {
            /// The id of the `index`-th entity.
            #[inline]
            #[track_caller]
            $vis fn new(index: usize) -> Self {
                Self(u32::try_from(index).expect("more than u32::MAX entities"))
            }
            /// The number behind the id, to index with.
            #[inline]
            $vis const fn index(self) -> usize {
                self.0 as usize
            }
            #[inline]
            $vis const fn from_u32(raw: u32) -> Self {
                Self(raw)
            }
            #[inline]
            $vis const fn as_u32(self) -> u32 {
                self.0
            }
        }

        impl $crate::EntityId for $name {
            #[inline]
            fn new(index: usize) -> Self {
                $name::new(index)
            }
            #[inline]
            fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl ::std::fmt::Debug for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Display::fmt(self, f)
            }
        }
    )+};
}

/// A run of consecutive ids, first included, last excluded. Copyable, unlike `std::ops::Range`, so
/// that frozen products can store it.
pub struct IdRange<I> {
    start: u32,
    end: u32,
    marker: PhantomData<fn(I) -> I>,
}

impl<I: EntityId> IdRange<I> {
    /// The ids from `start` up to but without `end`; empty when `end <= start`.
    pub fn new(start: I, end: I) -> Self {
        Self::from_indices(start.index(), end.index())
    }

    /// As [`IdRange::new`], from plain numbers.
    pub fn from_indices(start: usize, end: usize) -> Self {
        let start = u32::new(start);
        Self {
            start,
            end: u32::new(end).max(start),
            marker: PhantomData,
        }
    }

    pub fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    pub fn contains(self, id: I) -> bool {
        (self.start as usize..self.end as usize).contains(&id.index())
    }

    /// The `n`-th id of the range, if the range is that long.
    pub fn nth(self, n: usize) -> Option<I> {
        (n < self.len()).then(|| I::new(self.start as usize + n))
    }

    pub fn first(self) -> Option<I> {
        self.nth(0)
    }

    /// The range as plain numbers, to slice with.
    pub fn as_range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }

    pub fn iter(
        self,
    ) -> impl DoubleEndedIterator<Item = I> + ExactSizeIterator + FusedIterator + Clone {
        self.as_range().map(I::new)
    }
}

impl<I> Clone for IdRange<I> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<I> Copy for IdRange<I> {}

impl<I> PartialEq for IdRange<I> {
    fn eq(&self, other: &Self) -> bool {
        (self.start, self.end) == (other.start, other.end)
    }
}

impl<I> Eq for IdRange<I> {}

impl<I> Default for IdRange<I> {
    fn default() -> Self {
        Self {
            start: 0,
            end: 0,
            marker: PhantomData,
        }
    }
}

impl<I: EntityId> Debug for IdRange<I> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{:?}..{:?}",
            I::new(self.start as usize),
            I::new(self.end as usize)
        )
    }
}

impl<I: EntityId> IntoIterator for IdRange<I> {
    type Item = I;
    type IntoIter = std::iter::Map<std::ops::Range<usize>, fn(usize) -> I>;
    fn into_iter(self) -> Self::IntoIter {
        self.as_range().map(I::new as fn(usize) -> I)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    entity_id! {
        /// A function, for the tests.
        pub struct TestFuncId = "fn";
        struct TestBlockId = "b";
    }

    #[test]
    fn ids_print_the_dump_syntax() {
        assert_eq!(TestFuncId::new(12).to_string(), "fn12");
        assert_eq!(format!("{:?}", TestBlockId::from_u32(3)), "b3");
        assert_eq!(TestFuncId::new(12).as_u32(), 12);
        assert_eq!(TestFuncId::new(12).index(), 12);
        assert!(TestBlockId::new(1) < TestBlockId::new(2));
    }

    #[test]
    fn range_of_ids() {
        let range = IdRange::new(TestBlockId::new(2), TestBlockId::new(5));
        assert_eq!(range.len(), 3);
        assert_eq!(
            range.iter().map(|b| b.index()).collect::<Vec<_>>(),
            [2, 3, 4]
        );
        assert!(range.contains(TestBlockId::new(4)) && !range.contains(TestBlockId::new(5)));
        assert_eq!(range.nth(3), None);
        assert_eq!(format!("{range:?}"), "b2..b5");
        assert!(IdRange::new(TestBlockId::new(5), TestBlockId::new(2)).is_empty());
        assert_eq!(range.into_iter().next_back(), Some(TestBlockId::new(4)));
    }
}
