//! Question: does the program end anyway, right after a function has returned what it returned?
//!
//! A helper that gives up without freeing, whose callers all report the error and exit, leaks nothing that anybody would fix.
//! Every call of the function is followed to the end of its caller (`ways`), with what is known of the result deciding what it can;
//! where the caller returns, its own callers are asked, at most [`MAX_DEPTH`] deep. Every way has to come to a call that never
//! returns, and soon. A `main` that returns is a program that could have cleaned up: that is a plain leak. A function whose address is
//! taken is called where the call graph says.

use drip_base::IdSet;
use drip_models::{Atom, Class, Root, Subject};
use drip_pointer::{CallGraph, Callees};
use drip_program::address_taken::address_taken;
use drip_program::noreturn::NoReturn;
use drip_program::{Body, CmpPred, FuncId, InstId, Linkage, Op, Operand, Program};
use rustc_hash::FxHashMap;

use super::afterwards::Returns;
use super::interface::constant;
use super::ways::{Asker, Way, Ways, Work};

/// Callers of callers.
const MAX_DEPTH: usize = 6;

pub(super) struct Fates<'f> {
    program: &'f Program,
    no_return: NoReturn,
    callers: FxHashMap<FuncId, Vec<(FuncId, InstId)>>,
    /// Functions that may be called from where nobody sees it.
    taken: IdSet<FuncId>,
    has_main: bool,
}

impl<'f> Fates<'f> {
    pub fn new(program: &'f Program, graph: &CallGraph) -> Fates<'f> {
        let mut callers: FxHashMap<FuncId, Vec<(FuncId, InstId)>> = FxHashMap::default();
        for (caller, function) in program.funcs.iter_enumerated() {
            let Some(body) = &function.body else { continue };
            for (inst, data) in body.insts.iter_enumerated() {
                if !matches!(data.op, Op::Call { .. } | Op::Invoke { .. }) {
                    continue;
                }
                let mut called_by =
                    |target: FuncId| callers.entry(target).or_default().push((caller, inst));
                match graph.callees(caller, inst) {
                    Callees::Known(targets) => targets.iter().for_each(|&t| called_by(t)),
                    Callees::Aside(target) => called_by(*target),
                    Callees::Unknown => {
                        let many = graph.too_many(caller, inst).iter();
                        many.for_each(|&target| called_by(target));
                    }
                    Callees::Ends => {}
                }
            }
        }
        Fates {
            program,
            no_return: NoReturn::build(program, &[]),
            callers,
            taken: address_taken(program),
            has_main: (program.funcs.iter_enumerated())
                .any(|(f, _)| program.func_name(f) == "main"),
        }
    }

    /// Does no caller pass what a path asks of the arguments? That a flag and a pointer go together may be written nowhere but in the
    /// calls. All callers have to be known, and they have to be several: of a single one nothing can be learnt about what goes together.
    pub fn is_never_called_so(&self, func: FuncId, asked: &[Atom]) -> bool {
        let is_internal = self.program.funcs[func].linkage == Linkage::Internal;
        let Some(calls) = self.callers.get(&func).filter(|calls| calls.len() > 1) else {
            return false;
        };
        if self.taken.contains(func) || !(is_internal || self.has_main) {
            return false;
        }
        calls.iter().all(|&(caller, call)| {
            let Some(body) = &self.program.funcs[caller].body else {
                return false;
            };
            let (Op::Call { args, .. } | Op::Invoke { args, .. }) = body.insts[call].op else {
                return false;
            };
            asked.iter().any(|atom| {
                let passed = match &atom.subject {
                    Subject::Entry(path) => match path.root {
                        Root::Arg(n) => body.list(args).get(usize::from(n)),
                        _ => None,
                    },
                    Subject::Ret => None,
                };
                let number = passed.and_then(|&arg| constant(self.program, body, arg));
                number.is_some_and(|number| !atom.class.contains(number))
            })
        })
    }

    /// Does the program end after each of these returns?
    pub fn ends_after(&self, returns: &Returns) -> bool {
        let mut work = returns.work.clone();
        let mut values = returns.values.iter();
        values.all(|&value| self.ends(returns.func, value, MAX_DEPTH, &mut work))
    }

    fn ends(&self, func: FuncId, returned: Class, depth: usize, work: &mut Work) -> bool {
        let Some(depth) = depth.checked_sub(1) else {
            return false;
        };
        let is_main = self.program.func_name(func) == "main";
        let Some(calls) = self.callers.get(&func).filter(|_| !is_main) else {
            return false;
        };
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
        self.fates.ends(self.caller, returned, self.depth, work)
    }
}
