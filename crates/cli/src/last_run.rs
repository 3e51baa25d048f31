//! The result of the last `drip check` in a directory, for `explain`, `ledger` and `baseline`: all findings, shown or not, and
//! the ledger. Kept in the cache, one file per directory, replaced as a whole.

use crate::output::write_file;
use crate::pipeline::Run;
use anyhow::{Context, anyhow};
use drip_report::Document;
use std::path::{Path, PathBuf};

const DIRECTORY: &str = "results";

fn directory() -> anyhow::Result<PathBuf> {
    let cache = drip_capture::cache::default_dir()
        .ok_or_else(|| anyhow!("there is no place for results: set HOME or DRIP_CACHE_DIR"))?;
    Ok(cache.join(DIRECTORY))
}

fn file_for(dir: &Path) -> anyhow::Result<PathBuf> {
    let hash = blake3::hash(dir.as_os_str().as_encoded_bytes());
    let name: String = hash.to_hex().chars().take(16).collect();
    Ok(directory()?.join(format!("{name}.json")))
}

/// To be called before anything is hidden.
pub fn save(run: &Run) -> anyhow::Result<()> {
    let here = std::env::current_dir()?;
    let file = file_for(&here)?;
    std::fs::create_dir_all(directory()?)?;
    let document = Document::new(&run.analysis, &run.coverage, true, &str::to_owned);
    write_file(&file, &document.to_json())
}

/// The last result of this directory or the nearest one above it.
pub fn load() -> anyhow::Result<Document> {
    let here = std::env::current_dir().context("cannot find the current directory")?;
    for dir in here.ancestors() {
        let file = file_for(dir)?;
        let Ok(text) = std::fs::read_to_string(&file) else {
            continue;
        };
        return Document::parse(&text).with_context(|| {
            format!(
                "the last result ({}) cannot be used; run `drip check` again",
                file.display()
            )
        });
    }
    Err(anyhow!(
        "there is no result for this directory yet; run `drip check` first"
    ))
}

/// Deletes all results; says how many there were.
pub fn clean() -> anyhow::Result<usize> {
    let dir = directory()?;
    let count = std::fs::read_dir(&dir).map_or(0, |entries| entries.flatten().count());
    match std::fs::remove_dir_all(&dir) {
        Ok(()) => Ok(count),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(0),
        Err(e) => Err(e).with_context(|| format!("cannot delete {}", dir.display())),
    }
}
