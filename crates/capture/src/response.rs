//! Response files: `@file` on a compiler's command line stands for the words in that file.
//!
//! The quoting is that of gcc and clang (libiberty's `buildargv`): white space separates, single and double quotes
//! group, a backslash makes the next character plain, also inside quotes. A file that cannot be read
//! leaves the word as it is, as the compilers do.

use std::path::Path;

/// Response files that name response files: beyond this depth the word stays as it is (it is a cycle).
const MAX_DEPTH: usize = 8;

/// `arguments` with every readable `@file` replaced by its words. Relative names start at `directory`.
pub(crate) fn expand(arguments: &[String], directory: &Path) -> Vec<String> {
    let mut expanded = Vec::with_capacity(arguments.len());
    add(arguments, directory, MAX_DEPTH, &mut expanded);
    expanded
}

fn add(arguments: &[String], directory: &Path, depth: usize, expanded: &mut Vec<String>) {
    for argument in arguments {
        let name = argument
            .strip_prefix('@')
            .filter(|name| !name.is_empty() && depth > 0);
        let text = name.and_then(|name| std::fs::read(directory.join(name)).ok());
        match text {
            Some(bytes) => add(
                &words(&String::from_utf8_lossy(&bytes)),
                directory,
                depth - 1,
                expanded,
            ),
            None => expanded.push(argument.clone()),
        }
    }
}

fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut current: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('\\', _) => {
                if let Some(next) = chars.next() {
                    current.get_or_insert_default().push(next);
                }
            }
            (c, Some(q)) if c == q => quote = None,
            (c, Some(_)) => current.get_or_insert_default().push(c),
            ('\'' | '"', None) => {
                quote = Some(c);
                current.get_or_insert_default();
            }
            (c, None) if c.is_whitespace() => words.extend(current.take()),
            (c, None) => current.get_or_insert_default().push(c),
        }
    }
    words.extend(current);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoting_is_that_of_the_compilers() {
        let text = "-DA=\"x y\" '-DB=\"q\"' -I\\ dir\n\t-DC=\\\"s\\\" \"\" last";
        assert_eq!(
            words(text),
            ["-DA=x y", "-DB=\"q\"", "-I dir", "-DC=\"s\"", "", "last"]
        );
    }

    #[test]
    fn files_may_name_files_but_not_themselves_for_ever() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a.rsp"), "-DA @b.rsp").unwrap();
        std::fs::write(dir.path().join("b.rsp"), "-DB").unwrap();
        std::fs::write(dir.path().join("self.rsp"), "-DS @self.rsp").unwrap();
        let expand = |word: &str| expand(&[word.to_owned()], dir.path());
        assert_eq!(expand("@a.rsp"), ["-DA", "-DB"]);
        assert_eq!(expand("@missing.rsp"), ["@missing.rsp"]);
        assert_eq!(expand("@self.rsp").len(), MAX_DEPTH + 1);
    }
}
