//! Question: where a name has several strong definitions, which of them does a unit mean that only declares it?
//!
//! A build makes several programs as a rule (a server, its clients, their tools), and each has its own `main`, `usage` or `xmalloc`.
//! Which units belong together is told by what they need besides: a unit of the server needs functions that only the server has.
//!
//! Domain: units; A leads to B if A declares a name that B alone defines. Order: breadth first from the unit that asks, at most
//! [`MAX_STEPS`] far; the first definition that is met is meant. Where none is met, or several at once, the one that itself needs
//! the fewest units outside of that neighbourhood, then the most inside (variants of one source, each for its own program); then the
//! one whose source lies nearest in the tree of directories. Among equals the one that the name stands for elsewhere.
//!
//! Cost: units that ask × units and names in their neighbourhood.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use drip_bitcode as bc;
use rustc_hash::{FxHashMap, FxHashSet};

use super::symbols::{NO_SYMBOL, Rank, Symbols};

/// Units between the one that asks and a definition.
const MAX_STEPS: usize = 3;

/// One of several definitions of a name.
struct Definition {
    unit: u32,
    symbol: u32,
}

impl Symbols<'_> {
    /// Lets declarations stand for the definition of their own program.
    pub fn choose_nearest(&mut self, modules: &[bc::RawModule]) {
        let several = self.several();
        if several.is_empty() {
            return;
        }
        let declared: Vec<Vec<u32>> = modules
            .iter()
            .zip(&self.modules)
            .map(|(module, found)| declared(module, &found.functions, &found.globals))
            .collect();
        let needs = self.needs(&declared, &several);
        for (unit, names) in declared.iter().enumerate() {
            let asked: Vec<u32> = names
                .iter()
                .copied()
                .filter(|name| several.contains_key(name))
                .collect();
            if asked.is_empty() {
                continue;
            }
            let distances = distances(&needs, unit as u32);
            let meant: FxHashMap<u32, u32> = asked
                .iter()
                .map(|name| (*name, self.meant(unit, &several[name], &distances, &needs)))
                .collect();
            self.redirect(unit, &modules[unit], &meant);
        }
    }

    /// Names with several definitions, the one that others see first.
    fn several(&self) -> FxHashMap<u32, Vec<Definition>> {
        let names = self.told_apart.iter().map(|(&name, others)| {
            let seen = (name, self.table[name as usize].chosen.module);
            let all = std::iter::once(&seen).chain(others);
            let definitions = all.map(|&(symbol, unit)| Definition { unit, symbol });
            (name, definitions.collect())
        });
        names.collect()
    }

    /// By unit: the units that alone define something that it declares.
    fn needs(
        &self,
        declared: &[Vec<u32>],
        several: &FxHashMap<u32, Vec<Definition>>,
    ) -> Vec<Vec<u32>> {
        let definer = |name: &u32| {
            let chosen = self.table[*name as usize].chosen;
            let is_only = chosen.rank >= Rank::OneProgram && !several.contains_key(name);
            is_only.then_some(chosen.module)
        };
        let units = declared.iter().map(|names| {
            let mut units: Vec<u32> = names.iter().filter_map(definer).collect();
            units.sort_unstable();
            units.dedup();
            units
        });
        units.collect()
    }

    fn meant(
        &self,
        unit: usize,
        choice: &[Definition],
        distances: &FxHashMap<u32, usize>,
        needs: &[Vec<u32>],
    ) -> u32 {
        let far = MAX_STEPS + 1;
        let nearest = choice.iter().min_by_key(|definition| {
            let at = definition.unit as usize;
            let steps = distances.get(&definition.unit).copied().unwrap_or(far);
            let (inside, outside): (Vec<u32>, Vec<u32>) = needs[at]
                .iter()
                .partition(|needed| distances.contains_key(needed));
            let directories = common_directories(&self.sources[unit], &self.sources[at]);
            // The first of equals stays.
            (
                steps,
                outside.len(),
                Reverse(inside.len()),
                Reverse(directories),
            )
        });
        nearest.map_or(NO_SYMBOL, |definition| definition.symbol)
    }

    fn redirect(&mut self, unit: usize, module: &bc::RawModule, meant: &FxHashMap<u32, u32>) {
        let found = &mut self.modules[unit];
        for (slot, function) in found.functions.iter_mut().zip(&module.functions) {
            if let (Some(&symbol), true) = (meant.get(slot), function.is_declaration) {
                *slot = symbol;
            }
        }
        for (slot, global) in found.globals.iter_mut().zip(&module.globals) {
            if let (Some(&symbol), true) = (meant.get(slot), global.initializer.is_none()) {
                *slot = symbol;
            }
        }
    }
}

/// Symbols that a module only declares.
fn declared(module: &bc::RawModule, functions: &[u32], globals: &[u32]) -> Vec<u32> {
    let functions = functions.iter().zip(&module.functions);
    let functions = functions.filter(|(_, f)| f.is_declaration).map(|(s, _)| *s);
    let globals = globals.iter().zip(&module.globals);
    let globals = globals
        .filter(|(_, g)| g.initializer.is_none())
        .map(|(s, _)| *s);
    functions
        .chain(globals)
        .filter(|&symbol| symbol != NO_SYMBOL)
        .collect()
}

/// Steps from a unit to those around it.
fn distances(needs: &[Vec<u32>], from: u32) -> FxHashMap<u32, usize> {
    let mut distances = FxHashMap::from_iter([(from, 0)]);
    let mut level = vec![from];
    for steps in 1..=MAX_STEPS {
        let mut seen: FxHashSet<u32> = FxHashSet::default();
        for &next in level.iter().flat_map(|&unit| &needs[unit as usize]) {
            if !distances.contains_key(&next) {
                seen.insert(next);
            }
        }
        distances.extend(seen.iter().map(|&unit| (unit, steps)));
        level = seen.into_iter().collect();
    }
    distances
}

/// How many directories two sources have in common.
fn common_directories(a: &Option<PathBuf>, b: &Option<PathBuf>) -> usize {
    let directories = |path: &Option<PathBuf>| -> Vec<std::ffi::OsString> {
        let parent = path.as_deref().and_then(Path::parent);
        let parts = parent.into_iter().flat_map(Path::components);
        parts.map(|part| part.as_os_str().to_owned()).collect()
    };
    let (a, b) = (directories(a), directories(b));
    a.iter().zip(&b).take_while(|(a, b)| a == b).count()
}
