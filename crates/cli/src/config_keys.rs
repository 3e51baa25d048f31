//! Is every key of a drip.toml known? If not: which one was meant, and on which line is it?

use anyhow::bail;
use toml::{Table, Value};

const TOP: &[&str] = &[
    "select",
    "ignore",
    "exclude",
    "baseline",
    "min-confidence",
    "resources",
    "build",
    "limits",
    "allocator",
    "function",
];
const BUILD: &[&str] = &["clang", "extra-args"];
const LIMITS: &[&str] = &["jobs", "timeout", "max-memory"];
const ALLOCATOR: &[&str] = &["alloc", "free", "realloc", "kind", "arg"];
const FUNCTION: &[&str] = &["name", "takes", "borrows", "returns", "noreturn"];

/// Names further away than this share of their length are not taken for a misspelling.
const LEAST_SIMILARITY: f64 = 0.6;

pub fn check_keys(table: &Table, text: &str) -> anyhow::Result<()> {
    check(table, "", TOP, text)?;
    for (name, keys) in [
        ("build", BUILD),
        ("limits", LIMITS),
        ("allocator", ALLOCATOR),
        ("function", FUNCTION),
    ] {
        match table.get(name) {
            Some(Value::Table(inner)) => check(inner, name, keys, text)?,
            Some(Value::Array(items)) => {
                for item in items.iter().filter_map(Value::as_table) {
                    check(item, name, keys, text)?;
                }
            }
            // A wrong type is told when the values are read.
            _ => {}
        }
    }
    Ok(())
}

fn check(table: &Table, section: &str, known: &[&str], text: &str) -> anyhow::Result<()> {
    for key in table.keys() {
        if known.contains(&key.as_str()) {
            continue;
        }
        let line = line_of(key, text).map_or(String::new(), |line| format!("line {line}: "));
        let place = match section {
            "" => String::new(),
            section => format!(" in [{section}]"),
        };
        let advice = match nearest(key, known) {
            Some(name) => format!("did you mean `{name}`?"),
            None => format!("there are {}", known.join(", ")),
        };
        bail!("{line}unknown key `{key}`{place}; {advice}");
    }
    Ok(())
}

fn nearest<'k>(key: &str, known: &[&'k str]) -> Option<&'k str> {
    let scored = known
        .iter()
        .map(|name| (strsim::jaro_winkler(key, name), *name))
        .filter(|(score, _)| *score >= LEAST_SIMILARITY);
    scored
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

/// The first line that sets the key or opens a section of that name.
fn line_of(key: &str, text: &str) -> Option<usize> {
    let sets = |line: &str| {
        let line = line.trim_start().trim_start_matches('[');
        let rest = line.trim_start_matches(['"', '\'']).strip_prefix(key);
        rest.is_some_and(|r| {
            r.trim_start_matches(['"', '\'', ' ', '\t'])
                .starts_with(['=', ']', '.'])
        })
    };
    text.lines().position(sets).map(|index| index + 1)
}
