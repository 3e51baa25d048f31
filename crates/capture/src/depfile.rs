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

fn finish(current: &mut String, names: &mut Vec<String>) {
    if !current.is_empty() {
        names.push(std::mem::take(current));
    }
}

#[cfg(test)]
mod tests {
    use super::prerequisites;

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
}
