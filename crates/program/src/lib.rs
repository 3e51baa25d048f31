//! Many bitcode modules → one linked [`Program`] in SSA form, with byte layout, source positions and names.
//!
//! Architecture invariant: this crate knows nothing of leaks, of allocation functions or of any analysis.

pub mod address_taken;
pub mod body;
pub mod builder;
pub mod cfg;
pub mod dead_ends;
mod debug_info;
pub mod ids;
mod link;
pub mod load;
mod lower;
pub mod model;
pub mod noreturn;
pub mod parse;
pub mod print;
mod promote;
mod syntax;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod types;
pub mod verify;

pub use body::*;
pub use cfg::{Cfg, EdgeId};
pub use debug_info::name_in_source;
pub use ids::*;
pub use load::{Input, LoadConfig, Loaded, Problem, ProblemKind, Statistics, load};
pub use model::*;
pub use parse::{ParseError, parse_program};
pub use print::{print_dot, print_function, print_program};
pub use types::*;
pub use verify::{VerifyError, verify};
