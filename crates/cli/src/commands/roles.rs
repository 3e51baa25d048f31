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
        let wanted = args
            .contains
            .as_deref()
            .is_none_or(|part| name.contains(part));
        let Some(summary) = summaries
            .get(func.index())
            .and_then(Option::as_ref)
            .filter(|_| wanted)
        else {
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
    let touched: BTreeSet<String> = outcomes
        .iter()
        .flat_map(|o| {
            freed(o, Certainty::Must)
                .into_iter()
                .chain(freed(o, Certainty::May))
                .chain(kept(o))
        })
        .collect();
    let only_read: Vec<String> = pointers
        .iter()
        .map(|n| ValuePath::arg(*n).to_string())
        .filter(|arg| !touched.iter().any(|t| t.starts_with(arg.as_str())))
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
    let is_argument = |path: &ValuePath| matches!(path.root, Root::Arg(_)) && path.loads.is_empty();
    let stored = outcome
        .writes
        .iter()
        .filter_map(|write| match &write.value {
            Value::Entry { path, .. } => Some(path),
            _ => None,
        });
    let escaped = outcome.escapes.iter().map(|e| &e.path);
    let kept = stored.chain(escaped).filter(|path| is_argument(path));
    kept.map(ToString::to_string).collect()
}
