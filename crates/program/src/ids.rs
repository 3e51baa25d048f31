//! Typed ids of everything a [`Program`](crate::Program) holds. Their `Display` is the textual form's syntax.

use drip_base::entity_id;

entity_id! {
    /// A type in [`Types`](crate::Types).
    pub struct TypeId = "t";
    /// A global variable of the linked program.
    pub struct GlobalId = "g";
    /// A function of the linked program, declared or defined.
    pub struct FuncId = "f";
    /// A basic block of one body.
    pub struct BlockId = "b";
    /// An instruction of one body; blocks hold contiguous ranges of them.
    pub struct InstId = "i";
    /// A value of one body: parameters first, then one per instruction (also for those without a result).
    pub struct ValueId = "v";
    /// A constant of one body.
    pub struct ConstId = "c";
    /// A source-level local variable of one body.
    pub struct VarId = "x";
    /// A source position of one body.
    pub struct LocId = "l";
    /// A source file.
    pub struct FileId = "file";
    /// A source-level (debug info) type.
    pub struct DiTypeId = "d";
    /// An interned string.
    pub struct StrId = "s";
    /// A translation unit that was linked in.
    pub struct UnitId = "u";
}
