//! Attributes of functions, parameters and return values, in a form that answers questions.
//!
//! Invariant: attribute sets are shared; a list refers to sets by number. Kinds that a newer LLVM adds
//! are kept by number and simply never asked for.

use crate::ids::TypeId;

/// Attribute kinds that some client asks for, by the number that bitcode uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum AttrKind {
    Align = 1,
    AlwaysInline = 2,
    ByVal = 3,
    Naked = 7,
    NoAlias = 9,
    NoBuiltin = 10,
    NoCapture = 11,
    NoInline = 14,
    NoReturn = 17,
    NoUnwind = 18,
    ReadNone = 20,
    ReadOnly = 21,
    Returned = 22,
    ReturnsTwice = 23,
    SRet = 29,
    Builtin = 35,
    Cold = 36,
    OptNone = 37,
    InAlloca = 38,
    NonNull = 39,
    Dereferenceable = 41,
    DereferenceableOrNull = 42,
    ArgMemOnly = 45,
    InaccessibleMemOnly = 49,
    InaccessibleMemOrArgMemOnly = 50,
    AllocSize = 51,
    WriteOnly = 52,
    WillReturn = 61,
    NoFree = 62,
    Preallocated = 65,
    NoUndef = 68,
    ByRef = 69,
    NoCallback = 71,
    ElementType = 77,
    AllocAlign = 80,
    AllocatedPointer = 81,
    AllocKind = 82,
    Memory = 86,
    Captures = 102,
}

/// Attributes of one place (function, return value, or one parameter).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AttrSet {
    /// Bit n: the attribute with number n is present (numbers below 128).
    pub(crate) kinds: u128,
    pub(crate) ints: Vec<(u32, u64)>,
    pub(crate) types: Vec<(u32, TypeId)>,
    pub(crate) strings: Vec<(Box<str>, Box<str>)>,
}

impl AttrSet {
    /// The set without attributes.
    pub const EMPTY: AttrSet = AttrSet {
        kinds: 0,
        ints: Vec::new(),
        types: Vec::new(),
        strings: Vec::new(),
    };

    /// Whether the attribute is present, with or without a value.
    pub fn has(&self, kind: AttrKind) -> bool {
        self.kinds >> (kind as u32) & 1 == 1
    }

    /// The attribute's number (`align`, `dereferenceable`, `allocsize`, `allockind`, `memory` …).
    pub fn int(&self, kind: AttrKind) -> Option<u64> {
        let found = self.ints.iter().find(|(k, _)| *k == kind as u32)?;
        Some(found.1)
    }

    /// The attribute's type (`byval`, `sret`, `elementtype` …).
    pub fn ty(&self, kind: AttrKind) -> Option<TypeId> {
        let found = self.types.iter().find(|(k, _)| *k == kind as u32)?;
        Some(found.1)
    }

    /// The value of a string attribute such as `"alloc-family"`; empty when it has none.
    pub fn string(&self, key: &str) -> Option<&str> {
        let found = self.strings.iter().find(|(k, _)| &**k == key)?;
        Some(&found.1)
    }

    /// All string attributes, in file order.
    pub fn strings(&self) -> impl Iterator<Item = (&str, &str)> {
        self.strings.iter().map(|(k, v)| (&**k, &**v))
    }

    /// The callee keeps no copy of this pointer: `nocapture`, or `captures(none)` of LLVM ≥ 20
    /// (also when only the address, but no provenance, is captured).
    pub fn no_capture(&self) -> bool {
        self.has(AttrKind::NoCapture) || self.captures().is_some_and(|c| !c.provenance)
    }

    /// `captures(...)` of LLVM ≥ 20.
    pub fn captures(&self) -> Option<Captures> {
        // Two components of four bits each: the low one what the return value captures, the next one
        // what every other way captures.
        let bits = self.int(AttrKind::Captures)?;
        let all = bits | bits >> 4;
        Some(Captures {
            address: all & 0b11 != 0,
            provenance: all & 0b1100 != 0,
        })
    }

    /// Which memory a function (or a call) may touch, from `memory(...)` of LLVM ≥ 16 or from the
    /// older single attributes.
    pub fn memory(&self) -> MemoryEffects {
        if let Some(bits) = self.int(AttrKind::Memory) {
            return MemoryEffects::from_encoded(bits);
        }
        let access = if self.has(AttrKind::ReadNone) {
            return MemoryEffects::NONE;
        } else if self.has(AttrKind::ReadOnly) {
            ModRef::Ref
        } else if self.has(AttrKind::WriteOnly) {
            ModRef::Mod
        } else {
            ModRef::ModRef
        };
        let both = self.has(AttrKind::InaccessibleMemOrArgMemOnly);
        let inaccessible = both || self.has(AttrKind::InaccessibleMemOnly);
        let args = both || self.has(AttrKind::ArgMemOnly);
        let only = inaccessible || args;
        let pick = |allowed: bool| {
            if allowed || !only {
                access
            } else {
                ModRef::None
            }
        };
        MemoryEffects {
            args: pick(args),
            inaccessible: pick(inaccessible),
            other: pick(false),
        }
    }

    /// `allockind("...")`.
    pub fn alloc_kind(&self) -> Option<AllocKind> {
        self.int(AttrKind::AllocKind).map(AllocKind)
    }

    /// `allocsize(element[, count])`: the parameters that hold size and count.
    pub fn alloc_size(&self) -> Option<(u32, Option<u32>)> {
        const NO_COUNT: u32 = u32::MAX;
        let packed = self.int(AttrKind::AllocSize)?;
        let (size, count) = ((packed >> 32) as u32, packed as u32);
        Some((size, (count != NO_COUNT).then_some(count)))
    }
}

/// What a pointer argument may be captured as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Captures {
    /// Its address (or whether it is null) may be observed later.
    pub address: bool,
    /// A copy through which memory can be reached may remain.
    pub provenance: bool,
}

/// Kinds of access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ModRef {
    /// Neither reads nor writes.
    None,
    /// Reads.
    Ref,
    /// Writes.
    Mod,
    /// Reads and writes.
    ModRef,
}

impl ModRef {
    fn from_bits(bits: u64) -> Self {
        match bits & 3 {
            0 => Self::None,
            1 => Self::Ref,
            2 => Self::Mod,
            _ => Self::ModRef,
        }
    }

    /// May it write?
    pub fn writes(self) -> bool {
        matches!(self, Self::Mod | Self::ModRef)
    }

    /// May it read?
    pub fn reads(self) -> bool {
        matches!(self, Self::Ref | Self::ModRef)
    }
}

/// Which memory a function may touch, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MemoryEffects {
    /// Memory that its pointer arguments point to.
    pub args: ModRef,
    /// Memory that this module cannot see.
    pub inaccessible: ModRef,
    /// All other memory.
    pub other: ModRef,
}

impl MemoryEffects {
    /// Touches no memory.
    pub const NONE: Self = Self {
        args: ModRef::None,
        inaccessible: ModRef::None,
        other: ModRef::None,
    };

    fn from_encoded(bits: u64) -> Self {
        Self {
            args: ModRef::from_bits(bits),
            inaccessible: ModRef::from_bits(bits >> 2),
            other: ModRef::from_bits(bits >> 4),
        }
    }

    /// Writes nothing.
    pub fn only_reads(self) -> bool {
        !(self.args.writes() || self.inaccessible.writes() || self.other.writes())
    }

    /// Touches nothing.
    pub fn is_none(self) -> bool {
        self == Self::NONE
    }
}

/// The `allockind` bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AllocKind(pub u64);

impl AllocKind {
    /// Returns new memory.
    pub fn alloc(self) -> bool {
        self.0 & 1 != 0
    }
    /// Resizes what its `allocptr` argument points to.
    pub fn realloc(self) -> bool {
        self.0 & 2 != 0
    }
    /// Frees what its `allocptr` argument points to.
    pub fn free(self) -> bool {
        self.0 & 4 != 0
    }
    /// The new memory is uninitialised.
    pub fn uninitialized(self) -> bool {
        self.0 & 8 != 0
    }
    /// The new memory is zeroed.
    pub fn zeroed(self) -> bool {
        self.0 & 16 != 0
    }
}

/// The attributes of a function or call site.
#[derive(Debug, Clone, Copy)]
pub struct AttrList<'m> {
    pub(crate) entries: &'m [(u32, u32)],
    pub(crate) sets: &'m [AttrSet],
}

impl<'m> AttrList<'m> {
    /// Index that bitcode uses for the function itself.
    pub(crate) const FUNCTION: u32 = u32::MAX;

    fn at(&self, index: u32) -> &'m AttrSet {
        const EMPTY: &AttrSet = &AttrSet::EMPTY;
        self.entries
            .iter()
            .find(|(i, _)| *i == index)
            .and_then(|(_, set)| self.sets.get(*set as usize))
            .unwrap_or(EMPTY)
    }

    /// The list without attributes.
    pub const EMPTY: AttrList<'static> = AttrList {
        entries: &[],
        sets: &[],
    };

    /// Attributes of the function or call itself.
    pub fn function(&self) -> &'m AttrSet {
        self.at(Self::FUNCTION)
    }

    /// Attributes of the return value.
    pub fn ret(&self) -> &'m AttrSet {
        self.at(0)
    }

    /// Attributes of the parameter with this number, from 0.
    pub fn param(&self, index: usize) -> &'m AttrSet {
        self.at(u32::try_from(index).unwrap_or(Self::FUNCTION - 2) + 1)
    }
}
