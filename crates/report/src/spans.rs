//! Which part of a source line is meant by a position of the debug information? A position is one column; what people want to
//! see marked is the call, the access path or the statement that starts there.

use std::ops::Range;

/// Bytes of a line to mark, given the column that the debug information has (bytes from 1; 0 is unknown).
pub(crate) fn span(line: &str, column: u32) -> Range<usize> {
    let statement = statement(line);
    let start = match usize::try_from(column) {
        Ok(column) if column > 0 && line.is_char_boundary(column - 1) && column <= line.len() => {
            column - 1
        }
        _ => return statement,
    };
    if let Some(condition) = condition(line, start) {
        return condition;
    }
    let rest = &line[start..];
    let word = access_path(rest);
    if word == 0 {
        // An operator or a brace: `p = NULL` has its place at the `=`.
        let is_brace = rest.starts_with(['{', '}']);
        return if is_brace {
            start..start + 1
        } else {
            statement
        };
    }
    if rest.starts_with("return") {
        return start..statement.end.max(start + word);
    }
    let after = rest[word..].trim_start();
    let mut end = start + word;
    if after.starts_with('(') {
        let open = line.len() - after.len();
        end = closing(line, open).unwrap_or(end);
    }
    start..end
}

/// All between the parentheses, where the position is the start of a condition: `if (amount < 0)`.
fn condition(line: &str, start: usize) -> Option<Range<usize>> {
    let before = line[..start].trim_end();
    let keyword = before.strip_suffix('(')?.trim_end();
    if !["if", "while", "switch"]
        .iter()
        .any(|k| keyword.ends_with(k))
    {
        return None;
    }
    let end = closing(line, before.len() - 1)?;
    Some(start..end - 1)
}

/// Bytes of `conn->handler.read` at the start of a text.
fn access_path(text: &str) -> usize {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut end = 0;
    loop {
        let name = text[end..]
            .find(|c| !is_name(c))
            .unwrap_or(text.len() - end);
        if name == 0 {
            return end;
        }
        end += name;
        let joint = match &text[end..] {
            rest if rest.starts_with("->") => 2,
            rest if rest.starts_with('.') => 1,
            _ => return end,
        };
        if !text[end + joint..].starts_with(is_name) {
            return end;
        }
        end += joint;
    }
}

/// Byte after the parenthesis that closes the one at `open`, if it is on the same line.
fn closing(line: &str, open: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (at, c) in line[open..].char_indices() {
        match c {
            '(' => depth += 1,
            ')' => {
                depth -= 1;
                if depth == 0 {
                    return Some(open + at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// The line without indentation, trailing comment, semicolon and opening brace.
fn statement(line: &str) -> Range<usize> {
    let start = line.len() - line.trim_start().len();
    let comment = ["//", "/*"]
        .iter()
        .filter_map(|opening| line[start..].find(opening));
    let code = comment.min().map_or(line.len(), |at| start + at);
    let end = line[..code]
        .trim_end()
        .trim_end_matches([';', '{', ' '])
        .len();
    start..end.max(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(line: &str, column: u32) -> &str {
        &line[span(line, column)]
    }

    #[test]
    fn spans_cover_calls_and_statements() {
        assert_eq!(marked("    p = malloc(f(1), 2);", 9), "malloc(f(1), 2)");
        assert_eq!(marked("    p = NULL; // gone", 7), "p = NULL");
        assert_eq!(marked("    if (x > 3)", 5), "if (x > 3)");
        assert_eq!(marked("  return -1;", 3), "return -1");
        assert_eq!(marked("  return -1; /* why */", 3), "return -1");
        assert_eq!(marked("}", 1), "}");
        assert_eq!(marked("    if (!ok) {", 9), "!ok");
        assert_eq!(marked("    if (a < 0) { // b", 9), "a < 0");
        assert_eq!(marked("    if (a < f(0) &&", 9), "a");
        assert_eq!(marked("  f(a,", 3), "f");
        assert_eq!(marked("  a->b.c(1) + 2", 3), "a->b.c(1)");
        assert_eq!(marked("  a->b.", 3), "a->b");
        assert_eq!(marked("  x = y;", 0), "x = y");
    }

    #[test]
    fn columns_that_do_not_fit_are_harmless() {
        assert_eq!(marked("", 1), "");
        assert_eq!(marked("ab", 99), "ab");
        assert_eq!(marked("é = 1;", 2), "é = 1");
        assert_eq!(marked("   ", 2), "");
    }
}
