//! What is said to the user beside results: errors, warnings, notes and progress, all on standard error.

use crate::args::{ColorChoice, Global};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{IsTerminal, Write};
use std::time::Duration;

/// How often the spinner moves.
const TICK: Duration = Duration::from_millis(120);

#[derive(Debug)]
pub struct Ui {
    quiet: bool,
    pub verbose: bool,
    color: ColorChoice,
}

impl Ui {
    pub fn new(global: &Global) -> Self {
        Ui {
            quiet: global.quiet,
            verbose: global.verbose > 0,
            color: global.color,
        }
    }

    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    fn colored(&self, is_terminal: bool) -> bool {
        match self.color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => {
                let refused = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
                is_terminal && !refused
            }
        }
    }

    pub fn color_on_stdout(&self) -> bool {
        self.colored(std::io::stdout().is_terminal())
    }

    pub fn error(&self, error: &anyhow::Error) {
        self.say("error", "\x1b[1;31m", &format!("{error:#}"));
    }

    pub fn warn(&self, text: &str) {
        self.say("warning", "\x1b[1;33m", text);
    }

    /// Unless quiet.
    pub fn note(&self, text: &str) {
        if !self.quiet {
            self.say("note", "\x1b[1m", text);
        }
    }

    /// Only with `-v`.
    pub fn detail(&self, text: &str) {
        if self.verbose {
            self.say("note", "\x1b[1m", text);
        }
    }

    fn say(&self, kind: &str, style: &str, text: &str) {
        let mut stderr = std::io::stderr().lock();
        // Nobody is left to tell if standard error is closed.
        let _ = if self.colored(stderr.is_terminal()) {
            writeln!(stderr, "{style}{kind}\x1b[0m: {text}")
        } else {
            writeln!(stderr, "{kind}: {text}")
        };
    }

    /// A bar or spinner; hidden when standard error is no terminal or drip is quiet.
    pub fn progress(&self, what: &'static str) -> Progress {
        if self.quiet || !std::io::stderr().is_terminal() {
            return Progress(ProgressBar::hidden());
        }
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix} {msg}") {
            bar.set_style(style);
        }
        bar.set_prefix(what);
        bar.enable_steady_tick(TICK);
        Progress(bar)
    }
}

/// Cleared from the screen when dropped.
#[derive(Debug)]
pub struct Progress(ProgressBar);

impl Progress {
    pub fn at(&self, done: usize, total: usize, what: &str) {
        self.0.set_message(format!("{done}/{total} {what}"));
    }

    /// The next phase (or the same one) and how far it is.
    pub fn phase(&self, what: &'static str, how_far: &str) {
        self.0.set_prefix(what);
        self.0.set_message(how_far.to_owned());
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
