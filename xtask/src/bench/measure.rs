//! Measuring one command: user CPU, wall clock and peak memory of the process and those it waited for, by `wait4`.
//!
//! Limits are set by coreutils' `timeout` and util-linux' `prlimit`, so that a whole tree of processes is ended. A command
//! that fails is a result like any other ([`End`]); only one that can't be started is an error.

use anyhow::{Context, ensure};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use wait4::Wait4;

/// What a command used.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Figures {
    pub user_s: f64,
    pub wall_s: f64,
    pub peak_mb: f64,
}

impl Figures {
    /// One after the other: times add up, the larger peak counts.
    pub fn then(self, next: Figures) -> Figures {
        Figures {
            user_s: self.user_s + next.user_s,
            wall_s: self.wall_s + next.wall_s,
            peak_mb: self.peak_mb.max(next.peak_mb),
        }
    }
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// With this exit code.
    Code(i32),
    Signal,
    TimedOut,
}

/// What a command may use. CPU time is what counts, since a busy machine does not change it; the wall clock has a
/// multiple of it, for commands that wait for ever.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub cpu: Duration,
    pub memory_mb: u64,
}

/// Wall clock that a command may take for each second of CPU.
const WALL_PER_CPU: f64 = 10.0;

const MEGABYTE: f64 = 1024.0 * 1024.0;

/// Exit codes of `timeout`: the wall clock is over; it, or the limit of CPU time, had to kill (128 + SIGKILL, SIGXCPU).
const TIMEOUT_ENDED: i32 = 124;
const SIGNALLED: i32 = 128;
const KILLED: i32 = SIGNALLED + 9;
const CPU_ENDED: i32 = SIGNALLED + 24;

/// Seconds between the request to end and the kill.
const GRACE_SECONDS: &str = "5";

/// `program` under limits; arguments, directory and the like are for the caller to add.
pub fn limited(program: impl AsRef<std::ffi::OsStr>, limits: Limits) -> Command {
    let mut command = Command::new("timeout");
    command
        .args(["--kill-after", GRACE_SECONDS])
        .arg(format!("{:.1}", WALL_PER_CPU * limits.cpu.as_secs_f64()))
        .args(["prlimit", &format!("--as={}", limits.memory_mb << 20)])
        .arg(format!("--cpu={}", limits.cpu.as_secs().max(1)))
        .arg(program);
    command
}

/// Runs a command once, output into files.
pub fn once(command: &mut Command, stdout: &Path, stderr: &Path) -> anyhow::Result<(Figures, End)> {
    let create = |path: &Path| File::create(path).with_context(|| format!("cannot write {path:?}"));
    command
        .stdin(Stdio::null())
        .stdout(create(stdout)?)
        .stderr(create(stderr)?);
    spawn_and_wait(command)
}

fn spawn_and_wait(command: &mut Command) -> anyhow::Result<(Figures, End)> {
    let start = Instant::now();
    let child = command
        .spawn()
        .with_context(|| format!("cannot run {command:?}"))?;
    let used = child
        .wait4()
        .with_context(|| format!("waiting for {command:?}"))?;
    let figures = Figures {
        user_s: used.rusage.utime.as_secs_f64(),
        wall_s: start.elapsed().as_secs_f64(),
        peak_mb: used.rusage.maxrss as f64 / MEGABYTE,
    };
    // `timeout` ends by the signal that ended the command, or with the code that stands for it.
    let signal = used.status.signal().map(|signal| SIGNALLED + signal);
    let end = match used.status.code().or(signal) {
        Some(TIMEOUT_ENDED | KILLED | CPU_ENDED) => End::TimedOut,
        Some(code) if signal.is_none() => End::Code(code),
        _ => End::Signal,
    };
    Ok((figures, end))
}

/// Runs `command` `runs` times (at least once) and takes the median of each figure. Fails if a run
/// fails: the figures of a crash mean nothing.
pub fn median_of(runs: usize, mut command: impl FnMut() -> Command) -> anyhow::Result<Figures> {
    let all = (0..runs.max(1))
        .map(|_| successful(command()))
        .collect::<anyhow::Result<Vec<_>>>()?;
    Ok(Figures {
        user_s: median(all.iter().map(|f| f.user_s)),
        wall_s: median(all.iter().map(|f| f.wall_s)),
        peak_mb: median(all.iter().map(|f| f.peak_mb)),
    })
}

fn successful(mut command: Command) -> anyhow::Result<Figures> {
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let (figures, end) = spawn_and_wait(&mut command)?;
    ensure!(end == End::Code(0), "{command:?} failed: {end:?}");
    Ok(figures)
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

    #[test]
    fn time_and_memory_are_limited() {
        let limits = Limits {
            cpu: Duration::from_secs(1),
            memory_mb: 256,
        };
        let dir = tempfile::tempdir().unwrap();
        let run = |command: &mut Command| {
            once(command, &dir.path().join("out"), &dir.path().join("err")).unwrap()
        };
        let (figures, end) = run(limited("sh", limits).args(["-c", "while :; do :; done"]));
        assert_eq!(end, End::TimedOut, "{figures:?}");
        assert!(figures.user_s < 5.0, "{figures:?}");
        let hungry = "dd if=/dev/zero of=/dev/null bs=1G count=1";
        let (_, end) = run(limited("sh", limits).args(["-c", hungry]));
        assert_ne!(end, End::Code(0), "a gigabyte in 256 MB");
        assert_eq!(run(&mut limited("true", limits)).1, End::Code(0));
    }
}
