//! Random control flow: how each block ends, and where it goes.

use crate::ids::BlockId;

use super::Choices;

/// How a block ends; the operands come later.
pub enum End {
    Ret,
    Unreachable,
    Br(BlockId),
    CondBr(BlockId, BlockId),
    Switch(BlockId, Vec<BlockId>),
    IndirectBr(Vec<BlockId>),
    CallBr(BlockId, Vec<BlockId>),
    Invoke(BlockId, BlockId),
    Resume,
}

impl End {
    pub fn targets(&self) -> Vec<BlockId> {
        match self {
            End::Ret | End::Unreachable | End::Resume => Vec::new(),
            End::Br(target) => vec![*target],
            End::CondBr(a, b) | End::Invoke(a, b) => vec![*a, *b],
            End::Switch(first, rest) | End::CallBr(first, rest) => {
                [&[*first], rest.as_slice()].concat()
            }
            End::IndirectBr(targets) => targets.clone(),
        }
    }
}

/// Any edges, but none to the entry.
pub fn wild_flow(c: &mut Choices<'_>, blocks: usize, exotic: bool) -> Vec<End> {
    let kinds = if exotic { 9 } else { 5 };
    let end = |_| {
        let targets = blocks - 1;
        if targets == 0 {
            return match c.chance(20) {
                true => End::Unreachable,
                false => End::Ret,
            };
        }
        let mut target = || BlockId::new(1 + c.below(targets));
        let (first, second) = (target(), target());
        let more = vec![target(), first, second];
        match c.below(kinds) {
            0 => End::Ret,
            1 => End::Br(first),
            2 => End::CondBr(first, second),
            3 => End::Switch(first, more),
            4 => End::Unreachable,
            5 => End::Invoke(first, second),
            6 => End::IndirectBr(more),
            7 => End::CallBr(first, vec![second]),
            _ => End::Resume,
        }
    };
    (0..blocks).map(end).collect()
}

/// Everything is reachable along forward edges; edges back go to a dominator.
pub fn reducible_flow(c: &mut Choices<'_>, blocks: usize) -> Vec<End> {
    let mut ends = Vec::with_capacity(blocks);
    // Immediate dominators along forward edges, known once all lower blocks have their ends.
    let mut idom: Vec<Option<usize>> = vec![None; blocks];
    for block in 0..blocks {
        let is_last = block + 1 == blocks;
        let may_end = is_last || idom[block + 1].is_some();
        if is_last || (may_end && c.chance(30)) {
            ends.push(End::Ret);
            continue;
        }
        let forward = block + 1 + c.below(blocks - block - 1);
        let next = if may_end { forward } else { block + 1 };
        let end = match c.below(4) {
            0 => End::Br(BlockId::new(next)),
            1 => End::CondBr(BlockId::new(next), BlockId::new(forward)),
            2 => End::Switch(BlockId::new(next), vec![BlockId::new(forward); c.below(3)]),
            _ => match dominator_above(&idom, block, c.below(4)) {
                0 => End::Br(BlockId::new(next)),
                header => End::CondBr(BlockId::new(header), BlockId::new(next)),
            },
        };
        for target in end.targets().into_iter().map(BlockId::index) {
            if target > block {
                idom[target] = Some(match idom[target] {
                    None => block,
                    Some(other) => common_dominator(&idom, other, block),
                });
            }
        }
        ends.push(end);
    }
    ends
}

fn dominator_above(idom: &[Option<usize>], mut block: usize, steps: usize) -> usize {
    for _ in 0..steps {
        block = idom[block].unwrap_or(block);
    }
    block
}

fn common_dominator(idom: &[Option<usize>], mut a: usize, mut b: usize) -> usize {
    // A dominator has a lower number than what it dominates.
    while a != b {
        if a > b {
            a = idom[a].unwrap_or(0);
        } else {
            b = idom[b].unwrap_or(0);
        }
    }
    a
}
