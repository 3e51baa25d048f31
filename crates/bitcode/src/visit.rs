//! The operands of an instruction, whatever its kind.

use crate::ids::{BlockId, PoolRange, ValueId};
use crate::inst::{OperandKind, RawInst, RawInstKind, RawOperand};
use crate::raw::RawBody;

impl RawBody {
    /// Calls `visit` with every value, block and metadata operand of an instruction, in order: the
    /// values of a call are the arguments, the bundles' inputs, then the callee. Plain numbers (indices of
    /// `extractvalue`, clause kinds) are no operands.
    pub fn visit_operands(&self, inst: &RawInst, mut visit: impl FnMut(OperandKind)) {
        let visit = &mut visit;
        match inst.kind {
            RawInstKind::Unop { value, .. }
            | RawInstKind::Cast { value, .. }
            | RawInstKind::Freeze { value }
            | RawInstKind::Resume { value } => values(&[value], visit),
            RawInstKind::Binop { lhs, rhs, .. } | RawInstKind::Cmp { lhs, rhs, .. } => {
                values(&[lhs, rhs], visit);
            }
            RawInstKind::Select {
                cond,
                then_value,
                else_value,
            } => values(&[cond, then_value, else_value], visit),
            RawInstKind::ExtractElement { vector, index } => values(&[vector, index], visit),
            RawInstKind::InsertElement {
                vector,
                element,
                index,
            } => values(&[vector, element, index], visit),
            RawInstKind::ShuffleVector { a, b, mask } => values(&[a, b, mask], visit),
            RawInstKind::ExtractValue { aggregate, .. } => values(&[aggregate], visit),
            RawInstKind::InsertValue {
                aggregate, element, ..
            } => values(&[aggregate, element], visit),
            RawInstKind::Gep { operands, .. } => self.range(operands, visit),
            RawInstKind::Phi { incoming } => self.range(incoming, visit),
            RawInstKind::Alloca { count, .. } => values(&[count], visit),
            RawInstKind::Load { address, .. } => values(&[address], visit),
            RawInstKind::Store { address, value, .. }
            | RawInstKind::AtomicRmw { address, value, .. } => values(&[address, value], visit),
            RawInstKind::CmpXchg {
                address,
                expected,
                new,
                ..
            } => values(&[address, expected, new], visit),
            RawInstKind::VaArg { list } => values(&[list], visit),
            RawInstKind::Fence { .. } | RawInstKind::Unreachable => {}
            _ => self.visit_control_flow(inst, visit),
        }
    }

    fn visit_control_flow(&self, inst: &RawInst, visit: &mut impl FnMut(OperandKind)) {
        if let Some(call) = inst.kind.call().and_then(|id| self.call(id)) {
            self.range(call.args, visit);
            for bundle in call.bundles.of(&self.bundles) {
                self.range(bundle.inputs, visit);
            }
            values(&[call.callee], visit);
        }
        match inst.kind {
            RawInstKind::Invoke { normal, unwind, .. } => blocks(&[normal, unwind], visit),
            RawInstKind::CallBr {
                default, indirect, ..
            } => {
                blocks(&[default], visit);
                self.range(indirect, visit);
            }
            RawInstKind::Ret { value } => values(value.as_slice(), visit),
            RawInstKind::Br { target } => blocks(&[target], visit),
            RawInstKind::CondBr {
                cond,
                then_block,
                else_block,
            } => {
                values(&[cond], visit);
                blocks(&[then_block, else_block], visit);
            }
            RawInstKind::Switch {
                cond,
                default,
                cases,
            } => {
                values(&[cond], visit);
                blocks(&[default], visit);
                self.range(cases, visit);
            }
            RawInstKind::IndirectBr { address, targets } => {
                values(&[address], visit);
                self.range(targets, visit);
            }
            _ => self.visit_exceptions(inst, visit),
        }
    }

    fn visit_exceptions(&self, inst: &RawInst, visit: &mut impl FnMut(OperandKind)) {
        match inst.kind {
            RawInstKind::LandingPad { clauses, .. } => {
                for pair in self.operands(clauses).chunks_exact(2) {
                    visit(pair[1].kind());
                }
            }
            RawInstKind::CleanupPad { parent, args } | RawInstKind::CatchPad { parent, args } => {
                values(&[parent], visit);
                self.range(args, visit);
            }
            RawInstKind::CatchSwitch {
                parent,
                handlers,
                unwind,
            } => {
                values(&[parent], visit);
                self.range(handlers, visit);
                blocks(unwind.as_slice(), visit);
            }
            RawInstKind::CleanupRet { pad, unwind } => {
                values(&[pad], visit);
                blocks(unwind.as_slice(), visit);
            }
            RawInstKind::CatchRet { pad, target } => {
                values(&[pad], visit);
                blocks(&[target], visit);
            }
            _ => {}
        }
    }

    fn range(&self, range: PoolRange, visit: &mut impl FnMut(OperandKind)) {
        let operands: &[RawOperand] = self.operands(range);
        operands.iter().for_each(|operand| visit(operand.kind()));
    }
}

fn values(list: &[ValueId], visit: &mut impl FnMut(OperandKind)) {
    list.iter()
        .for_each(|value| visit(OperandKind::Value(*value)));
}

fn blocks(list: &[BlockId], visit: &mut impl FnMut(OperandKind)) {
    list.iter()
        .for_each(|block| visit(OperandKind::Block(*block)));
}
