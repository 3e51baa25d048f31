//! Question: does anybody who hands a block to a function mind that the function may refuse it?
//!
//! A function keeps a block as a rule and refuses it because of what it finds in memory: a key that is there already, a slot that does
//! not exist. If some of its callers free the block then, callers that do not have forgotten it. If hardly any does, the others
//! know that their blocks will be taken (Engler's beliefs, over the whole program).

use drip_flow::args_of;
use drip_models::{Root, Value};
use drip_program::{BlockId, Body, CmpPred, Const, FuncId, InstId, Op, Operand};

use super::callers::Callers;
use super::calls::{CallContext, Open, call_summary};
use super::interface::constant;

/// One of so many calls has to be followed by a free; fewer are cases of their own, and all others mean that it can't happen.
const MINDED: usize = 8;

pub(super) struct Refusals<'r, 'c> {
    pub context: &'r CallContext<'c>,
    pub callers: &'r Callers<'c>,
}

impl Refusals<'_, '_> {
    /// Do callers of the function, enough of them, free this argument after the call?
    pub fn is_minded(&self, func: FuncId, arg: usize) -> bool {
        let calls = self.callers.of(func);
        let frees = |&&(caller, call): &&(FuncId, InstId)| {
            let body = self.context.program.funcs[caller].body.as_ref();
            body.is_some_and(|body| self.frees_after(caller, body, call, arg))
        };
        let minding = calls.iter().filter(frees).count();
        minding > 0 && minding * MINDED >= calls.len()
    }

    fn frees_after(&self, caller: FuncId, body: &Body, call: InstId, arg: usize) -> bool {
        let handed = args_of(body, call).get(arg);
        let Some((&handed, block)) = handed.zip(body.block_of(call)) else {
            return false;
        };
        let mut seen = vec![false; body.blocks.len()];
        let mut open = Vec::new();
        body.for_each_succ(block, |to| open.push(to));
        while let Some(block) = open.pop() {
            if std::mem::replace(&mut seen[block.index()], true) {
                continue;
            }
            if self.frees_in(caller, body, block, handed) {
                return true;
            }
            body.for_each_succ(block, |to| open.push(to));
        }
        false
    }

    fn frees_in(&self, caller: FuncId, body: &Body, block: BlockId, handed: Operand) -> bool {
        body.block_insts(block).any(|inst| {
            let passed = args_of(body, inst).iter();
            let mut places = passed.zip(0u16..).filter(|(arg, _)| **arg == handed);
            places.any(|(_, n)| {
                let summary = call_summary(self.context, caller, body, inst, &mut Open::default());
                summary.is_some_and(|summary| {
                    let mut frees = summary.outcomes.iter().flat_map(|outcome| &outcome.frees);
                    frees.any(|free| free.path.root == Root::Arg(n) && free.path.loads.is_empty())
                })
            })
        })
    }
}

/// May the function, or one that it calls, find that there is no memory, and return all the same?
pub(super) fn may_want_memory(context: &CallContext<'_>, func: FuncId, depth: usize) -> bool {
    let Some(body) = &context.program.funcs[func].body else {
        return false;
    };
    let mut blocks = body.blocks.ids().iter();
    let wants = blocks.any(|block| match without_memory(context, func, body, block) {
        Some(refused) => body.block_insts(refused).all(|inst| {
            let summary = call_summary(context, func, body, inst, &mut Open::default());
            summary.is_none_or(|summary| summary.returns())
        }),
        None => false,
    });
    let mut callees = context.graph.graph.succs(func).iter();
    wants || depth > 1 && callees.any(|&callee| may_want_memory(context, callee, depth - 1))
}

/// Where a branch goes if a call has returned null that returns new blocks otherwise, or that nobody can tell.
fn without_memory(
    context: &CallContext<'_>,
    func: FuncId,
    body: &Body,
    block: BlockId,
) -> Option<BlockId> {
    let def = |operand: Operand| body.def(operand.as_value()?);
    let Op::CondBr { cond, then, els } = body.insts[body.terminator(block)].op else {
        return None;
    };
    let Op::Cmp { pred, a, b } = body.insts[def(cond)?].op else {
        return None;
    };
    let refused = match pred {
        CmpPred::Eq => then,
        CmpPred::Ne => els,
        _ => return None,
    };
    let is_null = constant(context.program, body, b) == Some(0);
    let call = def(a).filter(|_| is_null)?;
    let (Op::Call { callee, .. } | Op::Invoke { callee, .. }) = body.insts[call].op else {
        return None;
    };
    let is_direct = matches!(body.const_of(callee), Some(Const::Func(_)));
    let makes = || {
        let summary = call_summary(context, func, body, call, &mut Open::default());
        summary.is_some_and(|summary| {
            let mut outcomes = summary.outcomes.iter();
            outcomes.any(|outcome| matches!(outcome.ret, Value::Fresh { .. }))
        })
    };
    (!is_direct || makes()).then_some(refused)
}
