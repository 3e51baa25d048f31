//! Question: which calls never come back because of the text that they pass?
//!
//! A reporter like `say("%F cannot open %s", name)` reads its format, and exits in the end if a certain directive is in it. Its callers
//! rely on that. So every call that passes a constant text to a function which reads its argument and which may end the
//! program is evaluated (`eval`): with the text's characters known, and all else unknown, does some way lead to a return? If not, the
//! call is marked as one that never returns, like those that the source marks.
//!
//! A text that is translated on the way ([`TRANSLATORS`]) has the directives of its original. Cost: one evaluation per function and
//! text, of at most [`eval::MAX_STEPS`] instructions. Known limits: texts in arrays of pointers; readers that go through memory.

mod eval;

use drip_base::IdSet;
use rustc_hash::FxHashMap;

use crate::body::{Body, CallFlags, Const, Op, Operand};
use crate::ids::{FuncId, GlobalId, InstId, ValueId};
use crate::model::{Init, Program};
use crate::noreturn::NoReturn;
use eval::{Evaluation, Known};

/// Functions between the one that is given the text and the one that reads it.
const MAX_DEPTH: usize = 4;

/// Library functions that return a translation of their argument, and which one.
const TRANSLATORS: [(&str, usize); 3] = [("gettext", 0), ("dgettext", 1), ("dcgettext", 1)];

/// Marks the calls of a program that never come back for what they pass.
pub fn mark_dead_ends(program: &mut Program) {
    for (func, call) in dead_ends(program) {
        let body = program.funcs[func].body.as_mut();
        if let Some(Op::Call { flags, .. } | Op::Invoke { flags, .. }) =
            body.map(|body| &mut body.insts[call].op)
        {
            flags.0 |= CallFlags::NORETURN;
        }
    }
}

/// Calls that pass a text because of which nobody comes back.
fn dead_ends(program: &Program) -> Vec<(FuncId, InstId)> {
    let mut readers = Readers::new(program);
    let mut evaluation = Evaluation::new(program);
    let mut found = Vec::new();
    for (func, function) in program.funcs.iter_enumerated() {
        let Some(body) = &function.body else { continue };
        for inst in body.insts.ids() {
            let Some((callee, args)) = direct_call(program, body, inst) else {
                continue;
            };
            let is_read = |(n, text): (usize, &Operand)| {
                text_of(program, body, *text).is_some() && readers.reads(callee, n, MAX_DEPTH)
            };
            if !args.iter().enumerate().any(is_read) {
                continue;
            }
            let known = args.iter().map(|&arg| passed(program, body, arg));
            if !evaluation.may_return(&mut readers, callee, known.collect()) {
                found.push((func, inst));
            }
        }
    }
    found
}

/// The function that is called by its name, if it has a body, and what is passed to it.
fn direct_call<'b>(
    program: &Program,
    body: &'b Body,
    inst: InstId,
) -> Option<(FuncId, &'b [Operand])> {
    let (Op::Call { callee, args, .. } | Op::Invoke { callee, args, .. }) = body.insts[inst].op
    else {
        return None;
    };
    match body.const_of(callee) {
        Some(&Const::Func(func)) if program.funcs[func].body.is_some() => {
            Some((func, body.list(args)))
        }
        _ => None,
    }
}

/// The original of a translated text, or the text itself.
fn original(program: &Program, body: &Body, text: Operand) -> Operand {
    let call = text.as_value().and_then(|value| body.def(value));
    call.and_then(|call| translated(program, body, call))
        .unwrap_or(text)
}

/// What a call translates, if it does that.
fn translated(program: &Program, body: &Body, call: InstId) -> Option<Operand> {
    let Op::Call { callee, args, .. } = body.insts[call].op else {
        return None;
    };
    let Some(&Const::Func(func)) = body.const_of(callee) else {
        return None;
    };
    if program.funcs[func].body.is_some() {
        return None;
    }
    let name = program.func_name(func);
    let &(_, n) = TRANSLATORS.iter().find(|(known, _)| *known == name)?;
    body.list(args).get(n).copied()
}

/// A constant text.
fn text_of(program: &Program, body: &Body, operand: Operand) -> Option<(GlobalId, i64)> {
    match *body.const_of(original(program, body, operand))? {
        Const::Global { global, offset } => {
            let text = &program.globals[global];
            let is_text = text.is_const && matches!(text.init, Init::Bytes(_));
            is_text.then_some((global, offset))
        }
        _ => None,
    }
}

/// What is known of an argument.
fn passed(program: &Program, body: &Body, arg: Operand) -> Known {
    match text_of(program, body, arg) {
        Some((global, offset)) => Known::Text { global, offset },
        None => eval::constant(program, body, arg),
    }
}

/// Functions that read a text they are given, and may end the program afterwards.
pub(super) struct Readers<'p> {
    program: &'p Program,
    pub no_return: NoReturn,
    known: FxHashMap<(FuncId, usize), bool>,
}

impl<'p> Readers<'p> {
    fn new(program: &'p Program) -> Self {
        Readers {
            program,
            no_return: NoReturn::build(program, &[]),
            known: FxHashMap::default(),
        }
    }

    /// Does the function, or one that it passes its argument `n` to, read it and perhaps never return?
    pub fn reads(&mut self, func: FuncId, n: usize, depth: usize) -> bool {
        if let Some(&known) = self.known.get(&(func, n)) {
            return known;
        }
        // Also the answer for functions that pass it round in a circle.
        self.known.insert((func, n), false);
        let reads = self.finds_out(func, n, depth);
        self.known.insert((func, n), reads);
        reads
    }

    fn finds_out(&mut self, func: FuncId, n: usize, depth: usize) -> bool {
        let program = self.program;
        let Some(body) = &program.funcs[func].body else {
            return false;
        };
        if n >= body.param_count() || depth == 0 || self.no_return.contains(func) {
            return false;
        }
        let moved = derived(body, body.param(n));
        let is_moved = |operand: Operand| operand.as_value().is_some_and(|v| moved.contains(v));
        let mut insts = body.insts.iter();
        let is_read = insts.any(|data| matches!(data.op, Op::Load { addr } if is_moved(addr)));
        let mut all = body.insts.ids().iter();
        if is_read && all.any(|inst| self.no_return.never_passes(body, inst)) {
            return true;
        }
        body.insts.ids().iter().any(|inst| {
            direct_call(program, body, inst).is_some_and(|(callee, args)| {
                let mut args = args.iter().enumerate();
                args.any(|(m, &arg)| is_moved(arg) && self.reads(callee, m, depth - 1))
            })
        })
    }
}

/// The value, and what address arithmetic and φs make of it.
fn derived(body: &Body, value: ValueId) -> IdSet<ValueId> {
    let mut derived = IdSet::with_capacity(body.value_count());
    derived.insert(value);
    loop {
        let before = derived.len();
        for (inst, data) in body.insts.iter_enumerated() {
            let is_derived =
                |operand: Operand| operand.as_value().is_some_and(|v| derived.contains(v));
            let moves = match data.op {
                Op::PtrAdd { base, .. } => is_derived(base),
                Op::Cast { value, .. } => is_derived(value),
                Op::Select { then, els, .. } => is_derived(then) || is_derived(els),
                Op::Phi { incoming } => {
                    let mut entries = body.incoming(incoming).iter();
                    entries.any(|entry| is_derived(entry.value))
                }
                _ => false,
            };
            if moves {
                derived.insert(body.result(inst));
            }
        }
        if derived.len() == before {
            return derived;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::parse_program;

    /// Exits at the end if there is an `F` in the text.
    const REPORTER: &str = "
        declare @exit(i32) noreturn
        declare @gettext(ptr) -> ptr
        func @report(ptr %text) {
        b0:
          br b1
        b1:
          %at = phi ptr [b0: %text, b3: %next]
          %fatal = phi i1 [b0: i1 0, b3: %now]
          %c = load i8 %at
          %end = cmp eq %c, i8 0
          br %end, b4, b2
        b2:
          %isf = cmp eq %c, i8 70
          br b3
        b3:
          %now = or i1 %fatal, %isf
          %next = ptradd %at, 1
          br b1
        b4:
          br %fatal, b5, b6
        b5:
          call void @exit(i32 1)
          unreachable
        b6:
          ret
        }
        func @passes_on(ptr %text) {
          call void @report(%text)
          ret
        }";

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let program = parse_program(&format!("{REPORTER}\n{text}")).unwrap();
        let found = dead_ends(&program);
        let names: Vec<_> = found.iter().map(|(f, _)| program.func_name(*f)).collect();
        assert_eq!(names, expected);
    }

    #[test]
    fn texts_with_the_directive_and_without() {
        check(
            "global @bad const [7 x i8] = \"ab F c\\x00\"\nglobal @good const [5 x i8] = \"ab c\\x00\"
             func @fatal() {\ncall void @report(@bad)\nret\n}
             func @deep() {\ncall void @passes_on(@bad)\nret\n}
             func @translated() {\n%t = call ptr @gettext(@bad)\ncall void @report(%t)\nret\n}
             func @plain() {\ncall void @report(@good)\nret\n}
             func @unknown(ptr %p) {\ncall void @report(%p)\nret\n}",
            &["fatal", "deep", "translated"],
        );
    }
}
