//! Question: what comes after a loss in its own function: the program's end, a return of what, or more of the program?
//!
//! `p = realloc(p, n); if (!p) exit(1);` loses a block that nobody misses. All ways from the loss on are walked (`ways`), with what
//! the losing path knows deciding what it can; where they return, what the function returns then is noted, for those who know its callers
//! (`fates`).

use drip_cond::Sort;
use drip_flow::{End, Frame, State, UseFlow, Values};
use drip_models::{Class, Value};
use drip_program::{BlockId, Const, FuncId, InstId, Op, Operand, Program};

use super::feasible::SmallQuestions;
use super::flags::Flags;
use super::known::{Known, reader};
use super::merge::class_of;
use super::nulls::{accessed_on, compared_on};
use super::paths::Path;
use super::ways::{Asker, Way, Ways, Work};

/// Returns of a function after which the question is up to its callers.
#[derive(Clone)]
pub(super) struct Returns {
    pub func: FuncId,
    pub values: Vec<Class>,
    /// Numbers in memory that the losing path leaves behind.
    pub flags: Flags,
    pub work: Work,
}

impl Returns {
    /// These and those.
    pub fn join(&mut self, other: Returns) {
        for class in other.values {
            if !self.values.contains(&class) {
                self.values.push(class);
            }
        }
        self.flags.meet(&other.flags);
        self.work.join(other.work);
    }
}

/// What comes after the loss; none if the program goes on. Without any return the program ends.
pub(super) fn afterwards(
    frame: &Frame<'_>,
    values: &mut Values,
    flow: &UseFlow,
    path: &Path,
    end: &End,
) -> Option<Returns> {
    let Known { way, state } = Known::on(frame, values, flow, path, end);
    let mut after = Returns {
        func: frame.func,
        values: Vec::new(),
        flags: Flags::default(),
        work: Work::default(),
    };
    if let Op::Ret { value } = frame.body.insts[end.at].op {
        let value = value.map(|value| way.taken(frame.body, value));
        let class = returned(frame, values, &state, value);
        after.values.push(class);
        after.flags = left_behind(frame, flow, path, end.at);
        return Some(after);
    }
    if end.leaves {
        return None;
    }
    let asker = InFrame {
        frame,
        values,
        state: &state,
        before: &way,
        returned: &mut after.values,
    };
    let block = frame.block_of(end.at);
    Ways::new(frame.program, frame.body, asker, &mut after.work)
        .all_end(block, end.at)
        .then_some(after)
}

/// Numbers in memory that a path has set or found on its way to this instruction.
fn left_behind(frame: &Frame<'_>, flow: &UseFlow, path: &Path, at: InstId) -> Flags {
    let mut flags = Flags::default();
    let mut last: Option<BlockId> = None;
    for block in path.blocks(flow) {
        if let Some(from) = last.replace(block) {
            flags.learn(frame.program, frame.body, from, block);
        }
        for inst in frame.body.block_insts(block).filter(|&inst| inst != at) {
            flags.pass(frame.program, frame.body, inst);
        }
    }
    flags
}

/// What is known of a returned value.
fn returned(
    frame: &Frame<'_>,
    values: &mut Values,
    state: &State,
    value: Option<Operand>,
) -> Class {
    let questions = &mut SmallQuestions::default();
    let value = reader(frame, values, questions).returned_value(state, value);
    class_of(&value).unwrap_or(match value {
        Value::Fresh { .. } | Value::Func(_) => Class::NonZero,
        _ => Class::Any,
    })
}

/// Callees of callees that are asked whether they use their argument at once.
const MAX_DEPTH: usize = 3;

/// Does the function read or write through its argument `n` before it decides anything?
fn uses_at_once(program: &Program, func: FuncId, n: usize, depth: usize) -> bool {
    let Some(body) = &program.funcs[func].body else {
        return false;
    };
    if n >= body.param_count() || depth == 0 {
        return false;
    }
    let mut derived = vec![body.param(n)];
    let mut block = BlockId::from_u32(0);
    for _ in 0..body.blocks.len() {
        for inst in body.block_insts(block) {
            let is_it = |operand: Operand| operand.as_value().is_some_and(|v| derived.contains(&v));
            match body.insts[inst].op {
                Op::Load { addr } | Op::Store { addr, .. } if is_it(addr) => return true,
                Op::PtrAdd { base, indices, .. } if is_it(base) && indices.len == 0 => {
                    derived.push(body.result(inst));
                }
                Op::Call { callee, args, .. } => {
                    let Some(&Const::Func(callee)) = body.const_of(callee) else {
                        continue;
                    };
                    let mut args = body.list(args).iter().enumerate();
                    if args.any(|(m, &arg)| {
                        arg.as_value() == Some(body.param(n))
                            && uses_at_once(program, callee, m, depth - 1)
                    }) {
                        return true;
                    }
                }
                _ => {}
            }
        }
        match body.insts[body.terminator(block)].op {
            Op::Br { target } => block = target,
            _ => return false,
        }
    }
    false
}

struct InFrame<'w, 'a> {
    frame: &'w Frame<'a>,
    values: &'w mut Values,
    state: &'w State,
    /// How the loss was come to.
    before: &'w Way,
    returned: &'w mut Vec<Class>,
}

impl InFrame<'_, '_> {
    /// What a φ is on this way, which goes on where the losing path ends.
    fn taken(&self, way: &Way, operand: Operand) -> Operand {
        let body = self.frame.body;
        self.before.taken(body, way.taken(body, operand))
    }

    fn reads_through_null(&mut self, inst: InstId) -> bool {
        let body = self.frame.body;
        let (Op::Call { callee, args, .. } | Op::Invoke { callee, args, .. }) = body.insts[inst].op
        else {
            return false;
        };
        let Some(&Const::Func(func)) = body.const_of(callee) else {
            return false;
        };
        body.list(args).iter().enumerate().any(|(n, &arg)| {
            self.is_null(arg) && uses_at_once(self.frame.program, func, n, MAX_DEPTH)
        })
    }

    /// Does the path know that the pointer is null?
    fn is_null(&mut self, pointer: Operand) -> bool {
        let term = self.values.term(pointer);
        let term = self.values.replaced(term, |sym| self.state.lookup(sym));
        self.values.terms.as_int(term) == Some(0)
    }
}

impl Asker for InFrame<'_, '_> {
    /// Given what the path knows of its arguments (`check_memory(p)`, where p is null), or because the callee reads through a null
    /// pointer first of all.
    fn never_passes(&mut self, inst: InstId) -> bool {
        if self.reads_through_null(inst) {
            return true;
        }
        let Some(summary) = self.frame.calls.get(&inst).filter(|s| !s.may_throw) else {
            return false;
        };
        summary.outcomes.iter().all(|outcome| {
            outcome.when.iter().any(|atom| {
                let Some(operand) = self.frame.asked_of(inst, atom) else {
                    return false;
                };
                // Whatever is added to a null pointer, it leads nowhere (`strcpy(text + length, more)`).
                if atom.class == Class::NonZero && self.is_null(self.frame.accessed(operand)) {
                    return true;
                }
                let term = self.values.term(operand);
                let term = self.values.replaced(term, |sym| self.state.lookup(sym));
                let known = self.values.terms.as_int(term);
                known.is_some_and(|known| {
                    let number = drip_cond::to_signed(known, self.values.terms.width(term));
                    !atom.class.contains(number)
                })
            })
        })
    }

    /// It reads or writes through a null pointer.
    fn falls(&mut self, way: &Way, inst: InstId) -> bool {
        let accessed = accessed_on(self.frame, way, inst);
        accessed.is_some_and(|pointer| self.is_null(pointer))
    }

    fn decides(&mut self, way: &Way, cond: Operand) -> Option<bool> {
        if let Some((pointer, is_equal)) = compared_on(self.frame, way, cond)
            && self.is_null(pointer)
        {
            return Some(is_equal);
        }
        let term = self.values.term(self.taken(way, cond));
        if self.values.terms.sort(term) != Sort::Bool {
            return None;
        }
        let term = self.values.replaced(term, |sym| self.state.lookup(sym));
        let negation = self.values.terms.not(term);
        match self.values.terms.as_bool(term) {
            None if self.state.knows(term) => Some(true),
            None if self.state.knows(negation) => Some(false),
            known => known,
        }
    }

    fn accepts(&mut self, way: &Way, value: Option<Operand>, _: &mut Work) -> bool {
        let value = value.map(|value| self.taken(way, value));
        let class = returned(self.frame, self.values, self.state, value);
        if !self.returned.contains(&class) {
            self.returned.push(class);
        }
        true
    }
}
