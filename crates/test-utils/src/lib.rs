//! Tests on annotated C and C++ programs: marks in the sources say what must be reported, and nothing
//! else may be.
//!
//! ```no_run
//! use drip_test_utils::{Clang, Corpus, Mode, Reported, compile};
//!
//! let clang = Clang::find(19).unwrap();
//! let analyse = |sources: &[std::path::PathBuf]| {
//!     let bitcode = compile(sources, &clang, Mode::Capture)?;
//!     // … run the engine on `bitcode`, turn its findings into:
//!     # drop(bitcode);
//!     anyhow::Ok(Vec::<Reported>::new())
//! };
//! Corpus::load("corpus/intra").unwrap().run(analyse).assert_ok();
//! ```
//!
//! | question | where |
//! |---|---|
//! | what does a mark look like? | [`marks`] |
//! | which files are one program, and how are they run? | [`Corpus`], [`Case`] |
//! | what counts as a mismatch? | [`Mismatch`] |
//! | findings out of `drip check --output-format sarif` | [`sarif_runner`], [`reported_from_sarif`] |
//! | is that SARIF valid? | [`sarif_schema_errors`] |
//! | does a document's session run as it is written? | [`Session`] |
//! | clang, and bitcode from it | [`Clang`], [`compile`], [`Mode`] |
//!
//! A missing clang is an error, never a skipped test.

mod bless;
mod cache;
mod clang;
mod compare;
mod compile;
mod corpus;
pub mod marks;
mod sarif;
mod schema;
mod session;

pub use clang::{Clang, ClangMissing};
pub use compare::{Mismatch, Reported, SourceLine};
pub use compile::{Mode, compile, compile_with};
pub use corpus::{Case, Corpus, Failure, Verdict};
pub use sarif::{reported_from_sarif, sarif_runner};
pub use schema::sarif_schema_errors;
pub use session::Session;
