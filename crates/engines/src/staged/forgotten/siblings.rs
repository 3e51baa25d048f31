//! Question: does a function free a node and forget a field that everybody else frees with such a node?
//!
//! `while ((n = list)) { list = n->next; free(n); }` loses `n->name` if that holds blocks of its own. Nobody passes the node, so no caller
//! can have emptied it before; what it holds is told by the other places that free such nodes: if each of them frees the field
//! with the node, by the same pointer, the field goes with the node (Engler's belief: who does it otherwise is wrong).
//!
//! Asked for: the field owns what it holds; the node is found in memory; the function neither looks at the field of this node nor frees
//! the field of any node that is not freed with it; nobody who may free the field is called before.

use drip_models::{Root, Summary, ValuePath};
use drip_pointer::Callees;
use drip_pointer::owners::{Field, structure_name, structures_apart};
use drip_program::{BlockId, DiTypeId, FuncId, InstId, Op, Operand, StrId, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::care::below;
use super::facts::{Facts, Place, Taking};
use super::view::{View, releases};

/// Calls down to somebody who frees the field.
const MAX_DEPTH: usize = 6;

/// A free of a structure that was found in memory or passed.
#[derive(Clone)]
struct Site {
    func: FuncId,
    call: InstId,
    /// The name of the structure, which may be one around that which has the field.
    kind: Option<StrId>,
    is_found: bool,
    /// It is one that the function has made itself.
    is_own: bool,
    /// Fields that are freed by the same pointer.
    freed: FxHashSet<Field>,
    /// Fields that are looked at by it.
    seen: FxHashSet<Field>,
}

/// A node that is freed without what its field holds.
pub struct Orphan {
    pub field: Field,
    pub func: FuncId,
    pub call: InstId,
}

/// Nodes that are freed without a field that all others of their kind are freed with.
pub fn orphans(views: &[View<'_, '_>], facts: &Facts) -> Vec<Orphan> {
    let mut sites: FxHashMap<StrId, Vec<Site>> = FxHashMap::default();
    for view in views {
        for (inst, data) in view.body.insts.iter_enumerated() {
            if let Op::Call { args, .. } | Op::Invoke { args, .. } = data.op {
                for (n, &arg) in (0u16..).zip(view.body.list(args)) {
                    let Some((ty, site)) = site(view, inst, n, arg) else {
                        continue;
                    };
                    // What the structure contains is freed with it.
                    for name in structures_apart(view.context.program, ty) {
                        sites.entry(name).or_default().push(site.clone());
                    }
                }
            }
        }
    }
    let index: FxHashMap<FuncId, &View<'_, '_>> =
        views.iter().map(|view| (view.func, view)).collect();
    let mut found = Vec::new();
    for (&place, made) in &facts.made {
        let Place::Field(field) = place else { continue };
        let Some(all) = sites.get(&field.0).filter(|_| facts.is_owner(place)) else {
            continue;
        };
        let frees = |site: &&Site| site.freed.contains(&field);
        // What a function has made itself holds what it has put there itself.
        let fills = |func| made.iter().any(|made| made.0 == func);
        let all = all.iter().filter(|site| !site.is_own || fills(site.func));
        let (with, without): (Vec<&Site>, Vec<&Site>) = all.partition(frees);
        tracing::trace!(
            place = place.text(views[0].context.program),
            with = with.len(),
            without = without.len(),
            "freed with its node"
        );
        // One who does it otherwise, or nobody who does it at all but to put another block there.
        let mut freeing = facts.freed.get(&place).into_iter().flatten();
        let is_never_freed = freeing.all(|&func| facts.is_replaced_by(place, func));
        let is_belief = |site: &Site| with.iter().any(|other| other.kind == site.kind);
        let site = match without[..] {
            [site] if is_belief(site) || is_never_freed => site,
            [site, ..] if is_never_freed => site,
            _ => continue,
        };
        let view = index.get(&site.func);
        let is_elsewhere = is_never_freed && facts.is_empty_in_some(views[0].context, place);
        let view = view.filter(|_| !is_elsewhere);
        let is_untouched = is_never_freed || !site.seen.contains(&field);
        let view = view.filter(|_| site.is_found && is_untouched);
        let Some(view) = view else { continue };
        let here = with.iter().filter(|other| other.func == site.func).count();
        if frees_in(view, field) == here && !is_freed_before(view, facts, place, site.call) {
            found.push(Orphan {
                field,
                func: site.func,
                call: site.call,
            });
        }
    }
    found
}

/// The structure that a call frees, and what is done to its fields by the same pointer.
fn site(view: &View<'_, '_>, call: InstId, n: u16, arg: Operand) -> Option<(DiTypeId, Site)> {
    let value = arg.as_value()?;
    let ty = view.owners.structure(arg)?;
    view.summary(call)
        .filter(|summary| releases(summary, &ValuePath::arg(n)))?;
    let is_found = is_found(view, value, &|_| true, &mut FxHashSet::default());
    if !is_found && view.parameter(arg).is_none() {
        return None;
    }
    let (mut freed, mut seen) = (FxHashSet::default(), FxHashSet::default());
    for user in users_of_node(view, value) {
        match view.body.insts[user].op {
            Op::Load { addr } => {
                let Some(field) = view.owners.field(addr) else {
                    continue;
                };
                let content = view.body.result(user);
                if is_used(view, content) {
                    seen.insert(field);
                }
                if view.uses(content, None).taking == Some(Taking::Freed) {
                    freed.insert(field);
                }
            }
            Op::Call { args, .. } | Op::Invoke { args, .. } => {
                let Some(summary) = view.summary(user) else {
                    continue;
                };
                let args = (0u16..).zip(view.body.list(args));
                for (n, _) in args.filter(|(_, arg)| view.is_same(**arg, value)) {
                    freed.extend(freed_by(view, &summary, n, ty));
                }
            }
            _ => {}
        }
    }
    let is_others = |node| !is_made_here(view, node);
    let site = Site {
        func: view.func,
        call,
        kind: structure_name(view.context.program, ty),
        is_found,
        is_own: is_found && !self::is_found(view, value, &is_others, &mut FxHashSet::default()),
        freed,
        seen,
    };
    Some((ty, site))
}

/// What uses a pointer, its fields' addresses included: this node, and not the next one that the same variable holds.
fn users_of_node(view: &View<'_, '_>, node: ValueId) -> Vec<InstId> {
    let mut users = Vec::new();
    let mut open = vec![node];
    while let Some(value) = open.pop() {
        for &user in view.users(value) {
            users.push(user);
            if let Op::PtrAdd { .. } | Op::Cast { .. } = view.body.insts[user].op {
                open.push(view.body.result(user));
            }
        }
    }
    users
}

/// Fields of its argument that a function frees.
fn freed_by(view: &View<'_, '_>, summary: &Summary, n: u16, ty: DiTypeId) -> Vec<Field> {
    let frees = summary.outcomes.iter().flat_map(|outcome| &outcome.frees);
    let of_argument = frees.filter(|free| free.path.root == Root::Arg(n));
    let first = of_argument.filter_map(|free| free.path.loads.first());
    let fields = first.filter_map(|load| view.owners.field_at(ty, load.base));
    fields.collect()
}

/// Does anybody do something with a value?
fn is_used(view: &View<'_, '_>, value: ValueId) -> bool {
    let mut users = view.users(value).iter();
    users.any(|&user| match view.body.insts[user].op {
        Op::Cast { .. } => is_used(view, view.body.result(user)),
        op => !matches!(op, Op::Bind { .. }),
    })
}

/// Is a pointer read from memory that is not the function's own variable, at least in the later turns of a loop, out of a node that counts?
fn is_found(
    view: &View<'_, '_>,
    value: ValueId,
    counts: &impl Fn(ValueId) -> bool,
    seen: &mut FxHashSet<ValueId>,
) -> bool {
    if !seen.insert(value) {
        return false;
    }
    let def = view.body.def(value);
    match def.map(|inst| view.body.insts[inst].op) {
        Some(Op::Load { addr }) => {
            let base = view.base(addr).and_then(|base| view.body.def(base));
            let is_own = |inst| matches!(view.body.insts[inst].op, Op::Alloca { .. });
            // What was made and put there just before is no old node (`*place = malloc(n); … free(*place);`).
            let is_new = def.is_some_and(|read| view.is_filled_before(read, addr));
            !base.is_some_and(is_own) && !is_new && view.base(addr).is_none_or(counts)
        }
        Some(Op::Cast { value, .. }) => {
            let value = value.as_value();
            value.is_some_and(|value| is_found(view, value, counts, seen))
        }
        Some(Op::Phi { incoming }) => {
            let inputs = view.body.incoming(incoming).iter();
            let mut values = inputs.filter_map(|input| input.value.as_value());
            values.any(|value| is_found(view, value, counts, seen))
        }
        _ => false,
    }
}

/// Does a pointer lead to nothing but what the function has made itself, from one such node to the next (what was made before a failure is
/// freed again)? Nobody else has put anything into those.
fn is_made_here(view: &View<'_, '_>, node: ValueId) -> bool {
    let mut seen: FxHashSet<Operand> = FxHashSet::default();
    let mut open = vec![Operand::value(node)];
    let mut is_made = false;
    while let Some(next) = open.pop() {
        for origin in view.body.origins(next) {
            if !seen.insert(origin) || view.is_null(origin) {
                continue;
            }
            let def = origin.as_value().and_then(|value| view.body.def(value));
            let base = match def.map(|inst| view.body.insts[inst].op) {
                Some(Op::Load { addr }) => view.base(addr),
                _ => None,
            };
            match base {
                Some(base) => open.push(Operand::value(base)),
                None if view.maker(origin).is_some() => is_made = true,
                None => return false,
            }
        }
    }
    is_made
}

/// How many times a function frees what it has read out of the field.
fn frees_in(view: &View<'_, '_>, field: Field) -> usize {
    let mut frees: FxHashSet<InstId> = FxHashSet::default();
    for (inst, data) in view.body.insts.iter_enumerated() {
        if let Op::Load { addr } = data.op
            && view.owners.field(addr) == Some(field)
        {
            let takers = view.uses(view.body.result(inst), None).takers;
            let freeing = takers.iter().filter(|taker| taker.1 == Taking::Freed);
            frees.extend(freeing.map(|taker| taker.0));
        }
    }
    frees.len()
}

/// Is somebody who may free the field called on a way to this call?
fn is_freed_before(view: &View<'_, '_>, facts: &Facts, place: Place, call: InstId) -> bool {
    let Some(at) = view.body.block_of(call) else {
        return true;
    };
    // Who replaces the block leaves another one.
    let empties = |func: &FuncId| *func != view.func && !facts.is_replaced_by(place, *func);
    let freeing = facts.freed.get(&place).into_iter().flatten().copied();
    let freeing: FxHashSet<FuncId> = freeing.filter(empties).collect();
    let cfg = view.cfg();
    let before: FxHashSet<BlockId> = below(cfg.reversed_graph(), &[at], usize::MAX);
    let frees = |inst: InstId| match view.context.graph.callees(view.func, inst) {
        Callees::Known(callees) => {
            let reached = below(&view.context.graph.graph, callees, MAX_DEPTH);
            freeing.iter().any(|func| reached.contains(func))
        }
        _ => false,
    };
    before.iter().any(|&block| {
        let insts = view.body.block_insts(block);
        let mut calls = insts.filter(|&inst| matches!(view.body.insts[inst].op, Op::Call { .. }));
        calls.any(frees)
    })
}
