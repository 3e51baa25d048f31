//! How runs end, on good input and on bad.

use crate::common::{BROKEN, CLEAN, LEAK, Project};

#[test]
fn a_clean_program_ends_with_0() {
    let project = Project::new(&[("clean.c", CLEAN)]);
    let said = project.drip(&["check", "clean.c"]).ends_with(0);
    said.prints("0 leaks in 1 function")
        .prints("1 of 1 file read");
}

#[test]
fn a_leak_ends_with_1_and_the_next_command() {
    let project = Project::new(&[("leak.c", LEAK), ("clean.c", CLEAN)]);
    let said = project.drip(&["check", "leak.c", "clean.c"]).ends_with(1);
    let said = said
        .prints("error[D001]")
        .prints("--> leak.c:5:15")
        .prints("1 leak in 2 functions")
        .prints("next: drip explain ");
    assert!(!said.stdout.contains('\x1b'), "colours without a terminal");
    let said = project.drip(&["check", "--exit-zero", "leak.c"]);
    said.ends_with(0).prints("error[D001]");
}

#[test]
fn a_directory_is_one_program() {
    let project = Project::new(&[("leak.c", LEAK), ("clean.c", CLEAN)]);
    project
        .drip(&["check"])
        .ends_with(1)
        .prints("2 of 2 files read");
    project
        .drip(&["check", "."])
        .ends_with(1)
        .prints("2 of 2 files read");
}

#[test]
fn a_missing_file_ends_with_2() {
    let project = Project::new(&[]);
    let said = project.drip(&["check", "nowhere.c"]).ends_with(2);
    said.complains("nowhere.c")
        .complains("nothing could be read");
}

#[test]
fn an_empty_directory_ends_with_2() {
    let project = Project::new(&[]);
    project
        .drip(&["check"])
        .ends_with(2)
        .complains("nothing to check");
}

#[test]
fn empty_and_damaged_bitcode_end_with_2() {
    let project = Project::new(&[("empty.bc", ""), ("text.bc", "this is no bitcode")]);
    std::fs::write(project.path("cut.bc"), b"BC\xC0\xDE\x35\x14").unwrap();
    for name in ["empty.bc", "text.bc", "cut.bc"] {
        project.drip(&["check", name]).ends_with(2).complains(name);
    }
}

#[test]
fn a_file_that_does_not_compile_is_named_and_the_others_are_analysed() {
    let project = Project::new(&[("broken.c", BROKEN), ("leak.c", LEAK), ("clean.c", CLEAN)]);
    let said = project.drip(&["check", "broken.c", "clean.c"]).ends_with(3);
    said.complains("broken.c is left out")
        .prints("1 of 2 files read");
    let said = project.drip(&["check", "broken.c", "leak.c"]).ends_with(1);
    said.complains("broken.c is left out").prints("error[D001]");
    project
        .drip(&["check", "broken.c"])
        .ends_with(2)
        .complains("broken.c");
}

#[test]
fn an_unusable_clang_ends_with_2() {
    let project = Project::new(&[("clean.c", CLEAN)]);
    let said = project.drip(&["check", "--clang", "/nowhere/clang", "clean.c"]);
    said.ends_with(2).complains("/nowhere/clang");
}

#[test]
fn wrong_words_end_with_2() {
    let project = Project::new(&[("clean.c", CLEAN)]);
    for words in [
        &[][..],
        &["chek"],
        &["check", "--output-format", "xml", "clean.c"],
        &["check", "--select", "D9", "clean.c"],
        &["check", "--min-confidence", "sure", "clean.c"],
        &["check", "--since", "--help-me", "clean.c"],
        &["check", "--baseline", "none.txt", "clean.c"],
        &["check", "-p", "nowhere"],
        &["check", "clean.c", "--", "make"],
        &["dump", "clean.c"],
        &["explain", "nonsense"],
    ] {
        project.drip(words).ends_with(2);
    }
}

#[test]
fn mistakes_in_the_configuration_end_with_2() {
    let project = Project::new(&[("clean.c", CLEAN)]);
    for (text, complaint) in [
        (
            "ignor = ['D001']\n",
            "line 1: unknown key `ignor`; did you mean `ignore`?",
        ),
        ("select = ['D77']\n", "unknown rule `D77`"),
        ("= 3\n", "drip.toml"),
        (
            "[[allocator]]\nkind = 'heap'\n",
            "at least one of alloc, free and realloc",
        ),
    ] {
        project.write("drip.toml", text);
        project
            .drip(&["check", "clean.c"])
            .ends_with(2)
            .complains(complaint);
    }
    project
        .drip(&["check", "--no-config", "clean.c"])
        .ends_with(0);
}

#[test]
fn compilation_databases_that_are_none_end_with_2() {
    let project = Project::new(&[("clean.c", CLEAN)]);
    for text in ["", "{", "{\"a\": 1}"] {
        project.write("compile_commands.json", text);
        let said = project.drip(&["check", "-p", "."]).ends_with(2);
        said.complains("compile_commands.json");
    }
}

#[test]
fn a_time_limit_ends_with_3() {
    let project = Project::new(&[("leak.c", LEAK)]);
    let said = project
        .drip(&["check", "--timeout", "0", "leak.c"])
        .ends_with(3);
    said.prints("stopped early");
    let said = project
        .drip(&["check", "--max-memory", "0", "leak.c"])
        .ends_with(3);
    said.prints("0 MB allowed");
}

#[test]
fn an_interrupted_build_ends_with_3() {
    let project = Project::new(&[("leak.c", LEAK)]);
    let words = ["check", "--", "sh", "-c", "touch started; exec sleep 60"];
    let mut drip = project
        .command(env!("CARGO_BIN_EXE_drip"), &words)
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("drip runs");
    while !project.path("started").exists() {
        assert!(drip.try_wait().unwrap().is_none(), "drip ended by itself");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let id = drip.id().to_string();
    let sent = project.command("kill", &["-INT", &id]).status().unwrap();
    assert!(sent.success());
    let output = drip.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("stopped early: interrupted"), "{text}");
}

#[test]
fn a_build_that_compiles_nothing_ends_with_2() {
    let project = Project::new(&[]);
    project
        .drip(&["check", "--", "true"])
        .ends_with(2)
        .complains("nothing to check");
}
