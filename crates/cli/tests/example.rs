//! Every format on the example project, and the session of the guide.

use drip_test_utils::{Session, sarif_schema_errors};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A copy of `examples/inventory` and a cache beside it.
struct Example {
    dir: TempDir,
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

impl Example {
    fn new() -> Self {
        let dir = TempDir::new().expect("a temporary directory");
        let example = Example { dir };
        let (from, to) = (repository().join("examples/inventory"), example.root());
        for part in ["", "src", "data"] {
            std::fs::create_dir_all(to.join(part)).expect("a directory");
            for entry in std::fs::read_dir(from.join(part)).expect("the example is there") {
                let path = entry.expect("an entry").path();
                let name = path.file_name().expect("a name");
                if path.is_file() {
                    std::fs::copy(&path, to.join(part).join(name)).expect("a copy");
                }
            }
        }
        example
    }

    fn base(&self) -> PathBuf {
        // The directory may be reached through a link; drip shows the real name.
        std::fs::canonicalize(self.dir.path()).expect("the directory exists")
    }

    fn root(&self) -> PathBuf {
        self.base().join("inventory")
    }

    fn check(&self, format: &str) -> String {
        let mut sources: Vec<PathBuf> = std::fs::read_dir(self.root().join("src"))
            .expect("sources")
            .map(|entry| Path::new("src").join(entry.expect("an entry").file_name()))
            .filter(|path| path.extension().is_some_and(|e| e == "c"))
            .collect();
        sources.sort();
        let output = Command::new(env!("CARGO_BIN_EXE_drip"))
            .args(["check", "-q", "--output-format", format])
            .args(sources)
            .current_dir(self.root())
            .env("DRIP_CACHE_DIR", self.base().join("cache"))
            .output()
            .expect("drip runs");
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        assert_eq!(output.status.code(), Some(1), "{text}");
        text.replace(&self.base().display().to_string(), "/home/me")
    }

    /// The concise report of `drip check` by the Makefile or by compile commands, and the coverage line under it.
    fn check_project(&self, words: &[&str]) -> (Vec<String>, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_drip"))
            .args(["check", "--output-format", "concise"])
            .args(words)
            .current_dir(self.root())
            .env("DRIP_CACHE_DIR", self.base().join("cache"))
            .env_remove("CC")
            .env_remove("CFLAGS")
            .output()
            .expect("drip runs");
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        assert_eq!(output.status.code(), Some(1), "{text}");
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let last = lines.pop().unwrap_or_default();
        (lines, last)
    }
}

/// Counts of the engine are not what a format is about, and change with every improvement of it.
fn without_counts(json: &str) -> String {
    let mut value: Value = serde_json::from_str(json).expect("JSON");
    for part in ["statistics", "coverage"] {
        value[part] = Value::from("…");
    }
    serde_json::to_string_pretty(&value).expect("JSON")
}

#[test]
fn full() {
    insta::assert_snapshot!(Example::new().check("full"));
}

#[test]
fn concise() {
    insta::assert_snapshot!(Example::new().check("concise"));
}

#[test]
fn github() {
    insta::assert_snapshot!(Example::new().check("github"));
}

#[test]
fn json() {
    insta::assert_snapshot!(without_counts(&Example::new().check("json")));
}

#[test]
fn sarif_is_valid() {
    let sarif = Example::new().check("sarif");
    let errors = sarif_schema_errors(&sarif).expect("the schema can be had");
    assert_eq!(errors, Vec::<String>::new());
    let value: Value = serde_json::from_str(&sarif).expect("JSON");
    let results = &value["runs"][0]["results"];
    insta::assert_snapshot!(serde_json::to_string_pretty(results).expect("JSON"));
}

/// The Makefile, watched, and a compilation database lead to the same leaks as the files by themselves.
#[test]
fn make_and_compile_commands_say_the_same() {
    let example = Example::new();
    let (plain, _) = example.check_project(&["src"]);
    let (made, coverage) = example.check_project(&["--", "make"]);
    assert!(
        example.root().join("inventory").is_file(),
        "the build's own result"
    );
    assert_eq!(made, plain);
    assert!(coverage.starts_with("5 leaks in "), "{coverage}");
    assert!(coverage.contains("; 7 of 7 files read, "), "{coverage}");
    let sources = std::fs::read_dir(example.root().join("src")).expect("sources");
    let entries: Vec<Value> = sources
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "c"))
        .map(|path| {
            serde_json::json!({
                "directory": example.root(), "file": path,
                "command": format!("/usr/bin/cc -std=gnu11 -Wall -o x.o -c {}", path.display()),
            })
        })
        .collect();
    let database = example.root().join("build/compile_commands.json");
    std::fs::write(database, Value::from(entries).to_string()).expect("a database");
    // Found without being named.
    let (listed, coverage) = example.check_project(&[]);
    assert_eq!(listed, plain);
    assert!(coverage.contains("; 7 of 7 files read, "), "{coverage}");
}

/// The page is code; what it is told of the findings is the format.
#[test]
fn html() {
    let page = Example::new().check("html");
    let start = "<script type=\"application/json\" id=\"data\">";
    let (_, rest) = page.split_once(start).expect("the page has data");
    let (data, _) = rest.split_once("</script>").expect("the data ends");
    let value: Value = serde_json::from_str(data).expect("JSON");
    insta::assert_snapshot!(serde_json::to_string_pretty(&value["findings"]).expect("JSON"));
}

/// Twenty lines above every function of every file: all ids stay.
#[test]
fn ids_survive_shifted_lines() {
    let ids = |example: &Example| -> Vec<String> {
        let value: Value = serde_json::from_str(&example.check("json")).expect("JSON");
        let findings = value["findings"].as_array().expect("a list");
        findings.iter().map(|f| f["id"].to_string()).collect()
    };
    let example = Example::new();
    let before = ids(&example);
    assert_eq!(before.len(), 5);
    for entry in std::fs::read_dir(example.root().join("src")).expect("sources") {
        let path = entry.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("text");
        let shifted = text.replacen("\n\n", &format!("\n{}\n", "// a line\n".repeat(20)), 1);
        std::fs::write(&path, shifted).expect("written");
    }
    assert_eq!(ids(&example), before);
}

#[test]
fn the_session_of_the_guide_runs_as_written() {
    let example = Example::new();
    let drip = Path::new(env!("CARGO_BIN_EXE_drip"));
    let directory = drip.parent().expect("a directory").display().to_string();
    let path = std::env::var("PATH").unwrap_or_default();
    let session = Session::new(repository().join("docs/guide.md"), example.root())
        .env("PATH", format!("{directory}:{path}"))
        .env("DRIP_CACHE_DIR", example.base().join("cache"))
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_AUTHOR_NAME", "me")
        .env("GIT_AUTHOR_EMAIL", "me@example.org")
        .env("GIT_COMMITTER_NAME", "me")
        .env("GIT_COMMITTER_EMAIL", "me@example.org");
    let commands = session.check().unwrap_or_else(|error| panic!("{error}"));
    assert!(commands >= 10, "the guide shows {commands} commands");
}
