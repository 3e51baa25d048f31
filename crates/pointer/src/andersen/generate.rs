//! From instructions to constraints: SABER's six kinds of statements (table 3) out of what a body has.
//!
//! `x + e` is an occurrence of `x` (§6.4): integers of pointer width carry what was cast into them through additions,
//! subtractions and masks, but the difference of two pointers is a number. A struct value is one variable.

use drip_program::{
    BinaryOp, Body, CallFlags, CastOp, Const, Init, InstId, Op, Operand, OperandKind, RmwOp,
    Scalar, Type, TypeId, Types, ValueId,
};
use smallvec::SmallVec;

use super::call::{CallSite, Callee};
use super::constraint::{Constraint, NO_NODE, System};
use super::external::{ExternalCall, external_call};
use super::objects::{ObjectKind, gcd};
use super::{InstanceId, NodeId};
use crate::callgraph::Signature;

/// Elements of one struct value that are looked at; pointers further on are overlooked.
const MAX_LEAVES: usize = 64;

/// Byte offsets at which a value of this type can hold a pointer.
pub fn pointer_leaves(types: &Types, ty: TypeId) -> SmallVec<[u64; 2]> {
    let mut out = SmallVec::new();
    collect_leaves(types, ty, 0, &mut out);
    out
}

fn collect_leaves(types: &Types, ty: TypeId, at: u64, out: &mut SmallVec<[u64; 2]>) {
    if out.len() >= MAX_LEAVES {
        return;
    }
    match types.get(ty) {
        Type::Ptr => out.push(at),
        Type::Int(width) if u64::from(*width) == types.layout.pointer_bytes * 8 => out.push(at),
        Type::Struct(s) => {
            for &(field, offset) in s.fields.iter() {
                collect_leaves(types, field, at + offset, out);
            }
        }
        Type::Array { elem, len } | Type::Vector { elem, len } => {
            let size = types.size_of(*elem);
            for index in 0..(*len).min(MAX_LEAVES as u64) {
                collect_leaves(types, *elem, at + index * size, out);
            }
        }
        _ => {}
    }
}

/// Type of an operand; `None` for constants without one of their own, which are pointers.
pub fn operand_type(body: &Body, operand: Operand) -> Option<TypeId> {
    match operand.kind() {
        OperandKind::Value(value) => Some(body.value_ty(value)),
        OperandKind::Const(constant) => match &body.consts[constant] {
            Const::Int { ty, .. }
            | Const::Float { ty, .. }
            | Const::Zero(ty)
            | Const::Undef(ty)
            | Const::Aggregate { ty, .. }
            | Const::Opaque(ty) => Some(*ty),
            Const::Null | Const::Global { .. } | Const::Func(_) => None,
        },
    }
}

/// Operands that an arithmetic instruction passes on as pointers.
pub fn carried_operands(
    body: &Body,
    op: BinaryOp,
    a: Operand,
    b: Operand,
) -> SmallVec<[Operand; 2]> {
    let from_pointer = |operand: Operand| {
        let def = operand.as_value().and_then(|v| body.def(v));
        def.is_some_and(|inst| {
            matches!(
                body.insts[inst].op,
                Op::Cast {
                    op: CastOp::PtrToInt,
                    ..
                }
            )
        })
    };
    match op {
        BinaryOp::Sub if from_pointer(b) => SmallVec::new(),
        BinaryOp::Sub => SmallVec::from_slice(&[a]),
        BinaryOp::Add | BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => {
            SmallVec::from_slice(&[a, b])
        }
        _ => SmallVec::new(),
    }
}

impl System<'_> {
    pub(super) fn generate(&mut self) {
        self.initialisers();
        let mut carries = vec![None; self.program.types.len()];
        for index in 0..self.instances.list.len() {
            self.declare(InstanceId::new(index), &mut carries);
        }
        for index in 0..self.instances.list.len() {
            self.instance(InstanceId::new(index));
        }
        self.sync_contents();
    }

    fn initialisers(&mut self) {
        let program = self.program;
        for (global, data) in program.globals.iter_enumerated() {
            let Init::Slots { slots, .. } = &data.init else {
                continue;
            };
            for &(offset, scalar) in slots.iter() {
                let src = match scalar {
                    Scalar::Global { global, offset } => self.global(global, offset),
                    Scalar::Func(func) => self.address(ObjectKind::Function(func), None, 0),
                    Scalar::Int { .. } | Scalar::Opaque { .. } => continue,
                };
                let at = i64::try_from(offset).unwrap_or(0);
                self.global(global, at);
                let object = self.objects.find_object(ObjectKind::Global(global));
                let loc = object.and_then(|o| self.objects.loc(&program.types, o, at));
                // Constants too are what they were initialised with.
                if let Some(dst) = loc.and_then(|loc| self.read(loc)) {
                    self.push(Constraint::Copy { dst, src });
                }
            }
        }
    }

    fn global(&mut self, global: drip_program::GlobalId, offset: i64) -> NodeId {
        let ty = self.program.globals[global].ty;
        self.address(ObjectKind::Global(global), Some(ty), offset)
    }

    /// Nodes of an instance's values, parameters and result. `carries` remembers which types can hold a pointer.
    fn declare(&mut self, instance: InstanceId, carries: &mut [Option<bool>]) {
        let program = self.program;
        let func = self.instances.list[instance].func;
        let Some(body) = &program.funcs[func].body else {
            self.add_values(Box::default());
            self.params.push(SmallVec::new());
            self.returns.push(None);
            self.varargs.push(None);
            return;
        };
        let mut node_of = |system: &mut Self, ty: TypeId| {
            let known = &mut carries[ty.index()];
            let carries =
                *known.get_or_insert_with(|| !pointer_leaves(&program.types, ty).is_empty());
            if carries {
                system.fresh_node()
            } else {
                NO_NODE
            }
        };
        let nodes: Box<[NodeId]> = (0..body.value_count())
            .map(|v| node_of(self, body.value_ty(ValueId::new(v))))
            .collect();
        let params = nodes[..body.param_count()]
            .iter()
            .map(|&n| (n != NO_NODE).then_some(n))
            .collect();
        self.params.push(params);
        self.add_values(nodes);
        let (returns, vararg) = match program.types.get(program.funcs[func].ty) {
            Type::Func { ret, vararg, .. } => (
                !pointer_leaves(&program.types, *ret).is_empty(),
                *vararg
                    || program.funcs[func]
                        .attrs
                        .has(drip_program::FuncAttrs::NO_PROTOTYPE),
            ),
            _ => (false, false),
        };
        let ret = returns.then(|| self.fresh_node());
        self.returns.push(ret);
        let rest = vararg.then(|| self.fresh_node());
        self.varargs.push(rest);
    }

    /// Node of an operand; `None` if it carries no pointer.
    pub(super) fn operand(
        &mut self,
        instance: InstanceId,
        body: &Body,
        operand: Operand,
    ) -> Option<NodeId> {
        let constant = match operand.kind() {
            OperandKind::Value(value) => return self.value(instance, value),
            OperandKind::Const(constant) => constant,
        };
        match &body.consts[constant] {
            Const::Global { global, offset } => Some(self.global(*global, *offset)),
            Const::Func(func) => Some(self.address(ObjectKind::Function(*func), None, 0)),
            Const::Aggregate { elems, .. } => {
                let parts: Vec<NodeId> = elems
                    .iter()
                    .filter_map(|&e| self.operand(instance, body, Operand::constant(e)))
                    .collect();
                let dst = (!parts.is_empty()).then(|| self.fresh_node())?;
                for src in parts {
                    self.push(Constraint::Copy { dst, src });
                }
                Some(dst)
            }
            _ => None,
        }
    }

    fn instance(&mut self, instance: InstanceId) {
        let program = self.program;
        let func = self.instances.list[instance].func;
        let Some(body) = &program.funcs[func].body else {
            return;
        };
        for (inst, _) in body.insts.iter_enumerated() {
            self.statement(instance, body, inst);
        }
        if self.instances.exported.contains(func) {
            let outside = self.outside;
            for param in self.params[instance].clone().into_iter().flatten() {
                self.push(Constraint::Copy {
                    dst: param,
                    src: outside,
                });
            }
            let (handed, ret) = (self.handed, self.returns[instance]);
            self.copy_into(Some(handed), ret);
        }
    }

    fn statement(&mut self, instance: InstanceId, body: &Body, inst: InstId) {
        let data = body.insts[inst];
        let result = self.value(instance, body.result(inst));
        match data.op {
            Op::Alloca { elem, .. } => {
                let kind = ObjectKind::Stack { instance, inst };
                let src = self.address(kind, Some(elem), 0);
                self.copy_into(result, Some(src));
            }
            Op::Load { addr } => self.load(instance, body, addr, data.ty, result),
            Op::Store { addr, value } => self.store(instance, body, addr, value),
            Op::PtrAdd {
                base,
                offset,
                indices,
            } => {
                let stride = body.scaled(indices).iter().fold(0, |sum, index| {
                    gcd(
                        sum,
                        u32::try_from(index.scale.unsigned_abs())
                            .unwrap_or(1)
                            .max(1),
                    )
                });
                if let (Some(dst), Some(src)) = (result, self.operand(instance, body, base)) {
                    let moved = self.moved(src, offset, stride);
                    self.push(Constraint::Copy { dst, src: moved });
                }
            }
            Op::MemCopy { dst, src, len } => {
                let to = self.operand(instance, body, dst);
                let from = self.operand(instance, body, src);
                if let (Some(dst), Some(src)) = (to, from) {
                    let len = copied_bytes(body, len);
                    self.push(Constraint::MemCopy { dst, src, len });
                }
                self.copy_into(result, to);
            }
            Op::MemSet { dst, .. } => {
                let to = self.operand(instance, body, dst);
                self.copy_into(result, to);
            }
            Op::AtomicRmw { addr, value, op } => {
                self.load(instance, body, addr, data.ty, result);
                if op == RmwOp::Xchg {
                    self.store(instance, body, addr, value);
                }
            }
            Op::CmpXchg { addr, new, .. } => {
                let at = self.operand(instance, body, addr);
                if let (Some(dst), Some(addr)) = (result, at) {
                    self.push(Constraint::Load { dst, addr });
                }
                self.store(instance, body, addr, new);
            }
            Op::VaArg { .. } => {
                let rest = self.varargs[instance];
                self.copy_into(result, rest);
            }
            Op::Call {
                callee,
                args,
                flags,
            }
            | Op::Invoke {
                callee,
                args,
                flags,
                ..
            } => {
                let args = body.list(args);
                self.call(instance, body, inst, callee, args, flags, result);
            }
            Op::Ret { value: Some(value) } => {
                let src = self.operand(instance, body, value);
                let dst = self.returns[instance];
                self.copy_into(dst, src);
            }
            _ => {
                for operand in copied_operands(body, inst) {
                    let src = self.operand(instance, body, operand);
                    self.copy_into(result, src);
                }
            }
        }
    }

    fn copy_into(&mut self, dst: Option<NodeId>, src: Option<NodeId>) {
        if let (Some(dst), Some(src)) = (dst, src) {
            self.push(Constraint::Copy { dst, src });
        }
    }

    fn load(
        &mut self,
        instance: InstanceId,
        body: &Body,
        addr: Operand,
        ty: TypeId,
        result: Option<NodeId>,
    ) {
        let (Some(dst), Some(addr)) = (result, self.operand(instance, body, addr)) else {
            return;
        };
        for leaf in pointer_leaves(&self.program.types, ty) {
            let addr = self.moved(addr, leaf as i64, 0);
            self.push(Constraint::Load { dst, addr });
        }
    }

    fn store(&mut self, instance: InstanceId, body: &Body, addr: Operand, value: Operand) {
        let Some(src) = self.operand(instance, body, value) else {
            return;
        };
        let Some(addr) = self.operand(instance, body, addr) else {
            return;
        };
        let leaves = match operand_type(body, value) {
            Some(ty) => pointer_leaves(&self.program.types, ty),
            None => SmallVec::from_slice(&[0]),
        };
        for leaf in leaves {
            let addr = self.moved(addr, leaf as i64, 0);
            self.push(Constraint::Store { addr, src });
        }
    }

    #[allow(clippy::too_many_arguments)] // The parts of one instruction.
    fn call(
        &mut self,
        instance: InstanceId,
        body: &Body,
        inst: InstId,
        callee: Operand,
        args: &[Operand],
        flags: CallFlags,
        ret: Option<NodeId>,
    ) {
        let mut site = CallSite {
            instance,
            inst,
            callee: None,
            args: args
                .iter()
                .map(|&arg| self.operand(instance, body, arg))
                .collect(),
            ret,
            signature: None,
        };
        if flags.has(CallFlags::ASM) {
            return self.apply_summary(&site, &ExternalCall::opaque(args.len()));
        }
        if let Some(&Const::Func(func)) = body.const_of(callee) {
            if let Some(external) = external_call(self.program, self.library, func) {
                self.direct.insert((instance, inst), Callee::External(func));
                self.apply(&site, func, &external);
            } else if let Some(target) = self.instances.callee(instance, inst, func) {
                self.direct
                    .insert((instance, inst), Callee::Instance(target));
                self.bind(&site, target);
            }
            return;
        }
        site.callee = self.operand(instance, body, callee);
        let expected = body.insts[inst].ty;
        site.signature = Some(Signature::of_call(self.program, body, expected, args));
        if site.callee.is_some() {
            let id = self.calls.push(site);
            self.push(Constraint::Call(id));
        }
    }
}

/// Operands whose value an instruction without memory passes on.
pub fn copied_operands(body: &Body, inst: InstId) -> SmallVec<[Operand; 2]> {
    match body.insts[inst].op {
        Op::Cast { value, .. } => SmallVec::from_slice(&[value]),
        Op::Binary { op, a, b } => carried_operands(body, op, a, b),
        Op::Select { then, els, .. } => SmallVec::from_slice(&[then, els]),
        Op::Phi { incoming } => body.incoming(incoming).iter().map(|i| i.value).collect(),
        Op::ExtractValue { agg, .. } => SmallVec::from_slice(&[agg]),
        Op::InsertValue { agg, value, .. } => SmallVec::from_slice(&[agg, value]),
        Op::Opaque { args } => SmallVec::from_slice(body.list(args)),
        _ => SmallVec::new(),
    }
}

/// Length of a copy; everything if it is not constant.
pub fn copied_bytes(body: &Body, len: Operand) -> u64 {
    match body.const_of(len) {
        Some(&Const::Int { bits, .. }) => bits,
        _ => u64::MAX,
    }
}
