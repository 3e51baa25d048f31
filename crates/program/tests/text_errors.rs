//! Texts that are no programs: each error names what was expected, and where.

use drip_program::{Program, parse_program};

#[track_caller]
fn error(text: &str, expected: &str) {
    match parse_program(text) {
        Ok(_) => panic!("parses: {text}"),
        Err(error) => assert_eq!(error.to_string(), expected),
    }
}

#[track_caller]
fn body_error(line: &str, expected: &str) {
    error(&format!("func @f(ptr %p, i32 %n) {{\n{line}\n}}"), expected);
}

#[test]
fn items() {
    error(
        "progam",
        "1:1: expected `layout`, `type`, `file`, `unit`, `di`, `global`, `declare` or `func`, found `progam`",
    );
    error("program x", "1:9: expected end of line, found `x`");
    error("type node = {}", "1:6: expected a type name, found `node`");
    error("type %a = { i32 ]", "1:17: expected `,` or `}`, found `]`");
    error(
        "type %a = {}\ntype %a = {}",
        "2:6: type %a is defined twice",
    );
    error("type %a = { %b }", "1:13: unknown type %b");
    error("type %a = { i0 }", "1:13: expected a type, found `i0`");
    error("file file1 \"\" \"\"", "1:6: expected file0");
    error(
        "unit u0 \"\" lang rust",
        "1:17: expected `c`, `cxx` or `other`",
    );
    error(
        "di d0 = base \"int\" 4",
        "1:21: expected `unsigned`, found end of line",
    );
    error("di d0 = ptr d4", "1:13: there is no di 4");
    error("global @g i32 unit u3", "1:20: there is no unit 3");
    error("global @g i32 at file2:1:1", "1:18: there is no file 2");
    error(
        "global @g i32 = i7 1",
        "1:17: expected an integer of whole bytes, found `i7`",
    );
    error("global @g ptr = @h", "1:17: unknown symbol @h");
    error(
        "global @g i32\ndeclare @g()",
        "2:9: symbol @g is defined twice",
    );
    error("global @g i32 = \"\\q\"", "1:17: bad escape in string");
    error(
        "declare @f(i32 nonsense)",
        "1:16: expected `,` or `)`, found `nonsense`",
    );
    error(
        "declare @f() nonsense",
        "1:14: expected an attribute of the function, found `nonsense`",
    );
    error(
        "declare @f(i32",
        "1:15: expected `,` or `)`, found end of line",
    );
    error(
        "global @g i32\nlayout ptr 4",
        "2:13: the layout must come before all types",
    );
    error("global @g i8 size -1", "1:19: a size is out of range");
    error("global @\"\\xff\" i8", "1:8: expected UTF-8");
}

#[test]
fn bodies() {
    error("func @f()", "1:10: expected `{`, found end of line");
    error(
        "func @f() {\n ret",
        "2:5: expected `}` as the last of the function, found end of line",
    );
    error(
        "func @f() { ret } x",
        "1:20: expected `}` as the last of the function, found end of line",
    );
    error(
        "func @f(i32 %a, i32 %a) { ret }",
        "1:21: value a is defined twice",
    );
    body_error(
        "%x = add i32 %n, 1\n%x = add i32 %n, 1",
        "3:1: value x is defined twice",
    );
    body_error("b0:\nret\nb0:", "4:1: block b0 is defined twice");
    body_error("br nowhere", "2:4: unknown block nowhere");
    body_error("store %n, %q", "2:11: unknown value q");
    body_error("bind x, %n", "2:6: unknown variable x");
    body_error("var x\nvar x", "3:5: variable x is defined twice");
    body_error("const k = i32 { }", "2:7: expected `c` and a number");
    body_error("const c0 = [1 x ptr] { %p }", "2:24: expected a constant");
    body_error(
        "const c0 = [0 x ptr] { }\nconst c0 = [0 x ptr] { }",
        "3:7: constant c0 is defined twice",
    );
}

#[test]
fn instructions() {
    body_error("frobnicate %p", "2:1: unknown instruction `frobnicate`");
    body_error("%x = ret", "2:1: the instruction has no result");
    body_error("%x = call void %p()", "2:1: the instruction has no result");
    body_error("store 4, %p", "2:7: expected an operand, found `4`");
    body_error("store i8 -129, %p", "2:10: the number is out of range");
    body_error(
        "store nothing, %p",
        "2:7: expected an operand, found `nothing`",
    );
    body_error(
        "store other 4, %p",
        "2:7: expected an integer or floating point type",
    );
    body_error(
        "%x = load ptr %p, %p",
        "2:17: expected end of line, found `,`",
    );
    body_error("%x = cmp lt %n, %n", "2:10: expected a predicate");
    body_error(
        "%x = atomicrmw frob i32 %p, 1",
        "2:16: expected an atomic operation",
    );
    body_error("%x = zext %n", "2:13: expected `to`, found end of line");
    body_error(
        "%x = ptradd %p, %n",
        "2:19: expected `*`, found end of line",
    );
    body_error(
        "%x = ptradd %p, 9223372036854775807, 1",
        "2:38: the offset is out of range",
    );
    body_error("switch %n, b0 [-1: b0]", "2:16: a case is out of range");
    body_error("ret  !3", "2:8: expected `:`, found end of line");
    body_error(
        "%x = load i32\n%p",
        "2:14: expected an operand, found end of line",
    );
}

#[test]
fn nesting_is_bounded() {
    let deep = format!("global @g {}i8", "[1 x ".repeat(100_000));
    assert!(
        parse_program(&deep)
            .unwrap_err()
            .message
            .contains("nested too deep")
    );
}

/// Whatever is cut out of or put into a text, the parser ends with a program or an error.
#[test]
fn mangled_texts_do_not_panic() {
    let text = "type %n = <{ ptr @0, [2 x i8] @8 }> size 10 align 1\nglobal @g %n = { 0: @f, 8: i8 1, ... }\n\
        func @f(ptr nocapture %p) -> i32 at file0:1:2 {\n var x \"x\" param 0\n const c0 = [1 x i32] { i32 4 }\nb0:\n\
        %x = phi i32 [b0: 1]  !1:2 inlined 3:4\n switch %x, b0 [1: b0]\n}\n";
    let mut parsed = 0;
    let mut try_parse = |text: &str| -> Option<Program> {
        let program = parse_program(text).ok();
        parsed += usize::from(program.is_some());
        program
    };
    assert!(try_parse(text).is_some());
    for at in 0..text.len() {
        try_parse(&text[..at]);
        try_parse(&text[at..]);
        for insert in [
            "{", "}", "\"", "\n", "@", "%", "#", "9", "-", "é", "v0", " ",
        ] {
            let mangled = format!("{}{insert}{}", &text[..at], &text[at..]);
            if let Some(program) = try_parse(&mangled) {
                let printed = program.to_string();
                let again = parse_program(&printed).map(|p| p.to_string());
                assert_eq!(again.as_deref(), Ok(printed.as_str()), "{mangled}");
            }
        }
        for len in [1, 3] {
            if let Some(end) = text.get(at + len..) {
                try_parse(&format!("{}{end}", &text[..at]));
            }
        }
    }
    assert!(parsed > 100, "the test mangles too much: {parsed}");
}
