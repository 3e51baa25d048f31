//! Which functions belong to the same program? A build may make several, and what one of them allocates the other one can't lose.

use drip_program::{FuncId, Linkage};
use rustc_hash::FxHashSet;

use super::super::callers::Callers;
use super::super::calls::CallContext;
use super::care::below;

/// What each `main` can come to.
pub struct Programs {
    reached: Vec<FxHashSet<FuncId>>,
    /// What can be come to by pointers alone, or as a part of a library, from nobody knows where.
    anywhere: FxHashSet<FuncId>,
}

impl Programs {
    pub fn new(context: &CallContext<'_>, callers: &Callers<'_>) -> Programs {
        let funcs = &context.program.funcs;
        let from = |roots: &[FuncId]| below(&context.graph.graph, roots, usize::MAX);
        let is_main = |func: &FuncId| {
            funcs[*func].body.is_some() && context.program.func_name(*func) == "main"
        };
        let mains = funcs.ids().iter().filter(is_main);
        let reached: Vec<FxHashSet<FuncId>> = mains.map(|main| from(&[main])).collect();
        let is_offered = |func: FuncId| {
            let is_called = reached.iter().any(|seen| seen.contains(&func));
            !is_called && funcs[func].linkage != Linkage::Internal
        };
        let is_root = |func: &FuncId| callers.is_hidden(*func) || is_offered(*func);
        let roots: Vec<FuncId> = funcs.ids().iter().filter(is_root).collect();
        Programs {
            anywhere: from(&roots),
            reached,
        }
    }

    /// Can one program come to both?
    pub fn share(&self, a: FuncId, b: FuncId) -> bool {
        let is_free = |func: FuncId| {
            let mut all = self.reached.iter();
            self.anywhere.contains(&func) && !all.any(|seen| seen.contains(&func))
        };
        let (free_a, free_b) = (is_free(a), is_free(b));
        let mut all = self.reached.iter();
        self.reached.is_empty()
            || all.any(|seen| (free_a || seen.contains(&a)) && (free_b || seen.contains(&b)))
    }
}
