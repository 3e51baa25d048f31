//! Question: which cells does a path of a callee's summary name at a call, whatever objects are followed?
//!
//! Every state that comes to a call asks this for every effect of its outcomes; the answers are the same each time, so the frame
//! remembers them. What depends on the followed objects (is it this instance?) is added in `apply.rs`.

use std::rc::Rc;

use drip_models::{Offset, ValuePath};
use drip_pointer::local::LocSet;
use drip_pointer::{CellId, Loc, Memory};
use drip_program::InstId;
use smallvec::SmallVec;

use crate::frame::Frame;

/// The cells at an offset of what a callee's path points to, whatever objects are followed.
pub(crate) struct NamedCells {
    pub targets: Rc<LocSet>,
    pub cells: SmallVec<[CellId; 4]>,
    /// Exactly one concrete cell.
    pub certain: bool,
    /// Perhaps somewhere else.
    pub is_outside: bool,
}

impl Frame<'_> {
    /// The cells at `offset` of what `base` points to, at a call.
    pub(crate) fn cells_named(
        &self,
        call: InstId,
        base: &ValuePath,
        offset: Offset,
    ) -> Rc<NamedCells> {
        let key = (call, base.clone(), offset);
        if let Some(known) = self.named.borrow().get(&key) {
            return Rc::clone(known);
        }
        let named = Rc::new(self.cells_among(self.resolve(call, base), offset));
        self.named.borrow_mut().insert(key, Rc::clone(&named));
        named
    }

    /// The cells at `offset` of these places.
    pub(crate) fn cells_among(&self, targets: Rc<LocSet>, offset: Offset) -> NamedCells {
        let memory = &self.local.memory;
        let mut cells: SmallVec<[CellId; 4]> = SmallVec::new();
        let mut certain = targets.len() == 1;
        let mut is_outside = targets.is_empty();
        for loc in targets.iter() {
            if loc.obj == Memory::WORLD {
                certain = false;
                is_outside = true;
                continue;
            }
            let at = Loc {
                obj: loc.obj,
                off: loc.off.plus(offset),
            };
            certain &= at.off.is_exact();
            cells.extend(memory.overlapping(at));
        }
        certain &= cells.len() == 1 && memory.is_strong(cells[0]);
        NamedCells {
            targets,
            cells,
            certain,
            is_outside,
        }
    }
}
