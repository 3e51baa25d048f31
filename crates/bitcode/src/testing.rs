//! A writer of bitstreams, for tests of records that no installed compiler writes any more.

/// Writes bits; blocks and records without abbreviations, unless fields are written by hand.
#[derive(Default)]
pub(crate) struct BitWriter {
    bytes: Vec<u8>,
    bits: u64,
    widths: Vec<(u32, usize)>,
}

impl BitWriter {
    /// A stream that starts with the magic number.
    pub fn bitcode() -> Self {
        let mut writer = Self::default();
        for byte in [0x42, 0x43, 0xC0, 0xDE] {
            writer.fixed(byte, 8);
        }
        writer
    }

    pub fn fixed(&mut self, value: u64, width: u32) -> &mut Self {
        for bit in 0..width {
            if self.bits.is_multiple_of(8) {
                self.bytes.push(0);
            }
            let last = self.bytes.last_mut().expect("a byte");
            *last |= ((value >> bit & 1) as u8) << (self.bits % 8);
            self.bits += 1;
        }
        self
    }

    pub fn vbr(&mut self, mut value: u64, width: u32) -> &mut Self {
        let more = 1u64 << (width - 1);
        while value >= more {
            self.fixed(value & (more - 1) | more, width);
            value >>= width - 1;
        }
        self.fixed(value, width)
    }

    pub fn align32(&mut self) -> &mut Self {
        while !self.bits.is_multiple_of(32) {
            self.fixed(0, 1);
        }
        self
    }

    fn width(&self) -> u32 {
        self.widths.last().map_or(2, |(width, _)| *width)
    }

    /// Writes an abbreviation id.
    pub fn abbrev_id(&mut self, id: u64) -> &mut Self {
        let width = self.width();
        self.fixed(id, width)
    }

    /// A block with ids of `width` bits, and what `contents` writes into it.
    pub fn block(&mut self, id: u32, width: u32, contents: impl FnOnce(&mut Self)) -> &mut Self {
        self.abbrev_id(1).vbr(u64::from(id), 8);
        self.vbr(u64::from(width), 4).align32().fixed(0, 32);
        let start = self.bytes.len();
        self.widths.push((width, start));
        contents(self);
        self.abbrev_id(0).align32();
        self.widths.pop();
        let words = ((self.bytes.len() - start) / 4) as u32;
        self.bytes[start - 4..start].copy_from_slice(&words.to_le_bytes());
        self
    }

    /// A record without abbreviation.
    pub fn record(&mut self, code: u32, ops: &[u64]) -> &mut Self {
        self.abbrev_id(3).vbr(u64::from(code), 6);
        self.vbr(ops.len() as u64, 6);
        ops.iter().for_each(|op| {
            self.vbr(*op, 6);
        });
        self
    }

    pub fn finish(&mut self) -> Vec<u8> {
        self.align32();
        std::mem::take(&mut self.bytes)
    }
}
