//! Question: along which paths of a function is an object neither freed, nor handed on, nor held?
//!
//! State analysis on the use-flow graph (SMOKE §III-C, table I): forward from the entry, one block at a time, in reverse
//! post-order. Domain: sets of [`State`]s per block, at most [`MAX_STATES`]; states with equal objects are merged beyond
//! [`FATE_VARIANTS`], keeping the facts they share (property simulation; polynomial, as the paper's stage 1). Transfer:
//! `transfer.rs`, `call.rs`. Branches that the path's own facts decide are not followed: a ∧ ¬a is found here.
//! One arbitrary instance of the object is followed; other instances of the same site are other objects (recency).
//! Known false negatives: what is stored into an element with unknown index is held "perhaps", and ends undecided.

use std::hash::BuildHasher;
use std::rc::Rc;

use drip_base::{IdSet, IndexVec, RankedWorklist};
use drip_pointer::{ObjId, ObjKind};
use drip_program::{BlockId, InstId, Op, ValueId};
use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;

use crate::frame::Frame;
use crate::graph::{Choices, End, EndKind, InEdge, Node, NodeId, UseFlow};
use crate::relevance::Relevance;
use crate::sparse::{Jumps, Loud};
use crate::state::{Escape, Followed, Machine, State, Where, keep_places};
use crate::values::Values;
use crate::waiting::Waiting;

/// States per block; beyond it those that agree on the objects' fates are joined. If none agrees the object is "given up:
/// limit" unless a leak was found.
pub const MAX_STATES: usize = 32;

/// Ways through a block that lead to the same state but ask for different conditions.
pub(crate) const MAX_WAYS: usize = 8;
/// Objects that are followed together and whose fates may be blurred where there are too many states.
const MAX_BLURRED: usize = 2;
/// States with equal objects per block, for each goal; beyond it they merge and forget what they do not share. Iterations of a
/// loop after the first are always merged.
const FATE_VARIANTS: usize = 8;
const EXITS_VARIANTS: usize = 8;
/// Blocks executed per exploration, for each goal: a base and a multiple of the function's blocks. Beyond it the rest of the
/// graph is missing.
pub const FATE_FUEL: (usize, usize) = (1_500, 4);
pub const EXITS_FUEL: (usize, usize) = (1_000, 6);
/// The same, where quiet blocks are jumped over.
const SPARSE_FUEL: (usize, usize) = (600, 1);
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
#[derive(Clone)]
pub(crate) struct Run {
    pub state: Rc<State>,
    pub choices: Choices,
}

impl Run {
    /// Forgets an SSA value that is about to be defined again.
    pub fn forget_value(&mut self, value: ValueId) {
        keep_places(
            &mut self.state,
            |place| !matches!(place.at, Where::Value(v, _) if v == value),
        );
    }
}

/// What the exploration notes of a node.
struct Mark {
    /// Hashes of the node's state and of its objects, to tell most states apart without looking at them.
    state: u64,
    objects: u64,
    executed: bool,
}

impl Mark {
    fn of(state: &State) -> Mark {
        let hash = FxBuildHasher;
        let objects = hash.hash_one(&state.objects);
        Mark {
            state: hash.hash_one((objects, &state.facts, &state.env)),
            objects,
            executed: false,
        }
    }

    /// The mark of another node with the same state.
    fn again(&self) -> Mark {
        Mark {
            executed: false,
            ..*self
        }
    }
}

pub struct Explorer<'f, 'a> {
    pub(crate) frame: &'f Frame<'a>,
    pub(crate) values: &'f mut Values,
    pub(crate) objects: Vec<ObjId>,
    pub(crate) goal: Goal,
    pub(crate) tells_ways: bool,
    all_or_nothing: bool,
    share: Share,
    /// The program's `main`: what its variables hold at the end leaks nothing.
    pub(crate) is_main: bool,
    pub(crate) relevant: &'f Relevance,
    /// Blocks on entry to which a symbol will still be asked for.
    pub(crate) asked: Vec<Option<IdSet<BlockId>>>,
    pub(crate) out: UseFlow,
    /// Room for the results of one instruction.
    pub(crate) results: Vec<Run>,
    by_block: FxHashMap<BlockId, AtBlock>,
    marks: IndexVec<NodeId, Mark>,
    /// Where the edges of each node lead to.
    targets: IndexVec<NodeId, SmallVec<[NodeId; 4]>>,
    /// Edges were taken out again.
    has_dropped: bool,
    /// Where paths that have met no object can still meet one.
    pub(crate) waiting: Waiting,
    /// What can concern the objects; nothing else is executed.
    loud: Option<Loud>,
    /// Jumps over blocks that do not concern the objects.
    jumps: Option<Jumps>,
}

/// The nodes of one block, and those of them that are to be executed.
#[derive(Default)]
struct AtBlock {
    nodes: SmallVec<[NodeId; 4]>,
    pending: SmallVec<[NodeId; 2]>,
}

/// What is followed, and how much of a path is remembered on the way.
#[derive(Clone)]
pub struct Following<'q> {
    /// Object 0 is the one in question; the others are followed along.
    pub objects: Vec<ObjId>,
    pub relevant: &'q Relevance,
    pub goal: Goal,
    /// Somebody will ask by which ways an end is reached: ways to one state under different conditions are kept apart.
    pub tells_ways: bool,
    /// The function is the program's `main`.
    pub is_main: bool,
    /// What is told is of no use unless it is all: end where it is known that it will not be.
    pub all_or_nothing: bool,
    /// So much of the fuel may be used: others of the function have come to no end.
    pub share: Share,
}

/// How much of its fuel an exploration may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    All,
    Quarter,
    Sixteenth,
}

impl Share {
    /// What an exploration gets where so many others of the same function have come to no end: in an interpreter's loop the next one
    /// won't either.
    pub fn after(endless: usize) -> Share {
        match endless {
            0..2 => Share::All,
            2..8 => Share::Quarter,
            _ => Share::Sixteenth,
        }
    }
}

impl Following<'_> {
    pub fn telling_ways(self) -> Self {
        let tells_ways = true;
        Following { tells_ways, ..self }
    }
}

/// Explores all paths. Instructions that can't concern the objects, nor what is remembered, are passed over.
pub fn explore<'a>(frame: &Frame<'a>, values: &mut Values, following: Following<'_>) -> UseFlow {
    let loud = Loud::new(frame, values, &following);
    let mut explorer = Explorer::new(frame, values, following);
    explorer.loud = Some(loud);
    explorer.explored()
}

/// The twin of [`explore`] and [`explore_sparsely`]: every instruction of every block.
pub fn explore_naively<'a>(
    frame: &Frame<'a>,
    values: &mut Values,
    following: Following<'_>,
) -> UseFlow {
    frame.touches(values);
    Explorer::new(frame, values, following).explored()
}

/// How all paths end. Only the blocks that can concern the objects, or that what is remembered depends on, are visited: the ends
/// are those of [`explore`], but nodes that follow each other need not be neighbours in the function. False beside it: there was hardly
/// anything to jump over, so that it is what [`explore`] would have told.
pub fn explore_sparsely<'a>(
    frame: &Frame<'a>,
    values: &mut Values,
    following: Following<'_>,
) -> (UseFlow, bool) {
    let loud = Loud::new(frame, values, &following);
    let jumps = Jumps::new(frame, values, &loud);
    let mut explorer = Explorer::new(frame, values, following);
    (explorer.loud, explorer.jumps) = (Some(loud), jumps);
    explorer.waiting.is_brief = true;
    explorer.run();
    let is_sparse = explorer.jumps.is_some() || explorer.waiting.has_cut;
    (explorer.finished(), is_sparse)
}

impl<'f, 'a> Explorer<'f, 'a> {
    fn new(
        frame: &'f Frame<'a>,
        values: &'f mut Values,
        following: Following<'f>,
    ) -> Explorer<'f, 'a> {
        let objects = following.objects;
        Explorer {
            frame,
            values,
            goal: following.goal,
            tells_ways: following.tells_ways,
            all_or_nothing: following.all_or_nothing,
            share: following.share,
            is_main: following.is_main,
            relevant: following.relevant,
            asked: Vec::new(),
            out: UseFlow {
                objects: objects.clone(),
                nodes: IndexVec::new(),
                ends: Vec::new(),
                limited: false,
                crowded: false,
                lacks_ways: false,
                forgetful: false,
                filtered: 0,
                steps: 0,
                executed: 0,
            },
            objects,
            results: Vec::new(),
            by_block: FxHashMap::default(),
            marks: IndexVec::new(),
            targets: IndexVec::new(),
            has_dropped: false,
            waiting: Waiting::default(),
            loud: None,
            jumps: None,
        }
    }

    fn explored(mut self) -> UseFlow {
        self.run();
        self.finished()
    }

    fn finished(mut self) -> UseFlow {
        // Each node is made with an edge to it.
        if self.has_dropped {
            self.out.drop_dead();
        }
        self.out
    }
}

impl Explorer<'_, '_> {
    fn run(&mut self) {
        let frame = self.frame;
        let mut work = RankedWorklist::new(frame.cfg.rpo().rank());
        let entry = self.start();
        self.find_birthplaces(entry);
        let state = Rc::new(self.initial_state());
        self.marks.push(Mark::of(&state));
        self.targets.push(SmallVec::new());
        self.out.nodes.push(Node {
            block: entry,
            state,
            preds: Vec::new(),
            later: false,
        });
        let at = self.by_block.entry(entry).or_default();
        at.nodes.push(UseFlow::ROOT);
        at.pending.push(UseFlow::ROOT);
        work.push(entry);
        let mut runs = Vec::new();
        let mut next = Vec::new();
        let mut steps = 0;
        let mut reached = 0;
        while let Some(block) = work.pop() {
            reached = reached.max(frame.cfg.rpo().rank()[block] as usize + 1);
            let fuel = self.fuel(reached);
            let pending = self.by_block.get_mut(&block).map(|at| &mut at.pending);
            for node in pending.map(std::mem::take).unwrap_or_default() {
                steps += 1;
                self.out.steps = steps;
                if steps > fuel {
                    self.out.limited = true;
                    return;
                }
                if self.is_in_vain() {
                    return;
                }
                self.execute(node, &mut runs, &mut next);
                for next in next.drain(..) {
                    let target = self.out.nodes[next].block;
                    let pending = &mut self.by_block.entry(target).or_default().pending;
                    if !pending.contains(&next) {
                        pending.push(next);
                    }
                    work.push(target);
                }
            }
        }
    }

    /// Blocks that may be executed before the function's blocks from this one on are reached. Blocks are taken in order: of who needs too many
    /// for the first ones it is known early that it will not end.
    fn fuel(&self, reached: usize) -> usize {
        let (base, factor) = match self.goal {
            _ if self.jumps.is_some() => SPARSE_FUEL,
            Goal::Fate => FATE_FUEL,
            Goal::Exits => EXITS_FUEL,
        };
        let blocks = self.frame.body.blocks.len();
        let fuel = match self.all_or_nothing {
            true if 2 * reached < blocks => base / 2 + factor * reached,
            true => base + factor * reached,
            false => base + factor * blocks,
        };
        match self.share {
            Share::All => fuel,
            Share::Quarter => fuel / 4,
            Share::Sixteenth => fuel / 16,
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

    /// Can the instruction concern the objects, or what is remembered?
    pub(crate) fn is_loud(&self, inst: InstId) -> bool {
        self.loud.as_ref().is_none_or(|loud| loud.contains(inst))
    }

    /// Does a call tell something of what is asked behind it in its own block?
    pub(crate) fn tells(&self, call: InstId) -> bool {
        let touches = self.frame.touches.get();
        touches.is_none_or(|touches| touches.telling.contains(call))
    }

    /// Is a path missing, so that nobody wants to know the others?
    fn is_in_vain(&self) -> bool {
        self.out.limited && self.all_or_nothing
    }

    /// Runs one node's block; `next` gets the nodes that have to be executed next.
    fn execute(&mut self, node: NodeId, runs: &mut Vec<Run>, next: &mut Vec<NodeId>) {
        if std::mem::replace(&mut self.marks[node].executed, true) {
            self.drop_old_edges(node);
        }
        let block = self.out.nodes[node].block;
        runs.clear();
        runs.push(Run {
            state: Rc::clone(&self.out.nodes[node].state),
            choices: Choices::new(),
        });
        let frame = self.frame;
        let last = frame.body.terminator(block);
        for inst in frame.body.block_insts(block) {
            if inst == last {
                for run in runs.drain(..) {
                    self.leave(node, block, inst, run, next);
                }
                return;
            }
            if !self.is_loud(inst) {
                continue;
            }
            // Nothing but a call can concern objects that do not exist yet.
            let is_call = matches!(frame.body.insts[inst].op, Op::Call { .. });
            let is_live = |run: &Run| run.state.objects.iter().any(|o| o.is_live());
            if !is_call && !runs.iter().any(is_live) {
                continue;
            }
            if is_call {
                self.unwind(node, inst, runs);
                if self.skips_call(inst, runs) {
                    continue;
                }
            }
            self.out.executed += runs.len();
            self.step(node, inst, runs);
            if runs.is_empty() || self.is_in_vain() {
                return;
            }
        }
    }

    /// A node that is executed again because it was weakened replaces what it led to before.
    fn drop_old_edges(&mut self, node: NodeId) {
        self.has_dropped = true;
        self.out.ends.retain(|end| end.node != node);
        for target in std::mem::take(&mut self.targets[node]) {
            let preds = &mut self.out.nodes[target].preds;
            preds.retain(|edge| edge.from != node);
        }
    }

    pub(crate) fn end(&mut self, node: NodeId, at: InstId, kind: EndKind, run: Run) {
        self.end_path(node, at, false, kind, run);
    }

    pub(crate) fn end_path(
        &mut self,
        node: NodeId,
        at: InstId,
        leaves: bool,
        kind: EndKind,
        run: Run,
    ) {
        // Equal ends of one node are one end, unless they are reached under different conditions.
        let same = |end: &&End| {
            end.node == node
                && (end.at, end.leaves, end.kind) == (at, leaves, kind)
                && end.state == run.state
        };
        let mut ways = self.out.ends.iter().filter(same);
        let is_new = match self.tells_ways {
            true => ways.all(|end| self.asks_otherwise(&end.choices, &run.choices)),
            false => ways.next().is_none(),
        };
        if is_new {
            self.out.ends.push(End {
                node,
                choices: run.choices,
                at,
                leaves,
                kind,
                state: run.state,
            });
        }
    }

    /// Follows the edge `from → to`, and on over blocks that do not concern the objects.
    pub(crate) fn flow(
        &mut self,
        node: NodeId,
        from: BlockId,
        to: BlockId,
        at: InstId,
        run: Run,
        next: &mut Vec<NodeId>,
    ) {
        let (Some(jumps), Some(loud)) = (&mut self.jumps, &self.loud) else {
            self.arrive(node, (from, to), at, run, next);
            return;
        };
        for &edge in jumps.landings(self.frame, loud, (from, to)).iter() {
            self.arrive(node, edge, at, run.clone(), next);
        }
    }

    /// Takes an edge and registers the state behind it.
    fn arrive(
        &mut self,
        node: NodeId,
        (from, to): (BlockId, BlockId),
        at: InstId,
        run: Run,
        next: &mut Vec<NodeId>,
    ) {
        let mut run = run;
        self.enter(from, to, &mut run.state);
        if self.settled(&run.state) {
            self.end(node, at, self.end_kind(&run.state), run);
            return;
        }
        if self.waits_in_vain(&run.state, to) {
            return;
        }
        if let Some((target, fresh)) = self.intern(
            node,
            to,
            run.state,
            self.frame.cfg.rpo().is_retreating(from, to),
        ) {
            let edge = InEdge {
                from: node,
                choices: run.choices,
            };
            // Where thousands of cases meet, looking through all their edges takes its time; few of them come from one node.
            let is_first = !self.targets[node].contains(&target);
            if is_first {
                self.targets[node].push(target);
            }
            let preds = &mut self.out.nodes[target].preds;
            if is_first || !preds.contains(&edge) {
                preds.push(edge);
            }
            if fresh {
                next.push(target);
            }
        }
    }

    /// Settles an object. Where that happened and by whom is of interest for the object in question only: for others, and
    /// for summaries, it would keep equal states apart.
    pub(crate) fn settle(&self, state: &mut State, index: usize, mut machine: Machine) {
        if index > 0 || self.goal == Goal::Exits {
            match &mut machine {
                Machine::Freed { at, .. } => *at = InstId::new(0),
                Machine::Escaped { at, to } => {
                    *at = InstId::new(0);
                    *to = Escape::Unknown(None);
                }
                _ => {}
            }
        }
        state.objects[index].settle(machine);
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

    /// The node for a state, and whether it must be executed (again).
    fn intern(
        &mut self,
        from: NodeId,
        block: BlockId,
        mut state: Rc<State>,
        later: bool,
    ) -> Option<(NodeId, bool)> {
        if state.facts.len() > MAX_FACTS {
            Rc::make_mut(&mut state).facts.truncate(MAX_FACTS);
        }
        // Where nothing has happened there is nothing to count anew.
        let mark = match Rc::ptr_eq(&self.out.nodes[from].state, &state) {
            true => self.marks[from].again(),
            false => Mark::of(&state),
        };
        let mut variants: SmallVec<[NodeId; 8]> = SmallVec::new();
        let at = self.by_block.entry(block).or_default();
        for &node in &at.nodes {
            let known = &self.out.nodes[node];
            let other = &self.marks[node];
            if other.state == mark.state && known.state == state {
                return Some((node, false));
            }
            if other.objects == mark.objects
                && known.later == later
                && known.state.objects == state.objects
            {
                variants.push(node);
            }
        }
        let bound = match self.goal {
            _ if later => 1,
            Goal::Fate => FATE_VARIANTS,
            Goal::Exits => EXITS_VARIANTS,
        };
        if variants.len() < bound && at.nodes.len() < MAX_STATES {
            let node = self.out.nodes.push(Node {
                block,
                state,
                preds: Vec::new(),
                later,
            });
            at.nodes.push(node);
            self.marks.push(mark);
            self.targets.push(SmallVec::new());
            return Some((node, true));
        }
        // Merge with the variant that loses least.
        let best = variants
            .into_iter()
            .max_by_key(|&n| (self.out.nodes[n].state.shared(&state), std::cmp::Reverse(n)));
        match best {
            Some(node) => {
                let weaker = Rc::make_mut(&mut self.out.nodes[node].state).weaken(&state);
                if weaker {
                    self.out.forgetful = true;
                    self.rehash(node);
                }
                Some((node, weaker))
            }
            None => self.join_objects(block, &state),
        }
    }

    /// Too many states in a block: the one that agrees best on what became of the objects takes this one in. What only one of the
    /// two holds is then held "perhaps"; an object that is followed along and has met different fates is nobody's any more
    /// (silence over noise). What became of the object in question is always told apart.
    fn join_objects(&mut self, block: BlockId, state: &State) -> Option<(NodeId, bool)> {
        let apart = self.told_apart();
        let agreement = |known: &State| {
            let pairs = || known.objects.iter().zip(&state.objects);
            let is_alike = pairs().take(apart).all(|(a, b)| a.machine == b.machine);
            is_alike.then(|| pairs().filter(|(a, b)| a.machine == b.machine).count())
        };
        let nodes = self.by_block.get(&block).map(|at| &at.nodes);
        let node = nodes
            .into_iter()
            .flatten()
            .filter_map(|&n| Some((agreement(&self.out.nodes[n].state)?, n)))
            .max_by_key(|&(agreeing, n)| (agreeing, std::cmp::Reverse(n)));
        let Some((_, node)) = node else {
            self.out.limited = true;
            return None;
        };
        self.out.crowded = true;
        let grown = take_in(Rc::make_mut(&mut self.out.nodes[node].state), state);
        if grown {
            self.rehash(node);
        }
        Some((node, grown))
    }

    /// Of how many objects states that are joined have to agree on the fate. Of many objects nothing would be left to tell.
    pub(crate) fn told_apart(&self) -> usize {
        match self.goal {
            _ if self.objects.len() > MAX_BLURRED => self.objects.len(),
            Goal::Fate => 1,
            Goal::Exits => 0,
        }
    }

    fn rehash(&mut self, node: NodeId) {
        let executed = self.marks[node].executed;
        self.marks[node] = Mark {
            executed,
            ..Mark::of(&self.out.nodes[node].state)
        };
    }
}

/// Makes a state say only what is true in both; true if that changed it.
pub(crate) fn take_in(known: &mut State, other: &State) -> bool {
    let mut grown = known.weaken(other);
    for (into, from) in known.objects.iter_mut().zip(&other.objects) {
        if into.machine == from.machine {
            grown |= into.join(from);
        } else if !matches!(into.machine, Machine::Escaped { .. }) {
            into.settle(Machine::Escaped {
                at: InstId::new(0),
                to: Escape::Unknown(None),
            });
            grown = true;
        }
    }
    grown
}
