//! What globals hold at program start.

mod load_common;

use drip_program::*;
use load_common::*;

fn slots(program: &Program, name: &str) -> (Vec<(u64, Scalar)>, bool) {
    match &global(program, name).init {
        Init::Slots { slots, complete } => (slots.to_vec(), *complete),
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn numbers_addresses_and_strings() {
    let program = load_c(
        "int zero; int zeros[4] = {0}; static const char text[] = \"hi\"; extern int elsewhere;\n\
         void fn(void);\nstruct { char c; int n; void (*f)(void); const char *t; int *p; double d; } mix = {1, -2, fn, text + 1, &zeros[2], 0.5};\n\
         int *use(void) { return &elsewhere + zero + zeros[0] + text[0]; }\n",
    );
    assert_eq!(global(&program, "zero").init, Init::Zero);
    assert_eq!(global(&program, "zeros").init, Init::Zero);
    assert_eq!(global(&program, "elsewhere").init, Init::Extern);
    assert_eq!(
        global(&program, "text").init,
        Init::Bytes(Box::new(*b"hi\0"))
    );
    assert!(global(&program, "text").is_const && !global(&program, "zero").is_const);
    let (found, complete) = slots(&program, "mix");
    let number = |name: &str| {
        program
            .globals
            .iter_enumerated()
            .find(|(_, g)| program.strings.get(g.name) == name)
            .unwrap()
            .0
    };
    assert_eq!(
        found,
        [
            (0, Scalar::Int { bits: 1, bytes: 1 }),
            (
                4,
                Scalar::Int {
                    bits: 0xffff_fffe,
                    bytes: 4
                }
            ),
            (8, Scalar::Func(func(&program, "fn"))),
            (
                16,
                Scalar::Global {
                    global: number("text"),
                    offset: 1
                }
            ),
            (
                24,
                Scalar::Global {
                    global: number("zeros"),
                    offset: 8
                }
            ),
            (32, Scalar::Opaque { bytes: 8 }),
        ]
    );
    assert!(complete);
}

#[test]
fn large_tables_keep_their_addresses_only() {
    let rows: Vec<String> = (0..600)
        .map(|i| format!("{{{}, \"x{i}\"}}", i + 1))
        .collect();
    let source = format!(
        "struct row {{ long n; const char *name; }} table[] = {{{}}};\nshort small[] = {{1, 2, 0, 4}};\n",
        rows.join(",")
    );
    let program = load_c(&source);
    let (found, complete) = slots(&program, "table");
    assert_eq!(found.len(), 600);
    assert!(
        !complete
            && found
                .iter()
                .all(|(at, s)| at % 16 == 8 && matches!(s, Scalar::Global { .. }))
    );
    let (found, complete) = slots(&program, "small");
    assert!(complete);
    assert_eq!(found.iter().map(|s| s.0).collect::<Vec<_>>(), [0, 2, 6]);
}

#[test]
fn sizes_and_thread_locals() {
    let program = load_c(
        "struct s { char c; double d; short x; } v; __thread int t; int *f(void) { return &t; }\n",
    );
    assert_eq!(global(&program, "v").size, 24);
    assert!(global(&program, "t").thread_local);
    let body = body(&program, "f");
    let returned = find(body, |inst| match inst.op {
        Op::Ret { value: Some(value) } => body.const_of(value).cloned(),
        _ => None,
    });
    assert!(
        matches!(returned.as_slice(), [Const::Global { offset: 0, .. }]),
        "{}",
        text(&program, "f")
    );
}
