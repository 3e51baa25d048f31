//! Leak detection engines: from a linked [`Program`](drip_program::Program) to findings and a ledger.
//!
//! Architecture invariant: no input or output here; a [`Finding`] is in source terms and needs no program to be shown.

pub mod finding;
pub mod saber;
pub mod staged;
mod statistics;

pub use finding::{
    AllocationLink, Analysis, Confidence, Finding, LedgerEntry, LostPoint, Rule, SourcePos, Step,
    StepKind, Verdict,
};
pub use statistics::{Answers, Counts, Regions, Settled, SettledBy, Stages, Statistics, Times};
