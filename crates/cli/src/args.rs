//! What can be typed: the command line's grammar.

use crate::engine::{Engine, EngineArgs};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;

/// Find heap memory leaks in C and C++ programs.
#[derive(Debug, Parser)]
#[command(
    name = "drip",
    version,
    about,
    arg_required_else_help = true,
    after_help = "Exit codes: 0 nothing found, 1 findings, 2 usage, configuration or capture failure, \
                  3 nothing found but not everything was read, 101 internal error."
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub global: Global,
}

#[derive(Clone, Debug, Args)]
pub struct Global {
    /// Colours in the output
    #[arg(long, global = true, value_enum, default_value_t = ColorChoice::Auto, value_name = "WHEN")]
    pub color: ColorChoice,
    /// Say nothing but the findings and errors
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Say more: what was compiled, dropped flags, problems of single functions
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Look for leaks in sources, bitcode, a directory or a build
    Check(Box<CheckArgs>),
    /// Run a build and collect its bitcode, without analysing it
    Capture(CaptureArgs),
    /// Tell what a rule means, or one finding at length
    Explain(ExplainArgs),
    /// List every allocation site and what becomes of it
    Ledger(LedgerArgs),
    /// Accept today's findings, so that only new ones are reported
    Baseline(BaselineArgs),
    /// What is known of library and project functions
    Models(ModelsArgs),
    /// Print what a phase of the analysis made
    Dump(DumpArgs),
    /// Run several engines and tell what each of them finds
    Compare(CompareArgs),
    /// Show which clang and which cache are used, and what to install
    Doctor(DoctorArgs),
    /// Write a commented drip.toml into the current directory
    Init,
    /// Empty the cache
    Clean,
    /// Print a completion script for a shell
    Completions {
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write all pages into a directory
    Man {
        #[arg(value_name = "DIR")]
        directory: Option<PathBuf>,
    },
}

/// Where the program comes from. Shared by all commands that analyse.
#[derive(Clone, Debug, Default, Args)]
pub struct InputArgs {
    /// C and C++ sources (together one program), .bc files, objects with bitcode, directories
    #[arg(value_name = "PATHS")]
    pub paths: Vec<PathBuf>,
    /// Directory with a compile_commands.json, or that file
    #[arg(short = 'p', long = "build-dir", value_name = "DIR")]
    pub build_dir: Option<PathBuf>,
    /// The clang to compile with
    #[arg(long, value_name = "PATH")]
    pub clang: Option<PathBuf>,
    /// Append this to every compile command
    #[arg(long = "extra-arg", value_name = "ARG", allow_hyphen_values = true)]
    pub extra_args: Vec<String>,
    /// Threads and compilers at a time (default: one per core)
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Read this configuration instead of the drip.toml found upwards
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Read no drip.toml
    #[arg(long, conflicts_with = "config")]
    pub no_config: bool,
    /// A build command to watch
    #[arg(last = true, value_name = "BUILD COMMAND")]
    pub build: Vec<OsString>,
}

impl InputArgs {
    /// The same input on another command line.
    pub fn words(&self) -> Vec<OsString> {
        let mut words: Vec<OsString> = Vec::new();
        let mut option = |name: &str, value: Option<OsString>| {
            if let Some(value) = value {
                words.extend([name.into(), value]);
            }
        };
        let text = |path: &Option<PathBuf>| path.as_ref().map(|p| p.clone().into_os_string());
        option("--build-dir", text(&self.build_dir));
        option("--clang", text(&self.clang));
        option("--config", text(&self.config));
        option("--jobs", self.jobs.map(|n| n.to_string().into()));
        for extra in &self.extra_args {
            words.push(format!("--extra-arg={extra}").into());
        }
        if self.no_config {
            words.push("--no-config".into());
        }
        words.extend(self.paths.iter().map(|p| p.clone().into_os_string()));
        if !self.build.is_empty() {
            words.push("--".into());
            words.extend(self.build.iter().cloned());
        }
        words
    }

    /// Was any program named?
    pub fn names_a_program(&self) -> bool {
        !self.paths.is_empty() || self.build_dir.is_some() || !self.build.is_empty()
    }
}

/// Ends of a run that are not the analysis' own.
#[derive(Clone, Debug, Default, Args)]
pub struct LimitArgs {
    /// End the analysis after this many seconds (exit code 3)
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<u64>,
    /// End the analysis when it needs more memory than this (exit code 3)
    #[arg(long, value_name = "MEGABYTES")]
    pub max_memory: Option<u64>,
}

#[derive(Clone, Debug, Args)]
pub struct CheckArgs {
    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    pub limits: LimitArgs,
    #[command(flatten)]
    pub engine: EngineArgs,
    /// full, concise, json, sarif, github or html; FORMAT=FILE writes to a file; may be given several times
    #[arg(long = "output-format", value_name = "FORMAT[=FILE]", value_parser = parse_output)]
    pub outputs: Vec<Output>,
    /// Report only these rules (D001,D002,… or ALL)
    #[arg(long, value_name = "RULES", value_delimiter = ',')]
    pub select: Vec<String>,
    /// Don't report these rules
    #[arg(long, value_name = "RULES", value_delimiter = ',')]
    pub ignore: Vec<String>,
    /// Report only findings of at least this confidence [default: medium]
    #[arg(long, value_name = "low|medium|high", value_parser = parse_confidence)]
    pub min_confidence: Option<drip_engines::Confidence>,
    /// Don't report what this file accepts (see `drip baseline`)
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Report only findings that touch lines changed since this git revision
    #[arg(long, value_name = "REF")]
    pub since: Option<String>,
    /// End with 0 even if there are findings
    #[arg(long)]
    pub exit_zero: bool,
    /// Print the engine's counts to standard error
    #[arg(long, value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "text", value_name = "FORMAT")]
    pub statistics: Option<StatisticsFormat>,
    /// Print the time of each phase to standard error
    #[arg(long)]
    pub time_passes: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StatisticsFormat {
    Text,
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Full,
    Concise,
    Json,
    Sarif,
    Github,
    Html,
}

impl Format {
    const NAMES: [(&'static str, Format); 6] = [
        ("full", Format::Full),
        ("concise", Format::Concise),
        ("json", Format::Json),
        ("sarif", Format::Sarif),
        ("github", Format::Github),
        ("html", Format::Html),
    ];

    /// For programs to read: nothing else may stand on the same stream.
    pub fn is_for_machines(self) -> bool {
        matches!(self, Format::Json | Format::Sarif | Format::Html)
    }
}

/// A format and where it goes; standard output if there is no file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    pub format: Format,
    pub file: Option<PathBuf>,
}

fn parse_output(text: &str) -> Result<Output, String> {
    let (name, file) = match text.split_once('=') {
        Some((_, "")) => return Err("there is no file name after `=`".to_owned()),
        Some((name, file)) => (name, Some(PathBuf::from(file))),
        None => (text, None),
    };
    let known = Format::NAMES.iter().find(|(n, _)| *n == name);
    match known {
        Some(&(_, format)) => Ok(Output { format, file }),
        None => Err(format!(
            "unknown format `{name}`; there are full, concise, json, sarif, github and html"
        )),
    }
}

fn parse_confidence(text: &str) -> Result<drip_engines::Confidence, String> {
    drip_report::parse_confidence(text).ok_or_else(|| "expected low, medium or high".to_owned())
}

#[derive(Clone, Debug, Args)]
pub struct CaptureArgs {
    /// Copy the bitcode files into this directory
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub input: InputArgs,
}

#[derive(Clone, Debug, Args)]
pub struct ExplainArgs {
    /// A rule (D001) or the id of a finding of the last run
    #[arg(value_name = "RULE|ID")]
    pub subject: String,
}

#[derive(Clone, Debug, Args)]
pub struct LedgerArgs {
    /// Only sites in this function
    #[arg(long, value_name = "NAME")]
    pub function: Option<String>,
    /// Only sites of this verdict: freed, handed-over, escaped, leak, undecided, given-up, held-at-end, unreachable
    #[arg(long, value_name = "VERDICT", value_parser = parse_verdict)]
    pub verdict: Option<drip_engines::Verdict>,
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    pub limits: LimitArgs,
}

fn parse_verdict(text: &str) -> Result<drip_engines::Verdict, String> {
    drip_report::parse_verdict(text).ok_or_else(|| {
        "expected freed, handed-over, escaped, leak, undecided, given-up, held-at-end or unreachable"
            .to_owned()
    })
}

#[derive(Clone, Debug, Args)]
pub struct BaselineArgs {
    #[command(subcommand)]
    pub action: BaselineAction,
}

#[derive(Clone, Debug, Subcommand)]
pub enum BaselineAction {
    /// Write a new baseline
    Create(BaselineWrite),
    /// Replace an existing baseline and say what changed
    Update(BaselineWrite),
}

#[derive(Clone, Debug, Args)]
pub struct BaselineWrite {
    /// The baseline file [default: the one in drip.toml, else drip-baseline.txt]
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    pub limits: LimitArgs,
}

#[derive(Clone, Debug, Args)]
pub struct ModelsArgs {
    #[command(subcommand)]
    pub action: ModelsAction,
}

#[derive(Clone, Debug, Subcommand)]
pub enum ModelsAction {
    /// Print the models of library functions, or what the functions of a program do with memory
    List(ModelsListArgs),
    /// Read all models and compare them with the declarations of a program
    Test(InputArgs),
}

#[derive(Clone, Debug, Args)]
pub struct ModelsListArgs {
    /// Only functions whose name contains this text
    #[arg(long, value_name = "TEXT")]
    pub contains: Option<String>,
    /// The program's own functions, by what they were found to do: allocate, free, keep or only read what they are given
    #[arg(long)]
    pub computed: bool,
    #[command(flatten)]
    pub input: InputArgs,
}

impl ModelsListArgs {
    pub fn wants(&self, name: &str) -> bool {
        let part = self.contains.as_deref();
        part.is_none_or(|part| name.contains(part))
    }
}

#[derive(Clone, Debug, Args)]
pub struct DumpArgs {
    /// The linked program as text
    #[arg(long, group = "phase")]
    pub program: bool,
    /// What each function does, as its callers see it
    #[arg(long, group = "phase")]
    pub summary: bool,
    /// Objects, cells and points-to sets of one function
    #[arg(long, group = "phase", requires = "function")]
    pub cells: bool,
    /// Memory SSA of one function (with --engine saber: of all)
    #[arg(long, group = "phase")]
    pub memssa: bool,
    /// SABER: points-to sets
    #[arg(long, group = "phase")]
    pub pts: bool,
    /// SABER: sparse value-flow graph
    #[arg(long, group = "phase")]
    pub svfg: bool,
    /// Whose memory SSA
    #[arg(long, value_enum, default_value_t, value_name = "ENGINE")]
    pub engine: Engine,
    /// Use-flow graph of each object that one function makes
    #[arg(long, group = "phase", requires = "function")]
    pub flow: bool,
    /// Graphs for graphviz (`| dot -Tsvg`)
    #[arg(long)]
    pub dot: bool,
    /// Only this function (its symbol name)
    #[arg(long, value_name = "NAME")]
    pub function: Option<String>,
    /// Counts, times and the verifier's verdict instead of the text
    #[arg(long)]
    pub stats: bool,
    #[command(flatten)]
    pub input: InputArgs,
}

#[derive(Clone, Debug, Args)]
pub struct CompareArgs {
    /// The engines to run
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        default_value = "staged,saber",
        value_name = "ENGINES"
    )]
    pub engines: Vec<Engine>,
    #[command(flatten)]
    pub input: InputArgs,
}

#[derive(Clone, Debug, Args)]
pub struct DoctorArgs {
    /// The clang to look at
    #[arg(long, value_name = "PATH")]
    pub clang: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_grammar_has_no_contradictions() {
        Cli::command().debug_assert();
    }

    #[test]
    fn formats_may_name_a_file() {
        let expected = Output {
            format: Format::Sarif,
            file: Some("a=b.sarif".into()),
        };
        assert_eq!(parse_output("sarif=a=b.sarif"), Ok(expected));
        assert!(parse_output("sarif=").is_err());
        assert!(parse_output("xml").is_err());
    }

    #[test]
    fn the_build_command_comes_after_two_dashes() {
        let cli = Cli::parse_from(["drip", "check", "--exit-zero", "--", "make", "-j8"]);
        let Command::Check(args) = cli.command else {
            panic!("not a check");
        };
        assert_eq!(args.input.build, ["make", "-j8"]);
        assert!(args.input.paths.is_empty());
    }
}
