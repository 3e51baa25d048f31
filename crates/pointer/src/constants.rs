//! Question: which global variables keep their initial value for the whole run?
//!
//! A variable is constant if it is declared so, or if nothing in the program can change it: every use of its address is the
//! address of a load, directly or by way of constant offsets, or a comparison. Internal variables only, unless the program
//! is whole (it has a `main`): then nobody else can write external ones either. One pass over all operands; linear.

use drip_base::IdSet;
use drip_program::{
    Body, Const, GlobalId, Init, InstId, Linkage, Op, Operand, Program, Scalar, ValueId,
};
use rustc_hash::FxHashMap;

/// The variables that nobody writes.
pub fn constant_globals(program: &Program) -> IdSet<GlobalId> {
    let whole = program
        .funcs
        .iter_enumerated()
        .any(|(id, f)| f.body.is_some() && program.func_name(id) == "main");
    let mut constant = IdSet::with_capacity(program.globals.len());
    for (id, global) in program.globals.iter_enumerated() {
        let visible = global.linkage != Linkage::Internal && !whole;
        let defined = !matches!(global.init, Init::Extern);
        if defined && (global.is_const || !visible) {
            constant.insert(id);
        }
    }
    for global in program.globals.iter() {
        if let Init::Slots { slots, .. } = &global.init {
            for (_, scalar) in slots.iter() {
                if let Scalar::Global { global, .. } = scalar {
                    drop_variable(program, &mut constant, *global);
                }
            }
        }
    }
    for body in program.funcs.iter().filter_map(|f| f.body.as_ref()) {
        scan(program, body, &mut constant);
    }
    constant
}

/// A use that may write the variable, or hand its address on.
fn drop_variable(program: &Program, constant: &mut IdSet<GlobalId>, global: GlobalId) {
    if !program.globals[global].is_const {
        constant.remove(global);
    }
}

fn scan(program: &Program, body: &Body, constant: &mut IdSet<GlobalId>) {
    // Values that are the address of a variable plus something.
    let mut derived: FxHashMap<ValueId, GlobalId> = FxHashMap::default();
    for (inst, data) in body.insts.iter_enumerated() {
        if let Op::PtrAdd { base, .. } = data.op
            && let Some(global) = variable(body, &derived, base)
        {
            derived.insert(body.result(inst), global);
        }
    }
    for (inst, _) in body.insts.iter_enumerated() {
        body.for_each_operand(inst, |operand| {
            if let Some(global) = variable(body, &derived, operand)
                && !only_reads(body, inst, operand)
            {
                drop_variable(program, constant, global);
            }
        });
    }
}

fn variable(
    body: &Body,
    derived: &FxHashMap<ValueId, GlobalId>,
    operand: Operand,
) -> Option<GlobalId> {
    match (operand.as_value(), body.const_of(operand)) {
        (Some(value), _) => derived.get(&value).copied(),
        (_, Some(Const::Global { global, .. })) => Some(*global),
        _ => None,
    }
}

/// Does the instruction use the address for reading only?
fn only_reads(body: &Body, inst: InstId, operand: Operand) -> bool {
    match body.insts[inst].op {
        Op::Load { .. } | Op::Cmp { .. } | Op::Bind { .. } => true,
        Op::PtrAdd { base, .. } => base == operand,
        Op::MemCopy { dst, .. } => dst != operand,
        _ => false,
    }
}
