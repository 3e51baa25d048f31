//! Development tasks of the project: `cargo xtask tidy | bless | bench | determinism`.

mod bench;
mod bless;
mod determinism;
mod tidy;

use anyhow::Context;
use clap::{Parser, Subcommand};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Development tasks of drip")]
struct Options {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Checks the house rules: sizes, dependency direction, headers, docs/rules.md, forbidden words
    Tidy {
        /// Also list files and functions that are larger than they should be
        #[arg(short, long)]
        verbose: bool,
    },
    /// Runs the tests and accepts new snapshots and corpus marks that got better
    Bless {
        /// Words for `cargo test`, e.g. `-p drip-program`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        cargo_args: Vec<String>,
    },
    /// Measures
    Bench(Box<bench::Bench>),
    /// Runs drip many times with several numbers of threads and compares the reports byte by byte
    Determinism(determinism::Options),
}

fn main() -> ExitCode {
    let options = Options::parse();
    let done = repository().and_then(|root| match options.task {
        Task::Tidy { verbose } => tidy::run(&root, verbose),
        Task::Bless { cargo_args } => bless::run(&root, &cargo_args),
        Task::Bench(what) => bench::run(&root, &what),
        Task::Determinism(options) => determinism::run(&root, &options),
    });
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The repository: the directory above this package's manifest.
fn repository() -> anyhow::Result<PathBuf> {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .map(Path::to_path_buf)
        .context("xtask's manifest is not inside a repository")
}
