//! Transfer of an edge: φs are assigned, a new iteration forgets the old one, and what nobody will ask for is dropped.

use std::rc::Rc;

use drip_base::IdSet;
use drip_cond::{SymId, TermId, TermKind};
use drip_program::{BlockId, Op, ValueId};
use smallvec::SmallVec;

use crate::explore::{Explorer, Goal};
use crate::state::{Followed, Place, State, Where, keep_places};

impl Explorer<'_, '_> {
    /// φs of `to`, then what the edge makes invalid.
    pub(crate) fn enter(&mut self, from: BlockId, to: BlockId, state: &mut Rc<State>) {
        let frame = self.frame;
        self.enter_phis(from, to, state);
        if frame.cfg.rpo().is_retreating(from, to) {
            self.forget_iteration(to, state);
        }
        self.prune(to, state);
    }

    fn enter_phis(&mut self, from: BlockId, to: BlockId, state: &mut Rc<State>) {
        let frame = self.frame;
        let phis = self.relevant.phis.get(&to).map_or(&[][..], Vec::as_slice);
        let is_value = |place: &Place| matches!(place.at, Where::Value(..));
        let has_values = |object: &Followed| object.places.iter().any(is_value);
        if phis.is_empty() && !state.objects.iter().any(has_values) {
            return;
        }
        // All φs read the old values, then all are assigned.
        let mut holders: SmallVec<[(usize, Where, bool); 4]> = SmallVec::new();
        let mut results: SmallVec<[ValueId; 4]> = SmallVec::new();
        let mut bindings: SmallVec<[(SymId, TermId); 4]> = SmallVec::new();
        for inst in frame.body.block_insts(to) {
            let Op::Phi { incoming } = frame.body.insts[inst].op else {
                break;
            };
            let result = frame.body.result(inst);
            results.push(result);
            let Some(entry) = frame
                .body
                .incoming(incoming)
                .iter()
                .find(|e| e.block == from)
            else {
                continue;
            };
            if let Some(value) = entry.value.as_value() {
                for (index, object) in state.objects.iter().enumerate() {
                    for place in &object.places {
                        if let Where::Value(v, off) = place.at
                            && v == value
                        {
                            holders.push((index, Where::Value(result, off), place.weak));
                        }
                    }
                }
            }
        }
        for phi in phis {
            if let Some(&(term, _)) = phi.inputs.iter().find(|(_, pred)| *pred == from) {
                let term = self.in_path(term, state);
                bindings.push((phi.sym, term));
            }
        }
        keep_places(
            state,
            |p| !matches!(p.at, Where::Value(v, _) if results.contains(&v)),
        );
        if holders.is_empty() && bindings.is_empty() {
            return;
        }
        let state = Rc::make_mut(state);
        for (index, at, weak) in holders {
            state.objects[index].add(at, weak);
        }
        state.bind_all(&bindings);
    }

    /// A new iteration: values defined in the loop are not what they were.
    fn forget_iteration(&mut self, header: BlockId, state: &mut Rc<State>) {
        let frame = self.frame;
        let Some(id) = frame.cfg.loops().headed_by(header) else {
            // A jump backwards that closes no natural loop: nothing known is safe to keep.
            forget_conditions(state);
            return;
        };
        let inside = |block: BlockId| frame.cfg.loops().contains(id, block);
        let is_header_phi = |value: ValueId| {
            frame.body.def(value).is_some_and(|inst| {
                frame.block_of(inst) == header
                    && matches!(frame.body.insts[inst].op, Op::Phi { .. })
            })
        };
        keep_places(state, |p| match p.at {
            Where::Value(v, _) => {
                is_header_phi(v)
                    || frame
                        .body
                        .def(v)
                        .is_none_or(|inst| !inside(frame.block_of(inst)))
            }
            Where::Cell(_) | Where::Var(_) => true,
        });
        if !state.facts.is_empty() || !state.env.is_empty() {
            self.forget_conditions_on_turn(header, &inside, Rc::make_mut(state));
        }
        if frame.body.vars.is_empty() {
            // Without binding markers the end of the iteration is where its variables lose what they held.
            let all: SmallVec<[usize; 4]> = (0..state.objects.len()).collect();
            self.check_roots(Rc::make_mut(state), &all, None);
        }
    }

    fn forget_conditions_on_turn(
        &mut self,
        header: BlockId,
        inside: &impl Fn(BlockId) -> bool,
        state: &mut State,
    ) {
        let carried = self.carried_facts(header, inside, state);
        let values = &mut *self.values;
        let mut variant = |term: TermId| {
            values
                .symbols_in(term)
                .iter()
                .any(|&sym| values.home(sym).is_some_and(inside))
        };
        state.facts.retain(|fact| !variant(*fact));
        for fact in carried {
            state.learn(fact);
        }
        // The φs' own bindings are of the new iteration if they do not mention the old one.
        state.env.retain(|entry| !variant(entry.1));
    }

    /// What was known of a value is known of the header's φ that takes it over: `last = node` with a node that is not null.
    fn carried_facts(
        &mut self,
        header: BlockId,
        inside: &impl Fn(BlockId) -> bool,
        state: &State,
    ) -> SmallVec<[TermId; 4]> {
        let values = &mut *self.values;
        let mut renamed: SmallVec<[(SymId, TermId); 4]> = SmallVec::new();
        for &(phi, term) in &state.env {
            if let TermKind::Sym(old) = *values.terms.kind(term)
                && values.home(phi) == Some(header)
                && values.home(old).is_some_and(inside)
            {
                let phi = values.terms.sym(phi, values.terms.sort(term));
                renamed.push((old, phi));
            }
        }
        let mut carried = SmallVec::new();
        if renamed.is_empty() {
            return carried;
        }
        let new = |sym: SymId| renamed.iter().find(|r| r.0 == sym).map(|r| r.1);
        for &fact in &state.facts {
            let symbols = values.symbols_in(fact);
            let is_old = |sym: &SymId| values.home(*sym).is_some_and(inside);
            let goes_on = symbols
                .iter()
                .all(|sym| new(*sym).is_some() || !is_old(sym));
            if goes_on && symbols.iter().any(|sym| new(*sym).is_some()) {
                let fact = values.replaced(fact, new);
                if values.terms.as_bool(fact).is_none() {
                    carried.push(fact);
                }
            }
        }
        carried
    }

    /// Drops SSA values that nobody will read. The death of a value is no loss by itself: the variable that had it may
    /// still be in scope, and a path that ends the program leaks nothing.
    fn prune(&mut self, block: BlockId, state: &mut Rc<State>) {
        let frame = self.frame;
        keep_places(state, |p| match p.at {
            // A value of this very block is one of its φs, just assigned.
            Where::Value(v, _) => {
                let home = frame.body.def(v).map(|inst| frame.block_of(inst));
                home == Some(block) || frame.is_live_in(v, block)
            }
            Where::Cell(_) | Where::Var(_) => true,
        });
        if self.relevant.from_birth {
            forget_conditions(state);
        } else {
            self.prune_conditions(block, state);
        }
    }

    fn prune_conditions(&mut self, block: BlockId, state: &mut Rc<State>) {
        let is_old = |this: &mut Self| {
            let mut symbols = state.env.iter().map(|entry| entry.0);
            symbols.any(|sym| !this.is_asked_in(sym, block))
        };
        if is_old(self) {
            let state = Rc::make_mut(state);
            state.env.retain(|entry| self.is_asked_in(entry.0, block));
        }
        if state.facts.is_empty() {
            return;
        }
        // What callers find in memory is a symbol's value: all that is known of it goes along.
        let mut carried: SmallVec<[SymId; 8]> = SmallVec::new();
        if self.goal == Goal::Exits {
            for &(_, term) in &state.env {
                carried.extend_from_slice(&self.values.symbols_in(term));
            }
        }
        let mut is_kept = |fact: TermId| {
            let symbols = self.values.symbols_in(fact);
            let mut symbols = symbols.iter();
            symbols.any(|&sym| self.is_useful(sym, block) || carried.contains(&sym))
        };
        if !state.facts.iter().all(|&fact| is_kept(fact)) {
            let state = Rc::make_mut(state);
            state.facts.retain(|fact| is_kept(*fact));
        }
    }

    /// A fact that no later decision depends on keeps equal states apart for nothing.
    fn is_useful(&mut self, sym: SymId, block: BlockId) -> bool {
        (self.goal == Goal::Exits && self.relevant.interface.contains(&sym))
            || self.is_asked_in(sym, block)
    }

    fn is_asked_in(&mut self, sym: SymId, block: BlockId) -> bool {
        let number = sym.0 as usize;
        if self.asked.len() <= number {
            self.asked.resize_with(number + 1, || None);
        }
        let asked = self.asked[number].get_or_insert_with(|| {
            let home = self.values.home(sym);
            let mut blocks = IdSet::with_capacity(self.frame.body.blocks.len());
            let mut stack = self.relevant.uses.get(&sym).cloned().unwrap_or_default();
            while let Some(block) = stack.pop() {
                if blocks.insert(block) && Some(block) != home {
                    stack.extend(self.frame.cfg.preds(block));
                }
            }
            blocks
        });
        asked.contains(block)
    }
}

fn forget_conditions(state: &mut Rc<State>) {
    if !state.facts.is_empty() || !state.env.is_empty() {
        let state = Rc::make_mut(state);
        state.facts.clear();
        state.env.clear();
    }
}
