//! What can go wrong while reading bitcode.
//!
//! Invariant: every error names the file and the bit where reading stopped; nothing in this crate
//! panics, whatever the bytes are. An error of one function body never spoils the module: it is
//! returned by [`crate::RawModule::decode_body`] for that function only.

use std::sync::Arc;

/// A failure to read a module or one function body.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}: byte {}: {what}", bit / 8)]
pub struct Error {
    /// The name that the caller gave for the input.
    pub file: Arc<str>,
    /// Bit position in the input file at which reading stopped.
    pub bit: u64,
    /// What was wrong there.
    pub what: ErrorKind,
}

impl Error {
    /// Byte offset in the input file at which reading stopped.
    pub fn offset(&self) -> u64 {
        self.bit / 8
    }
}

/// The kinds of failures.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ErrorKind {
    /// Neither bitcode, nor a wrapper, nor an object file with embedded bitcode.
    #[error("not LLVM bitcode")]
    NotBitcode,
    /// An object file without a bitcode section (built without `-fembed-bitcode`).
    #[error("object file without embedded bitcode ({0})")]
    NoBitcodeSection(String),
    /// The input ends inside a record or block.
    #[error("unexpected end of input")]
    UnexpectedEnd,
    /// The bitstream itself (abbreviations, blocks) is malformed.
    #[error("malformed bitstream: {0}")]
    Bitstream(&'static str),
    /// A record of a known kind does not have the shape that the format asks for.
    #[error("invalid {0} record")]
    InvalidRecord(&'static str),
    /// A record refers to a type that does not exist.
    #[error("type number {0} does not exist")]
    NoSuchType(u64),
    /// A record refers to a value that does not exist.
    #[error("value number {0} does not exist")]
    NoSuchValue(u64),
    /// A record refers to a basic block that does not exist.
    #[error("block number {0} does not exist")]
    NoSuchBlock(u64),
    /// The type that a value has does not fit the record that uses it.
    #[error("operand type does not fit {0}")]
    TypeMismatch(&'static str),
    /// The type table lacks the type of an instruction's result.
    #[error("no entry in the type table for the result of {0}")]
    NoResultType(&'static str),
    /// A record code of a newer or unknown format.
    #[error("unknown {block} record code {code}")]
    UnknownRecord {
        /// Which block the record stands in.
        block: &'static str,
        /// Its code.
        code: u64,
    },
    /// A newer bitcode epoch or module version.
    #[error("unsupported bitcode {what} {number}")]
    Unsupported {
        /// What is unsupported ("epoch", "module version").
        what: &'static str,
        /// The number found.
        number: u64,
    },
    /// A named limit of this crate was exceeded.
    #[error("limit exceeded: {0}")]
    Limit(&'static str),
    /// The function has no body in this module.
    #[error("function {0} has no body here")]
    NoBody(usize),
}

/// Shorthand for results of this crate.
pub type Result<T> = std::result::Result<T, Error>;
