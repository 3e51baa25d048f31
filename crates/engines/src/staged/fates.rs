//! Question: does the program end anyway, right after a function has returned what it returned?
//!
//! A helper that gives up without freeing, whose callers all report the error and exit, leaks nothing that anybody would fix.
//! Every call of the function is followed to the end of its caller, with the returned constant deciding what it can; where the
//! caller returns, its own callers are asked, at most [`MAX_DEPTH`] deep. Every way has to come to a call that never returns, and
//! soon: a loop, much work in between ([`MAX_WORK`]) or a return from `main` is a program that runs on, or a plain leak. A function
//! whose address is taken is called where the call graph says.

use drip_pointer::{CallGraph, Callees};
use drip_program::noreturn::NoReturn;
use drip_program::{BlockId, Body, CmpPred, Const, FuncId, InstId, Op, Operand, Program};
use rustc_hash::FxHashMap;

use super::interface::constant;

/// Callers of callers.
const MAX_DEPTH: usize = 4;

/// Instructions of all functions that are called on the way.
const MAX_WORK: usize = 600;

/// Edges that are followed in one caller.
const MAX_EDGES: usize = 64;

pub(super) struct Fates<'f> {
    program: &'f Program,
    no_return: NoReturn,
    callers: FxHashMap<FuncId, Vec<(FuncId, InstId)>>,
}

impl<'f> Fates<'f> {
    pub fn new(program: &'f Program, graph: &CallGraph) -> Fates<'f> {
        let mut callers: FxHashMap<FuncId, Vec<(FuncId, InstId)>> = FxHashMap::default();
        for (caller, function) in program.funcs.iter_enumerated() {
            let Some(body) = &function.body else { continue };
            for (inst, data) in body.insts.iter_enumerated() {
                if !matches!(data.op, Op::Call { .. } | Op::Invoke { .. }) {
                    continue;
                }
                match graph.callees(caller, inst) {
                    Callees::Known(targets) => {
                        for &target in targets {
                            callers.entry(target).or_default().push((caller, inst));
                        }
                    }
                    Callees::Aside(target) => {
                        callers.entry(*target).or_default().push((caller, inst));
                    }
                    Callees::Ends | Callees::Unknown => {}
                }
            }
        }
        Fates {
            program,
            no_return: NoReturn::build(program, &[]),
            callers,
        }
    }

    /// Does the program end after every return of this constant (of anything) from the function?
    pub fn ends_after(&self, func: FuncId, returned: Option<i64>) -> bool {
        self.ends(func, returned, MAX_DEPTH, &mut Vec::new())
    }

    /// `passed`: functions that are called on the way.
    fn ends(
        &self,
        func: FuncId,
        returned: Option<i64>,
        depth: usize,
        passed: &mut Vec<FuncId>,
    ) -> bool {
        let Some(depth) = depth.checked_sub(1) else {
            return false;
        };
        let is_main = self.program.func_name(func) == "main";
        let Some(calls) = self.callers.get(&func).filter(|_| !is_main) else {
            return false;
        };
        calls.iter().all(|&(caller, call)| {
            let body = self.program.funcs[caller].body.as_ref();
            let Some((body, block)) = body.and_then(|body| Some((body, body.block_of(call)?)))
            else {
                return false;
            };
            let mut walk = Walk {
                fates: self,
                caller,
                body,
                call,
                returned,
                depth,
                passed,
                open: Vec::new(),
                done: Vec::new(),
            };
            walk.from(None, block, call.as_u32() + 1)
        })
    }
}

/// One call, followed to the end of its caller.
struct Walk<'w, 'f> {
    fates: &'w Fates<'f>,
    caller: FuncId,
    body: &'w Body,
    call: InstId,
    returned: Option<i64>,
    depth: usize,
    passed: &'w mut Vec<FuncId>,
    /// Edges on the way here, and edges after which every way ends the program.
    open: Vec<(BlockId, BlockId)>,
    done: Vec<(BlockId, BlockId)>,
}

impl Walk<'_, '_> {
    /// Does every way from this instruction on end the program? `before`: the block that was left last.
    fn from(&mut self, before: Option<BlockId>, block: BlockId, first: u32) -> bool {
        let insts = self.body.block_insts(block);
        for inst in insts.filter(|inst| inst.as_u32() >= first) {
            if self.fates.no_return.never_passes(self.body, inst) {
                return true;
            }
            if !self.pass(inst) {
                return false;
            }
        }
        match self.body.insts[self.body.terminator(block)].op {
            Op::Br { target } => self.enter(block, target),
            Op::CondBr { cond, then, els } => match self.decided(cond) {
                Some(true) => self.enter(block, then),
                Some(false) => self.enter(block, els),
                None => self.enter(block, then) && self.enter(block, els),
            },
            Op::Ret { value } => {
                let returned = value.and_then(|value| self.constant(self.taken(before, value)));
                self.fates
                    .ends(self.caller, returned, self.depth, self.passed)
            }
            Op::Unreachable => true,
            _ => false,
        }
    }

    /// Goes past a call; false if that is too much work for a program that is about to end.
    fn pass(&mut self, inst: InstId) -> bool {
        let (Op::Call { callee, .. } | Op::Invoke { callee, .. }) = self.body.insts[inst].op else {
            return true;
        };
        if let Some(&Const::Func(func)) = self.body.const_of(callee)
            && !self.passed.contains(&func)
        {
            self.passed.push(func);
        }
        let bodies = self.passed.iter();
        let work = bodies.filter_map(|&func| self.fates.program.funcs[func].body.as_ref());
        work.map(|body| body.insts.len()).sum::<usize>() <= MAX_WORK
    }

    fn enter(&mut self, from: BlockId, block: BlockId) -> bool {
        let edge = (from, block);
        if self.done.contains(&edge) {
            return true;
        }
        if self.open.contains(&edge) || self.open.len() + self.done.len() >= MAX_EDGES {
            return false;
        }
        self.open.push(edge);
        let ends = self.from(Some(from), block, 0);
        self.open.pop();
        if ends {
            self.done.push(edge);
        }
        ends
    }

    /// What a φ is after this block.
    fn taken(&self, before: Option<BlockId>, operand: Operand) -> Operand {
        let def = operand.as_value().and_then(|value| self.body.def(value));
        let Some(Op::Phi { incoming }) = def.map(|inst| self.body.insts[inst].op) else {
            return operand;
        };
        let mut entries = self.body.incoming(incoming).iter();
        entries
            .find(|entry| Some(entry.block) == before)
            .map_or(operand, |entry| entry.value)
    }

    /// The call's result, or a number.
    fn constant(&self, operand: Operand) -> Option<i64> {
        if operand.as_value() == Some(self.body.result(self.call)) {
            return self.returned;
        }
        constant(self.fates.program, self.body, operand)
    }

    fn decided(&self, cond: Operand) -> Option<bool> {
        let inst = self.body.def(cond.as_value()?)?;
        let Op::Cmp { pred, a, b } = self.body.insts[inst].op else {
            return None;
        };
        let (a, b) = (self.constant(a)?, self.constant(b)?);
        match pred {
            CmpPred::Eq => Some(a == b),
            CmpPred::Ne => Some(a != b),
            CmpPred::Slt => Some(a < b),
            CmpPred::Sle => Some(a <= b),
            CmpPred::Sgt => Some(a > b),
            CmpPred::Sge => Some(a >= b),
            _ => None,
        }
    }
}
