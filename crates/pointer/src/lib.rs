//! What pointers point to: the modular oracle of one function ([`local`]) and the program's call graph.
//!
//! Architecture invariant: knows summaries as data; knows nothing of leaks, paths or findings.

pub mod andersen;
mod callbacks;
pub mod callgraph;
mod constants;
mod instances;
pub mod local;
pub mod modref;
pub mod owners;
mod vtables;

pub use callgraph::{CallGraph, Callees};
pub use constants::constant_globals;
pub use local::{Cell, CellId, Loc, LocalMemory, Memory, ObjId, ObjKind, Object};
