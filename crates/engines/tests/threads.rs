//! The number of threads changes nothing: the same program gives the same analysis, byte by byte.

mod common;

use drip_engines::staged;
use std::fmt::Write as _;

/// Functions `f0`…; each calls some of the next layer, a few call back (recursion), some call through a table.
const FUNCTIONS: usize = 200;

/// Functions per layer: what can be analysed at the same time.
const WIDTH: usize = 20;

/// A program whose call graph has several levels with many functions on each, so that threads have something to race for.
fn source() -> String {
    let mut text = String::from("typedef char *step(char *, int);\n");
    for i in 0..FUNCTIONS {
        let _ = writeln!(text, "char *f{i}(char *, int);");
    }
    let table: Vec<String> = (0..8).map(|i| format!("f{}", FUNCTIONS - 1 - i)).collect();
    let _ = writeln!(
        text,
        "static step *const table[] = {{{}}};",
        table.join(", ")
    );
    for i in 0..FUNCTIONS {
        let _ = writeln!(text, "char *f{i}(char *p, int n) {{\n{}}}", body(i));
    }
    text.push_str("int main(int c, char **v) { f0(malloc(c), c); return 0; }\n");
    text
}

fn body(i: usize) -> String {
    let near = i + WIDTH + i % 3;
    let far = i + WIDTH + (i * 5) % 11;
    if far >= FUNCTIONS {
        return format!("  if (n > {i}) {{ free(p); return malloc(n); }}\n  return p;\n");
    }
    match i % 6 {
        // Lost when the second call returns null.
        0 => format!(
            "  char *q = malloc(n);\n  if (!q) return p;\n  char *r = f{near}(p, n - 1);\n  \
             if (!r) return NULL;\n  free(q);\n  return f{far}(r, n);\n"
        ),
        1 => {
            format!("  if (n & {i}) {{ free(p); p = f{near}(NULL, n); }}\n  return f{far}(p, n);\n")
        }
        // Its own caller: recursion over two functions.
        2 if i % 30 == 2 && i > WIDTH => format!(
            "  if (n > 3) return f{}(p, n - 2);\n  return f{near}(p, n);\n",
            i - WIDTH
        ),
        2 => format!("  p = f{near}(p, n);\n  return n > {i} ? f{far}(p, n) : p;\n"),
        3 => format!("  char *q = table[n & 7](p, n);\n  return f{far}(q, n);\n"),
        4 => format!(
            "  char *q = f{far}(NULL, n);\n  if (n == {i}) free(q);\n  return f{near}(p, n);\n"
        ),
        _ => format!("  char *q = malloc({i});\n  free(p);\n  return n ? q : f{near}(q, n);\n"),
    }
}

#[test]
fn analysis_is_the_same_on_any_number_of_threads() {
    let program = common::program("threads", &source());
    let library = common::library();
    let analyse = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("threads can be started");
        let analysis = pool.install(|| staged::run(&program, &library));
        assert!(analysis.findings.len() > 10, "{:?}", analysis.statistics);
        serde_json::to_string_pretty(&analysis).expect("an analysis can be written")
    };
    let expected = analyse(1);
    for threads in [1, 2, 4, 2, 4, 4] {
        let got = analyse(threads);
        let differs = expected.lines().zip(got.lines()).find(|(a, b)| a != b);
        assert_eq!(differs, None, "with {threads} threads");
        assert!(expected == got, "with {threads} threads");
    }
}
