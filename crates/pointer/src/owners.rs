//! Question: which field of which named structure does an address lead to, by the debug info?
//!
//! Pointers have no type in the bitcode, but variables, fields and functions have one in the debug info: the type of a loaded
//! value is the type of the field that it was loaded from. A field is named by the innermost structure around it and the offset
//! there. Known limits: casts are invisible, so a pointer that was cast still has its old type; structures without a name have
//! no fields here.

use std::cell::OnceCell;

use drip_program::{
    Body, Const, DiMember, DiType, DiTypeId, GlobalId, Op, Operand, Program, StrId, ValueId,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// Steps from a value to the variable or function that says its type.
const MAX_STEPS: usize = 6;

/// Structures inside of structures.
const MAX_NESTING: usize = 6;

/// A field: the structure's name and the offset in it.
pub type Field = (StrId, i64);

/// Values that were asked for their type: a φ with many inputs that are φs again asks each of them once.
type Asked = FxHashSet<ValueId>;

/// Types of one function's values.
pub struct Owners<'o> {
    program: &'o Program,
    body: &'o Body,
    bound: OnceCell<FxHashMap<ValueId, DiTypeId>>,
}

impl<'o> Owners<'o> {
    pub fn new(program: &'o Program, body: &'o Body) -> Owners<'o> {
        Owners {
            program,
            body,
            bound: OnceCell::new(),
        }
    }

    /// The field at an address; a union inside of a structure is one field, whichever member is meant.
    pub fn field(&self, addr: Operand) -> Option<Field> {
        let (base, offset) = self.split(addr);
        let ty = self.pointed_to(base)?;
        field_in(self.program, ty, offset)
    }

    /// The structure that a pointer points to the beginning of.
    pub fn structure(&self, pointer: Operand) -> Option<DiTypeId> {
        let (base, offset) = self.split(pointer);
        let ty = self.pointed_to(base).filter(|_| offset == 0)?;
        let inner = plain(self.program, ty)?;
        matches!(self.program.di_types[inner], DiType::Struct { .. }).then_some(ty)
    }

    /// Is what lies at an address a pointer to a structure, by its declaration?
    pub fn holds_structure(&self, addr: Operand) -> bool {
        self.held_structure(addr).is_some()
    }

    /// The structure that the pointer at an address points to, by its declaration.
    pub fn held_structure(&self, addr: Operand) -> Option<DiTypeId> {
        let (base, offset) = self.split(addr);
        let cell = member_at(self.program, self.pointed_to(base)?, offset)?;
        pointed_structure(self.program, cell)
    }

    /// The field at an offset of a structure.
    pub fn field_at(&self, ty: DiTypeId, offset: i64) -> Option<Field> {
        field_in(self.program, ty, offset)
    }

    /// Is it a pointer as it was found, and not the address of something inside of what it points to?
    pub fn is_pointer_itself(&self, pointer: Operand) -> bool {
        let def = pointer.as_value().and_then(|value| self.body.def(value));
        !matches!(
            def.map(|inst| self.body.insts[inst].op),
            Some(Op::PtrAdd { .. })
        )
    }

    /// An address without its constant offset. The structure around a member is where its variable says.
    fn split(&self, addr: Operand) -> (Operand, i64) {
        let value = addr.as_value();
        let def = value.and_then(|value| self.body.def(value));
        let is_bound = || value.is_some_and(|value| self.bound().contains_key(&value));
        match def.map(|inst| self.body.insts[inst].op) {
            Some(Op::PtrAdd { offset, .. }) if offset < 0 && is_bound() => (addr, 0),
            // Whatever element it is, the type is the same.
            Some(Op::PtrAdd { base, offset, .. }) => {
                let (base, start) = self.split(base);
                (base, start.wrapping_add(offset))
            }
            _ => (addr, 0),
        }
    }

    /// Type of the memory that a value points to.
    fn pointed_to(&self, base: Operand) -> Option<DiTypeId> {
        self.memory_at(base, MAX_STEPS, &mut FxHashSet::default())
    }

    /// The same, of values that were not asked before and that are not too far away.
    fn memory_at(&self, base: Operand, steps: usize, asked: &mut Asked) -> Option<DiTypeId> {
        if let Some(&Const::Global { global, .. }) = self.body.const_of(base) {
            return self.program.globals[global].di_type;
        }
        let value = base.as_value()?;
        if let Some(inst) = self.body.def(value)
            && let Op::Alloca { var: Some(var), .. } = self.body.insts[inst].op
        {
            return self.body.vars[var].ty;
        }
        match &self.program.di_types[plain(self.program, self.type_of(value, steps, asked)?)?] {
            DiType::Pointer { to } => *to,
            _ => None,
        }
    }

    fn type_of(&self, value: ValueId, steps: usize, asked: &mut Asked) -> Option<DiTypeId> {
        let steps = steps.checked_sub(1)?;
        if let Some(&ty) = self.bound().get(&value) {
            return Some(ty);
        }
        let inst = self.body.def(value).filter(|_| asked.insert(value))?;
        match self.body.insts[inst].op {
            Op::Load { addr } => {
                let (base, offset) = self.split(addr);
                let ty = self.memory_at(base, steps, asked)?;
                member_at(self.program, ty, offset)
            }
            Op::Phi { incoming } => {
                let mut inputs = self.body.incoming(incoming).iter();
                inputs.find_map(|input| self.type_of(input.value.as_value()?, steps, asked))
            }
            Op::Select { then, els, .. } => [then, els]
                .into_iter()
                .find_map(|operand| self.type_of(operand.as_value()?, steps, asked)),
            Op::Call { callee, .. } | Op::Invoke { callee, .. } => {
                let Some(&Const::Func(func)) = self.body.const_of(callee) else {
                    return None;
                };
                match &self.program.di_types[self.program.funcs[func].di_type?] {
                    DiType::Func { ret, .. } => *ret,
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn bound(&self) -> &FxHashMap<ValueId, DiTypeId> {
        self.bound.get_or_init(|| {
            let mut bound = FxHashMap::default();
            for data in self.body.insts.iter() {
                if let Op::Bind { var, value } = data.op
                    && let (Some(value), Some(ty)) = (value.as_value(), self.body.vars[var].ty)
                {
                    // `void *p = s; struct s *q = p;`: the more telling one.
                    let tells = field_in(self.program, ty, 0).is_some()
                        || pointed_structure(self.program, ty).is_some();
                    // `struct s *p; struct link *l = &p->link;` at the same address: the whole, not its beginning.
                    let is_part = |&known: &DiTypeId| begins_with(self.program, known, ty);
                    let known = bound.get(&value);
                    if known.is_none() || tells && !known.is_some_and(is_part) {
                        bound.insert(value, ty);
                    }
                }
            }
            bound
        })
    }
}

/// The field at an offset of a variable, as [`Owners::field`] names it.
pub fn slot_of_global(program: &Program, global: GlobalId, offset: i64) -> Option<Field> {
    let ty = program.globals[global].di_type?;
    walk(program, ty, offset).0
}

/// The name of a structure, or of the type that is defined as one without a name.
pub fn structure_name(program: &Program, ty: DiTypeId) -> Option<StrId> {
    let mut alias = None;
    let mut at = Some(ty);
    while let Some(DiType::Typedef { name, of }) = at.map(|at| &program.di_types[at]) {
        alias = Some(*name);
        at = *of;
    }
    match plain(program, ty).map(|inner| &program.di_types[inner]) {
        Some(DiType::Struct { name, .. }) => name.or(alias),
        _ => None,
    }
}

/// Names of a structure and of all that it contains.
pub fn structures_in(program: &Program, ty: DiTypeId) -> Vec<StrId> {
    nested(program, ty, true)
}

/// The same without what is in a union: fields there go by the structure around it.
pub fn structures_apart(program: &Program, ty: DiTypeId) -> Vec<StrId> {
    nested(program, ty, false)
}

fn nested(program: &Program, ty: DiTypeId, in_unions: bool) -> Vec<StrId> {
    let mut names = Vec::new();
    let mut open = vec![(ty, 0)];
    while let Some((ty, depth)) = open.pop() {
        match plain(program, ty).map(|inner| &program.di_types[inner]) {
            Some(DiType::Struct {
                members, is_union, ..
            }) => {
                names.extend(structure_name(program, ty));
                if *is_union && !in_unions {
                    continue;
                }
                let inner = members.iter().filter_map(|member| member.ty);
                open.extend(
                    inner
                        .filter(|_| depth < MAX_NESTING)
                        .map(|ty| (ty, depth + 1)),
                );
            }
            Some(DiType::Array {
                elem: Some(elem), ..
            }) if depth < MAX_NESTING => {
                open.push((*elem, depth + 1));
            }
            _ => {}
        }
    }
    names
}

/// What the source calls a field.
pub fn member_name(program: &Program, (structure, offset): Field) -> Option<String> {
    let offset = u64::try_from(offset).ok()?;
    program.di_types.iter().find_map(|ty| {
        let members = match ty {
            DiType::Struct { name, members, .. } if *name == Some(structure) => members,
            DiType::Typedef { name, of: Some(of) } if *name == structure => {
                match &program.di_types[*of] {
                    DiType::Struct { members, .. } => members,
                    _ => return None,
                }
            }
            _ => return None,
        };
        let member = members.iter().find(|member| member.offset == offset)?;
        Some(program.strings.get(member.name).to_owned())
    })
}

/// The structure that a pointer of this type points to.
fn pointed_structure(program: &Program, ty: DiTypeId) -> Option<DiTypeId> {
    let DiType::Pointer { to: Some(to) } = program.di_types[plain(program, ty)?] else {
        return None;
    };
    matches!(program.di_types[plain(program, to)?], DiType::Struct { .. }).then_some(to)
}

/// Does the structure behind one pointer begin with the structure behind another?
fn begins_with(program: &Program, whole: DiTypeId, part: DiTypeId) -> bool {
    let name = |ty| structure_name(program, ty);
    let Some(part) = pointed_structure(program, part).and_then(name) else {
        return false;
    };
    let first = |ty: &DiTypeId| match &program.di_types[plain(program, *ty)?] {
        DiType::Struct { members, .. } => members.iter().find(|m| m.offset == 0)?.ty,
        _ => None,
    };
    let beginnings = std::iter::successors(pointed_structure(program, whole), first);
    let mut inner = beginnings.skip(1).take(MAX_NESTING);
    inner.any(|ty| name(ty) == Some(part))
}

/// A type without typedefs and qualifiers.
fn plain(program: &Program, mut ty: DiTypeId) -> Option<DiTypeId> {
    for _ in 0..16 {
        match &program.di_types[ty] {
            DiType::Typedef { of, .. } | DiType::Const(of) | DiType::Qualified(of) => ty = (*of)?,
            _ => return Some(ty),
        }
    }
    None
}

/// The innermost named structure around an offset of a value of type `ty`, and the offset in it.
fn field_in(program: &Program, ty: DiTypeId, offset: i64) -> Option<Field> {
    walk(program, ty, offset).0
}

/// Type of the member at an offset.
fn member_at(program: &Program, ty: DiTypeId, offset: i64) -> Option<DiTypeId> {
    walk(program, ty, offset).1
}

/// Down the layout to a scalar.
fn walk(program: &Program, ty: DiTypeId, offset: i64) -> (Option<Field>, Option<DiTypeId>) {
    let Ok(mut offset) = u64::try_from(offset) else {
        return (None, None);
    };
    let mut field = None;
    let mut ty = Some(ty);
    for _ in 0..16 {
        let mut name = None;
        // A structure without a tag goes by its typedef.
        let mut at = ty;
        while let Some(DiType::Typedef { name: alias, of }) = at.map(|at| &program.di_types[at]) {
            name = Some(*alias);
            at = *of;
        }
        let Some(inner) = ty.and_then(|ty| plain(program, ty)) else {
            return (None, None);
        };
        match &program.di_types[inner] {
            DiType::Struct {
                name: tag,
                is_union: false,
                members,
                ..
            } => {
                let own = tag.or(name);
                field = own.map(|own| (own, i64::try_from(offset).unwrap_or(i64::MAX)));
                let member = members.iter().rev().find(|m| m.offset <= offset);
                let Some(member) = member else {
                    return (field, None);
                };
                offset -= member.offset;
                ty = member.ty;
            }
            DiType::Struct {
                is_union: true,
                members,
                ..
            } => {
                let pointer = the_pointer(program, members).filter(|_| offset == 0);
                return (field, pointer);
            }
            DiType::Array { elem, .. } => {
                let size = elem.map_or(0, |elem| bytes(program, elem));
                if size == 0 {
                    return (None, None);
                }
                // All elements are one field, the first.
                let skipped = offset - offset % size;
                let before = i64::try_from(skipped).unwrap_or(i64::MAX);
                field = field.map(|(name, at)| (name, at.saturating_sub(before)));
                offset %= size;
                ty = *elem;
            }
            _ => return (field.filter(|_| offset == 0), ty.filter(|_| offset == 0)),
        }
    }
    (None, None)
}

/// The pointer among the members of a union, if there is one only: what is read as a pointer is that.
fn the_pointer(program: &Program, members: &[DiMember]) -> Option<DiTypeId> {
    let is_pointer = |ty: &DiTypeId| {
        let inner = plain(program, *ty).map(|ty| &program.di_types[ty]);
        matches!(inner, Some(DiType::Pointer { .. }))
    };
    let types = members.iter().filter_map(|member| member.ty);
    let mut pointers = types.filter(is_pointer);
    pointers.next().filter(|_| pointers.next().is_none())
}

fn bytes(program: &Program, ty: DiTypeId) -> u64 {
    match plain(program, ty).map(|ty| &program.di_types[ty]) {
        Some(
            DiType::Base { bytes, .. } | DiType::Struct { bytes, .. } | DiType::Enum { bytes, .. },
        ) => *bytes,
        Some(DiType::Pointer { .. }) => program.types.layout.pointer_bytes,
        Some(DiType::Array {
            elem: Some(elem),
            count: Some(count),
        }) => bytes(program, *elem).saturating_mul(*count),
        _ => 0,
    }
}
