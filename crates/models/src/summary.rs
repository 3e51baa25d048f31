//! What a call does to memory, by outcome: one type for library models and for functions that the engine summarised,
//! so that a caller can't tell them apart.
//!
//! A function's effects are stated per *outcome* (Saturn §4.5 splits by return value only; drip also by predicates on
//! parameters and entry cells). Everything is named from the interface inwards, by access paths (Saturn fig. 4):
//! a [`ValuePath`] is a root value followed by loads at byte offsets, so `arg0->name` is root `arg0`, loads `[8]`.
//!
//! INVARIANTS: at most [`MAX_OUTCOMES`] outcomes; a summary without outcomes never returns; `Fresh(k)` indexes the
//! `fresh` list of the same outcome's [`Summary::fresh`]; paths have at most [`MAX_PATH_LOADS`] loads.

use drip_program::{FuncId, GlobalId, InstId};
use smallvec::SmallVec;

/// More outcomes are merged; what differs between the merged ones becomes "may".
pub const MAX_OUTCOMES: usize = 8;

/// Loads in an access path; effects deeper in a structure are stated on its summary object (ledger: limit).
pub const MAX_PATH_LOADS: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Root {
    /// Value of a parameter on entry.
    Arg(u16),
    /// Address of a global variable.
    Global(GlobalId),
    /// The k-th object that the call makes ([`Summary::fresh`]).
    Fresh(u16),
    /// The returned struct itself: only as base of a written cell, whose offset is then a field of that struct.
    Ret,
}

/// Byte offset of a cell inside its object; `stride` 0 means exactly there, else any multiple of it further on
/// (array elements with unknown index).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Offset {
    pub base: i64,
    pub stride: u32,
}

impl Offset {
    pub const ZERO: Offset = Offset { base: 0, stride: 0 };
    /// Somewhere in the object.
    pub const ANY: Offset = Offset { base: 0, stride: 1 };

    /// Where the elements of a container lie for its model: between the words that it really has.
    pub const ELEMENTS: Offset = Offset { base: 1, stride: 8 };

    pub fn exact(base: i64) -> Offset {
        Offset { base, stride: 0 }
    }

    pub fn is_exact(self) -> bool {
        self.stride == 0
    }

    /// Offset of `self` moved by `other`.
    pub fn plus(self, other: Offset) -> Offset {
        let stride = gcd(self.stride, other.stride);
        let base = self.base.wrapping_add(other.base);
        Offset {
            base: if stride == 0 {
                base
            } else {
                base.rem_euclid(i64::from(stride))
            },
            stride,
        }
    }

    /// Smallest offset that covers both.
    pub fn join(self, other: Offset) -> Offset {
        if self == other {
            return self;
        }
        let distance = self.base.abs_diff(other.base).min(u64::from(u32::MAX)) as u32;
        let stride = gcd(gcd(self.stride, other.stride), distance).max(1);
        Offset {
            base: self.base.rem_euclid(i64::from(stride)),
            stride,
        }
    }

    /// Does `self` name every cell that `other` names?
    pub fn covers(self, other: Offset) -> bool {
        if self.stride == 0 {
            return self == other;
        }
        let stride = i64::from(self.stride);
        other.stride.is_multiple_of(self.stride)
            && self.base.wrapping_sub(other.base).rem_euclid(stride) == 0
    }

    /// Can the two name the same cell?
    pub fn may_equal(self, other: Offset) -> bool {
        let stride = gcd(self.stride, other.stride);
        if stride == 0 {
            return self.base == other.base;
        }
        self.base
            .wrapping_sub(other.base)
            .rem_euclid(i64::from(stride))
            == 0
    }
}

fn gcd(mut a: u32, mut b: u32) -> u32 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// A value reachable on entry: the root, then one load per offset.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValuePath {
    pub root: Root,
    pub loads: SmallVec<[Offset; 3]>,
}

impl ValuePath {
    pub fn root(root: Root) -> ValuePath {
        ValuePath {
            root,
            loads: SmallVec::new(),
        }
    }

    pub fn arg(index: u16) -> ValuePath {
        ValuePath::root(Root::Arg(index))
    }

    /// Is `other` this value, or found by loading from it?
    pub fn leads_to(&self, other: &ValuePath) -> bool {
        self.root == other.root && other.loads.starts_with(&self.loads)
    }

    /// The value stored at `offset` of what this value points to.
    pub fn load(mut self, offset: Offset) -> ValuePath {
        self.loads.push(offset);
        self
    }
}

/// A memory cell: `offset` bytes into what `base` points to.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CellPath {
    pub base: ValuePath,
    pub offset: Offset,
}

/// A value at the end of a call.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Value {
    /// Null pointer or integer constant.
    Int(i64),
    /// A value of the entry state plus a constant (`arg0 + 8` as address, `arg0->refs - 1` as number).
    Entry {
        path: ValuePath,
        plus: Offset,
    },
    /// Address inside a fresh object.
    Fresh {
        index: u16,
        offset: Offset,
    },
    Func(FuncId),
    /// Anything of that class; a pointer of this kind points to memory that the caller need not free.
    Unknown(Class),
}

/// Class of a scalar or pointer value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    Any,
    /// Exactly this constant; 0 is also the null pointer.
    Eq(i64),
    /// Not zero; for pointers: not null.
    NonZero,
    Negative,
    Positive,
    /// ≥ 0 and ≤ 0, signed.
    NonNegative,
    NonPositive,
    /// Anything but this constant.
    Ne(i64),
    /// Signed comparisons with other constants than those above.
    Lt(i64),
    Ge(i64),
    /// At least one of these bits is set: a flag, one of several modes.
    Has(u64),
    /// None of these bits is set.
    Lacks(u64),
}

impl Class {
    /// Least and greatest value, where all between them belong to it.
    fn range(self) -> Option<(i64, i64)> {
        match self {
            Class::Any => Some((i64::MIN, i64::MAX)),
            Class::Eq(c) => Some((c, c)),
            Class::Negative => Some((i64::MIN, -1)),
            Class::Positive => Some((1, i64::MAX)),
            Class::NonNegative => Some((0, i64::MAX)),
            Class::NonPositive => Some((i64::MIN, 0)),
            Class::Lt(c) => Some((i64::MIN, c.saturating_sub(1))),
            Class::Ge(c) => Some((c, i64::MAX)),
            Class::NonZero | Class::Ne(_) | Class::Has(_) | Class::Lacks(_) => None,
        }
    }

    /// The only value that does not belong to it.
    fn hole(self) -> Option<i64> {
        match self {
            Class::NonZero => Some(0),
            Class::Ne(c) => Some(c),
            _ => None,
        }
    }

    /// Does every value of `self` lie in `other`?
    pub fn implies(self, other: Class) -> bool {
        match (self, other) {
            (a, b) if a == b => true,
            (Class::Has(few), Class::Has(more)) | (Class::Lacks(more), Class::Lacks(few)) => {
                few & !more == 0
            }
            (Class::Has(_), b) if b.hole() == Some(0) => true,
            (a, b) if a.hole().is_some() && a.hole() == b.hole() => true,
            (_, Class::Any) => true,
            (a, b) => match (a.range(), b.range(), b.hole()) {
                (Some((min, max)), Some((from, to)), _) => from <= min && max <= to,
                (Some((min, max)), _, Some(hole)) => hole < min || max < hole,
                (Some((min, max)), _, _) => min == max && b.contains(min),
                _ => false,
            },
        }
    }

    pub fn contains(self, value: i64) -> bool {
        match self {
            Class::Any => true,
            Class::Eq(c) => c == value,
            Class::NonZero => value != 0,
            Class::Negative => value < 0,
            Class::Positive => value > 0,
            Class::NonNegative => value >= 0,
            Class::NonPositive => value <= 0,
            Class::Ne(c) => c != value,
            Class::Lt(c) => value < c,
            Class::Ge(c) => value >= c,
            Class::Has(bits) => value as u64 & bits != 0,
            Class::Lacks(bits) => value as u64 & bits == 0,
        }
    }

    /// The narrowest class that has all values of both.
    pub fn join(self, other: Class) -> Class {
        let candidates = [
            self,
            other,
            Class::Negative,
            Class::Positive,
            Class::NonNegative,
            Class::NonPositive,
            Class::NonZero,
        ];
        let covers = |class: &Class| self.implies(*class) && other.implies(*class);
        candidates.into_iter().find(covers).unwrap_or(Class::Any)
    }

    /// The bounds of all values of both, from below and from above, where both have them.
    pub fn bounds(self, other: Class) -> [Option<Class>; 2] {
        let (Some((a_min, a_max)), Some((b_min, b_max))) = (self.range(), other.range()) else {
            return [None, None];
        };
        let (min, max) = (a_min.min(b_min), a_max.max(b_max));
        let below = match min {
            i64::MIN => None,
            0 => Some(Class::NonNegative),
            1 => Some(Class::Positive),
            min => Some(Class::Ge(min)),
        };
        let above = match max {
            i64::MAX => None,
            -1 => Some(Class::Negative),
            0 => Some(Class::NonPositive),
            max => Some(Class::Lt(max + 1)),
        };
        [below, above]
    }

    /// The class of the values that lie in both, where there is one.
    pub fn meet(self, other: Class) -> Option<Class> {
        match (self, other) {
            (a, b) if a.implies(b) => Some(a),
            (a, b) if b.implies(a) => Some(b),
            (Class::NonPositive, b) | (b, Class::NonPositive) if b.hole() == Some(0) => {
                Some(Class::Negative)
            }
            (Class::NonNegative, b) | (b, Class::NonNegative) if b.hole() == Some(0) => {
                Some(Class::Positive)
            }
            (Class::NonPositive, Class::NonNegative) | (Class::NonNegative, Class::NonPositive) => {
                Some(Class::Eq(0))
            }
            _ => None,
        }
    }

    /// Can no value lie in both?
    pub fn disjoint(self, other: Class) -> bool {
        match (self, other) {
            (Class::Has(few), Class::Lacks(more)) | (Class::Lacks(more), Class::Has(few)) => {
                few & !more == 0
            }
            (a, b) => match (a.range(), b.range()) {
                (Some((min, max)), Some((from, to))) => max < from || to < min,
                (Some((min, max)), None) => min == max && !b.contains(min),
                (None, Some((min, max))) => min == max && !a.contains(min),
                (None, None) => false,
            },
        }
    }
}

/// One conjunct of an outcome's condition.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Atom {
    pub subject: Subject,
    pub class: Class,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Subject {
    /// The return value.
    Ret,
    /// A parameter, or what an entry cell holds on entry (at most two loads).
    Entry(ValuePath),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Certainty {
    Must,
    May,
}

/// An object that a call makes and that is alive when it ends.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FreshObject {
    /// Where it comes from, innermost allocation last: call sites inside the callee. Empty for a model (the call itself).
    pub chain: SmallVec<[ChainLink; 2]>,
    pub family: Family,
    /// Several instances may be behind it (allocated in a loop): never strong.
    pub many: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ChainLink {
    pub func: FuncId,
    pub inst: InstId,
    /// Which of the callee's fresh objects.
    pub index: u16,
}

/// Which deallocators belong to an object; an index into [`crate::Families`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Family(pub u16);

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Write {
    pub cell: CellPath,
    pub value: Value,
    pub certainty: Certainty,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Free {
    pub path: ValuePath,
    pub family: Family,
    pub certainty: Certainty,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EscapeTo {
    /// Stored where a global variable leads to.
    Global(GlobalId),
    /// Handed to code that nobody can see, or kept where the analysis lost sight of it.
    Unknown,
    /// Another thread.
    Thread,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Escape {
    /// The pointer that escapes, and with it all that is reachable from it.
    pub path: ValuePath,
    pub to: EscapeTo,
}

/// All that the object behind `from` holds appears at the same offsets of fresh object `to` (realloc moves its block).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContentCopy {
    pub from: ValuePath,
    pub to: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Outcome {
    /// Conjunction.
    pub when: Vec<Atom>,
    pub ret: Value,
    /// Objects of [`Summary::fresh`] that exist after this outcome.
    pub fresh: SmallVec<[u16; 2]>,
    pub writes: Vec<Write>,
    pub frees: Vec<Free>,
    pub escapes: Vec<Escape>,
    pub copies: Vec<ContentCopy>,
    /// Objects of `fresh` that hold zeros wherever `writes` says nothing else; sorted.
    pub zeroed: SmallVec<[u16; 2]>,
}

impl Outcome {
    pub fn returning(ret: Value) -> Outcome {
        Outcome {
            when: Vec::new(),
            ret,
            fresh: SmallVec::new(),
            writes: Vec::new(),
            frees: Vec::new(),
            escapes: Vec::new(),
            copies: Vec::new(),
            zeroed: SmallVec::new(),
        }
    }

    /// May the outcome have stored something at this offset of the block `index` that it makes?
    pub fn stores_in_fresh(&self, index: u16, at: Offset) -> bool {
        self.writes.iter().any(|write| {
            write.cell.base.root == Root::Fresh(index)
                && write.cell.base.loads.is_empty()
                && write.cell.offset.may_equal(at)
        })
    }
}

/// Globals in a [`GlobalSet`]; more are "all".
pub const MAX_GLOBALS: usize = 128;

/// A set of global variables.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum GlobalSet {
    /// Sorted, at most [`MAX_GLOBALS`].
    Some(Vec<GlobalId>),
    All,
}

impl Default for GlobalSet {
    fn default() -> GlobalSet {
        GlobalSet::Some(Vec::new())
    }
}

impl GlobalSet {
    pub fn contains(&self, global: GlobalId) -> bool {
        match self {
            GlobalSet::Some(globals) => globals.binary_search(&global).is_ok(),
            GlobalSet::All => true,
        }
    }

    pub fn insert(&mut self, global: GlobalId) {
        if let GlobalSet::Some(globals) = self
            && let Err(at) = globals.binary_search(&global)
        {
            globals.insert(at, global);
            if globals.len() > MAX_GLOBALS {
                *self = GlobalSet::All;
            }
        }
    }

    pub fn extend(&mut self, other: &GlobalSet) {
        match other {
            GlobalSet::Some(globals) => globals.iter().for_each(|&global| self.insert(global)),
            GlobalSet::All => *self = GlobalSet::All,
        }
    }
}

/// What a function's result says of one of its arguments, which is a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum TextResult {
    #[default]
    Nothing,
    /// It is the text's length.
    Length(u16),
    /// The text is a format, and it is the length of what is printed by it.
    Printed(u16),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Summary {
    pub outcomes: Vec<Outcome>,
    /// All objects that some outcome makes.
    pub fresh: Vec<FreshObject>,
    pub may_throw: bool,
    /// Descriptions of the types that it may throw.
    pub thrown: GlobalSet,
    /// The result depends on nothing but scalar arguments and memory: two calls with equal arguments and no write in
    /// between return the same.
    pub pure: bool,
    /// What the result says of a text among the arguments.
    pub text: TextResult,
    /// It, or something it calls, changes memory atomically: how reference counts are kept in threaded programs.
    pub atomic: bool,
    /// Globals that may hold something else after the call, beyond what the outcomes' writes tell.
    pub touched: GlobalSet,
    /// Parameters that callers may leave out: the function, or one that it hands them to, compares them with null. Outcomes
    /// that differ only in what lies behind such a pointer are one, so that to write through it does not say that it is there.
    pub optional: SmallVec<[u16; 2]>,
    /// A bound was hit while this summary was made: it is conservative.
    pub limited: bool,
}

impl Summary {
    /// A function that never returns: also where recursion starts from.
    pub fn never_returns() -> Summary {
        Summary::default()
    }

    pub fn returns(&self) -> bool {
        !self.outcomes.is_empty()
    }
}
