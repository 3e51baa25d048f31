//! Which mutants are left out because they leak nothing, or nothing that a leak detector is asked for?
//!
//! The rule, in this order; the bench counts what each part leaves out:
//! 1. *dead code*: the call can't be reached in its function, or the function from `main` (a constructor, a function whose
//!    address is taken, an exported one where there is no `main`);
//! 2. *null*: the argument is the null constant, or a branch that has to be passed before has found the same expression to be null, and
//!    nothing is stored or called in between;
//! 3. *process exit*: no return is reachable behind the call, or it stands in `main`, or in a function that is only called
//!    once from there, outside of loops or with nothing but other free calls behind it: the process ends soon after; an early
//!    return of `main`; or the process ends in every caller, given what the function returns behind the change
//!    ([`endings`]: `if (read_options(list)) exit(1);`), whether by a call that never returns or, if the call stands in no loop, because
//!    `main` returns;
//! 4. *freed again*: another free of the same expression lies on every path through the call (it dominates or
//!    post-dominates the call);
//! 5. *still held*: the pointer is read from a global variable (or a field behind one) that nothing behind the call in this
//!    function overwrites and whose owner it does not free: afterwards the variable still holds it. An early return leaves
//!    out the overwriting and the owner's free as well (`for (…) free(list[i]); free(list); list = NULL;`: the variable still
//!    holds the list), and is also left out where the pointer is read from a field of a parameter whose owner is
//!    not freed behind: nothing was taken away from the owner yet. (A destructor that gives up halfway is counted: its caller
//!    has given the structure away.)

mod endings;

use super::sites::{FreeCall, Root, direct_call, expression, holders, origins};
use drip_program::noreturn::NoReturn;
use drip_program::{
    BlockId, Body, Cfg, CmpPred, FuncAttrs, FuncId, Init, InstId, Linkage, Op, Program, Scalar,
    address_taken::for_each_address_taken,
};
use std::collections::HashSet;

/// Library functions that don't return although nothing in the bitcode says so.
const NEVER_RETURN: &[&str] = &[
    "exit",
    "_exit",
    "_Exit",
    "abort",
    "longjmp",
    "__assert_fail",
    "execve",
    "pthread_exit",
];

/// What the mutant does at the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Remove,
    ReturnBefore,
}

/// Facts of one program that the rule asks for.
pub struct Rule<'p> {
    program: &'p Program,
    no_return: NoReturn,
    reachable: HashSet<FuncId>,
    /// `main` and functions that are only called outside of loops on its way.
    once: HashSet<FuncId>,
}

impl<'p> Rule<'p> {
    pub fn new(program: &'p Program) -> Rule<'p> {
        let no_return = NoReturn::build(program, NEVER_RETURN);
        let mut rule = Rule {
            program,
            no_return,
            reachable: reachable(program),
            once: HashSet::new(),
        };
        rule.once = rule.called_once();
        rule
    }

    fn cfg(&self, body: &Body) -> Cfg {
        Cfg::build_cut(body, |inst| self.no_return.never_passes(body, inst))
    }

    /// Why this mutant is left out, or nothing. `all`: the free calls of the same function.
    pub fn excludes(
        &self,
        call: &FreeCall,
        change: Change,
        all: &[FreeCall],
    ) -> Option<&'static str> {
        let body = self.program.funcs[call.func].body.as_ref()?;
        let cfg = self.cfg(body);
        let block = block_of(body, call.inst)?;
        if !self.reachable.contains(&call.func) || !cfg.is_reachable(block) {
            return Some("dead code");
        }
        let from = origins(body, call.pointer);
        if from.iter().all(|o| o.root == Root::Null) || is_null_there(body, &cfg, call, block) {
            return Some("null");
        }
        let behind = behind(&cfg, block);
        let returns = |b: &BlockId| self.returns(body, *b);
        if !returns(&block) && !behind.iter().any(returns) {
            return Some("process exit");
        }
        let only_frees = || self.only_frees_behind(body, &behind, all);
        if self.once.contains(&call.func) && (!behind.contains(&block) || only_frees()) {
            return Some("process exit");
        }
        let is_main = self.program.func_name(call.func) == "main";
        if change == Change::ReturnBefore && is_main {
            return Some("process exit");
        }
        let returned = match change {
            Change::ReturnBefore => endings::returned_early(self, call.func),
            Change::Remove => {
                let mut passed = behind.clone();
                passed.insert(block);
                endings::returned_behind(body, &passed)
            }
        };
        let is_once = change == Change::ReturnBefore || !behind.contains(&block) || only_frees();
        if self.ends_in_callers(call.func, &returned, is_once) {
            return Some("process exit");
        }
        if change == Change::Remove && freed_again(body, &cfg, call, block, all) {
            return Some("freed again");
        }
        let held = from.iter().any(|o| match (o.root, change) {
            (Root::Global(_), _) => o.loads > 0,
            (Root::Param(_), Change::ReturnBefore) => o.is_held_outside(),
            _ => false,
        });
        let behind = Behind {
            body,
            call,
            block,
            blocks: &behind,
        };
        // An early return also skips the statement that overwrites, and what frees the variable's block.
        let is_variable = from
            .iter()
            .any(|o| matches!(o.root, Root::Global(_)) && o.loads > 0);
        let taken_away = match change {
            Change::Remove => behind.overwrites() || behind.frees_owner(all),
            Change::ReturnBefore => !is_variable && behind.frees_owner(all),
        };
        (held && !taken_away).then_some("still held")
    }

    fn returns(&self, body: &Body, block: BlockId) -> bool {
        let mut insts = body.block_insts(block);
        matches!(body.insts[body.terminator(block)].op, Op::Ret { .. })
            && !insts.any(|inst| self.no_return.never_passes(body, inst))
    }

    fn only_frees_behind(&self, body: &Body, behind: &HashSet<BlockId>, all: &[FreeCall]) -> bool {
        let mut insts = behind.iter().flat_map(|&b| body.block_insts(b));
        insts.all(|inst| match body.insts[inst].op {
            Op::Call { .. } | Op::Invoke { .. } => all.iter().any(|free| free.inst == inst),
            _ => true,
        })
    }

    /// [`Self::once`], from `main` downwards until nothing is added.
    fn called_once(&self) -> HashSet<FuncId> {
        let program = self.program;
        let mut sites: Vec<Vec<(FuncId, bool)>> = vec![Vec::new(); program.funcs.len()];
        for (func, function) in program.funcs.iter_enumerated() {
            let Some(body) = &function.body else { continue };
            let cfg = self.cfg(body);
            for block in body.blocks.ids().iter().filter(|&b| cfg.is_reachable(b)) {
                let in_loop = behind(&cfg, block).contains(&block);
                for inst in body.block_insts(block) {
                    if let Some((callee, _)) = direct_call(body, inst) {
                        sites[callee.index()].push((func, in_loop));
                    }
                }
            }
        }
        let is_main = |func: &FuncId| program.func_name(*func) == "main";
        let mut once: HashSet<FuncId> = program.funcs.ids().iter().filter(is_main).collect();
        loop {
            let more: Vec<FuncId> = program
                .funcs
                .iter_enumerated()
                .filter(|(func, function)| {
                    let sites = &sites[func.index()];
                    function.body.is_some()
                        && !function.attrs.has(FuncAttrs::ADDRESS_TAKEN)
                        && !once.contains(func)
                        && sites.len() == 1
                        && sites
                            .iter()
                            .all(|(caller, in_loop)| !in_loop && once.contains(caller))
                })
                .map(|(func, _)| func)
                .collect();
            if more.is_empty() {
                return once;
            }
            once.extend(more);
        }
    }
}

/// Functions that can be called at all.
fn reachable(program: &Program) -> HashSet<FuncId> {
    let has_main = program
        .funcs
        .iter()
        .any(|f| program.strings.get(f.name) == "main" && f.body.is_some());
    let mut work: Vec<FuncId> = Vec::new();
    for (func, function) in program.funcs.iter_enumerated() {
        let exported = !has_main && function.linkage != Linkage::Internal;
        if exported
            || program.func_name(func) == "main"
            || function.attrs.has(FuncAttrs::CONSTRUCTOR)
        {
            work.push(func);
        }
    }
    for global in program.globals.iter() {
        if let Init::Slots { slots, .. } = &global.init {
            work.extend(slots.iter().filter_map(|(_, scalar)| match scalar {
                Scalar::Func(func) => Some(*func),
                _ => None,
            }));
        }
    }
    let mut found = HashSet::new();
    while let Some(func) = work.pop() {
        let Some(body) = &program.funcs[func].body else {
            continue;
        };
        if !found.insert(func) {
            continue;
        }
        for_each_address_taken(body, |taken| work.push(taken));
        work.extend(
            body.insts
                .ids()
                .iter()
                .filter_map(|inst| direct_call(body, inst))
                .map(|(callee, _)| callee),
        );
    }
    found
}

pub fn block_of(body: &Body, inst: InstId) -> Option<BlockId> {
    let number = inst.as_u32();
    body.blocks
        .iter_enumerated()
        .find(|(_, block)| block.insts.contains(&number))
        .map(|(id, _)| id)
}

/// Blocks that can be reached from the end of `block`; itself only if it lies on a cycle.
fn behind(cfg: &Cfg, block: BlockId) -> HashSet<BlockId> {
    let mut found = HashSet::new();
    let mut work: Vec<BlockId> = cfg.succs(block).to_vec();
    while let Some(next) = work.pop() {
        if found.insert(next) {
            work.extend(cfg.succs(next));
        }
    }
    found
}

/// Has a branch that has to be passed before the call found its argument to be null, with nothing in between that could change it
/// (`if (s->p == NULL) { if (s->p) free(s->p); … }`)?
fn is_null_there(body: &Body, cfg: &Cfg, call: &FreeCall, block: BlockId) -> bool {
    let what = expression(body, call.pointer);
    let is_quiet = |inst: InstId| {
        inst == call.inst
            || !matches!(
                body.insts[inst].op,
                Op::Store { .. }
                    | Op::Call { .. }
                    | Op::Invoke { .. }
                    | Op::MemCopy { .. }
                    | Op::MemSet { .. }
            )
    };
    let mut at = block;
    // Nothing that comes before the call in its own block.
    let mut insts = body
        .block_insts(block)
        .take_while(|&inst| inst != call.inst);
    if !insts.all(is_quiet) {
        return false;
    }
    while let Some(above) = cfg
        .dominators()
        .idom(at)
        .filter(|_| cfg.preds(at).len() == 1)
    {
        if null_side(body, above, &what) == Some(at) {
            return true;
        }
        if !body.block_insts(above).all(is_quiet) {
            return false;
        }
        at = above;
    }
    false
}

/// Where a branch goes if the expression is null.
fn null_side(body: &Body, block: BlockId, what: &str) -> Option<BlockId> {
    let Op::CondBr { cond, then, els } = body.insts[body.terminator(block)].op else {
        return None;
    };
    let Op::Cmp { pred, a, b } = body.insts[body.def(cond.as_value()?)?].op else {
        return None;
    };
    let is_null = origins(body, b).iter().all(|o| o.root == Root::Null);
    match pred {
        _ if !is_null || expression(body, a) != what => None,
        CmpPred::Eq => Some(then),
        CmpPred::Ne => Some(els),
        _ => None,
    }
}

fn freed_again(body: &Body, cfg: &Cfg, call: &FreeCall, block: BlockId, all: &[FreeCall]) -> bool {
    let what = expression(body, call.pointer);
    all.iter().any(|other| {
        other.inst != call.inst
            && expression(body, other.pointer) == what
            && block_of(body, other.inst).is_some_and(|at| {
                at == block
                    || cfg.dominates(at, block)
                    || cfg.post_dominators().post_dominates(at, block)
            })
    })
}

/// What lies behind a call in its function.
struct Behind<'a> {
    body: &'a Body,
    call: &'a FreeCall,
    block: BlockId,
    blocks: &'a HashSet<BlockId>,
}

impl Behind<'_> {
    fn has(&self, inst: InstId) -> bool {
        block_of(self.body, inst).is_some_and(|at| {
            self.blocks.contains(&at) || (at == self.block && inst > self.call.inst)
        })
    }

    /// Is the cell that the freed pointer was read from overwritten?
    fn overwrites(&self) -> bool {
        let cell = expression(self.body, self.call.pointer);
        self.body
            .insts
            .iter_enumerated()
            .any(|(inst, i)| match i.op {
                Op::Store { addr, .. } => {
                    format!("*({})", expression(self.body, addr)) == cell && self.has(inst)
                }
                _ => false,
            })
    }

    /// Is an object on the way to the freed pointer freed?
    fn frees_owner(&self, all: &[FreeCall]) -> bool {
        let owners = holders(self.body, self.call.pointer);
        let owners: Vec<String> = owners.iter().map(|&h| expression(self.body, h)).collect();
        all.iter().any(|other| {
            self.has(other.inst) && owners.contains(&expression(self.body, other.pointer))
        })
    }
}
