//! C text to a linked program, through the same clang flags as drip's capture.

use drip_models::Library;
use drip_program::{Input, LoadConfig, Program, load};
use drip_test_utils::{Clang, Mode, compile};
use std::fs;
use std::path::Path;

/// Declarations instead of headers: what clang reads is then the same on every system.
const PRELUDE: &str = "\
typedef unsigned long size_t;
#define NULL ((void *)0)
void *malloc(size_t);
void *realloc(void *, size_t);
void free(void *);
void exit(int);
int getchar(void);
";

/// The program of one C source; `name` is unique among all tests of this crate.
#[track_caller]
pub fn program(name: &str, source: &str) -> Program {
    // A fixed place, so that the cache of bitcode knows the source again.
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("engines");
    fs::create_dir_all(&dir).expect("the target directory is writable");
    let path = dir.join(format!("{name}.c"));
    fs::write(&path, format!("{PRELUDE}{source}")).expect("the target directory is writable");
    let clang = Clang::find(19).expect("clang 19 is installed");
    let bitcode = compile(&[path], &clang, Mode::Capture).expect("the source compiles");
    let bytes = fs::read(&bitcode[0]).expect("clang wrote bitcode");
    let input = Input {
        path: format!("{name}.bc"),
        bytes,
    };
    let loaded = load(vec![input], &LoadConfig::default());
    assert!(loaded.problems.is_empty(), "{:?}", loaded.problems);
    loaded.program
}

pub fn library() -> Library {
    Library::builtin().expect("the built-in models are well-formed")
}
