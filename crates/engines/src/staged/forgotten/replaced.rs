//! Question: does a variable or a field hold a block when a function overwrites it without looking?
//!
//! `name = NULL; read_name();` loses the name of the last time if nobody has taken care of it before, and the function runs more than once.
//! What is asked for of variables:
//!
//! - the function, or one that it calls, puts new blocks into the variable, so that the next run finds one there;
//! - it can run again: it is called in a loop, twice on one way, or by somebody who can, and not only where the variable was looked at;
//! - nobody who calls it, or a function that does nothing else, also calls somebody who empties the variable (of fields: or a function
//!   that hands on what it got), unless it runs once and does so only after the last call;
//! - no variable that the function or a maker sets decides whether the store is come to (`if (!loaded)`): it may happen once; nor does a
//!   flag that nobody takes back decide on all calls (`one_way`);
//! - the block is no copy of what a caller passes, unless somebody frees what the variable holds, or the program itself makes the call
//!   twice on one way: settings that a user gives twice are nobody's concern.
//!
//! Of fields: other functions free what the field holds; the function has not made the structure, nor is it called by one that does; and
//! on some way it looks at what the field held before, or it has found the structure in memory.

use drip_flow::args_of;
use drip_pointer::Callees;
use drip_program::{BlockId, Body, Cfg, Const, FuncId, InstId, Op, Operand, Type};
use rustc_hash::FxHashSet;

use super::super::callers::Callers;
use super::super::calls::CallContext;
use super::super::repeated::{Repeated, is_second};
use super::care::below;
use super::facts::{Facts, Place};
use super::one_way::OneWay;
use super::view::View;

/// Calls down to the one that fills the variable, and to one that empties it.
const MAX_DEPTH: usize = 4;

/// Functions around one another that do nothing but call the next (`void new_list(void) { new_object(LIST); }`), or hand on what they got.
const MAX_WRAPPERS: usize = 3;

/// Steps from a branch back to the variable that it looks at.
const MAX_STEPS: usize = 4;

pub struct Replacements<'a, 'c> {
    context: &'a CallContext<'c>,
    callers: &'a Callers<'a>,
    facts: &'a Facts,
    repeated: &'a Repeated,
    one_way: OneWay<'a>,
}

impl<'a, 'c> Replacements<'a, 'c> {
    pub fn new(
        context: &'a CallContext<'c>,
        callers: &'a Callers<'a>,
        facts: &'a Facts,
        repeated: &'a Repeated,
    ) -> Self {
        Replacements {
            repeated,
            context,
            callers,
            facts,
            one_way: OneWay::new(context.program),
        }
    }

    /// Does the variable hold what the last run has left there when this one comes to the store?
    pub fn is_filled(&self, view: &View<'_, '_>, cfg: &Cfg, place: Place, store: InstId) -> bool {
        let Place::Variable(_) = place else {
            return false;
        };
        let func = view.func;
        let is_repeated =
            self.repeated.all.contains(func) && !self.is_called_when_empty(func, place);
        if !is_repeated || self.is_guarded(view, cfg, place, store) {
            return false;
        }
        let graph = &self.context.graph.graph;
        let own = below(graph, &[func], MAX_DEPTH);
        let made = &self.facts.made[&place];
        let mut makers = made.iter().filter(|made| own.contains(&made.0)).peekable();
        let is_claimed = self.facts.freed.contains_key(&place);
        let is_made_here = makers.peek().is_some();
        let is_setting = !is_claimed
            && !self.repeated.twice.contains(func)
            && makers.any(|made| self.copies_argument(made.1, made.0));
        is_made_here
            && !is_setting
            && !self.is_emptied_around(func, place)
            && !self.one_way.is_called_once(self.callers, func)
    }

    /// Does the function overwrite a field of a structure that is in use, where other functions free what that holds? Nothing that the
    /// structure or a variable says may decide on it, and nobody around it may have emptied the field before.
    pub fn is_forgotten(
        &self,
        view: &View<'_, '_>,
        cfg: &Cfg,
        place: Place,
        store: InstId,
    ) -> bool {
        let Some(structure) = place.structure() else {
            return false;
        };
        let freed = self.facts.freed.get(&place);
        let is_claimed = freed.is_some_and(|funcs| funcs.iter().any(|&f| f != view.func));
        let makers = self.facts.made_structures.get(&structure);
        let mut makers = makers.into_iter().flatten().map(|made| made.0);
        let graph = &self.context.graph.graph;
        let is_part_of_making =
            makers.any(|maker| maker == view.func || graph.succs(maker).contains(&view.func));
        is_claimed
            && !is_part_of_making
            && !self.is_guarded(view, cfg, place, store)
            && !self.is_emptied_around(view.func, place)
    }

    /// Is a new block made of what a caller passes?
    fn copies_argument(&self, call: InstId, func: FuncId) -> bool {
        let Some(body) = &self.context.program.funcs[func].body else {
            return true;
        };
        let is_parameter = |arg: &Operand| {
            let value = arg.as_value();
            value.is_some_and(|value| body.as_param(value).is_some())
        };
        args_of(body, call).iter().any(is_parameter)
    }

    /// Does every call that can happen again look at the variable first (`if (!buffer) init();`)?
    fn is_called_when_empty(&self, func: FuncId, place: Place) -> bool {
        let calls = self.callers.of(func).iter();
        let mut again = calls.filter_map(|&(caller, call)| {
            let body = self.context.program.funcs[caller].body.as_ref()?;
            let block = body.block_of(call)?;
            let cfg = Cfg::build(body);
            let is_again = self.repeated.all.contains(caller)
                || cfg.loops().innermost(block).is_some()
                || is_second(body, &cfg, func, call);
            is_again.then_some((body, cfg, block))
        });
        again.all(|(body, cfg, mut block)| {
            while let Some(above) = cfg.dominators().idom(block) {
                if let Op::CondBr { cond, .. } = body.insts[body.terminator(above)].op
                    && looks_at(body, cond, place, MAX_STEPS)
                {
                    return true;
                }
                block = above;
            }
            false
        })
    }

    /// Those who call the function, and those who call functions that do nothing else, or that hand on what they got.
    fn callers_around(&self, func: FuncId, place: Place) -> Vec<(FuncId, FuncId)> {
        let graph = &self.context.graph.graph;
        let mut around: Vec<(FuncId, FuncId)> = Vec::new();
        let mut open = vec![func];
        for _ in 0..MAX_WRAPPERS {
            for called in std::mem::take(&mut open) {
                for &(caller, call) in self.callers.of(called) {
                    let is_wrapper = graph.succs(caller).iter().all(|&callee| callee == called);
                    let hands_on =
                        place.structure().is_some() && self.hands_on_parameter(caller, call);
                    if (is_wrapper || hands_on) && !open.contains(&caller) {
                        open.push(caller);
                    }
                    around.push((caller, called));
                }
            }
        }
        around.sort_unstable();
        around.dedup();
        around
    }

    /// `read_part(&whole->part)` or `read(whole)`, where the whole is the caller's parameter: whoever has it knows what is in it.
    fn hands_on_parameter(&self, caller: FuncId, call: InstId) -> bool {
        let program = self.context.program;
        let Some(body) = &program.funcs[caller].body else {
            return false;
        };
        let is_pointer = |value| matches!(program.types.get(body.value_ty(value)), Type::Ptr);
        args_of(body, call).iter().any(|arg| {
            let def = arg.as_value().and_then(|value| body.def(value));
            let whole = match def.map(|inst| body.insts[inst].op) {
                Some(Op::PtrAdd { base, .. }) => base.as_value(),
                _ => arg.as_value(),
            };
            whole.is_some_and(|whole| body.as_param(whole).is_some() && is_pointer(whole))
        })
    }

    /// Does one who calls the function call somebody, too, who leaves the variable empty?
    fn is_emptied_around(&self, func: FuncId, place: Place) -> bool {
        let mut emptying = self.facts.emptying(place);
        emptying.remove(&func);
        // After a destructor there is no structure any more.
        let released = place
            .structure()
            .and_then(|name| self.facts.released.get(&name));
        let released = released.into_iter().flatten().filter(|r| r.is_parameter);
        let ends: FxHashSet<FuncId> = released.map(|release| release.func).collect();
        // Nor after those that only a destructor calls.
        emptying.retain(|func| !ends.contains(func) && !self.is_part_of(*func, &ends));
        if emptying.is_empty() {
            return false;
        }
        let graph = &self.context.graph.graph;
        let mut callers = self.callers_around(func, place).into_iter();
        callers.any(|(caller, called)| {
            let others = graph.succs(caller).iter().copied();
            let others: Vec<FuncId> = others.filter(|&f| f != called && f != caller).collect();
            let reached = below(graph, &others, MAX_DEPTH);
            let is_emptying = |func: &FuncId| *func == caller || reached.contains(func);
            emptying.iter().any(is_emptying)
                && !(place.structure().is_none() && self.is_emptied_last(caller, called, &emptying))
        })
    }

    /// Does a function that runs once empty the variable only where it will not be filled again (`set(a); set(b); clear();`)?
    fn is_emptied_last(
        &self,
        caller: FuncId,
        called: FuncId,
        emptying: &FxHashSet<FuncId>,
    ) -> bool {
        let Some(body) = &self.context.program.funcs[caller].body else {
            return false;
        };
        if emptying.contains(&caller) || self.repeated.all.contains(caller) {
            return false;
        }
        let graph = self.context.graph;
        let (mut fills, mut empties) = (Vec::new(), Vec::new());
        for (inst, data) in body.insts.iter_enumerated() {
            if !matches!(data.op, Op::Call { .. } | Op::Invoke { .. }) {
                continue;
            }
            let targets: &[FuncId] = match graph.callees(caller, inst) {
                Callees::Known(targets) => targets,
                _ => &[],
            };
            let reached = below(&graph.graph, targets, MAX_DEPTH);
            match targets.contains(&called) {
                true => fills.push(inst),
                false if emptying.iter().any(|func| reached.contains(func)) => empties.push(inst),
                false => {}
            }
        }
        let cfg = Cfg::build(body);
        let is_before_fill =
            |&inst: &InstId| fills.iter().any(|&fill| leads(body, &cfg, inst, fill));
        !empties.iter().any(is_before_fill)
    }

    /// Is a function called by nobody but by these?
    fn is_part_of(&self, func: FuncId, others: &FxHashSet<FuncId>) -> bool {
        let calls = self.callers.of(func);
        let mut callers = calls.iter().map(|call| call.0);
        !calls.is_empty()
            && !self.callers.is_hidden(func)
            && callers.all(|caller| others.contains(&caller))
    }

    /// Does a variable that the program sets where it fills the place decide whether the store is come to?
    fn is_guarded(&self, view: &View<'_, '_>, cfg: &Cfg, place: Place, store: InstId) -> bool {
        self.is_decided(view, cfg, place, store, |_| true)
    }

    /// The same, but for the conditions of loops that are left before: those decide when the store is come to, and not whether.
    pub fn is_guarded_behind_loops(
        &self,
        view: &View<'_, '_>,
        cfg: &Cfg,
        place: Place,
        store: InstId,
    ) -> bool {
        let at = view.body.block_of(store);
        self.is_decided(view, cfg, place, store, |block| {
            let around = cfg.loops().innermost(block);
            around.is_none_or(|id| at.is_some_and(|at| cfg.loops().contains(id, at)))
        })
    }

    fn is_decided(
        &self,
        view: &View<'_, '_>,
        cfg: &Cfg,
        place: Place,
        store: InstId,
        counts: impl Fn(BlockId) -> bool,
    ) -> bool {
        let Some(mut block) = view.body.block_of(store) else {
            return true;
        };
        while let Some(above) = cfg.dominators().idom(block) {
            let cond = match view.body.insts[view.body.terminator(above)].op {
                Op::CondBr { cond, .. } => Some(cond),
                Op::Switch { value, .. } => Some(value),
                _ => None,
            };
            let cond = cond.filter(|_| counts(above));
            if cond.is_some_and(|cond| self.asks_variable(view, cond, place, MAX_STEPS)) {
                return true;
            }
            block = above;
        }
        false
    }

    /// Does a condition look at a variable or field other than the place?
    fn asks_variable(
        &self,
        view: &View<'_, '_>,
        operand: Operand,
        place: Place,
        steps: usize,
    ) -> bool {
        let Some(steps) = steps.checked_sub(1) else {
            return true;
        };
        let body = view.body;
        let Some(inst) = operand.as_value().and_then(|value| body.def(value)) else {
            return false;
        };
        match body.insts[inst].op {
            // `if (m->mode == mode) return;`: nothing new, and no flag.
            Op::Cmp { a, b, .. }
                if is_number_of_caller(view, a) || is_number_of_caller(view, b) =>
            {
                false
            }
            Op::Cmp { a, b, .. } | Op::Binary { a, b, .. } => {
                self.asks_variable(view, a, place, steps)
                    || self.asks_variable(view, b, place, steps)
            }
            Op::Cast { value, .. } => self.asks_variable(view, value, place, steps),
            Op::ExtractValue { agg, .. } => self.asks_variable(view, agg, place, steps),
            // `if (atomic_flag_test_and_set(&begun)) return;` looks at the flag, too.
            Op::Load { addr } | Op::AtomicRmw { addr, .. } | Op::CmpXchg { addr, .. } => {
                view.place(addr).is_some_and(|asked| asked != place)
            }
            _ => false,
        }
    }
}

/// Can an instruction be followed by another one?
fn leads(body: &Body, cfg: &Cfg, from: InstId, to: InstId) -> bool {
    let (Some(start), Some(end)) = (body.block_of(from), body.block_of(to)) else {
        return true;
    };
    if start == end && from < to {
        return true;
    }
    let mut seen: FxHashSet<BlockId> = FxHashSet::default();
    let mut open: Vec<BlockId> = cfg.succs(start).to_vec();
    while let Some(block) = open.pop() {
        if block == end {
            return true;
        }
        if seen.insert(block) {
            open.extend(cfg.succs(block));
        }
    }
    false
}

/// Does a condition look at what a variable holds?
fn looks_at(body: &Body, operand: Operand, place: Place, steps: usize) -> bool {
    let (Some(steps), Some(inst)) = (
        steps.checked_sub(1),
        operand.as_value().and_then(|value| body.def(value)),
    ) else {
        return false;
    };
    match body.insts[inst].op {
        Op::Cmp { a, b, .. } => looks_at(body, a, place, steps) || looks_at(body, b, place, steps),
        Op::Cast { value, .. } => looks_at(body, value, place, steps),
        Op::Load { addr } => matches!(body.const_of(addr),
            Some(&Const::Global { global, offset: 0 }) if place == Place::Variable(global)),
        _ => false,
    }
}

/// Is it a number that the caller passes?
fn is_number_of_caller(view: &View<'_, '_>, operand: Operand) -> bool {
    let types = &view.context.program.types;
    let is_number = |value| matches!(types.get(view.body.value_ty(value)), Type::Int(_));
    view.parameter(operand).is_some() && operand.as_value().is_some_and(is_number)
}
