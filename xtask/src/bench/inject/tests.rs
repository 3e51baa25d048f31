//! Mutants of a small program: the verifier accepts them, and drip's answer is the expected one.

use super::equivalent::{Change, Rule};
use super::sites::{FreeCall, Root, free_calls, origins};
use super::{Random, Session, causes, mutate};
use drip_models::Library;
use drip_program::{Program, parse_program, verify};

fn program() -> Program {
    parse_program(include_str!("tests.program")).unwrap()
}

/// All but those of the function that nobody calls.
fn live<'c>(program: &Program, calls: &'c [FreeCall]) -> Vec<&'c FreeCall> {
    let is_live = |call: &&FreeCall| program.func_name(call.func) != "unused";
    calls.iter().filter(is_live).collect()
}

#[test]
fn free_calls_and_their_origins_are_found() {
    let program = program();
    let calls = free_calls(&program, &[]);
    let shown: Vec<(&str, Root)> = calls
        .iter()
        .map(|call| {
            let body = program.funcs[call.func].body.as_ref().unwrap();
            (
                program.func_name(call.func),
                origins(body, call.pointer)[0].root,
            )
        })
        .collect();
    assert!(matches!(shown[0], ("release", Root::Param(0))), "{shown:?}");
    assert!(matches!(shown[1], ("work", Root::Call(_))), "{shown:?}");
}

#[test]
fn mutants_are_well_formed_and_reported() {
    let mut session = Session::new(
        "t".into(),
        String::new(),
        program(),
        Library::builtin().unwrap(),
    );
    let calls = free_calls(&session.program, &[]);
    for change in [Change::Remove, Change::ReturnBefore] {
        for call in live(&session.program, &calls) {
            let body = session.program.funcs[call.func].body.clone().unwrap();
            let changed = match change {
                Change::Remove => mutate::without_call(&body, call.inst),
                Change::ReturnBefore => {
                    mutate::with_return_before(&mut session.program, call.func, &body, call.inst)
                        .unwrap()
                }
            };
            let mut copy = session.program.clone();
            copy.funcs[call.func].body = Some(changed);
            let errors = verify(&copy);
            assert!(errors.is_empty(), "{:?}", errors[0].message);
            let mutant = session.mutant(call, change, &calls).unwrap();
            // A function that frees its argument, or not, without telling its callers: that is only a suspicion.
            let is_suspicion = mutant.cause.as_deref() == Some(causes::SUSPICION)
                && (change, mutant.function.as_str()) == (Change::ReturnBefore, "release");
            let is_reported = mutant.reported.is_some();
            assert!(is_reported != is_suspicion, "{change:?}: {mutant:?}");
        }
    }
}

#[test]
fn dead_functions_are_left_out() {
    let program = program();
    let rule = Rule::new(&program);
    let calls = free_calls(&program, &[]);
    let verdicts: Vec<_> = calls
        .iter()
        .map(|call| rule.excludes(call, Change::Remove, &calls))
        .collect();
    assert_eq!(verdicts, [None, None, Some("dead code")]);
}

/// `if (work(n)) exit(1);`: what is lost before `work` returns 1 nobody misses.
#[test]
fn callers_that_end_the_process_are_asked() {
    let program = parse_program(include_str!("tests_exit.program")).unwrap();
    let rule = Rule::new(&program);
    let calls = free_calls(&program, &[]);
    let verdicts = |change| -> Vec<_> {
        calls
            .iter()
            .map(|call| rule.excludes(call, change, &calls))
            .collect()
    };
    assert_eq!(verdicts(Change::Remove), [Some("process exit"), None]);
    // An early return gives −1.
    let early = verdicts(Change::ReturnBefore);
    assert_eq!(early, [Some("process exit"), Some("process exit")]);
}

/// `list = make(n); if (!list) exit(1);`, `return make(n) ? 0 : 1;` and a `main` that returns what it gets.
#[test]
fn results_are_followed_to_the_end_of_main() {
    let program = parse_program(include_str!("tests_end.program")).unwrap();
    let rule = Rule::new(&program);
    let calls = free_calls(&program, &[]);
    let verdicts: Vec<_> = calls
        .iter()
        .map(|call| rule.excludes(call, Change::Remove, &calls))
        .collect();
    assert_eq!(verdicts, [Some("process exit"), Some("process exit"), None]);
}

#[test]
fn the_order_is_random_but_always_the_same() {
    let items: Vec<usize> = (0..20).collect();
    let first = Random(1).shuffled(&items);
    assert_eq!(first, Random(1).shuffled(&items));
    assert_ne!(first, Random(2).shuffled(&items));
    assert_ne!(first, items);
}
