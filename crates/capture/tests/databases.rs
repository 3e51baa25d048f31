//! Compilation databases with a real clang, and databases that are broken.

mod common;

use common::{Project, file_names, is_bitcode};
use drip_capture::{Captured, Error, SkipReason, capture_database, find_database};

fn database(project: &Project, json: &str) -> Result<Captured, Error> {
    let text = json.replace("DIR", &project.path("").display().to_string());
    project.write("compile_commands.json", &text);
    capture_database(&project.path(""), &project.options())
}

fn sources() -> Project {
    Project::new(&[
        (
            "a.c",
            "#ifndef A\n#error A\n#endif\n#include \"h.h\"\nint a = A;\n",
        ),
        (
            "b c.cc",
            "#include <vector>\nstd::vector<int> b() { return {B}; }\n",
        ),
        ("inc/h.h", ""),
    ])
}

#[test]
fn command_and_arguments_entries() {
    let project = sources();
    let captured = database(
        &project,
        r#"[{"directory": "DIR", "file": "a.c", "command": "gcc -DA=\\\"x\\\" -DA=1 -I inc -Wall -O3 -c a.c -o a.o"},
            {"directory": "DIR", "file": "b c.cc", "arguments": ["g++", "-DB=2", "-c", "b c.cc"]}]"#,
    )
    .unwrap();
    assert!(captured.failures.is_empty(), "{:?}", captured.failures);
    assert_eq!(file_names(&captured.units), ["a.c", "b c.cc"]);
    assert!(captured.units.iter().all(|u| is_bitcode(&u.bitcode)));
    assert_eq!(captured.units[0].object, Some(project.path("a.o")));
}

#[test]
fn ten_gcc_only_flags_are_no_obstacle_and_are_listed() {
    let project = sources();
    // Half of them are known beforehand, the others clang has to refuse first.
    let flags = [
        "-fno-tree-vectorize",
        "-Wno-maybe-uninitialized",
        "-fconserve-stack",
        "-mindirect-branch=thunk-extern",
        "-fno-var-tracking",
        "-fno-ipa-sra",
        "-fno-such-flag-of-a-newer-gcc",
        "-mno-such-machine-flag",
        "-march=znver99",
        "-fexec-charset=ebcdic-us",
        "-mcmodel=nonsense",
        "-ffrobnicate=3",
    ];
    let text = format!(
        r#"[{{"directory": "DIR", "file": "a.c", "command": "gcc {0} -DA=1 -Iinc -c a.c"}},
            {{"directory": "DIR", "file": "b c.cc", "command": "g++ {0} -DB=1 -c 'b c.cc'"}}]"#,
        flags.join(" ")
    );
    let captured = database(&project, &text).unwrap();
    assert!(captured.failures.is_empty(), "{:?}", captured.failures);
    assert_eq!(captured.units.len(), 2);
    let dropped = captured.dropped_flags();
    for flag in flags {
        assert_eq!(dropped.get(flag), Some(&2), "{flag} in {dropped:?}");
    }
    assert!(captured.statistics.retries >= 1);
    // The list is remembered with the bitcode.
    let again = capture_database(&project.path(""), &project.options()).unwrap();
    assert_eq!(again.statistics.clang_runs, 0);
    assert_eq!(
        again.units[1].dropped_flags,
        captured.units[1].dropped_flags
    );
}

#[test]
fn a_language_standard_newer_than_clang_gets_its_draft_name() {
    let project = Project::new(&[("a.c", "int a;\n")]);
    let captured = database(
        &project,
        r#"[{"directory": "DIR", "file": "a.c", "command": "gcc -std=gnu23 -c a.c"},
            {"directory": "DIR", "file": "a.c", "command": "gcc -std=gnu99999 -c a.c"}]"#,
    )
    .unwrap();
    assert_eq!(captured.units.len(), 2, "{:?}", captured.failures);
    assert!(captured.units[0].dropped_flags.is_empty());
    assert_eq!(captured.units[1].dropped_flags, ["-std=gnu99999"]);
}

#[test]
fn missing_files_are_listed_and_the_others_go_on() {
    let project = sources();
    let captured = database(
        &project,
        r#"[{"directory": "DIR", "file": "gone.c", "command": "gcc -c gone.c"},
            {"directory": "DIR", "file": "a.c", "command": "gcc -DA=1 -Iinc -c a.c"},
            {"directory": "DIR/nowhere", "file": "../a.c", "command": "gcc -DA=1 -c ../a.c"}]"#,
    )
    .unwrap();
    assert_eq!(captured.units.len(), 1);
    assert_eq!(captured.failures.len(), 2, "{:?}", captured.failures);
    assert_eq!(captured.failures[0].source, project.path("gone.c"));
    assert!(
        captured.failures[1].stderr_excerpt.contains("nowhere"),
        "{:?}",
        captured.failures[1]
    );
    assert!(
        captured.notes.iter().any(|n| n.contains("1 of 3 files")),
        "{:?}",
        captured.notes
    );
}

#[test]
fn entries_that_make_no_sense_are_listed() {
    let project = sources();
    let captured = database(
        &project,
        r#"[{"directory": "DIR", "file": "a.c"},
            {"directory": "DIR", "command": "gcc -c a.c"},
            {"directory": "DIR", "file": "a.c", "command": "gcc 'unclosed"},
            17,
            {"directory": "DIR", "file": "a.c", "command": "gcc -DA=1 -Iinc -c a.c"}]"#,
    )
    .unwrap();
    assert_eq!(captured.units.len(), 1);
    let reasons: Vec<_> = captured
        .failures
        .iter()
        .map(|f| f.stderr_excerpt.as_str())
        .collect();
    assert_eq!(reasons.len(), 4, "{reasons:?}");
    assert!(reasons[0].contains("entry 1") && reasons[0].contains("neither"));
    assert!(reasons[1].contains("entry 2") && reasons[1].contains("file"));
    assert!(reasons[2].contains("unclosed quote"));
}

#[test]
fn broken_databases_are_errors_with_the_file_name() {
    let project = sources();
    for (json, word) in [
        ("{ not json", "not JSON"),
        ("[]", "empty"),
        ("{}", "not a list"),
        ("", "not JSON"),
    ] {
        let message = database(&project, json).unwrap_err().to_string();
        assert!(
            message.contains(word) && message.contains("compile_commands.json"),
            "{message}"
        );
    }
    std::fs::remove_file(project.path("compile_commands.json")).unwrap();
    let missing = capture_database(&project.path(""), &project.options()).unwrap_err();
    assert!(matches!(missing, Error::Io { .. }), "{missing}");
}

#[test]
fn libtool_pairs_and_repeated_entries_are_one_unit() {
    let project = sources();
    let captured = database(
        &project,
        r#"[{"directory": "DIR", "file": "a.c", "command": "gcc -DA=1 -Iinc -c a.c -fPIC -DPIC -o .libs/a.o"},
            {"directory": "DIR", "file": "a.c", "command": "gcc -DA=1 -Iinc -c a.c -o a.o"},
            {"directory": "DIR", "file": "a.c", "command": "gcc -DA=2 -Iinc -c a.c -o a2.o"},
            {"directory": "DIR", "file": "x.S", "command": "gcc -c x.S"}]"#,
    )
    .unwrap();
    assert_eq!(captured.units.len(), 2);
    let reasons: Vec<_> = captured.skipped.iter().map(|s| s.reason).collect();
    assert_eq!(reasons, [SkipReason::Duplicate, SkipReason::Assembler]);
}

#[test]
fn found_upwards_and_in_build_directories() {
    let project = Project::new(&[
        ("src/deep/a.c", ""),
        (".git/HEAD", ""),
        ("build/compile_commands.json", "[]"),
    ]);
    let found = find_database(&project.path("src/deep"));
    assert_eq!(found, Some(project.path("build/compile_commands.json")));
    project.write("cmake-build-debug/sub/compile_commands.json", "[]");
    let newer = find_database(&project.path(""));
    assert_eq!(
        newer,
        Some(project.path("cmake-build-debug/sub/compile_commands.json"))
    );
    project.write("compile_commands.json", "[]");
    assert_eq!(
        find_database(&project.path("src/deep")),
        Some(project.path("compile_commands.json"))
    );
}

#[test]
fn the_search_ends_at_the_top_of_the_repository() {
    let project = Project::new(&[
        ("compile_commands.json", "[]"),
        ("inner/.git/HEAD", ""),
        ("inner/src/a.c", ""),
    ]);
    assert_eq!(find_database(&project.path("inner/src")), None);
}
