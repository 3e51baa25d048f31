//! Which clang? The tests name a version and get that one, or an error that says what to install.

use std::path::{Path, PathBuf};
use std::process::Command;

/// An installed clang.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clang {
    pub path: PathBuf,
    pub major: u32,
    /// First line of `clang --version`; part of the key of cached bitcode.
    pub version: String,
}

/// The clang (or tool of LLVM) that a test needs is not there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{tool} not found; `make test` installs it (Debian: apt-get install {package})")]
pub struct ClangMissing {
    pub tool: String,
    pub package: String,
}

const NEWEST_MAJOR: u32 = 22;
const OLDEST_MAJOR: u32 = 11;

impl Clang {
    /// clang of exactly this major version.
    pub fn find(major: u32) -> Result<Self, ClangMissing> {
        find_tool("clang", major)
            .and_then(|path| Self::at(&path))
            .ok_or_else(|| ClangMissing {
                tool: format!("clang-{major}"),
                package: format!("clang-{major} llvm-{major}"),
            })
    }

    /// The newest clang there is.
    pub fn newest() -> Result<Self, ClangMissing> {
        (OLDEST_MAJOR..=NEWEST_MAJOR)
            .rev()
            .find_map(|major| Self::find(major).ok())
            .ok_or_else(|| ClangMissing {
                tool: "clang".into(),
                package: "clang".into(),
            })
    }

    /// The clang at this path, if it is one.
    pub fn at(path: &Path) -> Option<Self> {
        let version = first_line_of_version(path)?;
        Some(Self {
            path: path.to_path_buf(),
            major: major_of(&version)?,
            version,
        })
    }

    /// A tool of the same LLVM: `opt`, `llvm-dis`, `llvm-link`, …
    pub fn tool(&self, name: &str) -> Result<PathBuf, ClangMissing> {
        find_tool(name, self.major).ok_or_else(|| ClangMissing {
            tool: format!("{name}-{}", self.major),
            package: format!("llvm-{}", self.major),
        })
    }
}

/// `name-N` on the path, `name` there if it is version N, or where Debian and Homebrew keep it.
fn find_tool(name: &str, major: u32) -> Option<PathBuf> {
    let candidates = [
        PathBuf::from(format!("{name}-{major}")),
        PathBuf::from(format!("/usr/lib/llvm-{major}/bin/{name}")),
        PathBuf::from(format!("/opt/homebrew/opt/llvm@{major}/bin/{name}")),
        PathBuf::from(format!("/usr/local/opt/llvm@{major}/bin/{name}")),
        PathBuf::from(name),
    ];
    candidates.into_iter().find(|path| {
        let output = Command::new(path).arg("--version").output();
        let text = output.map(|o| String::from_utf8_lossy(&o.stdout).into_owned());
        text.is_ok_and(|text| text.lines().any(|line| major_of(line) == Some(major)))
    })
}

fn first_line_of_version(path: &Path) -> Option<String> {
    let output = Command::new(path).arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().next().map(str::to_owned)
}

/// 19 of `Debian clang version 19.1.7 (…)` and of `LLVM version 19.1.7`.
fn major_of(line: &str) -> Option<u32> {
    let (_, version) = line.split_once("version ")?;
    version.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read() {
        assert_eq!(major_of("Debian clang version 19.1.7 (3+b1)"), Some(19));
        assert_eq!(major_of("  LLVM version 14.0.6"), Some(14));
        assert_eq!(major_of("gcc (Debian 12.2.0) 12.2.0"), None);
    }

    #[test]
    fn a_version_that_is_not_there_is_named() {
        let missing = Clang::find(3).unwrap_err();
        assert!(
            missing
                .to_string()
                .contains("apt-get install clang-3 llvm-3")
        );
    }

    #[test]
    fn the_newest_has_its_tools() {
        let clang = Clang::newest().unwrap();
        assert_eq!(Clang::find(clang.major).unwrap(), clang);
        let missing = clang.tool("no-such-tool").unwrap_err();
        assert!(missing.tool.starts_with("no-such-tool-"));
    }
}
