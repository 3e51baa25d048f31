//! Compilation databases: which commands does a `compile_commands.json` hold, and where is the file?
//!
//! Format: a JSON array of objects with `directory`, `file`, and `arguments` (a list) or `command` (one string,
//! quoted for a shell). An entry that cannot be understood becomes a failure; the others go on.

use crate::command::{CommandLine, normal};
use crate::{Captured, Error, Failure, Job, Language, Options, compile, job};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The name that all tools agree on.
pub const DATABASE_NAME: &str = "compile_commands.json";

/// Directories of a source tree that usually hold the build. Names ending in `*` are prefixes.
const BUILD_DIRECTORIES: [&str; 7] = [
    "build",
    "out",
    "builddir",
    "_build",
    "build-*",
    "cmake-build-*",
    "obj",
];

#[derive(Deserialize)]
struct Entry {
    #[serde(default)]
    directory: String,
    file: String,
    command: Option<String>,
    arguments: Option<Vec<String>>,
}

/// The database of the tree that `start` lies in: in `start` or its build directories, else the same for each
/// parent, up to the top of the repository (the directory with `.git`) or of the file system.
pub fn find_database(start: &Path) -> Option<PathBuf> {
    let start = std::path::absolute(start).ok()?;
    let in_repository = start.ancestors().any(|dir| dir.join(".git").exists());
    for dir in start.ancestors() {
        let direct = dir.join(DATABASE_NAME);
        if direct.is_file() {
            return Some(direct);
        }
        // Outside a repository the parents' `build/` belongs to somebody else.
        if (in_repository || dir == start)
            && let Some(found) = newest_beneath(dir)
        {
            return Some(found);
        }
        if dir.join(".git").exists() {
            return None;
        }
    }
    None
}

/// The database in one of the build directories of `dir`, or one level further down (`build/Debug`). Of several
/// the one written last, since that is the build the user is working with.
pub(crate) fn newest_beneath(dir: &Path) -> Option<PathBuf> {
    let mut found: Vec<(SystemTime, PathBuf)> = Vec::new();
    let mut look = |dir: &Path| {
        let file = dir.join(DATABASE_NAME);
        if let Ok(metadata) = std::fs::metadata(&file)
            && metadata.is_file()
        {
            found.push((metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH), file));
        }
    };
    for build in subdirectories(dir).filter(|path| is_build_directory(path)) {
        look(&build);
        for deeper in subdirectories(&build) {
            look(&deeper);
        }
    }
    found.into_iter().max().map(|(_, file)| file)
}

fn subdirectories(dir: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
}

fn is_build_directory(path: &Path) -> bool {
    let name = path
        .file_name()
        .and_then(|n| n.to_str())
        .unwrap_or_default();
    BUILD_DIRECTORIES
        .iter()
        .any(|pattern| match pattern.strip_suffix('*') {
            Some(prefix) => name.starts_with(prefix),
            None => name == *pattern,
        })
}

/// Compiles every unit of the database at `path`, which is the file or the directory that holds it.
pub fn capture_database(path: &Path, options: &Options<'_>) -> Result<Captured, Error> {
    let mut captured = Captured::default();
    let jobs = load(path, &mut captured)?;
    compile::run(jobs, options, captured)
}

/// The jobs of the database at `path` (file or directory). What is left out is noted in `captured`.
pub(crate) fn load(path: &Path, captured: &mut Captured) -> Result<Vec<Job>, Error> {
    let file = if path.is_dir() {
        path.join(DATABASE_NAME)
    } else {
        path.to_owned()
    };
    let text = std::fs::read(&file).map_err(|e| Error::io("read", &file, e))?;
    parse(&text, &file, captured)
}

/// [`load`] for text that has been read already; `file` says where relative directories start.
pub(crate) fn parse(text: &[u8], file: &Path, captured: &mut Captured) -> Result<Vec<Job>, Error> {
    let bad = |reason: String| Error::Database {
        path: file.to_owned(),
        reason,
    };
    let value: serde_json::Value =
        serde_json::from_slice(text).map_err(|e| bad(format!("it is not JSON: {e}")))?;
    let serde_json::Value::Array(entries) = value else {
        return Err(bad("it is not a list of compile commands".into()));
    };
    if entries.is_empty() {
        return Err(bad("it is empty; build the project first".into()));
    }
    let base = std::path::absolute(file.parent().unwrap_or(Path::new(""))).unwrap_or_default();
    let mut jobs = Vec::new();
    for (index, value) in entries.into_iter().enumerate() {
        let entry: Result<Entry, _> = serde_json::from_value(value);
        let result = entry.map_err(|e| e.to_string()).and_then(|entry| {
            let source = PathBuf::from(&entry.file);
            entry_jobs(entry, &base).map_err(|reason| format!("{}: {reason}", source.display()))
        });
        match result {
            Ok(mut found) => jobs.append(&mut found),
            Err(reason) => captured.failures.push(Failure {
                source: file.to_owned(),
                command: String::new(),
                stderr_excerpt: format!("entry {} cannot be used: {reason}", index + 1),
            }),
        }
    }
    note_missing(&jobs, file, captured);
    Ok(job::deduplicate(jobs, &mut captured.skipped))
}

fn entry_jobs(entry: Entry, base: &Path) -> Result<Vec<Job>, String> {
    let directory = normal(&base.join(&entry.directory));
    let argv = match (entry.arguments, entry.command) {
        (Some(arguments), _) if !arguments.is_empty() => arguments,
        (_, Some(command)) => shlex::split(&command).ok_or("its command has an unclosed quote")?,
        _ => return Err("it has neither `arguments` nor `command`".into()),
    };
    let line = CommandLine::parse(&argv, &directory).ok_or("its command names no compiler")?;
    let file = normal(&directory.join(&entry.file));
    let mut jobs = line.jobs(&directory, &BTreeMap::new());
    // One entry stands for one file, even if the command compiles several: each has its own entry.
    if jobs.iter().any(|job| job.source == file) {
        jobs.retain(|job| job.source == file);
    } else if jobs.is_empty() {
        let mut job = job::plain_job(Path::new(&entry.file), &directory)
            .map_err(|_| "its command names no C or C++ source")?;
        job.source = file;
        job.flags = line.flags;
        job.dropped = line.dropped;
        jobs.push(job);
    }
    Ok(jobs)
}

fn note_missing(jobs: &[Job], file: &Path, captured: &mut Captured) {
    let compiled =
        |job: &&Job| job.language.clang_name().is_ok() || job.language == Language::Assembler;
    let missing = jobs
        .iter()
        .filter(compiled)
        .filter(|job| !job.source.exists())
        .count();
    if missing > 0 {
        captured.notes.push(format!(
            "{missing} of {} files named in {} do not exist; if they are generated, build the project first",
            jobs.len(),
            file.display()
        ));
    }
}
