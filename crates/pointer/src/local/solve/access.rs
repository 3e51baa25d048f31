//! Loads, stores and copies: how pointers go from values into memory and back.

use drip_models::Offset;
use drip_program::{Const, InstId, Operand, TypeId, ValueId};
use smallvec::SmallVec;

use super::super::aggregates::{Part, part, scalars};
use super::super::object::{CellId, Loc, Memory, ObjKind};
use super::{LocSet, MAX_ASKED_BYTES, Solver, Source, world};

impl<'a> Solver<'a> {
    pub(super) fn load_into(&mut self, result: ValueId, addr: Operand, ty: TypeId) {
        // A struct loaded as one value sees all its cells.
        let parts = scalars(self.program, ty);
        for loc in LocSet::from(self.out.targets(addr)) {
            let somewhere = [(Offset::ANY, ty)];
            let exact = parts.iter().flatten();
            let exact = exact.map(|&(at, ty)| (Offset::exact(at), ty));
            let parts: SmallVec<[(Offset, TypeId); 4]> = match parts {
                Some(_) => exact.collect(),
                None => SmallVec::from_slice(&somewhere),
            };
            for (at, ty) in parts {
                let place = Loc {
                    obj: loc.obj,
                    off: loc.off.plus(at),
                };
                if self.program.types.is_ptr(ty) {
                    self.holds_pointer(place);
                }
                let wanted = self.pointer_like(ty);
                for target in self.read(place, wanted) {
                    self.add(result, target);
                }
            }
        }
    }

    /// A field of a struct that is one value.
    pub(super) fn take_out(&mut self, result: ValueId, agg: Operand, path: &[u32]) {
        let calls = self.calls;
        let summary = |call: InstId| calls.get(&call).map(|summary| &**summary);
        match part(self.program, self.body, summary, agg, path) {
            Some(Part::Operand(value)) => self.copy(result, value),
            Some(Part::Result(call, summary, offset)) => {
                self.add_field_of_result(result, call, summary, offset)
            }
            None => self.copy(result, agg),
        }
    }

    /// A load whose source is known.
    pub(super) fn load_from(&mut self, result: ValueId, addr: Operand, source: &'a Source) {
        for loc in LocSet::from(self.out.targets(addr)) {
            if self.program.types.is_ptr(self.body.value_ty(result)) {
                self.holds_pointer(loc);
            }
            // Makes the cell and its entry contents.
            self.read(loc, true);
            let Some(cell) = self.out.memory.find_cell(loc).filter(|_| source.entry) else {
                continue;
            };
            for target in self.entry_targets(cell) {
                self.add(result, target);
            }
        }
        for &value in &source.stored {
            self.copy(result, value);
        }
    }

    pub(super) fn store(&mut self, addr: Operand, offset: Offset, targets: &[Loc]) {
        for loc in LocSet::from(self.out.targets(addr)) {
            self.store_at(
                Loc {
                    obj: loc.obj,
                    off: loc.off.plus(offset),
                },
                targets,
            );
        }
    }

    pub(in crate::local) fn store_at(&mut self, loc: Loc, targets: &[Loc]) {
        if loc.obj == Memory::WORLD || matches!(self.out.memory.kind(loc.obj), ObjKind::Func(_)) {
            return;
        }
        let cell = self.cell(loc);
        for &target in targets {
            self.add_content(cell, target);
        }
    }

    /// A small structure of the caller's that is copied as a whole: its pointers must exist to be copied.
    pub(super) fn ask_for_copied(&mut self, src: Operand, len: Operand) {
        let Some(&Const::Int { bits: len, .. }) = self.body.const_of(len) else {
            return;
        };
        let [from] = *self.out.targets(src) else {
            return;
        };
        let is_entry = self.out.memory.kind(from.obj).has_entry_state();
        if len > MAX_ASKED_BYTES || !is_entry || !from.off.is_exact() {
            return;
        }
        let step = self.program.types.layout.pointer_bytes.max(1);
        for at in (0..len).step_by(step as usize) {
            let off = from.off.plus(Offset::exact(at as i64));
            self.read(Loc { obj: from.obj, off }, true);
        }
    }

    /// memcpy: every cell of a source object appears in the destination at the same distance.
    pub(super) fn copy_contents(&mut self, dst: Operand, src: Operand) {
        for to in LocSet::from(self.out.targets(dst)) {
            for from in LocSet::from(self.out.targets(src)) {
                self.copy_object(from, to);
            }
        }
    }

    pub(in crate::local) fn copy_object(&mut self, from: Loc, to: Loc) {
        if from.obj == to.obj {
            return;
        }
        if from.obj == Memory::WORLD {
            self.store_at(
                Loc {
                    obj: to.obj,
                    off: Offset::ANY,
                },
                &[world()],
            );
            return;
        }
        self.looking.push(from.obj);
        self.looking.push(to.obj);
        let cells: SmallVec<[CellId; 8]> = self.out.memory.objects[from.obj]
            .cells
            .iter()
            .copied()
            .collect();
        for cell in cells {
            let place = self.out.memory.cells[cell];
            let distance = Offset {
                base: place.off.base.wrapping_sub(from.off.base),
                stride: place.off.stride,
            };
            let targets = self.out.contents[cell].clone();
            self.store_at(
                Loc {
                    obj: to.obj,
                    off: to.off.plus(distance),
                },
                &targets,
            );
        }
        // A destination cell that nobody wrote in the source yet: its entry state must exist to be copied.
        let wanted: SmallVec<[Offset; 8]> = self.out.memory.objects[to.obj]
            .cells
            .iter()
            .map(|&c| self.out.memory.cells[c].off)
            .collect();
        for off in wanted {
            let distance = Offset {
                base: off.base.wrapping_sub(to.off.base),
                stride: off.stride,
            };
            if distance.base >= 0 && self.out.memory.kind(from.obj).has_entry_state() {
                self.read(
                    Loc {
                        obj: from.obj,
                        off: from.off.plus(distance),
                    },
                    true,
                );
            }
        }
    }
}
