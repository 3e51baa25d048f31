//! What pointers point to: the modular oracle of one function ([`local`]) and the program's call graph.
//!
//! Architecture invariant: knows summaries as data; knows nothing of leaks, paths or findings.

pub mod callgraph;
pub mod local;

pub use callgraph::{CallGraph, Callees};
pub use local::{Cell, CellId, Loc, LocalMemory, Memory, ObjId, ObjKind, Object};
