//! SABER's sparse value-flow graph of the whole program (§4.2.2–4.3): where does a value go, through variables and memory,
//! within and across functions?
//!
//! [`refine`] makes the points-to sets of one instance flow-sensitive (§4.1); [`regions`] partitions the memory that one instance accesses and annotates its statements with μ and χ (fig. 4); crate
//! `memssa` versions them; [`build()`] connects definitions by the rules of fig. 6.
//!
//! Nodes are definitions: of SSA values, of versions of regions; pseudo-parameters μ(R) of calls; sources and sinks. Edges say
//! where a definition is used, and across calls by which parenthesis. Deviations: one node per *shared* location (see
//! `drip_pointer::modref`), reached and left without regard to order and context; values that point to no heap block have no
//! node, since no source can reach them.
//! INVARIANTS: edges of a node are sorted and unique; node and site ids do not depend on the number of threads.

mod build;
mod graph;
mod refine;
mod regions;
mod text;

pub use build::{Inputs, Memories, build, memories};
pub use graph::{Edge, EdgeKind, Node, NodeId, Place, SiteId, Svfg, Use};
pub use refine::Exposure;
pub use regions::{Context, FunctionMemory, Region};
pub use text::Namer;
