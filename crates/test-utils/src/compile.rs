//! Bitcode of C and C++ sources, made in the three ways that users make it.

use crate::cache::Cache;
use crate::clang::Clang;
use anyhow::{Context, bail};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How bitcode is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// With the flags of drip's own capture.
    Capture,
    /// With plain `-O0 -g`.
    O0,
    /// With `-O0 -g`, then LLVM's mem2reg: promoted already, and without the statements that only
    /// bound variables.
    Mem2Reg,
}

impl Mode {
    /// All ways; verdicts must not depend on which one it was.
    pub const ALL: [Self; 3] = [Self::Capture, Self::O0, Self::Mem2Reg];

    fn flags(self) -> &'static [&'static str] {
        match self {
            Self::Capture => &[
                "-g",
                "-O1",
                "-Xclang",
                "-disable-llvm-passes",
                "-Xclang",
                "-disable-lifetime-markers",
                "-U__OPTIMIZE__",
            ],
            Self::O0 => &["-O0", "-g"],
            Self::Mem2Reg => &["-O0", "-Xclang", "-disable-O0-optnone", "-g"],
        }
    }
}

/// Bitcode of each source, in their order; cached by content under the target directory. A source that
/// doesn't compile, or a missing tool, is an error.
pub fn compile(sources: &[PathBuf], clang: &Clang, mode: Mode) -> anyhow::Result<Vec<PathBuf>> {
    compile_with(sources, clang, mode, &[])
}

/// As [`compile`], with more flags for clang (`-std=c++17`, `-DNAME`, `-Idir`).
pub fn compile_with(
    sources: &[PathBuf],
    clang: &Clang,
    mode: Mode,
    flags: &[&str],
) -> anyhow::Result<Vec<PathBuf>> {
    let cache = Cache::open(cache_dir())?;
    sources
        .iter()
        .map(|source| {
            let source =
                fs::canonicalize(source).with_context(|| format!("no source {source:?}"))?;
            let command = command_line(clang, mode, flags, &source);
            let stem = source.file_stem().unwrap_or_default().to_string_lossy();
            cache.get_or_make(&stem, &command, |out| {
                compile_one(clang, mode, flags, &source, out)
            })
        })
        .collect()
}

/// `target/bitcode-cache` of this workspace, or of the directory that cargo was told to use.
fn cache_dir() -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(workspace, PathBuf::from);
    target.join("bitcode-cache")
}

/// Everything but the contents that the result depends on.
fn command_line(clang: &Clang, mode: Mode, flags: &[&str], source: &Path) -> Vec<String> {
    let fixed = [
        clang.path.display().to_string(),
        clang.version.clone(),
        format!("{mode:?}"),
        source.display().to_string(),
    ];
    let flags = flags.iter().map(|&flag| flag.to_owned());
    fixed.into_iter().chain(flags).collect()
}

/// Compiles to `out`; returns the source and the headers of the user that it includes.
fn compile_one(
    clang: &Clang,
    mode: Mode,
    flags: &[&str],
    source: &Path,
    out: &Path,
) -> anyhow::Result<Vec<PathBuf>> {
    let inputs_list = out.with_extension("d");
    let unpromoted = out.with_extension("unpromoted");
    let target = match mode {
        Mode::Capture | Mode::O0 => out,
        Mode::Mem2Reg => &unpromoted,
    };
    run(Command::new(&clang.path)
        .args(mode.flags())
        .args(flags)
        .args(["-w", "-c", "-emit-llvm", "-MMD", "-MF"])
        .args([
            inputs_list.as_os_str(),
            OsStr::new("-o"),
            target.as_os_str(),
        ])
        .arg(source))?;
    if mode == Mode::Mem2Reg {
        run(Command::new(clang.tool("opt")?)
            .args(["-passes=mem2reg", "-o"])
            .args([out, target]))?;
    }
    let list = fs::read_to_string(&inputs_list).context("clang wrote no list of inputs")?;
    Ok(parse_inputs(&list))
}

fn run(command: &mut Command) -> anyhow::Result<()> {
    let output = command
        .output()
        .with_context(|| format!("cannot run {command:?}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("{command:?} failed:\n{said}");
    }
    Ok(())
}

/// The prerequisites of a make rule `target: a.c b\ c.h \⏎ d.h`.
fn parse_inputs(rule: &str) -> Vec<PathBuf> {
    let Some((_, list)) = rule.split_once(": ") else {
        return Vec::new();
    };
    let mut inputs = Vec::new();
    let mut name = String::new();
    let mut chars = list.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('\\', Some('\n')) => {}
            ('\\', Some(&escaped @ (' ' | '#'))) | ('$', Some(&escaped @ '$')) => {
                name.push(escaped);
                chars.next();
            }
            (c, _) if c.is_whitespace() => {
                if !name.is_empty() {
                    inputs.push(PathBuf::from(std::mem::take(&mut name)));
                }
            }
            (c, _) => name.push(c),
        }
    }
    if !name.is_empty() {
        inputs.push(PathBuf::from(name));
    }
    inputs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn make_rules_are_read() {
        let rule = "x.bc: /a/b.c /a/c\\ d.h \\\n  /a/$$e.h\n";
        let expected = ["/a/b.c", "/a/c d.h", "/a/$e.h"].map(PathBuf::from);
        assert_eq!(parse_inputs(rule), expected);
    }

    #[test]
    fn each_mode_makes_bitcode_and_headers_count() {
        let dir = tempfile::tempdir().unwrap();
        let source = dir.path().join("a b.c");
        let header = dir.path().join("x.h");
        fs::write(
            &source,
            "#include \"x.h\"\nint f(int a) { return a + X; }\n",
        )
        .unwrap();
        fs::write(&header, "#define X 1\n").unwrap();
        let clang = Clang::find(19).unwrap();
        let mut seen = Vec::new();
        for mode in Mode::ALL {
            let bitcode = compile(std::slice::from_ref(&source), &clang, mode).unwrap();
            assert_eq!(
                fs::read(&bitcode[0]).unwrap()[..4],
                *b"BC\xc0\xde",
                "{mode:?}"
            );
            seen.extend(bitcode);
        }
        seen.dedup();
        assert_eq!(seen.len(), 3);
        fs::write(&header, "#define X 2\n").unwrap();
        let again = compile(std::slice::from_ref(&source), &clang, Mode::Capture).unwrap();
        assert_ne!(again[0], seen[0], "a changed header gives new bitcode");
        for path in seen.iter().chain(&again) {
            fs::remove_file(path).unwrap();
        }
    }

    #[test]
    fn what_does_not_compile_is_an_error_that_says_why() {
        let dir = tempfile::tempdir().unwrap();
        let source = dir.path().join("a.c");
        fs::write(&source, "int f( {").unwrap();
        let clang = Clang::find(14).unwrap();
        let error = compile(&[source], &clang, Mode::O0).unwrap_err();
        assert!(error.to_string().contains("expected"), "{error:#}");
        let missing = compile(&[dir.path().join("b.c")], &clang, Mode::O0);
        assert!(missing.is_err());
    }
}
