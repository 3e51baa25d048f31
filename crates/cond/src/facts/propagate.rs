//! The fixpoint: a worklist of nodes whose rules may have something new to say.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::domain::Range;
use super::graph::{Graph, Node};
use super::order;
use super::state::{Conflict, Place, State};
use super::{truth, words};
use crate::term::TermKind;

/// Times that the range of one class may shrink without becoming a single value. Beyond it, bounds that push each other
/// up in tiny steps (`x < y` and `y < x + 1`) stay where they are; SAT decides such queries.
const MAX_UPDATES: u16 = 24;

/// Runs the rules on a state.
pub(crate) struct Propagator<'g> {
    pub(crate) graph: &'g Graph<'g>,
    queue: VecDeque<Node>,
    queued: Vec<bool>,
    pub(crate) steps: u64,
    /// The number of steps at which the fuel is gone.
    pub(crate) limit: u64,
}

impl<'g> Propagator<'g> {
    pub(crate) fn new(graph: &'g Graph<'g>) -> Self {
        Propagator {
            graph,
            queue: VecDeque::new(),
            queued: vec![false; graph.len() as usize],
            steps: 0,
            limit: 0,
        }
    }

    pub(crate) fn out_of_fuel(&self) -> bool {
        self.steps >= self.limit
    }

    pub(crate) fn enqueue(&mut self, node: Node) {
        if let Some(queued) = self.queued.get_mut(node as usize)
            && !*queued
        {
            *queued = true;
            self.queue.push_back(node);
        }
    }

    /// Everything that reads or is read by the class has to be looked at again.
    fn enqueue_class(&mut self, state: &State, node: Node) {
        let graph = self.graph;
        for member in state.members(node) {
            self.enqueue(member);
            for &user in graph.users(member) {
                self.enqueue(user);
            }
        }
    }

    /// Adds a fact about the node's value.
    pub(crate) fn refine(
        &mut self,
        state: &mut State,
        node: Node,
        range: &Range,
    ) -> Result<(), Conflict> {
        if state.shrink(node, range, MAX_UPDATES)? {
            self.enqueue_class(state, node);
        }
        Ok(())
    }

    pub(crate) fn set_truth(
        &mut self,
        state: &mut State,
        node: Node,
        value: bool,
    ) -> Result<(), Conflict> {
        self.refine(state, node, &Range::truth(value))
    }

    pub(crate) fn set_place(
        &mut self,
        state: &mut State,
        node: Node,
        place: Place,
    ) -> Result<(), Conflict> {
        if state.set_place(node, place)? {
            self.enqueue_class(state, node);
        }
        Ok(())
    }

    /// Adds the fact that two nodes are equal.
    pub(crate) fn merge(&mut self, state: &mut State, a: Node, b: Node) -> Result<(), Conflict> {
        if state.merge(a, b)? {
            self.enqueue_class(state, a);
        }
        Ok(())
    }

    /// Runs until nothing changes, a conflict shows, or the fuel is gone.
    pub(crate) fn run(&mut self, state: &mut State) -> Result<(), Conflict> {
        let result = self.run_rounds(state);
        // The queue must be empty for the next state, whatever ended this one.
        while let Some(node) = self.queue.pop_front() {
            self.unmark(node);
        }
        result
    }

    fn run_rounds(&mut self, state: &mut State) -> Result<(), Conflict> {
        let mut merges = 0;
        loop {
            self.drain(state)?;
            if self.out_of_fuel() {
                return Ok(());
            }
            if state.merges != merges {
                merges = state.merges;
                self.close_congruence(state)?;
            }
            order::collapse_cycles(self, state)?;
            if self.queue.is_empty() {
                return Ok(());
            }
        }
    }

    fn unmark(&mut self, node: Node) {
        if let Some(queued) = self.queued.get_mut(node as usize) {
            *queued = false;
        }
    }

    fn drain(&mut self, state: &mut State) -> Result<(), Conflict> {
        while let Some(node) = self.queue.pop_front() {
            self.unmark(node);
            self.steps += 1 + self.graph.operands(node).len() as u64 / 4;
            if self.out_of_fuel() {
                return Ok(());
            }
            self.visit(state, node)?;
        }
        Ok(())
    }

    fn visit(&mut self, state: &mut State, node: Node) -> Result<(), Conflict> {
        match self.graph.kind(node) {
            TermKind::Bool(_)
            | TermKind::Int(_)
            | TermKind::Sym(_)
            | TermKind::Addr(_)
            | TermKind::App(..) => Ok(()),
            TermKind::Not(_) => truth::not(self, state, node),
            TermKind::And(_) => truth::junction(self, state, node, true),
            TermKind::Or(_) => truth::junction(self, state, node, false),
            TermKind::Ite(..) => truth::choice(self, state, node),
            TermKind::Eq(..) => truth::equality(self, state, node),
            TermKind::Ult(..) => order::less(self, state, node, false),
            TermKind::Slt(..) => order::less(self, state, node, true),
            _ => words::operator(self, state, node),
        }
    }

    /// Terms with equal operators on equal operands are equal.
    fn close_congruence(&mut self, state: &mut State) -> Result<(), Conflict> {
        let mut seen: FxHashMap<Vec<u64>, Node> = FxHashMap::default();
        for node in 0..self.graph.len() {
            if self.graph.operands(node).is_empty() {
                continue;
            }
            self.steps += 1;
            let Some(signature) = signature(self.graph, state, node) else {
                continue;
            };
            match seen.get(&signature) {
                Some(&twin) => self.merge(state, twin, node)?,
                None => {
                    seen.insert(signature, node);
                }
            }
        }
        Ok(())
    }
}

/// The operator and the classes of its operands, as words; `None` for junctions, whose operands decide them anyway.
fn signature(graph: &Graph<'_>, state: &State, node: Node) -> Option<Vec<u64>> {
    let operand = |i: usize| -> [u64; 2] {
        let child = graph.operand(node, i);
        match state.range(child).single() {
            Some(value) => [u64::from(graph.width(child)) | 1 << 32, value],
            None => [0, u64::from(state.find(child))],
        }
    };
    let width = u64::from(graph.width(node));
    let count = graph.operands(node).len();
    let (tag, detail, commutes) = match graph.kind(node) {
        TermKind::App(function, _) => (1, u64::from(function.0), false),
        TermKind::Ite(..) => (2, 0, false),
        TermKind::Eq(..) => (3, 0, true),
        TermKind::Ult(..) => (4, 0, false),
        TermKind::Slt(..) => (5, 0, false),
        TermKind::Linear(sum) => (6, sum.constant, true),
        TermKind::Binary(op, _, _) => (7, *op as u64, op.commutes()),
        TermKind::Zext(_) => (8, 0, false),
        TermKind::Sext(_) => (9, 0, false),
        TermKind::Trunc(_) => (10, 0, false),
        _ => return None,
    };
    let mut operands: Vec<[u64; 3]> = (0..count)
        .map(|i| {
            let coefficient = match graph.kind(node) {
                TermKind::Linear(sum) => sum.terms.get(i).map_or(0, |&(_, c)| c),
                _ => 0,
            };
            let [class, value] = operand(i);
            [class, value, coefficient]
        })
        .collect();
    if commutes {
        operands.sort_unstable();
    }
    let mut words = vec![tag, detail, width];
    words.extend(operands.iter().flatten());
    Some(words)
}
