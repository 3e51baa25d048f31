//! Globals and function headers.

use std::borrow::Cow;

use crate::body::Loc;
use crate::ids::*;
use crate::model::*;
use crate::syntax::*;
use crate::types::Type;

use super::lexer::Tok;
use super::types::scalar_type;
use super::{Parser, Result, Symbol};

/// What globals and functions share.
#[derive(Default)]
struct SourceFacts {
    unit: UnitId0,
    loc: Option<Loc>,
    di_type: Option<DiTypeId>,
    source_name: Option<StrId>,
}

/// Unit 0 unless said otherwise.
struct UnitId0(UnitId);

impl Default for UnitId0 {
    fn default() -> Self {
        UnitId0(UnitId::from_u32(0))
    }
}

/// A parameter in a function's header.
pub(super) struct Param<'t> {
    pub label: Option<Cow<'t, str>>,
    pub offset: usize,
}

impl<'t> Parser<'t> {
    pub(super) fn global(&mut self) -> Result<()> {
        let (name, _) = self.symbol_key()?;
        let mut linkage = Linkage::External;
        let mut is_const = false;
        let mut thread_local = false;
        while let Tok::Word(word) = self.peek() {
            match word {
                "const" => is_const = true,
                "thread_local" => thread_local = true,
                _ => match meaning_of(LINKAGE, word) {
                    Some(found) => linkage = found,
                    None => break,
                },
            }
            self.bump();
        }
        let ty = self.ty()?;
        let mut size = self.program.types.size_of(ty);
        if self.eat_word("size") {
            size = self.int("a size")?;
        }
        let init = match self.eat('=') {
            true => self.init()?,
            false => Init::Extern,
        };
        let mut facts = SourceFacts::default();
        while self.source_fact(&mut facts)? {}
        self.program.globals.push(Global {
            name,
            unit: facts.unit.0,
            linkage,
            ty,
            size,
            is_const,
            thread_local,
            init,
            loc: facts.loc,
            di_type: facts.di_type,
            source_name: facts.source_name,
        });
        Ok(())
    }

    fn init(&mut self) -> Result<Init> {
        match self.peek() {
            Tok::Word("zero") => {
                self.bump();
                Ok(Init::Zero)
            }
            Tok::Str(_) => Ok(Init::Bytes(self.bytes()?.into())),
            Tok::Punct('{') => {
                self.bump();
                let mut slots = Vec::new();
                let mut complete = true;
                self.list('}', |this| {
                    if this.peek() == Tok::Dots {
                        this.bump();
                        complete = false;
                        return Ok(());
                    }
                    let offset = this.int("an offset")?;
                    this.expect(':')?;
                    slots.push((offset, this.scalar()?));
                    Ok(())
                })?;
                let slots = slots.into();
                Ok(Init::Slots { slots, complete })
            }
            // One scalar at the start.
            _ => Ok(Init::Slots {
                slots: [(0, self.scalar()?)].into(),
                complete: true,
            }),
        }
    }

    fn scalar(&mut self) -> Result<Scalar> {
        match self.peek() {
            Tok::Word("null") => Err(self.error("null slots are left out")),
            Tok::Word("opaque") => {
                self.bump();
                let bytes = self.int("a size")?;
                Ok(Scalar::Opaque { bytes })
            }
            Tok::Word(word) => match scalar_type(word) {
                Some(Type::Int(width)) if width % 8 == 0 && width / 8 <= u32::from(u8::MAX) => {
                    self.bump();
                    let bits = self.int_bits(width)?;
                    let bytes = u8::try_from(width / 8).unwrap_or(u8::MAX);
                    Ok(Scalar::Int { bits, bytes })
                }
                _ => Err(self.expected("an integer of whole bytes")),
            },
            _ => match self.symbol()? {
                Symbol::Func(func) => Ok(Scalar::Func(func)),
                Symbol::Global(global) => Ok(Scalar::Global {
                    global,
                    offset: self.glued_offset()?,
                }),
            },
        }
    }

    /// The bits of a number of the given width: negative ones wrap, positive ones stay as they are.
    pub(super) fn int_bits(&mut self, width: u32) -> Result<u64> {
        let offset = self.offset();
        let value: i128 = self.int("a number")?;
        let lowest = -(1i128 << width.clamp(1, 64).saturating_sub(1));
        if value < lowest {
            return Err(self.error_at(offset, "the number is out of range"));
        }
        let mask = u64::MAX >> 64u32.saturating_sub(width).min(63);
        // Lexed numbers have at most 64 bits, so this only drops the sign.
        let bits = value as u64;
        Ok(if value < 0 { bits & mask } else { bits })
    }

    /// `file0:12:5`, or `12:5` in the given file.
    pub(super) fn position(&mut self, default: FileId) -> Result<Loc> {
        let offset = self.offset();
        let mut file = default;
        if let Some(id) = self.try_id("file") {
            file = FileId::from_u32(id);
            self.expect(':')?;
        }
        self.highest_file.note(file.as_u32(), offset);
        let line = self.int("a line")?;
        self.expect(':')?;
        let column = self.int("a column")?;
        Ok(Loc {
            file,
            line,
            column,
            inlined_at: None,
        })
    }

    /// Reads one of the facts, if there is one.
    fn source_fact(&mut self, facts: &mut SourceFacts) -> Result<bool> {
        let Tok::Word(word @ ("unit" | "at" | "di" | "source")) = self.peek() else {
            return Ok(false);
        };
        self.bump();
        match word {
            "unit" => {
                let offset = self.offset();
                let id = self.id("u")?;
                self.highest_unit.note(id, offset);
                facts.unit = UnitId0(UnitId::from_u32(id));
            }
            "at" => facts.loc = Some(self.position(FileId::from_u32(0))?),
            "di" => facts.di_type = Some(self.di_id()?),
            _ => facts.source_name = Some(self.str_id()?),
        }
        Ok(true)
    }

    pub(super) fn function(&mut self, has_body: bool) -> Result<()> {
        let (name, _) = self.symbol_key()?;
        let mut attrs = FuncAttrs::default();
        let mut param_attrs = Vec::new();
        let (ty, params) = self.signature(&mut attrs, &mut param_attrs)?;
        let mut linkage = Linkage::External;
        let mut facts = SourceFacts::default();
        let mut alloc_family = None;
        let mut unreadable = None;
        while let Tok::Word(word) = self.peek() {
            if self.source_fact(&mut facts)? {
                continue;
            }
            self.bump();
            match word {
                "family" => alloc_family = Some(self.str_id()?),
                "unreadable" => unreadable = Some(self.string()?.into()),
                "vararg" => attrs.0 |= FuncAttrs::VARARG,
                "not_vararg" => attrs.0 &= !FuncAttrs::VARARG,
                "bits" => attrs.0 |= self.int::<u32>("a bit set")?,
                _ => match (meaning_of(FUNC_ATTRS, word), meaning_of(LINKAGE, word)) {
                    (Some(bit), _) => attrs.0 |= bit,
                    (None, Some(found)) => linkage = found,
                    (None, None) => {
                        self.at -= 1;
                        return Err(self.expected("an attribute of the function"));
                    }
                },
            }
        }
        let body = match has_body {
            true => Some(self.body(ty, &params, facts.loc)?),
            false => None,
        };
        self.program.funcs.push(Function {
            name,
            source_name: facts.source_name,
            unit: facts.unit.0,
            linkage,
            ty,
            attrs,
            params: param_attrs.into(),
            alloc_family,
            loc: facts.loc,
            di_type: facts.di_type,
            body,
            unreadable,
        });
        Ok(())
    }

    /// `(ptr nocapture %p, i32, ...) -> T`
    fn signature(
        &mut self,
        attrs: &mut FuncAttrs,
        param_attrs: &mut Vec<ParamAttrs>,
    ) -> Result<(TypeId, Vec<Param<'t>>)> {
        let mut types = Vec::new();
        let mut params = Vec::new();
        let mut vararg = false;
        self.expect('(')?;
        self.list(')', |this| {
            if this.peek() == Tok::Dots {
                this.bump();
                vararg = true;
                return Ok(());
            }
            types.push(this.ty()?);
            let mut set = ParamAttrs::default();
            while let Tok::Word(word) = this.peek() {
                if word == "bits" {
                    this.bump();
                    set.0 |= this.int::<u16>("a bit set")?;
                    continue;
                }
                let Some(bit) = meaning_of(PARAM_ATTRS, word) else {
                    break;
                };
                this.bump();
                set.0 |= bit;
            }
            param_attrs.push(set);
            params.push(Param {
                offset: this.offset(),
                label: this.value_label()?,
            });
            Ok(())
        })?;
        if vararg {
            attrs.0 |= FuncAttrs::VARARG;
        }
        let ret = self.arrow_type(0)?;
        let params_of_type = types.into();
        let ty = self.program.types.intern(Type::Func {
            ret,
            params: params_of_type,
            vararg,
        });
        Ok((ty, params))
    }
}
