//! Tables of `docs/benchmarks.md`: each stands between two marks, `<!-- bench NAME -->` and `<!-- end -->`, and only what
//! is between them is written; the text around it is written by people. A directory without the document gets one that
//! has nothing but the tables.

mod injection;
mod summary;
mod tables;

pub use tables::tool_names;

use super::plots;
use super::results::Results;
use anyhow::{Context, ensure};
use std::fs;
use std::path::Path;

/// Writing to a string can't fail.
macro_rules! line {
    ($out:expr, $($text:tt)*) => {{ let _ = writeln!($out, $($text)*); }};
}
use line;

const END: &str = "<!-- end -->";

/// Puts the short comparison into the README.
pub fn readme(results: &Results, path: &Path) -> anyhow::Result<()> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {path:?}"))?;
    let text = replaced(&text, "summary", &summary::summary(results))?;
    fs::write(path, text).with_context(|| format!("cannot write {path:?}"))
}

/// Writes the tables into `directory/benchmarks.md` and the plots beside it.
pub fn render(results: &Results, directory: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(directory).with_context(|| format!("cannot make {directory:?}"))?;
    let path = directory.join("benchmarks.md");
    let tables: [(&str, String); 10] = [
        ("machine", tables::machine(results)),
        ("summary", summary::summary(results)),
        ("tools", tables::side_by_side(results)),
        ("drip", tables::drip(results)),
        ("phases", tables::phases(results)),
        ("exponents", tables::exponents(results)),
        ("growth", tables::growth(results)),
        ("recall", injection::recall(results)),
        ("misses", injection::misses(results)),
        ("repairs", injection::repairs(results)),
    ];
    let mut text = match path.exists() {
        true => fs::read_to_string(&path).with_context(|| format!("cannot read {path:?}"))?,
        false => skeleton(tables.iter().map(|t| t.0)),
    };
    for (name, table) in &tables {
        text = replaced(&text, name, table)?;
    }
    fs::write(&path, text).with_context(|| format!("cannot write {path:?}"))?;
    plots::write(results, directory)
}

fn skeleton<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let section = |name: &str| format!("## {name}\n\n<!-- bench {name} -->\n{END}\n\n");
    format!(
        "# Measurements\n\n{}",
        names.map(section).collect::<String>()
    )
}

/// The text with another table between the marks of `name`.
fn replaced(text: &str, name: &str, table: &str) -> anyhow::Result<String> {
    let mark = format!("<!-- bench {name} -->\n");
    let start = text
        .find(&mark)
        .with_context(|| format!("no mark for `{name}`"))?
        + mark.len();
    let length = text[start..].find(END);
    ensure!(length.is_some(), "the mark of `{name}` has no end");
    let end = start + length.unwrap_or_default();
    Ok(format!("{}{table}{}", &text[..start], &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::super::results::Mutant;
    use super::*;

    #[test]
    fn only_what_is_between_the_marks_changes() {
        let text = "before\n<!-- bench a -->\nold\n<!-- end -->\nafter\n";
        let new = replaced(text, "a", "| new |\n").unwrap();
        assert_eq!(
            new,
            "before\n<!-- bench a -->\n| new |\n<!-- end -->\nafter\n"
        );
        assert!(replaced(text, "b", "").is_err());
    }

    #[test]
    fn a_document_is_made_and_made_again() {
        let dir = tempfile::tempdir().unwrap();
        let mut results = Results::default();
        render(&results, dir.path()).unwrap();
        results.injection.mutants.push(Mutant {
            kind: "early return".to_owned(),
            reported: Some("D002".to_owned()),
            ..Mutant::default()
        });
        render(&results, dir.path()).unwrap();
        let text = fs::read_to_string(dir.path().join("benchmarks.md")).unwrap();
        assert!(text.contains("Recall 100 %"), "{text}");
        assert_eq!(text.matches("<!-- bench recall -->").count(), 1);
    }
}
