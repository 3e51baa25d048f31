//! Question: is a new block given to one place only, and nobody else knows it?
//!
//! `s->name = copy;` makes the field the block's owner, if nothing else is done with it. Two things do not matter: that the block is freed on ways
//! on which it is not given (`if (is_known(copy)) { free(copy); continue; } node->word = copy;`), and that other places point into
//! it (`s->value = s->line + n;`): those are cursors, as long as nobody frees by them.

use drip_program::{InstId, Op, Operand, ValueId};
use rustc_hash::FxHashSet;

use super::facts::{Made, Place, Taking};
use super::view::View;

impl View<'_, '_> {
    /// Is a value given to nobody but by this one instruction? Then the places that point into it.
    pub fn given(&self, value: ValueId, given: InstId) -> Option<FxHashSet<Place>> {
        let uses = self.uses(value, Some(given));
        let mut cursors: FxHashSet<Place> = FxHashSet::default();
        for &(taker, taking) in &uses.takers {
            match taking {
                Taking::Freed if self.is_instead(value, taker, given) => {}
                Taking::Moved => {
                    cursors.insert(self.cursor(value, taker)?);
                }
                _ => return None,
            }
        }
        Some(cursors)
    }

    /// The same of what a call has made, whether that is its result or was read from a variable that the call has filled.
    pub fn given_block(
        &self,
        value: Operand,
        made: Made,
        given: InstId,
    ) -> Option<FxHashSet<Place>> {
        let origins = self.body.origins(value);
        let filled = origins.iter().find_map(|&o| {
            let (all, loads) = self.filled_variable(o)?;
            all.contains(&made).then_some(loads)
        });
        match filled {
            Some(loads) => {
                let mut cursors = FxHashSet::default();
                for load in loads {
                    cursors.extend(self.given(load, given)?);
                }
                Some(cursors)
            }
            None => self.given(self.body.result(made.1), given),
        }
    }

    /// The place that an instruction puts the address of something inside of the block into.
    fn cursor(&self, value: ValueId, store: InstId) -> Option<Place> {
        let Op::Store { addr, value: put } = self.body.insts[store].op else {
            return None;
        };
        let origins = self.body.origins(put);
        let is_inside = |&origin: &Operand| {
            let def = origin.as_value().and_then(|origin| self.body.def(origin));
            matches!(
                def.map(|inst| self.body.insts[inst].op),
                Some(Op::PtrAdd { .. })
            )
        };
        self.place(addr)
            .filter(|_| put.as_value() != Some(value) && origins.iter().all(is_inside))
    }

    /// Does no way lead from one of these instructions to the other, as long as the value is the same one?
    pub fn is_instead(&self, value: ValueId, one: InstId, other: InstId) -> bool {
        let body = self.body;
        let blocks = [one, other].map(|inst| body.block_of(inst));
        // A parameter is the same all the time.
        let made = body.def(value).map(|inst| body.block_of(inst));
        let ([Some(one), Some(other)], None | Some(Some(_))) = (blocks, made) else {
            return false;
        };
        let made = made.flatten();
        let cfg = self.cfg();
        let leads = |from, to| {
            let mut seen = FxHashSet::default();
            let mut open: Vec<_> = cfg.succs(from).to_vec();
            while let Some(block) = open.pop() {
                if block == to {
                    return true;
                }
                // Another turn, another block.
                if Some(block) != made && seen.insert(block) {
                    open.extend(cfg.succs(block));
                }
            }
            false
        };
        let is_apart = |block| Some(block) != made;
        one != other && is_apart(one) && is_apart(other) && !leads(one, other) && !leads(other, one)
    }
}
