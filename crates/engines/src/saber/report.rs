//! From verdicts to findings and ledger, in source terms.
//!
//! A finding stands where the block is lost: at the allocation, or where wrappers handed it out, at the outermost call of a
//! clone that the block reaches and that has a part in the decision. Clones that lose their block inside themselves, for the
//! same reason, are one finding.

use drip_flow::svfg::{EdgeKind, Node};
use drip_models::Library;
use drip_pointer::andersen::{InstanceId, external_call};
use drip_program::{Const, InstId, Op};
use rustc_hash::{FxHashMap, FxHashSet};

use super::driver::{Detection, Facts, Literal, Verdict};
use super::names::Names;
use crate::Statistics;
use crate::finding::{
    AllocationLink, Analysis, Confidence, Finding, LedgerEntry, LostPoint, Rule, Step, StepKind,
    Verdict as LedgerVerdict,
};

/// Steps of the shown value flow; longer ones are cut.
const MAX_STEPS: usize = 32;

/// Everything that is shown to users, sorted by place.
pub fn analysis(facts: &Facts<'_>, library: &Library, detections: &[Detection]) -> Analysis {
    let mut findings: FxHashMap<String, Finding> = FxHashMap::default();
    let mut ledger: Vec<LedgerEntry> = Vec::new();
    for detection in detections {
        let reporter = Reporter { facts, library };
        let Some((chain, links)) = reporter.chain(detection) else {
            continue;
        };
        ledger.extend(reporter.ledger_entry(detection, &links));
        if let Some(finding) = reporter.finding(detection, &chain, links) {
            findings.entry(finding.id.clone()).or_insert(finding);
        }
    }
    let mut findings: Vec<Finding> = findings.into_values().collect();
    findings.sort_by(|a, b| (&a.primary, &a.id).cmp(&(&b.primary, &b.id)));
    ledger.sort_by(|a, b| (&a.at, &a.callee, &a.reason).cmp(&(&b.at, &b.callee, &b.reason)));
    ledger.dedup();
    Analysis {
        statistics: Statistics {
            functions: facts.statistics.functions,
            functions_limited: facts.points_to.functions_with_wide_pointers(),
            sites: detections.len(),
            candidates: findings.len(),
            ..Statistics::default()
        },
        findings,
        ledger,
    }
}

struct Reporter<'r, 'p> {
    facts: &'r Facts<'p>,
    library: &'r Library,
}

/// Calls from where the block is lost to the allocation.
type Chain = Vec<(InstanceId, InstId)>;

impl Reporter<'_, '_> {
    fn names(&self, instance: InstanceId) -> Option<Names<'_>> {
        let func = self.facts.points_to.instances().list[instance].func;
        Names::new(self.facts.program, func)
    }

    /// The allocation chain from the level at which the block is lost.
    fn chain(&self, detection: &Detection) -> Option<(Chain, Vec<AllocationLink>)> {
        let Node::Source { instance, call, .. } = self.facts.svfg.nodes[detection.source] else {
            return None;
        };
        let mut chain = self.facts.points_to.instances().chain(instance);
        chain.push((instance, call));
        let reached: FxHashSet<InstanceId> = detection
            .forward
            .states
            .iter()
            .filter_map(|&node| self.facts.svfg.nodes[node].instance())
            .collect();
        let mut level = chain.len() - 1;
        while level > 0 && reached.contains(&chain[level - 1].0) {
            level -= 1;
        }
        if let Verdict::Conditional { cubes, .. } = &detection.verdict {
            // The decision may have fallen deeper inside already.
            let decided: FxHashSet<InstanceId> = cubes
                .iter()
                .flatten()
                .map(|(condition, _)| condition.instance)
                .collect();
            let inside = |at: usize| {
                let deeper: FxHashSet<InstanceId> = chain[at..].iter().map(|c| c.0).collect();
                !decided.is_empty() && decided.iter().all(|instance| deeper.contains(instance))
            };
            while level + 1 < chain.len() && inside(level + 1) {
                level += 1;
            }
        }
        let chain = chain.split_off(level);
        let links = chain
            .iter()
            .filter_map(|&(instance, call)| {
                let names = self.names(instance)?;
                Some(AllocationLink {
                    at: names.position(call),
                    callee: names.callee(call),
                })
            })
            .collect();
        Some((chain, links))
    }

    fn ledger_entry(&self, detection: &Detection, links: &[AllocationLink]) -> Option<LedgerEntry> {
        let first = links.first()?;
        let (verdict, reason) = match &detection.verdict {
            Verdict::NeverFreed => (LedgerVerdict::Leak, "reaches no deallocation".to_owned()),
            Verdict::Conditional { cubes, complete } => (
                LedgerVerdict::Leak,
                format!("not freed when {}", self.condition(cubes, *complete)),
            ),
            Verdict::Freed => (LedgerVerdict::Freed, "freed on all paths".to_owned()),
            Verdict::Global => (
                LedgerVerdict::Escaped,
                "flows into a global variable or out of sight".to_owned(),
            ),
            Verdict::EndsWithProgram => (
                LedgerVerdict::HeldAtEnd,
                "every path from here ends the program".to_owned(),
            ),
            Verdict::SliceTooLarge => (
                LedgerVerdict::GivenUp,
                "limit: nodes of the backward slice".to_owned(),
            ),
            Verdict::SearchTooLarge => (
                LedgerVerdict::GivenUp,
                "limit: states of the forward slice".to_owned(),
            ),
            Verdict::GuardTooLarge => (
                LedgerVerdict::GivenUp,
                "limit: size of the guard".to_owned(),
            ),
        };
        Some(LedgerEntry {
            at: first.at.clone(),
            callee: first.callee.clone(),
            verdict,
            reason,
        })
    }

    fn finding(
        &self,
        detection: &Detection,
        chain: &[(InstanceId, InstId)],
        allocation: Vec<AllocationLink>,
    ) -> Option<Finding> {
        let &(instance, call) = chain.first()?;
        let names = self.names(instance)?;
        let variable = self.holder(detection, chain);
        let what = match &variable {
            Some(name) => format!("`{name}`"),
            None => "memory".to_owned(),
        };
        let callee = names.callee(call);
        let no_cubes = Vec::new();
        let (rule, cubes, condition) = match &detection.verdict {
            Verdict::NeverFreed => (Rule::D001, &no_cubes, None),
            Verdict::Conditional { cubes, complete } => {
                let text = self.condition(cubes, *complete);
                (Rule::D002, cubes, Some(text))
            }
            _ => return None,
        };
        let message = match &condition {
            None => format!("{what} allocated by `{callee}` is never freed"),
            Some(text) => format!("{what} allocated by `{callee}` leaks when {text}"),
        };
        let primary = names.position(call);
        if is_system_header(&primary.file) {
            return None;
        }
        let lost = self.lost(&names, cubes, condition.as_deref(), call);
        Some(Finding {
            id: self.identity(detection, chain, &allocation),
            rule,
            confidence: match rule {
                Rule::D001 => Confidence::High,
                _ => Confidence::Medium,
            },
            path: self.path(detection, &allocation, cubes, &lost),
            lost: vec![lost],
            primary,
            variable,
            message,
            condition: condition.map(|text| format!("when {text}")),
            family: self.family(detection),
            allocation,
        })
    }

    /// ¬FREED in source terms.
    fn condition(&self, cubes: &[Vec<Literal>], complete: bool) -> String {
        let mut alternatives: Vec<String> = cubes
            .iter()
            .map(|cube| {
                let literals: Vec<String> = cube
                    .iter()
                    .map(|(condition, value)| match self.names(condition.instance) {
                        Some(names) => names.literal(condition, *value),
                        None => "?".to_owned(),
                    })
                    .collect();
                literals.join(" && ")
            })
            .collect();
        alternatives.dedup();
        if !complete {
            alternatives.push("…".to_owned());
        }
        alternatives.join(" || ")
    }

    /// The variable that first holds the block, at the level of the finding.
    fn holder(&self, detection: &Detection, chain: &[(InstanceId, InstId)]) -> Option<String> {
        let &(instance, call) = chain.first()?;
        let names = self.names(instance)?;
        let body = self.body(instance)?;
        let result = body.result(call);
        let node = self.facts.svfg.find(Node::Value {
            instance,
            value: result,
        });
        let holds = node.is_some_and(|node| detection.forward.states.contains(&node));
        holds.then(|| names.holder(result)).flatten()
    }

    fn body(&self, instance: InstanceId) -> Option<&drip_program::Body> {
        let func = self.facts.points_to.instances().list[instance].func;
        self.facts.program.funcs[func].body.as_ref()
    }

    fn lost(
        &self,
        names: &Names<'_>,
        cubes: &[Vec<Literal>],
        condition: Option<&str>,
        call: InstId,
    ) -> LostPoint {
        let branch = cubes.first().and_then(|cube| cube.last());
        let at = branch.and_then(|(condition, _)| {
            let names = self.names(condition.instance)?;
            let body = self.body(condition.instance)?;
            Some(names.position(body.terminator(condition.block)))
        });
        match (at, condition) {
            (Some(at), Some(text)) => LostPoint {
                at,
                text: format!("not freed when {text}"),
            },
            _ => LostPoint {
                at: names.position(call),
                text: "no deallocation is reached from here".to_owned(),
            },
        }
    }

    /// The value flow from the allocation to the sink that is reached first, and the branches that miss it.
    fn path(
        &self,
        detection: &Detection,
        allocation: &[AllocationLink],
        cubes: &[Vec<Literal>],
        lost: &LostPoint,
    ) -> Vec<Step> {
        let mut steps = Vec::new();
        for link in allocation.iter().rev() {
            steps.push(Step {
                kind: StepKind::Allocation,
                at: link.at.clone(),
                text: format!("allocated by `{}`", link.callee),
            });
        }
        steps.extend(self.value_flow(detection));
        for (condition, value) in cubes.first().into_iter().flatten() {
            let names = self.names(condition.instance);
            let body = self.body(condition.instance);
            if let (Some(names), Some(body)) = (names, body) {
                steps.push(Step {
                    kind: StepKind::Branch,
                    at: names.position(body.terminator(condition.block)),
                    text: format!("when {}", names.literal(condition, *value)),
                });
            }
        }
        steps.push(Step {
            kind: StepKind::Lost,
            at: lost.at.clone(),
            text: lost.text.clone(),
        });
        steps
    }

    /// Calls, returns and deallocations on the way to the first sink.
    fn value_flow(&self, detection: &Detection) -> Vec<Step> {
        let slice = &detection.forward;
        let Some(&sink) = slice.sinks.first() else {
            return Vec::new();
        };
        // The first step into a state is one of a shortest path.
        let mut into: Vec<Option<usize>> = vec![None; slice.states.len()];
        for (at, step) in slice.steps.iter().enumerate() {
            if step.to != 0 && into[step.to].is_none() {
                into[step.to] = Some(at);
            }
        }
        let mut way = Vec::new();
        let mut state = sink;
        while let Some(at) = into[state] {
            way.push(slice.steps[at]);
            state = slice.steps[at].from;
        }
        let mut out = Vec::new();
        for step in way.iter().rev() {
            let said = match step.edge.kind {
                EdgeKind::Call(site) => Some((site, "passed to")),
                EdgeKind::Return(site) => Some((site, "handed out by")),
                EdgeKind::Intra | EdgeKind::Jump => None,
            };
            if let Some((site, verb)) = said {
                let (instance, call) = self.facts.svfg.sites[site];
                out.extend(self.call_step(instance, call, verb));
            } else if let Node::Sink { instance, at } = self.facts.svfg.nodes[step.edge.to] {
                out.extend(self.call_step(instance, at, "freed by"));
            }
        }
        out.truncate(MAX_STEPS);
        out
    }

    fn call_step(&self, instance: InstanceId, call: InstId, verb: &str) -> Option<Step> {
        let names = self.names(instance)?;
        Some(Step {
            kind: StepKind::Call,
            at: names.position(call),
            text: format!("{verb} `{}`", names.callee(call)),
        })
    }

    fn family(&self, detection: &Detection) -> String {
        let family = || {
            let Node::Source {
                instance,
                call,
                index,
            } = self.facts.svfg.nodes[detection.source]
            else {
                return None;
            };
            let body = self.body(instance)?;
            let (Op::Call { callee, .. } | Op::Invoke { callee, .. }) = body.insts[call].op else {
                return None;
            };
            let Some(&Const::Func(func)) = body.const_of(callee) else {
                return None;
            };
            let external = external_call(self.facts.program, self.library, func)?;
            let fresh = external.summary.fresh.get(usize::from(index))?;
            Some(self.library.families.name(fresh.family).to_owned())
        };
        family().unwrap_or_else(|| "malloc".to_owned())
    }

    /// Hash of names, not of lines: functions of the chain, which object, and which of its calls.
    fn identity(
        &self,
        detection: &Detection,
        chain: &[(InstanceId, InstId)],
        links: &[AllocationLink],
    ) -> String {
        let index = match self.facts.svfg.nodes[detection.source] {
            Node::Source { index, .. } => index,
            _ => 0,
        };
        let mut text = format!("saber|{index}");
        for (&(instance, call), link) in chain.iter().zip(links) {
            let nth = match (self.body(instance), self.names(instance)) {
                (Some(body), Some(names)) => body
                    .insts
                    .iter_enumerated()
                    .take_while(|(inst, _)| *inst < call)
                    .filter(|(_, data)| matches!(data.op, Op::Call { .. } | Op::Invoke { .. }))
                    .filter(|(inst, _)| names.callee(*inst) == link.callee)
                    .count(),
                _ => 0,
            };
            let func = self.facts.points_to.instances().list[instance].func;
            let name = self.facts.program.func_name(func);
            text.push_str(&format!("|{name}>{}#{nth}", link.callee));
        }
        let file = links.first().map(|link| link.at.file.as_str());
        let file = std::path::Path::new(file.unwrap_or_default()).file_name();
        text.push_str(&file.unwrap_or_default().to_string_lossy());
        format!("{:012x}", fnv(&text) & 0xffff_ffff_ffff)
    }
}

/// FNV-1a, 64 bits: small, stable across versions and machines.
fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}

/// Code of the system's headers is not the user's to fix.
fn is_system_header(file: &str) -> bool {
    file.starts_with("/usr/include/") || file.starts_with("/usr/lib/")
}
