//! How runs end: each exit code, and the last lines.

use crate::common::{CLEAN, LEAK, Project};

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
fn a_build_that_compiles_nothing_ends_with_2() {
    let project = Project::new(&[]);
    project
        .drip(&["check", "--", "true"])
        .ends_with(2)
        .complains("nothing to check");
}

#[test]
fn what_a_program_of_some_size_loses_once_is_a_warning() {
    let program = |calls: &str| {
        let filler = "#define TWICE(x) x x\n#define SIXTEEN(x) TWICE(TWICE(TWICE(TWICE(x))))\n\
            static volatile int counter;\n\
            static void fill(void) { SIXTEEN(SIXTEEN(SIXTEEN(counter += 1;))) }\n";
        format!(
            "{LEAK}{filler}int main(int argc, char **argv) {{ fill(); {calls} fill(); return 0; }}\n"
        )
    };
    let once = program("leaks(argc);");
    let again = program("while (argc-- > 0) leaks(argc);");
    let project = Project::new(&[("once.c", &once), ("again.c", &again)]);
    let said = project.drip(&["check", "once.c"]).ends_with(1);
    said.prints("warning[D001]");
    let said = project.drip(&["check", "again.c"]).ends_with(1);
    said.prints("error[D001]");
}
