//! Function bodies: variables, aggregates, blocks, instructions, positions.

use crate::body::*;
use crate::ids::*;
use crate::model::Function;
use crate::syntax::*;
use crate::types::Type;

use super::Printer;

/// An `inlined` chain is cut here; a longer one would be a cycle, which no verified body has.
const MAX_INLINE_DEPTH: usize = 1000;

/// File that positions of a body are in unless they say otherwise.
pub fn default_file(loc: Option<Loc>) -> FileId {
    loc.map_or(FileId::from_u32(0), |loc| loc.file)
}

/// What is the same for all instructions of a body.
struct Scope<'b> {
    body: &'b Body,
    file: FileId,
}

fn pool<T>(pool: &[T], range: PoolRange) -> &[T] {
    let start = range.start as usize;
    pool.get(start..start.saturating_add(range.len as usize))
        .unwrap_or(&[])
}

impl Printer<'_> {
    pub(super) fn body(&mut self, function: &Function, body: &Body) {
        let scope = &Scope {
            body,
            file: default_file(function.loc),
        };
        for (id, var) in body.vars.iter_enumerated() {
            self.var(id, var);
        }
        self.aggregates(body);
        for id in body.blocks.ids() {
            self.block_in(scope, id);
        }
    }

    /// One block by itself. Aggregates must have been numbered before, or show as `?`.
    pub(super) fn block(&mut self, function: &Function, body: &Body, id: BlockId) {
        let scope = &Scope {
            body,
            file: default_file(function.loc),
        };
        self.block_in(scope, id);
    }

    fn block_in(&mut self, scope: &Scope<'_>, id: BlockId) {
        self.put(format_args!("{id}:\n"));
        let insts = scope
            .body
            .blocks
            .get(id)
            .map_or(0..0, |block| block.insts.clone());
        for inst in (insts.start as usize..insts.end as usize).map(InstId::new) {
            self.inst(scope, inst);
        }
    }

    /// Struct and array constants get a line each, so that nested ones are not written out over and over.
    pub(super) fn aggregates(&mut self, body: &Body) {
        self.aggregates.clear();
        for (id, constant) in body.consts.iter_enumerated() {
            if let Const::Aggregate { ty, elems } = constant {
                self.put(format_args!("  const c{} = ", self.aggregates.len()));
                self.ty(*ty);
                self.word(" {");
                for (i, &elem) in elems.iter().enumerate() {
                    self.word(if i == 0 { " " } else { ", " });
                    self.constant(body, elem);
                }
                self.word(" }\n");
                self.aggregates.push(id);
            }
        }
    }

    fn var(&mut self, id: VarId, var: &Var) {
        self.put(format_args!("  var {id} "));
        self.quoted(var.name);
        if let Some(ty) = var.ty {
            self.put(format_args!(" {ty}"));
        }
        if let Some(param) = var.param {
            self.put(format_args!(" param {param}"));
        }
        if var.line != 0 {
            self.put(format_args!(" line {}", var.line));
        }
        self.word("\n");
    }

    fn inst(&mut self, scope: &Scope<'_>, id: InstId) {
        let Some(&inst) = scope.body.insts.get(id) else {
            return self.word("  ?\n");
        };
        self.word("  ");
        if !matches!(self.type_of(inst.ty), Some(Type::Void)) {
            let result = scope.body.result(id);
            self.put(format_args!("{result}"));
            if !self.has_expected_type(&inst) {
                self.word(": ");
                self.ty(inst.ty);
            }
            self.word(" = ");
        } else if !self.has_expected_type(&inst) {
            self.word("void ");
        }
        self.op(scope.body, &inst);
        self.loc(scope, inst.loc);
        self.word("\n");
    }

    /// Does the text of the operation tell the result's type?
    fn has_expected_type(&self, inst: &Inst) -> bool {
        match (fixed_type(&inst.op), self.type_of(inst.ty)) {
            (None, _) => true,
            (Some(fixed), Some(ty)) => *ty == fixed,
            (Some(_), None) => false,
        }
    }

    fn loc(&mut self, scope: &Scope<'_>, loc: Option<LocId>) {
        let Some(mut id) = loc else { return };
        self.word("  !");
        for _ in 0..MAX_INLINE_DEPTH {
            let Some(loc) = scope.body.locs.get(id) else {
                return self.word("?");
            };
            if loc.file != scope.file {
                self.put(format_args!("{}:", loc.file));
            }
            self.put(format_args!("{}:{}", loc.line, loc.column));
            match loc.inlined_at {
                Some(outer) => id = outer,
                None => return,
            }
            self.word(" inlined ");
        }
        self.word("?");
    }

    fn operand(&mut self, body: &Body, operand: Operand) {
        match operand.kind() {
            OperandKind::Value(value) => self.put(format_args!("{value}")),
            OperandKind::Const(constant) => self.constant(body, constant),
        }
    }

    fn constant(&mut self, body: &Body, id: ConstId) {
        match body.consts.get(id) {
            Some(Const::Int { ty, bits }) => {
                let width = match self.type_of(*ty) {
                    Some(Type::Int(width)) => *width,
                    Some(Type::Ptr) => 64,
                    _ => u32::MAX,
                };
                if width == 1 && *bits <= 1 {
                    return self.word(if *bits == 1 { "true" } else { "false" });
                }
                self.ty(*ty);
                self.word(" ");
                self.int_value(width, *bits);
            }
            Some(Const::Null) => self.word("null"),
            Some(Const::Global { global, offset }) => self.global_address(*global, *offset),
            Some(Const::Func(func)) => self.func_ref(*func),
            Some(Const::Float { ty, bits }) => {
                self.ty(*ty);
                self.put(format_args!(" {bits:#x}"));
            }
            Some(Const::Zero(ty)) => self.word_and_type("zero ", *ty),
            Some(Const::Undef(ty)) => self.word_and_type("undef ", *ty),
            Some(Const::Opaque(ty)) => self.word_and_type("opaque ", *ty),
            Some(Const::Aggregate { .. }) => match self.aggregates.binary_search(&id) {
                Ok(number) => self.put(format_args!("c{number}")),
                Err(_) => self.word("?"),
            },
            None => self.word("?"),
        }
    }

    fn word_and_type(&mut self, word: &str, ty: TypeId) {
        self.word(word);
        self.ty(ty);
    }

    /// As a signed number of `width` bits where the bits fit into the width.
    pub(super) fn int_value(&mut self, width: u32, bits: u64) {
        match 64u32.checked_sub(width) {
            Some(spare) if spare < 64 && bits.leading_zeros() >= spare => {
                let signed = (bits << spare).cast_signed() >> spare;
                self.put(format_args!("{signed}"));
            }
            _ => self.put(format_args!("{bits}")),
        }
    }

    fn operands(&mut self, body: &Body, operands: &[Operand]) {
        for (i, &operand) in operands.iter().enumerate() {
            self.word(if i == 0 { "" } else { ", " });
            self.operand(body, operand);
        }
    }

    /// `word a, b, c`
    fn plain(&mut self, body: &Body, word: &str, operands: &[Operand]) {
        self.word(word);
        self.word(" ");
        self.operands(body, operands);
    }

    /// `word T a, b, c`
    fn typed(&mut self, body: &Body, word: &str, ty: TypeId, operands: &[Operand]) {
        self.word(word);
        self.word(" ");
        self.ty(ty);
        self.word(" ");
        self.operands(body, operands);
    }

    fn op(&mut self, body: &Body, inst: &Inst) {
        let ty = inst.ty;
        match inst.op {
            Op::Alloca { elem, count, var } => {
                self.word_and_type("alloca ", elem);
                if !self.is_int_one(body, count) {
                    self.word(", ");
                    self.operand(body, count);
                }
                if let Some(var) = var {
                    self.put(format_args!(" var {var}"));
                }
            }
            Op::Load { addr } => self.typed(body, "load", ty, &[addr]),
            Op::Store { addr, value } => self.plain(body, "store", &[value, addr]),
            Op::PtrAdd {
                base,
                offset,
                indices,
            } => {
                self.plain(body, "ptradd", &[base]);
                let indices = pool(&body.scaled, indices);
                if offset != 0 || indices.is_empty() {
                    self.put(format_args!(", {offset}"));
                }
                for index in indices {
                    self.word(", ");
                    self.operand(body, index.index);
                    self.put(format_args!(" * {}", index.scale));
                }
            }
            Op::MemCopy { dst, src, len } => self.plain(body, "memcopy", &[dst, src, len]),
            Op::MemSet { dst, byte, len } => self.plain(body, "memset", &[dst, byte, len]),
            Op::AtomicRmw { addr, value, op } => {
                self.put(format_args!("atomicrmw {}", word_of(RMW, op)));
                self.typed(body, "", ty, &[addr, value]);
            }
            Op::CmpXchg {
                addr,
                expected,
                new,
            } => self.typed(body, "cmpxchg", ty, &[addr, expected, new]),
            Op::VaArg { list } => self.typed(body, "vaarg", ty, &[list]),
            Op::Call {
                callee,
                args,
                flags,
            } => self.call(body, "call ", ty, callee, args, flags),
            _ => self.value_op(body, inst),
        }
    }

    fn value_op(&mut self, body: &Body, inst: &Inst) {
        let ty = inst.ty;
        match inst.op {
            Op::Cast { op, value } => {
                self.plain(body, word_of(CAST, op), &[value]);
                self.word_and_type(" to ", ty);
            }
            Op::Binary { op, a, b } => self.typed(body, word_of(BINARY, op), ty, &[a, b]),
            Op::Cmp { pred, a, b } => self.cmp(body, pred, a, b),
            Op::Select { cond, then, els } => self.typed(body, "select", ty, &[cond, then, els]),
            Op::Phi { incoming } => {
                self.word_and_type("phi ", ty);
                self.word(" [");
                for (i, incoming) in pool(&body.incoming, incoming).iter().enumerate() {
                    self.word(if i == 0 { "" } else { ", " });
                    self.put(format_args!("{}: ", incoming.block));
                    self.operand(body, incoming.value);
                }
                self.word("]");
            }
            Op::ExtractValue { agg, path } => {
                self.typed(body, "extractvalue", ty, &[agg]);
                self.path(body, path);
            }
            Op::InsertValue { agg, value, path } => {
                self.typed(body, "insertvalue", ty, &[agg, value]);
                self.path(body, path);
            }
            Op::Opaque { args } => {
                self.word_and_type("opaque ", ty);
                self.args(body, args);
            }
            Op::LandingPad { cleanup } => {
                self.word_and_type("landingpad ", ty);
                self.word(if cleanup { " cleanup" } else { "" });
            }
            Op::Uninit { var } => {
                self.word_and_type("uninit ", ty);
                if let Some(var) = var {
                    self.put(format_args!(" var {var}"));
                }
            }
            Op::Bind { var, value } => {
                self.put(format_args!("bind {var}, "));
                self.operand(body, value);
            }
            _ => self.terminator(body, inst),
        }
    }

    fn terminator(&mut self, body: &Body, inst: &Inst) {
        match inst.op {
            Op::Invoke {
                callee,
                args,
                flags,
                normal,
                unwind,
            } => {
                self.call(body, "invoke ", inst.ty, callee, args, flags);
                self.put(format_args!(" to {normal} unwind {unwind}"));
            }
            Op::Ret { value: None } => self.word("ret"),
            Op::Ret { value: Some(value) } => self.plain(body, "ret", &[value]),
            Op::Br { target } => self.put(format_args!("br {target}")),
            Op::CondBr { cond, then, els } => {
                self.plain(body, "br", &[cond]);
                self.put(format_args!(", {then}, {els}"));
            }
            Op::Switch {
                value,
                default,
                cases,
            } => {
                self.plain(body, "switch", &[value]);
                self.put(format_args!(", {default} ["));
                for (i, case) in pool(&body.cases, cases).iter().enumerate() {
                    self.word(if i == 0 { "" } else { ", " });
                    self.put(format_args!("{}: {}", case.value, case.target));
                }
                self.word("]");
            }
            Op::IndirectBr { addr, targets } => {
                self.plain(body, "indirectbr", &[addr]);
                self.targets(body, targets);
            }
            Op::CallBr {
                args,
                normal,
                targets,
            } => {
                self.word_and_type("callbr ", inst.ty);
                self.args(body, args);
                self.put(format_args!(" to {normal}"));
                self.targets(body, targets);
            }
            Op::Resume { value } => self.plain(body, "resume", &[value]),
            Op::Unreachable => self.word("unreachable"),
            // Every other operation is printed by `op`.
            _ => self.word("?"),
        }
    }

    fn call(
        &mut self,
        body: &Body,
        word: &str,
        ty: TypeId,
        callee: Operand,
        args: OperandList,
        flags: CallFlags,
    ) {
        self.word_and_type(word, ty);
        self.word(" ");
        self.operand(body, callee);
        self.word("(");
        self.operands(body, pool(&body.operands, args));
        self.word(")");
        self.bits(CALL_FLAGS, flags.0);
    }

    fn args(&mut self, body: &Body, args: OperandList) {
        self.word(" (");
        self.operands(body, pool(&body.operands, args));
        self.word(")");
    }

    fn targets(&mut self, body: &Body, targets: PoolRange) {
        self.word(" [");
        for (i, target) in pool(&body.targets, targets).iter().enumerate() {
            self.word(if i == 0 { "" } else { ", " });
            self.put(format_args!("{target}"));
        }
        self.word("]");
    }

    fn path(&mut self, body: &Body, path: PoolRange) {
        for index in pool(&body.indices, path) {
            self.put(format_args!(", {index}"));
        }
    }

    fn cmp(&mut self, body: &Body, pred: CmpPred, a: Operand, b: Operand) {
        match pred {
            CmpPred::Float(number) => match number {
                0..=15 => self.put(format_args!("fcmp {}", word_of(FLOAT_CMP, number))),
                _ => self.put(format_args!("fcmp {number}")),
            },
            _ => self.put(format_args!("cmp {}", word_of(CMP, pred))),
        }
        self.plain(body, "", &[a, b]);
    }

    /// `i32 1`, the count of elements that `alloca` has unless it says otherwise.
    fn is_int_one(&self, body: &Body, operand: Operand) -> bool {
        let constant = operand.as_const().and_then(|id| body.consts.get(id));
        let Some(Const::Int { ty, bits: 1 }) = constant else {
            return false;
        };
        matches!(self.type_of(*ty), Some(Type::Int(32)))
    }
}
