//! Question: what can a pointer that a function reads from its own variables point to at this place? (SABER §4.1: "an
//! intraprocedural sparse flow-sensitive pointer analysis to refine the points-to results")
//!
//! The pre-analysis has one set per variable for the whole run. Variables in SSA form are flow-sensitive by that; here those
//! local variables become so that live in memory, and with them everything that is computed from what is read there.
//!
//! Domain: a set of locations for every SSA value that depends on such a read and for every version of a local *cell*, ordered
//! by inclusion, from nothing upwards. Order: rounds in reverse postorder over the def-use chains, to the fixpoint.
//! Transfer: a store adds what it stores to its cells, and replaces where the pre-analysis knows one concrete cell; a load
//! unites what its cells hold at that version; a call of a function that can get at a cell puts there what the pre-analysis
//! says; everything else is as in the pre-analysis.
//! INVARIANT: a refined set is a subset of the set of the pre-analysis. Cells that memory out of this function's frame leads
//! to are no cells here, so that only def-use pairs go whose both ends are in this function (§2.4 of the ISSTA paper): that
//! holds with threads, too.

use drip_base::{IdSet, IndexVec};
use drip_memssa::{Annotations, Def, MemSsa, RegionId, VersionId};
use drip_pointer::andersen::{
    End, Flow, InstanceId, LocId, LocSet, Memory, ObjectId, ObjectKind, PointsTo, Refined,
    copied_operands,
};
use drip_program::{BlockId, Body, Cfg, InstId, Op, Operand, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::regions::{Context, Statements, is_one_cell};

/// Which stack variables somebody else than their function can get at.
pub struct Exposure {
    /// From globals, the heap or code out of sight: at any time.
    kept: IdSet<ObjectId>,
    /// From other functions' variables: while this one calls.
    passed: IdSet<ObjectId>,
}

impl Exposure {
    pub fn build(points_to: &PointsTo<'_>) -> Exposure {
        let objects = points_to.objects();
        let owner = |object: ObjectId| match objects.list[object].kind {
            ObjectKind::Stack { instance, .. } => Some(instance),
            _ => None,
        };
        let is_stack = |loc: &LocId| owner(objects.object_of(*loc)).is_some();
        let mut kept: Vec<LocId> = points_to.outside().iter().filter(is_stack).collect();
        let mut passed: Vec<LocId> = Vec::new();
        for (object, _, loc) in points_to.locations() {
            let held = points_to.content(loc).iter().filter(is_stack);
            match owner(object) {
                None => kept.extend(held),
                Some(owner_here) => {
                    passed.extend(held.filter(|&l| owner(objects.object_of(l)) != Some(owner_here)))
                }
            }
        }
        for (instance, data) in points_to.instances().list.iter_enumerated() {
            let body = points_to.system.program.funcs[data.func].body.as_ref();
            for param in body
                .into_iter()
                .flat_map(|b| (0..b.param_count()).map(|i| b.param(i)))
            {
                passed.extend(points_to.value(instance, param).iter().filter(is_stack));
            }
        }
        Exposure {
            kept: led_to(points_to, kept),
            passed: led_to(points_to, passed),
        }
    }
}

/// Objects of these locations, and all that they lead to.
fn led_to(points_to: &PointsTo<'_>, mut todo: Vec<LocId>) -> IdSet<ObjectId> {
    let objects = points_to.objects();
    let mut found = IdSet::with_capacity(objects.list.len());
    while let Some(loc) = todo.pop() {
        let object = objects.object_of(loc);
        if found.insert(object) {
            for &(_, at) in objects.list[object].locs() {
                let held = points_to.content(at).iter();
                todo.extend(held.filter(|&l| !found.contains(objects.object_of(l))));
            }
        }
    }
    found
}

/// The sets of an instance's values that are smaller than the pre-analysis has them. `statements` are those of the
/// pre-analysis.
pub fn refine(
    context: &Context<'_, '_>,
    instance: InstanceId,
    body: &Body,
    cfg: &Cfg,
    statements: &Statements,
) -> Refined {
    let points_to = context.points_to;
    let cells = cells(context, instance, body, statements);
    if cells.is_empty() {
        return Refined::default();
    }
    let ssa = version_cells(context, instance, body, cfg, statements, &cells);
    let mut refiner = Refiner {
        points_to,
        instance,
        body,
        cfg,
        cells: &cells,
        contents: IndexVec::from_elem(LocSet::new(), ssa.versions.len()),
        ssa: &ssa,
        sets: Refined::default(),
    };
    for value in dependent_values(instance, body, cfg, statements, &cells, points_to) {
        refiner.sets.insert(value, LocSet::new());
    }
    refiner.solve();
    let mut sets = refiner.sets;
    sets.retain(|&value, set| *set != *points_to.value(instance, value));
    sets
}

/// Local cells worth a look: some load reads one, and it can hold more than one address.
fn cells(
    context: &Context<'_, '_>,
    instance: InstanceId,
    body: &Body,
    statements: &Statements,
) -> FxHashMap<LocId, RegionId> {
    let points_to = context.points_to;
    let objects = points_to.objects();
    let mut found: Vec<LocId> = Vec::new();
    for (inst, flows) in &statements.flows {
        if !matches!(body.insts[*inst].op, Op::Load { .. }) {
            continue;
        }
        for flow in flows {
            let End::Memory(locs) = &flow.from else {
                continue;
            };
            found.extend(locs.iter().filter(|&loc| {
                let node = points_to.system.content(loc);
                context.mod_ref.is_local(points_to, instance, loc)
                    && !context.exposure.kept.contains(objects.object_of(loc))
                    && points_to.node(node).len_exceeds(1)
                    && !points_to.is_wide(node)
            }));
        }
    }
    found.sort_unstable();
    found.dedup();
    let numbered = found.into_iter().enumerate();
    numbered.map(|(at, loc)| (loc, RegionId::new(at))).collect()
}

/// Memory SSA of the cells alone.
fn version_cells(
    context: &Context<'_, '_>,
    instance: InstanceId,
    body: &Body,
    cfg: &Cfg,
    statements: &Statements,
    cells: &FxHashMap<LocId, RegionId>,
) -> MemSsa {
    let objects = context.points_to.objects();
    let mut passed: Vec<(LocId, RegionId)> = cells
        .iter()
        .map(|(&loc, &cell)| (loc, cell))
        .filter(|(loc, _)| context.exposure.passed.contains(objects.object_of(*loc)))
        .collect();
    passed.sort_unstable();
    let mut marks = Annotations::new(body.blocks.len(), cells.len());
    let mut flows = statements.flows.iter().peekable();
    let mut calls = statements.calls.iter().peekable();
    for block in body.blocks.ids() {
        for inst in body.block_insts(block) {
            if let Some((_, flows)) = flows.next_if(|(at, _)| *at == inst) {
                for flow in flows {
                    if let End::Memory(locs) = &flow.from {
                        for cell in locs.iter().filter_map(|loc| cells.get(&loc)) {
                            marks.mu(block, inst, *cell);
                        }
                    }
                    if let End::Memory(locs) = &flow.to {
                        let strong = flows.len() == 1 && is_one_cell(context, instance, cfg, locs);
                        for cell in locs.iter().filter_map(|loc| cells.get(&loc)) {
                            marks.chi(block, inst, *cell, strong);
                        }
                    }
                }
            }
            let effects = calls
                .next_if(|(at, _)| *at == inst)
                .map(|(_, effects)| effects);
            if matches!(body.insts[inst].op, Op::Call { .. } | Op::Invoke { .. }) {
                for &(loc, cell) in &passed {
                    // Mod/ref knows nothing of locations that are not tracked.
                    let is_modified = !context.classes.is_tracked(loc)
                        || effects.is_some_and(|effects| effects.defs.contains(loc));
                    if is_modified {
                        marks.chi(block, inst, cell, false);
                    }
                }
            }
        }
    }
    drip_memssa::build(cfg.graph(), cfg.reversed_graph(), cfg.dominators(), &marks)
}

/// Values that depend on what the cells hold: read from them, or computed or read by means of such a value.
fn dependent_values(
    instance: InstanceId,
    body: &Body,
    cfg: &Cfg,
    statements: &Statements,
    cells: &FxHashMap<LocId, RegionId>,
    points_to: &PointsTo<'_>,
) -> FxHashSet<ValueId> {
    let mut found: FxHashSet<ValueId> = FxHashSet::default();
    for (inst, flows) in &statements.flows {
        let reads_cell = flows.iter().any(|flow| match &flow.from {
            End::Memory(locs) => locs.iter().any(|loc| cells.contains_key(&loc)),
            _ => false,
        });
        if reads_cell && matches!(body.insts[*inst].op, Op::Load { .. }) {
            found.insert(body.result(*inst));
        }
    }
    loop {
        let before = found.len();
        for &block in cfg.rpo().order() {
            for inst in body.block_insts(block) {
                let uses_one = operands_passed_on(body, inst)
                    .iter()
                    .any(|o| o.as_value().is_some_and(|v| found.contains(&v)));
                if uses_one {
                    found.insert(body.result(inst));
                }
            }
        }
        if found.len() == before {
            break;
        }
    }
    found.retain(|&value| {
        let node = points_to.system.value(instance, value);
        node.is_some_and(|node| !points_to.is_wide(node))
    });
    found
}

/// Operands that the points-to set of an instruction's result comes from.
fn operands_passed_on(body: &Body, inst: InstId) -> smallvec::SmallVec<[Operand; 2]> {
    match body.insts[inst].op {
        Op::Load { addr } => smallvec::smallvec![addr],
        Op::PtrAdd { base, .. } => smallvec::smallvec![base],
        Op::MemCopy { dst, .. } | Op::MemSet { dst, .. } => smallvec::smallvec![dst],
        _ => copied_operands(body, inst),
    }
}

struct Refiner<'r, 'p> {
    points_to: &'r PointsTo<'p>,
    instance: InstanceId,
    body: &'r Body,
    cfg: &'r Cfg,
    cells: &'r FxHashMap<LocId, RegionId>,
    ssa: &'r MemSsa,
    contents: IndexVec<VersionId, LocSet>,
    sets: Refined,
}

impl Refiner<'_, '_> {
    fn solve(&mut self) {
        loop {
            let mut changed = false;
            for &block in self.cfg.rpo().order() {
                changed |= self.block(block);
            }
            if !changed {
                return;
            }
        }
    }

    fn block(&mut self, block: BlockId) -> bool {
        let mut changed = false;
        for &version in self.ssa.phis(block) {
            if let Def::Phi { operands, .. } = &self.ssa.versions[version].def {
                for &operand in operands {
                    let held = self.contents[operand].clone();
                    changed |= self.contents[version].union_with(&held);
                }
            }
        }
        for inst in self.body.block_insts(block) {
            let result = self.body.result(inst);
            if self.sets.contains_key(&result) {
                let new = self.value(inst);
                let set = self.sets.entry(result).or_default();
                changed |= set.union_with(&new);
            }
            changed |= self.writes(inst);
        }
        changed
    }

    fn memory(&self) -> Memory<'_, '_> {
        Memory {
            points_to: self.points_to,
            refined: Some(&self.sets),
        }
    }

    fn value(&self, inst: InstId) -> LocSet {
        let memory = self.memory();
        let mut out = LocSet::new();
        match self.body.insts[inst].op {
            Op::Load { .. } => {
                for flow in memory.flows(self.instance, self.body, inst) {
                    if let End::Memory(locs) = &flow.from {
                        out.union_with(&self.held(inst, locs));
                    }
                }
            }
            Op::PtrAdd {
                base,
                offset,
                indices,
            } => {
                let base = memory.operand(self.instance, self.body, base);
                if indices.len == 0 {
                    return memory.shifted(&base, offset);
                }
                // An index stays in its object; the pre-analysis knows where it can lead.
                let objects = self.points_to.objects();
                let inside: FxHashSet<ObjectId> =
                    base.iter().map(|loc| objects.object_of(loc)).collect();
                let all = self.points_to.value(self.instance, self.body.result(inst));
                out.extend(
                    all.iter()
                        .filter(|&loc| inside.contains(&objects.object_of(loc))),
                );
            }
            _ => {
                for operand in operands_passed_on(self.body, inst) {
                    out.union_with(&memory.operand(self.instance, self.body, operand));
                }
            }
        }
        out
    }

    /// What locations hold when an instruction reads them.
    fn held(&self, inst: InstId, locs: &LocSet) -> LocSet {
        let mut out = LocSet::new();
        for loc in locs.iter() {
            let cell = self.cells.get(&loc);
            let version = cell.and_then(|&cell| self.ssa.used(inst, cell));
            out.union_with(match version {
                Some(version) => &self.contents[version],
                None => self.points_to.content(loc),
            });
        }
        out
    }

    /// The versions that an instruction makes.
    fn writes(&mut self, inst: InstId) -> bool {
        let made: Vec<(LocId, VersionId)> = self
            .cells
            .iter()
            .filter_map(|(&loc, &cell)| Some((loc, self.ssa.defined(inst, cell)?)))
            .collect();
        if made.is_empty() {
            return false;
        }
        let flows = self.memory().flows(self.instance, self.body, inst);
        let is_call = matches!(
            self.body.insts[inst].op,
            Op::Call { .. } | Op::Invoke { .. }
        );
        let mut changed = false;
        for (loc, version) in made {
            let mut new = self.stored(inst, loc, &flows);
            if let Def::Chi {
                old, strong: false, ..
            } = self.ssa.versions[version].def
            {
                new.union_with(&self.contents[old]);
            }
            if is_call {
                new.union_with(self.points_to.content(loc));
            }
            changed |= self.contents[version].union_with(&new);
        }
        changed
    }

    /// What flows put into a location.
    fn stored(&self, inst: InstId, loc: LocId, flows: &[Flow]) -> LocSet {
        let mut out = LocSet::new();
        for flow in flows {
            if !matches!(&flow.to, End::Memory(to) if to.contains(loc)) {
                continue;
            }
            match &flow.from {
                End::Operand(operand) => {
                    let memory = self.memory();
                    out.union_with(&memory.operand(self.instance, self.body, *operand));
                }
                End::Memory(from) => {
                    out.union_with(&self.held(inst, from));
                }
                _ => {
                    out.union_with(self.points_to.content(loc));
                }
            }
        }
        out
    }
}
