//! `drip models list --computed`: what a program's own functions were found to do with memory.

use crate::args::ModelsListArgs;
use crate::exit::Exit;
use crate::ui::Ui;
use crate::{inputs, output, pipeline};
use drip_engines::staged;
use drip_models::{Certainty, Outcome, Root, Summary, Value, ValuePath};
use drip_program::{Program, Type};
use std::collections::BTreeSet;

pub fn list(args: &ModelsListArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let config = inputs::read_config(&args.input)?;
    let library = config.library()?;
    let read = pipeline::read(&args.input, &config, ui)?;
    let summaries = staged::summaries(&read.program, &library);
    let mut lines: Vec<String> = Vec::new();
    for func in read.program.funcs.ids().iter() {
        let name = read.program.func_name(func);
        let summary = summaries.get(func.index()).and_then(Option::as_ref);
        let Some(summary) = summary.filter(|_| args.wants(name)) else {
            continue;
        };
        let pointers = pointer_parameters(&read.program, func);
        let roles = roles(summary, &pointers);
        if !roles.is_empty() {
            lines.push(format!("{name}: {}\n", roles.join("; ")));
        }
    }
    lines.sort();
    output::print(&lines.concat())?;
    Ok(Exit::Clean)
}

fn pointer_parameters(program: &Program, func: drip_program::FuncId) -> Vec<u16> {
    let Type::Func { params, .. } = program.types.get(program.funcs[func].ty) else {
        return Vec::new();
    };
    let is_pointer = |&(_, ty): &(usize, &_)| program.types.is_ptr(*ty);
    let pointers = params.iter().enumerate().filter(is_pointer);
    pointers.map(|(index, _)| index as u16).collect()
}

/// Allocator, deallocator, taker, reader: what the outcomes say, in this order.
fn roles(summary: &Summary, pointers: &[u16]) -> Vec<String> {
    if !summary.returns() {
        return vec!["never returns".to_owned()];
    }
    let mut roles = Vec::new();
    let outcomes = &summary.outcomes;
    let mut tell = |what: &str, found: &dyn Fn(&Outcome) -> BTreeSet<String>| {
        let all: BTreeSet<String> = outcomes.iter().flat_map(found).collect();
        for thing in all {
            let always = outcomes.iter().all(|o| found(o).contains(&thing));
            let how = if always { "" } else { " in some outcomes" };
            roles.push(format!("{what} {thing}{how}"));
        }
    };
    tell("allocates", &made);
    tell("frees", &|o| freed(o, Certainty::Must));
    tell("perhaps frees", &|o| freed(o, Certainty::May));
    tell("keeps", &kept);
    let touched: BTreeSet<u16> = outcomes.iter().flat_map(touched).collect();
    let only_read: Vec<String> = pointers
        .iter()
        .filter(|n| !touched.contains(n))
        .map(|n| ValuePath::arg(*n).to_string())
        .collect();
    if !only_read.is_empty() {
        roles.push(format!("only uses {}", only_read.join(", ")));
    }
    roles
}

/// Where callers find blocks that an outcome makes.
fn made(outcome: &Outcome) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    if matches!(outcome.ret, Value::Fresh { .. }) {
        found.insert("its result".to_owned());
    }
    for write in &outcome.writes {
        let is_own = matches!(write.cell.base.root, Root::Fresh(_));
        if matches!(write.value, Value::Fresh { .. }) && !is_own {
            found.insert(write.cell.base.clone().load(write.cell.offset).to_string());
        }
    }
    found
}

fn freed(outcome: &Outcome, certainty: Certainty) -> BTreeSet<String> {
    let frees = outcome.frees.iter().filter(|f| f.certainty == certainty);
    frees.map(|f| f.path.to_string()).collect()
}

/// Arguments that somebody still holds afterwards.
fn kept(outcome: &Outcome) -> BTreeSet<String> {
    kept_paths(outcome).map(ToString::to_string).collect()
}

fn kept_paths(outcome: &Outcome) -> impl Iterator<Item = &ValuePath> {
    let stored = outcome
        .writes
        .iter()
        .filter_map(|write| match &write.value {
            Value::Entry { path, .. } => Some(path),
            _ => None,
        });
    let escaped = outcome.escapes.iter().map(|e| &e.path);
    let is_argument =
        |path: &&ValuePath| matches!(path.root, Root::Arg(_)) && path.loads.is_empty();
    stored.chain(escaped).filter(is_argument)
}

/// Arguments that are freed or kept, or from which something is freed.
fn touched(outcome: &Outcome) -> BTreeSet<u16> {
    let freed = outcome.frees.iter().map(|f| &f.path);
    let roots = freed.chain(kept_paths(outcome)).map(|path| path.root);
    let arguments = roots.filter_map(|root| match root {
        Root::Arg(n) => Some(n),
        _ => None,
    });
    arguments.collect()
}
