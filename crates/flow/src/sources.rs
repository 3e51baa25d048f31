//! Question: which loads can see less than all that their cell ever holds?
//!
//! The flow-sensitive refinement of the points-to sets inside a function (SABER §4.1): a load of one exact cell sees what
//! the cell held on entry, or what the stores that reach it put there; a strong update kills the rest. Read off memory SSA,
//! back from the load's version through φs to strong stores; a weak definition on the way ends the attempt.
//! INVARIANT: a source never misses a value that the load can see. Cells of objects that a loop makes are left alone: one
//! cell then stands for those of many objects. Cost: versions looked at, at most [`MAX_VERSIONS`] per load.

use drip_memssa::{Def, MemSsa, VersionId};
use drip_pointer::local::{LocSet, Source, Sources};
use drip_pointer::{CellId, Loc, LocalMemory, ObjKind};
use drip_program::{BlockId, Body, Cfg, InstId, Op};
use smallvec::SmallVec;

use crate::frame::region;

/// Versions looked at per load; beyond it the load stays flow-insensitive.
const MAX_VERSIONS: usize = 16;

/// What sources are read off.
pub(crate) struct Finder<'f> {
    pub body: &'f Body,
    pub cfg: &'f Cfg,
    pub block_of: &'f [BlockId],
    pub local: &'f LocalMemory,
}

impl Finder<'_> {
    /// Loads of pointers from one exact cell each.
    pub(crate) fn loads(&self) -> Vec<(InstId, CellId)> {
        let of_cell = |(inst, data): (InstId, &drip_program::Inst)| {
            let Op::Load { addr } = data.op else {
                return None;
            };
            let [loc] = *self.local.targets(addr) else {
                return None;
            };
            let sees_any = !self.local.values[self.body.result(inst)].is_empty();
            let cell = sees_any.then(|| self.exact_cell(loc)).flatten();
            cell.map(|cell| (inst, cell))
        };
        self.body
            .insts
            .iter_enumerated()
            .filter_map(of_cell)
            .collect()
    }

    /// Sources of those loads that have fewer targets by them than by all that their cell holds.
    pub(crate) fn sources(&self, loads: &[(InstId, CellId)], memssa: &MemSsa) -> Sources {
        let mut found = Sources::default();
        for &(inst, cell) in loads {
            let seen = &self.local.values[self.body.result(inst)];
            if let Some(source) = self.source(memssa, inst, cell)
                && self.targets(cell, &source).len() < seen.len()
            {
                found.insert(inst, source);
            }
        }
        found
    }

    /// The one cell at a location, if it stands for one place of memory only and no other overlaps it.
    fn exact_cell(&self, loc: Loc) -> Option<CellId> {
        let memory = &self.local.memory;
        if let ObjKind::Fresh { call, .. } = memory.kind(loc.obj) {
            let block = self.block_of[call.index()];
            if self.cfg.loops().innermost(block).is_some() {
                return None;
            }
        }
        let mut cells = memory.overlapping(loc);
        let cell = cells.next().filter(|&cell| memory.is_strong(cell))?;
        (loc.off.is_exact() && cells.next().is_none()).then_some(cell)
    }

    fn source(&self, memssa: &MemSsa, load: InstId, cell: CellId) -> Option<Source> {
        let mut source = Source::default();
        let mut seen: SmallVec<[VersionId; 8]> = SmallVec::new();
        let mut stack: SmallVec<[VersionId; 8]> = SmallVec::new();
        stack.push(memssa.used(load, region(cell))?);
        while let Some(version) = stack.pop() {
            if seen.contains(&version) {
                continue;
            }
            if seen.len() == MAX_VERSIONS {
                return None;
            }
            seen.push(version);
            match &memssa.versions[version].def {
                Def::Entry => source.entry = true,
                Def::Phi { operands, .. } => stack.extend(operands.iter().copied()),
                Def::Chi { inst, strong, .. } => match self.body.insts[*inst].op {
                    Op::Store { addr, value } if *strong && self.stores_to(addr, cell) => {
                        source.stored.push(value);
                    }
                    _ => return None,
                },
            }
        }
        Some(source)
    }

    /// Does the store put its value into this very cell, and not a larger one around it?
    fn stores_to(&self, addr: drip_program::Operand, cell: CellId) -> bool {
        let place = self.local.memory.cells[cell];
        matches!(*self.local.targets(addr), [loc] if loc.obj == place.obj && loc.off == place.off)
    }

    /// What a load with this source can see.
    fn targets(&self, cell: CellId, source: &Source) -> LocSet {
        let mut targets = LocSet::new();
        let stored = source.stored.iter().flat_map(|&v| self.local.targets(v));
        let on_entry = self.local.contents[cell].iter().filter(|l| {
            // Entry contents are the cell's own entry object, or whatever lies too deep to be told apart.
            source.entry
                && match self.local.memory.kind(l.obj) {
                    ObjKind::Entry(home) => home == cell,
                    ObjKind::World | ObjKind::Deep(_) => true,
                    _ => false,
                }
        });
        for &loc in stored.chain(on_entry) {
            if !targets.contains(&loc) {
                targets.push(loc);
            }
        }
        targets
    }
}
