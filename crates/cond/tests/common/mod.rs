//! Expressions for the property tests: an abstract syntax with its own reference semantics, independent of the crate's
//! arithmetic, and a generator that reads them off a tape of bytes (so that shrinking the tape shrinks the expression).
#![allow(dead_code)]

use std::collections::BTreeMap;

use proptest::prelude::ProptestConfig;

use drip_cond::{Assignment, FnKey, ObjKey, Sort, SymId, TermId, Terms};

/// A bounded number of cases; `PROPTEST_CASES` asks for another one.
pub fn config(cases: u32) -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(cases);
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(cases)
    }
}

#[derive(Clone, Debug)]
pub enum Expr {
    Bool(bool),
    Int(u32, u64),
    Sym(u32, Sort),
    Addr(u32),
    App(u32, Box<Expr>, Sort),
    Not(Box<Expr>),
    And(Vec<Expr>),
    Or(Vec<Expr>),
    Implies(Box<Expr>, Box<Expr>),
    Iff(Box<Expr>, Box<Expr>),
    Ite(Box<Expr>, Box<Expr>, Box<Expr>),
    Compare(&'static str, Box<Expr>, Box<Expr>),
    Binary(&'static str, Box<Expr>, Box<Expr>),
    Neg(Box<Expr>),
    Bnot(Box<Expr>),
    Zext(u32, Box<Expr>),
    Sext(u32, Box<Expr>),
    Trunc(u32, Box<Expr>),
}

pub const COMPARES: [&str; 10] = [
    "eq", "ne", "ult", "ule", "ugt", "uge", "slt", "sle", "sgt", "sge",
];
pub const BINARIES: [&str; 13] = [
    "add", "sub", "and", "or", "xor", "shl", "lshr", "ashr", "mul", "udiv", "urem", "sdiv", "srem",
];

/// Which expressions to make.
#[derive(Clone)]
pub struct Shape {
    pub widths: Vec<u32>,
    pub symbols_per_sort: u32,
    pub booleans: u32,
    pub functions: u32,
    pub objects: u32,
    /// How many of `BINARIES` may be used: the tail multiplies and divides.
    pub operators: usize,
    pub depth: u32,
}

pub struct Tape<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Tape<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Tape { bytes, at: 0 }
    }

    pub fn byte(&mut self) -> u8 {
        let byte = self.bytes.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        byte
    }

    pub fn below(&mut self, limit: usize) -> usize {
        if limit <= 1 {
            0
        } else {
            self.byte() as usize % limit
        }
    }

    pub fn word(&mut self) -> u64 {
        match self.byte() % 4 {
            0 => u64::from(self.byte() % 16),
            1 => u64::from(self.byte() % 16).wrapping_neg(),
            2 => 1u64
                .wrapping_shl(u32::from(self.byte()))
                .wrapping_sub(u64::from(self.byte() % 3))
                .wrapping_add(1),
            _ => (0..8).fold(0, |word, _| word << 8 | u64::from(self.byte())),
        }
    }

    pub fn exhausted(&self) -> bool {
        self.at >= self.bytes.len()
    }
}

/// Bytes that depend on the seed alone (splitmix).
pub fn random_bytes(seed: u64, count: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0xa076_1d64_78bd_642f) ^ 0x5851_f42d_4c95_7f2d;
    (0..count)
        .map(|_| {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            (z >> 56) as u8
        })
        .collect()
}

fn mask(width: u32) -> u64 {
    (u128::MAX >> (128 - width)) as u64
}

fn signed(value: u64, width: u32) -> i128 {
    let value = i128::from(value);
    if value >> (width - 1) & 1 == 1 {
        value - (1i128 << width)
    } else {
        value
    }
}

pub fn symbol_id(index: u32, sort: Sort) -> SymId {
    let class = match sort {
        Sort::Bool => 0,
        Sort::Bits(width) => width,
    };
    SymId(class * 100 + index)
}

impl Shape {
    pub fn small() -> Self {
        Shape {
            widths: vec![3, 2, 1],
            symbols_per_sort: 2,
            booleans: 1,
            functions: 0,
            objects: 0,
            operators: 13,
            depth: 4,
        }
    }

    pub fn wide() -> Self {
        Shape {
            widths: vec![32, 8, 64, 16],
            symbols_per_sort: 3,
            booleans: 2,
            functions: 2,
            objects: 3,
            operators: 13,
            depth: 5,
        }
    }

    pub fn boolean(&self, tape: &mut Tape<'_>, depth: u32) -> Expr {
        if depth == 0 || tape.exhausted() {
            return match tape.below(4) {
                0 if self.booleans > 0 => {
                    Expr::Sym(tape.below(self.booleans as usize) as u32, Sort::Bool)
                }
                1 => Expr::Bool(tape.byte() & 1 == 1),
                _ => self.comparison(tape, 0),
            };
        }
        let next = depth - 1;
        match tape.below(12) {
            0 => Expr::Not(Box::new(self.boolean(tape, next))),
            1 => Expr::And(self.booleans(tape, next)),
            2 => Expr::Or(self.booleans(tape, next)),
            3 => Expr::Implies(
                Box::new(self.boolean(tape, next)),
                Box::new(self.boolean(tape, next)),
            ),
            4 => Expr::Iff(
                Box::new(self.boolean(tape, next)),
                Box::new(self.boolean(tape, next)),
            ),
            5 => Expr::Ite(
                Box::new(self.boolean(tape, next)),
                Box::new(self.boolean(tape, next)),
                Box::new(self.boolean(tape, next)),
            ),
            _ => self.comparison(tape, next),
        }
    }

    fn booleans(&self, tape: &mut Tape<'_>, depth: u32) -> Vec<Expr> {
        (0..tape.below(4))
            .map(|_| self.boolean(tape, depth))
            .collect()
    }

    pub fn comparison(&self, tape: &mut Tape<'_>, depth: u32) -> Expr {
        let op = COMPARES[tape.below(COMPARES.len())];
        let width = self.width(tape);
        let a = self.bits(tape, width, depth);
        let b = if tape.below(2) == 0 {
            Expr::Int(width, tape.word() & mask(width))
        } else {
            self.bits(tape, width, depth)
        };
        Expr::Compare(op, Box::new(a), Box::new(b))
    }

    fn width(&self, tape: &mut Tape<'_>) -> u32 {
        self.widths[tape.below(self.widths.len())]
    }

    pub fn bits(&self, tape: &mut Tape<'_>, width: u32, depth: u32) -> Expr {
        if depth == 0 || tape.exhausted() {
            return self.leaf(tape, width);
        }
        let next = depth - 1;
        match tape.below(12) {
            0 | 1 => self.leaf(tape, width),
            2 => Expr::Ite(
                Box::new(self.boolean(tape, next)),
                Box::new(self.bits(tape, width, next)),
                Box::new(self.bits(tape, width, next)),
            ),
            3 => Expr::Neg(Box::new(self.bits(tape, width, next))),
            4 => Expr::Bnot(Box::new(self.bits(tape, width, next))),
            5..=7 => self.cast(tape, width, next),
            8 if self.functions > 0 => {
                let function = tape.below(self.functions as usize) as u32;
                let arg = self.bits(
                    tape,
                    self.widths[function as usize % self.widths.len()],
                    next,
                );
                Expr::App(function * 100 + width, Box::new(arg), Sort::Bits(width))
            }
            _ => {
                let op = BINARIES[tape.below(self.operators)];
                let a = self.bits(tape, width, next);
                let b = if tape.below(2) == 0 {
                    Expr::Int(width, tape.word() & mask(width))
                } else {
                    self.bits(tape, width, next)
                };
                if tape.below(4) == 0 {
                    Expr::Binary(op, Box::new(b), Box::new(a))
                } else {
                    Expr::Binary(op, Box::new(a), Box::new(b))
                }
            }
        }
    }

    fn cast(&self, tape: &mut Tape<'_>, width: u32, depth: u32) -> Expr {
        let from = self.width(tape);
        let inner = Box::new(self.bits(tape, from, depth));
        if from > width {
            Expr::Trunc(width, inner)
        } else if from == width {
            *inner
        } else if tape.below(2) == 0 {
            Expr::Zext(width, inner)
        } else {
            Expr::Sext(width, inner)
        }
    }

    fn leaf(&self, tape: &mut Tape<'_>, width: u32) -> Expr {
        match tape.below(4) {
            0 => Expr::Int(width, tape.word() & mask(width)),
            1 if width == 64 && self.objects > 0 => {
                Expr::Addr(tape.below(self.objects as usize) as u32)
            }
            _ => Expr::Sym(
                tape.below(self.symbols_per_sort as usize) as u32,
                Sort::Bits(width),
            ),
        }
    }
}

/// Values for the reference semantics.
#[derive(Clone, Default, Debug)]
pub struct World {
    pub symbols: BTreeMap<SymId, u64>,
    pub addresses: BTreeMap<u32, u64>,
    pub functions: BTreeMap<(u32, u64), u64>,
}

impl World {
    /// Values drawn from a tape, with addresses that keep the axioms.
    pub fn random(tape: &mut Tape<'_>, shape: &Shape) -> World {
        let mut world = World::default();
        for index in 0..shape.booleans {
            world
                .symbols
                .insert(symbol_id(index, Sort::Bool), u64::from(tape.byte() & 1));
        }
        for &width in &shape.widths {
            for index in 0..shape.symbols_per_sort {
                world.symbols.insert(
                    symbol_id(index, Sort::Bits(width)),
                    tape.word() & mask(width),
                );
            }
        }
        for object in 0..shape.objects {
            let low = (tape.word() & 0xffff_ffff)
                .clamp(drip_cond::address::LOW_MIN, drip_cond::address::LOW_MAX);
            let high = (tape.word() & 0x0fff_ffff) << 4 | u64::from(object);
            world.addresses.insert(object, high << 32 | low);
        }
        world
    }

    pub fn assignment(&self) -> Assignment {
        let mut assignment = Assignment::new();
        for (&sym, &value) in &self.symbols {
            assignment.set_sym(sym, value);
        }
        for (&object, &value) in &self.addresses {
            assignment.set_address(ObjKey(object), value);
        }
        for (&(function, arg), &value) in &self.functions {
            assignment.set_result(FnKey(function), vec![arg], value);
        }
        assignment
    }
}

impl Expr {
    pub fn width(&self) -> u32 {
        match self {
            Expr::Int(width, _)
            | Expr::Zext(width, _)
            | Expr::Sext(width, _)
            | Expr::Trunc(width, _) => *width,
            Expr::Sym(_, sort) | Expr::App(_, _, sort) => sort.width(),
            Expr::Addr(_) => 64,
            Expr::Ite(_, a, _) | Expr::Binary(_, a, _) | Expr::Neg(a) | Expr::Bnot(a) => a.width(),
            _ => 1,
        }
    }

    /// Builds the expression through the crate's constructors.
    pub fn build(&self, terms: &mut Terms) -> TermId {
        match self {
            Expr::Bool(value) => terms.bool(*value),
            Expr::Int(width, value) => terms.int(*width, *value),
            Expr::Sym(index, sort) => terms.sym(symbol_id(*index, *sort), *sort),
            Expr::Addr(object) => terms.addr(ObjKey(*object)),
            Expr::App(function, arg, sort) => {
                let arg = arg.build(terms);
                terms.app(FnKey(*function), &[arg], *sort)
            }
            Expr::Not(a) => {
                let a = a.build(terms);
                terms.not(a)
            }
            Expr::And(list) => {
                let list: Vec<TermId> = list.iter().map(|e| e.build(terms)).collect();
                terms.and(&list)
            }
            Expr::Or(list) => {
                let list: Vec<TermId> = list.iter().map(|e| e.build(terms)).collect();
                terms.or(&list)
            }
            Expr::Implies(a, b) => {
                let (a, b) = (a.build(terms), b.build(terms));
                terms.implies(a, b)
            }
            Expr::Iff(a, b) => {
                let (a, b) = (a.build(terms), b.build(terms));
                terms.iff(a, b)
            }
            Expr::Ite(c, a, b) => {
                let (c, a, b) = (c.build(terms), a.build(terms), b.build(terms));
                terms.ite(c, a, b)
            }
            Expr::Compare(op, a, b) => {
                let (a, b) = (a.build(terms), b.build(terms));
                build_compare(terms, op, a, b)
            }
            Expr::Binary(op, a, b) => {
                let (a, b) = (a.build(terms), b.build(terms));
                build_binary(terms, op, a, b)
            }
            Expr::Neg(a) => {
                let a = a.build(terms);
                terms.neg(a)
            }
            Expr::Bnot(a) => {
                let a = a.build(terms);
                terms.bnot(a)
            }
            Expr::Zext(width, a) => {
                let a = a.build(terms);
                terms.zext(a, *width)
            }
            Expr::Sext(width, a) => {
                let a = a.build(terms);
                terms.sext(a, *width)
            }
            Expr::Trunc(width, a) => {
                let a = a.build(terms);
                terms.trunc(a, *width)
            }
        }
    }

    /// The reference semantics.
    pub fn eval(&self, world: &World) -> u64 {
        let all = |list: &[Expr]| list.iter().all(|e| e.eval(world) != 0);
        let any = |list: &[Expr]| list.iter().any(|e| e.eval(world) != 0);
        match self {
            Expr::Bool(value) => u64::from(*value),
            Expr::Int(_, value) => *value,
            Expr::Sym(index, sort) => world
                .symbols
                .get(&symbol_id(*index, *sort))
                .copied()
                .unwrap_or(0),
            Expr::Addr(object) => world.addresses[object],
            Expr::App(function, arg, _) => world
                .functions
                .get(&(*function, arg.eval(world)))
                .copied()
                .unwrap_or(0),
            Expr::Not(a) => u64::from(a.eval(world) == 0),
            Expr::And(list) => u64::from(all(list)),
            Expr::Or(list) => u64::from(any(list)),
            Expr::Implies(a, b) => u64::from(a.eval(world) == 0 || b.eval(world) != 0),
            Expr::Iff(a, b) => u64::from(a.eval(world) == b.eval(world)),
            Expr::Ite(c, a, b) => {
                if c.eval(world) != 0 {
                    a.eval(world)
                } else {
                    b.eval(world)
                }
            }
            Expr::Compare(op, a, b) => compare(op, a.eval(world), b.eval(world), a.width()),
            Expr::Binary(op, a, b) => binary(op, a.eval(world), b.eval(world), a.width()),
            Expr::Neg(a) => (-signed(a.eval(world), a.width())) as u64 & mask(a.width()),
            Expr::Bnot(a) => !a.eval(world) & mask(a.width()),
            Expr::Zext(_, a) => a.eval(world),
            Expr::Sext(width, a) => signed(a.eval(world), a.width()) as u64 & mask(*width),
            Expr::Trunc(width, a) => a.eval(world) & mask(*width),
        }
    }
}

fn compare(op: &str, a: u64, b: u64, width: u32) -> u64 {
    let (sa, sb) = (signed(a, width), signed(b, width));
    u64::from(match op {
        "eq" => a == b,
        "ne" => a != b,
        "ult" => a < b,
        "ule" => a <= b,
        "ugt" => a > b,
        "uge" => a >= b,
        "slt" => sa < sb,
        "sle" => sa <= sb,
        "sgt" => sa > sb,
        _ => sa >= sb,
    })
}

fn binary(op: &str, a: u64, b: u64, width: u32) -> u64 {
    let (ua, ub) = (u128::from(a), u128::from(b));
    let (sa, sb) = (signed(a, width), signed(b, width));
    let big = b >= u64::from(width);
    let value = match op {
        "add" => ua + ub,
        "sub" => ua.wrapping_sub(ub),
        "mul" => ua * ub,
        "and" => ua & ub,
        "or" => ua | ub,
        "xor" => ua ^ ub,
        "shl" => {
            if big {
                0
            } else {
                ua << b
            }
        }
        "lshr" => {
            if big {
                0
            } else {
                ua >> b
            }
        }
        "ashr" => (sa >> b.min(100)) as u128,
        "udiv" => {
            if b == 0 {
                u128::MAX
            } else {
                ua / ub
            }
        }
        "urem" => {
            if b == 0 {
                ua
            } else {
                ua % ub
            }
        }
        "sdiv" => {
            (if b == 0 {
                if sa < 0 { 1 } else { -1 }
            } else {
                sa / sb
            }) as u128
        }
        _ => (if b == 0 { sa } else { sa % sb }) as u128,
    };
    value as u64 & mask(width)
}

fn build_compare(terms: &mut Terms, op: &str, a: TermId, b: TermId) -> TermId {
    match op {
        "eq" => terms.eq(a, b),
        "ne" => terms.ne(a, b),
        "ult" => terms.ult(a, b),
        "ule" => terms.ule(a, b),
        "ugt" => terms.ugt(a, b),
        "uge" => terms.uge(a, b),
        "slt" => terms.slt(a, b),
        "sle" => terms.sle(a, b),
        "sgt" => terms.sgt(a, b),
        _ => terms.sge(a, b),
    }
}

fn build_binary(terms: &mut Terms, op: &str, a: TermId, b: TermId) -> TermId {
    match op {
        "add" => terms.add(a, b),
        "sub" => terms.sub(a, b),
        "mul" => terms.mul(a, b),
        "and" => terms.band(a, b),
        "or" => terms.bor(a, b),
        "xor" => terms.bxor(a, b),
        "shl" => terms.shl(a, b),
        "lshr" => terms.lshr(a, b),
        "ashr" => terms.ashr(a, b),
        "udiv" => terms.udiv(a, b),
        "urem" => terms.urem(a, b),
        "sdiv" => terms.sdiv(a, b),
        _ => terms.srem(a, b),
    }
}

/// Every assignment of the small shape's unknowns.
pub fn all_worlds(shape: &Shape) -> Vec<World> {
    let mut worlds = vec![World::default()];
    let mut multiply = |sym, count: u64| {
        worlds = worlds
            .iter()
            .flat_map(|world| {
                (0..count).map(move |value| {
                    let mut world = world.clone();
                    world.symbols.insert(sym, value);
                    world
                })
            })
            .collect();
    };
    for index in 0..shape.booleans {
        multiply(symbol_id(index, Sort::Bool), 2);
    }
    for &width in &shape.widths {
        for index in 0..shape.symbols_per_sort {
            multiply(symbol_id(index, Sort::Bits(width)), 1 << width);
        }
    }
    worlds
}
