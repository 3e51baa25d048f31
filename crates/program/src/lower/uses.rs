//! Which values does a raw instruction use?

use drip_bitcode as bc;
use drip_bitcode::RawInstKind as K;

/// Calls `visit` on every value that the instruction uses, phi inputs and call arguments included; types, blocks and
/// plain numbers are not values.
pub(crate) fn for_each_value(
    body: &bc::RawBody,
    inst: &bc::RawInst,
    mut visit: impl FnMut(bc::ValueId),
) {
    if let Some(value) = one_value(&inst.kind) {
        visit(value);
    } else if let Some(values) = two_values(&inst.kind) {
        values.into_iter().for_each(visit);
    } else if let Some(values) = three_values(&inst.kind) {
        values.into_iter().for_each(visit);
    } else {
        for_each_listed(body, &inst.kind, &mut visit);
    }
}

fn one_value(kind: &K) -> Option<bc::ValueId> {
    match *kind {
        K::Unop { value, .. }
        | K::Cast { value, .. }
        | K::Freeze { value }
        | K::Resume { value }
        | K::ExtractValue {
            aggregate: value, ..
        }
        | K::Alloca { count: value, .. }
        | K::Load { address: value, .. }
        | K::VaArg { list: value }
        | K::CondBr { cond: value, .. }
        | K::Switch { cond: value, .. }
        | K::IndirectBr { address: value, .. } => Some(value),
        K::Ret { value } => value,
        _ => None,
    }
}

fn two_values(kind: &K) -> Option<[bc::ValueId; 2]> {
    match *kind {
        K::Binop { lhs, rhs, .. } | K::Cmp { lhs, rhs, .. } => Some([lhs, rhs]),
        K::ExtractElement { vector, index } => Some([vector, index]),
        K::InsertValue {
            aggregate, element, ..
        } => Some([aggregate, element]),
        K::Store { address, value, .. } | K::AtomicRmw { address, value, .. } => {
            Some([address, value])
        }
        _ => None,
    }
}

fn three_values(kind: &K) -> Option<[bc::ValueId; 3]> {
    match *kind {
        K::Select {
            cond,
            then_value,
            else_value,
        } => Some([cond, then_value, else_value]),
        K::InsertElement {
            vector,
            element,
            index,
        } => Some([vector, element, index]),
        K::ShuffleVector { a, b, mask } => Some([a, b, mask]),
        K::CmpXchg {
            address,
            expected,
            new,
            ..
        } => Some([address, expected, new]),
        _ => None,
    }
}

fn for_each_listed(body: &bc::RawBody, kind: &K, visit: &mut dyn FnMut(bc::ValueId)) {
    let mut pool = |range: bc::PoolRange| {
        let values = body.operands(range).iter().filter_map(|o| o.as_value());
        values.for_each(&mut *visit);
    };
    match *kind {
        K::Gep { operands: list, .. }
        | K::Phi { incoming: list }
        | K::CleanupPad { args: list, .. }
        | K::CatchPad { args: list, .. } => pool(list),
        K::Call(call) | K::Invoke { call, .. } | K::CallBr { call, .. } => {
            let Some(call) = body.call(call) else { return };
            pool(call.args);
            for bundle in call.bundles.of(&body.bundles) {
                pool(bundle.inputs);
            }
            visit(call.callee);
        }
        _ => {}
    }
}
