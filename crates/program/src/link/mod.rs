//! Many raw modules → the shells of one program: types, globals, functions without bodies, and each module's numbers in
//! terms of the program's.
//!
//! Sequential and in input order; what costs time (bodies) comes later and in parallel.

mod aliases;
pub(crate) mod attrs;
pub(crate) mod init;
mod merge;
mod nearest;
pub(crate) mod symbols;
pub(crate) mod types;

use std::sync::atomic::AtomicBool;

use drip_bitcode as bc;

use self::symbols::{Candidate, Rank, Symbols};
use crate::debug_info;
use crate::ids::*;
use crate::load::{Problem, ProblemKind};
use crate::lower::context::{CommonTypes, Context, Linked, ModuleLink};
use crate::lower::fold::{Base, Folded, Folder};
use crate::model::*;
use crate::types::Type;

/// A body to lower.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job {
    pub func: FuncId,
    pub module: u32,
    /// Raw function.
    pub index: u32,
}

/// The program before its bodies.
pub(crate) struct Linkage<'a> {
    pub program: Program,
    pub modules: &'a [bc::RawModule],
    pub links: Vec<ModuleLink>,
    pub common: CommonTypes,
    pub jobs: Vec<Job>,
    pub taken: Vec<AtomicBool>,
    /// By function: debug info of its declaration (module, node).
    pub func_debug: Vec<Option<(u32, bc::MetadataId)>>,
    /// By global: module and `!dbg` node.
    pub global_debug: Vec<Option<(u32, bc::MetadataId)>>,
    pub problems: Vec<Problem>,
}

pub(crate) fn link(modules: &[bc::RawModule]) -> Linkage<'_> {
    let mut program = Program::default();
    program.types.layout = modules
        .first()
        .map(|m| types::parse_layout(&m.data_layout))
        .unwrap_or_default();
    let common = CommonTypes::intern(&mut program.types);
    let symbols = Symbols::collect(modules);
    let links = modules
        .iter()
        .zip(&symbols.modules)
        .map(|(module, found)| ModuleLink {
            types: types::map_types(module, &mut program.types, &mut program.strings),
            functions: vec![Linked::Nothing; found.functions.len()],
            globals: vec![Linked::Nothing; found.globals.len()],
            aliases: vec![Linked::Nothing; found.aliases.len()],
            ifuncs: vec![Linked::Nothing; found.ifuncs.len()],
            intrinsics: found.intrinsics.clone(),
            metadata_len: debug_info::metadata_len(module),
        });
    let links = links.collect();
    let mut linker = Linker {
        symbols,
        resolved: Vec::new(),
        out: Linkage {
            program,
            modules,
            links,
            common,
            jobs: Vec::new(),
            taken: Vec::new(),
            func_debug: Vec::new(),
            global_debug: Vec::new(),
            problems: Vec::new(),
        },
    };
    linker.units();
    linker.place_symbols();
    linker.resolve_aliases();
    linker.merge_declarations();
    linker.constructors();
    linker.report_duplicates();
    linker.out
}

struct Linker<'a> {
    symbols: Symbols<'a>,
    /// By symbol.
    resolved: Vec<Linked>,
    out: Linkage<'a>,
}

impl<'a> Linker<'a> {
    fn units(&mut self) {
        let layout = self.out.program.types.layout.clone();
        for module in self.out.modules {
            let strings = &mut self.out.program.strings;
            let path = strings.intern(&module.file_name);
            let source = strings.intern(&module.source_filename);
            let md = module.metadata();
            let unit = module
                .named_metadata("llvm.dbg.cu")
                .first()
                .and_then(|id| md.compile_unit(*id));
            let language = match unit {
                Some(unit) => language(unit.language),
                None => language_of_file(&module.source_filename),
            };
            self.out.program.units.push(Unit {
                path,
                source,
                language,
            });
            let own = types::parse_layout(&module.data_layout);
            if (own.pointer_bytes, own.big_endian) != (layout.pointer_bytes, layout.big_endian) {
                self.out.problems.push(Problem {
                    kind: ProblemKind::Doubtful,
                    file: module.file_name.to_string(),
                    function: None,
                    offset: None,
                    text: "made for another target than the first input; sizes and offsets may be wrong".into(),
                });
            }
        }
    }

    /// Gives every symbol its number in the program, aliases excepted.
    fn place_symbols(&mut self) {
        for symbol in 0..self.symbols.table.len() {
            let Candidate { module, value, .. } = self.symbols.table[symbol].chosen;
            let raw = &self.out.modules[module as usize];
            let linked = match value {
                bc::ModuleValue::Function(index) => Linked::Func(self.function(
                    symbol,
                    module,
                    index,
                    &raw.functions[index as usize],
                )),
                bc::ModuleValue::Global(index) => {
                    self.global(symbol, module, &raw.globals[index as usize])
                }
                bc::ModuleValue::Ifunc(index) => Linked::Func(self.declared_function(
                    symbol,
                    module,
                    raw.ifuncs[index as usize].ty,
                )),
                bc::ModuleValue::Alias(_) | bc::ModuleValue::Constant(_) => Linked::Nothing,
            };
            self.resolved.push(linked);
        }
        self.publish();
    }

    /// Copies the numbers of symbols into the modules' tables.
    fn publish(&mut self) {
        let resolved = &self.resolved;
        let fill = |into: &mut Vec<Linked>, from: &[u32]| {
            for (slot, &symbol) in into.iter_mut().zip(from) {
                *slot = resolved
                    .get(symbol as usize)
                    .copied()
                    .unwrap_or(Linked::Nothing);
            }
        };
        for (link, found) in self.out.links.iter_mut().zip(&self.symbols.modules) {
            fill(&mut link.functions, &found.functions);
            fill(&mut link.globals, &found.globals);
            fill(&mut link.aliases, &found.aliases);
            fill(&mut link.ifuncs, &found.ifuncs);
        }
    }

    fn ty(&self, module: u32, raw: bc::TypeId) -> TypeId {
        let types = &self.out.links[module as usize].types;
        types
            .get(raw.index())
            .copied()
            .unwrap_or(self.out.common.other)
    }

    fn function(
        &mut self,
        symbol: usize,
        module: u32,
        index: u32,
        raw: &bc::RawFunction,
    ) -> FuncId {
        let func = self.declared_function(symbol, module, raw.ty);
        let list = self.out.modules[module as usize].attrs_or_empty(raw.attrs);
        let (vararg, params) = self.prototype(func);
        let function = &mut self.out.program.funcs[func];
        function.attrs = attrs::func_attrs(list, vararg, params);
        function.params = (0..params)
            .map(|i| attrs::param_attrs(list.param(i)))
            .collect();
        let family = list.function().string("alloc-family");
        function.alloc_family = family.map(|f| self.out.program.strings.intern(f));
        self.out.func_debug[func.index()] = raw.dbg.map(|node| (module, node));
        let chosen = self.symbols.table[symbol].chosen;
        if chosen.rank > Rank::Declaration
            && self.out.modules[module as usize].has_body(index as usize)
        {
            self.out.jobs.push(Job {
                func,
                module,
                index,
            });
        }
        func
    }

    fn prototype(&self, func: FuncId) -> (bool, usize) {
        match self.out.program.types.get(self.out.program.funcs[func].ty) {
            Type::Func { params, vararg, .. } => (*vararg, params.len()),
            _ => (false, 0),
        }
    }

    fn declared_function(&mut self, symbol: usize, module: u32, ty: bc::TypeId) -> FuncId {
        let found = &self.symbols.table[symbol];
        let linkage = linkage(found.linkage);
        let name = self.out.program.strings.intern(found.name);
        let ty = self.ty(module, ty);
        self.out.taken.push(AtomicBool::new(false));
        self.out.func_debug.push(None);
        let func = self.out.program.funcs.push(Function {
            name,
            source_name: None,
            unit: UnitId::from_u32(module),
            linkage,
            ty,
            attrs: FuncAttrs::default(),
            params: Box::default(),
            alloc_family: None,
            loc: None,
            di_type: None,
            body: None,
            unreadable: None,
        });
        let (_, params) = self.prototype(func);
        self.out.program.funcs[func].params = vec![ParamAttrs::default(); params].into();
        func
    }

    fn global(&mut self, symbol: usize, module: u32, raw: &bc::RawGlobal) -> Linked {
        let found = &self.symbols.table[symbol];
        let linkage = linkage(found.linkage);
        let name = self.out.program.strings.intern(found.name);
        let ty = self.ty(module, raw.ty);
        let size = self.out.program.types.size_of(ty);
        // String literals have debug info too: a position, and no name.
        let debug = raw
            .dbg
            .first()
            .filter(|_| raw.linkage != bc::Linkage::Private);
        self.out
            .global_debug
            .push(debug.map(|node| (module, *node)));
        let global = self.out.program.globals.push(Global {
            name,
            unit: UnitId::from_u32(module),
            linkage,
            ty,
            size,
            is_const: raw.is_const,
            thread_local: raw.thread_local,
            init: Init::Extern,
            loc: None,
            di_type: None,
            source_name: None,
        });
        Linked::Global { global, offset: 0 }
    }

    pub fn context(&self, module: u32) -> Context<'_> {
        context(&self.out, module)
    }

    /// Functions that `llvm.global_ctors` and `llvm.global_dtors` name.
    fn constructors(&mut self) {
        let mut found = Vec::new();
        for (index, module) in self.out.modules.iter().enumerate() {
            let folder = Folder {
                cx: self.context(index as u32),
                body: None,
            };
            let lists = module
                .globals
                .iter()
                .filter(|g| matches!(&*g.name, "llvm.global_ctors" | "llvm.global_dtors"));
            for entry in lists
                .filter_map(|g| g.initializer)
                .flat_map(|list| elements(&folder, list))
            {
                found.extend(elements(&folder, entry).filter_map(
                    |member| match folder.fold(member) {
                        Folded::Addr {
                            base: Base::Func(func),
                            ..
                        } => Some(func),
                        _ => None,
                    },
                ));
            }
        }
        for func in found {
            self.out.program.funcs[func].attrs.0 |= FuncAttrs::CONSTRUCTOR;
        }
    }

    fn report_duplicates(&mut self) {
        for duplicate in &self.symbols.duplicates {
            let file = |module: u32| self.out.modules[module as usize].file_name.to_string();
            let name = self.symbols.table[duplicate.symbol as usize].name;
            self.out.problems.push(Problem {
                kind: ProblemKind::Duplicate,
                file: file(duplicate.dropped),
                function: None,
                offset: None,
                text: format!(
                    "`{name}` is already defined in {}; {}",
                    file(duplicate.kept),
                    match duplicate.is_copy {
                        true => "this copy from the same source is dropped",
                        false => "this definition is kept for its own program",
                    }
                ),
            });
        }
    }
}

/// What lowering in one module may look at.
pub(crate) fn context<'a>(linked: &'a Linkage<'_>, module: u32) -> Context<'a> {
    Context {
        module: &linked.modules[module as usize],
        link: &linked.links[module as usize],
        types: &linked.program.types,
        common: linked.common,
        taken: &linked.taken,
    }
}

fn elements<'a>(
    folder: &Folder<'a>,
    value: bc::ValueId,
) -> impl Iterator<Item = bc::ValueId> + use<'a> {
    let range = folder
        .constant(value)
        .and_then(|(constant, table)| match constant.kind {
            bc::RawConst::Aggregate(range) => Some(range.of(&table.operands)),
            _ => None,
        });
    range.unwrap_or(&[]).iter().copied()
}

fn linkage(raw: bc::Linkage) -> crate::model::Linkage {
    match raw {
        bc::Linkage::External | bc::Linkage::Appending => crate::model::Linkage::External,
        bc::Linkage::Internal | bc::Linkage::Private => crate::model::Linkage::Internal,
        _ => crate::model::Linkage::Weak,
    }
}

/// By DWARF's language codes.
fn language(code: u32) -> Language {
    match code {
        // C89, C, C99, C11, C17, C23
        0x01 | 0x02 | 0x0c | 0x1d | 0x2c | 0x3e => Language::C,
        // C++, C++03, C++11, C++14, C++17, C++20, C++23
        0x04 | 0x19 | 0x1a | 0x21 | 0x2a | 0x2b | 0x3a => Language::Cxx,
        _ => Language::Other,
    }
}

fn language_of_file(name: &str) -> Language {
    match name.rsplit_once('.').map(|(_, ext)| ext) {
        Some("cc" | "cpp" | "cxx" | "C" | "c++" | "hpp") => Language::Cxx,
        Some("c" | "h" | "i") | None => Language::C,
        _ => Language::Other,
    }
}
