//! Question: what is known of a loop's values after any number of turns?
//!
//! When a path jumps back to a loop's header, one turn stands for any number of them, so the header's φs get new names (Saturn
//! §3.5). Three things are still known. Either no further turn is made, and the φs are what the jump brings; or the header sent
//! those values into the loop once more. And a counter that only ever grows, or only ever shrinks, has gone on in its direction.
//! Counters are taken not to wrap around. And what was tested at the end of a turn before the next one began holds for the next one's φ.
//!
//! Domain: a [`Trend`] per φ: up or down, and whether every turn moves it. Order: unmoved below both, both below "unknown".
//! Cost: the φs, selects and sums between a header's φ and its jumps back, at most [`MAX_DEPTH`] deep.
//! Known limit: counters in memory and steps by variables have no trend.

use drip_cond::{TermId, Terms};
use drip_flow::Frame;
use drip_flow::arithmetic::compare;
use drip_program::{BinaryOp, BlockId, Body, CmpPred, Const, InstId, Op, Operand, ValueId};
use smallvec::SmallVec;

/// Operations between a header's φ and its next value; a longer way has no trend.
const MAX_DEPTH: usize = 8;

/// Where a counter goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trend {
    pub direction: Direction,
    /// Every turn moves it.
    pub is_strict: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Unmoved,
    Up,
    Down,
}

impl Trend {
    const UNMOVED: Trend = Trend {
        direction: Direction::Unmoved,
        is_strict: false,
    };

    /// One of the two happens.
    fn join(self, other: Trend) -> Option<Trend> {
        let direction = self.common(other)?;
        Some(Trend {
            direction,
            is_strict: self.is_strict && other.is_strict,
        })
    }

    /// Both happen.
    fn then(self, other: Trend) -> Option<Trend> {
        let direction = self.common(other)?;
        Some(Trend {
            direction,
            is_strict: self.is_strict || other.is_strict,
        })
    }

    fn common(self, other: Trend) -> Option<Direction> {
        match (self.direction, other.direction) {
            (a, Direction::Unmoved) => Some(a),
            (Direction::Unmoved, b) => Some(b),
            (a, b) => (a == b).then_some(a),
        }
    }
}

/// Where the φ `inst` of a loop's header goes from turn to turn; `None` if nobody can say.
pub fn trend(frame: &Frame<'_>, inst: InstId) -> Option<Trend> {
    let header = frame.block_of(inst);
    let Op::Phi { incoming } = frame.body.insts[inst].op else {
        return None;
    };
    let search = Search {
        frame,
        phi: frame.body.result(inst),
        is_inside: &|block| {
            let id = frame.cfg.loops().headed_by(header);
            id.is_some_and(|id| frame.cfg.loops().contains(id, block))
        },
    };
    let mut found: Option<Trend> = None;
    for entry in frame.body.incoming(incoming) {
        if frame.cfg.rpo().is_retreating(entry.block, header) {
            let here = search.of(entry.value, &mut SmallVec::new())?;
            found = Some(match found {
                Some(known) => known.join(here)?,
                None => here,
            });
        }
    }
    found
}

/// What a loop that is tested at its end (`do … while (n < 3)`) has found of one φ's next value before it went on.
pub struct BottomTest {
    pub phi: ValueId,
    pub pred: CmpPred,
    /// What the value is compared with, which no turn changes; on the left if `is_swapped`.
    pub other: Operand,
    pub is_swapped: bool,
    /// Did the comparison hold, or not?
    pub holds: bool,
}

impl BottomTest {
    /// The test of the only jump back to `header`, which is at the end of `latch`.
    pub fn of(body: &Body, latch: BlockId, header: BlockId) -> Option<BottomTest> {
        let Op::CondBr { cond, then, els } = body.insts[body.terminator(latch)].op else {
            return None;
        };
        let Op::Cmp { pred, a, b } = body.insts[body.def(cond.as_value()?)?].op else {
            return None;
        };
        let is_fixed = |operand: Operand| match operand.as_value().and_then(|v| body.def(v)) {
            // Blocks stand in the order of the source: what is made before the loop.
            Some(inst) => body.block_of(inst).is_some_and(|block| block < header),
            None => true,
        };
        for inst in body.block_insts(header) {
            let Op::Phi { incoming } = body.insts[inst].op else {
                break;
            };
            let mut back = body.incoming(incoming).iter().filter(|i| i.block >= header);
            let (Some(input), None) = (back.next(), back.next()) else {
                return None;
            };
            let is_it = |x: Operand, y: Operand| x == input.value && is_fixed(y);
            if then != els && input.block == latch && (is_it(a, b) || is_it(b, a)) {
                let is_swapped = !is_it(a, b);
                return Some(BottomTest {
                    phi: body.result(inst),
                    pred,
                    other: if is_swapped { a } else { b },
                    is_swapped,
                    holds: then == header,
                });
            }
        }
        None
    }

    /// What is known of the φ, now that it is `value`.
    pub fn fact(&self, terms: &mut Terms, value: TermId, other: TermId) -> Option<TermId> {
        if terms.sort(value) != terms.sort(other) {
            return None;
        }
        let (x, y) = match self.is_swapped {
            true => (other, value),
            false => (value, other),
        };
        let fact = compare(terms, self.pred, x, y)?;
        Some(match self.holds {
            true => fact,
            false => terms.not(fact),
        })
    }
}

/// What a loop that is tested at its beginning (`for (i = 0; i < 3; i++)`) has found of one φ's last value, which every turn changes by the
/// same step: the turn before has been made.
pub struct TopTest {
    pub test: BottomTest,
    /// Added in each turn, or subtracted.
    pub step: Operand,
    pub is_added: bool,
}

impl TopTest {
    /// The test at the end of `header`, of a loop with only one jump back, from `latch`.
    pub fn of(body: &Body, latch: BlockId, header: BlockId) -> Option<TopTest> {
        let Op::CondBr { cond, then, els } = body.insts[body.terminator(header)].op else {
            return None;
        };
        let Op::Cmp { pred, a, b } = body.insts[body.def(cond.as_value()?)?].op else {
            return None;
        };
        // Blocks stand in the order of the source.
        let is_inside = |block: BlockId| header < block && block <= latch;
        let is_fixed = |operand: Operand| match operand.as_value().and_then(|v| body.def(v)) {
            Some(inst) => body.block_of(inst).is_some_and(|block| block < header),
            None => true,
        };
        if is_inside(then) == is_inside(els) {
            return None;
        }
        let (phi, other, is_swapped) = match (is_fixed(a), is_fixed(b)) {
            (false, true) => (a.as_value()?, b, false),
            (true, false) => (b.as_value()?, a, true),
            _ => return None,
        };
        let inst = body.def(phi)?;
        let Op::Phi { incoming } = body.insts[inst].op else {
            return None;
        };
        let mut back = body.incoming(incoming).iter().filter(|i| i.block >= header);
        let (Some(input), None) = (back.next(), back.next()) else {
            return None;
        };
        let next = body.def(input.value.as_value()?)?;
        let Op::Binary { op, a, b: step } = body.insts[next].op else {
            return None;
        };
        let is_step = matches!(op, BinaryOp::Add | BinaryOp::Sub)
            && a.as_value() == Some(phi)
            && body.const_of(step).is_some();
        (is_step && body.block_of(inst) == Some(header)).then_some(TopTest {
            test: BottomTest {
                phi,
                pred,
                other,
                is_swapped,
                holds: is_inside(then),
            },
            step,
            is_added: op == BinaryOp::Add,
        })
    }

    /// What is known of the φ, now that it is `value`.
    pub fn fact(
        &self,
        terms: &mut Terms,
        value: TermId,
        step: TermId,
        other: TermId,
    ) -> Option<TermId> {
        if terms.sort(value) != terms.sort(step) {
            return None;
        }
        let before = match self.is_added {
            true => terms.sub(value, step),
            false => terms.add(value, step),
        };
        self.test.fact(terms, before, other)
    }
}

struct Search<'s, 'a> {
    frame: &'s Frame<'a>,
    phi: ValueId,
    is_inside: &'s dyn Fn(BlockId) -> bool,
}

impl Search<'_, '_> {
    /// How far `value` is from the φ of the same turn. `open`: values that are being asked for; coming back to one, which an
    /// inner loop does, says nothing new.
    fn of(&self, value: Operand, open: &mut SmallVec<[ValueId; MAX_DEPTH]>) -> Option<Trend> {
        let value = value.as_value()?;
        if value == self.phi || open.contains(&value) {
            return Some(Trend::UNMOVED);
        }
        let body = self.frame.body;
        let inst = body.def(value)?;
        if open.len() == MAX_DEPTH || !(self.is_inside)(self.frame.block_of(inst)) {
            return None;
        }
        open.push(value);
        let found = match body.insts[inst].op {
            Op::Binary { op, a, b } => {
                let step = self.step(op, b)?;
                self.of(a, open)?.then(step)
            }
            Op::Select { then, els, .. } => {
                let then = self.of(then, open)?;
                then.join(self.of(els, open)?)
            }
            Op::Phi { incoming } => {
                let mut found: Option<Trend> = None;
                for entry in body.incoming(incoming) {
                    let here = self.of(entry.value, open)?;
                    found = Some(match found {
                        Some(known) => known.join(here)?,
                        None => here,
                    });
                }
                found
            }
            _ => None,
        };
        open.pop();
        found
    }

    /// Adding or subtracting a constant.
    fn step(&self, op: BinaryOp, by: Operand) -> Option<Trend> {
        let Some(&Const::Int { ty, bits }) = self.frame.body.const_of(by) else {
            return None;
        };
        let width = u32::try_from(8 * self.frame.program.types.size_of(ty)).ok()?;
        let unused = 64u32.checked_sub(width)?;
        let by = (bits << unused) as i64 >> unused;
        let by = match op {
            BinaryOp::Add => by,
            BinaryOp::Sub => by.checked_neg()?,
            _ => return None,
        };
        let direction = match by.signum() {
            1 => Direction::Up,
            -1 => Direction::Down,
            _ => return Some(Trend::UNMOVED),
        };
        Some(Trend {
            direction,
            is_strict: true,
        })
    }
}
