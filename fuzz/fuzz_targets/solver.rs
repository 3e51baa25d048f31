//! The solver never panics, its models hold, and it refutes nothing that can hold.
//!
//! The bytes are a program for a stack of terms over three 3-bit words and two booleans: few enough that every
//! assignment can be tried.

#![no_main]

use drip_cond::{Assignment, Budget, Sort, SymId, TermId, Terms, Verdict, check};
use libfuzzer_sys::fuzz_target;

const WIDTH: u32 = 3;
const WORDS: u32 = 3;
const BOOLEANS: u32 = 2;

/// Operations of one program; more make larger terms, not other ones.
const MAX_OPERATIONS: usize = 96;

fuzz_target!(|bytes: &[u8]| {
    let mut machine = Machine::default();
    for &byte in bytes.iter().take(MAX_OPERATIONS) {
        machine.step(byte);
    }
    let Machine {
        mut terms,
        conditions,
        ..
    } = machine;
    let answer = check(&mut terms, &conditions, &Budget::default());
    match answer.verdict {
        Verdict::Feasible => {
            let model = answer.model.expect("a feasible answer has a model");
            assert!(conditions.iter().all(|&t| model.holds(&terms, t)));
        }
        Verdict::Infeasible => assert!(!assignments().any(|a| holds(&terms, &conditions, &a))),
        Verdict::Unknown => {}
    }
});

fn assignments() -> impl Iterator<Item = Assignment> {
    let bits = WIDTH * WORDS + BOOLEANS;
    (0..1u64 << bits).map(|number| {
        let mut assignment = Assignment::new();
        for word in 0..WORDS {
            let value = number >> (word * WIDTH) & ((1 << WIDTH) - 1);
            assignment.set_sym(SymId(word), value);
        }
        for boolean in 0..BOOLEANS {
            let value = number >> (WORDS * WIDTH + boolean) & 1;
            assignment.set_sym(SymId(WORDS + boolean), value);
        }
        assignment
    })
}

fn holds(terms: &Terms, conditions: &[TermId], assignment: &Assignment) -> bool {
    conditions.iter().all(|&t| terms.eval(t, assignment) != 0)
}

#[derive(Default)]
struct Machine {
    terms: Terms,
    words: Vec<TermId>,
    truths: Vec<TermId>,
    conditions: Vec<TermId>,
}

impl Machine {
    fn word(&mut self) -> TermId {
        self.words
            .pop()
            .unwrap_or_else(|| self.terms.sym(SymId(0), Sort::Bits(WIDTH)))
    }

    fn truth(&mut self) -> TermId {
        self.truths
            .pop()
            .unwrap_or_else(|| self.terms.sym(SymId(WORDS), Sort::Bool))
    }

    fn step(&mut self, byte: u8) {
        let operand = u32::from(byte >> 5);
        match byte & 31 {
            0..4 => {
                let word = self.terms.sym(SymId(operand % WORDS), Sort::Bits(WIDTH));
                self.words.push(word);
            }
            4 | 5 => {
                let truth = self.terms.sym(SymId(WORDS + operand % BOOLEANS), Sort::Bool);
                self.truths.push(truth);
            }
            6 | 7 => {
                let number = self.terms.int(WIDTH, u64::from(operand));
                self.words.push(number);
            }
            operation @ 8..20 => {
                let (b, a) = (self.word(), self.word());
                let word = self.binary(operation, a, b);
                self.words.push(word);
            }
            operation @ 20..26 => {
                let (b, a) = (self.word(), self.word());
                let truth = self.compare(operation, a, b);
                self.truths.push(truth);
            }
            operation @ 26..30 => {
                let (b, a) = (self.truth(), self.truth());
                let truth = match operation {
                    26 => self.terms.and(&[a, b]),
                    27 => self.terms.or(&[a, b]),
                    28 => self.terms.not(a),
                    _ => {
                        let (y, x) = (self.word(), self.word());
                        let word = self.terms.ite(a, x, y);
                        self.words.push(word);
                        b
                    }
                };
                self.truths.push(truth);
            }
            _ => {
                let condition = self.truth();
                self.conditions.push(condition);
            }
        }
    }

    fn binary(&mut self, operation: u8, a: TermId, b: TermId) -> TermId {
        let terms = &mut self.terms;
        match operation {
            8 | 9 => terms.add(a, b),
            10 => terms.sub(a, b),
            11 => terms.mul(a, b),
            12 => terms.band(a, b),
            13 => terms.bor(a, b),
            14 => terms.bxor(a, b),
            15 => terms.shl(a, b),
            16 => terms.lshr(a, b),
            17 => terms.ashr(a, b),
            18 => terms.urem(a, b),
            _ => terms.sdiv(a, b),
        }
    }

    fn compare(&mut self, operation: u8, a: TermId, b: TermId) -> TermId {
        let terms = &mut self.terms;
        match operation {
            20 | 21 => terms.eq(a, b),
            22 => terms.ult(a, b),
            23 => terms.ule(a, b),
            24 => terms.slt(a, b),
            _ => terms.sle(a, b),
        }
    }
}
