//! Units that one process has compiled give the same findings, names and ledger as units compiled one by one.

use super::common::Project;

/// For which every unit is compiled for itself: it does not show what it starts.
const SINGLE_CLANG: &str =
    "#!/bin/sh\nif [ \"$1\" = '-###' ]; then exit 1; fi\nexec CLANG \"$@\"\n";

/// What could differ: structures of one name with several shapes in files of their own, a header with a function that leaks, code that
/// no line of the source makes, and sources of one name in two directories.
fn project() -> Project {
    let project = Project::new(&[
        (
            "inc/pair.h",
            "#include <stdlib.h>\nstruct pair { void *a, *b; };\nstatic inline void lose(int n) { if (n) malloc(7); }\n",
        ),
        (
            "src/a.c",
            "#include \"pair.h\"\nstruct state { char *text; int n; };\nint a(int n) { struct state s = {malloc(3), n}; lose(n); return s.n; }\n",
        ),
        (
            "src/b.c",
            "#include \"pair.h\"\nstruct state { int n; long m; void *text; };\nint b(int n) { struct state s = {n, 2, malloc(4)}; free(s.text); lose(n); return n; }\n",
        ),
        (
            "src/c.c",
            "#include <pair.h>\nint c(struct pair *p) { struct pair q = {malloc(8), p}; *p = q; return p->a != 0; }\n",
        ),
        (
            "lib/a.c",
            "#include \"pair.h\"\nint d(int n) { struct { int *x, y; } v = {malloc(5), n}; { struct pair w = {&v, 0}; v.y += w.b == 0; } return v.y; }\n",
        ),
        (
            "lib/main.c",
            "#include \"pair.h\"\nint a(int), b(int), c(struct pair *), d(int);\nint main(int n, char **v) { struct pair p; c(&p); lose(n); return a(n) + b(n) + d(n); }\n",
        ),
        (
            "cxx/one.cpp",
            "#include <new>\nstruct base { virtual ~base(); int *p; }; base::~base() { }\nstatic base *kept = new base;\nint *e() { base b; b.p = new int; return nullptr; }\nbase &f() { return *kept; }\n",
        ),
        (
            "cxx/two.cpp",
            "struct own { int *p; own() : p(new int(1)) {} };\nstatic own table[3];\nint g() { return *table[1].p; }\n",
        ),
        (
            "cxx/three.cpp",
            "struct own { long n; int *p; own() : n(1), p(new int(2)) {} };\nstatic own all[2];\nint h() { auto f = [] { return new long(1); }; return *f() == all[0].n; }\n",
        ),
    ]);
    let sources = [
        "src/a.c",
        "src/b.c",
        "src/c.c",
        "lib/a.c",
        "lib/main.c",
        "cxx/one.cpp",
        "cxx/two.cpp",
        "cxx/three.cpp",
    ];
    let entries: Vec<String> = sources
        .iter()
        .map(|source| {
            let root = project.path("").display().to_string();
            format!("{{\"directory\": {root:?}, \"file\": {source:?}, \"command\": \"cc -Iinc -c {source}\"}}")
        })
        .collect();
    project.write("compile_commands.json", &format!("[{}]", entries.join(",")));
    project
}

/// Findings and ledger, and the program that they were found in.
fn said(project: &Project, clang: &str) -> (String, String) {
    let with = |words: &[&str]| {
        let tail = ["--no-config", "-j1", "--clang", clang, "-p", "."];
        project.drip(&[words, &tail[..]].concat())
    };
    let report = with(&["check", "-q", "--output-format", "concise"]);
    let ledger = with(&["ledger", "-q"]);
    let program = with(&["dump", "-q", "--program"]);
    (
        format!("{}\n{}", report.stdout, ledger.stdout),
        program.stdout,
    )
}

#[test]
fn batches_give_the_same_findings_as_single_units() {
    for real in ["clang-14", "clang-19"] {
        let (together, alone) = (project(), project());
        alone.executable("single-clang", &SINGLE_CLANG.replace("CLANG", real));
        let single = alone.path("single-clang").display().to_string();
        let places = |project: &Project, text: &str| {
            text.replace(&project.path("").display().to_string(), "ROOT/")
        };
        let (report, program) = said(&together, real);
        let (expected_report, expected_program) = said(&alone, &single);
        assert_eq!(places(&together, &report), places(&alone, &expected_report));
        assert!(
            report.contains("inc/pair.h") && report.contains("src/a.c"),
            "{report}"
        );
        assert!(!report.contains("<unit>"), "{report}");
        // File names of bitcode hold the keys, in which the two differ by nothing but the root.
        let lines = |project: &Project, text: &str| {
            let text = places(project, text);
            let kept = text.lines().filter(|line| !line.contains(".bc\""));
            kept.map(|line| {
                line.replace(
                    project.path("").display().to_string().trim_end_matches('/'),
                    "ROOT",
                )
            })
            .collect::<Vec<_>>()
        };
        let (ours, theirs) = (lines(&together, &program), lines(&alone, &expected_program));
        for (ours, theirs) in ours.iter().zip(&theirs) {
            assert_eq!(ours, theirs);
        }
        assert_eq!(ours.len(), theirs.len());
        assert!(ours.len() > 50 && !program.contains("<unit>"));
    }
}
