//! One clang command: the capture's flags, the user's flags as far as clang takes them, and the key of its result.

use crate::cc1::DEPENDENCY_TARGET;
use crate::retry::{self, Change};
use crate::{ClangInfo, Job, Language, SkipReason, cache};
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;

/// The flags every unit is compiled with: debug information, no optimisation passes but the front end's -O1
/// attributes and TBAA, no lifetime markers, no fortified library calls, no warnings. `-Wno-everything` also
/// silences the warnings that newer clangs make errors of (implicit declarations), which the user's gcc accepts.
/// LLVM's verifier would take a sixth of the compile's time, and drip verifies every program that it reads; the order
/// of uses, which the driver asks for, is of no use to it.
pub const CAPTURE_FLAGS: [&str; 16] = [
    "-g",
    "-O1",
    "-Xclang",
    "-disable-llvm-passes",
    "-Xclang",
    "-disable-lifetime-markers",
    "-Xclang",
    "-disable-llvm-verifier",
    "-Xclang",
    NO_USE_LISTS,
    "-U__OPTIMIZE__",
    "-U_FORTIFY_SOURCE",
    "-w",
    "-Wno-everything",
    "-emit-llvm",
    "-c",
];

/// A flag of the capture that a foreign clang may not know; it does without.
const NO_USE_LISTS: &str = "-no-emit-llvm-uselists";

/// Since gcc 11, C++ without `-std` is gnu++17; clang took that over in version 16.
const FIRST_CXX17_BY_DEFAULT: u32 = 16;

/// Environment variables by which clang would write or read files that are none of ours.
const REMOVED_ENVIRONMENT: [&str; 2] = ["DEPENDENCIES_OUTPUT", "SUNPRO_DEPENDENCIES"];

/// Environment variables that change what a compile sees; part of the cache key.
pub(crate) const MEANINGFUL_ENVIRONMENT: [&str; 5] = [
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "SDKROOT",
    "MACOSX_DEPLOYMENT_TARGET",
];

/// All of an invocation but the source's name.
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Group<'a> {
    language: &'static str,
    directory: &'a Path,
    /// Where the source lies: what it includes from there has the same name in all units of the group.
    place: Option<&'a Path>,
    flags: &'a [String],
    environment: Vec<(&'static str, OsString)>,
}

/// A job made concrete for one clang. Flags may be dropped from it between runs.
#[derive(Clone)]
pub(crate) struct Invocation<'a> {
    clang: &'a ClangInfo,
    pub job: &'a Job,
    language: &'static str,
    flags: Vec<String>,
    /// Clang does not know [`NO_USE_LISTS`].
    with_use_lists: bool,
    /// Flags dropped so far because clang refused them.
    pub dropped: Vec<String>,
}

impl<'a> Invocation<'a> {
    /// The error says why there is nothing to compile.
    pub fn new(clang: &'a ClangInfo, job: &'a Job, extra: &[String]) -> Result<Self, SkipReason> {
        let language = job.language.clang_name()?;
        let mut flags = job.flags.clone();
        flags.extend_from_slice(extra);
        let has_standard = flags
            .iter()
            .any(|f| f.starts_with("-std=") || f.starts_with("--std"));
        if job.language.is_cxx() && !has_standard && clang.major < FIRST_CXX17_BY_DEFAULT {
            flags.insert(0, "-std=gnu++17".to_owned());
        }
        Ok(Invocation {
            clang,
            job,
            language,
            flags,
            with_use_lists: false,
            dropped: Vec::new(),
        })
    }

    /// The same by the newest standard, if none was asked for: what clang's own does not take may be written for that one.
    pub fn newer(&self) -> Option<Invocation<'a>> {
        let has_standard = |f: &String| f.starts_with("-std=") || f.starts_with("--std");
        let standard = match self.job.language.is_cxx() {
            true => "-std=gnu++20",
            false => "-std=gnu2x",
        };
        let is_free = self.job.saved_source.is_none() && !self.job.flags.iter().any(has_standard);
        is_free.then(|| {
            let mut newer = self.clone();
            newer.flags.retain(|f| !has_standard(f));
            newer.flags.insert(0, standard.to_owned());
            newer
        })
    }

    /// The cache key. To be taken before any flag is dropped: what clang refuses follows from what it was given.
    pub fn key(&self) -> String {
        let mut fields: Vec<&[u8]> = vec![
            self.clang.identity.as_bytes(),
            self.language.as_bytes(),
            self.job.directory.as_os_str().as_encoded_bytes(),
            self.job.source_argument.as_encoded_bytes(),
        ];
        // The name of a copy holds the hash of its content.
        if let Some(copy) = &self.job.saved_source {
            fields.push(copy.as_os_str().as_encoded_bytes());
        }
        fields.extend(CAPTURE_FLAGS.iter().map(|f| f.as_bytes()));
        fields.extend(self.flags.iter().map(|f| f.as_bytes()));
        let environment = self.environment();
        for (name, value) in &environment {
            fields.push(name.as_bytes());
            fields.push(value.as_encoded_bytes());
        }
        cache::key(fields)
    }

    /// What units must have in common to be compiled by one process. `None`: this one is compiled for itself.
    pub fn group(&self) -> Option<Group<'_>> {
        let is_plain = matches!(self.job.language, Language::C | Language::Cxx)
            && self.job.saved_source.is_none()
            && self.dropped.is_empty()
            && !self.with_use_lists
            // Modules are kept between the sources of a process.
            && !self.flags.iter().any(|f| f.starts_with("-f") && f.contains("module"));
        is_plain.then(|| Group {
            language: self.language,
            directory: &self.job.directory,
            place: Path::new(&self.job.source_argument).parent(),
            flags: &self.flags,
            environment: self.environment(),
        })
    }

    /// The process to start.
    pub fn command(&self, output: &Path, depfile: &Path) -> Command {
        let dependencies = Some(("unit", depfile));
        let line = self.arguments(self.source(), output, dependencies);
        self.process(self.clang.path.as_os_str(), line)
    }

    /// The driver, asked what it would start for `source`, with all that is written going to standard output.
    pub fn show_command(&self, source: &Path) -> Command {
        let stdout = Path::new("-");
        let dependencies = Some((DEPENDENCY_TARGET, stdout));
        let mut line = self.arguments(source.as_os_str().to_owned(), stdout, dependencies);
        line.insert(0, "-###".into());
        self.process(self.clang.path.as_os_str(), line)
    }

    /// A process with the job's directory and environment.
    pub fn process(&self, program: &OsStr, arguments: Vec<OsString>) -> Command {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(&self.job.directory)
            .envs(self.environment());
        for name in REMOVED_ENVIRONMENT {
            command.env_remove(name);
        }
        command
    }

    fn arguments(
        &self,
        source: OsString,
        output: &Path,
        dependencies: Option<(&str, &Path)>,
    ) -> Vec<OsString> {
        let mut line: Vec<OsString> = CAPTURE_FLAGS.iter().map(OsString::from).collect();
        if self.with_use_lists
            && let Some(at) = line.iter().position(|flag| flag == NO_USE_LISTS)
        {
            // With its `-Xclang`.
            line.drain(at.saturating_sub(1)..=at);
        }
        // What the source includes by `"x.h"` lies beside the original, not beside the copy.
        if let (Some(_), Some(place)) = (&self.job.saved_source, self.job.source.parent()) {
            line.extend(["-iquote".into(), place.as_os_str().to_owned()]);
        }
        line.extend(self.flags.iter().map(OsString::from));
        if let Some((target, depfile)) = dependencies {
            line.extend(["-MD", "-MT", target, "-MF"].map(OsString::from));
            line.push(depfile.as_os_str().to_owned());
        }
        line.extend(["-x", self.language].map(OsString::from));
        line.push(source);
        line.push("-o".into());
        line.push(output.as_os_str().to_owned());
        line
    }

    /// The source as clang gets it.
    pub fn source(&self) -> OsString {
        if let Some(copy) = &self.job.saved_source {
            return copy.clone().into_os_string();
        }
        let source = &self.job.source_argument;
        if source.as_encoded_bytes().starts_with(b"-") {
            return Path::new(".").join(source).into_os_string();
        }
        source.clone()
    }

    /// The command as a user may paste it into a shell to see all messages.
    pub fn shell_text(&self) -> String {
        let arguments = self.arguments(self.source(), Path::new("/dev/null"), None);
        let mut words = vec![self.clang.path.to_string_lossy().into_owned()];
        words.extend(arguments.iter().map(|a| a.to_string_lossy().into_owned()));
        let quoted = shlex::try_join(words.iter().map(String::as_str));
        quoted.unwrap_or_else(|_| words.join(" "))
    }

    /// Has it one of the flags that clang has refused in other units of this run?
    pub fn has_refused(&self, refused: &BTreeSet<String>) -> bool {
        self.flags.iter().any(|flag| refused.contains(flag))
    }

    /// Drops flags that clang has refused in other units of this run.
    pub fn drop_refused(&mut self, refused: &BTreeSet<String>) {
        let all = std::mem::take(&mut self.flags);
        let (out, kept) = all.into_iter().partition(|flag| refused.contains(flag));
        self.flags = kept;
        self.dropped = out;
    }

    /// Drops or replaces what clang complained about. `None`: it complained about something else. Else the flags that
    /// it does not know at all, whatever the source and the other flags.
    pub fn change_flags(&mut self, stderr: &str) -> Option<Vec<String>> {
        if !self.with_use_lists && stderr.contains(&format!("unknown argument: '{NO_USE_LISTS}'")) {
            self.with_use_lists = true;
            return Some(Vec::new());
        }
        let changes = retry::changes(stderr, &self.flags);
        if changes.is_empty() {
            return None;
        }
        let mut unknown = Vec::new();
        for (index, change) in changes.into_iter().rev() {
            match change {
                Change::Replace(other) => {
                    if let Some(flag) = self.flags.get_mut(index) {
                        *flag = other;
                    }
                }
                Change::Drop if index < self.flags.len() => {
                    let flag = self.flags.remove(index);
                    let behind_xclang = index
                        .checked_sub(1)
                        .filter(|i| self.flags.get(*i).is_some_and(|f| f == "-Xclang"));
                    if let Some(before) = behind_xclang {
                        self.flags.remove(before);
                    } else if stderr.contains(&format!("unknown argument: '{flag}'")) {
                        unknown.push(flag.clone());
                    }
                    self.dropped.push(flag);
                }
                Change::Drop => {}
            }
        }
        Some(unknown)
    }

    /// The job's own variables, and those of ours that it does not name.
    fn environment(&self) -> Vec<(&'static str, OsString)> {
        let value = |name: &'static str| match self.job.environment.get(name) {
            Some(value) => Some(OsString::from(value)),
            None => std::env::var_os(name),
        };
        MEANINGFUL_ENVIRONMENT
            .into_iter()
            .filter_map(|name| Some((name, value(name)?)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Language;
    use std::path::PathBuf;

    fn clang(major: u32) -> ClangInfo {
        ClangInfo {
            path: PathBuf::from("/usr/bin/clang"),
            version: format!("{major}.0.0"),
            major,
            identity: format!("clang version {major}.0.0"),
            found_by: "PATH",
        }
    }

    fn job(flags: &[&str]) -> Job {
        Job {
            source: PathBuf::from("/d/a.cc"),
            source_argument: OsString::from("-a.cc"),
            directory: PathBuf::from("/d"),
            language: Language::Cxx,
            flags: flags.iter().map(|f| (*f).to_owned()).collect(),
            dropped: Vec::new(),
            environment: Default::default(),
            saved_source: None,
            object: None,
        }
    }

    #[test]
    fn old_clangs_get_the_standard_that_gcc_has_by_default() {
        let (old, new) = (clang(14), clang(19));
        let plain = job(&[]);
        let text = |clang, job| Invocation::new(clang, job, &[]).unwrap().shell_text();
        assert!(text(&old, &plain).contains("-std=gnu++17"));
        assert!(!text(&new, &plain).contains("-std="));
        let chosen = job(&["-std=c++11"]);
        assert!(!text(&old, &chosen).contains("gnu++17"));
    }

    #[test]
    fn a_source_that_looks_like_a_flag_is_no_flag() {
        let clang = clang(19);
        let job = job(&[]);
        let text = Invocation::new(&clang, &job, &[]).unwrap().shell_text();
        assert!(text.contains(" ./-a.cc "), "{text}");
    }

    #[test]
    fn a_refused_front_end_flag_takes_its_prefix_along() {
        let clang = clang(19);
        let job = job(&["-DX", "-Xclang", "-fnew-thing", "-m64"]);
        let mut invocation = Invocation::new(&clang, &job, &[]).unwrap();
        let unknown = invocation.change_flags("error: unknown argument: '-fnew-thing'\n");
        assert_eq!(unknown, Some(Vec::new()));
        assert_eq!(invocation.flags, ["-DX", "-m64"]);
        assert_eq!(invocation.dropped, ["-fnew-thing"]);
    }

    #[test]
    fn a_clang_that_does_not_know_the_capture_s_own_flag_does_without() {
        let clang = clang(19);
        let job = job(&["-DX"]);
        let mut invocation = Invocation::new(&clang, &job, &[]).unwrap();
        assert!(
            invocation
                .shell_text()
                .contains("-Xclang -no-emit-llvm-uselists -U")
        );
        let stderr = "error: unknown argument: '-no-emit-llvm-uselists'\n";
        assert_eq!(invocation.change_flags(stderr), Some(Vec::new()));
        let text = invocation.shell_text();
        assert!(text.contains("-Xclang -disable-llvm-verifier -U"), "{text}");
        assert!(invocation.dropped.is_empty() && invocation.group().is_none());
        assert_eq!(invocation.change_flags(stderr), None);
    }

    #[test]
    fn only_units_that_differ_by_nothing_but_the_source_make_a_group() {
        let clang = clang(19);
        let base = job(&["-DX"]);
        let mut other_source = base.clone();
        other_source.source_argument = "b.cc".into();
        let mut jobs = vec![base.clone(); 5];
        jobs[4].source_argument = "sub/a.cc".into();
        jobs[0].flags.push("-DY".to_owned());
        jobs[1].directory = PathBuf::from("/e");
        jobs[2].language = Language::C;
        jobs[3].environment = [("CPATH".to_owned(), "/x".to_owned())].into();
        let invocation = |job| Invocation::new(&clang, job, &[]).unwrap();
        let (first, second) = (invocation(&base), invocation(&other_source));
        assert!(first.group().is_some() && first.group() == second.group());
        for job in &jobs {
            assert!(invocation(job).group() != first.group(), "{job:?}");
        }
        let mut alone = vec![base.clone(); 3];
        alone[0].language = Language::PreprocessedC;
        alone[1].saved_source = Some(PathBuf::from("/copies/a.cc"));
        alone[2].flags.push("-fmodules".to_owned());
        assert!(alone.iter().all(|job| invocation(job).group().is_none()));
        let mut dropped = invocation(&base);
        dropped.drop_refused(&BTreeSet::from(["-DX".to_owned()]));
        assert!(dropped.group().is_none());
    }

    #[test]
    fn keys_differ_by_every_part() {
        let (old, new) = (clang(14), clang(19));
        let base = job(&["-DX"]);
        let split = job(&["-D", "X"]);
        let key = |clang, job| Invocation::new(clang, job, &[]).unwrap().key();
        let mut keys = BTreeSet::from([key(&new, &base), key(&old, &base)]);
        keys.insert(key(&new, &split));
        let mut moved = base.clone();
        moved.directory = PathBuf::from("/e");
        keys.insert(key(&new, &moved));
        let mut with_path = base.clone();
        with_path
            .environment
            .insert("CPATH".to_owned(), "/x".to_owned());
        keys.insert(key(&new, &with_path));
        assert_eq!(keys.len(), 5);
    }
}
