//! Twice the program takes no more than a small multiple of the time: generated programs of size n and 2n.
//!
//! Each shape is one that costs some analysers a power of its size: depth of the call graph, a large recursive component,
//! many blocks, many objects, many targets of one call. Verdicts are checked at both sizes, so that nothing is fast by giving
//! up; only the call with many targets counts as unknown, and there what is checked is an object beside it.

mod common;

use drip_engines::{Analysis, staged};
use drip_program::Program;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Twice the size may take this many times as long. Quadratic work takes 4 times; a busy machine doubles that at times, and
/// what these tests are for, work that explodes, takes far more.
const MAX_RATIO: u32 = 10;

/// What a busy machine may add.
const NOISE: Duration = Duration::from_millis(500);

/// Runs per size; the best one counts.
const RUNS: usize = 3;

/// One shape is measured at a time: tests of a binary run side by side, and each run takes all cores.
static CLOCK: Mutex<()> = Mutex::new(());

fn timed(program: &Program) -> (Analysis, Duration) {
    let library = common::library();
    let start = Instant::now();
    let analysis = staged::run(program, &library);
    (analysis, start.elapsed())
}

/// Analyses `source(n)` and `source(2n)`: the analyses, after a look at the clock.
#[track_caller]
fn doubled(name: &str, n: usize, source: impl Fn(usize) -> String) -> [Analysis; 2] {
    let [small, large] =
        [n, 2 * n].map(|n| common::program(&format!("growth_{name}_{n}"), &source(n)));
    let _alone = CLOCK.lock().unwrap_or_else(PoisonError::into_inner);
    // In turns, so that a busy moment of the machine hits both sizes.
    let rounds: Vec<_> = (0..RUNS).map(|_| (timed(&small), timed(&large))).collect();
    let before = rounds.iter().map(|(small, _)| small.1).min();
    let after = rounds.iter().map(|(_, large)| large.1).min();
    let (before, after) = before.zip(after).expect("there is at least one run");
    assert!(
        after <= before * MAX_RATIO + NOISE,
        "{name}: {before:?} for {n}, {after:?} for twice as much"
    );
    let last = rounds.into_iter().next_back();
    let (small, large) = last.expect("there is at least one run");
    [small.0, large.0]
}

#[track_caller]
fn assert_findings(analyses: &[Analysis], expected: &[&str]) {
    for analysis in analyses {
        let found: Vec<String> = analysis
            .findings
            .iter()
            .map(|f| format!("{}: {}", f.primary.function, f.rule.code()))
            .collect();
        assert_eq!(found, expected, "{:?}", analysis.statistics);
        assert_eq!(analysis.statistics.functions_limited, 0);
    }
}

fn chain(n: usize, end: &str) -> String {
    let mut text = format!("char *f{}(void) {{ return malloc(4); }}\n", n - 1);
    for i in (0..n - 1).rev() {
        let _ = writeln!(text, "char *f{i}(void) {{ return f{}(); }}", i + 1);
    }
    let _ = writeln!(
        text,
        "void user(void) {{ char *p = f0(); {end} }}\nint main(void) {{ user(); return 0; }}"
    );
    text
}

#[test]
fn chain_of_calls() {
    let analyses = doubled("chain_freed", 2000, |n| chain(n, "free(p);"));
    assert_findings(&analyses, &[]);
    // One hand-out per function: nothing is followed twice.
    assert_eq!(analyses[0].statistics.sites, 2001);
    assert_eq!(analyses[1].statistics.sites, 4001);
    let analyses = doubled("chain_lost", 2000, |n| chain(n, ""));
    assert_findings(&analyses, &["user: D001"]);
    assert_eq!(
        analyses[0].statistics.queries,
        analyses[1].statistics.queries
    );
}

/// A ring of functions that all call the next one; each may return its argument.
fn ring(n: usize, end: &str) -> String {
    let mut text = String::new();
    for i in 0..n {
        let _ = writeln!(text, "char *f{i}(char *, int);");
    }
    for i in 0..n {
        let _ = writeln!(
            text,
            "char *f{i}(char *p, int n) {{ if (n == {i}) return p; return f{}(p, n - 1); }}",
            (i + 1) % n
        );
    }
    let _ = writeln!(
        text,
        "void user(int n) {{ char *p = malloc(4); if (!p) return; p = f0(p, n); {end} }}
int main(int c, char **v) {{ user(c); return 0; }}"
    );
    text
}

#[test]
fn ring_of_recursion() {
    assert_findings(&doubled("ring_freed", 200, |n| ring(n, "free(p);")), &[]);
    // A small ring's summary holds at every depth; a large one is taken to keep what it is given.
    assert_findings(
        &doubled("small_ring_lost", 2, |n| ring(n, "")),
        &["user: D001"],
    );
    assert_findings(&doubled("ring_lost", 200, |n| ring(n, "")), &[]);
}

/// One function with `n` blocks or so, under an object that lives all the while.
fn ladder(n: usize, end: &str) -> String {
    let mut text = String::from("int f(int n) {\n  char *p = malloc(4);\n  int r = 0;\n");
    text.push_str("  if (!p)\n    return 1;\n");
    for i in 0..n / 3 {
        let or = if i == 0 { "" } else { "else " };
        let _ = writeln!(text, "  {or}if (n == {i})\n    r += {i};");
    }
    let _ = writeln!(
        text,
        "  {end}\n  return r;\n}}\nint main(int c, char **v) {{ return f(c); }}"
    );
    text
}

#[test]
fn ladder_of_blocks() {
    let analyses = doubled("ladder_freed", 2000, |n| ladder(n, "free(p);"));
    assert_findings(&analyses, &[]);
    let analyses = doubled("ladder_lost", 2000, |n| ladder(n, ""));
    assert_findings(&analyses, &["f: D001"]);
}

/// Error exits one after the other; the last one forgets.
fn exits(n: usize) -> String {
    let mut text = String::from("int f(int *a) {\n  char *p = malloc(4);\n");
    text.push_str("  if (!p)\n    return 1;\n");
    for i in 0..n {
        let _ = writeln!(
            text,
            "  if (a[{i}]) {{\n    free(p);\n    return {i};\n  }}"
        );
    }
    text.push_str("  return 0;\n}\nint main(int c, char **v) { return f(&c); }\n");
    text
}

#[test]
fn exits_that_free() {
    let analyses = doubled("exits", 300, exits);
    assert_findings(&analyses, &["f: D002"]);
}

fn locals(n: usize, freed: usize) -> String {
    let mut text = String::from("int f(void) {\n");
    for i in 0..n {
        let _ = writeln!(text, "  char *p{i} = malloc({});", i + 1);
    }
    for i in 0..freed {
        let _ = writeln!(text, "  free(p{i});");
    }
    text.push_str("  return 0;\n}\nint main(void) { return f(); }\n");
    text
}

#[test]
fn local_pointers() {
    let analyses = doubled("locals_freed", 100, |n| locals(n, n));
    assert_findings(&analyses, &[]);
    let analyses = doubled("locals_lost", 100, |n| locals(n, n - 1));
    assert_findings(&analyses, &["f: D001"]);
}

/// Time is quadratic in the objects of one function: only the verdict is checked, which must come within the fuel.
#[test]
fn two_thousand_local_pointers() {
    let _alone = CLOCK.lock().unwrap_or_else(PoisonError::into_inner);
    let program = common::program("growth_locals_2000", &locals(2000, 1999));
    assert_findings(&[timed(&program).0], &["f: D001"]);
}

/// A constant table of `n` functions, called with an index that nobody knows.
fn table(n: usize, end: &str) -> String {
    let mut text = String::from("typedef char *make(int);\n");
    for i in 0..n {
        let _ = writeln!(text, "char *t{i}(int n) {{ return malloc(n + {i}); }}");
    }
    let names: Vec<String> = (0..n).map(|i| format!("t{i}")).collect();
    let _ = writeln!(
        text,
        "static make *const table[] = {{{}}};
void user(int n) {{ char *q = malloc(n); char *p = table[n](n); free(p); {end} }}
int main(int c, char **v) {{ user(c); return 0; }}",
        names.join(", ")
    );
    text
}

#[test]
fn table_of_functions() {
    let analyses = doubled("table_freed", 1000, |n| table(n, "free(q);"));
    assert_findings(&analyses, &[]);
    let analyses = doubled("table_lost", 1000, |n| table(n, ""));
    assert_findings(&analyses, &["user: D001"]);
}

/// One function with `n` calls, each of which may change `n` variables, and a leak elsewhere.
fn touches(n: usize) -> String {
    let mut text = String::new();
    for i in 0..n {
        let _ = writeln!(text, "int g{i};");
    }
    text.push_str("void all(int n) {\n");
    for i in 0..n {
        let _ = writeln!(text, "  g{i} += n;");
    }
    text.push_str("}\nint many(void) {\n  char *p = malloc(4);\n  int r = 0;\n");
    for i in 0..n {
        let _ = writeln!(text, "  all({i});\n  r += g{i};");
    }
    text.push_str("  free(p);\n  return r;\n}\n");
    text.push_str("void lost(void) { malloc(4); }\nint main(void) { lost(); return many(); }\n");
    text
}

#[test]
fn calls_that_change_many_variables() {
    let analyse = |n: usize| {
        let program = common::program(&format!("growth_touches_{n}"), &touches(n));
        let _alone = CLOCK.lock().unwrap_or_else(PoisonError::into_inner);
        timed(&program).0
    };
    assert_findings(&[analyse(100)], &["lost: D001"]);
    // Beyond what can be written down one function is given up, and nothing else.
    let large = analyse(1600);
    let found: Vec<&str> = large
        .findings
        .iter()
        .map(|f| f.primary.function.as_str())
        .collect();
    assert_eq!(found, ["lost"]);
    assert_eq!(large.statistics.functions_limited, 1);
}

/// A loop around a switch, with as many ways back to its head: each of them hands the same variable on.
fn continues(n: usize) -> String {
    let mut text = String::from(
        "int wide(int c, int n) {\n  const char *name = 0;\n  int r = 0;\n  while (n-- > 0) {\n    if (name) r += name[1];\n    switch (c++) {\n",
    );
    for i in 0..n {
        let _ = writeln!(
            text,
            "    case {i}: if (r & 1) continue; name = \"{i}\"; break;"
        );
    }
    text.push_str("    }\n  }\n  return r;\n}\n");
    text.push_str(
        "void lost(void) { malloc(4); }\nint main(void) { lost(); return wide(1, 2); }\n",
    );
    text
}

#[test]
fn ways_back_to_a_loop() {
    assert_findings(&doubled("continues", 200, continues), &["lost: D001"]);
}
