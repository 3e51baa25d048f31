//! Source types: described from metadata, numbered for the whole program.
//!
//! Types are merged across units: named ones (structs, unions, enums, typedefs, base types) by name, place in the source
//! and size, the others (pointers, arrays, functions, qualifiers) by what they are made of. Only what variables, globals and
//! functions mention is read. A struct that a unit only declares takes the members of the first unit that defines one of
//! that name.
//!
//! Known limits: C structs of equal name, file, line and size are taken for the same (headers that change with macros).

use drip_bitcode as bc;
use rustc_hash::FxHashMap;

use crate::ids::*;
use crate::model::{DiMember, DiType, Strings};

/// Types nested in one another without a name in between; deeper ones are cut.
const MAX_NESTING: u32 = 64;

/// Members, enumerators or parameters that one type keeps.
const MAX_ELEMENTS: usize = 1 << 14;

/// LLVM's `DIFlagFwdDecl`.
const FLAG_FORWARD: u32 = 1 << 2;
/// LLVM's `DIFlagStaticMember`.
const FLAG_STATIC_MEMBER: u32 = 1 << 12;

/// `DW_ATE_signed` and `DW_ATE_signed_char`.
const SIGNED: [u32; 2] = [5, 6];

type Md = Option<bc::MetadataId>;

/// Where in the source a named type stands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    file: Box<str>,
    line: u32,
    /// C++: unique across units.
    identifier: Box<str>,
}

#[derive(Debug, Clone)]
pub(crate) struct Member {
    name: Box<str>,
    offset: u64,
    ty: Md,
    is_base: bool,
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

/// Reads one type.
pub(crate) fn describe(md: bc::Metadata<'_>, id: bc::MetadataId) -> Described {
    match md.node(id) {
        Some(bc::MdNode::BasicType(base)) => Described::Base {
            name: base.name.into(),
            bytes: base.size_bits.div_ceil(8),
            signed: SIGNED.contains(&base.encoding),
        },
        Some(bc::MdNode::DerivedType(derived)) => describe_derived(md, &derived),
        Some(bc::MdNode::CompositeType(composite)) => describe_composite(md, &composite),
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

fn describe_composite(md: bc::Metadata<'_>, composite: &bc::DiCompositeType<'_>) -> Described {
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
    match composite.tag {
        tag::STRUCTURE | tag::CLASS | tag::UNION => Described::Struct {
            name: composite.name.into(),
            bytes,
            is_union: composite.tag == tag::UNION,
            members: elements().filter_map(|id| member(md, id)).collect(),
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
                values: elements().filter_map(value).collect(),
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

/// What makes two source types the same.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Struct {
        name: Box<str>,
        bytes: u64,
        is_union: bool,
        forward: bool,
        first: Box<str>,
        place: Place,
    },
    Typedef {
        name: Box<str>,
        place: Place,
    },
    Enum {
        name: Box<str>,
        bytes: u64,
        first: Box<str>,
        place: Place,
    },
    Exact(DiType),
}

/// The source types of one module's metadata that have a number.
#[derive(Default)]
pub(crate) struct ModuleTypes {
    known: FxHashMap<bc::MetadataId, DiTypeId>,
}

/// Source types that only one body has, by metadata number.
pub(crate) type LocalTypes<'a> = FxHashMap<bc::MetadataId, &'a Described>;

/// Numbers source types for the whole program.
#[derive(Default)]
pub(crate) struct TypeBuilder {
    pub table: drip_base::IndexVec<DiTypeId, DiType>,
    known: FxHashMap<Key, DiTypeId>,
    /// Types with a number whose content is still to be filled in.
    open: Vec<(DiTypeId, Described)>,
    /// Structs that a unit only declares.
    forward: Vec<(StrId, DiTypeId)>,
    /// First definition of a struct name.
    complete: FxHashMap<StrId, DiTypeId>,
}

/// Where a [`TypeBuilder`] reads: one module, and the types of one of its bodies.
pub(crate) struct Source<'a> {
    pub md: bc::Metadata<'a>,
    pub module: &'a mut ModuleTypes,
    pub local: &'a LocalTypes<'a>,
    /// Numbers given to `local` types.
    pub known_local: FxHashMap<bc::MetadataId, DiTypeId>,
    pub strings: &'a mut Strings,
}

impl TypeBuilder {
    /// The number of a type, with everything that it mentions.
    pub fn number(&mut self, source: &mut Source<'_>, id: bc::MetadataId) -> DiTypeId {
        let found = self.visit(source, id, 0);
        while let Some((open, described)) = self.open.pop() {
            let content = self.content(source, described, 0);
            self.table[open] = content;
        }
        found
    }

    fn visit(&mut self, source: &mut Source<'_>, id: bc::MetadataId, depth: u32) -> DiTypeId {
        let local = source.local.get(&id).copied();
        let memo = if local.is_some() {
            &source.known_local
        } else {
            &source.module.known
        };
        if let Some(&known) = memo.get(&id) {
            return known;
        }
        let described = match local {
            _ if depth > MAX_NESTING => Described::Other,
            Some(described) => described.clone(),
            None => describe(source.md, id),
        };
        let number = self.place(source, described, depth);
        let memo = if local.is_some() {
            &mut source.known_local
        } else {
            &mut source.module.known
        };
        memo.insert(id, number);
        number
    }

    /// Named types get their number before their content is known, as they may contain themselves.
    fn place(&mut self, source: &mut Source<'_>, described: Described, depth: u32) -> DiTypeId {
        let key = match &described {
            Described::Struct {
                name,
                bytes,
                is_union,
                members,
                forward,
                place,
            } => Key::Struct {
                name: name.clone(),
                bytes: *bytes,
                is_union: *is_union,
                forward: *forward,
                first: members.first().map(|m| m.name.clone()).unwrap_or_default(),
                place: place.clone(),
            },
            Described::Typedef { name, place, .. } => Key::Typedef {
                name: name.clone(),
                place: place.clone(),
            },
            Described::Enum {
                name,
                bytes,
                values,
                place,
            } => Key::Enum {
                name: name.clone(),
                bytes: *bytes,
                first: values.first().map(|v| v.0.clone()).unwrap_or_default(),
                place: place.clone(),
            },
            _ => {
                let content = self.content(source, described, depth + 1);
                return self.exact(content);
            }
        };
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let number = self.table.push(DiType::Other);
        if let Key::Struct { name, forward, .. } = &key
            && !name.is_empty()
        {
            let name = source.strings.intern(name);
            if *forward {
                self.forward.push((name, number));
            } else {
                self.complete.entry(name).or_insert(number);
            }
        }
        self.known.insert(key, number);
        self.open.push((number, described));
        number
    }

    fn exact(&mut self, content: DiType) -> DiTypeId {
        let key = Key::Exact(content);
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let Key::Exact(content) = &key else {
            return self.table.push(DiType::Other);
        };
        let number = self.table.push(content.clone());
        self.known.insert(key, number);
        number
    }

    fn content(&mut self, source: &mut Source<'_>, described: Described, depth: u32) -> DiType {
        let text = |source: &mut Source<'_>, name: &str| {
            (!name.is_empty()).then(|| source.strings.intern(name))
        };
        match described {
            Described::Base {
                name,
                bytes,
                signed,
            } => DiType::Base {
                name: source.strings.intern(&name),
                bytes,
                signed,
            },
            Described::Pointer { to } => DiType::Pointer {
                to: self.visit_opt(source, to, depth),
            },
            Described::Const(of) => DiType::Const(self.visit_opt(source, of, depth)),
            Described::Qualified(of) => DiType::Qualified(self.visit_opt(source, of, depth)),
            Described::Typedef { name, of, .. } => DiType::Typedef {
                name: source.strings.intern(&name),
                of: self.visit_opt(source, of, depth),
            },
            Described::Array { elem, counts } => self.array(source, elem, &counts, depth),
            Described::Func { ret, params } => DiType::Func {
                ret: self.visit_opt(source, ret, depth),
                params: params
                    .into_iter()
                    .map(|p| self.visit_opt(source, p, depth))
                    .collect(),
            },
            Described::Enum {
                name,
                bytes,
                values,
                ..
            } => DiType::Enum {
                name: text(source, &name),
                bytes,
                values: values
                    .into_iter()
                    .map(|(name, value)| (source.strings.intern(&name), value))
                    .collect(),
            },
            Described::Struct {
                name,
                bytes,
                is_union,
                members,
                ..
            } => {
                let members = members.into_iter().map(|m| DiMember {
                    name: source.strings.intern(&m.name),
                    offset: m.offset,
                    ty: self.visit_opt(source, m.ty, depth),
                    is_base: m.is_base,
                });
                let members = members.collect();
                DiType::Struct {
                    name: text(source, &name),
                    bytes,
                    is_union,
                    members,
                }
            }
            Described::Other => DiType::Other,
        }
    }

    fn visit_opt(&mut self, source: &mut Source<'_>, id: Md, depth: u32) -> Option<DiTypeId> {
        id.map(|id| self.visit(source, id, depth))
    }

    /// An array of several dimensions is an array of arrays.
    fn array(
        &mut self,
        source: &mut Source<'_>,
        elem: Md,
        counts: &[Option<u64>],
        depth: u32,
    ) -> DiType {
        let mut elem = self.visit_opt(source, elem, depth);
        let (outer, inner) = counts.split_first().unwrap_or((&None, &[]));
        for &count in inner.iter().rev() {
            elem = Some(self.exact(DiType::Array { elem, count }));
        }
        DiType::Array {
            elem,
            count: *outer,
        }
    }

    /// Gives declared structs the members of their definition in another unit.
    pub fn finish(mut self) -> drip_base::IndexVec<DiTypeId, DiType> {
        for (name, declared) in std::mem::take(&mut self.forward) {
            if let Some(&complete) = self.complete.get(&name) {
                self.table[declared] = self.table[complete].clone();
            }
        }
        self.table
    }
}
