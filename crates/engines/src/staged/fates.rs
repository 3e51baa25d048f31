//! Question: does the program end anyway, right after a function has returned what it returned?
//!
//! A helper that gives up without freeing, whose callers all report the error and exit, leaks nothing that anybody would fix.
//! Every call of the function is followed to the end of its caller (`ways`), with what is known of the result deciding what it can;
//! where the caller returns, its own callers are asked, at most [`MAX_DEPTH`] deep. Every way has to come to a call that never
//! returns, and soon, or to the end of `main` in a program of some size: what a command of many loses on its way out is nobody's
//! concern. The `main` of a small program ([`LARGE_PROGRAM`]) could have cleaned up, and whoever checks such a program means
//! every block of it; so does a program that is just freeing what held the block. Where `main` returns a failure because a callee has
//! failed, a smaller program ([`MIDDLING_PROGRAM`]) has given up as well, as far as other paths have freed the block. A function whose address is taken is called where the
//! call graph says. Numbers that the losing path leaves in memory (`flags`) decide like the result does. A function that is asked for while
//! it is followed already (recursion, commands that call commands) comes back to its first caller in the end.

use drip_models::Class;
use drip_program::noreturn::NoReturn;
use drip_program::{BinaryOp, BlockId, Body, Const, FuncId, InstId, Op, Operand, Program};
use rustc_hash::FxHashSet;

use super::afterwards::Returns;
use super::bits::Bits;
use super::callers::Callers;
use super::flags::{Flags, classes};
use super::interface::constant;
use super::ways::{Asker, Way, Ways, Work};

/// Callers of callers; further up the program counts as one that runs on.
const MAX_DEPTH: usize = 12;

/// Instructions that a `main` can come to, from which on its return counts as the program's end like a call of `exit`: some five
/// thousand lines. Below it every block is told of.
const LARGE_PROGRAM: usize = 20_000;

/// The same for a `main` that returns a failure: one to two thousand lines. What is smaller is an example, and means every path.
const MIDDLING_PROGRAM: usize = 5_000;

pub(super) struct Fates<'f> {
    program: &'f Program,
    callers: &'f Callers<'f>,
    no_return: NoReturn,
    /// The `main`s of large programs.
    large: FxHashSet<FuncId>,
    /// Those of programs that are not small.
    middling: FxHashSet<FuncId>,
}

/// What counts as the program's end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// A call that never returns.
    Exit,
    /// The return of a large program's `main` as well.
    Main,
    /// The same, and that of a smaller one's if it tells a failure of what it called.
    Failure,
}

impl<'f> Fates<'f> {
    pub fn new(program: &'f Program, callers: &'f Callers<'f>) -> Fates<'f> {
        Fates {
            program,
            callers,
            no_return: NoReturn::build(program, &[]),
            large: callers.programs_from(LARGE_PROGRAM),
            middling: callers.programs_from(MIDDLING_PROGRAM),
        }
    }

    /// The `main`s of programs that are no examples.
    pub fn mains(&self) -> &FxHashSet<FuncId> {
        &self.middling
    }

    /// Does the program end after each of these returns?
    pub fn ends_after(&self, returns: &Returns, ending: Ending) -> bool {
        let mut work = returns.work.clone();
        work.take_end();
        let mut values = returns.values.iter();
        let all_end = values.all(|&value| {
            let returned = Returned {
                func: returns.func,
                value,
                bits: bits_of(value),
                flags: &returns.flags,
            };
            self.ends(returned, ending, MAX_DEPTH, &mut work)
        });
        all_end && (work.take_end() || returns.values.is_empty())
    }

    /// Does the program end soon behind this instruction, whoever has called the function? Nothing is known of the way that led there. The
    /// function may go on round a loop that calls nothing of the program (a list that is taken apart).
    pub fn ends_behind(&self, func: FuncId, inst: InstId, ending: Ending) -> bool {
        let body = self.program.funcs[func].body.as_ref();
        let Some((body, block)) = body.and_then(|body| Some((body, body.block_of(inst)?))) else {
            return false;
        };
        let asker = OfCall {
            fates: self,
            caller: func,
            body,
            call: inst,
            returned: Class::Any,
            bits: 0,
            flags: Flags::default(),
            ending,
            depth: MAX_DEPTH - 1,
            is_loss: true,
        };
        let mut work = Work::default();
        Ways::new(self.program, body, asker, &mut work).all_end(block, inst) && work.take_end()
    }

    fn ends(&self, returned: Returned<'_>, ending: Ending, depth: usize, work: &mut Work) -> bool {
        let Returned {
            func,
            value,
            bits,
            flags,
        } = returned;
        let function = self.program.func_name(func);
        tracing::trace!(function, ?value, "returned");
        if self.program.func_name(func) == "main" {
            work.end();
            let is_failure = depth < MAX_DEPTH && value.implies(Class::NonZero);
            return match ending {
                Ending::Exit => false,
                Ending::Main => self.large.contains(&func),
                Ending::Failure => {
                    self.large.contains(&func) || is_failure && self.middling.contains(&func)
                }
            };
        }
        if !work.ask(func, value, bits, flags) {
            return true;
        }
        let Some(depth) = depth.checked_sub(1) else {
            return false;
        };
        let calls = self.callers.of_name(func);
        if calls.is_empty() {
            return false;
        }
        calls.iter().all(|&(caller, call)| {
            let body = self.program.funcs[caller].body.as_ref();
            let Some((body, block)) = body.and_then(|body| Some((body, body.block_of(call)?)))
            else {
                return false;
            };
            let asker = OfCall {
                fates: self,
                caller,
                body,
                call,
                returned: value,
                bits,
                flags: flags.in_caller(body, call),
                ending,
                depth,
                is_loss: false,
            };
            Ways::new(self.program, body, asker, work).all_end(block, call)
        })
    }
}

/// A return of a function, and what is known then.
#[derive(Clone, Copy)]
struct Returned<'r> {
    func: FuncId,
    value: Class,
    /// Bits of the value that are set.
    bits: u64,
    flags: &'r Flags,
}

/// Bits that are set in every value of a class.
fn bits_of(class: Class) -> u64 {
    match class {
        Class::Eq(number) => number as u64,
        _ => 0,
    }
}

/// One call, followed to the end of its caller.
struct OfCall<'w, 'f> {
    fates: &'w Fates<'f>,
    caller: FuncId,
    body: &'w Body,
    call: InstId,
    returned: Class,
    /// Bits of what the call has returned that are set.
    bits: u64,
    /// Known behind the call.
    flags: Flags,
    ending: Ending,
    depth: usize,
    /// It is the statement that loses something.
    is_loss: bool,
}

impl OfCall<'_, '_> {
    /// The call's result, a number, or one that is known to be in memory.
    fn class(&self, way: &Way, operand: Operand) -> Class {
        let mut operand = way.taken(self.body, operand);
        while let Some(inst) = operand.as_value().and_then(|value| self.body.def(value))
            && let Op::Cast { value, .. } = self.body.insts[inst].op
        {
            operand = way.taken(self.body, value);
        }
        if operand.as_value() == Some(self.body.result(self.call)) {
            // The next turn of a loop gets another result.
            let block = self.body.block_of(self.call);
            let is_called_again = way.edges().iter().any(|edge| Some(edge.1) == block);
            return match is_called_again {
                true => Class::Any,
                false => self.returned,
            };
        }
        if is_counted(self.fates.program, self.body, operand) {
            return Class::Ge(1);
        }
        match constant(self.fates.program, self.body, operand) {
            Some(number) => Class::Eq(number),
            None => self.in_memory(way, operand).unwrap_or(Class::Any),
        }
    }

    /// Does a condition hold on this way?
    fn truth(&self, way: &Way, cond: Operand) -> Option<bool> {
        let (program, body) = (self.fates.program, self.body);
        let cond = way.taken(body, cond);
        if let Some(number) = constant(program, body, cond) {
            return Some(number != 0);
        }
        let (a, (holds, fails)) = match body.insts[body.def(cond.as_value()?)?].op {
            Op::Cmp { pred, a, b } => match self.class(way, b) {
                Class::Eq(b) => (a, classes(pred, b)?),
                _ => return None,
            },
            Op::Binary { op, a, b } if op == BinaryOp::Xor && constant(program, body, b)? != 0 => {
                return self.truth(way, a).map(|holds| !holds);
            }
            _ => (cond, (Class::NonZero, Class::Eq(0))),
        };
        let class = match self.class(way, a) {
            Class::Any if self.bits_on(way).tells(a) => Class::NonZero,
            class => class,
        };
        match class {
            a if a.implies(holds) => Some(true),
            a if a.implies(fails) => Some(false),
            _ => None,
        }
    }

    /// What is known of numbers' bits where the way ends.
    fn bits_on(&self, way: &Way) -> Bits<'_> {
        Bits::on(self.fates.program, self.body, way, self.call, self.bits)
    }

    /// What is known of a value that was loaded on this way.
    fn in_memory(&self, way: &Way, operand: Operand) -> Option<Class> {
        let (load, class) = self.flags_after(way).of(self.body, operand)?;
        let block = self.body.block_of(load)?;
        let is_behind = Some(block) == self.body.block_of(self.call) && load > self.call;
        let is_passed = way.edges().iter().any(|edge| edge.1 == block);
        (is_behind || is_passed).then_some(class)
    }

    /// Numbers in memory that are known where the way ends.
    fn flags_after(&self, way: &Way) -> Flags {
        let (program, body) = (self.fates.program, self.body);
        let mut flags = self.flags.clone();
        let Some(first) = body.block_of(self.call) else {
            return flags;
        };
        let behind = body.block_insts(first).filter(|&inst| inst > self.call);
        let passed = way.edges().iter();
        let passed = passed.flat_map(|&(_, block)| body.block_insts(block));
        for inst in behind.chain(passed) {
            flags.pass(program, body, inst);
            // What the call has returned is kept somewhere and looked at there (`s->list = make(); if (!s->list) exit(1);`).
            if let Op::Store { addr, value } = body.insts[inst].op
                && value.as_value() == Some(body.result(self.call))
                && self.returned != Class::Any
            {
                flags.put(body, addr, self.returned);
            }
        }
        flags
    }
}

impl Asker for OfCall<'_, '_> {
    fn never_passes(&mut self, inst: InstId) -> bool {
        self.fates.no_return.never_passes(self.body, inst)
    }

    fn decides(&mut self, way: &Way, cond: Operand) -> Option<bool> {
        self.truth(way, cond)
    }

    fn comes_to_an_end(&mut self, turn: &[(BlockId, BlockId)]) -> bool {
        let mut insts = turn
            .iter()
            .flat_map(|&(_, block)| self.body.block_insts(block));
        let is_of_program = |inst: InstId| match self.body.insts[inst].op {
            Op::Call { callee, .. } | Op::Invoke { callee, .. } => {
                match self.body.const_of(callee) {
                    Some(&Const::Func(func)) => self.fates.program.funcs[func].body.is_some(),
                    _ => true,
                }
            }
            _ => false,
        };
        self.is_loss && !insts.any(is_of_program)
    }

    fn has_counted(&mut self, way: &Way, turn: &[(BlockId, BlockId)]) -> bool {
        let (program, body) = (self.fates.program, self.body);
        let bits = self.bits_on(way);
        let blocks = turn.iter().map(|edge| edge.1);
        let mut insts = blocks.flat_map(|block| body.block_insts(block));
        insts.any(|inst| {
            let is_phi = matches!(body.insts[inst].op, Op::Phi { .. });
            let phi = Operand::value(body.result(inst));
            is_phi && (is_counted(program, body, way.taken(body, phi)) || bits.gathers(phi))
        })
    }

    fn is_told_by_count(&mut self, way: &Way, cond: Operand) -> bool {
        let (program, body) = (self.fates.program, self.body);
        let def = cond.as_value().and_then(|value| body.def(value));
        match def.map(|inst| body.insts[inst].op) {
            Some(Op::Cmp { a, .. }) => {
                is_counted(program, body, way.taken(body, a)) || self.bits_on(way).tells_gathered(a)
            }
            _ => false,
        }
    }

    fn accepts(&mut self, way: &Way, value: Option<Operand>, work: &mut Work) -> bool {
        let returned = value.map_or(Class::Any, |value| self.class(way, value));
        let flags = self.flags_after(way);
        let returned = Returned {
            func: self.caller,
            value: returned,
            bits: value.map_or(0, |value| self.bits_on(way).of(value)),
            flags: &flags,
        };
        self.fates.ends(returned, self.ending, self.depth, work)
    }

    fn is_accepted_by_count(&mut self, way: &Way, value: Option<Operand>, work: &mut Work) -> bool {
        let (program, body) = (self.fates.program, self.body);
        let is_told = value.is_some_and(|value| {
            self.bits_on(way).tells_gathered(value)
                || is_counted(program, body, way.taken(body, value))
        });
        let returned = Returned {
            func: self.caller,
            value: Class::Any,
            bits: 0,
            flags: &Flags::default(),
        };
        is_told && !self.fates.ends(returned, self.ending, self.depth, work)
    }

    fn depends_on_way(&self, value: Option<Operand>) -> bool {
        !self.flags.is_empty() || value.is_some_and(|value| value.as_value().is_some())
    }
}

/// Values that a counter is put together from; beyond it a variable is no counter.
const MAX_COUNTED: usize = 16;

/// Is it one more than a number that begins at zero or above, and that nothing is ever done to but adding?
fn is_counted(program: &Program, body: &Body, operand: Operand) -> bool {
    let counted = |operand: Operand| {
        let inst = body.def(operand.as_value()?)?;
        match body.insts[inst].op {
            Op::Binary {
                op: BinaryOp::Add,
                a,
                b,
            } if constant(program, body, b)? > 0 => Some(a),
            _ => None,
        }
    };
    let Some(before) = counted(operand) else {
        return false;
    };
    let mut open = vec![before];
    let mut seen: Vec<Operand> = Vec::new();
    while let Some(value) = open.pop() {
        for origin in body.origins(value) {
            if seen.contains(&origin) {
                continue;
            }
            seen.push(origin);
            match (constant(program, body, origin), counted(origin)) {
                (Some(number), _) if number >= 0 => {}
                (None, Some(before)) if seen.len() < MAX_COUNTED => open.push(before),
                _ => return false,
            }
        }
    }
    true
}
