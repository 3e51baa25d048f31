//! Text form of summaries: printer and parser, one language for library models, dumps and tests.
//!
//! ```text
//! arg0 == 0 => ret = fresh0
//! ret = fresh0; free arg0; copy arg0 to fresh0
//! ret = 0; arg0[0] := fresh0
//! ret < 0; arg0[0] := 0
//! ret = fresh0; zero fresh0
//! escape arg0 to unknown
//! ```
//! One line per outcome. `arg0[8]` is the value at byte 8 of what arg0 points to; on the left of `:=` it is that cell.
//! Offsets with a stride are written `[8+16*]`, an unknown one `[?]`. Globals are `@g7`; `ret[8] := …` is a field of a
//! returned struct. `may` before an effect makes it uncertain.

use std::fmt::{self, Write as _};

use drip_program::{FuncId, GlobalId};
use smallvec::SmallVec;

use crate::summary::*;

/// Where and why a text is not a summary.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("column {column}: {what}")]
pub struct TextError {
    pub column: usize,
    pub what: String,
}

// ----- printing -----

impl fmt::Display for Offset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.base, self.stride) {
            (base, 0) => write!(f, "{base}"),
            (0, 1) => write!(f, "?"),
            (base, stride) => write!(f, "{base}+{stride}*"),
        }
    }
}

impl fmt::Display for Root {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Root::Arg(n) => write!(f, "arg{n}"),
            Root::Global(g) => write!(f, "@{g}"),
            Root::Fresh(k) => write!(f, "fresh{k}"),
            Root::Ret => write!(f, "ret"),
        }
    }
}

impl fmt::Display for ValuePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.root)?;
        self.loads.iter().try_for_each(|load| write!(f, "[{load}]"))
    }
}

impl fmt::Display for CellPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]", self.base, self.offset)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Int(value) => write!(f, "{value}"),
            Value::Entry { path, plus } if *plus == Offset::ZERO => write!(f, "{path}"),
            Value::Entry { path, plus } => write!(f, "{path} plus {plus}"),
            Value::Fresh { index, offset } if *offset == Offset::ZERO => write!(f, "fresh{index}"),
            Value::Fresh { index, offset } => write!(f, "fresh{index} plus {offset}"),
            Value::Func(func) => write!(f, "&{func}"),
            Value::Unknown(Class::Any) => write!(f, "any"),
            Value::Unknown(class) => write!(f, "any {class}"),
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Class::Any => write!(f, "== any"),
            Class::Eq(value) => write!(f, "== {value}"),
            Class::Ne(value) => write!(f, "!= {value}"),
            Class::NonZero => write!(f, "!= 0"),
            Class::Negative => write!(f, "< 0"),
            Class::Positive => write!(f, "> 0"),
            Class::NonNegative => write!(f, ">= 0"),
            Class::NonPositive => write!(f, "<= 0"),
            Class::Lt(value) => write!(f, "< {value}"),
            Class::Ge(value) => write!(f, ">= {value}"),
            Class::Has(bits) => write!(f, "has {}", *bits as i64),
            Class::Lacks(bits) => write!(f, "lacks {}", *bits as i64),
        }
    }
}

impl fmt::Display for Atom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.subject {
            Subject::Ret => write!(f, "ret {}", self.class),
            Subject::Entry(path) => write!(f, "{path} {}", self.class),
        }
    }
}

fn may(certainty: Certainty) -> &'static str {
    match certainty {
        Certainty::Must => "",
        Certainty::May => "may ",
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let when: Vec<String> = self.when.iter().map(ToString::to_string).collect();
        if !when.is_empty() {
            write!(f, "{} => ", when.join(" and "))?;
        }
        let mut parts = vec![format!("ret = {}", self.ret)];
        // Objects that exist but that no value names yet.
        for index in &self.fresh {
            parts.push(format!("make fresh{index}"));
        }
        parts.extend(
            self.frees
                .iter()
                .map(|e| format!("{}free {}", may(e.certainty), e.path)),
        );
        parts.extend(
            self.copies
                .iter()
                .map(|e| format!("copy {} to fresh{}", e.from, e.to)),
        );
        parts.extend(self.zeroed.iter().map(|index| format!("zero fresh{index}")));
        parts.extend(
            self.writes
                .iter()
                .map(|e| format!("{}{} := {}", may(e.certainty), e.cell, e.value)),
        );
        parts.extend(self.escapes.iter().map(|e| {
            let mut text = format!("escape {} to ", e.path);
            let _ = match e.to {
                EscapeTo::Global(g) => write!(text, "@{g}"),
                EscapeTo::Unknown => write!(text, "unknown"),
                EscapeTo::Thread => write!(text, "thread"),
            };
            text
        }));
        write!(f, "{}", parts.join("; "))
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.outcomes.is_empty() {
            writeln!(f, "never returns")?;
        }
        for outcome in &self.outcomes {
            writeln!(f, "{outcome}")?;
        }
        Ok(())
    }
}

// ----- parsing -----

/// Parses one outcome.
pub fn parse_outcome(text: &str) -> Result<Outcome, TextError> {
    let (when, effects) = match text.split_once("=>") {
        Some((when, effects)) => (Some(when), effects),
        None => (None, text),
    };
    let column = |part: &str| part.as_ptr() as usize - text.as_ptr() as usize + 1;
    let mut outcome = Outcome::returning(Value::Unknown(Class::Any));
    for atom in when.into_iter().flat_map(|w| w.split(" and ")) {
        let mut cursor = Cursor::new(atom, column(atom));
        outcome.when.push(cursor.atom()?);
        cursor.finish()?;
    }
    for effect in effects.split(';').filter(|e| !e.trim().is_empty()) {
        let mut cursor = Cursor::new(effect, column(effect));
        cursor.effect(&mut outcome)?;
        cursor.finish()?;
    }
    let mut made: SmallVec<[u16; 2]> = outcome.fresh.clone();
    if let Value::Fresh { index, .. } = outcome.ret {
        made.push(index);
    }
    made.extend(outcome.writes.iter().filter_map(|w| match w.value {
        Value::Fresh { index, .. } => Some(index),
        _ => None,
    }));
    made.sort_unstable();
    made.dedup();
    outcome.fresh = made;
    Ok(outcome)
}

/// Parses outcomes, one per line, as one summary; fresh objects get `family`.
pub fn parse_summary(text: &str, family: Family) -> Result<Summary, TextError> {
    let mut summary = Summary::default();
    for line in text
        .lines()
        .map(str::trim)
        .filter(|l| !l.is_empty() && *l != "never returns")
    {
        let mut outcome = parse_outcome(line)?;
        for free in &mut outcome.frees {
            free.family = family;
        }
        summary.outcomes.push(outcome);
    }
    let count = summary
        .outcomes
        .iter()
        .flat_map(|o| &o.fresh)
        .max()
        .map_or(0, |&m| usize::from(m) + 1);
    summary.fresh = vec![
        FreshObject {
            chain: SmallVec::new(),
            family,
            many: false
        };
        count
    ];
    Ok(summary)
}

struct Cursor<'t> {
    text: &'t str,
    at: usize,
    column: usize,
}

impl<'t> Cursor<'t> {
    fn new(text: &'t str, column: usize) -> Self {
        Cursor {
            text,
            at: 0,
            column,
        }
    }

    fn fail<T>(&self, what: impl Into<String>) -> Result<T, TextError> {
        Err(TextError {
            column: self.column + self.at,
            what: what.into(),
        })
    }

    fn rest(&mut self) -> &'t str {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        &self.text[self.at..]
    }

    fn take(&mut self, token: &str) -> bool {
        let rest = self.rest();
        let word = token.chars().all(|c| c.is_ascii_alphanumeric());
        let ends = |tail: &str| !word || !tail.starts_with(|c: char| c.is_ascii_alphanumeric());
        match rest.strip_prefix(token) {
            Some(tail) if ends(tail) => {
                self.at += token.len();
                true
            }
            _ => false,
        }
    }

    fn prefixed(&mut self, prefix: &str) -> Option<u32> {
        let rest = self.rest().strip_prefix(prefix)?;
        let digits: &str =
            &rest[..rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len()];
        let number = digits.parse().ok()?;
        self.at += prefix.len() + digits.len();
        Some(number)
    }

    fn number(&mut self) -> Option<i64> {
        let rest = self.rest();
        let digits = rest.len()
            - rest
                .trim_start_matches(|c: char| c.is_ascii_digit() || c == '-')
                .len();
        let number = rest[..digits].parse().ok()?;
        self.at += digits;
        Some(number)
    }

    fn finish(&mut self) -> Result<(), TextError> {
        match self.rest() {
            "" => Ok(()),
            rest => {
                let rest = rest.to_owned();
                self.fail(format!("unexpected `{rest}`"))
            }
        }
    }

    fn effect(&mut self, outcome: &mut Outcome) -> Result<(), TextError> {
        let certainty = if self.take("may") {
            Certainty::May
        } else {
            Certainty::Must
        };
        if self.take("free") {
            let path = self.path()?;
            outcome.frees.push(Free {
                path,
                family: Family::default(),
                certainty,
            });
        } else if self.take("make") {
            match self.prefixed("fresh") {
                Some(index) => outcome.fresh.push(index as u16),
                None => return self.fail("expected freshN"),
            }
        } else if self.take("zero") {
            match self.prefixed("fresh") {
                Some(index) => outcome.zeroed.push(index as u16),
                None => return self.fail("expected freshN"),
            }
        } else if self.take("copy") {
            let from = self.path()?;
            if !self.take("to") {
                return self.fail("expected `to freshN`");
            }
            match self.prefixed("fresh") {
                Some(index) => outcome.copies.push(ContentCopy {
                    from,
                    to: index as u16,
                }),
                None => return self.fail("expected freshN"),
            }
        } else if self.take("escape") {
            let path = self.path()?;
            if !self.take("to") {
                return self.fail("expected `to unknown`, `to thread` or `to @gN`");
            }
            let to = if self.take("unknown") {
                EscapeTo::Unknown
            } else if self.take("thread") {
                EscapeTo::Thread
            } else if let Some(global) = self.prefixed("@g") {
                EscapeTo::Global(GlobalId::from_u32(global))
            } else {
                return self.fail("expected `unknown`, `thread` or `@gN`");
            };
            outcome.escapes.push(Escape { path, to });
        } else {
            self.assignment(outcome, certainty)?;
        }
        Ok(())
    }

    fn assignment(&mut self, outcome: &mut Outcome, certainty: Certainty) -> Result<(), TextError> {
        let mut path = self.path()?;
        if path.root == Root::Ret && path.loads.is_empty() {
            if !self.take("=") {
                return self.fail("expected `= VALUE`");
            }
            outcome.ret = self.value()?;
            return Ok(());
        }
        let Some(offset) = path.loads.pop() else {
            return self.fail("expected a cell such as arg0[0]");
        };
        if !self.take(":=") {
            return self.fail("expected `:= VALUE`");
        }
        let value = self.value()?;
        outcome.writes.push(Write {
            cell: CellPath { base: path, offset },
            value,
            certainty,
        });
        Ok(())
    }

    fn atom(&mut self) -> Result<Atom, TextError> {
        let path = self.path()?;
        let subject = if path.root == Root::Ret {
            Subject::Ret
        } else {
            Subject::Entry(path)
        };
        Ok(Atom {
            subject,
            class: self.class()?,
        })
    }

    fn class(&mut self) -> Result<Class, TextError> {
        for (word, class) in [
            ("has", Class::Has as fn(u64) -> Class),
            ("lacks", Class::Lacks),
        ] {
            if self.take(word) {
                return match self.number() {
                    Some(bits) => Ok(class(bits as u64)),
                    None => self.fail("expected bits as a number"),
                };
            }
        }
        for operator in ["==", "!=", "<=", ">=", "<", ">"] {
            if !self.take(operator) {
                continue;
            }
            let value = if self.take("null") {
                0
            } else {
                self.number().unwrap_or(i64::MIN)
            };
            return match (operator, value) {
                (_, i64::MIN) => self.fail("expected a number"),
                ("==", value) => Ok(Class::Eq(value)),
                ("!=", 0) => Ok(Class::NonZero),
                ("!=", value) => Ok(Class::Ne(value)),
                ("<", 0) => Ok(Class::Negative),
                (">", 0) => Ok(Class::Positive),
                (">=", 0) => Ok(Class::NonNegative),
                ("<=", 0) => Ok(Class::NonPositive),
                ("<", value) => Ok(Class::Lt(value)),
                (">=", value) => Ok(Class::Ge(value)),
                ("<=", value) => Ok(Class::Lt(value.saturating_add(1))),
                (_, value) => Ok(Class::Ge(value.saturating_add(1))),
            };
        }
        self.fail("expected a comparison")
    }

    fn path(&mut self) -> Result<ValuePath, TextError> {
        let root = if let Some(n) = self.prefixed("arg") {
            Root::Arg(n as u16)
        } else if let Some(k) = self.prefixed("fresh") {
            Root::Fresh(k as u16)
        } else if let Some(g) = self.prefixed("@g") {
            Root::Global(GlobalId::from_u32(g))
        } else if self.take("ret") {
            Root::Ret
        } else {
            return self.fail("expected argN, freshN, @gN or ret");
        };
        let mut path = ValuePath::root(root);
        while self.take("[") {
            path = path.load(self.offset()?);
            if !self.take("]") {
                return self.fail("expected ]");
            }
        }
        Ok(path)
    }

    fn offset(&mut self) -> Result<Offset, TextError> {
        if self.take("?") {
            return Ok(Offset::ANY);
        }
        let Some(base) = self.number() else {
            return self.fail("expected an offset");
        };
        if !self.take("+") {
            return Ok(Offset::exact(base));
        }
        match self.number().and_then(|stride| u32::try_from(stride).ok()) {
            Some(stride) if self.take("*") => Ok(Offset { base, stride }),
            _ => self.fail("expected a stride such as 16*"),
        }
    }

    fn value(&mut self) -> Result<Value, TextError> {
        if self.take("null") {
            return Ok(Value::Int(0));
        }
        if self.take("any") {
            return Ok(Value::Unknown(if self.rest().is_empty() {
                Class::Any
            } else {
                self.class()?
            }));
        }
        if let Some(func) = self.prefixed("&f") {
            return Ok(Value::Func(FuncId::from_u32(func)));
        }
        if let Some(value) = self.number() {
            return Ok(Value::Int(value));
        }
        let path = self.path()?;
        let plus = if self.take("plus") {
            self.offset()?
        } else {
            Offset::ZERO
        };
        match path.root {
            Root::Fresh(index) if path.loads.is_empty() => Ok(Value::Fresh {
                index,
                offset: plus,
            }),
            _ => Ok(Value::Entry { path, plus }),
        }
    }
}
