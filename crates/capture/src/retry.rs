//! Which flag made clang refuse, and what to do about it?
//!
//! Builds made for gcc carry flags that clang does not know. Clang says so before it looks at the source, in
//! messages without a file position; each names the flag or its value in quotes. This file reads those
//! messages and finds the flags of our command line that they mean.
//!
//! Known limit: a message about a *source* line (`a.c:3:1: error: …`) is never taken for one about a flag.

/// What to do with one flag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Drop,
    Replace(String),
}

/// Newer names of language standards and the older names of the same drafts.
const STANDARD_ALIASES: [(&str, &str); 8] = [
    ("-std=c23", "-std=c2x"),
    ("-std=gnu23", "-std=gnu2x"),
    ("-std=c++20", "-std=c++2a"),
    ("-std=gnu++20", "-std=gnu++2a"),
    ("-std=c++23", "-std=c++2b"),
    ("-std=gnu++23", "-std=gnu++2b"),
    ("-std=c++26", "-std=c++2c"),
    ("-std=gnu++26", "-std=gnu++2c"),
];

/// The flags (by index) that the messages in `stderr` complain about. Empty: the messages are about something else.
pub(crate) fn changes(stderr: &str, flags: &[String]) -> Vec<(usize, Change)> {
    let mut found: Vec<(usize, Change)> = Vec::new();
    for message in stderr.lines().filter_map(driver_error) {
        for index in blamed(message, flags) {
            if found.iter().all(|(i, _)| *i != index)
                && let Some(flag) = flags.get(index)
            {
                found.push((index, change_for(flag)));
            }
        }
    }
    found.sort_by_key(|(index, _)| *index);
    found
}

/// The text after `error: ` where it stands at the start of a line or after the driver's name.
fn driver_error(line: &str) -> Option<&str> {
    let (before, message) = line.split_once("error: ")?;
    let program = before
        .trim_end()
        .trim_end_matches("fatal")
        .trim_end()
        .trim_end_matches(':');
    // "clang-19: error: …" and "error: …", but not "a.c:3:1: error: …".
    let is_driver = !program.contains(':');
    is_driver.then_some(message)
}

fn blamed(message: &str, flags: &[String]) -> Vec<usize> {
    let quoted: Vec<&str> = message
        .split('\'')
        .skip(1)
        .step_by(2)
        .filter(|q| !q.is_empty())
        .collect();
    let positions = |accept: &dyn Fn(&str) -> bool| -> Vec<usize> {
        let hits = flags.iter().enumerate().filter(|(_, flag)| accept(flag));
        hits.map(|(index, _)| index).collect()
    };
    // 1. "unknown argument: '-fconserve-stack'", "invalid value 'gnu77' in '-std=gnu77'": the flag itself.
    for text in &quoted {
        let exact = positions(&|flag| flag == *text);
        if text.starts_with('-') && !exact.is_empty() {
            return exact;
        }
    }
    // 2. "unsupported argument 'foo' to option '-mcmodel='", "unsupported option '-mabi=' for target": its name.
    for text in quoted.iter().filter(|t| t.starts_with('-')) {
        let named = positions(&|flag| {
            let rest = flag.strip_prefix(*text);
            rest.is_some_and(|r| text.ends_with('=') || r.starts_with('=') || quoted.contains(&r))
        });
        if !named.is_empty() {
            return named;
        }
    }
    // 3. "invalid argument 'foo' to -mcmodel=": the name stands outside the quotes.
    for word in message
        .split_whitespace()
        .filter(|w| w.starts_with('-') && w.len() > 2)
    {
        let word = word.trim_end_matches([',', ';', ':']);
        let named =
            positions(&|flag| flag == word || (word.ends_with('=') && flag.starts_with(word)));
        if !named.is_empty() {
            return named;
        }
    }
    // 4. "unknown target CPU 'znver9'", "unknown FP unit 'foo'": only the value is named.
    for text in quoted.iter().filter(|t| !t.starts_with('-')) {
        let valued = positions(&|flag| {
            flag.starts_with("-m")
                && flag
                    .split_once('=')
                    .is_some_and(|(_, value)| value == *text)
        });
        if !valued.is_empty() {
            return valued;
        }
    }
    Vec::new()
}

fn change_for(flag: &str) -> Change {
    let alias = STANDARD_ALIASES.iter().find(|(newer, _)| *newer == flag);
    alias.map_or(Change::Drop, |(_, older)| {
        Change::Replace((*older).to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dropped(stderr: &str, flags: &[&str]) -> Vec<String> {
        let flags: Vec<String> = flags.iter().map(|f| (*f).to_owned()).collect();
        changes(stderr, &flags)
            .into_iter()
            .map(|(i, _)| flags[i].clone())
            .collect()
    }

    #[test]
    fn all_unknown_arguments_of_one_run() {
        let stderr = "clang-19: error: unknown argument: '-fconserve-stack'\n\
                      clang-19: error: unknown argument: '-mindirect-branch=thunk-extern'\n";
        let flags = [
            "-DX",
            "-fconserve-stack",
            "-mindirect-branch=thunk-extern",
            "-m64",
        ];
        assert_eq!(
            dropped(stderr, &flags),
            ["-fconserve-stack", "-mindirect-branch=thunk-extern"]
        );
    }

    #[test]
    fn unknown_argument_with_a_suggestion() {
        let stderr =
            "clang: error: unknown argument '-fno-ipa-sraa'; did you mean '-fno-ipa-sra'?\n";
        assert_eq!(dropped(stderr, &["-fno-ipa-sraa", "-c"]), ["-fno-ipa-sraa"]);
    }

    #[test]
    fn values_that_are_not_supported() {
        let new = "clang-19: error: unsupported argument 'foo' to option '-mcmodel=' for target 'x86_64'\n";
        assert_eq!(
            dropped(new, &["-mcmodel=foo", "-mtune=x"]),
            ["-mcmodel=foo"]
        );
        let old = "clang: error: invalid argument 'foo' to -mcmodel=\n";
        assert_eq!(
            dropped(old, &["-mcmodel=foo", "-mtune=x"]),
            ["-mcmodel=foo"]
        );
        let abi = "clang-19: error: unsupported option '-mabi=' for target 'x86_64-pc-linux-gnu'\n";
        assert_eq!(dropped(abi, &["-mabi=sysv2"]), ["-mabi=sysv2"]);
        let cpu = "error: unknown target CPU 'znver9'\nnote: valid target CPU values are: nocona, core2\n";
        assert_eq!(
            dropped(cpu, &["-march=znver9", "-DCPU=znver9"]),
            ["-march=znver9"]
        );
        let unit = "error: unknown FP unit 'foo'\n";
        assert_eq!(dropped(unit, &["-mfpmath=foo"]), ["-mfpmath=foo"]);
    }

    #[test]
    fn standards_get_their_older_name_first() {
        let flags = vec!["-std=gnu23".to_owned()];
        let found = changes("error: invalid value 'gnu23' in '-std=gnu23'\n", &flags);
        assert_eq!(found, [(0, Change::Replace("-std=gnu2x".into()))]);
        let flags = vec!["-std=gnu77".to_owned()];
        let found = changes("error: invalid value 'gnu77' in '-std=gnu77'\n", &flags);
        assert_eq!(found, [(0, Change::Drop)]);
    }

    #[test]
    fn errors_in_the_source_blame_no_flag() {
        let stderr = "a.c:3:1: error: unknown type name '-fconserve-stack'\n";
        assert!(dropped(stderr, &["-fconserve-stack"]).is_empty());
        let missing = "clang: error: no such file or directory: 'a.c'\n";
        assert!(dropped(missing, &["-DX", "-I."]).is_empty());
    }
}
