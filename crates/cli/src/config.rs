//! `drip.toml`: what a project wants, found upwards from the current directory.
//!
//! Unknown keys are errors that name the nearest right one: a misspelt `ignor` that is passed over silently costs more
//! than a failed run.

use crate::config_keys::check_keys;
use crate::config_models::{Allocator, FunctionModel, models_toml};
use anyhow::{Context, anyhow};
use drip_engines::Confidence;
use drip_models::Library;
use serde::Deserialize;
use std::path::{Path, PathBuf};

pub const FILE_NAME: &str = "drip.toml";

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
struct Raw {
    select: Vec<String>,
    ignore: Vec<String>,
    exclude: Vec<String>,
    baseline: Option<PathBuf>,
    min_confidence: Option<String>,
    resources: bool,
    build: RawBuild,
    limits: RawLimits,
    allocator: Vec<Allocator>,
    function: Vec<FunctionModel>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
struct RawBuild {
    clang: Option<PathBuf>,
    extra_args: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
struct RawLimits {
    jobs: Option<usize>,
    timeout: Option<u64>,
    max_memory: Option<u64>,
}

/// The configuration of a run; paths are resolved.
#[derive(Debug, Default)]
pub struct Config {
    /// Where it was found; `None` if there is no file.
    pub file: Option<PathBuf>,
    pub select: Vec<String>,
    pub ignore: Vec<String>,
    pub exclude: Vec<String>,
    pub baseline: Option<PathBuf>,
    pub min_confidence: Option<Confidence>,
    /// Streams and directories are to be closed.
    resources: bool,
    pub clang: Option<PathBuf>,
    pub extra_args: Vec<String>,
    pub jobs: Option<usize>,
    pub timeout: Option<u64>,
    pub max_memory: Option<u64>,
    /// The project's functions as a model file; empty if there are none.
    models: String,
}

impl Config {
    /// The file named on the command line, else the nearest one upwards, else nothing.
    pub fn find(explicit: Option<&Path>, none: bool) -> anyhow::Result<Self> {
        if none {
            return Ok(Config::default());
        }
        if let Some(file) = explicit {
            return Self::read(file);
        }
        let start = std::env::current_dir().context("cannot find the current directory")?;
        match start
            .ancestors()
            .map(|dir| dir.join(FILE_NAME))
            .find(|f| f.is_file())
        {
            Some(file) => Self::read(&file),
            None => Ok(Config::default()),
        }
    }

    fn read(file: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(file)
            .with_context(|| format!("cannot read {}", file.display()))?;
        let dir = file.parent().unwrap_or(Path::new("."));
        let parsed = Self::parse(&text, dir);
        let mut config = parsed.with_context(|| format!("in {}", file.display()))?;
        config.file = Some(file.to_owned());
        Ok(config)
    }

    fn parse(text: &str, dir: &Path) -> anyhow::Result<Self> {
        let table: toml::Table =
            toml::from_str(text).map_err(|e| anyhow!("{}", e.to_string().trim()))?;
        check_keys(&table, text)?;
        let raw: Raw = toml::from_str(text).map_err(|e| anyhow!("{}", e.to_string().trim()))?;
        let min_confidence = match raw.min_confidence {
            None => None,
            Some(name) => Some(drip_report::parse_confidence(&name).ok_or_else(|| {
                anyhow!("min-confidence is `{name}`; it has to be low, medium or high")
            })?),
        };
        // A name without directory is looked up on PATH; a relative path starts at the file.
        let clang = raw
            .build
            .clang
            .map(|clang| match clang.components().count() {
                0 | 1 => clang,
                _ => dir.join(clang),
            });
        Ok(Config {
            file: None,
            select: raw.select,
            ignore: raw.ignore,
            exclude: raw.exclude,
            baseline: raw.baseline.map(|file| dir.join(file)),
            min_confidence,
            resources: raw.resources,
            clang,
            extra_args: raw.build.extra_args,
            jobs: raw.limits.jobs,
            timeout: raw.limits.timeout,
            max_memory: raw.limits.max_memory,
            models: models_toml(&raw.allocator, &raw.function)?,
        })
    }

    /// Models that come with drip, then the project's own.
    pub fn library(&self) -> anyhow::Result<Library> {
        let of_drip = "in the models that come with drip";
        let mut library = Library::builtin().context(of_drip)?;
        if self.resources {
            library.add_resources().context(of_drip)?;
        }
        if !self.models.is_empty() {
            let name = self.file.as_deref().unwrap_or(Path::new(FILE_NAME));
            library.add(&name.display().to_string(), &self.models)?;
        }
        Ok(library)
    }

    /// Is this absolute file name excluded?
    pub fn excludes(&self, file: &str) -> bool {
        let dir = self.file.as_deref().and_then(Path::parent);
        let dir = dir.and_then(|dir| std::path::absolute(dir).ok());
        let relative = dir
            .as_deref()
            .and_then(|dir| Path::new(file).strip_prefix(dir).ok());
        let shown = relative.map_or(file.into(), |path| path.to_string_lossy());
        self.exclude
            .iter()
            .any(|pattern| crate::glob::matches(pattern, &shown))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> anyhow::Result<Config> {
        Config::parse(text, Path::new("/project"))
    }

    #[test]
    fn the_file_that_init_writes_is_right() {
        let text = crate::commands::init::TEMPLATE;
        parse(text).unwrap();
        let active: String = text
            .lines()
            .map(|line| match line.strip_prefix("#: ") {
                Some(setting) => format!("{setting}\n"),
                None => format!("{line}\n"),
            })
            .collect();
        let mut config = parse(&active).unwrap();
        assert_eq!(config.min_confidence, Some(Confidence::Medium));
        config.file = Some("/project/drip.toml".into());
        let library = config.library().unwrap();
        assert!(library.find("pool_alloc").is_some());
    }

    #[test]
    fn paths_start_at_the_file() {
        let config = parse("baseline = 'b.txt'\n[build]\nclang = 'bin/clang'").unwrap();
        assert_eq!(
            config.baseline.as_deref(),
            Some(Path::new("/project/b.txt"))
        );
        assert_eq!(
            config.clang.as_deref(),
            Some(Path::new("/project/bin/clang"))
        );
        let config = parse("[build]\nclang = 'clang-19'").unwrap();
        assert_eq!(config.clang.as_deref(), Some(Path::new("clang-19")));
    }

    #[test]
    fn unknown_keys_name_the_nearest() {
        for (text, expected) in [
            ("selct = []", "did you mean `select`?"),
            (
                "\n[build]\nclangs = 'x'",
                "line 3: unknown key `clangs` in [build]; did you mean `clang`?",
            ),
            ("[[allocator]]\nallocs = 'x'", "did you mean `alloc`?"),
            (
                "[[function]]\nname = 'f'\nzzz = 1",
                "there are name, takes, borrows, returns, noreturn",
            ),
            ("min-confidence = 'sure'", "low, medium or high"),
            ("select = 3", "invalid type"),
            ("select = ", "line 1"),
        ] {
            let error = format!("{:#}", parse(text).unwrap_err());
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn excluded_files_are_relative_to_the_file() {
        let mut config = parse("exclude = ['third_party', '**/*_test.c']").unwrap();
        config.file = Some("/project/drip.toml".into());
        assert!(config.excludes("/project/third_party/a.c"));
        assert!(config.excludes("/project/src/a_test.c"));
        assert!(!config.excludes("/project/src/a.c"));
    }
}
