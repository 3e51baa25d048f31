//! A scratch project with its own cache, for tests that run a real clang.
#![allow(dead_code)] // each test binary uses its own part

use drip_capture::{Captured, Options, Unit};
use std::path::{Path, PathBuf};

pub struct Project {
    dir: tempfile::TempDir,
}

impl Project {
    pub fn new(files: &[(&str, &str)]) -> Self {
        let project = Project {
            dir: tempfile::tempdir().expect("a temporary directory"),
        };
        for (name, text) in files {
            project.write(name, text);
        }
        project
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root().join("src").join(name)
    }

    pub fn root(&self) -> PathBuf {
        self.dir
            .path()
            .canonicalize()
            .expect("the project directory")
    }

    pub fn cache(&self) -> PathBuf {
        self.root().join("cache")
    }

    pub fn write(&self, name: &str, text: &str) {
        let file = self.path(name);
        std::fs::create_dir_all(file.parent().expect("a parent")).expect("directory");
        std::fs::write(file, text).expect("source file");
        // The cache does not trust files written in the same clock tick as the compile.
        std::thread::sleep(std::time::Duration::from_millis(20));
    }

    pub fn options(&self) -> Options<'static> {
        Options {
            cache_dir: Some(self.cache()),
            ..Options::default()
        }
    }

    pub fn capture(&self, names: &[&str]) -> Captured {
        self.capture_with(names, &self.options())
    }

    pub fn capture_with(&self, names: &[&str], options: &Options<'_>) -> Captured {
        let sources: Vec<PathBuf> = names.iter().map(|name| self.path(name)).collect();
        drip_capture::capture_files(&sources, options).expect("a capture")
    }
}

pub fn is_bitcode(file: &Path) -> bool {
    std::fs::read(file).is_ok_and(|bytes| bytes.starts_with(b"BC\xC0\xDE") && bytes.len() % 4 == 0)
}

pub fn file_names(units: &[Unit]) -> Vec<String> {
    let name = |u: &Unit| {
        u.source
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned()
    };
    units.iter().map(name).collect()
}

/// All files below `dir`, for looking at what was left behind.
pub fn files_below(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            found.extend(files_below(&entry.path()));
        } else {
            found.push(entry.path());
        }
    }
    found
}
