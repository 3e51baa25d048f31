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
        let file = self.root.join(name);
        let dir = file.parent().expect("it is in the project");
        std::fs::create_dir_all(dir).expect("the project can be written to");
        std::fs::write(file, text).expect("the project can be written to");
    }

    /// A script; `REAL` in it stands for the clang that drip finds, `CACHE` for drip's cache.
    pub fn executable(&self, name: &str, text: &str) {
        let clang = drip_capture::clang::find(None, None).expect("the tests need a clang");
        let text = text
            .replace("REAL", &clang.path.display().to_string())
            .replace("CACHE", &self.cache().display().to_string());
        self.write(name, &text);
        mode(&self.root.join(name), 0o755);
    }

    /// Lets every user read and write here.
    pub fn open_to_all(&self) {
        mode(self.dir.path(), 0o777);
        mode(&self.root, 0o777);
    }

    fn cache(&self) -> PathBuf {
        self.dir.path().join("cache")
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
            .env("DRIP_CACHE_DIR", self.cache())
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

fn mode(path: &Path, bits: u32) {
    use std::os::unix::fs::PermissionsExt;
    let bits = std::fs::Permissions::from_mode(bits);
    std::fs::set_permissions(path, bits).expect("our own file");
}

pub fn said(output: &Output) -> Said {
    Said {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}
