//! Results of the compiler, kept by content: the same inputs are compiled once.
//!
//! A command (compiler, flags, source) has a list of the files it read; the result is stored under a
//! hash of the command and the contents of those files. Both are written beside and then renamed, so
//! that parallel tests see a whole file or none. System headers are not hashed: the compiler's version
//! stands for them.

use anyhow::Context;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

/// A directory of cached results.
pub struct Cache {
    dir: PathBuf,
}

impl Cache {
    pub fn open(dir: PathBuf) -> anyhow::Result<Self> {
        fs::create_dir_all(&dir).with_context(|| format!("cannot make {dir:?}"))?;
        Ok(Self { dir })
    }

    /// The result of `command`, made by `make` if it isn't there: `make` gets the path to write to and
    /// returns the files that it read. `stem` makes the file's name readable.
    pub fn get_or_make(
        &self,
        stem: &str,
        command: &[String],
        make: impl FnOnce(&Path) -> anyhow::Result<Vec<PathBuf>>,
    ) -> anyhow::Result<PathBuf> {
        let mut hasher = DefaultHasher::new();
        command.hash(&mut hasher);
        let key = hasher.finish();
        let inputs_file = self.dir.join(format!("{stem}-{key:016x}.inputs"));
        if let Ok(list) = fs::read_to_string(&inputs_file) {
            let inputs: Vec<PathBuf> = list.lines().map(PathBuf::from).collect();
            let result = self.result(stem, key, &inputs);
            if let Some(result) = result.filter(|path| path.exists()) {
                return Ok(result);
            }
        }
        let scratch = tempfile::Builder::new()
            .prefix(".new")
            .tempdir_in(&self.dir)?;
        let made = scratch.path().join("result");
        let inputs = make(&made)?;
        let result = self
            .result(stem, key, &inputs)
            .context("an input vanished while it was compiled")?;
        fs::rename(&made, &result).context("the compiler wrote nothing")?;
        let list: Vec<String> = inputs.iter().map(|p| p.display().to_string()).collect();
        let list_made = scratch.path().join("inputs");
        fs::write(&list_made, list.join("\n"))?;
        fs::rename(&list_made, &inputs_file)?;
        Ok(result)
    }

    /// Where the result for the present contents of `inputs` belongs; none if one can't be read.
    fn result(&self, stem: &str, key: u64, inputs: &[PathBuf]) -> Option<PathBuf> {
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        for input in inputs {
            (input, fs::read(input).ok()?).hash(&mut hasher);
        }
        let name = format!("{stem}-{:016x}.bc", hasher.finish());
        Some(self.dir.join(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn a_result_is_made_again_only_when_an_input_changes() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::open(dir.path().join("cache")).unwrap();
        let input = dir.path().join("a.c");
        let made = Cell::new(0);
        let get = |command: &str| {
            let path = cache.get_or_make("a", &[command.to_owned()], |out| {
                made.set(made.get() + 1);
                fs::copy(&input, out)?;
                Ok(vec![input.clone()])
            });
            fs::read_to_string(path.unwrap()).unwrap()
        };
        fs::write(&input, "one").unwrap();
        assert_eq!(
            (get("cc"), get("cc"), made.get()),
            ("one".into(), "one".into(), 1)
        );
        fs::write(&input, "two").unwrap();
        assert_eq!((get("cc"), made.get()), ("two".into(), 2));
        assert_eq!((get("cc -O0"), made.get()), ("two".into(), 3));
        fs::write(&input, "one").unwrap();
        assert_eq!((get("cc"), made.get()), ("one".into(), 3));
    }

    #[test]
    fn a_failure_leaves_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::open(dir.path().to_path_buf()).unwrap();
        let failed = cache.get_or_make("a", &[], |_| anyhow::bail!("no"));
        assert!(failed.is_err());
        let silent = cache.get_or_make("a", &[], |_| Ok(vec![]));
        assert!(silent.is_err());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
