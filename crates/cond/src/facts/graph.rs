//! The terms of one query as a dense graph: nodes in children-first order, with operands and users by number.

use crate::Terms;
use crate::eval::apply_operator;
use crate::term::{ObjKey, Sort, TermId, TermKind};

/// Nodes are numbered from 0, children before parents.
pub(crate) type Node = u32;

/// The immutable part of the interval stage.
pub(crate) struct Graph<'a> {
    pub(crate) terms: &'a Terms,
    nodes: Vec<TermId>,
    operand_ends: Vec<u32>,
    operands: Vec<Node>,
    user_ends: Vec<u32>,
    users: Vec<Node>,
}

impl<'a> Graph<'a> {
    pub(crate) fn new(terms: &'a Terms, roots: &[TermId]) -> Self {
        let nodes = terms.subterms(roots);
        let (mut operands, mut operand_ends) = (Vec::new(), Vec::with_capacity(nodes.len()));
        let mut use_counts = vec![0u32; nodes.len()];
        for &t in &nodes {
            terms.kind(t).for_each_child(|child| {
                let number = number_of(&nodes, child).unwrap_or(0);
                operands.push(number);
                if let Some(count) = use_counts.get_mut(number as usize) {
                    *count += 1;
                }
            });
            operand_ends.push(operands.len() as u32);
        }
        let mut graph = Graph {
            terms,
            nodes,
            operand_ends,
            operands,
            user_ends: Vec::new(),
            users: Vec::new(),
        };
        graph.link_users(&use_counts);
        graph
    }

    fn link_users(&mut self, use_counts: &[u32]) {
        let mut starts = Vec::with_capacity(use_counts.len());
        let mut total = 0;
        for &count in use_counts {
            starts.push(total);
            total += count;
        }
        self.users = vec![0; total as usize];
        for user in 0..self.len() {
            for index in 0..self.operands(user).len() {
                let Some(&operand) = self.operands(user).get(index) else {
                    continue;
                };
                if let Some(slot) = starts.get_mut(operand as usize) {
                    if let Some(place) = self.users.get_mut(*slot as usize) {
                        *place = user;
                    }
                    *slot += 1;
                }
            }
        }
        // After filling, each start has moved to its end.
        self.user_ends = starts;
    }

    pub(crate) fn len(&self) -> Node {
        self.nodes.len() as Node
    }

    pub(crate) fn term(&self, node: Node) -> TermId {
        self.nodes
            .get(node as usize)
            .copied()
            .unwrap_or(Terms::FALSE)
    }

    pub(crate) fn kind(&self, node: Node) -> &'a TermKind {
        self.terms.kind(self.term(node))
    }

    pub(crate) fn sort(&self, node: Node) -> Sort {
        self.terms.sort(self.term(node))
    }

    pub(crate) fn width(&self, node: Node) -> u32 {
        self.sort(node).width()
    }

    pub(crate) fn number(&self, t: TermId) -> Option<Node> {
        number_of(&self.nodes, t)
    }

    pub(crate) fn operands(&self, node: Node) -> &[Node] {
        slice(&self.operands, &self.operand_ends, node)
    }

    /// The operand at a position; every node has the operands that its kind says.
    pub(crate) fn operand(&self, node: Node, index: usize) -> Node {
        self.operands(node).get(index).copied().unwrap_or(0)
    }

    pub(crate) fn users(&self, node: Node) -> &[Node] {
        slice(&self.users, &self.user_ends, node)
    }

    /// The object whose address the node is.
    pub(crate) fn object(&self, node: Node) -> Option<ObjKey> {
        match self.kind(node) {
            TermKind::Addr(object) => Some(*object),
            _ => None,
        }
    }

    /// Whether nothing but facts decides the node's value.
    pub(crate) fn is_leaf(&self, node: Node) -> bool {
        matches!(
            self.kind(node),
            TermKind::Sym(_) | TermKind::Addr(_) | TermKind::App(..)
        )
    }

    /// The value of an operator node on the values of its operands.
    pub(crate) fn apply(&self, node: Node, get: impl Fn(Node) -> u64) -> u64 {
        let operands = self.operands(node);
        apply_operator(self.terms, self.term(node), |i| {
            operands.get(i).map_or(0, |&operand| get(operand))
        })
    }
}

/// Nodes are sorted by term.
fn number_of(nodes: &[TermId], t: TermId) -> Option<Node> {
    nodes.binary_search(&t).ok().map(|at| at as Node)
}

fn slice<'s>(items: &'s [Node], ends: &[u32], node: Node) -> &'s [Node] {
    let at = node as usize;
    let start = if at == 0 {
        0
    } else {
        ends.get(at - 1).copied().unwrap_or(0)
    };
    let end = ends.get(at).copied().unwrap_or(start);
    items.get(start as usize..end as usize).unwrap_or(&[])
}
