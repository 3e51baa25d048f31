//! `cargo xtask tidy`: are the house rules kept?
//!
//! One file per rule; each looks at the loaded tree and adds complaints. An error fails the check, a
//! note is only printed on request. Nothing is read but the repository itself, so the checks run on a
//! tarball as well as on a clone.

mod headers;
mod layers;
mod rules;
mod sizes;
mod tree;
mod words;

use std::path::Path;
use tree::Tree;

/// What the checks found, in the order of the checks and of the files.
#[derive(Default)]
pub struct Findings {
    errors: Vec<String>,
    notes: Vec<String>,
}

impl Findings {
    fn error(&mut self, place: impl std::fmt::Display, text: impl std::fmt::Display) {
        self.errors.push(format!("{place}: {text}"));
    }

    fn note(&mut self, place: impl std::fmt::Display, text: impl std::fmt::Display) {
        self.notes.push(format!("{place}: {text}"));
    }
}

/// Checks the repository and prints the result; true if nothing is wrong.
pub fn run(root: &Path, verbose: bool) -> anyhow::Result<bool> {
    let tree = Tree::load(root)?;
    let findings = check(&tree);
    for error in &findings.errors {
        println!("error: {error}");
    }
    for note in findings.notes.iter().filter(|_| verbose) {
        println!("note: {note}");
    }
    println!(
        "tidy: {} files, {} errors, {} notes{}",
        tree.files.len(),
        findings.errors.len(),
        findings.notes.len(),
        if verbose || findings.notes.is_empty() {
            ""
        } else {
            " (shown with -v)"
        }
    );
    Ok(findings.errors.is_empty())
}

fn check(tree: &Tree) -> Findings {
    let mut findings = Findings::default();
    headers::check(tree, &mut findings);
    sizes::check(tree, &mut findings);
    layers::check(tree, &mut findings);
    rules::check(tree, &mut findings);
    words::check(tree, &mut findings);
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A tree from (path, text) pairs, checked by one rule.
    pub(super) fn errors_of(
        rule: fn(&Tree, &mut Findings),
        files: &[(&str, &str)],
    ) -> (Vec<String>, Vec<String>) {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let mut findings = Findings::default();
        rule(&Tree::load(dir.path()).unwrap(), &mut findings);
        (findings.errors, findings.notes)
    }

    #[test]
    fn this_repository_loads() {
        let tree = Tree::load(&crate::repository().unwrap()).unwrap();
        let loaded = |path: &str| tree.files.iter().any(|f| f.path == path);
        assert!(loaded("xtask/src/tidy/mod.rs") && loaded("Makefile"));
        assert!(!tree.files.iter().any(|f| f.path.starts_with("target/")));
    }
}
