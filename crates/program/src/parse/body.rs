//! Function bodies. A first look at the statements numbers instructions and blocks, so that the second can resolve every
//! label where it stands, also those that lie ahead.

use std::borrow::Cow;
use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::body::*;
use crate::ids::*;
use crate::print::default_file;
use crate::types::Type;

use super::lexer::Tok;
use super::symbols::Param;
use super::{Parser, Result, Symbol, numbered};

/// A body in the making.
pub(super) struct Scope<'t> {
    pub body: Body,
    values: FxHashMap<Cow<'t, str>, ValueId>,
    blocks: FxHashMap<&'t str, BlockId>,
    vars: FxHashMap<&'t str, VarId>,
    aggregates: FxHashMap<&'t str, ConstId>,
    consts: FxHashMap<Const, ConstId>,
    locs: FxHashMap<Loc, LocId>,
    /// File of positions that name none.
    file: FileId,
}

enum Statement<'t> {
    Block(&'t str),
    Var,
    Const,
    Inst,
}

impl<'t> Parser<'t> {
    /// `{ … }` up to the end of the statement.
    pub(super) fn body(
        &mut self,
        ty: TypeId,
        params: &[Param<'t>],
        loc: Option<Loc>,
    ) -> Result<Body> {
        self.expect('{')?;
        let end = self.limit.saturating_sub(1);
        if end < self.at || self.tokens.get(end).map(|t| t.tok) != Some(Tok::Punct('}')) {
            self.at = self.limit;
            return Err(self.expected("`}` as the last of the function"));
        }
        let statements = self.statements(self.at..end);
        let param_types = match self.program.types.get(ty) {
            Type::Func { params, .. } => params.to_vec(),
            _ => Vec::new(),
        };
        let mut scope = self.number(param_types, params, default_file(loc), &statements)?;
        for statement in &statements {
            self.enter(statement);
            self.statement(&mut scope)?;
            self.expect_end()?;
        }
        self.close_block(&mut scope);
        self.limit = end + 1;
        self.at = end;
        self.expect('}')?;
        Ok(scope.body)
    }

    fn classify(&self) -> Statement<'t> {
        match (self.peek(), self.peek_at(1), self.peek_at(2)) {
            (Tok::Word(label), Tok::Punct(':'), Tok::End) => Statement::Block(label),
            (Tok::Word("var"), ..) => Statement::Var,
            (Tok::Word("const"), ..) => Statement::Const,
            _ => Statement::Inst,
        }
    }

    /// First look: gives parameters, results and blocks their ids.
    fn number(
        &mut self,
        param_types: Vec<TypeId>,
        params: &[Param<'t>],
        file: FileId,
        statements: &[Range<usize>],
    ) -> Result<Scope<'t>> {
        let mut scope = Scope {
            body: Body::default(),
            values: FxHashMap::default(),
            blocks: FxHashMap::default(),
            vars: FxHashMap::default(),
            aggregates: FxHashMap::default(),
            consts: FxHashMap::default(),
            locs: FxHashMap::default(),
            file,
        };
        for (i, param) in params.iter().enumerate() {
            let label = param
                .label
                .clone()
                .unwrap_or_else(|| format!("v{i}").into());
            self.define_value(&mut scope, label, ValueId::new(i), param.offset)?;
        }
        let mut insts = 0;
        let mut blocks = 0;
        for statement in statements {
            self.enter(statement);
            match self.classify() {
                Statement::Block(label) => {
                    if scope.blocks.insert(label, BlockId::new(blocks)).is_some() {
                        return Err(self.twice(self.offset(), "block", label));
                    }
                    blocks += 1;
                }
                Statement::Inst => {
                    if blocks == 0 {
                        scope.blocks.insert("b0", BlockId::new(0));
                        blocks = 1;
                    }
                    let offset = self.offset();
                    let label = self.value_label()?;
                    let defines = matches!(self.peek(), Tok::Punct('=' | ':'));
                    if let Some(label) = label.filter(|_| defines) {
                        let id = ValueId::new(param_types.len() + insts);
                        self.define_value(&mut scope, label, id, offset)?;
                    }
                    insts += 1;
                }
                Statement::Var | Statement::Const => {}
            }
        }
        scope.body.params = param_types;
        Ok(scope)
    }

    fn define_value(
        &self,
        scope: &mut Scope<'t>,
        label: Cow<'t, str>,
        id: ValueId,
        offset: usize,
    ) -> Result<()> {
        match scope.values.insert(label.clone(), id) {
            None => Ok(()),
            Some(_) => Err(self.twice(offset, "value", &label)),
        }
    }

    /// Second look.
    fn statement(&mut self, scope: &mut Scope<'t>) -> Result<()> {
        match self.classify() {
            Statement::Block(_) => {
                self.at += 2;
                self.close_block(scope);
                self.open_block(scope);
                Ok(())
            }
            Statement::Var => self.var(scope),
            Statement::Const => self.aggregate(scope),
            Statement::Inst => {
                if scope.body.blocks.is_empty() {
                    self.open_block(scope);
                }
                self.inst(scope)
            }
        }
    }

    fn open_block(&self, scope: &mut Scope<'t>) {
        let start = scope.body.insts.next_id().as_u32();
        scope.body.blocks.push(Block {
            insts: start..start,
        });
    }

    fn close_block(&self, scope: &mut Scope<'t>) {
        let end = scope.body.insts.next_id().as_u32();
        if let Some(block) = scope.body.blocks.as_mut_slice().last_mut() {
            block.insts.end = end;
        }
    }

    /// `var x0 "name" d3 param 0 line 12`; without a string the label is the name.
    fn var(&mut self, scope: &mut Scope<'t>) -> Result<()> {
        self.expect_word("var")?;
        let offset = self.offset();
        let label = self.word("a variable")?;
        let name = match self.peek() {
            Tok::Str(_) => self.str_id()?,
            _ => self.program.strings.intern(label),
        };
        let mut var = Var {
            name,
            ty: None,
            param: None,
            line: 0,
        };
        while let Tok::Word(word) = self.peek() {
            match word {
                "param" => {
                    self.bump();
                    var.param = Some(self.int("a parameter's number")?);
                }
                "line" => {
                    self.bump();
                    var.line = self.int("a line")?;
                }
                _ => var.ty = Some(self.di_id()?),
            }
        }
        let id = scope.body.vars.push(var);
        match scope.vars.insert(label, id) {
            None => Ok(()),
            Some(_) => Err(self.twice(offset, "variable", label)),
        }
    }

    /// `const c0 = T { null, i32 4 }`
    fn aggregate(&mut self, scope: &mut Scope<'t>) -> Result<()> {
        self.expect_word("const")?;
        let offset = self.offset();
        let label = self.word("a constant's label")?;
        if numbered(label, "c").is_none() {
            return Err(self.error_at(offset, "expected `c` and a number"));
        }
        self.expect('=')?;
        let ty = self.ty()?;
        let mut elems = Vec::new();
        self.expect('{')?;
        self.list('}', |this| {
            let offset = this.offset();
            let elem = this.operand(scope, None)?.as_const();
            elems.push(elem.ok_or_else(|| this.error_at(offset, "expected a constant"))?);
            Ok(())
        })?;
        let elems = elems.into();
        // Not shared with equal ones: the text numbers aggregates by place.
        let id = scope.body.consts.push(Const::Aggregate { ty, elems });
        match scope.aggregates.insert(label, id) {
            None => Ok(()),
            Some(_) => Err(self.twice(offset, "constant", label)),
        }
    }

    // Labels.

    /// `%x` or `v3`, if there is one.
    pub(super) fn value_label(&mut self) -> Result<Option<Cow<'t, str>>> {
        let label = match self.peek() {
            Tok::Name(name) if name.sigil == '%' => self.name_text(name)?,
            Tok::Word(word) if numbered(word, "v").is_some() => Cow::Borrowed(word),
            _ => return Ok(None),
        };
        self.bump();
        Ok(Some(label))
    }

    pub(super) fn block(&mut self, scope: &Scope<'t>) -> Result<BlockId> {
        let offset = self.offset();
        let label = self.word("a block")?;
        let known = scope.blocks.get(label).copied();
        known.ok_or_else(|| self.error_at(offset, format!("unknown block {label}")))
    }

    pub(super) fn var_ref(&mut self, scope: &Scope<'t>) -> Result<VarId> {
        let offset = self.offset();
        let label = self.word("a variable")?;
        let known = scope.vars.get(label).copied();
        known.ok_or_else(|| self.error_at(offset, format!("unknown variable {label}")))
    }

    // Operands.

    /// A value or constant; a plain number has the type `expect`.
    pub(super) fn operand(
        &mut self,
        scope: &mut Scope<'t>,
        expect: Option<TypeId>,
    ) -> Result<Operand> {
        let offset = self.offset();
        if let Some(label) = self.value_label()? {
            return match scope.values.get(&label) {
                Some(&value) => Ok(Operand::value(value)),
                None => Err(self.error_at(offset, format!("unknown value {label}"))),
            };
        }
        let constant = match (self.peek(), expect) {
            (Tok::Word(word), _) => {
                if let Some(&id) = scope.aggregates.get(word) {
                    self.bump();
                    return Ok(Operand::constant(id));
                }
                self.constant(word)?
            }
            (Tok::Name(_), _) => match self.symbol()? {
                Symbol::Func(func) => Const::Func(func),
                Symbol::Global(global) => Const::Global {
                    global,
                    offset: self.glued_offset()?,
                },
            },
            (Tok::Int { .. }, Some(ty)) => match self.program.types.get(ty) {
                &Type::Int(width) => Const::Int {
                    ty,
                    bits: self.int_bits(width)?,
                },
                _ => return Err(self.expected("an operand")),
            },
            _ if self.starts_type() => self.typed_constant()?,
            _ => return Err(self.expected("an operand")),
        };
        Ok(Operand::constant(scope.intern(constant)))
    }

    fn starts_type(&self) -> bool {
        matches!(self.peek(), Tok::Punct('{' | '[' | '<'))
    }

    /// A constant that starts with a word.
    fn constant(&mut self, word: &str) -> Result<Const> {
        let bool_const = |this: &mut Self, bits| Const::Int {
            ty: this.program.types.intern(Type::Int(1)),
            bits,
        };
        self.bump();
        match word {
            "null" => Ok(Const::Null),
            "true" => Ok(bool_const(self, 1)),
            "false" => Ok(bool_const(self, 0)),
            "zero" => Ok(Const::Zero(self.ty()?)),
            "undef" => Ok(Const::Undef(self.ty()?)),
            "opaque" => Ok(Const::Opaque(self.ty()?)),
            _ => {
                self.at -= 1;
                self.typed_constant()
            }
        }
    }

    /// `i32 4`, `f64 0x3ff0000000000000`
    fn typed_constant(&mut self) -> Result<Const> {
        let offset = self.offset();
        if let Tok::Word(word) = self.peek()
            && super::types::scalar_type(word).is_none()
            && word != "fn"
        {
            return Err(self.expected("an operand"));
        }
        let ty = self.ty()?;
        match *self.program.types.get(ty) {
            Type::Int(width) => Ok(Const::Int {
                ty,
                bits: self.int_bits(width)?,
            }),
            Type::Ptr => Ok(Const::Int {
                ty,
                bits: self.int_bits(64)?,
            }),
            Type::Float(_) => Ok(Const::Float {
                ty,
                bits: self.int("the bits of a number")?,
            }),
            _ => Err(self.error_at(offset, "expected an integer or floating point type")),
        }
    }

    /// `!12:5 inlined file1:3:4`, if there is one.
    pub(super) fn loc(&mut self, scope: &mut Scope<'t>) -> Result<Option<LocId>> {
        if !self.eat('!') {
            return Ok(None);
        }
        let mut chain = vec![self.position(scope.file)?];
        while self.eat_word("inlined") {
            chain.push(self.position(scope.file)?);
        }
        let mut outer = None;
        while let Some(mut loc) = chain.pop() {
            loc.inlined_at = outer;
            let known = scope.locs.entry(loc);
            outer = Some(*known.or_insert_with(|| scope.body.locs.push(loc)));
        }
        Ok(outer)
    }
}

impl Scope<'_> {
    pub(super) fn intern(&mut self, constant: Const) -> ConstId {
        if let Some(&id) = self.consts.get(&constant) {
            return id;
        }
        let id = self.body.consts.push(constant.clone());
        self.consts.insert(constant, id);
        id
    }
}
