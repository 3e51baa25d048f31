//! Question: which statement frees the object, and is it safe right before the losing one?
//!
//! A proposal that is wrong does more harm than none: it is only made with a proof (see [`Reporter::repair`]). Else the report
//! names who frees the object on another path. Known limits: only objects that a variable holds, no fields.

use drip_flow::{EndKind, Machine, State, UseFlow, Where};
use drip_pointer::ObjId;
use drip_program::{BlockId, Const, InstId, Op, VarId};
use rustc_hash::FxHashSet;

use super::{Loss, Reporter, reachable_ends};
use crate::finding::Confidence;
use crate::staged::names::UNNAMED_CALLEE;

impl Reporter<'_, '_> {
    /// Who frees the object on other paths, and in which line: the deallocator that belongs to it.
    pub(super) fn release_elsewhere(&self, flow: &UseFlow) -> Option<(String, u32)> {
        let call = self.releasing_call(flow)?;
        Some((self.names.callee(call), self.names.position(call).line))
    }

    /// A call on another path that is given the object's address and frees it.
    fn releasing_call(&self, flow: &UseFlow) -> Option<InstId> {
        let object = *flow.objects.first()?;
        flow.ends.iter().find_map(|end| {
            let Machine::Freed { at, sure: true } = end.state.objects.first()?.machine else {
                return None;
            };
            let summary = self.frame.calls.get(&at)?;
            let mut args = self.frame.args(at).iter();
            let is_given = args.any(|arg| self.leads_to(*arg, object));
            (summary.fresh.is_empty() && is_given).then_some(at)
        })
    }

    /// A statement that frees the object and is proven to be safe right before the losing one.
    ///
    /// Proof: a variable holds the object there; it was only ever assigned the result of this allocation or null, and one
    /// of these assignments dominates the place; no path on which the object was freed or handed over leads there
    /// without a new assignment, and none that comes by frees it or hands it over later; and the losing statement does not
    /// use the object itself.
    pub(super) fn repair(&self, flow: &UseFlow, loss: &Loss<'_>) -> Option<String> {
        if flow.limited || loss.confidence == Confidence::Low {
            return None;
        }
        let (call, index) = flow.birth(self.frame)?;
        let body = self.frame.body;
        let end = loss.end.at;
        let var = match body.insts[end].op {
            Op::Ret { .. } => self.held_by(&flow.nodes[loss.end.node].state)?,
            Op::Bind { var, .. } => var,
            _ => return None,
        };
        let point = self.return_statement(flow, loss).unwrap_or(end);
        let result = body.result(call);
        let mut dominated = false;
        let mut assigned = FxHashSet::default();
        for (inst, data) in body.insts.iter_enumerated() {
            let Op::Bind { var: bound, value } = data.op else {
                continue;
            };
            if bound != var || inst == end && value.as_value() != Some(result) {
                continue;
            }
            let is_null = matches!(body.const_of(value), Some(Const::Null));
            if !is_null && value.as_value() != Some(result) {
                return None;
            }
            let block = self.frame.block_of(inst);
            assigned.insert(block);
            dominated |= inst != end && self.comes_before(inst, point);
        }
        let reached = |from: InstId| self.reaches(from, point, &assigned);
        // `p = other;` in a loop: the next time it is not the object that is overwritten.
        if matches!(body.insts[end].op, Op::Bind { .. }) && reached(end) {
            return None;
        }
        let mut settled = flow.ends.iter().filter(|e| e.kind == EndKind::Settled);
        if !dominated
            || settled.any(|e| reached(e.at))
            || self.settles_after(flow, point)
            || self.is_used_by(flow, loss, point)
        {
            return None;
        }
        self.release_statement(flow, call, index, self.names.var(var))
    }

    /// Is there a path by `point` on which the object is freed or handed over later, if only by returning?
    fn settles_after(&self, flow: &UseFlow, point: InstId) -> bool {
        let block = self.frame.block_of(point);
        let reach = reachable_ends(flow);
        let mut there = flow
            .nodes
            .iter_enumerated()
            .filter(|(_, n)| n.block == block);
        there.any(|(node, _)| {
            let mut ends = reach[node.index()].iter();
            ends.any(|&end| flow.ends[end as usize].kind == EndKind::Settled)
        })
    }

    fn held_by(&self, state: &State) -> Option<VarId> {
        let mut places = state.objects.first()?.places.iter();
        places.find_map(|place| match place.at {
            Where::Var(var) if !place.weak => Some(var),
            _ => None,
        })
    }

    /// On every path to `point`.
    fn comes_before(&self, inst: InstId, point: InstId) -> bool {
        let (a, b) = (self.frame.block_of(inst), self.frame.block_of(point));
        if a == b {
            return inst < point;
        }
        self.frame.cfg.dominates(a, b)
    }

    /// Is there a way from an instruction to `point` that does not pass one of these blocks?
    fn reaches(&self, from: InstId, point: InstId, not_through: &FxHashSet<BlockId>) -> bool {
        let (start, goal) = (self.frame.block_of(from), self.frame.block_of(point));
        if start == goal && from < point {
            return true;
        }
        let mut seen = FxHashSet::default();
        let mut stack = self.frame.cfg.succs(start).to_vec();
        while let Some(block) = stack.pop() {
            if block == goal {
                return true;
            }
            if !not_through.contains(&block) && seen.insert(block) {
                stack.extend(self.frame.cfg.succs(block));
            }
        }
        false
    }

    /// Does the losing statement, or what the path does after its line, still use the object?
    fn is_used_by(&self, flow: &UseFlow, loss: &Loss<'_>, point: InstId) -> bool {
        let body = self.frame.body;
        let Some(&object) = flow.objects.first() else {
            return true;
        };
        let line = self.names.position(point).line;
        let blocks: FxHashSet<BlockId> = loss
            .path
            .hops
            .iter()
            .map(|hop| flow.nodes[hop.node].block)
            .collect();
        let mut insts = blocks.into_iter().flat_map(|block| body.block_insts(block));
        insts.any(|inst| {
            let data = &body.insts[inst];
            let is_there = data.loc.is_some_and(|loc| body.locs[loc].line >= line);
            let mut uses = false;
            if is_there && !matches!(data.op, Op::Bind { .. } | Op::Phi { .. }) {
                body.for_each_operand(inst, |operand| uses |= self.leads_to(operand, object));
            }
            uses
        })
    }

    /// `mem_free(key);`: by the function that frees it on another path, else by what belongs to the library's allocator.
    fn release_statement(
        &self,
        flow: &UseFlow,
        call: InstId,
        index: u16,
        name: &str,
    ) -> Option<String> {
        if let Some(release) = self.releasing_call(flow) {
            return self.release_like(release, *flow.objects.first()?, name);
        }
        // What a function of the project made may need its own counterpart.
        if self.has_body(call) {
            return None;
        }
        match self.family(call, index).as_str() {
            "malloc" => Some(format!("free({name});")),
            "new" => Some(format!("delete {name};")),
            "new[]" => Some(format!("delete[] {name};")),
            other => {
                let program = self.frame.program;
                let params = program.funcs[program.find_func(other)?].params.len();
                (params == 1).then(|| format!("{other}({name});"))
            }
        }
    }

    /// The same call as on another path; its other arguments have to be parameters, which are at hand everywhere.
    fn release_like(&self, release: InstId, object: ObjId, name: &str) -> Option<String> {
        let callee = self.names.callee(release);
        let args = self.frame.args(release);
        let shown: Option<Vec<String>> = args
            .iter()
            .map(|arg| {
                if self.leads_to(*arg, object) {
                    return Some(name.to_owned());
                }
                self.frame.body.as_param(arg.as_value()?)?;
                self.names.value(*arg)
            })
            .collect();
        match callee.as_str() {
            UNNAMED_CALLEE => None,
            // The size that C++ passes along is not written.
            "delete" | "delete[]" => Some(format!("{callee} {name};")),
            _ => Some(format!("{callee}({});", shown?.join(", "))),
        }
    }

    fn has_body(&self, call: InstId) -> bool {
        let body = self.frame.body;
        let (Op::Call { callee, .. } | Op::Invoke { callee, .. }) = body.insts[call].op else {
            return true;
        };
        match body.const_of(callee) {
            Some(&Const::Func(func)) => self.frame.program.funcs[func].body.is_some(),
            _ => true,
        }
    }
}
