//! The type table, and the way back from a type's shape to its number.
//!
//! Instruction records leave out types that follow from others (an alloca's pointer, a comparison's
//! `i1`), so the body reader asks [`TypeLookup`] for them. LLVM writes every type that some value has,
//! so the answer is in the table of every well-formed module.
//!
//! Invariants: every type number inside the table exists; no type contains itself by value, and the
//! nesting by value is at most [`MAX_TYPE_NESTING`], so that clients may recurse.

use rustc_hash::FxHashMap;

use crate::bitstream::{Block, BlockHeader, BlockInfo, Item, Record, Res, fail};
use crate::codes::ty;
use crate::error::ErrorKind;
use crate::ids::TypeId;
use crate::raw::{FloatKind, RawType};

/// Deepest nesting of types by value; beyond it the module is refused (clang itself stops at 256
/// nested braces).
pub(crate) const MAX_TYPE_NESTING: u32 = 512;
/// Widest integer type, LLVM's own limit.
const MAX_INT_WIDTH: u64 = 1 << 23;

/// Reads the TYPE block.
pub(crate) fn read_types(
    data: &[u8],
    header: BlockHeader,
    info: &BlockInfo,
    types: &mut Vec<RawType>,
) -> Res<()> {
    let mut block = Block::new(data, header, info);
    let mut record = Record::default();
    let mut name: Option<Box<str>> = None;
    loop {
        match block.next(&mut record)? {
            Item::End => break,
            Item::Block(_) => {}
            Item::Record if record.code == ty::NUM_ENTRY => {}
            Item::Record if record.code == ty::STRUCT_NAME => name = Some(record.text(0)),
            Item::Record => types.push(read_type(&record, &mut name)?),
        }
    }
    check(types, header.start)
}

fn id(value: u64) -> TypeId {
    // Numbers that do not fit become one that certainly does not exist.
    TypeId(u32::try_from(value).unwrap_or(u32::MAX))
}

fn ids(values: &[u64]) -> Box<[TypeId]> {
    values.iter().map(|v| id(*v)).collect()
}

fn read_type(record: &Record, name: &mut Option<Box<str>>) -> Res<RawType> {
    if let Some(ty) = simple_type(record) {
        return Ok(ty);
    }
    if let Some(ty) = compound_type(record, name) {
        return Ok(ty);
    }
    if record.code > ty::BYTE {
        let (block, code) = ("type", u64::from(record.code));
        return fail(record.bit, ErrorKind::UnknownRecord { block, code });
    }
    fail(record.bit, ErrorKind::InvalidRecord("type"))
}

/// Types without parts.
fn simple_type(record: &Record) -> Option<RawType> {
    let width = || {
        let width = record.get(0);
        (1..=MAX_INT_WIDTH).contains(&width).then_some(width as u32)
    };
    Some(match record.code {
        ty::VOID => RawType::Void,
        ty::HALF => RawType::Float(FloatKind::Half),
        ty::BFLOAT => RawType::Float(FloatKind::BFloat),
        ty::FLOAT => RawType::Float(FloatKind::Float),
        ty::DOUBLE => RawType::Float(FloatKind::Double),
        ty::X86_FP80 => RawType::Float(FloatKind::X86Fp80),
        ty::FP128 => RawType::Float(FloatKind::Fp128),
        ty::PPC_FP128 => RawType::Float(FloatKind::PpcFp128),
        ty::LABEL => RawType::Label,
        ty::METADATA => RawType::Metadata,
        ty::X86_MMX => RawType::X86Mmx,
        ty::X86_AMX => RawType::X86Amx,
        ty::TOKEN => RawType::Token,
        ty::INTEGER => RawType::Integer(width()?),
        ty::BYTE => RawType::Byte(width()?),
        ty::OPAQUE_POINTER => RawType::Pointer {
            pointee: None,
            addrspace: record.get(0) as u32,
        },
        _ => return None,
    })
}

/// Types made of others; `name` is what the last STRUCT_NAME record said.
fn compound_type(record: &Record, name: &mut Option<Box<str>>) -> Option<RawType> {
    let structure = |name, packed: u64, elems: &[u64], opaque| RawType::Struct {
        name,
        packed: packed != 0,
        elems: ids(elems),
        opaque,
    };
    Some(match (record.code, &record.ops[..]) {
        (ty::POINTER, &[pointee, ..]) => RawType::Pointer {
            pointee: Some(id(pointee)),
            addrspace: record.get(1) as u32,
        },
        (ty::FUNCTION, [vararg, ret, params @ ..])
        | (ty::FUNCTION_OLD, [vararg, _, ret, params @ ..]) => RawType::Function {
            ret: id(*ret),
            params: ids(params),
            vararg: *vararg != 0,
        },
        (ty::STRUCT_ANON, [packed, elems @ ..]) => structure(None, *packed, elems, false),
        (ty::STRUCT_NAMED, [packed, elems @ ..]) => {
            structure(Some(name.take().unwrap_or_default()), *packed, elems, false)
        }
        (ty::OPAQUE, _) => structure(Some(name.take().unwrap_or_default()), 0, &[], true),
        (ty::ARRAY, &[len, elem, ..]) => RawType::Array {
            len,
            elem: id(elem),
        },
        (ty::VECTOR, &[len, elem, ..]) => RawType::Vector {
            len: u32::try_from(len).ok()?,
            elem: id(elem),
            scalable: record.get(2) != 0,
        },
        (ty::TARGET_TYPE, [count, rest @ ..]) => {
            let (types, ints) = rest.split_at_checked(usize::try_from(*count).ok()?)?;
            RawType::TargetExt {
                name: name.take().unwrap_or_default(),
                types: ids(types),
                ints: ints.iter().map(|i| *i as u32).collect(),
            }
        }
        _ => return None,
    })
}

/// Types that a type contains by value.
fn by_value(ty: &RawType) -> &[TypeId] {
    match ty {
        RawType::Struct { elems, .. } => elems,
        RawType::Array { elem, .. } | RawType::Vector { elem, .. } => std::slice::from_ref(elem),
        RawType::TargetExt { types, .. } => types,
        _ => &[],
    }
}

fn references(ty: &RawType) -> impl Iterator<Item = TypeId> {
    let (one, list): (Option<TypeId>, &[TypeId]) = match ty {
        RawType::Pointer { pointee, .. } => (*pointee, &[]),
        RawType::Function { ret, params, .. } => (Some(*ret), params),
        other => (None, by_value(other)),
    };
    one.into_iter().chain(list.iter().copied())
}

/// Checks the module's invariants on types.
fn check(types: &[RawType], bit: u64) -> Res<()> {
    for ty in types {
        for used in references(ty) {
            if used.index() >= types.len() {
                return fail(bit, ErrorKind::NoSuchType(u64::from(used.0)));
            }
        }
        let is_fn = |id: &TypeId| matches!(types[id.index()], RawType::Function { .. });
        if by_value(ty).iter().any(is_fn) {
            return fail(bit, ErrorKind::TypeMismatch("an element of an aggregate"));
        }
    }
    check_nesting(
        types.len(),
        |index| by_value(&types[index]),
        |id| Some(id.index()),
        bit,
    )
}

/// Checks that the graph `children` has no cycle and no path longer than [`MAX_TYPE_NESTING`].
pub(crate) fn check_nesting<'a, T: Copy + 'a>(
    count: usize,
    children: impl Fn(usize) -> &'a [T],
    index_of: impl Fn(T) -> Option<usize>,
    bit: u64,
) -> Res<()> {
    const UNSEEN: u32 = 0;
    const OPEN: u32 = u32::MAX;
    // Per node: unseen, open, or its height.
    let mut height = vec![UNSEEN; count];
    let mut stack: Vec<(usize, usize, u32)> = Vec::new();
    for root in 0..count {
        if height[root] != UNSEEN {
            continue;
        }
        if children(root).is_empty() {
            height[root] = 1;
            continue;
        }
        height[root] = OPEN;
        stack.push((root, 0, 0));
        while let Some((node, next, tallest)) = stack.pop() {
            let Some(child) = children(node).get(next) else {
                height[node] = tallest + 1;
                if tallest >= MAX_TYPE_NESTING {
                    return fail(bit, ErrorKind::Limit("nesting of types or constants"));
                }
                if let Some(parent) = stack.last_mut() {
                    parent.2 = parent.2.max(tallest + 1);
                }
                continue;
            };
            let child_height = index_of(*child).and_then(|c| Some((c, *height.get(c)?)));
            match child_height {
                Some((_, OPEN)) => {
                    return fail(
                        bit,
                        ErrorKind::Limit("a type or constant that contains itself"),
                    );
                }
                Some((index, UNSEEN)) => {
                    stack.push((node, next + 1, tallest));
                    height[index] = OPEN;
                    stack.push((index, 0, 0));
                }
                Some((_, known)) => stack.push((node, next + 1, tallest.max(known))),
                None => stack.push((node, next + 1, tallest)),
            }
        }
    }
    Ok(())
}

/// From shapes to type numbers.
#[derive(Debug, Default)]
pub(crate) struct TypeLookup {
    pointers: FxHashMap<(Option<TypeId>, u32), TypeId>,
    vectors: FxHashMap<(TypeId, u32, bool), TypeId>,
    /// `{ T, i1 }` by T.
    with_flag: FxHashMap<TypeId, TypeId>,
    pub void: TypeId,
    pub bool: TypeId,
    pub token: TypeId,
    pub i32: TypeId,
}

impl Default for TypeId {
    fn default() -> Self {
        TypeId(u32::MAX)
    }
}

fn find_or_add(types: &mut Vec<RawType>, ty: RawType) -> TypeId {
    let index = types.iter().position(|t| *t == ty).unwrap_or(types.len());
    if index == types.len() {
        types.push(ty);
    }
    TypeId(index as u32)
}

impl TypeLookup {
    /// Builds the lookup; appends the few types that the readers always need.
    pub fn new(types: &mut Vec<RawType>) -> Self {
        let mut lookup = Self {
            void: find_or_add(types, RawType::Void),
            bool: find_or_add(types, RawType::Integer(1)),
            token: find_or_add(types, RawType::Token),
            i32: find_or_add(types, RawType::Integer(32)),
            ..Self::default()
        };
        for (index, ty) in types.iter().enumerate() {
            let this = TypeId(index as u32);
            match ty {
                RawType::Pointer { pointee, addrspace } => {
                    lookup
                        .pointers
                        .entry((*pointee, *addrspace))
                        .or_insert(this);
                }
                RawType::Vector {
                    len,
                    elem,
                    scalable,
                } => {
                    let key = (*elem, *len, *scalable);
                    lookup.vectors.entry(key).or_insert(this);
                }
                RawType::Struct {
                    name: None,
                    packed: false,
                    elems,
                    ..
                } if elems.len() == 2 && elems[1] == lookup.bool => {
                    lookup.with_flag.entry(elems[0]).or_insert(this);
                }
                _ => {}
            }
        }
        lookup
    }

    /// Pointer to `pointee`: typed when the module has typed pointers, else opaque.
    pub fn pointer_to(&self, pointee: TypeId, addrspace: u32) -> Option<TypeId> {
        self.pointers
            .get(&(Some(pointee), addrspace))
            .or_else(|| self.pointers.get(&(None, addrspace)))
            .copied()
    }

    /// As [`Self::pointer_to`], but adds the type when it is missing.
    pub fn pointer_or_add(
        &mut self,
        types: &mut Vec<RawType>,
        pointee: TypeId,
        addrspace: u32,
    ) -> TypeId {
        if let Some(found) = self.pointer_to(pointee, addrspace) {
            return found;
        }
        let typed = types.iter().any(|t| {
            matches!(
                t,
                RawType::Pointer {
                    pointee: Some(_),
                    ..
                }
            )
        });
        let pointee = typed.then_some(pointee);
        let new = TypeId(types.len() as u32);
        types.push(RawType::Pointer { pointee, addrspace });
        self.pointers.insert((pointee, addrspace), new);
        new
    }

    /// Vector of `elem`.
    pub fn vector_of(&self, elem: TypeId, len: u32, scalable: bool) -> Option<TypeId> {
        self.vectors.get(&(elem, len, scalable)).copied()
    }

    /// `{ ty, i1 }`.
    pub fn with_flag(&self, ty: TypeId) -> Option<TypeId> {
        self.with_flag.get(&ty).copied()
    }
}
