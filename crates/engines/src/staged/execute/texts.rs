//! Results that a constant text among the arguments tells: its length, or how much a format prints at least.

use drip_models::{Class, TextResult};
use drip_program::Init;

use super::machine::Machine;
use super::summaries::Call;
use super::world::{Kind, Value, Word, World};

/// Texts are shorter than this: their length fits into an `int`.
const LONGEST_TEXT: i64 = 1 << 31;

impl Machine<'_, '_> {
    /// Assumes of a call's result what the text says.
    pub(super) fn assume_text(&mut self, world: &mut World, call: &Call<'_>, result: Word) {
        let classes = match call.summary.text {
            TextResult::Nothing => [None, None],
            TextResult::Length(n) => match self.text(call, n) {
                Some(text) => [Some(Class::Eq(text.len() as i64)), None],
                None => [Some(Class::NonNegative), Some(Class::Lt(LONGEST_TEXT))],
            },
            TextResult::Printed(n) => {
                let text = self.text(call, n);
                [text.map(|text| Class::Ge(literal(text))), None]
            }
        };
        for class in classes.into_iter().flatten() {
            self.assume_class(world, result.term, class);
        }
    }

    /// The constant text that an argument points to, without its end.
    fn text(&self, call: &Call<'_>, n: u16) -> Option<&[u8]> {
        let Some(Value::Word(word)) = call.args.get(usize::from(n)) else {
            return None;
        };
        let place = word.at?;
        let Kind::Global(global) = self.objects[place.obj] else {
            return None;
        };
        let program = self.context.program;
        let Init::Bytes(bytes) = &program.globals[global].init else {
            return None;
        };
        let start = usize::try_from(self.terms.as_int(place.off)?).ok()?;
        let text = bytes
            .get(start..)
            .filter(|_| self.context.constants.contains(global))?;
        let end = text.iter().position(|&byte| byte == 0)?;
        Some(&text[..end])
    }
}

/// How many characters a format prints whatever its arguments are: those that belong to no directive.
fn literal(format: &[u8]) -> i64 {
    let mut count = 0;
    let mut rest = format.iter();
    while let Some(&byte) = rest.next() {
        if byte != b'%' {
            count += 1;
            continue;
        }
        // A directive ends with its letter; a second `%` stands for itself.
        let is_last = |byte: &&u8| {
            **byte == b'%' || byte.is_ascii_alphabetic() && !b"hlLqjzt".contains(*byte)
        };
        if rest.find(is_last) == Some(&b'%') {
            count += 1;
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::literal;

    #[test]
    fn what_a_format_prints_at_least() {
        assert_eq!(literal(b" - %s %.*s\n"), 5);
        assert_eq!(literal(b"%5ld%%"), 1);
        assert_eq!(literal(b"%s"), 0);
        assert_eq!(literal(b"%"), 0);
    }
}
