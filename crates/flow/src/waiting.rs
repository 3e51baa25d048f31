//! Question: can a path that has met none of the followed objects still meet one, and where is it worth while to begin?
//!
//! The fate of an object begins with its birth (SMOKE's use-flow graph begins at the allocation). Where nothing is remembered from block to
//! block, all paths to the first block behind which an object can be made are one; and a path that comes back to that block (around a loop) without having met
//! an object goes on as it began. So it ends there, and so do paths that can only come back to it. In a parser's loop of hundreds of cases that
//! are most of the blocks.
//! INVARIANT: what is cut off is a path on which no followed object exists, up to where it meets the root in the root's own state: ends are the
//! same. Nodes and edges are not, so who asks which way out of a block leads where explores again.

use std::rc::Rc;

use drip_base::IdSet;
use drip_pointer::ObjKind;
use drip_program::BlockId;

use crate::explore::{Explorer, Goal};
use crate::state::{Followed, Machine, State};

/// Where paths that have met no object can still meet one.
#[derive(Default)]
pub(crate) struct Waiting {
    /// Only the ends are asked for: what comes to them by the root again need not be followed.
    pub is_brief: bool,
    /// Something was cut off for that.
    pub has_cut: bool,
    /// Blocks that lead to the call that makes object 0.
    leading: Option<Rc<IdSet<BlockId>>>,
    /// Blocks from which a followed object can be made before the root is come to again; none if that does not matter.
    before_root: Option<IdSet<BlockId>>,
}

impl Explorer<'_, '_> {
    /// Where to begin. If nothing is remembered from block to block and only the object's fate is asked for, all that
    /// happens before the first followed object can exist is of no interest.
    pub(crate) fn start(&self) -> BlockId {
        let entry = BlockId::new(0);
        if self.goal == Goal::Exits || !self.relevant.from_birth {
            return entry;
        }
        let mut start: Option<BlockId> = None;
        for &obj in &self.objects {
            let ObjKind::Fresh { call, .. } = self.frame.local.memory.kind(obj) else {
                return entry;
            };
            let block = self.frame.block_of(call);
            if !self.frame.cfg.is_reachable(block) {
                continue;
            }
            start = match start {
                None => Some(block),
                Some(known) => self.frame.cfg.dominators().common(known, block),
            };
        }
        start.unwrap_or(entry)
    }

    /// Finds the blocks that lead to the objects.
    pub(crate) fn find_birthplaces(&mut self, root: BlockId) {
        let kind = |&obj| self.frame.local.memory.kind(obj);
        let birth = |obj| match kind(obj) {
            ObjKind::Fresh { call, .. } => Some(self.frame.block_of(call)),
            _ => None,
        };
        let births: Option<Vec<BlockId>> = self.objects.iter().map(birth).collect();
        let first = self.objects.first().and_then(birth);
        self.waiting.leading = first.map(|block| self.frame.leads_to(block));
        let is_brief = self.waiting.is_brief && self.relevant.from_birth;
        if self.goal != Goal::Fate || !is_brief {
            return;
        }
        self.waiting.before_root = births.map(|mut open| {
            let mut found = IdSet::with_capacity(self.frame.body.blocks.len());
            while let Some(block) = open.pop() {
                if block != root && found.insert(block) {
                    open.extend(self.frame.cfg.preds(block));
                }
            }
            found
        });
    }

    /// On entry to a block: no object that matters will be met.
    pub(crate) fn waits_in_vain(&mut self, state: &State, block: BlockId) -> bool {
        if self.is_hopeless(state, block) {
            return true;
        }
        let before_root = self.waiting.before_root.as_ref();
        let is_cut = before_root.is_some_and(|blocks| !blocks.contains(block))
            && state.facts.is_empty()
            && state.env.is_empty()
            && state
                .objects
                .iter()
                .all(|object| *object == Followed::unborn());
        self.waiting.has_cut |= is_cut;
        is_cut
    }

    /// The object in question can't be born any more.
    fn is_hopeless(&self, state: &State, block: BlockId) -> bool {
        let is_unborn = |object: &Followed| object.machine == Machine::Unborn;
        let leading = self.waiting.leading.as_ref();
        self.goal == Goal::Fate
            && state.objects.first().is_some_and(is_unborn)
            && leading.is_some_and(|leading| !leading.contains(block))
    }
}
