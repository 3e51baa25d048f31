//! `cargo xtask bench`: figures that anybody can repeat.

mod frontend;
mod measure;

pub use frontend::build_drip;

use clap::Subcommand;
use std::path::Path;

#[derive(Subcommand)]
pub enum Bench {
    /// Reading, linking and SSA construction of one bitcode file against LLVM's `opt -passes=mem2reg`
    Frontend(frontend::Options),
}

/// Runs one benchmark; true if it could be measured.
pub fn run(root: &Path, what: &Bench) -> anyhow::Result<bool> {
    match what {
        Bench::Frontend(options) => frontend::run(root, options),
    }
}
