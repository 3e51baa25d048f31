//! `drip completions SHELL`.

use crate::args::Cli;
use crate::exit::Exit;
use crate::output;
use clap::CommandFactory;

pub fn run(shell: clap_complete::Shell) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "drip", &mut script);
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Clean)
}
