//! Loads bitcode files and prints times, counts and peak memory: `load [--print] [--threads N] [--verify] FILE…`.

use std::process::ExitCode;

use drip_program::{Input, LoadConfig, Type, load, print_program, verify};

fn main() -> ExitCode {
    let mut print = false;
    let mut check = false;
    let mut threads = 1;
    let mut inputs = Vec::new();
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--print" => print = true,
            "--verify" => check = true,
            "--threads" => threads = args.next().and_then(|n| n.parse().ok()).unwrap_or(1),
            _ => match std::fs::read(&arg) {
                Ok(bytes) => inputs.push(Input { path: arg, bytes }),
                Err(error) => {
                    eprintln!("{arg}: {error}");
                    return ExitCode::FAILURE;
                }
            },
        }
    }
    let pool = match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
        Ok(pool) => pool,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    let size: usize = inputs.iter().map(|i| i.bytes.len()).sum();
    let start = std::time::Instant::now();
    let loaded = pool.install(|| load(inputs, &LoadConfig::default()));
    let total = start.elapsed();
    let (program, figures) = (&loaded.program, &loaded.statistics);
    for problem in loaded.problems.iter().take(20) {
        println!("problem: {problem}");
    }
    println!(
        "parse {:.1?}, link {:.1?}, lower {:.1?}, names {:.1?}, verify {:.1?}, total {total:.1?}",
        figures.parse, figures.link, figures.lower, figures.names, figures.verify
    );
    let declared = program.funcs.iter().filter(|f| f.body.is_none()).count();
    println!(
        "{} modules, {} bodies, {declared} declared, {} globals, {} instructions, {} types, {} source types, {} strings, {} problems",
        figures.modules,
        figures.bodies,
        program.globals.len(),
        figures.instructions,
        program
            .types
            .iter()
            .filter(|(_, t)| !matches!(t, Type::Other))
            .count(),
        program.di_types.len(),
        program.strings.len(),
        loaded.problems.len(),
    );
    if let Some(peak) = peak_kib() {
        println!(
            "peak {peak} KiB = {:.1} x input",
            peak as f64 * 1024.0 / size as f64
        );
    }
    if check {
        let start = std::time::Instant::now();
        let errors = verify(program);
        for error in errors.iter().take(20) {
            println!("verify: {error}");
        }
        println!("verify: {} errors in {:.1?}", errors.len(), start.elapsed());
    }
    if print {
        print!("{}", print_program(program));
    }
    ExitCode::SUCCESS
}

/// Peak resident memory of this process.
fn peak_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
