//! How does a run end? The exit codes, and what is said when drip itself is at fault.

use std::process::ExitCode;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Clean = 0,
    Findings = 1,
    /// Usage, configuration or capture failure.
    Failure = 2,
    /// Nothing found, but not everything was read.
    Incomplete = 3,
    Internal = 101,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}

/// Replaces Rust's panic message by one that a user can act on.
pub fn install_panic_message() {
    std::panic::set_hook(Box::new(|panic| {
        let payload = panic.payload();
        let text = payload
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("no message");
        let place = panic
            .location()
            .map_or(String::new(), |l| format!(" at {}:{}", l.file(), l.line()));
        eprintln!(
            "drip: internal error{place}: {text}\n\
             This is a bug in drip {}, not in your program; please report it with the command and the input.",
            env!("CARGO_PKG_VERSION")
        );
    }));
}
