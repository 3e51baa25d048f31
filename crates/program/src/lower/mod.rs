//! One raw body → one [`Body`] in SSA form.
//!
//! Passes, in this order: reachable blocks ([`flow`]), candidates for promotion ([`crate::promote`]), phi placement, one
//! emission pass in source order ([`emit`]), renaming along the dominator tree, replacement of pending operands
//! ([`finish`]). Working memory is a [`Scratch`] that serves one body after the other; the finished body owns exactly
//! what it needs.

pub(crate) mod calls;
pub(crate) mod consts;
pub(crate) mod context;
mod convert;
pub(crate) mod emit;
pub(crate) mod finish;
pub(crate) mod flow;
pub(crate) mod fold;
mod insts;
pub(crate) mod intrinsics;
mod markers;
pub(crate) mod uses;
pub(crate) mod values;

use drip_base::{Dominators, IndexVec};
use drip_bitcode as bc;

use self::consts::Consts;
use self::context::Context;
use self::emit::Emitter;
use self::flow::Flow;
use self::fold::Folder;
use self::values::{MAX_LOCALS, ValueMap};
use crate::body::{Body, Inst, Operand};
use crate::debug_info::{BodyNames, NamedBody};
use crate::ids::BlockId;
use crate::promote::rename::{Inputs, Outputs, Rename};
use crate::promote::scan::Scan;
use crate::promote::{Promotion, place};

/// Why a body that could be decoded can't be lowered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LowerError {
    #[error("the body has no blocks")]
    NoBlocks,
    #[error("block {0} is malformed")]
    BrokenBlock(u32),
    #[error("the entry block is the target of a branch")]
    EntryHasPredecessors,
    #[error("the body has too many values")]
    TooManyValues,
}

/// Operands that module-level values have in the body under construction.
#[derive(Default)]
pub(crate) struct ModuleMemo {
    /// (stamp, operand); an entry with another stamp is unknown.
    entries: Vec<(u32, Operand)>,
    stamp: u32,
}

impl Default for Operand {
    fn default() -> Self {
        Operand::from_bits(u32::MAX)
    }
}

impl ModuleMemo {
    fn reset(&mut self, values: usize) {
        match self.stamp.checked_add(1) {
            Some(next) => self.stamp = next,
            None => {
                self.entries.fill((0, Operand::default()));
                self.stamp = 1;
            }
        }
        if self.entries.len() < values {
            self.entries.resize(values, (0, Operand::default()));
        }
    }

    fn get(&self, value: bc::ValueId) -> Option<Operand> {
        self.entries
            .get(value.index())
            .filter(|(stamp, _)| *stamp == self.stamp)
            .map(|(_, operand)| *operand)
    }

    fn set(&mut self, value: bc::ValueId, operand: Operand) {
        if let Some(entry) = self.entries.get_mut(value.index()) {
            *entry = (self.stamp, operand);
        }
    }
}

/// Working memory of one thread.
#[derive(Default)]
pub(crate) struct Scratch {
    out: Body,
    values: ValueMap,
    consts: Consts,
    memo: ModuleMemo,
    promotion: Promotion,
    rename: Rename,
    /// By constant: used as data.
    used: Vec<bool>,
    names: BodyNames,
}

/// Lowers one body.
pub(crate) fn lower_body(
    cx: Context<'_>,
    raw: &bc::RawBody,
    scratch: &mut Scratch,
) -> Result<NamedBody, LowerError> {
    let locals = raw.local_count() as usize;
    if locals >= MAX_LOCALS || raw.insts.len() >= MAX_LOCALS {
        return Err(LowerError::TooManyValues);
    }
    let flow = Flow::build(raw)?;
    scratch.reset(cx.module.value_count() as usize, locals, flow.raw_of.len());
    let mut names = std::mem::take(&mut scratch.names);
    names.reset(&cx, raw);

    Scan {
        cx,
        body: raw,
        flow: &flow,
        out: &mut scratch.promotion,
    }
    .run();
    let dom = (flow.raw_of.len() > 1)
        .then(|| Dominators::compute(&flow.graph, &flow.preds, BlockId::from_u32(0)));
    place::place(&mut scratch.promotion, &flow, dom.as_ref());
    names.name_slots(&cx, raw, &mut scratch.promotion);

    let folder = Folder {
        cx,
        body: Some(raw),
    };
    Emitter {
        cx,
        raw,
        flow: &flow,
        dom: dom.as_ref(),
        folder,
        scratch,
        names: &mut names,
    }
    .run();
    rename(cx, &flow, dom.as_ref(), scratch);
    finish::resolve_operands(cx, raw, scratch);

    let body = freeze(scratch);
    let named = names.attach(body);
    scratch.names = names;
    Ok(named)
}

fn rename(cx: Context<'_>, flow: &Flow, dom: Option<&Dominators<BlockId>>, scratch: &mut Scratch) {
    let inputs = Inputs {
        promotion: &scratch.promotion,
        flow,
        dom,
        types: cx.types,
    };
    let mut outputs = Outputs {
        values: &mut scratch.values,
        incoming: &mut scratch.out.incoming,
        consts: &mut scratch.consts,
    };
    scratch.rename.run(&inputs, &mut outputs);
}

/// The finished body, each vector with exactly the room that it needs.
fn freeze(scratch: &mut Scratch) -> Body {
    let mut body = scratch.out.clone();
    body.consts = IndexVec::from_raw(scratch.consts.table.drain(..).collect());
    body
}

impl Scratch {
    fn reset(&mut self, module_values: usize, locals: usize, blocks: usize) {
        self.values.reset(locals);
        self.consts.reset();
        self.memo.reset(module_values);
        self.promotion.reset(locals, blocks);
        self.clear_out();
    }

    fn clear_out(&mut self) {
        let out = &mut self.out;
        out.blocks.clear();
        out.insts.clear();
        out.operands.clear();
        out.scaled.clear();
        out.incoming.clear();
        out.indices.clear();
        out.cases.clear();
        out.targets.clear();
        out.params.clear();
    }

    fn push(&mut self, inst: Inst) -> crate::ids::InstId {
        self.out.insts.push(inst)
    }
}
