//! Bitcode files → one linked [`Program`].
//!
//! Steps: headers of all modules in parallel; linking, sequential and in input order; bodies in parallel, straight to the
//! program's numbers; names, sequential and in function order. The result does not depend on the number of threads.
//! What can't be read becomes a [`Problem`]; everything else survives.

use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use drip_bitcode as bc;
use rayon::prelude::*;

use crate::dead_ends::mark_dead_ends;
use crate::debug_info::{NamedBody, names};
use crate::ids::FuncId;
use crate::link::{self, Job, Linkage};
use crate::lower::{Scratch, lower_body};
use crate::model::{FuncAttrs, Program};
use crate::verify::verify;

/// One file: bitcode, or an object file with bitcode inside.
#[derive(Clone, Debug)]
pub struct Input {
    /// The name to report it by.
    pub path: String,
    pub bytes: Vec<u8>,
}

/// How to load.
#[derive(Clone, Debug)]
pub struct LoadConfig {
    /// Check each body, and treat one that breaks the program's rules as unreadable. Only malformed bitcode has such.
    pub verify: bool,
}

impl Default for LoadConfig {
    fn default() -> Self {
        LoadConfig { verify: true }
    }
}

/// What a [`Problem`] costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProblemKind {
    /// A file or a function is missing from the program.
    Unreadable,
    /// It is there, but may be understood wrongly.
    Doubtful,
    /// A symbol has several definitions. Normal where a build makes several programs, or one in several variants.
    Duplicate,
}

/// Something that could not be read or linked; the rest of the program is there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    pub kind: ProblemKind,
    pub file: String,
    /// Symbol name, where the problem is in one function.
    pub function: Option<String>,
    /// Byte offset in the file, where known.
    pub offset: Option<u64>,
    pub text: String,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.file)?;
        if let Some(offset) = self.offset {
            write!(f, ": byte {offset}")?;
        }
        if let Some(function) = &self.function {
            write!(f, ": in {function}")?;
        }
        write!(f, ": {}", self.text)
    }
}

/// Figures of one load; times are wall clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct Statistics {
    pub modules: usize,
    pub bodies: usize,
    pub instructions: usize,
    pub parse: Duration,
    pub link: Duration,
    pub lower: Duration,
    pub names: Duration,
    pub verify: Duration,
}

#[derive(Debug, Default)]
pub struct Loaded {
    pub program: Program,
    pub problems: Vec<Problem>,
    pub statistics: Statistics,
}

/// Reads, links and lowers all inputs.
pub fn load(inputs: Vec<Input>, config: &LoadConfig) -> Loaded {
    let mut statistics = Statistics::default();
    let start = Instant::now();
    let (modules, mut problems) = parse(inputs);
    statistics.modules = modules.len();
    statistics.parse = start.elapsed();

    let start = Instant::now();
    let mut linked = link::link(&modules);
    link::init::initialisers(&mut linked);
    problems.append(&mut linked.problems);
    statistics.link = start.elapsed();

    let start = Instant::now();
    let bodies = lower_all(&linked);
    statistics.lower = start.elapsed();

    let start = Instant::now();
    let mut program = assemble(linked, bodies, &mut problems);
    statistics.names = start.elapsed();
    // Millions of small pieces: taking them apart is work too.
    modules.into_par_iter().for_each(drop);
    if config.verify {
        let start = Instant::now();
        drop_broken_bodies(&mut program, &mut problems);
        statistics.verify = start.elapsed();
    }
    mark_dead_ends(&mut program);
    for body in program.funcs.iter().filter_map(|f| f.body.as_ref()) {
        statistics.bodies += 1;
        statistics.instructions += body.insts.len();
    }
    Loaded {
        program,
        problems,
        statistics,
    }
}

fn parse(inputs: Vec<Input>) -> (Vec<bc::RawModule>, Vec<Problem>) {
    let parsed: Vec<_> = inputs
        .into_par_iter()
        .map(|input| bc::RawModule::parse_all(input.bytes, &input.path))
        .collect();
    let mut modules = Vec::new();
    let mut problems = Vec::new();
    for result in parsed {
        match result {
            Ok(found) => modules.extend(found),
            Err(error) => problems.push(problem(&error, None)),
        }
    }
    (modules, problems)
}

fn problem(error: &bc::Error, function: Option<&str>) -> Problem {
    Problem {
        kind: ProblemKind::Unreadable,
        file: error.file.to_string(),
        function: function.map(str::to_owned),
        offset: Some(error.offset()),
        text: error.what.to_string(),
    }
}

type BodyResult = Result<NamedBody, Problem>;

fn lower_all(linked: &Linkage<'_>) -> Vec<BodyResult> {
    // Working memory goes from task to task; at most one per thread exists.
    let spare: Mutex<Vec<Scratch>> = Mutex::new(Vec::new());
    let take = || {
        spare
            .lock()
            .ok()
            .and_then(|mut all| all.pop())
            .unwrap_or_default()
    };
    linked
        .jobs
        .par_iter()
        .map(|job| {
            let mut scratch = take();
            let result = lower(linked, job, &mut scratch);
            if let Ok(mut all) = spare.lock() {
                all.push(scratch);
            }
            result
        })
        .collect()
}

fn lower(linked: &Linkage<'_>, job: &Job, scratch: &mut Scratch) -> BodyResult {
    let module = &linked.modules[job.module as usize];
    let name = || module.functions.get(job.index as usize).map(|f| &*f.name);
    let raw = module
        .decode_body(job.index as usize)
        .map_err(|error| problem(&error, name()))?;
    lower_body(link::context(linked, job.module), &raw, scratch).map_err(|error| Problem {
        kind: ProblemKind::Unreadable,
        file: module.file_name.to_string(),
        function: name().map(str::to_owned),
        offset: None,
        text: error.to_string(),
    })
}

fn assemble(
    mut linked: Linkage<'_>,
    bodies: Vec<BodyResult>,
    problems: &mut Vec<Problem>,
) -> Program {
    names::name_program(&mut linked, bodies, problems);
    for (index, taken) in linked.taken.iter().enumerate() {
        if taken.load(Ordering::Relaxed) {
            linked.program.funcs[FuncId::new(index)].attrs.0 |= FuncAttrs::ADDRESS_TAKEN;
        }
    }
    linked.program
}

fn drop_broken_bodies(program: &mut Program, problems: &mut Vec<Problem>) {
    for error in verify(program) {
        let unit = error.func.map(|f| program.funcs[f].unit);
        let file = unit
            .and_then(|u| program.units.get(u))
            .map_or("", |u| program.strings.get(u.path));
        let kind = match error.func {
            Some(_) => ProblemKind::Unreadable,
            None => ProblemKind::Doubtful,
        };
        let problem = Problem {
            kind,
            file: file.to_owned(),
            function: error.func.map(|f| program.func_name(f).to_owned()),
            offset: None,
            text: format!("malformed: {}", error.message),
        };
        let Some(function) = error.func.and_then(|f| program.funcs.get_mut(f)) else {
            problems.push(problem);
            continue;
        };
        // One body may break several rules; the first one tells.
        if function.body.take().is_some() {
            function.unreadable = Some(problem.text.as_str().into());
            problems.push(problem);
        }
    }
}
