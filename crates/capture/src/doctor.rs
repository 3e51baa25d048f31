//! What does drip find on this machine? The facts for `drip doctor`.

use crate::cache::{self, Cache, CacheUse};
use crate::history::{self, LastCapture};
use crate::{ClangInfo, Error, Options, clang, error, wrapper};
use std::ffi::OsStr;
use std::path::PathBuf;

/// Everything that a capture depends on, looked up without changing anything but an empty cache directory.
#[derive(Debug)]
pub struct Doctor {
    /// The clang that would be used, or why there is none and what to install.
    pub clang: Result<ClangInfo, Error>,
    /// Where the cache is; `None` if there is no home directory.
    pub cache_dir: Option<PathBuf>,
    pub cache_use: CacheUse,
    /// Why the cache cannot be written to.
    pub cache_problem: Option<String>,
    pub bear: Option<PathBuf>,
    /// Compilers and launchers on PATH that a watched build would get wrappers for.
    pub wrapped_compilers: Vec<String>,
    /// What the last capture in this directory dropped and failed on.
    pub last_capture: Option<LastCapture>,
}

/// Looks everything up.
pub fn examine(options: &Options<'_>) -> Doctor {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let cache_dir = options.cache_dir.clone().or_else(cache::default_dir);
    let cache_problem = match &cache_dir {
        None => Some("HOME is not set; set DRIP_CACHE_DIR".to_owned()),
        Some(dir) => Cache::open(dir).err().map(|e| e.to_string()),
    };
    let last = |root: &PathBuf| history::last(root, &error::current_dir().ok()?);
    Doctor {
        clang: clang::find(options.clang.as_deref(), options.config_clang.as_deref()),
        cache_use: cache_dir.as_deref().map(cache::usage).unwrap_or_default(),
        cache_problem,
        bear: clang::search_path(OsStr::new("bear"), &path),
        wrapped_compilers: wrapper::compilers_on(&path).into_iter().collect(),
        last_capture: cache_dir.as_ref().and_then(last),
        cache_dir,
    }
}
