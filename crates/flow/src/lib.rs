//! Use-flow graphs: what happens to one heap object along the paths of a function (SMOKE §III).
//!
//! Architecture invariant: knows one function and its callees' summaries; knows nothing of findings or of the program's
//! other functions. A [`Frame`] is frozen; explorations only read it.

mod alike;
mod apply;
pub mod arithmetic;
mod call;
mod control;
mod edge;
mod error_number;
mod explore;
mod forward;
mod frame;
mod graph;
mod handlers;
mod indices;
mod interface;
mod memory;
mod named;
mod plan;
mod relevance;
mod roots;
mod sources;
mod sparse;
mod state;
pub mod svfg;
mod text;
mod touches;
mod transfer;
mod type_descriptions;
mod values;
mod waiting;

pub use alike::alike;
pub use arithmetic::sort_of;
pub use error_number::{as_error_number, reads_error_number};
pub use explore::{
    EXITS_FUEL, FATE_FUEL, Following, Goal, MAX_STATES, Share, explore, explore_naively,
    explore_sparsely,
};
pub use forward::stored_just_before;
pub use frame::{Frame, WholeProgram, args_of, cell_of, region};
pub use graph::{Choice, Choices, End, EndKind, InEdge, Node, NodeId, UseFlow};
pub use handlers::Handlers;
pub use interface::{class_term, fitted, leaves_alone, path_term};
pub use relevance::{Decisions, Relevance, Scope, decisions};
pub use state::{Escape, Followed, Holds, Machine, Place, State, Where};
pub use values::{Symbol, Values, address_key};
