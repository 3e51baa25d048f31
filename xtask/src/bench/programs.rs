//! Which programs are measured, and how each is made ready: `programs.toml` as data.

use anyhow::{Context, bail};
use serde::Deserialize;

const LIST: &str = include_str!("programs.toml");

/// How mutants of a program are run under LeakSanitizer.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Confirm {
    pub build: String,
    pub run: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgramSpec {
    pub name: String,
    pub package: String,
    #[serde(default)]
    pub needs: Vec<String>,
    pub configure: String,
    pub build: String,
    #[serde(default)]
    pub exclude: Vec<String>,
    #[serde(default)]
    pub frees: Vec<String>,
    #[serde(default)]
    pub cppcheck: Vec<String>,
    #[serde(default)]
    pub inject: bool,
    #[serde(default)]
    pub quick: bool,
    #[serde(default)]
    pub confirm: Option<Confirm>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    program: Vec<ProgramSpec>,
}

/// The programs of the list that are wanted: those named, else the quick ones or all; in the list's order.
pub fn choose(names: &[String], quick: bool) -> anyhow::Result<Vec<ProgramSpec>> {
    let all = toml::from_str::<List>(LIST)
        .context("programs.toml")?
        .program;
    if let Some(unknown) = names.iter().find(|&n| all.iter().all(|p| p.name != **n)) {
        let known: Vec<&str> = all.iter().map(|p| p.name.as_str()).collect();
        bail!(
            "unknown program `{unknown}`; there are {}",
            known.join(", ")
        );
    }
    let wanted = |program: &ProgramSpec| match names.is_empty() {
        true => program.quick || !quick,
        false => names.contains(&program.name),
    };
    Ok(all.into_iter().filter(wanted).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_readable_and_large_enough() {
        let all = choose(&[], false).unwrap();
        assert!(all.len() >= 16);
        assert!(all.iter().filter(|p| p.inject).count() >= 6);
        let quick = choose(&[], true).unwrap();
        assert!(!quick.is_empty() && quick.len() < all.len());
    }

    #[test]
    fn names_are_checked() {
        let chosen = choose(&["gzip".to_owned()], true).unwrap();
        assert_eq!(chosen.len(), 1);
        assert!(choose(&["no-such-program".to_owned()], false).is_err());
    }
}
