//! Makes bodies in memory, block by block in any order: for tests and generators. (Text is easier where the program is
//! known beforehand: see [`parse`](crate::parse).)
//!
//! While a body is built, a value's number is that of its creation; [`BodyBuilder::finish`] puts the instructions into the
//! order of the blocks and renumbers.

use rustc_hash::FxHashMap;

use crate::body::*;
use crate::ids::*;

/// A body in the making.
#[derive(Default)]
pub struct BodyBuilder {
    body: Body,
    /// Instructions of each block, by number of creation: phis, and all others.
    phis: Vec<Vec<InstId>>,
    rest: Vec<Vec<InstId>>,
    incoming: FxHashMap<InstId, Vec<Incoming>>,
    consts: FxHashMap<Const, ConstId>,
    locs: FxHashMap<Loc, LocId>,
    loc: Option<LocId>,
}

impl BodyBuilder {
    pub fn new(params: Vec<TypeId>) -> BodyBuilder {
        let mut builder = BodyBuilder::default();
        builder.body.params = params;
        builder
    }

    pub fn param(&self, index: usize) -> Operand {
        Operand::value(self.body.param(index))
    }

    pub fn param_types(&self) -> &[TypeId] {
        &self.body.params
    }

    /// Adds an empty block at the end.
    pub fn block(&mut self) -> BlockId {
        self.phis.push(Vec::new());
        self.rest.push(Vec::new());
        BlockId::new(self.rest.len() - 1)
    }

    pub fn var(&mut self, var: Var) -> VarId {
        self.body.vars.push(var)
    }

    /// The position of the instructions that follow.
    pub fn set_loc(&mut self, loc: Option<LocId>) {
        self.loc = loc;
    }

    pub fn loc(&mut self, loc: Loc) -> LocId {
        let locs = &mut self.body.locs;
        *self.locs.entry(loc).or_insert_with(|| locs.push(loc))
    }

    pub fn constant(&mut self, constant: Const) -> Operand {
        let consts = &mut self.body.consts;
        let known = self.consts.entry(constant);
        let id = known.or_insert_with_key(|constant| consts.push(constant.clone()));
        Operand::constant(*id)
    }

    pub fn operands(&mut self, operands: &[Operand]) -> OperandList {
        extend(&mut self.body.operands, operands)
    }

    pub fn scaled(&mut self, scaled: &[Scaled]) -> PoolRange {
        extend(&mut self.body.scaled, scaled)
    }

    pub fn indices(&mut self, indices: &[u32]) -> PoolRange {
        extend(&mut self.body.indices, indices)
    }

    pub fn cases(&mut self, cases: &[SwitchCase]) -> PoolRange {
        extend(&mut self.body.cases, cases)
    }

    pub fn targets(&mut self, targets: &[BlockId]) -> PoolRange {
        extend(&mut self.body.targets, targets)
    }

    /// Appends an instruction to a block. The result is its value; void instructions have none, but a number.
    pub fn push(&mut self, block: BlockId, op: Op, ty: TypeId) -> Operand {
        let id = self.inst(op, ty);
        self.rest[block.index()].push(id);
        Operand::value(self.body.result(id))
    }

    /// Adds a phi without entries to a block.
    pub fn phi(&mut self, block: BlockId, ty: TypeId) -> Operand {
        let incoming = PoolRange::default();
        let id = self.inst(Op::Phi { incoming }, ty);
        self.phis[block.index()].push(id);
        Operand::value(self.body.result(id))
    }

    /// Adds an entry to a phi that [`Self::phi`] made.
    pub fn add_incoming(&mut self, phi: Operand, block: BlockId, value: Operand) {
        if let Some(id) = phi.as_value().and_then(|value| self.body.def(value)) {
            let entries = self.incoming.entry(id).or_default();
            entries.push(Incoming { block, value });
        }
    }

    fn inst(&mut self, op: Op, ty: TypeId) -> InstId {
        let loc = self.loc;
        self.body.insts.push(Inst { op, ty, loc })
    }

    /// The body, numbered by block.
    pub fn finish(mut self) -> Body {
        let params = self.body.params.len();
        let mut order: Vec<InstId> = Vec::with_capacity(self.body.insts.len());
        let mut new_number = vec![0; self.body.insts.len()];
        for (phis, rest) in self.phis.iter().zip(&self.rest) {
            let start = order.len();
            order.extend(phis.iter().chain(rest));
            for place in start..order.len() {
                new_number[order[place].index()] = place;
            }
            let range = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
            self.body.blocks.push(Block {
                insts: range(start)..range(order.len()),
            });
        }
        let renumber = |operand: &mut Operand| {
            if let Some(old) = operand.as_value()
                && let Some(inst) = old.index().checked_sub(params)
            {
                *operand = Operand::value(ValueId::new(params + new_number[inst]));
            }
        };
        let mut insts = Vec::with_capacity(order.len());
        for &id in &order {
            let mut inst = self.body.insts[id];
            for_each_own_operand_mut(&mut inst.op, renumber);
            if let Op::Phi { incoming } = &mut inst.op {
                let entries = self.incoming.remove(&id).unwrap_or_default();
                *incoming = extend(&mut self.body.incoming, &entries);
            }
            insts.push(inst);
        }
        self.body.insts = insts.into();
        self.body.operands.iter_mut().for_each(renumber);
        self.body
            .scaled
            .iter_mut()
            .for_each(|scaled| renumber(&mut scaled.index));
        self.body
            .incoming
            .iter_mut()
            .for_each(|entry| renumber(&mut entry.value));
        self.body
    }
}

fn extend<T: Copy>(pool: &mut Vec<T>, items: &[T]) -> PoolRange {
    let clamp = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let start = pool.len();
    pool.extend_from_slice(items);
    PoolRange {
        start: clamp(start),
        len: clamp(items.len()),
    }
}

/// Calls `visit` on the operands that the operation itself holds; those in pools are the pools' affair.
pub fn for_each_own_operand_mut(op: &mut Op, mut visit: impl FnMut(&mut Operand)) {
    match op {
        Op::Alloca { count: a, .. }
        | Op::Load { addr: a }
        | Op::PtrAdd { base: a, .. }
        | Op::Cast { value: a, .. }
        | Op::Call { callee: a, .. }
        | Op::Invoke { callee: a, .. }
        | Op::ExtractValue { agg: a, .. }
        | Op::VaArg { list: a }
        | Op::Bind { value: a, .. }
        | Op::Ret { value: Some(a) }
        | Op::CondBr { cond: a, .. }
        | Op::Switch { value: a, .. }
        | Op::IndirectBr { addr: a, .. }
        | Op::Resume { value: a } => visit(a),
        Op::Store { addr: a, value: b }
        | Op::Binary { a, b, .. }
        | Op::Cmp { a, b, .. }
        | Op::InsertValue {
            agg: a, value: b, ..
        }
        | Op::AtomicRmw {
            addr: a, value: b, ..
        } => [a, b].into_iter().for_each(visit),
        Op::MemCopy {
            dst: a,
            src: b,
            len: c,
        }
        | Op::MemSet {
            dst: a,
            byte: b,
            len: c,
        }
        | Op::Select {
            cond: a,
            then: b,
            els: c,
        }
        | Op::CmpXchg {
            addr: a,
            expected: b,
            new: c,
        } => [a, b, c].into_iter().for_each(visit),
        Op::Phi { .. }
        | Op::Opaque { .. }
        | Op::LandingPad { .. }
        | Op::Uninit { .. }
        | Op::Ret { value: None }
        | Op::Br { .. }
        | Op::CallBr { .. }
        | Op::Unreachable => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{FuncAttrs, Function, Language, Linkage, Program, Unit};
    use crate::types::Type;
    use crate::{print_program, verify};

    #[test]
    fn blocks_may_be_filled_in_any_order() {
        let mut program = Program::default();
        let empty = program.strings.intern("");
        program.units.push(Unit {
            path: empty,
            source: empty,
            language: Language::C,
        });
        let void = program.types.intern(Type::Void);
        let i1 = program.types.intern(Type::Int(1));
        let i32 = program.types.intern(Type::Int(32));
        let params: Vec<TypeId> = vec![i32, i1];
        let ty = program.types.intern(Type::Func {
            ret: i32,
            params: params.clone().into(),
            vararg: false,
        });

        let mut b = BodyBuilder::new(params);
        let (entry, head, exit) = (b.block(), b.block(), b.block());
        let counter = b.phi(head, i32);
        let ret = Op::Ret {
            value: Some(counter),
        };
        b.push(exit, ret, void);
        let one = b.constant(Const::Int { ty: i32, bits: 1 });
        let op = BinaryOp::Add;
        let sum = b.push(
            head,
            Op::Binary {
                op,
                a: counter,
                b: one,
            },
            i32,
        );
        let cond = b.param(1);
        b.push(
            head,
            Op::CondBr {
                cond,
                then: head,
                els: exit,
            },
            void,
        );
        b.push(entry, Op::Br { target: head }, void);
        let n = b.param(0);
        b.add_incoming(counter, entry, n);
        b.add_incoming(counter, head, sum);
        let body = b.finish();

        let name = program.strings.intern("f");
        program.funcs.push(Function {
            name,
            source_name: None,
            unit: UnitId::new(0),
            linkage: Linkage::External,
            ty,
            attrs: FuncAttrs::default(),
            params: [Default::default(); 2].into(),
            alloc_family: None,
            loc: None,
            di_type: None,
            body: Some(body),
            unreadable: None,
        });
        assert_eq!(verify(&program), []);
        assert_eq!(
            print_program(&program),
            "program
func @f(i32 v0, i1 v1) -> i32 {
b0:
  br b1
b1:
  v3 = phi i32 [b0: v0, b1: v4]
  v4 = add i32 v3, i32 1
  br v1, b1, b2
b2:
  ret v3
}
"
        );
    }
}
