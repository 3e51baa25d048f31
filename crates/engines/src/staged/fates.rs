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
use drip_program::{BinaryOp, Body, FuncId, InstId, Op, Operand, Program};
use rustc_hash::FxHashSet;

use super::afterwards::Returns;
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

    /// Does the program end after each of these returns?
    pub fn ends_after(&self, returns: &Returns, ending: Ending) -> bool {
        let mut work = returns.work.clone();
        work.take_end();
        let mut values = returns.values.iter();
        let all_end = values.all(|&value| {
            let returned = Returned {
                func: returns.func,
                value,
                flags: &returns.flags,
            };
            self.ends(returned, ending, MAX_DEPTH, &mut work)
        });
        all_end && (work.take_end() || returns.values.is_empty())
    }

    fn ends(&self, returned: Returned<'_>, ending: Ending, depth: usize, work: &mut Work) -> bool {
        let Returned { func, value, flags } = returned;
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
        if !work.ask(func, value, flags) {
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
                flags: flags.in_caller(body, call),
                ending,
                depth,
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
    flags: &'r Flags,
}

/// One call, followed to the end of its caller.
struct OfCall<'w, 'f> {
    fates: &'w Fates<'f>,
    caller: FuncId,
    body: &'w Body,
    call: InstId,
    returned: Class,
    /// Known behind the call.
    flags: Flags,
    ending: Ending,
    depth: usize,
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
            return self.returned;
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
        match self.class(way, a) {
            a if a.implies(holds) => Some(true),
            a if a.implies(fails) => Some(false),
            _ => None,
        }
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
        for inst in behind {
            flags.pass(program, body, inst);
        }
        for &(_, block) in way.edges() {
            for inst in body.block_insts(block) {
                flags.pass(program, body, inst);
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

    fn accepts(&mut self, way: &Way, value: Option<Operand>, work: &mut Work) -> bool {
        let returned = value.map_or(Class::Any, |value| self.class(way, value));
        let flags = self.flags_after(way);
        let returned = Returned {
            func: self.caller,
            value: returned,
            flags: &flags,
        };
        self.fates.ends(returned, self.ending, self.depth, work)
    }

    fn depends_on_way(&self, value: Option<Operand>) -> bool {
        !self.flags.is_empty() || value.is_some_and(|value| value.as_value().is_some())
    }
}
