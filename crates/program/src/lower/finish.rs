//! Replaces pending operands, and notes which functions are used other than as callee.

use drip_bitcode as bc;

use super::Scratch;
use super::consts::Consts;
use super::context::Context;
use super::values::ValueMap;
use crate::body::{Body, Const, Op, Operand};

struct Resolver<'a> {
    cx: Context<'a>,
    raw: &'a bc::RawBody,
    values: &'a ValueMap,
    consts: &'a mut Consts,
    /// By constant: used by an instruction as data.
    used: Vec<bool>,
}

impl Resolver<'_> {
    fn resolve(&mut self, operand: &mut Operand) {
        *operand = match self.values.resolve(*operand) {
            Ok(found) if found != Operand::default() => found,
            // Without a definition: the result of a dropped intrinsic, or malformed input.
            Err(local) => self.undefined(Some(local)),
            Ok(_) => self.undefined(None),
        };
    }

    fn undefined(&mut self, local: Option<u32>) -> Operand {
        let value = local.map(|l| bc::ValueId(self.raw.first_value.wrapping_add(l)));
        let ty = value
            .and_then(|v| self.raw.local_type(v))
            .map_or(self.cx.common.other, |t| self.cx.ty(t));
        Operand::constant(self.consts.add(Const::Undef(ty)))
    }

    fn data(&mut self, operand: &mut Operand) {
        self.resolve(operand);
        if let Some(id) = operand.as_const() {
            if self.used.len() <= id.index() {
                self.used.resize(id.index() + 1, false);
            }
            self.used[id.index()] = true;
        }
    }

    fn inst(&mut self, op: &mut Op) {
        match op {
            Op::Call { callee, .. } | Op::Invoke { callee, .. } => self.resolve(callee),
            Op::Alloca { count: a, .. }
            | Op::Load { addr: a }
            | Op::PtrAdd { base: a, .. }
            | Op::Cast { value: a, .. }
            | Op::Bind { value: a, .. }
            | Op::ExtractValue { agg: a, .. }
            | Op::VaArg { list: a }
            | Op::Ret { value: Some(a) }
            | Op::CondBr { cond: a, .. }
            | Op::Switch { value: a, .. }
            | Op::IndirectBr { addr: a, .. }
            | Op::Resume { value: a } => self.data(a),
            Op::Store { addr: a, value: b }
            | Op::Binary { a, b, .. }
            | Op::Cmp { a, b, .. }
            | Op::InsertValue {
                agg: a, value: b, ..
            }
            | Op::AtomicRmw {
                addr: a, value: b, ..
            } => {
                self.data(a);
                self.data(b);
            }
            Op::MemCopy {
                dst: a,
                src: b,
                len: c,
            }
            | Op::MemSet {
                dst: a,
                byte: b,
                len: c,
            }
            | Op::Select {
                cond: a,
                then: b,
                els: c,
            }
            | Op::CmpXchg {
                addr: a,
                expected: b,
                new: c,
            } => {
                self.data(a);
                self.data(b);
                self.data(c);
            }
            // Operands in pools are resolved with their pool.
            Op::Phi { .. } | Op::Opaque { .. } | Op::CallBr { .. } => {}
            Op::LandingPad { .. } | Op::Uninit { .. } => {}
            Op::Ret { value: None } | Op::Br { .. } | Op::Unreachable => {}
        }
    }

    fn mark_taken(&self) {
        for (constant, used) in self.consts.table.iter().zip(&self.used) {
            if !used {
                continue;
            }
            match constant {
                Const::Func(func) => self.cx.mark_taken(*func),
                Const::Aggregate { elems, .. } => {
                    for &elem in elems {
                        self.mark_nested(elem, 0);
                    }
                }
                _ => {}
            }
        }
    }

    fn mark_nested(&self, id: crate::ids::ConstId, depth: u32) {
        /// Elements have smaller ids than what holds them, so depth is bounded; real aggregates nest a few levels.
        const MAX_DEPTH: u32 = 32;
        match self.consts.table.get(id.index()) {
            Some(Const::Func(func)) => self.cx.mark_taken(*func),
            Some(Const::Aggregate { elems, .. }) if depth < MAX_DEPTH => {
                elems
                    .iter()
                    .for_each(|&elem| self.mark_nested(elem, depth + 1));
            }
            _ => {}
        }
    }
}

/// After renaming: every operand of the body becomes final.
pub(crate) fn resolve_operands(cx: Context<'_>, raw: &bc::RawBody, scratch: &mut Scratch) {
    let mut resolver = Resolver {
        cx,
        raw,
        values: &scratch.values,
        consts: &mut scratch.consts,
        used: std::mem::take(&mut scratch.used),
    };
    resolver.used.clear();
    let Body {
        insts,
        operands,
        scaled,
        incoming,
        ..
    } = &mut scratch.out;
    for inst in insts.iter_mut() {
        resolver.inst(&mut inst.op);
    }
    for operand in operands.iter_mut() {
        resolver.data(operand);
    }
    for entry in scaled.iter_mut() {
        resolver.data(&mut entry.index);
    }
    for entry in incoming.iter_mut() {
        resolver.data(&mut entry.value);
    }
    resolver.mark_taken();
    scratch.used = resolver.used;
}
