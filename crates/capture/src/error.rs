//! What can stop a capture as a whole. What concerns one source only is a [`crate::Failure`].

use std::path::{Path, PathBuf};

/// A capture that could not be made. The message names the file and, where there is one, the way out.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("no clang found{}: {hint}", in_places(.tried))]
    NoClang { tried: Vec<PathBuf>, hint: String },
    #[error("{} cannot be used as clang: {reason}", .path.display())]
    BadClang { path: PathBuf, reason: String },
    #[error("cannot {action} {}: {source}", .path.display())]
    Io {
        action: &'static str,
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("cannot use the compilation database {}: {reason}", .path.display())]
    Database { path: PathBuf, reason: String },
    #[error("nothing to check in {}: no C or C++ source, no bitcode and no compile_commands.json; \
             to watch a build, put its command after `--`", list(.paths))]
    NothingFound { paths: Vec<PathBuf> },
    #[error("cannot start the build command `{command}`: {source}")]
    BuildNotStarted {
        command: String,
        source: std::io::Error,
    },
    #[error("neither the cache {} ({cache_reason}) nor a temporary directory ({reason}) can be written to; \
             set DRIP_CACHE_DIR or TMPDIR to a directory with free space", .cache.display())]
    NowhereToWrite {
        cache: PathBuf,
        cache_reason: String,
        reason: String,
    },
}

fn in_places(tried: &[PathBuf]) -> String {
    if tried.is_empty() {
        return String::new();
    }
    format!(" that works (tried {})", list(tried))
}

fn list(paths: &[PathBuf]) -> String {
    let names: Vec<_> = paths.iter().map(|p| p.display().to_string()).collect();
    names.join(", ")
}

impl Error {
    pub(crate) fn io(action: &'static str, path: &Path, source: std::io::Error) -> Self {
        Error::Io {
            action,
            path: path.to_owned(),
            source,
        }
    }
}

pub(crate) fn current_dir() -> Result<PathBuf, Error> {
    std::env::current_dir().map_err(|e| Error::io("find", Path::new("the current directory"), e))
}
