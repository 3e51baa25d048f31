//! What a look at one object costs: nodes of its use-flow graph, whatever else the function does.

mod common;

use drip_engines::staged;
use std::fmt::Write as _;

/// The birth, what is done with the block, and a way around each.
const FEW: usize = 8;

#[test]
fn paths_that_come_round_without_the_object_end() {
    let mut cases = String::new();
    for k in 1..=40 {
        // All blocks are held by one variable in memory: each case concerns every object.
        let _ = writeln!(
            cases,
            "case {k}: v = malloc({k}); show(&v); free(v); break;"
        );
    }
    let source = format!(
        "void show(const char *const *);
        void run(void) {{ char *v = NULL; for (;;) switch (getchar()) {{ {cases} default: return; }} }}"
    );
    let program = common::program("looks_round", &source);
    let func = program.funcs.iter_enumerated();
    let func = func
        .map(|(func, _)| func)
        .find(|&f| program.func_name(f) == "run");
    let func = func.expect("the program has the function");
    let looked = staged::inspect(&program, &common::library(), func);
    let looked = looked.expect("the function has a body");
    assert_eq!(looked.flows.len(), 40);
    for (title, flow) in &looked.flows {
        assert!(flow.nodes.len() <= FEW, "{title}:\n{flow}");
    }
}
