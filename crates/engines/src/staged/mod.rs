//! The default engine: bottom-up over the call graph, one function at a time, in stages (SMOKE §III; Saturn §4 for the
//! modular summaries). `docs/engine.md` tells the whole story; here is the order of the rooms:
//!
//! `calls` (what each call does) → `drip_flow::Frame` (memory, values) → `objects` (what to follow) →
//! `drip_flow::explore` (candidate paths) → `trials` (can they happen? `feasible`, `region`) → `report` (finding, ledger) → `summarize`
//! (what callers need to know).

mod afterwards;
mod alternatives;
mod beliefs;
mod births;
mod bits;
mod borrowed;
mod bound;
mod callers;
mod calls;
mod causes;
mod classes;
mod codes;
mod convincing;
mod counts;
mod delegates;
mod doubts;
mod driver;
mod effects;
mod execute;
mod exits;
mod fates;
mod feasible;
mod filling;
mod flags;
mod forgotten;
mod function;
mod granted;
mod grown;
mod held;
mod hooks;
mod inevitable;
mod inspect;
mod interface;
mod kept;
mod keys;
mod known;
mod marks;
mod merge;
mod names;
mod narrow;
mod nulls;
mod objects;
mod once;
mod outside;
mod paths;
mod possible;
mod questions;
mod refusals;
mod region;
mod repeated;
mod replay;
mod report;
mod rests;
mod settings;
mod several;
mod shown;
mod summarize;
mod threads;
mod told;
mod trials;
mod turns;
mod unify;
mod untouched;
mod varargs;
mod ways;
mod zeroed;

pub use driver::{Options, Summaries, run, run_watched, summaries};
pub use inspect::{Inspection, inspect};
