//! A directory with a small project in it, and drip run there with a cache of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

pub const LEAK: &str = "#include <stdlib.h>

int leaks(int n)
{
    char *p = malloc(10);
    if (!p)
        return -1;
    p[0] = (char)n;
    return p[0];
}
";

pub const CLEAN: &str = "#include <stdlib.h>

int clean(int n)
{
    char *p = malloc(10);
    if (!p)
        return -1;
    p[0] = (char)n;
    n = p[0];
    free(p);
    return n;
}
";

pub const BROKEN: &str = "int broken( {\n";

pub struct Project {
    dir: TempDir,
    root: PathBuf,
}

/// How a run ended and what it said.
#[derive(Debug)]
pub struct Said {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Said {
    #[track_caller]
    pub fn ends_with(self, code: i32) -> Self {
        assert_eq!(
            self.code, code,
            "standard output:\n{}\nstandard error:\n{}",
            self.stdout, self.stderr
        );
        self
    }

    #[track_caller]
    pub fn prints(self, text: &str) -> Self {
        assert!(
            self.stdout.contains(text),
            "no {text:?} in\n{}",
            self.stdout
        );
        self
    }

    #[track_caller]
    pub fn complains(self, text: &str) -> Self {
        assert!(
            self.stderr.contains(text),
            "no {text:?} in\n{}",
            self.stderr
        );
        self
    }
}

impl Project {
    pub fn new(files: &[(&str, &str)]) -> Self {
        let dir = TempDir::new().expect("a temporary directory");
        // The directory may be reached through a link; drip and git show the real name.
        let root = std::fs::canonicalize(dir.path())
            .expect("the directory exists")
            .join("project");
        std::fs::create_dir(&root).expect("a project directory");
        let project = Project { dir, root };
        for (name, text) in files {
            project.write(name, text);
        }
        project
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.root.join(name), text).expect("the project can be written to");
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.root.join(name)).expect("the file was written")
    }

    pub fn command(&self, program: impl AsRef<Path>, words: &[&str]) -> Command {
        let mut command = Command::new(program.as_ref());
        command
            .args(words)
            .current_dir(&self.root)
            .env("DRIP_CACHE_DIR", self.dir.path().join("cache"))
            .env_remove("DRIP_CLANG")
            .env_remove("NO_COLOR");
        command
    }

    pub fn drip(&self, words: &[&str]) -> Said {
        let output = self
            .command(env!("CARGO_BIN_EXE_drip"), words)
            .output()
            .expect("drip runs");
        said(&output)
    }

    #[track_caller]
    pub fn git(&self, words: &[&str]) {
        let output = self.command("git", words).output().expect("git runs");
        assert!(output.status.success(), "{}", said(&output).stderr);
    }
}

fn said(output: &Output) -> Said {
    Said {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}
