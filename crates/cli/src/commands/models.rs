//! `drip models list|test`: what is known of library and project functions, and whether it fits their declarations.

use super::roles;
use crate::args::{InputArgs, ModelsAction, ModelsArgs, ModelsListArgs};
use crate::config::Config;
use crate::exit::Exit;
use crate::ui::Ui;
use crate::{inputs, output, pipeline};
use anyhow::bail;
use drip_models::{Library, Outcome, Root, Subject, Summary, Value, ValuePath};
use drip_program::{FuncAttrs, Program, Type, TypeId};
use std::collections::BTreeMap;

pub fn run(args: &ModelsArgs, ui: &Ui) -> anyhow::Result<Exit> {
    match &args.action {
        ModelsAction::List(args) if args.computed => roles::list(args, ui),
        ModelsAction::List(args) => list(args),
        ModelsAction::Test(input) => test(input, ui),
    }
}

fn list(args: &ModelsListArgs) -> anyhow::Result<Exit> {
    if args.input.names_a_program() {
        bail!("a program is read with --computed only; --contains TEXT shows some of the models");
    }
    let library = Config::find(None, false)?.library()?;
    let mut names: Vec<String> = library.names().into_iter().map(str::to_owned).collect();
    names.extend(library.patterns());
    let mut text = String::new();
    for name in names.iter().filter(|name| args.wants(name)) {
        let summary = library.find(name);
        let summary = summary.or_else(|| library.find(name.trim_end_matches('*')));
        if let Some(summary) = summary {
            text.push_str(&format!("{name}\n{}", indented(summary)));
        }
    }
    output::print(&text)?;
    Ok(Exit::Clean)
}

fn indented(summary: &Summary) -> String {
    if !summary.returns() {
        return "    never returns\n".to_owned();
    }
    let lines = summary
        .outcomes
        .iter()
        .map(|outcome| format!("    {outcome}\n"));
    lines.collect()
}

fn test(input: &InputArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let config = inputs::read_config(input)?;
    let library = config.library()?;
    let mut text = format!("{} models are well formed\n", library.names().len());
    let mut wrong = Vec::new();
    if input.names_a_program() {
        let read = pipeline::read(input, &config, ui)?;
        let (compared, complaints) = compare(&library, &read.program);
        wrong = complaints;
        text.push_str(&format!(
            "{compared} of them are declared in the program, {} don't fit\n",
            wrong.len()
        ));
    }
    for complaint in &wrong {
        text.push_str(&format!("{complaint}\n"));
    }
    output::print(&text)?;
    Ok(if wrong.is_empty() {
        Exit::Clean
    } else {
        Exit::Findings
    })
}

/// Models must not speak of arguments that the declaration doesn't have, nor take a number for a pointer.
fn compare(library: &Library, program: &Program) -> (usize, Vec<String>) {
    let mut compared = 0;
    let mut complaints = Vec::new();
    for function in program.funcs.iter() {
        let name = program.strings.get(function.name);
        let Some(summary) = library.find(name) else {
            continue;
        };
        let Type::Func { params, ret, .. } = program.types.get(function.ty) else {
            continue;
        };
        if function.attrs.has(FuncAttrs::NO_PROTOTYPE) {
            continue;
        }
        compared += 1;
        let is_pointer = |ty: TypeId| matches!(program.types.get(ty), Type::Ptr);
        for (arg, as_pointer) in arguments(summary) {
            match params.get(usize::from(arg)) {
                None => complaints.push(format!(
                    "{name}: the model speaks of arg{arg}, the declaration has {} parameters",
                    params.len()
                )),
                Some(&ty) if as_pointer && !is_pointer(ty) => complaints.push(format!(
                    "{name}: the model takes arg{arg} for a pointer, the declaration does not"
                )),
                Some(_) => {}
            }
        }
        if returns_a_block(summary) && !is_pointer(*ret) {
            complaints.push(format!(
                "{name}: the model returns a block, the declaration no pointer"
            ));
        }
    }
    (compared, complaints)
}

fn returns_a_block(summary: &Summary) -> bool {
    let fresh = |outcome: &Outcome| matches!(outcome.ret, Value::Fresh { .. });
    summary.outcomes.iter().any(fresh)
}

/// Every argument that the model speaks of, and whether it has to be a pointer: freed, kept or looked into.
fn arguments(summary: &Summary) -> BTreeMap<u16, bool> {
    let mut found = BTreeMap::new();
    let mut note = |path: &ValuePath, as_pointer: bool| {
        if let Root::Arg(index) = path.root {
            *found.entry(index).or_insert(false) |= as_pointer || !path.loads.is_empty();
        }
    };
    for outcome in &summary.outcomes {
        for atom in &outcome.when {
            if let Subject::Entry(path) = &atom.subject {
                note(path, false);
            }
        }
        let written = outcome.writes.iter().map(|write| &write.value);
        for value in written.chain([&outcome.ret]) {
            if let Value::Entry { path, .. } = value {
                note(path, false);
            }
        }
        let targets = outcome.writes.iter().map(|write| &write.cell.base);
        let freed = outcome.frees.iter().map(|free| &free.path);
        let escaping = outcome.escapes.iter().map(|escape| &escape.path);
        let copied = outcome.copies.iter().map(|copy| &copy.from);
        for path in targets.chain(freed).chain(escaping).chain(copied) {
            note(path, true);
        }
    }
    found
}
