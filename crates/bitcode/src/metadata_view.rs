//! Answers questions about metadata: nodes by number, decoded when asked.
//!
//! A view is cheap and `Copy`. Every walk along scopes, types or inlined calls is bounded, because
//! corrupt input may hold cycles; past the bound the answer is what was found so far.

mod nodes;

use nodes::*;

use crate::bitstream::Record;
use crate::codes::md;
use crate::constant::RawConst;
use crate::debug_info::*;
use crate::ids::{MetadataId, ValueId};
use crate::inst::RawLoc;
use crate::metadata::{MdTable, md_id};
use crate::raw::{RawBody, RawModule};

pub(crate) use nodes::location_record;

/// Longest walk along scopes, qualifiers or inlined calls; deeper ones are cut.
const MAX_WALK: usize = 256;

/// Operands that nearly every node fits in; only a hint for the buffer.
const NODE_OPERANDS: usize = 24;

/// What capture calls all units that one process compiles.
const UNNAMED: &str = "<unit>";

/// A view on the metadata of a module, or of a module and one of its bodies.
#[derive(Debug, Clone, Copy)]
pub struct Metadata<'a> {
    module: &'a RawModule,
    local: Option<&'a MdTable>,
}

impl RawModule {
    /// The module's metadata.
    pub fn metadata(&self) -> Metadata<'_> {
        Metadata {
            module: self,
            local: None,
        }
    }

    /// Named metadata such as `llvm.dbg.cu`.
    pub fn named_metadata(&self, name: &str) -> &[MetadataId] {
        self.named_metadata
            .iter()
            .find(|(n, _)| &**n == name)
            .map_or(&[], |(_, nodes)| nodes)
    }
}

impl RawBody {
    /// The metadata that this body can refer to.
    pub fn metadata<'a>(&'a self, module: &'a RawModule) -> Metadata<'a> {
        Metadata {
            module,
            local: Some(&self.metadata),
        }
    }
}

impl<'a> Metadata<'a> {
    fn table(&self, id: MetadataId) -> Option<&'a MdTable> {
        let module = &self.module.metadata;
        if id.0 < module.end() {
            return Some(module);
        }
        self.local
    }

    fn fields(&self, id: MetadataId) -> Option<Fields<'a>> {
        let mut record = Record {
            ops: Vec::with_capacity(NODE_OPERANDS),
            ..Record::default()
        };
        let (data, info) = (self.module.stream(), &self.module.block_info);
        let found = self.table(id)?.read_node(data, info, id, &mut record);
        found.then_some(Fields {
            view: *self,
            record,
        })
    }

    fn fields_of(&self, id: MetadataId, code: u32) -> Option<Fields<'a>> {
        self.fields(id).filter(|f| f.record.code == code)
    }

    /// A string; cut at the first byte that is not UTF-8.
    pub fn string(&self, id: MetadataId) -> Option<&'a str> {
        let bytes = self.table(id)?.string(self.module.stream(), id)?;
        match std::str::from_utf8(bytes) {
            Ok(text) => Some(text),
            Err(error) => {
                let valid = bytes.get(..error.valid_up_to())?;
                std::str::from_utf8(valid).ok()
            }
        }
    }

    /// A node of any kind.
    pub fn node(&self, id: MetadataId) -> Option<MdNode<'a>> {
        if let Some(text) = self.string(id) {
            return Some(MdNode::String(text));
        }
        let f = self.fields(id)?;
        Some(match f.record.code {
            md::VALUE => MdNode::Value(value_of(&f)),
            md::NODE | md::DISTINCT_NODE => MdNode::Tuple(tuple_of(&f)),
            md::LOCATION => MdNode::Location(location_of(&f)),
            md::FILE => MdNode::File(self.named(file_of(&f))),
            md::COMPILE_UNIT => MdNode::CompileUnit(compile_unit_of(&f)),
            md::SUBPROGRAM => MdNode::Subprogram(subprogram_of(&f)),
            md::LEXICAL_BLOCK | md::LEXICAL_BLOCK_FILE => {
                MdNode::LexicalBlock(lexical_block_of(&f))
            }
            md::NAMESPACE => MdNode::Namespace(namespace_of(&f)),
            md::LOCAL_VAR => MdNode::LocalVariable(local_variable_of(&f)),
            md::LABEL => MdNode::Label(label_of(&f)),
            md::GLOBAL_VAR => MdNode::GlobalVariable(global_variable_of(&f)),
            md::GLOBAL_VAR_EXPR => MdNode::GlobalVariableExpression(global_expression_of(&f)),
            md::BASIC_TYPE => MdNode::BasicType(basic_type_of(&f)),
            md::DERIVED_TYPE => MdNode::DerivedType(derived_type_of(&f)),
            md::COMPOSITE_TYPE => MdNode::CompositeType(composite_type_of(&f)),
            md::SUBROUTINE_TYPE => MdNode::SubroutineType(DiSubroutineType { types: f.node(2) }),
            md::SUBRANGE => MdNode::Subrange(subrange_of(&f)),
            md::ENUMERATOR => MdNode::Enumerator(enumerator_of(&f)),
            md::EXPRESSION => MdNode::Expression(f.record.ops.get(1..).unwrap_or(&[]).to_vec()),
            md::ARG_LIST => MdNode::ArgList(f.record.ops.iter().map(|id| md_id(*id)).collect()),
            other => MdNode::Other(other),
        })
    }

    /// The value that a value-as-metadata node wraps.
    pub fn value(&self, id: MetadataId) -> Option<ValueId> {
        self.fields_of(id, md::VALUE).map(|f| value_of(&f))
    }

    /// The integer that a constant-as-metadata node wraps.
    pub fn constant(&self, id: MetadataId) -> Option<i64> {
        match self.module.constant(self.value(id)?)?.kind {
            RawConst::Int(number) => Some(number),
            RawConst::Null => Some(0),
            _ => None,
        }
    }

    /// The elements of a tuple.
    pub fn tuple(&self, id: MetadataId) -> Option<Vec<Option<MetadataId>>> {
        let f = self.fields(id)?;
        matches!(f.record.code, md::NODE | md::DISTINCT_NODE).then(|| tuple_of(&f))
    }

    /// A `DILocation`.
    pub fn location(&self, id: MetadataId) -> Option<DiLocation> {
        self.fields_of(id, md::LOCATION).map(|f| location_of(&f))
    }

    /// A `DIFile`.
    pub fn file(&self, id: MetadataId) -> Option<DiFile<'a>> {
        self.fields_of(id, md::FILE)
            .map(|f| self.named(file_of(&f)))
    }

    /// Units that share a process share the name that it was given; the module knows the source's.
    fn named(&self, file: DiFile<'a>) -> DiFile<'a> {
        let Some(directory) = file.filename.strip_suffix(UNNAMED) else {
            return file;
        };
        let source = self.module.source_filename.rsplit('/').next();
        let source = source.unwrap_or_default();
        let find = || {
            let unit = self.module.named_metadata("llvm.dbg.cu").first()?;
            let fields = self.fields_of(self.compile_unit(*unit)?.file?, md::FILE)?;
            let directory = file_of(&fields).filename.strip_suffix(UNNAMED)?;
            Some(format!("{directory}{source}").into())
        };
        let path = self.module.unit_file.get_or_init(find).as_deref();
        // Other nodes name the same file from a directory further down.
        let name = path.and_then(|path| {
            let start = path.len().checked_sub(directory.len() + source.len())?;
            path.get(start..).filter(|name| name.starts_with(directory))
        });
        DiFile {
            filename: name.unwrap_or(file.filename),
            ..file
        }
    }

    /// A `DICompileUnit`.
    pub fn compile_unit(&self, id: MetadataId) -> Option<DiCompileUnit<'a>> {
        self.fields_of(id, md::COMPILE_UNIT)
            .map(|f| compile_unit_of(&f))
    }

    /// A `DISubprogram`.
    pub fn subprogram(&self, id: MetadataId) -> Option<DiSubprogram<'a>> {
        self.fields_of(id, md::SUBPROGRAM)
            .map(|f| subprogram_of(&f))
    }

    /// A `DILexicalBlock` or `DILexicalBlockFile`.
    pub fn lexical_block(&self, id: MetadataId) -> Option<DiLexicalBlock> {
        let f = self.fields(id)?;
        matches!(f.record.code, md::LEXICAL_BLOCK | md::LEXICAL_BLOCK_FILE)
            .then(|| lexical_block_of(&f))
    }

    /// A `DILocalVariable`.
    pub fn local_variable(&self, id: MetadataId) -> Option<DiLocalVariable<'a>> {
        self.fields_of(id, md::LOCAL_VAR)
            .map(|f| local_variable_of(&f))
    }

    /// A `DIGlobalVariable`, also through its `DIGlobalVariableExpression`.
    pub fn global_variable(&self, id: MetadataId) -> Option<DiGlobalVariable<'a>> {
        let f = self.fields(id)?;
        match f.record.code {
            md::GLOBAL_VAR => Some(global_variable_of(&f)),
            md::GLOBAL_VAR_EXPR => {
                let variable = f.node(1)?;
                self.fields_of(variable, md::GLOBAL_VAR)
                    .map(|f| global_variable_of(&f))
            }
            _ => None,
        }
    }

    /// A `DIDerivedType`.
    pub fn derived_type(&self, id: MetadataId) -> Option<DiDerivedType<'a>> {
        self.fields_of(id, md::DERIVED_TYPE)
            .map(|f| derived_type_of(&f))
    }

    /// A `DICompositeType`.
    pub fn composite_type(&self, id: MetadataId) -> Option<DiCompositeType<'a>> {
        self.fields_of(id, md::COMPOSITE_TYPE)
            .map(|f| composite_type_of(&f))
    }

    /// A `DIExpression`'s operations.
    pub fn expression(&self, id: MetadataId) -> Option<Vec<u64>> {
        let f = self.fields_of(id, md::EXPRESSION)?;
        Some(f.record.ops.get(1..)?.to_vec())
    }

    /// The types of a `DISubroutineType` (or of a `DISubprogram`'s): result first, then parameters;
    /// `None` is `void`, and as last element of several it means variadic.
    pub fn subroutine_types(&self, id: MetadataId) -> Option<Vec<Option<MetadataId>>> {
        let f = self.fields(id)?;
        match f.record.code {
            md::SUBROUTINE_TYPE => self.tuple(f.node(2)?),
            md::SUBPROGRAM => {
                let ty = subprogram_of(&f).ty?;
                let f = self.fields_of(ty, md::SUBROUTINE_TYPE)?;
                self.tuple(f.node(2)?)
            }
            _ => None,
        }
    }

    /// The type behind typedefs and qualifiers, and whether `const` was among them.
    pub fn unqualified(&self, id: MetadataId) -> (MetadataId, bool) {
        let (mut id, mut is_const) = (id, false);
        for _ in 0..MAX_WALK {
            let Some(derived) = self.derived_type(id) else {
                break;
            };
            let passes = matches!(
                derived.tag,
                tag::TYPEDEF | tag::CONST | tag::VOLATILE | tag::RESTRICT | tag::ATOMIC
            );
            let (true, Some(base)) = (passes, derived.base) else {
                break;
            };
            is_const |= derived.tag == tag::CONST;
            id = base;
        }
        (id, is_const)
    }

    /// Whether a type is a pointer (or reference) to something `const`.
    pub fn is_pointer_to_const(&self, ty: MetadataId) -> bool {
        let (ty, _) = self.unqualified(ty);
        let Some(pointer) = self.derived_type(ty) else {
            return false;
        };
        let is_pointer = matches!(
            pointer.tag,
            tag::POINTER | tag::REFERENCE | tag::RVALUE_REFERENCE
        );
        // `const void *` has a `const` without a base.
        let to_const = pointer.base.is_some_and(|base| {
            let (end, is_const) = self.unqualified(base);
            is_const || self.derived_type(end).is_some_and(|d| d.tag == tag::CONST)
        });
        is_pointer && to_const
    }

    /// The member of a struct, class or union that covers a byte; of a union's the first one. Base
    /// classes count as members, with an empty name.
    pub fn member_at(&self, composite: MetadataId, byte: u64) -> Option<DiDerivedType<'a>> {
        let (composite, _) = self.unqualified(composite);
        let elements = self.composite_type(composite)?.elements?;
        let bit = byte.checked_mul(8)?;
        self.tuple(elements)?
            .into_iter()
            .flatten()
            .filter_map(|id| self.derived_type(id))
            .filter(|m| matches!(m.tag, tag::MEMBER | tag::INHERITANCE))
            // Static members have no place in the object.
            .filter(|m| m.flags & FLAG_STATIC_MEMBER == 0)
            .find(|m| {
                m.offset_bits <= bit && bit < m.offset_bits.saturating_add(m.size_bits.max(8))
            })
    }

    /// The enclosing subprogram and the file of a scope. Worth keeping per scope: most locations of
    /// a function share a few of them.
    pub fn scope_owner(&self, scope: MetadataId) -> (Option<MetadataId>, Option<MetadataId>) {
        let (mut scope, mut file) = (Some(scope), None);
        for _ in 0..MAX_WALK {
            let Some(id) = scope else { break };
            let Some(f) = self.fields(id) else { break };
            match f.record.code {
                md::SUBPROGRAM => return (Some(id), file.or(f.node(4))),
                md::LEXICAL_BLOCK | md::LEXICAL_BLOCK_FILE => {
                    file = file.or(f.node(2));
                    scope = f.node(1);
                }
                _ => break,
            }
        }
        (None, file)
    }

    /// File, line, column and function of a location.
    pub fn source_loc(&self, loc: &RawLoc) -> SourceLoc<'a> {
        let (function, file) = match loc.scope {
            Some(scope) => self.scope_owner(scope),
            None => (None, None),
        };
        SourceLoc {
            file: file.and_then(|id| self.file(id)),
            line: loc.line,
            col: loc.col,
            function,
        }
    }

    /// The locations of the calls that a location was inlined at, innermost first.
    pub fn inlined_at(&self, loc: &RawLoc) -> Vec<SourceLoc<'a>> {
        let mut calls = Vec::new();
        let mut next = loc.inlined_at;
        while let Some(location) = next.and_then(|id| self.location(id)) {
            calls.push(self.source_loc(&location.into()));
            next = location.inlined_at;
            if calls.len() >= MAX_WALK {
                break;
            }
        }
        calls
    }
}

/// LLVM's `DIFlagStaticMember`.
const FLAG_STATIC_MEMBER: u32 = 1 << 12;

impl From<DiLocation> for RawLoc {
    fn from(location: DiLocation) -> Self {
        RawLoc {
            line: location.line,
            col: location.col,
            scope: location.scope,
            inlined_at: location.inlined_at,
            implicit: location.implicit,
        }
    }
}
