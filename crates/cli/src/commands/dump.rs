//! `drip dump`: what a phase made, as text.

use crate::args::DumpArgs;
use crate::commands::dump_saber;
use crate::engine::Engine;
use crate::exit::Exit;
use crate::pipeline::{self, Read};
use crate::ui::Ui;
use crate::{inputs, output};
use anyhow::{anyhow, bail};
use drip_engines::staged;
use drip_models::Library;
use drip_program::{FuncId, Program, print_function, print_program, verify};
use std::time::Instant;

pub fn run(args: &DumpArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let saber = args.pts || args.svfg || (args.memssa && args.engine == Engine::Saber);
    let inside = args.cells || args.memssa || args.flow;
    if !args.program && !args.summary && !inside && !saber {
        bail!("say what to dump: --program, --summary, --cells, --memssa, --flow, --pts or --svfg");
    }
    let config = inputs::read_config(&args.input)?;
    let start = Instant::now();
    let read = pipeline::read(&args.input, &config, ui)?;
    let text = if args.stats {
        statistics(&read, start)
    } else if saber {
        let only = function(&read.program, args)?;
        dump_saber::text(&read.program, &config.library()?, only, args)?
    } else if inside {
        inspection(&read.program, &config.library()?, args)?
    } else if args.summary {
        let library = config.library()?;
        summaries(
            &read.program,
            &staged::summaries(&read.program, &library),
            args,
        )?
    } else {
        match function(&read.program, args)? {
            Some(func) => print_function(&read.program, func),
            None => print_program(&read.program),
        }
    };
    output::print(&text)?;
    let incomplete = read.coverage.is_incomplete();
    Ok(if incomplete {
        Exit::Incomplete
    } else {
        Exit::Clean
    })
}

/// One phase of one function.
fn inspection(program: &Program, library: &Library, args: &DumpArgs) -> anyhow::Result<String> {
    let Some(func) = function(program, args)? else {
        bail!("say which function: --function NAME");
    };
    let name = program.shown_name(func);
    let inspection = staged::inspect(program, library, func)
        .ok_or_else(|| anyhow!("`{name}` has no body in the input"))?;
    Ok(match (args.cells, args.memssa, args.dot) {
        (true, ..) => inspection.cells,
        (_, true, _) => inspection.memory_ssa,
        (_, _, true) => inspection.flows_as_dot(),
        _ => inspection.flows_as_text(),
    })
}

fn function(program: &Program, args: &DumpArgs) -> anyhow::Result<Option<FuncId>> {
    let Some(name) = &args.function else {
        return Ok(None);
    };
    let by_shown_name = || {
        let mut ids = program.funcs.iter_enumerated().map(|(id, _)| id);
        ids.find(|&id| program.shown_name(id) == name)
    };
    let found = program.find_func(name).or_else(by_shown_name);
    found
        .map(Some)
        .ok_or_else(|| anyhow!("the program has no function `{name}`"))
}

fn summaries(
    program: &Program,
    summaries: &staged::Summaries,
    args: &DumpArgs,
) -> anyhow::Result<String> {
    let only = function(program, args)?;
    let mut out = String::new();
    for (func, _) in program.funcs.iter_enumerated() {
        let Some(summary) = summaries.get(func.index()).and_then(Option::as_ref) else {
            continue;
        };
        if only.is_some_and(|only| only != func) {
            continue;
        }
        let limited = if summary.limited { " (limited)" } else { "" };
        out.push_str(&format!("{}{limited}:\n", program.func_name(func)));
        if !summary.returns() {
            out.push_str("    never returns\n");
        }
        for outcome in &summary.outcomes {
            out.push_str(&format!("    {outcome}\n"));
        }
    }
    Ok(out)
}

/// Counts, times and the verifier's verdict; no text of the program is made.
fn statistics(read: &Read, start: Instant) -> String {
    let times = &read.statistics;
    let errors = verify(&read.program);
    let mut out = format!(
        "files {} of {}\nmodules {}\nfunctions {}\nbodies {}\ninstructions {}\nglobals {}\n",
        read.coverage.files_read,
        read.coverage.files_total,
        times.modules,
        read.program.funcs.len(),
        times.bodies,
        times.instructions,
        read.program.globals.len(),
    );
    for (name, time) in [
        ("parse", times.parse),
        ("link", times.link),
        ("lower", times.lower),
        ("names", times.names),
        ("verify", times.verify),
        ("total", start.elapsed()),
    ] {
        out.push_str(&format!("{name} {:.6} s\n", time.as_secs_f64()));
    }
    match errors.first() {
        None => out.push_str("verified\n"),
        Some(first) => out.push_str(&format!(
            "malformed: {} errors, the first: {first}\n",
            errors.len()
        )),
    }
    out
}
