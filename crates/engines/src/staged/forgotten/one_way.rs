//! Question: is a function only called until a flag is set, which nobody ever takes back?
//!
//! `int first = 1; … while (more()) if (first) begin();`, where `begin` ends with `first = 0;`: what `begin` puts into a variable is never
//! overwritten by its next run, because there is none. A flag is a variable of the program that is only read and written by its name, and
//! into which the whole program puts one constant only, or nothing but pointers of which none is null (`if (!table) begin();`, where `begin`
//! makes the table, too). It has to be set where the guarded function, or one on the way down to the function in
//! question, has made the call, or in that function itself. Cost: one look at all instructions, for programs that ask.

use std::cell::OnceCell;

use drip_models::Class;
use drip_program::{
    BlockId, Body, Cfg, CmpPred, Const, FuncId, GlobalId, InstId, Op, Operand, Program, Type,
};
use rustc_hash::FxHashMap;

use super::super::callers::Callers;
use super::super::flags::classes;
use super::super::interface::constant;

/// Callers of callers up to the guarded call.
const MAX_DEPTH: usize = 4;

/// Flags that are set once.
pub struct OneWay<'p> {
    program: &'p Program,
    /// What is put into each variable: a constant, pointers that are not null; none if it is several things, or the variable is no flag.
    flags: OnceCell<FxHashMap<GlobalId, Option<Class>>>,
}

impl<'p> OneWay<'p> {
    pub fn new(program: &'p Program) -> OneWay<'p> {
        OneWay {
            program,
            flags: OnceCell::new(),
        }
    }

    /// Is every call of the function behind a test of a flag that is set behind the call, itself or further up?
    pub fn is_called_once(&self, callers: &Callers<'_>, func: FuncId) -> bool {
        let own = self.program.funcs[func].body.as_ref().map(|body| {
            let cfg = Cfg::build(body);
            self.set_behind(body, &cfg, cfg.entry(), None)
        });
        self.ends_with_flag(callers, func, &own.unwrap_or_default(), MAX_DEPTH)
    }

    /// `set`: flags that are set by the time that the function, or one that it is called by, comes back.
    fn ends_with_flag(
        &self,
        callers: &Callers<'_>,
        func: FuncId,
        set: &[GlobalId],
        depth: usize,
    ) -> bool {
        let calls = callers.of(func);
        if calls.is_empty() || callers.is_hidden(func) {
            return false;
        }
        calls.iter().all(|&(caller, call)| {
            let Some(body) = &self.program.funcs[caller].body else {
                return false;
            };
            let Some(block) = body.block_of(call) else {
                return false;
            };
            let cfg = Cfg::build(body);
            let mut set = set.to_vec();
            set.extend(self.set_behind(body, &cfg, block, Some(call)));
            self.is_guarded(body, &cfg, block, &set)
                || depth > 0
                    && cfg.loops().innermost(block).is_none()
                    && self.ends_with_flag(callers, caller, &set, depth - 1)
        })
    }

    /// Flags that every way from the call on sets, or that have been set before it on every way.
    fn set_behind(
        &self,
        body: &Body,
        cfg: &Cfg,
        block: BlockId,
        call: Option<InstId>,
    ) -> Vec<GlobalId> {
        let mut found = Vec::new();
        for (inst, data) in body.insts.iter_enumerated() {
            if let Op::Store { addr, .. } = data.op
                && let Some(flag) = global(body, addr)
                && self.class_of(flag).is_some()
                && let Some(at) = body.block_of(inst)
            {
                let is_behind = match at == block {
                    true => true,
                    false => {
                        cfg.dominates(at, block) || cfg.post_dominators().post_dominates(at, block)
                    }
                };
                if is_behind && Some(inst) != call {
                    found.push(flag);
                }
            }
        }
        found
    }

    /// Is the block only come to while one of these flags is not set?
    fn is_guarded(&self, body: &Body, cfg: &Cfg, mut block: BlockId, set: &[GlobalId]) -> bool {
        while let Some(above) = cfg.dominators().idom(block) {
            if let Op::CondBr { cond, then, els } = body.insts[body.terminator(above)].op
                && then != els
                && let Some((flag, holds, fails)) = self.tested(body, cond)
                && set.contains(&flag)
                && let Some(class) = self.class_of(flag)
            {
                let side = |to: BlockId| to == block && cfg.preds(to).len() == 1;
                if side(then) && holds.disjoint(class) || side(els) && fails.disjoint(class) {
                    return true;
                }
            }
            block = above;
        }
        false
    }

    /// The flag that a condition looks at, and what it is if the condition holds and if it fails.
    fn tested(&self, body: &Body, cond: Operand) -> Option<(GlobalId, Class, Class)> {
        let loaded = |mut operand: Operand| loop {
            match body.insts[body.def(operand.as_value()?)?].op {
                Op::Cast { value, .. } => operand = value,
                Op::Load { addr } => return global(body, addr),
                _ => return None,
            }
        };
        if let Some(flag) = loaded(cond) {
            return Some((flag, Class::NonZero, Class::Eq(0)));
        }
        match body.insts[body.def(cond.as_value()?)?].op {
            Op::Cmp { pred, a, b } if matches!(pred, CmpPred::Eq | CmpPred::Ne) => {
                let (holds, fails) = classes(pred, constant(self.program, body, b)?)?;
                Some((loaded(a)?, holds, fails))
            }
            _ => None,
        }
    }

    fn class_of(&self, flag: GlobalId) -> Option<Class> {
        let flags = self.flags.get_or_init(|| flags_of(self.program));
        flags.get(&flag).copied().flatten()
    }
}

/// The variable at an address.
fn global(body: &Body, addr: Operand) -> Option<GlobalId> {
    match body.const_of(addr) {
        Some(&Const::Global { global, offset: 0 }) => Some(global),
        _ => None,
    }
}

/// What a stored value is: a constant, or a pointer that is none.
fn class_of(program: &Program, body: &Body, value: Operand) -> Option<Class> {
    if let Some(number) = constant(program, body, value) {
        return Some(Class::Eq(number));
    }
    let is_pointer = match value.as_value() {
        Some(value) => matches!(program.types.get(body.value_ty(value)), Type::Ptr),
        None => matches!(
            body.const_of(value),
            Some(Const::Global { .. } | Const::Func(_))
        ),
    };
    is_pointer.then_some(Class::NonZero)
}

/// What the program puts into its variables, where it only reads and writes them by name.
fn flags_of(program: &Program) -> FxHashMap<GlobalId, Option<Class>> {
    let mut flags: FxHashMap<GlobalId, Option<Class>> = FxHashMap::default();
    for function in &program.funcs {
        let Some(body) = &function.body else { continue };
        for (inst, data) in body.insts.iter_enumerated() {
            let addr = match data.op {
                Op::Load { addr } => Some(addr),
                Op::Store { addr, value } => {
                    if let Some(flag) = global(body, addr) {
                        let class = class_of(program, body, value);
                        let known = flags.entry(flag).or_insert(class);
                        if *known != class {
                            *known = None;
                        }
                    }
                    Some(addr)
                }
                _ => None,
            };
            body.for_each_operand(inst, |operand| {
                if Some(operand) != addr
                    && let Some(&Const::Global { global, .. }) = body.const_of(operand)
                {
                    flags.insert(global, None);
                }
            });
        }
    }
    flags
}
