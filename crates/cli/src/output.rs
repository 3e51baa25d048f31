//! Writing results: files appear as a whole or not at all; a closed pipe is no error.

use anyhow::Context;
use std::io::{ErrorKind, Write};
use std::path::Path;

/// Writes a file by a rename from a temporary one in the same directory.
pub fn write_file(path: &Path, text: &str) -> anyhow::Result<()> {
    let dir = match path.parent() {
        Some(dir) if !dir.as_os_str().is_empty() => dir,
        _ => Path::new("."),
    };
    let write = || -> std::io::Result<()> {
        let mut file = tempfile::Builder::new()
            .prefix(".drip-")
            .permissions_like_new_files()
            .tempfile_in(dir)?;
        file.write_all(text.as_bytes())?;
        file.persist(path).map_err(|e| e.error)?;
        Ok(())
    };
    write().with_context(|| format!("cannot write {}", path.display()))
}

/// Temporary files are made for the owner only; a result should be as readable as any other new file.
trait PermissionsLikeNewFiles {
    fn permissions_like_new_files(&mut self) -> &mut Self;
}

impl PermissionsLikeNewFiles for tempfile::Builder<'_, '_> {
    #[cfg(unix)]
    fn permissions_like_new_files(&mut self) -> &mut Self {
        use std::os::unix::fs::PermissionsExt;
        // The umask takes away from these bits.
        self.permissions(std::fs::Permissions::from_mode(0o666))
    }

    #[cfg(not(unix))]
    fn permissions_like_new_files(&mut self) -> &mut Self {
        self
    }
}

/// Prints to standard output. `drip check | head` ends without complaint.
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout().lock();
    match stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
    {
        Err(e) if e.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result.context("cannot write to standard output"),
    }
}
