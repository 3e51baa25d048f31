//! Objects and their locations: byte offsets folded into fields (SABER §4.1: "offset-based field-sensitive … arrays are
//! considered monolithic").
//!
//! An object with a type folds an offset by walking its layout: into a field of a struct, into the first element of an array,
//! to the start of a scalar; the object itself counts as an array of one. Heap blocks have no type: their offsets stay as
//! they are until an address is computed with a variable index; then the block is an array and offsets are taken modulo its
//! *stride* (the greatest common divisor of all index scales seen). A typed object that is indexed by a scale that none of its
//! arrays has becomes one location. A stride only ever gets smaller, and the locations that it makes equal are merged:
//! points-to sets may hold merged locations until [`Objects::find`] is applied. Offsets are added before they are folded, and
//! folding by a stride commutes with addition, so the order of these events does not change the result.
//! Limits: [`MAX_HEAP_OFFSET`].

use drip_base::IndexVec;
use drip_program::{FuncId, GlobalId, InstId, Type, TypeId, Types};
use rustc_hash::FxHashMap;

use super::{InstanceId, LocId, ObjectId};

/// Offsets into a block of unknown layout; a pointer that walks beyond makes the block an array of pointers. Structures that
/// are larger lose the distinction of their fields; without a bound, `p = p->next + 1` would make fields without end.
pub const MAX_HEAP_OFFSET: i64 = 4096;

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
    /// 0: no array beyond those of the layout; else offsets are modulo this.
    pub stride: u32,
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
    /// Merged locations point to what they were merged into.
    merged: IndexVec<LocId, LocId>,
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

    /// The location at an offset, made if it is new; `None` if the offset is before the block or beyond
    /// [`MAX_HEAP_OFFSET`].
    pub fn loc(&mut self, types: &Types, object: ObjectId, offset: i64) -> Option<LocId> {
        let folded = self.fold(types, object, offset)?;
        let locs = &self.list[object].locs;
        match locs.binary_search_by_key(&folded, |&(at, _)| at) {
            Ok(at) => Some(locs[at].1),
            Err(at) => {
                let loc = self.locs.push((object, folded));
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

    fn fold(&self, types: &Types, object: ObjectId, offset: i64) -> Option<u32> {
        let object = &self.list[object];
        // A function is its address; library memory is one location.
        if matches!(
            object.kind,
            ObjectKind::Function(_) | ObjectKind::Library | ObjectKind::Outside
        ) {
            return Some(0);
        }
        let inside = match object.ty {
            Some(ty) => fold_by_layout(types, ty, offset),
            None if object.stride > 0 => offset,
            None if (0..=MAX_HEAP_OFFSET).contains(&offset) => offset,
            None => return None,
        };
        let inside = if object.stride > 0 {
            inside.rem_euclid(i64::from(object.stride))
        } else {
            inside
        };
        u32::try_from(inside).ok()
    }

    /// Does an index of this scale, used at this offset, stay inside one array of the object?
    pub fn is_array_at(&self, types: &Types, object: ObjectId, offset: i64, scale: u32) -> bool {
        let object = &self.list[object];
        if object.stride > 0 && scale.is_multiple_of(object.stride) {
            return true;
        }
        match (object.kind, object.ty) {
            (ObjectKind::Function(_) | ObjectKind::Library | ObjectKind::Outside, _) => true,
            (_, Some(ty)) => array_by_layout(types, ty, offset, scale),
            (_, None) => false,
        }
    }

    /// The object is an array of elements of this many bytes from now on (of single bytes, if it has a layout that says
    /// otherwise). Returns the pairs of locations that are one now: (gone, kept).
    pub fn make_array(&mut self, object: ObjectId, stride: u32) -> Vec<(LocId, LocId)> {
        let entry = &mut self.list[object];
        let stride = match entry.ty {
            Some(_) => 1,
            None => gcd(entry.stride, stride),
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

fn start(types: &Types, ty: TypeId, offset: i64) -> u64 {
    let size = i64::try_from(types.size_of(ty).max(1)).unwrap_or(i64::MAX);
    offset.rem_euclid(size).unsigned_abs()
}

fn fold_by_layout(types: &Types, mut ty: TypeId, offset: i64) -> i64 {
    let mut rest = start(types, ty, offset);
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
            Part::Scalar => return base as i64,
        }
    }
}

fn array_by_layout(types: &Types, mut ty: TypeId, offset: i64, scale: u32) -> bool {
    let divides = |size: u64| u64::from(scale).is_multiple_of(size.max(1));
    if divides(types.size_of(ty)) {
        return true;
    }
    let mut rest = start(types, ty, offset);
    loop {
        match part(types, ty, rest) {
            Part::Field { ty: field, at } => {
                rest -= at;
                ty = field;
            }
            Part::Element { ty: elem, size } => {
                if divides(size) {
                    return true;
                }
                rest %= size;
                ty = elem;
            }
            Part::Scalar => return false,
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
