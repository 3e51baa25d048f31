//! What do aliases stand for?

use drip_bitcode as bc;

use super::Linker;
use crate::lower::context::Linked;
use crate::lower::fold::{Base, Folded, Folder};
use crate::types::Type;

/// Aliases of aliases of aliases …: longer chains count as unknown.
const MAX_ALIAS_CHAIN: usize = 8;

impl Linker<'_> {
    /// An alias is its target, wherever that was linked to; one whose target is unknown is a declaration.
    pub(super) fn resolve_aliases(&mut self) {
        let mut open: Vec<(usize, u32, bc::RawAlias)> = Vec::new();
        for (symbol, found) in self.symbols.table.iter().enumerate() {
            if let bc::ModuleValue::Alias(index) = found.chosen.value {
                let module = found.chosen.module;
                open.push((
                    symbol,
                    module,
                    self.out.modules[module as usize].aliases[index as usize].clone(),
                ));
            }
        }
        for _ in 0..MAX_ALIAS_CHAIN {
            if open.is_empty() {
                return;
            }
            let mut found = Vec::new();
            open.retain(|(symbol, module, alias)| {
                let folder = Folder {
                    cx: self.context(*module),
                    body: None,
                };
                let linked = match folder.fold(alias.target) {
                    Folded::Addr {
                        base: Base::Func(func),
                        offset: 0,
                    } => Linked::Func(func),
                    Folded::Addr {
                        base: Base::Global(global),
                        offset,
                    } => Linked::Global { global, offset },
                    _ => return true,
                };
                found.push((*symbol, linked));
                false
            });
            for (symbol, linked) in found {
                self.resolved[symbol] = linked;
            }
            self.publish();
        }
        for (symbol, module, alias) in open {
            if matches!(
                self.out.program.types.get(self.ty(module, alias.ty)),
                Type::Func { .. }
            ) {
                self.resolved[symbol] =
                    Linked::Func(self.declared_function(symbol, module, alias.ty));
            }
        }
        self.publish();
    }
}
