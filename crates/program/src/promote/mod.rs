//! Which stack slots become SSA values?
//!
//! A slot (alloca) is promoted when its address goes nowhere: it is only loaded from and stored to at constant offsets,
//! and these accesses agree on one partition into (offset, type). A scalar variable is the case of one part. A `memset`
//! with a constant byte counts as stores to the parts that it covers. Everything else keeps the slot in memory: calls,
//! copies, address arithmetic with a variable index, volatile and atomic accesses, accesses that overlap or differ in
//! type (unions).
//!
//! Scanning follows reverse postorder, so that an address computation is seen before its uses.

pub(crate) mod place;
pub(crate) mod rename;

use drip_bitcode as bc;

use crate::body::Operand;
use crate::ids::{BlockId, TypeId, VarId};
use crate::lower::context::Context;
use crate::lower::flow::Flow;
use crate::lower::fold::{Folder, walk_indices};
use crate::lower::intrinsics::Intrinsic;
use crate::lower::uses::for_each_value;

/// An aggregate with more parts in use than this stays in memory.
const MAX_PARTS: u32 = 64;

pub(crate) const NONE: u32 = u32::MAX;

/// A candidate for promotion.
pub(crate) struct Slot {
    pub size: u64,
    /// Promoted, unless something spoke against it.
    pub alive: bool,
    /// First of its parts, linked by [`Part::next`]; `NONE` if it is never accessed.
    first: u32,
    parts: u32,
    /// Source variable that a debug declare names.
    pub var: Option<VarId>,
}

/// One scalar inside a candidate: a variable of the SSA construction.
pub(crate) struct Part {
    pub slot: u32,
    pub offset: i64,
    pub size: u64,
    pub ty: TypeId,
    next: u32,
    /// Source variable (or its field) that stores to the part bind.
    pub var: Option<VarId>,
    /// Some path from the entry reads the part before it is written.
    pub read_uninit: bool,
    /// First of the blocks that access the part, linked by `BlockUse::next`.
    uses: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AccessKind {
    Load,
    Store,
    /// memset: all parts of the slot in a range of bytes get the same byte.
    Set {
        start: i64,
        end: i64,
        byte: u8,
    },
}

/// A load from or store to a candidate.
pub(crate) struct Access {
    /// Raw instruction.
    pub inst: u32,
    /// Of a load: its result, as local value.
    pub local: u32,
    pub slot: u32,
    /// `NONE` for `Set`.
    pub part: u32,
    pub kind: AccessKind,
    /// Of a store: what is stored. Filled when the instruction is emitted.
    pub value: Operand,
}

/// The address of a candidate plus an offset.
#[derive(Clone, Copy)]
struct Derived {
    slot: u32,
    offset: i64,
}

/// What the scan and the phi placement found; memory is reused from body to body.
#[derive(Default)]
pub(crate) struct Promotion {
    derived: Vec<Derived>,
    pub slots: Vec<Slot>,
    pub parts: Vec<Part>,
    pub accesses: Vec<Access>,
    /// By final block: its accesses, in order.
    ranges: Vec<(u32, u32)>,
    pub phis: place::Phis,
    pub uses: Vec<place::BlockUse>,
}

impl Promotion {
    pub fn reset(&mut self, locals: usize, blocks: usize) {
        self.derived.clear();
        self.derived.resize(
            locals,
            Derived {
                slot: NONE,
                offset: 0,
            },
        );
        self.slots.clear();
        self.parts.clear();
        self.accesses.clear();
        self.ranges.clear();
        self.ranges.resize(blocks, (0, 0));
        self.phis.clear();
        self.uses.clear();
    }

    pub fn access_range(&self, block: BlockId) -> std::ops::Range<usize> {
        let (start, end) = self.ranges.get(block.index()).copied().unwrap_or((0, 0));
        start as usize..end as usize
    }

    /// Is the access to a slot that was promoted?
    pub fn is_promoted(&self, access: &Access) -> bool {
        self.slots[access.slot as usize].alive
    }

    /// The candidate that a local value is the address of.
    pub fn slot_of(&self, local: u32) -> Option<u32> {
        let derived = self.derived.get(local as usize)?;
        (derived.slot != NONE).then_some(derived.slot)
    }

    /// The candidate that starts at the address which a local value is.
    pub fn slot_at(&self, local: u32) -> Option<u32> {
        let derived = self.derived.get(local as usize)?;
        (derived.slot != NONE && derived.offset == 0).then_some(derived.slot)
    }

    /// Is this local value the address of (a part of) a promoted slot?
    pub fn is_gone(&self, local: u32) -> bool {
        self.slot_of(local)
            .is_some_and(|slot| self.slots[slot as usize].alive)
    }

    /// Parts of a slot whose bytes lie in a range.
    pub fn parts_in(&self, slot: u32, start: i64, end: i64) -> impl Iterator<Item = u32> + '_ {
        let mut at = self.slots[slot as usize].first;
        std::iter::from_fn(move || {
            while at != NONE {
                let id = at;
                let part = &self.parts[id as usize];
                at = part.next;
                if part.offset >= start && part.end() <= end {
                    return Some(id);
                }
            }
            None
        })
    }
}

impl Part {
    fn end(&self) -> i64 {
        self.offset.saturating_add_unsigned(self.size)
    }
}

/// Finds candidates and their accesses.
pub(crate) struct Scan<'a> {
    pub cx: Context<'a>,
    pub body: &'a bc::RawBody,
    pub flow: &'a Flow,
    pub out: &'a mut Promotion,
}

impl Scan<'_> {
    pub fn run(mut self) {
        for at in 0..self.flow.rpo.len() {
            let block = self.flow.rpo[at];
            let range = self.body.blocks[self.flow.raw_of[block.index()] as usize];
            let first = self.out.accesses.len() as u32;
            for (offset, inst) in range.of(&self.body.insts).iter().enumerate() {
                self.inst(range.start + offset as u32, inst);
            }
            self.out.ranges[block.index()] = (first, self.out.accesses.len() as u32);
        }
        self.check_sets();
    }

    fn local(&self, value: bc::ValueId) -> Option<usize> {
        value
            .0
            .checked_sub(self.body.first_value)
            .map(|v| v as usize)
    }

    fn derived(&self, value: bc::ValueId) -> Option<Derived> {
        let derived = self.out.derived.get(self.local(value)?)?;
        (derived.slot != NONE).then_some(*derived)
    }

    fn derive(&mut self, result: Option<bc::ValueId>, from: Derived) {
        if let Some(local) = result.and_then(|r| self.local(r))
            && let Some(slot) = self.out.derived.get_mut(local)
        {
            *slot = from;
        }
    }

    fn fail(&mut self, slot: u32) {
        self.out.slots[slot as usize].alive = false;
    }

    fn fail_all_uses(&mut self, inst: &bc::RawInst) {
        let (body, first) = (self.body, self.body.first_value);
        let out = &mut *self.out;
        for_each_value(body, inst, |value| {
            if let Some(local) = value.0.checked_sub(first)
                && let Some(slot) = out.slot_of(local)
            {
                out.slots[slot as usize].alive = false;
            }
        });
    }

    fn inst(&mut self, index: u32, inst: &bc::RawInst) {
        use bc::RawInstKind as K;
        match inst.kind {
            K::Alloca {
                allocated,
                count,
                inalloca,
            } => self.alloca(inst, allocated, count, inalloca),
            K::Load {
                address,
                volatile,
                ordering,
            } => {
                if let Some(at) = self.derived(address) {
                    self.access(index, at, inst.ty, AccessKind::Load, volatile, ordering);
                }
            }
            K::Store {
                address,
                value,
                volatile,
                ordering,
            } => {
                if let Some(stored) = self.derived(value) {
                    self.fail(stored.slot);
                }
                if let Some(at) = self.derived(address) {
                    match self.body.value_type(self.cx.module, value) {
                        Some(ty) => {
                            self.access(index, at, ty, AccessKind::Store, volatile, ordering)
                        }
                        None => self.fail(at.slot),
                    }
                }
            }
            K::Gep {
                source_ty,
                operands,
                ..
            } => self.gep(inst, source_ty, operands),
            K::Cast {
                op: bc::CastOp::BitCast | bc::CastOp::AddrSpaceCast,
                value,
            }
            | K::Freeze { value } => {
                if let Some(at) = self.derived(value) {
                    self.derive(inst.result, at);
                }
            }
            K::Call(call) => self.call(index, inst, call),
            _ => self.fail_all_uses(inst),
        }
    }

    fn alloca(
        &mut self,
        inst: &bc::RawInst,
        allocated: bc::TypeId,
        count: bc::ValueId,
        inalloca: bool,
    ) {
        let folder = Folder {
            cx: self.cx,
            body: Some(self.body),
        };
        if inalloca || folder.int(count) != Some(1) {
            return;
        }
        let slot = self.out.slots.len() as u32;
        let size = self.cx.types.size_of(self.cx.ty(allocated));
        self.out.slots.push(Slot {
            size,
            alive: true,
            first: NONE,
            parts: 0,
            var: None,
        });
        self.derive(inst.result, Derived { slot, offset: 0 });
    }

    fn gep(&mut self, inst: &bc::RawInst, source_ty: bc::TypeId, operands: bc::PoolRange) {
        let pool = self.body.operands(operands);
        let Some(base) = pool
            .first()
            .and_then(|o| o.as_value())
            .and_then(|v| self.derived(v))
        else {
            return;
        };
        let folder = Folder {
            cx: self.cx,
            body: Some(self.body),
        };
        let indices = pool[1..].iter().filter_map(|o| o.as_value());
        let walked = walk_indices(&self.cx, source_ty, indices, |id| folder.int(id));
        match walked {
            Some(walked) if !walked.variable && self.cx.ty(inst.ty) == self.cx.common.ptr => {
                let offset = base.offset.wrapping_add(walked.offset);
                self.derive(
                    inst.result,
                    Derived {
                        slot: base.slot,
                        offset,
                    },
                );
            }
            _ => self.fail(base.slot),
        }
    }

    fn call(&mut self, index: u32, inst: &bc::RawInst, call: bc::CallId) {
        let Some(call) = self.body.call(call) else {
            return;
        };
        let arg = |n: usize| {
            self.body
                .operands(call.args)
                .get(n)
                .and_then(|o| o.as_value())
        };
        match self.cx.intrinsic(call.callee) {
            Intrinsic::Drop => {}
            Intrinsic::Operand(n) => {
                if let Some(at) = arg(n.into()).and_then(|v| self.derived(v)) {
                    self.derive(inst.result, at);
                }
            }
            Intrinsic::MemSet => {
                let Some(at) = arg(0).and_then(|v| self.derived(v)) else {
                    return;
                };
                let folder = Folder {
                    cx: self.cx,
                    body: Some(self.body),
                };
                let number = |n| arg(n).and_then(|v| folder.int(v));
                let inside = |len: &i64| {
                    at.offset >= 0
                        && *len >= 0
                        && at.offset.saturating_add(*len) as u64
                            <= self.out.slots[at.slot as usize].size
                };
                match (number(1), number(2).filter(inside)) {
                    (Some(byte), Some(len)) => {
                        let kind = AccessKind::Set {
                            start: at.offset,
                            end: at.offset + len,
                            byte: byte as u8,
                        };
                        self.push_access(index, at.slot, NONE, kind);
                    }
                    _ => self.fail(at.slot),
                }
            }
            _ => self.fail_all_uses(inst),
        }
    }

    fn push_access(&mut self, inst: u32, slot: u32, part: u32, kind: AccessKind) {
        let result = self.body.insts.get(inst as usize).and_then(|i| i.result);
        let local = result
            .and_then(|r| self.local(r))
            .map_or(NONE, |l| l as u32);
        let value = Operand::from_bits(NONE);
        self.out.accesses.push(Access {
            inst,
            local,
            slot,
            part,
            kind,
            value,
        });
    }

    fn access(
        &mut self,
        inst: u32,
        at: Derived,
        raw_ty: bc::TypeId,
        kind: AccessKind,
        volatile: bool,
        ordering: bc::Ordering,
    ) {
        if !self.out.slots[at.slot as usize].alive {
            return;
        }
        if volatile || ordering != bc::Ordering::NotAtomic {
            return self.fail(at.slot);
        }
        match self.part(at, self.cx.ty(raw_ty)) {
            Some(part) => self.push_access(inst, at.slot, part, kind),
            None => self.fail(at.slot),
        }
    }

    /// The part for an access; `None` when it does not fit the partition made by those before.
    fn part(&mut self, at: Derived, ty: TypeId) -> Option<u32> {
        let slot = &self.out.slots[at.slot as usize];
        let mut candidate = slot.first;
        let size = self.cx.types.size_of(ty);
        let end = at.offset.checked_add_unsigned(size)?;
        while candidate != NONE {
            let part = &self.out.parts[candidate as usize];
            if part.offset == at.offset && part.ty == ty {
                return Some(candidate);
            }
            if part.offset < end && at.offset < part.end() {
                return None;
            }
            candidate = part.next;
        }
        if at.offset < 0 || end as u64 > slot.size || size == 0 || slot.parts >= MAX_PARTS {
            return None;
        }
        let id = self.out.parts.len() as u32;
        self.out.parts.push(Part {
            slot: at.slot,
            offset: at.offset,
            size,
            ty,
            next: slot.first,
            var: None,
            read_uninit: false,
            uses: NONE,
        });
        let slot = &mut self.out.slots[at.slot as usize];
        slot.first = id;
        slot.parts += 1;
        Some(id)
    }

    /// A memset has to cover each part whole or not at all, and the byte has to make a value of the part's type.
    fn check_sets(&mut self) {
        for access in &self.out.accesses {
            let AccessKind::Set { start, end, byte } = access.kind else {
                continue;
            };
            let mut at = self.out.slots[access.slot as usize].first;
            while at != NONE {
                let part = &self.out.parts[at as usize];
                let touches = part.offset < end && start < part.end();
                let covers = start <= part.offset && part.end() <= end;
                let is_number = self.cx.types.int_width(part.ty).is_some_and(|w| w <= 64);
                if touches && !(covers && (byte == 0 || is_number)) {
                    self.out.slots[access.slot as usize].alive = false;
                }
                at = part.next;
            }
        }
    }
}
