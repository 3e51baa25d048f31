//! What one constraint means for one location: the part that both solvers and the checker agree on.

use drip_program::Types;

use super::objects::{MAX_HEAP_OFFSET, Objects};
use super::{LocId, ObjectId};

/// Where `loc + offset + i·stride` is.
pub enum Moved {
    At(LocId),
    /// The object has to become an array of this stride first.
    NeedsArray(ObjectId, u32),
    /// Before the block, or beyond what is kept apart: nowhere, unless the object becomes an array.
    Parked(ObjectId, i64),
}

pub fn moved(objects: &mut Objects, types: &Types, loc: LocId, offset: i64, stride: u32) -> Moved {
    let object = objects.object_of(loc);
    let at = i64::from(objects.offset_of(loc)).saturating_add(offset);
    if stride > 0 && objects.becomes_array(types, object, at, stride) {
        return Moved::NeedsArray(object, stride);
    }
    match objects.loc(types, object, at) {
        Some(loc) => Moved::At(loc),
        None => Moved::Parked(object, at),
    }
}

/// Does a parked offset give its object a tail once nothing else is left to do? Only a block of unknown size can go on there.
pub fn overflows(objects: &Objects, object: ObjectId, offset: i64) -> bool {
    let object = &objects.list[object];
    let ends = object.ty.is_some() || object.size.is_some_and(|size| offset.unsigned_abs() > size);
    offset > MAX_HEAP_OFFSET && object.stride == 0 && !ends
}

/// The fields that a copy of `len` bytes reads from `src`, by their distance from it. In an array every element is meant.
pub fn copied_fields(objects: &Objects, src: LocId, len: u64) -> Vec<(u64, LocId)> {
    let object = &objects.list[objects.object_of(src)];
    let start = objects.offset_of(src);
    let mut fields = Vec::new();
    for &(offset, field) in object.locs() {
        let distance = match object.stride {
            0 if offset < start => continue,
            0 => u64::from(offset - start),
            stride => (i64::from(offset) - i64::from(start))
                .rem_euclid(i64::from(stride))
                .unsigned_abs(),
        };
        if distance < len {
            fields.push((distance, field));
        }
    }
    fields
}

/// Several elements of an array make what they are copied to an array: its stride.
pub fn copied_stride(objects: &Objects, src: LocId, len: u64) -> u32 {
    let stride = objects.list[objects.object_of(src)].stride;
    if len > u64::from(stride) { stride } else { 0 }
}

/// Does `dst` have to become an array before elements of this stride are copied to it?
pub fn needs_array(objects: &Objects, types: &Types, dst: LocId, stride: u32) -> bool {
    let at = i64::from(objects.offset_of(dst));
    stride > 0 && objects.becomes_array(types, objects.object_of(dst), at, stride)
}

/// Where a field at this distance goes; `None` behind the end of what `dst` is in.
pub fn copied_to(objects: &mut Objects, types: &Types, dst: LocId, distance: u64) -> Option<LocId> {
    let object = objects.object_of(dst);
    let at = u64::from(objects.offset_of(dst)) + distance;
    // Behind the end of an array are no further elements to copy to.
    let room = objects.list[object].ty.map(|ty| types.size_of(ty));
    if room.is_some_and(|room| at >= room) {
        return None;
    }
    objects.loc(types, object, i64::try_from(at).ok()?)
}
