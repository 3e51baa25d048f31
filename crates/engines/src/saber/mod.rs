//! SABER as its papers have it: whole-program, sparse, path-sensitive by guards (ISSTA 2012, TSE 2014). The reference that
//! the default engine is compared with. `docs/saber.md` tells the whole story; the order of the rooms is the paper's fig. 1:
//!
//! `drip_pointer::andersen` (pre-analysis) → `drip_pointer::modref` → `drip_flow::svfg` (full-sparse SSA, value-flow graph) →
//! `slice` (some-path analysis) → `guard` (all-path analysis) → `report` (findings, ledger).
//!
//! Known false alarms: conditions that are equal but not the same comparison; loops that need more than one turn; arrays as one
//! element. Known misses: a source that reaches a global on one path only (assumption 1); a block that is freed on one of two
//! ways it is handed to.

mod bdd;
mod condition;
mod driver;
mod guard;
mod inspect;
mod names;
mod report;
mod slice;
mod statistics;

pub use bdd::{Bdd, Bdds};
pub use condition::{Condition, Test};
pub use driver::{Detection, Facts, Options, run, run_watched};
pub use guard::Guards;
pub use inspect::{Inspection, inspect};
pub use slice::{Fate, Slice};
pub use statistics::Statistics;
