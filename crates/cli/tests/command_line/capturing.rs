//! What is compiled, and when again; which flags of a build clang does not take.

use crate::common::{CLEAN, LEAK, Project};

const MAKEFILE: &str =
    "prog: leak.o clean.o main.o\n\tcc -o $@ $^\n%.o: %.c\n\tcc $(CFLAGS) -c -o $@ $<\n";
const MAIN: &str =
    "int leaks(int);\nint clean(int);\nint main(void)\n{\n    return leaks(1) + clean(2);\n}\n";

fn make_project() -> Project {
    Project::new(&[
        ("leak.c", LEAK),
        ("clean.c", CLEAN),
        ("main.c", MAIN),
        ("Makefile", MAKEFILE),
    ])
}

#[test]
fn a_second_check_compiles_nothing_and_a_change_only_its_file() {
    let project = make_project();
    let words = ["check", "-v", "--", "make"];
    let run = |counts: &str| {
        let said = project.drip(&words).ends_with(1);
        said.prints("3 of 3 files read").complains(counts);
    };
    run("3 files compiled, 0 from the cache, 0 failed");
    run("0 files compiled, 3 from the cache, 0 failed");
    project.write("clean.c", &format!("{CLEAN}int more;\n"));
    run("1 files compiled, 2 from the cache, 0 failed");
    // A new time stamp alone makes the build compile again, but not drip.
    project.write("clean.c", &format!("{CLEAN}int more;\n"));
    run("0 files compiled, 3 from the cache, 0 failed");
}

#[test]
fn ten_flags_that_only_gcc_knows_are_dropped_and_listed() {
    let project = make_project();
    let flags = [
        "-fno-tree-vectorize",
        "-Wno-maybe-uninitialized",
        "-fconserve-stack",
        "-fno-var-tracking",
        "-fno-ipa-sra",
        "-fno-tree-pre",
        "-fno-gcse",
        "-fira-region=one",
        "-fno-tree-loop-distribute-patterns",
        "-fsched-pressure",
        "--param=max-inline-insns-auto=40",
        "-fno-reorder-functions",
    ];
    let setting = format!("CFLAGS={}", flags.join(" "));
    let said = project.drip(&["check", "-v", "--", "make", &setting]);
    let mut said = said.ends_with(1).prints("3 of 3 files read");
    let mut doctor = project.drip(&["doctor"]).ends_with(0);
    for flag in flags {
        said = said.complains(&format!("{flag}: dropped from 3 commands"));
        doctor = doctor.prints(flag);
    }
    // What clang has once refused is not tried again with each file.
    said.complains("3 files compiled, 0 from the cache, 0 failed");
}
