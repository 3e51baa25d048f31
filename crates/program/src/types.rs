//! Machine types with their byte layout, interned once for the whole program.
//!
//! Pointers carry no pointee: with opaque pointers (LLVM ≥ 15) there is none, and the typed ones of older
//! versions collapse here, so that everything behind this room sees one kind of pointer.

use rustc_hash::FxHashMap;

use drip_base::IndexVec;

use crate::ids::{StrId, TypeId};

/// Size of a pointer in bytes on every target drip reads; 32-bit targets are laid out by their data layout string,
/// see [`Layout`].
pub const DEFAULT_POINTER_BYTES: u64 = 8;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    Void,
    /// Integer of the given bit width.
    Int(u32),
    /// Floating point of the given bit width.
    Float(u32),
    Ptr,
    /// Named or literal struct; `fields` are types with byte offsets.
    Struct(StructType),
    Array {
        elem: TypeId,
        len: u64,
    },
    Vector {
        elem: TypeId,
        len: u64,
    },
    Func {
        ret: TypeId,
        params: Box<[TypeId]>,
        vararg: bool,
    },
    /// Labels, metadata, tokens, opaque structs: never inspected, size 0.
    Other,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StructType {
    /// `struct.node` as LLVM names it; literal structs have none.
    pub name: Option<StrId>,
    pub fields: Box<[(TypeId, u64)]>,
    pub packed: bool,
    pub size: u64,
    pub align: u64,
}

/// The parts of the data layout that byte offsets need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    pub pointer_bytes: u64,
    pub big_endian: bool,
    /// ABI alignment in bytes of `i64` and of `double` (4 on 32-bit x86).
    pub align_i64: u64,
    pub align_f64: u64,
    pub align_f80: u64,
    pub align_i128: u64,
}

impl Default for Layout {
    fn default() -> Self {
        Layout {
            pointer_bytes: 8,
            big_endian: false,
            align_i64: 8,
            align_f64: 8,
            align_f80: 16,
            align_i128: 16,
        }
    }
}

/// All types of a program; equal types have equal ids.
#[derive(Clone, Debug, Default)]
pub struct Types {
    table: IndexVec<TypeId, Type>,
    known: FxHashMap<Type, TypeId>,
    pub layout: Layout,
}

impl Types {
    pub fn intern(&mut self, ty: Type) -> TypeId {
        if let Some(&id) = self.known.get(&ty) {
            return id;
        }
        let id = self.table.push(ty.clone());
        self.known.insert(ty, id);
        id
    }

    pub fn get(&self, id: TypeId) -> &Type {
        &self.table[id]
    }

    pub fn len(&self) -> usize {
        self.table.len()
    }

    pub fn is_empty(&self) -> bool {
        self.table.len() == 0
    }

    pub fn iter(&self) -> impl Iterator<Item = (TypeId, &Type)> {
        self.table.iter_enumerated()
    }

    pub fn is_ptr(&self, id: TypeId) -> bool {
        matches!(self.get(id), Type::Ptr)
    }

    /// Width in bits of an integer type.
    pub fn int_width(&self, id: TypeId) -> Option<u32> {
        match self.get(id) {
            Type::Int(width) => Some(*width),
            _ => None,
        }
    }

    /// Bytes that a value of the type takes in an array (size rounded up to the alignment).
    pub fn size_of(&self, id: TypeId) -> u64 {
        match self.get(id) {
            Type::Void | Type::Func { .. } | Type::Other => 0,
            Type::Int(width) => round_up(u64::from(*width).div_ceil(8), self.align_of(id)),
            Type::Float(bits) => round_up(u64::from(*bits).div_ceil(8), self.align_of(id)),
            Type::Ptr => self.layout.pointer_bytes,
            Type::Struct(s) => s.size,
            Type::Array { elem, len } => self.size_of(*elem).saturating_mul(*len),
            Type::Vector { elem, len } => self
                .size_of(*elem)
                .saturating_mul(*len)
                .checked_next_power_of_two()
                .unwrap_or(u64::MAX),
        }
    }

    pub fn align_of(&self, id: TypeId) -> u64 {
        match self.get(id) {
            Type::Void | Type::Func { .. } | Type::Other => 1,
            Type::Int(width) => match width {
                0..=8 => 1,
                9..=16 => 2,
                17..=32 => 4,
                33..=64 => self.layout.align_i64,
                _ => self.layout.align_i128,
            },
            Type::Float(bits) => match bits {
                0..=16 => 2,
                17..=32 => 4,
                33..=64 => self.layout.align_f64,
                80 => self.layout.align_f80,
                _ => 16,
            },
            Type::Ptr => self.layout.pointer_bytes,
            Type::Struct(s) => s.align,
            Type::Array { elem, .. } => self.align_of(*elem),
            Type::Vector { .. } => self.size_of(id).max(1),
        }
    }

    /// Lays a struct out by the rules of the data layout and interns it.
    pub fn intern_struct(&mut self, name: Option<StrId>, elems: &[TypeId], packed: bool) -> TypeId {
        let layout = self.lay_out(name, elems, packed);
        self.intern(Type::Struct(layout))
    }

    /// A struct with the offsets, size and alignment that the data layout gives it.
    pub fn lay_out(&self, name: Option<StrId>, elems: &[TypeId], packed: bool) -> StructType {
        let mut offset = 0u64;
        let mut align = 1u64;
        let mut fields = Vec::with_capacity(elems.len());
        for &elem in elems {
            let elem_align = if packed {
                1
            } else {
                self.align_of(elem).max(1)
            };
            offset = round_up(offset, elem_align);
            fields.push((elem, offset));
            offset = offset.saturating_add(self.size_of(elem));
            align = align.max(elem_align);
        }
        let size = round_up(offset, align);
        StructType {
            name,
            fields: fields.into(),
            packed,
            size,
            align,
        }
    }
}

fn round_up(value: u64, align: u64) -> u64 {
    value.div_ceil(align.max(1)).saturating_mul(align.max(1))
}
