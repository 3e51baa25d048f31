//! Text and dot forms.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use drip_base::IndexVec;
use drip_memssa::RegionId;
use drip_pointer::andersen::{End, InstanceId, PointsTo};
use drip_program::{Body, FuncId, InstId, Op};

use super::graph::{EdgeKind, Node, NodeId, SiteId, Svfg};
use super::regions::FunctionMemory;

impl FunctionMemory {
    /// μ and χ of every statement as the rules of fig. 4 give them, before versions that nothing reads are dropped.
    pub fn annotations(&self, body: &Body) -> String {
        let mut lines: BTreeMap<InstId, [BTreeSet<RegionId>; 2]> = BTreeMap::new();
        for (inst, flows) in &self.flows {
            for flow in flows {
                if let End::Memory(locs) = &flow.from {
                    let read = &mut lines.entry(*inst).or_default()[0];
                    read.extend(self.overlapping(locs));
                }
                if let End::Memory(locs) = &flow.to {
                    let written = &mut lines.entry(*inst).or_default()[1];
                    written.extend(self.overlapping(locs));
                }
            }
        }
        for (inst, (read, modified)) in &self.call_regions {
            let line = lines.entry(*inst).or_default();
            line[0].extend(read);
            line[1].extend(modified);
        }
        for (inst, data) in body.insts.iter_enumerated() {
            if matches!(data.op, Op::Ret { .. }) {
                let line = lines.entry(inst).or_default();
                line[0].extend(&self.leaving);
            }
        }
        let mut out = String::new();
        for (inst, [read, written]) in lines {
            for (sign, regions) in [("mu", read), ("chi", written)] {
                let names: Vec<String> = regions.iter().map(ToString::to_string).collect();
                if !names.is_empty() {
                    let _ = writeln!(out, "{inst} {sign} {}", names.join(" "));
                }
            }
        }
        out
    }

    /// Regions and versions.
    pub fn dump(&self, points_to: &PointsTo<'_>) -> String {
        let mut out = String::new();
        for (id, region) in self.regions.iter_enumerated() {
            let kind = if region.is_local { "local" } else { "nonlocal" };
            let locs = points_to.set_text(&region.locs);
            let _ = writeln!(out, "{id} = {kind} {locs}");
        }
        let _ = write!(out, "{}", self.ssa);
        out
    }
}

/// Names for dumps.
pub struct Namer<'n, 'p> {
    pub points_to: &'n PointsTo<'p>,
    pub memories: &'n IndexVec<InstanceId, Option<FunctionMemory>>,
}

impl Namer<'_, '_> {
    /// `main.v3`, `main.r0.n2`, `mu(main.i4 r0.n2)`, `source(main.i1)`.
    pub fn node(&self, node: Node) -> String {
        let function = |instance| self.points_to.instance_name(instance);
        let version = |instance: InstanceId, version: drip_memssa::VersionId| {
            let region = self.memories[instance]
                .as_ref()
                .map(|memory| memory.ssa.region_of(version));
            region.map_or(version.to_string(), |region| format!("{region}.{version}"))
        };
        match node {
            Node::Value { instance, value } => format!("{}.{value}", function(instance)),
            Node::Version {
                instance,
                version: id,
            } => format!("{}.{}", function(instance), version(instance, id)),
            Node::Mu {
                instance,
                call,
                version: id,
            } => format!(
                "mu({}.{call} {})",
                function(instance),
                version(instance, id)
            ),
            Node::Source {
                instance,
                call,
                index: 0,
            } => format!("source({}.{call})", function(instance)),
            Node::Source {
                instance,
                call,
                index,
            } => format!("source({}.{call}#{index})", function(instance)),
            Node::Sink { instance, at } => format!("sink({}.{at})", function(instance)),
            Node::Shared(loc) => format!("shared({})", self.points_to.loc_name(loc)),
            Node::Global => "GLOBAL".to_owned(),
        }
    }

    fn site(&self, svfg: &Svfg, site: SiteId) -> String {
        let (instance, call) = svfg.sites[site];
        format!("{}.{call}", self.points_to.instance_name(instance))
    }

    fn label(&self, svfg: &Svfg, kind: EdgeKind) -> String {
        match kind {
            EdgeKind::Intra => String::new(),
            EdgeKind::Call(site) => format!("({}", self.site(svfg, site)),
            EdgeKind::Return(site) => format!("){}", self.site(svfg, site)),
            EdgeKind::Jump => "*".to_owned(),
        }
    }

    fn is_of(&self, node: Node, only: Option<FuncId>) -> bool {
        let Some(only) = only else { return true };
        let instance = node.instance();
        instance.is_some_and(|i| self.points_to.instances().list[i].func == only)
    }

    /// One line per edge, `to <- from`, sorted; of one function: the edges that start or end in it.
    pub fn edges(&self, svfg: &Svfg, only: Option<FuncId>) -> String {
        let mut lines: Vec<String> = Vec::new();
        for (from, edges) in svfg.edges.iter_enumerated() {
            for edge in edges {
                let (from, to) = (svfg.nodes[from], svfg.nodes[edge.to]);
                if self.is_of(from, only) || self.is_of(to, only) {
                    let label = self.label(svfg, edge.kind);
                    lines.push(format!(
                        "{} <-{label}- {}\n",
                        self.node(to),
                        self.node(from)
                    ));
                }
            }
        }
        lines.sort();
        lines.dedup();
        lines.concat()
    }

    /// The graph for graphviz.
    pub fn dot(&self, svfg: &Svfg, only: Option<FuncId>) -> String {
        let mut out = "digraph svfg {\n  node [shape=box, fontname=monospace];\n".to_owned();
        let quoted = |text: String| text.replace('\\', "\\\\").replace('"', "\\\"");
        let mut shown: Vec<NodeId> = Vec::new();
        let mut lines = String::new();
        for (from, edges) in svfg.edges.iter_enumerated() {
            for edge in edges {
                let ends = [svfg.nodes[from], svfg.nodes[edge.to]];
                if ends.iter().any(|&node| self.is_of(node, only)) {
                    shown.extend([from, edge.to]);
                    let label = quoted(self.label(svfg, edge.kind));
                    let _ = writeln!(lines, "  {from} -> {} [label=\"{label}\"];", edge.to);
                }
            }
        }
        shown.sort_unstable();
        shown.dedup();
        for node in shown {
            let name = quoted(self.node(svfg.nodes[node]));
            let _ = writeln!(out, "  {node} [label=\"{name}\"];");
        }
        out.push_str(&lines);
        out.push_str("}\n");
        out
    }
}
