//! Question: which functions can each call reach?
//!
//! A program-wide pass before anything is summarised, so that the components of the call graph are fixed (engine order is
//! bottom-up over them). Direct calls are what they are. An indirect call is resolved by *where its pointer was loaded
//! from*: a global variable, or a field at a byte offset of some structure; the candidates are the functions that any
//! initialiser or store puts into that variable or at that offset, whose type fits the call. A structure that is copied
//! takes its functions along. Tables of function pointers and virtual tables are fields of constant globals. Hooks with a
//! setter keep their initial and every visible target. A local pointer that is set by its address is one of the functions that stand in
//! the same body. A parameter is what all callers pass ([`callbacks`](crate::callbacks)). Calls of pointers from elsewhere stay
//! unresolved: unknown functions, counted.
//! Domain: sets of functions per (variable, offset) and per field offset. One pass to collect, one to resolve; linear.

use drip_base::{Graph, IdSet, IndexVec, Sccs};
use drip_models::Starter;
use drip_program::address_taken::for_each_address_taken;
use drip_program::noreturn::NoReturn;
use drip_program::{
    Body, Const, FuncAttrs, FuncId, Function, GlobalId, Init, InstId, Op, Operand, ParamAttrs,
    Program, Scalar, Type, TypeId, ValueId,
};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::callbacks::Callbacks;
use crate::owners::{Field, Owners, slot_of_global, structure_name};
use crate::vtables::{Vtables, distance};

/// Candidates of one indirect call; with more the call is an unknown function.
pub const MAX_TARGETS: usize = 16;

/// What a call can reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Callees {
    Known(SmallVec<[FuncId; 1]>),
    Unknown,
    /// Nobody comes back from there, not even by an exception: what it does is nobody's business any more.
    Ends,
    /// A direct call that closes a recursion and that its declaration says enough of: see [`tells_by_declaration`].
    Aside(FuncId),
}

/// The program's calls. Frozen once built.
pub struct CallGraph {
    calls: FxHashMap<(FuncId, InstId), Callees>,
    /// Unknown calls of which it is known that they have more than [`MAX_TARGETS`] candidates (tables of commands).
    too_many: FxHashMap<(FuncId, InstId), Vec<FuncId>>,
    /// Calls that start a thread, with the parameter that is its argument and the function that it runs.
    threads: FxHashMap<(FuncId, InstId), (usize, FuncId)>,
    pub sccs: Sccs<FuncId>,
    pub graph: Graph<FuncId>,
}

#[derive(Default)]
struct Stores {
    /// Functions that a global variable's slot can hold.
    variables: FxHashMap<(GlobalId, i64), Vec<FuncId>>,
    /// Functions stored in some element of a variable.
    elements: FxHashMap<GlobalId, Vec<FuncId>>,
    /// Functions stored at an offset of some structure.
    fields: FxHashMap<i64, Vec<FuncId>>,
    /// Those of which the debug info names the field, and the others.
    typed: FxHashMap<Field, Vec<FuncId>>,
    untyped: FxHashMap<i64, Vec<FuncId>>,
    /// Structures that are copied into a variable: where to, how many bytes, where from.
    copies: FxHashMap<GlobalId, Vec<StructCopy>>,
    /// Initialised variables with functions in them, by type: what a structure of that type may be a copy of.
    tables: FxHashMap<TypeId, Vec<GlobalId>>,
}

struct StructCopy {
    to: i64,
    len: i64,
    /// The structure's own type, if the variable has one there.
    ty: Option<TypeId>,
    from: Address,
}

impl CallGraph {
    pub fn build(program: &Program) -> CallGraph {
        let stores = collect(program);
        let vtables = Vtables::build(program);
        let callbacks = Callbacks::build(program);
        let no_return = NoReturn::build(program, &[]);
        let ends = |func: FuncId| {
            no_return.contains(func) && program.funcs[func].attrs.has(FuncAttrs::NOUNWIND)
        };
        let mut calls = FxHashMap::default();
        let mut too_many = FxHashMap::default();
        let mut threads = FxHashMap::default();
        for (id, function) in program.funcs.iter_enumerated() {
            let Some(body) = &function.body else { continue };
            for (inst, data) in body.insts.iter_enumerated() {
                let (Op::Call { callee, args, .. } | Op::Invoke { callee, args, .. }) = data.op
                else {
                    continue;
                };
                if let Some(started) = started(program, body, callee, body.list(args)) {
                    threads.insert((id, inst), started);
                }
                let call = Signature::of_call(program, body, data.ty, body.list(args));
                let mut candidates = candidates(program, body, (&stores, &vtables), callee, &call);
                if candidates.is_empty() {
                    let passed = callbacks.of(id, body, callee).iter().copied();
                    candidates.extend(passed.filter(|&f| call.fits(program, &program.funcs[f])));
                }
                let mut found = match candidates.len() {
                    0 => Callees::Unknown,
                    1..=MAX_TARGETS => Callees::Known(SmallVec::from_slice(&candidates)),
                    _ => {
                        too_many.insert((id, inst), std::mem::take(&mut candidates));
                        Callees::Unknown
                    }
                };
                if matches!(&found, Callees::Known(all) if !all.is_empty() && all.iter().all(|&f| ends(f)))
                {
                    // Otherwise everything that can fail would be one recursion by way of what reports the failure.
                    found = Callees::Ends;
                }
                calls.insert((id, inst), found);
            }
        }
        let (graph, sccs) = components(program, &calls, &threads);
        let mut read: FxHashMap<FuncId, IdSet<ValueId>> = FxHashMap::default();
        for (&(func, inst), found) in calls.iter_mut() {
            if let Callees::Known(targets) = found
                && let [target] = targets[..]
                && target != func
                && sccs.component_of(target) == sccs.component_of(func)
                && tells_by_declaration(program, target)
                && let Some(body) = &program.funcs[func].body
                && !read
                    .entry(func)
                    .or_insert_with(|| read_values(body))
                    .contains(body.result(inst))
            {
                *found = Callees::Aside(target);
            }
        }
        let (graph, sccs) = match calls.values().any(|c| matches!(c, Callees::Aside(_))) {
            true => components(program, &calls, &threads),
            false => (graph, sccs),
        };
        CallGraph {
            calls,
            too_many,
            threads,
            sccs,
            graph,
        }
    }

    pub fn callees(&self, func: FuncId, call: InstId) -> &Callees {
        self.calls.get(&(func, call)).unwrap_or(&Callees::Unknown)
    }

    /// The thread that a call starts: the parameter that is its argument, and the function that it runs.
    pub fn thread(&self, func: FuncId, call: InstId) -> Option<(usize, FuncId)> {
        self.threads.get(&(func, call)).copied()
    }

    /// What an unknown call can reach, if that is only too much to be followed.
    pub fn too_many(&self, func: FuncId, call: InstId) -> &[FuncId] {
        self.too_many.get(&(func, call)).map_or(&[], Vec::as_slice)
    }
}

/// The thread that a call starts: the parameter that is its argument, and the function that it runs.
fn started(
    program: &Program,
    body: &Body,
    callee: Operand,
    args: &[Operand],
) -> Option<(usize, FuncId)> {
    let &Const::Func(callee) = body.const_of(callee)? else {
        return None;
    };
    let starter = Starter::of(program.func_name(callee))?;
    match body.const_of(*args.get(starter.routine)?) {
        Some(&Const::Func(routine)) if program.funcs[callee].body.is_none() => {
            Some((starter.argument, routine))
        }
        _ => None,
    }
}

/// Who calls whom among functions with a body, and the recursions in that. Whoever starts a thread calls its function.
fn components(
    program: &Program,
    calls: &FxHashMap<(FuncId, InstId), Callees>,
    threads: &FxHashMap<(FuncId, InstId), (usize, FuncId)>,
) -> (Graph<FuncId>, Sccs<FuncId>) {
    let mut edges: IndexVec<FuncId, Vec<FuncId>> =
        IndexVec::from_elem(Vec::new(), program.funcs.len());
    for (&(func, _), found) in calls {
        if let Callees::Known(targets) = found {
            let in_sight = targets.iter().filter(|&&t| program.funcs[t].body.is_some());
            edges[func].extend(in_sight);
        }
    }
    for (&(func, _), &(_, routine)) in threads {
        edges[func].extend(program.funcs[routine].body.is_some().then_some(routine));
    }
    for row in edges.iter_mut() {
        row.sort_unstable();
        row.dedup();
    }
    let graph = Graph::from_fn(program.funcs.len(), |func: FuncId, out| {
        out.extend(&edges[func])
    });
    let sccs = Sccs::compute(&graph);
    (graph, sccs)
}

/// Values that some instruction reads.
fn read_values(body: &Body) -> IdSet<ValueId> {
    let mut read = IdSet::with_capacity(body.value_count());
    for (inst, data) in body.insts.iter_enumerated() {
        if !matches!(data.op, Op::Bind { .. }) {
            body.for_each_operand(inst, |operand| read.extend(operand.as_value()));
        }
    }
    read
}

/// Does the declaration say enough of a function whose result nobody reads: it gets no pointer through which it could write, and
/// returns none? That is how large programs report and log, and what makes all of them one recursion.
fn tells_by_declaration(program: &Program, func: FuncId) -> bool {
    let function = &program.funcs[func];
    let Type::Func { params, ret, .. } = program.types.get(function.ty) else {
        return false;
    };
    let is_number = |ty: &TypeId| matches!(program.types.get(*ty), Type::Int(_) | Type::Void);
    let is_read_only = |(at, ty): (usize, &TypeId)| {
        let attrs = function.params.get(at);
        is_number(ty)
            || (matches!(program.types.get(*ty), Type::Ptr)
                && attrs.is_some_and(|a| a.has(ParamAttrs::POINTEE_CONST)))
    };
    is_number(ret) && params.iter().enumerate().all(is_read_only)
}

fn collect(program: &Program) -> Stores {
    let mut stores = Stores::default();
    for (id, global) in program.globals.iter_enumerated() {
        if let Init::Slots { slots, .. } = &global.init {
            if slots.iter().any(|(_, s)| matches!(s, Scalar::Func(_))) {
                stores.tables.entry(global.ty).or_default().push(id);
            }
            for &(offset, scalar) in slots.iter() {
                if let Scalar::Func(func) = scalar {
                    stores
                        .variables
                        .entry((id, offset as i64))
                        .or_default()
                        .push(func);
                    // A table of structs: the offset inside one element is not known, every divisor may be meant.
                    let field = slot_of_global(program, id, offset as i64);
                    stores.in_field(field, field_of(program, id, offset), func);
                }
            }
        }
    }
    for function in program.funcs.iter() {
        let Some(body) = &function.body else { continue };
        let owners = Owners::new(program, body);
        for data in body.insts.iter() {
            match data.op {
                Op::Store { addr, value } => {
                    if let Some(&Const::Func(func)) = body.const_of(value) {
                        stored(&mut stores, address(body, addr), owners.field(addr), func);
                    }
                }
                Op::MemCopy { dst, src, len } => {
                    if let Address::Global(global, to) = address(body, dst)
                        && let Some(&Const::Int { bits, .. }) = body.const_of(len)
                    {
                        let copy = StructCopy {
                            to,
                            len: i64::try_from(bits).unwrap_or(i64::MAX),
                            ty: struct_at(program, program.globals[global].ty, to, bits),
                            from: address(body, src),
                        };
                        stores.copies.entry(global).or_default().push(copy);
                    }
                }
                _ => {}
            }
        }
    }
    for list in stores
        .variables
        .values_mut()
        .chain(stores.fields.values_mut())
        .chain(stores.typed.values_mut())
        .chain(stores.untyped.values_mut())
    {
        list.sort_unstable();
        list.dedup();
    }
    stores
}

/// The structure of `size` bytes that stands at `offset` of a value of type `ty`.
fn struct_at(program: &Program, mut ty: TypeId, offset: i64, size: u64) -> Option<TypeId> {
    let mut offset = u64::try_from(offset).ok()?;
    loop {
        match program.types.get(ty) {
            Type::Struct(s) => {
                if offset == 0 && program.types.size_of(ty) == size {
                    return Some(ty);
                }
                let &(field, at) = s.fields.iter().rev().find(|(_, at)| *at <= offset)?;
                ty = field;
                offset -= at;
            }
            Type::Array { elem, .. } => {
                offset %= program.types.size_of(*elem).max(1);
                ty = *elem;
            }
            _ => return None,
        }
    }
}

fn stored(stores: &mut Stores, at: Address, field: Option<Field>, func: FuncId) {
    match at {
        Address::Global(global, offset) => {
            let variable = stores.variables.entry((global, offset));
            variable.or_default().push(func);
            stores.in_field(field, offset, func);
        }
        Address::Element(global, start, scale) => {
            stores.elements.entry(global).or_default().push(func);
            stores.in_field(field, start.rem_euclid(scale), func);
        }
        Address::Field(offset) => stores.in_field(field, offset, func),
        Address::Elsewhere => {}
    }
}

impl Stores {
    fn in_field(&mut self, field: Option<Field>, offset: i64, func: FuncId) {
        self.fields.entry(offset).or_default().push(func);
        match field {
            Some(field) => self.typed.entry(field).or_default().push(func),
            None => self.untyped.entry(offset).or_default().push(func),
        }
    }

    /// What a function pointer loaded from a field can be: what was stored in that field, else what was stored at its offset of
    /// who knows what.
    fn in_named_field(&self, field: Field, offset: i64) -> Option<Vec<FuncId>> {
        let known = self.typed.get(&field);
        known.or_else(|| self.untyped.get(&offset)).cloned()
    }

    /// What a function pointer loaded from there can be; `None` if nothing is known to be stored there.
    fn loaded(&self, at: &Address) -> Option<Vec<FuncId>> {
        match *at {
            Address::Global(global, offset) => {
                let mut found: Vec<FuncId> = Vec::new();
                found.extend(self.variables.get(&(global, offset)).into_iter().flatten());
                for copy in self.copies.get(&global).into_iter().flatten() {
                    let inside = offset - copy.to;
                    if !(0..copy.len).contains(&inside) {
                        continue;
                    }
                    match copy.from {
                        Address::Global(from, start) => {
                            let place = (from, start.wrapping_add(inside));
                            found.extend(self.variables.get(&place).into_iter().flatten());
                        }
                        // A structure from somewhere: one that is initialised and of this type, if there is any.
                        Address::Element(..) | Address::Field(_) | Address::Elsewhere => match copy
                            .ty
                            .and_then(|ty| self.tables.get(&ty))
                        {
                            Some(tables) => found.extend(
                                tables
                                    .iter()
                                    .filter_map(|&table| self.variables.get(&(table, inside)))
                                    .flatten(),
                            ),
                            None => found.extend(self.fields.get(&inside).into_iter().flatten()),
                        },
                    }
                }
                found.extend(self.elements.get(&global).into_iter().flatten());
                (!found.is_empty()).then_some(found)
            }
            Address::Element(global, start, scale) => {
                let mut found: Vec<FuncId> = Vec::new();
                found.extend(self.elements.get(&global).into_iter().flatten());
                for (&(variable, offset), funcs) in &self.variables {
                    if variable == global && (offset - start).rem_euclid(scale) == 0 {
                        found.extend(funcs);
                    }
                }
                (!found.is_empty()).then_some(found)
            }
            Address::Field(offset) => self.fields.get(&offset).cloned(),
            Address::Elsewhere => None,
        }
    }
}

/// Offset inside one element of an initialised array of structs, or inside the struct itself.
fn field_of(program: &Program, global: GlobalId, offset: u64) -> i64 {
    // A pointer to a virtual table points behind its offset-to-top and type information.
    if program.global_name(global).starts_with("_ZTV") {
        return distance(program, global, offset);
    }
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
    /// Some element of a variable: every `scale` bytes from the offset on.
    Element(GlobalId, i64, i64),
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
            }) => {
                let start = start.wrapping_add(offset);
                match body.scaled(indices) {
                    [] => Address::Global(global, start),
                    [one] if one.scale > 0 => Address::Element(global, start, one.scale),
                    _ => Address::Elsewhere,
                }
            }
            // A field of an element: `table[i].run` where the table is a variable.
            _ => match (indices.len, address(body, base)) {
                (0, Address::Element(global, start, scale)) => {
                    Address::Element(global, start.wrapping_add(offset), scale)
                }
                _ => Address::Field(offset),
            },
        },
        _ => Address::Field(0),
    }
}

/// The functions that a call may reach; none if its pointer comes from out of sight.
fn candidates(
    program: &Program,
    body: &Body,
    (stores, vtables): (&Stores, &Vtables<'_>),
    callee: Operand,
    call: &Signature,
) -> Vec<FuncId> {
    if let Some(&Const::Func(func)) = body.const_of(callee) {
        return vec![func];
    }
    let named = named_beside(program, body, callee, call);
    if !named.is_empty() {
        return named;
    }
    let mut found: Vec<FuncId> = Vec::new();
    let mut seen: Vec<Operand> = Vec::new();
    let tracer = Tracer {
        program,
        body,
        stores,
        vtables,
        owners: Owners::new(program, body),
    };
    if !tracer.trace(callee, &mut found, &mut seen) {
        return Vec::new();
    }
    found.retain(|&func| call.fits(program, &program.funcs[func]));
    found.sort_unstable();
    found.dedup();
    found
}

/// A local function pointer that somebody sets by its address (`parse(options); return run(argc, argv);`, where the options name the
/// variable and the functions): one of the functions that stand in the same body and can be called like this.
fn named_beside(program: &Program, body: &Body, callee: Operand, call: &Signature) -> Vec<FuncId> {
    let def = |operand: Operand| body.def(operand.as_value()?);
    let mut named: Vec<FuncId> = Vec::new();
    let Some(Op::Load { addr }) = def(callee).map(|inst| body.insts[inst].op) else {
        return named;
    };
    let variable = def(addr).map(|inst| &body.insts[inst].op);
    // A variable that nobody has the address of is no memory.
    if !matches!(variable, Some(Op::Alloca { elem, .. }) if matches!(program.types.get(*elem), Type::Ptr))
    {
        return named;
    }
    for_each_address_taken(body, |func| named.push(func));
    named.retain(|&func| call.fits(program, &program.funcs[func]));
    named.sort_unstable();
    named.dedup();
    named
}

/// Where a function pointer of one function comes from.
struct Tracer<'t> {
    program: &'t Program,
    body: &'t Body,
    stores: &'t Stores,
    vtables: &'t Vtables<'t>,
    owners: Owners<'t>,
}

impl Tracer<'_> {
    /// What a function pointer loaded from there can be; `None` if nothing is known to be stored there.
    fn loaded(&self, addr: Operand) -> Option<Vec<FuncId>> {
        if let Some(places) = self.returned_places(addr) {
            let found: Vec<FuncId> = places.into_iter().flatten().collect();
            return (!found.is_empty()).then_some(found);
        }
        let at = address(self.body, addr);
        if let Address::Field(offset) = at
            && let Some(found) = self.virtual_functions(addr, offset)
        {
            return Some(found);
        }
        match (&at, self.owners.field(addr)) {
            (Address::Field(offset), Some(field)) => self.stores.in_named_field(field, *offset),
            _ => self.stores.loaded(&at),
        }
    }

    /// A hook that is found by a function of the program (`(*error_hook())(text)`): what is stored at each of the places that the
    /// function returns the address of, if they are variables and fields.
    fn returned_places(&self, addr: Operand) -> Option<Vec<Vec<FuncId>>> {
        let found_by = self.body.def(addr.as_value()?)?;
        let Op::Call { callee, .. } = self.body.insts[found_by].op else {
            return None;
        };
        let &Const::Func(finder) = self.body.const_of(callee)? else {
            return None;
        };
        let body = self.program.funcs[finder].body.as_ref()?;
        let owners = Owners::new(self.program, body);
        let returned = body.insts.iter().filter_map(|data| match data.op {
            Op::Ret { value } => value,
            _ => None,
        });
        let places = returned.flat_map(|value| body.origins(value));
        let stored = places.map(|place| match (address(body, place), owners.field(place)) {
            (Address::Global(global, offset), _) => {
                let stored = self.stores.loaded(&Address::Global(global, offset));
                Some(stored.unwrap_or_default())
            }
            (_, Some(field)) => Some(self.stores.typed.get(&field).cloned().unwrap_or_default()),
            _ => None,
        });
        stored.collect()
    }

    /// The functions in one slot of the table that an object points to, if it is of a class with tables.
    fn virtual_functions(&self, addr: Operand, offset: i64) -> Option<Vec<FuncId>> {
        let body = self.body;
        let op = |operand: Operand| {
            body.def(operand.as_value()?)
                .map(|inst| body.insts[inst].op)
        };
        let table = match op(addr)? {
            Op::PtrAdd { base, indices, .. } if indices.len == 0 => base,
            _ => addr,
        };
        let Op::Load { addr: object } = op(table)? else {
            return None;
        };
        let whole = self.owners.structure(object);
        let class = whole.and_then(|ty| structure_name(self.program, ty));
        let class = class.or_else(|| self.owners.field(object).map(|(class, _)| class))?;
        self.vtables.slot(class, offset)
    }

    /// Collects what a function pointer can be; false if it comes from out of sight.
    fn trace(&self, value: Operand, found: &mut Vec<FuncId>, seen: &mut Vec<Operand>) -> bool {
        if seen.contains(&value) {
            return true;
        }
        seen.push(value);
        let body = self.body;
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
            Op::Load { addr } => match self.loaded(addr) {
                Some(list) => {
                    found.extend(list);
                    true
                }
                None => false,
            },
            Op::Phi { incoming } => body
                .incoming(incoming)
                .iter()
                .all(|e| self.trace(e.value, found, seen)),
            Op::Select { then, els, .. } => {
                self.trace(then, found, seen) && self.trace(els, found, seen)
            }
            Op::Cast { value, .. } => self.trace(value, found, seen),
            _ => false,
        }
    }
}

/// Kind of a value as far as a caller and a callee must agree on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Nothing,
    Pointer,
    Int(u32),
    Float(u32),
    Other(TypeId),
    /// A constant without a type of its own.
    Any,
}

impl Shape {
    fn of(program: &Program, ty: TypeId) -> Shape {
        match program.types.get(ty) {
            Type::Void => Shape::Nothing,
            Type::Ptr => Shape::Pointer,
            Type::Int(width) => Shape::Int(*width),
            Type::Float(width) => Shape::Float(*width),
            _ => Shape::Other(ty),
        }
    }

    fn agrees(self, other: Shape) -> bool {
        self == other || self == Shape::Any || other == Shape::Any
    }
}

/// What an indirect call passes and expects.
#[derive(Clone, Debug)]
pub(crate) struct Signature {
    ret: Shape,
    args: SmallVec<[Shape; 6]>,
}

impl Signature {
    pub(crate) fn of_call(
        program: &Program,
        body: &Body,
        ret: TypeId,
        args: &[Operand],
    ) -> Signature {
        let shape = |operand: &Operand| match (operand.as_value(), body.const_of(*operand)) {
            (Some(value), _) => Shape::of(program, body.value_ty(value)),
            (
                _,
                Some(
                    Const::Int { ty, .. }
                    | Const::Float { ty, .. }
                    | Const::Zero(ty)
                    | Const::Undef(ty)
                    | Const::Aggregate { ty, .. }
                    | Const::Opaque(ty),
                ),
            ) => Shape::of(program, *ty),
            (_, Some(Const::Null | Const::Global { .. } | Const::Func(_))) => Shape::Pointer,
            (None, None) => Shape::Any,
        };
        Signature {
            ret: Shape::of(program, ret),
            args: args.iter().map(shape).collect(),
        }
    }

    /// Can the function be called like this? C compilers pass narrow integers as they are declared.
    pub(crate) fn fits(&self, program: &Program, function: &Function) -> bool {
        let Type::Func {
            ret,
            params,
            vararg,
        } = program.types.get(function.ty)
        else {
            return false;
        };
        if function.attrs.has(FuncAttrs::NO_PROTOTYPE) {
            return true;
        }
        let count = params.len() == self.args.len() || (*vararg && params.len() <= self.args.len());
        let result = self.ret.agrees(Shape::of(program, *ret));
        count
            && result
            && params
                .iter()
                .zip(&self.args)
                .all(|(&param, arg)| arg.agrees(Shape::of(program, param)))
    }
}
