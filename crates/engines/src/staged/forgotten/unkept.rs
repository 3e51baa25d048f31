//! Question: which new blocks does nobody keep and nobody free, whatever the summaries say of those who get them?
//!
//! `screen = screen_new(); screen_run(screen); screen_close(screen);`: where functions are large, call each other through tables or point
//! into their own structures, a summary says of a block that it escapes although nobody has a place to keep it in. So the block is
//! followed by its pointer alone, through all functions that get it: if it is never stored (but into itself), never returned by the
//! function that has got it, never made a number and never given to anybody who frees it or whom nobody knows, then it is lost where that function
//! returns, on whatever path.
//!
//! Asked for as well: the block is what a call returns, which is never anything but a new block or null; a function in sight gets it; and the
//! function is not the program's `main`, nor called by nobody else (what those hold until the end is no leak).
//!
//! Domain: parameters that are only looked at, and those that are also returned. Order: depth first, each parameter once (a recursion
//! that takes nothing takes nothing). Cost: the uses of the pointers that are followed.
//! Known false negatives: structures that are put into a list for a while.

use drip_flow::args_of;
use drip_models::{Root, Summary, Value, ValuePath};
use drip_pointer::Callees;
use drip_program::{BlockId, CastOp, FuncId, InstId, Op, Operand, StrId, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::callers::Callers;
use super::care::below;
use super::facts::Made;
use super::view::{View, new_block, returns, taking_of};

/// Calls down from the function that has made the block; it may be kept by whoever is further down.
const MAX_DEPTH: usize = 8;

/// A block that nobody keeps.
pub struct Unkept {
    pub made: Made,
    /// The return behind.
    pub inst: InstId,
    pub variable: StrId,
}

/// What a function does with a pointer that it gets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Look {
    /// It may keep or free it.
    Takes,
    Looks,
    /// It returns it and does nothing else.
    Returns,
}

/// All blocks that nobody keeps.
pub fn unkept(views: &[View<'_, '_>], callers: &Callers<'_>) -> Vec<Unkept> {
    let index = views.iter().map(|view| (view.func, view));
    let mut search = Search {
        index: index.collect(),
        known: FxHashMap::default(),
    };
    let mut found = Vec::new();
    for view in views.iter().filter(|view| !is_end(view, callers)) {
        for (inst, data) in view.body.insts.iter_enumerated() {
            if let Op::Call { .. } | Op::Invoke { .. } = data.op {
                found.extend(search.block(view, inst));
            }
        }
    }
    found
}

/// Does the program end with the function?
fn is_end(view: &View<'_, '_>, callers: &Callers<'_>) -> bool {
    let program = view.context.program;
    let is_main = |func: FuncId| program.func_name(func) == "main";
    let mut calls = callers.of(view.func).iter();
    is_main(view.func) || !callers.is_hidden(view.func) && calls.all(|&(caller, _)| is_main(caller))
}

struct Search<'a, 's, 'c> {
    index: FxHashMap<FuncId, &'a View<'s, 'c>>,
    known: FxHashMap<(FuncId, u16), Look>,
}

impl<'a, 's, 'c> Search<'a, 's, 'c> {
    /// The block that a call makes, if nobody keeps it.
    fn block(&mut self, view: &'a View<'s, 'c>, call: InstId) -> Option<Unkept> {
        let result = view.body.result(call);
        let variable = variable(view, result)?;
        let summary = view.summary(call).filter(|summary| !summary.limited)?;
        let index = new_block(&summary).filter(|&index| !is_put_away(&summary, index))?;
        let mut handed = 0;
        let look = self.follow(view, result, MAX_DEPTH, &mut handed);
        if look != Look::Looks || handed == 0 {
            return None;
        }
        let at = view.body.block_of(call)?;
        let cfg = view.cfg();
        let behind: FxHashSet<BlockId> = below(cfg.graph(), &[at], usize::MAX);
        let ends = behind.into_iter().map(|block| view.body.terminator(block));
        let returns = ends.filter(|&end| matches!(view.body.insts[end].op, Op::Ret { .. }));
        let inst = returns.min().filter(|_| cfg.is_reachable(at))?;
        Some(Unkept {
            made: (view.func, call, index),
            inst,
            variable,
        })
    }

    /// What is done with a pointer in one function. Counts the functions in sight that get it.
    fn follow(
        &mut self,
        view: &'a View<'s, 'c>,
        pointer: ValueId,
        depth: usize,
        handed: &mut usize,
    ) -> Look {
        let mut same: FxHashSet<ValueId> = FxHashSet::from_iter([pointer]);
        let mut open = vec![pointer];
        let mut look = Look::Looks;
        let mut stores: Vec<Operand> = Vec::new();
        while let Some(value) = open.pop() {
            for &user in view.users(value) {
                let goes_on = match view.body.insts[user].op {
                    Op::Load { .. } | Op::Cmp { .. } | Op::Bind { .. } => false,
                    Op::MemCopy { .. } | Op::MemSet { .. } => false,
                    Op::Store {
                        addr,
                        value: stored,
                    } => {
                        if stored.as_value() == Some(value) {
                            stores.push(addr);
                        }
                        false
                    }
                    Op::PtrAdd { .. } | Op::Phi { .. } | Op::Select { .. } => true,
                    Op::Cast {
                        op: CastOp::Bitcast,
                        ..
                    } => true,
                    Op::Call { .. } | Op::Invoke { .. } => {
                        match self.call(view, user, value, depth, handed) {
                            Look::Takes => return Look::Takes,
                            Look::Looks => false,
                            Look::Returns => true,
                        }
                    }
                    Op::Ret { .. } => {
                        look = Look::Returns;
                        false
                    }
                    _ => return Look::Takes,
                };
                let result = view.body.result(user);
                if goes_on && same.insert(result) {
                    open.push(result);
                }
            }
        }
        // A structure that points into itself is nowhere else for that.
        let is_own = |addr: &Operand| view.base(*addr) == Some(pointer);
        match stores.iter().all(is_own) {
            true => look,
            false => Look::Takes,
        }
    }

    fn call(
        &mut self,
        view: &'a View<'s, 'c>,
        call: InstId,
        value: ValueId,
        depth: usize,
        handed: &mut usize,
    ) -> Look {
        let callees = match view.context.graph.callees(view.func, call) {
            Callees::Known(callees) => callees.clone(),
            Callees::Ends => return Look::Looks,
            Callees::Unknown | Callees::Aside(_) => return Look::Takes,
        };
        let args = (0u16..).zip(args_of(view.body, call));
        let positions = args.filter(|(_, arg)| arg.as_value() == Some(value));
        let positions: Vec<u16> = positions.map(|(n, _)| n).collect();
        let mut look = Look::Looks;
        for callee in callees {
            let program = view.context.program;
            for &n in &positions {
                let does = match program.funcs[callee].body.is_some() {
                    true => {
                        *handed += 1;
                        self.parameter(callee, n, depth)
                    }
                    false => by_library(view, call, callee, n),
                };
                look = match (look, does) {
                    (_, Look::Takes) => return Look::Takes,
                    (Look::Looks, does) => does,
                    (look, _) => look,
                };
            }
        }
        match positions.is_empty() {
            true => Look::Takes,
            false => look,
        }
    }

    fn parameter(&mut self, func: FuncId, n: u16, depth: usize) -> Look {
        if let Some(&known) = self.known.get(&(func, n)) {
            return known;
        }
        let view = self.index.get(&func).copied();
        let view = view.filter(|view| usize::from(n) < view.body.param_count());
        let (Some(view), Some(depth)) = (view, depth.checked_sub(1)) else {
            return Look::Takes;
        };
        self.known.insert((func, n), Look::Looks);
        let pointer = view.body.param(usize::from(n));
        let look = self.follow(view, pointer, depth, &mut 0);
        self.known.insert((func, n), look);
        look
    }
}

/// Has the function that makes a block put it somewhere as well, or given it to somebody?
fn is_put_away(summary: &Summary, index: u16) -> bool {
    let is_it = |value: &Value| matches!(value, Value::Fresh { index: k, .. } if *k == index);
    let own = ValuePath::root(Root::Fresh(index));
    summary.outcomes.iter().any(|outcome| {
        let mut writes = outcome.writes.iter();
        let mut escapes = outcome.escapes.iter();
        writes.any(|write| is_it(&write.value) && write.cell.base != own)
            || escapes.any(|escape| escape.path.root == own.root)
    })
}

/// What a function of the library does with an argument.
fn by_library(view: &View<'_, '_>, call: InstId, callee: FuncId, n: u16) -> Look {
    let context = view.context;
    let is_described = context.library.find(context.program.func_name(callee));
    let summary = view.summary(call).filter(|_| is_described.is_some());
    let Some(summary) = summary else {
        return Look::Takes;
    };
    let is_it = |path: &ValuePath| path.root == Root::Arg(n);
    match taking_of(&summary, is_it) {
        Some(_) => Look::Takes,
        None if returns(&summary, is_it) => Look::Returns,
        None => Look::Looks,
    }
}

/// The variable that holds a value first.
fn variable(view: &View<'_, '_>, value: ValueId) -> Option<StrId> {
    let mut users = view.users(value).iter();
    users.find_map(|&user| match view.body.insts[user].op {
        Op::Bind { var, .. } => Some(view.body.vars[var].name),
        _ => None,
    })
}
