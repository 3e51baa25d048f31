//! The verifier: each rule has a program that breaks it, and no other.

mod bodies;
mod items;
mod types_and_flow;

use drip_base::IndexVec;
use drip_program::*;

#[track_caller]
fn parse(text: &str) -> Program {
    parse_program(text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn messages(program: &Program) -> Vec<String> {
    verify(program).iter().map(ToString::to_string).collect()
}

#[track_caller]
fn clean(text: &str) {
    assert_eq!(messages(&parse(text)), [""; 0]);
}

/// The program breaks exactly this rule.
#[track_caller]
fn broken(text: &str, expected: &str) {
    assert_eq!(messages(&parse(text)), [expected]);
}

fn function(body: &str) -> String {
    format!(
        "type %pair = {{ ptr, i32 }}\ndeclare @callee(ptr) address_taken\n\
         func @f(ptr %p, i32 %n, i1 %c, f64 %d, %pair %s) -> i32 {{\nvar x\n{body}\n}}"
    )
}

/// A line in the entry block breaks exactly this rule.
#[track_caller]
fn line(line: &str, expected: &str) {
    broken(&function(&format!("{line}\nret %n")), expected);
}

#[track_caller]
fn body(body: &str, expected: &str) {
    broken(&function(body), expected);
}

/// A well-formed program changed by `change` breaks exactly this rule.
#[track_caller]
fn changed(change: impl FnOnce(&mut Program), expected: &str) {
    let mut program = parse(GOOD);
    change(&mut program);
    assert_eq!(messages(&program), [expected]);
}

#[track_caller]
fn changed_body(change: impl FnOnce(&mut Body), expected: &str) {
    changed(|program| change(good_body(program)), expected);
}

fn good_body(program: &mut Program) -> &mut Body {
    let f = program.find_func("f").unwrap();
    program.funcs[f].body.as_mut().unwrap()
}

const GOOD: &str = r#"
type %node = { ptr, i32 }
file file0 "" "a.c"
unit u0 "a.bc"
di d0 = base "int" 4 signed
di d1 = struct "node" 16 { "next" @0 d2 }
di d2 = ptr d1
di d3 = enum 4 { "A" = 1 }
di d4 = fn(d0) -> void
di d5 = typedef "T" d0
di d6 = array d0 x 4
global @g %node = { 0: @g, 8: i32 1 } at file0:1:1 di d1
global @s internal [3 x i8] = "ab\x00"
global @s#1 internal ptr = @h
declare @malloc(i64) -> ptr family "malloc"
func @h() { ret }
func @f(ptr %p, i32 %n) -> i32 at file0:3:5 di d4 source "f" {
  var a d0 param 0
  const c0 = %node { null, i32 4 }
b0:
  %u = uninit i32 var a
  %q = call ptr @malloc(i64 16)  !4:1
  bind a, %n
  %c = cmp eq %q, null
  br %c, b1, b2
b1:
  switch %n, b2 [0: b3, 1: b3]
b2:
  %y = ptradd %q, 8, %n * 4  !5:1 inlined 4:1
  %z = load i32 %y
  br b3
b3:
  %r = phi i32 [b1: %u, b1: %u, b2: %z]
  %e = extractvalue i32 c0, 1
  ret %r
}
"#;
