//! Which calls free memory, and where does the freed pointer come from?
//!
//! A free call is a direct call of `free`, of C++'s deallocation functions, or of a function that `programs.toml` names.
//! Nothing here asks drip's engines: what they don't understand must not be left out of the sample.

use drip_program::{Body, Const, FuncId, GlobalId, InstId, Op, Operand, OperandKind, Program};

/// Deallocation functions of every program, by symbol name.
const FREES: &[&str] = &["free", "cfree", "_ZdlPv", "_ZdaPv", "_ZdlPvm", "_ZdaPvm"];

/// Steps back through phis, loads and casts; beyond it the origin is [`Root::Unknown`].
const MAX_STEPS: usize = 24;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreeCall {
    pub func: FuncId,
    pub inst: InstId,
    pub callee: FuncId,
    pub pointer: Operand,
}

/// All free calls, in the program's order.
pub fn free_calls(program: &Program, own: &[String]) -> Vec<FreeCall> {
    let frees = |func: FuncId| {
        let name = program.func_name(func);
        FREES.contains(&name) || own.iter().any(|own| own == name)
    };
    let mut calls = Vec::new();
    for (func, function) in program.funcs.iter_enumerated() {
        let Some(body) = &function.body else { continue };
        for inst in body.insts.ids().iter() {
            if let Some((callee, args)) = direct_call(body, inst)
                && frees(callee)
                && let Some(&pointer) = args.first()
            {
                calls.push(FreeCall {
                    func,
                    inst,
                    callee,
                    pointer,
                });
            }
        }
    }
    calls
}

/// Callee and arguments of a plain direct call.
pub fn direct_call(body: &Body, inst: InstId) -> Option<(FuncId, &[Operand])> {
    match body.insts[inst].op {
        Op::Call { callee, args, .. } => match body.const_of(callee) {
            Some(&Const::Func(func)) => Some((func, body.list(args))),
            _ => None,
        },
        _ => None,
    }
}

/// Where a pointer comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// Result of this call.
    Call(InstId),
    Param(usize),
    Global(GlobalId),
    /// A local variable in memory.
    Local(InstId),
    Null,
    Unknown,
}

/// A pointer's origin: the root, and how many loads lie between it and the pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    pub root: Root,
    pub loads: usize,
}

impl Origin {
    /// Is the pointer read from memory that others see?
    pub fn is_held_outside(self) -> bool {
        self.loads > 0 && matches!(self.root, Root::Param(_) | Root::Global(_))
    }

    pub fn text(self) -> &'static str {
        match (self.root, self.loads) {
            (Root::Call(_), 0) => "result of a call",
            (Root::Call(_), _) => "field of a call's result",
            (Root::Param(_), 0) => "parameter",
            (Root::Param(_), _) => "field of a parameter",
            (Root::Global(_), 1) => "global variable",
            (Root::Global(_), _) => "field behind a global variable",
            (Root::Local(_), 0 | 1) => "local variable whose address is taken",
            (Root::Local(_), _) => "field behind a local variable",
            (Root::Null, _) => "null",
            (Root::Unknown, _) => "unknown",
        }
    }
}

/// Origins of a pointer through casts, address arithmetic, loads and phis; null only if there is nothing else.
pub fn origins(body: &Body, pointer: Operand) -> Vec<Origin> {
    let mut found: Vec<Origin> = Vec::new();
    let mut seen = Vec::new();
    let mut work = vec![(pointer, 0usize)];
    while let Some((operand, loads)) = work.pop() {
        if seen.contains(&operand) {
            continue;
        }
        seen.push(operand);
        if seen.len() > MAX_STEPS {
            found.push(Origin {
                root: Root::Unknown,
                loads,
            });
            break;
        }
        match step(body, operand) {
            Step::Root(root) => {
                let origin = Origin { root, loads };
                if !found.contains(&origin) {
                    found.push(origin);
                }
            }
            Step::Same(next) => work.extend(next.into_iter().map(|o| (o, loads))),
            Step::Load(address) => work.push((address, loads + 1)),
        }
    }
    if found.iter().any(|o| o.root != Root::Null) {
        found.retain(|o| o.root != Root::Null);
    }
    found
}

enum Step {
    Root(Root),
    Same(Vec<Operand>),
    Load(Operand),
}

fn step(body: &Body, operand: Operand) -> Step {
    let value = match operand.kind() {
        OperandKind::Const(id) => {
            return Step::Root(match body.consts[id] {
                Const::Global { global, .. } => Root::Global(global),
                Const::Null | Const::Int { bits: 0, .. } => Root::Null,
                _ => Root::Unknown,
            });
        }
        OperandKind::Value(value) => value,
    };
    let Some(inst) = body.def(value) else {
        return Step::Root(Root::Param(value.index()));
    };
    match body.insts[inst].op {
        Op::Cast { value, .. } => Step::Same(vec![value]),
        Op::PtrAdd { base, .. } => Step::Same(vec![base]),
        Op::Phi { incoming } => {
            Step::Same(body.incoming(incoming).iter().map(|i| i.value).collect())
        }
        Op::Select { then, els, .. } => Step::Same(vec![then, els]),
        Op::Load { addr } => Step::Load(addr),
        Op::Call { .. } | Op::Invoke { .. } => Step::Root(Root::Call(inst)),
        Op::Alloca { .. } => Step::Root(Root::Local(inst)),
        _ => Step::Root(Root::Unknown),
    }
}

/// The pointer as an expression over parameters, globals and instructions: equal texts are the same variable or field.
pub fn expression(body: &Body, operand: Operand) -> String {
    expression_to(body, operand, MAX_STEPS)
}

fn expression_to(body: &Body, operand: Operand, depth: usize) -> String {
    let value = match operand.kind() {
        OperandKind::Const(id) => return format!("{:?}", body.consts[id]),
        OperandKind::Value(value) => value,
    };
    let shallower = depth.saturating_sub(1);
    match body
        .def(value)
        .filter(|_| depth > 0)
        .map(|inst| body.insts[inst].op)
    {
        Some(Op::Cast { value, .. }) => expression_to(body, value, shallower),
        Some(Op::Load { addr }) => format!("*({})", expression_to(body, addr, shallower)),
        Some(Op::PtrAdd {
            base,
            offset,
            indices,
        }) if body.scaled(indices).is_empty() => {
            format!("{}+{offset}", expression_to(body, base, shallower))
        }
        _ => format!("{value}"),
    }
}

/// The pointers through which a pointer is reached, nearest first: for `a->b->c` those of `a->b` and `a`.
pub fn holders(body: &Body, pointer: Operand) -> Vec<Operand> {
    let mut found = Vec::new();
    let mut at = pointer;
    for _ in 0..MAX_STEPS {
        let op = at
            .as_value()
            .and_then(|v| body.def(v))
            .map(|inst| body.insts[inst].op);
        at = match op {
            Some(Op::Cast { value, .. }) => value,
            Some(Op::PtrAdd { base, .. }) => base,
            Some(Op::Load { addr }) => {
                let mut base = addr;
                while let Some(Op::PtrAdd { base: next, .. }) = base
                    .as_value()
                    .and_then(|v| body.def(v))
                    .map(|inst| body.insts[inst].op)
                {
                    base = next;
                }
                found.push(base);
                base
            }
            _ => break,
        };
    }
    found
}
