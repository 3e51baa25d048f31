//! The files of the repository that tidy looks at: everything that is text, except what is built.

use anyhow::Context;
use std::fs;
use std::path::Path;

/// Directories that hold nothing written by hand. Hidden ones are skipped too, but for those below.
const SKIPPED_DIRS: &[&str] = &["target", "node_modules"];
const HIDDEN_DIRS_OF_OURS: &[&str] = &[".ci", ".cargo", ".github"];

/// One text file.
pub struct SourceFile {
    /// Relative to the repository, with `/`.
    pub path: String,
    pub text: String,
}

impl SourceFile {
    pub fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// Is the whole file test code (integration tests, fuzz targets, benches)?
    pub fn is_test_code(&self) -> bool {
        let mut dirs = self.path.split('/').rev().skip(1);
        self.path.ends_with("/tests.rs")
            || self.path.ends_with("_tests.rs")
            || dirs.any(|dir| matches!(dir, "tests" | "benches" | "fuzz" | "fuzz_targets"))
    }
}

/// All text files, sorted by path.
pub struct Tree {
    pub files: Vec<SourceFile>,
}

impl Tree {
    pub fn load(root: &Path) -> anyhow::Result<Self> {
        let mut files = Vec::new();
        let mut dirs = vec![root.to_path_buf()];
        while let Some(dir) = dirs.pop() {
            let entries = fs::read_dir(&dir).with_context(|| format!("cannot list {dir:?}"))?;
            for entry in entries {
                let entry = entry?;
                let name = entry.file_name().to_string_lossy().into_owned();
                let kind = entry.file_type()?;
                if kind.is_dir() && is_ours(&name) {
                    dirs.push(entry.path());
                } else if kind.is_file() {
                    files.extend(read_text(root, &entry.path()));
                }
            }
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Self { files })
    }

    pub fn get(&self, path: &str) -> Option<&SourceFile> {
        let at = self.files.binary_search_by(|f| f.path.as_str().cmp(path));
        at.ok().map(|at| &self.files[at])
    }

    pub fn rust_files(&self) -> impl Iterator<Item = &SourceFile> {
        self.files.iter().filter(|f| f.is_rust())
    }
}

fn is_ours(name: &str) -> bool {
    !SKIPPED_DIRS.contains(&name) && (!name.starts_with('.') || HIDDEN_DIRS_OF_OURS.contains(&name))
}

/// The file, unless it is not UTF-8 (bitcode, images) or vanished meanwhile (an editor's temporary).
fn read_text(root: &Path, path: &Path) -> Option<SourceFile> {
    let text = fs::read_to_string(path).ok()?;
    let relative = path.strip_prefix(root).ok()?;
    let parts: Vec<_> = relative.iter().map(|p| p.to_string_lossy()).collect();
    Some(SourceFile {
        path: parts.join("/"),
        text,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_test_code(path: &str) -> bool {
        let (path, text) = (path.to_owned(), String::new());
        SourceFile { path, text }.is_test_code()
    }

    #[test]
    fn test_code_is_known_by_its_place() {
        assert!(is_test_code("crates/base/tests/graphs.rs"));
        assert!(is_test_code("crates/flow/src/svfg/tests.rs"));
        assert!(is_test_code("crates/bitcode/src/types_tests.rs"));
        assert!(is_test_code("fuzz/fuzz_targets/reader.rs"));
        assert!(!is_test_code("crates/base/src/scc.rs"));
        assert!(!is_test_code("crates/test-utils/src/lib.rs"));
    }
}
