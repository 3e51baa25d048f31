//! What becomes of a value in one function, and what can be put into a place?

use std::cell::{OnceCell, RefCell};
use std::sync::Arc;

use drip_flow::args_of;
use drip_models::{Certainty, Class, Outcome, Root, Subject, Summary, Value, ValuePath};
use drip_pointer::Callees;
use drip_pointer::owners::Owners;
use drip_program::{
    BinaryOp, Body, Cfg, Const, FuncId, GlobalId, InstId, Op, Operand, Type, ValueId,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::calls::{CallContext, Open, call_summary};
use super::care::below;
use super::facts::{Made, Place, Taking};

/// Loads on the way to a cell; beyond it two cells are not known to be the same.
const MAX_LOADS: usize = 4;

/// One function, with the users of its values.
pub struct View<'s, 'c> {
    pub context: &'s CallContext<'c>,
    pub func: FuncId,
    pub body: &'s Body,
    pub owners: Owners<'s>,
    users: FxHashMap<ValueId, Vec<InstId>>,
    cfg: OnceCell<Cfg>,
    summaries: RefCell<FxHashMap<InstId, Option<Arc<Summary>>>>,
    /// Variables of the function's own: what happens to what is in them?
    pub(super) lending: RefCell<FxHashMap<ValueId, Option<Taking>>>,
}

/// What is done with a value.
#[derive(Default)]
pub struct Uses {
    /// The most that happens to it besides being looked at.
    pub taking: Option<Taking>,
    /// The instructions that take it, or put it into some other place.
    pub takers: Vec<(InstId, Taking)>,
    /// Other places that it is put into.
    pub aliases: FxHashSet<Place>,
    /// Loads, stores and copies through it.
    pub through: Vec<InstId>,
    /// Calls that get it, and as which argument.
    pub handed: Vec<(InstId, u16)>,
}

/// A cell by the way that leads to it: equal ways lead to equal cells as long as nothing on them changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellWay {
    pub root: Start,
    /// An offset per load, the cell's own last.
    pub offsets: Vec<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    Value(ValueId),
    Variable(GlobalId),
}

impl<'s, 'c> View<'s, 'c> {
    pub fn new(context: &'s CallContext<'c>, func: FuncId, body: &'s Body) -> Self {
        let mut users: FxHashMap<ValueId, Vec<InstId>> = FxHashMap::default();
        for inst in body.insts.ids() {
            body.for_each_operand(inst, |operand| {
                if let Some(value) = operand.as_value() {
                    users.entry(value).or_default().push(inst);
                }
            });
        }
        View {
            context,
            func,
            body,
            owners: Owners::new(context.program, body),
            users,
            cfg: OnceCell::new(),
            summaries: RefCell::default(),
            lending: RefCell::default(),
        }
    }

    pub fn users(&self, value: ValueId) -> &[InstId] {
        self.users.get(&value).map_or(&[], Vec::as_slice)
    }

    pub fn summary(&self, call: InstId) -> Option<Arc<Summary>> {
        if let Some(known) = self.summaries.borrow().get(&call) {
            return known.clone();
        }
        let open = &mut Open::default();
        let summary = call_summary(self.context, self.func, self.body, call, open);
        self.summaries.borrow_mut().insert(call, summary.clone());
        summary
    }

    /// The field or variable at an address.
    pub fn place(&self, addr: Operand) -> Option<Place> {
        if let Some(field) = self.owners.field(addr) {
            return Some(Place::Field(field));
        }
        match self.body.const_of(addr) {
            Some(&Const::Global { global, offset: 0 }) => Some(Place::Variable(global)),
            _ => None,
        }
    }

    /// The way to the cell at an address; nothing where an index is not constant.
    pub fn way(&self, addr: Operand) -> Option<CellWay> {
        let (mut addr, mut offset) = (addr, 0i64);
        let mut offsets = Vec::new();
        while offsets.len() < MAX_LOADS {
            if let Some(&Const::Global { global, offset: at }) = self.body.const_of(addr) {
                offsets.push(offset.wrapping_add(at));
                offsets.reverse();
                let root = Start::Variable(global);
                return Some(CellWay { root, offsets });
            }
            let value = addr.as_value()?;
            match self.body.def(value).map(|inst| self.body.insts[inst].op) {
                Some(Op::PtrAdd {
                    base,
                    offset: more,
                    indices,
                }) => {
                    if !self.body.scaled(indices).is_empty() {
                        return None;
                    }
                    (addr, offset) = (base, offset.wrapping_add(more));
                }
                Some(Op::Load { addr: from }) => {
                    offsets.push(offset);
                    (addr, offset) = (from, 0);
                }
                _ => {
                    offsets.push(offset);
                    offsets.reverse();
                    let root = Start::Value(value);
                    return Some(CellWay { root, offsets });
                }
            }
        }
        None
    }

    /// Is a value looked at and nothing else?
    pub fn is_only_read(&self, value: ValueId) -> bool {
        let uses = self.uses(value, None);
        uses.taking.is_none() && uses.aliases.is_empty()
    }

    /// The stores into a variable of the function that is good for nothing but one copy, with their offsets.
    pub fn only_filled_for(&self, source: Operand, copy: InstId) -> Option<Vec<(InstId, i64)>> {
        let body = self.body;
        let root = source.as_value()?;
        let Op::Alloca { .. } = body.insts[body.def(root)?].op else {
            return None;
        };
        let mut stores = Vec::new();
        let mut open = vec![(root, 0i64)];
        while let Some((value, at)) = open.pop() {
            for &user in self.users(value) {
                match body.insts[user].op {
                    Op::PtrAdd {
                        base,
                        offset,
                        indices,
                    } if base.as_value() == Some(value) && body.scaled(indices).is_empty() => {
                        open.push((body.result(user), at.wrapping_add(offset)));
                    }
                    Op::Store { value: stored, .. } if stored.as_value() != Some(value) => {
                        stores.push((user, at));
                    }
                    Op::MemSet { .. } | Op::Bind { .. } => {}
                    Op::Load { .. } if self.is_only_read(body.result(user)) => {}
                    // Whatever is constant is put there before.
                    Op::MemCopy { src, .. } if body.const_of(src).is_some() => {}
                    _ if user == copy => {}
                    Op::Call { .. } if self.fills_with_numbers(value, user) => {}
                    _ => return None,
                }
            }
        }
        Some(stores)
    }

    /// Does a call that gets the address of a variable leave nothing there that is a pointer, and not keep it (`sscanf(line, "%d", &s.n)`)?
    fn fills_with_numbers(&self, address: ValueId, call: InstId) -> bool {
        let is_it = |arg: &&Operand| arg.as_value() == Some(address);
        let args = args_of(self.body, call);
        let positions: Vec<u16> = (0u16..)
            .zip(args)
            .filter(|(_, arg)| is_it(arg))
            .map(|(n, _)| n)
            .collect();
        let Some(summary) = self.summary(call) else {
            return false;
        };
        let mut writes = summary.outcomes.iter().flat_map(|outcome| &outcome.writes);
        let is_pointer = |value: &Value| matches!(value, Value::Fresh { .. } | Value::Entry { .. });
        let is_kept = self.taken_by(call, &positions) != (None, false);
        !is_kept && !writes.any(|write| is_pointer(&write.value))
    }

    /// Is a cell in something that was found in memory, and was put there when it was complete?
    pub fn is_found(&self, way: &CellWay) -> bool {
        let Start::Value(root) = way.root else {
            return false;
        };
        let def = self.body.def(root).map(|inst| self.body.insts[inst].op);
        match def {
            // What others have put into the function's own variables may be new.
            Some(Op::Alloca { .. }) => false,
            Some(Op::Load { .. }) => true,
            // A cursor of a list.
            Some(Op::Phi { incoming }) if way.offsets.len() == 1 => {
                let inputs = self.body.incoming(incoming).iter();
                let mut defs = inputs.map(|input| self.body.def(input.value.as_value()?));
                defs.all(|def| {
                    def.is_some_and(|inst| matches!(self.body.insts[inst].op, Op::Load { .. }))
                })
            }
            _ => way.offsets.len() > 1,
        }
    }

    /// Other reads of the cell that a value was read from: what they yield is the same, as long as nobody has changed the cell.
    pub fn read_again(&self, value: ValueId) -> Vec<ValueId> {
        let addr = |inst: InstId| match self.body.insts[inst].op {
            Op::Load { addr } => Some(addr),
            _ => None,
        };
        let Some(read) = self.body.def(value) else {
            return Vec::new();
        };
        let Some(way) = addr(read).and_then(|addr| self.way(addr)) else {
            return Vec::new();
        };
        let others = self
            .body
            .insts
            .ids()
            .into_iter()
            .filter(|&inst| inst != read);
        let same = others
            .filter(|&inst| addr(inst).and_then(|addr| self.way(addr)).as_ref() == Some(&way));
        same.map(|inst| self.body.result(inst)).collect()
    }

    /// Has the function put a new block of its own into a cell, on every way to this read of it? One that comes later replaces the old.
    pub fn is_filled_before(&self, read: InstId, addr: Operand) -> bool {
        let (Some(way), Some(at)) = (self.way(addr), self.body.block_of(read)) else {
            return false;
        };
        let fills = self
            .body
            .insts
            .iter_enumerated()
            .filter(|(_, data)| match data.op {
                Op::Store { addr, value } => {
                    self.way(addr).as_ref() == Some(&way) && self.maker(value).is_some()
                }
                _ => false,
            });
        let mut cfg = None;
        let mut blocks = fills.filter_map(|(store, _)| Some((store, self.body.block_of(store)?)));
        blocks.any(|(store, block)| match block == at {
            true => store < read,
            false => cfg.get_or_insert_with(|| self.cfg()).dominates(block, at),
        })
    }

    /// The pointer that an address is made of.
    pub fn base(&self, addr: Operand) -> Option<ValueId> {
        let value = addr.as_value()?;
        match self.body.def(value).map(|inst| self.body.insts[inst].op) {
            Some(Op::PtrAdd { base, .. }) => self.base(base),
            _ => Some(value),
        }
    }

    /// The call that makes a value, if it is a new block.
    pub fn maker(&self, value: Operand) -> Option<Made> {
        let origins = self.body.origins(value);
        origins.into_iter().find_map(|origin| {
            let Some(call) = self.call(origin) else {
                let (made, _) = self.filled_variable(origin)?;
                return made.first().copied();
            };
            let index = own_block(&*self.summary(call)?)?;
            Some((self.func, call, index))
        })
    }

    /// Is it null or a new block, whatever way was taken?
    pub fn is_null_or_new(&self, value: Operand) -> bool {
        let mut origins = self.body.origins(value).into_iter();
        origins.all(|origin| {
            let summary = || self.summary(self.call(origin)?);
            self.is_null(origin)
                || summary().is_some_and(|s| own_block(&s).is_some())
                || self.filled_variable(origin).is_some()
        })
    }

    /// The call whose result a value is.
    fn call(&self, value: Operand) -> Option<InstId> {
        let inst = self.body.def(value.as_value()?)?;
        let is_call = matches!(
            self.body.insts[inst].op,
            Op::Call { .. } | Op::Invoke { .. }
        );
        is_call.then_some(inst)
    }

    /// Is it null, or null on some way?
    pub fn may_be_null_constant(&self, value: Operand) -> bool {
        let def = value.as_value().and_then(|value| self.body.def(value));
        match def.map(|inst| self.body.insts[inst].op) {
            Some(Op::Phi { incoming }) => {
                let mut inputs = self.body.incoming(incoming).iter();
                inputs.any(|input| self.is_null(input.value))
            }
            Some(Op::Select { then, els, .. }) => self.is_null(then) || self.is_null(els),
            _ => self.is_null(value),
        }
    }

    /// May the value be what a call has made in this function, as far as the call is known?
    pub fn may_be_made_here(&self, value: Operand) -> bool {
        let mut origins = self.body.origins(value).into_iter();
        origins.any(|origin| self.is_made_by_call(origin) || self.is_made_in_variable(origin))
    }

    fn is_made_by_call(&self, value: Operand) -> bool {
        let summary = self.call(value).and_then(|call| self.summary(call));
        summary.is_some_and(|summary| summary.limited || !summary.fresh.is_empty())
    }

    /// Is it read from a variable of the function's own that gets such a block (`release(&s)`)?
    fn is_made_in_variable(&self, value: Operand) -> bool {
        let def = |operand: Operand| self.body.def(operand.as_value()?);
        let Some(Op::Load { addr }) = def(value).map(|inst| self.body.insts[inst].op) else {
            return false;
        };
        let variable = def(addr).map(|inst| self.body.insts[inst].op);
        let mut insts = self.body.insts.iter();
        matches!(variable, Some(Op::Alloca { .. }))
            && insts.any(|data| match data.op {
                Op::Store { addr: to, value } if to == addr => {
                    let mut origins = self.body.origins(value).into_iter();
                    origins.any(|origin| self.is_made_by_call(origin))
                }
                _ => false,
            })
    }

    /// Which parameter it is, under whatever type.
    pub fn parameter(&self, value: Operand) -> Option<u16> {
        let value = value.as_value()?;
        match self.body.def(value).map(|inst| self.body.insts[inst].op) {
            Some(Op::Cast { value, .. }) => self.parameter(value),
            Some(_) => None,
            None => u16::try_from(self.body.as_param(value)?).ok(),
        }
    }

    /// Is a value given to nobody but by this one instruction?
    pub fn stays(&self, value: ValueId, given: InstId) -> bool {
        self.given(value, given)
            .is_some_and(|cursors| cursors.is_empty())
    }

    pub fn is_null(&self, value: Operand) -> bool {
        matches!(
            self.body.const_of(value),
            Some(Const::Null | Const::Int { bits: 0, .. })
        )
    }

    /// The function's blocks, without what comes after calls that never return.
    pub fn cfg(&self) -> &Cfg {
        self.cfg.get_or_init(|| {
            Cfg::build_cut(self.body, |inst| {
                let summary = self.summary(inst);
                summary.is_some_and(|summary| summary.outcomes.is_empty())
            })
        })
    }

    /// Does no way lead from the second instruction to the first?
    pub fn is_before(&self, first: InstId, second: InstId) -> bool {
        let blocks = [first, second].map(|inst| self.body.block_of(inst));
        let [Some(one), Some(other)] = blocks else {
            return false;
        };
        let behind = below(self.cfg().graph(), self.cfg().succs(other), usize::MAX);
        !behind.contains(&one) && (one != other || first < second)
    }

    /// Is it this value, under whatever type?
    pub fn is_same(&self, operand: Operand, value: ValueId) -> bool {
        let Some(other) = operand.as_value() else {
            return false;
        };
        let def = self.body.def(other).map(|inst| self.body.insts[inst].op);
        other == value
            || matches!(def, Some(Op::Cast { value: inner, .. }) if self.is_same(inner, value))
    }

    /// Reads and writes through a pointer, in the turn of a loop that has found it.
    pub fn dereferences(&self, pointer: ValueId) -> Vec<InstId> {
        let mut found = Vec::new();
        let mut open = vec![pointer];
        while let Some(value) = open.pop() {
            for &user in self.users(value) {
                match self.body.insts[user].op {
                    Op::PtrAdd { base, .. } if base.as_value() == Some(value) => {
                        open.push(self.body.result(user));
                    }
                    Op::Cast { .. } => open.push(self.body.result(user)),
                    Op::Load { .. } | Op::MemCopy { .. } | Op::MemSet { .. } => found.push(user),
                    Op::Store { addr, .. } if addr.as_value() == Some(value) => found.push(user),
                    _ => {}
                }
            }
        }
        found
    }

    /// What is done with a value, apart from one store.
    pub fn uses(&self, value: ValueId, except: Option<InstId>) -> Uses {
        let mut uses = Uses::default();
        let mut seen = FxHashSet::default();
        let mut open = vec![value];
        while let Some(value) = open.pop() {
            if !seen.insert(value) {
                continue;
            }
            let users = self.users(value).iter();
            for &user in users.filter(|&&user| Some(user) != except) {
                let now = self.use_of(value, user, &mut uses, &mut open);
                uses.takers.extend(now.map(|now| (user, now)));
                uses.taking = uses.taking.max(now);
            }
        }
        uses
    }

    fn use_of(
        &self,
        value: ValueId,
        user: InstId,
        uses: &mut Uses,
        open: &mut Vec<ValueId>,
    ) -> Option<Taking> {
        match self.body.insts[user].op {
            Op::Cmp { .. } | Op::Bind { .. } => None,
            // The distance of two pointers is none.
            Op::Binary {
                op: BinaryOp::Sub, ..
            } => None,
            Op::Load { .. } | Op::MemCopy { .. } | Op::MemSet { .. } => {
                uses.through.push(user);
                None
            }
            Op::Store { value: stored, .. } if stored.as_value() != Some(value) => {
                uses.through.push(user);
                None
            }
            Op::Store { addr, .. } => match self.place(addr) {
                Some(other) => {
                    uses.aliases.insert(other);
                    uses.takers.push((user, Taking::Moved));
                    None
                }
                None => self.taken_by_variable(addr),
            },
            Op::PtrAdd { .. } | Op::Phi { .. } | Op::Select { .. } | Op::Cast { .. } => {
                open.push(self.body.result(user));
                None
            }
            Op::Call { args, .. } | Op::Invoke { args, .. } => {
                let args = self.body.list(args);
                let positions = (0u16..).zip(args);
                let positions = positions.filter(|(_, arg)| arg.as_value() == Some(value));
                let positions: Vec<u16> = positions.map(|(n, _)| n).collect();
                uses.handed.extend(positions.iter().map(|&n| (user, n)));
                let (taking, is_returned) = self.taken_by(user, &positions);
                if is_returned {
                    open.push(self.body.result(user));
                }
                taking
            }
            Op::Ret { .. } => Some(Taking::Returned),
            _ => Some(Taking::Moved),
        }
    }

    /// Does a call free an argument or keep it, or is it given to somebody who is not known? And does it give it back?
    fn taken_by(&self, call: InstId, positions: &[u16]) -> (Option<Taking>, bool) {
        // The called function itself is no argument.
        if positions.is_empty() {
            return (Some(Taking::Moved), false);
        }
        let Some(summary) = self.summary(call) else {
            return (Some(Taking::Moved), false);
        };
        let is_unknown = self.calls_unknown(call);
        let mut taken = (None, false);
        for &n in positions {
            let is_it = |path: &ValuePath| path.root == Root::Arg(n) && path.loads.is_empty();
            let taking = match taking_of(&summary, is_it) {
                // What is in a list of arguments without names is shown to whoever reads that.
                Some(Taking::Moved) if is_unknown || self.is_unnamed(call, n) => Some(Taking::Lent),
                taking => taking,
            };
            taken.0 = taken.0.max(taking);
            taken.1 |= returns(&summary, is_it);
        }
        taken
    }

    /// Does an argument stand behind those that the called function has names for?
    fn is_unnamed(&self, call: InstId, n: u16) -> bool {
        let program = self.context.program;
        let Callees::Known(callees) = self.context.graph.callees(self.func, call) else {
            return false;
        };
        let is_unnamed = |func: &FuncId| match program.types.get(program.funcs[*func].ty) {
            Type::Func { params, vararg, .. } => *vararg && usize::from(n) >= params.len(),
            _ => false,
        };
        !callees.is_empty() && callees.iter().all(is_unnamed)
    }

    /// Is it one function outside of the program that nobody has described?
    fn calls_unknown(&self, call: InstId) -> bool {
        let context = self.context;
        let is_unknown = |func: &FuncId| {
            let is_described = context.library.find(context.program.func_name(*func));
            context.program.funcs[*func].body.is_none() && is_described.is_none()
        };
        match context.graph.callees(self.func, call) {
            Callees::Known(callees) => callees.iter().all(is_unknown),
            _ => false,
        }
    }
}

/// Which of a call's blocks is its result, if that is always a new block or null? A result that may be somebody else's says nothing.
pub fn new_block(summary: &Summary) -> Option<u16> {
    let outcomes = &summary.outcomes;
    let index = outcomes.iter().find_map(|outcome| match outcome.ret {
        Value::Fresh { index, .. } => Some(index),
        _ => None,
    });
    let mut all = outcomes.iter().map(|outcome| &outcome.ret);
    let is_new = all.all(|ret| matches!(ret, Value::Fresh { .. } | Value::Int(0)));
    index.filter(|_| is_new)
}

/// The same, if whoever gets the result is the only one who has it: `s->name = intern(s, text);` points into what a list of `s` holds.
fn own_block(summary: &Summary) -> Option<u16> {
    new_block(summary).filter(|&index| {
        let is_it = |value: &Value| matches!(value, Value::Fresh { index: k, .. } if *k == index);
        let is_elsewhere = |root: Root| !matches!(root, Root::Fresh(_));
        let own = ValuePath::root(Root::Fresh(index));
        !summary.outcomes.iter().any(|outcome| {
            let mut writes = outcome.writes.iter();
            let mut escapes = outcome.escapes.iter();
            writes.any(|write| is_it(&write.value) && is_elsewhere(write.cell.base.root))
                || escapes.any(|escape| escape.path == own)
        })
    })
}

/// Does the function free what this path leads to (its argument), whatever happens? What is moved to a new place lives on there.
pub fn releases(summary: &Summary, path: &ValuePath) -> bool {
    let frees = |outcome: &Outcome| {
        let mut frees = outcome.frees.iter();
        frees.any(|free| free.path == *path && free.certainty == Certainty::Must)
            && outcome.copies.is_empty()
    };
    let is_null = |outcome: &Outcome| {
        let mut atoms = outcome.when.iter();
        atoms.any(|atom| {
            matches!(&atom.subject, Subject::Entry(asked) if asked == path)
                && atom.class == Class::Eq(0)
        })
    };
    let mut outcomes = summary.outcomes.iter();
    outcomes.clone().any(frees) && outcomes.all(|outcome| frees(outcome) || is_null(outcome))
}

/// Does the function return one of these paths?
pub fn returns(summary: &Summary, is_it: impl Fn(&ValuePath) -> bool) -> bool {
    let mut outcomes = summary.outcomes.iter();
    outcomes.any(|o| matches!(&o.ret, Value::Entry { path, .. } if is_it(path)))
}

/// Does the function free or keep what one of these paths leads to?
pub fn taking_of(summary: &Summary, is_it: impl Fn(&ValuePath) -> bool) -> Option<Taking> {
    // Who moves the block into a new one does not keep it, whatever it says of pointers that are no blocks.
    let mut outcomes = summary.outcomes.iter();
    let is_reallocated = outcomes.any(|outcome| {
        let mut frees = outcome.frees.iter();
        let mut copies = outcome.copies.iter();
        frees.any(|free| is_it(&free.path)) && copies.any(|copy| is_it(&copy.from))
    });
    if is_reallocated {
        return Some(Taking::Freed);
    }
    let is_value = |value: &Value| matches!(value, Value::Entry { path, .. } if is_it(path));
    let mut outcomes = summary.outcomes.iter();
    let is_moved = outcomes.any(|outcome| {
        outcome.escapes.iter().any(|escape| is_it(&escape.path))
            || outcome.writes.iter().any(|write| {
                // A structure that points into itself is nowhere else for that.
                is_value(&write.value) && !is_it(&write.cell.base)
            })
    });
    if is_moved {
        return Some(Taking::Moved);
    }
    let mut frees = summary.outcomes.iter().flat_map(|outcome| &outcome.frees);
    frees.any(|free| is_it(&free.path)).then_some(Taking::Freed)
}
