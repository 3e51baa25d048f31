//! What does clang's driver start for a compile, and how is that started for several sources at once?
//!
//! The driver takes one source per process, the compiler proper (`-cc1`) any number. `clang -###` prints its command line, each word in double
//! quotes with a backslash before `"`, `\` and `$`. Asked for is a source with a name that nothing else has; where that name stands anywhere
//! but as the source, or a name made of the output's, the line belongs to this source alone and is no pattern for others
//! (`-gsplit-dwarf`, `--coverage`).
//!
//! Changed in the line is this: the name of the main file is none, since it is one for all (the module has each source's own name); and memory
//! is freed after each source, which a compiler that ends soon does not do.

use std::ffi::OsString;
use std::path::Path;

/// The name that the rules of dependencies have. Its first letter must not look like the start of a block of bitcode, which in the lowest
/// two bits has 1.
pub(crate) const DEPENDENCY_TARGET: &str = "drip";

/// The name of the main file, one for all sources. The reader of bitcode knows it and takes the module's own name instead.
const UNIT_NAME: &str = "<unit>";

/// A command line of the compiler proper, up to the sources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cc1 {
    pub program: OsString,
    pub arguments: Vec<OsString>,
}

impl Cc1 {
    /// Reads what the driver shows for the source named `source`. `None`: no line that would do for other sources too.
    pub fn of_driver(shown: &str, source: &Path) -> Option<Self> {
        let is_error = |line: &str| !line.starts_with(" \"") && line.contains("error:");
        if shown.lines().any(is_error) || shown.contains(char::REPLACEMENT_CHARACTER) {
            return None;
        }
        let mut words = only_command(shown)?;
        if words.pop()? != source.to_str()? {
            return None;
        }
        let name = source.file_name()?.to_str()?;
        let at = words.iter().position(|word| word == "-main-file-name")?;
        let known_name = words.get(at + 1)? == name;
        *words.get_mut(at + 1)? = UNIT_NAME.to_owned();
        words.retain(|word| word != "-disable-free");
        let stem = source.file_stem()?.to_str()?;
        let pair = |option: &str, value: &str| {
            let at = words.iter().position(|word| word == option);
            at.is_some_and(|at| words.get(at + 1).is_some_and(|word| word == value))
        };
        let is_expected = words.get(1).is_some_and(|word| word == "-cc1")
            && words.iter().any(|word| word == "-emit-llvm-bc")
            && pair("-o", "-")
            && pair("-dependency-file", "-")
            && pair("-MT", DEPENDENCY_TARGET);
        let is_general = known_name
            && !words
                .iter()
                .any(|word| word.contains(stem) || is_beside_output(word));
        if !is_expected || !is_general {
            return None;
        }
        let mut words = words.into_iter().map(OsString::from);
        Some(Cc1 {
            program: words.next()?,
            arguments: words.collect(),
        })
    }
}

/// Does it name a file after the output, which is `-` here?
fn is_beside_output(word: &str) -> bool {
    let name = word.rsplit(['/', '=']).next();
    name.is_some_and(|name| name.starts_with("-."))
}

/// The words of the only command in what the driver shows.
fn only_command(shown: &str) -> Option<Vec<String>> {
    let (before, line) = shown.split_once(" \"")?;
    if !before.is_empty() && !before.ends_with('\n') {
        return None;
    }
    let mut words = vec![String::new()];
    let mut is_quoted = true;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (c, is_quoted) {
            ('\\', true) => words.last_mut()?.push(chars.next()?),
            ('"', true) => is_quoted = false,
            (c, true) => words.last_mut()?.push(c),
            ('\n', false) => break,
            ('"', false) => {
                is_quoted = true;
                words.push(String::new());
            }
            (' ', false) => {}
            (_, false) => return None,
        }
    }
    let is_only = chars.as_str().trim().is_empty();
    (is_only && !is_quoted).then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "clang version 19.1.7\nTarget: x86_64-pc-linux-gnu\n (in-process)\n";
    const TAIL: &str = "\"-dependency-file\" \"-\" \"-MT\" \"drip\" \"-o\" \"-\" \"-x\" \"c\"";

    fn read(middle: &str) -> Option<Vec<String>> {
        let text = format!(
            "{HEAD} \"/opt/clang 19/clang\" \"-cc1\" \"-emit-llvm-bc\" \"-disable-free\" \"-main-file-name\" \"u1.c\" {middle} {TAIL} \"/t/u1.c\"\n"
        );
        let cc1 = Cc1::of_driver(&text, Path::new("/t/u1.c"))?;
        assert_eq!(cc1.program, "/opt/clang 19/clang");
        let word = |word: OsString| word.into_string().unwrap();
        Some(cc1.arguments.into_iter().map(word).collect())
    }

    #[test]
    fn words_are_read_as_the_driver_quotes_them() {
        let words = read(r#""-D" "A=\"x y\"" "-D" "B=\\\$" "-D" "C=1 'q'" "-D" "N=a"#).is_none();
        assert!(words, "an open quote");
        let words =
            read("\"-D\" \"A=\\\"x y\\\"\" \"-D\" \"B=\\\\\\$\" \"\" \"-DN=a\nb\"").unwrap();
        let expected = [
            "-cc1",
            "-emit-llvm-bc",
            "-main-file-name",
            "<unit>",
            "-D",
            "A=\"x y\"",
            "-D",
            "B=\\$",
            "",
            "-DN=a\nb",
        ];
        assert_eq!(words[..expected.len()], expected);
        assert_eq!(words[words.len() - 4..], ["-o", "-", "-x", "c"]);
    }

    #[test]
    fn lines_for_one_source_only_are_no_pattern() {
        assert!(read("\"-split-dwarf-file\" \"u1.dwo\"").is_none());
        assert!(read("\"-split-dwarf-file\" \"-.dwo\"").is_none());
        assert!(read("\"-coverage-notes-file=/t/-.gcno\"").is_none());
        assert!(read("\"-D\" \"X\"").is_some());
    }

    #[test]
    fn anything_but_one_command_of_the_compiler_is_refused() {
        let source = Path::new("/t/u1.c");
        let line = format!(
            " \"clang\" \"-cc1\" \"-emit-llvm-bc\" \"-main-file-name\" \"u1.c\" {TAIL} \"/t/u1.c\"\n"
        );
        assert!(Cc1::of_driver(&line, source).is_some());
        assert!(Cc1::of_driver(&format!("{line}{line}"), source).is_none());
        let error = format!("clang: error: unknown argument: '-fx'\n{line}");
        assert!(Cc1::of_driver(&error, source).is_none());
        assert!(Cc1::of_driver(&line.replace("-cc1", "-cc1as"), source).is_none());
        assert!(Cc1::of_driver(&line.replace("\"-o\" \"-\"", "\"-o\" \"x\""), source).is_none());
        assert!(Cc1::of_driver(&line, Path::new("/t/u2.c")).is_none());
        assert!(Cc1::of_driver("clang version 19.0.0\n", source).is_none());
        assert!(Cc1::of_driver("", source).is_none());
    }
}
