//! The numbers by which a module's parts refer to one another.
//!
//! All of them are indices exactly as LLVM's own reader counts: value numbers as in its ValueList,
//! type numbers as in the type table, metadata numbers as in its MetadataList.

use std::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The number as an index.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    };
}

id!(
    /// Index into [`crate::RawModule::types`].
    TypeId,
    "t"
);
id!(
    /// Absolute value number: module values first, then the arguments, constants and instructions of
    /// one function. A number at or above [`crate::RawModule::value_count`] only has a meaning
    /// together with a [`crate::RawBody`].
    ValueId,
    "v"
);
id!(
    /// A basic block of one function, in order; 0 is the entry.
    BlockId,
    "b"
);
id!(
    /// Metadata number: module metadata first, then the metadata of one function.
    MetadataId,
    "!"
);
id!(
    /// Index into the module's attribute lists, see [`crate::RawModule::attrs`].
    AttrListId,
    "#"
);
id!(
    /// Index into [`crate::RawBody::locs`].
    LocId,
    "loc"
);
id!(
    /// Index into [`crate::RawBody::calls`].
    CallId,
    "call"
);

/// A range of a body's or module's operand pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct PoolRange {
    /// First element.
    pub start: u32,
    /// Number of elements.
    pub len: u32,
}

impl PoolRange {
    /// Number of elements.
    pub fn len(self) -> usize {
        self.len as usize
    }

    /// Whether the range has no elements.
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// The elements of `pool` in this range; empty when the range lies outside.
    pub fn of<T>(self, pool: &[T]) -> &[T] {
        let start = self.start as usize;
        pool.get(start..start + self.len as usize).unwrap_or(&[])
    }
}
