//! Crates depend in one direction only.
//!
//! `ORDER` is the way of the data; a crate may use crates before it. `MUST_NOT_KNOW` are the walls
//! between neighbours that the order alone doesn't draw. `test-utils` is for tests: nobody depends on
//! it but as a dev-dependency. Dev-dependencies otherwise obey the order, not the walls.

use super::{Findings, Tree};
use toml::{Table, Value};

/// Each crate may depend on those before it.
const ORDER: &[&str] = &[
    "base", "cond", "bitcode", "program", "models", "pointer", "memssa", "flow", "engines",
    "report", "capture", "cli",
];

/// Crate, what it must not know, and why.
const MUST_NOT_KNOW: &[(&str, &[&str], &str)] = &[
    (
        "bitcode",
        &["cond"],
        "the reader knows bytes, not conditions",
    ),
    ("program", &["cond"], "a Program has values, not conditions"),
    ("models", &["bitcode"], ANALYSES_READ_PROGRAM),
    ("pointer", &["bitcode"], ANALYSES_READ_PROGRAM),
    ("memssa", &["bitcode"], ANALYSES_READ_PROGRAM),
    ("flow", &["bitcode"], ANALYSES_READ_PROGRAM),
    ("engines", &["bitcode"], ANALYSES_READ_PROGRAM),
    (
        "report",
        &["bitcode", "pointer", "memssa", "flow"],
        "report renders findings and does no analysis",
    ),
    (
        "capture",
        &[
            "cond", "bitcode", "program", "models", "pointer", "memssa", "flow", "engines",
            "report",
        ],
        "capture makes bitcode files and doesn't look inside",
    ),
];

const ANALYSES_READ_PROGRAM: &str = "analyses read a Program, never bitcode";
const TEST_ONLY: &str = "test-utils";
const PREFIX: &str = "drip-";

pub fn check(tree: &Tree, findings: &mut Findings) {
    for file in &tree.files {
        let name = file
            .path
            .strip_prefix("crates/")
            .and_then(|rest| rest.strip_suffix("/Cargo.toml"));
        let Some(name) = name.filter(|n| !n.contains('/')) else {
            continue;
        };
        match file.text.parse::<Table>() {
            Ok(manifest) => check_crate(&file.path, name, &manifest, findings),
            Err(error) => findings.error(&file.path, format_args!("is not TOML: {error}")),
        }
    }
}

fn check_crate(path: &str, name: &str, manifest: &Table, findings: &mut Findings) {
    let package = manifest.get("package").and_then(|p| p.get("name"));
    let expected = format!("{PREFIX}{name}");
    if package.and_then(Value::as_str) != Some(&expected) {
        findings.error(path, format_args!("the package must be called {expected}"));
    }
    let place = |krate: &str| ORDER.iter().position(|&c| c == krate);
    if name != TEST_ONLY && place(name).is_none() {
        findings.error(
            path,
            format_args!("crate {name} has no place in the order (xtask/src/tidy/layers.rs)"),
        );
        return;
    }
    for (dependency, is_dev) in dependencies(manifest) {
        let Some(dependency) = dependency.strip_prefix(PREFIX) else {
            continue;
        };
        if dependency == TEST_ONLY {
            if !is_dev {
                findings.error(path, "drip-test-utils is for dev-dependencies only");
            }
            continue;
        }
        if name != TEST_ONLY && place(dependency) >= place(name) && dependency != name {
            findings.error(
                path,
                format_args!("{name} may not depend on {dependency}, which comes after it"),
            );
        }
        let wall = MUST_NOT_KNOW
            .iter()
            .find(|(krate, unknown, _)| *krate == name && unknown.contains(&dependency));
        if let Some((_, _, why)) = wall.filter(|_| !is_dev) {
            findings.error(
                path,
                format_args!("{name} must not know {dependency}: {why}"),
            );
        }
    }
}

/// Names of all dependencies, with whether they are for tests only; those for one target included.
fn dependencies(manifest: &Table) -> Vec<(&str, bool)> {
    let per_target = manifest.get("target").and_then(Value::as_table);
    let targets = per_target.into_iter().flat_map(Table::values);
    let tables = targets
        .filter_map(Value::as_table)
        .chain(std::iter::once(manifest));
    let mut names = Vec::new();
    for table in tables {
        for (section, is_dev) in [
            ("dependencies", false),
            ("build-dependencies", false),
            ("dev-dependencies", true),
        ] {
            let entries = table.get(section).and_then(Value::as_table);
            names.extend(
                entries
                    .into_iter()
                    .flat_map(Table::keys)
                    .map(|k| (k.as_str(), is_dev)),
            );
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use crate::tidy::tests::errors_of;

    fn manifest(name: &str, rest: &str) -> String {
        format!("[package]\nname = \"drip-{name}\"\n{rest}")
    }

    fn errors(name: &str, rest: &str) -> Vec<String> {
        let path = format!("crates/{name}/Cargo.toml");
        errors_of(super::check, &[(&path, &manifest(name, rest))]).0
    }

    #[test]
    fn downward_dependencies_are_fine() {
        let deps = "[dependencies]\ndrip-base.workspace = true\ndrip-bitcode.workspace = true\nserde = \"1\"\n";
        assert!(errors("program", deps).is_empty());
        assert!(errors("cli", "[dependencies]\ndrip-engines = \"0\"\n").is_empty());
        assert!(errors("test-utils", "[dependencies]\ndrip-engines = \"0\"\n").is_empty());
    }

    #[test]
    fn upward_dependencies_fail_in_every_section() {
        for section in [
            "dependencies",
            "build-dependencies",
            "dev-dependencies",
            "target.'cfg(unix)'.dependencies",
        ] {
            let errors = errors(
                "base",
                &format!("[{section}]\ndrip-flow.workspace = true\n"),
            );
            assert_eq!(
                errors,
                ["crates/base/Cargo.toml: base may not depend on flow, which comes after it"],
                "{section}"
            );
        }
    }

    #[test]
    fn walls_hold_but_for_tests() {
        assert_eq!(
            errors("report", "[dependencies]\ndrip-flow = \"0\"\n").len(),
            1
        );
        assert!(errors("report", "[dev-dependencies]\ndrip-flow = \"0\"\n").is_empty());
    }

    #[test]
    fn test_utils_is_for_tests() {
        assert_eq!(
            errors("flow", "[dependencies]\ndrip-test-utils = \"0\"\n").len(),
            1
        );
        assert!(errors("flow", "[dev-dependencies]\ndrip-test-utils = \"0\"\n").is_empty());
    }

    #[test]
    fn unknown_crates_and_wrong_names_fail() {
        assert_eq!(errors("kitchen", "").len(), 1);
        let named = [("crates/base/Cargo.toml", "[package]\nname = \"base\"\n")];
        assert_eq!(errors_of(super::check, &named).0.len(), 1);
        let broken = [("crates/base/Cargo.toml", "[package\n")];
        assert_eq!(errors_of(super::check, &broken).0.len(), 1);
    }
}
