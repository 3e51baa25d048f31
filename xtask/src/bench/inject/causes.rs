//! Why was an injected leak not reported? The ledger's word, made comparable.
//!
//! First what changed in the ledger by the mutation (a site that was freed and is now something else), then limits, then
//! what the ledger says of the calls that the freed pointer comes from, in this function or in those that call it. Names are taken out of the reasons, so that equal
//! causes have equal texts.

use super::sites::{Origin, Root, direct_call, origins};
use drip_engines::{Analysis, LedgerEntry, SourcePos, Verdict};
use drip_program::{Body, FuncId, InstId, Operand, Program};
use std::collections::{BTreeMap, HashSet};

/// The ledger by site; a site may have several entries.
type Sites<'a> = BTreeMap<(&'a SourcePos, &'a str), Vec<(Verdict, &'a str)>>;

fn sites(ledger: &[LedgerEntry]) -> Sites<'_> {
    let mut sites = Sites::new();
    for entry in ledger {
        let key = (&entry.at, entry.callee.as_str());
        sites
            .entry(key)
            .or_default()
            .push((entry.verdict, entry.reason.as_str()));
    }
    sites
}

/// Functions that used up their fuel, and the changed one.
pub struct Limits<'a> {
    pub limited: &'a HashSet<FuncId>,
    pub changed: FuncId,
}

/// Found, and not shown to a user who has set nothing.
pub const SUSPICION: &str = "found with low confidence, which is not shown by default";

/// The cause of a miss.
pub fn cause(
    before: &Analysis,
    after: &Analysis,
    limits: &Limits<'_>,
    from: &[Origin],
    made_at: &[Maker],
) -> String {
    let (old, new) = (sites(&before.ledger), sites(&after.ledger));
    let gained = new.iter().find_map(|(site, now)| {
        let was = old.get(site).map_or(&[][..], Vec::as_slice);
        now.iter().find(|fate| !was.contains(fate)).copied()
    });
    if limits.limited.contains(&limits.changed) {
        return "the function hit a limit".to_owned();
    }
    if let Some((Verdict::Leak, _)) = gained {
        return SUSPICION.to_owned();
    }
    if let Some((verdict, reason)) = gained {
        return format!("now {}: {}", name(verdict), without_names(reason));
    }
    for (site, fates) in &new {
        if let Some((verdict, reason)) = fates.first()
            && made_at.iter().any(|maker| same_place(&maker.at, site.0))
        {
            return format!("still {}: {}", name(*verdict), without_names(reason));
        }
    }
    let makers = || made_at.iter().filter_map(|maker| maker.callee);
    if makers().any(|maker| limits.limited.contains(&maker)) {
        return "the function that hands the memory out hit a limit".to_owned();
    }
    let elsewhere = if made_at.is_empty() {
        "and comes from nowhere that is seen"
    } else {
        "and the ledger has no site for it"
    };
    match from.first() {
        Some(Origin {
            root: Root::Call(_),
            loads: 0,
        }) => "the call is not seen to allocate".to_owned(),
        Some(origin) => format!("freed is a {} {elsewhere}", origin.text()),
        None => "no origin".to_owned(),
    }
}

fn same_place(a: &SourcePos, b: &SourcePos) -> bool {
    (a.line, a.column, &a.function) == (b.line, b.column, &b.function)
}

fn name(verdict: Verdict) -> String {
    let text = format!("{verdict:?}");
    text.chars()
        .flat_map(|c| {
            c.is_uppercase()
                .then_some(' ')
                .into_iter()
                .chain(c.to_lowercase())
        })
        .collect::<String>()
        .trim_start()
        .to_owned()
}

/// What stands in backquotes becomes `…`; digits become one `0`.
fn without_names(reason: &str) -> String {
    let mut out = String::new();
    for (index, piece) in reason.split('`').enumerate() {
        out.push_str(if index % 2 == 0 { piece } else { "…" });
    }
    let mut shown = String::new();
    for c in out.chars() {
        match c {
            '0'..='9' if shown.ends_with('0') => {}
            '0'..='9' => shown.push('0'),
            _ => shown.push(c),
        }
    }
    shown
}

/// Callers above the changed function in which the origin of a freed parameter is looked for.
const MAX_LEVELS: usize = 5;

/// A call that the freed pointer comes from.
pub struct Maker {
    at: SourcePos,
    callee: Option<FuncId>,
}

/// The calls whose result (or what is behind it) the pointer is, also in callers if it is a parameter.
pub fn made_at(program: &Program, func: FuncId, pointer: Operand) -> Vec<Maker> {
    let mut places = Vec::new();
    let mut work = vec![(func, pointer, 0)];
    let mut seen = HashSet::new();
    while let Some((func, pointer, level)) = work.pop() {
        let Some(body) = &program.funcs[func].body else {
            continue;
        };
        for origin in origins(body, pointer) {
            match origin.root {
                Root::Call(inst) => places.push(Maker {
                    at: position(program, func, body, inst),
                    callee: direct_call(body, inst).map(|(callee, _)| callee),
                }),
                Root::Param(index) if level < MAX_LEVELS && seen.insert((func, index)) => {
                    let arguments = arguments(program, func, index);
                    work.extend(arguments.map(|(caller, argument)| (caller, argument, level + 1)));
                }
                _ => {}
            }
        }
    }
    places
}

/// What direct calls of `callee` hand to its parameter.
fn arguments(
    program: &Program,
    callee: FuncId,
    index: usize,
) -> impl Iterator<Item = (FuncId, Operand)> {
    program
        .funcs
        .iter_enumerated()
        .filter_map(|(func, function)| function.body.as_ref().map(|body| (func, body)))
        .flat_map(move |(func, body)| {
            let calls = body.insts.ids().iter();
            let calls = calls.filter_map(|inst| direct_call(body, inst));
            let of_callee = calls.filter(move |(called, _)| *called == callee);
            of_callee.filter_map(move |(_, args)| args.get(index).map(|&arg| (func, arg)))
        })
}

/// Source position of an instruction.
pub fn position(program: &Program, func: FuncId, body: &Body, inst: InstId) -> SourcePos {
    let loc = body.insts[inst].loc.map(|loc| body.locs[loc]);
    SourcePos {
        file: loc.map_or_else(String::new, |loc| {
            program.file_path(loc.file).display().to_string()
        }),
        line: loc.map_or(0, |loc| loc.line),
        column: loc.map_or(0, |loc| loc.column),
        function: program.shown_name(func).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(verdict: Verdict, reason: &str) -> LedgerEntry {
        LedgerEntry {
            at: SourcePos::default(),
            callee: "malloc".to_owned(),
            verdict,
            reason: reason.to_owned(),
        }
    }

    #[test]
    fn what_changed_is_the_cause() {
        let of = |entries: Vec<LedgerEntry>| Analysis {
            ledger: entries,
            ..Analysis::default()
        };
        let before = of(vec![entry(Verdict::Freed, "freed in `f`")]);
        let after = of(vec![entry(Verdict::HandedOver, "stored in `p->q` at 17")]);
        let (free, full) = (HashSet::new(), HashSet::from([FuncId::new(1)]));
        let limits = |limited| Limits {
            limited,
            changed: FuncId::new(1),
        };
        let told = cause(&before, &after, &limits(&free), &[], &[]);
        assert_eq!(told, "now handed over: stored in … at 0");
        let maker = Maker {
            at: SourcePos::default(),
            callee: None,
        };
        let told = cause(&before, &before, &limits(&free), &[], &[maker]);
        assert_eq!(told, "still freed: freed in …");
        let told = cause(&before, &before, &limits(&full), &[], &[]);
        assert_eq!(told, "the function hit a limit");
    }
}
