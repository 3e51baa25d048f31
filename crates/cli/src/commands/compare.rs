//! `drip compare`: what each engine finds, side by side, with the time and memory of each.
//!
//! Every engine runs in a process of its own, so that its CPU time and peak memory are its own; reading the program is part
//! of both.

use crate::args::CompareArgs;
use crate::engine::Engine;
use crate::exit::Exit;
use crate::output;
use crate::ui::Ui;
use anyhow::{Context, bail};
use std::collections::BTreeMap;
use std::io::Read;
use std::process::{Command, Stdio};
use std::time::Duration;
use wait4::Wait4;

/// Findings of an engine by place: the line of the allocation or of the call that hands the memory out.
type Places = BTreeMap<(String, u64), Vec<String>>;

struct Measured {
    engine: Engine,
    findings: usize,
    places: Places,
    user: Duration,
    peak_bytes: u64,
}

pub fn run(args: &CompareArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let mut all = Vec::new();
    for &engine in &args.engines {
        ui.detail(&format!("running {}", engine.name()));
        all.push(measure(args, engine)?);
    }
    let mut out = String::new();
    out.push_str("engine    findings   user s   peak MB\n");
    for one in &all {
        out.push_str(&format!(
            "{:8} {:9} {:8.2} {:9}\n",
            one.engine.name(),
            one.findings,
            one.user.as_secs_f64(),
            one.peak_bytes >> 20,
        ));
    }
    out.push_str(&differences(&all));
    output::print(&out)?;
    Ok(Exit::Clean)
}

/// Places that all engines report, then those that only some do.
fn differences(all: &[Measured]) -> String {
    let mut by_place: BTreeMap<&(String, u64), Vec<usize>> = BTreeMap::new();
    for (at, one) in all.iter().enumerate() {
        for place in one.places.keys() {
            by_place.entry(place).or_default().push(at);
        }
    }
    let mut groups: BTreeMap<Vec<usize>, Vec<&(String, u64)>> = BTreeMap::new();
    for (place, engines) in by_place {
        groups.entry(engines).or_default().push(place);
    }
    let mut out = String::new();
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(engines, _)| std::cmp::Reverse(engines.len()));
    for (engines, places) in groups {
        let names: Vec<&str> = engines.iter().map(|&at| all[at].engine.name()).collect();
        let who = if engines.len() == all.len() && all.len() > 1 {
            "all".to_owned()
        } else {
            format!("only {}", names.join(" and "))
        };
        out.push_str(&format!("\n{who}: {} places\n", places.len()));
        for place in places {
            for message in engines
                .first()
                .and_then(|&at| all[at].places.get(place))
                .into_iter()
                .flatten()
            {
                out.push_str(&format!("  {}:{}: {message}\n", place.0, place.1));
            }
        }
    }
    out
}

fn measure(args: &CompareArgs, engine: Engine) -> anyhow::Result<Measured> {
    let program = std::env::current_exe().context("cannot find drip itself")?;
    let mut command = Command::new(program);
    command
        .args(["--quiet", "check", "--exit-zero", "--output-format", "json"])
        .args(["--engine", engine.name()])
        .args(args.input.words())
        .stdout(Stdio::piped());
    let mut child = command.spawn().context("cannot start drip again")?;
    let mut text = String::new();
    if let Some(mut pipe) = child.stdout.take() {
        pipe.read_to_string(&mut text)
            .context("cannot read its answer")?;
    }
    let used = child.wait4().context("cannot wait for it")?;
    if !used.status.success() && used.status.code() != Some(3) {
        bail!("drip check --engine {} failed", engine.name());
    }
    let report: serde_json::Value =
        serde_json::from_str(&text).with_context(|| format!("{} gave no report", engine.name()))?;
    let mut places = Places::new();
    let findings = report["findings"].as_array().map_or(&[][..], Vec::as_slice);
    for finding in findings {
        let at = &finding["location"];
        let place = (
            at["file"].as_str().unwrap_or_default().to_owned(),
            at["line"].as_u64().unwrap_or_default(),
        );
        let message = finding["message"].as_str().unwrap_or_default().to_owned();
        places.entry(place).or_default().push(message);
    }
    Ok(Measured {
        engine,
        findings: findings.len(),
        places,
        user: used.rusage.utime,
        peak_bytes: used.rusage.maxrss,
    })
}
