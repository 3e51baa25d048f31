//! Does a session that a document shows run as it is written?
//!
//! Blocks of Markdown that are marked `console` hold commands (`$ …`) and what they print. All commands of a document run in their
//! order in one directory, by `sh`; a block with a second word, such as `c pool.c`, is a file that is written there. Later
//! commands see what earlier ones did. Printed text has to be equal, but for
//! times (`0.4 s`) and the counts of the coverage line, and a line `...` stands for any lines. A command may end with 0 or 1 (findings); more is a failure.
//! With `DRIP_BLESS` set the document is rewritten.

use anyhow::{Context, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

const OPENING: &str = "```console";
const CLOSING: &str = "```";
const PROMPT: &str = "$ ";
const ANY_LINES: &str = "...";

/// Codes that a command of a session may end with: success, and findings.
const EXPECTED_CODES: [i32; 2] = [0, 1];

/// A document and where its commands run.
pub struct Session {
    document: PathBuf,
    directory: PathBuf,
    environment: Vec<(String, String)>,
}

impl Session {
    pub fn new(document: impl Into<PathBuf>, directory: impl Into<PathBuf>) -> Self {
        Session {
            document: document.into(),
            directory: directory.into(),
            environment: Vec::new(),
        }
    }

    pub fn env(mut self, name: &str, value: impl AsRef<Path>) -> Self {
        let value = value.as_ref().to_string_lossy().into_owned();
        self.environment.push((name.to_owned(), value));
        self
    }

    /// Runs all commands; the error names the first one that printed something else. Returns how many there were.
    pub fn check(&self) -> anyhow::Result<usize> {
        let text = std::fs::read_to_string(&self.document)
            .with_context(|| format!("cannot read {}", self.document.display()))?;
        let (rewritten, commands) = self.replay(&text)?;
        if rewritten == text {
            return Ok(commands);
        }
        if std::env::var_os("DRIP_BLESS").is_some() {
            std::fs::write(&self.document, rewritten)?;
            return Ok(commands);
        }
        let (line, (old, new)) = (1..)
            .zip(text.lines().zip(rewritten.lines()))
            .find(|(_, (old, new))| old != new)
            .unwrap_or((0, ("fewer lines", "more lines")));
        bail!(
            "{}:{line}: the document has\n    {old}\nand the command printed\n    {new}\n(cargo xtask bless rewrites it)",
            self.document.display()
        );
    }

    /// The document with the output that its commands have now.
    fn replay(&self, text: &str) -> anyhow::Result<(String, usize)> {
        let mut out = String::new();
        let mut commands = 0;
        let mut lines = text.lines().peekable();
        let mut inside = false;
        let mut file: Option<(&str, String)> = None;
        while let Some(line) = lines.next() {
            out.push_str(line);
            out.push('\n');
            match (&mut file, line) {
                (Some((name, content)), CLOSING) => {
                    std::fs::write(self.directory.join(name), content)?;
                    file = None;
                    continue;
                }
                (Some((_, content)), line) => {
                    content.push_str(line);
                    content.push('\n');
                    continue;
                }
                (None, _) => {}
            }
            if !inside {
                inside = line == OPENING;
                file = file_name(line).map(|name| (name, String::new()));
                continue;
            }
            if line == CLOSING {
                inside = false;
                continue;
            }
            let Some(command) = line.strip_prefix(PROMPT) else {
                continue;
            };
            commands += 1;
            let mut expected = Vec::new();
            while let Some(next) = lines.next_if(|l| *l != CLOSING && !l.starts_with(PROMPT)) {
                expected.push(next);
            }
            let printed = self.run(command)?;
            let printed: Vec<&str> = printed.lines().collect();
            let shown = if matches(&expected, &printed) {
                expected
            } else {
                printed
            };
            for line in shown {
                out.push_str(line);
                out.push('\n');
            }
        }
        Ok((out, commands))
    }

    fn run(&self, command: &str) -> anyhow::Result<String> {
        let output = Command::new("sh")
            .args(["-c", &format!("exec 2>&1\n{command}")])
            .current_dir(&self.directory)
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .output()
            .context("cannot run sh")?;
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        let code = output.status.code();
        if !code.is_some_and(|code| EXPECTED_CODES.contains(&code)) {
            bail!("`{command}` ended with {code:?}:\n{printed}");
        }
        Ok(printed)
    }
}

/// The second word of an opening fence.
fn file_name(line: &str) -> Option<&str> {
    let info = line.strip_prefix(CLOSING)?;
    info.split_once(' ').map(|(_, name)| name)
}

fn matches(expected: &[&str], printed: &[&str]) -> bool {
    match (expected.split_first(), printed.split_first()) {
        (None, None) => true,
        (Some((&ANY_LINES, rest)), _) => {
            (0..=printed.len()).any(|skipped| matches(rest, &printed[skipped..]))
        }
        (Some((a, expected)), Some((b, printed))) => {
            comparable(a) == comparable(b) && matches(expected, printed)
        }
        _ => false,
    }
}

/// Without what may differ from run to run (times) or changes with every improvement of the engine (counts of sites).
fn comparable(line: &str) -> String {
    let words = line.split(' ').collect::<Vec<_>>();
    let mut counts = false;
    let mut out: Vec<&str> = Vec::with_capacity(words.len());
    for (at, word) in words.iter().enumerate() {
        let next = words.get(at + 1).copied().unwrap_or_default();
        counts |= word.starts_with('(') && next == "allocation";
        let is_time = word.parse::<f64>().is_ok() && next.trim_end_matches(';') == "s";
        let is_count = counts && word.trim_start_matches('(').parse::<f64>().is_ok();
        out.push(match word {
            _ if is_time || is_count => "N",
            &"function" | &"functions" if counts => "functions",
            word => word,
        });
    }
    out.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(document: &str) -> Result<usize, String> {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("session.md");
        std::fs::write(&file, document).unwrap();
        let session = Session::new(&file, dir.path()).env("NAME", "drip");
        session.check().map_err(|e| e.to_string())
    }

    #[test]
    fn sessions_are_compared_line_by_line() {
        let good = "text\n```console\n$ echo $NAME > f\n$ cat f; echo 1.5 s\ndrip\n9.9 s\n```\n$ no command\n";
        assert_eq!(outcome(good), Ok(2));
        let with_file = "```c a.c\nint a;\n```\n```console\n$ cat a.c\nint a;\n```\n";
        assert_eq!(outcome(with_file), Ok(1));
        let counting = "```console\n$ echo '2 leaks (5 allocation sites: 3 freed), 0 functions'\n2 leaks (6 allocation sites: 4 freed), 1 function\n```\n";
        assert_eq!(outcome(counting), Ok(1));
        assert!(outcome(&counting.replace("\n2 leaks", "\n3 leaks")).is_err());
        let skipping = "```console\n$ printf 'a\\nb\\nc\\n'\na\n...\n```\n";
        assert_eq!(outcome(skipping), Ok(1));
        let wrong = outcome("```console\n$ echo a\nb\n```\n").unwrap_err();
        assert!(wrong.contains(":3:"), "{wrong}");
        assert!(
            outcome("```console\n$ exit 2\n```\n")
                .unwrap_err()
                .contains("Some(2)")
        );
        assert_eq!(outcome("```console\n$ exit 1\n```\n"), Ok(1));
    }
}
