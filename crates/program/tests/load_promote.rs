//! Which variables become values, and what remains of them.

mod load_common;

use drip_program::*;
use load_common::*;

fn allocas(program: &Program, body: &Body) -> Vec<String> {
    find(body, |inst| match inst.op {
        Op::Alloca { var: Some(var), .. } => {
            Some(program.strings.get(body.vars[var].name).to_owned())
        }
        Op::Alloca { var: None, .. } => Some("?".to_owned()),
        _ => None,
    })
}

fn uninits(program: &Program, body: &Body) -> Vec<String> {
    find(body, |inst| match inst.op {
        Op::Uninit { var } => Some(
            var.map_or("?", |v| program.strings.get(body.vars[v].name))
                .to_owned(),
        ),
        _ => None,
    })
}

fn phis(body: &Body) -> usize {
    find(body, |inst| matches!(inst.op, Op::Phi { .. }).then_some(())).len()
}

#[test]
fn a_store_becomes_a_binding_with_its_position() {
    let program = load_c("int f(int a) {\n int x = a;\n x = 7;\n return x + a;\n}\n");
    let body = body(&program, "f");
    assert_eq!(
        binds(&program, body),
        ["a = arg0 @0", "x = arg0 @2", "x = 7 @3"]
    );
    assert_eq!(allocas(&program, body), [""; 0]);
    assert_eq!(body.blocks.len(), 1);
}

#[test]
fn an_uninitialised_variable_is_one_symbol_in_the_entry() {
    let program = load_c(
        "int g(void);\nint f(int c) { int x, y; if (c) x = g(); int r = x; if (g()) r += x; return r; }\n",
    );
    let body = body(&program, "f");
    assert_eq!(uninits(&program, body), ["x"]);
    assert_eq!(allocas(&program, body), [""; 0]);
    let entry = body
        .block_insts(BlockId::new(0))
        .next()
        .map(|i| body.insts[i].op);
    assert!(
        matches!(entry, Some(Op::Uninit { .. })),
        "{}",
        text(&program, "f")
    );
}

#[test]
fn a_variable_that_is_written_first_has_no_unknown_start() {
    let program =
        load_c("int g(void);\nint f(int n) { int s; s = 0; while (n--) s += g(); return s; }\n");
    let body = body(&program, "f");
    assert_eq!(uninits(&program, body), [""; 0]);
    // `s` and `n` at the loop's head.
    assert_eq!(phis(body), 2, "{}", text(&program, "f"));
}

#[test]
fn phis_stand_only_where_the_variable_is_read_again() {
    let program =
        load_c("void g(int);\nvoid f(int c) { int x; if (c) x = 1; else x = 2; g(c); }\n");
    assert_eq!(phis(body(&program, "f")), 0);
}

#[test]
fn a_variable_whose_address_goes_somewhere_stays_in_memory() {
    let program =
        load_c("void g(int *);\nint f(int a) { int x = a, y = 2; g(&x); return x + y; }\n");
    let body = body(&program, "f");
    assert_eq!(allocas(&program, body), ["x"]);
    assert_eq!(binds(&program, body), ["a = arg0 @0", "y = 2 @2"]);
}

#[test]
fn volatile_variables_and_unions_stay_in_memory() {
    let program = load_c(
        "int f(int a) { volatile int v = a; union { int i; float f; } u; u.f = 1.0f; return v + u.i; }\n",
    );
    assert_eq!(allocas(&program, body(&program, "f")), ["v", "u"]);
}

#[test]
fn structs_and_small_arrays_are_split() {
    let program = load_c(
        "struct in { char *p; int n; };\nstruct s { int k; struct in in[2]; };\n\
         char *f(char *p, int n) { struct s s; int a[2]; s.k = 1; s.in[1].p = p; s.in[1].n = n; a[1] = s.in[1].n;\n\
         return s.in[1].p + a[1] + s.k; }\n",
    );
    let body = body(&program, "f");
    assert_eq!(allocas(&program, body), [""; 0]);
    assert_eq!(
        binds(&program, body),
        [
            "p = arg0 @0",
            "n = arg1 @0",
            "s.k = 1 @3",
            "s.in[1].p = arg0 @3",
            "s.in[1].n = arg1 @3",
            "a[1] = arg1 @3"
        ]
    );
    let part = body
        .vars
        .iter()
        .find(|v| program.strings.get(v.name) == "s.in[1].p");
    let ty = part.and_then(|v| v.ty).map(|ty| &program.di_types[ty]);
    assert!(matches!(ty, Some(DiType::Pointer { .. })), "{ty:?}");
}

#[test]
fn one_part_of_a_struct_may_be_uninitialised() {
    let program = load_c(
        "struct s { int a, b; };\nint f(int x) { struct s s; s.a = x; return s.a + s.b; }\n",
    );
    assert_eq!(uninits(&program, body(&program, "f")), ["s.b"]);
}

#[test]
fn zeroing_a_struct_binds_its_parts() {
    let program = load_c(
        "struct s { char *p; int n; long q; };\nlong f(int x) { struct s s = {0}; s.n = x; return s.n + s.q + (s.p != 0); }\n",
    );
    let body = body(&program, "f");
    assert_eq!(allocas(&program, body), [""; 0]);
    assert_eq!(
        binds(&program, body),
        [
            "x = arg0 @0",
            "s.p = null @2",
            "s.n = 0 @2",
            "s.q = 0 @2",
            "s.n = arg0 @2"
        ]
    );
}

#[test]
fn a_struct_that_is_copied_or_indexed_stays_in_memory() {
    let program = load_c(
        "struct s { int a, b; };\nint f(struct s *p, int i) { struct s s = *p; int t[4]; t[0] = 1; t[1] = s.a; return t[i] + s.b; }\n",
    );
    assert_eq!(allocas(&program, body(&program, "f")), ["s", "t"]);
}

#[test]
fn unreachable_code_is_dropped() {
    let program = load_c("int f(int a) { int x = 1; return x; x = a; while (x) x--; return x; }\n");
    let body = body(&program, "f");
    assert_eq!(body.blocks.len(), 1, "{}", text(&program, "f"));
    assert_eq!(binds(&program, body), ["a = arg0 @0", "x = 1 @1"]);
}

#[test]
fn a_function_pointer_variable_becomes_a_direct_call() {
    let program = load_c(
        "void g(int);\nvoid h(int);\nvoid f(int a) { void (*fp)(int) = g; fp(a); fp = h; fp(2); }\n",
    );
    assert_eq!(callees(&program, body(&program, "f")), ["g", "h"]);
}
