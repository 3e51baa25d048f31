//! What an engine tells: findings, the ledger of every allocation site, and what was covered.
//!
//! Everything here is in source terms and self-contained: a report needs no program.

use serde::Serialize;

use crate::statistics::Statistics;

/// Why memory leaks. Precedence on overlap: D004 over D003 over D002 over D001.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub enum Rule {
    /// Allocated and freed on no path.
    D001,
    /// Freed or handed over on some paths, lost on another.
    D002,
    /// The last reference is overwritten.
    D003,
    /// The object that held the last reference is freed.
    D004,
    /// Still held by `main` when the program ends (off by default).
    D005,
}

impl Rule {
    pub const ALL: [Rule; 5] = [Rule::D001, Rule::D002, Rule::D003, Rule::D004, Rule::D005];

    pub fn code(self) -> &'static str {
        match self {
            Rule::D001 => "D001",
            Rule::D002 => "D002",
            Rule::D003 => "D003",
            Rule::D004 => "D004",
            Rule::D005 => "D005",
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            Rule::D001 => "memory is never freed",
            Rule::D002 => "memory is not freed on some path",
            Rule::D003 => "last reference to memory is overwritten",
            Rule::D004 => "memory is lost when its owner is freed",
            Rule::D005 => "memory is still held when the program ends",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    Low,
    Medium,
    High,
}

/// A place in the source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct SourcePos {
    pub file: String,
    pub line: u32,
    pub column: u32,
    pub function: String,
}

/// One link of the allocation chain, outermost call first.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct AllocationLink {
    pub at: SourcePos,
    /// The function called there.
    pub callee: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct LostPoint {
    pub at: SourcePos,
    /// "`p` is overwritten here, last reference lost".
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum StepKind {
    Allocation,
    Branch,
    Call,
    Lost,
}

/// One step of the shown path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    pub kind: StepKind,
    pub at: SourcePos,
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Stable under line shifts: hashes names, not numbers.
    pub id: String,
    pub rule: Rule,
    pub confidence: Confidence,
    /// The allocation or handing-out call in the function that loses the memory.
    pub primary: SourcePos,
    /// What held it: `ctx->name`.
    pub variable: Option<String>,
    pub message: String,
    pub allocation: Vec<AllocationLink>,
    pub lost: Vec<LostPoint>,
    pub path: Vec<Step>,
    /// "when `len >= 10` and `init()` returns 0".
    pub condition: Option<String>,
    /// Deallocator family: `malloc`, `new`, `new[]` …
    pub family: String,
}

/// What becomes of an allocation site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    Freed,
    HandedOver,
    Escaped,
    Leak,
    Undecided,
    GivenUp,
    HeldAtEnd,
    Unreachable,
}

/// One allocation site (or handing-out call) and its fate in one function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LedgerEntry {
    pub at: SourcePos,
    pub callee: String,
    pub verdict: Verdict,
    pub reason: String,
}

/// The result of a run, sorted by place.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Analysis {
    pub findings: Vec<Finding>,
    pub ledger: Vec<LedgerEntry>,
    pub statistics: Statistics,
}
