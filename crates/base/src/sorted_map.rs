//! A small map as a sorted vector: for maps that are copied more often than they grow.
//!
//! A copy is one allocation and a block copy, a lookup a binary search, a range a slice; inserting moves what comes behind. Meant for
//! up to a few hundred entries.

use std::ops::Range;

/// A map from `K` to `V`, in ascending order of its keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortedMap<K, V> {
    entries: Vec<(K, V)>,
}

impl<K: Ord + Copy, V> SortedMap<K, V> {
    pub const fn new() -> Self {
        Self {
            entries: Vec::new(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    fn position(&self, key: K) -> Result<usize, usize> {
        // Keys often come in ascending order.
        match self.entries.last() {
            Some(last) if last.0 < key => Err(self.entries.len()),
            _ => self.entries.binary_search_by(|entry| entry.0.cmp(&key)),
        }
    }

    pub fn get(&self, key: K) -> Option<&V> {
        self.position(key).ok().map(|at| &self.entries[at].1)
    }

    pub fn contains_key(&self, key: K) -> bool {
        self.position(key).is_ok()
    }

    /// Sets the value of a key.
    pub fn insert(&mut self, key: K, value: V) {
        match self.position(key) {
            Ok(at) => self.entries[at].1 = value,
            Err(at) => self.entries.insert(at, (key, value)),
        }
    }

    /// The value of a key, made by `new` if there is none.
    pub fn get_or_insert_with(&mut self, key: K, new: impl FnOnce() -> V) -> &mut V {
        let at = match self.position(key) {
            Ok(at) => at,
            Err(at) => {
                self.entries.insert(at, (key, new()));
                at
            }
        };
        &mut self.entries[at].1
    }

    pub fn remove(&mut self, key: K) -> Option<V> {
        let at = self.position(key).ok()?;
        Some(self.entries.remove(at).1)
    }

    /// The entries with keys from `from` on, up to and without `to`.
    pub fn range(&self, from: K, to: K) -> &[(K, V)] {
        &self.entries[self.bounds(from, to)]
    }

    /// Removes the entries of a range.
    pub fn remove_range(&mut self, from: K, to: K) {
        let bounds = self.bounds(from, to);
        self.entries.drain(bounds);
    }

    fn bounds(&self, from: K, to: K) -> Range<usize> {
        let start = self.entries.partition_point(|entry| entry.0 < from);
        let rest = &self.entries[start..];
        let end = start + rest.partition_point(|entry| entry.0 < to);
        start..end
    }

    pub fn retain(&mut self, mut is_kept: impl FnMut(K, &V) -> bool) {
        self.entries.retain(|entry| is_kept(entry.0, &entry.1));
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (K, &V)> {
        self.entries.iter().map(|entry| (entry.0, &entry.1))
    }

    pub fn keys(&self) -> impl DoubleEndedIterator<Item = K> + '_ {
        self.entries.iter().map(|entry| entry.0)
    }

    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> {
        self.entries.iter().map(|entry| &entry.1)
    }
}

impl<K: Ord + Copy, V> Default for SortedMap<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Ord + Copy, V> FromIterator<(K, V)> for SortedMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut map = Self::new();
        map.extend(entries);
        map
    }
}

impl<K: Ord + Copy, V> Extend<(K, V)> for SortedMap<K, V> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        for (key, value) in entries {
            self.insert(key, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::SortedMap;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// The library's own map is the twin.
        #[test]
        fn is_a_map(steps in proptest::collection::vec((0u8..4, 0i32..24, 0i32..24), 0..80)) {
            let mut map = SortedMap::new();
            let mut twin = BTreeMap::new();
            for (kind, a, b) in steps {
                match kind {
                    0 | 1 => {
                        map.insert(a, b);
                        twin.insert(a, b);
                    }
                    2 => {
                        prop_assert_eq!(map.remove(a), twin.remove(&a));
                    }
                    _ => {
                        let (from, to) = (a.min(b), a.max(b));
                        let inside: Vec<(i32, i32)> = twin.range(from..to).map(|e| (*e.0, *e.1)).collect();
                        prop_assert_eq!(map.range(from, to), &inside[..]);
                        map.remove_range(from, to);
                        twin.retain(|key, _| !(from..to).contains(key));
                    }
                }
                prop_assert!(map.iter().map(|(k, v)| (k, *v)).eq(twin.iter().map(|(k, v)| (*k, *v))));
                prop_assert_eq!(map.get(a), twin.get(&a));
                prop_assert_eq!(map.contains_key(b), twin.contains_key(&b));
            }
        }
    }
}
