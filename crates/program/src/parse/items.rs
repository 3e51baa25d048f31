//! Everything outside of function bodies.

use crate::body::Loc;
use crate::ids::*;
use crate::model::*;
use crate::syntax::*;
use crate::types::Type;

use super::lexer::Tok;
use super::types::scalar_type;
use super::{Highest, ParseError, Parser, Result, Symbol};

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
    pub label: Option<std::borrow::Cow<'t, str>>,
    pub offset: usize,
}

impl<'t> Parser<'t> {
    pub(super) fn program(&mut self) -> Result<()> {
        let mut items = self.statements(0..self.tokens.len());
        self.at = 0;
        if self.peek() == Tok::Word("program") {
            self.enter(&items.remove(0));
            self.bump();
            self.expect_end()?;
        }
        for item in &items {
            self.enter(item);
            self.declare_symbol()?;
        }
        for item in &items {
            self.enter(item);
            self.item()?;
            self.expect_end()?;
        }
        self.limit = self.tokens.len();
        self.close()
    }

    /// Gives a global or function its id before anything refers to it.
    fn declare_symbol(&mut self) -> Result<()> {
        let Tok::Word(word @ ("global" | "func" | "declare")) = self.peek() else {
            return Ok(());
        };
        self.bump();
        let offset = self.offset();
        let key = self.symbol_key()?;
        let symbol = if word == "global" {
            self.globals += 1;
            Symbol::Global(GlobalId::new(self.globals - 1))
        } else {
            Symbol::Func(FuncId::new(self.symbols.len() - self.globals))
        };
        match self.symbols.insert(key, symbol) {
            None => Ok(()),
            Some(_) => {
                let name = self.program.strings.get(key.0);
                Err(self.error_at(offset, format!("symbol @{name} is defined twice")))
            }
        }
    }

    fn item(&mut self) -> Result<()> {
        const ITEMS: &str = "`layout`, `type`, `file`, `unit`, `di`, `global`, `declare` or `func`";
        let Tok::Word(word) = self.peek() else {
            return Err(self.expected(ITEMS));
        };
        self.bump();
        match word {
            "layout" => self.layout(),
            "type" => self.type_item(),
            "file" => self.file(),
            "unit" => self.unit(),
            "di" => self.di_item(),
            "global" => self.global(),
            "declare" => self.function(false),
            "func" => self.function(true),
            _ => {
                self.at -= 1;
                Err(self.expected(ITEMS))
            }
        }
    }

    /// Supplies the implied unit and file, and checks that all files, units and source-level types exist.
    fn close(&mut self) -> Result<()> {
        let empty = self.program.strings.intern("");
        let has_symbols = !self.symbols.is_empty();
        if self.program.units.is_empty() && has_symbols {
            self.program.units.push(Unit {
                path: empty,
                source: empty,
                language: Language::C,
            });
        }
        if self.program.files.is_empty() && self.highest_file.0.is_some() {
            self.program.files.push(File {
                directory: empty,
                name: empty,
            });
        }
        self.check_highest(self.highest_file, self.program.files.len(), "file")?;
        self.check_highest(self.highest_unit, self.program.units.len(), "unit")?;
        self.check_highest(self.highest_di, self.program.di_types.len(), "di")
    }

    fn check_highest(&self, highest: Highest, len: usize, what: &str) -> Result<()> {
        match highest.0 {
            Some((id, offset)) if id as usize >= len => {
                Err(self.error_at(offset, format!("there is no {what} {id}")))
            }
            _ => Ok(()),
        }
    }

    fn layout(&mut self) -> Result<()> {
        let layout = &mut crate::types::Layout::default();
        while let Tok::Word(word) = self.peek() {
            self.bump();
            match word {
                "ptr" => layout.pointer_bytes = self.int("a size")?,
                "i64" => layout.align_i64 = self.int("an alignment")?,
                "f64" => layout.align_f64 = self.int("an alignment")?,
                "f80" => layout.align_f80 = self.int("an alignment")?,
                "i128" => layout.align_i128 = self.int("an alignment")?,
                "big_endian" => layout.big_endian = true,
                _ => {
                    self.at -= 1;
                    return Err(self.expected("a part of the layout"));
                }
            }
        }
        if !self.program.types.is_empty() {
            return Err(self.error("the layout must come before all types"));
        }
        self.program.types.layout = layout.clone();
        Ok(())
    }

    /// `file0`: the next id of its kind, so that the numbers in the text are those in memory.
    fn next_id(&mut self, prefix: &str, next: usize) -> Result<()> {
        let offset = self.offset();
        if self.id(prefix)? as usize == next {
            Ok(())
        } else {
            Err(self.error_at(offset, format!("expected {prefix}{next}")))
        }
    }

    fn file(&mut self) -> Result<()> {
        self.next_id("file", self.program.files.len())?;
        let directory = self.str_id()?;
        let name = self.str_id()?;
        self.program.files.push(File { directory, name });
        Ok(())
    }

    fn unit(&mut self) -> Result<()> {
        self.next_id("u", self.program.units.len())?;
        let path = self.str_id()?;
        let mut source = self.program.strings.intern("");
        let mut language = Language::C;
        if self.eat_word("source") {
            source = self.str_id()?;
        }
        if self.eat_word("lang") {
            let offset = self.offset();
            let word = self.word("a language")?;
            language = meaning_of(LANGUAGE, word)
                .ok_or_else(|| self.error_at(offset, "expected `c`, `cxx` or `other`"))?;
        }
        self.program.units.push(Unit {
            path,
            source,
            language,
        });
        Ok(())
    }

    // Source-level types.

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

    fn di_item(&mut self) -> Result<()> {
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

    // Globals.

    fn global(&mut self) -> Result<()> {
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

    // Functions.

    fn function(&mut self, has_body: bool) -> Result<()> {
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

    pub(super) fn twice(&self, offset: usize, what: &str, label: &str) -> ParseError {
        self.error_at(offset, format!("{what} {label} is defined twice"))
    }
}
