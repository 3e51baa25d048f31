//! Runs SABER on bitcode files and prints findings and counts, for work on the engine itself.
//!
//! `cargo run --release --example saber -- [--pts] [--memssa] [--svfg] [--ledger] FILE.bc …`

use drip_base::Watch;
use drip_engines::saber;
use drip_models::Library;
use drip_program::{Input, LoadConfig, load};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (flags, files): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|a| a.starts_with("--"));
    let has = |flag: &str| flags.iter().any(|f| f == flag);
    let mut inputs = Vec::new();
    for path in files {
        let bytes = std::fs::read(&path)?;
        inputs.push(Input { path, bytes });
    }
    let start = std::time::Instant::now();
    let loaded = load(inputs, &LoadConfig::default());
    eprintln!("load {:.3} s", start.elapsed().as_secs_f64());
    let library = Library::builtin()?;
    if has("--pts") || has("--memssa") || has("--svfg") {
        let inspection = saber::inspect(&loaded.program, &library, &Watch::default())
            .ok_or("nobody stops it")?;
        if has("--pts") {
            print!("{}", inspection.points_to(None));
        }
        if has("--memssa") {
            print!("{}", inspection.memory_ssa(None));
        }
        if has("--svfg") {
            print!("{}", inspection.svfg(None));
        }
        return Ok(());
    }
    let (analysis, statistics) = saber::run(&loaded.program, &library);
    for finding in &analysis.findings {
        let at = &finding.primary;
        println!(
            "{}:{}:{}: {} {} [{}]",
            at.file,
            at.line,
            at.column,
            finding.rule.code(),
            finding.message,
            at.function,
        );
    }
    if has("--ledger") {
        for entry in &analysis.ledger {
            println!(
                "{}:{} {} {:?} {}",
                entry.at.file, entry.at.line, entry.callee, entry.verdict, entry.reason
            );
        }
    }
    eprint!("{}", statistics.text());
    eprintln!("findings {}", analysis.findings.len());
    Ok(())
}
