//! Question: which numbers in memory does a way leave behind, as far as whoever called the function can see them?
//!
//! `quit = 1;` in a helper ends the loop of a caller, and a field that the helper found set is the one by which its caller exits. Numbers are
//! kept by the variable or parameter that leads to them and by their offset there. A store of a constant sets one, a branch on a
//! load tells one, the address of a constant (a text) is not null, any other store forgets it; so does a call that can change it: one that stores into the same variable itself, or that is handed
//! the address. What callees of callees store is not looked at: this only serves to be silent, never to report.

use drip_models::Class;
use drip_program::{
    BlockId, Body, CmpPred, Const, GlobalId, InstId, Op, Operand, Program, ValueId,
};

use super::interface::constant;

/// What leads to a number in one function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Base {
    Global(GlobalId),
    Param(usize),
    Slot(InstId),
}

/// A number in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    base: Base,
    offset: i64,
}

/// Known numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Flags {
    known: Vec<(Place, Class)>,
}

impl Flags {
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Only what is known here and there.
    pub fn meet(&mut self, other: &Flags) {
        self.known.retain(|known| other.known.contains(known));
    }

    /// Goes past an instruction.
    pub fn pass(&mut self, program: &Program, body: &Body, inst: InstId) {
        match body.insts[inst].op {
            Op::Store { addr, value } => {
                if let Some(place) = place(body, addr) {
                    self.forget(|known| known == place);
                    if let Some(number) = constant(program, body, value) {
                        self.known.push((place, Class::Eq(number)));
                    } else if let Some(Const::Global { .. }) = body.const_of(value) {
                        // A text that says what went wrong.
                        self.known.push((place, Class::NonZero));
                    }
                }
            }
            Op::MemCopy { dst, .. } | Op::MemSet { dst, .. } => {
                if let Some(place) = place(body, dst) {
                    self.forget(|known| known.base == place.base);
                }
            }
            Op::Call { callee, args, .. } | Op::Invoke { callee, args, .. } => {
                for place in body.list(args).iter().filter_map(|&arg| place(body, arg)) {
                    self.forget(|known| known.base == place.base);
                }
                if let Some(&Const::Func(callee)) = body.const_of(callee)
                    && let Some(callee) = &program.funcs[callee].body
                {
                    self.forget(|known| sets_otherwise(callee, known));
                }
            }
            _ => {}
        }
    }

    /// Something known is stored.
    pub fn put(&mut self, body: &Body, addr: Operand, class: Class) {
        if let Some(place) = place(body, addr) {
            self.forget(|known| known == place);
            self.known.push((place, class));
        }
    }

    /// Takes the edge between two blocks.
    pub fn learn(&mut self, program: &Program, body: &Body, from: BlockId, to: BlockId) {
        let Op::CondBr { cond, then, els } = body.insts[body.terminator(from)].op else {
            return;
        };
        if then == els {
            return;
        }
        if let Some((value, class)) = told(program, body, cond, to == then)
            && let Some((_, place)) = loaded(body, value)
        {
            self.forget(|known| known == place);
            self.known.push((place, class));
        }
    }

    /// What is known of a value that is loaded from one of the places, and by which load.
    pub fn of(&self, body: &Body, value: Operand) -> Option<(InstId, Class)> {
        let (load, place) = loaded(body, value)?;
        let mut known = self.known.iter();
        known
            .find(|(known, _)| *known == place)
            .map(|&(_, class)| (load, class))
    }

    /// The same numbers as the caller sees them after the call.
    pub fn in_caller(&self, body: &Body, call: InstId) -> Flags {
        let (Op::Call { args, .. } | Op::Invoke { args, .. }) = body.insts[call].op else {
            return Flags::default();
        };
        let seen = |&(known, class): &(Place, Class)| match known.base {
            Base::Global(_) => Some((known, class)),
            Base::Param(n) => {
                let arg = place(body, *body.list(args).get(n)?)?;
                let offset = arg.offset.checked_add(known.offset)?;
                let base = arg.base;
                Some((Place { base, offset }, class))
            }
            Base::Slot(_) => None,
        };
        Flags {
            known: self.known.iter().filter_map(seen).collect(),
        }
    }

    fn forget(&mut self, is_changed: impl Fn(Place) -> bool) {
        self.known.retain(|&(known, _)| !is_changed(known));
    }
}

/// Does a function store anything into this variable?
fn sets_otherwise(body: &Body, known: Place) -> bool {
    matches!(known.base, Base::Global(_))
        && body.insts.iter().any(
            |data| matches!(data.op, Op::Store { addr, .. } if place(body, addr) == Some(known)),
        )
}

/// Where an address is, if only constants were added to it.
fn place(body: &Body, mut addr: Operand) -> Option<Place> {
    let mut added = 0_i64;
    loop {
        if let Some(&Const::Global { global, offset }) = body.const_of(addr) {
            let base = Base::Global(global);
            let offset = added.checked_add(offset)?;
            return Some(Place { base, offset });
        }
        let value: ValueId = addr.as_value()?;
        let Some(inst) = body.def(value) else {
            let base = Base::Param(body.as_param(value)?);
            let offset = added;
            return Some(Place { base, offset });
        };
        match body.insts[inst].op {
            Op::PtrAdd {
                base,
                offset,
                indices,
            } if indices.len == 0 => {
                added = added.checked_add(offset)?;
                addr = base;
            }
            Op::Alloca { .. } => {
                let base = Base::Slot(inst);
                let offset = added;
                return Some(Place { base, offset });
            }
            _ => return None,
        }
    }
}

/// The load that a value comes from, by way of conversions only, and where it reads.
fn loaded(body: &Body, value: Operand) -> Option<(InstId, Place)> {
    let inst = body.def(value.as_value()?)?;
    match body.insts[inst].op {
        Op::Load { addr } => Some((inst, place(body, addr)?)),
        Op::Cast { value, .. } => loaded(body, value),
        _ => None,
    }
}

/// What a condition says of a value, if it holds or not.
fn told(program: &Program, body: &Body, cond: Operand, holds: bool) -> Option<(Operand, Class)> {
    let inst = body.def(cond.as_value()?)?;
    match body.insts[inst].op {
        Op::Cmp { pred, a, b } => {
            let b = constant(program, body, b)?;
            let (if_so, if_not) = classes(pred, b)?;
            Some((a, if holds { if_so } else { if_not }))
        }
        Op::Cast { value, .. } => Some((value, if holds { Class::NonZero } else { Class::Eq(0) })),
        _ => None,
    }
}

/// What holds of a value if a comparison with a constant holds, and what if it fails.
pub(super) fn classes(pred: CmpPred, b: i64) -> Option<(Class, Class)> {
    Some(match pred {
        CmpPred::Eq => (Class::Eq(b), Class::Ne(b)),
        CmpPred::Ne => (Class::Ne(b), Class::Eq(b)),
        CmpPred::Slt => (Class::Lt(b), Class::Ge(b)),
        CmpPred::Sge => (Class::Ge(b), Class::Lt(b)),
        CmpPred::Sle => (Class::Lt(b.checked_add(1)?), Class::Ge(b.checked_add(1)?)),
        CmpPred::Sgt => (Class::Ge(b.checked_add(1)?), Class::Lt(b.checked_add(1)?)),
        _ => return None,
    })
}
