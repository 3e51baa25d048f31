//! Do the peers report the injected leaks? The same mutants, made in the source of one unit.
//!
//! The name of the freeing function becomes `(void)`, so that the argument is evaluated and nothing happens to it. A peer
//! reports a mutant if it reports something in that unit that it does not report in the unchanged one. Only removed calls
//! are tried, and only those that stand in a compiled file as such (not in macros or headers); the peers see one unit, as
//! they always do.

use super::measure::Limits;
use super::peers::{Peer, leaks_in};
use super::programs::ProgramSpec;
use super::results::{Mutant, Results};
use super::sources::{self, Prepared};
use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// For one unit.
const LIMITS: Limits = Limits {
    cpu: Duration::from_secs(60),
    memory_mb: 8192,
};

/// What a peer reports in unchanged files.
type Unchanged = HashMap<(&'static str, PathBuf), BTreeSet<String>>;

/// Tries the removed calls of all programs.
pub fn run(
    specs: &[ProgramSpec],
    work: &Path,
    given: Option<&Path>,
    peers: &[Peer],
    results: &mut Results,
) -> anyhow::Result<()> {
    for spec in specs.iter().filter(|spec| spec.inject) {
        let mine = |m: &&mut Mutant| m.program == spec.name && m.kind != "early return";
        let mutants: Vec<&mut Mutant> = results.injection.mutants.iter_mut().filter(mine).collect();
        if mutants.is_empty() {
            continue;
        }
        eprintln!("bench: peers on the leaks injected into {}", spec.name);
        let program = sources::prepare(spec, work, given)?;
        let mut unchanged = Unchanged::new();
        for mutant in mutants {
            one(&program, peers, mutant, &mut unchanged)?;
        }
    }
    Ok(())
}

fn one(
    program: &Prepared,
    peers: &[Peer],
    mutant: &mut Mutant,
    unchanged: &mut Unchanged,
) -> anyhow::Result<()> {
    let file = program.source.join(&mutant.file);
    let Some(unit) = program.units.iter().find(|unit| unit.file == file) else {
        return Ok(());
    };
    let Some(changed) = fs::read_to_string(&file)
        .ok()
        .and_then(|text| with_call_of(&text, mutant, "(void)"))
    else {
        return Ok(());
    };
    // Beside the original, so that it finds the same headers.
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let copy = file.with_file_name(format!("drip-bench-{name}"));
    let _removed_at_the_end = Temporary(copy.clone());
    fs::write(&copy, changed)?;
    for &peer in peers {
        let before = match unchanged.get(&(peer.name(), file.clone())) {
            Some(before) => before,
            None => {
                let leaks = leaks_in(peer, unit, &file, &program.work, LIMITS)?;
                let leaks = leaks.iter().map(|line| without_file(line)).collect();
                unchanged
                    .entry((peer.name(), file.clone()))
                    .or_insert(leaks)
            }
        };
        let after = leaks_in(peer, unit, &copy, &program.work, LIMITS)?;
        let new = after
            .iter()
            .any(|line| !before.contains(&without_file(line)));
        mutant.peers.insert(peer.name().to_owned(), new);
    }
    Ok(())
}

/// A file that goes with its value.
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        // It may not have been written.
        let _ = fs::remove_file(&self.0);
    }
}

/// `dir/a.c:3:1: text` without the name of the file.
fn without_file(line: &str) -> String {
    line.split_once(':')
        .map_or(line, |(_, rest)| rest)
        .to_owned()
}

/// The source with another name for the freeing function at the mutant's call, if the call stands there as such.
pub fn with_call_of(source: &str, mutant: &Mutant, name: &str) -> Option<String> {
    let (line, column) = (
        mutant.line.checked_sub(1)? as usize,
        mutant.column.checked_sub(1)? as usize,
    );
    let mut lines: Vec<String> = source.split('\n').map(str::to_owned).collect();
    let text = lines.get_mut(line)?;
    let rest = text
        .get(column..)?
        .strip_prefix(mutant.callee.as_str())?
        .to_owned();
    if !rest.trim_start().starts_with('(') {
        return None;
    }
    text.truncate(column);
    text.push_str(name);
    text.push_str(&rest);
    Some(lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_call_is_replaced_where_it_stands() {
        let mutant = Mutant {
            line: 2,
            column: 3,
            callee: "free".to_owned(),
            ..Mutant::default()
        };
        let source = "{\n  free (p); free(q);\n}";
        let expected = "{\n  skip (p); free(q);\n}";
        assert_eq!(
            with_call_of(source, &mutant, "skip").as_deref(),
            Some(expected)
        );
        assert_eq!(with_call_of("{\n  FREE(p);\n}", &mutant, "skip"), None);
        assert_eq!(with_call_of("{}", &mutant, "skip"), None);
    }
}
