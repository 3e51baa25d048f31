//! The state of one path: what has become of the followed objects, where pointers to them are, and what is known.
//!
//! Machine (SMOKE fig. 4, with holders as in Heapcheck): an object is unborn, allocated, freed, escaped or lost. Holders are
//! *places*: SSA values and cells that hold a pointer to or into it. A place in the list holds it for certain on this path
//! (weak ones: perhaps); what is not in the list does not hold it. INVARIANT: lists are sorted and free of duplicates, so
//! that equal states compare equal.

use std::rc::Rc;

use drip_cond::{SymId, TermId};
use drip_pointer::CellId;
use drip_program::{FuncId, GlobalId, InstId, ValueId, VarId};
use smallvec::SmallVec;

/// Why an object is somebody else's business now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Escape {
    /// Stored where a global variable leads to.
    Global(GlobalId),
    /// Handed to code that nobody can see.
    Unknown(Option<FuncId>),
    Thread,
    /// Kept in a structure that this exploration does not follow.
    Untracked,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Machine {
    /// Not yet allocated on this path.
    Unborn,
    /// An entry object that does not exist: the pointer to it is null.
    Null,
    Allocated,
    /// `sure` is false where it was freed through a place that perhaps held it.
    Freed {
        at: InstId,
        sure: bool,
    },
    Escaped {
        at: InstId,
        to: Escape,
    },
    Lost,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Where {
    /// An SSA value; the number is a byte offset inside a struct value.
    Value(ValueId, u32),
    Cell(CellId),
    /// A source variable, by its binding markers: holds until it is bound to something else.
    Var(VarId),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    pub at: Where,
    /// It perhaps holds the object: unknown index, one of several cells, another instance's cell.
    pub weak: bool,
}

/// One followed object on one path.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Followed {
    pub machine: Machine,
    pub places: SmallVec<[Place; 4]>,
    /// It was once held where only "perhaps" can be said (an element with unknown index): what happens there to one
    /// element need not happen to this one.
    pub blurred: bool,
}

/// How certain an answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Holds {
    No,
    Perhaps,
    Yes,
}

impl Followed {
    pub fn unborn() -> Followed {
        Followed {
            machine: Machine::Unborn,
            places: SmallVec::new(),
            blurred: false,
        }
    }

    pub fn null() -> Followed {
        Followed {
            machine: Machine::Null,
            ..Followed::unborn()
        }
    }

    pub fn is_live(&self) -> bool {
        self.machine == Machine::Allocated
    }

    pub fn holds(&self, at: Where) -> Holds {
        match self.places.binary_search_by(|p| p.at.cmp(&at)) {
            Ok(found) if self.places[found].weak => Holds::Perhaps,
            Ok(_) => Holds::Yes,
            Err(_) => Holds::No,
        }
    }

    /// Does one of these cells hold it, and how certain is that of the surest?
    pub fn holds_any(&self, cells: &[CellId]) -> Holds {
        let held = cells.iter().map(|&cell| self.holds(Where::Cell(cell)));
        held.max().unwrap_or(Holds::No)
    }

    /// Does a cell hold it, perhaps?
    pub fn is_in_memory(&self) -> bool {
        self.places.iter().any(|p| matches!(p.at, Where::Cell(_)))
    }

    pub fn holds_value(&self, value: ValueId) -> Holds {
        self.holds(Where::Value(value, 0))
    }

    pub fn add(&mut self, at: Where, weak: bool) {
        self.blurred |= weak;
        match self.places.binary_search_by(|p| p.at.cmp(&at)) {
            Ok(found) => self.places[found].weak &= weak,
            Err(index) => self.places.insert(index, Place { at, weak }),
        }
    }

    pub fn remove(&mut self, at: Where) -> bool {
        match self.places.binary_search_by(|p| p.at.cmp(&at)) {
            Ok(index) => {
                self.places.remove(index);
                true
            }
            Err(_) => false,
        }
    }

    /// Forgets an SSA value that is about to be defined again.
    pub fn forget_value(&mut self, value: ValueId) {
        self.keep(|p| !matches!(p.at, Where::Value(v, _) if v == value));
    }

    /// Keeps only some of the places; most often that is all of them.
    pub fn keep(&mut self, is_kept: impl Fn(&Place) -> bool) {
        if !self.places.iter().all(&is_kept) {
            self.places.retain(|place| is_kept(place));
        }
    }

    /// Takes in what another path knows of the same object in the same state; true if that changed anything.
    pub fn join(&mut self, other: &Followed) -> bool {
        let before = self.clone();
        for place in &mut self.places {
            place.weak |= other.holds(place.at) != Holds::Yes;
        }
        for place in &other.places {
            if self.holds(place.at) == Holds::No {
                self.add(place.at, true);
            }
        }
        self.blurred |= other.blurred || self.places.iter().any(|p| p.weak);
        *self != before
    }

    /// Settles the object: nothing needs to be known of it any more.
    pub fn settle(&mut self, machine: Machine) {
        self.machine = machine;
        self.places.clear();
    }
}

// States are copied at every branch: lists of plain words are copied as such, which the derived code does not do.
impl Clone for Followed {
    fn clone(&self) -> Followed {
        Followed {
            machine: self.machine,
            places: SmallVec::from_slice(&self.places),
            blurred: self.blurred,
        }
    }
}

impl Clone for State {
    fn clone(&self) -> State {
        let mut objects = SmallVec::with_capacity(self.objects.len());
        for object in &self.objects {
            objects.push(object.clone());
        }
        State {
            objects,
            facts: SmallVec::from_slice(&self.facts),
            env: SmallVec::from_slice(&self.env),
        }
    }
}

/// State of a path at one point.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// Index 0 is the object in question; the others hold it, or are followed along with it.
    pub objects: SmallVec<[Followed; 2]>,
    /// Conditions known to be true; sorted.
    pub facts: SmallVec<[TermId; 6]>,
    /// φ symbols whose value on this path is known; sorted.
    pub env: SmallVec<[(SymId, TermId); 4]>,
}

/// Keeps only some of the places that hold the objects; a state that many share is only copied if that changes it.
pub(crate) fn keep_places(state: &mut Rc<State>, is_kept: impl Fn(&Place) -> bool) {
    let places = |object: &Followed| object.places.iter().all(&is_kept);
    if !state.objects.iter().all(places) {
        for object in &mut Rc::make_mut(state).objects {
            object.keep(&is_kept);
        }
    }
}

impl State {
    /// Forgets an SSA value that is about to be defined again.
    pub fn forget_value(&mut self, value: ValueId) {
        for object in &mut self.objects {
            object.forget_value(value);
        }
    }

    pub fn knows(&self, fact: TermId) -> bool {
        self.facts.binary_search(&fact).is_ok()
    }

    pub fn learn(&mut self, fact: TermId) {
        if let Err(at) = self.facts.binary_search(&fact) {
            self.facts.insert(at, fact);
        }
    }

    pub fn bind(&mut self, sym: SymId, term: Option<TermId>) {
        match (self.env.binary_search_by_key(&sym, |e| e.0), term) {
            (Ok(at), Some(term)) => self.env[at].1 = term,
            (Ok(at), None) => {
                self.env.remove(at);
            }
            (Err(at), Some(term)) => self.env.insert(at, (sym, term)),
            (Err(_), None) => {}
        }
    }

    /// Binds many symbols at once; `bindings` are sorted, without duplicates.
    pub fn bind_all(&mut self, bindings: &[(SymId, TermId)]) {
        debug_assert!(bindings.is_sorted_by(|a, b| a.0 < b.0));
        let mut fresh: SmallVec<[(SymId, TermId); 16]> = SmallVec::new();
        let mut at = 0;
        for &binding in bindings {
            at += self.env[at..].partition_point(|entry| entry.0 < binding.0);
            match self.env.get_mut(at) {
                Some(entry) if entry.0 == binding.0 => *entry = binding,
                _ => fresh.push(binding),
            }
        }
        // What is not there yet goes between what is, from the end on.
        let mut old = self.env.len();
        let Some(&filler) = fresh.first() else {
            return;
        };
        self.env.resize(old + fresh.len(), filler);
        let mut to = self.env.len();
        while let Some(&last) = fresh.last() {
            to -= 1;
            if old > 0 && self.env[old - 1].0 > last.0 {
                old -= 1;
                self.env[to] = self.env[old];
            } else {
                self.env[to] = last;
                fresh.pop();
            }
        }
    }

    pub fn lookup(&self, sym: SymId) -> Option<TermId> {
        self.env
            .binary_search_by_key(&sym, |e| e.0)
            .ok()
            .map(|at| self.env[at].1)
    }

    /// How much both states know. What a φ is on this path decides more than a single condition.
    pub fn shared(&self, other: &State) -> usize {
        common(&self.facts, &other.facts) + 2 * common(&self.env, &other.env)
    }

    /// Keeps only what both states know; true if something was forgotten.
    pub fn weaken(&mut self, other: &State) -> bool {
        let before = (self.facts.len(), self.env.len());
        self.facts.retain(|fact| other.knows(*fact));
        self.env
            .retain(|entry| other.lookup(entry.0) == Some(entry.1));
        before != (self.facts.len(), self.env.len())
    }
}

/// The number of elements that are in both of two sorted lists without duplicates.
fn common<T: Ord>(left: &[T], right: &[T]) -> usize {
    let (mut l, mut r, mut found) = (0, 0, 0);
    while let (Some(a), Some(b)) = (left.get(l), right.get(r)) {
        let order = a.cmp(b);
        found += usize::from(order.is_eq());
        l += usize::from(order.is_le());
        r += usize::from(order.is_ge());
    }
    found
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use drip_cond::{Sort, Terms};
    use proptest::collection::{btree_map, btree_set};
    use proptest::{prop_assert_eq, proptest};

    use super::*;

    fn state(terms: &mut Terms, known: &BTreeMap<u32, u32>) -> State {
        State {
            objects: SmallVec::new(),
            facts: SmallVec::new(),
            env: bindings(terms, known).into_iter().collect(),
        }
    }

    fn bindings(terms: &mut Terms, known: &BTreeMap<u32, u32>) -> Vec<(SymId, TermId)> {
        let entries = known.iter();
        entries
            .map(|(&sym, &value)| (SymId(sym), terms.sym(SymId(value), Sort::Bool)))
            .collect()
    }

    proptest! {
        #[test]
        fn bindings_at_once_are_bindings_one_by_one(
            old in btree_map(0u32..40, 0u32..8, 0..20),
            new in btree_map(0u32..40, 0u32..8, 0..20),
        ) {
            let mut terms = Terms::default();
            let mut at_once = state(&mut terms, &old);
            let mut one_by_one = at_once.clone();
            let bindings = bindings(&mut terms, &new);
            at_once.bind_all(&bindings);
            for &(sym, term) in &bindings {
                one_by_one.bind(sym, Some(term));
            }
            prop_assert_eq!(at_once, one_by_one);
        }

        #[test]
        fn what_two_lists_have_in_common_is_counted(
            left in btree_set(0u32..30, 0..20),
            right in btree_set(0u32..30, 0..20),
        ) {
            let list = |set: &BTreeSet<u32>| set.iter().copied().collect::<Vec<u32>>();
            let both = left.intersection(&right).count();
            prop_assert_eq!(common(&list(&left), &list(&right)), both);
        }
    }
}
