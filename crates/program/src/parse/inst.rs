//! One instruction: `v2 = call ptr @malloc(i64 16) nounwind  !13:7`.

use crate::body::*;
use crate::ids::*;
use crate::syntax::*;
use crate::types::Type;

use super::body::Scope;
use super::lexer::Tok;
use super::{Parser, Result};

/// The range that a pool gained since it had `start` entries.
fn range_since<T>(pool: &[T], start: usize) -> PoolRange {
    let clamp = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    PoolRange {
        start: clamp(start),
        len: clamp(pool.len() - start),
    }
}

impl<'t> Parser<'t> {
    pub(super) fn inst(&mut self, scope: &mut Scope<'t>) -> Result<()> {
        let offset = self.offset();
        let labelled = self.value_label()?.is_some();
        let mut result_ty = None;
        if labelled {
            if self.eat(':') {
                result_ty = Some(self.ty()?);
            }
            self.expect('=')?;
        }
        let (op, op_ty) = self.op(scope)?;
        let ty = match (result_ty, op_ty, fixed_type(&op)) {
            (Some(ty), _, _) | (None, Some(ty), _) => ty,
            (None, None, fixed) => self.program.types.intern(fixed.unwrap_or(Type::Void)),
        };
        if labelled && *self.program.types.get(ty) == Type::Void {
            return Err(self.error_at(offset, "the instruction has no result"));
        }
        let loc = self.loc(scope)?;
        scope.body.insts.push(Inst { op, ty, loc });
        Ok(())
    }

    /// The operation, and its type where the text names it.
    fn op(&mut self, scope: &mut Scope<'t>) -> Result<(Op, Option<TypeId>)> {
        let offset = self.offset();
        let word = self.word("an instruction")?;
        if let Some(op) = meaning_of(BINARY, word) {
            let (ty, [a, b]) = self.typed(scope)?;
            return Ok((Op::Binary { op, a, b }, Some(ty)));
        }
        if let Some(op) = meaning_of(CAST, word) {
            let value = self.operand(scope, None)?;
            self.expect_word("to")?;
            return Ok((Op::Cast { op, value }, Some(self.ty()?)));
        }
        if let Some(found) = self.void_op(scope, word)? {
            return Ok((found, None));
        }
        match word {
            "alloca" => Ok((self.alloca(scope)?, None)),
            "ptradd" => Ok((self.ptradd(scope)?, None)),
            "cmp" | "fcmp" => Ok((self.cmp(scope, word == "fcmp")?, None)),
            "call" | "invoke" => self.call(scope, word == "invoke"),
            "atomicrmw" => {
                let offset = self.offset();
                let kind = self.word("an operation")?;
                let op = meaning_of(RMW, kind)
                    .ok_or_else(|| self.error_at(offset, "expected an atomic operation"))?;
                let ty = self.ty()?;
                let addr = self.operand(scope, None)?;
                self.expect(',')?;
                let value = self.operand(scope, Some(ty))?;
                Ok((Op::AtomicRmw { addr, value, op }, Some(ty)))
            }
            _ => match self.typed_op(scope, word)? {
                Some((op, ty)) => Ok((op, Some(ty))),
                None => Err(self.error_at(offset, format!("unknown instruction `{word}`"))),
            },
        }
    }

    /// `T a, b, c`: as many operands as asked for; plain numbers have type `T`.
    fn typed<const N: usize>(&mut self, scope: &mut Scope<'t>) -> Result<(TypeId, [Operand; N])> {
        let ty = self.ty()?;
        Ok((ty, self.plain(scope, Some(ty))?))
    }

    fn plain<const N: usize>(
        &mut self,
        scope: &mut Scope<'t>,
        expect: Option<TypeId>,
    ) -> Result<[Operand; N]> {
        let mut operands = [Operand::value(ValueId::from_u32(0)); N];
        for (i, slot) in operands.iter_mut().enumerate() {
            if i > 0 {
                self.expect(',')?;
            }
            *slot = self.operand(scope, expect)?;
        }
        Ok(operands)
    }

    /// Operations whose text starts with the type of their result.
    fn typed_op(&mut self, scope: &mut Scope<'t>, word: &str) -> Result<Option<(Op, TypeId)>> {
        let found = match word {
            "load" => {
                let (ty, [addr]) = self.typed(scope)?;
                (Op::Load { addr }, ty)
            }
            "select" => {
                let ty = self.ty()?;
                let cond = self.operand(scope, None)?;
                self.expect(',')?;
                let [then, els] = self.plain(scope, Some(ty))?;
                (Op::Select { cond, then, els }, ty)
            }
            "phi" => self.phi(scope)?,
            "extractvalue" => {
                let (ty, [agg]) = self.typed(scope)?;
                let path = self.path(scope)?;
                (Op::ExtractValue { agg, path }, ty)
            }
            "insertvalue" => {
                let (ty, [agg, value]) = self.typed(scope)?;
                let path = self.path(scope)?;
                (Op::InsertValue { agg, value, path }, ty)
            }
            "cmpxchg" => {
                let (ty, [addr, expected, new]) = self.typed(scope)?;
                let op = Op::CmpXchg {
                    addr,
                    expected,
                    new,
                };
                (op, ty)
            }
            "vaarg" => {
                let (ty, [list]) = self.typed(scope)?;
                (Op::VaArg { list }, ty)
            }
            "opaque" => {
                let ty = self.ty()?;
                let args = self.args(scope)?;
                (Op::Opaque { args }, ty)
            }
            "landingpad" => {
                let ty = self.ty()?;
                let cleanup = self.eat_word("cleanup");
                (Op::LandingPad { cleanup }, ty)
            }
            "uninit" => {
                let ty = self.ty()?;
                let var = self.optional_var(scope)?;
                (Op::Uninit { var }, ty)
            }
            "callbr" => self.callbr(scope)?,
            _ => return Ok(None),
        };
        Ok(Some(found))
    }

    /// `callbr T (args) to b1 [b2]`
    fn callbr(&mut self, scope: &mut Scope<'t>) -> Result<(Op, TypeId)> {
        let ty = self.ty()?;
        let args = self.args(scope)?;
        self.expect_word("to")?;
        let normal = self.block(scope)?;
        let targets = self.targets(scope)?;
        let op = Op::CallBr {
            args,
            normal,
            targets,
        };
        Ok((op, ty))
    }

    /// Operations without a result, terminators among them.
    fn void_op(&mut self, scope: &mut Scope<'t>, word: &str) -> Result<Option<Op>> {
        let op = match word {
            "store" => {
                let [value, addr] = self.plain(scope, None)?;
                Op::Store { addr, value }
            }
            "memcopy" => {
                let [dst, src, len] = self.plain(scope, None)?;
                Op::MemCopy { dst, src, len }
            }
            "memset" => {
                let [dst, byte, len] = self.plain(scope, None)?;
                Op::MemSet { dst, byte, len }
            }
            "bind" => {
                let var = self.var_ref(scope)?;
                self.expect(',')?;
                let value = self.operand(scope, None)?;
                Op::Bind { var, value }
            }
            "ret" => Op::Ret {
                value: match self.peek() {
                    Tok::End | Tok::Punct('!') => None,
                    _ => Some(self.operand(scope, None)?),
                },
            },
            "br" => self.br(scope)?,
            "switch" => self.switch(scope)?,
            "indirectbr" => Op::IndirectBr {
                addr: self.operand(scope, None)?,
                targets: self.targets(scope)?,
            },
            "resume" => Op::Resume {
                value: self.operand(scope, None)?,
            },
            "unreachable" => Op::Unreachable,
            _ => return Ok(None),
        };
        Ok(Some(op))
    }

    fn optional_var(&mut self, scope: &Scope<'t>) -> Result<Option<VarId>> {
        match self.eat_word("var") {
            true => self.var_ref(scope).map(Some),
            false => Ok(None),
        }
    }

    /// `alloca T, count var x`; the count is `i32 1` unless given.
    fn alloca(&mut self, scope: &mut Scope<'t>) -> Result<Op> {
        let elem = self.ty()?;
        let i32_ty = self.program.types.intern(Type::Int(32));
        let count = match self.eat(',') {
            true => self.operand(scope, Some(i32_ty))?,
            false => Operand::constant(scope.intern(Const::Int {
                ty: i32_ty,
                bits: 1,
            })),
        };
        let var = self.optional_var(scope)?;
        Ok(Op::Alloca { elem, count, var })
    }

    /// `ptradd base, 8, i * 4, j * 16`
    fn ptradd(&mut self, scope: &mut Scope<'t>) -> Result<Op> {
        let base = self.operand(scope, None)?;
        let start = scope.body.scaled.len();
        let mut offset = 0;
        while self.eat(',') {
            if matches!(self.peek(), Tok::Int { .. }) {
                let at = self.offset();
                let more: i64 = self.int("an offset")?;
                let sum = i64::checked_add(offset, more);
                offset = sum.ok_or_else(|| self.error_at(at, "the offset is out of range"))?;
                continue;
            }
            let index = self.operand(scope, None)?;
            self.expect('*')?;
            let scale = self.int("a scale")?;
            scope.body.scaled.push(Scaled { index, scale });
        }
        Ok(Op::PtrAdd {
            base,
            offset,
            indices: range_since(&scope.body.scaled, start),
        })
    }

    fn cmp(&mut self, scope: &mut Scope<'t>, float: bool) -> Result<Op> {
        let at = self.offset();
        let pred = match (self.peek(), float) {
            (Tok::Word(word), false) => meaning_of(CMP, word),
            (Tok::Word(word), true) => meaning_of(FLOAT_CMP, word).map(CmpPred::Float),
            (Tok::Int { value, .. }, true) => u8::try_from(value).ok().map(CmpPred::Float),
            _ => None,
        };
        let pred = pred.ok_or_else(|| self.error_at(at, "expected a predicate"))?;
        self.bump();
        let [a, b] = self.plain(scope, None)?;
        Ok(Op::Cmp { pred, a, b })
    }

    /// `phi T [b0: v1, b1: null]`
    fn phi(&mut self, scope: &mut Scope<'t>) -> Result<(Op, TypeId)> {
        let ty = self.ty()?;
        let start = scope.body.incoming.len();
        self.expect('[')?;
        self.list(']', |this| {
            let block = this.block(scope)?;
            this.expect(':')?;
            let value = this.operand(scope, Some(ty))?;
            scope.body.incoming.push(Incoming { block, value });
            Ok(())
        })?;
        let incoming = range_since(&scope.body.incoming, start);
        Ok((Op::Phi { incoming }, ty))
    }

    /// `call T callee(args) flags`, `invoke T callee(args) flags to b1 unwind b2`
    fn call(&mut self, scope: &mut Scope<'t>, is_invoke: bool) -> Result<(Op, Option<TypeId>)> {
        let ty = self.ty()?;
        let callee = self.operand(scope, None)?;
        let args = self.args(scope)?;
        let mut flags = CallFlags(0);
        while let Tok::Word(word) = self.peek() {
            if let Some(bit) = meaning_of(CALL_FLAGS, word) {
                self.bump();
                flags.0 |= bit;
            } else if self.eat_word("bits") {
                flags.0 |= self.int::<u8>("a bit set")?;
            } else {
                break;
            }
        }
        if !is_invoke {
            let op = Op::Call {
                callee,
                args,
                flags,
            };
            return Ok((op, Some(ty)));
        }
        self.expect_word("to")?;
        let normal = self.block(scope)?;
        self.expect_word("unwind")?;
        let unwind = self.block(scope)?;
        let op = Op::Invoke {
            callee,
            args,
            flags,
            normal,
            unwind,
        };
        Ok((op, Some(ty)))
    }

    fn args(&mut self, scope: &mut Scope<'t>) -> Result<OperandList> {
        // Gathered first: an argument never opens another list, but the pool must stay contiguous in any case.
        let mut args = Vec::new();
        self.expect('(')?;
        self.list(')', |this| {
            args.push(this.operand(scope, None)?);
            Ok(())
        })?;
        let start = scope.body.operands.len();
        scope.body.operands.extend(args);
        Ok(range_since(&scope.body.operands, start))
    }

    /// `, 0, 2`
    fn path(&mut self, scope: &mut Scope<'t>) -> Result<PoolRange> {
        let start = scope.body.indices.len();
        while self.eat(',') {
            let index = self.int("an index")?;
            scope.body.indices.push(index);
        }
        Ok(range_since(&scope.body.indices, start))
    }

    fn br(&mut self, scope: &mut Scope<'t>) -> Result<Op> {
        // A jump has nothing behind its target; everything else has a condition first.
        if matches!(self.peek_at(1), Tok::End | Tok::Punct('!')) {
            let target = self.block(scope)?;
            return Ok(Op::Br { target });
        }
        let cond = self.operand(scope, None)?;
        self.expect(',')?;
        let then = self.block(scope)?;
        self.expect(',')?;
        let els = self.block(scope)?;
        Ok(Op::CondBr { cond, then, els })
    }

    /// `switch v1, b3 [1: b1, 2: b2]`
    fn switch(&mut self, scope: &mut Scope<'t>) -> Result<Op> {
        let value = self.operand(scope, None)?;
        self.expect(',')?;
        let default = self.block(scope)?;
        let start = scope.body.cases.len();
        self.expect('[')?;
        self.list(']', |this| {
            let value = this.int("a case")?;
            this.expect(':')?;
            let target = this.block(scope)?;
            scope.body.cases.push(SwitchCase { value, target });
            Ok(())
        })?;
        Ok(Op::Switch {
            value,
            default,
            cases: range_since(&scope.body.cases, start),
        })
    }

    fn targets(&mut self, scope: &mut Scope<'t>) -> Result<PoolRange> {
        let start = scope.body.targets.len();
        self.expect('[')?;
        self.list(']', |this| {
            let target = this.block(scope)?;
            scope.body.targets.push(target);
            Ok(())
        })?;
        Ok(range_since(&scope.body.targets, start))
    }
}
