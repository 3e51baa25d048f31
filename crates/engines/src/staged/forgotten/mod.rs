//! Question: is there a field that gets new blocks, and that nobody ever frees, although the structure around it is freed?
//!
//! A destructor that forgets a field is seen by no path: the block is made in one function, kept in a structure that its callers own,
//! and lost in another function, which knows the structure only as its parameter. What can be seen is the whole program: every
//! load and store of the field, by the structure's name and the offset in it (debug info, `drip_pointer::owners`).
//!
//! Domain: fields. A field is *made* where a new block is stored in it, *freed* where what it holds is given to somebody who frees it,
//! and *moved* where that is stored elsewhere, kept by somebody, or returned by a function that empties the field (a getter moves
//! nothing; nor does another field that points to the same for a while, as long as nobody frees it by that one); its structure is
//! *released* where some function frees a pointer to it, or to a structure that contains it. Two rules (Heapcheck's rule 7, over all functions at once):
//!
//! 1. Made, never freed and never moved, and the structure is released: each such block is lost with its owner.
//! 2. Made, freed somewhere and never moved: whoever replaces the block knows that it is the structure's own. A function that gets
//!    the structure as its parameter and releases it, and neither frees the field nor calls anybody who does, nor is called by one
//!    who does both, has forgotten it.
//!
//! Order: one pass over all functions, when all summaries are known. Cost: linear in the program.
//!
//! Structures that are copied, walked as bytes, or seen through other types are left out. Known false positives: a field that is
//! only ever freed through a structure of another name without a cast that the debug info shows; a function that releases only
//! structures whose field is known to be empty. Known false negatives: a destructor that forgets the field on one path.

mod care;
mod scan;

use std::collections::BTreeMap;

use drip_base::IdSet;
use drip_pointer::Callees;
use drip_pointer::owners::{Field, member_name};
use drip_program::{FuncId, InstId, Program, StrId};
use rustc_hash::{FxHashMap, FxHashSet};

use self::care::{below, is_cared_for};
use self::scan::Scan;
use super::calls::{CallContext, Open, call_summary, callee_name};
use super::names::{callee_elsewhere, position_in};
use super::report::{hashed, linked};
use crate::finding::{AllocationLink, Confidence, Finding, LostPoint, Rule, Step, StepKind};

/// A new block that is stored in a field: the function, the call, and which of its blocks.
type Made = (FuncId, InstId, u16);

/// Calls down from one whose summary says that the field is freed, to the function that frees it.
const MAX_DEPTH_OF_CALLS: usize = 12;

/// A place where a structure is freed.
#[derive(Clone, Copy)]
struct Release {
    func: FuncId,
    call: InstId,
    /// The structure is a parameter of the function.
    is_parameter: bool,
}

/// What happens to what a field holds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Taking {
    /// Only looked at by the caller, unless the field is emptied at the same time.
    Returned,
    Freed,
    Moved,
}

/// What the program does with fields.
#[derive(Default)]
struct Fields {
    made: BTreeMap<Field, Vec<Made>>,
    /// Functions that free what a field holds.
    freed: FxHashMap<Field, FxHashSet<FuncId>>,
    /// Functions that call somebody who, by its summary, frees what a field holds.
    freed_by_calls: FxHashMap<Field, Vec<(FuncId, InstId)>>,
    moved: FxHashSet<Field>,
    /// Other fields that hold the same for a while: `stream->next = state->buffer`.
    aliases: FxHashMap<Field, FxHashSet<Field>>,
    /// Structures that are copied or walked as bytes.
    opaque: FxHashSet<StrId>,
    /// Where structures are freed, the first place of each function.
    released: FxHashMap<StrId, Vec<Release>>,
}

impl Fields {
    fn take(&mut self, field: Field, taking: Taking, func: FuncId) {
        match taking {
            Taking::Freed => {
                self.freed.entry(field).or_default().insert(func);
            }
            Taking::Moved | Taking::Returned => {
                self.moved.insert(field);
            }
        }
    }

    /// Who calls a function that frees the field itself does so by that function, which is found among those it calls. Where nobody
    /// is found, the field is freed by somebody who sees the structure as something else.
    fn settle_calls(&mut self, context: &CallContext<'_>) {
        let graph = &context.graph.graph;
        for (field, calls) in std::mem::take(&mut self.freed_by_calls) {
            let freeing = self.freed.entry(field).or_default();
            let mut unseen: Vec<FuncId> = Vec::new();
            for (func, call) in calls {
                let callees = match context.graph.callees(func, call) {
                    Callees::Known(callees) => callees.to_vec(),
                    _ => Vec::new(),
                };
                let seen = below(graph, &callees, MAX_DEPTH_OF_CALLS);
                if !freeing.iter().any(|known| seen.contains(known)) {
                    unseen.push(func);
                }
            }
            freeing.extend(unseen);
        }
        self.freed.retain(|_, freeing| !freeing.is_empty());
    }

    /// May what the field holds be somewhere else, and be freed there? What other fields hold for a while is the field's own as long as
    /// nobody frees it by them.
    fn is_out_of_sight(&self, field: Field) -> bool {
        let mut seen = FxHashSet::from_iter([field]);
        let mut open = vec![field];
        while let Some(next) = open.pop() {
            let is_freed_elsewhere = next != field && self.freed.contains_key(&next);
            if self.moved.contains(&next) || self.opaque.contains(&next.0) || is_freed_elsewhere {
                return true;
            }
            let aliases = self.aliases.get(&next).into_iter().flatten();
            open.extend(aliases.copied().filter(|&alias| seen.insert(alias)));
        }
        false
    }

    /// The place that forgets the field.
    fn forgetting(
        &self,
        context: &CallContext<'_>,
        field: Field,
        made: &[Made],
    ) -> Option<Release> {
        if self.is_out_of_sight(field) {
            return None;
        }
        // What becomes of a structure in the function that makes its parts is seen there, path by path.
        let is_maker = |func: FuncId| made.iter().any(|made| made.0 == func);
        let places = self.released.get(&field.0).into_iter().flatten();
        let mut places = places.filter(|place| !is_maker(place.func));
        match self.freed.get(&field) {
            None => places.next().copied(),
            Some(freeing) => places
                .find(|place| {
                    place.is_parameter && !is_cared_for(context, place.func, freeing, is_maker)
                })
                .copied(),
        }
    }
}

/// Findings for fields that nobody frees.
pub fn forgotten_fields(context: &CallContext<'_>) -> Vec<Finding> {
    let mut fields = Fields::default();
    let funcs = &context.program.funcs;
    let mut called = IdSet::with_capacity(funcs.len());
    for (func, _) in funcs.iter_enumerated() {
        called.extend(context.graph.graph.succs(func).iter().copied());
    }
    for (func, function) in funcs.iter_enumerated() {
        if let Some(body) = &function.body {
            let is_called = called.contains(func);
            Scan::new(context, func, body, &mut fields, is_called).run();
        }
    }
    fields.settle_calls(context);
    let found = fields.made.iter().filter_map(|(&field, made)| {
        let place = fields.forgetting(context, field, made)?;
        finding(context, field, made, place)
    });
    found.collect()
}

/// One finding for all blocks of a field, at the first of them.
fn finding(
    context: &CallContext<'_>,
    field: Field,
    made: &[Made],
    place: Release,
) -> Option<Finding> {
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
    let structure = program.strings.get(field.0);
    let name = member_name(program, field).unwrap_or_else(|| format!("offset {}", field.1));
    let variable = format!("{structure}.{name}");
    let freeing = body_of(place.func)?;
    let lost_at = position_in(program, place.func, freeing, place.call);
    let callee = callee_name(program, freeing, place.call);
    let text =
        format!("lost: `{callee}` frees a `{structure}`, and nobody frees what its `{name}` holds");
    let shown = &allocation[0].callee;
    Some(Finding {
        id: hashed(&format!("field|{variable}|{}", program.func_name(func))),
        rule: Rule::D004,
        confidence: Confidence::Medium,
        message: format!("`{variable}` allocated by `{shown}` is lost: its owner is freed"),
        path: vec![
            Step {
                kind: StepKind::Allocation,
                at: at.clone(),
                text: format!("allocated here by `{shown}`"),
            },
            Step {
                kind: StepKind::Lost,
                at: lost_at.clone(),
                text: text.clone(),
            },
        ],
        lost: vec![LostPoint { at: lost_at, text }],
        primary: at,
        variable: Some(variable),
        condition: None,
        family: context.library.families.name(fresh.family).to_owned(),
        allocation,
    })
}
