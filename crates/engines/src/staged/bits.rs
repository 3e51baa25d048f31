//! Question: which bits of a number are set for sure where a way has come to?
//!
//! `errors |= check(line);` gathers what went wrong, and `if (errors & FATAL) exit(1);` ends the program far behind. The way is walked
//! once, in order: a constant has its bits, an or has those of both sides, a φ those of the edge that was taken; the call that the way
//! begins with has those that its callee is known to have returned, until it is made again. Nothing is known of any other value.

use drip_program::{BinaryOp, Body, InstId, Op, Operand, Program, ValueId};
use rustc_hash::FxHashMap;

use super::interface::constant;
use super::ways::Way;

/// Bits that are set at the end of a way.
pub(super) struct Bits<'b> {
    program: &'b Program,
    body: &'b Body,
    known: FxHashMap<ValueId, u64>,
}

impl<'b> Bits<'b> {
    /// Those of a way that begins behind a call which has returned a number with these bits.
    pub fn on(
        program: &'b Program,
        body: &'b Body,
        way: &Way,
        call: InstId,
        returned: u64,
    ) -> Bits<'b> {
        let mut bits = Bits {
            program,
            body,
            known: FxHashMap::default(),
        };
        bits.known.insert(body.result(call), returned);
        let Some(first) = body.block_of(call) else {
            return bits;
        };
        let behind = body.block_insts(first).filter(|&inst| inst > call);
        behind.for_each(|inst| bits.pass(inst));
        for &(from, block) in way.edges() {
            let mut chosen = Vec::new();
            for inst in body.block_insts(block) {
                if let Op::Phi { incoming } = body.insts[inst].op {
                    let mut entries = body.incoming(incoming).iter();
                    let entry = entries.find(|entry| entry.block == from);
                    let known = entry.map_or(0, |entry| bits.of(entry.value));
                    chosen.push((body.result(inst), known));
                }
            }
            bits.known.extend(chosen);
            body.block_insts(block).for_each(|inst| bits.pass(inst));
        }
        bits
    }

    /// The value's bits that are set.
    pub fn of(&self, operand: Operand) -> u64 {
        if let Some(number) = constant(self.program, self.body, operand) {
            return number as u64;
        }
        let known = operand.as_value().and_then(|value| self.known.get(&value));
        known.copied().unwrap_or(0)
    }

    /// Is it a value with some of these bits (`errors & FATAL`), for sure?
    pub fn tells(&self, operand: Operand) -> bool {
        let def = operand.as_value().and_then(|value| self.body.def(value));
        match def.map(|inst| self.body.insts[inst].op) {
            Some(Op::Binary {
                op: BinaryOp::And,
                a,
                b,
            }) => self.of(a) & self.of(b) != 0,
            Some(Op::Cast { value, .. }) => self.tells(value),
            _ => self.of(operand) != 0,
        }
    }

    /// Is it a φ of a loop that bits were put into, which a turn does not take out again?
    pub fn gathers(&self, phi: Operand) -> bool {
        let def = phi.as_value().and_then(|value| self.body.def(value));
        let Some(Op::Phi { incoming }) = def.map(|inst| self.body.insts[inst].op) else {
            return false;
        };
        let is_or = |operand: Operand| {
            let def = operand.as_value().and_then(|value| self.body.def(value));
            matches!(
                def.map(|inst| self.body.insts[inst].op),
                Some(Op::Binary {
                    op: BinaryOp::Or,
                    ..
                })
            )
        };
        let mut origins = self.body.incoming(incoming).iter();
        self.of(phi) != 0 && origins.any(|entry| is_or(entry.value) && self.of(entry.value) != 0)
    }

    /// Is it, or what some bits of it are asked for, gathered in a loop?
    pub fn tells_gathered(&self, operand: Operand) -> bool {
        let def = operand.as_value().and_then(|value| self.body.def(value));
        let asked = match def.map(|inst| self.body.insts[inst].op) {
            Some(Op::Binary {
                op: BinaryOp::And,
                a,
                ..
            }) => a,
            Some(Op::Cast { value, .. }) => return self.tells_gathered(value),
            _ => operand,
        };
        self.gathers(asked) && self.tells(operand)
    }

    fn pass(&mut self, inst: InstId) {
        let known = match self.body.insts[inst].op {
            Op::Phi { .. } => return,
            Op::Binary {
                op: BinaryOp::Or,
                a,
                b,
            } => self.of(a) | self.of(b),
            Op::Cast { value, .. } => self.of(value),
            _ => 0,
        };
        let value = self.body.result(inst);
        match known {
            0 => self.known.remove(&value),
            known => self.known.insert(value, known),
        };
    }
}
