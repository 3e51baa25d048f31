//! Attributes of functions and parameters, as the program keeps them.

use drip_bitcode as bc;

use crate::model::{FuncAttrs, ParamAttrs};

pub(crate) fn func_attrs(list: bc::AttrList<'_>, vararg: bool, params: usize) -> FuncAttrs {
    use bc::AttrKind as A;
    let (set, ret) = (list.function(), list.ret());
    let memory = set.memory();
    let no_other = memory.other == bc::ModRef::None && !memory.is_none();
    let kind = set.alloc_kind();
    let bits = [
        (set.has(A::NoReturn), FuncAttrs::NORETURN),
        (set.has(A::NoUnwind), FuncAttrs::NOUNWIND),
        (memory.is_none(), FuncAttrs::READNONE),
        (
            memory.only_reads() && !memory.is_none(),
            FuncAttrs::READONLY,
        ),
        (
            no_other && memory.args != bc::ModRef::None,
            FuncAttrs::ARGMEMONLY,
        ),
        (
            no_other && memory.inaccessible != bc::ModRef::None,
            FuncAttrs::INACCESSIBLEMEM,
        ),
        (ret.has(A::NoAlias), FuncAttrs::NOALIAS_RETURN),
        (kind.is_some_and(|k| k.alloc()), FuncAttrs::ALLOC),
        (kind.is_some_and(|k| k.realloc()), FuncAttrs::REALLOC),
        (kind.is_some_and(|k| k.free()), FuncAttrs::FREE),
        (vararg, FuncAttrs::VARARG),
        (ret.has(A::NonNull), FuncAttrs::NONNULL_RETURN),
        (set.has(A::ReturnsTwice), FuncAttrs::RETURNS_TWICE),
        // `(...)` alone is what clang writes for `f()` in C.
        (vararg && params == 0, FuncAttrs::NO_PROTOTYPE),
        (set.has(A::Cold), FuncAttrs::COLD),
    ];
    FuncAttrs(
        bits.iter()
            .filter(|(on, _)| *on)
            .fold(0, |all, (_, bit)| all | bit),
    )
}

pub(crate) fn param_attrs(set: &bc::AttrSet) -> ParamAttrs {
    use bc::AttrKind as A;
    let bits = [
        (set.no_capture(), ParamAttrs::NOCAPTURE),
        (set.has(A::ReadOnly), ParamAttrs::READONLY),
        (set.has(A::ReadNone), ParamAttrs::READNONE),
        (set.has(A::WriteOnly), ParamAttrs::WRITEONLY),
        (set.has(A::Returned), ParamAttrs::RETURNED),
        (set.has(A::NonNull), ParamAttrs::NONNULL),
        (set.has(A::NoAlias), ParamAttrs::NOALIAS),
        (set.has(A::SRet), ParamAttrs::SRET),
        (set.has(A::ByVal), ParamAttrs::BYVAL),
        (set.has(A::AllocatedPointer), ParamAttrs::ALLOCPTR),
    ];
    ParamAttrs(
        bits.iter()
            .filter(|(on, _)| *on)
            .fold(0, |all, (_, bit)| all | bit),
    )
}

/// Flags that only say something about one unit's view and must not spread to others when declarations are merged.
pub(crate) const UNIT_ONLY: u32 = FuncAttrs::VARARG | FuncAttrs::NO_PROTOTYPE;
