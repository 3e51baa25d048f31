//! What one compile is: a source file, its language and the flags that change its meaning.

use crate::{SkipReason, Skipped, flags};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// One source file to be compiled to bitcode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// The source file, absolute.
    pub source: PathBuf,
    /// The source as the compile command names it: it ends up in `__FILE__` and in the debug information.
    pub source_argument: OsString,
    /// Where the compiler was started.
    pub directory: PathBuf,
    pub language: Language,
    /// Flags to hand to clang, in order, without source, output and language.
    pub flags: Vec<String>,
    /// Flags of the original command that were left out beforehand because clang is known not to take them.
    pub dropped: Vec<String>,
    /// Environment variables that change what is compiled (`CPATH` and its like).
    pub environment: BTreeMap<String, String>,
    /// A copy of the source, taken when the build compiled it, if the build has deleted the source since.
    pub saved_source: Option<PathBuf>,
    /// The object file that the original command made.
    pub object: Option<PathBuf>,
}

/// Languages as far as the capture cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Language {
    C,
    Cxx,
    /// C after preprocessing (`.i`).
    PreprocessedC,
    /// C++ after preprocessing (`.ii`).
    PreprocessedCxx,
    Assembler,
    Header,
    Other,
}

impl Language {
    /// By file extension, as gcc does it; `None` for what a compiler hands to the linker.
    pub fn of_path(path: &Path) -> Option<Self> {
        Some(match path.extension()?.to_str()? {
            "c" => Language::C,
            "cc" | "cp" | "cxx" | "cpp" | "CPP" | "c++" | "C" => Language::Cxx,
            "i" => Language::PreprocessedC,
            "ii" => Language::PreprocessedCxx,
            "s" | "S" | "sx" | "asm" => Language::Assembler,
            "h" | "hh" | "hpp" | "hxx" | "H" | "hp" | "h++" | "tcc" => Language::Header,
            "m" | "mi" | "mm" | "M" | "mii" | "f" | "for" | "ftn" | "F" | "FOR" | "fpp" | "f90"
            | "F90" | "f95" | "F95" | "f03" | "f08" | "go" | "d" | "di" | "adb" | "ads" | "cu"
            | "rs" | "swift" => Language::Other,
            _ => return None,
        })
    }

    /// By the argument of `-x`.
    pub fn of_option(name: &str) -> Self {
        match name {
            "c" => Language::C,
            "c++" => Language::Cxx,
            "cpp-output" | "c-cpp-output" => Language::PreprocessedC,
            "c++-cpp-output" => Language::PreprocessedCxx,
            "assembler" | "assembler-with-cpp" => Language::Assembler,
            "c-header" | "c++-header" | "c++-system-header" | "c++-user-header" => Language::Header,
            _ => Language::Other,
        }
    }

    /// The argument of `-x` for clang; an error says why there is nothing to compile.
    pub fn clang_name(self) -> Result<&'static str, SkipReason> {
        match self {
            Language::C => Ok("c"),
            Language::Cxx => Ok("c++"),
            Language::PreprocessedC => Ok("cpp-output"),
            Language::PreprocessedCxx => Ok("c++-cpp-output"),
            Language::Assembler => Err(SkipReason::Assembler),
            Language::Header => Err(SkipReason::Header),
            Language::Other => Err(SkipReason::OtherLanguage),
        }
    }

    pub(crate) fn is_cxx(self) -> bool {
        matches!(self, Language::Cxx | Language::PreprocessedCxx)
    }
}

/// A job for a file that comes without a compile command.
pub(crate) fn plain_job(source: &Path, directory: &Path) -> Result<Job, SkipReason> {
    let language = Language::of_path(source).unwrap_or(Language::Other);
    language.clang_name()?;
    Ok(Job {
        source: directory.join(source),
        source_argument: source.as_os_str().to_owned(),
        directory: directory.to_owned(),
        language,
        flags: Vec::new(),
        dropped: Vec::new(),
        environment: BTreeMap::new(),
        saved_source: None,
        object: None,
    })
}

/// Leaves the first of each group of jobs that compile the same source in the same way. Position-independent code
/// is the same way: libtool compiles every file twice, and nobody wants each leak reported twice.
pub(crate) fn deduplicate(jobs: Vec<Job>, skipped: &mut Vec<Skipped>) -> Vec<Job> {
    let mut seen = BTreeSet::new();
    let mut kept = Vec::with_capacity(jobs.len());
    for job in jobs {
        let flags: Vec<String> = job
            .flags
            .iter()
            .filter(|f| !flags::is_pic(f))
            .cloned()
            .collect();
        let identity = (
            job.source.clone(),
            job.directory.clone(),
            job.language,
            flags,
        );
        if seen.insert(identity) {
            kept.push(job);
        } else {
            skipped.push(Skipped {
                path: job.source,
                reason: SkipReason::Duplicate,
            });
        }
    }
    kept
}
