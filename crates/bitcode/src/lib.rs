//! Bytes → one raw LLVM module, without libLLVM.
//!
//! Architecture invariant: this crate knows the bitcode format and nothing about linking, SSA or
//! leaks. It reads; it never writes, and it never touches the file system.
//!
//! Entry points: `RawModule::parse(bytes, file_name)` for a file with one module,
//! `RawModule::parse_all` for object files that may hold several, `module.decode_body(function_index)`
//! for one body, `module.attrs(id)` for attributes, `module.metadata()` and `body.metadata(&module)`
//! for debug info.

mod attr_reader;
mod attrs;
mod bitstream;
mod body_reader;
mod codes;
mod constant;
mod constant_reader;
mod container;
mod cursor;
mod debug_info;
mod error;
mod ids;
mod inst;
#[cfg(test)]
mod legacy_tests;
mod metadata;
mod metadata_view;
mod module_reader;
#[cfg(test)]
mod newer_tests;
mod raw;
#[cfg(test)]
mod testing;
mod types;
mod visit;

pub use attrs::{AllocKind, AttrKind, AttrList, AttrSet, Captures, MemoryEffects, ModRef};
pub use constant::{ConstTable, RawConst, RawConstant};
pub use debug_info::{
    DiBasicType, DiCompileUnit, DiCompositeType, DiDerivedType, DiEnumerator, DiFile,
    DiGlobalVariable, DiGlobalVariableExpression, DiLabel, DiLexicalBlock, DiLocalVariable,
    DiLocation, DiNamespace, DiSubprogram, DiSubrange, DiSubroutineType, MdNode, SourceLoc, tag,
};
pub use error::{Error, ErrorKind, Result};
pub use ids::{AttrListId, BlockId, CallId, LocId, MetadataId, PoolRange, TypeId, ValueId};
pub use inst::{
    BinaryOp, CastOp, CmpPredicate, DebugRecord, DebugRecordKind, DebugValue, OperandKind,
    Ordering, RawBundle, RawCall, RawInst, RawInstKind, RawLoc, RawOperand, RmwOp, TailKind,
    UnaryOp,
};
pub use metadata_view::Metadata;
pub use raw::{
    FloatKind, Linkage, LocalValue, ModuleValue, RawAlias, RawBody, RawComdat, RawFunction,
    RawGlobal, RawModule, RawType, ValueNames, Visibility,
};
