//! Everything outside of function bodies.

use crate::ids::*;
use crate::model::*;
use crate::syntax::*;

use super::lexer::Tok;
use super::{Highest, ParseError, Parser, Result, Symbol};

impl<'t> Parser<'t> {
    pub(super) fn program(&mut self) -> Result<()> {
        let mut items = self.statements(0..self.tokens.len());
        self.at = 0;
        if self.peek() == Tok::Word("program") {
            self.enter(&items.remove(0));
            self.bump();
            self.expect_end()?;
        }
        for item in &items {
            self.enter(item);
            self.declare_symbol()?;
        }
        for item in &items {
            self.enter(item);
            self.item()?;
            self.expect_end()?;
        }
        self.limit = self.tokens.len();
        self.close()
    }

    /// Gives a global or function its id before anything refers to it.
    fn declare_symbol(&mut self) -> Result<()> {
        let Tok::Word(word @ ("global" | "func" | "declare")) = self.peek() else {
            return Ok(());
        };
        self.bump();
        let offset = self.offset();
        let key = self.symbol_key()?;
        let symbol = if word == "global" {
            self.globals += 1;
            Symbol::Global(GlobalId::new(self.globals - 1))
        } else {
            Symbol::Func(FuncId::new(self.symbols.len() - self.globals))
        };
        match self.symbols.insert(key, symbol) {
            None => Ok(()),
            Some(_) => {
                let name = self.program.strings.get(key.0);
                Err(self.error_at(offset, format!("symbol @{name} is defined twice")))
            }
        }
    }

    fn item(&mut self) -> Result<()> {
        const ITEMS: &str = "`layout`, `type`, `file`, `unit`, `di`, `global`, `declare` or `func`";
        let Tok::Word(word) = self.peek() else {
            return Err(self.expected(ITEMS));
        };
        self.bump();
        match word {
            "layout" => self.layout(),
            "type" => self.type_item(),
            "file" => self.file(),
            "unit" => self.unit(),
            "di" => self.di_item(),
            "global" => self.global(),
            "declare" => self.function(false),
            "func" => self.function(true),
            _ => {
                self.at -= 1;
                Err(self.expected(ITEMS))
            }
        }
    }

    /// Supplies the implied unit and file, and checks that all files, units and source-level types exist.
    fn close(&mut self) -> Result<()> {
        let empty = self.program.strings.intern("");
        let has_symbols = !self.symbols.is_empty();
        if self.program.units.is_empty() && has_symbols {
            self.program.units.push(Unit {
                path: empty,
                source: empty,
                language: Language::C,
            });
        }
        if self.program.files.is_empty() && self.highest_file.0.is_some() {
            self.program.files.push(File {
                directory: empty,
                name: empty,
            });
        }
        self.check_highest(self.highest_file, self.program.files.len(), "file")?;
        self.check_highest(self.highest_unit, self.program.units.len(), "unit")?;
        self.check_highest(self.highest_di, self.program.di_types.len(), "di")
    }

    fn check_highest(&self, highest: Highest, len: usize, what: &str) -> Result<()> {
        match highest.0 {
            Some((id, offset)) if id as usize >= len => {
                Err(self.error_at(offset, format!("there is no {what} {id}")))
            }
            _ => Ok(()),
        }
    }

    fn layout(&mut self) -> Result<()> {
        let layout = &mut crate::types::Layout::default();
        while let Tok::Word(word) = self.peek() {
            self.bump();
            match word {
                "ptr" => layout.pointer_bytes = self.int("a size")?,
                "i64" => layout.align_i64 = self.int("an alignment")?,
                "f64" => layout.align_f64 = self.int("an alignment")?,
                "f80" => layout.align_f80 = self.int("an alignment")?,
                "i128" => layout.align_i128 = self.int("an alignment")?,
                "big_endian" => layout.big_endian = true,
                _ => {
                    self.at -= 1;
                    return Err(self.expected("a part of the layout"));
                }
            }
        }
        if !self.program.types.is_empty() {
            return Err(self.error("the layout must come before all types"));
        }
        self.program.types.layout = layout.clone();
        Ok(())
    }

    /// `file0`: the next id of its kind, so that the numbers in the text are those in memory.
    pub(super) fn next_id(&mut self, prefix: &str, next: usize) -> Result<()> {
        let offset = self.offset();
        if self.id(prefix)? as usize == next {
            Ok(())
        } else {
            Err(self.error_at(offset, format!("expected {prefix}{next}")))
        }
    }

    fn file(&mut self) -> Result<()> {
        self.next_id("file", self.program.files.len())?;
        let directory = self.str_id()?;
        let name = self.str_id()?;
        self.program.files.push(File { directory, name });
        Ok(())
    }

    fn unit(&mut self) -> Result<()> {
        self.next_id("u", self.program.units.len())?;
        let path = self.str_id()?;
        let mut source = self.program.strings.intern("");
        let mut language = Language::C;
        if self.eat_word("source") {
            source = self.str_id()?;
        }
        if self.eat_word("lang") {
            let offset = self.offset();
            let word = self.word("a language")?;
            language = meaning_of(LANGUAGE, word)
                .ok_or_else(|| self.error_at(offset, "expected `c`, `cxx` or `other`"))?;
        }
        self.program.units.push(Unit {
            path,
            source,
            language,
        });
        Ok(())
    }

    pub(super) fn twice(&self, offset: usize, what: &str, label: &str) -> ParseError {
        self.error_at(offset, format!("{what} {label} is defined twice"))
    }
}
