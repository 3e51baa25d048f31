//! What does a compiler's command line compile, and with which flags that matter?
//!
//! Reads the argument list of a gcc- or clang-like compiler, possibly behind ccache or a libtool call, into sources
//! with their language and the flags to hand to our clang. It decides nothing about files: that is left to
//! those who turn the result into [`Job`]s.
//!
//! Invariant: no kept flag makes clang write a file; outputs and side outputs (`-o`, `-MD`, `-save-temps`, …) are gone.

use crate::compiler::{CompilerName, compiler_name, is_launcher};
use crate::flags::{self, Action, Mode, Special};
use crate::{Job, Language, response};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A compile command, understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandLine {
    /// The compiler's name as called, without launchers.
    pub compiler: String,
    pub mode: Mode,
    pub sources: Vec<Source>,
    /// Objects and libraries given to the linker by name.
    pub link_inputs: Vec<String>,
    /// The argument of `-o`.
    pub output: Option<String>,
    /// Flags for clang, in order.
    pub flags: Vec<String>,
    /// Flags left out that clang is known not to take, or that only add instrumentation.
    pub dropped: Vec<String>,
}

/// A source file on a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    pub path: String,
    pub language: Language,
}

impl CommandLine {
    /// Parses `argv` (program name first) of a command that was started in `directory`, where response files are
    /// looked for. `None`: this is not a call of a C or C++ compiler.
    pub fn parse(argv: &[String], directory: &Path) -> Option<Self> {
        let (compiler, arguments) = split_compiler(argv)?;
        let name = compiler_name(compiler).unwrap_or_default();
        let arguments = response::expand(arguments, directory);
        let mut parser = Parser::new(compiler, name);
        let mut words = arguments.into_iter();
        while let Some(word) = words.next() {
            parser.word(word, &mut words);
        }
        Some(parser.finish())
    }

    /// Does this command make objects or programs of its sources?
    pub fn compiles(&self) -> bool {
        matches!(self.mode, Mode::Link | Mode::Compile | Mode::Assembly) && !self.sources.is_empty()
    }

    /// One job per source, whatever its language.
    pub fn jobs(&self, directory: &Path, environment: &BTreeMap<String, String>) -> Vec<Job> {
        let job = |source: &Source| Job {
            source: normal(&directory.join(&source.path)),
            source_argument: OsString::from(&source.path),
            directory: directory.to_owned(),
            language: source.language,
            flags: self.flags.clone(),
            dropped: self.dropped.clone(),
            environment: environment.clone(),
            saved_source: None,
            object: self
                .object_of(source)
                .map(|object| normal(&directory.join(object))),
        };
        self.sources.iter().map(job).collect()
    }

    fn object_of(&self, source: &Source) -> Option<PathBuf> {
        match (self.mode, &self.output) {
            (Mode::Compile, Some(output)) => Some(PathBuf::from(output)),
            (Mode::Compile, None) => {
                let mut object = Path::new(&source.path).file_stem()?.to_owned();
                object.push(".o");
                Some(PathBuf::from(object))
            }
            _ => None,
        }
    }
}

/// `path` without `.` and `a/..`, by text alone, so that one file has one name where links don't interfere.
pub(crate) fn normal(path: &Path) -> PathBuf {
    use std::path::Component;
    let mut result = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(result.components().next_back(), Some(Component::Normal(_))) =>
            {
                result.pop();
            }
            other => result.push(other),
        }
    }
    result
}

/// Skips launchers, `env`, variable settings and libtool in front of the compiler.
fn split_compiler(argv: &[String]) -> Option<(&str, &[String])> {
    let mut rest = argv;
    let mut behind_launcher = false;
    loop {
        let (first, others) = rest.split_first()?;
        let file = Path::new(first)
            .file_name()
            .and_then(|f| f.to_str())
            .unwrap_or(first);
        if compiler_name(first).is_some() {
            return Some((first, others));
        }
        let is_prefix = is_launcher(first)
            || matches!(file, "env" | "nice" | "time" | "libtool" | "glibtool")
            || (matches!(file, "sh" | "bash")
                && others.first().is_some_and(|o| o.ends_with("libtool")));
        let passes_over = behind_launcher && (first.starts_with('-') || first.contains('='));
        if !is_prefix && !passes_over {
            // The caller says that argv[0] is a compiler under another name; behind a launcher anything is one.
            return (behind_launcher || rest.len() == argv.len()).then_some((first, others));
        }
        behind_launcher |= is_prefix;
        rest = others;
    }
}

struct Parser {
    line: CommandLine,
    name: CompilerName,
    /// `-x` in force for the inputs that follow.
    language: Option<Language>,
    /// `-Xpreprocessor` arguments not yet looked at.
    preprocessor: Vec<String>,
    /// The previous `-Xclang` argument was dropped and wants this one as its value.
    drop_next_xclang: bool,
    arch_seen: bool,
}

impl Parser {
    fn new(compiler: &str, name: CompilerName) -> Self {
        Parser {
            line: CommandLine {
                compiler: compiler.to_owned(),
                mode: Mode::Link,
                sources: Vec::new(),
                link_inputs: Vec::new(),
                output: None,
                flags: Vec::new(),
                dropped: Vec::new(),
            },
            name,
            language: None,
            preprocessor: Vec::new(),
            drop_next_xclang: false,
            arch_seen: false,
        }
    }

    fn word(&mut self, word: String, rest: &mut impl Iterator<Item = String>) {
        if !word.starts_with('-') || word == "-" {
            self.input(word);
            return;
        }
        let option = flags::classify(&word);
        let argument = if option.takes_next { rest.next() } else { None };
        match option.action {
            Action::Keep => {
                self.line.flags.push(word);
                self.line.flags.extend(argument);
            }
            Action::Ignore => {}
            Action::Drop => {
                let text = argument.map_or_else(|| word.clone(), |value| format!("{word} {value}"));
                self.line.dropped.push(text);
            }
            Action::Mode(mode) => self.line.mode = self.line.mode.max(mode),
            Action::Special(special) => {
                let joined = word
                    .strip_prefix(option.name)
                    .unwrap_or_default()
                    .to_owned();
                let value = argument.unwrap_or(joined);
                self.special(special, option.name, value);
            }
        }
    }

    fn special(&mut self, special: Special, name: &str, value: String) {
        match special {
            // Intel's `-xHost`, `-xAVX` choose a processor, not a language.
            Special::Language if value.starts_with(|c: char| c.is_ascii_uppercase()) => {}
            Special::Language => {
                self.language = (value != "none").then(|| Language::of_option(&value))
            }
            Special::Output => self.line.output = Some(value),
            Special::Macro => self.macro_flag(name, &value),
            // Handed to the front end itself: the driver would look for a precompiled header beside the file.
            Special::Include => self.xclang_pair("-include", value),
            Special::IncludePch => {
                if let Some(header) = value
                    .strip_suffix(".pch")
                    .or_else(|| value.strip_suffix(".gch"))
                {
                    self.xclang_pair("-include", header.to_owned());
                }
            }
            Special::Xclang => self.xclang(value),
            Special::PreprocessorList => {
                let pieces: Vec<String> = value.split(',').map(str::to_owned).collect();
                self.preprocessor_flags(&pieces);
            }
            Special::Preprocessor => self.preprocessor.push(value),
            Special::Arch => {
                // A fat object's first architecture stands for all.
                if !std::mem::replace(&mut self.arch_seen, true) {
                    self.line.flags.extend([name.to_owned(), value]);
                }
            }
        }
    }

    /// Fortified library calls hide `memcpy` and its like; the capture compiles without them.
    fn macro_flag(&mut self, name: &str, value: &str) {
        let macro_name = value.split('=').next().unwrap_or_default();
        if macro_name != "_FORTIFY_SOURCE" {
            self.line.flags.push(format!("{name}{value}"));
        }
    }

    fn xclang_pair(&mut self, option: &str, value: String) {
        let words = [
            "-Xclang".to_owned(),
            option.to_owned(),
            "-Xclang".to_owned(),
            value,
        ];
        self.line.flags.extend(words);
    }

    fn xclang(&mut self, value: String) {
        const DROPPED_WITH_VALUE: [&str; 6] = [
            "-load",
            "-plugin",
            "-add-plugin",
            "-include-pch",
            "-mllvm",
            "-dependency-file",
        ];
        const DROPPED: [&str; 7] = [
            "-emit-pch",
            "-opaque-pointers",
            "-no-opaque-pointers",
            "-disable-O0-optnone",
            "-disable-llvm-passes",
            "-disable-lifetime-markers",
            "-disable-llvm-verifier",
        ];
        if std::mem::take(&mut self.drop_next_xclang) || DROPPED.contains(&value.as_str()) {
            return;
        }
        if DROPPED_WITH_VALUE.contains(&value.as_str()) || value.starts_with("-plugin-arg-") {
            self.drop_next_xclang = true;
            return;
        }
        self.line.flags.extend(["-Xclang".to_owned(), value]);
    }

    /// `-Wp,-MMD,file,-DX` and its like: macros and include paths are kept, side files are not.
    fn preprocessor_flags(&mut self, pieces: &[String]) {
        let mut pieces = pieces.iter();
        while let Some(piece) = pieces.next() {
            match piece.as_str() {
                "-MD" | "-MMD" | "-MF" | "-MT" | "-MQ" => {
                    pieces.next();
                }
                "-D" | "-U" => {
                    if let Some(value) = pieces.next() {
                        self.macro_flag(piece, value);
                    }
                }
                "-include" => {
                    if let Some(value) = pieces.next() {
                        self.xclang_pair("-include", value.clone());
                    }
                }
                "-I" | "-isystem" | "-iquote" | "-idirafter" | "-imacros" => {
                    self.line.flags.push(piece.clone());
                    self.line.flags.extend(pieces.next().cloned());
                }
                joined if joined.starts_with("-D") || joined.starts_with("-U") => {
                    let (name, value) = joined.split_at(2);
                    self.macro_flag(name, value);
                }
                joined if joined.starts_with("-I") => self.line.flags.push(piece.clone()),
                _ => {}
            }
        }
    }

    fn input(&mut self, path: String) {
        let by_name =
            || Language::of_path(Path::new(&path)).map(|language| self.in_this_compiler(language));
        match self.language.or_else(by_name) {
            Some(language) => self.line.sources.push(Source { path, language }),
            None => self.line.link_inputs.push(path),
        }
    }

    /// `g++ a.c` compiles C++.
    fn in_this_compiler(&self, language: Language) -> Language {
        match language {
            Language::C if self.name.cxx => Language::Cxx,
            Language::PreprocessedC if self.name.cxx => Language::PreprocessedCxx,
            other => other,
        }
    }

    /// gcc's own `stdarg.h` and intrinsics are not for clang, which brings its own. Builds that name gcc's directory
    /// say `-nostdinc` too (kernels do); the flag that keeps clang's headers is `-nostdlibinc`.
    fn leave_out_gcc_headers(&mut self) {
        let mut kept: Vec<String> = Vec::with_capacity(self.line.flags.len());
        let mut found = false;
        for flag in std::mem::take(&mut self.line.flags) {
            if !is_gcc_header_directory(&flag) {
                kept.push(flag);
                continue;
            }
            found = true;
            // `-isystem DIR` as two words: the first one goes too.
            if !flag.starts_with('-') {
                kept.pop();
            }
        }
        if found {
            for flag in kept.iter_mut().filter(|flag| *flag == "-nostdinc") {
                *flag = "-nostdlibinc".to_owned();
            }
        }
        self.line.flags = kept;
    }

    fn finish(mut self) -> CommandLine {
        let pieces = std::mem::take(&mut self.preprocessor);
        self.preprocessor_flags(&pieces);
        self.leave_out_gcc_headers();
        let names = |option: &str| self.line.flags.iter().any(|flag| flag.starts_with(option));
        if let Some(standard) = self.name.standard
            && !names("-std=")
            && !names("-ansi")
        {
            self.line.flags.insert(0, standard.to_owned());
        }
        if let Some(target) = &self.name.target
            && !self
                .line
                .flags
                .iter()
                .any(|f| f.starts_with("--target=") || f == "-target")
        {
            self.line.flags.insert(0, format!("--target={target}"));
        }
        if self.line.sources.is_empty() && self.line.link_inputs.is_empty() {
            self.line.mode = Mode::Query;
        }
        self.line
    }
}

/// `/usr/lib/gcc/x86_64-linux-gnu/12/include`, alone or joined to an include option.
fn is_gcc_header_directory(flag: &str) -> bool {
    let is_path = flag.starts_with('/') || flag.starts_with("-I/") || flag.starts_with("-isystem/");
    let directory = flag.trim_end_matches('/');
    is_path
        && (flag.contains("/lib/gcc/")
            || flag.contains("/lib/gcc-cross/")
            || flag.contains("/lib64/gcc/"))
        && (directory.ends_with("/include") || directory.ends_with("/include-fixed"))
}
