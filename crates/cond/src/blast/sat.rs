//! The SAT solver behind the bit-blaster.
//!
//! BatSat (MiniSat 2.2 rewritten in Rust): builds everywhere cargo does, and was the fastest of the candidates on many
//! small queries (figures in the crate's README). Conflicts are its fuel; it is deterministic.

use batsat::{
    Callbacks, ClauseKind, Lit, Solver as BatSolver, SolverInterface, SolverOpts, Var, lbool,
};

use super::gates::{Bit, Gates};

/// Counts conflicts and stops at the limit.
#[derive(Default)]
struct Fuel {
    used: u64,
    limit: u64,
}

impl Callbacks for Fuel {
    fn on_new_clause(&mut self, _clause: &[Lit], source: ClauseKind) {
        if source == ClauseKind::Learnt {
            self.used += 1;
        }
    }

    fn stop(&self) -> bool {
        self.used >= self.limit
    }
}

/// An incremental SAT solver that is fed from [`Gates`].
pub(crate) struct Solver {
    inner: BatSolver<Fuel>,
    fed: usize,
}

/// What the solver found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SatResult {
    Satisfiable,
    Unsatisfiable,
    OutOfFuel,
}

impl Solver {
    pub(crate) fn new(conflict_limit: u64) -> Self {
        let fuel = Fuel {
            used: 0,
            limit: conflict_limit,
        };
        Solver {
            inner: BatSolver::new(SolverOpts::default(), fuel),
            fed: 0,
        }
    }

    /// Takes over the clauses made since the last call.
    pub(crate) fn feed(&mut self, gates: &Gates) {
        let mut clause: Vec<Lit> = Vec::new();
        for bits in gates.clauses_from(self.fed) {
            clause.clear();
            for &bit in bits {
                clause.push(self.literal(bit));
            }
            self.inner.add_clause_reuse(&mut clause);
        }
        self.fed = gates.clause_count();
    }

    fn literal(&mut self, bit: Bit) -> Lit {
        let var: Var = self.inner.var_of_int(bit.variable());
        Lit::new(var, !bit.is_negated())
    }

    pub(crate) fn solve(&mut self, assumptions: &[Bit]) -> SatResult {
        let assumptions: Vec<Lit> = assumptions.iter().map(|&bit| self.literal(bit)).collect();
        match self.inner.solve_limited(&assumptions) {
            result if result == lbool::TRUE => SatResult::Satisfiable,
            result if result == lbool::FALSE => SatResult::Unsatisfiable,
            _ => SatResult::OutOfFuel,
        }
    }

    /// Whether the last unsatisfiable result used none of the assumptions.
    pub(crate) fn refuted_without_assumptions(&self) -> bool {
        self.inner.unsat_core().is_empty()
    }

    /// The bit's value in the model; bits that no clause mentions are 0.
    pub(crate) fn value(&self, bit: Bit) -> bool {
        if let Some(constant) = bit.as_constant() {
            return constant;
        }
        if bit.variable() >= self.inner.num_vars() {
            return bit.is_negated();
        }
        let var = Var::unsafe_from_idx(bit.variable());
        (self.inner.value_var(var) == lbool::TRUE) != bit.is_negated()
    }

    pub(crate) fn conflicts(&self) -> u64 {
        self.inner.num_conflicts()
    }
}
