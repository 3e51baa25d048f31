//! What functions do to memory: the [`Summary`] type that library models and computed functions share.
//!
//! Architecture invariant: no analysis here; summaries are data.

pub mod summary;

pub use summary::*;
