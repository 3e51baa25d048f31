//! Conditions of drip and the solvers that decide them.
//!
//! [`Terms`] holds hash-consed terms over bit-vectors and booleans; [`check`] decides whether a conjunction of them can
//! hold, in stages of rising price (SMOKE, section III-B): contradiction filter, congruence and intervals, bit-blasting
//! to SAT. All limits are fuel, so verdicts don't depend on the machine.
//!
//! Architecture invariant: this crate knows nothing about programs. Values, objects and functions are the client's
//! numbers ([`SymId`], [`ObjKey`], [`FnKey`]); which branch or load a term stands for is the client's business.

pub mod address;
mod answer;
mod blast;
mod build;
mod check;
mod components;
mod display;
mod eval;
mod facts;
mod filter;
#[cfg(feature = "z3")]
pub mod oracle;
mod session;
mod statistics;
mod substitute;
mod term;
mod terms;

pub use answer::{Answer, Budget, Cost, Evaluator, Model, Stage, Verdict};
pub use blast::to_dimacs;
pub use check::{check, check_counted};
pub use display::Names;
pub use eval::{Assignment, Values};
pub use session::Session;
pub use statistics::{StageFigures, Statistics};
pub use term::{
    BinOp, FnKey, Linear, MAX_WIDTH, ObjKey, Sort, SymId, TermId, TermKind, mask, sign_bit,
    to_signed,
};
pub use terms::Terms;
