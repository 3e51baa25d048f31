//! Which definition does each symbol of each module mean?
//!
//! Rules (those of llvm-link): a strong definition wins over a common one, that over a weak one, that over a linkonce one,
//! that over an available_externally one, and any definition over declarations. Among equals the first in input order
//! stays. Two strong definitions are a problem that is recorded (bitcode of several programs at once, as a rule): the
//! first one is the symbol, the other is kept for its own unit and for those that mean it (`nearest`), unless both are made of
//! the same source file in the same way. Where there
//! are several `main`s, a unit with one is a program of its own: what it defines yields to what others define. Internal
//! symbols are their module's own. Of a comdat group whose name another module brought first, internal members are dropped.
//!
//! Symbols are numbered in order of first mention, so the result depends on the order of inputs only.

use std::hash::BuildHasher as _;
use std::path::{Component, Path, PathBuf};

use drip_bitcode as bc;
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::lower::intrinsics::{self, Intrinsic};

/// A symbol of a module: where to find it in its raw module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub module: u32,
    pub value: bc::ModuleValue,
    pub rank: Rank,
}

/// How strong a claim to a symbol's name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    Declaration,
    AvailableExternally,
    LinkOnce,
    Weak,
    Common,
    /// Strong, in a unit with one of several `main`s.
    OneProgram,
    Strong,
}

/// One symbol of the linked program.
#[derive(Debug)]
pub(crate) struct Symbol<'a> {
    pub name: &'a str,
    pub linkage: bc::Linkage,
    pub chosen: Candidate,
}

/// No symbol: intrinsics that vanish, and the linker's own lists.
pub(crate) const NO_SYMBOL: u32 = u32::MAX;

/// Symbols of one module, by raw number.
#[derive(Debug, Default)]
pub(crate) struct ModuleSymbols {
    pub functions: Vec<u32>,
    pub globals: Vec<u32>,
    pub aliases: Vec<u32>,
    pub ifuncs: Vec<u32>,
    pub intrinsics: Vec<Intrinsic>,
}

/// Two strong definitions of one name.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Duplicate {
    pub symbol: u32,
    pub kept: u32,
    /// The module whose definition other units do not see.
    pub dropped: u32,
    /// Both modules were made from the same source, with the same names in them: the definition was dropped altogether.
    pub is_copy: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Symbols<'a> {
    pub table: Vec<Symbol<'a>>,
    pub modules: Vec<ModuleSymbols>,
    pub duplicates: Vec<Duplicate>,
    /// By symbol: other definitions of the name, each with the symbol that it got and its module.
    pub told_apart: FxHashMap<u32, Vec<(u32, u32)>>,
    /// Source file of each module.
    pub sources: Vec<Option<PathBuf>>,
    /// What each module defines and declares: two compilations of one source that differ in this are variants for different programs.
    names: Vec<u64>,
    by_name: FxHashMap<&'a str, u32>,
    comdat_owner: FxHashMap<&'a str, u32>,
    /// Which modules define one of several `main`s.
    programs: Vec<bool>,
}

/// A comdat whose members must not be merged.
const COMDAT_NO_DEDUPLICATE: u32 = 4;

impl<'a> Symbols<'a> {
    pub fn collect(modules: &'a [bc::RawModule]) -> Symbols<'a> {
        let sources = modules.iter().map(source_file).collect();
        let mut programs: Vec<bool> = modules.iter().map(defines_main).collect();
        if programs.iter().filter(|is_program| **is_program).count() < 2 {
            programs.fill(false);
        }
        let mut symbols = Symbols {
            sources,
            names: modules.iter().map(names).collect(),
            programs,
            ..Symbols::default()
        };
        for (index, module) in modules.iter().enumerate() {
            let found = symbols.module(index as u32, module);
            symbols.modules.push(found);
        }
        symbols.choose_nearest(modules);
        symbols
    }

    fn module(&mut self, index: u32, module: &'a bc::RawModule) -> ModuleSymbols {
        let mut found = ModuleSymbols::default();
        for (at, function) in module.functions.iter().enumerate() {
            let intrinsic = intrinsics::of_function(module, function);
            let symbol = match intrinsic.has_function() {
                true => {
                    let defined = !function.is_declaration
                        && self.keeps(index, module, function.linkage, function.comdat);
                    let value = bc::ModuleValue::Function(at as u32);
                    self.add(index, value, &function.name, function.linkage, defined)
                }
                false => NO_SYMBOL,
            };
            found.functions.push(symbol);
            found.intrinsics.push(intrinsic);
        }
        for (at, global) in module.globals.iter().enumerate() {
            let symbol = match is_linker_list(global) {
                false => {
                    let defined = global.initializer.is_some()
                        && self.keeps(index, module, global.linkage, global.comdat);
                    self.add(
                        index,
                        bc::ModuleValue::Global(at as u32),
                        &global.name,
                        global.linkage,
                        defined,
                    )
                }
                true => NO_SYMBOL,
            };
            found.globals.push(symbol);
        }
        for (at, alias) in module.aliases.iter().enumerate() {
            let value = bc::ModuleValue::Alias(at as u32);
            found
                .aliases
                .push(self.add(index, value, &alias.name, alias.linkage, true));
        }
        for (at, ifunc) in module.ifuncs.iter().enumerate() {
            let value = bc::ModuleValue::Ifunc(at as u32);
            found
                .ifuncs
                .push(self.add(index, value, &ifunc.name, ifunc.linkage, true));
        }
        found
    }

    /// False for an internal member of a comdat group that another module owns.
    fn keeps(
        &mut self,
        index: u32,
        module: &'a bc::RawModule,
        linkage: bc::Linkage,
        comdat: Option<u32>,
    ) -> bool {
        let Some(comdat) = comdat.and_then(|c| module.comdats.get(c as usize)) else {
            return true;
        };
        if comdat.selection == COMDAT_NO_DEDUPLICATE {
            return true;
        }
        let owner = *self.comdat_owner.entry(&comdat.name).or_insert(index);
        owner == index || !is_local(linkage)
    }

    fn add(
        &mut self,
        module: u32,
        value: bc::ModuleValue,
        name: &'a str,
        linkage: bc::Linkage,
        defined: bool,
    ) -> u32 {
        let rank = match rank(linkage, defined) {
            Rank::Strong if self.programs[module as usize] => Rank::OneProgram,
            rank => rank,
        };
        let candidate = Candidate {
            module,
            value,
            rank,
        };
        let next = self.table.len() as u32;
        if name.is_empty() || is_local(linkage) {
            self.table.push(Symbol {
                name,
                linkage,
                chosen: candidate,
            });
            return next;
        }
        let id = *self.by_name.entry(name).or_insert(next);
        if id == next {
            self.table.push(Symbol {
                name,
                linkage,
                chosen: candidate,
            });
            return id;
        }
        let chosen = self.table[id as usize].chosen;
        let (kept, dropped) = if candidate.rank > chosen.rank {
            self.table[id as usize].chosen = candidate;
            self.table[id as usize].linkage = linkage;
            (candidate, chosen)
        } else {
            (chosen, candidate)
        };
        if dropped.rank < Rank::OneProgram {
            return id;
        }
        let own = self.second_definition(id, kept.module, dropped);
        if dropped == candidate {
            return own;
        }
        if let Some(owner) = self.modules.get_mut(dropped.module as usize) {
            owner.rename(dropped.value, own);
        }
        id
    }

    /// The symbol of another strong definition of a name.
    fn second_definition(&mut self, symbol: u32, kept: u32, dropped: Candidate) -> u32 {
        let copy = self.copy_of(symbol, kept, dropped.module);
        self.duplicates.push(Duplicate {
            symbol,
            kept,
            dropped: dropped.module,
            is_copy: copy.is_some(),
        });
        copy.unwrap_or_else(|| {
            let own = self.table.len() as u32;
            self.table.push(Symbol {
                name: self.table[symbol as usize].name,
                linkage: bc::Linkage::Internal,
                chosen: dropped,
            });
            let others = self.told_apart.entry(symbol).or_default();
            others.push((own, dropped.module));
            own
        })
    }

    /// The symbol that a definition has already, if it is a mere copy: made of the same source, with the same names in it, as the
    /// kept one or one that was told apart before.
    fn copy_of(&self, symbol: u32, kept: u32, dropped: u32) -> Option<u32> {
        let others = self.told_apart.get(&symbol).into_iter().flatten();
        let mut known = std::iter::once((symbol, kept)).chain(others.copied());
        let copy = known.find(|(_, module)| {
            let [one, other] = [*module as usize, dropped as usize];
            self.sources[one].is_some()
                && self.sources[one] == self.sources[other]
                && self.names[one] == self.names[other]
        });
        copy.map(|(symbol, _)| symbol)
    }
}

impl ModuleSymbols {
    /// The module's own definition gets a symbol of its own.
    fn rename(&mut self, value: bc::ModuleValue, symbol: u32) {
        let (list, at) = match value {
            bc::ModuleValue::Function(at) => (&mut self.functions, at),
            bc::ModuleValue::Global(at) => (&mut self.globals, at),
            bc::ModuleValue::Alias(at) => (&mut self.aliases, at),
            bc::ModuleValue::Ifunc(at) => (&mut self.ifuncs, at),
            bc::ModuleValue::Constant(_) => return,
        };
        if let Some(slot) = list.get_mut(at as usize) {
            *slot = symbol;
        }
    }
}

fn defines_main(module: &bc::RawModule) -> bool {
    module
        .functions
        .iter()
        .any(|f| &*f.name == "main" && !f.is_declaration)
}

/// The names that other modules see or bring, in any order.
fn names(module: &bc::RawModule) -> u64 {
    let functions = module
        .functions
        .iter()
        .map(|f| (&*f.name, f.linkage, f.is_declaration));
    let globals = module
        .globals
        .iter()
        .map(|g| (&*g.name, g.linkage, g.initializer.is_none()));
    let seen = functions
        .chain(globals)
        .filter(|(_, linkage, _)| !is_local(*linkage));
    seen.map(|(name, _, is_declaration)| FxBuildHasher.hash_one((name, is_declaration)))
        .fold(0, u64::wrapping_add)
}

/// Path of the main source file, where debug info tells; without `.` and `..`, which differ by where a compiler was started.
fn source_file(module: &bc::RawModule) -> Option<PathBuf> {
    let md = module.metadata();
    let unit = module.named_metadata("llvm.dbg.cu").first()?;
    let file = md.file(md.compile_unit(*unit)?.file?)?;
    let mut path = PathBuf::new();
    for part in Path::new(file.directory).join(file.filename).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                path.pop();
            }
            part => path.push(part),
        }
    }
    Some(path)
}

fn is_local(linkage: bc::Linkage) -> bool {
    matches!(linkage, bc::Linkage::Internal | bc::Linkage::Private)
}

/// `llvm.used`, `llvm.global_ctors` and the like are notes to the linker, not memory of the program.
pub(crate) fn is_linker_list(global: &bc::RawGlobal) -> bool {
    global.linkage == bc::Linkage::Appending || global.name.starts_with("llvm.")
}

fn rank(linkage: bc::Linkage, defined: bool) -> Rank {
    use bc::Linkage as L;
    match linkage {
        _ if !defined => Rank::Declaration,
        L::External | L::Internal | L::Private | L::Appending => Rank::Strong,
        L::Common => Rank::Common,
        L::WeakAny | L::WeakOdr => Rank::Weak,
        L::LinkOnceAny | L::LinkOnceOdr => Rank::LinkOnce,
        L::AvailableExternally => Rank::AvailableExternally,
        L::ExternalWeak => Rank::Declaration,
    }
}
