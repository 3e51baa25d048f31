//! Bits and variable-width numbers, and the failures of reading them.
//!
//! Invariant: reading past the end yields zero bits and moves the position past the end, so that one
//! check per record is enough.

use crate::error::ErrorKind;

/// A failure inside a bitstream, before the file's name is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fail {
    /// Bit position inside the stream.
    pub bit: u64,
    /// What was wrong.
    pub what: ErrorKind,
}

pub(crate) type Res<T> = Result<T, Box<Fail>>;

/// Builds a failure; kept out of line because failures are rare.
#[cold]
pub(crate) fn fail<T>(bit: u64, what: ErrorKind) -> Res<T> {
    Err(Box::new(Fail { bit, what }))
}

/// A position in a stream of bits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cursor<'a> {
    data: &'a [u8],
    pos: u64,
    end: u64,
}

impl<'a> Cursor<'a> {
    /// A cursor over the bits `pos..end` of `data`; `end` is cut to the data.
    pub fn new(data: &'a [u8], pos: u64, end: u64) -> Self {
        let end = end.min(data.len() as u64 * 8);
        Self { data, pos, end }
    }

    /// Bit after the last one.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Current bit position, relative to the start of the stream.
    pub fn pos(&self) -> u64 {
        self.pos
    }

    /// Jumps to a bit position.
    pub fn seek(&mut self, pos: u64) {
        self.pos = pos;
    }

    /// Bits that are left.
    pub fn remaining(&self) -> u64 {
        self.end.saturating_sub(self.pos)
    }

    /// Whether a read went past the end.
    pub fn overrun(&self) -> bool {
        self.pos > self.end
    }

    /// At least 57 bits from the current position on, zeros past the end of the data.
    #[inline(always)]
    fn window(&self) -> u64 {
        let byte = (self.pos >> 3) as usize;
        let word = match self.data.get(byte..byte.wrapping_add(8)) {
            Some(bytes) => bytes.try_into().map_or(0, u64::from_le_bytes),
            None => self.window_at_end(byte),
        };
        word >> (self.pos & 7)
    }

    #[cold]
    fn window_at_end(&self, byte: usize) -> u64 {
        let rest = self.data.get(byte..).unwrap_or(&[]);
        let mut word = [0; 8];
        for (to, from) in word.iter_mut().zip(rest) {
            *to = *from;
        }
        u64::from_le_bytes(word)
    }

    /// Reads a field of at most 32 bits.
    #[inline(always)]
    pub fn fixed(&mut self, width: u32) -> u64 {
        debug_assert!(width <= 32);
        let value = self.window() & ((1 << width) - 1);
        self.pos += u64::from(width);
        value
    }

    /// Reads a number of chunks of `width` bits each (2 to 32), least significant chunk first.
    #[inline(always)]
    pub fn vbr(&mut self, width: u32) -> u64 {
        let more = 1u64 << (width - 1);
        let chunk = self.window() & (more * 2 - 1);
        self.pos += u64::from(width);
        if chunk & more == 0 {
            return chunk;
        }
        self.vbr_rest(chunk & (more - 1), width)
    }

    fn vbr_rest(&mut self, first: u64, width: u32) -> u64 {
        let more = 1u64 << (width - 1);
        let mut value = first;
        let mut shift = width - 1;
        loop {
            let chunk = self.window() & (more * 2 - 1);
            self.pos += u64::from(width);
            if shift >= 64 {
                // A number of more than 64 bits is malformed: force the overrun check to fire.
                self.pos = self.end.saturating_add(1);
                return value;
            }
            value |= (chunk & (more - 1)) << shift;
            if chunk & more == 0 {
                return value;
            }
            shift += width - 1;
        }
    }

    /// Moves to the next multiple of 32 bits.
    pub fn align32(&mut self) {
        self.pos = self.pos.saturating_add(31) & !31;
    }

    /// Fails when a read went past the end.
    pub fn check(&self) -> Res<()> {
        if self.overrun() {
            return fail(self.end, ErrorKind::UnexpectedEnd);
        }
        Ok(())
    }
}
