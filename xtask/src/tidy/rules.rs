//! `docs/rules.md` is true: every row's tag stands in its file, its test exists, and every tag in the
//! code has a row.
//!
//! A row is `| [V-COPY] | crates/flow/src/svfg.rs | crates/flow/tests/rules.rs::v_copy |`; backquotes
//! around cells are ignored. A tag in the code is a comment line that starts with it:
//! `// [V-COPY] (SABER fig. 6): …`.

use super::{Findings, Tree};
use std::collections::BTreeSet;

const LIST: &str = "docs/rules.md";

pub fn check(tree: &Tree, findings: &mut Findings) {
    let mut listed = BTreeSet::new();
    match tree.get(LIST) {
        Some(list) => {
            for (number, line) in list.text.lines().enumerate() {
                let place = format!("{LIST}:{}", number + 1);
                if let Some(row) = Row::parse(line) {
                    row.check(tree, &place, findings);
                    listed.insert((row.tag.to_owned(), row.file.to_owned()));
                }
            }
        }
        None => findings.error(LIST, "is missing"),
    }
    for file in tree.rust_files() {
        for (number, line) in file.text.lines().enumerate() {
            if let Some(tag) = tag_of_comment(line)
                && !listed.contains(&(tag.to_owned(), file.path.clone()))
            {
                findings.error(
                    format_args!("{}:{}", file.path, number + 1),
                    format_args!("rule [{tag}] has no row for this file in {LIST}"),
                );
            }
        }
    }
}

struct Row<'a> {
    tag: &'a str,
    file: &'a str,
    test: &'a str,
}

impl<'a> Row<'a> {
    /// The row, unless the line is no table row, the heading, or the rule below it.
    fn parse(line: &'a str) -> Option<Self> {
        let inner = line.trim().strip_prefix('|')?.strip_suffix('|')?;
        let mut cells = inner.split('|').map(|cell| cell.trim().trim_matches('`'));
        let (tag, file, test) = (cells.next()?, cells.next()?, cells.next()?);
        let heading = tag == "tag" || tag.chars().all(|c| matches!(c, '-' | ':'));
        let tag = tag.trim_matches(['[', ']']);
        (!heading).then_some(Self { tag, file, test })
    }

    fn check(&self, tree: &Tree, place: &str, findings: &mut Findings) {
        let Self { tag, file, test } = self;
        if !is_tag(tag) {
            findings.error(place, format_args!("`{tag}` is no tag, e.g. [V-COPY]"));
        }
        match tree.get(file) {
            None => findings.error(place, format_args!("no file {file}")),
            Some(found) if !found.text.contains(&format!("[{tag}]")) => {
                findings.error(place, format_args!("[{tag}] does not occur in {file}"));
            }
            Some(_) => {}
        }
        let Some((test_file, name)) = test.split_once("::") else {
            findings.error(place, format_args!("`{test}` is not `file::test_name`"));
            return;
        };
        let name = name.rsplit("::").next().unwrap_or(name);
        match tree.get(test_file) {
            None => findings.error(place, format_args!("no file {test_file}")),
            Some(found) if !found.text.contains(&format!("fn {name}(")) => {
                findings.error(place, format_args!("no test `{name}` in {test_file}"));
            }
            Some(_) => {}
        }
    }
}

/// Upper-case words joined by hyphens: `V-COPY`, `I-ADD`.
fn is_tag(text: &str) -> bool {
    let is_word = |word: &str| {
        !word.is_empty()
            && word
                .chars()
                .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
    };
    text.contains('-')
        && text.starts_with(|c: char| c.is_ascii_uppercase())
        && text.split('-').all(is_word)
}

/// The tag that a comment line starts with.
fn tag_of_comment(line: &str) -> Option<&str> {
    let comment = line.trim_start().strip_prefix("//")?;
    let comment = comment.trim_start_matches(['/', '!']).trim_start();
    let (tag, _) = comment.strip_prefix('[')?.split_once(']')?;
    is_tag(tag).then_some(tag)
}

#[cfg(test)]
mod tests {
    use crate::tidy::tests::errors_of;

    const HEAD: &str = "# Rules\n\n| tag | file | test |\n|---|---|---|\n";

    fn errors(rows: &str) -> Vec<String> {
        let list = format!("{HEAD}{rows}");
        let files = [
            ("docs/rules.md", list.as_str()),
            ("src/a.rs", "fn f() {\n    // [V-COPY] (fig. 6): p ⊢ q\n}\n"),
            ("tests/a.rs", "fn v_copy() {}\n"),
        ];
        errors_of(super::check, &files).0
    }

    #[test]
    fn a_true_list_passes() {
        let row = "| `[V-COPY]` | `src/a.rs` | `tests/a.rs::v_copy` |\n";
        assert_eq!(errors(row), [""; 0]);
    }

    #[test]
    fn each_untruth_fails() {
        let good = "| [V-COPY] | src/a.rs | tests/a.rs::v_copy |\n";
        for (bad, why) in [
            (
                "| [V-MU] | src/a.rs | tests/a.rs::v_copy |",
                "does not occur in src/a.rs",
            ),
            (
                "| [V-MU] | src/b.rs | tests/a.rs::v_copy |",
                "no file src/b.rs",
            ),
            (
                "| [V-COPY] | src/a.rs | tests/a.rs::v_mu |",
                "no test `v_mu`",
            ),
            (
                "| [V-COPY] | src/a.rs | tests/b.rs::v_copy |",
                "no file tests/b.rs",
            ),
            (
                "| [V-COPY] | src/a.rs | v_copy |",
                "is not `file::test_name`",
            ),
            ("| copy | src/a.rs | tests/a.rs::v_copy |", "is no tag"),
        ] {
            let errors = errors(&format!("{good}{bad}\n"));
            assert!(errors.iter().any(|e| e.contains(why)), "{bad}: {errors:?}");
        }
    }

    #[test]
    fn a_tag_in_the_code_needs_a_row() {
        let missing = ["src/a.rs:2: rule [V-COPY] has no row for this file in docs/rules.md"];
        assert_eq!(errors(""), missing);
    }

    #[test]
    fn other_brackets_are_no_tags() {
        for line in [
            "// [link](x)",
            "let a = [A-1];",
            "// see [V-COPY]",
            "// [TAG]",
        ] {
            assert_eq!(super::tag_of_comment(line), None, "{line}");
        }
        assert_eq!(super::tag_of_comment("    /// [V-CSMU] x"), Some("V-CSMU"));
    }
}
