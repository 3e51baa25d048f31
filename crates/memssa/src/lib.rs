//! Memory SSA: which version of a memory region does each instruction see?
//!
//! The client annotates instructions with mu (may read region r) and chi (may write region r, strong or weak), as SABER
//! §4.2.2 does from its mod/ref analysis; this crate only versions them: r₂ = χ(r₁), μ(r₂), r₃ = φ(r₁, r₂). It knows
//! neither what a region is nor where the annotations come from, so that any points-to oracle can use it.
//!
//! Construction: φs at the iterated dominance frontier of each region's definitions (Cytron et al. 1991), pruned to where
//! the region is live, then renaming along the dominator tree without recursion.
//! INVARIANTS: version 0 of each region is its entry version; a use's version dominates it; a φ has one operand per
//! predecessor of its block, in the order of the predecessor graph. Unreachable blocks have no versions.
//! Cost: linear in annotations and φs.

mod build;
mod check;
mod text;

pub use build::{Annotations, build};
pub use check::{Violation, check};

use drip_base::{IndexVec, entity_id};
use drip_program::{BlockId, InstId};
use rustc_hash::FxHashMap;

entity_id! {
    /// A memory region; the client says what it stands for.
    pub struct RegionId = "r";
    /// A version of a region.
    pub struct VersionId = "n";
}

/// How a version came to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Def {
    /// What the region held on entry.
    Entry,
    /// χ: written by `inst`. A strong write leaves nothing of `old`.
    Chi {
        inst: InstId,
        old: VersionId,
        strong: bool,
    },
    /// φ at the start of `block`: one operand per predecessor.
    Phi {
        block: BlockId,
        operands: Vec<VersionId>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    pub region: RegionId,
    pub def: Def,
}

/// Frozen result.
#[derive(Clone, Debug, Default)]
pub struct MemSsa {
    pub versions: IndexVec<VersionId, Version>,
    /// Entry version of each region.
    pub entry: IndexVec<RegionId, VersionId>,
    uses: FxHashMap<(InstId, RegionId), VersionId>,
    defs: FxHashMap<(InstId, RegionId), VersionId>,
    phis: FxHashMap<BlockId, Vec<VersionId>>,
}

impl MemSsa {
    /// μ: the version of `region` that `inst` reads.
    pub fn used(&self, inst: InstId, region: RegionId) -> Option<VersionId> {
        self.uses.get(&(inst, region)).copied()
    }

    /// χ: the version of `region` that `inst` makes.
    pub fn defined(&self, inst: InstId, region: RegionId) -> Option<VersionId> {
        self.defs.get(&(inst, region)).copied()
    }

    /// φs of a block.
    pub fn phis(&self, block: BlockId) -> &[VersionId] {
        self.phis.get(&block).map_or(&[], Vec::as_slice)
    }

    pub fn region_of(&self, version: VersionId) -> RegionId {
        self.versions[version].region
    }
}
