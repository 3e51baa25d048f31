//! Vectors indexed by typed ids: `IndexVec` while a product is built, `FrozenIndexVec` once it is
//! published.
//!
//! Invariant: the id of the n-th element pushed is `I::new(n)`. A frozen vector can't grow, shrink or
//! be written to, which is how "a product is frozen" is kept by the compiler.

use crate::{EntityId, IdRange};
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, Index, IndexMut};

/// A growable vector whose index is the id type `I`.
pub struct IndexVec<I, T> {
    raw: Vec<T>,
    marker: PhantomData<fn(I) -> I>,
}

impl<I: EntityId, T> IndexVec<I, T> {
    pub const fn new() -> Self {
        Self {
            raw: Vec::new(),
            marker: PhantomData,
        }
    }

    pub fn with_capacity(capacity: usize) -> Self {
        Self::from_raw(Vec::with_capacity(capacity))
    }

    /// Takes over a plain vector; element n gets id n.
    pub fn from_raw(raw: Vec<T>) -> Self {
        Self {
            raw,
            marker: PhantomData,
        }
    }

    /// `n` copies of `value`.
    pub fn from_elem(value: T, n: usize) -> Self
    where
        T: Clone,
    {
        Self::from_raw(vec![value; n])
    }

    /// One element for each id below `n`, made by `make`.
    pub fn from_fn(n: usize, make: impl FnMut(I) -> T) -> Self {
        Self::from_raw((0..n).map(I::new).map(make).collect())
    }

    /// Appends and returns the new element's id.
    pub fn push(&mut self, value: T) -> I {
        let id = self.next_id();
        self.raw.push(value);
        id
    }

    pub fn pop(&mut self) -> Option<T> {
        self.raw.pop()
    }

    /// The id that the next [`push`](Self::push) will return.
    pub fn next_id(&self) -> I {
        I::new(self.raw.len())
    }

    pub fn get_mut(&mut self, id: I) -> Option<&mut T> {
        self.raw.get_mut(id.index())
    }

    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.raw.iter_mut()
    }

    pub fn iter_enumerated_mut(&mut self) -> impl ExactSizeIterator<Item = (I, &mut T)> {
        self.raw.iter_mut().enumerate().map(|(i, v)| (I::new(i), v))
    }

    pub fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.raw
    }

    /// Grows to at least `n` elements with clones of `value`; never shrinks.
    pub fn grow_to(&mut self, n: usize, value: T)
    where
        T: Clone,
    {
        if self.raw.len() < n {
            self.raw.resize(n, value);
        }
    }

    pub fn truncate(&mut self, n: usize) {
        self.raw.truncate(n);
    }

    pub fn clear(&mut self) {
        self.raw.clear();
    }

    pub fn reserve(&mut self, additional: usize) {
        self.raw.reserve(additional);
    }

    pub fn into_raw(self) -> Vec<T> {
        self.raw
    }

    pub fn into_boxed(self) -> Box<[T]> {
        self.raw.into_boxed_slice()
    }

    pub fn into_iter_enumerated(self) -> impl ExactSizeIterator<Item = (I, T)> {
        self.raw
            .into_iter()
            .enumerate()
            .map(|(i, v)| (I::new(i), v))
    }

    /// Publishes the vector: excess capacity is given back, and nobody can write to it any more.
    pub fn freeze(self) -> FrozenIndexVec<I, T> {
        FrozenIndexVec {
            raw: self.into_boxed(),
            marker: PhantomData,
        }
    }
}

/// A vector of ids `I` that can no longer change.
pub struct FrozenIndexVec<I, T> {
    raw: Box<[T]>,
    marker: PhantomData<fn(I) -> I>,
}

impl<I: EntityId, T> FrozenIndexVec<I, T> {
    pub fn into_raw(self) -> Vec<T> {
        self.raw.into_vec()
    }

    /// Takes the elements out again, to build a changed successor.
    pub fn thaw(self) -> IndexVec<I, T> {
        IndexVec::from_raw(self.into_raw())
    }
}

impl<I: EntityId, T> From<Vec<T>> for FrozenIndexVec<I, T> {
    fn from(raw: Vec<T>) -> Self {
        IndexVec::from_raw(raw).freeze()
    }
}

impl<I: EntityId, T> From<Vec<T>> for IndexVec<I, T> {
    fn from(raw: Vec<T>) -> Self {
        Self::from_raw(raw)
    }
}

/// What mutable and frozen vectors share: everything that only reads.
macro_rules! read_api {
    ($name:ident) => {
        impl<I: EntityId, T> $name<I, T> {
            pub fn len(&self) -> usize {
                self.raw.len()
            }

            pub fn is_empty(&self) -> bool {
                self.raw.is_empty()
            }

            pub fn get(&self, id: I) -> Option<&T> {
                self.raw.get(id.index())
            }

            pub fn iter(&self) -> std::slice::Iter<'_, T> {
                self.raw.iter()
            }

            pub fn iter_enumerated(
                &self,
            ) -> impl ExactSizeIterator<Item = (I, &T)> + DoubleEndedIterator + Clone {
                self.raw.iter().enumerate().map(|(i, v)| (I::new(i), v))
            }

            /// All ids, in order.
            pub fn ids(&self) -> IdRange<I> {
                IdRange::from_indices(0, self.raw.len())
            }

            pub fn as_slice(&self) -> &[T] {
                self.raw.deref()
            }

            /// The elements of consecutive ids; empty where the range leaves the vector.
            pub fn range(&self, ids: IdRange<I>) -> &[T] {
                self.raw.get(ids.as_range()).unwrap_or(&[])
            }

            pub fn last(&self) -> Option<&T> {
                self.raw.last()
            }
        }

        impl<I: EntityId, T> Index<I> for $name<I, T> {
            type Output = T;
            #[inline]
            #[track_caller]
            fn index(&self, id: I) -> &T {
                &self.raw[id.index()]
            }
        }

        impl<I: EntityId, T> FromIterator<T> for $name<I, T> {
            fn from_iter<Iter: IntoIterator<Item = T>>(iter: Iter) -> Self {
                Self {
                    raw: iter.into_iter().collect(),
                    marker: PhantomData,
                }
            }
        }

        impl<'a, I: EntityId, T> IntoIterator for &'a $name<I, T> {
            type Item = &'a T;
            type IntoIter = std::slice::Iter<'a, T>;
            fn into_iter(self) -> Self::IntoIter {
                self.raw.iter()
            }
        }

        impl<I, T: Clone> Clone for $name<I, T> {
            fn clone(&self) -> Self {
                Self {
                    raw: self.raw.clone(),
                    marker: PhantomData,
                }
            }
        }

        impl<I, T: PartialEq> PartialEq for $name<I, T> {
            fn eq(&self, other: &Self) -> bool {
                self.raw == other.raw
            }
        }

        impl<I, T: Eq> Eq for $name<I, T> {}

        impl<I, T: std::hash::Hash> std::hash::Hash for $name<I, T> {
            fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
                self.raw.hash(state);
            }
        }

        impl<I, T> Default for $name<I, T> {
            fn default() -> Self {
                Self {
                    raw: Default::default(),
                    marker: PhantomData,
                }
            }
        }

        impl<I: EntityId, T: fmt::Debug> fmt::Debug for $name<I, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_map().entries(self.iter_enumerated()).finish()
            }
        }
    };
}

read_api!(IndexVec);
read_api!(FrozenIndexVec);

impl<I: EntityId, T> IndexMut<I> for IndexVec<I, T> {
    #[inline]
    #[track_caller]
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.raw[id.index()]
    }
}

impl<I: EntityId, T> Extend<T> for IndexVec<I, T> {
    fn extend<Iter: IntoIterator<Item = T>>(&mut self, iter: Iter) {
        self.raw.extend(iter);
    }
}

impl<I: EntityId, T> IntoIterator for IndexVec<I, T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;
    fn into_iter(self) -> Self::IntoIter {
        self.raw.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    crate::entity_id! { struct ThingId = "t"; }

    #[test]
    fn push_returns_the_index() {
        let mut v = IndexVec::<ThingId, &str>::with_capacity(2);
        let a = v.push("a");
        let b = v.push("b");
        assert_eq!((v[a], v[b]), ("a", "b"));
        v[a] = "z";
        v.extend(["c"]);
        assert_eq!(v.next_id(), ThingId::new(3));
        assert_eq!(v.get(ThingId::new(7)), None);
        assert_eq!(format!("{v:?}"), r#"{t0: "z", t1: "b", t2: "c"}"#);
        assert_eq!(v.ids().len(), 3);
        assert_eq!(v.range(IdRange::from_indices(1, 3)), ["b", "c"]);
        assert!(v.range(IdRange::from_indices(1, 4)).is_empty());
    }

    #[test]
    fn freezing_keeps_elements_and_thawing_gives_them_back() {
        let frozen: FrozenIndexVec<ThingId, u8> = (0..4).collect::<IndexVec<_, _>>().freeze();
        assert_eq!(frozen.len(), 4);
        assert_eq!(frozen[ThingId::new(2)], 2);
        assert_eq!(
            frozen.iter_enumerated().next_back(),
            Some((ThingId::new(3), &3))
        );
        let mut thawed = frozen.clone().thaw();
        thawed.push(9);
        assert_eq!(thawed.len(), 5);
        assert_eq!(frozen.len(), 4);
    }
}
