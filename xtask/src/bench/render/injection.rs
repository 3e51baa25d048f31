//! Tables of the injected leaks: recall by program, kind and origin, causes of misses, repairs.

use super::super::results::{Mutant, Results};
use super::line;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Reported of all, as `7 of 9`.
fn reported<'a>(mutants: impl Iterator<Item = &'a Mutant>) -> String {
    let (mut all, mut found) = (0, 0);
    for mutant in mutants {
        all += 1;
        found += usize::from(mutant.reported.is_some());
    }
    match all {
        0 => "–".to_owned(),
        _ => format!("{found} of {all}"),
    }
}

/// Share of the injected leaks that were reported, if there are any.
fn share(mutants: &[Mutant]) -> Option<f64> {
    let found = mutants.iter().filter(|m| m.reported.is_some()).count();
    (!mutants.is_empty()).then(|| found as f64 / mutants.len() as f64)
}

pub fn recall(results: &Results) -> String {
    let mutants = &results.injection.mutants;
    let kinds: BTreeSet<&str> = mutants.iter().map(|m| m.kind.as_str()).collect();
    let programs: BTreeSet<&str> = mutants.iter().map(|m| m.program.as_str()).collect();
    let mut out = format!("Seed {}.\n\n", results.injection.seed);
    line!(
        out,
        "| program |{} all |",
        kinds.iter().map(|k| format!(" {k} |")).collect::<String>()
    );
    line!(out, "|---|{}", "---:|".repeat(kinds.len() + 1));
    let row = |name: &str, of: &dyn Fn(&&Mutant) -> bool| {
        let cell = |kind: &&str| {
            format!(
                " {} |",
                reported(mutants.iter().filter(of).filter(|m| m.kind == *kind))
            )
        };
        let cells: String = kinds.iter().map(cell).collect();
        format!(
            "| {name} |{cells} {} |",
            reported(mutants.iter().filter(of))
        )
    };
    for program in &programs {
        line!(out, "{}", row(program, &|m| m.program == *program));
    }
    line!(out, "{}", row("**all**", &|_| true));
    if let Some(share) = share(mutants) {
        line!(
            out,
            "\nRecall {:.0} %. By origin of the freed pointer:\n",
            share * 100.0
        );
    }
    line!(out, "| origin | reported |\n|---|---:|");
    for origin in mutants
        .iter()
        .map(|m| m.origin.as_str())
        .collect::<BTreeSet<_>>()
    {
        line!(
            out,
            "| {origin} | {} |",
            reported(mutants.iter().filter(|m| m.origin == origin))
        );
    }
    let mut excluded: BTreeMap<&str, usize> = BTreeMap::new();
    for (key, count) in &results.injection.excluded {
        let rule = key.split_once(": ").map_or(key.as_str(), |(_, rule)| rule);
        *excluded.entry(rule).or_default() += count;
    }
    let shown: Vec<String> = excluded
        .iter()
        .map(|(rule, count)| format!("{rule} {count}"))
        .collect();
    line!(
        out,
        "\nDrawn but left out by the rule: {}.",
        shown.join(", ")
    );
    out.push_str(&peers(mutants));
    out.push_str(&confirmed(mutants));
    out
}

/// The mutants that the peers were tried on, by tool.
fn peers(mutants: &[Mutant]) -> String {
    let tried: Vec<&Mutant> = mutants.iter().filter(|m| !m.peers.is_empty()).collect();
    if tried.is_empty() {
        return String::new();
    }
    let percent = |found: usize| 100.0 * found as f64 / tried.len() as f64;
    let mut out = format!(
        "\nThe {} removed calls that could be made in the source of one unit, by tool:\n\n| tool | reported | |\n|---|---:|---:|\n",
        tried.len()
    );
    let drip = tried.iter().filter(|m| m.reported.is_some()).count();
    line!(out, "| drip | {drip} | {:.0} % |", percent(drip));
    for peer in tried
        .iter()
        .flat_map(|m| m.peers.keys())
        .collect::<BTreeSet<_>>()
    {
        let found = tried
            .iter()
            .filter(|m| m.peers.get(peer) == Some(&true))
            .count();
        line!(out, "| {peer} | {found} | {:.0} % |", percent(found));
    }
    out
}

fn confirmed(mutants: &[Mutant]) -> String {
    let with = |answer: &str| {
        mutants
            .iter()
            .filter(|m| m.sanitizer.as_deref() == Some(answer))
            .count()
    };
    let tried = mutants.iter().filter(|m| m.sanitizer.is_some()).count();
    if tried == 0 {
        return String::new();
    }
    let found = mutants
        .iter()
        .filter(|m| m.sanitizer.as_deref() == Some("leak") && m.reported.is_some())
        .count();
    format!(
        "\nLeakSanitizer on {tried} of them: {} leak when run ({found} of these were reported by drip), {} did not leak in \
         the run, {} were not reached by the workload.\n",
        with("leak"),
        with("no leak"),
        with("not executed")
    )
}

/// Causes of misses with fewer than this many mutants are told together.
const RARE: usize = 2;

pub fn misses(results: &Results) -> String {
    let missed: Vec<&Mutant> = results
        .injection
        .mutants
        .iter()
        .filter(|m| m.reported.is_none())
        .collect();
    let mut causes: BTreeMap<&str, Vec<&Mutant>> = BTreeMap::new();
    for &mutant in &missed {
        causes
            .entry(mutant.cause.as_deref().unwrap_or("unknown"))
            .or_default()
            .push(mutant);
    }
    let mut causes: Vec<_> = causes.into_iter().collect();
    causes.sort_by_key(|(cause, mutants)| (std::cmp::Reverse(mutants.len()), *cause));
    let mut out = String::new();
    line!(
        out,
        "| cause, by the ledger | misses | for example |\n|---|---:|---|"
    );
    let mut rare = 0;
    for (cause, mutants) in causes {
        if mutants.len() < RARE {
            rare += mutants.len();
            continue;
        }
        let example = mutants[0];
        line!(
            out,
            "| {} | {} | {} {}:{} |",
            cause.replace('|', "\\|"),
            mutants.len(),
            example.program,
            example.file,
            example.line
        );
    }
    line!(out, "| others, one each | {rare} | |");
    out
}

pub fn repairs(results: &Results) -> String {
    let mut by_result: BTreeMap<&str, usize> = BTreeMap::new();
    for repair in &results.injection.repairs {
        *by_result.entry(repair.result.as_str()).or_default() += 1;
    }
    let mut out = String::new();
    line!(
        out,
        "| report after its object is freed | findings |\n|---|---:|"
    );
    for (result, count) in by_result {
        line!(out, "| {result} | {count} |");
    }
    out
}
