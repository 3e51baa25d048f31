//! Order of work: bottom-up over the components of the call graph, level by level, each level in parallel.
//!
//! A component's level is one above its callees'; all components of a level are independent. Recursive components start
//! from "never returns" and are analysed at most [`MAX_ROUNDS`] times; findings come from the last round only. Results are
//! collected by function id: the number of threads changes nothing.

use std::sync::Arc;

use drip_models::{Library, Summary};
use drip_pointer::CallGraph;
use drip_program::{FuncId, Program};
use rayon::prelude::*;

use super::calls::CallContext;
use super::function::{Result, analyse};
use crate::finding::{Analysis, Statistics};

/// Rounds over a recursive component; if summaries still change then, they are taken as they are and marked limited.
pub const MAX_ROUNDS: usize = 3;

/// Settings of a run.
#[derive(Clone, Debug, Default)]
pub struct Config {}

/// Summaries of all functions with a body.
pub type Summaries = Vec<Option<Arc<Summary>>>;

/// Analyses the whole program.
pub fn run(program: &Program, library: &Library, _config: &Config) -> Analysis {
    let (results, _) = analyse_all(program, library);
    let mut analysis = Analysis::default();
    let mut statistics = Statistics::default();
    for result in results.into_iter().flatten() {
        statistics.merge(&result.statistics);
        analysis.findings.extend(result.findings);
        analysis.ledger.extend(result.ledger);
    }
    analysis
        .findings
        .retain(|finding| !is_system_header(&finding.primary.file));
    analysis.statistics = statistics;
    analysis
        .findings
        .sort_by(|a, b| (&a.primary, &a.id).cmp(&(&b.primary, &b.id)));
    analysis
        .ledger
        .sort_by(|a, b| (&a.at, &a.callee, &a.reason).cmp(&(&b.at, &b.callee, &b.reason)));
    analysis
}

/// Code of the system's headers is not the user's to fix; what it hands to the user's code is still followed.
fn is_system_header(file: &str) -> bool {
    [
        "/usr/include/",
        "/usr/lib/",
        "/usr/local/include/",
        "/Library/",
        "/Applications/",
    ]
    .iter()
    .any(|prefix| file.starts_with(prefix))
}

/// Only the summaries, for dumps and tests.
pub fn summaries(program: &Program, library: &Library) -> Summaries {
    analyse_all(program, library).1
}

fn analyse_all(program: &Program, library: &Library) -> (Vec<Option<Result>>, Summaries) {
    let graph = CallGraph::build(program);
    let mut computed: Summaries = vec![None; program.funcs.len()];
    let mut results: Vec<Option<Result>> = Vec::new();
    results.resize_with(program.funcs.len(), || None);
    for level in levels(&graph) {
        let done: Vec<Vec<(FuncId, Result)>> = level
            .par_iter()
            .map(|members| component(program, library, &graph, &computed, members))
            .collect();
        for (func, result) in done.into_iter().flatten() {
            computed[func.index()] = Some(Arc::clone(&result.summary));
            results[func.index()] = Some(result);
        }
    }
    (results, computed)
}

/// Components by level, callees first.
fn levels(graph: &CallGraph) -> Vec<Vec<Vec<FuncId>>> {
    let condensed = graph.sccs.condensation(&graph.graph);
    let mut level_of = vec![0usize; graph.sccs.len()];
    let mut levels: Vec<Vec<Vec<FuncId>>> = Vec::new();
    for scc in graph.sccs.bottom_up().iter() {
        let level = condensed
            .succs(scc)
            .iter()
            .filter(|&&callee| callee != scc)
            .map(|callee| level_of[callee.index()] + 1)
            .max()
            .unwrap_or(0);
        level_of[scc.index()] = level;
        if levels.len() <= level {
            levels.resize_with(level + 1, Vec::new);
        }
        levels[level].push(graph.sccs.members(scc).to_vec());
    }
    levels
}

/// Analyses one component.
fn component(
    program: &Program,
    library: &Library,
    graph: &CallGraph,
    computed: &[Option<Arc<Summary>>],
    members: &[FuncId],
) -> Vec<(FuncId, Result)> {
    let cyclic = members
        .first()
        .is_some_and(|&f| graph.sccs.is_cyclic(graph.sccs.component_of(f)));
    if !cyclic {
        let context = CallContext {
            program,
            library,
            graph,
            computed,
        };
        return members
            .iter()
            .filter_map(|&func| one(&context, func, true))
            .collect();
    }
    let mut known = computed.to_vec();
    for round in 0..MAX_ROUNDS {
        let mut changed = false;
        for &func in members {
            let context = CallContext {
                program,
                library,
                graph,
                computed: &known,
            };
            if let Some((_, result)) = one(&context, func, false) {
                changed |= known[func.index()].as_ref() != Some(&result.summary);
                let mut summary = result.summary;
                if round + 1 == MAX_ROUNDS && changed {
                    Arc::make_mut(&mut summary).limited = true;
                }
                known[func.index()] = Some(summary);
            }
        }
        if !changed {
            break;
        }
    }
    let context = CallContext {
        program,
        library,
        graph,
        computed: &known,
    };
    members
        .iter()
        .filter_map(|&func| one(&context, func, true))
        .collect()
}

fn one(context: &CallContext<'_>, func: FuncId, report: bool) -> Option<(FuncId, Result)> {
    let body = context.program.funcs[func].body.as_ref()?;
    Some((func, analyse(context, func, body, report)))
}
