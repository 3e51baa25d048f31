//! Which values does a raw instruction use?

use drip_bitcode as bc;

/// Calls `visit` on every value that the instruction uses, phi inputs and call arguments included; types, blocks and
/// plain numbers are not values.
pub(crate) fn for_each_value(
    body: &bc::RawBody,
    inst: &bc::RawInst,
    mut visit: impl FnMut(bc::ValueId),
) {
    use bc::RawInstKind as K;
    let pool = |range: bc::PoolRange, visit: &mut dyn FnMut(bc::ValueId)| {
        body.operands(range)
            .iter()
            .filter_map(|o| o.as_value())
            .for_each(visit);
    };
    match inst.kind {
        K::Unop { value, .. }
        | K::Cast { value, .. }
        | K::Freeze { value }
        | K::Resume { value } => visit(value),
        K::Binop { lhs, rhs, .. } | K::Cmp { lhs, rhs, .. } => {
            [lhs, rhs].into_iter().for_each(visit)
        }
        K::Gep { operands, .. } => pool(operands, &mut visit),
        K::Select {
            cond,
            then_value,
            else_value,
        } => [cond, then_value, else_value].into_iter().for_each(visit),
        K::ExtractElement { vector, index } => [vector, index].into_iter().for_each(visit),
        K::InsertElement {
            vector,
            element,
            index,
        } => [vector, element, index].into_iter().for_each(visit),
        K::ShuffleVector { a, b, mask } => [a, b, mask].into_iter().for_each(visit),
        K::ExtractValue { aggregate, .. } => visit(aggregate),
        K::InsertValue {
            aggregate, element, ..
        } => [aggregate, element].into_iter().for_each(visit),
        K::Phi { incoming } => pool(incoming, &mut visit),
        K::Alloca { count, .. } => visit(count),
        K::Load { address, .. } => visit(address),
        K::Store { address, value, .. } => [address, value].into_iter().for_each(visit),
        K::CmpXchg {
            address,
            expected,
            new,
            ..
        } => [address, expected, new].into_iter().for_each(visit),
        K::AtomicRmw { address, value, .. } => [address, value].into_iter().for_each(visit),
        K::VaArg { list } => visit(list),
        K::Call(call) | K::Invoke { call, .. } | K::CallBr { call, .. } => {
            let Some(call) = body.call(call) else { return };
            visit(call.callee);
            pool(call.args, &mut visit);
            for bundle in call.bundles.of(&body.bundles) {
                pool(bundle.inputs, &mut visit);
            }
        }
        K::Ret { value } => value.into_iter().for_each(visit),
        K::CondBr { cond, .. } | K::Switch { cond, .. } => visit(cond),
        K::IndirectBr { address, .. } => visit(address),
        K::CleanupPad { args, .. } | K::CatchPad { args, .. } => pool(args, &mut visit),
        K::Fence { .. }
        | K::Br { .. }
        | K::Unreachable
        | K::LandingPad { .. }
        | K::CatchSwitch { .. }
        | K::CleanupRet { .. }
        | K::CatchRet { .. } => {}
    }
}
