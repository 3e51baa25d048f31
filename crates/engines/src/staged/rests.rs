//! Question: what can a loop leave in a variable, whatever the number of turns?
//!
//! After any number of turns a header's φ, of a value or of memory, is what it was, or what some turn has put there. Where all
//! that turns put there is known to be a constant or not null, a later turn finds nothing else: `done = 1`, and a list's
//! `tail` that the first turn sets, stay set.
//!
//! Domain: the set of [`Rest`]s that flow to the header's φ; `None` if one is unknown. Cost: the φs, stores and calls between
//! the jumps back and the φ, at most [`MAX_DEPTH`] deep.

use drip_cond::SymId;
use drip_flow::{Frame, Symbol, Values, cell_of, leaves_alone, stored_just_before};
use drip_memssa::{Def, VersionId};
use drip_models::{Certainty, Class, Outcome, Value};
use drip_pointer::CellId;
use drip_program::{BlockId, CmpPred, Const, InstId, Op, Operand, ValueId};
use smallvec::SmallVec;

/// Steps from a jump back to what it brings.
const MAX_DEPTH: usize = 12;

/// What a turn puts into a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    Constant(u64),
    NonZero,
}

/// Everything that turns put into the header's φ that `sym` stands for; `None` if nobody can say.
pub fn rests(frame: &Frame<'_>, values: &Values, sym: SymId) -> Option<SmallVec<[Rest; 4]>> {
    let mut search = Search {
        frame,
        found: SmallVec::new(),
        values: SmallVec::new(),
        versions: SmallVec::new(),
    };
    match values.symbol(sym)? {
        Symbol::Value(value) => {
            let inst = frame.body.def(value)?;
            let Op::Phi { incoming } = frame.body.insts[inst].op else {
                return None;
            };
            let header = frame.block_of(inst);
            search.values.push(value);
            for entry in frame.body.incoming(incoming) {
                if frame.cfg.rpo().is_retreating(entry.block, header) {
                    search.operand(entry.value, entry.block)?;
                }
            }
        }
        Symbol::Version(version, _) => {
            let Def::Phi { block, operands } = &frame.memssa.versions[version].def else {
                return None;
            };
            search.versions.push(version);
            for (&operand, &pred) in operands.iter().zip(frame.cfg.preds(*block)) {
                if frame.cfg.rpo().is_retreating(pred, *block) {
                    search.version(operand)?;
                }
            }
        }
    }
    Some(search.found)
}

struct Search<'s, 'a> {
    frame: &'s Frame<'a>,
    found: SmallVec<[Rest; 4]>,
    /// Asked for already, the header's φ first: it is what it was.
    values: SmallVec<[ValueId; MAX_DEPTH]>,
    versions: SmallVec<[VersionId; MAX_DEPTH]>,
}

impl Search<'_, '_> {
    fn add(&mut self, rest: Rest) -> Option<()> {
        if !self.found.contains(&rest) {
            self.found.push(rest);
        }
        Some(())
    }

    /// What an operand can be at the end of a block.
    fn operand(&mut self, operand: Operand, block: BlockId) -> Option<()> {
        let frame = self.frame;
        let Some(value) = operand.as_value() else {
            return match frame.body.const_of(operand)? {
                Const::Int { bits, .. } => self.add(Rest::Constant(*bits)),
                Const::Null | Const::Zero(_) => self.add(Rest::Constant(0)),
                Const::Global { .. } | Const::Func(_) => self.add(Rest::NonZero),
                _ => None,
            };
        };
        if self.values.contains(&value) {
            return Some(());
        }
        if is_not_null(frame, value, block) {
            return self.add(Rest::NonZero);
        }
        let inst = frame.body.def(value)?;
        if self.values.len() == MAX_DEPTH {
            return None;
        }
        self.values.push(value);
        match frame.body.insts[inst].op {
            Op::Phi { incoming } => {
                for entry in frame.body.incoming(incoming) {
                    self.operand(entry.value, entry.block)?;
                }
                Some(())
            }
            Op::Select { then, els, .. } => {
                self.operand(then, block)?;
                self.operand(els, block)
            }
            Op::Load { addr } => {
                let home = frame.block_of(inst);
                let stored = stored_just_before(frame.body, home, inst, addr)?;
                self.operand(stored, block)
            }
            _ => None,
        }
    }

    fn version(&mut self, version: VersionId) -> Option<()> {
        if self.versions.contains(&version) {
            return Some(());
        }
        if self.versions.len() == MAX_DEPTH {
            return None;
        }
        self.versions.push(version);
        let frame = self.frame;
        match &frame.memssa.versions[version].def {
            Def::Entry => None,
            Def::Phi { operands, .. } => operands.iter().try_for_each(|&o| self.version(o)),
            &Def::Chi { inst, old, .. } => {
                let cell = cell_of(frame.memssa.versions[version].region);
                match frame.body.insts[inst].op {
                    Op::Store { .. } => {
                        let value = frame.stored_operand(version)?;
                        self.operand(value, frame.block_of(inst))
                    }
                    Op::Call { .. } | Op::Invoke { .. } => {
                        let summary = frame.calls.get(&inst)?;
                        let outcomes = &summary.outcomes;
                        outcomes
                            .iter()
                            .try_for_each(|o| self.outcome(inst, o, cell, old))
                    }
                    _ => None,
                }
            }
        }
    }

    fn outcome(
        &mut self,
        call: InstId,
        outcome: &Outcome,
        cell: CellId,
        old: VersionId,
    ) -> Option<()> {
        let frame = self.frame;
        if leaves_alone(frame, call, outcome, cell) {
            return self.version(old);
        }
        let place = frame.local.memory.cells[cell];
        let mut writes = outcome.writes.iter().filter(|write| {
            let base = frame.resolve(call, &write.cell.base);
            write.certainty == Certainty::Must
                && matches!(base[..], [loc] if loc.obj == place.obj
                    && loc.off.plus(write.cell.offset) == place.off)
        });
        match (&writes.next()?.value, writes.next()) {
            (Value::Int(value), None) => self.add(Rest::Constant(*value as u64)),
            (Value::Fresh { .. } | Value::Func(_), None) => self.add(Rest::NonZero),
            (Value::Unknown(Class::NonZero | Class::Positive | Class::Negative), None) => {
                self.add(Rest::NonZero)
            }
            _ => None,
        }
    }
}

/// Is a pointer, wherever `block` is passed, not null: an address, tested, or accessed through?
fn is_not_null(frame: &Frame<'_>, value: ValueId, block: BlockId) -> bool {
    let def = frame.body.def(value);
    let is_address = def.is_some_and(|inst| match frame.body.insts[inst].op {
        Op::Alloca { .. } => true,
        Op::Call { .. } | Op::Invoke { .. } => frame.calls.get(&inst).is_some_and(|summary| {
            let outcomes = &summary.outcomes;
            !outcomes.is_empty() && outcomes.iter().all(|o| is_not_zero(&o.ret))
        }),
        _ => frame.is_pointer_sum(Operand::value(value)),
    });
    is_address
        || frame
            .uses(value)
            .any(|user| shows_not_null(frame, value, user, block))
}

fn is_not_zero(value: &Value) -> bool {
    matches!(
        value,
        Value::Fresh { .. }
            | Value::Func(_)
            | Value::Unknown(Class::NonZero | Class::Positive | Class::Negative)
    )
}

/// Does this use of a pointer say that it is not null in `block`?
fn shows_not_null(frame: &Frame<'_>, value: ValueId, user: InstId, block: BlockId) -> bool {
    let passes = |inst: InstId| frame.cfg.dominates(frame.block_of(inst), block);
    match frame.body.insts[user].op {
        Op::Load { addr } | Op::Store { addr, .. } => {
            frame.accessed(addr).as_value() == Some(value) && passes(user)
        }
        Op::PtrAdd { .. } => {
            let field = frame.body.result(user);
            frame.uses(field).any(|inst| {
                let through = matches!(frame.body.insts[inst].op,
                    Op::Load { addr } | Op::Store { addr, .. } if addr.as_value() == Some(field));
                through && passes(inst)
            })
        }
        Op::Cmp { pred, b, .. } => {
            let is_null = matches!(frame.body.const_of(b), Some(Const::Null));
            let test = frame.body.result(user);
            is_null
                && frame.uses(test).any(|branch| {
                    let Op::CondBr { then, els, .. } = frame.body.insts[branch].op else {
                        return false;
                    };
                    let side = match pred {
                        CmpPred::Ne => then,
                        CmpPred::Eq => els,
                        _ => return false,
                    };
                    frame.cfg.preds(side).len() == 1 && frame.cfg.dominates(side, block)
                })
        }
        _ => false,
    }
}
