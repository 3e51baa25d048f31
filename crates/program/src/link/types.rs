//! A module's types in terms of the program's, and the data layout string.

use drip_bitcode as bc;

use crate::ids::TypeId;
use crate::model::Strings;
use crate::types::{Layout, Type, Types};

/// Types nested in one another by value; deeper ones are opaque.
const MAX_NESTING: u32 = 256;

/// Program type of every raw type.
pub(crate) fn map_types(
    module: &bc::RawModule,
    types: &mut Types,
    strings: &mut Strings,
) -> Vec<TypeId> {
    let other = types.intern(Type::Other);
    let mut mapper = Mapper {
        module,
        types,
        strings,
        map: vec![None; module.types.len()],
        open: Vec::new(),
        other,
    };
    mapper.open.resize(module.types.len(), false);
    (0..module.types.len())
        .map(|raw| mapper.map(bc::TypeId(raw as u32), 0))
        .collect()
}

struct Mapper<'a> {
    module: &'a bc::RawModule,
    types: &'a mut Types,
    strings: &'a mut Strings,
    map: Vec<Option<TypeId>>,
    /// Under construction: a type that contains itself by value is malformed.
    open: Vec<bool>,
    other: TypeId,
}

impl Mapper<'_> {
    fn map(&mut self, raw: bc::TypeId, depth: u32) -> TypeId {
        let index = raw.index();
        match self.map.get(index) {
            Some(Some(known)) => return *known,
            Some(None) if !self.open[index] && depth < MAX_NESTING => {}
            _ => return self.other,
        }
        self.open[index] = true;
        let mapped = self.build(raw, depth + 1);
        self.open[index] = false;
        self.map[index] = Some(mapped);
        mapped
    }

    fn build(&mut self, raw: bc::TypeId, depth: u32) -> TypeId {
        use bc::RawType as R;
        let module = self.module;
        let ty = match module.ty(raw) {
            Some(R::Void) => Type::Void,
            Some(R::Float(kind)) => Type::Float(float_bits(*kind)),
            Some(R::Integer(width) | R::Byte(width)) => Type::Int(*width),
            Some(R::X86Mmx) => Type::Int(64),
            Some(R::Pointer { .. }) => Type::Ptr,
            Some(R::Array { len, elem }) => Type::Array {
                elem: self.map(*elem, depth),
                len: *len,
            },
            Some(R::Vector { len, elem, .. }) => Type::Vector {
                elem: self.map(*elem, depth),
                len: u64::from(*len),
            },
            Some(R::Function {
                ret,
                params,
                vararg,
            }) => Type::Func {
                ret: self.map(*ret, depth),
                params: params.iter().map(|p| self.map(*p, depth)).collect(),
                vararg: *vararg,
            },
            Some(R::Struct {
                name,
                packed,
                elems,
                opaque: false,
            }) => {
                let elems: Vec<TypeId> = elems.iter().map(|e| self.map(*e, depth)).collect();
                let name = name.as_deref().map(|n| self.strings.intern(n));
                return self.types.intern_struct(name, &elems, *packed);
            }
            _ => Type::Other,
        };
        self.types.intern(ty)
    }
}

fn float_bits(kind: bc::FloatKind) -> u32 {
    match kind {
        bc::FloatKind::Half | bc::FloatKind::BFloat => 16,
        bc::FloatKind::Float => 32,
        bc::FloatKind::Double => 64,
        bc::FloatKind::X86Fp80 => 80,
        bc::FloatKind::Fp128 | bc::FloatKind::PpcFp128 => 128,
    }
}

/// Reads an LLVM data layout string (`e-m:e-p:32:32-i64:64-…`).
pub(crate) fn parse_layout(text: &str) -> Layout {
    // LLVM's own defaults where the string is silent.
    let mut layout = Layout {
        pointer_bytes: 8,
        big_endian: false,
        align_i64: 4,
        align_f64: 8,
        align_f80: 16,
        align_i128: 0,
    };
    for spec in text.split('-') {
        let mut fields = spec.split(':');
        let kind = fields.next().unwrap_or("");
        let mut bytes = || {
            fields
                .next()
                .and_then(|n| n.parse::<u64>().ok())
                .map(|bits| (bits / 8).max(1))
        };
        match kind {
            "E" => layout.big_endian = true,
            "p" | "p0" => layout.pointer_bytes = bytes().unwrap_or(layout.pointer_bytes),
            "i64" => layout.align_i64 = bytes().unwrap_or(layout.align_i64),
            "i128" => layout.align_i128 = bytes().unwrap_or(0),
            "f64" => layout.align_f64 = bytes().unwrap_or(layout.align_f64),
            "f80" => layout.align_f80 = bytes().unwrap_or(layout.align_f80),
            _ => {}
        }
    }
    if layout.align_i128 == 0 {
        layout.align_i128 = layout.align_i64;
    }
    layout
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layout_of_64_and_32_bit_x86() {
        let old =
            parse_layout("e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128");
        assert_eq!(
            (old.pointer_bytes, old.align_i64, old.align_i128),
            (8, 8, 8)
        );
        let new = parse_layout(
            "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128",
        );
        assert_eq!((new.align_i128, new.align_f80), (16, 16));
        let small = parse_layout(
            "e-m:e-p:32:32-p270:32:32-p271:32:32-p272:64:64-f64:32:64-f80:32-n8:16:32-S128",
        );
        assert_eq!(
            (
                small.pointer_bytes,
                small.align_i64,
                small.align_f64,
                small.align_f80
            ),
            (4, 4, 4, 4)
        );
        assert!(parse_layout("E-m:e-p:32:32-i64:64-n32-S64").big_endian);
    }
}
