//! `cargo xtask bench`: figures that anybody can repeat.
//!
//! Without a subcommand: real programs side by side with the peers, growth curves of generated programs, injected leaks;
//! the results go to one JSON document, and from there into `docs/benchmarks.md` and its plots. Parts and programs that
//! are not measured keep the figures that the document has.

mod confirm;
mod frontend;
mod growth;
mod inject;
mod machine;
mod measure;
mod peer_recall;
mod peers;
mod plots;
mod programs;
mod render;
mod results;
mod sources;
mod tools;
mod units;

use anyhow::Context;
use clap::{Args, Subcommand, ValueEnum};
use measure::Limits;
use peers::Peer;
use programs::ProgramSpec;
use results::{ProgramRow, Results, ToolRow};
use sources::Prepared;
use std::path::{Path, PathBuf};
use std::process::Command;
use tools::Engine;

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Bench {
    #[command(subcommand)]
    what: Option<What>,
    #[command(flatten)]
    options: Options,
}

#[derive(Subcommand)]
enum What {
    /// Reading, linking and SSA construction of one bitcode file against LLVM's `opt -passes=mem2reg`
    Frontend(frontend::Options),
    /// Make the tables and plots again from the JSON document
    Render(RenderOptions),
}

#[derive(Args)]
struct RenderOptions {
    /// The document [default: docs/benchmarks.json]
    #[arg(long)]
    json: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Real programs, side by side with the peers
    Programs,
    /// Growth curves of generated programs
    Growth,
    /// Injected leaks
    Inject,
    /// The peers on the injected leaks
    PeerRecall,
    /// LeakSanitizer on a sample of the injected leaks
    Confirm,
}

impl Part {
    const ALL: [Part; 5] = [
        Part::Programs,
        Part::Inject,
        Part::PeerRecall,
        Part::Confirm,
        Part::Growth,
    ];
    /// LeakSanitizer needs builds of its own, for which a short run has no time.
    const QUICK: [Part; 3] = [Part::Programs, Part::Growth, Part::Inject];
}

#[derive(Args)]
struct Options {
    /// Only these programs (names of programs.toml)
    #[arg(long, value_delimiter = ',')]
    programs: Vec<String>,
    /// Engines of drip; `--no-engines` for none
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = Engine::ALL)]
    engines: Vec<Engine>,
    #[arg(long, conflicts_with = "engines")]
    no_engines: bool,
    /// Other tools to run beside drip; `--no-peers` for none
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = Peer::ALL)]
    peers: Vec<Peer>,
    #[arg(long, conflicts_with = "peers")]
    no_peers: bool,
    /// Only these parts [default: all]
    #[arg(long, value_enum, value_delimiter = ',')]
    parts: Vec<Part>,
    /// A short run over small programs, within five minutes; writes below the work directory, not into docs/
    #[arg(long)]
    quick: bool,
    /// Fetched and built programs: DIR/<program>/src, compile_commands.json and version
    #[arg(long, value_name = "DIR")]
    sources: Option<PathBuf>,
    /// Working directory [default: target/bench]
    #[arg(long, value_name = "DIR")]
    work: Option<PathBuf>,
    /// Measure this binary instead of building one
    #[arg(long, value_name = "FILE")]
    drip: Option<PathBuf>,
    /// Seconds of CPU for each tool on each program [default: 1200, quick: 10]
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<u64>,
    /// Memory for each process
    #[arg(long, value_name = "MEGABYTES", default_value_t = 8192)]
    memory: u64,
    /// Seed of the sample of injected leaks
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Injected leaks per program [default: 30, quick: 4]
    #[arg(long, value_name = "N")]
    mutants: Option<usize>,
    /// Analyse only injected leaks that were missed last time; the others keep their result
    #[arg(long)]
    only_missed: bool,
}

/// Seconds per tool and program; openssl and postgresql take the peers longer.
const TIMEOUT: u64 = 1200;
const QUICK_TIMEOUT: u64 = 10;
const MUTANTS: usize = 30;
const QUICK_MUTANTS: usize = 4;

/// Runs one benchmark; true if it could be measured.
pub fn run(root: &Path, bench: &Bench) -> anyhow::Result<bool> {
    match &bench.what {
        Some(What::Frontend(options)) => frontend::run(root, options),
        Some(What::Render(options)) => {
            let default = root.join("docs/benchmarks.json");
            let json = options.json.as_deref().unwrap_or(&default);
            let results = Results::read(json)?;
            render::render(&results, &root.join("docs"))?;
            render::readme(&results, &root.join("README.md"))?;
            Ok(true)
        }
        None => side_by_side(root, &bench.options),
    }
}

/// Places of one run.
struct Places {
    work: PathBuf,
    drip: PathBuf,
    /// Where JSON, tables and plots go.
    documents: PathBuf,
}

fn side_by_side(root: &Path, options: &Options) -> anyhow::Result<bool> {
    let work = options
        .work
        .clone()
        .unwrap_or_else(|| root.join("target/bench"));
    std::fs::create_dir_all(&work).with_context(|| format!("cannot make {work:?}"))?;
    let work = work.canonicalize()?;
    let places = Places {
        drip: match &options.drip {
            Some(given) => given.canonicalize().with_context(|| format!("{given:?}"))?,
            None => build_drip(root)?,
        },
        documents: match options.quick {
            true => work.join("quick"),
            false => root.join("docs"),
        },
        work,
    };
    let parts: &[Part] = match (options.parts.is_empty(), options.quick) {
        (false, _) => &options.parts,
        (true, true) => &Part::QUICK,
        (true, false) => &Part::ALL,
    };
    let json = places.documents.join("benchmarks.json");
    let mut results = Results::read(&json)?;
    results.machine = machine::describe(root, &places.drip);
    let specs = programs::choose(&options.programs, options.quick)?;
    let mut complete = true;
    if parts.iter().any(|&part| part != Part::Growth) {
        sources::fetch_missing(&specs, &places.work, options.sources.as_deref())?;
    }
    if parts.contains(&Part::Programs) {
        for spec in &specs {
            complete &= measure_program(spec, &places, options, &mut results);
            results.write(&json)?;
        }
    }
    if parts.contains(&Part::Inject) {
        for spec in specs.iter().filter(|spec| spec.inject) {
            complete &= inject(spec, &places, options, &mut results);
            results.write(&json)?;
        }
    }
    let given = options.sources.as_deref();
    if parts.contains(&Part::PeerRecall) && !options.no_peers {
        peer_recall::run(&specs, &places.work, given, &options.peers, &mut results)?;
        results.write(&json)?;
    }
    if parts.contains(&Part::Confirm) {
        confirm::run(&specs, &places.work, given, &mut results)?;
        results.write(&json)?;
    }
    if parts.contains(&Part::Growth) {
        results.growth = growth::measure(&places.drip, &places.work, options.quick)?;
        results.write(&json)?;
    }
    render::render(&results, &places.documents)?;
    if !options.quick {
        render::readme(&results, &root.join("README.md"))?;
    }
    eprintln!(
        "bench: wrote {}",
        places.documents.join("benchmarks.md").display()
    );
    Ok(complete)
}

/// Builds the release binary; its path.
pub fn build_drip(root: &Path) -> anyhow::Result<PathBuf> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .current_dir(root)
        .args(["build", "--release", "--package", "drip-cli"]);
    let status = cargo.status().context("cannot run cargo")?;
    anyhow::ensure!(status.success(), "drip could not be built");
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    Ok(target.join("release/drip"))
}

/// Measures all tools on one program; false if it could not be made ready. A tool that fails is a row.
fn measure_program(
    spec: &ProgramSpec,
    places: &Places,
    options: &Options,
    results: &mut Results,
) -> bool {
    eprintln!("bench: {}", spec.name);
    let measured = sources::prepare(spec, &places.work, options.sources.as_deref())
        .and_then(|program| all_tools(&program, places, options));
    match measured {
        Ok(row) => results.put(row),
        Err(error) => {
            eprintln!("bench: {} could not be measured: {error:#}", spec.name);
            return false;
        }
    }
    true
}

fn all_tools(program: &Prepared, places: &Places, options: &Options) -> anyhow::Result<ProgramRow> {
    let limits = limits(options);
    let mut row = ProgramRow {
        name: program.spec.name.clone(),
        version: program.version.clone(),
        units: program.units.len(),
        kloc: program.kloc,
        compile: tools::compile(program, limits)?,
        tools: Vec::new(),
    };
    let compile_s = row.compile.user_s.max(f64::MIN_POSITIVE);
    let mut put = |mut tool: ToolRow| {
        let user_s = tool.figures.user_s;
        tool.ratio = user_s / compile_s;
        tool.kloc_per_s = program.kloc / user_s.max(f64::MIN_POSITIVE);
        if let Some(details) = &mut tool.drip {
            details.ratio_with_capture = (user_s + details.capture.user_s) / compile_s;
        }
        eprintln!(
            "bench:   {:20} {:8.2} s user {:6.2} of compiling {:5} findings, {}",
            tool.tool, user_s, tool.ratio, tool.findings, tool.end
        );
        row.tools.push(tool);
    };
    if !options.no_engines {
        let captured = tools::capture(&places.drip, program, limits)?;
        for &engine in &options.engines {
            put(tools::run_drip(
                &places.drip,
                engine,
                program,
                &captured,
                limits,
            )?);
        }
    }
    for &peer in options.peers.iter().filter(|_| !options.no_peers) {
        put(peers::run_peer(peer, program, limits)?);
    }
    Ok(row)
}

fn limits(options: &Options) -> Limits {
    let default = if options.quick {
        QUICK_TIMEOUT
    } else {
        TIMEOUT
    };
    tools::limits(options.timeout.unwrap_or(default), options.memory)
}

/// Injects leaks into one program; false if it could not be made ready.
fn inject(spec: &ProgramSpec, places: &Places, options: &Options, results: &mut Results) -> bool {
    let default = if options.quick {
        QUICK_MUTANTS
    } else {
        MUTANTS
    };
    let wanted = inject::Wanted {
        seed: options.seed,
        mutants: options.mutants.unwrap_or(default),
    };
    eprintln!("bench: leaks injected into {}", spec.name);
    let injected =
        sources::prepare(spec, &places.work, options.sources.as_deref()).and_then(|program| {
            let (_, files) = tools::capture(&places.drip, &program, limits(options))?;
            let known = results.injection.mutants.iter();
            let known = known.filter(|old| options.only_missed && old.reported.is_some());
            inject::run(&program, &files, wanted, known.cloned().collect())
        });
    match injected {
        Ok(report) => inject::put(&mut results.injection, spec, report, wanted),
        Err(error) => {
            eprintln!("bench: nothing injected into {}: {error:#}", spec.name);
            return false;
        }
    }
    true
}
