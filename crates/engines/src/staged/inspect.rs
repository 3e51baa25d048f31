//! What the engine knows of one function, phase by phase: for dumps, and for those who work on the engine.

use drip_base::Watch;
use drip_flow::UseFlow;
use drip_models::Library;
use drip_program::{FuncId, Program};

use super::driver::Facts;
use super::function::inspected;

/// The phases of one function as text.
pub struct Inspection {
    /// Objects, cells and points-to sets.
    pub cells: String,
    pub memory_ssa: String,
    /// Per fresh object: where it is allocated, and its use-flow graph.
    pub flows: Vec<(String, UseFlow)>,
}

/// Analyses the program and shows what is known of `func`; `None` if it has no body.
pub fn inspect(program: &Program, library: &Library, func: FuncId) -> Option<Inspection> {
    let body = program.funcs[func].body.as_ref()?;
    let facts = Facts::collect(program, library, true);
    let (_, computed) = facts.analyse_all(&Watch::default());
    Some(inspected(&facts.context(&computed), func, body))
}

impl Inspection {
    /// The use-flow graphs as text.
    pub fn flows_as_text(&self) -> String {
        self.flows
            .iter()
            .map(|(title, flow)| format!("{title}\n{flow}\n"))
            .collect()
    }

    /// The use-flow graphs for graphviz, one digraph each.
    pub fn flows_as_dot(&self) -> String {
        self.flows
            .iter()
            .map(|(title, flow)| flow.dot(title))
            .collect()
    }
}
