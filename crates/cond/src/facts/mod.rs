//! Stage 2: do equalities and intervals settle the query?
//!
//! An e-graph in the small: the query's subterms fall into classes of equal ones (union-find with congruence), and each
//! class has a [`domain::Range`]. Rules (`truth`, `sums`, `words`) carry facts from operands to terms and back until nothing
//! changes; cycles of orders are found by components (`order`); what is left of disjunctions is split into cases,
//! depth-first and with fuel (`search`); and in each consistent state a few assignments are tried (`guess`).
//!
//! Verdicts: "infeasible" when all cases are contradictory, "feasible" only with an assignment under which the query
//! evaluates to true. Everything else is handed on, with what is certain about the unknowns, to bit-blasting.
//!
//! Known limits: no facts about products beyond their size and trailing zeros, none about sums of several unknowns
//! beyond their intervals; the number of updates per class is bounded, so slowly converging cycles stay open.

mod domain;
mod graph;
mod guess;
mod order;
mod propagate;
mod search;
mod state;
mod sums;
mod truth;
mod words;

pub(crate) use search::{Settled, settle};
