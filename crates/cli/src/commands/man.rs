//! `drip man [DIR]`: the manual pages.

use crate::args::Cli;
use crate::exit::Exit;
use crate::output;
use anyhow::Context;
use clap::CommandFactory;
use std::path::Path;

pub fn run(directory: Option<&Path>) -> anyhow::Result<Exit> {
    let mut command = Cli::command();
    command.build();
    let Some(dir) = directory else {
        output::print(&page(command)?)?;
        return Ok(Exit::Clean);
    };
    std::fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    for sub in command.get_subcommands() {
        let name = format!("drip-{}", sub.get_name());
        // clap keeps names for the life of the program.
        let sub = sub.clone().name(&*String::leak(name.clone()));
        output::write_file(&dir.join(format!("{name}.1")), &page(sub)?)?;
    }
    output::write_file(&dir.join("drip.1"), &page(command)?)?;
    Ok(Exit::Clean)
}

fn page(command: clap::Command) -> anyhow::Result<String> {
    let mut text = Vec::new();
    clap_mangen::Man::new(command).render(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
