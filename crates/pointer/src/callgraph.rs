//! Question: which functions can each call reach?
//!
//! A program-wide pass before anything is summarised, so that the components of the call graph are fixed (engine order is
//! bottom-up over them). Direct calls are what they are. An indirect call is resolved by *where its pointer was loaded
//! from*: a global variable, or a field at a byte offset of some structure; the candidates are the functions that any
//! initialiser or store puts into that variable or at that offset, whose parameter count fits. Tables of function pointers
//! and virtual tables are fields of constant globals. Hooks with a setter keep their initial and every visible target.
//! Calls of parameters and of pointers from elsewhere stay unresolved: unknown functions, counted.
//! Domain: sets of functions per (variable, offset) and per field offset. One pass to collect, one to resolve; linear.

use drip_base::{Graph, IndexVec, Sccs};
use drip_program::{
    Body, Const, FuncAttrs, FuncId, Function, GlobalId, Init, InstId, Op, Operand, Program, Scalar,
    Type,
};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Candidates of one indirect call; with more the call is an unknown function.
pub const MAX_TARGETS: usize = 16;

/// What a call can reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Callees {
    Known(SmallVec<[FuncId; 1]>),
    Unknown,
}

/// The program's calls. Frozen once built.
pub struct CallGraph {
    calls: FxHashMap<(FuncId, InstId), Callees>,
    pub sccs: Sccs<FuncId>,
    pub graph: Graph<FuncId>,
}

#[derive(Default)]
struct Stores {
    /// Functions that a global variable's slot can hold.
    variables: FxHashMap<(GlobalId, i64), Vec<FuncId>>,
    /// Functions stored at an offset of some structure.
    fields: FxHashMap<i64, Vec<FuncId>>,
}

impl CallGraph {
    pub fn build(program: &Program) -> CallGraph {
        let stores = collect(program);
        let mut calls = FxHashMap::default();
        let mut edges: IndexVec<FuncId, Vec<FuncId>> =
            IndexVec::from_elem(Vec::new(), program.funcs.len());
        for (id, function) in program.funcs.iter_enumerated() {
            let Some(body) = &function.body else { continue };
            for (inst, data) in body.insts.iter_enumerated() {
                let (Op::Call { callee, args, .. } | Op::Invoke { callee, args, .. }) = data.op
                else {
                    continue;
                };
                let found = resolve(program, body, &stores, callee, args.len as usize);
                if let Callees::Known(targets) = &found {
                    edges[id].extend(
                        targets
                            .iter()
                            .copied()
                            .filter(|&t| program.funcs[t].body.is_some()),
                    );
                }
                calls.insert((id, inst), found);
            }
            edges[id].sort_unstable();
            edges[id].dedup();
        }
        let graph = Graph::from_fn(program.funcs.len(), |func: FuncId, out| {
            out.extend(&edges[func])
        });
        let sccs = Sccs::compute(&graph);
        CallGraph { calls, sccs, graph }
    }

    pub fn callees(&self, func: FuncId, call: InstId) -> &Callees {
        self.calls.get(&(func, call)).unwrap_or(&Callees::Unknown)
    }
}

fn collect(program: &Program) -> Stores {
    let mut stores = Stores::default();
    for (id, global) in program.globals.iter_enumerated() {
        if let Init::Slots { slots, .. } = &global.init {
            for &(offset, scalar) in slots.iter() {
                if let Scalar::Func(func) = scalar {
                    stores
                        .variables
                        .entry((id, offset as i64))
                        .or_default()
                        .push(func);
                    // A table of structs: the offset inside one element is not known, every divisor may be meant.
                    stores
                        .fields
                        .entry(field_of(program, id, offset))
                        .or_default()
                        .push(func);
                }
            }
        }
    }
    for function in program.funcs.iter() {
        let Some(body) = &function.body else { continue };
        for data in body.insts.iter() {
            let Op::Store { addr, value } = data.op else {
                continue;
            };
            let Some(&Const::Func(func)) = body.const_of(value) else {
                continue;
            };
            match address(body, addr) {
                Address::Global(global, offset) => {
                    stores
                        .variables
                        .entry((global, offset))
                        .or_default()
                        .push(func);
                    stores.fields.entry(offset).or_default().push(func);
                }
                Address::Field(offset) => stores.fields.entry(offset).or_default().push(func),
                Address::Elsewhere => {}
            }
        }
    }
    for list in stores
        .variables
        .values_mut()
        .chain(stores.fields.values_mut())
    {
        list.sort_unstable();
        list.dedup();
    }
    stores
}

/// Offset inside one element of an initialised array of structs, or inside the struct itself.
fn field_of(program: &Program, global: GlobalId, offset: u64) -> i64 {
    let mut ty = program.globals[global].ty;
    let mut offset = offset;
    while let Type::Array { elem, .. } = program.types.get(ty) {
        let size = program.types.size_of(*elem).max(1);
        offset %= size;
        ty = *elem;
    }
    offset as i64
}

enum Address {
    Global(GlobalId, i64),
    /// At this offset of what some pointer points to.
    Field(i64),
    Elsewhere,
}

fn address(body: &Body, addr: Operand) -> Address {
    if let Some(&Const::Global { global, offset }) = body.const_of(addr) {
        return Address::Global(global, offset);
    }
    let Some(inst) = addr.as_value().and_then(|v| body.def(v)) else {
        return if addr.as_value().is_some() {
            Address::Field(0)
        } else {
            Address::Elsewhere
        };
    };
    match body.insts[inst].op {
        Op::PtrAdd {
            base,
            offset,
            indices,
        } => match body.const_of(base) {
            Some(&Const::Global {
                global,
                offset: start,
            }) if indices.len == 0 => Address::Global(global, start.wrapping_add(offset)),
            _ => Address::Field(offset),
        },
        _ => Address::Field(0),
    }
}

fn resolve(
    program: &Program,
    body: &Body,
    stores: &Stores,
    callee: Operand,
    args: usize,
) -> Callees {
    if let Some(&Const::Func(func)) = body.const_of(callee) {
        return Callees::Known(SmallVec::from_slice(&[func]));
    }
    let mut found: Vec<FuncId> = Vec::new();
    let mut seen: Vec<Operand> = Vec::new();
    if !trace(body, stores, callee, &mut found, &mut seen) {
        return Callees::Unknown;
    }
    found.retain(|&func| takes(&program.funcs[func], program, args));
    found.sort_unstable();
    found.dedup();
    if found.is_empty() || found.len() > MAX_TARGETS {
        return Callees::Unknown;
    }
    Callees::Known(found.into())
}

/// Collects what a function pointer can be; false if it comes from out of sight.
fn trace(
    body: &Body,
    stores: &Stores,
    value: Operand,
    found: &mut Vec<FuncId>,
    seen: &mut Vec<Operand>,
) -> bool {
    if seen.contains(&value) {
        return true;
    }
    seen.push(value);
    match body.const_of(value) {
        Some(&Const::Func(func)) => {
            found.push(func);
            return true;
        }
        Some(Const::Null | Const::Undef(_)) => return true,
        Some(_) => return false,
        None => {}
    }
    let Some(inst) = value.as_value().and_then(|v| body.def(v)) else {
        return false;
    };
    match body.insts[inst].op {
        Op::Load { addr } => {
            let list = match address(body, addr) {
                Address::Global(global, offset) => stores.variables.get(&(global, offset)),
                Address::Field(offset) => stores.fields.get(&offset),
                Address::Elsewhere => None,
            };
            match list {
                Some(list) => {
                    found.extend(list);
                    true
                }
                None => false,
            }
        }
        Op::Phi { incoming } => body
            .incoming(incoming)
            .iter()
            .all(|e| trace(body, stores, e.value, found, seen)),
        Op::Select { then, els, .. } => {
            trace(body, stores, then, found, seen) && trace(body, stores, els, found, seen)
        }
        Op::Cast { value, .. } => trace(body, stores, value, found, seen),
        _ => false,
    }
}

/// Can the function be called with that many arguments?
fn takes(function: &Function, program: &Program, args: usize) -> bool {
    match program.types.get(function.ty) {
        Type::Func { params, vararg, .. } => {
            params.len() == args
                || (*vararg && params.len() <= args)
                || function.attrs.has(FuncAttrs::NO_PROTOTYPE)
        }
        _ => false,
    }
}
