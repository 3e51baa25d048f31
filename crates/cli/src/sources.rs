//! Source files for excerpts and comments, each read once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Larger files are shown without excerpts: they are generated, and nobody reads them.
const MAX_SOURCE_BYTES: u64 = 64 << 20;

#[derive(Debug, Default)]
pub struct FileSources {
    read: Mutex<BTreeMap<String, Option<Arc<str>>>>,
}

impl drip_report::Sources for FileSources {
    fn text(&self, file: &str) -> Option<Arc<str>> {
        let mut read = self.read.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(known) = read.get(file) {
            return known.clone();
        }
        let text = read_source(file);
        read.insert(file.to_owned(), text.clone());
        text
    }
}

fn read_source(file: &str) -> Option<Arc<str>> {
    let metadata = std::fs::metadata(file).ok()?;
    if !metadata.is_file() || metadata.len() > MAX_SOURCE_BYTES {
        return None;
    }
    let bytes = std::fs::read(file).ok()?;
    Some(String::from_utf8_lossy(&bytes).into())
}
