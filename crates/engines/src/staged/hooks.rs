//! Question: which ends of a function are reached only because an optional callback is set?
//!
//! `if (type->dup) entry->val = type->dup(val); else entry->val = val;`: whether a structure has the callback was decided when
//! it was set up, and whoever passes `val` knows it. A summary can't name that condition (the structure lies too deep, or the
//! caller got it from elsewhere), and taken as open it would make every caller lose `val`. Hence: what is kept where the callback
//! is missing counts as kept where it is set (silence over noise).
//! A test is one of a callback if what it compares with null is called in this function. Cost: linear in the use-flow graph.

use drip_cond::{TermId, TermKind};
use drip_flow::{Frame, UseFlow, Values};
use drip_models::{Escape, EscapeTo, Outcome, Value, ValuePath};
use drip_program::{BlockId, Op, Operand};
use rustc_hash::FxHashSet;

use super::paths::Path;

/// For each end of the graph: is there no way to it on which all tested callbacks are missing?
pub fn only_with_hook(frame: &Frame<'_>, values: &Values, flow: &UseFlow) -> Vec<bool> {
    let edges = hook_edges(frame, values);
    if edges.is_empty() {
        return vec![false; flow.ends.len()];
    }
    let mut succs = vec![Vec::new(); flow.nodes.len()];
    for (id, node) in flow.nodes.iter_enumerated() {
        for edge in &node.preds {
            let from = flow.nodes[edge.from].block;
            if !edges.contains(&(from, node.block)) {
                succs[edge.from.index()].push(id);
            }
        }
    }
    let mut reached = vec![false; flow.nodes.len()];
    let mut stack = vec![UseFlow::ROOT];
    while let Some(node) = stack.pop() {
        if !std::mem::replace(&mut reached[node.index()], true) {
            stack.extend(&succs[node.index()]);
        }
    }
    flow.ends
        .iter()
        .map(|end| !reached[end.node.index()])
        .collect()
}

/// Does the function look whether callbacks are set?
pub fn tests_hooks(frame: &Frame<'_>, values: &Values) -> bool {
    !hook_edges(frame, values).is_empty()
}

/// Does the path give the block to a callback that need not be set? Whoever set it up knows what becomes of the block then.
pub fn is_given_to_hook(frame: &Frame<'_>, values: &Values, flow: &UseFlow, path: &Path) -> bool {
    let edges = hook_edges(frame, values);
    if edges.is_empty() {
        return false;
    }
    let object = flow.objects[0];
    let is_given = |arg: &Operand| frame.local.targets(*arg).iter().any(|l| l.obj == object);
    let calls_with_it = |block: BlockId| {
        let mut insts = frame.body.block_insts(block);
        insts.any(|inst| {
            let is_hook = match frame.body.insts[inst].op {
                Op::Call { callee, .. } | Op::Invoke { callee, .. } => callee.as_value().is_some(),
                _ => false,
            };
            is_hook && frame.args(inst).iter().any(is_given)
        })
    };
    let blocks: Vec<BlockId> = path.blocks(flow).collect();
    let mut steps = blocks.windows(2);
    steps.any(|edge| edges.contains(&(edge[0], edge[1])) && calls_with_it(edge[1]))
}

/// Edges that are taken when a callback is set.
fn hook_edges(frame: &Frame<'_>, values: &Values) -> FxHashSet<(BlockId, BlockId)> {
    let body = frame.body;
    let called: FxHashSet<TermId> = body
        .insts
        .iter()
        .filter_map(|data| match data.op {
            Op::Call { callee, .. } | Op::Invoke { callee, .. } => callee.as_value(),
            _ => None,
        })
        .map(|callee| values.of(callee))
        .collect();
    let mut edges = FxHashSet::default();
    if called.is_empty() {
        return edges;
    }
    for block in body.blocks.ids() {
        let Op::CondBr { cond, then, els } = body.insts[body.terminator(block)].op else {
            continue;
        };
        let term = values.term(cond);
        let (is_null, inner) = match *values.terms.kind(term) {
            TermKind::Not(inner) => (false, inner),
            _ => (true, term),
        };
        if let TermKind::Eq(a, b) = *values.terms.kind(inner)
            && values.terms.as_int(b) == Some(0)
            && called.contains(&a)
        {
            edges.insert((block, if is_null { els } else { then }));
        }
    }
    edges
}

/// What some outcome without the callback frees or keeps, an outcome with it keeps too.
pub fn keep_with_hook(outcomes: &mut [(Outcome, bool)], paths: &[ValuePath]) {
    for path in paths {
        let kept_without = outcomes
            .iter()
            .any(|(outcome, with)| !with && keeps(outcome, path));
        for (outcome, with) in outcomes.iter_mut() {
            if *with && kept_without && !keeps(outcome, path) {
                outcome.escapes.push(Escape {
                    path: path.clone(),
                    to: EscapeTo::Unknown,
                });
                outcome.escapes.sort();
            }
        }
    }
}

fn keeps(outcome: &Outcome, object: &ValuePath) -> bool {
    outcome.frees.iter().any(|f| f.path == *object)
        || outcome.escapes.iter().any(|e| e.path == *object)
        || outcome
            .writes
            .iter()
            .any(|w| matches!(&w.value, Value::Entry { path, .. } if path == object))
}
