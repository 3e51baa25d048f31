//! Stage 3: is there an assignment of bits?
//!
//! Saturn's method: every word becomes its bits, every operator a circuit, every circuit clauses (Tseitin), and a SAT
//! solver decides. Complete for the whole term language within its fuel:
//!
//! - `gates`: and, xor, if-then-else of bits with constant folding and structural hashing, and their clauses;
//! - `words`: adders, multipliers, dividers, shifters and comparators;
//! - `encode`: terms to words, using what the interval stage found out about the unknowns;
//! - `solve`: the loop around the SAT solver that adds what its models get wrong about functions and addresses.

mod dimacs;
mod encode;
mod gates;
mod sat;
mod solve;
mod words;

pub use dimacs::to_dimacs;
pub(crate) use encode::LeafFacts;
pub(crate) use solve::{Outcome, solve};
