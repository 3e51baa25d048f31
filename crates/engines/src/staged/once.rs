//! Question: is the block made where a variable has not been set yet, by statements that set it?
//!
//! `if (count < 0) { count = ask(&list); names = malloc(count); }` in a loop: that `names` is overwritten in a later turn takes a `count` that is
//! negative again. The paths can't rule that out, because what `ask` tells is unknown; but whoever begins with `count = -1` and asks for that means
//! "once". Asked for: the overwriting statement is the one that made the block; a test on a number that leads to it, in both turns; a constant
//! that the variable has at first passes the test; and what the variable is in the later turn was computed behind that very test. A constant
//! that is put there, what others put there, or a counter decides nothing here. Such losses have low confidence. Known false negatives: a
//! state that comes back (`if (state == START) { state = next(); … }`).

use drip_flow::{End, Frame, Symbol, UseFlow, Values, cell_of};
use drip_memssa::VersionId;
use drip_models::Class;
use drip_pointer::ObjKind;
use drip_program::{BlockId, InstId, Op, Operand};

use super::doubts::{is_made_anew, writers};
use super::flags::classes;
use super::interface::{atom_of, constant};
use super::known::{Comparison, branch_fact, comparison};
use super::paths::Path;
use super::ways::Way;

/// Does a test decide on the block that what is done behind it turns round?
pub(super) fn is_done_once(
    frame: &Frame<'_>,
    values: &mut Values,
    flow: &UseFlow,
    path: &Path,
    end: &End,
) -> bool {
    let Some((call, _)) = flow.birth(frame) else {
        return false;
    };
    if !is_made_anew(frame, flow, end, call) {
        return false;
    }
    let birth = frame.block_of(call);
    let way = Way::through(path.blocks(flow));
    let blocks: Vec<BlockId> = path.blocks_from(flow, birth).collect();
    blocks.windows(2).any(|pair| {
        let guard = Guard {
            frame,
            from: pair[0],
            to: pair[1],
        };
        guard.leads_to(birth)
            && (guard.is_reset_value(&way) || guard.is_reset_variable(values, &blocks))
    })
}

/// A branch that the path takes on its way to the overwriting statement.
struct Guard<'g, 'a> {
    frame: &'g Frame<'a>,
    from: BlockId,
    to: BlockId,
}

impl Guard<'_, '_> {
    /// Does nobody come to the block without passing it this way?
    fn leads_to(&self, block: BlockId) -> bool {
        let cfg = &self.frame.cfg;
        self.from != block
            && cfg.dominates(self.from, block)
            && cfg.dominates(self.to, block)
            && cfg.preds(self.to) == [self.from]
    }

    fn is_behind(&self, inst: InstId) -> bool {
        let cfg = &self.frame.cfg;
        cfg.dominates(self.to, self.frame.block_of(inst))
    }

    /// Of a variable that is in no memory.
    fn is_reset_value(&self, way: &Way) -> bool {
        let body = self.frame.body;
        let Some(Comparison { pred, a, b, holds }) = comparison(self.frame, self.from, self.to)
        else {
            return false;
        };
        let asked = constant(self.frame.program, body, b).and_then(|b| classes(pred, b));
        let Some(asked) = asked.map(|(if_so, if_not)| if holds { if_so } else { if_not }) else {
            return false;
        };
        let mut now = way.taken(body, a);
        while let Some(inst) = now.as_value().and_then(|value| body.def(value))
            && let Op::Cast { value, .. } = body.insts[inst].op
        {
            now = way.taken(body, value);
        }
        let def = now.as_value().and_then(|value| body.def(value));
        let is_computed = def.is_some_and(|inst| {
            now != a
                && self.is_behind(inst)
                && !is_phi(self.frame, inst)
                && !self.is_counted(inst, a)
        });
        is_computed
            && body
                .origins(a)
                .iter()
                .any(|&origin| self.passes(origin, asked))
    }

    /// Is it the tested value itself, counted on? The next turn of such a loop is nobody's surprise.
    fn is_counted(&self, inst: InstId, tested: Operand) -> bool {
        let body = self.frame.body;
        let root = |mut operand: Operand| {
            while let Some(inst) = operand.as_value().and_then(|value| body.def(value))
                && let Op::Cast { value, .. } = body.insts[inst].op
            {
                operand = value;
            }
            operand
        };
        match body.insts[inst].op {
            Op::Binary { a, b, .. } => [a, b].map(root).contains(&root(tested)),
            _ => false,
        }
    }

    /// Of a variable in memory.
    fn is_reset_variable(&self, values: &mut Values, blocks: &[BlockId]) -> bool {
        let fact = branch_fact(self.frame, values, self.from, self.to);
        let Some((sym, asked)) = fact.and_then(|fact| atom_of(values, fact)) else {
            return false;
        };
        let Some(Symbol::Version(version, 1..)) = values.symbol(sym) else {
            return false;
        };
        if !self.is_variable(version) {
            return false;
        }
        let stored = |inst: InstId| match self.frame.body.insts[inst].op {
            Op::Store { value, .. } => Some(value),
            _ => None,
        };
        let writers = writers(self.frame, version);
        let is_constant =
            |inst: InstId| stored(inst).is_some_and(|value| self.number(value).is_some());
        let mut behind = writers.iter().filter(|&&inst| self.is_behind(inst));
        let is_computed = behind.any(|&inst| !is_constant(inst));
        // Put back on the way.
        let is_passed = |inst: InstId| blocks.contains(&self.frame.block_of(inst));
        let passes = |inst: &InstId| stored(*inst).is_some_and(|value| self.passes(value, asked));
        let mut first = writers.iter().filter(|inst| passes(inst));
        is_computed && first.clone().count() > 0 && !first.any(|&inst| is_passed(inst))
    }

    /// Is it a variable of the function's, as a whole?
    fn is_variable(&self, version: VersionId) -> bool {
        let memory = &self.frame.local.memory;
        let cell = cell_of(self.frame.memssa.versions[version].region);
        matches!(memory.kind(memory.cells[cell].obj), ObjKind::Stack(_))
    }

    fn number(&self, operand: Operand) -> Option<i64> {
        constant(self.frame.program, self.frame.body, operand)
    }

    /// Is it a constant that passes the test?
    fn passes(&self, operand: Operand, asked: Class) -> bool {
        self.number(operand)
            .is_some_and(|number| asked.contains(number))
    }
}

fn is_phi(frame: &Frame<'_>, inst: InstId) -> bool {
    matches!(frame.body.insts[inst].op, Op::Phi { .. })
}
