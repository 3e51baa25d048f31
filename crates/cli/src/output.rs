//! Writing results: plain files appear as a whole or not at all; a closed pipe is no error.

use anyhow::Context;
use std::io::{ErrorKind, Write};
use std::path::Path;

/// Writes a file by a rename from a temporary one in the same directory. What exists and is no plain file (a link, a pipe,
/// `/dev/null`) is written to, never replaced.
pub fn write_file(path: &Path, text: &str) -> anyhow::Result<()> {
    if std::fs::symlink_metadata(path).is_ok_and(|known| !known.is_file()) {
        return std::fs::write(path, text)
            .with_context(|| format!("cannot write {}", path.display()));
    }
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

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn links_are_followed_and_stay() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("file"), dir.path().join("link"));
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write_file(&link, "text").unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "text");
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        write_file(&file, "more").unwrap();
        assert_eq!(std::fs::read_to_string(&link).unwrap(), "more");
        assert!(write_file(dir.path(), "text").is_err());
    }
}
