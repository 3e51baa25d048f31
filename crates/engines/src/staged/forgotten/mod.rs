//! Question: which blocks are lost by what the whole program does with a field or a variable, although no path shows it?
//!
//! A destructor that forgets a field is seen by no path: the block is made in one function, kept in a structure that its callers own,
//! and lost in another function, which knows the structure only as its parameter. What can be seen is the whole program: every
//! load and store of the field, by the structure's name and the offset in it (debug info, `drip_pointer::owners`).
//!
//! Domain: fields. A field is *made* where a new block is stored in it, *freed* where what it holds is given to somebody who frees it,
//! and *moved* where that is stored elsewhere, kept by somebody, or returned by a function that empties the field or frees such a
//! structure (a getter moves nothing; nor does another field that points to the same for a while, as long as nobody frees it by that
//! one); its structure is *released* where some function frees a pointer to it, or to a structure that contains it. Two rules (Heapcheck's rule 7, over all functions at once):
//!
//! 1. Made, never freed and never moved, and the structure is released: each such block is lost with its owner.
//! 2. Made, freed somewhere and never moved: whoever replaces the block knows that it is the structure's own. A function that gets
//!    the structure as its parameter and releases it, and neither frees the field nor calls anybody who does, nor is called by one
//!    who does both, has forgotten it.
//!
//! Further ones: an owner is overwritten (see [`overwritten`]); a structure is taken apart and not freed (see [`released`]); a node is
//! freed, and its field is not, as those of other nodes are (see [`siblings`]); a failure undoes only a part (see [`undone`]);
//! a block is given to many, and nobody keeps it (see [`unkept`]).
//!
//! Order: one pass over all functions, when all summaries are known. Cost: linear in the program.
//!
//! Structures that are copied, walked as bytes, or seen through other types, and names that several structures have, are left out. Known false positives: a field that is
//! only ever freed through a structure of another name without a cast that the debug info shows; a function that releases only
//! structures whose field is known to be empty. Known false negatives: a destructor that forgets the field on one path.

mod care;
mod facts;
mod given;
mod in_use;
mod kinds;
mod locals;
mod one_way;
mod overwritten;
mod passed;
mod programs;
mod released;
mod replaced;
mod scan;
mod siblings;
mod undone;
mod unkept;
mod view;

use drip_base::{IdSet, Watch};
use drip_program::{FuncId, InstId, Program, StrId, name_in_source};
use rustc_hash::FxHashSet;

use self::care::is_last_act;
use self::facts::{Facts, Made, Place};
use self::kinds::Kinds;
use self::passed::settle_parameters;
use self::programs::Programs;
use self::released::{Destructors, Unreleased};
use self::replaced::Replacements;
use self::scan::Scan;
use self::siblings::orphans;
use self::undone::{Undone, undone};
use self::unkept::{Unkept, unkept};
use self::view::View;
use super::callers::Callers;
use super::calls::{CallContext, Open, call_summary, callee_name};
use super::fates::{Ending, Fates};
use super::names::{callee_elsewhere, position_in};
use super::repeated::Repeated;
use super::report::{hashed, linked};
use crate::finding::{AllocationLink, Confidence, Finding, LostPoint, Rule, Step, StepKind};

/// What only the whole program tells.
#[derive(Default)]
pub(super) struct Forgotten {
    /// Of fields and structures.
    pub places: Vec<Finding>,
    /// Of blocks that nobody keeps, as far as no path has said anything of them.
    pub unkept: Vec<Finding>,
}

/// Findings for what nobody frees; none if the work is to end before all of the program has been seen.
pub(super) fn forgotten(
    context: &CallContext<'_>,
    callers: &Callers<'_>,
    fates: &Fates<'_>,
    repeated: &Repeated,
    watch: &Watch,
) -> Forgotten {
    let funcs = &context.program.funcs;
    let mut called = IdSet::with_capacity(funcs.len());
    for (func, _) in funcs.iter_enumerated() {
        called.extend(context.graph.graph.succs(func).iter().copied());
    }
    let bodies = funcs.iter_enumerated();
    let bodies = bodies.filter_map(|(func, function)| Some((func, function.body.as_ref()?)));
    let views: Vec<View> = bodies
        .map(|(func, body)| View::new(context, func, body))
        .collect();
    let makers = Makers { context, fates };
    let places = forgotten_places(&makers, callers, repeated, &views, &called, watch);
    let unkept = match watch.is_stopped() {
        true => Vec::new(),
        false => unkept(&views, callers),
    };
    let unkept = unkept
        .iter()
        .filter_map(|lost| Loss::unkept(context, lost).finding(&makers, &[lost.made]))
        .collect();
    Forgotten { places, unkept }
}

/// Findings for fields and structures.
fn forgotten_places(
    makers: &Makers<'_, '_>,
    callers: &Callers<'_>,
    repeated: &Repeated,
    views: &[View<'_, '_>],
    called: &IdSet<FuncId>,
    watch: &Watch,
) -> Vec<Finding> {
    let context = makers.context;
    let mut facts = Facts::of_declarations(context.program);
    for view in views {
        if watch.is_stopped() {
            return Vec::new();
        }
        Scan::new(view, &mut facts, called.contains(view.func)).run();
    }
    settle_parameters(views, callers, &mut facts);
    facts.settle_calls(context);
    facts.trace(context.program);
    let mut found: Vec<Finding> = Vec::new();
    let programs = Programs::new(context, callers);
    let kinds = Kinds::new();
    for (&place, made) in &facts.made {
        if let Some(release) = facts.forgetting(context, &programs, &kinds, place)
            && !is_last_act(context.program, callers, release.func)
        {
            let loss = Loss::with_owner(context, &facts, place, (release.func, release.call));
            found.extend(loss.and_then(|loss| loss.finding(makers, made)));
        }
    }
    for orphan in orphans(views, &facts) {
        let place = Place::Field(orphan.field);
        let Some(made) = facts.made.get(&place) else {
            continue;
        };
        let is_shared = made.iter().any(|made| programs.share(made.0, orphan.func));
        if is_shared && !is_last_act(context.program, callers, orphan.func) {
            let loss = Loss::with_owner(context, &facts, place, (orphan.func, orphan.call));
            found.extend(loss.and_then(|loss| loss.finding(makers, made)));
        }
    }
    let replacements = Replacements::new(context, callers, &facts, repeated);
    let mut overwritten: FxHashSet<Place> = FxHashSet::default();
    for view in views {
        if watch.is_stopped() {
            return Vec::new();
        }
        for lost in overwritten::overwritings(view, &facts, &replacements) {
            // One place to mend is enough.
            if lost.is_blind && !overwritten.insert(lost.place) {
                continue;
            }
            let made = &facts.made[&lost.place];
            let loss = Loss::overwritten(context, lost.place, lost.func, lost.store);
            found.extend(loss.finding(makers, made));
        }
    }
    for view in views {
        for lost in undone(view, &facts) {
            let loss = Loss::undone(context, view.func, &lost);
            found.extend(loss.finding(makers, &[lost.made]));
        }
    }
    let mut never_freed: FxHashSet<StrId> = FxHashSet::default();
    for lost in Destructors::new(views, &facts).unreleased() {
        // Of a structure that nobody frees one place to do so is enough.
        let is_known = !lost.is_halfway && !never_freed.insert(lost.structure);
        if is_known || facts.ambiguous.contains(&lost.structure) {
            continue;
        }
        let made = &facts.made_structures[&lost.structure];
        let loss = Loss::unreleased(context, &lost);
        found.extend(loss.finding(makers, made));
    }
    found
}

/// What it takes to make a finding of a loss.
struct Makers<'m, 'c> {
    context: &'m CallContext<'c>,
    fates: &'m Fates<'m>,
}

/// Where and how blocks are lost.
struct Loss {
    /// Tells it from others.
    key: String,
    rule: Rule,
    /// What held them.
    variable: String,
    func: FuncId,
    inst: InstId,
    /// The end of "`x` allocated by `f` …".
    message: &'static str,
    text: String,
}

impl Loss {
    /// The structure or array around a place is freed without what the place holds.
    fn with_owner(
        context: &CallContext<'_>,
        facts: &Facts,
        place: Place,
        (func, call): (FuncId, InstId),
    ) -> Option<Loss> {
        let program = context.program;
        let body = program.funcs[func].body.as_ref()?;
        let callee = callee_name(program, body, call);
        let variable = place.text(program);
        let (owner, name) = variable.split_once('.').unwrap_or(("", &variable));
        let text = match place {
            Place::Elements(_) => {
                format!("lost: `{callee}` frees an array, and nobody frees what `{variable}` holds")
            }
            _ if facts.freed.contains_key(&place) => format!(
                "lost: `{callee}` frees a `{owner}` without what its `{name}` holds, which is freed elsewhere"
            ),
            _ => format!(
                "lost: `{callee}` frees a `{owner}`, and nobody frees what its `{name}` holds"
            ),
        };
        Some(Loss {
            key: format!("field|{variable}"),
            rule: Rule::D004,
            func,
            inst: call,
            message: "is lost: its owner is freed",
            text,
            variable,
        })
    }

    fn overwritten(context: &CallContext<'_>, place: Place, func: FuncId, store: InstId) -> Loss {
        let program = context.program;
        let variable = place.text(program);
        Loss {
            key: format!("overwritten|{variable}|{}", program.func_name(func)),
            rule: Rule::D003,
            func,
            inst: store,
            message: "is lost: it is overwritten",
            text: format!(
                "`{variable}` is overwritten here, and nobody has taken what it held: last reference lost"
            ),
            variable,
        }
    }

    /// A function that fails undoes only a part of what it did.
    fn undone(context: &CallContext<'_>, func: FuncId, lost: &Undone) -> Loss {
        let program = context.program;
        let variable = lost.place.text(program);
        let name = program.func_name(func);
        Loss {
            key: format!("undone|{variable}|{name}"),
            rule: Rule::D002,
            func,
            inst: lost.inst,
            message: "is lost: a failure leaves it behind",
            text: format!(
                "lost: `{name}` fails here and leaves what it has put into `{variable}`, which its other failures free"
            ),
            variable,
        }
    }

    /// A block that nobody keeps.
    fn unkept(context: &CallContext<'_>, lost: &Unkept) -> Loss {
        let program = context.program;
        let variable = program.strings.get(lost.variable).to_owned();
        let func = lost.made.0;
        let name = program.func_name(func);
        Loss {
            key: format!("unkept|{variable}|{name}"),
            rule: Rule::D001,
            func,
            inst: lost.inst,
            message: "is never freed",
            text: format!(
                "lost: `{name}` returns, and nobody who got `{variable}` has freed or kept it"
            ),
            variable,
        }
    }

    /// A structure is taken apart and not freed.
    fn unreleased(context: &CallContext<'_>, lost: &Unreleased) -> Loss {
        let program = context.program;
        let variable = name_in_source(program.strings.get(lost.structure)).to_owned();
        let name = program.func_name(lost.func);
        let (key, rule, text) = match lost.is_halfway {
            true => (
                "halfway",
                Rule::D002,
                format!(
                    "lost: `{name}` returns here without freeing the `{variable}`, as it does on other paths"
                ),
            ),
            false => (
                "never",
                Rule::D001,
                format!(
                    "lost: `{name}` frees what the `{variable}` holds, and nobody frees the `{variable}` itself"
                ),
            ),
        };
        Loss {
            key: format!("{key}|{variable}|{name}"),
            rule,
            func: lost.func,
            inst: lost.inst,
            message: "is lost: it is taken apart and not freed",
            text,
            variable,
        }
    }

    /// One finding for all blocks, at the first of them.
    fn finding(self, makers: &Makers<'_, '_>, made: &[Made]) -> Option<Finding> {
        let context = makers.context;
        let program: &Program = context.program;
        let body_of = |func: FuncId| program.funcs[func].body.as_ref();
        let &(func, call, index) = made.iter().min_by_key(|&&(func, call, _)| {
            let body = body_of(func);
            body.map(|body| position_in(program, func, body, call))
        })?;
        let body = body_of(func)?;
        let at = position_in(program, func, body, call);
        let summary = call_summary(context, func, body, call, &mut Open::default())?;
        let fresh = summary.fresh.get(usize::from(index))?;
        let first = AllocationLink {
            at: at.clone(),
            callee: callee_elsewhere(program, body, call),
        };
        let inner = fresh.chain.iter().filter_map(|&link| linked(program, link));
        let allocation: Vec<AllocationLink> = std::iter::once(first).chain(inner).collect();
        let lost_at = position_in(program, self.func, body_of(self.func)?, self.inst);
        let shown = allocation[0].callee.clone();
        Some(Finding {
            id: hashed(&format!("{}|{}", self.key, program.func_name(func))),
            rule: self.rule,
            confidence: match makers.fates.ends_behind(self.func, self.inst, Ending::Main) {
                true => Confidence::Low,
                false => Confidence::Medium,
            },
            message: format!(
                "`{}` allocated by `{shown}` {}",
                self.variable, self.message
            ),
            path: vec![
                Step {
                    kind: StepKind::Allocation,
                    at: at.clone(),
                    text: format!("allocated here by `{shown}`"),
                },
                Step {
                    kind: StepKind::Lost,
                    at: lost_at.clone(),
                    text: self.text.clone(),
                },
            ],
            lost: vec![LostPoint {
                at: lost_at,
                text: self.text,
            }],
            primary: at,
            variable: Some(self.variable),
            condition: None,
            family: context.library.families.name(fresh.family).to_owned(),
            allocation,
        })
    }
}
