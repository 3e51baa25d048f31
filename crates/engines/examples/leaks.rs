//! Runs the default engine on bitcode files and prints findings, for work on the engine itself.
//!
//! `cargo run --example leaks -- [--summary] [--ledger] [--stats] FILE.bc …`

use drip_engines::staged;
use drip_models::Library;
use drip_program::{Input, LoadConfig, load};

fn main() -> std::process::ExitCode {
    let (flags, files): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|a| a.starts_with("--"));
    let has = |flag: &str| flags.iter().any(|f| f == flag);
    let mut inputs = Vec::new();
    for file in files {
        match std::fs::read(&file) {
            Ok(bytes) => inputs.push(Input { path: file, bytes }),
            Err(error) => {
                eprintln!("{file}: {error}");
                return std::process::ExitCode::from(2);
            }
        }
    }
    let start = std::time::Instant::now();
    let loaded = load(inputs, &LoadConfig::default());
    let load_time = start.elapsed();
    for problem in &loaded.problems {
        eprintln!("problem: {problem:?}");
    }
    let library = match Library::builtin() {
        Ok(library) => library,
        Err(error) => {
            eprintln!("{error}");
            return std::process::ExitCode::from(2);
        }
    };
    if has("--summary") {
        let summaries = staged::summaries(&loaded.program, &library);
        for (func, summary) in loaded.program.funcs.ids().iter().zip(&summaries) {
            if let Some(summary) = summary {
                print!("{}:\n{summary}", loaded.program.func_name(func));
            }
        }
        return std::process::ExitCode::SUCCESS;
    }
    let start = std::time::Instant::now();
    let analysis = staged::run(&loaded.program, &library);
    let run_time = start.elapsed();
    for finding in &analysis.findings {
        let at = &finding.primary;
        println!(
            "{}:{}:{}: {} {} [{}] {}",
            at.file,
            at.line,
            at.column,
            finding.rule.code(),
            finding.message,
            at.function,
            finding.condition.as_deref().unwrap_or("")
        );
        for lost in &finding.lost {
            println!("    {}:{}: {}", lost.at.file, lost.at.line, lost.text);
        }
    }
    if has("--ledger") {
        for entry in &analysis.ledger {
            println!(
                "{}:{} {} {:?} {}",
                entry.at.file, entry.at.line, entry.callee, entry.verdict, entry.reason
            );
        }
    }
    if has("--stats") {
        eprintln!(
            "load {load_time:?} run {run_time:?} findings {} {:?}",
            analysis.findings.len(),
            analysis.statistics
        );
    }
    std::process::ExitCode::SUCCESS
}
