//! Source-level types: `di d0 = base "int" 4 signed`.

use crate::ids::*;
use crate::model::*;

use super::lexer::Tok;
use super::{Parser, Result};

impl Parser<'_> {
    fn di_ref(&mut self) -> Result<Option<DiTypeId>> {
        if self.eat_word("void") {
            return Ok(None);
        }
        self.di_id().map(Some)
    }

    fn optional_name(&mut self) -> Result<Option<StrId>> {
        match self.peek() {
            Tok::Str(_) => self.str_id().map(Some),
            _ => Ok(None),
        }
    }

    pub(super) fn di_item(&mut self) -> Result<()> {
        self.next_id("d", self.program.di_types.len())?;
        self.expect('=')?;
        let offset = self.offset();
        let ty = match self.word("a kind of type")? {
            "base" => {
                let name = self.str_id()?;
                let bytes = self.int("a size")?;
                let signed = self.eat_word("signed");
                if !signed {
                    self.expect_word("unsigned")?;
                }
                DiType::Base {
                    name,
                    bytes,
                    signed,
                }
            }
            "ptr" => DiType::Pointer { to: self.di_ref()? },
            "const" => DiType::Const(self.di_ref()?),
            "qualified" => DiType::Qualified(self.di_ref()?),
            "typedef" => DiType::Typedef {
                name: self.str_id()?,
                of: self.di_ref()?,
            },
            "array" => {
                let elem = self.di_ref()?;
                let counted = self.eat_word("x");
                let count = counted.then(|| self.int("a length")).transpose()?;
                DiType::Array { elem, count }
            }
            word @ ("struct" | "union") => DiType::Struct {
                name: self.optional_name()?,
                bytes: self.int("a size")?,
                is_union: word == "union",
                members: self.di_members()?,
            },
            "enum" => DiType::Enum {
                name: self.optional_name()?,
                bytes: self.int("a size")?,
                values: self.di_enumerators()?,
            },
            "fn" => self.di_func()?,
            "other" => DiType::Other,
            _ => return Err(self.error_at(offset, "expected a kind of type")),
        };
        self.program.di_types.push(ty);
        Ok(())
    }

    fn di_members(&mut self) -> Result<Box<[DiMember]>> {
        let mut members = Vec::new();
        self.expect('{')?;
        self.list('}', |this| {
            let is_base = this.eat_word("base");
            let name = this.str_id()?;
            this.expect('@')?;
            let offset = this.int("an offset")?;
            let ty = this.di_ref()?;
            members.push(DiMember {
                name,
                offset,
                ty,
                is_base,
            });
            Ok(())
        })?;
        Ok(members.into())
    }

    fn di_enumerators(&mut self) -> Result<Box<[(StrId, i64)]>> {
        let mut values = Vec::new();
        self.expect('{')?;
        self.list('}', |this| {
            let name = this.str_id()?;
            this.expect('=')?;
            values.push((name, this.int("a value")?));
            Ok(())
        })?;
        Ok(values.into())
    }

    fn di_func(&mut self) -> Result<DiType> {
        let mut params = Vec::new();
        self.expect('(')?;
        self.list(')', |this| {
            params.push(this.di_ref()?);
            Ok(())
        })?;
        if self.peek() != Tok::Arrow {
            return Err(self.expected("`->`"));
        }
        self.bump();
        Ok(DiType::Func {
            ret: self.di_ref()?,
            params: params.into(),
        })
    }
}
