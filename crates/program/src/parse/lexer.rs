//! Text → tokens. Lines matter (one statement each), so a token knows whether it is the first of its line.
//! Comments run from `;` or `//` to the end of the line.

use crate::syntax::{is_name_byte, is_name_start};

use super::ParseError;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tok<'t> {
    /// A bare word: keyword, id, label.
    Word(&'t str),
    Name(Name<'t>),
    /// What stands between quotes, escapes not yet undone.
    Str(&'t str),
    /// `signed`: a sign was written.
    Int {
        value: i128,
        signed: bool,
    },
    Punct(char),
    Arrow,
    Dots,
    End,
}

/// `@name`, `%name`, `%"odd name"`, `@name#2`, `%0`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Name<'t> {
    pub sigil: char,
    pub raw: &'t str,
    pub quoted: bool,
    pub ordinal: u32,
}

#[derive(Clone, Copy, Debug)]
pub struct Token<'t> {
    pub tok: Tok<'t>,
    pub offset: usize,
    pub first_in_line: bool,
    /// No space before it.
    pub glued: bool,
}

pub fn lex(text: &str) -> Result<Vec<Token<'_>>, ParseError> {
    let mut lexer = Lexer { text, at: 0 };
    let mut tokens = Vec::with_capacity(text.len() / 4);
    loop {
        let from = lexer.at;
        let newline = lexer.skip_blank();
        let offset = lexer.at;
        let Some(byte) = lexer.peek(0) else {
            return Ok(tokens);
        };
        tokens.push(Token {
            tok: lexer.token(byte)?,
            offset,
            first_in_line: newline || from == 0,
            glued: offset == from,
        });
    }
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Lexer<'t> {
    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    fn error(&self, offset: usize, message: impl Into<String>) -> ParseError {
        ParseError::at(self.text, offset, message)
    }

    /// Skips space and comments; was there a line's end among it?
    fn skip_blank(&mut self) -> bool {
        let mut newline = false;
        while let Some(byte) = self.peek(0) {
            let comment = byte == b';' || (byte == b'/' && self.peek(1) == Some(b'/'));
            if comment {
                self.take_while(|b| b != b'\n');
            } else if byte.is_ascii_whitespace() {
                newline |= byte == b'\n';
                self.at += 1;
            } else {
                break;
            }
        }
        newline
    }

    fn take_while(&mut self, accept: impl Fn(u8) -> bool) -> &'t str {
        let from = self.at;
        while self.peek(0).is_some_and(&accept) {
            self.at += 1;
        }
        self.text.get(from..self.at).unwrap_or_default()
    }

    fn token(&mut self, byte: u8) -> Result<Tok<'t>, ParseError> {
        let next = self.peek(1);
        match byte {
            b'@' | b'%' if next.is_some_and(|b| b == b'"' || is_name_byte(b)) => self.name(byte),
            b'"' => Ok(Tok::Str(self.quoted()?)),
            b'0'..=b'9' => self.int(),
            b'+' | b'-' if next.is_some_and(|b| b.is_ascii_digit()) => self.int(),
            b'-' if next == Some(b'>') => {
                self.at += 2;
                Ok(Tok::Arrow)
            }
            b'.' if self.text.get(self.at..self.at + 3) == Some("...") => {
                self.at += 3;
                Ok(Tok::Dots)
            }
            b'@' | b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'<' | b'>' | b',' | b':' | b'='
            | b'*' | b'!' => {
                self.at += 1;
                Ok(Tok::Punct(byte as char))
            }
            _ if is_name_start(byte) => Ok(Tok::Word(self.take_while(is_name_byte))),
            _ => {
                let found = self
                    .text
                    .get(self.at..)
                    .and_then(|rest| rest.chars().next());
                let found = found.unwrap_or('\u{fffd}');
                Err(self.error(self.at, format!("unexpected character {found:?}")))
            }
        }
    }

    fn name(&mut self, sigil: u8) -> Result<Tok<'t>, ParseError> {
        self.at += 1;
        // `@8` is a byte offset, not a name.
        if sigil == b'@' && self.peek(0).is_some_and(|b| b.is_ascii_digit()) {
            return Ok(Tok::Punct('@'));
        }
        let quoted = self.peek(0) == Some(b'"');
        let raw = if quoted {
            self.quoted()?
        } else {
            self.take_while(is_name_byte)
        };
        let mut ordinal = 0;
        if self.peek(0) == Some(b'#') {
            self.at += 1;
            let from = self.at;
            let digits = self.take_while(|b| b.is_ascii_digit());
            ordinal = digits
                .parse()
                .map_err(|_| self.error(from, "expected a number behind #"))?;
        }
        Ok(Tok::Name(Name {
            sigil: sigil as char,
            raw,
            quoted,
            ordinal,
        }))
    }

    fn quoted(&mut self) -> Result<&'t str, ParseError> {
        let open = self.at;
        self.at += 1;
        let from = self.at;
        loop {
            match self.peek(0) {
                Some(b'"') => break,
                Some(b'\\') if self.peek(1).is_some_and(|b| b != b'\n') => self.at += 2,
                Some(b'\n') | None => return Err(self.error(open, "unterminated string")),
                Some(_) => self.at += 1,
            }
        }
        self.at += 1;
        match self.text.get(from..self.at - 1) {
            Some(raw) => Ok(raw),
            None => Err(self.error(open, "bad escape in string")),
        }
    }

    fn int(&mut self) -> Result<Tok<'t>, ParseError> {
        let from = self.at;
        let sign = self.peek(0).filter(|b| matches!(b, b'+' | b'-'));
        self.at += usize::from(sign.is_some());
        let hex = self.peek(0) == Some(b'0') && self.peek(1) == Some(b'x');
        self.at += if hex { 2 } else { 0 };
        let digits = self.take_while(|b| b.is_ascii_hexdigit() && (hex || b.is_ascii_digit()));
        let magnitude = u64::from_str_radix(digits, if hex { 16 } else { 10 })
            .map_err(|_| self.error(from, "expected a number of at most 64 bits"))?;
        let value = i128::from(magnitude);
        Ok(Tok::Int {
            value: if sign == Some(b'-') { -value } else { value },
            signed: sign.is_some(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn toks(text: &str) -> Vec<Tok<'_>> {
        lex(text).unwrap().into_iter().map(|t| t.tok).collect()
    }

    fn at(raw: &str, ordinal: u32) -> Tok<'_> {
        Tok::Name(Name {
            sigil: '@',
            raw,
            quoted: false,
            ordinal,
        })
    }

    #[test]
    fn names_offsets_and_numbers() {
        let int = |value, signed| Tok::Int { value, signed };
        assert_eq!(toks("@g+8"), [at("g", 0), int(8, true)]);
        assert_eq!(toks("@.str.1#2"), [at(".str.1", 2)]);
        assert_eq!(
            toks("@8 0xff"),
            [Tok::Punct('@'), int(8, false), int(255, false)]
        );
        assert_eq!(toks("-> -5 ..."), [Tok::Arrow, int(-5, true), Tok::Dots]);
    }

    #[test]
    fn lines_and_comments() {
        let tokens = lex("a b ; x\n // y\n c").unwrap();
        let firsts: Vec<bool> = tokens.iter().map(|t| t.first_in_line).collect();
        assert_eq!(firsts, [true, false, true]);
    }

    #[test]
    fn errors_have_a_position() {
        let error = |text| lex(text).unwrap_err().to_string();
        assert_eq!(error("a\n  \"x"), "2:3: unterminated string");
        assert_eq!(error("é"), "1:1: unexpected character 'é'");
        assert_eq!(error("@f#"), "1:4: expected a number behind #");
        assert_eq!(
            error("99999999999999999999"),
            "1:1: expected a number of at most 64 bits"
        );
        assert!(lex("\"a\\é\"").is_ok() && lex("\"\\").is_err());
    }
}
