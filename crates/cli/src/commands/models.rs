//! `drip models list|test`: what is known of library and project functions, and whether it fits their declarations.

use crate::args::{InputArgs, ModelsAction, ModelsArgs};
use crate::config::Config;
use crate::exit::Exit;
use crate::ui::Ui;
use crate::{inputs, output, pipeline};
use drip_models::{Library, Summary};
use drip_program::{FuncAttrs, Program, Type};

pub fn run(args: &ModelsArgs, ui: &Ui) -> anyhow::Result<Exit> {
    match &args.action {
        ModelsAction::List { contains } => list(contains.as_deref()),
        ModelsAction::Test(input) => test(input, ui),
    }
}

fn list(contains: Option<&str>) -> anyhow::Result<Exit> {
    let library = Config::find(None, false)?.library()?;
    let mut text = String::new();
    for name in library.names() {
        let Some(summary) = library.find(name) else {
            continue;
        };
        if contains.is_some_and(|part| !name.contains(part)) {
            continue;
        }
        text.push_str(&format!("{name}\n{}", indented(summary)));
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

/// Models must not speak of arguments that the declaration doesn't have.
fn compare(library: &Library, program: &Program) -> (usize, Vec<String>) {
    let mut compared = 0;
    let mut complaints = Vec::new();
    for function in program.funcs.iter() {
        let name = program.strings.get(function.name);
        let Some(summary) = library.find(name) else {
            continue;
        };
        let Type::Func { params, vararg, .. } = program.types.get(function.ty) else {
            continue;
        };
        if *vararg || function.attrs.has(FuncAttrs::NO_PROTOTYPE) {
            continue;
        }
        compared += 1;
        if let Some(highest) = highest_argument(summary)
            && highest >= params.len()
        {
            complaints.push(format!(
                "{name}: the model speaks of arg{highest}, the declaration has {} parameters",
                params.len()
            ));
        }
    }
    (compared, complaints)
}

/// The highest N of all `argN` in the summary's text.
fn highest_argument(summary: &Summary) -> Option<usize> {
    let text: String = summary.outcomes.iter().map(|o| format!("{o}; ")).collect();
    let numbers = text.split("arg").skip(1).filter_map(|rest| {
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    });
    numbers.max()
}
