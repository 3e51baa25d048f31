//! Where do terms live, and how is one found again?
//!
//! An append-only arena with hash-consing: structurally equal terms get one id, so equality of conditions is equality
//! of ids. Constructors are in `build`; this file holds the arena, its accessors and the rollback that lets a query
//! build scratch terms without growing the arena for good.
//!
//! Invariants: children precede parents; `complement[t]` is set on both sides as soon as both a boolean term and its
//! negation exist; ill-sorted operands are coerced, never a panic, and counted in [`Terms::ill_sorted`].

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashSet};

use crate::term::{MAX_WIDTH, Sort, TermId, TermKind};

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Term {
    pub(crate) sort: Sort,
    pub(crate) kind: TermKind,
}

/// What a foreign id reads as.
static FALLBACK: Term = Term {
    sort: Sort::Bool,
    kind: TermKind::Bool(false),
};

/// The arena of terms.
#[derive(Clone, Debug)]
pub struct Terms {
    set: IndexSet<Term, FxBuildHasher>,
    complement: Vec<Option<TermId>>,
    ill_sorted: u32,
    pub(crate) push_depth: u32,
}

impl Default for Terms {
    fn default() -> Self {
        Terms::new()
    }
}

impl Terms {
    /// The false constant of every arena.
    pub const FALSE: TermId = TermId(0);
    /// The true constant of every arena.
    pub const TRUE: TermId = TermId(1);

    /// An arena that holds only the two boolean constants.
    pub fn new() -> Self {
        let mut terms = Terms {
            set: IndexSet::default(),
            complement: Vec::new(),
            ill_sorted: 0,
            push_depth: 0,
        };
        let no = terms.intern(Sort::Bool, TermKind::Bool(false));
        let yes = terms.intern(Sort::Bool, TermKind::Bool(true));
        terms.link_complements(no, yes);
        terms
    }

    /// Number of terms in the arena.
    pub fn len(&self) -> usize {
        self.set.len()
    }

    /// Never true: the constants are always there.
    pub fn is_empty(&self) -> bool {
        self.set.is_empty()
    }

    /// How often a constructor had to coerce operands of the wrong sort, or clamp a width; 0 for a correct client.
    pub fn ill_sorted(&self) -> u32 {
        self.ill_sorted
    }

    /// The term's sort.
    pub fn sort(&self, t: TermId) -> Sort {
        self.term(t).sort
    }

    /// The term's shape.
    pub fn kind(&self, t: TermId) -> &TermKind {
        &self.term(t).kind
    }

    /// The term's width; 1 for booleans.
    pub fn width(&self, t: TermId) -> u32 {
        self.sort(t).width()
    }

    /// The value of a bit-vector constant.
    pub fn as_int(&self, t: TermId) -> Option<u64> {
        match self.kind(t) {
            TermKind::Int(value) => Some(*value),
            _ => None,
        }
    }

    /// The value of a boolean constant.
    pub fn as_bool(&self, t: TermId) -> Option<bool> {
        match self.kind(t) {
            TermKind::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// All terms below the roots, the roots included, children first.
    pub fn subterms(&self, roots: &[TermId]) -> Vec<TermId> {
        let mut seen: FxHashSet<TermId> = roots.iter().copied().collect();
        let mut found: Vec<TermId> = seen.iter().copied().collect();
        let mut next = 0;
        while let Some(&t) = found.get(next) {
            next += 1;
            self.kind(t).for_each_child(|child| {
                if seen.insert(child) {
                    found.push(child);
                }
            });
        }
        found.sort_unstable();
        found
    }

    fn term(&self, t: TermId) -> &Term {
        // Ids come from this arena only; an id of another arena falls back to `false` instead of a panic.
        self.set.get_index(t.index()).unwrap_or(&FALLBACK)
    }

    pub(crate) fn intern(&mut self, sort: Sort, kind: TermKind) -> TermId {
        let (index, new) = self.set.insert_full(Term { sort, kind });
        if new {
            self.complement.push(None);
        }
        TermId(index as u32)
    }

    /// The negation, if it has been built already.
    pub(crate) fn known_complement(&self, t: TermId) -> Option<TermId> {
        self.complement.get(t.index()).copied().flatten()
    }

    pub(crate) fn link_complements(&mut self, a: TermId, b: TermId) {
        for (x, y) in [(a, b), (b, a)] {
            if let Some(slot) = self.complement.get_mut(x.index()) {
                *slot = Some(y);
            }
        }
    }

    pub(crate) fn count_ill_sorted(&mut self) {
        self.ill_sorted = self.ill_sorted.saturating_add(1);
    }

    pub(crate) fn checked_width(&mut self, width: u32) -> u32 {
        if (1..=MAX_WIDTH).contains(&width) {
            width
        } else {
            self.count_ill_sorted();
            width.clamp(1, MAX_WIDTH)
        }
    }

    /// Forgets every term made after the arena had `len` terms. Ids of forgotten terms must not be used again.
    pub fn truncate(&mut self, len: usize) {
        let len = len.max(2);
        for index in len..self.complement.len() {
            if let Some(Some(other)) = self.complement.get(index).copied()
                && let Some(slot) = self.complement.get_mut(other.index())
            {
                *slot = None;
            }
        }
        self.complement.truncate(len);
        self.set.truncate(len);
    }
}
