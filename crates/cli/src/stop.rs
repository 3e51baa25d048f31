//! When does a run end early? Ctrl-C, the time limit, the memory limit.
//!
//! The analysis runs on its own thread; this one waits and watches. At an early end the analysis is asked for what it knows so
//! far. If that takes longer than [`GRACE`], its thread is left behind: the process ends right after the report.

use crate::exit::Exit;
use drip_base::Watch;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// How often the limits are looked at.
const POLL: Duration = Duration::from_millis(20);

/// How long a stopped analysis may take to hand over what it knows: about the time of its slowest function. Beyond that the
/// report has no findings.
const GRACE: Duration = Duration::from_secs(1);

/// Set by Ctrl-C, SIGTERM and SIGHUP.
pub static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// The first interrupt asks for an end with a report, the second one is an end without.
/// Whatever the system has to say against a handler, drip can do without one.
pub fn watch_for_interrupts() {
    let _ = ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            std::process::exit(Exit::Incomplete as i32);
        }
    });
}

pub fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    pub deadline: Option<Instant>,
    pub timeout_seconds: u64,
    pub max_memory_mb: Option<u64>,
}

impl Limits {
    pub fn new(timeout: Option<u64>, max_memory_mb: Option<u64>) -> Self {
        Limits {
            deadline: timeout.and_then(|s| Instant::now().checked_add(Duration::from_secs(s))),
            timeout_seconds: timeout.unwrap_or(0),
            max_memory_mb,
        }
    }

    /// Why to stop now, if there is a reason.
    pub fn reason(&self) -> Option<String> {
        if interrupted() {
            return Some("interrupted".to_owned());
        }
        if self
            .deadline
            .is_some_and(|deadline| Instant::now() >= deadline)
        {
            return Some(format!("{} s are over", self.timeout_seconds));
        }
        let limit = self.max_memory_mb?;
        let used = resident_mb()?;
        (used > limit).then(|| format!("{used} MB of memory in use, {limit} MB allowed"))
    }
}

/// What came first: a result, a reason to stop, or the end of the sender (a panic).
#[derive(Debug)]
pub enum Waited<T> {
    Done(T),
    /// Why, and what the work has come to until then, if it could say so in time.
    Stopped(String, Option<T>),
    Gone,
}

/// Waits for the result of work that looks at `watch`; `tick` is called every now and then.
pub fn wait<T>(
    receiver: &Receiver<T>,
    limits: &Limits,
    watch: &Watch,
    tick: impl Fn(),
) -> Waited<T> {
    loop {
        if let Some(reason) = limits.reason() {
            watch.stop();
            return Waited::Stopped(reason, receiver.recv_timeout(GRACE).ok());
        }
        tick();
        match receiver.recv_timeout(POLL) {
            Ok(value) => return Waited::Done(value),
            Err(RecvTimeoutError::Disconnected) => return Waited::Gone,
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

/// Resident memory of this process; known on Linux only, elsewhere the memory limit has no effect.
fn resident_mb() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|line| line.starts_with("VmRSS:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes / 1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn a_result_a_limit_and_a_panic_are_told_apart() {
        let (sender, receiver) = channel();
        let watch = Watch::default();
        let waited = |limits: &Limits| wait(&receiver, limits, &watch, || ());
        sender.send(1).unwrap();
        assert!(matches!(waited(&Limits::default()), Waited::Done(1)));
        assert!(!watch.is_stopped());
        let limits = Limits::new(Some(0), None);
        assert!(matches!(waited(&limits), Waited::Stopped(_, None)));
        assert!(watch.is_stopped());
        // What is known by then is handed over.
        sender.send(2).unwrap();
        let limits = Limits::new(None, Some(0));
        assert!(matches!(waited(&limits), Waited::Stopped(_, Some(2))));
        drop(sender);
        assert!(matches!(waited(&Limits::default()), Waited::Gone));
    }
}
