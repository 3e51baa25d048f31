//! Question: which branches ask a container for the very block that lies in it?
//!
//! `if (!stack.empty()) delete stack.top();`, `it = map.find(k); if (it != map.end()) delete it->second;`: what is in a container of the
//! library is known, how many there are and under which keys is not. Who has put a block there and asks for it will find it, so the answer
//! "none" is no path on which the block is left over. A branch on anything else stays one.
//! Known false negatives: keys that differ, and limits of the container's size, that make the answer "none" all the same.

use drip_flow::Frame;
use drip_models::Offset;
use drip_pointer::{Loc, ObjId};
use drip_program::{BlockId, Const, Op, Operand};
use smallvec::SmallVec;

use super::delegates::Delegates;

/// Instructions that a condition is made of, as far as they are looked at; a longer one counts as a question of another kind.
const MAX_PARTS: usize = 16;

/// How symbols of member functions of the library begin: adapters (`std::stack`) ask the container inside of them.
const MEMBERS: &[&str] = &["_ZNSt", "_ZNKSt"];

/// The containers of a function that one block may lie in.
pub(super) struct Containers<'f, 'p> {
    frame: &'f Frame<'p>,
    delegates: &'f Delegates,
    objects: SmallVec<[ObjId; 2]>,
}

impl<'f, 'p> Containers<'f, 'p> {
    pub fn of(frame: &'f Frame<'p>, delegates: &'f Delegates, block: ObjId) -> Containers<'f, 'p> {
        let local = &frame.local;
        let cells = local.memory.cells.iter_enumerated();
        let objects = cells
            .filter(|(id, cell)| {
                cell.off == Offset::ELEMENTS
                    && local.contents[*id].iter().any(|held| held.obj == block)
            })
            .map(|(_, cell)| cell.obj)
            .collect();
        Containers {
            frame,
            delegates,
            objects,
        }
    }

    /// Branches that ask one of the containers, and of which only one side leads to `block`.
    pub fn asked_before(&self, block: BlockId) -> Vec<BlockId> {
        if self.objects.is_empty() {
            return Vec::new();
        }
        let cfg = &self.frame.cfg;
        let blocks = self.frame.body.blocks.ids();
        let decides = |&asking: &BlockId| {
            let sides = cfg.succs(asking);
            sides.len() == 2
                && sides
                    .iter()
                    .any(|&side| cfg.preds(side) == [asking] && cfg.dominates(side, block))
        };
        blocks
            .into_iter()
            .filter(|block| cfg.is_reachable(*block))
            .filter(decides)
            .filter(|&asking| self.is_question(asking))
            .collect()
    }

    fn is_question(&self, block: BlockId) -> bool {
        let body = self.frame.body;
        let Op::CondBr { cond, .. } = body.insts[body.terminator(block)].op else {
            return false;
        };
        let mut parts: Vec<Operand> = vec![cond];
        let mut next = 0;
        while next < parts.len().min(MAX_PARTS) {
            let part = parts[next];
            next += 1;
            if self.is_iterator(self.frame.local.targets(part)) {
                return true;
            }
            let Some(inst) = part.as_value().and_then(|value| body.def(value)) else {
                continue;
            };
            match body.insts[inst].op {
                Op::Cmp { a, b, .. } | Op::Binary { a, b, .. } => parts.extend([a, b]),
                Op::Cast { value, .. } => parts.push(value),
                Op::Call { callee, args, .. } | Op::Invoke { callee, args, .. }
                    if self.asks(callee, body.list(args)) =>
                {
                    return true;
                }
                _ => {}
            }
        }
        false
    }

    /// Does a call look at a container, or at an iterator?
    fn asks(&self, callee: Operand, args: &[Operand]) -> bool {
        let is_library = match self.frame.body.const_of(callee) {
            Some(&Const::Func(func)) => {
                let name = self.frame.program.func_name(func);
                self.delegates.contains_key(&func) || MEMBERS.iter().any(|m| name.starts_with(m))
            }
            _ => false,
        };
        let local = &self.frame.local;
        args.iter().any(|&arg| {
            let targets = local.targets(arg);
            let leads_to_iterator = |loc: &Loc| {
                let cell = local.memory.find_cell(*loc);
                cell.is_some_and(|cell| self.is_iterator(&local.contents[cell]))
            };
            is_library && targets.iter().any(|loc| self.objects.contains(&loc.obj))
                || self.is_iterator(targets)
                || targets.iter().any(leads_to_iterator)
        })
    }

    fn is_iterator(&self, targets: &[Loc]) -> bool {
        let points_in = |loc: &Loc| loc.off == Offset::ELEMENTS && self.objects.contains(&loc.obj);
        targets.iter().any(points_in)
    }
}
