//! Order of the phases (SABER fig. 1), and the verdict of every source.

use std::time::Instant;

use drip_base::{IndexVec, Watch};
use drip_flow::svfg::{self, Memories, Node, NodeId, Svfg};
use drip_models::Library;
use drip_pointer::andersen::{self, PointsTo};
use drip_pointer::modref::{Classes, ModRef, Tracking};
use drip_program::noreturn::NoReturn;
use drip_program::{Cfg, FuncId, Op, Program};
use rayon::prelude::*;
use rustc_hash::FxHashSet;

use super::bdd::{Bdds, TooLarge};
use super::condition::Condition;
use super::guard::{Flow, Guards};
use super::report;
use super::slice::{Fate, Slice};
use super::statistics::{Statistics, seconds};
use crate::finding::Analysis;

/// What a user may change.
#[derive(Clone, Debug)]
pub struct Options {
    /// Nodes of a backward slice (SABER §5: "bounded by 100 nodes. A source is ignored if the limit is exceeded").
    pub slice_nodes: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options { slice_nodes: 100 }
    }
}

/// Sources that share one manager of decision diagrams.
const SOURCES_PER_MANAGER: usize = 256;

/// Alternatives of ¬FREED that are shown.
const MAX_CUBES: usize = 3;

/// The phases before detection.
pub struct Facts<'p> {
    pub program: &'p Program,
    pub points_to: PointsTo<'p>,
    pub classes: Classes,
    pub mod_ref: ModRef,
    pub flows: IndexVec<FuncId, Option<Flow>>,
    pub memories: Memories,
    pub svfg: Svfg,
    pub statistics: Statistics,
}

/// A literal of ¬FREED: a condition and its value.
pub type Literal = (Condition, bool);

/// The verdict on one source.
pub struct Detection {
    pub source: NodeId,
    pub verdict: Verdict,
    pub forward: Slice,
}

pub enum Verdict {
    NeverFreed,
    /// ¬FREED as a disjunction of conjunctions; `complete` if nothing is left out.
    Conditional {
        cubes: Vec<Vec<Literal>>,
        complete: bool,
    },
    Freed,
    Global,
    EndsWithProgram,
    SliceTooLarge,
    SearchTooLarge,
    GuardTooLarge,
}

/// Analyses the whole program.
pub fn run(program: &Program, library: &Library) -> (Analysis, Statistics) {
    run_watched(program, library, &Options::default(), &Watch::default())
}

/// The same, until the watch is stopped. Nothing is known before the value-flow graph is there; after that, the verdicts that
/// were reached count.
pub fn run_watched(
    program: &Program,
    library: &Library,
    options: &Options,
    watch: &Watch,
) -> (Analysis, Statistics) {
    let Some(mut facts) = Facts::collect(program, library, Tracking::HeapHolders, watch) else {
        return (Analysis::default(), Statistics::default());
    };
    let start = Instant::now();
    let detections = facts.detect_all(options, watch);
    let analysis = report::analysis(&facts, library, &detections);
    let mut statistics = std::mem::take(&mut facts.statistics);
    count(&facts, &detections, &mut statistics);
    statistics.detection_seconds = seconds(start.elapsed());
    (analysis, statistics)
}

impl<'p> Facts<'p> {
    /// `None` if the watch was stopped meanwhile: half a graph shows leaks that are none.
    pub fn collect(
        program: &'p Program,
        library: &'p Library,
        tracking: Tracking,
        watch: &Watch,
    ) -> Option<Facts<'p>> {
        let start = Instant::now();
        let points_to = andersen::analyse(program, library, watch)?;
        let pre_analysis = start.elapsed();
        let start = Instant::now();
        let classes = Classes::build(&points_to, tracking);
        let mod_ref = ModRef::build(&points_to, &classes, watch)?;
        let flows = control_flow(program, library);
        let cfgs: IndexVec<FuncId, Option<&Cfg>> = flows
            .iter()
            .map(|flow| flow.as_ref().map(|flow| &flow.cfg))
            .collect();
        let inputs = svfg::Inputs {
            points_to: &points_to,
            classes: &classes,
            mod_ref: &mod_ref,
            cfgs: &cfgs,
            watch,
        };
        let memories = svfg::memories(&inputs)?;
        let sparse_ssa = start.elapsed();
        let start = Instant::now();
        let svfg = svfg::build(&inputs, &memories)?;
        let mut facts = Facts {
            program,
            points_to,
            classes,
            mod_ref,
            flows,
            memories,
            svfg,
            statistics: Statistics::default(),
        };
        facts.statistics = characteristics(&facts);
        facts.statistics.pre_analysis_seconds = seconds(pre_analysis);
        facts.statistics.sparse_ssa_seconds = seconds(sparse_ssa);
        facts.statistics.svfg_seconds = seconds(start.elapsed());
        Some(facts)
    }

    /// Verdicts of all sources, in their order; of those that were reached before the watch was stopped.
    pub fn detect_all(&self, options: &Options, watch: &Watch) -> Vec<Detection> {
        let chunks: Vec<&[NodeId]> = self.svfg.sources.chunks(SOURCES_PER_MANAGER).collect();
        let found: Vec<Vec<Detection>> = chunks
            .into_par_iter()
            .map(|sources| {
                let bdds = Bdds::new();
                let detect = |&source| self.detect(options, &bdds, source);
                let sources = sources.iter().take_while(|_| !watch.is_stopped());
                sources.map(detect).collect()
            })
            .collect();
        found.into_iter().flatten().collect()
    }

    /// Some-path, then all-path analysis of one source.
    pub fn detect(&self, options: &Options, bdds: &Bdds, source: NodeId) -> Detection {
        let forward = Slice::forward(&self.svfg, source);
        let verdict = if self.ends_program(source) {
            Verdict::EndsWithProgram
        } else {
            match forward.fate {
                Fate::Global => Verdict::Global,
                Fate::NoSink => Verdict::NeverFreed,
                Fate::TooLarge => Verdict::SearchTooLarge,
                Fate::Sinks => self.all_paths(options, bdds, &forward),
            }
        };
        Detection {
            source,
            verdict,
            forward,
        }
    }

    fn all_paths(&self, options: &Options, bdds: &Bdds, forward: &Slice) -> Verdict {
        let backward = forward.backward();
        if forward.node_count(backward.iter()) > options.slice_nodes {
            return Verdict::SliceTooLarge;
        }
        let mut guards = Guards::new(bdds, &self.points_to, &self.flows);
        guards.hold(&self.svfg, forward);
        let decided = || -> Result<Verdict, TooLarge> {
            let freed = guards.freed(&self.svfg, forward, &backward)?;
            if freed.is_true() {
                return Ok(Verdict::Freed);
            }
            let found = bdds.cubes(&freed.not()?, MAX_CUBES)?;
            let meaning = |(number, value): (u32, bool)| {
                let condition = guards.conditions.get(number as usize)?;
                Some((*condition, value))
            };
            let complete = found.complete;
            let cubes = found
                .list
                .into_iter()
                .map(|cube| cube.into_iter().filter_map(meaning).collect())
                .collect();
            Ok(Verdict::Conditional { cubes, complete })
        };
        let mut decided = decided;
        decided().unwrap_or(Verdict::GuardTooLarge)
    }

    /// Does every way from the allocation end the program?
    fn ends_program(&self, source: NodeId) -> bool {
        let Node::Source { instance, call, .. } = self.svfg.nodes[source] else {
            return false;
        };
        let func = self.points_to.instances().list[instance].func;
        self.flows[func]
            .as_ref()
            .is_some_and(|flow| !flow.returns.contains(flow.block_of[call]))
    }
}

/// Control flow of all functions, cut where calls never return.
fn control_flow(program: &Program, library: &Library) -> IndexVec<FuncId, Option<Flow>> {
    let names = library.names();
    let ending: Vec<&str> = names
        .into_iter()
        .filter(|name| library.find(name).is_some_and(|model| !model.returns()))
        .collect();
    let no_return = NoReturn::build(program, &ending);
    let ids: Vec<FuncId> = program.funcs.ids().iter().collect();
    let flows: Vec<Option<Flow>> = ids
        .into_par_iter()
        .map(|func| {
            let body = program.funcs[func].body.as_ref()?;
            Some(Flow::build(body, |inst| no_return.never_passes(body, inst)))
        })
        .collect();
    IndexVec::from_raw(flows)
}

/// Table 4, and the sizes of the phases.
fn characteristics(facts: &Facts<'_>) -> Statistics {
    let mut out = Statistics::default();
    let solver = &facts.points_to.statistics;
    for body in facts.program.funcs.iter().filter_map(|f| f.body.as_ref()) {
        out.functions += 1;
        for data in body.insts.iter() {
            match data.op {
                Op::Load { .. } => out.loads += 1,
                Op::Store { .. } => out.stores += 1,
                _ => {}
            }
        }
    }
    out.instances = facts.points_to.instances().list.len();
    out.wrappers = facts.points_to.instances().wrappers.len();
    out.clones_limited = facts.points_to.instances().limited;
    out.pointers = solver.nodes;
    out.pointers_substituted = solver.substituted;
    out.pointers_on_cycles = solver.collapsed;
    out.pointers_wide = solver.wide;
    out.constraints = solver.constraints;
    out.locations = solver.locations;
    out.sources = facts.svfg.sources.len();
    let nodes = facts.svfg.nodes.iter();
    out.sinks = nodes.filter(|n| matches!(n, Node::Sink { .. })).count();
    let memories = facts.memories.iter().flatten();
    for memory in memories {
        out.regions += memory.regions.len();
        out.pointers_refined += memory.refined.len();
    }
    out.svfg_nodes = facts.svfg.nodes.len();
    out.svfg_edges = facts.svfg.edge_count();
    out
}

fn count(facts: &Facts<'_>, detections: &[Detection], out: &mut Statistics) {
    for detection in detections {
        let slice = &detection.forward;
        let functions = |states: &mut dyn Iterator<Item = usize>| {
            let instances = states.filter_map(|s| facts.svfg.nodes[slice.states[s]].instance());
            let functions: FxHashSet<FuncId> = instances
                .map(|instance| facts.points_to.instances().list[instance].func)
                .collect();
            functions.len()
        };
        out.forward_nodes += slice.node_count(0..slice.states.len());
        out.forward_functions += functions(&mut (0..slice.states.len()));
        if slice.fate == Fate::Sinks {
            let backward = slice.backward();
            out.backward_nodes += slice.node_count(backward.iter());
            out.backward_functions += functions(&mut backward.iter());
        }
        *match detection.verdict {
            Verdict::NeverFreed => &mut out.never_freed,
            Verdict::Conditional { .. } => &mut out.conditional,
            Verdict::Freed => &mut out.freed,
            Verdict::Global => &mut out.reach_global,
            Verdict::EndsWithProgram => &mut out.ends_with_program,
            Verdict::SliceTooLarge => &mut out.slices_too_large,
            Verdict::SearchTooLarge => &mut out.searches_too_large,
            Verdict::GuardTooLarge => &mut out.guards_too_large,
        } += 1;
    }
}
