//! What each command does, on small projects with a real clang.

use crate::common::{CLEAN, LEAK, Project};
use drip_test_utils::reported_from_sarif;

/// The id of the first finding in what `check --output-format concise` printed.
fn first_id(stdout: &str) -> String {
    let line = stdout.lines().next().unwrap_or_default();
    let id = line
        .rsplit_once('[')
        .map(|(_, id)| id.trim_end_matches(']'));
    id.unwrap_or_default().to_owned()
}

#[test]
fn sarif_and_json_are_alone_on_standard_output() {
    let project = Project::new(&[("leak.c", LEAK)]);
    let said = project
        .drip(&["check", "--output-format", "sarif", "leak.c"])
        .ends_with(1);
    let reports = reported_from_sarif(&said.stdout).unwrap();
    assert_eq!(reports.len(), 1);
    assert_eq!(
        (reports[0].file.to_str(), reports[0].line),
        (Some("leak.c"), 5)
    );
    assert_eq!(reports[0].rule, "D001");
    said.complains("1 leak in 1 function");
    let said = project
        .drip(&["check", "--output-format", "json", "leak.c"])
        .ends_with(1);
    let value: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(value["version"], 1);
    assert_eq!(value["findings"][0]["location"]["file"], "leak.c");
    assert_eq!(value["coverage"]["files_read"], 1);
}

#[test]
fn several_formats_go_to_several_places() {
    let project = Project::new(&[("leak.c", LEAK)]);
    let words = [
        "check",
        "--output-format=concise",
        "--output-format=sarif=out.sarif",
        "--output-format=github=out.txt",
        "leak.c",
    ];
    project
        .drip(&words)
        .ends_with(1)
        .prints("leak.c:5:15: D001 ");
    assert_eq!(
        reported_from_sarif(&project.read("out.sarif"))
            .unwrap()
            .len(),
        1
    );
    assert!(project.read("out.txt").starts_with("::"));
}

#[test]
fn the_id_survives_a_shift_of_lines() {
    let project = Project::new(&[("leak.c", LEAK)]);
    let words = ["check", "-q", "--output-format", "concise", "leak.c"];
    let before = first_id(&project.drip(&words).ends_with(1).stdout);
    project.write("leak.c", &format!("{}{LEAK}", "// nothing\n".repeat(20)));
    let said = project.drip(&words).ends_with(1).prints("leak.c:25:15");
    assert_eq!(first_id(&said.stdout), before);
    assert!(!before.is_empty());
}

#[test]
fn explain_tells_rules_and_findings_of_the_last_run() {
    let project = Project::new(&[("leak.c", LEAK)]);
    project
        .drip(&["explain", "d002"])
        .ends_with(0)
        .prints("not freed on some path");
    project
        .drip(&["explain", "0123456789ab"])
        .ends_with(2)
        .complains("run `drip check` first");
    let said = project.drip(&["check", "-q", "--output-format", "concise", "leak.c"]);
    let id = first_id(&said.ends_with(1).stdout);
    let said = project.drip(&["explain", &id]).ends_with(0);
    said.prints("The path:")
        .prints("Where it is lost:")
        .prints("leak.c:5");
    project
        .drip(&["explain", "ffffffffffff"])
        .ends_with(2)
        .complains("no finding");
}

#[test]
fn the_ledger_has_every_site() {
    let project = Project::new(&[("leak.c", LEAK), ("clean.c", CLEAN)]);
    project
        .drip(&["ledger"])
        .ends_with(2)
        .complains("run `drip check` first");
    project
        .drip(&["check", "-q", "leak.c", "clean.c"])
        .ends_with(1);
    let said = project.drip(&["ledger"]).ends_with(0);
    said.prints("leak `malloc` in `leaks`")
        .prints("freed `malloc` in `clean`");
    let said = project
        .drip(&["ledger", "--verdict", "freed", "--json"])
        .ends_with(0);
    let value: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(value["ledger"].as_array().unwrap().len(), 1);
    let said = project
        .drip(&["ledger", "--function", "leaks", "leak.c"])
        .ends_with(0);
    said.prints("1 leak");
}

#[test]
fn comments_silence_findings_and_are_told_when_unused() {
    let above = LEAK.replace(
        "    char *p",
        "    // drip: ignore[D001] on purpose\n    char *p",
    );
    let project = Project::new(&[("leak.c", &above)]);
    project
        .drip(&["check", "leak.c"])
        .ends_with(0)
        .prints("1 suppressed by comments");
    // clang puts the end of the function either at its `return` or at its brace.
    let at_loss = LEAK
        .replace("return p[0];", "return p[0]; // drip: ignore")
        .replace("\n}\n", "\n} // drip: ignore\n");
    project.write("leak.c", &at_loss);
    project
        .drip(&["check", "leak.c"])
        .ends_with(0)
        .prints("1 suppressed by comments");
    let other_rule = LEAK.replace("malloc(10);", "malloc(10); // drip: ignore[D003]");
    project.write("leak.c", &other_rule);
    let said = project.drip(&["check", "leak.c"]).ends_with(1);
    said.complains("leak.c:5: this comment silences nothing");
}

/// What is lost because another allocation has failed is true, but not what a maintainer has to see first.
#[test]
fn a_loss_for_want_of_memory_is_not_of_high_confidence() {
    let pair = |condition: &str| {
        format!(
            "#include <stdlib.h>\nchar *pair(int n, char **other) {{\n  char *a = malloc(n);\n  if (!a) return 0;\n  \
             char *b = malloc(n);\n  if ({condition}) return 0;\n  *other = b;\n  return a;\n}}\n"
        )
    };
    let project = Project::new(&[("pair.c", &pair("!b")), ("plain.c", &pair("n > 9"))]);
    let check = |file: &str| project.drip(&["check", "--min-confidence", "high", file]);
    check("pair.c").ends_with(0);
    check("plain.c").ends_with(1);
    project.drip(&["check", "pair.c"]).ends_with(1);
}

/// Whether a text is overwritten hangs on what the program's own functions say, or on what they do to it: high is what needs no such belief.
#[test]
fn what_is_overwritten_by_leave_of_own_functions_is_not_of_high_confidence() {
    let program = |condition: &str, second: &str| {
        format!(
            "#include <stdlib.h>\n#include <string.h>\nstruct text {{ char *at; int kind; }};\n\
             static int is_text(struct text *t) {{ return t->kind == 3; }}\n\
             static char *grown(char *old, size_t n) {{\n  char *new = realloc(old, n);\n  return new;\n}}\n\
             void fill(struct text *t, int n, const char *s) {{\n  (void)is_text;\n  (void)grown;\n  \
             t->at = strdup(s);\n  if ({condition}) t->at = {second};\n}}\n"
        )
    };
    let project = Project::new(&[
        ("asked.c", &program("is_text(t)", "strdup(s + 1)")),
        ("grown.c", &program("n > 9", "grown(t->at, n)")),
        ("plain.c", &program("n > 9", "strdup(s + 1)")),
    ]);
    let check = |file: &str| project.drip(&["check", "--min-confidence", "high", file]);
    check("asked.c").ends_with(0);
    check("grown.c").ends_with(0);
    check("plain.c").ends_with(1);
    for file in ["asked.c", "grown.c"] {
        project.drip(&["check", file]).ends_with(1);
    }
}

#[test]
fn rules_are_selected_on_the_command_line_and_in_the_file() {
    let project = Project::new(&[("leak.c", LEAK)]);
    project
        .drip(&["check", "--select", "D002,D003", "leak.c"])
        .ends_with(0)
        .prints("1 of low confidence or not selected");
    project
        .drip(&["check", "--ignore", "D001", "leak.c"])
        .ends_with(0);
    project.write("drip.toml", "ignore = ['D001']\n");
    project.drip(&["check", "leak.c"]).ends_with(0);
    project.write("drip.toml", "exclude = ['le*.c']\n");
    project.drip(&["check", "leak.c"]).ends_with(0);
}

/// `main` may leave its blocks to the system, but whoever wants to know is told.
#[test]
fn what_main_still_holds_is_told_if_asked_for() {
    let held = "#include <stdlib.h>\n\
                int main(void) {\n\
                \x20 char *p = malloc(10);\n\
                \x20 if (!p)\n\
                \x20   return 1;\n\
                \x20 p[0] = 'a';\n\
                \x20 return 0;\n\
                }\n";
    let project = Project::new(&[("held.c", held)]);
    project
        .drip(&["check", "held.c"])
        .ends_with(0)
        .prints("1 held until `main` ends")
        .prints("next: drip check --select ALL");
    project
        .drip(&["check", "--select", "D005", "held.c"])
        .ends_with(1)
        .prints("`p` allocated by `malloc` is still held when the program ends")
        .prints("`main` returns while `p` still holds it");
}

#[test]
fn a_baseline_accepts_what_is_there() {
    let project = Project::new(&[("leak.c", LEAK)]);
    let create = ["baseline", "create", "leak.c"];
    project
        .drip(&create)
        .ends_with(0)
        .prints("1 findings accepted");
    project.drip(&create).ends_with(2).complains("exists");
    let check = ["check", "--baseline", "drip-baseline.txt", "leak.c"];
    project
        .drip(&check)
        .ends_with(0)
        .prints("1 in the baseline");
    let second = LEAK.replace("int leaks", "int leaks_too");
    project.write("leak.c", &format!("{LEAK}{second}"));
    project
        .drip(&check)
        .ends_with(1)
        .prints("1 leak in 2 functions")
        .prints("leaks_too");
    project.write("leak.c", &second);
    let said = project.drip(&["baseline", "update", "leak.c"]).ends_with(0);
    said.prints("1 findings accepted, 1 new, 1 gone");
    project.drip(&check).ends_with(0);
}

#[test]
fn since_shows_only_what_touches_changed_lines() {
    let project = Project::new(&[("leak.c", LEAK)]);
    project.git(&["init", "-q"]);
    project.git(&["add", "leak.c"]);
    let commit = [
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@b",
        "commit",
        "-q",
        "-m",
        "one",
    ];
    project.git(&commit);
    let check = ["check", "--since", "HEAD", "leak.c"];
    project
        .drip(&check)
        .ends_with(0)
        .prints("1 outside of the changed lines");
    let second = LEAK.replace("int leaks", "int leaks_too");
    project.write("leak.c", &format!("{LEAK}{second}"));
    project
        .drip(&check)
        .ends_with(1)
        .prints("1 leak in")
        .prints("leaks_too");
    project.write("new.c", &LEAK.replace("int leaks", "int leaks_new"));
    let said = project
        .drip(&["check", "--since", "HEAD", "new.c"])
        .ends_with(1);
    said.prints("leaks_new");
    project
        .drip(&["check", "--since", "nonsense", "leak.c"])
        .ends_with(2)
        .complains("git");
}

#[test]
fn allocators_of_the_project_are_known_from_the_configuration() {
    let source = "void *pool_get(int); void pool_put(void *);\n\
                  int f(int n) {\n  char *p = pool_get(n);\n  if (!p) return 1;\n  p[0] = 1;\n  return p[0];\n}\n\
                  int g(int n) {\n  char *p = pool_get(n);\n  pool_put(p);\n  return 0;\n}\n";
    let project = Project::new(&[("pool.c", source)]);
    project.drip(&["check", "pool.c"]).ends_with(0);
    let text = "[[allocator]]\nalloc = 'pool_get'\nfree = 'pool_put'\n";
    project.write("drip.toml", text);
    let said = project.drip(&["check", "pool.c"]).ends_with(1);
    said.prints("--> pool.c:3:13")
        .prints("released by `pool_put`")
        .prints("1 leak in");
    project.write("drip.toml", &format!("{text}kind = 'arena'\n"));
    project.drip(&["check", "pool.c"]).ends_with(0);
}

#[test]
fn a_build_is_watched() {
    let project = Project::new(&[("leak.c", LEAK)]);
    let said = project
        .drip(&["check", "--", "sh", "-c", "cc -c leak.c -o leak.o"])
        .ends_with(1);
    said.prints("1 of 1 file read");
    assert!(project.path("leak.o").is_file());
    let said = project.drip(&["capture", "-o", "bitcode", "--", "sh", "-c", "cc -c leak.c"]);
    said.ends_with(0).prints("1 of 1 files captured");
    project.drip(&["check", "bitcode"]).ends_with(1);
    let other = Project::new(&[("clean.c", CLEAN)]);
    other
        .drip(&["check", "--", "false"])
        .ends_with(2)
        .complains("the build failed");
    let said = other.drip(&["check", "--", "sh", "-c", "cc -c clean.c; false"]);
    said.ends_with(3).prints("the build failed");
}

#[test]
fn dumps_show_the_program_and_its_summaries() {
    let project = Project::new(&[("leak.c", LEAK), ("clean.c", CLEAN)]);
    let both = ["dump", "--program", "leak.c", "clean.c"];
    project
        .drip(&both)
        .ends_with(0)
        .prints("@leaks(")
        .prints("@clean(");
    let one = project.drip(&[
        "dump",
        "--program",
        "--function",
        "clean",
        "leak.c",
        "clean.c",
    ]);
    assert!(
        !one.ends_with(0)
            .prints("@clean(")
            .stdout
            .contains("@leaks(")
    );
    let said = project.drip(&["dump", "--program", "--stats", "--jobs", "1", "leak.c"]);
    let said = said.ends_with(0).prints("bodies 1\n").prints("verified\n");
    assert!(!said.stdout.contains("@leaks("));
    project
        .drip(&["dump", "--summary", "leak.c"])
        .ends_with(0)
        .prints("leaks:\n    ");
    let said = project.drip(&["dump", "--summary", "--function", "nobody", "leak.c"]);
    said.ends_with(2).complains("no function `nobody`");
}

#[test]
fn small_commands_do_their_work() {
    let project = Project::new(&[("clean.c", CLEAN)]);
    project.drip(&["init"]).ends_with(0);
    project.drip(&["init"]).ends_with(2).complains("exists");
    project.drip(&["check", "clean.c"]).ends_with(0);
    project
        .drip(&["doctor"])
        .ends_with(0)
        .prints("clang")
        .prints("drip.toml");
    project
        .drip(&["models", "list", "--contains", "reallocarray"])
        .ends_with(0)
        .prints("free arg0");
    project
        .drip(&["models", "test", "clean.c"])
        .ends_with(0)
        .prints("0 don't fit");
    project
        .drip(&["completions", "bash"])
        .ends_with(0)
        .prints("complete");
    project.drip(&["man"]).ends_with(0).prints(".TH drip");
    project.drip(&["man", "pages"]).ends_with(0);
    assert!(project.read("pages/drip-check.1").contains("output"));
    project
        .drip(&["clean"])
        .ends_with(0)
        .prints("1 results removed");
    project.drip(&["ledger"]).ends_with(2);
}

#[test]
fn counts_and_times_go_to_standard_error() {
    let project = Project::new(&[("leak.c", LEAK)]);
    let said = project.drip(&["check", "-q", "--statistics", "--time-passes", "leak.c"]);
    let said = said
        .ends_with(1)
        .complains("functions")
        .complains(" s  analyse");
    assert!(!said.stdout.contains("allocation sites"), "quiet");
    let said = project
        .drip(&["check", "-q", "--statistics=json", "leak.c"])
        .ends_with(1);
    let value: serde_json::Value = serde_json::from_str(&said.stderr).unwrap();
    assert_eq!(value["functions"], 1);
}

/// A statement is only proposed where it frees the block on every path that comes by.
#[test]
fn proposals_are_safe() {
    let cases = [
        (
            "early",
            "char *p = malloc(9); if (!p) return -1; if (n)\n return -2; free(p); return 0;",
            Some("free(p);"),
        ),
        (
            "overwritten",
            "char *p = malloc(9); n = 3;\n p = NULL; return p == NULL;",
            Some("free(p);"),
        ),
        (
            "in_loop",
            "char *p = NULL; while (n--)\n p = malloc(9); free(p); return 0;",
            None,
        ),
        (
            "freed_before",
            "char *p = malloc(9); if (!p) return -1; if (n) free(p);\n return 0;",
            None,
        ),
        (
            "handed_over",
            "char *p = malloc(9); if (!p) return -1; if (out) *out = p;\n return 0;",
            None,
        ),
        (
            "used",
            "char *p = malloc(9); if (!p) return -1; *p = 3;\n return *p;",
            None,
        ),
        (
            "other_block",
            "char *p = malloc(9); while (n--)\n p = q; return 0;",
            None,
        ),
    ];
    for (name, body, proposal) in cases {
        let text = format!(
            "#include <stdlib.h>\nint {name}(int n, char **out, char *q)\n{{\n{body}\n}}\n"
        );
        let project = Project::new(&[("a.c", &text)]);
        let said = project.drip(&["check", "-q", "a.c"]).ends_with(1);
        let expected = proposal.map(|statement| format!("put `{statement}` before this line"));
        match expected {
            Some(expected) => drop(said.prints(&expected)),
            None => assert!(!said.stdout.contains("put `"), "{name}:\n{}", said.stdout),
        }
    }
}

#[test]
fn either_engine_tells_what_it_has_read() {
    let project = Project::new(&[("leak.c", LEAK)]);
    for engine in ["staged", "saber"] {
        let said = project.drip(&["check", "--engine", engine, "leak.c"]);
        said.ends_with(1).prints("1 leak in 1 function ");
    }
}
