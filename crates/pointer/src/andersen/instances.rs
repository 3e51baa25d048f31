//! Question: which functions are allocation wrappers, and which of their calls get a clone of their own?
//!
//! SABER §4.1: "A function f is marked as an allocator if f reveals a value flow from an allocation source to the return
//! statement of f via a sequence of local variables"; wrappers are then allocation sites, one abstract object per call. Here a
//! wrapper's whole body is cloned per direct call, so that everything it allocates is an object of that call and the
//! conditions inside it still count. Deviation: a store of the new block through a parameter (`*out = malloc(n)`) hands it out
//! just as a return does, so such functions are wrappers too.
//!
//! Wrappers of wrappers are cloned along chains of calls. Not cloned: functions on cycles of direct calls, indirect calls,
//! and what exceeds [`CloneLimits`]; these share the function's base instance.
//! Cost: one pass over the program per level of wrappers, plus the cloned instructions.

use drip_base::{Graph, IdSet, IndexVec, Sccs};
use drip_models::{Library, Root, Value};
use drip_program::address_taken::address_taken;
use drip_program::{
    Body, CallFlags, Const, FuncAttrs, FuncId, InstId, Linkage, Op, Operand, Program, ValueId,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::InstanceId;
use super::external::{ExternalCall, external_call};

/// Beyond these a wrapper's calls share one body: leaks of one call can hide behind the free of another.
#[derive(Clone, Debug)]
pub struct CloneLimits {
    /// Instructions of a wrapper.
    pub wrapper_insts: usize,
    /// Nested clones.
    pub depth: usize,
    /// Instructions of all clones together, as a multiple of the program's.
    pub growth: usize,
}

impl Default for CloneLimits {
    fn default() -> CloneLimits {
        CloneLimits {
            wrapper_insts: 100,
            depth: 3,
            growth: 1,
        }
    }
}

/// Clones that are allowed in a program of any size.
const MIN_CLONED_INSTS: usize = 20_000;

/// Address computations that a parameter is followed through; one further away is no out-parameter.
const MAX_ADDRESS_STEPS: usize = 32;

#[derive(Clone, Debug)]
pub struct Instance {
    pub func: FuncId,
    /// The one call that this clone is for; `None` for the function itself.
    pub call: Option<(InstanceId, InstId)>,
}

/// Functions and clones.
#[derive(Clone, Debug, Default)]
pub struct Instances {
    pub list: IndexVec<InstanceId, Instance>,
    base: IndexVec<FuncId, Option<InstanceId>>,
    clones: FxHashMap<(InstanceId, InstId), InstanceId>,
    pub wrappers: IdSet<FuncId>,
    /// Functions that others can see and that nothing in the program calls by name: code out of sight calls them.
    pub exported: IdSet<FuncId>,
    /// Calls of wrappers that share the base instance because of a limit.
    pub limited: usize,
}

impl Instances {
    /// The function itself; `None` if it has no body, or if all its calls have clones.
    pub fn base(&self, func: FuncId) -> Option<InstanceId> {
        self.base.get(func).copied().flatten()
    }

    /// The instance that a direct call of `func` enters.
    pub fn callee(&self, caller: InstanceId, call: InstId, func: FuncId) -> Option<InstanceId> {
        let clone = self.clones.get(&(caller, call)).copied();
        clone.or_else(|| self.base(func))
    }

    /// Calls from the outermost caller to the instance, each with the function that makes it.
    pub fn chain(&self, instance: InstanceId) -> Vec<(InstanceId, InstId)> {
        let mut chain = Vec::new();
        let mut at = instance;
        while let Some((caller, call)) = self.list[at].call {
            chain.push((caller, call));
            at = caller;
        }
        chain.reverse();
        chain
    }

    pub fn build(program: &Program, library: &Library, limits: &CloneLimits) -> Instances {
        let externals = Externals::new(program, library);
        let wrappers = find_wrappers(program, &externals, limits);
        let mut out = Instances {
            base: IndexVec::from_elem(None, program.funcs.len()),
            wrappers,
            ..Instances::default()
        };
        out.roots(program, &externals);
        out.clone_calls(program, &externals, limits);
        out
    }

    /// Makes the base instances of all functions that are not only called as wrappers.
    fn roots(&mut self, program: &Program, externals: &Externals) {
        let mut called: FxHashSet<FuncId> = FxHashSet::default();
        for body in program.funcs.iter().filter_map(|f| f.body.as_ref()) {
            for (_, func) in direct_calls(body) {
                called.insert(func);
            }
        }
        let taken = address_taken(program);
        for (func, function) in program.funcs.iter_enumerated() {
            if function.body.is_none() || externals.of(func).is_some() {
                continue;
            }
            let only_cloned = self.wrappers.contains(func)
                && called.contains(&func)
                && !taken.contains(func)
                && !function.attrs.has(FuncAttrs::CONSTRUCTOR);
            if !only_cloned {
                self.make_base(func);
            }
            let visible = function.linkage != Linkage::Internal;
            if visible && !called.contains(&func) && program.func_name(func) != "main" {
                self.exported.insert(func);
            }
        }
    }

    fn make_base(&mut self, func: FuncId) -> InstanceId {
        if let Some(known) = self.base[func] {
            return known;
        }
        let id = self.list.push(Instance { func, call: None });
        self.base[func] = Some(id);
        id
    }

    /// Breadth first, so that the limits cut the deepest chains.
    fn clone_calls(&mut self, program: &Program, externals: &Externals, limits: &CloneLimits) {
        let bodies = program.funcs.iter().filter_map(|f| f.body.as_ref());
        let total: usize = bodies.map(|b| b.insts.len()).sum();
        let mut allowed = (total * limits.growth).max(MIN_CLONED_INSTS);
        let mut at = 0;
        while at < self.list.len() {
            let caller = InstanceId::new(at);
            at += 1;
            let Some(body) = &program.funcs[self.list[caller].func].body else {
                continue;
            };
            let depth = self.chain(caller).len();
            for (call, func) in direct_calls(body) {
                if !self.wrappers.contains(func) || externals.of(func).is_some() {
                    continue;
                }
                let size = program.funcs[func]
                    .body
                    .as_ref()
                    .map_or(0, |b| b.insts.len());
                if depth >= limits.depth || size > allowed {
                    self.limited += 1;
                    self.make_base(func);
                    continue;
                }
                allowed -= size;
                let clone = self.list.push(Instance {
                    func,
                    call: Some((caller, call)),
                });
                self.clones.insert((caller, call), clone);
            }
        }
    }
}

/// Calls that name their callee.
fn direct_calls(body: &Body) -> impl Iterator<Item = (InstId, FuncId)> + '_ {
    body.insts
        .iter_enumerated()
        .filter_map(|(inst, data)| match data.op {
            Op::Call { callee, flags, .. } | Op::Invoke { callee, flags, .. }
                if !flags.has(CallFlags::ASM) =>
            {
                match body.const_of(callee) {
                    Some(&Const::Func(func)) => Some((inst, func)),
                    _ => None,
                }
            }
            _ => None,
        })
}

/// External functions, judged once.
struct Externals {
    calls: IndexVec<FuncId, Option<ExternalCall>>,
}

impl Externals {
    fn new(program: &Program, library: &Library) -> Externals {
        let ids = program.funcs.ids();
        Externals {
            calls: ids
                .iter()
                .map(|func| external_call(program, library, func))
                .collect(),
        }
    }

    fn of(&self, func: FuncId) -> Option<&ExternalCall> {
        self.calls[func].as_ref()
    }
}

/// What a function hands out: new memory by its result, or through a parameter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct HandsOut {
    result: bool,
    /// Bit n: through parameter n.
    params: u64,
}

impl HandsOut {
    fn any(self) -> bool {
        self.result || self.params != 0
    }
}

fn find_wrappers(program: &Program, externals: &Externals, limits: &CloneLimits) -> IdSet<FuncId> {
    let graph = Graph::from_fn(program.funcs.len(), |func: FuncId, out| {
        if let Some(body) = &program.funcs[func].body {
            out.extend(direct_calls(body).map(|(_, callee)| callee));
        }
    });
    let sccs = Sccs::compute(&graph);
    let mut known: IndexVec<FuncId, HandsOut> =
        IndexVec::from_elem(HandsOut::default(), program.funcs.len());
    for (func, call) in externals.calls.iter_enumerated() {
        if let Some(call) = call {
            known[func] = external_hand_outs(call);
        }
    }
    let mut wrappers = IdSet::with_capacity(program.funcs.len());
    for scc in sccs.bottom_up().iter() {
        let &[func] = sccs.members(scc) else { continue };
        let Some(body) = &program.funcs[func].body else {
            continue;
        };
        let small = body.insts.len() <= limits.wrapper_insts;
        if !small || sccs.is_cyclic(scc) || externals.of(func).is_some() {
            continue;
        }
        known[func] = hand_outs(body, &known);
        if known[func].any() {
            wrappers.insert(func);
        }
    }
    wrappers
}

fn external_hand_outs(call: &ExternalCall) -> HandsOut {
    let mut out = HandsOut::default();
    for outcome in &call.summary.outcomes {
        out.result |= matches!(outcome.ret, Value::Fresh { .. });
        for write in &outcome.writes {
            if let (Root::Arg(arg @ 0..64), Value::Fresh { .. }) =
                (write.cell.base.root, &write.value)
            {
                out.params |= 1 << arg;
            }
        }
    }
    out
}

/// Follows new blocks through SSA values to returns and to stores through parameters.
fn hand_outs(body: &Body, known: &IndexVec<FuncId, HandsOut>) -> HandsOut {
    let mut fresh: IdSet<ValueId> = IdSet::with_capacity(body.value_count());
    let mut out = HandsOut::default();
    loop {
        let mut changed = false;
        for (inst, data) in body.insts.iter_enumerated() {
            let is_fresh = |operand: Operand| operand.as_value().is_some_and(|v| fresh.contains(v));
            let flows = match data.op {
                Op::Call { callee, args, .. } | Op::Invoke { callee, args, .. } => {
                    let callee = match body.const_of(callee) {
                        Some(&Const::Func(func)) => known[func],
                        _ => HandsOut::default(),
                    };
                    for (index, &arg) in body.list(args).iter().enumerate().take(64) {
                        if callee.params & (1 << index) != 0 {
                            out.params |= param_bit(body, arg);
                        }
                    }
                    callee.result
                }
                Op::Phi { incoming } => body.incoming(incoming).iter().any(|i| is_fresh(i.value)),
                Op::Select { then, els, .. } => is_fresh(then) || is_fresh(els),
                Op::Cast { value, .. } => is_fresh(value),
                Op::PtrAdd { base, .. } => is_fresh(base),
                Op::Ret { value: Some(value) } if is_fresh(value) => {
                    out.result = true;
                    false
                }
                Op::Store { addr, value } if is_fresh(value) => {
                    out.params |= param_bit(body, addr);
                    false
                }
                _ => false,
            };
            changed |= flows && fresh.insert(body.result(inst));
        }
        if !changed {
            return out;
        }
    }
}

/// The parameter that an address is computed from by constant offsets, as a bit.
fn param_bit(body: &Body, mut addr: Operand) -> u64 {
    for _ in 0..MAX_ADDRESS_STEPS {
        let Some(value) = addr.as_value() else {
            return 0;
        };
        if let Some(param @ 0..64) = body.as_param(value) {
            return 1 << param;
        }
        match body.def(value).map(|inst| body.insts[inst].op) {
            Some(Op::PtrAdd { base, .. }) => addr = base,
            Some(Op::Cast { value, .. }) => addr = value,
            _ => return 0,
        }
    }
    0
}
