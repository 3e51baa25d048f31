//! Question: which functions can a parameter be that is called?
//!
//! `each(list, print_one)`: inside of `each` the callee is a parameter. If all callers are in sight (nobody takes the address of
//! `each`, and the program is whole or the function its unit's own) it is one of the functions that they pass, whether they
//! name it or pass on a parameter of their own. Null is nobody.
//!
//! Domain: sets of functions per parameter. Only parameters that are called are asked for, and those that are passed on to them.
//! Cost: one pass over all calls, and one visit of each call of a function that calls a parameter.
//!
//! Left out, because the callee stays unknown then: pointers that callers have read from memory or got from a function.

use drip_program::{
    Body, Const, FuncAttrs, FuncId, InstId, Linkage, Op, Operand, Program, ValueId,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// Callers of callers that pass a parameter on; beyond them the callee is unknown.
const MAX_LEVELS: usize = 4;

/// Functions that may be passed; with more of them what they have in common says little, and the callee is unknown.
const MAX_PASSED: usize = 4;

/// What callers pass as a function.
pub struct Callbacks {
    passed: FxHashMap<(FuncId, usize), Vec<FuncId>>,
}

impl Callbacks {
    pub fn build(program: &Program) -> Callbacks {
        let search = Search::new(program);
        let mut passed = FxHashMap::default();
        for (func, function) in program.funcs.iter_enumerated() {
            let Some(body) = &function.body else { continue };
            for data in body.insts.iter() {
                let (Op::Call { callee, .. } | Op::Invoke { callee, .. }) = data.op else {
                    continue;
                };
                if let Some(n) = parameter(body, callee)
                    && !passed.contains_key(&(func, n))
                {
                    let mut found = Vec::new();
                    let is_known = search.collect(func, n, MAX_LEVELS, &mut found);
                    found.sort_unstable();
                    found.dedup();
                    if !is_known || found.len() > MAX_PASSED {
                        found.clear();
                    }
                    passed.insert((func, n), found);
                }
            }
        }
        Callbacks { passed }
    }

    /// The functions that a parameter can be; none if that is not known.
    pub fn of(&self, func: FuncId, body: &Body, callee: Operand) -> &[FuncId] {
        let key = parameter(body, callee).map(|n| (func, n));
        key.and_then(|key| self.passed.get(&key))
            .map_or(&[], Vec::as_slice)
    }
}

/// Which parameter it is, under whatever type.
fn parameter(body: &Body, operand: Operand) -> Option<usize> {
    let value: ValueId = operand.as_value()?;
    match body.def(value).map(|inst| body.insts[inst].op) {
        Some(Op::Cast { value, .. }) => parameter(body, value),
        Some(_) => None,
        None => body.as_param(value),
    }
}

struct Search<'p> {
    program: &'p Program,
    /// Direct calls, by callee.
    calls: FxHashMap<FuncId, Vec<(FuncId, InstId)>>,
    has_main: bool,
}

impl<'p> Search<'p> {
    fn new(program: &'p Program) -> Self {
        let mut calls: FxHashMap<FuncId, Vec<(FuncId, InstId)>> = FxHashMap::default();
        let mut has_main = false;
        for (caller, function) in program.funcs.iter_enumerated() {
            let Some(body) = &function.body else { continue };
            has_main |= program.func_name(caller) == "main";
            for (inst, data) in body.insts.iter_enumerated() {
                if let Op::Call { callee, .. } | Op::Invoke { callee, .. } = data.op
                    && let Some(&Const::Func(callee)) = body.const_of(callee)
                    && program.funcs[callee].body.is_some()
                {
                    calls.entry(callee).or_default().push((caller, inst));
                }
            }
        }
        Search {
            program,
            calls,
            has_main,
        }
    }

    /// Adds what callers pass as this parameter; false if that is not known.
    fn collect(&self, func: FuncId, n: usize, levels: usize, found: &mut Vec<FuncId>) -> bool {
        let function = &self.program.funcs[func];
        let is_internal = function.linkage == Linkage::Internal;
        let is_hidden =
            function.attrs.has(FuncAttrs::ADDRESS_TAKEN) || !(is_internal || self.has_main);
        let Some(levels) = levels.checked_sub(1).filter(|_| !is_hidden) else {
            return false;
        };
        let calls = self.calls.get(&func);
        let mut seen: FxHashSet<(FuncId, usize)> = FxHashSet::from_iter([(func, n)]);
        calls.is_some_and(|calls| {
            calls.iter().all(|&(caller, call)| {
                let Some(body) = &self.program.funcs[caller].body else {
                    return false;
                };
                let (Op::Call { args, .. } | Op::Invoke { args, .. }) = body.insts[call].op else {
                    return false;
                };
                let Some(&arg) = body.list(args).get(n) else {
                    return false;
                };
                match (body.const_of(arg), parameter(body, arg)) {
                    (Some(&Const::Func(passed)), _) => {
                        found.push(passed);
                        true
                    }
                    (Some(Const::Null), _) => true,
                    (_, Some(m)) => {
                        !seen.insert((caller, m)) || self.collect(caller, m, levels, found)
                    }
                    _ => false,
                }
            })
        })
    }
}
