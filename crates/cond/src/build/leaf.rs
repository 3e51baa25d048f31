//! Leaves of terms, and the coercions that make ill-sorted operands harmless.

use crate::Terms;
use crate::term::{FnKey, ObjKey, Sort, SymId, TermId, TermKind, mask};

impl Terms {
    /// A boolean constant.
    pub fn bool(&mut self, value: bool) -> TermId {
        if value { Terms::TRUE } else { Terms::FALSE }
    }

    /// A bit-vector constant; the value is reduced to the width.
    pub fn int(&mut self, width: u32, value: u64) -> TermId {
        let width = self.checked_width(width);
        self.intern(Sort::Bits(width), TermKind::Int(value & mask(width)))
    }

    /// An unknown value. The same id with another sort is another symbol only for hash-consing, not for assignments:
    /// clients give each value one id.
    pub fn sym(&mut self, sym: SymId, sort: Sort) -> TermId {
        let sort = self.checked_sort(sort);
        self.intern(sort, TermKind::Sym(sym))
    }

    /// The address of an object of its own, 64 bits wide.
    ///
    /// Axioms, kept by every stage and by [`crate::Assignment`]: the low half of an address lies in
    /// [[`crate::address::LOW_MIN`], [`crate::address::LOW_MAX`]], so neither an address nor a place near it is null or
    /// a small (negative) number; two addresses differ in their high halves, so places near different objects differ.
    /// Order, alignment and everything else about addresses is unknown.
    pub fn addr(&mut self, object: ObjKey) -> TermId {
        self.intern(Sort::Bits(64), TermKind::Addr(object))
    }

    /// An uninterpreted function of the arguments.
    pub fn app(&mut self, function: FnKey, args: &[TermId], sort: Sort) -> TermId {
        let sort = self.checked_sort(sort);
        self.intern(sort, TermKind::App(function, args.into()))
    }

    fn checked_sort(&mut self, sort: Sort) -> Sort {
        match sort {
            Sort::Bool => Sort::Bool,
            Sort::Bits(width) => Sort::Bits(self.checked_width(width)),
        }
    }

    /// The term as a boolean: itself, or `t != 0`.
    pub fn truthy(&mut self, t: TermId) -> TermId {
        match self.sort(t) {
            Sort::Bool => t,
            Sort::Bits(width) => {
                let zero = self.int(width, 0);
                self.ne(t, zero)
            }
        }
    }

    /// The boolean as the bit-vector 1 or 0 of the given width; a bit-vector is resized without sign.
    pub fn as_bits(&mut self, t: TermId, width: u32) -> TermId {
        let width = self.checked_width(width);
        match self.sort(t) {
            Sort::Bool => {
                let (one, zero) = (self.int(width, 1), self.int(width, 0));
                self.ite(t, one, zero)
            }
            Sort::Bits(w) if w < width => self.zext(t, width),
            Sort::Bits(w) if w > width => self.trunc(t, width),
            Sort::Bits(_) => t,
        }
    }

    /// An operand that has to be a boolean.
    pub(crate) fn boolean(&mut self, t: TermId) -> TermId {
        if self.sort(t) == Sort::Bool {
            return t;
        }
        self.count_ill_sorted();
        self.truthy(t)
    }

    /// An operand that has to be a bit-vector.
    pub(crate) fn bits(&mut self, t: TermId) -> TermId {
        if self.sort(t) != Sort::Bool {
            return t;
        }
        self.count_ill_sorted();
        self.as_bits(t, 1)
    }

    /// Two operands that have to be of one sort: the second gives way.
    pub(crate) fn same_sort(&mut self, a: TermId, b: TermId) -> (TermId, TermId) {
        let (sa, sb) = (self.sort(a), self.sort(b));
        if sa == sb {
            return (a, b);
        }
        self.count_ill_sorted();
        match sa {
            Sort::Bool => (a, self.truthy(b)),
            Sort::Bits(width) => (a, self.as_bits(b, width)),
        }
    }
}
