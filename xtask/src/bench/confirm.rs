//! Do injected leaks leak when the program is run? LeakSanitizer's word on the mutants of the programs that have a workload.
//!
//! The mutant is made in the source: the name of the freeing function at the call becomes that of a function which only
//! notes that it was reached. A mutant *leaks* if LeakSanitizer reports more leaked allocations than for the unchanged
//! program under the same workload. Only removed calls are tried (an early return depends on an unknown condition), and
//! only those whose source line holds the call as such (macros don't). The tree is a copy; sources are put back.

use super::peer_recall::with_call_of;
use super::programs::{Confirm, ProgramSpec};
use super::results::{Mutant, Results};
use super::sources;
use anyhow::{Context, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What stands in for the freeing function, in a header that every unit of the copy includes.
const SKIP: &str = "drip_bench_skip";
/// No header of the system: it must not come before the program's own settings.
const HEADER: &str = "#ifndef DRIP_BENCH_SKIP\n#define DRIP_BENCH_SKIP\nextern int creat(const char *, unsigned);\n\
    static __attribute__((unused)) void drip_bench_skip(const void *p) { static int told; (void)p; \
    if (!told) { told = 1; creat(REACHED, 0600); } }\n#endif\n";

/// Tries the mutants of all programs that say how.
pub fn run(
    specs: &[ProgramSpec],
    work: &Path,
    given: Option<&Path>,
    results: &mut Results,
) -> anyhow::Result<()> {
    for spec in specs {
        let Some(confirm) = &spec.confirm else {
            continue;
        };
        let mine = |m: &&mut Mutant| m.program == spec.name && m.kind != "early return";
        let mut mutants: Vec<&mut Mutant> =
            results.injection.mutants.iter_mut().filter(mine).collect();
        if mutants.is_empty() {
            continue;
        }
        eprintln!("bench: LeakSanitizer on {}", spec.name);
        let prepared = sources::prepare(spec, work, given)?;
        let tried = Copy::new(confirm, &prepared.source, &work.join(&spec.name))
            .and_then(|copy| copy.all(&mut mutants));
        if let Err(error) = tried {
            eprintln!("bench: LeakSanitizer not on {}: {error:#}", spec.name);
        }
    }
    Ok(())
}

/// A copy of a program's tree, built with LeakSanitizer.
struct Copy<'a> {
    confirm: &'a Confirm,
    tree: PathBuf,
    scratch: PathBuf,
    compiler: String,
    /// Leaked allocations of the unchanged program.
    usual: usize,
}

impl<'a> Copy<'a> {
    fn new(confirm: &'a Confirm, source: &Path, work: &Path) -> anyhow::Result<Copy<'a>> {
        let (tree, scratch) = (work.join("lsan"), work.join("lsan-run"));
        for old in [&tree, &scratch] {
            // The first time there is nothing to remove.
            let _ = fs::remove_dir_all(old);
        }
        fs::create_dir_all(&scratch)?;
        let status = Command::new("cp")
            .arg("-a")
            .arg(source)
            .arg(&tree)
            .status()?;
        ensure!(status.success(), "the tree can't be copied");
        let header = scratch.join("skip.h");
        let reached = format!("{:?}", scratch.join("reached"));
        fs::write(&header, HEADER.replace("REACHED", &reached))?;
        let compiler = format!("clang-19 -fsanitize=leak -w -include {}", header.display());
        // Objects of the ordinary build must not be taken for up to date.
        let clean = "find . -name '*.o' -delete; find . -name '*.a' -delete";
        let mut copy = Copy {
            confirm,
            tree,
            scratch,
            compiler,
            usual: 0,
        };
        copy.shell(clean)?;
        ensure!(copy.build()?, "it can't be built with LeakSanitizer");
        copy.usual = copy.leaks()?;
        Ok(copy)
    }

    fn all(&self, mutants: &mut [&mut Mutant]) -> anyhow::Result<()> {
        for mutant in mutants {
            mutant.sanitizer = self.one(mutant)?;
            eprintln!(
                "bench:   {}:{}: {}",
                mutant.file,
                mutant.line,
                mutant.sanitizer.as_deref().unwrap_or("not tried")
            );
        }
        Ok(())
    }

    /// What happens with one mutant; nothing if it can't be made in the source.
    fn one(&self, mutant: &Mutant) -> anyhow::Result<Option<String>> {
        let file = self.tree.join(&mutant.file);
        let Ok(original) = fs::read_to_string(&file) else {
            return Ok(None);
        };
        let Some(changed) = with_call_of(&original, mutant, SKIP) else {
            return Ok(None);
        };
        fs::write(&file, changed).with_context(|| format!("cannot write {file:?}"))?;
        let answer = self.build_and_run();
        fs::write(&file, original).with_context(|| format!("cannot write {file:?}"))?;
        answer
    }

    fn build_and_run(&self) -> anyhow::Result<Option<String>> {
        if !self.build()? {
            return Ok(None);
        }
        let leaks = self.leaks()?;
        let answer = match (self.scratch.join("reached").exists(), leaks > self.usual) {
            (false, _) => "not executed",
            (true, true) => "leak",
            (true, false) => "no leak",
        };
        Ok(Some(answer.to_owned()))
    }

    fn build(&self) -> anyhow::Result<bool> {
        self.shell(&self.confirm.build)
    }

    /// Runs the workload; leaked allocations by LeakSanitizer's summaries.
    fn leaks(&self) -> anyhow::Result<usize> {
        let temporary = self.scratch.join("t");
        let _ = fs::remove_dir_all(&temporary);
        fs::create_dir_all(&temporary)?;
        let _ = fs::remove_file(self.scratch.join("reached"));
        self.shell(&self.confirm.run)?;
        let mut leaks = 0;
        for entry in fs::read_dir(&self.scratch)?.filter_map(Result::ok) {
            if entry.file_name().to_string_lossy().starts_with("lsan.") {
                leaks += leaked(&fs::read_to_string(entry.path()).unwrap_or_default());
                fs::remove_file(entry.path())?;
            }
        }
        Ok(leaks)
    }

    fn shell(&self, script: &str) -> anyhow::Result<bool> {
        let log = fs::File::create(self.scratch.join("log"))?;
        let options = format!(
            "log_path={}:exitcode=0",
            self.scratch.join("lsan").display()
        );
        let status = Command::new("timeout")
            .args(["600", "sh", "-c", script])
            .current_dir(&self.tree)
            .env("CC", &self.compiler)
            .env("T", self.scratch.join("t"))
            .env("LSAN_OPTIONS", options)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .status()?;
        Ok(status.success())
    }
}

/// Allocations of `SUMMARY: LeakSanitizer: 12 byte(s) leaked in 3 allocation(s).`
fn leaked(text: &str) -> usize {
    let summaries = text
        .lines()
        .filter(|line| line.contains("SUMMARY: LeakSanitizer"));
    let count = |line: &str| {
        let (_, rest) = line.split_once("leaked in ")?;
        rest.split_whitespace().next()?.parse::<usize>().ok()
    };
    summaries.filter_map(count).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_are_added_up() {
        let text = "x\nSUMMARY: LeakSanitizer: 12 byte(s) leaked in 3 allocation(s).\n";
        assert_eq!(leaked(text), 3);
        assert_eq!(leaked("nothing"), 0);
    }
}
