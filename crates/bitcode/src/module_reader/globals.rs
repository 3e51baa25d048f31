//! Global variables, functions, aliases, ifuncs and comdats, in their old and new record forms.

use super::{ModuleReader, STRTAB_VERSION, value_id};
use crate::bitstream::{Record, Res, fail};
use crate::codes::module;
use crate::container::strtab_name;
use crate::error::ErrorKind;
use crate::ids::{AttrListId, TypeId, ValueId};
use crate::inst::RawOperand;
use crate::raw::{
    Linkage, ModuleValue, RawAlias, RawComdat, RawFunction, RawGlobal, RawType, Visibility,
};

/// The fields of a global's record, after its name.
struct GlobalFields<'r> {
    record: &'r Record,
    name: Box<str>,
    start: usize,
}

impl GlobalFields<'_> {
    fn get(&self, index: usize) -> u64 {
        self.record.get(self.start + index)
    }

    /// A value number stored with an offset of one, 0 meaning none.
    fn optional_value(&self, index: usize) -> Option<ValueId> {
        self.get(index).checked_sub(1).map(value_id)
    }

    /// An index stored with an offset of one.
    fn optional_index(&self, index: usize) -> Option<u32> {
        u32::try_from(self.get(index).checked_sub(1)?).ok()
    }
}

impl ModuleReader<'_> {
    /// Takes the name off a record, when the module has a string table.
    fn named<'r>(&self, record: &'r Record) -> Res<GlobalFields<'r>> {
        if self.module.version < STRTAB_VERSION {
            return Ok(GlobalFields {
                record,
                name: "".into(),
                start: 0,
            });
        }
        match strtab_name(self.strtab, record.get(0), record.get(1)) {
            Some(name) if record.ops.len() >= 2 => Ok(GlobalFields {
                record,
                name,
                start: 2,
            }),
            _ => fail(record.bit, ErrorKind::InvalidRecord("symbol name")),
        }
    }

    fn type_id(&self, record: &Record, op: u64) -> Res<TypeId> {
        if op >= self.module.types.len() as u64 {
            return fail(record.bit, ErrorKind::NoSuchType(op));
        }
        Ok(TypeId(op as u32))
    }

    /// The type and address space that a pointer type (of old records) stands for.
    fn pointee(&self, record: &Record, op: u64) -> Res<(TypeId, u32)> {
        let ty = self.type_id(record, op)?;
        match self.module.types[ty.index()] {
            RawType::Pointer {
                pointee: Some(pointee),
                addrspace,
            } => Ok((pointee, addrspace)),
            _ => fail(record.bit, ErrorKind::TypeMismatch("a global")),
        }
    }

    fn push_value(
        &mut self,
        record: &Record,
        what: ModuleValue,
        ty: TypeId,
        addrspace: u32,
    ) -> Res<ValueId> {
        let module = &mut *self.module;
        let id = module.values.len() as u32;
        if id >= RawOperand::MAX_NUMBER {
            return fail(record.bit, ErrorKind::Limit("values of a module"));
        }
        let pointer = module
            .lookup
            .pointer_or_add(&mut module.types, ty, addrspace);
        module.values.push(what);
        module.value_types.push(pointer);
        Ok(ValueId(id))
    }

    pub(super) fn read_comdat(&mut self, record: &Record) -> Res<()> {
        let comdat = if self.module.version < STRTAB_VERSION {
            // [selection, name length, name]
            RawComdat {
                name: record.text(2),
                selection: record.get(0) as u32,
            }
        } else {
            let fields = self.named(record)?;
            RawComdat {
                selection: fields.get(0) as u32,
                name: fields.name,
            }
        };
        self.module.comdats.push(comdat);
        Ok(())
    }

    pub(super) fn read_global(&mut self, record: &Record) -> Res<()> {
        self.prepare_types();
        let fields = self.named(record)?;
        if record.ops.len() < fields.start + 6 {
            return fail(record.bit, ErrorKind::InvalidRecord("global variable"));
        }
        let flags = fields.get(1);
        let has_explicit_type = flags & 2 != 0;
        let (ty, addrspace) = if has_explicit_type {
            let ty = self.type_id(record, fields.get(0))?;
            (ty, u32::try_from(flags >> 2).unwrap_or(0))
        } else {
            self.pointee(record, fields.get(0))?
        };
        let index = self.module.globals.len() as u32;
        let value = self.push_value(record, ModuleValue::Global(index), ty, addrspace)?;
        self.module.globals.push(RawGlobal {
            value,
            ty,
            addrspace,
            is_const: flags & 1 != 0,
            initializer: fields.optional_value(2),
            linkage: linkage(fields.get(3)),
            section: fields.optional_index(5),
            visibility: visibility(fields.get(6)),
            thread_local: fields.get(7) != 0,
            comdat: fields.optional_index(11),
            dbg: Vec::new(),
            name: fields.name,
        });
        Ok(())
    }

    pub(super) fn read_function(&mut self, record: &Record) -> Res<()> {
        self.prepare_types();
        let fields = self.named(record)?;
        if record.ops.len() < fields.start + 8 {
            return fail(record.bit, ErrorKind::InvalidRecord("function"));
        }
        let mut ty = self.type_id(record, fields.get(0))?;
        let mut addrspace = fields.get(16) as u32;
        if matches!(self.module.types[ty.index()], RawType::Pointer { .. }) {
            (ty, addrspace) = self.pointee(record, fields.get(0))?;
        }
        if !matches!(self.module.types[ty.index()], RawType::Function { .. }) {
            return fail(record.bit, ErrorKind::TypeMismatch("a function"));
        }
        let index = self.module.functions.len() as u32;
        let value = self.push_value(record, ModuleValue::Function(index), ty, addrspace)?;
        let is_declaration = fields.get(2) != 0;
        if !is_declaration {
            self.with_bodies.push(index);
        }
        // Attribute lists are read before functions, so the operand can be checked now.
        let attrs: Option<AttrListId> = self.module.attrs.list_of_operand(fields.get(4));
        self.module.bodies.push(None);
        self.module.functions.push(RawFunction {
            value,
            ty,
            calling_conv: fields.get(1) as u16,
            is_declaration,
            linkage: linkage(fields.get(3)),
            attrs,
            section: fields.optional_index(6),
            visibility: visibility(fields.get(7)),
            prologue: fields.optional_value(10),
            comdat: fields.optional_index(12),
            prefix: fields.optional_value(13),
            personality: fields.optional_value(14),
            dbg: None,
            name: fields.name,
        });
        Ok(())
    }

    pub(super) fn read_alias(&mut self, record: &Record) -> Res<()> {
        self.prepare_types();
        let mut fields = self.named(record)?;
        if record.ops.len() < fields.start + 3 {
            return fail(record.bit, ErrorKind::InvalidRecord("alias"));
        }
        let ty_op = fields.get(0);
        let (ty, addrspace) = if record.code == module::ALIAS_OLD {
            self.pointee(record, ty_op)?
        } else {
            // The address space stands between type and target.
            fields.start += 1;
            (self.type_id(record, ty_op)?, fields.get(0) as u32)
        };
        let is_ifunc = record.code == module::IFUNC;
        let list = if is_ifunc {
            &self.module.ifuncs
        } else {
            &self.module.aliases
        };
        let index = list.len() as u32;
        let what = if is_ifunc {
            ModuleValue::Ifunc(index)
        } else {
            ModuleValue::Alias(index)
        };
        let value = self.push_value(record, what, ty, addrspace)?;
        let alias = RawAlias {
            value,
            ty,
            addrspace,
            target: value_id(fields.get(1)),
            linkage: linkage(fields.get(2)),
            visibility: visibility(fields.get(3)),
            thread_local: !is_ifunc && fields.get(5) != 0,
            name: fields.name,
        };
        if is_ifunc {
            self.module.ifuncs.push(alias);
        } else {
            self.module.aliases.push(alias);
        }
        Ok(())
    }
}

fn linkage(code: u64) -> Linkage {
    match code {
        1 | 16 => Linkage::WeakAny,
        2 => Linkage::Appending,
        3 => Linkage::Internal,
        4 | 18 => Linkage::LinkOnceAny,
        7 => Linkage::ExternalWeak,
        8 => Linkage::Common,
        9 | 13 | 14 => Linkage::Private,
        10 | 17 => Linkage::WeakOdr,
        11 | 15 | 19 => Linkage::LinkOnceOdr,
        12 => Linkage::AvailableExternally,
        // 0, the old dllimport (5) and dllexport (6), and whatever is unknown.
        _ => Linkage::External,
    }
}

fn visibility(code: u64) -> Visibility {
    match code {
        1 => Visibility::Hidden,
        2 => Visibility::Protected,
        _ => Visibility::Default,
    }
}
