//! The log of a watched build: one line of JSON per compiler call, written by the wrappers.
//!
//! Many wrappers write at once: each line goes out in one `write` to a file opened for appending, which the kernel
//! keeps apart. A line that cannot be read is counted, not trusted.

use crate::command::{CommandLine, normal};
use crate::{invocation, response};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::{Path, PathBuf};

/// A source larger than this is not copied; if the build deletes it, the unit is lost (and counted).
const MAX_COPIED_SOURCE: u64 = 32 * 1024 * 1024;

/// Its modification time is the time when the build began.
const START_FILE: &str = ".start";

/// Where copies of sources go during a build that logs to `log`.
pub(crate) fn copies_of(log: &Path) -> PathBuf {
    log.with_extension("sources")
}

/// To be called before the build begins.
pub(crate) fn prepare_copies(log: &Path) -> std::io::Result<PathBuf> {
    let place = copies_of(log);
    std::fs::create_dir_all(&place)?;
    std::fs::write(place.join(START_FILE), "")?;
    Ok(place)
}

/// One compiler call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    pub directory: PathBuf,
    /// The command line, name as called first, response files already read (builds delete them).
    pub arguments: Vec<String>,
    /// The compiler that was really run.
    pub compiler: PathBuf,
    /// Variables that change what is compiled.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// Copies of sources (as the command names them) that the build itself has made, since it may delete them.
    #[serde(default)]
    pub saved: BTreeMap<String, PathBuf>,
    /// What the call made was not where it had been made when the build ended: renamed, most likely.
    #[serde(default)]
    pub product_moved: bool,
}

impl Record {
    /// The record of a call in this process's directory and environment.
    pub fn of_call(name: &OsStr, arguments: &[OsString], compiler: &Path) -> std::io::Result<Self> {
        let directory = std::env::current_dir()?;
        // Words that are not UTF-8 cannot be written as JSON; their source will be reported as missing.
        let text = |word: &OsStr| word.to_string_lossy().into_owned();
        let words: Vec<String> = arguments.iter().map(|a| text(a)).collect();
        let mut all = vec![text(name)];
        all.extend(response::expand(&words, &directory));
        let variable = |name: &str| Some((name.to_owned(), std::env::var(name).ok()?));
        Ok(Record {
            directory,
            arguments: all,
            compiler: compiler.to_owned(),
            environment: invocation::MEANINGFUL_ENVIRONMENT
                .iter()
                .filter_map(|name| variable(name))
                .collect(),
            saved: BTreeMap::new(),
            product_moved: false,
        })
    }

    /// Copies the sources that are younger than the build into `place`, which [`prepare_copies`] has made.
    /// Each copy starts with a line marker, so that messages and debug information name the original.
    pub fn save_sources(&mut self, place: &Path) -> std::io::Result<()> {
        let started = std::fs::metadata(place.join(START_FILE))?.modified()?;
        let Some(line) = self.command_line().filter(CommandLine::compiles) else {
            return Ok(());
        };
        for source in &line.sources {
            let path = self.directory.join(&source.path);
            let metadata = std::fs::metadata(&path)?;
            let is_young = metadata.modified()? >= started;
            if !is_young || !metadata.is_file() || metadata.len() > MAX_COPIED_SOURCE {
                continue;
            }
            let escaped = source.path.replace('\\', "\\\\").replace('"', "\\\"");
            let mut text = format!("# 1 \"{escaped}\"\n").into_bytes();
            text.extend(std::fs::read(&path)?);
            let hash: String = blake3::hash(&text).to_hex().chars().take(16).collect();
            let copy = place.join(hash).join(path.file_name().unwrap_or_default());
            if !copy.exists() {
                let dir = copy.parent().unwrap_or(place);
                std::fs::create_dir_all(dir)?;
                let mut file = tempfile::NamedTempFile::new_in(dir)?;
                file.write_all(&text)?;
                file.persist(&copy).map_err(|e| e.error)?;
            }
            self.saved.insert(source.path.clone(), copy);
        }
        Ok(())
    }

    pub fn append_to(&self, log: &Path) -> std::io::Result<()> {
        let mut line = serde_json::to_vec(self)?;
        line.push(b'\n');
        let mut file = std::fs::OpenOptions::new()
            .append(true)
            .create(true)
            .open(log)?;
        file.write_all(&line)
    }

    pub fn command_line(&self) -> Option<CommandLine> {
        CommandLine::parse(&self.arguments, &self.directory)
    }

    /// The files by which one can see that the call's result is still in use: its objects or its program.
    pub fn products(&self, line: &CommandLine) -> Vec<PathBuf> {
        match &line.output {
            Some(output) => vec![normal(&self.directory.join(output))],
            None => {
                let jobs = line.jobs(&self.directory, &self.environment);
                jobs.into_iter().filter_map(|job| job.object).collect()
            }
        }
    }
}

/// All records of a log, and the number of lines that are none.
pub(crate) fn read_log(log: &Path) -> std::io::Result<(Vec<Record>, usize)> {
    let text = std::fs::read(log)?;
    let mut records = Vec::new();
    let mut damaged = 0;
    for line in text
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
    {
        match serde_json::from_slice(line) {
            Ok(record) => records.push(record),
            Err(_) => damaged += 1,
        }
    }
    Ok((records, damaged))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_survive_the_log_and_damage_is_counted() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        let arguments = ["-c", "a \"b\".c\n"].map(OsString::from);
        let record =
            Record::of_call(OsStr::new("gcc"), &arguments, Path::new("/usr/bin/gcc")).unwrap();
        record.append_to(&log).unwrap();
        std::fs::OpenOptions::new()
            .append(true)
            .open(&log)
            .unwrap()
            .write_all(b"{\"half\": \n")
            .unwrap();
        record.append_to(&log).unwrap();
        assert_eq!(read_log(&log).unwrap(), (vec![record.clone(), record], 1));
    }

    #[test]
    fn products_are_objects_or_programs() {
        let record = |text: &str| Record {
            directory: "/b".into(),
            arguments: text.split(' ').map(str::to_owned).collect(),
            compiler: "/usr/bin/gcc".into(),
            environment: BTreeMap::new(),
            saved: BTreeMap::new(),
            product_moved: false,
        };
        let products = |text: &str| {
            let record = record(text);
            record.products(&record.command_line().unwrap())
        };
        assert_eq!(
            products("gcc -c x/a.c b.c"),
            [Path::new("/b/a.o"), Path::new("/b/b.o")]
        );
        assert_eq!(products("gcc -c a.c -o ../o/a.o"), [Path::new("/o/a.o")]);
        assert_eq!(products("gcc a.c -o prog"), [Path::new("/b/prog")]);
        assert_eq!(products("gcc -c y.tab.c"), [Path::new("/b/y.tab.o")]);
    }
}
