//! The engine against a slow twin without summaries, on random small call graphs: every function loses what the twin sees it
//! lose.
//!
//! The twin knows more than a summary can say, so that a few programs in a thousand differ: which value a φ has on the way to an
//! exit, whether a pointer that escapes is null there, and code behind conditions that are constant. What is asserted is
//! that these stay rare.
//!
//! `DRIP_TWIN_CASES` programs are compared, from the seed `DRIP_TWIN_SEED`; without them always the same, so that clang's
//! work is in the cache. With `DRIP_TWIN_STRICT` the first program that differs fails the test, made as small as possible.

#[path = "../common/mod.rs"]
mod common;
mod interpreter;
mod language;

use drip_engines::staged;
use language::Program;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

/// Programs compared unless told otherwise.
const CASES: u32 = 300;

/// Of so many programs at most one differs.
const AGREEING: usize = 50;

type Losses = BTreeSet<(String, u32)>;

/// What the twin sees: function and line; `None` beyond its limits.
fn expected(program: &Program, lines: &language::Lines) -> Option<Losses> {
    let mut all = Losses::new();
    for index in 0..program.functions.len() {
        for position in interpreter::losses(program, index)? {
            all.insert((format!("f{index}"), lines.of_function[index][position]));
        }
    }
    Some(all)
}

/// The engine's losses; `None` if it says that it hit a limit.
fn found(source: &str) -> Option<Losses> {
    let program = common::program("inline_twin", source);
    let analysis = staged::run(&program, &common::library());
    let all = analysis.findings.iter();
    let all = all
        .map(|f| (f.primary.function.clone(), f.primary.line))
        .collect();
    (analysis.statistics.functions_limited == 0).then_some(all)
}

#[test]
fn summaries_lose_nothing_and_add_nothing() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let is_strict = std::env::var_os("DRIP_TWIN_STRICT").is_some();
    let cases = number("DRIP_TWIN_CASES").unwrap_or(CASES);
    let config = Config {
        cases,
        failure_persistence: None,
        max_shrink_iters: 4096,
        ..Config::default()
    };
    let mut seed = [7u8; 32];
    seed[..4].copy_from_slice(&number("DRIP_TWIN_SEED").unwrap_or(0).to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
    let (compared, leaks) = (Cell::new(0u32), Cell::new(0));
    let differing: RefCell<Vec<String>> = RefCell::default();
    let result = TestRunner::new_with_rng(config, rng).run(&language::program(), |program| {
        let (source, lines) = program.source();
        let (Some(expected), Some(found)) = (expected(&program, &lines), found(&source)) else {
            return Ok(());
        };
        compared.set(compared.get() + 1);
        leaks.set(leaks.get() + expected.len());
        if expected == found {
            return Ok(());
        }
        let missed: Vec<_> = expected.difference(&found).collect();
        let false_alarms: Vec<_> = found.difference(&expected).collect();
        let text = format!(
            "missed {missed:?}, false alarms {false_alarms:?} in\n{}",
            numbered(&source)
        );
        if is_strict {
            return Err(TestCaseError::fail(text));
        }
        differing.borrow_mut().push(text);
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    // A comparison of nothing would prove nothing.
    assert!(compared.get() > cases / 2 && leaks.get() > compared.get() as usize / 2);
    let differing = differing.into_inner();
    assert!(
        differing.len() * AGREEING <= compared.get() as usize,
        "{} of {} programs differ:\n{}",
        differing.len(),
        compared.get(),
        differing.join("\n")
    );
}

fn numbered(source: &str) -> String {
    let lines = source.lines().zip(language::PRELUDE_LINES + 1..);
    lines
        .map(|(text, line)| format!("{line:>4} {text}\n"))
        .collect()
}
