//! Question: which findings have one cause?
//!
//! A function that frees its argument on some paths and not on others loses the memory of everybody who calls it. That is
//! one defect, and hundreds of findings: if more than [`MAX_PER_CAUSE`] allocations are lost because the same function did not
//! free them this time, the first one is shown and says how many more there are (Engler's "belief": callers that all do the
//! same are right, and the function is wrong).

use drip_flow::{Choice, Frame, UseFlow, Values};
use drip_models::{Atom, Outcome};
use drip_pointer::ObjKind;
use drip_program::{Const, FuncId, InstId, Op};
use rustc_hash::FxHashMap;

use super::afterwards::{Returns, afterwards};
use super::doubts::has_key;
use super::paths::Path;
use super::settings::Setting;
use crate::finding::{Confidence, Finding, LostPoint};

/// Findings of one variable at one place before they are shown as one.
const MAX_PER_PLACE: usize = 2;

/// Findings that one function may cause before they are shown as one.
const MAX_PER_CAUSE: usize = 8;

/// A finding with the function that could have freed the object and did not.
pub struct Caused {
    pub finding: Finding,
    pub by: Option<FuncId>,
    /// The functions that have refused the block, and as which argument, if each of the losses is such a refusal.
    pub(super) refused: Option<Vec<(FuncId, usize)>>,
    /// What comes after all of its losses, if that is only a return.
    pub(super) after: Option<Returns>,
    /// The function that loses it, and what each of the losses asks of its arguments.
    pub(super) asked: Option<(FuncId, Vec<Vec<Atom>>)>,
    /// The variables that hold it, if each loss is a setting that is given twice.
    pub(super) settings: Option<Vec<Setting>>,
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
    let object = flow.objects.first();
    let kind = object.map(|&object| frame.local.memory.kind(object));
    let Some(ObjKind::Fresh { call, .. }) = kind else {
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

/// The last function on the path that frees the object in another outcome than the one it had.
pub fn cause(frame: &Frame<'_>, flow: &UseFlow, path: &Path) -> Option<FuncId> {
    let choices = path.hops.iter().flat_map(|hop| &hop.choices);
    let blamed = |choice: &Choice| blamed(frame, flow, choice);
    choices.filter_map(blamed).last()
}

fn blamed(frame: &Frame<'_>, flow: &UseFlow, choice: &Choice) -> Option<FuncId> {
    let func = defined_callee(frame, choice.inst)?;
    let object = flow.objects.first()?;
    let outcomes = &frame.calls.get(&choice.inst)?.outcomes;
    let frees = |outcome: &Outcome| {
        let mut paths = outcome.frees.iter().map(|f| &f.path);
        paths.any(|path| {
            let targets = frame.resolve(choice.inst, path);
            targets.iter().any(|loc| loc.obj == *object)
        })
    };
    let chosen = outcomes.get(usize::from(choice.alternative))?;
    (!frees(chosen) && outcomes.iter().any(frees)).then_some(func)
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

/// Shows findings with one cause as one. `findings` are in the order of the report.
pub fn one_per_cause(findings: Vec<Caused>, name: impl Fn(FuncId) -> String) -> Vec<Finding> {
    let mut counts: FxHashMap<FuncId, usize> = FxHashMap::default();
    for func in findings.iter().filter_map(|f| f.by) {
        *counts.entry(func).or_default() += 1;
    }
    let mut shown = Vec::with_capacity(findings.len());
    for Caused {
        mut finding, by, ..
    } in findings
    {
        let Some(func) = by.filter(|func| counts.get(func).is_some_and(|&n| n > MAX_PER_CAUSE))
        else {
            shown.push(finding);
            continue;
        };
        // Once shown, the rest of them is counted already.
        if let Some(count) = counts.get_mut(&func).filter(|n| **n < usize::MAX) {
            finding.message = format!(
                "{}; {} more allocations are lost because `{}` does not always free",
                finding.message,
                *count - 1,
                name(func)
            );
            *count = usize::MAX;
            shown.push(finding);
        }
    }
    shown
}
