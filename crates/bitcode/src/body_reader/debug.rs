//! Debug locations of instructions, and what the debug info says about variables.
//!
//! Calls to `llvm.dbg.*` become the same [`DebugRecord`]s that LLVM ≥ 19 writes directly, and are not
//! among the instructions. A direct record follows the instruction that it stands before.

use super::{BodyReader, Last};
use crate::bitstream::{Record, Res};
use crate::codes::{func, md};
use crate::ids::{LocId, MetadataId, ValueId};
use crate::inst::{DebugRecord, DebugRecordKind, DebugValue, RawCall, RawLoc, RawOperand};
use crate::metadata::md_id;
use crate::metadata_view::location_record;
use crate::raw::{DebugIntrinsic, ModuleValue};

use super::operands::Ops;

impl BodyReader<'_> {
    pub(super) fn debug_loc(&mut self, record: &Record) -> Res<()> {
        let ops = Ops::new(record, "debug location");
        if ops.left() < 4 {
            return ops.bad();
        }
        let loc = RawLoc {
            line: record.get(0) as u32,
            col: record.get(1) as u32,
            scope: record.get(2).checked_sub(1).map(md_id),
            inlined_at: record.get(3).checked_sub(1).map(md_id),
            implicit: record.get(4) != 0,
        };
        self.last_loc = Some(self.add_loc(loc));
        self.set_loc(record)
    }

    fn add_loc(&mut self, loc: RawLoc) -> LocId {
        let id = LocId(self.body.locs.len() as u32);
        self.body.locs.push(loc);
        id
    }

    /// Gives the last instruction (or converted debug call) the last location.
    pub(super) fn set_loc(&mut self, record: &Record) -> Res<()> {
        let loc = self.last_loc;
        match self.last {
            Last::Inst(index) => self.body.insts[index].loc = loc,
            Last::Debug(index) => self.body.debug_records[index].loc = loc,
            Last::Nothing => return Ops::new(record, "debug location").bad(),
        }
        Ok(())
    }

    /// Turns a call to a debug intrinsic into a record; says whether it was one.
    pub(super) fn debug_call(&mut self, call: &RawCall) -> bool {
        let Some(ModuleValue::Function(callee)) = self.module.value(call.callee) else {
            return false;
        };
        let Some(Some(intrinsic)) = self.module.debug_intrinsics.get(callee as usize) else {
            return false;
        };
        let args = call.args;
        let arg = |index: usize| -> Option<MetadataId> {
            args.of(&self.body.operands).get(index)?.as_metadata()
        };
        let (kind, variable, value, address) = match intrinsic {
            DebugIntrinsic::Declare => (DebugRecordKind::Declare, arg(1), arg(0), None),
            DebugIntrinsic::Value => (DebugRecordKind::Value, arg(1), arg(0), None),
            DebugIntrinsic::Assign => (DebugRecordKind::Assign, arg(1), arg(0), arg(4)),
            DebugIntrinsic::Label => (DebugRecordKind::Label, arg(0), None, None),
        };
        let expression = match intrinsic {
            DebugIntrinsic::Label => None,
            _ => arg(2),
        };
        let Some(variable) = variable else {
            return false;
        };
        self.body.operands.truncate(args.start as usize);
        self.body.debug_calls += 1;
        self.last = Last::Debug(self.body.debug_records.len());
        let record = DebugRecord {
            before: self.body.insts.len() as u32,
            loc: None,
            kind,
            variable,
            expression,
            value: self.debug_value(value),
            address: self.debug_value(address),
        };
        self.body.debug_records.push(record);
        true
    }

    /// A record of LLVM ≥ 19.
    pub(super) fn debug_record(&mut self, record: &Record) -> Res<()> {
        let mut ops = Ops::new(record, "debug record");
        let Some(before) = self.body.insts.len().checked_sub(1) else {
            return ops.bad();
        };
        let location = md_id(ops.next()?);
        let variable = md_id(ops.next()?);
        let (mut expression, mut value, mut address) = (None, DebugValue::None, DebugValue::None);
        let kind = match record.code {
            func::DEBUG_RECORD_VALUE | func::DEBUG_RECORD_VALUE_SIMPLE => DebugRecordKind::Value,
            // A declared value holds the variable itself, so it reads as a value.
            func::DEBUG_RECORD_DECLARE_VALUE => DebugRecordKind::Value,
            func::DEBUG_RECORD_DECLARE => DebugRecordKind::Declare,
            func::DEBUG_RECORD_ASSIGN => DebugRecordKind::Assign,
            _ => DebugRecordKind::Label,
        };
        if kind != DebugRecordKind::Label {
            expression = Some(md_id(ops.next()?));
            value = if record.code == func::DEBUG_RECORD_VALUE_SIMPLE {
                DebugValue::Value(self.typed_value(&mut ops)?.0)
            } else {
                let node = md_id(ops.next()?);
                self.debug_value(Some(node))
            };
        }
        if kind == DebugRecordKind::Assign {
            // The id that links the record with its store, and the address's expression.
            ops.next()?;
            ops.next()?;
            let node = md_id(ops.next()?);
            address = self.debug_value(Some(node));
        }
        let loc = self.location_node(location);
        self.body.debug_records.push(DebugRecord {
            before: before as u32,
            loc,
            kind,
            variable,
            expression,
            value,
            address,
        });
        Ok(())
    }

    /// Reads a metadata node into the scratch buffer.
    fn load_node(&mut self, id: MetadataId) -> bool {
        let module = self.module;
        let table = if id.0 < module.metadata.end() {
            &module.metadata
        } else {
            &self.body.metadata
        };
        table.read_node(module.stream(), &module.block_info, id, &mut self.scratch)
    }

    fn location_node(&mut self, id: MetadataId) -> Option<LocId> {
        if !self.load_node(id) || self.scratch.code != md::LOCATION {
            return None;
        }
        let loc = location_record(&self.scratch).into();
        Some(self.add_loc(loc))
    }

    fn value_node(&mut self, id: MetadataId) -> Option<ValueId> {
        if !self.load_node(id) || self.scratch.code != md::VALUE {
            return None;
        }
        let number = u32::try_from(self.scratch.get(1)).ok()?;
        (number <= RawOperand::MAX_NUMBER).then_some(ValueId(number))
    }

    /// The value or values behind the metadata of a debug record.
    fn debug_value(&mut self, id: Option<MetadataId>) -> DebugValue {
        let Some(id) = id else {
            return DebugValue::None;
        };
        if let Some(value) = self.value_node(id) {
            return DebugValue::Value(value);
        }
        if self.scratch.code != md::ARG_LIST || !self.load_node(id) {
            return DebugValue::None;
        }
        let nodes = std::mem::take(&mut self.scratch.ops);
        let start = self.pool();
        for node in &nodes {
            if let Some(value) = self.value_node(md_id(*node)) {
                self.push_operand(RawOperand::value(value));
            }
        }
        let complete = self.pool() - start == nodes.len();
        if !complete {
            self.body.operands.truncate(start);
            return DebugValue::None;
        }
        DebugValue::List(self.pool_since(start))
    }

    /// Debug values may refer forward; what turned out not to exist becomes "nothing".
    pub(super) fn drop_dangling_debug_values(&mut self, value_count: u32) {
        let operands = &self.body.operands;
        for record in &mut self.body.debug_records {
            for value in [&mut record.value, &mut record.address] {
                let dangling = match value {
                    DebugValue::None => false,
                    DebugValue::Value(id) => id.0 >= value_count,
                    DebugValue::List(range) => {
                        range.of(operands).iter().any(|o| o.raw() >= value_count)
                    }
                };
                if dangling {
                    *value = DebugValue::None;
                }
            }
        }
    }
}
