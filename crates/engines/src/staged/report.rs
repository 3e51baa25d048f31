//! From a feasible candidate to a finding in source terms.

use drip_flow::{End, EndKind, Frame, Machine, State, UseFlow, Where};
use drip_models::{ChainLink, Library, Value};
use drip_pointer::ObjId;
use drip_program::{BlockId, Const, InstId, Op, Operand, Program, VarId};
use rustc_hash::FxHashSet;

use super::calls::callee_name;
use super::causes::cause;
use super::names::{Names, UNNAMED_CALLEE};
use super::paths::Path;
use crate::finding::{
    AllocationLink, Confidence, Finding, LostPoint, Rule, SourcePos, Step, StepKind,
};

mod asked;
mod repair;

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
        let (call, index) = flow.birth(self.frame)?;
        let best = losses.iter().max_by_key(|l| {
            let is_likely = l.confidence > Confidence::Low;
            let rule = self.rule(flow, l.end);
            (is_likely, rule, std::cmp::Reverse(l.path.hops.len()))
        })?;
        let rule = self.rule(flow, best.end);
        let variable = self
            .variable(flow, best)
            .or_else(|| losses.iter().find_map(|l| self.variable(flow, l)));
        let mut lost: Vec<LostPoint> = Vec::new();
        for loss in losses {
            let point = self.lost_point(flow, loss);
            if !lost.contains(&point) {
                lost.push(point);
            }
        }
        lost.sort_by(|a, b| a.at.cmp(&b.at));
        let conditions = self.deciding(flow, best);
        let condition = (!conditions.is_empty()).then(|| {
            let shown = &conditions[..conditions.len().min(MAX_CONDITIONS)];
            format!("when {}", shown.join(" and "))
        });
        let allocation = self.chain(call, index);
        Some(Finding {
            id: self.identity(&allocation, call, index, &variable),
            rule,
            confidence: best.confidence,
            primary: self.names.position(call),
            message: self.message(rule, variable.as_deref(), call),
            variable,
            lost,
            path: self.steps(flow, best, call),
            condition,
            family: self.family(call, index),
            allocation,
        })
    }

    fn message(&self, rule: Rule, variable: Option<&str>, call: InstId) -> String {
        let what = variable.map_or("memory".to_owned(), |name| format!("`{name}`"));
        let callee = quoted(&self.names.callee(call));
        let how = match rule {
            Rule::D001 => "is never freed",
            Rule::D002 => "is not freed on some path",
            Rule::D003 => "is lost: its last reference is overwritten",
            Rule::D004 => "is lost: its owner is freed",
            Rule::D005 => "is still held when the program ends",
        };
        format!("{what} allocated by {callee} {how}")
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
        if end.leaves {
            let safe_elsewhere = flow.ends.iter().any(|e| e.kind == EndKind::Settled);
            return match safe_elsewhere {
                true => Rule::D002,
                false => Rule::D001,
            };
        }
        match self.frame.body.insts[end.at].op {
            Op::Call { .. } | Op::Invoke { .. } => {
                let owner_freed = end
                    .state
                    .objects
                    .iter()
                    .skip(1)
                    .any(|o| matches!(o.machine, Machine::Freed { at, .. } if at == end.at));
                // Freed by an outcome that need not be the one taken; but what it frees is not the block itself.
                let object = flow.objects.first();
                let outcomes = self.frame.calls.get(&end.at).into_iter();
                let mut freed = outcomes.flat_map(|s| &s.outcomes).flat_map(|o| &o.frees);
                let frees = freed.any(|free| {
                    let targets = self.frame.resolve(end.at, &free.path);
                    !targets.iter().any(|loc| Some(&loc.obj) == object)
                });
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
    fn variable(&self, flow: &UseFlow, loss: &Loss<'_>) -> Option<String> {
        let object = *flow.objects.first()?;
        let body = self.frame.body;
        match body.insts[loss.end.at].op {
            Op::Bind { var, .. } if self.is_bound_to(var, object) => {
                return Some(self.names.var(var).to_owned());
            }
            Op::Store { addr, .. } if self.may_hold(addr, object) => {
                if let Some(place) = self.names.place(addr) {
                    return Some(place);
                }
            }
            _ => {}
        }
        let before = loss.path.hops.iter().rev();
        let states = before.map(|hop| &flow.nodes[hop.node].state);
        let held = std::iter::once(&loss.end.state)
            .chain(states)
            .find_map(|state| self.holder(state));
        held.or_else(|| self.first_place(flow))
    }

    fn is_bound_to(&self, var: VarId, object: ObjId) -> bool {
        self.frame.body.insts.iter().any(|data| {
            matches!(data.op, Op::Bind { var: v, value } if v == var && self.leads_to(value, object))
        })
    }

    fn leads_to(&self, value: Operand, object: ObjId) -> bool {
        let targets = self.frame.local.targets(value);
        targets.iter().any(|loc| loc.obj == object)
    }

    fn may_hold(&self, addr: Operand, object: ObjId) -> bool {
        let local = &self.frame.local;
        let mut places = local.targets(addr).iter();
        places.any(|place| local.load(*place).iter().any(|loc| loc.obj == object))
    }

    /// The best name among the places that hold the object: variables before memory, certain before uncertain.
    fn holder(&self, state: &State) -> Option<String> {
        let mut places = state.objects.first()?.places.to_vec();
        places.sort_by_key(|place| (place.weak, !matches!(place.at, Where::Var(_))));
        places.into_iter().find_map(|place| match place.at {
            Where::Var(var) => Some(self.names.var(var).to_owned()),
            Where::Cell(cell) => self.names.cell(cell),
            Where::Value(..) => None,
        })
    }

    /// Where the call's result was first put, if the result is the object.
    fn first_place(&self, flow: &UseFlow) -> Option<String> {
        let (call, _) = flow.birth(self.frame)?;
        let object = *flow.objects.first()?;
        let result = self.frame.body.result(call);
        self.frame.body.insts.iter().find_map(|data| match data.op {
            Op::Bind { var, value }
                if value.as_value() == Some(result) && self.leads_to(value, object) =>
            {
                Some(self.names.var(var).to_owned())
            }
            Op::Store { addr, value }
                if value.as_value() == Some(result) && self.leads_to(value, object) =>
            {
                self.names.place(addr)
            }
            _ => None,
        })
    }

    fn lost_point(&self, flow: &UseFlow, loss: &Loss<'_>) -> LostPoint {
        let mut text = self.lost_text(flow, loss);
        match self.repair(flow, loss) {
            Some(statement) => text.push_str(&format!("; put `{statement}` before this line")),
            None => {
                if let Some((callee, line)) = self.release_elsewhere(flow) {
                    let callee = quoted(&callee);
                    text.push_str(&format!("; {callee} frees it on another path, line {line}"));
                }
            }
        }
        LostPoint {
            at: self.lost_at(flow, loss),
            text,
        }
    }

    /// Where a loss is shown. Several `return` statements share one block that returns: the one of the path is meant.
    fn lost_at(&self, flow: &UseFlow, loss: &Loss<'_>) -> SourcePos {
        match self.return_statement(flow, loss) {
            Some(jump) => self.names.position(jump),
            None => self.names.position(loss.end.at),
        }
    }

    /// The jump that a `return` statement became, where that is not the returning instruction itself.
    fn return_statement(&self, flow: &UseFlow, loss: &Loss<'_>) -> Option<InstId> {
        let body = self.frame.body;
        let Op::Ret { value } = body.insts[loss.end.at].op else {
            return None;
        };
        let block = self.frame.block_of(loss.end.at);
        // A shared return stands at the closing brace, which has the first column for itself.
        let at_brace = self.names.position(loss.end.at).column == 1;
        let is_shared = at_brace
            && body.block_insts(block).all(|i| {
                matches!(
                    body.insts[i].op,
                    Op::Phi { .. } | Op::Bind { .. } | Op::Ret { .. }
                )
            });
        // The last hop is the returning block itself.
        let [.., before, _] = loss.path.hops.as_slice() else {
            return None;
        };
        let jump = body.terminator(flow.nodes[before.node].block);
        let is_jump = is_shared && matches!(body.insts[jump].op, Op::Br { .. });
        // Without a value a jump may as well be the end of a block; then no code is left out.
        (is_jump && (value.is_some() || self.leaves_out_code(jump))).then_some(jump)
    }

    /// Is there code in a line after that of an instruction, except for the end of the function?
    fn leaves_out_code(&self, inst: InstId) -> bool {
        let body = self.frame.body;
        let line = self.names.position(inst).line;
        body.insts.iter().any(|data| {
            let is_after = data.loc.is_some_and(|loc| body.locs[loc].line > line);
            is_after && !matches!(data.op, Op::Ret { .. })
        })
    }

    fn lost_text(&self, flow: &UseFlow, loss: &Loss<'_>) -> String {
        let end = loss.end;
        let name = self.variable(flow, loss);
        let round = match self.comes_round(flow, loss) {
            true => " in a later round of the loop",
            false => "",
        };
        let overwritten = match &name {
            Some(name) => format!("lost: `{name}` is overwritten{round}, last reference gone"),
            None => format!("lost: the last reference is overwritten{round}"),
        };
        let gone = match &name {
            Some(name) if is_variable(name) => format!("`{name}` goes out of scope"),
            Some(name) => format!("the way to `{name}` is gone"),
            None => "the last reference is gone".to_owned(),
        };
        match self.frame.body.insts[end.at].op {
            Op::Ret { .. } => format!("lost: the function returns and {gone}"),
            _ if end.leaves => format!("lost: an exception leaves the function and {gone}"),
            Op::Call { .. } | Op::Invoke { .. } => {
                let callee = quoted(&self.names.callee(end.at));
                match (self.rule(flow, end), &name) {
                    (Rule::D004, Some(name)) => {
                        format!(
                            "lost: {callee} frees the owner while `{name}` still holds the block"
                        )
                    }
                    (Rule::D004, None) => {
                        format!("lost: {callee} frees the owner, which held the last reference")
                    }
                    _ if flow
                        .birth(self.frame)
                        .is_some_and(|(call, _)| call == end.at) =>
                    {
                        overwritten
                    }
                    (_, Some(name)) => {
                        format!("lost: {callee} overwrites `{name}`{round}, last reference gone")
                    }
                    (_, None) => format!("lost: {callee} overwrites the last reference{round}"),
                }
            }
            Op::Bind { var, .. } => {
                let var = self.names.var(var);
                match &name {
                    Some(name) if name != var => format!(
                        "lost: `{var}` is overwritten{round} and the way to `{name}` is gone"
                    ),
                    _ => overwritten,
                }
            }
            _ => overwritten,
        }
    }

    /// The path passes the allocation more than once.
    fn comes_round(&self, flow: &UseFlow, loss: &Loss<'_>) -> bool {
        let Some((call, _)) = flow.birth(self.frame) else {
            return false;
        };
        let block = self.frame.block_of(call);
        let hops = loss.path.hops.iter();
        hops.filter(|hop| flow.nodes[hop.node].block == block)
            .count()
            > 1
    }

    /// Call sites from the losing function down to the allocation.
    fn chain(&self, call: InstId, index: u16) -> Vec<AllocationLink> {
        let mut links = vec![AllocationLink {
            at: self.names.position(call),
            callee: self.names.callee(call),
        }];
        let fresh = self
            .frame
            .calls
            .get(&call)
            .and_then(|s| s.fresh.get(usize::from(index)));
        for link in fresh.into_iter().flat_map(|f| &f.chain) {
            links.extend(linked(self.frame.program, *link));
        }
        links
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
        hashed(&text)
    }

    /// Branches of the path that exclude ends which were still possible before them.
    fn deciding(&self, flow: &UseFlow, loss: &Loss<'_>) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        let mut passed = FxHashSet::default();
        for (block, to) in self.decisive_edges(flow, loss) {
            // The same branch, taken the other way the next time.
            let later = if passed.insert(block) { "" } else { " later" };
            if let Some(text) = self.names.branch(block, to) {
                let text = format!("`{text}`{later}");
                if !found.contains(&text) {
                    found.push(text);
                }
            }
        }
        for asked in self.asked_by_maker(flow, loss) {
            let text = format!("`{asked}`");
            if !found.contains(&text) {
                found.push(text);
            }
        }
        if found.is_empty() {
            found.extend(self.failed_call(flow, loss).map(|text| format!("`{text}`")));
        }
        found
    }

    /// No branch decides: a call that could have ended otherwise does, `p = grow(p)` that returns null.
    fn failed_call(&self, flow: &UseFlow, loss: &Loss<'_>) -> Option<String> {
        let birth = flow.birth(self.frame).map(|(call, _)| call);
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
            let ty = self.frame.body.insts[choice.inst].ty;
            let shown = match self.frame.program.types.is_ptr(ty) {
                true if value == 0 => "NULL".to_owned(),
                _ => value.to_string(),
            };
            Some(format!("{} == {shown}", self.names.call(choice.inst, 0)))
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
        let callee = quoted(&self.names.callee(call));
        let size = self.size(call);
        let size = size.map_or(String::new(), |bytes| format!("{bytes} bytes "));
        let allocation = Step {
            kind: StepKind::Allocation,
            at: self.names.position(call),
            text: format!("{size}allocated here by {callee}"),
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
            if decisive.contains(&(block, next)) {
                let inst = self.frame.body.terminator(block);
                let text = match self.names.branch(block, next) {
                    Some(condition) => format!("taken when `{condition}`"),
                    None => self.way(inst, next).to_owned(),
                };
                let step = Step {
                    kind: StepKind::Branch,
                    at: self.names.position(inst),
                    text,
                };
                if !steps.contains(&step) {
                    steps.push(step);
                }
            }
        }
        if !born {
            steps.push(allocation);
        }
        if let Some(by) = cause(self.frame, flow, loss.path)
            && by.call != call
            && self.rule(flow, loss.end) != Rule::D003
        {
            let callee = quoted(&self.names.callee(by.call));
            steps.push(Step {
                kind: StepKind::Call,
                at: self.names.position(by.call),
                text: format!("{callee} does not {} it on this path", by.care.verb()),
            });
        }
        let LostPoint { at, text } = self.lost_point(flow, loss);
        steps.push(Step {
            kind: StepKind::Lost,
            at,
            text,
        });
        steps
    }

    /// A branch whose condition has no short name.
    fn way(&self, inst: InstId, next: BlockId) -> &'static str {
        match self.frame.body.insts[inst].op {
            Op::CondBr { then, .. } if then == next => "taken when the condition here holds",
            Op::CondBr { .. } => "taken when the condition here does not hold",
            _ => "taken on this way",
        }
    }

    /// Bytes that a library allocator is asked for, if that is a constant.
    fn size(&self, call: InstId) -> Option<u64> {
        let number = |arg: &Operand| match self.frame.body.const_of(*arg) {
            Some(Const::Int { bits, .. }) => Some(*bits),
            _ => None,
        };
        let args = self.frame.args(call);
        match (self.names.callee(call).as_str(), args) {
            ("malloc" | "new" | "new[]", [size, ..]) => number(size),
            ("calloc", [count, size]) => number(count)?.checked_mul(number(size)?),
            ("realloc", [_, size]) => number(size),
            _ => None,
        }
    }
}

fn is_variable(name: &str) -> bool {
    name.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// A callee without a name of its own is not code.
fn quoted(callee: &str) -> String {
    match callee {
        UNNAMED_CALLEE => callee.to_owned(),
        _ => format!("`{callee}`"),
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

/// The id of a finding.
pub fn hashed(text: &str) -> String {
    format!("{:012x}", fnv(text) & 0xffff_ffff_ffff)
}

/// A call inside of the function that hands the memory out.
pub fn linked(program: &Program, link: ChainLink) -> Option<AllocationLink> {
    let body = program.funcs[link.func].body.as_ref()?;
    let loc = body.locs[body.insts[link.inst].loc?];
    Some(AllocationLink {
        at: SourcePos {
            file: program.file_path(loc.file).to_string_lossy().into_owned(),
            line: loc.line,
            column: loc.column,
            function: program.shown_name(link.func).to_owned(),
        },
        callee: super::names::callee_elsewhere(program, body, link.inst),
    })
}

/// FNV-1a, 64 bits: small, stable across versions and machines.
fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}
