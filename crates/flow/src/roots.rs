//! Question: is an object still held by something that can be named? (Heapcheck: the statement that removes the last
//! reference; Saturn fig. 5: reachable from a local, a global, the interface or a new location.)
//!
//! Cycles do not hold each other: an object is held if a root leads to it.

use drip_pointer::ObjKind;
use drip_program::{InstId, Op, Operand, ValueId};
use smallvec::SmallVec;

use crate::explore::{Explorer, Goal};
use crate::graph::EndKind;
use crate::state::{Machine, State, Where};

/// What counts as a root.
#[derive(Clone, Copy)]
struct Counting {
    /// Other instances of the object's own site do.
    others: bool,
    /// What the first parameter points to does not: its constructor has failed.
    is_undone: bool,
}

impl Explorer<'_, '_> {
    /// After an event that took a holder from the objects in `affected`: which of all objects are lost now?
    pub(crate) fn check_roots(
        &mut self,
        state: &mut State,
        affected: &[usize],
        at: Option<InstId>,
    ) {
        // For callers an object that nothing holds is simply not handed out.
        if affected.is_empty() || self.goal == Goal::Exits {
            return;
        }
        let mut lost: SmallVec<[usize; 4]> = SmallVec::new();
        for index in 0..state.objects.len() {
            if !state.objects[index].is_live() || !self.is_ours(index) {
                continue;
            }
            let touched = affected.contains(&index) || self.depends_on(state, index, affected);
            if touched && !self.is_rooted(state, index, at) {
                lost.push(index);
            }
        }
        for index in lost {
            state.objects[index].machine = Machine::Lost;
        }
    }

    pub(crate) fn end_kind(&self, state: &State) -> EndKind {
        match state.objects.first() {
            Some(o) if o.machine == Machine::Lost && self.is_blurred(state, 0) => {
                EndKind::LostPerhaps
            }
            Some(o) if o.machine == Machine::Lost => EndKind::Lost,
            _ => EndKind::Settled,
        }
    }

    /// Was the object, or one that holds it, held where only "perhaps" can be said?
    pub(crate) fn is_blurred(&self, state: &State, index: usize) -> bool {
        let mut seen: SmallVec<[usize; 4]> = SmallVec::from_slice(&[index]);
        let mut next = 0;
        while next < seen.len() {
            let object = &state.objects[seen[next]];
            next += 1;
            if object.blurred {
                return true;
            }
            for place in &object.places {
                if let Where::Cell(cell) = place.at {
                    let owner = self.frame.local.memory.cells[cell].obj;
                    let holder = self.objects.iter().position(|&o| o == owner);
                    seen.extend(holder.filter(|h| !seen.contains(h)));
                }
            }
        }
        false
    }

    /// Only objects that this function made can be lost by it; entry objects are the caller's.
    fn is_ours(&self, index: usize) -> bool {
        matches!(
            self.frame.local.memory.kind(self.objects[index]),
            ObjKind::Fresh { .. }
        )
    }

    /// Is object `index` held by a cell of one of `owners`?
    fn depends_on(&self, state: &State, index: usize, owners: &[usize]) -> bool {
        state.objects[index].places.iter().any(|p| match p.at {
            Where::Cell(cell) => {
                let owner = self.frame.local.memory.cells[cell].obj;
                owners.iter().any(|&o| self.objects[o] == owner)
            }
            _ => false,
        })
    }

    /// Does a root lead to the object inside the function, right after `at`?
    fn is_rooted(&mut self, state: &State, index: usize, at: Option<InstId>) -> bool {
        let counting = Counting {
            others: true,
            is_undone: false,
        };
        self.search(state, index, counting, &mut |this, place| match place {
            Where::Value(v, _) => at.is_none_or(|inst| this.is_read_after(v, inst)),
            // A cell of a stack slot.
            Where::Var(_) | Where::Cell(_) => true,
        })
    }

    /// Does something that outlives the function lead to the object?
    pub(crate) fn is_held_outside(&mut self, state: &State, index: usize, exit: InstId) -> bool {
        let returned = match self.frame.body.insts[exit].op {
            Op::Ret { value } => value.and_then(Operand::as_value),
            _ => None,
        };
        let is_thrown = !matches!(self.frame.body.insts[exit].op, Op::Ret { .. });
        let is_undone = is_thrown && self.frame.handlers.is_constructor;
        self.search(
            state,
            index,
            Counting {
                others: false,
                is_undone,
            },
            &mut |_, place| matches!(place, Where::Value(v, _) if Some(v) == returned),
        )
    }

    /// Depth-first over holders, from the object upwards; `is_root` judges values, variables and stack cells.
    fn search(
        &mut self,
        state: &State,
        index: usize,
        counting: Counting,
        is_root: &mut dyn FnMut(&mut Self, Where) -> bool,
    ) -> bool {
        let mut seen: SmallVec<[usize; 4]> = SmallVec::new();
        let mut stack: SmallVec<[usize; 4]> = SmallVec::from_slice(&[index]);
        while let Some(object) = stack.pop() {
            if seen.contains(&object) {
                continue;
            }
            seen.push(object);
            for place in &state.objects[object].places {
                let Where::Cell(cell) = place.at else {
                    if is_root(self, place.at) {
                        return true;
                    }
                    continue;
                };
                let owner = self.frame.local.memory.cells[cell].obj;
                match self.objects.iter().position(|&o| o == owner) {
                    // Only other instances of the same site: see `keep_in`.
                    Some(holder) if holder == object && self.is_ours(holder) => {
                        if counting.others && place.weak {
                            return true;
                        }
                    }
                    Some(holder) if self.is_ours(holder) => {
                        if state.objects[holder].is_live() {
                            stack.push(holder);
                        } else if matches!(
                            state.objects[holder].machine,
                            Machine::Escaped { .. } | Machine::Unborn
                        ) {
                            // Another instance's cell, or a holder that is somebody else's now.
                            return true;
                        }
                    }
                    _ => {
                        let kind = self.frame.local.memory.kind(owner);
                        let is_gone = counting.is_undone && kind == ObjKind::Param(0);
                        if kind.survives() && !is_gone || is_root(self, place.at) {
                            return true;
                        }
                    }
                }
            }
        }
        false
    }

    /// Will the value be read after `inst`?
    fn is_read_after(&mut self, value: ValueId, inst: InstId) -> bool {
        let frame = self.frame;
        let block = frame.block_of(inst);
        let read_here = frame
            .uses(value)
            .any(|user| match frame.body.insts[user].op {
                Op::Phi { incoming } => frame
                    .body
                    .incoming(incoming)
                    .iter()
                    .any(|entry| entry.block == block && entry.value.as_value() == Some(value)),
                _ => frame.block_of(user) == block && user > inst,
            });
        read_here
            || frame
                .cfg
                .succs(block)
                .iter()
                .any(|&succ| frame.is_live_in(value, succ))
    }
}
