//! How are terms made, and what is simplified on the way?
//!
//! Every constructor returns a term that is equal to what was asked for under all assignments (property-tested), in a
//! normal form that makes equal conditions meet in one id as often as a bounded, local rewriting can:
//!
//! - `leaf`: constants, symbols, addresses, uninterpreted functions, coercion of ill-sorted operands;
//! - `junction`: not, and, or, implies, iff, if-then-else (negations at the atoms; flat, sorted lists; complements);
//! - `linear`: add, sub, neg, multiplication and left shift by constants, as one sum with coefficients;
//! - `bitwise`: the remaining arithmetic, bitwise operators and shifts;
//! - `cast`: zext, sext, trunc;
//! - `equality` and `order`: comparisons, with constants moved to the right through invertible operators.
//!
//! Rewriting is local: a constructor looks at its operands and at most a few levels below (`MAX_LIFT_DEPTH`), never at
//! the whole term, so building a condition is linear in its size.

mod bitwise;
mod cast;
mod equality;
mod junction;
mod leaf;
mod linear;
mod order;

use crate::Terms;
use crate::term::TermId;

/// How deep a constructor may push an operator into its operand, in steps. Beyond it the operator stays outside: still
/// right, only less simplified.
const MAX_PUSH_DEPTH: u32 = 48;

/// Steps that a push into two operands counts for, so that shared operands can't make the work exponential.
const FORK: u32 = 8;

/// Steps that a push into one operand counts for.
const CHAIN: u32 = 1;

impl Terms {
    /// Runs a rewriting that calls constructors on parts of an operand; `None` if that goes too deep already.
    fn pushing(
        &mut self,
        steps: u32,
        rewrite: impl FnOnce(&mut Terms) -> TermId,
    ) -> Option<TermId> {
        if self.push_depth + steps > MAX_PUSH_DEPTH {
            return None;
        }
        self.push_depth += steps;
        let result = rewrite(self);
        self.push_depth -= steps;
        Some(result)
    }
}
