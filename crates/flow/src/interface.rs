//! A callee's interface in the caller's terms: paths of its summary and classes of values as conditions.

use drip_cond::{Sort, TermId};
use drip_models::{Class, Outcome, Root, ValuePath};
use drip_pointer::{CellId, ObjKind};
use drip_program::InstId;

use crate::arithmetic::class_of_term;
use crate::frame::Frame;
use crate::values::{Symbol, Values, address_key};

/// `term` lies in `class`; nothing to say for booleans and for any value.
pub fn class_term(values: &mut Values, term: TermId, class: Class) -> Option<TermId> {
    class_of_term(&mut values.terms, term, class)
}

/// The caller's term for a path of the callee, as it is when the call starts.
pub fn path_term(
    frame: &Frame<'_>,
    values: &mut Values,
    call: InstId,
    path: &ValuePath,
) -> Option<TermId> {
    if let (Root::Arg(n), true) = (path.root, path.loads.is_empty()) {
        let &arg = frame.args(call).get(usize::from(n))?;
        return Some(values.term(arg));
    }
    if let (Root::Global(global), true) = (path.root, path.loads.is_empty()) {
        let obj = frame.local.memory.find_object(ObjKind::Global(global))?;
        return Some(values.terms.addr(address_key(obj)));
    }
    loaded_term(frame, values, call, path)
}

/// A number as one of `width` bits: which width a callee's cell has is not always known, and classes are those of signed numbers.
pub fn fitted(values: &mut Values, term: TermId, width: u32) -> Option<TermId> {
    match values.terms.sort(term) {
        Sort::Bits(own) if own == width => Some(term),
        Sort::Bits(own) if own < width => Some(values.terms.sext(term, width)),
        _ => None,
    }
}

/// What the last cell of a path holds, if it is one exact cell.
fn loaded_term(
    frame: &Frame<'_>,
    values: &mut Values,
    call: InstId,
    path: &ValuePath,
) -> Option<TermId> {
    let version = frame.read_version(call, path)?;
    // The callee's width is not in the path: take the one that this function reads or writes the cell with.
    for width in [32u32, 64, 8, 16] {
        if values.find(Symbol::Version(version, width)).is_some() {
            return values.version_term(frame, version, width);
        }
    }
    if let Some(term) = values.stored_term(frame, version) {
        return Some(term);
    }
    values.version_term(frame, version, 64)
}

/// Does a call with this outcome leave a cell as it was? Only if no write can reach it and nothing that leads to it escapes.
pub fn leaves_alone(frame: &Frame<'_>, call: InstId, outcome: &Outcome, cell: CellId) -> bool {
    let memory = &frame.local.memory;
    let place = memory.cells[cell];
    let written = outcome.writes.iter().any(|write| {
        write.cell.base.root != Root::Ret
            && frame.resolve(call, &write.cell.base).iter().any(|loc| {
                loc.obj == place.obj && loc.off.plus(write.cell.offset).may_equal(place.off)
            })
    });
    let escaped = || {
        outcome.escapes.iter().any(|escape| {
            let reached = frame.reached_by(call, &escape.path);
            reached.binary_search(&place.obj).is_ok()
        })
    };
    let touched = || match (memory.kind(place.obj), frame.calls.get(&call)) {
        (ObjKind::Global(global), Some(summary)) => summary.touched.contains(global),
        _ => false,
    };
    !written && !escaped() && !touched()
}
