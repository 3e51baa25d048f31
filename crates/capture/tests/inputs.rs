//! Paths of every kind on the command line, with a real clang.

mod common;

use common::{Project, file_names, is_bitcode};
use drip_capture::{Captured, ClangInfo, Error, capture_paths, capture_tree};
use std::path::PathBuf;
use std::process::Command;

fn clang() -> ClangInfo {
    drip_capture::clang::find(None, None).expect("a clang")
}

fn run(project: &Project, program: &std::path::Path, arguments: &[&str]) {
    let status = Command::new(program)
        .args(arguments)
        .current_dir(project.path(""))
        .status()
        .unwrap();
    assert!(status.success(), "{} {arguments:?}", program.display());
}

fn capture(project: &Project, names: &[&str]) -> Result<Captured, Error> {
    let paths: Vec<PathBuf> = names.iter().map(|name| project.path(name)).collect();
    capture_paths(&paths, &project.options())
}

fn two() -> Project {
    Project::new(&[
        ("a.c", "int f(void) { return 1; }\n"),
        ("b.cpp", "int g() { return 2; }\n"),
    ])
}

#[test]
fn sources_and_bitcode_files_mixed() {
    let project = two();
    run(
        &project,
        &clang().path,
        &["-emit-llvm", "-c", "a.c", "-o", "x.bc"],
    );
    let captured = capture(&project, &["x.bc", "b.cpp"]).unwrap();
    assert_eq!(file_names(&captured.units), ["x.bc", "b.cpp"]);
    assert_eq!(captured.units[0].bitcode, project.path("x.bc"));
    assert!(captured.units.iter().all(|u| is_bitcode(&u.bitcode)));
}

#[test]
fn objects_and_archives_with_embedded_bitcode() {
    let project = two();
    let clang = clang().path;
    run(
        &project,
        &clang,
        &["-fembed-bitcode", "-c", "a.c", "-o", "a.o"],
    );
    run(&project, &clang, &["-flto", "-c", "b.cpp", "-o", "b.o"]);
    run(&project, "ar".as_ref(), &["rc", "lib.a", "a.o", "b.o"]);
    run(
        &project,
        "ld".as_ref(),
        &["-r", "-o", "both.o", "a.o", "a.o", "-z", "muldefs"],
    );
    for (input, count) in [("a.o", 1), ("b.o", 1), ("lib.a", 2), ("both.o", 2)] {
        let captured = capture(&project, &[input]).unwrap();
        assert!(
            captured.failures.is_empty(),
            "{input}: {:?}",
            captured.failures
        );
        assert_eq!(captured.units.len(), count, "{input}");
        assert!(
            captured.units.iter().all(|u| is_bitcode(&u.bitcode)),
            "{input}"
        );
    }
}

#[test]
fn what_cannot_be_used_says_why() {
    let project = two();
    run(&project, &clang().path, &["-c", "a.c", "-o", "plain.o"]);
    project.write("empty.bc", "");
    project.write("text.ll", "define void @f() { ret void }");
    project.write("notes.txt", "hello");
    let names = [
        "plain.o",
        "empty.bc",
        "text.ll",
        "notes.txt",
        "missing.c",
        "a.c",
    ];
    let captured = capture(&project, &names).unwrap();
    assert_eq!(file_names(&captured.units), ["a.c"]);
    let words = [
        "no embedded bitcode",
        "empty",
        "clang -c -emit-llvm",
        "neither",
        "No such file",
    ];
    assert_eq!(captured.failures.len(), words.len());
    for ((failure, word), name) in captured.failures.iter().zip(words).zip(names) {
        assert!(failure.stderr_excerpt.contains(word), "{failure:?}");
        assert_eq!(failure.source, project.path(name));
    }
}

#[test]
fn a_directory_with_a_database_uses_it() {
    let project = two();
    let text = r#"[{"directory": "DIR", "file": "a.c", "command": "gcc -c a.c"}]"#;
    project.write(
        "build/compile_commands.json",
        &text.replace("DIR", &project.path("").display().to_string()),
    );
    let captured = capture(&project, &[""]).unwrap();
    assert_eq!(file_names(&captured.units), ["a.c"]);
    assert!(
        captured
            .notes
            .iter()
            .any(|n| n.contains("build/compile_commands.json")),
        "{:?}",
        captured.notes
    );
    let named = capture(&project, &["build/compile_commands.json"]).unwrap();
    assert_eq!(file_names(&named.units), ["a.c"]);
}

#[test]
fn without_paths_the_tree_decides() {
    let project = two();
    let everything = capture_tree(&project.path(""), &project.options()).unwrap();
    assert_eq!(file_names(&everything.units), ["a.c", "b.cpp"]);
    project.write("sub/deep/.keep", "");
    let text = r#"[{"directory": "DIR", "file": "b.cpp", "command": "g++ -c b.cpp"}]"#;
    let text = text.replace("DIR", &project.path("").display().to_string());
    project.write("compile_commands.json", &text);
    let by_database = capture_tree(&project.path("sub/deep"), &project.options()).unwrap();
    assert_eq!(file_names(&by_database.units), ["b.cpp"]);
}

#[test]
fn a_directory_of_bitcode_is_read_as_such() {
    let project = two();
    project.write("out-bc/deep/.keep", "");
    run(
        &project,
        &clang().path,
        &["-emit-llvm", "-c", "a.c", "-o", "out-bc/deep/a.bc"],
    );
    run(
        &project,
        &clang().path,
        &["-emit-llvm", "-c", "b.cpp", "-o", "out-bc/b.bc"],
    );
    project.write("out-bc/c.bc", "");
    let captured = capture(&project, &["out-bc"]).unwrap();
    assert_eq!(file_names(&captured.units), ["b.bc", "a.bc"]);
    assert_eq!(captured.failures.len(), 1);
}

#[test]
fn a_directory_of_sources_gets_default_flags_and_include_directories() {
    let project = Project::new(&[
        ("Makefile", "all:\n"),
        ("config.h", "#define OK 1\n"),
        ("include/lib.h", "#define LIB 1\n"),
        (
            "lib/one.c",
            "#ifdef HAVE_CONFIG_H\n#include \"config.h\"\n#endif\n#include <lib.h>\nint one = OK + LIB;\n",
        ),
        ("lib/two.cc", "int two;\n"),
        (".hidden/x.c", "#error\n"),
        ("lib/asm.S", "nop\n"),
    ]);
    let captured = capture(&project, &[""]).unwrap();
    assert!(captured.failures.is_empty(), "{:?}", captured.failures);
    assert_eq!(file_names(&captured.units), ["one.c", "two.cc"]);
    assert!(
        captured
            .notes
            .iter()
            .any(|n| n.contains("drip check -- make")),
        "{:?}",
        captured.notes
    );
}

#[test]
fn an_unreadable_directory_is_reported() {
    use std::os::unix::fs::PermissionsExt;
    let project = two();
    project.write("locked/x.c", "int x;\n");
    let locked = project.path("locked");
    std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o000)).unwrap();
    let readable_anyway = std::fs::read_dir(&locked).is_ok(); // the superuser is not stopped by permissions
    let captured = capture(&project, &[""]).unwrap();
    std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o755)).unwrap();
    if readable_anyway {
        assert_eq!(captured.units.len(), 3);
    } else {
        assert_eq!(captured.units.len(), 2);
        assert!(
            captured.failures[0]
                .stderr_excerpt
                .contains("Permission denied")
        );
    }
}

#[test]
fn nothing_to_check_is_an_error_with_a_hint() {
    let project = Project::new(&[("README", "x")]);
    let error = capture(&project, &[""]).unwrap_err();
    assert!(matches!(error, Error::NothingFound { .. }));
    assert!(error.to_string().contains("`--`"), "{error}");
}

#[test]
fn a_source_named_twice_is_one_unit() {
    let project = two();
    let captured = capture(&project, &["a.c", "a.c"]).unwrap();
    assert_eq!(captured.units.len(), 1);
    assert_eq!(captured.skipped.len(), 1);
}
