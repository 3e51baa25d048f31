//! Several units by one process: the same results as one by one, and what happens when it does not work.

mod common;

use common::{Project, files_below, is_bitcode};
use drip_capture::{Captured, Options, Progress};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The clangs that the tests need.
const CLANGS: [&str; 2] = ["clang-14", "clang-19"];

const UNITS: usize = 12;

fn name(number: usize) -> String {
    format!("unit {number}.c")
}

/// Units with a header for all and one for each; names with a space, since the rules of dependencies escape it.
fn project() -> (Project, Vec<String>) {
    let project = Project::new(&[("all.h", "struct s { int n; struct s *next; };\n")]);
    for number in 0..UNITS {
        project.write(&format!("own{number}.h"), &format!("#define N {number}\n"));
        let text = format!(
            "#include <stdlib.h>\n#include \"all.h\"\n#include \"own{number}.h\"\n\
             struct s *make{number}(void) {{ struct s *s = malloc(sizeof *s); struct s t = {{N, s}}; *s = t; return s; }}\n"
        );
        project.write(&name(number), &text);
    }
    (project, (0..UNITS).map(name).collect())
}

fn capture(project: &Project, names: &[String], options: &Options<'_>) -> Captured {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    project.capture_with(&names, options)
}

/// One worker, so that all units that can be compiled together are.
fn options(project: &Project, clang: impl Into<PathBuf>) -> Options<'static> {
    Options {
        clang: Some(clang.into()),
        jobs: 1,
        ..project.options()
    }
}

/// A clang that is `real` but for what the script does before.
fn wrapper(project: &Project, name: &str, real: &str, before: &str) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let text = format!("#!/bin/sh\ncd \"$PWD\"\n{before}\nexec {real} \"$@\"\n");
    project.write(name, &text);
    let file = project.path(name);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    file
}

/// The same clang for which every unit is compiled for itself.
fn single(project: &Project, real: &str) -> PathBuf {
    let before = "if [ \"$1\" = '-###' ]; then exit 1; fi";
    wrapper(project, "single-clang", real, before)
}

/// A clang whose compiler proper is this script.
fn with_compiler(project: &Project, script: &str) -> PathBuf {
    let compiler = wrapper(project, "compiler", "/usr/lib/llvm-19/bin/clang", script);
    let before = format!(
        "if [ \"$1\" = '-###' ]; then clang-19 \"$@\" 2>&1 | sed 's|^ \"[^\"]*\"| \"{}\"|' >&2; exit 0; fi",
        compiler.display()
    );
    wrapper(project, "other-clang", "clang-19", &before)
}

/// Everything about a capture that must not depend on how units were compiled.
fn facts(captured: &Captured) -> String {
    let units = captured.units.iter().map(|u| {
        assert!(is_bitcode(&u.bitcode), "{u:?}");
        (&u.source, &u.dropped_flags, u.from_cache, u.variant)
    });
    format!(
        "{:?} {:?} {:?} {:?}",
        units.collect::<Vec<_>>(),
        captured.failures,
        captured.skipped,
        captured.notes
    )
}

#[test]
fn one_process_compiles_what_differs_by_the_source_only() {
    for clang in CLANGS {
        let (project, names) = project();
        let captured = capture(&project, &names, &options(&project, clang));
        assert_eq!(captured.units.len(), UNITS, "{:?}", captured.failures);
        assert!(
            captured.statistics.clang_runs <= 3,
            "{:?}",
            captured.statistics
        );
        assert_eq!(captured.statistics.retries, 0);
        assert!(captured.units.iter().all(|unit| is_bitcode(&unit.bitcode)));
        assert!(files_below(&project.cache().join("tmp")).is_empty());
    }
}

#[test]
fn each_unit_has_its_own_entry_in_the_cache() {
    for clang in CLANGS {
        let (project, names) = project();
        let options = options(&project, clang);
        let first = capture(&project, &names, &options);
        let again = capture(&project, &names, &options);
        assert_eq!(again.statistics.clang_runs, 0, "{clang}");
        let places = |c: &Captured| {
            c.units
                .iter()
                .map(|u| u.bitcode.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(places(&first), places(&again));
        let is_cached = |c: &Captured| c.units.iter().map(|u| u.from_cache).collect::<Vec<_>>();
        for changed in [0, 5, UNITS - 1] {
            project.write(&format!("own{changed}.h"), "#define N 77\n");
            let expected: Vec<bool> = (0..UNITS).map(|number| number != changed).collect();
            let captured = capture(&project, &names, &options);
            assert_eq!(is_cached(&captured), expected, "{clang}: own{changed}.h");
        }
        project.write("all.h", "struct s { int n; struct s *next; int more; };\n");
        assert_eq!(
            capture(&project, &names, &options).statistics.compiled,
            UNITS
        );
    }
}

#[test]
fn entries_of_the_one_way_serve_the_other() {
    let (project, names) = project();
    let clang = wrapper(
        &project,
        "clang",
        "clang-19",
        "if [ \"$1\" = '-###' ] && [ -e \"$(dirname \"$0\")/alone\" ]; then exit 1; fi",
    );
    let options = options(&project, clang);
    let together = capture(&project, &names, &options);
    assert!(together.statistics.clang_runs <= 3);
    project.write("alone", "");
    assert_eq!(capture(&project, &names, &options).statistics.clang_runs, 0);
    drip_capture::clean(&project.cache()).unwrap();
    let alone = capture(&project, &names, &options);
    assert_eq!(alone.statistics.clang_runs, UNITS + 1);
    let places = |c: &Captured| {
        c.units
            .iter()
            .map(|u| u.bitcode.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(places(&together), places(&alone));
}

#[test]
fn a_broken_unit_gives_the_same_messages_and_keeps_the_others() {
    for clang in CLANGS {
        let (project, mut names) = project();
        project.write("bad.c", "#include \"all.h\"\nint f( { return 1; }\n");
        project.write("worse.c", "#include \"missing.h\"\n");
        names.insert(4, "bad.c".to_owned());
        names.insert(9, "worse.c".to_owned());
        names.push("not there.c".to_owned());
        let together = capture(&project, &names, &options(&project, clang));
        assert_eq!(together.units.len(), UNITS);
        assert_eq!(together.failures.len(), 3);
        drip_capture::clean(&project.cache()).unwrap();
        let alone = capture(
            &project,
            &names,
            &options(&project, single(&project, clang)),
        );
        let plain =
            |c: &Captured| facts(c).replace(&single(&project, clang).display().to_string(), clang);
        let shown = |text: String| text.replace(&format!("/usr/bin/{clang}"), clang);
        assert_eq!(shown(plain(&together)), shown(plain(&alone)));
    }
}

#[test]
fn compilers_that_do_something_else_are_not_believed() {
    let outputs = [
        "exit 1",
        "kill -SEGV $$",
        "echo nonsense; exit 0",
        "exit 0",
        // Half of it, the first one only, and twice.
        "/usr/lib/llvm-19/bin/clang \"$@\" | head -c 9000; exit 0",
        "while [ \"$1\" != -x ]; do a=\"$a '$1'\"; shift; done; eval exec /usr/lib/llvm-19/bin/clang $a -x c '\"$3\"'",
        "/usr/lib/llvm-19/bin/clang \"$@\"; /usr/lib/llvm-19/bin/clang \"$@\"; exit 0",
    ];
    let (project, names) = project();
    let expected = facts(&capture(&project, &names, &options(&project, "clang-19")));
    for script in outputs {
        drip_capture::clean(&project.cache()).unwrap();
        let clang = with_compiler(&project, script);
        let captured = capture(&project, &names, &options(&project, clang));
        assert_eq!(facts(&captured), expected, "{script}");
        assert!(captured.statistics.clang_runs > UNITS, "{script}");
    }
}

#[test]
fn flags_that_clang_does_not_take_are_dropped_as_before() {
    let (project, names) = project();
    let with = |clang: PathBuf| Options {
        extra_args: vec!["-DX".to_owned(), "-fno-such-thing".to_owned()],
        ..options(&project, clang)
    };
    let together = capture(&project, &names, &with("clang-19".into()));
    assert_eq!(together.units.len(), UNITS);
    assert!(
        together
            .units
            .iter()
            .all(|unit| unit.dropped_flags == ["-fno-such-thing"])
    );
    drip_capture::clean(&project.cache()).unwrap();
    let alone = capture(&project, &names, &with(single(&project, "clang-19")));
    assert_eq!(facts(&together), facts(&alone));
    assert_eq!(together.statistics.retries, alone.statistics.retries);
}

#[test]
fn flags_that_name_a_file_per_unit_and_preprocessed_sources_stay_alone() {
    let (project, mut names) = project();
    let with = |flag: &str| Options {
        extra_args: vec![flag.to_owned()],
        ..options(&project, "clang-19")
    };
    let split = capture(&project, &names, &with("-gsplit-dwarf"));
    assert_eq!(split.units.len(), UNITS, "{:?}", split.failures);
    assert_eq!(split.statistics.clang_runs, UNITS + 1);
    for number in 0..4 {
        project.write(&format!("p{number}.i"), "int x;\n");
        names.push(format!("p{number}.i"));
    }
    let mixed = capture(&project, &names, &with("-DMIXED"));
    assert_eq!(mixed.units.len(), UNITS + 4);
    assert!(mixed.statistics.clang_runs > 4 && mixed.statistics.clang_runs < 9);
}

#[test]
fn bitcode_in_a_wrapper_is_taken_apart_too() {
    let (project, _) = project();
    let names: Vec<String> = (0..5).map(|number| format!("plain{number}.c")).collect();
    for name in &names {
        project.write(name, "int f(int x) { return x; }\n");
    }
    let options = Options {
        extra_args: vec!["--target=x86_64-apple-darwin20".to_owned()],
        ..options(&project, "clang-19")
    };
    let captured = capture(&project, &names, &options);
    assert_eq!(captured.units.len(), 5, "{:?}", captured.failures);
    assert!(
        captured.statistics.clang_runs <= 3,
        "{:?}",
        captured.statistics
    );
    for unit in &captured.units {
        let bytes = std::fs::read(&unit.bitcode).unwrap();
        assert!(bytes.starts_with(&[0xDE, 0xC0, 0x17, 0x0B]) && bytes.len() % 16 == 0);
    }
}

#[test]
fn progress_counts_units_not_processes() {
    let (project, names) = project();
    let seen = Mutex::new(Vec::new());
    let tell = |p: Progress<'_>| {
        assert_eq!(p.total, UNITS);
        seen.lock().unwrap().push((p.done, p.source.to_owned()));
    };
    let options = Options {
        progress: Some(&tell),
        ..options(&project, "clang-19")
    };
    capture(&project, &names, &options);
    let seen = seen.into_inner().unwrap();
    let counts: Vec<usize> = seen.iter().map(|(done, _)| *done).collect();
    assert_eq!(counts, (1..=UNITS).collect::<Vec<_>>());
    let sources: std::collections::BTreeSet<_> =
        seen.into_iter().map(|(_, source)| source).collect();
    assert_eq!(sources.len(), UNITS);
}

#[test]
fn a_batch_is_killed_when_the_user_has_enough() {
    let (project, names) = project();
    let clang = with_compiler(
        &project,
        "echo $$ > \"$(dirname \"$0\")/started.tmp\"; mv \"$(dirname \"$0\")/started.tmp\" \"$(dirname \"$0\")/started\"; sleep 30",
    );
    let cancel = AtomicBool::new(false);
    let options = Options {
        cancel: Some(&cancel),
        ..options(&project, clang)
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
        capture(&project, &names, &options)
    });
    assert!(captured.cancelled && captured.units.is_empty() && captured.failures.is_empty());
    assert!(
        begin.elapsed() < Duration::from_secs(25),
        "the compiler was not killed"
    );
    assert!(files_below(&project.cache().join("tmp")).is_empty());
}
