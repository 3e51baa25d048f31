//! The phases as text, for dumps.

use drip_base::Watch;
use drip_flow::svfg::Namer;
use drip_models::Library;
use drip_pointer::modref::Tracking;
use drip_program::{FuncId, Program};

use super::driver::Facts;

/// What SABER knows of a program.
pub struct Inspection<'p> {
    facts: Facts<'p>,
}

/// Runs all phases but detection, on all memory as the paper has it; `None` if the watch was stopped.
pub fn inspect<'p>(
    program: &'p Program,
    library: &'p Library,
    watch: &Watch,
) -> Option<Inspection<'p>> {
    let facts = Facts::collect(program, library, Tracking::All, watch)?;
    Some(Inspection { facts })
}

impl Inspection<'_> {
    /// Points-to sets, of one function or of everything.
    pub fn points_to(&self, only: Option<FuncId>) -> String {
        self.facts.points_to.dump(only)
    }

    /// Regions and memory SSA, of all instances of one function or of everything.
    pub fn memory_ssa(&self, only: Option<FuncId>) -> String {
        let mut out = String::new();
        let points_to = &self.facts.points_to;
        for (instance, memory) in self.facts.memories.iter_enumerated() {
            let func = points_to.instances().list[instance].func;
            if let (Some(memory), true) = (memory, only.is_none_or(|only| only == func)) {
                out.push_str(&format!("{}:\n", points_to.instance_name(instance)));
                out.push_str(&memory.dump(points_to));
            }
        }
        out
    }

    fn namer(&self) -> Namer<'_, '_> {
        Namer {
            points_to: &self.facts.points_to,
            memories: &self.facts.memories,
        }
    }

    /// The value-flow graph: one line per edge.
    pub fn svfg(&self, only: Option<FuncId>) -> String {
        self.namer().edges(&self.facts.svfg, only)
    }

    /// The value-flow graph for graphviz.
    pub fn svfg_as_dot(&self, only: Option<FuncId>) -> String {
        self.namer().dot(&self.facts.svfg, only)
    }
}
