//! What is known about the addresses of objects?
//!
//! An address is `high half : low half`, 32 bits each. Two objects' high halves differ, and the low half keeps a margin
//! at both ends, so that address + offset stays in the object's own stretch for every offset below the margin. This
//! is all that the stages assume; whatever order, alignment or hash the program makes of an address stays possible.
//!
//! Known limit: real objects may lie closer together than 4 GiB; a condition that holds only because of their small
//! distance is called infeasible.

use crate::term::{ObjKey, mask, to_signed};

/// Bits of the low half.
pub(crate) const LOW_BITS: u32 = 32;
/// Bits of the margin at each end of the low half.
pub(crate) const MARGIN_BITS: u32 = 20;
/// Smallest low half of an address.
pub const LOW_MIN: u64 = 1 << MARGIN_BITS;
/// Largest low half of an address.
pub const LOW_MAX: u64 = (1 << LOW_BITS) - 1 - LOW_MIN;
/// Low half of the addresses that are made up where nothing decides them.
const LOW_DEFAULT: u64 = 1 << 24;

/// Whether the word can be the address of an object.
pub fn can_be_address(value: u64) -> bool {
    (LOW_MIN..=LOW_MAX).contains(&(value & mask(LOW_BITS)))
}

/// The address that an object has where nothing says otherwise; different objects get different ones.
pub fn default_address(object: ObjKey) -> u64 {
    (u64::from(object.0.wrapping_add(1)) << LOW_BITS) | LOW_DEFAULT
}

/// Whether addresses of different objects can never be this far apart.
pub(crate) fn too_close(distance: u64) -> bool {
    // Different high halves and both low halves inside the margins: the distance exceeds twice the margin.
    to_signed(distance, 64).unsigned_abs() <= 2 * LOW_MIN
}
