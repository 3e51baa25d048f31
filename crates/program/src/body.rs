//! The body of one function in SSA form: blocks, instructions, constants, source positions.
//!
//! INVARIANT: `ValueId(params + i)` is the result of instruction `i`, also where that instruction has none (its type is
//! then void): no table maps one to the other. A block's instructions are one contiguous range: phis first, exactly one
//! terminator at the end. `BlockId(0)` is the entry and has no predecessors. Block order is the source's.
//! A body is frozen once built.

use std::ops::Range;

use drip_base::IndexVec;
use rustc_hash::FxHashSet;

use crate::ids::*;

/// A local value or a constant, packed: the top bit tells which.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Operand(u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandKind {
    Value(ValueId),
    Const(ConstId),
}

const CONST_BIT: u32 = 1 << 31;

impl Operand {
    pub fn value(id: ValueId) -> Operand {
        Operand(id.as_u32())
    }

    pub fn constant(id: ConstId) -> Operand {
        Operand(id.as_u32() | CONST_BIT)
    }

    pub fn kind(self) -> OperandKind {
        if self.0 & CONST_BIT == 0 {
            OperandKind::Value(ValueId::from_u32(self.0))
        } else {
            OperandKind::Const(ConstId::from_u32(self.0 & !CONST_BIT))
        }
    }

    /// The packed form.
    pub(crate) fn to_bits(self) -> u32 {
        self.0
    }

    pub(crate) fn from_bits(bits: u32) -> Operand {
        Operand(bits)
    }

    pub fn as_value(self) -> Option<ValueId> {
        match self.kind() {
            OperandKind::Value(v) => Some(v),
            OperandKind::Const(_) => None,
        }
    }

    pub fn as_const(self) -> Option<ConstId> {
        match self.kind() {
            OperandKind::Value(_) => None,
            OperandKind::Const(c) => Some(c),
        }
    }
}

impl std::fmt::Debug for Operand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.kind() {
            OperandKind::Value(v) => write!(f, "{v}"),
            OperandKind::Const(c) => write!(f, "{c}"),
        }
    }
}

/// A constant. Constant expressions over addresses are folded to object + byte offset.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Const {
    /// Integer of at most 64 bits, zero-extended; of type `ptr` a bare number as address, such as `(void *)-1`.
    Int {
        ty: TypeId,
        bits: u64,
    },
    /// The null pointer.
    Null,
    /// Address of a global variable plus a byte offset.
    Global {
        global: GlobalId,
        offset: i64,
    },
    /// Address of a function.
    Func(FuncId),
    /// Floating point number, by its bits (as a 64-bit double's where it fits).
    Float {
        ty: TypeId,
        bits: u64,
    },
    /// All-zero aggregate or vector.
    Zero(TypeId),
    Undef(TypeId),
    /// Struct or array constant used as a value: elements are constants of the same body.
    Aggregate {
        ty: TypeId,
        elems: Box<[ConstId]>,
    },
    /// Wide integers, inline assembly, block addresses, expressions that do not fold: one unknown value.
    Opaque(TypeId),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    UDiv,
    SDiv,
    URem,
    SRem,
    Shl,
    LShr,
    AShr,
    And,
    Or,
    Xor,
    /// Any floating point operation: opaque but congruent.
    FAdd,
    FSub,
    FMul,
    FDiv,
    FRem,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CmpPred {
    Eq,
    Ne,
    Ugt,
    Uge,
    Ult,
    Ule,
    Sgt,
    Sge,
    Slt,
    Sle,
    /// Floating point predicate by LLVM's number (0–15).
    Float(u8),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CastOp {
    Trunc,
    ZExt,
    SExt,
    PtrToInt,
    IntToPtr,
    Bitcast,
    /// Between floating point and integer or among floats: opaque but congruent.
    FpTrunc,
    FpExt,
    FpToUi,
    FpToSi,
    UiToFp,
    SiToFp,
}

/// A run of operands in [`Body::operands`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct OperandList {
    pub start: u32,
    pub len: u32,
}

/// A run of entries in one of the body's other pools.
pub type PoolRange = OperandList;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallFlags(pub u8);

impl CallFlags {
    /// The call site (or its inline assembly) is marked noreturn.
    pub const NORETURN: u8 = 1;
    /// Inline assembly.
    pub const ASM: u8 = 2;
    pub const NOUNWIND: u8 = 4;
    /// The call site is marked to touch no memory, or to read only.
    pub const READNONE: u8 = 8;
    pub const READONLY: u8 = 16;
    pub fn has(self, bit: u8) -> bool {
        self.0 & bit != 0
    }
}

/// What an instruction does. `PoolRange`s index the pool named in the comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Stack slot that was not promoted. `count` elements of `elem`.
    Alloca {
        elem: TypeId,
        count: Operand,
        var: Option<VarId>,
    },
    Load {
        addr: Operand,
    },
    Store {
        addr: Operand,
        value: Operand,
    },
    /// Address arithmetic in bytes: `base + offset + Σ index·scale`; `indices` in [`Body::scaled`].
    PtrAdd {
        base: Operand,
        offset: i64,
        indices: PoolRange,
    },
    /// memcpy, memmove and their inline forms: `len` bytes.
    MemCopy {
        dst: Operand,
        src: Operand,
        len: Operand,
    },
    MemSet {
        dst: Operand,
        byte: Operand,
        len: Operand,
    },
    Cast {
        op: CastOp,
        value: Operand,
    },
    Binary {
        op: BinaryOp,
        a: Operand,
        b: Operand,
    },
    Cmp {
        pred: CmpPred,
        a: Operand,
        b: Operand,
    },
    Select {
        cond: Operand,
        then: Operand,
        els: Operand,
    },
    /// `incoming` in [`Body::incoming`]: one entry per predecessor edge (a switch with two cases to this block has two
    /// equal entries).
    Phi {
        incoming: PoolRange,
    },
    /// `args` in [`Body::operands`].
    Call {
        callee: Operand,
        args: OperandList,
        flags: CallFlags,
    },
    /// A call that ends its block: to `normal`, or to `unwind` when it throws.
    Invoke {
        callee: Operand,
        args: OperandList,
        flags: CallFlags,
        normal: BlockId,
        unwind: BlockId,
    },
    /// Field of a struct value; `path` in [`Body::indices`].
    ExtractValue {
        agg: Operand,
        path: PoolRange,
    },
    InsertValue {
        agg: Operand,
        value: Operand,
        path: PoolRange,
    },
    AtomicRmw {
        addr: Operand,
        value: Operand,
        op: RmwOp,
    },
    /// Result is the struct `{ old value, success }`.
    CmpXchg {
        addr: Operand,
        expected: Operand,
        new: Operand,
    },
    VaArg {
        list: Operand,
    },
    /// Vector element moves, `va_start`-like target intrinsics and whatever else has a result nobody interprets:
    /// operands in [`Body::operands`]; depends on nothing but them.
    Opaque {
        args: OperandList,
    },
    /// Start of an exception handler; also Windows' pads. Value is opaque.
    LandingPad {
        cleanup: bool,
    },
    /// The unknown value that variable `var` has before it is first assigned; one per variable, in the entry block.
    Uninit {
        var: Option<VarId>,
    },
    /// Binding marker: source variable `var` holds `value` from here on.
    Bind {
        var: VarId,
        value: Operand,
    },

    // Terminators.
    Ret {
        value: Option<Operand>,
    },
    Br {
        target: BlockId,
    },
    CondBr {
        cond: Operand,
        then: BlockId,
        els: BlockId,
    },
    /// `cases` in [`Body::cases`].
    Switch {
        value: Operand,
        default: BlockId,
        cases: PoolRange,
    },
    /// `targets` in [`Body::targets`].
    IndirectBr {
        addr: Operand,
        targets: PoolRange,
    },
    /// `asm goto`: falls through to `normal` or jumps to one of `targets` in [`Body::targets`].
    CallBr {
        args: OperandList,
        normal: BlockId,
        targets: PoolRange,
    },
    Resume {
        value: Operand,
    },
    /// Also the end of Windows' unwinding when it leaves the function.
    Unreachable,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RmwOp {
    Xchg,
    Add,
    Sub,
    And,
    Nand,
    Or,
    Xor,
    Max,
    Min,
    UMax,
    UMin,
    /// Floating point and newer operations.
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inst {
    pub op: Op,
    /// Type of the result; void where there is none.
    pub ty: TypeId,
    pub loc: Option<LocId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Incoming {
    pub block: BlockId,
    pub value: Operand,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scaled {
    pub index: Operand,
    pub scale: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwitchCase {
    /// Zero-extended; wider cases than 64 bits do not occur in C.
    pub value: u64,
    pub target: BlockId,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    pub insts: Range<u32>,
}

/// A source position. `inlined_at` is the call that this code was inlined into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Loc {
    pub file: FileId,
    pub line: u32,
    pub column: u32,
    /// Source function that the position stands in, where it is not the body's own.
    pub inlined_at: Option<LocId>,
}

/// A local variable or parameter as the source has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Var {
    pub name: StrId,
    pub ty: Option<DiTypeId>,
    /// Parameter number, from 0.
    pub param: Option<u32>,
    pub line: u32,
}

#[derive(Clone, Debug, Default)]
pub struct Body {
    pub blocks: IndexVec<BlockId, Block>,
    pub insts: IndexVec<InstId, Inst>,
    pub consts: IndexVec<ConstId, Const>,
    pub operands: Vec<Operand>,
    pub scaled: Vec<Scaled>,
    pub incoming: Vec<Incoming>,
    pub indices: Vec<u32>,
    pub cases: Vec<SwitchCase>,
    pub targets: Vec<BlockId>,
    pub locs: IndexVec<LocId, Loc>,
    pub vars: IndexVec<VarId, Var>,
    /// Parameters of the function, in order: the first values of the body.
    pub params: Vec<TypeId>,
}

impl Body {
    pub fn param_count(&self) -> usize {
        self.params.len()
    }

    pub fn param(&self, index: usize) -> ValueId {
        ValueId::new(index)
    }

    /// Parameter number of a value that is one.
    pub fn as_param(&self, value: ValueId) -> Option<usize> {
        (value.index() < self.params.len()).then_some(value.index())
    }

    pub fn result(&self, inst: InstId) -> ValueId {
        ValueId::new(self.params.len() + inst.index())
    }

    /// The instruction that defines a value; `None` for parameters.
    pub fn def(&self, value: ValueId) -> Option<InstId> {
        value
            .index()
            .checked_sub(self.params.len())
            .map(InstId::new)
    }

    pub fn value_count(&self) -> usize {
        self.params.len() + self.insts.len()
    }

    pub fn value_ty(&self, value: ValueId) -> TypeId {
        match self.def(value) {
            Some(inst) => self.insts[inst].ty,
            None => self.params[value.index()],
        }
    }

    /// The block that an instruction stands in, found by looking.
    pub fn block_of(&self, inst: InstId) -> Option<BlockId> {
        let mut blocks = self.blocks.iter_enumerated();
        let holding = blocks.find(|(_, block)| block.insts.contains(&inst.as_u32()));
        holding.map(|(id, _)| id)
    }

    pub fn block_insts(
        &self,
        block: BlockId,
    ) -> impl DoubleEndedIterator<Item = InstId> + ExactSizeIterator + use<> {
        let range = self.blocks[block].insts.clone();
        (range.start as usize..range.end as usize).map(InstId::new)
    }

    pub fn terminator(&self, block: BlockId) -> InstId {
        InstId::from_u32(self.blocks[block].insts.end.saturating_sub(1))
    }

    pub fn list(&self, list: OperandList) -> &[Operand] {
        &self.operands[range(list)]
    }

    pub fn scaled(&self, list: PoolRange) -> &[Scaled] {
        &self.scaled[range(list)]
    }

    pub fn incoming(&self, list: PoolRange) -> &[Incoming] {
        &self.incoming[range(list)]
    }

    pub fn indices(&self, list: PoolRange) -> &[u32] {
        &self.indices[range(list)]
    }

    pub fn cases(&self, list: PoolRange) -> &[SwitchCase] {
        &self.cases[range(list)]
    }

    pub fn targets(&self, list: PoolRange) -> &[BlockId] {
        &self.targets[range(list)]
    }

    pub fn const_of(&self, operand: Operand) -> Option<&Const> {
        operand.as_const().map(|c| &self.consts[c])
    }

    /// What an operand stands for: itself, or all that casts, φs and selects hand on to it. Each once; linear in what is passed.
    pub fn origins(&self, operand: Operand) -> Vec<Operand> {
        let mut origins = Vec::new();
        let mut seen: FxHashSet<Operand> = FxHashSet::default();
        let mut open = vec![operand];
        while let Some(operand) = open.pop() {
            if !seen.insert(operand) {
                continue;
            }
            let def = operand.as_value().and_then(|value| self.def(value));
            match def.map(|inst| self.insts[inst].op) {
                Some(Op::Cast { value, .. }) => open.push(value),
                Some(Op::Phi { incoming }) => {
                    let inputs = self.incoming(incoming).iter().rev();
                    open.extend(inputs.map(|input| input.value));
                }
                Some(Op::Select { then, els, .. }) => open.extend([els, then]),
                _ => origins.push(operand),
            }
        }
        origins
    }

    /// Successors of a block, in the terminator's order; the same block may occur twice (switch).
    pub fn for_each_succ(&self, block: BlockId, mut visit: impl FnMut(BlockId)) {
        match self.insts[self.terminator(block)].op {
            Op::Br { target } => visit(target),
            Op::CondBr { then, els, .. } => {
                visit(then);
                visit(els);
            }
            Op::Switch { default, cases, .. } => {
                visit(default);
                self.cases(cases).iter().for_each(|case| visit(case.target));
            }
            Op::IndirectBr { targets, .. } => self.targets(targets).iter().copied().for_each(visit),
            Op::CallBr {
                normal, targets, ..
            } => {
                visit(normal);
                self.targets(targets).iter().copied().for_each(visit);
            }
            Op::Invoke { normal, unwind, .. } => {
                visit(normal);
                visit(unwind);
            }
            _ => {}
        }
    }

    /// Calls `visit` on every operand of an instruction, phi inputs included.
    pub fn for_each_operand(&self, inst: InstId, mut visit: impl FnMut(Operand)) {
        match self.insts[inst].op {
            Op::Alloca { count, .. } => visit(count),
            Op::Load { addr } | Op::IndirectBr { addr, .. } => visit(addr),
            Op::VaArg { list } => visit(list),
            Op::Store { addr, value } | Op::AtomicRmw { addr, value, .. } => {
                visit(addr);
                visit(value);
            }
            Op::PtrAdd { base, indices, .. } => {
                visit(base);
                self.scaled(indices).iter().for_each(|s| visit(s.index));
            }
            Op::MemCopy { dst, src, len } => [dst, src, len].into_iter().for_each(visit),
            Op::MemSet { dst, byte, len } => [dst, byte, len].into_iter().for_each(visit),
            Op::Cast { value, .. } | Op::Bind { value, .. } | Op::Resume { value } => visit(value),
            Op::Binary { a, b, .. } | Op::Cmp { a, b, .. } => {
                visit(a);
                visit(b);
            }
            Op::Select { cond, then, els } => [cond, then, els].into_iter().for_each(visit),
            Op::Phi { incoming } => self.incoming(incoming).iter().for_each(|i| visit(i.value)),
            Op::Call { callee, args, .. } | Op::Invoke { callee, args, .. } => {
                visit(callee);
                self.list(args).iter().copied().for_each(visit);
            }
            Op::ExtractValue { agg, .. } => visit(agg),
            Op::InsertValue { agg, value, .. } => {
                visit(agg);
                visit(value);
            }
            Op::CmpXchg {
                addr,
                expected,
                new,
            } => [addr, expected, new].into_iter().for_each(visit),
            Op::Opaque { args } | Op::CallBr { args, .. } => {
                self.list(args).iter().copied().for_each(visit)
            }
            Op::Ret { value } => value.into_iter().for_each(visit),
            Op::CondBr { cond, .. } => visit(cond),
            Op::Switch { value, .. } => visit(value),
            Op::LandingPad { .. } | Op::Uninit { .. } | Op::Br { .. } | Op::Unreachable => {}
        }
    }
}

fn range(list: OperandList) -> Range<usize> {
    list.start as usize..(list.start + list.len) as usize
}

impl Op {
    pub fn is_terminator(&self) -> bool {
        matches!(
            self,
            Op::Ret { .. }
                | Op::Br { .. }
                | Op::CondBr { .. }
                | Op::Switch { .. }
                | Op::IndirectBr { .. }
                | Op::CallBr { .. }
                | Op::Invoke { .. }
                | Op::Resume { .. }
                | Op::Unreachable
        )
    }
}
