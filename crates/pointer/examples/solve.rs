//! Solves the points-to constraints of bitcode files and prints times and counts, for work on the solver itself.
//!
//! `cargo run --release -p drip-pointer --example solve -- [--check] FILE.bc …`; `--check` looks at every constraint again.

use std::time::Instant;

use drip_base::Watch;
use drip_models::Library;
use drip_pointer::andersen;
use drip_program::{Input, LoadConfig, load};

/// Broken constraints that are shown.
const MAX_SHOWN: usize = 10;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (flags, files): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|a| a.starts_with("--"));
    let mut inputs = Vec::new();
    for path in files {
        let bytes = std::fs::read(&path)?;
        inputs.push(Input { path, bytes });
    }
    let start = Instant::now();
    let loaded = load(inputs, &LoadConfig::default());
    eprintln!("load {:.3} s", start.elapsed().as_secs_f64());
    let library = Library::builtin()?;
    let start = Instant::now();
    let points_to =
        andersen::analyse(&loaded.program, &library, &Watch::default()).ok_or("nobody stops it")?;
    eprintln!(
        "solve {:.3} s, {:?}",
        start.elapsed().as_secs_f64(),
        points_to.statistics
    );
    if flags.iter().any(|flag| flag == "--check") {
        let start = Instant::now();
        let broken = andersen::check(&points_to, MAX_SHOWN);
        broken.iter().for_each(|b| println!("{b}"));
        eprintln!(
            "check {:.3} s, {} broken",
            start.elapsed().as_secs_f64(),
            broken.len()
        );
    }
    Ok(())
}
