//! What do the paths on the command line mean? Sources, bitcode, objects, archives, databases, directories.
//!
//! Files are judged by name where the name says it (`.c`), else by content. A directory is, in this order: a
//! compilation database (in it or in its build directory), a heap of bitcode files, a heap of sources that are
//! compiled with default flags. A path that cannot be used becomes a failure with the reason; the others go on.

use crate::database::{self, DATABASE_NAME};
use crate::{
    Cache, Captured, Error, Failure, Job, Language, Options, Unit, compile, embedded, error, job,
};
use std::path::{Path, PathBuf};

/// How deep directories are searched. Deeper ones are left out; real trees are about 12 deep.
const MAX_DEPTH: usize = 40;

/// How deep below the given directory header directories are looked for.
const MAX_INCLUDE_DEPTH: usize = 3;

/// Directories whose headers are usually included without a path.
const INCLUDE_DIRECTORIES: [&str; 3] = ["include", "inc", "src"];

/// Directories without sources of the program itself.
const PASSED_OVER: [&str; 4] = [
    "CMakeFiles",
    "node_modules",
    "meson-private",
    "autom4te.cache",
];

/// Files that say how the project is really built.
const BUILD_FILES: [(&str, &str); 6] = [
    ("build.ninja", "drip check -- ninja"),
    ("Makefile", "drip check -- make"),
    ("makefile", "drip check -- make"),
    ("GNUmakefile", "drip check -- make"),
    ("configure", "./configure && drip check -- make"),
    (
        "CMakeLists.txt",
        "cmake -B build -DCMAKE_EXPORT_COMPILE_COMMANDS=ON && drip check -p build",
    ),
];

/// Turns everything in `paths` into bitcode.
pub fn capture_paths(paths: &[PathBuf], options: &Options<'_>) -> Result<Captured, Error> {
    let mut collector = Collector {
        directory: error::current_dir()?,
        captured: Captured::default(),
        jobs: Vec::new(),
        cache: None,
        options,
    };
    for path in paths {
        collector.path(path)?;
    }
    let Collector {
        mut captured, jobs, ..
    } = collector;
    let jobs = job::deduplicate(jobs, &mut captured.skipped);
    let found_any = !jobs.is_empty() || !captured.units.is_empty() || !captured.failures.is_empty();
    if !found_any {
        return Err(Error::NothingFound {
            paths: paths.to_vec(),
        });
    }
    compile::run(jobs, options, captured)
}

/// What `drip check` without paths means: the compilation database found from `directory` upwards, else all that lies
/// in the directory.
pub fn capture_tree(directory: &Path, options: &Options<'_>) -> Result<Captured, Error> {
    let Some(file) = database::find_database(directory) else {
        return capture_paths(&[directory.to_owned()], options);
    };
    let mut captured = database::capture_database(&file, options)?;
    captured.note(format!("using {}", file.display()));
    Ok(captured)
}

struct Collector<'a> {
    directory: PathBuf,
    captured: Captured,
    jobs: Vec<Job>,
    /// Opened when the first embedded module has to be written out.
    cache: Option<Cache>,
    options: &'a Options<'a>,
}

impl Collector<'_> {
    fn path(&mut self, path: &Path) -> Result<(), Error> {
        match std::fs::metadata(path) {
            Err(e) => self.fail(path, format!("cannot read it: {e}")),
            Ok(metadata) if metadata.is_dir() => return self.directory(path),
            Ok(_) if path.file_name().is_some_and(|name| name == DATABASE_NAME) => {
                self.jobs
                    .append(&mut database::load(path, &mut self.captured)?);
            }
            Ok(_) => return self.file(path),
        }
        Ok(())
    }

    fn file(&mut self, path: &Path) -> Result<(), Error> {
        match Language::of_path(path) {
            Some(_) => match job::plain_job(path, &self.directory) {
                Ok(job) => self.jobs.push(job),
                Err(reason) => self.captured.skipped.push(crate::Skipped {
                    path: path.to_owned(),
                    reason,
                }),
            },
            None if path.extension().is_some_and(|e| e == "ll") => {
                let name = path.display();
                self.fail(
                    path,
                    format!("textual LLVM IR is not read; make bitcode of it: clang -c -emit-llvm {name} -o {name}.bc"),
                );
            }
            None => return self.binary(path),
        }
        Ok(())
    }

    /// Bitcode, or something that has bitcode in it.
    fn binary(&mut self, path: &Path) -> Result<(), Error> {
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(e) => {
                self.fail(path, format!("cannot read it: {e}"));
                return Ok(());
            }
        };
        if embedded::is_raw(&bytes) {
            self.add_unit(path, self.directory.join(path));
            return Ok(());
        }
        match embedded::modules(&bytes) {
            Ok(modules) => {
                for module in modules {
                    let file = self.write_out(&module)?;
                    self.add_unit(path, file);
                }
            }
            Err(reason) => self.fail(path, reason),
        }
        Ok(())
    }

    fn add_unit(&mut self, source: &Path, bitcode: PathBuf) {
        self.captured.units.push(Unit {
            source: self.directory.join(source),
            bitcode,
            object: None,
            variant: 0,
            from_cache: false,
            dropped_flags: Vec::new(),
        });
    }

    fn write_out(&mut self, module: &[u8]) -> Result<PathBuf, Error> {
        let cache = match self.cache.take() {
            Some(cache) => cache,
            None => {
                let (cache, replaced) =
                    Cache::open_or_temporary(self.options.cache_dir.as_deref())?;
                if let Some((scratch, note)) = replaced {
                    self.captured.scratch.push(scratch);
                    self.captured.note(note);
                }
                cache
            }
        };
        let result = cache.store_content(module);
        let root = cache.root().to_owned();
        self.cache = Some(cache);
        result.map_err(|e| Error::io("write to", &root, e))
    }

    fn fail(&mut self, path: &Path, reason: String) {
        self.captured.failures.push(Failure {
            source: self.directory.join(path),
            command: String::new(),
            stderr_excerpt: reason,
        });
    }

    fn directory(&mut self, path: &Path) -> Result<(), Error> {
        let direct = Some(path.join(DATABASE_NAME)).filter(|file| file.is_file());
        if let Some(file) = direct.or_else(|| database::newest_beneath(path)) {
            self.captured.note(format!("using {}", file.display()));
            self.jobs
                .append(&mut database::load(&file, &mut self.captured)?);
            return Ok(());
        }
        let mut tree = Tree::default();
        tree.search(path, 0);
        for (dir, reason) in std::mem::take(&mut tree.unreadable) {
            self.fail(&dir, reason);
        }
        if tree.bitcode.is_empty() {
            self.sources_of(path, tree);
        } else {
            for file in tree.bitcode {
                self.binary(&file)?;
            }
        }
        Ok(())
    }

    /// Sources without any word on how to compile them: default flags and the usual include directories.
    fn sources_of(&mut self, root: &Path, tree: Tree) {
        if tree.sources.is_empty() {
            return;
        }
        let mut flags = vec![include_flag(root)];
        flags.extend(tree.include_directories.iter().map(|dir| include_flag(dir)));
        if root.join("config.h").exists() {
            flags.push("-DHAVE_CONFIG_H".to_owned());
        }
        let count = tree.sources.len();
        for source in tree.sources {
            if let Ok(mut job) = job::plain_job(&source, &self.directory) {
                job.flags.clone_from(&flags);
                self.jobs.push(job);
            }
        }
        let better = BUILD_FILES
            .iter()
            .find(|(name, _)| root.join(name).exists());
        let hint = better.map_or_else(String::new, |(_, command)| {
            format!("; for the project's own flags: {command}")
        });
        self.captured.note(format!(
            "no {DATABASE_NAME} in {}: its {count} sources are compiled with default flags{hint}",
            root.display()
        ));
    }
}

fn include_flag(dir: &Path) -> String {
    format!("-I{}", dir.display())
}

/// What lies below a directory, sorted by name.
#[derive(Default)]
struct Tree {
    bitcode: Vec<PathBuf>,
    sources: Vec<PathBuf>,
    include_directories: Vec<PathBuf>,
    unreadable: Vec<(PathBuf, String)>,
}

impl Tree {
    fn search(&mut self, dir: &Path, depth: usize) {
        let entries = match std::fs::read_dir(dir) {
            Ok(entries) => entries,
            Err(e) => {
                self.unreadable
                    .push((dir.to_owned(), format!("cannot read the directory: {e}")));
                return;
            }
        };
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            let name = path
                .file_name()
                .and_then(|n| n.to_str())
                .unwrap_or_default();
            // Links to directories may lead in circles.
            let is_dir = path.symlink_metadata().is_ok_and(|m| m.is_dir());
            if is_dir {
                if name.starts_with('.') || PASSED_OVER.contains(&name) || depth >= MAX_DEPTH {
                    continue;
                }
                if depth < MAX_INCLUDE_DEPTH && INCLUDE_DIRECTORIES.contains(&name) {
                    self.include_directories.push(path.clone());
                }
                self.search(&path, depth + 1);
            } else if path.extension().is_some_and(|e| e == "bc") {
                self.bitcode.push(path);
            } else if matches!(Language::of_path(&path), Some(Language::C | Language::Cxx))
                && path.is_file()
            {
                self.sources.push(path);
            }
        }
    }
}
