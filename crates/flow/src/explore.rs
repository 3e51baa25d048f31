//! Question: along which paths of a function is an object neither freed, nor handed on, nor held?
//!
//! State analysis on the use-flow graph (SMOKE §III-C, table I): forward from the entry, one block at a time, in reverse
//! post-order. Domain: sets of [`State`]s per block, at most [`MAX_STATES`]; states with equal objects are merged beyond
//! [`MAX_VARIANTS`], keeping the facts they share (property simulation; polynomial, as the paper's stage 1). Transfer:
//! `transfer.rs`, `call.rs`. Branches that the path's own facts decide are not followed: a ∧ ¬a is found here.
//! One arbitrary instance of the object is followed; other instances of the same site are other objects (recency).
//! Known false negatives: what is stored into an element with unknown index is held "perhaps", and ends undecided.

use drip_base::{IdSet, IndexVec, RankedWorklist};
use drip_cond::{SymId, TermId};
use drip_pointer::{ObjId, ObjKind};
use drip_program::{BlockId, InstId, Op, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::frame::Frame;
use crate::graph::{Choices, End, EndKind, InEdge, Node, NodeId, UseFlow};
use crate::state::{Followed, Machine, State, Where};
use crate::values::Values;

/// States per block; beyond it further ones are dropped and the object is "given up: limit" unless a leak was found.
pub const MAX_STATES: usize = 24;
/// States with equal objects per block; beyond it they merge and forget what they do not share. Iterations of a loop after
/// the first are always merged.
pub const MAX_VARIANTS: usize = 4;
/// Blocks executed per exploration, for each goal: a base and a multiple of the function's blocks. Beyond it the rest of the
/// graph is missing.
pub const FATE_FUEL: (usize, usize) = (1_500, 4);
pub const EXITS_FUEL: (usize, usize) = (500, 3);
/// Conditions that a path remembers; older ones than these are forgotten.
pub const MAX_FACTS: usize = 24;

/// What an exploration is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// Follow object 0 until its fate is sealed.
    Fate,
    /// Follow all objects to the function's exits, to tell callers what happens to them.
    Exits,
}

/// One run of a block: where it goes and in which state.
pub(crate) struct Run {
    pub state: State,
    pub choices: Choices,
}

pub struct Explorer<'f, 'a> {
    pub(crate) frame: &'f Frame<'a>,
    pub(crate) values: &'f mut Values,
    pub(crate) objects: Vec<ObjId>,
    pub(crate) goal: Goal,
    /// The program's `main`: what its variables hold at the end leaks nothing.
    pub(crate) is_main: bool,
    pub(crate) relevant: &'f Relevance,
    live: FxHashMap<ValueId, IdSet<BlockId>>,
    /// Blocks on entry to which a symbol will still be asked for.
    asked: FxHashMap<SymId, IdSet<BlockId>>,
    pub(crate) out: UseFlow,
    by_block: IndexVec<BlockId, Vec<NodeId>>,
    /// Blocks from which an unborn object can still be born.
    can_birth: IdSet<BlockId>,
}

/// Which conditions are worth remembering: computed once per function.
pub struct Relevance {
    /// Symbols on which at least two decisions depend.
    pub correlated: FxHashSet<SymId>,
    /// φ symbols that decisions depend on.
    pub decisive: FxHashSet<SymId>,
    /// Symbols that a caller can name.
    pub interface: FxHashSet<SymId>,
    /// Blocks in which a decision (or a φ that one depends on) asks for the symbol.
    pub uses: FxHashMap<SymId, Vec<BlockId>>,
}

/// Explores all paths of `objects[0]`, the others followed along.
pub fn explore<'a>(
    frame: &Frame<'a>,
    values: &mut Values,
    relevant: &Relevance,
    objects: Vec<ObjId>,
    goal: Goal,
    is_main: bool,
) -> UseFlow {
    let blocks = frame.body.blocks.len();
    let mut explorer = Explorer {
        frame,
        values,
        goal,
        is_main,
        relevant,
        live: FxHashMap::default(),
        asked: FxHashMap::default(),
        out: UseFlow {
            objects: objects.clone(),
            nodes: IndexVec::new(),
            ends: Vec::new(),
            limited: false,
            filtered: 0,
            steps: 0,
        },
        objects,
        by_block: IndexVec::from_elem(Vec::new(), blocks),
        can_birth: IdSet::with_capacity(blocks),
    };
    explorer.run();
    explorer.out.drop_dead();
    explorer.out
}

/// How a path ends whose object 0 is settled.
pub(crate) fn end_kind(state: &State) -> EndKind {
    match state.objects.first() {
        Some(o) if o.machine == Machine::Lost && o.blurred => EndKind::LostPerhaps,
        Some(o) if o.machine == Machine::Lost => EndKind::Lost,
        _ => EndKind::Settled,
    }
}

impl Explorer<'_, '_> {
    fn run(&mut self) {
        self.find_birthplaces();
        let frame = self.frame;
        let mut work = RankedWorklist::new(frame.cfg.rpo().rank());
        let entry = BlockId::new(0);
        let state = self.initial_state();
        self.out.nodes.push(Node {
            block: entry,
            state,
            preds: Vec::new(),
            later: false,
        });
        self.by_block[entry].push(UseFlow::ROOT);
        let mut pending: IndexVec<BlockId, Vec<NodeId>> =
            IndexVec::from_elem(Vec::new(), frame.body.blocks.len());
        pending[entry].push(UseFlow::ROOT);
        work.push(entry);
        let mut steps = 0;
        let (base, factor) = if self.goal == Goal::Fate {
            FATE_FUEL
        } else {
            EXITS_FUEL
        };
        let fuel = base + factor * frame.body.blocks.len();
        while let Some(block) = work.pop() {
            for node in std::mem::take(&mut pending[block]) {
                steps += 1;
                self.out.steps = steps;
                if steps > fuel {
                    self.out.limited = true;
                    return;
                }
                for next in self.execute(node) {
                    let target = self.out.nodes[next].block;
                    if !pending[target].contains(&next) {
                        pending[target].push(next);
                    }
                    work.push(target);
                }
            }
        }
    }

    fn initial_state(&self) -> State {
        let objects = self
            .objects
            .iter()
            .map(|&obj| match self.frame.local.memory.kind(obj) {
                ObjKind::Param(n) => {
                    let mut followed = Followed::unborn();
                    followed.machine = Machine::Allocated;
                    followed.add(
                        Where::Value(self.frame.body.param(usize::from(n)), 0),
                        false,
                    );
                    followed
                }
                ObjKind::Entry(cell) => {
                    let mut followed = Followed::unborn();
                    followed.machine = Machine::Allocated;
                    followed.add(Where::Cell(cell), !self.frame.local.memory.is_strong(cell));
                    followed
                }
                _ => Followed::unborn(),
            })
            .collect();
        State {
            objects,
            facts: SmallVec::new(),
            env: SmallVec::new(),
        }
    }

    /// Blocks that lead to the call that makes object 0.
    fn find_birthplaces(&mut self) {
        let Some(&object) = self.objects.first() else {
            return;
        };
        let ObjKind::Fresh { call, .. } = self.frame.local.memory.kind(object) else {
            return;
        };
        let mut stack = vec![self.frame.block_of(call)];
        while let Some(block) = stack.pop() {
            if self.can_birth.insert(block) {
                stack.extend(self.frame.cfg.preds(block));
            }
        }
    }

    /// Runs one node's block; returns the nodes that have to be executed next.
    fn execute(&mut self, node: NodeId) -> Vec<NodeId> {
        self.drop_old_edges(node);
        let block = self.out.nodes[node].block;
        let mut runs = vec![Run {
            state: self.out.nodes[node].state.clone(),
            choices: Choices::new(),
        }];
        let frame = self.frame;
        let mut next = Vec::new();
        for inst in frame.body.block_insts(block) {
            if frame.body.insts[inst].op.is_terminator() {
                for run in std::mem::take(&mut runs) {
                    self.leave(node, block, inst, run, &mut next);
                }
                break;
            }
            // Nothing but a call can concern objects that do not exist yet.
            let is_call = matches!(frame.body.insts[inst].op, Op::Call { .. });
            if !is_call
                && runs
                    .iter()
                    .all(|run| run.state.objects.iter().all(|o| !o.is_live()))
            {
                continue;
            }
            runs = self.step(node, inst, runs);
            if runs.is_empty() {
                break;
            }
        }
        next
    }

    /// A node that is executed again because it was weakened replaces what it led to before.
    fn drop_old_edges(&mut self, node: NodeId) {
        self.out.ends.retain(|end| end.node != node);
        let frame = self.frame;
        let block = self.out.nodes[node].block;
        for &succ in frame.cfg.succs(block) {
            for index in 0..self.by_block[succ].len() {
                let target = self.by_block[succ][index];
                self.out.nodes[target]
                    .preds
                    .retain(|edge| edge.from != node);
            }
        }
    }

    pub(crate) fn end(&mut self, node: NodeId, at: InstId, kind: EndKind, run: Run) {
        // Equal ends of one node are one end.
        let same = |end: &End| {
            end.node == node && end.at == at && end.kind == kind && end.state == run.state
        };
        if !self.out.ends.iter().any(same) {
            self.out.ends.push(End {
                node,
                choices: run.choices,
                at,
                kind,
                state: run.state,
            });
        }
    }

    /// Follows the edge `from → to` and registers the state there.
    pub(crate) fn flow(
        &mut self,
        node: NodeId,
        from: BlockId,
        to: BlockId,
        at: InstId,
        run: Run,
        next: &mut Vec<NodeId>,
    ) {
        let mut run = run;
        self.enter(from, to, &mut run.state);
        if self.settled(&run.state) {
            self.end(node, at, end_kind(&run.state), run);
            return;
        }
        if self.hopeless(&run.state, to) {
            return;
        }
        if let Some((target, fresh)) =
            self.intern(to, run.state, self.frame.cfg.rpo().is_retreating(from, to))
        {
            let edge = InEdge {
                from: node,
                choices: run.choices,
            };
            if !self.out.nodes[target].preds.contains(&edge) {
                self.out.nodes[target].preds.push(edge);
            }
            if fresh {
                next.push(target);
            }
        }
    }

    /// Nothing more can happen to object 0 on this path.
    pub(crate) fn settled(&self, state: &State) -> bool {
        self.goal == Goal::Fate
            && state.objects.first().is_some_and(|o| {
                matches!(
                    o.machine,
                    Machine::Freed { .. } | Machine::Escaped { .. } | Machine::Lost
                )
            })
    }

    /// The object in question can't be born any more.
    fn hopeless(&self, state: &State, block: BlockId) -> bool {
        self.goal == Goal::Fate
            && state
                .objects
                .first()
                .is_some_and(|o| o.machine == Machine::Unborn)
            && !self.can_birth.contains(block)
    }

    /// The node for a state, and whether it must be executed (again).
    fn intern(&mut self, block: BlockId, mut state: State, later: bool) -> Option<(NodeId, bool)> {
        if state.facts.len() > MAX_FACTS {
            state.facts.truncate(MAX_FACTS);
        }
        let mut variants: SmallVec<[NodeId; 4]> = SmallVec::new();
        for &node in &self.by_block[block] {
            let known = &self.out.nodes[node].state;
            if *known == state {
                return Some((node, false));
            }
            if known.objects == state.objects && self.out.nodes[node].later == later {
                variants.push(node);
            }
        }
        let bound = if later { 1 } else { MAX_VARIANTS };
        if variants.len() < bound && self.by_block[block].len() < MAX_STATES {
            let node = self.out.nodes.push(Node {
                block,
                state,
                preds: Vec::new(),
                later,
            });
            self.by_block[block].push(node);
            return Some((node, true));
        }
        // Merge with the variant that loses least.
        let best = variants.into_iter().max_by_key(|&n| {
            let known = &self.out.nodes[n].state;
            let facts = known.facts.iter().filter(|f| state.knows(**f)).count();
            let env = known
                .env
                .iter()
                .filter(|e| state.lookup(e.0) == Some(e.1))
                .count();
            (facts + env, std::cmp::Reverse(n))
        });
        match best {
            Some(node) => {
                let weaker = self.out.nodes[node].state.weaken(&state);
                Some((node, weaker))
            }
            None => {
                self.out.limited = true;
                None
            }
        }
    }

    /// φs of `to`, then what the edge makes invalid.
    fn enter(&mut self, from: BlockId, to: BlockId, state: &mut State) {
        let frame = self.frame;
        self.enter_phis(from, to, state);
        if frame.cfg.rpo().is_retreating(from, to) {
            self.forget_iteration(to, state);
        }
        self.prune(to, state);
    }

    fn enter_phis(&mut self, from: BlockId, to: BlockId, state: &mut State) {
        let frame = self.frame;
        // All φs read the old values, then all are assigned.
        let mut holders: SmallVec<[(usize, Where, bool); 4]> = SmallVec::new();
        let mut results: SmallVec<[ValueId; 4]> = SmallVec::new();
        let mut bindings: SmallVec<[(SymId, TermId); 4]> = SmallVec::new();
        for inst in frame.body.block_insts(to) {
            let Op::Phi { incoming } = frame.body.insts[inst].op else {
                break;
            };
            let result = frame.body.result(inst);
            results.push(result);
            let Some(entry) = frame
                .body
                .incoming(incoming)
                .iter()
                .find(|e| e.block == from)
            else {
                continue;
            };
            if let Some(value) = entry.value.as_value() {
                for (index, object) in state.objects.iter().enumerate() {
                    for place in &object.places {
                        if let Where::Value(v, off) = place.at
                            && v == value
                        {
                            holders.push((index, Where::Value(result, off), place.weak));
                        }
                    }
                }
            }
            self.bind_phi(
                crate::values::Symbol::Value(result),
                self.values.term(entry.value),
                state,
                &mut bindings,
            );
        }
        self.bind_memory_phis(from, to, state, &mut bindings);
        for object in &mut state.objects {
            for &result in &results {
                object.forget_value(result);
            }
        }
        for (index, at, weak) in holders {
            state.objects[index].add(at, weak);
        }
        for (sym, term) in bindings {
            state.bind(sym, Some(term));
        }
    }

    fn bind_phi(
        &mut self,
        symbol: crate::values::Symbol,
        incoming: TermId,
        state: &State,
        bindings: &mut SmallVec<[(SymId, TermId); 4]>,
    ) {
        if let Some(sym) = self.values.find(symbol)
            && self.relevant.decisive.contains(&sym)
        {
            let term = self.in_path(incoming, state);
            bindings.push((sym, term));
        }
    }

    fn bind_memory_phis(
        &mut self,
        from: BlockId,
        to: BlockId,
        state: &State,
        bindings: &mut SmallVec<[(SymId, TermId); 4]>,
    ) {
        let frame = self.frame;
        let Some(edge) = frame.cfg.preds(to).iter().position(|&p| p == from) else {
            return;
        };
        for &phi in frame.memssa.phis(to) {
            let drip_memssa::Def::Phi { operands, .. } = &frame.memssa.versions[phi].def else {
                continue;
            };
            let Some(&operand) = operands.get(edge) else {
                continue;
            };
            for width in [8u32, 16, 32, 64] {
                let symbol = crate::values::Symbol::Version(phi, width);
                if self.values.find(symbol).is_some()
                    && let Some(term) = self.values.version_term(frame, operand, width)
                {
                    self.bind_phi(symbol, term, state, bindings);
                }
            }
        }
    }

    /// A new iteration: values defined in the loop are not what they were.
    fn forget_iteration(&mut self, header: BlockId, state: &mut State) {
        let frame = self.frame;
        let Some(id) = frame.cfg.loops().headed_by(header) else {
            // A jump backwards that closes no natural loop: nothing known is safe to keep.
            state.facts.clear();
            state.env.clear();
            return;
        };
        let inside = |block: BlockId| frame.cfg.loops().contains(id, block);
        let is_header_phi = |value: ValueId| {
            frame.body.def(value).is_some_and(|inst| {
                frame.block_of(inst) == header
                    && matches!(frame.body.insts[inst].op, Op::Phi { .. })
            })
        };
        for object in &mut state.objects {
            object.places.retain(|p| match p.at {
                Where::Value(v, _) => {
                    is_header_phi(v)
                        || frame
                            .body
                            .def(v)
                            .is_none_or(|inst| !inside(frame.block_of(inst)))
                }
                Where::Cell(_) | Where::Var(_) => true,
            });
        }
        let values = &mut *self.values;
        let mut variant = |term: TermId| {
            values
                .symbols_in(term)
                .iter()
                .any(|&sym| values.home(sym).is_some_and(&inside))
        };
        state.facts.retain(|fact| !variant(*fact));
        // The φs' own bindings are of the new iteration if they do not mention the old one.
        state.env.retain(|entry| !variant(entry.1));
        if frame.body.vars.is_empty() {
            // Without binding markers the end of the iteration is where its variables lose what they held.
            let all: SmallVec<[usize; 4]> = (0..state.objects.len()).collect();
            self.check_roots(state, &all, None);
        }
    }

    /// Drops SSA values that nobody will read. The death of a value is no loss by itself: the variable that had it may
    /// still be in scope, and a path that ends the program leaks nothing.
    fn prune(&mut self, block: BlockId, state: &mut State) {
        for index in 0..state.objects.len() {
            let mut places = std::mem::take(&mut state.objects[index].places);
            places.retain(|p| match p.at {
                // A value of this very block is one of its φs, just assigned.
                Where::Value(v, _) => {
                    let home = self.frame.body.def(v).map(|inst| self.frame.block_of(inst));
                    home == Some(block) || self.is_live_in(v, block)
                }
                Where::Cell(_) | Where::Var(_) => true,
            });
            state.objects[index].places = places;
        }
        let mut env = std::mem::take(&mut state.env);
        env.retain(|entry| self.is_asked_in(entry.0, block));
        state.env = env;
        let mut facts = std::mem::take(&mut state.facts);
        facts.retain(|fact| self.is_fact_useful(*fact, block));
        state.facts = facts;
    }

    /// A fact that no later decision depends on keeps equal states apart for nothing.
    fn is_fact_useful(&mut self, fact: TermId, block: BlockId) -> bool {
        let symbols = self.values.symbols_in(fact);
        symbols.iter().any(|&sym| {
            (self.goal == Goal::Exits && self.relevant.interface.contains(&sym))
                || self.is_asked_in(sym, block)
        })
    }

    fn is_asked_in(&mut self, sym: SymId, block: BlockId) -> bool {
        let (frame, relevant) = (self.frame, self.relevant);
        let home = self.values.home(sym);
        let asked = self.asked.entry(sym).or_insert_with(|| {
            let mut blocks = IdSet::with_capacity(frame.body.blocks.len());
            let mut stack: Vec<BlockId> = relevant.uses.get(&sym).cloned().unwrap_or_default();
            while let Some(block) = stack.pop() {
                if blocks.insert(block) && Some(block) != home {
                    stack.extend(frame.cfg.preds(block));
                }
            }
            blocks
        });
        asked.contains(block)
    }

    /// Is the value read in `block` or later, before it is defined again?
    pub(crate) fn is_live_in(&mut self, value: ValueId, block: BlockId) -> bool {
        let frame = self.frame;
        self.live
            .entry(value)
            .or_insert_with(|| frame.live_blocks(value))
            .contains(block)
    }
}
