//! Calls: a function that is small enough is executed, any other is what its summary says.

use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;

use drip_cond::TermId;
use drip_models::{Certainty, GlobalSet, Root, Summary, Value as Told, ValuePath};
use drip_pointer::Callees;
use drip_program::{CallFlags, FuncAttrs, FuncId, GlobalId, InstId, Op};

use super::super::calls::{Open, call_summary, callee_name, is_modelled};
use super::machine::Machine;
use super::run::{Activation, Env, Next, Run};
use super::summaries::Call;
use super::world::{Kind, Obj, Value, World};

/// Calls that are executed inside each other.
const MAX_DEPTH: usize = 6;

/// Ways through one call that are told apart; a function with more is taken by its summary.
const MAX_EXITS: usize = 24;

/// Terms in the condition under which two ways through a call are one.
const MAX_TERMS: usize = 128;

/// Instructions of one call, those of its callees included.
const MAX_STEPS_OF_CALL: usize = 4_000;

/// Instructions of a function that is executed although it has nothing to do with the block.
const MAX_SIMPLE: usize = 40;

/// Instructions of a function that is executed at all.
const MAX_INSTRUCTIONS: usize = 600;

impl Machine<'_, '_> {
    /// The results of a call. `None` when the fuel is used up.
    pub fn call(
        &mut self,
        activation: &Activation<'_>,
        run: &mut Run,
        inst: InstId,
    ) -> Option<Next> {
        let body = activation.body;
        let (Op::Call {
            callee,
            args,
            flags,
        }
        | Op::Invoke {
            callee,
            args,
            flags,
            ..
        }) = body.insts[inst].op
        else {
            return Some(Next::Here);
        };
        if flags.has(CallFlags::NORETURN) {
            return Some(Next::Dead);
        }
        let operands = body.list(args);
        let env = Rc::clone(&run.env);
        let args: Vec<Value> = operands
            .iter()
            .map(|&arg| self.value(activation, &env, arg))
            .collect();
        let summary = self.summary(activation, inst);
        let target = self.target(activation, &env, inst, callee, flags);
        let is_involved = self.is_involved(activation, inst, &args, summary.as_deref(), &run.world);
        let (mut results, mut is_complete) = (Vec::new(), false);
        if let Some(func) = target
            && (is_involved || self.is_simple(func, summary.as_deref()))
            && summary.as_ref().is_none_or(|s| is_worth_it(s))
        {
            (results, is_complete) = self.executed(func, inst, activation, &args, &run.world);
        }
        tracing::trace!(
            depth = self.stack.len(),
            line = activation.line(inst),
            callee = callee_name(self.context.program, body, inst),
            involved = is_involved,
            exits = results.len(),
            complete = is_complete,
            "call"
        );
        if !is_complete {
            let summary = summary?;
            let call = Call {
                func: activation.func,
                activation: activation.number,
                inst,
                args: &args,
                ty: body.insts[inst].ty,
                summary: &summary,
                turn: run.turn_of_block(),
                target,
            };
            let is_own = is_involved && self.has_body(activation, inst);
            let makes = |machine: &Self, world: &World| !machine.targets(world).is_empty();
            let is_unmade = !makes(self, &run.world);
            let mut told = self.summarised(&run.world, &call, is_own);
            if self.is_brief && is_own && self.takes_part(&run.world, &summary, &told) {
                for (world, _) in &mut told {
                    world.is_rough = true;
                }
            }
            // Of a callee that makes the block, or perhaps does, and that was executed in part the summary tells the rest, and may mix up its
            // ways: whoever loses the block whatever the callee does loses it on the executed ways, too.
            if is_unmade && !results.is_empty() {
                for (world, _) in told.iter_mut().filter(|(world, _)| makes(self, world)) {
                    world.is_rough = true;
                }
            }
            results.extend(told);
        }
        Some(Next::Several(results))
    }

    /// Does a function of the program free, keep or give back the block in question, or perhaps make it and perhaps not? Only its code
    /// could tell when.
    fn takes_part(&self, before: &World, summary: &Summary, after: &[(World, Value)]) -> bool {
        let treatment = |world: &World| -> Vec<_> {
            let targets = self.targets(world).into_iter();
            targets
                .map(|obj| (obj, world.fate(obj), world.holders(obj)))
                .collect()
        };
        let known = treatment(before);
        if known.is_empty() {
            let is_new = |ret: &Told| matches!(ret, Told::Fresh { .. } | Told::Int(0));
            return !summary.outcomes.iter().all(|outcome| is_new(&outcome.ret));
        }
        let gives_back = |value: &Value| match value {
            Value::Word(word) => word.at.is_some_and(|place| self.is_target(place.obj)),
            _ => false,
        };
        after
            .iter()
            .any(|(world, value)| treatment(world) != known || gives_back(value))
    }

    /// Is it a function that only computes something, in a few instructions, or that returns only if something is as it should be?
    fn is_simple(&self, func: FuncId, summary: Option<&Summary>) -> bool {
        let body = self.context.program.funcs[func].body.as_ref();
        let Some(body) = body.filter(|body| body.insts.len() <= MAX_SIMPLE) else {
            return false;
        };
        let mut ends = body.blocks.ids().iter().map(|block| body.terminator(block));
        let may_end = ends.any(|end| matches!(body.insts[end].op, Op::Unreachable));
        may_end || summary.is_some_and(|s| s.pure || s.may_throw)
    }

    /// Does the call make the block in question, or can it reach it?
    fn is_involved(
        &self,
        activation: &Activation<'_>,
        inst: InstId,
        args: &[Value],
        summary: Option<&Summary>,
        world: &World,
    ) -> bool {
        let depth = self.stack.len();
        let is_birth = self.target.get(depth) == Some(&(activation.func, inst))
            && self.stack[..] == self.target[..depth];
        let targets = self.targets(world);
        if is_birth || targets.is_empty() {
            return is_birth;
        }
        let words = args.iter().flat_map(|arg| match arg {
            Value::Word(word) => std::slice::from_ref(word),
            Value::Fields(words) => &words[..],
            Value::None => &[],
        });
        let leads = |obj: Obj| {
            let reached = self.reachable(world, [obj]);
            targets.iter().any(|&target| reached.contains(target))
        };
        let mut passed = words.filter_map(|word| self.found(*word));
        if passed.any(leads) {
            return true;
        }
        // Most variables lead nowhere near it.
        let mut variables: Vec<(Obj, GlobalId)> = Vec::new();
        for (obj, _) in world.cells.keys() {
            if let Kind::Global(global) = self.objects[obj]
                && variables.last().is_none_or(|last| last.0 != obj)
            {
                variables.push((obj, global));
            }
        }
        let speaks = |global| summary.is_none_or(|s| speaks_of(s, global));
        let mut variables = variables.into_iter();
        variables.any(|(obj, global)| leads(obj) && speaks(global))
    }

    /// What the call is said to do.
    fn summary(&mut self, activation: &Activation<'_>, inst: InstId) -> Option<Arc<Summary>> {
        let key = (activation.func, inst);
        if let Some(known) = self.summaries.get(&key) {
            return known.clone();
        }
        let mut open = Open::default();
        let found = call_summary(self.context, key.0, activation.body, inst, &mut open);
        self.summaries.insert(key, found.clone());
        found
    }

    /// The one function that is called, if it has a body that may be executed.
    fn target(
        &mut self,
        activation: &Activation<'_>,
        env: &Env,
        inst: InstId,
        callee: drip_program::Operand,
        flags: CallFlags,
    ) -> Option<FuncId> {
        if flags.has(CallFlags::ASM) || self.is_brief {
            return None;
        }
        let known = match self.word(activation, env, callee).at {
            Some(place) => match self.objects[place.obj] {
                Kind::Func(func) => Some(func),
                _ => None,
            },
            None => None,
        };
        let func = match (known, self.context.graph.callees(activation.func, inst)) {
            (Some(func), Callees::Known(_) | Callees::Unknown) => func,
            (None, Callees::Known(targets)) => match targets[..] {
                [one] => one,
                _ => return None,
            },
            _ => return None,
        };
        let function = &self.context.program.funcs[func];
        let body = function.body.as_ref()?;
        let fits = body.insts.len() <= MAX_INSTRUCTIONS
            && !function.attrs.has(FuncAttrs::VARARG)
            && !function.attrs.has(FuncAttrs::RETURNS_TWICE)
            && !is_modelled(self.context, func);
        let is_recursive = self.stack.iter().any(|call| call.0 == func);
        let fits = fits && !is_recursive && func != activation.func;
        (fits && self.stack.len() < MAX_DEPTH).then_some(func)
    }

    /// Is a function of the program called, other than one that has a model?
    fn has_body(&self, activation: &Activation<'_>, inst: InstId) -> bool {
        let is_own = |func: &FuncId| {
            let has_body = self.context.program.funcs[*func].body.is_some();
            has_body && !is_modelled(self.context, *func)
        };
        match self.context.graph.callees(activation.func, inst) {
            Callees::Known(targets) => targets.iter().any(is_own),
            _ => false,
        }
    }

    /// Ways through the callee, and whether these are all.
    fn executed(
        &mut self,
        func: FuncId,
        inst: InstId,
        caller: &Activation<'_>,
        args: &[Value],
        world: &World,
    ) -> (Vec<(World, Value)>, bool) {
        let Some(body) = &self.context.program.funcs[func].body else {
            return (Vec::new(), false);
        };
        if args.len() != body.param_count() {
            return (Vec::new(), false);
        }
        let share = (MAX_STEPS_OF_CALL >> self.stack.len()).min(self.fuel.steps / 2);
        let before = std::mem::replace(&mut self.fuel.steps, share);
        self.activations += 1;
        let activation = Activation {
            func,
            body,
            number: self.activations,
            guide: None,
        };
        self.stack.push((caller.func, inst));
        let was_cut = std::mem::replace(&mut self.is_cut, false);
        let mut exits: Vec<(World, Value)> = Vec::new();
        let done = self.execute(
            &activation,
            args.to_vec(),
            world.clone(),
            &mut |machine, mut world, value| {
                let number = activation.number;
                let objects = &machine.objects;
                world.drop_stack(|obj| {
                    matches!(objects[obj], Kind::Stack { activation, .. } if activation == number)
                });
                machine.merge(&mut exits, world, value);
                match exits.len() >= MAX_EXITS {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                }
            },
        );
        self.stack.pop();
        self.fuel.steps = before - (share - self.fuel.steps);
        // A loop whose turns were all cut has no way out that was seen.
        let is_cut = std::mem::replace(&mut self.is_cut, was_cut);
        let is_complete =
            done.is_some() && exits.len() < MAX_EXITS && !(is_cut && exits.is_empty());
        // Whatever memory holds, the call does the same.
        if let (true, [(only, _)]) = (is_complete, &mut exits[..]) {
            only.hangs = world.hangs;
        }
        (exits, is_complete)
    }

    /// Two exits that leave the same behind are one, under either's conditions.
    fn merge(&mut self, exits: &mut Vec<(World, Value)>, world: World, value: Value) {
        let same = exits
            .iter_mut()
            .find(|(other, result)| *result == value && other.looks_like(&world));
        let Some((other, _)) = same else {
            exits.push((world, value));
            return;
        };
        let common = other
            .facts
            .iter()
            .zip(world.facts.iter())
            .take_while(|(a, b)| a == b)
            .count();
        other.hangs &= world.hangs;
        other.is_widened |= world.is_widened;
        other.is_told |= world.is_told;
        // What both know stays known by itself.
        let (mine, theirs) = (&world.facts[common..], &other.facts[common..]);
        let is_shared = |fact: &&TermId| mine.contains(fact) && theirs.contains(fact);
        let shared: Vec<TermId> = theirs.iter().filter(is_shared).copied().collect();
        let mut own = |facts: &[TermId]| {
            let own = facts.iter().filter(|fact| !is_shared(fact)).copied();
            self.terms.and(&own.collect::<Vec<_>>())
        };
        let (mine, theirs) = (own(mine), own(theirs));
        let either = self.terms.or(&[mine, theirs]);
        let facts = Rc::make_mut(&mut other.facts);
        facts.truncate(common);
        facts.extend(shared);
        // What is too long to be of use is left out: fewer facts allow more runs.
        let is_short = self.terms.subterms(&[either]).len() <= MAX_TERMS;
        if self.terms.as_bool(either).is_none() && is_short {
            facts.push(either);
        }
    }
}

/// May the call change what a global variable holds, or what that points to?
fn speaks_of(summary: &Summary, global: GlobalId) -> bool {
    let is_it = |path: &ValuePath| path.root == Root::Global(global);
    summary.touched.contains(global)
        || summary.outcomes.iter().any(|outcome| {
            outcome.writes.iter().any(|w| is_it(&w.cell.base))
                || outcome.frees.iter().any(|f| is_it(&f.path))
        })
}

/// Does execution tell more than the summary?
fn is_worth_it(summary: &Summary) -> bool {
    let [only] = &summary.outcomes[..] else {
        return !summary.outcomes.is_empty();
    };
    let is_vague = |value: &Told| matches!(value, Told::Unknown(_));
    summary.limited
        || !only.when.is_empty()
        || is_vague(&only.ret)
        || only
            .writes
            .iter()
            .any(|w| is_vague(&w.value) || w.certainty == Certainty::May)
        || only.frees.iter().any(|f| f.certainty == Certainty::May)
        || !only.escapes.is_empty()
        || !matches!(&summary.touched, GlobalSet::Some(none) if none.is_empty())
}
