//! Reads a MODULE block: everything but the function bodies, which are only located.
//!
//! Values get their numbers in the order of their records, exactly as LLVM's reader does it; a body's
//! block belongs to the next function record that is not a declaration.

mod globals;

use std::sync::{Arc, OnceLock};

use crate::attr_reader::AttrTable;
use crate::bitstream::{Block, BlockHeader, BlockInfo, Fail, Item, Record, Res, fail};
use crate::codes::{block, module, vst};
use crate::constant::ConstTable;
use crate::constant_reader::{Checks, ConstantReader, Unknown, check_constants};
use crate::container::{ModuleSpan, find_modules};
use crate::error::{Error, ErrorKind, Result};
use crate::ids::ValueId;
use crate::metadata::{MdExtras, MdTable};
use crate::raw::{DebugIntrinsic, ModuleValue, RawModule};
use crate::types::{TypeLookup, read_types};

/// Largest file; positions inside are kept in 32 bits.
const MAX_FILE_SIZE: usize = u32::MAX as usize;
/// Newest module format: names in a string table.
const MAX_VERSION: u64 = 2;
/// First module format with names in a string table.
const STRTAB_VERSION: u32 = 2;

impl RawModule {
    /// Reads a file that holds one module (the first one, when it holds several).
    pub fn parse(bytes: impl Into<Arc<[u8]>>, file_name: &str) -> Result<RawModule> {
        let file_name: Arc<str> = file_name.into();
        let bytes = bytes.into();
        let spans = locate(&bytes, &file_name)?;
        match spans.into_iter().next() {
            Some(span) => read_module(bytes, file_name, span),
            None => Err(Error {
                file: file_name,
                bit: 0,
                what: ErrorKind::NotBitcode,
            }),
        }
    }

    /// Reads all modules of a file: an object file that a linker made may hold several.
    pub fn parse_all(bytes: impl Into<Arc<[u8]>>, file_name: &str) -> Result<Vec<RawModule>> {
        let file_name: Arc<str> = file_name.into();
        let bytes = bytes.into();
        locate(&bytes, &file_name)?
            .into_iter()
            .map(|span| read_module(bytes.clone(), file_name.clone(), span))
            .collect()
    }
}

fn locate(bytes: &[u8], file: &Arc<str>) -> Result<Vec<ModuleSpan>> {
    let error = |bit, what| Error {
        file: file.clone(),
        bit,
        what,
    };
    if bytes.len() > MAX_FILE_SIZE {
        return Err(error(0, ErrorKind::Limit("file size of 4 GiB")));
    }
    find_modules(bytes).map_err(|failure| error(failure.bit, failure.what))
}

fn read_module(data: Arc<[u8]>, file_name: Arc<str>, span: ModuleSpan) -> Result<RawModule> {
    let mut module = RawModule::empty(data.clone(), file_name, &span);
    let stream = data.get(span.base..span.base + span.len).unwrap_or(&[]);
    let strtab = span.strtab.and_then(|(start, end)| stream.get(start..end));
    let mut reader = ModuleReader {
        module: &mut module,
        data: stream,
        strtab: strtab.unwrap_or(&[]),
        with_bodies: Vec::new(),
        bodies_seen: 0,
        extras: MdExtras::default(),
        lookup_ready: false,
    };
    match reader.read(span.module) {
        Ok(()) => Ok(module),
        Err(failure) => Err(module.error(*failure)),
    }
}

impl RawModule {
    fn empty(data: Arc<[u8]>, file_name: Arc<str>, span: &ModuleSpan) -> Self {
        Self {
            file_name,
            producer: span.producer.clone(),
            epoch: span.epoch,
            version: 0,
            triple: "".into(),
            data_layout: "".into(),
            source_filename: "".into(),
            inline_asm: "".into(),
            types: Vec::new(),
            sections: Vec::new(),
            comdats: Vec::new(),
            globals: Vec::new(),
            functions: Vec::new(),
            aliases: Vec::new(),
            ifuncs: Vec::new(),
            constants: ConstTable::default(),
            values: Vec::new(),
            value_types: Vec::new(),
            data,
            base: span.base,
            len: span.len,
            block_info: BlockInfo::default(),
            metadata: MdTable::default(),
            unit_file: OnceLock::new(),
            named_metadata: Vec::new(),
            attrs: AttrTable::default(),
            lookup: TypeLookup::default(),
            bundle_tags: Vec::new(),
            bodies: Vec::new(),
            debug_intrinsics: Vec::new(),
            alloca_addrspace: 0,
        }
    }

    /// An error of this module's file.
    pub(crate) fn error(&self, failure: Fail) -> Error {
        Error {
            file: self.file_name.clone(),
            bit: failure.bit + self.base as u64 * 8,
            what: failure.what,
        }
    }
}

struct ModuleReader<'a> {
    module: &'a mut RawModule,
    data: &'a [u8],
    strtab: &'a [u8],
    /// Functions that are not declarations, in order.
    with_bodies: Vec<u32>,
    /// How many of them have got their body.
    bodies_seen: usize,
    extras: MdExtras,
    lookup_ready: bool,
}

fn value_id(op: u64) -> ValueId {
    ValueId(u32::try_from(op).unwrap_or(u32::MAX))
}

impl ModuleReader<'_> {
    fn read(&mut self, header: BlockHeader) -> Res<()> {
        let data = self.data;
        // Abbreviations of MODULE itself are defined inside the block, never by BLOCKINFO.
        let no_info = BlockInfo::default();
        let mut block = Block::new(data, header, &no_info);
        let mut record = Record::default();
        loop {
            match block.next(&mut record)? {
                Item::End => break,
                Item::Block(inner) => self.read_block(inner)?,
                Item::Record => self.read_record(&record)?,
            }
        }
        self.finish(header)
    }

    fn read_block(&mut self, header: BlockHeader) -> Res<()> {
        let data = self.data;
        let module = &mut *self.module;
        match header.id {
            block::BLOCKINFO => module.block_info.read(data, header)?,
            block::PARAMATTR_GROUP => {
                module.attrs.read_groups(data, header, &module.block_info)?;
            }
            block::PARAMATTR => module.attrs.read_lists(data, header, &module.block_info)?,
            block::TYPE_NEW if self.lookup_ready => {
                return fail(header.start, ErrorKind::Bitstream("second type table"));
            }
            block::TYPE_NEW => {
                read_types(data, header, &module.block_info, &mut module.types)?;
                self.prepare_types();
            }
            block::CONSTANTS => self.read_constants(header)?,
            block::METADATA => {
                let mut record = Record::default();
                module.metadata.read(
                    data,
                    header,
                    &module.block_info,
                    &mut record,
                    &mut self.extras,
                )?;
            }
            block::FUNCTION => {
                let Some(function) = self.with_bodies.get(self.bodies_seen) else {
                    return fail(header.start, ErrorKind::Bitstream("body without function"));
                };
                self.bodies_seen += 1;
                if let Some(body) = module.bodies.get_mut(*function as usize) {
                    *body = Some(header);
                }
            }
            block::VALUE_SYMTAB => self.read_symtab(header)?,
            block::OPERAND_BUNDLE_TAGS => self.read_bundle_tags(header)?,
            _ => {}
        }
        Ok(())
    }

    fn prepare_types(&mut self) {
        if !self.lookup_ready {
            self.module.lookup = TypeLookup::new(&mut self.module.types);
            self.lookup_ready = true;
        }
    }

    fn read_constants(&mut self, header: BlockHeader) -> Res<()> {
        self.prepare_types();
        let module = &mut *self.module;
        let first = module.constants.constants.len();
        let mut reader = ConstantReader {
            types: &module.types,
            default_ty: module.lookup.i32,
            unknown: Unknown::Keep,
            table: &mut module.constants,
        };
        reader.read(self.data, header, &module.block_info)?;
        for (index, constant) in module.constants.constants.iter().enumerate().skip(first) {
            module.values.push(ModuleValue::Constant(index as u32));
            module.value_types.push(constant.ty);
        }
        Ok(())
    }

    fn read_bundle_tags(&mut self, header: BlockHeader) -> Res<()> {
        let mut block = Block::new(self.data, header, &self.module.block_info);
        let mut record = Record::default();
        loop {
            match block.next(&mut record)? {
                Item::End => return Ok(()),
                Item::Record => self.module.bundle_tags.push(record.text(0)),
                Item::Block(_) => {}
            }
        }
    }

    /// Names of modules without string table.
    fn read_symtab(&mut self, header: BlockHeader) -> Res<()> {
        if self.module.version >= STRTAB_VERSION {
            return Ok(());
        }
        let module = &mut *self.module;
        let mut block = Block::new(self.data, header, &module.block_info);
        let mut record = Record::default();
        loop {
            let start = match block.next(&mut record)? {
                Item::End => return Ok(()),
                Item::Record if record.code == vst::ENTRY => 1,
                Item::Record if record.code == vst::FN_ENTRY => 2,
                _ => continue,
            };
            let value = module.values.get(value_id(record.get(0)).index());
            let name = match value {
                Some(ModuleValue::Global(i)) => &mut module.globals[*i as usize].name,
                Some(ModuleValue::Function(i)) => &mut module.functions[*i as usize].name,
                Some(ModuleValue::Alias(i)) => &mut module.aliases[*i as usize].name,
                Some(ModuleValue::Ifunc(i)) => &mut module.ifuncs[*i as usize].name,
                _ => continue,
            };
            *name = record.text(start);
        }
    }

    fn read_record(&mut self, record: &Record) -> Res<()> {
        match record.code {
            module::VERSION => {
                let version = record.get(0);
                if version > MAX_VERSION {
                    let what = ErrorKind::Unsupported {
                        what: "module version",
                        number: version,
                    };
                    return fail(record.bit, what);
                }
                self.module.version = version as u32;
            }
            module::TRIPLE => self.module.triple = record.text(0),
            module::DATALAYOUT => self.module.data_layout = record.text(0),
            module::ASM => self.module.inline_asm = record.text(0),
            module::SOURCE_FILENAME => self.module.source_filename = record.text(0),
            module::SECTION_NAME => self.module.sections.push(record.text(0)),
            module::COMDAT => self.read_comdat(record)?,
            module::GLOBAL_VAR => self.read_global(record)?,
            module::FUNCTION => self.read_function(record)?,
            module::ALIAS | module::ALIAS_OLD | module::IFUNC => self.read_alias(record)?,
            _ => {}
        }
        Ok(())
    }

    /// What can only be checked or filled in at the end of the module.
    fn finish(&mut self, header: BlockHeader) -> Res<()> {
        self.prepare_types();
        self.attach_debug_info();
        self.drop_dangling_indices();
        let module = &mut *self.module;
        module.named_metadata = std::mem::take(&mut self.extras.named);
        module.alloca_addrspace = alloca_addrspace(&module.data_layout);
        let names = module.functions.iter().map(|f| DebugIntrinsic::of(&f.name));
        module.debug_intrinsics = names.collect();
        module.attrs.drop_unknown_types(module.types.len());
        let count = module.value_count();
        let used = module
            .globals
            .iter()
            .filter_map(|g| g.initializer)
            .chain(
                module
                    .functions
                    .iter()
                    .flat_map(|f| [f.personality, f.prefix, f.prologue].into_iter().flatten()),
            )
            .chain(
                module
                    .aliases
                    .iter()
                    .chain(&module.ifuncs)
                    .map(|a| a.target),
            );
        for value in used {
            if value.0 >= count {
                return fail(header.start, ErrorKind::NoSuchValue(u64::from(value.0)));
            }
        }
        let values = &module.values;
        let checks = Checks {
            types: &module.types,
            index_of: |id: ValueId| match values.get(id.index()) {
                Some(ModuleValue::Constant(index)) => Some(*index as usize),
                _ => None,
            },
            type_of: |id: ValueId| module.value_types.get(id.index()).copied(),
            bit: header.start,
        };
        check_constants(&module.constants, &checks)
    }

    /// Forgets sections and comdats that do not exist, so that clients need not check.
    fn drop_dangling_indices(&mut self) {
        let module = &mut *self.module;
        let (sections, comdats) = (module.sections.len(), module.comdats.len());
        let keep = |index: &mut Option<u32>, count: usize| {
            *index = index.filter(|i| (*i as usize) < count);
        };
        for global in &mut module.globals {
            keep(&mut global.section, sections);
            keep(&mut global.comdat, comdats);
        }
        for function in &mut module.functions {
            keep(&mut function.section, sections);
            keep(&mut function.comdat, comdats);
        }
    }

    fn attach_debug_info(&mut self) {
        let module = &mut *self.module;
        for (value, node) in std::mem::take(&mut self.extras.dbg) {
            match module.values.get(value_id(value).index()) {
                Some(ModuleValue::Global(i)) => module.globals[*i as usize].dbg.push(node),
                Some(ModuleValue::Function(i)) => module.functions[*i as usize].dbg = Some(node),
                _ => {}
            }
        }
    }
}

/// The address space of stack slots: `A<n>` in the data layout.
fn alloca_addrspace(data_layout: &str) -> u32 {
    data_layout
        .split('-')
        .find_map(|part| part.strip_prefix('A')?.parse().ok())
        .unwrap_or(0)
}
