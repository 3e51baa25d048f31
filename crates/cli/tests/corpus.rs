//! The repository's own programs through the binary: what is reported must be what their marks say.
//!
//! Known misses and false alarms are marked as such in the sources: a defect that got fixed fails until its mark is gone.

use drip_test_utils::{Clang, Corpus, sarif_runner};
use std::path::{Path, PathBuf};

/// One program that must always be right, so that the harness itself is tested.
const SMOKE: (&str, &str) = ("intra", "scope_end.c");

fn corpus(directory: &str) -> Corpus {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    Corpus::load(root.join(directory)).expect("the corpus is in the repository")
}

fn check(corpus: &Corpus) {
    check_by("staged", corpus);
}

fn check_by(engine: &str, corpus: &Corpus) {
    let clang = Clang::find(19).expect("clang 19 is installed");
    let clang = clang.path.display().to_string();
    let words = [
        "--no-config",
        "--jobs",
        "1",
        "--clang",
        &clang,
        "--engine",
        engine,
    ];
    let runner = sarif_runner(PathBuf::from(env!("CARGO_BIN_EXE_drip")), &words);
    corpus.run(runner).assert_ok();
}

#[test]
fn one_program_is_as_marked() {
    let (directory, name) = SMOKE;
    let corpus = corpus(directory).filter(|case| case.name == name);
    assert_eq!(corpus.cases().len(), 1, "{directory}/{name} is gone");
    check(&corpus);
}

#[test]
fn losses_inside_one_function() {
    check(&corpus("intra"));
}

#[test]
fn losses_across_calls() {
    check(&corpus("inter"));
}

#[test]
fn correlated_conditions() {
    check(&corpus("cond"));
}

#[test]
fn losses_in_cxx() {
    check(&corpus("cxx"));
}

#[test]
fn value_flows_of_the_whole_program() {
    check_by("saber", &corpus("saber"));
}
