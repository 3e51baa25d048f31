//! Random bodies in SSA form by construction: first the control flow, then its dominators, then instructions that use only
//! what dominates them, last the entries of phis.

use drip_base::{Dominators, Graph};

use crate::body::*;
use crate::builder::BodyBuilder;
use crate::ids::*;
use crate::model::Program;
use crate::syntax::{BINARY, RMW};
use crate::types::Type;

use super::random_items::Universe;
use super::{Choices, Shape};

/// A function that bodies can call.
struct Callee {
    id: FuncId,
    ret: TypeId,
    params: Vec<TypeId>,
}

/// How a block ends; the operands come later.
enum End {
    Ret,
    Unreachable,
    Br(BlockId),
    CondBr(BlockId, BlockId),
    Switch(BlockId, Vec<BlockId>),
    IndirectBr(Vec<BlockId>),
    CallBr(BlockId, Vec<BlockId>),
    Invoke(BlockId, BlockId),
    Resume,
}

impl End {
    fn targets(&self) -> Vec<BlockId> {
        match self {
            End::Ret | End::Unreachable | End::Resume => Vec::new(),
            End::Br(target) => vec![*target],
            End::CondBr(a, b) | End::Invoke(a, b) => vec![*a, *b],
            End::Switch(first, rest) | End::CallBr(first, rest) => {
                [&[*first], rest.as_slice()].concat()
            }
            End::IndirectBr(targets) => targets.clone(),
        }
    }
}

pub fn random_body(
    c: &mut Choices<'_>,
    program: &mut Program,
    universe: &Universe,
    shape: &Shape,
    func: FuncId,
) -> Body {
    let (ret, params) = match program.types.get(program.funcs[func].ty) {
        Type::Func { ret, params, .. } => (*ret, params.to_vec()),
        _ => (universe.void, Vec::new()),
    };
    let blocks = 1 + c.below(shape.blocks.max(1));
    let ends = match shape.wild_flow {
        true => wild_flow(c, blocks, shape.exotic),
        false => reducible_flow(c, blocks),
    };
    let graph = Graph::from_fn(blocks, |block: BlockId, row: &mut Vec<BlockId>| {
        row.extend(ends[block.index()].targets());
    });
    let preds = graph.reversed();
    let mut body = Generator {
        c,
        program,
        universe,
        shape,
        ret,
        callees: Vec::new(),
        dominators: Dominators::compute(&graph, &preds, BlockId::new(0)),
        preds,
        defs: vec![Vec::new(); blocks],
        b: BodyBuilder::new(params),
        vars: 0,
    };
    body.run(&ends)
}

/// Any edges, but none to the entry.
fn wild_flow(c: &mut Choices<'_>, blocks: usize, exotic: bool) -> Vec<End> {
    let kinds = if exotic { 9 } else { 5 };
    let end = |_| {
        let targets = blocks - 1;
        if targets == 0 {
            return match c.chance(20) {
                true => End::Unreachable,
                false => End::Ret,
            };
        }
        let mut target = || BlockId::new(1 + c.below(targets));
        let (first, second) = (target(), target());
        let more = vec![target(), first, second];
        match c.below(kinds) {
            0 => End::Ret,
            1 => End::Br(first),
            2 => End::CondBr(first, second),
            3 => End::Switch(first, more),
            4 => End::Unreachable,
            5 => End::Invoke(first, second),
            6 => End::IndirectBr(more),
            7 => End::CallBr(first, vec![second]),
            _ => End::Resume,
        }
    };
    (0..blocks).map(end).collect()
}

/// Everything is reachable along forward edges; edges back go to a dominator.
fn reducible_flow(c: &mut Choices<'_>, blocks: usize) -> Vec<End> {
    let mut ends = Vec::with_capacity(blocks);
    // Immediate dominators along forward edges, known once all lower blocks have their ends.
    let mut idom: Vec<Option<usize>> = vec![None; blocks];
    for block in 0..blocks {
        let is_last = block + 1 == blocks;
        let may_end = is_last || idom[block + 1].is_some();
        if is_last || (may_end && c.chance(30)) {
            ends.push(End::Ret);
            continue;
        }
        let forward = block + 1 + c.below(blocks - block - 1);
        let next = if may_end { forward } else { block + 1 };
        let end = match c.below(4) {
            0 => End::Br(BlockId::new(next)),
            1 => End::CondBr(BlockId::new(next), BlockId::new(forward)),
            2 => End::Switch(BlockId::new(next), vec![BlockId::new(forward); c.below(3)]),
            _ => match dominator_above(&idom, block, c.below(4)) {
                0 => End::Br(BlockId::new(next)),
                header => End::CondBr(BlockId::new(header), BlockId::new(next)),
            },
        };
        for target in end.targets().into_iter().map(BlockId::index) {
            if target > block {
                idom[target] = Some(match idom[target] {
                    None => block,
                    Some(other) => common_dominator(&idom, other, block),
                });
            }
        }
        ends.push(end);
    }
    ends
}

fn dominator_above(idom: &[Option<usize>], mut block: usize, steps: usize) -> usize {
    for _ in 0..steps {
        block = idom[block].unwrap_or(block);
    }
    block
}

fn common_dominator(idom: &[Option<usize>], mut a: usize, mut b: usize) -> usize {
    // A dominator has a lower number than what it dominates.
    while a != b {
        if a > b {
            a = idom[a].unwrap_or(0);
        } else {
            b = idom[b].unwrap_or(0);
        }
    }
    a
}

struct Generator<'g, 'c> {
    c: &'g mut Choices<'c>,
    program: &'g mut Program,
    universe: &'g Universe,
    shape: &'g Shape,
    ret: TypeId,
    callees: Vec<Callee>,
    dominators: Dominators<BlockId>,
    preds: Graph<BlockId>,
    /// Values that each block makes, so far.
    defs: Vec<Vec<(Operand, TypeId)>>,
    b: BodyBuilder,
    vars: usize,
}

impl Generator<'_, '_> {
    fn run(&mut self, ends: &[End]) -> Body {
        let blocks: Vec<BlockId> = ends.iter().map(|_| self.b.block()).collect();
        self.find_callees();
        self.entry();
        // Dominators first, so that what they define can be used.
        let mut order = self.dominators.preorder().to_vec();
        order.extend(blocks.iter().filter(|&&b| !self.dominators.is_reachable(b)));
        let mut phis = Vec::new();
        for &block in &order {
            self.phis(block, &mut phis);
            for _ in 0..self.c.below(self.shape.insts + 1) {
                self.random_loc();
                self.inst(block);
            }
            self.end(block, &ends[block.index()]);
        }
        for (block, phi, ty) in phis {
            let preds = self.preds.succs(block).to_vec();
            let mut last: Option<(BlockId, Operand)> = None;
            for pred in preds {
                // Parallel edges are neighbours and carry the same value.
                let value = match last {
                    Some((block, value)) if block == pred => value,
                    _ => self.value(pred, ty),
                };
                last = Some((pred, value));
                self.b.add_incoming(phi, pred, value);
            }
        }
        std::mem::take(&mut self.b).finish()
    }

    fn find_callees(&mut self) {
        for (id, function) in self.program.funcs.iter_enumerated() {
            if let Type::Func { ret, params, .. } = self.program.types.get(function.ty) {
                self.callees.push(Callee {
                    id,
                    ret: *ret,
                    params: params.to_vec(),
                });
            }
        }
    }

    /// Variables, and their unknown first values.
    fn entry(&mut self) {
        self.vars = self.c.below(4);
        for number in 0..self.vars {
            let name = self.program.strings.intern(&format!("var{number}"));
            let di_types = self.program.di_types.len();
            let var = self.b.var(Var {
                name,
                ty: (di_types > 0 && self.c.chance(50))
                    .then(|| DiTypeId::new(self.c.below(di_types))),
                param: self.c.chance(30).then(|| u32::from(self.c.byte() % 4)),
                line: u32::from(self.c.byte()),
            });
            if self.c.chance(60) {
                let ty = self.any_type();
                let var = (!self.c.chance(10)).then_some(var);
                self.def(BlockId::new(0), Op::Uninit { var }, ty);
            }
        }
    }

    fn any_type(&mut self) -> TypeId {
        let types = self.universe.value_types(self.shape.exotic);
        self.c.pick(&types)
    }

    fn random_loc(&mut self) {
        let mut outer = None;
        for _ in 0..self.c.below(3) {
            let loc = Loc {
                file: FileId::new(self.c.below(self.program.files.len())),
                line: u32::from(self.c.byte()),
                column: u32::from(self.c.byte()),
                inlined_at: outer,
            };
            outer = Some(self.b.loc(loc));
        }
        self.b.set_loc(outer);
    }

    fn phis(&mut self, block: BlockId, phis: &mut Vec<(BlockId, Operand, TypeId)>) {
        if self.preds.succs(block).is_empty() {
            return;
        }
        for _ in 0..self.c.below(3) {
            let ty = self.any_type();
            let phi = self.b.phi(block, ty);
            self.defs[block.index()].push((phi, ty));
            phis.push((block, phi, ty));
        }
    }

    /// An instruction with a result that later ones may use.
    fn def(&mut self, block: BlockId, op: Op, ty: TypeId) -> Operand {
        let value = self.b.push(block, op, ty);
        self.defs[block.index()].push((value, ty));
        value
    }

    fn effect(&mut self, block: BlockId, op: Op) {
        self.b.push(block, op, self.universe.void);
    }

    /// A value of the type that is available at the end of the block as far as it is made.
    fn value(&mut self, block: BlockId, ty: TypeId) -> Operand {
        let mut found = Vec::new();
        let mut at = Some(block);
        while let Some(here) = at {
            found.extend(
                self.defs[here.index()]
                    .iter()
                    .filter(|(_, t)| *t == ty)
                    .map(|(v, _)| *v),
            );
            at = self.dominators.idom(here);
        }
        for (index, &param) in self.params().iter().enumerate() {
            if param == ty {
                found.push(self.b.param(index));
            }
        }
        if found.is_empty() || self.c.chance(20) {
            return self.constant(ty);
        }
        self.c.pick(&found)
    }

    fn params(&self) -> Vec<TypeId> {
        self.b.param_types().to_vec()
    }

    fn constant(&mut self, ty: TypeId) -> Operand {
        let constant = match self.program.types.get(ty) {
            Type::Int(width) => {
                let bits = [0, 1, 2, 16, u64::MAX, 1 << 31];
                Const::Int {
                    ty,
                    bits: self.c.pick(&bits) & (u64::MAX >> (64 - width.clamp(&1, &64))),
                }
            }
            Type::Float(_) => Const::Float {
                ty,
                bits: f64::from(self.c.byte()).to_bits(),
            },
            Type::Ptr => self.address(),
            _ => self.aggregate(ty),
        };
        match self.shape.exotic && self.c.chance(10) {
            true => self.b.constant(Const::Opaque(ty)),
            false => self.b.constant(constant),
        }
    }

    fn address(&mut self) -> Const {
        let globals = self.program.globals.len();
        match self.c.below(4) {
            1 if globals > 0 => Const::Global {
                global: GlobalId::new(self.c.below(globals)),
                offset: self.c.below(3) as i64 * 8 - 8,
            },
            2 => Const::Func(FuncId::new(self.c.below(self.program.funcs.len()))),
            _ => Const::Null,
        }
    }

    fn aggregate(&mut self, ty: TypeId) -> Const {
        let elems: Vec<TypeId> = match self.program.types.get(ty) {
            Type::Struct(layout) => layout.fields.iter().map(|&(field, _)| field).collect(),
            Type::Array { elem, len } | Type::Vector { elem, len } => vec![*elem; *len as usize],
            _ => return Const::Undef(ty),
        };
        match self.c.below(3) {
            0 => Const::Zero(ty),
            1 => Const::Undef(ty),
            _ => Const::Aggregate {
                ty,
                elems: elems
                    .iter()
                    .filter_map(|&elem| self.constant(elem).as_const())
                    .collect(),
            },
        }
    }

    fn inst(&mut self, block: BlockId) {
        let Universe {
            i1,
            i8,
            i32,
            i64,
            ptr,
            ..
        } = *self.universe;
        let kinds = if self.shape.exotic { 24 } else { 14 };
        match self.c.below(kinds) {
            // The first is what bytes that run out choose.
            0 | 1 => self.call(block),
            2 => {
                let (elem, count) = (self.any_type(), self.c.pick(&[1, 1, 8]));
                let count = self.b.constant(Const::Int {
                    ty: i32,
                    bits: count,
                });
                let var = self.random_var();
                self.def(block, Op::Alloca { elem, count, var }, ptr);
            }
            3 | 4 => {
                let ty = self.any_type();
                let addr = self.value(block, ptr);
                self.def(block, Op::Load { addr }, ty);
            }
            5 | 6 => {
                let ty = self.any_type();
                let (addr, value) = (self.value(block, ptr), self.value(block, ty));
                self.effect(block, Op::Store { addr, value });
            }
            7 => {
                let base = self.value(block, ptr);
                let offset = self.c.below(5) as i64 * 8 - 8;
                let scaled: Vec<Scaled> = (0..self.c.below(3))
                    .map(|_| Scaled {
                        index: self.value(block, i32),
                        scale: self.c.below(4) as i64 * 4 - 4,
                    })
                    .collect();
                let indices = self.b.scaled(&scaled);
                self.def(
                    block,
                    Op::PtrAdd {
                        base,
                        offset,
                        indices,
                    },
                    ptr,
                );
            }
            8 => {
                let ty = self.c.pick(&[i32, i64, i8]);
                let (a, b) = (self.value(block, ty), self.value(block, ty));
                // Floating point operations stand at the end of the table.
                let op = self.c.pick(&BINARY[..13]).1;
                self.def(block, Op::Binary { op, a, b }, ty);
            }
            9 => {
                let (ty, pred) = self.c.pick(&[
                    (i32, CmpPred::Eq),
                    (ptr, CmpPred::Ne),
                    (i64, CmpPred::Slt),
                    (i8, CmpPred::Uge),
                ]);
                let (a, b) = (self.value(block, ty), self.value(block, ty));
                self.def(block, Op::Cmp { pred, a, b }, i1);
            }
            10 => {
                let ty = self.any_type();
                let cond = self.value(block, i1);
                let (then, els) = (self.value(block, ty), self.value(block, ty));
                self.def(block, Op::Select { cond, then, els }, ty);
            }
            11 => self.cast(block),
            12 => {
                if let Some(var) = self.random_var() {
                    let ty = self.any_type();
                    let value = self.value(block, ty);
                    self.effect(block, Op::Bind { var, value });
                }
            }
            13 => {
                let (dst, len) = (self.value(block, ptr), self.value(block, i64));
                let op = match self.c.chance(50) {
                    true => Op::MemSet {
                        dst,
                        byte: self.value(block, i8),
                        len,
                    },
                    false => Op::MemCopy {
                        dst,
                        src: self.value(block, ptr),
                        len,
                    },
                };
                match self.c.chance(20) {
                    true => drop(self.def(block, op, ptr)),
                    false => self.effect(block, op),
                }
            }
            kind => self.exotic_inst(block, kind),
        }
    }

    fn exotic_inst(&mut self, block: BlockId, kind: usize) {
        let Universe {
            i1,
            i32,
            f64,
            ptr,
            node,
            array,
            vector,
            old_and_success,
            ..
        } = *self.universe;
        match kind {
            14 => {
                let (addr, value) = (self.value(block, ptr), self.value(block, i32));
                let op = self.c.pick(RMW).1;
                self.def(block, Op::AtomicRmw { addr, value, op }, i32);
            }
            15 => {
                let op = Op::CmpXchg {
                    addr: self.value(block, ptr),
                    expected: self.value(block, i32),
                    new: self.value(block, i32),
                };
                self.def(block, op, old_and_success);
            }
            16 => {
                let ty = self.any_type();
                let list = self.value(block, ptr);
                self.def(block, Op::VaArg { list }, ty);
            }
            17 => {
                let args = [self.value(block, vector), self.value(block, i32)];
                let args = self.b.operands(&args);
                self.def(block, Op::Opaque { args }, vector);
            }
            18 => {
                let (agg, index, ty) = self.field();
                let agg = self.value(block, agg);
                let path = self.b.indices(&[index]);
                self.def(block, Op::ExtractValue { agg, path }, ty);
            }
            19 => {
                let (ty, index, field) = self.field();
                let (agg, value) = (self.value(block, ty), self.value(block, field));
                let path = self.b.indices(&[index]);
                self.def(block, Op::InsertValue { agg, value, path }, ty);
            }
            20 => {
                let (a, b) = (self.value(block, f64), self.value(block, f64));
                let op = self.c.pick(&BINARY[13..]).1;
                self.def(block, Op::Binary { op, a, b }, f64);
            }
            21 => {
                let (a, b) = (self.value(block, f64), self.value(block, f64));
                let pred = CmpPred::Float(self.c.byte() % 16);
                self.def(block, Op::Cmp { pred, a, b }, i1);
            }
            22 => {
                let cleanup = self.c.chance(50);
                self.def(block, Op::LandingPad { cleanup }, node);
            }
            _ => {
                let (a, b) = (self.value(block, vector), self.value(block, vector));
                let op = BinaryOp::Xor;
                self.def(block, Op::Binary { op, a, b }, vector);
                let value = self.value(block, array);
                let addr = self.value(block, ptr);
                self.effect(block, Op::Store { addr, value });
            }
        }
    }

    /// Aggregate, index of a field, type of the field.
    fn field(&mut self) -> (TypeId, u32, TypeId) {
        let u = self.universe;
        self.c.pick(&[
            (u.node, 0, u.ptr),
            (u.node, 1, u.i32),
            (u.array, 3, u.i32),
            (u.old_and_success, 1, u.i1),
        ])
    }

    fn random_var(&mut self) -> Option<VarId> {
        (self.vars > 0 && self.c.chance(80)).then(|| VarId::new(self.c.below(self.vars)))
    }

    fn cast(&mut self, block: BlockId) {
        let u = self.universe;
        let mut casts = vec![
            (CastOp::ZExt, u.i32, u.i64),
            (CastOp::SExt, u.i32, u.i64),
            (CastOp::Trunc, u.i64, u.i8),
            (CastOp::PtrToInt, u.ptr, u.i64),
            (CastOp::IntToPtr, u.i64, u.ptr),
            (CastOp::Bitcast, u.ptr, u.ptr),
        ];
        if self.shape.exotic {
            casts.extend([
                (CastOp::SiToFp, u.i32, u.f64),
                (CastOp::FpToUi, u.f64, u.i32),
                (CastOp::Bitcast, u.i64, u.vector),
            ]);
        }
        let (op, from, to) = self.c.pick(&casts);
        let value = self.value(block, from);
        self.def(block, Op::Cast { op, value }, to);
    }

    /// Callee, arguments and type of a call.
    fn call_parts(&mut self, block: BlockId) -> (Operand, OperandList, TypeId) {
        if self.c.chance(15) {
            let ty = self.any_type();
            let callee = self.value(block, self.universe.ptr);
            let arg = self.value(block, ty);
            return (callee, self.b.operands(&[arg]), ty);
        }
        let index = self.c.below(self.callees.len());
        let callee = &self.callees[index];
        let (id, ret, params) = (callee.id, callee.ret, callee.params.clone());
        let args: Vec<Operand> = params
            .iter()
            .map(|&param| self.value(block, param))
            .collect();
        let callee = self.b.constant(Const::Func(id));
        (callee, self.b.operands(&args), ret)
    }

    fn flags(&mut self) -> CallFlags {
        CallFlags(match self.shape.exotic && self.c.chance(20) {
            true => self.c.byte() & 31,
            false => 0,
        })
    }

    fn call(&mut self, block: BlockId) {
        let (callee, args, ty) = self.call_parts(block);
        let flags = self.flags();
        let op = Op::Call {
            callee,
            args,
            flags,
        };
        match ty == self.universe.void {
            true => self.effect(block, op),
            false => drop(self.def(block, op, ty)),
        }
    }

    fn end(&mut self, block: BlockId, end: &End) {
        let Universe {
            i1, i32, ptr, node, ..
        } = *self.universe;
        let op = match end {
            End::Ret => Op::Ret {
                value: match self.ret == self.universe.void {
                    true => None,
                    false => Some(self.value(block, self.ret)),
                },
            },
            End::Unreachable => Op::Unreachable,
            End::Br(target) => Op::Br { target: *target },
            End::CondBr(then, els) => Op::CondBr {
                cond: self.value(block, i1),
                then: *then,
                els: *els,
            },
            End::Switch(default, targets) => {
                let cases: Vec<SwitchCase> = (0u64..)
                    .zip(targets)
                    .map(|(value, &target)| SwitchCase { value, target })
                    .collect();
                Op::Switch {
                    value: self.value(block, i32),
                    default: *default,
                    cases: self.b.cases(&cases),
                }
            }
            End::IndirectBr(targets) => Op::IndirectBr {
                addr: self.value(block, ptr),
                targets: self.b.targets(targets),
            },
            End::CallBr(normal, targets) => {
                let arg = self.value(block, i32);
                Op::CallBr {
                    args: self.b.operands(&[arg]),
                    normal: *normal,
                    targets: self.b.targets(targets),
                }
            }
            End::Invoke(normal, unwind) => return self.invoke(block, *normal, *unwind),
            End::Resume => Op::Resume {
                value: self.value(block, node),
            },
        };
        self.effect(block, op);
    }

    fn invoke(&mut self, block: BlockId, normal: BlockId, unwind: BlockId) {
        let (callee, args, ty) = self.call_parts(block);
        let flags = self.flags();
        let op = Op::Invoke {
            callee,
            args,
            flags,
            normal,
            unwind,
        };
        let result = self.b.push(block, op, ty);
        // The result exists only where the normal edge is the one way in.
        if ty != self.universe.void && self.preds.succs(normal) == [block] {
            self.defs[normal.index()].push((result, ty));
        }
    }
}
