//! Transfer of terminators: which edges a path can take, what it knows afterwards, and what is lost when it ends.

use std::rc::Rc;

use drip_cond::{Sort, TermId, TermKind};
use drip_memssa::Def;
use drip_models::Class;
use drip_pointer::{Memory, ObjKind};
use drip_program::{BlockId, CmpPred, InstId, Op, Operand};

use crate::explore::{Explorer, Goal, Run};
use crate::graph::{EndKind, NodeId};
use crate::interface::class_term;
use crate::state::{Followed, Holds, Machine, State, Where};
use crate::transfer::holds_operand;
use crate::values::Symbol;

impl Explorer<'_, '_> {
    /// The end of a block.
    pub(crate) fn leave(
        &mut self,
        node: NodeId,
        block: BlockId,
        inst: InstId,
        run: Run,
        next: &mut Vec<NodeId>,
    ) {
        let frame = self.frame;
        match frame.body.insts[inst].op {
            Op::Br { target } => self.flow(node, block, target, inst, run, next),
            Op::CondBr { cond, then, els } => {
                if then == els {
                    self.flow(node, block, then, inst, run, next);
                    return;
                }
                let mut other = Rc::clone(&run.state);
                let choices = run.choices.clone();
                let mut run = run;
                if self.assume(&mut run.state, cond, true) {
                    self.flow(node, block, then, inst, run, next);
                } else {
                    self.out.filtered += 1;
                }
                if self.assume(&mut other, cond, false) {
                    self.flow(
                        node,
                        block,
                        els,
                        inst,
                        Run {
                            state: other,
                            choices,
                        },
                        next,
                    );
                } else {
                    self.out.filtered += 1;
                }
            }
            Op::Switch {
                value,
                default,
                cases,
            } => self.switch(node, block, inst, run, (value, default, cases), next),
            Op::IndirectBr { targets, .. } => {
                for &target in frame.body.targets(targets) {
                    let copy = Run {
                        state: Rc::clone(&run.state),
                        choices: run.choices.clone(),
                    };
                    self.flow(node, block, target, inst, copy, next);
                }
            }
            Op::CallBr {
                normal, targets, ..
            } => {
                for &target in frame.body.targets(targets) {
                    let copy = Run {
                        state: Rc::clone(&run.state),
                        choices: run.choices.clone(),
                    };
                    self.flow(node, block, target, inst, copy, next);
                }
                self.flow(node, block, normal, inst, run, next);
            }
            Op::Invoke { normal, unwind, .. } => {
                let throws = frame.calls.get(&inst).is_some_and(|s| s.may_throw);
                if throws {
                    let copy = Run {
                        state: Rc::clone(&run.state),
                        choices: run.choices.clone(),
                    };
                    self.flow(node, block, unwind, inst, copy, next);
                }
                let mut runs = Vec::new();
                self.call(inst, run, &mut runs);
                for run in runs {
                    if self.settled(&run.state) {
                        self.end(node, inst, self.end_kind(&run.state), run);
                    } else {
                        self.flow(node, block, normal, inst, run, next);
                    }
                }
            }
            Op::Ret { .. } | Op::Resume { .. } => self.exit(node, inst, run),
            _ => {}
        }
    }

    fn switch(
        &mut self,
        node: NodeId,
        block: BlockId,
        inst: InstId,
        run: Run,
        (value, default, cases): (Operand, BlockId, drip_program::PoolRange),
        next: &mut Vec<NodeId>,
    ) {
        let term = self.in_path(self.values.term(value), &run.state);
        if !matches!(self.values.terms.sort(term), Sort::Bits(_)) {
            return;
        }
        if let Some(known) = self.values.terms.as_int(term) {
            let mut cases = self.frame.body.cases(cases).iter();
            let target = cases.find(|c| c.value == known).map(|c| c.target);
            self.flow(node, block, target.unwrap_or(default), inst, run, next);
            return;
        }
        let plan = self.frame.switch_plan(self.values, inst);
        for &(target, fact) in &plan.targets {
            let mut state = Rc::clone(&run.state);
            let fact = self.in_path(fact, &state);
            if self.assume_term(&mut state, fact) {
                let copy = Run {
                    state,
                    choices: run.choices.clone(),
                };
                self.flow(node, block, target, inst, copy, next);
            }
        }
        let mut run = run;
        for &fact in &plan.others {
            let fact = self.in_path(fact, &run.state);
            if !self.assume_term(&mut run.state, fact) {
                return;
            }
        }
        self.flow(node, block, default, inst, run, next);
    }

    /// A term as this path has it: φs replaced by what they are here.
    pub(crate) fn in_path(&mut self, term: TermId, state: &State) -> TermId {
        if state.env.is_empty() {
            return term;
        }
        self.values.replaced(term, |sym| state.lookup(sym))
    }

    /// Adds `cond == taken` to what the path knows; false if that contradicts it.
    pub(crate) fn assume(&mut self, state: &mut Rc<State>, cond: Operand, taken: bool) -> bool {
        if let Some(decided) = self.decided_by_holders(state, cond) {
            return decided == taken;
        }
        let term = self.values.term(cond);
        if self.values.terms.sort(term) == Sort::Bool {
            // Where nothing is known and nothing is remembered only a constant decides.
            if self.relevant.from_birth && state.facts.is_empty() && state.env.is_empty() {
                if self.values.terms.as_bool(term) == Some(!taken) {
                    return false;
                }
                self.note_equal(state, cond, taken);
                return true;
            }
            let term = self.in_path(term, state);
            let fact = if taken {
                term
            } else {
                self.values.terms.not(term)
            };
            if !self.assume_term(state, fact) {
                return false;
            }
        }
        self.note_equal(state, cond, taken);
        true
    }

    /// May the object be null on some path? Entry objects are what a pointer of the caller points to, if to anything.
    pub(crate) fn is_nullable(&self, index: usize) -> bool {
        self.relevant.nullable.contains(&self.objects[index])
    }

    /// A pointer to an entry object turns out to be null, or the address of another object of the caller's (the head of a ring,
    /// where a list begins and ends): there is no object of its own.
    /// Otherwise what equals a pointer to an object is one, too.
    fn note_equal(&self, state: &mut Rc<State>, cond: Operand, taken: bool) {
        let Some(inst) = cond.as_value().and_then(|v| self.frame.body.def(v)) else {
            return;
        };
        let Op::Cmp { pred, a, b } = self.frame.body.insts[inst].op else {
            return;
        };
        if !matches!((pred, taken), (CmpPred::Eq, true) | (CmpPred::Ne, false)) {
            return;
        }
        let is_null = |operand| self.values.terms.as_int(self.values.term(operand)) == Some(0);
        for (x, y) in [(a, b), (b, a)] {
            for index in 0..state.objects.len() {
                let is_none = match is_null(y) {
                    true => self.is_nullable(index),
                    false => {
                        self.is_found(index)
                            && self.may_be_other(index, y)
                            && !self.walks_elements(index, x)
                    }
                };
                if holds_operand(&state.objects[index], x) != Holds::Yes {
                    continue;
                }
                if is_none {
                    Rc::make_mut(state).objects[index] = Followed::null();
                } else if let Some(value) = y.as_value() {
                    // Two names of one pointer.
                    Rc::make_mut(state).objects[index].add(Where::Value(value, 0), false);
                }
            }
        }
    }

    /// [`Explorer::assume`] for a term: SMOKE's linear filter, one step at a time.
    pub(crate) fn assume_term(&mut self, state: &mut Rc<State>, fact: TermId) -> bool {
        if let Some(value) = self.values.terms.as_bool(fact) {
            return value;
        }
        if state.knows(fact) {
            return true;
        }
        let negation = self.values.terms.not(fact);
        if state.knows(negation) {
            return false;
        }
        if let TermKind::And(parts) = self.values.terms.kind(fact).clone() {
            return parts.iter().all(|&part| self.assume_term(state, part));
        }
        let symbols = self.values.symbols_in(fact);
        if symbols
            .iter()
            .any(|sym| self.relevant.correlated.contains(sym))
        {
            let state = Rc::make_mut(state);
            state.learn(fact);
            // What is greater than something, unsigned, is not zero.
            if let TermKind::Ult(_, greater) = *self.values.terms.kind(fact)
                && let Some(fact) = class_term(self.values, greater, Class::NonZero)
                && self.values.terms.as_bool(fact).is_none()
            {
                state.learn(fact);
            }
            // `x == 3` decides every later question about x.
            if let TermKind::Eq(a, b) = *self.values.terms.kind(fact)
                && let TermKind::Sym(sym) = *self.values.terms.kind(a)
                && self.values.terms.as_int(b).is_some()
            {
                state.bind(sym, Some(b));
            }
        }
        true
    }

    /// Comparisons of a pointer to a followed object: it is not null, and not the address of anything else.
    fn decided_by_holders(&self, state: &State, cond: Operand) -> Option<bool> {
        let inst = self.frame.body.def(cond.as_value()?)?;
        let Op::Cmp { pred, a, b } = self.frame.body.insts[inst].op else {
            return None;
        };
        let equal = match pred {
            CmpPred::Eq => true,
            CmpPred::Ne => false,
            _ => return None,
        };
        let is_null = |operand| self.values.terms.as_int(self.values.term(operand)) == Some(0);
        for (x, y) in [(a, b), (b, a)] {
            if is_null(y) && self.frame.is_pointer_sum(x) {
                return Some(!equal);
            }
        }
        for (index, object) in state.objects.iter().enumerate() {
            if !object.is_live() {
                continue;
            }
            for (x, y) in [(a, b), (b, a)] {
                if is_null(y) && self.is_nullable(index) {
                    continue;
                }
                if holds_operand(object, x) == Holds::Yes && self.is_elsewhere(object, index, y) {
                    return Some(!equal);
                }
            }
        }
        None
    }

    /// Is the operand null or a pointer to something that is not object `index`?
    fn is_elsewhere(&self, object: &Followed, index: usize, operand: Operand) -> bool {
        // Null, or a number that stands for "none" like `(char *)-1`.
        if self
            .values
            .terms
            .as_int(self.values.term(operand))
            .is_some()
        {
            return true;
        }
        if holds_operand(object, operand) != Holds::No {
            return false;
        }
        if self.is_older(index, operand) || self.is_loaded_elsewhere(object, index, operand) {
            return true;
        }
        let targets = self.frame.local.targets(operand);
        !targets.is_empty()
            && targets
                .iter()
                .all(|l| l.obj != Memory::WORLD && l.obj != self.objects[index])
            && !self.may_be_other(index, operand)
    }

    /// Was the value read from memory that does not hold the block? Whatever holds a block that was made here and handed to nobody is
    /// known.
    fn is_loaded_elsewhere(&self, object: &Followed, index: usize, operand: Operand) -> bool {
        let def = operand.as_value().and_then(|v| self.frame.body.def(v));
        let kind = self.frame.local.memory.kind(self.objects[index]);
        matches!(kind, ObjKind::Fresh { .. })
            && !object.blurred
            && def.is_some_and(|inst| matches!(self.frame.body.insts[inst].op, Op::Load { .. }))
    }

    /// Does the pointer go through the elements of the object? What it is compared with is then the end of the same block.
    fn walks_elements(&self, index: usize, pointer: Operand) -> bool {
        let targets = self.frame.local.targets(pointer);
        let mut targets = targets.iter();
        targets.any(|l| l.obj == self.objects[index] && !l.off.is_exact())
    }

    /// Is it an object that the caller's memory leads to?
    fn is_found(&self, index: usize) -> bool {
        matches!(
            self.frame.local.memory.kind(self.objects[index]),
            ObjKind::Entry(_)
        )
    }

    /// Is the object the caller's, and the operand a pointer to another one of the caller's? The two are taken to be different,
    /// but a structure may come round to where it began: where one of them was found in the caller's memory, nobody knows.
    fn may_be_other(&self, index: usize, operand: Operand) -> bool {
        let memory = &self.frame.local.memory;
        let own = self.objects[index];
        let is_loaded = |kind| matches!(kind, ObjKind::Entry(_) | ObjKind::Deep(_));
        let targets = self.frame.local.targets(operand);
        !targets.is_empty()
            && targets.iter().all(|l| {
                let (one, other) = (memory.kind(own), memory.kind(l.obj));
                let callers = |kind| is_loaded(kind) || kind.has_entry_state();
                let loaded = is_loaded(one) || is_loaded(other);
                l.obj != own && callers(one) && callers(other) && loaded
            })
    }

    /// Was the value computed before the object existed? A new block is no block that somebody knew before. Inside a loop
    /// "before" only holds for what is computed outside of it.
    fn is_older(&self, index: usize, operand: Operand) -> bool {
        let frame = self.frame;
        let ObjKind::Fresh { call, .. } = frame.local.memory.kind(self.objects[index]) else {
            return false;
        };
        let Some(value) = operand.as_value() else {
            return false;
        };
        // What memory held when the function started is older than anything that it makes.
        if let TermKind::Sym(sym) = *self.values.terms.kind(self.values.of(value))
            && let Some(Symbol::Version(version, _)) = self.values.symbol(sym)
            && frame.memssa.versions[version].def == Def::Entry
        {
            return true;
        }
        let Some(inst) = frame.body.def(value) else {
            return frame.body.as_param(value).is_some();
        };
        let (home, birth) = (frame.block_of(inst), frame.block_of(call));
        let before = if home == birth {
            inst < call
        } else {
            frame.cfg.dominators().strictly_dominates(home, birth)
        };
        let loops = frame.cfg.loops();
        let apart = match loops.innermost(home) {
            Some(around) => !loops.contains(around, birth),
            None => true,
        };
        before && apart
    }

    /// The function returns (or unwinds): what nobody outside holds is lost.
    fn exit(&mut self, node: NodeId, inst: InstId, mut run: Run) {
        if self.goal == Goal::Exits {
            self.end_path(node, inst, true, EndKind::Exit, run);
            return;
        }
        let Some(object) = run.state.objects.first() else {
            return;
        };
        if !object.is_live() {
            return;
        }
        if self.is_held_outside(&run.state, 0, inst) {
            self.end_path(node, inst, true, EndKind::Settled, run);
            return;
        }
        if self.is_main && self.held_by_main(&run.state) {
            self.end_path(node, inst, true, EndKind::HeldAtEnd, run);
            return;
        }
        let perhaps = self.is_blurred(&run.state, 0);
        Rc::make_mut(&mut run.state).objects[0].machine = Machine::Lost;
        self.end_path(
            node,
            inst,
            true,
            if perhaps {
                EndKind::LostPerhaps
            } else {
                EndKind::Lost
            },
            run,
        );
    }

    /// A call outside of any `try` that may throw: the exception leaves the function as well. What the callee was given is
    /// its own matter, since nobody knows how far it came.
    pub(crate) fn unwind(&mut self, node: NodeId, inst: InstId, runs: &[Run]) {
        let frame = self.frame;
        if self.goal == Goal::Exits {
            return;
        }
        let Some(summary) = frame.calls.get(&inst).filter(|s| s.may_throw) else {
            return;
        };
        for run in runs {
            if !self.concerns(&run.state, inst, summary) {
                let copy = Run {
                    state: Rc::clone(&run.state),
                    choices: run.choices.clone(),
                };
                self.exit(node, inst, copy);
            }
        }
    }

    fn held_by_main(&self, state: &State) -> bool {
        self.frame.body.vars.is_empty() || !state.objects[0].places.is_empty()
    }
}
