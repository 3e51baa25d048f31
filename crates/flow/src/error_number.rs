//! `errno`: after a failure it is not zero.
//!
//! `if (fd < 0) return -errno;` returns something negative; callers that test it are right. Read without having been set to zero in the
//! same function, `errno` is the number of an error (ISO C 7.5, POSIX: never zero after a failure; whoever reads it has seen one).

use drip_cond::{Sort, TermId, Terms};
use drip_program::{Body, Const, Op, Operand, Program};

/// Functions that return the address of `errno`: glibc and musl, BSD and bionic, macOS.
const ADDRESS_OF_ERRNO: [&str; 3] = ["__errno_location", "__errno", "__error"];

/// No error has a greater number than this, less one.
const ERRORS: u64 = 4096;

fn is_errno(program: &Program, body: &Body, addr: Operand) -> bool {
    let def = addr.as_value().and_then(|value| body.def(value));
    let Some(Op::Call { callee, .. }) = def.map(|inst| body.insts[inst].op) else {
        return false;
    };
    match body.const_of(callee) {
        Some(&Const::Func(func)) => ADDRESS_OF_ERRNO.contains(&program.func_name(func)),
        _ => false,
    }
}

/// Does a load from this address read the number of an error?
pub fn reads_error_number(program: &Program, body: &Body, addr: Operand) -> bool {
    let is_cleared = |op: &Op| match *op {
        Op::Store { addr, value } => {
            let is_zero = match body.const_of(value) {
                Some(Const::Int { bits, .. }) => *bits == 0,
                Some(Const::Zero(_)) => true,
                _ => false,
            };
            is_zero && is_errno(program, body, addr)
        }
        _ => false,
    };
    is_errno(program, body, addr) && !body.insts.iter().any(|data| is_cleared(&data.op))
}

/// A loaded word as the number of an error.
pub fn as_error_number(terms: &mut Terms, word: TermId) -> TermId {
    let Sort::Bits(width) = terms.sort(word) else {
        return word;
    };
    let mask = terms.int(width, ERRORS - 1);
    let one = terms.int(width, 1);
    let number = terms.band(word, mask);
    terms.add(number, one)
}
