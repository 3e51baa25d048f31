//! Large inputs, many threads, broken bytes.

mod load_common;

use drip_program::*;
use load_common::*;

/// A source with many functions of many shapes.
fn large_source(functions: usize) -> String {
    let mut out = String::from(
        "#include <stdlib.h>\n#include <string.h>\nstruct node { struct node *next; char *name; int kind; union { int i; char *s; } u; };\n",
    );
    for n in 0..functions {
        out += &format!(
            "static int helper{n}(struct node *p, int d) {{\n\
               int sum = 0; struct {{ int a; char *b; }} loc; loc.a = d; loc.b = p ? p->name : NULL;\n\
               for (struct node *q = p; q; q = q->next) {{\n\
                 switch (q->kind) {{ case 0: sum += q->u.i; break; case {case}: if (loc.b) sum++; /* fall */ case 2: continue; default: if (sum > {n}) goto out; }}\n\
                 char buf[{len}]; snprintf_like(buf, q->name, d); if (strcmp(buf, loc.b) == 0) loc.a += {n};\n\
               }}\n\
             out: return sum + loc.a; }}\n\
             char *make{n}(struct node **o, int d) {{ struct node *x = malloc(sizeof *x); if (!x) return NULL; memset(x, 0, sizeof *x);\n\
               x->kind = helper{n}(*o, d); x->name = d > {n} ? strdup(\"n{n}\") : NULL; *o = x; return x->name; }}\n",
            case = n + 3,
            len = n % 60 + 4,
        );
    }
    out.replacen(
        "struct node {",
        "int snprintf_like(char *, const char *, int);\nstruct node {",
        1,
    )
}

fn print_with_threads(inputs: &[Input], threads: usize) -> (String, Vec<Problem>) {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .expect("threads");
    let loaded = pool.install(|| load(inputs.to_vec(), &LoadConfig::default()));
    (print_program(&loaded.program), loaded.problems)
}

#[test]
fn a_large_file_is_read_whole_and_verifies() {
    let shop = Workshop::new();
    for version in versions() {
        for way in WAYS {
            let input = shop.compile(version, way, "large.c", &large_source(150), &[]);
            let program = load_clean(vec![input]);
            assert_eq!(
                program.funcs.iter().filter(|f| f.body.is_some()).count(),
                300
            );
            assert!(program.funcs.iter().all(|f| f.unreadable.is_none()));
        }
    }
}

#[test]
fn optimised_input_verifies() {
    let shop = Workshop::new();
    for version in versions() {
        for level in ["-O1", "-O2", "-Os"] {
            let input = shop.compile(version, Way::O0, "large.c", &large_source(40), &[level]);
            let program = load_clean(vec![input]);
            assert_eq!(
                defined(&program),
                40,
                "the static helpers are inlined or gone"
            );
        }
    }
}

fn defined(program: &Program) -> usize {
    let external = program
        .funcs
        .iter()
        .filter(|f| f.linkage == Linkage::External);
    external.filter(|f| f.body.is_some()).count()
}

#[test]
fn the_result_does_not_depend_on_the_number_of_threads() {
    let shop = Workshop::new();
    let version = versions().pop().unwrap_or_default();
    let inputs: Vec<Input> = (0..4)
        .map(|n| {
            let name = format!("u{n}.c");
            let source = format!(
                "{}\nint only{n}(void) {{ return {n}; }}\n",
                large_source(10 + n)
            );
            shop.compile(version, Way::Capture, &name, &source, &[])
        })
        .collect();
    let one = print_with_threads(&inputs, 1);
    assert!(!one.1.is_empty(), "every unit defines make0");
    for threads in [2, 7] {
        assert_eq!(one, print_with_threads(&inputs, threads));
    }
}

#[test]
fn what_is_no_bitcode_is_a_problem_and_the_rest_is_there() {
    let shop = Workshop::new();
    let version = versions().pop().unwrap_or_default();
    let good = shop.compile(
        version,
        Way::Capture,
        "good.c",
        "int f(void) { return 1; }",
        &[],
    );
    let bad = Input {
        path: "bad.bc".into(),
        bytes: b"int f(void);".to_vec(),
    };
    let loaded = load(vec![bad, good], &LoadConfig::default());
    assert_eq!(loaded.problems.len(), 1);
    assert_eq!(loaded.problems[0].file, "bad.bc");
    assert!(loaded.program.find_func("f").is_some());
    assert_eq!(
        load(Vec::new(), &LoadConfig::default()).program.funcs.len(),
        0
    );
}

/// A small generator of pseudo-random numbers, so that failures repeat.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound.max(1)
    }
}

#[test]
fn flipped_and_cut_bytes_end_in_a_problem_or_a_valid_program() {
    let shop = Workshop::new();
    let cpp = "struct R { R(); ~R(); int *p; };\nvoid work(R &);\nint f(int n) { R r; for (int i = 0; i < n; i++) try { work(r); } catch (...) { return *r.p; } return 0; }\n";
    let mut numbers = Numbers(7);
    let mut survived = 0;
    for version in versions() {
        let inputs = [
            shop.compile(version, Way::Capture, "t.c", &large_source(3), &[]),
            shop.compile(version, Way::Mem2reg, "t.cpp", cpp, &[]),
        ];
        for input in inputs {
            for round in 0..150 {
                let mut bytes = input.bytes.clone();
                for _ in 0..=round % 3 {
                    let at = numbers.below(bytes.len());
                    bytes[at] ^= 1 << numbers.below(8);
                }
                if round % 10 == 0 {
                    bytes.truncate(numbers.below(input.bytes.len()));
                }
                let path = format!("round {round}");
                let loaded = load(vec![Input { path, bytes }], &LoadConfig::default());
                let errors = verify(&loaded.program);
                assert_eq!(errors, [], "clang{version} round {round}");
                survived += usize::from(loaded.problems.is_empty());
            }
        }
    }
    assert!(survived > 0);
}
