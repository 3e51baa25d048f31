//! Memory regions of one instance, its μ and χ, and its memory SSA (SABER §4.2.2, §4.2.3, fig. 4).
//!
//! Regions: every local location is one; for every access the set of nonlocal locations in it is one; for every call every
//! nonlocal location of 𝒰 ∪ 𝒟 is one; a region that is a strict subset of another is not kept. GLOBAL is no region here:
//! nothing is versioned for it. Overlapping regions are aliases and are annotated together.

use drip_base::IndexVec;
use drip_memssa::{Annotations, MemSsa, RegionId};
use drip_pointer::andersen::{
    End, Flow, InstanceId, LocId, LocSet, Memory, ObjectKind, PointsTo, Refined,
};
use drip_pointer::modref::{Classes, Effects, ModRef};
use drip_program::{BlockId, Body, Cfg, Const, InstId, Op, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::refine::{Exposure, refine};

/// A set of locations that are accessed together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    pub locs: LocSet,
    pub is_local: bool,
}

/// Memory of one instance in SSA form.
pub struct FunctionMemory {
    pub regions: IndexVec<RegionId, Region>,
    pub ssa: MemSsa,
    by_loc: FxHashMap<LocId, SmallVec<[RegionId; 2]>>,
    /// Regions that a call may read (μ) and modify (χ), by instruction.
    pub call_regions: FxHashMap<InstId, (Vec<RegionId>, Vec<RegionId>)>,
    /// Flows of the statements that have any, in order.
    pub flows: Vec<(InstId, Vec<Flow>)>,
    /// ENT: regions that the callers' values come in by.
    pub entering: Vec<RegionId>,
    /// EXT: regions that values go out by.
    pub leaving: Vec<RegionId>,
    /// Points-to sets that are smaller here than for the whole run.
    pub refined: Refined,
}

/// What regions are made from.
pub struct Context<'c, 'p> {
    pub points_to: &'c PointsTo<'p>,
    pub exposure: &'c Exposure,
    pub classes: &'c Classes,
    pub mod_ref: &'c ModRef,
}

impl FunctionMemory {
    pub fn build(
        context: &Context<'_, '_>,
        instance: InstanceId,
        body: &Body,
        cfg: &Cfg,
    ) -> FunctionMemory {
        let mut statements = Statements {
            flows: flows(context, instance, body, cfg, None),
            calls: calls(context, instance, body, cfg),
        };
        let refined = refine(context, instance, body, cfg, &statements);
        if !refined.is_empty() {
            statements.flows = flows(context, instance, body, cfg, Some(&refined));
        }
        let out = FunctionMemory::from_statements(context, instance, body, cfg, statements);
        FunctionMemory { refined, ..out }
    }

    fn from_statements(
        context: &Context<'_, '_>,
        instance: InstanceId,
        body: &Body,
        cfg: &Cfg,
        statements: Statements,
    ) -> FunctionMemory {
        let regions = partition(context, instance, &statements);
        let mut by_loc: FxHashMap<LocId, SmallVec<[RegionId; 2]>> = FxHashMap::default();
        for (id, region) in regions.iter_enumerated() {
            for loc in region.locs.iter() {
                by_loc.entry(loc).or_default().push(id);
            }
        }
        let mut out = FunctionMemory {
            regions,
            ssa: MemSsa::default(),
            by_loc,
            call_regions: FxHashMap::default(),
            flows: Vec::new(),
            entering: Vec::new(),
            leaving: Vec::new(),
            refined: Refined::default(),
        };
        let effects = context.mod_ref.effects(instance);
        let nonlocal = |out: &FunctionMemory, set: &LocSet| {
            let mut regions = out.overlapping(set);
            regions.retain(|&region| !out.regions[region].is_local);
            regions
        };
        out.entering = nonlocal(&out, &effects.uses);
        out.leaving = nonlocal(&out, &effects.defs);
        let marks = out.annotate(context, instance, body, cfg, &statements);
        out.ssa = drip_memssa::build(cfg.graph(), cfg.reversed_graph(), cfg.dominators(), &marks);
        out.flows = statements.flows;
        out
    }

    /// Can a value point to a heap block?
    pub fn is_on_heap(
        &self,
        points_to: &PointsTo<'_>,
        instance: InstanceId,
        value: ValueId,
    ) -> bool {
        let refined_away = || {
            self.refined
                .get(&value)
                .is_some_and(|set| !set.iter().any(|loc| points_to.can_be_heap(loc)))
        };
        points_to.is_on_heap(instance, value) && !refined_away()
    }

    /// Regions that share a location with the set.
    pub fn overlapping(&self, locs: &LocSet) -> Vec<RegionId> {
        let mut found: Vec<RegionId> = locs
            .iter()
            .filter_map(|loc| self.by_loc.get(&loc))
            .flatten()
            .copied()
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    fn annotate(
        &mut self,
        context: &Context<'_, '_>,
        instance: InstanceId,
        body: &Body,
        cfg: &Cfg,
        statements: &Statements,
    ) -> Annotations {
        let mut marks = Annotations::new(body.blocks.len(), self.regions.len());
        let mut flows = statements.flows.iter().peekable();
        let mut calls = statements.calls.iter().peekable();
        for block in body.blocks.ids() {
            for inst in body.block_insts(block) {
                if let Some((_, flows)) = flows.next_if(|(at, _)| *at == inst) {
                    let one_cell = |locs: &LocSet| is_one_cell(context, instance, cfg, locs);
                    self.annotate_flows(&mut marks, (block, inst), flows, one_cell);
                }
                if let Some((_, effects)) = calls.next_if(|(at, _)| *at == inst) {
                    self.annotate_call(&mut marks, (block, inst), effects);
                }
                // [S-RET] (SABER fig. 4): R ∈ ℝ_f, R ∩ 𝒟 ≠ ∅  ⊢  θ ∪= { μ(R) } at return
                if matches!(body.insts[inst].op, Op::Ret { .. } | Op::Resume { .. }) {
                    for &region in &self.leaving {
                        marks.mu(block, inst, region);
                    }
                }
            }
        }
        marks
    }

    // [S-ADD] (SABER fig. 4): p = &v has no μ and no χ
    // [S-COPY] (SABER fig. 4): p = q has no μ and no χ
    fn annotate_flows(
        &self,
        marks: &mut Annotations,
        (block, inst): (BlockId, InstId),
        flows: &[Flow],
        is_one_cell: impl Fn(&LocSet) -> bool,
    ) {
        // [S-LD] (SABER fig. 4): p = *q, R ∈ ℝ_f, R ∩ ps(q) ≠ ∅  ⊢  θ ∪= { μ(R) }
        for flow in flows {
            if let End::Memory(locs) = &flow.from {
                for region in self.overlapping(locs) {
                    marks.mu(block, inst, region);
                }
            }
        }
        // [S-ST] (SABER fig. 4): *p = q, R ∈ ℝ_f, R ∩ ps(p) ≠ ∅  ⊢  δ ∪= { R = χ(R) }
        for flow in flows {
            if let End::Memory(locs) = &flow.to {
                let strong = flows.len() == 1 && is_one_cell(locs);
                for region in self.overlapping(locs) {
                    let whole = self.regions[region].locs == *locs;
                    marks.chi(block, inst, region, strong && whole);
                }
            }
        }
    }

    fn annotate_call(
        &mut self,
        marks: &mut Annotations,
        (block, inst): (BlockId, InstId),
        effects: &Effects,
    ) {
        let read = self.overlapping(&effects.uses);
        let modified = self.overlapping(&effects.defs);
        // [S-CSMU] (SABER fig. 4): _ = F_k(_) : 𝒰, 𝒟, R ∈ ℝ_f, R ∩ 𝒰 ≠ ∅  ⊢  θ ∪= { μ(R) }
        for &region in &read {
            marks.mu(block, inst, region);
        }
        // [S-CSCHI] (SABER fig. 4): _ = F_k(_) : 𝒰, 𝒟, R ∈ ℝ_f, R ∩ 𝒟 ≠ ∅  ⊢  δ ∪= { R = χ(R) }
        for &region in &modified {
            marks.chi(block, inst, region, false);
        }
        self.call_regions.insert(inst, (read, modified));
    }
}

/// Is the set one concrete cell, so that a store replaces what it held (SABER §2)? A local variable outside of arrays, one
/// instance of it at a time.
pub(super) fn is_one_cell(
    context: &Context<'_, '_>,
    instance: InstanceId,
    cfg: &Cfg,
    locs: &LocSet,
) -> bool {
    let Some(loc) = locs.single() else {
        return false;
    };
    let objects = context.points_to.objects();
    let ObjectKind::Stack {
        instance: owner,
        inst,
    } = objects.kind_of(loc)
    else {
        return false;
    };
    let program = context.points_to.system.program;
    let func = context.points_to.instances().list[owner].func;
    let Some(frame) = program.funcs[func].body.as_ref() else {
        return false;
    };
    let Op::Alloca { count, .. } = frame.insts[inst].op else {
        return false;
    };
    let once = matches!(frame.const_of(count), Some(Const::Int { bits: 1, .. }));
    // Loops of other functions are not known here, but no loop goes through a function's first block.
    let in_loop = frame
        .block_of(inst)
        .is_none_or(|block| match owner == instance {
            true => cfg.loops().innermost(block).is_some(),
            false => block != BlockId::from_u32(0),
        });
    once && !in_loop
        && !context.mod_ref.is_recursive(owner)
        && objects.is_single_cell(&program.types, loc)
}

/// Flows and calls of an instance, on tracked locations and others.
pub(super) struct Statements {
    pub flows: Vec<(InstId, Vec<Flow>)>,
    pub calls: Vec<(InstId, Effects)>,
}

/// Flows of the statements that have any, in order.
fn flows(
    context: &Context<'_, '_>,
    instance: InstanceId,
    body: &Body,
    cfg: &Cfg,
    refined: Option<&Refined>,
) -> Vec<(InstId, Vec<Flow>)> {
    let memory = Memory {
        points_to: context.points_to,
        refined,
    };
    reachable(body, cfg)
        .map(|inst| (inst, memory.flows(instance, body, inst)))
        .filter(|(_, flows)| !flows.is_empty())
        .collect()
}

/// Calls that read or modify tracked memory, in order.
fn calls(
    context: &Context<'_, '_>,
    instance: InstanceId,
    body: &Body,
    cfg: &Cfg,
) -> Vec<(InstId, Effects)> {
    let (points_to, mod_ref) = (context.points_to, context.mod_ref);
    reachable(body, cfg)
        .filter(|&inst| matches!(body.insts[inst].op, Op::Call { .. } | Op::Invoke { .. }))
        .map(|inst| {
            (
                inst,
                mod_ref.callees_effects(points_to, instance, body, inst),
            )
        })
        .filter(|(_, effects)| *effects != Effects::default())
        .collect()
}

fn reachable<'b>(body: &'b Body, cfg: &'b Cfg) -> impl Iterator<Item = InstId> + 'b {
    let blocks = body.blocks.ids().iter();
    blocks
        .filter(|&block| cfg.is_reachable(block))
        .flat_map(|block| body.block_insts(block))
}

/// ℝ_f.
fn partition(
    context: &Context<'_, '_>,
    instance: InstanceId,
    statements: &Statements,
) -> IndexVec<RegionId, Region> {
    let is_local = |loc: LocId| context.mod_ref.is_local(context.points_to, instance, loc);
    let mut local: FxHashSet<LocId> = FxHashSet::default();
    let mut nonlocal: FxHashSet<LocSet> = FxHashSet::default();
    for flow in statements.flows.iter().flat_map(|(_, flows)| flows) {
        for end in [&flow.from, &flow.to] {
            let End::Memory(locs) = end else { continue };
            let tracked = locs.iter().filter(|&loc| context.classes.is_tracked(loc));
            let (own, others): (Vec<LocId>, Vec<LocId>) = tracked.partition(|&loc| is_local(loc));
            local.extend(own);
            if !others.is_empty() {
                nonlocal.insert(others.into_iter().collect());
            }
        }
    }
    for (_, effects) in &statements.calls {
        for loc in effects.uses.iter().chain(effects.defs.iter()) {
            if is_local(loc) {
                local.insert(loc);
            } else {
                nonlocal.insert(std::iter::once(loc).collect());
            }
        }
    }
    let mut regions = IndexVec::new();
    let mut own: Vec<LocId> = local.into_iter().collect();
    own.sort_unstable();
    for loc in own {
        regions.push(Region {
            locs: std::iter::once(loc).collect(),
            is_local: true,
        });
    }
    for locs in without_subsets(nonlocal) {
        regions.push(Region {
            locs,
            is_local: false,
        });
    }
    regions
}

/// Drops every set that is a strict subset of another; in a fixed order.
fn without_subsets(sets: FxHashSet<LocSet>) -> Vec<LocSet> {
    let mut sets: Vec<(Vec<LocId>, LocSet)> = sets
        .into_iter()
        .map(|set| (set.iter().collect(), set))
        .collect();
    // The largest first: what contains a set comes before it.
    sets.sort_unstable_by(|a, b| b.0.len().cmp(&a.0.len()).then_with(|| a.0.cmp(&b.0)));
    let mut kept: Vec<(Vec<LocId>, LocSet)> = Vec::new();
    let mut holding: FxHashMap<LocId, Vec<usize>> = FxHashMap::default();
    for (members, set) in sets {
        let first = members.first().and_then(|loc| holding.get(loc));
        let covered = first.is_some_and(|at| at.iter().any(|&at| set.is_subset(&kept[at].1)));
        if covered {
            continue;
        }
        for &loc in &members {
            holding.entry(loc).or_default().push(kept.len());
        }
        kept.push((members, set));
    }
    kept.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    kept.into_iter().map(|(_, set)| set).collect()
}
