//! Question: does every way from a statement on end the program, or return as the asker accepts?
//!
//! A walk over all ways out of one statement, depth first. A call that nobody comes back from ends a way; so does a return that the
//! asker accepts. A way that goes back to where it has been, or that is too long or too much work ([`Work`]), is a program that runs
//! on; but for a loop in which something was counted (`errors++`) that ends the program where the loop is left (`if (errors > 0) exit(1);`). What a φ is depends on the way, so ways that meet are still two, unless nothing that the first one came to was decided by how
//! it came there. Cost: at most [`MAX_EDGES`] for one question.

use drip_models::Class;
use drip_program::{BlockId, Body, Const, FuncId, InstId, Op, Operand, Program};
use rustc_hash::FxHashSet;

use super::flags::Flags;

/// Edges that are followed for one question, in all functions together; beyond it the program counts as one that runs on.
const MAX_EDGES: usize = 2_000;

/// Instructions of all functions that are called on the way; the same beyond it.
const MAX_WORK: usize = 600;

/// What has been done on the way so far.
#[derive(Clone, Default)]
pub(super) struct Work {
    passed: Vec<FuncId>,
    edges: usize,
    /// Returns that are followed already: a recursion comes back to where it was called from in the end.
    asked: Vec<(FuncId, Class, u64, Flags)>,
    /// Some way has come to the program's end: a function that only calls itself never does.
    has_ended: bool,
}

impl Work {
    pub fn join(&mut self, other: Work) {
        for func in other.passed {
            if !self.passed.contains(&func) {
                self.passed.push(func);
            }
        }
        self.edges = self.edges.max(other.edges);
    }

    /// Whether any way has come to the end; what was so before does not count any more.
    pub fn take_end(&mut self) -> bool {
        std::mem::take(&mut self.has_ended)
    }

    pub fn end(&mut self) {
        self.has_ended = true;
    }

    /// Asks what comes after a return of a value with some bits set; false if that has been asked before.
    pub fn ask(&mut self, func: FuncId, returned: Class, bits: u64, flags: &Flags) -> bool {
        let question = (func, returned, bits, flags.clone());
        let is_new = !self.asked.contains(&question);
        if is_new {
            self.asked.push(question);
        }
        is_new
    }

    /// Goes past an instruction; false if that is too much work for a program that is about to end.
    fn pass(&mut self, program: &Program, body: &Body, inst: InstId) -> bool {
        let (Op::Call { callee, .. } | Op::Invoke { callee, .. }) = body.insts[inst].op else {
            return true;
        };
        // What a loop does once more was no reason before.
        let is_asked = |func: FuncId| self.asked.iter().any(|asked| asked.0 == func);
        if let Some(&Const::Func(func)) = body.const_of(callee)
            && !self.passed.contains(&func)
            && !is_asked(func)
        {
            self.passed.push(func);
        }
        let bodies = self.passed.iter();
        let work = bodies.filter_map(|&func| program.funcs[func].body.as_ref());
        work.map(|body| body.insts.len()).sum::<usize>() <= MAX_WORK
    }
}

/// What the one who asks knows.
pub(super) trait Asker {
    /// Does nobody come back from this call?
    fn never_passes(&mut self, inst: InstId) -> bool;

    /// Does the program end in this statement, where this way has led to it?
    fn falls(&mut self, _: &Way, _: InstId) -> bool {
        false
    }

    /// The condition's value, where it is known on this way.
    fn decides(&mut self, way: &Way, cond: Operand) -> Option<bool>;

    /// Does a loop end by itself, of which these edges are one turn?
    fn comes_to_an_end(&mut self, _: &[(BlockId, BlockId)]) -> bool {
        false
    }

    /// Is something counted by now that these edges of a loop only make more of (`errors++`)?
    fn has_counted(&mut self, _: &Way, _: &[(BlockId, BlockId)]) -> bool {
        false
    }

    /// Is the condition's value known because of what was counted?
    fn is_told_by_count(&mut self, _: &Way, _: Operand) -> bool {
        false
    }

    /// Is a return of this value as good as the program's end?
    fn accepts(&mut self, way: &Way, value: Option<Operand>, work: &mut Work) -> bool;

    /// Is a return of this value accepted only because of what was counted on the way?
    fn is_accepted_by_count(&mut self, _: &Way, _: Option<Operand>, _: &mut Work) -> bool {
        false
    }

    /// Does it matter for [`Asker::accepts`] which way leads to the return?
    fn depends_on_way(&self, value: Option<Operand>) -> bool {
        value.is_some_and(|value| value.as_value().is_some())
    }
}

/// The edges of one way, in order.
#[derive(Default)]
pub(super) struct Way {
    edges: Vec<(BlockId, BlockId)>,
}

impl Way {
    /// The way through these blocks.
    pub fn through(blocks: impl Iterator<Item = BlockId>) -> Way {
        let blocks: Vec<BlockId> = blocks.collect();
        let edges = blocks.windows(2).map(|pair| (pair[0], pair[1]));
        Way {
            edges: edges.collect(),
        }
    }

    pub fn edges(&self) -> &[(BlockId, BlockId)] {
        &self.edges
    }

    /// What a φ is on this way.
    pub fn taken(&self, body: &Body, mut operand: Operand) -> Operand {
        let mut edges = self.edges.iter().rev();
        while let Some(inst) = operand.as_value().and_then(|value| body.def(value))
            && let Op::Phi { incoming } = body.insts[inst].op
            && let Some(&(from, _)) = edges.find(|edge| Some(edge.1) == body.block_of(inst))
            && let mut entries = body.incoming(incoming).iter()
            && let Some(entry) = entries.find(|entry| entry.block == from)
        {
            operand = entry.value;
        }
        operand
    }
}

/// The ways through one body.
pub(super) struct Ways<'w, A> {
    program: &'w Program,
    body: &'w Body,
    asker: A,
    work: &'w mut Work,
    way: Way,
    /// Blocks from which every way ends, however one comes there.
    proven: FxHashSet<BlockId>,
    /// Decisions so far that may have hung on the way.
    decided: usize,
    /// A way goes on round a loop, where something is counted.
    goes_on: bool,
    /// Where the loop is left the count ends the program, which would run on without it.
    is_doomed: bool,
}

impl<'w, A: Asker> Ways<'w, A> {
    pub fn new(program: &'w Program, body: &'w Body, asker: A, work: &'w mut Work) -> Self {
        Ways {
            program,
            body,
            asker,
            work,
            way: Way::default(),
            proven: FxHashSet::default(),
            decided: 0,
            goes_on: false,
            is_doomed: false,
        }
    }

    /// Does every way from behind this instruction end?
    pub fn all_end(&mut self, block: BlockId, after: InstId) -> bool {
        self.from(block, after.as_u32() + 1) && (!self.goes_on || self.is_doomed)
    }

    fn from(&mut self, block: BlockId, first: u32) -> bool {
        let body = self.body;
        for inst in body
            .block_insts(block)
            .filter(|inst| inst.as_u32() >= first)
        {
            let falls = self.asker.falls(&self.way, inst);
            self.decided += usize::from(falls);
            if falls || self.asker.never_passes(inst) {
                self.work.end();
                return true;
            }
            if !self.work.pass(self.program, body, inst) {
                return false;
            }
        }
        match body.insts[body.terminator(block)].op {
            Op::Br { target } => self.enter(block, target),
            Op::CondBr { cond, then, els } => match self.asker.decides(&self.way, cond) {
                Some(holds) => {
                    self.decided += 1;
                    let (next, other) = if holds { (then, els) } else { (els, then) };
                    if self.asker.is_told_by_count(&self.way, cond) {
                        self.is_doomed |= !self.would_end(block, other);
                    }
                    self.enter(block, next)
                }
                None => self.enter(block, then) && self.enter(block, els),
            },
            Op::Switch { .. } => {
                let mut targets = Vec::new();
                body.for_each_succ(block, |to| targets.push(to));
                targets.into_iter().all(|to| self.enter(block, to))
            }
            Op::Ret { value } => {
                self.decided += usize::from(self.asker.depends_on_way(value));
                let is_accepted = self.asker.accepts(&self.way, value, self.work);
                if is_accepted && self.goes_on && !self.is_doomed {
                    let before = self.work.clone();
                    let is_told = self.asker.is_accepted_by_count(&self.way, value, self.work);
                    *self.work = before;
                    self.is_doomed = is_told;
                }
                is_accepted
            }
            Op::Unreachable => true,
            _ => false,
        }
    }

    fn enter(&mut self, from: BlockId, block: BlockId) -> bool {
        let edge = (from, block);
        if self.proven.contains(&block) {
            return true;
        }
        if self.work.edges >= MAX_EDGES {
            return false;
        }
        if let Some(first) = self.way.edges.iter().position(|&passed| passed == edge) {
            // The ways out of the loop are asked for by the turn before.
            let turn = &self.way.edges[first..];
            if self.asker.comes_to_an_end(turn) {
                return true;
            }
            self.goes_on |= self.asker.has_counted(&self.way, turn);
            return self.goes_on;
        }
        self.work.edges += 1;
        self.way.edges.push(edge);
        let before = self.decided;
        let ends = self.from(block, 0);
        self.way.edges.pop();
        if ends && self.decided == before {
            self.proven.insert(block);
        }
        ends
    }

    /// The same for a way that is not taken, which leaves no traces.
    fn would_end(&mut self, from: BlockId, block: BlockId) -> bool {
        let (goes_on, has_ended) = (self.goes_on, self.work.has_ended);
        let (asked, passed) = (self.work.asked.len(), self.work.passed.len());
        let ends = self.enter(from, block) && self.goes_on == goes_on;
        (self.goes_on, self.work.has_ended) = (goes_on, has_ended);
        self.work.passed.truncate(passed);
        // What comes after such a return is asked again for the way that is taken.
        self.work.asked.truncate(asked);
        ends
    }
}
