//! Reads one FUNCTION block into a [`RawBody`].
//!
//! This file drives: nested blocks, block boundaries, debug locations, debug records, final checks. The
//! operands are read by `operands`, the instructions by `instructions` and `calls`.
//!
//! Invariants of a body that this reader returns: every value, type and block number in it exists;
//! every use has the type that its definition has; every block ends in its only terminator; every
//! result has a value number, and numbers are dense.

mod calls;
mod debug;
mod instructions;
mod operands;

use crate::bitstream::{Block, BlockHeader, Item, Record, Res, fail};
use crate::codes::{block, func, md, vst};
use crate::constant::ConstTable;
use crate::constant_reader::{Checks, ConstantReader, Unknown, check_constants};
use crate::error::{Error, ErrorKind, Result};
use crate::ids::{BlockId, LocId, PoolRange, TypeId, ValueId};
use crate::inst::{RawInst, RawInstKind, RawOperand};
use crate::metadata::{MdExtras, MdTable, md_id};
use crate::raw::{LocalValue, RawBody, RawModule, RawType, ValueNames};

/// Module format from which on operands are relative to the instruction's own number.
const RELATIVE_VERSION: u32 = 1;

impl RawModule {
    /// Decodes the body of the function with this index. May run for many functions at once.
    pub fn decode_body(&self, function_index: usize) -> Result<RawBody> {
        let header = self.body_header(function_index)?;
        let mut reader = BodyReader::new(self, function_index);
        match reader.read(header) {
            Ok(()) => Ok(reader.body),
            Err(failure) => Err(self.error(*failure)),
        }
    }

    /// Reads the names that values and blocks of a body have, when the compiler kept them.
    pub fn value_names(&self, function_index: usize) -> Result<ValueNames> {
        let header = self.body_header(function_index)?;
        read_names(self, header).map_err(|failure| self.error(*failure))
    }

    fn body_header(&self, function_index: usize) -> Result<BlockHeader> {
        match self.bodies.get(function_index) {
            Some(Some(header)) => Ok(*header),
            _ => Err(Error {
                file: self.file_name.clone(),
                bit: self.base as u64 * 8,
                what: ErrorKind::NoBody(function_index),
            }),
        }
    }
}

fn read_names(module: &RawModule, header: BlockHeader) -> Res<ValueNames> {
    let data = module.stream();
    let mut names = ValueNames::default();
    let mut record = Record::default();
    let mut outer = Block::new(data, header, &module.block_info);
    loop {
        let inner = match outer.next(&mut record)? {
            Item::End => return Ok(names),
            Item::Block(inner) if inner.id == block::VALUE_SYMTAB => inner,
            _ => continue,
        };
        let mut symtab = Block::new(data, inner, &module.block_info);
        loop {
            let id = match symtab.next(&mut record)? {
                Item::End => break,
                Item::Block(_) => continue,
                Item::Record => u32::try_from(record.get(0)).unwrap_or(u32::MAX),
            };
            match record.code {
                vst::ENTRY => names.values.push((ValueId(id), record.text(1))),
                vst::BB_ENTRY => names.blocks.push((BlockId(id), record.text(1))),
                _ => {}
            }
        }
    }
}

/// What a debug location refers to.
#[derive(Debug, Clone, Copy)]
enum Last {
    Nothing,
    Inst(usize),
    /// A debug record that came from a call.
    Debug(usize),
}

struct BodyReader<'m> {
    module: &'m RawModule,
    function_ty: TypeId,
    body: RawBody,
    relative: bool,
    declared_blocks: u64,
    /// First instruction of the open block.
    block_start: usize,
    last: Last,
    last_loc: Option<LocId>,
    /// First bundle that no call has taken yet.
    pending_bundles: usize,
    /// Uses of values that are not defined yet, with the type that the use says.
    forward: Vec<(u32, TypeId)>,
    /// Buffer for metadata nodes.
    scratch: Record,
}

impl<'m> BodyReader<'m> {
    fn new(module: &'m RawModule, function_index: usize) -> Self {
        let function_ty = module.functions[function_index].ty;
        let mut body = RawBody::empty(module.value_count());
        body.metadata = MdTable::starting_at(module.metadata.end());
        if let RawType::Function { params, .. } = &module.types[function_ty.index()] {
            body.arg_count = params.len() as u32;
            body.value_types.extend_from_slice(params);
            let args = 0..params.len() as u32;
            body.local_values.extend(args.map(LocalValue::Arg));
        }
        Self {
            module,
            function_ty,
            body,
            relative: module.version >= RELATIVE_VERSION,
            declared_blocks: 0,
            block_start: 0,
            last: Last::Nothing,
            last_loc: None,
            pending_bundles: 0,
            forward: Vec::new(),
            scratch: Record::default(),
        }
    }

    fn read(&mut self, header: BlockHeader) -> Res<()> {
        let module = self.module;
        let mut block = Block::new(module.stream(), header, &module.block_info);
        let mut record = Record::default();
        // Measured on SQLite: about 12 bytes of bitcode per instruction.
        let size = ((header.end - header.start) / 8) as usize;
        self.body.insts.reserve(size / 12);
        loop {
            match block.next(&mut record)? {
                Item::End => break,
                Item::Block(inner) => self.nested(inner, &mut record)?,
                Item::Record => self.record(&record)?,
            }
        }
        self.finish(header)
    }

    fn nested(&mut self, header: BlockHeader, record: &mut Record) -> Res<()> {
        let module = self.module;
        let (data, info) = (module.stream(), &module.block_info);
        match header.id {
            block::CONSTANTS => {
                let first = self.body.constants.constants.len();
                let mut reader = ConstantReader {
                    types: &module.types,
                    default_ty: module.lookup.i32,
                    unknown: Unknown::Refuse,
                    table: &mut self.body.constants,
                };
                reader.read(data, header, info)?;
                let body = &mut self.body;
                for (index, constant) in body.constants.constants.iter().enumerate().skip(first) {
                    body.local_values.push(LocalValue::Constant(index as u32));
                    body.value_types.push(constant.ty);
                }
            }
            block::METADATA => {
                let mut extras = MdExtras::default();
                let table = &mut self.body.metadata;
                table.read(data, header, info, record, &mut extras)?;
            }
            block::METADATA_ATTACHMENT => self.attachments(header, record)?,
            _ => {}
        }
        Ok(())
    }

    /// Only the attachments of the function itself, which have an even number of operands.
    fn attachments(&mut self, header: BlockHeader, record: &mut Record) -> Res<()> {
        let module = self.module;
        let mut block = Block::new(module.stream(), header, &module.block_info);
        loop {
            match block.next(record)? {
                Item::End => return Ok(()),
                Item::Record
                    if record.code == md::ATTACHMENT && record.ops.len().is_multiple_of(2) =>
                {
                    let mut pairs = record.ops.chunks_exact(2);
                    let dbg = pairs.rfind(|pair| pair[0] == md::KIND_DBG);
                    self.body.subprogram = dbg.map(|pair| md_id(pair[1])).or(self.body.subprogram);
                }
                _ => {}
            }
        }
    }

    fn record(&mut self, record: &Record) -> Res<()> {
        match record.code {
            func::DECLARE_BLOCKS => {
                self.declared_blocks = record.get(0);
                Ok(())
            }
            func::DEBUG_LOC => self.debug_loc(record),
            func::DEBUG_LOC_AGAIN => self.set_loc(record),
            func::DEBUG_RECORD_VALUE
            | func::DEBUG_RECORD_DECLARE
            | func::DEBUG_RECORD_ASSIGN
            | func::DEBUG_RECORD_VALUE_SIMPLE
            | func::DEBUG_RECORD_LABEL
            | func::DEBUG_RECORD_DECLARE_VALUE => self.debug_record(record),
            func::BLOCKADDR_USERS => Ok(()),
            func::OPERAND_BUNDLE => self.operand_bundle(record),
            _ if self.body.blocks.len() as u64 >= self.declared_blocks => {
                let what = ErrorKind::InvalidRecord("instruction outside of a block");
                fail(record.bit, what)
            }
            _ => self.instruction(record),
        }
    }

    /// The number that the next result will get.
    fn next_value(&self) -> u32 {
        self.body.first_value + self.body.local_values.len() as u32
    }

    /// Adds an instruction without result.
    fn push_void(&mut self, kind: RawInstKind) {
        let ty = self.module.lookup.void;
        self.push_inst(kind, ty, None);
    }

    /// Adds an instruction whose result has type `ty`.
    fn push_value(&mut self, record: &Record, kind: RawInstKind, ty: TypeId) -> Res<()> {
        match self.module.types[ty.index()] {
            RawType::Void | RawType::Function { .. } | RawType::Label | RawType::Metadata => {
                return fail(
                    record.bit,
                    ErrorKind::TypeMismatch("an instruction's result"),
                );
            }
            _ => {}
        }
        let number = self.next_value();
        if number >= RawOperand::MAX_NUMBER {
            return fail(record.bit, ErrorKind::Limit("values of a function"));
        }
        let index = self.body.insts.len() as u32;
        self.body.local_values.push(LocalValue::Inst(index));
        self.body.value_types.push(ty);
        self.push_inst(kind, ty, Some(ValueId(number)));
        Ok(())
    }

    fn push_inst(&mut self, kind: RawInstKind, ty: TypeId, result: Option<ValueId>) {
        let body = &mut self.body;
        self.last = Last::Inst(body.insts.len());
        body.insts.push(RawInst {
            kind,
            ty,
            result,
            loc: None,
        });
        if kind.is_terminator() {
            body.blocks.push(PoolRange {
                start: self.block_start as u32,
                len: (body.insts.len() - self.block_start) as u32,
            });
            self.block_start = body.insts.len();
        }
    }

    fn finish(&mut self, header: BlockHeader) -> Res<()> {
        let bad = |what| fail(header.start, ErrorKind::InvalidRecord(what));
        let complete = self.block_start == self.body.insts.len();
        if self.body.blocks.is_empty() || !complete {
            return bad("block without terminator");
        }
        if self.body.blocks.len() as u64 != self.declared_blocks {
            return bad("number of blocks");
        }
        for (id, ty) in &self.forward {
            match self.body.local_type(ValueId(*id)) {
                Some(actual) if actual == *ty => {}
                Some(_) => {
                    return fail(header.start, ErrorKind::TypeMismatch("a forward reference"));
                }
                None => return fail(header.start, ErrorKind::NoSuchValue(u64::from(*id))),
            }
        }
        let (body, module) = (&self.body, self.module);
        let checks = Checks {
            types: &module.types,
            index_of: |id: ValueId| match body.local(id) {
                Some(LocalValue::Constant(index)) => Some(index as usize),
                _ => None,
            },
            type_of: |id: ValueId| body.value_type(module, id),
            bit: header.start,
        };
        check_constants(&body.constants, &checks)?;
        let count = self.next_value();
        self.drop_dangling_debug_values(count);
        Ok(())
    }
}

impl RawBody {
    fn empty(first_value: u32) -> Self {
        Self {
            first_value,
            arg_count: 0,
            constants: ConstTable::default(),
            insts: Vec::new(),
            blocks: Vec::new(),
            operands: Vec::new(),
            calls: Vec::new(),
            bundles: Vec::new(),
            locs: Vec::new(),
            debug_records: Vec::new(),
            debug_calls: 0,
            subprogram: None,
            value_types: Vec::new(),
            local_values: Vec::new(),
            metadata: MdTable::default(),
        }
    }
}
