//! The rules of fig. 6, instance by instance.

use drip_base::{IndexVec, Watch};
use drip_memssa::{Def, RegionId, VersionId};
use drip_pointer::andersen::{Callee, End, Flow, InstanceId, LocSet, PointsTo, copied_operands};
use drip_pointer::modref::{Class, Classes, ModRef};
use drip_program::{Body, Cfg, FuncId, InstId, Op, Operand, ValueId};
use rayon::prelude::*;

use super::graph::{EdgeKind, Node, NodeId, Place, Svfg, Use};
use super::refine::Exposure;
use super::regions::{Context, FunctionMemory};

/// What the graph is built from.
pub struct Inputs<'i, 'p> {
    pub points_to: &'i PointsTo<'p>,
    pub classes: &'i Classes,
    pub mod_ref: &'i ModRef,
    /// Control flow of every function with a body.
    pub cfgs: &'i IndexVec<FuncId, Option<&'i Cfg>>,
    /// Stops the work.
    pub watch: &'i Watch,
}

/// Memory SSA of every instance.
pub type Memories = IndexVec<InstanceId, Option<FunctionMemory>>;

/// Puts every instance into memory SSA, in parallel; `None` if the watch was stopped meanwhile.
pub fn memories(inputs: &Inputs<'_, '_>) -> Option<Memories> {
    let exposure = Exposure::build(inputs.points_to);
    let context = Context {
        points_to: inputs.points_to,
        exposure: &exposure,
        classes: inputs.classes,
        mod_ref: inputs.mod_ref,
    };
    let instances: Vec<InstanceId> = inputs.points_to.instances().list.ids().iter().collect();
    let built: Vec<Option<FunctionMemory>> = instances
        .into_par_iter()
        .map(|instance| {
            if inputs.watch.is_stopped() {
                return None;
            }
            let func = inputs.points_to.instances().list[instance].func;
            let body = inputs.points_to.system.program.funcs[func].body.as_ref()?;
            let cfg = inputs.cfgs[func]?;
            Some(FunctionMemory::build(&context, instance, body, cfg))
        })
        .collect();
    (!inputs.watch.is_stopped()).then(|| IndexVec::from_raw(built))
}

/// Builds the graph of the whole program; `None` if the watch was stopped meanwhile.
pub fn build(inputs: &Inputs<'_, '_>, memories: &Memories) -> Option<Svfg> {
    let mut builder = Builder {
        inputs,
        memories,
        svfg: Svfg::default(),
    };
    for instance in inputs.points_to.instances().list.ids().iter() {
        if inputs.watch.is_stopped() {
            return None;
        }
        builder.instance(instance);
    }
    builder.svfg.freeze();
    Some(builder.svfg)
}

struct Builder<'b, 'p> {
    inputs: &'b Inputs<'b, 'p>,
    memories: &'b Memories,
    svfg: Svfg,
}

/// The instance at work.
#[derive(Clone, Copy)]
struct Here<'h> {
    instance: InstanceId,
    body: &'h Body,
    cfg: &'h Cfg,
    memory: &'h FunctionMemory,
}

impl<'b> Builder<'b, '_> {
    fn here(&self, instance: InstanceId) -> Option<Here<'b>> {
        let func = self.inputs.points_to.instances().list[instance].func;
        Some(Here {
            instance,
            body: self.inputs.points_to.system.program.funcs[func]
                .body
                .as_ref()?,
            cfg: self.inputs.cfgs[func]?,
            memory: self.memories[instance].as_ref()?,
        })
    }

    fn instance(&mut self, instance: InstanceId) {
        let Some(here) = self.here(instance) else {
            return;
        };
        for block in here.body.blocks.ids() {
            if !here.cfg.is_reachable(block) {
                continue;
            }
            for inst in here.body.block_insts(block) {
                match here.body.insts[inst].op {
                    Op::Phi { .. } => self.value_phi(here, block, inst),
                    Op::Call { .. } | Op::Invoke { .. } => self.calls(here, inst),
                    Op::Ret { value: Some(value) } => self.handed_out(here, inst, value),
                    _ => self.copies(here, inst),
                }
            }
        }
        for (inst, flows) in &here.memory.flows {
            for flow in flows {
                self.flow(here, *inst, flow);
            }
        }
        self.versions(here);
    }

    /// Node of a value that can carry a block.
    fn value(&mut self, here: Here<'_>, value: ValueId) -> Option<NodeId> {
        let Here { instance, body, .. } = here;
        if !here
            .memory
            .is_on_heap(self.inputs.points_to, instance, value)
        {
            return None;
        }
        let place = match body.def(value) {
            None => Place::Entry,
            Some(inst) => match body.insts[inst].op {
                Op::Phi { .. } => Place::Start(body.block_of(inst)?),
                _ => Place::After(inst),
            },
        };
        Some(self.svfg.node(Node::Value { instance, value }, place))
    }

    fn operand(&mut self, here: Here<'_>, operand: Operand) -> Option<NodeId> {
        self.value(here, operand.as_value()?)
    }

    fn version(&mut self, here: Here<'_>, version: VersionId) -> NodeId {
        let place = match here.memory.ssa.versions[version].def {
            Def::Entry => Place::Entry,
            Def::Chi { inst, .. } => Place::After(inst),
            Def::Phi { block, .. } => Place::Start(block),
        };
        let instance = here.instance;
        self.svfg.node(Node::Version { instance, version }, place)
    }

    // [V-COPY] (SABER fig. 6): pᵢ = qⱼ  ⊢  p̂ᵢ ← q̂ⱼ
    fn copies(&mut self, here: Here<'_>, inst: InstId) {
        let result = here.body.result(inst);
        let mut sources = copied_operands(here.body, inst);
        // `x + e` is an occurrence of `x`.
        match here.body.insts[inst].op {
            Op::PtrAdd { base, .. } => sources.push(base),
            Op::MemCopy { dst, .. } | Op::MemSet { dst, .. } => sources.push(dst),
            _ => {}
        }
        for source in sources {
            if let (Some(from), Some(to)) = (self.operand(here, source), self.value(here, result)) {
                self.svfg.edge(from, to, EdgeKind::Intra, Use::At(inst));
            }
        }
    }

    // [V-PHI] (SABER fig. 6): pᵢ = Φ(qⱼ, qₖ)  ⊢  p̂ᵢ ← q̂ⱼ, p̂ᵢ ← q̂ₖ; here for SSA values
    fn value_phi(&mut self, here: Here<'_>, block: drip_program::BlockId, inst: InstId) {
        let Op::Phi { incoming } = here.body.insts[inst].op else {
            return;
        };
        let Some(to) = self.value(here, here.body.result(inst)) else {
            return;
        };
        for entry in here.body.incoming(incoming) {
            if let (true, Some(from)) = (
                here.cfg.is_reachable(entry.block),
                self.operand(here, entry.value),
            ) {
                let used = Use::OnEdge(entry.block, block);
                self.svfg.edge(from, to, EdgeKind::Intra, used);
            }
        }
    }

    /// What an exported function returns goes out of sight.
    fn handed_out(&mut self, here: Here<'_>, inst: InstId, value: Operand) {
        let instances = self.inputs.points_to.instances();
        let func = instances.list[here.instance].func;
        if instances.exported.contains(func)
            && let Some(from) = self.operand(here, value)
        {
            let to = self.svfg.node(Node::Global, Place::Entry);
            self.svfg.edge(from, to, EdgeKind::Intra, Use::At(inst));
        }
    }

    /// Flows through memory, of stores, loads, copies of memory and external calls.
    fn flow(&mut self, here: Here<'_>, inst: InstId, flow: &Flow) {
        for from in self.origins(here, inst, &flow.from) {
            for to in self.targets(here, inst, &flow.to) {
                let (kind, used) = match self.svfg.nodes[from] {
                    Node::Shared(_) => (EdgeKind::Jump, Use::Anywhere),
                    _ => (EdgeKind::Intra, Use::At(inst)),
                };
                self.svfg.edge(from, to, kind, used);
            }
        }
    }

    /// Definitions that a flow starts from.
    // [V-MU] (SABER fig. 6): pᵢ = *qⱼ, μ(R_t) ∈ θ  ⊢  p̂ᵢ ← R̂_t
    fn origins(&mut self, here: Here<'_>, inst: InstId, end: &End) -> Vec<NodeId> {
        match end {
            End::Operand(operand) => self.operand(here, *operand).into_iter().collect(),
            End::Fresh(index) => {
                let node = Node::Source {
                    instance: here.instance,
                    call: inst,
                    index: *index,
                };
                let new = self.svfg.find(node).is_none();
                let id = self.svfg.node(node, Place::After(inst));
                if new {
                    self.svfg.sources.push(id);
                }
                vec![id]
            }
            End::Memory(locs) => {
                let mut found = Vec::new();
                for region in here.memory.overlapping(locs) {
                    if let Some(version) = here.memory.ssa.used(inst, region) {
                        found.push(self.version(here, version));
                    }
                }
                found.extend(self.shared(locs));
                found
            }
            End::Result | End::Freed | End::Outside => Vec::new(),
        }
    }

    /// Definitions that a flow makes.
    // [V-CHI] (SABER fig. 6): *pᵢ = qⱼ, R_t = χ(R_s) ∈ δ  ⊢  R̂_t ← q̂ⱼ, R̂_t ← R̂_s (the latter in `versions`)
    fn targets(&mut self, here: Here<'_>, inst: InstId, end: &End) -> Vec<NodeId> {
        match end {
            End::Result => {
                let result = here.body.result(inst);
                self.value(here, result).into_iter().collect()
            }
            End::Memory(locs) => {
                let mut found = Vec::new();
                for region in here.memory.overlapping(locs) {
                    if let Some(version) = here.memory.ssa.defined(inst, region) {
                        found.push(self.version(here, version));
                    }
                }
                found.extend(self.shared(locs));
                let classes = self.inputs.classes;
                let global = |loc| matches!(classes.of(loc), Class::Global | Class::Outside);
                if locs.iter().any(global) {
                    found.push(self.svfg.node(Node::Global, Place::Entry));
                }
                found
            }
            End::Freed => {
                let instance = here.instance;
                let node = Node::Sink { instance, at: inst };
                vec![self.svfg.node(node, Place::After(inst))]
            }
            End::Outside => vec![self.svfg.node(Node::Global, Place::Entry)],
            End::Operand(_) | End::Fresh(_) => Vec::new(),
        }
    }

    fn shared(&mut self, locs: &LocSet) -> Vec<NodeId> {
        let classes = self.inputs.classes;
        locs.iter()
            .filter(|&loc| classes.of(loc) == Class::Shared)
            .map(|loc| self.svfg.node(Node::Shared(loc), Place::Entry))
            .collect()
    }

    /// What versions are made from others by.
    fn versions(&mut self, here: Here<'_>) {
        for (id, version) in here.memory.ssa.versions.iter_enumerated() {
            match &version.def {
                Def::Entry => {}
                // [V-CHI] and [V-CSCHI], second part: R̂_t ← R̂_s, unless the store replaces all that R held.
                Def::Chi { strong: true, .. } => {}
                Def::Chi { inst, old, .. } => {
                    let (from, to) = (self.version(here, *old), self.version(here, id));
                    self.svfg.edge(from, to, EdgeKind::Intra, Use::At(*inst));
                }
                // [V-PHI] for regions.
                Def::Phi { block, operands } => {
                    let to = self.version(here, id);
                    for (&operand, &pred) in operands.iter().zip(here.cfg.preds(*block)) {
                        if here.cfg.is_reachable(pred) {
                            let from = self.version(here, operand);
                            let used = Use::OnEdge(pred, *block);
                            self.svfg.edge(from, to, EdgeKind::Intra, used);
                        }
                    }
                }
            }
        }
    }

    fn calls(&mut self, here: Here<'_>, inst: InstId) {
        for &callee in self.inputs.points_to.callees(here.instance, inst) {
            let Callee::Instance(callee) = callee else {
                continue;
            };
            let Some(there) = self.here(callee) else {
                continue;
            };
            self.parameters(here, inst, there);
            let Some((read, modified)) = here.memory.call_regions.get(&inst) else {
                continue;
            };
            for &region in read {
                self.passed_memory(here, inst, there, region);
            }
            for &region in modified {
                self.returned_memory(here, inst, there, region);
            }
        }
    }

    // [V-CSPAR] (SABER fig. 6): pᵢ = F_k(…, qⱼ, …), g ∈ Callees(F_k)  ⊢  PAR_g(qⱼ) ←(k q̂ⱼ, p̂ᵢ ←)k RET_g(pᵢ)
    fn parameters(&mut self, here: Here<'_>, inst: InstId, there: Here<'_>) {
        let (Op::Call { args, .. } | Op::Invoke { args, .. }) = here.body.insts[inst].op else {
            return;
        };
        let site = self.svfg.site(here.instance, inst);
        for (index, &arg) in here.body.list(args).iter().enumerate() {
            if index >= there.body.param_count() {
                break;
            }
            let param = there.body.param(index);
            if let (Some(from), Some(to)) = (self.operand(here, arg), self.value(there, param)) {
                self.svfg
                    .edge(from, to, EdgeKind::Call(site), Use::At(inst));
            }
        }
        let Some(to) = self.value(here, here.body.result(inst)) else {
            return;
        };
        for (ret, value) in returns(there) {
            if let Some(from) = value.and_then(|value| self.operand(there, value)) {
                self.svfg
                    .edge(from, to, EdgeKind::Return(site), Use::At(ret));
            }
        }
    }

    // [V-CSMU] (SABER fig. 6): μ(R_t) ∈ θ, g ∈ Callees(F_k)  ⊢  U_k^g(R_t) ←(k μ̂(R_t), μ̂(R_t) ← R̂_t
    fn passed_memory(&mut self, here: Here<'_>, inst: InstId, there: Here<'_>, region: RegionId) {
        let Some(version) = here.memory.ssa.used(inst, region) else {
            return;
        };
        let received = matching(there, &there.memory.entering, here, region);
        if received.is_empty() {
            return;
        }
        let from = self.version(here, version);
        let node = Node::Mu {
            instance: here.instance,
            call: inst,
            version,
        };
        let mu = self.svfg.node(node, Place::After(inst));
        self.svfg.edge(from, mu, EdgeKind::Intra, Use::At(inst));
        let site = self.svfg.site(here.instance, inst);
        for entering in received {
            let to = self.version(there, there.memory.ssa.entry[entering]);
            self.svfg.edge(mu, to, EdgeKind::Call(site), Use::At(inst));
        }
    }

    // [V-CSCHI] (SABER fig. 6): R_t = χ(R_s) ∈ δ, g ∈ Callees(F_k)  ⊢  R̂_t ←)k D_k^g(R_t), R̂_t ← R̂_s
    fn returned_memory(&mut self, here: Here<'_>, inst: InstId, there: Here<'_>, region: RegionId) {
        let Some(version) = here.memory.ssa.defined(inst, region) else {
            return;
        };
        let to = self.version(here, version);
        let site = self.svfg.site(here.instance, inst);
        for leaving in matching(there, &there.memory.leaving, here, region) {
            for (ret, _) in returns(there) {
                if let Some(last) = there.memory.ssa.used(ret, leaving) {
                    let from = self.version(there, last);
                    self.svfg
                        .edge(from, to, EdgeKind::Return(site), Use::At(ret));
                }
            }
        }
    }
}

/// Regions of a callee's interface that share a location with a region of the caller.
fn matching(
    there: Here<'_>,
    interface: &[RegionId],
    here: Here<'_>,
    region: RegionId,
) -> Vec<RegionId> {
    let locs = &here.memory.regions[region].locs;
    let mut found = there.memory.overlapping(locs);
    found.retain(|region| interface.binary_search(region).is_ok());
    found
}

/// Reachable returns and what they return.
fn returns<'h>(there: Here<'h>) -> impl Iterator<Item = (InstId, Option<Operand>)> + 'h {
    let blocks = there.body.blocks.ids();
    blocks
        .iter()
        .filter(move |&block| there.cfg.is_reachable(block))
        .filter_map(move |block| {
            let inst = there.body.terminator(block);
            match there.body.insts[inst].op {
                Op::Ret { value } => Some((inst, value)),
                _ => None,
            }
        })
}
