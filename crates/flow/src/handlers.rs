//! Question: which handler catches what is thrown, and what leaves the function?
//!
//! A `catch` clause is a test: is the selector of the landing pad the number of this type? Nobody computes those numbers, so both answers
//! would be paths, and every handler would be missed by some exception. What is thrown is known: `__cxa_throw` names the type, and so do
//! the summaries of callees; the type's description names its bases.
//!
//! Domain: per block, the types of the exception that is under way. Forwards: an unwinding call brings what it throws, a test takes
//! what it catches to one side and the rest to the other. A test that all or none of them pass is decided. Where the type is not
//! known, or its bases are not, the last handler of a `try` is taken to catch it: a handler that was written for nothing is
//! rarer than a type that can't be seen. Cost: a few walks of the graph, in functions with handlers.
//!
//! Known false negatives: an exception of a type that nobody sees, past all handlers.

use std::collections::VecDeque;

use drip_models::{GlobalSet, Qualified};
use drip_pointer::local::CallTable;
use drip_program::{
    BlockId, Body, Cfg, CmpPred, Const, FuncId, GlobalId, InstId, Op, Operand, Program,
};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::frame::args_of;
use crate::type_descriptions::{Match, catches};

/// What becomes of exceptions in a function.
#[derive(Default)]
pub struct Handlers {
    /// Tests of handlers that always have the same answer.
    decided: FxHashMap<InstId, bool>,
    /// Can an exception leave the function?
    pub may_throw: bool,
    /// Descriptions of their types.
    pub thrown: GlobalSet,
    /// It is a constructor: where it throws, the object was never made, and nobody will call its destructor.
    pub is_constructor: bool,
}

impl Handlers {
    pub fn build(
        program: &Program,
        func: FuncId,
        body: &Body,
        cfg: &Cfg,
        calls: &CallTable,
    ) -> Handlers {
        let throws = |inst: &InstId| calls.get(inst).is_some_and(|s| s.may_throw);
        if !calls.keys().any(throws) {
            return Handlers::default();
        }
        let mut walk = Walk {
            program,
            body,
            cfg,
            calls,
            tests: FxHashMap::default(),
        };
        walk.find_tests();
        let under_way = walk.spread();
        let decided = walk.decide(&under_way);
        let mut handlers = walk.leave(&under_way, decided);
        let name = Qualified::of(program.func_name(func));
        handlers.is_constructor = name.is_some_and(|name| name.is_constructor());
        handlers
    }

    /// The answer of a handler's test, where there is only one.
    pub(crate) fn answer(&self, test: InstId) -> Option<bool> {
        self.decided.get(&test).copied()
    }
}

/// A handler's test: is the exception of this type?
#[derive(Clone, Copy)]
struct Test {
    compare: InstId,
    ty: GlobalId,
    then: BlockId,
    els: BlockId,
}

/// Types of exceptions that are under way in each block; nothing where none is.
type UnderWay = FxHashMap<BlockId, GlobalSet>;

struct Walk<'w> {
    program: &'w Program,
    body: &'w Body,
    cfg: &'w Cfg,
    calls: &'w CallTable,
    /// By the block that they end.
    tests: FxHashMap<BlockId, Test>,
}

impl Walk<'_> {
    fn find_tests(&mut self) {
        for block in self.body.blocks.ids() {
            let test = self.test(block);
            self.tests.extend(test.map(|test| (block, test)));
        }
    }

    fn test(&self, block: BlockId) -> Option<Test> {
        let body = self.body;
        let Op::CondBr { cond, then, els } = body.insts[body.terminator(block)].op else {
            return None;
        };
        let compare = body.def(cond.as_value()?)?;
        let Op::Cmp {
            pred: CmpPred::Eq,
            a,
            b,
        } = body.insts[compare].op
        else {
            return None;
        };
        let ty = self.number_of(a).or_else(|| self.number_of(b))?;
        Some(Test {
            compare,
            ty,
            then,
            els,
        })
    }

    /// The type that an operand is the number of (`llvm.eh.typeid.for`): the runtime alone knows it.
    fn number_of(&self, operand: Operand) -> Option<GlobalId> {
        let Op::Opaque { args } = self.body.insts[self.body.def(operand.as_value()?)?].op else {
            return None;
        };
        match self.body.list(args) {
            &[ty] => self.described(ty),
            _ => None,
        }
    }

    fn described(&self, operand: Operand) -> Option<GlobalId> {
        let name = |global: GlobalId| self.program.strings.get(self.program.globals[global].name);
        match *self.body.const_of(operand)? {
            Const::Global { global, .. } if name(global).starts_with("_ZTI") => Some(global),
            _ => None,
        }
    }

    fn callee(&self, call: InstId) -> Option<&str> {
        let (Op::Call { callee, .. } | Op::Invoke { callee, .. }) = self.body.insts[call].op else {
            return None;
        };
        match self.body.const_of(callee)? {
            &Const::Func(func) => Some(self.program.func_name(func)),
            _ => None,
        }
    }

    /// What a call throws, if it does, where `here` is under way.
    fn thrown_by(&self, call: InstId, here: Option<&GlobalSet>) -> Option<GlobalSet> {
        let summary = self.calls.get(&call).filter(|s| s.may_throw)?;
        let thrown = match self.callee(call) {
            Some("__cxa_throw") => {
                let ty = args_of(self.body, call).get(1);
                let ty = ty.and_then(|&ty| self.described(ty));
                ty.map(|ty| GlobalSet::Some(vec![ty]))
            }
            Some("__cxa_rethrow") => here.cloned(),
            _ => Some(summary.thrown.clone()),
        };
        Some(thrown.unwrap_or(GlobalSet::All))
    }

    fn spread(&self) -> UnderWay {
        let mut under_way = UnderWay::default();
        let mut open: VecDeque<BlockId> = self.body.blocks.ids().iter().collect();
        while let Some(block) = open.pop_front() {
            let here = under_way.get(&block).cloned();
            let last = self.body.terminator(block);
            for &next in self.cfg.succs(block) {
                let brought = match self.body.insts[last].op {
                    Op::Invoke { unwind, .. } if unwind == next => {
                        self.thrown_by(last, here.as_ref())
                    }
                    _ => {
                        let passed = |here| self.passed(block, next, here);
                        here.as_ref().and_then(passed)
                    }
                };
                let Some(brought) = brought else { continue };
                let there = under_way.get(&next);
                let mut all = there.cloned().unwrap_or_default();
                all.extend(&brought);
                if there != Some(&all) {
                    under_way.insert(next, all);
                    open.push_back(next);
                }
            }
        }
        under_way
    }

    /// What of it goes from a block to the next one.
    fn passed(&self, block: BlockId, next: BlockId, here: &GlobalSet) -> Option<GlobalSet> {
        let (Some(test), GlobalSet::Some(types)) = (self.tests.get(&block), here) else {
            return Some(here.clone());
        };
        let unfit = match next == test.then {
            true => Match::No,
            false => Match::Yes,
        };
        let mut left = types.clone();
        left.retain(|&thrown| catches(self.program, test.ty, thrown) != unfit);
        (!left.is_empty()).then_some(GlobalSet::Some(left))
    }

    fn decide(&self, under_way: &UnderWay) -> FxHashMap<InstId, bool> {
        let mut decided = FxHashMap::default();
        for (&block, test) in &self.tests {
            let Some(here) = under_way.get(&block) else {
                continue;
            };
            let found: Vec<Match> = match here {
                GlobalSet::All => vec![Match::Perhaps],
                GlobalSet::Some(types) => {
                    let found = types.iter().map(|&ty| catches(self.program, test.ty, ty));
                    found.collect()
                }
            };
            let all = |wanted: &[Match]| found.iter().all(|found| wanted.contains(found));
            let answer = if all(&[Match::No]) {
                Some(false)
            } else if all(&[Match::Yes])
                || all(&[Match::Yes, Match::Perhaps]) && self.is_last(test.els)
            {
                Some(true)
            } else {
                None
            };
            decided.extend(answer.map(|answer| (test.compare, answer)));
        }
        decided
    }

    /// Does no handler follow?
    fn is_last(&self, from: BlockId) -> bool {
        let mut seen: FxHashSet<BlockId> = FxHashSet::from_iter([from]);
        let mut open = vec![from];
        while let Some(block) = open.pop() {
            let mut insts = self.body.block_insts(block);
            let is_handler = insts.any(|inst| self.callee(inst) == Some("__cxa_begin_catch"));
            if is_handler || self.tests.contains_key(&block) {
                return false;
            }
            let succs = self.cfg.succs(block).iter().copied();
            open.extend(succs.filter(|&next| seen.insert(next)));
        }
        true
    }

    /// What leaves the function. A handler is only reached if something that it covers throws.
    fn leave(&self, under_way: &UnderWay, decided: FxHashMap<InstId, bool>) -> Handlers {
        let body = self.body;
        let mut thrown = GlobalSet::default();
        let mut may_throw = false;
        let mut seen: FxHashSet<BlockId> = FxHashSet::from_iter([self.cfg.entry()]);
        let mut open = vec![self.cfg.entry()];
        while let Some(block) = open.pop() {
            let here = under_way.get(&block);
            for inst in body.block_insts(block) {
                let leaving = match body.insts[inst].op {
                    Op::Call { .. } => self.thrown_by(inst, here),
                    Op::Resume { .. } => Some(here.cloned().unwrap_or(GlobalSet::All)),
                    _ => None,
                };
                if let Some(leaving) = leaving {
                    may_throw = true;
                    thrown.extend(&leaving);
                }
            }
            let last = body.terminator(block);
            let missed = match body.insts[last].op {
                Op::Invoke { unwind, .. } if self.thrown_by(last, here).is_none() => Some(unwind),
                _ => self.tests.get(&block).and_then(|test| {
                    let answer = decided.get(&test.compare)?;
                    Some(if *answer { test.els } else { test.then })
                }),
            };
            let mut succs = Vec::new();
            body.for_each_succ(block, |next| succs.push(next));
            succs.retain(|&next| Some(next) != missed && seen.insert(next));
            open.extend(succs);
        }
        Handlers {
            decided,
            may_throw,
            thrown,
            is_constructor: false,
        }
    }
}
