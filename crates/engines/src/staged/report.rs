//! From a feasible candidate to a finding in source terms.

use drip_flow::{End, EndKind, Frame, Machine, UseFlow, Where};
use drip_models::{ChainLink, Library, Value};
use drip_pointer::ObjKind;
use drip_program::{BlockId, InstId, Op};
use rustc_hash::FxHashSet;

use super::calls::callee_name;
use super::names::Names;
use super::paths::Path;
use crate::finding::{
    AllocationLink, Confidence, Finding, LostPoint, Rule, SourcePos, Step, StepKind,
};

/// Conditions in the shown sentence; further ones are on the path.
const MAX_CONDITIONS: usize = 4;

/// A losing path that was not refuted.
pub struct Loss<'l> {
    pub end: &'l End,
    pub path: &'l Path,
    pub confidence: Confidence,
}

/// What the reports of one function share.
pub struct Reporter<'r, 'a> {
    pub frame: &'r Frame<'a>,
    pub names: Names<'r, 'a>,
    pub library: &'r Library,
}

impl<'r, 'a> Reporter<'r, 'a> {
    pub fn new(frame: &'r Frame<'a>, library: &'r Library) -> Self {
        Reporter {
            frame,
            names: Names::new(frame),
            library,
        }
    }

    /// The finding of one object, from all its losing paths.
    pub fn finding(&self, flow: &UseFlow, losses: &[Loss<'_>]) -> Option<Finding> {
        let (call, index) = self.birth(flow)?;
        let best = losses
            .iter()
            .max_by_key(|l| (self.rule(flow, l.end), std::cmp::Reverse(l.path.hops.len())))?;
        let rule = self.rule(flow, best.end);
        let variable = losses.iter().find_map(|l| self.variable(flow, l.end));
        let callee = callee_name(self.frame.program, self.frame.body, call);
        let primary = self.names.position(call);
        let mut lost: Vec<LostPoint> = Vec::new();
        for loss in losses {
            let point = LostPoint {
                at: self.names.position(loss.end.at),
                text: self.lost_text(flow, loss.end),
            };
            if !lost.contains(&point) {
                lost.push(point);
            }
        }
        lost.sort_by(|a, b| a.at.cmp(&b.at));
        let conditions = self.deciding(flow, best);
        let condition = (!conditions.is_empty()).then(|| {
            let shown: Vec<String> = conditions
                .iter()
                .take(MAX_CONDITIONS)
                .map(|c| format!("`{c}`"))
                .collect();
            format!("when {}", shown.join(" and "))
        });
        let what = match &variable {
            Some(name) => format!("`{name}`"),
            None => "memory".to_owned(),
        };
        let message = match rule {
            Rule::D001 => format!("{what} allocated by `{callee}` is never freed"),
            Rule::D002 => format!("{what} allocated by `{callee}` is not freed on some path"),
            Rule::D003 => {
                format!("{what} allocated by `{callee}` is lost: its last reference is overwritten")
            }
            Rule::D004 => format!("{what} allocated by `{callee}` is lost: its owner is freed"),
            Rule::D005 => {
                format!("{what} allocated by `{callee}` is still held when the program ends")
            }
        };
        let allocation = self.chain(call, index);
        Some(Finding {
            id: self.identity(&allocation, call, index, &variable),
            rule,
            confidence: best.confidence,
            primary,
            variable,
            message,
            lost,
            path: self.steps(flow, best, call),
            condition,
            family: self.family(call, index),
            allocation,
        })
    }

    fn birth(&self, flow: &UseFlow) -> Option<(InstId, u16)> {
        match self.frame.local.memory.kind(*flow.objects.first()?) {
            ObjKind::Fresh { call, index } => Some((call, index)),
            _ => None,
        }
    }

    fn family(&self, call: InstId, index: u16) -> String {
        let family = self
            .frame
            .calls
            .get(&call)
            .and_then(|s| s.fresh.get(usize::from(index)))
            .map(|f| f.family)
            .unwrap_or_default();
        self.library.families.name(family).to_owned()
    }

    pub fn rule(&self, flow: &UseFlow, end: &End) -> Rule {
        if end.kind == EndKind::HeldAtEnd {
            return Rule::D005;
        }
        match self.frame.body.insts[end.at].op {
            Op::Ret { .. } | Op::Resume { .. } => {
                let safe_elsewhere = flow.ends.iter().any(|e| e.kind == EndKind::Settled);
                if safe_elsewhere {
                    Rule::D002
                } else {
                    Rule::D001
                }
            }
            Op::Call { .. } | Op::Invoke { .. } => {
                let owner_freed = end
                    .state
                    .objects
                    .iter()
                    .skip(1)
                    .any(|o| matches!(o.machine, Machine::Freed { at, .. } if at == end.at));
                let frees = self
                    .frame
                    .calls
                    .get(&end.at)
                    .is_some_and(|s| s.outcomes.iter().any(|o| !o.frees.is_empty()));
                if owner_freed || frees {
                    Rule::D004
                } else {
                    Rule::D003
                }
            }
            _ => Rule::D003,
        }
    }

    /// What held the object last: a variable, a field.
    fn variable(&self, flow: &UseFlow, end: &End) -> Option<String> {
        let states = [&end.state, &flow.nodes[end.node].state];
        for state in states {
            for place in &state.objects.first()?.places {
                if let Where::Var(var) = place.at {
                    return Some(self.names.var(var).to_owned());
                }
            }
        }
        if let Op::Bind { var, .. } = self.frame.body.insts[end.at].op {
            return Some(self.names.var(var).to_owned());
        }
        if let Op::Store { addr, .. } = self.frame.body.insts[end.at].op {
            return self.names.place(addr);
        }
        // Where the result was first put.
        let (call, _) = self.birth(flow)?;
        let result = self.frame.body.result(call);
        self.frame.body.insts.iter().find_map(|data| match data.op {
            Op::Bind { var, value } if value.as_value() == Some(result) => {
                Some(self.names.var(var).to_owned())
            }
            Op::Store { addr, value } if value.as_value() == Some(result) => self.names.place(addr),
            _ => None,
        })
    }

    fn lost_text(&self, flow: &UseFlow, end: &End) -> String {
        let name = self.variable(flow, end);
        let shown = name
            .as_deref()
            .map_or("it".to_owned(), |n| format!("`{n}`"));
        match self.frame.body.insts[end.at].op {
            Op::Ret { .. } => format!("lost: the function returns and {shown} goes out of scope"),
            Op::Resume { .. } => {
                format!("lost: an exception leaves the function and {shown} goes out of scope")
            }
            Op::Bind { var, .. } => format!(
                "lost: `{}` is overwritten, last reference gone",
                self.names.var(var)
            ),
            Op::Store { addr, .. } => match self.names.place(addr) {
                Some(place) => format!("lost: `{place}` is overwritten, last reference gone"),
                None => "lost: last reference overwritten".to_owned(),
            },
            Op::Call { .. } | Op::Invoke { .. } => {
                let callee = callee_name(self.frame.program, self.frame.body, end.at);
                match self.rule(flow, end) {
                    Rule::D004 => {
                        format!("lost: `{callee}` frees the object that held the last reference")
                    }
                    _ => format!("lost: `{callee}` overwrites the last reference"),
                }
            }
            _ => "lost: last reference gone".to_owned(),
        }
    }

    /// Call sites from the losing function down to the allocation.
    fn chain(&self, call: InstId, index: u16) -> Vec<AllocationLink> {
        let mut links = vec![AllocationLink {
            at: self.names.position(call),
            callee: callee_name(self.frame.program, self.frame.body, call),
        }];
        let fresh = self
            .frame
            .calls
            .get(&call)
            .and_then(|s| s.fresh.get(usize::from(index)));
        for link in fresh.into_iter().flat_map(|f| &f.chain) {
            links.extend(self.link(*link));
        }
        links
    }

    fn link(&self, link: ChainLink) -> Option<AllocationLink> {
        let program = self.frame.program;
        let body = program.funcs[link.func].body.as_ref()?;
        let loc = body.locs[body.insts[link.inst].loc?];
        Some(AllocationLink {
            at: SourcePos {
                file: program.file_path(loc.file).to_string_lossy().into_owned(),
                line: loc.line,
                column: loc.column,
                function: program.shown_name(link.func).to_owned(),
            },
            callee: callee_name(program, body, link.inst),
        })
    }

    /// Hash of names, not of lines: the chain's functions, which object, the losing function, and how many calls of the same
    /// callee come before this one in the function.
    fn identity(
        &self,
        chain: &[AllocationLink],
        call: InstId,
        index: u16,
        variable: &Option<String>,
    ) -> String {
        let callee = callee_name(self.frame.program, self.frame.body, call);
        let nth = self
            .frame
            .body
            .insts
            .iter_enumerated()
            .take_while(|(inst, _)| *inst < call)
            .filter(|(inst, data)| {
                matches!(data.op, Op::Call { .. } | Op::Invoke { .. })
                    && callee_name(self.frame.program, self.frame.body, *inst) == callee
            })
            .count();
        let mut text = format!(
            "{}|{index}|{nth}|{}",
            self.frame.program.func_name(self.frame.func),
            variable.as_deref().unwrap_or("")
        );
        for link in chain {
            text.push_str(&format!("|{}>{}", link.at.function, link.callee));
        }
        let file = std::path::Path::new(&chain[0].at.file)
            .file_name()
            .map(|f| f.to_string_lossy().into_owned());
        text.push_str(file.as_deref().unwrap_or(""));
        format!("{:012x}", fnv(&text) & 0xffff_ffff_ffff)
    }

    /// Branches of the path that exclude ends which were still possible before them.
    fn deciding(&self, flow: &UseFlow, loss: &Loss<'_>) -> Vec<String> {
        let mut found = Vec::new();
        for (block, to) in self.decisive_edges(flow, loss) {
            if let Some(text) = self.names.branch(block, to)
                && !found.contains(&text)
            {
                found.push(text);
            }
        }
        if found.is_empty() {
            found.extend(self.failed_call(flow, loss));
        }
        found
    }

    /// No branch decides: a call that could have ended otherwise does, `p = grow(p)` that returns null.
    fn failed_call(&self, flow: &UseFlow, loss: &Loss<'_>) -> Option<String> {
        let birth = self.birth(flow).map(|(call, _)| call);
        let last = loss.path.hops.last()?;
        last.choices.iter().rev().find_map(|choice| {
            let outcomes = &self.frame.calls.get(&choice.inst)?.outcomes;
            let outcome = outcomes.get(usize::from(choice.alternative))?;
            let Value::Int(value) = outcome.ret else {
                return None;
            };
            if Some(choice.inst) == birth || outcomes.iter().all(|o| o.ret == outcome.ret) {
                return None;
            }
            let callee = callee_name(self.frame.program, self.frame.body, choice.inst);
            let ty = self.frame.body.insts[choice.inst].ty;
            let shown = match self.frame.program.types.is_ptr(ty) {
                true if value == 0 => "NULL".to_owned(),
                _ => value.to_string(),
            };
            Some(format!("{callee}() == {shown}"))
        })
    }

    fn decisive_edges(&self, flow: &UseFlow, loss: &Loss<'_>) -> Vec<(BlockId, BlockId)> {
        let reach = reachable_ends(flow);
        let mut edges = Vec::new();
        let mut seen = FxHashSet::default();
        for pair in loss.path.hops.windows(2) {
            let (from, to) = (pair[0].node, pair[1].node);
            let (block, next) = (flow.nodes[from].block, flow.nodes[to].block);
            if self.frame.cfg.succs(block).len() > 1
                && reach[from.index()] != reach[to.index()]
                && seen.insert((block, next))
            {
                edges.push((block, next));
            }
        }
        edges
    }

    /// The path as numbered steps.
    fn steps(&self, flow: &UseFlow, loss: &Loss<'_>, call: InstId) -> Vec<Step> {
        let decisive = self.decisive_edges(flow, loss);
        let callee = callee_name(self.frame.program, self.frame.body, call);
        let allocation = Step {
            kind: StepKind::Allocation,
            at: self.names.position(call),
            text: format!("allocated by `{callee}`"),
        };
        let mut steps = Vec::new();
        let birth_block = self.frame.block_of(call);
        let mut born = false;
        for pair in loss.path.hops.windows(2) {
            let (block, next) = (
                flow.nodes[pair[0].node].block,
                flow.nodes[pair[1].node].block,
            );
            if block == birth_block && !born {
                steps.push(allocation.clone());
                born = true;
            }
            if decisive.contains(&(block, next))
                && let Some(text) = self.names.branch(block, next)
            {
                let inst = self.frame.body.terminator(block);
                let step = Step {
                    kind: StepKind::Branch,
                    at: self.names.position(inst),
                    text: format!("taken when `{text}`"),
                };
                if !steps.contains(&step) {
                    steps.push(step);
                }
            }
        }
        if !born {
            steps.push(allocation);
        }
        steps.push(Step {
            kind: StepKind::Lost,
            at: self.names.position(loss.end.at),
            text: self.lost_text(flow, loss.end),
        });
        steps
    }
}

/// For each node the set of kinds and places of ends that can be reached.
fn reachable_ends(flow: &UseFlow) -> Vec<FxHashSet<u32>> {
    let mut reach: Vec<FxHashSet<u32>> = vec![FxHashSet::default(); flow.nodes.len()];
    for (index, end) in flow.ends.iter().enumerate() {
        let mut stack = vec![end.node];
        while let Some(node) = stack.pop() {
            if reach[node.index()].insert(index as u32) {
                stack.extend(flow.nodes[node].preds.iter().map(|e| e.from));
            }
        }
    }
    reach
}

/// FNV-1a, 64 bits: small, stable across versions and machines.
fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}
