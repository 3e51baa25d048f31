//! Conditions read like the source they come from.

use drip_cond::{FnKey, Names, ObjKey, Sort, SymId, TermId, Terms};

struct SourceNames;

impl Names for SourceNames {
    fn sym(&self, sym: SymId) -> String {
        ["len", "n", "p", "flags", "c", "ok"]
            .get(sym.0 as usize)
            .map_or_else(|| sym.to_string(), |s| (*s).to_string())
    }

    fn object(&self, _object: ObjKey) -> String {
        "buffer".to_string()
    }

    fn function(&self, _function: FnKey) -> String {
        "init".to_string()
    }

    fn is_pointer(&self, sym: SymId) -> bool {
        sym.0 == 2
    }
}

struct Fixture {
    terms: Terms,
    len: TermId,
    n: TermId,
    p: TermId,
    flags: TermId,
    c: TermId,
    ok: TermId,
}

fn fixture() -> Fixture {
    let mut terms = Terms::new();
    let [len, n, flags] = [0, 1, 3].map(|i| terms.sym(SymId(i), Sort::Bits(32)));
    let p = terms.sym(SymId(2), Sort::Bits(64));
    let c = terms.sym(SymId(4), Sort::Bits(8));
    let ok = terms.sym(SymId(5), Sort::Bool);
    Fixture {
        terms,
        len,
        n,
        p,
        flags,
        c,
        ok,
    }
}

impl Fixture {
    fn k(&mut self, value: i64) -> TermId {
        self.terms.int(32, value as u64)
    }

    fn assert_text(&self, t: TermId, text: &str) {
        assert_eq!(self.terms.display(t, &SourceNames), text);
    }
}

#[test]
fn comparisons() {
    let mut f = fixture();
    let (ten, minus) = (f.k(10), f.k(-1));
    let t = f.terms.sge(f.len, ten);
    f.assert_text(t, "len >= 10");
    let t = f.terms.slt(f.len, f.n);
    f.assert_text(t, "len < n");
    let t = f.terms.eq(f.len, minus);
    f.assert_text(t, "len == -1");
    let t = f.terms.ult(f.len, minus);
    f.assert_text(t, "len != -1");
    let below = f.k(-2);
    let t = f.terms.ult(f.len, below);
    f.assert_text(t, "len < 4294967294");
    let t = f.terms.slt(f.len, below);
    f.assert_text(t, "len < -2");
}

#[test]
fn pointers_and_flags() {
    let mut f = fixture();
    let null = f.terms.int(64, 0);
    let t = f.terms.ne(f.p, null);
    f.assert_text(t, "p != NULL");
    let buffer = f.terms.addr(ObjKey(0));
    let t = f.terms.eq(f.p, buffer);
    f.assert_text(t, "p == &buffer");
    let four = f.k(4);
    let masked = f.terms.band(f.flags, four);
    let t = f.terms.truthy(masked);
    f.assert_text(t, "(flags & 4) != 0");
    let not_ok = f.terms.not(f.ok);
    f.assert_text(not_ok, "!ok");
}

#[test]
fn sums_and_casts() {
    let mut f = fixture();
    let two = f.k(2);
    let difference = f.terms.sub(f.len, f.n);
    f.assert_text(difference, "len - n");
    let twice = f.terms.mul(f.n, two);
    let sum = f.terms.add(twice, two);
    f.assert_text(sum, "2 * n + 2");
    let promoted = f.terms.sext(f.c, 32);
    let seven = f.k(7);
    let t = f.terms.eq(promoted, seven);
    f.assert_text(t, "c == 7");
    let low = f.terms.trunc(f.len, 8);
    f.assert_text(low, "(uint8_t)len");
}

#[test]
fn intervals_and_junctions() {
    let mut f = fixture();
    let (five, three) = (f.k(5), f.k(3));
    let shifted = f.terms.sub(f.len, five);
    let t = f.terms.ult(shifted, three);
    f.assert_text(t, "len >= 5 && len < 8");
    let small = f.terms.slt(f.n, three);
    let both = f.terms.and(&[f.ok, small]);
    f.assert_text(both, "ok && n < 3");
    let zero = f.k(0);
    let result = f.terms.app(FnKey(0), &[f.n], Sort::Bits(32));
    let failed = f.terms.ne(result, zero);
    let either = f.terms.or(&[both, failed]);
    f.assert_text(either, "(ok && n < 3) || init(n) != 0");
}

#[test]
fn closures_are_names() {
    let f = fixture();
    assert_eq!(
        f.terms.display(f.n, &|sym: SymId| format!("v{}", sym.0)),
        "v1"
    );
}
