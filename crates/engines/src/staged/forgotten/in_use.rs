//! Question: is a structure in use already when a function empties one of its fields?
//!
//! `if (m->mode == mode) return; m->drawn = NULL;`: a structure that is only being made has nothing to read in it. So a function that has
//! read another field of a structure which it got from its caller, as that left it, knows that the field to be emptied is set up, too.

use drip_program::{Cfg, InstId, Op, Operand};

use super::view::{CellWay, Start, View};

/// Has the function read another field of the structure before this store, and not written that field before?
pub fn is_in_use(view: &View<'_, '_>, cfg: &Cfg, way: &CellWay, store: InstId) -> bool {
    let body = view.body;
    let is_passed = matches!(way.root, Start::Value(root) if body.def(root).is_none());
    if !is_passed {
        return false;
    }
    let is_before = |a: InstId, b: InstId| match (body.block_of(a), body.block_of(b)) {
        (Some(first), Some(second)) if first == second => a < b,
        (Some(first), Some(second)) => cfg.dominates(first, second),
        _ => false,
    };
    let sibling = |addr: Operand| {
        let other = view.way(addr)?;
        let (_, owner) = way.offsets.split_last()?;
        let (_, others) = other.offsets.split_last()?;
        (other.root == way.root && others == owner && other != *way).then_some(other)
    };
    let stores = body.insts.iter_enumerated();
    let stores: Vec<(InstId, CellWay)> = stores
        .filter_map(|(inst, data)| match data.op {
            Op::Store { addr, .. } => Some((inst, sibling(addr)?)),
            _ => None,
        })
        .collect();
    let mut loads = body.insts.iter_enumerated();
    loads.any(|(load, data)| {
        let Op::Load { addr } = data.op else {
            return false;
        };
        let read = sibling(addr).filter(|_| is_before(load, store));
        let is_written = |cell: &CellWay| {
            let mut same = stores.iter().filter(|(_, other)| other == cell);
            same.any(|(store, _)| is_before(*store, load))
        };
        read.is_some_and(|cell| !is_written(&cell))
    })
}
