//! Measuring one command: user CPU, wall clock and peak memory of the process itself, by `wait4`.

use anyhow::{Context, ensure};
use serde::Serialize;
use std::process::{Command, Stdio};
use std::time::Instant;
use wait4::Wait4;

/// Medians over some runs of one command.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Figures {
    pub user_s: f64,
    pub wall_s: f64,
    pub peak_mb: f64,
}

const MEGABYTE: f64 = 1024.0 * 1024.0;

/// Runs `command` `runs` times (at least once) and takes the median of each figure. Fails if a run
/// fails: the figures of a crash mean nothing.
pub fn median_of(runs: usize, mut command: impl FnMut() -> Command) -> anyhow::Result<Figures> {
    let all = (0..runs.max(1))
        .map(|_| once(command()))
        .collect::<anyhow::Result<Vec<_>>>()?;
    Ok(Figures {
        user_s: median(all.iter().map(|f| f.user_s)),
        wall_s: median(all.iter().map(|f| f.wall_s)),
        peak_mb: median(all.iter().map(|f| f.peak_mb)),
    })
}

fn once(mut command: Command) -> anyhow::Result<Figures> {
    let shown = format!("{command:?}");
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let start = Instant::now();
    let child = command
        .spawn()
        .with_context(|| format!("cannot run {shown}"))?;
    let used = child
        .wait4()
        .with_context(|| format!("waiting for {shown}"))?;
    let wall_s = start.elapsed().as_secs_f64();
    ensure!(used.status.success(), "{shown} failed: {}", used.status);
    Ok(Figures {
        user_s: used.rusage.utime.as_secs_f64(),
        wall_s,
        peak_mb: used.rusage.maxrss as f64 / MEGABYTE,
    })
}

/// The middle value; of two middle ones the lower.
fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
        .get(values.len().saturating_sub(1) / 2)
        .copied()
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_is_the_middle() {
        assert_eq!(median([3.0, 1.0, 2.0].into_iter()), 2.0);
        assert_eq!(median([4.0, 1.0, 2.0, 3.0].into_iter()), 2.0);
    }

    #[test]
    fn a_command_is_measured_and_a_failing_one_refused() {
        let figures = median_of(1, || Command::new("true")).unwrap();
        // A process of any system takes between some kilobytes and some hundred megabytes.
        assert!((0.01..500.0).contains(&figures.peak_mb), "{figures:?}");
        assert!(median_of(1, || Command::new("false")).is_err());
        assert!(median_of(1, || Command::new("no-such-command-here")).is_err());
    }
}
