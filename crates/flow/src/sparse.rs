//! Question: at which instructions of a function can anything happen to some objects, and where does a path come next?
//!
//! SMOKE's use-flow graph has vertices only where the machine may move, where the object is passed on, where paths meet and where
//! they end (definition 2). An instruction that touches none of the followed objects, and nothing that is remembered of the path, changes
//! nothing: it is *quiet*, and an exploration passes over it. So it does over quiet blocks: a path enters them and leaves them in the same
//! state. (Where most conditions are remembered hardly any block is quiet.)
//! Domain: instructions and blocks that are not quiet, from indices over the function (`touches.rs`), along uses, so that the cost is that of
//! the object's own uses. Invariant: what the exploration does at a quiet instruction is nothing; a jump ends at the first block on each
//! way that is not quiet. Loop headers, returns, and calls that may not return or throw are never quiet.

use std::rc::Rc;

use drip_base::IdSet;
use drip_pointer::{CellId, ObjId, ObjKind};
use drip_program::{BlockId, InstId, Op, Operand, ValueId, VarId};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::explore::Following;
use crate::frame::Frame;
use crate::relevance::Relevance;
use crate::touches::Touches;
use crate::values::Values;

/// Ways on from a quiet block; one with more of them is stopped at all the same, so that ways to it and from it do not multiply.
const MAX_LANDINGS: usize = 4;

/// Where a jump over quiet blocks enters a block that is not: by which edge.
type Landings = Rc<[(BlockId, BlockId)]>;

/// What matters for some objects.
pub(crate) struct Loud {
    insts: IdSet<InstId>,
    blocks: IdSet<BlockId>,
    /// Values that may be a pointer to one of the objects, or made of one.
    related: IdSet<ValueId>,
}

/// The jumps between the blocks that matter for some objects.
pub(crate) struct Jumps {
    /// Blocks that are stopped at.
    loud: IdSet<BlockId>,
    /// Paths that come here without meeting one of the objects end here without one.
    final_blocks: IdSet<BlockId>,
    known: FxHashMap<BlockId, Landings>,
}

/// Values and cells that may hold one of the objects and are to be looked at, with what is behind already.
#[derive(Default)]
struct Open {
    values: Vec<ValueId>,
    cells: Vec<CellId>,
    /// Cells, their owners, calls, and objects whose crowded cells count.
    holding: IdSet<CellId>,
    owners: IdSet<ObjId>,
    calls: IdSet<InstId>,
    crowded: IdSet<ObjId>,
}

impl Open {
    /// A call gets or makes one of the objects: wherever it may put it out of sight.
    fn blur(&mut self, touches: &Touches, call: InstId) {
        let Some(blur) = touches.blurred.get(&call) else {
            return;
        };
        if self.calls.insert(call) {
            self.values.extend(blur.result);
            for &obj in &blur.crowded {
                self.crowd(touches, obj);
            }
        }
    }

    /// The crowded cells of an object may hold one of the objects.
    fn crowd(&mut self, touches: &Touches, obj: ObjId) {
        if self.crowded.insert(obj) {
            let cells = touches.crowded.get(&obj).into_iter().flatten();
            self.cells.extend(cells);
        }
    }
}

impl Loud {
    pub(crate) fn new(frame: &Frame<'_>, values: &mut Values, following: &Following<'_>) -> Loud {
        let touches = frame.touches(values);
        let relevant = following.relevant;
        let mut loud = Loud {
            insts: IdSet::with_capacity(frame.body.insts.len()),
            blocks: touches.always.clone(),
            related: IdSet::with_capacity(frame.body.value_count()),
        };
        loud.insts
            .extend(touches.lasting(following.goal, !relevant.from_birth));
        let mut open = Open::default();
        for &obj in &following.objects {
            if let ObjKind::Fresh { call, .. } = frame.local.memory.kind(obj) {
                loud.add(frame, call);
                open.blur(touches, call);
            }
            open.values.extend(&touches.values[obj]);
            open.cells.extend(&touches.cells[obj]);
        }
        loud.follow(frame, touches, open);
        loud.add_binds(frame, touches);
        loud.add_remembered(frame, touches, values, relevant);
        loud
    }

    pub(crate) fn contains(&self, inst: InstId) -> bool {
        self.insts.contains(inst)
    }

    /// Blocks and instructions where something that is remembered is made or asked for.
    fn add_remembered(
        &mut self,
        frame: &Frame<'_>,
        touches: &Touches,
        values: &Values,
        relevant: &Relevance,
    ) {
        for blocks in relevant.uses.values() {
            self.blocks.extend(blocks.iter().copied());
        }
        let calls = relevant.passed.keys().map(|&inst| frame.block_of(inst));
        let homes = relevant.decisive.iter().filter_map(|&sym| values.home(sym));
        for block in relevant.phis.keys().copied().chain(calls).chain(homes) {
            self.blocks.insert(block);
        }
        for sym in &relevant.decisive {
            let accesses = touches.accesses.get(sym);
            self.insts.extend(accesses.into_iter().flatten().copied());
        }
    }

    fn add(&mut self, frame: &Frame<'_>, inst: InstId) {
        self.insts.insert(inst);
        self.blocks.insert(frame.block_of(inst));
    }

    fn add_all(&mut self, frame: &Frame<'_>, insts: &[InstId]) {
        for &inst in insts {
            self.add(frame, inst);
        }
    }

    /// Every use of a pointer to one of the objects, of what is made of it, and of the cells that may hold it.
    fn follow(&mut self, frame: &Frame<'_>, touches: &Touches, mut open: Open) {
        loop {
            if let Some(value) = open.values.pop() {
                if self.related.insert(value) {
                    self.follow_uses(frame, touches, value, &mut open);
                }
            } else if let Some(cell) = open.cells.pop() {
                if open.holding.insert(cell) {
                    self.follow_cell(frame, touches, cell, &mut open);
                }
            } else {
                break;
            }
        }
    }

    /// Whoever writes, reads or copies a cell that may hold one of the objects.
    fn follow_cell(&mut self, frame: &Frame<'_>, touches: &Touches, cell: CellId, open: &mut Open) {
        let place = frame.local.memory.cells[cell];
        let owner = place.obj;
        let inexact = touches.inexact.get(&owner).into_iter().flatten();
        open.cells.extend(inexact.filter(|&&other| {
            let other = frame.local.memory.cells[other];
            other.off.may_equal(place.off)
        }));
        self.add_all(frame, &touches.writers[cell]);
        open.values
            .extend(touches.readers.get(&cell).into_iter().flatten());
        if !open.owners.insert(owner) {
            return;
        }
        self.add_all(frame, &touches.calls[owner]);
        for &to in touches.copied.get(&owner).into_iter().flatten() {
            open.crowd(touches, to);
        }
        for &call in &touches.blurring[owner] {
            open.blur(touches, call);
        }
    }

    fn follow_uses(
        &mut self,
        frame: &Frame<'_>,
        touches: &Touches,
        value: ValueId,
        open: &mut Open,
    ) {
        if let Some(inst) = frame.body.def(value) {
            self.add(frame, inst);
        }
        for user in frame.uses(value) {
            self.add(frame, user);
            match frame.body.insts[user].op {
                Op::Phi { .. }
                | Op::Select { .. }
                | Op::PtrAdd { .. }
                | Op::Cast { .. }
                | Op::Binary { .. }
                | Op::Opaque { .. }
                | Op::InsertValue { .. }
                | Op::ExtractValue { .. } => open.values.push(frame.body.result(user)),
                // What equals the pointer is another name of it; whoever branches on that decides.
                Op::Cmp { a, b, .. } => {
                    let compared = [a, b].into_iter().filter_map(Operand::as_value);
                    open.values.extend(compared);
                    for decided in frame.uses(frame.body.result(user)) {
                        self.add(frame, decided);
                    }
                }
                Op::Store {
                    addr,
                    value: stored,
                } if stored.as_value() == Some(value) => {
                    let targets = frame.local.targets(addr).iter();
                    let cells = targets.flat_map(|&loc| frame.local.memory.overlapping(loc));
                    open.cells.extend(cells);
                }
                Op::Call { .. } | Op::Invoke { .. } => open.blur(touches, user),
                _ => {}
            }
        }
    }

    /// Variables that are ever bound to one of the values: each of their bindings counts.
    fn add_binds(&mut self, frame: &Frame<'_>, touches: &Touches) {
        let bound = |value: ValueId| touches.bound.get(&value).into_iter().flatten();
        let vars: FxHashSet<VarId> = self.related.iter().flat_map(bound).copied().collect();
        for markers in vars.iter().filter_map(|var| touches.binds.get(var)) {
            self.add_all(frame, markers);
        }
    }

    /// What the edge makes of the φs that concern the objects.
    fn brought(&self, frame: &Frame<'_>, from: BlockId, to: BlockId) -> SmallVec<[Operand; 2]> {
        let mut brought = SmallVec::new();
        for inst in frame.body.block_insts(to) {
            let Op::Phi { incoming } = frame.body.insts[inst].op else {
                break;
            };
            if self.related.contains(frame.body.result(inst)) {
                let entries = frame.body.incoming(incoming).iter();
                brought.extend(entries.filter(|e| e.block == from).map(|e| e.value));
            }
        }
        brought
    }
}

impl Jumps {
    /// The jumps over what is quiet; `None` if that is hardly anything.
    pub(crate) fn new(frame: &Frame<'_>, values: &mut Values, loud: &Loud) -> Option<Jumps> {
        let is_worth_it = 2 * loud.blocks.len() < frame.body.blocks.len();
        is_worth_it.then(|| Jumps {
            loud: loud.blocks.clone(),
            final_blocks: frame.touches(values).final_blocks.clone(),
            known: FxHashMap::default(),
        })
    }

    /// The edges by which paths that take `from → to` reach the next blocks that are not quiet.
    pub(crate) fn landings(
        &mut self,
        frame: &Frame<'_>,
        loud: &Loud,
        (from, to): (BlockId, BlockId),
    ) -> Landings {
        if self.loud.contains(to) {
            return Rc::new([(from, to)]);
        }
        if let Some(known) = self.known.get(&to) {
            return Rc::clone(known);
        }
        let mut found: Vec<(BlockId, BlockId)> = Vec::new();
        let mut ways: FxHashSet<(BlockId, bool, SmallVec<[Operand; 2]>)> = FxHashSet::default();
        let mut seen = IdSet::with_capacity(frame.body.blocks.len());
        seen.insert(to);
        let mut open = vec![to];
        while let Some(block) = open.pop() {
            if self.final_blocks.contains(block) {
                continue;
            }
            let last = frame.body.terminator(block);
            let normal = match frame.body.insts[last].op {
                Op::Invoke { normal, .. } => Some(normal),
                _ => None,
            };
            let succs = frame.cfg.succs(block).iter().copied();
            for next in succs.filter(|next| normal.is_none_or(|normal| normal == *next)) {
                if !self.loud.contains(next) {
                    if seen.insert(next) {
                        open.push(next);
                    }
                    continue;
                }
                let is_back = frame.cfg.rpo().is_retreating(block, next);
                if ways.insert((next, is_back, loud.brought(frame, block, next))) {
                    found.push((block, next));
                }
            }
            if found.len() > MAX_LANDINGS {
                self.loud.insert(to);
                return Rc::new([(from, to)]);
            }
        }
        found.sort_unstable();
        let landings: Landings = found.into();
        self.known.insert(to, Rc::clone(&landings));
        landings
    }
}
