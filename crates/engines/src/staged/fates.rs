//! Question: does the program end anyway, right after a function has returned what it returned?
//!
//! A helper that gives up without freeing, whose callers all report the error and exit, leaks nothing that anybody would fix.
//! Every call of the function is followed to the end of its caller (`ways`), with what is known of the result deciding what it can;
//! where the caller returns, its own callers are asked, at most [`MAX_DEPTH`] deep. Every way has to come to a call that never
//! returns, and soon, or to the end of `main` in a program of some size: what a command of many loses on its way out is nobody's
//! concern. The `main` of a small program ([`LARGE_PROGRAM`]) could have cleaned up, and whoever checks such a program means
//! every block of it; so does a program that is just freeing what held the block. A function whose address is taken is called where the
//! call graph says.

use drip_models::Class;
use drip_program::noreturn::NoReturn;
use drip_program::{Body, CmpPred, FuncId, InstId, Op, Operand, Program};
use rustc_hash::FxHashSet;

use super::afterwards::Returns;
use super::callers::Callers;
use super::interface::constant;
use super::ways::{Asker, Way, Ways, Work};

/// Callers of callers; further up the program counts as one that runs on.
const MAX_DEPTH: usize = 6;

/// Instructions that a `main` can come to, from which on its return counts as the program's end like a call of `exit`: some five
/// thousand lines. Below it every block is told of.
const LARGE_PROGRAM: usize = 20_000;

pub(super) struct Fates<'f> {
    program: &'f Program,
    callers: &'f Callers<'f>,
    no_return: NoReturn,
    /// The `main`s of large programs.
    large: FxHashSet<FuncId>,
}

/// What counts as the program's end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// A call that never returns.
    Exit,
    /// The return of a large program's `main` as well.
    Main,
}

impl<'f> Fates<'f> {
    pub fn new(program: &'f Program, callers: &'f Callers<'f>) -> Fates<'f> {
        Fates {
            program,
            callers,
            no_return: NoReturn::build(program, &[]),
            large: callers.programs_from(LARGE_PROGRAM),
        }
    }

    /// Does the program end after each of these returns?
    pub fn ends_after(&self, returns: &Returns, ending: Ending) -> bool {
        let mut work = returns.work.clone();
        let mut values = returns.values.iter();
        values.all(|&value| self.ends(returns.func, value, ending, MAX_DEPTH, &mut work))
    }

    fn ends(
        &self,
        func: FuncId,
        returned: Class,
        ending: Ending,
        depth: usize,
        work: &mut Work,
    ) -> bool {
        if self.program.func_name(func) == "main" {
            return ending == Ending::Main && self.large.contains(&func);
        }
        let Some(depth) = depth.checked_sub(1) else {
            return false;
        };
        let calls = self.callers.of(func);
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
                returned,
                ending,
                depth,
            };
            Ways::new(self.program, body, asker, work).all_end(block, call)
        })
    }
}

/// One call, followed to the end of its caller.
struct OfCall<'w, 'f> {
    fates: &'w Fates<'f>,
    caller: FuncId,
    body: &'w Body,
    call: InstId,
    returned: Class,
    ending: Ending,
    depth: usize,
}

impl OfCall<'_, '_> {
    /// The call's result, or a number.
    fn class(&self, way: &Way, operand: Operand) -> Class {
        let operand = way.taken(self.body, operand);
        if operand.as_value() == Some(self.body.result(self.call)) {
            return self.returned;
        }
        constant(self.fates.program, self.body, operand).map_or(Class::Any, Class::Eq)
    }
}

impl Asker for OfCall<'_, '_> {
    fn never_passes(&mut self, inst: InstId) -> bool {
        self.fates.no_return.never_passes(self.body, inst)
    }

    fn decides(&mut self, way: &Way, cond: Operand) -> Option<bool> {
        let inst = self.body.def(cond.as_value()?)?;
        let Op::Cmp { pred, a, b } = self.body.insts[inst].op else {
            return None;
        };
        let Class::Eq(b) = self.class(way, b) else {
            return None;
        };
        let (holds, fails) = match pred {
            CmpPred::Eq => (Class::Eq(b), Class::Ne(b)),
            CmpPred::Ne => (Class::Ne(b), Class::Eq(b)),
            CmpPred::Slt => (Class::Lt(b), Class::Ge(b)),
            CmpPred::Sge => (Class::Ge(b), Class::Lt(b)),
            CmpPred::Sle => (Class::Lt(b.checked_add(1)?), Class::Ge(b.checked_add(1)?)),
            CmpPred::Sgt => (Class::Ge(b.checked_add(1)?), Class::Lt(b.checked_add(1)?)),
            _ => return None,
        };
        match self.class(way, a) {
            a if a.implies(holds) => Some(true),
            a if a.implies(fails) => Some(false),
            _ => None,
        }
    }

    fn accepts(&mut self, way: &Way, value: Option<Operand>, work: &mut Work) -> bool {
        let returned = value.map_or(Class::Any, |value| self.class(way, value));
        self.fates
            .ends(self.caller, returned, self.ending, self.depth, work)
    }
}
