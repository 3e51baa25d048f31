//! Question: which parameters are never null, whoever calls?
//!
//! Known is a function that no pointer in sight leads to and that nobody outside of the program can call. One of its parameters is never
//! null if every call passes the address of a variable or of a field, the result of pointer arithmetic, or a parameter that is never null
//! itself. The greatest fixpoint: all parameters of known functions are taken to be so, until a call says otherwise. A function that reads
//! or writes through its parameter before anything else, or hands it to one that does, asks for the same, whoever calls it.
//!
//! What only a null pointer would lead to (an arena that callers may do without, and none does) is then no path of the function.
//! Known false negatives: a function that only a debugger, an assembler file or a plugin calls with null.

use drip_base::IdSet;
use drip_flow::args_of;
use drip_program::{BlockId, Body, Const, FuncId, Linkage, Op, Operand, Program, StrId, ValueId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::callers::{Callers, accessed};

/// φs and selections between a call and what it passes; beyond them it counts as anything.
const MAX_STEPS: usize = 8;

/// Calls down to the function that reads through a parameter; what lies deeper is not looked for.
const MAX_CALLS: usize = 2;

type Parameter = (FuncId, usize);

/// The parameters of each function that are never null.
#[derive(Debug, Default)]
pub(super) struct Granted(FxHashMap<FuncId, IdSet<ValueId>>);

/// What a call passes.
enum Passed {
    /// Never null, as far as these parameters of the caller are not.
    Like(SmallVec<[usize; 2]>),
    Anything,
}

impl Granted {
    pub fn new(program: &Program, callers: &Callers<'_>) -> Granted {
        let mut open: Vec<Parameter> = Vec::new();
        let mut granted = Granted::default();
        let mut handed_on: FxHashMap<Parameter, Vec<Parameter>> = FxHashMap::default();
        let called = called_by_name(program, callers);
        let mut used = UsedAtOnce::default();
        for (func, function) in program.funcs.iter_enumerated() {
            let Some(body) = &function.body else { continue };
            // Of several functions of one name, each of another program of the build, one may be called in sight.
            let called = match callers.of(func).is_empty() {
                true => called.get(&function.name).copied(),
                false => Some(func),
            };
            let called = called.filter(|_| !callers.is_hidden(func));
            let used = used.of(program, func, MAX_CALLS);
            let pointers =
                (0..body.param_count()).filter(|&n| program.types.is_ptr(body.params[n]));
            for n in pointers {
                if used.contains(&n) {
                    granted.insert(body, (func, n));
                    continue;
                }
                match called.and_then(|called| passed_by_all(program, callers, (called, n))) {
                    Some(from) => {
                        granted.insert(body, (func, n));
                        for own in from {
                            handed_on.entry(own).or_default().push((func, n));
                        }
                    }
                    None => open.push((func, n)),
                }
            }
        }
        while let Some(parameter) = open.pop() {
            for taker in handed_on.remove(&parameter).into_iter().flatten() {
                if granted.remove(program, taker) {
                    open.push(taker);
                }
            }
        }
        granted
    }

    /// Parameters of a function, as values of its body.
    pub fn of(&self, func: FuncId) -> Option<&IdSet<ValueId>> {
        self.0.get(&func)
    }

    pub fn has(&self, func: FuncId, value: ValueId) -> bool {
        self.of(func).is_some_and(|granted| granted.contains(value))
    }

    fn insert(&mut self, body: &Body, (func, n): Parameter) {
        self.0.entry(func).or_default().insert(body.param(n));
    }

    fn remove(&mut self, program: &Program, (func, n): Parameter) -> bool {
        let body = program.funcs[func].body.as_ref();
        match (body, self.0.get_mut(&func)) {
            (Some(body), Some(granted)) => granted.remove(body.param(n)),
            _ => false,
        }
    }
}

/// Functions that are called in sight, by their names; of several the first.
fn called_by_name(program: &Program, callers: &Callers<'_>) -> FxHashMap<StrId, FuncId> {
    let mut called = FxHashMap::default();
    for (func, function) in program.funcs.iter_enumerated() {
        if function.linkage != Linkage::Internal && !callers.of(func).is_empty() {
            called.entry(function.name).or_insert(func);
        }
    }
    called
}

/// The parameters of callers that a parameter is; none if some call passes anything else that may be null.
fn passed_by_all(
    program: &Program,
    callers: &Callers<'_>,
    (func, n): Parameter,
) -> Option<Vec<Parameter>> {
    let mut all = Vec::new();
    for &(caller, call) in callers.of(func) {
        let body = program.funcs[caller].body.as_ref()?;
        let arg = args_of(body, call).get(n).copied()?;
        match passed(body, arg) {
            Passed::Like(own) => all.extend(own.into_iter().map(|n| (caller, n))),
            Passed::Anything => return None,
        }
    }
    Some(all)
}

/// What an argument is made of.
fn passed(body: &Body, arg: Operand) -> Passed {
    let mut like = SmallVec::new();
    let mut open: SmallVec<[Operand; 4]> = SmallVec::from_slice(&[arg]);
    let mut seen: SmallVec<[ValueId; MAX_STEPS]> = SmallVec::new();
    while let Some(operand) = open.pop() {
        let Some(value) = operand.as_value() else {
            match body.const_of(operand) {
                Some(Const::Global { .. } | Const::Func(_)) => continue,
                _ => return Passed::Anything,
            }
        };
        if seen.contains(&value) {
            continue;
        }
        if seen.len() == MAX_STEPS {
            return Passed::Anything;
        }
        seen.push(value);
        if let Some(n) = body.as_param(value) {
            like.push(n);
            continue;
        }
        match body.def(value).map(|inst| body.insts[inst].op) {
            Some(Op::Alloca { .. }) => {}
            // Arithmetic on a null pointer has no meaning in C.
            Some(Op::PtrAdd {
                offset, indices, ..
            }) if offset != 0 || indices.len > 0 => {}
            Some(Op::PtrAdd { base, .. }) => open.push(base),
            Some(Op::Select { then, els, .. }) => open.extend([then, els]),
            Some(Op::Phi { incoming }) => {
                open.extend(body.incoming(incoming).iter().map(|edge| edge.value));
            }
            _ => return Passed::Anything,
        }
    }
    Passed::Like(like)
}

/// Parameters that each function reads or writes through in its first block, as far as somebody has asked.
#[derive(Default)]
struct UsedAtOnce(FxHashMap<FuncId, SmallVec<[usize; 4]>>);

impl UsedAtOnce {
    /// By the function itself, or by those that it calls there.
    fn of(&mut self, program: &Program, func: FuncId, depth: usize) -> SmallVec<[usize; 4]> {
        if let Some(known) = self.0.get(&func) {
            return known.clone();
        }
        let Some(body) = &program.funcs[func].body else {
            return SmallVec::new();
        };
        let mut used = SmallVec::new();
        for inst in body.block_insts(BlockId::new(0)) {
            match body.insts[inst].op {
                Op::Load { addr } | Op::Store { addr, .. } => {
                    used.extend(accessed(body, addr).and_then(|pointer| body.as_param(pointer)));
                }
                Op::Call { callee, args, .. } if depth > 0 => {
                    let Some(&Const::Func(callee)) = body.const_of(callee) else {
                        continue;
                    };
                    let args = body.list(args);
                    let own = |n: &usize| body.as_param(args.get(*n)?.as_value()?);
                    let mut handed_on = args.iter().filter_map(|arg| arg.as_value());
                    // Most calls get none of the parameters.
                    if handed_on.any(|value| body.as_param(value).is_some()) {
                        used.extend(self.of(program, callee, depth - 1).iter().filter_map(own));
                    }
                }
                _ => {}
            }
        }
        // What was looked at from too deep down may be more than this.
        if depth == MAX_CALLS {
            self.0.insert(func, used.clone());
        }
        used
    }
}
