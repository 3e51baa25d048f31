//! Question: what would the programmer call this value? `ctx->name`, not `%17`.
//!
//! Values are named by the variable they are bound to (binding markers), parameters by their names, loads by the path that
//! they were read through, with member names from the debug info by byte offset.

use drip_flow::Frame;
use drip_program::{
    BlockId, CmpPred, Const, DiType, DiTypeId, InstId, Op, Operand, OperandKind, Program, ValueId,
    VarId,
};
use rustc_hash::FxHashMap;

use crate::finding::SourcePos;

/// Nesting of a shown expression; deeper ones are not shown.
const MAX_DEPTH: u32 = 6;

/// Names of one function's values.
pub struct Names<'n, 'a> {
    frame: &'n Frame<'a>,
    bound: FxHashMap<ValueId, VarId>,
}

/// An expression with its source type.
struct Named {
    text: String,
    ty: Option<DiTypeId>,
}

/// What an address leads to: an lvalue, or what a pointer expression points to.
struct Pointee {
    text: String,
    ty: Option<DiTypeId>,
    /// `text` is the thing itself, not a pointer to it.
    is_lvalue: bool,
}

impl<'n, 'a> Names<'n, 'a> {
    pub fn new(frame: &'n Frame<'a>) -> Self {
        let mut bound = FxHashMap::default();
        for data in frame.body.insts.iter() {
            if let Op::Bind { var, value } = data.op
                && let Some(value) = value.as_value()
            {
                bound.entry(value).or_insert(var);
            }
        }
        Names { frame, bound }
    }

    fn program(&self) -> &'a Program {
        self.frame.program
    }

    pub fn var(&self, var: VarId) -> &'a str {
        self.program().strings.get(self.frame.body.vars[var].name)
    }

    /// Source position of an instruction.
    pub fn position(&self, inst: InstId) -> SourcePos {
        position(self.program(), self.frame, inst)
    }

    /// The expression of a value.
    pub fn value(&self, operand: Operand) -> Option<String> {
        self.expression(operand, 0).map(|n| n.text)
    }

    /// The lvalue at an address.
    pub fn place(&self, addr: Operand) -> Option<String> {
        let pointee = self.pointee(addr, 0)?;
        Some(if pointee.is_lvalue {
            pointee.text
        } else {
            format!("*{}", pointee.text)
        })
    }

    /// The condition under which a branch goes to `to`.
    pub fn branch(&self, block: BlockId, to: BlockId) -> Option<String> {
        let inst = self.frame.body.terminator(block);
        match self.frame.body.insts[inst].op {
            Op::CondBr { cond, then, .. } => self.condition(cond, to == then, 0),
            Op::Switch {
                value,
                default,
                cases,
            } => {
                let subject = self.value(value)?;
                if to == default {
                    return Some(format!("{subject} is none of the cases"));
                }
                let values: Vec<String> = self
                    .frame
                    .body
                    .cases(cases)
                    .iter()
                    .filter(|c| c.target == to)
                    .map(|c| (c.value as i32).to_string())
                    .collect();
                Some(format!("{subject} == {}", values.join(" or ")))
            }
            _ => None,
        }
    }

    fn condition(&self, cond: Operand, taken: bool, depth: u32) -> Option<String> {
        if depth > MAX_DEPTH {
            return None;
        }
        let inst = self.frame.body.def(cond.as_value()?)?;
        match self.frame.body.insts[inst].op {
            Op::Cmp { pred, a, b } => {
                // `(x < y) != 0` is `x < y`.
                if matches!(
                    self.frame.body.const_of(b),
                    Some(Const::Int { bits: 0, .. })
                ) && let Some(inner) = self.boolean_inside(a)
                {
                    return match pred {
                        CmpPred::Ne => self.condition(inner, taken, depth + 1),
                        CmpPred::Eq => self.condition(inner, !taken, depth + 1),
                        _ => None,
                    };
                }
                let left = self.expression(a, depth + 1)?.text;
                let right = self.expression(b, depth + 1)?.text;
                let operator = if taken {
                    spelling(pred)
                } else {
                    spelling(negated(pred))
                };
                Some(format!("{left} {operator} {right}"))
            }
            Op::Cast { value, .. } => self.condition(value, taken, depth + 1),
            _ => {
                let text = self.expression(cond, depth + 1)?.text;
                Some(if taken { text } else { format!("!{text}") })
            }
        }
    }

    /// The i1 that an integer was widened from.
    fn boolean_inside(&self, operand: Operand) -> Option<Operand> {
        let inst = self.frame.body.def(operand.as_value()?)?;
        let Op::Cast { value, .. } = self.frame.body.insts[inst].op else {
            return None;
        };
        let ty = self.frame.body.value_ty(value.as_value()?);
        (self.program().types.int_width(ty) == Some(1)).then_some(value)
    }

    fn expression(&self, operand: Operand, depth: u32) -> Option<Named> {
        if depth > MAX_DEPTH {
            return None;
        }
        let value = match operand.kind() {
            OperandKind::Const(constant) => {
                return self.constant(&self.frame.body.consts[constant]);
            }
            OperandKind::Value(value) => value,
        };
        if let Some(&var) = self.bound.get(&value) {
            let var = &self.frame.body.vars[var];
            return Some(Named {
                text: self.program().strings.get(var.name).to_owned(),
                ty: var.ty,
            });
        }
        let Some(inst) = self.frame.body.def(value) else {
            let param = self.frame.body.as_param(value)?;
            let var = self
                .frame
                .body
                .vars
                .iter()
                .find(|v| v.param == Some(param as u32))?;
            return Some(Named {
                text: self.program().strings.get(var.name).to_owned(),
                ty: var.ty,
            });
        };
        match self.frame.body.insts[inst].op {
            Op::Load { addr } => {
                let pointee = self.pointee(addr, depth + 1)?;
                let text = if pointee.is_lvalue {
                    pointee.text
                } else {
                    format!("*{}", pointee.text)
                };
                Some(Named {
                    text,
                    ty: pointee.ty,
                })
            }
            Op::Cast { value, .. } => self.expression(value, depth + 1),
            Op::Call { .. } | Op::Invoke { .. } => {
                let name = super::calls::callee_name(self.program(), self.frame.body, inst);
                Some(Named {
                    text: format!("{name}()"),
                    ty: None,
                })
            }
            Op::PtrAdd { .. } | Op::Alloca { .. } => {
                let pointee = self.pointee(operand, depth + 1)?;
                pointee.is_lvalue.then(|| Named {
                    text: format!("&{}", pointee.text),
                    ty: None,
                })
            }
            Op::Binary { op, a, b } => {
                let symbol = binary_spelling(op)?;
                let (a, b) = (
                    self.expression(a, depth + 1)?.text,
                    self.expression(b, depth + 1)?.text,
                );
                Some(Named {
                    text: format!("({a} {symbol} {b})"),
                    ty: None,
                })
            }
            Op::Uninit { var: Some(var) } => Some(Named {
                text: self.var(var).to_owned(),
                ty: None,
            }),
            _ => None,
        }
    }

    fn constant(&self, constant: &Const) -> Option<Named> {
        let text = match constant {
            Const::Null => "NULL".to_owned(),
            Const::Int { ty, bits } => {
                let width = self
                    .program()
                    .types
                    .int_width(*ty)
                    .unwrap_or(64)
                    .clamp(1, 64);
                let signed = ((*bits << (64 - width)) as i64) >> (64 - width);
                signed.to_string()
            }
            Const::Global { global, offset: 0 } => {
                format!("&{}", self.program().global_name(*global))
            }
            Const::Func(func) => self.program().shown_name(*func).to_owned(),
            _ => return None,
        };
        Some(Named { text, ty: None })
    }

    fn pointee(&self, addr: Operand, depth: u32) -> Option<Pointee> {
        if depth > MAX_DEPTH {
            return None;
        }
        if let Some(&Const::Global { global, offset }) = self.frame.body.const_of(addr) {
            let base = Pointee {
                text: self.program().global_name(global).to_owned(),
                ty: self.program().globals[global].di_type,
                is_lvalue: true,
            };
            return self.member(base, offset);
        }
        let value = addr.as_value()?;
        if let Some(inst) = self.frame.body.def(value) {
            match self.frame.body.insts[inst].op {
                Op::Alloca { var: Some(var), .. } => {
                    let var = &self.frame.body.vars[var];
                    return Some(Pointee {
                        text: self.program().strings.get(var.name).to_owned(),
                        ty: var.ty,
                        is_lvalue: true,
                    });
                }
                Op::PtrAdd {
                    base,
                    offset,
                    indices,
                } => {
                    let base = self.pointee(base, depth + 1)?;
                    if indices.len == 0 {
                        return self.member(base, offset);
                    }
                    return Some(Pointee {
                        text: format!("{}[…]", base.text),
                        ty: None,
                        is_lvalue: true,
                    });
                }
                _ => {}
            }
        }
        let pointer = self.expression(addr, depth + 1)?;
        let ty = pointer.ty.and_then(|ty| self.pointed(ty));
        Some(Pointee {
            text: pointer.text,
            ty,
            is_lvalue: false,
        })
    }

    /// The member at a byte offset.
    fn member(&self, base: Pointee, offset: i64) -> Option<Pointee> {
        let strip = |ty: Option<DiTypeId>| ty.and_then(|t| self.strip(t));
        let Some(ty) = strip(base.ty) else {
            return if offset == 0 { Some(base) } else { None };
        };
        match &self.program().di_types[ty] {
            DiType::Struct { members, .. } => {
                let offset = u64::try_from(offset).ok()?;
                let member = members
                    .iter()
                    .filter(|m| m.offset <= offset)
                    .max_by_key(|m| m.offset)?;
                let joint = if base.is_lvalue { "." } else { "->" };
                let text = format!(
                    "{}{joint}{}",
                    base.text,
                    self.program().strings.get(member.name)
                );
                let inner = Pointee {
                    text,
                    ty: member.ty,
                    is_lvalue: true,
                };
                let rest = (offset - member.offset) as i64;
                let is_struct = strip(member.ty)
                    .is_some_and(|t| matches!(self.program().di_types[t], DiType::Struct { .. }));
                if rest == 0 && !is_struct {
                    Some(inner)
                } else if is_struct && rest > 0 {
                    self.member(inner, rest)
                } else {
                    Some(inner)
                }
            }
            _ if offset == 0 => Some(base),
            _ => Some(Pointee {
                text: format!("{}[…]", base.text),
                ty: None,
                is_lvalue: true,
            }),
        }
    }

    fn strip(&self, mut ty: DiTypeId) -> Option<DiTypeId> {
        for _ in 0..16 {
            match &self.program().di_types[ty] {
                DiType::Typedef { of, .. } | DiType::Const(of) | DiType::Qualified(of) => {
                    ty = (*of)?
                }
                _ => return Some(ty),
            }
        }
        None
    }

    fn pointed(&self, ty: DiTypeId) -> Option<DiTypeId> {
        match &self.program().di_types[self.strip(ty)?] {
            DiType::Pointer { to } => *to,
            DiType::Array { elem, .. } => *elem,
            _ => None,
        }
    }
}

/// Source position of an instruction; the nearest one before it in its block where it has none.
pub fn position(program: &Program, frame: &Frame<'_>, inst: InstId) -> SourcePos {
    let block = frame.block_of(inst);
    let first = frame.body.block_insts(block).next().unwrap_or(inst);
    let mut at = inst;
    let function = program.shown_name(frame.func).to_owned();
    loop {
        if let Some(loc) = frame.body.insts[at].loc {
            let loc = frame.body.locs[loc];
            if loc.line > 0 {
                let file = program.file_path(loc.file).to_string_lossy().into_owned();
                return SourcePos {
                    file,
                    line: loc.line,
                    column: loc.column,
                    function,
                };
            }
        }
        if at <= first {
            break;
        }
        at = InstId::from_u32(at.as_u32() - 1);
    }
    match program.funcs[frame.func].loc {
        Some(loc) => {
            let file = program.file_path(loc.file).to_string_lossy().into_owned();
            SourcePos {
                file,
                line: loc.line,
                column: loc.column,
                function,
            }
        }
        None => SourcePos {
            function,
            ..SourcePos::default()
        },
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

fn negated(pred: CmpPred) -> CmpPred {
    match pred {
        CmpPred::Eq => CmpPred::Ne,
        CmpPred::Ne => CmpPred::Eq,
        CmpPred::Ugt => CmpPred::Ule,
        CmpPred::Uge => CmpPred::Ult,
        CmpPred::Ult => CmpPred::Uge,
        CmpPred::Ule => CmpPred::Ugt,
        CmpPred::Sgt => CmpPred::Sle,
        CmpPred::Sge => CmpPred::Slt,
        CmpPred::Slt => CmpPred::Sge,
        CmpPred::Sle => CmpPred::Sgt,
        CmpPred::Float(number) => CmpPred::Float(number),
    }
}

fn binary_spelling(op: drip_program::BinaryOp) -> Option<&'static str> {
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
