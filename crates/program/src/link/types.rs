//! A module's types in terms of the program's, and the data layout string.

use drip_bitcode as bc;

use crate::ids::TypeId;
use crate::model::Strings;
use crate::types::{Layout, Type, Types};

/// Types nested in one another by value; deeper ones are opaque.
const MAX_NESTING: u32 = 100;

/// Types larger than this are opaque, so that sums of offsets don't overflow.
const MAX_BYTES: u64 = 1 << 60;

/// LLVM's own bound on integer widths; wider ones are opaque.
const MAX_INT_BITS: u32 = 1 << 23;

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
        let mapped = match self.build(raw, depth + 1) {
            Some(ty) => self.types.intern(ty),
            None => self.other,
        };
        self.open[index] = false;
        self.map[index] = Some(mapped);
        mapped
    }

    /// A type that a value can have.
    fn value(&mut self, raw: bc::TypeId, depth: u32) -> TypeId {
        let mapped = self.map(raw, depth);
        match self.types.get(mapped) {
            Type::Void | Type::Func { .. } => self.other,
            _ => mapped,
        }
    }

    /// `None` for what no valid module has.
    fn build(&mut self, raw: bc::TypeId, depth: u32) -> Option<Type> {
        use bc::RawType as R;
        let module = self.module;
        Some(match module.ty(raw)? {
            R::Void => Type::Void,
            R::Float(kind) => Type::Float(float_bits(*kind)),
            R::Integer(width @ 1..=MAX_INT_BITS) | R::Byte(width @ 1..=MAX_INT_BITS) => {
                Type::Int(*width)
            }
            R::X86Mmx => Type::Int(64),
            R::Pointer { .. } => Type::Ptr,
            R::Array { len, elem } => {
                let elem = self.element(*elem, *len, depth)?;
                Type::Array { elem, len: *len }
            }
            R::Vector { len, elem, .. } => {
                let len = u64::from(*len);
                let elem = self.element(*elem, len, depth)?;
                Type::Vector { elem, len }
            }
            R::Function {
                ret,
                params,
                vararg,
            } => Type::Func {
                ret: match self.map(*ret, depth) {
                    ret if matches!(self.types.get(ret), Type::Func { .. }) => self.other,
                    ret => ret,
                },
                params: params.iter().map(|p| self.value(*p, depth)).collect(),
                vararg: *vararg,
            },
            R::Struct {
                name,
                packed,
                elems,
                opaque: false,
            } => {
                let elems: Vec<TypeId> = elems.iter().map(|e| self.value(*e, depth)).collect();
                let name = name
                    .as_deref()
                    .map(|n| self.strings.intern(without_number(n)));
                let layout = self.types.lay_out(name, &elems, *packed);
                if layout.size > MAX_BYTES {
                    return None;
                }
                Type::Struct(layout)
            }
            _ => Type::Other,
        })
    }

    /// Element type of an array or vector; `None` when the whole is too large or nested too deep.
    fn element(&mut self, elem: bc::TypeId, len: u64, depth: u32) -> Option<TypeId> {
        let elem = self.value(elem, depth);
        let bytes = self.types.size_of(elem).checked_mul(len)?;
        let mut nesting = 0;
        let mut at = elem;
        while let Type::Array { elem, .. } | Type::Vector { elem, .. } = self.types.get(at) {
            nesting += 1;
            at = *elem;
        }
        (bytes <= MAX_BYTES && nesting < MAX_NESTING).then_some(elem)
    }
}

/// `struct.node.12` → `struct.node`. LLVM numbers the structures of one name as it meets them, in all that one process compiles: the number
/// says nothing about the structure, and two units that share a header must not differ by it.
fn without_number(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((name, number))
            if !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) =>
        {
            name
        }
        _ => name,
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
        // Sizes and alignments that are no power of two are nonsense.
        let mut bytes = || {
            let bits: u64 = fields.next()?.parse().ok()?;
            Some(bits / 8).filter(|n| n.is_power_of_two() && *n <= 64)
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
