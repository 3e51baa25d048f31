//! Where else the compile commands of a build can be had when the wrappers saw no compiler call.
//!
//! That happens with trees configured by CMake or Meson before drip came: they call `/usr/bin/cc` by its full path.
//! Tried in this order: a compile_commands.json in the build directory; Ninja's own list (`ninja -t compdb`);
//! the makefiles that CMake wrote; and, where Bear is installed and the build has succeeded, the same build once
//! more under Bear. The first three ask nothing of the build and change no file of it.

use crate::command::CommandLine;
use crate::database::{self, DATABASE_NAME};
use crate::watch::Watcher;
use crate::{Captured, Error, Job, clang};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

/// How deep a CMake build tree is searched for its targets.
const MAX_CMAKE_DEPTH: usize = 12;

/// Compile commands and where they come from.
pub(crate) struct Found {
    pub watcher: Watcher,
    pub jobs: Vec<Job>,
}

/// Tries all ways in order.
pub(crate) fn find(
    command: &[OsString],
    directory: &Path,
    status: ExitStatus,
    captured: &mut Captured,
) -> Result<Option<Found>, Error> {
    for dir in build_directories(command, directory) {
        let file = dir.join(DATABASE_NAME);
        if file.is_file() {
            let jobs = database::load(&file, captured)?;
            let watcher = Watcher::Database(file);
            return Ok(Some(Found { watcher, jobs }));
        }
        if let Some(jobs) = ninja_commands(&dir, captured) {
            let watcher = Watcher::Ninja;
            return Ok(Some(Found { watcher, jobs }));
        }
        let jobs = cmake_commands(&dir);
        if !jobs.is_empty() {
            let watcher = Watcher::CMakeMakefiles;
            return Ok(Some(Found { watcher, jobs }));
        }
    }
    if status.success() {
        under_bear(command, directory, captured)
    } else {
        Ok(None)
    }
}

/// The directories a build command works in: `make -C DIR`, `ninja -CDIR`, `cmake --build DIR`, else where it started.
fn build_directories(command: &[OsString], directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut words = command.iter().filter_map(|word| word.to_str());
    while let Some(word) = words.next() {
        let named = match word {
            "-C" | "--build" | "--directory" => words.next(),
            _ => word
                .strip_prefix("--directory=")
                .or_else(|| word.strip_prefix("-C").filter(|rest| !rest.is_empty())),
        };
        found.extend(
            named
                .map(|dir| directory.join(dir))
                .filter(|dir| dir.is_dir()),
        );
    }
    found.push(directory.to_owned());
    found
}

fn ninja_commands(dir: &Path, captured: &mut Captured) -> Option<Vec<Job>> {
    if !dir.join("build.ninja").is_file() {
        return None;
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let ninja = ["ninja", "ninja-build", "samu"]
        .iter()
        .find_map(|name| clang::search_path(OsStr::new(name), &path))?;
    let output = Command::new(ninja)
        .arg("-C")
        .arg(dir)
        .args(["-t", "compdb"])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    // Without rule names the list has every step of the build; only compiler calls are of interest.
    let text = only_compiles(&output.stdout)?;
    let jobs = database::parse(&text, &dir.join("build.ninja"), captured).ok()?;
    (!jobs.is_empty()).then_some(jobs)
}

/// The entries of a database whose command is a compile; links and custom steps are left out.
fn only_compiles(text: &[u8]) -> Option<Vec<u8>> {
    let entries: Vec<serde_json::Value> = serde_json::from_slice(text).ok()?;
    let is_compile = |entry: &serde_json::Value| {
        let words = entry
            .get("command")
            .and_then(|c| c.as_str())
            .and_then(shlex::split);
        let directory = entry
            .get("directory")
            .and_then(|d| d.as_str())
            .unwrap_or("/");
        words.is_some_and(|words| is_compile(&words, Path::new(directory)))
    };
    let kept: Vec<_> = entries.into_iter().filter(is_compile).collect();
    serde_json::to_vec(&kept).ok()
}

fn is_compile(words: &[String], directory: &Path) -> bool {
    words.iter().any(|word| word == "-c")
        && CommandLine::parse(words, directory).is_some_and(|line| line.compiles())
}

/// The compile commands in CMake's makefiles below `dir`: each target has a directory `X.dir` with `build.make` (the
/// rules) and `flags.make` (the variables they use).
fn cmake_commands(dir: &Path) -> Vec<Job> {
    let mut jobs = Vec::new();
    if dir.join("CMakeCache.txt").is_file() {
        search_cmake(dir, dir, 0, &mut jobs);
    }
    jobs
}

fn search_cmake(dir: &Path, top: &Path, depth: usize, jobs: &mut Vec<Job>) {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if !path.symlink_metadata().is_ok_and(|m| m.is_dir()) {
            continue;
        }
        if path.extension().is_some_and(|e| e == "dir") && path.join("build.make").is_file() {
            target_commands(&path, top, jobs);
        } else if depth < MAX_CMAKE_DEPTH {
            search_cmake(&path, top, depth + 1, jobs);
        }
    }
}

fn target_commands(target: &Path, top: &Path, jobs: &mut Vec<Job>) {
    let read = |name: &str| std::fs::read_to_string(target.join(name)).unwrap_or_default();
    let flags = read("flags.make");
    let variables: BTreeMap<&str, &str> = flags
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once('='))
        .map(|(name, value)| (name.trim(), value.trim()))
        .collect();
    for line in read("build.make")
        .lines()
        .filter_map(|line| line.strip_prefix('\t'))
    {
        let Some(words) = shlex::split(&expand(line, &variables)) else {
            continue;
        };
        let (directory, words) = match words.as_slice() {
            [cd, dir, and, rest @ ..] if cd == "cd" && and == "&&" => (top.join(dir), rest),
            all => (top.to_owned(), all),
        };
        if is_compile(words, &directory)
            && let Some(line) = CommandLine::parse(words, &directory)
        {
            jobs.extend(line.jobs(&directory, &BTreeMap::new()));
        }
    }
}

/// `$(C_FLAGS)` by its value; make's `$$` is a dollar sign.
fn expand(line: &str, variables: &BTreeMap<&str, &str>) -> String {
    let mut text = line.to_owned();
    for (name, value) in variables {
        text = text.replace(&format!("$({name})"), value);
    }
    text.replace("$$", "$")
}

/// The build once more, under Bear.
fn under_bear(
    command: &[OsString],
    directory: &Path,
    captured: &mut Captured,
) -> Result<Option<Found>, Error> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let Some(bear) = clang::search_path(OsStr::new("bear"), &path) else {
        return Ok(None);
    };
    let scratch =
        tempfile::tempdir().map_err(|e| Error::io("write to", &std::env::temp_dir(), e))?;
    let file = scratch.path().join(DATABASE_NAME);
    let version = Command::new(&bear).arg("--version").output();
    let text = version
        .map(|out| String::from_utf8_lossy(&out.stdout).into_owned())
        .unwrap_or_default();
    let mut again = Command::new(&bear);
    // Bear 2 and Bear 3 name the output differently.
    if text.contains("bear 2.") {
        again.arg("--cdb").arg(&file);
    } else {
        again.arg("--output").arg(&file).arg("--");
    }
    let started = again
        .args(command)
        .current_dir(directory)
        .stdout(Stdio::null())
        .status();
    if let Err(error) = started {
        captured.note(format!("bear could not be run: {error}"));
        return Ok(None);
    }
    match database::load(&file, captured) {
        Ok(jobs) if !jobs.is_empty() => Ok(Some(Found {
            watcher: Watcher::Bear,
            jobs,
        })),
        // An empty list is what Bear writes for a build that is up to date.
        Ok(_) | Err(Error::Database { .. } | Error::Io { .. }) => Ok(None),
        Err(other) => Err(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_named_in_the_command() {
        let top = tempfile::tempdir().unwrap();
        std::fs::create_dir(top.path().join("b")).unwrap();
        let dirs = |text: &str| {
            let words: Vec<OsString> = text.split(' ').map(OsString::from).collect();
            build_directories(&words, top.path())
        };
        let both = [top.path().join("b"), top.path().to_owned()];
        assert_eq!(dirs("make -C b -j8"), both);
        assert_eq!(dirs("ninja -Cb"), both);
        assert_eq!(dirs("cmake --build b --target x"), both);
        assert_eq!(dirs("make --directory=b"), both);
        assert_eq!(dirs("make -C missing"), both[1..]);
    }

    #[test]
    fn makefiles_written_by_cmake() {
        let top = tempfile::tempdir().unwrap();
        let target = top.path().join("lib/CMakeFiles/x.dir");
        std::fs::create_dir_all(&target).unwrap();
        std::fs::write(top.path().join("CMakeCache.txt"), "").unwrap();
        std::fs::write(
            target.join("flags.make"),
            "# compile C with /usr/bin/cc\nC_DEFINES = -DNAME=\\\"x\\\" -DN=1\n\nC_INCLUDES = -I/src/inc\n\nC_FLAGS = -O2 -g\n",
        )
        .unwrap();
        let rules = "lib/CMakeFiles/x.dir/a.c.o: /src/a.c\n\
             \t@$(CMAKE_COMMAND) -E cmake_echo_color --green \"Building\"\n\
             \tcd TOP/lib && /usr/bin/cc $(C_DEFINES) $(C_INCLUDES) $(C_FLAGS) -MD -MT a.o -MF a.d -o CMakeFiles/x.dir/a.c.o -c /src/a.c\n\
             \tcd TOP/lib && /usr/bin/cc $(C_DEFINES) -E /src/a.c > CMakeFiles/x.dir/a.c.i\n\
             \tcd TOP/lib && /usr/bin/cc $(C_DEFINES) -S /src/a.c -o CMakeFiles/x.dir/a.c.s\n";
        let rules = rules.replace("TOP", &top.path().display().to_string());
        std::fs::write(target.join("build.make"), rules).unwrap();
        let jobs = cmake_commands(top.path());
        assert_eq!(jobs.len(), 1, "{jobs:?}");
        assert_eq!(jobs[0].source, Path::new("/src/a.c"));
        assert_eq!(jobs[0].flags, ["-DNAME=\"x\"", "-DN=1", "-I/src/inc"]);
        assert_eq!(jobs[0].directory, top.path().join("lib"));
    }

    #[test]
    fn only_compiles_are_taken_from_ninja() {
        let text = r#"[{"directory": "/b", "command": "/usr/bin/cc -DX -o a.o -c /src/a.c", "file": "/src/a.c"},
            {"directory": "/b", "command": "/usr/bin/cc a.o -o prog", "file": "a.o"},
            {"directory": "/b", "command": "cmake -E touch x", "file": "x"}]"#;
        let kept: Vec<serde_json::Value> =
            serde_json::from_slice(&only_compiles(text.as_bytes()).unwrap()).unwrap();
        assert_eq!(kept.len(), 1);
    }
}
