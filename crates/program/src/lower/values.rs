//! Which operand of the body under construction stands for a raw local value?
//!
//! A body is emitted in one pass; an operand whose value has no number yet (defined in a later block, or a load of a
//! promoted slot) is written as a reference to the raw value and replaced at the end. References use bit 30, which no
//! finished operand has set.

use crate::body::Operand;

const PENDING: u32 = 1 << 30;
const CONST_BIT: u32 = 1 << 31;
const UNSET: u32 = u32::MAX;

/// Bodies with more local values than this can't be numbered with the tag bit in place.
pub(crate) const MAX_LOCALS: usize = PENDING as usize;

#[derive(Default)]
pub(crate) struct ValueMap {
    map: Vec<u32>,
}

impl ValueMap {
    pub fn reset(&mut self, locals: usize) {
        self.map.clear();
        self.map.resize(locals, UNSET);
    }

    /// The operand, possibly pending, that a local value was given.
    pub fn get(&self, local: u32) -> Option<Operand> {
        self.map
            .get(local as usize)
            .filter(|bits| **bits != UNSET)
            .map(|bits| Operand::from_bits(*bits))
    }

    pub fn set(&mut self, local: u32, operand: Operand) {
        if let Some(entry) = self.map.get_mut(local as usize) {
            *entry = operand.to_bits();
        }
    }

    /// A reference to whatever the local value turns out to be.
    pub fn pending(local: u32) -> Operand {
        Operand::from_bits(local | PENDING)
    }

    fn as_pending(operand: Operand) -> Option<u32> {
        let bits = operand.to_bits();
        (bits & (PENDING | CONST_BIT) == PENDING).then_some(bits & !PENDING)
    }

    /// Follows references; `Err` names the local value that never got an operand.
    pub fn resolve(&self, operand: Operand) -> Result<Operand, u32> {
        let mut at = operand;
        // A chain longer than the table is a cycle, which only malformed input has.
        for _ in 0..=self.map.len() {
            match Self::as_pending(at) {
                None => return Ok(at),
                Some(local) => at = self.get(local).ok_or(local)?,
            }
        }
        Err(Self::as_pending(operand).unwrap_or(UNSET))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::ValueId;

    #[test]
    fn references_are_followed_and_cycles_end() {
        let mut map = ValueMap::default();
        map.reset(4);
        map.set(0, ValueMap::pending(1));
        assert_eq!(map.resolve(ValueMap::pending(0)), Err(1));
        map.set(1, Operand::value(ValueId::new(7)));
        assert_eq!(
            map.resolve(ValueMap::pending(0)),
            Ok(Operand::value(ValueId::new(7)))
        );
        map.set(2, ValueMap::pending(3));
        map.set(3, ValueMap::pending(2));
        assert_eq!(map.resolve(ValueMap::pending(2)), Err(2));
    }
}
