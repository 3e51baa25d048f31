//! Question: can a candidate path really be taken? (SMOKE stage 2.)
//!
//! The path is executed symbolically: every branch on it contributes its condition as a term, φs (of values and of memory)
//! are what the path's edges make them, calls are what the chosen outcome says. Values are indexed by visit: a symbol that
//! is defined again gets a new name; a loop header that is entered again has its φs havocked, so that one turn stands for
//! any number of turns (Saturn §3.5). `trials.rs` gives the conjunction to the solver; `region.rs` runs the same steps for many
//! paths at once.

use drip_base::LoopId;
use drip_cond::{Budget, Session, Sort, SymId, TermId, Terms};
use drip_flow::{Choices, End, Frame, Symbol, UseFlow, Values, fitted, region, sort_of};
use drip_memssa::Def;
use drip_models::{Class, Outcome, Root, Subject, Value, ValuePath};
use drip_pointer::Loc;
use drip_program::{BlockId, InstId, Op, Operand};
use rustc_hash::{FxHashMap, FxHashSet};

use super::paths::Path;
use super::rests::{Rest, rests};
use super::turns::{BottomTest, Direction, trend};

/// Blocks that the condition of one loop may consist of.
const MAX_PARTS: usize = 5;

/// The condition of `path`, which ends at `end`: all of these hold.
pub fn path_condition(
    frame: &Frame<'_>,
    values: &mut Values,
    flow: &UseFlow,
    symbols: &mut SymbolIndex,
    path: &Path,
    end: &End,
) -> Vec<TermId> {
    let mut walker = Walker::new(frame, values, symbols);
    for (position, hop) in path.hops.iter().enumerate() {
        let block = flow.nodes[hop.node].block;
        let from = position
            .checked_sub(1)
            .map(|p| flow.nodes[path.hops[p].node].block);
        walker.enter(from, block);
        match path.hops.get(position + 1) {
            Some(next) => {
                walker.run(block, &hop.choices, None);
                walker.branch(block, flow.nodes[next.node].block);
            }
            None => walker.run(block, &hop.choices, Some(end.at)),
        }
    }
    walker.conjuncts
}

/// Questions about the facts of exits, all with a small budget, and their answers: the exits of one function ask the same ones again
/// and again.
pub(super) struct SmallQuestions {
    session: Session,
    /// Answers so far: many exits know the same.
    known: FxHashMap<Box<[TermId]>, bool>,
}

impl Default for SmallQuestions {
    fn default() -> Self {
        const SMALL: Budget = Budget {
            interval_steps: 2_000,
            splits: 8,
            guesses: 4,
            sat_clauses: 4_000,
            sat_conflicts: 40,
            lemma_rounds: 0,
        };
        SmallQuestions {
            session: Session::new(SMALL),
            known: FxHashMap::default(),
        }
    }
}

impl SmallQuestions {
    /// Can these facts of an exit hold together, as far as the budget tells? The exploration has only compared them one by one.
    pub fn can_hold(&mut self, values: &mut Values, facts: &[TermId]) -> bool {
        facts.len() < 2 || self.can_be(values, facts)
    }

    /// The same of facts that nobody has looked at yet.
    pub fn can_be(&mut self, values: &mut Values, facts: &[TermId]) -> bool {
        if let Some(&known) = self.known.get(facts) {
            return known;
        }
        let answer = self.session.check(&mut values.terms, facts);
        let can_be = !answer.is_infeasible();
        self.known.insert(facts.into(), can_be);
        can_be
    }
}

/// What symbols stand for at one point of a path.
pub(super) type Env = FxHashMap<SymId, TermId>;

/// Symbols by where they are defined.
#[derive(Default)]
pub(super) struct SymbolIndex {
    by_home: FxHashMap<BlockId, Vec<SymId>>,
    /// Symbols of memory versions that a call makes.
    by_call: FxHashMap<InstId, Vec<SymId>>,
    /// Symbols that have been looked at.
    indexed: usize,
}

impl SymbolIndex {
    /// Takes in the symbols that are new since the last time.
    fn update(&mut self, frame: &Frame<'_>, values: &Values) {
        for index in self.indexed..values.symbols.len() {
            let sym = SymId(index as u32);
            match values.symbol(sym) {
                // Havocked values are defined nowhere.
                Some(Symbol::Value(value)) if value.index() >= frame.body.value_count() => continue,
                Some(Symbol::Version(version, 1..)) => {
                    if let Def::Chi { inst, .. } = frame.memssa.versions[version].def
                        && frame.calls.contains_key(&inst)
                    {
                        self.by_call.entry(inst).or_default().push(sym);
                    }
                }
                _ => {}
            }
            if let Some(home) = values.home(sym) {
                self.by_home.entry(home).or_default().push(sym);
            }
        }
        self.indexed = values.symbols.len();
    }
}

/// Executes blocks symbolically.
pub(super) struct Walker<'w, 'a> {
    frame: &'w Frame<'a>,
    pub(super) values: &'w mut Values,
    symbols: &'w SymbolIndex,
    pub(super) env: Env,
    /// Blocks that the path has passed.
    pub(super) seen: FxHashSet<BlockId>,
    /// What holds on the way.
    pub(super) conjuncts: Vec<TermId>,
}

impl<'w, 'a> Walker<'w, 'a> {
    pub(super) fn new(
        frame: &'w Frame<'a>,
        values: &'w mut Values,
        symbols: &'w mut SymbolIndex,
    ) -> Self {
        symbols.update(frame, values);
        Walker {
            frame,
            values,
            symbols,
            env: Env::default(),
            seen: FxHashSet::default(),
            conjuncts: Vec::new(),
        }
    }

    /// Symbols that are defined in a block.
    pub(super) fn defined_in(&self, block: BlockId) -> &'w [SymId] {
        let symbols = self.symbols;
        symbols.by_home.get(&block).map_or(&[], Vec::as_slice)
    }

    /// Runs a block with the decisions taken in it, up to and with the instruction `last`.
    pub(super) fn run(&mut self, block: BlockId, choices: &Choices, last: Option<InstId>) {
        let frame = self.frame;
        for inst in frame.body.block_insts(block) {
            let choice = choices.iter().find(|c| c.inst == inst);
            self.execute(inst, choice.map(|c| c.alternative));
            if Some(inst) == last {
                break;
            }
        }
    }

    fn now(&mut self, term: TermId) -> TermId {
        if self.env.is_empty() {
            return term;
        }
        let env = &self.env;
        self.values.replaced(term, |sym| env.get(&sym).copied())
    }

    fn require(&mut self, term: TermId) {
        let term = self.now(term);
        if self.values.terms.as_bool(term) != Some(true) {
            self.conjuncts.push(term);
        }
    }

    pub(super) fn sort_of_symbol(&self, sym: SymId) -> Option<Sort> {
        match self.values.symbol(sym)? {
            Symbol::Value(value) if value.index() < self.frame.body.value_count() => {
                Some(sort_of(self.frame.program, self.frame.body.value_ty(value)))
            }
            Symbol::Value(_) => None,
            Symbol::Version(_, 0) => Some(Sort::Bits(64)),
            Symbol::Version(_, 1) => Some(Sort::Bool),
            Symbol::Version(_, width) => Some(Sort::Bits(width)),
        }
    }

    fn havoc(&mut self, sym: SymId) {
        if let Some(sort) = self.sort_of_symbol(sym) {
            let fresh = self.values.fresh_symbol(sort);
            self.env.insert(sym, fresh);
        }
    }

    /// Enters a block: symbols that are defined here a second time get new names, φs their values.
    pub(super) fn enter(&mut self, from: Option<BlockId>, block: BlockId) {
        let again = !self.seen.insert(block);
        let mut updates: Vec<(SymId, TermId)> = Vec::new();
        if let Some(from) = from {
            for (sym, term) in self.phis(from, block) {
                updates.push((sym, self.now(term)));
            }
        }
        let turns = from.is_some_and(|from| self.frame.cfg.rpo().is_retreating(from, block));
        if turns {
            // The turn that the path has made did not wrap its counters either.
            for &(sym, term) in &updates {
                let leaf = self.values.terms.sym(sym, self.values.terms.sort(term));
                let before = self.env.get(&sym).copied().unwrap_or(leaf);
                let gone_on = self.gone_on(sym, before, term, true);
                self.conjuncts.extend(gone_on);
            }
        }
        if again {
            for &sym in self.defined_in(block) {
                self.havoc(sym);
            }
        }
        if let (true, Some(from)) = (turns, from) {
            self.after_turns(from, block, updates);
        } else {
            self.env.extend(updates);
        }
    }

    /// A jump back to a loop's header: `came` is what it brings, further turns may have followed.
    fn after_turns(&mut self, from: BlockId, header: BlockId, came: Vec<(SymId, TermId)>) {
        let goes_on = self.sent_into_loop(header, &came);
        if goes_on == Some(Terms::FALSE) {
            self.env.extend(came);
            return;
        }
        let stays = goes_on.map(|condition| {
            let stays = self.values.fresh_symbol(Sort::Bool);
            let fact = self.values.terms.implies(stays, condition);
            self.conjuncts.push(fact);
            stays
        });
        for (sym, term) in came {
            let sort = self.values.terms.sort(term);
            let any = self.values.fresh_symbol(sort);
            let has_moved = stays.is_some();
            let gone_on = self.gone_on(sym, term, any, has_moved);
            self.conjuncts.extend(gone_on);
            let left = self.left_by_turns(sym, term, any);
            self.conjuncts.extend(left);
            let value = match stays {
                Some(stays) => self.values.terms.ite(stays, any, term),
                None => any,
            };
            self.env.insert(sym, value);
        }
        self.tested_at_bottom(from, header);
    }

    /// A loop that is tested at its end: what the last test has found holds for the value that the header has now.
    fn tested_at_bottom(&mut self, from: BlockId, header: BlockId) {
        let Some(test) = BottomTest::of(self.frame.body, from, header) else {
            return;
        };
        let value = self.values.of(test.phi);
        let other = self.values.term(test.other);
        let fact = test.fact(&mut self.values.terms, value, other);
        if let Some(fact) = fact {
            self.require(fact);
        }
    }

    /// The condition under which a header sends these values into its loop; `None` if nothing is known of it. A condition of
    /// several parts (`i < n && !failed`) is several blocks.
    fn sent_into_loop(&mut self, header: BlockId, came: &[(SymId, TermId)]) -> Option<TermId> {
        let id = self.frame.cfg.loops().headed_by(header)?;
        let condition = self.stays_inside(header, header, id, came, MAX_PARTS);
        (condition != Terms::TRUE).then_some(condition)
    }

    /// The condition under which `block`, with these values, leads on in the loop, as far as it can be told.
    fn stays_inside(
        &mut self,
        block: BlockId,
        header: BlockId,
        id: LoopId,
        known: &[(SymId, TermId)],
        parts: usize,
    ) -> TermId {
        let frame = self.frame;
        let terminator = frame.body.insts[frame.body.terminator(block)].op;
        let (test, then, els) = match terminator {
            Op::Br { target } => (Terms::TRUE, target, target),
            Op::CondBr { cond, then, els } => {
                let test = self
                    .condition(cond)
                    .and_then(|term| self.with_known(term, id, known));
                match test {
                    Some(test) => (test, then, els),
                    None => return Terms::TRUE,
                }
            }
            _ => return Terms::TRUE,
        };
        let mut sides = [Terms::FALSE; 2];
        for (side, target) in sides.iter_mut().zip([then, els]) {
            *side = if !frame.cfg.loops().contains(id, target) {
                Terms::FALSE
            } else if target == header || parts == 0 {
                Terms::TRUE
            } else {
                let mut known = known.to_vec();
                for (sym, term) in self.phis(block, target) {
                    known.extend(self.with_known(term, id, &known).map(|term| (sym, term)));
                }
                self.stays_inside(target, header, id, &known, parts - 1)
            };
        }
        let terms = &mut self.values.terms;
        if sides[0] == sides[1] {
            sides[0]
        } else {
            terms.ite(test, sides[0], sides[1])
        }
    }

    /// A term of the turn that begins with these values; `None` if it depends on what the turn does before.
    fn with_known(
        &mut self,
        term: TermId,
        id: LoopId,
        known: &[(SymId, TermId)],
    ) -> Option<TermId> {
        let (frame, values) = (self.frame, &mut *self.values);
        let found = |sym: SymId| known.iter().rev().find(|k| k.0 == sym).map(|k| k.1);
        let is_inside = |block: BlockId| frame.cfg.loops().contains(id, block);
        let symbols = values.symbols_in(term);
        let is_known =
            |sym: &SymId| found(*sym).is_some() || !values.home(*sym).is_some_and(is_inside);
        if !symbols.iter().all(is_known) {
            return None;
        }
        let env = &self.env;
        Some(values.replaced(term, |sym| found(sym).or_else(|| env.get(&sym).copied())))
    }

    /// What is known of a variable that was `before` when any number of turns have left `after` in it.
    pub(super) fn left_by_turns(
        &mut self,
        sym: SymId,
        before: TermId,
        after: TermId,
    ) -> Option<TermId> {
        let rests = rests(self.frame, self.values, sym)?;
        let terms = &mut self.values.terms;
        let Sort::Bits(width) = terms.sort(after) else {
            return None;
        };
        let mut cases = vec![terms.eq(before, after)];
        let zero = terms.int(width, 0);
        for rest in rests {
            cases.push(match rest {
                Rest::Constant(value) => {
                    let constant = terms.int(width, value);
                    terms.eq(after, constant)
                }
                Rest::NonZero => {
                    let is_zero = terms.eq(after, zero);
                    terms.not(is_zero)
                }
            });
        }
        Some(terms.or(&cases))
    }

    /// What is known of a counter that was `before` when further turns made it `after`.
    pub(super) fn gone_on(
        &mut self,
        sym: SymId,
        before: TermId,
        after: TermId,
        has_moved: bool,
    ) -> Option<TermId> {
        let Some(Symbol::Value(value)) = self.values.symbol(sym) else {
            return None;
        };
        let trend = trend(self.frame, self.frame.body.def(value)?)?;
        let terms = &mut self.values.terms;
        if terms.sort(before) == Sort::Bool {
            return None;
        }
        let (low, high) = match trend.direction {
            Direction::Unmoved => return Some(terms.eq(before, after)),
            Direction::Up => (before, after),
            Direction::Down => (after, before),
        };
        Some(if has_moved && trend.is_strict {
            terms.slt(low, high)
        } else {
            terms.sle(low, high)
        })
    }

    /// What the φs of a block take over from a predecessor.
    fn phis(&mut self, from: BlockId, block: BlockId) -> Vec<(SymId, TermId)> {
        let frame = self.frame;
        let mut updates = Vec::new();
        for inst in frame.body.block_insts(block) {
            let Op::Phi { incoming } = frame.body.insts[inst].op else {
                break;
            };
            let Some(sym) = self.values.find(Symbol::Value(frame.body.result(inst))) else {
                continue;
            };
            if let Some(entry) = frame
                .body
                .incoming(incoming)
                .iter()
                .find(|e| e.block == from)
            {
                let term = self.values.term(entry.value);
                updates.push((sym, term));
            }
        }
        let Some(edge) = frame.cfg.preds(block).iter().position(|&p| p == from) else {
            return updates;
        };
        for &phi in frame.memssa.phis(block) {
            let Def::Phi { operands, .. } = &frame.memssa.versions[phi].def else {
                continue;
            };
            let Some(&operand) = operands.get(edge) else {
                continue;
            };
            for width in [1, 8, 16, 32, 64] {
                if let Some(sym) = self.values.find(Symbol::Version(phi, width))
                    && let Some(term) = self.values.version_term(frame, operand, width)
                {
                    updates.push((sym, term));
                }
            }
        }
        updates
    }

    fn execute(&mut self, inst: InstId, choice: Option<u16>) {
        let frame = self.frame;
        match frame.body.insts[inst].op {
            Op::Call { .. } | Op::Invoke { .. } => {
                let Some(summary) = frame.calls.get(&inst) else {
                    return;
                };
                match (choice, &summary.outcomes[..]) {
                    (Some(number), outcomes) => {
                        if let Some(outcome) = outcomes.get(usize::from(number)) {
                            self.outcome(inst, outcome);
                        }
                    }
                    (None, [only]) => self.outcome(inst, only),
                    (None, outcomes) => self.one_of(inst, outcomes),
                }
            }
            // What is read or written through is not null.
            Op::Load { addr } | Op::Store { addr, .. } => {
                let term = self.values.term(frame.accessed(addr));
                if let Some(fact) = self.class(term, Class::NonZero) {
                    self.require(fact);
                }
            }
            Op::Select { cond, .. } => {
                if let Some(alternative) = choice {
                    let term = self.values.term(cond);
                    let fact = if alternative == 0 {
                        term
                    } else {
                        self.values.terms.not(term)
                    };
                    self.require(fact);
                }
            }
            _ => {}
        }
    }

    /// A call that does not concern the object had one of its outcomes, nobody knows which.
    fn one_of(&mut self, inst: InstId, outcomes: &[Outcome]) {
        let symbols = self.symbols;
        let written = symbols.by_call.get(&inst).map_or(&[][..], Vec::as_slice);
        let before: Vec<Option<TermId>> =
            written.iter().map(|s| self.env.get(s).copied()).collect();
        let held = self.conjuncts.len();
        let mut ways: Vec<TermId> = Vec::with_capacity(outcomes.len());
        for outcome in outcomes {
            self.outcome(inst, outcome);
            let mut facts = self.conjuncts.split_off(held);
            for (&sym, &before) in written.iter().zip(&before) {
                facts.extend(self.taken_back(sym, before));
            }
            ways.push(self.values.terms.and(&facts));
        }
        if !ways.is_empty() {
            let fact = self.values.terms.or(&ways);
            if self.values.terms.as_bool(fact) != Some(true) {
                self.conjuncts.push(fact);
            }
        }
    }

    /// Makes a symbol what it was `before` one of several outcomes; what that outcome has made of it becomes a condition.
    fn taken_back(&mut self, sym: SymId, before: Option<TermId>) -> Option<TermId> {
        let after = match before {
            Some(before) => self.env.insert(sym, before),
            None => self.env.remove(&sym),
        }?;
        let sort = self.values.terms.sort(after);
        let own = before.unwrap_or_else(|| self.values.terms.sym(sym, sort));
        (after != own).then(|| self.values.terms.eq(own, after))
    }

    /// A call had this outcome.
    fn outcome(&mut self, inst: InstId, outcome: &Outcome) {
        for fact in self.facts(inst, outcome) {
            self.require(fact);
        }
        self.unchanged(inst, std::slice::from_ref(outcome));
        self.written(inst, outcome);
    }

    /// What an outcome says of the call's arguments and result.
    fn facts(&mut self, inst: InstId, outcome: &Outcome) -> Vec<TermId> {
        let frame = self.frame;
        let mut facts: Vec<TermId> = Vec::new();
        for atom in &outcome.when {
            let argument = frame.asked_of(inst, atom);
            if atom.class.implies(Class::Eq(0))
                && argument.is_some_and(|arg| frame.is_pointer_sum(arg))
            {
                facts.push(self.values.terms.bool(false));
            }
            let term = match &atom.subject {
                Subject::Ret => Some(self.values.of(frame.body.result(inst))),
                Subject::Entry(path) => self.path_term(inst, path),
            };
            if let Some(term) = term {
                facts.extend(self.class(term, atom.class));
            }
        }
        let result = self.values.of(frame.body.result(inst));
        let sort = self.values.terms.sort(result);
        let equal = match &outcome.ret {
            Value::Int(0) if sort == Sort::Bool => {
                facts.push(self.values.terms.not(result));
                None
            }
            Value::Int(_) if sort == Sort::Bool => {
                facts.push(result);
                None
            }
            Value::Int(value) if sort != Sort::Bool => {
                Some(self.values.terms.int(sort.width(), *value as u64))
            }
            Value::Entry { path, plus } if plus.is_exact() => {
                self.path_term(inst, path).and_then(|term| {
                    if self.values.terms.sort(term) != sort || sort == Sort::Bool {
                        return None;
                    }
                    let delta = self.values.terms.int(sort.width(), plus.base as u64);
                    Some(self.values.terms.add(term, delta))
                })
            }
            _ => None,
        };
        if let Some(value) = equal {
            facts.push(self.values.terms.eq(result, value));
        }
        facts.extend(match outcome.ret {
            Value::Fresh { .. } => self.class(result, Class::NonZero),
            // The address of an element.
            Value::Entry { plus, .. } if !plus.is_exact() => self.class(result, Class::NonZero),
            Value::Unknown(class) => self.class(result, class),
            _ => None,
        });
        facts
    }

    /// Cells that the call leaves alone hold what they held.
    fn unchanged(&mut self, inst: InstId, outcomes: &[Outcome]) {
        let frame = self.frame;
        let symbols = self.symbols;
        for &sym in symbols.by_call.get(&inst).into_iter().flatten() {
            let Some(Symbol::Version(version, width)) = self.values.symbol(sym) else {
                continue;
            };
            let cell = drip_flow::cell_of(frame.memssa.versions[version].region);
            let Def::Chi { old, .. } = frame.memssa.versions[version].def else {
                continue;
            };
            let alone = |o: &Outcome| drip_flow::leaves_alone(frame, inst, o, cell);
            if frame.local.memory.is_strong(cell)
                && outcomes.iter().all(alone)
                && let Some(term) = self.values.version_term(frame, old, width)
            {
                let term = self.now(term);
                self.env.insert(sym, term);
            }
        }
    }

    /// Cells that the outcome certainly writes: what they hold afterwards.
    fn written(&mut self, inst: InstId, outcome: &Outcome) {
        let frame = self.frame;
        for write in &outcome.writes {
            if write.cell.base.root == Root::Ret || write.certainty == drip_models::Certainty::May {
                continue;
            }
            let targets = frame.resolve(inst, &write.cell.base);
            let [loc] = targets[..] else { continue };
            let place = Loc {
                obj: loc.obj,
                off: loc.off.plus(write.cell.offset),
            };
            let Some(cell) = frame.local.memory.find_cell(place) else {
                continue;
            };
            let Some(version) = frame.memssa.defined(inst, region(cell)) else {
                continue;
            };
            if !frame.local.memory.is_strong(cell) {
                continue;
            }
            for width in [8u32, 16, 32, 64] {
                let Some(sym) = self.values.find(Symbol::Version(version, width)) else {
                    continue;
                };
                let term = match &write.value {
                    Value::Int(value) => Some(self.values.terms.int(width, *value as u64)),
                    Value::Entry { path, plus } if plus.is_exact() => self
                        .path_term(inst, path)
                        .and_then(|t| fitted(self.values, t, width))
                        .map(|t| {
                            let t = self.now(t);
                            let delta = self.values.terms.int(width, plus.base as u64);
                            self.values.terms.add(t, delta)
                        }),
                    Value::Fresh { .. } | Value::Unknown(_) => {
                        let class = if let Value::Unknown(class) = write.value {
                            class
                        } else {
                            Class::NonZero
                        };
                        let leaf = self.values.terms.sym(sym, Sort::Bits(width));
                        if let Some(fact) = self.class(leaf, class) {
                            self.require(fact);
                        }
                        None
                    }
                    _ => None,
                };
                if let Some(term) = term {
                    self.env.insert(sym, term);
                }
            }
        }
    }

    fn class(&mut self, term: TermId, class: Class) -> Option<TermId> {
        drip_flow::class_term(self.values, term, class)
    }

    fn path_term(&mut self, inst: InstId, path: &ValuePath) -> Option<TermId> {
        drip_flow::path_term(self.frame, self.values, inst, path)
    }

    /// The branch from `block` to `to`.
    pub(super) fn branch(&mut self, block: BlockId, to: BlockId) {
        let frame = self.frame;
        let inst = frame.body.terminator(block);
        match frame.body.insts[inst].op {
            Op::CondBr { cond, then, els } if then != els => {
                let term = self.condition(cond);
                let Some(term) = term else { return };
                let fact = if to == then {
                    term
                } else {
                    self.values.terms.not(term)
                };
                self.require(fact);
            }
            Op::Switch {
                value,
                default,
                cases,
            } => {
                let term = self.values.term(value);
                let Sort::Bits(width) = self.values.terms.sort(term) else {
                    return;
                };
                let cases = frame.body.cases(cases);
                let to_default = to == default;
                let mut tests = Vec::new();
                for case in cases.iter().filter(|c| (c.target == to) != to_default) {
                    let constant = self.values.terms.int(width, case.value);
                    let test = self.values.terms.eq(term, constant);
                    tests.push(if to_default {
                        self.values.terms.not(test)
                    } else {
                        test
                    });
                }
                let fact = if to_default {
                    self.values.terms.and(&tests)
                } else {
                    self.values.terms.or(&tests)
                };
                self.require(fact);
            }
            _ => {}
        }
    }

    fn condition(&mut self, cond: Operand) -> Option<TermId> {
        let term = self.values.term(cond);
        (self.values.terms.sort(term) == Sort::Bool).then_some(term)
    }
}
