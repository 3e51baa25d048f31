//! The terms of a function's values, made in reverse post-order.

use drip_cond::{FnKey, Sort, TermId};
use drip_memssa::{MemSsa, VersionId};
use drip_models::{Offset, Root, Summary, Value as SummaryValue};
use drip_pointer::local::CallTable;
use drip_pointer::{CellId, Loc, LocalMemory, Memory, ObjKind};
use drip_program::{
    BinaryOp, BlockId, Body, CastOp, Cfg, CmpPred, Const, InstId, Op, Operand, Program, Type,
    TypeId, ValueId,
};
use smallvec::SmallVec;

use super::{Context, FnName, Symbol, Values, address_key};
use crate::arithmetic::{self, sort_of};
use crate::error_number::{as_error_number, reads_error_number};
use crate::forward::stored_just_before;
use crate::frame::region;
use crate::memory::own_cells;

/// Gives every constant, parameter and instruction its term.
pub(super) fn named(context: Context<'_>, out: Values) -> Values {
    let Context {
        program,
        body,
        local,
        memssa,
        cfg,
        calls,
        ..
    } = context;
    let mut builder = Builder {
        program,
        body,
        cfg,
        calls,
        local,
        memssa,
        context,
        out,
    };
    builder.constants();
    for index in 0..body.param_count() {
        builder.symbol_for(body.param(index), BlockId::new(0));
    }
    for &block in cfg.rpo().order() {
        for inst in body.block_insts(block) {
            builder.visit(block, inst);
        }
    }
    builder.out
}

/// Context while terms are made.
struct Builder<'b> {
    program: &'b Program,
    body: &'b Body,
    cfg: &'b Cfg,
    calls: &'b CallTable,
    local: &'b LocalMemory,
    memssa: &'b MemSsa,
    context: Context<'b>,
    out: Values,
}

impl Builder<'_> {
    fn constants(&mut self) {
        for (id, constant) in self.body.consts.iter_enumerated() {
            let term = match *constant {
                Const::Int { ty, bits } => match sort_of(self.program, ty) {
                    Sort::Bool => self.out.terms.bool(bits & 1 == 1),
                    Sort::Bits(width) => self.out.terms.int(width, bits),
                },
                Const::Null => self.out.terms.int(64, 0),
                Const::Zero(ty) => match sort_of(self.program, ty) {
                    Sort::Bool => self.out.terms.bool(false),
                    Sort::Bits(width) => self.out.terms.int(width, 0),
                },
                Const::Global { global, offset } => {
                    match self.local.memory.find_object(ObjKind::Global(global)) {
                        Some(obj) => self.address(obj, offset),
                        None => self.opaque(64),
                    }
                }
                Const::Func(func) => match self.local.memory.find_object(ObjKind::Func(func)) {
                    Some(obj) => self.address(obj, 0),
                    None => self.opaque(64),
                },
                Const::Float { bits, .. } => self.out.terms.int(64, bits),
                Const::Undef(ty) | Const::Opaque(ty) | Const::Aggregate { ty, .. } => {
                    let sort = sort_of(self.program, ty);
                    self.out.fresh_symbol(sort)
                }
            };
            self.out.of_const[id] = term;
        }
    }

    fn opaque(&mut self, width: u32) -> TermId {
        self.out.fresh_symbol(Sort::Bits(width))
    }

    fn address(&mut self, obj: drip_pointer::ObjId, offset: i64) -> TermId {
        let base = self.out.terms.addr(address_key(obj));
        let offset = self.out.terms.int(64, offset as u64);
        self.out.terms.add(base, offset)
    }

    fn symbol_for(&mut self, value: ValueId, home: BlockId) -> TermId {
        let sort = sort_of(self.program, self.body.value_ty(value));
        let term = self.out.named(Symbol::Value(value), sort, home);
        self.out.of_value[value] = term;
        term
    }

    fn function(&mut self, name: FnName) -> FnKey {
        let next = FnKey(self.out.functions.len() as u32);
        *self.out.functions.entry(name).or_insert(next)
    }

    fn visit(&mut self, block: BlockId, inst: InstId) {
        let result = self.body.result(inst);
        let data = &self.body.insts[inst];
        let term = match data.op {
            Op::Alloca { .. } => self
                .local
                .memory
                .find_object(ObjKind::Stack(inst))
                .map(|obj| self.address(obj, 0)),
            Op::Load { addr } => {
                let loaded = self
                    .forwarded(block, inst, addr, data.ty)
                    .unwrap_or_else(|| self.load(inst, addr, data.ty));
                Some(match reads_error_number(self.program, self.body, addr) {
                    true => as_error_number(&mut self.out.terms, loaded),
                    false => loaded,
                })
            }
            Op::PtrAdd {
                base,
                offset,
                indices,
            } => Some(self.pointer_sum(base, offset, indices)),
            Op::Cast { op, value } => Some(self.cast(op, value, data.ty)),
            Op::Binary { op, a, b } => self.binary(op, a, b),
            Op::Cmp { pred, a, b } => Some(match self.context.handlers.answer(inst) {
                Some(answer) => self.out.terms.bool(answer),
                None => self.compare(pred, a, b),
            }),
            Op::Select { cond, then, els } => {
                let (c, a, b) = (self.out.term(cond), self.out.term(then), self.out.term(els));
                (self.out.terms.sort(c) == Sort::Bool
                    && self.out.terms.sort(a) == self.out.terms.sort(b))
                .then(|| self.out.terms.ite(c, a, b))
            }
            Op::Phi { incoming } => self.merged(block, incoming),
            Op::ExtractValue { agg, path } => self.extracted(agg, self.body.indices(path)),
            Op::Call { callee, args, .. } | Op::Invoke { callee, args, .. } => {
                self.call_result(inst, callee, self.body.list(args), data.ty)
            }
            _ => None,
        };
        match term {
            Some(term) => self.out.of_value[result] = term,
            None => {
                self.symbol_for(result, block);
            }
        }
    }

    /// What was stored right before, read back as it was written.
    fn forwarded(
        &mut self,
        block: BlockId,
        inst: InstId,
        addr: Operand,
        ty: TypeId,
    ) -> Option<TermId> {
        let stored = stored_just_before(self.body, block, inst, addr)?;
        let term = self.out.term(stored);
        (self.out.terms.sort(term) == sort_of(self.program, ty)).then_some(term)
    }

    /// A φ whose inputs are all one term is that term.
    fn merged(&mut self, block: BlockId, incoming: drip_program::PoolRange) -> Option<TermId> {
        let mut same: Option<TermId> = None;
        for entry in self.body.incoming(incoming) {
            // An input from a later block is not known yet: a loop's φ is a symbol.
            if self.cfg.rpo().is_retreating(entry.block, block) {
                return None;
            }
            let term = self.out.term(entry.value);
            match same {
                None => same = Some(term),
                Some(first) if first == term => {}
                Some(_) => return None,
            }
        }
        same
    }

    fn extracted(&mut self, agg: Operand, path: &[u32]) -> Option<TermId> {
        let mut agg = agg;
        // Chains of insertvalue are short: one per field.
        for _ in 0..64 {
            let inst = self.body.def(agg.as_value()?)?;
            let Op::InsertValue {
                agg: below,
                value,
                path: set,
            } = self.body.insts[inst].op
            else {
                return None;
            };
            if self.body.indices(set) == path {
                return Some(self.out.term(value));
            }
            agg = below;
        }
        None
    }

    fn load(&mut self, inst: InstId, addr: Operand, ty: TypeId) -> TermId {
        let sort = sort_of(self.program, ty);
        if let [loc] = *self.local.targets(addr)
            && let Some(cell) = self.exact_cell(loc)
            && let Some(version) = self.memssa.used(inst, region(cell))
        {
            return self
                .out
                .version(&self.context, version, sort, self.program.types.size_of(ty));
        }
        // Several cells, an unknown index, or memory out of sight: a function of the address in this memory state.
        let mut versions: SmallVec<[VersionId; 4]> = SmallVec::new();
        let targets: SmallVec<[Loc; 4]> = self.local.targets(addr).iter().copied().collect();
        for loc in targets {
            for cell in self.local.memory.overlapping(loc) {
                versions.extend(self.memssa.used(inst, region(cell)));
            }
        }
        let world = self.local.memory.find_cell(Loc {
            obj: Memory::WORLD,
            off: Offset::ANY,
        });
        versions.extend(world.and_then(|cell| self.memssa.used(inst, region(cell))));
        versions.sort_unstable();
        versions.dedup();
        let key = self.function(FnName::Memory(sort.width()));
        let mut args: SmallVec<[TermId; 4]> = SmallVec::from_slice(&[self.out.term(addr)]);
        for version in versions {
            args.push(self.version_symbol(version, 0, Sort::Bits(64)));
        }
        self.out.terms.app(key, &args, sort)
    }

    fn version_symbol(&mut self, version: VersionId, width: u32, sort: Sort) -> TermId {
        self.out.version_symbol(&self.context, version, width, sort)
    }

    fn exact_cell(&self, loc: Loc) -> Option<CellId> {
        let cell = self.local.memory.find_cell(loc)?;
        (self.local.memory.is_strong(cell) && self.local.memory.cells[cell].off == loc.off)
            .then_some(cell)
    }

    fn pointer_sum(
        &mut self,
        base: Operand,
        offset: i64,
        indices: drip_program::PoolRange,
    ) -> TermId {
        let mut sum = self.out.term(base);
        if self.out.terms.sort(sum) != Sort::Bits(64) {
            return self.opaque(64);
        }
        let constant = self.out.terms.int(64, offset as u64);
        sum = self.out.terms.add(sum, constant);
        for scaled in self.body.scaled(indices) {
            let index = self.out.term(scaled.index);
            let index = arithmetic::widened(&mut self.out.terms, index, 64, true);
            let scale = self.out.terms.int(64, scaled.scale as u64);
            let product = self.out.terms.mul(index, scale);
            sum = self.out.terms.add(sum, product);
        }
        sum
    }

    fn cast(&mut self, op: CastOp, value: Operand, ty: TypeId) -> TermId {
        let term = self.out.term(value);
        let sort = sort_of(self.program, ty);
        match arithmetic::cast(&mut self.out.terms, op, term, sort) {
            Some(term) => term,
            None => {
                let key = self.function(FnName::Cast(op));
                self.out.terms.app(key, &[term], sort)
            }
        }
    }

    fn binary(&mut self, op: BinaryOp, a: Operand, b: Operand) -> Option<TermId> {
        let (x, y) = (self.out.term(a), self.out.term(b));
        let sort = self.out.terms.sort(x);
        match op {
            BinaryOp::FAdd | BinaryOp::FSub | BinaryOp::FMul | BinaryOp::FDiv | BinaryOp::FRem
                if sort == self.out.terms.sort(y) && sort != Sort::Bool =>
            {
                let key = self.function(FnName::FloatOp(op));
                Some(self.out.terms.app(key, &[x, y], sort))
            }
            _ => arithmetic::binary(&mut self.out.terms, op, x, y),
        }
    }

    /// Is it a parameter that is never null?
    fn is_granted(&self, operand: Operand) -> bool {
        let granted = self.context.known.granted;
        let value = operand.as_value();
        value.is_some_and(|value| granted.is_some_and(|granted| granted.contains(value)))
    }

    fn compare(&mut self, pred: CmpPred, a: Operand, b: Operand) -> TermId {
        let (x, y) = (self.out.term(a), self.out.term(b));
        if self.out.terms.sort(x) != self.out.terms.sort(y) {
            return self.out.fresh_symbol(Sort::Bool);
        }
        if let CmpPred::Eq | CmpPred::Ne = pred
            && (self.is_granted(a) && self.out.terms.as_int(y) == Some(0)
                || self.is_granted(b) && self.out.terms.as_int(x) == Some(0))
        {
            return self.out.terms.bool(pred == CmpPred::Ne);
        }
        match (pred, arithmetic::compare(&mut self.out.terms, pred, x, y)) {
            (_, Some(term)) => term,
            (CmpPred::Float(number), None) => {
                let key = self.function(FnName::FloatCmp(number));
                self.out.terms.app(key, &[x, y], Sort::Bool)
            }
            (_, None) => self.out.fresh_symbol(Sort::Bool),
        }
    }

    /// Calls that always return one constant are that constant; pure ones are functions of arguments and memory.
    fn call_result(
        &mut self,
        inst: InstId,
        callee: Operand,
        args: &[Operand],
        ty: TypeId,
    ) -> Option<TermId> {
        let summary = self.calls.get(&inst)?;
        let sort = sort_of(self.program, ty);
        let first = summary.outcomes.first()?;
        if let (SummaryValue::Int(value), Sort::Bits(width)) = (&first.ret, sort)
            && summary.outcomes.iter().all(|o| o.ret == first.ret)
        {
            return Some(self.out.terms.int(width, *value as u64));
        }
        // A function that gives its argument back.
        if let SummaryValue::Entry { path, plus } = &first.ret
            && let (Root::Arg(n), true) = (path.root, path.loads.is_empty() && plus.is_exact())
            && summary.outcomes.iter().all(|o| o.ret == first.ret)
            && let Some(&arg) = args.get(usize::from(n))
        {
            let term = self.out.term(arg);
            if self.out.terms.sort(term) == sort
                && let Sort::Bits(width) = sort
            {
                let delta = self.out.terms.int(width, plus.base as u64);
                return Some(self.out.terms.add(term, delta));
            }
        }
        if let Some(found) = self.found_by_call(inst, summary, args, ty) {
            return Some(found);
        }
        if !summary.pure || matches!(self.program.types.get(ty), Type::Void) {
            return None;
        }
        let world = self.local.memory.find_cell(Loc {
            obj: Memory::WORLD,
            off: Offset::ANY,
        });
        let key = self.function(FnName::Pure(callee));
        let mut terms: SmallVec<[TermId; 4]> = args.iter().map(|&arg| self.out.term(arg)).collect();
        if let Some(version) = world.and_then(|cell| self.memssa.used(inst, region(cell))) {
            terms.push(self.version_symbol(version, 0, Sort::Bits(64)));
        }
        let targets: Vec<Loc> = args
            .iter()
            .flat_map(|&arg| self.local.targets(arg))
            .copied()
            .collect();
        for cell in own_cells(self.local, &self.local.reachable(&targets)) {
            if let Some(version) = self.memssa.used(inst, region(cell)) {
                terms.push(self.version_symbol(version, 0, Sort::Bits(64)));
            }
        }
        Some(self.out.terms.app(key, &terms, sort))
    }

    /// What a function reads for its caller (`return s->name;`): what the field held when it was called.
    fn found_by_call(
        &mut self,
        inst: InstId,
        summary: &Summary,
        args: &[Operand],
        ty: TypeId,
    ) -> Option<TermId> {
        let first = &summary.outcomes.first()?.ret;
        let SummaryValue::Entry { path, plus } = first else {
            return None;
        };
        let (Root::Arg(n), [load]) = (path.root, &path.loads[..]) else {
            return None;
        };
        let is_same = summary.outcomes.iter().all(|o| o.ret == *first);
        let is_plain = *plus == Offset::exact(0) && load.is_exact() && is_same;
        let [loc] = *self.local.targets(*args.get(usize::from(n))?) else {
            return None;
        };
        let place = Loc {
            obj: loc.obj,
            off: loc.off.plus(*load),
        };
        let cell = self.exact_cell(place).filter(|_| is_plain)?;
        let version = self.memssa.used(inst, region(cell))?;
        let (sort, size) = (sort_of(self.program, ty), self.program.types.size_of(ty));
        Some(self.out.version(&self.context, version, sort, size))
    }
}
