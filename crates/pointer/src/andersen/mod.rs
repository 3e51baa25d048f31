//! Question: what can each pointer of the whole program point to? Andersen's analysis as SABER's pre-analysis has it (§4.1).
//!
//! Inclusion-based, flow- and context-insensitive; offset-based field-sensitive with arrays as one element; function pointers
//! resolved on the fly; allocation wrappers cloned per call site ([`instances`]); external functions by their models.
//!
//! Domain: for every node (pointer variable or memory location) a set of locations; order: inclusion; the solution is the
//! least one that satisfies every [`Constraint`]. A location is an object and a byte offset that is folded into the object's
//! layout ([`objects`]).
//!
//! The way of the data: [`instances`] (which functions are cloned) → [`System`] (constraints of all instances, one pass) →
//! [`solve`] (fast) or [`naive`] (its twin for the tests) → [`PointsTo`] (frozen). [`check`] tells whether a solution
//! satisfies its constraints, without sharing code with the solvers' propagation.
//!
//! Known limits: integers narrower than a pointer carry no pointers; an index that leaves its array is not followed; varargs
//! of one function are one variable; pointers to almost everything are given up ([`wide`]).

mod blocks;
mod call;
mod check;
mod constraint;
mod cycles;
mod effect;
mod external;
mod flows;
mod generate;
mod instances;
mod memory_edges;
mod moves;
mod naive;
mod objects;
mod points_to;
mod solve;
mod substitute;
mod text;
mod wave;
mod wide;

pub use call::{CallSite, Callee};
pub use check::{Broken, check};
pub use constraint::{Constraint, System};
pub use external::{ExternalCall, external_call};
pub use flows::{End, Flow, Memory, Refined};
pub use generate::copied_operands;
pub use instances::{CloneLimits, Instance, Instances};
pub use objects::{Object, ObjectKind, Objects};
pub use points_to::{PointsTo, SolverStatistics};

use drip_base::{Watch, entity_id};
use drip_models::Library;
use drip_program::Program;

entity_id! {
    /// A function, or a clone of an allocation wrapper for one call.
    pub struct InstanceId = "k";
    /// An abstract object of the whole program.
    pub struct ObjectId = "o";
    /// A memory location: an object and a folded byte offset.
    pub struct LocId = "m";
    /// A variable of the constraints: an SSA value of an instance, or what a location holds.
    pub struct NodeId = "p";
    /// An indirect call of an instance.
    pub struct CallId = "c";
}

/// A set of locations.
pub type LocSet = drip_base::SparseSet<LocId>;

/// Solves the whole program; `None` if the watch was stopped meanwhile.
pub fn analyse<'p>(
    program: &'p Program,
    library: &'p Library,
    watch: &Watch,
) -> Option<PointsTo<'p>> {
    solve::solve(
        System::build(program, library, &CloneLimits::default()),
        watch,
    )
}

/// The same by the textbook's algorithm: slow, short, and sharing no propagation with [`analyse`].
pub fn analyse_naively<'p>(program: &'p Program, library: &'p Library) -> PointsTo<'p> {
    naive::solve(System::build(program, library, &CloneLimits::default()))
}
