//! Question: which scalars make up a struct that travels as one value, and where does each of them come from?
//!
//! Small structs are returned in registers: `{ ptr, ptr }` is loaded, returned and taken apart again. A read of the whole struct reads
//! its scalars, each at its own offset (an unknown offset would blur every other access of the same memory), and what is taken out of a struct
//! value is what was put at that place of it, as far as the instructions or the callee's summary tell.

use drip_models::{Offset, Root, Summary};
use drip_program::{Body, Const, InstId, Op, Operand, Program, Type, TypeId};
use smallvec::SmallVec;

/// Scalars of a struct value; a larger one is read somewhere, as a whole.
const MAX_SCALARS: usize = 16;

/// `insertvalue`s that are looked through for one field; behind more of them the field may hold whatever the struct holds.
const MAX_CHAIN: usize = 16;

/// Where the value of a field comes from.
pub(super) enum Part<'s> {
    /// This operand was put there.
    Operand(Operand),
    /// Some call's result, of which the summary tells the fields: the one at this offset.
    Result(InstId, &'s Summary, i64),
}

/// The scalars of a struct or array with their byte offsets; `None` if there are too many.
pub(super) fn scalars(program: &Program, ty: TypeId) -> Option<SmallVec<[(i64, TypeId); 4]>> {
    let mut found = SmallVec::new();
    collect(program, ty, 0, &mut found).then_some(found)
}

fn collect(
    program: &Program,
    ty: TypeId,
    at: i64,
    found: &mut SmallVec<[(i64, TypeId); 4]>,
) -> bool {
    match program.types.get(ty) {
        Type::Struct(s) => s
            .fields
            .iter()
            .all(|&(field, offset)| collect(program, field, at + offset as i64, found)),
        Type::Array { elem, len } => {
            let size = program.types.size_of(*elem) as i64;
            let len = usize::try_from(*len).unwrap_or(usize::MAX);
            len <= MAX_SCALARS
                && (0..len as i64).all(|n| collect(program, *elem, at + n * size, found))
        }
        _ => {
            found.push((at, ty));
            found.len() <= MAX_SCALARS
        }
    }
}

/// Byte offset of what a path of field numbers names.
fn offset_of(program: &Program, mut ty: TypeId, path: &[u32]) -> Option<i64> {
    let mut offset = 0i64;
    for &index in path {
        match program.types.get(ty) {
            Type::Struct(s) => {
                let &(field, at) = s.fields.get(index as usize)?;
                offset = offset.checked_add_unsigned(at)?;
                ty = field;
            }
            Type::Array { elem, .. } => {
                let size = program.types.size_of(*elem);
                offset = offset.checked_add_unsigned(size.checked_mul(u64::from(index))?)?;
                ty = *elem;
            }
            _ => return None,
        }
    }
    Some(offset)
}

/// What `extractvalue agg, path` takes out, if the way of the struct can be seen.
pub(super) fn part<'s>(
    program: &Program,
    body: &Body,
    summary: impl Fn(InstId) -> Option<&'s Summary>,
    mut agg: Operand,
    path: &[u32],
) -> Option<Part<'s>> {
    for _ in 0..MAX_CHAIN {
        let inst = body.def(agg.as_value()?)?;
        match body.insts[inst].op {
            Op::InsertValue {
                agg: below,
                value,
                path: set,
            } => {
                let set = body.indices(set);
                if set == path {
                    return Some(Part::Operand(value));
                }
                // A part of it, or something that it is a part of.
                if set.starts_with(path) || path.starts_with(set) {
                    return None;
                }
                agg = below;
            }
            Op::Call { .. } | Op::Invoke { .. } => {
                let offset = offset_of(program, body.insts[inst].ty, path)?;
                return Some(Part::Result(inst, summary(inst)?, offset));
            }
            _ => return None,
        }
        if let Some(Const::Undef(_)) = body.const_of(agg) {
            return None;
        }
    }
    None
}

/// May this written cell be the field at `offset` of the returned struct?
pub(super) fn is_field_of_result(cell: &drip_models::CellPath, offset: i64) -> bool {
    cell.base.root == Root::Ret
        && cell.base.loads.is_empty()
        && cell.offset.may_equal(Offset::exact(offset))
}
