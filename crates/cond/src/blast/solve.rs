//! The loop around the SAT solver.
//!
//! Two axioms are added only when a model breaks them, because most queries never need them: equal arguments give equal
//! results, and addresses of different objects have different high halves. For the second, the solver is first asked
//! with the objects' default addresses as assumptions, which nearly every feasible query accepts.

use std::collections::BTreeMap;

use super::encode::{EncodedApp, Encoder, LeafFacts};
use super::gates::{Bit, Gates};
use super::sat::{SatResult, Solver};
use super::words::Word;
use crate::Terms;
use crate::address::{LOW_BITS, default_address};
use crate::answer::{Budget, Cost};
use crate::eval::Assignment;
use crate::term::{FnKey, ObjKey, Sort, TermId};

/// What bit-blasting found.
#[derive(Debug)]
pub(crate) enum Outcome {
    Feasible(Assignment),
    Infeasible,
    OutOfFuel,
}

/// Decides the conjunction.
pub(crate) fn solve(
    terms: &Terms,
    conjuncts: &[TermId],
    facts: &LeafFacts,
    budget: &Budget,
    cost: &mut Cost,
) -> Outcome {
    let mut encoder = Encoder::new(terms, facts, budget.sat_clauses);
    encoder.assert_all(conjuncts);
    let mut solver = Solver::new(budget.sat_conflicts);
    let outcome = run(&mut encoder, &mut solver, budget);
    cost.clauses += encoder.gates.clause_count() as u64;
    cost.conflicts += solver.conflicts();
    outcome
}

fn run(encoder: &mut Encoder<'_>, solver: &mut Solver, budget: &Budget) -> Outcome {
    let mut assumptions = default_high_halves(&encoder.addresses);
    for _ in 0..=budget.lemma_rounds {
        if encoder.gates.exhausted {
            return Outcome::OutOfFuel;
        }
        if encoder.gates.contradictory {
            return Outcome::Infeasible;
        }
        solver.feed(&encoder.gates);
        match solver.solve(&assumptions) {
            SatResult::OutOfFuel => return Outcome::OutOfFuel,
            SatResult::Unsatisfiable
                if assumptions.is_empty() || solver.refuted_without_assumptions() =>
            {
                return Outcome::Infeasible;
            }
            SatResult::Unsatisfiable => assumptions.clear(),
            SatResult::Satisfiable => {
                let before = encoder.gates.clause_count();
                separate_addresses(encoder, solver);
                relate_results(encoder, solver);
                // Addresses whose high halves are known to be equal contradict each other without a clause.
                let is_open = encoder.gates.exhausted || encoder.gates.contradictory;
                if encoder.gates.clause_count() == before && !is_open {
                    return Outcome::Feasible(read_model(encoder, solver));
                }
            }
        }
    }
    Outcome::OutOfFuel
}

fn high_half(address: &[Bit]) -> &[Bit] {
    address.get(LOW_BITS as usize..).unwrap_or(&[])
}

/// The assumption that every object lies at its default address; none are needed for a single object.
fn default_high_halves(addresses: &[(ObjKey, Word)]) -> Vec<Bit> {
    if addresses.len() < 2 {
        return Vec::new();
    }
    let mut assumptions = Vec::new();
    for (object, word) in addresses {
        let value = default_address(*object) >> LOW_BITS;
        for (i, &bit) in high_half(word).iter().enumerate() {
            let wanted = if value >> i & 1 == 1 { bit } else { !bit };
            match wanted.as_constant() {
                Some(true) => {}
                // The address is partly known already: leave the choice to the solver.
                Some(false) => return Vec::new(),
                None => assumptions.push(wanted),
            }
        }
    }
    assumptions
}

fn read_word(solver: &Solver, word: &[Bit]) -> u64 {
    word.iter().enumerate().fold(0, |value, (i, &bit)| {
        value | u64::from(solver.value(bit)) << i
    })
}

/// States that addresses differ, for each pair that has the same high half in the model.
fn separate_addresses(encoder: &mut Encoder<'_>, solver: &Solver) {
    let mut by_value: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (index, (_, word)) in encoder.addresses.iter().enumerate() {
        by_value
            .entry(read_word(solver, high_half(word)))
            .or_default()
            .push(index);
    }
    for group in by_value.values() {
        for (at, &i) in group.iter().enumerate() {
            for &j in group.get(at + 1..).unwrap_or(&[]) {
                let (Some((_, x)), Some((_, y))) =
                    (encoder.addresses.get(i), encoder.addresses.get(j))
                else {
                    continue;
                };
                let (x, y) = (high_half(x).to_vec(), high_half(y).to_vec());
                let equal = encoder.gates.word_equal(&x, &y);
                encoder.gates.clause(&[!equal]);
            }
        }
    }
}

/// States congruence, for each pair of applications that breaks it in the model.
fn relate_results(encoder: &mut Encoder<'_>, solver: &Solver) {
    let mut seen: BTreeMap<(FnKey, Sort, Vec<u64>), (usize, u64)> = BTreeMap::new();
    let mut broken = Vec::new();
    for (index, app) in encoder.apps.iter().enumerate() {
        let args = app.args.iter().map(|arg| read_word(solver, arg)).collect();
        let value = read_word(solver, &app.result);
        let &mut (first, known) = seen
            .entry((app.function, app.sort, args))
            .or_insert((index, value));
        if known != value {
            broken.push((first, index));
        }
    }
    for (i, j) in broken {
        let (Some(x), Some(y)) = (encoder.apps.get(i), encoder.apps.get(j)) else {
            continue;
        };
        state_congruence(&mut encoder.gates, x, y);
    }
}

fn state_congruence(gates: &mut Gates, x: &EncodedApp, y: &EncodedApp) {
    let same_args: Vec<Bit> = x
        .args
        .iter()
        .zip(&y.args)
        .map(|(a, b)| gates.word_equal(a, b))
        .collect();
    let same_args = gates.and_all(&same_args);
    for (&a, &b) in x.result.iter().zip(&y.result) {
        gates.clause(&[!same_args, !a, b]);
        gates.clause(&[!same_args, a, !b]);
    }
}

fn read_model(encoder: &Encoder<'_>, solver: &Solver) -> Assignment {
    let mut model = Assignment::new();
    for (sym, word) in &encoder.syms {
        model.set_sym(*sym, read_word(solver, word));
    }
    for (object, word) in &encoder.addresses {
        model.set_address(*object, read_word(solver, word));
    }
    for app in &encoder.apps {
        let args = app.args.iter().map(|arg| read_word(solver, arg)).collect();
        model.set_result(app.function, args, read_word(solver, &app.result));
    }
    model
}
