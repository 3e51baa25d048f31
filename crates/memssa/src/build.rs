//! Construction: liveness-pruned φ placement and renaming.

use drip_base::{Dominators, Frontiers, Graph, IdSet, IndexVec};
use drip_program::{BlockId, InstId};
use smallvec::SmallVec;

use crate::{Def, MemSsa, RegionId, Version, VersionId};

/// One instruction's annotation.
#[derive(Clone, Debug, Default)]
struct Point {
    inst: Option<InstId>,
    uses: SmallVec<[RegionId; 2]>,
    defs: SmallVec<[(RegionId, bool); 2]>,
}

/// What the client says about each instruction, in execution order within each block.
#[derive(Clone, Debug, Default)]
pub struct Annotations {
    regions: usize,
    blocks: IndexVec<BlockId, Vec<Point>>,
}

impl Annotations {
    pub fn new(blocks: usize, regions: usize) -> Annotations {
        Annotations {
            regions,
            blocks: IndexVec::from_elem(Vec::new(), blocks),
        }
    }

    fn point(&mut self, block: BlockId, inst: InstId) -> &mut Point {
        let points = &mut self.blocks[block];
        if points.last().is_none_or(|p| p.inst != Some(inst)) {
            points.push(Point {
                inst: Some(inst),
                ..Point::default()
            });
        }
        let last = points.len() - 1;
        &mut points[last]
    }

    /// μ(region) at `inst`. Instructions of a block must be annotated in order.
    pub fn mu(&mut self, block: BlockId, inst: InstId, region: RegionId) {
        let point = self.point(block, inst);
        if let Err(at) = point.uses.binary_search(&region) {
            point.uses.insert(at, region);
        }
    }

    /// region = χ(region) at `inst`.
    pub fn chi(&mut self, block: BlockId, inst: InstId, region: RegionId, strong: bool) {
        let point = self.point(block, inst);
        match point.defs.binary_search_by_key(&region, |d| d.0) {
            Ok(at) => point.defs[at].1 &= strong,
            Err(at) => point.defs.insert(at, (region, strong)),
        }
    }
}

/// Versions every annotated access. Regions that nothing reads get no versions beyond the first.
pub fn build(
    succs: &Graph<BlockId>,
    preds: &Graph<BlockId>,
    dom: &Dominators<BlockId>,
    marks: &Annotations,
) -> MemSsa {
    let mut out = MemSsa::default();
    let mut read = IdSet::with_capacity(marks.regions);
    for point in marks.blocks.iter().flatten() {
        read.extend(point.uses.iter().copied());
    }
    for index in 0..marks.regions {
        let region = RegionId::new(index);
        let version = out.versions.push(Version {
            region,
            def: Def::Entry,
        });
        out.entry.push(version);
    }
    place_phis(succs, preds, dom, marks, &mut out);
    rename(succs, preds, dom, marks, &read, &mut out);
    out
}

/// Blocks that define each region, blocks that replace it, and blocks that read it before replacing it. A weak χ lets
/// liveness through: what is live after it is live before it.
struct Sites {
    defs: IndexVec<RegionId, Vec<BlockId>>,
    kills: IndexVec<RegionId, Vec<BlockId>>,
    exposed: IndexVec<RegionId, Vec<BlockId>>,
}

fn sites(dom: &Dominators<BlockId>, marks: &Annotations) -> Sites {
    let mut sites = Sites {
        defs: IndexVec::from_elem(Vec::new(), marks.regions),
        kills: IndexVec::from_elem(Vec::new(), marks.regions),
        exposed: IndexVec::from_elem(Vec::new(), marks.regions),
    };
    for (block, points) in marks.blocks.iter_enumerated() {
        if !dom.is_reachable(block) {
            continue;
        }
        for point in points {
            for &region in &point.uses {
                let replaced_here = sites.kills[region].last() == Some(&block);
                if !replaced_here && sites.exposed[region].last() != Some(&block) {
                    sites.exposed[region].push(block);
                }
            }
            for &(region, strong) in &point.defs {
                if sites.defs[region].last() != Some(&block) {
                    sites.defs[region].push(block);
                }
                if strong && sites.kills[region].last() != Some(&block) {
                    sites.kills[region].push(block);
                }
            }
        }
    }
    sites
}

fn place_phis(
    succs: &Graph<BlockId>,
    preds: &Graph<BlockId>,
    dom: &Dominators<BlockId>,
    marks: &Annotations,
    out: &mut MemSsa,
) {
    let sites = sites(dom, marks);
    let mut frontiers = Frontiers::new(succs, dom);
    let mut live = IdSet::with_capacity(marks.blocks.len());
    let mut touched: Vec<BlockId> = Vec::new();
    for (region, defs) in sites.defs.iter_enumerated() {
        if defs.is_empty() || sites.exposed[region].is_empty() {
            continue;
        }
        // Live-in blocks: backwards from exposed reads, stopping where the region is replaced.
        for block in touched.drain(..) {
            live.remove(block);
        }
        let mut stack = sites.exposed[region].clone();
        while let Some(block) = stack.pop() {
            if !live.insert(block) {
                continue;
            }
            touched.push(block);
            for &pred in preds.succs(block) {
                if dom.is_reachable(pred) && sites.kills[region].binary_search(&pred).is_err() {
                    stack.push(pred);
                }
            }
        }
        for block in frontiers.iterated_live(defs.iter().copied(), &live) {
            let operands = vec![out.entry[region]; preds.succs(block).len()];
            let version = out.versions.push(Version {
                region,
                def: Def::Phi { block, operands },
            });
            out.phis.entry(block).or_default().push(version);
        }
    }
}

fn rename(
    succs: &Graph<BlockId>,
    preds: &Graph<BlockId>,
    dom: &Dominators<BlockId>,
    marks: &Annotations,
    read: &IdSet<RegionId>,
    out: &mut MemSsa,
) {
    enum Step {
        Enter(BlockId),
        Leave(Vec<(RegionId, VersionId)>),
    }
    let mut current = out.entry.clone();
    let mut stack = vec![Step::Enter(dom.entry())];
    while let Some(step) = stack.pop() {
        match step {
            Step::Leave(saved) => {
                for (region, version) in saved.into_iter().rev() {
                    current[region] = version;
                }
            }
            Step::Enter(block) => {
                let saved = rename_block(succs, preds, marks, read, block, &mut current, out);
                stack.push(Step::Leave(saved));
                stack.extend(
                    dom.children(block)
                        .iter()
                        .rev()
                        .map(|&child| Step::Enter(child)),
                );
            }
        }
    }
}

/// Versions one block and fills its successors' φs; returns what to restore when its subtree is done.
fn rename_block(
    succs: &Graph<BlockId>,
    preds: &Graph<BlockId>,
    marks: &Annotations,
    read: &IdSet<RegionId>,
    block: BlockId,
    current: &mut IndexVec<RegionId, VersionId>,
    out: &mut MemSsa,
) -> Vec<(RegionId, VersionId)> {
    let mut saved = Vec::new();
    for &phi in out.phis.get(&block).map_or(&[][..], Vec::as_slice) {
        let region = out.versions[phi].region;
        saved.push((region, current[region]));
        current[region] = phi;
    }
    for point in &marks.blocks[block] {
        let Some(inst) = point.inst else { continue };
        for &region in &point.uses {
            out.uses.insert((inst, region), current[region]);
        }
        for &(region, strong) in point.defs.iter().filter(|d| read.contains(d.0)) {
            let old = current[region];
            let version = out.versions.push(Version {
                region,
                def: Def::Chi { inst, old, strong },
            });
            out.defs.insert((inst, region), version);
            saved.push((region, old));
            current[region] = version;
        }
    }
    for &succ in succs.succs(block) {
        let Some(phis) = out.phis.get(&succ) else {
            continue;
        };
        for &phi in phis {
            let region = out.versions[phi].region;
            let version = current[region];
            if let Def::Phi { operands, .. } = &mut out.versions[phi].def {
                for (operand, &pred) in operands.iter_mut().zip(preds.succs(succ)) {
                    if pred == block {
                        *operand = version;
                    }
                }
            }
        }
    }
    saved
}
