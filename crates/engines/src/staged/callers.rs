//! Question: who calls a function, and with which constants?
//!
//! One pass over all calls, by the call graph; calls through tables that are too large to be followed count as well.

use drip_base::IdSet;
use drip_flow::args_of;
use drip_models::{Atom, Class, Root, Subject};
use drip_pointer::{CallGraph, Callees};
use drip_program::address_taken::address_taken;
use drip_program::{Body, FuncId, InstId, Linkage, Op, Operand, Program, Type, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::granted::Granted;
use super::interface::constant;

pub(super) struct Callers<'c> {
    program: &'c Program,
    calls: FxHashMap<FuncId, Vec<(FuncId, InstId)>>,
    /// Functions that may be called from where nobody sees it.
    taken: IdSet<FuncId>,
    has_main: bool,
}

impl<'c> Callers<'c> {
    pub fn new(program: &'c Program, graph: &CallGraph) -> Callers<'c> {
        let mut calls: FxHashMap<FuncId, Vec<(FuncId, InstId)>> = FxHashMap::default();
        let mut has_main = false;
        for (caller, function) in program.funcs.iter_enumerated() {
            has_main |= program.func_name(caller) == "main";
            let Some(body) = &function.body else { continue };
            for (inst, data) in body.insts.iter_enumerated() {
                if !matches!(data.op, Op::Call { .. } | Op::Invoke { .. }) {
                    continue;
                }
                let targets = match graph.callees(caller, inst) {
                    Callees::Known(targets) => targets.as_slice(),
                    Callees::Aside(target) => std::slice::from_ref(target),
                    Callees::Unknown => graph.too_many(caller, inst),
                    Callees::Ends => &[],
                };
                for &target in targets {
                    calls.entry(target).or_default().push((caller, inst));
                }
            }
        }
        Callers {
            program,
            calls,
            taken: address_taken(program),
            has_main,
        }
    }

    /// The calls of a function, as far as they are in sight.
    pub fn of(&self, func: FuncId) -> &[(FuncId, InstId)] {
        self.calls.get(&func).map_or(&[], Vec::as_slice)
    }

    /// The same; where nobody in sight means this one of several functions of its name, the calls of the others: each of them is the
    /// one of another program of the build (`cmd_main`, called by a `main` that all of them have).
    pub fn of_name(&self, func: FuncId) -> &[(FuncId, InstId)] {
        let own = self.of(func);
        if !own.is_empty() || self.taken.contains(func) {
            return own;
        }
        let name = self.program.funcs[func].name;
        let namesakes = self.program.funcs.iter_enumerated();
        let mut namesakes = namesakes.filter(|(_, other)| other.name == name);
        namesakes
            .find(|(other, _)| !self.of(*other).is_empty())
            .map_or(own, |(other, _)| self.of(other))
    }

    /// May the function be called from where nobody sees it?
    pub fn is_hidden(&self, func: FuncId) -> bool {
        let is_internal = self.program.funcs[func].linkage == Linkage::Internal;
        self.taken.contains(func) || !(is_internal || self.has_main)
    }

    /// The `main`s that can come to at least so many instructions.
    pub fn programs_from(&self, size: usize) -> FxHashSet<FuncId> {
        let mut callees: FxHashMap<FuncId, Vec<FuncId>> = FxHashMap::default();
        for (&callee, calls) in &self.calls {
            for &(caller, _) in calls {
                callees.entry(caller).or_default().push(callee);
            }
        }
        let bodies = self.program.funcs.iter_enumerated();
        let mains =
            bodies.filter(|(id, f)| f.body.is_some() && self.program.func_name(*id) == "main");
        let is_large = |main: FuncId| {
            let mut seen = IdSet::with_capacity(self.program.funcs.len());
            let mut open = vec![main];
            let mut instructions = 0;
            while let Some(func) = open.pop() {
                if !seen.insert(func) {
                    continue;
                }
                let body = self.program.funcs[func].body.as_ref();
                instructions += body.map_or(0, |body| body.insts.len());
                if instructions >= size {
                    return true;
                }
                open.extend(callees.get(&func).into_iter().flatten());
            }
            false
        };
        mains
            .map(|(main, _)| main)
            .filter(|&main| is_large(main))
            .collect()
    }

    /// Does no caller pass what a path asks of the arguments? That a flag and a pointer go together may be written nowhere but in the
    /// calls. All callers have to be known, and they have to be several: of a single one nothing can be learnt about what goes together. That a
    /// flag is never set is learnt from one as well.
    pub fn none_passes(&self, granted: &Granted, func: FuncId, asked: &[Atom]) -> bool {
        let is_known = !self.is_hidden(func);
        let calls = self.of(func);
        let mut by_number = calls.iter().map(|call| self.excludes(*call, asked));
        // An address is never null, though: one call is enough to know that.
        let mut by_address = calls
            .iter()
            .map(|call| self.passes_address(granted, *call, asked));
        let is_flag = |atom: &Atom| {
            let type_of = |func: FuncId, n: usize| {
                let body = self.program.funcs[func].body.as_ref()?;
                (n < body.param_count()).then(|| body.value_ty(body.param(n)))
            };
            let Subject::Entry(path) = &atom.subject else {
                return false;
            };
            let Root::Arg(n) = path.root else {
                return false;
            };
            let is_choice = matches!(
                atom.class,
                Class::Eq(_) | Class::Ne(_) | Class::NonZero | Class::Has(_) | Class::Lacks(_)
            );
            let ty = type_of(func, usize::from(n)).filter(|_| is_choice);
            ty.is_some_and(|ty| matches!(self.program.types.get(ty), Type::Int(_)))
        };
        let flags: Vec<Atom> = asked.iter().filter(|atom| is_flag(atom)).cloned().collect();
        let is_excluded_by_one = || matches!(calls[..], [call] if self.excludes(call, &flags));
        let is_excluded = calls.len() > 1 && by_number.all(|excludes| excludes)
            || is_excluded_by_one()
            || !calls.is_empty() && by_address.all(|excludes| excludes);
        is_known && is_excluded
    }

    /// Does a call pass the address of a variable or of a field where the path asks for null, or a pointer of its own that it reads or
    /// writes through without ever asking whether it is null?
    fn passes_address(
        &self,
        granted: &Granted,
        (caller, call): (FuncId, InstId),
        asked: &[Atom],
    ) -> bool {
        let Some(body) = &self.program.funcs[caller].body else {
            return false;
        };
        let mut asked = asked.iter().filter(|atom| atom.class == Class::Eq(0));
        asked.any(|atom| {
            let Some(passed) = argument(body, call, atom).and_then(|arg| arg.as_value()) else {
                return false;
            };
            let def = body.def(passed);
            match def.map(|inst| body.insts[inst].op) {
                Some(Op::Alloca { .. }) => true,
                Some(Op::PtrAdd { offset, .. }) => offset > 0,
                None => granted.has(caller, passed) || is_taken_for_granted(body, passed),
                _ => false,
            }
        })
    }

    /// Does a call pass a constant that the path does not ask for?
    fn excludes(&self, (caller, call): (FuncId, InstId), asked: &[Atom]) -> bool {
        let Some(body) = &self.program.funcs[caller].body else {
            return false;
        };
        asked.iter().any(|atom| {
            let passed = argument(body, call, atom);
            let number = passed.and_then(|arg| constant(self.program, body, arg));
            number.is_some_and(|number| !atom.class.contains(number))
        })
    }
}

/// Does the function read or write through one of its parameters, and compare it with nothing?
fn is_taken_for_granted(body: &Body, param: ValueId) -> bool {
    let mut is_read = false;
    for data in body.insts.iter() {
        let is_it = |operand: Operand| operand.as_value() == Some(param);
        match data.op {
            Op::Cmp { a, b, .. } if is_it(a) || is_it(b) => return false,
            Op::Load { addr } | Op::Store { addr, .. } => {
                is_read |= accessed(body, addr) == Some(param)
            }
            _ => {}
        }
    }
    is_read
}

/// The pointer that an access goes through: the address without the way to the field.
pub(super) fn accessed(body: &Body, mut addr: Operand) -> Option<ValueId> {
    loop {
        let value = addr.as_value()?;
        match body.def(value).map(|inst| body.insts[inst].op) {
            Some(Op::PtrAdd { base, .. }) => addr = base,
            _ => return Some(value),
        }
    }
}

/// What a call passes for the parameter that a condition is about.
fn argument(body: &Body, call: InstId, atom: &Atom) -> Option<Operand> {
    let Subject::Entry(path) = &atom.subject else {
        return None;
    };
    let Root::Arg(n) = path.root else {
        return None;
    };
    args_of(body, call).get(usize::from(n)).copied()
}
