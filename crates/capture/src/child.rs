//! Runs a compiler so that it can be stopped.
//!
//! The child gets its own process group: a Ctrl-C of the terminal reaches drip alone, which then kills the
//! whole group (a clang that is a shell script has children of its own). Its standard error is read by a
//! thread, so the wait ends the moment the child does, and looks at the cancel flag in between.

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

/// How a child ended.
pub(crate) enum Outcome {
    Ended { status: ExitStatus, stderr: String },
    Cancelled,
}

/// Runs `command` to its end or until `cancelled` says stop.
pub(crate) fn run(mut command: Command, cancelled: &dyn Fn() -> bool) -> std::io::Result<Outcome> {
    if cancelled() {
        return Ok(Outcome::Cancelled);
    }
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .process_group(0);
    let mut child = command.spawn()?;
    let Some(pipe) = child.stderr.take() else {
        return Err(std::io::Error::other(
            "the compiler's standard error is not a pipe",
        ));
    };
    let (sender, receiver) = channel();
    let reader = std::thread::spawn(move || {
        // A receiver that has gone away has cancelled; nobody wants the text then.
        let _ = sender.send(read_bounded(pipe));
    });
    let stderr = loop {
        match receiver.recv_timeout(CANCEL_POLL) {
            Ok(text) => break text,
            Err(RecvTimeoutError::Disconnected) => break String::new(),
            Err(RecvTimeoutError::Timeout) if cancelled() => {
                kill_group(&mut child);
                child.wait()?;
                return Ok(Outcome::Cancelled);
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    };
    let status = child.wait()?;
    if reader.join().is_err() {
        return Err(std::io::Error::other(
            "reading the compiler's messages failed",
        ));
    }
    Ok(Outcome::Ended { status, stderr })
}

fn kill_group(child: &mut Child) {
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let killed = group.is_some_and(|pid| kill_process_group(pid, Signal::KILL).is_ok());
    if !killed {
        // The group may be gone already; the child itself is still ours to reap.
        let _ = child.kill();
    }
}

fn read_bounded(mut pipe: impl Read) -> String {
    let mut kept = Vec::new();
    let mut buffer = [0_u8; 8192];
    loop {
        match pipe.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => {
                let room = MAX_STDERR_BYTES.saturating_sub(kept.len());
                kept.extend_from_slice(buffer.get(..n.min(room)).unwrap_or_default());
            }
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    String::from_utf8_lossy(&kept).into_owned()
}
