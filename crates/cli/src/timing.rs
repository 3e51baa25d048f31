//! How long did each phase take?

use std::time::{Duration, Instant};

#[derive(Debug)]
pub struct Timing {
    start: Instant,
    phases: Vec<(&'static str, Duration)>,
}

impl Default for Timing {
    fn default() -> Self {
        Timing {
            start: Instant::now(),
            phases: Vec::new(),
        }
    }
}

impl Timing {
    pub fn add(&mut self, phase: &'static str, time: Duration) {
        self.phases.push((phase, time));
    }

    /// Runs one phase.
    pub fn measure<T>(&mut self, phase: &'static str, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.add(phase, start.elapsed());
        result
    }

    pub fn tenths_of_seconds(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis() / 100).unwrap_or(u64::MAX)
    }

    pub fn table(&self) -> String {
        let mut out = String::new();
        for (phase, time) in &self.phases {
            out.push_str(&format!("{:>9.3} s  {phase}\n", time.as_secs_f64()));
        }
        out.push_str(&format!(
            "{:>9.3} s  total\n",
            self.start.elapsed().as_secs_f64()
        ));
        out
    }
}
