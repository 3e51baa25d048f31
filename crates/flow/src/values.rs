//! Question: which values of a function are equal? Every SSA name and every memory version as a term.
//!
//! Terms are hash-consed ([`drip_cond::Terms`]), so that two loads of the same memory version, two computations of the
//! same operands and two calls of a pure function with equal arguments are one term: a branch taken on the first decides
//! the second by comparison of ids (SMOKE's linear filter rests on that). Leaves are symbols: parameters, φs that merge
//! different values, memory versions nobody here wrote, results of calls.
//! Order: blocks in reverse post-order, so that operands come first; a loop's φ is a symbol. INVARIANT: a term stands for
//! one value *within one iteration* of the loops around its symbols' definitions ([`Values::home`]): facts on it end at
//! those loops' back edges.

mod build;

use std::rc::Rc;

use drip_base::IndexVec;
use drip_cond::{FnKey, ObjKey, Sort, SymId, TermId, TermKind, Terms};
use drip_memssa::{Def, MemSsa, VersionId};
use drip_pointer::local::CallTable;
use drip_pointer::{LocalMemory, ObjKind};
use drip_program::{
    BinaryOp, BlockId, Body, CastOp, Cfg, Op, Operand, OperandKind, Program, ValueId,
};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::forward::{copied_version, is_zeroed};
use crate::frame::{WholeProgram, cell_of};
use crate::handlers::Handlers;

/// What a symbol stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Symbol {
    Value(ValueId),
    /// What a cell holds in one memory version, read with the given width in bits.
    Version(VersionId, u32),
}

/// Terms of one function.
pub struct Values {
    pub terms: Terms,
    of_value: IndexVec<ValueId, TermId>,
    of_const: IndexVec<drip_program::ConstId, TermId>,
    pub symbols: Vec<Symbol>,
    known: FxHashMap<Symbol, SymId>,
    named_versions: usize,
    /// Block that defines each symbol.
    homes: Vec<BlockId>,
    functions: FxHashMap<FnName, FnKey>,
    /// Symbols inside a term, for those that were asked for.
    inside: Vec<Option<Rc<[SymId]>>>,
    /// What [`Values::replaced`] has answered.
    replacements: FxHashMap<(TermId, Bindings), TermId>,
}

/// What an uninterpreted function stands for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum FnName {
    /// Memory indexed by address and by the versions of the regions it may lie in; read with this width.
    Memory(u32),
    /// A pure function of its arguments and of memory.
    Pure(Operand),
    FloatCmp(u8),
    FloatOp(BinaryOp),
    Cast(CastOp),
}

/// What memory terms are made from.
#[derive(Clone, Copy)]
pub(crate) struct Context<'b> {
    pub program: &'b Program,
    pub body: &'b Body,
    pub local: &'b LocalMemory,
    pub memssa: &'b MemSsa,
    pub block_of: &'b [BlockId],
    pub known: WholeProgram<'b>,
    pub cfg: &'b Cfg,
    pub calls: &'b CallTable,
    pub handlers: &'b Handlers,
}

/// What symbols stand for.
type Bindings = SmallVec<[(SymId, TermId); 4]>;

/// Key of an object's address: the same for every function of the run is not needed, only within one.
pub fn address_key(obj: drip_pointer::ObjId) -> ObjKey {
    ObjKey(obj.as_u32())
}

impl Values {
    pub(crate) fn build(context: Context<'_>) -> Values {
        let mut terms = Terms::new();
        let none = terms.int(64, 0);
        let values = Values {
            terms,
            of_value: IndexVec::from_elem(none, context.body.value_count()),
            of_const: IndexVec::from_elem(none, context.body.consts.len()),
            symbols: Vec::new(),
            known: FxHashMap::default(),
            named_versions: 0,
            homes: Vec::new(),
            functions: FxHashMap::default(),
            inside: Vec::new(),
            replacements: FxHashMap::default(),
        };
        build::named(context, values)
    }

    pub fn term(&self, operand: Operand) -> TermId {
        match operand.kind() {
            OperandKind::Value(v) => self.of_value[v],
            OperandKind::Const(c) => self.of_const[c],
        }
    }

    pub fn of(&self, value: ValueId) -> TermId {
        self.of_value[value]
    }

    pub fn symbol(&self, sym: SymId) -> Option<Symbol> {
        self.symbols.get(sym.0 as usize).copied()
    }

    pub fn find(&self, symbol: Symbol) -> Option<SymId> {
        self.known.get(&symbol).copied()
    }

    /// How many memory versions have a symbol, each counted once per width.
    pub(crate) fn named_versions(&self) -> usize {
        self.named_versions
    }

    pub fn home(&self, sym: SymId) -> Option<BlockId> {
        self.homes.get(sym.0 as usize).copied()
    }

    /// Symbols that a term depends on.
    pub fn symbols_in(&mut self, term: TermId) -> Rc<[SymId]> {
        if let Some(Some(found)) = self.inside.get(term.index()) {
            return Rc::clone(found);
        }
        let mut found: SmallVec<[SymId; 4]> = SmallVec::new();
        for sub in self.terms.subterms(&[term]) {
            if let TermKind::Sym(sym) = self.terms.kind(sub) {
                found.push(*sym);
            }
        }
        found.sort_unstable();
        found.dedup();
        let found: Rc<[SymId]> = found.as_slice().into();
        if self.inside.len() <= term.index() {
            self.inside
                .resize(self.terms.len().max(term.index() + 1), None);
        }
        self.inside[term.index()] = Some(Rc::clone(&found));
        found
    }

    /// A term with every symbol replaced that `known` has a value for.
    pub fn replaced(&mut self, term: TermId, known: impl Fn(SymId) -> Option<TermId>) -> TermId {
        // Most terms that are asked for are symbols.
        if let TermKind::Sym(sym) = *self.terms.kind(term) {
            let fits = |value: &TermId| self.terms.sort(*value) == self.terms.sort(term);
            return known(sym).filter(fits).unwrap_or(term);
        }
        let mut values = Bindings::new();
        for &sym in self.symbols_in(term).iter() {
            values.extend(known(sym).map(|value| (sym, value)));
        }
        if values.is_empty() {
            return term;
        }
        // Paths that differ elsewhere ask the same again and again.
        if let Some(&done) = self.replacements.get(&(term, values.clone())) {
            return done;
        }
        let mut map = FxHashMap::default();
        for &(sym, value) in &values {
            let sort = self.terms.sort(value);
            map.insert(self.terms.sym(sym, sort), value);
        }
        let new = self.terms.substitute(term, &map);
        self.replacements.insert((term, values), new);
        new
    }

    fn named(&mut self, symbol: Symbol, sort: Sort, home: BlockId) -> TermId {
        let sym = match self.known.get(&symbol) {
            Some(&sym) => sym,
            None => {
                let sym = SymId(self.symbols.len() as u32);
                self.symbols.push(symbol);
                self.homes.push(home);
                self.known.insert(symbol, sym);
                self.named_versions += usize::from(matches!(symbol, Symbol::Version(..)));
                sym
            }
        };
        self.terms.sym(sym, sort)
    }

    fn version_symbol(
        &mut self,
        context: &Context<'_>,
        version: VersionId,
        width: u32,
        sort: Sort,
    ) -> TermId {
        let home = match &context.memssa.versions[version].def {
            Def::Entry => BlockId::new(0),
            Def::Phi { block, .. } => *block,
            Def::Chi { inst, .. } => context.block_of[inst.index()],
        };
        self.named(Symbol::Version(version, width), sort, home)
    }

    /// What a cell holds in a memory version, read as `bytes` bytes.
    pub(crate) fn version(
        &mut self,
        context: &Context<'_>,
        version: VersionId,
        sort: Sort,
        bytes: u64,
    ) -> TermId {
        if let Def::Chi {
            inst, strong: true, ..
        } = context.memssa.versions[version].def
        {
            match context.body.insts[inst].op {
                Op::Store { addr, value } => {
                    if let Some(term) = self.stored(context, version, addr, value, sort) {
                        return term;
                    }
                }
                Op::MemCopy { dst, src, .. } => {
                    if let Some(source) = copied_version(context, version, dst, src, inst) {
                        return self.version(context, source, sort, bytes);
                    }
                }
                Op::MemSet { byte, .. } if self.terms.as_int(self.term(byte)) == Some(0) => {
                    return self.zero(sort);
                }
                _ => {}
            }
        }
        if is_zeroed(context, version) {
            return self.zero(sort);
        }
        match self.constant_entry(context, version, sort, bytes) {
            Some(term) => term,
            None => self.version_symbol(context, version, sort.width(), sort),
        }
    }

    fn zero(&mut self, sort: Sort) -> TermId {
        match sort {
            Sort::Bool => self.terms.bool(false),
            Sort::Bits(width) => self.terms.int(width, 0),
        }
    }

    /// A store to exactly this cell, read back with the width it was written with.
    fn stored(
        &self,
        context: &Context<'_>,
        version: VersionId,
        addr: Operand,
        value: Operand,
        sort: Sort,
    ) -> Option<TermId> {
        let cell = cell_of(context.memssa.versions[version].region);
        let place = context.local.memory.cells[cell];
        let [loc] = *context.local.targets(addr) else {
            return None;
        };
        let term = self.term(value);
        (loc.obj == place.obj && loc.off == place.off && self.terms.sort(term) == sort)
            .then_some(term)
    }

    /// Initial value of a constant global.
    fn constant_entry(
        &mut self,
        context: &Context<'_>,
        version: VersionId,
        sort: Sort,
        bytes: u64,
    ) -> Option<TermId> {
        if context.memssa.versions[version].def != Def::Entry {
            return None;
        }
        let place = context.local.memory.cells[cell_of(context.memssa.versions[version].region)];
        let ObjKind::Global(global) = context.local.memory.kind(place.obj) else {
            return None;
        };
        if !context.known.constants.contains(global) {
            return None;
        }
        let global = &context.program.globals[global];
        let Sort::Bits(width) = sort else { return None };
        match &global.init {
            drip_program::Init::Zero => Some(self.terms.int(width, 0)),
            drip_program::Init::Slots { slots, complete } => {
                let at = u64::try_from(place.off.base).ok()?;
                match slots.iter().find(|s| s.0 == at) {
                    Some((_, drip_program::Scalar::Int { bits, bytes: size }))
                        if u64::from(*size) == bytes =>
                    {
                        Some(self.terms.int(width, *bits))
                    }
                    Some(_) => None,
                    None => complete.then(|| self.terms.int(width, 0)),
                }
            }
            _ => None,
        }
    }

    /// The term of a memory version read with `width` bits.
    pub fn version_term(
        &mut self,
        frame: &crate::Frame<'_>,
        version: VersionId,
        width: u32,
    ) -> Option<TermId> {
        Some(self.version_of_width(&frame.context(), version, width))
    }

    /// Memory versions that others take over, by a φ or past a call, get their symbols too: whoever goes a path binds symbols where
    /// they are defined, which is before anybody asks for them.
    pub(crate) fn name_origins(&mut self, context: &Context<'_>) {
        let mut next = 0;
        while let Some(&symbol) = self.symbols.get(next) {
            next += 1;
            let Symbol::Version(version, width @ 1..) = symbol else {
                continue;
            };
            let origins = match &context.memssa.versions[version].def {
                Def::Entry => &[],
                Def::Phi { operands, .. } => &operands[..],
                Def::Chi { old, .. } => std::slice::from_ref(old),
            };
            for &origin in origins {
                self.version_of_width(context, origin, width);
            }
        }
    }

    fn version_of_width(
        &mut self,
        context: &Context<'_>,
        version: VersionId,
        width: u32,
    ) -> TermId {
        let sort = if width == 1 {
            Sort::Bool
        } else {
            Sort::Bits(width)
        };
        let bytes = u64::from(width.div_ceil(8));
        self.version(context, version, sort, bytes)
    }

    /// The term that a strong store put into a memory version, whatever its width.
    pub fn stored_term(&self, frame: &crate::Frame<'_>, version: VersionId) -> Option<TermId> {
        let Def::Chi {
            inst, strong: true, ..
        } = frame.memssa.versions[version].def
        else {
            return None;
        };
        let Op::Store { addr, value } = frame.body.insts[inst].op else {
            return None;
        };
        let sort = self.terms.sort(self.term(value));
        self.stored(&frame.context(), version, addr, value, sort)
    }

    /// The pointer that a copy of a structure put into a memory version.
    pub fn copied_term(&mut self, frame: &crate::Frame<'_>, version: VersionId) -> Option<TermId> {
        let Def::Chi {
            inst, strong: true, ..
        } = frame.memssa.versions[version].def
        else {
            return None;
        };
        let Op::MemCopy { dst, src, .. } = frame.body.insts[inst].op else {
            return None;
        };
        let source = copied_version(&frame.context(), version, dst, src, inst)?;
        self.version_term(frame, source, 64)
    }

    /// A symbol made after construction (havocked values of the feasibility stage).
    pub fn fresh_symbol(&mut self, sort: Sort) -> TermId {
        // Numbers above all named symbols; they stand for nothing in the source.
        let sym = SymId(self.symbols.len() as u32);
        self.symbols
            .push(Symbol::Value(ValueId::from_u32(u32::MAX)));
        self.homes.push(BlockId::new(0));
        self.terms.sym(sym, sort)
    }
}
