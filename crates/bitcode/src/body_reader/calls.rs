//! Calls and control flow: call, invoke, callbr, operand bundles, branches, exception handling.

use super::BodyReader;
use super::operands::Ops;
use crate::bitstream::{Record, Res};
use crate::codes::func;
use crate::ids::{CallId, MetadataId, PoolRange, TypeId};
use crate::inst::{RawBundle, RawCall, RawInstKind, RawOperand, TailKind};
use crate::raw::RawType;

/// Where in a call's flags the parts lie; `invoke` has its own layout.
mod flags {
    pub const TAIL: u64 = 1;
    pub const CONV_SHIFT: u32 = 1;
    pub const CONV_MASK: u64 = 0x3ff;
    pub const MUSTTAIL: u64 = 1 << 14;
    pub const EXPLICIT_TYPE: u64 = 1 << 15;
    pub const NOTAIL: u64 = 1 << 16;
    pub const FAST_MATH: u64 = 1 << 17;
    pub const INVOKE_EXPLICIT_TYPE: u64 = 1 << 13;
}

/// Marks metadata among the inputs of an operand bundle.
const BUNDLE_METADATA: u64 = 0x8000_0000;
/// Upper half of the first operand of a switch with case ranges, which no released LLVM wrote.
const SWITCH_RANGES_MAGIC: u64 = 0x4B5;

impl BodyReader<'_> {
    pub(super) fn control_flow(&mut self, record: &Record) -> Res<()> {
        match record.code {
            func::CALL => self.call(record),
            func::INVOKE => self.invoke(record),
            func::CALLBR => self.callbr(record),
            func::RET => self.ret(record),
            func::BR => self.br(record),
            func::SWITCH => self.switch(record),
            func::INDIRECTBR => self.indirectbr(record),
            func::UNREACHABLE => {
                self.push_void(RawInstKind::Unreachable);
                Ok(())
            }
            func::RESUME => {
                let mut ops = Ops::new(record, "resume");
                let (value, _) = self.typed_value(&mut ops)?;
                self.push_void(RawInstKind::Resume { value });
                Ok(())
            }
            func::LANDINGPAD | func::LANDINGPAD_OLD => self.landing_pad(record),
            func::CLEANUPPAD | func::CATCHPAD => self.pad(record),
            func::CATCHSWITCH => self.catch_switch(record),
            func::CLEANUPRET => self.cleanup_ret(record),
            func::CATCHRET => self.catch_ret(record),
            _ => self.unknown(record),
        }
    }

    pub(super) fn operand_bundle(&mut self, record: &Record) -> Res<()> {
        let mut ops = Ops::new(record, "operand bundle");
        let tag = ops.next()? as u32;
        let start = self.pool();
        while ops.left() > 0 {
            let operand = if ops.peek() == Some(BUNDLE_METADATA) {
                ops.next()?;
                let id = ops.next()?;
                if id > u64::from(RawOperand::MAX_NUMBER) {
                    return ops.bad();
                }
                RawOperand::metadata(MetadataId(id as u32))
            } else {
                RawOperand::value(self.typed_value(&mut ops)?.0)
            };
            self.push_operand(operand);
        }
        let inputs = self.pool_since(start);
        self.body.bundles.push(RawBundle { tag, inputs });
        Ok(())
    }

    /// Function type, callee and arguments, which are the same for all kinds of calls. Returns the
    /// call and its result type.
    fn callee_and_args(
        &mut self,
        ops: &mut Ops<'_>,
        attrs: u64,
        has_type: bool,
    ) -> Res<(RawCall, TypeId)> {
        let stated = match has_type {
            true => Some(self.type_op(ops)?),
            false => None,
        };
        let (callee, callee_ty) = self.typed_value(ops)?;
        if !self.is_pointer(callee_ty) {
            return ops.mismatch();
        }
        let function_ty = match stated {
            Some(ty) => ty,
            None => self.pointee(ops, callee_ty)?,
        };
        let module = self.module;
        let RawType::Function {
            ret,
            params,
            vararg,
        } = &module.types[function_ty.index()]
        else {
            return ops.mismatch();
        };
        let start = self.pool();
        for param in params {
            let arg = self.argument(ops, *param)?;
            self.push_operand(arg);
        }
        if !vararg && ops.left() > 0 {
            return ops.bad();
        }
        while ops.left() > 0 {
            let (arg, _) = self.typed_value(ops)?;
            self.push_operand(RawOperand::value(arg));
        }
        let args = self.pool_since(start);
        let bundles = PoolRange {
            start: self.pending_bundles as u32,
            len: (self.body.bundles.len() - self.pending_bundles) as u32,
        };
        self.pending_bundles = self.body.bundles.len();
        let call = RawCall {
            callee,
            function_ty,
            args,
            attrs: module.attrs.list_of_operand(attrs),
            calling_conv: 0,
            tail: TailKind::None,
            bundles,
        };
        Ok((call, *ret))
    }

    fn push_call(
        &mut self,
        record: &Record,
        call: RawCall,
        ty: TypeId,
        kind: impl FnOnce(CallId) -> RawInstKind,
    ) -> Res<()> {
        let id = CallId(self.body.calls.len() as u32);
        self.body.calls.push(call);
        let kind = kind(id);
        if matches!(self.ty(ty), RawType::Void) {
            self.push_void(kind);
            return Ok(());
        }
        self.push_value(record, kind, ty)
    }

    fn call(&mut self, record: &Record) -> Res<()> {
        let mut ops = Ops::new(record, "call");
        let attrs = ops.next()?;
        let bits = ops.next()?;
        if bits & flags::FAST_MATH != 0 {
            ops.next()?;
        }
        let has_type = bits & flags::EXPLICIT_TYPE != 0;
        let (mut call, ty) = self.callee_and_args(&mut ops, attrs, has_type)?;
        call.calling_conv = (bits >> flags::CONV_SHIFT & flags::CONV_MASK) as u16;
        call.tail = if bits & flags::NOTAIL != 0 {
            TailKind::NoTail
        } else if bits & flags::MUSTTAIL != 0 {
            TailKind::MustTail
        } else if bits & flags::TAIL != 0 {
            TailKind::Tail
        } else {
            TailKind::None
        };
        if self.debug_call(&call) {
            return Ok(());
        }
        self.push_call(record, call, ty, RawInstKind::Call)
    }

    fn invoke(&mut self, record: &Record) -> Res<()> {
        let mut ops = Ops::new(record, "invoke");
        let attrs = ops.next()?;
        let bits = ops.next()?;
        let normal = self.block_op(&mut ops)?;
        let unwind = self.block_op(&mut ops)?;
        let has_type = bits & flags::INVOKE_EXPLICIT_TYPE != 0;
        let (mut call, ty) = self.callee_and_args(&mut ops, attrs, has_type)?;
        call.calling_conv = (bits & flags::CONV_MASK) as u16;
        self.push_call(record, call, ty, |call| RawInstKind::Invoke {
            call,
            normal,
            unwind,
        })
    }

    fn callbr(&mut self, record: &Record) -> Res<()> {
        let mut ops = Ops::new(record, "callbr");
        let attrs = ops.next()?;
        let bits = ops.next()?;
        let default = self.block_op(&mut ops)?;
        let count = ops.next()?;
        let start = self.pool();
        for _ in 0..count {
            let block = self.block_op(&mut ops)?;
            self.push_operand(RawOperand::block(block));
        }
        let indirect = self.pool_since(start);
        let has_type = bits & flags::EXPLICIT_TYPE != 0;
        let (mut call, ty) = self.callee_and_args(&mut ops, attrs, has_type)?;
        call.calling_conv = (bits >> flags::CONV_SHIFT & flags::CONV_MASK) as u16;
        self.push_call(record, call, ty, |call| RawInstKind::CallBr {
            call,
            default,
            indirect,
        })
    }

    fn ret(&mut self, record: &Record) -> Res<()> {
        let mut ops = Ops::new(record, "ret");
        let result = match self.ty(self.function_ty) {
            RawType::Function { ret, .. } => *ret,
            _ => return ops.mismatch(),
        };
        let value = if ops.left() == 0 {
            None
        } else {
            let (value, ty) = self.typed_value(&mut ops)?;
            if ty != result {
                return ops.mismatch();
            }
            Some(value)
        };
        if value.is_none() != matches!(self.ty(result), RawType::Void) {
            return ops.mismatch();
        }
        self.push_void(RawInstKind::Ret { value });
        Ok(())
    }

    fn br(&mut self, record: &Record) -> Res<()> {
        let mut ops = Ops::new(record, "br");
        let target = self.block_op(&mut ops)?;
        if ops.left() == 0 {
            self.push_void(RawInstKind::Br { target });
            return Ok(());
        }
        let else_block = self.block_op(&mut ops)?;
        let cond = self.value_of(&mut ops, self.module.lookup.bool)?;
        self.push_void(RawInstKind::CondBr {
            cond,
            then_block: target,
            else_block,
        });
        Ok(())
    }

    fn switch(&mut self, record: &Record) -> Res<()> {
        let mut ops = Ops::new(record, "switch");
        if record.get(0) >> 16 == SWITCH_RANGES_MAGIC {
            return ops.bad();
        }
        let ty = self.type_op(&mut ops)?;
        let cond = self.value_of(&mut ops, ty)?;
        let default = self.block_op(&mut ops)?;
        if !ops.left().is_multiple_of(2) {
            return ops.bad();
        }
        let start = self.pool();
        while ops.left() > 0 {
            let case = self.absolute_value(&mut ops, ty)?;
            let block = self.block_op(&mut ops)?;
            self.push_operand(RawOperand::value(case));
            self.push_operand(RawOperand::block(block));
        }
        let cases = self.pool_since(start);
        self.push_void(RawInstKind::Switch {
            cond,
            default,
            cases,
        });
        Ok(())
    }

    fn indirectbr(&mut self, record: &Record) -> Res<()> {
        let mut ops = Ops::new(record, "indirectbr");
        let ty = self.type_op(&mut ops)?;
        let address = self.value_of(&mut ops, ty)?;
        let start = self.pool();
        while ops.left() > 0 {
            let block = self.block_op(&mut ops)?;
            self.push_operand(RawOperand::block(block));
        }
        let targets = self.pool_since(start);
        self.push_void(RawInstKind::IndirectBr { address, targets });
        Ok(())
    }

    fn landing_pad(&mut self, record: &Record) -> Res<()> {
        let mut ops = Ops::new(record, "landingpad");
        let ty = self.type_op(&mut ops)?;
        if record.code == func::LANDINGPAD_OLD {
            // The personality routine, which newer records have at the function.
            self.typed_value(&mut ops)?;
        }
        let cleanup = ops.next()? != 0;
        let count = ops.next()?;
        let start = self.pool();
        for _ in 0..count {
            let clause = ops.next()?;
            let (value, _) = self.typed_value(&mut ops)?;
            self.push_operand(RawOperand::plain((clause != 0).into()));
            self.push_operand(RawOperand::value(value));
        }
        let clauses = self.pool_since(start);
        let kind = RawInstKind::LandingPad { cleanup, clauses };
        self.push_value(record, kind, ty)
    }

    /// `cleanuppad` and `catchpad`.
    fn pad(&mut self, record: &Record) -> Res<()> {
        let mut ops = Ops::new(record, "cleanuppad or catchpad");
        let token = self.module.lookup.token;
        let parent = self.value_of(&mut ops, token)?;
        let count = ops.next()?;
        let start = self.pool();
        for _ in 0..count {
            let (arg, _) = self.typed_value(&mut ops)?;
            self.push_operand(RawOperand::value(arg));
        }
        let args = self.pool_since(start);
        let kind = if record.code == func::CLEANUPPAD {
            RawInstKind::CleanupPad { parent, args }
        } else {
            RawInstKind::CatchPad { parent, args }
        };
        self.push_value(record, kind, token)
    }

    fn catch_switch(&mut self, record: &Record) -> Res<()> {
        let mut ops = Ops::new(record, "catchswitch");
        let token = self.module.lookup.token;
        let parent = self.value_of(&mut ops, token)?;
        let count = ops.next()?;
        let start = self.pool();
        for _ in 0..count {
            let block = self.block_op(&mut ops)?;
            self.push_operand(RawOperand::block(block));
        }
        let handlers = self.pool_since(start);
        let unwind = match ops.left() {
            0 => None,
            _ => Some(self.block_op(&mut ops)?),
        };
        let kind = RawInstKind::CatchSwitch {
            parent,
            handlers,
            unwind,
        };
        self.push_value(record, kind, token)
    }

    fn cleanup_ret(&mut self, record: &Record) -> Res<()> {
        let mut ops = Ops::new(record, "cleanupret");
        let pad = self.value_of(&mut ops, self.module.lookup.token)?;
        let unwind = match ops.left() {
            0 => None,
            _ => Some(self.block_op(&mut ops)?),
        };
        self.push_void(RawInstKind::CleanupRet { pad, unwind });
        Ok(())
    }

    fn catch_ret(&mut self, record: &Record) -> Res<()> {
        let mut ops = Ops::new(record, "catchret");
        let pad = self.value_of(&mut ops, self.module.lookup.token)?;
        let target = self.block_op(&mut ops)?;
        self.push_void(RawInstKind::CatchRet { pad, target });
        Ok(())
    }
}
