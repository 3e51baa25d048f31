//! What do other units know of a function or variable than the one whose definition was chosen?

use drip_bitcode as bc;

use super::symbols::{NO_SYMBOL, Rank};
use super::{Linker, attrs};
use crate::lower::context::Linked;

impl Linker<'_> {
    /// What other units know of a function or variable: attributes, debug info of prototypes, the size of common symbols.
    pub(super) fn merge_declarations(&mut self) {
        for module in 0..self.out.modules.len() as u32 {
            let raw = &self.out.modules[module as usize];
            for (index, function) in raw.functions.iter().enumerate() {
                let symbol = self.symbols.modules[module as usize].functions[index];
                if symbol != NO_SYMBOL
                    && self.is_other(symbol, module, bc::ModuleValue::Function(index as u32))
                {
                    self.merge_function(symbol, module, function);
                }
            }
            for (index, global) in raw.globals.iter().enumerate() {
                let symbol = self.symbols.modules[module as usize].globals[index];
                if symbol != NO_SYMBOL
                    && self.is_other(symbol, module, bc::ModuleValue::Global(index as u32))
                {
                    self.merge_global(symbol, module, global);
                }
            }
        }
    }

    fn is_other(&self, symbol: u32, module: u32, value: bc::ModuleValue) -> bool {
        let chosen = self.symbols.table[symbol as usize].chosen;
        (chosen.module, chosen.value) != (module, value)
    }

    fn merge_function(&mut self, symbol: u32, module: u32, raw: &bc::RawFunction) {
        let Linked::Func(func) = self.resolved[symbol as usize] else {
            return;
        };
        let list = self.out.modules[module as usize].attrs_or_empty(raw.attrs);
        let (vararg, params) = self.prototype(func);
        let more = attrs::func_attrs(list, vararg, params);
        let function = &mut self.out.program.funcs[func];
        function.attrs.0 |= more.0 & !attrs::UNIT_ONLY;
        for (index, param) in function.params.iter_mut().enumerate() {
            param.0 |= attrs::param_attrs(list.param(index)).0;
        }
        if function.alloc_family.is_none() {
            let family = list.function().string("alloc-family");
            function.alloc_family = family.map(|f| self.out.program.strings.intern(f));
        }
        let debug = &mut self.out.func_debug[func.index()];
        *debug = debug.or(raw.dbg.map(|node| (module, node)));
    }

    fn merge_global(&mut self, symbol: u32, module: u32, raw: &bc::RawGlobal) {
        let Linked::Global { global, offset: 0 } = self.resolved[symbol as usize] else {
            return;
        };
        let ty = self.ty(module, raw.ty);
        let size = self.out.program.types.size_of(ty);
        let found = &mut self.out.program.globals[global];
        if raw.linkage == bc::Linkage::Common
            && self.symbols.table[symbol as usize].chosen.rank == Rank::Common
            && size > found.size
        {
            (found.ty, found.size) = (ty, size);
        }
        let debug = &mut self.out.global_debug[global.index()];
        *debug = debug.or(raw.dbg.first().map(|node| (module, *node)));
    }
}
