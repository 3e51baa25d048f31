//! Translation units out of a compilation database: what all tools compile, with the same flags.
//!
//! Only what changes the meaning of the source is kept of a command; output, dependency files, warnings, optimisation and
//! debug levels go, since each tool sets its own. Units that differ in position independence only (libtool compiles
//! twice) are one.

use anyhow::Context;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug)]
pub struct Unit {
    pub directory: PathBuf,
    pub file: PathBuf,
    pub cxx: bool,
    pub flags: Vec<String>,
}

/// An entry of `compile_commands.json`; `bear` and others write `arguments`.
#[derive(Debug, Deserialize, Serialize)]
struct Entry {
    directory: PathBuf,
    file: PathBuf,
    arguments: Vec<String>,
}

/// Flags with a value of their own that only matter to the build.
const DROPPED_WITH_VALUE: &[&str] = &[
    "-o",
    "-MF",
    "-MT",
    "-MQ",
    "-x",
    "-Xlinker",
    "-L",
    "-l",
    "-Xassembler",
    "-z",
    "-T",
];
/// Flags with a value of their own that are kept.
const KEPT_WITH_VALUE: &[&str] = &[
    "-I",
    "-D",
    "-U",
    "-isystem",
    "-iquote",
    "-include",
    "-idirafter",
    "-imacros",
    "--param",
];
const DROPPED: &[&str] = &[
    "-c",
    "-MD",
    "-MMD",
    "-MP",
    "-MG",
    "-pipe",
    "-s",
    "-shared",
    "-static",
    "-rdynamic",
    "-pie",
    "-no-pie",
    "-r",
    "-w",
    "-save-temps",
];
const DROPPED_PREFIXES: &[&str] = &[
    "-Wl,",
    "-Wp,-M",
    "-Wa,",
    "-L",
    "-l",
    "-O",
    "-g",
    "-flto",
    "-fdebug-prefix",
    "-ffile-prefix",
    "-fdiagnostics",
    "-B",
    "-fuse-ld",
    // Hardening and code generation, which only one of the compilers may know.
    "-Q",
    "-mretpoline",
    "-mindirect-branch",
    "-mfunction-return",
    "-fzero-call-used-regs",
    "-ftrivial-auto-var-init",
    "-fstack-protector",
    "-fstack-clash",
    "-fcf-protection",
    "-fno-slp-vectorize",
];
const POSITION: &[&str] = &["-fPIC", "-fpic", "-fPIE", "-fpie", "-DPIC", "-prefer-pic"];
const CXX_ENDINGS: &[&str] = &["cc", "cpp", "cxx", "C"];
/// Sources that `configure` scripts compile to see whether they compile.
const PROBES: &[&str] = &["conftest", "config-temp"];

impl Unit {
    fn from_entry(entry: &Entry) -> Option<Unit> {
        let file = entry.directory.join(&entry.file);
        let ending = file.extension()?.to_str()?;
        let cxx = CXX_ENDINGS.contains(&ending);
        let mut flags = Vec::new();
        let mut words = entry.arguments.iter().skip(1);
        while let Some(word) = words.next() {
            if DROPPED_WITH_VALUE.contains(&word.as_str()) {
                words.next();
            } else if KEPT_WITH_VALUE.contains(&word.as_str()) {
                flags.push(word.clone());
                flags.extend(words.next().cloned());
            } else if word.starts_with('-') && !is_dropped(word) {
                // Other words are the source, and objects of a command that also links.
                flags.push(word.clone());
            }
        }
        (cxx || ending == "c").then_some(Unit {
            directory: entry.directory.clone(),
            file,
            cxx,
            flags,
        })
    }

    /// Command words of this unit for `drip`, cppcheck and others that read a database.
    fn entry(&self) -> Entry {
        let compiler = if self.cxx { "clang++-19" } else { "clang-19" };
        let mut arguments = vec![compiler.to_owned()];
        arguments.extend(self.flags.iter().cloned());
        arguments.extend(["-c".to_owned(), self.file.display().to_string()]);
        Entry {
            directory: self.directory.clone(),
            file: self.file.clone(),
            arguments,
        }
    }
}

fn is_dropped(word: &str) -> bool {
    let warning = word.starts_with("-W") && !word.contains("implicit");
    warning
        || DROPPED.contains(&word)
        || DROPPED_PREFIXES
            .iter()
            .any(|prefix| word.starts_with(prefix))
}

/// Reads a database: its units without probes, twins and what `exclude` names (by a part of the path below `source`).
pub fn read_database(file: &Path, source: &Path, exclude: &[String]) -> anyhow::Result<Vec<Unit>> {
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {file:?}"))?;
    let entries: Vec<Entry> = serde_json::from_str(&text).with_context(|| format!("{file:?}"))?;
    let mut seen = HashSet::new();
    let mut units = Vec::new();
    for unit in entries.iter().filter_map(Unit::from_entry) {
        let shown = unit.file.strip_prefix(source).unwrap_or(&unit.file);
        let shown = shown.to_string_lossy().into_owned();
        let probe = PROBES.iter().any(|probe| shown.contains(probe));
        if probe || exclude.iter().any(|part| shown.contains(part.as_str())) || !unit.file.is_file()
        {
            continue;
        }
        let meaning: Vec<String> = unit
            .flags
            .iter()
            .filter(|flag| !POSITION.contains(&flag.as_str()))
            .cloned()
            .collect();
        if seen.insert((unit.directory.clone(), unit.file.clone(), meaning)) {
            units.push(unit);
        }
    }
    Ok(units)
}

/// Writes the units as a database, for the tools that read one.
pub fn write_database(units: &[Unit], directory: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(directory).with_context(|| format!("cannot make {directory:?}"))?;
    let entries: Vec<Entry> = units.iter().map(Unit::entry).collect();
    let file = directory.join("compile_commands.json");
    fs::write(&file, serde_json::to_string_pretty(&entries)?)
        .with_context(|| format!("cannot write {file:?}"))
}

/// The same with each command as one line for a shell. cppcheck 2.10 reads `arguments`, too, but drops the quotes of `-DNAME="text"` there, and
/// then can't read the unit.
pub fn write_shell_database(units: &[Unit], directory: &Path) -> anyhow::Result<PathBuf> {
    #[derive(Serialize)]
    struct Line {
        directory: PathBuf,
        file: PathBuf,
        command: String,
    }
    fs::create_dir_all(directory).with_context(|| format!("cannot make {directory:?}"))?;
    let mut lines = Vec::with_capacity(units.len());
    for entry in units.iter().map(Unit::entry) {
        let words = entry.arguments.iter().map(String::as_str);
        lines.push(Line {
            command: shlex::try_join(words).with_context(|| format!("{:?}", entry.file))?,
            directory: entry.directory,
            file: entry.file,
        });
    }
    let file = directory.join("compile_commands.json");
    fs::write(&file, serde_json::to_string_pretty(&lines)?)
        .with_context(|| format!("cannot write {file:?}"))?;
    Ok(file)
}

/// Thousands of lines of the compiled files, each once, headers not counted.
pub fn kloc(units: &[Unit]) -> f64 {
    let files: HashSet<&PathBuf> = units.iter().map(|unit| &unit.file).collect();
    let lines = |file: &PathBuf| {
        let bytes = fs::read(file).unwrap_or_default();
        bytes.iter().filter(|&&byte| byte == b'\n').count()
    };
    files.into_iter().map(lines).sum::<usize>() as f64 / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags_of(words: &[&str]) -> Vec<String> {
        let mut arguments = vec!["cc".to_owned()];
        arguments.extend(words.iter().map(|w| (*w).to_owned()));
        let entry = Entry {
            directory: "/src".into(),
            file: "a.c".into(),
            arguments,
        };
        Unit::from_entry(&entry).unwrap().flags
    }

    #[test]
    fn only_the_meaning_is_kept() {
        let words = [
            "-I",
            "inc",
            "-DX=1",
            "-O2",
            "-g3",
            "-Wall",
            "-std=gnu99",
            "-MF",
            "a.d",
            "-MD",
            "-o",
            "a.o",
            "-c",
            "a.c",
            "-pthread",
            "-lfoo",
        ];
        assert_eq!(
            flags_of(&words),
            ["-I", "inc", "-DX=1", "-std=gnu99", "-pthread"]
        );
    }

    #[test]
    fn quotes_survive_in_the_database_for_shells() {
        let dir = tempfile::tempdir().unwrap();
        let entry = Entry {
            directory: dir.path().to_owned(),
            file: "a.c".into(),
            arguments: ["cc", "-DDIR=\"/usr/share\"", "-c", "a.c"]
                .map(str::to_owned)
                .to_vec(),
        };
        let unit = Unit::from_entry(&entry).unwrap();
        let file = write_shell_database(&[unit], dir.path()).unwrap();
        let lines: serde_json::Value =
            serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
        let command = lines[0]["command"].as_str().unwrap();
        let words = shlex::split(command).unwrap();
        assert!(
            words.contains(&"-DDIR=\"/usr/share\"".to_owned()),
            "{command}"
        );
    }

    #[test]
    fn twins_probes_and_excluded_files_are_left_out() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for name in ["a.c", "t_x.c", "conftest.c"] {
            fs::write(at(name), "int x;\n").unwrap();
        }
        let entry = |name: &str, flag: &str| Entry {
            directory: dir.path().to_owned(),
            file: name.into(),
            arguments: ["cc", flag, "-c", name].map(str::to_owned).to_vec(),
        };
        let entries = [
            entry("a.c", "-fPIC"),
            entry("a.c", "-DY"),
            entry("a.c", "-fpic"),
            entry("t_x.c", "-DY"),
            entry("conftest.c", "-DY"),
            entry("gone.c", "-DY"),
        ];
        fs::write(at("db.json"), serde_json::to_string(&entries).unwrap()).unwrap();
        let units = read_database(&at("db.json"), dir.path(), &["t_".to_owned()]).unwrap();
        assert_eq!(units.len(), 2);
        assert_eq!(kloc(&units), 0.001);
        write_database(&units, dir.path()).unwrap();
        let again = read_database(&at("compile_commands.json"), dir.path(), &[]).unwrap();
        assert_eq!(again.len(), 2);
    }
}
