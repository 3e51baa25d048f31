//! Properties of the id sets: both behave like a `BTreeSet` under any sequence of operations.

use drip_base::{IdSet, SparseSet};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

fn members() -> impl Strategy<Value = BTreeSet<u32>> {
    proptest::collection::btree_set(prop_oneof![0u32..70, 0u32..1000], 0..40)
}

fn dense(set: &BTreeSet<u32>) -> IdSet<u32> {
    set.iter().copied().collect()
}

/// Inserted in descending order, against the fast path for ascending insertion.
fn sparse(set: &BTreeSet<u32>) -> SparseSet<u32> {
    set.iter().rev().copied().collect()
}

fn list<'a>(set: impl IntoIterator<Item = &'a u32>) -> Vec<u32> {
    set.into_iter().copied().collect()
}

proptest! {
    #[test]
    fn dense_set_is_a_set(a in members(), b in members()) {
        let (x, y) = (dense(&a), dense(&b));
        prop_assert_eq!(x.iter().collect::<Vec<_>>(), list(&a));
        prop_assert_eq!(x.len(), a.len());
        prop_assert_eq!(x.is_empty(), a.is_empty());
        prop_assert_eq!(x.first(), a.first().copied());
        prop_assert_eq!(x.is_subset(&y), a.is_subset(&b));
        prop_assert_eq!(x.intersects(&y), !a.is_disjoint(&b));
        prop_assert_eq!(x == y, a == b);
        let mut union = x.clone();
        prop_assert_eq!(union.union_with(&y), !b.is_subset(&a));
        prop_assert_eq!(union.iter().collect::<Vec<_>>(), list(a.union(&b)));
        let mut both = x.clone();
        prop_assert_eq!(both.intersect_with(&y), !a.is_subset(&b));
        prop_assert_eq!(both.iter().collect::<Vec<_>>(), list(a.intersection(&b)));
        let mut rest = x.clone();
        prop_assert_eq!(rest.subtract(&y), !a.is_disjoint(&b));
        prop_assert_eq!(rest.iter().collect::<Vec<_>>(), list(a.difference(&b)));
        rest.clear();
        prop_assert!(rest.is_empty() && rest == IdSet::new());
    }

    #[test]
    fn sparse_set_is_a_set(a in members(), b in members()) {
        let (x, y) = (sparse(&a), sparse(&b));
        prop_assert_eq!(x.iter().collect::<Vec<_>>(), list(&a));
        prop_assert_eq!(x.len(), a.len());
        prop_assert_eq!(x.is_empty(), a.is_empty());
        prop_assert_eq!(x.single(), if a.len() == 1 { a.first().copied() } else { None });
        prop_assert_eq!(x.is_subset(&y), a.is_subset(&b));
        prop_assert_eq!(x.intersects(&y), !a.is_disjoint(&b));
        prop_assert_eq!(x.difference(&y).iter().collect::<Vec<_>>(), list(a.difference(&b)));
        prop_assert_eq!(x.intersection(&y).iter().collect::<Vec<_>>(), list(a.intersection(&b)));
        let mut union = x.clone();
        prop_assert_eq!(union.union_with(&y), !b.is_subset(&a));
        prop_assert_eq!(union.iter().collect::<Vec<_>>(), list(a.union(&b)));
        let mut grown = x.clone();
        prop_assert_eq!(grown.union_diff(&y).iter().collect::<Vec<_>>(), list(b.difference(&a)));
        prop_assert_eq!(&grown, &union);
    }

    #[test]
    fn members_come_and_go(start in members(), ops in proptest::collection::vec((any::<bool>(), 0u32..200), 0..60)) {
        let (mut model, mut x, mut y) = (start.clone(), dense(&start), sparse(&start));
        for (add, id) in ops {
            let expected = if add { model.insert(id) } else { model.remove(&id) };
            prop_assert_eq!(if add { x.insert(id) } else { x.remove(id) }, expected);
            prop_assert_eq!(if add { y.insert(id) } else { y.remove(id) }, expected);
            prop_assert_eq!((x.contains(id), y.contains(id)), (add, add));
        }
        prop_assert_eq!(&x, &dense(&model));
        prop_assert_eq!(&y, &sparse(&model));
        let hash = |set: &SparseSet<u32>| {
            let mut hasher = DefaultHasher::new();
            set.hash(&mut hasher);
            hasher.finish()
        };
        prop_assert_eq!(hash(&y), hash(&sparse(&model)), "equal sets hash alike");
    }

    #[test]
    fn full_set_has_all_ids_below_its_size(n in 0usize..200) {
        prop_assert_eq!(IdSet::<u32>::full(n).iter().collect::<Vec<_>>(), (0..n as u32).collect::<Vec<_>>());
    }
}
