//! Reads the textual form of a [`Program`] (grammar: [`print`](crate::print)).
//!
//! What the printer always writes, hands may leave out or write more freely:
//! - values, blocks and variables may have any name: `%p = load ptr %q`, `loop:`, `var buf`; they are numbered in the
//!   order of the text. The first block needs no label;
//! - without `unit` and `file` lines there is one nameless unit (and file, if a position asks for one);
//! - struct offsets, size and alignment follow the data layout where they are not given;
//! - where the operation names a type, a plain number is a constant of that type: `add i32 %x, 1`;
//! - `address_taken` is found by itself.
//!
//! The parser checks form only; [`verify`](crate::verify) checks meaning. It never panics, and every error has a position.

mod body;
mod inst;
mod items;
mod lexer;
mod source_types;
mod symbols;
mod types;

use std::borrow::Cow;
use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::address_taken::mark_address_taken;
use crate::ids::*;
use crate::model::*;
use crate::syntax::unquote;
use lexer::{Name, Tok, Token};

/// Why a text is not a program, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct ParseError {
    pub line: u32,
    /// In characters, from 1.
    pub column: u32,
    pub message: String,
}

impl ParseError {
    fn at(text: &str, offset: usize, message: impl Into<String>) -> ParseError {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        ParseError {
            line: count(before.matches('\n').count() + 1),
            column: count(before[line_start..].chars().count() + 1),
            message: message.into(),
        }
    }
}

type Result<T> = std::result::Result<T, ParseError>;

/// Reads a program.
pub fn parse_program(text: &str) -> Result<Program> {
    let mut parser = Parser::new(text, lexer::lex(text)?);
    parser.program()?;
    let mut program = parser.program;
    mark_address_taken(&mut program);
    Ok(program)
}

#[derive(Clone, Copy)]
enum Symbol {
    Global(GlobalId),
    Func(FuncId),
}

/// The highest id of a kind that the text refers to, and where.
#[derive(Clone, Copy, Default)]
struct Highest(Option<(u32, usize)>);

impl Highest {
    fn note(&mut self, id: u32, offset: usize) {
        if self.0.is_none_or(|(highest, _)| id > highest) {
            self.0 = Some((id, offset));
        }
    }
}

struct Parser<'t> {
    text: &'t str,
    tokens: Vec<Token<'t>>,
    at: usize,
    /// End of the statement at hand: what lies behind it looks like the end of the text.
    limit: usize,
    program: Program,
    named_structs: FxHashMap<(StrId, u32), TypeId>,
    numbered_structs: FxHashMap<&'t str, TypeId>,
    symbols: FxHashMap<(StrId, u32), Symbol>,
    /// How many of the symbols are globals.
    globals: usize,
    highest_file: Highest,
    highest_unit: Highest,
    highest_di: Highest,
}

impl<'t> Parser<'t> {
    fn new(text: &'t str, tokens: Vec<Token<'t>>) -> Self {
        Parser {
            text,
            limit: tokens.len(),
            tokens,
            at: 0,
            program: Program::default(),
            named_structs: FxHashMap::default(),
            numbered_structs: FxHashMap::default(),
            symbols: FxHashMap::default(),
            globals: 0,
            highest_file: Highest::default(),
            highest_unit: Highest::default(),
            highest_di: Highest::default(),
        }
    }

    // Statements.

    /// Splits a run of tokens into statements: one starts at each line's first token outside of all brackets.
    fn statements(&self, run: Range<usize>) -> Vec<Range<usize>> {
        let mut statements = Vec::new();
        let mut start = run.start;
        let mut depth = 0usize;
        for at in run.clone() {
            let Some(token) = self.tokens.get(at) else {
                break;
            };
            if depth == 0 && token.first_in_line && at > start {
                statements.push(start..at);
                start = at;
            }
            match token.tok {
                Tok::Punct('(' | '[' | '{') => depth += 1,
                Tok::Punct(')' | ']' | '}') => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        if start < run.end {
            statements.push(start..run.end);
        }
        statements
    }

    /// Goes to the start of a statement and sees nothing behind its end.
    fn enter(&mut self, statement: &Range<usize>) {
        self.at = statement.start;
        self.limit = statement.end;
    }

    fn expect_end(&self) -> Result<()> {
        match self.peek() {
            Tok::End => Ok(()),
            _ => Err(self.expected("end of line")),
        }
    }

    // Tokens.

    fn token(&self, ahead: usize) -> Option<&Token<'t>> {
        let at = self.at.saturating_add(ahead);
        self.tokens.get(at).filter(|_| at < self.limit)
    }

    fn peek(&self) -> Tok<'t> {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> Tok<'t> {
        self.token(ahead).map_or(Tok::End, |token| token.tok)
    }

    fn bump(&mut self) {
        self.at += 1;
    }

    fn offset(&self) -> usize {
        match self.token(0) {
            Some(token) => token.offset,
            // Behind the last token of the statement.
            None => match self
                .limit
                .checked_sub(1)
                .and_then(|last| self.tokens.get(last))
            {
                Some(last) => {
                    let rest = self.text.get(last.offset..).unwrap_or_default();
                    last.offset + rest.find('\n').unwrap_or(rest.len())
                }
                None => 0,
            },
        }
    }

    fn error(&self, message: impl Into<String>) -> ParseError {
        ParseError::at(self.text, self.offset(), message)
    }

    fn error_at(&self, offset: usize, message: impl Into<String>) -> ParseError {
        ParseError::at(self.text, offset, message)
    }

    fn expected(&self, what: &str) -> ParseError {
        let found = match self.peek() {
            Tok::Word(word) => format!("`{word}`"),
            Tok::Name(name) => format!("`{}{}`", name.sigil, name.raw),
            Tok::Str(_) => "a string".to_owned(),
            Tok::Int { value, .. } => format!("`{value}`"),
            Tok::Punct(c) => format!("`{c}`"),
            Tok::Arrow => "`->`".to_owned(),
            Tok::Dots => "`...`".to_owned(),
            Tok::End => "end of line".to_owned(),
        };
        self.error(format!("expected {what}, found {found}"))
    }

    fn eat(&mut self, punct: char) -> bool {
        let found = self.peek() == Tok::Punct(punct);
        self.at += usize::from(found);
        found
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.peek() == Tok::Word(word);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, punct: char) -> Result<()> {
        if self.eat(punct) {
            Ok(())
        } else {
            Err(self.expected(&format!("`{punct}`")))
        }
    }

    fn expect_word(&mut self, word: &str) -> Result<()> {
        if self.eat_word(word) {
            Ok(())
        } else {
            Err(self.expected(&format!("`{word}`")))
        }
    }

    fn word(&mut self, what: &str) -> Result<&'t str> {
        match self.peek() {
            Tok::Word(word) => {
                self.bump();
                Ok(word)
            }
            _ => Err(self.expected(what)),
        }
    }

    /// A number that fits into `T`.
    fn int<T: TryFrom<i128>>(&mut self, what: &str) -> Result<T> {
        match self.peek() {
            Tok::Int { value, .. } => {
                let fitted = T::try_from(value);
                let fitted = fitted.map_err(|_| self.error(format!("{what} is out of range")))?;
                self.bump();
                Ok(fitted)
            }
            _ => Err(self.expected(what)),
        }
    }

    /// `item, item, …` up to `close`, which is taken, too. The opening bracket was taken already.
    fn list(&mut self, close: char, mut item: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        while !self.eat(close) {
            item(self)?;
            if !self.eat(',') && self.peek() != Tok::Punct(close) {
                return Err(self.expected(&format!("`,` or `{close}`")));
            }
        }
        Ok(())
    }

    fn bytes(&mut self) -> Result<Vec<u8>> {
        match self.peek() {
            Tok::Str(raw) => {
                let bytes = self.unescape(raw)?;
                self.bump();
                Ok(bytes)
            }
            _ => Err(self.expected("a string")),
        }
    }

    fn unescape(&self, raw: &str) -> Result<Vec<u8>> {
        unquote(raw).map_err(|_| self.error("bad escape in string"))
    }

    /// The text of a string.
    fn string(&mut self) -> Result<String> {
        let offset = self.offset();
        String::from_utf8(self.bytes()?).map_err(|_| self.error_at(offset, "expected UTF-8"))
    }

    /// A string, interned.
    fn str_id(&mut self) -> Result<StrId> {
        let text = self.string()?;
        Ok(self.program.strings.intern(&text))
    }

    /// The text of a name, unquoted.
    fn name_text(&self, name: Name<'t>) -> Result<Cow<'t, str>> {
        if !name.quoted {
            return Ok(Cow::Borrowed(name.raw));
        }
        let bytes = self.unescape(name.raw)?;
        String::from_utf8(bytes)
            .map(Cow::Owned)
            .map_err(|_| self.error("expected UTF-8"))
    }

    /// `@name`, as its key in the symbol table.
    fn symbol_key(&mut self) -> Result<(StrId, u32)> {
        match self.peek() {
            Tok::Name(name) if name.sigil == '@' => {
                let text = self.name_text(name)?;
                self.bump();
                Ok((self.program.strings.intern(&text), name.ordinal))
            }
            _ => Err(self.expected("a symbol")),
        }
    }

    fn symbol(&mut self) -> Result<Symbol> {
        let offset = self.offset();
        let key = self.symbol_key()?;
        match self.symbols.get(&key) {
            Some(&symbol) => Ok(symbol),
            None => {
                let name = self.program.strings.get(key.0);
                Err(self.error_at(offset, format!("unknown symbol @{name}")))
            }
        }
    }

    /// The byte offset behind a global's name: `+8` or `-8`, without a space before it.
    fn glued_offset(&mut self) -> Result<i64> {
        match self.token(0) {
            Some(Token {
                tok: Tok::Int { signed: true, .. },
                glued: true,
                ..
            }) => self.int("offset"),
            _ => Ok(0),
        }
    }

    // Ids that are written as a word: `file0`, `u1`, `d12`.

    fn try_id(&mut self, prefix: &str) -> Option<u32> {
        let Tok::Word(word) = self.peek() else {
            return None;
        };
        let number = numbered(word, prefix)?;
        self.bump();
        Some(number)
    }

    fn id(&mut self, prefix: &str) -> Result<u32> {
        self.try_id(prefix)
            .ok_or_else(|| self.expected(&format!("`{prefix}` and a number")))
    }

    fn di_id(&mut self) -> Result<DiTypeId> {
        let offset = self.offset();
        let id = self.id("d")?;
        self.highest_di.note(id, offset);
        Ok(DiTypeId::from_u32(id))
    }
}

/// The number of an id such as `v12`; no leading zeros, so that each id has one spelling.
fn numbered(word: &str, prefix: &str) -> Option<u32> {
    let digits = word.strip_prefix(prefix)?;
    let canonical = digits == "0" || !digits.starts_with(['0', '+', '-']);
    digits.parse().ok().filter(|_| canonical)
}
