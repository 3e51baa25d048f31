//! Decisions taken from a run of bytes. Behind its end every decision is the first option, so generators end.

/// A source of decisions.
pub struct Choices<'a> {
    bytes: &'a [u8],
}

impl<'a> Choices<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Choices { bytes }
    }

    pub fn byte(&mut self) -> u8 {
        match self.bytes.split_first() {
            Some((&first, rest)) => {
                self.bytes = rest;
                first
            }
            None => 0,
        }
    }

    /// A number below `n`, 0 if there is none.
    pub fn below(&mut self, n: usize) -> usize {
        let mut value = usize::from(self.byte());
        if n > 256 {
            value = value << 8 | usize::from(self.byte());
        }
        value.checked_rem(n).unwrap_or(0)
    }

    pub fn chance(&mut self, percent: u8) -> bool {
        self.byte() % 100 >= 100 - percent.min(100)
    }

    /// One of the options, the first if there are no bytes left. `options` is not empty.
    pub fn pick<T: Copy>(&mut self, options: &[T]) -> T {
        options[self.below(options.len())]
    }
}
