//! The debug-info nodes that drip asks for, as typed views.
//!
//! Nodes are decoded on demand by `Metadata`; a corrupt node reads as absent, because debug
//! info is advice for reports and never changes what a program does.

use crate::ids::{MetadataId, ValueId};

/// Any metadata node.
#[derive(Debug, Clone, PartialEq)]
pub enum MdNode<'a> {
    /// `!"text"`.
    String(&'a str),
    /// A value as metadata.
    Value(ValueId),
    /// `!{…}`, distinct or not.
    Tuple(Vec<Option<MetadataId>>),
    /// `DILocation`.
    Location(DiLocation),
    /// `DIFile`.
    File(DiFile<'a>),
    /// `DICompileUnit`.
    CompileUnit(DiCompileUnit<'a>),
    /// `DISubprogram`.
    Subprogram(DiSubprogram<'a>),
    /// `DILexicalBlock` or `DILexicalBlockFile`.
    LexicalBlock(DiLexicalBlock),
    /// `DINamespace`.
    Namespace(DiNamespace<'a>),
    /// `DILocalVariable`.
    LocalVariable(DiLocalVariable<'a>),
    /// `DILabel`.
    Label(DiLabel<'a>),
    /// `DIGlobalVariable`.
    GlobalVariable(DiGlobalVariable<'a>),
    /// `DIGlobalVariableExpression`.
    GlobalVariableExpression(DiGlobalVariableExpression),
    /// `DIBasicType`.
    BasicType(DiBasicType<'a>),
    /// `DIDerivedType`: pointer, member, typedef, const …
    DerivedType(DiDerivedType<'a>),
    /// `DICompositeType`: struct, class, union, array, enum.
    CompositeType(DiCompositeType<'a>),
    /// `DISubroutineType`.
    SubroutineType(DiSubroutineType),
    /// `DISubrange`.
    Subrange(DiSubrange),
    /// `DIEnumerator`.
    Enumerator(DiEnumerator<'a>),
    /// `DIExpression`: DWARF operations.
    Expression(Vec<u64>),
    /// `DIArgList`: values as metadata.
    ArgList(Vec<MetadataId>),
    /// A node of a kind that no client asks for, by its record code.
    Other(u32),
}

/// A source position as a node (the position of an inlined call).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DiLocation {
    /// Line, 0 when unknown.
    pub line: u32,
    /// Column, 0 when unknown.
    pub col: u32,
    /// Subprogram or lexical block.
    pub scope: Option<MetadataId>,
    /// The next outer call.
    pub inlined_at: Option<MetadataId>,
    /// Made by the compiler.
    pub implicit: bool,
}

/// A source file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiFile<'a> {
    /// Name, relative to `directory` unless absolute.
    pub filename: &'a str,
    /// Directory, may be empty.
    pub directory: &'a str,
}

/// A translation unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiCompileUnit<'a> {
    /// DWARF language code (`DW_LANG_C99` is 12, `DW_LANG_C_plus_plus_14` is 33 …).
    pub language: u32,
    /// Main file.
    pub file: Option<MetadataId>,
    /// Compiler.
    pub producer: &'a str,
    /// Was the optimiser on?
    pub optimized: bool,
}

/// A function of the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiSubprogram<'a> {
    /// Source name.
    pub name: &'a str,
    /// Mangled name, empty when the same.
    pub linkage_name: &'a str,
    /// Class, namespace or file.
    pub scope: Option<MetadataId>,
    /// File.
    pub file: Option<MetadataId>,
    /// Line of the declaration.
    pub line: u32,
    /// `DISubroutineType`.
    pub ty: Option<MetadataId>,
    /// Is this a definition?
    pub is_definition: bool,
    /// Local to the unit (`static`).
    pub is_local: bool,
    /// Compile unit of a definition.
    pub unit: Option<MetadataId>,
    /// The declaration inside a class.
    pub declaration: Option<MetadataId>,
}

/// A block of the source; a `DILexicalBlockFile` has line and column 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiLexicalBlock {
    /// Enclosing scope.
    pub scope: Option<MetadataId>,
    /// File.
    pub file: Option<MetadataId>,
    /// Line.
    pub line: u32,
    /// Column.
    pub col: u32,
}

/// A namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiNamespace<'a> {
    /// Name; empty when anonymous.
    pub name: &'a str,
    /// Enclosing scope.
    pub scope: Option<MetadataId>,
}

/// A local variable or parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiLocalVariable<'a> {
    /// Source name.
    pub name: &'a str,
    /// Subprogram or lexical block.
    pub scope: Option<MetadataId>,
    /// File.
    pub file: Option<MetadataId>,
    /// Line.
    pub line: u32,
    /// Type.
    pub ty: Option<MetadataId>,
    /// Number of the parameter from 1; 0 for a local variable.
    pub arg: u32,
    /// Made by the compiler (`this`, block captures …).
    pub artificial: bool,
}

/// A label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiLabel<'a> {
    /// Source name.
    pub name: &'a str,
    /// Scope.
    pub scope: Option<MetadataId>,
    /// Line.
    pub line: u32,
}

/// A global or static variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiGlobalVariable<'a> {
    /// Source name.
    pub name: &'a str,
    /// Mangled name, empty when the same.
    pub linkage_name: &'a str,
    /// Scope: file, or the function of a static local.
    pub scope: Option<MetadataId>,
    /// File.
    pub file: Option<MetadataId>,
    /// Line.
    pub line: u32,
    /// Type.
    pub ty: Option<MetadataId>,
    /// Local to the unit (`static`).
    pub is_local: bool,
    /// Defined in this unit.
    pub is_definition: bool,
}

/// A global variable together with how to find its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiGlobalVariableExpression {
    /// `DIGlobalVariable`.
    pub variable: Option<MetadataId>,
    /// `DIExpression`.
    pub expression: Option<MetadataId>,
}

/// A number type of the source language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiBasicType<'a> {
    /// DWARF tag.
    pub tag: u32,
    /// Name.
    pub name: &'a str,
    /// Size.
    pub size_bits: u64,
    /// DWARF encoding (`DW_ATE_signed` is 5 …).
    pub encoding: u32,
}

/// A type made from another one, or a member of a struct.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiDerivedType<'a> {
    /// DWARF tag, see [`tag`].
    pub tag: u32,
    /// Name of the typedef or member.
    pub name: &'a str,
    /// Scope.
    pub scope: Option<MetadataId>,
    /// Line.
    pub line: u32,
    /// The type it is made from; `None` is `void`.
    pub base: Option<MetadataId>,
    /// Size.
    pub size_bits: u64,
    /// Offset of a member (or base class).
    pub offset_bits: u64,
    /// LLVM's `DIFlags`.
    pub flags: u32,
}

/// A struct, class, union, array or enumeration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiCompositeType<'a> {
    /// DWARF tag, see [`tag`].
    pub tag: u32,
    /// Name.
    pub name: &'a str,
    /// File.
    pub file: Option<MetadataId>,
    /// Line.
    pub line: u32,
    /// Scope.
    pub scope: Option<MetadataId>,
    /// Element type of an array, underlying type of an enumeration.
    pub base: Option<MetadataId>,
    /// Size.
    pub size_bits: u64,
    /// A tuple: members, subranges or enumerators.
    pub elements: Option<MetadataId>,
    /// Unique name across units (C++).
    pub identifier: &'a str,
    /// LLVM's `DIFlags`; bit 2 is "forward declaration".
    pub flags: u32,
}

/// A function type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiSubroutineType {
    /// A tuple: result (absent for `void`), then the parameters; a trailing `None` means variadic.
    pub types: Option<MetadataId>,
}

/// The length of one array dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiSubrange {
    /// Number of elements when constant; -1 or `None` when unknown.
    pub count: Option<i64>,
}

/// A constant of an enumeration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiEnumerator<'a> {
    /// Name.
    pub name: &'a str,
    /// Value, cut to 64 bits.
    pub value: i64,
}

/// A resolved source position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceLoc<'a> {
    /// File, when known.
    pub file: Option<DiFile<'a>>,
    /// Line, 0 when unknown.
    pub line: u32,
    /// Column, 0 when unknown.
    pub col: u32,
    /// The function of the source (the inlined one, when inlined).
    pub function: Option<MetadataId>,
}

/// DWARF tags that clients compare with.
pub mod tag {
    #![allow(missing_docs)]
    pub const ARRAY: u32 = 0x01;
    pub const CLASS: u32 = 0x02;
    pub const ENUMERATION: u32 = 0x04;
    pub const MEMBER: u32 = 0x0d;
    pub const POINTER: u32 = 0x0f;
    pub const REFERENCE: u32 = 0x10;
    pub const STRUCTURE: u32 = 0x13;
    pub const SUBROUTINE: u32 = 0x15;
    pub const TYPEDEF: u32 = 0x16;
    pub const UNION: u32 = 0x17;
    pub const INHERITANCE: u32 = 0x1c;
    pub const CONST: u32 = 0x26;
    pub const VOLATILE: u32 = 0x35;
    pub const RESTRICT: u32 = 0x37;
    pub const RVALUE_REFERENCE: u32 = 0x42;
    pub const ATOMIC: u32 = 0x47;
}
