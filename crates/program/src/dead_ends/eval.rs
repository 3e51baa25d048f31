//! Question: can a function return when it is given this text?
//!
//! Domain: for each value a number, a place in a constant text, or nothing that is known. A state is a block with what is known of the
//! values that are still needed there; states are visited once. A branch on something unknown goes both ways. Memory is not followed:
//! what is loaded is known only if it is a character of the text. Answers "may return" as soon as some state comes to a
//! `ret`, or when the fuel is used up.

use drip_base::{IdSet, IndexVec};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{MAX_DEPTH, Readers, translated};
use crate::body::{BinaryOp, Body, CastOp, CmpPred, Const, Op, Operand};
use crate::ids::{BlockId, FuncId, GlobalId, InstId, TypeId, ValueId};
use crate::model::{Init, Program};
use crate::types::Type;

/// Instructions for one question; beyond them the function may return.
pub(super) const MAX_STEPS: usize = 40_000;

/// What is known of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Known {
    Nothing,
    Int { bits: u64, width: u32 },
    Text { global: GlobalId, offset: i64 },
    Null,
}

/// Answers by function and arguments.
pub(super) struct Evaluation<'p> {
    program: &'p Program,
    answers: FxHashMap<(FuncId, Vec<Known>), bool>,
    steps: usize,
    depth: usize,
}

/// What is known where.
type Env = Vec<(ValueId, Known)>;

impl<'p> Evaluation<'p> {
    pub fn new(program: &'p Program) -> Self {
        Evaluation {
            program,
            answers: FxHashMap::default(),
            steps: 0,
            depth: 0,
        }
    }

    /// Can the function come back from a call with these arguments?
    pub fn may_return(
        &mut self,
        readers: &mut Readers<'_>,
        func: FuncId,
        mut args: Vec<Known>,
    ) -> bool {
        let Some(body) = &self.program.funcs[func].body else {
            return true;
        };
        args.truncate(body.param_count());
        let question = (func, args);
        if let Some(&known) = self.answers.get(&question) {
            return known;
        }
        if self.depth == MAX_DEPTH {
            return true;
        }
        if self.depth == 0 {
            self.steps = MAX_STEPS;
        }
        self.depth += 1;
        // For functions that call themselves.
        self.answers.insert(question.clone(), true);
        let mut walk = Walk {
            evaluation: self,
            readers,
            body,
            live: live_values(body),
            seen: FxHashSet::default(),
            open: Vec::new(),
        };
        let may_return = walk.reaches_return(&question.1);
        self.depth -= 1;
        self.answers.insert(question, may_return);
        may_return
    }
}

/// The states of one function.
struct Walk<'w, 'p, 'r> {
    evaluation: &'w mut Evaluation<'p>,
    readers: &'w mut Readers<'r>,
    body: &'p Body,
    live: IndexVec<BlockId, IdSet<ValueId>>,
    seen: FxHashSet<(BlockId, Env)>,
    open: Vec<(BlockId, Env)>,
}

/// What became of a block.
enum Leaves {
    Returns,
    Ends,
    Goes,
}

impl Walk<'_, '_, '_> {
    fn reaches_return(&mut self, args: &[Known]) -> bool {
        let params = args.iter().enumerate();
        let known = params.map(|(n, &arg)| (self.body.param(n), arg));
        let entry: Env = known.filter(|(_, k)| *k != Known::Nothing).collect();
        self.open.push((BlockId::from_u32(0), entry));
        while let Some((block, env)) = self.open.pop() {
            let cost = self.body.blocks[block].insts.len();
            let Some(left) = self.evaluation.steps.checked_sub(cost.max(1)) else {
                return true;
            };
            self.evaluation.steps = left;
            if matches!(self.run(block, env), Leaves::Returns) {
                return true;
            }
        }
        false
    }

    /// Executes a block; its φs are known already.
    fn run(&mut self, block: BlockId, env: Env) -> Leaves {
        let mut known: FxHashMap<ValueId, Known> = env.into_iter().collect();
        for inst in self.body.block_insts(block) {
            if matches!(self.body.insts[inst].op, Op::Phi { .. }) {
                continue;
            }
            if self.never_passes(&known, inst) {
                return Leaves::Ends;
            }
            let value = self.value_of(&known, inst);
            if value != Known::Nothing {
                known.insert(self.body.result(inst), value);
            } else {
                known.remove(&self.body.result(inst));
            }
        }
        match self.body.insts[self.body.terminator(block)].op {
            Op::Ret { .. } => return Leaves::Returns,
            Op::CondBr { cond, then, els } => match self.operand(&known, cond) {
                Known::Int { bits, .. } => {
                    self.enter(block, if bits & 1 == 1 { then } else { els }, &known);
                }
                _ => {
                    self.enter(block, then, &known);
                    self.enter(block, els, &known);
                }
            },
            Op::Switch {
                value,
                default,
                cases,
            } => {
                let cases = self.body.cases(cases);
                match self.operand(&known, value) {
                    Known::Int { bits, width } => {
                        let mut same = cases.iter();
                        let found = same.find(|case| cut(case.value, width) == bits);
                        self.enter(block, found.map_or(default, |case| case.target), &known);
                    }
                    _ => {
                        self.enter(block, default, &known);
                        cases
                            .iter()
                            .for_each(|case| self.enter(block, case.target, &known));
                    }
                }
            }
            _ => {
                let mut targets = Vec::new();
                self.body.for_each_succ(block, |to| targets.push(to));
                targets
                    .into_iter()
                    .for_each(|to| self.enter(block, to, &known));
            }
        }
        Leaves::Goes
    }

    fn enter(&mut self, from: BlockId, to: BlockId, known: &FxHashMap<ValueId, Known>) {
        let live = &self.live[to];
        let needed = known.iter().filter(|(value, _)| live.contains(**value));
        let mut env: Env = needed.map(|(&value, &known)| (value, known)).collect();
        for inst in self.body.block_insts(to) {
            let Op::Phi { incoming } = self.body.insts[inst].op else {
                continue;
            };
            let mut entries = self.body.incoming(incoming).iter();
            let entry = entries.find(|entry| entry.block == from);
            let result = self.body.result(inst);
            env.retain(|(value, _)| *value != result);
            let value = entry.map_or(Known::Nothing, |e| self.operand(known, e.value));
            if value != Known::Nothing {
                env.push((result, value));
            }
        }
        env.sort_unstable();
        if self.seen.insert((to, env.clone())) {
            self.open.push((to, env));
        }
    }

    fn never_passes(&mut self, known: &FxHashMap<ValueId, Known>, inst: InstId) -> bool {
        if self.readers.no_return.never_passes(self.body, inst) {
            return true;
        }
        let program = self.evaluation.program;
        let Some((callee, args)) = super::direct_call(program, self.body, inst) else {
            return false;
        };
        let args: Vec<Known> = args.iter().map(|&arg| self.operand(known, arg)).collect();
        let mut texts = args.iter().enumerate();
        let is_read = texts.any(|(n, arg)| {
            matches!(arg, Known::Text { .. }) && self.readers.reads(callee, n, MAX_DEPTH)
        });
        is_read && !self.evaluation.may_return(self.readers, callee, args)
    }

    fn operand(&self, known: &FxHashMap<ValueId, Known>, operand: Operand) -> Known {
        match operand.as_value() {
            Some(value) => known.get(&value).copied().unwrap_or(Known::Nothing),
            None => constant(self.evaluation.program, self.body, operand),
        }
    }

    fn value_of(&self, known: &FxHashMap<ValueId, Known>, inst: InstId) -> Known {
        let program = self.evaluation.program;
        let data = &self.body.insts[inst];
        let of = |operand| self.operand(known, operand);
        let width = width_of(program, data.ty);
        match data.op {
            Op::Load { addr } => loaded(program, of(addr), data.ty),
            Op::PtrAdd {
                base,
                offset,
                indices,
            } => {
                let Known::Text { global, offset: at } = of(base) else {
                    return Known::Nothing;
                };
                let mut at = at.wrapping_add(offset);
                for scaled in self.body.scaled(indices) {
                    let Known::Int { bits, width } = of(scaled.index) else {
                        return Known::Nothing;
                    };
                    at = at.wrapping_add(signed(bits, width).wrapping_mul(scaled.scale));
                }
                Known::Text { global, offset: at }
            }
            Op::Cast { op, value } => match (op, of(value), width) {
                (CastOp::Trunc | CastOp::ZExt, Known::Int { bits, .. }, Some(width)) => {
                    int(bits, width)
                }
                (CastOp::SExt, Known::Int { bits, width: from }, Some(width)) => {
                    int(signed(bits, from) as u64, width)
                }
                (CastOp::Bitcast, value, None) => value,
                _ => Known::Nothing,
            },
            Op::Binary { op, a, b } => match (of(a), of(b), width) {
                (Known::Int { bits: a, .. }, Known::Int { bits: b, .. }, Some(width)) => {
                    computed(op, a, b).map_or(Known::Nothing, |bits| int(bits, width))
                }
                // `fatal | unknown`, once it is set.
                (Known::Int { bits: 1, .. }, _, Some(1))
                | (_, Known::Int { bits: 1, .. }, Some(1))
                    if op == BinaryOp::Or =>
                {
                    int(1, 1)
                }
                _ => Known::Nothing,
            },
            Op::Cmp { pred, a, b } => {
                compared(pred, of(a), of(b)).map_or(Known::Nothing, |holds| int(holds.into(), 1))
            }
            Op::Select { cond, then, els } => match of(cond) {
                Known::Int { bits, .. } => of(if bits & 1 == 1 { then } else { els }),
                _ if of(then) == of(els) => of(then),
                _ => Known::Nothing,
            },
            Op::Call { .. } => translated(program, self.body, inst).map_or(Known::Nothing, of),
            _ => Known::Nothing,
        }
    }
}

/// What a constant is.
pub(super) fn constant(program: &Program, body: &Body, operand: Operand) -> Known {
    match body.const_of(operand) {
        Some(&Const::Int { ty, bits }) => {
            width_of(program, ty).map_or(Known::Nothing, |width| int(bits, width))
        }
        Some(Const::Null) => Known::Null,
        Some(&Const::Global { global, offset })
            if program.globals[global].is_const
                && matches!(program.globals[global].init, Init::Bytes(_)) =>
        {
            Known::Text { global, offset }
        }
        _ => Known::Nothing,
    }
}

fn width_of(program: &Program, ty: TypeId) -> Option<u32> {
    match program.types.get(ty) {
        Type::Int(width) if *width <= 64 => Some(*width),
        _ => None,
    }
}

fn cut(bits: u64, width: u32) -> u64 {
    match width {
        64.. => bits,
        _ => bits & ((1 << width) - 1),
    }
}

fn int(bits: u64, width: u32) -> Known {
    Known::Int {
        bits: cut(bits, width),
        width,
    }
}

fn signed(bits: u64, width: u32) -> i64 {
    let unused = 64 - width.clamp(1, 64);
    ((bits << unused) as i64) >> unused
}

/// A character of a text.
fn loaded(program: &Program, addr: Known, ty: TypeId) -> Known {
    let Known::Text { global, offset } = addr else {
        return Known::Nothing;
    };
    let (Some(8), Init::Bytes(bytes)) = (width_of(program, ty), &program.globals[global].init)
    else {
        return Known::Nothing;
    };
    let at = usize::try_from(offset).ok();
    let byte = at.and_then(|at| bytes.get(at));
    byte.map_or(Known::Nothing, |&byte| int(byte.into(), 8))
}

fn computed(op: BinaryOp, a: u64, b: u64) -> Option<u64> {
    Some(match op {
        BinaryOp::Add => a.wrapping_add(b),
        BinaryOp::Sub => a.wrapping_sub(b),
        BinaryOp::Mul => a.wrapping_mul(b),
        BinaryOp::And => a & b,
        BinaryOp::Or => a | b,
        BinaryOp::Xor => a ^ b,
        BinaryOp::Shl => a.checked_shl(u32::try_from(b).ok()?)?,
        BinaryOp::LShr => a.checked_shr(u32::try_from(b).ok()?)?,
        _ => return None,
    })
}

fn compared(pred: CmpPred, a: Known, b: Known) -> Option<bool> {
    let is_equal = match (a, b) {
        (Known::Int { bits: a, width }, Known::Int { bits: b, .. }) => {
            let (sa, sb) = (signed(a, width), signed(b, width));
            return Some(match pred {
                CmpPred::Eq => a == b,
                CmpPred::Ne => a != b,
                CmpPred::Ugt => a > b,
                CmpPred::Uge => a >= b,
                CmpPred::Ult => a < b,
                CmpPred::Ule => a <= b,
                CmpPred::Sgt => sa > sb,
                CmpPred::Sge => sa >= sb,
                CmpPred::Slt => sa < sb,
                CmpPred::Sle => sa <= sb,
                CmpPred::Float(_) => return None,
            });
        }
        (Known::Null, Known::Null) => true,
        (Known::Text { .. }, Known::Null) | (Known::Null, Known::Text { .. }) => false,
        (
            Known::Text {
                global: a,
                offset: x,
            },
            Known::Text {
                global: b,
                offset: y,
            },
        ) if a == b => x == y,
        _ => return None,
    };
    match pred {
        CmpPred::Eq => Some(is_equal),
        CmpPred::Ne => Some(!is_equal),
        _ => None,
    }
}

/// Values that are needed from the beginning of each block on, its φs not counted.
fn live_values(body: &Body) -> IndexVec<BlockId, IdSet<ValueId>> {
    let mut live: IndexVec<BlockId, IdSet<ValueId>> =
        IndexVec::from_fn(body.blocks.len(), |_| IdSet::new());
    loop {
        let mut has_changed = false;
        for index in (0..body.blocks.len()).rev() {
            let block = BlockId::new(index);
            let mut needed: IdSet<ValueId> = IdSet::new();
            body.for_each_succ(block, |to| {
                needed.extend(live[to].iter());
                for inst in body.block_insts(to) {
                    if let Op::Phi { incoming } = body.insts[inst].op {
                        let entries = body.incoming(incoming).iter();
                        let mine = entries.filter(|entry| entry.block == block);
                        needed.extend(mine.filter_map(|entry| entry.value.as_value()));
                    }
                }
            });
            for inst in body.block_insts(block).rev() {
                needed.remove(body.result(inst));
                if !matches!(body.insts[inst].op, Op::Phi { .. } | Op::Bind { .. }) {
                    body.for_each_operand(inst, |operand| needed.extend(operand.as_value()));
                }
            }
            for inst in body.block_insts(block) {
                if matches!(body.insts[inst].op, Op::Phi { .. }) {
                    needed.remove(body.result(inst));
                }
            }
            if needed.len() != live[block].len() {
                live[block] = needed;
                has_changed = true;
            }
        }
        if !has_changed {
            return live;
        }
    }
}
