//! Instructions of one function body, with absolute value numbers and known result types.
//!
//! A [`RawInst`] is small and `Copy`: lists of operands lie in the body's pool, calls in a side table.
//! Fast-math flags, alignments, TBAA and other attachments that no analysis of heap memory needs are
//! not kept.

use crate::ids::{AttrListId, BlockId, CallId, LocId, MetadataId, PoolRange, TypeId, ValueId};

/// One instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawInst {
    /// What it does.
    pub kind: RawInstKind,
    /// Type of its result; `void` where there is none.
    pub ty: TypeId,
    /// The value number of its result; `None` exactly when `ty` is `void`.
    pub result: Option<ValueId>,
    /// Where it comes from in the source.
    pub loc: Option<LocId>,
}

/// The operation of an instruction. Pool ranges refer to [`crate::RawBody::operands`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RawInstKind {
    /// `fneg`.
    Unop { op: UnaryOp, value: ValueId },
    /// Arithmetic. `flags`: bit 0 nuw or exact or disjoint, bit 1 nsw (integers only, 0 for floats).
    Binop {
        op: BinaryOp,
        flags: u8,
        lhs: ValueId,
        rhs: ValueId,
    },
    /// Cast to the instruction's type.
    Cast { op: CastOp, value: ValueId },
    /// Address computation over `source_ty`; operands: the base, then the indices.
    Gep {
        source_ty: TypeId,
        operands: PoolRange,
        inbounds: bool,
    },
    /// `select`.
    Select {
        cond: ValueId,
        then_value: ValueId,
        else_value: ValueId,
    },
    /// `extractelement`.
    ExtractElement { vector: ValueId, index: ValueId },
    /// `insertelement`.
    InsertElement {
        vector: ValueId,
        element: ValueId,
        index: ValueId,
    },
    /// `shufflevector`; `mask` is a constant.
    ShuffleVector {
        a: ValueId,
        b: ValueId,
        mask: ValueId,
    },
    /// `icmp` or `fcmp`.
    Cmp {
        predicate: CmpPredicate,
        lhs: ValueId,
        rhs: ValueId,
    },
    /// `extractvalue`; `indices` are plain numbers in the pool ([`RawOperand::raw`]).
    ExtractValue {
        aggregate: ValueId,
        indices: PoolRange,
    },
    /// `insertvalue`; `indices` are plain numbers in the pool ([`RawOperand::raw`]).
    InsertValue {
        aggregate: ValueId,
        element: ValueId,
        indices: PoolRange,
    },
    /// `freeze`.
    Freeze { value: ValueId },
    /// `phi`; pairs of value and block in the pool.
    Phi { incoming: PoolRange },

    /// Stack slot for `count` elements of `allocated`.
    Alloca {
        allocated: TypeId,
        count: ValueId,
        /// Argument memory of a call (`inalloca`).
        inalloca: bool,
    },
    /// Load of the instruction's type.
    Load {
        address: ValueId,
        volatile: bool,
        ordering: Ordering,
    },
    /// Store.
    Store {
        address: ValueId,
        value: ValueId,
        volatile: bool,
        ordering: Ordering,
    },
    /// `cmpxchg`; result is `{ T, i1 }`, or `T` in bitcode of LLVM ≤ 3.4.
    CmpXchg {
        address: ValueId,
        expected: ValueId,
        new: ValueId,
        weak: bool,
        volatile: bool,
    },
    /// `atomicrmw`.
    AtomicRmw {
        op: RmwOp,
        address: ValueId,
        value: ValueId,
        volatile: bool,
    },
    /// `fence`.
    Fence { ordering: Ordering },
    /// `va_arg` of the instruction's type.
    VaArg { list: ValueId },

    /// `call`, see [`crate::RawBody::call`].
    Call(CallId),
    /// `invoke`.
    Invoke {
        call: CallId,
        normal: BlockId,
        unwind: BlockId,
    },
    /// `callbr` (asm goto); `indirect` are blocks in the pool.
    CallBr {
        call: CallId,
        default: BlockId,
        indirect: PoolRange,
    },

    /// `ret`.
    Ret { value: Option<ValueId> },
    /// Unconditional branch.
    Br { target: BlockId },
    /// Conditional branch.
    CondBr {
        cond: ValueId,
        then_block: BlockId,
        else_block: BlockId,
    },
    /// `switch`; pairs of constant value and block in the pool.
    Switch {
        cond: ValueId,
        default: BlockId,
        cases: PoolRange,
    },
    /// `indirectbr`; blocks in the pool.
    IndirectBr {
        address: ValueId,
        targets: PoolRange,
    },
    /// `unreachable`.
    Unreachable,
    /// `resume`.
    Resume { value: ValueId },
    /// `landingpad`; clauses in the pool as pairs: a plain number (0 catch, 1 filter), then the value.
    LandingPad { cleanup: bool, clauses: PoolRange },
    /// `cleanuppad`; `parent` is a token.
    CleanupPad { parent: ValueId, args: PoolRange },
    /// `catchpad`; `parent` is its `catchswitch`.
    CatchPad { parent: ValueId, args: PoolRange },
    /// `catchswitch`; handler blocks in the pool.
    CatchSwitch {
        parent: ValueId,
        handlers: PoolRange,
        unwind: Option<BlockId>,
    },
    /// `cleanupret`.
    CleanupRet {
        pad: ValueId,
        unwind: Option<BlockId>,
    },
    /// `catchret`.
    CatchRet { pad: ValueId, target: BlockId },
}

impl RawInstKind {
    /// Whether the instruction ends its block.
    pub fn is_terminator(&self) -> bool {
        matches!(
            self,
            Self::Ret { .. }
                | Self::Br { .. }
                | Self::CondBr { .. }
                | Self::Switch { .. }
                | Self::IndirectBr { .. }
                | Self::Invoke { .. }
                | Self::CallBr { .. }
                | Self::Unreachable
                | Self::Resume { .. }
                | Self::CatchSwitch { .. }
                | Self::CleanupRet { .. }
                | Self::CatchRet { .. }
        )
    }

    /// The call that a call, invoke or callbr makes.
    pub fn call(&self) -> Option<CallId> {
        match *self {
            Self::Call(call) | Self::Invoke { call, .. } | Self::CallBr { call, .. } => Some(call),
            _ => None,
        }
    }
}

/// What a call, invoke or callbr calls, and with what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawCall {
    /// The function called: a function, an alias, inline assembly, or any pointer.
    pub callee: ValueId,
    /// The function type of the call (never a pointer type).
    pub function_ty: TypeId,
    /// Arguments in [`crate::RawBody::operands`]: values, or metadata where the parameter type says so.
    pub args: PoolRange,
    /// Attributes at the call site.
    pub attrs: Option<AttrListId>,
    /// Calling convention by LLVM's number.
    pub calling_conv: u16,
    /// Is it a tail call?
    pub tail: TailKind,
    /// Operand bundles, in [`crate::RawBody::bundles`].
    pub bundles: PoolRange,
}

/// An operand bundle of a call (`[ "funclet"(token %1) ]`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawBundle {
    /// The tag's number, see [`crate::RawModule::bundle_tag`].
    pub tag: u32,
    /// Inputs, in [`crate::RawBody::operands`].
    pub inputs: PoolRange,
}

/// Tail-call marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TailKind {
    /// Plain call.
    None,
    /// `tail call`.
    Tail,
    /// `musttail call`.
    MustTail,
    /// `notail call`.
    NoTail,
}

/// An element of a body's operand pool, in 32 bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct RawOperand(u32);

/// What a [`RawOperand`] stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperandKind {
    /// A value.
    Value(ValueId),
    /// A basic block.
    Block(BlockId),
    /// Metadata as value (arguments of intrinsics such as `llvm.read_register`).
    Metadata(MetadataId),
}

impl RawOperand {
    const TAG_SHIFT: u32 = 30;
    /// The largest number that an operand can carry; bitcode with more values than that is refused.
    pub const MAX_NUMBER: u32 = (1 << Self::TAG_SHIFT) - 1;
    const BLOCK: u32 = 1;
    const METADATA: u32 = 2;

    /// An operand for a value; numbers above [`Self::MAX_NUMBER`] are cut off.
    pub fn value(value: ValueId) -> Self {
        Self(value.0 & Self::MAX_NUMBER)
    }

    /// An operand for a block.
    pub fn block(block: BlockId) -> Self {
        Self(block.0 & Self::MAX_NUMBER | Self::BLOCK << Self::TAG_SHIFT)
    }

    /// An operand for metadata.
    pub fn metadata(metadata: MetadataId) -> Self {
        Self(metadata.0 & Self::MAX_NUMBER | Self::METADATA << Self::TAG_SHIFT)
    }

    /// A plain number that is no value (an index of `extractvalue`, a clause kind).
    pub fn plain(number: u32) -> Self {
        Self(number & Self::MAX_NUMBER)
    }

    /// What it stands for.
    pub fn kind(self) -> OperandKind {
        match self.0 >> Self::TAG_SHIFT {
            Self::BLOCK => OperandKind::Block(BlockId(self.raw())),
            Self::METADATA => OperandKind::Metadata(MetadataId(self.raw())),
            _ => OperandKind::Value(ValueId(self.raw())),
        }
    }

    /// The bare number.
    pub fn raw(self) -> u32 {
        self.0 & Self::MAX_NUMBER
    }

    /// The value, when it is one.
    pub fn as_value(self) -> Option<ValueId> {
        match self.kind() {
            OperandKind::Value(value) => Some(value),
            _ => None,
        }
    }

    /// The block, when it is one.
    pub fn as_block(self) -> Option<BlockId> {
        match self.kind() {
            OperandKind::Block(block) => Some(block),
            _ => None,
        }
    }

    /// The metadata, when it is one.
    pub fn as_metadata(self) -> Option<MetadataId> {
        match self.kind() {
            OperandKind::Metadata(metadata) => Some(metadata),
            _ => None,
        }
    }
}

impl std::fmt::Debug for RawOperand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.kind() {
            OperandKind::Value(v) => v.fmt(f),
            OperandKind::Block(b) => b.fmt(f),
            OperandKind::Metadata(m) => m.fmt(f),
        }
    }
}

/// Unary operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// Floating-point negation.
    FNeg,
}

/// Binary operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
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
    FAdd,
    FSub,
    FMul,
    FDiv,
    FRem,
}

/// Casts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum CastOp {
    Trunc,
    ZExt,
    SExt,
    FpToUi,
    FpToSi,
    UiToFp,
    SiToFp,
    FpTrunc,
    FpExt,
    PtrToInt,
    IntToPtr,
    BitCast,
    AddrSpaceCast,
    PtrToAddr,
}

/// Comparison predicates, floating-point ones with `F`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum CmpPredicate {
    FFalse,
    FOeq,
    FOgt,
    FOge,
    FOlt,
    FOle,
    FOne,
    FOrd,
    FUno,
    FUeq,
    FUgt,
    FUge,
    FUlt,
    FUle,
    FUne,
    FTrue,
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
}

/// Atomic orderings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum Ordering {
    NotAtomic,
    Unordered,
    Monotonic,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

/// What an `atomicrmw` does; kinds that no analysis tells apart are `Other` with LLVM's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
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
    Other(u8),
}

/// A source position of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RawLoc {
    /// Line, from 1; 0 when unknown.
    pub line: u32,
    /// Column, from 1; 0 when unknown.
    pub col: u32,
    /// Scope: subprogram or lexical block.
    pub scope: Option<MetadataId>,
    /// The location of the call that this was inlined at (a `DILocation`).
    pub inlined_at: Option<MetadataId>,
    /// Made by the compiler, not written by the programmer.
    pub implicit: bool,
}

/// What the debug info says about a variable (or label) at a point of the body. The intrinsics
/// `llvm.dbg.declare/value/assign/label` (LLVM ≤ 18) and the debug records (≥ 19) both become this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DebugRecord {
    /// The record stands before this instruction of the body.
    pub before: u32,
    /// Its source location.
    pub loc: Option<LocId>,
    /// Declare, value, assign or label.
    pub kind: DebugRecordKind,
    /// The `DILocalVariable` (or `DILabel`).
    pub variable: MetadataId,
    /// The `DIExpression`; `None` for labels.
    pub expression: Option<MetadataId>,
    /// The value (of `Value`, `Assign`) or address (of `Declare`).
    pub value: DebugValue,
    /// The address of `Assign`.
    pub address: DebugValue,
}

/// Kinds of debug records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DebugRecordKind {
    /// The variable lives at this address.
    Declare,
    /// The variable has this value from here on.
    Value,
    /// Both: the variable lives there and gets this value.
    Assign,
    /// A source label stands here.
    Label,
}

/// A value inside a debug record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DebugValue {
    /// Nothing: killed location or empty metadata.
    None,
    /// One value.
    Value(ValueId),
    /// `DIArgList`: several values in [`crate::RawBody::operands`], combined by the expression.
    List(PoolRange),
}
