//! What of a function is worth telling its callers: purity, whether it returns, conditions and writes.

use drip_cond::{BinOp, SymId, TermId, TermKind};
use drip_flow::{Frame, Values, region};
use drip_memssa::Def;
use drip_models::{CellPath, Certainty, Class, GlobalSet, Root, Value};
use drip_pointer::ObjKind;
use drip_program::{Body, Const, Op, Operand, Program};
use smallvec::SmallVec;

/// Is a return reachable without passing a call that never returns?
pub(super) fn returns(frame: &Frame<'_>) -> bool {
    let mut seen = vec![false; frame.body.blocks.len()];
    let mut stack = vec![drip_program::BlockId::new(0)];
    while let Some(block) = stack.pop() {
        if std::mem::replace(&mut seen[block.index()], true) {
            continue;
        }
        let stops = frame
            .body
            .block_insts(block)
            .any(|inst| frame.calls.get(&inst).is_some_and(|s| !s.returns()));
        if stops {
            continue;
        }
        if matches!(
            frame.body.insts[frame.body.terminator(block)].op,
            Op::Ret { .. }
        ) {
            return true;
        }
        stack.extend(frame.cfg.succs(block));
    }
    false
}

/// No store to what others see, no call that is not pure.
pub(super) fn is_pure(frame: &Frame<'_>) -> bool {
    let body = frame.body;
    body.insts
        .iter_enumerated()
        .all(|(inst, data)| match data.op {
            Op::Store { addr, .. } => frame
                .local
                .targets(addr)
                .iter()
                .all(|l| matches!(frame.local.memory.kind(l.obj), ObjKind::Stack(_))),
            Op::Call { .. } | Op::Invoke { .. } => frame.calls.get(&inst).is_some_and(|s| s.pure),
            Op::AtomicRmw { .. }
            | Op::CmpXchg { .. }
            | Op::MemCopy { .. }
            | Op::MemSet { .. }
            | Op::VaArg { .. } => false,
            _ => true,
        })
}

/// Does it, or something it calls, change memory atomically?
pub(super) fn is_atomic(frame: &Frame<'_>) -> bool {
    let own = |op: &Op| matches!(op, Op::AtomicRmw { .. } | Op::CmpXchg { .. });
    frame.body.insts.iter().any(|data| own(&data.op)) || frame.calls.values().any(|s| s.atomic)
}

/// Parameters that are compared with null here, or by a function that gets them.
pub(super) fn optional(frame: &Frame<'_>) -> SmallVec<[u16; 2]> {
    let body = frame.body;
    let parameter = |operand: Operand| {
        let value = operand.as_value().and_then(|value| body.as_param(value));
        value.and_then(|n| u16::try_from(n).ok())
    };
    let is_null = |operand: Operand| matches!(body.const_of(operand), Some(Const::Null));
    let mut found: SmallVec<[u16; 2]> = SmallVec::new();
    for (inst, data) in body.insts.iter_enumerated() {
        match data.op {
            Op::Cmp { a, b, .. } if is_null(b) => found.extend(parameter(a)),
            Op::Cmp { a, b, .. } if is_null(a) => found.extend(parameter(b)),
            Op::Call { .. } | Op::Invoke { .. } => {
                let taken = frame.calls.get(&inst).map(|summary| &summary.optional);
                let args = frame.args(inst);
                let handed = taken.into_iter().flatten();
                found.extend(handed.filter_map(|&n| parameter(*args.get(usize::from(n))?)));
            }
            _ => {}
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Globals that may hold something else when the function returns.
pub(super) fn touched(frame: &Frame<'_>) -> GlobalSet {
    let mut touched = GlobalSet::default();
    for summary in frame.calls.values() {
        touched.extend(&summary.touched);
    }
    for block in frame.body.blocks.ids() {
        let ret = frame.body.terminator(block);
        if !matches!(frame.body.insts[ret].op, Op::Ret { .. }) {
            continue;
        }
        for (cell, place) in frame.local.memory.cells.iter_enumerated() {
            if let ObjKind::Global(global) = frame.local.memory.kind(place.obj)
                && let Some(version) = frame.memssa.used(ret, region(cell))
                && frame.memssa.versions[version].def != Def::Entry
            {
                touched.insert(global);
            }
        }
    }
    touched
}

/// Pointers matter wherever they are written; numbers only where callers plausibly test them: directly in what an argument
/// points to. What is left out counts as unchanged (may miss or invent a correlation deep inside a structure).
pub(super) fn is_worth_telling(cell: &CellPath, value: &Value, certainty: Certainty) -> bool {
    match value {
        Value::Entry { .. } | Value::Fresh { .. } | Value::Func(_) => true,
        Value::Int(_) => cell.base.loads.len() <= 1,
        // Callers learn that a global has changed from the set of touched ones.
        Value::Unknown(Class::Any) if matches!(cell.base.root, Root::Global(_)) => false,
        Value::Unknown(_) => {
            cell.base.loads.is_empty() && (certainty == Certainty::Must || cell.offset.is_exact())
        }
    }
}

/// Loads from a parameter to the cell that an outcome has a condition on.
const MAX_LOADS: usize = 2;

/// The classes that a fact puts a symbol into, and how many loads from a parameter that is worth telling. Of a parameter that may be several
/// numbers (`case 3: case 4:`) it is told what they lie between.
pub(super) fn atoms_of(values: &Values, fact: TermId) -> (SmallVec<[(SymId, Class); 2]>, usize) {
    match values.terms.kind(fact) {
        TermKind::Or(alternatives) => (between(values, alternatives), 0),
        _ => {
            let atom = atom_of(values, fact).or_else(|| field_of_bits(values, fact));
            (atom.into_iter().collect(), MAX_LOADS)
        }
    }
}

/// The bounds of a symbol that is one of several numbers.
fn between(values: &Values, alternatives: &[TermId]) -> SmallVec<[(SymId, Class); 2]> {
    let mut atoms = alternatives.iter().map(|&fact| atom_of(values, fact));
    let Some((sym, first)) = atoms.next().flatten() else {
        return SmallVec::new();
    };
    let (mut least, mut greatest) = (first, first);
    for atom in atoms {
        match (atom, least, greatest) {
            (Some((other, Class::Eq(number))), Class::Eq(min), Class::Eq(max)) if other == sym => {
                least = Class::Eq(number.min(min));
                greatest = Class::Eq(number.max(max));
            }
            _ => return SmallVec::new(),
        }
    }
    let bounds = least.bounds(greatest).into_iter().flatten();
    bounds.map(|class| (sym, class)).collect()
}

/// A fact as symbol and class.
pub(super) fn atom_of(values: &Values, fact: TermId) -> Option<(SymId, Class)> {
    let terms = &values.terms;
    let (positive, inner) = match *terms.kind(fact) {
        TermKind::Not(inner) => (false, inner),
        _ => (true, fact),
    };
    let symbol = |t: TermId| match *terms.kind(t) {
        TermKind::Sym(sym) => Some(sym),
        _ => None,
    };
    match *terms.kind(inner) {
        TermKind::Sym(sym) => Some((
            sym,
            if positive {
                Class::NonZero
            } else {
                Class::Eq(0)
            },
        )),
        TermKind::Eq(a, b) => {
            let value = drip_cond::to_signed(terms.as_int(b)?, terms.width(a));
            let class = match (positive, value) {
                (true, value) => Class::Eq(value),
                (false, 0) => Class::NonZero,
                (false, value) => Class::Ne(value),
            };
            if let TermKind::Binary(BinOp::And, x, mask) = *terms.kind(a) {
                let bits = terms.as_int(mask)?;
                let class = match class {
                    Class::Eq(0) => Class::Lacks(bits),
                    Class::NonZero | Class::Eq(_) => Class::Has(bits),
                    _ => return None,
                };
                return Some((symbol(x)?, class));
            }
            Some((symbol(a)?, class))
        }
        TermKind::Slt(a, b) => {
            let sym = symbol(a)?;
            match (
                drip_cond::to_signed(terms.as_int(b)?, terms.width(a)),
                positive,
            ) {
                (0, true) => Some((sym, Class::Negative)),
                (0, false) => Some((sym, Class::NonNegative)),
                (1, true) => Some((sym, Class::NonPositive)),
                (1, false) => Some((sym, Class::Positive)),
                (value, true) => Some((sym, Class::Lt(value))),
                (value, false) => Some((sym, Class::Ge(value))),
            }
        }
        _ => None,
    }
}

/// Bits that are taken out of a number (`x >> 3 & 1`) and compared with zero.
fn field_of_bits(values: &Values, fact: TermId) -> Option<(SymId, Class)> {
    let terms = &values.terms;
    let (is_zero, test) = match *terms.kind(fact) {
        TermKind::Not(inner) => (false, inner),
        _ => (true, fact),
    };
    let TermKind::Eq(field, zero) = *terms.kind(test) else {
        return None;
    };
    let TermKind::Binary(BinOp::And, moved, mask) = *terms.kind(field) else {
        return None;
    };
    let TermKind::Binary(BinOp::LShr, number, by) = *terms.kind(moved) else {
        return None;
    };
    let &TermKind::Sym(sym) = terms.kind(number) else {
        return None;
    };
    if terms.as_int(zero) != Some(0) {
        return None;
    }
    let by = u32::try_from(terms.as_int(by)?).ok()?;
    let bits = terms.as_int(mask)?.checked_shl(by)?;
    Some((
        sym,
        if is_zero {
            Class::Lacks(bits)
        } else {
            Class::Has(bits)
        },
    ))
}

/// A constant operand as a number.
pub(super) fn constant(program: &Program, body: &Body, operand: Operand) -> Option<i64> {
    match body.const_of(operand)? {
        &Const::Int { ty, bits } => {
            let width = u32::try_from(8 * program.types.size_of(ty)).unwrap_or(64);
            Some(drip_cond::to_signed(bits, width.clamp(1, 64)))
        }
        Const::Null | Const::Zero(_) => Some(0),
        _ => None,
    }
}
