//! Independent checker: does every use see a version whose definition dominates it?

use std::fmt;

use drip_base::Dominators;
use drip_program::{BlockId, InstId};

use crate::{Def, MemSsa, VersionId};

/// A version that does not dominate its use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    pub version: VersionId,
    pub at: BlockId,
    pub what: &'static str,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}: {}", self.version, self.at, self.what)
    }
}

/// Checks dominance of uses, χ chains and φ operands. `block_of` places instructions.
pub fn check(
    ssa: &MemSsa,
    dom: &Dominators<BlockId>,
    preds: impl Fn(BlockId) -> Vec<BlockId>,
    block_of: impl Fn(InstId) -> BlockId,
) -> Vec<Violation> {
    let def_block = |version: VersionId| match &ssa.versions[version].def {
        Def::Entry => dom.entry(),
        Def::Chi { inst, .. } => block_of(*inst),
        Def::Phi { block, .. } => *block,
    };
    // Within one block the order of instruction ids is the order of execution.
    let seen_at = |version: VersionId, inst: InstId| match &ssa.versions[version].def {
        Def::Chi { inst: def, .. } if block_of(*def) == block_of(inst) => *def < inst,
        _ => dom.dominates(def_block(version), block_of(inst)),
    };
    let mut violations = Vec::new();
    let mut uses: Vec<_> = ssa
        .uses
        .iter()
        .map(|(&(inst, region), &version)| (inst, region, version))
        .collect();
    uses.sort_unstable();
    for (inst, region, version) in uses {
        if ssa.region_of(version) != region {
            violations.push(Violation {
                version,
                at: block_of(inst),
                what: "use of another region",
            });
        } else if !seen_at(version, inst) {
            violations.push(Violation {
                version,
                at: block_of(inst),
                what: "definition does not dominate use",
            });
        }
    }
    for (id, version) in ssa.versions.iter_enumerated() {
        match &version.def {
            Def::Entry => {}
            Def::Chi { inst, old, .. } => {
                if ssa.region_of(*old) != version.region || !seen_at(*old, *inst) {
                    violations.push(Violation {
                        version: id,
                        at: block_of(*inst),
                        what: "chi of a stale version",
                    });
                }
            }
            Def::Phi { block, operands } => {
                let sources = preds(*block);
                if sources.len() != operands.len() {
                    violations.push(Violation {
                        version: id,
                        at: *block,
                        what: "phi without one operand per edge",
                    });
                }
                for (&operand, &from) in operands.iter().zip(&sources) {
                    if dom.is_reachable(from) && !dom.dominates(def_block(operand), from) {
                        violations.push(Violation {
                            version: id,
                            at: from,
                            what: "phi operand does not dominate edge",
                        });
                    }
                }
            }
        }
    }
    violations
}
