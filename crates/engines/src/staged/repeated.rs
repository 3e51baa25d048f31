//! Question: which functions run at most once, and which can run again?
//!
//! A function can run again if it is called in a loop, twice on one way, by itself, or by one that can. Calls by name count: of a table's
//! functions each may be called once. It runs at most once if all of its callers are known, up to `main`, and none can run again. Cost:
//! linear in the calls, and in pairs of calls of one function in another (at most [`MAX_COMPARED`] each).

use drip_base::IdSet;
use drip_program::{Body, Cfg, Const, FuncId, InstId, Op, Program};
use rustc_hash::{FxHashMap, FxHashSet};

use super::callers::Callers;

/// Functions that can run more than once.
pub(super) struct Repeated {
    pub all: IdSet<FuncId>,
    /// Those that somebody calls twice on one way.
    pub twice: IdSet<FuncId>,
}

/// Calls of one function in another that are compared with each other; of more only these.
const MAX_COMPARED: usize = 16;

/// Does another call of the same function, by its name, always come before this one?
pub(super) fn is_second(body: &Body, cfg: &Cfg, func: FuncId, call: InstId) -> bool {
    let Some(block) = body.block_of(call) else {
        return false;
    };
    let calls = body.insts.ids().into_iter().filter(|&inst| {
        let callee = match body.insts[inst].op {
            Op::Call { callee, .. } | Op::Invoke { callee, .. } => body.const_of(callee),
            _ => None,
        };
        matches!(callee, Some(&Const::Func(callee)) if callee == func)
    });
    calls.take(MAX_COMPARED).any(|other| {
        let before = body.block_of(other);
        before.is_some_and(|before| match before == block {
            true => other < call,
            false => cfg.dominates(before, block),
        })
    })
}

impl Repeated {
    pub fn new(program: &Program) -> Repeated {
        let mut direct: FxHashMap<FuncId, Vec<FuncId>> = FxHashMap::default();
        let mut all = IdSet::with_capacity(program.funcs.len());
        let mut twice = IdSet::with_capacity(program.funcs.len());
        let mut open: Vec<FuncId> = Vec::new();
        for (func, function) in program.funcs.iter_enumerated() {
            let Some(body) = &function.body else { continue };
            let mut cfg = None;
            for block in body.blocks.ids() {
                for inst in body.block_insts(block) {
                    let (Op::Call { callee, .. } | Op::Invoke { callee, .. }) = body.insts[inst].op
                    else {
                        continue;
                    };
                    let Some(&Const::Func(callee)) = body.const_of(callee) else {
                        continue;
                    };
                    let before = direct.entry(func).or_default();
                    let is_known = before.contains(&callee);
                    before.push(callee);
                    let cfg = cfg.get_or_insert_with(|| Cfg::build(body));
                    if cfg.loops().innermost(block).is_some() || callee == func {
                        open.push(callee);
                    }
                    if is_known
                        && program.funcs[callee].body.is_some()
                        && !twice.contains(callee)
                        && is_second(body, cfg, callee, inst)
                    {
                        twice.insert(callee);
                        open.push(callee);
                    }
                }
            }
        }
        while let Some(func) = open.pop() {
            if all.insert(func) {
                open.extend(direct.get(&func).into_iter().flatten());
            }
        }
        Repeated { all, twice }
    }

    /// Is the function called at most once in a run of one of these programs, whoever calls it?
    pub fn runs_once(
        &self,
        callers: &Callers<'_>,
        mains: &FxHashSet<FuncId>,
        func: FuncId,
    ) -> bool {
        let mut seen: FxHashSet<FuncId> = FxHashSet::default();
        let mut open = vec![func];
        while let Some(func) = open.pop() {
            if mains.contains(&func) || !seen.insert(func) {
                continue;
            }
            let calls = callers.of(func);
            if calls.is_empty() || callers.is_hidden(func) || self.all.contains(func) {
                return false;
            }
            open.extend(calls.iter().map(|call| call.0));
        }
        true
    }
}
