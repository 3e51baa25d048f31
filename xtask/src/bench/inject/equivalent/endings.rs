//! Does the process end in every caller, once the changed function has returned?
//!
//! `if (open_sockets(list)) { perror("listen"); exit(1); }`: what `open_sockets` loses before it returns 1 nobody misses. Known of the
//! function is which constants it can return behind the change; a branch in the caller that compares the result with a constant is
//! followed to the side that these decide, whether the result is compared itself or the variable or field that it is put into by this
//! call alone (`s->list = make(); if (!s->list) exit(1);`). Where the caller can still return, its own callers are asked; a return of `main`
//! ends the process, too.

use super::super::sites::{direct_call, expression};
use super::{Rule, block_of};
use drip_program::{
    BlockId, Body, CmpPred, Const, FuncAttrs, FuncId, InstId, Op, Operand, Type, ValueId,
};
use std::collections::HashSet;

/// Callers of callers that are asked.
const MAX_LEVELS: usize = 3;

/// φs between a return and the constants that it returns.
const MAX_PHIS: usize = 8;

/// What a function returns; nothing is known of it without constants.
pub type Returned = Option<Vec<u64>>;

impl Rule<'_> {
    /// Does the process end whenever this function has returned one of these?
    /// `main_ends`: the return of `main` is the end as well.
    pub fn ends_in_callers(&self, func: FuncId, returned: &Returned, main_ends: bool) -> bool {
        self.ends_within(func, returned, main_ends, MAX_LEVELS)
    }

    fn ends_within(
        &self,
        func: FuncId,
        returned: &Returned,
        main_ends: bool,
        levels: usize,
    ) -> bool {
        let program = self.program;
        let attributes = &program.funcs[func].attrs;
        if levels == 0 || attributes.has(FuncAttrs::ADDRESS_TAKEN) {
            return false;
        }
        let mut is_called = false;
        for (caller, function) in program.funcs.iter_enumerated() {
            let Some(body) = &function.body else { continue };
            if !self.reachable.contains(&caller) {
                continue;
            }
            for call in body.insts.ids() {
                if direct_call(body, call).is_some_and(|(callee, _)| callee == func) {
                    is_called = true;
                    if !self.ends_behind((caller, body, call), returned, main_ends, levels) {
                        return false;
                    }
                }
            }
        }
        is_called
    }

    fn ends_behind(
        &self,
        (caller, body, call): (FuncId, &Body, InstId),
        returned: &Returned,
        main_ends: bool,
        levels: usize,
    ) -> bool {
        let cfg = self.cfg(body);
        let Some(block) = block_of(body, call).filter(|&block| cfg.is_reachable(block)) else {
            return true;
        };
        let mut behind = HashSet::from([block]);
        let mut open = vec![block];
        while let Some(at) = open.pop() {
            let taken = decided(body, at, call, returned);
            for edge in cfg.out_edges(at).iter() {
                let next = cfg.target(edge);
                if taken.is_some_and(|taken| taken != next) {
                    continue;
                }
                // A program that goes on and on has not ended.
                if cfg.is_back_edge(edge) {
                    return false;
                }
                if behind.insert(next) {
                    open.push(next);
                }
            }
        }
        let is_main = main_ends && self.program.func_name(caller) == "main";
        let mut returns = behind.iter().filter(|&&at| self.returns(body, at));
        let onwards = returned_by(body, &behind, Some((call, returned)));
        is_main
            || returns.next().is_none()
            || self.ends_within(caller, &onwards, main_ends, levels - 1)
    }
}

/// The constants that a function can return by these blocks, if they are all that it can return.
pub fn returned_behind(body: &Body, blocks: &HashSet<BlockId>) -> Returned {
    returned_by(body, blocks, None)
}

/// The same, if it is known what a call has returned (`return mode ? close_read(f) : close_write(f);`).
fn returned_by(
    body: &Body,
    blocks: &HashSet<BlockId>,
    told: Option<(InstId, &Returned)>,
) -> Returned {
    let mut found = Vec::new();
    for &block in blocks {
        if let Op::Ret { value: Some(value) } = body.insts[body.terminator(block)].op {
            constants(body, value, (blocks, told), MAX_PHIS, &mut found)?;
        }
    }
    (!found.is_empty()).then_some(found)
}

fn constants(
    body: &Body,
    value: Operand,
    (blocks, told): (&HashSet<BlockId>, Option<(InstId, &Returned)>),
    phis: usize,
    found: &mut Vec<u64>,
) -> Option<()> {
    match body.const_of(value) {
        Some(Const::Int { bits, .. }) => found.push(*bits),
        Some(Const::Null) => found.push(0),
        Some(_) => return None,
        None => {
            let inst = body.def(value.as_value()?)?;
            if let Some((call, returned)) = told
                && inst == call
            {
                found.extend(returned.as_ref()?);
                return Some(());
            }
            let Op::Phi { incoming } = body.insts[inst].op else {
                return None;
            };
            let inputs = body.incoming(incoming).iter();
            for input in inputs.filter(|input| blocks.contains(&input.block)) {
                constants(
                    body,
                    input.value,
                    (blocks, told),
                    phis.checked_sub(1)?,
                    found,
                )?;
            }
        }
    }
    Some(())
}

/// Where a block goes on, if it looks at the call's result and all of the constants lead to the same side.
fn decided(body: &Body, block: BlockId, call: InstId, returned: &Returned) -> Option<BlockId> {
    let Op::CondBr { cond, then, els } = body.insts[body.terminator(block)].op else {
        return None;
    };
    let compared = body.def(cond.as_value()?)?;
    let Op::Cmp { pred, a, b } = body.insts[compared].op else {
        return None;
    };
    let bound = match body.const_of(b) {
        Some(Const::Int { bits, .. }) => *bits,
        Some(Const::Null) => 0,
        _ => return None,
    };
    let returned = returned.as_ref().filter(|_| is_result(body, a, call))?;
    let mut sides = returned.iter().map(|&value| holds(pred, value, bound));
    let first = sides.next()??;
    let agree = sides.all(|side| side == Some(first));
    agree.then_some(if first { then } else { els })
}

/// Is it the call's result, or read from where nothing but this result is ever put?
fn is_result(body: &Body, operand: Operand, call: InstId) -> bool {
    let result: ValueId = body.result(call);
    let Some(value) = operand.as_value() else {
        return false;
    };
    let Some(Op::Load { addr: read }) = body.def(value).map(|inst| body.insts[inst].op) else {
        return value == result;
    };
    let place = expression(body, read);
    let stored = body.insts.iter().filter_map(|inst| match inst.op {
        Op::Store { addr, value } if expression(body, addr) == place => Some(value),
        _ => None,
    });
    let mut stored = stored.peekable();
    stored.peek().is_some() && stored.all(|value| value.as_value() == Some(result))
}

/// Numbers of at most 32 bits are kept without their sign.
fn holds(pred: CmpPred, a: u64, b: u64) -> Option<bool> {
    let signed = |n: u64| match u32::try_from(n) {
        Ok(small) => i64::from(small as i32),
        Err(_) => n as i64,
    };
    match pred {
        CmpPred::Eq => Some(a == b),
        CmpPred::Ne => Some(a != b),
        CmpPred::Slt => Some(signed(a) < signed(b)),
        CmpPred::Sle => Some(signed(a) <= signed(b)),
        CmpPred::Sgt => Some(signed(a) > signed(b)),
        CmpPred::Sge => Some(signed(a) >= signed(b)),
        _ => None,
    }
}

/// What an inserted early return of this function returns.
pub fn returned_early(rule: &Rule<'_>, func: FuncId) -> Returned {
    let types = &rule.program.types;
    let Type::Func { ret, .. } = *types.get(rule.program.funcs[func].ty) else {
        return None;
    };
    match *types.get(ret) {
        Type::Ptr => Some(vec![0]),
        Type::Int(width @ 2..=64) => Some(vec![u64::MAX >> (64 - width)]),
        _ => None,
    }
}
