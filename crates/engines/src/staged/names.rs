//! Question: what would the programmer call this value? `ctx->name`, not `%17`.
//!
//! Values are named by the variable they are bound to (binding markers), parameters by their names, loads by the path that
//! they were read through, with member names from the debug info by byte offset.

use drip_flow::Frame;
use drip_pointer::{CellId, Loc, ObjId, ObjKind};
use drip_program::{
    BinaryOp, BlockId, Body, CmpPred, Const, DiType, DiTypeId, FuncId, GlobalId, Init, InstId, Op,
    Operand, OperandKind, Program, Scaled, ValueId, VarId,
};
use rustc_hash::FxHashMap;

use crate::finding::SourcePos;

mod spelling;

use spelling::{binary_spelling, character, literal, negated, spelling, unwrapped};

/// Nesting of a shown expression; deeper ones are not shown.
const MAX_DEPTH: u32 = 6;

/// Characters of a shown call with its arguments; longer ones are shown as `f(…)`.
const MAX_CALL_CHARS: usize = 48;

/// φs of φs that get a name; deeper nests of loops stay without.
const JOIN_ROUNDS: usize = 2;

/// How a callee is called that no name leads to.
pub const UNNAMED_CALLEE: &str = "a function pointer";

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
        for _ in 0..JOIN_ROUNDS {
            join_names(frame.body, &mut bound);
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
        Some(self.lvalue(pointee).text)
    }

    /// A memory cell as the programmer writes it: `unit`, `config->title`, `item->name`.
    pub fn cell(&self, cell: CellId) -> Option<String> {
        self.cell_lvalue(cell, 0).map(|named| named.text)
    }

    fn cell_lvalue(&self, cell: CellId, depth: u32) -> Option<Named> {
        if depth > MAX_DEPTH {
            return None;
        }
        let cell = self.frame.local.memory.cells[cell];
        let base = self.object(cell.obj, depth + 1)?;
        let pointee = if cell.off.is_exact() {
            self.member(base, cell.off.base)?
        } else {
            element(base, "…")
        };
        Some(self.lvalue(pointee))
    }

    /// An object as what it is called, or what a pointer that has a name points to.
    fn object(&self, object: ObjId, depth: u32) -> Option<Pointee> {
        match self.frame.local.memory.kind(object) {
            ObjKind::Stack(inst) => self.variable_slot(inst),
            ObjKind::Global(global) => Some(self.global(global)),
            ObjKind::Param(number) => {
                let var = self.parameter(u32::from(number))?;
                Some(self.behind(self.variable(var)))
            }
            ObjKind::Entry(cell) => Some(self.behind(self.cell_lvalue(cell, depth)?)),
            ObjKind::Fresh { .. } => {
                let var = self.pointer_to(object)?;
                Some(self.behind(self.variable(var)))
            }
            ObjKind::World | ObjKind::Func(_) | ObjKind::Deep(_) => None,
        }
    }

    /// A variable that is bound to the address of an object and to nothing else.
    fn pointer_to(&self, object: ObjId) -> Option<VarId> {
        self.frame.body.insts.iter().find_map(|data| {
            let Op::Bind { var, value } = data.op else {
                return None;
            };
            let only = |loc: &Loc| loc.obj == object && loc.off == drip_models::Offset::ZERO;
            let targets = self.frame.local.targets(value);
            (!targets.is_empty() && targets.iter().all(only)).then_some(var)
        })
    }

    fn parameter(&self, number: u32) -> Option<VarId> {
        let mut vars = self.frame.body.vars.iter_enumerated();
        vars.find_map(|(id, var)| (var.param == Some(number)).then_some(id))
    }

    fn variable(&self, var: VarId) -> Named {
        Named {
            text: self.var(var).to_owned(),
            ty: self.frame.body.vars[var].ty,
        }
    }

    fn variable_slot(&self, inst: InstId) -> Option<Pointee> {
        let Op::Alloca { var: Some(var), .. } = self.frame.body.insts[inst].op else {
            return None;
        };
        let named = self.variable(var);
        Some(Pointee {
            text: named.text,
            ty: named.ty,
            is_lvalue: true,
        })
    }

    fn global(&self, global: GlobalId) -> Pointee {
        Pointee {
            text: self.program().global_name(global).to_owned(),
            ty: self.program().globals[global].di_type,
            is_lvalue: true,
        }
    }

    /// What a pointer points to.
    fn behind(&self, pointer: Named) -> Pointee {
        Pointee {
            text: pointer.text,
            ty: pointer.ty.and_then(|ty| self.pointed(ty)),
            is_lvalue: false,
        }
    }

    /// What is read or written at an address: of a structure its first member, because whole structures are copied, not loaded.
    fn lvalue(&self, pointee: Pointee) -> Named {
        let is_struct = |ty: Option<DiTypeId>| {
            ty.and_then(|ty| self.strip(ty))
                .is_some_and(|ty| matches!(self.program().di_types[ty], DiType::Struct { .. }))
        };
        let (text, ty, is_lvalue) = (pointee.text.clone(), pointee.ty, pointee.is_lvalue);
        if is_struct(ty)
            && let Some(member) = self.member(pointee, 0)
            && member.is_lvalue
            && member.text != text
        {
            return self.lvalue(member);
        }
        let text = if is_lvalue { text } else { format!("*{text}") };
        Named { text, ty }
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
                let pred = if taken { pred } else { negated(pred) };
                let left = self.expression(a, depth + 1)?;
                if let Some(truth) = self.truth_test(pred, &left, b) {
                    return Some(truth);
                }
                let right = self.expression(b, depth + 1)?;
                let left_text = self.constant_like(a, right.ty).unwrap_or(left.text);
                let right_text = self.constant_like(b, left.ty).unwrap_or(right.text);
                Some(format!("{left_text} {} {right_text}", spelling(pred)))
            }
            Op::Cast { value, .. } => self.condition(value, taken, depth + 1),
            // `!x` of a truth value.
            Op::Binary {
                op: BinaryOp::Xor,
                a,
                b,
            } if matches!(
                self.frame.body.const_of(b),
                Some(Const::Int { bits: 1, .. })
            ) =>
            {
                self.condition(a, !taken, depth + 1)
            }
            _ => {
                let text = self.expression(cond, depth + 1)?.text;
                Some(if taken { text } else { format!("!{text}") })
            }
        }
    }

    /// `known != 0` of a `bool` is `known`.
    fn truth_test(&self, pred: CmpPred, left: &Named, right: Operand) -> Option<String> {
        let is_zero = matches!(
            self.frame.body.const_of(right),
            Some(Const::Int { bits: 0, .. })
        );
        let ty = self.strip(left.ty?)?;
        let DiType::Base { name, .. } = self.program().di_types[ty] else {
            return None;
        };
        let is_bool = matches!(self.program().strings.get(name), "_Bool" | "bool");
        match pred {
            CmpPred::Ne if is_zero && is_bool => Some(left.text.clone()),
            CmpPred::Eq if is_zero && is_bool => Some(format!("!{}", left.text)),
            _ => None,
        }
    }

    /// A number that is compared with something of this type: `'\\0'`, `STATE_DONE`.
    fn constant_like(&self, operand: Operand, ty: Option<DiTypeId>) -> Option<String> {
        let Some(&Const::Int { bits, .. }) = self.frame.body.const_of(operand) else {
            return None;
        };
        match &self.program().di_types[self.strip(ty?)?] {
            DiType::Base { name, bytes: 1, .. }
                if self.program().strings.get(*name).contains("char") =>
            {
                character(bits)
            }
            DiType::Enum { values, .. } => {
                let named = values.iter().find(|(_, value)| *value as u64 == bits)?;
                Some(self.program().strings.get(named.0).to_owned())
            }
            _ => None,
        }
    }

    /// The i1 that an integer was widened from, once or several times (`__builtin_expect(!!(x), 0)`).
    fn boolean_inside(&self, mut operand: Operand) -> Option<Operand> {
        loop {
            let inst = self.frame.body.def(operand.as_value()?)?;
            let Op::Cast { value, .. } = self.frame.body.insts[inst].op else {
                return None;
            };
            let ty = self.frame.body.value_ty(value.as_value()?);
            if self.program().types.int_width(ty) == Some(1) {
                return Some(value);
            }
            operand = value;
        }
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
            return Some(self.variable(var));
        }
        let Some(inst) = self.frame.body.def(value) else {
            let param = self.frame.body.as_param(value)?;
            return Some(self.variable(self.parameter(u32::try_from(param).ok()?)?));
        };
        match self.frame.body.insts[inst].op {
            Op::Load { addr } => {
                let pointee = self.pointee(addr, depth + 1)?;
                Some(self.lvalue(pointee))
            }
            Op::Cast { value, .. } => self.expression(value, depth + 1),
            Op::Call { .. } | Op::Invoke { .. } => Some(Named {
                text: self.call(inst, depth),
                ty: None,
            }),
            Op::PtrAdd { .. } | Op::Alloca { .. } => {
                if let Some(sum) = self.moved_pointer(inst, depth) {
                    return Some(sum);
                }
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

    /// `text + 1`: a pointer to scalars, moved by a constant.
    fn moved_pointer(&self, inst: InstId, depth: u32) -> Option<Named> {
        let Op::PtrAdd {
            base,
            offset,
            indices,
        } = self.frame.body.insts[inst].op
        else {
            return None;
        };
        let pointer = self.expression(base, depth + 1)?;
        let to = self.strip(self.pointed(pointer.ty?)?)?;
        let DiType::Base { bytes, .. } = self.program().di_types[to] else {
            return None;
        };
        let bytes = i64::try_from(bytes).ok().filter(|bytes| *bytes > 0)?;
        let (sign, count) = if offset < 0 {
            ('-', -offset)
        } else {
            ('+', offset)
        };
        (indices.len == 0 && count % bytes == 0).then(|| Named {
            text: format!("({} {sign} {})", pointer.text, count / bytes),
            ty: pointer.ty,
        })
    }

    /// The function that is called, or the expression that its address comes from; [`UNNAMED_CALLEE`] if there is neither.
    pub fn callee(&self, inst: InstId) -> String {
        self.callee_at(inst, 0)
    }

    fn callee_at(&self, inst: InstId, depth: u32) -> String {
        let name = super::calls::callee_name(self.program(), self.frame.body, inst);
        let (Op::Call { callee, .. } | Op::Invoke { callee, .. }) = self.frame.body.insts[inst].op
        else {
            return name;
        };
        if self.frame.body.const_of(callee).is_some() {
            return name;
        }
        let pointer = self.expression(callee, depth + 1);
        pointer.map_or(name, |named| named.text)
    }

    /// A call with its arguments, as far as they have names.
    pub fn call(&self, inst: InstId, depth: u32) -> String {
        let name = self.callee_at(inst, depth);
        let args: Vec<String> = self
            .frame
            .args(inst)
            .iter()
            .map(|arg| match self.expression(*arg, depth + 2) {
                Some(named) => unwrapped(&named.text).to_owned(),
                None => "…".to_owned(),
            })
            .collect();
        let text = format!("{name}({})", args.join(", "));
        let tells_nothing = args.iter().all(|arg| arg == "…");
        if text.chars().count() > MAX_CALL_CHARS || (tells_nothing && args.len() > 1) {
            return format!("{name}(…)");
        }
        text
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
                let data = &self.program().globals[*global];
                match (data.di_type, &data.init) {
                    // What has no name in the source is a literal.
                    (None, Init::Bytes(bytes)) => literal(bytes)?,
                    (None, Init::Zero) => literal(&[0])?,
                    _ => format!("&{}", self.program().global_name(*global)),
                }
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
            return self.member(self.global(global), offset);
        }
        let value = addr.as_value()?;
        if let Some(inst) = self.frame.body.def(value) {
            match self.frame.body.insts[inst].op {
                Op::Alloca { var: Some(_), .. } => return self.variable_slot(inst),
                Op::PtrAdd {
                    base,
                    offset,
                    indices,
                } => {
                    let base = self.pointee(base, depth + 1)?;
                    if indices.len == 0 {
                        return self.member(base, offset);
                    }
                    return self.indexed(base, offset, self.frame.body.scaled(indices), depth);
                }
                _ => {}
            }
        }
        Some(self.behind(self.expression(addr, depth + 1)?))
    }

    /// `tab[i]`, `items[i].name`; what is more complicated is `tab[…]`.
    fn indexed(&self, base: Pointee, offset: i64, by: &[Scaled], depth: u32) -> Option<Pointee> {
        let [one] = by else {
            return Some(element(base, "…"));
        };
        let of_array = base.ty.and_then(|ty| self.strip(ty)).and_then(|ty| {
            match self.program().di_types[ty] {
                DiType::Array { elem, .. } => elem,
                _ => None,
            }
        });
        let ty = if base.is_lvalue { of_array } else { base.ty };
        let index = self.expression(one.index, depth + 1);
        let index = index.map_or("…".to_owned(), |named| unwrapped(&named.text).to_owned());
        if offset < 0 || offset >= one.scale {
            return Some(element(base, "…"));
        }
        let mut found = element(base, &index);
        found.ty = ty;
        if offset == 0 {
            return Some(found);
        }
        self.member(found, offset)
    }

    /// The member at a byte offset.
    fn member(&self, base: Pointee, offset: i64) -> Option<Pointee> {
        let strip = |ty: Option<DiTypeId>| ty.and_then(|t| self.strip(t));
        let Some(ty) = strip(base.ty) else {
            return if offset == 0 { Some(base) } else { None };
        };
        match &self.program().di_types[ty] {
            // Which member of a union was meant is not known.
            DiType::Struct { is_union: true, .. } => Some(base),
            DiType::Struct { members, .. } => {
                let offset = u64::try_from(offset).ok()?;
                let member = members
                    .iter()
                    .filter(|m| m.offset <= offset)
                    .max_by_key(|m| m.offset)?;
                // Bit fields share their bytes.
                if members.iter().filter(|m| m.offset == member.offset).count() > 1 {
                    return None;
                }
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
            _ => Some(element(base, "…")),
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

/// The callee of a call in a function that is not analysed now; of pointers only variables have names.
pub fn callee_elsewhere(program: &Program, body: &Body, call: InstId) -> String {
    let name = super::calls::callee_name(program, body, call);
    let (Op::Call { callee, .. } | Op::Invoke { callee, .. }) = body.insts[call].op else {
        return name;
    };
    let loaded = callee.as_value().and_then(|value| body.def(value));
    let Some(Op::Load { addr }) = loaded.map(|inst| body.insts[inst].op) else {
        return name;
    };
    match body.const_of(addr) {
        Some(&Const::Global { global, offset }) => {
            global_member(program, global, offset).unwrap_or(name)
        }
        _ => name,
    }
}

/// A global variable, or a member of one.
fn global_member(program: &Program, global: GlobalId, offset: i64) -> Option<String> {
    let name = program.global_name(global);
    let mut ty = program.globals[global].di_type;
    while let Some(DiType::Typedef { of, .. } | DiType::Const(of) | DiType::Qualified(of)) =
        ty.map(|ty| &program.di_types[ty])
    {
        ty = *of;
    }
    let Some(DiType::Struct { members, .. }) = ty.map(|ty| &program.di_types[ty]) else {
        return (offset == 0).then(|| name.to_owned());
    };
    let member = members
        .iter()
        .find(|m| i64::try_from(m.offset) == Ok(offset))?;
    Some(format!("{name}.{}", program.strings.get(member.name)))
}

/// Source position of an instruction; the nearest one before it in its block where it has none.
pub fn position(program: &Program, frame: &Frame<'_>, inst: InstId) -> SourcePos {
    let first = frame.body.block_insts(frame.block_of(inst)).next();
    nearest(program, frame.func, frame.body, inst, first.unwrap_or(inst))
}

/// The same in a function that is not analysed now.
pub fn position_in(program: &Program, func: FuncId, body: &Body, inst: InstId) -> SourcePos {
    let block = body.block_of(inst);
    let first = block.and_then(|block| body.block_insts(block).next());
    nearest(program, func, body, inst, first.unwrap_or(inst))
}

fn nearest(program: &Program, func: FuncId, body: &Body, inst: InstId, first: InstId) -> SourcePos {
    let function = program.shown_name(func).to_owned();
    let mut at = inst;
    loop {
        if let Some(loc) = body.insts[at].loc {
            let loc = body.locs[loc];
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
    match program.funcs[func].loc {
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

/// A φ is the variable that all its named inputs are.
fn join_names(body: &Body, bound: &mut FxHashMap<ValueId, VarId>) {
    for (inst, data) in body.insts.iter_enumerated() {
        let Op::Phi { incoming } = data.op else {
            continue;
        };
        let phi = body.result(inst);
        let inputs = body.incoming(incoming).iter();
        let mut names = inputs.filter_map(|input| bound.get(&input.value.as_value()?).copied());
        let Some(first) = names.next() else {
            continue;
        };
        if names.all(|name| name == first) {
            bound.entry(phi).or_insert(first);
        }
    }
}

fn element(base: Pointee, index: &str) -> Pointee {
    Pointee {
        text: format!("{}[{index}]", base.text),
        ty: None,
        is_lvalue: true,
    }
}
