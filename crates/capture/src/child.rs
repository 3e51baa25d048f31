//! Runs a compiler so that it can be stopped.
//!
//! The child gets its own process group: a Ctrl-C of the terminal reaches drip alone, which then kills the
//! whole group (a clang that is a shell script has children of its own). What it prints is read by threads,
//! so the wait ends the moment the child does, and looks at the cancel flag in between.

use rustix::process::{Pid, Signal, kill_process_group};
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// How often a wait looks at the cancel flag; the time that Ctrl-C may take.
const CANCEL_POLL: Duration = Duration::from_millis(20);

/// Standard error beyond this is read and thrown away; only an excerpt is ever shown.
const MAX_STDERR_BYTES: usize = 256 * 1024;

/// As much as a pipe holds.
const READ_SIZE: usize = 64 * 1024;

/// How a child ended.
pub(crate) enum Outcome {
    Ended {
        status: ExitStatus,
        /// Empty where nobody asked for it.
        stdout: Vec<u8>,
        stderr: String,
    },
    Cancelled,
}

/// What of a child a thread has read.
enum Text {
    Stdout(Vec<u8>),
    Stderr(Vec<u8>),
}

/// Runs `command` to its end or until `cancelled` says stop.
pub(crate) fn run(mut command: Command, cancelled: &dyn Fn() -> bool) -> std::io::Result<Outcome> {
    command.stdout(Stdio::null());
    start(command, 0, cancelled)
}

/// [`run`], with up to `max_output` bytes of its standard output; what is beyond is read and thrown away.
pub(crate) fn run_for_output(
    mut command: Command,
    max_output: usize,
    cancelled: &dyn Fn() -> bool,
) -> std::io::Result<Outcome> {
    command.stdout(Stdio::piped());
    start(command, max_output, cancelled)
}

fn start(
    mut command: Command,
    max_output: usize,
    cancelled: &dyn Fn() -> bool,
) -> std::io::Result<Outcome> {
    if cancelled() {
        return Ok(Outcome::Cancelled);
    }
    command
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .process_group(0);
    let mut child = command.spawn()?;
    // A receiver that has gone away has cancelled; nobody wants the texts then.
    let (sender, receiver) = channel();
    if let Some(pipe) = child.stdout.take() {
        let sender = sender.clone();
        std::thread::spawn(move || sender.send(Text::Stdout(read_bounded(pipe, max_output))));
    }
    if let Some(pipe) = child.stderr.take() {
        std::thread::spawn(move || sender.send(Text::Stderr(read_bounded(pipe, MAX_STDERR_BYTES))));
    }
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    loop {
        match receiver.recv_timeout(CANCEL_POLL) {
            Ok(Text::Stdout(bytes)) => stdout = bytes,
            Ok(Text::Stderr(bytes)) => stderr = bytes,
            // Both readers are done.
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) if cancelled() => {
                kill_group(&mut child);
                child.wait()?;
                return Ok(Outcome::Cancelled);
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
    Ok(Outcome::Ended {
        status: child.wait()?,
        stdout,
        stderr: String::from_utf8_lossy(&stderr).into_owned(),
    })
}

fn kill_group(child: &mut Child) {
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let killed = group.is_some_and(|pid| kill_process_group(pid, Signal::KILL).is_ok());
    if !killed {
        // The group may be gone already; the child itself is still ours to reap.
        let _ = child.kill();
    }
}

fn read_bounded(mut pipe: impl Read, max: usize) -> Vec<u8> {
    let mut kept = Vec::new();
    let mut buffer = [0_u8; READ_SIZE];
    loop {
        match pipe.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => {
                let room = max.saturating_sub(kept.len());
                kept.extend_from_slice(buffer.get(..n.min(room)).unwrap_or_default());
            }
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    kept
}
