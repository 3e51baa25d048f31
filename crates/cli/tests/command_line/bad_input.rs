//! Bad input of every kind: what is said, and how the run ends.

use crate::common::{BROKEN, CLEAN, LEAK, Project, said};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;

/// A user without rights, should the tests run as root, whom no permission stops.
const NOBODY: u32 = 65_534;

#[test]
fn without_a_clang_that_works_the_way_out_is_told() {
    let project = Project::new(&[("clean.c", CLEAN)]);
    // With nothing on PATH drip would look where packages put clang beside it, and the tests need one there.
    project.executable("bin/clang", "#!/bin/sh\nexit 1\n");
    let output = project
        .command(env!("CARGO_BIN_EXE_drip"), &["check", "clean.c"])
        .env("PATH", project.path("bin"))
        .output()
        .expect("drip runs");
    said(&output)
        .ends_with(2)
        .complains("no clang found that works (tried ")
        .complains("bin/clang")
        .complains("install");
}

#[test]
fn an_unusable_clang_ends_with_2() {
    let project = Project::new(&[("clean.c", CLEAN)]);
    let said = project.drip(&["check", "--clang", "/nowhere/clang", "clean.c"]);
    said.ends_with(2)
        .complains("/nowhere/clang cannot be used as clang");
}

#[test]
fn a_file_that_does_not_compile_is_named_and_the_others_are_analysed() {
    let project = Project::new(&[("broken.c", BROKEN), ("leak.c", LEAK), ("clean.c", CLEAN)]);
    let said = project.drip(&["check", "broken.c", "clean.c"]).ends_with(3);
    said.complains("broken.c is left out")
        .complains("error: expected parameter declarator")
        .prints("1 of 2 files read");
    let said = project.drip(&["check", "broken.c", "leak.c"]).ends_with(1);
    said.complains("broken.c is left out").prints("error[D001]");
    project
        .drip(&["check", "broken.c"])
        .ends_with(2)
        .complains("broken.c is left out")
        .complains("nothing could be read: 1 of 1 files failed");
}

#[test]
fn empty_and_damaged_bitcode_end_with_2() {
    let project = Project::new(&[
        ("empty.bc", ""),
        ("text.bc", "this is no bitcode"),
        ("clean.c", CLEAN),
    ]);
    std::fs::write(project.path("cut.bc"), b"BC\xC0\xDE\x35\x14").unwrap();
    for (name, reason) in [
        ("empty.bc", "the file is empty"),
        ("text.bc", "neither a C or C++ source nor bitcode"),
        ("cut.bc", "cut.bc"),
    ] {
        let said = project.drip(&["check", name]).ends_with(2);
        said.complains(name).complains(reason);
        let said = project.drip(&["check", name, "clean.c"]).ends_with(3);
        said.complains(name).prints("1 of 2 files read");
    }
}

#[test]
fn compilation_databases_that_are_none_end_with_2() {
    let project = Project::new(&[("clean.c", CLEAN)]);
    for (text, reason) in [
        ("", "it is not JSON"),
        ("{", "it is not JSON"),
        ("{\"a\": 1}", "it is not a list of compile commands"),
        ("[]", "it is empty; build the project first"),
    ] {
        project.write("compile_commands.json", text);
        for words in [&["check", "-p", "."][..], &["check"]] {
            project
                .drip(words)
                .ends_with(2)
                .complains("compile_commands.json")
                .complains(reason);
        }
    }
}

#[test]
fn a_compilation_database_that_names_missing_files() {
    let project = Project::new(&[("leak.c", LEAK), ("clean.c", CLEAN)]);
    let entry = |name: &str| {
        let dir = project.path("");
        format!("{{\"directory\": {dir:?}, \"file\": \"{name}\", \"command\": \"cc -c {name}\"}}")
    };
    for (there, code) in [("leak.c", 1), ("clean.c", 3)] {
        let text = format!("[{}, {}]", entry("gone.c"), entry(there));
        project.write("compile_commands.json", &text);
        let said = project.drip(&["check"]).ends_with(code);
        said.complains("gone.c is left out: cannot read")
            .complains("1 of 2 files named in")
            .complains("if they are generated, build the project first")
            .prints("1 of 2 files read");
    }
    project.write("compile_commands.json", &format!("[{}]", entry("gone.c")));
    project
        .drip(&["check"])
        .ends_with(2)
        .complains("gone.c is left out")
        .complains("nothing could be read");
}

#[test]
fn an_unreadable_directory_is_named_and_the_rest_is_analysed() {
    let project = Project::new(&[("clean.c", CLEAN), ("locked/hidden.c", LEAK)]);
    let mode = |name: &str, bits: u32| {
        let bits = std::fs::Permissions::from_mode(bits);
        std::fs::set_permissions(project.path(name), bits).expect("our own directory");
    };
    // So that the user without rights reaches the project and its binary.
    project.open_to_all();
    std::fs::copy(env!("CARGO_BIN_EXE_drip"), project.path("drip")).expect("a copy");
    mode("locked", 0o000);
    let root = std::fs::read_dir(project.path("locked")).is_ok();
    let run = |words: &[&str]| {
        let mut command = project.command(project.path("drip"), words);
        command.env("HOME", project.path(""));
        if root {
            command.uid(NOBODY).gid(NOBODY);
        }
        // A child that another test has just forked may still have the copy open for writing.
        let outputs = std::iter::repeat_with(|| command.output());
        let output = outputs.take(200).find(|output| match output {
            Err(busy) if busy.kind() == std::io::ErrorKind::ExecutableFileBusy => {
                std::thread::sleep(std::time::Duration::from_millis(10));
                false
            }
            _ => true,
        });
        said(
            &output
                .expect("the copy is not busy for ever")
                .expect("drip runs"),
        )
    };
    let tree = run(&["check"]);
    let alone = run(&["check", "locked"]);
    mode("locked", 0o755);
    tree.ends_with(3)
        .complains("locked is left out")
        .complains("Permission denied")
        .prints("1 of 2 files read");
    alone
        .ends_with(2)
        .complains("locked")
        .complains("Permission denied");
}

#[test]
fn a_cache_that_cannot_be_written_to_costs_a_note_only() {
    let project = Project::new(&[("leak.c", LEAK)]);
    // Below a plain file nothing can be made, not even by root.
    let output = project
        .command(env!("CARGO_BIN_EXE_drip"), &["check", "leak.c"])
        .env("DRIP_CACHE_DIR", project.path("leak.c").join("cache"))
        .output()
        .expect("drip runs");
    said(&output)
        .ends_with(1)
        .complains("leak.c/cache")
        .complains("cannot be written to")
        .prints("1 of 1 file read");
}

#[test]
fn a_disk_that_fills_up_while_compiling_costs_a_note_only() {
    let project = Project::new(&[("leak.c", LEAK), ("clean.c", CLEAN)]);
    project.executable(
        "clang",
        "#!/bin/sh\ncase \"$*\" in *CACHE/*) echo 'error: unable to open output file: No space left on device' >&2; \
         exit 1;; esac\nexec REAL \"$@\"\n",
    );
    let said = project.drip(&["check", "--clang", "./clang", "leak.c", "clean.c"]);
    said.ends_with(1)
        .complains("No space left on device")
        .complains("the rest was compiled into a temporary directory")
        .prints("2 of 2 files read");
}

#[test]
fn results_that_cannot_be_written_end_with_2() {
    let project = Project::new(&[("leak.c", LEAK)]);
    let said = project.drip(&["check", "--output-format", "json=/dev/full", "leak.c"]);
    said.ends_with(2)
        .complains("cannot write /dev/full: No space left on device");
    let full = std::fs::File::options().write(true).open("/dev/full");
    let output = project
        .command(env!("CARGO_BIN_EXE_drip"), &["check", "leak.c"])
        .stdout(full.expect("Linux has it"))
        .output()
        .expect("drip runs");
    said_on_stderr(&output);
}

fn said_on_stderr(output: &std::process::Output) {
    said(output)
        .ends_with(2)
        .complains("cannot write to standard output: No space left on device");
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
