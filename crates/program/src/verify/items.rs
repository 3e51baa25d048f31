//! Rules outside of function bodies.

use rustc_hash::FxHashSet;

use crate::body::Loc;
use crate::ids::*;
use crate::model::*;
use crate::print::MAX_TYPE_DEPTH;
use crate::types::{Layout, Type, Types};

use super::{VerifyError, exists};

/// Above this size, sums of offsets could overflow.
const MAX_TYPE_BYTES: u64 = 1 << 61;

/// LLVM's own bound on integer widths.
const MAX_SCALAR_BITS: u32 = 1 << 23;

fn error(message: String) -> VerifyError {
    VerifyError {
        func: None,
        block: None,
        inst: None,
        name: String::new(),
        message,
    }
}

/// Types are built from earlier ones, are not nested too deep, and have a size.
pub fn verify_types(types: &Types, strings: usize) -> Vec<VerifyError> {
    let mut errors = Vec::new();
    if !layout_is_sane(&types.layout) {
        errors.push(error(
            "the data layout has alignments that are no powers of two".to_owned(),
        ));
    }
    // How deep arrays, vectors and functions nest; a struct is written by name and starts anew.
    let mut depths: Vec<usize> = Vec::with_capacity(types.len());
    for (id, ty) in types.iter() {
        let mut depth = 0;
        let mut earlier = true;
        for_each_part(ty, |part| {
            earlier &= part < id;
            depth = depth.max(depths.get(part.index()).copied().unwrap_or(0) + 1);
        });
        depths.push(if matches!(ty, Type::Struct(_)) {
            0
        } else {
            depth
        });
        let problem = if !earlier {
            Some("refers to a later type".to_owned())
        } else if depth >= MAX_TYPE_DEPTH {
            Some("is nested too deep".to_owned())
        } else {
            type_problem(types, id, ty, strings)
        };
        if let Some(problem) = problem {
            errors.push(error(format!("type {id} {problem}")));
            // Later types may contain this one.
            return errors;
        }
    }
    errors
}

fn layout_is_sane(layout: &Layout) -> bool {
    [
        layout.pointer_bytes,
        layout.align_i64,
        layout.align_f64,
        layout.align_f80,
        layout.align_i128,
    ]
    .iter()
    .all(|align| align.is_power_of_two() && *align <= 64)
}

fn for_each_part(ty: &Type, mut visit: impl FnMut(TypeId)) {
    match ty {
        Type::Struct(layout) => layout.fields.iter().for_each(|(field, _)| visit(*field)),
        Type::Array { elem, .. } | Type::Vector { elem, .. } => visit(*elem),
        Type::Func { ret, params, .. } => {
            visit(*ret);
            params.iter().for_each(|param| visit(*param));
        }
        _ => {}
    }
}

/// The parts of the type are in order; what is wrong with itself?
fn type_problem(types: &Types, id: TypeId, ty: &Type, strings: usize) -> Option<String> {
    let has_values = |part: TypeId| !matches!(types.get(part), Type::Void | Type::Func { .. });
    match ty {
        Type::Int(bits) | Type::Float(bits) if !(1..=MAX_SCALAR_BITS).contains(bits) => {
            return Some("has an impossible width".to_owned());
        }
        Type::Struct(layout) => {
            if layout.name.is_some_and(|name| name.index() >= strings) {
                return Some("has a name that does not exist".to_owned());
            }
            if !layout.align.is_power_of_two() {
                return Some("has an alignment that is no power of two".to_owned());
            }
            let mut end = 0;
            for &(field, offset) in &layout.fields {
                if !has_values(field) {
                    return Some("has a field that can have no value".to_owned());
                }
                if offset < end {
                    return Some("has overlapping fields".to_owned());
                }
                end = offset.saturating_add(types.size_of(field));
            }
            if end > layout.size {
                return Some("has fields beyond its size".to_owned());
            }
        }
        Type::Array { elem, .. } | Type::Vector { elem, .. } if !has_values(*elem) => {
            return Some("has elements that can have no value".to_owned());
        }
        Type::Func { ret, params, .. } => {
            let returns_func = matches!(types.get(*ret), Type::Func { .. });
            if returns_func || !params.iter().all(|&param| has_values(param)) {
                return Some("has a parameter or result that can have no value".to_owned());
            }
        }
        _ => {}
    }
    (types.size_of(id) > MAX_TYPE_BYTES).then(|| "is too large".to_owned())
}

/// Files, units, source-level types, globals and function headers.
pub fn verify_items(program: &Program) -> Vec<VerifyError> {
    let mut check = Items {
        program,
        errors: Vec::new(),
    };
    check.files_and_units();
    check.di_types();
    for (id, global) in program.globals.iter_enumerated() {
        check.global(id, global);
    }
    for (id, function) in program.funcs.iter_enumerated() {
        check.function(id, function);
    }
    check.names();
    check.errors
}

struct Items<'p> {
    program: &'p Program,
    errors: Vec<VerifyError>,
}

impl Items<'_> {
    fn require(&mut self, holds: bool, what: impl std::fmt::Display, message: &str) {
        if !holds {
            self.errors.push(error(format!("{what} {message}")));
        }
    }

    fn has_str(&self, id: StrId) -> bool {
        id.index() < self.program.strings.len()
    }

    fn has_strs(&self, ids: &[Option<StrId>]) -> bool {
        ids.iter().flatten().all(|&id| self.has_str(id))
    }

    fn has_di(&self, id: Option<DiTypeId>) -> bool {
        id.is_none_or(|id| exists(&self.program.di_types, id))
    }

    fn has_loc(&self, loc: Option<Loc>) -> bool {
        loc.is_none_or(|loc| exists(&self.program.files, loc.file) && loc.inlined_at.is_none())
    }

    fn files_and_units(&mut self) {
        for (id, file) in self.program.files.iter_enumerated() {
            let named = self.has_str(file.directory) && self.has_str(file.name);
            self.require(named, id, "has a name that does not exist");
        }
        for (id, unit) in self.program.units.iter_enumerated() {
            let named = self.has_str(unit.path) && self.has_str(unit.source);
            self.require(named, id, "has a name that does not exist");
        }
    }

    fn di_types(&mut self) {
        for (id, ty) in self.program.di_types.iter_enumerated() {
            let holds = match ty {
                DiType::Base { name, .. } => self.has_str(*name),
                DiType::Pointer { to: of } | DiType::Const(of) | DiType::Qualified(of) => {
                    self.has_di(*of)
                }
                DiType::Array { elem, .. } => self.has_di(*elem),
                DiType::Typedef { name, of } => self.has_str(*name) && self.has_di(*of),
                DiType::Struct { name, members, .. } => {
                    let member = |m: &DiMember| self.has_str(m.name) && self.has_di(m.ty);
                    self.has_strs(&[*name]) && members.iter().all(member)
                }
                DiType::Enum { name, values, .. } => {
                    self.has_strs(&[*name]) && values.iter().all(|(name, _)| self.has_str(*name))
                }
                DiType::Func { ret, params } => {
                    self.has_di(*ret) && params.iter().all(|param| self.has_di(*param))
                }
                DiType::Other => true,
            };
            self.require(holds, id, "refers to a name or type that does not exist");
        }
    }

    fn global(&mut self, id: GlobalId, global: &Global) {
        let program = self.program;
        let named = self.has_strs(&[Some(global.name), global.source_name]);
        self.require(named, id, "has a name that does not exist");
        self.require(exists(&program.units, global.unit), id, "is in no unit");
        let typed = global.ty.index() < program.types.len() && self.has_di(global.di_type);
        self.require(typed, id, "has a type that does not exist");
        self.require(self.has_loc(global.loc), id, "has a position in no file");
        match &global.init {
            Init::Extern | Init::Zero => {}
            Init::Bytes(bytes) => {
                let fits = bytes.len() as u64 <= global.size;
                self.require(fits, id, "is initialised beyond its size");
            }
            Init::Slots { slots, .. } => self.slots(id, global, slots),
        }
    }

    fn slots(&mut self, id: GlobalId, global: &Global, slots: &[(u64, Scalar)]) {
        let program = self.program;
        let mut end = 0;
        let mut apart = true;
        let mut known = true;
        let mut marked = true;
        for &(offset, scalar) in slots {
            apart &= offset >= end;
            let bytes = match scalar {
                Scalar::Int { bytes, .. } | Scalar::Opaque { bytes } => u64::from(bytes),
                Scalar::Global { global, .. } => {
                    known &= exists(&program.globals, global);
                    program.types.layout.pointer_bytes
                }
                Scalar::Func(func) => {
                    let function = program.funcs.get(func);
                    known &= function.is_some();
                    marked &= function.is_none_or(|f| f.attrs.has(FuncAttrs::ADDRESS_TAKEN));
                    program.types.layout.pointer_bytes
                }
            };
            end = offset.saturating_add(bytes);
        }
        self.require(
            marked,
            id,
            "takes the address of a function that is not marked so",
        );
        self.require(apart, id, "has overlapping or unsorted initialisers");
        self.require(end <= global.size, id, "is initialised beyond its size");
        self.require(
            known,
            id,
            "is initialised with a symbol that does not exist",
        );
    }

    fn function(&mut self, id: FuncId, function: &Function) {
        let program = self.program;
        let names = [
            Some(function.name),
            function.source_name,
            function.alloc_family,
        ];
        self.require(self.has_strs(&names), id, "has a name that does not exist");
        self.require(exists(&program.units, function.unit), id, "is in no unit");
        self.require(self.has_loc(function.loc), id, "has a position in no file");
        self.require(
            self.has_di(function.di_type),
            id,
            "has a source type that does not exist",
        );
        let readable = function.body.is_none() || function.unreadable.is_none();
        self.require(readable, id, "has a body that could not be read");
        let ty = function.ty;
        match (ty.index() < program.types.len()).then(|| program.types.get(ty)) {
            Some(Type::Func { params, .. }) => {
                let agree = params.len() == function.params.len();
                self.require(agree, id, "has attributes for another number of parameters");
            }
            _ => self.require(false, id, "has a type that is no function's"),
        }
    }

    /// Symbols that other units can see have names of their own.
    fn names(&mut self) {
        let globals = self.program.globals.iter().map(|g| (g.linkage, g.name));
        let funcs = self.program.funcs.iter().map(|f| (f.linkage, f.name));
        let mut seen = FxHashSet::default();
        let mut twice = Vec::new();
        for (linkage, name) in globals.chain(funcs) {
            if linkage != Linkage::Internal && self.has_str(name) && !seen.insert(name) {
                twice.push(name);
            }
        }
        for name in twice {
            let text = self.program.strings.get(name);
            self.require(false, format_args!("symbol @{text}"), "is visible twice");
        }
    }
}
