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

use super::describe::{Described, Detail, Md, Member, Place, describe};
use super::namesakes::{Definition, tell_apart};
use crate::ids::*;
use crate::model::{DiMember, DiType, Strings};

/// Types nested in one another without a name in between; deeper ones are cut.
const MAX_NESTING: u32 = 64;

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

impl Key {
    /// `None` for types that are what they are made of.
    fn of(described: &Described) -> Option<Key> {
        Some(match described {
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
            _ => return None,
        })
    }
}

/// The source types of one module's metadata that have a number.
#[derive(Default)]
pub(crate) struct ModuleTypes {
    known: FxHashMap<bc::MetadataId, DiTypeId>,
}

/// A source type that only one body has.
pub(crate) struct LocalType {
    id: bc::MetadataId,
    state: LocalState,
}

enum LocalState {
    Described(Described),
    Numbered(DiTypeId),
}

/// The source types that only one body has, by metadata number.
pub(crate) fn local_types(types: Vec<(bc::MetadataId, Described)>) -> Vec<LocalType> {
    let local = |(id, described)| LocalType {
        id,
        state: LocalState::Described(described),
    };
    let mut all: Vec<LocalType> = types.into_iter().map(local).collect();
    all.sort_unstable_by_key(|local| local.id);
    all
}

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
    /// All of them, and all typedefs.
    defined: Vec<Definition>,
}

/// Where a [`TypeBuilder`] reads: one module, and the types of one of its bodies.
pub(crate) struct Source<'a> {
    pub md: bc::Metadata<'a>,
    pub module: &'a mut ModuleTypes,
    /// Sorted by metadata number.
    pub local: Vec<LocalType>,
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
        if let Some(&known) = source.module.known.get(&id) {
            return known;
        }
        let local = source
            .local
            .binary_search_by_key(&id, |local| local.id)
            .ok();
        let described = match local.map(|at| &mut source.local[at].state) {
            Some(LocalState::Numbered(known)) => return *known,
            _ if depth > MAX_NESTING => Described::Other,
            Some(LocalState::Described(described)) => {
                std::mem::replace(described, Described::Other)
            }
            None => describe(source.md, id, Detail::Identity),
        };
        let module_node = local.is_none().then_some(id);
        let number = self.place(source, described, module_node, depth);
        match local {
            Some(at) => source.local[at].state = LocalState::Numbered(number),
            None => {
                source.module.known.insert(id, number);
            }
        }
        number
    }

    /// Named types get their number before their content is known, as they may contain themselves.
    fn place(
        &mut self,
        source: &mut Source<'_>,
        described: Described,
        module_node: Md,
        depth: u32,
    ) -> DiTypeId {
        let Some(key) = Key::of(&described) else {
            let content = self.content(source, described, depth + 1);
            return self.exact(content);
        };
        if let Some(&known) = self.known.get(&key) {
            if let Key::Typedef { .. } = key {
                self.define(source, described, module_node, depth);
            }
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
        self.note(source, &key, number);
        self.known.insert(key, number);
        // A node of the module was only read for its identity.
        let described = match module_node {
            Some(id) => describe(source.md, id, Detail::Full),
            None => described,
        };
        self.open.push((number, described));
        number
    }

    /// Notes a definition.
    fn note(&mut self, source: &mut Source<'_>, key: &Key, number: DiTypeId) {
        let (name, file) = match key {
            Key::Struct {
                name,
                forward: false,
                place,
                ..
            } => (name, &*place.file),
            // Its file is that of the structure.
            Key::Typedef { name, .. } => (name, ""),
            _ => return,
        };
        let name = (!name.is_empty()).then(|| source.strings.intern(name));
        self.defined.push((name, file.into(), number));
    }

    /// A typedef that another unit had first (`typedef struct s s;` in a header): this unit may be the one that defines the struct.
    fn define(
        &mut self,
        source: &mut Source<'_>,
        described: Described,
        module_node: Md,
        depth: u32,
    ) {
        let described = match module_node {
            Some(id) => describe(source.md, id, Detail::Full),
            None => described,
        };
        if let Described::Typedef { of, .. } = described {
            self.visit_opt(source, of, depth + 1);
        }
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
            } => DiType::Struct {
                name: text(source, &name),
                bytes,
                is_union,
                members: self.members(source, members, depth),
            },
            Described::Other => DiType::Other,
        }
    }

    fn members(
        &mut self,
        source: &mut Source<'_>,
        members: Vec<Member>,
        depth: u32,
    ) -> Box<[DiMember]> {
        let member = |m: Member| DiMember {
            name: source.strings.intern(&m.name),
            offset: m.offset,
            ty: self.visit_opt(source, m.ty, depth),
            is_base: m.is_base,
        };
        members.into_iter().map(member).collect()
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

    /// Gives declared structs the members of their definition in another unit, and structs that only share their name names of their own.
    pub fn finish(mut self, strings: &mut Strings) -> drip_base::IndexVec<DiTypeId, DiType> {
        let declared = self.forward.iter().map(|forward| forward.0).collect();
        tell_apart(&mut self.table, &self.defined, &declared, strings);
        for (name, declared) in std::mem::take(&mut self.forward) {
            if let Some(&complete) = self.complete.get(&name) {
                self.table[declared] = self.table[complete].clone();
            }
        }
        self.table
    }
}
