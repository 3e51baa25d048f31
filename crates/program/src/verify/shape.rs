//! Does every id of a body exist, and do its blocks have the shape that everyone relies on?

use crate::address_taken::for_each_address_taken;
use crate::body::*;
use crate::builder::for_each_own_operand_mut;
use crate::ids::*;
use crate::model::FuncAttrs;
use crate::types::Type;

use super::{Check, Scratch, exists, in_pool};

/// Parameters, constants, positions and variables; fills `const_types`.
pub fn check_tables(check: &mut Check<'_>, scratch: &mut Scratch) {
    let body = check.body;
    let declared = match check.has_type(check.function.ty) {
        true => check.types.get(check.function.ty),
        false => &Type::Other,
    };
    match declared {
        Type::Func { params, .. } if **params == *body.params => {}
        _ => check.error("the body's parameters are not those of the function's type"),
    }
    let locs = body.locs.iter().all(|loc| {
        exists(&check.facts.program.files, loc.file)
            && loc.inlined_at.is_none_or(|outer| exists(&body.locs, outer))
    });
    check.require(locs, "a position is in no file or inlined at no position");
    if locs {
        check.require(!has_inline_cycle(body), "a position is inlined into itself");
    }
    let program = check.facts.program;
    let vars = body.vars.iter().all(|var| {
        var.name.index() < program.strings.len()
            && var.ty.is_none_or(|ty| exists(&program.di_types, ty))
    });
    check.require(vars, "a variable's name or type does not exist");
    scratch.const_types.clear();
    for (id, constant) in body.consts.iter_enumerated() {
        match const_problem(check, id, constant, &scratch.const_types) {
            Ok(ty) => scratch.const_types.push(ty),
            Err(problem) => return check.error(format!("constant {id} {problem}")),
        }
    }
}

fn has_inline_cycle(body: &Body) -> bool {
    let locs = &body.locs;
    // Positions are made outermost first, as a rule: then there is no cycle.
    let mut ordered = locs.iter_enumerated();
    if ordered.all(|(id, loc)| loc.inlined_at.is_none_or(|outer| outer < id)) {
        return false;
    }
    // Each position has at most one successor: follow it, marking the walk by number.
    let mut walk_of = vec![0u32; locs.len()];
    for (start, walk) in locs.ids().iter().zip(1u32..) {
        let mut at = Some(start);
        while let Some(id) = at.filter(|id| walk_of[id.index()] != walk) {
            if walk_of[id.index()] != 0 {
                break;
            }
            walk_of[id.index()] = walk;
            at = locs[id].inlined_at;
        }
        if at.is_some_and(|id| walk_of[id.index()] == walk) {
            return true;
        }
    }
    false
}

/// The type of a constant, or what is wrong with it.
fn const_problem(
    check: &Check<'_>,
    id: ConstId,
    constant: &Const,
    earlier: &[TypeId],
) -> Result<TypeId, &'static str> {
    let program = check.facts.program;
    let ty = check.const_type(constant).filter(|&ty| check.has_type(ty));
    let ty = ty.ok_or("has a type that does not exist")?;
    let holds = match (constant, check.types.get(ty)) {
        (Const::Int { bits, .. }, Type::Int(width)) => {
            let spare = 64u32.saturating_sub(*width);
            if bits.leading_zeros() < spare {
                return Err("has more bits than its type");
            }
            true
        }
        // A bare number as address, such as `(void *)-1`.
        (Const::Int { .. }, Type::Ptr) => true,
        (Const::Float { .. }, Type::Float(_)) => true,
        (Const::Global { global, .. }, _) => exists(&program.globals, *global),
        (Const::Func(func), _) => exists(&program.funcs, *func),
        (Const::Null, _) => true,
        (Const::Zero(_) | Const::Undef(_) | Const::Opaque(_), ty) => {
            !matches!(ty, Type::Void | Type::Func { .. })
        }
        (Const::Aggregate { elems, .. }, _) => {
            if elems.iter().any(|&elem| elem >= id) {
                return Err("contains a later constant");
            }
            return match has_elements(check, ty, elems, earlier) {
                true => Ok(ty),
                false => Err("has elements of other types than its own type"),
            };
        }
        _ => false,
    };
    match holds {
        true => Ok(ty),
        false => Err("has a type or symbol that does not fit"),
    }
}

fn has_elements(check: &Check<'_>, ty: TypeId, elems: &[ConstId], earlier: &[TypeId]) -> bool {
    let mut given = elems.iter().map(|elem| earlier[elem.index()]);
    match check.types.get(ty) {
        Type::Struct(layout) => given.eq(layout.fields.iter().map(|&(field, _)| field)),
        Type::Array { elem, len } | Type::Vector { elem, len } => {
            elems.len() as u64 == *len && given.all(|ty| ty == *elem)
        }
        _ => false,
    }
}

/// Blocks tile the instructions, phis first, one terminator last; every id of an instruction exists. Fills `block_of`.
pub fn check_blocks(check: &mut Check<'_>, scratch: &mut Scratch) {
    let body = check.body;
    check.require(!body.blocks.is_empty(), "the body has no blocks");
    scratch.block_of.clear();
    scratch
        .block_of
        .resize(body.insts.len(), BlockId::from_u32(0));
    let mut next = 0;
    for (id, block) in body.blocks.iter_enumerated() {
        check.block = Some(id);
        check.inst = None;
        let range = block.insts.start as usize..block.insts.end as usize;
        if range.start != next || range.end <= range.start || range.end > body.insts.len() {
            return check.error("blocks are empty or don't tile the instructions in order");
        }
        next = range.end;
        scratch.block_of[range].fill(id);
        block_shape(check, block);
    }
    check.block = None;
    check.inst = None;
    check.require(
        next == body.insts.len(),
        "instructions lie behind the last block",
    );
    if !check.errors.is_empty() {
        return;
    }
    for (id, inst) in body.insts.iter_enumerated() {
        if !ids_exist(check, inst) {
            check.block = Some(scratch.block_of[id.index()]);
            check.inst = Some(id);
            check.error("refers to an id that does not exist");
        }
    }
}

fn block_shape(check: &mut Check<'_>, block: &Block) {
    let mut phis = true;
    let last = block.insts.end.saturating_sub(1);
    for number in block.insts.clone() {
        let id = InstId::from_u32(number);
        let op = &check.body.insts[id].op;
        let is_phi = matches!(op, Op::Phi { .. });
        let message = if is_phi && !phis {
            "a phi stands behind other instructions"
        } else if op.is_terminator() && number != last {
            "a terminator stands inside a block"
        } else if !op.is_terminator() && number == last {
            "the block has no terminator"
        } else {
            phis &= is_phi;
            continue;
        };
        check.inst = Some(id);
        check.error(message);
        phis &= is_phi;
    }
}

fn ids_exist(check: &Check<'_>, inst: &Inst) -> bool {
    let body = check.body;
    let values = body.value_count();
    let operand = |operand: &Operand| match operand.kind() {
        OperandKind::Value(value) => value.index() < values,
        OperandKind::Const(id) => exists(&body.consts, id),
    };
    let mut own = true;
    for_each_own_operand_mut(&mut { inst.op }, |o| own &= operand(o));
    let block = |id: BlockId| exists(&body.blocks, id);
    let var = |id: Option<VarId>| id.is_none_or(|id| exists(&body.vars, id));
    let list = |list| in_pool(&body.operands, list) && body.list(list).iter().all(operand);
    let targets = |targets| {
        in_pool(&body.targets, targets) && body.targets(targets).iter().all(|&b| block(b))
    };
    let rest = match inst.op {
        Op::Alloca { elem, var: v, .. } => check.has_type(elem) && var(v),
        Op::PtrAdd { indices, .. } => {
            in_pool(&body.scaled, indices) && body.scaled(indices).iter().all(|s| operand(&s.index))
        }
        Op::Phi { incoming } => {
            let entry = |i: &Incoming| block(i.block) && operand(&i.value);
            in_pool(&body.incoming, incoming) && body.incoming(incoming).iter().all(entry)
        }
        Op::Call { args, .. } | Op::Opaque { args } => list(args),
        Op::Invoke {
            args,
            normal,
            unwind,
            ..
        } => list(args) && block(normal) && block(unwind),
        Op::ExtractValue { path, .. } | Op::InsertValue { path, .. } => {
            in_pool(&body.indices, path)
        }
        Op::Uninit { var: v } => var(v),
        Op::Bind { var: v, .. } => var(Some(v)),
        Op::Br { target } => block(target),
        Op::CondBr { then, els, .. } => block(then) && block(els),
        Op::Switch { default, cases, .. } => {
            let pool = in_pool(&body.cases, cases);
            block(default) && pool && body.cases(cases).iter().all(|case| block(case.target))
        }
        Op::IndirectBr { targets: t, .. } => targets(t),
        Op::CallBr {
            args,
            normal,
            targets: t,
        } => list(args) && block(normal) && targets(t),
        _ => true,
    };
    let loc = inst.loc.is_none_or(|loc| exists(&body.locs, loc));
    own && rest && loc && check.has_type(inst.ty)
}

/// [`FuncAttrs::ADDRESS_TAKEN`] is set on the functions whose address the body takes.
pub fn check_addresses_taken(check: &mut Check<'_>, _scratch: &mut Scratch) {
    let funcs = &check.facts.program.funcs;
    let mut unmarked = None;
    for_each_address_taken(check.body, |func| {
        if !funcs[func].attrs.has(FuncAttrs::ADDRESS_TAKEN) {
            unmarked.get_or_insert(func);
        }
    });
    if let Some(func) = unmarked {
        check.error(format!(
            "takes the address of {func}, which is not marked so"
        ));
    }
}
