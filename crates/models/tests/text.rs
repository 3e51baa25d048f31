//! The language of summaries: what is printed parses back to the same thing.

use drip_models::text::{parse_outcome, parse_summary};
use drip_models::{Class, Family, Library, Subject, Value};

#[test]
fn builtin_models_parse() {
    let library = Library::builtin().expect("models are valid");
    let malloc = library.find("malloc").expect("malloc is modelled");
    assert_eq!(malloc.outcomes.len(), 2);
    assert!(matches!(
        malloc.outcomes[0].ret,
        Value::Fresh { index: 0, .. }
    ));
    assert_eq!(malloc.outcomes[1].ret, Value::Int(0));
    assert!(!library.find("exit").expect("exit is modelled").returns());
    assert_eq!(
        library
            .find("realloc")
            .expect("realloc is modelled")
            .outcomes
            .len(),
        5
    );
}

#[test]
fn every_builtin_outcome_prints_and_parses_back() {
    let library = Library::builtin().expect("models are valid");
    for name in library.names() {
        for outcome in &library.find(name).expect("listed").outcomes {
            let text = outcome.to_string();
            let mut again = parse_outcome(&text).unwrap_or_else(|e| panic!("{name}: {text}: {e}"));
            for (a, b) in again.frees.iter_mut().zip(&outcome.frees) {
                a.family = b.family;
            }
            assert_eq!(&again, outcome, "{name}: {text}");
        }
    }
}

#[test]
fn conditions_and_paths() {
    let outcome =
        parse_outcome("arg0[8][0] != 0 and ret < 0 => ret = -1; free arg0[8]; arg0[8] := null")
            .expect("valid");
    assert_eq!(outcome.when.len(), 2);
    assert_eq!(outcome.when[1].subject, Subject::Ret);
    assert_eq!(outcome.when[1].class, Class::Negative);
    assert_eq!(outcome.frees[0].path.to_string(), "arg0[8]");
    assert_eq!(outcome.writes[0].cell.to_string(), "arg0[8]");
}

#[test]
fn errors_name_the_column() {
    let error =
        parse_summary("ret = fresh0; free", Family::default()).expect_err("free needs a path");
    assert!(error.what.contains("expected argN"), "{error}");
    assert_eq!(error.column, 19);
    assert!(parse_outcome("ret = fresh0 rubbish").is_err());
    assert!(parse_outcome("arg0 := 3").is_err());
}
