//! Terms to circuits.
//!
//! Terms are encoded children first. Unknowns (symbols, addresses, results of functions) get fresh bits, except where
//! the interval stage knows better: bits that are fixed become constants, unknowns that are equal share their bits.
//! This is sound because such facts follow from the conjunction, and complete because they are enforced by the very
//! bits; facts about inner terms are not used here, their operands would go unconstrained.
//!
//! Conjuncts are stated as clauses where their shape allows it, without a gate for their own truth.

use rustc_hash::FxHashMap;

use super::gates::{Bit, Gates};
use super::words::Word;
use crate::Terms;
use crate::address::{LOW_BITS, MARGIN_BITS};
use crate::term::{FnKey, Linear, ObjKey, Sort, SymId, TermId, TermKind};

/// What is known about the unknowns of a query.
#[derive(Default, Debug)]
pub(crate) struct LeafFacts {
    /// Bits that are certainly 0, and bits that are certainly 1.
    pub(crate) known_bits: FxHashMap<TermId, (u64, u64)>,
    /// An unknown and another one of the same sort, with a smaller id, that it equals.
    pub(crate) same: FxHashMap<TermId, TermId>,
}

/// A function application with its encoded arguments and result.
pub(crate) struct EncodedApp {
    pub(crate) function: FnKey,
    pub(crate) sort: Sort,
    pub(crate) args: Vec<Word>,
    pub(crate) result: Word,
}

/// The encoding of one query.
pub(crate) struct Encoder<'a> {
    terms: &'a Terms,
    facts: &'a LeafFacts,
    pub(crate) gates: Gates,
    words: FxHashMap<TermId, Word>,
    pub(crate) syms: Vec<(SymId, Word)>,
    pub(crate) addresses: Vec<(ObjKey, Word)>,
    pub(crate) apps: Vec<EncodedApp>,
}

impl<'a> Encoder<'a> {
    pub(crate) fn new(terms: &'a Terms, facts: &'a LeafFacts, clause_limit: u64) -> Self {
        Encoder {
            terms,
            facts,
            gates: Gates::new(clause_limit),
            words: FxHashMap::default(),
            syms: Vec::new(),
            addresses: Vec::new(),
            apps: Vec::new(),
        }
    }

    /// Encodes all conjuncts and states that they hold.
    pub(crate) fn assert_all(&mut self, conjuncts: &[TermId]) {
        for t in self.terms.subterms(conjuncts) {
            if self.gates.exhausted {
                return;
            }
            // A conjunct at the top needs no gate, unless it is also part of another term.
            if conjuncts.binary_search(&t).is_err() {
                self.encode(t);
            }
        }
        for &t in conjuncts {
            self.assert_true(t);
        }
    }

    fn assert_true(&mut self, t: TermId) {
        match self.terms.kind(t).clone() {
            TermKind::Or(list) => {
                let bits: Vec<Bit> = list.iter().map(|&part| self.bit(part)).collect();
                self.gates.clause(&bits);
            }
            TermKind::Eq(a, b) => {
                let (x, y) = (self.word(a), self.word(b));
                for (&x, &y) in x.iter().zip(&y) {
                    self.gates.clause(&[!x, y]);
                    self.gates.clause(&[x, !y]);
                }
            }
            _ => {
                let bit = self.bit(t);
                self.gates.clause(&[bit]);
            }
        }
    }

    /// The encoded word, encoding it now if it was left out.
    fn word(&mut self, t: TermId) -> Word {
        if let Some(word) = self.words.get(&t) {
            return word.clone();
        }
        self.encode(t);
        self.words.get(&t).cloned().unwrap_or_default()
    }

    fn bit(&mut self, t: TermId) -> Bit {
        self.word(t).first().copied().unwrap_or(Bit::FALSE)
    }

    /// Encodes a term whose operands are encoded, or are conjuncts themselves.
    fn encode(&mut self, t: TermId) {
        let sort = self.terms.sort(t);
        let width = sort.width();
        let word = match self.terms.kind(t).clone() {
            TermKind::Bool(value) => vec![Bit::constant(value)],
            TermKind::Int(value) => Gates::word_constant(value, width),
            TermKind::Sym(_) | TermKind::Addr(_) | TermKind::App(..) => self.unknown(t),
            TermKind::Not(a) => vec![!self.bit(a)],
            TermKind::And(list) => {
                let bits: Vec<Bit> = list.iter().map(|&part| self.bit(part)).collect();
                vec![self.gates.and_all(&bits)]
            }
            TermKind::Or(list) => {
                let bits: Vec<Bit> = list.iter().map(|&part| self.bit(part)).collect();
                vec![self.gates.or_all(&bits)]
            }
            TermKind::Ite(c, a, b) => {
                let (c, a, b) = (self.bit(c), self.word(a), self.word(b));
                self.gates.word_choose(c, &a, &b)
            }
            TermKind::Eq(a, b) => self.compare(a, b, Gates::word_equal),
            TermKind::Ult(a, b) => self.compare(a, b, Gates::word_ult),
            TermKind::Slt(a, b) => self.compare(a, b, Gates::word_slt),
            TermKind::Linear(sum) => self.sum(&sum, width),
            TermKind::Binary(op, a, b) => {
                let (a, b) = (self.word(a), self.word(b));
                self.gates.word_binary(op, &a, &b)
            }
            TermKind::Zext(a) => {
                let mut word = self.word(a);
                word.resize(width as usize, Bit::FALSE);
                word
            }
            TermKind::Sext(a) => {
                let mut word = self.word(a);
                let sign = word.last().copied().unwrap_or(Bit::FALSE);
                word.resize(width as usize, sign);
                word
            }
            TermKind::Trunc(a) => {
                let mut word = self.word(a);
                word.truncate(width as usize);
                word
            }
        };
        self.words.insert(t, word);
    }

    fn compare(
        &mut self,
        a: TermId,
        b: TermId,
        circuit: impl Fn(&mut Gates, &[Bit], &[Bit]) -> Bit,
    ) -> Word {
        let (a, b) = (self.word(a), self.word(b));
        vec![circuit(&mut self.gates, &a, &b)]
    }

    fn sum(&mut self, sum: &Linear, width: u32) -> Word {
        let mut total = Gates::word_constant(sum.constant, width);
        for &(t, coefficient) in &sum.terms {
            let word = self.word(t);
            total = if coefficient == crate::term::mask(width) {
                self.gates.word_sub(&total, &word)
            } else {
                let part = self.gates.word_scale(&word, coefficient);
                self.gates.word_add(&total, &part, Bit::FALSE)
            };
        }
        total
    }

    fn unknown(&mut self, t: TermId) -> Word {
        let sort = self.terms.sort(t);
        let word = match self.facts.same.get(&t) {
            Some(&other) if other < t && self.terms.sort(other) == sort => self.word(other),
            _ => {
                let (zeros, ones) = self.facts.known_bits.get(&t).copied().unwrap_or((0, 0));
                (0..sort.width())
                    .map(|i| match (zeros >> i & 1, ones >> i & 1) {
                        (1, _) => Bit::FALSE,
                        (_, 1) => Bit::TRUE,
                        _ => self.gates.fresh(),
                    })
                    .collect()
            }
        };
        match self.terms.kind(t).clone() {
            TermKind::Sym(sym) => self.syms.push((sym, word.clone())),
            TermKind::Addr(object) => {
                self.state_margins(&word);
                self.addresses.push((object, word.clone()));
            }
            TermKind::App(function, args) => {
                let args: Vec<Word> = args.iter().map(|&arg| self.word(arg)).collect();
                self.apps.push(EncodedApp {
                    function,
                    sort,
                    args,
                    result: word.clone(),
                });
            }
            _ => {}
        }
        word
    }

    /// The low half of an address stays away from both ends.
    fn state_margins(&mut self, address: &[Bit]) {
        let margin = address
            .get(MARGIN_BITS as usize..LOW_BITS as usize)
            .unwrap_or(&[]);
        let inverted = Gates::word_not(margin);
        self.gates.clause(margin);
        self.gates.clause(&inverted);
    }
}
