//! Types: `i32`, `ptr`, `[4 x i8]`, `<2 x f32>`, `{ i32, i1 }`, `%struct.node`, `fn(i64, ...) -> ptr`.

use crate::ids::*;
use crate::print::MAX_TYPE_DEPTH;
use crate::types::{StructType, Type};

use super::lexer::{Name, Tok};
use super::{Parser, Result, numbered};

/// LLVM's own bound on integer widths.
const MAX_INT_BITS: u32 = 1 << 23;

impl<'t> Parser<'t> {
    pub(super) fn ty(&mut self) -> Result<TypeId> {
        self.nested_type(0)
    }

    fn nested_type(&mut self, depth: usize) -> Result<TypeId> {
        if depth >= MAX_TYPE_DEPTH {
            return Err(self.error("type nested too deep"));
        }
        match self.peek() {
            Tok::Word(word) => match scalar_type(word) {
                Some(ty) => {
                    self.bump();
                    Ok(self.program.types.intern(ty))
                }
                None if word == "fn" => self.func_type(depth),
                None => Err(self.expected("a type")),
            },
            Tok::Name(name) if name.sigil == '%' => self.struct_ref(name),
            Tok::Punct('[') => {
                self.bump();
                let (len, elem) = self.counted(depth)?;
                self.expect(']')?;
                Ok(self.program.types.intern(Type::Array { elem, len }))
            }
            Tok::Punct('<') if self.peek_at(1) != Tok::Punct('{') => {
                self.bump();
                let (len, elem) = self.counted(depth)?;
                self.expect('>')?;
                Ok(self.program.types.intern(Type::Vector { elem, len }))
            }
            Tok::Punct('{' | '<') => {
                let layout = self.struct_body(None, depth)?;
                Ok(self.program.types.intern(Type::Struct(layout)))
            }
            _ => Err(self.expected("a type")),
        }
    }

    /// `4 x T`
    fn counted(&mut self, depth: usize) -> Result<(u64, TypeId)> {
        let len = self.int("a length")?;
        self.expect_word("x")?;
        Ok((len, self.nested_type(depth + 1)?))
    }

    fn func_type(&mut self, depth: usize) -> Result<TypeId> {
        self.expect_word("fn")?;
        self.expect('(')?;
        let mut params = Vec::new();
        let mut vararg = false;
        self.list(')', |this| {
            if this.peek() == Tok::Dots {
                this.bump();
                vararg = true;
            } else {
                params.push(this.nested_type(depth + 1)?);
            }
            Ok(())
        })?;
        let ret = self.arrow_type(depth + 1)?;
        let params = params.into();
        Ok(self.program.types.intern(Type::Func {
            ret,
            params,
            vararg,
        }))
    }

    /// `-> T`, or nothing for void.
    pub(super) fn arrow_type(&mut self, depth: usize) -> Result<TypeId> {
        if self.peek() != Tok::Arrow {
            return Ok(self.program.types.intern(Type::Void));
        }
        self.bump();
        self.nested_type(depth)
    }

    fn struct_ref(&mut self, name: Name<'t>) -> Result<TypeId> {
        let known = if is_number(name) {
            self.numbered_structs.get(name.raw)
        } else {
            let text = self.name_text(name)?;
            let id = self.program.strings.find(&text);
            id.and_then(|id| self.named_structs.get(&(id, name.ordinal)))
        };
        match known {
            Some(&id) => {
                self.bump();
                Ok(id)
            }
            None => Err(self.error(format!("unknown type %{}", name.raw))),
        }
    }

    /// `{ ptr @0, i32 @8 } size 16 align 8`; offsets, size and alignment by the data layout where they are missing.
    fn struct_body(&mut self, name: Option<StrId>, depth: usize) -> Result<StructType> {
        let packed = self.eat('<');
        self.expect('{')?;
        let mut elems = Vec::new();
        let mut offsets: Vec<Option<u64>> = Vec::new();
        self.list('}', |this| {
            elems.push(this.nested_type(depth + 1)?);
            offsets.push(match this.eat('@') {
                true => Some(this.int("an offset")?),
                false => None,
            });
            Ok(())
        })?;
        if packed {
            self.expect('>')?;
        }
        let mut layout = self.program.types.lay_out(name, &elems, packed);
        for (field, offset) in layout.fields.iter_mut().zip(offsets) {
            field.1 = offset.unwrap_or(field.1);
        }
        Ok(layout)
    }

    /// `type %name = { … } …`, behind `type`.
    pub(super) fn type_item(&mut self) -> Result<()> {
        let offset = self.offset();
        let name = match self.peek() {
            Tok::Name(name) if name.sigil == '%' => name,
            _ => return Err(self.expected("a type name")),
        };
        let text = self.name_text(name)?;
        self.bump();
        let str_id = (!is_number(name)).then(|| self.program.strings.intern(&text));
        self.expect('=')?;
        let mut layout = self.struct_body(str_id, 0)?;
        if self.eat_word("size") {
            layout.size = self.int("a size")?;
        }
        if self.eat_word("align") {
            layout.align = self.int("an alignment")?;
        }
        let id = self.program.types.intern(Type::Struct(layout));
        let before = match str_id {
            Some(str_id) => self.named_structs.insert((str_id, name.ordinal), id),
            None => self.numbered_structs.insert(name.raw, id),
        };
        match before {
            None => Ok(()),
            Some(_) => Err(self.error_at(offset, format!("type %{text} is defined twice"))),
        }
    }
}

/// `%0` and the like name literal structs.
fn is_number(name: Name<'_>) -> bool {
    !name.quoted && name.raw.starts_with(|c: char| c.is_ascii_digit())
}

pub(super) fn scalar_type(word: &str) -> Option<Type> {
    match word {
        "void" => Some(Type::Void),
        "ptr" => Some(Type::Ptr),
        "other" => Some(Type::Other),
        _ => {
            let in_range = |bits: &u32| (1..=MAX_INT_BITS).contains(bits);
            let int = numbered(word, "i").filter(in_range).map(Type::Int);
            int.or_else(|| numbered(word, "f").filter(in_range).map(Type::Float))
        }
    }
}
