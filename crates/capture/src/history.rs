//! What earlier runs in this directory saw: compiler calls of watched builds, and what became of each unit.
//!
//! `make` compiles only what is out of date, so the second watched build sees a few calls or none. The program is
//! still the whole one: calls of earlier builds are remembered per directory and stay valid as long as
//! their sources and what they made (the object or program) exist and no newer call makes the same. Some builds
//! delete generated sources right after compiling them; a copy, made by the wrapper, takes the source's place.
//!
//! Stored as JSON in the cache, one file per directory, replaced as a whole by a rename.

use crate::record::Record;
use crate::{Captured, cache};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Name of the directory in the cache.
pub(crate) const HISTORY_DIRECTORY: &str = "builds";

/// What one capture did, in a form that a later `drip doctor` can show.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastCapture {
    /// Source and dropped flags of every unit that lost one.
    pub dropped: Vec<(PathBuf, Vec<String>)>,
    pub units: usize,
    pub failed: Vec<PathBuf>,
}

impl LastCapture {
    fn of(captured: &Captured) -> Self {
        let lost_one = captured
            .units
            .iter()
            .filter(|unit| !unit.dropped_flags.is_empty());
        LastCapture {
            dropped: lost_one
                .map(|unit| (unit.source.clone(), unit.dropped_flags.clone()))
                .collect(),
            units: captured.units.len(),
            failed: captured.failures.iter().map(|f| f.source.clone()).collect(),
        }
    }
}

fn file_for(cache_root: &Path, directory: &Path, kind: &str) -> PathBuf {
    let hash: String = cache::key([directory.as_os_str().as_encoded_bytes()])
        .chars()
        .take(16)
        .collect();
    cache_root
        .join(HISTORY_DIRECTORY)
        .join(format!("{hash}-{kind}.json"))
}

fn read<T: DeserializeOwned + Default>(file: &Path) -> T {
    // Damaged or absent: nothing is remembered.
    let text = std::fs::read(file).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

fn write<T: Serialize>(file: &Path, value: &T) -> std::io::Result<()> {
    let dir = file.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(dir)?;
    let mut temporary = tempfile::NamedTempFile::new_in(dir)?;
    temporary.write_all(&serde_json::to_vec(value)?)?;
    temporary.persist(file).map_err(|e| e.error)?;
    Ok(())
}

/// Remembers what a capture in `directory` did. A cache that cannot be written to remembers nothing.
pub(crate) fn save_last(cache_root: &Path, directory: &Path, captured: &Captured) {
    let _ = write(
        &file_for(cache_root, directory, "last"),
        &LastCapture::of(captured),
    );
}

/// What the last capture in `directory` did, if it is known.
pub(crate) fn last(cache_root: &Path, directory: &Path) -> Option<LastCapture> {
    let file = file_for(cache_root, directory, "last");
    file.exists().then(|| read(&file))
}

/// Merges the calls of the build just watched into what is remembered for `directory`. Returns the calls that make
/// up the program now, old ones first, and how many of them are old.
pub(crate) fn merge(cache_root: &Path, directory: &Path, new: Vec<Record>) -> (Vec<Record>, usize) {
    let file = file_for(cache_root, directory, "calls");
    let remade: BTreeSet<PathBuf> = new.iter().flat_map(products).collect();
    let remembered: Vec<Record> = read(&file);
    let (moved, mut all): (Vec<Record>, Vec<Record>) = remembered
        .into_iter()
        .filter(|record| {
            sources_exist(record) && !products(record).iter().any(|p| remade.contains(p))
        })
        .partition(|record| record.product_moved);
    all.retain(|record| products(record).iter().any(|product| product.exists()));
    // A renamed product cannot be looked for; it stands and falls with the others of its directory.
    let alive: BTreeSet<PathBuf> = all.iter().map(|record| record.directory.clone()).collect();
    all.extend(
        moved
            .into_iter()
            .filter(|record| alive.contains(&record.directory)),
    );
    let old = all.len();
    for mut record in new {
        let makes_program = record.command_line().is_some_and(|line| line.compiles());
        record.product_moved = !products(&record).iter().any(|product| product.exists());
        keep_needed_copies(&mut record, cache_root);
        if makes_program {
            all.push(record);
        }
    }
    let _ = write(&file, &all);
    (all, old)
}

/// Copies are of use only for sources that are gone while what was made of them is still there; else it was a
/// probe, or the source itself can be read. Those move to where they stay.
fn keep_needed_copies(record: &mut Record, cache_root: &Path) {
    let home = cache_root.join(HISTORY_DIRECTORY).join("sources");
    let saved = std::mem::take(&mut record.saved);
    for (source, copy) in saved {
        let is_gone = !record.directory.join(&source).exists();
        if is_gone
            && !record.product_moved
            && let Ok(kept) = settle(&copy, &home)
        {
            record.saved.insert(source, kept);
        }
    }
}

/// Moves `…/<hash>/<name>` to `home/<hash>/<name>`.
fn settle(copy: &Path, home: &Path) -> std::io::Result<PathBuf> {
    let hash = copy.parent().and_then(Path::file_name).unwrap_or_default();
    let target = home.join(hash).join(copy.file_name().unwrap_or_default());
    if !target.exists() {
        std::fs::create_dir_all(home.join(hash))?;
        std::fs::copy(copy, &target)?;
    }
    Ok(target)
}

/// Forgets the compiler calls of all earlier builds in `directory`.
pub(crate) fn forget(cache_root: &Path, directory: &Path) {
    // Not there is forgotten already.
    let _ = std::fs::remove_file(file_for(cache_root, directory, "calls"));
}

fn products(record: &Record) -> Vec<PathBuf> {
    record
        .command_line()
        .map(|line| record.products(&line))
        .unwrap_or_default()
}

fn sources_exist(record: &Record) -> bool {
    let there = |source: &str| {
        record.directory.join(source).exists()
            || record.saved.get(source).is_some_and(|copy| copy.exists())
    };
    record
        .command_line()
        .is_some_and(|line| line.sources.iter().all(|source| there(&source.path)))
}
