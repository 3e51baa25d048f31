//! An address that can point to more than the solver keeps apart.

use drip_base::Watch;
use drip_models::Library;
use drip_pointer::andersen::{PointsTo, analyse, check};
use drip_program::Program;
use drip_program::testing::program;

/// `count` variables whose addresses all go through one cell, and what is done with what is read from there.
fn through_one_cell(count: usize, used: &str) -> Program {
    let mut text = String::from("global @cell internal ptr = zero\n");
    let mut fill = String::new();
    for index in 0..count {
        text.push_str(&format!("global @v{index} internal ptr = zero\n"));
        fill.push_str(&format!("store @v{index}, @cell\n"));
    }
    text.push_str(&format!(
        "func @main() -> i32 {{\n{fill}%p = load ptr @cell\n{used}\nret i32 0\n}}\n"
    ));
    program(&text)
}

#[track_caller]
fn solved<'p>(program: &'p Program, library: &'p Library) -> PointsTo<'p> {
    let points_to = analyse(program, library, &Watch::default()).expect("nobody stops it");
    assert_eq!(check(&points_to, 1), []);
    points_to
}

fn library() -> Library {
    Library::builtin().expect("the built-in models are right")
}

const READ_AND_WRITTEN: &str = "%q = load ptr %p\nstore %q, %p";

#[test]
fn few_locations_are_kept_apart() {
    let (program, library) = (through_one_cell(400, READ_AND_WRITTEN), library());
    let points_to = solved(&program, &library);
    assert_eq!(points_to.statistics.wide, 0);
    assert!(points_to.outside().len() < 400);
}

#[test]
fn an_address_of_too_many_locations_is_given_up_and_all_of_them_are_handed_over() {
    let (program, library) = (through_one_cell(600, READ_AND_WRITTEN), library());
    let points_to = solved(&program, &library);
    assert!(points_to.statistics.wide > 0);
    assert!(points_to.outside().len() >= 600);
}

#[test]
fn a_pointer_that_is_only_passed_on_keeps_its_set() {
    let (program, library) = (
        through_one_cell(600, "%same = ptradd %p, 0\nstore %same, @cell"),
        library(),
    );
    let points_to = solved(&program, &library);
    assert_eq!(points_to.statistics.wide, 0);
}

#[test]
fn a_stopped_solver_has_no_solution() {
    let (program, library) = (through_one_cell(2, READ_AND_WRITTEN), library());
    let watch = Watch::default();
    watch.stop();
    assert!(analyse(&program, &library, &watch).is_none());
}
