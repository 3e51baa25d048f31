//! What functions do to memory: the [`Summary`] type that library models and computed functions share.
//!
//! Architecture invariant: no analysis here; summaries are data.

pub mod library;
pub mod qualified;
pub mod summary;
pub mod text;
pub mod threads;

pub use library::{Families, Library, ModelError};
pub use qualified::Qualified;
pub use summary::*;
pub use threads::Starter;
