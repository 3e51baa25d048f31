//! Binding markers from debug records, for input that went through LLVM's own promotion.

use drip_bitcode as bc;

use super::emit::Emitter;
use crate::body::Op;
use crate::ids::BlockId;

impl Emitter<'_, '_> {
    /// A value record becomes a binding marker.
    pub fn debug_record(&mut self, at: usize, block: BlockId) {
        let record = self.raw.debug_records[at];
        let bc::DebugValue::Value(value) = record.value else {
            return;
        };
        if record.kind != bc::DebugRecordKind::Value
            || self.is_gone(value)
            || self.is_unknown(value)
        {
            return;
        }
        if !self.is_known_at(value, record.before, block) {
            return;
        }
        let raw_loc = record.loc.and_then(|l| self.raw.loc(l));
        let has_line = raw_loc.is_some_and(|l| l.line != 0);
        // LLVM's promotion binds variables to the phis that it places; no statement of the source does that.
        if !has_line && self.is_phi_of(value, block) {
            return;
        }
        let Some(var) = self.names.bound_var(&self.cx, self.raw, &record) else {
            return;
        };
        let value = self.operand(value);
        let mut loc = self.names.loc(&self.cx, self.raw, record.loc);
        if loc.is_none() {
            // The store is gone, and its position with it; what it stored was computed just before.
            let last = self.scratch.out.insts.last();
            let defined_last =
                value.as_value().map(|v| v.index() + 1) == Some(self.scratch.out.value_count());
            loc = last.filter(|_| defined_last).and_then(|inst| inst.loc);
        }
        self.push(Op::Bind { var, value }, self.cx.common.void, loc);
    }

    /// Is the value defined on every path to this place? Optimised code has records for which it isn't.
    fn is_known_at(&self, value: bc::ValueId, before: u32, block: BlockId) -> bool {
        let Some(bc::LocalValue::Inst(index)) = self.raw.local(value) else {
            return true;
        };
        let home = self
            .raw
            .blocks
            .partition_point(|range| range.start <= index);
        let Some(mut home) = home.checked_sub(1).map(|at| bc::BlockId(at as u32)) else {
            return false;
        };
        // What an invoke returns exists where it went well.
        let kind = self.raw.insts.get(index as usize).map(|inst| inst.kind);
        if let Some(bc::RawInstKind::Invoke { normal, .. }) = kind {
            home = normal;
        } else if self.flow.reached(home) == Some(block) {
            return index < before;
        }
        match (self.flow.reached(home), self.dom) {
            (Some(home), Some(dom)) => dom.dominates(home, block),
            _ => false,
        }
    }

    fn is_phi_of(&self, value: bc::ValueId, block: BlockId) -> bool {
        let Some(bc::LocalValue::Inst(index)) = self.raw.local(value) else {
            return false;
        };
        let range = self.raw.blocks[self.flow.raw_of[block.index()] as usize];
        let kind = self.raw.insts.get(index as usize).map(|inst| inst.kind);
        matches!(kind, Some(bc::RawInstKind::Phi { .. }))
            && (range.start..range.start.saturating_add(range.len)).contains(&index)
    }

    /// Undef and poison: the debug info has lost the variable.
    fn is_unknown(&self, value: bc::ValueId) -> bool {
        let kind = self
            .folder
            .constant(value)
            .map(|(constant, _)| constant.kind);
        matches!(kind, Some(bc::RawConst::Undef | bc::RawConst::Poison))
    }
}
