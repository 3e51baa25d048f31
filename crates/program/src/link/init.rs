//! What a global holds at program start.

use drip_bitcode as bc;
use rayon::prelude::*;

use super::{Linkage, context};
use crate::ids::{GlobalId, TypeId};
use crate::lower::context::{Context, Linked};
use crate::lower::fold::{Base, Folded, Folder, truncate};
use crate::model::{Init, Scalar};
use crate::types::Type;

/// Globals larger than this keep the addresses in them only: tables of numbers that large say nothing about memory.
const MAX_NUMBER_BYTES: u64 = 4096;

/// Byte strings longer than this are cut; `Init::Bytes` then holds their start.
const MAX_STRING_BYTES: usize = 1 << 16;

/// Elements of one initialiser that are looked at; the rest is left out, and the initialiser is not `complete`.
const MAX_ELEMENTS: u32 = 1 << 20;

/// Aggregates nested deeper than this are left out.
const MAX_NESTING: u32 = 64;

/// Initialisers of all globals that have one; modules in parallel.
pub(crate) fn initialisers(linked: &mut Linkage<'_>) {
    let shared = &*linked;
    let found: Vec<Vec<(GlobalId, Init)>> = (0..shared.modules.len())
        .into_par_iter()
        .map(|module| module_initialisers(shared, module))
        .collect();
    for (global, init) in found.into_iter().flatten() {
        linked.program.globals[global].init = init;
    }
}

fn module_initialisers(linked: &Linkage<'_>, module: usize) -> Vec<(GlobalId, Init)> {
    let cx = context(linked, module as u32);
    let raw = linked.modules[module].globals.iter().zip(&cx.link.globals);
    raw.filter_map(|(raw, at)| match *at {
        // Of several definitions only the one that was chosen counts.
        Linked::Global { global, offset: 0 }
            if linked.program.globals[global].unit.index() == module
                && raw.initializer.is_some() =>
        {
            Some((global, initialiser(cx, raw)))
        }
        _ => None,
    })
    .collect()
}

fn initialiser(cx: Context<'_>, global: &bc::RawGlobal) -> Init {
    let Some(value) = global.initializer else {
        return Init::Extern;
    };
    let folder = Folder { cx, body: None };
    if let Some((constant, table)) = folder.constant(value)
        && let bc::RawConst::String(range) = constant.kind
    {
        let bytes = range.of(&table.bytes);
        let size = usize::try_from(cx.types.size_of(cx.ty(global.ty))).unwrap_or(usize::MAX);
        if bytes.iter().any(|b| *b != 0) {
            return Init::Bytes(bytes[..bytes.len().min(MAX_STRING_BYTES).min(size)].into());
        }
        return Init::Zero;
    }
    let ty = cx.ty(global.ty);
    let numbers = cx.types.size_of(ty) <= MAX_NUMBER_BYTES;
    let mut flat = Flattener {
        folder,
        slots: Vec::new(),
        numbers,
        complete: true,
        fuel: MAX_ELEMENTS,
    };
    flat.value(value, ty, 0, 0);
    if flat.slots.is_empty() && flat.complete {
        return Init::Zero;
    }
    flat.slots.sort_by_key(|slot| slot.0);
    flat.keep_inside(cx.types.size_of(ty));
    Init::Slots {
        slots: flat.slots.into(),
        complete: flat.complete,
    }
}

struct Flattener<'a> {
    folder: Folder<'a>,
    slots: Vec<(u64, Scalar)>,
    /// Keep numbers too.
    numbers: bool,
    complete: bool,
    fuel: u32,
}

impl Flattener<'_> {
    fn value(&mut self, id: bc::ValueId, ty: TypeId, offset: u64, depth: u32) {
        let Some(fuel) = self.fuel.checked_sub(1) else {
            self.complete = false;
            return;
        };
        self.fuel = fuel;
        let bytes = self.folder.cx.types.size_of(ty).min(255) as u8;
        let scalar = match self.folder.fold(id) {
            Folded::Int(0) | Folded::Float(0) | Folded::Zero | Folded::Undef => return,
            Folded::Addr {
                base: Base::Null,
                offset: 0,
            } => return,
            Folded::Aggregate if depth < MAX_NESTING => {
                return self.aggregate(id, ty, offset, depth + 1);
            }
            Folded::Int(bits) => return self.number(offset, Scalar::Int { bits, bytes }),
            Folded::Addr {
                base: Base::Null,
                offset: number,
            } => Scalar::Int {
                bits: number as u64,
                bytes,
            },
            Folded::Addr {
                base: Base::Global(global),
                offset,
            } => Scalar::Global { global, offset },
            Folded::Addr {
                base: Base::Func(func),
                offset,
            } => {
                self.folder.cx.mark_taken(func);
                if offset == 0 {
                    Scalar::Func(func)
                } else {
                    Scalar::Opaque { bytes }
                }
            }
            Folded::AddrInt { base, .. } => {
                if let Base::Func(func) = base {
                    self.folder.cx.mark_taken(func);
                }
                Scalar::Opaque { bytes }
            }
            Folded::Float(_) => return self.number(offset, Scalar::Opaque { bytes }),
            Folded::Aggregate | Folded::Opaque => Scalar::Opaque { bytes },
        };
        self.slots.push((offset, scalar));
    }

    /// An initialiser of another type than its global, which only malformed modules have, may leave it or overlap.
    fn keep_inside(&mut self, size: u64) {
        let pointer = self.folder.cx.types.layout.pointer_bytes;
        let mut end = 0;
        let before = self.slots.len();
        self.slots.retain(|(offset, scalar)| {
            let bytes = match scalar {
                Scalar::Int { bytes, .. } | Scalar::Opaque { bytes } => u64::from(*bytes),
                Scalar::Global { .. } | Scalar::Func(_) => pointer,
            };
            let next = offset.saturating_add(bytes);
            let fits = *offset >= end && next <= size;
            if fits {
                end = next;
            }
            fits
        });
        self.complete &= self.slots.len() == before;
    }

    fn number(&mut self, offset: u64, scalar: Scalar) {
        if self.numbers {
            self.slots.push((offset, scalar));
        } else {
            self.complete = false;
        }
    }

    /// Type and offset of an element of an aggregate.
    fn place(&self, ty: TypeId, index: usize) -> Option<(TypeId, u64)> {
        let types = self.folder.cx.types;
        match types.get(ty) {
            Type::Struct(layout) => layout.fields.get(index).copied(),
            Type::Array { elem, .. } | Type::Vector { elem, .. } => {
                Some((*elem, (index as u64).saturating_mul(types.size_of(*elem))))
            }
            _ => None,
        }
    }

    fn aggregate(&mut self, id: bc::ValueId, ty: TypeId, offset: u64, depth: u32) {
        let Some((constant, table)) = self.folder.constant(id) else {
            return;
        };
        match constant.kind {
            bc::RawConst::Aggregate(range) => {
                for (index, &elem) in range.of(&table.operands).iter().enumerate() {
                    if let Some((ty, at)) = self.place(ty, index) {
                        self.value(elem, ty, offset.saturating_add(at), depth);
                    }
                }
            }
            bc::RawConst::String(range) => {
                for (index, &byte) in range.of(&table.bytes).iter().enumerate() {
                    self.plain(ty, index, offset, byte.into());
                }
            }
            bc::RawConst::Data(range) => {
                for (index, &word) in range.of(&table.words).iter().enumerate() {
                    self.plain(ty, index, offset, word);
                }
            }
            _ => {}
        }
    }

    /// An element of a table of numbers.
    fn plain(&mut self, ty: TypeId, index: usize, offset: u64, word: u64) {
        let (true, Some((ty, at))) = (word != 0, self.place(ty, index)) else {
            return;
        };
        let types = self.folder.cx.types;
        let bytes = types.size_of(ty).min(255) as u8;
        let scalar = match types.int_width(ty) {
            Some(width) => Scalar::Int {
                bits: truncate(word, width),
                bytes,
            },
            None => Scalar::Opaque { bytes },
        };
        self.number(offset.saturating_add(at), scalar);
    }
}
