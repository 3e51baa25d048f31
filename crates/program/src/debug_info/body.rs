//! Names and positions of one body, with numbers of its own.
//!
//! INVARIANT: until [`super::types`] replaces them, in a [`NamedBody`] `Var::name` is an index into `texts`, `Var::ty` holds
//! a metadata number, and `Loc::file` an index into `files`.

use drip_base::IndexVec;
use drip_bitcode as bc;
use rustc_hash::{FxHashMap, FxHashSet};

use super::describe::{Described, Detail, byte_size, describe};
use crate::body::{Body, Loc, Var};
use crate::ids::*;
use crate::lower::consts::Interner;
use crate::lower::context::Context;
use crate::promote::Promotion;

/// Fields named inside fields: deeper ones go without a name of their own.
const MAX_FIELD_DEPTH: usize = 8;

/// Chains of inlined calls longer than this are cut at their outer end.
const MAX_INLINE_DEPTH: u32 = 64;

/// `DW_OP_LLVM_fragment`: the variable's bits from an offset on, so many of them.
const OP_FRAGMENT: u64 = 0x1000;

const NO_LOC: u32 = u32::MAX;
const UNKNOWN_LOC: u32 = u32::MAX - 1;

/// A run of bytes in [`PendingNames::text`].
pub(crate) type TextRange = (u32, u32);

/// What the debug info says about a function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingFunction {
    pub name: TextRange,
    pub line: u32,
    /// Index into `files`.
    pub file: Option<u32>,
    pub ty: Option<bc::MetadataId>,
}

/// Texts and types that a body's own numbers stand for.
#[derive(Debug, Default)]
pub(crate) struct PendingNames {
    pub text: String,
    pub names: Vec<TextRange>,
    /// Directory and name.
    pub files: Vec<(TextRange, TextRange)>,
    /// Source types that only this body's metadata has.
    pub types: Vec<(bc::MetadataId, Described)>,
    pub function: Option<PendingFunction>,
}

impl PendingNames {
    pub fn text(&self, (start, len): TextRange) -> &str {
        self.text
            .get(start as usize..(start + len) as usize)
            .unwrap_or("")
    }
}

/// A lowered body whose names are still its own.
#[derive(Debug)]
pub(crate) struct NamedBody {
    pub body: Body,
    pub names: PendingNames,
}

/// Collects the names of a body; memory is reused from body to body.
#[derive(Default)]
pub(crate) struct BodyNames {
    pending: PendingNames,
    vars: Vec<Var>,
    /// Variable and the call it was inlined at.
    known_vars: FxHashMap<(bc::MetadataId, Option<bc::MetadataId>), VarId>,
    /// Whole variable, byte offset.
    known_parts: FxHashMap<(VarId, i64), VarId>,
    /// Metadata of each variable, to find its fields.
    var_types: Vec<Option<bc::MetadataId>>,
    /// Local value of an alloca → the variable that lives there.
    declared: FxHashMap<u32, VarId>,
    locs: Vec<Loc>,
    known_locs: Interner,
    /// Raw location → location.
    loc_memo: Vec<u32>,
    inlined: FxHashMap<bc::MetadataId, Option<LocId>>,
    /// Scope → index into `files`.
    scope_files: FxHashMap<bc::MetadataId, Option<u32>>,
    known_files: Vec<(bc::MetadataId, u32)>,
    expressions: FxHashMap<bc::MetadataId, Expression>,
    described: FxHashSet<bc::MetadataId>,
}

/// A `DIExpression`, as far as drip reads it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expression {
    Empty,
    /// Byte offset of a fragment.
    Fragment(i64),
    Other,
}

impl BodyNames {
    pub fn reset(&mut self, cx: &Context<'_>, raw: &bc::RawBody) {
        self.pending = PendingNames::default();
        self.vars.clear();
        self.known_vars.clear();
        self.known_parts.clear();
        self.var_types.clear();
        self.declared.clear();
        self.locs.clear();
        self.known_locs.reset();
        self.loc_memo.clear();
        self.loc_memo.resize(raw.locs.len(), UNKNOWN_LOC);
        self.inlined.clear();
        self.scope_files.clear();
        self.known_files.clear();
        self.expressions.clear();
        self.described.clear();
        self.function(cx, raw);
    }

    fn function(&mut self, cx: &Context<'_>, raw: &bc::RawBody) {
        let md = raw.metadata(cx.module);
        let Some(found) = raw.subprogram.and_then(|id| md.subprogram(id)) else {
            return;
        };
        let name = self.add_text(found.name);
        let file = found.file.and_then(|id| self.file(md, id));
        self.describe(md, cx, found.ty);
        self.pending.function = Some(PendingFunction {
            name,
            line: found.line,
            file,
            ty: found.ty,
        });
    }

    fn add_text(&mut self, text: &str) -> TextRange {
        let start = self.pending.text.len() as u32;
        self.pending.text.push_str(text);
        (start, text.len() as u32)
    }

    /// Types whose nodes only this body's metadata has are described now; the module's can be read later.
    fn describe(&mut self, md: bc::Metadata<'_>, cx: &Context<'_>, ty: Option<bc::MetadataId>) {
        let mut work: Vec<bc::MetadataId> = ty.into_iter().collect();
        while let Some(id) = work.pop() {
            if id.0 < cx.link.metadata_len || !self.described.insert(id) {
                continue;
            }
            let described = describe(md, id, Detail::Full);
            described.for_each_type(|child| work.push(child));
            self.pending.types.push((id, described));
        }
    }

    // Files and positions.

    fn file(&mut self, md: bc::Metadata<'_>, id: bc::MetadataId) -> Option<u32> {
        if let Some(&(_, index)) = self.known_files.iter().find(|(known, _)| *known == id) {
            return Some(index);
        }
        let file = md.file(id)?;
        let entry = (self.add_text(file.directory), self.add_text(file.filename));
        let index = self.pending.files.len() as u32;
        self.pending.files.push(entry);
        self.known_files.push((id, index));
        Some(index)
    }

    fn scope_file(&mut self, md: bc::Metadata<'_>, scope: bc::MetadataId) -> Option<u32> {
        if let Some(&known) = self.scope_files.get(&scope) {
            return known;
        }
        let found = match md.node(scope) {
            Some(bc::MdNode::LexicalBlock(block)) => block.file,
            Some(bc::MdNode::Subprogram(function)) => function.file,
            Some(bc::MdNode::File(_)) => Some(scope),
            _ => None,
        };
        let file = found.and_then(|id| self.file(md, id));
        self.scope_files.insert(scope, file);
        file
    }

    /// The position of a raw location; none when it names no line.
    pub fn loc(
        &mut self,
        cx: &Context<'_>,
        raw: &bc::RawBody,
        id: Option<bc::LocId>,
    ) -> Option<LocId> {
        let id = id?;
        match self.loc_memo.get(id.index()).copied()? {
            UNKNOWN_LOC => {}
            NO_LOC => return None,
            known => return Some(LocId::from_u32(known)),
        }
        let found = raw
            .loc(id)
            .and_then(|loc| self.place(raw.metadata(cx.module), loc, 0));
        self.loc_memo[id.index()] = found.map_or(NO_LOC, |l| l.as_u32());
        found
    }

    fn place(&mut self, md: bc::Metadata<'_>, raw: &bc::RawLoc, depth: u32) -> Option<LocId> {
        let inlined_at = match raw.inlined_at {
            Some(call) if depth < MAX_INLINE_DEPTH => self.inlined_at(md, call, depth),
            _ => None,
        };
        if raw.line == 0 {
            return None;
        }
        let file = FileId::from_u32(self.scope_file(md, raw.scope?)?);
        let loc = Loc {
            file,
            line: raw.line,
            column: raw.col,
            inlined_at,
        };
        Some(LocId::from_u32(self.known_locs.intern(&mut self.locs, loc)))
    }

    fn inlined_at(
        &mut self,
        md: bc::Metadata<'_>,
        call: bc::MetadataId,
        depth: u32,
    ) -> Option<LocId> {
        if let Some(&known) = self.inlined.get(&call) {
            return known;
        }
        let found = md
            .location(call)
            .and_then(|location| self.place(md, &location.into(), depth + 1));
        self.inlined.insert(call, found);
        found
    }

    // Variables.

    fn expression(&mut self, md: bc::Metadata<'_>, id: Option<bc::MetadataId>) -> Expression {
        let Some(id) = id else {
            return Expression::Empty;
        };
        *self
            .expressions
            .entry(id)
            .or_insert_with(|| match md.expression(id).as_deref() {
                Some([]) => Expression::Empty,
                Some([OP_FRAGMENT, offset, _]) if offset % 8 == 0 => {
                    i64::try_from(offset / 8).map_or(Expression::Other, Expression::Fragment)
                }
                _ => Expression::Other,
            })
    }

    fn var(
        &mut self,
        cx: &Context<'_>,
        raw: &bc::RawBody,
        record: &bc::DebugRecord,
    ) -> Option<VarId> {
        let inlined_at = record
            .loc
            .and_then(|l| raw.loc(l))
            .and_then(|l| l.inlined_at);
        let key = (record.variable, inlined_at);
        if let Some(&known) = self.known_vars.get(&key) {
            return Some(known);
        }
        let md = raw.metadata(cx.module);
        let variable = md.local_variable(record.variable)?;
        self.describe(md, cx, variable.ty);
        let param = variable.arg.checked_sub(1).filter(|_| inlined_at.is_none());
        let var = self.push_var(variable.name, variable.ty, param, variable.line);
        self.known_vars.insert(key, var);
        Some(var)
    }

    fn push_var(
        &mut self,
        name: &str,
        ty: Option<bc::MetadataId>,
        param: Option<u32>,
        line: u32,
    ) -> VarId {
        let range = self.add_text(name);
        let name = StrId::new(self.pending.names.len());
        self.pending.names.push(range);
        let id = VarId::new(self.vars.len());
        self.vars.push(Var {
            name,
            ty: ty.map(|md| DiTypeId::from_u32(md.0)),
            param,
            line,
        });
        self.var_types.push(ty);
        id
    }

    /// The variable that a value record binds; none when it says more than "variable = value".
    pub fn bound_var(
        &mut self,
        cx: &Context<'_>,
        raw: &bc::RawBody,
        record: &bc::DebugRecord,
    ) -> Option<VarId> {
        let md = raw.metadata(cx.module);
        match self.expression(md, record.expression) {
            Expression::Empty => self.var(cx, raw, record),
            Expression::Fragment(offset) => {
                let whole = self.var(cx, raw, record)?;
                Some(self.part(cx, raw, whole, offset))
            }
            Expression::Other => None,
        }
    }

    /// Finds the variables that live in stack slots, and names the parts of promoted ones.
    pub fn name_slots(&mut self, cx: &Context<'_>, raw: &bc::RawBody, promotion: &mut Promotion) {
        let md = raw.metadata(cx.module);
        for record in &raw.debug_records {
            let bc::DebugValue::Value(value) = record.value else {
                continue;
            };
            if self.expression(md, record.expression) != Expression::Empty
                || record.kind == bc::DebugRecordKind::Label
            {
                continue;
            }
            let Some(var) = self.var(cx, raw, record) else {
                continue;
            };
            let local = value.0.checked_sub(raw.first_value);
            if let (bc::DebugRecordKind::Declare, Some(local)) = (record.kind, local) {
                self.declared.entry(local).or_insert(var);
                if let Some(slot) = promotion.slot_at(local) {
                    promotion.slots[slot as usize].var.get_or_insert(var);
                }
            }
        }
        for part in 0..promotion.parts.len() {
            let (slot, offset) = (promotion.parts[part].slot, promotion.parts[part].offset);
            let slot = &promotion.slots[slot as usize];
            if let (true, Some(whole)) = (slot.alive, slot.var) {
                promotion.parts[part].var = Some(self.part(cx, raw, whole, offset));
            }
        }
    }

    /// The variable that lives in a stack slot which stays in memory.
    pub fn var_of_slot(&self, local: Option<u32>) -> Option<VarId> {
        self.declared.get(&local?).copied()
    }

    /// The field of a variable at a byte offset; the variable itself when it has no fields.
    fn part(&mut self, cx: &Context<'_>, raw: &bc::RawBody, whole: VarId, offset: i64) -> VarId {
        if let Some(&known) = self.known_parts.get(&(whole, offset)) {
            return known;
        }
        let md = raw.metadata(cx.module);
        let mut name = String::new();
        let ty = self.var_types.get(whole.index()).copied().flatten();
        let ty = u64::try_from(offset)
            .ok()
            .and_then(|offset| field_path(md, ty, offset, &mut name));
        let part = if name.is_empty() {
            whole
        } else {
            let var = self.vars[whole.index()];
            let range = self.pending.names[var.name.index()];
            name.insert_str(0, self.pending.text(range));
            self.describe(md, cx, ty);
            self.push_var(&name, ty, None, var.line)
        };
        self.known_parts.insert((whole, offset), part);
        part
    }

    /// Hands the names over to the finished body.
    pub fn attach(&mut self, mut body: Body) -> NamedBody {
        body.vars = IndexVec::from_raw(self.vars.as_slice().into());
        body.locs = IndexVec::from_raw(self.locs.as_slice().into());
        NamedBody {
            body,
            names: std::mem::take(&mut self.pending),
        }
    }
}

/// Writes the path from a type to its scalar at an offset, such as `.list[2].next`; returns that scalar's type.
fn field_path(
    md: bc::Metadata<'_>,
    ty: Option<bc::MetadataId>,
    offset: u64,
    out: &mut String,
) -> Option<bc::MetadataId> {
    let (mut ty, mut offset) = (ty?, offset);
    for _ in 0..MAX_FIELD_DEPTH {
        let (inner, _) = md.unqualified(ty);
        let Some(composite) = md.composite_type(inner) else {
            return Some(ty);
        };
        match composite.tag {
            bc::tag::STRUCTURE | bc::tag::CLASS | bc::tag::UNION => {
                let member = md.member_at(inner, offset)?;
                if !member.name.is_empty() {
                    out.push('.');
                    out.push_str(member.name);
                }
                offset = offset.checked_sub(member.offset_bits / 8)?;
                ty = member.base?;
            }
            bc::tag::ARRAY => {
                let elem = composite.base?;
                let bytes = byte_size(md, elem)?;
                out.push_str(&format!("[{}]", offset.checked_div(bytes)?));
                offset %= bytes;
                ty = elem;
            }
            _ => return Some(ty),
        }
    }
    Some(ty)
}
