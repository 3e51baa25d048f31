//! Every Rust file starts with a `//!` header that says which question it answers.

use super::{Findings, Tree};

pub fn check(tree: &Tree, findings: &mut Findings) {
    for file in tree.rust_files() {
        let first = file.text.lines().find(|l| !l.trim().is_empty());
        let says_something = first
            .and_then(|line| line.strip_prefix("//!"))
            .is_some_and(|rest| !rest.trim().is_empty());
        if !says_something {
            findings.error(&file.path, "has no `//!` header on its first line");
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::tidy::tests::errors_of;

    #[test]
    fn files_without_header_fail() {
        let (errors, _) = errors_of(
            super::check,
            &[
                ("a.rs", "//! What is a?\nfn a() {}\n"),
                ("b.rs", "fn b() {}\n"),
                ("c.rs", "//!\nfn c() {}\n"),
                ("d.rs", ""),
                ("e.c", "int e;"),
            ],
        );
        assert_eq!(errors.len(), 3);
        assert!(errors[0].starts_with("b.rs:"));
    }
}
