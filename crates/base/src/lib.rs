//! The ground floor: typed ids, the vectors and sets they index, and graph algorithms.
//!
//! Nothing here knows of LLVM, of C, or of leaks. Every algorithm is iterative (a function may have
//! 10,000 blocks, a program a call chain as long) and deterministic: results depend on ids and edge
//! order only, never on hashing or addresses.
//!
//! | question | where |
//! |---|---|
//! | how do I name things by number without mixing them up? | [`entity_id!`], [`EntityId`], [`IdRange`] |
//! | a vector indexed by such a name, mutable and frozen | [`IndexVec`], [`FrozenIndexVec`] |
//! | a set of ids: dense, or few among many | [`IdSet`], [`SparseSet`] |
//! | a small map that is copied often | [`SortedMap`] |
//! | what is still to be visited, in which order | [`Worklist`], [`RankedWorklist`] |
//! | successors of a node | [`Graph`] |
//! | an order in which most predecessors come first | [`Rpo`] |
//! | cycles, and an order in which callees come first | [`Sccs`] |
//! | who dominates whom, where do definitions meet | [`Dominators`], [`PostDominators`], [`Frontiers`] |
//! | which blocks form a loop | [`LoopForest`] |
//! | how far is the work, and should it end early? | [`Watch`] |

mod dom;
mod frontier;
mod graph;
mod id;
mod id_set;
mod index_vec;
mod loops;
mod order;
mod postdom;
mod scc;
mod sorted_map;
mod sparse_set;
mod watch;
mod worklist;

pub use dom::Dominators;
pub use frontier::Frontiers;
pub use graph::{Graph, GraphBuilder};
pub use id::{EntityId, IdRange};
pub use id_set::IdSet;
pub use index_vec::{FrozenIndexVec, IndexVec};
pub use loops::{LoopForest, LoopId};
pub use order::{Rpo, postorder};
pub use postdom::PostDominators;
pub use scc::{SccId, Sccs, scc};
pub use sorted_map::SortedMap;
pub use sparse_set::SparseSet;
pub use watch::Watch;
pub use worklist::{RankedWorklist, Worklist};
