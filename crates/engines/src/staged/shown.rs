//! Question: which bytes does a function only look at, or write, whoever it hands them to?
//!
//! In a recursion of many functions, and where fuel runs out, what a function is given counts as kept by it. Most functions keep nothing of the
//! texts and buffers they get, and no path has to be followed to know: such a parameter is *shown* if no instruction stores it, frees it,
//! makes anything but another pointer or a distance of it, or hands it to somebody to whom it is not shown. Whoever returns it hands it
//! back to the caller, where it is followed on. Structures are followed as well, but nothing is told of them: what becomes of their fields
//! is not known here.
//!
//! Domain: per parameter, and for lists of arguments, whether it is taken, and
//! whether it is returned; of a list what its arguments are. Order: all are taken to be shown until an instruction says otherwise, callees
//! first; the greatest fixpoint. Cost: linear in the program, times the few rounds of its recursions. Known false negatives: parameters
//! that live in variables whose address is taken.

use drip_base::IndexVec;
use drip_flow::args_of;
use drip_models::{
    CellPath, Certainty, Class, Escape, EscapeTo, GlobalSet, Library, Offset, Outcome, Root,
    Summary, Value, ValuePath, Write,
};
use drip_pointer::{CallGraph, Callees};
use drip_program::{
    BinaryOp, Body, CallFlags, Const, DiType, FuncId, InstId, Op, Operand, Program, Type, ValueId,
};
use rustc_hash::FxHashMap;

use super::callers::Callers;
use super::calls::{function_outside, stands_for};
use super::delegates::Delegates;
use super::varargs::MAX_VARARGS;

/// What becomes of a parameter.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Fate {
    is_taken: bool,
    is_returned: bool,
}

impl Fate {
    const TAKEN: Fate = Fate {
        is_taken: true,
        is_returned: true,
    };

    fn join(&mut self, other: Fate) {
        self.is_taken |= other.is_taken;
        self.is_returned |= other.is_returned;
    }
}

/// How far a pointer is followed: itself, or, of a list of arguments, with all that it leads to.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Depth {
    Itself,
    Through,
}

/// What a parameter is declared to point to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pointee {
    Bytes,
    Anything,
    List,
    Other,
}

/// The fates of a function's parameters; the last one is what stands behind the named ones.
type Fates = Vec<Fate>;

/// Parameters that functions only look at.
#[derive(Default)]
pub(super) struct Shown {
    fates: IndexVec<FuncId, Fates>,
}

impl Shown {
    pub fn new(
        program: &Program,
        library: &Library,
        graph: &CallGraph,
        delegates: &Delegates,
        callers: &Callers<'_>,
    ) -> Shown {
        let fates = program.funcs.iter().map(|function| {
            let params = function.body.as_ref().map(Body::param_count);
            params.map_or_else(Vec::new, |count| vec![Fate::default(); count + 1])
        });
        let mut search = Search {
            program,
            library,
            graph,
            delegates,
            fates: fates.collect(),
            outside: FxHashMap::default(),
        };
        let mut is_open: IndexVec<FuncId, bool> = program.funcs.iter().map(|_| true).collect();
        let mut open: Vec<FuncId> = Vec::new();
        for component in graph.sccs.bottom_up().iter() {
            open.extend(graph.sccs.members(component));
        }
        open.reverse();
        while let Some(func) = open.pop() {
            is_open[func] = false;
            if search.judge(func) {
                for &(caller, _) in callers.of(func) {
                    if !std::mem::replace(&mut is_open[caller], true) {
                        open.push(caller);
                    }
                }
            }
        }
        Shown {
            fates: search.fates,
        }
    }

    fn is_shown(&self, func: FuncId, n: usize) -> bool {
        let fates = self.fates.get(func).filter(|fates| !fates.is_empty());
        // Of what is returned, too, nobody knows any more where it is once the result is anything.
        let fate = fates.map(|fates| fates[n.min(fates.len() - 1)]);
        fate.is_some_and(|fate| !fate.is_taken && !fate.is_returned)
    }

    /// A function of which nothing else is known yet: what it is not only shown escapes, and any global may have changed.
    pub fn anything(&self, program: &Program, func: FuncId) -> Summary {
        let args = match program.types.get(program.funcs[func].ty) {
            Type::Func { params, vararg, .. } => {
                params.len() + if *vararg { MAX_VARARGS } else { 0 }
            }
            _ => MAX_VARARGS,
        };
        let mut outcome = Outcome::returning(Value::Unknown(Class::Any));
        outcome.escapes = (0..args).map(|n| kept(ValuePath::arg(n as u16))).collect();
        let mut summary = Summary {
            outcomes: vec![outcome],
            touched: GlobalSet::All,
            ..Summary::default()
        };
        self.settle(program, func, &mut summary);
        summary
    }

    /// Takes out of a summary what nobody does to parameters that are only shown. What they lead to may be kept.
    pub fn settle(&self, program: &Program, func: FuncId, summary: &mut Summary) {
        for outcome in &mut summary.outcomes {
            let shown = |path: &ValuePath| match path.root {
                Root::Arg(n) if path.loads.is_empty() && self.is_shown(func, usize::from(n)) => {
                    let pointee = pointee(program, func, usize::from(n));
                    let is_buffer = matches!(pointee, Pointee::Bytes | Pointee::Anything);
                    is_buffer.then_some(n)
                }
                _ => None,
            };
            let freed = outcome.frees.iter().filter_map(|free| shown(&free.path));
            let escaped = outcome.escapes.iter().filter_map(|e| shown(&e.path));
            let mut args: Vec<u16> = freed.chain(escaped).collect();
            if args.is_empty() {
                continue;
            }
            args.sort_unstable();
            args.dedup();
            outcome.frees.retain(|free| shown(&free.path).is_none());
            outcome.escapes.retain(|e| shown(&e.path).is_none());
            for n in args {
                let arg = ValuePath::arg(n);
                if pointee(program, func, usize::from(n)) == Pointee::Anything {
                    outcome.escapes.push(kept(arg.clone().load(Offset::ANY)));
                }
                outcome.writes.push(Write {
                    cell: CellPath {
                        base: arg,
                        offset: Offset::ANY,
                    },
                    value: Value::Unknown(Class::Any),
                    certainty: Certainty::May,
                });
            }
            outcome.escapes.sort();
            outcome.escapes.dedup();
            outcome.writes.sort();
            outcome.writes.dedup();
        }
    }
}

fn kept(path: ValuePath) -> Escape {
    Escape {
        path,
        to: EscapeTo::Unknown,
    }
}

/// What the source says that a parameter points to.
fn pointee(program: &Program, func: FuncId, n: usize) -> Pointee {
    let declared = program.funcs[func].di_type.map(|ty| &program.di_types[ty]);
    let Some(DiType::Func { params, .. }) = declared else {
        return Pointee::Other;
    };
    let mut ty = params.get(n).copied().flatten();
    let mut is_pointer = false;
    while let Some(id) = ty {
        match &program.di_types[id] {
            DiType::Pointer { to } if !is_pointer => {
                is_pointer = true;
                ty = *to;
            }
            DiType::Typedef { of, .. } | DiType::Const(of) | DiType::Qualified(of) => ty = *of,
            DiType::Struct { name, .. } if is_pointer => {
                let name = name.map(|name| program.strings.get(name));
                return match name {
                    Some("__va_list_tag") => Pointee::List,
                    _ => Pointee::Other,
                };
            }
            DiType::Base { .. } if is_pointer => return Pointee::Bytes,
            _ => return Pointee::Other,
        }
    }
    match is_pointer {
        true => Pointee::Anything,
        false => Pointee::Other,
    }
}

struct Search<'a> {
    program: &'a Program,
    library: &'a Library,
    graph: &'a CallGraph,
    delegates: &'a Delegates,
    fates: IndexVec<FuncId, Fates>,
    /// Of functions that are known by a model or not at all.
    outside: FxHashMap<(FuncId, usize, Depth), Fate>,
}

impl Search<'_> {
    /// Looks at a function's parameters anew; whether anything is known now that was not before.
    fn judge(&mut self, func: FuncId) -> bool {
        let program = self.program;
        let Some(body) = &program.funcs[func].body else {
            return false;
        };
        let count = body.param_count();
        let lists = lists(program, body);
        let fates = &self.fates[func];
        let mut followed: Vec<(usize, Vec<ValueId>, Depth)> = Vec::new();
        let mut is_changed = false;
        for n in (0..count).filter(|&n| !fates[n].is_taken) {
            let root = vec![body.param(n)];
            if program.types.is_ptr(body.params[n]) {
                let depth = match pointee(program, func, n) {
                    Pointee::List => Depth::Through,
                    _ => Depth::Itself,
                };
                followed.push((n, root, depth));
            }
        }
        if !lists.is_empty() && !fates[count].is_taken {
            followed.push((count, lists, Depth::Through));
        }
        let others = (0..count).filter(|&n| followed.iter().all(|followed| followed.0 != n));
        for n in others.collect::<Vec<_>>() {
            is_changed |= !self.fates[func][n].is_taken;
            self.fates[func][n] = Fate::TAKEN;
        }
        if followed.is_empty() {
            return is_changed;
        }
        let users = Users::new(body);
        for (n, roots, depth) in followed {
            let fate = self.follow(func, body, &users, &roots, depth);
            let known = &mut self.fates[func][n];
            let before = *known;
            known.join(fate);
            is_changed |= *known != before;
        }
        is_changed
    }

    /// What becomes of these values, and of all that is made of them.
    fn follow(
        &mut self,
        func: FuncId,
        body: &Body,
        users: &Users,
        roots: &[ValueId],
        depth: Depth,
    ) -> Fate {
        let mut fate = Fate::default();
        let mut seen = vec![false; body.value_count()];
        let mut open: Vec<ValueId> = Vec::new();
        for &root in roots {
            seen[root.index()] = true;
            open.push(root);
        }
        while let Some(value) = open.pop() {
            for &user in users.of(value) {
                let is_it = |operand: Operand| operand.as_value() == Some(value);
                let is_derived = match body.insts[user].op {
                    Op::Cmp { .. } | Op::Bind { .. } | Op::MemSet { .. } => false,
                    Op::Load { .. } | Op::VaArg { .. } => {
                        let ty = program_type(self.program, body, user);
                        depth == Depth::Through && !matches!(ty, Type::Int(_))
                    }
                    Op::Store { value: stored, .. } if !is_it(stored) => false,
                    Op::MemCopy { src, .. } if depth == Depth::Itself || !is_it(src) => false,
                    Op::PtrAdd { base, .. } => is_it(base),
                    // A distance is no pointer; alignment is looked at and made so.
                    Op::Binary {
                        op: BinaryOp::Sub, ..
                    } => false,
                    Op::Binary { .. }
                    | Op::Cast { .. }
                    | Op::Phi { .. }
                    | Op::Select { .. }
                    | Op::ExtractValue { .. }
                    | Op::InsertValue { .. } => true,
                    Op::AtomicRmw { value: put, .. } if !is_it(put) => depth == Depth::Through,
                    Op::CmpXchg { new, .. } if !is_it(new) => depth == Depth::Through,
                    Op::Ret { .. } => {
                        fate.is_returned = true;
                        false
                    }
                    Op::Call { .. } | Op::Invoke { .. } => {
                        let given = self.given(func, body, user, value, depth);
                        if given.is_taken {
                            return Fate::TAKEN;
                        }
                        given.is_returned
                    }
                    _ => return Fate::TAKEN,
                };
                let result = body.result(user);
                if is_derived && !std::mem::replace(&mut seen[result.index()], true) {
                    open.push(result);
                }
            }
        }
        fate
    }

    /// What becomes of a value in a call that gets it.
    fn given(
        &mut self,
        func: FuncId,
        body: &Body,
        call: InstId,
        value: ValueId,
        depth: Depth,
    ) -> Fate {
        let (Op::Call { flags, .. } | Op::Invoke { flags, .. }) = body.insts[call].op else {
            return Fate::TAKEN;
        };
        if flags.has(CallFlags::ASM) {
            return Fate::TAKEN;
        }
        if flags.has(CallFlags::NORETURN) {
            return Fate::default();
        }
        let graph = self.graph;
        let (targets, aside) = match graph.callees(func, call) {
            Callees::Known(targets) => (targets.as_slice(), None),
            Callees::Aside(target) => (&[][..], Some(*target)),
            Callees::Ends => return Fate::default(),
            Callees::Unknown => return Fate::TAKEN,
        };
        if graph.thread(func, call).is_some() {
            return Fate::TAKEN;
        }
        let mut fate = Fate::default();
        for (n, arg) in args_of(body, call).iter().enumerate() {
            if arg.as_value() == Some(value) {
                for target in targets.iter().copied().chain(aside) {
                    fate.join(self.argument(target, n, depth));
                }
            }
        }
        fate
    }

    /// What becomes of an argument of a function.
    fn argument(&mut self, func: FuncId, n: usize, depth: Depth) -> Fate {
        let program = self.program;
        let is_modelled = || stands_for(program, self.library, self.delegates, func).is_some();
        if program.funcs[func].body.is_some() && !is_modelled() {
            let fates = &self.fates[func];
            let is_named = n + 1 < fates.len();
            return match program.types.get(program.funcs[func].ty) {
                _ if is_named => fates[n],
                Type::Func { vararg: true, .. } => fates[fates.len() - 1],
                _ => Fate::TAKEN,
            };
        }
        let (library, delegates) = (self.library, self.delegates);
        let outside = self.outside.entry((func, n, depth));
        *outside.or_insert_with(|| {
            let model = stands_for(program, library, delegates, func);
            let summary = match model {
                Some(model) => std::sync::Arc::clone(model),
                None => function_outside(program, library, delegates, func).0,
            };
            fate_of(&summary, n, depth)
        })
    }
}

/// What a summary says of an argument.
fn fate_of(summary: &Summary, n: usize, depth: Depth) -> Fate {
    let is_it = |path: &ValuePath| {
        path.root == Root::Arg(n as u16) && (depth == Depth::Through || path.loads.is_empty())
    };
    let is_value = |value: &Value| matches!(value, Value::Entry { path, .. } if is_it(path));
    let mut fate = Fate::default();
    for outcome in &summary.outcomes {
        fate.is_taken |= outcome.frees.iter().any(|free| is_it(&free.path))
            || outcome.escapes.iter().any(|escape| is_it(&escape.path))
            || outcome.writes.iter().any(|write| is_value(&write.value))
            || outcome.copies.iter().any(|copy| is_it(&copy.from));
        fate.is_returned |= is_value(&outcome.ret);
    }
    fate
}

fn program_type<'p>(program: &'p Program, body: &Body, inst: InstId) -> &'p Type {
    program.types.get(body.insts[inst].ty)
}

/// The lists that `va_start` begins, and copies of such.
fn lists(program: &Program, body: &Body) -> Vec<ValueId> {
    let mut found = Vec::new();
    for (inst, data) in body.insts.iter_enumerated() {
        if let Op::Call { callee, .. } = data.op
            && let Some(&Const::Func(func)) = body.const_of(callee)
            && let name = program.func_name(func)
            && (name.starts_with("llvm.va_start") || name.starts_with("llvm.va_copy"))
            && let Some(list) = args_of(body, inst).first()
        {
            found.extend(base(body, *list));
        }
    }
    found
}

fn base(body: &Body, operand: Operand) -> Option<ValueId> {
    let value = operand.as_value()?;
    match body.def(value).map(|inst| body.insts[inst].op) {
        Some(Op::PtrAdd { base: from, .. }) => base(body, from),
        Some(Op::Cast { value, .. }) => base(body, value),
        _ => Some(value),
    }
}

/// The instructions that use each value.
struct Users {
    starts: Vec<u32>,
    insts: Vec<InstId>,
}

impl Users {
    fn new(body: &Body) -> Users {
        let mut starts = vec![0u32; body.value_count() + 1];
        for inst in body.insts.ids() {
            body.for_each_operand(inst, |operand| {
                if let Some(value) = operand.as_value() {
                    starts[value.index() + 1] += 1;
                }
            });
        }
        for n in 1..starts.len() {
            starts[n] += starts[n - 1];
        }
        let mut next = starts.clone();
        let count = starts.last().map_or(0, |&count| count as usize);
        let mut insts = vec![InstId::from_u32(0); count];
        for inst in body.insts.ids() {
            body.for_each_operand(inst, |operand| {
                if let Some(value) = operand.as_value() {
                    let at = &mut next[value.index()];
                    insts[*at as usize] = inst;
                    *at += 1;
                }
            });
        }
        Users { starts, insts }
    }

    fn of(&self, value: ValueId) -> &[InstId] {
        let [from, to] = [0, 1].map(|n| self.starts[value.index() + n] as usize);
        &self.insts[from..to]
    }
}
