//! Constants and constant expressions, as the CONSTANTS blocks have them.
//!
//! Operands are absolute value numbers, which may refer forward (inside the same block) and, in
//! modules of LLVM 3.x to 21, to globals, functions and other constants. Aggregates, strings and wide
//! integers live in pools, so that a constant is small and building a table needs no allocation each.

use crate::ids::{BlockId, PoolRange, TypeId, ValueId};
use crate::inst::{BinaryOp, CastOp, CmpPredicate, UnaryOp};

/// A constant with its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawConstant {
    /// The constant's type.
    pub ty: TypeId,
    /// What it is.
    pub kind: RawConst,
}

/// What a constant is. Ranges refer to the pools of the [`ConstTable`] that holds the constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RawConst {
    /// Zero, null pointer, `zeroinitializer`, `token none`.
    Null,
    /// `undef`.
    Undef,
    /// `poison`.
    Poison,
    /// An integer of at most 64 bits, sign-extended (so `i1 true` is -1). With a vector type: every
    /// element has this value; the same goes for `WideInt`, `Float` and `WideFloat`.
    Int(i64),
    /// A wider integer: little-endian words in [`ConstTable::words`].
    WideInt(PoolRange),
    /// The bits of a half, bfloat, float or double.
    Float(u64),
    /// The bits of an x86_fp80, fp128 or ppc_fp128: little-endian words in [`ConstTable::words`].
    WideFloat(PoolRange),
    /// Struct, array or vector: element values in [`ConstTable::operands`].
    Aggregate(PoolRange),
    /// Array of i8: all its bytes in [`ConstTable::bytes`], the closing NUL of a C string included.
    String(PoolRange),
    /// Array or vector of plain numbers: one word per element (integer or float bits, zero-extended)
    /// in [`ConstTable::words`].
    Data(PoolRange),
    /// Unary operator.
    Unop { op: UnaryOp, value: ValueId },
    /// Binary operator; `flags` as in [`crate::RawInstKind::Binop`].
    Binop {
        op: BinaryOp,
        flags: u8,
        lhs: ValueId,
        rhs: ValueId,
    },
    /// Cast of `value`, which has type `from`.
    Cast {
        op: CastOp,
        from: TypeId,
        value: ValueId,
    },
    /// Address computation: first operand is the base, then the indices.
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
    /// `shufflevector`.
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
    /// `blockaddress(@function, %block)`; whether that block exists shows when the function is decoded.
    BlockAddress { function: ValueId, block: BlockId },
    /// `dso_local_equivalent @f`.
    DsoLocalEquivalent(ValueId),
    /// `no_cfi @f`.
    NoCfi(ValueId),
    /// `ptrauth (ptr, …)`: only the signed pointer is kept.
    PtrAuth(ValueId),
    /// Inline assembly; both texts in [`ConstTable::bytes`].
    InlineAsm {
        text: PoolRange,
        constraints: PoolRange,
        /// Has side effects (`asm volatile`).
        side_effects: bool,
        /// The callee's function type; absent in LLVM ≤ 13, where it is the pointee of the type.
        function_ty: Option<TypeId>,
    },
    /// A module-level constant of a kind that this reader does not know, by its record code. (In a
    /// function such a constant is an error of that body.)
    Unknown { code: u32 },
}

/// Constants of a module or of one function, with their pools.
#[derive(Debug, Clone, Default)]
pub struct ConstTable {
    /// The constants in order of their value numbers.
    pub constants: Vec<RawConstant>,
    /// Pool of operand values.
    pub operands: Vec<ValueId>,
    /// Pool of 64-bit words.
    pub words: Vec<u64>,
    /// Pool of bytes.
    pub bytes: Vec<u8>,
}
