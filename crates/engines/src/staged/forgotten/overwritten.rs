//! Question: is a field or a variable overwritten although it holds a block of its own?
//!
//! `if (s->name) s->name = NULL;` loses what `s->name` held, whoever put it there, if the program puts nothing but new blocks into that
//! field and nobody else knows them. What is seen of it in one function:
//!
//! - a store of null or of a new block into the place (*S*);
//! - that the place holds something before: a test against null that was answered so, a read or write through the old pointer, or an
//!   earlier store of a new block; and a way from there to *S* on which nothing can have emptied the place: no other store into it,
//!   no call of somebody who frees or empties it; or the function keeps the old pointer in a variable of its own (`old = t->rows; t->rows =
//!   new;`) on a way without another store: whoever does so has something to keep;
//! - nobody takes the old pointer, neither before nor after *S*, on any way that passes it.
//!
//! Known false negatives: an old pointer that is taken under another condition (`if (s->owned) free(s->name); s->name = NULL;` may be
//! right), loops that free and overwrite, setters that never look at what was there.

use drip_models::{Outcome, Root, Value, ValuePath};
use drip_pointer::Callees;
use drip_program::{BlockId, Cfg, CmpPred, EdgeId, FuncId, InstId, Op, Operand, Type, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::interface::constant;
use super::care::below;
use super::facts::{Facts, Place, Taking};
use super::in_use::is_in_use;
use super::replaced::Replacements;
use super::view::{CellWay, Start, View, returns, taking_of};

/// Calls down to somebody who may empty the place.
const MAX_DEPTH: usize = 6;

/// A store that loses what a place held.
pub struct Overwriting {
    pub place: Place,
    pub func: FuncId,
    pub store: InstId,
    /// Nothing in the function says that the place held something.
    pub is_blind: bool,
}

/// A store, or a call that stores by an address (`asprintf(&s->name, …)`), of null or of a new block.
struct Put {
    inst: InstId,
    addr: Operand,
    place: Place,
    is_new: bool,
}

/// The stores of a function that lose something.
pub fn overwritings(
    view: &View<'_, '_>,
    facts: &Facts,
    replacements: &Replacements<'_, '_>,
) -> Vec<Overwriting> {
    let mut found = Vec::new();
    for put in puts(view, facts) {
        let (store, place) = (put.inst, put.place);
        let Some(way) = view.way(put.addr) else {
            continue;
        };
        let cfg = view.cfg();
        let mut search = Search::new(view, facts, cfg, place, &way, store);
        let mut is_seen = search.is_lost(Search::has_evidence)
            || put.is_new && search.is_lost(Search::is_kept_aside);
        // A loop need not make any turn, and a count may tell: `for (i < n) use(s->tab[i]); if (n == 0) s->tab = malloc(…);`
        search.leaves_loops = true;
        is_seen = is_seen
            || !replacements.is_guarded_behind_loops(view, cfg, place, store)
                && search.is_lost(Search::has_evidence);
        search.leaves_loops = false;
        let is_blind = !is_seen
            && search.is_lost(|search| {
                let is_filled = match place {
                    Place::Variable(_) => replacements.is_filled(view, cfg, place, store),
                    _ => {
                        let is_seen = search.is_looked_at()
                            || put.is_new && view.is_found(&way)
                            || !put.is_new && is_in_use(view, cfg, &way, store);
                        is_seen && replacements.is_forgotten(view, cfg, place, store)
                    }
                };
                is_filled && search.reaches_store(search.start(&way))
            });
        if is_seen || is_blind {
            found.push(Overwriting {
                place,
                func: view.func,
                store,
                is_blind,
            });
        }
    }
    found
}

/// What a function puts into owners.
fn puts(view: &View<'_, '_>, facts: &Facts) -> Vec<Put> {
    let is_owner = |place: &Place| facts.made.contains_key(place) && facts.is_owner(*place);
    let mut found = Vec::new();
    for (inst, data) in view.body.insts.iter_enumerated() {
        match data.op {
            Op::Store { addr, value } => {
                let is_own = |n| facts.own_parameters.contains(&(view.func, n));
                let place = view.place(addr).filter(|place| {
                    is_owner(place)
                        && (view.is_null_or_new(value) || view.parameter(value).is_some_and(is_own))
                });
                let is_new = !view.is_null(value);
                found.extend(place.map(|place| Put {
                    inst,
                    addr,
                    place,
                    is_new,
                }));
            }
            Op::Call { args, .. } | Op::Invoke { args, .. } => {
                for (n, &addr) in (0u16..).zip(view.body.list(args)) {
                    let place = view.place(addr).filter(|place| {
                        is_owner(place)
                            && !view.owners.is_pointer_itself(addr)
                            && is_filled_by(view, inst, n)
                    });
                    found.extend(place.map(|place| Put {
                        inst,
                        addr,
                        place,
                        is_new: true,
                    }));
                }
            }
            _ => {}
        }
    }
    found
}

/// Does a call put a new block where this argument points to, whatever was there, and leave that to itself?
fn is_filled_by(view: &View<'_, '_>, call: InstId, n: u16) -> bool {
    let Some(summary) = view.summary(call) else {
        return false;
    };
    let is_old = |path: &ValuePath| path.root == Root::Arg(n);
    let fills = |outcome: &Outcome| {
        let mut writes = outcome.writes.iter();
        writes.any(|write| {
            let is_here = write.cell.base == ValuePath::arg(n)
                && write.cell.offset.is_exact()
                && write.cell.offset.base == 0;
            is_here && matches!(write.value, Value::Fresh { .. })
        })
    };
    !returns(&summary, is_old)
        && taking_of(&summary, is_old).is_none()
        && summary.outcomes.iter().any(fills)
}

struct Search<'a, 's, 'c> {
    view: &'a View<'s, 'c>,
    cfg: &'a Cfg,
    store: InstId,
    /// Somebody frees what the place holds: what unknown code gets to see of it stays there.
    is_claimed: bool,
    /// Pointers that were read from the cell.
    loads: Vec<ValueId>,
    /// Instructions after which the cell may be empty or another one.
    barriers: FxHashSet<InstId>,
    /// Those of them that are calls.
    calls: FxHashSet<InstId>,
    /// Where the pointer that leads to the cell is made: another one from there on.
    roots: Vec<InstId>,
    /// Other stores into the cell.
    others: Vec<InstId>,
    /// Those of new blocks.
    filled: Vec<InstId>,
    /// What is found in a loop is there when the loop is left.
    leaves_loops: bool,
}

impl<'a, 's, 'c> Search<'a, 's, 'c> {
    fn new(
        view: &'a View<'s, 'c>,
        facts: &Facts,
        cfg: &'a Cfg,
        place: Place,
        way: &CellWay,
        store: InstId,
    ) -> Self {
        let mut search = Search {
            view,
            cfg,
            store,
            is_claimed: facts.freed.contains_key(&place),
            loads: Vec::new(),
            barriers: FxHashSet::default(),
            calls: FxHashSet::default(),
            roots: Vec::new(),
            others: Vec::new(),
            filled: Vec::new(),
            leaves_loops: false,
        };
        let emptying = facts.emptying(place);
        let mut known: FxHashMap<FuncId, bool> = FxHashMap::default();
        for (inst, data) in view.body.insts.iter_enumerated() {
            match data.op {
                Op::Load { addr } if view.way(addr).as_ref() == Some(way) => {
                    search.loads.push(view.body.result(inst));
                }
                Op::Store { addr, value } if inst != store => match view.way(addr) {
                    Some(other) if other == *way => {
                        search.barriers.insert(inst);
                        search.others.push(inst);
                        if view.maker(value).is_some() {
                            search.filled.push(inst);
                        }
                    }
                    Some(other) if leads_to(&other, way) => {
                        search.barriers.insert(inst);
                    }
                    _ => {}
                },
                Op::Call { .. } | Op::Invoke { .. }
                    if search.may_empty(inst, place, &emptying, &mut known) =>
                {
                    search.calls.insert(inst);
                }
                _ => {}
            }
        }
        search.barriers.extend(&search.calls);
        // Another turn of a loop, another object.
        if let Start::Value(value) = way.root {
            search.roots.extend(view.body.def(value));
            search.barriers.extend(&search.roots);
        }
        search
    }

    /// Can a call leave the place empty?
    fn may_empty(
        &self,
        call: InstId,
        place: Place,
        emptying: &FxHashSet<FuncId>,
        known: &mut FxHashMap<FuncId, bool>,
    ) -> bool {
        let view = self.view;
        let (Op::Call { args, .. } | Op::Invoke { args, .. }) = view.body.insts[call].op else {
            return false;
        };
        let args = view.body.list(args);
        if args.iter().any(|&arg| view.place(arg) == Some(place)) {
            return true;
        }
        let Callees::Known(callees) = view.context.graph.callees(view.func, call) else {
            return false;
        };
        callees.iter().any(|&callee| {
            *known.entry(callee).or_insert_with(|| {
                let reached = below(&view.context.graph.graph, &[callee], MAX_DEPTH);
                emptying.iter().any(|func| reached.contains(func))
            })
        })
    }

    /// `is_full`: does the place hold something when the store is come to?
    fn is_lost(&self, is_full: impl Fn(&Self) -> bool) -> bool {
        let Some(at) = self.view.body.block_of(self.store) else {
            return false;
        };
        if !self.cfg.is_reachable(at) || self.is_taken_near(at) || self.is_first_of_count(at) {
            return false;
        }
        is_full(self)
    }

    /// `if (s->size == 0) s->tab = malloc(…); else s->tab = realloc(s->tab, …);`: who grows what is there on the other side of a count knows
    /// that there is nothing where that is zero.
    fn is_first_of_count(&self, mut block: BlockId) -> bool {
        let body = self.view.body;
        let dominators = self.cfg.dominators();
        while let Some(above) = dominators.idom(block) {
            if let Op::CondBr { cond, then, els } = body.insts[body.terminator(above)].op {
                let other = match self.where_none(cond) {
                    Some(true) if then == block => els,
                    Some(false) if els == block => then,
                    _ => return false,
                };
                return self.loads.iter().any(|&load| {
                    let takers = self.view.uses(load, None).takers;
                    let mut blocks = takers.iter().filter_map(|taker| body.block_of(taker.0));
                    blocks.any(|taker| self.cfg.dominates(other, taker))
                });
            }
            block = above;
        }
        false
    }

    /// Is the condition about a number in a field, and on which side is that zero: where it holds?
    fn where_none(&self, cond: Operand) -> Option<bool> {
        let (program, body) = (self.view.context.program, self.view.body);
        let def = |operand: Operand| Some(body.insts[body.def(operand.as_value()?)?]);
        let Op::Cmp { pred, a, b } = def(cond)?.op else {
            return None;
        };
        let mut data = def(a)?;
        while let Op::Cast { value, .. } = data.op {
            data = def(value)?;
        }
        let Op::Load { addr } = data.op else {
            return None;
        };
        let is_number = matches!(program.types.get(data.ty), Type::Int(_));
        let is_field = matches!(self.view.place(addr), Some(Place::Field(_)));
        let is_zero = constant(program, body, b) == Some(0);
        match pred {
            _ if !is_number || !is_field || !is_zero => None,
            CmpPred::Eq => Some(true),
            CmpPred::Ne => Some(false),
            _ => None,
        }
    }

    /// From where on the cell is the one in question.
    fn start(&self, way: &CellWay) -> From {
        let def = match way.root {
            Start::Value(value) => self.view.body.def(value),
            Start::Variable(_) => None,
        };
        def.map_or(From::Block(self.cfg.entry()), From::Inst)
    }

    fn has_evidence(&self) -> bool {
        let mut evidence = self.evidence().into_iter();
        evidence.any(|start| self.reaches_store(start))
    }

    /// Does the function keep the old pointer in a variable until the store is come to, whatever it calls in between?
    fn is_kept_aside(&self) -> bool {
        let body = self.view.body;
        let is_kept = |load: ValueId| {
            let mut users = self.view.users(load).iter();
            users.any(|&user| matches!(body.insts[user].op, Op::Bind { .. }))
        };
        let between = self.barriers.difference(&self.calls).copied().collect();
        self.loads.iter().any(|&load| {
            let read = body.def(load).filter(|_| is_kept(load));
            read.is_some_and(|read| self.reaches_past(From::Inst(read), &between))
        })
    }

    /// Does somebody take the old pointer on a way through the store? What is taken before it or behind it, in the same turn of a loop, is
    /// another block if a store into the cell always comes in between (`if (s->name) { free(s->name); s->name = NULL; } s->name =
    /// strdup(text); …`). One that is taken on another way (`if (s->size == 0) s->tab = malloc(…); else grow(s);`) tells that there may
    /// be none here.
    fn is_taken_near(&self, store: BlockId) -> bool {
        let body = self.view.body;
        let behind = below(self.cfg.graph(), self.cfg.succs(store), usize::MAX);
        let before = below(self.cfg.reversed_graph(), self.cfg.preds(store), usize::MAX);
        // What is read where no way leads to the store is not what that overwrites, nor is what is read of another object.
        let comes_before = |load: &&ValueId| {
            let read = body.def(**load);
            read.is_none_or(|read| self.comes(read, self.store, |_| true, &self.roots))
        };
        self.loads.iter().filter(comes_before).any(|&load| {
            let takers = self.view.uses(load, None).takers;
            let takers = takers
                .iter()
                .filter(|taker| !(self.is_claimed && taker.1 == Taking::Lent));
            let mut takers = takers.filter_map(|&(inst, _)| Some((inst, body.block_of(inst)?)));
            takers.any(|(taker, block)| {
                let is_near = block == store || behind.contains(&block) || before.contains(&block);
                is_near && !self.is_another(load, taker)
            })
        })
    }

    /// Is what a taker gets another block than the one in the cell when the store is come to: one that was there before, or that is there behind?
    fn is_another(&self, load: ValueId, taker: InstId) -> bool {
        let Some(read) = self.view.body.def(load) else {
            return false;
        };
        let forwards = |edge| !self.cfg.is_back_edge(edge);
        let is_replaced = |inst| !self.comes(inst, self.store, |_| true, &self.others);
        let is_in_order = || {
            self.comes(taker, self.store, forwards, &[])
                || self.comes(self.store, read, forwards, &[])
        };
        is_replaced(taker) && is_replaced(read) && is_in_order()
    }

    /// Does a way over such edges lead from one instruction to the other, on which none of these comes?
    fn comes(
        &self,
        from: InstId,
        to: InstId,
        follows: impl Fn(EdgeId) -> bool,
        without: &[InstId],
    ) -> bool {
        let body = self.view.body;
        let passes = |block: BlockId, after: Option<InstId>| {
            let mut insts = body.block_insts(block);
            let met = insts.find(|&inst| {
                let is_met = inst == to || without.contains(&inst);
                is_met && after.is_none_or(|after| inst > after)
            });
            match met {
                Some(inst) if inst == to => Passing::Reached,
                Some(_) => Passing::Stopped,
                None => Passing::Through,
            }
        };
        let Some(first) = body.block_of(from) else {
            return false;
        };
        let mut seen: FxHashSet<BlockId> = FxHashSet::default();
        let mut open = vec![(first, Some(from))];
        while let Some((block, after)) = open.pop() {
            match passes(block, after) {
                Passing::Reached => return true,
                Passing::Stopped => continue,
                Passing::Through => {}
            }
            for edge in self
                .cfg
                .out_edges(block)
                .iter()
                .filter(|&edge| follows(edge))
            {
                let next = self.cfg.target(edge);
                if seen.insert(next) {
                    open.push((next, None));
                }
            }
        }
        false
    }

    /// From where on is it known that the cell holds something?
    fn evidence(&self) -> Vec<From> {
        let body = self.view.body;
        let mut starts: Vec<From> = self.filled.iter().map(|&inst| From::Inst(inst)).collect();
        for &load in &self.loads {
            let through = self.view.dereferences(load);
            starts.extend(through.into_iter().map(From::Inst));
            for &user in self.view.users(load) {
                if let Some(full) = self.side_that_is_full(user) {
                    starts.extend(full.into_iter().map(From::Block));
                }
            }
        }
        starts.retain(|start| match *start {
            From::Inst(inst) => body.block_of(inst).is_some(),
            From::Block(_) => true,
        });
        starts
    }

    /// Does the function look at what was there when it was called, on some way? Then there may have been something.
    fn is_looked_at(&self) -> bool {
        let defs = self
            .loads
            .iter()
            .filter_map(|&load| self.view.body.def(load));
        let loads: FxHashSet<InstId> = defs.collect();
        let mut seen: FxHashSet<BlockId> = FxHashSet::default();
        let mut open = vec![self.cfg.entry()];
        while let Some(block) = open.pop() {
            if !seen.insert(block) {
                continue;
            }
            let mut is_stopped = false;
            for inst in self.view.body.block_insts(block) {
                if loads.contains(&inst) {
                    return true;
                }
                if inst == self.store || self.barriers.contains(&inst) {
                    is_stopped = true;
                    break;
                }
            }
            if !is_stopped {
                open.extend(self.cfg.succs(block));
            }
        }
        false
    }

    /// Where a comparison of the old pointer with null says that it is none.
    fn side_that_is_full(&self, cmp: InstId) -> Option<Vec<BlockId>> {
        let body = self.view.body;
        let Op::Cmp { pred, a, b } = body.insts[cmp].op else {
            return None;
        };
        if !self.view.is_null(a) && !self.view.is_null(b) {
            return None;
        }
        let users = self.view.users(body.result(cmp)).iter();
        let sides = users.filter_map(|&user| match (body.insts[user].op, pred) {
            (Op::CondBr { then, els, .. }, CmpPred::Ne) if !self.complains(then, els) => Some(then),
            (Op::CondBr { then, els, .. }, CmpPred::Eq) if !self.complains(els, then) => Some(els),
            _ => None,
        });
        Some(sides.collect())
    }

    /// `ASSERT(s->data == NULL);`, where that only reports in which line of the source it was not so, and goes on as on the other side: who
    /// wrote it does not believe it.
    fn complains(&self, side: BlockId, other: BlockId) -> bool {
        let (program, body) = (self.view.context.program, self.view.body);
        let mut says_where = false;
        let is_told = body
            .block_insts(side)
            .all(|inst| match body.insts[inst].op {
                Op::Call { callee, args, .. } => {
                    let line = body.insts[inst].loc.map(|loc| body.locs[loc].line);
                    let line = line.map(i64::from);
                    let args = body.list(args);
                    says_where |= args
                        .iter()
                        .any(|&arg| line.is_some() && constant(program, body, arg) == line);
                    let mut all = args.iter().chain([&callee]);
                    all.all(|operand| operand.as_value().is_none())
                }
                Op::Br { target } => target == other,
                Op::Bind { .. } => true,
                _ => false,
            });
        is_told && says_where
    }

    /// The side of a branch that an old pointer which is not null can't take.
    fn excluded(&self, block: BlockId) -> Option<BlockId> {
        let body = self.view.body;
        let Op::CondBr { cond, then, els } = body.insts[body.terminator(block)].op else {
            return None;
        };
        let cmp = body.def(cond.as_value()?)?;
        let Op::Cmp { a, b, .. } = body.insts[cmp].op else {
            return None;
        };
        let is_old = |operand: Operand| {
            let value = operand.as_value();
            value.is_some_and(|value| self.loads.contains(&value))
        };
        if !is_old(a) && !is_old(b) {
            return None;
        }
        let full = self.side_that_is_full(cmp)?;
        match (full.contains(&then), full.contains(&els)) {
            (true, false) => Some(els),
            (false, true) => Some(then),
            _ => None,
        }
    }

    /// Is there a way to the store on which the cell keeps what it has?
    fn reaches_store(&self, start: From) -> bool {
        self.reaches_past(start, &self.barriers)
    }

    fn reaches_past(&self, start: From, barriers: &FxHashSet<InstId>) -> bool {
        let body = self.view.body;
        let mut seen: FxHashSet<BlockId> = FxHashSet::default();
        let mut open: Vec<BlockId> = Vec::new();
        match start {
            From::Block(block) => open.push(block),
            From::Inst(inst) => {
                let Some(block) = body.block_of(inst) else {
                    return false;
                };
                match self.passes(block, Some(inst), barriers) {
                    Passing::Reached => return true,
                    Passing::Stopped => return false,
                    Passing::Through => open.extend(self.next(block)),
                }
            }
        }
        while let Some(block) = open.pop() {
            if !seen.insert(block) {
                continue;
            }
            match self.passes(block, None, barriers) {
                Passing::Reached => return true,
                Passing::Stopped => {}
                Passing::Through => open.extend(self.next(block)),
            }
        }
        false
    }

    /// What comes next in the same turn of a loop around the store: what a counter tells apart from turn to turn is not known here.
    fn next(&self, block: BlockId) -> impl Iterator<Item = BlockId> + '_ {
        let excluded = self.excluded(block);
        let edges = self.cfg.out_edges(block).iter();
        let forwards =
            edges.filter(|&edge| !self.cfg.is_back_edge(edge) || self.is_before_store(edge));
        let succs = forwards.map(|edge| self.cfg.target(edge));
        succs.filter(move |&succ| Some(succ) != excluded)
    }

    /// Does an edge lead back to the head of a loop that the store is not in? The loop has to be left to come to the store.
    fn is_before_store(&self, edge: EdgeId) -> bool {
        let loops = self.cfg.loops();
        let around = loops
            .headed_by(self.cfg.target(edge))
            .filter(|_| self.leaves_loops);
        let store = self.view.body.block_of(self.store);
        around.is_some_and(|id| !store.is_some_and(|store| loops.contains(id, store)))
    }

    fn passes(
        &self,
        block: BlockId,
        after: Option<InstId>,
        barriers: &FxHashSet<InstId>,
    ) -> Passing {
        for inst in self.view.body.block_insts(block) {
            if after.is_some_and(|after| inst.index() <= after.index()) {
                continue;
            }
            if inst == self.store {
                return Passing::Reached;
            }
            if barriers.contains(&inst) {
                return Passing::Stopped;
            }
        }
        Passing::Through
    }
}

#[derive(Clone, Copy)]
enum From {
    Inst(InstId),
    Block(BlockId),
}

enum Passing {
    Reached,
    Stopped,
    Through,
}

/// Is a cell on the way to another one?
fn leads_to(cell: &CellWay, other: &CellWay) -> bool {
    cell.root == other.root
        && cell.offsets.len() < other.offsets.len()
        && other.offsets.starts_with(&cell.offsets)
}
