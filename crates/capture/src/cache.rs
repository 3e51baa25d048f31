//! Has this very compile been done before? A cache of bitcode addressed by content.
//!
//! An entry's key is the hash of all that decides a compile except the files it reads: clang's identity, flags,
//! directory, language, environment. Under the key lies a manifest with up to [`MAX_VARIANTS`] results, each
//! with the files that clang read for it (its own `-MD` list) and their hashes. A hit is a variant whose files all
//! still have these hashes; it starts no process.
//!
//! Layout: `units/ab/<key>.json` (manifest), `units/ab/<key>-<variant>.bc`, `tmp/` (files being written); beside them
//! `builds/` (see `history`) and `wrappers/` (see `wrapper`).
//! Invariant: every file outside `tmp/` came there by a rename and is complete. What a killed run left in `tmp/`
//! is removed after [`STALE_AFTER`].
//!
//! Known limits: as with ccache's direct mode, a *new* header that would now be found earlier on the include
//! path goes unnoticed until one of the known files changes. `__DATE__` and `__TIME__` are those of the first compile.

use crate::{Error, depfile};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, SystemTime};
use tempfile::{NamedTempFile, TempDir};

/// Results kept per command line, so that going back and forth between two branches stays cached. Beyond it
/// the oldest is compiled again when needed.
const MAX_VARIANTS: usize = 4;

/// Unfinished files of this age belong to no living run.
const STALE_AFTER: Duration = Duration::from_secs(24 * 60 * 60);

/// Counted into every key: raise it when the capture flags or the layout change meaning.
const FORMAT: &str = "drip-cache-1";

/// `$DRIP_CACHE_DIR`, else `$XDG_CACHE_HOME/drip`, else `~/.cache/drip`; `None` if there is no home either.
pub fn default_dir() -> Option<PathBuf> {
    let variable = |name: &str| {
        std::env::var_os(name)
            .filter(|v| !v.is_empty())
            .map(PathBuf::from)
    };
    variable("DRIP_CACHE_DIR")
        .or_else(|| variable("XDG_CACHE_HOME").map(|dir| dir.join("drip")))
        .or_else(|| variable("HOME").map(|dir| dir.join(".cache").join("drip")))
}

/// How much the cache holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheUse {
    pub bytes: u64,
    pub files: u64,
}

/// An open cache.
#[derive(Debug)]
pub struct Cache {
    root: PathBuf,
    hashes: FileHashes,
}

/// A cached result that is still true.
pub(crate) struct Hit {
    pub bitcode: PathBuf,
    pub dropped: Vec<String>,
}

#[derive(Default, Serialize, Deserialize)]
struct Manifest {
    /// Newest last.
    variants: Vec<Variant>,
}

#[derive(Serialize, Deserialize)]
struct Variant {
    name: String,
    size: u64,
    dropped: Vec<String>,
    /// Absolute path and hash of each file that was read.
    inputs: Vec<(PathBuf, String)>,
}

impl Cache {
    /// Opens the cache at `root`, making it if needed, and tries whether it can be written to.
    pub fn open(root: &Path) -> std::io::Result<Self> {
        // Absolute, because compilers are started in other directories.
        let root = std::path::absolute(root)?;
        fs::create_dir_all(root.join("units"))?;
        let tmp = root.join("tmp");
        fs::create_dir_all(&tmp)?;
        remove_stale(&tmp);
        let mut probe = NamedTempFile::new_in(&tmp)?;
        probe.write_all(FORMAT.as_bytes())?;
        let tag = root.join("CACHEDIR.TAG");
        if !tag.exists() {
            fs::write(
                tag,
                "Signature: 8a477f597d28d172789f06886806bc55\n# Cache directory of drip\n",
            )?;
        }
        Ok(Cache {
            root,
            hashes: FileHashes::default(),
        })
    }

    /// Opens `explicit` or the default place; if that cannot be written to, a temporary directory together
    /// with the note to show.
    pub(crate) fn open_or_temporary(
        explicit: Option<&Path>,
    ) -> Result<(Self, Option<(TempDir, String)>), Error> {
        let (place, reason) = match explicit.map(Path::to_owned).or_else(default_dir) {
            None => (PathBuf::from("~/.cache/drip"), "HOME is not set".to_owned()),
            Some(dir) => match Cache::open(&dir) {
                Ok(cache) => return Ok((cache, None)),
                Err(error) => (dir, error.to_string()),
            },
        };
        let (cache, scratch) = Cache::temporary(&place, &reason)?;
        let note = format!(
            "the cache {} cannot be written to ({reason}); compiling into a temporary directory, nothing is kept",
            place.display()
        );
        Ok((cache, Some((scratch, note))))
    }

    /// A cache in a fresh temporary directory, for when the real one failed with `reason`.
    pub(crate) fn temporary(place: &Path, reason: &str) -> Result<(Self, TempDir), Error> {
        let opened = tempfile::Builder::new()
            .prefix("drip-")
            .tempdir()
            .and_then(|dir| Ok((Cache::open(dir.path())?, dir)));
        opened.map_err(|error| Error::NowhereToWrite {
            cache: place.to_owned(),
            cache_reason: reason.to_owned(),
            reason: error.to_string(),
        })
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The directory for files being written; on the same file system as the entries.
    pub(crate) fn tmp(&self) -> PathBuf {
        self.root.join("tmp")
    }

    fn manifest_path(&self, key: &str) -> PathBuf {
        let shard = key.get(..2).unwrap_or("00");
        self.root
            .join("units")
            .join(shard)
            .join(format!("{key}.json"))
    }

    fn bitcode_path(&self, key: &str, variant: &str) -> PathBuf {
        self.manifest_path(key)
            .with_file_name(format!("{key}-{variant}.bc"))
    }

    /// The result of an earlier compile with this key, if none of its inputs has changed.
    pub(crate) fn lookup(&self, key: &str) -> Option<Hit> {
        let manifest = self.read_manifest(key)?;
        let variant = manifest.variants.into_iter().rev().find(|variant| {
            let bitcode = self.bitcode_path(key, &variant.name);
            fs::metadata(bitcode).is_ok_and(|m| m.len() == variant.size)
                && self.unchanged(&variant.inputs)
        })?;
        Some(Hit {
            bitcode: self.bitcode_path(key, &variant.name),
            dropped: variant.dropped,
        })
    }

    fn unchanged(&self, inputs: &[(PathBuf, String)]) -> bool {
        inputs
            .iter()
            .all(|(path, hash)| self.hashes.of(path).as_deref() == Some(hash))
    }

    fn read_manifest(&self, key: &str) -> Option<Manifest> {
        // A manifest that cannot be read or parsed is a miss; the next store replaces it.
        let text = fs::read(self.manifest_path(key)).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Puts a finished bitcode file into the cache and returns where it is now. `depfile` is clang's `-MD` output,
    /// `started` the time before clang was started.
    pub(crate) fn store(
        &self,
        key: &str,
        bitcode: NamedTempFile,
        depfile: &str,
        directory: &Path,
        started: SystemTime,
        dropped: &[String],
    ) -> std::io::Result<PathBuf> {
        let inputs = self.hash_inputs(depfile, directory, started);
        let name = variant_name(inputs.as_deref());
        let target = self.bitcode_path(key, &name);
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent)?;
        }
        let size = bitcode.as_file().metadata()?.len();
        bitcode.persist(&target).map_err(|e| e.error)?;
        if let Some(inputs) = inputs {
            let variant = Variant {
                name,
                size,
                dropped: dropped.to_vec(),
                inputs,
            };
            self.add_variant(key, variant)?;
        }
        Ok(target)
    }

    fn add_variant(&self, key: &str, variant: Variant) -> std::io::Result<()> {
        let mut manifest = self.read_manifest(key).unwrap_or_default();
        manifest.variants.retain(|v| v.name != variant.name);
        manifest.variants.push(variant);
        while manifest.variants.len() > MAX_VARIANTS {
            let oldest = manifest.variants.remove(0);
            // Gone already is as good as removed.
            let _ = fs::remove_file(self.bitcode_path(key, &oldest.name));
        }
        let text = serde_json::to_vec(&manifest)?;
        let mut file = NamedTempFile::new_in(self.tmp())?;
        file.write_all(&text)?;
        file.persist(self.manifest_path(key)).map_err(|e| e.error)?;
        Ok(())
    }

    /// Hashes of all files the compile has read. `None` if that cannot be told for sure: a file is gone, or was
    /// written while clang ran, so that nobody knows which content it saw.
    fn hash_inputs(
        &self,
        text: &str,
        directory: &Path,
        started: SystemTime,
    ) -> Option<Vec<(PathBuf, String)>> {
        let now = SystemTime::now();
        let names = depfile::prerequisites(text);
        if names.is_empty() {
            return None;
        }
        let mut inputs = Vec::with_capacity(names.len());
        for name in names {
            let path = directory.join(name);
            let modified = fs::metadata(&path).and_then(|m| m.modified()).ok()?;
            // A time in the future (clock skew, unpacked archives) says nothing about this run.
            if modified > started && modified <= now {
                return None;
            }
            let hash = self.hashes.of(&path)?;
            inputs.push((path, hash));
        }
        inputs.sort();
        inputs.dedup();
        Some(inputs)
    }

    /// Keeps bitcode that was found inside another file; the name is the hash of the content.
    pub(crate) fn store_content(&self, bitcode: &[u8]) -> std::io::Result<PathBuf> {
        let key = key([bitcode]);
        let target = self.bitcode_path(&key, "embedded");
        if fs::metadata(&target).is_ok_and(|m| m.len() == bitcode.len() as u64) {
            return Ok(target);
        }
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent)?;
        }
        let mut file = NamedTempFile::new_in(self.tmp())?;
        file.write_all(bitcode)?;
        file.persist(&target).map_err(|e| e.error)?;
        Ok(target)
    }

    /// What the cache holds now.
    pub fn usage(&self) -> CacheUse {
        usage(&self.root)
    }
}

/// Where a result without known inputs goes is fixed too: the next compile of the same key overwrites it.
fn variant_name(inputs: Option<&[(PathBuf, String)]>) -> String {
    let mut hasher = blake3::Hasher::new();
    for (path, hash) in inputs.unwrap_or_default() {
        hash_field(&mut hasher, path.as_os_str().as_encoded_bytes());
        hash_field(&mut hasher, hash.as_bytes());
    }
    hasher
        .finalize()
        .to_hex()
        .as_str()
        .chars()
        .take(16)
        .collect()
}

/// Length first, so that no two lists of fields run together to the same bytes.
fn hash_field(hasher: &mut blake3::Hasher, bytes: &[u8]) {
    hasher.update(&(bytes.len() as u64).to_le_bytes());
    hasher.update(bytes);
}

/// The key of a compile: hash of all `fields` in order.
pub(crate) fn key<'a>(fields: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hasher = blake3::Hasher::new();
    hash_field(&mut hasher, FORMAT.as_bytes());
    for field in fields {
        hash_field(&mut hasher, field);
    }
    hasher.finalize().to_hex().to_string()
}

/// Hashes of files, each read once per run as long as it does not change.
#[derive(Debug, Default)]
struct FileHashes {
    known: Mutex<FxHashMap<PathBuf, (SystemTime, u64, String)>>,
}

impl FileHashes {
    fn of(&self, path: &Path) -> Option<String> {
        let metadata = fs::metadata(path).ok()?;
        let (modified, length) = (metadata.modified().ok()?, metadata.len());
        if let Ok(known) = self.known.lock()
            && let Some((m, l, hash)) = known.get(path)
            && (*m, *l) == (modified, length)
        {
            return Some(hash.clone());
        }
        let hash = blake3::hash(&fs::read(path).ok()?).to_hex().to_string();
        if let Ok(mut known) = self.known.lock() {
            known.insert(path.to_owned(), (modified, length, hash.clone()));
        }
        Some(hash)
    }
}

/// Parts of the cache directory that are drip's to delete. Nothing else in it is touched, since the user may
/// have named any directory. The compiler wrappers stay: build trees configured through them refer to them.
const OWN_DIRECTORIES: [&str; 3] = ["units", "tmp", crate::history::HISTORY_DIRECTORY];

/// Bytes and files in the cache at `root`; zero if there is none.
pub fn usage(root: &Path) -> CacheUse {
    let mut total = CacheUse::default();
    let mut open: Vec<PathBuf> = OWN_DIRECTORIES.iter().map(|name| root.join(name)).collect();
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(m) if m.is_dir() => open.push(entry.path()),
                Ok(m) => {
                    total.bytes += m.len();
                    total.files += 1;
                }
                Err(_) => {}
            }
        }
    }
    total
}

/// Empties the cache at `root` and says what was in it.
pub fn clean(root: &Path) -> Result<CacheUse, Error> {
    let before = usage(root);
    for name in OWN_DIRECTORIES {
        let dir = root.join(name);
        match fs::remove_dir_all(&dir) {
            Ok(()) => {}
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
            Err(e) => return Err(Error::io("empty", &dir, e)),
        }
    }
    Ok(before)
}

fn remove_stale(tmp: &Path) {
    for entry in fs::read_dir(tmp).into_iter().flatten().flatten() {
        let age = entry
            .metadata()
            .and_then(|m| m.modified())
            .ok()
            .and_then(|m| m.elapsed().ok());
        if age.is_some_and(|age| age > STALE_AFTER) {
            // Another run may have been faster.
            let path = entry.path();
            let _ = if path.is_dir() {
                fs::remove_dir_all(path)
            } else {
                fs::remove_file(path)
            };
        }
    }
}
