//! Question: does a function that fails undo only a part of what it has put into a structure?
//!
//! `s->in = malloc(n); s->out = malloc(n); if (!s->out) { free(s->in); return -1; } if (start(s)) { free(s->out); return -1; }`: the second
//! failure leaves `s->in` to nobody. What a function has put into a structure of its caller's is on its return either there or
//! freed, and callers know by the result which. So one of the two is wrong if
//!
//! - *by result*: two returns of the same constant leave the same field, one freed (and dangling), the other one with its block;
//! - *by neighbour*: one return leaves a field freed and dangling, and another field with its block, both of which the function has
//!   filled.
//!
//! In both cases a return of another constant leaves the fields filled (success), a return is come to with the block either always
//! freed or never, the fields hold nothing but new blocks of their own, and no other field was set behind them that tells (a size, a
//! state). What a function has found in the field and kept there is not its to undo.
//!
//! Domain: per block of the control-flow graph, whether the new block may be there and whether it may be freed; forwards from the store. Cost: one walk
//! of the graph for each new block that is stored in a parameter's field, in functions that free such a field.
//! Known false positives: a field that was set before tells callers which failure it was.

use drip_pointer::Callees;
use drip_program::{BlockId, Cfg, CmpPred, Const, InstId, Op, Operand, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::care::below;
use super::facts::{Facts, Made, Place, Taking};
use super::view::{CellWay, Start, View};

/// Calls down to somebody who may change the field.
const MAX_DEPTH: usize = 6;

/// A return that leaves a block behind which other failures free.
pub struct Undone {
    pub place: Place,
    pub made: Made,
    /// The end of the block that returns.
    pub inst: InstId,
}

/// A return by the block that leads to it, and what it returns.
type Exit = (BlockId, u64);

/// A new block in a field, and at which returns it is there or freed.
struct Filled {
    place: Place,
    way: CellWay,
    made: Made,
    /// Where it is there and nothing in the structure says so.
    live: FxHashSet<Exit>,
    freed: FxHashSet<Exit>,
    /// What is returned where it is there.
    kept: FxHashSet<u64>,
}

/// Fields of the structure that a way has set to some number or pointer after it has filled the field: they may say that it is filled.
type Marks = SmallVec<[i64; 2]>;

/// Such fields; with more of them the way is not followed.
const MAX_MARKS: usize = 4;

/// The returns of a function that undo only a part.
pub fn undone(view: &View<'_, '_>, facts: &Facts) -> Vec<Undone> {
    let mut found = Vec::new();
    let mut walk = None;
    let mut all: Vec<Filled> = Vec::new();
    for (store, data) in view.body.insts.iter_enumerated() {
        let Op::Store { addr, value } = data.op else {
            continue;
        };
        let Some(place @ Place::Field(_)) = view.place(addr) else {
            continue;
        };
        let Some(way) = view.way(addr).filter(|way| is_passed(view, way)) else {
            continue;
        };
        let Some(made) = view.maker(value).filter(|_| facts.is_owner(place)) else {
            continue;
        };
        let walk = walk.get_or_insert_with(|| Walk::new(view));
        if walk.exits.len() > 1 && walk.is_unread_before(&way, store) {
            all.push(walk.follow(facts, (place, way, made), store));
        }
    }
    for filled in &all {
        let mut exits: Vec<Exit> = filled.live.iter().copied().collect();
        exits.sort_unstable();
        let succeeds = |code: u64| {
            let mut kept = filled.kept.iter();
            kept.any(|&other| other != code && !filled.freed.iter().any(|f| f.1 == other))
        };
        let is_undone = |exit: &Exit| {
            let mut freed = filled.freed.iter();
            let by_result = freed.any(|other| other.1 == exit.1);
            let mut others = all.iter().filter(|o| is_beside(&o.way, &filled.way));
            let by_neighbour = others.any(|other| other.freed.contains(exit));
            (by_result || by_neighbour) && succeeds(exit.1)
        };
        let lost = exits.into_iter().find(is_undone);
        found.extend(lost.map(|(block, _)| Undone {
            place: filled.place,
            made: filled.made,
            inst: view.body.terminator(block),
        }));
    }
    found
}

/// Are these two fields of one structure?
fn is_beside(a: &CellWay, b: &CellWay) -> bool {
    let owner = |way: &CellWay| way.offsets[..way.offsets.len() - 1].to_vec();
    a != b && a.root == b.root && owner(a) == owner(b)
}

/// Is the cell in a structure that a caller passes?
fn is_passed(view: &View<'_, '_>, way: &CellWay) -> bool {
    matches!(way.root, Start::Value(root) if view.body.def(root).is_none())
}

/// One function and its returns.
struct Walk<'a, 's, 'c> {
    view: &'a View<'s, 'c>,
    cfg: &'a Cfg,
    exits: FxHashMap<BlockId, u64>,
}

impl<'a, 's, 'c> Walk<'a, 's, 'c> {
    fn new(view: &'a View<'s, 'c>) -> Self {
        let mut exits = FxHashMap::default();
        let body = view.body;
        for block in body.blocks.ids() {
            let Op::Ret { value: Some(value) } = body.insts[body.terminator(block)].op else {
                continue;
            };
            let def = value.as_value().and_then(|value| body.def(value));
            match def.map(|inst| (inst, body.insts[inst].op)) {
                Some((inst, Op::Phi { incoming })) if body.block_of(inst) == Some(block) => {
                    for input in body.incoming(incoming) {
                        exits.extend(number(view, input.value).map(|code| (input.block, code)));
                    }
                }
                _ => exits.extend(number(view, value).map(|code| (block, code))),
            }
        }
        Walk {
            view,
            cfg: view.cfg(),
            exits,
        }
    }

    /// Does the function look at the field before it fills it? Then it may keep what is there for the next time.
    fn is_unread_before(&self, way: &CellWay, store: InstId) -> bool {
        let body = self.view.body;
        let Some(at) = body.block_of(store) else {
            return false;
        };
        let before = below(self.cfg.reversed_graph(), &[at], usize::MAX);
        !body.insts.iter_enumerated().any(|(inst, data)| {
            let is_read =
                matches!(data.op, Op::Load { addr } if self.view.way(addr).as_ref() == Some(way));
            let block = body.block_of(inst).filter(|_| is_read);
            block.is_some_and(|block| match block == at {
                true => inst < store,
                false => before.contains(&block),
            })
        })
    }

    /// At which returns the block that a store has put into a field is there, and at which it is freed.
    fn follow(
        &self,
        facts: &Facts,
        (place, way, made): (Place, CellWay, Made),
        store: InstId,
    ) -> Filled {
        let body = self.view.body;
        let mut pointers = vec![body.result(made.1)];
        let mut ends: FxHashSet<InstId> = FxHashSet::default();
        for (inst, data) in body.insts.iter_enumerated() {
            match data.op {
                Op::Load { addr } if self.view.way(addr).as_ref() == Some(&way) => {
                    pointers.push(body.result(inst));
                }
                Op::Store { addr, .. } if inst != store => {
                    ends.extend(self.view.way(addr).filter(|w| *w == way).map(|_| inst));
                }
                Op::Call { .. } | Op::Invoke { .. } if self.may_touch(facts, place, inst) => {
                    ends.insert(inst);
                }
                _ => {}
            }
        }
        let mut frees: FxHashSet<InstId> = FxHashSet::default();
        for &pointer in &pointers {
            for (taker, taking) in self.view.uses(pointer, Some(store)).takers {
                match taking {
                    Taking::Freed => frees.insert(taker),
                    Taking::Returned | Taking::Lent => false,
                    Taking::Moved => ends.insert(taker),
                };
            }
        }
        let mut filled = Filled {
            place,
            way,
            made,
            live: FxHashSet::default(),
            freed: FxHashSet::default(),
            kept: FxHashSet::default(),
        };
        self.spread(store, &pointers, &frees, &ends, &mut filled);
        // One return for both says nothing.
        let both: Vec<Exit> = filled.live.intersection(&filled.freed).copied().collect();
        for exit in both {
            filled.live.remove(&exit);
            filled.freed.remove(&exit);
        }
        filled
    }

    fn spread(
        &self,
        store: InstId,
        pointers: &[ValueId],
        frees: &FxHashSet<InstId>,
        ends: &FxHashSet<InstId>,
        filled: &mut Filled,
    ) {
        let body = self.view.body;
        let mut seen: FxHashSet<(BlockId, bool, Marks)> = FxHashSet::default();
        let start = body.block_of(store);
        let start = start.map(|block| (block, false, Marks::new(), Some(store)));
        let mut open: Vec<(BlockId, bool, Marks, Option<InstId>)> = start.into_iter().collect();
        while let Some((block, mut is_freed, mut marks, after)) = open.pop() {
            let insts = body.block_insts(block);
            let mut insts = insts.filter(|&inst| after.is_none_or(|after| inst > after));
            let is_ended = insts.any(|inst| {
                is_freed |= frees.contains(&inst);
                self.mark(inst, &filled.way, &mut marks);
                ends.contains(&inst) || inst == store || marks.len() > MAX_MARKS
            });
            if is_ended {
                continue;
            }
            if let Some(&code) = self.exits.get(&block) {
                if is_freed {
                    filled.freed.insert((block, code));
                } else {
                    filled.kept.insert(code);
                    if marks.is_empty() {
                        filled.live.insert((block, code));
                    }
                }
            }
            let missing = self.side_without(block, pointers);
            for &next in self.cfg.succs(block) {
                if Some(next) != missing && seen.insert((next, is_freed, marks.clone())) {
                    open.push((next, is_freed, marks.clone(), None));
                }
            }
        }
    }

    /// Notes a store into another field of the structure. Null and zero take a mark away; new blocks are none.
    fn mark(&self, inst: InstId, filled: &CellWay, marks: &mut Marks) {
        let Op::Store { addr, value } = self.view.body.insts[inst].op else {
            return;
        };
        let Some(way) = self.view.way(addr).filter(|way| is_beside(way, filled)) else {
            return;
        };
        let at = way.offsets[way.offsets.len() - 1];
        if self.view.is_null(value) {
            marks.retain(|mark| *mark != at);
        } else if self.view.maker(value).is_none() && !marks.contains(&at) {
            marks.push(at);
            marks.sort_unstable();
        }
    }

    /// Where a branch goes that has found the block missing.
    fn side_without(&self, block: BlockId, pointers: &[ValueId]) -> Option<BlockId> {
        let body = self.view.body;
        let Op::CondBr { cond, then, els } = body.insts[body.terminator(block)].op else {
            return None;
        };
        let Op::Cmp { pred, a, b } = body.insts[body.def(cond.as_value()?)?].op else {
            return None;
        };
        let is_it = |operand: Operand| operand.as_value().is_some_and(|v| pointers.contains(&v));
        let is_tested = is_it(a) && self.view.is_null(b) || is_it(b) && self.view.is_null(a);
        match pred {
            CmpPred::Eq if is_tested => Some(then),
            CmpPred::Ne if is_tested => Some(els),
            _ => None,
        }
    }

    /// May somebody who is called change the field?
    fn may_touch(&self, facts: &Facts, place: Place, call: InstId) -> bool {
        let view = self.view;
        let (Op::Call { args, .. } | Op::Invoke { args, .. }) = view.body.insts[call].op else {
            return false;
        };
        if view
            .body
            .list(args)
            .iter()
            .any(|&arg| view.place(arg) == Some(place))
        {
            return true;
        }
        let Callees::Known(callees) = view.context.graph.callees(view.func, call) else {
            return false;
        };
        let reached = below(&view.context.graph.graph, callees, MAX_DEPTH);
        let freed = facts.freed.get(&place).into_iter().flatten();
        let stored = facts.stored.get(&place).into_iter().flatten();
        let mut touching = freed.chain(stored);
        touching.any(|func| *func != view.func && reached.contains(func))
    }
}

fn number(view: &View<'_, '_>, value: Operand) -> Option<u64> {
    match view.body.const_of(value) {
        Some(Const::Int { bits, .. }) => Some(*bits),
        Some(Const::Null) => Some(0),
        _ => None,
    }
}
