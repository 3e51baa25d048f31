//! The fast solver against its naive twin, on random programs; and every constraint against both solutions.

use std::collections::BTreeMap;

use drip_base::Watch;
use drip_models::Library;
use drip_pointer::andersen::{PointsTo, analyse, analyse_naively, check};
use drip_program::ValueId;
use drip_program::testing::{Shape, random_program};
use proptest::prelude::*;

/// Sets of all values and of all memory, by name; nothing for those that are empty.
fn solution(points_to: &PointsTo<'_>) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    for (instance, data) in points_to.instances().list.iter_enumerated() {
        let Some(body) = &points_to.system.program.funcs[data.func].body else {
            continue;
        };
        for value in (0..body.value_count()).map(ValueId::new) {
            let set = points_to.value(instance, value);
            if !set.is_empty() {
                let name = format!("{}.{value}", points_to.instance_name(instance));
                out.insert(name, points_to.set_text(set));
            }
        }
        for (inst, _) in body.insts.iter_enumerated() {
            let callees = points_to.callees(instance, inst);
            if !callees.is_empty() {
                let name = format!("{} calls at {inst}", points_to.instance_name(instance));
                out.insert(name, format!("{callees:?}"));
            }
        }
    }
    for (_, _, loc) in points_to.locations() {
        let set = points_to.content(loc);
        if !set.is_empty() {
            out.insert(points_to.loc_name(loc), points_to.set_text(set));
        }
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_fast_solver_equals_the_naive_one(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        let program = random_program(&bytes, &Shape::default());
        let library = Library::builtin().expect("the built-in models are right");
        let fast = analyse(&program, &library, &Watch::default()).expect("nobody stops it");
        let naive = analyse_naively(&program, &library);
        prop_assert_eq!(check(&naive, 1), []);
        prop_assert_eq!(check(&fast, 1), []);
        prop_assert_eq!(solution(&fast), solution(&naive));
    }
}
