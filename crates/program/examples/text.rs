//! Loads bitcode files, verifies the program, prints it, reads it back and prints it again; says how long each step took
//! with one thread, and fails where a rule is broken or the two texts differ: `text FILE…`.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use drip_program::noreturn::NoReturn;
use drip_program::{Cfg, Input, LoadConfig, load, parse_program, print_program, verify};

const RUNS: u32 = 10;

/// Time that this thread has had a processor (where the system tells), so that other work on the machine does not count.
fn thread_time(since: Instant) -> Duration {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanos = told.and_then(|text| text.split(' ').next()?.parse().ok());
    nanos.map_or_else(|| since.elapsed(), Duration::from_nanos)
}

/// Runs a step a few times and says how long one run took: the system's clock of a thread is coarse.
fn timed<T>(what: &str, mut step: impl FnMut() -> T) -> T {
    let origin = Instant::now();
    let start = thread_time(origin);
    for _ in 1..RUNS {
        step();
    }
    let result = step();
    let total = thread_time(origin).saturating_sub(start);
    println!("{what}: {:.1?}", total / RUNS);
    result
}

fn run() -> Result<(), String> {
    let mut inputs = Vec::new();
    for path in std::env::args().skip(1) {
        let bytes = std::fs::read(&path).map_err(|e| format!("{path}: {e}"))?;
        inputs.push(Input { path, bytes });
    }
    let loaded = load(inputs, &LoadConfig { verify: false });
    for problem in loaded.problems.iter().take(5) {
        println!("problem: {problem}");
    }
    let program = &loaded.program;
    let insts: usize = program
        .funcs
        .iter()
        .filter_map(|f| f.body.as_ref())
        .map(|b| b.insts.len())
        .sum();
    println!("{} functions, {insts} instructions", program.funcs.len());
    let errors = timed("verify", || verify(program));
    for error in errors.iter().take(20) {
        println!("{error}");
    }
    let loops: usize = timed("control flow of all functions", || {
        let bodies = program.funcs.iter().filter_map(|f| f.body.as_ref());
        bodies.map(|body| Cfg::build(body).loops().len()).sum()
    });
    let ends = timed("noreturn", || {
        NoReturn::build(program, &["exit", "_exit", "abort"])
    });
    println!(
        "{loops} loops, {} functions never return",
        ends.funcs().len()
    );
    let text = timed("print", || print_program(program));
    println!("{} bytes", text.len());
    let again = timed("parse", || parse_program(&text))
        .map_err(|e| format!("{e}: {}", line_of(&text, e.line)))?;
    let second = print_program(&again);
    if let Some((a, b)) = text.lines().zip(second.lines()).find(|(a, b)| a != b) {
        return Err(format!("printed differently:\n{a}\n{b}"));
    }
    if text != second {
        return Err("one text is longer".to_owned());
    }
    let left = verify(&again).len();
    match errors.len() + left {
        0 => Ok(()),
        _ => Err(format!(
            "{} rules broken, {left} after reading back",
            errors.len()
        )),
    }
}

fn line_of(text: &str, line: u32) -> &str {
    text.lines()
        .nth(line.saturating_sub(1) as usize)
        .unwrap_or_default()
}

fn main() -> ExitCode {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    match pool
        .map_err(|e| e.to_string())
        .and_then(|pool| pool.install(run))
    {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
