//! `drip dump --pts | --svfg`, and `--memssa --engine saber`: the phases of the whole-program engine.

use crate::args::DumpArgs;
use anyhow::Context;
use drip_base::Watch;
use drip_engines::saber;
use drip_models::Library;
use drip_program::{FuncId, Program};

/// One phase, of one function or of the whole program.
pub fn text(
    program: &Program,
    library: &Library,
    only: Option<FuncId>,
    args: &DumpArgs,
) -> anyhow::Result<String> {
    let inspection =
        saber::inspect(program, library, &Watch::default()).context("the analysis was stopped")?;
    Ok(match (args.pts, args.svfg, args.dot) {
        (true, ..) => inspection.points_to(only),
        (_, true, true) => inspection.svfg_as_dot(only),
        (_, true, false) => inspection.svfg(only),
        _ => inspection.memory_ssa(only),
    })
}
