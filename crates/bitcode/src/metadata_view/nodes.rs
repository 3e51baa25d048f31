//! From the operands of a node's record to its typed form, per kind of node.
//!
//! References to other nodes are numbers + 1, 0 meaning none. Records grow at the end from version to
//! version; an operand that is missing reads as 0.

use super::Metadata;
use crate::bitstream::Record;
use crate::codes::md;
use crate::constant_reader::unrotate;
use crate::debug_info::*;
use crate::ids::{MetadataId, ValueId};
use crate::metadata::md_id;

/// LLVM's `DIFlags`.
const FLAG_ARTIFICIAL: u64 = 1 << 6;
/// LLVM's `DISPFlags`.
const SP_LOCAL: u64 = 1 << 2;
const SP_DEFINITION: u64 = 1 << 3;

/// Operands of a node's record.
pub(super) struct Fields<'a> {
    pub(super) view: Metadata<'a>,
    pub(super) record: Record,
}

impl<'a> Fields<'a> {
    fn int(&self, index: usize) -> u64 {
        self.record.get(index)
    }

    fn u32(&self, index: usize) -> u32 {
        self.record.get(index) as u32
    }

    pub(super) fn node(&self, index: usize) -> Option<MetadataId> {
        self.record.get(index).checked_sub(1).map(md_id)
    }

    fn text(&self, index: usize) -> &'a str {
        self.node(index)
            .and_then(|id| self.view.string(id))
            .unwrap_or("")
    }

    /// A size: a plain number, or (LLVM ≥ 21, when `is_node`) a constant as metadata.
    fn size(&self, index: usize, is_node: bool) -> u64 {
        if !is_node {
            return self.int(index);
        }
        let constant = self.node(index).and_then(|id| self.view.constant(id));
        constant.map_or(0, |number| number as u64)
    }
}

pub(super) fn value_of(f: &Fields<'_>) -> ValueId {
    ValueId(u32::try_from(f.int(1)).unwrap_or(u32::MAX))
}

pub(super) fn tuple_of(f: &Fields<'_>) -> Vec<Option<MetadataId>> {
    let element = |op: &u64| op.checked_sub(1).map(md_id);
    f.record.ops.iter().map(element).collect()
}

pub(super) fn location_of(f: &Fields<'_>) -> DiLocation {
    location_record(&f.record)
}

/// The location in a `DILocation` record.
pub(crate) fn location_record(record: &Record) -> DiLocation {
    DiLocation {
        line: record.get(1) as u32,
        col: record.get(2) as u32,
        // Unlike other operands, the scope is never absent and has no offset of one.
        scope: record.ops.get(3).map(|id| md_id(*id)),
        inlined_at: record.get(4).checked_sub(1).map(md_id),
        implicit: record.get(5) != 0,
    }
}

pub(super) fn file_of<'a>(f: &Fields<'a>) -> DiFile<'a> {
    DiFile {
        filename: f.text(1),
        directory: f.text(2),
    }
}

pub(super) fn compile_unit_of<'a>(f: &Fields<'a>) -> DiCompileUnit<'a> {
    DiCompileUnit {
        language: f.u32(1),
        file: f.node(2),
        producer: f.text(3),
        optimized: f.int(4) != 0,
    }
}

pub(super) fn subprogram_of<'a>(f: &Fields<'a>) -> DiSubprogram<'a> {
    const HAS_SP_FLAGS: u64 = 4;
    const HAS_UNIT: u64 = 2;
    let head = f.int(0);
    let (is_local, is_definition, unit, declaration);
    if head & HAS_SP_FLAGS != 0 {
        is_local = f.int(9) & SP_LOCAL != 0;
        is_definition = f.int(9) & SP_DEFINITION != 0;
        unit = f.node(12);
        declaration = f.node(14);
    } else {
        // LLVM ≤ 7: separate booleans, and the unit only in the later ones.
        let shift = usize::from(f.record.ops.len() >= 19);
        is_local = f.int(7) != 0;
        is_definition = f.int(8) != 0;
        unit = f.node(15).filter(|_| head & HAS_UNIT != 0);
        declaration = f.node(16 + shift);
    }
    DiSubprogram {
        name: f.text(2),
        linkage_name: f.text(3),
        scope: f.node(1),
        file: f.node(4),
        line: f.u32(5),
        ty: f.node(6),
        is_definition,
        is_local,
        unit,
        declaration,
    }
}

pub(super) fn lexical_block_of(f: &Fields<'_>) -> DiLexicalBlock {
    // The fourth operand of a DILexicalBlockFile is a discriminator.
    let has_line = f.record.code == md::LEXICAL_BLOCK;
    DiLexicalBlock {
        scope: f.node(1),
        file: f.node(2),
        line: if has_line { f.u32(3) } else { 0 },
        col: if has_line { f.u32(4) } else { 0 },
    }
}

pub(super) fn namespace_of<'a>(f: &Fields<'a>) -> DiNamespace<'a> {
    // LLVM ≤ 4 had file and line as well.
    let name = if f.record.ops.len() >= 5 { 3 } else { 2 };
    DiNamespace {
        name: f.text(name),
        scope: f.node(1),
    }
}

pub(super) fn local_variable_of<'a>(f: &Fields<'a>) -> DiLocalVariable<'a> {
    // LLVM ≤ 3.7 had a tag after the head; newer records mark themselves by the alignment bit.
    let has_alignment = f.int(0) & 2 != 0;
    let shift = usize::from(!has_alignment && f.record.ops.len() > 8);
    DiLocalVariable {
        name: f.text(2 + shift),
        scope: f.node(1 + shift),
        file: f.node(3 + shift),
        line: f.u32(4 + shift),
        ty: f.node(5 + shift),
        arg: f.u32(6 + shift),
        artificial: f.int(7 + shift) & FLAG_ARTIFICIAL != 0,
    }
}

pub(super) fn label_of<'a>(f: &Fields<'a>) -> DiLabel<'a> {
    DiLabel {
        name: f.text(2),
        scope: f.node(1),
        line: f.u32(4),
    }
}

pub(super) fn global_variable_of<'a>(f: &Fields<'a>) -> DiGlobalVariable<'a> {
    DiGlobalVariable {
        name: f.text(2),
        linkage_name: f.text(3),
        scope: f.node(1),
        file: f.node(4),
        line: f.u32(5),
        ty: f.node(6),
        is_local: f.int(7) != 0,
        is_definition: f.int(8) != 0,
    }
}

pub(super) fn global_expression_of(f: &Fields<'_>) -> DiGlobalVariableExpression {
    DiGlobalVariableExpression {
        variable: f.node(1),
        expression: f.node(2),
    }
}

pub(super) fn basic_type_of<'a>(f: &Fields<'a>) -> DiBasicType<'a> {
    DiBasicType {
        tag: f.u32(1),
        name: f.text(2),
        size_bits: f.size(3, f.int(0) & 2 != 0),
        encoding: f.u32(5),
    }
}

pub(super) fn derived_type_of<'a>(f: &Fields<'a>) -> DiDerivedType<'a> {
    let size_is_node = f.int(0) & 2 != 0;
    DiDerivedType {
        tag: f.u32(1),
        name: f.text(2),
        scope: f.node(5),
        line: f.u32(4),
        base: f.node(6),
        size_bits: f.size(7, size_is_node),
        offset_bits: f.size(9, size_is_node),
        flags: f.u32(10),
    }
}

pub(super) fn composite_type_of<'a>(f: &Fields<'a>) -> DiCompositeType<'a> {
    DiCompositeType {
        tag: f.u32(1),
        name: f.text(2),
        file: f.node(3),
        line: f.u32(4),
        scope: f.node(5),
        base: f.node(6),
        size_bits: f.size(7, f.int(0) & 4 != 0),
        elements: f.node(11),
        identifier: f.text(15),
        flags: f.u32(10),
    }
}

pub(super) fn subrange_of(f: &Fields<'_>) -> DiSubrange {
    let count = match f.int(0) >> 1 {
        0 => Some(f.int(1) as i64),
        _ => f.node(1).and_then(|id| f.view.constant(id)),
    };
    DiSubrange { count }
}

pub(super) fn enumerator_of<'a>(f: &Fields<'a>) -> DiEnumerator<'a> {
    const BIG: u64 = 4;
    let value = if f.int(0) & BIG != 0 {
        f.int(3)
    } else {
        f.int(1)
    };
    DiEnumerator {
        name: f.text(2),
        value: unrotate(value),
    }
}
