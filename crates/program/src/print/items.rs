//! Everything outside of function bodies: layout, types, files, units, source-level types, globals, function headers.

use crate::body::Loc;
use crate::ids::*;
use crate::model::*;
use crate::syntax::*;
use crate::types::{Layout, Type};

use super::{Printer, StructLabel};

impl Printer<'_> {
    pub(super) fn program(&mut self) {
        self.word("program\n");
        self.layout();
        self.struct_types();
        for (id, file) in self.program.files.iter_enumerated() {
            self.put(format_args!("file {id} "));
            self.quoted(file.directory);
            self.word(" ");
            self.quoted(file.name);
            self.word("\n");
        }
        self.units();
        for (id, ty) in self.program.di_types.iter_enumerated() {
            self.put(format_args!("di {id} = "));
            self.di_type(ty);
            self.word("\n");
        }
        for id in self.program.globals.ids() {
            self.global(id);
        }
        for id in self.program.funcs.ids() {
            self.function(id);
        }
    }

    fn layout(&mut self) {
        let layout = &self.program.types.layout;
        if *layout == Layout::default() {
            return;
        }
        self.put(format_args!(
            "layout ptr {} i64 {} f64 {} f80 {} i128 {}{}\n",
            layout.pointer_bytes,
            layout.align_i64,
            layout.align_f64,
            layout.align_f80,
            layout.align_i128,
            if layout.big_endian { " big_endian" } else { "" }
        ));
    }

    fn struct_types(&mut self) {
        for (id, ty) in self.program.types.iter() {
            let Type::Struct(layout) = ty else { continue };
            if matches!(self.structs[id], StructLabel::Inline) {
                continue;
            }
            self.word("type ");
            self.ty(id);
            self.word(" = ");
            self.struct_fields(layout, true);
            self.put(format_args!(
                " size {} align {}\n",
                layout.size, layout.align
            ));
        }
    }

    /// The unit that the parser makes by itself (nameless, C, the only one) is left out.
    fn units(&mut self) {
        let is_implied = |unit: &Unit| {
            unit.language == Language::C
                && self.str_of(unit.path).is_empty()
                && self.str_of(unit.source).is_empty()
        };
        if self.program.units.len() == 1 && self.program.units.iter().all(is_implied) {
            return;
        }
        for (id, unit) in self.program.units.iter_enumerated() {
            self.put(format_args!("unit {id} "));
            self.quoted(unit.path);
            self.word(" source ");
            self.quoted(unit.source);
            self.put(format_args!(" lang {}\n", word_of(LANGUAGE, unit.language)));
        }
    }

    fn di_ref(&mut self, id: Option<DiTypeId>) {
        match id {
            Some(id) => self.put(format_args!("{id}")),
            None => self.word("void"),
        }
    }

    fn name_then_space(&mut self, name: Option<StrId>) {
        if let Some(name) = name {
            self.quoted(name);
            self.word(" ");
        }
    }

    fn di_type(&mut self, ty: &DiType) {
        match ty {
            DiType::Base {
                name,
                bytes,
                signed,
            } => {
                self.word("base ");
                self.quoted(*name);
                let sign = if *signed { "signed" } else { "unsigned" };
                self.put(format_args!(" {bytes} {sign}"));
            }
            DiType::Pointer { to } => self.di_wrapper("ptr ", *to),
            DiType::Const(of) => self.di_wrapper("const ", *of),
            DiType::Qualified(of) => self.di_wrapper("qualified ", *of),
            DiType::Typedef { name, of } => {
                self.word("typedef ");
                self.quoted(*name);
                self.word(" ");
                self.di_ref(*of);
            }
            DiType::Array { elem, count } => {
                self.di_wrapper("array ", *elem);
                if let Some(count) = count {
                    self.put(format_args!(" x {count}"));
                }
            }
            DiType::Struct {
                name,
                bytes,
                is_union,
                members,
            } => {
                self.word(if *is_union { "union " } else { "struct " });
                self.name_then_space(*name);
                self.put(format_args!("{bytes} "));
                self.di_members(members);
            }
            DiType::Enum {
                name,
                bytes,
                values,
            } => {
                self.word("enum ");
                self.name_then_space(*name);
                self.put(format_args!("{bytes} "));
                self.di_enumerators(values);
            }
            DiType::Func { ret, params } => {
                self.word("fn(");
                for (i, param) in params.iter().enumerate() {
                    self.word(if i == 0 { "" } else { ", " });
                    self.di_ref(*param);
                }
                self.word(") -> ");
                self.di_ref(*ret);
            }
            DiType::Other => self.word("other"),
        }
    }

    fn di_enumerators(&mut self, values: &[(StrId, i64)]) {
        self.word("{");
        for (i, (name, value)) in values.iter().enumerate() {
            self.word(if i == 0 { " " } else { ", " });
            self.quoted(*name);
            self.put(format_args!(" = {value}"));
        }
        self.word(" }");
    }

    fn di_wrapper(&mut self, word: &str, of: Option<DiTypeId>) {
        self.word(word);
        self.di_ref(of);
    }

    fn di_members(&mut self, members: &[DiMember]) {
        self.word("{");
        for (i, member) in members.iter().enumerate() {
            self.word(if i == 0 { " " } else { ", " });
            if member.is_base {
                self.word("base ");
            }
            self.quoted(member.name);
            self.put(format_args!(" @{} ", member.offset));
            self.di_ref(member.ty);
        }
        self.word(" }");
    }

    fn global(&mut self, id: GlobalId) {
        let global = &self.program.globals[id];
        self.word("global ");
        self.global_ref(id);
        if global.linkage != Linkage::External {
            self.put(format_args!(" {}", word_of(LINKAGE, global.linkage)));
        }
        if global.thread_local {
            self.word(" thread_local");
        }
        if global.is_const {
            self.word(" const");
        }
        self.word(" ");
        self.ty(global.ty);
        if self.type_of(global.ty).is_none() || self.program.types.size_of(global.ty) != global.size
        {
            self.put(format_args!(" size {}", global.size));
        }
        self.init(&global.init);
        self.source_facts(
            global.unit,
            global.loc.as_ref(),
            global.di_type,
            global.source_name,
        );
        self.word("\n");
    }

    fn init(&mut self, init: &Init) {
        match init {
            Init::Extern => {}
            Init::Zero => self.word(" = zero"),
            Init::Bytes(bytes) => {
                self.word(" = ");
                quote(&mut self.out, bytes, false);
            }
            Init::Slots { slots, complete } => {
                self.word(" = {");
                for (i, (offset, scalar)) in slots.iter().enumerate() {
                    self.word(if i == 0 { " " } else { ", " });
                    self.put(format_args!("{offset}: "));
                    self.scalar(*scalar);
                }
                self.word(match (complete, slots.is_empty()) {
                    (true, _) => " }",
                    (false, true) => " ... }",
                    (false, false) => ", ... }",
                });
            }
        }
    }

    fn scalar(&mut self, scalar: Scalar) {
        match scalar {
            Scalar::Int { bits, bytes } => {
                let width = u32::from(bytes) * 8;
                self.put(format_args!("i{width} "));
                self.int_value(width, bits);
            }
            Scalar::Global { global, offset } => self.global_address(global, offset),
            Scalar::Func(func) => self.func_ref(func),
            Scalar::Opaque { bytes } => self.put(format_args!("opaque {bytes}")),
        }
    }

    /// What globals and functions share, each part only where there is something to say.
    fn source_facts(
        &mut self,
        unit: UnitId,
        loc: Option<&Loc>,
        di_type: Option<DiTypeId>,
        source_name: Option<StrId>,
    ) {
        if unit.index() != 0 {
            self.put(format_args!(" unit {unit}"));
        }
        if let Some(loc) = loc {
            self.put(format_args!(" at {}:{}:{}", loc.file, loc.line, loc.column));
        }
        if let Some(id) = di_type {
            self.put(format_args!(" di {id}"));
        }
        if let Some(name) = source_name {
            self.word(" source ");
            self.quoted(name);
        }
    }

    pub(super) fn function(&mut self, id: FuncId) {
        let Some(function) = self.program.funcs.get(id) else {
            return self.word("?\n");
        };
        let has_body = function.body.is_some();
        self.word(if has_body { "func " } else { "declare " });
        self.func_ref(id);
        self.signature(function);
        if function.linkage != Linkage::External {
            self.put(format_args!(" {}", word_of(LINKAGE, function.linkage)));
        }
        self.bits(FUNC_ATTRS, function.attrs.0 & !FuncAttrs::VARARG);
        if let Some(family) = function.alloc_family {
            self.word(" family ");
            self.quoted(family);
        }
        self.source_facts(
            function.unit,
            function.loc.as_ref(),
            function.di_type,
            function.source_name,
        );
        if let Some(why) = &function.unreadable {
            self.word(" unreadable ");
            quote(&mut self.out, why.as_bytes(), true);
        }
        match &function.body {
            Some(body) => {
                self.word(" {\n");
                self.body(function, body);
                self.word("}\n");
            }
            None => self.word("\n"),
        }
    }

    fn signature(&mut self, function: &Function) {
        let Some(Type::Func {
            ret,
            params,
            vararg,
        }) = self.type_of(function.ty)
        else {
            return self.word("(?)");
        };
        self.word("(");
        for (i, &param) in params.iter().enumerate() {
            self.word(if i == 0 { "" } else { ", " });
            self.ty(param);
            let attrs = function.params.get(i).copied().unwrap_or_default();
            self.bits(PARAM_ATTRS, attrs.0);
            if function.body.is_some() {
                self.put(format_args!(" v{i}"));
            }
        }
        let dots = if params.is_empty() { "..." } else { ", ..." };
        self.word(if *vararg { dots } else { "" });
        self.word(")");
        self.arrow(*ret, 0);
        let marked = function.attrs.has(FuncAttrs::VARARG);
        self.word(match (marked, *vararg) {
            (true, false) => " vararg",
            (false, true) => " not_vararg",
            _ => "",
        });
    }

    /// The words of a bit set; bits without a word as a number.
    pub(super) fn bits<T: Copy + Into<u64>>(&mut self, words: &Words<T>, set: T) {
        let mut left: u64 = set.into();
        for &(word, bit) in words {
            if left & bit.into() != 0 {
                left &= !bit.into();
                self.put(format_args!(" {word}"));
            }
        }
        if left != 0 {
            self.put(format_args!(" bits {left}"));
        }
    }
}
