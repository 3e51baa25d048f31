//! Programs for the tests of this crate and of all that stand on it (feature `testing`).
//!
//! - [`program`]: a program from its text, verified;
//! - [`random_program`]: a well-formed program from any bytes, which a property test or a fuzzer chooses. Fewer bytes make a
//!   smaller program, so shrinking the bytes shrinks the program:
//!   `proptest::collection::vec(any::<u8>(), 0..400).prop_map(|bytes| random_program(&bytes, &Shape::default()))`;
//! - [`differences`]: where two programs differ in structure, whatever the numbers of their types, strings, constants and
//!   positions. Independent of the printer.
//!
//! Everything here panics on errors: it is for tests.

mod choices;
mod random_body;
mod random_flow;
mod random_inst;
mod random_items;
mod same;

pub use choices::Choices;
pub use random_items::random_program;
pub use same::differences;

use crate::model::Program;
use crate::{parse_program, verify};

/// Reads a program and verifies it.
#[track_caller]
pub fn program(text: &str) -> Program {
    let program = match parse_program(text) {
        Ok(program) => program,
        Err(error) => {
            let line = text.lines().nth(error.line.saturating_sub(1) as usize);
            panic!("{error}\n{}", line.unwrap_or_default());
        }
    };
    let errors = verify(&program);
    if let Some(first) = errors.first() {
        panic!("{} rules broken, first {first}\n{program}", errors.len());
    }
    program
}

/// How large random programs get, and what they may contain.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Most functions with a body.
    pub funcs: usize,
    /// Most blocks of a function.
    pub blocks: usize,
    /// Most instructions of a block, phis and terminator not counted.
    pub insts: usize,
    /// Also what is rare in C: exceptions, computed and assembly jumps, atomics, vectors, opaque operations, aggregates.
    pub exotic: bool,
    /// Also unreachable blocks, edges into the middle of loops, and jumps backwards at will; else only forward edges, and
    /// backward ones to blocks that dominate their source: reducible loops.
    pub wild_flow: bool,
}

impl Default for Shape {
    fn default() -> Self {
        Shape {
            funcs: 4,
            blocks: 12,
            insts: 6,
            exotic: true,
            wild_flow: true,
        }
    }
}

impl Shape {
    /// Programs as a C compiler makes them: nothing exotic, reducible loops, everything reachable.
    pub fn plain_c() -> Self {
        Shape {
            exotic: false,
            wild_flow: false,
            ..Shape::default()
        }
    }
}
