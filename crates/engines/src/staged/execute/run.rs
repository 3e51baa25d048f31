//! Runs through one function: instruction by instruction, both ways at a branch that nothing decides.

use std::ops::ControlFlow;
use std::rc::Rc;

use drip_base::SortedMap;
use drip_cond::{Sort, TermId};
use drip_models::Value as Told;
use drip_program::{BlockId, Body, FuncId, InstId, Op, Operand, Program, ValueId};

use super::super::turns::{BottomTest, TopTest};
use super::guards::is_overflow;
use super::guide::{Course, Guide, MAX_DEVIATIONS, Runs};
use super::machine::Machine;
use super::world::{Cells, Value, Word, World};

/// How often a run may enter one block by a branch that nothing decides, and by one that is decided.
const MAX_TURNS: u8 = 5;
const MAX_TURNS_OF_CALLEE: u8 = 2;
const MAX_DECIDED_TURNS: u8 = 24;

/// Turns of a counted loop that are executed one by one, and turns of any other loop. After them the loop's variables are unknown: this is some
/// later turn, and the loop may end (Saturn §3.5).
const COUNTED_TURNS: u8 = 12;
const FREE_TURNS: u8 = 2;

/// Runs that are cut after the whole of the guide and are looked at.
const MAX_ROUNDS: usize = 4;

/// One call of a function.
pub struct Activation<'b> {
    pub func: FuncId,
    pub body: &'b Body,
    pub number: u32,
    pub guide: Option<&'b Guide<'b>>,
}

/// What the values of a function are.
pub type Env = SortedMap<ValueId, Value>;

#[derive(Clone)]
pub struct Run {
    block: BlockId,
    /// The next instruction.
    at: u32,
    pub env: Rc<Env>,
    pub world: World,
    turns: Rc<SortedMap<BlockId, (u8, u8)>>,
    /// Blocks of the guide that are behind it.
    pub passed: usize,
    /// It has left the guide, and how often it did.
    pub is_off: bool,
    pub deviations: u8,
    /// Blocks entered by jumps backwards: tells the turns of loops apart.
    entered: u32,
    /// The loop that the run goes round.
    turn: Option<Turn>,
    /// A branch was taken since the last jump backwards that nothing decides.
    is_undecided: bool,
}

/// Jumps backwards to one block, one after the other.
#[derive(Clone)]
struct Turn {
    header: BlockId,
    count: u8,
    /// The loop's numbers and memory at the last of them.
    numbers: Rc<[(ValueId, TermId)]>,
    cells: Rc<Cells>,
}

impl Activation<'_> {
    /// The line of an instruction, for traces.
    pub fn line(&self, inst: InstId) -> Option<u32> {
        let loc = self.body.insts[inst].loc?;
        Some(self.body.locs[loc].line)
    }

    /// Does a callee give up here because of sizes that nobody has?
    fn is_guard(&self, program: &Program, inst: InstId, target: BlockId) -> bool {
        match self.body.insts[inst].op {
            Op::CondBr { cond, then, els } if then != els => {
                self.guide.is_none() && is_overflow(program, self.body, cond, target == then)
            }
            _ => false,
        }
    }

    fn course(&self, run: &Run, target: BlockId) -> Option<Course> {
        let free = Course {
            passed: 0,
            is_off: false,
            deviations: 0,
            is_free: true,
        };
        match self.guide {
            Some(guide) => guide.course(run, target),
            None => Some(free),
        }
    }
}

impl Run {
    /// How often the run has been in its block: a block made there is another one each time.
    pub fn turn_of_block(&self) -> u32 {
        self.entered
    }
}

/// What comes after an instruction.
pub enum Next {
    Here,
    /// The run can't go on: what it would do is undefined, or the program ends.
    Dead,
    /// One run for each of these results.
    Several(Vec<(World, Value)>),
}

impl Machine<'_, '_> {
    /// Executes a function from its entry; `exit` sees each return, until it has enough. `None` when the fuel is used up.
    pub fn execute(
        &mut self,
        activation: &Activation<'_>,
        args: Vec<Value>,
        world: World,
        exit: &mut dyn FnMut(&mut Self, World, Value) -> ControlFlow<()>,
    ) -> Option<()> {
        let params = args.into_iter().enumerate();
        let env = params.map(|(n, arg)| (activation.body.param(n), arg));
        let entry = BlockId::new(0);
        let first = Run {
            block: entry,
            at: activation.body.blocks[entry].insts.start,
            env: Rc::new(env.collect()),
            world,
            turns: Rc::default(),
            passed: 1,
            is_off: false,
            deviations: 0,
            entered: 0,
            turn: None,
            is_undecided: false,
        };
        let mut open = Runs::new(first, activation.guide.is_some());
        while let Some(mut run) = open.next() {
            // Ways through a callee may ask for something each, and all of them together for nothing.
            let is_outermost = activation.guide.is_some();
            if self.only_certain && is_outermost && !self.is_certain(&run.world) {
                continue;
            }
            loop {
                if self.fuel.steps == 0 {
                    return None;
                }
                self.fuel.steps -= 1;
                let inst = InstId::from_u32(run.at);
                let op = activation.body.insts[inst].op;
                if let Op::Ret { value } = op {
                    let value = match value {
                        Some(operand) => self.value(activation, &run.env, operand),
                        None => Value::None,
                    };
                    if exit(self, run.world, value).is_break() {
                        return Some(());
                    }
                    break;
                }
                if op.is_terminator() && !matches!(op, Op::Invoke { .. }) {
                    self.branch(activation, run, inst, &mut open);
                    break;
                }
                match self.step(activation, &mut run, inst)? {
                    Next::Dead => {
                        tracing::trace!(
                            depth = self.stack.len(),
                            line = activation.line(inst),
                            "ends"
                        );
                        break;
                    }
                    Next::Here => {}
                    Next::Several(mut results) => {
                        let result = activation.body.result(inst);
                        if let Some(told) = activation.guide.and_then(|g| g.results.get(&inst)) {
                            results.sort_by_key(|(_, value)| !self.agrees(value, told));
                        }
                        for (world, value) in results.into_iter().rev() {
                            let mut next = run.clone();
                            next.world = world;
                            Rc::make_mut(&mut next.env).insert(result, value);
                            self.after(activation, next, op, &mut open);
                        }
                        break;
                    }
                }
                if let Op::Invoke { .. } = op {
                    self.after(activation, run, op, &mut open);
                    break;
                }
                run.at += 1;
            }
        }
        Some(())
    }

    /// Can the value be the one that is told?
    fn agrees(&self, value: &Value, told: &Told) -> bool {
        let Value::Word(word) = value else {
            return true;
        };
        let known = match word.at {
            Some(_) => None,
            None => self.terms.as_int(word.term),
        };
        let signed = |bits: u64| drip_cond::to_signed(bits, self.terms.width(word.term));
        match (told, known, word.at) {
            (Told::Int(number), Some(bits), _) => signed(bits) == *number,
            (Told::Int(_), None, at) => at.is_none(),
            (Told::Fresh { .. }, _, at) => at.is_some(),
            (Told::Unknown(class), Some(bits), _) => class.contains(signed(bits)),
            (Told::Unknown(class), None, Some(_)) => class.contains(1),
            _ => true,
        }
    }

    /// Goes on behind a call.
    fn after(&mut self, activation: &Activation<'_>, mut run: Run, op: Op, open: &mut Runs) {
        match op {
            Op::Invoke { normal, .. } => {
                let always = self.terms.bool(true);
                if let Some(course) = activation.course(&run, normal) {
                    self.enter(activation, run, normal, course, always, open);
                }
            }
            _ => {
                run.at += 1;
                open.push(run);
            }
        }
    }

    /// The ways out of a block: those that can be taken, and that the guide wants.
    fn branch(&mut self, activation: &Activation<'_>, run: Run, inst: InstId, open: &mut Runs) {
        let body = activation.body;
        let ways: Vec<(BlockId, TermId)> = match body.insts[inst].op {
            Op::Br { target } => vec![(target, self.terms.bool(true))],
            Op::CondBr { cond, then, els } => {
                let cond = self.condition(activation, &run.env, cond);
                let not = self.terms.not(cond);
                match then == els {
                    true => vec![(then, self.terms.bool(true))],
                    false => vec![(then, cond), (els, not)],
                }
            }
            Op::Switch {
                value,
                default,
                cases,
            } => self.switch(activation, &run, value, default, body.cases(cases)),
            Op::IndirectBr { targets, .. } => {
                let mut targets = body.targets(targets).to_vec();
                targets.dedup();
                let chosen = |machine: &mut Self| machine.unknown(Sort::Bool);
                targets
                    .into_iter()
                    .map(|target| (target, chosen(self)))
                    .collect()
            }
            Op::Unreachable | Op::Resume { .. } => return,
            _ => {
                self.is_cut = true;
                return;
            }
        };
        // The last one pushed is executed first: the least travelled.
        let mut ways: Vec<(BlockId, TermId, Course)> = ways
            .into_iter()
            .filter_map(|(target, fact)| Some((target, fact, activation.course(&run, target)?)))
            .collect();
        let travelled = |block: BlockId| run.turns.get(block).map_or(0, |t| t.0);
        ways.sort_by_key(|way| std::cmp::Reverse((way.2.is_free, travelled(way.0))));
        for (target, fact, course) in ways {
            if activation.is_guard(self.context.program, inst, target) {
                continue;
            }
            let mut next = run.clone();
            if self.assume(&mut next.world, fact) {
                next.world.hangs |= activation.guide.is_none() && self.speaks_of_memory(fact);
                self.enter(activation, next, target, course, fact, open);
            } else {
                tracing::trace!(
                    depth = self.stack.len(),
                    line = activation.line(inst),
                    "not taken"
                );
            }
        }
    }

    fn switch(
        &mut self,
        activation: &Activation<'_>,
        run: &Run,
        value: Operand,
        default: BlockId,
        cases: &[drip_program::SwitchCase],
    ) -> Vec<(BlockId, TermId)> {
        let term = self.word(activation, &run.env, value).term;
        let sort = self.terms.sort(term);
        let mut ways: Vec<(BlockId, Vec<TermId>)> = Vec::new();
        let mut others = Vec::new();
        for case in cases {
            let constant = self.number(sort, case.value).term;
            let equal = match sort {
                Sort::Bool => self.terms.iff(term, constant),
                Sort::Bits(_) => self.terms.eq(term, constant),
            };
            others.push(self.terms.not(equal));
            match ways.iter_mut().find(|way| way.0 == case.target) {
                Some(way) => way.1.push(equal),
                None => ways.push((case.target, vec![equal])),
            }
        }
        let rest = self.terms.and(&others);
        match ways.iter_mut().find(|way| way.0 == default) {
            Some(way) => way.1.push(rest),
            None => ways.push((default, vec![rest])),
        }
        ways.into_iter()
            .map(|(target, any)| (target, self.terms.or(&any)))
            .collect()
    }

    /// Goes to a block; φs read all their inputs at once.
    fn enter(
        &mut self,
        activation: &Activation<'_>,
        mut run: Run,
        target: BlockId,
        course: Course,
        fact: TermId,
        open: &mut Runs,
    ) {
        let is_decided = self.terms.as_bool(fact).is_some();
        if course.deviations > MAX_DEVIATIONS {
            self.is_cut = true;
            return;
        }
        (run.passed, run.is_off) = (course.passed, course.is_off);
        run.deviations = course.deviations;
        run.world.is_elsewhere = run.deviations > 0;
        if activation.guide.is_some() {
            self.furthest = self.furthest.max(run.passed);
        }
        run.is_undecided |= !is_decided;
        if course.is_free {
            let turns = Rc::make_mut(&mut run.turns).get_or_insert_with(target, Default::default);
            let (count, most) = match (is_decided, activation.guide) {
                (true, _) => (&mut turns.1, MAX_DECIDED_TURNS),
                (false, Some(_)) => (&mut turns.0, MAX_TURNS),
                (false, None) => (&mut turns.0, MAX_TURNS_OF_CALLEE),
            };
            *count += 1;
            if *count > most {
                self.is_cut = true;
                self.cut_at(activation, &run, target);
                return;
            }
        }
        let body = activation.body;
        let mut inputs: Vec<(ValueId, Value)> = Vec::new();
        let mut first = body.blocks[target].insts.start;
        for inst in body.block_insts(target) {
            let Op::Phi { incoming } = body.insts[inst].op else {
                break;
            };
            first = inst.as_u32() + 1;
            let mut incoming = body.incoming(incoming).iter();
            if let Some(input) = incoming.find(|i| i.block == run.block) {
                let value = self.value(activation, &run.env, input.value);
                inputs.push((body.result(inst), value));
            }
        }
        if !inputs.is_empty() {
            Rc::make_mut(&mut run.env).extend(inputs);
        }
        // Blocks stand in the order of the source: a jump backwards begins a turn of a loop.
        if target <= run.block {
            self.begin_turn(activation, &mut run, target);
        }
        run.block = target;
        run.at = first;
        open.push(run);
    }

    fn begin_turn(&mut self, activation: &Activation<'_>, run: &mut Run, header: BlockId) {
        let last = run.turn.take().filter(|turn| turn.header == header);
        let count = last.as_ref().map_or(1, |turn| turn.count.saturating_add(1));
        let most = match run.is_undecided && activation.guide.is_some() {
            true => FREE_TURNS,
            false => COUNTED_TURNS,
        };
        if let (true, Some(last)) = (count == most, last) {
            self.forget_turn(activation, run, header, &last);
            run.world.is_widened = true;
            run.world.hangs |= run.is_undecided;
        }
        run.turn = Some(Turn {
            header,
            count,
            numbers: self.numbers_of(activation, run, header).into(),
            cells: Rc::clone(&run.world.cells),
        });
        run.is_undecided = false;
        run.entered += 1;
    }

    /// Any number of further turns may follow: numbers that go on from turn to turn are unknown. What each turn gets from elsewhere stands
    /// for any turn's as it is.
    fn forget_turn(
        &mut self,
        activation: &Activation<'_>,
        run: &mut Run,
        header: BlockId,
        last: &Turn,
    ) {
        for (phi, new) in self.numbers_of(activation, run, header) {
            let old = last.numbers.iter().find(|number| number.0 == phi);
            if let Some(later) = old.and_then(|old| self.later(&mut run.world, old.1, new)) {
                Rc::make_mut(&mut run.env).insert(phi, Value::Word(later));
            }
        }
        self.tested_at_bottom(activation, run, header);
        self.tested_at_top(activation, run, header);
        let now = Rc::clone(&run.world.cells);
        let numbers = now.iter().filter(|(_, cell)| cell.word.at.is_none());
        for ((obj, off), cell) in numbers {
            let old = last.cells.get((obj, off)).map(|old| old.word.term);
            let later = old.and_then(|old| self.later(&mut run.world, old, cell.word.term));
            if let Some(later) = later {
                run.world.put(obj, off, later, cell.bytes);
            }
        }
    }

    /// What the test at the end of the last turn has found holds for what the header's number is now.
    fn tested_at_bottom(&mut self, activation: &Activation<'_>, run: &mut Run, header: BlockId) {
        let Some(test) = BottomTest::of(activation.body, run.block, header) else {
            return;
        };
        let Some(&Value::Word(word)) = run.env.get(test.phi) else {
            return;
        };
        let Value::Word(other) = self.value(activation, &run.env, test.other) else {
            return;
        };
        if let Some(fact) = test.fact(&mut self.terms, word.term, other.term) {
            Rc::make_mut(&mut run.world.facts).push(fact);
        }
    }

    /// So does what the test at the beginning of a turn has found of the number that the last turn had.
    fn tested_at_top(&mut self, activation: &Activation<'_>, run: &mut Run, header: BlockId) {
        let Some(top) = TopTest::of(activation.body, run.block, header) else {
            return;
        };
        let Some(&Value::Word(word)) = run.env.get(top.test.phi) else {
            return;
        };
        let step = self.value(activation, &run.env, top.step);
        let other = self.value(activation, &run.env, top.test.other);
        let (Value::Word(step), Value::Word(other)) = (step, other) else {
            return;
        };
        if let Some(fact) = top.fact(&mut self.terms, word.term, step.term, other.term) {
            Rc::make_mut(&mut run.world.facts).push(fact);
        }
    }

    /// What a number is in some later turn, if it goes on from `old` to `new`. Counters are taken not to wrap.
    fn later(&mut self, world: &mut World, old: TermId, new: TermId) -> Option<Word> {
        let sort = self.terms.sort(new);
        if old == new || self.terms.sort(old) != sort || sort == Sort::Bool {
            return None;
        }
        let numbers = (self.terms.as_int(old), self.terms.as_int(new));
        let goes_on = numbers.1.is_some() || self.terms.subterms(&[new]).contains(&old);
        if !goes_on {
            return None;
        }
        let later = self.unknown_word(sort);
        if let (Some(from), Some(to)) = numbers {
            let width = sort.width();
            let grows = drip_cond::to_signed(from, width) < drip_cond::to_signed(to, width);
            let trend = match grows {
                true => self.terms.sle(new, later.term),
                false => self.terms.sle(later.term, new),
            };
            Rc::make_mut(&mut world.facts).push(trend);
        }
        Some(later)
    }

    /// The numbers among a loop's φs.
    fn numbers_of(
        &self,
        activation: &Activation<'_>,
        run: &Run,
        header: BlockId,
    ) -> Vec<(ValueId, TermId)> {
        let body = activation.body;
        let insts = body.block_insts(header);
        let phis = insts.take_while(|&inst| matches!(body.insts[inst].op, Op::Phi { .. }));
        phis.filter_map(|inst| {
            let phi = body.result(inst);
            match run.env.get(phi) {
                Some(&Value::Word(Word { term, at: None })) => Some((phi, term)),
                _ => None,
            }
        })
        .collect()
    }

    /// A run that has come through all of the guide goes round a loop, perhaps for ever: what it holds is what its variables hold.
    fn cut_at(&mut self, activation: &Activation<'_>, run: &Run, target: BlockId) {
        let Some(guide) = activation.guide.filter(|g| run.passed >= g.blocks.len()) else {
            return;
        };
        if self.rounds.len() >= MAX_ROUNDS {
            return;
        }
        let body = activation.body;
        let is_live = |value: ValueId| match body.def(value) {
            None => true,
            Some(inst) => {
                let home = guide.frame.block_of(inst);
                home != target && guide.frame.cfg.dominates(home, target)
            }
        };
        let mut held: Vec<Word> = Vec::new();
        let mut keep = |value: Value| match value {
            Value::Word(word) => held.push(word),
            Value::Fields(words) => held.extend(words.iter()),
            Value::None => {}
        };
        for (_, known) in run.env.iter().filter(|(value, _)| is_live(*value)) {
            keep(known.clone());
        }
        for inst in body.block_insts(target) {
            let Op::Phi { incoming } = body.insts[inst].op else {
                break;
            };
            let mut incoming = body.incoming(incoming).iter();
            if let Some(input) = incoming.find(|i| i.block == run.block) {
                keep(self.value(activation, &run.env, input.value));
            }
        }
        self.rounds.push((run.world.clone(), held));
    }
}
