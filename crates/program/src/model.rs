//! The linked program: units, globals, functions, source-level types and names.

use drip_base::IndexVec;

use crate::body::{Body, Loc};
use crate::ids::*;
use crate::types::Types;

/// One linked program. Frozen: later rooms read it and never change it.
#[derive(Clone, Debug, Default)]
pub struct Program {
    pub types: Types,
    pub strings: Strings,
    pub files: IndexVec<FileId, File>,
    pub units: IndexVec<UnitId, Unit>,
    pub globals: IndexVec<GlobalId, Global>,
    pub funcs: IndexVec<FuncId, Function>,
    pub di_types: IndexVec<DiTypeId, DiType>,
}

/// Interned strings.
#[derive(Clone, Debug, Default)]
pub struct Strings {
    table: IndexVec<StrId, Box<str>>,
    /// Open addressing: hash and id, or `FREE`. Length is a power of two, at least twice that of the table.
    slots: Vec<(u32, u32)>,
}

/// A slot without a string.
const FREE: (u32, u32) = (0, u32::MAX);

impl Strings {
    pub fn intern(&mut self, text: &str) -> StrId {
        if self.table.len() * 2 >= self.slots.len() {
            self.grow();
        }
        let hash = hash_of(text);
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let (known, id) = self.slots[at];
            if id == FREE.1 {
                let id = self.table.push(text.into());
                self.slots[at] = (hash, id.as_u32());
                return id;
            }
            if known == hash && *self.table[StrId::from_u32(id)] == *text {
                return StrId::from_u32(id);
            }
            at = (at + 1) & mask;
        }
    }

    fn grow(&mut self) {
        let size = (self.slots.len() * 2).max(64);
        let old = std::mem::replace(&mut self.slots, vec![FREE; size]);
        for slot in old.into_iter().filter(|slot| slot.1 != FREE.1) {
            let mut at = slot.0 as usize & (size - 1);
            while self.slots[at].1 != FREE.1 {
                at = (at + 1) & (size - 1);
            }
            self.slots[at] = slot;
        }
    }

    pub fn get(&self, id: StrId) -> &str {
        &self.table[id]
    }

    pub fn find(&self, text: &str) -> Option<StrId> {
        let hash = hash_of(text);
        let mask = self.slots.len().checked_sub(1)?;
        let mut at = hash as usize & mask;
        loop {
            let (known, id) = self.slots[at];
            if id == FREE.1 {
                return None;
            }
            if known == hash && *self.table[StrId::from_u32(id)] == *text {
                return Some(StrId::from_u32(id));
            }
            at = (at + 1) & mask;
        }
    }

    pub fn len(&self) -> usize {
        self.table.len()
    }

    pub fn is_empty(&self) -> bool {
        self.table.len() == 0
    }
}

fn hash_of(text: &str) -> u32 {
    let mut hasher = rustc_hash::FxHasher::default();
    std::hash::Hasher::write(&mut hasher, text.as_bytes());
    let hash = std::hash::Hasher::finish(&hasher);
    (hash ^ (hash >> 32)) as u32
}

/// A source file as the debug info names it: directory of compilation and path, not normalised.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct File {
    pub directory: StrId,
    pub name: StrId,
}

/// A translation unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The bitcode file that it was read from.
    pub path: StrId,
    pub source: StrId,
    pub language: Language,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Language {
    #[default]
    C,
    Cxx,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Linkage {
    External,
    /// weak, linkonce, common, available_externally: may be replaced or dropped by the linker; after linking the one
    /// definition that was kept.
    Weak,
    /// static: known in its unit only.
    Internal,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Global {
    pub name: StrId,
    pub unit: UnitId,
    pub linkage: Linkage,
    pub ty: TypeId,
    pub size: u64,
    pub is_const: bool,
    pub thread_local: bool,
    pub init: Init,
    /// Declaration in the source.
    pub loc: Option<Loc>,
    pub di_type: Option<DiTypeId>,
    /// Source name (static locals have a mangled symbol name).
    pub source_name: Option<StrId>,
}

/// What a global holds at program start.
#[derive(Clone, Debug, PartialEq)]
pub enum Init {
    /// Declared here, defined elsewhere.
    Extern,
    Zero,
    /// A NUL-terminated or other byte string.
    Bytes(Box<[u8]>),
    /// Non-zero scalars by byte offset, sorted; all else is zero. `complete` is false where data was left out
    /// (large tables keep their addresses only).
    Slots {
        slots: Box<[(u64, Scalar)]>,
        complete: bool,
    },
}

/// A scalar inside an initialiser.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scalar {
    Int {
        bits: u64,
        bytes: u8,
    },
    Global {
        global: GlobalId,
        offset: i64,
    },
    Func(FuncId),
    /// A float, or an expression that does not fold.
    Opaque {
        bytes: u8,
    },
}

/// Attributes of a function, as a bit set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct FuncAttrs(pub u32);

impl FuncAttrs {
    pub const NORETURN: u32 = 1;
    pub const NOUNWIND: u32 = 1 << 1;
    /// Touches no memory visible to its caller.
    pub const READNONE: u32 = 1 << 2;
    pub const READONLY: u32 = 1 << 3;
    /// Touches only what its arguments point to.
    pub const ARGMEMONLY: u32 = 1 << 4;
    pub const INACCESSIBLEMEM: u32 = 1 << 5;
    /// The returned pointer aliases nothing (`__attribute__((malloc))`).
    pub const NOALIAS_RETURN: u32 = 1 << 6;
    /// allockind("alloc"), ("realloc"), ("free"), with ("zeroed") and ("uninitialized") dropped.
    pub const ALLOC: u32 = 1 << 7;
    pub const REALLOC: u32 = 1 << 8;
    pub const FREE: u32 = 1 << 9;
    pub const VARARG: u32 = 1 << 10;
    pub const NONNULL_RETURN: u32 = 1 << 11;
    pub const RETURNS_TWICE: u32 = 1 << 12;
    /// Declared without a prototype (`void f();`).
    pub const NO_PROTOTYPE: u32 = 1 << 13;
    pub const COLD: u32 = 1 << 14;
    /// Its address is used other than as a callee, somewhere in the program (initialisers included).
    pub const ADDRESS_TAKEN: u32 = 1 << 15;
    /// Constructor list (`llvm.global_ctors`) or the like calls it.
    pub const CONSTRUCTOR: u32 = 1 << 16;

    pub fn has(self, bit: u32) -> bool {
        self.0 & bit != 0
    }
}

/// Attributes of a parameter, as a bit set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ParamAttrs(pub u16);

impl ParamAttrs {
    pub const NOCAPTURE: u16 = 1;
    pub const READONLY: u16 = 1 << 1;
    pub const READNONE: u16 = 1 << 2;
    pub const WRITEONLY: u16 = 1 << 3;
    pub const RETURNED: u16 = 1 << 4;
    pub const NONNULL: u16 = 1 << 5;
    pub const NOALIAS: u16 = 1 << 6;
    pub const SRET: u16 = 1 << 7;
    pub const BYVAL: u16 = 1 << 8;
    pub const ALLOCPTR: u16 = 1 << 9;
    /// The source declares it as pointer to const (debug info, or mangled C++ name).
    pub const POINTEE_CONST: u16 = 1 << 10;

    pub fn has(self, bit: u16) -> bool {
        self.0 & bit != 0
    }
}

#[derive(Clone, Debug)]
pub struct Function {
    /// Symbol name (mangled in C++).
    pub name: StrId,
    /// Name as the source has it, where debug info tells.
    pub source_name: Option<StrId>,
    pub unit: UnitId,
    pub linkage: Linkage,
    /// A [`Type::Func`](crate::Type::Func).
    pub ty: TypeId,
    pub attrs: FuncAttrs,
    pub params: Box<[ParamAttrs]>,
    pub alloc_family: Option<StrId>,
    /// Position of the definition's (or declaration's) name.
    pub loc: Option<Loc>,
    /// Return type and parameter types as the source has them.
    pub di_type: Option<DiTypeId>,
    /// `None`: declared only, or its body could not be read (then `unreadable` says why).
    pub body: Option<Body>,
    pub unreadable: Option<Box<str>>,
}

/// A type as the source has it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DiType {
    Base {
        name: StrId,
        bytes: u64,
        signed: bool,
    },
    /// Pointers and references; `void *` points to nothing.
    Pointer {
        to: Option<DiTypeId>,
    },
    /// Struct, class or union.
    Struct {
        name: Option<StrId>,
        bytes: u64,
        is_union: bool,
        members: Box<[DiMember]>,
    },
    Array {
        elem: Option<DiTypeId>,
        count: Option<u64>,
    },
    Typedef {
        name: StrId,
        of: Option<DiTypeId>,
    },
    Const(Option<DiTypeId>),
    /// volatile, restrict, atomic.
    Qualified(Option<DiTypeId>),
    Enum {
        name: Option<StrId>,
        bytes: u64,
        values: Box<[(StrId, i64)]>,
    },
    /// Return type first (`None` = void).
    Func {
        ret: Option<DiTypeId>,
        params: Box<[Option<DiTypeId>]>,
    },
    Other,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DiMember {
    pub name: StrId,
    pub offset: u64,
    pub ty: Option<DiTypeId>,
    /// A C++ base class, which has no name of its own.
    pub is_base: bool,
}

impl Program {
    pub fn func_name(&self, func: FuncId) -> &str {
        self.strings.get(self.funcs[func].name)
    }

    /// The name to show to users.
    pub fn shown_name(&self, func: FuncId) -> &str {
        let function = &self.funcs[func];
        self.strings
            .get(function.source_name.unwrap_or(function.name))
    }

    pub fn global_name(&self, global: GlobalId) -> &str {
        let global = &self.globals[global];
        self.strings.get(global.source_name.unwrap_or(global.name))
    }

    /// External or weak function by its symbol name; else the first static one.
    pub fn find_func(&self, name: &str) -> Option<FuncId> {
        let name = self.strings.find(name)?;
        let mut named = self.funcs.iter_enumerated().filter(|(_, f)| f.name == name);
        let first = named.clone().next();
        let seen_by_all = named.find(|(_, f)| f.linkage != Linkage::Internal);
        seen_by_all.or(first).map(|(id, _)| id)
    }

    /// Path of a source file: its name if absolute, else joined to the directory of compilation.
    pub fn file_path(&self, file: FileId) -> std::path::PathBuf {
        let file = &self.files[file];
        std::path::Path::new(self.strings.get(file.directory)).join(self.strings.get(file.name))
    }
}
