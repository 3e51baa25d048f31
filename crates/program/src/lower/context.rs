//! What lowering a body may look at: its module, what the linker made of the module's symbols, and the program's types.
//!
//! Everything here is read-only while bodies are lowered in parallel, except the "address taken" marks, which are only
//! ever set: the result does not depend on the order of threads.

use std::sync::atomic::{AtomicBool, Ordering};

use drip_bitcode as bc;

use super::intrinsics::Intrinsic;
use crate::ids::{FuncId, GlobalId, TypeId};
use crate::types::{Type, Types};

/// What a module-level symbol is in the linked program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Linked {
    Func(FuncId),
    Global {
        global: GlobalId,
        offset: i64,
    },
    /// An intrinsic that leaves no trace, a list for the linker, or an alias of something unknown.
    Nothing,
}

/// A module's numbers in terms of the program's.
#[derive(Debug, Default)]
pub(crate) struct ModuleLink {
    pub types: Vec<TypeId>,
    pub functions: Vec<Linked>,
    pub globals: Vec<Linked>,
    pub aliases: Vec<Linked>,
    pub ifuncs: Vec<Linked>,
    /// By raw function.
    pub intrinsics: Vec<Intrinsic>,
    /// Metadata numbers below this are the module's own; from there on they are a body's.
    pub metadata_len: u32,
}

/// Types that lowering needs without looking them up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CommonTypes {
    pub void: TypeId,
    pub ptr: TypeId,
    pub i1: TypeId,
    pub i8: TypeId,
    pub other: TypeId,
}

impl CommonTypes {
    pub fn intern(types: &mut Types) -> CommonTypes {
        CommonTypes {
            void: types.intern(Type::Void),
            ptr: types.intern(Type::Ptr),
            i1: types.intern(Type::Int(1)),
            i8: types.intern(Type::Int(8)),
            other: types.intern(Type::Other),
        }
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub module: &'a bc::RawModule,
    pub link: &'a ModuleLink,
    pub types: &'a Types,
    pub common: CommonTypes,
    /// By function of the program.
    pub taken: &'a [AtomicBool],
}

impl Context<'_> {
    pub fn ty(&self, raw: bc::TypeId) -> TypeId {
        self.link
            .types
            .get(raw.index())
            .copied()
            .unwrap_or(self.common.other)
    }

    /// What a module-level symbol was linked to; `None` for constants.
    pub fn linked(&self, value: bc::ModuleValue) -> Option<Linked> {
        let (table, index) = match value {
            bc::ModuleValue::Function(i) => (&self.link.functions, i),
            bc::ModuleValue::Global(i) => (&self.link.globals, i),
            bc::ModuleValue::Alias(i) => (&self.link.aliases, i),
            bc::ModuleValue::Ifunc(i) => (&self.link.ifuncs, i),
            bc::ModuleValue::Constant(_) => return None,
        };
        Some(
            table
                .get(index as usize)
                .copied()
                .unwrap_or(Linked::Nothing),
        )
    }

    /// The intrinsic behind a callee that is named directly.
    pub fn intrinsic(&self, callee: bc::ValueId) -> Intrinsic {
        match self.module.value(callee) {
            Some(bc::ModuleValue::Function(i)) => self
                .link
                .intrinsics
                .get(i as usize)
                .copied()
                .unwrap_or(Intrinsic::Call),
            _ => Intrinsic::Call,
        }
    }

    pub fn mark_taken(&self, func: FuncId) {
        if let Some(mark) = self.taken.get(func.index()) {
            // Reading first keeps the line shared between threads once it is set.
            if !mark.load(Ordering::Relaxed) {
                mark.store(true, Ordering::Relaxed);
            }
        }
    }
}
