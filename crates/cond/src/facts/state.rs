//! Classes of equal nodes and what is known about them: the part of the interval stage that case splits copy.

use super::domain::Range;
use super::graph::{Graph, Node};
use crate::address::{LOW_MIN, can_be_address, too_close};
use crate::term::{ObjKey, TermKind};

/// The facts contradict each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Conflict;

/// A place relative to an object's address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    pub(crate) object: ObjKey,
    pub(crate) offset: u64,
}

impl Place {
    /// Whether the two places can never coincide; `None` if nothing is known.
    pub(crate) fn differs(self, other: Place) -> Option<bool> {
        let distance = self.offset.wrapping_sub(other.offset);
        if self.object == other.object {
            Some(distance != 0)
        } else {
            too_close(distance).then_some(true)
        }
    }

    /// Whether the place can have this value.
    pub(crate) fn can_be(self, value: u64) -> bool {
        can_be_address(value.wrapping_sub(self.offset))
    }
}

#[derive(Clone, Copy)]
struct Class {
    range: Range,
    place: Option<Place>,
    /// How often the range has shrunk.
    updates: u16,
}

/// The classes. Facts of a class are stored at its smallest node.
#[derive(Clone)]
pub(crate) struct State {
    parent: Vec<Node>,
    /// The members of each class as a ring.
    ring: Vec<Node>,
    classes: Vec<Class>,
    /// Number of merges so far.
    pub(crate) merges: u32,
}

impl State {
    pub(crate) fn new(graph: &Graph<'_>) -> State {
        let classes = (0..graph.len())
            .map(|node| initial_class(graph, node))
            .collect();
        let identity: Vec<Node> = (0..graph.len()).collect();
        State {
            parent: identity.clone(),
            ring: identity,
            classes,
            merges: 0,
        }
    }

    /// The node that stands for the class.
    pub(crate) fn find(&self, node: Node) -> Node {
        let mut at = node;
        while let Some(&parent) = self.parent.get(at as usize) {
            if parent == at {
                break;
            }
            at = parent;
        }
        at
    }

    pub(crate) fn same(&self, a: Node, b: Node) -> bool {
        self.find(a) == self.find(b)
    }

    fn class(&self, node: Node) -> Option<&Class> {
        self.classes.get(self.find(node) as usize)
    }

    pub(crate) fn range(&self, node: Node) -> Range {
        self.class(node).map_or(Range::full(1), |class| class.range)
    }

    pub(crate) fn place(&self, node: Node) -> Option<Place> {
        self.class(node).and_then(|class| class.place)
    }

    /// The members of a class, starting with the given one.
    pub(crate) fn members(&self, node: Node) -> impl Iterator<Item = Node> + '_ {
        let mut at = Some(node);
        std::iter::from_fn(move || {
            let current = at?;
            let next = self.ring.get(current as usize).copied();
            at = next.filter(|&next| next != node);
            Some(current)
        })
    }

    /// Whether the two nodes certainly have different values.
    pub(crate) fn disjoint(&self, a: Node, b: Node) -> bool {
        if self.same(a, b) {
            return false;
        }
        let (x, y) = (self.range(a), self.range(b));
        if x.meet(&y).is_none() {
            return true;
        }
        let clash = |place: Option<Place>, range: &Range| match (place, range.single()) {
            (Some(place), Some(value)) => !place.can_be(value),
            _ => false,
        };
        match (self.place(a), self.place(b)) {
            (Some(p), Some(q)) => p.differs(q) == Some(true),
            (p, q) => clash(p, &y) || clash(q, &x),
        }
    }

    /// Shrinks the class's range; true if something changed. `limit` bounds the number of changes that leave more than
    /// one value: not to shrink is always sound.
    pub(crate) fn shrink(&mut self, node: Node, by: &Range, limit: u16) -> Result<bool, Conflict> {
        let rep = self.find(node);
        let Some(class) = self.classes.get_mut(rep as usize) else {
            return Ok(false);
        };
        let met = class.range.meet(by).ok_or(Conflict)?;
        if met == class.range || (class.updates >= limit && met.single().is_none()) {
            return Ok(false);
        }
        if let (Some(place), Some(value)) = (class.place, met.single())
            && !place.can_be(value)
        {
            return Err(Conflict);
        }
        class.range = met;
        class.updates = class.updates.saturating_add(1);
        Ok(true)
    }

    /// Says where the class points; true if that is new.
    pub(crate) fn set_place(&mut self, node: Node, place: Place) -> Result<bool, Conflict> {
        let rep = self.find(node);
        let Some(class) = self.classes.get_mut(rep as usize) else {
            return Ok(false);
        };
        if let Some(value) = class.range.single()
            && !place.can_be(value)
        {
            return Err(Conflict);
        }
        match class.place {
            Some(known) => match known.differs(place) {
                Some(true) => Err(Conflict),
                _ => Ok(false),
            },
            None => {
                class.place = Some(place);
                Ok(true)
            }
        }
    }

    /// Makes two classes one; true if they were two.
    pub(crate) fn merge(&mut self, a: Node, b: Node) -> Result<bool, Conflict> {
        let (a, b) = (self.find(a), self.find(b));
        if a == b {
            return Ok(false);
        }
        let (rep, other) = (a.min(b), a.max(b));
        let Some(absorbed) = self.classes.get(other as usize).copied() else {
            return Ok(false);
        };
        if let Some(parent) = self.parent.get_mut(other as usize) {
            *parent = rep;
        }
        self.ring.swap(rep as usize, other as usize);
        self.merges += 1;
        self.shrink(rep, &absorbed.range, u16::MAX)?;
        if let Some(place) = absorbed.place {
            self.set_place(rep, place)?;
        }
        Ok(true)
    }
}

fn initial_class(graph: &Graph<'_>, node: Node) -> Class {
    let width = graph.width(node);
    let full = Range::full(width);
    let range = match graph.kind(node) {
        TermKind::Bool(value) => Range::truth(*value),
        TermKind::Int(value) => Range::exactly(width, *value),
        TermKind::Addr(_) => Range::unsigned(width, LOW_MIN, !LOW_MIN).unwrap_or(full),
        _ => full,
    };
    let place = graph.object(node).map(|object| Place { object, offset: 0 });
    Class {
        range,
        place,
        updates: 0,
    }
}
