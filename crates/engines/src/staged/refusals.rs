//! Question: does anybody who hands a block to a function mind that the function may refuse it?
//!
//! A function keeps a block as a rule and refuses it because of what it finds in memory: a key that is there already, a slot that does
//! not exist. If some of its callers free the block then, callers that do not have forgotten it. If hardly any does, the others
//! know that their blocks will be taken (Engler's beliefs, over the whole program).

use drip_flow::args_of;
use drip_models::Root;
use drip_program::{BlockId, Body, FuncId, InstId, Operand};

use super::callers::Callers;
use super::calls::{CallContext, Open, call_summary};

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
