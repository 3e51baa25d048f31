//! The raw module: what one bitcode file says, decoded but not interpreted.
//!
//! Numbering is LLVM's own. Module values are, in the order of their records: global variables,
//! functions, aliases, ifuncs, then the module's constants. A function's values follow: arguments,
//! function constants, then every instruction with a result.
//!
//! Invariant: a `RawModule` is immutable after parsing and `Sync`; bodies decode from it in parallel.

use std::sync::{Arc, OnceLock};

use crate::attr_reader::AttrTable;
use crate::attrs::AttrList;
use crate::bitstream::{BlockHeader, BlockInfo};
use crate::constant::{ConstTable, RawConstant};
use crate::ids::{AttrListId, BlockId, CallId, LocId, MetadataId, PoolRange, TypeId, ValueId};
use crate::inst::{DebugRecord, RawBundle, RawCall, RawInst, RawLoc, RawOperand};
use crate::metadata::MdTable;
use crate::types::TypeLookup;

/// A type of the module's type table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RawType {
    /// `void`.
    Void,
    /// A floating-point type.
    Float(FloatKind),
    /// `iN`.
    Integer(u32),
    /// `bN` (LLVM ≥ 22).
    Byte(u32),
    /// Pointer; `pointee` only with the typed pointers of LLVM ≤ 14.
    Pointer {
        pointee: Option<TypeId>,
        addrspace: u32,
    },
    /// Function type.
    Function {
        ret: TypeId,
        params: Box<[TypeId]>,
        vararg: bool,
    },
    /// Struct, literal when it has no name; a class or union too.
    Struct {
        name: Option<Box<str>>,
        packed: bool,
        elems: Box<[TypeId]>,
        /// Declared without a body.
        opaque: bool,
    },
    /// `[len x elem]`.
    Array { len: u64, elem: TypeId },
    /// `<len x elem>`, or `<vscale x len x elem>`.
    Vector {
        len: u32,
        elem: TypeId,
        scalable: bool,
    },
    /// `label`.
    Label,
    /// `metadata`.
    Metadata,
    /// `token`.
    Token,
    /// `x86_mmx`.
    X86Mmx,
    /// `x86_amx`.
    X86Amx,
    /// `target("name", …)`.
    TargetExt {
        name: Box<str>,
        types: Box<[TypeId]>,
        ints: Box<[u32]>,
    },
}

/// Floating-point formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum FloatKind {
    Half,
    BFloat,
    Float,
    Double,
    X86Fp80,
    Fp128,
    PpcFp128,
}

/// Linkage of a symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Linkage {
    External,
    AvailableExternally,
    LinkOnceAny,
    LinkOnceOdr,
    WeakAny,
    WeakOdr,
    Appending,
    Internal,
    Private,
    ExternalWeak,
    Common,
}

/// Visibility of a symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Visibility {
    Default,
    Hidden,
    Protected,
}

/// A global variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawGlobal {
    /// Symbol name; empty when it has none.
    pub name: Box<str>,
    /// Its value number (whose type is a pointer).
    pub value: ValueId,
    /// The type of what it holds.
    pub ty: TypeId,
    /// Address space.
    pub addrspace: u32,
    /// `constant` instead of `global`.
    pub is_const: bool,
    /// The initial value; `None` for a declaration.
    pub initializer: Option<ValueId>,
    /// Linkage.
    pub linkage: Linkage,
    /// Visibility.
    pub visibility: Visibility,
    /// One per thread.
    pub thread_local: bool,
    /// Section, as index into [`RawModule::sections`].
    pub section: Option<u32>,
    /// Comdat, as index into [`RawModule::comdats`].
    pub comdat: Option<u32>,
    /// `!dbg` attachments: `DIGlobalVariableExpression` nodes.
    pub dbg: Vec<MetadataId>,
}

/// A function, defined or declared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawFunction {
    /// Symbol name; empty when it has none.
    pub name: Box<str>,
    /// Its value number (whose type is a pointer).
    pub value: ValueId,
    /// Its function type.
    pub ty: TypeId,
    /// Calling convention by LLVM's number.
    pub calling_conv: u16,
    /// Has no body in this module.
    pub is_declaration: bool,
    /// Linkage.
    pub linkage: Linkage,
    /// Visibility.
    pub visibility: Visibility,
    /// Attributes.
    pub attrs: Option<AttrListId>,
    /// Section, as index into [`RawModule::sections`].
    pub section: Option<u32>,
    /// Comdat, as index into [`RawModule::comdats`].
    pub comdat: Option<u32>,
    /// Personality routine.
    pub personality: Option<ValueId>,
    /// Prefix data.
    pub prefix: Option<ValueId>,
    /// Prologue data.
    pub prologue: Option<ValueId>,
    /// `!dbg` of a declaration. That of a definition stands in its body: [`RawBody::subprogram`].
    pub dbg: Option<MetadataId>,
}

/// An alias or an ifunc.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawAlias {
    /// Symbol name.
    pub name: Box<str>,
    /// Its value number.
    pub value: ValueId,
    /// The type of what it names (a function type for functions).
    pub ty: TypeId,
    /// Address space.
    pub addrspace: u32,
    /// The aliasee, or the resolver function of an ifunc (a global or a constant expression).
    pub target: ValueId,
    /// Linkage.
    pub linkage: Linkage,
    /// Visibility.
    pub visibility: Visibility,
    /// One per thread.
    pub thread_local: bool,
}

/// A comdat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawComdat {
    /// Name.
    pub name: Box<str>,
    /// Selection kind by LLVM's number (1 any, 2 exact match, 3 largest, 4 no duplicates, 5 same size).
    pub selection: u32,
}

/// What a module-level value number stands for; indices into the module's tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ModuleValue {
    /// [`RawModule::globals`].
    Global(u32),
    /// [`RawModule::functions`].
    Function(u32),
    /// [`RawModule::aliases`].
    Alias(u32),
    /// [`RawModule::ifuncs`].
    Ifunc(u32),
    /// [`RawModule::constants`].
    Constant(u32),
}

/// What a value number of a body stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LocalValue {
    /// Argument with this number.
    Arg(u32),
    /// [`RawBody::constants`].
    Constant(u32),
    /// [`RawBody::insts`].
    Inst(u32),
}

/// One module as its bitcode has it.
#[derive(Debug)]
pub struct RawModule {
    /// The name that the caller gave for the input.
    pub file_name: Arc<str>,
    /// Producer, such as `LLVM19.1.7`.
    pub producer: Box<str>,
    /// Bitcode epoch; 0 so far.
    pub epoch: u64,
    /// Module format version: 0 absolute ids, 1 relative ids, 2 with string table.
    pub version: u32,
    /// Target triple.
    pub triple: Box<str>,
    /// Data layout string.
    pub data_layout: Box<str>,
    /// Name of the source file.
    pub source_filename: Box<str>,
    /// Module-level inline assembly.
    pub inline_asm: Box<str>,
    /// Types. The reader may append types that no record defines (`i1`, `ptr`).
    pub types: Vec<RawType>,
    /// Section names.
    pub sections: Vec<Box<str>>,
    /// Comdats.
    pub comdats: Vec<RawComdat>,
    /// Global variables.
    pub globals: Vec<RawGlobal>,
    /// Functions.
    pub functions: Vec<RawFunction>,
    /// Aliases.
    pub aliases: Vec<RawAlias>,
    /// Ifuncs.
    pub ifuncs: Vec<RawAlias>,
    /// Module-level constants.
    pub constants: ConstTable,
    pub(crate) values: Vec<ModuleValue>,
    pub(crate) value_types: Vec<TypeId>,
    pub(crate) data: Arc<[u8]>,
    /// The module's stream is `data[base..base + len]`.
    pub(crate) base: usize,
    pub(crate) len: usize,
    pub(crate) block_info: BlockInfo,
    pub(crate) metadata: MdTable,
    /// The file of a compile unit that has no name of its own.
    pub(crate) unit_file: OnceLock<Option<Box<str>>>,
    pub(crate) named_metadata: Vec<(Box<str>, Vec<MetadataId>)>,
    pub(crate) attrs: AttrTable,
    pub(crate) lookup: TypeLookup,
    pub(crate) bundle_tags: Vec<Box<str>>,
    /// Per function: where its body lies.
    pub(crate) bodies: Vec<Option<BlockHeader>>,
    /// Per function: is it a `llvm.dbg` intrinsic?
    pub(crate) debug_intrinsics: Vec<Option<DebugIntrinsic>>,
    pub(crate) alloca_addrspace: u32,
}

/// The debug-info intrinsics of LLVM ≤ 18.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DebugIntrinsic {
    Declare,
    Value,
    Assign,
    Label,
}

impl DebugIntrinsic {
    pub(crate) fn of(name: &str) -> Option<Self> {
        match name {
            "llvm.dbg.declare" | "llvm.dbg.addr" => Some(Self::Declare),
            "llvm.dbg.value" => Some(Self::Value),
            "llvm.dbg.assign" => Some(Self::Assign),
            "llvm.dbg.label" => Some(Self::Label),
            _ => None,
        }
    }
}

impl RawModule {
    /// The bytes of the module's stream.
    pub(crate) fn stream(&self) -> &[u8] {
        self.data
            .get(self.base..self.base + self.len)
            .unwrap_or(&[])
    }

    /// The attributes with this number.
    pub fn attrs(&self, id: AttrListId) -> AttrList<'_> {
        self.attrs.list(id)
    }

    /// The attributes that a function or call refers to; the empty list for `None`.
    pub fn attrs_or_empty(&self, id: Option<AttrListId>) -> AttrList<'_> {
        id.map_or(AttrList::EMPTY, |id| self.attrs.list(id))
    }

    /// Name of an operand bundle's tag, such as `funclet` or `align`.
    pub fn bundle_tag(&self, tag: u32) -> Option<&str> {
        self.bundle_tags.get(tag as usize).map(|name| &**name)
    }

    /// Whether the function has a body here that [`Self::decode_body`] can read.
    pub fn has_body(&self, function_index: usize) -> bool {
        matches!(self.bodies.get(function_index), Some(Some(_)))
    }

    /// Bytes that a function's body takes in the file: a measure of its size before decoding it.
    pub fn body_size(&self, function_index: usize) -> usize {
        match self.bodies.get(function_index) {
            Some(Some(header)) => ((header.end - header.start) / 8) as usize,
            _ => 0,
        }
    }

    /// Number of module-level values; a function's values start there.
    pub fn value_count(&self) -> u32 {
        self.values.len() as u32
    }

    /// What a module-level value number stands for.
    pub fn value(&self, id: ValueId) -> Option<ModuleValue> {
        self.values.get(id.index()).copied()
    }

    /// Type of a module-level value (a pointer for globals and functions).
    pub fn value_type(&self, id: ValueId) -> Option<TypeId> {
        self.value_types.get(id.index()).copied()
    }

    /// The module-level constant with this value number.
    pub fn constant(&self, id: ValueId) -> Option<&RawConstant> {
        match self.value(id)? {
            ModuleValue::Constant(index) => self.constants.constants.get(index as usize),
            _ => None,
        }
    }

    /// The type with this number.
    pub fn ty(&self, id: TypeId) -> Option<&RawType> {
        self.types.get(id.index())
    }
}

/// The names that values and blocks of a body have; empty when the compiler dropped them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ValueNames {
    /// Names of arguments and instructions.
    pub values: Vec<(ValueId, Box<str>)>,
    /// Names of blocks.
    pub blocks: Vec<(BlockId, Box<str>)>,
}

/// A decoded function body.
#[derive(Debug, Clone)]
pub struct RawBody {
    /// Value number of the first argument; arguments follow one another.
    pub first_value: u32,
    /// Number of arguments.
    pub arg_count: u32,
    /// The function's own constants.
    pub constants: ConstTable,
    /// All instructions in order.
    pub insts: Vec<RawInst>,
    /// Blocks in order: the range of `insts` that each one has (never empty).
    pub blocks: Vec<PoolRange>,
    /// Pool for operand lists.
    pub operands: Vec<RawOperand>,
    /// Calls, referred to by instructions.
    pub calls: Vec<RawCall>,
    /// Operand bundles, referred to by calls.
    pub bundles: Vec<RawBundle>,
    /// Source locations, referred to by instructions.
    pub locs: Vec<RawLoc>,
    /// Debug records in order of their position.
    pub debug_records: Vec<DebugRecord>,
    /// How many debug records were calls to `llvm.dbg.*` (which are not among `insts`).
    pub debug_calls: u32,
    /// The function's `DISubprogram`.
    pub subprogram: Option<MetadataId>,
    pub(crate) value_types: Vec<TypeId>,
    pub(crate) local_values: Vec<LocalValue>,
    pub(crate) metadata: MdTable,
}

impl RawBody {
    /// What a local value number stands for; `None` for module-level numbers.
    pub fn local(&self, id: ValueId) -> Option<LocalValue> {
        let index = id.0.checked_sub(self.first_value)?;
        self.local_values.get(index as usize).copied()
    }

    /// Type of a local value.
    pub fn local_type(&self, id: ValueId) -> Option<TypeId> {
        let index = id.0.checked_sub(self.first_value)?;
        self.value_types.get(index as usize).copied()
    }

    /// Type of any value that the body uses.
    pub fn value_type(&self, module: &RawModule, id: ValueId) -> Option<TypeId> {
        self.local_type(id).or_else(|| module.value_type(id))
    }

    /// The constant that a value stands for, local or of the module, with the table of its pools.
    pub fn constant<'a>(
        &'a self,
        module: &'a RawModule,
        id: ValueId,
    ) -> Option<(&'a RawConstant, &'a ConstTable)> {
        match self.local(id) {
            Some(LocalValue::Constant(index)) => {
                let constant = self.constants.constants.get(index as usize)?;
                Some((constant, &self.constants))
            }
            Some(_) => None,
            None => Some((module.constant(id)?, &module.constants)),
        }
    }

    /// Value number of argument `index`.
    pub fn arg(&self, index: u32) -> ValueId {
        ValueId(self.first_value + index)
    }

    /// Number of local values.
    pub fn local_count(&self) -> u32 {
        self.local_values.len() as u32
    }

    /// The instructions of a block.
    pub fn block(&self, block: BlockId) -> &[RawInst] {
        self.blocks
            .get(block.index())
            .map_or(&[], |range| range.of(&self.insts))
    }

    /// A call by its number.
    pub fn call(&self, id: CallId) -> Option<&RawCall> {
        self.calls.get(id.index())
    }

    /// A location by its number.
    pub fn loc(&self, id: LocId) -> Option<&RawLoc> {
        self.locs.get(id.index())
    }

    /// The operands of a range.
    pub fn operands(&self, range: PoolRange) -> &[RawOperand] {
        range.of(&self.operands)
    }
}
