//! Question: which functions release the structure that they get, and do they do so on every way?
//!
//! A *destructor* of a structure gets it as a parameter and frees it. Two mistakes that no path of a caller shows, because the structure is
//! kept in memory and not in a variable of the caller's:
//!
//! - *Halfway*: a way through the destructor returns without freeing the structure, because some other function failed (not because of
//!   what the structure, another argument or a variable says: counted references, borrowed structures), although parts of it are
//!   freed already.
//! - *Never*: the function frees parts of the structure, leaves the dangling pointers where they are and writes nothing into the structure:
//!   nobody will use it again. But nobody in the program frees a structure of this kind, though some are made on the heap.
//! - *Otherwise*: the same, and somebody else who frees the same parts of such a structure frees it as well (Engler's belief). What is
//!   written into it before the last part is freed does not matter then, nor who may have kept it before.
//!
//! Callers that do it instead, or that have the structure on the stack or inside of another one, are looked for first.

use drip_models::{Root, ValuePath};
use drip_pointer::Callees;
use drip_program::{
    BlockId, Cfg, Const, DiType, FuncAttrs, FuncId, InstId, Op, Operand, StrId, Type, ValueId,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::care::below;
use super::facts::{Facts, Place, Taking};
use super::view::{Start, Uses, View, releases};

/// Fields that two functions have to free for both to be destructors: one alone may be freed to be replaced later.
const MIN_COMMON_PARTS: usize = 2;

/// Callers that hand on what they got; further up nobody is asked who frees the structure.
const MAX_DEPTH: usize = 3;

/// A way through a function on which the structure is not freed.
pub struct Unreleased {
    pub structure: StrId,
    pub func: FuncId,
    /// The return, or the call that frees a part of it last.
    pub inst: InstId,
    /// It is freed on other ways.
    pub is_halfway: bool,
}

/// What the functions of the program do with the structures that they get.
pub struct Destructors<'a, 's, 'c> {
    views: &'a [View<'s, 'c>],
    facts: &'a Facts,
    /// Calls by callee: who calls, and where.
    calls: FxHashMap<FuncId, Vec<(usize, InstId)>>,
    /// Functions that free parts of what they get as this argument, and leave the pointers where they are.
    dismantling: FxHashSet<(FuncId, u16)>,
    /// By structure: the fields that functions free which free the structure, too.
    habits: FxHashMap<StrId, Vec<FxHashSet<Place>>>,
}

impl<'a, 's, 'c> Destructors<'a, 's, 'c> {
    pub fn new(views: &'a [View<'s, 'c>], facts: &'a Facts) -> Self {
        let mut calls: FxHashMap<FuncId, Vec<(usize, InstId)>> = FxHashMap::default();
        for (n, view) in views.iter().enumerate() {
            for (inst, data) in view.body.insts.iter_enumerated() {
                if let Op::Call { .. } | Op::Invoke { .. } = data.op {
                    let graph = view.context.graph;
                    let callees = match graph.callees(view.func, inst) {
                        Callees::Known(callees) => callees.as_slice(),
                        // A class of many: whoever calls its destructors frees the structures of all of them.
                        _ => graph.too_many(view.func, inst),
                    };
                    for &callee in callees {
                        calls.entry(callee).or_default().push((n, inst));
                    }
                }
            }
        }
        let mut all = Destructors {
            views,
            facts,
            calls,
            dismantling: FxHashSet::default(),
            habits: FxHashMap::default(),
        };
        while all.find_dismantling() {}
        all.find_habits();
        all
    }

    /// Which fields do those free, by their own hands, who free the structure, too?
    fn find_habits(&mut self) {
        let mut habits: FxHashMap<StrId, Vec<FxHashSet<Place>>> = FxHashMap::default();
        for view in self.views {
            for n in 0..view.body.param_count() {
                let value = view.body.param(n);
                let Some(structure) = self.made_structure(view, value) else {
                    continue;
                };
                let uses = view.uses(value, None);
                let fields = self.freed_fields(view, &uses);
                let is_habit = fields.len() >= MIN_COMMON_PARTS;
                if is_habit && !self.freeing(view, &uses).is_empty() {
                    habits.entry(structure).or_default().push(fields);
                }
            }
        }
        self.habits = habits;
    }

    /// Does a function free the same parts as somebody who frees the structure as well?
    fn is_against_habit(&self, view: &View<'_, '_>, uses: &Uses, structure: StrId) -> bool {
        let fields = self.freed_fields(view, uses);
        let mut habits = self.habits.get(&structure).into_iter().flatten();
        habits.any(|habit| habit.intersection(&fields).count() >= MIN_COMMON_PARTS)
    }

    /// The fields whose contents the function frees itself, leaving the pointers there.
    fn freed_fields(&self, view: &View<'_, '_>, uses: &Uses) -> FxHashSet<Place> {
        let loads = uses.through.iter();
        let places = loads.filter_map(|&inst| match view.body.insts[inst].op {
            Op::Load { addr } => {
                let part = view.uses(view.body.result(inst), None);
                let place = view
                    .place(addr)
                    .filter(|&place| !self.is_stored(view, place));
                place.filter(|_| part.taking == Some(Taking::Freed))
            }
            _ => None,
        });
        places.collect()
    }

    /// The calls that free what a value points to.
    fn freeing(&self, view: &View<'_, '_>, uses: &Uses) -> Vec<InstId> {
        let frees = |&(call, n): &(InstId, u16)| {
            let summary = view.summary(call);
            summary.is_some_and(|summary| releases(&summary, &ValuePath::arg(n)))
        };
        let handed = uses.handed.iter();
        handed.filter(|h| frees(h)).map(|h| h.0).collect()
    }

    /// Functions that dismantle what they get, by themselves or by those found before; whether there are more than before.
    fn find_dismantling(&mut self) -> bool {
        let known = self.dismantling.len();
        let mut more: Vec<(FuncId, u16)> = Vec::new();
        for view in self.views {
            for n in 0..view.body.param_count() {
                let value = view.body.param(n);
                let Ok(n) = u16::try_from(n) else { break };
                if !self.dismantling.contains(&(view.func, n))
                    && view.owners.structure(Operand::value(value)).is_some()
                    && !self
                        .freed_parts(view, value, &view.uses(value, None))
                        .is_empty()
                {
                    more.push((view.func, n));
                }
            }
        }
        self.dismantling.extend(more);
        self.dismantling.len() > known
    }

    pub fn unreleased(&self) -> Vec<Unreleased> {
        let mut found = Vec::new();
        for view in self.views {
            for n in 0..view.body.param_count() {
                let value = view.body.param(n);
                let Some(structure) = self.made_structure(view, value) else {
                    continue;
                };
                if let Some(inst) = self.inspect(view, n, value, structure) {
                    found.push(inst);
                }
            }
            self.nodes(view, &mut found);
        }
        found
    }

    /// Structures that are found in memory (nodes of a list), taken apart and never freed by anybody.
    fn nodes(&self, view: &View<'s, 'c>, found: &mut Vec<Unreleased>) {
        let mut seen: FxHashSet<ValueId> = FxHashSet::default();
        for data in view.body.insts.iter() {
            let Op::Load { addr } = data.op else { continue };
            let Some(value) = view.base(addr).filter(|&value| seen.insert(value)) else {
                continue;
            };
            let is_found = match view.body.def(value).map(|inst| view.body.insts[inst].op) {
                Some(Op::Load { addr }) => self.is_found_in(view, addr),
                Some(Op::Phi { incoming }) => {
                    let mut inputs = view.body.incoming(incoming).iter();
                    inputs.all(|input| {
                        let def = input
                            .value
                            .as_value()
                            .and_then(|value| view.body.def(value));
                        match def.map(|inst| view.body.insts[inst].op) {
                            Some(Op::Load { addr }) => self.is_found_in(view, addr),
                            _ => view.is_null(input.value),
                        }
                    })
                }
                _ => false,
            };
            let structure = self.made_structure(view, value).filter(|_| is_found);
            let Some(structure) = structure.filter(|&name| !self.is_released(name)) else {
                continue;
            };
            let uses = view.uses(value, None);
            let parts = self.freed_parts(view, value, &uses);
            let is_kept = uses.taking.is_some() || !uses.aliases.is_empty();
            let is_written = self.is_written(view, &uses.through, &uses.handed);
            if let Some(&inst) = parts.last().filter(|_| !is_kept && !is_written) {
                found.push(Unreleased {
                    structure,
                    func: view.func,
                    inst,
                    is_halfway: false,
                });
            }
        }
    }

    /// Is a structure kept at this address as what it is, and left there? Containers of anything free anything, unless nobody frees or takes
    /// what is in this one.
    fn is_found_in(&self, view: &View<'_, '_>, addr: Operand) -> bool {
        let is_left = |place: Place| {
            !self.facts.freed.contains_key(&place) && !self.facts.is_out_of_sight(place)
        };
        (view.owners.holds_structure(addr) || view.place(addr).is_some_and(is_left))
            && !self.is_taken_from(view, addr)
    }

    /// Does the function free or move what it reads from this cell, perhaps as something of another type? Or is it a variable of its own?
    fn is_taken_from(&self, view: &View<'_, '_>, addr: Operand) -> bool {
        let Some(way) = view.way(addr) else {
            return true;
        };
        if let Start::Value(root) = way.root
            && let Some(inst) = view.body.def(root)
            && matches!(view.body.insts[inst].op, Op::Alloca { .. })
        {
            return true;
        }
        let is_it = |operand: Operand| view.way(operand).as_ref() == Some(&way);
        let mut insts = view.body.insts.iter_enumerated();
        insts.any(|(inst, data)| match data.op {
            Op::Load { addr } if is_it(addr) => {
                !view.uses(view.body.result(inst), None).takers.is_empty()
            }
            // `release(&list->head)`.
            Op::Call { args, .. } | Op::Invoke { args, .. } => {
                view.body.list(args).iter().any(|&arg| is_it(arg))
            }
            _ => false,
        })
    }

    /// Is such a structure freed by anybody but where its making fails?
    fn is_released(&self, structure: StrId) -> bool {
        let mut releases = self.facts.released.get(&structure).into_iter().flatten();
        let made = &self.facts.made_structures[&structure];
        releases
            .any(|release| !release.is_around && !made.iter().any(|made| made.0 == release.func))
    }

    /// The structure behind a parameter, if the program makes such structures on the heap.
    fn made_structure(&self, view: &View<'_, '_>, value: ValueId) -> Option<StrId> {
        let ty = view.owners.structure(Operand::value(value))?;
        let name = drip_pointer::owners::structure_name(view.context.program, ty)?;
        let is_made = self.facts.made_structures.contains_key(&name);
        is_made.then_some(name)
    }

    fn inspect(
        &self,
        view: &View<'s, 'c>,
        n: usize,
        value: ValueId,
        structure: StrId,
    ) -> Option<Unreleased> {
        let uses = view.uses(value, None);
        let program = view.context.program;
        let (name, function) = (program.strings.get(structure), program.func_name(view.func));
        tracing::trace!(name, function, taking = ?uses.takers, "gets");
        let index = u16::try_from(n).ok()?;
        let freeing = self.freeing(view, &uses);
        let parts = self.freed_parts(view, value, &uses);
        let found = match freeing.is_empty() {
            false => {
                let taken: Vec<InstId> = uses.takers.iter().map(|taker| taker.0).collect();
                let inst = Ways::new(view, value).halfway(&taken, &parts)?;
                (inst, true)
            }
            true => {
                let mut others = uses.handed.clone();
                others.retain(|(call, _)| !parts.contains(call));
                let last = *parts.last()?;
                let is_lost = match self.is_released(structure) {
                    false => {
                        uses.taking.is_none() && !self.is_written(view, &uses.through, &others)
                    }
                    // Who frees the same parts frees it as well; and who keeps it before would keep the dangling parts.
                    true => {
                        let behind = |inst: InstId| !view.is_before(inst, last);
                        let through = uses.through.iter().copied().filter(|&inst| behind(inst));
                        others.retain(|(call, _)| behind(*call));
                        let mut takers = uses.takers.iter();
                        !takers.any(|taker| behind(taker.0) && !parts.contains(&taker.0))
                            && self.is_against_habit(view, &uses, structure)
                            && !self.is_written(view, &through.collect::<Vec<_>>(), &others)
                    }
                };
                if !uses.aliases.is_empty() || !is_lost {
                    return None;
                }
                (last, false)
            }
        };
        let (inst, is_halfway) = found;
        (!self.callers_know(view.func, index, MAX_DEPTH)).then_some(Unreleased {
            structure,
            func: view.func,
            inst,
            is_halfway,
        })
    }

    /// Calls that free what fields of the structure hold and leave the pointers there.
    fn freed_parts(&self, view: &View<'_, '_>, value: ValueId, uses: &Uses) -> Vec<InstId> {
        let mut parts: Vec<InstId> = Vec::new();
        for &inst in &uses.through {
            if let Op::Load { addr } = view.body.insts[inst].op
                && let Some(place @ Place::Field(_)) = view.place(addr)
                && !self.is_stored(view, place)
            {
                let part = view.uses(view.body.result(inst), None);
                let is_freed = part.handed.iter().any(|&(call, n)| {
                    let (Op::Call { args, .. } | Op::Invoke { args, .. }) =
                        view.body.insts[call].op
                    else {
                        return false;
                    };
                    let argument = view.body.list(args).get(usize::from(n));
                    let is_it = argument.is_some_and(|&a| view.is_same(a, view.body.result(inst)));
                    let summary = view.summary(call).filter(|_| is_it);
                    summary.is_some_and(|summary| releases(&summary, &ValuePath::arg(n)))
                });
                if part.taking == Some(Taking::Freed) && is_freed {
                    let freed = part.takers.iter().filter(|t| t.1 == Taking::Freed);
                    parts.extend(freed.map(|taker| taker.0));
                }
            }
        }
        for &(call, n) in &uses.handed {
            let (Op::Call { callee, args, .. } | Op::Invoke { callee, args, .. }) =
                view.body.insts[call].op
            else {
                continue;
            };
            let argument = view.body.list(args).get(usize::from(n));
            // Itself, or a structure inside of it.
            if argument.is_some_and(|&argument| view.base(argument) == Some(value))
                && let Some(&Const::Func(callee)) = view.body.const_of(callee)
                && self.dismantling.contains(&(callee, n))
            {
                parts.push(call);
            }
        }
        parts.sort_unstable();
        parts.dedup();
        parts
    }

    /// Does the function put something into the place?
    fn is_stored(&self, view: &View<'_, '_>, place: Place) -> bool {
        let stored = self.facts.stored.get(&place);
        stored.is_some_and(|funcs| funcs.contains(&view.func))
    }

    /// Is something written into the structure, here or in somebody who gets it?
    fn is_written(
        &self,
        view: &View<'_, '_>,
        through: &[InstId],
        handed: &[(InstId, u16)],
    ) -> bool {
        let mut stores = through.iter();
        let writes = |&(call, n): &(InstId, u16)| {
            view.summary(call).is_none_or(|summary| {
                let writes = summary.outcomes.iter().flat_map(|outcome| &outcome.writes);
                let mut bases = writes.map(|write| &write.cell.base);
                bases.any(|base| base.root == Root::Arg(n) && base.loads.is_empty())
            })
        };
        stores.any(|&inst| !matches!(view.body.insts[inst].op, Op::Load { .. }))
            || handed.iter().any(writes)
    }

    /// Is a function that nobody in sight uses declared to get a `void *`?
    fn is_offered_for_anything(&self, func: FuncId, n: u16) -> bool {
        let Some(view) = self.views.first() else {
            return false;
        };
        let program = view.context.program;
        if program.funcs[func].attrs.has(FuncAttrs::ADDRESS_TAKEN) {
            return false;
        }
        let declared = program.funcs[func].di_type.map(|ty| &program.di_types[ty]);
        let Some(DiType::Func { params, .. }) = declared else {
            return false;
        };
        let parameter = params.get(usize::from(n)).copied().flatten();
        parameter.is_some_and(|ty| matches!(program.di_types[ty], DiType::Pointer { to: None }))
    }

    /// Does a caller free the structure by itself, or is it one that can't be freed? Or one of those that it has got the structure from?
    fn callers_know(&self, func: FuncId, n: u16, depth: usize) -> bool {
        // Whom nobody in sight calls or registers may be given what others free, whatever it is to them.
        if !self.calls.contains_key(&func) && self.is_offered_for_anything(func, n) {
            return true;
        }
        let calls = self.calls.get(&func).into_iter().flatten();
        let same: FxHashSet<(FuncId, InstId)> = calls
            .clone()
            .map(|&(caller, call)| (self.views[caller].func, call))
            .collect();
        let mut arguments = calls.filter_map(|&(caller, call)| {
            let view = &self.views[caller];
            let (Op::Call { args, .. } | Op::Invoke { args, .. }) = view.body.insts[call].op else {
                return None;
            };
            Some((view, call, *view.body.list(args).get(usize::from(n))?))
        });
        arguments.any(|(view, call, arg)| {
            // Who passes null has no structure to free.
            let Some(value) = arg.as_value() else {
                return !matches!(view.body.const_of(arg), Some(Const::Null));
            };
            let def = view.body.def(value).map(|inst| view.body.insts[inst].op);
            let is_inside = matches!(def, Some(Op::PtrAdd { .. } | Op::Alloca { .. }));
            // `s->class->release(s->stream); free(s->stream);`
            let names = view.read_again(value).into_iter().chain([value]);
            let takers: Vec<_> = names
                .flat_map(|name| view.uses(name, Some(call)).takers)
                .collect();
            // The same destructor elsewhere knows no more than here; nor does who frees it on other ways.
            let is_same = |inst: InstId| {
                same.contains(&(view.func, inst)) || view.is_instead(value, inst, call)
            };
            let mut others = takers.iter().filter(|taker| !is_same(taker.0));
            let handed_on = view.body.as_param(value).filter(|_| depth > 0);
            is_inside
                || others.any(|taker| taker.1 == Taking::Freed)
                || handed_on
                    .and_then(|n| u16::try_from(n).ok())
                    .is_some_and(|n| self.callers_know(view.func, n, depth - 1))
        })
    }
}

/// The ways through one function.
struct Ways<'a, 's, 'c> {
    view: &'a View<'s, 'c>,
    value: ValueId,
    cfg: &'a Cfg,
}

impl<'a, 's, 'c> Ways<'a, 's, 'c> {
    fn new(view: &'a View<'s, 'c>, value: ValueId) -> Self {
        Ways {
            view,
            value,
            cfg: view.cfg(),
        }
    }

    /// A return that is reached without any of `taken`, by the failure of a function alone.
    fn halfway(&self, taken: &[InstId], parts: &[InstId]) -> Option<InstId> {
        let body = self.view.body;
        let blocks = |insts: &[InstId]| -> Vec<BlockId> {
            insts
                .iter()
                .filter_map(|&inst| body.block_of(inst))
                .collect()
        };
        let taken = blocks(taken);
        let frees: FxHashSet<BlockId> = below(self.cfg.reversed_graph(), &taken, usize::MAX);
        let parts = blocks(parts);
        // Every way that a block lies on: from the entry, past no free.
        let mut seen: FxHashSet<(BlockId, bool)> = FxHashSet::default();
        // Who returns nothing can't tell his callers that the structure is still theirs. Reasons of its own may be known to them.
        let leaves = |&block: &BlockId| {
            let mut succs = self.cfg.succs(block).iter();
            self.cfg.is_reachable(block) && succs.any(|succ| !frees.contains(succ))
        };
        let mut leaving = frees
            .iter()
            .filter(|block| !taken.contains(block) && leaves(block));
        let is_silent = self.returns_nothing()
            && leaving.all(|&block| self.is_null_test(block) || self.is_failure_of_library(block));
        let mut open = vec![(self.cfg.entry(), false)];
        while let Some((block, is_begun)) = open.pop() {
            if taken.contains(&block) || !frees.contains(&block) || !seen.insert((block, is_begun))
            {
                continue;
            }
            let is_begun = is_begun || parts.contains(&block);
            for &succ in self.cfg.succs(block) {
                if frees.contains(&succ) {
                    open.push((succ, is_begun));
                } else if is_begun && self.is_failure(block)
                    || is_silent && self.is_failure_of_library(block)
                {
                    return self.return_behind(succ);
                }
            }
        }
        None
    }

    /// The first return behind a block.
    fn return_behind(&self, block: BlockId) -> Option<InstId> {
        let body = self.view.body;
        let reached = below(self.cfg.graph(), &[block], usize::MAX);
        let mut returns: Vec<InstId> = reached
            .into_iter()
            .map(|block| body.terminator(block))
            .filter(|&inst| matches!(body.insts[inst].op, Op::Ret { .. }))
            .collect();
        returns.sort_unstable();
        returns.first().copied()
    }

    fn returns_nothing(&self) -> bool {
        let program = self.view.context.program;
        let ty = program.types.get(program.funcs[self.view.func].ty);
        matches!(ty, Type::Func { ret, .. } if matches!(program.types.get(*ret), Type::Void))
    }

    /// Does a block look whether there is a structure at all?
    fn is_null_test(&self, block: BlockId) -> bool {
        let body = self.view.body;
        let Op::CondBr { cond, .. } = body.insts[body.terminator(block)].op else {
            return false;
        };
        let def = cond.as_value().and_then(|cond| body.def(cond));
        let Some(Op::Cmp { a, b, .. }) = def.map(|inst| body.insts[inst].op) else {
            return false;
        };
        self.view.is_same(a, self.value) && self.view.is_null(b)
    }

    /// Does a branch depend on nothing but on what functions returned that know nothing of the structure?
    fn is_failure(&self, block: BlockId) -> bool {
        self.asked(block).is_some_and(|calls| !calls.is_empty())
    }

    /// The same, of functions outside of the program: they know nothing of modes and numbers that the program keeps.
    fn is_failure_of_library(&self, block: BlockId) -> bool {
        let body = self.view.body;
        let is_outside = |&call: &InstId| {
            let (Op::Call { callee, args, .. } | Op::Invoke { callee, args, .. }) =
                body.insts[call].op
            else {
                return false;
            };
            let funcs = &self.view.context.program.funcs;
            let is_library = matches!(body.const_of(callee), Some(&Const::Func(callee)) if funcs[callee].body.is_none());
            is_library
                && !body
                    .list(args)
                    .iter()
                    .any(|&arg| self.is_found_in_structure(arg))
        };
        let calls = self.asked(block);
        calls.is_some_and(|calls| !calls.is_empty() && calls.iter().all(is_outside))
    }

    /// The calls that a branch depends on, if it depends on nothing else, and none of them gets the structure.
    fn asked(&self, block: BlockId) -> Option<Vec<InstId>> {
        let body = self.view.body;
        let cond = match body.insts[body.terminator(block)].op {
            Op::CondBr { cond, .. } => cond,
            Op::Switch { value, .. } => value,
            _ => return None,
        };
        let mut seen = FxHashSet::default();
        let mut open = vec![cond];
        let mut calls = Vec::new();
        while let Some(operand) = open.pop() {
            let Some(value) = operand.as_value() else {
                continue;
            };
            if !seen.insert(value) {
                continue;
            }
            let inst = body.def(value)?;
            match body.insts[inst].op {
                Op::Cmp { a, b, .. } | Op::Binary { a, b, .. } => open.extend([a, b]),
                Op::Cast { value, .. } => open.push(value),
                Op::Call { args, .. } => {
                    calls.push(inst);
                    let args = body.list(args);
                    if args.iter().any(|&arg| self.is_of_structure(arg)) {
                        return None;
                    }
                }
                _ => return None,
            }
        }
        Some(calls)
    }

    /// Is it the structure or read from it?
    fn is_found_in_structure(&self, operand: Operand) -> bool {
        let body = self.view.body;
        let def = operand.as_value().and_then(|value| body.def(value));
        match def.map(|inst| body.insts[inst].op) {
            Some(Op::Load { addr }) => self.is_found_in_structure(addr),
            Some(Op::PtrAdd { base, .. }) => self.is_found_in_structure(base),
            Some(Op::Cast { value, .. }) => self.is_found_in_structure(value),
            _ => self.is_of_structure(operand),
        }
    }

    /// Is it the structure, or the address of a part of it?
    fn is_of_structure(&self, operand: Operand) -> bool {
        let body = self.view.body;
        let mut at = operand;
        loop {
            let Some(value) = at.as_value() else {
                return false;
            };
            if value == self.value {
                return true;
            }
            at = match body.def(value).map(|inst| body.insts[inst].op) {
                Some(Op::PtrAdd { base, .. }) => base,
                Some(Op::Cast { value, .. }) => value,
                _ => return false,
            };
        }
    }
}
