//! Which stage settles a candidate, as `--statistics=json` tells: each of these shapes is made for one of them.

use crate::common::Project;
use serde_json::Value;

fn statistics(source: &str, code: i32) -> Value {
    let text = format!("#include <stdio.h>\n#include <stdlib.h>\n{source}");
    let project = Project::new(&[("shape.c", &text)]);
    let said = project
        .drip(&["check", "-q", "--statistics=json", "shape.c"])
        .ends_with(code);
    serde_json::from_str(&said.stderr).unwrap()
}

/// The candidates that each stage settled: (refuted, confirmed) by filter, intervals, SAT and region.
fn settled(statistics: &Value) -> [(u64, u64); 4] {
    ["filter", "intervals", "sat", "region"].map(|stage| {
        let counts = &statistics["settled"][stage];
        let count = |name: &str| counts[name].as_u64().unwrap();
        (count("refuted"), count("confirmed"))
    })
}

fn undecided(statistics: &Value) -> u64 {
    statistics["settled"]["undecided"].as_u64().unwrap()
}

const NOTHING: (u64, u64) = (0, 0);
const REFUTED: (u64, u64) = (1, 0);
const CONFIRMED: (u64, u64) = (0, 1);

/// Both sides free: no path loses the block, whatever the condition is.
#[test]
fn freed_on_both_sides_asks_no_solver() {
    let counts = statistics(
        "int f(int c) { char *p = malloc(4); if (c) { putchar(1); free(p); } else { free(p); } return 0; }",
        0,
    );
    assert_eq!(
        (&counts["sites"], &counts["candidates"]),
        (&1.into(), &0.into())
    );
    assert_eq!(counts["queries"], 0, "{counts}");
}

/// Allocated and freed under the same condition: a and not a.
#[test]
fn same_condition_twice_is_settled_by_the_filter() {
    let counts = statistics(
        "int f(int c) { char *p = 0; if (c) p = malloc(4); putchar(c); if (c) free(p); return 0; }",
        0,
    );
    assert_eq!(counts["candidates"], 1, "{counts}");
    assert_eq!(settled(&counts), [REFUTED, NOTHING, NOTHING, NOTHING]);
}

/// `n > 10`, then not (`n > 5` and `n != 7` and `p`).
#[test]
fn bounds_are_settled_by_intervals() {
    let counts = statistics(
        "int f(int n) { char *p = 0; if (n > 10) p = malloc(n); putchar(n); \
         if (n > 5 && n != 7 && p) free(p); return 0; }",
        0,
    );
    assert_eq!(counts["candidates"], 1, "{counts}");
    assert_eq!(settled(&counts), [NOTHING, REFUTED, NOTHING, NOTHING]);
    assert_eq!(counts["stages"]["sat"]["infeasible"], 0);
}

/// An odd number's square is odd.
#[test]
fn bits_are_settled_by_sat() {
    let counts = statistics(
        "int f(unsigned n) { char *p = 0; if (n & 1) p = malloc(4); if ((n * n) & 1) free(p); return 0; }",
        0,
    );
    assert_eq!(counts["candidates"], 1, "{counts}");
    assert_eq!(settled(&counts), [NOTHING, NOTHING, REFUTED, NOTHING]);
    assert_ne!(counts["stages"]["sat"]["infeasible"], 0);
}

/// A leak on a path of its own: the condition is decided, and the block is reported.
#[test]
fn a_real_leak_is_confirmed() {
    let counts = statistics(
        "int f(int n) { char *p = malloc(4); if (!p) return 1; if (n > 10) return 2; free(p); return 0; }",
        1,
    );
    assert_eq!(counts["candidates"], 1, "{counts}");
    assert_eq!(settled(&counts)[1], CONFIRMED, "{counts}");
}

/// Five independent decisions add up; the block is freed unless they add up to `wanted`.
fn sum_of_decisions(wanted: u32) -> String {
    let mut text = String::from("int f(int a, int b, int c, int d, int e) {\n");
    text.push_str("  char *p = malloc(4); int n = 0;\n  if (!p) return 1;\n");
    for (bit, name) in ["a", "b", "c", "d", "e"].iter().enumerate() {
        text.push_str(&format!(
            "  if ({name} > 3) {{ n += {}; putchar({name}); }}\n",
            1 << bit
        ));
    }
    text.push_str(&format!(
        "  if (n != {wanted}) {{ free(p); return 2; }}\n  return 0;\n}}\n"
    ));
    text
}

/// One of 32 paths loses it: too many to try them one by one.
#[test]
fn one_path_of_many_is_found_by_the_region() {
    let counts = statistics(&sum_of_decisions(29), 1);
    assert_eq!(
        settled(&counts),
        [NOTHING, NOTHING, NOTHING, CONFIRMED],
        "{counts}"
    );
    assert_eq!(counts["regions"]["confirmed"], 1);
}

/// None of them does: the region is refuted, and the object is not left undecided.
#[test]
fn no_path_of_many_is_refuted_by_the_region() {
    let counts = statistics(&sum_of_decisions(32), 0);
    assert_eq!(
        settled(&counts),
        [NOTHING, NOTHING, NOTHING, REFUTED],
        "{counts}"
    );
    assert_eq!(undecided(&counts), 0);
    assert_eq!(counts["regions"]["refuted"], 1);
}

/// The same behind a loop: what it does to its counter is not known, but the sum has nothing to do with it.
#[test]
fn loops_stand_for_any_number_of_turns() {
    let with_loop = |wanted| {
        let text = sum_of_decisions(wanted);
        text.replace(
            "  if (n !=",
            "  for (int i = 0; i < a; i++) putchar(i);\n  if (n !=",
        )
    };
    let counts = statistics(&with_loop(29), 1);
    assert_eq!(counts["regions"]["confirmed"], 1, "{counts}");
    let counts = statistics(&with_loop(32), 0);
    assert_eq!(undecided(&counts), 0, "{counts}");
}
