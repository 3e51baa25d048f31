//! A build command to bitcode: runs the build with wrappers in place, then compiles what it compiled.
//!
//! The build runs as it would without drip, with one directory more in front of PATH. Compilers that the user
//! named by full path in `CC`, `CXX` and their like, in the environment or as `make CC=/…`, get a wrapper of
//! their own. `CC` is not invented where the user has none: `CC ?= clang` in a Makefile must keep its say.
//!
//! A build that fails is reported, and what was seen until then is used. If no call was seen at all, other
//! sources of the compile commands are tried (see `fallback`).
//!
//! Known limits: compilers called by full path from inside build files, through `env -i`, in containers or by
//! another user are not seen by the wrappers.

use crate::build_env::Setting;
use crate::cache::Cache;
use crate::command::{CommandLine, normal};
use crate::fallback::{self, Found};
use crate::record::{Record, prepare_copies, read_log};
use crate::wrapper::LOG_VARIABLE;
use crate::{
    Captured, Error, Job, Options, SkipReason, Skipped, clang, compile, error, history, job,
};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How often the wait for the build looks at the cancel flag.
const BUILD_POLL: Duration = Duration::from_millis(20);

/// How long a cancelled build may take to end by itself before it is killed.
const BUILD_GRACE: Duration = Duration::from_secs(3);

/// Where the build's standard output goes. Its standard error is always the user's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BuildOutput {
    /// To standard error, so that drip's own output stays clean.
    #[default]
    Stderr,
    Inherit,
    Discard,
}

/// What the caller may choose about watching a build.
#[derive(Clone, Debug, Default)]
pub struct WatchOptions {
    /// The drip binary that is to be the wrapper; this process's own if `None`.
    pub drip: Option<PathBuf>,
    /// Where the build is started; the current directory if `None`.
    pub directory: Option<PathBuf>,
    pub output: BuildOutput,
    /// Set `CC` and `CXX` to the wrappers even where the user has not set them.
    pub set_cc: bool,
    /// Forget what earlier builds in this directory compiled.
    pub fresh: bool,
}

/// How the compile commands of a build became known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Watcher {
    Wrappers,
    /// The build compiled nothing; the calls are those of earlier watched builds.
    EarlierBuilds,
    /// A compile_commands.json in the build directory.
    Database(PathBuf),
    Ninja,
    CMakeMakefiles,
    Bear,
    /// No compile command was found in any way.
    Nothing,
}

impl std::fmt::Display for Watcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Watcher::Wrappers => f.write_str("compiler wrappers"),
            Watcher::EarlierBuilds => f.write_str("earlier watched builds"),
            Watcher::Database(file) => write!(f, "{}", file.display()),
            Watcher::Ninja => f.write_str("ninja's compile commands"),
            Watcher::CMakeMakefiles => f.write_str("CMake's makefiles"),
            Watcher::Bear => f.write_str("bear"),
            Watcher::Nothing => f.write_str("nothing"),
        }
    }
}

/// A watched build.
#[derive(Debug)]
pub struct BuildCapture {
    pub captured: Captured,
    /// The build's exit code; `None` if a signal ended it.
    pub exit_code: Option<i32>,
    pub watcher: Watcher,
    /// Calls of compilers that were seen in this build, of every kind.
    pub compiler_calls: usize,
    /// Compile commands taken over from earlier builds in the same directory.
    pub remembered: usize,
}

impl BuildCapture {
    pub fn build_failed(&self) -> bool {
        self.exit_code != Some(0)
    }
}

/// Runs `command`, watching its compilers, and compiles to bitcode what it compiled.
pub fn capture_build(
    command: &[OsString],
    watch: &WatchOptions,
    options: &Options<'_>,
) -> Result<BuildCapture, Error> {
    // Rather now than after a long build.
    clang::find(options.clang.as_deref(), options.config_clang.as_deref())?;
    let directory = match &watch.directory {
        Some(directory) => {
            std::path::absolute(directory).map_err(|e| Error::io("find", directory, e))?
        }
        None => error::current_dir()?,
    };
    let (cache, replaced) = Cache::open_or_temporary(options.cache_dir.as_deref())?;
    let mut captured = Captured::default();
    if let Some((scratch, note)) = replaced {
        captured.scratch.push(scratch);
        captured.note(note);
    }
    let log = tempfile::Builder::new()
        .prefix("watch-")
        .suffix(".jsonl")
        .tempfile_in(cache.tmp())
        .map_err(|e| Error::io("write to", cache.root(), e))?;
    let copies = prepare_copies(log.path()).map_err(|e| Error::io("write to", cache.root(), e))?;
    let status = run_build(command, &directory, watch, options, &cache, log.path())?;
    let (records, damaged) = read_log(log.path()).map_err(|e| Error::io("read", log.path(), e))?;
    if damaged > 0 {
        captured.note(format!(
            "{damaged} compiler calls could not be read from the log"
        ));
    }
    let seen = Seen {
        command,
        directory: &directory,
        status,
        records,
    };
    let result = seen.compile(watch, options, &cache, captured);
    // The copies that are needed have been taken out.
    let _ = std::fs::remove_dir_all(copies);
    result
}

fn run_build(
    command: &[OsString],
    directory: &Path,
    watch: &WatchOptions,
    options: &Options<'_>,
    cache: &Cache,
    log: &Path,
) -> Result<ExitStatus, Error> {
    let shown = || command.join(OsStr::new(" ")).to_string_lossy().into_owned();
    let not_started = |source: std::io::Error| Error::BuildNotStarted {
        command: shown(),
        source,
    };
    let drip = match &watch.drip {
        Some(drip) => std::path::absolute(drip),
        None => std::env::current_exe(),
    };
    let setting = Setting {
        root: cache.root().join("wrappers"),
        drip: drip.map_err(not_started)?,
    };
    let (program, arguments) = command
        .split_first()
        .ok_or_else(|| not_started(std::io::Error::other("there is no command")))?;
    let mut build = Command::new(program);
    build.current_dir(directory).env(LOG_VARIABLE, log);
    setting
        .prepare(&mut build, watch.set_cc)
        .map_err(not_started)?;
    for argument in arguments {
        build.arg(setting.argument(argument).map_err(not_started)?);
    }
    match watch.output {
        BuildOutput::Inherit => {}
        BuildOutput::Discard => {
            build.stdout(Stdio::null());
        }
        BuildOutput::Stderr => {
            let stderr = std::io::stderr()
                .as_fd()
                .try_clone_to_owned()
                .map_err(not_started)?;
            build.stdout(stderr);
        }
    }
    let mut child = build.spawn().map_err(not_started)?;
    wait(&mut child, options).map_err(not_started)
}

/// Waits for the build. On cancel it is asked to end (Ctrl-C has reached it as well), then made to.
fn wait(child: &mut Child, options: &Options<'_>) -> std::io::Result<ExitStatus> {
    let mut asked: Option<Instant> = None;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        match asked {
            None if options.cancelled() => {
                if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
                    // It may have ended in this very moment.
                    let _ = kill_process(pid, Signal::TERM);
                }
                asked = Some(Instant::now());
            }
            Some(since) if since.elapsed() > BUILD_GRACE => child.kill()?,
            _ => {}
        }
        std::thread::sleep(BUILD_POLL);
    }
}

/// A build that has ended.
struct Seen<'a> {
    command: &'a [OsString],
    directory: &'a Path,
    status: ExitStatus,
    records: Vec<Record>,
}

impl Seen<'_> {
    fn compile(
        self,
        watch: &WatchOptions,
        options: &Options<'_>,
        cache: &Cache,
        mut captured: Captured,
    ) -> Result<BuildCapture, Error> {
        let compiler_calls = self.records.len();
        if watch.fresh {
            history::forget(cache.root(), self.directory);
        }
        let (records, remembered) = history::merge(cache.root(), self.directory, self.records);
        let jobs = jobs_of(&records, &mut captured);
        let (watcher, jobs) = if !jobs.is_empty() && records.len() > remembered {
            (Watcher::Wrappers, jobs)
        } else if !jobs.is_empty() {
            (Watcher::EarlierBuilds, jobs)
        } else if options.cancelled() {
            (Watcher::Nothing, Vec::new())
        } else {
            match fallback::find(self.command, self.directory, self.status, &mut captured)? {
                Some(Found { watcher, jobs }) => (watcher, jobs),
                None => {
                    captured.note(NOTHING_SEEN.to_owned());
                    (Watcher::Nothing, Vec::new())
                }
            }
        };
        if !self.status.success() {
            captured.note(format!(
                "the build ended with {}; what it had compiled is used",
                self.status
            ));
        }
        let jobs = job::deduplicate(jobs, &mut captured.skipped);
        captured.cancelled |= options.cancelled();
        Ok(BuildCapture {
            captured: compile::run_in(jobs, options, captured, self.directory)?,
            exit_code: self.status.code(),
            watcher,
            compiler_calls,
            remembered,
        })
    }
}

const NOTHING_SEEN: &str = "the build called no compiler that drip could see: it may be up to date (build it from \
     scratch, for example after `make clean`), or call its compiler by full path (use `-p DIR` with a \
     compile_commands.json, or install bear)";

/// The jobs of all compile commands; probes are sorted out.
fn jobs_of(records: &[Record], captured: &mut Captured) -> Vec<Job> {
    let mut sysroots = BTreeMap::new();
    let mut jobs = Vec::new();
    for record in records {
        let Some(line) = record.command_line().filter(CommandLine::compiles) else {
            continue;
        };
        let sysroot = sysroot_flag(record, &line, &mut sysroots);
        for mut job in line.jobs(&record.directory, &record.environment) {
            if !job.source.is_file() {
                let name = job.source_argument.to_str().unwrap_or_default();
                job.saved_source = record.saved.get(name).cloned();
            }
            if is_probe(&job) {
                captured.skipped.push(Skipped {
                    path: job.source,
                    reason: SkipReason::Probe,
                });
            } else {
                job.flags.extend(sysroot.clone());
                jobs.push(job);
            }
        }
    }
    jobs
}

/// Something a configure script tried out, or a temporary source that is gone.
fn is_probe(job: &Job) -> bool {
    const PROBE_NAMES: [&str; 6] = [
        "conftest",
        "CMakeCCompilerId",
        "CMakeCXXCompilerId",
        "CMakeCCompilerABI",
        "CMakeCXXCompilerABI",
        "sanitycheckc",
    ];
    const PROBE_DIRECTORIES: [&str; 4] = [
        "CMakeTmp",
        "CMakeScratch",
        "meson-private",
        "autom4te.cache",
    ];
    let stem = job
        .source
        .file_stem()
        .and_then(OsStr::to_str)
        .unwrap_or_default();
    let in_probe_directory = job.source.components().any(|c| {
        c.as_os_str()
            .to_str()
            .is_some_and(|name| PROBE_DIRECTORIES.contains(&name))
    });
    PROBE_NAMES.contains(&stem)
        || in_probe_directory
        || (!job.source.is_file() && job.saved_source.is_none())
}

/// A cross compiler knows where its headers are; clang has to be told.
fn sysroot_flag(
    record: &Record,
    line: &CommandLine,
    known: &mut BTreeMap<PathBuf, Option<String>>,
) -> Option<String> {
    let is_cross = line.flags.iter().any(|f| f.starts_with("--target="));
    let has_one = line
        .flags
        .iter()
        .any(|f| f.starts_with("--sysroot") || f.starts_with("-isysroot"));
    if !is_cross || has_one {
        return None;
    }
    known
        .entry(record.compiler.clone())
        .or_insert_with(|| {
            let output = Command::new(&record.compiler)
                .arg("-print-sysroot")
                .stdin(Stdio::null())
                .stderr(Stdio::null())
                .output()
                .ok()?;
            let text = String::from_utf8(output.stdout).ok()?;
            let sysroot = normal(Path::new(text.trim()));
            let useful = sysroot.is_absolute() && sysroot != Path::new("/") && sysroot.is_dir();
            useful.then(|| format!("--sysroot={}", sysroot.display()))
        })
        .clone()
}
