//! Sources of real programs: fetched as Debian's source packages, configured, built once under `bear`.
//!
//! What is fetched stays in the bench's work directory, `WORK/<program>/src`, with `compile_commands.json` and the
//! package's version beside it; a later run, or another one by `--sources`, takes it from there.

use super::programs::ProgramSpec;
use super::units::{self, Unit};
use anyhow::{Context, bail, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A program that is ready to be compiled.
#[derive(Debug)]
pub struct Prepared {
    pub spec: ProgramSpec,
    pub version: String,
    pub source: PathBuf,
    pub units: Vec<Unit>,
    pub kloc: f64,
    /// Working directory of this program, with the `compile_commands.json` of exactly these units.
    pub work: PathBuf,
}

const DATABASE: &str = "compile_commands.json";
/// Where the lines for source packages go while they are needed.
const APT_FILE: &str = "/etc/apt/sources.list.d/drip-bench-sources.list";
const APT_DEB822: &str = "/etc/apt/sources.list.d/drip-bench-sources.sources";

/// Finds a program below `sources` or in the work directory, where [`fetch_missing`] has put it.
pub fn prepare(
    spec: &ProgramSpec,
    work: &Path,
    sources: Option<&Path>,
) -> anyhow::Result<Prepared> {
    let work = work.join(&spec.name);
    fs::create_dir_all(&work).with_context(|| format!("cannot make {work:?}"))?;
    let given = sources.map(|dir| dir.join(&spec.name));
    let has_database = |dir: &PathBuf| dir.join(DATABASE).is_file();
    let home = match given.filter(has_database) {
        Some(home) => home,
        None => work.join("build"),
    };
    ensure!(has_database(&home), "{} is not there", spec.name);
    // Positions in the bitcode are by the paths that the compiler was given.
    let home = home.canonicalize()?;
    let source = home.join("src");
    let units = units::read_database(&home.join(DATABASE), &source, &spec.exclude)?;
    ensure!(!units.is_empty(), "{} has no units", spec.name);
    units::write_database(&units, &work)?;
    let version = fs::read_to_string(home.join("version")).unwrap_or_default();
    Ok(Prepared {
        spec: spec.clone(),
        version: version.trim().to_owned(),
        kloc: units::kloc(&units),
        source,
        units,
        work,
    })
}

/// Which of the programs would have to be fetched?
fn missing<'s>(
    specs: &'s [ProgramSpec],
    work: &Path,
    sources: Option<&Path>,
) -> Vec<&'s ProgramSpec> {
    let there = |spec: &ProgramSpec| {
        let given = sources.is_some_and(|dir| dir.join(&spec.name).join(DATABASE).is_file());
        given || work.join(&spec.name).join("build").join(DATABASE).is_file()
    };
    specs.iter().filter(|spec| !there(spec)).collect()
}

/// Fetches and unpacks a source package.
fn fetch(spec: &ProgramSpec, home: &Path) -> anyhow::Result<()> {
    eprintln!("bench: fetching {}", spec.package);
    // What an earlier run left half done.
    let _ = fs::remove_dir_all(home);
    fs::create_dir_all(home)?;
    let get = |package: &str| {
        let mut command = Command::new("apt-get");
        succeed(command.current_dir(home).args(["source", "-qq", package]))
    };
    // A mirror may list a version that it does not have yet: an older one does as well.
    let newest = get(&spec.package);
    let mut older = versions(&spec.package).into_iter();
    if newest.is_err() && !older.any(|version| get(&format!("{}={version}", spec.package)).is_ok())
    {
        newest?;
    }
    let unpacked = only_directory(home)?;
    fs::write(home.join("version"), dsc_version(home)?)?;
    fs::rename(&unpacked, home.join("src"))?;
    Ok(())
}

/// The versions of a source package that the archives list.
fn versions(package: &str) -> Vec<String> {
    let shown = Command::new("apt-cache")
        .args(["showsrc", package])
        .output();
    let text = shown.map(|out| String::from_utf8_lossy(&out.stdout).into_owned());
    listed_versions(&text.unwrap_or_default())
}

fn listed_versions(text: &str) -> Vec<String> {
    let mut versions: Vec<String> = text
        .lines()
        .filter_map(|line| line.strip_prefix("Version: "))
        .map(|version| version.trim().to_owned())
        .collect();
    versions.dedup();
    versions
}

/// Configures and builds a program; its compiler calls become the database.
fn build(spec: &ProgramSpec, home: &Path) -> anyhow::Result<()> {
    eprintln!("bench: building {}", spec.name);
    let shell = |name: &str, words: &[&str], script: &str| {
        let log = fs::File::create(home.join(name))?;
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).args(["sh", "-c", script]);
        command.current_dir(home.join("src")).stdin(Stdio::null());
        command.stdout(log.try_clone()?).stderr(log);
        command.env("CC", "cc").env("CXX", "c++");
        succeed(&mut command).with_context(|| format!("see {:?}", home.join(name)))
    };
    shell("configure.log", &["env"], &spec.configure)?;
    // The database gets its name last: a build that failed is none.
    let raw = home.join("calls.json");
    let raw_name = raw.to_string_lossy();
    shell(
        "build.log",
        &["bear", "--output", &raw_name, "--"],
        &spec.build,
    )?;
    fs::rename(&raw, home.join(DATABASE)).context("bear saw no compiler")
}

/// Gets the programs that are not there yet. Source packages are enabled only while they are fetched. What fails is told
/// and left out.
pub fn fetch_missing(
    specs: &[ProgramSpec],
    work: &Path,
    sources: Option<&Path>,
) -> anyhow::Result<()> {
    let missing = missing(specs, work, sources);
    if missing.is_empty() {
        return Ok(());
    }
    let home = |spec: &ProgramSpec| work.join(&spec.name).join("build");
    let needs: Vec<String> = missing.iter().flat_map(|spec| spec.needs.clone()).collect();
    let enabled = SourcePackages::enable(&needs)?;
    let fetched: Vec<_> = missing
        .into_iter()
        .map(|spec| (spec, fetch(spec, &home(spec))))
        .collect();
    drop(enabled);
    for (spec, fetched) in fetched {
        if let Err(error) = fetched.and_then(|()| build(spec, &home(spec))) {
            eprintln!("bench: {} is left out: {error:#}", spec.name);
        }
    }
    Ok(())
}

fn only_directory(home: &Path) -> anyhow::Result<PathBuf> {
    let entries = fs::read_dir(home)?.filter_map(Result::ok);
    let mut directories = entries.map(|e| e.path()).filter(|p| p.is_dir());
    match (directories.next(), directories.next()) {
        (Some(one), None) => Ok(one),
        _ => bail!("apt-get source did not unpack one directory into {home:?}"),
    }
}

fn dsc_version(home: &Path) -> anyhow::Result<String> {
    let entries = fs::read_dir(home)?.filter_map(Result::ok);
    let dsc = entries
        .map(|e| e.path())
        .find(|p| p.extension().is_some_and(|e| e == "dsc"))
        .context("no .dsc file")?;
    let text = fs::read_to_string(dsc)?;
    let version = text.lines().find_map(|line| line.strip_prefix("Version: "));
    Ok(version.unwrap_or("unknown").to_owned())
}

/// Source packages can be fetched while this lives: lines for them in files of their own, removed at the end.
struct SourcePackages;

impl SourcePackages {
    fn enable(needs: &[String]) -> anyhow::Result<SourcePackages> {
        let guard = SourcePackages;
        let mut lines = String::new();
        let mut stanzas = String::new();
        for file in apt_files() {
            let text = fs::read_to_string(&file).unwrap_or_default();
            match file.extension().and_then(|e| e.to_str()) {
                Some("sources") => stanzas.push_str(&as_source_stanzas(&text)),
                _ => lines.push_str(&as_source_lines(&text)),
            }
        }
        write_as_root(APT_FILE, &lines)?;
        write_as_root(APT_DEB822, &stanzas)?;
        succeed(&mut as_root("apt-get", &["update", "-qq"]))?;
        if !needs.is_empty() {
            let words = ["install", "-y", "-qq", "--no-install-recommends"];
            succeed(as_root("apt-get", &words).args(needs))?;
        }
        Ok(guard)
    }
}

impl Drop for SourcePackages {
    fn drop(&mut self) {
        // A file that is not there is as good as removed.
        let _ = as_root("rm", &["-f", APT_FILE, APT_DEB822]).status();
    }
}

fn apt_files() -> Vec<PathBuf> {
    let mut files = vec![PathBuf::from("/etc/apt/sources.list")];
    let parts = fs::read_dir("/etc/apt/sources.list.d")
        .into_iter()
        .flatten();
    files.extend(parts.filter_map(Result::ok).map(|entry| entry.path()));
    files.retain(|file| {
        file.is_file() && file != Path::new(APT_FILE) && file != Path::new(APT_DEB822)
    });
    files.sort();
    files
}

/// One-line style: the same archives, as sources.
fn as_source_lines(text: &str) -> String {
    let binary = text.lines().filter_map(|line| line.strip_prefix("deb "));
    binary.map(|rest| format!("deb-src {rest}\n")).collect()
}

/// deb822 style: the same stanzas, as sources.
fn as_source_stanzas(text: &str) -> String {
    let as_source = |line: &str| match line.strip_prefix("Types:") {
        Some(_) => "Types: deb-src\n".to_owned(),
        None => format!("{line}\n"),
    };
    text.lines().map(as_source).collect()
}

fn write_as_root(path: &str, text: &str) -> anyhow::Result<()> {
    let temporary = std::env::temp_dir().join(format!("drip-bench-{}", std::process::id()));
    fs::write(&temporary, text)?;
    let done = succeed(as_root("install", &["-m", "644"]).arg(&temporary).arg(path));
    let _ = fs::remove_file(&temporary);
    done
}

fn as_root(program: &str, words: &[&str]) -> Command {
    let id = Command::new("id").arg("-u").output();
    let is_root = id.is_ok_and(|out| out.stdout.trim_ascii() == b"0");
    let mut command = match is_root {
        true => Command::new(program),
        false => {
            let mut sudo = Command::new("sudo");
            sudo.arg(program);
            sudo
        }
    };
    command.args(words).env("DEBIAN_FRONTEND", "noninteractive");
    command
}

fn succeed(command: &mut Command) -> anyhow::Result<()> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => bail!("{command:?} failed: {status}"),
        Err(error) => bail!("cannot run {command:?}: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_listed() {
        let text = "Package: a\nVersion: 2-1\n\nPackage: a\nVersion: 1:1.0-1\n";
        assert_eq!(listed_versions(text), ["2-1", "1:1.0-1"]);
    }

    #[test]
    fn archives_become_sources() {
        let lines =
            "deb http://a.example/debian x main\n# deb y\ndeb-src http://b.example x main\n";
        assert_eq!(
            as_source_lines(lines),
            "deb-src http://a.example/debian x main\n"
        );
        let stanza = "Types: deb\nURIs: http://a.example\nSuites: x\n";
        let expected = "Types: deb-src\nURIs: http://a.example\nSuites: x\n";
        assert_eq!(as_source_stanzas(stanza), expected);
    }
}
