//! Question: what would the programmer call this value or condition? By binding markers, parameters, and the paths that loads
//! go through. Works on a body alone, where the default engine's names need its frame.

use drip_program::{
    Body, CmpPred, Const, DiType, DiTypeId, FuncId, InstId, Op, Operand, OperandKind, Program,
    ValueId, VarId,
};
use rustc_hash::FxHashMap;

use super::condition::{Condition, Test};
use crate::finding::SourcePos;

/// Nesting of a shown expression; deeper ones are not shown.
const MAX_DEPTH: u32 = 6;

/// Names of one function's values.
pub struct Names<'n> {
    program: &'n Program,
    func: FuncId,
    body: &'n Body,
    bound: FxHashMap<ValueId, VarId>,
}

/// An expression, or the object at an address, with its source type.
struct Named {
    text: String,
    ty: Option<DiTypeId>,
    /// The text is the thing itself; else a pointer to it.
    is_lvalue: bool,
}

impl<'n> Names<'n> {
    pub fn new(program: &'n Program, func: FuncId) -> Option<Names<'n>> {
        let body = program.funcs[func].body.as_ref()?;
        let mut bound = FxHashMap::default();
        for data in body.insts.iter() {
            if let Op::Bind { var, value } = data.op
                && let Some(value) = value.as_value()
            {
                bound.entry(value).or_insert(var);
            }
        }
        Some(Names {
            program,
            func,
            body,
            bound,
        })
    }

    /// Position of an instruction, or of the nearest one before it that has one.
    pub fn position(&self, inst: InstId) -> SourcePos {
        let before = (0..=inst.as_u32()).rev().map(InstId::from_u32);
        let mut locs = before.filter_map(|at| self.body.insts[at].loc);
        let loc = locs.find_map(|loc| Some(self.body.locs[loc]).filter(|loc| loc.line > 0));
        let function = self.program.shown_name(self.func).to_owned();
        match loc.or(self.program.funcs[self.func].loc) {
            Some(loc) => SourcePos {
                file: self
                    .program
                    .file_path(loc.file)
                    .to_string_lossy()
                    .into_owned(),
                line: loc.line,
                column: loc.column,
                function,
            },
            None => SourcePos {
                function,
                ..SourcePos::default()
            },
        }
    }

    /// The variable or place that a result is first put in.
    pub fn holder(&self, result: ValueId) -> Option<String> {
        self.body.insts.iter().find_map(|data| match data.op {
            Op::Bind { var, value } if value.as_value() == Some(result) => {
                Some(self.var(var).to_owned())
            }
            Op::Store { addr, value } if value.as_value() == Some(result) => self.place(addr),
            _ => None,
        })
    }

    /// The function that a call names.
    pub fn callee(&self, call: InstId) -> String {
        let (Op::Call { callee, .. } | Op::Invoke { callee, .. }) = self.body.insts[call].op else {
            return String::new();
        };
        match self.body.const_of(callee) {
            Some(&Const::Func(func)) => self.program.shown_name(func).to_owned(),
            _ => "a function pointer".to_owned(),
        }
    }

    /// A condition with its value: `n < 2`, `!(n < 2)`.
    pub fn literal(&self, condition: &Condition, value: bool) -> String {
        let text = match condition.test {
            Test::Compare { pred, a, b } => self
                .value(a)
                .zip(self.value(b))
                .map(|(a, b)| format!("{a} {} {b}", spelling(pred))),
            Test::Truth(operand) => self.value(operand),
            Test::Way { block, way } => return self.way(block, way, value),
        };
        let text = text.unwrap_or_else(|| {
            let at = self.position(self.body.terminator(condition.block));
            format!("the condition on line {} holds", at.line)
        });
        if value { text } else { format!("!({text})") }
    }

    fn way(&self, block: drip_program::BlockId, way: usize, value: bool) -> String {
        let inst = self.body.terminator(block);
        let line = self.position(inst).line;
        let taken = if value { "takes" } else { "does not take" };
        match self.body.insts[inst].op {
            Op::Switch { value: subject, .. } => {
                let subject = self.value(subject).unwrap_or_else(|| "it".to_owned());
                format!(
                    "the switch on {subject} in line {line} {taken} way {}",
                    way + 1
                )
            }
            _ => format!("the branch in line {line} {taken} way {}", way + 1),
        }
    }

    fn var(&self, var: VarId) -> &'n str {
        self.program.strings.get(self.body.vars[var].name)
    }

    /// The lvalue at an address.
    pub fn place(&self, addr: Operand) -> Option<String> {
        self.pointee(addr, 0).map(|p| p.lvalue())
    }

    /// The expression of a value.
    pub fn value(&self, operand: Operand) -> Option<String> {
        self.expression(operand, 0).map(|named| named.text)
    }

    fn expression(&self, operand: Operand, depth: u32) -> Option<Named> {
        if depth > MAX_DEPTH {
            return None;
        }
        let value = match operand.kind() {
            OperandKind::Const(constant) => return self.constant(&self.body.consts[constant]),
            OperandKind::Value(value) => value,
        };
        let param = self.body.as_param(value).map(|p| p as u32);
        let mut vars = self.body.vars.iter_enumerated();
        let param = param.and_then(|p| vars.find(|(_, v)| v.param == Some(p)).map(|(id, _)| id));
        if let Some(var) = self.bound.get(&value).copied().or(param) {
            return Some(Named {
                text: self.var(var).to_owned(),
                ty: self.body.vars[var].ty,
                is_lvalue: true,
            });
        }
        let inst = self.body.def(value)?;
        let plain = |text: String| Named {
            text,
            ty: None,
            is_lvalue: true,
        };
        match self.body.insts[inst].op {
            Op::Load { addr } => {
                let pointee = self.pointee(addr, depth + 1)?;
                Some(Named {
                    text: pointee.lvalue(),
                    ty: pointee.ty,
                    is_lvalue: true,
                })
            }
            Op::Cast { value, .. } => self.expression(value, depth + 1),
            // A loop's counter: what comes in is bound to its variable.
            Op::Phi { incoming } => {
                let incoming = self.body.incoming(incoming);
                let mut vars = incoming
                    .iter()
                    .filter_map(|i| self.bound.get(&i.value.as_value()?).copied());
                let var = vars.next()?;
                vars.all(|other| other == var).then(|| Named {
                    text: self.var(var).to_owned(),
                    ty: self.body.vars[var].ty,
                    is_lvalue: true,
                })
            }
            Op::Call { .. } | Op::Invoke { .. } => Some(plain(format!("{}()", self.callee(inst)))),
            Op::PtrAdd { .. } | Op::Alloca { .. } => {
                let pointee = self.pointee(operand, depth + 1)?;
                pointee
                    .is_lvalue
                    .then(|| plain(format!("&{}", pointee.text)))
            }
            Op::Binary { op, a, b } => {
                let symbol = operator(op)?;
                let a = self.expression(a, depth + 1)?.text;
                let b = self.expression(b, depth + 1)?.text;
                Some(plain(format!("({a} {symbol} {b})")))
            }
            _ => None,
        }
    }

    fn constant(&self, constant: &Const) -> Option<Named> {
        let text = match constant {
            Const::Null => "NULL".to_owned(),
            Const::Int { ty, bits } => {
                let width = self.program.types.int_width(*ty).unwrap_or(64);
                let shift = 64 - width.clamp(1, 64);
                (((*bits << shift) as i64) >> shift).to_string()
            }
            Const::Global { global, offset: 0 } => {
                format!("&{}", self.program.global_name(*global))
            }
            Const::Func(func) => self.program.shown_name(*func).to_owned(),
            _ => return None,
        };
        Some(Named {
            text,
            ty: None,
            is_lvalue: true,
        })
    }

    /// What is at an address.
    fn pointee(&self, addr: Operand, depth: u32) -> Option<Named> {
        if depth > MAX_DEPTH {
            return None;
        }
        if let Some(&Const::Global { global, offset }) = self.body.const_of(addr) {
            let base = Named {
                text: self.program.global_name(global).to_owned(),
                ty: self.program.globals[global].di_type,
                is_lvalue: true,
            };
            return self.member(base, offset);
        }
        let def = addr.as_value().and_then(|v| self.body.def(v));
        match def.map(|inst| self.body.insts[inst].op) {
            Some(Op::Alloca { var: Some(var), .. }) => Some(Named {
                text: self.var(var).to_owned(),
                ty: self.body.vars[var].ty,
                is_lvalue: true,
            }),
            Some(Op::PtrAdd {
                base,
                offset,
                indices,
            }) => {
                let base = self.pointee(base, depth + 1)?;
                if indices.len == 0 {
                    return self.member(base, offset);
                }
                Some(Named {
                    text: format!("{}[…]", base.text),
                    ty: None,
                    is_lvalue: true,
                })
            }
            _ => {
                let pointer = self.expression(addr, depth + 1)?;
                Some(Named {
                    ty: pointer.ty.and_then(|ty| self.pointed(ty)),
                    text: pointer.text,
                    is_lvalue: false,
                })
            }
        }
    }

    /// The member at a byte offset; structures inside structures are entered.
    fn member(&self, base: Named, offset: i64) -> Option<Named> {
        let mut at = base;
        let mut rest = u64::try_from(offset).ok()?;
        for _ in 0..MAX_DEPTH {
            let ty = at.ty.and_then(|ty| self.strip(ty));
            let Some(DiType::Struct { members, .. }) = ty.map(|ty| &self.program.di_types[ty])
            else {
                break;
            };
            let before = members.iter().filter(|m| m.offset <= rest);
            let Some(member) = before.max_by_key(|m| m.offset) else {
                break;
            };
            let joint = if at.is_lvalue { "." } else { "->" };
            let name = self.program.strings.get(member.name);
            at = Named {
                text: format!("{}{joint}{name}", at.text),
                ty: member.ty,
                is_lvalue: true,
            };
            rest -= member.offset;
        }
        if rest != 0 {
            at.text = format!("{}[…]", at.text);
            at.is_lvalue = true;
        }
        Some(at)
    }

    fn strip(&self, mut ty: DiTypeId) -> Option<DiTypeId> {
        for _ in 0..16 {
            match &self.program.di_types[ty] {
                DiType::Typedef { of, .. } | DiType::Const(of) | DiType::Qualified(of) => {
                    ty = (*of)?
                }
                _ => return Some(ty),
            }
        }
        None
    }

    fn pointed(&self, ty: DiTypeId) -> Option<DiTypeId> {
        match &self.program.di_types[self.strip(ty)?] {
            DiType::Pointer { to } => *to,
            DiType::Array { elem, .. } => *elem,
            _ => None,
        }
    }
}

impl Named {
    fn lvalue(&self) -> String {
        if self.is_lvalue {
            self.text.clone()
        } else {
            format!("*{}", self.text)
        }
    }
}

fn spelling(pred: CmpPred) -> &'static str {
    match pred {
        CmpPred::Eq => "==",
        CmpPred::Ne => "!=",
        CmpPred::Ugt | CmpPred::Sgt => ">",
        CmpPred::Uge | CmpPred::Sge => ">=",
        CmpPred::Ult | CmpPred::Slt => "<",
        CmpPred::Ule | CmpPred::Sle => "<=",
        CmpPred::Float(_) => "compares to",
    }
}

fn operator(op: drip_program::BinaryOp) -> Option<&'static str> {
    use drip_program::BinaryOp;
    Some(match op {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::UDiv | BinaryOp::SDiv => "/",
        BinaryOp::URem | BinaryOp::SRem => "%",
        BinaryOp::Shl => "<<",
        BinaryOp::LShr | BinaryOp::AShr => ">>",
        BinaryOp::And => "&",
        BinaryOp::Or => "|",
        BinaryOp::Xor => "^",
        _ => return None,
    })
}
