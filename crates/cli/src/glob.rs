//! Does a path match a pattern of `exclude`? `*` is anything but a slash, `**` is anything, `?` is one character; a pattern
//! without wildcards also means everything below that directory.

/// `path` is relative to the directory of drip.toml.
pub fn matches(pattern: &str, path: &str) -> bool {
    let pattern = pattern.trim_start_matches("./").trim_end_matches('/');
    if pattern.is_empty() {
        return false;
    }
    // Everything below a matching directory is excluded, too.
    let prefixes = path.match_indices('/').map(|(at, _)| &path[..at]);
    prefixes
        .chain([path])
        .any(|part| matches_whole(pattern.as_bytes(), part.as_bytes()))
}

fn matches_whole(pattern: &[u8], text: &[u8]) -> bool {
    match pattern {
        [] => text.is_empty(),
        [b'*', b'*', rest @ ..] => {
            let rest = rest.strip_prefix(b"/").unwrap_or(rest);
            (0..=text.len()).any(|skip| {
                let at_start = skip == 0 || rest.is_empty() || text[skip - 1] == b'/';
                at_start && matches_whole(rest, &text[skip..])
            })
        }
        [b'*', rest @ ..] => {
            let end = text.iter().position(|&b| b == b'/').unwrap_or(text.len());
            (0..=end).any(|skip| matches_whole(rest, &text[skip..]))
        }
        [b'?', rest @ ..] => match text {
            [first, tail @ ..] if *first != b'/' => matches_whole(rest, tail),
            _ => false,
        },
        [first, rest @ ..] => match text {
            [byte, tail @ ..] if byte == first => matches_whole(rest, tail),
            _ => false,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns_mean_files_and_directories() {
        for (pattern, path, expected) in [
            ("third_party", "third_party/zlib/inflate.c", true),
            ("third_party", "src/third_party.c", false),
            ("third_party/", "third_party/a.c", true),
            ("**/test", "a/b/test/c.c", true),
            ("**/test", "test/c.c", true),
            ("**/test", "a/contest/c.c", false),
            ("src/*.c", "src/a.c", true),
            ("src/*.c", "src/b/a.c", false),
            ("src/**/*.c", "src/b/d/a.c", true),
            ("src/**/*.c", "src/a.c", true),
            ("a?.c", "ab.c", true),
            ("a?.c", "a/.c", false),
            ("", "a.c", false),
            ("./a.c", "a.c", true),
        ] {
            assert_eq!(matches(pattern, path), expected, "{pattern} on {path}");
        }
    }
}
