//! Which functions never return to their caller?
//!
//! A function may return iff some path from its entry reaches a `ret`, where a path goes past a call only if the callee may
//! return. The set of functions that may return is the least one with that property, so functions that call each other
//! without end never return, as do endless loops. Paths that end in `unreachable` or leave by `resume` (an exception) do
//! not return; the unwind edge of an `invoke` is followed in any case.
//!
//! Domain: sets of functions that may return, ordered by inclusion, from the empty set upwards. Each body is walked at
//! most once: where the walk meets a callee not yet known to return it waits there, and goes on if that changes.
//!
//! Known limits: indirect calls and inline assembly return unless the call is marked; paths that conditions rule out count
//! as paths.

use drip_base::{IdSet, IndexVec};

use crate::body::{Body, CallFlags, Const, Op, Operand};
use crate::ids::{BlockId, FuncId, InstId};
use crate::model::{FuncAttrs, Program};

/// The functions of a program that never return.
pub struct NoReturn {
    funcs: IdSet<FuncId>,
}

impl NoReturn {
    /// `known` names external functions that do not return although nothing marks them (`exit`, `longjmp`).
    pub fn build(program: &Program, known: &[&str]) -> NoReturn {
        let mut search = Search::new(program);
        for (func, function) in program.funcs.iter_enumerated() {
            if function.attrs.has(FuncAttrs::NORETURN) {
                continue;
            }
            match &function.body {
                Some(_) => search.walk(func, BlockId::from_u32(0)),
                None if known.contains(&program.func_name(func)) => {}
                None => search.returns(func),
            }
            search.run();
        }
        let all = program.funcs.ids();
        let funcs = all
            .iter()
            .filter(|&f| !search.may_return.contains(f))
            .collect();
        NoReturn { funcs }
    }

    pub fn funcs(&self) -> &IdSet<FuncId> {
        &self.funcs
    }

    pub fn contains(&self, func: FuncId) -> bool {
        self.funcs.contains(func)
    }

    /// Does control never get past this instruction (but perhaps along an unwind edge)? To be used with
    /// [`Cfg::build_cut`](crate::Cfg::build_cut).
    pub fn never_passes(&self, body: &Body, inst: InstId) -> bool {
        match call_of(body, inst) {
            Some((_, flags)) if flags.has(CallFlags::NORETURN) => true,
            Some((callee, _)) => direct_callee(body, callee).is_some_and(|f| self.contains(f)),
            None => false,
        }
    }
}

fn call_of(body: &Body, inst: InstId) -> Option<(Operand, CallFlags)> {
    match body.insts[inst].op {
        Op::Call { callee, flags, .. } | Op::Invoke { callee, flags, .. } => Some((callee, flags)),
        _ => None,
    }
}

fn direct_callee(body: &Body, callee: Operand) -> Option<FuncId> {
    match body.const_of(callee) {
        Some(&Const::Func(func)) => Some(func),
        _ => None,
    }
}

/// A walk that waits in front of a call, to go on behind it.
struct Waiting {
    func: FuncId,
    block: BlockId,
    call: InstId,
}

struct Search<'p> {
    program: &'p Program,
    may_return: IdSet<FuncId>,
    /// Blocks that the walk of each function has entered.
    entered: IndexVec<FuncId, IdSet<BlockId>>,
    /// Walks that wait for a function to return.
    waiting: IndexVec<FuncId, Vec<Waiting>>,
    /// Walks to go on with: from this instruction on.
    ready: Vec<(FuncId, BlockId, InstId)>,
}

impl<'p> Search<'p> {
    fn new(program: &'p Program) -> Self {
        let n = program.funcs.len();
        Search {
            program,
            may_return: IdSet::with_capacity(n),
            entered: IndexVec::from_fn(n, |_| IdSet::new()),
            waiting: IndexVec::from_fn(n, |_| Vec::new()),
            ready: Vec::new(),
        }
    }

    /// Enters a block, unless that was done before.
    fn walk(&mut self, func: FuncId, block: BlockId) {
        let Some(body) = &self.program.funcs[func].body else {
            return;
        };
        let first = body
            .blocks
            .get(block)
            .map(|b| InstId::from_u32(b.insts.start));
        if let Some(first) = first
            && self.entered[func].insert(block)
        {
            self.ready.push((func, block, first));
        }
    }

    fn returns(&mut self, func: FuncId) {
        if !self.may_return.insert(func) {
            return;
        }
        self.entered[func] = IdSet::new();
        for walk in std::mem::take(&mut self.waiting[func]) {
            self.pass(walk);
        }
    }

    /// Goes on behind a call that returned.
    fn pass(&mut self, walk: Waiting) {
        let Some(body) = &self.program.funcs[walk.func].body else {
            return;
        };
        match body.insts[walk.call].op {
            Op::Invoke { normal, .. } => self.walk(walk.func, normal),
            _ => {
                let next = InstId::from_u32(walk.call.as_u32() + 1);
                self.ready.push((walk.func, walk.block, next));
            }
        }
    }

    fn run(&mut self) {
        while let Some((func, block, from)) = self.ready.pop() {
            if !self.may_return.contains(func) {
                self.step(func, block, from);
            }
        }
    }

    /// Walks to the end of the block, or to a call that is not known to return.
    fn step(&mut self, func: FuncId, block: BlockId, from: InstId) {
        let program = self.program;
        let Some(body) = &program.funcs[func].body else {
            return;
        };
        let rest = body.block_insts(block).skip_while(|&inst| inst < from);
        for inst in rest {
            let Some((callee, flags)) = call_of(body, inst) else {
                continue;
            };
            if let Op::Invoke { unwind, .. } = body.insts[inst].op {
                self.walk(func, unwind);
            }
            if flags.has(CallFlags::NORETURN) {
                return;
            }
            match direct_callee(body, callee) {
                Some(target) if !self.may_return.contains(target) => {
                    let walk = Waiting {
                        func,
                        block,
                        call: inst,
                    };
                    return self.waiting[target].push(walk);
                }
                _ => {}
            }
        }
        match body.insts[body.terminator(block)].op {
            Op::Ret { .. } => self.returns(func),
            Op::Invoke { normal, .. } => self.walk(func, normal),
            _ => body.for_each_succ(block, |succ| self.walk(func, succ)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::parse_program;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let text = format!(
            "declare @exit(i32) noreturn\ndeclare @longjmp(ptr)\ndeclare @unknown()\ndeclare @fp(ptr)\n{text}"
        );
        let program = parse_program(&text).unwrap();
        let found = NoReturn::build(&program, &["longjmp"]);
        let mut names: Vec<_> = found.funcs().iter().map(|f| program.func_name(f)).collect();
        names.retain(|name| !matches!(*name, "exit" | "longjmp"));
        assert_eq!(names, expected);
        assert!(found.contains(program.find_func("longjmp").unwrap()));
    }

    #[test]
    fn paths_that_all_end() {
        check(
            "func @die() {\ncall void @exit(i32 1)\nret\n}
             func @die2(i1 %c) {\nbr %c, b1, b2\nb1:\ncall void @die()\nret\nb2:\ncall void @longjmp(null)\nbr b1\n}
             func @maybe(i1 %c) {\nbr %c, b1, b2\nb1:\ncall void @die()\nret\nb2:\nret\n}
             func @stop() {\nunreachable\n}
             func @spin() {\nbr b1\nb1:\ncall void @unknown()\nbr b1\n}
             func @plain() {\ncall void @unknown()\nret\n}",
            &["die", "die2", "stop", "spin"],
        );
    }

    #[test]
    fn callers_may_stand_before_their_callees() {
        check(
            "func @a() {\ncall void @b()\nret\n}
             func @b() {\ncall void @c()\ncall void @d()\nret\n}
             func @c() {\nret\n}
             func @d() {\ncall void @exit(i32 1)\nunreachable\n}
             func @e() {\ncall void @g()\ncall void @g()\nret\n}
             func @g() {\ncall void @c()\nret\n}",
            &["a", "b", "d"],
        );
    }

    #[test]
    fn recursion_returns_iff_it_has_an_end() {
        check(
            "func @forever(i1 %c) {\ncall void @ever(%c)\nret\n}
             func @ever(i1 %c) {\ncall void @forever(%c)\nret\n}
             func @even(i1 %c) {\nbr %c, b1, b2\nb1:\nret\nb2:\ncall void @odd(%c)\nret\n}
             func @odd(i1 %c) {\ncall void @even(%c)\nret\n}",
            &["forever", "ever"],
        );
    }

    #[test]
    fn marked_call_sites_and_indirect_calls() {
        check(
            "func @marked(ptr %p) {\ncall void %p() noreturn\nret\n}
             func @indirect(ptr %p) {\ncall void %p()\nret\n}",
            &["marked"],
        );
    }

    #[test]
    fn exceptions_are_no_return_but_their_handlers_may() {
        check(
            "func @throws() {\nunreachable\n}
             func @passes_on() {\ninvoke void @throws() to b1 unwind b2\nb1:\nret\nb2:\n%l = landingpad ptr\nresume %l\n}
             func @catches() {\ninvoke void @throws() to b1 unwind b2\nb1:\nret\nb2:\n%l = landingpad ptr\nret\n}
             func @normal() {\ninvoke void @late() to b1 unwind b2\nb1:\nret\nb2:\n%l = landingpad ptr\nresume %l\n}
             func @late() {\nret\n}",
            &["throws", "passes_on"],
        );
    }

    #[test]
    fn call_sites_that_control_never_passes() {
        let program = parse_program(
            "declare @exit(i32) noreturn\nfunc @f(ptr %p) {\ncall void %p()\ncall void %p() noreturn\n\
             call void @exit(i32 1)\nret\n}",
        )
        .unwrap();
        let found = NoReturn::build(&program, &[]);
        let body = program.funcs[FuncId::new(1)].body.as_ref().unwrap();
        let passes: Vec<bool> = (0..4)
            .map(|i| !found.never_passes(body, InstId::new(i)))
            .collect();
        assert_eq!(passes, [true, false, false, true]);
    }
}
