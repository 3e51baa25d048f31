//! Which engine looks for leaks, and how it is run.

use clap::{Args, ValueEnum};
use drip_base::Watch;
use drip_engines::{Analysis, saber, staged};
use drip_models::Library;
use drip_program::Program;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// Function by function, by summaries and feasible paths
    #[default]
    Staged,
    /// The whole program at once, by value flows and guards
    Saber,
}

impl Engine {
    pub fn name(self) -> &'static str {
        match self {
            Engine::Staged => "staged",
            Engine::Saber => "saber",
        }
    }
}

#[derive(Clone, Debug, Default, Args)]
pub struct EngineArgs {
    /// The engine that looks for leaks
    #[arg(long, value_enum, default_value_t, value_name = "ENGINE")]
    pub engine: Engine,
    /// SABER gives a source up if more nodes than this lead to its deallocations
    #[arg(long, value_name = "N", default_value_t = saber::Options::default().slice_nodes)]
    pub slice_nodes: usize,
    /// Look at what `main` still holds at its end, too.
    #[arg(skip)]
    pub held_at_end: bool,
}

/// An engine's result; SABER has counts of its own.
pub struct Outcome {
    pub analysis: Analysis,
    pub saber: Option<saber::Statistics>,
}

impl EngineArgs {
    /// SABER knows nothing before it has seen everything: one that is stopped early has no findings.
    pub fn run(&self, program: &Program, library: &Library, watch: &Watch) -> Outcome {
        match self.engine {
            Engine::Staged => Outcome {
                analysis: staged::run_watched(
                    program,
                    library,
                    &staged::Options {
                        held_at_end: self.held_at_end,
                    },
                    watch,
                ),
                saber: None,
            },
            Engine::Saber => {
                let options = saber::Options {
                    slice_nodes: self.slice_nodes,
                };
                let (analysis, statistics) = saber::run_watched(program, library, &options, watch);
                Outcome {
                    analysis,
                    saber: Some(statistics),
                }
            }
        }
    }
}
