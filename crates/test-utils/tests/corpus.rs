//! The corpus runner with fake analyses: each kind of mismatch must fail, and a true corpus pass.

use drip_test_utils::{Corpus, Failure, Mismatch, Reported, SourceLine, Verdict};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn corpus(files: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    dir
}

/// An analysis that finds a leak at every call of `malloc`, lost at the next `return`.
fn find_mallocs(sources: &[PathBuf]) -> anyhow::Result<Vec<Reported>> {
    let mut reports = Vec::new();
    for file in sources {
        let text = fs::read_to_string(file)?;
        let line_of = |word: &str| text.lines().position(|l| l.contains(word));
        let lost = line_of("return").map(|n| SourceLine {
            file: file.clone(),
            line: n as u32 + 1,
        });
        for (number, line) in (1..).zip(text.lines()) {
            reports.extend(line.matches("malloc").map(|_| Reported {
                file: file.clone(),
                line: number,
                rule: "D001".into(),
                lost_lines: lost.iter().cloned().collect(),
            }));
        }
    }
    Ok(reports)
}

fn verdict(files: &[(&str, &str)]) -> Verdict {
    let dir = corpus(files);
    Corpus::load(dir.path())
        .unwrap()
        .blessing(false)
        .run(find_mallocs)
}

fn only_mismatch(verdict: &Verdict) -> &Mismatch {
    match verdict.failures.as_slice() {
        [Failure::Mismatch { mismatch, .. }] => mismatch,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_true_corpus_passes_and_is_counted() {
    let verdict = verdict(&[
        ("one.c", "p = malloc(4); // LEAK D001\nreturn 0; // LOST\n"),
        ("two.c", "p = malloc(malloc(4)); // LEAK x2\n"),
        ("clean.c", "free(p);\n"),
        (
            "known.c",
            "q = strdup(s); // LEAK[missed]: no model\nmalloc(0); // OK[false-alarm]: size 0\n",
        ),
        ("program/main.c", "use(p);\n"),
        ("program/lib/alloc.cpp", "p = malloc(4); // LEAK\n"),
        ("README.md", "// LEAK is no mark here"),
    ]);
    verdict.assert_ok();
    assert_eq!(
        verdict.to_string(),
        "5 programs, 4 leaks, 1 known misses, 1 known false alarms; 0 failures"
    );
}

#[test]
fn each_mismatch_fails() {
    let missing = verdict(&[("a.c", "f(); // LEAK")]);
    assert!(matches!(only_mismatch(&missing), Mismatch::Missing { .. }));
    let extra = verdict(&[("a.c", "malloc(4);")]);
    assert!(matches!(only_mismatch(&extra), Mismatch::Unexpected { .. }));
    let rule = verdict(&[("a.c", "malloc(4); // LEAK D004")]);
    assert!(matches!(only_mismatch(&rule), Mismatch::WrongRule { .. }));
    let found = verdict(&[("a.c", "malloc(4); // LEAK[missed]: why")]);
    assert!(matches!(
        only_mismatch(&found),
        Mismatch::KnownMissFound { .. }
    ));
    let gone = verdict(&[("a.c", "f(); // OK[false-alarm]: why")]);
    assert!(matches!(
        only_mismatch(&gone),
        Mismatch::KnownFalseAlarmGone { .. }
    ));
    let lost = verdict(&[("a.c", "malloc(4); // LEAK\nreturn;\np = 0; // LOST")]);
    assert!(matches!(
        only_mismatch(&lost),
        Mismatch::LostElsewhere { .. }
    ));
}

#[test]
fn marks_in_the_headers_of_a_program_count() {
    let verdict = verdict(&[("p/a.c", "f();\n"), ("p/a.h", "g(); // LEAK\n")]);
    let Mismatch::Missing { at, .. } = only_mismatch(&verdict) else {
        panic!("{verdict}");
    };
    assert!(at.file.ends_with("p/a.h") && at.line == 1);
}

#[test]
fn lost_marks_can_be_left_aside() {
    let dir = corpus(&[("a.c", "malloc(4); // LEAK\np = 0; // LOST")]);
    let corpus = Corpus::load(dir.path()).unwrap().blessing(false);
    assert!(!corpus.run(find_mallocs).is_ok());
    corpus.ignoring_lost().run(find_mallocs).assert_ok();
}

#[test]
#[should_panic(expected = "a.c:1: leak not reported")]
fn assert_ok_names_the_place() {
    verdict(&[("a.c", "f(); // LEAK")]).assert_ok();
}

#[test]
fn errors_panics_and_bad_marks_are_failures_of_their_program() {
    let dir = corpus(&[("a.c", ""), ("b.c", ""), ("c.c", "// LEEK\n// LEAKY")]);
    let verdict = Corpus::load(dir.path()).unwrap().run(|sources| {
        match sources[0].file_name().and_then(|n| n.to_str()) {
            Some("a.c") => anyhow::bail!("no clang"),
            _ => panic!("index out of bounds"),
        }
    });
    let texts: Vec<String> = verdict.failures.iter().map(ToString::to_string).collect();
    assert_eq!(texts.len(), 3, "{texts:?}");
    assert_eq!(texts[0], "a.c: no clang");
    assert_eq!(texts[1], "b.c: panicked: index out of bounds");
    assert!(texts[2].contains("line 2: `LEAKY` is no mark"), "{texts:?}");
}

#[test]
fn a_corpus_of_nothing_is_an_error() {
    assert!(Corpus::load(corpus(&[("README.md", "")]).path()).is_err());
    assert!(Corpus::load(Path::new("no/such/corpus")).is_err());
}

#[test]
fn blessing_rewrites_what_got_better() {
    let dir = corpus(&[(
        "a.c",
        "malloc(4); // LEAK[missed]: why\nf(); // OK[false-alarm]: why\n",
    )]);
    let blessing = Corpus::load(dir.path()).unwrap().blessing(true);
    blessing.run(find_mallocs).assert_ok();
    let text = fs::read_to_string(dir.path().join("a.c")).unwrap();
    assert_eq!(text, "malloc(4); // LEAK\nf();\n");
    blessing.blessing(false).run(find_mallocs).assert_ok();
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn marks_of_the_corpus_are_readable() {
    for group in fs::read_dir(repository().join("corpus")).unwrap() {
        let group = group.unwrap().path();
        if !group.is_dir() {
            continue;
        }
        let silent = Corpus::load(&group)
            .unwrap()
            .blessing(false)
            .run(|_| Ok(vec![]));
        let broken = silent.failures.iter();
        let broken: Vec<_> = broken
            .filter(|f| matches!(f, Failure::Broken { .. }))
            .collect();
        assert!(broken.is_empty(), "{broken:?}");
        assert!(silent.leaks > 0, "{group:?} marks no leak");
    }
}

#[test]
fn the_example_is_one_program_with_five_leaks() {
    let example = Corpus::load(repository().join("examples/inventory")).unwrap();
    let example = example.blessing(false);
    let sources: Vec<usize> = example.cases().iter().map(|c| c.sources.len()).collect();
    assert_eq!(sources, [7]);
    let silent = example.run(|_| Ok(vec![]));
    assert_eq!((silent.leaks, silent.failures.len()), (5, 5));
}
