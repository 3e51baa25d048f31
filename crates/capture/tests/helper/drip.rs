//! A stand-in for the drip binary: under a compiler's name it is the wrapper; else it watches the build command in
//! its arguments and prints what came of it, one fact per line.

use drip_capture::{BuildOutput, Options, WatchOptions, capture_build, doctor};
use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os();
    let argv0 = arguments.next().unwrap_or_default();
    if drip_capture::is_wrapper_invocation(&argv0) {
        return drip_capture::wrapper_main(&argv0, arguments);
    }
    let mut words: Vec<OsString> = arguments.collect();
    let mut take = |name: &str| {
        let found = words.first().is_some_and(|word| word == name);
        found.then(|| words.remove(0)).is_some()
    };
    if take("doctor") {
        let facts = doctor::examine(&Options::default());
        println!("{facts:#?}");
        return ExitCode::SUCCESS;
    }
    let watch = WatchOptions {
        output: BuildOutput::Stderr,
        set_cc: take("--set-cc"),
        fresh: take("--fresh"),
        ..WatchOptions::default()
    };
    // Stands for a Ctrl-C that comes while the build runs.
    let cancel = AtomicBool::new(false);
    let cancel_soon = take("--cancel");
    let options = Options {
        cancel: Some(&cancel),
        ..Options::default()
    };
    std::thread::scope(|scope| {
        if cancel_soon {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(500));
                cancel.store(true, Ordering::Relaxed);
            });
        }
        report(&words, &watch, &options)
    })
}

fn report(command: &[OsString], watch: &WatchOptions, options: &Options<'_>) -> ExitCode {
    let build = match capture_build(command, watch, options) {
        Ok(build) => build,
        Err(error) => {
            println!("error {error}");
            return ExitCode::from(2);
        }
    };
    println!("watcher {}", build.watcher);
    println!("exit {:?}", build.exit_code);
    println!("calls {}", build.compiler_calls);
    println!("remembered {}", build.remembered);
    println!("cancelled {}", build.captured.cancelled);
    println!("compiled {}", build.captured.statistics.compiled);
    for unit in &build.captured.units {
        println!("unit {} {}", unit.source.display(), unit.bitcode.display());
    }
    for failure in &build.captured.failures {
        println!(
            "failure {} {}",
            failure.source.display(),
            failure.stderr_excerpt
        );
    }
    for skipped in &build.captured.skipped {
        println!("skipped {:?} {}", skipped.reason, skipped.path.display());
    }
    for (flag, count) in build.captured.dropped_flags() {
        println!("dropped {count} {flag}");
    }
    for note in &build.captured.notes {
        println!("note {note}");
    }
    ExitCode::SUCCESS
}
