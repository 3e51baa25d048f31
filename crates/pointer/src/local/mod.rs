//! The modular points-to oracle: what the pointers of one function point to, given the summaries of its callees.

mod aggregates;
mod effects;
mod object;
mod query;
mod solve;
pub mod text;

pub use object::{Cell, CellId, Loc, MAX_ENTRY_DEPTH, Memory, ObjId, ObjKind, Object};
pub use solve::{CallTable, LocSet, LocalMemory, MAX_ASKED_BYTES, Source, Sources};
