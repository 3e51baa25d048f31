//! Question: which findings have one cause?
//!
//! A function that frees or keeps its argument on some paths and not on others loses the memory of everybody who calls it. That is
//! one defect, and hundreds of findings: if more than [`MAX_PER_CAUSE`] allocations are lost because the same function did not
//! take them this time, the first one is shown and says how many more there are (Engler's "belief": callers that all do the
//! same are right, and the function is wrong).

use drip_flow::{Choice, Frame, UseFlow, Values};
use drip_models::{Atom, Outcome};
use drip_program::{Const, FuncId, InstId, Op};
use rustc_hash::{FxHashMap, FxHashSet};

use super::afterwards::{Returns, afterwards};
use super::alternatives::Called;
use super::keys::{Keys, has_key};
use super::paths::Path;
use super::settings::Setting;
use crate::finding::{AllocationLink, Confidence, Finding, LostPoint, Rule, SourcePos};

/// Findings of one variable at one place before they are shown as one.
const MAX_PER_PLACE: usize = 2;

/// Fields of a structure that a finding names.
const MAX_NAMES: usize = 3;

/// Findings that one function may cause before they are shown as one.
const MAX_PER_CAUSE: usize = 4;

/// What a function does to an argument on other paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Care {
    Keep,
    Free,
}

impl Care {
    pub fn verb(self) -> &'static str {
        match self {
            Care::Keep => "keep",
            Care::Free => "free",
        }
    }
}

/// A call that could have taken care of the object and did not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blamed {
    pub call: InstId,
    pub func: FuncId,
    pub care: Care,
}

/// A finding with the function that could have taken care of the object and did not.
pub struct Caused {
    pub finding: Finding,
    pub(super) by: Option<Blamed>,
    /// The functions that have refused the block, and as which argument, if each of the losses is such a refusal.
    pub(super) refused: Option<Vec<(FuncId, usize)>>,
    /// What comes after all of its losses, if that is only a return.
    pub(super) after: Option<Returns>,
    /// The function that loses it, and what each of the losses asks of its arguments.
    pub(super) asked: Option<(FuncId, Vec<Vec<Atom>>)>,
    /// The variables that hold it, if each loss is a setting that is given twice.
    pub(super) settings: Option<Vec<Setting>>,
    /// The loop that loses it when its key comes twice, if each loss is one of that loop.
    pub(super) keys: Option<Keys>,
}

impl Caused {
    /// A finding that stands for itself.
    pub fn plain(finding: Finding) -> Caused {
        Caused {
            finding,
            by: None,
            refused: None,
            after: None,
            asked: None,
            settings: None,
            keys: None,
        }
    }
}

/// What comes after all of these losses, if that is only a return.
pub(super) fn after_all(
    frame: &Frame<'_>,
    values: &mut Values,
    flow: &UseFlow,
    losses: &[(usize, Path, Confidence)],
) -> Option<Returns> {
    if !flow.is_freed_somewhere() && is_lost_in_each_turn(frame, flow) {
        // What the last one loses is the least of it.
        return None;
    }
    let mut all: Option<Returns> = None;
    // Losses that are only suspected are no reason to show it.
    let shown = losses.iter().filter(|loss| loss.2 > Confidence::Low);
    for (index, path, _) in shown {
        let after = afterwards(frame, values, flow, path, &flow.ends[*index])?;
        match &mut all {
            Some(all) => all.join(after),
            None => all = Some(after),
        }
    }
    all
}

/// Is the block made in a loop, and only ever in a variable that the next turn uses again?
fn is_lost_in_each_turn(frame: &Frame<'_>, flow: &UseFlow) -> bool {
    let Some((call, _)) = flow.birth(frame) else {
        return false;
    };
    let result = frame.body.result(call);
    let is_bound =
        frame.body.insts.iter().any(
            |data| matches!(data.op, Op::Bind { value, .. } if value.as_value() == Some(result)),
        );
    let is_stored = frame.uses(result).any(|user| {
        matches!(frame.body.insts[user].op, Op::Store { value, .. } if value.as_value() == Some(result))
    });
    let loops = frame.cfg.loops();
    let birth = frame.block_of(call);
    // An option that is given once is made in one turn only.
    let is_repeated = |id| !has_key(frame, birth, loops.header(id));
    is_bound && !is_stored && loops.innermost(birth).is_some_and(is_repeated)
}

/// The last call on the path that frees or keeps the object in another outcome than the one it had.
pub(super) fn cause(frame: &Frame<'_>, flow: &UseFlow, path: &Path) -> Option<Blamed> {
    let choices = path.hops.iter().flat_map(|hop| &hop.choices);
    choices
        .filter_map(|choice| blamed(frame, flow, choice))
        .last()
}

fn blamed(frame: &Frame<'_>, flow: &UseFlow, choice: &Choice) -> Option<Blamed> {
    let func = defined_callee(frame, choice.inst)?;
    let call = Called::new(frame, flow, choice.inst)?;
    let chosen = call.outcomes.get(usize::from(choice.alternative))?;
    let is_otherwise = |other: &&Outcome| call.takes_more(other, chosen);
    let mut others = call.outcomes.iter().filter(is_otherwise).peekable();
    others.peek()?;
    let care = match others.any(|other| call.frees(other)) {
        true => Care::Free,
        false => Care::Keep,
    };
    Some(Blamed {
        call: choice.inst,
        func,
        care,
    })
}

/// The function that a call goes to, if its body is known: library functions do what their models say.
pub(super) fn defined_callee(frame: &Frame<'_>, inst: InstId) -> Option<FuncId> {
    let (Op::Call { callee, .. } | Op::Invoke { callee, .. }) = frame.body.insts[inst].op else {
        return None;
    };
    match frame.body.const_of(callee) {
        Some(Const::Func(func)) if frame.program.funcs[*func].body.is_some() => Some(*func),
        _ => None,
    }
}

/// Shows what one loop loses when a key comes twice as one finding, the first of those that are most certain: whoever mends one of the
/// cases mends them all. `findings` are in the order of the report.
pub fn one_per_loop(findings: Vec<Caused>) -> Vec<Caused> {
    let keys = |caused: &Caused| {
        let is_shown = caused.finding.confidence > Confidence::Low;
        let is_overwritten = caused.finding.rule == Rule::D003;
        caused.keys.filter(|_| is_shown && is_overwritten)
    };
    let mut groups: FxHashMap<Keys, (Vec<u32>, Confidence)> = FxHashMap::default();
    for caused in &findings {
        let Some(keys) = keys(caused) else { continue };
        let confidence = caused.finding.confidence;
        let (lines, most) = groups.entry(keys).or_insert((Vec::new(), confidence));
        lines.push(caused.finding.primary.line);
        *most = confidence.max(*most);
    }
    groups.retain(|_, (lines, _)| lines.len() > MAX_PER_CAUSE);
    let mut said: FxHashSet<Keys> = FxHashSet::default();
    let mut shown = Vec::with_capacity(findings.len());
    for mut caused in findings {
        let group = keys(&caused).and_then(|keys| groups.get_key_value(&keys));
        if let Some((&keys, (lines, confidence))) = group {
            if caused.finding.confidence < *confidence || !said.insert(keys) {
                continue;
            }
            let own = caused.finding.primary.line;
            let at = lines.iter().position(|&line| line == own);
            let others = lines.iter().enumerate().filter(|(n, _)| Some(*n) != at);
            let others: Vec<String> = others.map(|(_, line)| line.to_string()).collect();
            caused.finding.message = format!(
                "{}; so is what {} more calls in this loop make (lines {}), if a key comes twice",
                caused.finding.message,
                others.len(),
                enumeration(&others)
            );
        }
        shown.push(caused);
    }
    shown
}

/// Shows allocations that are lost at the same places, out of the same variable, as one finding: whoever mends one mends them all.
/// `findings` are in the order of the report.
pub fn one_per_place(findings: Vec<Finding>) -> Vec<Finding> {
    type Place = (String, Vec<LostPoint>, Option<String>, bool);
    let place = |finding: &Finding| -> Place {
        let function = format!("{}:{}", finding.primary.file, finding.primary.function);
        let is_shown = finding.confidence > Confidence::Low;
        (
            function,
            finding.lost.clone(),
            finding.variable.clone(),
            is_shown,
        )
    };
    let mut counts: FxHashMap<Place, usize> = FxHashMap::default();
    for finding in &findings {
        *counts.entry(place(finding)).or_default() += 1;
    }
    let mut shown = Vec::with_capacity(findings.len());
    for mut finding in findings {
        let Some(count) = counts.get_mut(&place(&finding)) else {
            continue;
        };
        match *count {
            0 => continue,
            1..=MAX_PER_PLACE => {}
            _ => {
                let more = *count - 1;
                finding.message = format!(
                    "{}, as is what {more} more calls in the function put there",
                    finding.message
                );
                *count = 0;
            }
        }
        shown.push(finding);
    }
    shown
}

/// Without findings that say word for word what another one says: two calls of one line (a macro) that lose the same at the same places.
/// `findings` are in the order of the report.
pub fn without_repetitions(mut findings: Vec<Finding>) -> Vec<Finding> {
    type Said = (SourcePos, String, Vec<AllocationLink>, Vec<LostPoint>);
    let mut said: FxHashSet<Said> = FxHashSet::default();
    findings.retain(|finding| {
        said.insert((
            finding.primary.clone(),
            finding.message.clone(),
            finding.allocation.clone(),
            finding.lost.clone(),
        ))
    });
    findings
}

/// Shows the fields that one call forgets when it frees their structure as one finding: `free` in place of the destructor.
/// `findings` are in the order of the report.
pub fn one_per_release(findings: Vec<Finding>) -> Vec<Finding> {
    // What the paths have found is shown with its path.
    let release = |finding: &Finding| match (&finding.lost[..], &finding.variable) {
        ([lost], Some(field)) if finding.rule == Rule::D004 && finding.path.len() == 2 => {
            Some((lost.at.clone(), field.clone()))
        }
        _ => None,
    };
    let mut groups: FxHashMap<SourcePos, Vec<String>> = FxHashMap::default();
    for (at, field) in findings.iter().filter_map(release) {
        groups.entry(at).or_default().push(field);
    }
    groups.retain(|_, fields| fields.len() > MAX_PER_PLACE);
    let mut shown: FxHashSet<SourcePos> = FxHashSet::default();
    let mut kept = Vec::with_capacity(findings.len());
    for mut finding in findings {
        let at = release(&finding).map(|(at, _)| at);
        if let Some((at, fields)) = at.and_then(|at| groups.get_key_value(&at)) {
            if !shown.insert(at.clone()) {
                continue;
            }
            finding.message = format!(
                "{}, and so is what {} hold",
                finding.message,
                list(&fields[1..])
            );
        }
        kept.push(finding);
    }
    kept
}

/// "`a`, `b` and 3 more".
fn list(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    enumeration(&quoted)
}

/// "a, b and 3 more".
fn enumeration(names: &[String]) -> String {
    match names {
        [front @ .., last] if names.len() <= MAX_NAMES && !front.is_empty() => {
            format!("{} and {last}", front.join(", "))
        }
        few if few.len() <= MAX_NAMES => few.join(", "),
        many => format!(
            "{} and {} more",
            many[..MAX_NAMES].join(", "),
            many.len() - MAX_NAMES
        ),
    }
}

/// What is known of all findings with one cause.
struct Group {
    size: usize,
    /// The functions that lose them, and whether any of that is more than a suspicion.
    losers: FxHashMap<Option<FuncId>, bool>,
    /// The confidence of the one that stands for all.
    confidence: Confidence,
    is_shown: bool,
}

/// Shows findings with one cause as one, the first of those that are most certain. `findings` are in the order of the report.
pub fn one_per_cause(findings: Vec<Caused>, name: impl Fn(FuncId) -> String) -> Vec<Finding> {
    let mut groups: FxHashMap<FuncId, Group> = FxHashMap::default();
    for caused in &findings {
        let Some(by) = caused.by else { continue };
        let confidence = caused.finding.confidence;
        let group = groups.entry(by.func).or_insert(Group {
            size: 0,
            losers: FxHashMap::default(),
            confidence,
            is_shown: false,
        });
        group.size += 1;
        let loser = caused.asked.as_ref().map(|(func, _)| *func);
        *group.losers.entry(loser).or_default() |= confidence > Confidence::Low;
        group.confidence = group.confidence.max(confidence);
    }
    groups.retain(|_, group| group.size > MAX_PER_CAUSE);
    let mut shown = Vec::with_capacity(findings.len());
    for Caused {
        mut finding, by, ..
    } in findings
    {
        let known = by.and_then(|by| Some((by, groups.get_mut(&by.func)?)));
        let Some((by, group)) = known else {
            shown.push(finding);
            continue;
        };
        if group.is_shown || finding.confidence < group.confidence {
            continue;
        }
        group.is_shown = true;
        // Everybody hands blocks to a function that may refuse them, and hardly ever a run shows that it does: it will not. So do fields of
        // structures belong together that a destructor asks for. A function that calls it twenty times is one that does so.
        let certain = group
            .losers
            .values()
            .filter(|is_certain| **is_certain)
            .count();
        if 2 * certain < group.losers.len() {
            tracing::trace!(at = ?finding.primary, "group of suspicions");
            finding.confidence = Confidence::Low;
        }
        finding.message = format!(
            "{}; {} more allocations are lost because `{}` does not always {}",
            finding.message,
            group.size - 1,
            name(by.func),
            by.care.verb()
        );
        shown.push(finding);
    }
    shown
}
