//! `bench frontend`: drip's reader, linker and SSA construction against LLVM's own.
//!
//! drip runs `drip dump --program --stats FILE` with one thread: every body is decoded, promoted and
//! verified, source locations included. The yardstick is `opt-N -passes=mem2reg -disable-output FILE`
//! of the LLVM that made the file. Without files, SQLite's amalgamation (from the sources of the crate
//! `libsqlite3-sys`) is compiled with clang 14 and 19 and the flags that capture uses.

use super::measure::{Figures, median_of};
use anyhow::{Context, bail, ensure};
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(clap::Args)]
pub struct Options {
    /// Bitcode files; without any, SQLite's is made
    files: Vec<PathBuf>,
    /// Runs of each command; the median counts
    #[arg(long, default_value_t = 5)]
    runs: usize,
    /// LLVM version of the yardstick for the given files
    #[arg(long, default_value_t = 19)]
    llvm: u32,
    /// Measure this binary instead of building one
    #[arg(long)]
    drip: Option<PathBuf>,
    /// Write the figures to this file as JSON
    #[arg(long)]
    json: Option<PathBuf>,
}

/// Flags with which `drip` compiles what it analyses.
pub const CAPTURE_FLAGS: &[&str] = &[
    "-g",
    "-O1",
    "-Xclang",
    "-disable-llvm-passes",
    "-Xclang",
    "-disable-lifetime-markers",
    "-U__OPTIMIZE__",
];
const SQLITE_CRATE: &str = "libsqlite3-sys";
const SQLITE_CRATE_VERSION: &str = "0.30";
const SQLITE_CLANGS: &[u32] = &[14, 19];

#[derive(Serialize)]
struct Row {
    file: String,
    llvm: u32,
    size_mb: f64,
    drip: Figures,
    opt: Figures,
    /// drip's user CPU relative to opt's.
    user_ratio: f64,
    /// drip's peak memory relative to the file's size.
    memory_ratio: f64,
}

pub fn run(root: &Path, options: &Options) -> anyhow::Result<bool> {
    let drip = match &options.drip {
        Some(given) => given.clone(),
        None => super::build_drip(root)?,
    };
    let inputs = if options.files.is_empty() {
        let source = sqlite_source(root)?;
        SQLITE_CLANGS
            .iter()
            .map(|&llvm| Ok((sqlite_bitcode(root, &source, llvm)?, llvm)))
            .collect::<anyhow::Result<Vec<_>>>()?
    } else {
        let given = options.files.iter();
        given.map(|file| (file.clone(), options.llvm)).collect()
    };
    let mut rows = Vec::new();
    for (file, llvm) in inputs {
        rows.push(measure(root, &drip, &file, llvm, options.runs)?);
    }
    print_table(&rows);
    if let Some(path) = &options.json {
        fs::write(path, serde_json::to_string_pretty(&rows)?)
            .with_context(|| format!("cannot write {path:?}"))?;
    }
    Ok(true)
}

fn measure(root: &Path, drip: &Path, file: &Path, llvm: u32, runs: usize) -> anyhow::Result<Row> {
    let size = fs::metadata(file).with_context(|| format!("cannot read {file:?}"))?;
    let size_mb = size.len() as f64 / (1024.0 * 1024.0);
    let drip = median_of(runs, || {
        let mut command = Command::new(drip);
        command.args(["dump", "--program", "--stats", "--jobs", "1"]);
        command.arg(file);
        command
    })?;
    let opt = median_of(runs, || {
        let mut command = Command::new(format!("opt-{llvm}"));
        command.args(["-passes=mem2reg", "-disable-output"]);
        command.arg(file);
        command
    })?;
    Ok(Row {
        file: file
            .strip_prefix(root)
            .unwrap_or(file)
            .display()
            .to_string(),
        llvm,
        size_mb,
        drip,
        opt,
        user_ratio: drip.user_s / opt.user_s,
        memory_ratio: drip.peak_mb / size_mb,
    })
}

fn print_table(rows: &[Row]) {
    println!(
        "| file | MB | drip user s | opt user s | ratio | drip peak MB | × file | opt peak MB |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for row in rows {
        println!(
            "| {} (opt-{}) | {:.1} | {:.2} | {:.2} | {:.2} | {:.0} | {:.1} | {:.0} |",
            row.file,
            row.llvm,
            row.size_mb,
            row.drip.user_s,
            row.opt.user_s,
            row.user_ratio,
            row.drip.peak_mb,
            row.memory_ratio,
            row.opt.peak_mb
        );
    }
}

/// `sqlite3.c` out of the sources of the crate, which cargo fetches into a throw-away project.
fn sqlite_source(root: &Path) -> anyhow::Result<PathBuf> {
    let project = root.join("target/bench/sqlite");
    let source = project
        .join("vendor")
        .join(SQLITE_CRATE)
        .join("sqlite3/sqlite3.c");
    if source.exists() {
        return Ok(source);
    }
    fs::create_dir_all(project.join("src"))?;
    fs::write(project.join("src/lib.rs"), "")?;
    let manifest = format!(
        "[package]\nname = \"sqlite-source\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\
         [workspace]\n[dependencies]\n{SQLITE_CRATE} = \"{SQLITE_CRATE_VERSION}\"\n"
    );
    fs::write(project.join("Cargo.toml"), manifest)?;
    succeed(
        Command::new(env!("CARGO"))
            .current_dir(&project)
            .args(["vendor", "--quiet", "vendor"]),
    )?;
    ensure!(source.exists(), "{SQLITE_CRATE} has no {source:?}");
    Ok(source)
}

fn sqlite_bitcode(root: &Path, source: &Path, llvm: u32) -> anyhow::Result<PathBuf> {
    let out = root.join(format!("target/bench/sqlite3-clang{llvm}.bc"));
    if !out.exists() {
        let mut clang = Command::new(format!("clang-{llvm}"));
        clang.args(CAPTURE_FLAGS).args(["-w", "-emit-llvm", "-c"]);
        succeed(clang.arg("-o").arg(&out).arg(source))?;
    }
    Ok(out)
}

fn succeed(command: &mut Command) -> anyhow::Result<()> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => bail!("{command:?} failed: {status}"),
        Err(error) => bail!("cannot run {command:?}: {error}"),
    }
}
