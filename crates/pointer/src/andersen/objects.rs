//! Objects and their locations: byte offsets folded into fields (SABER §4.1: "offset-based field-sensitive … arrays are
//! considered monolithic").
//!
//! An object with a type folds an offset by walking its layout: into a field of a struct, into the first element of an array,
//! to the start of a scalar; offsets outside of the object lead nowhere. Heap blocks have no type: their offsets are rounded
//! down to where a pointer can stand, and stay apart until an address is computed from the block's start by a variable index of at least a pointer's size; then the
//! block is an array and offsets are taken modulo its *stride* (the greatest common divisor of all such scales). Every other
//! variable index is left out: it belongs to an array inside a structure, whose first element stands for all, or it is
//! arithmetic on bytes, where the paper too takes `x + e` for `x` (§6.4).
//! A stride only ever gets smaller, and the locations that it makes equal are merged: points-to sets may hold merged
//! locations until [`Objects::find`] is applied. Offsets are added before they are folded, and folding by a stride commutes
//! with addition, so the order of these events does not change the result.
//! Limits: [`MAX_HEAP_OFFSET`].

use drip_base::IndexVec;
use drip_program::{FuncId, GlobalId, InstId, Type, TypeId, Types};
use rustc_hash::FxHashMap;

use super::{InstanceId, LocId, ObjectId};

/// Offsets into a block of unknown layout that are kept apart; what lies beyond is one location. Without a bound,
/// `p->at = p->at + 1` would make fields without end.
pub const MAX_HEAP_OFFSET: i64 = 512;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ObjectKind {
    /// Memory of the library and of the system: strings that `getenv` returns, streams.
    Library,
    /// Memory of code that nobody sees.
    Outside,
    Global(GlobalId),
    Function(FuncId),
    Stack {
        instance: InstanceId,
        inst: InstId,
    },
    /// The `index`-th block that a call of an allocating external function makes.
    Heap {
        instance: InstanceId,
        call: InstId,
        index: u16,
    },
    /// Where the variable arguments of an instance are saved.
    VarArgs(InstanceId),
}

#[derive(Clone, Debug)]
pub struct Object {
    pub kind: ObjectKind,
    /// Layout, where it is known.
    pub ty: Option<TypeId>,
    /// 0: no array beyond those of the layout; else offsets are modulo this, a multiple of a pointer's size.
    pub stride: u32,
    /// Bytes of a heap block, where the allocation says so: nothing lies beyond, but a pointer may point just behind it.
    pub size: Option<u64>,
    /// A constant: nothing is stored there.
    pub is_const: bool,
    /// All offsets beyond [`MAX_HEAP_OFFSET`] are the location there; before that is said, they are nowhere.
    pub has_tail: bool,
    /// Locations by offset; merged ones are gone from here.
    locs: Vec<(u32, LocId)>,
}

impl Object {
    /// Its locations with their offsets, ascending by offset.
    pub fn locs(&self) -> &[(u32, LocId)] {
        &self.locs
    }
}

/// All objects and locations.
#[derive(Clone, Debug, Default)]
pub struct Objects {
    pub list: IndexVec<ObjectId, Object>,
    by_kind: FxHashMap<ObjectKind, ObjectId>,
    locs: IndexVec<LocId, (ObjectId, u32)>,
    /// Can the location hold a pointer?
    holds: IndexVec<LocId, bool>,
    /// Merged locations point to what they were merged into.
    merged: IndexVec<LocId, LocId>,
    /// Offsets that were folded before.
    folded: FxHashMap<(TypeId, i64), u32>,
}

impl Objects {
    pub fn object(&mut self, kind: ObjectKind, ty: Option<TypeId>) -> ObjectId {
        if let Some(&known) = self.by_kind.get(&kind) {
            return known;
        }
        let id = self.list.push(Object {
            kind,
            ty,
            stride: 0,
            size: None,
            is_const: false,
            has_tail: false,
            locs: Vec::new(),
        });
        self.by_kind.insert(kind, id);
        id
    }

    pub fn find_object(&self, kind: ObjectKind) -> Option<ObjectId> {
        self.by_kind.get(&kind).copied()
    }

    pub fn loc_count(&self) -> usize {
        self.locs.len()
    }

    /// The location that stands for `loc` now.
    pub fn find(&self, mut loc: LocId) -> LocId {
        while self.merged[loc] != loc {
            loc = self.merged[loc];
        }
        loc
    }

    pub fn object_of(&self, loc: LocId) -> ObjectId {
        self.locs[loc].0
    }

    pub fn kind_of(&self, loc: LocId) -> ObjectKind {
        self.list[self.locs[loc].0].kind
    }

    pub fn offset_of(&self, loc: LocId) -> u32 {
        self.locs[self.find(loc)].1
    }

    /// The location at an offset, made if it is new; `None` if the offset is outside of the object, or beyond
    /// [`MAX_HEAP_OFFSET`] of a block of unknown size.
    pub fn loc(&mut self, types: &Types, object: ObjectId, offset: i64) -> Option<LocId> {
        let folded = self.fold_again(types, object, offset)?;
        let locs = &self.list[object].locs;
        match locs.binary_search_by_key(&folded, |&(at, _)| at) {
            Ok(at) => Some(locs[at].1),
            Err(at) => {
                let holds = can_hold_pointer(types, &self.list[object], folded);
                let loc = self.locs.push((object, folded));
                self.holds.push(holds);
                self.merged.push(loc);
                self.list[object].locs.insert(at, (folded, loc));
                Some(loc)
            }
        }
    }

    /// The location at an offset if there is one already.
    pub fn existing(&self, types: &Types, object: ObjectId, offset: i64) -> Option<LocId> {
        let folded = self.fold(types, object, offset)?;
        let locs = &self.list[object].locs;
        let at = locs.binary_search_by_key(&folded, |&(at, _)| at).ok()?;
        Some(locs[at].1)
    }

    /// [`Objects::fold`], remembering what layouts say.
    fn fold_again(&mut self, types: &Types, object: ObjectId, offset: i64) -> Option<u32> {
        let entry = &self.list[object];
        match entry.ty {
            Some(ty) if entry.stride == 0 => {
                if let Some(&known) = self.folded.get(&(ty, offset)) {
                    return Some(known);
                }
                let folded = self.fold(types, object, offset)?;
                self.folded.insert((ty, offset), folded);
                Some(folded)
            }
            _ => self.fold(types, object, offset),
        }
    }

    fn fold(&self, types: &Types, object: ObjectId, offset: i64) -> Option<u32> {
        let object = &self.list[object];
        // A function is its address; library memory is one location.
        if matches!(
            object.kind,
            ObjectKind::Function(_) | ObjectKind::Library | ObjectKind::Outside
        ) {
            return Some(0);
        }
        let word = i64::try_from(types.layout.pointer_bytes).unwrap_or(8);
        let inside = match object.ty {
            Some(ty) => fold_by_layout(types, ty, offset)?,
            None if object.stride > 0 => offset.rem_euclid(i64::from(object.stride)) / word * word,
            None if offset < 0 => return None,
            None if object.size.is_some_and(|size| offset.unsigned_abs() > size) => {
                return None;
            }
            None if offset <= MAX_HEAP_OFFSET => offset / word * word,
            None if object.has_tail => MAX_HEAP_OFFSET,
            None => return None,
        };
        u32::try_from(inside).ok()
    }

    /// Can a pointer be read from the location? Not from functions, nor from scalars that are too small.
    pub fn is_readable(&self, loc: LocId) -> bool {
        self.holds[loc]
    }

    /// Can a pointer be stored there?
    pub fn is_writable(&self, loc: LocId) -> bool {
        self.holds[loc] && !self.list[self.locs[loc].0].is_const
    }

    /// Does an index of this scale, used at this offset, make an array of a block that is none yet?
    pub fn becomes_array(&self, types: &Types, object: ObjectId, offset: i64, scale: u32) -> bool {
        let object = &self.list[object];
        let has_layout = object.ty.is_some()
            || matches!(
                object.kind,
                ObjectKind::Function(_) | ObjectKind::Library | ObjectKind::Outside
            );
        let word = types.layout.pointer_bytes as u32;
        let is_one = object.size.is_some_and(|size| size <= u64::from(scale));
        let is_array =
            object.stride == word || (object.stride > 0 && scale.is_multiple_of(object.stride));
        offset == 0 && !has_layout && !is_one && !is_array && scale >= word
    }

    /// The object is an array of elements of this many bytes from now on; of single pointers, if no pointer fits that size or
    /// if it has a tail already. Returns the pairs of locations that are one now:
    /// (gone, kept).
    pub fn make_array(
        &mut self,
        types: &Types,
        object: ObjectId,
        stride: u32,
    ) -> Vec<(LocId, LocId)> {
        let word = types.layout.pointer_bytes as u32;
        let entry = &mut self.list[object];
        let stride = match stride.is_multiple_of(word) && !entry.has_tail {
            true => gcd(entry.stride, stride),
            false => word,
        };
        if stride == entry.stride {
            return Vec::new();
        }
        entry.stride = stride;
        let old = std::mem::take(&mut entry.locs);
        let mut merges = Vec::new();
        let mut kept: Vec<(u32, LocId)> = Vec::new();
        for (offset, loc) in old {
            let folded = offset % stride;
            match kept.binary_search_by_key(&folded, |&(at, _)| at) {
                Ok(at) => {
                    self.merged[loc] = kept[at].1;
                    merges.push((loc, kept[at].1));
                }
                Err(at) => {
                    self.locs[loc].1 = folded;
                    kept.insert(at, (folded, loc));
                }
            }
        }
        self.list[object].locs = kept;
        merges
    }

    /// Is the location one concrete cell, in every instance of its object? Elements of arrays are not.
    pub fn is_single_cell(&self, types: &Types, loc: LocId) -> bool {
        let (object, offset) = self.locs[self.find(loc)];
        let object = &self.list[object];
        object.stride == 0
            && object
                .ty
                .is_some_and(|ty| !inside_array(types, ty, u64::from(offset)))
    }
}

pub fn gcd(mut a: u32, mut b: u32) -> u32 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// One level down the layout: the member that covers `offset`, and what it is in.
enum Part {
    Field { ty: TypeId, at: u64 },
    Element { ty: TypeId, size: u64 },
    Scalar,
}

fn part(types: &Types, ty: TypeId, offset: u64) -> Part {
    match types.get(ty) {
        Type::Struct(s) => match s.fields.iter().rev().find(|(_, at)| *at <= offset) {
            Some(&(field, at)) => Part::Field { ty: field, at },
            None => Part::Scalar,
        },
        Type::Array { elem, .. } => Part::Element {
            ty: *elem,
            size: types.size_of(*elem).max(1),
        },
        _ => Part::Scalar,
    }
}

/// `None`: before or behind the object. Where an array begins, any number of its elements may follow.
fn fold_by_layout(types: &Types, mut ty: TypeId, offset: i64) -> Option<i64> {
    let is_array = matches!(types.get(ty), Type::Array { .. });
    let mut rest = match u64::try_from(offset) {
        Ok(inside) if is_array || inside < types.size_of(ty) => inside,
        Err(_) if is_array => {
            let size = i64::try_from(types.size_of(ty).max(1)).unwrap_or(i64::MAX);
            offset.rem_euclid(size).unsigned_abs()
        }
        _ => return None,
    };
    let mut base = 0u64;
    loop {
        match part(types, ty, rest) {
            Part::Field { ty: field, at } => {
                base += at;
                rest -= at;
                ty = field;
            }
            Part::Element { ty: elem, size } => {
                rest %= size;
                ty = elem;
            }
            Part::Scalar => return i64::try_from(base).ok(),
        }
    }
}

/// Scalars that are smaller than a pointer hold none; in arrays of them anything may stand.
fn can_hold_pointer(types: &Types, object: &Object, offset: u32) -> bool {
    if matches!(object.kind, ObjectKind::Function(_)) {
        return false;
    }
    let (Some(mut ty), mut rest) = (object.ty, u64::from(offset)) else {
        return true;
    };
    loop {
        match part(types, ty, rest) {
            Part::Field { ty: field, at } => {
                rest -= at;
                ty = field;
            }
            Part::Element { .. } => return true,
            Part::Scalar => return types.size_of(ty) >= types.layout.pointer_bytes,
        }
    }
}

fn inside_array(types: &Types, mut ty: TypeId, mut offset: u64) -> bool {
    loop {
        match part(types, ty, offset) {
            Part::Field { ty: field, at } => {
                offset -= at;
                ty = field;
            }
            Part::Element { .. } => return true,
            Part::Scalar => return false,
        }
    }
}
