//! The textual form of a [`Program`]: what does it hold, in a form that people read, compare and write by hand?
//!
//! The grammar, by example (`parse` reads exactly this, and more leniently; see there):
//!
//! ```text
//! program
//! layout ptr 4 i64 4 f64 4 f80 4 i128 16          ; only where it is not the default
//! type %struct.node = { ptr @0, i32 @8 } size 16 align 8
//! file file0 "/src" "a.c"
//! unit u0 "a.bc" source "a.c" lang c
//! di d0 = base "int" 4 signed
//! global @counter internal i32 = { 0: i32 7 } at file0:3:12 di d0
//! declare @malloc(i64) -> ptr noalias_return alloc family "malloc"
//! func @f(ptr nocapture v0, i32 v1) -> i32 internal at file0:12:5 {
//!   var x0 "p" param 0 line 12
//! b0:
//!   v2 = call ptr @malloc(i64 16)  !13:7
//!   bind x0, v2
//!   v4 = cmp eq v2, null
//!   br v4, b1, b2
//! …
//! ```
//!
//! Values and blocks carry the numbers they have in memory; types, strings, constants and positions are written out where
//! they are used, so that a change in one function changes no other line. Symbols and struct types of the same name are
//! told apart by their place in the table: the second `@f` is `@f#1`.
//!
//! INVARIANT: of a program that [`verify`](crate::verify) accepts nothing is lost but what nothing refers to (constants,
//! positions and types that no instruction uses). Any other program prints, too: what is out of range shows as `?`.

mod body;
mod dot;
mod items;

use std::fmt::{self, Write};

use drip_base::IndexVec;
use rustc_hash::FxHashMap;

use crate::ids::*;
use crate::model::Program;
use crate::syntax::{is_plain_name, quote};
use crate::types::{StructType, Type};

pub(crate) use body::default_file;
pub use dot::print_dot;

/// Types nest at most this deep in the text; deeper ones (none that a compiler makes) show as `?`.
pub const MAX_TYPE_DEPTH: usize = 128;

/// A literal struct with at most this many fields, all scalar, is written where it is used.
const MAX_INLINE_FIELDS: usize = 4;

/// The whole program as text.
pub fn print_program(program: &Program) -> String {
    let mut printer = Printer::new(program);
    printer.program();
    printer.out
}

/// One function as text, as it stands in [`print_program`].
pub fn print_function(program: &Program, func: FuncId) -> String {
    let mut printer = Printer::new(program);
    printer.function(func);
    printer.out
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print_program(self))
    }
}

/// How a struct type is referred to.
#[derive(Clone, Copy)]
enum StructLabel {
    /// Not a struct, or a small literal one: written out.
    Inline,
    /// By name; the number tells structs of the same name apart.
    Named(StrId, u32),
    /// Literal struct, by number.
    Numbered(u32),
}

struct Printer<'p> {
    program: &'p Program,
    structs: IndexVec<TypeId, StructLabel>,
    /// How many symbols (globals, then functions) of the same name come before.
    globals: IndexVec<GlobalId, u32>,
    funcs: IndexVec<FuncId, u32>,
    /// Aggregate constants of the body at hand, ascending; the text numbers them by place.
    aggregates: Vec<ConstId>,
    out: String,
}

impl<'p> Printer<'p> {
    fn new(program: &'p Program) -> Self {
        let mut seen: FxHashMap<StrId, u32> = FxHashMap::default();
        let mut next = |name: StrId| {
            let count = seen.entry(name).or_default();
            *count += 1;
            *count - 1
        };
        let globals = program.globals.iter().map(|g| next(g.name)).collect();
        let funcs = program.funcs.iter().map(|f| next(f.name)).collect();
        Printer {
            program,
            structs: label_structs(program),
            globals,
            funcs,
            aggregates: Vec::new(),
            out: String::new(),
        }
    }

    /// `write!` into a string can't fail.
    fn put(&mut self, args: fmt::Arguments<'_>) {
        let _ = self.out.write_fmt(args);
    }

    fn word(&mut self, word: &str) {
        self.out.push_str(word);
    }

    fn str_of(&self, id: StrId) -> &'p str {
        if id.index() < self.program.strings.len() {
            self.program.strings.get(id)
        } else {
            "?"
        }
    }

    fn quoted(&mut self, id: StrId) {
        let text = self.str_of(id);
        quote(&mut self.out, text.as_bytes(), true);
    }

    /// `@name`, `%"odd name"`, `@name#2`.
    fn label(&mut self, sigil: char, name: StrId, ordinal: u32) {
        let text = self.str_of(name);
        self.out.push(sigil);
        if is_plain_name(text) {
            self.out.push_str(text);
        } else {
            quote(&mut self.out, text.as_bytes(), true);
        }
        if ordinal > 0 {
            self.put(format_args!("#{ordinal}"));
        }
    }

    fn global_ref(&mut self, id: GlobalId) {
        match (self.program.globals.get(id), self.globals.get(id)) {
            (Some(global), Some(&ordinal)) => self.label('@', global.name, ordinal),
            _ => self.word("@?"),
        }
    }

    fn func_ref(&mut self, id: FuncId) {
        match (self.program.funcs.get(id), self.funcs.get(id)) {
            (Some(func), Some(&ordinal)) => self.label('@', func.name, ordinal),
            _ => self.word("@?"),
        }
    }

    fn global_address(&mut self, id: GlobalId, offset: i64) {
        self.global_ref(id);
        if offset != 0 {
            self.put(format_args!("{offset:+}"));
        }
    }

    fn type_of(&self, id: TypeId) -> Option<&'p Type> {
        (id.index() < self.program.types.len()).then(|| self.program.types.get(id))
    }

    fn ty(&mut self, id: TypeId) {
        self.nested_type(id, 0);
    }

    fn nested_type(&mut self, id: TypeId, depth: usize) {
        let Some(ty) = self.type_of(id).filter(|_| depth < MAX_TYPE_DEPTH) else {
            return self.word("?");
        };
        match ty {
            Type::Void => self.word("void"),
            Type::Int(bits) => self.put(format_args!("i{bits}")),
            Type::Float(bits) => self.put(format_args!("f{bits}")),
            Type::Ptr => self.word("ptr"),
            Type::Other => self.word("other"),
            Type::Struct(layout) => match self.structs[id] {
                StructLabel::Named(name, ordinal) => self.label('%', name, ordinal),
                StructLabel::Numbered(number) => self.put(format_args!("%{number}")),
                StructLabel::Inline => self.struct_fields(layout, false),
            },
            Type::Array { elem, len } => {
                self.put(format_args!("[{len} x "));
                self.nested_type(*elem, depth + 1);
                self.word("]");
            }
            Type::Vector { elem, len } => {
                self.put(format_args!("<{len} x "));
                self.nested_type(*elem, depth + 1);
                self.word(">");
            }
            Type::Func {
                ret,
                params,
                vararg,
            } => {
                self.word("fn(");
                for (i, &param) in params.iter().enumerate() {
                    self.word(if i == 0 { "" } else { ", " });
                    self.nested_type(param, depth + 1);
                }
                self.word(match (vararg, params.is_empty()) {
                    (false, _) => ")",
                    (true, true) => "...)",
                    (true, false) => ", ...)",
                });
                self.arrow(*ret, depth + 1);
            }
        }
    }

    /// ` -> T`; nothing for void.
    fn arrow(&mut self, ret: TypeId, depth: usize) {
        if !matches!(self.type_of(ret), Some(Type::Void)) {
            self.word(" -> ");
            self.nested_type(ret, depth);
        }
    }

    fn struct_fields(&mut self, layout: &StructType, with_offsets: bool) {
        self.word(if layout.packed { "<{" } else { "{" });
        for (i, &(field, offset)) in layout.fields.iter().enumerate() {
            self.word(if i == 0 { " " } else { ", " });
            self.ty(field);
            if with_offsets {
                self.put(format_args!(" @{offset}"));
            }
        }
        self.word(if layout.packed { " }>" } else { " }" });
    }
}

fn label_structs(program: &Program) -> IndexVec<TypeId, StructLabel> {
    let mut seen: FxHashMap<StrId, u32> = FxHashMap::default();
    let mut literals = 0;
    let label = |(_, ty): (TypeId, &Type)| match ty {
        Type::Struct(layout) => match layout.name {
            Some(name) => {
                let count = seen.entry(name).or_default();
                *count += 1;
                StructLabel::Named(name, *count - 1)
            }
            None if is_small_literal(program, layout) => StructLabel::Inline,
            None => {
                literals += 1;
                StructLabel::Numbered(literals - 1)
            }
        },
        _ => StructLabel::Inline,
    };
    program.types.iter().map(label).collect()
}

/// Few scalar fields, laid out by the rules.
fn is_small_literal(program: &Program, layout: &StructType) -> bool {
    let types = &program.types;
    let scalar = |&(field, _): &(TypeId, u64)| {
        field.index() < types.len()
            && matches!(types.get(field), Type::Int(_) | Type::Float(_) | Type::Ptr)
    };
    layout.fields.len() <= MAX_INLINE_FIELDS && layout.fields.iter().all(scalar) && {
        let elems: Vec<TypeId> = layout.fields.iter().map(|&(field, _)| field).collect();
        types.lay_out(None, &elems, layout.packed) == *layout
    }
}
