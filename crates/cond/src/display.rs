//! How does a condition read in source terms?
//!
//! C-like text for people: `len >= 10`, `p != NULL`, `(flags & 4) == 0`. The names come from the client. Constants are
//! printed as the comparison reads them (signed or unsigned), null for pointers, masks in hexadecimal; extensions are
//! not printed, because they don't change the value.
//!
//! Not meant to be parsed: signed and unsigned operators look the same.

use std::fmt::Write as _;

use crate::Terms;
use crate::term::{BinOp, FnKey, Linear, ObjKey, Sort, SymId, TermId, TermKind, mask, to_signed};

/// Names of the unknowns. A closure from symbols to names will do.
pub trait Names {
    /// The symbol's name in the source.
    fn sym(&self, sym: SymId) -> String;

    /// The object's name; its address is printed with `&`.
    fn object(&self, object: ObjKey) -> String {
        object.to_string()
    }

    /// The function's name.
    fn function(&self, function: FnKey) -> String {
        function.to_string()
    }

    /// Whether the symbol is a pointer: then 0 is printed as `NULL`.
    fn is_pointer(&self, _sym: SymId) -> bool {
        false
    }
}

impl<F: Fn(SymId) -> String> Names for F {
    fn sym(&self, sym: SymId) -> String {
        self(sym)
    }
}

/// Nesting beyond which an ellipsis is printed.
const MAX_DEPTH: u32 = 16;

/// Length beyond which an ellipsis is printed.
const MAX_LENGTH: usize = 2000;

/// Binding strength of C's operators.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Choice,
    LogicalOr,
    LogicalAnd,
    BitOr,
    BitXor,
    BitAnd,
    Equality,
    Relation,
    Shift,
    Sum,
    Product,
    Unary,
    Atom,
}

struct Printer<'p> {
    terms: &'p Terms,
    names: &'p dyn Names,
    text: String,
    depth: u32,
}

impl Terms {
    /// The term as text.
    pub fn display(&self, t: TermId, names: &dyn Names) -> String {
        let mut printer = Printer {
            terms: self,
            names,
            text: String::new(),
            depth: 0,
        };
        printer.term(t, Level::Choice);
        printer.text
    }
}

impl Printer<'_> {
    /// Prints a term, in parentheses if it binds weaker than its surroundings.
    fn term(&mut self, t: TermId, around: Level) {
        if self.depth >= MAX_DEPTH || self.text.len() > MAX_LENGTH {
            self.text.push('…');
            return;
        }
        self.depth += 1;
        match self.terms.kind(t) {
            TermKind::Not(inner) => self.negated(*inner, around),
            _ => self.positive(t, around),
        }
        self.depth -= 1;
    }

    fn positive(&mut self, t: TermId, around: Level) {
        let width = self.terms.width(t);
        match self.terms.kind(t).clone() {
            TermKind::Bool(value) => self.push(if value { "true" } else { "false" }),
            TermKind::Int(value) => self.constant(value, width, true, around),
            TermKind::Sym(sym) => self.push(&self.names.sym(sym)),
            TermKind::Addr(object) => {
                let name = format!("&{}", self.names.object(object));
                self.push(&name);
            }
            TermKind::App(function, args) => self.application(function, &args),
            TermKind::Not(inner) => self.negated(inner, around),
            TermKind::And(list) => self.list(&list, " && ", Level::LogicalAnd, around),
            TermKind::Or(list) => self.list(&list, " || ", Level::LogicalOr, around),
            TermKind::Ite(c, a, b) => self.in_level(Level::Choice, around, |p| {
                p.term(c, Level::LogicalOr);
                p.push(" ? ");
                p.term(a, Level::LogicalOr);
                p.push(" : ");
                p.term(b, Level::Choice);
            }),
            TermKind::Eq(a, b) => self.equality(a, b, "==", around),
            TermKind::Ult(a, b) => self.order(a, b, false, false, around),
            TermKind::Slt(a, b) => self.order(a, b, true, false, around),
            TermKind::Linear(sum) => self.sum(&sum, width, around),
            TermKind::Binary(op, a, b) => self.binary(op, a, b, around),
            TermKind::Zext(a) | TermKind::Sext(a) => self.term(a, around),
            TermKind::Trunc(a) => self.truncation(a, width, around),
        }
    }

    /// The negation of an atom, without a `!` where C has an operator for it.
    fn negated(&mut self, t: TermId, around: Level) {
        match self.terms.kind(t).clone() {
            TermKind::Eq(a, b) => self.equality(a, b, "!=", around),
            TermKind::Ult(a, b) => self.order(a, b, false, true, around),
            TermKind::Slt(a, b) => self.order(a, b, true, true, around),
            _ => {
                self.push("!");
                self.term(t, Level::Unary);
            }
        }
    }

    fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn in_level(&mut self, level: Level, around: Level, body: impl FnOnce(&mut Self)) {
        let parentheses = level < around;
        if parentheses {
            self.push("(");
        }
        body(self);
        if parentheses {
            self.push(")");
        }
    }

    fn list(&mut self, list: &[TermId], separator: &str, level: Level, around: Level) {
        // Mixed `&&` and `||` are clearer with parentheses, though C needs them one way only.
        let inner = if level == Level::LogicalOr {
            Level::BitOr
        } else {
            level
        };
        self.in_level(level, around, |p| {
            for (i, &t) in list.iter().enumerate() {
                if i > 0 {
                    p.push(separator);
                }
                p.term(
                    t,
                    if level == Level::LogicalAnd {
                        Level::BitOr
                    } else {
                        inner
                    },
                );
            }
        });
    }

    fn application(&mut self, function: FnKey, args: &[TermId]) {
        self.push(&self.names.function(function));
        self.push("(");
        for (i, &arg) in args.iter().enumerate() {
            if i > 0 {
                self.push(", ");
            }
            self.term(arg, Level::Choice);
        }
        self.push(")");
    }

    fn constant(&mut self, value: u64, width: u32, signed: bool, around: Level) {
        let value_signed = to_signed(value, width);
        let negative = signed && value_signed < 0;
        let level = if negative { Level::Unary } else { Level::Atom };
        self.in_level(level, around, |p| {
            let written = if negative {
                write!(p.text, "{value_signed}")
            } else {
                write!(p.text, "{value}")
            };
            debug_assert!(written.is_ok());
        });
    }

    fn equality(&mut self, a: TermId, b: TermId, operator: &str, around: Level) {
        self.in_level(Level::Equality, around, |p| {
            p.term(a, Level::Relation);
            let _ = write!(p.text, " {operator} ");
            match p.terms.as_int(b) {
                Some(0) if p.is_pointer(a) => p.push("NULL"),
                Some(value) if p.is_mask(a) => p.mask(value),
                _ => p.term(b, Level::Relation),
            }
        });
    }

    fn is_mask(&self, t: TermId) -> bool {
        matches!(self.terms.kind(t), TermKind::Binary(BinOp::And, _, _))
    }

    fn order(&mut self, a: TermId, b: TermId, signed: bool, negated: bool, around: Level) {
        if let (false, false, Some(bound)) = (signed, negated, self.terms.as_int(b))
            && let Some((x, low)) = self.shifted(a)
            && let Some(high) = low
                .checked_add(bound)
                .filter(|&high| high <= mask(self.terms.width(a)))
        {
            // x - low < bound, unsigned, is a test of an interval.
            return self.in_level(Level::LogicalAnd, around, |p| {
                p.term(x, Level::Relation);
                let _ = write!(p.text, " >= {low} && ");
                p.term(x, Level::Relation);
                let _ = write!(p.text, " < {high}");
            });
        }
        self.in_level(Level::Relation, around, |p| {
            p.term(a, Level::Shift);
            p.push(if negated { " >= " } else { " < " });
            match p.terms.as_int(b) {
                Some(value) => p.constant(value, p.terms.width(b), signed, Level::Shift),
                None => p.term(b, Level::Shift),
            }
        });
    }

    /// The unknown and the lower bound of `x - low`.
    fn shifted(&self, t: TermId) -> Option<(TermId, u64)> {
        match self.terms.kind(t) {
            TermKind::Linear(Linear { terms, constant }) => match terms[..] {
                [(x, 1)] => {
                    let width = self.terms.width(t);
                    let low = constant.wrapping_neg() & mask(width);
                    (to_signed(low, width) > 0).then_some((x, low))
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn sum(&mut self, sum: &Linear, width: u32, around: Level) {
        // Positive summands first: `a - b` rather than `-b + a`.
        let mut parts: Vec<(TermId, i64)> = sum
            .terms
            .iter()
            .map(|&(t, c)| (t, to_signed(c, width)))
            .collect();
        parts.sort_by_key(|&(_, c)| c < 0);
        let constant = to_signed(sum.constant, width);
        let level = if parts.len() == 1 && constant == 0 {
            Level::Product
        } else {
            Level::Sum
        };
        self.in_level(level, around, |p| {
            for (i, &(t, c)) in parts.iter().enumerate() {
                let sign = match (c < 0, i) {
                    (true, 0) => "-",
                    (true, _) => " - ",
                    (false, 0) => "",
                    (false, _) => " + ",
                };
                p.push(sign);
                if c.unsigned_abs() != 1 {
                    let _ = write!(p.text, "{} * ", c.unsigned_abs());
                }
                p.term(
                    t,
                    if c.unsigned_abs() == 1 && i == 0 && c > 0 {
                        Level::Sum
                    } else {
                        Level::Unary
                    },
                );
            }
            if constant != 0 {
                let sign = if constant < 0 { '-' } else { '+' };
                let _ = write!(p.text, " {sign} {}", constant.unsigned_abs());
            }
        });
    }

    fn binary(&mut self, op: BinOp, a: TermId, b: TermId, around: Level) {
        let (symbol, level) = match op {
            BinOp::Mul => ("*", Level::Product),
            BinOp::UDiv | BinOp::SDiv => ("/", Level::Product),
            BinOp::URem | BinOp::SRem => ("%", Level::Product),
            BinOp::Shl => ("<<", Level::Shift),
            BinOp::LShr | BinOp::AShr => (">>", Level::Shift),
            BinOp::And => ("&", Level::BitAnd),
            BinOp::Or => ("|", Level::BitOr),
            BinOp::Xor => ("^", Level::BitXor),
        };
        let constant = self.terms.as_int(b);
        if op == BinOp::Xor && constant == Some(mask(self.terms.width(a))) {
            self.push("~");
            return self.term(a, Level::Unary);
        }
        self.in_level(level, around, |p| {
            // Operands of mixed bit operators get parentheses: few readers know how those bind.
            let operand = if level < Level::Equality {
                Level::Unary
            } else {
                level
            };
            p.term(a, operand);
            let _ = write!(p.text, " {symbol} ");
            match constant {
                Some(value) if level < Level::Equality => p.mask(value),
                _ => p.term(b, Level::Unary),
            }
        });
    }

    fn mask(&mut self, value: u64) {
        let _ = if value < 16 {
            write!(self.text, "{value}")
        } else {
            write!(self.text, "{value:#x}")
        };
    }

    fn truncation(&mut self, a: TermId, width: u32, around: Level) {
        match width {
            8 | 16 | 32 => {
                let _ = write!(self.text, "(uint{width}_t)");
                self.term(a, Level::Unary);
            }
            _ => self.in_level(Level::BitAnd, around, |p| {
                p.term(a, Level::Unary);
                p.push(" & ");
                p.mask(mask(width));
            }),
        }
    }

    fn is_pointer(&self, t: TermId) -> bool {
        if self.terms.sort(t) != Sort::Bits(64) {
            return false;
        }
        match self.terms.kind(t) {
            TermKind::Sym(sym) => self.names.is_pointer(*sym),
            TermKind::Addr(_) => true,
            TermKind::Ite(_, a, b) => self.is_pointer(*a) || self.is_pointer(*b),
            _ => false,
        }
    }
}
