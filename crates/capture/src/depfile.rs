//! Which files did a compile read? Reads the Make rule that `clang -MD` writes.
//!
//! The format is Make's: `target: a.c a\ b.h \⏎ c$$d.h`. Clang escapes space and `#` with a backslash and `$` by
//! doubling it; a backslash before anything else is itself.

/// The prerequisites of the first rule in `text`, as they are written (possibly relative).
pub(crate) fn prerequisites(text: &str) -> Vec<String> {
    // The target is ours and has no colon, so the first one ends it.
    let Some((_, list)) = text.split_once(':') else {
        return Vec::new();
    };
    let mut names = Vec::new();
    let mut current = String::new();
    let mut chars = list.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.peek() {
                Some('\n') => {
                    chars.next();
                    finish(&mut current, &mut names);
                }
                Some(' ' | '#') => current.extend(chars.next()),
                _ => current.push('\\'),
            },
            '$' if chars.peek() == Some(&'$') => current.extend(chars.next()),
            '\n' => {
                finish(&mut current, &mut names);
                break;
            }
            ' ' | '\t' | '\r' => finish(&mut current, &mut names),
            other => current.push(other),
        }
    }
    finish(&mut current, &mut names);
    names
}

/// Of several rules the one whose first prerequisite is `source`; none if there is no such rule or more than one, or if one is cut off.
pub(crate) fn rule_of<'a>(text: &'a str, source: &str) -> Option<&'a str> {
    let name = |path: &str| path.trim_start_matches("./").to_owned();
    let wanted = name(source);
    let mut found = None;
    let mut rest = text;
    while !rest.is_empty() {
        let rule = rest.get(..rule_size(rest)?)?;
        // The source stands in the first line, or in the second one where it is long.
        let start: Vec<&str> = rule.lines().take(2).collect();
        let first = prerequisites(&start.join("\n")).into_iter().next();
        if first.is_some_and(|first| name(&first) == wanted) && found.replace(rule).is_some() {
            return None;
        }
        rest = rest.get(rule.len()..)?;
    }
    found
}

/// A rule ends with the first line that none continues. `None`: there is no such line.
fn rule_size(text: &str) -> Option<usize> {
    let mut size = 0;
    for line in text.split_inclusive('\n') {
        size += line.len();
        if !line.strip_suffix('\n')?.ends_with('\\') {
            return Some(size);
        }
    }
    None
}

fn finish(current: &mut String, names: &mut Vec<String>) {
    if !current.is_empty() {
        names.push(std::mem::take(current));
    }
}

#[cfg(test)]
mod tests {
    use super::{prerequisites, rule_of};

    #[test]
    fn continuation_lines_and_escapes() {
        let text =
            "unit: a.c \\\n  dir/with\\ space.h c$$d.h \\\n  e\\#f.h back\\slash.h\nother: x\n";
        assert_eq!(
            prerequisites(text),
            ["a.c", "dir/with space.h", "c$d.h", "e#f.h", "back\\slash.h"]
        );
    }

    #[test]
    fn no_rule_is_no_dependency() {
        assert!(prerequisites("").is_empty());
        assert!(prerequisites("unit:").is_empty());
    }

    #[test]
    fn the_rule_of_a_source_among_those_of_others() {
        let text = "drip: b.c x.h\ndrip: \\\n  a.c \\\n  x.h b.c\ndrip: sub/c\\ d.c x.h\n";
        assert_eq!(rule_of(text, "./b.c"), Some("drip: b.c x.h\n"));
        assert_eq!(
            rule_of(text, "a.c"),
            Some("drip: \\\n  a.c \\\n  x.h b.c\n")
        );
        assert_eq!(rule_of(text, "sub/c d.c"), Some("drip: sub/c\\ d.c x.h\n"));
        assert_eq!(rule_of(text, "x.h"), None);
        let twice = "drip: a.c x.h\ndrip: a.c\n";
        assert_eq!(rule_of(twice, "a.c"), None);
        for damaged in [
            "",
            ":\n",
            "drip: b.c",
            "drip: b.c \\\n",
            "\\\n\\\n",
            "drip: a.c\ndrip: b.c \\",
        ] {
            assert_eq!(rule_of(damaged, "b.c"), None, "{damaged}");
        }
    }
}
