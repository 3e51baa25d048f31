//! The repository's own programs through the binary: what is reported must be what their marks say.
//!
//! A directory belongs into [`CLEAN`] as soon as it has no mismatch; from then on it must stay so.

use drip_test_utils::{Clang, Corpus, sarif_runner};
use std::path::{Path, PathBuf};

/// Directories of `corpus/` that must be without mismatch.
const CLEAN: &[&str] = &[];

/// One program that must always be right, so that the harness itself is tested.
const SMOKE: (&str, &str) = ("intra", "scope_end.c");

fn corpus(directory: &str) -> Corpus {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    Corpus::load(root.join(directory)).expect("the corpus is in the repository")
}

fn check(corpus: &Corpus) {
    let clang = Clang::find(19).expect("clang 19 is installed");
    let clang = clang.path.display().to_string();
    let words = ["--no-config", "--jobs", "1", "--clang", &clang];
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
fn clean_directories_stay_clean() {
    for directory in CLEAN {
        check(&corpus(directory));
    }
}
