//! How far has a long piece of work come, and should it end early? Shared by its workers and by whoever waits for them.
//!
//! Invariant: a stop is never taken back. Workers look at it between steps, so a stopped product consists of whole steps.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Counters and a stop flag. `Watch::default()` is for work that nobody waits for.
#[derive(Debug, Default)]
pub struct Watch {
    done: AtomicUsize,
    total: AtomicUsize,
    stopped: AtomicBool,
}

impl Watch {
    /// `total` steps are ahead.
    pub fn begin(&self, total: usize) {
        self.total.store(total, Ordering::Relaxed);
    }

    /// So many more steps are done.
    pub fn advance(&self, steps: usize) {
        self.done.fetch_add(steps, Ordering::Relaxed);
    }

    /// Steps done and steps in all; `(0, 0)` before the work has begun.
    pub fn counts(&self) -> (usize, usize) {
        let done = self.done.load(Ordering::Relaxed);
        (done, self.total.load(Ordering::Relaxed))
    }

    /// Asks the workers to begin no further step.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}
