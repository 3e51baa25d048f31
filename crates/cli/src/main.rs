//! The `drip` command. Under a compiler's name it is that compiler's wrapper; else it runs the subcommand that was asked for.
//!
//! Architecture invariant: all reading and writing of files that is not capture's happens in this crate.

mod args;
mod commands;
mod config;
mod config_keys;
mod config_models;
mod engine;
mod exit;
mod git;
mod glob;
mod hidden;
mod inputs;
mod last_run;
mod output;
mod pipeline;
mod sources;
mod stop;
mod timing;
mod ui;

use args::{Cli, Command};
use clap::Parser;
use exit::Exit;
use std::process::ExitCode;
use ui::Ui;

#[cfg(not(target_env = "musl"))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let mut words = std::env::args_os();
    let name = words.next().unwrap_or_default();
    if drip_capture::is_wrapper_invocation(&name) {
        return drip_capture::wrapper_main(&name, words);
    }
    // Clap itself ends with 2 on wrong usage and with 0 after --help.
    let cli = Cli::parse();
    exit::install_panic_message();
    let ui = Ui::new(&cli.global);
    log_to_stderr();
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run(&cli, &ui)));
    match result {
        Ok(Ok(code)) => code.into(),
        Ok(Err(error)) => {
            ui.error(&error);
            Exit::Failure.into()
        }
        // The message has been printed where it happened.
        Err(_) => Exit::Internal.into(),
    }
}

/// Logs are for people who work on drip itself; `DRIP_LOG` names what they want to see, in the language of `RUST_LOG`.
fn log_to_stderr() {
    if let Ok(filter) = tracing_subscriber::EnvFilter::try_from_env("DRIP_LOG") {
        tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_writer(std::io::stderr)
            .without_time()
            .init();
    }
}

fn run(cli: &Cli, ui: &Ui) -> anyhow::Result<Exit> {
    match &cli.command {
        Command::Check(args) => commands::check::run(args, ui),
        Command::Capture(args) => commands::capture::run(args, ui),
        Command::Explain(args) => commands::explain::run(args, ui),
        Command::Ledger(args) => commands::ledger::run(args, ui),
        Command::Baseline(args) => commands::baseline::run(args, ui),
        Command::Models(args) => commands::models::run(args, ui),
        Command::Dump(args) => commands::dump::run(args, ui),
        Command::Compare(args) => commands::compare::run(args, ui),
        Command::Doctor(args) => commands::doctor::run(args, ui),
        Command::Init => commands::init::run(ui),
        Command::Clean => commands::clean::run(ui),
        Command::Completions { shell } => commands::completions::run(*shell),
        Command::Man { directory } => commands::man::run(directory.as_deref()),
    }
}
