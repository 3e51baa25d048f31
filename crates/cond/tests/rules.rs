//! One example for each rule of the constructors.

use drip_cond::{FnKey, ObjKey, Sort, SymId, TermId, TermKind, Terms};

const X: u32 = 0;
const Y: u32 = 1;
const B: u32 = 100;

fn word(terms: &mut Terms, sym: u32) -> TermId {
    terms.sym(SymId(sym), Sort::Bits(32))
}

fn flag(terms: &mut Terms, sym: u32) -> TermId {
    terms.sym(SymId(sym), Sort::Bool)
}

fn k(terms: &mut Terms, value: i64) -> TermId {
    terms.int(32, value as u64)
}

/// Reads a term: `(slt x 10)`, `(zext 64 x)`; x, y, z are words of 32 bits, n of 8, p and q of 64, a to d booleans;
/// numbers have 32 bits unless `:width` follows.
fn read(terms: &mut Terms, text: &str) -> TermId {
    let spaced = text.replace('(', " ( ").replace(')', " ) ");
    let mut tokens = spaced.split_whitespace();
    let t = read_tokens(terms, &mut tokens);
    assert_eq!(tokens.next(), None, "{text}");
    t
}

fn read_tokens<'t>(terms: &mut Terms, tokens: &mut impl Iterator<Item = &'t str>) -> TermId {
    let token = tokens.next().expect("a term");
    read_token(terms, token, tokens)
}

fn read_token<'t>(
    terms: &mut Terms,
    token: &str,
    tokens: &mut impl Iterator<Item = &'t str>,
) -> TermId {
    match token {
        "(" => {
            let op = tokens.next().expect("an operator").to_string();
            let mut args = Vec::new();
            let width = match op.as_str() {
                "zext" | "sext" | "trunc" => {
                    tokens.next().and_then(|w| w.parse().ok()).expect("a width")
                }
                _ => 0,
            };
            loop {
                match tokens.next().expect("an operand or )") {
                    ")" => return apply(terms, &op, width, &args),
                    token => args.push(read_token(terms, token, tokens)),
                }
            }
        }
        "true" => Terms::TRUE,
        "false" => Terms::FALSE,
        "x" | "y" | "z" => terms.sym(SymId(u32::from(token.as_bytes()[0])), Sort::Bits(32)),
        "n" => terms.sym(SymId(u32::from(token.as_bytes()[0])), Sort::Bits(8)),
        "p" | "q" => terms.sym(SymId(u32::from(token.as_bytes()[0])), Sort::Bits(64)),
        "a" | "b" | "c" | "d" => terms.sym(SymId(u32::from(token.as_bytes()[0])), Sort::Bool),
        number => {
            let (value, width) = number.split_once(':').unwrap_or((number, "32"));
            let value: i128 = value.parse().expect("a number");
            terms.int(width.parse().expect("a width"), value as u64)
        }
    }
}

fn apply(terms: &mut Terms, op: &str, width: u32, args: &[TermId]) -> TermId {
    match (op, args) {
        ("and", _) => terms.and(args),
        ("or", _) => terms.or(args),
        ("not", &[t]) => terms.not(t),
        ("neg", &[t]) => terms.neg(t),
        ("bnot", &[t]) => terms.bnot(t),
        ("zext", &[t]) => terms.zext(t, width),
        ("sext", &[t]) => terms.sext(t, width),
        ("trunc", &[t]) => terms.trunc(t, width),
        ("ite", &[c, t, e]) => terms.ite(c, t, e),
        (_, &[s, t]) => {
            let build = match op {
                "iff" => Terms::iff,
                "implies" => Terms::implies,
                "eq" => Terms::eq,
                "ne" => Terms::ne,
                "ult" => Terms::ult,
                "ule" => Terms::ule,
                "ugt" => Terms::ugt,
                "uge" => Terms::uge,
                "slt" => Terms::slt,
                "sle" => Terms::sle,
                "sgt" => Terms::sgt,
                "sge" => Terms::sge,
                "add" => Terms::add,
                "sub" => Terms::sub,
                "mul" => Terms::mul,
                "udiv" => Terms::udiv,
                "sdiv" => Terms::sdiv,
                "urem" => Terms::urem,
                "srem" => Terms::srem,
                "shl" => Terms::shl,
                "lshr" => Terms::lshr,
                "ashr" => Terms::ashr,
                "band" => Terms::band,
                "bor" => Terms::bor,
                "bxor" => Terms::bxor,
                _ => panic!("unknown operator {op}"),
            };
            build(terms, s, t)
        }
        _ => panic!("{op} of {} operands", args.len()),
    }
}

/// What has to be one and the same term, by the rule that makes it so.
const SAME: &[(&str, &str, &str)] = &[
    ("constants fold", "(add 3 -4)", "-1"),
    ("sums cancel", "(sub (add x y) x)", "y"),
    (
        "sums ignore order",
        "(add (add x 1) y)",
        "(add (add y x) 1)",
    ),
    (
        "shifts and products are sums",
        "(add (shl x 1) x)",
        "(mul x 3)",
    ),
    ("the complement is a sum", "(bnot x)", "(sub -1 x)"),
    ("double complement", "(bnot (bnot x))", "x"),
    ("double minus", "(neg (neg x))", "x"),
    ("double negation", "(not (not a))", "a"),
    ("greater is less", "(ugt x y)", "(ult y x)"),
    ("not less is at least", "(not (slt x y))", "(sle y x)"),
    ("at most is below the next", "(sle x 9)", "(slt x 10)"),
    ("constants go right", "(slt 9 x)", "(sge x 10)"),
    ("below one is zero", "(ult x 1)", "(eq x 0)"),
    ("above zero is not zero", "(ugt x 0)", "(ne x 0)"),
    ("nothing is below zero", "(ult x 0)", "false"),
    ("all is at most the largest", "(sle x 2147483647)", "true"),
    (
        "below the half is a sign test",
        "(ult x 2147483648)",
        "(sge x 0)",
    ),
    ("equality solves sums", "(eq (add x 3) 10)", "(eq x 7)"),
    (
        "equality divides by odd factors",
        "(eq (mul x 3) 21)",
        "(eq x 7)",
    ),
    ("even is never odd", "(eq (mul x 6) 21)", "false"),
    (
        "even factors leave the high bits",
        "(eq (mul x 2) 6)",
        "(eq (band x 2147483647) 3)",
    ),
    (
        "equality has one side",
        "(eq (add x 1) y)",
        "(eq x (sub y 1))",
    ),
    (
        "equality is symmetric",
        "(eq (add x z) y)",
        "(eq (sub y z) x)",
    ),
    (
        "equality through exclusive or",
        "(eq (bxor x 5) 6)",
        "(eq x 3)",
    ),
    ("exclusive or of equals", "(eq (bxor x y) 0)", "(eq x y)"),
    ("equality through zext", "(eq (zext 64 x) 7:64)", "(eq x 7)"),
    (
        "zext bounds equality",
        "(eq (zext 64 x) 4294967296:64)",
        "false",
    ),
    (
        "equality of two zexts",
        "(eq (zext 64 x) (zext 64 y))",
        "(eq x y)",
    ),
    (
        "equality through sext",
        "(eq (sext 64 x) -1:64)",
        "(eq x -1)",
    ),
    (
        "sext bounds equality",
        "(eq (sext 64 x) 2147483648:64)",
        "false",
    ),
    (
        "zext of a boolean is the boolean",
        "(ne (zext 32 a) 0)",
        "a",
    ),
    (
        "sext of a boolean is the boolean",
        "(eq (sext 32 a) -1)",
        "a",
    ),
    (
        "equality through a choice of constants",
        "(eq (ite a 3 4) 4)",
        "(not a)",
    ),
    (
        "order through a choice of constants",
        "(slt (ite a -1 4) 0)",
        "a",
    ),
    (
        "equality through half a choice",
        "(eq (ite a 0 x) 4)",
        "(and (not a) (eq x 4))",
    ),
    (
        "a choice against its own branch",
        "(eq (ite a x y) x)",
        "(or a (eq x y))",
    ),
    (
        "choices by one condition",
        "(eq (ite a x y) (ite a y x))",
        "(eq x y)",
    ),
    (
        "operators enter choices",
        "(bor (ite a 1 2) 4)",
        "(ite a 5 6)",
    ),
    ("sums enter choices", "(add (ite a 1 2) 4)", "(ite a 5 6)"),
    (
        "a bit is set or not",
        "(eq (band x 4) 4)",
        "(ne (band x 4) 0)",
    ),
    ("masks bound equality", "(eq (band x 4) 3)", "false"),
    ("masks bound order", "(ult (band x 7) 8)", "true"),
    ("masks of masks", "(band (band x 12) 6)", "(band x 4)"),
    ("masks of others' bits", "(band (bor x 4) 3)", "(band x 3)"),
    ("masks of bits that are set", "(band (bor x 7) 3)", "3"),
    (
        "masks of a choice of others' bits",
        "(band (bor x (ite a 4 8)) 3)",
        "(band x 3)",
    ),
    (
        "or with a constant",
        "(eq (bor x 4) 5)",
        "(eq (band x -5) 1)",
    ),
    ("or with a constant bounds", "(eq (bor x 4) 3)", "false"),
    (
        "no bit of either",
        "(eq (bor x y) 0)",
        "(and (eq x 0) (eq y 0))",
    ),
    (
        "all bits of both",
        "(eq (band x y) -1)",
        "(and (eq x -1) (eq y -1))",
    ),
    ("a word and its complement", "(band x (bnot x))", "0"),
    ("a word or its complement", "(bor x (bnot x))", "-1"),
    (
        "low bits by cast or mask",
        "(eq (trunc 8 x) 3:8)",
        "(eq (band x 255) 3)",
    ),
    (
        "narrow and widen is a mask",
        "(zext 32 (trunc 8 x))",
        "(band x 255)",
    ),
    (
        "promotion and back cancels",
        "(trunc 8 (add (sext 32 n) 1))",
        "(add n 1:8)",
    ),
    (
        "truncation enters masks",
        "(trunc 8 (bxor (zext 32 n) 3))",
        "(bxor n 3:8)",
    ),
    ("casts of casts", "(trunc 16 (zext 64 x))", "(trunc 16 x)"),
    (
        "sext of a positive is zext",
        "(sext 64 (lshr x 1))",
        "(zext 64 (lshr x 1))",
    ),
    ("division by powers is a shift", "(udiv x 8)", "(lshr x 3)"),
    ("remainder by powers is a mask", "(urem x 8)", "(band x 7)"),
    ("signed division by one", "(sdiv x 1)", "x"),
    ("signed division by minus one", "(sdiv x -1)", "(neg x)"),
    (
        "signed remainder of a positive",
        "(srem (band x 255) 8)",
        "(band x 7)",
    ),
    ("shifts add up", "(lshr (lshr x 3) 4)", "(lshr x 7)"),
    ("shifted out", "(shl x 32)", "0"),
    (
        "shift of a positive",
        "(ashr (band x 255) 2)",
        "(lshr (band x 255) 2)",
    ),
    (
        "equality through a shift",
        "(eq (lshr x 4) 3)",
        "(eq (band x -16) 48)",
    ),
    ("order through a shift", "(ult (lshr x 4) 3)", "(ult x 48)"),
    (
        "order through a division",
        "(ult (udiv x 10) 3)",
        "(ult x 30)",
    ),
    ("remainders bound order", "(ult (urem x 10) 10)", "true"),
    (
        "order through zext",
        "(slt (zext 64 x) 10:64)",
        "(ult x 10)",
    ),
    (
        "order through sext",
        "(slt (sext 64 x) 10:64)",
        "(slt x 10)",
    ),
    (
        "order of two zexts",
        "(slt (zext 64 x) (zext 64 y))",
        "(ult x y)",
    ),
    (
        "order of two sexts",
        "(ult (sext 64 x) (sext 64 y))",
        "(ult x y)",
    ),
    (
        "signed order of positives",
        "(slt (band x 7) (band y 7))",
        "(ult (band x 7) (band y 7))",
    ),
    ("conjunctions are flat", "(and (and a b) a)", "(and b a)"),
    ("complements collapse", "(or a b (not a))", "true"),
    ("de Morgan", "(not (and a b))", "(or (not a) (not b))"),
    ("units resolve", "(and a (or (not a) b))", "(and a b)"),
    ("units absorb", "(and a (or a b))", "a"),
    (
        "units resolve, dually",
        "(or a (and (not a) b))",
        "(or a b)",
    ),
    ("implication", "(implies a false)", "(not a)"),
    ("equivalence with a constant", "(iff a false)", "(not a)"),
    (
        "equivalence of negations",
        "(iff (not a) (not b))",
        "(iff a b)",
    ),
    (
        "equivalence with itself negated",
        "(iff a (not a))",
        "false",
    ),
    ("choice by a negation", "(ite (not a) 1 2)", "(ite a 2 1)"),
    ("choice asked again", "(ite a (ite a 1 2) 3)", "(ite a 1 3)"),
    ("choice of booleans", "(ite a b false)", "(and a b)"),
    ("choice of opposites", "(ite a b (not b))", "(iff a b)"),
    ("choice that tests its value", "(ite (eq x 0) 0 x)", "x"),
    (
        "negated choice",
        "(not (ite a b c))",
        "(ite a (not b) (not c))",
    ),
];

#[test]
fn rules() {
    let names = |sym: SymId| char::from_u32(sym.0).map_or_else(String::new, String::from);
    for &(rule, left, right) in SAME {
        let mut terms = Terms::new();
        let (s, t) = (read(&mut terms, left), read(&mut terms, right));
        assert_eq!(
            s,
            t,
            "{rule}: {left} is {}, not {}",
            terms.display(s, &names),
            terms.display(t, &names)
        );
        // The other order of construction must not matter.
        let mut terms = Terms::new();
        let (t, s) = (read(&mut terms, right), read(&mut terms, left));
        assert_eq!(s, t, "{rule}, built the other way round: {left}");
        assert_eq!(terms.ill_sorted(), 0, "{rule}");
    }
}

#[test]
fn addresses_keep_their_axioms() {
    let mut terms = Terms::new();
    let (p, q, null) = (
        terms.addr(ObjKey(1)),
        terms.addr(ObjKey(2)),
        terms.int(64, 0),
    );
    assert_eq!(terms.eq(p, null), Terms::FALSE);
    assert_eq!(terms.eq(p, q), Terms::FALSE);
    assert_eq!(terms.ne(p, p), Terms::FALSE);
    let eight = terms.int(64, 8);
    let (inside, other) = (terms.add(p, eight), terms.sub(q, eight));
    assert_eq!(terms.eq(inside, q), Terms::FALSE);
    assert_eq!(terms.eq(inside, other), Terms::FALSE);
    assert_eq!(terms.eq(inside, p), Terms::FALSE);
    let minus_one = terms.int(64, u64::MAX);
    assert_eq!(terms.eq(p, minus_one), Terms::FALSE);
    // Far away from one object may well be another one.
    let far = terms.int(64, 1 << 40);
    let beyond = terms.add(p, far);
    assert!(matches!(
        terms.kind(terms.len().checked_sub(1).map_or(p, |_| beyond)),
        TermKind::Linear(_)
    ));
    let equal = terms.eq(beyond, q);
    assert!(matches!(terms.kind(equal), TermKind::Eq(..)));
}

#[test]
fn choices_of_places_are_decided_by_places() {
    let mut terms = Terms::new();
    let (p, q, null) = (
        terms.addr(ObjKey(1)),
        terms.addr(ObjKey(2)),
        terms.int(64, 0),
    );
    let (b, x) = (flag(&mut terms, B), terms.sym(SymId(5), Sort::Bits(64)));
    let either = terms.ite(b, p, q);
    assert_eq!(terms.eq(either, null), Terms::FALSE);
    assert_eq!(terms.eq(either, p), b);
    let checked = terms.ite(b, p, null);
    assert_eq!(terms.ne(checked, null), b);
    assert_eq!(terms.eq(checked, q), Terms::FALSE);
    let eight = terms.int(64, 8);
    let (field, place) = (terms.add(either, eight), terms.add(q, eight));
    let not_b = terms.not(b);
    assert_eq!(terms.eq(field, place), not_b);
    let open = terms.ite(b, x, q);
    let (is_p, x_is_p) = (terms.eq(open, p), terms.eq(x, p));
    assert_eq!(is_p, terms.and(&[b, x_is_p]));
}

#[test]
fn functions_are_congruent_by_construction() {
    let mut terms = Terms::new();
    let x = word(&mut terms, X);
    let one = k(&mut terms, 1);
    let (next, plus) = (terms.add(x, one), terms.add(one, x));
    let (f, g) = (
        terms.app(FnKey(1), &[next], Sort::Bits(32)),
        terms.app(FnKey(1), &[plus], Sort::Bits(32)),
    );
    assert_eq!(f, g);
    let h = terms.app(FnKey(2), &[plus], Sort::Bits(32));
    assert_ne!(f, h);
}

#[test]
fn ill_sorted_operands_are_coerced_and_counted() {
    let mut terms = Terms::new();
    let (b, x) = (flag(&mut terms, B), word(&mut terms, X));
    let sum = terms.add(x, b);
    assert_eq!(terms.sort(sum), Sort::Bits(32));
    let conjunction = terms.and(&[x, b]);
    assert_eq!(terms.sort(conjunction), Sort::Bool);
    let wide = terms.int(200, 5);
    assert_eq!(terms.sort(wide), Sort::Bits(64));
    assert_eq!(terms.ill_sorted(), 3);
}

#[test]
fn deep_terms_need_no_deep_stack() {
    let mut terms = Terms::new();
    let mut word_chain = word(&mut terms, X);
    let mut flag_chain = flag(&mut terms, B);
    for i in 0..50_000u32 {
        let b = terms.sym(SymId(1000 + i), Sort::Bool);
        let constant = terms.int(32, u64::from(i));
        word_chain = terms.ite(b, constant, word_chain);
        flag_chain = if i % 2 == 0 {
            terms.or(&[flag_chain, b])
        } else {
            terms.and(&[flag_chain, b])
        };
    }
    let negated = terms.not(flag_chain);
    assert_eq!(terms.not(negated), flag_chain);
    let zero = terms.int(32, 0);
    let test = terms.eq(word_chain, zero);
    let wide = terms.sext(word_chain, 64);
    let narrow = terms.trunc(wide, 8);
    assert_eq!(terms.sort(narrow), Sort::Bits(8));
    assert!(terms.eval_bool(test, &drip_cond::Assignment::new()));
    let map = [(zero, word_chain)].into_iter().collect();
    assert_ne!(terms.substitute(test, &map), test);
    assert!(
        !terms
            .display(test, &|sym: SymId| sym.to_string())
            .is_empty()
    );
}

#[test]
fn shared_operands_stay_shared() {
    // Each step uses the one before twice; pushing a cast into all of them would never end.
    let mut terms = Terms::new();
    let mut hash = word(&mut terms, X);
    let three = k(&mut terms, 3);
    for _ in 0..200 {
        let mixed = terms.bxor(hash, three);
        let twice = terms.mul(mixed, mixed);
        hash = terms.add(twice, hash);
    }
    let before = terms.len();
    let low = terms.trunc(hash, 8);
    assert_eq!(terms.sort(low), Sort::Bits(8));
    assert!(terms.len() < before + 5000);
}

#[test]
fn substitution_simplifies_again() {
    let mut terms = Terms::new();
    let (x, y, five) = (word(&mut terms, X), word(&mut terms, Y), k(&mut terms, 5));
    let sum = terms.add(x, y);
    let test = terms.eq(sum, five);
    let two = k(&mut terms, 2);
    let three = k(&mut terms, 3);
    let map = [(x, two)].into_iter().collect();
    let replaced = terms.substitute(test, &map);
    assert_eq!(replaced, terms.eq(y, three));
    // Simultaneous: x and y change places.
    let difference = terms.sub(x, y);
    let swap = [(x, y), (y, x)].into_iter().collect();
    let swapped = terms.substitute(difference, &swap);
    assert_eq!(swapped, terms.sub(y, x));
}
