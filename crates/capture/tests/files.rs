//! Source files to bitcode with a real clang: cache, failures, cancellation.

mod common;

use common::{Project, file_names, files_below, is_bitcode};
use drip_capture::{Error, Options, SkipReason, capture_files};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const LEAK: &str =
    "#include <stdlib.h>\n#include \"h.h\"\nint f(void) { int *p = malloc(N); return p != 0; }\n";

fn two_files() -> Project {
    Project::new(&[
        ("a.c", LEAK),
        (
            "b.c",
            "#include <string.h>\nchar *g(const char *s) { return strdup(s); }\n",
        ),
        ("h.h", "#define N 4\n"),
    ])
}

#[test]
fn files_become_bitcode_in_input_order() {
    let project = two_files();
    let captured = project.capture(&["b.c", "a.c"]);
    assert!(captured.failures.is_empty(), "{:?}", captured.failures);
    assert_eq!(file_names(&captured.units), ["b.c", "a.c"]);
    assert!(
        captured
            .units
            .iter()
            .all(|u| is_bitcode(&u.bitcode) && !u.from_cache)
    );
    assert_eq!(captured.statistics.compiled, 2);
}

#[test]
fn second_run_starts_no_clang() {
    let project = two_files();
    let first = project.capture(&["a.c", "b.c"]);
    let second = project.capture(&["a.c", "b.c"]);
    assert_eq!(second.statistics.clang_runs, 0);
    assert_eq!(second.statistics.from_cache, 2);
    let paths = |c: &drip_capture::Captured| {
        c.units
            .iter()
            .map(|u| u.bitcode.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(paths(&first), paths(&second));
}

#[test]
fn only_what_changed_is_compiled_again() {
    let project = two_files();
    project.capture(&["a.c", "b.c"]);
    project.write("b.c", "int g(void) { return 2; }\n");
    let after_source = project.capture(&["a.c", "b.c"]);
    assert_eq!(
        (
            after_source.statistics.compiled,
            after_source.statistics.from_cache
        ),
        (1, 1)
    );
    assert!(after_source.units[0].from_cache && !after_source.units[1].from_cache);
    project.write("h.h", "#define N 8\n");
    let after_header = project.capture(&["a.c", "b.c"]);
    assert!(!after_header.units[0].from_cache && after_header.units[1].from_cache);
    // Back to the old content: that result is still there.
    project.write("h.h", "#define N 4\n");
    assert_eq!(project.capture(&["a.c", "b.c"]).statistics.clang_runs, 0);
}

#[test]
fn touching_without_change_compiles_nothing() {
    let project = two_files();
    project.capture(&["a.c"]);
    project.write("a.c", LEAK);
    assert_eq!(project.capture(&["a.c"]).statistics.clang_runs, 0);
}

#[test]
fn extra_arguments_are_part_of_the_key() {
    let project = Project::new(&[("a.c", "int a[N];\n")]);
    let with = |n: &str| Options {
        extra_args: vec![format!("-DN={n}")],
        ..project.options()
    };
    let four = project.capture_with(&["a.c"], &with("4"));
    let five = project.capture_with(&["a.c"], &with("5"));
    assert_eq!(five.statistics.compiled, 1);
    assert_ne!(four.units[0].bitcode, five.units[0].bitcode);
}

#[test]
fn a_file_that_does_not_compile_stops_no_other() {
    let project = two_files();
    project.write("bad.c", "int f( { return 1; }\n");
    let captured = project.capture(&["a.c", "bad.c", "missing.c", "b.c"]);
    assert_eq!(file_names(&captured.units), ["a.c", "b.c"]);
    assert_eq!(captured.failures.len(), 2);
    let bad = &captured.failures[0];
    assert!(
        bad.source.ends_with("bad.c") && bad.stderr_excerpt.contains("error: expected"),
        "{bad:?}"
    );
    assert!(bad.command.contains("-emit-llvm") && bad.command.contains("bad.c"));
    assert!(captured.failures[1].stderr_excerpt.contains("No such file"));
    // Nothing half-written stays behind.
    assert!(files_below(&project.cache().join("tmp")).is_empty());
}

#[test]
fn failures_are_not_cached() {
    let project = Project::new(&[("a.c", "#include \"later.h\"\n")]);
    assert_eq!(project.capture(&["a.c"]).failures.len(), 1);
    project.write("later.h", "int later;\n");
    assert_eq!(project.capture(&["a.c"]).units.len(), 1);
}

#[test]
fn old_c_that_gcc_accepts_is_accepted() {
    let project = Project::new(&[(
        "old.c",
        "f(x) { g(); int *p = 5; char (*q)(void) = f; return; }\nint h(void) { return undeclared(1); }\n",
    )]);
    let captured = project.capture(&["old.c"]);
    assert!(captured.failures.is_empty(), "{:?}", captured.failures);
}

#[test]
fn cxx_is_compiled_as_cxx17() {
    let project = Project::new(&[(
        "a.cpp",
        "#include <optional>\nstd::optional<int> f() { return 1; }\n",
    )]);
    let captured = project.capture(&["a.cpp"]);
    assert!(captured.failures.is_empty(), "{:?}", captured.failures);
}

#[test]
fn assembler_and_headers_are_skipped() {
    let project = Project::new(&[("a.S", "nop\n"), ("h.h", ""), ("a.c", "int x;\n")]);
    let captured = project.capture(&["a.S", "h.h", "a.c"]);
    let reasons: Vec<_> = captured.skipped.iter().map(|s| s.reason).collect();
    assert_eq!(reasons, [SkipReason::Assembler, SkipReason::Header]);
    assert_eq!(captured.units.len(), 1);
}

#[test]
fn unwritable_cache_falls_back_with_a_note() {
    let project = two_files();
    // Below a plain file nothing can be made, not even by root.
    let options = Options {
        cache_dir: Some(project.path("a.c").join("cache")),
        ..Options::default()
    };
    let captured = project.capture_with(&["a.c", "b.c"], &options);
    assert_eq!(captured.units.len(), 2);
    assert!(captured.units.iter().all(|u| is_bitcode(&u.bitcode)));
    assert!(
        captured
            .notes
            .iter()
            .any(|n| n.contains("cannot be written to")),
        "{:?}",
        captured.notes
    );
    let bitcode = captured.units[0].bitcode.clone();
    drop(captured);
    assert!(
        !bitcode.exists(),
        "the temporary directory goes with the result"
    );
}

#[test]
fn a_damaged_cache_entry_is_compiled_again() {
    let project = two_files();
    let first = project.capture(&["b.c"]);
    std::fs::write(&first.units[0].bitcode, "").unwrap();
    let second = project.capture(&["b.c"]);
    assert_eq!(second.statistics.compiled, 1);
    assert!(is_bitcode(&second.units[0].bitcode));
    for file in files_below(&project.cache()) {
        if file.extension().is_some_and(|e| e == "json") {
            std::fs::write(file, "{ not json").unwrap();
        }
    }
    assert_eq!(project.capture(&["b.c"]).statistics.compiled, 1);
    assert_eq!(project.capture(&["b.c"]).statistics.compiled, 0);
}

#[test]
fn clean_empties_the_cache_and_nothing_else() {
    let project = two_files();
    project.capture(&["a.c", "b.c"]);
    std::fs::write(project.cache().join("precious"), "x").unwrap();
    let freed = drip_capture::clean(&project.cache()).unwrap();
    // Bitcode and manifest of each unit, and the summary for the doctor.
    assert_eq!(freed.files, 5);
    assert!(freed.bytes > 1000);
    assert!(project.cache().join("precious").exists());
    assert_eq!(
        drip_capture::cache::usage(&project.cache()),
        drip_capture::CacheUse::default()
    );
    assert_eq!(project.capture(&["a.c"]).statistics.compiled, 1);
}

#[test]
fn no_clang_is_an_error_that_names_it() {
    let project = two_files();
    let options = Options {
        clang: Some(PathBuf::from("/nonexistent/clang-99")),
        ..project.options()
    };
    let error = capture_files(&[project.path("a.c")], &options).unwrap_err();
    assert!(matches!(error, Error::BadClang { .. }));
    assert!(
        error.to_string().contains("/nonexistent/clang-99"),
        "{error}"
    );
}

#[test]
fn cancelled_before_the_start_compiles_nothing() {
    let project = two_files();
    let cancel = AtomicBool::new(true);
    let options = Options {
        cancel: Some(&cancel),
        ..project.options()
    };
    let captured = project.capture_with(&["a.c", "b.c"], &options);
    assert!(captured.cancelled && captured.units.is_empty());
    assert_eq!(captured.statistics.clang_runs, 0);
}

#[test]
fn cancel_kills_a_running_compiler_and_leaves_no_half_file() {
    let project = two_files();
    project.write("fake-clang", SLOW_CLANG);
    let fake = project.path("fake-clang");
    make_executable(&fake);
    let cancel = AtomicBool::new(false);
    let options = Options {
        clang: Some(fake),
        cancel: Some(&cancel),
        jobs: 1,
        ..project.options()
    };
    let begin = Instant::now();
    let captured = std::thread::scope(|scope| {
        scope.spawn(|| {
            let started = project.path("started");
            while !started.exists() && begin.elapsed() < Duration::from_secs(20) {
                std::thread::sleep(Duration::from_millis(5));
            }
            cancel.store(true, Ordering::Relaxed);
        });
        project.capture_with(&["a.c", "b.c"], &options)
    });
    assert!(captured.cancelled && captured.units.is_empty() && captured.failures.is_empty());
    assert!(
        begin.elapsed() < Duration::from_secs(25),
        "the compiler was not killed"
    );
    assert!(files_below(&project.cache().join("tmp")).is_empty());
    let pid = std::fs::read_to_string(project.path("started")).unwrap();
    assert!(
        ends_soon(pid.trim()),
        "its child `sleep` is in the same group and must go too"
    );
}

/// Does the process end (or become a zombie that init reaps) well before its 30 seconds are over?
fn ends_soon(pid: &str) -> bool {
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(5) {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        if stat.is_empty() || stat.contains(") Z") {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    false
}

/// Says it is clang, then sleeps in a child process as a compiler wrapper script would.
const SLOW_CLANG: &str = "#!/bin/sh\n\
    if [ \"$1\" = --version ]; then echo 'clang version 19.0.0'; exit 0; fi\n\
    sleep 30 &\n\
    echo $! > \"$(dirname \"$0\")/started.tmp\"; mv \"$(dirname \"$0\")/started.tmp\" \"$(dirname \"$0\")/started\"\n\
    wait\n";

#[test]
fn a_disk_that_fills_up_moves_the_rest_to_a_temporary_directory() {
    let project = two_files();
    // A clang for which every write below the cache fails.
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *{0}*) echo \"error: unable to open output file: No space left on device\" >&2; \
         exit 1;; esac\nexec \"$DRIP_TEST_CLANG\" \"$@\"\n",
        project.cache().display()
    );
    let real = drip_capture::clang::find(None, None).unwrap();
    let script = script.replace("$DRIP_TEST_CLANG", &real.path.display().to_string());
    project.write("full-clang", &script);
    make_executable(&project.path("full-clang"));
    let options = Options {
        clang: Some(project.path("full-clang")),
        ..project.options()
    };
    let captured = project.capture_with(&["a.c", "b.c"], &options);
    assert_eq!(captured.units.len(), 2, "{:?}", captured.failures);
    assert!(captured.units.iter().all(|u| is_bitcode(&u.bitcode)));
    assert!(
        captured.notes.iter().any(|n| n.contains("No space left")),
        "{:?}",
        captured.notes
    );
}

#[test]
fn progress_counts_every_unit() {
    let project = two_files();
    let calls = AtomicUsize::new(0);
    let count = |p: drip_capture::Progress<'_>| {
        assert_eq!(p.total, 2);
        calls.fetch_add(p.done, Ordering::Relaxed);
    };
    let options = Options {
        progress: Some(&count),
        ..project.options()
    };
    project.capture_with(&["a.c", "b.c"], &options);
    assert_eq!(calls.into_inner(), 1 + 2);
}

fn make_executable(file: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
}
