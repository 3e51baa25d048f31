//! Question: whose is a block at an exit, and what is in it? A block that is returned and kept is not the caller's; a parameter that
//! is some other pointer is no block of the caller's; a block that was made full of zeros still is where nothing is told of it.

use drip_cond::{TermId, TermKind};
use drip_flow::{Escape, Machine, State, Symbol, Where, cell_of};
use drip_models::{
    Atom, CellPath, Certainty, Class, Escape as SummaryEscape, Outcome, Root, Subject, Value,
    ValuePath, Write,
};
use drip_pointer::local::MAX_ENTRY_DEPTH;
use drip_pointer::{ObjId, ObjKind};
use drip_program::Operand;
use smallvec::SmallVec;

use super::effects::handed_out;
use super::exits::ExitReader;
use super::objects::concerned_objects;
use super::summarize::escaping;
use super::zeroed::{is_zeroed, stored_cells};

/// The outcome is one of a parameter that is no block.
fn is_none(outcome: &mut Outcome, parameter: ValuePath) {
    let subject = Subject::Entry(parameter);
    outcome.when.retain(|atom| atom.subject != subject);
    outcome.when.push(Atom {
        subject,
        class: Class::Eq(0),
    });
    outcome.when.sort();
}

impl ExitReader<'_, '_> {
    /// Blocks that callers get full of zeros. What was stored there since and is not told may be anything.
    pub(super) fn zeroed(&self, outcome: &mut Outcome) {
        let zeroed = |k: &u16| is_zeroed(self.frame, self.fresh[usize::from(*k)]);
        outcome.zeroed = outcome.fresh.iter().copied().filter(zeroed).collect();
        for &k in &outcome.zeroed {
            let obj = self.fresh[usize::from(k)];
            for cell in stored_cells(self.frame, obj) {
                let cell = CellPath {
                    base: ValuePath::root(Root::Fresh(k)),
                    offset: self.frame.local.memory.cells[cell].off,
                };
                if !outcome.writes.iter().any(|w| w.cell == cell) {
                    outcome.writes.push(Write {
                        cell,
                        value: Value::Unknown(Class::Any),
                        certainty: Certainty::May,
                    });
                }
            }
        }
        outcome.writes.sort();
    }

    /// A parameter that the path knows to be some other pointer (`if (p == NULL || p == none)`) is no block of the caller's: no
    /// condition can say that, so what other paths may do something to counts as escaped. To a function that reallocates its argument
    /// it is as good as null.
    pub(super) fn other_pointers(&mut self, state: &State, outcome: &mut Outcome) {
        let frame = self.frame;
        for &fact in &state.facts {
            let TermKind::Eq(a, b) = *self.values.terms.kind(fact) else {
                continue;
            };
            for (own, other) in [(a, b), (b, a)] {
                let TermKind::Sym(sym) = *self.values.terms.kind(own) else {
                    continue;
                };
                let is_address = matches!(
                    self.values.terms.kind(other),
                    TermKind::Sym(_) | TermKind::Addr(_) | TermKind::App(..)
                );
                let Some(Symbol::Value(value)) = self.values.symbol(sym).filter(|_| is_address)
                else {
                    continue;
                };
                let is_pointer = |value| {
                    matches!(
                        frame.program.types.get(frame.body.value_ty(value)),
                        drip_program::Type::Ptr
                    )
                };
                if let Some(n) = frame.body.as_param(value).filter(|_| is_pointer(value)) {
                    let path = ValuePath::arg(n as u16);
                    match self.is_reallocated(&path) {
                        _ if self.is_found_behind(other, n) => {}
                        true => is_none(outcome, path),
                        false => outcome.escapes.extend(self.concerned_behind(n as u16)),
                    }
                }
            }
        }
        outcome.escapes.sort();
        outcome.escapes.dedup();
    }

    /// Was the other pointer read from what this parameter leads to? A structure that points back to its owner (`s->strm == strm`) says
    /// nothing against either.
    fn is_found_behind(&self, other: TermId, parameter: usize) -> bool {
        let TermKind::Sym(sym) = *self.values.terms.kind(other) else {
            return false;
        };
        let Some(Symbol::Version(version, _)) = self.values.symbol(sym) else {
            return false;
        };
        let memory = &self.frame.local.memory;
        let cell = cell_of(self.frame.memssa.versions[version].region);
        let root = self.root(memory.cells[cell].obj);
        matches!(root, Some(ObjKind::Param(n)) if usize::from(n) == parameter)
    }

    /// What leads to an object from outside of the function.
    fn root(&self, obj: ObjId) -> Option<ObjKind> {
        let memory = &self.frame.local.memory;
        let above = std::iter::successors(Some(obj), |&at| match memory.kind(at) {
            ObjKind::Entry(home) => Some(memory.cells[home].obj),
            ObjKind::Deep(from) => Some(from),
            _ => None,
        });
        above.last().map(|root| memory.kind(root))
    }

    /// Escapes of what some path may do something to: the block that the parameter points to, and what lies behind it. A pointer that is
    /// compared and nothing else is the caller's as it was.
    fn concerned_behind(&self, parameter: u16) -> Vec<SummaryEscape> {
        let frame = self.frame;
        let concerned = self.concerned.get_or_init(|| concerned_objects(frame));
        let paths = concerned.iter().filter_map(|&obj| self.object_path(obj));
        let paths = paths.filter(|path| path.root == Root::Arg(parameter));
        paths.map(escaping).collect()
    }

    /// Does the function move what this parameter points to into a new block (`alloc(old, n)`)? A mark that callers pass instead of a
    /// block (`alloc(ZEROED, n)`) then asks for a new one, as null does.
    fn is_reallocated(&self, parameter: &ValuePath) -> bool {
        let frame = self.frame;
        let mut calls = frame.body.insts.ids().iter();
        calls.any(|call| {
            let summary = frame.calls.get(&call).into_iter();
            let mut copies = summary.flat_map(|s| &s.outcomes).flat_map(|o| &o.copies);
            copies.any(|copy| {
                let from = frame.resolve(call, &copy.from);
                let mut paths = from.iter().filter_map(|loc| self.object_path(loc.obj));
                paths.any(|path| path == *parameter)
            })
        })
    }

    /// Fresh objects that something outside leads to after this outcome, and that are nobody else's.
    pub(super) fn alive(&self, state: &State, outcome: &Outcome) -> SmallVec<[u16; 2]> {
        let mut alive = handed_out(outcome);
        alive.retain(|k| {
            self.objects
                .iter()
                .position(|&o| self.fresh_number(o) == Some(*k))
                .is_some_and(|at| {
                    let is_returned =
                        matches!(outcome.ret, Value::Fresh { index, .. } if index == *k);
                    state.objects[at].is_live() && !self.is_kept(state, at, is_returned)
                })
        });
        alive
    }

    /// Is a new block returned that has been given away before?
    pub(super) fn returns_escaped(&self, state: &State, returned: Option<Operand>) -> bool {
        let targets = returned.map_or(&[][..], |operand| self.frame.local.targets(operand));
        let followed = self.objects.iter().zip(&state.objects);
        followed.into_iter().any(|(&obj, followed)| {
            let given_away = |to| matches!(to, Escape::Global(_) | Escape::Unknown(_));
            matches!(followed.machine, Machine::Escaped { to, .. } if given_away(to))
                && self.is_fresh(obj)
                && targets.iter().any(|loc| loc.obj == obj)
        })
    }

    /// Does another object hold this one, over any number of steps, that is somebody else's or that a global leads to? A cache
    /// that returns what it keeps. (What a global holds and what is not returned is told as a write.)
    fn is_kept(&self, state: &State, index: usize, is_returned: bool) -> bool {
        let mut seen: SmallVec<[usize; 4]> = SmallVec::from_slice(&[index]);
        let mut next = 0;
        while let Some(&object) = seen.get(next) {
            for place in &state.objects[object].places {
                let Where::Cell(cell) = place.at else {
                    continue;
                };
                let owner = self.frame.local.memory.cells[cell].obj;
                // Callers have no name for it, so they can't be told that it holds the block.
                if self.is_out_of_sight(owner) {
                    if self.is_farther_on(state, object, owner) {
                        continue;
                    }
                    return true;
                }
                let holder = self.objects.iter().position(|&o| o == owner);
                match holder.map(|holder| (holder, state.objects[holder].machine)) {
                    Some((_, Machine::Escaped { .. })) if self.is_fresh(owner) => return true,
                    Some((holder, Machine::Allocated)) if self.is_fresh(owner) => {
                        if !seen.contains(&holder) {
                            seen.push(holder);
                        }
                    }
                    _ => {
                        let path = self.object_path(owner);
                        let is_global = path.is_some_and(|p| matches!(p.root, Root::Global(_)));
                        if is_global && (next > 0 || is_returned) {
                            return true;
                        }
                    }
                }
            }
            next += 1;
        }
        false
    }

    /// Is the block put at the end of something that is walked along (`while (*p) p = &(*p)->next; *p = e;`)? It may lie nearer as well, where
    /// callers have a name for it: whoever owns the beginning owns what hangs on its end.
    fn is_farther_on(&self, state: &State, object: usize, owner: ObjId) -> bool {
        let memory = &self.frame.local.memory;
        let root = |obj: ObjId| self.root(obj);
        let walked = root(owner).filter(|root| matches!(root, ObjKind::Param(_)));
        let mut places = state.objects[object].places.iter();
        places.any(|place| match place.at {
            Where::Cell(cell) => {
                let nearer = memory.cells[cell].obj;
                walked.is_some() && root(nearer) == walked && !self.is_out_of_sight(nearer)
            }
            _ => false,
        })
    }

    /// Does the object outlive the function without a name that callers know?
    fn is_out_of_sight(&self, obj: ObjId) -> bool {
        let kind = self.frame.local.memory.kind(obj);
        kind.survives()
            && match self.object_path(obj) {
                Some(path) => path.loads.len() + 1 >= MAX_ENTRY_DEPTH as usize,
                None => true,
            }
    }

    fn is_fresh(&self, obj: ObjId) -> bool {
        matches!(self.frame.local.memory.kind(obj), ObjKind::Fresh { .. })
    }
}
