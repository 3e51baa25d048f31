//! Finds the candidates of a body and all accesses to them.
//!
//! Blocks are visited in reverse postorder, so that an address computation is seen before its uses.

use drip_bitcode as bc;

use super::{Access, AccessKind, Derived, NONE, Part, Promotion, Slot};
use crate::body::Operand;
use crate::ids::TypeId;
use crate::lower::context::Context;
use crate::lower::flow::Flow;
use crate::lower::fold::{Folder, walk_indices};
use crate::lower::intrinsics::Intrinsic;
use crate::lower::uses::for_each_value;

/// An aggregate with more parts in use than this stays in memory.
const MAX_PARTS: u32 = 64;

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
