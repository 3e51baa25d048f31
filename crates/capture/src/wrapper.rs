//! drip as a compiler: what happens when a build calls `gcc` and gets drip under that name.
//!
//! A directory of links, one per compiler on PATH and all to the drip binary, stands first on the PATH of a watched
//! build. The wrapper writes down the call (if [`LOG_VARIABLE`] says where) and *becomes* the real compiler by
//! `exec`, with the PATH as it was before: output, exit code and jobserver are the compiler's own.
//!
//! The directory stays where it is after the build. CMake writes the compiler's full path into its cache; such a tree
//! still builds without drip, because a wrapper without a log only passes the call on. A marker file tells
//! wrapper directories from all others, so that no wrapper ever takes another wrapper for the real thing.
//!
//! Invariant: nothing the wrapper does for itself may make the call fail; a record that cannot be written is lost.

use crate::clang::{WRAPPER_MARKER, is_executable, search_path};
use crate::compiler::{compiler_name, is_launcher};
use crate::record::{self, Record};
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// The environment variable that names the log.
pub const LOG_VARIABLE: &str = "DRIP_CAPTURE_LOG";

/// What shells return for a command that does not exist.
const NOT_FOUND: u8 = 127;

/// Beside a wrapper for one certain compiler: the path of that compiler.
const REAL_PREFIX: &str = ".real-";

/// Was this process started under a compiler's name? To be asked before anything else, with `argv[0]`.
pub fn is_wrapper_invocation(argv0: &OsStr) -> bool {
    let path = Path::new(argv0);
    let Some(name) = path.file_name().and_then(OsStr::to_str) else {
        return false;
    };
    if compiler_name(name).is_some() || is_launcher(name) {
        return true;
    }
    if has_directory(path) {
        return path.parent().is_some_and(is_wrapper_directory);
    }
    // A name of the user's own (`CC=mycc`): ours if the first one on PATH is.
    let dirs = std::env::var_os("PATH").unwrap_or_default();
    let first = std::env::split_paths(&dirs).find(|dir| is_executable(&dir.join(name)));
    first.is_some_and(|dir| is_wrapper_directory(&dir))
}

/// Does the compiler's work: records the call and becomes the real compiler. Returns only if there is none.
pub fn wrapper_main(argv0: &OsStr, arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    let name = Path::new(argv0).file_name().unwrap_or(argv0).to_owned();
    let path = path_without_wrappers();
    let Some(real) = real_compiler(Path::new(argv0), &path) else {
        eprintln!("{}: command not found", name.to_string_lossy());
        return ExitCode::from(NOT_FOUND);
    };
    // `ccache $CC` with CC set by us: ccache must not get the wrapper.
    if is_launcher(&name.to_string_lossy())
        && let Some(first) = arguments.first_mut()
        && Path::new(first).parent().is_some_and(is_wrapper_directory)
        && let Some(inner) = real_compiler(Path::new(first), &path)
    {
        *first = inner.into_os_string();
    }
    if let Some(log) = std::env::var_os(LOG_VARIABLE) {
        // The build comes first: a full disk costs us the record, not the user the build.
        let _ = write_down(&name, &arguments, &real, Path::new(&log));
    }
    // gcc looks for its parts beside its own name: a bare name stays bare, our directory does not stay.
    let shown = if has_directory(Path::new(argv0)) {
        real.clone().into_os_string()
    } else {
        name.clone()
    };
    let error = Command::new(&real)
        .arg0(shown)
        .args(arguments)
        .env("PATH", path)
        .exec();
    eprintln!(
        "{}: cannot run {}: {error}",
        name.to_string_lossy(),
        real.display()
    );
    ExitCode::from(NOT_FOUND)
}

fn write_down(
    name: &OsStr,
    arguments: &[OsString],
    real: &Path,
    log: &Path,
) -> std::io::Result<()> {
    let mut record = Record::of_call(name, arguments, real)?;
    // Without copies the record is still worth having.
    let _ = record.save_sources(&record::copies_of(log));
    record.append_to(log)
}

fn has_directory(path: &Path) -> bool {
    path.components().count() > 1
}

pub(crate) fn is_wrapper_directory(dir: &Path) -> bool {
    dir.join(WRAPPER_MARKER).exists()
}

/// This process's PATH without the directories that hold wrappers.
fn path_without_wrappers() -> OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let kept: Vec<PathBuf> = std::env::split_paths(&path)
        .filter(|dir| !is_wrapper_directory(dir))
        .collect();
    std::env::join_paths(kept).unwrap_or(path)
}

/// The compiler that stands behind a wrapper called as `argv0`.
fn real_compiler(argv0: &Path, path: &OsStr) -> Option<PathBuf> {
    let name = argv0.file_name()?;
    let mut note = OsString::from(REAL_PREFIX);
    note.push(name);
    let named = argv0
        .parent()
        .and_then(|dir| std::fs::read_to_string(dir.join(note)).ok());
    match named {
        Some(text) => Some(PathBuf::from(text)).filter(|file| is_executable(file)),
        None => search_path(name, path),
    }
}

/// Makes (or finds) the directory of wrappers for all compilers on `path`, beneath `root`; `extra` are names to
/// wrap although they don't look like compilers. The same compilers give the same directory.
pub(crate) fn wrapper_directory(
    root: &Path,
    drip: &Path,
    path: &OsStr,
    extra: &[String],
) -> std::io::Result<PathBuf> {
    let mut names = compilers_on(path);
    names.extend(
        extra
            .iter()
            .filter(|name| search_path(OsStr::new(name), path).is_some())
            .cloned(),
    );
    let fields = names.iter().map(|name| name.as_bytes());
    let dir = root.join(short_hash(drip, fields));
    make_directory(&dir)?;
    for name in &names {
        link(drip, &dir.join(name))?;
    }
    Ok(dir)
}

/// A wrapper for one compiler that the user named by its full path.
pub(crate) fn wrapper_for(root: &Path, drip: &Path, compiler: &Path) -> std::io::Result<PathBuf> {
    let bad_name = || {
        std::io::Error::new(
            std::io::ErrorKind::InvalidInput,
            "the compiler's path is not UTF-8",
        )
    };
    let name = compiler
        .file_name()
        .and_then(OsStr::to_str)
        .ok_or_else(bad_name)?;
    let text = compiler.to_str().ok_or_else(bad_name)?;
    let dir = root.join(short_hash(drip, [text.as_bytes()]));
    make_directory(&dir)?;
    std::fs::write(dir.join(format!("{REAL_PREFIX}{name}")), text)?;
    let wrapper = dir.join(name);
    link(drip, &wrapper)?;
    Ok(wrapper)
}

/// Names of all compilers and launchers on `path`, wrappers not counted.
pub(crate) fn compilers_on(path: &OsStr) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for dir in std::env::split_paths(path).filter(|dir| !is_wrapper_directory(dir)) {
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            let file = entry.file_name();
            if let Some(name) = file.to_str()
                && (compiler_name(name).is_some() || is_launcher(name))
                && is_executable(&entry.path())
            {
                names.insert(name.to_owned());
            }
        }
    }
    names
}

fn short_hash<'a>(drip: &'a Path, fields: impl IntoIterator<Item = &'a [u8]>) -> String {
    let all = std::iter::once(drip.as_os_str().as_encoded_bytes()).chain(fields);
    crate::cache::key(all).chars().take(16).collect()
}

fn make_directory(dir: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(dir)?;
    std::fs::write(
        dir.join(WRAPPER_MARKER),
        "Compiler wrappers of drip. They pass every call on to the real compiler.\n",
    )
}

/// A link to the drip binary. Another run may make the same one at the same time.
fn link(drip: &Path, place: &Path) -> std::io::Result<()> {
    if std::fs::read_link(place).is_ok_and(|target| target == drip) {
        return Ok(());
    }
    let temporary = place.with_file_name(format!(
        ".new-{}-{}",
        std::process::id(),
        place.file_name().unwrap_or_default().to_string_lossy()
    ));
    // A leftover of a killed run with our process id.
    let _ = std::fs::remove_file(&temporary);
    std::os::unix::fs::symlink(drip, &temporary)?;
    std::fs::rename(&temporary, place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compiler_names_make_a_wrapper() {
        for name in [
            "gcc",
            "/x/y/cc",
            "clang++-19",
            "aarch64-linux-gnu-gcc",
            "ccache",
        ] {
            assert!(is_wrapper_invocation(OsStr::new(name)), "{name}");
        }
        for name in [
            "drip",
            "/usr/bin/drip",
            "./drip-0.1",
            "target/debug/deps/drip-4711",
            "",
        ] {
            assert!(!is_wrapper_invocation(OsStr::new(name)), "{name}");
        }
    }

    #[test]
    fn any_name_in_a_wrapper_directory_is_a_wrapper() {
        let dir = tempfile::tempdir().unwrap();
        let mycc = dir.path().join("mycc");
        assert!(!is_wrapper_invocation(mycc.as_os_str()));
        make_directory(dir.path()).unwrap();
        assert!(is_wrapper_invocation(mycc.as_os_str()));
    }

    #[test]
    fn directories_are_stable_and_the_real_compiler_is_found_behind_them() {
        let root = tempfile::tempdir().unwrap();
        let path = std::env::var_os("PATH").unwrap();
        let drip = Path::new("/opt/drip/bin/drip");
        let extra = ["sh".to_owned(), "no-such-compiler".to_owned()];
        let dir = wrapper_directory(root.path(), drip, &path, &extra).unwrap();
        assert_eq!(
            dir,
            wrapper_directory(root.path(), drip, &path, &extra).unwrap()
        );
        assert_eq!(std::fs::read_link(dir.join("gcc")).unwrap(), drip);
        assert!(dir.join("sh").is_symlink() && !dir.join("no-such-compiler").is_symlink());
        let mut dirs = vec![dir.clone()];
        dirs.extend(std::env::split_paths(&path));
        let with_wrappers = std::env::join_paths(dirs).unwrap();
        let real = real_compiler(&dir.join("gcc"), &with_wrappers).unwrap();
        assert!(!real.starts_with(root.path()), "{}", real.display());
    }

    #[test]
    fn a_compiler_named_by_path_keeps_its_path() {
        let root = tempfile::tempdir().unwrap();
        let drip = Path::new("/opt/drip/bin/drip");
        let wrapper = wrapper_for(root.path(), drip, Path::new("/bin/sh")).unwrap();
        assert_eq!(
            real_compiler(&wrapper, OsStr::new("")),
            Some(PathBuf::from("/bin/sh"))
        );
    }
}
