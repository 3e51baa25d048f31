//! One source type, read from metadata: what it is, and which other nodes it mentions.

use drip_bitcode as bc;

/// Members, enumerators or parameters that one type keeps.
const MAX_ELEMENTS: usize = 1 << 14;

/// LLVM's `DIFlagFwdDecl`.
const FLAG_FORWARD: u32 = 1 << 2;
/// LLVM's `DIFlagStaticMember`.
const FLAG_STATIC_MEMBER: u32 = 1 << 12;

/// `DW_ATE_signed` and `DW_ATE_signed_char`.
const SIGNED: [u32; 2] = [5, 6];

pub(crate) type Md = Option<bc::MetadataId>;

/// Where in the source a named type stands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    pub file: Box<str>,
    line: u32,
    /// C++: unique across units.
    identifier: Box<str>,
}

#[derive(Debug, Clone)]
pub(crate) struct Member {
    pub name: Box<str>,
    pub offset: u64,
    pub ty: Md,
    pub is_base: bool,
}

/// A source type that still refers to others by metadata number.
#[derive(Debug, Clone)]
pub(crate) enum Described {
    Base {
        name: Box<str>,
        bytes: u64,
        signed: bool,
    },
    Pointer {
        to: Md,
    },
    Struct {
        name: Box<str>,
        bytes: u64,
        is_union: bool,
        members: Vec<Member>,
        forward: bool,
        place: Place,
    },
    /// Outermost dimension first.
    Array {
        elem: Md,
        counts: Vec<Option<u64>>,
    },
    Typedef {
        name: Box<str>,
        of: Md,
        place: Place,
    },
    Const(Md),
    Qualified(Md),
    Enum {
        name: Box<str>,
        bytes: u64,
        values: Vec<(Box<str>, i64)>,
        place: Place,
    },
    Func {
        ret: Md,
        params: Vec<Md>,
    },
    Other,
}

impl Described {
    pub fn for_each_type(&self, mut visit: impl FnMut(bc::MetadataId)) {
        match self {
            Described::Pointer { to: ty }
            | Described::Array { elem: ty, .. }
            | Described::Typedef { of: ty, .. }
            | Described::Const(ty)
            | Described::Qualified(ty) => ty.iter().copied().for_each(visit),
            Described::Struct { members, .. } => {
                members.iter().filter_map(|m| m.ty).for_each(visit)
            }
            Described::Func { ret, params } => {
                ret.iter().copied().for_each(&mut visit);
                params.iter().copied().flatten().for_each(visit);
            }
            Described::Base { .. } | Described::Enum { .. } | Described::Other => {}
        }
    }
}

/// How much of a type to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Of a struct or enumeration only what tells it from others: its first member too, but no more of them. Most types
    /// of a unit come from headers and are known from other units.
    Identity,
    Full,
}

/// Reads one type.
pub(crate) fn describe(md: bc::Metadata<'_>, id: bc::MetadataId, detail: Detail) -> Described {
    match md.node(id) {
        Some(bc::MdNode::BasicType(base)) => Described::Base {
            name: base.name.into(),
            bytes: base.size_bits.div_ceil(8),
            signed: SIGNED.contains(&base.encoding),
        },
        Some(bc::MdNode::DerivedType(derived)) => describe_derived(md, &derived),
        Some(bc::MdNode::CompositeType(composite)) => describe_composite(md, &composite, detail),
        Some(bc::MdNode::SubroutineType(function)) => {
            let mut types = function.types.and_then(|t| md.tuple(t)).unwrap_or_default();
            types.truncate(MAX_ELEMENTS);
            let ret = types.first().copied().flatten();
            // A trailing null stands for `...`.
            if types.len() > 1 && types.last() == Some(&None) {
                types.pop();
            }
            Described::Func {
                ret,
                params: types.into_iter().skip(1).collect(),
            }
        }
        _ => Described::Other,
    }
}

fn describe_derived(md: bc::Metadata<'_>, derived: &bc::DiDerivedType<'_>) -> Described {
    use bc::tag;
    match derived.tag {
        tag::POINTER | tag::REFERENCE | tag::RVALUE_REFERENCE => {
            Described::Pointer { to: derived.base }
        }
        tag::TYPEDEF => {
            let place = Place {
                file: scope_file(md, derived.scope),
                line: derived.line,
                identifier: "".into(),
            };
            Described::Typedef {
                name: derived.name.into(),
                of: derived.base,
                place,
            }
        }
        tag::CONST => Described::Const(derived.base),
        tag::VOLATILE | tag::RESTRICT | tag::ATOMIC => Described::Qualified(derived.base),
        _ => Described::Other,
    }
}

fn describe_composite(
    md: bc::Metadata<'_>,
    composite: &bc::DiCompositeType<'_>,
    detail: Detail,
) -> Described {
    use bc::tag;
    let elements = || {
        let mut all = composite
            .elements
            .and_then(|t| md.tuple(t))
            .unwrap_or_default();
        all.truncate(MAX_ELEMENTS);
        all.into_iter().flatten()
    };
    let place = || Place {
        file: composite
            .file
            .and_then(|f| md.file(f))
            .map_or("", |f| f.filename)
            .into(),
        line: composite.line,
        identifier: composite.identifier.into(),
    };
    let bytes = composite.size_bits.div_ceil(8);
    let limit = match detail {
        Detail::Identity => 1,
        Detail::Full => MAX_ELEMENTS,
    };
    match composite.tag {
        tag::STRUCTURE | tag::CLASS | tag::UNION => Described::Struct {
            name: composite.name.into(),
            bytes,
            is_union: composite.tag == tag::UNION,
            members: elements()
                .filter_map(|id| member(md, id))
                .take(limit)
                .collect(),
            forward: composite.flags & FLAG_FORWARD != 0,
            place: place(),
        },
        tag::ARRAY => {
            let count = |id| match md.node(id) {
                Some(bc::MdNode::Subrange(range)) => {
                    range.count.and_then(|n| u64::try_from(n).ok())
                }
                _ => None,
            };
            Described::Array {
                elem: composite.base,
                counts: elements().map(count).collect(),
            }
        }
        tag::ENUMERATION => {
            let value = |id| match md.node(id) {
                Some(bc::MdNode::Enumerator(e)) => Some((e.name.into(), e.value)),
                _ => None,
            };
            Described::Enum {
                name: composite.name.into(),
                bytes,
                values: elements().filter_map(value).take(limit).collect(),
                place: place(),
            }
        }
        _ => Described::Other,
    }
}

fn member(md: bc::Metadata<'_>, id: bc::MetadataId) -> Option<Member> {
    let found = md.derived_type(id)?;
    let is_base = found.tag == bc::tag::INHERITANCE;
    // Static members and functions have no place in the object.
    if !(is_base || found.tag == bc::tag::MEMBER) || found.flags & FLAG_STATIC_MEMBER != 0 {
        return None;
    }
    Some(Member {
        name: found.name.into(),
        offset: found.offset_bits / 8,
        ty: found.base,
        is_base,
    })
}

/// Typedefs keep no file of their own in the view; their scope's will do.
fn scope_file(md: bc::Metadata<'_>, scope: Md) -> Box<str> {
    match scope.and_then(|s| md.node(s)) {
        Some(bc::MdNode::File(file)) => file.filename.into(),
        _ => "".into(),
    }
}

/// Size of a type, through typedefs and qualifiers.
pub(crate) fn byte_size(md: bc::Metadata<'_>, ty: bc::MetadataId) -> Option<u64> {
    let (ty, _) = md.unqualified(ty);
    let bits = match md.node(ty)? {
        bc::MdNode::BasicType(base) => base.size_bits,
        bc::MdNode::DerivedType(derived) => derived.size_bits,
        bc::MdNode::CompositeType(composite) => composite.size_bits,
        _ => return None,
    };
    (bits >= 8).then_some(bits / 8)
}
