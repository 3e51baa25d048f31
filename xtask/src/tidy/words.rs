//! Words that must not be committed: promises instead of code, tests that don't run, paths of
//! somebody's machine.
//!
//! The words are spelt in pieces here, so that this file passes its own check.

use super::{Findings, Tree};

struct Forbidden {
    word: &'static str,
    why: &'static str,
    /// Only in Rust files.
    rust_only: bool,
    /// Only where no letter, digit or path character stands before it.
    whole: bool,
}

const fn promise(word: &'static str) -> Forbidden {
    Forbidden {
        word,
        why: "finish it or take it out",
        rust_only: false,
        whole: true,
    }
}

const fn stub(word: &'static str) -> Forbidden {
    Forbidden {
        word,
        why: "no stubs",
        rust_only: true,
        whole: true,
    }
}

const fn machine_path(word: &'static str) -> Forbidden {
    Forbidden {
        word,
        why: "a path of one machine",
        rust_only: false,
        whole: true,
    }
}

const FORBIDDEN: &[Forbidden] = &[
    promise(concat!("TO", "DO")),
    promise(concat!("FIX", "ME")),
    stub(concat!("to", "do!")),
    stub(concat!("unimple", "mented!")),
    Forbidden {
        word: concat!("#[ig", "nore"),
        why: "every test runs",
        rust_only: true,
        whole: false,
    },
    machine_path(concat!("/wo", "rk/")),
    machine_path(concat!("/ro", "ot/")),
];

pub fn check(tree: &Tree, findings: &mut Findings) {
    for file in &tree.files {
        for forbidden in FORBIDDEN {
            if forbidden.rust_only && !file.is_rust() {
                continue;
            }
            for (number, line) in file.text.lines().enumerate() {
                if occurs(line, forbidden) {
                    findings.error(
                        format_args!("{}:{}", file.path, number + 1),
                        format_args!("`{}`: {}", forbidden.word, forbidden.why),
                    );
                }
            }
        }
    }
}

fn occurs(line: &str, forbidden: &Forbidden) -> bool {
    line.match_indices(forbidden.word).any(|(at, word)| {
        let joins = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '}' | '%');
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        let is_word = word.ends_with(|c: char| c.is_alphanumeric());
        let continued = is_word && after.is_some_and(|c| c.is_alphanumeric() || c == '_');
        !forbidden.whole || (!before.is_some_and(joins) && !continued)
    })
}

#[cfg(test)]
mod tests {
    use crate::tidy::tests::errors_of;

    fn errors(path: &str, text: &str) -> usize {
        errors_of(super::check, &[(path, text)]).0.len()
    }

    #[test]
    fn each_word_is_found() {
        for forbidden in super::FORBIDDEN {
            let line = format!("x // {} y", forbidden.word);
            assert_eq!(errors("src/a.rs", &line), 1, "{line}");
            let elsewhere = usize::from(!forbidden.rust_only);
            assert_eq!(errors("docs/a.md", &line), elsewhere, "{line}");
        }
    }

    #[test]
    fn parts_of_other_words_are_not() {
        let path = format!("src{}x", concat!("/wo", "rk/"));
        let list = concat!("TO", "DOS and ", "my_to", "do!");
        assert_eq!(errors("src/a.rs", &format!("{path} {list}")), 0);
    }
}
